//! `guard hook`: a command hook for Claude Code and the Claude Agent SDK.
//!
//! The process that the agent starts only waits. It forks a second process with limits on time, memory and stack, which
//! judges the call. If that process ends in any way but a clean answer, the first denies the call. `docs/protocol-hook.md`
//! describes the states of a call and the files of a session.

mod agents;
mod earlier;
mod judge;
mod process;
mod session;

use std::path::PathBuf;

use super::durable::monitor::QuestionArgs;
use super::durable::state::Sync;
use super::failure::{Failure, Outcome};
use super::limits::{DAY, LimitArgs};
use super::models::ModelArgs;
use super::secrets::SecretArgs;
use crate::integrations::hook::Scope;
use session::Session;

/// The variable that holds the folder of the project. The current folder of a hook is the agent's, which the agent changes.
const PROJECT: &str = "CLAUDE_PROJECT_DIR";

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
        Session::reset(args.state.as_deref(), session).map_err(Failure::Usage)?;
        return Ok(Outcome::Holds);
    }
    process::judge_apart(&args)
}
