//! Boolean combinations of automata, and how two of them differ.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::dfa::{Dfa, Row};
use super::diagram::{Branch, Diagrams, Ref, paths};
use super::formula::Atom;
use super::formula::Word;
use super::limits::{LimitError, Limits, Resource, check};
use super::states::StateId;
use super::verdict::{Finality, Verdict};

/// Whether the empty trace is included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Traces {
    /// All finite traces.
    All,
    /// All but the empty one.
    NonEmpty,
}

/// Successors of a pair of states, as a diagram whose leaves number the pairs.
struct Pairs<'a> {
    left: &'a Dfa,
    right: &'a Dfa,
    order: IndexSet<(StateId, StateId), FxBuildHasher>,
    diagrams: Diagrams,
    cache: FxHashMap<(Ref, Ref), Ref>,
}

impl<'a> Pairs<'a> {
    fn new(left: &'a Dfa, right: &'a Dfa) -> Self {
        let order = IndexSet::from_iter([(left.initial(), right.initial())]);
        Pairs {
            left,
            right,
            order,
            diagrams: Diagrams::default(),
            cache: FxHashMap::default(),
        }
    }

    /// Returns the work done so far, in elementary steps; minimising takes as much again.
    fn work(&self) -> u64 {
        16 * self.cache.len() as u64
    }

    fn check(&self, limits: &Limits) -> Result<(), LimitError> {
        let n_nodes = self.diagrams.len() + self.cache.len();
        check(
            Resource::States,
            limits.states as u64,
            self.order.len() as u64,
        )?;
        check(Resource::Nodes, limits.nodes as u64, n_nodes as u64)?;
        check(Resource::Work, limits.work, self.work())
    }

    fn accepting(&self, index: usize) -> (bool, bool) {
        let (left, right) = self.order[index];
        (self.left.accepting(left), self.right.accepting(right))
    }

    fn step(&mut self, index: usize, limits: &Limits) -> Result<Ref, LimitError> {
        let (left, right) = self.order[index];
        self.combine(
            self.left.rows[left.index()].root,
            self.right.rows[right.index()].root,
            limits,
        )
    }

    fn combine(&mut self, a: Ref, b: Ref, limits: &Limits) -> Result<Ref, LimitError> {
        if let (Some(x), Some(y)) = (a.as_leaf(), b.as_leaf()) {
            return Ok(Ref::leaf(
                self.order.insert_full((StateId(x), StateId(y))).0 as u32,
            ));
        }
        if let Some(&known) = self.cache.get(&(a, b)) {
            return Ok(known);
        }
        self.check(limits)?;
        let var = |dfa: &Dfa, r: Ref| {
            if r.as_leaf().is_some() {
                None
            } else {
                Some(dfa.branches[r.index()].var)
            }
        };
        let (x, y) = (var(self.left, a), var(self.right, b));
        // At least one of the two is a branch.
        let top = x.into_iter().chain(y).min().unwrap_or(0);
        let split = |dfa: &Dfa, v: Option<u32>, r: Ref| {
            if v == Some(top) {
                let Branch { lo, hi, .. } = dfa.branches[r.index()];
                (lo, hi)
            } else {
                (r, r)
            }
        };
        let ((a_lo, a_hi), (b_lo, b_hi)) = (split(self.left, x, a), split(self.right, y, b));
        let lo = self.combine(a_lo, b_lo, limits)?;
        let hi = self.combine(a_hi, b_hi, limits)?;
        let made = self.diagrams.branch(top, lo, hi);
        self.cache.insert((a, b), made);
        Ok(made)
    }
}

impl Dfa {
    /// Returns the traces that this automaton does not accept.
    #[must_use]
    pub fn complement(&self) -> Dfa {
        let mut dfa = self.clone();
        for row in &mut dfa.rows {
            row.accepting = !row.accepting;
            row.finality = match row.finality {
                Finality::FinalTrue => Finality::FinalFalse,
                Finality::FinalFalse => Finality::FinalTrue,
                Finality::Open => Finality::Open,
            };
        }
        dfa
    }

    /// Returns the automaton of the prefixes whose verdict is `wanted`, minimal.
    #[must_use]
    pub fn accepting_where(&self, wanted: impl Fn(Verdict) -> bool) -> Dfa {
        self.accepting_at(|state| wanted(self.verdict(state)))
    }

    /// Returns the automaton of the prefixes that lead to a state that is `wanted`, minimal.
    #[must_use]
    pub fn accepting_at(&self, wanted: impl Fn(StateId) -> bool) -> Dfa {
        let mut dfa = self.clone();
        for (row, state) in dfa.rows.iter_mut().zip(self.states()) {
            row.accepting = wanted(state);
        }
        // Minimising decides the finality of every state anew.
        dfa.minimized()
    }

    /// Returns the minimal automaton of the accepted words that have no accepted proper prefix.
    #[must_use]
    pub fn first_accepting(&self) -> Dfa {
        let mut dfa = self.clone();
        let mut rows = dfa.rows.into_vec();
        let sink = Ref::leaf(u32::try_from(rows.len()).unwrap_or(u32::MAX));
        for row in rows.iter_mut().filter(|row| row.accepting) {
            row.root = sink;
        }
        rows.push(Row {
            root: sink,
            accepting: false,
            finality: Finality::FinalFalse,
        });
        dfa.rows = rows.into_boxed_slice();
        // Minimising decides the finality of every state anew.
        dfa.minimized()
    }

    /// Returns the traces that both accept, minimal.
    ///
    /// # Errors
    /// When there are more pairs of states than the limits allow.
    pub fn and(&self, other: &Dfa, limits: &Limits) -> Result<Dfa, LimitError> {
        self.product(other, |a, b| a && b, limits)
    }

    /// Returns the traces that at least one of them accepts, minimal.
    ///
    /// # Errors
    /// As [`Dfa::and`].
    pub fn or(&self, other: &Dfa, limits: &Limits) -> Result<Dfa, LimitError> {
        self.product(other, |a, b| a || b, limits)
    }

    /// Returns the traces on which `accepts` holds of the values of both, minimal.
    ///
    /// # Errors
    /// As [`Dfa::and`].
    pub fn product(
        &self,
        other: &Dfa,
        accepts: impl Fn(bool, bool) -> bool,
        limits: &Limits,
    ) -> Result<Dfa, LimitError> {
        self.product_counted(other, accepts, limits).0
    }

    /// As [`Dfa::product`], with the work that was done.
    pub fn product_counted(
        &self,
        other: &Dfa,
        accepts: impl Fn(bool, bool) -> bool,
        limits: &Limits,
    ) -> (Result<Dfa, LimitError>, u64) {
        let mut pairs = Pairs::new(self, other);
        let mut roots = Vec::new();
        while roots.len() < pairs.order.len() {
            match pairs.step(roots.len(), limits) {
                Ok(root) => roots.push(root),
                Err(error) => return (Err(error), pairs.work()),
            }
        }
        let accepting: Vec<bool> = (0..roots.len())
            .map(|index| {
                let (a, b) = pairs.accepting(index);
                accepts(a, b)
            })
            .collect();
        let mut atoms: Vec<Atom> = self.atoms().iter().chain(other.atoms()).copied().collect();
        atoms.sort_unstable();
        atoms.dedup();
        let dfa = Dfa::assemble(&pairs.diagrams, &roots, &accepting, 0, &atoms, Atom);
        (Ok(dfa.minimized()), pairs.work())
    }

    /// Returns a shortest trace that one automaton accepts and the other does not, or `None` if they are equivalent.
    ///
    /// # Errors
    /// As [`Dfa::and`].
    pub fn difference(
        &self,
        other: &Dfa,
        traces: Traces,
        limits: &Limits,
    ) -> Result<Option<Word>, LimitError> {
        self.search(other, traces, |a, b| a != b, limits)
    }

    /// Returns a shortest trace that this automaton accepts and `other` does not, or `None` if this one implies the other.
    ///
    /// # Errors
    /// As [`Dfa::and`].
    pub fn excess(
        &self,
        other: &Dfa,
        traces: Traces,
        limits: &Limits,
    ) -> Result<Option<Word>, LimitError> {
        self.search(other, traces, |a, b| a && !b, limits)
    }

    /// Returns a shortest trace on which `wanted` holds of the values of both, by breadth-first search over pairs of states.
    ///
    /// # Errors
    /// As [`Dfa::and`].
    pub fn search(
        &self,
        other: &Dfa,
        traces: Traces,
        wanted: impl Fn(bool, bool) -> bool,
        limits: &Limits,
    ) -> Result<Option<Word>, LimitError> {
        self.search_counted(other, traces, wanted, limits).0
    }

    /// As [`Dfa::search`], with the work that was done.
    pub fn search_counted(
        &self,
        other: &Dfa,
        traces: Traces,
        wanted: impl Fn(bool, bool) -> bool,
        limits: &Limits,
    ) -> (Result<Option<Word>, LimitError>, u64) {
        let mut pairs = Pairs::new(self, other);
        let found = pairs.search(traces, wanted, limits);
        (found, pairs.work())
    }
}

impl Pairs<'_> {
    fn search(
        &mut self,
        traces: Traces,
        wanted: impl Fn(bool, bool) -> bool,
        limits: &Limits,
    ) -> Result<Option<Word>, LimitError> {
        let pairs = self;
        let hit = |pairs: &Pairs<'_>, index: usize| {
            let (a, b) = pairs.accepting(index);
            wanted(a, b)
        };
        if traces == Traces::All && hit(pairs, 0) {
            return Ok(Some(Word::new()));
        }
        // How each pair was first reached. The initial pair has an entry only if it is entered again.
        let mut from: FxHashMap<u32, (u32, Vec<(Atom, bool)>)> = FxHashMap::default();
        let mut queue = vec![0];
        let mut next = 0;
        while let Some(&index) = queue.get(next) {
            next += 1;
            let root = pairs.step(index as usize, limits)?;
            for (letter, target) in paths(&pairs.diagrams, root) {
                let first = !from.contains_key(&target);
                let found = hit(pairs, target as usize);
                if found {
                    let mut word = vec![letter];
                    let mut at = index;
                    while let Some((before, letter)) = from.get(&at).filter(|_| at != 0) {
                        word.push(letter.clone());
                        at = *before;
                    }
                    word.reverse();
                    return Ok(Some(word));
                }
                if first {
                    from.insert(target, (index, letter));
                    if target != 0 {
                        queue.push(target);
                    }
                }
            }
        }
        Ok(None)
    }
}
