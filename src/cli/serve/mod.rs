//! `guard serve`: a daemon for programs in other languages, over HTTP on this machine or a Unix socket.
//!
//! One thread owns the monitor and has a large stack; the threads of connections pass it one line at a time, so clients
//! take turns even if one sends many lines at once.

mod clients;
mod judge;

use std::io::{BufRead, Write};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::ops::Range;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::time::{Duration, Instant};

use super::approvals;
use super::durable::calls::{CallList, Unrecorded};
use super::durable::monitor::{DurableMonitor, FileArgs, QuestionArgs, ReservationArgs, Setup};
use super::failure::{Failure, Outcome};
use super::hosts::Hosts;
use super::http::{ConnectionLimits, Listener, Service};
use super::limits::{DAY, LimitArgs};
use super::lines::{self, Line};
use super::models::ModelArgs;
use super::signals;
use crate::inert::inert;
use crate::integrations::hook::{self, Call, Scope};
use crate::integrations::http::{RequestHead, Response};
use crate::monitor::intake::Intake;
use crate::monitor::lenient::Outline;
use crate::monitor::{Approval, EnvelopeFields, Request, Speaker};
use clients::{ANYBODY, Clients};
use judge::{Client, Deadlines, JUDGE_STACK, Job, JobRequest, Judging};

const AFTER_HELP: &str = "\
POST /v1/decide   input lines of `guard monitor`; returns one decision per line
POST /v1/hook     one hook call of Claude Code or the Agent SDK; returns its answer
GET  /v1/health   {\"v\":1,\"ok\":true,\"traces\":n}

Every request but /v1/health carries `Authorization: Bearer TOKEN`, unless --no-token is given.
To make a token: (umask 077; head -c 24 /dev/urandom | base64 > token)";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// Spec, or a file from `guard compile`
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// Address to listen on
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:7437",
        conflicts_with = "socket"
    )]
    listen: String,
    /// Listen on a Unix socket instead
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// A file whose first line is the token that requests must carry; may be given several times, once for each client:
    /// clients share the limits on proposals equally
    #[arg(long, value_name = "FILE", required_unless_present = "no_token")]
    token_file: Vec<PathBuf>,
    /// Serve whoever can connect, the agent's own commands included
    #[arg(long, conflicts_with = "token_file")]
    no_token: bool,
    /// A file whose first line is the token of those who approve: only they may report approvals, commit what a person was
    /// asked about, and end traces
    #[arg(long, value_name = "FILE")]
    approver_token_file: Option<PathBuf>,
    /// Events that are approvals; may be given several times
    #[arg(
        long,
        value_name = "FIELD=VALUE",
        default_value = approvals::DEFAULT,
        requires = "approver_token_file"
    )]
    approval: Vec<String>,
    /// A name under which clients may address the server, beside the address that it listens at; may be given several times
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Limit the size of a request body, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20)]
    max_body: usize,
    /// Limit the lines of a request body; its answer has a decision for each
    #[arg(long, value_name = "N", default_value_t = 1000)]
    max_lines: usize,
    /// Limit the simultaneous connections; further ones are refused
    #[arg(long, value_name = "N", default_value_t = 256)]
    max_clients: usize,
    /// Limit the time for a request to arrive, to have its turn, and for its answer to be taken
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=DAY))]
    patience: u64,
    #[command(flatten)]
    reservations: ReservationArgs,
    #[command(flatten)]
    questions: QuestionArgs,
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

/// The state that all connections share.
struct Server {
    jobs: SyncSender<Job>,
    clients: Clients,
    /// The names and addresses that a request may be addressed to; `None` for a Unix socket, which web pages cannot
    /// reach.
    hosts: Option<Hosts>,
    traces: Arc<AtomicUsize>,
    unrecorded: Arc<Unrecorded>,
    patience: Duration,
    max_body: usize,
    max_lines: usize,
    /// The members of an envelope whose names events use themselves.
    own: EnvelopeFields,
}

/// A job that was handed over: whether it was begun or given up, and its answer.
type Pending = (Arc<AtomicBool>, Receiver<Result<String, String>>);

/// The time after which a client looks again for room in the queue of the judging thread.
const QUEUE_POLL: Duration = Duration::from_millis(5);

/// The reason why a request that says what happened has no answer.
const RECORDED_LATER: &str = "the monitor is busy; what happened will be recorded";

/// The reason why a request was not judged, and the HTTP status that says so.
struct Unjudged {
    status: u16,
    why: String,
}

impl Unjudged {
    fn new(status: u16, why: &str) -> Unjudged {
        Unjudged {
            status,
            why: why.to_owned(),
        }
    }

    fn gone() -> Unjudged {
        Unjudged::new(500, "the monitor has ended")
    }
}

impl From<Unjudged> for Response {
    fn from(unjudged: Unjudged) -> Response {
        Response::refusal(unjudged.status, &unjudged.why)
    }
}

pub(super) fn run(args: Args) -> Result<Outcome, Failure> {
    lines::take_small_pages();
    let clients = Clients::read(
        &args.token_file,
        args.approver_token_file.as_ref(),
        args.files.secrets,
    )?;
    let approvals = match clients.has_approver() {
        false => Vec::new(),
        true => args
            .approval
            .iter()
            .map(|text| approvals::parsed(text))
            .collect::<Result<_, _>>()?,
    };
    let listener = listen(&args)?;
    let judging = judging(&args, &clients, approvals)?;
    let place = match (&args.socket, listener.address()) {
        (Some(path), _) => path.display().to_string(),
        (None, Some(address)) => format!("http://{address}"),
        (None, None) => args.listen.clone(),
    };
    let limits = ConnectionLimits {
        body: args.max_body,
        clients: args.max_clients.max(1),
        patience: Duration::from_secs(args.patience),
    };
    let (jobs, from) = mpsc::sync_channel(limits.clients);
    let server = Arc::new(Server {
        jobs,
        clients,
        hosts: listener
            .address()
            .map(|address| Hosts::new(address, &args.listen, &args.host)),
        traces: Arc::clone(&judging.traces),
        unrecorded: Arc::clone(&judging.unrecorded),
        patience: limits.patience,
        max_body: args.max_body,
        max_lines: args.max_lines,
        own: judging.monitor.monitor.envelope_fields(),
    });
    std::thread::Builder::new()
        .name("judge".to_owned())
        .stack_size(JUDGE_STACK)
        .spawn(move || judging.run(&from))
        .map_err(|error| Failure::Usage(format!("cannot start a thread: {error}")))?;
    // A monitor that failed has reported the failure, and its state must not be written.
    let owner = Client {
        role: Speaker::Approver,
        client: 0,
    };
    // The queue may hold events of which clients know that they will be recorded.
    if args.files.saves() || args.files.journal().is_some() {
        let server = Arc::clone(&server);
        let save = move || drop(server.close(owner));
        signals::save_before_end(save)
            .map_err(|error| Failure::Usage(format!("cannot catch signals: {error}")))?;
    }
    // A closed standard error does not prevent serving.
    let _ = writeln!(std::io::stderr(), "listening at {}", inert(&place));
    let ended = listener.serve(&server, limits);
    let _ = server.close(owner);
    ended.map_err(|error| {
        Failure::Usage(format!("cannot continue listening on `{place}`: {error}"))
    })?;
    Ok(Outcome::Holds)
}

/// Opens the monitor and the list of calls. An outcome that an earlier process lost makes those of open calls unknown.
fn judging(args: &Args, clients: &Clients, approvals: Vec<Approval>) -> Result<Judging, Failure> {
    let tokens_and_socket = args.token_file.iter().chain(&args.approver_token_file);
    let others = tokens_and_socket.chain(&args.socket).cloned().collect();
    let files = args.files.files(others);
    let monitor = DurableMonitor::open(Setup {
        options: &|options| {
            options.approvals.clone_from(&approvals);
            options.clients = clients.len();
            args.reservations.set(options);
            args.questions.set(options);
        },
        ..Setup::new(&args.spec, &args.models, &args.limits, files)
    })?;
    if clients.has_approver() {
        approvals::warn_of_unread(&monitor.monitor, &args.approval);
    }
    let calls = args.files.calls().zip(args.files.journal());
    let calls = calls.map(|(path, journal)| CallList::of_server(path, monitor.calls(), journal));
    let calls = calls.transpose()?;
    let kept = calls.as_ref().map(|list| list.kept.sessions.clone());
    let mut sessions = kept.unwrap_or_default();
    if sessions.is_empty() && monitor.monitor.n_traces() > 0 {
        sessions.forget();
    }
    let unrecorded = Arc::new(Unrecorded::new(args.files.calls()));
    if calls.as_ref().is_some_and(CallList::has_lost) {
        sessions.lose();
        unrecorded.lose();
    }
    Ok(Judging {
        traces: Arc::new(AtomicUsize::new(monitor.monitor.n_traces())),
        monitor,
        sessions,
        calls,
        sync: args.files.sync,
        unrecorded,
        deadlines: Deadlines::new(clients.len() == 1),
        failed: None,
    })
}

/// Opens the address.
fn listen(args: &Args) -> Result<Listener, Failure> {
    let cannot = |at: &str, why: &dyn std::fmt::Display| {
        Failure::Usage(format!("cannot listen on `{at}`: {why}"))
    };
    if let Some(path) = &args.socket {
        let shown = path.display().to_string();
        match std::fs::symlink_metadata(path) {
            // A socket left by a daemon that was killed.
            Ok(found) if found.file_type().is_socket() && UnixStream::connect(path).is_err() => {
                std::fs::remove_file(path).map_err(|error| cannot(&shown, &error))?;
            }
            Ok(found) if !found.file_type().is_socket() => {
                return Err(cannot(
                    &shown,
                    &"a file of this name exists and is not a socket",
                ));
            }
            _ => {}
        }
        let listener = UnixListener::bind(path).map_err(|error| cannot(&shown, &error))?;
        let only_me = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(path, only_me).map_err(|error| cannot(&shown, &error))?;
        return Ok(Listener::Unix(listener));
    }
    let addresses = args
        .listen
        .to_socket_addrs()
        .map_err(|error| cannot(&args.listen, &error))?;
    let addresses: Vec<SocketAddr> = addresses.collect();
    if args.no_token && !addresses.iter().all(|address| address.ip().is_loopback()) {
        return Err(cannot(
            &args.listen,
            &"the address is reachable from other machines; give a token with `--token-file`",
        ));
    }
    let listener = TcpListener::bind(addresses.as_slice());
    listener
        .map(Listener::Tcp)
        .map_err(|error| cannot(&args.listen, &error))
}

impl Server {
    /// Sends a request to the judging thread, for which there must be room within a time. Returns what shows whether it is begun, and what
    /// brings the answer.
    fn hand_over(
        &self,
        speaker: Client,
        request: JobRequest,
        happened: bool,
        patience: Duration,
    ) -> Result<Pending, Unjudged> {
        let claimed = Arc::new(AtomicBool::new(false));
        let (reply, answer) = mpsc::sync_channel(1);
        let is_outcome = request.is_outcome();
        let mut job = Job {
            speaker,
            request,
            happened,
            claimed: Arc::clone(&claimed),
            reply,
        };
        // The process may end before it is recorded.
        if is_outcome {
            self.unrecorded.add();
        }
        let since = Instant::now();
        loop {
            job = match self.jobs.try_send(job) {
                Ok(()) => return Ok((claimed, answer)),
                Err(TrySendError::Disconnected(_)) => return Err(Unjudged::gone()),
                Err(TrySendError::Full(job)) => job,
            };
            if since.elapsed() >= patience {
                if is_outcome {
                    self.unrecorded.give_up();
                }
                let why = "the monitor is busy; nothing was decided or recorded";
                return Err(Unjudged::new(503, why));
            }
            std::thread::sleep(QUEUE_POLL);
        }
    }

    /// Sends a request to the judging thread and waits for the result. An event that happened is recorded even after the client
    /// has waited too long.
    fn judged(&self, speaker: Client, request: JobRequest) -> Result<String, Unjudged> {
        self.judged_within(speaker, request, self.patience)
    }

    /// Does so within another time.
    fn judged_within(
        &self,
        speaker: Client,
        request: JobRequest,
        patience: Duration,
    ) -> Result<String, Unjudged> {
        let states = request.states(self.own);
        let happened = states.unwrap_or(true);
        // Whether a line that cannot be read will be recorded is known only when it was judged.
        let patience = states.map_or(Duration::MAX, |_| patience);
        let (claimed, answer) = self.hand_over(speaker, request, happened, patience)?;
        let answered = match answer.recv_timeout(patience) {
            Err(RecvTimeoutError::Timeout) if happened => {
                return Err(Unjudged::new(503, RECORDED_LATER));
            }
            Err(RecvTimeoutError::Timeout) if !claimed.swap(true, Ordering::AcqRel) => {
                return Err(Unjudged::new(
                    503,
                    "the monitor is busy; nothing was decided",
                ));
            }
            Err(RecvTimeoutError::Timeout) => answer.recv().map_err(|_| Unjudged::gone())?,
            answered => answered.map_err(|_| Unjudged::gone())?,
        };
        answered.map_err(|why| Unjudged::new(500, &why))
    }

    /// Writes the state. Nobody waits for a server that ends but the one who ends it, and what is not saved is lost.
    fn close(&self, owner: Client) -> Result<String, Unjudged> {
        self.judged_within(owner, JobRequest::Close, Duration::MAX)
    }

    /// Judges the next line of a body, and adds the decision to `out`. Behind a line that was not judged in time, nothing is decided, and
    /// what happened is recorded, one line at a turn.
    fn next_line(&self, speaker: Client, line: JobRequest, out: &mut Result<String, Unjudged>) {
        match out {
            Ok(decisions) => match self.judged(speaker, line) {
                Ok(decision) => decisions.push_str(&decision),
                Err(unjudged) => *out = Err(unjudged),
            },
            Err(unjudged) if line.states(self.own).unwrap_or(true) => {
                match self.judged_within(speaker, line, Duration::MAX) {
                    Ok(_) if unjudged.status == 503 => RECORDED_LATER.clone_into(&mut unjudged.why),
                    Ok(_) => {}
                    Err(failed) => *unjudged = failed,
                }
            }
            Err(_) => {}
        }
    }

    fn decide(&self, speaker: Client, body: Vec<u8>) -> Result<Response, Response> {
        let body = Arc::new(body);
        let n_lines = lines_of(&body).count();
        if n_lines == 0 {
            let why = "expected a line, found an empty body";
            return Err(Response::refusal(400, why));
        }
        if n_lines > self.max_lines {
            let most = self.max_lines;
            let why = format!("expected at most {most} lines (`--max-lines`), found {n_lines}");
            let refusal = Response::refusal(413, &why);
            return self.record(speaker, &mut body.as_slice()).and(Err(refusal));
        }
        let mut out = Ok(String::new());
        for line in lines_of(&body) {
            let line = JobRequest::Line(Arc::clone(&body), line);
            self.next_line(speaker, line, &mut out);
        }
        Ok(Response {
            status: 200,
            body: out?,
            kind: "application/x-ndjson",
        })
    }

    /// Answers a hook call from the part that arrived. One that was not checked, for whatever reason, is answered with a JSON
    /// denial: Claude Code does not take an HTTP error status for one.
    fn hook(&self, speaker: Client, read: Result<Outline, String>) -> Response {
        let read = read.map_err(hook::Refused::unread);
        let call = match read.and_then(|outline| Call::of(outline, Scope::default())) {
            Ok(call) => call,
            Err(refused) => {
                if refused.may_report {
                    let _ = self.hand_over(speaker, JobRequest::LostHook, true, self.patience);
                }
                return denial(&refused.reason);
            }
        };
        let hook = call.hook().to_owned();
        let judged = self.judged(speaker, JobRequest::Hook(Box::new(call)));
        Response {
            status: 200,
            body: judged.unwrap_or_else(|unjudged| hook::denial(&hook, &unjudged.why).to_string()),
            kind: "application/json",
        }
    }

    /// Records the events that happened in a body that is not decided.
    fn record(&self, speaker: Client, mut body: &mut dyn BufRead) -> Result<(), Response> {
        // A decision names the trace that its event is recorded in.
        let has_trace = |decision: &str| {
            Outline::read(decision.into()).is_ok_and(|of| of.raw("trace") != Some("null"))
        };
        let mut all_recorded = true;
        while let Some(line) = lines::next(&mut body, self.max_body) {
            let line = match line {
                Line::Whole(line) => line,
                Line::TooLong(Some(kept)) => kept.into_bytes(),
                Line::TooLong(None) => continue,
                Line::Failed(_) => break,
            };
            // The last line may be cut off.
            let mut intake = Intake::new(self.max_body);
            intake.take(&line);
            let line = match intake.finish() {
                Ok(outline) => happened_in_cut(&outline).unwrap_or_else(|| outline.into_bytes()),
                Err(_) => line,
            };
            // What cannot be read is recorded if it reports an event, and never decided.
            let range = 0..line.len();
            let line = JobRequest::Line(Arc::new(line), range);
            // Whether it is recorded is known only when it was judged.
            if line.states(self.own).unwrap_or(true) {
                let decisions = self.judged_within(speaker, line, Duration::MAX)?;
                all_recorded &= decisions.lines().all(has_trace);
            }
        }
        match all_recorded {
            true => Ok(()),
            false => Err(Response::refusal(
                400,
                "the body is too long or incomplete, and an event could not be recorded: its trace could not be read",
            )),
        }
    }
}

impl Service for Server {
    type Grant = Client;

    fn admit(&self, head: &RequestHead) -> Result<Client, Response> {
        let refused = |status, why| Err(Response::refusal(status, why));
        // A page in a browser could send requests to this machine without the user's intent.
        if head.field("Origin").is_some() || head.field("Sec-Fetch-Site").is_some() {
            return refused(403, "requests from web pages are rejected");
        }
        if let Some(hosts) = &self.hosts {
            let mut named = head.fields("Host");
            match (named.next(), named.next()) {
                (Some(host), None) if hosts.name(host) => {}
                (Some(_), None) => {
                    return refused(403, "the `Host` is not this server (`--host` adds a name)");
                }
                _ => return refused(400, "expected one `Host`"),
            }
        }
        if head.path == "/v1/health" {
            return match head.method.as_str() {
                "GET" | "HEAD" => Ok(ANYBODY),
                _ => refused(405, "use GET for this path"),
            };
        }
        if head.fields("Authorization").nth(1).is_some() {
            return refused(400, "expected one `Authorization`");
        }
        let Some(speaker) = self.clients.of(head) else {
            return refused(401, "missing or wrong token");
        };
        if !["/v1/decide", "/v1/hook"].contains(&head.path.as_str()) {
            return refused(
                404,
                "unknown path: available are /v1/decide, /v1/hook and /v1/health",
            );
        }
        if head.method != "POST" {
            return refused(405, "use POST for this path");
        }
        Ok(speaker)
    }

    fn answer(&self, head: &RequestHead, speaker: Client, body: Vec<u8>) -> Response {
        let answer = match head.path.as_str() {
            "/v1/health" => {
                let traces = self.traces.load(Ordering::Relaxed);
                Ok(Response::json(
                    &serde_json::json!({"v": 1, "ok": true, "traces": traces}),
                ))
            }
            "/v1/hook" => Ok(self.hook(speaker, Outline::read(body))),
            _ => self.decide(speaker, body),
        };
        answer.unwrap_or_else(|refusal| refusal)
    }

    fn answer_unread(
        &self,
        head: Option<&RequestHead>,
        is_admitted: bool,
        refusal: Response,
    ) -> Response {
        if head.is_none_or(|head| head.path != "/v1/hook") {
            return refusal;
        }
        if is_admitted {
            // It may report an outcome, and Claude Code does not send it again.
            let _ = self.hand_over(ANYBODY, JobRequest::LostHook, true, self.patience);
        }
        denial(&refusal.body)
    }

    fn answer_cut(
        &self,
        head: &RequestHead,
        speaker: Client,
        body: &mut dyn BufRead,
        refusal: Response,
    ) -> Response {
        let answer = match head.path.as_str() {
            "/v1/hook" => Ok(self.hook(speaker, kept(body, self.max_body))),
            "/v1/decide" => self.record(speaker, body).and(Err(refusal)),
            _ => Err(refusal),
        };
        answer.unwrap_or_else(|refusal| refusal)
    }
}

/// Returns the places of the lines of a body that are not blank.
fn lines_of(body: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    let line = move || {
        let rest = body.get(start..).filter(|rest| !rest.is_empty())?;
        let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..len)?;
        let begin = start + len - line.trim_ascii_start().len();
        start += len + 1;
        Some(begin..begin + line.trim_ascii().len())
    };
    std::iter::from_fn(line).filter(|line| !line.is_empty())
}

/// Returns the line that reports the event of a commit whose number was cut off.
fn happened_in_cut(line: &Outline) -> Option<Vec<u8>> {
    let is_commit = line.text("phase").as_deref() == Some("commit");
    let number = line.raw("proposal").map(str::parse::<u64>);
    let event = line.raw("event").filter(|event| event.starts_with('{'))?;
    let is_cut = is_commit && !matches!(number, Some(Ok(_)));
    is_cut.then(|| Request::Observe.to_line(event.as_bytes()))
}

/// Returns the answer to a hook call of which not even the name of the hook could be read: a denial, for the hooks that can deny.
fn denial(reason: &str) -> Response {
    Response::json(&hook::denial("PreToolUse", reason))
}

/// Returns the readable part of a document that is too long or cut off.
fn kept(body: &mut dyn BufRead, most: usize) -> Result<Outline, String> {
    let mut intake = Intake::new(most);
    loop {
        let n = match body.fill_buf() {
            Ok([]) | Err(_) => return intake.finish(),
            Ok(bytes) => {
                intake.take(bytes);
                bytes.len()
            }
        };
        body.consume(n);
    }
}
