//! Helpers for the tests of the readers: JSON to values, files to documents.
use crate::support::shared;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use guard_lang::input::document::ListLines;
use guard_lang::input::formats::{
    CanonicalEvent, CanonicalTrace, Converted, Detection, Format, Granularity, Input, Sample,
    convert, detect,
};
use guard_lang::value::{Number, Object, Value};
use jiter::JsonValue;

/// Parses JSON; integers of any size are exact.
pub(crate) fn parse(text: &str) -> Option<Value> {
    JsonValue::parse(text.as_bytes(), false)
        .ok()
        .map(|value| from_jiter(&value))
}

fn from_jiter(value: &JsonValue<'_>) -> Value {
    match value {
        JsonValue::Null => Value::Null,
        JsonValue::Bool(flag) => Value::Bool(*flag),
        JsonValue::Int(int) => Value::int(i128::from(*int)),
        JsonValue::BigInt(int) => Value::Number(Number::parse(&int.to_string()).unwrap()),
        JsonValue::Float(float) => Value::Number(Number::float(*float).unwrap()),
        JsonValue::Str(text) => Value::string(text),
        JsonValue::Array(items) => Value::list(items.iter().map(from_jiter).collect()),
        JsonValue::Object(members) => {
            let members = members
                .iter()
                .map(|(key, value)| (key.as_ref().into(), from_jiter(value)));
            Value::Object(Object::new(members.collect()).unwrap())
        }
    }
}

/// Returns the JSON documents of a file with their lines. A document may span several lines; invalid JSON ends the
/// list.
pub(crate) fn documents(bytes: &[u8]) -> Vec<(u64, Value)> {
    let mut stream =
        serde_json::Deserializer::from_slice(bytes).into_iter::<&serde_json::value::RawValue>();
    let mut found = Vec::new();
    let (mut line, mut counted) = (1u64, 0usize);
    while let Some(Ok(raw)) = stream.next() {
        let begin = raw.get().as_ptr() as usize - bytes.as_ptr() as usize;
        line += bytes[counted..begin]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count() as u64;
        counted = begin;
        let Some(value) = parse(raw.get()) else { break };
        found.push((line, value));
    }
    found
}

/// A file with its detected format and its conversion.
pub(crate) struct Read {
    pub(crate) detection: Option<Detection>,
    pub(crate) converted: Converted,
}

pub(crate) fn read_file(path: &Path) -> Read {
    let bytes = std::fs::read(path).unwrap();
    let documents = documents(&bytes);
    let detection = detect_documents(&documents, &bytes);
    let converted = match &detection {
        Some(detection) => {
            convert_documents(detection.format, detection.granularity, &documents, &bytes)
        }
        None => Converted::default(),
    };
    Read {
        detection,
        converted,
    }
}

pub(crate) fn detect_documents(documents: &[(u64, Value)], bytes: &[u8]) -> Option<Detection> {
    let values: Vec<Value> = documents
        .iter()
        .take(20)
        .map(|(_, value)| value.clone())
        .collect();
    detect(&Sample {
        values: &values,
        text: &bytes[..bytes.len().min(4096)],
    })
}

pub(crate) fn convert_documents(
    format: Format,
    granularity: Granularity,
    documents: &[(u64, Value)],
    bytes: &[u8],
) -> Converted {
    match granularity {
        Granularity::Lines => convert(format, &Input::Lines(documents)),
        Granularity::Text => convert(format, &Input::Text(bytes)),
        Granularity::Document => {
            let mut all = Converted::default();
            for (line, value) in documents {
                let input = Input::Document {
                    value,
                    line: Some(*line),
                    lists: &ListLines::default(),
                };
                let one = convert(format, &input);
                accounted(&one);
                all.traces.extend(one.traces);
                all.losses.extend(one.losses);
                all.items += one.items;
            }
            all
        }
    }
}

/// Fails unless every source item is an event or counted in a loss.
pub(crate) fn accounted(converted: &Converted) {
    let told: usize = converted
        .traces
        .iter()
        .map(|trace| {
            trace
                .events
                .iter()
                .map(|event| event.index)
                .collect::<BTreeSet<u32>>()
                .len()
        })
        .sum();
    let lost: u64 = converted
        .losses
        .iter()
        .filter(|loss| loss.whole)
        .map(|loss| loss.count)
        .sum();
    assert_eq!(
        converted.items,
        told as u64 + lost,
        "losses: {:?}",
        converted.losses
    );
}

/// Returns a member of an event.
pub(crate) fn get<'a>(event: &'a CanonicalEvent, name: &str) -> Option<&'a Value> {
    match &event.value {
        Value::Object(members) => members.get(name),
        other => panic!("an event is an object, not {other}"),
    }
}

/// Returns a member that is a string.
pub(crate) fn text<'a>(event: &'a CanonicalEvent, name: &str) -> Option<&'a str> {
    get(event, name).and_then(Value::as_str)
}

pub(crate) fn is(event: &CanonicalEvent, kind: &str) -> bool {
    text(event, "kind") == Some(kind)
}

/// Returns the value at a path of keys.
pub(crate) fn below<'a>(value: Option<&'a Value>, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value?, |value, key| match value {
        Value::Object(members) => members.get(key),
        _ => None,
    })
}

/// Returns the folder of the corpora, if it exists. In CI it must.
pub(crate) fn corpora() -> Option<PathBuf> {
    shared("data")
}

/// Returns the files of a folder, recursively and sorted.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| entry.into_path())
        .collect();
    found.sort();
    found
}

/// Returns the events of kind `call` of a trace.
pub(crate) fn calls(trace: &CanonicalTrace) -> impl Iterator<Item = &CanonicalEvent> {
    trace.events.iter().filter(|event| is(event, "call"))
}
