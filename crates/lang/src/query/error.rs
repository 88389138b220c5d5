//! The errors of answering a claim.

use smol_str::SmolStr;
use thiserror::Error;

use crate::abstraction::SpaceError;
use guard_markov::solve::NotConverged;
use guard_markov::{ChainError, CheckError};

/// The reason why a claim has no answer.
#[derive(Debug, Error)]
pub enum QueryError {
    /// The engine could not answer.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// Numbers could not be proven to the precision asked for.
    #[error(transparent)]
    NotConverged(#[from] NotConverged),
    /// The rows do not form a chain.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The states cannot be listed.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// A formula about the past.
    #[error(
        "past operators are not supported in formulas on a model: declare a property \
                    of traces, and use `violated(…)`"
    )]
    Past,
    /// A bound in time.
    #[error("bounds in seconds are not supported in formulas on a model, which counts steps")]
    Time,
    /// `last` on an imported chain.
    #[error("`last` is not supported on a chain with infinite runs")]
    Last,
    /// A rule that the states do not decide.
    #[error(
        "the states do not determine `{letter}`, which `violated({property})` reads: add it to `over`"
    )]
    Letter {
        /// The property.
        property: SmolStr,
        /// One of its letters.
        letter: SmolStr,
    },
    /// A monitor that has no automaton.
    #[error("the automaton of `{property}` exceeds the limits")]
    NoAutomaton {
        /// The property.
        property: SmolStr,
    },
    /// A product beyond the limit.
    #[error("the product with the monitors has more than {limit} states")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// There is no state of this name.
    #[error("unknown state `{name}`")]
    NoState {
        /// The name that was given.
        name: String,
    },
    /// A number inside a formula that is too near to its threshold.
    #[error("whether `{text}` holds is too close to its threshold in some states")]
    Undecided {
        /// The operator.
        text: String,
    },
    /// An expression that chains of others have no words for.
    #[error(
        "unsupported condition on an imported chain: supported are names, numbers, \
                    comparisons and connectives"
    )]
    Condition,
}
