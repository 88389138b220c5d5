//! Events of OpenHands: actions, and observations that point to their action by `cause`; since its version 1 (`kind`) by
//! `tool_call_id`.
//!
//! The tool of a call is the action (`run`, `read`, `edit` …), as its arguments are those of the action; the name that the
//! model used is in `raw.tool_call_metadata.function_name`.

use crate::hash::SeededMap;
use smol_str::SmolStr;

use super::event::Draft;
use super::shape::{at, content_text, flag, get, id, is_object, text, without};
use super::trace::Trace;
use super::unread;
use crate::value::Value;

/// The call of each action, by the id of its event.
#[derive(Debug, Default)]
pub(super) struct State {
    calls: SeededMap<SmolStr, SmolStr>,
}

/// Whether a value is an event: it has a source, and is an action or an observation.
pub(super) fn is_event(value: &Value) -> bool {
    text(value, "source").is_some()
        && (text(value, "action").is_some()
            || text(value, "observation").is_some()
            || is_kind(value))
}

/// Whether a value is an event of version 1.
fn is_kind(value: &Value) -> bool {
    text(value, "source").is_some()
        && text(value, "kind").is_some_and(|kind| kind.ends_with("Event"))
}

/// Reads the events of one OpenHands event.
pub(super) fn event(trace: &mut Trace, state: &mut State, event: &Value) {
    if is_kind(event) {
        of_kind(trace, event);
        return;
    }
    let source = text(event, "source").unwrap_or("agent");
    let role = if source == "agent" {
        "assistant"
    } else {
        source
    };
    if let Some(observation) = text(event, "observation") {
        observe(trace, state, event, observation);
        return;
    }
    match text(event, "action") {
        Some(action @ ("message" | "system")) => {
            let role = if action == "system" { "system" } else { role };
            let said = at(event, &["args", "content"]).or_else(|| get(event, "message"));
            trace.push(Draft::message(role, event).text(content_text(said)));
        }
        Some("null" | "change_agent_state") | None => {}
        Some(action) => {
            let args = trace.args(get(event, "args"));
            let thought = at(event, &["args", "thought"])
                .and_then(Value::as_str)
                .filter(|thought| !thought.is_empty())
                .map_or(Value::Null, Value::string);
            let own = id(get(event, "id"));
            let named = id(at(event, &["tool_call_metadata", "tool_call_id"]));
            let name = named.or_else(|| own.as_ref().map(|own| SmolStr::new(format!("#{own}"))));
            let draft = Draft::call(event)
                .role(role)
                .tool(Some(action))
                .args(args)
                .text(Some(thought));
            let call = trace.call(draft, name.as_deref());
            if let Some(own) = own {
                state.calls.insert(own, call);
            }
        }
    }
}

/// Reads an event of version 1: an action, what came of it, or a message.
fn of_kind(trace: &mut Trace, event: &Value) {
    let call = id(get(event, "tool_call_id"));
    match text(event, "kind") {
        Some("ActionEvent") => {
            let written = at(event, &["tool_call", "arguments"])
                .or_else(|| at(event, &["tool_call", "function", "arguments"]));
            let args = trace.args(written.or_else(|| get(event, "action")));
            let thought = content_text(get(event, "thought")).or(Some(Value::Null));
            let draft = Draft::call(event)
                .tool(text(event, "tool_name"))
                .args(args)
                .text(thought);
            trace.call(draft, call.as_deref());
        }
        Some("ObservationEvent") => {
            let seen = get(event, "observation");
            let error =
                seen.and_then(|seen| flag(seen, "is_error").or_else(|| flag(seen, "error")));
            let draft = Draft::result(event)
                .tool(text(event, "tool_name"))
                .text(content_text(seen))
                .outcome(seen.cloned())
                .error(error);
            trace.result(draft, call.as_deref());
        }
        // An error of the agent, or a rejection by the user, stands in place of the observation.
        _ if call.is_some() => {
            let said = ["error", "rejection_reason"];
            let said = said.iter().find_map(|key| get(event, key));
            let draft = Draft::result(event)
                .tool(text(event, "tool_name"))
                .text(content_text(said).or(Some(Value::Null)))
                .outcome(said.cloned())
                .error(Some(true));
            trace.result(draft, call.as_deref());
        }
        Some("MessageEvent") => {
            let message = get(event, "llm_message").unwrap_or(event);
            let source = text(event, "source").map(|source| match source {
                "agent" => "assistant",
                source => source,
            });
            let role = text(message, "role").or(source).unwrap_or("assistant");
            let said = content_text(get(message, "content"));
            trace.push(Draft::message(role, event).text(said));
            unread::calls_in(trace, event);
        }
        _ => {
            trace.push(Draft::other(event));
            unread::calls_in(trace, event);
        }
    }
}

fn observe(trace: &mut Trace, state: &State, event: &Value, observation: &str) {
    let cause = id(get(event, "cause"));
    let call = cause.as_ref().and_then(|cause| state.calls.get(cause));
    if call.is_none() && matches!(observation, "agent_state_changed" | "null") {
        return;
    }
    let content = get(event, "content");
    let draft = Draft::result(event)
        .text(content_text(content))
        .outcome(Some(without(event, &["tool_call_metadata", "llm_metrics"])).filter(is_object))
        .error(failed(event, observation));
    match call {
        Some(call) => trace.result(draft, Some(call)),
        // Its action was hidden: it answers nothing that we know.
        None => {
            let named = id(at(event, &["tool_call_metadata", "tool_call_id"]))
                .or_else(|| cause.map(|cause| SmolStr::new(format!("#{cause}"))));
            match named {
                Some(named) => trace.result(draft, Some(&named)),
                None => trace.push(draft),
            }
        }
    }
}

fn failed(event: &Value, observation: &str) -> Option<bool> {
    if observation == "error" {
        return Some(true);
    }
    let code = at(event, &["extras", "metadata", "exit_code"])
        .or_else(|| at(event, &["extras", "exit_code"]))
        .filter(|code| matches!(code, Value::Number(_)));
    code.map(|code| *code != Value::int(0))
        .or_else(|| flag(event, "success").map(|success| !success))
        .or_else(|| get(event, "extras").and_then(|extras| flag(extras, "error")))
}
