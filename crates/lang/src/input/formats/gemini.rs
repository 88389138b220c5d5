//! Sessions of the Gemini CLI, where a call and its result are one object, and contents of the Gemini API.

use smol_str::SmolStr;

use super::event::Draft;
use super::messages::{self, answer, find_list, repeats};
use super::openai;
use super::shape::{
    content_text, first, flag, get, id, is_object, items, join, kind, list, part_text, some, text,
    without,
};
use super::spans::time;
use super::trace::{Out, Trace};
use super::units::{Items, Record, Unit, units};
use super::unread;
use super::{Input, ItemPlace};
use crate::value::{Text, Value};

pub(super) fn read(input: &Input<'_>, out: &mut Out) {
    for unit in units(input, is_message) {
        match unit {
            Unit::Items(items) => {
                let mut trace = out.trace(None, items.n, items.line);
                read_items(&mut trace, &items);
                trace.finish(out);
            }
            Unit::Record(record) => read_record(&record, out),
        }
    }
}

fn read_record(record: &Record<'_>, out: &mut Out) {
    let place = ItemPlace {
        line: record.line,
        index: None,
    };
    let found = find_list(record, is_message, out);
    let answer = answer(record.value);
    if found.is_none() && answer.is_none() {
        out.lose_item("a record without `messages` or `contents`", place);
        return;
    }
    let mut trace = out.trace(openai::record_id(record.value), record.n, record.line);
    let mut read = Vec::new();
    let mut contents: &[Value] = &[];
    if let Some(found) = found {
        contents = found.items;
        trace.meta(found.facts(record.value));
        read_items(&mut trace, &Items::of(contents, record.line, record.n));
        trace.list(found.pointer.clone());
        read = found.reported;
        read.push(found.pointer);
    } else {
        trace.meta(without(record.value, &["candidates"]));
    }
    let mut position = contents.len();
    if let Some(answer) = answer {
        if !repeats(contents, &answer.message) {
            trace.item(position, record.line, &answer.message, None, None);
            openai::checked(&mut trace, &answer.message, openai::message);
            position += 1;
        }
        out.lose_parts(openai::OTHER_CHOICES, answer.others, place);
        if contents.is_empty() {
            trace.list(answer.pointer.clone());
        }
        read.push(answer.pointer);
    }
    unread::calls_beside(&mut trace, position, record, out);
    trace.finish(out);
    unread::report(record, &read, is_message, out);
}

/// Whether a value is a message of a session (`type`, `content`) or of the API (`role`, `parts`).
pub(super) fn is_message(value: &Value) -> bool {
    (matches!(
        kind(value),
        Some("user" | "gemini" | "info" | "error" | "warning")
    ) && get(value, "content").is_some())
        || has_parts(value)
}

/// Whether a message has the parts of the API, which have no type of their own.
pub(super) fn has_parts(value: &Value) -> bool {
    list(value, "parts").is_some_and(|parts| {
        let typed = |part: &Value| first(part, &["type", "part_kind"]).is_some();
        !parts.iter().any(typed)
    })
}

/// Reads the events of the parts of a message.
pub(super) fn parts(trace: &mut Trace, message: &Value) {
    let role = text(message, "role").unwrap_or("user");
    for part in list(message, "parts").unwrap_or(&[]) {
        self::part(trace, role, part);
    }
}

fn read_items(trace: &mut Trace, messages: &Items<'_>) {
    for (index, item) in messages.items.iter().enumerate() {
        trace.item(index, item.line, item.value, openai::at(item.value), None);
        unread::checked(trace, Some(item.value), |trace| {
            if has_parts(item.value) {
                parts(trace, item.value);
            } else if text(item.value, "role").is_some() {
                openai::message(trace, item.value);
            } else if is_object(item.value) {
                message(trace, item.value);
            }
        });
    }
}

fn message(trace: &mut Trace, message: &Value) {
    let calls = messages::calls(message);
    let role = match kind(message) {
        Some(role) => role,
        // Only an agent makes calls.
        None if !calls.is_empty() => "gemini",
        None => return,
    };
    for thought in list(message, "thoughts").unwrap_or(&[]) {
        let said = ["subject", "description"]
            .into_iter()
            .filter_map(|key| text(thought, key));
        let draft = Draft::other(thought).role(role).text(Some(join(said)));
        trace.push(draft.at(some(thought, "timestamp").cloned()));
    }
    let said = get(message, "content");
    if !super::shape::says_nothing(said) || calls.is_empty() {
        if matches!(role, "user" | "gemini") {
            trace.push(Draft::message(role, message).text(content_text(said)));
        } else {
            trace.push(Draft::other(message).text(content_text(said)));
        }
    }
    let since = some(message, "timestamp").and_then(time);
    let mut answers = Vec::new();
    for call in calls {
        match call {
            Ok(call) => {
                let id = self::call(trace, &call);
                let at = some(&call, "timestamp");
                // A time before the message is not that of an answer to it.
                let when = at
                    .and_then(time)
                    .filter(|when| since.is_none_or(|since| *when >= since));
                answers.push((when, id, call));
            }
            Err(refusal) => trace.unreadable_call(message, refusal),
        }
    }
    // The calls of a message were made together; their results arrived one after the other.
    answers.sort_by_key(|(when, _, _)| *when);
    for (when, id, call) in answers {
        let at = when.and_then(|_| some(&call, "timestamp"));
        answer_of(trace, &call, &id, at);
    }
}

/// Reads a call of a session.
fn call(trace: &mut Trace, call: &Value) -> SmolStr {
    let args = trace.args(get(call, "args"));
    let id = id(get(call, "id"));
    let draft = Draft::call(call).tool(text(call, "name")).args(args);
    trace.call(draft, id.as_deref())
}

/// Reads the result that a call of a session has, unless it is still waiting; the time of the call is when that arrived.
fn answer_of(trace: &mut Trace, call: &Value, id: &str, at: Option<&Value>) {
    let error = match text(call, "status") {
        Some("success") => Some(false),
        Some("error" | "cancelled") => Some(true),
        _ => None,
    };
    let answer = some(call, "result");
    if answer.is_none() && error.is_none() {
        return;
    }
    let responses = answer.and_then(items).unwrap_or(&[]).iter();
    let texts: Vec<&Text> = responses.filter_map(response_text).collect();
    let said = match (texts.is_empty(), answer) {
        (false, _) => join(texts.into_iter().cloned()),
        (true, Some(Value::String(answer))) => Value::String(answer.clone()),
        _ => text(call, "resultDisplay").map_or(Value::Null, Value::string),
    };
    let draft = Draft::result(call)
        .text(Some(said))
        .outcome(answer.cloned().or(Some(Value::Null)))
        .error(error)
        .at(at.cloned());
    trace.result(draft, Some(id));
}

fn response_text(part: &Value) -> Option<&Text> {
    match get(part, "functionResponse").and_then(|answer| get(answer, "response")) {
        Some(response) => super::shape::said(first(response, &["output", "error", "result"])?),
        None => part_text(part),
    }
}

/// Reads a part of the API: text, thought, call or answer.
fn part(trace: &mut Trace, role: &str, part: &Value) {
    if let Some(call) = first(part, &["functionCall", "function_call"]) {
        let args = trace.args(get(call, "args"));
        let id = id(get(call, "id"));
        let draft = Draft::call(part).tool(text(call, "name")).args(args);
        trace.call(draft, id.as_deref());
    } else if let Some(answer) = first(part, &["functionResponse", "function_response"]) {
        let response = get(answer, "response");
        let said = response
            .and_then(|response| first(response, &["output", "error", "result", "content"]))
            .and_then(|said| content_text(Some(said)));
        let error = response
            .and_then(|response| some(response, "error"))
            .is_some();
        let draft = Draft::result(part)
            .tool(text(answer, "name"))
            .text(said.or(Some(Value::Null)))
            .outcome(response.cloned().or(Some(Value::Null)))
            .error(error.then_some(true));
        trace.result(draft, id(get(answer, "id")).as_deref());
    } else if let Some(said) = text(part, "text").or_else(|| part.as_str()) {
        let said = Some(Value::string(said));
        if flag(part, "thought") == Some(true) {
            trace.push(Draft::other(part).role(role).text(said));
        } else {
            trace.push(Draft::message(role, part).text(said));
        }
    } else {
        trace.push(Draft::other(part).role(role));
    }
}
