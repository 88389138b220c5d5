//! Lists of chat messages: telling messages, and finding the list in a record that wraps it, and what stands beside it.

use std::borrow::Cow;

use super::ItemPlace;
use super::event::canonical_role;
use super::json_text::{self, Refusal};
use super::pydantic_ai;
use super::shape::{
    at, first, get, is_object, items, kind, list, object, says_nothing, some, text, without,
};
use super::trace::Out;
use super::units::{Record, are_items};
use crate::problem::ProblemKind;
use crate::value::Value;

/// Names under which records usually wrap their list of messages, best first.
const USUAL: [&str; 11] = [
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
    "contents",
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
    /// JSON pointers to the lists that were reported as losses.
    pub(super) reported: Vec<String>,
}

impl Found<'_> {
    /// Returns the record without the list.
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
    if text(value, "role").is_none() {
        return pydantic_ai::is_message(value);
    }
    [
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

/// Returns the list of items in a record, by its shape: a member (or a member of a member) that is a list of them. Usual
/// names come first, then the longest list; a usual name with an empty list is accepted. The others are reported as losses.
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
                reported: Vec::new(),
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
                        reported: Vec::new(),
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
                reported: Vec::new(),
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
    let mut chosen = found.next()?;
    for other in found {
        let what = format!(
            "messages of the list at {} (the list at {} was read)",
            other.pointer, chosen.pointer
        );
        let place = ItemPlace {
            line: record.line,
            index: None,
        };
        out.lose_parts(what, other.items.len() as u64, place);
        chosen.reported.push(other.pointer);
    }
    Some(chosen)
}

pub(super) fn pointer(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1")))
        .collect()
}

/// Returns the content blocks of a message: the typed `parts` of the AI SDK's interface, a list `content`, or a `content`
/// that is one block.
pub(super) fn blocks(message: &Value) -> Option<&[Value]> {
    let typed = |parts: &&[Value]| parts.iter().any(|part| kind(part).is_some());
    if let Some(parts) = list(message, "parts").filter(typed) {
        return Some(parts);
    }
    match get(message, "content")? {
        Value::List(blocks) => Some(blocks),
        block @ Value::Object(_) if is_block(block) => Some(std::slice::from_ref(block)),
        _ => None,
    }
}

/// Whether a message holds blocks that OpenAI has not: calls, results, thinking of Anthropic, of Bedrock's Converse API or
/// of the AI SDK.
pub(super) fn has_blocks(message: &Value) -> bool {
    blocks(message).is_some_and(|blocks| blocks.iter().any(is_block))
        || list(message, "toolInvocations").is_some_and(|calls| !calls.is_empty())
}

fn is_block(block: &Value) -> bool {
    match kind(block) {
        Some(kind) => {
            kind.ends_with("tool_use")
                || kind.ends_with("tool_result")
                || kind.starts_with("tool-")
                || matches!(kind, "thinking" | "redacted_thinking" | "dynamic-tool")
        }
        None => get(block, "toolUse").is_some() || get(block, "toolResult").is_some(),
    }
}

/// Members of a message that hold its calls.
const CALLS: [&str; 5] = [
    "tool_calls",
    "toolCalls",
    "tool_call",
    "toolCall",
    "function_call",
];

/// Returns the calls of a message in OpenAI's format: a list, one call, or the JSON text of either, as exports of tables
/// write it. Anything else is a refusal.
pub(super) fn calls(message: &Value) -> Vec<Result<Cow<'_, Value>, Refusal>> {
    let mut calls = Vec::new();
    for key in CALLS {
        let Some(recorded) = get(message, key) else {
            continue;
        };
        let read = match recorded {
            Value::String(text) if text.trim().is_empty() => continue,
            Value::String(text) => match json_text::parse(text) {
                Ok(read) => Cow::Owned(read),
                Err(refusal) => {
                    calls.push(Err(refusal));
                    continue;
                }
            },
            other => Cow::Borrowed(other),
        };
        match read {
            Cow::Borrowed(Value::List(several)) => {
                calls.extend(several.iter().map(|call| Ok(Cow::Borrowed(call))));
            }
            Cow::Owned(Value::List(several)) => {
                calls.extend(several.iter().map(|call| Ok(Cow::Owned(call.clone()))));
            }
            one if says_nothing(Some(&one)) || *one == Value::Bool(false) => {}
            one if is_object(&one) => {
                if one.as_ref() != &object(Vec::new()) {
                    calls.push(Ok(one));
                }
            }
            _ => calls.push(Err(Refusal {
                kind: ProblemKind::WrongType,
                message: format!("expected a list of calls or a call at `{key}`"),
            })),
        }
    }
    calls
}

/// Whether a value says how many calls there were, as the usage of a message does: `{"tool_calls": 3}`.
pub(super) fn counts_calls(value: &Value) -> bool {
    let is_number = |key: &&str| matches!(get(value, key), Some(Value::Number(_)));
    CALLS.iter().any(is_number)
}

/// Whether a message makes calls in OpenAI's way.
pub(super) fn makes_calls(message: &Value) -> bool {
    !calls(message).is_empty()
}

/// The one answer that stands beside the messages of a request, or alone.
#[derive(Clone, Debug)]
pub(super) struct Answer<'a> {
    /// JSON pointer to the part of the record that is read.
    pub(super) pointer: String,
    /// The message; its role is the assistant's if it names none.
    pub(super) message: Cow<'a, Value>,
    /// Choices beside the first.
    pub(super) others: u64,
}

/// Members below which a record keeps the answer.
const ANSWERS: [&str; 8] = [
    "response",
    "output",
    "outputs",
    "completion",
    "result",
    "answer",
    "reply",
    "body",
];

/// The greatest nesting of answers, as in `response.body.choices`.
const ANSWER_DEPTH: usize = 3;

/// Finds the answer of a record: the first of its `choices` or `candidates`, its `message`, or what stands below a member
/// such as `response`.
pub(super) fn answer(record: &Value) -> Option<Answer<'_>> {
    answer_below(record, &[])
}

fn answer_below<'a>(value: &'a Value, path: &[&str]) -> Option<Answer<'a>> {
    let below = |key| pointer(&[path, &[key]].concat());
    for (several, inner) in [("choices", "message"), ("candidates", "content")] {
        if let Some((first, others)) = list(value, several).and_then(<[Value]>::split_first)
            && let Some(message) = get(first, inner).filter(|message| is_object(message))
        {
            return Some(Answer {
                pointer: below(several),
                message: with_role(message),
                others: others.len() as u64,
            });
        }
    }
    let one = |key, message| Answer {
        pointer: below(key),
        message: with_role(message),
        others: 0,
    };
    if let Some(message) = get(value, "message").filter(|message| is_answer(message)) {
        return Some(one("message", message));
    }
    ANSWERS.iter().find_map(|key| {
        let inner = get(value, key).filter(|inner| is_object(inner))?;
        if is_answer(inner) {
            return Some(one(key, inner));
        }
        (path.len() < ANSWER_DEPTH)
            .then(|| answer_below(inner, &[path, &[*key]].concat()))
            .flatten()
    })
}

fn is_answer(value: &Value) -> bool {
    match text(value, "role") {
        Some(role) => canonical_role(role) == "assistant" && is_message(value),
        None => kind(value) == Some("message") && get(value, "content").is_some(),
    }
}

fn with_role(message: &Value) -> Cow<'_, Value> {
    match message {
        Value::Object(members) if text(message, "role").is_none() => {
            let named = members.iter().filter(|(name, _)| *name != "role");
            let mut members: Vec<_> = named
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            members.push(("role".into(), Value::string("assistant")));
            Cow::Owned(object(members))
        }
        _ => Cow::Borrowed(message),
    }
}

/// Whether one of these has the same text and calls as the message.
pub(super) fn repeats(messages: &[Value], message: &Value) -> bool {
    let said = |message: &Value| {
        let all = ["content", "parts"].iter().chain(&CALLS);
        all.map(|key| some(message, key).cloned())
            .collect::<Vec<_>>()
    };
    let last = messages.last();
    last.is_some_and(|last| {
        text(last, "role") == text(message, "role") && said(last) == said(message)
    })
}

/// Whether a value is something said or done: a message, or a call in the shape of any interface.
pub(super) fn speaks(value: &Value) -> bool {
    is_object(value) && (is_message(value) || is_call(value))
}

/// Whether a value is a call, or holds calls.
pub(super) fn is_call(value: &Value) -> bool {
    is_object(value) && (makes_calls(value) || is_one_call(value))
}

/// Whether a value is a call in itself, in the shape of any interface.
fn is_one_call(value: &Value) -> bool {
    at(value, &["function", "arguments"]).is_some()
        || ["functionCall", "toolUse", "toolInvocation"]
            .iter()
            .any(|key| get(value, key).is_some_and(is_object))
        || list(value, "toolInvocations").is_some_and(|calls| !calls.is_empty())
        || get(value, "toolCallId").is_some()
        || kind(value).is_some_and(|kind| {
            kind.ends_with("tool_use")
                || kind == "tool-call"
                || kind == "tool_call"
                || (kind.ends_with("_call") && get(value, "call_id").is_some())
        })
}

/// Members that name the tool of a call.
pub(super) const NAMES: [&str; 6] = [
    "name",
    "tool",
    "tool_name",
    "toolName",
    "function_name",
    "function",
];

/// Members that hold the arguments of a call, whatever they are.
pub(super) const ARGUMENTS: [&str; 6] = [
    "arguments",
    "args",
    "tool_args",
    "tool_input",
    "input",
    "parameters",
];

/// Whether a value has the shape of a call under any name, as it is found where an agent speaks: something named, with arguments, or of
/// the type of a hosted tool. Elsewhere it may be a task or an expectation.
pub(super) fn resembles_call(value: &Value) -> bool {
    let has_arguments =
        || first(value, &ARGUMENTS[..4]).is_some() || get(value, "input").is_some_and(is_object);
    is_object(value)
        && (is_one_call(value)
            || text(value, "method") == Some("tools/call")
            || kind(value).is_some_and(|kind| kind.ends_with("_call"))
            || first(value, &NAMES).is_some() && has_arguments())
}

/// Whether the message itself would say nothing beside its calls.
pub(super) fn is_silent(message: &Value) -> bool {
    says_nothing(get(message, "content"))
}

/// Returns the records of a file that wraps them: a member that is a list of objects, one of which has a list of messages.
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
