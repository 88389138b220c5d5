//! Quantified names with a range: `forall k in e`.
//!
//! Such a name has the type of the values of `e`, and conditions may relate it to values of the step in any way:
//! `path starts_with k`, `n <= k`. The evaluator keeps the state of each value from its first occurrence, not the earlier
//! steps. So a condition that relates `k` otherwise than by equality is false until `e` has had the value, and unknown as long
//! as that is unknown. It is rewritten to `once (k in e) <-> (once (k in e) -> condition)`.

use super::{Checker, Typed};
use crate::hir::{Compare, Expr, PastOp};
use crate::ids::ExprId;
use crate::source::Span;
use crate::types::Type;

/// Returns the type of the elements of a range of this type.
pub(super) fn element(ty: &Type) -> Type {
    match ty.non_null() {
        Type::List(item) | Type::Set(item) => item.non_null().clone(),
        other => other.clone(),
    }
}

impl Checker<'_> {
    /// Whether an expression is a name without a type, which can only be compared for equality.
    pub(super) fn is_identity(&self, typed: &Typed) -> bool {
        match self.spec.exprs.get(typed.id) {
            Expr::Param(_) => true,
            Expr::Var(var) => !self.ranges.contains_key(var) || typed.ty == Type::Json,
            _ => false,
        }
    }

    /// Rewrites a condition so that parts that relate names with a range, other than by equality, hold only after the name has
    /// been in its range.
    pub(super) fn once_in_range(&mut self, id: ExprId) -> ExprId {
        if self.ranges.is_empty() {
            return id;
        }
        let ty = self.spec.exprs.ty(id).clone();
        let operands = self.spec.exprs.operands(id);
        let mut made: Vec<ExprId> = operands.iter().map(|of| self.once_in_range(*of)).collect();
        let mut id = id;
        if made != operands {
            made.reverse();
            let node = self
                .spec
                .exprs
                .with_operands(id, |of| made.pop().unwrap_or(of));
            id = self.add(node, ty.clone(), Span::default()).id;
        }
        if ty != Type::Bool {
            return id;
        }
        let mut related: Vec<usize> = Vec::new();
        self.related(id, &mut related);
        related.sort_unstable();
        related.dedup();
        for var in related {
            if let Some(range) = self.ranges.get(&var).copied() {
                let was = self.has_been_in(var, range);
                let related = self.bool_node(Expr::Implies(was, id));
                id = self.bool_node(Expr::Iff(was, related));
            }
        }
        id
    }

    fn bool_node(&mut self, node: Expr) -> ExprId {
        self.add(node, Type::Bool, Span::default()).id
    }

    /// Returns `once (k in e)`, or `once (k == e)` if `e` is a single value.
    fn has_been_in(&mut self, var: usize, range: ExprId) -> ExprId {
        let ty = self.spec.exprs.ty(range).clone();
        let name = self.add(Expr::Var(var), element(&ty), Span::default()).id;
        let is = match ty.non_null() {
            Type::List(_) | Type::Set(_) => {
                let mut range = range;
                if ty.may_be_null() {
                    let node = match ty.non_null() {
                        Type::Set(_) => Expr::Set(Box::default()),
                        _ => Expr::List(Box::default()),
                    };
                    let none = self.add(node, ty.non_null().clone(), Span::default()).id;
                    let node = Expr::Coalesce(range, none);
                    range = self.add(node, ty.non_null().clone(), Span::default()).id;
                }
                self.bool_node(Expr::In(name, range))
            }
            _ => self.bool_node(Expr::Compare(Compare::Eq, range, name)),
        };
        self.bool_node(Expr::Past(PastOp::Once, None, is, None))
    }

    /// Adds the variables that a condition relates to values other than by equality. Conditions inside it were already
    /// rewritten, except those on the elements of a list.
    fn related(&self, id: ExprId, into: &mut Vec<usize>) {
        let exprs = &self.spec.exprs;
        let var = |id: ExprId| match exprs.get(id) {
            Expr::Var(var) => Some(*var),
            _ => None,
        };
        let identity = match exprs.get(id) {
            Expr::Compare(Compare::Eq, ..) | Expr::Track(..) | Expr::In(..) => true,
            Expr::Contains(of, _) => !matches!(exprs.ty(*of).non_null(), Type::String),
            _ => false,
        };
        for operand in exprs.operands(id) {
            match var(operand) {
                Some(var) if !identity => into.push(var),
                Some(_) => {}
                None if *exprs.ty(operand) != Type::Bool => self.related(operand, into),
                None => {}
            }
        }
    }
}
