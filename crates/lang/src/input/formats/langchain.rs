//! LangChain: steps of an agent executor, dumps of messages, and LangSmith runs (in `langsmith`).

use std::borrow::Cow;

use smol_str::SmolStr;

use super::event::{Draft, canonical_role};
use super::json_text::Refusal;
use super::langsmith;
use super::messages::{self, find_list};
use super::openai;
use super::shape::{
    content_text, first, flag, get, id, is_error, is_object, items, kind, list, object,
    says_nothing, text, without,
};
use super::trace::{Out, Trace};
use super::units::{Items, Record, Unit, are_items, units};
use super::unread;
use super::{Input, ItemPlace};
use crate::problem::ProblemKind;
use crate::value::Value;

const STEPS: &str = "intermediate_steps";

pub(super) fn read(input: &Input<'_>, out: &mut Out) {
    if langsmith::is_export(input) {
        langsmith::read(input, out);
        return;
    }
    for unit in units(input, is_message) {
        match unit {
            Unit::Items(items) => {
                let mut trace = out.trace(None, items.n, items.line);
                read_messages(&mut trace, &items);
                trace.finish(out);
            }
            Unit::Record(record) => read_record(&record, out),
        }
    }
}

fn read_record(record: &Record<'_>, out: &mut Out) {
    let name = openai::record_id(record.value);
    let output = get(record.value, "output").or_else(|| get(record.value, "outputs"));
    let steps = list(record.value, STEPS).map(|steps| (format!("/{STEPS}"), steps));
    let messages_of = |record| list(record, "messages").unwrap_or(&[]);
    // An agent that answers with its messages may have no steps.
    let steps = steps.filter(|(_, steps)| {
        !(steps.is_empty() && are_items(messages_of(record.value).iter(), is_message))
    });
    let below = output.and_then(|output| list(output, STEPS));
    if let Some(steps) = first(record.value, &[STEPS]).filter(|steps| items(steps).is_none()) {
        let mut trace = out.trace(name, record.n, record.line);
        trace.list(format!("/{STEPS}"));
        trace.meta(without(record.value, &[STEPS]));
        trace.item(0, record.line, steps, None, None);
        unread_step(&mut trace, steps);
        trace.finish(out);
        return;
    }
    let steps = steps.or_else(|| {
        let key = if get(record.value, "output").is_some() {
            "output"
        } else {
            "outputs"
        };
        below.map(|steps| (format!("/{key}/{STEPS}"), steps))
    });
    if let Some((pointer, steps)) = steps {
        let mut trace = out.trace(name, record.n, record.line);
        trace.list(pointer.clone());
        trace.meta(without(record.value, &[STEPS]));
        for (index, step) in steps.iter().enumerate() {
            trace.item(index, record.line, step, openai::at(step), None);
            self::step(&mut trace, step);
        }
        trace.finish(out);
        unread::report(record, &[pointer], is_message, out);
        return;
    }
    if let Some(found) = find_list(record, is_message, out) {
        let mut trace = out.trace(name, record.n, record.line);
        trace.meta(found.facts(record.value));
        let mut read = found.reported;
        read.push(found.pointer.clone());
        trace.list(found.pointer);
        read_messages(&mut trace, &Items::of(found.items, record.line, record.n));
        trace.finish(out);
        unread::report(record, &read, is_message, out);
        return;
    }
    let place = ItemPlace {
        line: record.line,
        index: None,
    };
    out.lose_item("a record without steps, messages or runs", place);
}

/// Reads one step of an executor: `{action, observation}` or `[action, observation]`; the action is `{tool, tool_input,
/// log}` or `[tool, input, log]`. If both are lists, the result of the tool is the observation's first element.
fn step(trace: &mut Trace, step: &Value) {
    let (action, observation) = match step {
        Value::List(pair) => match pair.as_ref() {
            [action, rest @ ..] => (action, rest.first()),
            [] => return unread_step(trace, step),
        },
        step => match get(step, "action") {
            Some(action) => (action, get(step, "observation")),
            None => return unread_step(trace, step),
        },
    };
    // The serialised form keeps the fields under `kwargs`.
    let fields = get(action, "kwargs")
        .filter(|kwargs| is_object(kwargs))
        .unwrap_or(action);
    let (tool, recorded, log) = match items(action) {
        Some(parts) => (
            parts.first().and_then(Value::as_str),
            parts.get(1),
            parts.get(2).and_then(Value::as_str),
        ),
        None => (
            text(fields, "tool"),
            first(fields, &["tool_input", "input"]),
            text(fields, "log"),
        ),
    };
    if tool.is_none() && recorded.is_none() {
        return unread_step(trace, step);
    }
    let args = trace.loose_args(recorded);
    let said = log
        .filter(|log| !log.is_empty())
        .map_or(Value::Null, Value::string);
    let call_id = id(first(fields, &["tool_call_id", "id"]).filter(|id| id.as_str().is_some()));
    let draft = Draft::call(action).tool(tool).args(args).text(Some(said));
    let call = trace.call(draft, call_id.as_deref());
    let Some(observation) = observation else {
        return;
    };
    let observed = match (items(action), items(observation)) {
        (Some(_), Some([first @ Value::String(_), ..])) => first,
        _ => observation,
    };
    let error = if tool == Some("_Exception") {
        Some(true)
    } else {
        outcome_error(observed)
    };
    let draft = Draft::result(observation)
        .text(content_text(Some(observed)))
        .outcome(Some(observed.clone()))
        .error(error);
    trace.result(draft, Some(&call));
}

/// Adds a step that cannot be read: each is a call.
fn unread_step(trace: &mut Trace, step: &Value) {
    let refusal = Refusal {
        kind: ProblemKind::WrongType,
        message: "expected an action with a tool and its input".to_owned(),
    };
    trace.unreadable_call(step, refusal);
}

/// Whether the result of a tool reports failure itself: `success: false`, or an `error`.
pub(super) fn outcome_error(observed: &Value) -> Option<bool> {
    flag(observed, "success")
        .map(|success| !success)
        .or_else(|| get(observed, "error").map(is_error))
}

/// Returns the fields of a message in any of its dumps: flat, `{type, data}`, or serialised with `lc` and `kwargs`.
fn fields(message: &Value) -> Option<(&str, &Value)> {
    if let Some(kwargs) = get(message, "kwargs").filter(|_| get(message, "lc").is_some()) {
        let name = list(message, "id")?.last()?.as_str()?;
        let role = match name.trim_end_matches("Chunk") {
            "HumanMessage" => "human",
            "AIMessage" => "ai",
            "SystemMessage" => "system",
            "ToolMessage" | "FunctionMessage" => "tool",
            "ChatMessage" => text(kwargs, "role")?,
            _ => return None,
        };
        return Some((role, kwargs));
    }
    let role = match kind(message)? {
        "human" | "HumanMessage" | "HumanMessageChunk" => "human",
        "ai" | "AIMessage" | "AIMessageChunk" => "ai",
        "system" | "SystemMessage" => "system",
        "tool" | "function" | "ToolMessage" => "tool",
        "chat" => "chat",
        _ => return None,
    };
    let fields = get(message, "data")
        .filter(|data| is_object(data))
        .unwrap_or(message);
    get(fields, "content")?;
    let role = match role {
        "chat" => text(fields, "role").unwrap_or("chat"),
        role => role,
    };
    Some((role, fields))
}

/// Whether a value is a dumped message.
pub(super) fn is_message(value: &Value) -> bool {
    fields(value).is_some()
}

fn read_messages(trace: &mut Trace, items: &Items<'_>) {
    for (index, item) in items.items.iter().enumerate() {
        trace.item(index, item.line, item.value, openai::at(item.value), None);
        let speaker = fields(item.value).map(|(role, _)| role);
        let searched = Some(item.value).filter(|_| matches!(speaker, None | Some("ai")));
        unread::checked(trace, searched, |trace| message(trace, item.value));
    }
}

/// Reads the events of one dumped message: it is mapped to OpenAI's shape, which differs only in names.
pub(super) fn message(trace: &mut Trace, message: &Value) {
    let Some((role, fields)) = fields(message) else {
        openai::message(trace, message);
        return;
    };
    let role = canonical_role(role);
    if role == "tool" {
        let error = text(fields, "status").map(|status| status == "error");
        let content = get(fields, "content");
        let draft = Draft::result(message)
            .tool(text(fields, "name"))
            .text(content_text(content))
            .packed_outcome(content.or(Some(&Value::Null)))
            .error(error);
        let id = id(get(fields, "tool_call_id"));
        trace.result(draft, id.as_deref());
        return;
    }
    let mut members: Vec<(SmolStr, Value)> = vec![("role".into(), Value::string(role))];
    if let Some(content) = get(fields, "content") {
        members.push(("content".into(), content.clone()));
    }
    let own = get(fields, "tool_calls").filter(|calls| !says_nothing(Some(calls)));
    let extra = get(fields, "additional_kwargs");
    let calls = own.or_else(|| extra.and_then(|extra| get(extra, "tool_calls")));
    let function = extra.and_then(|extra| get(extra, "function_call"));
    let mut called: Vec<(SmolStr, Value)> = Vec::new();
    if let Some(calls) = calls {
        called.push(("tool_calls".into(), calls.clone()));
    } else if let Some(function) = function {
        called.push(("function_call".into(), function.clone()));
    }
    // Anthropic's blocks in the content repeat the calls, but for those of tools that the server runs.
    if let Some((_, content)) = members.get_mut(1) {
        let invalid = list(fields, "invalid_tool_calls").unwrap_or(&[]).iter();
        let holder = object(called.clone());
        let repeated = messages::calls(&holder).into_iter().flatten();
        let repeated = repeated.chain(invalid.map(Cow::Borrowed));
        let repeated: Vec<Option<SmolStr>> = repeated.map(|call| id(get(&call, "id"))).collect();
        *content = without_calls(content, &repeated);
    }
    members.extend(called);
    openai::message_as(trace, &object(members), message);
    let invalid = match get(fields, "invalid_tool_calls") {
        Some(Value::List(calls)) => &**calls,
        Some(call) if !says_nothing(Some(call)) => std::slice::from_ref(call),
        _ => &[],
    };
    // As the model wrote them they may stand among the others.
    let is_new = |call: &&Value| !trace.has_made(call);
    let rest: Vec<&Value> = invalid.iter().filter(is_new).collect();
    for call in rest {
        openai::call(trace, call);
    }
}

/// Returns content without the calls of these ids, and without those that have no id if there are any others.
fn without_calls(content: &Value, ids: &[Option<SmolStr>]) -> Value {
    let repeats = |part: &Value| {
        let named = id(get(part, "id"));
        kind(part).is_some_and(|kind| kind.ends_with("tool_use"))
            && (named.is_none() || ids.contains(&named))
    };
    match content {
        Value::List(parts) if !ids.is_empty() && are_items(parts.iter(), is_object) => Value::list(
            parts
                .iter()
                .filter(|part| !repeats(part))
                .cloned()
                .collect(),
        ),
        other => other.clone(),
    }
}
