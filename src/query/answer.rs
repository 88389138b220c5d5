//! What a claim comes to.

use super::guarantee::{Evidence, Interval};
use guard_markov::{Estimate, Numbers, Scalar, Truth};

/// A number with its bounds.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// A finite number: nearest double, what it is at least and at most, and the fraction where it was computed exactly.
    Finite {
        /// The number.
        value: f64,
        /// At least.
        lower: f64,
        /// At most.
        upper: f64,
        /// As a fraction.
        exact: Option<String>,
    },
    /// An infinite reward.
    Infinite,
    /// None: the condition has probability 0.
    Undefined,
}

/// For claims of branching time: the graphs that they were asked of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Graphs {
    /// Whether it holds on all that is declared possible.
    pub declared: Option<bool>,
    /// Whether it holds on what was seen.
    pub observed: Option<bool>,
}

/// The answer to a claim.
#[derive(Clone, Debug)]
pub struct ClaimAnswer {
    /// How many states the chain has.
    pub states: usize,
    /// The number at the start, of a query or of what is compared with a threshold.
    pub value: Option<Figure>,
    /// Whether it holds at the start; the inner none: too near to call.
    pub holds: Option<Option<bool>>,
    /// The number in each state, by what it is called.
    pub per_state: Vec<(String, Figure)>,
    /// Where it holds, of a condition without a number.
    pub per_state_truth: Vec<(String, Option<bool>)>,
    /// How much of the value comes from smoothing: the value less the one without.
    pub smoothing_share: Option<f64>,
    /// Within which the number lies, as far as the counts tell; `None` if it was not asked for, or where there is no
    /// argument for one.
    pub interval: Option<Interval>,
    /// What the interval says of the threshold.
    pub evidence: Option<Evidence>,
    /// Of claims of branching time.
    pub graphs: Option<Graphs>,
    /// How it was computed.
    pub method: &'static str,
}

impl Figure {
    /// Of the number of a state.
    pub fn of<V: Scalar>(numbers: &Numbers<V>, state: usize) -> Figure {
        if numbers.infinite.contains(state) {
            return Figure::Infinite;
        }
        numbers
            .at(state)
            .map_or(Figure::Undefined, Figure::estimate::<V>)
    }

    /// Of an estimate.
    pub fn estimate<V: Scalar>(value: &V::Estimate) -> Figure {
        Figure::Finite {
            value: value.value().to_f64(),
            lower: value.lower().to_f64(),
            upper: value.upper().to_f64(),
            exact: V::EXACT.then(|| value.value().text()),
        }
    }

    /// Returns the number, where it is finite.
    pub fn finite(&self) -> Option<f64> {
        match self {
            Figure::Finite { value, .. } => Some(*value),
            Figure::Infinite | Figure::Undefined => None,
        }
    }
}

/// Whether something holds in a state.
pub(super) fn at(truth: &Truth, state: u32) -> Option<bool> {
    truth.at(state as usize)
}
