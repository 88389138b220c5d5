//! Recorded data: files to records, records to steps, steps to cells.
//!
//! ```text
//! arguments ─open→ sources ─split→ raw records ─project→ units (records, events, ends)
//! ```
//!
//! [`open::sources`] finds the files; [`read::read`] takes one of them through all the rest. The parts can be used
//! alone: [`split::Splitter`] for raw records, [`project::Projection`] for one record, [`document::parse`] for a tree
//! that a format reader looks at.

pub mod formats;
pub mod record;

pub mod deferred;
pub mod document;
pub mod limits;
pub mod open;
pub mod project;
pub mod read;
pub mod split;

pub(crate) mod ahead;
mod cell;
mod gather;
pub(crate) mod keys;
mod path;
mod place;
mod plan;
pub(crate) mod quick;
pub(crate) mod scan;
mod shapes;
mod sink;
pub(crate) mod sketch;
mod tree;
mod trie;
mod walk;
