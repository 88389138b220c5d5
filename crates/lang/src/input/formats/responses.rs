//! Items of the OpenAI Responses API: bare lists, responses with `output`, requests with `input`, or one item per line.

use super::event::Draft;
use super::messages::{has_blocks, makes_calls, pointer};
use super::openai;
use super::shape::{
    STREAMED, content_text, first, get, id, is_error, is_object, is_streamed, items, join, kind,
    list, part_text, some, string, text, unpack, without,
};
use super::trace::{Out, Trace};
use super::units::{Item, Record, Unit, are_items, units};
use super::unread;
use super::{Input, ItemPlace};
use crate::value::Value;

pub(super) fn read(input: &Input<'_>, out: &mut Out) {
    for unit in units(input, is_item) {
        match unit {
            Unit::Items(items) => {
                let mut trace = out.trace(None, items.n, items.line);
                read_items(&mut trace, 0, &items.items);
                trace.finish(out);
            }
            Unit::Record(record) => read_record(&record, out),
        }
    }
}

/// Whether a value is an item: of a known type, or a message.
pub(super) fn is_item(value: &Value) -> bool {
    match kind(value) {
        Some("message") => is_object(value) && text(value, "role").is_some(),
        Some("reasoning" | "item_reference" | "mcp_list_tools" | "compaction") => true,
        Some(kind) => {
            kind.ends_with("_call") && kind != "tool_call"
                || kind.ends_with("_call_output")
                || kind.starts_with("mcp_approval_")
        }
        None => super::messages::is_message(value),
    }
}

fn read_record(record: &Record<'_>, out: &mut Out) {
    let value = record.value;
    let place = ItemPlace {
        line: record.line,
        index: None,
    };
    if is_streamed(value) {
        out.lose_item(STREAMED, place);
        return;
    }
    // Some logs keep request and response apart.
    let apart = |key| match some(value, key) {
        Some(inner) => (Some(key), inner),
        None => (None, value),
    };
    let (above_input, request) = apart("request");
    let (above_output, response) = apart("response");
    let input = ["input", "messages"].into_iter().find_map(|key| {
        let input = some(request, key)?;
        let messages = || items(input).is_some_and(|items| are_items(items.iter(), is_item));
        (key == "input" || messages()).then_some((key, input))
    });
    let output = get(response, "output").and_then(|output| match output {
        Value::List(several) => Some(("output", &**several)),
        one => is_item(one).then(|| ("output", std::slice::from_ref(one))),
    });
    let (above_output, output) = match output {
        Some(output) => (above_output, Some(output)),
        None => (None, items_member(value)),
    };
    if !is_object(value) || (input.is_none() && output.is_none()) {
        out.lose_item("a record without `input`, `output` or `items`", place);
        return;
    }
    let mut trace = out.trace(
        openai::record_id(response).or(openai::record_id(value)),
        record.n,
        record.line,
    );
    let members = [input.map(|(key, _)| key), output.map(|(key, _)| key)];
    let members: Vec<&str> = members.into_iter().flatten().collect();
    trace.list(if input.is_none() { "/output" } else { "" });
    trace.meta(without(value, &members));
    let item = |value| Item {
        value,
        line: record.line,
    };
    let mut position = 0;
    match input.map(|(_, input)| input) {
        Some(Value::List(inputs)) => {
            let inputs: Vec<Item<'_>> = inputs.iter().map(item).collect();
            read_items(&mut trace, 0, &inputs);
            position = inputs.len();
        }
        Some(said) => {
            trace.item(0, record.line, said, None, None);
            trace.push(Draft::message("user", said).text(content_text(Some(said))));
            position = 1;
        }
        None => {}
    }
    let outputs: Vec<Item<'_>> = output
        .map_or(&[][..], |(_, output)| output)
        .iter()
        .map(item)
        .collect();
    read_items(&mut trace, position, &outputs);
    trace.finish(out);
    let path = |above: Option<&'static str>, key| {
        let names: Vec<&str> = above.into_iter().chain([key]).collect();
        pointer(&names)
    };
    let read: Vec<String> = input
        .map(|(key, _)| path(above_input, key))
        .into_iter()
        .chain(output.map(|(key, _)| path(above_output, key)))
        .collect();
    unread::report(record, &read, is_item, out);
}

fn items_member(value: &Value) -> Option<(&'static str, &[Value])> {
    ["items", "data"]
        .into_iter()
        .filter_map(|key| Some((key, list(value, key)?)))
        .find(|(_, items)| are_items(items.iter(), is_item))
}

fn read_items(trace: &mut Trace, from: usize, items: &[Item<'_>]) {
    for (index, it) in items.iter().enumerate() {
        trace.item(from + index, it.line, it.value, openai::at(it.value), None);
        checked(trace, it.value);
    }
}

/// Reads the events of one item, and a call in it that is not read there as one of which nothing is known.
pub(super) fn checked(trace: &mut Trace, item: &Value) {
    unread::checked(trace, Some(item), |trace| self::item(trace, item));
}

/// Reads the events of one item; also used for rollouts of Codex.
pub(super) fn item(trace: &mut Trace, item: &Value) {
    let Some(kind) = kind(item) else {
        openai::message(trace, item);
        return;
    };
    match kind {
        "message" if has_blocks(item) || makes_calls(item) => openai::message(trace, item),
        "message" => {
            let role = text(item, "role").unwrap_or("assistant");
            let said = content_text(get(item, "content"));
            trace.push(Draft::message(role, item).text(said));
        }
        "reasoning" => {
            let parts = |key| list(item, key).unwrap_or(&[]).iter();
            let said = join(
                parts("summary")
                    .chain(parts("content"))
                    .filter_map(part_text)
                    .cloned(),
            );
            trace.push(Draft::other(item).role("assistant").text(Some(said)));
        }
        kind if kind.ends_with("_call_output") => output(trace, item),
        kind if kind.ends_with("_call") => call(trace, kind, item),
        _ => trace.push(Draft::other(item)),
    }
}

/// Reads a call of a function, or of a hosted tool, which is named by its type and may carry its own result.
fn call(trace: &mut Trace, kind: &str, item: &Value) {
    let hosted = kind.trim_end_matches("_call");
    // What has a name of its own is not named by its type, even if the name is missing.
    let tool = match get(item, "name") {
        Some(name) => name.as_str(),
        None => {
            Some(hosted).filter(|hosted| !matches!(*hosted, "function" | "custom_tool" | "mcp"))
        }
    };
    let args = match get(item, "arguments") {
        Some(recorded) => trace.args(Some(recorded)),
        None => match first(
            item,
            &["input", "action", "actions", "queries", "code", "operation"],
        ) {
            Some(value) => trace.loose_args(Some(value)),
            None => None,
        },
    };
    let id = id(first(item, &["call_id", "id"]));
    let draft = Draft::call(item).tool(tool).args(args);
    let id = trace.call(draft, id.as_deref());
    // Hosted tools are answered in the same item.
    let answer = first(item, &["output", "outputs", "results", "result"]);
    let failed = some(item, "error");
    if answer.is_none() && failed.is_none() {
        return;
    }
    let answer = answer.or(failed);
    let error = match (failed, text(item, "status")) {
        (Some(error), _) => Some(is_error(error)),
        (None, Some("completed")) => Some(false),
        (None, Some("failed")) => Some(true),
        (None, _) => None,
    };
    let draft = Draft::result(item)
        .text(content_text(answer))
        .packed_outcome(answer)
        .error(error);
    trace.result(draft, Some(&id));
}

/// Reads an answer: the text is often JSON, with an exit code if a command was run.
fn output(trace: &mut Trace, item: &Value) {
    let recorded = first(item, &["output", "result"]);
    let result = recorded.map(unpack);
    let error = result.as_ref().and_then(failed);
    let said = match (&result, recorded) {
        (Some(Value::Object(object)), _) => match object.get("output") {
            Some(Value::String(output)) => Some(Value::String(output.clone())),
            _ => recorded.and_then(|recorded| content_text(Some(recorded))),
        },
        (_, recorded) => content_text(recorded),
    };
    let error = error.or_else(|| match text(item, "status") {
        Some("failed" | "incomplete") => Some(true),
        _ => None,
    });
    let id = id(first(item, &["call_id", "id"]));
    let draft = Draft::result(item)
        .text(said.or(Some(Value::Null)))
        .outcome(result.or(Some(Value::Null)))
        .error(error);
    trace.result(draft, id.as_deref());
}

/// Whether an output reports failure: by its exit code, or by `success`, `error` or `isError`.
fn failed(result: &Value) -> Option<bool> {
    let code = super::shape::at(result, &["metadata", "exit_code"])
        .or_else(|| get(result, "exit_code"))
        .filter(|code| matches!(code, Value::Number(_)));
    if let Some(code) = code {
        return Some(*code != Value::int(0));
    }
    match (get(result, "success"), get(result, "isError")) {
        (Some(Value::Bool(success)), _) => Some(!success),
        (_, Some(Value::Bool(error))) => Some(*error),
        _ => match result {
            Value::List(outputs) => outputs.iter().find_map(|output| {
                let exit = super::shape::at(output, &["outcome", "exit_code"])?;
                Some(*exit != Value::int(0) && *exit != string("0"))
            }),
            _ => None,
        },
    }
}
