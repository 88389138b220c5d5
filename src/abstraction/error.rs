//! Why there is no space for an abstraction.

use smol_str::SmolStr;
use thiserror::Error;

use crate::eval;

/// Why an abstraction has no state space, or not one that can be walked through.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpaceError {
    /// A state needs too many bits.
    #[error(
        "a state of `{abstraction}` takes {bits} bits, and at most 128 are packed: take something out of `over`"
    )]
    TooWide {
        /// The abstraction.
        abstraction: SmolStr,
        /// How many.
        bits: u32,
    },
    /// A monitor has no automaton.
    #[error("`{property}` in `over` has no automaton within the limits on automata")]
    NoAutomaton {
        /// The property.
        property: SmolStr,
    },
    /// There are too many states to list them.
    #[error(
        "`{abstraction}` has more than {limit} states (`--max-states`): learn without smoothing, or take something out of `over`"
    )]
    TooManyStates {
        /// The abstraction.
        abstraction: SmolStr,
        /// The limit.
        limit: usize,
    },
    /// There are too many steps to list them.
    #[error(
        "`{abstraction}` allows more than {limit} steps (`--max-transitions`): forbid some by `step`, or take something out of `over`"
    )]
    TooManySteps {
        /// The abstraction.
        abstraction: SmolStr,
        /// The limit.
        limit: usize,
    },
    /// Evaluation is beyond a limit.
    #[error(transparent)]
    Limit(#[from] eval::LimitError),
}
