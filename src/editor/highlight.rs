//! Semantic highlighting: names with their kinds.

use super::{Analysis, Kind};
use crate::source::{FileId, Span};

/// A name with its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coloured {
    /// The name.
    pub span: Span,
    /// Its kind.
    pub kind: Kind,
    /// Whether this is its declaration.
    pub declares: bool,
}

impl Analysis {
    /// Returns the resolved names of the spec, by position and without overlap.
    pub fn colours(&self) -> Vec<Coloured> {
        let uses = self.checked.links.of_file(FileId(0));
        let mut all: Vec<Coloured> = uses
            .map(|(span, target)| Coloured {
                span,
                kind: self.kind(target),
                declares: false,
            })
            .collect();
        all.extend(
            self.declarations
                .iter()
                .filter(|(name, _)| name.file == FileId(0))
                .map(|(span, declaration)| Coloured {
                    span,
                    kind: declaration.kind,
                    declares: true,
                }),
        );
        all.sort_by_key(|coloured| (coloured.span, coloured.declares));
        let mut end = 0;
        all.retain(|coloured| {
            let apart = coloured.span.start >= end && !coloured.span.is_empty();
            if apart {
                end = coloured.span.end;
            }
            apart
        });
        all
    }
}
