//! JSON inside a text: arguments and outputs are often recorded that way.

use jiter::{Jiter, JiterError, Peek};
use smol_str::SmolStr;

use crate::input::document::TreeBuilder;
use crate::input::scan::Scanner;
use crate::problem::ProblemKind;
use crate::value::{Number, Object, Value};

/// Deeper nesting is rejected: such a text is not a set of arguments, and the reader is recursive.
const MAX_DEPTH: usize = 128;

/// The reason why a text is not accepted as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) kind: ProblemKind,
    pub(super) message: String,
}

/// Reads a text that is one JSON value. Numbers are exact; an object with a key twice is refused, since readers differ
/// on which one counts.
pub(super) fn parse(text: &str) -> Result<Value, Refusal> {
    match sound(text) {
        Some(value) => Ok(value),
        None => described(text),
    }
}

/// Returns the value of a text without faults.
fn sound(text: &str) -> Option<Value> {
    let mut scanner = Scanner::new(text, 0, String::new());
    let mut trees = TreeBuilder::new(usize::MAX);
    let value = trees.value(&mut scanner, MAX_DEPTH).ok()?;
    (trees.notes.is_empty() && scanner.at_end()).then_some(value)
}

/// Reads a text with the parser that describes faults.
fn described(text: &str) -> Result<Value, Refusal> {
    let mut parser = Jiter::new(text.as_bytes());
    let peek = parser.peek().map_err(malformed)?;
    let value = value(&mut parser, peek, 0)?;
    parser.finish().map_err(malformed)?;
    Ok(value)
}

fn malformed(error: JiterError) -> Refusal {
    Refusal {
        kind: ProblemKind::Malformed,
        message: format!(
            "not valid JSON: {} at byte {}",
            error.error_type, error.index
        ),
    }
}

fn value(parser: &mut Jiter<'_>, peek: Peek, depth: usize) -> Result<Value, Refusal> {
    if depth > MAX_DEPTH {
        return Err(Refusal {
            kind: ProblemKind::Limit,
            message: format!("nested deeper than {MAX_DEPTH} levels"),
        });
    }
    match peek {
        Peek::Null => parser.known_null().map(|()| Value::Null).map_err(malformed),
        Peek::True | Peek::False => parser.known_bool(peek).map(Value::Bool).map_err(malformed),
        Peek::String => parser.known_str().map(Value::string).map_err(malformed),
        Peek::Array => {
            let mut items = Vec::new();
            let mut next = parser.known_array().map_err(malformed)?;
            while let Some(peek) = next {
                items.push(value(parser, peek, depth + 1)?);
                next = parser.array_step().map_err(malformed)?;
            }
            Ok(Value::list(items))
        }
        Peek::Object => {
            let mut members = Vec::new();
            let mut next = parser.known_object().map_err(malformed)?.map(SmolStr::new);
            while let Some(key) = next {
                let peek = parser.peek().map_err(malformed)?;
                members.push((key, value(parser, peek, depth + 1)?));
                next = parser.next_key().map_err(malformed)?.map(SmolStr::new);
            }
            match Object::new(members) {
                Ok(object) => Ok(Value::Object(object)),
                Err(key) => Err(Refusal {
                    kind: ProblemKind::DuplicateKey,
                    message: format!("duplicate key `{key}` in an object"),
                }),
            }
        }
        peek => {
            let bytes = parser.known_number_bytes(peek).map_err(malformed)?;
            std::str::from_utf8(bytes)
                .ok()
                .and_then(Number::parse)
                .map(Value::Number)
                .ok_or_else(|| Refusal {
                    kind: ProblemKind::Number,
                    message: "number out of range".to_owned(),
                })
        }
    }
}
