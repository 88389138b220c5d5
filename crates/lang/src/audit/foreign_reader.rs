//! Recordings in other formats: files are converted to canonical traces, and those to records.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use smol_str::{SmolStr, format_smolstr};

use super::worker::{WorkItem, Worker};
use super::{Judge, Judged};
use crate::input::batch::{Batch, Batches};
use crate::input::deferred::Deferred;
use crate::input::document::{self, Document, DocumentError, ListLines};
use crate::input::formats::{self, CanonicalTrace, Converted, Format, Granularity, Input, Wanted};
use crate::input::limits::{FileReport, LineOutcome};
use crate::input::pipeline;
use crate::input::projection::Projection;
use crate::input::record::{FileName, Origin, RawRecord, Record, Unit};
use crate::input::split::{Splitter, Splitting};
use crate::problem::{Problem, ProblemKind, count_errors};
use crate::value::Value;

/// The reader of one file.
pub(super) struct ForeignReader<'a> {
    pub(super) format: Format,
    pub(super) granularity: Granularity,
    pub(super) projection: &'a Projection,
    pub(super) file: &'a FileName,
}

/// A document that was read.
struct ReadDocument<R> {
    lines: u64,
    records: Found<R>,
    problems: Vec<Problem>,
}

/// The records of a document.
enum Found<R> {
    /// Its only record, judged by the thread that read it, with the number of errors that the reader found.
    Judged(u64, Judged<R>),
    Records(Vec<Record>),
}

impl<R> Found<R> {
    fn is_empty(&self) -> bool {
        matches!(self, Found::Records(records) if records.is_empty())
    }
}

impl ForeignReader<'_> {
    /// Reads the whole file. Documents are read in batches; lines that belong together, and texts, are read at once.
    pub(super) fn read<J: Judge>(
        &self,
        splitter: Splitter<impl Read>,
        worker: &Worker<'_, J>,
        emit: &mut dyn FnMut(WorkItem<J::Report>),
    ) -> FileReport {
        let mut report = FileReport::default();
        let mut unit = |unit| emit(WorkItem::Unit(unit));
        match self.granularity {
            Granularity::Text => self.text(splitter.into_stream(), &mut report, &mut unit),
            Granularity::Lines => self.lines(splitter, &mut report, &mut unit),
            Granularity::Document => self.documents(splitter, worker, &mut report, emit),
        }
        report
    }

    /// Maps recorded data to canonical events, with the members that the spec reads.
    fn convert(&self, input: &Input<'_>) -> Converted {
        let wanted = Wanted::those(|name| self.projection.reads_member(name));
        formats::convert_wanted(self.format, input, wanted)
    }

    fn documents<J: Judge>(
        &self,
        mut splitter: Splitter<impl Read>,
        worker: &Worker<'_, J>,
        report: &mut FileReport,
        emit: &mut dyn FnMut(WorkItem<J::Report>),
    ) {
        splitter.split(Splitting::Documents, *self.projection.limits());
        // As long as every document is one record, its number is known before those in front of it are read.
        let one_each = AtomicBool::new(true);
        pipeline::batches(
            &mut splitter,
            |batch| self.batch(batch, worker, &one_each),
            |batch, read| {
                self.add_batch(batch, report);
                for (raw, mut one) in batch.records().zip(read) {
                    let number = report.accounting.records;
                    if matches!(one.records, Found::Judged(..)) && raw.ordinal != number {
                        one = self.document::<J>(&raw, None);
                    }
                    self.count(one.lines, !one.records.is_empty(), &one.problems, report);
                    match one.records {
                        Found::Judged(errors, judged) => {
                            report.accounting.records += 1;
                            report.accounting.problems += errors;
                            emit(WorkItem::Judged(errors, judged));
                        }
                        Found::Records(records) => {
                            for mut record in records {
                                record.origin.ordinal = report.accounting.records;
                                report.accounting.records += 1;
                                report.accounting.problems += count_errors(&record.problems);
                                emit(WorkItem::Unit(Unit::Record(record)));
                            }
                        }
                    }
                    self.add_problems(one.problems, report);
                }
            },
        );
    }

    fn batch<J: Judge>(
        &self,
        batch: &Batch,
        worker: &Worker<'_, J>,
        one_each: &AtomicBool,
    ) -> Vec<ReadDocument<J::Report>> {
        (0..batch.len())
            .into_par_iter()
            .filter_map(|idx| batch.get(idx))
            .map(|raw| self.document(&raw, Some((worker, one_each))))
            .collect()
    }

    /// Reads a document. Its record is judged at once where it is the only one, as those of all documents so far are.
    fn document<J: Judge>(
        &self,
        raw: &RawRecord<'_>,
        judging: Option<(&Worker<'_, J>, &AtomicBool)>,
    ) -> ReadDocument<J::Report> {
        let mut problems = Vec::new();
        let mut records = match document::parse(raw.bytes, self.projection.limits()) {
            Ok(document) => {
                problems.extend(self.duplicate_keys(&document, raw.line));
                let input = Input::Document {
                    value: &document.value,
                    line: Some(raw.line),
                    lists: &document.lists,
                };
                self.records(self.convert(&input), raw.line, &mut problems)
            }
            Err(error) => {
                problems.push(self.problem(error.kind, raw.line + error.line, error.message));
                Vec::new()
            }
        };
        let mut found = None;
        if let Some((worker, one_each)) = judging {
            if records.len() != 1 {
                one_each.store(false, Ordering::Relaxed);
            }
            let only = records.pop_if(|_| one_each.load(Ordering::Relaxed));
            found = only.map(|mut record| {
                record.origin.ordinal = raw.ordinal;
                let (errors, judged) = worker.judge(record, Deferred::NONE);
                Found::Judged(errors, judged)
            });
        }
        ReadDocument {
            lines: raw.lines,
            records: found.unwrap_or(Found::Records(records)),
            problems,
        }
    }

    fn lines(
        &self,
        mut splitter: Splitter<impl Read>,
        report: &mut FileReport,
        emit: &mut dyn FnMut(Unit),
    ) {
        let limits = self.projection.limits();
        splitter.split(Splitting::Documents, *limits);
        let mut values: Vec<(u64, Value)> = Vec::new();
        let mut lists = ListLines::default();
        // The lines belong together, so if memory does not suffice for all of them, none is read.
        let mut left = Some(limits.record_memory);
        let mut sound = 0;
        while let Some(batch) = splitter.next_batch() {
            let parsed: Vec<_> = (0..batch.len())
                .into_par_iter()
                .filter_map(|idx| batch.get(idx))
                .map(|raw| (raw.line, raw.lines, document::parse(raw.bytes, limits)))
                .collect();
            self.add_batch(&batch, report);
            for (line, lines, parsed) in parsed {
                let parsed = parsed.and_then(|document| {
                    left = left.and_then(|left| left.checked_sub(document.memory));
                    left.map(|_| document).ok_or(DocumentError {
                        kind: ProblemKind::Limit,
                        line: 0,
                        message: limits.too_large(),
                    })
                });
                if left.is_none() {
                    values = Vec::new();
                }
                match parsed {
                    Ok(document) => {
                        sound += lines;
                        self.add_problems(self.duplicate_keys(&document, line), report);
                        lists = document.lists;
                        values.push((line, document.value));
                    }
                    Err(error) => {
                        let problem = self.problem(error.kind, line + error.line, error.message);
                        self.count(lines, false, std::slice::from_ref(&problem), report);
                        report.add_problem(problem, limits);
                    }
                }
            }
        }
        // Only now it is known whether the lines before the limit are read.
        report.add_lines(
            sound,
            match left {
                Some(_) => LineOutcome::Read,
                None => LineOutcome::Refused,
            },
        );
        let input = match values.as_slice() {
            // A file that is a single list, or an object around one: its elements have their own lines.
            [(line, value)] => Input::Document {
                value,
                line: Some(*line),
                lists: &lists,
            },
            lines => Input::Lines(lines),
        };
        let converted = self.convert(&input);
        drop(values);
        self.whole(converted, report, emit);
    }

    fn text(&self, from: impl Read, report: &mut FileReport, emit: &mut dyn FnMut(Unit)) {
        let limits = self.projection.limits();
        let mut bytes = Vec::new();
        let read = from
            .take(limits.record_bytes as u64 + 1)
            .read_to_end(&mut bytes);
        report.accounting.bytes += bytes.len() as u64;
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.trim_ascii().is_empty())
            .count() as u64;
        let refused = match read {
            Err(error) => Some(self.problem(
                ProblemKind::Unreadable,
                0,
                format!("cannot be read: {error}"),
            )),
            Ok(_) if bytes.len() > limits.record_bytes => {
                Some(self.problem(ProblemKind::Limit, 0, limits.too_long()))
            }
            Ok(_) => None,
        };
        if let Some(problem) = refused {
            self.count(lines, false, std::slice::from_ref(&problem), report);
            report.add_problem(problem, limits);
            return;
        }
        let converted = self.convert(&Input::Text(&bytes));
        let mut sound = lines;
        for refused in &converted.refused {
            let problem = self.problem(refused.kind, refused.line, refused.message.clone());
            let count = refused.lines.min(sound);
            sound -= count;
            self.count(count, false, std::slice::from_ref(&problem), report);
            report.add_problem(problem, limits);
        }
        let read = !converted.traces.is_empty();
        self.count(sound, read, &[], report);
        self.whole(converted, report, emit);
    }

    /// Emits the units of a whole file.
    fn whole(&self, converted: Converted, report: &mut FileReport, emit: &mut dyn FnMut(Unit)) {
        let mut problems = Vec::new();
        for record in self.records(converted, 1, &mut problems) {
            report.accounting.records += 1;
            report.accounting.problems += count_errors(&record.problems);
            emit(Unit::Record(record));
        }
        self.add_problems(problems, report);
    }

    fn records(&self, converted: Converted, line: u64, problems: &mut Vec<Problem>) -> Vec<Record> {
        problems.extend(
            converted
                .losses
                .iter()
                .map(|loss| loss.problem(&self.file.path)),
        );
        converted
            .traces
            .into_iter()
            .zip(0..)
            .filter_map(|(trace, ordinal)| match self.record(trace, line, ordinal) {
                Ok(record) => Some(record),
                Err(problem) => {
                    problems.push(problem);
                    None
                }
            })
            .collect()
    }

    fn record(&self, trace: CanonicalTrace, line: u64, ordinal: u64) -> Result<Record, Problem> {
        let origin = Origin {
            file: self.file.path.clone(),
            below: self.file.below.clone(),
            line: trace.line.unwrap_or(line),
            ordinal,
        };
        let (indices, events): (Vec<u32>, Vec<Value>) = trace
            .events
            .into_iter()
            .map(|event| (event.index, event.value))
            .unzip();
        let mut record = self
            .projection
            .read_events(&trace.meta, &events, &origin, self.file)
            .map_err(|problem| problem.in_trace(trace.id.clone()))?;
        // Positions are indices in the list of the source: one item may produce several events.
        let index = |position: u32| indices.get(position as usize).copied().unwrap_or(position);
        for step in &mut record.steps {
            step.index = index(step.index);
        }
        for problem in &mut record.problems {
            problem.step = problem.step.map(index);
        }
        let name: Option<SmolStr> = trace.id;
        record.problems.extend(
            trace
                .faults
                .iter()
                .map(|fault| fault.problem(&self.file.path, name.clone())),
        );
        // One document may contain several records, each with its own name.
        let minted = || {
            let below = &record.origin.below;
            (trace.n > 0).then(|| format_smolstr!("{below}:{line}#{}", trace.n))
        };
        record.id = record.id.take().or(name).or_else(minted);
        record.complete = record.complete.or(trace.complete);
        Ok(record)
    }

    /// Adds the counts and problems of a batch, other than its documents.
    fn add_batch(&self, batch: &Batch, report: &mut FileReport) {
        report.add_batch(batch);
        for gap in &batch.gaps {
            report.add_gap(gap, self.file, self.projection.limits());
        }
    }

    /// Returns the problems of duplicate keys. Parsers differ on which of two equal keys they use, so duplicates are
    /// reported anywhere in a document; other unknown values are reported where they are read.
    fn duplicate_keys(&self, document: &Document, line: u64) -> Vec<Problem> {
        let losses = document
            .losses
            .iter()
            .filter(|loss| loss.kind == ProblemKind::DuplicateKey);
        losses
            .map(|loss| self.problem(loss.kind, line + loss.line, loss.message.clone()))
            .collect()
    }

    /// Counts lines as read, rejected or left out.
    fn count(&self, lines: u64, read: bool, problems: &[Problem], report: &mut FileReport) {
        let outcome = if read {
            LineOutcome::Read
        } else if count_errors(problems) > 0 {
            LineOutcome::Refused
        } else {
            LineOutcome::LeftOut
        };
        report.add_lines(lines, outcome);
    }

    fn add_problems(&self, problems: Vec<Problem>, report: &mut FileReport) {
        for problem in problems {
            report.add_problem(problem, self.projection.limits());
        }
    }

    pub(super) fn problem(&self, kind: ProblemKind, line: u64, message: String) -> Problem {
        Problem::new(kind, &self.file.path, line, message)
    }
}
