//! Implements [`Judge`] for functions on whole records.

use super::Judge;
use crate::eval::{TraceSource, Wanted};
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

    fn open(&self, source: TraceSource) -> Record {
        Record {
            origin: source.origin,
            id: source.id,
            complete: None,
            meta: source.meta,
            steps: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn push(&self, open: &mut Record, event: Event) {
        open.steps.extend(event.steps);
        open.problems.extend(event.problems);
    }

    fn finish(
        &self,
        open: Record,
        meta: Box<[Cell]>,
        complete: bool,
        index: u64,
        wanted: &Wanted,
    ) -> Option<R> {
        let mut record = open;
        record.meta = meta;
        record.complete = Some(complete);
        record.origin.ordinal = index;
        (self.0)(record, wanted)
    }
}
