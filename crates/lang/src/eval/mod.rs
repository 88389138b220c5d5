//! Judging recorded traces: the fast path.
//!
//! ```text
//! hir::Spec ──Program::compile──▶ Program ──judge(Record)──────────────▶ TraceReport
//!                                    └──open──▶ TraceState ──push──▶ … ──finish──▶ TraceReport
//! ```
//!
//! An expression is evaluated when an automaton needs it, at most once a step; an automaton needs only the letters on
//! its path. Unknown values are followed: unknown letters lead to sets of states, tracks of finite type hold sets of
//! values, and an event that may be no step splits the trace into *worlds*.
//!
//! The module reads no files, sets no exit codes and computes no probabilities. `crates/reference` defines the meaning
//! of every construct by a slow interpreter.

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
mod field_tests;
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
mod watch;
mod world;

pub use automata::KeptAutomata;
pub use explain::Wanted;
pub use field_tests::FieldTests;
pub use limits::{LimitError, Limits};
pub use live::{Live, Peek, StepCache};
pub use observation::{Observation, Observed, Observer};
pub use program::Program;
pub use run::{Current, StepView};
pub use saved::Saved;
pub(crate) use states::{StateCode, StateEval, StateLayout};
pub use step_view::{ClauseStatus, Doubt, Obligation};
pub use trace::{TraceSource, TraceState};
