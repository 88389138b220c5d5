//! `guard proxy`: checks the tool calls between an MCP client and a server on its standard streams.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::durable::monitor::{DurableMonitor, FileArgs, Setup};
use super::failure::{Failure, Outcome, complain, queue_errors, say};
use super::limits::LimitArgs;
use super::lines::{self, Line};
use super::models::ModelArgs;
use super::signals;
use crate::inert::inert;
use crate::integrations::mcp::{Limits, Session, Turn};
use crate::monitor::Decision;
use crate::monitor::lenient::Outline;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Spec, or a file from `guard compile`
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// Server command and its arguments
    #[arg(value_name = "CMD", required = true, last = true)]
    command: Vec<String>,
    /// Name of the trace
    #[arg(long, value_name = "NAME", default_value = "mcp")]
    trace: String,
    /// Treatment of a call that needs a person's decision
    #[arg(long, value_enum, default_value_t = Ask::Deny)]
    ask: Ask,
    /// Print every decision except plain allows to the standard error, as JSON
    #[arg(long)]
    verbose: bool,
    /// The longest message that is read, in bytes; longer ones are refused or dropped
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    max_message_bytes: usize,
    /// Open requests of a peer at once; beyond it the oldest is given up
    #[arg(long, value_name = "N", default_value_t = Limits::default().entries)]
    max_open: usize,
    /// Messages in a list; a longer list is refused or dropped
    #[arg(long, value_name = "N", default_value_t = Limits::default().list)]
    max_list: usize,
    /// Text in several strings up to which a phrase is found wherever it is split; in longer ones less of it, or the text is
    /// unknown
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().joined)]
    max_joined_bytes: usize,
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Ask {
    /// Deny it, and report that a person must decide
    Deny,
    /// Forward it: the client asks the person
    Pass,
}

/// The greatest number of lines for the server that are judged and not yet written.
const QUEUED: usize = 16;

/// The greatest number of lines for standard error that wait; further ones are lost.
const UNSAID: usize = 1024;

/// The time for which the error output of a server that has ended is still read, and for which our own is still written.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The greatest number of bytes of a line of the server's error output that is passed on at once.
const SAID: u64 = 8 * 1024;

/// The stack size of a thread that judges: conditions of specs are evaluated on nested values from peers.
const STACK: usize = 64 << 20;

/// The state that both directions share. Nothing is written to a peer or to standard error while it is locked: whoever does not read
/// must neither stop the other peer nor keep the state from being saved.
struct Shared {
    monitor: DurableMonitor,
    session: Session,
    verbose: bool,
    /// Whether contents of events are left out of what is written to standard error, which programs keep as logs.
    redacts: bool,
}

/// The lines for the client, in the order in which they were decided.
#[derive(Default)]
struct ToClient {
    lines: Mutex<VecDeque<String>>,
    /// Held by the thread that writes.
    writes: Mutex<()>,
}

/// The lines for the server; `None` ends its input.
type Queue = SyncSender<Option<String>>;

/// Saves the state when the connection ends, in whatever way. Nothing happens afterwards that the state does not hold: nobody else
/// gets the lock any more.
struct SaveAtEnd(Arc<Mutex<Shared>>);

impl Drop for SaveAtEnd {
    fn drop(&mut self) {
        let mut shared = lock(&self.0);
        shared.close();
        std::mem::forget(shared);
    }
}

pub(super) fn run(args: Args) -> Result<Outcome, Failure> {
    let longest = args.max_message_bytes;
    let (models, limits, files) = (&args.models, &args.limits, args.files.files(Vec::new()));
    let monitor = DurableMonitor::open(Setup::new(&args.spec, models, limits, files))?;
    let limits = Limits {
        entries: args.max_open,
        bytes: longest,
        list: args.max_list,
        joined: args.max_joined_bytes,
    };
    let session = Session::new(&args.trace, args.ask == Ask::Pass, limits);
    let shared = Arc::new(Mutex::new(Shared {
        session: session.continuing(monitor.monitor.taken()),
        monitor,
        verbose: args.verbose,
        redacts: args.files.redacts(),
    }));
    let cannot = |error| Failure::Usage(format!("cannot catch signals: {error}"));
    signals::hear_children().map_err(cannot)?;
    if args.files.keeps() {
        let save = SaveAtEnd(Arc::clone(&shared));
        signals::save_before_end(|| drop(save)).map_err(cannot)?;
    }
    let (program, rest) = args
        .command
        .split_first()
        .ok_or_else(|| Failure::Usage("no server command given".to_owned()))?;
    let mut server = Command::new(program)
        .args(rest)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Failure::Usage(format!("cannot start `{program}`: {error}")))?;
    let save = SaveAtEnd(Arc::clone(&shared));
    // not before the server is started, so that the server keeps its own setting
    lines::take_small_pages();
    let (Some(mut to_server), Some(from_server)) = (server.stdin.take(), server.stdout.take())
    else {
        return Err(Failure::Usage(format!(
            "`{program}` has no standard streams"
        )));
    };
    let said = server.stderr.take();
    // Not the handle of the standard library, whose lock a thread would hold while it waits for a reader.
    let errors = std::io::stderr().as_fd().try_clone_to_owned();
    let errors = Arc::new(Mutex::new(File::from(errors.map_err(Failure::Output)?)));
    let thread = || std::thread::Builder::new().stack_size(STACK);
    let (queue, lines) = mpsc::sync_channel::<Option<String>>(QUEUED);
    // These two threads are not joined: the client may send nothing after the server has ended.
    let write = move || {
        while let Ok(Some(line)) = lines.recv() {
            if send(&mut to_server, &line).is_err() {
                return;
            }
        }
    };
    thread().spawn(write).map_err(Failure::Output)?;
    let out = Arc::new(ToClient::default());
    let client = {
        let (shared, queue, out) = (Arc::clone(&shared), queue.clone(), Arc::clone(&out));
        move || from_client(&shared, longest, &queue, &out)
    };
    thread().spawn(client).map_err(Failure::Output)?;
    let (heard, silent) = mpsc::channel::<()>();
    let hear = {
        let errors = Arc::clone(&errors);
        move || {
            said.into_iter().for_each(|said| hear(said, &errors));
            drop(heard);
        }
    };
    thread().spawn(hear).map_err(Failure::Output)?;
    let (unsaid, reports) = mpsc::sync_channel::<String>(UNSAID);
    let (told_all, done) = mpsc::channel::<()>();
    let tell_errors = move || {
        reports.iter().for_each(|line| say_to(&errors, &line));
        drop(told_all);
    };
    thread().spawn(tell_errors).map_err(Failure::Output)?;
    let _queued = Queued::to(unsaid, done);
    let answers = {
        let shared = Arc::clone(&shared);
        move || to_client(&shared, longest, from_server, &queue, &out)
    };
    let answers = thread().spawn(answers).map_err(Failure::Output)?;
    let told = match answers.join() {
        Ok(told) => told,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    let status = server.wait();
    // A process started by the server may keep the server's error output open.
    let _ = silent.recv_timeout(LAST_WORDS);
    drop(save);
    told?;
    let status = status.map_err(|error| Failure::Usage(format!("`{program}`: {error}")))?;
    match status.code() {
        Some(0) => Ok(Outcome::Holds),
        code => Err(Failure::AlreadyReported(
            code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1),
        )),
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that failed has reported the failure; the state is consistent, because every line is decided at once.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The queue for standard error, as long as it is in use; what is written at the end is the end of it.
struct Queued(Receiver<()>);

impl Queued {
    fn to(queue: SyncSender<String>, done: Receiver<()>) -> Queued {
        queue_errors(Some(queue));
        Queued(done)
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        queue_errors(None);
        let _ = self.0.recv_timeout(LAST_WORDS);
    }
}

/// Ends the server's input when the client's input ends, for any reason.
struct EndInput<'q>(&'q Queue);

impl Drop for EndInput<'_> {
    fn drop(&mut self) {
        let _ = self.0.send(None);
    }
}

/// Passes on the lines of the client. Ends, and with it the server's input, when the client ends or cannot be answered.
fn from_client(shared: &Mutex<Shared>, longest: usize, queue: &Queue, out: &ToClient) {
    let _end = EndInput(queue);
    let mut input = BufReader::new(std::io::stdin());
    while let Some(line) = next_line(&mut input, longest) {
        let on = {
            let mut shared = lock(shared);
            let turn = shared.turn(true, line, longest);
            shared.report("client", &turn.dropped);
            lock(&out.lines).extend(turn.back);
            turn.on
        };
        if out.write().is_err() {
            return;
        }
        for line in on {
            if queue.send(Some(line)).is_err() {
                return;
            }
        }
    }
}

/// Passes on the lines of the server until it ends.
fn to_client(
    shared: &Mutex<Shared>,
    longest: usize,
    from_server: impl Read,
    queue: &Queue,
    out: &ToClient,
) -> Result<(), Failure> {
    let mut input = BufReader::new(from_server);
    while let Some(line) = next_line(&mut input, longest) {
        let back = {
            let mut shared = lock(shared);
            let turn = shared.turn(false, line, longest);
            shared.report("server", &turn.dropped);
            lock(&out.lines).extend(turn.on);
            turn.back
        };
        for line in back {
            // Never blocks: the server may be waiting for the proxy to read.
            if queue.try_send(Some(line)).is_err() {
                report("client", "the server does not read");
            }
        }
        out.write().map_err(Failure::Output)?;
    }
    Ok(())
}

impl ToClient {
    /// Writes the lines that wait, also those of the other thread.
    fn write(&self) -> std::io::Result<()> {
        let _writes = lock(&self.writes);
        loop {
            let next = lock(&self.lines).pop_front();
            match next {
                Some(line) => send(&mut std::io::stdout().lock(), &line)?,
                None => return Ok(()),
            }
        }
    }
}

impl Shared {
    fn turn(&mut self, from_client: bool, line: PeerLine, longest: usize) -> Turn {
        // What cannot be recorded now cannot be later in the turn either, where it denies.
        let _ = self.monitor.deadlines();
        let late = std::mem::take(&mut self.monitor.late);
        late.iter().for_each(|decision| self.session.obey(decision));
        let (session, monitor) = (&mut self.session, &mut self.monitor);
        let too_long = || format!("a line is longer than {longest} bytes");
        let turn = match (from_client, line) {
            (true, PeerLine::Whole(line)) => session.from_client(monitor, &line),
            (false, PeerLine::Whole(line)) => session.from_server(monitor, &line),
            (true, PeerLine::Cut(kept)) => session.cut_from_client(kept.as_ref(), &too_long()),
            (false, PeerLine::Cut(kept)) => {
                session.cut_from_server(monitor, kept.as_ref(), &too_long())
            }
        };
        let of_turn = std::mem::take(&mut self.monitor.late);
        if self.verbose {
            let all = late.iter().chain(&of_turn).chain(&turn.decisions);
            let told = all.filter(|decision| says_something(decision));
            told.for_each(|decision| say(self.monitor.for_log(decision).to_json()));
        }
        turn
    }

    /// Reports messages of a peer that were not passed on.
    fn report(&self, peer: &str, reasons: &[String]) {
        for reason in reasons {
            match self.redacts {
                true => report(peer, "why is left out (`--redact`)"),
                false => report(peer, reason),
            }
        }
    }

    /// Saves the state at the end of the connection.
    fn close(&mut self) {
        self.session.end(&mut self.monitor);
        self.monitor.close();
    }
}

/// The most bytes of reports: a hostile server would fill a log.
const MOST_REPORTED: usize = 32 * 1024;

/// The bytes of all reports so far.
static REPORTED: AtomicUsize = AtomicUsize::new(0);

/// Reports a message of a peer that was not passed on, up to [`MOST_REPORTED`] bytes in all. Reasons may quote the peer, so control
/// characters are escaped.
fn report(peer: &str, reason: &str) {
    let reason = reason.escape_debug();
    let line = format!("dropped a message of the {peer}: {reason}");
    let before = REPORTED.fetch_add(line.len(), Ordering::Relaxed);
    if before + line.len() <= MOST_REPORTED {
        complain(&line);
    } else if before <= MOST_REPORTED {
        complain("further messages that are dropped are not reported");
    }
}

fn says_something(decision: &Decision) -> bool {
    !(decision.clauses.is_empty() && decision.errors.is_empty() && decision.notes.is_empty())
}

fn send(to: &mut impl Write, line: &str) -> std::io::Result<()> {
    to.write_all(line.as_bytes())?;
    to.write_all(b"\n")?;
    to.flush()
}

/// Passes on the server's error output as text, with a prefix that the proxy's own lines do not have.
fn hear(from: impl Read, errors: &Mutex<File>) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = from.by_ref().take(SAID).read_until(b'\n', &mut line);
        if !read.is_ok_and(|read| read > 0) {
            return;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\r', '\n']);
        say_to(errors, &format!("server: {}", inert(text)));
    }
}

/// Writes a line to standard error, whole, since the beginning of a line says whose it is.
fn say_to(errors: &Mutex<File>, line: &str) {
    let _ = send(&mut *lock(errors), line);
}

/// A line of a peer.
enum PeerLine {
    Whole(Vec<u8>),
    /// A line beyond the limit, and its readable part.
    Cut(Option<Outline>),
}

/// Returns the next line, or `None` at the end of the stream, or after an error.
fn next_line(from: &mut impl BufRead, longest: usize) -> Option<PeerLine> {
    match lines::next(from, longest)? {
        Line::Whole(line) => Some(PeerLine::Whole(line)),
        Line::TooLong(kept) => Some(PeerLine::Cut(kept)),
        Line::Failed(_) => None,
    }
}
