//! Narrowing: if a condition that holds implies that a value is not null, the value has its type without `?`.
//!
//! A fact is an expression that is not null at the current step. Conditions produce facts as they are elaborated, from the
//! left: in `a and b` and in `a -> b`, `b` is elaborated with the facts of `a`; in `a or b` with those of its negation; `if`
//! and `cases` likewise. Operands of temporal operators, of `before` and of `count` are about other steps, and definitions are
//! checked on their own: facts about events and tracks are dropped there. In `φ where c` the facts of `c` hold at all steps
//! that φ is about, so temporal operators of φ keep them; `before`, `count` and past operators within values see the other
//! steps too.
//!
//! # Soundness
//! A fact is only derived from a condition that is definitely false if the value is null, for all other unknown values. So if a
//! narrowed value is null after all, the connective is decided without it. If the value is in a separate letter, that letter is
//! still evaluated; arithmetic on null then gives null and is not a data error.

use super::Checker;
use crate::hir::{Compare, Expr, Formula, reads};
use crate::ids::{ExprId, FormulaId};
use crate::types::Type;
use crate::value::Value;

impl Checker<'_> {
    /// Returns the narrowed type of an expression at this place.
    pub(super) fn narrowed(&self, id: ExprId, ty: Type) -> Type {
        match ty {
            Type::Nullable(inner) if self.facts.contains(&id) => inner.as_ref().clone(),
            ty => ty,
        }
    }

    /// Runs `run` and drops the facts that it added.
    pub(super) fn scoped<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.facts.len();
        let result = run(self);
        self.facts.truncate(before);
        result
    }

    /// Runs `run` for a formula about the steps at which a condition holds.
    pub(super) fn wherever<T>(
        &mut self,
        condition: FormulaId,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.scoped(|checker| {
            checker.note_formula(condition, true);
            checker.facts_everywhere = checker.facts.clone();
            let result = run(checker);
            checker.facts_everywhere.clear();
            result
        })
    }

    /// Runs `run` for an operand of a temporal operator, which is about other steps. Keeps the facts about values that are the
    /// same at every step, and those that hold at all steps that the formula is about.
    pub(super) fn at_other_steps<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let everywhere = std::mem::take(&mut self.facts_everywhere);
        let kept = |checker: &Self, id| everywhere.contains(&id) || checker.is_rigid(id);
        let kept = self.facts.iter().filter(|id| kept(self, **id));
        let kept = kept.copied().collect();
        let outer = std::mem::replace(&mut self.facts, kept);
        self.facts_everywhere = everywhere;
        let result = run(self);
        self.facts = outer;
        result
    }

    /// Runs `run` for an operand that is about all steps of the trace, including those that `φ where c` drops.
    pub(super) fn at_any_step<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let everywhere = std::mem::take(&mut self.facts_everywhere);
        let result = self.at_other_steps(run);
        self.facts_everywhere = everywhere;
        result
    }

    /// Whether an expression has one value at all steps of a trace.
    fn is_rigid(&self, id: ExprId) -> bool {
        let read = reads::reads(&self.spec, [id]);
        read.fields.is_empty() && read.tracks.is_empty() && !read.history
    }

    /// Runs `run` for a definition, whose meaning does not depend on its use.
    pub(super) fn by_itself<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::take(&mut self.facts);
        let result = run(self);
        self.facts = outer;
        result
    }

    /// Adds the facts that follow if a condition has this truth value.
    pub(super) fn note(&mut self, condition: ExprId, truth: bool) {
        let exprs = &self.spec.exprs;
        let never_null = |id: ExprId| !exprs.ty(id).may_be_null();
        let is_null = |id: ExprId| matches!(exprs.get(id), Expr::Const(Value::Null));
        let mut found = Vec::new();
        match (exprs.get(condition), truth) {
            (Expr::Not(a), _) => return self.note(*a, !truth),
            (Expr::And(a, b), true) | (Expr::Or(a, b), false) => {
                let (a, b) = (*a, *b);
                self.note(a, truth);
                return self.note(b, truth);
            }
            (Expr::Implies(a, b), false) => {
                let (a, b) = (*a, *b);
                self.note(a, true);
                return self.note(b, false);
            }
            (Expr::Compare(Compare::Eq, a, b), false) => {
                found.extend(is_null(*b).then_some(*a));
                found.extend(is_null(*a).then_some(*b));
            }
            (Expr::Compare(Compare::Eq, a, b), true) => {
                found.extend(never_null(*b).then_some(*a));
                found.extend(never_null(*a).then_some(*b));
            }
            (Expr::Compare(_, a, b) | Expr::StartsWith(a, b) | Expr::EndsWith(a, b), true) => {
                found.extend([*a, *b]);
            }
            (Expr::Matches(a, _) | Expr::Contains(a, _), true) => found.push(*a),
            (Expr::In(a, list), true) => {
                if let Type::List(item) | Type::Set(item) = exprs.ty(*list).non_null()
                    && !item.may_be_null()
                {
                    found.push(*a);
                }
            }
            _ => {}
        }
        found.retain(|id| !never_null(*id) && !self.facts.contains(id));
        self.facts.extend(found);
    }

    /// Adds the facts that a formula implies at the step at which it is evaluated.
    pub(super) fn note_formula(&mut self, formula: FormulaId, truth: bool) {
        let formulas = &self.spec.formulas;
        match (formulas.get(formula), truth) {
            (Formula::Atom(letter), _) => self.note(formulas.atom(*letter).expr, truth),
            (Formula::Not(a), _) => self.note_formula(*a, !truth),
            (Formula::And(a, b), true) | (Formula::Or(a, b), false) => {
                let (a, b) = (*a, *b);
                self.note_formula(a, truth);
                self.note_formula(b, truth);
            }
            (Formula::Implies(a, b), false) => {
                let (a, b) = (*a, *b);
                self.note_formula(a, true);
                self.note_formula(b, false);
            }
            _ => {}
        }
    }
}
