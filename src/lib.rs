//! Guard: a compiler and interpreter for a small language about the safety of agents.

pub mod diagnostic;
pub mod source;
pub mod syntax;
