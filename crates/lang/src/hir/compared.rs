//! The places in events that conditions compare with constants, and with what.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use super::reads::visit;
use super::{Compare, Expr, Spec};
use crate::ids::ExprId;
use crate::input_schema::{FieldSource, Path};
use crate::types::Type;
use crate::value::{Cell, JsonKind, Object, Value};

/// A value of a step: a field, or a member of one.
#[derive(Clone, Debug)]
pub struct Place {
    /// The position of the field in the schema.
    pub field: usize,
    /// The members on the way from the field.
    pub path: Box<[SmolStr]>,
    /// The place as it is written: `args.path`.
    pub written: String,
    /// The members of it that the spec reads.
    pub members: Vec<SmolStr>,
    /// The texts that it is compared with (`tool == "rm"`, `tool in {"rm", "mv"}`).
    pub texts: Vec<SmolStr>,
    /// The kinds of the constants that it is compared with, if it may be of any kind: a value of another kind is unequal to all of them.
    pub kinds: BTreeSet<JsonKind>,
    /// The constants of these kinds.
    pub constants: Vec<Value>,
}

impl Place {
    /// Returns the value of a step in this place; `None` if it is absent or unknown.
    pub fn value<'c>(&self, cells: &'c [Cell]) -> Option<&'c Value> {
        let Some(Cell::Known(value)) = cells.get(self.field) else {
            return None;
        };
        self.path.iter().try_fold(value, |value, name| match value {
            Value::Object(object) => object.get(name),
            _ => None,
        })
    }

    /// Puts another value in this place, if a step has one there.
    pub fn replace(&self, cells: &mut [Cell], with: &Value) {
        if let Some(Cell::Known(value)) = cells.get_mut(self.field) {
            *value = replaced(value, &self.path, with);
        }
    }
}

/// Returns a value with another one at a path, if it has the path.
fn replaced(value: &Value, path: &[SmolStr], with: &Value) -> Value {
    let (Some((name, rest)), Value::Object(object)) = (path.split_first(), value) else {
        return if path.is_empty() { with } else { value }.clone();
    };
    let members = object.iter().map(|(key, member)| {
        let member = match key == name {
            true => replaced(member, rest, with),
            false => member.clone(),
        };
        (key.clone(), member)
    });
    let made = Object::new(members.collect());
    made.map_or_else(|_| value.clone(), Value::Object)
}

/// Returns the places that these expressions, or what they consist of, compare with constants or read members of.
pub fn places(spec: &Spec, roots: impl IntoIterator<Item = ExprId>) -> Vec<Place> {
    let mut places: BTreeMap<(usize, Vec<SmolStr>), Place> = BTreeMap::new();
    visit(spec, roots, |id| {
        let (of, member, constants) = match spec.exprs.get(id) {
            Expr::Member(of, name) => (*of, Some(name.clone()), Vec::new()),
            Expr::Index(of, at) => match text_of(spec, *at) {
                Some(name) => (*of, Some(name), Vec::new()),
                None => return,
            },
            Expr::In(of, list) => (*of, None, elements(spec, *list)),
            Expr::Compare(Compare::Eq, one, other) => match constant(spec, *other) {
                Some(value) => (*one, None, vec![value]),
                None => (*other, None, constant(spec, *one).into_iter().collect()),
            },
            _ => return,
        };
        let Some((field, path)) = path(spec, of) else {
            return;
        };
        let place = places
            .entry((field, path))
            .or_insert_with_key(|(field, path)| Place::new(spec, *field, path));
        place.members.extend(member);
        place.texts.extend(constants.iter().filter_map(text));
        if is_of_any_kind(spec, of) {
            for constant in constants {
                if let Some(kind) = constant.json_kind() {
                    place.kinds.insert(kind);
                    place.constants.push(constant);
                }
            }
        }
    });
    let mut places: Vec<Place> = places.into_values().collect();
    for place in &mut places {
        for names in [&mut place.members, &mut place.texts] {
            names.sort_unstable();
            names.dedup();
        }
    }
    places
}

/// Returns the field whose values are read from this member of events.
pub fn field_of(spec: &Spec, member: &str) -> Option<usize> {
    let mut fields = spec.schema.fields.iter();
    fields.position(|field| match &field.source {
        FieldSource::Event(Path::Pointer(tokens)) => tokens[..] == [member],
        _ => false,
    })
}

impl Place {
    fn new(spec: &Spec, field: usize, path: &[SmolStr]) -> Place {
        let name = spec.schema.fields.get(field).map(|field| &field.name);
        let tokens = name.into_iter().chain(path);
        Place {
            field,
            path: path.into(),
            written: tokens.map(SmolStr::as_str).collect::<Vec<_>>().join("."),
            members: Vec::new(),
            texts: Vec::new(),
            kinds: BTreeSet::new(),
            constants: Vec::new(),
        }
    }
}

fn text(value: &Value) -> Option<SmolStr> {
    match value {
        Value::String(text) => Some(text.to_smol()),
        _ => None,
    }
}

fn text_of(spec: &Spec, id: ExprId) -> Option<SmolStr> {
    constant(spec, id).as_ref().and_then(text)
}

fn constant(spec: &Spec, id: ExprId) -> Option<Value> {
    match spec.exprs.get(id) {
        Expr::Const(value) => Some(value.clone()),
        Expr::List(_) | Expr::Set(_) => Some(Value::List(elements(spec, id).into())),
        _ => None,
    }
}

/// Returns the constant elements of a list or set that is written out.
fn elements(spec: &Spec, id: ExprId) -> Vec<Value> {
    match spec.exprs.get(id) {
        Expr::Const(Value::List(values)) => values.to_vec(),
        Expr::Const(Value::Set(values)) => values.iter().cloned().collect(),
        Expr::List(items) | Expr::Set(items) => {
            let items = items.iter();
            items.filter_map(|item| constant(spec, *item)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the field that an expression reads, and the members on the way.
fn path(spec: &Spec, id: ExprId) -> Option<(usize, Vec<SmolStr>)> {
    let (of, name) = match spec.exprs.get(id) {
        Expr::Field(field) => return Some((*field, Vec::new())),
        Expr::Cast(of) | Expr::Coalesce(of, _) => return path(spec, *of),
        Expr::Member(of, name) => (*of, name.clone()),
        Expr::Index(of, at) => (*of, text_of(spec, *at)?),
        _ => return None,
    };
    let (field, mut path) = path(spec, of)?;
    path.push(name);
    Some((field, path))
}

/// Whether the value of a place may be of any kind without being unknown: of type `json`, with no cast but `as T?`.
fn is_of_any_kind(spec: &Spec, id: ExprId) -> bool {
    match spec.exprs.get(id) {
        Expr::Cast(of) => spec.exprs.ty(id).may_be_null() && is_of_any_kind(spec, *of),
        Expr::Coalesce(of, _) => is_of_any_kind(spec, *of),
        _ => *spec.exprs.ty(id).non_null() == Type::Json,
    }
}
