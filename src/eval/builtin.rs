//! The predefined functions, on known values.

use std::sync::Arc;

use smol_str::SmolStr;

use super::json;
use super::ops::{Fault, kind_of, order};
use crate::hir::Builtin;
use crate::shell;
use crate::value::{Number, Value};

/// The name of a function, for messages.
fn name(builtin: Builtin) -> &'static str {
    match builtin {
        Builtin::Len => "len",
        Builtin::Lower => "lower",
        Builtin::Upper => "upper",
        Builtin::Trim => "trim",
        Builtin::Split => "split",
        Builtin::Words => "words",
        Builtin::Min => "min",
        Builtin::Max => "max",
        Builtin::Abs => "abs",
        Builtin::Floor => "floor",
        Builtin::Mod => "mod",
        Builtin::Add => "add",
        Builtin::Last => "last",
        Builtin::Json => "json",
        Builtin::Commands => "commands",
        Builtin::Text => "text",
    }
}

pub(super) fn call(builtin: Builtin, args: &[Value]) -> Result<Value, Fault> {
    let [first, rest @ ..] = args else {
        return Ok(Value::Null);
    };
    if builtin == Builtin::Text {
        let mut text = String::new();
        all_text(first, &mut text);
        return Ok(Value::string(text));
    }
    // An element that is null is an element; any other operand that is null leaves nothing to say.
    if first.is_null() || (builtin != Builtin::Add && rest.iter().any(Value::is_null)) {
        return Ok(Value::Null);
    }
    let wrong = |value: &Value| Fault::WrongType(name(builtin), kind_of(value));
    let count = |n: usize| Value::int(n as i128);
    let strings = |items: Vec<Value>| Value::list(items);
    match (builtin, first, rest.first()) {
        (Builtin::Len, Value::String(text), _) => Ok(count(text.chars().count())),
        (Builtin::Len, Value::List(items), _) => Ok(count(items.len())),
        (Builtin::Len, Value::Set(items), _) => Ok(count(items.len())),
        (Builtin::Len, Value::Object(object), _) => Ok(count(object.len())),
        (Builtin::Lower, Value::String(text), _) => Ok(Value::string(text.to_lowercase())),
        (Builtin::Upper, Value::String(text), _) => Ok(Value::string(text.to_uppercase())),
        (Builtin::Trim, Value::String(text), _) => Ok(Value::string(text.trim())),
        (Builtin::Words, Value::String(text), _) => Ok(strings(
            text.split_whitespace().map(Value::string).collect(),
        )),
        (Builtin::Split, Value::String(text), Some(Value::String(by))) => {
            Ok(strings(if by.is_empty() {
                text.chars()
                    .map(|c| Value::String(SmolStr::from_iter([c])))
                    .collect()
            } else {
                text.split(by.as_str()).map(Value::string).collect()
            }))
        }
        (Builtin::Min | Builtin::Max, ..) => {
            let mut best = first;
            for other in rest {
                let Some(order) = order(other, best)? else {
                    return Ok(Value::Null);
                };
                if if builtin == Builtin::Min {
                    order.is_lt()
                } else {
                    order.is_gt()
                } {
                    best = other;
                }
            }
            Ok(best.clone())
        }
        (Builtin::Abs, Value::Number(Number::Int(number)), _) => {
            number.checked_abs().map(Value::int).ok_or(Fault::Overflow)
        }
        (Builtin::Abs, Value::Number(Number::Float(number)), _) => {
            Number::float(number.get().abs())
                .map(Value::Number)
                .ok_or(Fault::Overflow)
        }
        (Builtin::Abs, Value::Duration(length), _) => {
            let length = length.0.checked_abs().ok_or(Fault::Overflow)?;
            Ok(Value::Duration(crate::value::Instant(length)))
        }
        (Builtin::Floor, Value::Number(number), _) => match number {
            Number::Float(float) => {
                let whole = Number::float(float.get().floor()).and_then(|number| number.to_int());
                whole.map(Value::int).ok_or(Fault::Overflow)
            }
            Number::Int(_) | Number::Big(_) => Ok(first.clone()),
        },
        (Builtin::Mod, Value::Number(lhs), Some(Value::Number(rhs))) => modulo(lhs, rhs),
        (Builtin::Add, Value::Set(items), Some(item)) => Ok(Value::Set(items.update(item.clone()))),
        (Builtin::Add, Value::List(items), Some(item)) => {
            let items: Arc<[Value]> = items.iter().chain([item]).cloned().collect();
            Ok(Value::List(items))
        }
        (Builtin::Last, Value::List(items), Some(Value::Number(n))) => {
            let n = usize::try_from(n.to_int().unwrap_or(0).max(0)).unwrap_or(usize::MAX);
            Ok(Value::List(items[items.len().saturating_sub(n)..].into()))
        }
        (Builtin::Json, Value::String(text), _) => json::parse(text),
        (Builtin::Commands, Value::String(text), _) => {
            let commands = shell::commands(text).map_err(Fault::NoShell)?;
            let words = |command: Vec<String>| {
                Value::list(command.into_iter().map(Value::string).collect())
            };
            Ok(Value::list(commands.into_iter().map(words).collect()))
        }
        _ => Err(wrong(match rest.first() {
            Some(second)
                if matches!(first, Value::String(_) | Value::Number(_) | Value::List(_)) =>
            {
                second
            }
            _ => first,
        })),
    }
}

/// The remainder with the sign of the divisor.
fn modulo(lhs: &Number, rhs: &Number) -> Result<Value, Fault> {
    match (lhs, rhs) {
        (_, Number::Int(0)) => Err(Fault::DivisionByZero),
        (Number::Int(lhs), Number::Int(rhs)) => {
            let rest = lhs.checked_rem(*rhs).unwrap_or(0);
            let wrong_side = rest != 0 && (rest < 0) != (*rhs < 0);
            Ok(Value::int(if wrong_side { rest + rhs } else { rest }))
        }
        (Number::Big(_), _) | (_, Number::Big(_)) => Err(Fault::Overflow),
        _ => {
            let (lhs, rhs) = (lhs.to_f64(), rhs.to_f64());
            if rhs == 0.0 {
                return Err(Fault::DivisionByZero);
            }
            let rest = lhs % rhs;
            let rest = if rest != 0.0 && (rest < 0.0) != (rhs < 0.0) {
                rest + rhs
            } else {
                rest
            };
            Number::float(rest)
                .map(Value::Number)
                .ok_or(Fault::Overflow)
        }
    }
}

/// Appends all text in a value, keys included, one a line.
fn all_text(value: &Value, into: &mut String) {
    let line = |text: &str, into: &mut String| {
        if !into.is_empty() {
            into.push('\n');
        }
        into.push_str(text);
    };
    match value {
        Value::String(text) => line(text, into),
        Value::List(items) => items.iter().for_each(|item| all_text(item, into)),
        Value::Set(items) => items.iter().for_each(|item| all_text(item, into)),
        Value::Object(object) => object.iter().for_each(|(key, value)| {
            line(key, into);
            all_text(value, into);
        }),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Time(_)
        | Value::Duration(_)
        | Value::Enum(_) => {}
    }
}
