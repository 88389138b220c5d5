//! Risks looked up: what a running monitor asks of a query at each step is one index into a table.

use rustc_hash::FxHashMap;

use super::answer::ClaimAnswer;
use super::chain::Learned;
use crate::abstraction::{Key, Sight};
use crate::learn::Rows;
use crate::markov::Scalar;

/// A query's value in each state of a learned chain, by the packed state.
///
/// # Complexity
/// [`RiskTable::of`] is one look into an array where states take few bits, else one into a hash table.
#[derive(Clone, Debug)]
pub struct RiskTable {
    /// By key, where keys are small; NaN: not seen.
    dense: Vec<f64>,
    sparse: FxHashMap<Key, f64>,
    start: Option<f64>,
}

/// Keys up to this many bits index an array.
const DENSE_BITS: u32 = 16;

impl RiskTable {
    /// The table of an answer on a chain of order 1 without monitors beside its states. States that no trace has visited
    /// are left out: they have no risk, but are *unseen*.
    pub fn new<V: Scalar>(rows: &Rows, learned: &Learned<V>, answer: &ClaimAnswer) -> RiskTable {
        let mut sparse = FxHashMap::default();
        let mut start = None;
        for (number, vertex) in learned.vertices.iter().enumerate() {
            let Some(value) = answer
                .per_state
                .get(number)
                .and_then(|(_, figure)| figure.finite())
            else {
                continue;
            };
            if vertex.state == rows.start {
                start = answer.value.as_ref().and_then(super::Figure::finite);
            }
            let place = &rows.places[vertex.state as usize];
            if let Some(key) = place.key()
                && rows.rows[vertex.state as usize].visits > 0
            {
                sparse.insert(key, value);
            }
        }
        let most = sparse.keys().map(|key| key.0).max().unwrap_or(0);
        let mut dense = Vec::new();
        if most < 1 << DENSE_BITS {
            dense = vec![f64::NAN; most as usize + 1];
            for (key, value) in &sparse {
                dense[key.0 as usize] = *value;
            }
        }
        RiskTable {
            dense,
            sparse,
            start,
        }
    }

    /// The value before the first step.
    pub fn start(&self) -> Option<f64> {
        self.start
    }

    /// The value in a state; none where no trace that was learned from has visited it.
    #[inline]
    pub fn of(&self, key: Key) -> Option<f64> {
        if !self.dense.is_empty() {
            return usize::try_from(key.0)
                .ok()
                .and_then(|place| self.dense.get(place))
                .copied()
                .filter(|value| !value.is_nan());
        }
        self.sparse.get(&key).copied()
    }

    /// The value of what is seen: where several states are possible, the largest; none where one of them is unseen or
    /// nothing is known.
    pub fn seen(&self, sight: &Sight) -> Option<f64> {
        match sight {
            Sight::One(key) => self.of(*key),
            Sight::Several(keys) => keys
                .iter()
                .map(|key| self.of(*key))
                .try_fold(0.0, |most: f64, value| value.map(|value| most.max(value))),
            Sight::NoStep | Sight::Unknown => None,
        }
    }
}
