//! Markov chains: construction, file formats, model checking and analyses.
//!
//! ```text
//! .tra .lab .srew .trew ─┐
//! DRN ───────────────────┼─▶ Chain ──Checker::check(property)──▶ Answer: numbers or truth, for every state
//! PRISM language ────────┘
//! ```
//!
//! The crate does not depend on the Guard language. [`Chain`] is generic over its numbers: `f64`, with a proven lower
//! and upper bound for each result, or [`BigRational`](num_rational::BigRational), with exact results.
//!
//! ```
//! use guard_markov::{Answer, Checker, Definitions, Options, explore, parse_model, parse_properties};
//!
//! let model = parse_model(
//!     "dtmc module die  s : [0..2] init 0;
//!      [] s=0 -> 1/2 : (s'=0) + 1/3 : (s'=1) + 1/6 : (s'=2);  endmodule
//!      label \"won\" = s=1;",
//! )?;
//! let built = explore::<f64>(&model, &Definitions::default(), &Default::default())?;
//! let checker = Checker::new(&built.chain, built.scope, Options::default());
//! let properties = parse_properties("P=? [ F \"won\" ]")?;
//! let Answer::Numbers(numbers) = checker.check(&properties.properties[0].formula)? else {
//!     return Err("a number was asked for".into());
//! };
//! assert!((numbers.values[0].value - 2.0 / 3.0).abs() <= numbers.values[0].error);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod analysis;
mod chain;
pub mod check;
pub mod format;
pub mod interval;
pub mod prism;
mod scalar;
pub mod solve;
mod text;
mod valuation;
pub mod why;

pub use chain::{Chain, ChainBuilder, ChainError, ROW_TOLERANCE, Rewards};
pub use check::{Answer, CheckError, Checker, Numbers, Options, Single, Truth};
pub use prism::{
    Definitions, Explored, Limits, Overlap, Properties, Property, Scope, explore, parse_model,
    parse_properties,
};
pub use scalar::{Approx, Estimate, Scalar, UNIT, parse_rational};
pub use text::{TextError, TextPosition};
pub use valuation::{Slot, Valuations, Variable};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
