//! Expressions as values.

use std::sync::Arc;

use smol_str::SmolStr;

use super::branching::Place;
use super::scope::Scope;
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::Expr;
use crate::hir::outline::{Condition, LenientCast};
use crate::ids::ExprId;
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind};
use crate::types::Type;
use crate::value::Value;

/// The remedy for a quantified name that is not only compared.
pub(super) const RANGE: &str = "with a range, a quantified name has a type and may be related in any way: `forall k in granted: … path starts_with k`";

impl<'a> Checker<'a> {
    /// Elaborates an expression as a value. `expected` is the type that the context requires, if any; names of enum values
    /// and empty braces are resolved with it. The caller checks that the value fits.
    pub(super) fn value(
        &mut self,
        scope: &Scope<'a>,
        expr: &'a ast::Expr,
        expected: Option<&Type>,
    ) -> Typed {
        let typed = self.operand(scope, expr, expected);
        if self.is_identity(&typed) {
            let name = self.snippet(*expr.span);
            self.report(
                Diagnostic::new(
                    Code::G0312,
                    expr.span,
                    format!("`{name}` can only be compared"),
                )
                .label("used as a value")
                .note(
                    "a quantified name or track parameter is allowed in `e == x`, `e != x`, \
                         `x in list`, `list contains x`, and as an argument of a predicate or \
                         track that compares it",
                )
                .note(RANGE),
            );
            return self.wrong();
        }
        typed
    }

    /// Elaborates a value like [`value`](Self::value), in a place that allows a quantified name as an operand.
    pub(super) fn operand(
        &mut self,
        scope: &Scope<'a>,
        expr: &'a ast::Expr,
        expected: Option<&Type>,
    ) -> Typed {
        let Typed { id, ty } = self.operand_of(scope, expr, expected);
        Typed {
            id,
            ty: self.narrowed(id, ty),
        }
    }

    fn operand_of(
        &mut self,
        scope: &Scope<'a>,
        expr: &'a ast::Expr,
        expected: Option<&Type>,
    ) -> Typed {
        let span = *expr.span;
        match &expr.kind {
            ExprKind::Bool(value) => self.add(Expr::Const(Value::Bool(*value)), Type::Bool, span),
            ExprKind::Null => self.add(Expr::Const(Value::Null), Type::Null, span),
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Percent(_)
            | ExprKind::Duration(_) => self.number(expr, expected),
            ExprKind::String(text) => self.add(
                Expr::Const(Value::String(text.value.clone().into())),
                Type::String,
                span,
            ),
            ExprKind::Regex { .. } => {
                self.report(
                    Diagnostic::new(Code::G0303, span, "a regular expression is not a value")
                        .label("expected a value")
                        .note("regular expressions are allowed after `matches`, in `capture(…)` and in `const`"),
                );
                self.wrong()
            }
            ExprKind::List(items) => {
                let item = match expected.map(Type::non_null) {
                    Some(Type::List(item) | Type::Set(item)) => Some(item.as_ref().clone()),
                    _ => None,
                };
                let as_set = matches!(expected.map(Type::non_null), Some(Type::Set(_)));
                self.sequence(scope, items, item, as_set, span)
            }
            ExprKind::Set(items) => {
                let item = match expected.map(Type::non_null) {
                    Some(Type::List(item) | Type::Set(item)) => Some(item.as_ref().clone()),
                    _ => None,
                };
                self.sequence(scope, items, item, true, span)
            }
            ExprKind::EmptyBraces => match expected.map(Type::non_null) {
                Some(Type::Set(item)) => {
                    let ty = Type::Set(item.clone());
                    self.add(Expr::Set(Box::default()), ty, span)
                }
                Some(ty @ (Type::Map(_) | Type::Json)) => {
                    let ty = ty.clone();
                    self.add(Expr::Record(Box::default()), ty, span)
                }
                _ => self.add(
                    Expr::Record(Box::default()),
                    Type::Map(Arc::new(Type::Json)),
                    span,
                ),
            },
            ExprKind::Record(entries) => self.record(scope, entries, expected, span),
            ExprKind::Name(name) => self.name(scope, name, expected),
            ExprKind::Member { base, name } => self.member(scope, base, name, span),
            ExprKind::Index { base, index } => self.index(scope, base, index, span),
            ExprKind::Call { callee, args } => self.call(scope, callee, args, expected, span),
            ExprKind::CountWindow { bound, args } => self.count(scope, Some(bound), args, span),
            ExprKind::Prime(operand) if self.place == Place::Clause(true) => {
                let typed = self.at(Place::Clause(false), |checker| {
                    checker.value(scope, operand, expected)
                });
                if typed.ty == Type::Error {
                    return typed;
                }
                let ty = typed.ty.clone();
                self.add(Expr::Next(typed.id), ty, span)
            }
            ExprKind::Prime(_) => {
                self.report(
                    Diagnostic::new(Code::G0325, span, "there is no next state here")
                        .label("primed name")
                        .note("a prime is allowed only in `step` of abstractions and systems"),
                );
                self.wrong()
            }
            ExprKind::Unary {
                op: ast::UnaryOp::Not,
                operand,
                ..
            } => {
                let operand = self.boolean(scope, operand);
                self.add(Expr::Not(operand), Type::Bool, span)
            }
            ExprKind::Unary {
                op: ast::UnaryOp::Neg,
                operand,
                ..
            } => self.negation(scope, operand, expected, span),
            ExprKind::Chain { op, operands, .. } => {
                let facts: &[ast::Expr] = if *op == ast::ChainOp::And {
                    operands
                } else {
                    &[]
                };
                let all: Vec<_> = self.assuming(scope, facts, |checker| {
                    checker.scoped(|checker| {
                        let one = |operand: &'a ast::Expr| {
                            let id = match checker.is_elliptic(operands, operand) {
                                true => checker.wrong().id,
                                false => checker.boolean(scope, operand),
                            };
                            checker.note(id, *op == ast::ChainOp::And);
                            (id, *operand.span)
                        };
                        operands.iter().map(one).collect()
                    })
                });
                self.chain(*op, &all)
            }
            ExprKind::Binary { op, lhs, rhs, .. } => {
                self.binary(scope, *op, lhs, rhs, expected, span)
            }
            ExprKind::Cast { operand, ty } => self.cast(scope, operand, ty, span),
            ExprKind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.boolean(scope, condition);
                self.choice(scope, condition, then, otherwise, expected, span)
            }
            ExprKind::Cases(arms) => self.cases(scope, arms, expected, span),
            ExprKind::Quantifier {
                kind,
                name,
                source,
                body,
            } => self.list_quantifier(scope, *kind, name, source, body, span),
            ExprKind::Temporal { .. } | ExprKind::TemporalInfix { .. } => {
                self.past_value(scope, expr)
            }
            ExprKind::LeadsTo { .. } | ExprKind::Precedes { .. } => {
                self.future_in_value(span);
                self.wrong()
            }
            ExprKind::Instances { .. } => {
                self.report(
                    Diagnostic::new(
                        Code::G0313,
                        span,
                        "`forall` and `exists` must be outermost in a property",
                    )
                    .label("nested in another expression")
                    .note("for the elements of a list, use `all y in xs: …` or `any y in xs: …`"),
                );
                self.wrong()
            }
            ExprKind::Ctl { .. }
            | ExprKind::Path { .. }
            | ExprKind::Probability { .. }
            | ExprKind::SteadyState { .. }
            | ExprKind::Reward { .. } => self.branching(scope, expr),
            ExprKind::Error => self.wrong(),
        }
    }

    /// Elaborates a condition as a value: a Boolean that is never null.
    pub(super) fn boolean(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr) -> ExprId {
        if let Some(id) = self.state_condition(scope, expr) {
            return id;
        }
        let typed = self.value(scope, expr, Some(&Type::Bool));
        self.require_boolean(&typed, *expr.span);
        // For a name, the condition is recorded at its definition.
        if !matches!(expr.kind, ExprKind::Name(_)) {
            self.spec.outline.conditions.push(Condition {
                span: *expr.span,
                expr: typed.id,
            });
        }
        typed.id
    }

    /// Reports an expression that is not Boolean.
    pub(super) fn require_boolean(&mut self, typed: &Typed, span: Span) {
        let mut diagnostic = match &typed.ty {
            Type::Bool | Type::Error => return,
            Type::Json => Diagnostic::new(
                Code::G0302,
                span,
                "expected a condition, found a `json` value",
            )
            .label("its type is not known")
            .note("a missing value or one of another type does not count as `false`: compare it explicitly"),
            ty if ty.non_null() == &Type::Bool => Diagnostic::new(
                Code::G0302,
                span,
                format!("expected a condition, found `{ty}`, which may be null"),
            )
            .label("may be null"),
            ty => Diagnostic::new(
                Code::G0302,
                span,
                format!("expected a condition, found `{ty}`"),
            )
            .label(format!("`{ty}`")),
        };
        if matches!(typed.ty, Type::Json) || typed.ty.non_null() == &Type::Bool {
            let text = self.snippet(span);
            diagnostic = diagnostic.fix("compare with `true`", span, format!("({text} == true)"));
        }
        let diagnostic = self.as_condition(diagnostic, &typed.ty, span);
        self.report(diagnostic);
    }

    /// Elaborates a value of the type that the context requires.
    pub(super) fn value_as(
        &mut self,
        scope: &Scope<'a>,
        expr: &'a ast::Expr,
        wanted: &Type,
    ) -> Typed {
        let typed = self.value(scope, expr, Some(wanted));
        if !Self::fits(&typed.ty, wanted) {
            self.mismatch(*expr.span, &typed.ty, wanted);
            return self.wrong();
        }
        typed
    }

    fn sequence(
        &mut self,
        scope: &Scope<'a>,
        items: &'a [ast::Expr],
        item: Option<Type>,
        as_set: bool,
        span: Span,
    ) -> Typed {
        let mut joined: Option<Type> = None;
        let mut ids = Vec::with_capacity(items.len());
        for expr in items {
            let typed = self.value(scope, expr, item.as_ref());
            joined = Some(match joined {
                None => typed.ty.clone(),
                // Lists in JSON data are often mixed: such a list has elements of type `json`.
                Some(before) => Self::join(&before, &typed.ty).unwrap_or(Type::Json),
            });
            ids.push(typed.id);
        }
        let item = match (joined, item) {
            (Some(joined), Some(wanted)) if Self::fits(&joined, &wanted) => wanted,
            (Some(joined), _) => joined,
            (None, wanted) => wanted.unwrap_or(Type::Error),
        };
        let item = Arc::new(item);
        // A list of constants is one constant, so that membership in it can be looked up.
        let constant: Option<Vec<Value>> = ids
            .iter()
            .map(|id| match self.spec.exprs.get(*id) {
                Expr::Const(value) => Some(value.clone()),
                _ => None,
            })
            .collect();
        match (constant, as_set) {
            (Some(values), true) => self.add(
                Expr::Const(Value::Set(values.into_iter().collect())),
                Type::Set(item),
                span,
            ),
            (Some(values), false) => {
                self.add(Expr::Const(Value::list(values)), Type::List(item), span)
            }
            (None, true) => self.add(Expr::Set(ids.into()), Type::Set(item), span),
            (None, false) => self.add(Expr::List(ids.into()), Type::List(item), span),
        }
    }

    fn record(
        &mut self,
        scope: &Scope<'a>,
        entries: &'a [ast::RecordEntry],
        expected: Option<&Type>,
        span: Span,
    ) -> Typed {
        let wanted = expected.map(Type::non_null).cloned();
        let mut members: Vec<(SmolStr, ExprId)> = Vec::new();
        for entry in entries {
            let ty = match &wanted {
                Some(Type::Record(record)) => {
                    let ty = record
                        .members
                        .iter()
                        .find(|(name, _)| *name == entry.key.text)
                        .map(|(_, ty)| ty.clone());
                    self.link_member(&entry.key, record);
                    if ty.is_none() {
                        self.error(
                            Code::G0305,
                            entry.key.span,
                            format!("`{}` has no member `{}`", record.name, entry.key),
                        );
                    }
                    ty
                }
                Some(Type::Map(item)) => Some(item.as_ref().clone()),
                _ => None,
            };
            if members.iter().any(|(name, _)| *name == entry.key.text) {
                self.error(
                    Code::G0202,
                    entry.key.span,
                    format!("duplicate key `{}`", entry.key),
                );
                continue;
            }
            let value = match &ty {
                Some(ty) => self.value_as(scope, &entry.value, ty),
                None => self.value(scope, &entry.value, None),
            };
            members.push((entry.key.text.clone(), value.id));
        }
        let ty = match wanted {
            Some(Type::Record(record)) => {
                for (name, ty) in &record.members {
                    if !ty.may_be_null() && !members.iter().any(|(given, _)| given == name) {
                        self.error(
                            Code::G0305,
                            span,
                            format!("missing member `{name}` of `{}`", record.name),
                        );
                    }
                }
                Type::Record(record)
            }
            Some(Type::Map(item)) => Type::Map(item),
            _ => Type::Json,
        };
        self.add(Expr::Record(members.into()), ty, span)
    }

    fn cast(
        &mut self,
        scope: &Scope<'a>,
        operand: &'a ast::Expr,
        ty: &'a ast::Type,
        span: Span,
    ) -> Typed {
        let target = self.ty(scope, ty);
        let operand = self.value(scope, operand, None);
        let from = operand.ty.non_null().clone();
        let possible = match (&from, target.non_null()) {
            (Type::Json | Type::Null | Type::Error, _) | (_, Type::Json | Type::Error) => true,
            (Type::String, Type::Time | Type::Enum(_)) => true,
            (Type::Int, Type::Float) | (Type::Float, Type::Int) => true,
            (from, to) => from == to,
        };
        if !possible {
            let mut diagnostic = Diagnostic::new(
                Code::G0306,
                span,
                format!("cannot cast `{}` to `{target}`", operand.ty),
            )
            .label("invalid cast");
            if from == Type::String {
                diagnostic = diagnostic.note(format!(
                    "to parse a number or Boolean from a string, use `json(…) as {target}`"
                ));
            }
            self.report(diagnostic);
            return self.wrong();
        }
        let may_fail = match (&from, target.non_null()) {
            (Type::Json, to) => !matches!(to, Type::Json | Type::Error),
            (Type::String, to) => matches!(to, Type::Time | Type::Enum(_)),
            (Type::Float, to) => *to == Type::Int,
            _ => false,
        };
        let lenient = may_fail && target.may_be_null();
        let typed = self.add(Expr::Cast(operand.id), target, span);
        if lenient {
            let written = self.snippet(*ty.span);
            let before = self.snippet(Span {
                end: ty.span.start,
                ..span
            });
            let operand = before.trim_end().strip_suffix("as").map(str::trim_end);
            self.spec.outline.lenient_casts.push(LenientCast {
                cast: typed.id,
                span,
                operand: operand.unwrap_or_default().into(),
                ty: written.strip_suffix('?').unwrap_or(&written).into(),
                default: None,
            });
        }
        typed
    }
}
