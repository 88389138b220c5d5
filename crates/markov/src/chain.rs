//! The chain itself: transitions, initial states, labels, rewards, and the errors of invalid ones.

use indexmap::IndexMap;

use guard_automata::graph::{Digraph, DigraphBuilder, NodeSet};

use super::scalar::Scalar;
use super::valuation::Valuations;

/// The allowed distance of the sum of a row from 1, which covers rounding to six printed digits.
pub const ROW_TOLERANCE: f64 = 1e-5;

/// A finite discrete-time Markov chain.
///
/// # Shape
/// States are `0..len`. Edge `e` of [`Chain::graph`] has probability `probabilities[e]`; rows are sorted by target and
/// hold no zeros and no target twice. Every state has a successor.
#[derive(Clone, Debug)]
pub struct Chain<V> {
    graph: Digraph,
    probabilities: Vec<V>,
    initial: NodeSet,
    labels: IndexMap<String, NodeSet>,
    rewards: Vec<Rewards<V>>,
    valuations: Option<Valuations>,
}

/// A reward structure.
#[derive(Clone, Debug)]
pub struct Rewards<V> {
    /// Its name; empty if it has none.
    pub name: String,
    /// The reward of each step in a state, by state; empty if there is none.
    pub state: Vec<V>,
    /// The mean reward of each step out of a state, by state; empty if there is none.
    pub step: Vec<V>,
}

/// The fault of a chain.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChainError {
    /// The chain has no states.
    #[error("the model has no states")]
    Empty,
    /// No state is initial.
    #[error("the model has no initial state: one state must carry the label `init`")]
    NoInitial,
    /// A state that does not exist is named.
    #[error("state {state} does not exist: the model has {states} states, 0 to {}", states.saturating_sub(1))]
    NoState {
        /// The name.
        state: u64,
        /// The number of states.
        states: usize,
    },
    /// A number that is not a probability.
    #[error("the probability {value} from state {from} to state {to} is not between 0 and 1")]
    NoProbability {
        /// Source.
        from: usize,
        /// Target.
        to: u32,
        /// The number that was given.
        value: String,
    },
    /// A row that does not sum to 1.
    #[error("the probabilities out of state {state} sum to {sum} instead of 1")]
    RowSum {
        /// The state.
        state: usize,
        /// The sum.
        sum: String,
    },
    /// A reward that is not a finite number from 0 on.
    #[error("unsupported reward {value} of state {state}: expected a finite number of at least 0")]
    BadReward {
        /// The state.
        state: usize,
        /// The number that was given.
        value: String,
    },
    /// More states or transitions than can be numbered.
    #[error(transparent)]
    TooLarge(#[from] guard_automata::graph::TooLarge),
}

impl<V: Scalar> Chain<V> {
    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.graph.len()
    }

    /// Always false: a chain has at least one state.
    pub fn is_empty(&self) -> bool {
        self.graph.is_empty()
    }

    /// Returns the states and transitions.
    pub fn graph(&self) -> &Digraph {
        &self.graph
    }

    /// Returns the probabilities of the transitions, by edge.
    pub fn probabilities(&self) -> &[V] {
        &self.probabilities
    }

    /// Returns the transitions out of a state.
    pub fn row(&self, state: u32) -> impl Iterator<Item = (u32, &V)> {
        let edges = self.graph.edges(state);
        self.graph
            .successors(state)
            .iter()
            .copied()
            .zip(&self.probabilities[edges])
    }

    /// Returns the initial states, of which there is at least one.
    pub fn initial(&self) -> &NodeSet {
        &self.initial
    }

    /// Returns the states that carry a label; `init` and `deadlock` are always there.
    pub fn label(&self, name: &str) -> Option<&NodeSet> {
        self.labels.get(name)
    }

    /// Returns all labels, in the order in which they were declared.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &NodeSet)> {
        self.labels.iter().map(|(name, set)| (name.as_str(), set))
    }

    /// Returns the reward structures.
    pub fn rewards(&self) -> &[Rewards<V>] {
        &self.rewards
    }

    /// Returns the name of a state: the values of its variables, else its number.
    pub fn name(&self, state: u32) -> String {
        match &self.valuations {
            Some(valuations) => valuations.text(state),
            None => state.to_string(),
        }
    }

    /// Returns the values of the variables in each state, if known.
    pub fn valuations(&self) -> Option<&Valuations> {
        self.valuations.as_ref()
    }

    /// Returns the states in the order in which they are listed: by the values of their variables, as PRISM does, or by
    /// number.
    pub fn listing(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        if let Some(valuations) = &self.valuations {
            order.sort_by_cached_key(|&state| valuations.values(state));
        }
        order
    }

    /// Returns a chain made from another one, without labels or rewards; its rows are known to be sound.
    pub(crate) fn derived(graph: Digraph, probabilities: Vec<V>) -> Chain<V> {
        let initial = graph.set([0]);
        Chain {
            graph,
            probabilities,
            initial,
            labels: IndexMap::new(),
            rewards: Vec::new(),
            valuations: None,
        }
    }

    /// Returns the chain with another set of initial states.
    ///
    /// # Errors
    /// [`ChainError::NoInitial`] if the set is empty.
    pub fn with_initial(mut self, initial: NodeSet) -> Result<Chain<V>, ChainError> {
        if initial.is_clear() {
            return Err(ChainError::NoInitial);
        }
        self.labels.insert("init".to_owned(), initial.clone());
        self.initial = initial;
        Ok(self)
    }

    /// Adds a label, or replaces one.
    pub fn add_label(&mut self, name: &str, states: NodeSet) {
        self.labels.insert(name.to_owned(), states);
    }

    /// Adds a reward structure.
    ///
    /// # Errors
    /// [`ChainError::BadReward`] for a reward that is negative or not finite.
    pub fn add_rewards(&mut self, rewards: Rewards<V>) -> Result<(), ChainError> {
        for (state, value) in rewards.state.iter().chain(&rewards.step).enumerate() {
            if !(*value >= V::zero() && value.to_f64() < f64::INFINITY) {
                return Err(ChainError::BadReward {
                    state: state % self.len(),
                    value: value.text(),
                });
            }
        }
        self.rewards.push(rewards);
        Ok(())
    }

    /// Returns the bytes that the chain's transitions take.
    pub fn transition_bytes(&self) -> usize {
        self.graph.edge_count() * (size_of::<u32>() + size_of::<V>())
            + (self.len() + 1) * size_of::<u32>()
    }
}

/// A chain that is being read, row by row.
#[derive(Debug)]
pub struct ChainBuilder<V> {
    graph: DigraphBuilder,
    probabilities: Vec<V>,
    row: Vec<(u32, V)>,
    rows: usize,
    deadlocks: Vec<u32>,
}

impl<V: Scalar> Default for ChainBuilder<V> {
    fn default() -> Self {
        ChainBuilder::with_capacity(0, 0)
    }
}

impl<V: Scalar> ChainBuilder<V> {
    /// Returns an empty chain with room for this many states and transitions.
    pub fn with_capacity(states: usize, transitions: usize) -> ChainBuilder<V> {
        ChainBuilder {
            graph: DigraphBuilder::with_capacity(states, transitions),
            probabilities: Vec::with_capacity(transitions),
            row: Vec::new(),
            rows: 0,
            deadlocks: Vec::new(),
        }
    }

    /// Adds a transition of the state whose row is open. Several transitions to one target are added up.
    pub fn transition(&mut self, target: u32, probability: V) {
        self.row.push((target, probability));
    }

    /// Closes the row of the current state. A state without a transition is a deadlock and gets a loop, as PRISM does.
    ///
    /// # Errors
    /// A number that is not a probability, or a sum that is not 1.
    pub fn end_row(&mut self) -> Result<(), ChainError> {
        let state = self.rows;
        self.rows += 1;
        if self.row.is_empty() {
            self.deadlocks.push(state as u32);
            self.row.push((state as u32, V::one()));
        }
        if !self.row.is_sorted_by(|left, right| left.0 < right.0) {
            self.row.sort_by_key(|entry| entry.0);
            self.row.dedup_by(|later, kept| {
                let same = later.0 == kept.0;
                if same {
                    kept.1 = kept.1.plus(&later.1);
                }
                same
            });
        }
        let mut sum = V::zero();
        for (target, probability) in self.row.drain(..) {
            // Written so that NaN is refused as well.
            let sound = probability >= V::zero() && probability.to_f64() <= 1.0 + ROW_TOLERANCE;
            if !sound {
                return Err(ChainError::NoProbability {
                    from: state,
                    to: target,
                    value: probability.text(),
                });
            }
            sum = sum.plus(&probability);
            if !probability.is_zero() {
                self.graph.edge(target);
                self.probabilities.push(probability);
            }
        }
        self.graph.end_row();
        let sound = (sum.to_f64() - 1.0).abs() <= ROW_TOLERANCE;
        if !sound {
            return Err(ChainError::RowSum {
                state,
                sum: format!("{}", sum.to_f64()),
            });
        }
        Ok(())
    }

    /// Returns the number of rows that are closed.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether no row is closed.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns the states that had no transition.
    pub fn deadlocks(&self) -> &[u32] {
        &self.deadlocks
    }

    /// Returns the chain, with the labels `init` and `deadlock`; the other labels, which may name these as well, follow.
    ///
    /// # Errors
    /// An empty model, no initial state, a transition to a state that does not exist, or too large a model.
    pub fn finish(
        self,
        initial: impl IntoIterator<Item = u32>,
        valuations: Option<Valuations>,
    ) -> Result<Chain<V>, ChainError> {
        if self.rows == 0 {
            return Err(ChainError::Empty);
        }
        let states = self.rows;
        let graph = self.graph.finish().map_err(|wrong| {
            if wrong.nodes > states {
                ChainError::NoState {
                    state: wrong.nodes as u64 - 1,
                    states,
                }
            } else {
                ChainError::TooLarge(wrong)
            }
        })?;
        let mut chosen = graph.none();
        for state in initial {
            if state as usize >= states {
                return Err(ChainError::NoState {
                    state: u64::from(state),
                    states,
                });
            }
            chosen.insert(state as usize);
        }
        if chosen.is_clear() {
            return Err(ChainError::NoInitial);
        }
        let deadlocks = graph.set(self.deadlocks);
        let labels = IndexMap::from([
            ("init".to_owned(), chosen.clone()),
            ("deadlock".to_owned(), deadlocks),
        ]);
        Ok(Chain {
            graph,
            probabilities: self.probabilities,
            initial: chosen,
            labels,
            rewards: Vec::new(),
            valuations,
        })
    }
}
