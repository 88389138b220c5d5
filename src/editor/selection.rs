//! Nested ranges around an offset, for expanding a selection.

use super::Analysis;
use crate::source::{FileId, Span};
use crate::syntax::ast::Expr;
use crate::syntax::{lexer, visit};

impl Analysis {
    /// Returns the ranges that contain an offset, each within the next: the word, expressions, the item with and without its
    /// documentation, the whole text.
    pub fn selections(&self, offset: u32) -> Vec<Span> {
        let file = self.file();
        let mut all = vec![file.span()];
        let lexed = lexer::lex(file.text(), 0);
        let mut tokens = lexed.tokens.iter();
        let word = tokens.find(|lexeme| lexeme.start <= offset && offset <= lexeme.end);
        all.extend(word.map(|word| Span::new(FileId(0), word.start, word.end)));
        if let Some(module) = self.checked.project.modules.first() {
            for item in module
                .tree
                .items
                .iter()
                .filter(|item| item.span.touches(offset))
            {
                all.push(*item.span);
                let mut keep = |expr: &Expr| {
                    if expr.span.touches(offset) {
                        all.push(*expr.span);
                    }
                };
                visit::item_expressions(item, &mut |expr| visit::walk(expr, &mut keep));
            }
        }
        all.retain(|span| span.file == FileId(0));
        all.sort_unstable_by_key(|span| (span.len(), span.start));
        all.dedup();
        // If two ranges overlap, as at the border of two words, only the first is contained in the larger ones.
        let mut nested: Vec<Span> = Vec::new();
        for span in all {
            let fits = |inner: &Span| span.start <= inner.start && inner.end <= span.end;
            if nested.last().is_none_or(fits) {
                nested.push(span);
            }
        }
        nested
    }
}
