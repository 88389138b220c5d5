//! Monitoring of `G φ` after a violation: φ is evaluated anew from the next position, with its past.
//!
//! The memory of φ about the past is the state of the automaton of `G (s -> φ)` while `s` never holds. Two copies of that
//! automaton run side by side, one with `s` always true, which finds violations, and one with `s` always false, which only
//! remembers. When the first copy is violated, it continues in the state of the second.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::dfa::Dfa;
use super::diagram::{Branch, Diagrams, Ref};
use super::formula::Atom;
use super::limits::{LimitError, Limits, Resource, check};
use super::states::StateId;
use super::verdict::Finality;

/// An automaton that continues after violations.
#[derive(Clone, Debug)]
pub struct Recurring {
    /// Its states and steps. A state in which φ has just been violated does not accept; finality of its states means
    /// nothing, since the automaton continues.
    pub dfa: Dfa,
    /// By state: whether a violation became certain with the position that led there.
    pub violated: Box<[bool]>,
}

/// The states of both copies, and whether the first copy has just been violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Pair {
    asking: StateId,
    remembering: StateId,
    violated: bool,
}

struct Construction<'a> {
    dfa: &'a Dfa,
    start: Atom,
    pairs: IndexSet<Pair, FxBuildHasher>,
    diagrams: Diagrams,
    cache: FxHashMap<(Ref, Ref), Ref>,
}

impl Dfa {
    /// Returns the automaton of `G φ` that continues after violations, from the automaton of `G (start -> φ)`.
    ///
    /// # Cost
    /// One state for each reachable pair: slightly more states than the automaton if φ has no past.
    ///
    /// # Errors
    /// If there are more pairs than the limits allow.
    pub fn recurring(&self, start: Atom, limits: &Limits) -> Result<Recurring, LimitError> {
        let first = Pair {
            asking: self.initial(),
            remembering: self.initial(),
            violated: false,
        };
        let mut construction = Construction {
            dfa: self,
            start,
            pairs: IndexSet::from_iter([first]),
            diagrams: Diagrams::default(),
            cache: FxHashMap::default(),
        };
        let mut roots = Vec::new();
        while let Some(pair) = construction.pairs.get_index(roots.len()).copied() {
            roots.push(construction.step(pair, limits)?);
        }
        let of = |test: &dyn Fn(&Pair) -> bool| construction.pairs.iter().map(test).collect();
        let accepting: Vec<bool> = of(&|pair| !pair.violated && self.accepting(pair.asking));
        let violated: Vec<bool> = of(&|pair| pair.violated);
        let atoms: Vec<Atom> = self
            .atoms
            .iter()
            .copied()
            .filter(|atom| *atom != start)
            .collect();
        // Numbers depend on the steps alone, so they are the same for both calls.
        let assemble = |accepting: &[bool]| {
            Dfa::assemble(&construction.diagrams, &roots, accepting, 0, &atoms, Atom)
        };
        let violated = assemble(&violated);
        let violated = violated.states().map(|state| violated.accepting(state));
        Ok(Recurring {
            dfa: assemble(&accepting),
            violated: violated.collect(),
        })
    }
}

impl Construction<'_> {
    fn step(&mut self, pair: Pair, limits: &Limits) -> Result<Ref, LimitError> {
        let root = |state: StateId| self.dfa.rows[state.index()].root;
        self.combine(root(pair.asking), root(pair.remembering), limits)
    }

    /// Returns a diagram with the start atom fixed: true for the first copy, false for the second.
    fn given(&self, mut node: Ref, start: bool) -> Ref {
        while node.as_leaf().is_none() {
            let Branch { var, lo, hi } = self.dfa.branches[node.index()];
            if var != self.start.0 {
                break;
            }
            node = if start { hi } else { lo };
        }
        node
    }

    fn combine(
        &mut self,
        asking: Ref,
        remembering: Ref,
        limits: &Limits,
    ) -> Result<Ref, LimitError> {
        let (a, b) = (self.given(asking, true), self.given(remembering, false));
        if let (Some(asking), Some(remembering)) = (a.as_leaf(), b.as_leaf()) {
            let (asking, remembering) = (StateId(asking), StateId(remembering));
            let violated = self.dfa.finality(asking) == Finality::FinalFalse;
            let pair = Pair {
                asking: if violated { remembering } else { asking },
                remembering,
                violated,
            };
            return Ok(Ref::leaf(self.pairs.insert_full(pair).0 as u32));
        }
        if let Some(&known) = self.cache.get(&(a, b)) {
            return Ok(known);
        }
        check(
            Resource::States,
            limits.states as u64,
            self.pairs.len() as u64,
        )?;
        check(
            Resource::Nodes,
            limits.nodes as u64,
            (self.diagrams.len() + self.cache.len()) as u64,
        )?;
        let branch = |node: Ref| {
            let inner = node.as_leaf().is_none();
            inner.then(|| self.dfa.branches[node.index()])
        };
        let (x, y) = (branch(a), branch(b));
        // At least one of the two is a branch.
        let top = x.iter().chain(&y).map(|branch| branch.var).min();
        let top = top.unwrap_or(self.start.0);
        let split = |branch: Option<Branch>, node: Ref| match branch {
            Some(Branch { var, lo, hi }) if var == top => (lo, hi),
            _ => (node, node),
        };
        let ((a_lo, a_hi), (b_lo, b_hi)) = (split(x, a), split(y, b));
        let lo = self.combine(a_lo, b_lo, limits)?;
        let hi = self.combine(a_hi, b_hi, limits)?;
        let made = self.diagrams.branch(top, lo, hi);
        self.cache.insert((a, b), made);
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Formulas, Interval, compile};
    use super::*;

    /// `G (a -> F[1,2] b)` and `G (a -> Y b)`: violated, then evaluated again with the actual past.
    #[test]
    fn a_violation_is_found_again_and_again() -> Result<(), Box<dyn std::error::Error>> {
        let mut formulas = Formulas::new();
        let (a, b, s) = (
            formulas.atom(Atom(0)),
            formulas.atom(Atom(1)),
            formulas.atom(Atom(2)),
        );
        let soon = formulas.eventually(Interval::steps(1, 2), b);
        let before = formulas.previously(b);
        for (inner, word, expected) in [
            (soon, "a,-,-,a,b,a,-,-", "..v....v"),
            (before, "a,b,a,a,ab,a", "v..vv."),
        ] {
            let phi = formulas.implies(a, inner);
            let asked = formulas.implies(s, phi);
            let formula = formulas.always(Interval::ALL, asked);
            let limits = Limits::default();
            let dfa = compile(&formulas, formula, &limits)?;
            let recurring = dfa.recurring(Atom(2), &limits)?;
            let mut state = recurring.dfa.initial();
            let mut found = String::new();
            for letters in word.split(',') {
                state = recurring.dfa.step(state, |atom| {
                    letters.contains(if atom == Atom(0) { 'a' } else { 'b' })
                });
                found.push(if recurring.violated[state.index()] {
                    'v'
                } else {
                    '.'
                });
            }
            assert_eq!(found, expected, "{word}");
        }
        Ok(())
    }
}
