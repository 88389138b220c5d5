//! Outcomes that are recorded later, or of which nothing is known.

use serde_json::Value as Json;

use super::Call;
use super::names::{decides, matters};
use crate::monitor::lenient::{Outline, UNREAD};

/// The longest member kept from an outcome that could not be judged, in bytes.
const MOST_KEPT: usize = 64 * 1024;

/// The member that identifies the call of an outcome that is recorded later; empty for one of any call.
pub(super) const KEY: &str = "guard_call";

/// The member that identifies what ran, in an outcome that is recorded later.
pub(super) const CONTENT: &str = "guard_content";

impl Call {
    /// Whether the input is a damaged end of a turn, of which the rest may be an outcome.
    pub fn may_hide_outcome(&self) -> bool {
        let is_end = matters(&self.hook) && !decides(&self.hook);
        is_end && (self.outline.is_changed() || self.is_doubtful)
    }

    /// Returns the outcome as one that may be of another agent, and of any call.
    ///
    /// # Errors
    /// Those of [`Outline::read`].
    pub fn of_anybody(&self) -> Result<Call, String> {
        let session = Json::from(self.session.as_str());
        let agent = Json::from(self.agent.as_deref());
        let text = format!(
            "{{\"hook_event_name\":\"PostToolUse\",\"session_id\":{session},\"{KEY}\":\"\",\"agent_id\":{agent},\"tool_use_id\":{UNREAD}}}"
        );
        let outline = Outline::read(text.into_bytes())?;
        Ok(Call::of(outline, self.scope)?)
    }

    /// Returns an outcome reduced to the members that identify its call. It is recorded if the outcome itself could not
    /// be judged.
    pub fn unread(&self) -> String {
        let short = |key: &str| match self.outline.raw(key) {
            Some(value) if value.len() <= MOST_KEPT && !self.outline.is_ambiguous(key) => value,
            _ => UNREAD,
        };
        let outcome = match self.hook.as_str() {
            "PostToolUse" => "tool_response",
            _ => "error",
        };
        let (key, content) = (Json::from(self.key()), Json::from(self.content()));
        let mut text = format!(
            "{{\"hook_event_name\":{},\"session_id\":{},\"{KEY}\":{key},\"{CONTENT}\":{content},\"tool_name\":{},\"tool_input\":{},\"{outcome}\":{UNREAD}",
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
}
