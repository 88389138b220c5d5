//! The classes of values of a term.

use std::cmp::Ordering;

use rustc_hash::FxHashSet;

use super::question::{Asked, Question};
use crate::hir::{Builtin, Compare, Expr, Quantifier, Spec};
use crate::ids::ExprId;
use crate::types::Type;
use crate::value::{EnumValue, Number, Value};

/// Values of a term that give the same answer to every question.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Class {
    /// This value.
    Value(Value),
    /// Some value strictly between these; an absent end is open.
    Between(Option<Value>, Option<Value>),
    /// Some other value of the type, and not null.
    Other,
}

/// Returns the answer of one value to a question whose list is `list`, or `None` for a question about a text.
fn answer(question: &Question, list: &FxHashSet<&Value>, value: &Value) -> Option<bool> {
    match question {
        Question::Equals(other) => Some(value == other),
        Question::Among(_) => Some(list.contains(value)),
        Question::Order(op, other) => compare(*op, value, other),
        Question::Text(_) => None,
    }
}

/// Returns the comparison of two known values, or `None` if their types are not comparable; the language then gives
/// unknown.
pub(super) fn compare(op: Compare, lhs: &Value, rhs: &Value) -> Option<bool> {
    if op == Compare::Eq {
        return Some(lhs == rhs);
    }
    let order = match (lhs, rhs) {
        (Value::Null, _) | (_, Value::Null) => return Some(false),
        (Value::Number(_), Value::Number(_))
        | (Value::String(_), Value::String(_))
        | (Value::Time(_), Value::Time(_))
        | (Value::Duration(_), Value::Duration(_)) => lhs.cmp(rhs),
        (Value::Enum(a), Value::Enum(b)) if a.of == b.of => a.index.cmp(&b.index),
        _ => return None,
    };
    Some(match op {
        Compare::Eq => order == Ordering::Equal,
        Compare::Lt => order == Ordering::Less,
        Compare::Le => order != Ordering::Greater,
        Compare::Gt => order == Ordering::Greater,
        Compare::Ge => order != Ordering::Less,
    })
}

/// Returns the classes of a term; together they contain all its values.
pub(super) fn classes(spec: &Spec, id: ExprId, asked: &Asked) -> Vec<Class> {
    let (expr, ty) = (spec.exprs.get(id), spec.exprs.ty(id));
    let mut classes = Vec::new();
    // A quantified name ranges over values that occur, and null does not count as one.
    if ty.may_be_null() && !matches!(expr, Expr::Var(_)) {
        classes.push(Class::Value(Value::Null));
    }
    let constants = asked.constants();
    let known = constants.iter().filter(|value| fits(value, ty)).cloned();
    match ty.non_null() {
        Type::Bool => {
            classes.extend([true, false].map(|value| Class::Value(Value::Bool(value))));
        }
        Type::Enum(of) => {
            let count = u16::try_from(of.values.len()).unwrap_or(u16::MAX);
            let value = |index| {
                Class::Value(Value::Enum(EnumValue {
                    of: of.number,
                    index,
                }))
            };
            classes.extend((0..count).map(value));
        }
        Type::Null => {}
        Type::Int | Type::Float | Type::Time | Type::Duration => {
            let whole = matches!(ty.non_null(), Type::Int);
            let least = least(expr).filter(|_| whole);
            let known: Vec<Value> = known
                .filter(|value| least.as_ref().is_none_or(|least| least <= value))
                .collect();
            let mut ends: Vec<Option<Value>> = vec![least.map(below)];
            ends.extend(known.iter().cloned().map(Some));
            ends.push(None);
            classes.extend(gaps(&ends, whole));
            classes.extend(known.into_iter().map(Class::Value));
        }
        Type::Json => {
            let mut values: Vec<Value> = known
                .filter(|value| !matches!(value, Value::Bool(_)))
                .collect();
            if asked.ordered() {
                let numbers: Vec<Option<Value>> = values
                    .iter()
                    .filter(|value| matches!(value, Value::Number(_)))
                    .cloned()
                    .map(Some)
                    .collect();
                let ends = [vec![None], numbers, vec![None]].concat();
                classes.extend(gaps(&ends, false));
            }
            // Texts come before Booleans: most terms that have a value have a text.
            classes.push(Class::Other);
            values.extend([true, false].map(Value::Bool));
            classes.extend(values.into_iter().map(Class::Value));
        }
        Type::String if asked.ordered() => {
            let known: Vec<Value> = known.collect();
            let mut ends: Vec<Option<Value>> = vec![None];
            ends.extend(known.iter().cloned().map(Some));
            ends.push(None);
            classes.extend(gaps(&ends, false));
            classes.extend(known.into_iter().map(Class::Value));
        }
        _ => {
            classes.extend(known.map(Class::Value));
            classes.push(Class::Other);
        }
    }
    // Only some combinations of track values occur, so each value of a track is a class of its own.
    if !asked.exact && !matches!(expr, Expr::Track(..)) {
        merge(&mut classes, asked);
    }
    classes
}

/// Merges constants that have the same answers to all questions.
fn merge(classes: &mut Vec<Class>, asked: &Asked) {
    if asked
        .questions
        .iter()
        .any(|question| matches!(question, Question::Text(_)))
    {
        return;
    }
    if classes.iter().filter_map(mergeable).nth(1).is_none() {
        return;
    }
    // Lists with thousands of elements are compared with thousands of constants, so membership uses a hash table.
    let lists = asked.questions.iter().map(|question| match question {
        Question::Among(list) => list.iter().collect(),
        _ => FxHashSet::default(),
    });
    let lists: Vec<FxHashSet<&Value>> = lists.collect();
    let mut kept: FxHashSet<Vec<Option<bool>>> = FxHashSet::default();
    classes.retain(|class| {
        let Some(value) = mergeable(class) else {
            return true;
        };
        let answers: Vec<Option<bool>> = asked
            .questions
            .iter()
            .zip(&lists)
            .map(|(question, list)| answer(question, list, value))
            .collect();
        kept.insert(answers)
    });
}

/// Returns the constant of a class, if one class may represent several such constants.
fn mergeable(class: &Class) -> Option<&Value> {
    match class {
        Class::Value(value @ (Value::String(_) | Value::Number(_) | Value::Enum(_))) => Some(value),
        _ => None,
    }
}

/// Returns the gaps between neighbours, except those that contain no value.
fn gaps(ends: &[Option<Value>], whole: bool) -> Vec<Class> {
    let empty = |low: &Value, high: &Value| match (low, high) {
        (Value::Number(low), Value::Number(high)) if whole => match (low.to_int(), high.to_int()) {
            (Some(low), Some(high)) => high.saturating_sub(low) <= 1,
            _ => false,
        },
        _ => low >= high,
    };
    ends.windows(2)
        .filter(|pair| match (&pair[0], &pair[1]) {
            (Some(low), Some(high)) => !empty(low, high),
            _ => true,
        })
        .map(|pair| Class::Between(pair[0].clone(), pair[1].clone()))
        .collect()
}

/// Returns the least value that a function of this kind can return.
fn least(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::Call(Builtin::Len | Builtin::Abs, _)
        | Expr::Count { .. }
        | Expr::Quantifier {
            kind: Quantifier::Count,
            ..
        } => Some(Value::int(0)),
        _ => None,
    }
}

/// Returns the integer below a number.
fn below(value: Value) -> Value {
    match &value {
        Value::Number(Number::Int(int)) => Value::int(int.saturating_sub(1)),
        _ => value,
    }
}

/// Whether a constant can be a value of a type.
fn fits(value: &Value, ty: &Type) -> bool {
    match (ty.non_null(), value) {
        (_, Value::Null) => false,
        (Type::Json, _) => true,
        (Type::Bool, Value::Bool(_))
        | (Type::Float, Value::Number(_))
        | (Type::String, Value::String(_))
        | (Type::Time, Value::Time(_))
        | (Type::Duration, Value::Duration(_)) => true,
        (Type::Int, Value::Number(number)) => number.to_int().is_some(),
        (Type::Enum(of), Value::Enum(value)) => of.number == value.of,
        (Type::List(_), Value::List(_))
        | (Type::Set(_), Value::Set(_))
        | (Type::Map(_) | Type::Record(_), Value::Object(_)) => true,
        _ => false,
    }
}
