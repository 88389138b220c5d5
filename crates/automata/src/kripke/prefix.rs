//! Safety: formulas whose violation shows after finitely many states.
//!
//! [`Prefixes`] follows what a formula still allows, as the set of states that its Büchi automaton may be in; a prefix is *bad*
//! if no infinite word that satisfies the formula begins with it. A formula is a *safety* formula when every word whose
//! prefixes are all good satisfies it.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::graph::{Digraph, backward, components};
use crate::omega::{self, Buchi, Edges, Graph, Marks};
use crate::{Atom, FormulaId, Formulas, StateId};

use super::Structure;
use super::ltl::{CheckError, Limits};

/// The continuations that a formula permits after a prefix: a set of states of its automaton, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct After(u32);

/// The good prefixes of a formula, as a deterministic automaton that is built on demand.
#[derive(Clone, Debug)]
pub struct Prefixes {
    buchi: Buchi,
    /// Per state of the automaton: whether some word is accepted from it.
    alive: Vec<bool>,
    sets: IndexSet<Vec<StateId>, FxBuildHasher>,
}

impl Prefixes {
    /// Returns the prefixes of a formula.
    ///
    /// # Errors
    /// [`CheckError::Automaton`]
    pub fn new<E>(
        formulas: &Formulas,
        formula: FormulaId,
        limits: &Limits,
    ) -> Result<Prefixes, CheckError<E>> {
        let buchi =
            omega::translate(formulas, formula, &limits.automata).map_err(CheckError::Automaton)?;
        let alive = alive(&buchi);
        let mut sets = IndexSet::default();
        let start = buchi.initial();
        sets.insert(if alive[start.index()] {
            vec![start]
        } else {
            Vec::new()
        });
        Ok(Prefixes { buchi, alive, sets })
    }

    /// Returns the continuations before anything is read.
    pub fn start(&self) -> After {
        After(0)
    }

    /// Returns the continuations after one more state.
    pub fn step(&mut self, after: After, holds: impl Fn(Atom) -> bool) -> After {
        let mut next: Vec<StateId> = Vec::new();
        for state in self.sets.get_index(after.0 as usize).into_iter().flatten() {
            let found = self.buchi.successors(*state, &holds);
            next.extend(
                found
                    .map(|(target, _)| target)
                    .filter(|target| self.alive[target.index()]),
            );
        }
        next.sort_unstable_by_key(|state| state.index());
        next.dedup();
        After(self.sets.insert_full(next).0 as u32)
    }

    /// Whether the prefix is bad.
    pub fn is_bad(&self, after: After) -> bool {
        self.sets
            .get_index(after.0 as usize)
            .is_none_or(Vec::is_empty)
    }
}

/// Returns the states of an automaton from which some word is accepted.
fn alive(buchi: &Buchi) -> Vec<bool> {
    let number = |state: StateId| state.index() as u32;
    let edges: Vec<(u32, u32)> = buchi
        .states()
        .flat_map(|state| {
            buchi
                .edges(state)
                .iter()
                .map(move |edge| (number(state), number(edge.target)))
        })
        .collect();
    let Ok(graph) = Digraph::from_edges(buchi.len(), &edges) else {
        return vec![true; buchi.len()];
    };
    let every = Marks::first(buchi.n_marks());
    let found = components(&graph, None);
    let mut accepting = graph.none();
    for state in buchi.states() {
        let same = |target: StateId| found.same(number(target), number(state));
        let inside = buchi
            .states()
            .filter(|member| same(*member))
            .flat_map(|member| buchi.edges(member));
        let mut inside = inside.filter(|edge| same(edge.target)).peekable();
        if inside.peek().is_some()
            && every.is_subset(inside.fold(Marks::NONE, |marks, edge| marks.union(edge.marks)))
        {
            accepting.insert(state.index());
        }
    }
    let alive = backward(&graph.reversed(), &accepting, None);
    (0..buchi.len())
        .map(|state| alive.contains(state))
        .collect()
}

/// Whether a formula is a safety formula over the words of a structure's runs.
///
/// # Errors
/// [`CheckError`]
pub fn is_safety<S: Structure>(
    structure: &mut S,
    formulas: &mut Formulas,
    formula: FormulaId,
    limits: &Limits,
) -> Result<bool, CheckError<S::Error>> {
    /// Runs whose prefixes are all good, and that violate the formula.
    struct Hidden<'a, S> {
        structure: &'a mut S,
        prefixes: Prefixes,
        negation: Buchi,
        left: usize,
    }
    impl<S: Structure> Graph for Hidden<'_, S> {
        type Vertex = (u32, After, StateId);
        type Label = ();
        type Error = Option<S::Error>;

        fn initial(&mut self) -> Result<Vec<Self::Vertex>, Self::Error> {
            let states = self.structure.initial().map_err(Some)?;
            let (after, at) = (self.prefixes.start(), self.negation.initial());
            Ok(states.into_iter().map(|state| (state, after, at)).collect())
        }

        fn edges(
            &mut self,
            &(state, after, at): &Self::Vertex,
        ) -> Result<Edges<Self>, Self::Error> {
            self.left = self.left.checked_sub(1).ok_or(None)?;
            let structure = &*self.structure;
            let after = self
                .prefixes
                .step(after, |atom| structure.holds(state, atom));
            if self.prefixes.is_bad(after) {
                return Ok(Vec::new());
            }
            let found = self
                .negation
                .successors(at, |atom| structure.holds(state, atom));
            let moves: Vec<(StateId, Marks)> = found.collect();
            let mut edges = Vec::new();
            for next in self.structure.successors(state).map_err(Some)? {
                edges.extend(
                    moves
                        .iter()
                        .map(|(to, marks)| ((), *marks, (*next, after, *to))),
                );
            }
            Ok(edges)
        }
    }
    let prefixes = Prefixes::new(formulas, formula, limits)?;
    let not = formulas.not(formula);
    let negation =
        omega::translate(formulas, not, &limits.automata).map_err(CheckError::Automaton)?;
    let n_marks = negation.n_marks();
    let mut hidden = Hidden {
        structure,
        prefixes,
        negation,
        left: limits.pairs,
    };
    let found = omega::find_run(&mut hidden, n_marks);
    match found {
        Ok(run) => Ok(run.is_none()),
        Err(Some(error)) => Err(CheckError::Structure(error)),
        Err(None) => Err(CheckError::Pairs(limits.pairs)),
    }
}

/// Checks that a structure keeps a guarantee one step longer than the others keep their assumption: for every run and every
/// `n`, if the first `n` states are good for the assumption, then the first `n + 1` are good for the guarantee. Returns a
/// shortest run that fails, up to the state where it does.
///
/// # Source
/// K. McMillan, "Circular compositional reasoning about liveness", CHARME 1999; M. Abadi, L. Lamport, "Conjoining
/// specifications", TOPLAS 17(3), 1995.
///
/// # Errors
/// [`CheckError`]
pub fn keeps_ahead<S: Structure>(
    structure: &mut S,
    assumption: &mut Prefixes,
    guarantee: &mut Prefixes,
    limits: &Limits,
) -> Result<Option<Vec<u32>>, CheckError<S::Error>> {
    type Place = (u32, After, After);
    let mut before: FxHashMap<Place, Option<Place>> = FxHashMap::default();
    let mut open: VecDeque<Place> = VecDeque::new();
    for state in structure.initial().map_err(CheckError::Structure)? {
        let place = (state, assumption.start(), guarantee.start());
        if before.insert(place, None).is_none() {
            open.push_back(place);
        }
    }
    while let Some(place) = open.pop_front() {
        let (state, assumed, kept) = place;
        let kept = guarantee.step(kept, |atom| structure.holds(state, atom));
        if guarantee.is_bad(kept) {
            let mut states = vec![state];
            let mut at = place;
            while let Some(Some(earlier)) = before.get(&at) {
                states.push(earlier.0);
                at = *earlier;
            }
            states.reverse();
            return Ok(Some(states));
        }
        let assumed = assumption.step(assumed, |atom| structure.holds(state, atom));
        if assumption.is_bad(assumed) {
            continue;
        }
        for next in structure.successors(state).map_err(CheckError::Structure)? {
            let next = (*next, assumed, kept);
            if let Entry::Vacant(free) = before.entry(next) {
                free.insert(Some(place));
                open.push_back(next);
            }
        }
        if before.len() > limits.pairs {
            return Err(CheckError::Pairs(limits.pairs));
        }
    }
    Ok(None)
}
