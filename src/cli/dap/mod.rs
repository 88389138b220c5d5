//! `guard dap`: a debug adapter on the standard input and output, for any editor that speaks the Debug Adapter Protocol.
//!
//! ```text
//! stdin ──▶ frames ──▶ session ──▶ recording (spec, trace, values by step)
//! stdout ◀── messages ◀──┴──▶ stops, variables, expressions
//! ```
//!
//! The debugged program is a recorded trace, so a session can step back as well as forward. Values come from
//! [`replay`](crate::replay), as on the HTML page of an audit. A message that cannot be read is reported and skipped; a request
//! that fails is answered with the reason.

mod expression;
mod messages;
mod recording;
mod session;
mod stops;
mod variables;

use std::io;

use super::failure::{Failure, Outcome};
use super::frames;
use session::Session;

const AFTER_HELP: &str = "\
An editor starts this command. The arguments of its `launch` request: `spec`, and either `runs` (a file of recorded traces) with an
optional `trace` (the name of a trace), or `test` (the name of a test of the spec); optional: `property`, `from`, `stopOnEntry`.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct DapArgs {
    #[command(flatten)]
    limits: super::limits::LimitArgs,
}

pub(super) fn run(args: DapArgs) -> Result<Outcome, Failure> {
    let mut input = io::stdin().lock();
    let mut session = Session::new(io::stdout().lock(), args.limits);
    while let Some(message) = frames::read(&mut input).map_err(Failure::Output)? {
        match message {
            Ok(bytes) => session.receive(&bytes)?,
            Err(why) => session.unreadable(&why)?,
        }
        if session.is_over() {
            break;
        }
    }
    Ok(Outcome::Holds)
}
