//! A small HTTP/1.1 server over TCP or a Unix socket, for clients that may be hostile.
//!
//! Every connection has a thread. What a client can make of it is bounded: how many connections there are, how long a head
//! and a body are, and how long a request takes to arrive, however slowly its bytes come. A body is read only where the
//! head is admitted.
//!
//! Bodies carry their length; chunks are refused. Heads are parsed by `httparse`.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// Header fields of a request.
const MAX_FIELDS: usize = 64;

/// How long a connection may be idle between requests.
const IDLE: Duration = Duration::from_secs(60);

/// How long what a refused client still sends is listened to, so that it sees the answer.
const LINGER: Duration = Duration::from_millis(500);

/// What clients may make of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The longest body, in bytes.
    pub(super) body: usize,
    /// Connections at once; more are refused.
    pub(super) clients: usize,
    /// How long a request may take to arrive, and its answer to be taken.
    pub(super) patience: Duration,
}

/// Where clients come from.
pub(super) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// The head of a request.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) method: String,
    /// Without what follows a `?`.
    pub(super) path: String,
    fields: Vec<(String, String)>,
    /// Whether the connection is kept.
    keeps: bool,
}

impl Head {
    /// A header field; of several of a name the first.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let found = fields.find(|(field, _)| field.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The length of the body, or why it is not told.
    fn length(&self) -> Result<usize, Answer> {
        if self.field("Transfer-Encoding").is_some() {
            return Err(Answer::refusal(
                411,
                "a body needs its length, not chunks (`Content-Length`)",
            ));
        }
        let told = |(name, value): &(String, String)| {
            name.eq_ignore_ascii_case("Content-Length")
                .then(|| value.clone())
        };
        let mut lengths: Vec<String> = self.fields.iter().filter_map(told).collect();
        lengths.dedup();
        match &lengths[..] {
            [] => Ok(0),
            [one] if one.bytes().all(|byte| byte.is_ascii_digit()) => one
                .parse()
                .map_err(|_| Answer::refusal(413, "the body is too long")),
            _ => Err(Answer::refusal(400, "the length of the body is not clear")),
        }
    }
}

/// What is answered: a status and a body.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: String,
    pub(super) kind: &'static str,
}

impl Answer {
    pub(super) fn json(value: &serde_json::Value) -> Answer {
        Answer {
            status: 200,
            body: value.to_string(),
            kind: "application/json",
        }
    }

    pub(super) fn refusal(status: u16, why: &str) -> Answer {
        Answer {
            status,
            ..Answer::json(&serde_json::json!({"v": 1, "error": why}))
        }
    }

    /// Writes it; the body is left out where only the head was asked for.
    fn write(&self, to: &mut impl Write, keeps: bool, with_body: bool) -> io::Result<()> {
        let Answer { status, kind, .. } = self;
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

/// Who answers.
pub(super) trait Service: Send + Sync + 'static {
    /// Whether the body is to be read, by the head.
    ///
    /// # Errors
    /// The refusal.
    fn admit(&self, head: &Head) -> Result<(), Answer>;

    /// The answer to an admitted request.
    fn answer(&self, head: &Head, body: &[u8]) -> Answer;
}

impl Listener {
    /// Where it listens, for people; the path of a socket is known to who made it.
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
    pub(super) fn serve(self, service: &Arc<impl Service>, limits: Limits) -> io::Result<()> {
        let clients = Arc::new(AtomicUsize::new(0));
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
            let place = Place::take(&clients, limits.clients);
            let service = Arc::clone(service);
            let thread = std::thread::Builder::new().name("client".to_owned());
            // Without a thread the connection is closed, which a client must take for a refusal.
            let _ = thread.spawn(move || {
                let mut client = Client::new(connection, limits);
                match place {
                    Some(_place) => client.converse(&*service),
                    None => client.refuse(&Answer::refusal(503, "too many clients")),
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

/// One of the connections that there may be at once.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(all: &Arc<AtomicUsize>, most: usize) -> Option<Place> {
        let taken = all.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| {
            (n < most).then_some(n + 1)
        });
        taken.ok().map(|_| Place(Arc::clone(all)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
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

    fn end_writing(&self) -> io::Result<()> {
        match self {
            Connection::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Connection::Unix(stream) => stream.shutdown(Shutdown::Write),
        }
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

/// Why no further request is read from a connection.
enum Gone {
    /// There is nobody to answer.
    Away,
    /// It is refused, and the connection ends.
    Refused(Answer),
}

impl From<io::Error> for Gone {
    fn from(error: io::Error) -> Gone {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                Gone::Refused(Answer::refusal(408, "the request took too long to arrive"))
            }
            _ => Gone::Away,
        }
    }
}

/// A connection, and what was read of it that belongs to no request yet.
struct Client {
    connection: Connection,
    limits: Limits,
    read: Vec<u8>,
}

impl Client {
    fn new(connection: Connection, limits: Limits) -> Client {
        Client {
            connection,
            limits,
            read: Vec::new(),
        }
    }

    /// Answers request after request.
    fn converse(&mut self, service: &impl Service) {
        loop {
            let answered = self.request(service);
            match answered {
                Ok(true) => {}
                Ok(false) | Err(Gone::Away) => return,
                Err(Gone::Refused(answer)) => return self.refuse(&answer),
            }
        }
    }

    /// Reads and answers one request; says whether the connection is kept.
    fn request(&mut self, service: &impl Service) -> Result<bool, Gone> {
        if self.read.is_empty() && !self.more(Instant::now() + IDLE)? {
            return Ok(false);
        }
        let deadline = Instant::now() + self.limits.patience;
        let head = loop {
            if let Some(head) = self.head()? {
                break head;
            }
            if !self.more(deadline)? {
                return Err(Gone::Away);
            }
        };
        service.admit(&head).map_err(Gone::Refused)?;
        let length = head.length().map_err(Gone::Refused)?;
        if length > self.limits.body {
            let most = self.limits.body;
            let why = format!("the body is longer than {most} bytes; `--max-body` raises that");
            return Err(Gone::Refused(Answer::refusal(413, &why)));
        }
        let waits = head
            .field("Expect")
            .is_some_and(|what| what.eq_ignore_ascii_case("100-continue"));
        if waits && self.read.len() < length {
            self.connection
                .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
                .map_err(|_| Gone::Away)?;
        }
        while self.read.len() < length {
            if !self.more(deadline)? {
                return Err(Gone::Away);
            }
        }
        let rest = self.read.split_off(length);
        let body = std::mem::replace(&mut self.read, rest);
        let answer = service.answer(&head, &body);
        answer
            .write(&mut self.connection, head.keeps, head.method != "HEAD")
            .map_err(|_| Gone::Away)?;
        Ok(head.keeps)
    }

    /// The head, where it has arrived; it is taken from what was read.
    fn head(&mut self) -> Result<Option<Head>, Gone> {
        let refused = |status, why: &str| Gone::Refused(Answer::refusal(status, why));
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut parsed = httparse::Request::new(&mut fields);
        let size = match parsed.parse(&self.read) {
            Ok(httparse::Status::Complete(size)) => size,
            Ok(httparse::Status::Partial) if self.read.len() < MAX_HEAD => return Ok(None),
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                return Err(refused(431, "the head of the request is too long"));
            }
            Err(error) => return Err(refused(400, &format!("this is no HTTP: {error}"))),
        };
        let text = |value: &[u8]| String::from_utf8_lossy(value).trim().to_owned();
        let fields: Vec<(String, String)> = parsed
            .headers
            .iter()
            .map(|field| (field.name.to_owned(), text(field.value)))
            .collect();
        let path = parsed.path.unwrap_or_default();
        let mut head = Head {
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
    fn more(&mut self, deadline: Instant) -> Result<bool, Gone> {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = left.max(Duration::from_millis(1));
        self.connection
            .set_timeouts(left, self.limits.patience)
            .map_err(|_| Gone::Away)?;
        let mut chunk = [0u8; 8 << 10];
        loop {
            match self.connection.read(&mut chunk) {
                Ok(0) => return Ok(false),
                Ok(n) => {
                    self.read.extend_from_slice(&chunk[..n]);
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Nothing of a request has come: there is nothing to answer.
                Err(_) if self.read.is_empty() => return Err(Gone::Away),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Answers and ends the connection, so that the client sees the answer although it may still be sending.
    fn refuse(&mut self, answer: &Answer) {
        let deadline = Instant::now() + LINGER;
        let told = self
            .connection
            .set_timeouts(LINGER, LINGER)
            .and_then(|()| answer.write(&mut self.connection, false, true))
            .and_then(|()| self.connection.end_writing());
        let mut sink = [0u8; 8 << 10];
        while told.is_ok() && Instant::now() < deadline {
            match self.connection.read(&mut sink) {
                Ok(n) if n > 0 => {}
                _ => return,
            }
        }
    }
}
