//! Choices and quantifiers over lists: `if`, `cases`, `any`, `all`, `count … in`.

use std::sync::Arc;

use super::names::Names;
use super::scope::{Binding, Scope};
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::outline::{Arm, Cases};
use crate::hir::{self, Expr};
use crate::ids::ExprId;
use crate::source::Span;
use crate::syntax::ast;
use crate::types::Type;

impl<'a> Checker<'a> {
    /// Elaborates `if` and each arm of `cases`.
    pub(super) fn choice(
        &mut self,
        scope: &Scope<'a>,
        condition: ExprId,
        then: &'a ast::Expr,
        otherwise: &'a ast::Expr,
        expected: Option<&Type>,
        span: Span,
    ) -> Typed {
        let lhs = self.scoped(|checker| {
            checker.note(condition, true);
            checker.value(scope, then, expected)
        });
        let hint = expected.cloned().unwrap_or_else(|| lhs.ty.clone());
        let rhs = self.scoped(|checker| {
            checker.note(condition, false);
            checker.value(scope, otherwise, Some(&hint))
        });
        match self.joined(&lhs, &rhs, *otherwise.span, *then.span) {
            Some(ty) => self.add(Expr::If(condition, lhs.id, rhs.id), ty, span),
            None => self.wrong(),
        }
    }

    /// Returns the common type of two branches, or reports an error.
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
                        "the branches have different types: `{}` and `{}`",
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
        self.scoped(|checker| checker.arms_of(scope, arms, expected, span))
    }

    fn arms_of(
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
                    Diagnostic::new(Code::G0326, arm.span, "this arm is unreachable")
                        .label("after `else`")
                        .also(earlier, "`else` matches everything that is left"),
                );
                continue;
            }
            let condition = arm
                .condition
                .as_ref()
                .map(|condition| self.boolean(scope, condition));
            let value = self.scoped(|checker| {
                if let Some(condition) = condition {
                    checker.note(condition, true);
                }
                checker.value(scope, &arm.value, hint.as_ref())
            });
            if let Some(condition) = condition {
                self.note(condition, false);
            }
            hint = hint.or_else(|| (value.ty != Type::Null).then(|| value.ty.clone()));
            match condition {
                Some(condition) => conditions.push((condition, value, arm)),
                None => otherwise = Some((value, *arm.value.span)),
            }
        }
        let Some((mut result, mut result_span)) = otherwise else {
            self.report(
                Diagnostic::new(Code::G0326, span, "`cases` without `else`")
                    .label("has no value if no arm matches")
                    .note("add `else => …` as the last arm"),
            );
            return self.wrong();
        };
        self.spec.outline.cases.push(Cases {
            arms: conditions
                .iter()
                .map(|(condition, value, arm)| Arm {
                    span: *arm.span,
                    condition: *condition,
                    value: value.id,
                })
                .collect(),
            otherwise: result.id,
            generic: self.generic,
        });
        for (condition, value, arm) in conditions.into_iter().rev() {
            let value_span = *arm.value.span;
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
                        format!("expected a list or set, found `{ty}`"),
                    )
                    .label(format!("`{ty}`")),
                );
                Type::Error
            }
        };
        if Names::is_predefined(&name.text) {
            self.error(Code::G0203, name.span, format!("`{name}` is predefined"));
        }
        let local = self.local(&name.text);
        let variable = self.add(Expr::Local(local), item, *name.span);
        let variable_id = variable.id;
        let inner = scope.with_name(name, Binding::Value(variable));
        let body_span = *body.span;
        let made = if kind == ast::QuantifierKind::Map {
            self.value(&inner, body, None)
        } else {
            let id = self.boolean(&inner, body);
            Typed { id, ty: Type::Bool }
        };
        let body = made.id;
        if self.looks_back_at(body, variable_id) {
            self.report(
                Diagnostic::new(
                    Code::G0310,
                    body_span,
                    format!("`{name}` has no past"),
                )
                .label("refers to an earlier step of an element of this step's list")
                .note("past operators, `before` and `count` over steps can read fields and tracks; \
                    to follow a value across steps, use `forall`"),
            );
        }
        let (kind, ty) = match kind {
            ast::QuantifierKind::Any => (hir::Quantifier::Any, Type::Bool),
            ast::QuantifierKind::All => (hir::Quantifier::All, Type::Bool),
            ast::QuantifierKind::Count => (hir::Quantifier::Count, Type::Int),
            ast::QuantifierKind::Map => {
                let list = Type::List(Arc::new(made.ty));
                let ty = if over.ty.may_be_null() {
                    list.nullable()
                } else {
                    list
                };
                (hir::Quantifier::Map, ty)
            }
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

    /// Whether an expression with history reads the variable.
    fn looks_back_at(&self, root: ExprId, variable: ExprId) -> bool {
        let exprs = &self.spec.exprs;
        let mut seen = std::collections::HashSet::new();
        let mut todo = vec![(root, false)];
        while let Some((id, back)) = todo.pop() {
            if !seen.insert((id, back)) {
                continue;
            }
            if id == variable && back {
                return true;
            }
            let back = back
                || matches!(
                    exprs.get(id),
                    Expr::Before(_) | Expr::Count { .. } | Expr::Past(..)
                );
            todo.extend(
                exprs
                    .operands(id)
                    .into_iter()
                    .map(|operand| (operand, back)),
            );
        }
        false
    }
}
