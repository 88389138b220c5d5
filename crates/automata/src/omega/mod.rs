//! Temporal logic over infinite words: Büchi automata, emptiness, deterministic automata.
//!
//! The formulas are those of [`Formulas`](super::Formulas), read over words that never end: `X` and `N` mean the same, and
//! bounded operators never meet an end. Past and future nest freely.
//!
//! ```text
//! Formulas ──translate──▶ Buchi ──common_word, find_run──▶ Lasso
//!     │                     └──── deterministic ─────────▶ Deterministic
//!     └──eval──▶ value on a lasso
//! ```
//!
//! | use | when |
//! |---|---|
//! | [`translate`] and [`Buchi`] | is there a word, or a path of a system, that satisfies the formula: [`Buchi::accepted_word`], [`find_run`] |
//! | [`deterministic`] and [`Deterministic`] | every word must have one run: products with Markov chains, complement, classes |
//! | [`class()`] | safety, co-safety, obligation, recurrence, persistence, reactivity |
//! | [`hoa`] | automata as text that other tools read and write |
//! | [`eval()`] | the value on one word; the meaning of it all |
//!
//! # Products
//! A system is checked against a formula by looking for a path that the automaton of the *negation* accepts. The product is
//! never built: it is a [`Graph`] whose successors are computed during the search.
//!
//! ```
//! use std::convert::Infallible;
//! use guard_automata::{Atom, Formulas, Interval, Limits, StateId, omega};
//!
//! /// A light that is red, then green, then red; atom 0 is "green".
//! struct Light(omega::Buchi);
//!
//! impl omega::Graph for Light {
//!     type Vertex = (bool, StateId);
//!     type Label = ();
//!     type Error = Infallible;
//!
//!     fn initial(&mut self) -> Result<Vec<Self::Vertex>, Infallible> {
//!         Ok(vec![(false, self.0.initial())])
//!     }
//!
//!     fn edges(
//!         &mut self,
//!         &(green, state): &Self::Vertex,
//!     ) -> Result<Vec<((), omega::Marks, Self::Vertex)>, Infallible> {
//!         let next = self.0.successors(state, move |_| green);
//!         Ok(next.map(|(target, marks)| ((), marks, (!green, target))).collect())
//!     }
//! }
//!
//! let mut formulas = Formulas::new();
//! let green = formulas.atom(Atom(0));
//! let later = formulas.eventually(Interval::ALL, green);
//! let often = formulas.always(Interval::ALL, later);
//! let negation = formulas.not(often);
//! let buchi = omega::translate(&formulas, negation, &Limits::default())?;
//! let n_marks = buchi.n_marks();
//! let Ok(counterexample) = omega::find_run(&mut Light(buchi), n_marks);
//! assert!(counterexample.is_none());
//! # Ok::<(), guard_automata::CompileError>(())
//! ```
//!
//! # The hard idea
//! A state is a single clause of the obligations on the rest of the word, as on finite words; the choice between clauses is
//! the nondeterminism. An obligation without a deadline could be postponed forever, so the marks of an edge name those that
//! it does not postpone ([`Marks`]), and an accepting run sees every mark infinitely often.
//!
//! # What it does not do
//! No bounds in time: they have no finite automaton over the atoms.
//!
//! # Limits
//! As for finite words, every construction counts what it does and fails with a [`LimitError`](super::LimitError).

// Words, and what formulas mean on them.
mod word;

// The parts of automata.
mod acceptance;
mod buchi;
mod deterministic;
mod guards;
mod marks;

// From formulas to automata.
mod compile;
mod simplify;
mod translate;

// Form and size.
mod degeneralize;
mod generalize;
mod reduce;
mod scc;
mod shrink;
mod simulation;

// Determinism.
mod determinize;
mod parity;
mod subsets;
mod weak;

// As text.
pub mod hoa;

// Questions.
mod class;
mod emptiness;

pub use acceptance::Acceptance;
pub use buchi::{Buchi, Edge};
pub use class::{Class, class};
pub use compile::{deterministic, translate};
pub use deterministic::Deterministic;
pub use emptiness::{Edges, Graph, Run, RunOf, find_run};
pub use guards::Guard;
pub use marks::Marks;
pub use translate::translate_raw;
pub use word::{Lasso, eval};
