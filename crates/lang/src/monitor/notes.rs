//! Notes on values that are unequal to all that the spec compares them with because they are of another kind: the text `"12345"` where
//! a clause looks for the number 12345.

use std::sync::Arc;

use super::decision::{Cause, Decision, Ruling};
use super::live::{Monitor, Read, Trace};
use crate::hir::compared::{Place, places};
use crate::hir::{Spec, Watched};
use crate::value::{JsonKind, Value};

/// The constants that are tried, for all values of an event together.
const MOST_TRIED: usize = 64;

/// The part of the work of a step that all trials together may take: none begins after that. Without it, a call with long texts took 3.6
/// seconds, and 0.4 ms without notes.
const PART_OF_WORK: u64 = 20;

/// The places that clauses compare with constants, and that may be of any kind.
#[derive(Debug)]
pub(super) struct Kinds(Arc<[Place]>);

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
        Kinds(places.into())
    }
}

/// A value of an event that is of no kind with which its place is compared.
struct Unequal<'p> {
    step: usize,
    place: &'p Place,
    kind: JsonKind,
}

impl Monitor {
    /// Returns a note for each value of an event that is of no kind with which clauses compare it, if the ruling would be stricter with
    /// one of the constants instead; if it is not with any of them alone, also if all such values were constants. Judges the event once
    /// for each constant that is tried.
    pub(super) fn notes(&mut self, trace: &mut Trace, read: &Read) -> Vec<String> {
        let places = Arc::clone(&self.kinds.0);
        let steps = read.event.steps.iter().enumerate();
        let mut unequal: Vec<Unequal<'_>> = steps
            .flat_map(|(at, step)| {
                places.iter().filter_map(move |place| {
                    let kind = place.value(&step.cells).and_then(Value::json_kind)?;
                    (!place.kinds.contains(&kind)).then_some(Unequal {
                        step: at,
                        place,
                        kind,
                    })
                })
            })
            .collect();
        if unequal.is_empty() {
            return Vec::new();
        }
        let given = self.ruling_with(trace, read, &[], 0);
        let mut left = MOST_TRIED;
        let mut work_left = self.options.eval.step_work / PART_OF_WORK;
        let mut is_stricter = |values: &[Unequal<'_>]| {
            let most = values.iter().map(|value| value.place.constants.len()).max();
            (0..most.unwrap_or(0)).any(|nth| {
                let Some(others) = left.checked_sub(1).filter(|_| work_left > 0) else {
                    return false;
                };
                left = others;
                let ruling = self.ruling_with(trace, read, values, nth);
                work_left = work_left.saturating_sub(self.step_cache.step_work());
                ruling > given
            })
        };
        let decide: Vec<bool> = unequal
            .iter()
            .map(|value| is_stricter(std::slice::from_ref(value)))
            .collect();
        if decide.contains(&true) {
            let mut decide = decide.into_iter();
            unequal.retain(|_| decide.next() == Some(true));
        } else if unequal.len() == 1 || !is_stricter(&unequal) {
            unequal.clear();
        }
        let notes = unequal.iter().map(|Unequal { place, kind, .. }| {
            let expected = JsonKind::either(place.kinds.iter().copied());
            let place = &place.written;
            format!("`{place}` is {kind}, and is compared with {expected}: they are never equal")
        });
        notes.collect()
    }

    /// Returns the ruling on an event if each of these values were the nth constant of its place.
    fn ruling_with(
        &mut self,
        trace: &mut Trace,
        read: &Read,
        values: &[Unequal<'_>],
        nth: usize,
    ) -> Ruling {
        let mut read = read.clone();
        for Unequal { step, place, .. } in values {
            if let Some(constant) = place.constants.iter().cycle().nth(nth) {
                place.replace(&mut read.event.steps[*step].cells, constant);
            }
        }
        let mut judged = Decision::new(Cause::Proposal);
        self.judge_fork(trace, &mut read, &mut judged);
        judged.ruling
    }
}
