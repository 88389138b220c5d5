//! Logs of the Model Context Protocol: JSON-RPC messages (bare, or wrapped with a direction and a time), and the log of a
//! client library's calls.

use crate::hash::SeededMap;
use smol_str::SmolStr;

use super::event::Draft;
use super::json_text::{self, Refusal};
use super::openai;
use super::shape::{
    content_text, flag, get, id, is_error, is_object, items, list, object, some, text, without,
};
use super::trace::{Out, Trace};
use super::units::{Item, Items, Unit, units};
use super::unread;
use super::{Input, ItemPlace};
use crate::problem::ProblemKind;
use crate::value::Value;

pub(super) fn read(input: &Input<'_>, out: &mut Out) {
    for unit in units(input, is_item) {
        match unit {
            Unit::Items(items) => {
                let mut trace = out.trace(None, items.n, items.line);
                read_items(&mut trace, &items);
                trace.finish(out);
            }
            Unit::Record(record) => {
                if let Some(calls) = list(record.value, "calls") {
                    let mut trace =
                        out.trace(openai::record_id(record.value), record.n, record.line);
                    trace.list("/calls");
                    trace.meta(without(record.value, &["calls"]));
                    exchanges(&mut trace, calls, record.line);
                    trace.finish(out);
                    continue;
                }
                let inner = ["messages", "entries", "log", "events", "items"]
                    .into_iter()
                    .find_map(|key| {
                        let inner = list(record.value, key)?;
                        inner.iter().any(is_item).then_some((key, inner))
                    });
                if let Some((key, inner)) = inner {
                    let mut trace =
                        out.trace(openai::record_id(record.value), record.n, record.line);
                    trace.list(format!("/{key}"));
                    trace.meta(without(record.value, &[key]));
                    read_items(&mut trace, &Items::of(inner, record.line, record.n));
                    trace.finish(out);
                } else if is_item(record.value) {
                    let items = Items {
                        items: vec![Item {
                            value: record.value,
                            line: record.line,
                        }],
                        line: record.line,
                        n: record.n,
                    };
                    let mut trace = out.trace(None, record.n, record.line);
                    read_items(&mut trace, &items);
                    trace.finish(out);
                } else {
                    let place = ItemPlace {
                        line: record.line,
                        index: None,
                    };
                    out.lose_item("a record that is not a protocol message", place);
                }
            }
        }
    }
}

/// Whether a value is a message of the protocol, wrapped or not, or an entry of a client's log.
pub(super) fn is_item(value: &Value) -> bool {
    unwrap(value).is_some() || is_client_entry(value) || {
        items(value).is_some_and(|batch| !batch.is_empty() && batch.iter().all(is_json_rpc))
    }
}

fn is_json_rpc(value: &Value) -> bool {
    text(value, "jsonrpc").is_some()
}

/// Whether a value is an entry of a client library's log: `{type, count, method, args, kwargs | result, error}`.
fn is_client_entry(value: &Value) -> bool {
    matches!(text(value, "type"), Some("request" | "response"))
        && text(value, "method").is_some()
        && (get(value, "kwargs").is_some() || get(value, "result").is_some())
}

/// Returns the JSON-RPC message in a line of a log, and its sender if that is recorded.
fn unwrap(value: &Value) -> Option<(Value, Option<SmolStr>)> {
    if is_json_rpc(value) {
        return Some((value.clone(), direction(value)));
    }
    for key in [
        "message", "msg", "payload", "data", "body", "frame", "raw", "rpc",
    ] {
        let inner = match get(value, key) {
            Some(Value::String(text)) if text.trim_start().starts_with('{') => {
                json_text::parse(text).ok()
            }
            Some(inner) if is_object(inner) => Some(inner.clone()),
            _ => None,
        };
        if let Some(inner) = inner.filter(is_json_rpc) {
            return Some((inner, direction(value)));
        }
    }
    None
}

fn direction(value: &Value) -> Option<SmolStr> {
    ["direction", "dir", "from", "sender", "source"]
        .iter()
        .find_map(|key| text(value, key))
        .map(SmolStr::new)
}

/// A request that waits for its response.
#[derive(Clone, Debug)]
struct Pending {
    from: Option<SmolStr>,
    /// The call that it makes or continues.
    call: Option<SmolStr>,
}

/// Requests that wait, and calls that wait for input.
#[derive(Debug, Default)]
struct State {
    pending: SeededMap<String, Vec<Pending>>,
    continued: SeededMap<String, SmolStr>,
    last_continued: Option<SmolStr>,
}

fn read_items(trace: &mut Trace, items: &Items<'_>) {
    let mut state = State::default();
    for (index, item) in items.items.iter().enumerate() {
        trace.item(index, item.line, item.value, openai::at(item.value), None);
        if let Some((message, from)) = unwrap(item.value) {
            rpc(trace, &mut state, &message, from);
        } else if is_client_entry(item.value) || asks(item.value) {
            client_entry(trace, item.value);
        } else if let Some(batch) = super::shape::items(item.value) {
            for message in batch {
                if is_json_rpc(message) {
                    rpc(trace, &mut state, message, None);
                } else {
                    trace.push(Draft::other(message));
                    unread::calls_in(trace, message);
                }
            }
        } else {
            unread::calls_in(trace, item.value);
        }
    }
}

/// The method of a call of a tool.
const CALL: &str = "tools/call";

/// Whether an entry of a client's log is a call without what it was given.
fn asks(entry: &Value) -> bool {
    text(entry, "type") == Some("request") && text(entry, "method") == Some("call_tool")
}

fn rpc(trace: &mut Trace, state: &mut State, message: &Value, from: Option<SmolStr>) {
    let key = some(message, "id").map(Value::to_string);
    let method = get(message, "method");
    if method.is_some_and(|method| method.as_str().is_none()) {
        let refusal = Refusal {
            kind: ProblemKind::WrongType,
            message: "expected a method as text".to_owned(),
        };
        trace.unreadable_call(message, refusal);
        return;
    }
    let Some(key) = key else {
        // A notification, or a call that no answer can name.
        if text(message, "method") == Some(CALL) {
            tool_call(trace, state, message);
        } else {
            trace.push(Draft::other(message));
        }
        return;
    };
    if let Some(method) = text(message, "method") {
        let call = if method == CALL {
            tool_call(trace, state, message)
        } else {
            trace.push(Draft::other(message));
            None
        };
        state
            .pending
            .entry(key)
            .or_default()
            .push(Pending { from, call });
        return;
    }
    // Ids are the sender's: a response answers a request from the other side.
    let waiting = state.pending.get_mut(&key).and_then(|waiting| {
        let place = waiting
            .iter()
            .rposition(|request| match (&request.from, &from) {
                (Some(sent), Some(answered)) => sent != answered,
                _ => true,
            })?;
        Some(waiting.remove(place))
    });
    match waiting.and_then(|request| request.call) {
        Some(call) => answer(trace, state, message, &call),
        None => trace.push(Draft::other(message)),
    }
}

/// Adds a call, or a further attempt at one that needed input: that is the same action, not another call.
fn tool_call(trace: &mut Trace, state: &mut State, message: &Value) -> Option<SmolStr> {
    let empty = object(Vec::new());
    let params = get(message, "params").unwrap_or(&empty);
    let earlier = match some(params, "requestState") {
        Some(token) => state.continued.remove(&token.to_string()),
        None if get(params, "inputResponses").is_some() => state.last_continued.take(),
        None => None,
    };
    if let Some(call) = earlier {
        trace.push(Draft::other(message).about_call(Some(&call)));
        return Some(call);
    }
    let args = match get(params, "arguments") {
        Some(recorded) => trace.args(Some(recorded)),
        None if !is_object(params) => None,
        // The protocol lets a call without arguments leave them out.
        None => Some(object(Vec::new())),
    };
    let id = id(get(message, "id"));
    let draft = Draft::call(message).tool(text(params, "name")).args(args);
    Some(trace.call(draft, id.as_deref()))
}

fn answer(trace: &mut Trace, state: &mut State, message: &Value, call: &SmolStr) {
    if let Some(error) = some(message, "error") {
        let said = text(error, "message").map_or(Value::Null, Value::string);
        let draft = Draft::result(message)
            .text(Some(said))
            .outcome(Some(error.clone()))
            .error(Some(true));
        trace.result(draft, Some(call));
        return;
    }
    let empty = Value::Null;
    let result = get(message, "result").unwrap_or(&empty);
    if text(result, "resultType") == Some("input_required") {
        if let Some(token) = some(result, "requestState") {
            state.continued.insert(token.to_string(), call.clone());
        }
        state.last_continued = Some(call.clone());
        trace.push(Draft::other(message).about_call(Some(call)));
        return;
    }
    trace.result(tool_result(message, result), Some(call));
}

/// Returns the result of `tools/call`: the whole result object, with the text of its content; `isError` may be absent.
fn tool_result(raw: &Value, result: &Value) -> Draft {
    let said = content_text(get(result, "content")).unwrap_or(Value::Null);
    Draft::result(raw)
        .text(Some(said))
        .outcome(Some(result.clone()))
        .error(Some(flag(result, "isError").unwrap_or(false)))
}

fn client_entry(trace: &mut Trace, entry: &Value) {
    if text(entry, "method") != Some("call_tool") {
        trace.push(Draft::other(entry));
        return;
    }
    let id = id(get(entry, "count"));
    if text(entry, "type") == Some("request") {
        client_request(trace, entry, id);
    } else {
        client_response(trace, entry, id.as_deref());
    }
}

fn client_request(trace: &mut Trace, entry: &Value, id: Option<SmolStr>) -> SmolStr {
    let positional = list(entry, "args").unwrap_or(&[]);
    let named = get(entry, "kwargs");
    let named = |key| named.and_then(|named| get(named, key));
    let tool = positional.first().or_else(|| named("name")).cloned();
    let recorded = positional.get(1).or_else(|| named("arguments"));
    let args = match recorded {
        Some(Value::Null) | None => Some(object(Vec::new())),
        recorded => trace.args(recorded),
    };
    let tool = tool.as_ref().and_then(Value::as_str);
    let draft = Draft::call(entry).tool(tool).args(args);
    trace.call(draft, id.as_deref())
}

fn client_response(trace: &mut Trace, entry: &Value, id: Option<&str>) {
    let result = get(entry, "result").unwrap_or(&Value::Null);
    let mut draft = tool_result(entry, result);
    if let Some(error) = some(entry, "error").filter(|error| is_error(error)) {
        draft = draft.error(Some(true)).text(content_text(Some(error)));
    }
    trace.result(draft, id);
}

/// Requests with their responses: each gives two items.
fn exchanges(trace: &mut Trace, calls: &[Value], line: Option<u64>) {
    for (n, exchange) in calls.iter().enumerate() {
        let halves = ["request", "response"].map(|key| get(exchange, key).unwrap_or(exchange));
        let [request, response] = halves;
        let is_call = text(request, "method") == Some("call_tool");
        trace.item(2 * n, line, request, openai::at(request), None);
        let id = is_call.then(|| client_request(trace, request, None));
        trace.item(2 * n + 1, line, response, openai::at(response), None);
        if let Some(id) = id {
            client_response(trace, response, Some(&id));
        }
    }
}
