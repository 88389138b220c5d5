//! The product of a structure and a Büchi automaton, generated during the search for runs.

use crate::Atom;
use crate::StateId;
use crate::omega::{Buchi, Edges, Graph, Marks};

use super::Structure;

/// A state of the structure, and the state of the automaton before it reads that state.
pub(super) type Pair = (u32, StateId);

/// The product, generated during the search. Each fairness atom adds one mark.
pub(super) struct Product<'a, S> {
    pub(super) structure: &'a mut S,
    pub(super) buchi: &'a Buchi,
    pub(super) fair: &'a [Atom],
    /// The number of expanded pairs, and its limit.
    pub(super) pairs: usize,
    pub(super) limit: usize,
}

/// The reason why the search ended without an answer.
pub(super) enum Stop<E> {
    /// The structure cannot be expanded further.
    Structure(E),
    /// More pairs were visited than the limit allows.
    Limit,
}

impl<S: Structure> Product<'_, S> {
    /// Returns the marks that an edge from a state carries for fairness.
    pub(super) fn fairness(&self, state: u32) -> Marks {
        let marks = self.fair.iter().zip(self.buchi.n_marks()..);
        marks
            .filter(|(atom, _)| self.structure.holds(state, **atom))
            .map(|(_, mark)| mark)
            .collect()
    }

    pub(super) fn n_marks(&self) -> u32 {
        self.buchi.n_marks() + u32::try_from(self.fair.len()).unwrap_or(u32::MAX)
    }
}

impl<S: Structure> Graph for Product<'_, S> {
    type Vertex = Pair;
    type Label = ();
    type Error = Stop<S::Error>;

    fn initial(&mut self) -> Result<Vec<Pair>, Stop<S::Error>> {
        let states = self.structure.initial().map_err(Stop::Structure)?;
        let start = self.buchi.initial();
        Ok(states.into_iter().map(|state| (state, start)).collect())
    }

    fn edges(&mut self, &(state, at): &Pair) -> Result<Edges<Self>, Stop<S::Error>> {
        self.pairs += 1;
        if self.pairs > self.limit {
            return Err(Stop::Limit);
        }
        let fairness = self.fairness(state);
        let structure = &*self.structure;
        let moves: Vec<(StateId, Marks)> = self
            .buchi
            .successors(at, |atom| structure.holds(state, atom))
            .map(|(target, marks)| (target, marks.union(fairness)))
            .collect();
        if moves.is_empty() {
            return Ok(Vec::new());
        }
        let next = self.structure.successors(state).map_err(Stop::Structure)?;
        let mut edges = Vec::with_capacity(next.len() * moves.len());
        for target in next {
            edges.extend(moves.iter().map(|(to, marks)| ((), *marks, (*target, *to))));
        }
        Ok(edges)
    }
}
