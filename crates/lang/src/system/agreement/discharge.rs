//! The support of an assumption: guarantees of other components that imply it, or a component that satisfies it.

use super::{Agreement, Assumed, MAX_VALUATIONS, Support, within};
use crate::hir::ClaimFormula;
use crate::hir::system::{Contract, state_vars};
use crate::ids::{ExprId, FormulaId};
use crate::system::VerifyError;
use crate::system::code::{Compiler, Test};
use crate::system::layout::Layout;
use crate::system::session::Session;
use guard_automata::kripke::{Words, ltl};
use guard_automata::{Atom, Formulas};

impl<'a> Agreement<'a> {
    /// Returns the assumptions about states, each with the smallest support that was found.
    pub(super) fn assumptions(&self) -> Result<Vec<Assumed<'a>>, VerifyError> {
        let mut found = Vec::new();
        for part in 0..self.parts.len() {
            let assumes = &self.spec.system(self.parts[part]).assumes;
            for (at, contract) in assumes
                .iter()
                .enumerate()
                .filter(|(_, contract)| !contract.of_events)
            {
                let support = self.support(part, contract)?;
                found.push(Assumed {
                    part,
                    at,
                    contract,
                    support,
                });
            }
        }
        Ok(found)
    }

    pub(super) fn support(&self, part: usize, contract: &Contract) -> Result<Support, VerifyError> {
        let mut promises: Vec<(usize, usize)> = Vec::new();
        for other in (0..self.parts.len()).filter(|other| *other != part) {
            promises.extend((0..self.contracts(other).len()).map(|at| (other, at)));
        }
        let formula = |(part, at): &(usize, usize)| self.contracts(*part)[*at].formula;
        // Try single guarantees first, then those of one component, then all.
        let mut attempts: Vec<Vec<(usize, usize)>> =
            promises.iter().map(|promise| vec![*promise]).collect();
        for other in 0..self.parts.len() {
            let own: Vec<(usize, usize)> = promises
                .iter()
                .copied()
                .filter(|(part, _)| *part == other)
                .collect();
            attempts.extend((own.len() > 1).then_some(own));
        }
        attempts.extend((promises.len() > 1).then(|| promises.clone()));
        for attempt in attempts {
            let premises: Vec<FormulaId> = attempt.iter().map(formula).collect();
            if self.implies(&premises, contract.formula)? {
                return Ok(Support::Promises(attempt));
            }
        }
        for other in (0..self.parts.len()).filter(|other| *other != part) {
            let id = self.parts[other];
            let asked = [ClaimFormula::Path(contract.formula)];
            let assumes = &self.spec.system(id).assumes;
            let Some(mut session) =
                within(Session::new(self.spec, id, &asked, assumes, self.limits))?
            else {
                continue;
            };
            let answer = within(session.path(contract.formula))?;
            if answer.is_some_and(|answer| answer.holds) {
                return Ok(Support::Part(other));
            }
        }
        Ok(Support::None)
    }

    /// Whether every word that satisfies the premises satisfies the conclusion, for every system.
    pub(super) fn implies(
        &self,
        premises: &[FormulaId],
        conclusion: FormulaId,
    ) -> Result<bool, VerifyError> {
        let all: Vec<FormulaId> = premises.iter().copied().chain([conclusion]).collect();
        let Some((mut words, atoms)) = self.words(&all) else {
            return Ok(false);
        };
        let mut formulas = Formulas::new();
        let parts: Vec<_> = premises
            .iter()
            .map(|formula| self.over(*formula, &atoms, &mut formulas))
            .collect();
        let premise = formulas.all(parts);
        let conclusion = self.over(conclusion, &atoms, &mut formulas);
        let whole = formulas.implies(premise, conclusion);
        let found = ltl::check(
            &mut words,
            &mut formulas,
            whole,
            &[],
            &ltl::Limits::default(),
        );
        // If a limit is exceeded, the result is unknown and nothing is claimed.
        Ok(found.is_ok_and(|found| found.counterexample.is_none()))
    }

    /// Returns all words over the letters that some valuation of the variables produces, or `None` if there are too
    /// many.
    pub(super) fn words(&self, formulas: &[FormulaId]) -> Option<(Words, Vec<ExprId>)> {
        let mut atoms: Vec<ExprId> = Vec::new();
        for formula in formulas {
            for letter in self.spec.formulas.atoms_of(*formula) {
                let expr = self.spec.atom(letter).expr;
                if !atoms.contains(&expr) {
                    atoms.push(expr);
                }
            }
        }
        let layout = Layout::new(
            self.spec,
            state_vars(&self.spec.exprs, atoms.iter().copied()),
        );
        if atoms.len() > 64 || layout.space().is_none_or(|space| space > MAX_VALUATIONS) {
            return None;
        }
        let mut compiler = Compiler::new(&self.spec.exprs, &layout);
        let tests: Vec<Test> = atoms.iter().map(|atom| compiler.test(*atom)).collect();
        let mut letters = Vec::new();
        let mut state = vec![0; layout.words()];
        let mut positions = vec![0u64; layout.slots().len()];
        'valuations: loop {
            let mut letter = 0u64;
            for (at, test) in tests.iter().enumerate() {
                // If a condition has no value in a state, no run of a component reaches the state; its check reports
                // that.
                letter |= u64::from(test.eval(&state).unwrap_or(false)) << at;
            }
            letters.push(letter);
            for (slot, position) in layout.slots().iter().zip(&mut positions) {
                *position = if *position + 1 < slot.len {
                    *position + 1
                } else {
                    0
                };
                slot.set(&mut state, *position);
                if *position > 0 {
                    continue 'valuations;
                }
            }
            break;
        }
        Some((Words::new(letters), atoms))
    }

    pub(super) fn over(
        &self,
        formula: FormulaId,
        atoms: &[ExprId],
        into: &mut Formulas,
    ) -> guard_automata::FormulaId {
        let place = |expr: ExprId| atoms.iter().position(|atom| *atom == expr).unwrap_or(63);
        let atom = |letter| Atom(place(self.spec.atom(letter).expr) as u32);
        crate::translate::translate(&self.spec.formulas, formula, atom, into)
    }
}
