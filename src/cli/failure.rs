//! The exit codes of commands, and failures that end a command early.

use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use super::progress::Clearing;
use crate::diagnostic::did_you_mean;
use crate::inert::inert;
use crate::load::LoadError;

/// The exit codes.
pub(super) mod code {
    pub(in crate::cli) const HOLDS: u8 = 0;
    pub(in crate::cli) const VIOLATED: u8 = 1;
    pub(in crate::cli) const USAGE: u8 = 2;
    pub(in crate::cli) const UNREADABLE: u8 = 3;
    pub(in crate::cli) const INTERNAL: u8 = 70;
    /// A hook denies the requested action.
    pub(in crate::cli) const HOOK_DENIES: u8 = 2;
    /// A hook that has nothing to deny reports an error.
    pub(in crate::cli) const HOOK_TELLS: u8 = 1;
}

/// The outcome of a command that completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// No violation or error was found.
    Holds,
    /// A property is violated, a test fails, a file is not formatted.
    Violated,
    /// The spec has errors, which were reported.
    WrongSpec,
    /// Nothing is violated, but data was unreadable in part.
    Unreadable,
}

impl Outcome {
    pub(super) fn code(self) -> u8 {
        match self {
            Outcome::Holds => code::HOLDS,
            Outcome::Violated => code::VIOLATED,
            Outcome::WrongSpec => code::USAGE,
            Outcome::Unreadable => code::UNREADABLE,
        }
    }
}

/// Returns the message for a property that is none of these: the similar name, or else all of them.
pub(super) fn unknown_property(name: &str, known: &[&str]) -> String {
    match (did_you_mean(name, known.iter().copied()), known) {
        (Some(near), _) => format!("unknown property `{name}`; did you mean `{near}`?"),
        (None, []) => "the spec contains no properties".to_owned(),
        (None, known) => format!(
            "unknown property `{name}`; the spec has {}",
            known.join(", ")
        ),
    }
}

/// The reason why a command could not complete.
#[derive(Debug)]
pub(super) enum Failure {
    /// The arguments are invalid.
    Usage(String),
    /// The files of a monitor cannot be continued, or do not belong together.
    Files(String),
    /// The files of a monitor belong to another spec or model.
    Foreign(String),
    /// The error was already reported.
    AlreadyReported(u8),
    /// The output cannot be written.
    Output(io::Error),
}

impl Failure {
    /// Prints the failure to standard error and returns the exit code.
    ///
    /// A closed output pipe is not an error.
    pub(super) fn report(&self) -> u8 {
        match self {
            Failure::Usage(message) | Failure::Files(message) | Failure::Foreign(message) => {
                complain(message);
                code::USAGE
            }
            Failure::AlreadyReported(code) => *code,
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => code::HOLDS,
            Failure::Output(error) => {
                complain(&format!("cannot write the output: {error}"));
                code::USAGE
            }
        }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Failure {
        // Who starts a command (a hook, a job) may start it in another folder than its author thought.
        let looked_in = match &error {
            LoadError::Unreadable { path, reason }
                if reason.kind() == io::ErrorKind::NotFound && Path::new(path).is_relative() =>
            {
                std::env::current_dir().ok()
            }
            _ => None,
        };
        let message = error.to_string();
        Failure::Usage(match looked_in {
            Some(folder) => format!("{message}; looked in `{}`", folder.display()),
            None => message,
        })
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Usage(message) | Failure::Files(message) | Failure::Foreign(message) => {
                f.write_str(message)
            }
            Failure::AlreadyReported(_) => f.write_str("the spec has errors"),
            Failure::Output(error) => write!(f, "cannot write the output: {error}"),
        }
    }
}

impl From<io::Error> for Failure {
    /// Converts errors of writing. Errors of reading have messages with the file name.
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}

/// The queue of lines for standard error, in a process that must not wait until somebody reads them.
static QUEUE: Mutex<Option<SyncSender<String>>> = Mutex::new(None);

/// Sets where lines for standard error go from now on: to a queue, or directly there. A queue that is full loses them.
pub(super) fn queue_errors(queue: Option<SyncSender<String>>) {
    *QUEUE.lock().unwrap_or_else(PoisonError::into_inner) = queue;
}

/// The greatest number of lines that [`hear_errors`] returns; further ones are lost.
const HEARD: usize = 64;

/// Does something, and returns the lines that it would have written to standard error.
pub(super) fn hear_errors<T>(act: impl FnOnce() -> T) -> (T, Vec<String>) {
    let (queue, lines) = sync_channel(HEARD);
    queue_errors(Some(queue));
    let done = act();
    queue_errors(None);
    (done, lines.try_iter().collect())
}

/// Writes one line to standard error. Errors of writing are ignored.
pub(super) fn say(line: String) {
    let queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let _ = match queue {
        Some(queue) => queue.try_send(line).map_err(io::Error::other),
        None => writeln!(Clearing(io::stderr()), "{line}"),
    };
}

/// Writes one line to standard error, with control characters escaped.
pub(super) fn complain(message: &str) {
    say(format!("error: {}", inert(message)));
}

/// Writes one line of warning to standard error, with control characters escaped.
pub(super) fn warn(message: &str) {
    say(format!("warning: {}", inert(message)));
}

/// The message and the location of the first panic.
static FIRST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Keeps the message of a panic until [`internal_fault`] prints it; a worker's panic is passed on without its message.
pub(super) fn quiet_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info
            .location()
            .map_or_else(String::new, |place| format!(" at {place}"));
        let text = info
            .payload()
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| info.payload().downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        let mut first = FIRST_PANIC.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(format!("{text}{place}"));
    }));
}

/// Reports a panic as an internal error, with instructions for a bug report.
pub(super) fn internal_fault() {
    let first = FIRST_PANIC
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    let message = first.unwrap_or_else(|| "no message".to_owned());
    let _ = writeln!(
        io::stderr(),
        "internal error: {}\nThis is a bug in guard {}, not in your spec or data. Please \
         report it with this message, the command line,\nand, if possible, the spec and the \
         smallest trace that reproduces it.",
        inert(&message),
        env!("CARGO_PKG_VERSION")
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_heard_instead_of_written() {
        let (done, message) = hear_errors(|| {
            complain("a file is \u{1b} full");
            7
        });
        assert_eq!(done, 7);
        assert_eq!(message, ["error: a file is \\u{1b} full"]);
    }
}
