//! The Hanoi Omega-Automata format, version 1: automata as text that other tools write and read.
//!
//! [`Buchi::to_hoa`](super::Buchi::to_hoa) and [`Deterministic::to_hoa`](super::Deterministic::to_hoa) write, [`parse`] reads.
//! [`parse`] returns an [`Automaton`]: nondeterministic, with any acceptance condition. [`Automaton::to_buchi`] and
//! [`Automaton::to_deterministic`] convert it for the rest of this library.
//!
//! The parser accepts state- and transition-based acceptance, aliases, implicit labels, labels on states, negated acceptance
//! sets, several initial states, nested comments, and streams of automata. It rejects alternation (several states after one
//! edge) and, as the format requires, every unknown header whose name begins with a capital.
//!
//! # Source
//! T. Babiak and others, "The Hanoi omega-automata format", 2015; <https://adl.github.io/hoaf/>.
//!
//! ```
//! use guard_automata::{Limits, omega::hoa};
//! let text = r#"HOA: v1
//! States: 2
//! Start: 0
//! AP: 1 "a"
//! Acceptance: 1 Inf(0)
//! --BODY--
//! State: 0
//! [t] 0
//! [0] 1
//! State: 1 {0}
//! [0] 1
//! --END--"#;
//! let automaton = hoa::parse(text, &Limits::default())?;
//! let eventually_always = automaton.to_buchi(&Limits::default())?;
//! assert_eq!(eventually_always.len(), 2);
//! assert!(eventually_always.accepts(1, 1, |position, _| position > 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod automaton;
mod lexer;
mod parser;
mod write;

pub use automaton::{Automaton, Unsupported};
pub use lexer::Error;
pub use parser::{parse, parse_all};
