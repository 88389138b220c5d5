//! Bounds of temporal operators: steps, and durations.

use super::Checker;
use super::scope::{Binding, Scope};
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{Bound, Expr};
use crate::source::Span;
use crate::syntax::ast::{self, BoundValue};
use crate::types::Type;
use crate::value::{Instant, Value};

/// The greatest bound in steps.
const MAX_STEPS: u32 = 1_000_000_000;
/// The length of time used for a parameter without a value.
const ANY_TIME: i128 = i128::MAX;

/// One end of a bound.
enum End {
    Steps(u32),
    Time(i128),
}

impl<'a> Checker<'a> {
    pub(super) fn no_bound(&mut self, span: Span) {
        self.report(
            Diagnostic::new(Code::G0314, span, "this operator does not take a bound")
                .label("bounds are allowed after `F`, `G`, `U`, `O` and `H` only"),
        );
    }

    /// Elaborates a bound written after an operator.
    pub(super) fn bound(&mut self, scope: &Scope<'a>, bound: &'a ast::Bound) -> Option<Bound> {
        let lower = match &bound.lower {
            Some(lower) => Some(self.end(scope, lower)?),
            None => None,
        };
        let upper = self.end(scope, &bound.upper)?;
        self.both_ends(lower, upper, *bound.span)
    }

    /// Elaborates the window of `within …`.
    pub(super) fn window(&mut self, scope: &Scope<'a>, window: &'a ast::Window) -> Option<Bound> {
        let lower = match &window.lower {
            Some(lower) => Some(self.end(scope, lower)?),
            None => None,
        };
        let upper = self.end(scope, &window.upper)?;
        match (&upper, window.steps) {
            (End::Steps(_), false) => {
                self.report(
                    Diagnostic::new(Code::G0314, window.span, "missing unit of the bound")
                        .label("a number without a unit")
                        .note("write `within 5 steps` or `within 2s`"),
                );
                return None;
            }
            (End::Time(_), true) => {
                self.report(
                    Diagnostic::new(
                        Code::G0314,
                        window.span,
                        "expected a number of steps, found a duration",
                    )
                    .label("remove `steps` after a duration"),
                );
                return None;
            }
            _ => {}
        }
        self.both_ends(lower, upper, *window.span)
    }

    fn both_ends(&mut self, lower: Option<End>, upper: End, span: Span) -> Option<Bound> {
        let bound = match (lower.unwrap_or(End::Steps(0)), upper) {
            (End::Steps(lower), End::Steps(upper)) => Bound::Steps(lower, upper),
            (End::Time(lower), End::Time(upper)) => Bound::Time(lower, upper),
            (End::Steps(0), End::Time(upper)) => Bound::Time(0, upper),
            _ => {
                self.report(
                    Diagnostic::new(
                        Code::G0314,
                        span,
                        "one end of the bound is in steps, the other in time",
                    )
                    .label("use the same unit for both ends"),
                );
                return None;
            }
        };
        let (empty, swapped) = match bound {
            Bound::Steps(lower, upper) => (lower > upper, format!("[{upper},{lower}]")),
            Bound::Time(lower, upper) => (lower > upper, String::new()),
        };
        if empty {
            let mut diagnostic = Diagnostic::new(
                Code::G0314,
                span,
                "the lower end of the bound is greater than the upper end",
            )
            .label("empty");
            if self.snippet(span).starts_with('[') && !swapped.is_empty() {
                diagnostic = diagnostic.fix("swap the ends", span, swapped);
            }
            self.report(diagnostic);
            return None;
        }
        if matches!(bound, Bound::Time(..)) && self.place.is_model() {
            self.report(
                Diagnostic::new(
                    Code::G0314,
                    span,
                    "a bound in time is not supported in formulas on a model",
                )
                .label("a bound in time")
                .note("a model counts steps: write `within 5 steps` or `F<=5`"),
            );
            return None;
        }
        // A template for bounds in time may be in a library, which declares no events.
        let alone = matches!(bound, Bound::Time(_, ANY_TIME));
        if matches!(bound, Bound::Time(..)) && !alone && self.spec.schema.clock.is_none() {
            if !self.has_lost_names() {
                self.report(
                    Diagnostic::new(Code::G0314, span, "a bound in time needs a clock")
                        .label("a bound in time")
                        .note("declare a field of type `time` in the `event` block: `at: time? from \"/t\"`"),
                );
            }
            return None;
        }
        Some(bound)
    }

    /// Elaborates a number of steps, as in `C<=k`.
    pub(super) fn steps(&mut self, scope: &Scope<'a>, end: &'a BoundValue) -> Option<u32> {
        match self.end(scope, end)? {
            End::Steps(steps) => Some(steps),
            End::Time(_) => {
                self.report(
                    Diagnostic::new(Code::G0314, end.span(), "expected a number of steps")
                        .label("found a duration"),
                );
                None
            }
        }
    }

    fn end(&mut self, scope: &Scope<'a>, end: &'a BoundValue) -> Option<End> {
        match end {
            BoundValue::Int(digits, span) => match digits.parse::<u32>() {
                Ok(steps) if steps <= MAX_STEPS => Some(End::Steps(steps)),
                _ => {
                    self.report(
                        Diagnostic::new(Code::G0314, *span, "this bound is too large")
                            .label(format!("at most {MAX_STEPS} steps")),
                    );
                    None
                }
            },
            BoundValue::Duration(duration, span) => {
                let time = super::literal::duration(duration);
                if time.is_none() {
                    self.error(Code::G0322, *span, "this duration is out of range");
                }
                time.map(|Instant(time)| End::Time(time))
            }
            BoundValue::Name(name) => {
                let typed = match self.binding(scope, name) {
                    Some(Binding::Value(typed)) => typed.clone(),
                    Some(_) => {
                        self.error(
                            Code::G0314,
                            *name.span,
                            format!("`{name}` is neither a number nor a duration"),
                        );
                        return None;
                    }
                    None => {
                        match self
                            .names
                            .get(scope.module, super::names::Space::Value, &name.text)
                        {
                            Some(item)
                                if matches!(
                                    self.names.item(item).kind,
                                    ast::ItemKind::Const(_)
                                ) =>
                            {
                                self.constant_by_name(item, name)
                            }
                            _ => {
                                self.report(
                                Diagnostic::new(Code::G0314, name.span, format!("`{name}` is not a constant"))
                                    .label("a bound is a literal, or the name of a constant or parameter"),
                            );
                                return None;
                            }
                        }
                    }
                };
                match self.spec.exprs.get(typed.id) {
                    Expr::Const(Value::Number(number)) => {
                        match number.to_int().and_then(|n| u32::try_from(n).ok()) {
                            Some(steps) if steps <= MAX_STEPS => Some(End::Steps(steps)),
                            _ => {
                                self.error(
                                Code::G0314,
                                *name.span,
                                format!("`{name}` is {number}, but a bound must be a whole number from 0 to {MAX_STEPS}"),
                            );
                                None
                            }
                        }
                    }
                    Expr::Const(Value::Duration(Instant(time))) => Some(End::Time(*time)),
                    // In a template that is checked on its own, the parameter has no value yet.
                    Expr::Local(_) if typed.ty == Type::Int => Some(End::Steps(MAX_STEPS)),
                    Expr::Local(_) if typed.ty == Type::Duration => Some(End::Time(ANY_TIME)),
                    Expr::Unknown => None,
                    _ => {
                        self.error(
                            Code::G0314,
                            *name.span,
                            format!("`{name}` is neither a number nor a duration"),
                        );
                        None
                    }
                }
            }
        }
    }
}
