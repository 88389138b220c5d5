//! Message templates.

use super::Checker;
use super::scope::Scope;
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{Text, TextPart};
use crate::syntax::ast;
use crate::types::Type;

impl<'a> Checker<'a> {
    /// Elaborates a message.
    pub(super) fn text(&mut self, scope: &Scope<'a>, message: &'a ast::Message) -> Text {
        let mut parts = Vec::new();
        for part in &message.parts {
            match part {
                ast::MessagePart::Text(text) => parts.push(TextPart::Literal(text.clone())),
                ast::MessagePart::Value { expr, format, span } => {
                    let typed = self.operand(scope, expr, None);
                    if let Some(format) = format {
                        let digits = format
                            .strip_prefix('.')
                            .map(|rest| rest.strip_suffix('%').unwrap_or(rest));
                        let known = digits.is_some_and(|digits| {
                            digits.len() <= 2
                                && !digits.is_empty()
                                && digits.bytes().all(|b| b.is_ascii_digit())
                        });
                        if !known {
                            self.report(
                                Diagnostic::new(
                                    Code::G0323,
                                    *span,
                                    format!("unknown format `{format}`"),
                                )
                                .label("`.2` prints two decimal places, `.0%` a whole percentage"),
                            );
                        } else if !matches!(
                            typed.ty.non_null(),
                            Type::Int | Type::Float | Type::Json | Type::Error
                        ) {
                            self.report(
                                Diagnostic::new(
                                    Code::G0323,
                                    *span,
                                    format!("`{}` cannot be formatted", typed.ty),
                                )
                                .label("formats apply to numbers"),
                            );
                        }
                    }
                    parts.push(TextPart::Value(typed.id, format.clone()));
                }
            }
        }
        Text { parts }
    }
}
