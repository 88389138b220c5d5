//! Hooks of Claude Code and the Claude Agent SDK.
//!
//! Each call of a hook is one JSON document in and at most one out. A tool call is judged before it runs; one that is let
//! through counts as made from then on, since the transcript shows it whether or not a person then refuses it; one that a
//! person is to decide is a proposal that stays open until its outcome arrives or the turn of its agent ends.
//!
//! | hook | event | when it is denied |
//! |---|---|---|
//! | `PreToolUse` | a `call` | `permissionDecision: "deny"`; `ask` asks |
//! | `PostToolUse`, `PostToolUseFailure` | a `result` | `decision: "block"`: the reason goes to the agent |
//! | `UserPromptSubmit` | a `message` of the user | `decision: "block"`: the prompt is dropped |
//! | `Stop`, `SubagentStop` | none; would the trace end well here? | `decision: "block"` with what is still owed |
//! | `SessionEnd` | none; the same is put on record | — |
//!
//! Other hooks, and those that newer versions add, decide nothing. `stop` ends the run (`continue: false`). The end of a
//! session is not the end of its trace: a session may be resumed, with all that its agent has read.
//!
//! An outcome has happened, whatever it holds: what of it cannot be read is unknown in its event, and the outcome of a call
//! that was never judged brings that call with it. `docs/protocol-hook.md` has the states and what always holds in them.
//!
//! Source: the types of the Claude Agent SDK for Python; a permission decision must stand inside `hookSpecificOutput`.

mod memory;
mod names;

use serde_json::{Value as Json, json};

use super::event::Event;
use super::{Judge, reason_of};
use crate::monitor::lenient::{Outline, UNREAD, write_text};
use crate::monitor::{Cause, Decision, Ruling};
pub use memory::Memory;
use memory::{Asked, Known, OpenCall};
pub use names::decides;
use names::{hook_name, is_outcome, matters, reports};

/// The longest member that is kept of an outcome that could not be judged, in bytes.
const MOST_KEPT: usize = 64 * 1024;

/// The member that names the call of an outcome that is put on record later.
const KEY: &str = "guard_call";

/// The calls that form one trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Those of a session: what one agent has read, the agents that it starts may pass on. The main agent is also judged by
    /// its own calls alone, since no other agent can do what it must do itself.
    #[default]
    Session,
    /// Those of the main agent and of each sub-agent.
    Agent,
}

/// A call of a hook, read far enough to know whose it is.
#[derive(Clone, Debug)]
pub struct Call {
    outline: Outline,
    hook: String,
    session: String,
    agent: Option<String>,
    trace: String,
    /// The trace of what the main agent itself did, if the call is judged with the session.
    own: Option<String>,
    scope: Scope,
}

/// The answer of a hook.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The printed JSON; `None` if nothing is printed.
    pub json: Option<Json>,
    /// The decisions behind it.
    pub decisions: Vec<Decision>,
}

impl Call {
    /// Reads a call.
    ///
    /// # Errors
    /// A message. Nothing is known of such a call, so it must not be allowed.
    pub fn read(input: Vec<u8>, scope: Scope) -> Result<Call, String> {
        Call::of(Outline::read(input)?, scope)
    }

    /// A call whose outline was read.
    ///
    /// # Errors
    /// As [`Call::read`].
    pub fn of(outline: Outline, scope: Scope) -> Result<Call, String> {
        let needed = |key: &str| match outline.text(key) {
            _ if outline.is_ambiguous(key) => Err(format!("duplicate key `{key}`")),
            Some(text) => Ok(text),
            None => Err(format!("missing `{key}` in the input")),
        };
        let hook = hook_name(needed("hook_event_name")?, |key| outline.raw(key).is_some())?;
        let session = needed("session_id")?;
        let agent = match outline.raw("agent_id") {
            None | Some("null" | "\"\"") => None,
            // an outcome is on record whatever its agent is called
            Some(id) if reports(&hook) => {
                Some(needed("agent_id").unwrap_or_else(|_| id.to_owned()))
            }
            Some(_) => Some(needed("agent_id")?),
        };
        // No two traces have one name, whatever stands in ids.
        let id = session.replace('%', "%25").replace('/', "%2F");
        let (trace, own) = match (&agent, scope) {
            (Some(agent), Scope::Agent) => (format!("{id}/{agent}"), None),
            (None, Scope::Agent) => (id, None),
            (_, Scope::Session) => (id.clone(), Some(format!("{id}/"))),
        };
        let call = Call {
            outline,
            hook,
            session,
            agent,
            trace,
            own,
            scope,
        };
        // What was changed to be read, or is read in two ways, may be read otherwise by the tool.
        if !call.is_outcome() && decides(&call.hook) {
            if call.outline.is_changed() {
                return Err("the input is damaged, cut off or too long".to_owned());
            }
            let mut keys = call.outline.iter().map(|(key, _)| key);
            if let Some(key) = keys.find(|key| call.outline.is_ambiguous(key)) {
                return Err(format!("duplicate key in `{key}`"));
            }
        }
        Ok(call)
    }

    /// The session.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The sub-agent that acts.
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// Returns the scope of its history.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Returns an outcome of the same session of which nothing is known.
    ///
    /// # Errors
    /// As [`Outline::read`].
    pub fn any_outcome(&self) -> Result<Outline, String> {
        let session = Json::from(self.session.as_str());
        let agent = Json::from(self.agent.as_deref());
        let text = format!(
            "{{\"hook_event_name\":\"PostToolUse\",\"session_id\":{session},\"agent_id\":{agent},\"tool_use_id\":{UNREAD}}}"
        );
        Outline::read(text.into_bytes())
    }

    /// Returns the trace of the call: that of the session, or of the sub-agent (see [`Scope`]).
    pub fn trace(&self) -> &str {
        &self.trace
    }

    /// Whether the call reports something that has happened: it can no longer be denied, and must be recorded.
    pub fn is_outcome(&self) -> bool {
        reports(&self.hook)
    }

    /// An outcome without all that is not needed to know which call it answers: what is put on record where the outcome
    /// itself could not be judged.
    pub fn unread(&self) -> String {
        let short = |key: &str| match self.outline.raw(key) {
            Some(value) if value.len() <= MOST_KEPT && !self.outline.is_ambiguous(key) => value,
            _ => UNREAD,
        };
        let outcome = match self.hook.as_str() {
            "PostToolUse" => "tool_response",
            _ => "error",
        };
        let key = Json::from(self.key());
        let mut text = format!(
            "{{\"hook_event_name\":{},\"session_id\":{},\"{KEY}\":{key},\"tool_name\":{},\"tool_input\":{},\"{outcome}\":{UNREAD}",
            Json::from(self.hook.as_str()),
            Json::from(self.session.as_str()),
            short("tool_name"),
            short("tool_input"),
        );
        for key in ["tool_use_id", "agent_id"] {
            if self.outline.raw(key).is_some() {
                text.push_str(&format!(",\"{key}\":{}", short(key)));
            }
        }
        text.push('}');
        text
    }

    /// The name of the hook.
    pub fn hook(&self) -> &str {
        &self.hook
    }

    /// Whether this hook brings or asks anything; others need no state.
    pub fn matters(&self) -> bool {
        matters(&self.hook)
    }

    /// Judges the call.
    ///
    /// # Errors
    /// What the call lacks, or why nothing was decided; it must not be let through.
    pub fn judge(&self, judge: &mut impl Judge, memory: &mut Memory) -> Result<Answer, String> {
        let mut decisions = Vec::new();
        self.split(judge, &mut decisions)?;
        let json = match self.hook.as_str() {
            "PreToolUse" => self.before(judge, memory, &mut decisions)?,
            "PostToolUse" | "PostToolUseFailure" => self.after(judge, memory, &mut decisions)?,
            "UserPromptSubmit" => self.prompt(judge, &mut decisions)?,
            "Stop" | "SubagentStop" => self.stop(judge, memory, &mut decisions)?,
            "SessionEnd" => {
                decisions.extend(self.ends(judge)?);
                None
            }
            _ => None,
        };
        Ok(Answer { json, decisions })
    }

    fn before(
        &self,
        judge: &mut impl Judge,
        memory: &mut Memory,
        decisions: &mut Vec<Decision>,
    ) -> Result<Option<Json>, String> {
        for key in ["tool_name", "tool_input"] {
            self.needed(key)?;
        }
        let (proposed, asked) = self.act(judge, |judge, trace| self.call(judge, trace, true))?;
        let ruling = proposed.ruling;
        let reason = reason_of(&proposed);
        // What could not be read has not been put on record, whatever was decided about it.
        if !ruling.denies() && proposed.cause != Cause::Unreadable {
            memory.add(OpenCall {
                key: self.key(),
                owner: self.owner(),
                asked,
                content: self.content(),
            });
        } else if ruling.denies() {
            memory.deny(self.key());
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
        let mut known = memory.end(&self.key(), self.content().as_deref());
        match known {
            Known::Asked(asked) => {
                let event = |judge: &_, trace: &str| self.call(judge, trace, true);
                if !self.commit(judge, asked, event, decisions)? {
                    known = Known::Unanswered;
                }
            }
            // what the person agreed to has not happened
            Known::AskedOtherwise(asked) => {
                for proposal in [Some(asked.session), asked.own].into_iter().flatten() {
                    judge.abandon(proposal)?;
                }
                known = Known::Otherwise;
            }
            _ => {}
        }
        let notice = match known {
            Known::Judged | Known::Asked(_) => None,
            Known::Otherwise | Known::AskedOtherwise(_) => {
                Some("this call ran otherwise than it was judged")
            }
            Known::Unanswered => Some("this call ran before an approver answered"),
            Known::Denied => Some("this call ran although it was denied"),
            Known::Not => Some("this call was not judged before it ran"),
        };
        // As it ran it is not on record: its hook judged another call, denied it, failed, or was not asked.
        if matches!(known, Known::Otherwise | Known::Denied | Known::Not) {
            self.happened(judge, Call::call, decisions)?;
        }
        let n_answered = decisions.len();
        self.happened(judge, Call::result, decisions)?;
        let (of_call, of_result) = decisions.split_at(n_answered);
        let is_allowed = |decision: &&Decision| {
            matches!(known, Known::Asked(_)) && allowed_by_person(of_call, decision)
        };
        let each = of_call.iter().chain(of_result);
        let Some(worst) = each
            .filter(|decision| !is_allowed(decision))
            .max_by_key(|decision| decision.ruling)
        else {
            return Ok(None);
        };
        let mut reason = reason_of(worst);
        if let Some(notice) = notice {
            reason = match worst.ruling {
                Ruling::Allow => notice.to_owned(),
                _ => format!("{notice}: {reason}"),
            };
        }
        let block = json!({"decision": "block", "reason": reason});
        Ok(match worst.ruling {
            Ruling::Allow if notice.is_none() => None,
            Ruling::Allow | Ruling::Warn => Some(json!({"systemMessage": reason})),
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
        let prompt = self.needed("prompt")?;
        let event = |judge: &_, trace: &str| {
            let mut event = Event::new(trace, "message", "user", prompt.len() + 256);
            event
                .raw("text", prompt)
                .null(&["tool", "args", "call", "result", "error"]);
            self.beside(judge, event, true).line()
        };
        let (proposed, asked) = self.act(judge, event)?;
        let ruling = proposed.ruling;
        let reason = reason_of(&proposed);
        decisions.push(proposed);
        if let Some(asked) = asked {
            self.commit(judge, asked, event, &mut Vec::new())?;
        }
        let block = json!({"decision": "block", "reason": reason});
        Ok(match ruling {
            Ruling::Allow => None,
            Ruling::Warn | Ruling::Ask => Some(json!({"systemMessage": reason})),
            Ruling::Reflect => Some(self.context(&reason)),
            Ruling::Block => Some(block),
            Ruling::Stop => Some(ending(block, &reason)),
        })
    }

    /// Judges the end of a turn. Pending obligations prevent it once: a turn that continues because of a hook may then end,
    /// and the user is informed of the obligations that are still pending.
    fn stop(
        &self,
        judge: &mut impl Judge,
        memory: &mut Memory,
        decisions: &mut Vec<Decision>,
    ) -> Result<Option<Json>, String> {
        // No call of an agent outlives its turn: what a person was asked about was refused.
        // Older programs do not say which sub-agent has ended, and it was not the main agent.
        let is_known = self.hook != "SubagentStop" || self.agent.is_some();
        let refused = is_known.then(|| memory.refused(&self.owner()));
        for proposal in refused.into_iter().flatten() {
            judge.abandon(proposal)?;
        }
        // A sub-agent that is done is no end of what is judged as one trace with the main agent.
        if self.hook == "SubagentStop" && self.scope == Scope::Session {
            return Ok(None);
        }
        let mut reasons = Vec::new();
        for end in self.ends(judge)? {
            let reason = (end.ruling >= Ruling::Reflect).then(|| reason_of(&end));
            for owed in end.owed.iter().cloned().chain(reason) {
                if !reasons.contains(&owed) {
                    reasons.push(owed);
                }
            }
            decisions.push(end);
        }
        if reasons.is_empty() {
            return Ok(None);
        }
        let reason = format!("not done yet: {}", reasons.join("; "));
        Ok(Some(if self.outline.is_true("stop_hook_active") {
            json!({"systemMessage": reason})
        } else {
            json!({"decision": "block", "reason": reason})
        }))
    }

    fn context(&self, reason: &str) -> Json {
        json!({"hookSpecificOutput": {"hookEventName": self.hook, "additionalContext": reason}})
    }

    /// Gives the main agent a trace of its own when a sub-agent acts for the first time in a session: what the sub-agent does
    /// counts for the session, but the main agent's obligations are judged by what it did itself.
    fn split(&self, judge: &mut impl Judge, decisions: &mut Vec<Decision>) -> Result<(), String> {
        let acts = self.is_outcome() || self.hook == "PreToolUse";
        let Some(own) = self.own.as_deref().filter(|_| acts && self.agent.is_some()) else {
            return Ok(());
        };
        if !judge.has_trace(own) {
            let forked = judge.fork(&self.trace, own)?;
            if forked.ruling.denies() {
                return Err(reason_of(&forked));
            }
            decisions.push(forked);
        }
        Ok(())
    }

    /// The main agent's own trace, if it has one and the call is the main agent's.
    fn own(&self, judge: &impl Judge) -> Option<&str> {
        let own = self.own.as_deref().filter(|_| self.agent.is_none())?;
        judge.has_trace(own).then_some(own)
    }

    /// Would the traces of the call end well here?
    fn ends(&self, judge: &mut impl Judge) -> Result<Vec<Decision>, String> {
        let own = self.own(judge);
        let traces = [Some(self.trace.as_str()), own];
        let ends = traces.into_iter().flatten();
        ends.map(|trace| judge.propose_end(trace)).collect()
    }

    /// Judges an action and records it if it may happen, in the trace of the session and in the main agent's own: the
    /// stricter decision stands. Returns the proposals if a person is to decide.
    fn act<J: Judge>(
        &self,
        judge: &mut J,
        event: impl Fn(&J, &str) -> String,
    ) -> Result<(Decision, Option<Asked>), String> {
        let Some(own) = self.own(judge) else {
            let acted = judge.act(&event(judge, &self.trace))?;
            let asked = acted.proposal.filter(|_| acted.ruling == Ruling::Ask);
            let asked = asked.map(|session| Asked { session, own: None });
            return Ok((acted, asked));
        };
        let whole = judge.propose(&event(judge, &self.trace))?;
        let Some(session) = whole.proposal else {
            return Ok((whole, None));
        };
        let alone = judge.propose(&event(judge, own))?;
        let Some(of_own) = alone.proposal else {
            judge.abandon(session)?;
            return Ok((alone, None));
        };
        let asked = Asked {
            session,
            own: Some(of_own),
        };
        let stricter = |one: Decision, other: Decision| match other.ruling > one.ruling {
            true => other,
            false => one,
        };
        let decision = stricter(whole, alone);
        if decision.ruling == Ruling::Ask {
            return Ok((decision, Some(asked)));
        }
        let mut done = Vec::new();
        self.commit(judge, asked, event, &mut done)?;
        Ok((done.into_iter().fold(decision, stricter), None))
    }

    /// Records that what a person was asked about has happened; returns whether its reporter may say that the person agreed.
    fn commit<J: Judge>(
        &self,
        judge: &mut J,
        asked: Asked,
        event: impl Fn(&J, &str) -> String,
        decisions: &mut Vec<Decision>,
    ) -> Result<bool, String> {
        let whole = event(judge, &self.trace);
        let mut decision = judge.commit(asked.session, &whole)?;
        let answered = decision.cause != Cause::Forbidden;
        if !answered {
            for proposal in [Some(asked.session), asked.own].into_iter().flatten() {
                judge.abandon(proposal)?;
            }
            decision = judge.observe(&whole)?;
        }
        decisions.push(decision);
        if let Some(own) = self.own(judge) {
            let event = event(judge, own);
            decisions.push(match asked.own.filter(|_| answered) {
                Some(proposal) => judge.commit(proposal, &event)?,
                // The trace began while the person was being asked.
                None => judge.observe(&event)?,
            });
        }
        Ok(answered)
    }

    /// Records what has happened. Parts of it that the monitor cannot read are unknown.
    fn happened<J: Judge>(
        &self,
        judge: &mut J,
        event: fn(&Call, &J, &str, bool) -> String,
        decisions: &mut Vec<Decision>,
    ) -> Result<(), String> {
        for trace in [Some(self.trace.as_str()), self.own(judge)]
            .into_iter()
            .flatten()
        {
            let mut decision = judge.observe(&event(self, judge, trace, true))?;
            if decision.cause == Cause::Unreadable {
                decision = judge.observe(&event(self, judge, trace, false))?;
            }
            if decision.cause == Cause::Unreadable {
                return Err(reason_of(&decision));
            }
            decisions.push(decision);
        }
        Ok(())
    }

    /// The event of the call; `whole` with all that came with it, else with what cannot be read unknown.
    fn call<J: Judge>(&self, judge: &J, trace: &str, whole: bool) -> String {
        let size = self.known("tool_input").len() + 256;
        let mut event = Event::new(trace, "call", "assistant", size);
        event.null(&["text", "result", "error"]);
        self.tool(judge, &mut event, whole);
        self.beside(judge, event, whole).line()
    }

    /// The event of the outcome, as [`Call::call`].
    fn result<J: Judge>(&self, judge: &J, trace: &str, whole: bool) -> String {
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
            match &others[..] {
                [] => event.with("text", |line| write_text(outcome, line)),
                others => {
                    let all = format!("[{outcome},{}]", others.join(","));
                    event.with("text", |line| write_text(&all, line))
                }
            };
        }
        event.raw("error", if failed { "true" } else { "false" });
        self.beside(judge, event, whole).line()
    }

    /// Returns the identity of a call: its id, or its content if it has none.
    fn key(&self) -> String {
        // What is put on record later says which call it answers.
        if let Some(key) = self.outline.text(KEY) {
            return key;
        }
        let written = |key: &str| self.outline.raw(key).unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.session.as_bytes()).update(&[0]);
        match self.outline.raw("tool_use_id") {
            Some(id) if id != "null" => hasher.update(id.as_bytes()),
            _ => hasher
                .update(written("tool_name").as_bytes())
                .update(written("tool_input").as_bytes()),
        };
        hasher.finalize().to_hex().chars().take(32).collect()
    }

    /// Returns a hash of the tool and its arguments, in whatever way they are written; `None` if they are not known.
    fn content(&self) -> Option<String> {
        let read = |key: &str| serde_json::from_str::<Json>(self.known(key)).ok();
        let content = json!([read("tool_name")?, read("tool_input")?]);
        let hash = blake3::hash(content.to_string().as_bytes());
        Some(hash.to_hex().chars().take(32).collect())
    }

    /// Returns the agent that made the call.
    fn owner(&self) -> String {
        format!(
            "{}/{}",
            self.session,
            self.agent.as_deref().unwrap_or_default()
        )
    }

    fn needed(&self, key: &str) -> Result<&str, String> {
        let member = self.outline.raw(key);
        member.ok_or_else(|| format!("missing `{key}` in the input"))
    }

    /// Returns a member of an outcome, or the unknown value if it is missing or ambiguous.
    fn known(&self, key: &str) -> &str {
        match self.outline.raw(key) {
            Some(value) if !self.outline.is_ambiguous(key) => value,
            _ => UNREAD,
        }
    }

    fn tool(&self, judge: &impl Judge, event: &mut Event, whole: bool) {
        // a call has a tool, whatever its name is
        let tool = self.known("tool_name");
        event.raw("tool", if tool == "null" { UNREAD } else { tool });
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

    /// Adds who acts, the input as it came, and its members beside those of the event, as far as the spec reads them.
    fn beside(&self, judge: &impl Judge, mut event: Event, whole: bool) -> Event {
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

/// Returns whether a decision only asks what a person has answered by allowing the call: a clause that lasts asks again
/// about the outcome. `of_call` holds the decision about the call.
fn allowed_by_person(of_call: &[Decision], decision: &Decision) -> bool {
    let clauses = of_call.iter().flat_map(|decision| &decision.clauses);
    let asked: Vec<usize> = clauses.map(|fired| fired.clause).collect();
    let mut fired = decision.clauses.iter();
    decision.ruling == Ruling::Ask
        && decision.errors.is_empty()
        && fired.all(|fired| asked.contains(&fired.clause))
}

fn ending(mut answer: Json, reason: &str) -> Json {
    if let Some(members) = answer.as_object_mut() {
        members.insert("continue".to_owned(), Json::from(false));
        members.insert("stopReason".to_owned(), Json::from(reason));
    }
    answer
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
