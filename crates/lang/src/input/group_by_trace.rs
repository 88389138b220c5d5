//! Single events gathered into whole traces, where `order by` needs all events of a trace at once.

use indexmap::IndexMap;
use smol_str::SmolStr;

use super::projection::Projection;
use super::record::{Event, Record, Unit};
use super::record_builder::ranks;
use crate::value::Cell;

/// The traces of a file, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct GroupByTrace {
    traces: IndexMap<Option<SmolStr>, Trace>,
}

#[derive(Debug)]
struct Trace {
    record: Record,
    /// The cells of `order by`, per event.
    keys: Vec<Cell>,
    events: u32,
}

impl GroupByTrace {
    /// Takes a unit. Returns it if it does not belong to a trace whose records are spread over the file.
    pub(crate) fn take(&mut self, unit: Unit, projection: &Projection) -> Option<Unit> {
        match unit {
            Unit::Event(event) => {
                self.event(event, projection);
                None
            }
            Unit::End { trace, origin } => match self.traces.get_mut(&trace) {
                Some(open) => {
                    open.record.complete = Some(true);
                    None
                }
                None => Some(Unit::End { trace, origin }),
            },
            record @ Unit::Record(_) => Some(record),
        }
    }

    fn event(&mut self, event: Event, projection: &Projection) {
        let Event {
            trace,
            origin,
            meta,
            steps,
            problems,
            ..
        } = event;
        let open = self.traces.entry(trace.clone()).or_insert_with(|| Trace {
            record: Record {
                origin,
                id: trace,
                complete: None,
                meta,
                steps: Vec::new(),
                problems: Vec::new(),
            },
            keys: Vec::new(),
            events: 0,
        });
        let cells = steps.first().map(|step| &step.cells);
        for &field in projection.order_fields() {
            let cell = cells.and_then(|cells| cells.get(field)).cloned();
            open.keys.push(cell.unwrap_or(Cell::Unknown));
        }
        let index = open.events;
        open.events = open.events.saturating_add(1);
        let steps = steps.into_iter();
        open.record.steps.extend(steps.map(|mut step| {
            step.index = index;
            step
        }));
        let problems = problems.into_iter();
        open.record.problems.extend(problems.map(|mut problem| {
            problem.step = Some(index);
            problem
        }));
    }

    /// Returns the traces, each in its order.
    pub(crate) fn finish(self, projection: &Projection) -> impl Iterator<Item = Unit> {
        let width = projection.order_fields().len();
        self.traces.into_values().map(move |trace| {
            let Trace {
                mut record, keys, ..
            } = trace;
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
