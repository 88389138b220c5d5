//! Extraction of the fields that a spec reads: from JSON text in one pass, and from a value that was parsed already.

pub(crate) mod stream;
pub(crate) mod tree;
