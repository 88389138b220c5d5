//! The items of a file, for the outline and for folding.

use std::collections::BTreeMap;

use super::Analysis;
use super::declaration::{Kind, kind_of};
use crate::source::{FileId, SourceFile, Span};
use crate::syntax;
use crate::syntax::ast::{Item, ItemKind};
use crate::syntax::lexer::{self, Trivia};
use crate::syntax::token::Token;

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

/// A range that can be folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// Its span.
    pub span: Span,
    /// Its kind.
    pub kind: FoldKind,
}

/// The kind of a range that can be folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldKind {
    /// An item, or what is in brackets.
    Block,
    /// Comments on lines that follow each other.
    Comment,
    /// `use` items that follow each other.
    Imports,
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

    /// Returns the ranges that can be folded, by their first lines: items, brackets, comments and groups of imports of more than
    /// one line.
    pub fn folds(&self) -> Vec<Fold> {
        let file = self.file();
        let line = |offset: u32| file.location(offset).line;
        let mut by_line: BTreeMap<u32, Fold> = BTreeMap::new();
        let mut add = |start: u32, end: u32, kind| {
            let text = file
                .text()
                .get(start as usize..end as usize)
                .unwrap_or_default();
            let end = start + u32::try_from(text.trim_end().len()).unwrap_or(0);
            if line(start) < line(end) {
                let span = Span::new(FileId(0), start, end);
                by_line.entry(line(start)).or_insert(Fold { span, kind });
            }
        };
        let items = self.checked.project.modules.first();
        let items = items.map_or(&[][..], |module| &module.tree.items);
        let is_use = |item: &Item| matches!(item.kind, ItemKind::Use(_));
        for imports in items.chunk_by(|a, b| is_use(a) && is_use(b)) {
            if let [first, .., last] = imports {
                add(first.span.start, last.span.end, FoldKind::Imports);
            }
        }
        for item in items {
            add(item.span.start, item.span.end, FoldKind::Block);
        }
        let lexed = lexer::lex(file.text(), 0);
        let mut open = Vec::new();
        for lexeme in &lexed.tokens {
            match lexeme.token {
                // An item ends what was left open in the one before it.
                token if lexeme.column_zero && token.begins_item() => open.clear(),
                Token::LParen | Token::LBracket | Token::LBrace => open.push(lexeme.start),
                Token::RParen | Token::RBracket | Token::RBrace => {
                    if let Some(start) = open.pop() {
                        add(start, lexeme.end, FoldKind::Block);
                    }
                }
                _ => {}
            }
        }
        let whole_lines: Vec<&Trivia> = lexed
            .trivia
            .iter()
            .filter(|trivia| !trivia.trailing)
            .collect();
        let continues = |a: &&Trivia, b: &&Trivia| {
            a.kind == b.kind
                && a.next == b.next
                && line(a.end.saturating_sub(1)) + 1 >= line(b.start)
        };
        for comments in whole_lines.chunk_by(|a, b| continues(a, b)) {
            if let (Some(first), Some(last)) = (comments.first(), comments.last()) {
                add(first.start, last.end, FoldKind::Comment);
            }
        }
        by_line.into_values().collect()
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
