//! Values of fields, tracks and expressions.
//!
//! A value is always known. Unknown data is [`Cell::Unknown`], and an undecided Boolean is [`Truth::Unknown`]. `null`
//! is a value: known to be absent.
//!
//! Values are totally ordered (by kind, then by content) so that sets and reports have one order; the order of the
//! *language* (`<` between numbers, strings, times, ordered enums) is implemented by the evaluator.

pub(crate) mod escapes;
mod json_kind;
mod number;
mod text;
mod truth;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use im::OrdSet;
use smol_str::SmolStr;

pub use json_kind::JsonKind;
pub use number::{BigInt, Finite, Number};
pub use text::Text;
pub use truth::Truth;

/// A known value. Cloning is O(1). Its `serde` form is used for monitor states: it is exact and is not JSON.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum Value {
    /// Known to be absent.
    #[default]
    Null,
    /// A Boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    String(Text),
    /// A point in time.
    Time(Instant),
    /// A length of time.
    Duration(Instant),
    /// A value of a declared enum.
    Enum(EnumValue),
    /// A list.
    List(Arc<[Value]>),
    /// A JSON object, a record or a map.
    Object(Object),
    /// A set.
    Set(#[serde(deserialize_with = "shallow_set")] OrdSet<Value>),
}

/// The greatest depth of sets within sets that is read from a state.
const DEEPEST_SETS: usize = 6;

/// Reads a set. Its iterator compares the elements at both ends, so that one element of sets within sets takes time exponential in
/// their depth: 22 levels took an hour.
fn shallow_set<'de, D: serde::Deserializer<'de>>(from: D) -> Result<OrdSet<Value>, D::Error> {
    fn depth(value: &Value) -> usize {
        match value {
            Value::Set(all) => 1 + all.iter().map(depth).max().unwrap_or(0),
            Value::List(all) => all.iter().map(depth).max().unwrap_or(0),
            Value::Object(all) => all.iter().map(|(_, value)| depth(value)).max().unwrap_or(0),
            _ => 0,
        }
    }
    let values: Vec<Value> = serde::Deserialize::deserialize(from)?;
    match values.iter().any(|value| depth(value) >= DEEPEST_SETS) {
        true => Err(serde::de::Error::custom("sets are nested too deep")),
        false => Ok(values.into_iter().collect()),
    }
}

/// A value of an enum: which enum of the spec (`types::EnumType::number`), and the position among its values.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct EnumValue {
    /// The enum.
    pub of: u16,
    /// Position among its values, in order of declaration.
    pub index: u16,
}

/// A time since the epoch of its clock, or a length of time.
///
/// # Units
/// Attoseconds (1e-18 s), exact: recorded times are decimals of up to nanoseconds since 1970 or seconds printed from a
/// float with 17 digits, and both fit. The range is about 5e12 years.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct Instant(pub i128);

/// One cell of data: a known value, or unknown.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Cell {
    /// The value is known.
    Known(Value),
    /// The value was not recorded, or could not be read; the reason is reported where it happened.
    Unknown,
}

/// A JSON object: members in the order of the text, keys distinct. Cloning is O(1).
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(from = "Members")]
pub struct Object {
    members: Arc<[(SmolStr, Value)]>,
    /// A bit for each key ([`bit`]): readers of recordings ask for many keys that are not there, most of which have another.
    #[serde(skip)]
    keys: u64,
}

/// An object as it is stored.
#[derive(serde::Deserialize)]
struct Members {
    members: Vec<(SmolStr, Value)>,
}

impl From<Members> for Object {
    fn from(stored: Members) -> Object {
        Object::of_distinct(stored.members)
    }
}

/// Returns the bit of a key: one of 64, by its length and its ends.
#[inline]
fn bit(key: &str) -> u64 {
    let ends = match key.as_bytes() {
        [] => 0,
        [first, .., last] => u64::from(*first) * 5 + u64::from(*last) * 11,
        [only] => u64::from(*only) * 16,
    };
    1 << ((ends + key.len() as u64 * 7) % 64)
}

impl Object {
    /// Returns an object of these members.
    ///
    /// # Errors
    /// Returns the first duplicate key.
    pub fn new(members: Vec<(SmolStr, Value)>) -> Result<Object, SmolStr> {
        let keys = Object::keys(&members)?;
        let members = members.into();
        Ok(Object { members, keys })
    }

    /// Returns an object of the last members of a list, which it takes from there.
    ///
    /// # Errors
    /// Returns the first duplicate key.
    pub(crate) fn of_last(
        list: &mut Vec<(SmolStr, Value)>,
        first: usize,
    ) -> Result<Object, SmolStr> {
        let keys = Object::keys(list.get(first..).unwrap_or_default());
        let members = list.drain(first..).collect();
        keys.map(|keys| Object { members, keys })
    }

    /// Returns an object of members whose keys are known to be distinct.
    pub(crate) fn of_distinct(members: Vec<(SmolStr, Value)>) -> Object {
        let keys = members.iter().fold(0, |keys, (key, _)| keys | bit(key));
        let members = members.into();
        Object { members, keys }
    }

    /// Returns the bits of keys, or the first duplicate key.
    fn keys(members: &[(SmolStr, Value)]) -> Result<u64, SmolStr> {
        let mut keys = 0;
        if members.len() <= 64 {
            for (idx, (key, _)) in members.iter().enumerate() {
                let bit = bit(key);
                if keys & bit != 0 && members[..idx].iter().any(|(earlier, _)| earlier == key) {
                    return Err(key.clone());
                }
                keys |= bit;
            }
        } else {
            let mut seen = std::collections::HashSet::with_capacity(members.len());
            for (key, _) in members {
                if !seen.insert(key) {
                    return Err(key.clone());
                }
                keys |= bit(key);
            }
        }
        Ok(keys)
    }

    /// Returns the member of this name.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Value> {
        if self.keys & bit(key) == 0 {
            return None;
        }
        self.members
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// Returns the members in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = (&SmolStr, &Value)> {
        self.members.iter().map(|(key, value)| (key, value))
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    fn sorted(&self) -> Vec<&(SmolStr, Value)> {
        let mut members: Vec<_> = self.members.iter().collect();
        members.sort_by(|lhs, rhs| lhs.0.cmp(&rhs.0));
        members
    }
}

impl Value {
    /// Returns a text value.
    pub fn string(text: impl AsRef<str>) -> Value {
        Value::String(SmolStr::new(text).into())
    }

    /// Whether two values are the same list or object in memory.
    pub fn is_same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::List(lhs), Value::List(rhs)) => Arc::ptr_eq(lhs, rhs),
            (Value::Object(lhs), Value::Object(rhs)) => Arc::ptr_eq(&lhs.members, &rhs.members),
            _ => false,
        }
    }

    /// Returns the place in memory of a list or object, which is that of its clones too. Others may have it once all of them are gone.
    pub(crate) fn address(&self) -> Option<usize> {
        match self {
            Value::List(items) => Some(items.as_ptr().addr()),
            Value::Object(object) => Some(object.members.as_ptr().addr()),
            _ => None,
        }
    }

    /// Returns an integer value.
    pub fn int(int: i128) -> Value {
        Value::Number(Number::Int(int))
    }

    /// Returns a list value.
    pub fn list(items: Vec<Value>) -> Value {
        Value::List(items.into())
    }

    /// Returns the text, if the value is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Whether the value is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    fn rank(&self) -> u8 {
        match self {
            Value::Null => 0,
            Value::Bool(_) => 1,
            Value::Number(_) => 2,
            Value::String(_) => 3,
            Value::Time(_) => 4,
            Value::Duration(_) => 5,
            Value::Enum(_) => 6,
            Value::List(_) => 7,
            Value::Object(_) => 8,
            Value::Set(_) => 9,
        }
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Value::Bool(lhs), Value::Bool(rhs)) => lhs.cmp(rhs),
            (Value::Number(lhs), Value::Number(rhs)) => lhs.cmp(rhs),
            (Value::String(lhs), Value::String(rhs)) => lhs.cmp(rhs),
            (Value::Time(lhs), Value::Time(rhs)) | (Value::Duration(lhs), Value::Duration(rhs)) => {
                lhs.cmp(rhs)
            }
            (Value::Enum(lhs), Value::Enum(rhs)) => lhs.cmp(rhs),
            (Value::List(lhs), Value::List(rhs)) => lhs.cmp(rhs),
            (Value::Object(lhs), Value::Object(rhs)) => lhs.sorted().cmp(&rhs.sorted()),
            (Value::Set(lhs), Value::Set(rhs)) => lhs.cmp(rhs),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            // For these kinds equality is cheaper than order; of sets, parts that both share are not compared.
            (Value::String(lhs), Value::String(rhs)) => lhs == rhs,
            (Value::Set(lhs), Value::Set(rhs)) => lhs == rhs,
            (Value::Object(lhs), Value::Object(rhs)) => {
                lhs.len() == rhs.len() && lhs.iter().all(|(key, value)| rhs.get(key) == Some(value))
            }
            _ => self.cmp(other) == Ordering::Equal,
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
        match self {
            Value::Null => {}
            Value::Bool(value) => value.hash(state),
            Value::Number(number) => number.hash(state),
            Value::String(text) => text.hash(state),
            Value::Time(instant) | Value::Duration(instant) => instant.hash(state),
            Value::Enum(value) => value.hash(state),
            Value::List(items) => items.hash(state),
            Value::Object(object) => object.sorted().hash(state),
            Value::Set(items) => items.hash(state),
        }
    }
}

/// Prints as JSON where JSON has the kind; the names of enum values are not known here.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn sequence<'a>(
            f: &mut fmt::Formatter<'_>,
            items: impl Iterator<Item = &'a Value>,
            open: &str,
            close: &str,
        ) -> fmt::Result {
            f.write_str(open)?;
            for (idx, item) in items.enumerate() {
                if idx > 0 {
                    f.write_str(", ")?;
                }
                write!(f, "{item}")?;
            }
            f.write_str(close)
        }
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Number(number) => write!(f, "{number}"),
            Value::String(text) => write!(f, "{text:?}"),
            Value::Time(instant) => f.write_str(&instant.as_time()),
            Value::Duration(instant) => write!(f, "{instant}"),
            Value::Enum(value) => write!(f, "#{}.{}", value.of, value.index),
            Value::List(items) => sequence(f, items.iter(), "[", "]"),
            Value::Set(items) => sequence(f, items.iter(), "{", "}"),
            Value::Object(object) => {
                f.write_str("{")?;
                for (idx, (key, value)) in object.iter().enumerate() {
                    write!(f, "{}{key:?}: {value}", if idx > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

impl Instant {
    /// The number of attoseconds in a second.
    pub const SECOND: i128 = 1_000_000_000_000_000_000;
    /// Times from here on (in 1973) are dates; earlier ones are seconds since the beginning of a run.
    const DATES: i128 = 100_000_000 * Instant::SECOND;

    /// Returns a point in time as reports show it: a date and time as RFC 3339, or seconds.
    pub fn as_time(self) -> String {
        let date = (self.0 >= Instant::DATES).then(|| self.to_rfc3339());
        date.flatten().unwrap_or_else(|| self.to_string())
    }

    /// Parses a decimal number (`12`, `1.5`, `1e9`) of the given unit exactly.
    ///
    /// `unit` is the number of attoseconds in 1. Digits beyond an attosecond are dropped. `None` if the text is not a
    /// decimal number or is out of range.
    pub fn from_decimal(text: &str, unit: i128) -> Option<Instant> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (negative, digits) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty()
            || !whole
                .bytes()
                .chain(fraction.bytes())
                .all(|b| b.is_ascii_digit())
        {
            return None;
        }
        let point = i32::try_from(whole.len()).ok()?.checked_add(exponent)?;
        let mut total: i128 = 0;
        for (place, digit) in whole.bytes().chain(fraction.bytes()).enumerate() {
            let power = point
                .checked_sub(1)?
                .checked_sub(i32::try_from(place).ok()?)?;
            let digit = i128::from(digit - b'0');
            let part = match u32::try_from(power) {
                Ok(power) if digit != 0 => 10i128
                    .checked_pow(power)?
                    .checked_mul(unit)?
                    .checked_mul(digit)?,
                Ok(_) => 0,
                Err(_) => match 10i128.checked_pow(power.unsigned_abs()) {
                    Some(divisor) => unit.checked_mul(digit)? / divisor,
                    None => 0,
                },
            };
            total = total.checked_add(part)?;
        }
        Some(Instant(if negative { -total } else { total }))
    }

    /// Parses an RFC 3339 date and time; without a zone it is UTC.
    pub fn from_rfc3339(text: &str) -> Option<Instant> {
        let text = text.trim();
        let timestamp = text.parse::<jiff::Timestamp>().ok().or_else(|| {
            text.parse::<jiff::civil::DateTime>()
                .ok()?
                .to_zoned(jiff::tz::TimeZone::UTC)
                .ok()
                .map(|z| z.timestamp())
        })?;
        Some(Instant(
            timestamp
                .as_nanosecond()
                .checked_mul(Instant::SECOND / 1_000_000_000)?,
        ))
    }

    /// Returns the date and time in UTC as RFC 3339, to the nanosecond; `None` outside the years that it can state.
    pub fn to_rfc3339(self) -> Option<String> {
        let nanoseconds = self.0.div_euclid(Instant::SECOND / 1_000_000_000);
        let timestamp = jiff::Timestamp::from_nanosecond(nanoseconds).ok()?;
        Some(timestamp.to_string())
    }

    /// Seconds as the nearest float, for arithmetic and display.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / Instant::SECOND as f64
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.0 / Instant::SECOND;
        let fraction = (self.0 % Instant::SECOND).unsigned_abs();
        let sign = if self.0 < 0 && whole == 0 { "-" } else { "" };
        if fraction == 0 {
            return write!(f, "{sign}{whole}s");
        }
        let digits = format!("{fraction:018}");
        write!(f, "{sign}{whole}.{}s", digits.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn sets_within_sets_are_read_up_to_a_depth() {
        for (depth, is_read) in [(1, true), (6, true), (7, false), (40, false)] {
            let text = format!(
                "{}\"Null\"{}",
                "{\"Set\":[".repeat(depth),
                ",\"Null\"]}".repeat(depth)
            );
            assert_eq!(
                serde_json::from_str::<Value>(&text).is_ok(),
                is_read,
                "{depth}"
            );
        }
    }
}
