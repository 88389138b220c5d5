//! Narrowing: where a condition that holds says that a value is not null, the value has its type without `?`.
//!
//! A fact is an expression that is not null at the step that is spoken of. Facts are made by conditions as they are
//! elaborated, from the left: `a and b` elaborates `b` where `a` holds, `a or b` where it does not, `a -> b` where it does,
//! `if` and `cases` likewise. An operand of a temporal operator, of `before` and of `count` is about other steps, and so
//! are definitions, which are checked by themselves: facts about what events and tracks hold are dropped there. In `φ where c`
//! the facts of `c` hold at all steps that φ is about, so temporal operators of φ keep them; `before`, `count` and past
//! operators within values see the other steps too.
//!
//! # Soundness
//! A fact is only taken from a condition that is definitely false if the value is null, whatever else is unknown. So where a
//! narrowed value is null after all, the connective is decided without it; a letter of its own is still evaluated, and then
//! arithmetic on null is null and no data error.

use super::Checker;
use crate::hir::{Compare, Expr, Formula, reads};
use crate::ids::{ExprId, FormulaId};
use crate::types::Type;
use crate::value::Value;

impl Checker<'_> {
    /// Returns the type of an expression at this place.
    pub(super) fn narrowed(&self, id: ExprId, ty: Type) -> Type {
        match ty {
            Type::Nullable(inner) if self.facts.contains(&id) => inner.as_ref().clone(),
            ty => ty,
        }
    }

    /// Runs and forgets the facts that were noted meanwhile.
    pub(super) fn scoped<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.facts.len();
        let result = run(self);
        self.facts.truncate(before);
        result
    }

    /// Runs for a formula about the steps at which a condition holds.
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

    /// Runs for an operand of a temporal operator, which is about other steps than this one: what is the same at each of them
    /// is kept, and what holds at all steps that the formula is about.
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

    /// Runs for an operand that is about all steps of the trace, also those that `φ where c` drops.
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

    /// Runs for a definition, which means the same wherever it is used.
    pub(super) fn by_itself<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::take(&mut self.facts);
        let result = run(self);
        self.facts = outer;
        result
    }

    /// Notes what is not null if a condition has this truth.
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

    /// Notes the facts that a formula implies at the step where it is evaluated.
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
