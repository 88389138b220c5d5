//! `φ where c`: φ evaluated on the steps at which `c` holds, as if the trace had no other steps.
//!
//! The formula is rewritten so that each temporal operator skips the other steps. The result is an ordinary formula, which
//! every engine supports, and positions are those of the whole trace.

use rustc_hash::FxHashMap;

use super::Checker;
use super::scope::Scope;
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{Binary, Bound, Formula, Formulas, Unary};
use crate::ids::FormulaId;
use crate::syntax::ast;

/// The rewriting of a formula.
struct Kept<'f> {
    formulas: &'f mut Formulas,
    /// The formula that holds at the steps that are kept.
    kept: FormulaId,
    /// Cached results for formulas at a kept step.
    made: FxHashMap<FormulaId, FormulaId>,
    /// Cached results for formulas at the start of the trace.
    first: FxHashMap<FormulaId, FormulaId>,
    /// The greatest bound in steps.
    steps: u32,
}

impl<'a> Checker<'a> {
    /// Returns a formula about the steps at which the condition holds; the formula itself if there is no condition. Facts that
    /// the condition implies are available where the formula is about such a step.
    pub(super) fn where_kept<T>(
        &mut self,
        scope: &Scope<'a>,
        condition: Option<&'a ast::Expr>,
        formula: impl FnOnce(&mut Self) -> Option<T>,
        of: impl FnOnce(&mut T) -> &mut FormulaId,
    ) -> Option<T> {
        let Some(condition) = condition else {
            return formula(self);
        };
        let kept = self.formula(scope, condition);
        let mut made = self.wherever(kept, formula)?;
        let formula = of(&mut made);
        *formula = self.about_kept(*formula, kept, condition);
        Some(made)
    }

    fn about_kept(
        &mut self,
        formula: FormulaId,
        kept: FormulaId,
        condition: &ast::Expr,
    ) -> FormulaId {
        if !self.is_state(kept) {
            self.report(
                Diagnostic::new(
                    Code::G0310,
                    condition.span,
                    "`where` cannot depend on later steps",
                )
                .label("reads the future")
                .note(
                    "a step is kept or dropped when it happens: use conditions and past operators",
                ),
            );
            return formula;
        }
        let mut rewriting = Kept {
            formulas: &mut self.spec.formulas,
            kept,
            made: FxHashMap::default(),
            first: FxHashMap::default(),
            steps: 0,
        };
        let made = rewriting.at_the_start(formula);
        if rewriting.steps > self.limits.kept_steps {
            let steps = rewriting.steps;
            self.report(
                Diagnostic::new(
                    Code::G0314,
                    condition.span,
                    format!("a bound of {steps} steps is too large for `where`"),
                )
                .label(format!("at most {} steps", self.limits.kept_steps))
                .note("limit: `check.kept_steps`; `where` in the `trace` block has none"),
            );
            return formula;
        }
        made
    }
}

impl Kept<'_> {
    fn unary(&mut self, op: Unary, bound: Option<Bound>, operand: FormulaId) -> FormulaId {
        self.formulas.add(Formula::Unary(op, bound, operand))
    }

    fn not(&mut self, operand: FormulaId) -> FormulaId {
        self.formulas.add(Formula::Not(operand))
    }

    /// Returns the formula "the step is kept, and `formula` holds".
    fn and(&mut self, formula: FormulaId) -> FormulaId {
        self.formulas.add(Formula::And(self.kept, formula))
    }

    /// Returns the formula "if the step is kept, `formula` holds". Triggers stay in the position where lints and
    /// reports expect them.
    fn if_kept(&mut self, formula: FormulaId) -> FormulaId {
        match *self.formulas.get(formula) {
            Formula::Implies(condition, rest) => {
                let condition = self.and(condition);
                self.formulas.add(Formula::Implies(condition, rest))
            }
            Formula::Not(operand) => {
                let operand = self.and(operand);
                self.not(operand)
            }
            _ => self.formulas.add(Formula::Implies(self.kept, formula)),
        }
    }

    /// Returns the formula "`formula` holds at the next kept step" (with `ahead`), or at the previous one. There must be such a
    /// step, unless `weak`.
    fn beside(&mut self, ahead: bool, weak: bool, formula: FormulaId) -> FormulaId {
        let skipped = self.not(self.kept);
        let there = self.and(formula);
        let (step, until) = match (ahead, weak) {
            (true, false) => (Unary::Next, Binary::Until),
            (true, true) => (Unary::WeakNext, Binary::Unless),
            (false, false) => (Unary::Previously, Binary::Since),
            (false, true) => (Unary::WeakPreviously, Binary::BackTo),
        };
        let found = Formula::Binary(until, None, skipped, there);
        let found = self.formulas.add(found);
        self.unary(step, None, found)
    }

    /// Rewrites a formula for the first step that is kept; if there is none, its value on the empty trace.
    fn at_the_start(&mut self, id: FormulaId) -> FormulaId {
        if let Some(known) = self.first.get(&id) {
            return *known;
        }
        let made = match *self.formulas.get(id) {
            Formula::True | Formula::False => id,
            Formula::Not(_)
            | Formula::And(..)
            | Formula::Or(..)
            | Formula::Implies(..)
            | Formula::Iff(..) => {
                let operands = self.formulas.operands(id);
                let made: Vec<FormulaId> = operands
                    .into_iter()
                    .map(|operand| self.at_the_start(operand))
                    .collect();
                self.formulas.with_operands(id, &made)
            }
            _ if self.searches(id) => self.at_kept(id),
            Formula::Atom(_) | Formula::Last | Formula::Unary(..) | Formula::Binary(..) => {
                let formula = self.formulas.get(id);
                // `last` is `not next true`, which needs no further step.
                let empty = matches!(formula, Formula::Last)
                    || formula.operator().is_some_and(|op| op.is_weak);
                let formula = self.at_kept(id);
                let skipped = self.not(self.kept);
                let there = self.and(formula);
                let op = if empty { Binary::Unless } else { Binary::Until };
                self.formulas.add(Formula::Binary(op, None, skipped, there))
            }
        };
        self.first.insert(id, made);
        made
    }

    /// Whether a formula at kept steps looks for the first one itself.
    fn searches(&self, id: FormulaId) -> bool {
        let formula = self.formulas.get(id);
        match formula {
            Formula::Unary(Unary::Next | Unary::WeakNext, ..) => false,
            Formula::Unary(_, None, _) | Formula::Binary(_, None, ..) => {
                formula.operator().is_some_and(|op| !op.is_past)
            }
            _ => false,
        }
    }

    /// Rewrites a formula for a step that is kept.
    fn at_kept(&mut self, id: FormulaId) -> FormulaId {
        if let Some(known) = self.made.get(&id) {
            return *known;
        }
        let operands = self.formulas.operands(id);
        let operands: Vec<FormulaId> = operands
            .into_iter()
            .map(|operand| self.at_kept(operand))
            .collect();
        let made = match (self.formulas.get(id).clone(), operands.as_slice()) {
            (Formula::Last, _) => {
                let anything = self.formulas.constant(true);
                let more = self.beside(true, false, anything);
                self.not(more)
            }
            (Formula::Unary(op, bound, _), [a]) => self.unary_at_kept(op, bound, *a),
            (Formula::Binary(op, bound, ..), [a, b]) => self.binary_at_kept(op, bound, *a, *b),
            _ => self.formulas.with_operands(id, &operands),
        };
        self.made.insert(id, made);
        made
    }

    fn unary_at_kept(&mut self, op: Unary, bound: Option<Bound>, a: FormulaId) -> FormulaId {
        let ahead = !op.info().is_past;
        let somewhere = op.info().throughout == [false];
        match (op, bound) {
            (Unary::Next | Unary::Previously, _) => self.beside(ahead, false, a),
            (Unary::WeakNext | Unary::WeakPreviously, _) => self.beside(ahead, true, a),
            (_, None | Some(Bound::Time(..))) => {
                let a = if somewhere {
                    self.and(a)
                } else {
                    self.if_kept(a)
                };
                self.unary(op, bound, a)
            }
            (_, Some(Bound::Steps(low, high))) => {
                let mut made = a;
                for step in (0..self.counted(high)).rev() {
                    made = self.beside(ahead, !somewhere, made);
                    if step >= low {
                        made = self.formulas.add(if somewhere {
                            Formula::Or(a, made)
                        } else {
                            Formula::And(a, made)
                        });
                    }
                }
                made
            }
        }
    }

    fn binary_at_kept(
        &mut self,
        op: Binary,
        bound: Option<Bound>,
        a: FormulaId,
        b: FormulaId,
    ) -> FormulaId {
        if let Some(Bound::Steps(low, high)) = bound {
            let mut made = b;
            for step in (0..self.counted(high)).rev() {
                made = self.beside(true, false, made);
                made = self.formulas.add(Formula::And(a, made));
                if step >= low {
                    made = self.formulas.add(Formula::Or(b, made));
                }
            }
            return made;
        }
        let throughout = op.info().throughout;
        let mut at_kept = |operand: FormulaId, place: usize| match throughout.get(place) {
            Some(true) => self.if_kept(operand),
            _ => self.and(operand),
        };
        let (a, b) = (at_kept(a, 0), at_kept(b, 1));
        self.formulas.add(Formula::Binary(op, bound, a, b))
    }

    /// Returns the number of steps for which a bound is written out. A bound beyond every limit is not written out; it
    /// is rejected later.
    fn counted(&mut self, high: u32) -> u32 {
        self.steps = self.steps.max(high);
        high.min(WRITTEN)
    }
}

/// No limit allows longer bounds.
const WRITTEN: u32 = 4_096;
