//! From names to declarations and back.

use super::{Analysis, Kind};
use crate::source::{FileId, Span};
use crate::syntax::token::{LOOK_AHEAD_WORDS, Token};

/// The meaning of the name at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meant {
    /// The name at the place.
    pub name: Span,
    /// The name in its declaration, in any file; empty, at the start of a file, for a module.
    pub target: Span,
    /// The span of the declaration, without its documentation.
    pub whole: Span,
}

/// The reason why something cannot be renamed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenameError {
    /// The place is not a declared name.
    #[error("there is no declared name here")]
    NoName,
    /// The declaration is in another file.
    #[error("`{0}` is declared in `{1}`; rename it there")]
    Elsewhere(String, String),
    /// The new name is no name.
    #[error(
        "`{0}` is no name: letters, digits and `_`, no digit first, and no word of the language"
    )]
    NotAName(String),
    /// Not every use can be found while something is wrong.
    #[error("the spec has errors; mend them first, so that every use is found")]
    Broken,
}

impl Analysis {
    /// Returns the meaning of the name at an offset; a name in its own declaration means itself. Returns `None` if there is
    /// no name, or if its meaning is not known.
    pub fn definition(&self, offset: u32) -> Option<Meant> {
        let (name, target) = self
            .checked
            .links
            .at(FileId(0), offset)
            .or_else(|| self.declared_at(offset).map(|name| (name, name)))?;
        let whole = self
            .declarations
            .get(target)
            .map_or(target, |declaration| declaration.whole);
        Some(Meant {
            name,
            target,
            whole,
        })
    }

    /// Returns every name in the spec that means the same as the one at an offset, the declaration included where it is in
    /// the spec; by place.
    pub fn references(&self, offset: u32) -> Vec<Span> {
        let Some(meant) = self.definition(offset) else {
            return Vec::new();
        };
        let mut all: Vec<Span> = self.checked.links.uses(meant.target).collect();
        all.push(meant.target);
        all.retain(|name| name.file == FileId(0) && !name.is_empty());
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the places to change so that the name at an offset is another.
    ///
    /// # Errors
    /// See [`RenameError`].
    pub fn rename(&self, offset: u32, to: &str) -> Result<Vec<Span>, RenameError> {
        let meant = self.definition(offset).ok_or(RenameError::NoName)?;
        if meant.target.is_empty() {
            return Err(RenameError::NoName);
        }
        if meant.target.file != FileId(0) {
            return Err(RenameError::Elsewhere(
                self.sources().slice(meant.target).to_owned(),
                self.sources().get(meant.target.file).name().to_owned(),
            ));
        }
        if !is_name(to) {
            return Err(RenameError::NotAName(to.to_owned()));
        }
        if self.checked.spec.is_none() {
            return Err(RenameError::Broken);
        }
        Ok(self.references(offset))
    }

    /// Returns the kind of a declaration; a name that only an expression binds is a variable.
    pub(super) fn kind(&self, target: Span) -> Kind {
        if target.is_empty() {
            return Kind::Module;
        }
        self.declarations
            .get(target)
            .map_or(Kind::Variable, |declaration| declaration.kind)
    }

    fn declared_at(&self, offset: u32) -> Option<Span> {
        let mut all = self.declarations.iter();
        all.find(|(name, _)| name.file == FileId(0) && name.touches(offset))
            .map(|(name, _)| name)
    }
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let begins = chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    begins
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !LOOK_AHEAD_WORDS.contains(&text)
        && Token::of_word(text).is_name()
}
