//! LangSmith runs: trees with `child_runs`, or exports with one run per element or line.
//!
//! One trace per `trace_id`. The index of a run is its position in order of its start (trees: as they stand). A tool run
//! gives a call at its start and a result at its end, a model run a message at its end, any other run an event at its
//! start.

use crate::hash::SeededMap;
use indexmap::IndexMap;
use smol_str::SmolStr;

use super::anthropic;
use super::event::Draft;
use super::langchain;
use super::messages::{blocks, has_blocks};
use super::shape::{
    at, content_text, first, get, id, is_error, is_object, items, kind, list, object, says_nothing,
    some, text, without,
};
use super::spans::{Timeline, time};
use super::trace::{Out, Trace};
use super::units::flat;
use super::unread;
use super::{Input, ItemPlace};
use crate::value::{Instant, Value};

const WRAPPERS: [&str; 2] = ["runs", "data"];

/// Whether the input is made of runs.
pub(super) fn is_export(input: &Input<'_>) -> bool {
    flat(input, &WRAPPERS).iter().any(|item| is_run(item.value))
}

/// Whether a value is a run.
pub(super) fn is_run(value: &Value) -> bool {
    text(value, "run_type").is_some()
}

struct Run<'a> {
    value: &'a Value,
    line: Option<u64>,
    start: Option<Instant>,
    end: Option<Instant>,
}

pub(super) fn read(input: &Input<'_>, out: &mut Out) {
    let mut traces: IndexMap<Option<SmolStr>, Vec<Run<'_>>> = IndexMap::new();
    let items = flat(input, &WRAPPERS);
    let parents: SeededMap<SmolStr, SmolStr> = items
        .iter()
        .filter_map(|item| {
            let parent = id(first(item.value, &["parent_run_id", "parent_id"]))?;
            Some((id(first(item.value, &["id", "run_id"]))?, parent))
        })
        .collect();
    for item in items {
        if !is_run(item.value) {
            let place = ItemPlace {
                line: item.line,
                index: None,
            };
            out.lose_item("values that are not runs", place);
            continue;
        }
        let name = id(get(item.value, "trace_id")).or_else(|| {
            let mut root = id(first(item.value, &["id", "run_id"]))?;
            // Parents may form a ring in bad data.
            for _ in 0..64 {
                match parents.get(&root) {
                    Some(parent) => root = parent.clone(),
                    None => break,
                }
            }
            Some(root)
        });
        let runs = traces.entry(name).or_default();
        collect(item.value, item.line, runs);
    }
    for (n, (name, mut runs)) in traces.into_iter().enumerate() {
        runs.sort_by_key(|run| run.start);
        let mut trace = out.trace(
            name,
            u32::try_from(n).unwrap_or(u32::MAX),
            runs.first().and_then(|run| run.line),
        );
        read_trace(&mut trace, &runs, out);
        trace.finish(out);
    }
}

fn collect<'a>(value: &'a Value, line: Option<u64>, runs: &mut Vec<Run<'a>>) {
    let moment = |key| some(value, key).and_then(time);
    runs.push(Run {
        value,
        line,
        start: moment("start_time"),
        end: moment("end_time"),
    });
    for child in list(value, "child_runs").unwrap_or(&[]) {
        collect(child, line, runs);
    }
}

fn read_trace(trace: &mut Trace, runs: &[Run<'_>], out: &mut Out) {
    let runs_tools = runs
        .iter()
        .any(|run| text(run.value, "run_type") == Some("tool"));
    if let Some(root) = runs.first() {
        trace.meta(without(
            root.value,
            &["child_runs", "inputs", "outputs", "events", "serialized"],
        ));
    }
    let tells = |run: &Run<'_>| {
        matches!(
            text(run.value, "run_type"),
            Some("tool" | "llm" | "chat_model")
        )
    };
    // An export of roots alone has what models said in the outputs of the chains around them.
    let is_outline = !runs.iter().any(tells);
    let mut timeline = Timeline::default();
    for (index, run) in runs.iter().enumerate() {
        let raw = without(run.value, &["child_runs"]);
        let start = some(run.value, "start_time").cloned();
        let end = some(run.value, "end_time").cloned();
        let kind = text(run.value, "run_type");
        let speaks = matches!(kind, Some("llm" | "chat_model"));
        let at = if speaks {
            end.clone().or_else(|| start.clone())
        } else {
            start
        };
        trace.item(index, run.line, &raw, at.clone(), None);
        match kind {
            Some("tool") => {
                let call = call(trace, run.value, &raw);
                timeline.mark(trace, run.start);
                if some(run.value, "outputs").is_some() || some(run.value, "error").is_some() {
                    result(trace, run.value, &raw, &call, end);
                    timeline.mark(trace, run.end.or(run.start));
                }
            }
            _ if speaks => {
                message(trace, run.value, &raw, at, runs_tools, out);
                timeline.mark(trace, run.end.or(run.start));
            }
            _ => {
                let name = text(run.value, "name").map_or(Value::Null, Value::string);
                trace.push(Draft::other(&raw).text(Some(name)));
                if let Some(outputs) = get(run.value, "outputs").filter(|_| is_outline) {
                    unread::calls_in(trace, outputs);
                }
                timeline.mark(trace, run.start);
            }
        }
    }
    timeline.sort(trace);
}

/// Inputs are the arguments; tools that take one text have it as `input`.
fn call(trace: &mut Trace, run: &Value, raw: &Value) -> SmolStr {
    let inputs = get(run, "inputs").unwrap_or(&Value::Null);
    let args = match inputs {
        Value::Object(members) if members.len() == 1 => {
            trace.loose_args(get(inputs, "input").or(Some(inputs)))
        }
        Value::Null => None,
        inputs => Some(inputs.clone()),
    };
    let call_id = at(run, &["extra", "tool_call_id"])
        .or_else(|| at(run, &["outputs", "output", "tool_call_id"]));
    let call_id = id(call_id);
    let draft = Draft::call(raw).tool(text(run, "name")).args(args);
    trace.call(draft, call_id.as_deref())
}

fn result(trace: &mut Trace, run: &Value, raw: &Value, call: &str, at: Option<Value>) {
    let outputs = get(run, "outputs");
    let output = outputs
        .and_then(|outputs| get(outputs, "output"))
        .or(outputs);
    // A tool message in one of its dumps.
    let content = output.and_then(|output| {
        let fields = get(output, "kwargs").unwrap_or(output);
        get(fields, "content")
    });
    let given = content.or(output);
    let failed = some(run, "error");
    let error = failed.map_or(Some(false), |failed| Some(is_error(failed)));
    let said = match (given.and_then(|given| content_text(Some(given))), failed) {
        (None | Some(Value::Null), Some(failed)) => content_text(Some(failed)),
        (said, _) => said,
    };
    let draft = Draft::result(raw)
        .text(said)
        .packed_outcome(given.or(Some(&Value::Null)))
        .error(error)
        .at(at);
    trace.result(draft, Some(call));
}

fn message(
    trace: &mut Trace,
    run: &Value,
    raw: &Value,
    at: Option<Value>,
    runs_tools: bool,
    out: &mut Out,
) {
    let generation = get(run, "outputs").and_then(|outputs| {
        let generations = list(outputs, "generations")?.first()?;
        Some(
            items(generations)
                .and_then(<[Value]>::first)
                .unwrap_or(generations),
        )
    });
    let dumped = generation.and_then(|generation| get(generation, "message"));
    let chosen = get(run, "outputs")
        .and_then(|outputs| list(outputs, "choices").or_else(|| list(outputs, "messages")))
        .and_then(<[Value]>::last)
        .map(|choice| get(choice, "message").unwrap_or(choice));
    // Wrapped clients of OpenAI and Anthropic give the message itself, or beside other members.
    let given = get(run, "outputs")
        .map(|outputs| first(outputs, &["message", "output"]).unwrap_or(outputs));
    let given = given.filter(|given| text(given, "role").is_some() || has_blocks(given));
    let found = dumped.or(chosen).or(given).filter(|found| is_object(found));
    let fields = found.map(|found| get(found, "kwargs").or(get(found, "data")).unwrap_or(found));
    let said = fields
        .and_then(|fields| content_text(get(fields, "content")))
        .or_else(|| generation.and_then(|generation| content_text(get(generation, "text"))))
        .or_else(|| {
            get(run, "outputs")
                .and_then(|outputs| first(outputs, &["output", "content"]))
                .and_then(|said| content_text(Some(said)))
        });
    trace.push(Draft::message("assistant", raw).text(said).at(at.clone()));
    let calls = fields.and_then(|fields| get(fields, "tool_calls"));
    let calls = calls.filter(|calls| !says_nothing(Some(calls)));
    if runs_tools {
        let what = "calls requested by a model (read from the tool runs instead)";
        let count = calls.map_or(0, |calls| items(calls).map_or(1, <[Value]>::len));
        out.lose_parts(what, count as u64, trace.place());
        return;
    }
    if let Some(calls) = calls {
        let silent = object(vec![
            ("type".into(), Value::string("ai")),
            ("content".into(), Value::Null),
            ("tool_calls".into(), calls.clone()),
        ]);
        langchain::message(trace, &silent);
    }
    for block in fields.and_then(blocks).unwrap_or_default() {
        if kind(block).is_some_and(|kind| kind.ends_with("tool_use")) && !trace.has_made(block) {
            anthropic::block(trace, "assistant", block);
        }
    }
    if let Some(outputs) = get(run, "outputs") {
        unread::calls_in(trace, outputs);
    }
}
