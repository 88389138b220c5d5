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
mod counted;
mod demand;
mod explain;
mod expr;
mod glance;
mod joint;
mod json;
mod judge;
mod layered;
mod limits;
mod live;
mod lower;
mod monitor;
mod observe;
mod ops;
mod program;
mod register;
mod release;
mod report;
mod run;
mod saved;
mod scratch;
mod slices;
mod sorted;
mod states;
mod text;
mod trace;
mod track;
mod world;

pub use explain::Wanted;
pub use glance::{Doubt, Owed, Sight};
pub use limits::{LimitError, Limits};
pub use live::{Desk, Live, Moment};
pub use observe::{Look, Observed, Observer};
pub use program::Program;
pub use run::Glance;
pub use saved::Saved;
pub use states::{Places, StateCode, StateEval};
pub use trace::{Current, TraceSource, TraceState};
