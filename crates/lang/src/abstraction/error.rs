//! The errors of building the state space of an abstraction.

use smol_str::SmolStr;
use thiserror::Error;

use crate::eval;

/// The reason why an abstraction has no state space, or none that can be enumerated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpaceError {
    /// A state needs too many bits.
    #[error(
        "a state of `{abstraction}` takes {bits} bits, but at most 128 can be packed: \
                    remove a component from `over`"
    )]
    TooWide {
        /// The abstraction.
        abstraction: SmolStr,
        /// The number of bits that a state would take.
        bits: u32,
    },
    /// A monitor has no automaton.
    #[error("the automaton of `{property}` in `over` exceeds the limits")]
    NoAutomaton {
        /// The property.
        property: SmolStr,
    },
    /// There are too many states to list them.
    #[error(
        "`{abstraction}` has more than {limit} states: learn without \
                    smoothing, or remove a component from `over`"
    )]
    TooManyStates {
        /// The abstraction.
        abstraction: SmolStr,
        /// The limit.
        limit: usize,
    },
    /// There are too many steps to list them.
    #[error(
        "`{abstraction}` allows more than {limit} transitions: \
                    exclude some with `step`, or remove a component from `over`"
    )]
    TooManySteps {
        /// The abstraction.
        abstraction: SmolStr,
        /// The limit.
        limit: usize,
    },
    /// Evaluation exceeds a limit.
    #[error(transparent)]
    Limit(#[from] eval::LimitError),
}
