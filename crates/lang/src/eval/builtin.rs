//! The predefined functions, on known values.

use std::sync::Arc;

use smol_str::SmolStr;

use super::json;
use super::ops::{Fault, elements, kind_of, order};
use crate::hir::Builtin;
use crate::shell;
use crate::texts;
use crate::value::{Instant, Number, Value};

pub(super) fn call(builtin: Builtin, args: &[Value]) -> Result<Value, Fault> {
    let [first, rest @ ..] = args else {
        return Ok(Value::Null);
    };
    if builtin == Builtin::Text {
        let mut texts = Vec::new();
        each_text(first, &mut |text| texts.push(text.to_owned()));
        return Ok(Value::string(texts.join("\n")));
    }
    if builtin == Builtin::Below && args.iter().any(Value::is_null) {
        return Ok(Value::Bool(false));
    }
    // Null as an element is an element; any other null operand makes the result null.
    if first.is_null() || (!builtin.takes_elements() && rest.iter().any(Value::is_null)) {
        return Ok(Value::Null);
    }
    let wrong = |value: &Value| Fault::WrongType(builtin.name(), kind_of(value));
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
                    .map(|c| Value::String(SmolStr::from_iter([c]).into()))
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
        (Builtin::Abs, Value::Number(Number::Big(_)), _) => Err(Fault::Overflow),
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
        (Builtin::Mod, Value::Duration(_), Some(Value::Duration(Instant(0)))) => {
            Err(Fault::DivisionByZero)
        }
        (Builtin::Mod, Value::Duration(lhs), Some(Value::Duration(rhs))) => {
            Ok(Value::Duration(Instant(remainder(lhs.0, rhs.0))))
        }
        // The same set rather than an equal one, which would have to be compared with it.
        (Builtin::Add, Value::Set(items), Some(item)) if items.contains(item) => Ok(first.clone()),
        (Builtin::Add, Value::Set(items), Some(item)) => Ok(Value::Set(items.update(item.clone()))),
        (Builtin::Add, Value::List(items), Some(item)) => {
            let items: Arc<[Value]> = items.iter().chain([item]).cloned().collect();
            Ok(Value::List(items))
        }
        (Builtin::Last, Value::List(items), Some(Value::Number(n))) => {
            let first = items.len().saturating_sub(position(n));
            Ok(Value::List(items[first..].into()))
        }
        (Builtin::Drop, Value::List(items), Some(Value::Number(n))) => Ok(Value::List(
            items.iter().skip(position(n)).cloned().collect(),
        )),
        (Builtin::Slice, _, _) => slice(args),
        (Builtin::Join, list @ (Value::List(_) | Value::Set(_)), Some(Value::String(by))) => {
            join(list, by)
        }
        (Builtin::Remove, Value::Set(items), Some(item)) => Ok(Value::Set(items.without(item))),
        (Builtin::IndexOf, Value::List(items), Some(item)) => Ok(items
            .iter()
            .position(|other| other == item)
            .map_or(Value::Null, count)),
        (Builtin::IndexOf, Value::String(text), Some(Value::String(part))) => {
            let before = text.find(part.as_str()).and_then(|at| text.get(..at));
            Ok(before.map_or(Value::Null, |before| count(before.chars().count())))
        }
        (Builtin::IndexOf, Value::String(_), Some(Value::Null)) => Ok(Value::Null),
        (Builtin::Range, Value::Number(n), _) => match position(n) {
            n if n > texts::MOST_ITEMS => Err(Fault::TooLong("range")),
            n => Ok(Value::list((0..n).map(count).collect())),
        },
        (Builtin::Base64, Value::String(text), _) => {
            texts::base64(text).map(or_null).map_err(Fault::Unclear)
        }
        (Builtin::Hex, Value::String(text), _) => {
            texts::hex(text).map(or_null).map_err(Fault::Unclear)
        }
        (Builtin::UrlDecode, Value::String(text), _) => Ok(Value::string(texts::url_decode(text))),
        (Builtin::Normalize, Value::String(text), _) => Ok(Value::string(texts::normalize(text))),
        (Builtin::Path, Value::String(text), _) => {
            texts::path(text).map(Value::string).map_err(Fault::Unclear)
        }
        (Builtin::Below, Value::String(path), Some(Value::String(folder))) => {
            let below = texts::below(path, folder).map_err(Fault::Unclear)?;
            Ok(Value::Bool(below))
        }
        (Builtin::Host, Value::String(text), _) => {
            texts::host(text).map(or_null).map_err(Fault::Unclear)
        }
        (Builtin::Json, Value::String(text), _) => json::parse(text),
        (Builtin::Commands, Value::String(text), bytes) => {
            let limits = match bytes {
                None => shell::Limits::default(),
                Some(Value::Number(number)) => {
                    let bytes = number.to_int().unwrap_or(0).max(0);
                    shell::Limits::for_bytes(usize::try_from(bytes).unwrap_or(usize::MAX))
                }
                Some(other) => return Err(wrong(other)),
            };
            let commands = shell::commands(text, &limits).map_err(Fault::NoShell)?;
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

fn or_null(text: Option<String>) -> Value {
    text.map_or(Value::Null, Value::string)
}

/// Returns a number of elements; 0 if the number is negative.
fn position(number: &Number) -> usize {
    match number.to_int() {
        Some(int) => usize::try_from(int.max(0)).unwrap_or(usize::MAX),
        None if number.to_f64() > 0.0 => usize::MAX,
        None => 0,
    }
}

fn slice(args: &[Value]) -> Result<Value, Fault> {
    let [of, Value::Number(from), Value::Number(to)] = args else {
        let wrong = args
            .iter()
            .skip(1)
            .find(|arg| !matches!(arg, Value::Number(_)));
        return Err(Fault::WrongType(
            "slice",
            kind_of(wrong.unwrap_or(&Value::Null)),
        ));
    };
    let (from, to) = (position(from), position(to));
    let length = to.saturating_sub(from);
    match of {
        Value::List(items) => {
            let items = items.iter().skip(from).take(length);
            Ok(Value::List(items.cloned().collect()))
        }
        Value::String(text) => {
            let text: String = text.chars().skip(from).take(length).collect();
            Ok(Value::string(text))
        }
        other => Err(Fault::WrongType("slice", kind_of(other))),
    }
}

fn join(list: &Value, by: &str) -> Result<Value, Fault> {
    let mut text = String::new();
    for (place, item) in elements(list).into_iter().flatten().enumerate() {
        let Value::String(item) = item else {
            return Err(Fault::WrongType("join", kind_of(item)));
        };
        if place > 0 {
            text.push_str(by);
        }
        text.push_str(item);
        if text.len() > texts::MOST_BYTES {
            return Err(Fault::TooLong("join"));
        }
    }
    Ok(Value::string(text))
}

/// Returns the remainder, with the sign of the divisor, which is not 0.
fn remainder(lhs: i128, rhs: i128) -> i128 {
    // Only the least integer divided by -1 overflows, without a remainder.
    let rest = lhs.checked_rem(rhs).unwrap_or(0);
    let is_wrong_side = rest != 0 && (rest < 0) != (rhs < 0);
    if is_wrong_side { rest + rhs } else { rest }
}

/// Returns the remainder with the sign of the divisor.
fn modulo(lhs: &Number, rhs: &Number) -> Result<Value, Fault> {
    match (lhs, rhs) {
        (_, Number::Int(0)) => Err(Fault::DivisionByZero),
        (Number::Int(lhs), Number::Int(rhs)) => Ok(Value::int(remainder(*lhs, *rhs))),
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

/// Passes on every text in a value: strings, keys, and numbers in all usual notations.
pub(super) fn each_text(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => found(text),
        Value::Number(number) => {
            let written = number.to_string();
            found(&written);
            texts::other_notations(&written)
                .iter()
                .for_each(|one| found(one));
        }
        Value::List(items) => items.iter().for_each(|item| each_text(item, found)),
        Value::Set(items) => items.iter().for_each(|item| each_text(item, found)),
        Value::Object(object) => object.iter().for_each(|(key, value)| {
            found(key);
            each_text(value, found);
        }),
        Value::Null | Value::Bool(_) | Value::Time(_) | Value::Duration(_) | Value::Enum(_) => {}
    }
}
