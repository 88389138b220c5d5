//! OpenAI chat messages, bare or wrapped by a record, with the dialects of AgentDojo and its kin.

use super::anthropic;
use super::event::Draft;
use super::gemini;
use super::messages::{
    self, answer, find_list, has_blocks, is_message, is_silent, makes_calls, nested_records,
    repeats,
};
use super::pydantic_ai;
use super::shape::{
    STREAMED, content_text, first, get, id, is_error, is_object, is_streamed, list, some, text,
    without,
};
use super::trace::{Out, Trace};
use super::units::{Item, Items, Record, Unit, units};
use super::unread;
use super::{Input, ItemPlace};
use crate::value::Value;

pub(super) fn read(input: &Input<'_>, out: &mut Out) {
    read_with(input, out, message);
}

/// Reads lists of messages; `one` makes the events of one message.
pub(super) fn read_with(input: &Input<'_>, out: &mut Out, one: fn(&mut Trace, &Value)) {
    for unit in units(input, is_message) {
        match unit {
            Unit::Items(items) => {
                let mut trace = out.trace(None, items.n, items.line);
                messages(&mut trace, &items.items, one);
                trace.finish(out);
            }
            Unit::Record(record) => read_record(&record, out, one),
        }
    }
}

/// Reads a record that wraps a list of messages.
pub(super) fn read_record(record: &Record<'_>, out: &mut Out, one: fn(&mut Trace, &Value)) {
    let place = ItemPlace {
        line: record.line,
        index: None,
    };
    if is_streamed(record.value) {
        out.lose_item(STREAMED, place);
        return;
    }
    let id = record_id(record.value);
    if let Some(found) = find_list(record, is_message, out) {
        let mut trace = out.trace(id, record.n, record.line);
        trace.meta(found.facts(record.value));
        let items = Items::of(found.items, record.line, record.n);
        messages(&mut trace, &items.items, one);
        let mut position = items.items.len();
        let mut read = found.reported;
        // A log of requests has the answer beside the messages; some repeat it there.
        if let Some(answer) = answer(record.value) {
            if !repeats(found.items, &answer.message) {
                trace.item(position, record.line, &answer.message, None, None);
                checked(&mut trace, &answer.message, one);
                position += 1;
            }
            out.lose_parts(OTHER_CHOICES, answer.others, place);
            read.push(answer.pointer);
        }
        unread::calls_beside(&mut trace, position, record, out);
        read.push(found.pointer.clone());
        trace.list(found.pointer);
        trace.complete(complete(record.value));
        trace.finish(out);
        unread::report(record, &read, is_message, out);
        return;
    }
    if !is_message(record.value)
        && let Some(answer) = answer(record.value)
    {
        let mut trace = out.trace(id, record.n, record.line);
        trace.meta(match answer.pointer.trim_start_matches('/') {
            nested if nested.contains('/') => record.value.clone(),
            member => without(record.value, &[member]),
        });
        trace.item(0, record.line, &answer.message, at(record.value), None);
        checked(&mut trace, &answer.message, one);
        unread::calls_beside(&mut trace, 1, record, out);
        out.lose_parts(OTHER_CHOICES, answer.others, place);
        unread::report(
            record,
            std::slice::from_ref(&answer.pointer),
            is_message,
            out,
        );
        trace.list(answer.pointer);
        trace.finish(out);
        return;
    }
    if is_message(record.value) {
        let mut trace = out.trace(None, record.n, record.line);
        trace.item(0, record.line, record.value, at(record.value), None);
        checked(&mut trace, record.value, one);
        trace.finish(out);
        return;
    }
    if let Some((_, inner)) = nested_records(record.value) {
        for (place, item) in record.lines.of_elements(inner, record.line).enumerate() {
            let n = u32::try_from(place).unwrap_or(u32::MAX);
            let inner = Record {
                value: item.value,
                line: item.line,
                n: record.n.saturating_add(n),
                lines: record.lines,
            };
            read_record(&inner, out, one);
        }
        return;
    }
    let what = if is_object(record.value) {
        "a record without a list of messages"
    } else {
        "a value that is neither a message nor a record"
    };
    out.lose_item(what, place);
}

pub(super) const OTHER_CHOICES: &str = "choices after the first";

fn messages(trace: &mut Trace, items: &[Item<'_>], one: fn(&mut Trace, &Value)) {
    for (index, item) in items.iter().enumerate() {
        trace.item(index, item.line, item.value, at(item.value), None);
        checked(trace, item.value, one);
    }
}

/// Reads one message, and a call in it that `one` does not read as one of which nothing is known.
pub(super) fn checked(trace: &mut Trace, message: &Value, one: fn(&mut Trace, &Value)) {
    unread::checked(trace, Some(message), |trace| one(trace, message));
}

/// Returns the name that a record gives itself.
pub(super) fn record_id(record: &Value) -> Option<smol_str::SmolStr> {
    [
        "id",
        "trace_id",
        "run_id",
        "session_id",
        "sessionId",
        "conversation_id",
        "instance_id",
    ]
    .iter()
    .find_map(|key| id(get(record, key)))
}

/// Returns whether a record says that it is complete.
pub(super) fn complete(record: &Value) -> Option<bool> {
    super::shape::flag(record, "complete")
}

/// Returns the recorded time of an item.
pub(super) fn at(item: &Value) -> Option<Value> {
    first(item, &["timestamp", "created_at", "time", "created", "ts"])
        .filter(|at| matches!(at, Value::Number(_) | Value::String(_)))
        .cloned()
}

/// Reads the events of one message.
pub(super) fn message(trace: &mut Trace, message: &Value) {
    message_as(trace, message, message);
}

/// Reads the events of a message that was mapped to this shape from `raw`.
pub(super) fn message_as(trace: &mut Trace, message: &Value, raw: &Value) {
    let role = match text(message, "role") {
        Some(role) => role,
        None if pydantic_ai::is_message(message) => {
            pydantic_ai::message(trace, message);
            return;
        }
        // Only an agent makes calls.
        None if makes_calls(message) => "assistant",
        None => return,
    };
    if has_blocks(message) {
        anthropic::message(trace, message);
        return;
    }
    if gemini::has_parts(message) && get(message, "content").is_none() {
        gemini::parts(trace, message);
        calls(trace, message);
        return;
    }
    if matches!(role, "tool" | "function") {
        result(trace, message);
        calls_of_result(trace, message);
        return;
    }
    if let Some(reasoning) = first(message, &["reasoning_content", "reasoning"])
        && let Some(reasoning) = reasoning.as_str()
        && !reasoning.is_empty()
    {
        let draft = Draft::other(raw).role(role);
        trace.push(draft.text(Some(Value::string(reasoning))));
    }
    let refusal = text(message, "refusal").filter(|refusal| !refusal.is_empty());
    if !is_silent(message) || refusal.is_some() || !makes_calls(message) {
        let said = match refusal {
            Some(refusal) if is_silent(message) => Some(Value::string(refusal)),
            _ => content_text(get(message, "content")).or(match get(message, "content") {
                None => Some(Value::Null),
                Some(_) => None,
            }),
        };
        trace.push(Draft::message(role, raw).text(said));
    }
    calls(trace, message);
}

/// Reads the calls of a message, but for those that its blocks have made. A call that cannot be read is kept with unknown content.
pub(super) fn calls(trace: &mut Trace, message: &Value) {
    let calls = messages::calls(message);
    let made: Vec<bool> = calls
        .iter()
        .map(|call| call.as_deref().is_ok_and(|call| trace.has_made(call)))
        .collect();
    for (call, is_made) in calls.into_iter().zip(made) {
        match call {
            Ok(_) if is_made => {}
            Ok(call) => self::call(trace, &call),
            Err(refusal) => trace.unreadable_call(message, refusal),
        }
    }
}

/// Reads the calls that a result has itself, unless they are those that were made before: some records repeat the call that
/// was answered (`tool_call`).
fn calls_of_result(trace: &mut Trace, message: &Value) {
    if ["tool_calls", "toolCalls", "function_call"]
        .iter()
        .all(|key| get(message, key).is_none())
    {
        return;
    }
    for call in messages::calls(&without(message, &["tool_call", "toolCall"])) {
        match call {
            Ok(call) if id(get(&call, "id")).is_some_and(|id| trace.knows_call(&id)) => {}
            Ok(call) => self::call(trace, &call),
            Err(refusal) => trace.unreadable_call(message, refusal),
        }
    }
}

/// Reads one entry of `tool_calls`: `{id, function: {name, arguments}}`, AgentDojo's `{id, function: name, args}`, or `{id,
/// name, args}`. Custom tools have an `input` that is plain text.
pub(super) fn call(trace: &mut Trace, call: &Value) {
    let body = ["function", "custom"]
        .iter()
        .find_map(|key| get(call, key).filter(|body| is_object(body)))
        .unwrap_or(call);
    let tool = text(body, "name")
        .or_else(|| text(call, "function"))
        .or_else(|| text(call, "tool"));
    let args = match first(body, &["arguments", "args", "parameters"]) {
        Some(recorded) => trace.args(Some(recorded)),
        None => trace.loose_args(some(body, "input")),
    };
    let id = id(first(call, &["id", "call_id", "tool_call_id"]));
    trace.call(Draft::call(call).tool(tool).args(args), id.as_deref());
}

/// Reads a message of role `tool` or `function`.
fn result(trace: &mut Trace, message: &Value) {
    let content = get(message, "content");
    let echoed = get(message, "tool_call").filter(|call| is_object(call));
    let tool = text(message, "name")
        .or_else(|| echoed.and_then(|call| text(call, "function")))
        .or_else(|| echoed.and_then(|call| at_function_name(call)));
    let error = get(message, "error").map(is_error).or_else(|| {
        super::shape::flag(message, "is_error")
            .or_else(|| text(message, "status").map(|status| status == "error"))
    });
    let args = match echoed.and_then(|call| first(call, &["args", "arguments"])) {
        Some(recorded) => trace.args(Some(recorded)),
        None => None,
    };
    let ids = list(message, "tool_call_ids").and_then(|ids| id(ids.first()));
    // Some records repeat the id of the call as that of the message.
    let own = id(get(message, "id")).filter(|own| trace.knows_call(own));
    let id = id(get(message, "tool_call_id")).or(ids).or(own);
    let draft = Draft::result(message)
        .tool(tool)
        .args(args)
        .text(content_text(content).or(content.is_none().then_some(Value::Null)))
        .outcome(content.cloned().or(Some(Value::Null)))
        .error(error);
    trace.result(draft, id.as_deref());
}

fn at_function_name(call: &Value) -> Option<&str> {
    super::shape::at(call, &["function", "name"])?.as_str()
}
