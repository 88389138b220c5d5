//! What the readers yield.

use std::sync::Arc;

use smol_str::SmolStr;

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
        /// Which trace; none where the file holds one trace without a name.
        trace: Option<SmolStr>,
        /// Where it was said.
        origin: Origin,
    },
}

/// Where a record or an event was found.
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

/// A whole trace as it was recorded.
#[derive(Clone, Debug)]
pub struct Record {
    /// Where it was found.
    pub origin: Origin,
    /// What the record says of its own name (the `id` member of a native record, or `id from P`).
    pub id: Option<SmolStr>,
    /// What the record says of its completeness (`complete` of a native record, or `complete from P`).
    pub complete: Option<bool>,
    /// One cell per meta field of the signature.
    pub meta: Box<[Cell]>,
    /// Its steps, ordered, `each` applied, before any `where`.
    pub steps: Vec<Step>,
    /// What was wrong with it.
    pub problems: Vec<Problem>,
}

/// An event of a trace that is spread over a file.
#[derive(Clone, Debug)]
pub struct Event {
    /// Which trace; none where the file holds one trace without a name.
    pub trace: Option<SmolStr>,
    /// Where it was found.
    pub origin: Origin,
    /// One cell per meta field of the signature, read from the event itself.
    pub meta: Box<[Cell]>,
    /// The step; its index is not known here and is 0.
    pub step: Step,
    /// What was wrong with it.
    pub problems: Vec<Problem>,
}

/// One step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Position in the list that `events` (and `order by`) yields, before `each` and `where`.
    pub index: u32,
    /// One cell per field of the signature.
    pub cells: Box<[Cell]>,
}
