//! Predefined functions on known values.

use std::cmp::Ordering;
use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use super::ops::{Outcome, elements, kind, order};
use super::text;
use guard_lang::hir::Builtin;
use guard_lang::shell::{Limits, commands};
use guard_lang::texts::other_notations;
use guard_lang::value::{Instant, Number, Object, Value};

/// The largest nesting depth of JSON in a string.
const JSON_DEPTH: usize = 128;

/// Returns the value of a call. A null argument gives null, except for `text`, `below` and the element that a
/// collection function takes.
pub(super) fn call(function: Builtin, args: &[Value]) -> Outcome {
    let null = match function {
        Builtin::Text | Builtin::Below => false,
        function if function.takes_elements() => args.first().is_none_or(Value::is_null),
        _ => args.iter().any(Value::is_null),
    };
    if null {
        return Ok(Value::Null);
    }
    match (function, args) {
        (Builtin::Len, [Value::String(text)]) => int(text.chars().count()),
        (Builtin::Len, [Value::List(items)]) => int(items.len()),
        (Builtin::Len, [Value::Set(items)]) => int(items.len()),
        (Builtin::Len, [Value::Object(object)]) => int(object.len()),
        (Builtin::Lower, [Value::String(text)]) => Ok(Value::string(text.to_lowercase())),
        (Builtin::Upper, [Value::String(text)]) => Ok(Value::string(text.to_uppercase())),
        (Builtin::Trim, [Value::String(text)]) => Ok(Value::string(text.trim())),
        (Builtin::Split, [Value::String(text), Value::String(sep)]) if sep.is_empty() => Ok(
            Value::list(text.chars().map(|c| Value::string(c.to_string())).collect()),
        ),
        (Builtin::Split, [Value::String(text), Value::String(sep)]) => Ok(Value::list(
            text.split(sep.as_str()).map(Value::string).collect(),
        )),
        (Builtin::Words, [Value::String(text)]) => Ok(Value::list(
            text.split_whitespace().map(Value::string).collect(),
        )),
        (Builtin::Min, [first, rest @ ..]) => extreme(first, rest, Ordering::Less),
        (Builtin::Max, [first, rest @ ..]) => extreme(first, rest, Ordering::Greater),
        (Builtin::Abs, [Value::Number(Number::Int(int))]) => int
            .checked_abs()
            .map(Value::int)
            .ok_or_else(|| "integer overflow".to_owned()),
        (Builtin::Abs, [Value::Number(Number::Float(float))]) => from_float(float.get().abs()),
        (Builtin::Abs, [Value::Duration(span)]) => {
            let span = span
                .0
                .checked_abs()
                .ok_or_else(|| "integer overflow".to_owned())?;
            Ok(Value::Duration(Instant(span)))
        }
        (Builtin::Floor, [Value::Number(number @ Number::Int(_))]) => {
            Ok(Value::Number(number.clone()))
        }
        (Builtin::Floor, [Value::Number(Number::Float(float))]) => {
            Number::float(float.get().floor())
                .and_then(|floor| floor.to_int())
                .map(Value::int)
                .ok_or_else(|| "integer overflow".to_owned())
        }
        (Builtin::Mod, [Value::Number(lhs), Value::Number(rhs)]) => modulo(lhs, rhs),
        // Both are whole numbers of attoseconds.
        (Builtin::Mod, [Value::Duration(lhs), Value::Duration(rhs)]) => {
            match modulo(&Number::Int(lhs.0), &Number::Int(rhs.0))? {
                Value::Number(Number::Int(rest)) => Ok(Value::Duration(Instant(rest))),
                other => Err(format!("expected a whole number, found {other:?}")),
            }
        }
        (Builtin::Add, [Value::Set(items), item]) => Ok(Value::Set(items.update(item.clone()))),
        (Builtin::Last, [Value::List(items), Value::Number(n)]) => {
            // A number beyond 128 bits is more than all elements, or less than none.
            let n = n
                .to_int()
                .unwrap_or(if n.to_f64() > 0.0 { i128::MAX } else { 0 });
            let n = usize::try_from(n.max(0)).unwrap_or(usize::MAX);
            Ok(Value::list(
                items
                    .iter()
                    .skip(items.len().saturating_sub(n))
                    .cloned()
                    .collect(),
            ))
        }
        (Builtin::Remove, [Value::Set(items), item]) => Ok(Value::Set(
            items
                .iter()
                .filter(|other| *other != item)
                .cloned()
                .collect(),
        )),
        (Builtin::Drop, [Value::List(items), Value::Number(n)]) => {
            Ok(Value::list(between(items, &at(n), &i128::MAX)))
        }
        (Builtin::Slice, [Value::List(items), Value::Number(from), Value::Number(to)]) => {
            Ok(Value::list(between(items, &at(from), &at(to))))
        }
        (Builtin::Slice, [Value::String(text), Value::Number(from), Value::Number(to)]) => {
            let chars: Vec<char> = text.chars().collect();
            let part: String = between(&chars, &at(from), &at(to)).into_iter().collect();
            Ok(Value::string(part))
        }
        (Builtin::IndexOf, [Value::List(items), item]) => {
            match (0..items.len()).find(|place| items[*place] == *item) {
                Some(place) => int(place),
                None => Ok(Value::Null),
            }
        }
        (Builtin::IndexOf, [Value::String(_), Value::Null]) => Ok(Value::Null),
        (Builtin::IndexOf, [Value::String(text), Value::String(part)]) => {
            let chars: Vec<char> = text.chars().collect();
            let begins = |place: &usize| {
                let rest: String = chars[*place..].iter().collect();
                rest.starts_with(part.as_str())
            };
            match (0..=chars.len()).find(begins) {
                Some(place) => int(place),
                None => Ok(Value::Null),
            }
        }
        (Builtin::Range, [Value::Number(n)]) => {
            let n = at(n).max(0);
            if n > guard_lang::texts::MOST_ITEMS as i128 {
                return Err("too long a list".to_owned());
            }
            Ok(Value::list((0..n).map(Value::int).collect()))
        }
        (Builtin::Join, [list @ (Value::List(_) | Value::Set(_)), Value::String(sep)]) => {
            let mut texts = Vec::new();
            for item in elements(list)? {
                match item {
                    Value::String(text) => texts.push(text.to_string()),
                    other => return Err(format!("{} is no text", kind(&other))),
                }
            }
            let joined = texts.join(sep);
            if joined.len() > guard_lang::texts::MOST_BYTES {
                return Err("too long a text".to_owned());
            }
            Ok(Value::string(joined))
        }
        (Builtin::Base64, [Value::String(text)]) => text::base64(text).map(or_null),
        (Builtin::Hex, [Value::String(text)]) => text::hex(text).map(or_null),
        (Builtin::UrlDecode, [Value::String(text)]) => Ok(Value::string(text::url_decode(text))),
        (Builtin::Normalize, [Value::String(text)]) => Ok(Value::string(text::normalize(text))),
        (Builtin::Path, [Value::String(text)]) => text::path(text).map(Value::string),
        // False if either argument is null.
        (Builtin::Below, [a, b]) if a.is_null() || b.is_null() => Ok(Value::Bool(false)),
        (Builtin::Below, [Value::String(path), Value::String(folder)]) => {
            text::below(path, folder).map(Value::Bool)
        }
        (Builtin::Host, [Value::String(text)]) => text::host(text).map(or_null),
        (Builtin::Json, [Value::String(text)]) => match serde_json::from_str::<&RawValue>(text) {
            Ok(raw) => json(raw.get(), JSON_DEPTH),
            Err(_) if may_be_json(text) => Err("JSON for some readers only".to_owned()),
            Err(_) => Ok(Value::Null),
        },
        (Builtin::Commands, [Value::String(text), bytes @ ..]) => {
            let limits = match bytes {
                [Value::Number(number)] => {
                    let bytes = number.to_int().unwrap_or(0).max(0);
                    Limits::for_bytes(usize::try_from(bytes).unwrap_or(usize::MAX))
                }
                _ => Limits::default(),
            };
            let commands = commands(text, &limits).map_err(|error| error.to_string())?;
            let command =
                |words: &Vec<String>| Value::list(words.iter().map(Value::string).collect());
            Ok(Value::list(commands.iter().map(command).collect()))
        }
        (Builtin::Text, [value]) => {
            let mut texts = Vec::new();
            all_text(value, &mut texts);
            Ok(Value::string(texts.join("\n")))
        }
        (function, args) => {
            let kinds: Vec<_> = args.iter().map(kind).collect();
            Err(format!(
                "no `{}` of {}",
                format!("{function:?}").to_lowercase(),
                kinds.join(" and ")
            ))
        }
    }
}

fn or_null(text: Option<String>) -> Value {
    text.map_or(Value::Null, Value::string)
}

/// Returns a position; numbers beyond the integers are beyond every list.
fn at(number: &Number) -> i128 {
    match number.to_int() {
        Some(int) => int,
        None if number.to_f64() > 0.0 => i128::MAX,
        None => i128::MIN,
    }
}

/// Returns the elements from the first position up to, and excluding, the second.
fn between<T: Clone>(items: &[T], from: &i128, to: &i128) -> Vec<T> {
    let within = |place: &i128| from <= place && place < to;
    let places = (0..).zip(items);
    places
        .filter(|(place, _)| within(place))
        .map(|(_, item)| item.clone())
        .collect()
}

fn int(length: usize) -> Outcome {
    i128::try_from(length)
        .map(Value::int)
        .map_err(|_| "integer overflow".to_owned())
}

fn from_float(float: f64) -> Outcome {
    Number::float(float)
        .map(Value::Number)
        .ok_or_else(|| "the result of the arithmetic is out of range".to_owned())
}

fn extreme(first: &Value, rest: &[Value], wanted: Ordering) -> Outcome {
    let mut best = first.clone();
    for value in rest {
        if order(value, &best)? == wanted {
            best = value.clone();
        }
    }
    Ok(best)
}

/// Returns the remainder with the sign of the divisor; a data error if the divisor is 0.
fn modulo(lhs: &Number, rhs: &Number) -> Outcome {
    if rhs.to_f64() == 0.0 {
        return Err("remainder by zero".to_owned());
    }
    match (lhs, rhs) {
        (Number::Int(lhs), Number::Int(rhs)) => {
            let rest = lhs.checked_rem(*rhs).unwrap_or(0);
            Ok(Value::int(if rest != 0 && (rest < 0) != (*rhs < 0) {
                rest + rhs
            } else {
                rest
            }))
        }
        (Number::Big(_), _) | (_, Number::Big(_)) => {
            Err("an integer beyond 128 bits cannot be calculated with".to_owned())
        }
        _ => {
            let (lhs, rhs) = (lhs.to_f64(), rhs.to_f64());
            let rest = lhs % rhs;
            from_float(if rest != 0.0 && (rest < 0.0) != (rhs < 0.0) {
                rest + rhs
            } else {
                rest
            })
        }
    }
}

/// Collects all text in a value, keys and numbers in all notations included, in the order in which it occurs.
pub(super) fn all_text(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.to_string()),
        Value::Number(number) => {
            let written = number.to_string();
            let others = other_notations(&written);
            texts.push(written);
            texts.extend(others);
        }
        Value::List(items) => items.iter().for_each(|item| all_text(item, texts)),
        Value::Set(items) => items.iter().for_each(|item| all_text(item, texts)),
        Value::Object(object) => {
            for (key, value) in object.iter() {
                texts.push(key.to_string());
                all_text(value, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Time(_) | Value::Duration(_) | Value::Enum(_) => {}
    }
}

/// Whether a text that is not JSON may be JSON for more lenient readers: by its first characters, or as a number.
fn may_be_json(text: &str) -> bool {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let size = text.trim_start_matches(['+', '-']).to_lowercase();
    match text.as_bytes() {
        [b'{' | b'[' | b'"' | b'\'', ..] | [b'/', b'/' | b'*', ..] => true,
        _ => size.starts_with("0x") || size.parse::<f64>().is_ok(),
    }
}

/// Returns the value of a text that is known to be JSON. Duplicate keys are a data error.
fn json(text: &str, depth: usize) -> Outcome {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(format!("JSON is nested deeper than {JSON_DEPTH}"));
    };
    let broken = |err: serde_json::Error| format!("bad JSON: {err}");
    match text.bytes().next() {
        Some(b'n') => Ok(Value::Null),
        Some(b't') => Ok(Value::Bool(true)),
        Some(b'f') => Ok(Value::Bool(false)),
        Some(b'"') => Ok(Value::string(
            serde_json::from_str::<String>(text).map_err(broken)?,
        )),
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text).map_err(broken)?;
            items
                .iter()
                .map(|item| json(item.get(), depth))
                .collect::<Result<_, _>>()
                .map(Value::list)
        }
        Some(b'{') => {
            let members = serde_json::Deserializer::from_str(text)
                .deserialize_map(Members)
                .map_err(broken)?;
            let members = members
                .iter()
                .map(|(key, raw)| Ok((key.clone(), json(raw.get(), depth)?)));
            let object = Object::new(members.collect::<Result<_, String>>()?);
            object
                .map(Value::Object)
                .map_err(|key| format!("duplicate key `{key}`"))
        }
        _ => Number::parse(text)
            .map(Value::Number)
            .ok_or_else(|| format!("the number {text} does not fit")),
    }
}

/// Reads the members of a JSON object, duplicates included.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(SmolStr, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry::<String, &'de RawValue>()? {
            members.push((SmolStr::new(member.0), member.1));
        }
        Ok(members)
    }
}
