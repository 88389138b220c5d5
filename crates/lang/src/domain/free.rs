//! Conditions that can be true and false by their form alone.
//!
//! Most conditions that people write compare each field once, with a text: no search is needed to see that such a condition can
//! be either way, whatever other fields are. What is not recognised here is searched.

use super::question::{is_term, items};
use super::table::Table;
use super::{Goal, Work};
use crate::hir::{Compare, Expr, Quantifier, Spec};
use crate::ids::ExprId;
use crate::types::Type;
use crate::value::Value;

/// Whether every one of these conditions can be true and false independently of the others, as a search would find.
pub(super) fn all(spec: &Spec, goals: &[Goal], work: &mut Work) -> bool {
    let mut reads = Reads {
        spec,
        met: std::mem::take(&mut work.met),
        left: work.each.min(work.left),
    };
    let before = reads.left;
    let free = goals.iter().all(|(expr, _)| reads.is_free(*expr));
    work.left -= before - reads.left;
    reads.met.clear();
    work.met = reads.met;
    free
}

/// The terms that were met so far: one that is met again decides more than one comparison.
struct Reads<'s> {
    spec: &'s Spec,
    met: Table<()>,
    left: u64,
}

impl Reads<'_> {
    fn is_free(&mut self, id: ExprId) -> bool {
        let Some(left) = self.left.checked_sub(1) else {
            return false;
        };
        self.left = left;
        match self.spec.exprs.get(id) {
            Expr::Not(a) => self.is_free(*a),
            Expr::And(a, b) | Expr::Or(a, b) | Expr::Implies(a, b) | Expr::Iff(a, b) => {
                self.is_free(*a) && self.is_free(*b)
            }
            Expr::Compare(Compare::Eq, a, b) => match (self.text(*a), self.text(*b)) {
                (false, true) => self.is_new_text(*a),
                (true, false) => self.is_new_text(*b),
                _ => false,
            },
            Expr::In(x, list) => {
                let items = items(self.spec.exprs.get(*list)).unwrap_or_default();
                let texts = items.iter().all(|item| matches!(item, Value::String(_)));
                !items.is_empty() && texts && self.is_new_text(*x)
            }
            // Over one list, what some element has is not independent of what all have.
            Expr::Quantifier {
                kind: Quantifier::Any | Quantifier::All,
                over,
                body,
                ..
            } => self.met.insert(*over, ()) && self.is_free(*body),
            expr => is_term(expr) && self.has_type(id, &[Type::Bool]) && self.met.insert(id, ()),
        }
    }

    /// Whether this is a constant text.
    fn text(&self, id: ExprId) -> bool {
        matches!(self.spec.exprs.get(id), Expr::Const(Value::String(_)))
    }

    /// Whether this is a term, met for the first time, that can have any text as its value.
    fn is_new_text(&mut self, id: ExprId) -> bool {
        is_term(self.spec.exprs.get(id))
            && self.has_type(id, &[Type::String, Type::Json])
            && self.met.insert(id, ())
    }

    fn has_type(&self, id: ExprId, types: &[Type]) -> bool {
        types.contains(self.spec.exprs.ty(id).non_null())
    }
}
