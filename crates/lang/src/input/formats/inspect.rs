//! Logs of Inspect AI: one trace a sample, from its events; `.eval` archives come as logs of one sample each.
//!
//! A model's input repeats the conversation so far, so that a message is read when it occurs for the first time: in a
//! log the inputs are ranges of a pool (`input_refs`), whose messages are distinguished by their contents, not by their ids.
//! The events of a sample are put in order of time, since that of a tool stands where the call began.

use std::collections::HashMap;

use smol_str::{SmolStr, format_smolstr};

use super::event::Draft;
use super::inspect_messages::{MOST_REFS, Messages, Pool, key};
use super::inspect_spans::Spans;
use super::json_text::Refusal;
use super::messages;
use super::shape::{
    at, content_text, first, flag, get, id, is_error, is_object, items, kind, list, object, some,
    text, without,
};
use super::spans::{Timeline, time};
use super::trace::{Out, Trace};
use super::units::{Item, Lines};
use super::unread;
use super::{Input, ItemPlace, openai};
use crate::input::document;
use crate::problem::ProblemKind;
use crate::value::{Instant, Text, Value};

/// The versions of the format that are known.
const VERSIONS: [i128; 2] = [1, 2];

/// The prefix of a reference to the sample's `attachments`.
const ATTACHMENT: &str = "attachment://";

/// The facts of the whole log that its traces have as `/eval/…`.
const FACTS: [&str; 12] = [
    "task",
    "task_id",
    "task_version",
    "task_args",
    "run_id",
    "eval_id",
    "created",
    "model",
    "solver",
    "tags",
    "metadata",
    "revision",
];

/// Whether a value is a log: it has a version, and names the task of an evaluation.
pub(super) fn is_log(value: &Value) -> bool {
    matches!(get(value, "version"), Some(Value::Number(_)))
        && at(value, &["eval", "task"]).is_some()
}

pub(super) fn read(input: &Input<'_>, out: &mut Out) {
    match input {
        Input::Document { value, line, lists } => {
            document(value, Lines::of(*line, lists), *line, out);
        }
        Input::Lines(lines) => {
            for (line, value) in *lines {
                document(value, Lines::all(Some(*line)), Some(*line), out);
            }
        }
        Input::Text(_) => {}
    }
}

fn document(value: &Value, lines: Lines<'_>, line: Option<u64>, out: &mut Out) {
    let place = ItemPlace { line, index: None };
    let Some(samples) = list(value, "samples") else {
        out.lose_item("a log without samples", place);
        return;
    };
    for (n, item) in (0..).zip(lines.of_elements(samples, line)) {
        match is_object(item.value) {
            true => sample(value, &item, n, out),
            false => out.lose_item("samples that are not objects", place),
        }
    }
}

fn sample(log: &Value, sample: &Item<'_>, n: u32, out: &mut Out) {
    let value = sample.value;
    let name = id(get(value, "id")).map(|name| match id(get(value, "epoch")) {
        Some(epoch) => format_smolstr!("{name}_epoch_{epoch}"),
        None => name,
    });
    let mut reader = Reader {
        trace: out.trace(name.clone(), n, sample.line),
        line: sample.line,
        attachments: attachments(value),
        timeline: Timeline::default(),
        now: None,
        agent: Value::Null,
        spans: Spans::default(),
        scorer: None,
        messages: Messages::default(),
        pool: Pool::default(),
        out,
    };
    reader.trace.meta(facts(log, value, name));
    // A sample is logged when it is over; an error ended it before its agent did.
    let failed = some(value, "error").is_some_and(is_error);
    reader.trace.complete(Some(!failed));
    reader.sample(log, value);
}

/// Returns the sample without what its events are read from, and with facts of the log. Its `id` is the name of the trace,
/// since other epochs have the same id.
fn facts(log: &Value, sample: &Value, name: Option<SmolStr>) -> Value {
    let own = [
        "events",
        "messages",
        "attachments",
        "events_data",
        "output",
        "store",
        "timelines",
    ];
    let Value::Object(members) = without(sample, &own) else {
        return Value::Null;
    };
    let mut facts: Vec<(SmolStr, Value)> = members
        .iter()
        .filter(|(name, _)| *name != "eval" && *name != "sample_id")
        .map(|(name, value)| match name.as_str() {
            "id" => ("sample_id".into(), value.clone()),
            _ => (name.clone(), value.clone()),
        })
        .collect();
    facts.extend(name.map(|name| ("id".into(), Value::String(name.into()))));
    let eval = FACTS
        .iter()
        .filter_map(|name| Some((SmolStr::new_static(name), at(log, &["eval", name])?.clone())))
        .collect();
    facts.push(("eval".into(), object(eval)));
    object(facts)
}

fn attachments(sample: &Value) -> HashMap<&str, &Text> {
    let Some(Value::Object(members)) = get(sample, "attachments") else {
        return HashMap::new();
    };
    let texts = members.iter().filter_map(|(name, value)| match value {
        Value::String(text) => Some((name.as_str(), text)),
        _ => None,
    });
    texts.collect()
}

struct Reader<'a> {
    trace: Trace,
    line: Option<u64>,
    attachments: HashMap<&'a str, &'a Text>,
    timeline: Timeline,
    /// The latest time so far, for events that have none.
    now: Option<Instant>,
    /// The agent of the current event.
    agent: Value,
    spans: Spans,
    /// The scorer that is at work, in logs from before there were spans.
    scorer: Option<Value>,
    messages: Messages,
    pool: Pool,
    out: &'a mut Out,
}

impl Reader<'_> {
    fn sample(mut self, log: &Value, sample: &Value) {
        let events = list(sample, "events").unwrap_or(&[]);
        let messages = list(sample, "messages").unwrap_or(&[]);
        let acts = |event: &Value| matches!(text(event, "event"), Some("model" | "tool"));
        let by_events = events.iter().any(acts);
        self.trace.list(match by_events {
            true => "/events",
            false => "/messages",
        });
        let place = ItemPlace {
            line: self.line,
            index: None,
        };
        if by_events {
            self.spans = Spans::of(events);
            let pool = at(sample, &["events_data", "messages"]).and_then(items);
            self.pool.of(pool.unwrap_or(&[]).len());
            for (index, event) in events.iter().enumerate() {
                let resolved = self.resolve(event);
                let at = some(&resolved, "timestamp").cloned();
                self.trace.item(index, self.line, &resolved, at, None);
                self.event(&resolved, pool.unwrap_or(&[]));
            }
        } else {
            let what = "events of a sample without model and tool events (its messages were read)";
            self.out.lose_parts(what, events.len() as u64, place);
        }
        // Whatever no event shows stands behind the events.
        self.messages.begin();
        let behind = if by_events { events.len() } else { 0 };
        self.agent = Value::Null;
        for (index, message) in messages.iter().enumerate() {
            let resolved = self.resolve(message);
            if self.messages.is_first(&key(&resolved)) {
                self.trace
                    .item(behind + index, self.line, &resolved, None, None);
                self.message(&resolved, None);
            }
        }
        let version = match get(log, "version") {
            Some(Value::Number(number)) => number.to_int(),
            _ => None,
        };
        if !version.is_some_and(|version| VERSIONS.contains(&version)) {
            self.note("version of the log is not known: read as version 2".into());
        }
        let retries = list(sample, "error_retries").unwrap_or(&[]).len() as u64;
        let what = "attempts at a sample that failed before (`error_retries`)";
        self.out.lose_parts(what, retries, place);
        self.timeline.sort(&mut self.trace);
        self.trace.finish(self.out);
    }

    fn note(&mut self, message: String) {
        let kind = ProblemKind::Odd;
        self.trace.fault("item", Refusal { kind, message });
    }

    /// Returns a value with its attachments in place. One that is missing is unknown, and a problem.
    fn resolve(&mut self, value: &Value) -> Value {
        let mut missing = None;
        let resolved = resolve(value, &self.attachments, &mut missing);
        if let Some(name) = missing {
            let refusal = Refusal {
                kind: ProblemKind::Malformed,
                message: format!("attachment `{name}` is not in the sample"),
            };
            self.trace.fault("item", refusal);
        }
        resolved.unwrap_or_else(|| value.clone())
    }

    /// Adds an event of the trace that happened then, or when the one before it did.
    fn push(&mut self, draft: Draft) {
        let draft = self.placed(draft);
        self.trace.push(draft);
        self.mark();
    }

    fn placed(&mut self, mut draft: Draft) -> Draft {
        self.now = draft.at.as_ref().and_then(time).or(self.now);
        draft.agent = Some(self.agent.clone());
        draft
    }

    fn mark(&mut self) {
        self.timeline.mark(&self.trace, self.now);
    }

    fn call(&mut self, draft: Draft, id: Option<&str>) -> SmolStr {
        let draft = self.placed(draft);
        let id = self.trace.call(draft, id);
        self.mark();
        id
    }

    fn result(&mut self, draft: Draft, id: Option<&str>) {
        let draft = self.placed(draft);
        self.trace.result(draft, id);
        self.mark();
    }

    fn event(&mut self, event: &Value, pool: &[Value]) {
        let started = some(event, "timestamp").cloned();
        let ended = some(event, "completed").cloned().or(started.clone());
        let span = id(get(event, "span_id"));
        self.agent = match (span, &self.scorer) {
            (Some(span), _) => self.spans.agent(&span),
            (None, Some(scorer)) => scorer.clone(),
            (None, None) => Value::Null,
        };
        let said = |path: &[&str]| at(event, path).and_then(|said| content_text(Some(said)));
        let other = Draft::other(event).at(started.clone());
        match text(event, "event").unwrap_or_default() {
            "model" => self.model(event, pool, started, ended),
            "tool" => {
                self.tool(event, started, ended);
                self.nested(event, pool);
            }
            "sample_init" => {
                self.messages.begin();
                let messages = at(event, &["state", "messages"]).and_then(items);
                for message in messages.unwrap_or(&[]) {
                    if self.messages.is_first(&key(message)) {
                        self.message(message, started.clone());
                    }
                }
            }
            "subtask" => {
                self.push(other.text(said(&["name"])));
                self.nested(event, pool);
            }
            "approval" | "review" => {
                let call = id(at(event, &["call", "id"]));
                let why = said(&["explanation"]).or(Some(Value::Null));
                self.push(other.about_call(call.as_deref()).text(why));
            }
            "sandbox" => {
                let failed = match get(event, "result") {
                    Some(Value::Number(code)) => Some(code.to_int() != Some(0)),
                    _ => None,
                };
                let what = said(&["cmd"]).or_else(|| said(&["file"]));
                self.push(other.text(what).error(failed));
            }
            "error" => self.push(other.text(said(&["error", "message"])).error(Some(true))),
            "step" => {
                let begins = text(event, "action") == Some("begin");
                if kind(event) == Some("scorer") {
                    self.scorer = get(event, "name").filter(|_| begins).cloned();
                }
                self.push(other.text(said(&["name"])));
            }
            "span_begin" => self.push(other.text(said(&["name"]))),
            "info" => self.push(other.text(said(&["data"]).or(Some(Value::Null)))),
            "logger" => self.push(other.text(said(&["message", "message"]))),
            "score" => self.push(other.text(said(&["score", "explanation"]).or(Some(Value::Null)))),
            "sample_limit" => self.push(other.text(said(&["message"]))),
            "input" => self.push(other.text(said(&["input"]))),
            _ => self.push(other),
        }
    }

    /// Reads the events below an event, as logs had them before there were spans.
    fn nested(&mut self, event: &Value, pool: &[Value]) {
        for event in list(event, "events").unwrap_or(&[]) {
            self.event(event, pool);
        }
    }

    fn model(
        &mut self,
        event: &Value,
        pool: &[Value],
        started: Option<Value>,
        ended: Option<Value>,
    ) {
        self.messages.begin();
        for message in list(event, "input").unwrap_or(&[]) {
            if self.messages.is_first(&key(message)) {
                self.message(message, started.clone());
            }
        }
        let ranges = list(event, "input_refs").unwrap_or(&[]);
        for range in ranges {
            let bound = |value: &Value| match value {
                Value::Number(number) => usize::try_from(number.to_int()?).ok(),
                _ => None,
            };
            let bounds = items(range).and_then(|range| match range {
                [from, to] => Some(bound(from)?..bound(to)?),
                _ => None,
            });
            let Some(bounds) = bounds.filter(|bounds| bounds.end <= pool.len()) else {
                self.fault(
                    ProblemKind::Malformed,
                    format!("`input_refs` {range} is not a range of the sample's messages"),
                );
                continue;
            };
            for place in bounds {
                if !self.pool.spend() {
                    let message = format!(
                        "`input_refs` stand for more than {MOST_REFS} messages: later ones are not read"
                    );
                    if self.pool.report_limit() {
                        self.fault(ProblemKind::Limit, message);
                    }
                    break;
                }
                let Some(message) = pool.get(place) else {
                    break;
                };
                let number = match self.pool.number(place) {
                    Some(number) => number,
                    None => {
                        let resolved = self.resolve(message);
                        let number = self.messages.number(&key(&resolved));
                        self.pool.set(place, number, resolved);
                        number
                    }
                };
                if self.messages.occurs(number)
                    && let Some(message) = self.pool.message(place)
                {
                    self.message(&message, started.clone());
                }
            }
        }
        let choices = at(event, &["output", "choices"]).and_then(items);
        let Some((choice, others)) = choices.and_then(<[Value]>::split_first) else {
            let failed = some(event, "error");
            let draft = Draft::other(event)
                .text(failed.and_then(|failed| content_text(Some(failed))))
                .error(failed.map(|_| true))
                .at(ended);
            self.push(draft);
            if let Some(output) = get(event, "output") {
                self.call_in(output);
            }
            return;
        };
        let place = self.trace.place();
        self.out
            .lose_parts(openai::OTHER_CHOICES, others.len() as u64, place);
        let message = get(choice, "message").unwrap_or(choice);
        self.messages.is_first(&key(message));
        self.message(message, ended);
    }

    fn fault(&mut self, kind: ProblemKind, message: String) {
        self.trace.fault("text", Refusal { kind, message });
    }

    /// Reads a message of a conversation, which was not read before.
    fn message(&mut self, message: &Value, at: Option<Value>) {
        let role = text(message, "role").unwrap_or("user");
        let content = get(message, "content");
        if role == "tool" {
            let failed = some(message, "error");
            let draft = Draft::result(message)
                .tool(text(message, "function"))
                .text(outcome_text(content, failed))
                .packed_outcome(content)
                .error(Some(failed.is_some_and(is_error)))
                .at(at);
            let call = id(get(message, "tool_call_id"));
            self.result(draft, call.as_deref());
            return;
        }
        let blocks = content.and_then(items).unwrap_or(&[]);
        for block in blocks
            .iter()
            .filter(|block| kind(block) == Some("reasoning"))
        {
            let thought = first(block, &["reasoning", "summary"]);
            let draft = Draft::other(block)
                .role(role)
                .text(thought.and_then(|thought| content_text(Some(thought))))
                .at(at.clone());
            self.push(draft);
        }
        let before = self.trace.unreadable();
        let calls = messages::calls(message);
        let hosted = blocks
            .iter()
            .filter(|block| kind(block) == Some("tool_use"));
        let hosted: Vec<&Value> = hosted.collect();
        let speech = speech(content);
        let silent = match &speech {
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Null) => true,
            _ => false,
        };
        if !silent || calls.is_empty() && hosted.is_empty() {
            let draft = Draft::message(role, message).text(speech).at(at.clone());
            self.push(draft);
        }
        for call in calls {
            let call = match call {
                Ok(call) => call,
                Err(refusal) => {
                    self.trace.unreadable_call(message, refusal);
                    self.mark();
                    continue;
                }
            };
            let call = call.as_ref();
            // Arguments that could not be parsed are not those of the model.
            let args = match some(call, "parse_error") {
                Some(_) => None,
                None => self.trace.args(get(call, "arguments")),
            };
            let draft = Draft::call(call)
                .tool(text(call, "function"))
                .args(args)
                .at(at.clone());
            let id = id(get(call, "id"));
            self.call(draft, id.as_deref());
        }
        for block in hosted {
            let args = self.trace.loose_args(get(block, "arguments"));
            let draft = Draft::call(block)
                .tool(text(block, "name"))
                .args(args)
                .at(at.clone());
            let id = id(get(block, "id"));
            let id = self.call(draft, id.as_deref());
            let failed = some(block, "error");
            let result = get(block, "result");
            let draft = Draft::result(block)
                .text(outcome_text(result, failed))
                .packed_outcome(result)
                .error(Some(failed.is_some_and(is_error)))
                .at(at.clone());
            self.result(draft, Some(&id));
        }
        if self.trace.unreadable() == before {
            self.call_in(message);
        }
    }

    /// Reads a call where no reader looks as one of which nothing is known.
    fn call_in(&mut self, value: &Value) {
        unread::calls_in(&mut self.trace, value);
        self.mark();
    }

    /// Reads the event of a tool: the result of a call that a model made, or both, if something else called it.
    fn tool(&mut self, event: &Value, started: Option<Value>, ended: Option<Value>) {
        let call = id(get(event, "id"));
        let tool = text(event, "function");
        let args = self.trace.args(get(event, "arguments"));
        let known = call.as_deref().is_some_and(|id| self.trace.knows_call(id));
        let call = match (known, call) {
            (true, Some(call)) => call,
            (_, call) => {
                let draft = Draft::call(event).tool(tool).args(args.clone()).at(started);
                self.call(draft, call.as_deref())
            }
        };
        if flag(event, "pending") == Some(true) {
            return;
        }
        let failed =
            some(event, "error").is_some_and(is_error) || flag(event, "failed") == Some(true);
        let result = get(event, "result");
        // An approver may have changed the arguments: these are those that were used.
        let draft = Draft::result(event)
            .tool(tool)
            .args(args)
            .text(outcome_text(result, some(event, "error")))
            .packed_outcome(result)
            .error(Some(failed))
            .at(ended);
        self.messages.begin();
        self.messages.is_first(&format!("tool\0{call}"));
        self.result(draft, Some(&call));
    }
}

/// Returns what a tool gave as a text, or what went wrong.
fn outcome_text(result: Option<&Value>, failed: Option<&Value>) -> Option<Value> {
    let said = content_text(result);
    match (&said, failed) {
        (Some(Value::String(text)), Some(_)) if !text.is_empty() => said,
        (_, Some(failed)) => content_text(Some(get(failed, "message").unwrap_or(failed))),
        _ => said,
    }
}

/// Returns the text of a message: of its blocks, those that are neither reasoning nor calls.
fn speech(content: Option<&Value>) -> Option<Value> {
    let Some(Value::List(blocks)) = content else {
        return content_text(content);
    };
    let said = blocks
        .iter()
        .filter(|block| !matches!(kind(block), Some("reasoning" | "tool_use")));
    content_text(Some(&Value::list(said.cloned().collect())))
}

/// Returns a value whose texts are put in place of references; `None` if it has no reference.
fn resolve(
    value: &Value,
    attachments: &HashMap<&str, &Text>,
    missing: &mut Option<SmolStr>,
) -> Option<Value> {
    match value {
        Value::String(text) => {
            let name = text.strip_prefix(ATTACHMENT)?;
            Some(match attachments.get(name) {
                Some(text) => Value::String((*text).clone()),
                None => {
                    missing.get_or_insert_with(|| name.into());
                    document::unknown(ProblemKind::Malformed)
                }
            })
        }
        Value::List(items) => {
            let mut resolved: Option<Vec<Value>> = None;
            for (place, item) in items.iter().enumerate() {
                if let Some(item) = resolve(item, attachments, missing) {
                    let list = resolved.get_or_insert_with(|| items.to_vec());
                    list[place] = item;
                }
            }
            resolved.map(Value::list)
        }
        Value::Object(members) => {
            let mut resolved: Option<Vec<(SmolStr, Value)>> = None;
            for (place, (_, value)) in members.iter().enumerate() {
                if let Some(value) = resolve(value, attachments, missing) {
                    let all = || {
                        members
                            .iter()
                            .map(|(name, value)| (name.clone(), value.clone()))
                    };
                    let members = resolved.get_or_insert_with(|| all().collect());
                    members[place].1 = value;
                }
            }
            resolved.map(object)
        }
        _ => None,
    }
}
