//! Limits on what is read, and the count of what was read.

use std::io;

use super::batch::{Batch, Gap, Why};
use super::record::FileName;
use crate::problem::{Problem, ProblemKind};

/// Named limits; a record beyond one is a [`Limit`](crate::problem::ProblemKind::Limit) problem, never a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputLimits {
    /// Bytes of one record. A record of n bytes takes up to about 3 n of memory while it is
    /// read: the line, the growth of its buffer, and the text that a field keeps.
    pub record_bytes: usize,
    /// Bytes that a compressed file may decompress to.
    pub decompressed_bytes: u64,
    /// The largest ratio of a text to its compressed bytes; a text of up to 16 MiB is always accepted.
    pub expansion: u64,
    /// Bytes of memory for the values of one record, besides texts: a text of `[{},{},…]` may need a hundred times as much memory
    /// as it is long.
    pub record_memory: usize,
    /// Nesting of lists and objects, at most [`InputLimits::DEEPEST`].
    pub depth: usize,
    /// Raw bytes that are read before a batch is handed to the parsers: few enough that what is made of them stays near the
    /// processor.
    pub batch_bytes: usize,
    /// The number of problems that are reported individually, per record and per file; further ones are only counted.
    pub problems: usize,
}

impl InputLimits {
    /// No setting allows deeper nesting: values are built, compared and dropped by recursion.
    pub(crate) const DEEPEST: usize = 1024;

    /// Returns the message about a record that is too long.
    pub(crate) fn too_long(&self) -> String {
        format!(
            "longer than {} bytes (limit `record_bytes`)",
            self.record_bytes
        )
    }

    /// Returns the message about values that take too much memory.
    pub(crate) fn too_large(&self) -> String {
        format!(
            "its values take more than {} bytes of memory (limit `record_memory`)",
            self.record_memory
        )
    }

    /// Returns the depth in force.
    pub(crate) fn depth(&self) -> usize {
        self.depth.min(InputLimits::DEEPEST)
    }
}

impl Default for InputLimits {
    fn default() -> InputLimits {
        InputLimits {
            record_bytes: 1 << 30,
            decompressed_bytes: 64 << 30,
            expansion: 500,
            record_memory: 1 << 30,
            depth: 512,
            batch_bytes: 1 << 20,
            problems: 1000,
        }
    }
}

/// The accounting of the lines of a file. Every line that is not blank counts in `lines` and in exactly one of `lines_read`,
/// `lines_left_out`, `lines_refused` and `lines_between`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accounting {
    /// Bytes after decompression.
    pub bytes: u64,
    /// Lines that are not blank.
    pub lines: u64,
    /// Lines of records and events that were read.
    pub lines_read: u64,
    /// Lines of records that were left out on purpose (headers).
    pub lines_left_out: u64,
    /// Lines that a problem names because nothing could be read from them.
    pub lines_refused: u64,
    /// Lines that hold only the brackets and commas of a list of records.
    pub lines_between: u64,
    /// Whole traces.
    pub records: u64,
    /// Events of traces that are spread over the file.
    pub events: u64,
    /// Announced ends of traces.
    pub ends: u64,
    /// Records that were left out on purpose.
    pub left_out: u64,
    /// Problems, also those beyond [`InputLimits::problems`]; notes are not counted.
    pub problems: u64,
}

impl Accounting {
    /// Whether every line is accounted for.
    pub fn balanced(&self) -> bool {
        self.lines
            == self.lines_read + self.lines_left_out + self.lines_refused + self.lines_between
    }

    /// Adds the counts of another file.
    pub fn add(&mut self, other: &Accounting) {
        self.bytes += other.bytes;
        self.lines += other.lines;
        self.lines_read += other.lines_read;
        self.lines_left_out += other.lines_left_out;
        self.lines_refused += other.lines_refused;
        self.lines_between += other.lines_between;
        self.records += other.records;
        self.events += other.events;
        self.ends += other.ends;
        self.left_out += other.left_out;
        self.problems += other.problems;
    }
}

/// The report on a file, besides its units.
#[derive(Clone, Debug, Default)]
pub struct FileReport {
    /// The counts.
    pub accounting: Accounting,
    /// Problems that belong to no unit, in the order of the file.
    pub problems: Vec<Problem>,
}

/// The outcome of lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineOutcome {
    Read,
    LeftOut,
    Refused,
}

impl FileReport {
    /// Returns the report on a file that cannot be opened or read.
    pub(crate) fn unreadable(file: &FileName, error: &io::Error) -> FileReport {
        let message = format!("cannot be read: {error}");
        let mut report = FileReport::default();
        report.accounting.problems = 1;
        let problem = Problem::new(ProblemKind::Unreadable, &file.path, 0, message);
        report.problems.push(problem);
        report
    }

    /// Counts a problem, and keeps it unless the limit is reached.
    pub(crate) fn add_problem(&mut self, problem: Problem, limits: &InputLimits) {
        let counts = &mut self.accounting;
        counts.problems += u64::from(problem.kind.is_error());
        counts.left_out += u64::from(problem.kind == ProblemKind::LeftOut);
        if self.problems.len() < limits.problems {
            self.problems.push(problem);
        }
    }

    /// Counts lines that are not blank.
    pub(crate) fn add_lines(&mut self, lines: u64, outcome: LineOutcome) {
        let counts = &mut self.accounting;
        counts.lines += lines;
        *match outcome {
            LineOutcome::Read => &mut counts.lines_read,
            LineOutcome::LeftOut => &mut counts.lines_left_out,
            LineOutcome::Refused => &mut counts.lines_refused,
        } += lines;
    }

    /// Counts what a batch holds besides its records; its gaps are counted by [`FileReport::add_gap`].
    pub(crate) fn add_batch(&mut self, batch: &Batch) {
        self.accounting.bytes += batch.consumed;
        self.accounting.lines += batch.between;
        self.accounting.lines_between += batch.between;
    }

    /// Counts the lines of a gap as refused, and reports the cause.
    pub(crate) fn add_gap(&mut self, gap: &Gap, file: &FileName, limits: &InputLimits) {
        self.add_lines(gap.lines, LineOutcome::Refused);
        let (kind, message) = match &gap.why {
            Why::Malformed(what) => (ProblemKind::Malformed, format!("invalid JSON: {what}")),
            Why::TooLong => (ProblemKind::Limit, limits.too_long()),
            Why::Unreadable(what) => (
                ProblemKind::Unreadable,
                format!("{what}; the data read so far was kept"),
            ),
        };
        self.add_problem(Problem::new(kind, &file.path, gap.line, message), limits);
    }
}
