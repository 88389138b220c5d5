//! Looking into values whose shape is not known.

use smol_str::SmolStr;

use super::json_text;
use crate::value::{Object, Text, Value};

/// Returns a text known at compile time.
pub(super) fn string(text: &'static str) -> Value {
    Value::String(SmolStr::new_static(text).into())
}

/// Returns an object; of members with one name the first counts, but callers give distinct names.
pub(super) fn object(members: Vec<(SmolStr, Value)>) -> Value {
    let built = Object::new(members).unwrap_or_default();
    Value::Object(built)
}

/// Returns the member of an object.
pub(super) fn get<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Object(object) => object.get(key),
        _ => None,
    }
}

/// Returns the member of an object, unless it is null.
pub(super) fn some<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    get(value, key).filter(|member| !member.is_null())
}

/// Returns the first of these members that is there and not null.
pub(super) fn first<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().find_map(|key| some(value, key))
}

/// Returns the member below a member.
pub(super) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| get(value, key))
}

/// Returns the member, where it is a text.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    get(value, key).and_then(Value::as_str)
}

/// Returns the member, where it is a list.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> Option<&'a [Value]> {
    get(value, key).and_then(items)
}

/// Returns the elements of a list.
pub(super) fn items(value: &Value) -> Option<&[Value]> {
    match value {
        Value::List(items) => Some(items),
        _ => None,
    }
}

/// Returns the member, where it is a Boolean.
pub(super) fn flag(value: &Value, key: &str) -> Option<bool> {
    match get(value, key) {
        Some(Value::Bool(flag)) => Some(*flag),
        _ => None,
    }
}

/// Whether the value is an object.
pub(super) fn is_object(value: &Value) -> bool {
    matches!(value, Value::Object(_))
}

/// Returns the `type` of an object.
pub(super) fn kind(value: &Value) -> Option<&str> {
    text(value, "type")
}

/// Returns an identifier: a text that is not empty, or a number as its digits.
pub(super) fn id(value: Option<&Value>) -> Option<SmolStr> {
    match value? {
        Value::String(text) if !text.is_empty() => Some(text.to_smol()),
        Value::Number(number) => Some(SmolStr::new(number.to_string())),
        _ => None,
    }
}

/// Returns the members of an object, but for some.
pub(super) fn without(value: &Value, left_out: &[&str]) -> Value {
    match value {
        Value::Object(members) => object(
            members
                .iter()
                .filter(|(key, _)| !left_out.contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        ),
        _ => object(Vec::new()),
    }
}

/// Returns the text in message content, joined by newlines: null if it has none, absent if the shape is not known.
pub(super) fn content_text(content: Option<&Value>) -> Option<Value> {
    match content? {
        Value::Null => Some(Value::Null),
        Value::String(text) => Some(Value::String(text.clone())),
        Value::List(parts) => Some(join(parts.iter().filter_map(part_text).cloned())),
        object @ Value::Object(_) => match first(object, &["parts", "content", "text", "output"]) {
            Some(inner @ (Value::List(_) | Value::String(_))) => content_text(Some(inner)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the text of one part of message content.
pub(super) fn part_text(part: &Value) -> Option<&Text> {
    match part {
        Value::String(text) => Some(text),
        Value::Object(_) => ["text", "content"]
            .iter()
            .find_map(|key| said(get(part, key)?)),
        _ => None,
    }
}

/// Returns the text of a value that is one, as it is kept: a clone of it costs nothing.
pub(super) fn said(value: &Value) -> Option<&Text> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Joins texts by newlines; null if there are none.
pub(super) fn join<T: AsRef<str> + Into<Text>>(mut texts: impl Iterator<Item = T>) -> Value {
    let Some(first) = texts.next() else {
        return Value::Null;
    };
    let Some(second) = texts.next() else {
        return Value::String(first.into());
    };
    let mut joined = format!("{}\n{}", first.as_ref(), second.as_ref());
    for text in texts {
        joined.push('\n');
        joined.push_str(text.as_ref());
    }
    Value::string(joined)
}

/// Whether message content is empty: absent, null, an empty text or an empty list.
pub(super) fn says_nothing(content: Option<&Value>) -> bool {
    match content {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::List(parts)) => parts.is_empty(),
        Some(_) => false,
    }
}

/// Returns a text that holds a JSON object or list is read; anything else stays as it is.
pub(super) fn unpack(value: &Value) -> Value {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            json_text::parse(text).unwrap_or_else(|_| value.clone())
        }
        other => other.clone(),
    }
}

/// Whether the value of an `error` member is an error: not null, not false, not empty.
pub(super) fn is_error(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::List(items) => !items.is_empty(),
        Value::Object(object) => !object.is_empty(),
        _ => true,
    }
}

/// The name that reports give to values of which [`is_streamed`] holds.
pub(super) const STREAMED: &str = "a part of a streamed answer, of which only the whole is read";

/// Returns whether a value is a part of an answer that a server sent piece by piece: an event of the stream of OpenAI's or Anthropic's
/// messages or of OpenAI's responses, but for those that hold the whole response.
pub(super) fn is_streamed(value: &Value) -> bool {
    if text(value, "object") == Some("chat.completion.chunk") {
        return true;
    }
    match kind(value) {
        Some("message_start" | "message_delta" | "message_stop") => true,
        Some("content_block_start" | "content_block_delta" | "content_block_stop") => true,
        Some(kind) => kind.strip_prefix("response.").is_some_and(|event| {
            !matches!(event, "completed" | "incomplete" | "failed" | "cancelled")
        }),
        None => false,
    }
}
