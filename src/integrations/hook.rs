//! Hooks of Claude Code and the Claude Agent SDK.
//!
//! Each call of a hook is one JSON document in and at most one out. A tool call is judged before it runs; one that is let
//! through counts as made from then on, since the transcript shows it whether or not a person then refuses it; one that a
//! person is to decide counts when its result arrives.
//!
//! | hook | event | when it is denied |
//! |---|---|---|
//! | `PreToolUse` | a `call` | `permissionDecision: "deny"`; `ask` asks |
//! | `PostToolUse`, `PostToolUseFailure` | a `result` | `decision: "block"`: the reason goes to the agent |
//! | `UserPromptSubmit` | a `message` of the user | `decision: "block"`: the prompt is dropped |
//! | `Stop`, `SubagentStop` | none; would the trace end well here? | `decision: "block"` with what is still owed |
//! | `SessionEnd` | the end of the trace | — |
//!
//! Other hooks, and those that newer versions add, decide nothing. `stop` ends the run (`continue: false`).
//!
//! Source: the types of the Claude Agent SDK for Python; a permission decision must stand inside `hookSpecificOutput`.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::Judge;
use super::event::Event;
use crate::monitor::{Decision, RawObject, Ruling};

/// What a hook must remember from one call to the next, beside the state of the monitor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The calls about which a person was asked: their ids, or what they are where they have none.
    pub asked: Vec<String>,
}

/// A call of a hook, read far enough to know whose it is.
#[derive(Clone, Debug)]
pub struct Call<'l> {
    members: RawObject<'l>,
    text: &'l str,
    hook: String,
    trace: String,
}

/// What a hook answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What it prints; nothing where there is nothing to say.
    pub json: Option<Json>,
    /// The decisions behind it.
    pub decisions: Vec<Decision>,
    /// Whether the trace has ended, and its state is no longer needed.
    pub ended: bool,
}

impl<'l> Call<'l> {
    /// Reads a call.
    ///
    /// # Errors
    /// What is wrong with it. Nothing is known of such a call, so it must not be let through.
    pub fn read(input: &'l [u8]) -> Result<Call<'l>, String> {
        let text = std::str::from_utf8(input)
            .map_err(|_| "the input is not UTF-8".to_owned())?
            .trim();
        let members = RawObject::read(text.as_bytes())?;
        let needed = |key: &str| {
            members
                .text(key)
                .ok_or_else(|| format!("missing `{key}` in the input"))
        };
        let (hook, session) = (needed("hook_event_name")?, needed("session_id")?);
        let trace = match members.text("agent_id") {
            Some(agent) => format!("{session}/{agent}"),
            None => session,
        };
        Ok(Call {
            members,
            text,
            hook,
            trace,
        })
    }

    /// The session, and the sub-agent where one acts: each has a trace of its own.
    pub fn trace(&self) -> &str {
        &self.trace
    }

    /// The name of the hook.
    pub fn hook(&self) -> &str {
        &self.hook
    }

    /// Whether this hook brings or asks anything; others need no state.
    pub fn matters(&self) -> bool {
        let known = [
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "UserPromptSubmit",
            "Stop",
            "SubagentStop",
            "SessionEnd",
        ];
        known.contains(&self.hook.as_str())
    }

    /// Judges the call.
    ///
    /// # Errors
    /// What the call lacks, or why nothing was decided; it must not be let through.
    pub fn judge(&self, judge: &mut impl Judge, memory: &mut Memory) -> Result<Answer, String> {
        let mut decisions = Vec::new();
        let mut ended = false;
        let json = match self.hook.as_str() {
            "PreToolUse" => self.before(judge, memory, &mut decisions)?,
            "PostToolUse" | "PostToolUseFailure" => self.after(judge, memory, &mut decisions)?,
            "UserPromptSubmit" => self.prompt(judge, &mut decisions)?,
            "Stop" | "SubagentStop" => self.stop(judge, &mut decisions)?,
            "SessionEnd" => {
                decisions.push(judge.end(&self.trace)?);
                ended = true;
                None
            }
            _ => None,
        };
        Ok(Answer {
            json,
            decisions,
            ended,
        })
    }

    fn before(
        &self,
        judge: &mut impl Judge,
        memory: &mut Memory,
        decisions: &mut Vec<Decision>,
    ) -> Result<Option<Json>, String> {
        let event = self.call()?.line();
        let proposed = judge.propose(&event)?;
        let ruling = proposed.ruling;
        let reason = told(&proposed);
        if let Some(proposal) = proposed.proposal {
            if ruling < Ruling::Ask {
                judge.commit(proposal, &event)?;
            } else {
                judge.abandon(proposal)?;
            }
        }
        if ruling == Ruling::Ask {
            memory.asked.push(self.key());
        }
        decisions.push(proposed);
        let decide = |decision: &str| {
            json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": decision,
                "permissionDecisionReason": reason,
            }})
        };
        Ok(match ruling {
            Ruling::Allow => None,
            Ruling::Warn => Some(json!({"systemMessage": reason})),
            Ruling::Reflect => Some(self.context(&reason)),
            Ruling::Ask => Some(decide("ask")),
            Ruling::Block => Some(decide("deny")),
            Ruling::Stop => Some(ending(decide("deny"), &reason)),
        })
    }

    fn after(
        &self,
        judge: &mut impl Judge,
        memory: &mut Memory,
        decisions: &mut Vec<Decision>,
    ) -> Result<Option<Json>, String> {
        let key = self.key();
        if let Some(place) = memory.asked.iter().position(|asked| *asked == key) {
            memory.asked.remove(place);
            decisions.push(judge.observe(&self.call()?.line())?);
        }
        let n_answered = decisions.len();
        decisions.push(judge.observe(&self.result()?.line())?);
        // What the hook asked about a person has allowed.
        let open = |(place, decision): &(usize, &Decision)| {
            *place >= n_answered || decision.ruling != Ruling::Ask
        };
        let each = decisions.iter().enumerate().filter(open);
        let Some(worst) = each
            .map(|(_, decision)| decision)
            .max_by_key(|decision| decision.ruling)
        else {
            return Ok(None);
        };
        let reason = told(worst);
        let block = json!({"decision": "block", "reason": reason});
        Ok(match worst.ruling {
            Ruling::Allow => None,
            Ruling::Warn => Some(json!({"systemMessage": reason})),
            Ruling::Reflect => Some(self.context(&reason)),
            Ruling::Ask | Ruling::Block => Some(block),
            Ruling::Stop => Some(ending(block, &reason)),
        })
    }

    fn prompt(
        &self,
        judge: &mut impl Judge,
        decisions: &mut Vec<Decision>,
    ) -> Result<Option<Json>, String> {
        let prompt = self
            .members
            .raw("prompt")
            .ok_or("missing `prompt` in the input")?;
        let mut event = Event::new(&self.trace, "message", "user");
        event
            .raw("text", prompt)
            .null(&["tool", "args", "call", "result", "error"]);
        let event = self.beside(&mut event).line();
        let proposed = judge.propose(&event)?;
        let ruling = proposed.ruling;
        let reason = told(&proposed);
        if let Some(proposal) = proposed.proposal {
            if ruling.denies() {
                judge.abandon(proposal)?;
            } else {
                judge.commit(proposal, &event)?;
            }
        }
        decisions.push(proposed);
        let block = json!({"decision": "block", "reason": reason});
        Ok(match ruling {
            Ruling::Allow => None,
            Ruling::Warn | Ruling::Ask => Some(json!({"systemMessage": reason})),
            Ruling::Reflect => Some(self.context(&reason)),
            Ruling::Block => Some(block),
            Ruling::Stop => Some(ending(block, &reason)),
        })
    }

    /// The turn is about to end. What is owed is pressed once: a turn that goes on because of a hook may then end, with
    /// what is still owed said to the user.
    fn stop(
        &self,
        judge: &mut impl Judge,
        decisions: &mut Vec<Decision>,
    ) -> Result<Option<Json>, String> {
        let end = judge.propose_end(&self.trace)?;
        let mut reasons = end.owed.clone();
        if end.ruling >= Ruling::Reflect {
            reasons.push(end.reason());
        }
        decisions.push(end);
        if reasons.is_empty() {
            return Ok(None);
        }
        let reason = format!("not done yet: {}", reasons.join("; "));
        Ok(Some(if self.members.is_true("stop_hook_active") {
            json!({"systemMessage": reason})
        } else {
            json!({"decision": "block", "reason": reason})
        }))
    }

    fn context(&self, reason: &str) -> Json {
        json!({"hookSpecificOutput": {"hookEventName": self.hook, "additionalContext": reason}})
    }

    fn call(&self) -> Result<Event, String> {
        let mut event = Event::new(&self.trace, "call", "assistant");
        self.tool(&mut event)?;
        event.null(&["text", "result", "error"]);
        Ok(self.beside(&mut event).clone())
    }

    fn result(&self) -> Result<Event, String> {
        let mut event = Event::new(&self.trace, "result", "tool");
        self.tool(&mut event)?;
        let failed = self.hook == "PostToolUseFailure";
        let outcome = self
            .members
            .raw(if failed { "error" } else { "tool_response" })
            .unwrap_or("null");
        event
            .raw("result", outcome)
            .raw("text", said(outcome))
            .raw("error", if failed { "true" } else { "false" });
        Ok(self.beside(&mut event).clone())
    }

    /// What tells a call from others of its session.
    fn key(&self) -> String {
        let written = |key: &str| self.members.raw(key).unwrap_or_default();
        let id = self.members.text("tool_use_id");
        id.unwrap_or_else(|| format!("{} {}", written("tool_name"), written("tool_input")))
    }

    fn tool(&self, event: &mut Event) -> Result<(), String> {
        let needed = |key: &str| {
            let member = self.members.raw(key);
            member.ok_or_else(|| format!("missing `{key}` in the input"))
        };
        event.raw("tool", needed("tool_name")?);
        event.raw("args", needed("tool_input")?);
        event.raw("call", self.members.raw("tool_use_id").unwrap_or("null"));
        Ok(())
    }

    /// Who acts, the input as it came, and its members beside those of the event.
    fn beside<'e>(&self, event: &'e mut Event) -> &'e mut Event {
        event.raw("agent", self.members.raw("agent_id").unwrap_or("null"));
        event.raw("raw", self.text);
        event.beside(self.members.iter())
    }
}

/// What is said to whoever made the call: the reason, or that there is none.
fn told(decision: &Decision) -> String {
    let reason = decision.reason();
    if reason.is_empty() {
        "denied by the spec".to_owned()
    } else {
        reason
    }
}

fn ending(mut answer: Json, reason: &str) -> Json {
    if let Some(members) = answer.as_object_mut() {
        members.insert("continue".to_owned(), Json::from(false));
        members.insert("stopReason".to_owned(), Json::from(reason));
    }
    answer
}

/// The text of an outcome: a string itself, what a shell printed, the text of content blocks.
fn said(outcome: &str) -> String {
    let Ok(value) = serde_json::from_str::<Json>(outcome) else {
        return "null".to_owned();
    };
    let text = match &value {
        Json::String(text) => Some(text.clone()),
        Json::Object(members) => {
            let parts: Vec<&str> = ["stdout", "stderr", "content", "text"]
                .iter()
                .filter_map(|key| members.get(*key)?.as_str())
                .filter(|text| !text.is_empty())
                .collect();
            (!parts.is_empty()).then(|| parts.join("\n"))
        }
        Json::Array(blocks) => {
            let parts: Vec<&str> = blocks
                .iter()
                .filter_map(|block| block.get("text")?.as_str())
                .collect();
            (!parts.is_empty()).then(|| parts.join("\n"))
        }
        _ => None,
    };
    text.map_or_else(|| "null".to_owned(), |text| Json::from(text).to_string())
}

/// Whether something can go on because of what this hook answers, so that it must not fail open.
pub fn decides(hook: &str) -> bool {
    [
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "UserPromptSubmit",
    ]
    .contains(&hook)
}

/// The answer of a hook that could not judge, for callers that read no exit code: it denies where the hook decides.
pub fn denial(hook: &str, reason: &str) -> Json {
    let reason = format!("the call was not checked: {reason}");
    match hook {
        "PreToolUse" => json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }}),
        hook if decides(hook) => json!({"decision": "block", "reason": reason}),
        _ => json!({"systemMessage": reason}),
    }
}
