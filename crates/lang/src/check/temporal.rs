//! The expressions that are formulas: those with a temporal operator outside of values.

use super::Checker;
use super::scope::{Binding, Scope};
use crate::syntax::ast::{self, BinaryOp, ExprKind};

/// The greatest depth of nested definitions; deeper ones are reported elsewhere.
const DEPTH: usize = 128;

impl<'a> Checker<'a> {
    /// Whether an expression is a formula rather than a condition on the step. Operands of a comparison, `count` or another
    /// value do not count: past operators are values there.
    pub(super) fn is_temporal(&self, scope: &Scope<'a>, expr: &ast::Expr) -> bool {
        self.temporal_within(scope, expr, DEPTH)
    }

    fn temporal_within(&self, scope: &Scope<'a>, expr: &ast::Expr, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        // Only the nesting of definitions counts; the parser limits the depth of the tree itself.
        let any = |exprs: &[&ast::Expr]| {
            exprs
                .iter()
                .any(|expr| self.temporal_within(scope, expr, depth + 1))
        };
        match &expr.kind {
            ExprKind::Temporal { .. }
            | ExprKind::TemporalInfix { .. }
            | ExprKind::LeadsTo { .. }
            | ExprKind::Precedes { .. }
            | ExprKind::Instances { .. } => true,
            // At states this is a condition on the state, even though it quantifies over paths.
            ExprKind::Ctl { .. }
            | ExprKind::Path { .. }
            | ExprKind::Probability { .. }
            | ExprKind::SteadyState { .. }
            | ExprKind::Reward { .. } => !self.place.is_states(),
            ExprKind::Unary {
                op: ast::UnaryOp::Not,
                operand,
                ..
            } => any(&[operand]),
            ExprKind::Chain { operands, .. } => operands.iter().any(|operand| any(&[operand])),
            ExprKind::Binary {
                op: BinaryOp::Implies | BinaryOp::Iff,
                lhs,
                rhs,
                ..
            } => any(&[lhs, rhs]),
            ExprKind::If {
                condition,
                then,
                otherwise,
            } => any(&[condition, then, otherwise]),
            ExprKind::Cases(arms) => arms
                .iter()
                .any(|arm| arm.condition.as_ref().is_some_and(|c| any(&[c])) || any(&[&arm.value])),
            ExprKind::Name(name) => match self.binding(scope, name) {
                Some(Binding::Condition(argument)) => {
                    self.temporal_within(&argument.scope, argument.expr, depth)
                }
                Some(_) => false,
                None => match self.item_of(scope, expr) {
                    Some(item) => self.item_is_temporal(item, depth),
                    None => {
                        name.as_str() == "last"
                            && !self
                                .spec
                                .schema
                                .fields
                                .iter()
                                .any(|field| field.name == name.text)
                    }
                },
            },
            ExprKind::Member { .. } => match self.item_of(scope, expr) {
                Some(item) => self.item_is_temporal(item, depth),
                None => false,
            },
            ExprKind::Call { callee, .. } => {
                if let ExprKind::Name(name) = &callee.kind
                    && let Some(Binding::Predicate(expr, inner)) = self.binding(scope, name)
                {
                    return self
                        .item_of(inner, expr)
                        .is_some_and(|item| self.item_is_temporal(item, depth));
                }
                self.item_of(scope, callee)
                    .is_some_and(|item| self.item_is_temporal(item, depth))
            }
            _ => false,
        }
    }

    fn item_is_temporal(&self, item: super::names::ItemRef, depth: usize) -> bool {
        let key = (item, self.place.is_states());
        if let Some(known) = self.temporal.borrow().get(&key) {
            return *known;
        }
        let scope = Scope::module(item.module);
        let temporal = match &self.names.item(item).kind {
            ast::ItemKind::Predicate(def) => self.temporal_within(&scope, &def.value, depth),
            ast::ItemKind::Let(def) => self.temporal_within(&scope, &def.value, depth),
            ast::ItemKind::Unsafe(def) => self.temporal_within(&scope, &def.value, depth),
            ast::ItemKind::Template(_) => true,
            _ => false,
        };
        self.temporal.borrow_mut().insert(key, temporal);
        temporal
    }
}
