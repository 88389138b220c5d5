//! Recorded data: files to records, records to steps, steps to cells.
//!
//! ```text
//! arguments ─open→ sources ─split→ raw records ─project→ units (records, events, ends)
//! ```
//!
//! [`open::sources`] finds the files; [`read::read`] takes one of them through all the rest. The parts can be used
//! alone: [`split::Splitter`] for raw records, [`projection::Projection`] for one record, [`document::parse`] for a tree
//! that a format reader looks at.

pub mod formats;
pub mod record;

pub mod deferred;
pub mod document;
pub mod limits;
pub mod open;
pub mod projection;
pub mod read;
pub mod split;
pub mod spread;

mod archive;
pub(crate) mod batch;
mod cell;
mod extract;
mod group_by_trace;
mod key_path_cache;
pub(crate) mod keys;
pub(crate) mod path;
pub(crate) mod pipeline;
mod place;
mod plan;
pub(crate) mod quick;
mod record_builder;
pub(crate) mod scan;
pub(crate) mod sniff;
#[cfg(feature = "tables")]
mod tables;
mod trie;
