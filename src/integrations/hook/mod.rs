//! Hooks of Claude Code and the Claude Agent SDK.
//!
//! Each call of a hook reads one JSON document and writes at most one. A tool call is judged before it runs. An allowed call
//! counts as made from then on, since the transcript shows it whether or not a person then refuses it. A call that a person
//! must decide is a proposal until its outcome arrives or the turn of its agent ends.
//!
//! | hook | event | answer if denied |
//! |---|---|---|
//! | `PreToolUse` | a `call` | `permissionDecision: "deny"`; `ask` asks |
//! | `PostToolUse`, `PostToolUseFailure` | a `result` | `decision: "block"`: the reason goes to the agent |
//! | `UserPromptSubmit` | a `message` of the user, if it is one (`authors`) | `decision: "block"`: the prompt is dropped |
//! | `Stop`, `SubagentStop` | none; judges whether the trace may end here | `decision: "block"` with the pending obligations |
//! | `SessionEnd` | none; only reports the same decision | — |
//!
//! All other hooks, including those of newer versions, decide nothing. `stop` ends the run (`continue: false`). The end of a
//! session does not end its trace: a session may be resumed, with everything that its agent has read.
//!
//! An outcome has happened, whatever its content: its unreadable parts are unknown in the event, and for the outcome of a call
//! that was never judged the call is recorded too. `docs/protocol-hook.md` describes the states and their invariants.
//!
//! Source: the types of the Claude Agent SDK for Python. A permission decision must be inside `hookSpecificOutput`.

mod authors;
mod deadlines;
mod events;
mod later;
mod makers;
mod memory;
mod names;
mod prompts;
mod refused;

use serde_json::{Value as Json, json};

use super::{Judge, reason_of, short_hash};
use crate::monitor::lenient::Outline;
use crate::monitor::{Cause, Decision, Ruling};
use later::{CONTENT, KEY};
pub use makers::Maker;
use memory::{Asked, Known, OpenCall, PastCall, PastTool};
pub use memory::{Memory, Sessions};
pub use names::{decides, may_report};
use names::{hook_name, is_filled_in, matters, reports, traces_of};
pub use refused::Refused;
use refused::{end_questions, needed};

/// The calls that form one trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The calls of a session: what one agent has read may reach the agents that it starts. The main agent is also judged by
    /// its own calls alone, since no other agent can fulfil its obligations.
    #[default]
    Session,
    /// The calls of the main agent, and separately those of each sub-agent.
    Agent,
}

/// A call of a hook, parsed far enough to identify its trace.
#[derive(Clone, Debug)]
pub struct Call {
    outline: Outline,
    hook: String,
    session: String,
    agent: Option<String>,
    trace: String,
    /// The trace of the main agent's own actions, if the call is judged with the session.
    own: Option<String>,
    scope: Scope,
    /// Whether nobody knows which agent made the call.
    is_doubtful: bool,
}

/// The answer to a call of a hook.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The JSON to print; `None` if nothing is printed.
    pub json: Option<Json>,
    /// The decisions that led to the answer.
    pub decisions: Vec<Decision>,
}

impl Call {
    /// Parses a call.
    ///
    /// # Errors
    /// The call is refused: callers must not allow it.
    pub fn read(input: Vec<u8>, scope: Scope) -> Result<Call, Refused> {
        Call::of(Outline::read(input).map_err(Refused::unread)?, scope)
    }

    /// Returns a call from its outline.
    ///
    /// # Errors
    /// Those of [`Call::read`].
    pub fn of(outline: Outline, scope: Scope) -> Result<Call, Refused> {
        let has = |key: &str| outline.raw(key).is_some();
        let named = needed(&outline, "hook_event_name").and_then(|name| hook_name(name, has));
        let hook = match named {
            // Whatever its name is, only an outcome has one.
            Err(_) if has("tool_response") => hook_name("PostToolUse".to_owned(), has),
            named => named,
        };
        let may_report = match &hook {
            Ok(hook) => reports(hook),
            Err(_) => outline.is_changed() || outline.is_ambiguous("hook_event_name"),
        };
        hook.and_then(|hook| Call::of_hook(outline, hook, scope))
            .map_err(|reason| Refused { reason, may_report })
    }

    fn of_hook(outline: Outline, hook: String, scope: Scope) -> Result<Call, String> {
        let session = needed(&outline, "session_id")?;
        let agent = match outline.raw("agent_id") {
            None | Some("null" | "\"\"") => Ok(None),
            Some(_) => needed(&outline, "agent_id").map(Some),
        };
        // What has happened is recorded whatever its agent id is.
        let is_doubtful = agent.is_err() && (reports(&hook) || !decides(&hook));
        let agent = if is_doubtful { None } else { agent? };
        let (trace, own) = traces_of(&session, agent.as_deref(), scope);
        let call = Call {
            outline,
            hook,
            session,
            agent,
            trace,
            own,
            scope,
            is_doubtful,
        };
        // A tool may read damaged or ambiguous input differently than the monitor.
        if !call.is_outcome() && decides(&call.hook) {
            if call.outline.is_changed() {
                return Err("the input is damaged, cut off or too long".to_owned());
            }
            let mut keys = call.outline.iter().map(|(key, _)| key);
            if let Some(key) = keys.find(|key| call.outline.is_ambiguous(key)) {
                return Err(format!("duplicate key in `{key}`"));
            }
            if !call.has_exact_tool() {
                return Err(
                    "`tool_name` has control, invisible or surrounding white characters: it can be taken for another one"
                        .to_owned(),
                );
            }
        }
        Ok(call)
    }

    /// Returns the id of the session.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Returns the id of the acting sub-agent; `None` for the main agent.
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// Returns which calls form one trace.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Returns the trace of the call: that of the session, or of the main agent or sub-agent (see [`Scope`]).
    pub fn trace(&self) -> &str {
        &self.trace
    }

    /// Returns whether the call reports something that has happened, which can no longer be denied and must be
    /// recorded.
    pub fn is_outcome(&self) -> bool {
        reports(&self.hook)
    }

    /// Returns the name of the hook.
    pub fn hook(&self) -> &str {
        &self.hook
    }

    /// Returns whether the hook is judged; others need no state.
    pub fn matters(&self) -> bool {
        matters(&self.hook)
    }

    /// Judges the call and returns the answer.
    ///
    /// # Errors
    /// The missing member of the call, or the reason why nothing was decided. Callers must not allow the call.
    pub fn judge(&mut self, judge: &mut impl Judge, memory: &mut Memory) -> Result<Answer, String> {
        let mut decisions = Vec::new();
        if self.may_hide_outcome() {
            let outcome = self.of_anybody()?.judge(judge, memory)?;
            decisions.extend(outcome.decisions);
        }
        self.split(judge, memory, &mut decisions)?;
        let json = match self.hook.as_str() {
            "PreToolUse" => self.before(judge, memory, &mut decisions)?,
            "PostToolUse" | "PostToolUseFailure" => self.after(judge, memory, &mut decisions)?,
            "UserPromptSubmit" => self.prompt(judge, memory, &mut decisions)?,
            "Stop" | "SubagentStop" => self.stop(judge, memory, &mut decisions)?,
            "SessionEnd" => {
                // The program ends, and its calls with it.
                let session = format!("{}/", self.session);
                end_questions(judge, memory, |owner| owner.starts_with(&session))?;
                decisions.extend(self.ends(judge)?);
                None
            }
            _ => None,
        };
        // Both traces of the main agent say the same.
        let mut notes: Vec<&str> = Vec::new();
        for note in decisions.iter().flat_map(|decision| &decision.notes) {
            if !notes.contains(&note.as_str()) {
                notes.push(note);
            }
        }
        let json = match notes.is_empty() {
            true => json,
            false => Some(with_note(json, &notes.join("; "))),
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
        // An unreadable call was not recorded, whatever the decision about it.
        if !ruling.denies() && proposed.cause != Cause::Unreadable {
            memory.add(OpenCall {
                key: self.key(),
                owner: self.owner(),
                asked,
                content: self.content(),
            });
            self.remember_texts(memory);
        } else if ruling.denies() {
            memory.deny(PastCall {
                key: self.key(),
                owner: self.owner(),
                content: self.content(),
                is_refused: false,
            });
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
            Ruling::Reflect => Some(self.with_context(None, &reason)),
            Ruling::Ask => Some(decide("ask")),
            Ruling::Block => Some(decide("deny")),
            Ruling::Stop => Some(ending(decide("deny"), &reason)),
        })
    }

    fn after(
        &mut self,
        judge: &mut impl Judge,
        memory: &mut Memory,
        decisions: &mut Vec<Decision>,
    ) -> Result<Option<Json>, String> {
        let named = self.agent.is_some().then(|| self.owner());
        let has_id = self.id().is_some();
        let (mut known, owner) = memory.end(&self.key(), &self.content(), named.as_deref(), has_id);
        match owner {
            Some(owner) => self.adopt(&owner),
            None => self.is_doubtful |= self.own(judge).is_some(),
        }
        match &known {
            Known::Asked(asked) => {
                let event = |judge: &_, trace: &str| self.call(judge, trace, true);
                if !self.commit(judge, asked, event, decisions)? {
                    known = Known::Unanswered;
                }
            }
            // The call that the person allowed has not happened.
            Known::AskedOtherwise(asked) => {
                for proposal in asked.proposals() {
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
            Known::Refused => Some("this call ran after the question about it had ended"),
            Known::Not => Some("this call was not judged before it ran"),
        };
        // The call that ran was not recorded: its hook judged another call, denied it, failed, or was not invoked, or it was refused.
        if matches!(
            known,
            Known::Otherwise | Known::Denied | Known::Refused | Known::Not
        ) {
            self.happened(judge, Call::call, decisions)?;
            self.remember_texts(memory);
        }
        if let Some(tool) = self.outline.text("tool_name") {
            memory.add_past(PastTool {
                key: self.key(),
                tool,
                owner: (!self.is_doubtful).then(|| self.owner()),
                goes_on: self.may_go_on(),
            });
        }
        self.happened(judge, Call::result, decisions)?;
        let is_allowed = |decision: &Decision| match &known {
            Known::Asked(asked) => allowed_by_person(&asked.clauses, decision),
            _ => false,
        };
        Ok(self.after_answer(decisions, is_allowed, notice))
    }

    /// Returns the answer about something that has happened. `is_allowed` are the decisions that a person has already made.
    fn after_answer(
        &self,
        decisions: &[Decision],
        is_allowed: impl Fn(&Decision) -> bool,
        notice: Option<&str>,
    ) -> Option<Json> {
        let worst = decisions
            .iter()
            .filter(|decision| !is_allowed(decision))
            .max_by_key(|decision| decision.ruling)?;
        let mut reason = reason_of(worst);
        if let Some(notice) = notice {
            reason = match worst.ruling {
                Ruling::Allow => notice.to_owned(),
                _ => format!("{notice}: {reason}"),
            };
        }
        let mut block = json!({"decision": "block", "reason": reason});
        let mut refused = decisions.iter().filter_map(|one| one.refused.as_ref());
        if let Some(refused) = refused.next() {
            // The person reads this, and the agent the rest.
            let reason = reason_of(refused);
            block["systemMessage"] =
                format!("refuse the call that you are being asked about: {reason}").into();
        }
        match worst.ruling {
            Ruling::Allow if notice.is_none() => None,
            Ruling::Allow | Ruling::Warn => Some(json!({"systemMessage": reason})),
            Ruling::Reflect => Some(self.with_context(None, &reason)),
            Ruling::Ask | Ruling::Block => Some(block),
            Ruling::Stop => Some(ending(block, &reason)),
        }
    }

    /// Judges the end of a turn. Pending obligations prevent the end once: a turn that continues because of a hook may then
    /// end, and the user is informed of the pending obligations.
    fn stop(
        &self,
        judge: &mut impl Judge,
        memory: &mut Memory,
        decisions: &mut Vec<Decision>,
    ) -> Result<Option<Json>, String> {
        let remembers = self.remember_scheduled(memory);
        // No call of an agent outlives its turn. Older versions do not name the sub-agent that ended; the main agent's calls are
        // then kept.
        if self.hook != "SubagentStop" || self.agent.is_some() {
            end_questions(judge, memory, |owner| owner == self.owner())?;
        }
        // The end of a sub-agent does not end a trace of the main agent.
        let is_main = self.scope == Scope::Session || self.agent.is_none();
        if self.hook == "SubagentStop" && is_main {
            // What is remembered is kept with an input of the monitor.
            if remembers {
                self.ends(judge)?;
            }
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

    /// Gives the main agent a trace of its own when a sub-agent acts for the first time in a session: actions of the sub-agent
    /// count for the session, but the main agent's obligations are judged by its own actions.
    fn split(
        &self,
        judge: &mut impl Judge,
        memory: &mut Memory,
        decisions: &mut Vec<Decision>,
    ) -> Result<(), String> {
        let acts = self.is_outcome() || self.hook == "PreToolUse";
        let is_of_another = self.agent.is_some() || self.is_doubtful;
        let Some(own) = self.own.as_deref().filter(|_| acts && is_of_another) else {
            return Ok(());
        };
        if !judge.has_trace(own) {
            let forked = judge.fork(&self.trace, own)?;
            // What has happened is recorded in the trace of the session in any case.
            if forked.ruling.denies() && !self.is_outcome() {
                return Err(reason_of(&forked));
            }
            memory.split(&forked.copied);
            decisions.push(forked);
        }
        Ok(())
    }

    /// Returns the main agent's own trace, if it exists and the main agent made the call.
    fn own(&self, judge: &impl Judge) -> Option<&str> {
        let own = self.own.as_deref().filter(|_| self.agent.is_none())?;
        judge.has_trace(own).then_some(own)
    }

    /// Returns the decisions on whether the traces of the call may end here.
    fn ends(&self, judge: &mut impl Judge) -> Result<Vec<Decision>, String> {
        let own = self.own(judge);
        let traces = [Some(self.trace.as_str()), own];
        let ends = traces.into_iter().flatten();
        ends.map(|trace| judge.propose_end(trace)).collect()
    }

    /// Judges an action and records it if it is allowed, in the trace of the session and in the main agent's own; the
    /// stricter decision applies. Returns the proposals if a person must decide.
    fn act<J: Judge>(
        &self,
        judge: &mut J,
        event: impl Fn(&J, &str) -> String,
    ) -> Result<(Decision, Option<Asked>), String> {
        let Some(own) = self.own(judge) else {
            let acted = judge.act(&event(judge, &self.trace))?;
            let asked = acted.proposal.filter(|_| acted.ruling == Ruling::Ask);
            let asked = asked.map(|session| Asked {
                session,
                own: None,
                clauses: acted.asking().collect(),
            });
            return Ok((acted, asked));
        };
        let mut decision = judge.propose(&event(judge, &self.trace))?;
        let Some(session) = decision.proposal else {
            return Ok((decision, None));
        };
        let alone = judge.propose(&event(judge, own))?;
        let Some(of_own) = alone.proposal else {
            judge.abandon(session)?;
            return Ok((alone, None));
        };
        decision.join(alone);
        let asked = Asked {
            session,
            own: Some(of_own),
            clauses: decision.asking().collect(),
        };
        if decision.ruling == Ruling::Ask {
            return Ok((decision, Some(asked)));
        }
        let mut done = Vec::new();
        self.commit(judge, &asked, event, &mut done)?;
        done.into_iter().for_each(|done| decision.join(done));
        Ok((decision, None))
    }

    /// Records that an action that a person was asked about has happened. Returns false if the reporter is not allowed
    /// to confirm the person's answer; the action is then recorded as an observation.
    fn commit<J: Judge>(
        &self,
        judge: &mut J,
        asked: &Asked,
        event: impl Fn(&J, &str) -> String,
        decisions: &mut Vec<Decision>,
    ) -> Result<bool, String> {
        let whole = event(judge, &self.trace);
        let mut decision = judge.commit(asked.session, &whole)?;
        let answered = decision.cause != Cause::Forbidden;
        if !answered {
            for proposal in asked.proposals() {
                judge.abandon(proposal)?;
            }
            decision = judge.observe(&whole)?;
        }
        decisions.push(decision);
        // Whichever agent the outcome names, the question is over in both traces.
        let proposal = asked.own.filter(|_| answered);
        if self.is_doubtful {
            proposal.map_or(Ok(()), |proposal| judge.abandon(proposal).map(drop))?;
            return Ok(answered);
        }
        let own = match proposal {
            Some(_) => self.own.as_deref(),
            None => self.own(judge),
        };
        if let Some(own) = own {
            let event = event(judge, own);
            decisions.push(match proposal {
                Some(proposal) => judge.commit(proposal, &event)?,
                // The main agent's own trace was created while the person was being asked.
                None => judge.observe(&event)?,
            });
        }
        Ok(answered)
    }

    /// Records what has happened. If the monitor cannot read the event, its parts are recorded as unknown. In the main agent's own trace
    /// there is nothing that another agent may have done: it would fulfil the main agent's conditions.
    fn happened<J: Judge>(
        &self,
        judge: &mut J,
        event: impl Fn(&Call, &J, &str, bool) -> String,
        decisions: &mut Vec<Decision>,
    ) -> Result<(), String> {
        let own = self.own(judge).filter(|_| !self.is_doubtful);
        for trace in [Some(self.trace.as_str()), own].into_iter().flatten() {
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

    /// Returns the identity of a call: a hash of the session and of its id, or of its content if it has no id.
    fn key(&self) -> String {
        // An outcome that is recorded later contains the identity of its call.
        if let Some(key) = self.outline.text(KEY) {
            return key;
        }
        match self.id() {
            Some(id) => self.key_of(id.as_bytes()),
            None => self.key_of(self.content().as_bytes()),
        }
    }

    /// Returns the id of the call, as JSON.
    fn id(&self) -> Option<&str> {
        self.outline.raw("tool_use_id").filter(|id| *id != "null")
    }

    /// Returns the identity of the call of this session with an id, as JSON.
    fn key_of(&self, id: &[u8]) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.session.as_bytes()).update(&[0]);
        hasher.update(id);
        short_hash(&hasher.finalize())
    }

    /// Returns a hash of the tool and its arguments that does not depend on their notation, unless that is all there is: values beyond
    /// all numbers, half a surrogate pair. Arguments that the user fills in are left out.
    fn content(&self) -> String {
        if let Some(content) = self.outline.text(CONTENT) {
            return content;
        }
        let tool = self.outline.text("tool_name").unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        for key in ["tool_name", "tool_input"] {
            let written = self.outline.raw(key).unwrap_or_default();
            match serde_json::from_str::<Json>(self.known(key)) {
                Ok(mut value) => {
                    if let Some(members) = value.as_object_mut() {
                        members.retain(|argument, _| !is_filled_in(&tool, argument));
                    }
                    hasher.update(b"value").update(value.to_string().as_bytes())
                }
                Err(_) => hasher.update(b"text").update(written.as_bytes()),
            };
            hasher.update(&[0]);
        }
        short_hash(&hasher.finalize())
    }

    /// Returns the agent that made the call, as `session/agent`.
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
}

/// Returns whether a decision about an outcome asks only what a person has already answered by allowing the call: a
/// lasting clause asks again. `asked` are the clauses that asked.
fn allowed_by_person(asked: &[usize], decision: &Decision) -> bool {
    let mut fired = decision.clauses.iter();
    decision.ruling == Ruling::Ask
        && decision.errors.is_empty()
        // it asks about another call
        && decision.refused.is_none()
        && fired.all(|fired| asked.contains(&fired.clause))
}

/// Adds a message for the user to an answer.
pub fn with_note(answer: Option<Json>, note: &str) -> Json {
    let mut answer = answer.unwrap_or_else(|| json!({}));
    if let Some(members) = answer.as_object_mut() {
        let said = members.get("systemMessage").and_then(Json::as_str);
        let said = said.map_or_else(|| note.to_owned(), |said| format!("{said}; {note}"));
        members.insert("systemMessage".to_owned(), Json::from(said));
    }
    answer
}

fn ending(mut answer: Json, reason: &str) -> Json {
    if let Some(members) = answer.as_object_mut() {
        members.insert("continue".to_owned(), Json::from(false));
        members.insert("stopReason".to_owned(), Json::from(reason));
    }
    answer
}

/// Returns the answer of a hook that could not judge, for callers that ignore the exit code: a denial if the hook
/// decides, otherwise a message.
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
