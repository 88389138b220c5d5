//! Requests that wait for answers, and what their answers are about.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::message::{self, DENIED, Object, Outcome};

/// A request that was passed on.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// The id that it was asked with, as written.
    pub(super) id: String,
    pub(super) method: String,
    pub(super) call: Arc<Call>,
    /// The token of its progress, as written.
    pub(super) progress: Option<String>,
    /// Whether its answer may be a question or say its type.
    pub(super) typed: bool,
    /// Whether its answer may be a task.
    pub(super) task: bool,
    /// The parameters that a further attempt must have.
    pub(super) params: blake3::Hash,
}

/// The call that an answer answers, for its event.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) tool: String,
    /// JSON.
    pub(super) args: String,
    /// The id of the call in the trace: that of the first attempt. `None` for a message that is not a request.
    pub(super) id: Option<String>,
}

/// A call for which the server requested input.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) params: blake3::Hash,
    pub(super) call: Arc<Call>,
}

impl Asked {
    /// Returns the answer to a denied request: to a tool call, a result that a model can read and act on.
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
    /// The id of the call, if it is of one.
    pub(super) id: Option<&'c str>,
}

impl<'c> About<'c> {
    /// A message that is no call: its method stands for the tool.
    pub(super) fn message(method: &'c str, params: Option<&'c str>) -> About<'c> {
        About {
            tool: method,
            args: params.unwrap_or("{}"),
            id: None,
        }
    }
}

impl Call {
    /// A message that is no call, without its parameters.
    pub(super) fn of_message(method: &str) -> Call {
        Call {
            tool: method.to_owned(),
            args: "{}".to_owned(),
            id: None,
        }
    }

    pub(super) fn about(&self) -> About<'_> {
        About {
            tool: &self.tool,
            args: &self.args,
            id: self.id.as_deref(),
        }
    }

    /// The call without its id: something said about it that is not its result.
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

/// Returns a hash of all parameters of a request except those that a further attempt may change.
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

pub(super) fn hash_of(parts: &[&str]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&part.len().to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize()
}

/// Returns the key of an object that the server named, by its value.
pub(super) fn hashed(name: &str) -> String {
    hash_of(&[&message::id_key(name)]).to_string()
}
