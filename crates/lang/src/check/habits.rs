//! Fixes for values as other languages write them.

use super::names::Space;
use super::scope::Scope;
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::source::Span;
use crate::syntax::ast::{self, BinaryOp, ExprKind};
use crate::types::Type;

/// Names by which other languages call the record that a condition reads.
const RECORDS: &[&str] = &[
    "event", "input", "request", "record", "step", "call", "self", "this", "e",
];

impl<'a> Checker<'a> {
    /// Reports a string after a comparison with another one, as in `tool == "pay" or "ship"`; returns whether it is one.
    pub(super) fn is_elliptic(
        &mut self,
        operands: &'a [ast::Expr],
        operand: &'a ast::Expr,
    ) -> bool {
        let earlier = operands
            .iter()
            .take_while(|earlier| !std::ptr::eq(*earlier, operand));
        let compared = earlier.filter_map(|earlier| match &earlier.kind {
            ExprKind::Binary { op, lhs, rhs, .. }
                if !matches!(op, BinaryOp::Implies | BinaryOp::Iff)
                    && matches!(rhs.kind, ExprKind::String(_)) =>
            {
                Some(Span::new(lhs.span.file, lhs.span.start, rhs.span.start))
            }
            _ => None,
        });
        let compared = compared.last();
        let (ExprKind::String(_), Some(compared)) = (&operand.kind, compared) else {
            return false;
        };
        let repeated = self.snippet(compared);
        let message = format!("write `{repeated}{}`", self.snippet(*operand.span));
        self.report(
            Diagnostic::new(
                Code::G0302,
                operand.span,
                "expected a condition, found `string`",
            )
            .label("each operand is a condition of its own")
            .fix(message, operand.span.before(), repeated),
        );
        true
    }

    /// Returns the diagnostic for the name of a property that is not declared: the similar name, or else all names.
    pub(super) fn undeclared_property(&self, code: Code, name: &ast::Name) -> Diagnostic {
        let diagnostic = Diagnostic::new(code, name.span, format!("unknown property `{name}`"))
            .label("not declared");
        let all: Vec<&str> = self.names.all(0, Space::Property);
        match did_you_mean(&name.text, all.iter().copied()) {
            Some(near) => diagnostic.fix(format!("write `{near}`"), name.span, near),
            None if all.is_empty() => diagnostic,
            None => diagnostic.note(format!("declared: `{}`", all.join("`, `"))),
        }
    }

    /// Warns of the elements of a list or set that no value of type `ty` equals.
    pub(super) fn note_strangers(&mut self, ty: &Type, list: &'a ast::Expr) {
        let (ExprKind::List(items) | ExprKind::Set(items)) = &list.kind else {
            return;
        };
        // Texts may be times and names of enum values.
        if !matches!(
            ty.non_null(),
            Type::String | Type::Int | Type::Float | Type::Bool
        ) {
            return;
        }
        for item in items {
            let other = match &item.kind {
                ExprKind::String(_) => Type::String,
                ExprKind::Int(_) => Type::Int,
                ExprKind::Float(_) => Type::Float,
                ExprKind::Bool(_) => Type::Bool,
                _ => continue,
            };
            if !Self::comparable(ty, &other) {
                let message = format!("`{ty}` and `{other}` are never equal");
                self.report(
                    Diagnostic::new(Code::G0308, *item.span, message)
                        .label("no value of the left side equals this element"),
                );
            }
        }
    }

    /// Whether an expression is `a <- b` between conditions.
    pub(super) fn is_backward_arrow(
        &mut self,
        scope: &Scope<'a>,
        lhs: &'a ast::Expr,
        rhs: &'a ast::Expr,
    ) -> bool {
        if !matches!(
            rhs.kind,
            ExprKind::Unary {
                op: ast::UnaryOp::Neg,
                ..
            }
        ) || lhs.span.end > rhs.span.start
        {
            return false;
        }
        let between = Span::new(lhs.span.file, lhs.span.end, rhs.span.start + 1);
        self.sources.slice(between).trim() == "<-"
            && self.operand(scope, lhs, None).ty == Type::Bool
    }

    /// Adds how to write a range whose ends are in the wrong order.
    pub(super) fn with_ends_swapped(
        &self,
        diagnostic: Diagnostic,
        [low, high]: [&ast::Expr; 2],
    ) -> Diagnostic {
        let swapped = format!("{}..{}", self.snippet(*high.span), self.snippet(*low.span));
        let span = low.span.to(*high.span);
        diagnostic.fix(format!("write `{swapped}`"), span, swapped)
    }

    /// Adds how to write a probability that is stated as a number of per cent: `5` for 5 %.
    pub(super) fn as_percentage(
        &self,
        diagnostic: Diagnostic,
        value: f64,
        span: Span,
    ) -> Diagnostic {
        let text = self.snippet(span);
        let is_literal = text.parse::<f64>().is_ok();
        match is_literal && value > 1.0 && value <= 100.0 {
            true => diagnostic.fix(
                format!("write `{text}%` for {text} per cent"),
                span.after(),
                "%",
            ),
            false => diagnostic,
        }
    }

    /// Adds how to write a value as a text.
    pub(super) fn as_text(&self, diagnostic: Diagnostic, given: &Type, span: Span) -> Diagnostic {
        let has_text = matches!(
            given.non_null(),
            Type::Int | Type::Float | Type::Bool | Type::Enum(_)
        );
        match has_text && !self.place.is_states() {
            true => {
                let text = format!("text({})", self.snippet(span));
                diagnostic.fix(format!("write `{text}`"), span, text)
            }
            false => diagnostic,
        }
    }

    /// Adds how to append a value to a text.
    pub(super) fn with_text_operand(
        &self,
        diagnostic: Diagnostic,
        left: (&Type, &ast::Expr),
        right: (&Type, &ast::Expr),
    ) -> Diagnostic {
        match (left.0, right.0) {
            (Type::String, other) => self.as_text(diagnostic, other, *right.1.span),
            (other, Type::String) => self.as_text(diagnostic, other, *left.1.span),
            _ => diagnostic,
        }
    }

    /// Adds how to make a condition of a value of type `ty`.
    pub(super) fn as_condition(&self, diagnostic: Diagnostic, ty: &Type, span: Span) -> Diagnostic {
        let text = self.snippet(span);
        let text = bare(&text);
        let compared = match ty.non_null() {
            Type::Int | Type::Float => format!("{text} > 0"),
            Type::String => format!("{text} == \"…\""),
            Type::List(_) | Type::Set(_) | Type::Map(_) => format!("len({text}) > 0"),
            Type::Enum(of) => match of.values.first() {
                Some(first) => format!("{text} == {first}"),
                None => return diagnostic,
            },
            _ => return diagnostic,
        };
        match ty.may_be_null() {
            true => diagnostic.note(format!(
                "compare it, as in `{text} != null`, or `{text} != null and {compared}`"
            )),
            false => diagnostic.note(format!("compare it, as in `{compared}`")),
        }
    }

    /// Adds how to write the literal `other` as a value of type `ty`, with which it is compared.
    pub(super) fn as_literal(
        &self,
        diagnostic: Diagnostic,
        ty: &Type,
        other: &ast::Expr,
    ) -> Diagnostic {
        let text = self.snippet(*other.span);
        match (ty.non_null(), &other.kind) {
            (Type::Duration, ExprKind::Int(_) | ExprKind::Float(_)) => diagnostic
                .note("the units of durations are `ns us ms s m h d`")
                .fix(
                    format!("in seconds: write `{text}s`"),
                    other.span.after(),
                    "s",
                ),
            (Type::Time, ExprKind::String(_)) => diagnostic.fix(
                format!("write `{text} as time`"),
                other.span.after(),
                " as time",
            ),
            _ => diagnostic,
        }
    }

    /// Reports `event.tool`, where `tool` is a field of the event; returns whether it is such a member.
    pub(super) fn is_field_of_record(
        &mut self,
        scope: &Scope<'a>,
        base: &'a ast::Expr,
        name: &ast::Name,
    ) -> bool {
        let ExprKind::Name(owner) = &base.kind else {
            return false;
        };
        let is_field = |text: &str| {
            let mut fields = self.spec.schema.fields.iter();
            fields.any(|field| field.name == text)
        };
        let is_known = is_field(owner.as_str())
            || self.binding(scope, owner).is_some()
            || self.find(scope.module, Space::Value, owner).is_some();
        if is_known || !RECORDS.contains(&owner.as_str()) || !is_field(name.as_str()) {
            return false;
        }
        let prefix = Span::new(owner.span.file, owner.span.start, name.span.start);
        self.report(
            Diagnostic::new(Code::G0201, owner.span, format!("unknown name `{owner}`"))
                .label("not declared")
                .note("fields of the event are written by their names alone")
                .fix(format!("write `{name}`"), prefix, ""),
        );
        true
    }

    /// Returns the fix for a name that is probably a text without its quotes.
    pub(super) fn quoted(name: &ast::Name, expected: Option<&Type>) -> Option<(String, String)> {
        let is_text = matches!(
            expected.map(Type::non_null),
            Some(Type::String | Type::Json)
        );
        is_text.then(|| (format!("a text: write `\"{name}\"`"), format!("\"{name}\"")))
    }

    /// Returns `text` in parentheses if an operator around `span` would apply to a part of it.
    pub(super) fn as_operand(&self, span: Span, text: String) -> String {
        let file = self.sources.get(span.file).text();
        let before = file.get(..span.start as usize).unwrap_or("").trim_end();
        let after = file.get(span.end as usize..).unwrap_or("").trim_start();
        let compares = |rest: &str, at_end: bool| {
            ["==", "!=", "<", "<=", ">", ">=", "??", "+"]
                .iter()
                .any(|operator| match at_end {
                    true => rest.ends_with(operator) && !rest.ends_with("->"),
                    false => rest.starts_with(operator) && !rest.starts_with("<->"),
                })
        };
        if compares(before, true) || compares(after, false) || after.starts_with('.') {
            format!("({text})")
        } else {
            text
        }
    }

    /// Returns the note for a value that may be null where a definite one is required.
    pub(super) fn ask_for_null(text: &str, ty: &Type) -> String {
        let ask = format!("require it first: `{text} != null and …`");
        // Any time in place of a missing one makes a difference of times meaningless.
        match ty.non_null() {
            Type::Time => ask,
            _ => format!("give a default for null with `?? …`, or {ask}"),
        }
    }

    /// Returns the cast that `float(x)` stands for.
    pub(super) fn cast_of(
        &self,
        name: &ast::Name,
        args: &[&'a ast::Expr],
        subject: Option<&Type>,
    ) -> Option<String> {
        let ([arg], Some(Type::Json)) = (args, subject.map(Type::non_null)) else {
            return None;
        };
        let ty = crate::syntax::foreign::type_name(name.as_str())?;
        let text = self.snippet(*arg.span);
        Some(match text.contains(char::is_whitespace) {
            true => format!("({text}) as {ty}"),
            false => format!("{text} as {ty}"),
        })
    }

    /// Returns a wrong value if a list is called, as in `[] (a -> b)`, after reporting it.
    pub(super) fn box_operator(&mut self, callee: &ast::Expr) -> Option<Typed> {
        if !matches!(&callee.kind, ExprKind::List(items) if items.is_empty()) {
            return None;
        }
        self.report(
            Diagnostic::new(Code::G0209, callee.span, "this expression cannot be called")
                .label("an empty list")
                .fix("write `always`", *callee.span, "always "),
        );
        Some(self.wrong())
    }
}

/// Returns the text of an expression without the parentheses around it.
pub(super) fn bare(text: &str) -> &str {
    let inner = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'));
    // `(a) + (b)` is not in parentheses.
    let is_whole = |inner: &str| {
        let mut open = 0i32;
        inner.chars().all(|c| {
            open += i32::from(c == '(') - i32::from(c == ')');
            open >= 0
        })
    };
    match inner.filter(|inner| is_whole(inner)) {
        Some(inner) => bare(inner.trim()),
        None => text,
    }
}
