//! The events of calls and outcomes.

use serde_json::Value as Json;

use super::Call;
use super::later::CONTENT;
use super::names::is_outcome;
use crate::integrations::event::Event;
use crate::integrations::{Judge, mcp};
use crate::monitor::lenient::{UNREAD, members_of, write_text};
use crate::texts::is_exact_name;

/// The members of calls and outcomes that say that a call was only started or was cut short, with the values that say that it was
/// not: a command in the background may fail later, and an interrupted one did not do what it was to do.
const UNENDED: [(&str, &[&str]); 4] = [
    ("run_in_background", &["false", "null"]),
    ("backgroundTaskId", &["null"]),
    ("isAsync", &["false", "null"]),
    ("interrupted", &["false", "null"]),
];

/// The `status` of outcomes whose calls have only begun, whatever their tools are.
const STATUS_BEGUN: [&str; 2] = ["\"async_launched\"", "\"running\""];

/// The tools that start a sub-agent, and what the `status` of their outcomes is if it has ended. Other tools use the name for
/// something else.
const AGENTS: [&str; 2] = ["Agent", "Task"];
const AGENT_ENDED: [&str; 1] = ["\"completed\""];

/// The tools of Claude Code whose outcomes have keys and numbers of its own: sizes, durations, numbers of lines, exit codes and
/// the three digits of the status of a site. In all others they may be chosen by a server or a file: in lists of resources of MCP
/// servers, say, in notebooks (`execution_count`), and in those of tools that are not known here.
const OF_KNOWN_FORM: [&str; 16] = [
    "Agent",
    "Bash",
    "BashOutput",
    "Edit",
    "Glob",
    "Grep",
    "KillShell",
    "LS",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "Task",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// The tools whose outcomes say only that they have begun.
const BEGUN: [&str; 2] = ["Monitor", "Workflow"];

/// The beginning of the names of tools of MCP servers.
const SERVER_TOOL: &str = "mcp__";

impl Call {
    /// Returns the event of the call; if not `whole`, the parts that the monitor could not read are unknown.
    pub(super) fn call<J: Judge>(&self, judge: &J, trace: &str, whole: bool) -> String {
        let size = self.known("tool_input").len() + 256;
        let mut event = Event::new(trace, "call", "assistant", size);
        event.null(&["text", "result", "error"]);
        self.tool(judge, &mut event, whole);
        let of_call = match self.is_outcome() {
            true => Members::OfCall,
            false => Members::OfHook,
        };
        self.beside(judge, event, self.if_read(whole, of_call))
            .line()
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
            let write = match self.is_of_known_form(outcome) {
                true => write_text,
                false => mcp::write_text,
            };
            match &others[..] {
                [] => event.with("text", |line| write(outcome, line)),
                others => {
                    let all = format!("[{outcome},{}]", others.join(","));
                    event.with("text", |line| write(&all, line))
                }
            };
        }
        if judge.reads("error") {
            event.raw("error", self.error());
        } else {
            event.null(&["error"]);
        }
        self.beside(judge, event, self.if_read(whole, Members::OfHook))
            .line()
    }

    /// Returns the event of a prompt, by the user or by nobody who is known.
    pub(super) fn message<J: Judge>(&self, judge: &J, trace: &str, by_user: bool) -> String {
        let prompt = self.known("prompt");
        let size = prompt.len() + 256;
        let mut event = match by_user {
            true => Event::new(trace, "message", "user", size),
            false => Event::of_unknown(trace, "message", size),
        };
        event
            .raw("text", prompt)
            .null(&["tool", "args", "call", "result", "error"]);
        let members = match by_user {
            true => Members::OfHook,
            false => Members::OfPrompt,
        };
        self.beside(judge, event, members).line()
    }

    /// Returns the event of a text that the program wrote for the agent: the result of a call, of which a tool and an id may be known.
    pub(super) fn report<J: Judge>(
        &self,
        judge: &J,
        trace: &str,
        (tool, call): (&str, &str),
        whole: bool,
    ) -> String {
        let prompt = self.known("prompt");
        let mut event = Event::new(trace, "result", "tool", 2 * prompt.len() + 256);
        event
            .raw("tool", tool)
            .raw("args", UNREAD)
            .raw("call", call)
            .raw("result", if whole { prompt } else { UNREAD })
            .with("text", |line| mcp::write_text(prompt, line))
            .raw("error", UNREAD);
        self.beside(judge, event, Members::Unknown).line()
    }

    /// Returns whether the call of an outcome may go on: what becomes of it arrives later.
    pub(super) fn may_go_on(&self) -> bool {
        self.error() == UNREAD
    }

    /// Whether the call of an outcome failed, as JSON: unknown unless the hook says it by its exact name, and the outcome was
    /// read and is that of a call that has ended.
    fn error(&self) -> &'static str {
        let name = match self.known("hook_event_name") {
            UNREAD => return UNREAD,
            _ => self.outline.text("hook_event_name"),
        };
        match name.as_deref() {
            Some("PostToolUseFailure") => return "true",
            Some("PostToolUse") if !self.outline.is_changed() => {}
            _ => return UNREAD,
        }
        let members = |key: &str| match self.known(key) {
            UNREAD => Err("it is unknown".to_owned()),
            value => members_of(value),
        };
        let (Ok(input), Ok(response)) = (members("tool_input"), members("tool_response")) else {
            return UNREAD;
        };
        let is_error = |key: &str| ["iserror", "is_error"].contains(&&*key.to_ascii_lowercase());
        let beside = |key: &str| is_error(key) || key == "error";
        let within = response.iter().filter(|(key, _)| is_error(key));
        let around = self.outline.iter().filter(|(key, _)| beside(key));
        let mut says = within
            .map(|(_, value)| *value)
            .chain(around.map(|(_, value)| value));
        match (says.next(), says.next()) {
            (Some("true"), None) => return "true",
            (None | Some("false" | "null"), None) => {}
            // Readers differ on which values are true.
            _ => return UNREAD,
        }
        let tool = self.outline.text("tool_name").unwrap_or_default();
        if BEGUN.contains(&&*tool) {
            return UNREAD;
        }
        let is_ended = |status: &str| match AGENTS.contains(&&*tool) {
            true => AGENT_ENDED.contains(&status),
            false => !STATUS_BEGUN.contains(&status),
        };
        let is_unended = |(key, value): &(String, &str)| {
            let is_named = |(name, ended): &(&str, &[&str])| name == key && !ended.contains(value);
            UNENDED.iter().any(is_named)
        };
        let is_open = |member: &(String, &str)| {
            is_unended(member) || member.0 == "status" && !is_ended(member.1)
        };
        // Servers choose the members of their outcomes.
        let of_program = !self.is_of_server();
        match input.iter().any(is_unended) || of_program && response.iter().any(is_open) {
            true => UNREAD,
            false => "false",
        }
    }

    /// Returns how the hook's members are related to an event, if they were read: of one that was damaged or lost, or of which nothing is
    /// known, any member may be missing. `whole` as in [`Call::call`].
    fn if_read(&self, whole: bool, members: Members) -> Members {
        let has = |key: &str| self.outline.raw(key).is_some();
        match whole && !self.outline.is_changed() && has("tool_name") && !has(CONTENT) {
            true => members,
            false => Members::Unknown,
        }
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

    /// Whether no other party than the program chooses the keys and numbers of the outcome.
    fn is_of_known_form(&self, outcome: &str) -> bool {
        let is_type = |(key, value): &(String, &str)| key == "type" && *value == "\"notebook\"";
        let is_notebook = || members_of(outcome).is_ok_and(|of| of.iter().any(is_type));
        let tool = self.outline.text("tool_name");
        tool.is_some_and(|tool| OF_KNOWN_FORM.contains(&&*tool)) && !is_notebook()
    }

    /// Whether the tool is one of an MCP server, which chooses the members of its outcomes.
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
    fn beside(&self, judge: &impl Judge, mut event: Event, members: Members) -> Event {
        let agent = self
            .agent
            .as_deref()
            .map(|agent| Json::from(agent).to_string());
        let nobody = if self.is_doubtful { UNREAD } else { "null" };
        event.raw("agent", agent.as_deref().unwrap_or(nobody));
        let known = || {
            self.outline.iter().filter_map(|(key, _)| match members {
                Members::OfHook => Some((key, self.known(key))),
                // It is that of the event's trace, whatever else is known.
                _ if key == "session_id" => Some((key, self.known(key))),
                Members::OfCall if key == HOOK_NAME => Some((key, "\"PreToolUse\"")),
                Members::OfCall if OF_OUTCOMES.contains(&key) || is_outcome(key, false) => None,
                Members::OfCall => Some((key, self.known(key))),
                Members::OfPrompt if ![HOOK_NAME, "prompt"].contains(&key) => {
                    Some((key, self.known(key)))
                }
                Members::OfPrompt | Members::Unknown => Some((key, UNREAD)),
            })
        };
        if judge.reads("raw") {
            match members {
                Members::OfHook => event.raw("raw", self.outline.as_text()),
                Members::OfCall => event.raw("raw", &object(known())),
                Members::OfPrompt | Members::Unknown => event.raw("raw", UNREAD),
            };
        }
        let known = known().filter(|(key, _)| judge.reads(key));
        let read = match members {
            Members::Unknown => judge.members(),
            Members::OfHook | Members::OfCall | Members::OfPrompt => Vec::new(),
        };
        let read = read.iter().map(String::as_str);
        let unknown = read.filter(|key| !OF_NO_HOOK.contains(key));
        event.beside(known.chain(unknown.map(|key| (key, UNREAD))));
        event
    }
}

/// The relation of an event to the hook that reports it, and so what the members of the hook's input say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Members {
    /// The event is what the hook reports.
    OfHook,
    /// The event is the call whose outcome the hook reports.
    OfCall,
    /// The event is a prompt that is perhaps not the user's: what the hook calls it is unknown.
    OfPrompt,
    /// Nothing is known about the event.
    Unknown,
}

/// Returns the JSON of an object with these members.
fn object<'k>(members: impl Iterator<Item = (&'k str, &'k str)>) -> String {
    let members = members.map(|(key, value)| format!("{}:{value}", Json::from(key)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// The members of events that no hook has: what only the monitor or recordings give.
const OF_NO_HOOK: [&str; 6] = ["at", "end", "index", "item", "meta", "trace"];

/// The member that names the hook.
const HOOK_NAME: &str = "hook_event_name";

/// The members of outcomes that calls do not have.
const OF_OUTCOMES: [&str; 2] = ["tool_response", "is_interrupt"];
