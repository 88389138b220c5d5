//! Implements [`Judge`] for compiled specs.

use super::Judge;
use crate::eval::{Program, TraceSource, TraceState, Wanted};
use crate::input::deferred::Deferred;
use crate::input::record::{Event, Record};
use crate::value::{Cell, Truth};
use crate::verdict::TraceReport;

/// A trace that may have further events.
#[derive(Debug)]
pub struct Opened<'p> {
    state: TraceState<'p>,
    /// The facts about the record that events state: for each field the first known value.
    meta: Box<[Cell]>,
    /// The position of the next event.
    next: u32,
}

impl<'p> Judge for &'p Program {
    type Open = Opened<'p>;
    type Report = TraceReport;
    const DEFERS: bool = true;

    fn judge(&self, record: Record, texts: Deferred<'_>, wanted: &Wanted) -> Option<TraceReport> {
        self.judge_for(record, texts, wanted)
    }

    fn open(&self, first: &Event) -> Opened<'p> {
        let program: &'p Program = self;
        let source = TraceSource {
            origin: first.origin.clone(),
            id: first.trace.clone(),
            meta: first.meta.clone(),
        };
        Opened {
            state: program.open(source),
            meta: first.meta.clone(),
            next: 0,
        }
    }

    fn push(&self, open: &mut Opened<'p>, event: Event) {
        for (known, cell) in open.meta.iter_mut().zip(event.meta) {
            if *known == Cell::Unknown {
                *known = cell;
            }
        }
        let index = open.next;
        open.next = index.saturating_add(event.count);
        open.state.note(
            event
                .problems
                .into_iter()
                .map(|mut problem| {
                    problem.step = Some(index);
                    problem
                        .trace
                        .get_or_insert_with(|| open.state.name().clone());
                    problem
                })
                .collect::<Vec<_>>(),
        );
        for mut step in event.steps {
            step.index = step.index.saturating_add(index);
            open.state.push(&step);
        }
    }

    fn finish(
        &self,
        open: Opened<'p>,
        complete: bool,
        index: u64,
        wanted: &Wanted,
    ) -> Option<TraceReport> {
        if self.is_trace(&open.meta) == Truth::False {
            return None;
        }
        let complete = self
            .complete(&open.meta)
            .map_or(complete, |truth| truth == Truth::True);
        let mut report = open.state.finish_for(complete, wanted);
        report.index = index;
        Some(report)
    }
}
