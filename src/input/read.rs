//! A file from its bytes to units, in order, with a pool of threads at work on each batch.

use std::io::Read;

use rayon::prelude::*;
use smol_str::SmolStr;

use super::gather::Gather;
use super::limits::{Accounting, FileReport};
use super::open::Source;
use super::project::{Outcome, Projection, Scratch};
use super::record::{FileName, Unit};
use super::split::{Batch, Gap, Splitter, Splitting, Why};
use crate::problem::{Problem, ProblemKind};
use crate::signature::OriginField;
use crate::value::{Cell, Value};

/// Reads a source. Units come in the order of the file, whatever the number of threads; problems that belong to no
/// unit are in the report.
///
/// Memory is that of two batches and the units of one. With `order by`, single events are held until the end of the
/// file and come as whole [records](Unit::Record), one per trace, in the order in which the traces began.
pub fn read(source: &Source, projection: &Projection, emit: &mut dyn FnMut(Unit)) -> FileReport {
    match source.open() {
        Ok(from) => read_from(from, &source.name, projection, emit),
        Err(error) => {
            let mut report = FileReport::default();
            let kind = ProblemKind::Unreadable;
            let message = format!("cannot be read: {error}");
            report.accounting.problems = 1;
            report
                .problems
                .push(problem(&source.name, 0, kind, message));
            report
        }
    }
}

/// Reads a stream that is open already.
pub fn read_from(
    from: impl Read + Send,
    name: &FileName,
    projection: &Projection,
    emit: &mut dyn FnMut(Unit),
) -> FileReport {
    let splitting = match (projection.by_lines(), projection.splits_lists()) {
        (true, _) => Splitting::Lines,
        (false, true) => Splitting::Records,
        (false, false) => Splitting::Documents,
    };
    let mut splitter = Splitter::new(from, splitting, *projection.limits());
    let mut merge = Merge {
        name,
        projection,
        report: FileReport::default(),
        shift: 0,
        gather: (!projection.order_fields().is_empty()).then(Gather::default),
        emit,
    };
    let mut batch = splitter.next_batch();
    while let Some(current) = batch {
        let (next, outcomes) = rayon::join(
            || splitter.next_batch(),
            || project(&current, name, projection),
        );
        merge.batch(&current, outcomes);
        splitter.recycle(current);
        batch = next;
    }
    for unit in merge
        .gather
        .into_iter()
        .flat_map(|gather| gather.finish(projection))
    {
        (merge.emit)(unit);
    }
    merge.report
}

/// The outcomes of each record of a batch.
fn project(batch: &Batch, name: &FileName, projection: &Projection) -> Vec<Vec<Outcome>> {
    (0..batch.len())
        .into_par_iter()
        .with_min_len(16)
        .map_init(Scratch::default, |scratch, idx| {
            let mut outcomes = Vec::new();
            if let Some(raw) = batch.get(idx) {
                projection.read(&raw, name, scratch, &mut outcomes);
            }
            outcomes
        })
        .collect()
}

struct Merge<'a> {
    name: &'a FileName,
    projection: &'a Projection,
    report: FileReport,
    /// Records beyond the first of their line, so far: the splitter counts one a line.
    shift: u64,
    /// Single events, where they must be sorted.
    gather: Option<Gather>,
    emit: &'a mut dyn FnMut(Unit),
}

impl Merge<'_> {
    fn batch(&mut self, batch: &Batch, outcomes: Vec<Vec<Outcome>>) {
        self.report.accounting.bytes += batch.consumed;
        self.report.accounting.lines += batch.between;
        self.report.accounting.lines_between += batch.between;
        let mut gaps = batch.gaps.iter().peekable();
        for (raw, outcomes) in batch.records().zip(outcomes) {
            while let Some(gap) = gaps.next_if(|gap| gap.ordinal <= raw.ordinal) {
                self.gap(gap);
            }
            self.lines(raw.lines, &outcomes);
            let extra = (outcomes.len() as u64).saturating_sub(1);
            for outcome in outcomes {
                self.outcome(outcome);
            }
            self.shift += extra;
        }
        for gap in gaps {
            self.gap(gap);
        }
    }

    /// The lines of a record count as read where anything was.
    fn lines(&mut self, lines: u64, outcomes: &[Outcome]) {
        let counts: &mut Accounting = &mut self.report.accounting;
        counts.lines += lines;
        let any = |test: fn(&Outcome) -> bool| outcomes.iter().any(test);
        if any(|outcome| matches!(outcome, Outcome::Unit(_))) {
            counts.lines_read += lines;
        } else if any(|outcome| matches!(outcome, Outcome::Refused(_))) || outcomes.is_empty() {
            counts.lines_refused += lines;
        } else {
            counts.lines_left_out += lines;
        }
    }

    fn outcome(&mut self, outcome: Outcome) {
        let counts = &mut self.report.accounting;
        match outcome {
            Outcome::Unit(mut unit) => {
                let shift = self.shift;
                let (origin, problems) = match &mut unit {
                    Unit::Record(record) => {
                        counts.records += 1;
                        self.projection.renumber(&mut record.meta, shift);
                        (&mut record.origin, record.problems.as_slice())
                    }
                    Unit::Event(event) => {
                        counts.events += 1;
                        self.projection.renumber(&mut event.meta, shift);
                        (&mut event.origin, event.problems.as_slice())
                    }
                    Unit::End { origin, .. } => {
                        counts.ends += 1;
                        (origin, [].as_slice())
                    }
                };
                origin.ordinal += shift;
                counts.problems += problems.iter().filter(|p| p.kind.is_error()).count() as u64;
                let unit = match &mut self.gather {
                    Some(gather) => gather.take(unit, self.projection),
                    None => Some(unit),
                };
                if let Some(unit) = unit {
                    (self.emit)(unit);
                }
            }
            Outcome::LeftOut(problem) => {
                counts.left_out += 1;
                self.tell(problem);
            }
            Outcome::Refused(problem) => self.tell(problem),
        }
    }

    fn gap(&mut self, gap: &Gap) {
        self.report.accounting.lines += gap.lines;
        self.report.accounting.lines_refused += gap.lines;
        let limit = self.projection.limits().record_bytes;
        let (kind, message) = match &gap.why {
            Why::Malformed(what) => (ProblemKind::Malformed, format!("no JSON: {what}")),
            Why::TooLong => (
                ProblemKind::Limit,
                format!("longer than {limit} bytes (raise `--max-record-bytes`)"),
            ),
            Why::Unreadable(what) => (
                ProblemKind::Unreadable,
                format!("{what}; what was read up to here counts"),
            ),
        };
        self.tell(problem(self.name, gap.line, kind, message));
    }

    fn tell(&mut self, problem: Problem) {
        if problem.kind.is_error() {
            self.report.accounting.problems += 1;
        }
        if self.report.problems.len() < self.projection.limits().problems {
            self.report.problems.push(problem);
        }
    }
}

impl Projection {
    /// Moves the numbers of records (`n`) in meta cells.
    fn renumber(&self, meta: &mut [Cell], shift: u64) {
        if shift == 0 {
            return;
        }
        for slot in self.origins(OriginField::N) {
            if let Some(Cell::Known(Value::Number(number))) = meta.get_mut(slot)
                && let Some(int) = number.to_int()
            {
                *number = crate::value::Number::Int(int + i128::from(shift));
            }
        }
    }
}

fn problem(name: &FileName, line: u64, kind: ProblemKind, message: String) -> Problem {
    Problem {
        kind,
        file: name.path.clone(),
        line,
        trace: None::<SmolStr>,
        step: None,
        field: None,
        message,
    }
}
