//! Choices and quantifiers over lists: `if`, `cases`, `any`, `all`, `count … in`.

use super::names::Names;
use super::scope::{Binding, Scope};
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{self, Expr};
use crate::ids::ExprId;
use crate::source::Span;
use crate::syntax::ast;
use crate::types::Type;

impl<'a> Checker<'a> {
    /// `if` and each arm of `cases`.
    pub(super) fn choice(
        &mut self,
        scope: &Scope<'a>,
        condition: ExprId,
        then: &'a ast::Expr,
        otherwise: &'a ast::Expr,
        expected: Option<&Type>,
        span: Span,
    ) -> Typed {
        let lhs = self.value(scope, then, expected);
        let hint = expected.cloned().unwrap_or_else(|| lhs.ty.clone());
        let rhs = self.value(scope, otherwise, Some(&hint));
        match self.joined(&lhs, &rhs, *otherwise.span, *then.span) {
            Some(ty) => self.add(Expr::If(condition, lhs.id, rhs.id), ty, span),
            None => self.wrong(),
        }
    }

    /// The common type of two branches, or a report.
    pub(super) fn joined(
        &mut self,
        lhs: &Typed,
        rhs: &Typed,
        span: Span,
        other: Span,
    ) -> Option<Type> {
        let joined = Self::join(&lhs.ty, &rhs.ty);
        if joined.is_none() {
            self.report(
                Diagnostic::new(
                    Code::G0301,
                    span,
                    format!(
                        "the branches have different types, `{}` and `{}`",
                        lhs.ty, rhs.ty
                    ),
                )
                .label(format!("`{}`", rhs.ty))
                .also(other, format!("`{}`", lhs.ty)),
            );
        }
        joined
    }

    pub(super) fn cases(
        &mut self,
        scope: &Scope<'a>,
        arms: &'a [ast::CaseArm],
        expected: Option<&Type>,
        span: Span,
    ) -> Typed {
        let mut conditions = Vec::new();
        let mut otherwise: Option<(Typed, Span)> = None;
        let mut hint = expected.cloned();
        for arm in arms {
            if let Some((_, earlier)) = &otherwise {
                let earlier = *earlier;
                self.report(
                    Diagnostic::new(Code::G0326, arm.span, "this arm is never reached")
                        .label("after `else`")
                        .also(earlier, "everything else ends here"),
                );
                continue;
            }
            let condition = arm
                .condition
                .as_ref()
                .map(|condition| self.boolean(scope, condition));
            let value = self.value(scope, &arm.value, hint.as_ref());
            hint = hint.or_else(|| (value.ty != Type::Null).then(|| value.ty.clone()));
            match condition {
                Some(condition) => conditions.push((condition, value, *arm.value.span)),
                None => otherwise = Some((value, *arm.value.span)),
            }
        }
        let Some((mut result, mut result_span)) = otherwise else {
            self.report(
                Diagnostic::new(Code::G0326, span, "`cases` without `else`")
                    .label("no value where no arm holds")
                    .note("add `else => …` as the last arm"),
            );
            return self.wrong();
        };
        for (condition, value, value_span) in conditions.into_iter().rev() {
            let Some(ty) = self.joined(&value, &result, result_span, value_span) else {
                return self.wrong();
            };
            result = self.add(Expr::If(condition, value.id, result.id), ty, span);
            result_span = value_span;
        }
        result
    }

    pub(super) fn list_quantifier(
        &mut self,
        scope: &Scope<'a>,
        kind: ast::QuantifierKind,
        name: &'a ast::Name,
        source: &'a ast::Expr,
        body: &'a ast::Expr,
        span: Span,
    ) -> Typed {
        let over = self.value(scope, source, None);
        let item = match over.ty.non_null() {
            Type::List(item) | Type::Set(item) => item.as_ref().clone(),
            Type::Json | Type::Null => Type::Json,
            Type::Error => Type::Error,
            ty => {
                self.report(
                    Diagnostic::new(
                        Code::G0301,
                        source.span,
                        format!("a list or set is asked for, and this is `{ty}`"),
                    )
                    .label(format!("`{ty}`")),
                );
                Type::Error
            }
        };
        if Names::is_predefined(&name.text) {
            self.error(Code::G0203, name.span, format!("`{name}` is predefined"));
        }
        let local = self.local();
        let variable = self.add(Expr::Local(local), item, *name.span);
        let inner = scope.with(&name.text, Binding::Value(variable));
        let body = self.boolean(&inner, body);
        let (kind, ty) = match kind {
            ast::QuantifierKind::Any => (hir::Quantifier::Any, Type::Bool),
            ast::QuantifierKind::All => (hir::Quantifier::All, Type::Bool),
            ast::QuantifierKind::Count => (hir::Quantifier::Count, Type::Int),
        };
        self.add(
            Expr::Quantifier {
                kind,
                local,
                over: over.id,
                body,
            },
            ty,
            span,
        )
    }
}
