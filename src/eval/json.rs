//! `json(s)`: a text within the data read as JSON.

use std::sync::Arc;

use jiter::{Jiter, Peek};
use smol_str::SmolStr;

use super::ops::Fault;
use crate::value::{Number, Object, Value};

/// The deepest nesting that is read.
const DEPTH: usize = 128;

enum Failure {
    NoJson,
    DuplicateKey(SmolStr),
}

impl From<jiter::JiterError> for Failure {
    fn from(_: jiter::JiterError) -> Failure {
        Failure::NoJson
    }
}

/// The value of a JSON text; null where it is none.
pub(super) fn parse(text: &str) -> Result<Value, Fault> {
    let mut jiter = Jiter::new(text.as_bytes());
    let value = jiter
        .peek()
        .map_err(Failure::from)
        .and_then(|peek| read(&mut jiter, peek, 0));
    match value {
        Ok(value) if jiter.finish().is_ok() => Ok(value),
        Ok(_) | Err(Failure::NoJson) => Ok(Value::Null),
        Err(Failure::DuplicateKey(key)) => Err(Fault::DuplicateKey(key.to_string())),
    }
}

fn read(jiter: &mut Jiter<'_>, peek: Peek, depth: usize) -> Result<Value, Failure> {
    if depth > DEPTH {
        return Err(Failure::NoJson);
    }
    Ok(match peek {
        Peek::Null => {
            jiter.known_null()?;
            Value::Null
        }
        Peek::True | Peek::False => Value::Bool(jiter.known_bool(peek)?),
        Peek::String => Value::string(jiter.known_str()?),
        Peek::Array => {
            let mut items = Vec::new();
            let mut next = jiter.known_array()?;
            while let Some(peek) = next {
                items.push(read(jiter, peek, depth + 1)?);
                next = jiter.array_step()?;
            }
            Value::list(items)
        }
        Peek::Object => {
            let mut members = Vec::new();
            let mut next = jiter.known_object()?.map(SmolStr::new);
            while let Some(key) = next {
                let peek = jiter.peek()?;
                members.push((key, read(jiter, peek, depth + 1)?));
                next = jiter.next_key()?.map(SmolStr::new);
            }
            Value::Object(Arc::new(
                Object::new(members).map_err(Failure::DuplicateKey)?,
            ))
        }
        number => {
            let digits = std::str::from_utf8(jiter.known_number_bytes(number)?)
                .map_err(|_| Failure::NoJson)?;
            Value::Number(Number::parse(digits).ok_or(Failure::NoJson)?)
        }
    })
}
