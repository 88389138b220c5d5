//! Model checking of transition systems that are given state by state.
//!
//! A [`Structure`] provides numbered states, their successors and the atoms that hold in them; it may generate states on
//! demand. A [`Kripke`] is a structure whose states are all stored.
//!
//! | question | function | how |
//! |---|---|---|
//! | do all runs satisfy a formula of linear time, with past? | [`ltl::check`] | product with the Büchi automaton of the negation, explored only as far as the answer needs |
//! | in which states does a formula of branching time hold? | [`ctl::evaluate`] | fixpoints on the graph; any path formula (CTL*) by a product |
//! | why? | [`evidence::explain`] | a run: what comes first, and what repeats |
//! | does it keep a safety formula as long as the others keep theirs? | [`prefix::keeps_ahead`] | deterministic automata of good prefixes |
//!
//! Runs are infinite: every state has a successor. An implementation of [`Structure`] must give a state without a successor
//! itself as its successor, and report that.
//!
//! *Fairness* is a list of atoms; only runs on which each of them holds infinitely often count.
//!
//! ```
//! use guard_automata::{Atom, Formulas, Interval, Limits};
//! use guard_automata::graph::Digraph;
//! use guard_automata::kripke::{Kripke, ltl};
//!
//! // 0 → 1 ⇄ 2, and `a` holds in 2.
//! let graph = Digraph::from_edges(3, &[(0, 1), (1, 2), (2, 1)])?;
//! let a = graph.set([2]);
//! let kripke = Kripke::new(graph, vec![0], vec![a]);
//! let mut formulas = Formulas::new();
//! let a = formulas.atom(Atom(0));
//! let always = formulas.always(Interval::ALL, a);
//! let found = ltl::check(&mut &kripke, &mut formulas, always, &[], &ltl::Limits::default())?;
//! assert_eq!(found.counterexample.map(|run| run.stem), Some(vec![0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod ctl;
pub mod evidence;
mod fixpoint;
pub mod ltl;
pub mod prefix;
mod product;
mod structure;
mod words;

pub use structure::{Kripke, Run, Structure};
pub use words::Words;
