//! Exploration and model checking of declared systems.
//!
//! ```text
//! hir::System ──program──▶ Program ──explore──▶ Explorer: kripke::Structure ──▶ kripke (LTL, CTL)
//!                                       └──chain──▶ a Markov chain (PCTL)
//! ```
//!
//! A state is packed into as few words as its variables need; guards and updates are compiled once ([`Program`]). The
//! [`Explorer`] numbers states as they are found and stores their successors, so that a formula of linear time is
//! decided without expanding more states than necessary.
//!
//! A state in which no command is enabled is its own successor, and is reported as a deadlock.

mod agreement;
mod chance;
mod code;
mod exact;
mod explore;
mod initial;
mod layout;
mod program;
mod session;
mod states;
mod verify;

use thiserror::Error;

pub(crate) use code::Fault;
pub(crate) use explore::Explorer;
pub use layout::Layout;
pub use program::Program;
pub use verify::VerifyError;
pub use verify::{Method, Plain, Question, Shown, Step, Verdict, Verifier, questions};

/// The limits of exploring a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The greatest number of states.
    pub states: usize,
    /// The greatest number of transitions.
    pub transitions: usize,
    /// Whether probabilities and rewards are computed as fractions instead of doubles with a bound on their error.
    pub exact: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            states: 10_000_000,
            transitions: 100_000_000,
            exact: false,
        }
    }
}

/// The reason why a system cannot be explored.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SystemError {
    /// More reachable states than [`Limits::states`].
    #[error("more than {limit} states are reachable{}", valuations(.space))]
    States {
        /// The limit.
        limit: usize,
        /// The number of valuations of the variables, if it fits 128 bits.
        space: Option<u128>,
    },
    /// More transitions than [`Limits::transitions`].
    #[error("more than {limit} transitions")]
    Transitions {
        /// The limit.
        limit: usize,
    },
    /// The search for initial states takes too long.
    #[error("more than {limit} valuations were tried to find the initial states")]
    InitialWork {
        /// The limit.
        limit: usize,
    },
    /// There is no initial state.
    #[error("no initial state: no values of the variables satisfy every `init`")]
    NoInitial,
    /// Commands with the same name can be combined in too many ways.
    #[error("the commands of the components can be combined in more than {0} ways")]
    Commands(usize),
    /// A guard, an update or another expression has no value in a state.
    #[error("{what} in state {state}: {fault}")]
    Fault {
        /// The expression, such as ``the guard of `go` ``.
        what: String,
        /// The state.
        state: String,
        /// The cause.
        fault: Fault,
    },
    /// In a system with probabilities, more or fewer than one command is enabled in a state.
    #[error(
        "in a system with probabilities, exactly one command must be enabled in each \
                    state, but in state {state} {}",
        enabled(.commands)
    )]
    NotOne {
        /// The state.
        state: String,
        /// The commands that are enabled.
        commands: Vec<String>,
    },
    /// The probabilities of a command do not form a distribution in a state.
    #[error("`{command}` {what} in state {state}")]
    Chance {
        /// The command.
        command: String,
        /// The fault.
        what: String,
        /// The state.
        state: String,
    },
    /// A command would give a variable a value that it cannot have.
    #[error("`{command}` sets `{var}` to {value} in state {state}")]
    Range {
        /// The command.
        command: String,
        /// The variable.
        var: String,
        /// The value, and the values of the variable: `10, where its values are 0..9,`.
        value: String,
        /// The state.
        state: String,
    },
}

fn enabled(commands: &[String]) -> String {
    match commands {
        [] => "no command is enabled: add one with `=> true`".to_owned(),
        commands => format!("these are: {}", commands.join(", ")),
    }
}

fn valuations(space: &Option<u128>) -> String {
    match space {
        Some(space) => format!(" ({space} valuations)"),
        None => String::new(),
    }
}
