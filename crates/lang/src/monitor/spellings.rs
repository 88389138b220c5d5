//! Kinds of events and names of tools that differ only slightly from one in the spec.
//!
//! A rule about `kind == "result"` does not match the kind `Result`, nor one about the tool `delete_file` the tool `Delete_File`, so a
//! sender could hide an event from it. Such a kind or name is therefore unknown: a rule that depends on it is undecided, and
//! undecided rules deny. A name that the spec itself compares with is what it says.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::hir::Spec;
use crate::hir::compared::{field_of, places};
use crate::ids::ExprId;
use crate::input::record::Event;
use crate::problem::{Problem, ProblemKind};
use crate::texts::exact_names::Names;
use crate::value::{Cell, Value};

/// The members of events that are read exactly.
const EXACT: [&str; 2] = ["kind", "tool"];

/// The fields with the kind and the tool of an event, and the texts that the spec compares them with.
#[derive(Debug)]
pub(super) struct Spellings {
    fields: Vec<Exact>,
}

#[derive(Debug)]
struct Exact {
    field: usize,
    name: SmolStr,
    known: Names,
}

impl Spellings {
    pub(super) fn of(spec: &Spec) -> Spellings {
        let places = places(spec, (0..spec.exprs.len()).map(ExprId::new));
        let exact = |member: &&str| {
            let field = field_of(spec, member)?;
            let mut whole = places.iter().filter(|place| place.path.is_empty());
            let place = whole.find(|place| place.field == field)?;
            let known = Names::new(place.texts.clone());
            let name = spec.schema.fields.get(field)?.name.clone();
            (!known.is_empty()).then_some(Exact { field, name, known })
        };
        Spellings {
            fields: EXACT.iter().filter_map(exact).collect(),
        }
    }

    /// Makes kinds and tools unknown that differ from one of the spec in spelling alone, and returns a note for each.
    pub(super) fn check(&self, event: &mut Event) -> Vec<String> {
        let mut notes = Vec::new();
        for Exact { field, name, known } in &self.fields {
            for step in &mut event.steps {
                let Some(cell) = step.cells.get_mut(*field) else {
                    continue;
                };
                let Cell::Known(Value::String(found)) = &*cell else {
                    continue;
                };
                let Some(like) = known.spelt_like(found) else {
                    continue;
                };
                notes.push(format!(
                    "`{name}` is `{found}`, and the spec looks for `{like}`: it is unknown which of the two is meant"
                ));
                event.problems.push(Problem {
                    kind: ProblemKind::WrongType,
                    file: Arc::clone(&event.origin.file),
                    line: 0,
                    trace: None,
                    step: None,
                    field: Some(name.clone()),
                    message: format!("expected `{like}`, found `{found}`"),
                });
                *cell = Cell::Unknown;
            }
        }
        notes
    }
}
