//! Inlay hints: when violations of a property become final, and inferred types.

use std::ops::Range;

use super::{Analysis, Kind};
use crate::source::{FileId, Span};

/// A text to show after an offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The offset.
    pub at: u32,
    /// The text.
    pub label: String,
    /// The explanation, in Markdown.
    pub docs: String,
}

impl Analysis {
    /// Returns the hints in a range of offsets, by place. Properties whose automaton is large have none.
    pub fn hints(&self, within: Range<u32>) -> Vec<Hint> {
        let here = self.declarations.iter().filter(|(name, _)| {
            name.file == FileId(0) && within.start <= name.end && name.start <= within.end
        });
        here.filter_map(|(name, declaration)| match declaration.kind {
            Kind::Property => {
                let summary = self.summary(self.sources().slice(name))?;
                let class = summary.enforceable?;
                let states = match summary.states {
                    Some(1) => ", 1 state".to_owned(),
                    Some(states) => format!(", {states} states"),
                    None => String::new(),
                };
                Some(Hint {
                    at: name.end,
                    label: format!("{}{states}", class.as_str()),
                    docs: super::hover::enforced(class).to_owned(),
                })
            }
            Kind::Function | Kind::Constant if self.is_plain(name) => Some(Hint {
                at: name.end,
                label: format!(": {}", self.links().inferred_type(name)?),
                docs: String::new(),
            }),
            _ => None,
        })
        .collect()
    }

    /// Whether a declared name stands alone before its `=`, without parameters.
    fn is_plain(&self, name: Span) -> bool {
        let rest = self.file().text().get(name.end as usize..);
        rest.is_some_and(|rest| !rest.trim_start().starts_with('('))
    }
}
