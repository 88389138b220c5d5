//! Why a claim has no answer.

use smol_str::SmolStr;
use thiserror::Error;

use crate::abstraction::SpaceError;
use guard_markov::{ChainError, CheckError};

/// Why a claim has no answer.
#[derive(Debug, Error)]
pub enum QueryError {
    /// The engine has none.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// The chain is none.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The states cannot be listed.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// A formula about the past.
    #[error(
        "an operator of the past stands in what is said of a model: declare it as a property of traces, and write `violated(…)`"
    )]
    Past,
    /// A bound in time.
    #[error("a bound in seconds stands in what is said of a model, which counts steps")]
    Time,
    /// `last` on an imported chain.
    #[error("`last` stands in what is said of a chain whose runs do not end")]
    Last,
    /// A rule that the states do not decide.
    #[error(
        "the states do not decide `{letter}`, which `violated({property})` depends on: add it to `over`"
    )]
    Letter {
        /// The property.
        property: SmolStr,
        /// One of its letters.
        letter: SmolStr,
    },
    /// A monitor that has no automaton.
    #[error("`{property}` has no automaton within the limits on automata")]
    NoAutomaton {
        /// The property.
        property: SmolStr,
    },
    /// A product beyond the limit.
    #[error("the product with monitors has more than {limit} states (`--max-states`)")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// A state that there is not.
    #[error("there is no state `{name}`: `--all-states` lists them")]
    NoState {
        /// What was given.
        name: String,
    },
    /// A number inside a formula that is too near to its threshold.
    #[error("whether `{text}` holds is too near to call in some states: try `--exact`")]
    Undecided {
        /// The operator.
        text: String,
    },
    /// An expression that chains of others have no words for.
    #[error(
        "this condition cannot be asked of an imported chain: names, numbers, comparisons and connectives can"
    )]
    Condition,
}
