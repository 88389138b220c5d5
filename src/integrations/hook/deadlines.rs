//! Decisions on deadlines that passed before a call, as part of its answer: a deadline has no call of its own.

use serde_json::{Value as Json, json};

use super::{Call, Decision, Ruling, reason_of, with_note};

/// The hooks whose answers the agent reads.
const TOLD_TO_THE_AGENT: [&str; 5] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "SessionStart",
];

impl Call {
    /// Returns the traces in which the call may count.
    pub fn traces(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.trace.as_str()).chain(self.own.as_deref())
    }

    /// Adds a decision on a deadline to an answer: the agent reads what `reflect` says, and the user what `warn` says. What denies does
    /// so at the next action.
    pub fn with_deadline(&self, mut answer: Option<Json>, decision: &Decision) -> Option<Json> {
        let is_read = TOLD_TO_THE_AGENT.contains(&self.hook.as_str());
        for ruling in [Ruling::Reflect, Ruling::Warn] {
            let Some(part) = decision.part(ruling) else {
                continue;
            };
            let reason = reason_of(&part);
            answer = Some(match ruling {
                Ruling::Reflect if is_read => self.with_context(answer, &reason),
                _ => with_note(answer, &reason),
            });
        }
        answer
    }

    /// Adds a text for the agent to an answer.
    pub(super) fn with_context(&self, answer: Option<Json>, text: &str) -> Json {
        let mut answer = answer.unwrap_or_else(|| json!({}));
        let output = &mut answer["hookSpecificOutput"];
        let said = output["additionalContext"].as_str();
        let said = said.map_or_else(|| text.to_owned(), |said| format!("{said}\n{text}"));
        output["hookEventName"] = Json::from(self.hook.as_str());
        output["additionalContext"] = Json::from(said);
        answer
    }
}
