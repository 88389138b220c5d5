//! Tables of query results: at each step a running monitor needs one table lookup for a query.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::answer::{ClaimAnswer, Figure};
use super::chain::Learned;
use super::outlook::Onward;
use crate::abstraction::Key;
use crate::learn::{ChainPosition, Rows};
use guard_markov::Scalar;

/// The number of a query in each state of a learned chain, by the packed state, and the successors that contribute most.
///
/// States that no trace has visited have no number and are *unseen*. Infinite rewards are [`f64::INFINITY`]; a truth
/// value is 1 or 0.
///
/// # Complexity
/// One array access if states have few bits, otherwise one lookup in a hash table.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Kept", into = "Kept")]
pub(crate) struct RiskTable {
    /// For small keys: the index of the entry, 0 for unseen keys. Empty if states consist of more than one key.
    dense: Vec<u32>,
    /// For other states: the remembered keys, oldest first, and the states of the monitors.
    sparse: FxHashMap<State, u32>,
    /// The entries; the first one is for unseen states.
    entries: Vec<Entry>,
    /// The names of the states of the chain.
    names: Box<[String]>,
    start: Option<f64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    value: f64,
    /// Successors: the index of the name, the probability of the transition, and the value there.
    onward: Box<[(u32, f64, f64)]>,
}

/// The serialised form of a table; everything else is derived from it.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// Sorted.
    states: Vec<(State, u32)>,
    entries: Vec<Entry>,
    names: Box<[String]>,
    start: Option<f64>,
}

impl From<RiskTable> for Kept {
    fn from(table: RiskTable) -> Kept {
        let dense = (0u128..)
            .zip(&table.dense)
            .filter(|(_, entry)| **entry != 0);
        let dense = dense.map(|(key, entry)| ((Box::from([Key(key)]), Box::default()), *entry));
        let mut states: Vec<(State, u32)> = table.sparse.into_iter().chain(dense).collect();
        states.sort_unstable();
        Kept {
            states,
            entries: table.entries,
            names: table.names,
            start: table.start,
        }
    }
}

impl From<Kept> for RiskTable {
    fn from(kept: Kept) -> RiskTable {
        let (dense, sparse) = indexed(kept.states);
        RiskTable {
            dense,
            sparse,
            entries: kept.entries,
            names: kept.names,
            start: kept.start,
        }
    }
}

/// The states that a chain remembers, and the states of its monitors.
type State = (Box<[Key]>, Box<[u32]>);

/// Keys of up to this many bits are array indices.
const DENSE_BITS: u32 = 16;

/// The greatest number of successors stored for each state.
const MOST_ONWARD: usize = 3;

impl RiskTable {
    /// Returns the table for an answer on a chain.
    pub(crate) fn new<V: Scalar>(
        rows: &Rows,
        learned: &Learned<V>,
        answer: &ClaimAnswer,
    ) -> RiskTable {
        let truth = |holds: Option<bool>| if holds == Some(true) { 1.0 } else { 0.0 };
        let number = |figure: &Figure| match figure {
            Figure::Finite { value, .. } => Some(*value),
            Figure::Infinite => Some(f64::INFINITY),
            Figure::Undefined => None,
        };
        let is_number = !answer.per_state.is_empty();
        let (names, values): (Vec<String>, Vec<Option<f64>>) = if is_number {
            let each = answer.per_state.iter();
            each.map(|(name, figure)| (name.clone(), number(figure)))
                .unzip()
        } else {
            let each = answer.per_state_truth.iter();
            each.map(|(name, holds)| (name.clone(), Some(truth(*holds))))
                .unzip()
        };
        let mut states: Vec<(State, u32)> = Vec::new();
        let nothing = Entry {
            value: f64::NAN,
            onward: Box::default(),
        };
        let mut entries = vec![nothing];
        for (number, (vertex, value)) in (0u32..).zip(learned.vertices.iter().zip(&values)) {
            let ChainPosition::At(keys) = &rows.places[vertex.state as usize] else {
                continue;
            };
            let Some(value) = value.filter(|_| rows.rows[vertex.state as usize].visits > 0) else {
                continue;
            };
            let onward = if is_number {
                onward(learned, &values, number)
            } else {
                Box::default()
            };
            let state = (keys.clone(), vertex.monitors.clone());
            states.push((state, entries.len() as u32));
            entries.push(Entry { value, onward });
        }
        let (dense, sparse) = indexed(states);
        RiskTable {
            dense,
            sparse,
            entries,
            names: names.into(),
            start: match (&answer.value, answer.holds) {
                (Some(figure), _) => number(figure),
                (None, Some(holds)) => Some(truth(holds)),
                (None, None) => None,
            },
        }
    }

    /// Returns the value before the first step.
    pub(crate) fn start(&self) -> Option<f64> {
        self.start
    }

    /// Returns the value in a state that remembers these keys, oldest first, with monitors in these states, or `None` if no
    /// training trace has visited it.
    #[inline]
    pub(crate) fn at(&self, keys: &[Key], monitors: &[u32]) -> Option<f64> {
        self.entry(keys, monitors).map(|entry| entry.value)
    }

    /// Returns the successors that contribute most to a state's value, largest contribution first, each with its probability
    /// and value. Returns at most three, and never the state itself.
    pub(crate) fn onward(&self, keys: &[Key], monitors: &[u32]) -> Vec<Onward<'_>> {
        let entry = self.entry(keys, monitors);
        let one = |(state, probability, value): &(u32, f64, f64)| {
            Some(Onward {
                state: self.names.get(*state as usize)?,
                probability: *probability,
                value: *value,
            })
        };
        let all = entry.into_iter().flat_map(|entry| &entry.onward);
        all.filter_map(one).collect()
    }

    /// Returns all values, including that before the first step.
    pub(crate) fn values(&self) -> impl Iterator<Item = f64> {
        let seen = self.entries.iter().skip(1).map(|entry| entry.value);
        seen.chain(self.start)
    }

    #[inline]
    fn entry(&self, keys: &[Key], monitors: &[u32]) -> Option<&Entry> {
        let number = match (keys, monitors, self.dense.is_empty()) {
            ([key], [], false) => usize::try_from(key.0)
                .ok()
                .and_then(|place| self.dense.get(place)),
            _ => self.sparse.get(&(keys.into(), monitors.into())),
        };
        let number = number.copied().filter(|number| *number != 0)?;
        self.entries.get(number as usize)
    }
}

/// Builds the index of the entries: an array if all states are one small key each, otherwise a hash table.
fn indexed(states: Vec<(State, u32)>) -> (Vec<u32>, FxHashMap<State, u32>) {
    let plain = |(keys, monitors): &State| match &**keys {
        [key] if monitors.is_empty() => usize::try_from(key.0)
            .ok()
            .filter(|key| *key < 1 << DENSE_BITS),
        _ => None,
    };
    let most = states
        .iter()
        .map(|(state, _)| plain(state))
        .try_fold(0, |most: usize, key| key.map(|key| most.max(key)));
    let Some(most) = most.filter(|_| !states.is_empty()) else {
        return (Vec::new(), states.into_iter().collect());
    };
    let mut dense = vec![0; most + 1];
    for (state, entry) in &states {
        if let Some(key) = plain(state) {
            dense[key] = *entry;
        }
    }
    (dense, FxHashMap::default())
}

/// Returns the successors that add most to the value of a state: probability times value, as in the equations of the
/// chain.
fn onward<V: Scalar>(
    learned: &Learned<V>,
    values: &[Option<f64>],
    state: u32,
) -> Box<[(u32, f64, f64)]> {
    let row = learned.chain.row(state);
    let mut all: Vec<(u32, f64, f64)> = row
        .filter(|(target, _)| *target != state)
        .filter_map(|(target, probability)| {
            let value = values.get(target as usize).copied().flatten()?;
            (value > 0.0).then(|| (target, probability.to_f64(), value))
        })
        .collect();
    all.sort_by(|lhs, rhs| {
        let part = |of: &(u32, f64, f64)| of.1 * of.2;
        part(rhs).total_cmp(&part(lhs)).then(lhs.0.cmp(&rhs.0))
    });
    all.truncate(MOST_ONWARD);
    all.into()
}
