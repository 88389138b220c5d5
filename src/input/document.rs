//! A whole JSON text as a [`Value`] tree, for readers that look at it from many sides.
//!
//! # What cannot be known
//! A tree has no place for "unknown", and losing a whole document for one `NaN` would be wrong. So a value that
//! cannot be known is a *stand-in*: a [`Value`] that no JSON text has, made by [`unknown`] and recognised by [`why`].
//! It travels with the subtree that it is in, so a reader that moves subtrees into canonical events need not know of
//! it; the projection makes every cell that is a stand-in, or contains one, unknown. Stand-ins are
//! * `NaN`, `Infinity` and numbers beyond a float (`1e999`),
//! * strings with half a surrogate pair, which are no text,
//! * objects with a key twice: the whole object, since it cannot be told which copy another reader believes.

use jiter::Peek;
use smol_str::SmolStr;

use super::limits::InputLimits;
use super::scan::{Fault, FaultKind, HALF_PAIR, Lexeme, Scanner};
use crate::problem::ProblemKind;
use crate::value::{EnumValue, Number, Object, Value};

/// No spec has this many enums.
const STAND_IN: u16 = u16::MAX;

/// Returns the stand-in for a value that cannot be known.
pub fn unknown(why: ProblemKind) -> Value {
    let index = match why {
        ProblemKind::DuplicateKey => 1,
        ProblemKind::InvalidUtf8 => 2,
        _ => 0,
    };
    Value::Enum(EnumValue {
        of: STAND_IN,
        index,
    })
}

/// Returns the problem of a value that is a placeholder.
pub fn why(value: &Value) -> Option<ProblemKind> {
    match value {
        Value::Enum(EnumValue {
            of: STAND_IN,
            index,
        }) => Some(match index {
            1 => ProblemKind::DuplicateKey,
            2 => ProblemKind::InvalidUtf8,
            _ => ProblemKind::Number,
        }),
        _ => None,
    }
}

/// Returns the problem of a value that is a placeholder or contains one.
pub(crate) fn why_within(value: &Value) -> Option<ProblemKind> {
    match value {
        Value::List(items) => items.iter().find_map(why_within),
        Value::Object(object) => object.iter().find_map(|(_, member)| why_within(member)),
        other => why(other),
    }
}

/// A parsed document.
#[derive(Clone, Debug)]
pub struct Document {
    /// The tree, with stand-ins for what cannot be known.
    pub value: Value,
    /// The losses that placeholders represent, in the order of the text.
    pub losses: Vec<Loss>,
    /// 0-based line within the document of each element, if it is a list.
    pub elements: Vec<u64>,
}

/// A value of a document that cannot be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The kind of problem.
    pub kind: ProblemKind,
    /// 0-based line within the document.
    pub line: u64,
    /// One lower-case clause.
    pub message: String,
}

/// A text that is not a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DocumentError {
    /// `Malformed`, `InvalidUtf8` or `Limit`.
    pub kind: ProblemKind,
    /// 0-based line within the text.
    pub line: u64,
    /// One lower-case clause.
    pub message: String,
}

impl DocumentError {
    pub(crate) fn new(fault: Fault, bytes: &[u8], limits: &InputLimits) -> DocumentError {
        let line = newlines(bytes, fault.at);
        let (kind, message) = explain(fault, bytes, limits);
        DocumentError {
            kind,
            line,
            message,
        }
    }
}

/// Returns the number of line ends before an offset.
pub(crate) fn newlines(bytes: &[u8], at: usize) -> u64 {
    let before = bytes.get(..at).unwrap_or(bytes);
    memchr::memchr_iter(b'\n', before).count() as u64
}

/// Returns a fault as a kind of problem and a clause.
pub(crate) fn explain(fault: Fault, bytes: &[u8], limits: &InputLimits) -> (ProblemKind, String) {
    let line_start = memchr::memrchr(b'\n', bytes.get(..fault.at).unwrap_or(bytes))
        .map_or(0, |newline| newline + 1);
    let column = fault.at.saturating_sub(line_start) + 1;
    match fault.kind {
        FaultKind::Syntax(what) => (
            ProblemKind::Malformed,
            format!("invalid JSON: {what}, at column {column}"),
        ),
        FaultKind::End => (
            ProblemKind::Malformed,
            "invalid JSON: unexpected end of input".to_owned(),
        ),
        FaultKind::Depth => (
            ProblemKind::Limit,
            format!(
                "nested deeper than {} levels (limit `depth`)",
                limits.depth()
            ),
        ),
    }
}

/// Parses one JSON text. Numbers are exact; keys that stand twice, `NaN` and half surrogate pairs become stand-ins.
///
/// # Errors
/// The text is not UTF-8, is not JSON, or is nested too deeply.
pub fn parse(bytes: &[u8], limits: &InputLimits) -> Result<Document, DocumentError> {
    let text = std::str::from_utf8(bytes).map_err(|error| DocumentError {
        kind: ProblemKind::InvalidUtf8,
        line: newlines(bytes, error.valid_up_to()),
        message: "invalid UTF-8".to_owned(),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut scanner = Scanner::new(text, 0, String::new());
    let mut notes = Vec::new();
    let fail = |fault| DocumentError::new(fault, text.as_bytes(), limits);
    let mut starts = Vec::new();
    let value = build_document(&mut scanner, limits.depth(), &mut notes, &mut starts);
    let value = value.map_err(fail)?;
    if !scanner.at_end() {
        return Err(fail(Fault {
            at: scanner.at(),
            kind: FaultKind::Syntax("unexpected text after the value"),
        }));
    }
    let losses = notes
        .into_iter()
        .map(|note| Loss {
            kind: note.kind,
            line: newlines(text.as_bytes(), note.at),
            message: note.message,
        })
        .collect();
    let (mut at, mut line) = (0, 0);
    let elements = starts.into_iter().map(|start| {
        let between = text.as_bytes().get(at..start).unwrap_or_default();
        line += newlines(between, between.len());
        at = start;
        line
    });
    Ok(Document {
        value,
        losses,
        elements: elements.collect(),
    })
}

/// Builds the tree of a document, and notes where the elements of a list begin.
fn build_document(
    scanner: &mut Scanner<'_>,
    depth: usize,
    notes: &mut Vec<Note>,
    starts: &mut Vec<usize>,
) -> Result<Value, Fault> {
    let inner = match (scanner.peek()?, depth.checked_sub(1)) {
        (Peek::Array, Some(inner)) => inner,
        _ => return build(scanner, depth, notes),
    };
    let mut items = Vec::new();
    let mut next = scanner.first_item()?;
    while next.is_some() {
        scanner.peek()?;
        starts.push(scanner.at());
        items.push(build(scanner, inner, notes)?);
        next = scanner.next_item()?;
    }
    Ok(Value::list(items))
}

/// A stand-in that [`build`] made, and where.
#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) at: usize,
    pub(crate) kind: ProblemKind,
    pub(crate) message: String,
}

/// Builds the tree of the value at the scanner.
pub(crate) fn build(
    scanner: &mut Scanner<'_>,
    depth: usize,
    notes: &mut Vec<Note>,
) -> Result<Value, Fault> {
    let peek = scanner.peek()?;
    let start = scanner.at();
    let too_deep = Fault {
        at: start,
        kind: FaultKind::Depth,
    };
    match peek {
        Peek::Object => {
            let inner = depth.checked_sub(1).ok_or(too_deep)?;
            let mut members = Vec::new();
            let mut next = scanner.first_key()?.map(|key| SmolStr::new(key.text));
            while let Some(name) = next {
                members.push((name, build(scanner, inner, notes)?));
                next = scanner.next_key()?.map(|key| SmolStr::new(key.text));
            }
            Ok(match Object::new(members) {
                Ok(object) => Value::Object(object.into()),
                Err(key) => {
                    notes.push(Note {
                        at: start,
                        kind: ProblemKind::DuplicateKey,
                        message: duplicate_key(&key),
                    });
                    unknown(ProblemKind::DuplicateKey)
                }
            })
        }
        Peek::Array => {
            let inner = depth.checked_sub(1).ok_or(too_deep)?;
            let mut items = Vec::new();
            let mut next = scanner.first_item()?;
            while next.is_some() {
                items.push(build(scanner, inner, notes)?);
                next = scanner.next_item()?;
            }
            Ok(Value::list(items))
        }
        _ => {
            let (kind, message) = match scanner.scalar(peek).map(scalar) {
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(digits)) => (
                    ProblemKind::Number,
                    format!("number `{}` is out of range", brief(digits)),
                ),
                Err(fault) => {
                    scanner.rest_of_string(fault)?;
                    (ProblemKind::InvalidUtf8, HALF_PAIR.to_owned())
                }
            };
            notes.push(Note {
                at: start,
                kind,
                message,
            });
            Ok(unknown(kind))
        }
    }
}

pub(crate) fn duplicate_key(key: &str) -> String {
    format!("duplicate key `{}` in an object", brief(key))
}

/// Returns the value of a scalar; where it is a number that cannot be kept, its digits.
pub(crate) fn scalar(lexeme: Lexeme<'_>) -> Result<Value, &str> {
    match lexeme {
        Lexeme::Null => Ok(Value::Null),
        Lexeme::Bool(value) => Ok(Value::Bool(value)),
        Lexeme::Number(digits) => Number::parse(digits).map(Value::Number).ok_or(digits),
        Lexeme::String(text) => Ok(Value::string(text)),
    }
}

/// Returns the first part of a text that may be long, for a message.
pub(crate) fn brief(text: &str) -> String {
    let mut chars = text.chars();
    let mut brief: String = chars.by_ref().take(60).collect();
    if chars.next().is_some() {
        brief.push('…');
    }
    brief
}
