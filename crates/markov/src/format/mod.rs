//! Formats of chains: PRISM's explicit files, Storm's DRN and JSON are read and written; PRISM and DOT are written.
//!
//! Readers take texts and return chains or a [`TextError`](super::text::TextError) with line and column; nothing here opens a
//! file. Numbers are read as the requested [`Scalar`](super::Scalar): doubles, or exactly from their decimals.

mod dot;
mod drn;
mod explicit;
mod fields;
mod json;
#[cfg(test)]
mod tests;
mod write;

pub use dot::write_dot;
pub use drn::{read_drn, write_drn};
pub use explicit::{
    ExplicitFile, ExplicitFiles, has_intervals, read_explicit, read_uncertain_explicit,
};
pub use json::{read_json, write_json};
pub use write::{ExplicitTexts, write_explicit, write_prism};

/// A chain that was read.
#[derive(Debug)]
pub struct Imported<V> {
    /// The chain.
    pub chain: super::Chain<V>,
    /// The number of states that had no transition and got a self-loop.
    pub deadlocks: usize,
}
