//! The limits of judging, and the error that names the part of a spec that exceeds them.

use smol_str::SmolStr;
use thiserror::Error;

/// The caps on judging. All are inclusive and may be changed freely.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The limits of the automaton of one formula. Beyond them its states are built when a trace reaches them.
    pub automata: guard_automata::Limits,
    /// The greatest bound in steps for which an automaton has states of its own; greater bounds use counters. States
    /// are faster than counters, and take longer to build.
    pub unrolled: u32,
    /// The greatest number of readings of a trace that are followed at once if `where` is unknown. Beyond it every
    /// verdict is unknown.
    pub worlds: usize,
    /// Combinations of values of tracks for which one expression is evaluated. Beyond it its value is unknown.
    pub combinations: usize,
    /// The greatest number of list elements that the conditions of one step may read. For texts, 16 bytes read by a function or
    /// regular expression count as one element, as do 256 bytes of a substring search. Beyond it the values of the conditions
    /// are unknown.
    pub step_work: u64,
    /// The greatest number of instances of one quantified property, or of keys of one track, that are kept at once.
    pub instances: usize,
    /// The approximate size in bytes of the product of all properties without variables, for each thread. A larger
    /// product is rebuilt; if that does not pay, each property is stepped alone.
    pub joint_bytes: usize,
    /// Bytes of steps that are kept to explain violations; beyond it only `at` is reported.
    pub history_bytes: usize,
    /// Problems that are reported per trace; further ones are counted.
    pub problems: usize,
    /// Violated instances of one property that are reported per trace.
    pub instances_told: usize,
    /// Steps of a counterexample; if more are needed, only the first and the last are reported.
    pub counterexample: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            automata: guard_automata::Limits::default(),
            unrolled: 512,
            worlds: 16,
            combinations: 256,
            step_work: 20_000_000,
            instances: 4_000_000,
            joint_bytes: 8 << 20,
            history_bytes: 256 << 20,
            problems: 100,
            instances_told: 10_000,
            counterexample: 8,
        }
    }
}

/// A spec that cannot be compiled for judging.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LimitError {
    /// A formula is too large even for stepwise evaluation.
    #[error("the formula of `{property}` {error}")]
    Formula {
        /// The property.
        property: SmolStr,
        /// The exceeded limit.
        error: guard_automata::LimitError,
    },
    /// A `count` or past operator reads the variable of `any`, `all` or `count … in`.
    #[error(
        "a past operator over the variable of `any`, `all` or `count` has no value across steps"
    )]
    HistoryOfLocal,
}
