//! Operators on known values. They handle null and wrong types; unknown operands are handled before.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use super::builtin::each_text;
use crate::hash::SeededSet;
use crate::hir::{Arith, Compare};
use crate::texts;
use crate::value::{Instant, Number, Text, Truth, Value};

/// The reason why an expression has no value: a data error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// An operator received a value of a type that it does not accept.
    WrongType(&'static str, &'static str),
    /// Two values have no order.
    NoOrder(&'static str, &'static str),
    DivisionByZero,
    Overflow,
    /// The required type, and the kind of the value.
    Cast(String, &'static str),
    DuplicateKey(String),
    /// A text that is JSON for some readers, but not for this one.
    OtherJson,
    /// A text is part of an element of a list, and no element.
    PartOfElement,
    NoShell(crate::shell::ShellError),
    /// The result of a function or of `+` exceeds the limits of texts and lists.
    TooLong(&'static str),
    /// The step takes more than [`Limits::step_work`](super::Limits::step_work).
    TooMuchWork,
    Unclear(crate::texts::Unclear),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::WrongType(operator, kind) => write!(f, "`{operator}` does not take {kind}"),
            Fault::NoOrder(lhs, rhs) => write!(f, "{lhs} and {rhs} cannot be compared"),
            Fault::DivisionByZero => f.write_str("division by zero"),
            Fault::Overflow => f.write_str("the result is out of range"),
            Fault::Cast(ty, kind) => write!(f, "{kind} is not of type `{ty}`"),
            Fault::DuplicateKey(key) => write!(f, "JSON text with duplicate key `{key}`"),
            Fault::OtherJson => f.write_str("a text that some readers may take for JSON"),
            Fault::PartOfElement => f.write_str(
                "an element of the list contains the text without being equal to it, so `contains` has two meanings",
            ),
            Fault::NoShell(error) => write!(f, "{error}"),
            Fault::TooLong(function) => write!(
                f,
                "`{function}` would make more than {} bytes or {} elements",
                texts::MOST_BYTES,
                texts::MOST_ITEMS
            ),
            Fault::TooMuchWork => f.write_str(
                "the conditions of this step look at too many elements and characters (limit: `step_work`)",
            ),
            Fault::Unclear(error) => write!(f, "{error}"),
        }
    }
}

/// Returns the kind of a value, as messages name it.
pub(super) fn kind_of(value: &Value) -> &'static str {
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

/// Returns the order of two values, or `None` if one is null.
pub(super) fn order(lhs: &Value, rhs: &Value) -> Result<Option<Ordering>, Fault> {
    Ok(match (lhs, rhs) {
        (Value::Null, _) | (_, Value::Null) => None,
        (Value::Number(lhs), Value::Number(rhs)) => Some(lhs.cmp(rhs)),
        (Value::String(lhs), Value::String(rhs)) => Some(lhs.cmp(rhs)),
        (Value::Time(lhs), Value::Time(rhs)) | (Value::Duration(lhs), Value::Duration(rhs)) => {
            Some(lhs.cmp(rhs))
        }
        (Value::Enum(lhs), Value::Enum(rhs)) if lhs.of == rhs.of => Some(lhs.index.cmp(&rhs.index)),
        _ => return Err(Fault::NoOrder(kind_of(lhs), kind_of(rhs))),
    })
}

pub(super) fn compare(op: Compare, lhs: &Value, rhs: &Value) -> Result<bool, Fault> {
    if op == Compare::Eq {
        return Ok(lhs == rhs);
    }
    let Some(order) = order(lhs, rhs)? else {
        return Ok(false);
    };
    Ok(match op {
        Compare::Eq => order.is_eq(),
        Compare::Lt => order.is_lt(),
        Compare::Le => order.is_le(),
        Compare::Gt => order.is_gt(),
        Compare::Ge => order.is_ge(),
    })
}

/// Returns the elements of a list or set, no elements for null, and `None` for any other value.
pub(super) fn elements(value: &Value) -> Option<Box<dyn Iterator<Item = &Value> + '_>> {
    match value {
        Value::Null => Some(Box::new(std::iter::empty())),
        Value::List(items) => Some(Box::new(items.iter())),
        Value::Set(items) => Some(Box::new(items.iter())),
        _ => None,
    }
}

pub(super) fn has_element(
    list: &Value,
    item: &Value,
    operator: &'static str,
) -> Result<bool, Fault> {
    match list {
        Value::Null => Ok(false),
        Value::List(items) => Ok(list_contains(items, item)),
        Value::Set(items) => Ok(items.contains(item)),
        other => Err(Fault::WrongType(operator, kind_of(other))),
    }
}

/// Lists of at least this many elements are looked up by hash from the second lookup on.
const LONG_LIST: usize = 64;

/// The number of long lists kept on each thread: a condition may test several lists in turn.
const KEPT_LISTS: usize = 8;

/// A long list that was searched recently on this thread: the list, and its elements once it was searched twice.
struct KeptList {
    list: Weak<[Value]>,
    elements: Option<SeededSet<Value>>,
}

/// Whether a list has an element. Instances of one quantified property search the same list once for each of its
/// elements; without a table that would take time quadratic in its length.
fn list_contains(list: &Arc<[Value]>, item: &Value) -> bool {
    thread_local! {
        static KEPT: RefCell<VecDeque<KeptList>> = const { RefCell::new(VecDeque::new()) };
    }
    if list.len() < LONG_LIST {
        return list.contains(item);
    }
    KEPT.with_borrow_mut(|kept| {
        // the weak reference keeps the address from being given to another list
        let is_it = |one: &&mut KeptList| std::ptr::addr_eq(one.list.as_ptr(), Arc::as_ptr(list));
        if let Some(known) = kept.iter_mut().find(is_it) {
            let elements = known
                .elements
                .get_or_insert_with(|| list.iter().cloned().collect());
            return elements.contains(item);
        }
        if kept.len() >= KEPT_LISTS {
            kept.pop_back();
        }
        kept.push_front(KeptList {
            list: Arc::downgrade(list),
            elements: None,
        });
        list.contains(item)
    })
}

pub(super) fn contains(whole: &Value, part: &Value) -> Result<bool, Fault> {
    match whole {
        Value::String(_) => text_test("contains", whole, part, |whole, part| {
            memchr::memmem::find(whole.as_bytes(), part.as_bytes()).is_some()
        }),
        _ => has_element(whole, part, "contains"),
    }
}

/// Whether a value of any type contains another one: as [`contains`], but where a condition about one text meets a list, the text may be part
/// of an element. An agent may give a list instead of a text.
pub(super) fn holds(whole: &Value, part: &Value) -> Result<bool, Fault> {
    match (contains(whole, part)?, whole, part) {
        (false, Value::List(items), Value::String(part))
            if items.iter().any(|item| has_text(item, part)) =>
        {
            Err(Fault::PartOfElement)
        }
        (found, ..) => Ok(found),
    }
}

/// Whether a text in a value, as `text` finds them, contains another one.
fn has_text(value: &Value, part: &str) -> bool {
    let mut found = false;
    each_text(value, &mut |text| {
        found = found || memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some();
    });
    found
}

/// Returns a test of two strings; false where one is null.
pub(super) fn text_test(
    operator: &'static str,
    lhs: &Value,
    rhs: &Value,
    test: impl Fn(&Text, &Text) -> bool,
) -> Result<bool, Fault> {
    match (lhs, rhs) {
        (Value::String(lhs), Value::String(rhs)) => Ok(test(lhs, rhs)),
        (Value::Null | Value::String(_), Value::Null | Value::String(_)) => Ok(false),
        (Value::Null | Value::String(_), other) | (other, _) => {
            Err(Fault::WrongType(operator, kind_of(other)))
        }
    }
}

pub(super) fn member<'a>(of: &'a Value, name: &str) -> Result<&'a Value, Fault> {
    match of {
        Value::Null => Ok(&Value::Null),
        Value::Object(object) => Ok(object.get(name).unwrap_or(&Value::Null)),
        other => Err(Fault::WrongType(".", kind_of(other))),
    }
}

pub(super) fn index<'a>(of: &'a Value, at: &Value) -> Result<&'a Value, Fault> {
    match (of, at) {
        (Value::Null, _) | (Value::List(_) | Value::Object(_), Value::Null) => Ok(&Value::Null),
        (Value::Object(object), Value::String(name)) => {
            Ok(object.get(name).unwrap_or(&Value::Null))
        }
        (Value::List(items), Value::Number(number)) => match number.to_int() {
            Some(position) => Ok(usize::try_from(position)
                .ok()
                .and_then(|at| items.get(at))
                .unwrap_or(&Value::Null)),
            None => Err(Fault::WrongType("[ ]", "a number that is not an index")),
        },
        (Value::List(_) | Value::Object(_), other) | (other, _) => {
            Err(Fault::WrongType("[ ]", kind_of(other)))
        }
    }
}

fn float(value: f64) -> Result<Value, Fault> {
    Number::float(value)
        .map(Value::Number)
        .ok_or(Fault::Overflow)
}

fn int(value: Option<i128>) -> Result<Value, Fault> {
    value.map(Value::int).ok_or(Fault::Overflow)
}

/// Calculates with two numbers, times or durations; `+` also joins strings and lists. Returns null if either is null.
pub(super) fn arith(op: Arith, lhs: &Value, rhs: &Value) -> Result<Value, Fault> {
    match (lhs, rhs) {
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (Value::Number(lhs), Value::Number(rhs)) => numbers(op, lhs, rhs),
        (Value::String(lhs), Value::String(rhs)) if op == Arith::Add => {
            match lhs.len() + rhs.len() > texts::MOST_BYTES {
                true => Err(Fault::TooLong("+")),
                false => Ok(Value::String(
                    smol_str::format_smolstr!("{lhs}{rhs}").into(),
                )),
            }
        }
        // Without the limit, a track that appends itself doubles at every event.
        (Value::List(lhs), Value::List(rhs)) if op == Arith::Add => {
            match lhs.len() + rhs.len() > texts::MOST_ITEMS {
                true => Err(Fault::TooLong("+")),
                false => Ok(Value::List(lhs.iter().chain(rhs.iter()).cloned().collect())),
            }
        }
        (Value::Time(lhs), Value::Time(rhs)) if op == Arith::Sub => Ok(Value::Duration(Instant(
            lhs.0.checked_sub(rhs.0).ok_or(Fault::Overflow)?,
        ))),
        (Value::Time(at), Value::Duration(by)) if matches!(op, Arith::Add | Arith::Sub) => {
            Ok(Value::Time(shift(op, *at, *by)?))
        }
        (Value::Duration(by), Value::Time(at)) if op == Arith::Add => {
            Ok(Value::Time(shift(op, *at, *by)?))
        }
        (Value::Duration(lhs), Value::Duration(rhs)) => match op {
            Arith::Add | Arith::Sub => Ok(Value::Duration(shift(op, *lhs, *rhs)?)),
            Arith::Div if rhs.0 == 0 => Err(Fault::DivisionByZero),
            Arith::Div => float(lhs.0 as f64 / rhs.0 as f64),
            Arith::Mul => Err(Fault::WrongType("*", "two durations")),
        },
        (Value::Duration(length), Value::Number(factor))
        | (Value::Number(factor), Value::Duration(length))
            if op == Arith::Mul =>
        {
            scale(*length, factor)
        }
        (Value::Duration(length), Value::Number(by)) if op == Arith::Div => match by.to_int() {
            Some(0) => Err(Fault::DivisionByZero),
            Some(by) => (length.0.checked_div(by))
                .map(|length| Value::Duration(Instant(length)))
                .ok_or(Fault::Overflow),
            None => instant(length.0 as f64 / by.to_f64()),
        },
        _ => {
            let sign = match op {
                Arith::Add => "+",
                Arith::Sub => "-",
                Arith::Mul => "*",
                Arith::Div => "/",
            };
            let fits = |value: &Value| matches!(value, Value::Number(_));
            Err(Fault::WrongType(
                sign,
                kind_of(if fits(lhs) { rhs } else { lhs }),
            ))
        }
    }
}

fn shift(op: Arith, at: Instant, by: Instant) -> Result<Instant, Fault> {
    let sum = if op == Arith::Sub {
        at.0.checked_sub(by.0)
    } else {
        at.0.checked_add(by.0)
    };
    sum.map(Instant).ok_or(Fault::Overflow)
}

fn scale(length: Instant, factor: &Number) -> Result<Value, Fault> {
    match factor.to_int() {
        Some(factor) => Ok(Value::Duration(Instant(
            length.0.checked_mul(factor).ok_or(Fault::Overflow)?,
        ))),
        None => instant(length.0 as f64 * factor.to_f64()),
    }
}

fn instant(attoseconds: f64) -> Result<Value, Fault> {
    let whole = Number::float(attoseconds.round()).and_then(|number| number.to_int());
    whole
        .map(|whole| Value::Duration(Instant(whole)))
        .ok_or(Fault::Overflow)
}

fn numbers(op: Arith, lhs: &Number, rhs: &Number) -> Result<Value, Fault> {
    if let (Number::Int(lhs), Number::Int(rhs)) = (lhs, rhs) {
        return match op {
            Arith::Add => int(lhs.checked_add(*rhs)),
            Arith::Sub => int(lhs.checked_sub(*rhs)),
            Arith::Mul => int(lhs.checked_mul(*rhs)),
            Arith::Div if *rhs == 0 => Err(Fault::DivisionByZero),
            // An exact quotient is computed on integers, so that it is rounded only once.
            Arith::Div => match (lhs.checked_rem(*rhs), lhs.checked_div(*rhs)) {
                (Some(0), Some(quotient)) => float(quotient as f64),
                _ => float(*lhs as f64 / *rhs as f64),
            },
        };
    }
    if matches!(lhs, Number::Big(_)) || matches!(rhs, Number::Big(_)) {
        return Err(Fault::Overflow);
    }
    let (lhs, rhs) = (lhs.to_f64(), rhs.to_f64());
    match op {
        Arith::Add => float(lhs + rhs),
        Arith::Sub => float(lhs - rhs),
        Arith::Mul => float(lhs * rhs),
        Arith::Div if rhs == 0.0 => Err(Fault::DivisionByZero),
        Arith::Div => float(lhs / rhs),
    }
}

pub(super) fn negate(value: &Value) -> Result<Value, Fault> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Number(Number::Int(number)) => int(number.checked_neg()),
        Value::Number(Number::Float(number)) => float(-number.get()),
        Value::Number(Number::Big(_)) => Err(Fault::Overflow),
        Value::Duration(length) => Ok(Value::Duration(Instant(
            length.0.checked_neg().ok_or(Fault::Overflow)?,
        ))),
        other => Err(Fault::WrongType("-", kind_of(other))),
    }
}

/// Returns the truth of a Boolean value. Null is neither true nor false.
pub(super) fn truth_of(value: &Value) -> Result<Truth, Fault> {
    match value {
        Value::Null => Ok(Truth::Unknown),
        Value::Bool(value) => Ok(Truth::from(*value)),
        other => Err(Fault::WrongType("a condition", kind_of(other))),
    }
}
