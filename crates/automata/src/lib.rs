//! Temporal logic: formulas, their automata, and verdicts on prefixes. This module covers finite traces; [`omega`] covers
//! infinite words.
//!
//! A formula of linear temporal logic, with past and with bounds, becomes a minimal deterministic automaton whose
//! transitions are shared decision diagrams over the atoms. Reading a trace then costs one walk down one diagram per
//! position, atoms are evaluated only when they matter, and the verdict on every prefix is exact.
//!
//! ```text
//! Formulas ──desugar──▶ Program ──progress──▶ configurations ──compile──▶ Dfa ──minimize──▶ Dfa
//!     │                            └──────── lazy ───────▶ LazyDfa, states made as a trace comes to them
//!     └──eval──▶ values at every position of a complete trace
//! ```
//!
//! | use | when |
//! |---|---|
//! | [`compile`] and [`Dfa`] | always, if it succeeds: exact verdicts, class, witnesses, nanoseconds per step |
//! | [`shortest_trace`] | one trace is needed, of a formula whose automaton may be large |
//! | [`LazyDfa`] | bounds in time, long bounds in steps, automata beyond the limits: counters, states made when visited |
//! | [`PathChecker`] | recorded traces after the fact: why they violate a formula, without its automaton |
//! | [`why_false`], [`why_pending`] | recorded traces after the fact: the values of atoms that make a formula false |
//! | [`eval()`] | the final value of complete traces; the meaning of it all |
//!
//! # Meaning
//! A formula is evaluated at the first position. `X` needs a next position and `N` does not; a witness of `F` or `U` must lie
//! inside the trace; `G[a,b]` covers the existing positions of its window; `f U[a,b] g` requires `f` from now on, not from `a`
//! on. Past and future nest freely. The empty trace satisfies no atom and no strong operator, and every weak one. A verdict is
//! final when all continuations of the prefix, itself included, agree.
//!
//! # The hard idea
//! A state consists of sets of obligations on the rest of the trace, kept as small as syntax allows (`residual.rs`). The past
//! is remembered in registers (`registers.rs`). A formula such as `O (a U b)`, a past operator over a future formula, fits
//! neither; the construction guesses the value of the inner formula, adds the proof of the guess as an obligation, and then
//! combines all guesses.
//!
//! # What it does not do
//! No data: atoms are numbers, and the caller computes their values.
//!
//! # Limits
//! Every construction counts its work and memory and fails with a [`LimitError`] when they exceed the limits.

// Formulas and their semantics.
mod eval;
pub mod formula;
mod operator;
mod print;

// Limits of constructions.
mod limits;

// From a formula to nodes in normal form.
mod desugar;
mod program;

// Obligations and memory after a prefix.
mod configuration;
mod obligation;
mod registers;
mod residual;

// Steps, for all letters at once or for one.
mod diagram;
mod progress;

// Automata: construction, minimisation, comparison, queries.
mod analysis;
mod backward;
mod clash;
mod compile;
mod dfa;
mod forbid;
mod looking_back;
mod minimize;
mod parts;
mod product;
mod recurring;
mod shape;
mod states;
mod verdict;

// Infinite words.
pub mod omega;

// Directed graphs, and model checking of structures that are generated state by state.
pub mod graph;
pub mod kripke;

// Formulas without automata.
mod lazy;
mod path;
mod why;

pub use analysis::Class;
pub use compile::{compile, compile_counted, compile_raw};
pub use dfa::Dfa;
pub use eval::{eval, eval_empty, eval_timed};
pub use formula::{Atom, FormulaId, Formulas, Interval, Letter, Node, Word};
pub use lazy::{Found, Instant, LazyDfa, LazyState, Next, Run, Spot, StepError, Survey};
pub use limits::{CompileError, LimitError, Limits, Resource};
pub use obligation::evidently_implies;
pub use operator::{Binary, Operator, Unary, operator, operators};
pub use parts::shortest_trace;
pub use path::{Counterexample, PathChecker};
pub use print::Display;
pub use product::Traces;
pub use recurring::Recurring;
pub use shape::Shape;
pub use states::{StateId, StateSet};
pub use verdict::{Finality, Verdict};
pub use why::{Missed, Path, Reason, Why, eval_partial, why_false, why_pending};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
