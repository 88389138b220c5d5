//! Messages of other programs as events of a monitor, and its decisions in their formats.
//!
//! | module | who speaks |
//! |---|---|
//! | [`hook`] | command hooks of Claude Code and the Claude Agent SDK, one JSON document per call |
//! | `http` | clients of `guard serve`: requests and answers as bytes (feature `cli`) |
//! | [`mcp`] | an MCP client and its server, JSON-RPC messages one a line |
//!
//! Both make the canonical event of `std.agent`, with the message itself under `raw` and, of hooks, its members beside the
//! canonical ones, so that a spec may read either.
//!
//! It knows protocols; it opens nothing and reads no clock.
//!
//! # Failure
//! What cannot be read, and what a monitor cannot decide, is denied in the words of the protocol, never passed on.

pub mod event;
pub mod hook;
pub mod http;
pub mod mcp;

use serde_json::json;

use crate::monitor::{Decision, Request};

/// The most characters of a reason that are given to a person or an agent, of its beginning and of its end.
const SHOWN: (usize, usize) = (1_500, 500);

/// Returns the reason of a decision: what a person is asked to allow is read to its end only if it is short, so that the middle of
/// a long text is left out, and says so.
fn reason_of(decision: &Decision) -> String {
    let reason = decision.reason();
    let (beginning, end) = SHOWN;
    let n_chars = reason.chars().count();
    if n_chars <= beginning + end {
        return match reason.is_empty() {
            true => "denied by the spec".to_owned(),
            false => reason,
        };
    }
    let shown: String = reason.chars().take(beginning).collect();
    let rest: String = reason.chars().skip(n_chars - end).collect();
    let left_out = n_chars - beginning - end;
    format!("{shown} … {left_out} characters are left out … {rest}")
}

/// Whoever decides requests about events, and keeps what was decided.
pub trait Judge {
    /// Decides a request. `event` is the text of a JSON object on one line; it is parsed once.
    ///
    /// # Errors
    /// Nothing was decided; callers must treat this as a denial.
    fn request(&mut self, request: Request, event: &str) -> Result<Decision, String>;

    /// Returns whether events are read at a member of this name: what is read nowhere need not be given.
    fn reads(&self, member: &str) -> bool;

    /// Returns whether a trace of this name is live.
    fn has_trace(&self, trace: &str) -> bool;

    /// Judges an action, and records it as having happened if the ruling is below `ask`: one step. If a person must be
    /// asked, the decision carries the number of a proposal, which counts until it is committed or abandoned.
    ///
    /// # Errors
    /// As [`Judge::request`].
    fn act(&mut self, event: &str) -> Result<Decision, String> {
        self.request(Request::Act, event)
    }

    /// Judges an action. Unless the ruling denies, it counts until it is committed or abandoned.
    ///
    /// # Errors
    /// As [`Judge::request`].
    fn propose(&mut self, event: &str) -> Result<Decision, String> {
        self.request(Request::Propose, event)
    }

    /// Records that what was proposed has happened.
    ///
    /// # Errors
    /// As [`Judge::request`].
    fn commit(&mut self, proposal: u64, event: &str) -> Result<Decision, String> {
        self.request(Request::Commit(proposal), event)
    }

    /// Ends a proposal that will not happen.
    ///
    /// # Errors
    /// As [`Judge::request`].
    fn abandon(&mut self, proposal: u64) -> Result<Decision, String> {
        self.request(Request::Abandon(proposal), "")
    }

    /// Records what has happened.
    ///
    /// # Errors
    /// As [`Judge::request`].
    fn observe(&mut self, event: &str) -> Result<Decision, String> {
        self.request(Request::Observe, event)
    }

    /// Gives the history of a trace to a new trace as well.
    ///
    /// # Errors
    /// As [`Judge::request`].
    fn fork(&mut self, trace: &str, new: &str) -> Result<Decision, String> {
        self.request(
            Request::Fork,
            &json!({"trace": trace, "as": new}).to_string(),
        )
    }

    /// May the trace end here?
    ///
    /// # Errors
    /// As [`Judge::request`].
    fn propose_end(&mut self, trace: &str) -> Result<Decision, String> {
        self.propose(&json!({"trace": trace, "end": true}).to_string())
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// As [`Judge::request`].
    fn end(&mut self, trace: &str) -> Result<Decision, String> {
        self.observe(&json!({"trace": trace, "end": true}).to_string())
    }
}
