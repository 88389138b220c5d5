//! Implements [`Judge`] for functions on whole records.

use super::Judge;
use crate::eval::Wanted;
use crate::input::deferred::Deferred;
use crate::input::record::{Event, Record};
use crate::value::Cell;

/// Calls a function with every trace as one record. The events of a trace that is spread over lines are collected until
/// it ends, so the whole trace is in memory.
#[derive(Debug)]
pub struct Records<F>(pub F);

impl<R, F> Judge for Records<F>
where
    R: Send,
    F: Fn(Record, &Wanted) -> Option<R> + Sync,
{
    type Open = Record;
    type Report = R;

    fn judge(&self, record: Record, _: Deferred<'_>, wanted: &Wanted) -> Option<R> {
        (self.0)(record, wanted)
    }

    fn open(&self, first: &Event) -> Record {
        Record {
            origin: first.origin.clone(),
            id: first.trace.clone(),
            complete: None,
            meta: first.meta.clone(),
            steps: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn push(&self, open: &mut Record, event: Event) {
        for (known, cell) in open.meta.iter_mut().zip(event.meta) {
            if *known == Cell::Unknown {
                *known = cell;
            }
        }
        let index = open
            .steps
            .last()
            .map_or(0, |step| step.index.saturating_add(1));
        for mut problem in event.problems {
            problem.step = Some(index);
            problem.trace = problem.trace.or_else(|| open.id.clone());
            open.problems.push(problem);
        }
        for mut step in event.steps {
            step.index = step.index.saturating_add(index);
            open.steps.push(step);
        }
    }

    fn finish(&self, open: Record, complete: bool, index: u64, wanted: &Wanted) -> Option<R> {
        let mut record = open;
        record.complete = Some(complete);
        record.origin.ordinal = index;
        (self.0)(record, wanted)
    }
}
