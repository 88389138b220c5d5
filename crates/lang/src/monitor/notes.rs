//! Notes on values that are unequal to all that the spec compares them with because they are of another kind: the text `"12345"` where
//! a clause looks for the number 12345.

use super::decision::{Cause, Decision};
use super::live::{Monitor, Read, Trace};
use crate::hir::compared::{Place, places};
use crate::hir::{Spec, Watched};
use crate::value::{Cell, JsonKind, Value};

/// The places that clauses compare with constants, and that may be of any kind.
#[derive(Debug)]
pub(super) struct Kinds(Vec<Place>);

impl Kinds {
    pub(super) fn of(spec: &Spec) -> Kinds {
        let mut roots = Vec::new();
        for clause in &spec.enforces {
            match clause.watched {
                Watched::When { condition, .. } => roots.push(condition),
                Watched::Property(property) => roots.extend(spec.roots_of(spec.property(property))),
                Watched::Query(_) => {}
            }
        }
        let mut places = places(spec, roots);
        places.retain(|place| !place.kinds.is_empty());
        Kinds(places)
    }
}

impl Monitor {
    /// Returns a note for each value of an event that is of no kind with which clauses compare it, if the ruling would be stricter
    /// without what the event has in that field. Judges such an event twice.
    pub(super) fn notes(&mut self, trace: &mut Trace, read: &Read) -> Vec<String> {
        let mut notes = Vec::new();
        let mut unequal = Vec::new();
        for (at, step) in read.event.steps.iter().enumerate() {
            for place in &self.kinds.0 {
                let kind = place.value(&step.cells).and_then(Value::json_kind);
                let Some(kind) = kind.filter(|kind| !place.kinds.contains(kind)) else {
                    continue;
                };
                unequal.push((at, place.field));
                let expected = JsonKind::either(place.kinds.iter().copied());
                let place = &place.written;
                notes.push(format!(
                    "`{place}` is {kind}, and is compared with {expected}: they are never equal"
                ));
            }
        }
        if notes.is_empty() {
            return notes;
        }
        let mut without = read.clone();
        for (at, field) in unequal {
            without.event.steps[at].cells[field] = Cell::Unknown;
        }
        let [known, other] = [&mut read.clone(), &mut without].map(|read| {
            let mut judged = Decision::new(Cause::Proposal);
            self.judge_fork(trace, read, &mut judged);
            judged.ruling
        });
        if other <= known {
            notes.clear();
        }
        notes
    }
}
