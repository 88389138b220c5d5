//! What other programs say, as events of a monitor, and its decisions as they want them.
//!
//! | module | who speaks |
//! |---|---|
//! | [`hook`] | command hooks of Claude Code and the Claude Agent SDK, one JSON document per call |
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
pub mod mcp;

use serde_json::json;

use crate::monitor::Decision;

/// Who decides about the lines of a monitor: what was told is kept by whoever implements this.
pub trait Judge {
    /// The decision on a line, as `guard monitor` reads it.
    ///
    /// # Errors
    /// Nothing was decided; it must be taken for a denial.
    fn line(&mut self, line: &str) -> Result<Decision, String>;

    /// May it happen?
    ///
    /// # Errors
    /// As [`Judge::line`].
    fn propose(&mut self, event: &str) -> Result<Decision, String> {
        self.line(&format!("{{\"phase\":\"before\",\"event\":{event}}}"))
    }

    /// What was proposed has happened.
    ///
    /// # Errors
    /// As [`Judge::line`].
    fn commit(&mut self, proposal: u64, event: &str) -> Result<Decision, String> {
        self.line(&format!(
            "{{\"phase\":\"commit\",\"proposal\":{proposal},\"event\":{event}}}"
        ))
    }

    /// What was proposed will not happen.
    ///
    /// # Errors
    /// As [`Judge::line`].
    fn abandon(&mut self, proposal: u64) -> Result<Decision, String> {
        self.line(&format!(
            "{{\"phase\":\"abandon\",\"proposal\":{proposal}}}"
        ))
    }

    /// It has happened.
    ///
    /// # Errors
    /// As [`Judge::line`].
    fn happened(&mut self, event: &str) -> Result<Decision, String> {
        self.line(&format!("{{\"phase\":\"after\",\"event\":{event}}}"))
    }

    /// May the trace end here?
    ///
    /// # Errors
    /// As [`Judge::line`].
    fn propose_end(&mut self, trace: &str) -> Result<Decision, String> {
        self.propose(&json!({"trace": trace, "end": true}).to_string())
    }

    /// The trace has ended.
    ///
    /// # Errors
    /// As [`Judge::line`].
    fn end(&mut self, trace: &str) -> Result<Decision, String> {
        self.happened(&json!({"trace": trace, "end": true}).to_string())
    }
}
