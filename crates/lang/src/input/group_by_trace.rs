//! Single events gathered into whole traces, where `order by` needs all events of a trace at once.

use indexmap::IndexMap;
use smol_str::SmolStr;

use super::projection::Projection;
use super::record::{Event, Record, Unit};
use super::record_builder::ranks;
use super::spread::Spread;
use crate::hash::Seeded;
use crate::value::Cell;

/// The traces of a file, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct GroupByTrace {
    traces: Vec<Trace>,
    /// The traces that have not ended, by their names.
    open: IndexMap<Option<SmolStr>, usize, Seeded>,
}

#[derive(Debug)]
struct Trace {
    record: Record,
    spread: Spread,
    /// The cells of `order by`, per event.
    keys: Vec<Cell>,
}

impl GroupByTrace {
    /// Takes a unit. Returns it if it does not belong to a trace whose records are spread over the file.
    pub(crate) fn take(&mut self, unit: Unit, projection: &Projection) -> Option<Unit> {
        match unit {
            Unit::Event(event) => {
                self.event(event, projection);
                None
            }
            // Later events with its name begin another trace.
            Unit::End { trace, origin } => match self.open.swap_remove(&trace) {
                Some(ended) => {
                    if let Some(ended) = self.traces.get_mut(ended) {
                        ended.record.complete = Some(true);
                    }
                    None
                }
                None => Some(Unit::End { trace, origin }),
            },
            record @ Unit::Record(_) => Some(record),
        }
    }

    fn event(&mut self, mut event: Event, projection: &Projection) {
        let place = self.open.entry(event.trace.clone()).or_insert_with(|| {
            self.traces.push(Trace {
                record: Record {
                    origin: event.origin.clone(),
                    id: event.trace.clone(),
                    // Its end is not announced; a file that is a trace ends it.
                    complete: Some(projection.by_lines()),
                    meta: Box::default(),
                    steps: Vec::new(),
                    problems: Vec::new(),
                },
                spread: Spread::default(),
                keys: Vec::new(),
            });
            self.traces.len() - 1
        });
        let Some(trace) = self.traces.get_mut(*place) else {
            return;
        };
        let cells = event.steps.first().map(|step| &step.cells);
        for &field in projection.order_fields() {
            let cell = cells.and_then(|cells| cells.get(field)).cloned();
            trace.keys.push(cell.unwrap_or(Cell::Unknown));
        }
        trace.spread.take(&mut event);
        trace.record.steps.extend(event.steps);
        trace.record.problems.extend(event.problems);
    }

    /// Returns the traces, each in its order.
    pub(crate) fn finish(self, projection: &Projection) -> impl Iterator<Item = Unit> {
        let width = projection.order_fields().len();
        self.traces.into_iter().map(move |trace| {
            let Trace {
                mut record,
                spread,
                keys,
            } = trace;
            record.meta = spread.facts().cells(projection.meta_fields());
            let rank = ranks(&keys, width);
            let place = |index: u32| rank.get(index as usize).copied().unwrap_or(index);
            for step in &mut record.steps {
                step.index = place(step.index);
            }
            record.steps.sort_by_key(|step| step.index);
            for problem in &mut record.problems {
                problem.step = problem.step.map(place);
            }
            Unit::Record(record)
        })
    }
}
