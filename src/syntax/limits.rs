//! Limits on what a text may ask of the compiler.

/// How deep brackets and operators may nest unless [`Limits`] says otherwise.
pub const NESTING_LIMIT: usize = 500;

/// Limits on a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How deep brackets and operators may nest.
    pub nesting: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            nesting: NESTING_LIMIT,
        }
    }
}
