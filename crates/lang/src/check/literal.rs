//! Literals: numbers, durations, and whole values.

use smol_str::SmolStr;

use super::scope::Scope;
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::Expr;
use crate::source::Span;
use crate::syntax::ast::{self, DurationUnit, ExprKind};
use crate::types::Type;
use crate::value::{Cell, Instant, Number, Object, Value};

/// Returns a duration, exactly.
pub(super) fn duration(literal: &ast::DurationLit) -> Option<Instant> {
    const SECOND: i128 = Instant::SECOND;
    let unit = match literal.unit {
        DurationUnit::Nanoseconds => SECOND / 1_000_000_000,
        DurationUnit::Microseconds => SECOND / 1_000_000,
        DurationUnit::Milliseconds => SECOND / 1_000,
        DurationUnit::Seconds => SECOND,
        DurationUnit::Minutes => 60 * SECOND,
        DurationUnit::Hours => 3_600 * SECOND,
        DurationUnit::Days => 86_400 * SECOND,
    };
    Instant::from_decimal(&literal.number, unit)
}

impl<'a> Checker<'a> {
    pub(super) fn number(&mut self, expr: &'a ast::Expr, expected: Option<&Type>) -> Typed {
        let span = *expr.span;
        let (value, ty) = match &expr.kind {
            ExprKind::Int(digits) => {
                let float = matches!(expected.map(Type::non_null), Some(Type::Float));
                let ty = if float { Type::Float } else { Type::Int };
                (Number::parse(digits).map(Value::Number), ty)
            }
            ExprKind::Float(digits) => (Number::parse(digits).map(Value::Number), Type::Float),
            ExprKind::Percent(digits) => {
                let number = digits
                    .parse::<f64>()
                    .ok()
                    .and_then(|percent| Number::float(percent / 100.0));
                (number.map(Value::Number), Type::Float)
            }
            ExprKind::Duration(literal) => (duration(literal).map(Value::Duration), Type::Duration),
            _ => (None, Type::Error),
        };
        match value {
            Some(value) => self.add(Expr::Const(value), ty, span),
            None => {
                self.report(
                    Diagnostic::new(Code::G0322, span, "number out of range")
                        .label("exceeds the supported range"),
                );
                self.wrong()
            }
        }
    }

    /// Returns the value of a constant expression, or `None` if it is not constant.
    pub(super) fn constant(
        &mut self,
        scope: &Scope<'a>,
        expr: &'a ast::Expr,
        ty: &Type,
    ) -> Option<Value> {
        let typed = self.value_as(scope, expr, ty);
        if typed.ty == Type::Error {
            return None;
        }
        if let Some(value) = self.constant_of(typed.id) {
            return Some(value);
        }
        self.report(
            Diagnostic::new(Code::G0319, *expr.span, "expected a constant")
                .label("reads a value or is computed")
                .note("write the value as a literal"),
        );
        None
    }

    /// Returns the value of a checked constant expression.
    pub(super) fn constant_of(&self, id: crate::ids::ExprId) -> Option<Value> {
        match self.spec.exprs.get(id) {
            Expr::Const(value) => Some(value.clone()),
            Expr::List(items) => items
                .iter()
                .map(|item| self.constant_of(*item))
                .collect::<Option<Vec<_>>>()
                .map(Value::list),
            Expr::Set(items) => items
                .iter()
                .map(|item| self.constant_of(*item))
                .collect::<Option<_>>()
                .map(Value::Set),
            Expr::Record(members) => {
                let members: Option<Vec<(SmolStr, Value)>> = members
                    .iter()
                    .map(|(name, value)| Some((name.clone(), self.constant_of(*value)?)))
                    .collect();
                Some(Value::Object(Object::new(members?).ok()?))
            }
            _ => None,
        }
    }

    /// Returns the cell for a literal of a test; `unknown` becomes a cell without a value.
    pub(super) fn cell(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr, ty: &Type) -> Cell {
        if let ExprKind::Name(name) = &expr.kind
            && name.as_str() == "unknown"
        {
            return Cell::Unknown;
        }
        // A time may be written as a number of seconds or as a text.
        let value = match (&expr.kind, ty.non_null()) {
            (ExprKind::Int(digits) | ExprKind::Float(digits), Type::Time) => {
                Instant::from_decimal(digits, Instant::SECOND).map(Value::Time)
            }
            (ExprKind::Int(digits) | ExprKind::Float(digits), Type::Duration) => {
                Instant::from_decimal(digits, Instant::SECOND).map(Value::Duration)
            }
            (ExprKind::Duration(literal), Type::Time) => duration(literal).map(Value::Time),
            (ExprKind::String(text), Type::Time) => {
                Instant::from_rfc3339(&text.value).map(Value::Time)
            }
            _ => {
                return self
                    .constant(scope, expr, ty)
                    .map_or(Cell::Unknown, Cell::Known);
            }
        };
        match value {
            Some(value) => Cell::Known(value),
            None => {
                self.wrong_time(*expr.span);
                Cell::Unknown
            }
        }
    }

    fn wrong_time(&mut self, span: Span) {
        self.report(
            Diagnostic::new(Code::G0319, span, "invalid time").label(
                "expected a number of seconds, or a string such as \"2026-01-31T12:00:00Z\"",
            ),
        );
    }
}
