//! Rollouts of the Codex CLI: one JSON object per line, most of them items of the Responses API in an envelope.
//!
//! Every line is an item of the trace. What the CLI tells a second time as `event_msg` (user messages, reasoning) is of
//! kind `other`, so that nothing counts twice.

use smol_str::SmolStr;

use super::Input;
use super::event::Draft;
use super::responses;
use super::shape::{first, get, id, is_object, kind, object, some, text};
use super::trace::{Out, Trace};
use super::units::flat;
use crate::value::Value;

pub(super) fn read(input: &Input<'_>, out: &mut Out) {
    let lines = flat(input, &["items"]);
    let Some(begin) = lines.first() else {
        return;
    };
    let mut trace = out.trace(None, 0, begin.line);
    let mut meta: Vec<(SmolStr, Value)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let at = some(line.value, "timestamp").cloned();
        trace.item(index, line.line, line.value, at, None);
        let Some(payload) = get(line.value, "payload").filter(|payload| is_object(payload)) else {
            bare(&mut trace, &mut meta, line.value);
            continue;
        };
        match kind(line.value) {
            Some("response_item") => responses::item(&mut trace, payload),
            Some("session_meta") => {
                gather(&mut meta, payload);
                trace.push(Draft::other(payload));
            }
            Some("turn_context") => {
                for key in ["model", "approval_policy", "sandbox_policy"] {
                    if let Some(value) = some(payload, key) {
                        remember(&mut meta, key, value);
                    }
                }
                trace.push(Draft::other(payload));
            }
            _ => {
                let said = first(payload, &["message", "text"]).and_then(Value::as_str);
                let said = said.map_or(Value::Null, Value::string);
                trace.push(Draft::other(payload).text(Some(said)));
            }
        }
    }
    trace.id(meta
        .iter()
        .find(|(key, _)| key == "id")
        .and_then(|(_, value)| id(Some(value))));
    trace.meta(object(meta));
    trace.finish(out);
}

/// Reads an old rollout, which has no envelope: a header with the session, then items.
fn bare(trace: &mut Trace, meta: &mut Vec<(SmolStr, Value)>, line: &Value) {
    match kind(line) {
        Some(_) if responses::is_item(line) => responses::item(trace, line),
        None if text(line, "id").is_some() && get(line, "timestamp").is_some() => {
            gather(meta, line);
        }
        _ => {}
    }
}

fn gather(meta: &mut Vec<(SmolStr, Value)>, payload: &Value) {
    if let Value::Object(members) = payload {
        for (key, value) in members.iter() {
            remember(meta, key, value);
        }
    }
}

/// Adds a meta field unless it is already there: the first value counts.
fn remember(meta: &mut Vec<(SmolStr, Value)>, key: &str, value: &Value) {
    if !meta.iter().any(|(known, _)| known == key) {
        meta.push((SmolStr::new(key), value.clone()));
    }
}
