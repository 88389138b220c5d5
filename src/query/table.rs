//! Risks looked up: what a running monitor asks of a query at each step is one index into a table.

use rustc_hash::FxHashMap;

use super::answer::{ClaimAnswer, Figure};
use super::chain::Learned;
use crate::abstraction::Key;
use crate::learn::{Place, Rows};
use crate::markov::Scalar;

/// A query's value in each state of a learned chain, by the packed state.
///
/// States that no trace has visited are left out: they have no number, but are *unseen*. Infinite rewards are
/// [`f64::INFINITY`].
///
/// # Complexity
/// [`RiskTable::of`] is one look into an array where states take few bits, else one into a hash table.
#[derive(Clone, Debug)]
pub struct RiskTable {
    /// By key, where keys are small; NaN: not seen. Empty where states are more than one key.
    dense: Vec<f64>,
    /// By what the chain remembers: the last keys, oldest first, and where monitors stand.
    sparse: FxHashMap<(Box<[Key]>, Box<[u32]>), f64>,
    start: Option<f64>,
}

/// Keys up to this many bits index an array.
const DENSE_BITS: u32 = 16;

impl RiskTable {
    /// The table of an answer on a chain.
    pub fn new<V: Scalar>(rows: &Rows, learned: &Learned<V>, answer: &ClaimAnswer) -> RiskTable {
        let mut sparse = FxHashMap::default();
        let number = |figure: &Figure| match figure {
            Figure::Finite { value, .. } => Some(*value),
            Figure::Infinite => Some(f64::INFINITY),
            Figure::Undefined => None,
        };
        for (vertex, (_, figure)) in learned.vertices.iter().zip(&answer.per_state) {
            let Some(value) = number(figure) else {
                continue;
            };
            if let Place::At(keys) = &rows.places[vertex.state as usize]
                && rows.rows[vertex.state as usize].visits > 0
            {
                sparse.insert((keys.clone(), vertex.monitors.clone()), value);
            }
        }
        let plain = |(keys, monitors): &(Box<[Key]>, Box<[u32]>)| match &**keys {
            [key] if monitors.is_empty() => Some(key.0),
            _ => None,
        };
        let most = sparse.keys().map(plain).try_fold(0, |most: u128, key| {
            key.filter(|key| *key < 1 << DENSE_BITS)
                .map(|key| most.max(key))
        });
        let mut dense = Vec::new();
        if let Some(most) = most {
            dense = vec![f64::NAN; most as usize + 1];
            for (state, value) in &sparse {
                if let Some(key) = plain(state) {
                    dense[key as usize] = *value;
                }
            }
        }
        RiskTable {
            dense,
            sparse,
            start: answer.value.as_ref().and_then(number),
        }
    }

    /// The value before the first step.
    pub fn start(&self) -> Option<f64> {
        self.start
    }

    /// The value in a state of a chain of order 1 without monitors; none where no trace that was learned from has
    /// visited it.
    #[inline]
    pub fn of(&self, key: Key) -> Option<f64> {
        if !self.dense.is_empty() {
            return usize::try_from(key.0)
                .ok()
                .and_then(|place| self.dense.get(place))
                .copied()
                .filter(|value| !value.is_nan());
        }
        self.at(&[key], &[])
    }

    /// The value in a state that remembers these keys, oldest first, with monitors in these states.
    pub fn at(&self, keys: &[Key], monitors: &[u32]) -> Option<f64> {
        if let ([key], [], false) = (keys, monitors, self.dense.is_empty()) {
            return self.of(*key);
        }
        self.sparse.get(&(keys.into(), monitors.into())).copied()
    }
}
