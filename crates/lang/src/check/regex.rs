//! Regular expressions.

use super::Checker;
use super::scope::Scope;
use crate::diagnostic::{Code, Diagnostic};
use crate::ids::RegexId;
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind};

impl<'a> Checker<'a> {
    /// Returns a regular expression: a literal, or the name of a constant regular expression.
    pub(super) fn regex(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr) -> Option<RegexId> {
        match &expr.kind {
            ExprKind::Regex { pattern, flags } => {
                let (pattern, flags) = (pattern.clone(), flags.clone());
                self.compile_regex(&pattern, &flags, *expr.span)
            }
            _ => {
                if let Some(item) = self.item_of(scope, expr)
                    && let ast::ItemKind::Const(def) = &self.names.item(item).kind
                    && let ExprKind::Regex { pattern, flags } = &def.value.kind
                {
                    self.used.insert(item);
                    return self.compile_regex(pattern, flags, *def.value.span);
                }
                self.report(
                    Diagnostic::new(Code::G0315, expr.span, "expected a regular expression")
                        .label("write `/…/`, or the name of a regular-expression `const`")
                        .note("to look for a text, write `contains`"),
                );
                None
            }
        }
    }

    /// Compiles a pattern. `\/` is a slash; flags are `i` (any case), `m` (lines), `s` (dot takes line ends), `x`
    /// (spaces and comments), `u` is always on.
    pub(super) fn compile_regex(
        &mut self,
        pattern: &str,
        flags: &str,
        span: Span,
    ) -> Option<RegexId> {
        let mut text = pattern.replace("\\/", "/");
        let known: String = flags
            .chars()
            .filter(|flag| "imsx".contains(*flag))
            .collect();
        if known.len() != flags.len() {
            self.report(
                Diagnostic::new(
                    Code::G0315,
                    span,
                    format!("unknown regular-expression flags `{flags}`"),
                )
                .label("the flags are `i`, `m`, `s`, `x`"),
            );
            return None;
        }
        if !known.is_empty() {
            text = format!("(?{known}){text}");
        }
        match self.spec.exprs.add_regex(&text) {
            Ok(regex) => Some(regex),
            Err(error) => {
                self.report(
                    Diagnostic::new(Code::G0315, span, "invalid regular expression")
                        .label(error.to_string())
                        .note("regular expressions run in linear time: look-around and back-references are not supported"),
                );
                None
            }
        }
    }
}
