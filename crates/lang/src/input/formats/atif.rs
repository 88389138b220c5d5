//! Trajectories in ATIF, the Agent Trajectory Interchange Format: one trace a trajectory, sub-agents apart.
//!
//! A step is a message, its calls, and its observations, which name their calls by `source_call_id`.

use std::collections::HashSet;

use smol_str::SmolStr;

use super::event::Draft;
use super::json_text::Refusal;
use super::messages;
use super::shape::{content_text, first, flag, get, id, list, some, text, without};
use super::trace::{Out, Trace};
use super::units::{Item, Lines, Record, flat};
use super::unread;
use super::{Input, ItemPlace};
use crate::problem::ProblemKind;
use crate::value::Value;

/// The versions of the format that are known: `ATIF-v1.0` to `ATIF-v1.8`.
const MINOR: std::ops::RangeInclusive<u32> = 0..=8;

/// Whether a value is a trajectory.
pub(super) fn is_trajectory(value: &Value) -> bool {
    text(value, "schema_version").is_some_and(|version| version.starts_with("ATIF-"))
}

pub(super) fn read(input: &Input<'_>, out: &mut Out) {
    let lines = match input {
        Input::Document { line, lists, .. } => Lines::of(*line, lists),
        _ => Lines::all(None),
    };
    let mut n = 0;
    for item in flat(input, &[]) {
        match list(item.value, "steps") {
            Some(_) => trajectory(&item, lines, None, &mut n, out),
            None => {
                let place = ItemPlace {
                    line: item.line,
                    index: None,
                };
                out.lose_item("values without `steps`", place);
            }
        }
    }
}

/// Reads a trajectory, and then those of its sub-agents.
fn trajectory(
    item: &Item<'_>,
    lines: Lines<'_>,
    agent: Option<&Value>,
    n: &mut u32,
    out: &mut Out,
) {
    let value = item.value;
    let name = id(first(value, &["trajectory_id", "session_id"]));
    let mut trace = out.trace(name, *n, item.line);
    *n = n.saturating_add(1);
    let apart = list(value, "subagent_trajectories").unwrap_or(&[]);
    trace.list("/steps");
    trace.meta(without(value, &["steps", "subagent_trajectories"]));
    let mut links = Links::new(apart);
    let steps = list(value, "steps").unwrap_or(&[]);
    for (index, step) in lines.of_elements(steps, item.line).enumerate() {
        let at = some(step.value, "timestamp").cloned();
        let agent = agent.cloned().or(Some(Value::Null));
        trace.item(index, step.line, step.value, at, agent);
        if index == 0 {
            faults(&mut trace, value, apart);
        }
        self::step(&mut trace, step.value, index, &mut links);
    }
    let place = ItemPlace {
        line: item.line,
        index: None,
    };
    out.lose_parts(
        "references to trajectories of sub-agents that are not in this file",
        links.elsewhere,
        place,
    );
    // The rest of the run is another trace, in another file.
    if some(value, "continued_trajectory_ref").is_some() {
        trace.complete(Some(false));
        out.lose_parts("a trajectory that is continued in another file", 1, place);
    }
    trace.finish(out);
    let record = Record {
        value,
        line: item.line,
        lines,
        n: *n,
    };
    let read = ["/steps", "/subagent_trajectories"].map(str::to_owned);
    unread::report(&record, &read, messages::speaks, out);
    for inner in apart {
        if list(inner, "steps").is_none() {
            out.lose_item("sub-agents without `steps`", place);
            continue;
        }
        let agent = get(inner, "agent").and_then(|agent| get(agent, "name"));
        let inner = Item {
            value: inner,
            line: item.line,
        };
        // A sub-agent without a name is one all the same.
        let unnamed = Value::string("sub-agent");
        trajectory(
            &inner,
            Lines::all(item.line),
            agent.or(Some(&unnamed)),
            n,
            out,
        );
    }
}

/// Notes what is odd about a trajectory as a whole.
fn faults(trace: &mut Trace, trajectory: &Value, apart: &[Value]) {
    let version = text(trajectory, "schema_version").unwrap_or_default();
    let minor = version.strip_prefix("ATIF-v1.").map(str::parse::<u32>);
    if !matches!(minor, Some(Ok(minor)) if MINOR.contains(&minor)) {
        let to = MINOR.end();
        let message = format!("version `{version}` is not known: read as ATIF-v1.{to}");
        note(trace, ProblemKind::Odd, "item", message);
    }
    let mut names = HashSet::new();
    for name in apart
        .iter()
        .filter_map(|inner| id(get(inner, "trajectory_id")))
    {
        if !names.insert(name.clone()) {
            let message = format!("duplicate trajectory id `{name}` of a sub-agent");
            note(trace, ProblemKind::Odd, "item", message);
        }
    }
}

fn note(trace: &mut Trace, kind: ProblemKind, field: &'static str, message: String) {
    trace.fault(field, Refusal { kind, message });
}

/// The sub-agents of a trajectory, as its observations refer to them.
struct Links {
    here: HashSet<SmolStr>,
    elsewhere: u64,
}

impl Links {
    fn new(apart: &[Value]) -> Links {
        Links {
            here: apart
                .iter()
                .filter_map(|inner| id(get(inner, "trajectory_id")))
                .collect(),
            elsewhere: 0,
        }
    }

    fn follow(&mut self, observation: &Value) {
        for link in list(observation, "subagent_trajectory_ref").unwrap_or(&[]) {
            let name = id(get(link, "trajectory_id"));
            let here = name.is_some_and(|name| self.here.contains(&name));
            self.elsewhere += u64::from(!here);
        }
    }
}

fn step(trace: &mut Trace, step: &Value, index: usize, links: &mut Links) {
    let number = get(step, "step_id");
    if number != Some(&Value::int(index as i128 + 1)) {
        let message = format!("expected the `step_id` {}", index + 1);
        note(trace, ProblemKind::Odd, "item", message);
    }
    let role = match text(step, "source") {
        Some("agent") => "assistant",
        Some(source) => source,
        None => "user",
    };
    if let Some(thought) = some(step, "reasoning_content") {
        let thought = content_text(Some(thought));
        trace.push(Draft::other(step).role(role).text(thought));
    }
    let calls = messages::calls(step);
    let said = content_text(get(step, "message"));
    let silent = match &said {
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Null) | None => true,
        Some(_) => false,
    };
    if !silent || calls.is_empty() {
        trace.push(Draft::message(role, step).text(said));
    }
    let mut own = HashSet::new();
    let before = trace.unreadable();
    for call in calls {
        match call {
            Ok(call) => {
                let args = trace.args(get(&call, "arguments"));
                let draft = Draft::call(&call)
                    .tool(text(&call, "function_name"))
                    .args(args);
                own.insert(trace.call(draft, id(get(&call, "tool_call_id")).as_deref()));
            }
            Err(refusal) => trace.unreadable_call(step, refusal),
        }
    }
    if trace.unreadable() == before {
        // What was observed may contain anything.
        if let Some(observation) = get(step, "observation") {
            trace.pass(observation);
        }
        unread::calls_in(trace, step);
    }
    let observed = get(step, "observation").and_then(|observed| list(observed, "results"));
    for observation in observed.unwrap_or(&[]) {
        links.follow(observation);
        result(trace, observation, &own);
    }
}

fn result(trace: &mut Trace, observation: &Value, own: &HashSet<SmolStr>) {
    let content = get(observation, "content");
    let call = id(get(observation, "source_call_id"));
    if call.is_none() && own.is_empty() {
        // What the environment reports without having been asked.
        let said = content_text(content).or(Some(Value::Null));
        trace.push(Draft::other(observation).text(said));
        return;
    }
    if let Some(call) = call.as_ref().filter(|call| !own.contains(*call)) {
        let message = format!("`source_call_id` `{call}` is no call of this step");
        note(trace, ProblemKind::Malformed, "call", message);
    }
    let extra = |key| get(observation, "extra").and_then(|extra| flag(extra, key));
    let draft = Draft::result(observation)
        .text(content_text(content).or(Some(Value::Null)))
        .packed_outcome(content.or(Some(&Value::Null)))
        .error(extra("is_error").or_else(|| extra("error")));
    trace.result(draft, call.as_deref());
}
