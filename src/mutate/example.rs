//! A test that would kill a mutant: events that give the letters the values of a trace, and the verdict on them.
//!
//! The events are proposed by [`domain`](crate::domain) and then judged: only a test that does tell the mutant from the
//! original is given.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::judge::Judged;
use crate::automata::Letter;
use crate::domain::{self, Given, Goal, Work};
use crate::hir::{Property, Spec, Test};
use crate::ids::{FormulaId, PropertyId};
use crate::lint::Difference;
use crate::signature::{Absent, Field};
use crate::value::{Cell, Value};
use crate::verdict::Verdict;

/// The test, as text of the language; none where no events were found that show the difference.
pub(super) fn test(
    judged: &Judged<'_>,
    template: Option<&Property>,
    property: PropertyId,
    mutant: FormulaId,
    name: &str,
    difference: &Difference,
) -> Option<String> {
    let spec = judged.spec;
    let events = events(spec, &difference.steps)?;
    let signature = &spec.signature;
    let cells = |fields: &[Field], values: &BTreeMap<usize, Value>| -> Vec<Cell> {
        let field = |(idx, field): (usize, &Field)| match values.get(&idx) {
            Some(value) => Cell::Known(value.clone()),
            None => absent(field),
        };
        fields.iter().enumerate().map(field).collect()
    };
    let meta = events
        .last()
        .map(|event| event.meta.clone())
        .unwrap_or_default();
    let test = Test {
        name: name.into(),
        meta: cells(&signature.meta, &meta),
        steps: events
            .iter()
            .map(|event| cells(&signature.fields, &event.fields))
            .collect(),
        expects: Vec::new(),
        span: spec.property(property).span,
    };
    let (original, other) = judged.outcomes(&test, property, mutant)?;
    if original.0 == other.0 || original.0 == Verdict::Unknown {
        return None;
    }
    let subject = template.map_or(&spec.property(property).name, |property| &property.name);
    let mut text = format!("test {name:?} {{\n  given ");
    let records: Vec<String> = events
        .iter()
        .map(|event| record(spec, &signature.fields, &event.fields))
        .collect();
    if meta.is_empty() {
        text.push_str("[\n");
        for record in records {
            let _ = writeln!(text, "    {record},");
        }
        text.push_str("  ]\n");
    } else {
        let meta = record(spec, &signature.meta, &meta);
        let _ = writeln!(text, "{{meta: {meta}, events: [{}]}}", records.join(", "));
    }
    let at = match original {
        (Verdict::Violated, Some(at)) => format!(" at {at}"),
        _ => String::new(),
    };
    let _ = writeln!(text, "  expect {subject} {}{at}\n}}", original.0.as_str());
    Some(text)
}

/// One event per step of the trace.
fn events(spec: &Spec, steps: &[Letter]) -> Option<Vec<domain::Event>> {
    let mut work = Work::new(400_000, 50_000);
    let mut given = Given::default();
    let mut events = Vec::new();
    for letter in steps {
        let goals: Vec<Goal> = letter
            .iter()
            .filter_map(|(atom, holds)| {
                let letter = spec.formulas.letters().get(atom.0 as usize)?;
                Some((letter.expr, *holds))
            })
            .collect();
        let event = domain::event(spec, &goals, &given, &mut work)?;
        given.vars.clone_from(&event.vars);
        given.meta.clone_from(&event.meta);
        events.push(event);
    }
    Some(events)
}

fn absent(field: &Field) -> Cell {
    match &field.absent {
        Absent::Null => Cell::Known(Value::Null),
        Absent::Error | Absent::Unknown => Cell::Unknown,
        Absent::Default(value) => Cell::Known(value.clone()),
    }
}

/// `{kind: "call", tool: "rm"}`
fn record(spec: &Spec, fields: &[Field], values: &BTreeMap<usize, Value>) -> String {
    let members: Vec<String> = values
        .iter()
        .filter_map(|(idx, value)| Some((fields.get(*idx)?, value)))
        // What is absent anyway need not be said.
        .filter(|(field, value)| absent(field) != Cell::Known((*value).clone()))
        .map(|(field, value)| format!("{}: {}", field.name, literal(spec, value)))
        .collect();
    format!("{{{}}}", members.join(", "))
}

/// A value as a test writes it.
fn literal(spec: &Spec, value: &Value) -> String {
    let all = |items: &mut dyn Iterator<Item = &Value>| {
        let items: Vec<String> = items.map(|item| literal(spec, item)).collect();
        items.join(", ")
    };
    match value {
        Value::Enum(value) => spec
            .enums
            .get(usize::from(value.of))
            .and_then(|of| of.values.get(usize::from(value.index)))
            .map_or_else(String::new, ToString::to_string),
        Value::Time(instant) | Value::Duration(instant) => {
            instant.to_string().trim_end_matches('s').to_owned()
        }
        Value::List(items) => format!("[{}]", all(&mut items.iter())),
        Value::Set(items) => format!("{{{}}}", all(&mut items.iter())),
        Value::Object(object) => {
            let members: Vec<String> = object
                .iter()
                .map(|(name, value)| {
                    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
                    let value = literal(spec, value);
                    if plain {
                        format!("{name}: {value}")
                    } else {
                        format!("{:?}: {value}", name.as_str())
                    }
                })
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        other => other.to_string(),
    }
}
