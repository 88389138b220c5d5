//! Events of OpenHands: actions, and observations that point to their action by `cause`.
//!
//! The tool of a call is the action (`run`, `read`, `edit` …), as its arguments are those of the action; the name that the
//! model used is in `raw.tool_call_metadata.function_name`.

use crate::hash::SeededMap;
use smol_str::SmolStr;

use super::event::Draft;
use super::shape::{at, content_text, flag, get, id, is_object, text, without};
use super::trace::Trace;
use crate::value::Value;

/// The call of each action, by the id of its event.
#[derive(Debug, Default)]
pub(super) struct State {
    calls: SeededMap<SmolStr, SmolStr>,
}

/// Whether a value is an event: it has a source, and is an action or an observation.
pub(super) fn is_event(value: &Value) -> bool {
    text(value, "source").is_some()
        && (text(value, "action").is_some() || text(value, "observation").is_some())
}

/// Reads the events of one OpenHands event.
pub(super) fn event(trace: &mut Trace, state: &mut State, event: &Value) {
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
