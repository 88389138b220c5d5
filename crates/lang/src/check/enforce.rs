//! `enforce` clauses: the property or query that is watched, its arms, and their messages.

use smol_str::SmolStr;

use super::Checker;
use super::names::{ItemRef, Space};
use super::scope::{Binding, Scope};
use super::threshold_arm::About;
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{
    Action, ActionKind, Arm, ArmTrigger, ClaimKind, Enforce, Expr, Invoke, PropertyKind, Watched,
};
use crate::ids::PropertyId;
use crate::source::Span;
use crate::syntax::ast::{self, EnforceKind, ExprKind, OutcomeKind};
use crate::types::Type;
use crate::value::Value;

impl<'a> Checker<'a> {
    /// Elaborates one clause. All properties are known by now, including those declared later.
    pub(super) fn enforce(
        &mut self,
        scope: &Scope<'a>,
        item: &'a ast::Item,
        clause: &'a ast::Enforce,
    ) {
        self.attributes(item, &["allow"]);
        let span = *item.span;
        match &clause.kind {
            EnforceKind::Query { name, arms } => {
                let Some(claim) = self.enforced_claim(name) else {
                    return;
                };
                let inner = self.reading_scope(scope, claim, *name.span);
                let about = self.about(claim);
                let (mut arms, on_error_allow) = self.arms(&inner, name, arms, &about);
                if !arms.iter().any(|arm| arm.trigger == ArmTrigger::Unseen) {
                    arms.push(super::threshold_arm::unseen(span));
                }
                self.spec.enforces.push(Enforce {
                    watched: Watched::Query(claim),
                    arms,
                    on_error_allow,
                    span,
                });
            }
            EnforceKind::When {
                condition,
                action,
                on_error_allow,
            } => {
                let text = self.snippet(*condition.span);
                let condition = self.boolean(scope, condition);
                let arm = Arm {
                    trigger: ArmTrigger::Holds,
                    action: self.action(scope, action),
                    span: *action.span,
                };
                self.spec.enforces.push(Enforce {
                    watched: Watched::When { condition, text },
                    arms: vec![arm],
                    on_error_allow: *on_error_allow,
                    span,
                });
            }
            EnforceKind::Property { name, arms } => {
                let Some(property) = self.enforced_property(name) else {
                    return;
                };
                let inner = self.instance_scope(scope, property, *name.span);
                let (arms, on_error_allow) = self.arms(&inner, name, arms, &About::Property);
                self.spec.enforces.push(Enforce {
                    watched: Watched::Property(property),
                    arms,
                    on_error_allow,
                    span,
                });
            }
        }
    }

    /// Reports the name of a property or query that another module declares, if it does: only those of the spec itself are judged.
    pub(super) fn rejects_of_module(&mut self, name: &ast::Name, item: ItemRef) -> bool {
        if item.module == 0 {
            return false;
        }
        let path = &self.project.modules[item.module].path;
        let diagnostic = Diagnostic::new(
            Code::G0370,
            name.span,
            format!("`{name}` is declared in `{path}`, and only what this file declares is judged"),
        )
        .label("declared in another module")
        .note(format!(
            "let `{path}` declare the formula as a `template`, and state here `property {name} = …` with it"
        ));
        self.report(diagnostic);
        true
    }

    /// Returns the declaration of a property or query that a clause or an expectation names, which may be one of an imported module.
    pub(super) fn declared_property(&self, name: &ast::Name) -> Option<ItemRef> {
        let declared = self.find(0, Space::Property, name);
        declared.or_else(|| self.names.of_import(0, Space::Property, &name.text))
    }

    /// Returns the property of a clause. Returns `None`, with a report, if there is no such property.
    fn enforced_property(&mut self, name: &'a ast::Name) -> Option<PropertyId> {
        let declared = self.declared_property(name);
        let known = self.spec.properties.iter().position(|property| {
            property.kind != PropertyKind::Condition && property.name == name.text
        });
        if let Some(known) = known {
            return Some(PropertyId::new(known));
        }
        if let Some(item) = declared {
            if self.rejects_of_module(name, item) {
                return None;
            }
            // A name that is declared but has no property or claim has an error, which is reported at its declaration.
            if let Some(claim) = self.spec.find_claim(&name.text) {
                let kind = self.spec.claim(claim).kind;
                let diagnostic = of_claim(name, kind);
                self.report(match kind {
                    ClaimKind::Query => {
                        diagnostic.fix("enforce its value", *name.span, format!("on {name}"))
                    }
                    ClaimKind::Property | ClaimKind::Requirement => diagnostic.note(
                        "`enforce on` a query of the model acts on the model state of the run",
                    ),
                });
            }
            return None;
        }
        let mut diagnostic = self.undeclared_property(Code::G0370, name);
        if diagnostic.fixes.is_empty() && self.names.get(0, Space::Value, &name.text).is_some() {
            diagnostic = diagnostic.note(format!(
                "`{name}` is a condition; to act while it holds, use `enforce when {name} => …`"
            ));
        }
        self.report(diagnostic);
        None
    }

    /// Returns the scope for the messages of a clause: the names that the property quantifies.
    fn instance_scope(&mut self, scope: &Scope<'a>, property: PropertyId, span: Span) -> Scope<'a> {
        let property = self.spec.property(property);
        let quantified = property.quantified.as_ref();
        let names: Vec<SmolStr> = quantified
            .into_iter()
            .flat_map(|quantified| &quantified.vars)
            .map(|var| var.name.clone())
            .collect();
        let item = self.names.get(0, Space::Property, &property.name);
        let written = item.map_or(Vec::new(), |item| quantified_in(self.names.item(item)));
        let mut inner = scope.clone();
        for (idx, name) in names.iter().enumerate() {
            let variable = self.add(Expr::Var(idx), Type::Json, span);
            let declared = written.iter().find(|written| written.text == *name);
            let declared = declared.map(|written| *written.span);
            inner = inner.declared(name, Binding::Value(variable), declared);
        }
        inner
    }

    /// Returns the arms of a clause, and whether errors are allowed.
    fn arms(
        &mut self,
        scope: &Scope<'a>,
        name: &ast::Name,
        arms: &'a [ast::Arm],
        about: &About,
    ) -> (Vec<Arm>, bool) {
        let mut made: Vec<Arm> = Vec::new();
        let mut on_error_allow: Option<Span> = None;
        for arm in arms {
            match arm {
                ast::Arm::OnErrorAllow(span) => {
                    if let Some(first) = on_error_allow.replace(**span) {
                        self.report(
                            Diagnostic::new(Code::G0372, *span, "duplicate `on error allow`")
                                .label("said again")
                                .also(first, "said first"),
                        );
                    }
                }
                ast::Arm::Act {
                    trigger,
                    action,
                    span,
                } => {
                    let trigger = match about {
                        About::Property => self.verdict_trigger(scope, trigger, **span),
                        About::Claim { .. } => self.reading_trigger(scope, trigger, **span, about),
                    };
                    let action = self.action(scope, action);
                    let Some(trigger) = trigger else {
                        continue;
                    };
                    let same =
                        |other: &&Arm| other.trigger == trigger && other.action.kind == action.kind;
                    if let Some(first) = made.iter().find(same) {
                        let first = first.span;
                        self.report(
                            Diagnostic::new(Code::G0372, *span, "duplicate arm")
                                .label("the same verdict and the same action")
                                .also(first, "first here"),
                        );
                        continue;
                    }
                    made.push(Arm {
                        trigger,
                        action,
                        span: **span,
                    });
                }
            }
        }
        if !arms.iter().any(|arm| matches!(arm, ast::Arm::Act { .. })) {
            let example = match about {
                About::Claim { number: true, .. } => {
                    format!("enforce on {name} {{ >= 0.5 => warn \"…\" }}")
                }
                About::Claim { .. } => format!("enforce on {name} {{ violated => warn \"…\" }}"),
                About::Property => format!("enforce {name} {{ violated => block \"…\" }}"),
            };
            self.report(
                Diagnostic::new(Code::G0373, name.span, "this clause has no effect")
                    .label("it has no arms")
                    .note(format!("for example: `{example}`")),
            );
        }
        (made, on_error_allow.is_some())
    }

    /// Returns the trigger of an arm on a property.
    fn verdict_trigger(
        &mut self,
        scope: &Scope<'a>,
        trigger: &'a ast::ArmTrigger,
        span: Span,
    ) -> Option<ArmTrigger> {
        let outcome = match trigger {
            ast::ArmTrigger::Outcome(outcome) => outcome,
            ast::ArmTrigger::Threshold(threshold) => {
                self.report(
                    Diagnostic::new(Code::G0371, threshold.span, "a property has no probability")
                        .label("thresholds apply to queries: `enforce on QUERY { … }`")
                        .note("arms of a property: `violated`, `satisfied`, `presumably_violated for n steps`"),
                );
                return None;
            }
            ast::ArmTrigger::Unseen => {
                self.report(
                    Diagnostic::new(Code::G0371, span, "`unseen` applies to states of a model")
                        .label("use it in `enforce on QUERY { … }`"),
                );
                return None;
            }
        };
        let steps = match &outcome.steps {
            Some(steps) => Some(self.patience(scope, steps)?),
            None => None,
        };
        match (outcome.kind, steps) {
            (OutcomeKind::PresumablyViolated, steps) => {
                Some(ArmTrigger::PresumablyViolated(steps.unwrap_or(1)))
            }
            (OutcomeKind::Violated, None) => Some(ArmTrigger::Violated),
            (OutcomeKind::Satisfied, None) => Some(ArmTrigger::Satisfied),
            (kind @ (OutcomeKind::Violated | OutcomeKind::Satisfied), Some(_)) => {
                let word = match kind {
                    OutcomeKind::Satisfied => "satisfied",
                    _ => "violated",
                };
                self.report(
                    Diagnostic::new(
                        Code::G0371,
                        outcome.span,
                        "a final verdict cannot be delayed",
                    )
                    .label("`for n steps` applies to `presumably_violated` only")
                    .fix(format!("write `{word}`"), outcome.span, word),
                );
                None
            }
            (OutcomeKind::PresumablySatisfied, _) => {
                self.report(
                    Diagnostic::new(
                        Code::G0371,
                        outcome.span,
                        "`presumably_satisfied` cannot trigger an action: no obligation is pending",
                    )
                    .label(
                        "arms of a property: `violated`, `satisfied`, `presumably_violated for n steps`",
                    ),
                );
                None
            }
            (OutcomeKind::Unknown, _) => {
                self.report(
                    Diagnostic::new(Code::G0371, outcome.span, "`unknown` cannot be an arm")
                        .label("an unknown verdict is always denied, with its reason")
                        .note("to allow it instead, add `on error allow` to the clause"),
                );
                None
            }
        }
    }

    /// Elaborates `for n steps`: a positive number, or the name of one.
    fn patience(&mut self, scope: &Scope<'a>, steps: &'a ast::Expr) -> Option<u32> {
        let typed = self.value_as(scope, steps, &Type::Int);
        if typed.ty == Type::Error {
            return None;
        }
        let number = match self.spec.exprs.get(typed.id) {
            Expr::Const(Value::Number(number)) => number.to_int(),
            _ => None,
        };
        let number = number.and_then(|number| u32::try_from(number).ok());
        if number.is_none_or(|number| number == 0) {
            self.report(
                Diagnostic::new(
                    Code::G0374,
                    steps.span,
                    "expected a number of steps, at least 1",
                )
                .label("write a number or the name of a constant"),
            );
            return None;
        }
        number
    }

    fn action(&mut self, scope: &Scope<'a>, action: &'a ast::Action) -> Action {
        let message = action
            .message
            .as_ref()
            .map(|message| self.text(scope, message));
        let (kind, invoke) = match &action.kind {
            ast::ActionKind::Log => (ActionKind::Log, None),
            ast::ActionKind::Warn => (ActionKind::Warn, None),
            ast::ActionKind::Reflect => (ActionKind::Reflect, None),
            ast::ActionKind::Ask => (ActionKind::Ask, None),
            ast::ActionKind::Block => (ActionKind::Block, None),
            ast::ActionKind::Stop => (ActionKind::Stop, None),
            ast::ActionKind::Invoke { name, args } => {
                (ActionKind::Invoke, Some(self.invoke(scope, name, args)))
            }
        };
        Action {
            kind,
            message,
            invoke,
        }
    }

    /// Reports an argument without a name after one that has a name.
    fn positional_after_named(&mut self, args: &[ast::Arg], arg: &ast::Arg) {
        let message = "positional argument after a named argument";
        let mut diagnostic = Diagnostic::new(Code::G0304, *arg.value.span, message)
            .label("expected a named argument");
        let span = |arg: &ast::Arg| match &arg.name {
            Some(name) => name.span.to(*arg.value.span),
            None => *arg.value.span,
        };
        if let (Some(first), Some(last)) = (args.first(), args.last()) {
            let (named, plain): (Vec<&ast::Arg>, Vec<&ast::Arg>) =
                args.iter().partition(|arg| arg.name.is_some());
            let ordered: Vec<SmolStr> = plain
                .into_iter()
                .chain(named)
                .map(|arg| self.snippet(span(arg)))
                .collect();
            let ordered = ordered.join(", ");
            let all = span(first).to(span(last));
            diagnostic = diagnostic.fix(format!("write `{ordered}`"), all, ordered);
        }
        self.report(diagnostic);
    }

    fn invoke(&mut self, scope: &Scope<'a>, name: &'a ast::Name, args: &'a [ast::Arg]) -> Invoke {
        let mut made: Vec<(Option<SmolStr>, crate::ids::ExprId)> = Vec::new();
        for arg in args {
            let named = arg.name.as_ref().map(|name| name.text.clone());
            if let Some(name) = &arg.name
                && made
                    .iter()
                    .any(|(other, _)| other.as_ref() == Some(&name.text))
            {
                self.error(
                    Code::G0304,
                    name.span,
                    format!("duplicate argument `{name}`"),
                );
            }
            if named.is_none() && made.last().is_some_and(|(name, _)| name.is_some()) {
                self.positional_after_named(args, arg);
            }
            // `call: call` is the obvious spelling; a bare name that has a value needs no type.
            let value = match &arg.value.kind {
                ExprKind::Null => self.value(scope, &arg.value, Some(&Type::Json)),
                _ => self.operand(scope, &arg.value, None),
            };
            made.push((named, value.id));
        }
        Invoke {
            name: name.text.clone(),
            args: made,
        }
    }
}

/// Returns the names that the text of a property quantifies, except those of a template.
fn quantified_in(item: &ast::Item) -> Vec<&ast::Name> {
    let mut formula = match &item.kind {
        ast::ItemKind::Rule(rule) => return rule.params.iter().map(|param| &param.name).collect(),
        ast::ItemKind::Property(property) => &property.formula,
        ast::ItemKind::Requirement(requirement) => &requirement.formal,
        _ => return Vec::new(),
    };
    let mut all = Vec::new();
    while let ast::ExprKind::Instances { names, body, .. } = &formula.kind {
        all.extend(names);
        formula = body;
    }
    all
}

/// Returns the diagnostic about a claim in the place of a property of runs.
pub(super) fn of_claim(name: &ast::Name, kind: ClaimKind) -> Diagnostic {
    match kind {
        ClaimKind::Query => Diagnostic::new(
            Code::G0370,
            name.span,
            format!("expected a property, found the query `{name}`"),
        )
        .label("a query has a value, not a verdict"),
        ClaimKind::Property | ClaimKind::Requirement => Diagnostic::new(
            Code::G0370,
            name.span,
            format!("`{name}` is about a model or system, not about runs"),
        )
        .label("it has no verdict on a run"),
    }
}
