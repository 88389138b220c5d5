//! Markov chains whose probabilities are known only within bounds, and bounds on their reachability probabilities.
//!
//! An [`UncertainChain`] has for each state a [`RowSet`]: the possible probability vectors of its row. [`robust_until`] bounds
//! reachability probabilities over all choices of rows. If the sets are confidence sets of counted transitions
//! ([`confidence`]), the bounds hold with that confidence.
//!
//! # Source
//! K. Sen, M. Viswanathan, G. Agha, "Model-checking Markov chains in the presence of uncertainties", TACAS 2006; A. Puggelli
//! et al., "Polynomial-time verification of PCTL properties of MDPs with convex uncertainties", CAV 2013.

pub mod confidence;
mod robust;
mod row;
#[cfg(test)]
mod tests;

pub use robust::{Bounds, Steps, robust_until};
pub use row::RowSet;

use guard_automata::graph::{Digraph, DigraphBuilder, NodeSet};

use super::chain::{Chain, ChainBuilder, ChainError};

/// A Markov chain in which each row is one of a set of rows.
#[derive(Clone, Debug)]
pub struct UncertainChain {
    graph: Digraph,
    rows: Vec<RowSet>,
    labels: indexmap::IndexMap<String, NodeSet>,
    initial: NodeSet,
}

impl UncertainChain {
    /// Returns a chain from its rows: successors in ascending order, and the set of their probabilities. State 0 is
    /// initial.
    ///
    /// # Errors
    /// The chain is empty, a successor does not exist, or a row set is empty or differs from its row in length.
    pub fn new(rows: Vec<(Vec<u32>, RowSet)>) -> Result<UncertainChain, ChainError> {
        if rows.is_empty() {
            return Err(ChainError::Empty);
        }
        let mut builder = DigraphBuilder::with_capacity(rows.len(), 0);
        let mut sets = Vec::with_capacity(rows.len());
        let states = rows.len();
        for (state, (successors, set)) in rows.into_iter().enumerate() {
            if let Some(target) = successors.iter().find(|target| **target as usize >= states) {
                return Err(ChainError::NoState {
                    state: u64::from(*target),
                    states,
                });
            }
            set.check(successors.len())
                .map_err(|sum| ChainError::RowSum { state, sum })?;
            for target in successors {
                builder.edge(target);
            }
            builder.end_row();
            sets.push(set);
        }
        let graph = builder.finish()?;
        Ok(UncertainChain {
            initial: graph.set([0]),
            labels: indexmap::IndexMap::new(),
            rows: sets,
            graph,
        })
    }

    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Always returns false: there is at least one state.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the graph of possible transitions.
    pub fn graph(&self) -> &Digraph {
        &self.graph
    }

    /// Returns the set of possible rows of a state.
    pub fn row(&self, state: u32) -> &RowSet {
        &self.rows[state as usize]
    }

    /// Returns the initial states.
    pub fn initial(&self) -> &NodeSet {
        &self.initial
    }

    /// Returns the states that carry a label.
    pub fn label(&self, name: &str) -> Option<&NodeSet> {
        self.labels.get(name)
    }

    /// Returns the states and their labels as a chain in which each state has only a self-loop. A [checker](super::Checker)
    /// evaluates conditions on single states on it for [`Checker::robust`](super::Checker::robust).
    ///
    /// # Errors
    /// [`ChainError::NoInitial`].
    pub fn states(&self) -> Result<Chain<f64>, ChainError> {
        let mut builder = ChainBuilder::with_capacity(self.len(), self.len());
        for state in 0..self.len() as u32 {
            builder.transition(state, 1.0);
            builder.end_row()?;
        }
        let initial = self.initial.ones().map(|state| state as u32);
        let mut chain = builder.finish(initial, None)?;
        for (name, states) in &self.labels {
            chain.add_label(name, states.clone());
        }
        Ok(chain)
    }

    /// Returns a set of states.
    pub fn set(&self, states: impl IntoIterator<Item = u32>) -> NodeSet {
        self.graph.set(states)
    }

    /// Adds a label; a nonempty `init` replaces the initial states.
    pub fn add_label(&mut self, name: &str, states: NodeSet) {
        if name == "init" && !states.is_clear() {
            self.initial = states.clone();
        }
        self.labels.insert(name.to_owned(), states);
    }
}
