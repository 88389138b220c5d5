//! Event streams of hosted Anthropic agent sessions: one event per line, bare or as `[method, value]` of the client's log.
//!
//! What the client sent comes back in the stream, so only the stream is read: positions are those among its events.

use smol_str::SmolStr;

use super::event::Draft;
use super::shape::{content_text, first, flag, get, id, is_object, kind, object, some, text};
use super::trace::{Out, Trace};
use super::units::{Item, flat};
use super::unread;
use super::{Input, ItemPlace};
use crate::value::Value;

pub(super) fn read(input: &Input<'_>, out: &mut Out) {
    let lines = match input {
        // A single `[method, value]` is not a list of two events.
        Input::Document { value, line, .. } if method(value).is_some() => {
            vec![Item { value, line: *line }]
        }
        Input::Lines([(line, value)]) if method(value).is_some() => vec![Item {
            value,
            line: Some(*line),
        }],
        input => flat(input, &["events", "data"]),
    };
    let known = |line: &&Item<'_>| method(line.value).is_some() || is_event(line.value);
    let begin = lines.iter().find(known);
    let mut trace = out.trace(None, 0, begin.and_then(|begin| begin.line));
    let mut meta: Vec<(SmolStr, Value)> = Vec::new();
    let mut index = 0;
    for line in &lines {
        let place = ItemPlace {
            line: line.line,
            index: None,
        };
        let event = match method(line.value) {
            Some((method, value)) if method.ends_with(".stream") => value,
            Some((method, value)) => {
                if meta.is_empty() && kind(value) == Some("session") {
                    trace.id(id(get(value, "id")));
                    meta = members(value);
                }
                out.lose_item(format!("a line of the client's call `{method}`"), place);
                continue;
            }
            None if begin.is_some() => line.value,
            None => {
                out.lose_item("values that are not events of a session", place);
                continue;
            }
        };
        let at = first(event, &["processed_at", "created_at"]).cloned();
        let agent = first(event, &["agent_name", "session_thread_id"])
            .filter(|_| kind(event).is_some_and(|kind| kind.starts_with("agent.")))
            .cloned();
        trace.item(index, line.line, event, at, agent);
        index += 1;
        // What the client said and what tools gave back may contain anything.
        let searched = Some(event).filter(|event| !kind(event).is_some_and(answers));
        unread::checked(&mut trace, searched, |trace| read_event(trace, event));
    }
    trace.meta(object(meta));
    // A file of something else gives no trace at all; in a session, all that it has is counted.
    if begin.is_some() {
        trace.finish(out);
    }
}

/// Whether a value is an event: its type names who it comes from, as in `agent.message`.
fn is_event(value: &Value) -> bool {
    kind(value).is_some_and(|kind| kind.contains('.'))
}

/// Returns a line of the client's log: the API method and what came of it.
pub(super) fn method(line: &Value) -> Option<(&str, &Value)> {
    match line {
        Value::List(pair) => match pair.as_ref() {
            [Value::String(method), value] if method.starts_with("client.") => {
                Some((method.as_str(), value))
            }
            _ => None,
        },
        _ => None,
    }
}

fn answers(kind: &str) -> bool {
    kind.starts_with("user.") || kind.ends_with("tool_result")
}

fn members(value: &Value) -> Vec<(SmolStr, Value)> {
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
        _ => Vec::new(),
    }
}

fn read_event(trace: &mut Trace, event: &Value) {
    let Some(kind) = kind(event).filter(|_| is_object(event)) else {
        return;
    };
    match kind {
        "user.message" | "agent.message" | "system.message" => {
            let role = match kind {
                "user.message" => "user",
                "agent.message" => "assistant",
                _ => "system",
            };
            let said = content_text(get(event, "content"));
            trace.push(Draft::message(role, event).text(said));
        }
        kind if kind.ends_with("tool_use") => {
            let args = trace.args(get(event, "input"));
            let id = id(get(event, "id"));
            let draft = Draft::call(event).tool(text(event, "name")).args(args);
            trace.call(draft, id.as_deref());
        }
        kind if kind.ends_with("tool_result") => {
            let content = get(event, "content");
            let draft = Draft::result(event)
                .text(content_text(content).or(Some(Value::Null)))
                .outcome(content.cloned().or(Some(Value::Null)))
                .error(Some(flag(event, "is_error").unwrap_or(false)));
            let id = id(about(event));
            trace.result(draft, id.as_deref());
        }
        "agent.thinking" => trace.push(Draft::other(event).role("assistant")),
        // `user.tool_confirmation` and whatever else speaks of a call.
        _ => {
            let id = id(about(event));
            trace.push(Draft::other(event).about_call(id.as_deref()));
        }
    }
}

fn about(event: &Value) -> Option<&Value> {
    ["tool_use_id", "mcp_tool_use_id", "custom_tool_use_id"]
        .iter()
        .find_map(|key| some(event, key))
}
