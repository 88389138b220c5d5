//! The driver: files to batches of records, judged in parallel, reported in order.
//!
//! ```text
//! Source ─readers→ units ─batch→ tasks ─pool→ TraceReports ─in order→ Reporter, Summary
//! ```
//!
//! Input: sources, [`Readers`] and a [`Judge`]; output: calls of a [`Reporter`], and a [`Summary`].
//!
//! # Order
//! Reports come in the order in which traces begin (whole records) or end (traces spread over lines); traces that are
//! still open when their file ends come then, in order of their first event. The output does not depend on the number
//! of threads.
//!
//! # Memory
//! A few batches of units, and the state of every open trace; besides, the events of open traces that have not stated the facts
//! that judging their first step needs. Reports are handed on as they are made.

mod batch;
mod counting_reader;
mod files;
mod foreign_reader;
mod names;
mod program;
mod readers;
mod records;
mod rendering;
mod spec_test;
mod text;
mod worker;

use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use smol_str::SmolStr;

use crate::eval::{TraceSource, Wanted};
use crate::input::deferred::Deferred;
use crate::input::limits::{Accounting, FileReport};
use crate::input::open::Source;
use crate::input::record::{Event, FileName, Origin, Record, Unit};
use crate::problem::{Problem, ProblemKind, count_errors};
use crate::report::{Input, Reporter, Summary};
use crate::value::Cell;
use crate::verdict::TraceReport;

use batch::Batch;

use names::Noting;
pub use readers::{Readers, ReadersError};
pub use records::Records;
use rendering::Rendering;
pub use rendering::{Render, Rendered};
pub use spec_test::test_record;
pub(crate) use text::visit_text;
pub use text::{Judgement, judge_text};
use worker::{WorkItem, Worker};

/// A function on traces that several threads evaluate.
pub trait Judge: Sync {
    /// The state of a trace that may have further events.
    type Open: Send;

    /// The result for a trace.
    type Report: Send;

    /// Whether texts of whole records may be deferred, so that the judge decodes them.
    const DEFERS: bool = false;

    /// Judges a whole trace. Returns `None` if `records where` rejects the record. Only wanted parts need an explanation.
    /// Texts of its steps may be deferred if [`Judge::DEFERS`] allows it.
    fn judge(&self, record: Record, texts: Deferred<'_>, wanted: &Wanted) -> Option<Self::Report>;

    /// Returns the meta fields, by number, that [`Judge::open`] needs: until events have stated all of them, or the trace ends, its
    /// events are held.
    fn facts(&self) -> &[usize] {
        &[]
    }

    /// Begins a trace whose events are pushed one by one. Of its facts only those in [`Judge::facts`] are sure to be those of the
    /// whole trace.
    fn open(&self, source: TraceSource) -> Self::Open;

    /// Adds the next event. Its steps and problems have their positions in the trace.
    fn push(&self, open: &mut Self::Open, event: Event);

    /// Judges the events that were pushed. `meta` has the facts of the whole trace; `complete` is true if the end was announced or
    /// the file is the trace; `index` is the number of earlier traces in the file.
    fn finish(
        &self,
        open: Self::Open,
        meta: Box<[Cell]>,
        complete: bool,
        index: u64,
        wanted: &Wanted,
    ) -> Option<Self::Report>;
}

/// Receives the results of traces, in order.
pub trait Listener<R> {
    /// Receives the result of a trace.
    fn report(&mut self, report: R);

    /// Receives a problem of the data that belongs to no trace.
    fn problem(&mut self, problem: &Problem);

    /// Receives the accounting of a file that has been read.
    fn input(&mut self, accounting: &Accounting);

    /// Returns the explanations that are needed for later traces.
    fn wanted(&self) -> Wanted;

    /// Whether the result of [`Self::wanted`] may have changed since the last call.
    fn wants_other(&mut self) -> bool {
        false
    }

    /// Whether no further results are wanted.
    fn stopped(&self) -> bool {
        false
    }
}

/// The progress of an audit.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes read, before decompression.
    pub bytes: AtomicU64,
    /// Traces judged.
    pub traces: AtomicU64,
    /// Finished parts of other work: claims, properties.
    pub done: AtomicU64,
    /// The number of parts; 0 if the work is reading.
    pub parts: AtomicU64,
    /// Set if no further results are wanted: the readers stop.
    pub stop: AtomicBool,
}

/// Audits sources, one after the other. The judging thread passes each report to `render`; the result is handed to
/// [`Reporter::rendered`].
///
/// `on_problem` is given every problem, also those within traces. Records left out by `records where` are counted as problems
/// of kind [`ProblemKind::LeftOut`].
///
/// # Errors
/// If the reporter cannot write; reading then stops.
#[allow(
    clippy::too_many_arguments,
    reason = "what is read, by what, and who receives the results"
)]
pub fn audit<J: Judge<Report = TraceReport>>(
    judge: &J,
    sources: &[Source],
    readers: &Readers,
    progress: &Progress,
    render: &Render<'_>,
    summary: &mut Summary,
    reporter: &mut dyn Reporter,
    on_problem: &mut dyn FnMut(&Problem),
) -> io::Result<()> {
    let judge = Rendering { judge, render };
    audit_rendered(
        &judge, sources, readers, progress, summary, reporter, on_problem,
    )
}

/// As [`audit`], for a judge that also renders its reports for [`Reporter::rendered`].
pub fn audit_rendered<J: Judge<Report = Rendered>>(
    judge: &J,
    sources: &[Source],
    readers: &Readers,
    progress: &Progress,
    summary: &mut Summary,
    reporter: &mut dyn Reporter,
    on_problem: &mut dyn FnMut(&Problem),
) -> io::Result<()> {
    let mut audit = Audit::new(progress, summary, reporter, on_problem);
    let judge = Noting {
        judge,
        names: &readers.names,
    };
    visit(&judge, sources, readers, progress, &mut audit);
    let written = audit.failed.map_or(Ok(()), Err);
    readers.note_absent(summary);
    written
}

/// Reads sources, small files several at a time, and reports the results of their traces in order.
pub fn visit<J: Judge>(
    judge: &J,
    sources: &[Source],
    readers: &Readers,
    progress: &Progress,
    listener: &mut impl Listener<J::Report>,
) {
    let mut rest = sources;
    while !rest.is_empty() && !listener.stopped() {
        let (now, later) = rest.split_at(files::together(rest));
        match now {
            [source] => file(judge, listener, &source.name, readers, |worker, emit| {
                readers.read(source, progress, worker, emit)
            }),
            several => files::visit(judge, several, readers, progress, listener),
        }
        rest = later;
    }
    if let Some(note) = readers.note_format(sources) {
        listener.problem(&note);
    }
}

struct Audit<'a> {
    progress: &'a Progress,
    summary: &'a mut Summary,
    reporter: &'a mut dyn Reporter,
    on_problem: &'a mut dyn FnMut(&Problem),
    failed: Option<io::Error>,
    /// Whether reasons were shown, so that the reporter may need no more of their kind.
    explained: bool,
    /// Names of traces so far, and the names whose repetition was reported.
    seen: HashSet<SmolStr>,
    repeated: HashSet<SmolStr>,
}

/// Reads one file; `read` yields its units in order.
fn file<J: Judge>(
    judge: &J,
    listener: &mut impl Listener<J::Report>,
    name: &FileName,
    readers: &Readers,
    read: impl FnOnce(&Worker<'_, J>, &mut dyn FnMut(WorkItem<J::Report>)) -> FileReport,
) {
    let mut batch = Batch::new(judge, readers);
    let mut reported = 0;
    let worker = Worker::new(judge, listener.wanted());
    let report = read(&worker, &mut |item| {
        if listener.stopped() {
            return;
        }
        match item {
            WorkItem::Judged(errors, judged) => {
                reported += errors;
                emit(listener, batch.pass(judged));
            }
            WorkItem::Unit(unit) => {
                reported += count_errors(match &unit {
                    Unit::Record(record) => &record.problems,
                    Unit::Event(event) => &event.problems,
                    Unit::End { .. } => &[],
                });
                batch.add(unit);
            }
        }
        if batch.is_full() {
            let wanted = listener.wanted();
            emit(listener, batch.run(&wanted));
        }
        if listener.wants_other() {
            worker.want(listener.wanted());
        }
    });
    let wanted = listener.wanted();
    emit(listener, batch.run(&wanted));
    let wanted = listener.wanted();
    emit(listener, batch.close(&wanted));
    listener.input(&report.accounting);
    for problem in report.problems.iter().chain(batch.problems()) {
        listener.problem(problem);
    }
    // Problems beyond the limit were only counted; this is reported.
    let untold = report
        .accounting
        .problems
        .saturating_sub(reported + count_errors(&report.problems));
    if untold > 0 {
        let message =
            format!("{untold} more problems in this file were only counted (limit `problems`)");
        listener.problem(&Problem::new(ProblemKind::Limit, &name.path, 0, message));
    }
    // If something was left out or could not be read, that is already reported.
    let Accounting {
        records,
        events,
        problems,
        left_out,
        ..
    } = report.accounting;
    if records + events + problems + left_out == 0 {
        let message = "no traces found in this file".to_owned();
        listener.problem(&Problem::new(ProblemKind::Odd, &name.path, 0, message));
    }
}

fn emit<R>(listener: &mut impl Listener<R>, reports: impl IntoIterator<Item = Judged<R>>) {
    for judged in reports {
        match judged {
            Judged::Report(report) => listener.report(report),
            Judged::LeftOut(origin) => {
                let message = "rejected by `records where`".to_owned();
                let kind = ProblemKind::LeftOut;
                let problem = Problem::new(kind, &origin.file, origin.line, message);
                listener.problem(&problem);
            }
        }
    }
}

impl<'a> Audit<'a> {
    fn new(
        progress: &'a Progress,
        summary: &'a mut Summary,
        reporter: &'a mut dyn Reporter,
        on_problem: &'a mut dyn FnMut(&Problem),
    ) -> Audit<'a> {
        let (seen, repeated) = (HashSet::new(), HashSet::new());
        Audit {
            progress,
            summary,
            reporter,
            on_problem,
            failed: None,
            explained: false,
            seen,
            repeated,
        }
    }

    fn fail(&mut self, error: io::Error) {
        self.progress.stop.store(true, Ordering::Relaxed);
        self.failed = Some(error);
    }
}

impl Listener<Rendered> for Audit<'_> {
    /// Returns the explanations that the reporter will still show.
    fn wanted(&self) -> Wanted {
        let wanted = Wanted::new(self.summary.properties.len(), |property, verdict| {
            self.reporter.explains(property, verdict)
        });
        if self.reporter.shows_evidence() {
            wanted
        } else {
            wanted.without_evidence()
        }
    }

    fn wants_other(&mut self) -> bool {
        std::mem::take(&mut self.explained)
    }

    fn report(&mut self, rendered: Rendered) {
        let Rendered { mut report, bytes } = rendered;
        if self.failed.is_some() {
            return;
        }
        if !self.seen.insert(report.trace.clone()) && self.repeated.insert(report.trace.clone()) {
            let message = "another trace has the same name; they are checked separately".to_owned();
            let problem = Problem::new(ProblemKind::Odd, &report.file, report.line, message);
            let trace = Some(report.trace.clone());
            report.problems.push(problem.in_trace(trace));
        }
        self.progress.traces.fetch_add(1, Ordering::Relaxed);
        self.summary.add(&report);
        for problem in &report.problems {
            (self.on_problem)(problem);
        }
        self.explained |= report
            .verdicts
            .iter()
            .any(|verdict| !verdict.evidence.is_empty() || !verdict.undecided_by.is_empty());
        let written = match bytes {
            Some(bytes) => self.reporter.rendered(&report, &bytes),
            None => self.reporter.trace(&report),
        };
        if let Err(error) = written {
            self.fail(error);
        }
    }

    fn problem(&mut self, problem: &Problem) {
        if self.failed.is_some() {
            return;
        }
        self.summary.problem(problem);
        (self.on_problem)(problem);
        if let Err(error) = self.reporter.problem(problem) {
            self.fail(error);
        }
    }

    fn input(&mut self, accounting: &Accounting) {
        count(&mut self.summary.input, accounting);
    }

    fn stopped(&self) -> bool {
        self.failed.is_some()
    }
}

/// The result of judging a unit.
#[derive(Debug)]
enum Judged<R> {
    Report(R),
    /// A record that `records where` rejects.
    LeftOut(Origin),
}

/// Adds the counts of a file to the totals.
fn count(input: &mut Input, file: &Accounting) {
    input.files += 1;
    input.bytes += file.bytes;
    input.lines += file.lines;
    input.read += file.lines_read;
    input.left_out += file.lines_left_out;
    input.refused += file.lines_refused;
    input.between += file.lines_between;
    input.records += file.records;
    input.events += file.events;
    input.ends += file.ends;
}
