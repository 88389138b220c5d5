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
//! still open when their file ends come then, in order of their first event. Nothing depends on the number of threads.
//!
//! # Memory
//! A few batches of units, and the state of every open trace. Reports are handed on as they are made.

mod batch;
mod program;
mod reader;
mod readers;
mod tests;
mod text;
mod wild;

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use smol_str::SmolStr;

use crate::eval::Wanted;
use crate::input::limits::{Accounting, FileReport};
use crate::input::open::Source;
use crate::input::record::{Event, FileName, Origin, Record, Unit};
use crate::problem::{Problem, ProblemKind};
use crate::report::{Input, Reporter, Summary};
use crate::verdict::TraceReport;

use batch::Batch;
pub use program::Opened;
pub use readers::{Readers, ReadersError};
pub use tests::test_record;
pub use text::{Judgement, TextError, judge_text};

/// What judges traces.
pub trait Judge: Sync {
    /// The state of a trace of which more events may come.
    type Open: Send;

    /// Judges a whole trace; none where `records where` says that it is no trace.
    /// Only what is wanted need be explained.
    fn judge(&self, record: Record, wanted: &Wanted) -> Option<TraceReport>;

    /// Begins a trace at its first event, which is then pushed like the others.
    fn open(&self, first: &Event) -> Self::Open;

    /// The next event.
    fn push(&self, open: &mut Self::Open, event: Event);

    /// Judges what was pushed. `complete` where the end was announced, or the file is the trace.
    fn finish(&self, open: Self::Open, complete: bool, wanted: &Wanted) -> Option<TraceReport>;
}

/// How far an audit is, for those who wait.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes read, as they lie in the files.
    pub bytes: AtomicU64,
    /// Traces judged.
    pub traces: AtomicU64,
    /// Nobody wants more: the readers stop.
    pub stop: AtomicBool,
}

/// Audits sources, one after the other.
///
/// `tell` is given every problem, also those within traces. Records left out by `records where` are counted as problems
/// of kind [`ProblemKind::LeftOut`].
///
/// # Errors
/// Where the reporter cannot write; reading stops then.
pub fn audit<J: Judge>(
    judge: &J,
    sources: &[Source],
    readers: &Readers,
    progress: &Progress,
    summary: &mut Summary,
    reporter: &mut dyn Reporter,
    tell: &mut dyn FnMut(&Problem),
) -> io::Result<()> {
    let mut audit = Audit::new(judge, progress, summary, reporter, tell);
    for source in sources {
        audit.file(&source.name, readers, |emit| {
            readers.read(source, progress, emit)
        });
        if let Some(error) = audit.failed.take() {
            return Err(error);
        }
    }
    Ok(())
}

struct Audit<'a, J> {
    judge: &'a J,
    progress: &'a Progress,
    summary: &'a mut Summary,
    reporter: &'a mut dyn Reporter,
    tell: &'a mut dyn FnMut(&Problem),
    failed: Option<io::Error>,
    /// Names of traces so far, and those of which it was told that they repeat.
    seen: HashSet<SmolStr>,
    repeated: HashSet<SmolStr>,
}

impl<'a, J: Judge> Audit<'a, J> {
    fn new(
        judge: &'a J,
        progress: &'a Progress,
        summary: &'a mut Summary,
        reporter: &'a mut dyn Reporter,
        tell: &'a mut dyn FnMut(&Problem),
    ) -> Audit<'a, J> {
        let (seen, repeated) = (HashSet::new(), HashSet::new());
        Audit {
            judge,
            progress,
            summary,
            reporter,
            tell,
            failed: None,
            seen,
            repeated,
        }
    }

    fn file(
        &mut self,
        name: &FileName,
        readers: &Readers,
        read: impl FnOnce(&mut dyn FnMut(Unit)) -> FileReport,
    ) {
        let judge = self.judge;
        let mut batch = Batch::new(judge, readers.file_is_trace());
        let mut told = 0;
        let report = read(&mut |unit: Unit| {
            if self.failed.is_some() {
                return;
            }
            told += errors(match &unit {
                Unit::Record(record) => &record.problems,
                Unit::Event(event) => &event.problems,
                Unit::End { .. } => &[],
            });
            batch.add(unit);
            if batch.is_full() {
                self.reports(batch.run(&self.wanted()));
            }
        });
        self.reports(batch.run(&self.wanted()));
        self.reports(batch.close(&self.wanted()));
        count(&mut self.summary.input, &report.accounting);
        for problem in report.problems.iter().chain(batch.problems()) {
            self.problem(problem);
        }
        // Problems beyond the limit were only counted; that is said.
        let untold = report
            .accounting
            .problems
            .saturating_sub(told + errors(&report.problems));
        if untold > 0 {
            let message = format!(
                "{untold} more problems in this file were only counted (raise `--max-problems`)"
            );
            self.problem(&problem(&name.path, 0, ProblemKind::Limit, message));
        }
        // Where something was left out or could not be read, that is told already.
        let Accounting {
            records,
            events,
            problems,
            left_out,
            ..
        } = report.accounting;
        if records + events + problems + left_out == 0 {
            let message = "no trace was found in this file".to_owned();
            self.problem(&problem(&name.path, 0, ProblemKind::Odd, message));
        }
    }

    /// What the reporter will still show.
    fn wanted(&self) -> Wanted {
        Wanted::new(self.summary.properties.len(), |property, verdict| {
            self.reporter.explains(property, verdict)
        })
    }

    fn reports(&mut self, reports: Vec<Judged>) {
        for judged in reports {
            match judged {
                Judged::Report(report) => self.report(report),
                Judged::LeftOut(origin) => {
                    let message = "`records where` does not hold".to_owned();
                    self.problem(&problem(
                        &origin.file,
                        origin.line,
                        ProblemKind::LeftOut,
                        message,
                    ));
                }
            }
        }
    }

    fn report(&mut self, mut report: TraceReport) {
        if self.failed.is_some() {
            return;
        }
        if !self.seen.insert(report.trace.clone()) && self.repeated.insert(report.trace.clone()) {
            let message = "another trace has this name; they are kept apart".to_owned();
            let problem = problem(&report.file, report.line, ProblemKind::Odd, message);
            report.problems.push(Problem {
                trace: Some(report.trace.clone()),
                ..problem
            });
        }
        self.progress.traces.fetch_add(1, Ordering::Relaxed);
        self.summary.add(&report);
        for problem in &report.problems {
            (self.tell)(problem);
        }
        if let Err(error) = self.reporter.trace(&report) {
            self.fail(error);
        }
    }

    fn problem(&mut self, problem: &Problem) {
        if self.failed.is_some() {
            return;
        }
        self.summary.problem(problem);
        (self.tell)(problem);
        if let Err(error) = self.reporter.problem(problem) {
            self.fail(error);
        }
    }

    fn fail(&mut self, error: io::Error) {
        self.progress.stop.store(true, Ordering::Relaxed);
        self.failed = Some(error);
    }
}

/// What came of a trace.
#[derive(Debug)]
enum Judged {
    Report(TraceReport),
    /// It is no trace by the spec's own word.
    LeftOut(Origin),
}

fn problem(file: &Arc<str>, line: u64, kind: ProblemKind, message: String) -> Problem {
    Problem {
        kind,
        file: Arc::clone(file),
        line,
        trace: None,
        step: None,
        field: None,
        message,
    }
}

fn errors(problems: &[Problem]) -> u64 {
    problems
        .iter()
        .filter(|problem| problem.kind.is_error())
        .count() as u64
}

/// Adds a file to what was read.
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
