//! Operators on known values, independent of steps, history and unknowns.
//!
//! `Err` is a data error with its reason: the value is unknown.

use std::cmp::Ordering;

use super::builtin::all_text;
use guard_lang::hir::{Arith, Compare};
use guard_lang::pattern::Pattern;
use guard_lang::types::Type;
use guard_lang::value::{Instant, Number, Object, Value};

/// A value, or the message of a data error.
pub(super) type Outcome = Result<Value, String>;

/// Returns the kind of a value, for messages.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a Boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Time(_) => "a time",
        Value::Duration(_) => "a duration",
        Value::Enum(_) => "an enum value",
        Value::List(_) => "a list",
        Value::Object(_) => "an object",
        Value::Set(_) => "a set",
    }
}

/// Compares two values. `==` is true if both are the same value; the order is false on null, and a data error for
/// values of other types without an order.
pub(super) fn compare(op: Compare, lhs: &Value, rhs: &Value) -> Outcome {
    if op == Compare::Eq {
        return Ok(Value::Bool(lhs == rhs));
    }
    if lhs.is_null() || rhs.is_null() {
        return Ok(Value::Bool(false));
    }
    let order = order(lhs, rhs)?;
    Ok(Value::Bool(match op {
        Compare::Eq => order == Ordering::Equal,
        Compare::Lt => order == Ordering::Less,
        Compare::Le => order != Ordering::Greater,
        Compare::Gt => order == Ordering::Greater,
        Compare::Ge => order != Ordering::Less,
    }))
}

/// Returns the order of numbers, strings, times, durations, or values of one enum; an error for other pairs.
pub(super) fn order(lhs: &Value, rhs: &Value) -> Result<Ordering, String> {
    match (lhs, rhs) {
        (Value::Number(_), Value::Number(_))
        | (Value::String(_), Value::String(_))
        | (Value::Time(_), Value::Time(_))
        | (Value::Duration(_), Value::Duration(_)) => Ok(lhs.cmp(rhs)),
        (Value::Enum(a), Value::Enum(b)) if a.of == b.of => Ok(a.index.cmp(&b.index)),
        _ => Err(format!("{} and {} have no order", kind(lhs), kind(rhs))),
    }
}

/// Returns the elements of a list or set; none for null.
pub(super) fn elements(list: &Value) -> Result<Vec<Value>, String> {
    match list {
        Value::Null => Ok(Vec::new()),
        Value::List(items) => Ok(items.to_vec()),
        Value::Set(items) => Ok(items.iter().cloned().collect()),
        other => Err(format!("{} is no list", kind(other))),
    }
}

/// Evaluates `contains`: a substring of a string, or an element of a list or set; false on null.
pub(super) fn contains(whole: &Value, part: &Value) -> Outcome {
    match (whole, part) {
        (Value::Null, _) | (Value::String(_), Value::Null) => Ok(Value::Bool(false)),
        (Value::String(text), Value::String(part)) => Ok(Value::Bool(text.contains(part.as_str()))),
        (Value::List(_) | Value::Set(_), _) => Ok(Value::Bool(elements(whole)?.contains(part))),
        (whole, part) => Err(format!("{} does not contain {}", kind(whole), kind(part))),
    }
}

/// Evaluates `contains` on a value of any type: a text that is only part of an element of a list has no truth.
pub(super) fn contains_any(whole: &Value, part: &Value) -> Outcome {
    let is_element = contains(whole, part)?;
    let mut texts = Vec::new();
    if let (Value::List(items), Value::String(_)) = (whole, part) {
        items.iter().for_each(|item| all_text(item, &mut texts));
    }
    let is_part =
        |text: &String| matches!(part, Value::String(part) if text.contains(part.as_str()));
    match is_element == Value::Bool(false) && texts.iter().any(is_part) {
        true => Err("a text that is part of an element".to_owned()),
        false => Ok(is_element),
    }
}

/// Evaluates `starts_with` or `ends_with`; false on null.
pub(super) fn affix(lhs: &Value, rhs: &Value, test: fn(&str, &str) -> bool) -> Outcome {
    match (lhs, rhs) {
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Bool(false)),
        (Value::String(lhs), Value::String(rhs)) => Ok(Value::Bool(test(lhs, rhs))),
        (Value::String(_), other) | (other, _) => Err(format!("{} is no string", kind(other))),
    }
}

/// Evaluates `matches`, which searches anywhere in the string; false on null.
pub(super) fn matches(text: &Value, regex: &Pattern) -> Outcome {
    match text {
        Value::Null => Ok(Value::Bool(false)),
        Value::String(text) => regex.is_match(text).map(Value::Bool).ok_or_else(unusable),
        other => Err(format!("{} is no string", kind(other))),
    }
}

/// Returns a group of the first match, where 0 is the whole match; null if there is none.
pub(super) fn capture(text: &Value, regex: &Pattern, group: usize) -> Outcome {
    match text {
        Value::Null => Ok(Value::Null),
        Value::String(text) => {
            let found = regex.group(text, group).ok_or_else(unusable)?;
            Ok(found.map_or(Value::Null, Value::string))
        }
        other => Err(format!("{} is no string", kind(other))),
    }
}

/// Replaces every match by `with`, taken literally; null on null.
pub(super) fn replace(text: &Value, regex: &Pattern, with: &Value) -> Outcome {
    match (text, with) {
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (Value::String(text), Value::String(with)) => {
            let made = regex.replace(text, with, usize::MAX).flatten();
            let made = made.ok_or_else(unusable)?;
            if made.len() > guard_lang::texts::MOST_BYTES {
                return Err("too long a text".to_owned());
            }
            Ok(Value::string(made))
        }
        (Value::String(_), other) | (other, _) => Err(format!("{} is no string", kind(other))),
    }
}

fn unusable() -> String {
    "the regular expression cannot be compiled".to_owned()
}

/// Returns a member of an object; null if the object is null or the member is missing. Any other value is a data error.
pub(super) fn member(object: &Value, name: &str) -> Outcome {
    match object {
        Value::Null => Ok(Value::Null),
        Value::Object(object) => Ok(object.get(name).cloned().unwrap_or(Value::Null)),
        other => Err(format!("{} has no member `{name}`", kind(other))),
    }
}

/// Returns an element of a list, or a member of an object; null for null, a negative index, or an index past the end.
pub(super) fn index(whole: &Value, at: &Value) -> Outcome {
    match (whole, at) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::Object(_), Value::String(name)) => member(whole, name),
        (Value::List(items), Value::Number(number)) => {
            let at = number
                .to_int()
                .ok_or_else(|| format!("{number} is no index"))?;
            let item = usize::try_from(at).ok().and_then(|at| items.get(at));
            Ok(item.cloned().unwrap_or(Value::Null))
        }
        (whole, at) => Err(format!("{} has no element at {}", kind(whole), kind(at))),
    }
}

/// Evaluates arithmetic, with checked overflow; `+` also joins strings and lists.
///
/// If `float` is true, the result has the type `float`, and integers are converted first.
pub(super) fn arith(op: Arith, lhs: &Value, rhs: &Value, float: bool) -> Outcome {
    let overflow = || "the result of the arithmetic is out of range".to_owned();
    match (op, lhs, rhs) {
        // Null gives null rather than a data error, since a condition beside it may exclude it.
        (_, Value::Null, _) | (_, _, Value::Null) => Ok(Value::Null),
        (Arith::Add, Value::String(lhs), Value::String(rhs)) => {
            let made = format!("{lhs}{rhs}");
            match made.len() > guard_lang::texts::MOST_BYTES {
                true => Err("too long a text".to_owned()),
                false => Ok(Value::string(made)),
            }
        }
        (Arith::Add, Value::List(lhs), Value::List(rhs)) => {
            match lhs.len() + rhs.len() > guard_lang::texts::MOST_ITEMS {
                true => Err("too long a list".to_owned()),
                false => Ok(Value::list(lhs.iter().chain(rhs.iter()).cloned().collect())),
            }
        }
        (_, Value::Number(lhs), Value::Number(rhs)) => {
            number(op, lhs, rhs, float).map(Value::Number)
        }
        (Arith::Sub, Value::Time(lhs), Value::Time(rhs)) => lhs
            .0
            .checked_sub(rhs.0)
            .map(|span| Value::Duration(Instant(span)))
            .ok_or_else(overflow),
        (Arith::Add, Value::Time(at), Value::Duration(span))
        | (Arith::Add, Value::Duration(span), Value::Time(at)) => {
            at.0.checked_add(span.0)
                .map(|at| Value::Time(Instant(at)))
                .ok_or_else(overflow)
        }
        (Arith::Sub, Value::Time(at), Value::Duration(span)) => {
            at.0.checked_sub(span.0)
                .map(|at| Value::Time(Instant(at)))
                .ok_or_else(overflow)
        }
        (Arith::Add, Value::Duration(lhs), Value::Duration(rhs)) => lhs
            .0
            .checked_add(rhs.0)
            .map(|span| Value::Duration(Instant(span)))
            .ok_or_else(overflow),
        (Arith::Sub, Value::Duration(lhs), Value::Duration(rhs)) => lhs
            .0
            .checked_sub(rhs.0)
            .map(|span| Value::Duration(Instant(span)))
            .ok_or_else(overflow),
        (Arith::Div, Value::Duration(_), Value::Duration(Instant(0))) => {
            Err("division by zero".to_owned())
        }
        (Arith::Div, Value::Duration(lhs), Value::Duration(rhs)) => {
            let ratio = Number::float(lhs.0 as f64 / rhs.0 as f64);
            ratio.map(Value::Number).ok_or_else(overflow)
        }
        (Arith::Mul, Value::Duration(span), Value::Number(by))
        | (Arith::Mul, Value::Number(by), Value::Duration(span)) => match by.to_int() {
            Some(by) => duration(span.0.checked_mul(by)),
            None => duration(whole(span.0 as f64 * by.to_f64())),
        },
        (Arith::Div, Value::Duration(_), Value::Number(by)) if by.to_int() == Some(0) => {
            Err("division by zero".to_owned())
        }
        (Arith::Div, Value::Duration(span), Value::Number(by)) => match by.to_int() {
            Some(by) => duration(span.0.checked_div(by)),
            None => duration(whole(span.0 as f64 / by.to_f64())),
        },
        (op, lhs, rhs) => Err(format!(
            "no arithmetic {op:?} on {} and {}",
            kind(lhs),
            kind(rhs)
        )),
    }
}

/// Returns a length of time in attoseconds; an error if it is out of range.
fn duration(attoseconds: Option<i128>) -> Outcome {
    let span = attoseconds.ok_or("the length of time is out of range")?;
    Ok(Value::Duration(Instant(span)))
}

/// Returns the nearest whole number.
fn whole(float: f64) -> Option<i128> {
    Number::float(float.round())?.to_int()
}

fn number(op: Arith, lhs: &Number, rhs: &Number, float: bool) -> Result<Number, String> {
    if op == Arith::Div && rhs.to_f64() == 0.0 {
        return Err("division by zero".to_owned());
    }
    match (lhs, rhs) {
        (Number::Int(lhs), Number::Int(rhs)) if !float && op != Arith::Div => match op {
            Arith::Add => lhs.checked_add(*rhs),
            Arith::Sub => lhs.checked_sub(*rhs),
            Arith::Mul | Arith::Div => lhs.checked_mul(*rhs),
        }
        .map(Number::Int)
        .ok_or_else(|| "integer overflow".to_owned()),
        (Number::Big(_), _) | (_, Number::Big(_)) if !float => {
            Err("an integer beyond 128 bits cannot be calculated with".to_owned())
        }
        _ => {
            let (lhs, rhs) = (lhs.to_f64(), rhs.to_f64());
            Number::float(match op {
                Arith::Add => lhs + rhs,
                Arith::Sub => lhs - rhs,
                Arith::Mul => lhs * rhs,
                Arith::Div => lhs / rhs,
            })
            .ok_or_else(|| "the result of the arithmetic is out of range".to_owned())
        }
    }
}

/// Negates a number or a duration; null gives null.
pub(super) fn negate(value: &Value) -> Outcome {
    match value {
        Value::Null => return Ok(Value::Null),
        Value::Duration(span) => span
            .0
            .checked_neg()
            .map(|span| Value::Duration(Instant(span))),
        Value::Number(Number::Int(int)) => int.checked_neg().map(Value::int),
        Value::Number(Number::Float(float)) => Number::float(-float.get()).map(Value::Number),
        other => return Err(format!("{} has no negative", kind(other))),
    }
    .ok_or_else(|| "integer overflow".to_owned())
}

/// Casts a value. A cast that fails is a data error, or null if the type has a `?`; a number too large for `float?` is
/// a data error.
pub(super) fn cast(value: &Value, target: &Type) -> Outcome {
    match (fit(value, target.non_null()), target) {
        (Some(value), _) => Ok(value),
        (None, Type::Nullable(inner))
            if **inner == Type::Float && matches!(value, Value::Number(_)) =>
        {
            Err("a number that is too large for a float".to_owned())
        }
        (None, Type::Nullable(_)) => Ok(Value::Null),
        (None, target) => Err(format!("{} is no `{target}`", kind(value))),
    }
}

/// Returns the value in this type, or `None` if it does not fit. It converts integers and floats of the same value, lists to
/// sets, and the notations of fields of the type (names of enum values, seconds, RFC 3339).
fn fit(value: &Value, target: &Type) -> Option<Value> {
    match (target, value) {
        (Type::Json | Type::Error, value) => Some(value.clone()),
        (Type::Nullable(_), Value::Null) | (Type::Null, Value::Null) => Some(Value::Null),
        (Type::Nullable(inner), value) => fit(value, inner),
        (Type::Bool, Value::Bool(_))
        | (Type::String, Value::String(_))
        | (Type::Time, Value::Time(_))
        | (Type::Duration, Value::Duration(_)) => Some(value.clone()),
        (Type::Int, Value::Number(number @ Number::Big(_))) => Some(Value::Number(number.clone())),
        (Type::Int, Value::Number(number)) => number.to_int().map(Value::int),
        (Type::Float, Value::Number(number)) => Number::float(number.to_f64()).map(Value::Number),
        (Type::Time, Value::Number(number)) => seconds(number).map(Value::Time),
        (Type::Duration, Value::Number(number)) => seconds(number).map(Value::Duration),
        (Type::Time, Value::String(text)) => Instant::from_rfc3339(text).map(Value::Time),
        (Type::Enum(of), Value::Enum(value)) if value.of == of.number => Some(Value::Enum(*value)),
        (Type::Enum(of), Value::String(name)) => {
            let index = of.values.iter().position(|value| value == name)?;
            let index = u16::try_from(index).ok()?;
            Some(Value::Enum(guard_lang::value::EnumValue {
                of: of.number,
                index,
            }))
        }
        (Type::List(item), Value::List(items)) => items
            .iter()
            .map(|value| fit(value, item))
            .collect::<Option<Vec<_>>>()
            .map(Value::list),
        (Type::Set(item), Value::List(_) | Value::Set(_)) => {
            let items = elements(value).ok()?;
            items
                .iter()
                .map(|value| fit(value, item))
                .collect::<Option<_>>()
                .map(Value::Set)
        }
        (Type::Map(item), Value::Object(object)) => {
            let members = object
                .iter()
                .map(|(key, value)| Some((key.clone(), fit(value, item)?)));
            Some(Value::Object(
                Object::new(members.collect::<Option<_>>()?).ok()?,
            ))
        }
        (Type::Record(of), Value::Object(object)) => {
            let member = |name: &str| object.get(name).cloned().unwrap_or(Value::Null);
            let members = of
                .members
                .iter()
                .map(|(name, ty)| Some((name.clone(), fit(&member(name), ty)?)));
            Some(Value::Object(
                Object::new(members.collect::<Option<_>>()?).ok()?,
            ))
        }
        _ => None,
    }
}

fn seconds(number: &Number) -> Option<Instant> {
    Instant::from_decimal(&number.to_string(), Instant::SECOND)
}
