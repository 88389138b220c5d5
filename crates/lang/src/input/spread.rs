//! Traces whose events are spread over lines: their facts, and the positions of their events.

use super::cell::{absent, settle};
use super::record::Event;
use crate::input_schema::Field;
use crate::value::{Cell, Value};

/// The facts that events state about their trace: for each meta field of the schema a cell, or `None` if none is stated. An
/// event that leaves a field out says nothing about it: another event of the trace may have it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts(Box<[Option<Cell>]>);

impl Facts {
    /// Adds the facts of a later event. The first known value of a field counts. Null is none: programs write it for what they do
    /// not know yet. A value that could not be read is unknown until another event has a known one.
    pub(crate) fn merge(&mut self, later: Facts) {
        if self.0.is_empty() {
            *self = later;
            return;
        }
        for (stated, cell) in self.0.iter_mut().zip(later.0) {
            if weight(cell.as_ref()) > weight(stated.as_ref()) {
                *stated = cell;
            }
        }
    }

    /// Whether no later event can change a field.
    pub(crate) fn is_settled(&self, field: usize) -> bool {
        let stated = self.0.get(field).and_then(Option::as_ref);
        weight(stated) == weight(Some(&Cell::Known(Value::Bool(true))))
    }

    /// Returns the cells of a trace of which no event states more. A field that must be there and is not is unknown.
    pub fn cells(&self, fields: &[Field]) -> Box<[Cell]> {
        let cell = |(at, field): (usize, &Field)| match self.0.get(at) {
            Some(Some(cell)) => cell.clone(),
            _ => settle(absent(field)).0,
        };
        fields.iter().enumerate().map(cell).collect()
    }

    /// Returns the number of fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what is stated about a field.
    pub(crate) fn get_mut(&mut self, field: usize) -> Option<&mut Cell> {
        self.0.get_mut(field)?.as_mut()
    }
}

impl From<Box<[Cell]>> for Facts {
    fn from(cells: Box<[Cell]>) -> Facts {
        cells.into_iter().map(Some).collect()
    }
}

impl FromIterator<Option<Cell>> for Facts {
    fn from_iter<I: IntoIterator<Item = Option<Cell>>>(cells: I) -> Facts {
        Facts(cells.into_iter().collect())
    }
}

/// Returns how much a cell says: of two cells the one that says more counts.
fn weight(stated: Option<&Cell>) -> u8 {
    match stated {
        None => 0,
        Some(Cell::Known(Value::Null)) => 1,
        Some(Cell::Unknown) => 2,
        Some(Cell::Known(_)) => 3,
    }
}

/// The events of a trace so far.
#[derive(Debug, Default)]
pub(crate) struct Spread {
    facts: Facts,
    /// The position of the next event.
    next: u32,
}

impl Spread {
    /// Takes the next event: its facts, which it no longer has then, and the positions of its steps and problems.
    pub(crate) fn take(&mut self, event: &mut Event) {
        self.facts.merge(std::mem::take(&mut event.meta));
        let first = self.next;
        self.next = first.saturating_add(event.count);
        for step in &mut event.steps {
            step.index = step.index.saturating_add(first);
        }
        for problem in &mut event.problems {
            problem.step = Some(first);
        }
    }

    /// Returns the facts so far.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }
}
