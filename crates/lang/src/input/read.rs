//! A file from its bytes to units, in order, with a pool of threads at work on each batch.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::batch::{Batch, Batches};
use super::deferred::Deferred;
use super::group_by_trace::GroupByTrace;
use super::limits::{FileReport, LineOutcome};
use super::open::{Opened, Source};
use super::pipeline;
use super::projection::{Projection, ReadBuffers, ReadOutcome};
use super::record::{Event, FileName, Record, Unit};
use super::split::{Splitter, Splitting};
use crate::input_schema::OriginField;
use crate::pool::{Pool, PoolGuard};
use crate::problem::{Problem, count_errors};
use crate::value::{Cell, Value};

/// Reads a source. Units come in the order of the file, whatever the number of threads; problems that belong to no
/// unit are in the report.
///
/// Memory is that of a few batches and their units. With `order by`, single events are held until the end of the
/// file and come as whole [records](Unit::Record), one per trace, in the order in which the traces began.
pub fn read(source: &Source, projection: &Projection, emit: &mut dyn FnMut(Unit)) -> FileReport {
    match source.open_columns(projection.limits(), Some(projection), false) {
        Ok(Opened::Stream(from)) => read_from(from, &source.name, projection, emit),
        Ok(Opened::Rows(rows)) => read_batches(rows, &source.name, projection, &Whole, emit),
        Err(error) => FileReport::unreadable(&source.name, &error),
    }
}

/// Reads a stream that is open already.
pub fn read_from(
    from: impl Read + Send,
    name: &FileName,
    projection: &Projection,
    emit: &mut dyn FnMut(Unit),
) -> FileReport {
    let splitter = Splitter::new(from, Splitting::Records, *projection.limits());
    read_through(splitter, name, projection, &Whole, emit)
}

/// A function on units that the reading threads run: early use keeps the data in their caches.
pub(crate) trait UnitMapper: Sync {
    /// The result for a unit.
    type Output: Send;

    /// Whether texts may be left to be decoded by [`UnitMapper::make`].
    const DEFERS: bool;

    /// Makes it. Some texts of a record's steps may be deferred.
    fn make(&self, unit: Unit, texts: Deferred<'_>) -> Self::Output;
}

/// Units as they are.
struct Whole;

impl UnitMapper for Whole {
    type Output = Unit;
    const DEFERS: bool = false;

    fn make(&self, unit: Unit, _: Deferred<'_>) -> Unit {
        unit
    }
}

/// Reads a stream of which nothing was split yet, and makes something of each unit, in parallel; what is made comes in the
/// order of the file.
pub(crate) fn read_through<M: UnitMapper>(
    mut splitter: Splitter<impl Read>,
    name: &FileName,
    projection: &Projection,
    make: &M,
    emit: &mut dyn FnMut(M::Output),
) -> FileReport {
    let splitting = match (projection.by_lines(), projection.splits_lists()) {
        (true, _) => Splitting::Lines,
        (false, true) => Splitting::Records,
        (false, false) => Splitting::Documents,
    };
    splitter.split(splitting, *projection.limits());
    read_batches(splitter, name, projection, make, emit)
}

/// The same for a file whose records were found.
pub(crate) fn read_batches<M: UnitMapper>(
    mut batches: impl Batches,
    name: &FileName,
    projection: &Projection,
    make: &M,
    emit: &mut dyn FnMut(M::Output),
) -> FileReport {
    let buffers = Pool::new(usize::MAX);
    let mut merge = Merge {
        name,
        projection,
        buffers: &buffers,
        make,
        report: FileReport::default(),
        shift: 0,
        gather: (!projection.order_fields().is_empty()).then(GroupByTrace::default),
        emit,
    };
    // Where records get other numbers, or are sorted, one batch is read after the other.
    let one_by_one = AtomicBool::new(merge.gather.is_some());
    let work = |batch: &Batch| {
        let at_once = !one_by_one.load(Ordering::Relaxed);
        at_once.then(|| project(batch, name, projection, &buffers, make))?
    };
    pipeline::batches(&mut batches, work, |batch, made| match made {
        Some(made) if merge.shift == 0 => {
            merge.batch(batch, made, |merge, made| (merge.emit)(made));
        }
        _ => {
            merge.renumbered(batch);
            one_by_one.fetch_or(merge.shift > 0, Ordering::Relaxed);
        }
    });
    let gathered = merge.gather.take().into_iter();
    merge.make_all(
        gathered
            .flat_map(|gather| gather.finish(projection))
            .collect(),
    );
    merge.report
}

/// The outcome of one value of the file.
enum Found<T> {
    /// It was read: what it is, problems with it that are errors, and what was made of it.
    Unit(UnitKind, u64, T),
    LeftOut(Problem),
    Refused(Problem),
}

#[derive(Clone, Copy)]
enum UnitKind {
    Record,
    /// So many events.
    Events(u32),
    End,
}

impl<T> Found<T> {
    fn new(outcome: ReadOutcome, make: impl FnOnce(Unit) -> T) -> Found<T> {
        match outcome {
            ReadOutcome::Unit(unit) => {
                let (kind, errors) = match &unit {
                    Unit::Record(record) => (UnitKind::Record, count_errors(&record.problems)),
                    Unit::Event(event) => {
                        (UnitKind::Events(event.count), count_errors(&event.problems))
                    }
                    Unit::End { .. } => (UnitKind::End, 0),
                };
                Found::Unit(kind, errors, make(unit))
            }
            ReadOutcome::LeftOut(problem) => Found::LeftOut(problem),
            ReadOutcome::Refused(problem) => Found::Refused(problem),
        }
    }
}

/// The values found in each record of a batch: one, or several on one line.
enum Line<T> {
    One(Found<T>),
    Other(Vec<Found<T>>),
}

impl<T> Line<T> {
    fn all(&self) -> &[Found<T>] {
        match self {
            Line::One(found) => std::slice::from_ref(found),
            Line::Other(found) => found,
        }
    }
}

/// Returns the most records that are read in one go, so that no thread has long to do when the others are done: a small part
/// of what is one thread's share.
fn in_one_go(records: usize) -> usize {
    (records / (16 * rayon::current_num_threads())).max(4)
}

/// Reads a batch and maps its units. Returns `None` if a line contains several values, which changes the numbers of later
/// records.
fn project<M: UnitMapper>(
    batch: &Batch,
    name: &FileName,
    projection: &Projection,
    buffers: &Pool<ReadBuffers>,
    make: &M,
) -> Option<Vec<Line<M::Output>>> {
    let several = AtomicBool::new(false);
    let read = |buffers: &mut PoolGuard<ReadBuffers>, idx: usize| {
        let mut first = None;
        let mut more = Vec::new();
        batch.read_each(
            idx,
            projection,
            name,
            buffers,
            M::DEFERS,
            &mut |outcome, texts| {
                if batch.is_table() && first.is_some() {
                    more.push(Found::new(outcome, |unit| make.make(unit, texts)));
                } else if first.is_some() || several.load(Ordering::Relaxed) {
                    several.store(true, Ordering::Relaxed);
                } else {
                    first = Some(Found::new(outcome, |unit| make.make(unit, texts)));
                }
            },
        );
        match first {
            Some(first) if more.is_empty() => Line::One(first),
            first => Line::Other(first.into_iter().chain(more).collect()),
        }
    };
    let made = (0..batch.len())
        .into_par_iter()
        .with_min_len(4)
        .with_max_len(in_one_go(batch.len()))
        .map_init(|| buffers.get(ReadBuffers::default), read)
        .collect();
    (!several.into_inner()).then_some(made)
}

struct Merge<'a, M: UnitMapper> {
    name: &'a FileName,
    projection: &'a Projection,
    buffers: &'a Pool<ReadBuffers>,
    make: &'a M,
    report: FileReport,
    /// Records beyond the first of their line, so far: the splitter counts one a line.
    shift: u64,
    /// Single events, where they must be sorted.
    gather: Option<GroupByTrace>,
    emit: &'a mut dyn FnMut(M::Output),
}

impl<M: UnitMapper> Merge<'_, M> {
    /// Reads a batch whose records get other numbers than the splitter's, or that are grouped first.
    fn renumbered(&mut self, batch: &Batch) {
        let read = |buffers: &mut PoolGuard<ReadBuffers>, idx: usize| {
            let mut found = Vec::new();
            let each = &mut |outcome, _: Deferred<'_>| {
                found.push(Found::new(outcome, |unit| unit));
            };
            batch.read_each(idx, self.projection, self.name, buffers, false, each);
            Line::Other(found)
        };
        let read: Vec<Line<Unit>> = (0..batch.len())
            .into_par_iter()
            .with_min_len(16)
            .map_init(|| self.buffers.get(ReadBuffers::default), read)
            .collect();
        let mut units = Vec::new();
        self.batch(batch, read, |merge, unit| {
            let unit = merge.projection.renumber(unit, merge.shift);
            units.extend(match &mut merge.gather {
                Some(gather) => gather.take(unit, merge.projection),
                None => Some(unit),
            });
        });
        self.make_all(units);
    }

    fn make_all(&mut self, units: Vec<Unit>) {
        let make = self.make;
        let made: Vec<M::Output> = units
            .into_par_iter()
            .map(|unit| make.make(unit, Deferred::NONE))
            .collect();
        made.into_iter().for_each(&mut *self.emit);
    }

    fn batch<T>(&mut self, batch: &Batch, lines: Vec<Line<T>>, mut take: impl FnMut(&mut Self, T)) {
        self.report.add_batch(batch);
        let limits = self.projection.limits();
        let mut gaps = batch.gaps.iter().peekable();
        for (raw, line) in batch.records().zip(lines) {
            while let Some(gap) = gaps.next_if(|gap| gap.ordinal <= raw.ordinal) {
                self.report.add_gap(gap, self.name, limits);
            }
            if !matches!(&line, Line::Other(_) if batch.is_table()) {
                self.lines(raw.lines, line.all());
            }
            match line {
                Line::One(found) => self.found(found, &mut take),
                Line::Other(all) if batch.is_table() => {
                    for found in all {
                        self.lines(1, std::slice::from_ref(&found));
                        self.found(found, &mut take);
                    }
                }
                Line::Other(all) => {
                    let extra = (all.len() as u64).saturating_sub(1);
                    for found in all {
                        self.found(found, &mut take);
                    }
                    self.shift += extra;
                }
            }
        }
        for gap in gaps {
            self.report.add_gap(gap, self.name, limits);
        }
    }

    /// Counts the lines of a record as read if it contains any value.
    fn lines<T>(&mut self, lines: u64, found: &[Found<T>]) {
        let any = |test: fn(&Found<T>) -> bool| found.iter().any(test);
        let outcome = if any(|found| matches!(found, Found::Unit(..))) {
            LineOutcome::Read
        } else if any(|found| matches!(found, Found::Refused(_))) || found.is_empty() {
            LineOutcome::Refused
        } else {
            LineOutcome::LeftOut
        };
        self.report.add_lines(lines, outcome);
    }

    fn found<T>(&mut self, found: Found<T>, take: &mut impl FnMut(&mut Self, T)) {
        let counts = &mut self.report.accounting;
        match found {
            Found::Unit(kind, errors, unit) => {
                match kind {
                    UnitKind::Record => counts.records += 1,
                    UnitKind::Events(count) => counts.events += u64::from(count),
                    UnitKind::End => counts.ends += 1,
                }
                counts.problems += errors;
                take(self, unit);
            }
            Found::LeftOut(problem) | Found::Refused(problem) => {
                self.report.add_problem(problem, self.projection.limits());
            }
        }
    }
}

impl Projection {
    /// Moves the number of a unit's record.
    fn renumber(&self, mut unit: Unit, shift: u64) -> Unit {
        match &mut unit {
            Unit::Record(Record { origin, .. })
            | Unit::Event(Event { origin, .. })
            | Unit::End { origin, .. } => origin.ordinal += shift,
        }
        if shift > 0 {
            for slot in self.origins(OriginField::N) {
                let cell = match &mut unit {
                    Unit::Record(record) => record.meta.get_mut(slot),
                    Unit::Event(event) => event.meta.get_mut(slot),
                    Unit::End { .. } => None,
                };
                if let Some(Cell::Known(Value::Number(number))) = cell
                    && let Some(int) = number.to_int()
                {
                    *number = crate::value::Number::Int(int + i128::from(shift));
                }
            }
        }
        unit
    }
}
