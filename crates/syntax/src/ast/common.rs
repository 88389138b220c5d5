//! Names, spans and documentation, used in every part of the tree.

use crate::source::Span;
use smol_str::SmolStr;
use std::ops::Deref;

/// A value that equality ignores.
#[derive(Clone, Copy, Default)]
pub struct Ignored<T>(pub T);

/// The span of a node. `*node.span` is the [`Span`].
pub type Loc = Ignored<Span>;

/// The author's spelling of an operator or word; empty means the canonical spelling.
pub type Spelling = Ignored<SmolStr>;

impl<T> PartialEq for Ignored<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Ignored<T> {}

impl<T> std::hash::Hash for Ignored<T> {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl<T> Deref for Ignored<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> From<T> for Ignored<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl From<Loc> for Span {
    fn from(loc: Loc) -> Self {
        loc.0
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Ignored<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A name, where it is declared or used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// Its letters.
    pub text: SmolStr,
    /// Its span.
    pub span: Loc,
}

impl Name {
    /// Returns a name at a place.
    pub fn new(text: impl Into<SmolStr>, span: Span) -> Self {
        Self {
            text: text.into(),
            span: Ignored(span),
        }
    }

    /// Returns its letters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// A string literal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StringLit {
    /// Its value, escapes resolved.
    pub value: SmolStr,
    /// Its text, quotes included; empty if made by a program.
    pub raw: Spelling,
    /// Its span.
    pub span: Loc,
}

/// One line of documentation, without its slashes and the first space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doc {
    /// The text of the line.
    pub text: SmolStr,
    /// Its span, slashes included.
    pub span: Loc,
}

/// One plain comment, slashes included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The comment as written.
    pub text: SmolStr,
    /// Its span in the source.
    pub span: Span,
    /// Whether other text precedes it on its line.
    pub trailing: bool,
}
