//! Guard: a compiler and interpreter for a small language about the safety of agents.

pub mod input;
pub mod problem;
pub mod signature;
pub mod types;
pub mod value;
