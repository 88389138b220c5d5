//! Markov chains: transitions, initial states, labels, rewards, and the errors of invalid chains.

use indexmap::IndexMap;

use guard_automata::graph::{Digraph, DigraphBuilder, NodeSet};

use super::scalar::Scalar;
use super::valuation::Valuations;

/// The largest accepted distance of the sum of a row from 1; covers rounding to six printed digits.
pub const ROW_TOLERANCE: f64 = 1e-5;

/// A finite discrete-time Markov chain.
///
/// # Shape
/// States are `0..len`. Edge `e` of [`Chain::graph`] has probability `probabilities[e]`; rows are sorted by target and
/// hold no zeros and no target twice. Every state has a successor.
///
/// # Accuracy
/// The numbers of a row are proportions: its probabilities are these numbers divided by their sum, which rounding to six digits moves
/// away from 1.
///
/// The numbers have an error of `given` units each: 1 if they are decimals that were read, more if they were computed. Of that of a
/// probability, one unit for the quotient and the given ones are its own ([`Chain::own_units`]). The rest is a factor that the row has
/// in common, which does not change where a state is left to: either the given ones of the sum and 2 for summing, or for a sum that seems
/// to be 1, 2 more by which it may differ from that ([`Chain::probability_units`]).
#[derive(Clone, Debug)]
pub struct Chain<V> {
    graph: Digraph,
    probabilities: Vec<V>,
    /// The units of error of the numbers that the probabilities were made from.
    given: f64,
    initial: NodeSet,
    labels: IndexMap<String, NodeSet>,
    rewards: Vec<Rewards<V>>,
    valuations: Option<Valuations>,
}

/// A reward structure.
#[derive(Clone, Debug)]
pub struct Rewards<V> {
    /// The name; empty if it has none.
    pub name: String,
    /// The reward of each step in a state, by state; may be empty if all are 0.
    pub state: Vec<V>,
    /// The mean reward of each step out of a state, by state; may be empty if all are 0.
    pub step: Vec<V>,
}

/// The reason why a chain is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChainError {
    /// The chain has no states.
    #[error("the model has no states")]
    Empty,
    /// No state is initial.
    #[error("the model has no initial state: one state must carry the label `init`")]
    NoInitial,
    /// A state is named that does not exist.
    #[error("state {state} does not exist: the model has {states} states, 0 to {}", states.saturating_sub(1))]
    NoState {
        /// The number of the state.
        state: u64,
        /// The number of states.
        states: usize,
    },
    /// A probability is negative, greater than 1 or not a number.
    #[error("the probability {value} from state {from} to state {to} is not between 0 and 1")]
    NoProbability {
        /// The source state.
        from: usize,
        /// The target state.
        to: u32,
        /// The given number.
        value: String,
    },
    /// A row does not sum to 1.
    #[error("the probabilities out of state {state} sum to {sum} instead of 1")]
    RowSum {
        /// The state.
        state: usize,
        /// The sum.
        sum: String,
    },
    /// A reward is negative or not finite.
    #[error("unsupported reward {value} of state {state}: expected a finite number of at least 0")]
    BadReward {
        /// The state.
        state: usize,
        /// The given number.
        value: String,
    },
    /// The chain has more states or transitions than 32-bit numbers can index.
    #[error(transparent)]
    TooLarge(#[from] guard_automata::graph::TooLarge),
}

impl<V: Scalar> Chain<V> {
    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.graph.len()
    }

    /// Always returns false: a chain has at least one state.
    pub fn is_empty(&self) -> bool {
        self.graph.is_empty()
    }

    /// Returns the graph of states and transitions.
    pub fn graph(&self) -> &Digraph {
        &self.graph
    }

    /// Returns the probabilities of the transitions, indexed by edge.
    pub fn probabilities(&self) -> &[V] {
        &self.probabilities
    }

    /// Returns the units of error of a probability.
    pub(crate) fn probability_units(&self) -> f64 {
        2.0 * self.given + 4.0
    }

    /// Returns the units of error of a probability that are not a factor of its whole row.
    pub(crate) fn own_units(&self) -> f64 {
        self.given + 1.0
    }

    /// Returns the targets of the transitions out of a state, ascending, with their probabilities.
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

    /// Returns the states that carry a label; `init` and `deadlock` always exist.
    pub fn label(&self, name: &str) -> Option<&NodeSet> {
        self.labels.get(name)
    }

    /// Returns all labels in the order of declaration.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &NodeSet)> {
        self.labels.iter().map(|(name, set)| (name.as_str(), set))
    }

    /// Returns the reward structures.
    pub fn rewards(&self) -> &[Rewards<V>] {
        &self.rewards
    }

    /// Returns the name of a state: the values of its variables if known, otherwise its number.
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

    /// Returns the states in the order for output: by the values of their variables, as in PRISM, or by number.
    pub fn listing(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        if let Some(valuations) = &self.valuations {
            order.sort_by_cached_key(|&state| valuations.values(state));
        }
        order
    }

    /// Returns a chain without labels or rewards, with state 0 as initial state, whose rows are rows of this one.
    pub(crate) fn derived(&self, graph: Digraph, probabilities: Vec<V>) -> Chain<V> {
        let initial = graph.set([0]);
        Chain {
            graph,
            probabilities,
            given: self.given,
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

/// A chain under construction, row by row.
#[derive(Debug)]
pub struct ChainBuilder<V> {
    graph: DigraphBuilder,
    probabilities: Vec<V>,
    row: Vec<(u32, V)>,
    rows: usize,
    deadlocks: Vec<u32>,
    given: f64,
    /// Whether a row had several numbers for one target.
    sums: bool,
}

impl<V: Scalar> Default for ChainBuilder<V> {
    fn default() -> Self {
        ChainBuilder::with_capacity(0, 0)
    }
}

impl<V: Scalar> ChainBuilder<V> {
    /// Returns an empty builder with room for this many states and transitions.
    pub fn with_capacity(states: usize, transitions: usize) -> ChainBuilder<V> {
        ChainBuilder {
            graph: DigraphBuilder::with_capacity(states, transitions),
            probabilities: Vec::with_capacity(transitions),
            row: Vec::new(),
            rows: 0,
            deadlocks: Vec::new(),
            given: 1.0,
            sums: false,
        }
    }

    /// Declares that the numbers of transitions have up to this many units of error, instead of the one of a decimal that was read.
    pub fn given_within(&mut self, units: f64) {
        self.given = self.given.max(units);
    }

    /// Adds a transition to the current row. Several transitions to one target are added up.
    pub fn transition(&mut self, target: u32, probability: V) {
        self.row.push((target, probability));
    }

    /// Closes the current row and scales it to the sum 1. A state without a transition is a deadlock and gets a self-loop, as in PRISM.
    ///
    /// # Errors
    /// [`ChainError::NoProbability`] or [`ChainError::RowSum`].
    pub fn end_row(&mut self) -> Result<(), ChainError> {
        let state = self.rows;
        self.rows += 1;
        if self.row.is_empty() {
            self.deadlocks.push(state as u32);
            self.row.push((state as u32, V::one()));
        }
        if !self.row.is_sorted_by(|left, right| left.0 < right.0) {
            self.row.sort_by_key(|entry| entry.0);
            if self.row.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                self.add_up();
            }
        }
        let first = self.probabilities.len();
        for (target, probability) in self.row.drain(..) {
            // The form of the condition rejects NaN too.
            let sound = probability >= V::zero() && probability.to_f64() <= 1.0 + ROW_TOLERANCE;
            if !sound {
                return Err(ChainError::NoProbability {
                    from: state,
                    to: target,
                    value: probability.text(),
                });
            }
            if !probability.is_zero() {
                self.graph.edge(target);
                self.probabilities.push(probability);
            }
        }
        self.graph.end_row();
        let row = &mut self.probabilities[first..];
        let sum = V::sum(row);
        let off = sum.minus(&V::one());
        let sound = off.to_f64().abs() <= ROW_TOLERANCE;
        if !sound {
            return Err(ChainError::RowSum {
                state,
                sum: format!("{}", sum.to_f64()),
            });
        }
        // The sum of doubles differs by this much if that of their decimals is 1: these stay as they are.
        let is_one = off.is_zero() || (!V::EXACT && off.to_f64().abs() <= f64::EPSILON);
        if !is_one {
            for probability in row {
                *probability = probability.over(&sum);
            }
        }
        Ok(())
    }

    /// Adds up the numbers of each target of the current row, which is sorted.
    fn add_up(&mut self) {
        self.sums = true;
        let row = std::mem::take(&mut self.row);
        let mut numbers = Vec::new();
        for same in row.chunk_by(|one, next| one.0 == next.0) {
            numbers.clear();
            numbers.extend(same.iter().map(|entry| entry.1.clone()));
            self.row.push((same[0].0, V::sum(&numbers)));
        }
    }

    /// Returns the number of closed rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether no row is closed.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns the states that had no transition.
    pub fn deadlocks(&self) -> &[u32] {
        &self.deadlocks
    }

    /// Returns the chain with the labels `init` and `deadlock`. Callers add other labels afterwards and may replace
    /// these two.
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
            // A compensated sum adds two units.
            given: self.given + if self.sums { 2.0 } else { 0.0 },
            initial: chosen,
            labels,
            rewards: Vec::new(),
            valuations,
        })
    }
}
