//! From classes of values to values: an event that gives conditions their required truth values.
//!
//! The search over-approximates, so the event is only a proposal: callers must evaluate the conditions on it.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smol_str::{SmolStr, format_smolstr};

use super::class::{Class, compare};
use super::search::Search;
use super::{Goal, Work, text};
use crate::hir::{Builtin, Compare, Expr, Spec};
use crate::ids::ExprId;
use crate::types::Type;
use crate::value::{Number, Object, Text, Value};

/// An event: the values of the relevant fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// By position among the fields of a step.
    pub fields: BTreeMap<usize, Value>,
    /// By position among the fields of the record.
    pub meta: BTreeMap<usize, Value>,
    /// By position: the values of quantified variables.
    pub vars: BTreeMap<usize, Value>,
}

/// The values that are fixed before an event is searched.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The values of quantified variables.
    pub vars: BTreeMap<usize, Value>,
    /// The values of fields of the record.
    pub meta: BTreeMap<usize, Value>,
}

/// Proposes an event that reaches the goals; `None` if there is none, or the work does not suffice.
pub fn event(spec: &Spec, goals: &[Goal], given: &Given, work: &mut Work) -> Option<Event> {
    let mut search = Search::new(spec, goals.iter().map(|(expr, _)| *expr), None, work);
    for (id, value) in fixed(spec, given) {
        search.tables.assigned.insert(id, Class::Value(value));
    }
    if !search.find(goals)? {
        return None;
    }
    let values = values(spec, &search);
    let mut event = Event {
        vars: given.vars.clone(),
        meta: given.meta.clone(),
        ..Event::default()
    };
    // Whole values first, then the parts that they are computed from.
    let mut terms: Vec<(&ExprId, &Value)> = values.iter().collect();
    terms.sort();
    for (id, value) in terms {
        event.set(spec, *id, value.clone());
    }
    Some(event)
}

/// Returns the expressions whose values are fixed.
fn fixed(spec: &Spec, given: &Given) -> Vec<(ExprId, Value)> {
    (0..spec.exprs.len())
        .map(ExprId::new)
        .filter_map(|id| {
            let value = match spec.exprs.get(id) {
                Expr::Var(var) => given.vars.get(var),
                Expr::Meta(field) => given.meta.get(field),
                _ => None,
            };
            Some((id, value?.clone()))
        })
        .collect()
}

/// Returns a value for every term of the assignment.
fn values(spec: &Spec, search: &Search<'_>) -> FxHashMap<ExprId, Value> {
    let mut values: FxHashMap<ExprId, Value> = FxHashMap::default();
    let mut open: Vec<ExprId> = Vec::new();
    for (id, class) in search.tables.assigned.iter() {
        match class {
            Class::Value(value) => {
                values.insert(id, value.clone());
            }
            _ => open.push(id),
        }
    }
    open.sort_unstable();
    // Terms that are assumed equal get one value.
    let mut equal: Vec<(ExprId, ExprId)> = search
        .tables
        .atoms
        .iter()
        .filter(|(_, holds)| **holds)
        .filter_map(|(id, _)| match spec.exprs.get(*id) {
            Expr::Compare(Compare::Eq, a, b) => Some((*a, *b)),
            _ => None,
        })
        .collect();
    equal.sort_unstable();
    for id in open {
        let other = equal.iter().find_map(|(a, b)| match (*a == id, *b == id) {
            (true, _) => values.get(b),
            (_, true) => values.get(a),
            _ => None,
        });
        let value = match other {
            Some(value) => Some(value.clone()),
            None => chosen(spec, search, id),
        };
        if let Some(value) = value {
            values.insert(id, value);
        }
    }
    values
}

/// Returns some value of the class of a term.
fn chosen(spec: &Spec, search: &Search<'_>, id: ExprId) -> Option<Value> {
    let class = search.tables.assigned.get(id)?;
    if let Class::Between(low, high) = class {
        return between(low.as_ref(), high.as_ref(), spec.exprs.ty(id));
    }
    let asked: Vec<(ExprId, bool)> = search
        .tables
        .atoms
        .iter()
        .filter(|(atom, _)| asks_of(spec, **atom, id))
        .map(|(atom, holds)| (*atom, *holds))
        .collect();
    let fresh = |n: usize| {
        format_smolstr!(
            "other{}",
            if n == 0 { String::new() } else { n.to_string() }
        )
    };
    match spec.exprs.ty(id).non_null() {
        Type::String | Type::Json => {
            let text = text::example(spec, &asked).or_else(|| {
                (0..9)
                    .map(fresh)
                    .find(|text| !search.compares(id, &Value::String(text.clone().into())))
            })?;
            Some(Value::String(text.into()))
        }
        Type::List(_) => Some(Value::list(Vec::new())),
        _ => None,
    }
}

/// Whether a condition is a question about the text of a term.
fn asks_of(spec: &Spec, atom: ExprId, term: ExprId) -> bool {
    match spec.exprs.get(atom) {
        Expr::Matches(text, _)
        | Expr::Contains(text, _)
        | Expr::StartsWith(text, _)
        | Expr::EndsWith(text, _) => reads_through(spec, *text, term),
        _ => false,
    }
}

/// Whether an expression may have the same value as a term.
fn reads_through(spec: &Spec, id: ExprId, term: ExprId) -> bool {
    id == term
        || match spec.exprs.get(id) {
            Expr::Coalesce(a, b) | Expr::If(_, a, b) => {
                reads_through(spec, *a, term) || reads_through(spec, *b, term)
            }
            _ => false,
        }
}

/// Returns a value strictly between two.
fn between(low: Option<&Value>, high: Option<&Value>, ty: &Type) -> Option<Value> {
    let number = |value: Option<&Value>| match value {
        Some(Value::Number(number)) => Some(number.to_f64()),
        _ => None,
    };
    let value = match (low, high) {
        (Some(Value::String(low)), _) => Value::String(format_smolstr!("{low}x").into()),
        (None, Some(Value::String(_))) => Value::String(Text::default()),
        _ => match (number(low), number(high)) {
            (Some(low), Some(high)) => {
                let whole = low.floor() + 1.0;
                if whole < high {
                    Value::int(whole as i128)
                } else {
                    Value::Number(Number::float((low + high) / 2.0)?)
                }
            }
            (Some(low), None) => Value::int(low.floor() as i128 + 1),
            (None, Some(high)) => Value::int(high.ceil() as i128 - 1),
            (None, None) if matches!(ty.non_null(), Type::Int | Type::Float | Type::Json) => {
                Value::int(0)
            }
            (None, None) => return None,
        },
    };
    let above = low.is_none_or(|low| compare(Compare::Lt, low, &value) == Some(true));
    let below = high.is_none_or(|high| compare(Compare::Lt, &value, high) == Some(true));
    (above && below).then_some(value)
}

impl Event {
    /// Sets the fields from which an expression is read, so that it has a value.
    fn set(&mut self, spec: &Spec, id: ExprId, value: Value) {
        match spec.exprs.get(id) {
            Expr::Field(field) => self.at_field(*field, value),
            Expr::Meta(field) => {
                self.meta.entry(*field).or_insert(value);
            }
            Expr::Var(var) => {
                self.vars.entry(*var).or_insert(value);
            }
            // An absent member is null too.
            Expr::Member(..) if value.is_null() => {}
            Expr::Member(base, name) => {
                if let Some((field, path)) = field_path(spec, *base) {
                    self.put(
                        field,
                        &[path.as_slice(), std::slice::from_ref(name)].concat(),
                        value,
                    );
                }
            }
            Expr::Cast(inner) => self.set(spec, *inner, value),
            Expr::Call(Builtin::Lower | Builtin::Upper | Builtin::Trim | Builtin::Text, args) => {
                if let Some(arg) = args.first() {
                    self.set(spec, *arg, value);
                }
            }
            _ => {}
        }
    }

    fn at_field(&mut self, field: usize, value: Value) {
        let before = self.fields.get(&field);
        // An object whose members were set is more specific than the new value.
        if !matches!(before, Some(Value::Object(_))) {
            self.fields.insert(field, value);
        }
    }

    fn put(&mut self, field: usize, path: &[SmolStr], value: Value) {
        let old = self.fields.remove(&field);
        self.fields.insert(field, with_member(old, path, value));
    }
}

/// Returns the field that an expression reads, with the path of members.
fn field_path(spec: &Spec, id: ExprId) -> Option<(usize, Vec<SmolStr>)> {
    match spec.exprs.get(id) {
        Expr::Field(field) => Some((*field, Vec::new())),
        Expr::Member(base, name) => {
            let (field, mut path) = field_path(spec, *base)?;
            path.push(name.clone());
            Some((field, path))
        }
        _ => None,
    }
}

/// Returns an object with a value at a path.
fn with_member(old: Option<Value>, path: &[SmolStr], value: Value) -> Value {
    let Some((first, rest)) = path.split_first() else {
        return value;
    };
    let mut members: Vec<(SmolStr, Value)> = match &old {
        Some(Value::Object(object)) => object
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        _ => Vec::new(),
    };
    let place = members.iter().position(|(name, _)| name == first);
    let inner = place.map(|place| members.remove(place).1);
    members.push((first.clone(), with_member(inner, rest, value)));
    members.sort_by(|a, b| a.0.cmp(&b.0));
    Object::new(members).map_or(Value::Null, Value::Object)
}
