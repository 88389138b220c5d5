//! Lists of chat messages: telling messages, and finding the list in a record that wraps it.

use super::Place;
use super::shape::{get, is_object, items, kind, list, says_nothing, text};
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
    pub(super) member: &'a str,
    pub(super) items: &'a [Value],
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

/// Whether a content list holds Anthropic blocks that OpenAI has not: calls, results, thinking.
pub(super) fn has_blocks(message: &Value) -> bool {
    list(message, "content").is_some_and(|parts| {
        parts.iter().any(|part| {
            kind(part).is_some_and(|kind| {
                kind.ends_with("tool_use")
                    || kind.ends_with("tool_result")
                    || kind == "thinking"
                    || kind == "redacted_thinking"
            })
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
