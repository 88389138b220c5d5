//! Structures: states, successors, atoms, runs.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::convert::Infallible;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Atom;
use crate::graph::{Digraph, DigraphBuilder, NodeSet};

/// States numbered from 0, which may be created on demand.
pub trait Structure {
    /// The error that prevents creating states, such as a limit.
    type Error;

    /// Returns the initial states.
    ///
    /// # Errors
    /// Ends the search.
    fn initial(&mut self) -> Result<Vec<u32>, Self::Error>;

    /// Returns the successors of a state, at least one; the same each time.
    ///
    /// # Errors
    /// Ends the search.
    fn successors(&mut self, state: u32) -> Result<&[u32], Self::Error>;

    /// Whether an atom holds in a state that the structure has returned.
    fn holds(&self, state: u32, atom: Atom) -> bool;
}

/// A structure with all its states, in compressed rows, and the states of each atom as a set.
#[derive(Clone, Debug)]
pub struct Kripke {
    graph: Digraph,
    reversed: Digraph,
    initial: Vec<u32>,
    labels: Vec<NodeSet>,
    deadlocks: Vec<u32>,
}

/// A run: `stem` once, then `cycle` forever. With an empty cycle, any continuation is allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// States before the cycle.
    pub stem: Vec<u32>,
    /// States that repeat.
    pub cycle: Vec<u32>,
}

impl Kripke {
    /// Returns a structure of these states; `labels[a]` are the states in which atom `a` holds.
    ///
    /// A state without successors gets a loop and is listed in [`deadlocks`](Self::deadlocks).
    pub fn new(graph: Digraph, initial: Vec<u32>, labels: Vec<NodeSet>) -> Kripke {
        let deadlocks: Vec<u32> = (0..graph.len() as u32)
            .filter(|state| graph.successors(*state).is_empty())
            .collect();
        let graph = match deadlocks.as_slice() {
            [] => graph,
            _ => total(&graph),
        };
        Kripke {
            reversed: graph.reversed(),
            graph,
            initial,
            labels,
            deadlocks,
        }
    }

    /// Returns the successors.
    pub fn graph(&self) -> &Digraph {
        &self.graph
    }

    /// Returns the predecessors.
    pub fn reversed(&self) -> &Digraph {
        &self.reversed
    }

    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.graph.len()
    }

    /// Whether there are no states.
    pub fn is_empty(&self) -> bool {
        self.graph.is_empty()
    }

    /// Returns the initial states.
    pub fn initial(&self) -> &[u32] {
        &self.initial
    }

    /// Returns the states in which an atom holds; empty for an atom without states.
    pub fn label(&self, atom: Atom) -> NodeSet {
        let known = self.labels.get(atom.0 as usize);
        known.map_or_else(|| self.graph.none(), NodeSet::clone)
    }

    /// Returns the states that had no successor and were given a loop.
    pub fn deadlocks(&self) -> &[u32] {
        &self.deadlocks
    }
}

/// Returns the graph with an edge from every node without successors to itself.
fn total(graph: &Digraph) -> Digraph {
    let mut made = DigraphBuilder::with_capacity(graph.len(), graph.edge_count() + 1);
    for node in 0..graph.len() as u32 {
        let targets = graph.successors(node);
        for target in targets {
            made.edge(*target);
        }
        if targets.is_empty() {
            made.edge(node);
        }
        made.end_row();
    }
    // If the added loops exceed the limit on edges, the graph stays as it is.
    made.finish().unwrap_or_else(|_| graph.clone())
}

impl Structure for &Kripke {
    type Error = Infallible;

    fn initial(&mut self) -> Result<Vec<u32>, Infallible> {
        Ok(self.initial.clone())
    }

    fn successors(&mut self, state: u32) -> Result<&[u32], Infallible> {
        Ok(self.graph.successors(state))
    }

    fn holds(&self, state: u32, atom: Atom) -> bool {
        let label = self.labels.get(atom.0 as usize);
        label.is_some_and(|label| label.contains(state as usize))
    }
}

impl Run {
    /// Returns all its states, the cycle once.
    pub fn states(&self) -> impl Iterator<Item = u32> + '_ {
        self.stem.iter().chain(&self.cycle).copied()
    }

    /// Returns a run that begins with these states, at least one, and continues into a cycle: the cycle that the search finds
    /// first, with a shortest path to it and around it.
    ///
    /// # Errors
    /// Those of the structure.
    pub fn closed<S: Structure>(structure: &mut S, states: Vec<u32>) -> Result<Run, S::Error> {
        let mut stem = states;
        let Some(start) = stem.pop() else {
            return Ok(Run::default());
        };
        let found = some_cycle(structure, start)?;
        let way = shortest(structure, start, |state| found.contains(&state))?;
        let entry = way.last().copied().unwrap_or(start);
        stem.extend(way);
        stem.pop();
        let mut cycle = vec![entry];
        let targets = structure.successors(entry)?.to_vec();
        if !targets.contains(&entry) {
            // The way back from some successor; one of them lies on the cycle that was found.
            let mut best: Option<Vec<u32>> = None;
            for target in targets {
                let back = shortest(structure, target, |state| state == entry)?;
                let reached = back.last() == Some(&entry);
                if reached && best.as_ref().is_none_or(|best| back.len() < best.len()) {
                    best = Some(back);
                }
            }
            cycle.extend(best.unwrap_or_default());
            cycle.pop();
        }
        Ok(Run { stem, cycle })
    }
}

/// Returns the states of a cycle that can be reached. There is one, because every state has a successor.
fn some_cycle<S: Structure>(structure: &mut S, start: u32) -> Result<FxHashSet<u32>, S::Error> {
    let mut path = vec![start];
    let mut places: FxHashMap<u32, usize> = FxHashMap::from_iter([(start, 0)]);
    loop {
        let last = path.last().copied().unwrap_or(start);
        let next = structure.successors(last)?.first().copied().unwrap_or(last);
        if let Some(turn) = places.get(&next) {
            return Ok(path.split_off(*turn).into_iter().collect());
        }
        places.insert(next, path.len());
        path.push(next);
    }
}

/// Returns a shortest path from a state to a wanted one, both included; only the state itself if none is reachable.
fn shortest<S: Structure>(
    structure: &mut S,
    start: u32,
    wanted: impl Fn(u32) -> bool,
) -> Result<Vec<u32>, S::Error> {
    let mut before: FxHashMap<u32, u32> = FxHashMap::from_iter([(start, start)]);
    let mut open = VecDeque::from([start]);
    while let Some(state) = open.pop_front() {
        if wanted(state) {
            let mut way = vec![state];
            let mut at = state;
            while at != start {
                at = before.get(&at).copied().unwrap_or(start);
                way.push(at);
            }
            way.reverse();
            return Ok(way);
        }
        for next in structure.successors(state)? {
            if let Entry::Vacant(free) = before.entry(*next) {
                free.insert(state);
                open.push_back(*next);
            }
        }
    }
    Ok(vec![start])
}
