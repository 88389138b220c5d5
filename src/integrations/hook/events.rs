//! The events of calls and outcomes.

use serde_json::Value as Json;

use super::Call;
use super::names::is_outcome;
use crate::integrations::event::Event;
use crate::integrations::{Judge, mcp};
use crate::monitor::lenient::{UNREAD, write_text};
use crate::texts::is_exact_name;

/// The beginning of the names of tools of MCP servers.
const SERVER_TOOL: &str = "mcp__";

impl Call {
    /// Returns the event of the call; if not `whole`, the parts that the monitor could not read are unknown.
    pub(super) fn call<J: Judge>(&self, judge: &J, trace: &str, whole: bool) -> String {
        let size = self.known("tool_input").len() + 256;
        let mut event = Event::new(trace, "call", "assistant", size);
        event.null(&["text", "result", "error"]);
        self.tool(judge, &mut event, whole);
        self.beside(judge, event, whole).line()
    }

    /// Returns the event of the outcome; `whole` as in [`Call::call`].
    pub(super) fn result<J: Judge>(&self, judge: &J, trace: &str, whole: bool) -> String {
        let size = self.outline.as_text().len() + 256;
        let mut event = Event::new(trace, "result", "tool", size);
        self.tool(judge, &mut event, whole);
        let failed = self.hook == "PostToolUseFailure";
        let outcome = self.known(if failed { "error" } else { "tool_response" });
        let others: Vec<&str> = (self.outline.iter())
            .map(|(key, _)| key)
            .filter(|key| is_outcome(key, failed))
            .map(|key| self.known(key))
            .collect();
        if judge.reads("result") {
            event.raw("result", if whole { outcome } else { UNREAD });
        }
        if judge.reads("text") {
            let write = match self.is_of_server() {
                true => mcp::write_text,
                false => write_text,
            };
            match &others[..] {
                [] => event.with("text", |line| write(outcome, line)),
                others => {
                    let all = format!("[{outcome},{}]", others.join(","));
                    event.with("text", |line| write(&all, line))
                }
            };
        }
        event.raw("error", if failed { "true" } else { "false" });
        self.beside(judge, event, whole).line()
    }

    /// Returns a member of an outcome, or the unknown value if it is missing or ambiguous.
    pub(super) fn known(&self, key: &str) -> &str {
        match self.outline.raw(key) {
            Some(value) if !self.outline.is_ambiguous(key) => value,
            _ => UNREAD,
        }
    }

    /// Whether all readers of the call take its tool for the same one.
    pub(super) fn has_exact_tool(&self) -> bool {
        let tool = self.outline.text("tool_name");
        tool.is_none_or(|tool| is_exact_name(&tool))
    }

    /// Whether the tool is one of an MCP server, which chooses the keys and numbers of its outcomes.
    fn is_of_server(&self) -> bool {
        let tool = self.outline.text("tool_name");
        tool.is_none_or(|tool| tool.starts_with(SERVER_TOOL))
    }

    fn tool(&self, judge: &impl Judge, event: &mut Event, whole: bool) {
        // A call always has a tool, so a null name is unknown.
        let tool = match self.known("tool_name") {
            "null" => UNREAD,
            _ if !self.has_exact_tool() => UNREAD,
            tool => tool,
        };
        event.raw("tool", tool);
        if judge.reads("args") {
            let args = if whole {
                self.known("tool_input")
            } else {
                UNREAD
            };
            event.raw("args", args);
        }
        event.raw(
            "call",
            match self.outline.raw("tool_use_id") {
                Some(_) => self.known("tool_use_id"),
                None => "null",
            },
        );
    }

    /// Adds the agent, the raw input, and the other members of the input, as far as the spec reads them.
    pub(super) fn beside(&self, judge: &impl Judge, mut event: Event, whole: bool) -> Event {
        let agent = self
            .agent
            .as_deref()
            .map(|agent| Json::from(agent).to_string());
        event.raw("agent", agent.as_deref().unwrap_or("null"));
        if judge.reads("raw") {
            event.raw(
                "raw",
                if whole {
                    self.outline.as_text()
                } else {
                    UNREAD
                },
            );
        }
        let members = self.outline.iter().filter(|(key, _)| judge.reads(key));
        event.beside(members.map(|(key, _)| (key, if whole { self.known(key) } else { UNREAD })));
        event
    }
}
