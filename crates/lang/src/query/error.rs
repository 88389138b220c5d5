//! The errors of evaluating a claim.

use smol_str::SmolStr;
use thiserror::Error;

use crate::abstraction::SpaceError;
use crate::translate::chain::NotOnChains;
use guard_markov::solve::NotConverged;
use guard_markov::{ChainError, CheckError};

/// The reason why a claim cannot be evaluated.
#[derive(Debug, Error)]
pub enum QueryError {
    /// The engine reported an error.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// The numbers could not be proven to the requested precision.
    #[error(transparent)]
    NotConverged(#[from] NotConverged),
    /// The rows do not form a chain.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The states cannot be listed.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// The formula looks back.
    #[error(
        "past operators are not supported in formulas on a model: declare a property \
                    of traces, and use `violated(…)`"
    )]
    Past,
    /// The formula has a bound in time.
    #[error("bounds in seconds are not supported in formulas on a model, which counts steps")]
    Time,
    /// The formula has `last` on an imported chain.
    #[error("`last` is not supported on a chain with infinite runs")]
    Last,
    /// The states do not decide a rule.
    #[error(
        "the states do not determine `{letter}`, which `violated({property})` reads: add it to `over`"
    )]
    Letter {
        /// The property.
        property: SmolStr,
        /// One of its letters.
        letter: SmolStr,
    },
    /// A monitor has no automaton.
    #[error("the automaton of `{property}` exceeds the limits")]
    NoAutomaton {
        /// The property.
        property: SmolStr,
    },
    /// The product exceeds the limit.
    #[error("the product with the monitors has more than {limit} states")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// An imported chain has no single initial state.
    #[error(
        "the chain has {states} initial states, and a claim of a spec is about one: ask \
                    `guard query --chain FILE`, which answers for all of them"
    )]
    Initial {
        /// The number of its initial states.
        states: usize,
    },
    /// There is no state of this name.
    #[error("unknown state `{name}`")]
    NoState {
        /// The name that was given.
        name: String,
    },
    /// A number inside a formula is too close to its threshold.
    #[error("whether `{text}` holds is too close to its threshold in some states")]
    Undecided {
        /// The operator.
        text: String,
    },
    /// The expression is not supported on an imported chain.
    #[error(
        "unsupported condition on an imported chain: supported are names, numbers, \
                    comparisons and connectives"
    )]
    Condition,
}

impl From<NotOnChains> for QueryError {
    fn from(reason: NotOnChains) -> QueryError {
        match reason {
            NotOnChains::Past => QueryError::Past,
            NotOnChains::Time => QueryError::Time,
            NotOnChains::Last => QueryError::Last,
        }
    }
}
