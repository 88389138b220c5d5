//! `abstraction` blocks: the components of a state, and the allowed states and steps.

use super::branching::Place;
use super::names::{ItemRef, Space};
use super::scope::{Binding, Scope};
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{Abstraction, Component, Domain, Expr, Source, StateReward};
use crate::ids::{AbstractionId, ExprId};
use crate::source::Span;
use crate::syntax::ast::{self, AbstractionClauseKind, ExprKind, OverEntry, TypeKind};
use crate::types::Type;
use crate::value::Value;

impl<'a> Checker<'a> {
    /// Returns the abstraction that an item declares.
    pub(super) fn abstraction(&mut self, item_ref: ItemRef) -> Option<AbstractionId> {
        if let Some(known) = self.abstractions.get(&item_ref) {
            return Some(*known);
        }
        let item = self.names.item(item_ref);
        let ast::ItemKind::Abstraction(def) = &item.kind else {
            return None;
        };
        self.attributes(item, &["allow"]);
        let scope = Scope::module(item_ref.module);
        let mut made = Abstraction::empty(def.name.text.clone(), false, *item.span);
        // The names in clauses are known only after all of `over` is elaborated.
        let mut inner = scope.clone();
        for clause in &def.clauses {
            match &clause.kind {
                AbstractionClauseKind::StepsWhen(condition) => {
                    if made.steps.is_some() {
                        self.error(Code::G0324, *clause.span, "duplicate `steps when` clause");
                        continue;
                    }
                    made.steps = Some(self.boolean(&scope, condition));
                }
                AbstractionClauseKind::Over(entries) => {
                    for entry in entries {
                        if let Some((component, typed)) = self.component(&scope, &made, entry) {
                            if let OverEntry::Declared { name, .. } = entry
                                && let Some(typed) = typed
                            {
                                inner = inner.with_name(name, Binding::Value(typed));
                            }
                            made.components.push(component);
                        }
                    }
                }
                _ => {}
            }
        }
        if made.components.is_empty() && !self.has_error_within(*item.span) {
            self.report(
                Diagnostic::new(
                    Code::G0337,
                    def.name.span,
                    "this abstraction has only one state",
                )
                .label("`over` lists no components")
                .note("list the values that distinguish states: `over exposure, approved`"),
            );
        }
        for clause in &def.clauses {
            match &clause.kind {
                AbstractionClauseKind::StepsWhen(_) | AbstractionClauseKind::Over(_) => {}
                AbstractionClauseKind::Valid(condition) => {
                    let id = self.clause(&inner, &made, condition, false);
                    made.valid.extend(id);
                }
                AbstractionClauseKind::Step(condition) => {
                    let id = self.clause(&inner, &made, condition, true);
                    made.step.extend(id);
                }
                AbstractionClauseKind::Absorbing(condition) => {
                    let id = self.clause(&inner, &made, condition, false);
                    made.absorbing.extend(id);
                }
                AbstractionClauseKind::Terminal(condition) => {
                    let id = self.clause(&inner, &made, condition, false);
                    made.terminal.extend(id);
                }
                AbstractionClauseKind::Reward { name, value } => {
                    let reward = name.as_ref().map(|name| name.text.clone());
                    if made.rewards.iter().any(|other| other.name == reward) {
                        self.error(Code::G0324, *clause.span, "duplicate reward");
                        continue;
                    }
                    let typed = self.at(Place::Clause(false), |checker| {
                        checker.value_as(&inner, value, &Type::Float)
                    });
                    if self.decided(&made, typed.id, *value.span) {
                        made.rewards.push(StateReward {
                            name: reward,
                            value: typed.id,
                        });
                    }
                }
            }
        }
        let id = AbstractionId::new(self.spec.abstractions.len());
        self.spec.abstractions.push(made);
        self.abstractions.insert(item_ref, id);
        self.abstraction_names.insert(id, inner);
        Some(id)
    }

    /// Returns a Boolean over the components and, with `primes`, over those of the next state.
    fn clause(
        &mut self,
        scope: &Scope<'a>,
        made: &Abstraction,
        condition: &'a ast::Expr,
        primes: bool,
    ) -> Option<ExprId> {
        let id = self.at(Place::Clause(primes), |checker| {
            checker.boolean(scope, condition)
        });
        self.decided(made, id, *condition.span).then_some(id)
    }

    /// Whether the components determine an expression; reports it if they do not.
    fn decided(&mut self, made: &Abstraction, id: ExprId, span: Span) -> bool {
        let leaves = made.undecided(&self.spec, id, false);
        if leaves.is_empty() || self.has_error_within(span) {
            return leaves.is_empty();
        }
        let text = self.snippet(span);
        self.not_decided(made, &text, &leaves, span);
        false
    }

    /// Reports an expression that an abstraction does not determine, and the component to add.
    pub(super) fn not_decided(
        &mut self,
        made: &Abstraction,
        text: &str,
        leaves: &[ExprId],
        span: Span,
    ) {
        let names: Vec<smol_str::SmolStr> = leaves.iter().map(|leaf| self.called(*leaf)).collect();
        let simple = text
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '.');
        let add = if simple {
            format!("`{text}`")
        } else {
            super::branching::list(&names)
        };
        let of = &made.name;
        self.report(
            Diagnostic::new(
                Code::G0334,
                span,
                format!("the states of `{of}` do not determine `{text}`"),
            )
            .label(format!("depends on {}", super::branching::list(&names)))
            .also(made.span, "the components of a state are listed here")
            .note(format!("add {add} to `over` of `{of}`")),
        );
    }

    /// Returns a name for an expression that reads the step, for messages.
    fn called(&self, id: ExprId) -> smol_str::SmolStr {
        let spec = &self.spec;
        match spec.exprs.get(id) {
            Expr::Field(field) => spec.schema.fields[*field].name.clone(),
            Expr::Meta(field) => {
                smol_str::format_smolstr!("meta.{}", spec.schema.meta[*field].name)
            }
            Expr::Track(track, _) => spec.track(*track).name.clone(),
            Expr::Violated(property) => {
                smol_str::format_smolstr!("violated({})", spec.property(*property).name)
            }
            Expr::Before(inner) => smol_str::format_smolstr!("before({})", self.called(*inner)),
            Expr::Count { .. } => smol_str::SmolStr::new_static("count(…)"),
            _ => smol_str::SmolStr::new_static("the previous state"),
        }
    }

    /// Elaborates one entry of `over` and returns its component.
    fn component(
        &mut self,
        scope: &Scope<'a>,
        made: &Abstraction,
        entry: &'a OverEntry,
    ) -> Option<(Component, Option<Typed>)> {
        let (name, source, domain, span, typed) = match entry {
            OverEntry::Expr(expr) => {
                let span = *expr.span;
                let name = self.snippet(span);
                if let Some((source, domain)) = self.monitor_entry(scope, expr)? {
                    (name, source, domain, span, None)
                } else {
                    let typed = self.value(scope, expr, None);
                    let domain = self.domain(&typed, span)?;
                    (name, Source::Value(typed.id), domain, span, Some(typed))
                }
            }
            OverEntry::Declared { name, ty, value } => {
                let span = *name.span;
                let (typed, domain) = match &ty.kind {
                    TypeKind::Range(low, high) => {
                        let typed = match value {
                            Some(value) => self.value_as(scope, value, &Type::Int),
                            None => {
                                let typed = self.name(scope, name, Some(&Type::Int));
                                self.fitting(typed, &Type::Int, span)
                            }
                        };
                        let ends = [&**low, &**high];
                        let (low, high) = (
                            self.end_of_range(scope, low)?,
                            self.end_of_range(scope, high)?,
                        );
                        if low > high {
                            let diagnostic =
                                Diagnostic::new(Code::G0335, *ty.span, "this range is empty")
                                    .label(format!("{low} is greater than {high}"));
                            let diagnostic = self.with_ends_swapped(diagnostic, ends);
                            self.report(diagnostic);
                            return None;
                        }
                        if typed.ty == Type::Error {
                            return None;
                        }
                        (typed, Domain::Int(low, high))
                    }
                    _ => {
                        let wanted = self.ty(scope, ty);
                        let typed = match value {
                            Some(value) => self.typed_as(scope, value, &wanted),
                            None => {
                                let typed = self.name(scope, name, Some(&wanted));
                                self.fitting(typed, &wanted, span)
                            }
                        };
                        let domain = self.domain(&typed, *ty.span)?;
                        (typed, domain)
                    }
                };
                (
                    name.text.clone(),
                    Source::Value(typed.id),
                    domain,
                    span,
                    Some(typed),
                )
            }
        };
        let twice = made
            .components
            .iter()
            .find(|other| other.source == source || other.name == name);
        if let Some(earlier) = twice {
            self.report(
                Diagnostic::new(
                    Code::G0336,
                    span,
                    format!("`{name}` does not distinguish any further states"),
                )
                .label("already listed in `over`")
                .also(earlier.span, "here"),
            );
            return None;
        }
        let component = Component {
            name,
            source,
            domain,
            span,
        };
        Some((component, typed))
    }

    /// Returns a rule by its name, or `violated(r)`, or `None` if the entry is a value. An outer `None` was reported.
    #[expect(clippy::option_option, reason = "wrong, no monitor, a monitor")]
    fn monitor_entry(
        &mut self,
        scope: &Scope<'a>,
        expr: &'a ast::Expr,
    ) -> Option<Option<(Source, Domain)>> {
        match &expr.kind {
            ExprKind::Call { callee, args } if matches!(&callee.kind, ExprKind::Name(name) if name.as_str() == "violated") =>
            {
                let typed = self.at(Place::Clause(false), |checker| {
                    checker.violated(scope, args, *expr.span)
                });
                match self.spec.exprs.get(typed.id) {
                    Expr::Violated(property) => {
                        Some(Some((Source::Violated(*property), Domain::Bool)))
                    }
                    _ => None,
                }
            }
            ExprKind::Name(name)
                if self.binding(scope, name).is_none()
                    && self.find(scope.module, Space::Value, name).is_none()
                    && self.find(scope.module, Space::Property, name).is_some() =>
            {
                let property = self.monitored(scope, expr)?;
                Some(Some((Source::Monitor(property), Domain::Monitor)))
            }
            _ => Some(None),
        }
    }

    fn fitting(&mut self, typed: Typed, wanted: &Type, span: Span) -> Typed {
        if Self::fits(&typed.ty, wanted) {
            return typed;
        }
        self.mismatch(span, &typed.ty, wanted);
        self.wrong()
    }

    fn end_of_range(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr) -> Option<i64> {
        let typed = self.value_as(scope, expr, &Type::Int);
        let value = match self.spec.exprs.get(typed.id) {
            Expr::Const(Value::Number(number)) => number.to_int(),
            Expr::Neg(inner) => match self.spec.exprs.get(*inner) {
                Expr::Const(Value::Number(number)) => number.to_int().map(|value| -value),
                _ => None,
            },
            _ if typed.ty == Type::Error => return None,
            _ => None,
        };
        let value = value.and_then(|value| i64::try_from(value).ok());
        if value.is_none() {
            self.error(
                Code::G0335,
                *expr.span,
                "the end of a range must be a constant whole number",
            );
        }
        value
    }

    /// Returns the possible values of a component; reports an error if there are infinitely many.
    fn domain(&mut self, typed: &Typed, span: Span) -> Option<Domain> {
        let inner = match typed.ty.non_null() {
            Type::Bool => Domain::Bool,
            Type::Enum(of) => Domain::Enum(of.number),
            Type::String => Domain::Text,
            Type::Error => return None,
            ty => {
                let text = self.snippet(span);
                let note = match ty {
                    Type::Int => format!("declare a range, and cut off what is beyond: `{text}_: int 0..9 = min({text}, 9)`"),
                    Type::Json => "compare it, as in `over kind == \"call\"`, or cast it: `k: string? = e as string?`".to_owned(),
                    _ => "use a Boolean instead: a predicate, or a comparison with a constant".to_owned(),
                };
                self.report(
                    Diagnostic::new(
                        Code::G0335,
                        span,
                        format!("`{}` has infinitely many values", typed.ty),
                    )
                    .label("a component of a state must have finitely many values")
                    .note(note),
                );
                return None;
            }
        };
        Some(if typed.ty.may_be_null() {
            Domain::Nullable(Box::new(inner))
        } else {
            inner
        })
    }
}
