//! Rendering of reports by the threads that judge.

use super::Judge;
use crate::eval::{TraceSource, Wanted};
use crate::input::deferred::Deferred;
use crate::input::record::{Event, Record};
use crate::value::Cell;
use crate::verdict::TraceReport;

/// Renders a report that can be written independently of others (see [`Reporter::rendered`](crate::report::Reporter)).
pub type Render<'r> = dyn Fn(&TraceReport) -> Option<Vec<u8>> + Sync + 'r;

/// A report, with its rendered form if there is one.
#[derive(Debug)]
pub struct Rendered {
    pub report: TraceReport,
    pub bytes: Option<Vec<u8>>,
}

/// A judge, and the function that renders its reports. Reports come in order, so the output does not depend on the
/// number of threads.
pub(super) struct Rendering<'a, J> {
    pub(super) judge: &'a J,
    pub(super) render: &'a Render<'a>,
}

impl<J> Rendering<'_, J> {
    fn rendered(&self, report: TraceReport) -> Rendered {
        let bytes = (self.render)(&report);
        Rendered { report, bytes }
    }
}

impl<J: Judge<Report = TraceReport>> Judge for Rendering<'_, J> {
    type Open = J::Open;
    type Report = Rendered;
    const DEFERS: bool = J::DEFERS;

    fn judge(&self, record: Record, texts: Deferred<'_>, wanted: &Wanted) -> Option<Rendered> {
        let report = self.judge.judge(record, texts, wanted)?;
        Some(self.rendered(report))
    }

    fn facts(&self) -> &[usize] {
        self.judge.facts()
    }

    fn open(&self, source: TraceSource) -> J::Open {
        self.judge.open(source)
    }

    fn push(&self, open: &mut J::Open, event: Event) {
        self.judge.push(open, event);
    }

    fn finish(
        &self,
        open: J::Open,
        meta: Box<[Cell]>,
        complete: bool,
        index: u64,
        wanted: &Wanted,
    ) -> Option<Rendered> {
        let report = self.judge.finish(open, meta, complete, index, wanted)?;
        Some(self.rendered(report))
    }
}
