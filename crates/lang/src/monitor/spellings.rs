//! Kinds of events and names of tools that differ only slightly from one in the spec.
//!
//! A rule about `kind == "result"` does not match the kind `Result`, nor one about the tool `delete_file` the tool `Delete_File`, so a
//! sender could hide an event from it. Such a kind or name is therefore unknown, wherever in the event the spec reads it: a rule that
//! depends on it is undecided, and undecided rules deny. A name that the spec itself compares with is what it says.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::hir::Spec;
use crate::hir::meeting::Meetings;
use crate::input::path::names_of;
use crate::input::record::Event;
use crate::input_schema::FieldSource;
use crate::problem::{Problem, ProblemKind};
use crate::texts::exact_names::Names;
use crate::value::{Cell, Value};

/// The names of fields that are read exactly, whichever member of the event they are read from.
const FIELDS: [&str; 3] = ["kind", "tool", "tool_name"];

/// The members of events that are read exactly: the kind, and the tool as canonical events, hooks and messages of MCP name it.
const EXACT: [&[&str]; 5] = [
    &["kind"],
    &["tool"],
    &["tool_name"],
    &["raw", "tool_name"],
    &["raw", "params", "name"],
];

/// The kinds and tools of events, and the texts that the spec compares them with.
#[derive(Debug)]
pub(super) struct Spellings {
    places: Vec<Exact>,
}

#[derive(Debug)]
struct Exact {
    field: usize,
    /// The members on the way from the field.
    path: Vec<SmolStr>,
    /// The place as it is written.
    written: String,
    known: Names,
}

impl Spellings {
    pub(super) fn of(spec: &Spec) -> Spellings {
        let mut meetings = Meetings::of(spec);
        let mut places = Vec::new();
        for (position, field) in spec.schema.fields.iter().enumerate() {
            let (FieldSource::Event(path) | FieldSource::Each(path)) = &field.source else {
                continue;
            };
            let names = names_of(path);
            let names: Option<Vec<&str>> =
                (names.as_ref()).map(|names| names.iter().map(SmolStr::as_str).collect());
            let members = EXACT.into_iter().filter_map(|exact: &[&str]| {
                let names = names.as_ref()?;
                exact.strip_prefix(&names[..])
            });
            let mut places_below: Vec<&[&str]> = members.collect();
            if FIELDS.contains(&field.name.as_str()) && !places_below.contains(&&[][..]) {
                places_below.push(&[]);
            }
            for below in places_below {
                let path: Vec<SmolStr> = below.iter().map(|name| SmolStr::from(*name)).collect();
                let known = Names::new(meetings.texts(position, &path));
                let written = [&[field.name.as_str()], below].concat().join(".");
                if !known.is_empty() {
                    places.push(Exact {
                        field: position,
                        path,
                        written,
                        known,
                    });
                }
            }
        }
        Spellings { places }
    }

    /// Makes kinds and tools unknown that differ from one of the spec in spelling alone, and returns a note for each.
    pub(super) fn check(&self, event: &mut Event) -> Vec<String> {
        let mut notes = Vec::new();
        for place in &self.places {
            for step in &mut event.steps {
                let Some(cell) = step.cells.get_mut(place.field) else {
                    continue;
                };
                let Some((found, like)) = place.spelt_otherwise(cell) else {
                    continue;
                };
                let written = &place.written;
                notes.push(format!(
                    "`{written}` is `{found}`, and the spec looks for `{like}`: it is unknown which of the two is meant"
                ));
                event.problems.push(Problem {
                    kind: ProblemKind::WrongType,
                    file: Arc::clone(&event.origin.file),
                    line: 0,
                    trace: None,
                    step: None,
                    field: Some(SmolStr::from(written)),
                    message: format!("expected `{like}`, found `{found}`"),
                });
                *cell = Cell::Unknown;
            }
        }
        notes
    }
}

impl Exact {
    /// Returns the name that stands in this place, and the name of the spec that it differs from in spelling alone.
    fn spelt_otherwise(&self, cell: &Cell) -> Option<(SmolStr, &SmolStr)> {
        let Cell::Known(value) = cell else {
            return None;
        };
        let found = self.path.iter().try_fold(value, |value, name| match value {
            Value::Object(members) => members.get(name),
            _ => None,
        });
        let Some(Value::String(found)) = found else {
            return None;
        };
        Some((found.to_smol(), self.known.spelt_like(found)?))
    }
}
