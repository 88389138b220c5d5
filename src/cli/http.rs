//! A small HTTP/1.1 server over TCP or a Unix socket, for clients that may be hostile.
//!
//! Every connection has a thread. What a client can make of it is bounded: how many connections there are, how long a head
//! and a body are, and how long a request takes to arrive, however slowly its bytes come. A body is read only if the head
//! is admitted. If all places are taken, a new connection takes the place of the one that has waited longest without an
//! admitted request, so that clients that only connect hold up nobody.
//!
//! Bodies carry their length; chunks are refused. Heads are parsed by `httparse`.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// Header fields of a request.
const MAX_FIELDS: usize = 64;

/// The time that a connection may be idle between requests.
const IDLE: Duration = Duration::from_secs(15);

/// The time for which the input of a refused client is still read, so that it receives the response.
const LINGER: Duration = Duration::from_millis(500);

/// The limits of a server on its clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionLimits {
    /// The longest body, in bytes.
    pub(super) body: usize,
    /// Connections at once; more are refused.
    pub(super) clients: usize,
    /// The time within which a request must arrive, and its response be taken.
    pub(super) patience: Duration,
}

/// The source of connections.
pub(super) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// The head of a request.
#[derive(Debug)]
pub(super) struct RequestHead {
    pub(super) method: String,
    /// Without what follows a `?`.
    pub(super) path: String,
    fields: Vec<(String, String)>,
    /// Whether the connection is kept.
    keeps: bool,
}

impl RequestHead {
    /// Returns a header field; of several of a name the first.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields(name).next()
    }

    /// Returns all header fields of a name.
    pub(super) fn fields(&self, name: &str) -> impl Iterator<Item = &str> {
        let fields = self.fields.iter();
        let found = fields.filter(move |(field, _)| field.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the length of the body, or why it is not sent.
    fn length(&self) -> Result<usize, Response> {
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
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) body: String,
    pub(super) kind: &'static str,
}

impl Response {
    pub(super) fn json(value: &serde_json::Value) -> Response {
        Response {
            status: 200,
            body: value.to_string(),
            kind: "application/json",
        }
    }

    pub(super) fn refusal(status: u16, why: &str) -> Response {
        Response {
            status,
            ..Response::json(&serde_json::json!({"v": 1, "error": why}))
        }
    }

    /// Writes it; without the body if only the head was requested.
    fn write(&self, to: &mut impl Write, keeps: bool, with_body: bool) -> io::Result<()> {
        let Response { status, kind, .. } = self;
        let (reason, length) = (reason(*status), self.body.len());
        let connection = if keeps { "keep-alive" } else { "close" };
        let mut text = format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: {connection}\r\n\r\n"
        );
        if with_body {
            text.push_str(&self.body);
        }
        // One write: one packet.
        to.write_all(text.as_bytes())?;
        to.flush()
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

/// Answers requests.
pub(super) trait Service: Send + Sync + 'static {
    /// The permission that a request receives.
    type Grant: Copy;

    /// Decides by the head whether the body is read.
    ///
    /// # Errors
    /// The refusal.
    fn admit(&self, head: &RequestHead) -> Result<Self::Grant, Response>;

    /// Returns the answer to an admitted request.
    fn answer(&self, head: &RequestHead, grant: Self::Grant, body: &[u8]) -> Response;
}

impl Listener {
    /// Returns the address that it listens on, for people; the path of a socket is known to the caller.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        match self {
            Listener::Tcp(listener) => listener.local_addr().ok(),
            Listener::Unix(_) => None,
        }
    }

    /// Answers clients for as long as connections can be taken.
    ///
    /// # Errors
    /// None can be taken any more.
    pub(super) fn serve(
        self,
        service: &Arc<impl Service>,
        limits: ConnectionLimits,
    ) -> io::Result<()> {
        let open = Arc::new(Connections::default());
        loop {
            let taken = match &self {
                Listener::Tcp(listener) => listener.accept().map(|(stream, _)| {
                    // That packets are put together only costs time.
                    let _ = stream.set_nodelay(true);
                    Connection::Tcp(stream)
                }),
                Listener::Unix(listener) => listener
                    .accept()
                    .map(|(stream, _)| Connection::Unix(stream)),
            };
            let connection = match taken {
                Ok(connection) => connection,
                // The client has gone already, or there is room again when others have.
                Err(error) if is_passing(&error) => {
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let slot = ConnectionSlot::take(&open, &connection, limits.clients);
            let service = Arc::clone(service);
            let thread = std::thread::Builder::new().name("client".to_owned());
            // Without a thread the connection is closed, which a client must take for a refusal.
            let _ = thread.spawn(move || {
                let mut client = Client::new(connection, limits);
                match slot {
                    Some(slot) => client.converse(&*service, &slot),
                    None => client.refuse(&Response::refusal(503, "too many clients")),
                }
            });
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    const TOO_MANY_FILES: [i32; 2] = [23, 24];
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    ) || error
        .raw_os_error()
        .is_some_and(|code| TOO_MANY_FILES.contains(&code))
}

/// The open connections, by number.
#[derive(Default)]
struct Connections(Mutex<OpenConnections>);

#[derive(Default)]
struct OpenConnections {
    next: u64,
    open: HashMap<u64, OpenConnection>,
}

struct OpenConnection {
    handle: Connection,
    /// Since when it has no admitted request.
    waits_since: Option<Instant>,
}

impl Connections {
    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of the connections that there may be at once.
struct ConnectionSlot {
    all: Arc<Connections>,
    number: u64,
}

impl ConnectionSlot {
    /// Takes a place. If all are taken, the connection that has waited longest is closed and gives its own.
    fn take(
        all: &Arc<Connections>,
        connection: &Connection,
        most: usize,
    ) -> Option<ConnectionSlot> {
        let handle = connection.try_clone().ok()?;
        let mut connections = all.lock();
        if connections.open.len() >= most {
            let waiting = connections.open.iter();
            let waiting = waiting.filter_map(|(number, open)| Some((open.waits_since?, *number)));
            let (_, longest) = waiting.min()?;
            if let Some(closed) = connections.open.remove(&longest) {
                let _ = closed.handle.shutdown(Shutdown::Both);
            }
        }
        let number = connections.next;
        connections.next += 1;
        let open = OpenConnection {
            handle,
            waits_since: Some(Instant::now()),
        };
        connections.open.insert(number, open);
        Some(ConnectionSlot {
            all: Arc::clone(all),
            number,
        })
    }

    /// Notes whether the connection has an admitted request.
    fn set_admitted(&self, admitted: bool) {
        if let Some(open) = self.all.lock().open.get_mut(&self.number) {
            open.waits_since = (!admitted).then(Instant::now);
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.all.lock().open.remove(&self.number);
    }
}

enum Connection {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Connection {
    fn set_timeouts(&self, reading: Duration, writing: Duration) -> io::Result<()> {
        match self {
            Connection::Tcp(stream) => {
                stream.set_read_timeout(Some(reading))?;
                stream.set_write_timeout(Some(writing))
            }
            Connection::Unix(stream) => {
                stream.set_read_timeout(Some(reading))?;
                stream.set_write_timeout(Some(writing))
            }
        }
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        match self {
            Connection::Tcp(stream) => stream.shutdown(how),
            Connection::Unix(stream) => stream.shutdown(how),
        }
    }

    fn try_clone(&self) -> io::Result<Connection> {
        Ok(match self {
            Connection::Tcp(stream) => Connection::Tcp(stream.try_clone()?),
            Connection::Unix(stream) => Connection::Unix(stream.try_clone()?),
        })
    }
}

impl Read for Connection {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Connection::Tcp(stream) => stream.read(into),
            Connection::Unix(stream) => stream.read(into),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Connection::Tcp(stream) => stream.write(bytes),
            Connection::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The reason why no further request is read from a connection.
enum ConnectionEnd {
    /// The client has gone.
    Away,
    /// It is refused, and the connection ends.
    Refused(Response),
}

impl From<io::Error> for ConnectionEnd {
    fn from(error: io::Error) -> ConnectionEnd {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => ConnectionEnd::Refused(
                Response::refusal(408, "the request took too long to arrive"),
            ),
            _ => ConnectionEnd::Away,
        }
    }
}

/// A connection, and what was read of it that belongs to no request yet.
struct Client {
    connection: Connection,
    limits: ConnectionLimits,
    read: Vec<u8>,
}

impl Client {
    fn new(connection: Connection, limits: ConnectionLimits) -> Client {
        Client {
            connection,
            limits,
            read: Vec::new(),
        }
    }

    /// Answers request after request.
    fn converse(&mut self, service: &impl Service, slot: &ConnectionSlot) {
        let mut idle = self.limits.patience;
        loop {
            let answered = self.request(service, slot, idle);
            slot.set_admitted(false);
            match answered {
                Ok(true) => idle = IDLE,
                Ok(false) | Err(ConnectionEnd::Away) => return,
                Err(ConnectionEnd::Refused(answer)) => return self.refuse(&answer),
            }
        }
    }

    /// Reads and answers one request, which must begin within `idle`. Returns whether the connection is kept.
    fn request(
        &mut self,
        service: &impl Service,
        slot: &ConnectionSlot,
        idle: Duration,
    ) -> Result<bool, ConnectionEnd> {
        if self.read.is_empty() {
            // Nothing of a request has come: there is nothing to answer.
            let begun = self.more(Instant::now() + idle);
            if !begun.map_err(|_| ConnectionEnd::Away)? {
                return Ok(false);
            }
        }
        let deadline = Instant::now() + self.limits.patience;
        let head = loop {
            if let Some(head) = self.head()? {
                break head;
            }
            if !self.more(deadline)? {
                return Err(ConnectionEnd::Away);
            }
        };
        let grant = service.admit(&head).map_err(ConnectionEnd::Refused)?;
        slot.set_admitted(true);
        let length = head.length().map_err(ConnectionEnd::Refused)?;
        if length > self.limits.body {
            let most = self.limits.body;
            let why = format!(
                "the body is longer than {most} bytes; to raise the limit, use `--max-body`"
            );
            return Err(ConnectionEnd::Refused(Response::refusal(413, &why)));
        }
        let waits = head
            .field("Expect")
            .is_some_and(|what| what.eq_ignore_ascii_case("100-continue"));
        if waits && self.read.len() < length {
            self.connection
                .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
                .map_err(|_| ConnectionEnd::Away)?;
        }
        while self.read.len() < length {
            if !self.more(deadline)? {
                return Err(ConnectionEnd::Away);
            }
        }
        let rest = self.read.split_off(length);
        let body = std::mem::replace(&mut self.read, rest);
        let answer = service.answer(&head, grant, &body);
        answer
            .write(&mut self.connection, head.keeps, head.method != "HEAD")
            .map_err(|_| ConnectionEnd::Away)?;
        Ok(head.keeps)
    }

    /// Returns the head, where it has arrived; it is taken from what was read.
    fn head(&mut self) -> Result<Option<RequestHead>, ConnectionEnd> {
        let refused = |status, why: &str| ConnectionEnd::Refused(Response::refusal(status, why));
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut parsed = httparse::Request::new(&mut fields);
        let size = match parsed.parse(&self.read) {
            Ok(httparse::Status::Complete(size)) => size,
            Ok(httparse::Status::Partial) if self.read.len() < MAX_HEAD => return Ok(None),
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                return Err(refused(431, "the header section is too long"));
            }
            Err(error) => return Err(refused(400, &format!("not an HTTP request: {error}"))),
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
        self.read.drain(..size);
        Ok(Some(head))
    }

    /// Reads on until a deadline; false at the end of what the client sends.
    fn more(&mut self, deadline: Instant) -> Result<bool, ConnectionEnd> {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = left.max(Duration::from_millis(1));
        self.connection
            .set_timeouts(left, self.limits.patience)
            .map_err(|_| ConnectionEnd::Away)?;
        let mut chunk = [0u8; 8 << 10];
        loop {
            match self.connection.read(&mut chunk) {
                Ok(0) => return Ok(false),
                Ok(n) => {
                    self.read.extend_from_slice(&chunk[..n]);
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Answers and ends the connection, so that the client sees the answer although it may still be sending.
    fn refuse(&mut self, answer: &Response) {
        let deadline = Instant::now() + LINGER;
        let sent = self
            .connection
            .set_timeouts(LINGER, LINGER)
            .and_then(|()| answer.write(&mut self.connection, false, true))
            .and_then(|()| self.connection.shutdown(Shutdown::Write));
        let mut sink = [0u8; 8 << 10];
        while sent.is_ok() && Instant::now() < deadline {
            match self.connection.read(&mut sink) {
                Ok(n) if n > 0 => {}
                _ => return,
            }
        }
    }
}
