//! Requests that wait for answers, and the calls that the answers belong to.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::message::{self, DENIED, Object, Outcome};

/// A forwarded request.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// The original id, as written.
    pub(super) id: String,
    pub(super) method: String,
    /// Whether a result is what the user said.
    pub(super) of_user: bool,
    pub(super) call: Arc<Call>,
    /// The progress token, in one notation.
    pub(super) progress: Option<String>,
    /// Whether the answer may request input or state its type.
    pub(super) typed: bool,
    /// Whether the answer may be a task.
    pub(super) task: bool,
    /// The number of the task about which it asks (`tasks/get`, `tasks/result`), if that is in the table.
    pub(super) of_task: Option<u64>,
    /// A hash of the parameters that a further attempt must repeat.
    pub(super) params: blake3::Hash,
}

/// The call that an answer belongs to, for its event.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) tool: String,
    /// The arguments, as JSON.
    pub(super) args: String,
    /// The name of the call in the trace: that of the first attempt. `None` for a message that is not a request.
    pub(super) id: Option<String>,
    /// Whether the members above are those of the call: not for the result of a task that is not in the table of tasks.
    pub(super) is_known: bool,
}

/// A call that became a task.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) call: Arc<Call>,
    /// The progress token of the request, which is valid as long as the task runs.
    pub(super) progress: Option<String>,
    /// Whether messages about the task contain its outcome (`tasks/get` instead of `tasks/result`).
    pub(super) typed: bool,
    /// The outcome of the call that is recorded.
    pub(super) outcome: Option<Failed>,
}

/// Whether a request failed; `None` if that is unknown.
pub(super) type Failed = Option<bool>;

/// A call for which the server requested input.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) params: blake3::Hash,
    /// Whether the server sent a state, which a further attempt must repeat.
    pub(super) has_state: bool,
    pub(super) call: Arc<Call>,
}

impl Asked {
    /// Returns the answer to a denied request; for a tool call, a result that a model can read.
    pub(super) fn denial(&self, reason: &str) -> String {
        if !matches!(self.method.as_str(), "tools/call" | "tasks/result") || self.task {
            return message::error(&self.id, DENIED, reason);
        }
        let mut result = json!({"content": [{"type": "text", "text": reason}], "isError": true});
        if let (true, Some(members)) = (self.typed, result.as_object_mut()) {
            members.insert("resultType".to_owned(), Json::from("complete"));
        }
        message::answer(&self.id, Outcome::Result(&result.to_string()))
    }

    pub(super) fn size(&self) -> usize {
        let token = self.progress.as_ref().map_or(0, String::len);
        size_of::<Asked>() + self.id.len() + self.method.len() + token + self.call.size()
    }
}

/// The subject of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct About<'c> {
    pub(super) tool: &'c str,
    pub(super) args: &'c str,
    /// The id of the call, if the message belongs to one.
    pub(super) id: Option<&'c str>,
    /// Whether the members above are known.
    pub(super) is_known: bool,
}

impl<'c> About<'c> {
    /// Returns the subject of a message that is not a call: its method takes the place of the tool.
    pub(super) fn message(method: &'c str, params: Option<&'c str>) -> About<'c> {
        About {
            tool: method,
            args: params.unwrap_or("{}"),
            id: None,
            is_known: true,
        }
    }

    /// Returns the subject of the result of a task that a message contains which is not the answer of `tasks/result`: some call.
    pub(super) fn unknown(self) -> About<'c> {
        About {
            id: Some(""),
            is_known: false,
            ..self
        }
    }
}

impl Call {
    /// Returns a message that is not a call, without its parameters.
    pub(super) fn of_message(method: &str) -> Call {
        Call {
            tool: method.to_owned(),
            args: "{}".to_owned(),
            id: None,
            is_known: true,
        }
    }

    pub(super) fn about(&self) -> About<'_> {
        About {
            tool: &self.tool,
            args: &self.args,
            id: self.id.as_deref(),
            is_known: self.is_known,
        }
    }

    /// Returns the call without its id, for a message about it that is not its outcome.
    pub(super) fn part(&self) -> About<'_> {
        About {
            id: None,
            ..self.about()
        }
    }

    pub(super) fn size(&self) -> usize {
        size_of::<Call>()
            + self.tool.len()
            + self.args.len()
            + self.id.as_ref().map_or(0, String::len)
    }
}

/// Returns a hash of all parameters of a request that a further attempt must not change.
pub(super) fn comparable(method: &str, params: &Object<'_>) -> blake3::Hash {
    let mut parts = vec![method];
    let mut members: Vec<(&str, &str)> = params
        .iter()
        .filter(|(key, _)| !["_meta", "inputResponses", "requestState"].contains(key))
        .collect();
    members.sort_unstable();
    parts.extend(members.iter().flat_map(|(key, value)| [*key, *value]));
    hash_of(&parts)
}

/// Returns the state of a question, or of an attempt that answers it.
pub(super) fn state_of<'m>(members: &Object<'m>) -> Option<&'m str> {
    members.raw("requestState").filter(|state| *state != "null")
}

pub(super) fn hash_of(parts: &[&str]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&part.len().to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize()
}

/// Returns the key of an object that the server named; equal for all notations of the name.
pub(super) fn hashed(name: &str) -> String {
    hash_of(&[&message::id_key(name)]).to_string()
}
