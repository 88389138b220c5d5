//! The limits that a user can raise, and the flag for each.

use crate::abstraction::SpaceError;
use crate::eval::{self, LimitError};
use crate::input::limits::InputLimits;
use crate::learn::{ModelError, RowLimits};
use crate::query::{ForecastError, QueryError};
use guard_automata::Resource;

/// The longest time in seconds for which a flag lets the program wait.
pub(super) const DAY: u64 = 24 * 60 * 60;

#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct LimitArgs {
    /// Limit the size of a record, in bytes
    #[arg(long, value_name = "BYTES")]
    max_record_bytes: Option<usize>,
    /// Limit the size of a compressed file after decompression, in bytes
    #[arg(long, value_name = "BYTES")]
    max_decompressed_bytes: Option<u64>,
    /// Limit how many times its size a compressed file may become
    #[arg(long, value_name = "N")]
    max_expansion: Option<u64>,
    /// Limit the memory that the values of a record take besides texts, in bytes
    #[arg(long, value_name = "BYTES")]
    max_record_memory: Option<usize>,
    /// Limit the nesting depth of JSON
    #[arg(long, value_name = "N")]
    max_depth: Option<usize>,
    /// Limit the problems listed per file and per trace
    #[arg(long, value_name = "N")]
    max_problems: Option<usize>,
    /// Limit the states of a property's automaton, or of a chain
    #[arg(long, value_name = "N")]
    max_states: Option<usize>,
    /// Limit the transitions of a chain
    #[arg(long, value_name = "N")]
    max_transitions: Option<usize>,
    /// Limit the decision-diagram nodes while building an automaton
    #[arg(long, value_name = "N")]
    max_nodes: Option<usize>,
    /// Limit the work while building an automaton, in steps
    #[arg(long, value_name = "N")]
    max_work: Option<u64>,
    /// Limit the atomic propositions of a formula
    #[arg(long, value_name = "N")]
    max_letters: Option<usize>,
    /// Count bounds above this many steps instead of unrolling them into states
    #[arg(long, value_name = "N")]
    max_unrolled: Option<u32>,
    /// Limit the parallel readings of a trace whose steps are uncertain
    #[arg(long, value_name = "N")]
    max_worlds: Option<usize>,
    /// Limit the list elements, and blocks of text, that conditions look at in one step
    #[arg(long, value_name = "N")]
    max_step_work: Option<u64>,
    /// Limit the live instances of a quantified property, or keys of a track
    #[arg(long, value_name = "N")]
    max_instances: Option<usize>,
    /// Limit the memory of the product automaton of unquantified properties, in bytes per thread
    #[arg(long, value_name = "BYTES")]
    max_joint_bytes: Option<usize>,
    /// Limit the history kept to explain violations, in bytes
    #[arg(long, value_name = "BYTES")]
    max_history_bytes: Option<usize>,
}

impl LimitArgs {
    pub(super) fn input(&self) -> InputLimits {
        let default = InputLimits::default();
        InputLimits {
            record_bytes: self.max_record_bytes.unwrap_or(default.record_bytes),
            decompressed_bytes: self
                .max_decompressed_bytes
                .unwrap_or(default.decompressed_bytes),
            expansion: self.max_expansion.unwrap_or(default.expansion),
            record_memory: self.max_record_memory.unwrap_or(default.record_memory),
            depth: self.max_depth.unwrap_or(default.depth),
            problems: self.max_problems.unwrap_or(default.problems),
            ..default
        }
    }

    /// Returns the limits of a chain.
    pub(super) fn rows(&self) -> RowLimits {
        let default = RowLimits::default();
        RowLimits {
            states: self.max_states.unwrap_or(default.states),
            transitions: self.max_transitions.unwrap_or(default.transitions),
        }
    }

    /// Returns the limits of one automaton.
    pub(super) fn automata(&self, default: guard_automata::Limits) -> guard_automata::Limits {
        guard_automata::Limits {
            states: self.max_states.unwrap_or(default.states),
            nodes: self.max_nodes.unwrap_or(default.nodes),
            work: self.max_work.unwrap_or(default.work),
            atoms: self.max_letters.unwrap_or(default.atoms),
        }
    }

    pub(super) fn eval(&self) -> eval::Limits {
        let mut limits = eval::Limits::default();
        limits.automata = self.automata(limits.automata);
        limits.unrolled = self.max_unrolled.unwrap_or(limits.unrolled);
        limits.worlds = self.max_worlds.unwrap_or(limits.worlds);
        limits.step_work = self.max_step_work.unwrap_or(limits.step_work);
        limits.instances = self.max_instances.unwrap_or(limits.instances);
        limits.joint_bytes = self.max_joint_bytes.unwrap_or(limits.joint_bytes);
        limits.history_bytes = self.max_history_bytes.unwrap_or(limits.history_bytes);
        limits.problems = self.max_problems.unwrap_or(limits.problems);
        limits
    }
}

/// Describes an exceeded limit, with the flag that raises it.
pub(super) fn explain(error: &LimitError) -> String {
    let flag = match error {
        LimitError::Formula { error, .. } => match error.resource {
            Resource::States => "; to raise the limit, use `--max-states`",
            Resource::Nodes => "; to raise the limit, use `--max-nodes`",
            Resource::Work => "; to raise the limit, use `--max-work`",
            Resource::Atoms => "; to raise the limit, use `--max-letters`",
            // A set of marks is one machine word.
            Resource::Marks => "",
        },
        LimitError::HistoryOfLocal => "",
    };
    format!("{error}{flag}")
}

/// Describes why an abstraction has no state space, with the flag that raises a limit.
pub(super) fn explain_space(error: &SpaceError) -> String {
    let flag = match error {
        SpaceError::Limit(error) => return explain(error),
        SpaceError::TooManyStates { .. } => "; to raise the limit, use `--max-states`",
        SpaceError::TooManySteps { .. } => "; to raise the limit, use `--max-transitions`",
        SpaceError::TooWide { .. } | SpaceError::NoAutomaton { .. } => "",
    };
    format!("{error}{flag}")
}

/// Describes why a claim has no answer, with the flag that raises a limit.
pub(super) fn explain_query(error: &QueryError) -> String {
    match error {
        QueryError::Space(error) => explain_space(error),
        QueryError::TooLarge { .. } => {
            format!("{error}; to raise the limit, use `--max-states`")
        }
        other => other.to_string(),
    }
}

/// Describes why queries cannot be looked up, with the flag that raises a limit.
pub(super) fn explain_forecast(error: &ForecastError) -> String {
    match error {
        ForecastError::Model(error) => explain_model(error),
        ForecastError::Limit(error) => explain(error),
        ForecastError::Query { query, error } => format!("`{query}`: {}", explain_query(error)),
        other => other.to_string(),
    }
}

/// Describes why a model file cannot be used, with the flag that raises a limit.
pub(super) fn explain_model(error: &ModelError) -> String {
    match error {
        ModelError::Space(error) => explain_space(error),
        other => other.to_string(),
    }
}
