//! The limits that a user can raise, and which flag raises which.

use crate::eval::{self, LimitError};
use crate::input::limits::InputLimits;
use crate::learn::RowLimits;
use guard_automata::Resource;

#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct LimitArgs {
    /// The longest record that is read, in bytes
    #[arg(long, value_name = "BYTES")]
    max_record_bytes: Option<usize>,
    /// The deepest nesting of JSON that is read
    #[arg(long, value_name = "N")]
    max_depth: Option<usize>,
    /// How many problems of a file, and of a trace, are told one by one
    #[arg(long, value_name = "N")]
    max_problems: Option<usize>,
    /// States of the automaton of a property, or of a chain
    #[arg(long, value_name = "N")]
    max_states: Option<usize>,
    /// Transitions of a chain
    #[arg(long, value_name = "N")]
    max_transitions: Option<usize>,
    /// Nodes of memory while an automaton is built
    #[arg(long, value_name = "N")]
    max_nodes: Option<usize>,
    /// Steps of work while an automaton is built
    #[arg(long, value_name = "N")]
    max_work: Option<u64>,
    /// Letters of one formula
    #[arg(long, value_name = "N")]
    max_letters: Option<usize>,
    /// Bounds in steps beyond this are counted instead of being unrolled into states
    #[arg(long, value_name = "N")]
    max_unrolled: Option<u32>,
    /// Ways to read a trace at once, where it is unknown which events are steps
    #[arg(long, value_name = "N")]
    max_worlds: Option<usize>,
    /// Instances of a quantified property, or keys of a track, at once
    #[arg(long, value_name = "N")]
    max_instances: Option<usize>,
    /// Bytes, for each thread, of the product of all properties without variables
    #[arg(long, value_name = "BYTES")]
    max_joint_bytes: Option<usize>,
    /// Bytes of steps that are kept to explain violations
    #[arg(long, value_name = "BYTES")]
    max_history_bytes: Option<usize>,
}

impl LimitArgs {
    pub(super) fn input(&self) -> InputLimits {
        let default = InputLimits::default();
        InputLimits {
            record_bytes: self.max_record_bytes.unwrap_or(default.record_bytes),
            depth: self.max_depth.unwrap_or(default.depth),
            problems: self.max_problems.unwrap_or(default.problems),
            ..default
        }
    }

    /// What a chain may cost.
    pub(super) fn rows(&self) -> RowLimits {
        let default = RowLimits::default();
        RowLimits {
            states: self.max_states.unwrap_or(default.states),
            transitions: self.max_transitions.unwrap_or(default.transitions),
        }
    }

    pub(super) fn eval(&self) -> eval::Limits {
        let mut limits = eval::Limits::default();
        let automata = &mut limits.automata;
        automata.states = self.max_states.unwrap_or(automata.states);
        automata.nodes = self.max_nodes.unwrap_or(automata.nodes);
        automata.work = self.max_work.unwrap_or(automata.work);
        automata.atoms = self.max_letters.unwrap_or(automata.atoms);
        limits.unrolled = self.max_unrolled.unwrap_or(limits.unrolled);
        limits.worlds = self.max_worlds.unwrap_or(limits.worlds);
        limits.instances = self.max_instances.unwrap_or(limits.instances);
        limits.joint_bytes = self.max_joint_bytes.unwrap_or(limits.joint_bytes);
        limits.history_bytes = self.max_history_bytes.unwrap_or(limits.history_bytes);
        limits.problems = self.max_problems.unwrap_or(limits.problems);
        limits
    }
}

/// What is beyond a limit, with the flag that raises it.
pub(super) fn explain(error: &LimitError) -> String {
    let flag = match error {
        LimitError::Formula { error, .. } => match error.resource {
            Resource::States => "; `--max-states` raises it",
            Resource::Nodes => "; `--max-nodes` raises it",
            Resource::Work => "; `--max-work` raises it",
            Resource::Atoms => "; `--max-letters` raises it",
            // A set of marks is one machine word.
            Resource::Marks => "",
        },
        LimitError::HistoryOfLocal => "",
    };
    format!("{error}{flag}")
}
