//! Operators between values.

use std::sync::Arc;

use super::expr::RANGE;
use super::scope::Scope;
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::outline::{LenientCast, UntypedComparison};
use crate::hir::{Arith, Compare, Expr};
use crate::ids::ExprId;
use crate::source::Span;
use crate::syntax::ast::{self, BinaryOp, ExprKind};
use crate::types::Type;
use crate::value::Value;

impl<'a> Checker<'a> {
    /// Joins conditions by one connective, from the left.
    pub(super) fn chain(&mut self, op: ast::ChainOp, operands: &[(ExprId, Span)]) -> Typed {
        // Balanced, so that a long chain does not become a deep tree.
        match operands {
            [] => self.wrong(),
            [(id, _)] => Typed {
                id: *id,
                ty: Type::Bool,
            },
            _ => {
                let (left, right) = operands.split_at(operands.len() / 2);
                let span = operands[0].1.to(operands[operands.len() - 1].1);
                let lhs = self.chain(op, left).id;
                let rhs = self.chain(op, right).id;
                let expr = match op {
                    ast::ChainOp::And => Expr::And(lhs, rhs),
                    ast::ChainOp::Or => Expr::Or(lhs, rhs),
                };
                self.add(expr, Type::Bool, span)
            }
        }
    }

    pub(super) fn negation(
        &mut self,
        scope: &Scope<'a>,
        operand: &'a ast::Expr,
        expected: Option<&Type>,
        span: Span,
    ) -> Typed {
        let operand_typed = self.value(scope, operand, expected);
        match &operand_typed.ty {
            Type::Int | Type::Float | Type::Duration => {}
            Type::Error => return self.wrong(),
            ty => {
                let ty = ty.clone();
                self.no_number(*operand.span, &ty, "-");
                return self.wrong();
            }
        }
        let ty = operand_typed.ty.clone();
        // A negative literal is a constant, so that it is allowed in lists and defaults.
        if let Expr::Const(crate::value::Value::Number(number)) =
            self.spec.exprs.get(operand_typed.id)
            && let Some(negative) = crate::value::Number::parse(&negated(&number.to_string()))
        {
            return self.add(Expr::Const(crate::value::Value::Number(negative)), ty, span);
        }
        self.add(Expr::Neg(operand_typed.id), ty, span)
    }

    pub(super) fn binary(
        &mut self,
        scope: &Scope<'a>,
        op: BinaryOp,
        lhs: &'a ast::Expr,
        rhs: &'a ast::Expr,
        expected: Option<&Type>,
        span: Span,
    ) -> Typed {
        match op {
            BinaryOp::Implies | BinaryOp::Iff => {
                let lhs = self.boolean(scope, lhs);
                let rhs = self.scoped(|checker| {
                    if op == BinaryOp::Implies {
                        checker.note(lhs, true);
                    }
                    checker.boolean(scope, rhs)
                });
                let expr = if op == BinaryOp::Implies {
                    Expr::Implies(lhs, rhs)
                } else {
                    Expr::Iff(lhs, rhs)
                };
                self.add(expr, Type::Bool, span)
            }
            BinaryOp::Eq => self.equality(scope, lhs, rhs, span),
            BinaryOp::Ne => {
                let equal = self.equality(scope, lhs, rhs, span);
                self.add(Expr::Not(equal.id), Type::Bool, span)
            }
            BinaryOp::Lt => self.order(scope, Compare::Lt, lhs, rhs, span),
            BinaryOp::Le => self.order(scope, Compare::Le, lhs, rhs, span),
            BinaryOp::Gt => self.order(scope, Compare::Gt, lhs, rhs, span),
            BinaryOp::Ge => self.order(scope, Compare::Ge, lhs, rhs, span),
            BinaryOp::In => self.membership(scope, lhs, rhs, span),
            BinaryOp::NotIn => {
                let within = self.membership(scope, lhs, rhs, span);
                self.add(Expr::Not(within.id), Type::Bool, span)
            }
            BinaryOp::Contains => self.contains(scope, lhs, rhs, span),
            BinaryOp::StartsWith | BinaryOp::EndsWith => {
                let text = self.text_operand(scope, lhs);
                let part = self.text_operand(scope, rhs);
                let expr = if op == BinaryOp::StartsWith {
                    Expr::StartsWith(text, part)
                } else {
                    Expr::EndsWith(text, part)
                };
                self.add(expr, Type::Bool, span)
            }
            BinaryOp::Matches => {
                let text = self.text_operand(scope, lhs);
                match self.regex(scope, rhs) {
                    Some(regex) => self.add(Expr::Matches(text, regex), Type::Bool, span),
                    None => self.wrong(),
                }
            }
            BinaryOp::Add => self.arithmetic(scope, Arith::Add, lhs, rhs, expected, span),
            BinaryOp::Sub => self.arithmetic(scope, Arith::Sub, lhs, rhs, expected, span),
            BinaryOp::Mul => self.arithmetic(scope, Arith::Mul, lhs, rhs, expected, span),
            BinaryOp::Div => self.arithmetic(scope, Arith::Div, lhs, rhs, expected, span),
            BinaryOp::Coalesce => self.coalesce(scope, lhs, rhs, expected, span),
        }
    }

    /// Runs `run` under the assumption that these conditions (and their conjuncts) hold for null checks, so that
    /// `a != null and a == b` gives no warning.
    pub(super) fn assuming<T>(
        &mut self,
        scope: &Scope<'a>,
        conditions: &'a [ast::Expr],
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.not_null.len();
        for condition in conditions {
            self.note_not_null(scope, condition);
        }
        let result = run(self);
        self.not_null.truncate(before);
        result
    }

    fn note_not_null(&mut self, scope: &Scope<'a>, condition: &'a ast::Expr) {
        match &condition.kind {
            ExprKind::Chain {
                op: ast::ChainOp::And,
                operands,
                ..
            } => {
                operands
                    .iter()
                    .for_each(|operand| self.note_not_null(scope, operand));
            }
            ExprKind::Binary {
                op: BinaryOp::Ne,
                lhs,
                rhs,
                ..
            } => {
                let operand = match (&lhs.kind, &rhs.kind) {
                    (_, ExprKind::Null) => lhs,
                    (ExprKind::Null, _) => rhs,
                    _ => return,
                };
                let typed = self.operand(scope, operand, None);
                self.not_null.push(typed.id);
            }
            _ => {}
        }
    }

    /// Whether an enclosing condition guarantees that a value is not null.
    pub(super) fn is_known(&self, id: ExprId) -> bool {
        self.not_null.contains(&id) || self.facts.contains(&id)
    }

    /// Returns both sides of a comparison. The name of an enum value on one side is resolved by the type of the other
    /// side.
    fn sides(
        &mut self,
        scope: &Scope<'a>,
        lhs: &'a ast::Expr,
        rhs: &'a ast::Expr,
    ) -> (Typed, Typed) {
        let names_enum_value = |expr: &ast::Expr| match &expr.kind {
            ExprKind::Name(name) => {
                self.binding(scope, name).is_none()
                    && self
                        .names
                        .get(scope.module, super::names::Space::Value, &name.text)
                        .is_none()
                    && !self
                        .spec
                        .schema
                        .fields
                        .iter()
                        .any(|field| field.name == name.text)
            }
            _ => false,
        };
        if names_enum_value(lhs) && !names_enum_value(rhs) {
            let right = self.operand(scope, rhs, None);
            let left = self.operand(scope, lhs, Some(&right.ty));
            (left, right)
        } else {
            let left = self.operand(scope, lhs, None);
            let right = self.operand(scope, rhs, Some(&left.ty));
            (left, right)
        }
    }

    fn equality(
        &mut self,
        scope: &Scope<'a>,
        lhs: &'a ast::Expr,
        rhs: &'a ast::Expr,
        span: Span,
    ) -> Typed {
        let (left, right) = self.sides(scope, lhs, rhs);
        let identity = |checker: &Self, typed: &Typed| {
            matches!(
                checker.spec.exprs.get(typed.id),
                Expr::Var(_) | Expr::Param(_)
            )
        };
        let (left_identity, right_identity) = (identity(self, &left), identity(self, &right));
        if left_identity && right_identity {
            self.report(
                Diagnostic::new(
                    Code::G0312,
                    span,
                    "quantified names cannot be compared with each other",
                )
                .label("both sides are quantified names or track parameters")
                .note("compare each of them with a value of the step"),
            );
            return self.wrong();
        }
        let literal_null = |typed: &Typed| typed.ty == Type::Null;
        // A quantified name is comparable with the types of all its compared terms.
        if !left_identity && !right_identity && !Self::comparable(&left.ty, &right.ty) {
            let diagnostic = Diagnostic::new(
                Code::G0308,
                span,
                format!("`{}` and `{}` are never equal", left.ty, right.ty),
            )
            .label("always false (`!=`: always true)")
            .also(*lhs.span, format!("`{}`", left.ty))
            .also(*rhs.span, format!("`{}`", right.ty));
            self.report(self.as_literal(diagnostic, &left.ty, rhs));
        } else if (literal_null(&left) && !right.ty.may_be_null())
            || (literal_null(&right) && !left.ty.may_be_null())
        {
            self.report(
                Diagnostic::new(Code::G0308, span, "this value is never null")
                    .label("always false (`!=`: always true)")
                    .note("only a field whose type ends in `?` can be null"),
            );
        } else if left.ty.may_be_null()
            && right.ty.may_be_null()
            && !literal_null(&left)
            && !literal_null(&right)
            && !left_identity
            && !right_identity
            && left.ty != Type::Error
            && right.ty != Type::Error
            && !is_given(&self.spec.exprs, left.id)
            && !is_given(&self.spec.exprs, right.id)
            // An argument for a `json` parameter may have a type without null.
            && self.spec.exprs.ty(left.id).may_be_null()
            && self.spec.exprs.ty(right.id).may_be_null()
            && !self.is_known(left.id)
            && !self.is_known(right.id)
        {
            self.report(
                Diagnostic::new(
                    Code::G0309,
                    span,
                    "both sides may be null, and null equals null",
                )
                .label("true if both are missing")
                .note("if that is not intended, exclude null first: `a != null and a == b`"),
            );
        }
        self.note_untyped(&left, *lhs.span, &right);
        self.note_untyped(&right, *rhs.span, &left);
        self.add(
            Expr::Compare(Compare::Eq, left.id, right.id),
            Type::Bool,
            span,
        )
    }

    /// Notes the comparison of a value of type `json` with a number, a truth value, or a list of them, for the linter.
    fn note_untyped(&mut self, value: &Typed, span: Span, literal: &Typed) {
        if *value.ty.non_null() != Type::Json {
            return;
        }
        let literals = match self.constant_of(literal.id) {
            Some(Value::List(items)) => items.to_vec(),
            Some(value) => vec![value],
            None => return,
        };
        let all = |is: fn(&Value) -> bool| literals.iter().all(is);
        let is_plain = all(|value| matches!(value, Value::Number(_)))
            || all(|value| matches!(value, Value::Bool(_)));
        if is_plain && !literals.is_empty() {
            let operand = self.snippet(span);
            self.spec
                .outline
                .untyped_comparisons
                .push(UntypedComparison {
                    value: value.id,
                    span,
                    operand,
                    literals,
                });
        }
    }

    fn order(
        &mut self,
        scope: &Scope<'a>,
        op: Compare,
        lhs: &'a ast::Expr,
        rhs: &'a ast::Expr,
        span: Span,
    ) -> Typed {
        if op == Compare::Lt && self.is_backward_arrow(scope, lhs, rhs) {
            let between = Span::new(span.file, lhs.span.end, rhs.span.start + 1);
            let start = self.sources.slice(between).find("<-").unwrap_or(0);
            let start = between.start + u32::try_from(start).unwrap_or(0);
            let arrow = Span::new(span.file, start, start + 2);
            self.report(
                Diagnostic::new(Code::G0303, span, "`<-` is not an operator")
                    .label("parsed as `<` followed by a minus sign")
                    .fix("write an implication", arrow, "->"),
            );
            return self.wrong();
        }
        let (left, right) = self.sides(scope, lhs, rhs);
        for (typed, expr) in [(&left, lhs), (&right, rhs)] {
            self.refuse_identity(typed, *expr.span);
            let ty = typed.ty.non_null().clone();
            if !Self::is_ordered(&ty) {
                let mut diagnostic =
                    Diagnostic::new(Code::G0303, expr.span, format!("`{ty}` is not ordered"))
                        .label(format!("`{ty}`"));
                if let Type::Enum(of) = &ty {
                    diagnostic = diagnostic.note(format!(
                        "if its values have an order, declare it: `enum {} ordered {{ low < mid < high }}`",
                        of.name
                    ));
                }
                self.report(diagnostic);
                return self.wrong();
            }
        }
        let (a, b) = (left.ty.non_null(), right.ty.non_null());
        if matches!(a, Type::Error) || matches!(b, Type::Error) {
            return self.wrong();
        }
        let numbers = matches!(a, Type::Int | Type::Float) && matches!(b, Type::Int | Type::Float);
        let plain = |ty: &Type| matches!(ty, Type::Int | Type::Float | Type::String | Type::Json);
        let looked_at = (*a == Type::Json && plain(b)) || (*b == Type::Json && plain(a));
        if !(numbers || a == b || looked_at) {
            let diagnostic = Diagnostic::new(
                Code::G0303,
                span,
                format!("`{a}` and `{b}` have no common order"),
            )
            .label("values of different types")
            .also(*lhs.span, format!("`{a}`"))
            .also(*rhs.span, format!("`{b}`"));
            let diagnostic = self.as_literal(diagnostic, a, rhs);
            self.report(self.as_literal(diagnostic, b, lhs));
            return self.wrong();
        }
        self.add(Expr::Compare(op, left.id, right.id), Type::Bool, span)
    }

    fn refuse_identity(&mut self, typed: &Typed, span: Span) {
        if self.is_identity(typed) {
            self.report(
                Diagnostic::new(
                    Code::G0312,
                    span,
                    "a quantified name may only be compared for equality",
                )
                .label("compared in another way, or computed with")
                .note(RANGE),
            );
        }
    }

    fn membership(
        &mut self,
        scope: &Scope<'a>,
        lhs: &'a ast::Expr,
        rhs: &'a ast::Expr,
        span: Span,
    ) -> Typed {
        let left = self.operand(scope, lhs, None);
        let wanted = Type::List(Arc::new(left.ty.non_null().clone()));
        let right = self.value(scope, rhs, Some(&wanted));
        if let Expr::Record(_) | Expr::Const(Value::Object(_)) = self.spec.exprs.get(right.id) {
            let message = "expected a list or set, found an object";
            let wrong = Diagnostic::new(Code::G0303, *rhs.span, message).label("an object");
            let remedy = "to ask for a member, write `object[name] != null`; for some texts, `{\"a\", \"b\"}`";
            self.report(wrong.note(remedy));
            return self.wrong();
        }
        let item = match right.ty.non_null() {
            Type::List(item) | Type::Set(item) => item.as_ref().clone(),
            Type::Json | Type::Null | Type::Error => Type::Json,
            ty => {
                let mut diagnostic = Diagnostic::new(
                    Code::G0303,
                    rhs.span,
                    format!("expected a list or set, found `{ty}`"),
                )
                .label(format!("`{ty}`"));
                if *ty == Type::String {
                    diagnostic =
                        diagnostic.note("to search in a string, write `text contains part`");
                }
                self.report(diagnostic);
                return self.wrong();
            }
        };
        let identity = matches!(self.spec.exprs.get(left.id), Expr::Var(_) | Expr::Param(_));
        if !identity && !Self::comparable(&left.ty, &item) {
            self.report(
                Diagnostic::new(
                    Code::G0308,
                    span,
                    format!("a list of `{item}` never contains a `{}`", left.ty),
                )
                .label("always false (`not in`: always true)"),
            );
        } else {
            self.note_strangers(&left.ty, rhs);
        }
        self.note_untyped(&left, *lhs.span, &right);
        self.add(Expr::In(left.id, right.id), Type::Bool, span)
    }

    fn contains(
        &mut self,
        scope: &Scope<'a>,
        lhs: &'a ast::Expr,
        rhs: &'a ast::Expr,
        span: Span,
    ) -> Typed {
        let left = self.value(scope, lhs, None);
        let wanted = match left.ty.non_null() {
            Type::List(item) | Type::Set(item) => Some(item.as_ref().clone()),
            Type::String => Some(Type::String),
            Type::Json | Type::Null | Type::Error => None,
            ty => {
                let message = format!("expected a string, list or set, found `{ty}`");
                self.report(
                    Diagnostic::new(Code::G0303, lhs.span, message).label(format!("`{ty}`")),
                );
                return self.wrong();
            }
        };
        let right = self.operand(scope, rhs, wanted.as_ref());
        let text = matches!(left.ty.non_null(), Type::String);
        if text {
            self.refuse_identity(&right, *rhs.span);
        }
        if let Some(wanted) = wanted
            && !Self::comparable(&right.ty, &wanted)
        {
            self.mismatch(*rhs.span, &right.ty, &wanted);
            return self.wrong();
        }
        self.add(Expr::Contains(left.id, right.id), Type::Bool, span)
    }

    /// Elaborates an operand that must be text: a string, perhaps null, or JSON.
    pub(super) fn text_operand(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr) -> ExprId {
        let typed = self.value(scope, expr, Some(&Type::String));
        match typed.ty.non_null() {
            Type::String | Type::Json | Type::Null | Type::Error => {}
            ty => {
                let message = format!("expected a string, found `{ty}`");
                self.report(
                    Diagnostic::new(Code::G0303, expr.span, message).label(format!("`{ty}`")),
                );
            }
        }
        typed.id
    }

    fn no_number(&mut self, span: Span, ty: &Type, op: &str) {
        let mut diagnostic = Diagnostic::new(
            Code::G0307,
            span,
            format!("`{op}` needs a definite value, found `{ty}`"),
        )
        .label(format!("`{ty}`"));
        let text = self.snippet(span);
        if *ty == Type::Json {
            diagnostic = diagnostic.fix(
                "cast it, with a default for an absent value",
                span,
                format!("({text} ?? 0.0) as float"),
            );
        } else if ty.may_be_null() {
            diagnostic = diagnostic.note(Self::ask_for_null(&text, ty));
        }
        self.report(diagnostic);
    }

    fn arithmetic(
        &mut self,
        scope: &Scope<'a>,
        op: Arith,
        lhs: &'a ast::Expr,
        rhs: &'a ast::Expr,
        expected: Option<&Type>,
        span: Span,
    ) -> Typed {
        let sign = match op {
            Arith::Add => "+",
            Arith::Sub => "-",
            Arith::Mul => "*",
            Arith::Div => "/",
        };
        let hint = expected.filter(|ty| matches!(ty, Type::List(_))).cloned();
        let left = self.value(scope, lhs, hint.as_ref());
        let right = self.value(scope, rhs, Some(&left.ty.clone()));
        if left.ty == Type::Error || right.ty == Type::Error {
            return self.wrong();
        }
        for (typed, expr) in [(&left, lhs), (&right, rhs)] {
            let definite = match &typed.ty {
                Type::Int | Type::Float | Type::Time | Type::Duration => true,
                Type::String | Type::List(_) => op == Arith::Add,
                _ => false,
            };
            if !definite {
                let ty = typed.ty.clone();
                self.no_number(*expr.span, &ty, sign);
                return self.wrong();
            }
        }
        let Some(ty) = arith_type(op, &left.ty, &right.ty) else {
            let message = format!(
                "`{sign}` is not defined for `{}` and `{}`",
                left.ty, right.ty
            );
            let nullable = arith_type(op, left.ty.non_null(), right.ty.non_null()).is_some();
            let side = |diagnostic: Diagnostic, typed: &Typed, expr: &ast::Expr| {
                let null = nullable && typed.ty.may_be_null();
                let also = if null { ", which may be null" } else { "" };
                diagnostic.also(*expr.span, format!("`{}`{also}", typed.ty))
            };
            let label = if nullable {
                "an operand may be null"
            } else {
                "unsupported operand types"
            };
            let mut diagnostic = Diagnostic::new(Code::G0303, span, message).label(label);
            diagnostic = side(side(diagnostic, &left, lhs), &right, rhs);
            if nullable {
                let operand = if left.ty.may_be_null() { lhs } else { rhs };
                let operand = self.snippet(*operand.span);
                diagnostic = diagnostic.note(format!(
                    "give a value for null, `({operand} ?? 0)`, or ask first: `{operand} != null and …`"
                ));
            } else if op == Arith::Add {
                diagnostic = self.with_text_operand(diagnostic, (&left.ty, lhs), (&right.ty, rhs));
            }
            self.report(diagnostic);
            return self.wrong();
        };
        self.add(Expr::Arith(op, left.id, right.id), ty, span)
    }

    fn coalesce(
        &mut self,
        scope: &Scope<'a>,
        lhs: &'a ast::Expr,
        rhs: &'a ast::Expr,
        expected: Option<&Type>,
        span: Span,
    ) -> Typed {
        let left = self.value(scope, lhs, expected);
        let right = self.value(scope, rhs, Some(left.ty.non_null()));
        if left.ty == Type::Error || right.ty == Type::Error {
            return self.wrong();
        }
        if !left.ty.may_be_null() {
            let mut diagnostic = Diagnostic::new(Code::G0308, lhs.span, "this value is never null")
                .label(format!(
                    "has type `{}`: the value after `??` is never used",
                    left.ty
                ));
            if *rhs.span != Span::default() {
                let text = self.snippet(*lhs.span);
                diagnostic = diagnostic.fix("remove the `??`", span, text.as_str());
            }
            self.report(diagnostic);
        }
        let definite = if left.ty == Type::Json {
            Type::Json
        } else {
            left.ty.non_null().clone()
        };
        let Some(ty) = Self::join(&definite, &right.ty) else {
            self.mismatch(*rhs.span, &right.ty, &definite);
            return self.wrong();
        };
        let casts = &self.spec.outline.lenient_casts;
        let within = |place: Span| {
            place.file == span.file && span.start <= place.start && place.end <= span.end
        };
        if let Some(cast) = casts
            .iter()
            .rev()
            .find(|cast| cast.cast == left.id && within(cast.span))
        {
            let with_default = LenientCast {
                span,
                default: Some(self.snippet(*rhs.span)),
                ..cast.clone()
            };
            self.spec.outline.lenient_casts.push(with_default);
        }
        self.add(Expr::Coalesce(left.id, right.id), ty, span)
    }
}

/// Whether an expression is a literal or a bound name (an argument or an element, about which the use has more
/// information than the definition), and so is treated as not null.
fn is_given(exprs: &crate::hir::Exprs, id: ExprId) -> bool {
    matches!(
        exprs.get(id),
        Expr::Local(_) | Expr::Record(_) | Expr::List(_) | Expr::Set(_)
    )
}

fn negated(number: &str) -> String {
    match number.strip_prefix('-') {
        Some(rest) => rest.to_owned(),
        None => format!("-{number}"),
    }
}

/// The type of an arithmetic operation; `None` if it is not defined for these operands.
fn arith_type(op: Arith, left: &Type, right: &Type) -> Option<Type> {
    Some(match (op, left, right) {
        (Arith::Div, Type::Int | Type::Float, Type::Int | Type::Float) => Type::Float,
        (_, Type::Int, Type::Int) => Type::Int,
        (_, Type::Int | Type::Float, Type::Int | Type::Float) => Type::Float,
        (Arith::Add, Type::String, Type::String) => Type::String,
        (Arith::Add, Type::List(_), Type::List(_)) => return Checker::join(left, right),
        (Arith::Sub, Type::Time, Type::Time) => Type::Duration,
        (Arith::Add | Arith::Sub, Type::Time, Type::Duration) => Type::Time,
        (Arith::Add, Type::Duration, Type::Time) => Type::Time,
        (Arith::Add | Arith::Sub, Type::Duration, Type::Duration) => Type::Duration,
        (Arith::Mul, Type::Duration, Type::Int | Type::Float) => Type::Duration,
        (Arith::Mul, Type::Int | Type::Float, Type::Duration) => Type::Duration,
        (Arith::Div, Type::Duration, Type::Int | Type::Float) => Type::Duration,
        (Arith::Div, Type::Duration, Type::Duration) => Type::Float,
        _ => return None,
    })
}
