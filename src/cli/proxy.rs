//! `guard proxy`: between an MCP client and a server that speaks over its standard streams.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use super::durable_monitor::{DurableMonitor, FileArgs, Setup};
use super::failure::{Failure, Outcome, complain};
use super::limits::LimitArgs;
use super::lines::{self, Line};
use super::models::ModelArgs;
use crate::integrations::mcp::{Session, Verdict};
use crate::monitor::Decision;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The spec, or what `guard compile` made of it
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// The server and its arguments
    #[arg(value_name = "CMD", required = true, last = true)]
    command: Vec<String>,
    /// The name of the trace
    #[arg(long, value_name = "NAME", default_value = "mcp")]
    trace: String,
    /// What becomes of a call about which a person is to decide
    #[arg(long, value_enum, default_value_t = Ask::Deny)]
    ask: Ask,
    /// Write every decision that is not a plain allow to the error output, as JSON
    #[arg(long)]
    verbose: bool,
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Ask {
    /// It is denied, and the client is told that a person must decide
    Deny,
    /// It is passed on: the client asks the person
    Pass,
}

/// What both directions share.
struct Shared {
    desk: DurableMonitor,
    session: Session,
    verbose: bool,
}

pub(super) fn run(args: Args) -> Result<Outcome, Failure> {
    let longest = args.limits.input().record_bytes;
    let (models, limits, files) = (&args.models, &args.limits, args.files.files());
    let desk = DurableMonitor::open(Setup::new(&args.spec, models, limits, files))?;
    let session = Session::new(&args.trace, args.ask == Ask::Pass);
    let shared = Arc::new(Mutex::new(Shared {
        desk,
        session,
        verbose: args.verbose,
    }));
    let (program, rest) = args
        .command
        .split_first()
        .ok_or_else(|| Failure::Usage("a server is needed".to_owned()))?;
    let mut server = Command::new(program)
        .args(rest)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| Failure::Usage(format!("cannot start `{program}`: {error}")))?;
    let (Some(to_server), Some(from_server)) = (server.stdin.take(), server.stdout.take()) else {
        return Err(Failure::Usage(format!(
            "`{program}` has no standard streams"
        )));
    };
    let client = {
        let shared = Arc::clone(&shared);
        // Not joined: the client may say nothing more after the server has gone.
        std::thread::spawn(move || from_client(&shared, longest, to_server))
    };
    let told = to_client(&shared, longest, from_server);
    let status = server
        .wait()
        .map_err(|error| Failure::Usage(format!("`{program}`: {error}")))?;
    drop(client);
    lock(&shared).desk.close();
    told?;
    match status.code() {
        Some(0) => Ok(Outcome::Holds),
        code => Err(Failure::AlreadyReported(
            code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1),
        )),
    }
}

fn lock(shared: &Mutex<Shared>) -> std::sync::MutexGuard<'_, Shared> {
    // A thread that failed has said so; what it left is whole, since every line is decided at once.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Passes on what the client sends. Ends, and with it the server's input, where the client ends or cannot be answered.
fn from_client(shared: &Mutex<Shared>, longest: usize, mut to_server: impl Write) {
    let mut input = BufReader::new(std::io::stdin());
    while let Some(line) = next_line(&mut input, longest) {
        let passed = {
            let mut shared = lock(shared);
            let verdict = match &line {
                Ok(line) => shared.judge(true, line),
                Err(reason) => Verdict::Reply(refused(reason)),
            };
            let line = line.unwrap_or_default();
            match verdict {
                Verdict::Pass => Some(line),
                Verdict::Replace(text) => Some(text.into_bytes()),
                // Told while the lock is held, so that lines do not mix.
                Verdict::Reply(text) if tell(text.as_bytes()).is_ok() => None,
                Verdict::Reply(_) => return,
                Verdict::Part { on, back } => match tell(back.as_bytes()) {
                    Ok(()) => Some(on.into_bytes()),
                    Err(_) => return,
                },
                Verdict::Drop(reason) => {
                    complain(&format!("a line of the client was left out: {reason}"));
                    None
                }
            }
        };
        if let Some(line) = passed
            && send(&mut to_server, &line).is_err()
        {
            return;
        }
    }
}

/// Passes on what the server sends, until it ends.
fn to_client(
    shared: &Mutex<Shared>,
    longest: usize,
    from_server: impl Read,
) -> Result<(), Failure> {
    let mut input = BufReader::new(from_server);
    while let Some(line) = next_line(&mut input, longest) {
        let mut shared = lock(shared);
        let line = match line {
            Ok(line) => line,
            Err(reason) => {
                complain(&format!("a line of the server was left out: {reason}"));
                continue;
            }
        };
        let told = match shared.judge(false, &line) {
            Verdict::Pass => tell(&line),
            Verdict::Replace(text) | Verdict::Reply(text) | Verdict::Part { on: text, .. } => {
                tell(text.as_bytes())
            }
            Verdict::Drop(reason) => {
                complain(&format!("a line of the server was left out: {reason}"));
                continue;
            }
        };
        told.map_err(Failure::Output)?;
    }
    Ok(())
}

impl Shared {
    fn judge(&mut self, from_client: bool, line: &[u8]) -> Verdict {
        let (verdict, decisions) = if from_client {
            self.session.from_client(&mut self.desk, line)
        } else {
            self.session.from_server(&mut self.desk, line)
        };
        let late = std::mem::take(&mut self.desk.late);
        if self.verbose {
            for decision in late
                .iter()
                .chain(&decisions)
                .filter(|decision| says_something(decision))
            {
                let _ = writeln!(std::io::stderr(), "{}", decision.to_json());
            }
        }
        verdict
    }
}

fn says_something(decision: &Decision) -> bool {
    !decision.clauses.is_empty() || !decision.errors.is_empty()
}

fn refused(reason: &str) -> String {
    let error = serde_json::json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": reason}});
    error.to_string()
}

fn tell(line: &[u8]) -> std::io::Result<()> {
    send(&mut std::io::stdout().lock(), line)
}

fn send(to: &mut impl Write, line: &[u8]) -> std::io::Result<()> {
    to.write_all(line)?;
    to.write_all(b"\n")?;
    to.flush()
}

/// The next line; none at the end of the stream, or where it cannot be read on. A line beyond the limit is passed over.
fn next_line(from: &mut impl BufRead, longest: usize) -> Option<Result<Vec<u8>, String>> {
    match lines::next(from, longest)? {
        Line::Whole(line) => Some(Ok(line)),
        Line::TooLong => Some(Err(format!("a line is longer than {longest} bytes"))),
        Line::Failed(_) => None,
    }
}
