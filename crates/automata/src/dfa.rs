//! Deterministic automata over finite traces whose transitions are shared decision diagrams.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::backward::Backward;
use super::diagram::{Branch, Branches, Diagrams, Ref, below, paths};
use super::formula::Atom;
use super::formula::Letter;
use super::states::{StateId, StateSet};
use super::verdict::{Finality, Verdict};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) root: Ref,
    pub(super) accepting: bool,
    pub(super) finality: Finality,
}

/// A complete deterministic automaton.
///
/// # Conventions
/// * An automaton is complete: every state has a successor for every letter; a rejecting sink is a state like others.
/// * State 0 is initial and means that nothing has been read. Its acceptance is the value of the empty trace.
/// * A state accepts when the trace may stop there, that is when what was read satisfies the formula as a whole trace.
/// * States are numbered in the order in which a breadth-first search meets them, `lo` before `hi`; so automata that are
///   minimal and accept the same traces over the same order of atoms are equal, field by field.
/// * A state is *final* for a value when every continuation has it, the state itself included. This is decided by
///   reachability and is exact.
///
/// # Shape
/// `n` states and one table of branches shared by all of them; a step visits at most one branch per atom.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct Dfa {
    pub(super) atoms: Box<[Atom]>,
    pub(super) branches: Box<[Branch]>,
    pub(super) rows: Box<[Row]>,
}

/// The fields of a serialised automaton.
#[derive(Deserialize)]
struct Parts {
    atoms: Box<[Atom]>,
    branches: Box<[Branch]>,
    rows: Box<[Row]>,
}

impl TryFrom<Parts> for Dfa {
    type Error = &'static str;

    /// Rejects parts that no automaton can have: links to missing targets, and diagrams that are not ordered.
    fn try_from(parts: Parts) -> Result<Dfa, &'static str> {
        let Parts {
            atoms,
            branches,
            rows,
        } = parts;
        // Operands come before what has them, so a walk ends.
        let leads = |to: Ref, below: usize, above: Option<u32>| match to.as_leaf() {
            Some(state) => (state as usize) < rows.len(),
            None => {
                let branch = branches.get(to.index());
                to.index() < below && branch.is_some_and(|to| above.is_none_or(|var| var < to.var))
            }
        };
        let whole = |(index, branch): (usize, &Branch)| {
            atoms.contains(&Atom(branch.var))
                && [branch.lo, branch.hi]
                    .iter()
                    .all(|to| leads(*to, index, Some(branch.var)))
        };
        let rooted = rows.iter().all(|row| leads(row.root, branches.len(), None));
        if rows.is_empty() || !rooted || !branches.iter().enumerate().all(whole) {
            return Err("not an automaton");
        }
        Ok(Dfa {
            atoms,
            branches,
            rows,
        })
    }
}

impl Dfa {
    /// Keeps the states that can be reached from `initial` and numbers them canonically. Leaves of `roots` are indices
    /// into `roots`; variables are atoms after `name`.
    pub(super) fn assemble(
        diagrams: &Diagrams,
        roots: &[Ref],
        accepting: &[bool],
        initial: usize,
        atoms: &[Atom],
        name: impl Fn(u32) -> Atom,
    ) -> Dfa {
        let mut order = vec![initial];
        let mut number: Vec<Option<u32>> = vec![None; roots.len()];
        number[initial] = Some(0);
        let mut branches: Vec<Branch> = Vec::new();
        let mut copied: FxHashMap<Ref, Ref> = FxHashMap::default();
        let mut rows = Vec::new();
        let mut next = 0;
        while let Some(&state) = order.get(next) {
            next += 1;
            // Depth-first, `lo` before `hi`: a leaf gets its number when it is met, a branch when both its halves have one.
            let mut stack = vec![roots[state]];
            while let Some(&top) = stack.last() {
                if copied.contains_key(&top) {
                    stack.pop();
                    continue;
                }
                if let Some(leaf) = top.as_leaf() {
                    let target = number[leaf as usize].unwrap_or_else(|| {
                        let new = order.len() as u32;
                        order.push(leaf as usize);
                        new
                    });
                    number[leaf as usize] = Some(target);
                    copied.insert(top, Ref::leaf(target));
                    stack.pop();
                    continue;
                }
                let Branch { var, lo, hi } = diagrams.at(top);
                match (copied.get(&lo), copied.get(&hi)) {
                    (Some(&lo), Some(&hi)) => {
                        copied.insert(top, Ref::branch(branches.len()));
                        branches.push(Branch {
                            var: name(var).0,
                            lo,
                            hi,
                        });
                        stack.pop();
                    }
                    (None, _) => stack.push(lo),
                    (Some(_), None) => stack.push(hi),
                }
            }
            rows.push(Row {
                root: copied[&roots[state]],
                accepting: accepting[state],
                finality: Finality::Open,
            });
        }
        let mut dfa = Dfa {
            atoms: atoms.into(),
            branches: branches.into(),
            rows: rows.into(),
        };
        dfa.decide();
        dfa
    }

    /// Sets the finality of every state by two backward searches.
    fn decide(&mut self) {
        let mut backward = Backward::new(self);
        let truth = backward.reaching(self.rows.iter().map(|row| row.accepting));
        let falsity = backward.reaching(self.rows.iter().map(|row| !row.accepting));
        for (row, (truth, falsity)) in self.rows.iter_mut().zip(truth.into_iter().zip(falsity)) {
            row.finality = match (truth, falsity) {
                (true, false) => Finality::FinalTrue,
                (false, _) => Finality::FinalFalse,
                (true, true) => Finality::Open,
            };
        }
    }

    /// Returns the number of states, all of them reachable.
    #[allow(clippy::len_without_is_empty, reason = "an automaton is never empty")]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the state before anything is read.
    pub fn initial(&self) -> StateId {
        StateId(0)
    }

    /// Returns all states in order.
    pub fn states(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.rows.len() as u32).map(StateId)
    }

    /// Returns the state of this index, if there is one.
    pub fn state(&self, index: usize) -> Option<StateId> {
        (index < self.rows.len()).then_some(StateId(index as u32))
    }

    /// Returns the atoms of the formula in order, including those on which no state depends.
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// Returns the number of branches of all diagrams together.
    pub fn n_branches(&self) -> usize {
        self.branches.len()
    }

    /// Whether the trace may stop in this state.
    #[inline]
    pub fn accepting(&self, state: StateId) -> bool {
        self.rows[state.index()].accepting
    }

    /// Whether what follows can still change the value.
    #[inline]
    pub fn finality(&self, state: StateId) -> Finality {
        self.rows[state.index()].finality
    }

    /// Returns the verdict on what has been read.
    #[inline]
    pub fn verdict(&self, state: StateId) -> Verdict {
        let row = &self.rows[state.index()];
        Verdict::new(row.finality, row.accepting)
    }

    /// Returns the state after one more position. `holds` is called only for atoms that matter, at most once each, in order.
    #[inline]
    pub fn step(&self, state: StateId, mut holds: impl FnMut(Atom) -> bool) -> StateId {
        let mut at = self.rows[state.index()].root;
        loop {
            if let Some(target) = at.as_leaf() {
                return StateId(target);
            }
            let Branch { var, lo, hi } = self.branches[at.index()];
            at = if holds(Atom(var)) { hi } else { lo };
        }
    }

    /// Adds to `into` every state that some completion of a partly known letter leads to.
    ///
    /// Diagrams are ordered, so no atom is met twice on a path and the result is exact: the union over all completions.
    /// Each atom may be asked for more than once and must have the same answer.
    pub fn step_unknown(
        &self,
        state: StateId,
        mut holds: impl FnMut(Atom) -> Option<bool>,
        into: &mut StateSet,
    ) {
        let mut stack = vec![self.rows[state.index()].root];
        let mut seen: FxHashSet<Ref> = FxHashSet::default();
        while let Some(at) = stack.pop() {
            if let Some(target) = at.as_leaf() {
                into.insert(StateId(target));
                continue;
            }
            let Branch { var, lo, hi } = self.branches[at.index()];
            match holds(Atom(var)) {
                Some(value) => stack.push(if value { hi } else { lo }),
                None if seen.insert(at) => stack.extend([hi, lo]),
                None => {}
            }
        }
    }

    /// Returns every state after one more, partly known position, from any of `states`.
    pub fn step_all(
        &self,
        states: &StateSet,
        mut holds: impl FnMut(Atom) -> Option<bool>,
    ) -> StateSet {
        let mut next = StateSet::new();
        for state in states.iter() {
            self.step_unknown(state, &mut holds, &mut next);
        }
        next
    }

    /// Returns the atoms on which the next state depends, in order.
    pub fn relevant_atoms(&self, state: StateId) -> Vec<Atom> {
        let root = self.rows[state.index()].root;
        let inner = below(&*self.branches, root).filter(|node| node.as_leaf().is_none());
        let mut atoms: Vec<Atom> = inner
            .map(|node| Atom(self.branches[node.index()].var))
            .collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// Returns the different next states, first met first.
    pub fn successors(&self, state: StateId) -> Vec<StateId> {
        let root = self.rows[state.index()].root;
        below(&*self.branches, root)
            .filter_map(Ref::as_leaf)
            .map(StateId)
            .collect()
    }

    /// Returns, for each different next state, one letter that leads there, by the atoms that matter.
    pub fn edges(&self, state: StateId) -> Vec<(Letter, StateId)> {
        let root = self.rows[state.index()].root;
        paths(&*self.branches, root)
            .into_iter()
            .map(|(letter, target)| (letter, StateId(target)))
            .collect()
    }

    /// Returns all edges as disjoint cubes, which cover every letter: what the letter must have, and where it leads. There
    /// may be as many as the diagram of the state has paths.
    pub fn cubes(&self, state: StateId) -> Vec<(Letter, StateId)> {
        let mut cubes = Vec::new();
        let mut stack = vec![(self.rows[state.index()].root, Letter::new())];
        while let Some((top, path)) = stack.pop() {
            match top.as_leaf() {
                Some(leaf) => cubes.push((path, StateId(leaf))),
                None => {
                    let Branch { var, lo, hi } = self.branches[top.index()];
                    let with = |holds| [path.as_slice(), &[(Atom(var), holds)]].concat();
                    stack.extend([(hi, with(true)), (lo, with(false))]);
                }
            }
        }
        cubes
    }
}

/// The stable text form: one line per state with its verdict, then its edges as disjoint cubes.
impl fmt::Display for Dfa {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for state in self.states() {
            let verdict = match self.verdict(state) {
                Verdict::Satisfied => "satisfied",
                Verdict::PresumablySatisfied => "presumably satisfied",
                Verdict::PresumablyViolated => "presumably violated",
                Verdict::Violated => "violated",
            };
            writeln!(out, "state {}: {verdict}", state.0)?;
            for (cube, target) in self.cubes(state) {
                write!(out, "  ")?;
                for (Atom(atom), holds) in cube {
                    write!(out, "{}{atom} ", if holds { "" } else { "!" })?;
                }
                writeln!(out, "-> {}", target.0)?;
            }
        }
        Ok(())
    }
}
