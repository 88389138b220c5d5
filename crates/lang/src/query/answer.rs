//! The answer to a claim.

use super::guarantee::{Evidence, Interval};
use super::runs::{Asymptotic, Observed};
use guard_markov::solve::NotConverged;
use guard_markov::{Estimate, Numbers, Scalar, Truth};

/// A number with its bounds.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// A finite number: the nearest double, its bounds, and the exact fraction if it was computed.
    Finite {
        /// The number.
        value: f64,
        /// The lower bound.
        lower: f64,
        /// The upper bound.
        upper: f64,
        /// The exact value as a fraction.
        exact: Option<String>,
    },
    /// An infinite reward.
    Infinite,
    /// Undefined, because the condition has probability 0.
    Undefined,
}

/// The two graphs on which a claim of branching time is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Graphs {
    /// Whether the claim holds on the graph of declared transitions.
    pub declared: Option<bool>,
    /// Whether it holds on the graph of observed transitions.
    pub observed: Option<bool>,
}

/// The answer to a claim.
#[derive(Clone, Debug)]
pub struct ClaimAnswer {
    /// The number of states of the chain.
    pub states: usize,
    /// The number at the start: of a query, or of the quantity that is compared with a threshold.
    pub value: Option<Figure>,
    /// Whether the claim holds at the start; the inner `None` means that the number is too close to the threshold.
    pub holds: Option<Option<bool>>,
    /// The number in each state, by name.
    pub per_state: Vec<(String, Figure)>,
    /// The truth in each state, for a condition without a number.
    pub per_state_truth: Vec<(String, Option<bool>)>,
    /// The part of the value that smoothing contributes: the value minus the value without smoothing.
    pub smoothing_share: Option<f64>,
    /// An interval that contains the number, as far as the counts support one; `None` if it was not requested, or if no
    /// bound is known for this kind of query.
    pub interval: Option<Interval>,
    /// The number of complete runs in which the event happened, if the counts determine it.
    pub observed: Option<Observed>,
    /// The asymptotic interval of the number of the counted chain, if one can be derived.
    pub asymptotic: Option<Asymptotic>,
    /// Whether the interval lies on one side of the threshold.
    pub evidence: Option<Evidence>,
    /// The results on both graphs, for claims of branching time.
    pub graphs: Option<Graphs>,
    /// The reason why the bounds of its numbers are wider than requested, if they are.
    pub imprecise: Option<NotConverged>,
    /// The method of computation.
    pub method: &'static str,
}

impl Figure {
    /// Returns the number of a state.
    pub fn of<V: Scalar>(numbers: &Numbers<V>, state: usize) -> Figure {
        if numbers.infinite.contains(state) {
            return Figure::Infinite;
        }
        numbers
            .at(state)
            .map_or(Figure::Undefined, Figure::estimate::<V>)
    }

    /// Converts an estimate to a figure.
    pub fn estimate<V: Scalar>(value: &V::Estimate) -> Figure {
        Figure::Finite {
            value: value.value().to_f64(),
            lower: value.lower().to_f64(),
            upper: value.upper().to_f64(),
            exact: V::EXACT.then(|| value.value().text()),
        }
    }

    /// Returns the figure of a probability: rounded bounds may exceed 0 or 1.
    #[must_use]
    pub(super) fn within_unit(mut self) -> Figure {
        if let Figure::Finite { lower, upper, .. } = &mut self {
            *lower = lower.clamp(0.0, 1.0);
            *upper = upper.clamp(0.0, 1.0);
        }
        self
    }

    /// Returns the number if it is finite.
    pub fn finite(&self) -> Option<f64> {
        match self {
            Figure::Finite { value, .. } => Some(*value),
            Figure::Infinite | Figure::Undefined => None,
        }
    }
}

/// Whether a condition holds in a state.
pub(super) fn at(truth: &Truth, state: u32) -> Option<bool> {
    truth.at(state as usize)
}
