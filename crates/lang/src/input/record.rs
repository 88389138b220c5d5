//! The output of the readers.

use std::sync::Arc;

use memchr::memchr_iter;
use smol_str::{SmolStr, format_smolstr};

use super::spread::Facts;
use crate::problem::Problem;
use crate::value::Cell;

/// One unit of recorded data, in the order of the input.
#[derive(Clone, Debug)]
pub enum Unit {
    /// A whole trace.
    Record(Record),
    /// One event of a trace that is spread over the file.
    Event(Event),
    /// `{"trace":"t1","end":true}`: the trace is complete.
    End {
        /// The trace; `None` if the file holds one trace without a name.
        trace: Option<SmolStr>,
        /// The place of the statement.
        origin: Origin,
    },
}

/// The name of a file, as people and specs see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    /// As given, or joined below the folder that was given.
    pub path: Arc<str>,
    /// Below the argument that was given, with `/` between folders.
    pub below: Arc<str>,
}

impl FileName {
    /// Returns a file that was given itself.
    pub fn given(path: &str) -> FileName {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        FileName {
            path: path.into(),
            below: name.into(),
        }
    }

    /// Returns the folder, below the argument; empty if there is none.
    pub fn dir(&self) -> &str {
        self.below.rsplit_once('/').map_or("", |(dir, _)| dir)
    }

    /// Returns the name without `.gz` or `.zst` and without the extension before it.
    pub fn stem(&self) -> &str {
        let name = self
            .below
            .rsplit_once('/')
            .map_or(&*self.below, |(_, name)| name);
        let plain = name
            .strip_suffix(".gz")
            .or_else(|| name.strip_suffix(".zst"))
            .unwrap_or(name);
        match plain.rsplit_once('.') {
            Some((stem, _)) if !stem.is_empty() => stem,
            _ => plain,
        }
    }
}

/// The text of a record, before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRecord<'b> {
    /// The bytes: one JSON value, with white space around it. (Several values that stand on one line come as one.)
    pub bytes: &'b [u8],
    /// 1-based line where it begins.
    pub line: u64,
    /// 0-based number of the record within the file.
    pub ordinal: u64,
    /// Lines that are not blank and hold it; a line that holds several records counts for the first.
    pub lines: u64,
}

impl<'b> RawRecord<'b> {
    /// Returns a text by itself.
    pub fn new(bytes: &'b [u8]) -> RawRecord<'b> {
        RawRecord {
            bytes,
            line: 1,
            ordinal: 0,
            lines: 1 + memchr_iter(b'\n', bytes).count() as u64,
        }
    }
}

/// The origin of a record or an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file as a person would name it: as given, or joined below the folder that was given.
    pub file: Arc<str>,
    /// The file's path below the argument that was given (equal to its name where the argument is a file).
    pub below: Arc<str>,
    /// 1-based line where it begins.
    pub line: u64,
    /// 0-based number of the record within the file.
    pub ordinal: u64,
}

impl Origin {
    /// Returns the name of a trace that has none of its own: its file and line, or its number in the file.
    pub fn name(&self) -> SmolStr {
        match self.line {
            0 => format_smolstr!("{}#{}", self.below, self.ordinal),
            line => format_smolstr!("{}:{line}", self.below),
        }
    }
}

/// A whole trace as it was recorded.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its origin.
    pub origin: Origin,
    /// The name that the record gives itself (the `id` member of a native record, or `id from P`).
    pub id: Option<SmolStr>,
    /// Whether the record says that it is complete (`complete` of a native record, or `complete from P`).
    pub complete: Option<bool>,
    /// One cell per meta field of the schema.
    pub meta: Box<[Cell]>,
    /// Its steps, ordered, `each` applied, before any `where`.
    pub steps: Vec<Step>,
    /// Its problems.
    pub problems: Vec<Problem>,
}

/// An event of a trace that is spread over a file, or several that follow each other.
#[derive(Clone, Debug)]
pub struct Event {
    /// The trace; `None` if the file holds one trace without a name.
    pub trace: Option<SmolStr>,
    /// Its origin.
    pub origin: Origin,
    /// The meta fields of the schema that the event itself has.
    pub meta: Facts,
    /// Its steps: one, or one per element of `each`. Their indices count from this event on.
    pub steps: Vec<Step>,
    /// The number of events that it stands for: of a table, following rows of one trace are read together.
    pub count: u32,
    /// Its problems.
    pub problems: Vec<Problem>,
}

/// One step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Position in the list that `events` (and `order by`) yields, before `each` and `where`.
    pub index: u32,
    /// One cell per field of the schema.
    pub cells: Box<[Cell]>,
}
