//! What each fuzz target does with an input, one module for each: `fuzz_targets/` passes the inputs of libFuzzer, and
//! `tests/it/fuzz_targets.rs` includes the same modules and passes a fixed set of random ones.

pub mod artifact;
pub mod chains;
pub mod draft;
pub mod evaluation;
pub mod formats;
pub mod formatter;
pub mod formula;
pub mod hoa;
pub mod hook;
pub mod input_read;
pub mod journal;
pub mod lexer;
pub mod omega;
pub mod parser;
pub mod proxy;
pub mod serve;
pub mod shell;

mod polish;
#[path = "../../tests/it/support/print/mod.rs"]
#[allow(dead_code, reason = "the targets print files and expressions only")]
mod print;
