//! Parses HTTP/1.1 requests from bytes as they arrive, and writes responses.
//!
//! The end of a body is determined strictly, so that no two readers differ on which bytes are the next request: one
//! `Content-Length`, or chunks without extensions and trailers, never both. `httparse` parses the heads; `cli/http.rs` handles
//! the connections.

/// The largest size of a request head, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// The largest number of header fields of a request.
const MAX_FIELDS: usize = 64;

/// The largest number of hexadecimal digits of a chunk size.
const MAX_SIZE_DIGITS: usize = 8;

/// The bytes that a client has sent and that no request has consumed yet.
#[derive(Debug, Default)]
pub struct Received {
    bytes: Vec<u8>,
    /// The number of consumed bytes at the front: a body of 1 MB in chunks of one byte took 10 s when each was removed.
    n_consumed: usize,
}

impl Received {
    /// Appends received bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..std::mem::take(&mut self.n_consumed));
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the unconsumed bytes.
    fn rest(&self) -> &[u8] {
        self.bytes.get(self.n_consumed..).unwrap_or_default()
    }

    /// Returns the number of unconsumed bytes.
    pub fn len(&self) -> usize {
        self.rest().len()
    }

    /// Returns whether all bytes are consumed.
    pub fn is_empty(&self) -> bool {
        self.rest().is_empty()
    }

    /// Consumes and returns the next `n` bytes, or all if there are fewer.
    pub fn take(&mut self, n: usize) -> Vec<u8> {
        let n = n.min(self.len());
        let taken = self.rest().get(..n).unwrap_or_default().to_vec();
        self.n_consumed += n;
        taken
    }

    /// Consumes a chunk size with its line end; returns `None` if it has not arrived completely.
    fn chunk_size(&mut self) -> Result<Option<usize>, Response> {
        let digits = self
            .rest()
            .iter()
            .take_while(|byte| byte.is_ascii_hexdigit());
        let n_digits = digits.count();
        let end = self.rest().get(n_digits..).unwrap_or_default();
        if n_digits <= MAX_SIZE_DIGITS && b"\r\n".starts_with(end.get(..2).unwrap_or(end)) {
            if end.len() < 2 {
                return Ok(None);
            }
            let digits = self.rest().get(..n_digits).unwrap_or_default();
            let digits = std::str::from_utf8(digits).unwrap_or_default();
            if let Ok(size) = usize::from_str_radix(digits, 16) {
                self.take(n_digits + 2);
                return Ok(Some(size));
            }
        }
        let why = format!(
            "expected the size of a chunk in 1 to {MAX_SIZE_DIGITS} hexadecimal digits, without extensions"
        );
        Err(Response::refusal(400, &why))
    }

    /// Consumes the head of the next request; returns `None` if it has not arrived completely.
    ///
    /// # Errors
    /// The response to an invalid head, or to one that is too long.
    pub fn head(&mut self) -> Result<Option<RequestHead>, Response> {
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut parsed = httparse::Request::new(&mut fields);
        let size = match parsed.parse(self.rest()) {
            Ok(httparse::Status::Complete(size)) => size,
            Ok(httparse::Status::Partial) if self.len() < MAX_HEAD => return Ok(None),
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                return Err(Response::refusal(431, "the header section is too long"));
            }
            Err(error) => {
                let why = format!("not an HTTP request: {error}");
                return Err(Response::refusal(400, &why));
            }
        };
        // Readers differ on whether a line feed alone ends a line.
        let head = self.rest().get(..size).unwrap_or_default();
        let mut ends = memchr::memchr_iter(b'\n', head);
        if ends.any(|end| end == 0 || head.get(end - 1) != Some(&b'\r')) {
            let why = "expected \\r\\n at the end of each line of the head, found \\n alone";
            return Err(Response::refusal(400, why));
        }
        // Only blanks and tabs are trimmed; any other white space is part of the value.
        let text = |value: &[u8]| {
            let value = String::from_utf8_lossy(value);
            value.trim_matches([' ', '\t']).to_owned()
        };
        let fields: Vec<(String, String)> = parsed
            .headers
            .iter()
            .map(|field| (field.name.to_owned(), text(field.value)))
            .collect();
        let target = parsed.path.unwrap_or_default();
        let (host, path) =
            absolute(target).map_or((None, target), |(host, path)| (Some(host), path));
        let mut head = RequestHead {
            method: parsed.method.unwrap_or_default().to_owned(),
            path: path.split('?').next().unwrap_or_default().to_owned(),
            fields,
            keeps: parsed.version == Some(1),
            chunks: parsed.version == Some(1),
        };
        let closes = |value: &str| value.to_ascii_lowercase().contains("close");
        head.keeps &= !head.field("Connection").is_some_and(closes);
        if host.is_some_and(|host| head.field("Host") != Some(host)) {
            let why = "the target of the request names another host than `Host`";
            return Err(Response::refusal(400, why));
        }
        self.n_consumed += size;
        Ok(Some(head))
    }
}

/// Returns the host and the path of a target in absolute form (`http://host/path`), which every server has to take (RFC 9112, 3.2.2).
fn absolute(target: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = target.split_at_checked(7)?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    scheme
        .eq_ignore_ascii_case("http://")
        .then(|| rest.split_at(end))
}

/// The head of a request.
#[derive(Debug)]
pub struct RequestHead {
    /// The method, as sent.
    pub method: String,
    /// The path without the query.
    pub path: String,
    fields: Vec<(String, String)>,
    /// Whether the connection is kept open.
    pub keeps: bool,
    /// Whether the HTTP version supports chunks.
    chunks: bool,
}

impl RequestHead {
    /// Returns a header field; the first if there are several of this name.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields(name).next()
    }

    /// Returns all header fields of a name.
    pub fn fields(&self, name: &str) -> impl Iterator<Item = &str> {
        let fields = self.fields.iter();
        let found = fields.filter(move |(field, _)| field.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Returns how the end of the body is determined.
    ///
    /// # Errors
    /// The response to a head whose framing is missing, ambiguous or unsupported.
    pub fn framing(&self) -> Result<Framing, Response> {
        let lengths: Vec<&str> = self.fields("Content-Length").collect();
        let codings: Vec<&str> = self.fields("Transfer-Encoding").collect();
        match &codings[..] {
            [] => {}
            _ if !lengths.is_empty() => {
                let why = "`Transfer-Encoding` beside `Content-Length`";
                return Err(Response::refusal(400, why));
            }
            [coding] if self.chunks && coding.eq_ignore_ascii_case("chunked") => {
                return Ok(Framing::Chunks(Chunk::Size));
            }
            _ => {
                let why = "expected one `Transfer-Encoding: chunked`, in HTTP/1.1";
                return Err(Response::refusal(501, why));
            }
        }
        match &lengths[..] {
            [] if self.method == "POST" => {
                let why = "a request with POST needs a `Content-Length` or chunks";
                Err(Response::refusal(411, why))
            }
            [] => Ok(Framing::Length(0)),
            [one] if !one.is_empty() && one.bytes().all(|byte| byte.is_ascii_digit()) => one
                .parse()
                .map(Framing::Length)
                .map_err(|_| Response::refusal(413, "the body is too long")),
            _ => Err(Response::refusal(400, "conflicting or invalid body length")),
        }
    }
}

/// The part of a body that has not been read.
#[derive(Debug)]
pub enum Framing {
    /// This many bytes.
    Length(usize),
    /// Chunks, beginning with this element.
    Chunks(Chunk),
}

/// The next element of a chunked body.
#[derive(Debug)]
pub enum Chunk {
    /// A chunk size and its line end.
    Size,
    /// This many bytes of a chunk.
    Data(usize),
    /// The line end after a chunk.
    End,
    /// The line end after the chunk of size 0.
    Last,
    /// The body is complete.
    Done,
}

impl Framing {
    /// Returns how many bytes of the body are known to be missing.
    pub fn missing(&self) -> usize {
        match self {
            Framing::Length(left) | Framing::Chunks(Chunk::Data(left)) => *left,
            Framing::Chunks(_) => 0,
        }
    }

    /// Moves the received part of the body to `body`. Returns whether the body is complete.
    ///
    /// # Errors
    /// The response to an invalid chunk. The bytes before it have been moved.
    pub fn take(&mut self, received: &mut Received, body: &mut Vec<u8>) -> Result<bool, Response> {
        loop {
            let next = match self {
                Framing::Length(left) | Framing::Chunks(Chunk::Data(left)) if *left > 0 => {
                    let mut arrived = received.take(*left);
                    *left -= arrived.len();
                    body.append(&mut arrived);
                    if *left > 0 {
                        return Ok(false);
                    }
                    continue;
                }
                Framing::Length(_) | Framing::Chunks(Chunk::Done) => return Ok(true),
                Framing::Chunks(Chunk::Data(_)) => Chunk::End,
                Framing::Chunks(Chunk::Size) => match received.chunk_size()? {
                    None => return Ok(false),
                    Some(0) => Chunk::Last,
                    Some(size) => Chunk::Data(size),
                },
                Framing::Chunks(end @ (Chunk::End | Chunk::Last)) => {
                    if received.len() < 2 {
                        return Ok(false);
                    }
                    if !received.rest().starts_with(b"\r\n") {
                        let why = "expected a line end after a chunk: trailers are not supported";
                        return Err(Response::refusal(400, why));
                    }
                    received.take(2);
                    match end {
                        Chunk::Last => Chunk::Done,
                        _ => Chunk::Size,
                    }
                }
            };
            *self = Framing::Chunks(next);
        }
    }
}

/// A response: a status and a body.
#[derive(Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: String,
    /// The media type of the body.
    pub kind: &'static str,
}

impl Response {
    /// Returns a response of status 200 with a JSON body.
    pub fn json(value: &serde_json::Value) -> Response {
        Response {
            status: 200,
            body: value.to_string(),
            kind: "application/json",
        }
    }

    /// Returns an error response with its reason as JSON.
    pub fn refusal(status: u16, why: &str) -> Response {
        Response {
            status,
            ..Response::json(&serde_json::json!({"v": 1, "error": why}))
        }
    }

    /// Returns the bytes of the response; without the body if only the head was requested.
    pub fn to_bytes(&self, keeps: bool, with_body: bool) -> Vec<u8> {
        let Response { status, kind, .. } = self;
        let (reason, length) = (reason(*status), self.body.len());
        let connection = if keeps { "keep-alive" } else { "close" };
        let mut text = format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: {connection}\r\n\r\n"
        );
        if with_body {
            text.push_str(&self.body);
        }
        text.into_bytes()
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        411 => "Length Required",
        413 => "Content Too Large",
        422 => "Unprocessable Content",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        _ => "Bad Request",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the body of a request that arrives in pieces of `n` bytes and the bytes after it, or the status of the
    /// error response.
    fn body(head: &str, rest: &str, n: usize) -> Result<(String, String), u16> {
        let mut received = Received::default();
        received.push(head.as_bytes());
        let head = received.head().map_err(|refusal| refusal.status)?.unwrap();
        let mut framing = head.framing().map_err(|refusal| refusal.status)?;
        let mut body = Vec::new();
        let mut pieces = rest.as_bytes().chunks(n);
        while !framing
            .take(&mut received, &mut body)
            .map_err(|refusal| refusal.status)?
        {
            received.push(pieces.next().ok_or(0u16)?);
        }
        let mut after = received.take(usize::MAX);
        pieces.for_each(|piece| after.extend_from_slice(piece));
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ok((text(body), text(after)))
    }

    #[test]
    fn bodies_end_where_every_reader_says() {
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        let length = "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n";
        for n in [1, 2, 3, 7, 100] {
            let found = body(chunked, "3\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\nGET", n);
            assert_eq!(found, Ok(("abc0123456789".to_owned(), "GET".to_owned())));
            assert_eq!(
                body(length, "abcGET", n),
                Ok(("abc".to_owned(), "GET".to_owned()))
            );
            assert_eq!(body(chunked, "0\r\n\r\n", n), Ok(Default::default()));
            for wrong in [
                "3\nabc\n0\n\n",
                "3\r\nabcd\r\n0\r\n\r\n",
                "3;x=y\r\nabc\r\n0\r\n\r\n",
                "3 \r\nabc\r\n0\r\n\r\n",
                " 3\r\nabc\r\n0\r\n\r\n",
                "0x3\r\nabc\r\n0\r\n\r\n",
                "+3\r\nabc\r\n0\r\n\r\n",
                "-3\r\nabc\r\n0\r\n\r\n",
                "\r\nabc\r\n0\r\n\r\n",
                "000000003\r\nabc\r\n0\r\n\r\n",
                "ffffffffffffffffff\r\n",
                "3\r\nabc\r\n0\r\nT: u\r\n\r\n",
            ] {
                assert_eq!(body(chunked, wrong, n), Err(400), "{wrong:?}");
            }
            assert_eq!(body(chunked, "3\r\nabc\r\n0\r\n", n), Err(0));
        }
        for (fields, status) in [
            ("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", 400),
            ("Content-Length: 3\r\nContent-Length: 4\r\n", 400),
            ("Content-Length: 3\r\nContent-Length: 3\r\n", 400),
            ("Content-Length: \r\n", 400),
            ("Content-Length: +3\r\n", 400),
            ("Content-Length: 3, 3\r\n", 400),
            (
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                501,
            ),
            ("Transfer-Encoding: gzip, chunked\r\n", 501),
            ("Transfer-Encoding: chunked, chunked\r\n", 501),
            ("Transfer-Encoding: \u{b}chunked\r\n", 400),
            ("Transfer-Encoding: \u{a0}chunked\r\n", 501),
            ("Transfer-Encoding: identity\r\n", 501),
            ("Transfer-Encoding : chunked\r\n", 400),
            ("Transfer-Encoding: chunked\r\n x\r\n", 400),
            ("", 411),
        ] {
            let head = format!("POST / HTTP/1.1\r\n{fields}\r\n");
            assert_eq!(body(&head, "", 1), Err(status), "{fields:?}");
        }
        let old = "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(body(old, "", 1), Err(501));
    }
}
