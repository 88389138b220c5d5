//! Events as tests of the language write them.

use std::collections::BTreeMap;

use crate::hir::Spec;
use crate::input_schema::{Absent, Field};
use crate::value::{Cell, Value};

/// Returns the cell of a field of which an event says nothing.
pub(crate) fn absent(field: &Field) -> Cell {
    match &field.absent {
        Absent::Null => Cell::Known(Value::Null),
        Absent::Error | Absent::Unknown => Cell::Unknown,
        Absent::Default(value) => Cell::Known(value.clone()),
    }
}

/// Returns an event as a test writes it: `{kind: "call", tool: "rm"}`.
pub(crate) fn record(spec: &Spec, fields: &[Field], values: &BTreeMap<usize, Value>) -> String {
    let members: Vec<String> = values
        .iter()
        .filter_map(|(idx, value)| Some((fields.get(*idx)?, value)))
        // What is absent anyway need not be said.
        .filter(|(field, value)| absent(field) != Cell::Known((*value).clone()))
        .map(|(field, value)| format!("{}: {}", field.name, literal(spec, value)))
        .collect();
    format!("{{{}}}", members.join(", "))
}

/// Returns a value as a test writes it.
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
