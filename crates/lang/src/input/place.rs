//! The place of a record, and the problems reported about it.

use smol_str::{SmolStr, ToSmolStr};

use super::document::newlines;
use super::projection::ReadOutcome;
#[cfg(feature = "tables")]
use super::record::RawRecord;
use super::record::{FileName, Origin};
use super::record_builder::RecordBuilder;
use crate::input_schema::OriginField;
use crate::problem::{Problem, ProblemKind};
use crate::value::Value;

/// Returns a name: a text, or a number as it is written.
pub(crate) fn named(value: &Value) -> Option<SmolStr> {
    match value {
        Value::String(text) => Some(text.to_smol()),
        Value::Number(number) => Some(number.to_smolstr()),
        _ => None,
    }
}

/// Returns whether a name can be written in one way only: `5.0` would be another trace than `5`.
pub(crate) fn has_one_spelling(value: &Value, name: &str) -> bool {
    let digits = name.strip_prefix('-').unwrap_or(name);
    let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit()) && name != "-0";
    !matches!(value, Value::Number(_)) || is_whole
}

/// Returns the problems of a record, with their lines.
pub(crate) fn problems(
    builder: &mut RecordBuilder,
    place: &ValuePlace<'_>,
    trace: &Option<SmolStr>,
) -> Vec<Problem> {
    let bytes = place.text.as_bytes();
    let (mut at, mut line) = (place.start, place.line);
    let mut problems = Vec::with_capacity(builder.drafts.len());
    for draft in builder.drafts.drain(..) {
        if draft.at > at {
            let between = bytes.get(at..draft.at).unwrap_or_default();
            line += newlines(between, between.len());
            at = draft.at;
        }
        let problem = Problem::new(draft.kind, &place.file.path, line, draft.message);
        problems.push(
            problem
                .in_trace(trace.clone())
                .at_step(draft.step, draft.field),
        );
    }
    if builder.dropped > 0 {
        let mut rest = place.problem(
            ProblemKind::Limit,
            format!("{} more problems are not listed", builder.dropped),
        );
        rest.trace.clone_from(trace);
        problems.push(rest);
    }
    problems
}

/// The path of the value that is read.
pub(crate) struct ValuePlace<'p> {
    pub(crate) file: &'p FileName,
    pub(crate) text: &'p str,
    pub(crate) start: usize,
    pub(crate) line: u64,
    pub(crate) ordinal: u64,
}

impl<'p> ValuePlace<'p> {
    pub(crate) fn of(origin: &Origin, file: &'p FileName) -> ValuePlace<'p> {
        ValuePlace {
            file,
            text: "",
            start: 0,
            line: origin.line,
            ordinal: origin.ordinal,
        }
    }

    /// Returns the place of a record that has no text.
    #[cfg(feature = "tables")]
    pub(crate) fn of_row(raw: &RawRecord<'_>, file: &'p FileName) -> ValuePlace<'p> {
        ValuePlace {
            file,
            text: "",
            start: 0,
            line: raw.line,
            ordinal: raw.ordinal,
        }
    }

    pub(crate) fn problem(&self, kind: ProblemKind, message: String) -> Problem {
        Problem::new(kind, &self.file.path, self.line, message)
    }

    pub(crate) fn nothing(&self) -> ReadOutcome {
        ReadOutcome::Refused(self.problem(
            ProblemKind::WrongType,
            "expected a trace or an event (an object)".to_owned(),
        ))
    }

    pub(crate) fn origin(&self) -> Origin {
        Origin {
            file: self.file.path.clone(),
            below: self.file.below.clone(),
            line: self.line,
            ordinal: self.ordinal,
        }
    }

    pub(crate) fn fact(&self, fact: OriginField) -> Value {
        match fact {
            OriginField::File => Value::string(&self.file.below),
            OriginField::Dir => Value::string(self.file.dir()),
            OriginField::Stem => Value::string(self.file.stem()),
            OriginField::Line => Value::int(self.line.into()),
            OriginField::N => Value::int(self.ordinal.into()),
        }
    }
}
