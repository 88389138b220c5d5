//! The command line: one file, or folder, for each command.
//!
//! Only this module opens files, writes to the terminal and reads arguments; the library below works on text and bytes.
//!
//! | exit code | when |
//! |---|---|
//! | 0 | success |
//! | 1 | a property is violated, or a test fails, even if some data was also unreadable |
//! | 2 | error in the spec or in the usage |
//! | 3 | no violation was found, but some input data was unreadable, or there was nothing to check |
//! | 70 | internal error |

mod approvals;
mod audit;
mod calibrate;
mod chain;
mod check;
mod clock;
mod compile;
mod dap;
mod diff;
mod doc;
mod draft;
mod durable;
pub mod embedded;
mod events;
mod explain;
mod export;
mod failure;
mod fmt;
mod foreign;
mod frames;
mod hook;
mod hosts;
mod http;
mod jobs;
mod learn;
mod limits;
mod lines;
mod lsp;
mod models;
mod monitor;
mod output;
mod plan;
mod plot;
mod progress;
mod proxy;
mod query;
mod secrets;
mod serve;
mod signals;
mod sources;
mod spec;
mod test;
mod trace_search;
mod verify;
mod view;

use std::ffi::OsString;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::{Failure, Outcome, code};

const AFTER_HELP: &str = "\
Exit codes:
  0   success
  1   a property is violated or a test fails (even if some data was also unreadable)
  2   error in the spec or in the usage
  3   no violation, but some input data was unreadable, or there was nothing to check
  70  internal error";

/// State what agents must never do, and find where they did
#[derive(Debug, Parser)]
#[command(name = "guard", version, about, after_help = AFTER_HELP, disable_help_subcommand = true)]
#[command(subcommand_required = true, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

// The arguments of the other commands are not built: that would take a tenth of the time of a short run. They are then built after
// the description of their command, which a doc comment of a flattened struct of arguments replaces: those have none.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Verb {
    /// Parse, resolve, type-check and lint specs
    Check(check::CheckArgs),
    /// Run the `test` blocks of specs
    Test(test::TestArgs),
    /// Check recorded traces against a spec
    Audit(audit::AuditArgs),
    /// Show traces step by step in a browser, with a spec that may be changed
    View(view::ViewArgs),
    /// Print recorded traces as canonical events
    Events(events::EventsArgs),
    /// Explain a property, or a diagnostic code
    Explain(explain::ExplainArgs),
    /// Show what a change of a spec changes: properties, decisions, recorded traces
    Diff(diff::DiffArgs),
    /// Draft a spec from requirements in plain English
    Draft(draft::DraftArgs),
    /// Model-check the systems and components of a spec
    Verify(verify::VerifyArgs),
    /// Monitor live runs: events in, one decision per line out
    Monitor(monitor::Args),
    /// Decide one hook call of Claude Code or the Claude Agent SDK
    Hook(hook::Args),
    /// Check the tool calls between an MCP client and its server
    Proxy(proxy::Args),
    /// Answer other programs over HTTP on this machine, or over a Unix socket
    Serve(serve::Args),
    /// Learn a model from recorded traces
    Learn(learn::LearnArgs),
    /// Compute probabilities and rewards of a Markov chain
    Query(query::QueryArgs),
    /// Compare a model's predictions with recorded traces
    Calibrate(calibrate::CalibrateArgs),
    /// Convert a Markov chain to JSON
    Import(export::ImportArgs),
    /// Convert a Markov chain to another format
    Export(export::ExportArgs),
    /// Format specs
    Fmt(fmt::FmtArgs),
    /// Compile a spec into one file that the other commands accept
    Compile(compile::CompileArgs),
    /// Generate pages for specs, or for the standard library
    Doc(doc::DocArgs),
    /// Run a language server on the standard input and output
    Lsp(lsp::LspArgs),
    /// Run a debug adapter, which steps through recorded traces, on the standard input and output
    Dap(dap::DapArgs),
}

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    ExitCode::from(run(std::env::args_os()))
}

/// Runs the command with these arguments; the first is the name of the program.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let hook = args.get(1).is_some_and(|verb| verb == "hook");
    if hook {
        // Before anything that takes memory or a stack.
        if let Err(error) = signals::deny() {
            failure::complain(&format!(
                "the call was not checked: cannot catch signals: {error}"
            ));
            return code::HOOK_DENIES;
        }
        // Before the arguments are read: each large page that is begun takes as long as 70 small ones.
        lines::take_small_pages();
    }
    let code = guarded(|| dispatch(args));
    if hook { of_hook(code) } else { code }
}

/// Returns the exit code of a hook. Claude Code treats only exit code 2 as a denial, so an internal error must not use its
/// own code.
fn of_hook(code: u8) -> u8 {
    if code == code::INTERNAL {
        code::HOOK_DENIES
    } else {
        code
    }
}

/// Catches panics, reports them as internal errors, and returns exit code 70.
fn guarded(work: impl FnOnce() -> Result<Outcome, Failure>) -> u8 {
    failure::quiet_panics();
    match std::panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(outcome)) => outcome.code(),
        Ok(Err(failure)) => failure.report(),
        Err(_) => {
            failure::internal_fault();
            code::INTERNAL
        }
    }
}

fn dispatch(args: Vec<OsString>) -> Result<Outcome, Failure> {
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    match cli.verb {
        Verb::Audit(args) => audit::run(args),
        Verb::Fmt(args) => fmt::run(args),
        Verb::Learn(args) => learn::run(args),
        Verb::Hook(args) => hook::run(args),
        Verb::Lsp(args) => lsp::run(args),
        Verb::Dap(args) => dap::run(args),
        Verb::Proxy(args) => proxy::run(args),
        Verb::Serve(args) => serve::run(args),
        Verb::Test(args) => test::run(args),
        Verb::Monitor(args) => monitor::run(args),
        Verb::Calibrate(args) => calibrate::run(args),
        Verb::Check(args) => check::run(args),
        Verb::Compile(args) => compile::run(args),
        Verb::Doc(args) => doc::run(args),
        Verb::View(args) => view::run(args),
        Verb::Diff(args) => diff::run(args),
        Verb::Draft(args) => draft::run(args),
        Verb::Events(args) => events::run(args),
        Verb::Explain(args) => explain::run(args),
        Verb::Export(args) => export::run(args),
        Verb::Import(args) => export::import(args),
        Verb::Query(args) => query::run(args),
        Verb::Verify(args) => verify::run(args),
    }
}

/// Prints help and version to the standard output; anything else is a usage error, which may quote an argument.
fn usage(error: &clap::Error) -> Result<Outcome, Failure> {
    if error.use_stderr() {
        let text = error.render();
        match output::stderr_paint().colour {
            true => output::tell(&text.ansi().to_string()),
            false => output::tell(&text.to_string()),
        }
        return Err(Failure::AlreadyReported(code::USAGE));
    }
    match error.print() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        _ => Ok(Outcome::Holds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_has_its_code() {
        assert_eq!(guarded(|| Ok(Outcome::Holds)), 0);
        assert_eq!(guarded(|| Ok(Outcome::Violated)), 1);
        assert_eq!(guarded(|| Err(Failure::Usage("wrong".to_owned()))), 2);
        assert_eq!(guarded(|| Ok(Outcome::Unreadable)), 3);
        assert_eq!(guarded(|| panic!("a fault, on purpose")), 70);
        let pipe = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert_eq!(guarded(|| Err(Failure::Output(pipe))), 0);
        assert_eq!(of_hook(guarded(|| panic!("a fault, on purpose"))), 2);
    }
}
