//! `guard hook`: a command hook for Claude Code and the Claude Agent SDK.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::durable_monitor::{DurableMonitor, Setup};
use super::durable_state::{Files, Sync, replace};
use super::failure::{Failure, Outcome, code, complain};
use super::limits::LimitArgs;
use super::models::ModelArgs;
use crate::integrations::hook::{self, Call, Memory};

/// The longest input that is read, in bytes.
const MAX_INPUT: u64 = 64 * 1024 * 1024;

const AFTER_HELP: &str = "\
In .claude/settings.json:

  {\"hooks\": {
    \"UserPromptSubmit\":   [{\"hooks\": [{\"type\": \"command\", \"command\": \"guard hook agent.guard\"}]}],
    \"PreToolUse\":         [{\"hooks\": [{\"type\": \"command\", \"command\": \"guard hook agent.guard\"}]}],
    \"PostToolUse\":        [{\"hooks\": [{\"type\": \"command\", \"command\": \"guard hook agent.guard\"}]}],
    \"PostToolUseFailure\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"guard hook agent.guard\"}]}],
    \"Stop\":               [{\"hooks\": [{\"type\": \"command\", \"command\": \"guard hook agent.guard\"}]}],
    \"SubagentStop\":       [{\"hooks\": [{\"type\": \"command\", \"command\": \"guard hook agent.guard\"}]}],
    \"SessionEnd\":         [{\"hooks\": [{\"type\": \"command\", \"command\": \"guard hook agent.guard\"}]}]}}

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
    /// When to flush the state to disk
    #[arg(long, value_enum, default_value_t = Sync::System)]
    sync: Sync,
    /// Deny a call after this many seconds; keep it below the timeout of the hook, after which the call is
    /// allowed
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    timeout: u64,
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Runs the hook; any failure ends with an exit code that denies the call.
pub(super) fn run(args: Args) -> Result<Outcome, Failure> {
    watch(args.timeout);
    let mut input = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(MAX_INPUT + 1)
        .read_to_end(&mut input);
    let call = match read {
        Err(error) => Err(format!("cannot read the input: {error}")),
        Ok(_) if input.len() as u64 > MAX_INPUT => {
            Err(format!("the input is longer than {MAX_INPUT} bytes"))
        }
        Ok(_) => Call::read(&input),
    };
    let call = match call {
        Ok(call) => call,
        Err(reason) => return Err(denied(None, &reason)),
    };
    if !call.matters() {
        return Ok(Outcome::Holds);
    }
    let answer = judge(&args, &call).map_err(|reason| denied(Some(call.hook()), &reason))?;
    if let Some(json) = answer {
        let mut out = std::io::stdout().lock();
        let written = writeln!(out, "{json}").and_then(|()| out.flush());
        written.map_err(|error| {
            denied(
                Some(call.hook()),
                &format!("cannot write the answer: {error}"),
            )
        })?;
    }
    Ok(Outcome::Holds)
}

/// Ends the process after the timeout: Claude Code allows the call if a hook exceeds Claude Code's own timeout.
fn watch(seconds: u64) {
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(seconds));
        complain(&format!(
            "the call was not checked: it took more than {seconds} s (`--timeout`)"
        ));
        std::process::exit(i32::from(code::HOOK_DENIES));
    });
}

/// The end of a call that was not judged: the reason on the error output, and the code that fits the hook.
fn denied(hook: Option<&str>, reason: &str) -> Failure {
    complain(&format!("the call was not checked: {reason}"));
    let denies = hook.is_none_or(hook::decides);
    Failure::AlreadyReported(if denies {
        code::HOOK_DENIES
    } else {
        code::HOOK_TELLS
    })
}

fn judge(args: &Args, call: &Call<'_>) -> Result<Option<serde_json::Value>, String> {
    let folder = match &args.state {
        Some(folder) => folder.clone(),
        None => default_folder()?,
    };
    let of = |error: std::io::Error, path: &Path| format!("`{}`: {error}", path.display());
    std::fs::create_dir_all(&folder).map_err(|error| of(error, &folder))?;
    let stem = blake3::hash(call.trace().as_bytes()).to_hex().to_string();
    let file = |ending: &str| folder.join(format!("{}.{ending}", stem.get(..32).unwrap_or(&stem)));
    // Calls of one session come one after another.
    let lock = file("lock");
    let held = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&lock)
        .map_err(|error| of(error, &lock))?;
    held.lock().map_err(|error| of(error, &lock))?;
    let files = Files {
        resume: Some(file("state")).filter(|path| path.exists()),
        snapshot: Some(file("state")),
        // A journal is replayed at every call.
        snapshot_every: 16,
        journal: Some(file("journal")),
        log: Some(file("log")),
        sync: args.sync,
    };
    let mut desk = DurableMonitor::open(Setup {
        warns: false,
        ..Setup::new(&args.spec, &args.models, &args.limits, files)
    })
    .map_err(|failure| failure.to_string())?;
    let asked = file("asked");
    let mut memory = match std::fs::read(&asked) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| format!("`{}`: {error}", asked.display()))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Memory::default(),
        Err(error) => return Err(of(error, &asked)),
    };
    let before = memory.clone();
    let answer = call.judge(&mut desk, &mut memory)?;
    if memory != before {
        let text = serde_json::to_vec(&memory).map_err(|error| error.to_string())?;
        replace(&asked, &text, args.sync).map_err(|error| of(error, &asked))?;
    }
    if answer.ended {
        // The decision log stays; a session of this name that begins anew has a log of its own.
        for ending in ["state", "journal", "asked"] {
            let _ = std::fs::remove_file(file(ending));
        }
        let _ = std::fs::rename(file("log"), file(&format!("{}.log", desk.monitor.taken())));
    }
    Ok(answer.json)
}

fn default_folder() -> Result<PathBuf, String> {
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    set("XDG_STATE_HOME")
        .or_else(|| Some(set("HOME")?.join(".local/state")))
        .map(|state| state.join("guard/hook"))
        .ok_or_else(|| "no home folder found; give a folder with `--state`".to_owned())
}
