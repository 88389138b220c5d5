//! The items of a file, for the outline and for folding.

use super::Analysis;
use super::declaration::{Kind, kind_of};
use crate::source::{FileId, Span};
use crate::syntax::ast::{Item, ItemKind};

/// An item, or a named part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name, or its first word if it has none.
    pub name: String,
    /// The word that declares it; empty for parts.
    pub word: String,
    /// The kind of declaration; `None` for `event`, `trace`, `enforce` and tests.
    pub kind: Option<Kind>,
    /// The span of its name.
    pub at: Span,
    /// All of it, documentation left out.
    pub whole: Span,
    /// Its parts, by place.
    pub parts: Vec<Symbol>,
}

impl Analysis {
    /// Returns the items of the spec in the order of its text.
    pub fn outline(&self) -> Vec<Symbol> {
        let Some(module) = self.checked.project.modules.first() else {
            return Vec::new();
        };
        let items = module.tree.items.iter().enumerate();
        items
            .filter(|(_, item)| !matches!(item.kind, ItemKind::Use(_)))
            .map(|(idx, item)| Symbol {
                parts: self.parts(idx, item),
                ..symbol(item)
            })
            .collect()
    }

    /// Returns fields, values, variables: the declarations of an item below its own name. Parameters are not included.
    fn parts(&self, idx: usize, item: &Item) -> Vec<Symbol> {
        let own = item.kind.name().map(|name| *name.span);
        let all = self.declarations.iter();
        all.filter(|(name, part)| {
            name.file == FileId(0)
                && part.item == idx
                && part.module == 0
                && Some(*name) != own
                && part.kind != Kind::Parameter
        })
        .map(|(name, part)| Symbol {
            name: self.sources().slice(name).to_owned(),
            word: String::new(),
            kind: Some(part.kind),
            at: name,
            whole: part.whole,
            parts: Vec::new(),
        })
        .collect()
    }

    /// Ranges that can be folded: items of more than one line.
    pub fn folds(&self) -> Vec<Span> {
        let items = self.checked.project.modules.first();
        let items = items.into_iter().flat_map(|module| &module.tree.items);
        items
            .map(|item| *item.span)
            .filter(|span| self.sources().slice(*span).trim_end().contains('\n'))
            .collect()
    }
}

fn symbol(item: &Item) -> Symbol {
    let word = item.kind.word().to_owned();
    let (name, at) = match (&item.kind, item.kind.name()) {
        (_, Some(name)) => (name.to_string(), *name.span),
        (ItemKind::Test(test), None) => (test.name.value.to_string(), *test.name.span),
        _ => (word.clone(), item.span.before()),
    };
    Symbol {
        name,
        word,
        kind: kind_of(&item.kind),
        at,
        whole: *item.span,
        parts: Vec::new(),
    }
}
