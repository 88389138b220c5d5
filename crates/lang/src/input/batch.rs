//! Raw records that were read together, of a text or of a table.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::deferred::Deferred;
use super::projection::{Projection, ReadBuffers, ReadOutcome};
use super::record::{FileName, RawRecord};

/// A file in parts that are read one after the other.
pub(crate) trait Batches {
    /// Returns the next batch, or `None` at the end.
    fn next_batch(&mut self) -> Option<Batch>;

    /// Whether nothing is left for a next batch, as far as that is known.
    fn is_exhausted(&self) -> bool {
        false
    }

    /// Takes back a batch that is done with, for its memory.
    fn recycle(&mut self, _: Batch) {}
}

impl<B: Batches + ?Sized> Batches for Box<B> {
    fn next_batch(&mut self) -> Option<Batch> {
        (**self).next_batch()
    }

    fn is_exhausted(&self) -> bool {
        (**self).is_exhausted()
    }

    fn recycle(&mut self, batch: Batch) {
        (**self).recycle(batch);
    }
}

/// Rows of a table, whose records have no text.
pub(crate) trait Rows: std::fmt::Debug + Send + Sync {
    /// Returns the rows that are read together, from the first to the last.
    #[cfg(feature = "tables")]
    fn runs(&self) -> Box<dyn Iterator<Item = Range<usize>> + '_>;

    /// Reads a run of rows, as [`Projection::read_each`] reads the text of records: one outcome for all of them, or one for each.
    fn read(
        &self,
        run: Range<usize>,
        raw: &RawRecord<'_>,
        projection: &Projection,
        file: &FileName,
        buffers: &mut ReadBuffers,
        each: &mut dyn FnMut(ReadOutcome, Deferred<'_>),
    );
}

/// Raw records that were read together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    pub(super) bytes: Vec<u8>,
    /// The records, if they are rows of a table.
    rows: Option<Arc<dyn Rows>>,
    pub(super) spans: Vec<Span>,
    /// Lines without a record, with the reason; in the order of the file.
    pub gaps: Vec<Gap>,
    /// Bytes of the file that this batch takes up.
    pub consumed: u64,
    /// Lines that hold only brackets and commas between records.
    pub between: u64,
}

/// A stretch of lines that holds no record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// 1-based line.
    pub line: u64,
    /// Lines that are not blank.
    pub lines: u64,
    /// The record that would come next.
    pub ordinal: u64,
    /// The fault.
    pub why: Why,
}

/// The reason why a stretch holds no record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// No JSON in a list of records.
    Malformed(&'static str),
    /// Longer than [`InputLimits::record_bytes`].
    TooLong,
    /// The file could not be read on.
    Unreadable(String),
}

impl Why {
    /// Returns what is said of an error of the system.
    pub(super) fn of(error: &io::Error) -> String {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => "the file is truncated".to_owned(),
            _ => error.to_string(),
        }
    }
}

/// The place of a record in the bytes of its batch, and in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) line: u64,
    pub(super) lines: u64,
    pub(super) ordinal: u64,
}

impl Batch {
    /// Returns the rows of a table from a number on, which count as lines of one record each.
    #[cfg(feature = "tables")]
    pub(crate) fn of_rows(rows: Arc<dyn Rows>, line: u64, ordinal: u64) -> Batch {
        let span = |run: Range<usize>| Span {
            start: run.start,
            end: run.end,
            line: line + run.start as u64,
            lines: run.len() as u64,
            ordinal: ordinal + run.start as u64,
        };
        Batch {
            spans: rows.runs().map(span).collect(),
            rows: Some(rows),
            ..Batch::default()
        }
    }

    /// Whether the records are rows of a table, each of which is one line.
    pub(crate) fn is_table(&self) -> bool {
        self.rows.is_some()
    }

    /// Returns an empty batch about why a file cannot be read from a line on.
    #[cfg(feature = "tables")]
    pub(crate) fn of_failure(error: &io::Error, line: u64, ordinal: u64) -> Batch {
        let gap = Gap {
            line,
            lines: 0,
            ordinal,
            why: Why::Unreadable(Why::of(error)),
        };
        Batch {
            gaps: vec![gap],
            ..Batch::default()
        }
    }

    /// Reads a record by its place in the batch.
    pub(crate) fn read_each(
        &self,
        idx: usize,
        projection: &Projection,
        file: &FileName,
        buffers: &mut ReadBuffers,
        defer: bool,
        each: &mut dyn FnMut(ReadOutcome, Deferred<'_>),
    ) {
        let Some(span) = self.spans.get(idx) else {
            return;
        };
        let raw = self.record(span);
        match &self.rows {
            Some(rows) => rows.read(span.start..span.end, &raw, projection, file, buffers, each),
            None => projection.read_each(&raw, file, buffers, defer, each),
        }
    }

    /// Returns the records, in the order of the file.
    pub(crate) fn records(&self) -> impl ExactSizeIterator<Item = RawRecord<'_>> {
        self.spans.iter().map(|span| self.record(span))
    }

    /// Returns the number of records.
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are no records.
    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns a record by its place in the batch.
    pub(crate) fn get(&self, idx: usize) -> Option<RawRecord<'_>> {
        self.spans.get(idx).map(|span| self.record(span))
    }

    fn record(&self, span: &Span) -> RawRecord<'_> {
        RawRecord {
            bytes: self.bytes.get(span.start..span.end).unwrap_or_default(),
            line: span.line,
            ordinal: span.ordinal,
            lines: span.lines,
        }
    }
}
