//! Spans in their encodings: OTLP JSON, flat spans of exporters, Jaeger's.

use smol_str::SmolStr;

use super::shape::{at, first, flag, get, id, is_object, items, list, object, some, text};
use super::spans::{failed, nanos, time};
use crate::hash::SeededSet;
use crate::value::{Instant, Number, Value};

/// A span, whatever its encoding.
#[derive(Clone, Debug)]
pub(super) struct Span<'a> {
    pub(super) raw: &'a Value,
    pub(super) line: Option<u64>,
    pub(super) trace: Option<SmolStr>,
    pub(super) id: Option<SmolStr>,
    pub(super) parent: Option<SmolStr>,
    pub(super) name: SmolStr,
    pub(super) start: Option<Instant>,
    pub(super) end: Option<Instant>,
    /// Names as they are, typed values unwrapped.
    pub(super) attributes: Value,
    /// Whether it failed, where the span has a status.
    pub(super) failed: Option<bool>,
    pub(super) resource: Value,
    /// Members of the object that wraps the list of spans.
    pub(super) facts: Value,
}

impl<'a> Span<'a> {
    pub(super) fn attribute(&self, name: &str) -> Option<&Value> {
        some(&self.attributes, name)
    }

    /// Whether it has attributes that cannot be read, so that it may be the call of a tool.
    pub(super) fn is_closed(&self) -> bool {
        let recorded = first(self.raw, &["attributes", "tags"]);
        recorded.is_some_and(|recorded| !is_object(recorded) && items(recorded).is_none())
    }

    /// Returns the attributes of its events.
    pub(super) fn events(&self) -> Vec<Value> {
        let events = list(self.raw, "events").unwrap_or(&[]).iter();
        events
            .filter_map(|event| get(event, "attributes").map(attributes))
            .collect()
    }

    /// Returns the number of attributes and events that it had and that were not exported.
    pub(super) fn dropped(&self) -> u64 {
        let names = [
            "droppedAttributesCount",
            "dropped_attributes_count",
            "droppedEventsCount",
            "dropped_events_count",
        ];
        let counts = names.iter().filter_map(|name| id(get(self.raw, name)));
        counts
            .filter_map(|count| count.parse::<u64>().ok())
            .fold(0, u64::saturating_add)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.attribute(name)?.as_str()
    }

    /// Returns every encoding alike: `{name, trace, span, parent, operation, status, attributes, resource}`.
    pub(super) fn normal(&self, operation: Option<&str>) -> Value {
        let name = |id: &Option<SmolStr>| {
            id.clone()
                .map_or(Value::Null, |id| Value::String(id.into()))
        };
        let status = match self.failed {
            Some(true) => "error",
            Some(false) => "ok",
            None => "unknown",
        };
        object(vec![
            ("name".into(), Value::String(self.name.clone().into())),
            (
                "operation".into(),
                operation.map_or(Value::Null, Value::string),
            ),
            ("trace".into(), name(&self.trace)),
            ("span".into(), name(&self.id)),
            ("parent".into(), name(&self.parent)),
            ("status".into(), Value::string(status)),
            ("attributes".into(), self.attributes.clone()),
            ("resource".into(), self.resource.clone()),
        ])
    }
}

/// The context of a span: its line in the file, its trace and its resource.
#[derive(Clone, Debug)]
pub(super) struct Around {
    pub(super) line: Option<u64>,
    pub(super) trace: Option<SmolStr>,
    pub(super) resource: Value,
    pub(super) facts: Value,
    /// Protocol buffers leave out a status that is unset.
    pub(super) otlp: bool,
}

/// Whether a value is a span.
pub(super) fn is_span(value: &Value) -> bool {
    first(value, &["name", "operationName", "operation_name"]).is_some()
        && (first(value, &["spanId", "span_id", "spanID"]).is_some()
            || at(value, &["context", "span_id"]).is_some())
}

/// Reads a span.
pub(super) fn span<'a>(raw: &'a Value, around: &Around) -> Span<'a> {
    let context = get(raw, "context").unwrap_or(raw);
    let parent = get(raw, "parent").filter(|parent| is_object(parent));
    let recorded = first(raw, &["attributes", "tags"]);
    let start = moment(
        raw,
        &["startTimeUnixNano", "start_time_unix_nano"],
        &["start_time", "startTime", "start", "timestamp"],
    );
    let end = moment(
        raw,
        &["endTimeUnixNano", "end_time_unix_nano"],
        &["end_time", "endTime", "end"],
    )
    .or_else(|| after(start?, raw));
    let name = first(raw, &["name", "operationName", "operation_name"])
        .and_then(Value::as_str)
        .unwrap_or("");
    let attributes = recorded.map_or_else(|| object(Vec::new()), attributes);
    let failed = match status(raw) {
        Some(status) => failed(status),
        None if get(&attributes, "otel.status_code").is_some() => {
            get(&attributes, "otel.status_code").and_then(failed)
        }
        None if around.otlp => Some(false),
        None => None,
    };
    Span {
        raw,
        line: around.line,
        trace: id(first(context, &["traceId", "trace_id", "traceID"]))
            .or_else(|| id(first(raw, &["traceId", "trace_id", "traceID"])))
            .or_else(|| around.trace.clone()),
        id: id(first(context, &["spanId", "span_id", "spanID"]))
            .or_else(|| id(first(raw, &["spanId", "span_id", "spanID"]))),
        parent: id(first(
            raw,
            &["parentSpanId", "parent_span_id", "parent_id", "parentId"],
        ))
        .or_else(|| id(parent.and_then(|parent| first(parent, &["span_id", "spanId"]))))
        .or_else(|| {
            let references = list(raw, "references")?;
            id(references
                .first()
                .and_then(|reference| get(reference, "spanID")))
        }),
        name: SmolStr::new(name),
        start,
        end,
        attributes,
        failed,
        resource: match get(raw, "resource") {
            Some(resource) => resource_of(resource),
            None => around.resource.clone(),
        },
        facts: around.facts.clone(),
    }
}

/// Returns the attributes of a resource.
pub(super) fn resource_of(resource: &Value) -> Value {
    get(resource, "attributes").map_or_else(|| object(Vec::new()), attributes)
}

fn status(raw: &Value) -> Option<&Value> {
    match get(raw, "status")? {
        status @ Value::Object(_) => first(status, &["code", "status_code", "statusCode"]),
        Value::Null => None,
        status => Some(status),
    }
}

fn moment(raw: &Value, exact: &[&str], any: &[&str]) -> Option<Instant> {
    match first(raw, exact) {
        Some(value) => nanos(value).or_else(|| time(value)),
        None => first(raw, any).and_then(time),
    }
}

/// Returns the end of a span of Jaeger, which gives a duration in microseconds instead.
fn after(start: Instant, raw: &Value) -> Option<Instant> {
    let duration = get(raw, "duration").filter(|_| get(raw, "spanID").is_some())?;
    let duration = Instant::from_decimal(&id(Some(duration))?, Instant::SECOND / 1_000_000)?;
    start.0.checked_add(duration.0).map(Instant)
}

/// Attributes as one object: lists of key and typed value are unwrapped; of keys that stand twice the first counts.
fn attributes(recorded: &Value) -> Value {
    let Some(pairs) = items(recorded) else {
        return match recorded {
            Value::Object(_) => recorded.clone(),
            _ => object(Vec::new()),
        };
    };
    let mut seen: SeededSet<SmolStr> = SeededSet::default();
    let mut members = Vec::with_capacity(pairs.len());
    for pair in pairs {
        if let (Some(key), Some(value)) = (text(pair, "key"), get(pair, "value"))
            && seen.insert(SmolStr::new(key))
        {
            members.push((SmolStr::new(key), typed(value)));
        }
    }
    object(members)
}

/// `{"stringValue": …}` and its kin; what is not typed stays as it is.
fn typed(value: &Value) -> Value {
    if let Some(inner) = first(
        value,
        &["stringValue", "string_value", "bytesValue", "bytes_value"],
    ) {
        return inner.clone();
    }
    if let Some(inner) = first(
        value,
        &["intValue", "int_value", "doubleValue", "double_value"],
    ) {
        return match inner {
            // 64-bit integers are texts in OTLP JSON.
            Value::String(digits) => Number::parse(digits).map_or(inner.clone(), Value::Number),
            inner => inner.clone(),
        };
    }
    if let Some(inner) = flag(value, "boolValue").or_else(|| flag(value, "bool_value")) {
        return Value::Bool(inner);
    }
    if let Some(inner) = first(value, &["arrayValue", "array_value"]) {
        let values = list(inner, "values").unwrap_or(&[]);
        return Value::list(values.iter().map(typed).collect());
    }
    if let Some(inner) = first(value, &["kvlistValue", "kvlist_value"]) {
        return get(inner, "values").map_or_else(|| object(Vec::new()), attributes);
    }
    value.clone()
}
