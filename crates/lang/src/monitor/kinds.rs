//! Kinds of events that differ only slightly from a kind in the spec.
//!
//! A rule about `kind == "result"` does not match the kind `Result`, so a sender could hide an event from it. Such a kind is
//! therefore unknown: a rule that depends on it is undecided, and undecided rules deny.

use std::sync::Arc;

use smol_str::SmolStr;

use super::raw_object::folded;
use crate::hir::{Compare, Expr, Spec};
use crate::ids::ExprId;
use crate::input::record::Event;
use crate::input_schema::{FieldSource, Path};
use crate::problem::{Problem, ProblemKind};
use crate::value::{Cell, Value};

/// The field with the kind of an event, and the texts that the spec compares it with.
#[derive(Debug)]
pub(super) struct Kinds {
    field: usize,
    name: SmolStr,
    known: Vec<SmolStr>,
}

impl Kinds {
    /// Returns `None` if the events of the spec have no member `kind`, or no condition compares it with a text.
    pub(super) fn of(spec: &Spec) -> Option<Kinds> {
        let mut fields = spec.schema.fields.iter();
        let field = fields.position(|field| match &field.source {
            FieldSource::Event(Path::Pointer(tokens)) => tokens[..] == ["kind"],
            _ => false,
        })?;
        let text = |id: ExprId| match spec.exprs.get(id) {
            Expr::Const(Value::String(text)) => vec![text.clone()],
            Expr::Const(Value::List(values)) => values.iter().filter_map(string).collect(),
            _ => Vec::new(),
        };
        let is_kind = |id: ExprId| *spec.exprs.get(id) == Expr::Field(field);
        let mut known = Vec::new();
        for id in (0..spec.exprs.len()).map(ExprId::new) {
            match spec.exprs.get(id) {
                Expr::Compare(Compare::Eq, a, b) if is_kind(*a) => known.extend(text(*b)),
                Expr::Compare(Compare::Eq, a, b) if is_kind(*b) => known.extend(text(*a)),
                Expr::In(a, b) if is_kind(*a) => match spec.exprs.get(*b) {
                    Expr::List(items) | Expr::Set(items) => {
                        known.extend(items.iter().flat_map(|item| text(*item)));
                    }
                    _ => known.extend(text(*b)),
                },
                _ => {}
            }
        }
        let name = spec.schema.fields.get(field)?.name.clone();
        (!known.is_empty()).then_some(Kinds { field, name, known })
    }

    /// Makes kinds unknown that differ from one of the spec only in case or in surrounding white space.
    pub(super) fn check(&self, event: &mut Event) {
        for step in &mut event.steps {
            let Some(cell) = step.cells.get_mut(self.field) else {
                continue;
            };
            let Cell::Known(Value::String(found)) = &*cell else {
                continue;
            };
            let near = folded(found.trim());
            let mut meant = self.known.iter().filter(|known| folded(known) == near);
            let Some(first) = meant.next() else {
                continue;
            };
            if first == found || meant.any(|known| known == found) {
                continue;
            }
            event.problems.push(Problem {
                kind: ProblemKind::WrongType,
                file: Arc::clone(&event.origin.file),
                line: 0,
                trace: None,
                step: None,
                field: Some(self.name.clone()),
                message: format!("expected `{first}`, found `{found}`"),
            });
            *cell = Cell::Unknown;
        }
    }
}

fn string(value: &Value) -> Option<SmolStr> {
    match value {
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}
