//! Triggers: the condition without which a property is vacuously true.

use super::Checker;
use crate::hir::{Binary, Expr, Formula, PastOp, Unary};
use crate::ids::{ExprId, FormulaId};
use crate::source::Span;
use crate::types::Type;
use crate::value::Value;

impl Checker<'_> {
    /// Returns the condition without which a formula holds vacuously: that of `G (a -> …)` and similar forms.
    pub(super) fn trigger(&mut self, formula: FormulaId) -> Option<ExprId> {
        match self.spec.formulas.get(formula).clone() {
            Formula::Unary(Unary::Always, _, body) => match self.spec.formulas.get(body).clone() {
                Formula::Implies(condition, rest) => {
                    let condition = self.state_part(condition);
                    // `G (a -> (b -> φ))` requires both.
                    let inner = match self.spec.formulas.get(rest).clone() {
                        Formula::Implies(condition, _) => self.state_part(condition),
                        _ => None,
                    };
                    self.both(condition, inner)
                }
                Formula::Not(operand) => self.trigger_of_never(operand),
                Formula::Unary(Unary::Always, ..) => self.trigger(body),
                _ => None,
            },
            Formula::Not(operand) => match self.spec.formulas.get(operand).clone() {
                Formula::Unary(Unary::Eventually, _, body) => self.trigger_of_never(body),
                _ => None,
            },
            Formula::Binary(Binary::Unless, _, left, _) => {
                match self.spec.formulas.get(left).clone() {
                    Formula::Not(operand) => self.state_part(operand),
                    _ => None,
                }
            }
            Formula::Implies(condition, rest) => {
                let condition = self.state_part(condition);
                let inner = self.trigger(rest);
                self.both(condition, inner)
            }
            _ => None,
        }
    }

    /// Returns the trigger of a formula that never holds.
    fn trigger_of_never(&mut self, formula: FormulaId) -> Option<ExprId> {
        match self.spec.formulas.get(formula) {
            Formula::And(..) if !self.is_timeless(formula) => self.timeless_part(formula),
            _ => None,
        }
    }

    fn both(&mut self, lhs: Option<ExprId>, rhs: Option<ExprId>) -> Option<ExprId> {
        match (lhs, rhs) {
            (Some(lhs), Some(rhs)) => Some(
                self.add(Expr::And(lhs, rhs), Type::Bool, Span::default())
                    .id,
            ),
            (one, other) => one.or(other),
        }
    }

    /// Whether a formula has no temporal operator.
    pub(super) fn is_timeless(&self, formula: FormulaId) -> bool {
        let temporal = matches!(
            self.spec.formulas.get(formula),
            Formula::Last | Formula::Unary(..) | Formula::Binary(..)
        );
        !temporal
            && self
                .spec
                .formulas
                .operands(formula)
                .into_iter()
                .all(|operand| self.is_timeless(operand))
    }

    /// Returns the conjuncts without temporal operators, as one condition.
    fn timeless_part(&mut self, formula: FormulaId) -> Option<ExprId> {
        if self.is_timeless(formula) {
            return Some(self.state_expr(formula));
        }
        match self.spec.formulas.get(formula).clone() {
            Formula::And(lhs, rhs) => {
                let lhs = self.timeless_part(lhs);
                let rhs = self.timeless_part(rhs);
                self.both(lhs, rhs)
            }
            _ => None,
        }
    }

    /// Whether a formula is about the current step and earlier ones only.
    pub(super) fn is_state(&self, formula: FormulaId) -> bool {
        let past = match self.spec.formulas.get(formula) {
            Formula::Last => false,
            Formula::Unary(op, ..) => past_of_unary(*op).is_some(),
            Formula::Binary(op, ..) => past_of_binary(*op).is_some(),
            _ => true,
        };
        past && self
            .spec
            .formulas
            .operands(formula)
            .into_iter()
            .all(|operand| self.is_state(operand))
    }

    /// Returns the conjuncts of a formula that are about the current step and earlier ones only, as one condition.
    fn state_part(&mut self, formula: FormulaId) -> Option<ExprId> {
        if self.is_state(formula) {
            return Some(self.state_expr(formula));
        }
        match self.spec.formulas.get(formula).clone() {
            Formula::And(lhs, rhs) => {
                let lhs = self.state_part(lhs);
                let rhs = self.state_part(rhs);
                self.both(lhs, rhs)
            }
            _ => None,
        }
    }

    /// Returns a formula without future operators as an expression.
    pub(super) fn state_expr(&mut self, formula: FormulaId) -> ExprId {
        let expr = match self.spec.formulas.get(formula).clone() {
            Formula::Atom(atom) => return self.spec.formulas.atom(atom).expr,
            Formula::False => Expr::Const(Value::Bool(false)),
            Formula::Not(a) => Expr::Not(self.state_expr(a)),
            Formula::And(a, b) => Expr::And(self.state_expr(a), self.state_expr(b)),
            Formula::Or(a, b) => Expr::Or(self.state_expr(a), self.state_expr(b)),
            Formula::Implies(a, b) => Expr::Implies(self.state_expr(a), self.state_expr(b)),
            Formula::Iff(a, b) => Expr::Iff(self.state_expr(a), self.state_expr(b)),
            Formula::Unary(op, bound, a) => match past_of_unary(op) {
                Some(op) => Expr::Past(op, bound, self.state_expr(a), None),
                None => Expr::Const(Value::Bool(true)),
            },
            Formula::Binary(op, bound, a, b) => match past_of_binary(op) {
                Some(op) => Expr::Past(op, bound, self.state_expr(a), Some(self.state_expr(b))),
                None => Expr::Const(Value::Bool(true)),
            },
            Formula::True | Formula::Last => Expr::Const(Value::Bool(true)),
        };
        self.add(expr, Type::Bool, Span::default()).id
    }
}

fn past_of_unary(op: Unary) -> Option<PastOp> {
    match op {
        Unary::Previously => Some(PastOp::Previously),
        Unary::WeakPreviously => Some(PastOp::WeakPreviously),
        Unary::Once => Some(PastOp::Once),
        Unary::Historically => Some(PastOp::Historically),
        _ => None,
    }
}

fn past_of_binary(op: Binary) -> Option<PastOp> {
    match op {
        Binary::Since => Some(PastOp::Since),
        Binary::BackTo => Some(PastOp::BackTo),
        _ => None,
    }
}
