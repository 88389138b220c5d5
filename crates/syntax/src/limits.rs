//! Limits on the size of a spec's text.

/// The default nesting of brackets and operators; see [`Limits`].
pub const NESTING_LIMIT: usize = 500;

/// Limits on a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The greatest nesting of brackets and operators.
    pub nesting: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            nesting: NESTING_LIMIT,
        }
    }
}
