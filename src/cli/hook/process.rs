//! The two processes of a hook: one waits, and forks the other, which judges.
//!
//! The one that judges has limits on time, memory and stack. Any end of it but a clean answer denies the call.

use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use rustix::stdio::{dup2_stdin, dup2_stdout};

use super::Args;
use super::judge::{DECIDES, TELLS, judge_input};
use super::session::{Mark, Session};
use crate::cli::failure::{Failure, Outcome, code, complain};
use crate::cli::{guarded, of_hook, signals};
use crate::integrations::hook::{self, Call, Scope};
use crate::monitor::intake::Intake;
use crate::monitor::lenient::Outline;

/// The part of an input by which the first process marks an outcome, in bytes. An outcome that is longer is marked once more when all of it
/// has arrived: the id of its call may stand behind what is long.
const HEAD: usize = 2 * 1024 * 1024;

/// The bytes of a longer input that are passed on at once.
const CHUNK: usize = 64 * 1024;

/// The stack of the process that judges, in bytes.
const STACK: u64 = 16 * 1024 * 1024;

/// Judges the call of the standard input in a process of its own, and ends this one.
pub(super) fn judge_apart(args: &Args) -> ! {
    // Before any thread of this process: a fork has only the thread that made it.
    match start(args) {
        Ok(None) => judge(args),
        started => end(guarded(|| {
            supervise(args, started.map(Option::unwrap_or_default))
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
    signals::end();
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
    end(guarded(|| judge_input(args)))
}

/// Ends the process, without giving back its memory before: that took a twentieth of the time of a call. Not by way of a program that
/// contains this one, which would end as itself.
fn end(code: u8) -> ! {
    let _ = std::io::stdout().flush();
    signal_hook::low_level::exit(i32::from(of_hook(code)))
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
    let mut mark = mark.map_err(|why| denied(&why))?;
    watched.map_err(|error| denied(&format!("cannot start a thread: {error}")))?;
    arrived.map_err(|error| denied(&format!("cannot read the input: {error}")))?;
    let mut judge =
        started.map_err(|error| denied(&format!("cannot start the judging process: {error}")))?;
    if let Some(mut to) = judge.input.take() {
        let head = std::mem::take(&mut *lock(&input));
        // A process that ends early says by its end what that means.
        let _ = to.write_all(&head);
        if head.len() >= HEAD {
            let whole = pass_on(&head, to).and_then(|outline| Call::of(outline, args.scope()).ok());
            if let Ok(Some(better)) = mark_of(whole, args.state.as_deref()) {
                mark.replace(better).into_iter().for_each(Mark::remove);
            }
        }
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
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = stdin.read(&mut chunk)?;
        let mut input = lock(input);
        input.extend_from_slice(chunk.get(..read).unwrap_or_default());
        if read == 0 || input.len() >= HEAD {
            return Ok(());
        }
    }
}

/// Passes on the rest of an input that is longer than [`HEAD`], and returns what is known of the whole in as much memory; `None` if nothing
/// is.
fn pass_on(head: &[u8], mut to: PipeWriter) -> Option<Outline> {
    let mut intake = Intake::new(HEAD);
    intake.take(head);
    let mut stdin = std::io::stdin().lock();
    let mut chunk = Vec::new();
    loop {
        chunk.clear();
        let read = stdin.by_ref().take(CHUNK as u64).read_to_end(&mut chunk);
        if !read.is_ok_and(|read| read > 0) {
            return intake.finish().ok();
        }
        let _ = to.write_all(&chunk);
        intake.take(&chunk);
    }
}

/// Marks an outcome before anything that may fail; what is no outcome, or cannot be read so far, has no mark.
fn marked(input: &[u8], folder: Option<&Path>, scope: Scope) -> Result<Option<Mark>, String> {
    if !hook::may_report(input) {
        return Ok(None);
    }
    mark_of(Call::read(input.to_vec(), scope).ok(), folder)
}

fn mark_of(call: Option<Call>, folder: Option<&Path>) -> Result<Option<Mark>, String> {
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
