//! Rollouts of the Codex CLI: one JSON object per line, most of them items of the Responses API in an envelope.
//!
//! Every line is an item of the trace. What the CLI tells a second time as `event_msg` (user messages, reasoning) is of
//! kind `other`, so that nothing counts twice.

use smol_str::SmolStr;

use super::Input;
use super::event::Draft;
use super::json_text::Refusal;
use super::responses;
use super::shape::{first, get, id, is_object, kind, object, some, text};
use super::trace::{Out, Trace};
use super::units::{Item, flat};
use super::unread;
use crate::problem::ProblemKind;
use crate::value::Value;

pub(super) fn read(input: &Input<'_>, out: &mut Out) {
    let lines = flat(input, &["items"]);
    let mut numbered = lines.iter().enumerate();
    let Some((_, begin)) = numbered.find(|(index, line)| is_line(*index, line)) else {
        return unread::lose_all(&lines, "values that are not lines of a rollout", out);
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
            Some("response_item") => responses::checked(&mut trace, payload),
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

/// Whether a value is a line of a rollout: an envelope, or what old rollouts have instead, an item, a state or the header.
fn is_line(index: usize, line: &Item<'_>) -> bool {
    let line = line.value;
    match kind(line) {
        Some(_) => get(line, "payload").is_some_and(is_object) || responses::is_item(line),
        None => text(line, "record_type").is_some() || index == 0 && is_header(line),
    }
}

/// Whether a value is the header of an old rollout. Lines of other programs have ids and times too.
fn is_header(line: &Value) -> bool {
    let members = ["id", "timestamp", "instructions"];
    members.iter().all(|member| get(line, member).is_some())
}

/// Reads an old rollout, which has no envelope: a header with the session, then items.
fn bare(trace: &mut Trace, meta: &mut Vec<(SmolStr, Value)>, line: &Value) {
    match kind(line) {
        Some(_) if responses::is_item(line) => responses::checked(trace, line),
        // Calls are such items.
        Some("response_item") => {
            let refusal = Refusal {
                kind: ProblemKind::WrongType,
                message: "expected an item at `payload`".to_owned(),
            };
            trace.unreadable_call(line, refusal);
        }
        None if is_header(line) => gather(meta, line),
        _ => unread::calls_in(trace, line),
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
