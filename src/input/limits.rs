//! Limits on what is read, and the count of what was read.

use crate::problem::Problem;

/// Named limits; a record beyond one is a [`Limit`](crate::problem::ProblemKind::Limit) problem, never a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputLimits {
    /// Bytes of one record (`--max-record-bytes`). A record of n bytes takes up to about 3 n of memory while it is
    /// read: the line, the growth of its buffer, and the text that a field keeps.
    pub record_bytes: usize,
    /// Nesting of lists and objects (`--max-depth`), at most [`InputLimits::DEEPEST`].
    pub depth: usize,
    /// Raw bytes that are read before a batch is handed to the parsers: few enough that what is made of them stays near the
    /// processor.
    pub batch_bytes: usize,
    /// Problems that are told one by one, per record and per file; the rest is only counted.
    pub problems: usize,
}

impl InputLimits {
    /// No setting allows deeper nesting: values are built, compared and dropped by recursion.
    pub const DEEPEST: usize = 1024;

    /// The depth in force.
    pub(crate) fn depth(&self) -> usize {
        self.depth.min(InputLimits::DEEPEST)
    }
}

impl Default for InputLimits {
    fn default() -> InputLimits {
        InputLimits {
            record_bytes: 1 << 30,
            depth: 512,
            batch_bytes: 1 << 20,
            problems: 1000,
        }
    }
}

/// What became of the lines of a file. Every line that is not blank counts in `lines` and in exactly one of
/// `lines_read`, `lines_left_out`, `lines_refused` and `lines_between`.
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

/// What is to be told of a file beyond its units.
#[derive(Clone, Debug, Default)]
pub struct FileReport {
    /// The counts.
    pub accounting: Accounting,
    /// Problems that belong to no unit, in the order of the file.
    pub problems: Vec<Problem>,
}
