//! Judging recorded traces: the fast path.
//!
//! ```text
//! hir::Spec ──Program::compile──▶ Program ──judge(Record)──────────────▶ TraceReport
//!                                    └──open──▶ TraceState ──push──▶ … ──finish──▶ TraceReport
//! ```
//!
//! An expression is evaluated when an automaton asks for it, at most once a step; an automaton asks only for the letters
//! on the path that it takes. What is not known is followed: unknown letters lead to sets of states, tracks of finite
//! type hold sets of values, and an event that may be no step splits the trace into *worlds*.
//!
//! What it does not do: it reads no files, decides nothing about exit codes, and knows no probabilities. The meaning of
//! every construct is defined, slowly, in `reference`.

mod automata;
mod binding;
mod builtin;
mod cast;
mod classes;
mod clause;
mod clock;
mod code;
mod compile;
mod compiled;
mod counters;
mod distinct;
mod eval_cache;
mod explain;
mod expr;
mod instance_gc;
mod instances;
mod json;
mod judge;
mod lazy_product;
mod limits;
mod live;
mod lower;
mod monitor;
mod no_op;
mod observation;
mod ops;
mod overlay_map;
mod program;
mod register;
mod report;
mod run;
mod saved;
mod states;
mod step_view;
mod text;
mod trace;
mod track;
mod world;

pub use automata::KeptAutomata;
pub use explain::Wanted;
pub use limits::{LimitError, Limits};
pub use live::{Live, Peek, StepCache};
pub use observation::{Observation, Observed, Observer};
pub use program::Program;
pub use run::{Current, StepView};
pub use saved::Saved;
pub(crate) use states::{StateCode, StateEval, StateLayout};
pub use step_view::{ClauseStatus, Doubt, Obligation};
pub use trace::{TraceSource, TraceState};
