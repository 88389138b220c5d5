//! Text to syntax tree.
//!
//! [`parse`] parses a whole file and always returns a tree: an item with a syntax error is reported once and becomes
//! [`ast::ItemKind::Broken`]. [`parse_formula`] parses a single expression.
//!
//! ```text
//! text ─▶ lexer ─▶ chunk ─▶ prepare ─▶ parser (generated from grammar/guard.lalrpop) ─▶ ast
//! ```
//!
//! ```
//! assert!(guard_syntax::parse_formula("G (a -> F b)").is_ok());
//! ```

mod actions;
pub mod ast;
pub mod diagnostic;
pub mod foreign;
mod format;
mod item_split;
pub mod lexer;
mod limits;
mod literal;
mod parse_errors;
mod parser;
pub mod source;
pub mod token;
mod token_stream;
pub mod visit;

pub use format::{WIDTH, format, format_file};
pub use limits::{Limits, NESTING_LIMIT};

use crate::diagnostic::Diagnostic;
use crate::source::SourceFile;

/// Parses a file with the default limits.
///
/// Always returns a tree, without the parts for which errors are reported.
#[must_use]
pub fn parse(file: &SourceFile) -> (ast::File, Vec<Diagnostic>) {
    parser::file(file, Limits::default())
}

/// Parses a text that is one expression or formula.
///
/// # Errors
///
/// The diagnostics of the text; spans are in file 0.
pub fn parse_formula(text: &str) -> Result<ast::Expr, Vec<Diagnostic>> {
    parse_expr(&SourceFile::new("formula", text), Limits::default())
}

/// Parses a file that is one expression or formula.
///
/// # Errors
///
/// The diagnostics of the text.
pub fn parse_expr(file: &SourceFile, limits: Limits) -> Result<ast::Expr, Vec<Diagnostic>> {
    parser::whole_expression(file, limits)
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
