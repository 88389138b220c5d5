//! Trajectories of software agents: SWE-agent's `trajectory`, mini-swe-agent's messages, and the events of OpenHands (in
//! `openhands`).

use std::sync::LazyLock;

use regex::Regex;

use super::event::Draft;
use super::json_text::Refusal;
use super::messages::{find_list, is_message};
use super::openai;
use super::openhands;
use super::shape::{at, first, get, id, is_object, list, object, some, text, without};
use super::trace::{Out, Trace};
use super::units::{Items, Record, Unit, are_items, units};
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
            Unit::Record(record) => read_record(&record, out),
        }
    }
}

fn is_item(value: &Value) -> bool {
    is_step(value) || openhands::is_event(value) || is_message(value)
}

/// Whether a value is a step of SWE-agent: an action and an observation.
pub(super) fn is_step(value: &Value) -> bool {
    text(value, "action").is_some()
        && get(value, "observation").is_some()
        && get(value, "id").is_none()
}

fn read_record(record: &Record<'_>, out: &mut Out) {
    let place = ItemPlace {
        line: record.line,
        index: None,
    };
    let name = openai::record_id(record.value).or_else(|| {
        id(at(
            record.value,
            &["replay_config", "problem_statement", "id"],
        ))
    });
    for key in ["trajectory", "history", "events"] {
        let Some(inner) = list(record.value, key) else {
            continue;
        };
        let steps =
            are_items(inner.iter(), is_step) || are_items(inner.iter(), openhands::is_event);
        let nothing_yet = key == "trajectory" && inner.is_empty();
        if !(steps || nothing_yet) {
            continue;
        }
        let mut trace = out.trace(name, record.n, record.line);
        trace.list(format!("/{key}"));
        trace.meta(without(record.value, &[key]));
        read_items(&mut trace, &Items::of(inner, record.line, record.n));
        trace.finish(out);
        return;
    }
    if is_step(record.value) || openhands::is_event(record.value) {
        let mut trace = out.trace(None, record.n, record.line);
        let only = std::slice::from_ref(record.value);
        read_items(&mut trace, &Items::of(only, record.line, record.n));
        trace.finish(out);
        return;
    }
    let Some(found) = find_list(record, is_message, out) else {
        out.lose_item("a record without a trajectory", place);
        return;
    };
    let mut trace = out.trace(name, record.n, record.line);
    trace.meta(found.facts(record.value));
    trace.list(found.pointer);
    read_items(&mut trace, &Items::of(found.items, record.line, record.n));
    trace.finish(out);
}

fn read_items(trace: &mut Trace, items: &Items<'_>) {
    let mut events = openhands::State::default();
    let mut waiting = None;
    for (index, item) in items.items.iter().enumerate() {
        let value = item.value;
        let time = openai::at(value).or_else(|| get(value, "extra").and_then(openai::at));
        trace.item(index, item.line, value, time, None);
        if is_step(value) {
            step(trace, value);
        } else if openhands::is_event(value) {
            openhands::event(trace, &mut events, value);
        } else if some(value, "action").is_some_and(|action| action.as_str().is_none()) {
            unread_action(trace, value);
        } else if is_object(value) {
            unread::checked(trace, Some(value), |trace| {
                message(trace, value, &mut waiting);
            });
        }
    }
}

/// Adds an action that cannot be read: each is a call.
fn unread_action(trace: &mut Trace, holder: &Value) {
    let refusal = Refusal {
        kind: ProblemKind::WrongType,
        message: "expected an action as text".to_owned(),
    };
    trace.unreadable_call(holder, refusal);
}

/// Reads the thought, the action and the observation. The tool is the first word of the command, the command its argument.
fn step(trace: &mut Trace, step: &Value) {
    let said = first(step, &["thought", "response"]).and_then(Value::as_str);
    if let Some(said) = said.filter(|said| !said.trim().is_empty()) {
        let said = Some(Value::string(said));
        trace.push(Draft::message("assistant", step).text(said));
    }
    let command = text(step, "action").unwrap_or("");
    let Some(tool) = command.split_whitespace().next() else {
        return;
    };
    let args = object(vec![("command".into(), Value::string(command))]);
    let draft = Draft::call(step).tool(Some(tool)).args(Some(args));
    let call = trace.call(draft, None);
    let seen = get(step, "observation").filter(|seen| !seen.is_null());
    if let Some(seen) = seen {
        let draft = Draft::result(step)
            .text(super::shape::content_text(Some(seen)))
            .outcome(Some(seen.clone()));
        trace.result(draft, Some(&call));
    }
}

/// The one fenced command of a mini-swe-agent's message.
static FENCE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?s)```(?:bash|sh|mswea_bash_command)\s*\n(.*?)\n?```").ok());

static RETURNED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"<returncode>\s*(-?\d+)\s*</returncode>").ok());

/// Reads a message. If an agent without tool calls writes its command into the message, the next user message is the result.
fn message(trace: &mut Trace, message: &Value, waiting: &mut Option<smol_str::SmolStr>) {
    let said = text(message, "content").unwrap_or("");
    let returned = RETURNED
        .as_ref()
        .and_then(|returned| returned.captures(said))
        .and_then(|found| Some(found.get(1)?.as_str() != "0"));
    if matches!(text(message, "role"), Some("user" | "tool"))
        && let Some(call) = waiting.take()
        && (returned.is_some() || said.starts_with("Observation") || said.contains("<output>"))
    {
        let code = at(message, &["extra", "returncode"]);
        let failed = returned.or_else(|| code.map(|code| *code != Value::int(0)));
        let draft = Draft::result(message)
            .text(Some(Value::string(said)))
            .outcome(get(message, "content").cloned())
            .error(failed);
        trace.result(draft, Some(&call));
        return;
    }
    openai::message(trace, message);
    if text(message, "role") != Some("assistant") || super::messages::makes_calls(message) {
        return;
    }
    let actions = get(message, "extra").and_then(|extra| some(extra, "actions"));
    let actions = match actions {
        Some(Value::List(actions)) => actions,
        one => one.map_or(&[][..], std::slice::from_ref),
    };
    let mut commands: Vec<&str> = Vec::new();
    for action in actions {
        match text(action, "command").or_else(|| action.as_str()) {
            Some(command) => commands.push(command),
            None => unread_action(trace, message),
        }
    }
    if actions.is_empty() {
        let mut fenced = FENCE.iter().flat_map(|fence| fence.captures_iter(said));
        // The agent's rule is one command a message; other numbers are not run.
        if let (Some(one), None) = (fenced.next(), fenced.next()) {
            commands.extend(one.get(1).map(|command| command.as_str()));
        }
    }
    for command in commands {
        let args = object(vec![("command".into(), Value::string(command))]);
        let draft = Draft::call(message).tool(Some("bash")).args(Some(args));
        *waiting = Some(trace.call(draft, None));
    }
}
