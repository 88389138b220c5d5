//! Implements [`Judge`] for compiled specs.

use super::Judge;
use crate::eval::{Program, TraceSource, TraceState, Wanted};
use crate::input::deferred::Deferred;
use crate::input::record::{Event, Record};
use crate::value::Cell;
use crate::verdict::TraceReport;

impl<'p> Judge for &'p Program {
    type Open = TraceState<'p>;
    type Report = TraceReport;
    const DEFERS: bool = true;

    fn judge(&self, record: Record, texts: Deferred<'_>, wanted: &Wanted) -> Option<TraceReport> {
        self.judge_for(record, texts, wanted)
    }

    fn facts(&self) -> &[usize] {
        self.step_facts()
    }

    fn open(&self, source: TraceSource) -> TraceState<'p> {
        let program: &'p Program = self;
        program.open(source)
    }

    fn push(&self, open: &mut TraceState<'p>, mut event: Event) {
        for problem in &mut event.problems {
            problem.trace.get_or_insert_with(|| open.name().clone());
        }
        open.note(event.problems);
        for step in &event.steps {
            open.push(step);
        }
    }

    fn finish(
        &self,
        open: TraceState<'p>,
        meta: Box<[Cell]>,
        complete: bool,
        index: u64,
        wanted: &Wanted,
    ) -> Option<TraceReport> {
        let complete = self.completeness(&meta, complete)?;
        let mut report = open.finish_for(complete, wanted);
        report.index = index;
        Some(report)
    }
}
