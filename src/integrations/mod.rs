//! Messages of other programs as events of a monitor, and its decisions in their formats.
//!
//! | module | peer |
//! |---|---|
//! | [`hook`] | command hooks of Claude Code and the Claude Agent SDK, one JSON document per call |
//! | `http` | clients of `guard serve`: requests and responses as bytes |
//! | [`mcp`] | an MCP client and its server, one JSON-RPC message per line |
//!
//! `hook` and `mcp` write the canonical event of `std.agent`, with the original message under `raw`. Events of hooks also have
//! the members of the message, so that a spec may read either.
//!
//! These modules implement protocols only: they open no files or connections and read no clock.
//!
//! # Failure
//! A message that cannot be read, or that a monitor cannot decide, is denied in the terms of the protocol and not forwarded.

pub mod event;
pub mod hook;
pub mod http;
pub mod mcp;

use serde_json::json;

use crate::monitor::{Decision, Request};

/// Returns the first 128 bits of a hash as hexadecimal digits: enough that no two contents have the same.
pub(crate) fn short_hash(hash: &blake3::Hash) -> String {
    hash.to_hex().chars().take(32).collect()
}

/// The numbers of characters shown from the beginning and the end of a reason.
const SHOWN: (usize, usize) = (1_500, 500);

/// Returns the reason of a decision. The middle of a long reason is replaced by a note of its length, since a person who is
/// asked reads only a short text to its end.
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

/// Decides requests about events and keeps the state of the traces.
pub trait Judge {
    /// Decides a request. `event` is the text of a JSON object on one line.
    ///
    /// # Errors
    /// Nothing was decided; callers must treat this as a denial.
    fn request(&mut self, request: Request, event: &str) -> Result<Decision, String>;

    /// Returns whether the spec reads this member of events; other members need not be given.
    fn reads(&self, member: &str) -> bool;

    /// Returns the names of the members of events that the spec reads, as far as they are known.
    fn members(&self) -> Vec<String>;

    /// Returns whether the spec reads this member of events only to find those in which it has a value: null is nothing that it looks
    /// for.
    fn only_looks_for(&self, member: &str) -> bool;

    /// Checks that readers who ignore case take no key of a value, which stands at these places of an event, for a key that the spec
    /// reads there.
    ///
    /// # Errors
    /// The key and what it can be taken for.
    fn check_keys(&self, at: &[&[&str]], json: &str) -> Result<(), String>;

    /// Returns whether there is a live trace of this name.
    fn has_trace(&self, trace: &str) -> bool;

    /// Judges an action, and records it as having happened if the ruling is below `ask`, in one step. If a person must
    /// be asked, the decision contains the number of a proposal, which counts until it is committed or abandoned.
    ///
    /// # Errors
    /// Those of [`Judge::request`].
    fn act(&mut self, event: &str) -> Result<Decision, String> {
        self.request(Request::Act, event)
    }

    /// Judges an action. Unless the ruling denies, it counts until it is committed or abandoned.
    ///
    /// # Errors
    /// Those of [`Judge::request`].
    fn propose(&mut self, event: &str) -> Result<Decision, String> {
        self.request(Request::Propose, event)
    }

    /// Records that a proposed action has happened.
    ///
    /// # Errors
    /// Those of [`Judge::request`].
    fn commit(&mut self, proposal: u64, event: &str) -> Result<Decision, String> {
        self.request(Request::Commit(proposal), event)
    }

    /// Ends a proposal whose action will not happen.
    ///
    /// # Errors
    /// Those of [`Judge::request`].
    fn abandon(&mut self, proposal: u64) -> Result<Decision, String> {
        self.request(Request::Abandon(proposal), "")
    }

    /// Records what has happened.
    ///
    /// # Errors
    /// Those of [`Judge::request`].
    fn observe(&mut self, event: &str) -> Result<Decision, String> {
        self.request(Request::Observe, event)
    }

    /// Creates a trace with a copy of the history of another one.
    ///
    /// # Errors
    /// Those of [`Judge::request`].
    fn fork(&mut self, trace: &str, new: &str) -> Result<Decision, String> {
        self.request(
            Request::Fork,
            &json!({"trace": trace, "as": new}).to_string(),
        )
    }

    /// Judges whether the trace may end here, without ending it.
    ///
    /// # Errors
    /// Those of [`Judge::request`].
    fn propose_end(&mut self, trace: &str) -> Result<Decision, String> {
        self.propose(&json!({"trace": trace, "end": true}).to_string())
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// Those of [`Judge::request`].
    fn end(&mut self, trace: &str) -> Result<Decision, String> {
        self.observe(&json!({"trace": trace, "end": true}).to_string())
    }
}
