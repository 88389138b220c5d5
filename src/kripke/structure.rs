//! Structures: states, successors, atoms, runs.

use std::collections::VecDeque;
use std::convert::Infallible;

use rustc_hash::FxHashMap;

use crate::automata::Atom;
use crate::graph::{Digraph, DigraphBuilder, NodeSet};

/// States numbered from 0, which may come into being as they are asked for.
pub trait Structure {
    /// Why states cannot be made, such as a limit.
    type Error;

    /// The initial states.
    ///
    /// # Errors
    /// Ends the search.
    fn initial(&mut self) -> Result<Vec<u32>, Self::Error>;

    /// The successors of a state, at least one; the same each time.
    ///
    /// # Errors
    /// Ends the search.
    fn successors(&mut self, state: u32) -> Result<&[u32], Self::Error>;

    /// Whether an atom holds in a state that was handed out.
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

/// A run: `stem` once, then `cycle` forever. Where the cycle is empty the run may go on in any way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// States before the cycle.
    pub stem: Vec<u32>,
    /// States that repeat.
    pub cycle: Vec<u32>,
}

impl Kripke {
    /// A structure of these states; `labels[a]` are the states in which atom `a` holds.
    ///
    /// States without successors get themselves as one, and are listed in [`deadlocks`](Self::deadlocks).
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

    /// The successors.
    pub fn graph(&self) -> &Digraph {
        &self.graph
    }

    /// The predecessors.
    pub fn reversed(&self) -> &Digraph {
        &self.reversed
    }

    /// The number of states.
    pub fn len(&self) -> usize {
        self.graph.len()
    }

    /// Whether there are no states.
    pub fn is_empty(&self) -> bool {
        self.graph.is_empty()
    }

    /// The initial states.
    pub fn initial(&self) -> &[u32] {
        &self.initial
    }

    /// The states in which an atom holds; none for an atom without states.
    pub fn label(&self, atom: Atom) -> NodeSet {
        let known = self.labels.get(atom.0 as usize);
        known.map_or_else(|| self.graph.none(), NodeSet::clone)
    }

    /// States that had no successor, and stay as they are.
    pub fn deadlocks(&self) -> &[u32] {
        &self.deadlocks
    }
}

/// The graph with an edge from every node without successors to itself.
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
    // One edge more for each node still fits, or the graph that was given did not.
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
    /// All its states, the cycle once.
    pub fn states(&self) -> impl Iterator<Item = u32> + '_ {
        self.stem.iter().chain(&self.cycle).copied()
    }

    /// A run that begins with these states, at least one, and ends in a cycle: the way on from the last is the shortest to
    /// a state that repeats.
    ///
    /// # Errors
    /// Those of the structure.
    pub fn closed<S: Structure>(structure: &mut S, states: Vec<u32>) -> Result<Run, S::Error> {
        let mut stem = states;
        let Some(start) = stem.pop() else {
            return Ok(Run::default());
        };
        // Breadth first from the end: the first edge that leads back to a state on the way to its source closes a cycle.
        let mut before: FxHashMap<u32, Option<u32>> = FxHashMap::default();
        let mut open = VecDeque::from([start]);
        before.insert(start, None);
        while let Some(state) = open.pop_front() {
            let mut way = vec![state];
            while let Some(Some(earlier)) = way.last().and_then(|last| before.get(last)) {
                way.push(*earlier);
            }
            way.reverse();
            for next in structure.successors(state)? {
                if let Some(turn) = way.iter().position(|on_way| on_way == next) {
                    let cycle = way.split_off(turn);
                    stem.extend(way);
                    return Ok(Run { stem, cycle });
                }
                if !before.contains_key(next) {
                    before.insert(*next, Some(state));
                    open.push_back(*next);
                }
            }
        }
        stem.push(start);
        Ok(Run {
            stem,
            cycle: Vec::new(),
        })
    }
}
