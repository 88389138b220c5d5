//! Requests of HTTP/1.1, read from bytes as they arrive, and answers as bytes.
//!
//! Bodies carry their length; chunks are refused. Heads are parsed by `httparse`. `cli/http.rs` has the connections.

/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// Header fields of a request.
const MAX_FIELDS: usize = 64;

/// The bytes that a client has sent and that no request has taken yet.
#[derive(Debug, Default)]
pub struct Received(Vec<u8>);

impl Received {
    /// Adds what has arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Returns how many bytes no request has taken.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether all bytes were taken.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the next bytes: `n`, or all if there are fewer.
    pub fn take(&mut self, n: usize) -> Vec<u8> {
        let rest = self.0.split_off(n.min(self.0.len()));
        std::mem::replace(&mut self.0, rest)
    }

    /// Takes the head of the next request; `None` if it has not arrived completely.
    ///
    /// # Errors
    /// The refusal of what is not a head, or of one that is too long.
    pub fn head(&mut self) -> Result<Option<RequestHead>, Response> {
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut parsed = httparse::Request::new(&mut fields);
        let size = match parsed.parse(&self.0) {
            Ok(httparse::Status::Complete(size)) => size,
            Ok(httparse::Status::Partial) if self.0.len() < MAX_HEAD => return Ok(None),
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                return Err(Response::refusal(431, "the header section is too long"));
            }
            Err(error) => {
                let why = format!("not an HTTP request: {error}");
                return Err(Response::refusal(400, &why));
            }
        };
        let text = |value: &[u8]| String::from_utf8_lossy(value).trim().to_owned();
        let fields: Vec<(String, String)> = parsed
            .headers
            .iter()
            .map(|field| (field.name.to_owned(), text(field.value)))
            .collect();
        let path = parsed.path.unwrap_or_default();
        let mut head = RequestHead {
            method: parsed.method.unwrap_or_default().to_owned(),
            path: path.split('?').next().unwrap_or_default().to_owned(),
            fields,
            keeps: parsed.version == Some(1),
        };
        let closes = |value: &str| value.to_ascii_lowercase().contains("close");
        head.keeps &= !head.field("Connection").is_some_and(closes);
        self.0.drain(..size);
        Ok(Some(head))
    }
}

/// The head of a request.
#[derive(Debug)]
pub struct RequestHead {
    pub method: String,
    /// Without what follows a `?`.
    pub path: String,
    fields: Vec<(String, String)>,
    /// Whether the connection is kept.
    pub keeps: bool,
}

impl RequestHead {
    /// A header field; of several of a name the first.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields(name).next()
    }

    /// All header fields of a name.
    pub fn fields(&self, name: &str) -> impl Iterator<Item = &str> {
        let fields = self.fields.iter();
        let found = fields.filter(move |(field, _)| field.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the length of the body.
    ///
    /// # Errors
    /// The refusal, if the head does not say how long the body is.
    pub fn length(&self) -> Result<usize, Response> {
        if self.field("Transfer-Encoding").is_some() {
            return Err(Response::refusal(
                411,
                "chunked bodies are not supported; send `Content-Length`",
            ));
        }
        let mut lengths: Vec<&str> = self.fields("Content-Length").collect();
        lengths.dedup();
        match &lengths[..] {
            [] if self.method == "POST" => {
                let why = "a request with POST needs a `Content-Length`";
                Err(Response::refusal(411, why))
            }
            [] => Ok(0),
            [one] if one.bytes().all(|byte| byte.is_ascii_digit()) => one
                .parse()
                .map_err(|_| Response::refusal(413, "the body is too long")),
            _ => Err(Response::refusal(400, "conflicting or invalid body length")),
        }
    }
}

/// A response: a status and a body.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub body: String,
    pub kind: &'static str,
}

impl Response {
    pub fn json(value: &serde_json::Value) -> Response {
        Response {
            status: 200,
            body: value.to_string(),
            kind: "application/json",
        }
    }

    pub fn refusal(status: u16, why: &str) -> Response {
        Response {
            status,
            ..Response::json(&serde_json::json!({"v": 1, "error": why}))
        }
    }

    /// Returns the bytes of the answer; the body is left out if only the head was asked for.
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
        411 => "Length Required",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Bad Request",
    }
}
