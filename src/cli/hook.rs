//! `guard hook`: a command hook for Claude Code and the Claude Agent SDK.
//!
//! The process that the agent starts only waits. It forks a second process with limits on time, memory and stack, which
//! judges the call. If that process ends in any way but a clean answer, the first denies the call. `docs/protocol-hook.md`
//! describes the states of a call and the files of a session.

use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use rustix::stdio::{dup2_stdin, dup2_stdout};
use serde_json::Value as Json;

use super::clock::Witness;
use super::durable_monitor::{DurableMonitor, QuestionArgs, Setup};
use super::durable_paths::Files;
use super::durable_state::{ONLY_ME, Sync};
use super::failure::{Failure, Outcome, code, complain, hear_errors, say};
use super::hook_agents;
use super::hook_calls::{CallList, Kept};
use super::hook_earlier::{put_on_record, with_answer};
use super::hook_session::{Mark, Session};
use super::limits::{DAY, LimitArgs};
use super::lines;
use super::models::ModelArgs;
use super::secrets::SecretArgs;
use crate::inert::push_json;
use crate::integrations::hook::{self, Call, Scope, Sessions, with_note};
use crate::monitor::intake::Intake;
use crate::monitor::lenient::Outline;

/// The variable that holds the folder of the project. The current folder of a hook is the agent's, which the agent changes.
const PROJECT: &str = "CLAUDE_PROJECT_DIR";

/// The longest input that is kept, in bytes; of a longer one the longest member is unknown.
const MAX_INPUT: usize = 64 * 1024 * 1024;

/// The part of an input by which the first process marks an outcome, in bytes: the ids stand before what is long.
const HEAD: usize = 2 * 1024 * 1024;

/// The stack of the process that judges, in bytes.
const STACK: u64 = 16 * 1024 * 1024;

/// Inputs that take longer to judge are not replayed by later calls.
const SLOW: Duration = Duration::from_millis(50);

const AFTER_HELP: &str = "\
In .claude/settings.json:

  {\"hooks\": {
    \"UserPromptSubmit\":   [{\"hooks\": [{\"type\": \"command\", \"command\": \"guard hook agent.guard\", \"timeout\": 30, \"onFailure\": \"block\"}]}],
    \"PreToolUse\":         [{\"hooks\": [{\"type\": \"command\", \"command\": \"guard hook agent.guard\", \"timeout\": 30, \"onFailure\": \"block\"}]}],
    \"PostToolUse\":        [{\"hooks\": [{\"type\": \"command\", \"command\": \"guard hook agent.guard\", \"timeout\": 30, \"onFailure\": \"block\"}]}],
    \"PostToolUseFailure\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"guard hook agent.guard\", \"timeout\": 30, \"onFailure\": \"block\"}]}],
    \"Stop\":               [{\"hooks\": [{\"type\": \"command\", \"command\": \"guard hook agent.guard\", \"timeout\": 30}]}],
    \"SubagentStop\":       [{\"hooks\": [{\"type\": \"command\", \"command\": \"guard hook agent.guard\", \"timeout\": 30}]}],
    \"SessionEnd\":         [{\"hooks\": [{\"type\": \"command\", \"command\": \"guard hook agent.guard\", \"timeout\": 30}]}]}}

Claude Code lets a call through if its hook exits with any code but 0 and 2, cannot be started, or exceeds `timeout`;
since version 2.1.295 `\"onFailure\": \"block\"` makes it deny the call instead. With an earlier version, or another program that knows
no `onFailure`, let `UserPromptSubmit` and `PreToolUse` run `guard hook agent.guard || exit 2`.

Relative paths of SPEC, `--state` and `--key` are those of the project (`$CLAUDE_PROJECT_DIR`, which Claude Code sets), not of the
folder in which the agent works. In other programs give absolute paths.

Exit codes: 0 with JSON or no output; 2 if a call could not be checked, which denies it; 1 if an event that cannot be
denied failed.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// Spec, or a file from `guard compile`
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// Folder for the state of sessions (default: `guard/hook` in `$XDG_STATE_HOME`, or in
    /// `~/.local/state`)
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Calls that share one history
    #[arg(long, value_enum, default_value_t)]
    scope: ScopeArg,
    /// Restart a session: remove its state and keep its decision log under another name
    #[arg(long, value_name = "SESSION")]
    reset: Option<String>,
    /// Days after its last call during which a session may be resumed
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    keep: u64,
    /// Sign every decision in the logs with this Ed25519 key (PEM)
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    #[command(flatten)]
    secrets: SecretArgs,
    /// When to flush the state to disk
    #[arg(long, value_enum, default_value_t = Sync::System)]
    sync: Sync,
    /// Leave contents of calls and outcomes out of the log, and out of the journal after each call;
    /// `--redact=FIELD,FIELD` leaves out what depends on these fields only
    #[arg(long, value_name = "FIELDS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    redact: Option<String>,
    /// Deny a call after this many seconds; keep it below the timeout of the hook, after which the call is
    /// allowed
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=DAY))]
    timeout: u64,
    /// Memory that a decision may take before the call is denied
    #[arg(long, value_name = "MIB", default_value_t = 2048)]
    max_memory: u64,
    #[command(flatten)]
    questions: QuestionArgs,
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum ScopeArg {
    /// The calls of a session, including those of its sub-agents
    #[default]
    Session,
    /// The calls of the main agent, and those of each sub-agent, separately
    Agent,
}

impl Args {
    fn scope(&self) -> Scope {
        match self.scope {
            ScopeArg::Session => Scope::Session,
            ScopeArg::Agent => Scope::Agent,
        }
    }
}

/// Runs the hook; any failure ends with an exit code that denies the call.
pub(super) fn run(mut args: Args) -> Result<Outcome, Failure> {
    let project = std::env::var_os(PROJECT).map(PathBuf::from);
    if let Some(project) = project.filter(|project| project.is_absolute()) {
        let paths = [Some(&mut args.spec), args.state.as_mut(), args.key.as_mut()];
        for path in paths.into_iter().flatten() {
            *path = project.join(&*path);
        }
    }
    if let Some(session) = &args.reset {
        let mut session = Session::open(args.state.as_deref(), session).map_err(Failure::Usage)?;
        session.reset().map_err(Failure::Usage)?;
        return Ok(Outcome::Holds);
    }
    // Before any thread of this process: a fork has only the thread that made it.
    match start(&args) {
        Ok(None) => judge(&args),
        started => end(super::guarded(|| {
            supervise(&args, started.map(Option::unwrap_or_default))
        })),
    }
}

/// The process that judges, as the one that waits sees it. Dropping it ends the process.
#[derive(Default)]
struct Judge {
    process: Arc<Mutex<Option<Pid>>>,
    input: Option<PipeWriter>,
    output: Option<PipeReader>,
}

impl Drop for Judge {
    fn drop(&mut self) {
        let process = *lock(&self.process);
        if let Some(process) = process {
            let _ = kill_process(process, Signal::KILL);
            let _ = self.wait();
        }
    }
}

impl Judge {
    /// Waits for the end of the process.
    fn wait(&self) -> std::io::Result<Option<ExitStatus>> {
        let mut process = lock(&self.process);
        let Some(judging) = process.take() else {
            return Ok(None);
        };
        let ended = retry_on_intr(|| waitpid(Some(judging), WaitOptions::empty()))?;
        Ok(ended.map(|(_, status)| ExitStatus::from_raw(status.as_raw())))
    }
}

/// Starts the process that judges, and returns `None` in it; its input and output are those of the [`Judge`]. It is forked
/// rather than started anew: to load the program a second time takes as long as to judge a call.
fn start(args: &Args) -> std::io::Result<Option<Judge>> {
    let (its_input, input) = std::io::pipe()?;
    let (output, its_output) = std::io::pipe()?;
    if let fork::Fork::Parent(process) = fork::fork()? {
        return Ok(Some(Judge {
            process: Arc::new(Mutex::new(Pid::from_raw(process))),
            input: Some(input),
            output: Some(output),
        }));
    }
    super::signals::end();
    if let Err(error) = dup2_stdin(its_input).and_then(|()| dup2_stdout(its_output)) {
        complain(&format!("cannot start the judging process: {error}"));
        std::process::exit(i32::from(code::HOOK_DENIES));
    }
    limit(args);
    Ok(None)
}

/// Judges the call of the standard input within the limits, and ends the process.
fn judge(args: &Args) -> ! {
    // It may wait, for a lock or its input, when the first process is gone.
    let most = Duration::from_secs(args.timeout + 1);
    let bounded = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(most);
        end(code::HOOK_DENIES)
    });
    if let Err(error) = bounded {
        end(Failure::Usage(format!("cannot start a thread: {error}")).report());
    }
    // On this thread, whose stack grows up to its limit: a thread of its own and its heap took a twentieth of the time of a call.
    end(super::guarded(|| judge_input(args)))
}

/// Ends the process, without giving back its memory before: that took a twentieth of the time of a call. Not by way of a program that
/// contains this one, which would end as itself.
fn end(code: u8) -> ! {
    let _ = std::io::stdout().flush();
    signal_hook::low_level::exit(i32::from(super::of_hook(code)))
}

/// Gives the process that judges its input, and passes on what it answers. Any end of it but a clean one denies, and an outcome
/// that it did not put on record is marked.
fn supervise(args: &Args, started: std::io::Result<Judge>) -> Result<Outcome, Failure> {
    let denied = |why: &str| {
        complain(&format!("the call was not checked: {why}"));
        Failure::AlreadyReported(code::HOOK_DENIES)
    };
    let input = Arc::new(Mutex::new(Vec::new()));
    let process = started
        .as_ref()
        .ok()
        .map(|judge| Arc::clone(&judge.process));
    let (folder, scope) = (args.state.clone(), args.scope());
    let late = Arc::new(AtomicBool::new(false));
    let watched = {
        let (input, late) = (Arc::clone(&input), Arc::clone(&late));
        watch(args.timeout, move || {
            late.store(true, Ordering::SeqCst);
            // It may be waited for; then it has closed its output, and is about to end.
            if let Some(Ok(process)) = process.as_ref().map(|process| process.try_lock())
                && let Some(process) = *process
            {
                let _ = kill_process(process, Signal::KILL);
            }
            // nothing has marked an outcome whose input is still arriving
            let _ = marked(&lock(&input), folder.as_deref(), scope);
        })
    };
    let arrived = take_input(&input);
    let mark = marked(&lock(&input), args.state.as_deref(), args.scope());
    let mark = mark.map_err(|why| denied(&why))?;
    watched.map_err(|error| denied(&format!("cannot start a thread: {error}")))?;
    arrived.map_err(|error| denied(&format!("cannot read the input: {error}")))?;
    let mut judge =
        started.map_err(|error| denied(&format!("cannot start the judging process: {error}")))?;
    if let Some(mut to) = judge.input.take() {
        let whole = std::mem::take(&mut *lock(&input));
        // A process that ends early says by its end what that means.
        let _ = to
            .write_all(&whole)
            .and_then(|()| std::io::copy(&mut std::io::stdin().lock(), &mut to));
    }
    let mut answer = Vec::new();
    let read = judge
        .output
        .as_mut()
        .map_or(Ok(0), |from| from.read_to_end(&mut answer));
    let ended = read.and_then(|_| judge.wait());
    while late.load(Ordering::SeqCst) {
        // The thread that watches ends the process, and says why.
        std::thread::park();
    }
    let status = match ended {
        Ok(Some(status)) => status,
        Ok(None) => return Err(denied("the judging process is gone")),
        Err(error) => {
            let why = format!("cannot read the answer of the judging process: {error}");
            return Err(denied(&why));
        }
    };
    // Before all else it says whether the call can be denied.
    let answer = match answer.strip_prefix(TELLS) {
        None => answer.strip_prefix(DECIDES).ok_or(code::HOOK_DENIES),
        Some(answer) => Ok(answer),
    };
    match (status.code(), answer) {
        (Some(0), Ok(answer)) => {
            mark.into_iter().for_each(Mark::remove);
            if !answer.is_empty() && is_closed() {
                return Err(denied("the standard output is closed"));
            }
            let mut out = std::io::stdout().lock();
            let written = out.write_all(answer).and_then(|()| out.flush());
            written.map_err(|error| denied(&format!("cannot write the answer: {error}")))?;
            Ok(Outcome::Holds)
        }
        (Some(code @ (1 | 2)), _) => Err(Failure::AlreadyReported(u8::try_from(code).unwrap_or(2))),
        _ => Err(denied(&format!("the judging process ended with {status}"))),
    }
}

/// Reads the input as it arrives, up to [`HEAD`]; the rest is passed on unread.
fn take_input(input: &Mutex<Vec<u8>>) -> std::io::Result<()> {
    let mut stdin = std::io::stdin().lock();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let read = stdin.read(&mut chunk)?;
        let mut input = lock(input);
        input.extend_from_slice(chunk.get(..read).unwrap_or_default());
        if read == 0 || input.len() >= HEAD {
            return Ok(());
        }
    }
}

/// Marks an outcome before anything that may fail; what is no outcome, or cannot be read so far, has no mark.
fn marked(input: &[u8], folder: Option<&Path>, scope: Scope) -> Result<Option<Mark>, String> {
    if !hook::may_report(input) {
        return Ok(None);
    }
    let call = Call::read(input.to_vec(), scope).ok();
    let Some(call) = call.filter(Call::is_outcome) else {
        return Ok(None);
    };
    Session::of(folder, &call)?.mark(&call.unread()).map(Some)
}

/// Whether nobody hears what is written: a standard output that is closed is opened as `/dev/null` when a process starts.
fn is_closed() -> bool {
    let about = std::io::stdout().as_fd().try_clone_to_owned();
    let about = about.and_then(|file| std::fs::File::from(file).metadata());
    let null = std::fs::metadata("/dev/null");
    let same = about.ok().zip(null.ok());
    same.is_some_and(|(out, null)| out.file_type().is_char_device() && out.rdev() == null.rdev())
}

/// The first line of the judging process: whether it can deny the call.
const DECIDES: &[u8] = b"decides\n";
const TELLS: &[u8] = b"tells\n";

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the process after the timeout: Claude Code allows the call if a hook exceeds Claude Code's own timeout.
fn watch(seconds: u64, before_end: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let watch = move || {
        std::thread::sleep(Duration::from_secs(seconds));
        before_end();
        complain(&format!(
            "the call was not checked: it took more than {seconds} s (`--timeout`)"
        ));
        std::process::exit(i32::from(code::HOOK_DENIES));
    };
    std::thread::Builder::new().spawn(watch).map(|_| ())
}

/// Limits the memory of the process that judges, lets it write no core, and ends it if it goes on without the first process, which
/// otherwise ends it in time; [`judge`] limits the time that it waits.
fn limit(args: &Args) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = |resource: Resource, most: u64| {
        // No process may raise a limit that it was started with.
        let most = getrlimit(resource)
            .maximum
            .map_or(most, |hard| hard.min(most));
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        if let Err(error) = setrlimit(resource, limit) {
            complain(&format!("cannot limit the judging process: {error}"));
        }
    };
    let most = args.max_memory.saturating_mul(1024 * 1024);
    limit(Resource::As, most.saturating_add(reserved()));
    limit(Resource::Cpu, args.timeout + 1);
    limit(Resource::Core, 0);
    limit(Resource::Stack, STACK);
}

/// Returns the bytes of address space that the process has: the allocator reserves a GiB of which it uses little. Zero if they are not known.
fn reserved() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split_ascii_whitespace().next();
    let pages: Option<u64> = pages.and_then(|pages| pages.parse().ok());
    pages
        .unwrap_or(0)
        .saturating_mul(rustix::param::page_size() as u64)
}

/// Reads a call, and judges it.
fn judge_input(args: &Args) -> Result<Outcome, Failure> {
    let call = read_input().and_then(|outline| Ok(Call::of(outline, args.scope())?));
    let mut call = match call {
        Ok(call) => call,
        Err(reason) => return Err(denied(None, &reason)),
    };
    let decides = hook::decides(call.hook());
    let mut answer = None;
    if call.matters() {
        let (decided, told) = hear_errors(|| decide(args, &mut call));
        // Claude Code shows the error output to nobody if the call is let through, and the answer to a call that ends the session neither.
        let is_answered = decided.is_ok() && call.hook() != "SessionEnd";
        if !is_answered {
            told.iter().cloned().for_each(say);
        }
        answer = decided.map_err(|reason| denied(Some(call.hook()), &reason))?;
        for line in told.iter().filter(|_| is_answered) {
            answer = Some(with_note(answer, line));
        }
    }
    let answer = answer.map(|json| {
        let mut line = String::new();
        push_json(&mut line, &json.to_string());
        line
    });
    let mut out = std::io::stdout().lock();
    let written = out
        .write_all(if decides { DECIDES } else { TELLS })
        .and_then(|()| match answer {
            Some(json) => writeln!(out, "{json}"),
            None => Ok(()),
        })
        .and_then(|()| out.flush());
    written.map_err(|error| {
        denied(
            Some(call.hook()),
            &format!("cannot write the answer: {error}"),
        )
    })?;
    Ok(Outcome::Holds)
}

/// Returns the input. Of what is too long, cut off or damaged, the rest.
fn read_input() -> Result<Outline, String> {
    let mut input = Vec::new();
    let mut stdin = std::io::stdin().lock();
    let failed = |error: std::io::Error| format!("cannot read the input: {error}");
    let mut read = |input: &mut Vec<u8>, most: usize| {
        let mut stdin = stdin.by_ref().take(most as u64);
        stdin.read_to_end(input).map_err(failed)
    };
    if read(&mut input, lines::LONG)? == lines::LONG {
        let rest = MAX_INPUT + 1 - lines::LONG;
        let _ = input.try_reserve_exact(rest);
        read(&mut input, rest)?;
    }
    if input.len() <= MAX_INPUT {
        return Outline::read(input);
    }
    let mut intake = Intake::new(MAX_INPUT);
    intake.take(&input);
    loop {
        input.clear();
        let read = stdin.by_ref().take(1 << 20).read_to_end(&mut input);
        if read.map_err(failed)? == 0 {
            return intake.finish();
        }
        intake.take(&input);
    }
}

/// Returns the end of a call that was not judged: the reason on the error output, and the code that fits the hook.
fn denied(hook: Option<&str>, reason: &str) -> Failure {
    complain(&format!("the call was not checked: {reason}"));
    let denies = hook.is_none_or(hook::decides);
    Failure::AlreadyReported(if denies {
        code::HOOK_DENIES
    } else {
        code::HOOK_TELLS
    })
}

fn decide(args: &Args, call: &mut Call) -> Result<Option<Json>, String> {
    let mut session = Session::of(args.state.as_deref(), call)?;
    // Whatever becomes of this process, an outcome is not forgotten: the next call puts on record what is marked.
    let mark = call
        .is_outcome()
        .then(|| session.mark(&call.unread()))
        .transpose()?;
    session.lock()?;
    let id = call.session().to_owned();
    let refused = |why: &str| Session::remedy(why, &id);
    if session.has_lost() {
        return Err(refused("an earlier outcome could not be marked"));
    }
    if call.scope() == Scope::Agent && call.is_outcome() && call.agent().is_none() {
        hook_agents::adopt(&mut session, call).map_err(|why| refused(&why))?;
    }
    session.check_files().map_err(|why| refused(&why))?;
    // No client reads the answer to `SessionEnd`: the next call reports earlier outcomes and a restart.
    let is_end = call.hook() == "SessionEnd";
    let marked = match is_end {
        true => Vec::new(),
        false => session.marked(mark.as_ref())?,
    };
    let log = session.file("log");
    let length = || std::fs::metadata(&log).map_or(0, |log| log.len());
    let read = CallList::read(session.file("calls")).map_err(|why| refused(&why))?;
    let is_first = read.is_none();
    let mut before = match read {
        Some(list) => list,
        None => first_list(&mut session, args.sync, &refused)?,
    };
    let stem = before.kept.stem.as_deref();
    if stem.is_some_and(|stem| stem != session.stem()) {
        let calls = session.file("calls");
        return Err(refused(&format!(
            "`{}` is of another session",
            calls.display()
        )));
    }
    if length() < before.kept.log {
        return Err(refused(&format!("`{}` was cut", log.display())));
    }
    let witness = before.kept.clock.clone();
    let mut monitor = open(args, &session, witness, is_first, &refused)?;
    // No line names the list that a session begins with.
    let named = match monitor.calls() {
        Some(named) => named.to_owned(),
        None => Kept::first_hash()?,
    };
    let checked = before.check(&named, &session.file("journal"));
    checked.map_err(|why| refused(&why))?;
    let next = before.make_room(ONLY_ME)?;
    let mut memory = before.kept.memory.clone();
    if call.hook() == "UserPromptSubmit" {
        let identity = monitor.monitor.identity();
        let added = hook_agents::add_given(&mut session, identity, &mut memory);
        added.map_err(|why| refused(&why))?;
    }
    let lost = |why| refused(&format!("an earlier outcome could not be recorded: {why}"));
    let mut said = Vec::new();
    for mark in &marked {
        let answer = put_on_record(mark, call, &mut monitor, &mut memory);
        said.extend(answer.map_err(lost)?);
    }
    let answer = call.judge(&mut monitor, &mut memory)?;
    let witness = before.kept.clock.as_ref();
    let since_restart = witness.and_then(Witness::elapsed_across_restart);
    let clock = match since_restart {
        Some(_) if is_end => before.kept.clock.clone(),
        _ => monitor.witness(),
    };
    // An answer is given only after this.
    if monitor.has_more() {
        let after = Kept {
            memory,
            stem: Some(session.stem().to_owned()),
            sessions: Sessions::default(),
            log: length(),
            clock,
        };
        let keep = |calls: &str| {
            monitor
                .keep_with(calls)
                .map_err(|failure| failure.to_string())
        };
        next.replace(&after, args.sync, keep)?;
        monitor.snapshot();
    }
    let late = std::mem::take(&mut monitor.late);
    monitor.end();
    marked.into_iter().chain(mark).for_each(Mark::remove);
    if is_end {
        let keep = Duration::from_secs(args.keep.saturating_mul(24 * 60 * 60));
        session.forget_older(keep, |calls| Kept::read(calls)?.clock);
        return Ok(answer.json);
    }
    let with = |answer, decision: &_| call.with_deadline(answer, decision);
    let answer = late.iter().fold(answer.json, with);
    let answer = said.into_iter().fold(answer, with_answer);
    Ok(match since_restart {
        Some(elapsed) => Some(with_note(answer, &restart_note(elapsed))),
        None => answer,
    })
}

/// Opens the monitor of a session from its files. `witness`: when the last call was judged; `is_first`: this is the first one.
fn open(
    args: &Args,
    session: &Session,
    witness: Option<Witness>,
    is_first: bool,
    refused: &impl Fn(&str) -> String,
) -> Result<DurableMonitor, String> {
    let files = Files {
        resume: None,
        snapshot: Some(session.file("state")),
        continues: true,
        // A journal is replayed at every call.
        snapshot_every: if args.redact.is_some() { 1 } else { 16 },
        snapshot_after: Some(SLOW),
        journal: Some(session.file("journal")),
        log: Some(session.file("log")),
        calls: Some(session.file("calls")),
        others: Vec::new(),
        key: args.key.clone(),
        secrets: args.secrets,
        sync: args.sync,
        redact: args.redact.clone(),
    };
    let mut monitor = DurableMonitor::open(Setup {
        // Once for each session, since each call is a process of its own.
        warns: is_first,
        witness,
        options: &|options| args.questions.set(options),
        ..Setup::new(&args.spec, &args.models, &args.limits, files)
    })
    .map_err(|failure| match failure {
        Failure::Files(why) => refused(&why),
        Failure::Foreign(why) => refused(&format!(
            "{why}; if hooks of several specs judge the session, give each its own folder (`--state DIR`)"
        )),
        other => other.to_string(),
    })?;
    // A person may answer late: an asked call counts until its outcome or the end of the turn.
    monitor.set_hooked(true);
    monitor.wait(true);
    Ok(monitor)
}

/// Begins the list of calls of a session that has none, before all its other files, so that its absence says something.
fn first_list(
    session: &mut Session,
    sync: Sync,
    refused: &dyn Fn(&str) -> String,
) -> Result<CallList, String> {
    let calls = session.file("calls");
    let others = ["state", "journal", "log"].map(|ending| session.file(ending));
    if let Some(other) = others.iter().find(|path| path.exists()) {
        let (calls, other) = (calls.display(), other.display());
        return Err(refused(&format!("`{calls}` is missing, `{other}` is not")));
    }
    if let Some(why) = session.had_history()? {
        return Err(refused(&why));
    }
    let list = CallList::begin(calls, sync)?;
    session.begin()?;
    Ok(list)
}

/// Returns the message for the first call after a restart of the machine: a system clock that is wrong empties windows.
fn restart_note(elapsed: Duration) -> String {
    format!(
        "guard: the machine was restarted; by its clock, the last call of this session was {} s ago, and limits in time go by that",
        elapsed.as_secs()
    )
}
