//! Guard: a compiler and interpreter for a small language about the safety of agents.

pub mod automata;
pub mod cli;
pub mod diagnostic;
pub mod hir;
pub mod ids;
pub mod input;
pub mod problem;
pub mod report;
pub mod signature;
pub mod source;
pub mod syntax;
pub mod types;
pub mod value;
pub mod verdict;
