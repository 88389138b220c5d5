//! Problems of data: every problem names its location, and no problem stops the processing of other data.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// A data error, or a loss that a reader reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The kind of problem.
    pub kind: ProblemKind,
    /// The file, as named on the command line or found in a folder named there.
    pub file: Arc<str>,
    /// 1-based line at which the record (or the event) begins; 0 if the format has no lines.
    pub line: u64,
    /// The trace, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<SmolStr>,
    /// The step (index in the record), if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The field, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<SmolStr>,
    /// One lower-case clause, no final period.
    pub message: String,
}

/// Kinds of problems with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// The file cannot be opened or read, or is cut off (truncated gzip).
    Unreadable,
    /// A text that is not JSON.
    Malformed,
    /// An object with a duplicate key.
    DuplicateKey,
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// A named limit was exceeded (line length, nesting).
    Limit,
    /// A required field is missing.
    MissingField,
    /// A value of another type than declared.
    WrongType,
    /// A number that does not fit its type, or NaN and infinities.
    Number,
    /// An expression that failed: a cast, an overflow, an order between different types.
    Evaluation,
    /// Something that a reader could not convert or left out on purpose: counted, not an error.
    LeftOut,
    /// Something unusual without an effect: a repeated identifier, a clock that runs back.
    Odd,
}

impl ProblemKind {
    /// Whether the input was unreadable in part (exit code 3); `LeftOut` and `Odd` are notes.
    pub fn is_error(self) -> bool {
        !matches!(self, ProblemKind::LeftOut | ProblemKind::Odd)
    }
}

impl std::error::Error for Problem {}

impl Problem {
    /// Returns a problem with a file, or with the record that begins on a line of it (1-based; 0 for the file as a whole).
    pub fn new(
        kind: ProblemKind,
        file: &Arc<str>,
        line: u64,
        message: impl Into<String>,
    ) -> Problem {
        Problem {
            kind,
            file: Arc::clone(file),
            line,
            trace: None,
            step: None,
            field: None,
            message: message.into(),
        }
    }

    /// Returns the problem with its trace.
    #[must_use]
    pub fn in_trace(self, trace: Option<SmolStr>) -> Problem {
        Problem { trace, ..self }
    }

    /// Returns the problem with its step and field.
    #[must_use]
    pub fn at_step(self, step: Option<u32>, field: Option<SmolStr>) -> Problem {
        Problem {
            step,
            field,
            ..self
        }
    }
}

/// Returns how many of these problems are errors.
pub(crate) fn count_errors(problems: &[Problem]) -> u64 {
    let errors = problems.iter().filter(|problem| problem.kind.is_error());
    errors.count() as u64
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if let Some(trace) = &self.trace {
            write!(f, ": trace {trace}")?;
        }
        if let Some(step) = self.step {
            write!(f, ", step {step}")?;
        }
        if let Some(field) = &self.field {
            write!(f, ", field `{field}`")?;
        }
        write!(f, ": {}", self.message)
    }
}
