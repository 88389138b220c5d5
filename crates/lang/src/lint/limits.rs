//! The limits of the linter, and the remaining budget.

use rustc_hash::FxHashMap;

use crate::domain::Work;
use guard_automata::{
    self, Atom, Dfa, FormulaId, Formulas, Letter, Shape, Traces, Word, compile_counted,
};

/// The limits of one run of the linter. Beyond them nothing is reported.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Elementary steps on automata for the whole spec; about ten million take a second.
    pub work: u64,
    /// Elementary steps on one automaton.
    pub automaton: u64,
    /// States of one automaton.
    pub states: usize,
    /// The greatest number of parts of one property that are checked for vacuity.
    pub parts: usize,
    /// The greatest number of properties that are combined.
    pub together: usize,
    /// The greatest number of pairs of properties that are compared.
    pub pairs: usize,
    /// Visits of expressions in decisions about conditions, for the whole spec.
    pub conditions: u64,
    /// Visits of expressions in one such decision.
    pub condition: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            work: 320_000,
            automaton: 60_000,
            states: 2_000,
            parts: 60,
            together: 12,
            pairs: 4_000,
            conditions: 500_000,
            condition: 30_000,
        }
    }
}

/// The remaining budget.
#[derive(Debug)]
pub(super) struct Budget {
    limits: Limits,
    left: u64,
    /// The budget for decisions about conditions.
    pub(super) conditions: Work,
    /// The automata that were built, by the shape of their formulas, with the atoms and the work of the first formula of each
    /// shape: most properties of a spec have one of a few forms with different letters.
    built: FxHashMap<Shape, (Vec<Atom>, Dfa, u64)>,
    /// Whether two automata clash, and the work to find out, by both with their atoms numbered in order: a spec of 516 lines
    /// compares hundreds of pairs of a few forms, which took 26 of 97 million instructions of `guard check`.
    clashing: FxHashMap<(Dfa, Dfa), (bool, u64)>,
    /// Sets of literals that no event satisfies together, found so far, by their first atom.
    excluded: FxHashMap<Atom, Vec<Letter>>,
}

impl Budget {
    pub(super) fn new(limits: &Limits) -> Budget {
        Budget {
            left: limits.work,
            conditions: Work::new(limits.conditions, limits.condition),
            limits: limits.clone(),
            built: FxHashMap::default(),
            clashing: FxHashMap::default(),
            excluded: FxHashMap::default(),
        }
    }

    /// Whether the work on automata is used up; then nothing more is decided about several automata together.
    pub(super) fn is_spent(&self) -> bool {
        self.left == 0
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns a part of a letter that is known to be impossible.
    pub(super) fn excluded_part(&self, letter: &Letter) -> Option<Letter> {
        let known = letter
            .iter()
            .filter_map(|(atom, _)| self.excluded.get(atom));
        known
            .flatten()
            .find(|part| part.iter().all(|literal| letter.contains(literal)))
            .cloned()
    }

    /// Records literals that no event satisfies together.
    pub(super) fn exclude(&mut self, part: &Letter) {
        if let Some((first, _)) = part.first() {
            self.excluded.entry(*first).or_default().push(part.clone());
        }
    }

    fn allowance(&self) -> guard_automata::Limits {
        guard_automata::Limits {
            states: self.limits.states,
            work: self.limits.automaton.min(self.left),
            nodes: 200_000,
            atoms: 64,
        }
    }

    /// Returns the automaton of a formula, or `None` if it exceeds the limits.
    pub(super) fn compile(&mut self, formulas: &Formulas, formula: FormulaId) -> Option<Dfa> {
        let allowance = self.allowance();
        let (shape, atoms) = formulas.shape(formula);
        if let Some((from, dfa, work)) = self.built.get(&shape)
            && *work <= allowance.work
        {
            self.left = self.left.saturating_sub(*work);
            return Some(dfa.renamed(from, &atoms));
        }
        let (made, work) = compile_counted(formulas, formula, &allowance);
        self.left = self.left.saturating_sub(work);
        let made = made.ok()?;
        self.built.insert(shape, (atoms, made.clone(), work));
        Some(made)
    }

    /// Returns the traces that both accept.
    pub(super) fn both(&mut self, lhs: &Dfa, rhs: &Dfa) -> Option<Dfa> {
        if self.is_spent() {
            return None;
        }
        let (made, work) = lhs.product_counted(rhs, |a, b| a && b, &self.allowance());
        self.left = self.left.saturating_sub(work);
        made.ok()
    }

    /// Whether some prefix is a joint dead end of both.
    pub(super) fn clashes(&mut self, lhs: &Dfa, rhs: &Dfa) -> Option<bool> {
        if self.is_spent() {
            return None;
        }
        let allowance = self.allowance();
        let mut atoms = [lhs.atoms(), rhs.atoms()].concat();
        atoms.sort_unstable();
        atoms.dedup();
        let numbers: Vec<Atom> = (0..).take(atoms.len()).map(Atom).collect();
        let [lhs, rhs] = [lhs, rhs].map(|dfa| dfa.renamed(&atoms, &numbers));
        let pair = (lhs, rhs);
        let known = self.clashing.get(&pair).copied();
        let (clashes, work) = match known.filter(|(_, work)| *work <= allowance.work) {
            Some((clashes, work)) => (Some(clashes), work),
            None => {
                let (clashes, work) = pair.0.clashes_counted(&pair.1, &allowance);
                (clashes.ok(), work)
            }
        };
        // Visiting one pair takes about as long as this many elementary steps.
        self.left = self.left.saturating_sub(4 * work);
        if let Some(clashes) = clashes {
            self.clashing.insert(pair, (clashes, work));
        }
        clashes
    }

    /// Returns the traces of an automaton without a step that has all these literals, which must be in order.
    pub(super) fn forbidding(&mut self, dfa: &Dfa, literals: &Letter) -> Dfa {
        let made = dfa.forbidding(literals);
        let work = 4 * (made.len() + made.n_branches()) as u64;
        self.left = self.left.saturating_sub(work);
        made
    }

    /// Returns a shortest trace on which `wanted` holds for the values of both. The inner `None` means that there is no such
    /// trace.
    pub(super) fn search(
        &mut self,
        lhs: &Dfa,
        rhs: &Dfa,
        traces: Traces,
        wanted: impl Fn(bool, bool) -> bool,
    ) -> Option<Option<Word>> {
        if self.is_spent() {
            return None;
        }
        let (found, work) = lhs.search_counted(rhs, traces, wanted, &self.allowance());
        self.left = self.left.saturating_sub(work);
        found.ok()
    }

    /// Whether every non-empty trace that `lhs` accepts is accepted by `rhs`.
    pub(super) fn implies(&mut self, lhs: &Dfa, rhs: &Dfa) -> Option<bool> {
        let excess = self.search(lhs, rhs, Traces::NonEmpty, |a, b| a && !b)?;
        Some(excess.is_none())
    }

    /// Whether both accept the same non-empty traces.
    pub(super) fn equal(&mut self, lhs: &Dfa, rhs: &Dfa) -> Option<bool> {
        let difference = self.search(lhs, rhs, Traces::NonEmpty, |a, b| a != b)?;
        Some(difference.is_none())
    }
}
