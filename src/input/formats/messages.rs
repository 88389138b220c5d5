//! Lists of chat messages: telling messages, and finding the list in a record that wraps it.

use super::Place;
use super::shape::{get, is_object, items, kind, list, object, says_nothing, text, without};
use super::trace::Out;
use super::units::{Record, are_items};
use crate::value::Value;

/// Names under which records usually wrap their list of messages, best first.
const USUAL: [&str; 10] = [
    "messages",
    "traj",
    "conversations",
    "conversation",
    "trajectory",
    "history",
    "chat",
    "dialog",
    "dialogue",
    "turns",
];

/// A list found in a record.
#[derive(Clone, Debug)]
pub(super) struct Found<'a> {
    /// JSON pointer to it.
    pub(super) pointer: String,
    /// The member of the record below which it lies.
    member: &'a str,
    /// The member of that member, where the list lies one level down.
    below: Option<&'a str>,
    pub(super) items: &'a [Value],
}

impl Found<'_> {
    /// The record without the list.
    pub(super) fn facts(&self, record: &Value) -> Value {
        let (Some(below), Value::Object(members)) = (self.below, record) else {
            return without(record, &[self.member]);
        };
        object(
            members
                .iter()
                .map(|(name, value)| match name == self.member {
                    true => (name.clone(), without(value, &[below])),
                    false => (name.clone(), value.clone()),
                })
                .collect(),
        )
    }
}

/// Whether a value is a chat message: an object with a role and something said or called.
pub(super) fn is_message(value: &Value) -> bool {
    text(value, "role").is_some()
        && [
            "content",
            "tool_calls",
            "function_call",
            "tool_call_id",
            "parts",
            "refusal",
            "reasoning_content",
        ]
        .iter()
        .any(|key| get(value, key).is_some())
}

/// The list of items in a record, by its shape: a member (or a member of a member) that is a list of them. Usual names
/// come first, then the longest list; a usual name with an empty list will do. The others are told as losses.
pub(super) fn find_list<'a>(
    record: &Record<'a>,
    is_item: fn(&Value) -> bool,
    out: &mut Out,
) -> Option<Found<'a>> {
    let Value::Object(members) = record.value else {
        return None;
    };
    let mut found: Vec<Found<'a>> = Vec::new();
    for (name, value) in members.iter() {
        if let Some(items) = items(value)
            && are_items(items.iter(), is_item)
        {
            found.push(Found {
                pointer: pointer(&[name]),
                member: name,
                below: None,
                items,
            });
        }
    }
    if found.is_empty() {
        for (name, value) in members.iter() {
            let Value::Object(inner) = value else {
                continue;
            };
            for (below, value) in inner.iter() {
                if let Some(items) = items(value)
                    && are_items(items.iter(), is_item)
                {
                    found.push(Found {
                        pointer: pointer(&[name, below]),
                        member: name,
                        below: Some(below),
                        items,
                    });
                }
            }
        }
    }
    if found.is_empty() {
        return USUAL.iter().find_map(|name| {
            let (member, value) = members.iter().find(|(member, _)| member == name)?;
            let items = items(value).filter(|items| items.is_empty())?;
            Some(Found {
                pointer: pointer(&[name]),
                member,
                below: None,
                items,
            })
        });
    }
    let rank = |found: &Found<'_>| {
        USUAL
            .iter()
            .position(|usual| found.pointer.ends_with(&format!("/{usual}")))
            .unwrap_or(USUAL.len())
    };
    found.sort_by(|lhs, rhs| {
        rank(lhs)
            .cmp(&rank(rhs))
            .then(rhs.items.len().cmp(&lhs.items.len()))
    });
    let mut found = found.into_iter();
    let chosen = found.next()?;
    for other in found {
        let what = format!(
            "messages of the list at {} (the list at {} is read)",
            other.pointer, chosen.pointer
        );
        let place = Place {
            line: record.line,
            index: None,
        };
        out.lose_parts(what, other.items.len() as u64, place);
    }
    Some(chosen)
}

fn pointer(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1")))
        .collect()
}

/// Whether a content list holds blocks that OpenAI has not: calls, results, thinking of Anthropic, of Bedrock's Converse
/// API or of the AI SDK.
pub(super) fn has_blocks(message: &Value) -> bool {
    list(message, "content").is_some_and(|parts| {
        parts.iter().any(|part| match kind(part) {
            Some(kind) => {
                kind.ends_with("tool_use")
                    || kind.ends_with("tool_result")
                    || matches!(
                        kind,
                        "thinking" | "redacted_thinking" | "tool-call" | "tool-result"
                    )
            }
            None => get(part, "toolUse").is_some() || get(part, "toolResult").is_some(),
        })
    })
}

/// Whether a message makes calls in OpenAI's way.
pub(super) fn makes_calls(message: &Value) -> bool {
    list(message, "tool_calls").is_some_and(|calls| !calls.is_empty())
        || get(message, "function_call").is_some_and(is_object)
}

/// Whether the message itself would say nothing beside its calls.
pub(super) fn is_silent(message: &Value) -> bool {
    says_nothing(get(message, "content"))
}

/// The records of a file that wraps them: a member that is a list of objects, one of which has a list of messages.
pub(super) fn nested_records(value: &Value) -> Option<(&str, &[Value])> {
    let Value::Object(members) = value else {
        return None;
    };
    members.iter().find_map(|(name, member)| {
        let records = items(member)?;
        let wraps = |record: &Value| match record {
            Value::Object(inner) => inner.iter().any(|(_, member)| {
                items(member).is_some_and(|items| are_items(items.iter(), is_message))
            }),
            _ => false,
        };
        records
            .iter()
            .any(wraps)
            .then_some((name.as_str(), records))
    })
}
