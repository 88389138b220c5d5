//! Guard: a compiler and interpreter for a small language about the safety of agents.

pub mod automata;
