//! Steps of sets of states: all runs of a nondeterministic automaton on a letter, as a diagram.

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::buchi::{Buchi, Edge};
use crate::diagram::{Combine, Diagrams, PairCache, Ref};
use crate::limits::{LimitError, Limits, Meter};

/// The edges of states by letter. Lists of edges are numbered; number 0 is the empty list.
pub(super) struct Steps {
    pub(super) diagrams: Diagrams,
    pub(super) meter: Meter,
    /// The number of the preceding list, and the source and index of its last edge.
    lists: IndexSet<(u32, u32, u32), FxBuildHasher>,
    /// Per state the diagram of its edges alone.
    of: FxHashMap<u32, Ref>,
    joins: PairCache,
}

/// Appends an edge where its guard holds.
struct Append<'a>(&'a mut IndexSet<(u32, u32, u32), FxBuildHasher>, u32, u32);

impl Combine for Append<'_> {
    const COMMUTES: bool = false;
    fn leaves(&mut self, list: u32, guard: u32, meter: &mut Meter) -> Result<u32, LimitError> {
        if guard == 0 {
            return Ok(list);
        }
        let (index, new) = self.0.insert_full((list, self.1, self.2));
        meter.grow(usize::from(new))?;
        Ok(index as u32)
    }
}

/// Appends one list to another.
struct Join<'a>(&'a mut IndexSet<(u32, u32, u32), FxBuildHasher>);

impl Combine for Join<'_> {
    const COMMUTES: bool = false;
    fn leaves(&mut self, list: u32, tail: u32, meter: &mut Meter) -> Result<u32, LimitError> {
        let mut rest = Vec::new();
        let mut at = tail;
        while at != 0 {
            let (before, source, place) = self.0[at as usize];
            rest.push((source, place));
            at = before;
        }
        let mut list = list;
        for (source, place) in rest.into_iter().rev() {
            let (index, new) = self.0.insert_full((list, source, place));
            meter.grow(usize::from(new))?;
            list = index as u32;
        }
        Ok(list)
    }
}

impl Steps {
    pub(super) fn new(buchi: &Buchi, limits: &Limits) -> Steps {
        Steps {
            diagrams: buchi.guards.diagrams().clone(),
            meter: Meter::new(limits),
            lists: IndexSet::from_iter([(0, u32::MAX, u32::MAX)]),
            of: FxHashMap::default(),
            joins: PairCache::default(),
        }
    }

    /// Returns, for every letter, the list of edges that leave one of these states on it.
    pub(super) fn step(
        &mut self,
        buchi: &Buchi,
        states: impl Iterator<Item = u32>,
    ) -> Result<Ref, LimitError> {
        let mut all = Ref::leaf(0);
        for state in states {
            let one = self.of(buchi, state)?;
            let mut join = Join(&mut self.lists);
            all = self
                .diagrams
                .apply(&mut self.joins, all, one, &mut join, &mut self.meter)?;
        }
        Ok(all)
    }

    fn of(&mut self, buchi: &Buchi, state: u32) -> Result<Ref, LimitError> {
        if let Some(&known) = self.of.get(&state) {
            return Ok(known);
        }
        let mut all = Ref::leaf(0);
        for (place, edge) in buchi.edges[state as usize].iter().enumerate() {
            let mut append = Append(&mut self.lists, state, place as u32);
            let cache = &mut PairCache::default();
            all = self
                .diagrams
                .apply(cache, all, edge.guard.0, &mut append, &mut self.meter)?;
        }
        self.of.insert(state, all);
        Ok(all)
    }

    /// Returns the edges of a list with their sources, in the order of the states.
    pub(super) fn edges(&self, buchi: &Buchi, mut list: u32) -> Arc<[(u32, Edge)]> {
        let mut edges = Vec::new();
        while list != 0 {
            let (before, source, place) = self.lists[list as usize];
            edges.push((source, buchi.edges[source as usize][place as usize]));
            list = before;
        }
        edges.reverse();
        edges.into()
    }
}
