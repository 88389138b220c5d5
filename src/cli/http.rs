//! A small HTTP/1.1 server over TCP or a Unix socket, for clients that may be hostile.
//!
//! Every connection has a thread. Resources are bounded: the number of connections, the sizes of head and body, and the time
//! for a request to arrive. A body is read only if the head is admitted. If all slots are taken, a new connection waits a moment for
//! one, in its own thread, and then replaces the connection that has waited longest without an admitted request, if that one had time
//! to send it: so idle clients cannot block others, and of many clients at once none is closed without an answer.
//!
//! `integrations/http.rs` reads requests and writes answers. A body that is too long or cut off is still passed to the service,
//! because it may report an event that happened.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::integrations::http::{Framing, Received, RequestHead, Response};

/// The time that a connection may be idle between requests.
const IDLE: Duration = Duration::from_secs(15);

/// The time for which the input of a rejected client is still read, so that the client receives the response.
const LINGER: Duration = Duration::from_millis(500);

/// The time that a connection has for its request before another may replace it, and for which one without a slot waits. Of 270 hooks
/// that arrived at once at a server with four slots, 41 were closed without an answer when there was no such time.
const GRACE: Duration = Duration::from_millis(250);

/// The time for the head of a connection without a slot when over half of the connections that may be held are: while 10,000 sent half a
/// head, clients with a token waited for 40 s.
const CROWDED: Duration = Duration::from_millis(250);

/// The number of connections that wait in the queue of the system.
const BACKLOG: i32 = 4096;

/// The time for which a connection waits for a slot whose request is admitted.
const ADMITTED: Duration = Duration::from_secs(5);

/// The time after which a connection without a slot looks again whether another has waited for long enough.
const POLL: Duration = Duration::from_millis(50);

/// The number of connections that are held for each slot: its own, four that wait for one, and those that are refused. Without a limit,
/// 700 clients that sent half a head took all files of the process, 1,024 by default, and the monitor could not write its own.
const ALIVE_PER_SLOT: usize = 6;

/// The number of files that the process needs beside its connections.
const OTHER_FILES: usize = 64;

/// The limits of a server on its clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionLimits {
    /// The longest body, in bytes.
    pub(super) body: usize,
    /// The greatest number of simultaneous connections.
    pub(super) clients: usize,
    /// The time within which a request must arrive, and its response be taken.
    pub(super) patience: Duration,
}

/// The source of connections.
pub(super) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// Answers requests.
pub(super) trait Service: Send + Sync + 'static {
    /// The permission that a request receives.
    type Grant: Copy;

    /// Decides from the head whether the body is read.
    ///
    /// # Errors
    /// The response to a rejected request.
    fn admit(&self, head: &RequestHead) -> Result<Self::Grant, Response>;

    /// Returns the response to an admitted request.
    fn answer(&self, head: &RequestHead, grant: Self::Grant, body: Vec<u8>) -> Response;

    /// Returns the response to a request of which at most the head was read, where `refusal` is the reason.
    fn answer_unread(
        &self,
        _head: Option<&RequestHead>,
        _is_admitted: bool,
        refusal: Response,
    ) -> Response {
        refusal
    }

    /// Returns the response to an admitted request whose body is longer than the limit or incomplete, and which is therefore
    /// rejected. `body` yields the part that arrives.
    fn answer_cut(
        &self,
        head: &RequestHead,
        grant: Self::Grant,
        body: &mut dyn BufRead,
        refusal: Response,
    ) -> Response;
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
    /// No further connection can be accepted.
    pub(super) fn serve(
        self,
        service: &Arc<impl Service>,
        limits: ConnectionLimits,
    ) -> io::Result<()> {
        // The standard library leaves room for 128.
        let _ = match &self {
            Listener::Tcp(listener) => rustix::net::listen(listener, BACKLOG),
            Listener::Unix(listener) => rustix::net::listen(listener, BACKLOG),
        };
        let open = Arc::new(Connections::default());
        let most_alive = room_for(limits.clients.saturating_mul(ALIVE_PER_SLOT));
        let most = limits.clients.min(most_alive.div_ceil(ALIVE_PER_SLOT));
        loop {
            // Further connections wait in the queue of the system.
            let alive = Alive::wait_for_room(&open, most_alive);
            let taken = match &self {
                Listener::Tcp(listener) => listener.accept().map(|(stream, _)| {
                    // Combining packets would only add latency.
                    let _ = stream.set_nodelay(true);
                    Connection::Tcp(stream)
                }),
                Listener::Unix(listener) => listener
                    .accept()
                    .map(|(stream, _)| Connection::Unix(stream)),
            };
            let connection = match taken {
                Ok(connection) => connection,
                // The client has already disconnected, there will be room after others have, or the network will be back.
                Err(error) if !is_lasting(&error) => {
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let (open, service) = (Arc::clone(&open), Arc::clone(service));
            let thread = std::thread::Builder::new().name("client".to_owned());
            // Without a thread the connection is closed; clients must treat that as a denial.
            let _ = thread.spawn(move || {
                let _alive = alive;
                let mut client = Client::new(connection, limits);
                let patience = limits.patience.min(ADMITTED);
                let is_crowded = open.lock().n_alive > most_alive / 2;
                let (grace, linger) = match is_crowded {
                    true => (Duration::ZERO, CROWDED),
                    false => (GRACE, LINGER),
                };
                let slot = ConnectionSlot::take(&open, &client.connection, most, most, grace);
                // Whoever may ask waits longer: an outcome that nobody reads is lost.
                let mut is_admitted = false;
                let slot = slot.or_else(|| {
                    is_admitted = client.is_admitted(&*service, linger);
                    let of_client = &client.connection;
                    let take = || ConnectionSlot::take(&open, of_client, most, 4 * most, patience);
                    is_admitted.then(take).flatten()
                });
                match slot {
                    Some(slot) => client.converse(&*service, &slot),
                    // Of many, only those that may ask are worth the time.
                    None if is_crowded && !is_admitted => {}
                    None => client.turn_away(&*service, is_admitted),
                }
            });
        }
    }
}

/// Raises the limit on open files of the process for `n` connections, which has a file each, and those of the monitor. Returns the number
/// of connections that there is room for.
fn room_for(n: usize) -> usize {
    let most = getrlimit(Resource::Nofile);
    let wanted = u64::try_from(n.saturating_add(OTHER_FILES)).unwrap_or(u64::MAX);
    let hard = most.maximum.unwrap_or(u64::MAX);
    let current = most.current.unwrap_or(u64::MAX).max(wanted.min(hard));
    let raised = Rlimit {
        current: Some(current),
        maximum: most.maximum,
    };
    let limit = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => Some(current),
        Err(_) => most.current,
    };
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    let room = limit.unwrap_or(usize::MAX).saturating_sub(OTHER_FILES);
    room.min(n).max(1)
}

/// A connection that is not closed yet, with or without a slot.
struct Alive(Arc<Connections>);

impl Alive {
    /// Waits until there are fewer than `most`.
    fn wait_for_room(all: &Arc<Connections>, most: usize) -> Alive {
        let mut connections = all.lock();
        while connections.n_alive >= most {
            let waited = all.changed.wait_timeout(connections, POLL);
            connections = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        connections.n_alive += 1;
        Alive(Arc::clone(all))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.lock().n_alive -= 1;
        self.0.changed.notify_one();
    }
}

/// Whether no connection can be accepted any more: the socket itself is not one that listens. Every other error passes (`accept(2)`).
fn is_lasting(error: &io::Error) -> bool {
    let lasting = [Errno::BADF, Errno::INVAL, Errno::NOTSOCK, Errno::OPNOTSUPP];
    Errno::from_io_error(error).is_some_and(|errno| lasting.contains(&errno))
}

/// The open connections, by number.
#[derive(Default)]
struct Connections {
    open: Mutex<OpenConnections>,
    /// Signalled when a connection ends or waits for something else.
    changed: Condvar,
}

#[derive(Default)]
struct OpenConnections {
    next: u64,
    open: HashMap<u64, OpenConnection>,
    /// The number of those that wait for a slot.
    n_waiting: usize,
    /// The number of all that are not closed, those that are refused among them.
    n_alive: usize,
}

struct OpenConnection {
    handle: Arc<Connection>,
    /// The thing that it waits for, and since when; `None` while a request is answered.
    waits: Option<(Awaited, Instant)>,
}

impl OpenConnection {
    /// Whether it waits for its client, and has read all that has arrived. Further requests that anybody may make are left unread for as
    /// long as their client likes.
    fn is_replaceable(&self) -> bool {
        match self.waits {
            None => false,
            Some((Awaited::FreeAnswer, _)) => true,
            Some(_) => !self.handle.has_unread(),
        }
    }
}

/// The thing that a connection waits for; the first gives its place first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Awaited {
    /// That the client takes an answer for which anybody may ask.
    FreeAnswer,
    /// The head of a request that is admitted.
    Head,
    /// The rest of its body.
    Body,
}

impl Connections {
    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The slot of an open connection.
struct ConnectionSlot {
    all: Arc<Connections>,
    number: u64,
}

impl ConnectionSlot {
    /// Takes a slot. If all are taken, waits for one, and closes the connection that has waited longest for the head of a request, else
    /// for a body, if it has waited for [`GRACE`]. Returns `None` if there is no slot after a time, or if too many wait.
    fn take(
        all: &Arc<Connections>,
        connection: &Arc<Connection>,
        most: usize,
        most_waiting: usize,
        patience: Duration,
    ) -> Option<ConnectionSlot> {
        let until = Instant::now() + patience;
        let mut connections = all.lock();
        while connections.open.len() >= most {
            let waiting = connections.open.iter();
            let waiting = waiting.filter(|(_, open)| open.is_replaceable());
            let waiting = waiting.filter_map(|(number, open)| Some((open.waits?, *number)));
            let longest = waiting
                .min()
                .filter(|((_, since), _)| since.elapsed() >= GRACE);
            if let Some(((awaited, _), number)) = longest
                && let Some(closed) = connections.open.remove(&number)
            {
                // What has arrived of a body is answered.
                let end = match awaited {
                    Awaited::Body => Shutdown::Read,
                    Awaited::Head | Awaited::FreeAnswer => Shutdown::Both,
                };
                let _ = closed.handle.shutdown(end);
                break;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || connections.n_waiting >= most_waiting {
                return None;
            }
            connections.n_waiting += 1;
            let waited = all.changed.wait_timeout(connections, left.min(POLL));
            connections = waited.unwrap_or_else(PoisonError::into_inner).0;
            connections.n_waiting -= 1;
        }
        let number = connections.next;
        connections.next += 1;
        let open = OpenConnection {
            handle: Arc::clone(connection),
            waits: Some((Awaited::Head, Instant::now())),
        };
        connections.open.insert(number, open);
        Some(ConnectionSlot {
            all: Arc::clone(all),
            number,
        })
    }

    /// Records what the connection waits for from now on.
    fn wait_for(&self, awaited: Option<Awaited>) {
        self.set_waits(awaited.map(|awaited| (awaited, Instant::now())));
    }

    /// Records that the connection waits for a request, since this time.
    fn wait_since(&self, since: Instant) {
        self.set_waits(Some((Awaited::Head, since)));
    }

    fn set_waits(&self, waits: Option<(Awaited, Instant)>) {
        if let Some(open) = self.all.lock().open.get_mut(&self.number) {
            open.waits = waits;
        }
        self.all.changed.notify_one();
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.all.lock().open.remove(&self.number);
        self.all.changed.notify_one();
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

    /// Whether bytes have arrived that were not read yet: the processor has been busy with others.
    fn has_unread(&self) -> bool {
        let n = match self {
            Connection::Tcp(stream) => rustix::io::ioctl_fionread(stream),
            Connection::Unix(stream) => rustix::io::ioctl_fionread(stream),
        };
        n.is_ok_and(|n| n > 0)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        match self {
            Connection::Tcp(stream) => stream.shutdown(how),
            Connection::Unix(stream) => stream.shutdown(how),
        }
    }
}

impl Read for &Connection {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Connection::Tcp(stream) => { stream }.read(into),
            Connection::Unix(stream) => { stream }.read(into),
        }
    }
}

impl Write for &Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Connection::Tcp(stream) => { stream }.write(bytes),
            Connection::Unix(stream) => { stream }.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether anybody may ask so, without a token.
fn is_free(head: &RequestHead) -> bool {
    matches!(head.method.as_str(), "GET" | "HEAD")
}

/// The reason why no further request is read from a connection.
enum ConnectionEnd {
    /// The client has disconnected.
    Away,
    /// The request is rejected, and the connection ends.
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

/// A connection, with the bytes that were read and do not belong to a request yet.
struct Client {
    connection: Arc<Connection>,
    limits: ConnectionLimits,
    received: Received,
    /// The head of the first request, if it was read before there was a slot.
    head: Option<RequestHead>,
}

impl Client {
    fn new(connection: Connection, limits: ConnectionLimits) -> Client {
        Client {
            connection: Arc::new(connection),
            limits,
            received: Received::default(),
            head: None,
        }
    }

    /// Reads the head of the first request within a time. Returns whether it is admitted.
    fn is_admitted(&mut self, service: &impl Service, linger: Duration) -> bool {
        let deadline = Instant::now() + linger;
        self.head = self.read_head(deadline).ok();
        let head = self.head.as_ref().filter(|head| !is_free(head));
        head.is_some_and(|head| service.admit(head).is_ok())
    }

    /// Reads the head of a request.
    fn read_head(&mut self, deadline: Instant) -> Result<RequestHead, ConnectionEnd> {
        loop {
            let head = self.received.head();
            if let Some(head) = head.map_err(ConnectionEnd::Refused)? {
                return Ok(head);
            }
            if !self.more(deadline)? {
                return Err(ConnectionEnd::Away);
            }
        }
    }

    /// Handles requests one after the other.
    fn converse(&mut self, service: &impl Service, slot: &ConnectionSlot) {
        let mut idle = self.limits.patience;
        // Of the last request that only those may make who have a token: others keep no slot by asking.
        let mut since = Instant::now();
        loop {
            let answered = self.request(service, slot, idle, &mut since);
            slot.wait_since(since);
            match answered {
                Ok(true) => idle = IDLE,
                Ok(false) | Err(ConnectionEnd::Away) => return,
                Err(ConnectionEnd::Refused(answer)) => return self.refuse(&answer),
            }
        }
    }

    /// Reads and answers one request, which must begin within `idle`. Returns whether the connection stays open. `since` becomes the
    /// time of the answer, unless anybody may ask so.
    fn request(
        &mut self,
        service: &impl Service,
        slot: &ConnectionSlot,
        idle: Duration,
        since: &mut Instant,
    ) -> Result<bool, ConnectionEnd> {
        if self.received.is_empty() && self.head.is_none() {
            // If no byte of a request has arrived, there is nothing to answer.
            let begun = self.more(Instant::now() + idle);
            if !begun.map_err(|_| ConnectionEnd::Away)? {
                return Ok(false);
            }
        }
        let deadline = Instant::now() + self.limits.patience;
        let head = match self.head.take() {
            Some(head) => head,
            None => self.read_head(deadline)?,
        };
        let grant = service.admit(&head).map_err(ConnectionEnd::Refused)?;
        let unread =
            |refusal| ConnectionEnd::Refused(service.answer_unread(Some(&head), true, refusal));
        let mut framing = head.framing().map_err(unread)?;
        let is_free = is_free(&head);
        if is_free && !matches!(framing, Framing::Length(0)) {
            // Whoever may ask without a token could keep a place by it.
            let why = "a request with this method has no body";
            return Err(ConnectionEnd::Refused(Response::refusal(400, why)));
        }
        match is_free {
            true => slot.set_waits(Some((Awaited::FreeAnswer, *since))),
            false => slot.wait_for(Some(Awaited::Body)),
        }
        let mut body = Vec::new();
        let most = self.limits.body;
        // Reserved at once, because growing needs room for two copies of a long body. Unused reserved memory is not
        // allocated by the system.
        let _ = body.try_reserve_exact(framing.missing().min(most));
        let waits = head
            .field("Expect")
            .is_some_and(|what| what.eq_ignore_ascii_case("100-continue"));
        if waits && self.received.is_empty() && framing.missing() <= most {
            (&*self.connection)
                .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
                .map_err(|_| ConnectionEnd::Away)?;
        }
        let refusal = loop {
            let complete = framing.take(&mut self.received, &mut body);
            if framing.missing().saturating_add(body.len()) > most {
                let why = format!(
                    "the body is longer than {most} bytes; to raise the limit, use `--max-body`"
                );
                break Some(Response::refusal(413, &why));
            }
            match complete {
                Ok(true) => break None,
                Ok(false) => {}
                Err(refusal) => break Some(refusal),
            }
            match self.more(deadline) {
                Ok(true) => {}
                Ok(false) | Err(ConnectionEnd::Away) => {
                    break Some(Response::refusal(400, "the body ends before its length"));
                }
                Err(ConnectionEnd::Refused(refusal)) => break Some(refusal),
            }
        };
        if let Some(refusal) = refusal {
            let mut body = BufReader::new(Body {
                taken: io::Cursor::new(body),
                client: self,
                framing,
                deadline,
                is_whole: false,
            });
            let mut answer = service.answer_cut(&head, grant, &mut body, refusal);
            if answer.status == 413 && !body.get_ref().is_whole {
                let why = format!(
                    "the body is longer than {most} bytes, and its end did not arrive: only what did is recorded"
                );
                answer = Response::refusal(400, &why);
            }
            return Err(ConnectionEnd::Refused(answer));
        }
        if !is_free {
            slot.wait_for(None);
        }
        let answer = service.answer(&head, grant, body);
        // A single write, so that it is sent as one packet.
        (&*self.connection)
            .write_all(&answer.to_bytes(head.keeps, head.method != "HEAD"))
            .map_err(|_| ConnectionEnd::Away)?;
        if !is_free {
            *since = Instant::now();
        }
        Ok(head.keeps)
    }

    /// Reads more input until a deadline; returns false at the end of the input.
    fn more(&mut self, deadline: Instant) -> Result<bool, ConnectionEnd> {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = left.max(Duration::from_millis(1));
        self.connection
            .set_timeouts(left, self.limits.patience)
            .map_err(|_| ConnectionEnd::Away)?;
        let mut chunk = [0u8; 8 << 10];
        loop {
            match (&*self.connection).read(&mut chunk) {
                Ok(0) => return Ok(false),
                Ok(n) => {
                    self.received.push(&chunk[..n]);
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Refuses a request for which there is no slot.
    fn turn_away(&mut self, service: &impl Service, is_admitted: bool) {
        let refusal = Response::refusal(503, "too many clients");
        self.refuse(&service.answer_unread(self.head.as_ref(), is_admitted, refusal));
    }

    /// Sends a response and ends the connection in such a way that the client receives the response even if it is still
    /// sending.
    fn refuse(&mut self, answer: &Response) {
        let deadline = Instant::now() + LINGER;
        let sent = self
            .connection
            .set_timeouts(LINGER, LINGER)
            .and_then(|()| (&*self.connection).write_all(&answer.to_bytes(false, true)))
            .and_then(|()| self.connection.shutdown(Shutdown::Write));
        let mut sink = [0u8; 8 << 10];
        while sent.is_ok() && Instant::now() < deadline {
            match (&*self.connection).read(&mut sink) {
                Ok(n) if n > 0 => {}
                _ => return,
            }
        }
    }
}

/// A body that is not kept completely: the part received so far, and the rest as it arrives until its end, a disconnect
/// or a deadline.
struct Body<'c> {
    taken: io::Cursor<Vec<u8>>,
    client: &'c mut Client,
    framing: Framing,
    deadline: Instant,
    /// Whether its end was read.
    is_whole: bool,
}

impl Read for Body<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.taken.read(into)?;
            if n > 0 {
                return Ok(n);
            }
            let mut arrived = Vec::new();
            let complete = self.framing.take(&mut self.client.received, &mut arrived);
            self.is_whole |= matches!(complete, Ok(true));
            self.taken = io::Cursor::new(arrived);
            if !self.taken.get_ref().is_empty() {
                continue;
            }
            let goes_on = matches!(complete, Ok(false));
            if !goes_on || !matches!(self.client.more(self.deadline), Ok(true)) {
                self.framing = Framing::Length(0);
                return Ok(0);
            }
        }
    }
}
