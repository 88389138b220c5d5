//! The PRISM language: models of Markov chains, and properties.
//!
//! ```text
//! text ──parse_model──▶ Model ──explore──▶ Chain        text ──parse_properties──▶ Properties
//! ```
//!
//! Expressions of models and properties share one grammar and one tree, as in PRISM. [`explore`] compiles the commands to typed
//! code and explores the reachable states breadth first. States are packed into words and numbered by a hash table that stores
//! only the numbers.
//!
//! # Source
//! The language is that of the PRISM manual, "The PRISM Language" and "Property Specification"; if several commands of a chain
//! are enabled, each has the same probability, as in PRISM.

mod code;
mod compile;
mod explore;
pub mod expr;
mod initial;
mod irrational;
mod model;
mod parser;
mod property;
mod reads;
mod sync;
mod table;
#[cfg(test)]
mod tests;
mod token;

pub use code::{EvalError, Value};
pub use compile::{Definitions, Scope};
pub use explore::{Explored, Limits, Overlap, explore};
pub use model::{Constant, Model, Type, parse_model};
pub use property::{Properties, Property, parse_properties};

use super::chain::Chain;
use super::scalar::Scalar;
use super::text::TextError;
use guard_automata::graph::NodeSet;

/// Returns the states of a chain in which an expression without property operators holds.
///
/// # Errors
/// Undeclared names, type errors, and operations without a result.
pub fn states_where<V: Scalar>(
    chain: &Chain<V>,
    scope: &Scope,
    expr: &expr::Expr,
) -> Result<NodeSet, TextError> {
    let code = scope.bool_code(expr, "a state formula")?;
    explore::states_where(chain, &code)
        .map_err(|wrong| TextError::new(expr.place, wrong.to_string()))
}
