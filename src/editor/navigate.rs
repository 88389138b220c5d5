//! From names to declarations and back.

use super::{Analysis, Kind};
use crate::source::{FileId, Span};

/// The declaration of the name at an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meant {
    /// The name at the place.
    pub name: Span,
    /// The name in its declaration, in any file; empty, at the start of a file, for a module.
    pub target: Span,
    /// The span of the declaration, without its documentation.
    pub whole: Span,
}

impl Analysis {
    /// Returns the declaration of the name at an offset; a name in its own declaration refers to itself. Returns `None` if
    /// there is no name, or if it is not resolved.
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

    /// Returns every name in the spec that refers to the same declaration as the one at an offset, including the declaration if
    /// it is in the spec, by position.
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

    /// Returns the kind of a declaration; a name bound by an expression is a variable.
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
        let declared = all.find(|(name, _)| name.file == FileId(0) && name.touches(offset));
        // A name bound by an expression is known by its uses.
        declared
            .map(|(name, _)| name)
            .or_else(|| self.checked.links.declared_at(FileId(0), offset))
    }
}
