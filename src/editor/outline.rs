//! The items of a file, for the outline and for folding.

use super::Analysis;
use super::declaration::{Kind, kind_of};
use crate::source::{FileId, SourceFile, Span};
use crate::syntax;
use crate::syntax::ast::{Item, ItemKind};

/// An item, or a named part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name, or its keyword if it has none.
    pub name: String,
    /// Its keyword; empty for parts.
    pub word: String,
    /// The kind of declaration; `None` for `event`, `trace`, `enforce` and tests.
    pub kind: Option<Kind>,
    /// The span of its name.
    pub at: Span,
    /// Its whole span, without documentation.
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
            .filter_map(|(idx, item)| {
                Some(Symbol {
                    parts: self.parts(idx, item),
                    ..symbol(item)?
                })
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

/// Returns the named items of a text in its order, without their parts.
pub(crate) fn items(file: &SourceFile) -> Vec<Symbol> {
    let (tree, _) = syntax::parse(file);
    let named = tree.items.iter().filter(|item| item.kind.name().is_some());
    named.filter_map(symbol).collect()
}

/// Returns an item as a symbol; `None` for a broken item without a name or keyword, because editors reject an empty
/// name.
fn symbol(item: &Item) -> Option<Symbol> {
    let word = item.kind.word().to_owned();
    let (name, at) = match (&item.kind, item.kind.name()) {
        (_, Some(name)) => (name.to_string(), *name.span),
        (ItemKind::Test(test), None) if !test.name.value.is_empty() => {
            (test.name.value.to_string(), *test.name.span)
        }
        _ => (word.clone(), item.span.before()),
    };
    (!name.is_empty()).then(|| Symbol {
        name,
        word,
        kind: kind_of(&item.kind),
        at,
        whole: *item.span,
        parts: Vec::new(),
    })
}
