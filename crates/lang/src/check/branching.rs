//! Formulas about models and systems: operators of branching time and probability, labels, `violated(r)`.
//!
//! The same functions elaborate them as expressions and formulas of events ([`Checker::value`], [`Checker::formula`]);
//! [`Place`] determines which operators are allowed and how names are resolved.

use smol_str::SmolStr;

use super::names::Space;
use super::scope::{Binding, Scope};
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::hir::{Ask, Branching, Compare, Expr, Formula, RewardKind, Unary};
use crate::ids::{ExprId, ModelId, PropertyId};
use crate::source::Span;
use crate::syntax::ast::{self, CtlOp, ExprKind, PathQuantifier, ProbBound, ThresholdOp};
use crate::types::Type;
use crate::value::{Number, Value};

/// The meaning of atoms at the place that is being elaborated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The events of a trace.
    Events,
    /// The states of an abstraction or system, in a clause of its declaration; `true` if primes are allowed.
    Clause(bool),
    /// The states of a model with an abstraction.
    Model(ModelId),
    /// The states of an imported chain, whose labels and variables are known only when its file is read.
    Imported,
    /// The states of a system.
    System,
    /// Inside a template that is checked on its own: the place of use is unknown.
    Any,
}

impl Place {
    /// Whether `A`, `E`, `P`, `R` and `S` are allowed here.
    fn branches(self) -> bool {
        !matches!(self, Place::Events | Place::Clause(_))
    }

    /// Whether formulas here are about a learned or imported chain.
    pub(super) fn is_model(self) -> bool {
        matches!(self, Place::Model(_) | Place::Imported)
    }

    /// Whether formulas here are about states rather than events.
    pub(super) fn is_states(self) -> bool {
        self != Place::Events
    }
}

impl<'a> Checker<'a> {
    /// Runs `body` with the names and operators of a place.
    pub(super) fn at<T>(&mut self, place: Place, body: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.place, place);
        let made = body(self);
        self.place = before;
        made
    }

    /// Reports a formula of branching time or probability without a model or system (`on`).
    pub(super) fn about_what(&mut self, span: Span) {
        let subjects: Vec<SmolStr> = self
            .names
            .all(0, Space::Model)
            .into_iter()
            .filter(|name| {
                self.names.get(0, Space::Model, name).is_some_and(|item| {
                    !matches!(self.names.item(item).kind, ast::ItemKind::Abstraction(_))
                })
            })
            .map(SmolStr::new)
            .collect();
        let mut diagnostic = Diagnostic::new(
            Code::G0330,
            span,
            "this formula is about the paths of a model or system, but names none",
        )
        .label(
            "this operator needs a model: a recorded trace is a single path without probabilities",
        );
        diagnostic = match subjects.as_slice() {
            [] => diagnostic.note(
                "declare a model, `model run = learn { }`, and end the formula with `on run`",
            ),
            [one] => {
                let text = self.snippet(span);
                diagnostic.fix(format!("add `on {one}`"), span, format!("{text} on {one}"))
            }
            several => diagnostic.note(format!(
                "end the formula with `on` and one of {}",
                list(several)
            )),
        };
        self.report(diagnostic);
    }

    /// Elaborates `A`, `E`, `P`, `S` or `R` as a value: a Boolean, or a float for `=?`.
    pub(super) fn branching(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr) -> Typed {
        let span = *expr.span;
        if !self.place.branches() {
            self.about_what(span);
            return self.wrong();
        }
        let (branching, ask) = match &expr.kind {
            ExprKind::Ctl { op, operand } => {
                let state = self.formula(scope, operand);
                if !self.is_timeless(state) {
                    self.path_in_state(*operand.span);
                    return self.wrong();
                }
                let (all, unary) = match op {
                    CtlOp::Ag => (true, Unary::Always),
                    CtlOp::Af => (true, Unary::Eventually),
                    CtlOp::Ax => (true, Unary::Next),
                    CtlOp::Eg => (false, Unary::Always),
                    CtlOp::Ef => (false, Unary::Eventually),
                    CtlOp::Ex => (false, Unary::Next),
                };
                let path = self.spec.formulas.add(Formula::Unary(unary, None, state));
                (Branching::Path { all, path }, None)
            }
            ExprKind::Path { quantifier, path } => {
                let all = *quantifier == PathQuantifier::All;
                let path = self.formula(scope, path);
                (Branching::Path { all, path }, None)
            }
            ExprKind::Probability { bound, path, given } => {
                let ask = self.ask(scope, bound, true);
                let path = self.formula(scope, path);
                let given = given.as_ref().map(|given| self.formula(scope, given));
                let Some(ask) = ask else {
                    return self.wrong();
                };
                (
                    Branching::Probability {
                        ask: ask.clone(),
                        path,
                        given,
                    },
                    Some(ask),
                )
            }
            ExprKind::SteadyState { bound, operand } => {
                let ask = self.ask(scope, bound, true);
                let state = self.boolean(scope, operand);
                let Some(ask) = ask else {
                    return self.wrong();
                };
                (
                    Branching::Steady {
                        ask: ask.clone(),
                        state,
                    },
                    Some(ask),
                )
            }
            ExprKind::Reward { name, bound, kind } => {
                let ask = self.ask(scope, bound, false);
                let kind = self.reward_kind(scope, kind);
                let (Some(ask), Some(kind)) = (ask, kind) else {
                    return self.wrong();
                };
                let name = name.as_ref().map(|name| name.value.clone());
                (
                    Branching::Reward {
                        name,
                        ask: ask.clone(),
                        kind,
                    },
                    Some(ask),
                )
            }
            _ => return self.wrong(),
        };
        let ty = if ask == Some(Ask::Value) {
            Type::Float
        } else {
            Type::Bool
        };
        let id = self.spec.branchings.add(branching);
        self.add(Expr::Branching(id), ty, span)
    }

    fn path_in_state(&mut self, span: Span) {
        let text = self.snippet(span);
        self.report(
            Diagnostic::new(
                Code::G0332,
                span,
                "expected a state formula, found a path formula",
            )
            .label("missing path quantifier")
            .fix("require it on all paths", span, format!("A[{text}]")),
        );
    }

    fn reward_kind(&mut self, scope: &Scope<'a>, kind: &'a ast::RewardKind) -> Option<RewardKind> {
        Some(match kind {
            ast::RewardKind::Reach(state) => {
                if self.is_temporal(scope, state) {
                    let formula = self.formula(scope, state);
                    if !self.is_timeless(formula) {
                        self.path_in_state(*state.span);
                        return None;
                    }
                    RewardKind::Reach(self.state_expr(formula))
                } else {
                    RewardKind::Reach(self.boolean(scope, state))
                }
            }
            ast::RewardKind::Cumulative(None) => RewardKind::Cumulative(None),
            ast::RewardKind::Cumulative(Some(steps)) => {
                RewardKind::Cumulative(Some(self.steps(scope, steps)?))
            }
            ast::RewardKind::Instant(steps) => RewardKind::Instant(self.steps(scope, steps)?),
            ast::RewardKind::Steady => RewardKind::Steady,
        })
    }

    /// Elaborates `=?` or a threshold, which for a probability must be between 0 and 1.
    fn ask(&mut self, scope: &Scope<'a>, bound: &'a ProbBound, probability: bool) -> Option<Ask> {
        let (op, threshold) = match bound {
            ProbBound::Query => return Some(Ask::Value),
            ProbBound::Compare { op, threshold } => (*op, threshold.as_ref()),
        };
        let number = self.number_between(scope, threshold, probability.then_some((0.0, 1.0)))?;
        Some(Ask::Compare(compare(op), number))
    }

    /// Returns a constant number, within bounds if there are some.
    pub(super) fn number_between(
        &mut self,
        scope: &Scope<'a>,
        expr: &'a ast::Expr,
        between: Option<(f64, f64)>,
    ) -> Option<Number> {
        let typed = self.at(Place::Events, |checker| {
            checker.value(scope, expr, Some(&Type::Float))
        });
        let span = *expr.span;
        if typed.ty == Type::Error {
            return None;
        }
        if matches!(self.spec.exprs.get(typed.id), Expr::Local(_)) && self.place == Place::Any {
            // In a template that is checked on its own, the parameter has no value yet.
            return Number::float(0.0);
        }
        let Expr::Const(Value::Number(number)) = self.spec.exprs.get(typed.id) else {
            self.report(
                Diagnostic::new(Code::G0333, span, "expected a number")
                    .label("not a constant number")
                    .note("write a number, a percentage, or the name of a constant or parameter"),
            );
            return None;
        };
        let number = number.clone();
        if let Some((low, high)) = between {
            let value = number.to_f64();
            if !(low..=high).contains(&value) {
                let message = format!("expected a number from {low} to {high}");
                let mut diagnostic =
                    Diagnostic::new(Code::G0333, span, message).label(format!("found {number}"));
                if high == 1.0 {
                    diagnostic = self.as_percentage(diagnostic, value, span);
                }
                self.report(diagnostic);
                return None;
            }
        }
        Some(number)
    }

    /// Returns a condition on states: a quoted label, or a name of an imported chain.
    pub(super) fn state_condition(
        &mut self,
        scope: &Scope<'a>,
        expr: &'a ast::Expr,
    ) -> Option<ExprId> {
        let span = *expr.span;
        match (&expr.kind, self.place) {
            (_, Place::Events) => None,
            (ExprKind::String(text), _) => Some(self.label(scope, &text.value, span)),
            (ExprKind::Name(name), Place::Imported) if self.is_of_chain(scope, name) => Some(
                self.add(Expr::Label(name.text.clone()), Type::Bool, span)
                    .id,
            ),
            _ => None,
        }
    }

    /// Whether a name must be resolved by the imported chain: every name that is not bound and not a constant.
    pub(super) fn is_of_chain(&self, scope: &Scope<'a>, name: &ast::Name) -> bool {
        self.place == Place::Imported
            && self.binding(scope, name).is_none()
            && !self
                .find(scope.module, Space::Value, name)
                .is_some_and(|item| {
                    matches!(
                        self.names.item(item).kind,
                        ast::ItemKind::Const(_) | ast::ItemKind::Template(_)
                    )
                })
    }

    /// Resolves `"error"`: a label of the model or system, or the name of a condition in quotes.
    fn label(&mut self, scope: &Scope<'a>, name: &SmolStr, span: Span) -> ExprId {
        if let Some(Binding::Value(typed)) = scope.get(name) {
            return typed.id;
        }
        let own: &[&str] = match self.place {
            Place::Model(_) => &["start", "end"],
            Place::System => &["init", "deadlock"],
            _ => &[],
        };
        let free = matches!(self.place, Place::Imported | Place::Any);
        if own.contains(&name.as_str()) || free {
            return self.add(Expr::Label(name.clone()), Type::Bool, span).id;
        }
        if let Some(item) = self.names.get(scope.module, Space::Value, name) {
            let home = Scope::module(item.module);
            let body = match &self.names.item(item).kind {
                ast::ItemKind::Predicate(def) if def.params.is_empty() => Some(&def.value),
                ast::ItemKind::Unsafe(def) => Some(&def.value),
                _ => None,
            };
            if let Some(body) = body {
                self.used.insert(item);
                return self.boolean(&home, body);
            }
        }
        let mut diagnostic = Diagnostic::new(Code::G0201, span, format!("unknown label `{name}`"))
            .label("not declared");
        let mut known = self.names.all(scope.module, Space::Value);
        known.extend(own);
        known.extend(scope.names());
        if let Some(near) = did_you_mean(name, known) {
            diagnostic = diagnostic.fix(format!("write `\"{near}\"`"), span, format!("\"{near}\""));
        }
        self.report(diagnostic);
        self.wrong().id
    }

    /// Elaborates `violated(r)`.
    pub(super) fn violated(
        &mut self,
        scope: &Scope<'a>,
        args: &'a [ast::Arg],
        span: Span,
    ) -> Typed {
        if !self.place.is_states() {
            self.report(
                Diagnostic::new(Code::G0332, span, "`violated(…)` is a condition on states")
                    .label("this formula is evaluated on a trace, not on a model")
                    .note("use it in an abstraction or in a formula that ends with `on MODEL`"),
            );
            return self.wrong();
        }
        let [ast::Arg { name: None, value }] = args else {
            self.report(
                Diagnostic::new(
                    Code::G0304,
                    span,
                    "`violated` takes the name of a rule or property",
                )
                .label("expected one name"),
            );
            return self.wrong();
        };
        match self.monitored(scope, value) {
            Some(property) => self.add(Expr::Violated(property), Type::Bool, span),
            None => self.wrong(),
        }
    }

    /// Returns the rule or property that a name refers to. Chains can only monitor properties without quantified names.
    pub(super) fn monitored(
        &mut self,
        scope: &Scope<'a>,
        expr: &'a ast::Expr,
    ) -> Option<PropertyId> {
        let span = *expr.span;
        let ExprKind::Name(name) = &expr.kind else {
            self.report(
                Diagnostic::new(Code::G0209, span, "expected the name of a rule or property")
                    .label("no name"),
            );
            return None;
        };
        let declared = self.find(scope.module, Space::Property, name);
        let Some(property) = self.spec.find_property(&name.text) else {
            if declared.is_some_and(|item| item.module == 0 && self.errors() > 0) {
                // The declaration has an error, which is reported there.
                return None;
            }
            let mut diagnostic = Diagnostic::new(
                Code::G0201,
                span,
                format!("unknown trace property or rule `{name}`"),
            )
            .label("not declared in this file");
            let known = self
                .spec
                .properties
                .iter()
                .map(|property| property.name.as_str());
            if let Some(near) = did_you_mean(&name.text, known) {
                diagnostic = diagnostic.fix(format!("write `{near}`"), span, near);
            }
            self.report(diagnostic);
            return None;
        };
        let found = self.spec.property(property);
        if found.quantified.is_some() || self.spec.formulas.is_timed(found.formula) {
            let (reason, declared) = if found.quantified.is_some() {
                (
                    "it needs a separate monitor for each value of its quantified name",
                    found.span,
                )
            } else {
                ("it measures time, but a chain counts steps", found.span)
            };
            self.report(
                Diagnostic::new(
                    Code::G0335,
                    span,
                    format!("the monitor of `{name}` has infinitely many states"),
                )
                .label(reason)
                .also(declared, "declared here"),
            );
            return None;
        }
        Some(property)
    }
}

/// Joins names as `a`, `b` and `c`.
pub(super) fn list(names: &[SmolStr]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// Returns a comparison with a threshold.
pub(super) fn compare(op: ThresholdOp) -> Compare {
    match op {
        ThresholdOp::Lt => Compare::Lt,
        ThresholdOp::Le => Compare::Le,
        ThresholdOp::Gt => Compare::Gt,
        ThresholdOp::Ge => Compare::Ge,
    }
}
