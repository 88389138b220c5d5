//! OpenTelemetry spans with GenAI, OpenInference or MCP attributes.
//!
//! One trace per trace id. The index of a span is its position in the order of (start, end), whatever the order of the
//! file. A tool span gives a call at its start and a result at its end, a model span a message at its end, any other span
//! an event at its start; events are in order of time. What telemetry leaves out by default, arguments and contents, is
//! absent, not null. `raw` is the span as recorded, `item` the same in one shape for all encodings.

use std::collections::BTreeMap;

use crate::hash::SeededMap;
use indexmap::IndexMap;
use smol_str::SmolStr;

use super::event::Draft;
use super::json_text::{self, Refusal};
use super::otel_span::{Around, Span, is_span, resource_of, span};
use super::shape::{
    content_text, first, get, id, is_object, items, join, kind, list, object, part_text,
    says_nothing, some, text, unpack, without,
};
use super::spans::{Timeline, rfc3339};
use super::trace::{Out, Trace};
use super::units::Lines;
use super::unread;
use super::{Input, ItemPlace};
use crate::problem::ProblemKind;
use crate::value::{Text, Value};

pub(super) fn read(input: &Input<'_>, out: &mut Out) {
    let mut spans = Vec::new();
    match input {
        Input::Document { value, line, lists } => {
            let lines = Lines::of(*line, lists);
            collect(value, around(*line), lines, &mut spans, out);
        }
        Input::Lines(lines) => {
            for (line, value) in *lines {
                let lines = Lines::all(Some(*line));
                collect(value, around(Some(*line)), lines, &mut spans, out);
            }
        }
        Input::Text(_) => {}
    }
    let mut traces: IndexMap<Option<SmolStr>, Vec<Span<'_>>> = IndexMap::new();
    for span in spans {
        traces.entry(span.trace.clone()).or_default().push(span);
    }
    for (n, (id, mut spans)) in traces.into_iter().enumerate() {
        spans.sort_by_key(|span| (span.start, span.end));
        read_trace(id, u32::try_from(n).unwrap_or(u32::MAX), &spans, out);
    }
}

fn around(line: Option<u64>) -> Around {
    Around {
        line,
        trace: None,
        resource: object(Vec::new()),
        facts: object(Vec::new()),
        otlp: false,
    }
}

/// Finds the spans in a document, whatever wraps them.
fn collect<'a>(
    value: &'a Value,
    around: Around,
    lines: Lines<'_>,
    spans: &mut Vec<Span<'a>>,
    out: &mut Out,
) {
    // Each element with its own line.
    let each = |list: &'a [Value]| {
        let line = around.line;
        lines.of_elements(list, line).map(|item| {
            let around = Around {
                line: item.line,
                ..around.clone()
            };
            (item.value, around)
        })
    };
    if let Some(elements) = items(value) {
        for (element, around) in each(elements) {
            collect(element, around, lines, spans, out);
        }
        return;
    }
    for key in ["resourceSpans", "resource_spans", "batches"] {
        if let Some(resources) = list(value, key) {
            for (resource, around) in each(resources) {
                resource_spans(resource, &around, spans, out);
            }
            return;
        }
    }
    if let Some(inner) = list(value, "spans") {
        let trace = id(first(value, &["trace_id", "traceId", "traceID"]));
        // All spans share one object of facts.
        let facts = without(value, &["spans"]);
        for (element, around) in each(inner) {
            let around = Around {
                trace: trace.clone().or_else(|| around.trace.clone()),
                facts: facts.clone(),
                ..around
            };
            one(element, &around, spans, out);
        }
        return;
    }
    if let Some(inner) = ["data", "traces"].iter().find_map(|key| list(value, key))
        && !is_span(value)
    {
        for (element, around) in each(inner) {
            collect(element, around, lines, spans, out);
        }
        return;
    }
    one(value, &around, spans, out);
}

fn resource_spans<'a>(
    resource: &'a Value,
    around: &Around,
    spans: &mut Vec<Span<'a>>,
    out: &mut Out,
) {
    let attributes = get(resource, "resource").map_or_else(|| object(Vec::new()), resource_of);
    let around = Around {
        resource: attributes,
        otlp: true,
        ..around.clone()
    };
    let scopes = ["scopeSpans", "scope_spans", "instrumentationLibrarySpans"]
        .iter()
        .find_map(|key| list(resource, key));
    let place = ItemPlace {
        line: around.line,
        index: None,
    };
    let Some(scopes) = scopes else {
        out.lose_item("values that are not spans", place);
        return;
    };
    for scope in scopes {
        let Some(inner) = list(scope, "spans") else {
            out.lose_item("values that are not spans", place);
            continue;
        };
        for element in inner {
            one(element, &around, spans, out);
        }
    }
}

fn one<'a>(value: &'a Value, around: &Around, spans: &mut Vec<Span<'a>>, out: &mut Out) {
    if is_object(value) && (is_span(value) || around.otlp || around.trace.is_some()) {
        spans.push(span(value, around));
    } else {
        let place = ItemPlace {
            line: around.line,
            index: None,
        };
        out.lose_item("values that are not spans", place);
    }
}

/// Returns the operation of a span, in the terms of `gen_ai.operation.name`.
fn operation<'a>(span: &'a Span<'_>) -> Option<&'a str> {
    if let Some(name) = span.text("gen_ai.operation.name") {
        return Some(name);
    }
    if span.text("mcp.method.name") == Some("tools/call")
        || span.attribute("gen_ai.tool.name").is_some()
        || span.name.starts_with("execute_tool ")
    {
        return Some("execute_tool");
    }
    // The AI SDK: the name of what is done, then that of the function which does it.
    let done = span.text("operation.name").unwrap_or(&span.name);
    match done.split_whitespace().next().unwrap_or_default() {
        "ai.toolCall" => return Some("execute_tool"),
        done if done.starts_with("ai.") => {
            let asks = done.ends_with(".doGenerate") || done.ends_with(".doStream");
            return Some(if asks { "chat" } else { "invoke_agent" });
        }
        _ => {}
    }
    let kind = ["openinference.span.kind", "traceloop.span.kind"]
        .iter()
        .find_map(|key| span.text(key));
    let Some(kind) = kind else {
        let completes =
            span.attribute("llm.request.type").is_some() || numbered_calls(span).next().is_some();
        return completes.then_some("chat");
    };
    Some(match kind {
        "TOOL" | "tool" => "execute_tool",
        "AGENT" | "agent" => "invoke_agent",
        "LLM" | "llm" => "call_llm",
        "CHAIN" | "workflow" => "invoke_workflow",
        "RETRIEVER" => "retrieval",
        "EMBEDDING" => "embeddings",
        other => other,
    })
}

fn speaks(operation: &str) -> bool {
    matches!(
        operation,
        "chat" | "text_completion" | "generate_content" | "call_llm"
    )
}

fn read_trace(id: Option<SmolStr>, n: u32, spans: &[Span<'_>], out: &mut Out) {
    let agents = agents(spans);
    let runs_tools = spans
        .iter()
        .any(|span| operation(span) == Some("execute_tool"));
    let mut trace = out.trace(id.clone(), n, spans.first().and_then(|span| span.line));
    trace.meta(meta(id, spans));
    let mut timeline = Timeline::default();
    for (index, span) in spans.iter().enumerate() {
        let operation = operation(span);
        let start = span.start.and_then(rfc3339);
        let end = span.end.and_then(rfc3339);
        let agent = agents
            .get(index)
            .cloned()
            .flatten()
            .map(|agent| Value::String(agent.into()));
        let item = match trace.keeps_sources() {
            true => span.normal(operation),
            false => Value::Null,
        };
        trace.item(index, span.line, &item, None, agent);
        let dropped = "attributes and events that were dropped before the span was exported";
        out.lose_parts(dropped, span.dropped(), trace.place());
        match operation {
            Some("execute_tool") => {
                let call = call(&mut trace, span, start);
                timeline.mark(&trace, span.start);
                if span.end.is_some() || span.start.is_none() {
                    result(&mut trace, span, &call, end);
                    timeline.mark(&trace, span.end);
                }
            }
            Some(operation) if speaks(operation) => {
                let at = end.or(start);
                message(&mut trace, span, at, runs_tools, out);
                timeline.mark(&trace, span.end.or(span.start));
            }
            _ => {
                let said = Some(Value::Null);
                if span.is_closed() {
                    let refusal = Refusal {
                        kind: ProblemKind::WrongType,
                        message: "expected an object or a list of attributes".to_owned(),
                    };
                    trace.unreadable_call(span.raw, refusal);
                } else {
                    trace.push(Draft::other(span.raw).text(said).at(start));
                }
                timeline.mark(&trace, span.start);
            }
        }
    }
    timeline.sort(&mut trace);
    trace.finish(out);
}

fn meta(id: Option<SmolStr>, spans: &[Span<'_>]) -> Value {
    let mut members: Vec<(SmolStr, Value)> = Vec::new();
    if let Some(id) = id {
        members.push(("trace".into(), Value::String(id.into())));
    }
    if let Some(span) = spans.first() {
        members.push(("resource".into(), span.resource.clone()));
        if let Value::Object(facts) = &span.facts {
            // Their names are distinct.
            let known = members.len();
            for (key, value) in facts.iter() {
                if !members[..known].iter().any(|(known, _)| known == key) {
                    members.push((key.clone(), value.clone()));
                }
            }
        }
    }
    let named = [
        ("conversation", "gen_ai.conversation.id"),
        ("model", "gen_ai.request.model"),
    ];
    for (name, attribute) in named {
        let found = spans.iter().find_map(|span| span.attribute(attribute));
        if let Some(value) = found
            && !members.iter().any(|(known, _)| known == name)
        {
            members.push((name.into(), value.clone()));
        }
    }
    object(members)
}

/// Returns the agent of each span: its own, or that of the nearest span above it that has one.
fn agents(spans: &[Span<'_>]) -> Vec<Option<SmolStr>> {
    let own = |span: &Span<'_>| {
        id(span
            .attribute("gen_ai.agent.name")
            .or_else(|| span.attribute("agent.name")))
    };
    let places: SeededMap<&SmolStr, usize> = spans
        .iter()
        .enumerate()
        .filter_map(|(place, span)| Some((span.id.as_ref()?, place)))
        .collect();
    let parent = |span: usize| places.get(spans.get(span)?.parent.as_ref()?).copied();
    let mut agents: Vec<Option<SmolStr>> = spans.iter().map(own).collect();
    let mut is_known: Vec<bool> = agents.iter().map(Option::is_some).collect();
    let mut way = Vec::new();
    for start in 0..spans.len() {
        let mut next = Some(start);
        // Parents may form a ring in bad data, which ends at a span on the way.
        while let Some(here) = next
            && !std::mem::replace(&mut is_known[here], true)
        {
            way.push(here);
            next = parent(here);
        }
        let agent = next.and_then(|above| agents[above].clone());
        for here in way.drain(..) {
            agents[here].clone_from(&agent);
        }
    }
    agents
}

fn call(trace: &mut Trace, span: &Span<'_>, at: Option<Value>) -> SmolStr {
    let tool = [
        "gen_ai.tool.name",
        "tool.name",
        "ai.toolCall.name",
        "tool_call.function.name",
        "traceloop.entity.name",
    ]
    .iter()
    .find_map(|key| span.attribute(key));
    let tool = match tool {
        // A name that cannot be read is not that of the span.
        Some(tool) => tool.as_str(),
        None => {
            let name = span.name.as_str();
            let named = ["execute_tool ", "tools/call "];
            let named = named.iter().find_map(|begin| name.strip_prefix(begin));
            named.or((!name.is_empty()).then_some(name))
        }
    };
    let named = [
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.args",
        "ai.toolCall.args",
        "tool_arguments",
        "tool_call.function.arguments",
    ]
    .iter()
    .find_map(|key| span.attribute(key));
    let args = match named {
        Some(recorded) => trace.args(Some(recorded)),
        // These hold whatever the function was given, which need not be JSON.
        None => {
            let given = ["input.value", "traceloop.entity.input"]
                .iter()
                .find_map(|key| span.attribute(key));
            trace.loose_args(given)
        }
    };
    let id = [
        "gen_ai.tool.call.id",
        "ai.toolCall.id",
        "tool_call.id",
        "tool.id",
    ]
    .iter()
    .find_map(|key| id(span.attribute(key)));
    let draft = Draft::call(span.raw).tool(tool).args(args).at(at);
    trace.call(draft, id.as_deref())
}

fn result(trace: &mut Trace, span: &Span<'_>, call: &str, at: Option<Value>) {
    let given = [
        "gen_ai.tool.call.result",
        "ai.toolCall.result",
        "tool_response",
        "gen_ai.output",
        "output.value",
        "traceloop.entity.output",
    ]
    .iter()
    .find_map(|key| span.attribute(key));
    let failed = match span.attribute("error.type") {
        Some(_) => Some(true),
        None => span.failed,
    };
    let draft = Draft::result(span.raw)
        .text(given.and_then(|given| content_text(Some(given))))
        .packed_outcome(given)
        .error(failed)
        .at(at);
    trace.result(draft, Some(call));
}

/// Reads the text of a model, if it was recorded. Its calls come from the spans of the tools; only a trace without those
/// takes them from here.
fn message(trace: &mut Trace, span: &Span<'_>, at: Option<Value>, runs_tools: bool, out: &mut Out) {
    let given = [
        "gen_ai.output.messages",
        "gen_ai.completion",
        "gen_ai.output",
        ANSWER,
        "output.value",
    ]
    .iter()
    .find_map(|key| Some((*key, span.attribute(key)?)));
    // Before there were attributes for messages, events told them.
    let events = match given {
        Some(_) => Vec::new(),
        None => span.events(),
    };
    let given = given.or_else(|| {
        let named = ["gen_ai.output.messages", "gen_ai.completion", "message"];
        let mut told = events.iter();
        told.find_map(|event| named.iter().find_map(|key| Some((*key, some(event, key)?))))
    });
    let mut refused = None;
    let read = given.and_then(|(key, given)| match given {
        Value::String(text) => match json_text::parse(text) {
            Ok(read) => Some(read),
            Err(refusal) if is_messages(key, text) => {
                refused = Some(refusal);
                None
            }
            Err(_) => Some(given.clone()),
        },
        other => Some(other.clone()),
    });
    let mut texts: Vec<&Text> = Vec::new();
    let mut calls: Vec<&Value> = Vec::new();
    match &read {
        Some(Value::String(said)) => texts.push(said),
        Some(messages @ (Value::List(_) | Value::Object(_))) => {
            let messages = items(messages).unwrap_or(std::slice::from_ref(messages));
            for message in messages {
                let parts = list(message, "parts").or_else(|| list(message, "content"));
                match parts {
                    Some(parts) => {
                        let asks = |part: &&Value| kind(part) == Some("tool_call");
                        texts.extend(
                            parts
                                .iter()
                                .filter(|part| !asks(part))
                                .filter_map(part_text),
                        );
                        calls.extend(parts.iter().filter(asks));
                    }
                    None if get(message, "tool.name").is_some() => calls.push(message),
                    None => texts.extend(part_text(message)),
                }
                match get(message, "tool_calls") {
                    Some(Value::List(several)) => calls.extend(several.iter()),
                    Some(one) if !says_nothing(Some(one)) => calls.push(one),
                    _ => {}
                }
            }
        }
        _ => {}
    }
    let flat: Vec<&str> = [
        ("llm.output_messages", "message.content"),
        ("gen_ai.completion", "content"),
    ]
    .iter()
    .flat_map(|(begin, end)| (0..).map_while(move |n| span.text(&format!("{begin}.{n}.{end}"))))
    .collect();
    // The same calls may be told in more than one way: as messages, by numbered attributes, as one text.
    let numbered: Vec<Value> = numbered_calls(span).collect();
    let asked = span.attribute("ai.response.toolCalls").map(unpack);
    if calls.is_empty() {
        calls.extend(&numbered);
    }
    if calls.is_empty() {
        match &asked {
            Some(Value::List(several)) => calls.extend(several.iter()),
            Some(one) if !says_nothing(Some(one)) => calls.push(one),
            _ => {}
        }
    }
    let said = match (&read, flat.is_empty()) {
        (None, true) => None,
        (Some(_), _) => Some(join(texts.into_iter().cloned())),
        (None, false) => Some(join(flat.into_iter())),
    };
    trace.push(
        Draft::message("assistant", span.raw)
            .text(said)
            .at(at.clone()),
    );
    if let Some(refusal) = refused {
        // What was cut off may have held calls, unless those are read elsewhere.
        match runs_tools {
            true => trace.fault("text", refusal),
            false => trace.unreadable_call(span.raw, refusal),
        }
    }
    if runs_tools {
        let what = "calls requested by a model (read from the tool spans instead)";
        out.lose_parts(what, calls.len() as u64, trace.place());
        return;
    }
    for call in calls {
        let body = get(call, "function").filter(|body| is_object(body));
        let body = body.unwrap_or(call);
        let args = trace.args(first(body, &["arguments", "args", "input", "tool.args"]));
        let tool = ["name", "toolName", "tool.name"];
        let tool = tool.iter().find_map(|key| text(body, key));
        let id = id(first(call, &["id", "toolCallId"]));
        let draft = Draft::call(call).tool(tool).args(args).at(at.clone());
        trace.call(draft, id.as_deref());
    }
    // The text of an answer may be any JSON.
    if let (Some(read), Some((key, _))) = (&read, given)
        && key != ANSWER
    {
        for message in items(read).unwrap_or(std::slice::from_ref(read)) {
            unread::calls_in(trace, message);
        }
    }
}

/// The attribute of the AI SDK that holds the text of an answer.
const ANSWER: &str = "ai.response.text";

/// Whether a text that is not JSON is what is left of a list of messages, or of an object.
fn is_messages(key: &str, text: &str) -> bool {
    let mut begin = text.chars().filter(|char| !char.is_whitespace());
    match key {
        "gen_ai.output.messages" => begin.next().is_some(),
        ANSWER => false,
        _ => matches!(
            (begin.next(), begin.next()),
            (Some('{'), None | Some('"')) | (Some('['), None | Some('{' | '['))
        ),
    }
}

/// Calls in numbered attributes, in order: `gen_ai.completion.N.tool_calls.M.name` (OpenLLMetry) and
/// `llm.output_messages.N.message.tool_calls.M.tool_call.function.name` (OpenInference), each as `{id, name, arguments}`.
fn numbered_calls(span: &Span<'_>) -> impl Iterator<Item = Value> {
    let mut calls: BTreeMap<(usize, usize), Vec<(SmolStr, Value)>> = BTreeMap::new();
    if let Value::Object(attributes) = &span.attributes {
        for (name, value) in attributes.iter() {
            if let Some((place, member)) = numbered(name) {
                let call = calls.entry(place).or_default();
                if !call.iter().any(|(known, _)| known == member) {
                    call.push((member.into(), value.clone()));
                }
            }
        }
    }
    calls.into_values().map(object)
}

/// Returns the number of the message, the number of the call in it, and the part of the call that the attribute describes.
fn numbered(attribute: &str) -> Option<((usize, usize), &'static str)> {
    let rest = ["gen_ai.completion.", "llm.output_messages."]
        .iter()
        .find_map(|begin| attribute.strip_prefix(begin))?;
    let (message, rest) = rest.split_once('.')?;
    let message: usize = message.parse().ok()?;
    let rest = rest.strip_prefix("message.").unwrap_or(rest);
    let (call, rest) = match rest.split_once('.')? {
        ("tool_calls", rest) => {
            let (call, rest) = rest.split_once('.')?;
            (call.parse().ok()?, rest)
        }
        // The old form has one call only, before any other.
        ("function_call", rest) => (0, rest),
        _ => return None,
    };
    let rest = rest.strip_prefix("tool_call.").unwrap_or(rest);
    let member = match rest.strip_prefix("function.").unwrap_or(rest) {
        "id" => "id",
        "name" => "name",
        "arguments" => "arguments",
        _ => return None,
    };
    Some(((message, call), member))
}
