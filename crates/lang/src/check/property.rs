//! Properties, rules, unsafe states, requirements, and their attributes.

use smol_str::SmolStr;

use super::branching::Place;
use super::names::ItemRef;
use super::ranged;
use super::scope::{Binding, Scope};
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::hir::{
    Expr, Formula, Logic, Property, PropertyKind, Quantified, QuantifiedVar, Severity, Trigger,
    Unary,
};
use crate::ids::{ExprId, FormulaId};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind, TypeKind};
use crate::syntax::visit::walk;
use crate::types::Type;

/// Attributes that properties of all kinds take.
pub const ATTRIBUTES: &[&str] = &["id", "severity", "catastrophic", "cites", "owner", "allow"];

/// The attributes of an item.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    pub(super) id: Option<SmolStr>,
    pub(super) severity: Severity,
    pub(super) catastrophic: bool,
    pub(super) cites: Vec<SmolStr>,
    pub(super) owner: Option<SmolStr>,
}

/// A formula with its outermost quantifier taken off.
pub(super) struct Unquantified {
    pub(super) universal: bool,
    pub(super) names: Vec<ast::Name>,
    pub(super) range: Vec<Option<ExprId>>,
    pub(super) formula: FormulaId,
}

impl<'a> Checker<'a> {
    /// Reads the attributes of an item and rejects those that it does not allow.
    pub(super) fn attributes(&mut self, item: &'a ast::Item, known: &[&str]) -> Attributes {
        let mut read = Attributes::default();
        for (place, attribute) in item.attributes.iter().enumerate() {
            let name = attribute.name.as_str();
            // The others list several.
            let before = &mut item.attributes[..place].iter();
            if !["cites", "allow"].contains(&name) && before.any(|other| other.name.text == name) {
                self.error(Code::G0202, attribute.span, format!("duplicate `@{name}`"));
                continue;
            }
            if !known.contains(&name) {
                let mut diagnostic = if ATTRIBUTES.contains(&name) || name == "outcome" {
                    Diagnostic::new(
                        Code::G0317,
                        attribute.span,
                        format!("`@{name}` is not allowed here"),
                    )
                    .label("this item does not accept it")
                } else {
                    Diagnostic::new(
                        Code::G0317,
                        attribute.span,
                        format!("unknown attribute `@{name}`"),
                    )
                    .label("not known")
                };
                if let Some(near) = did_you_mean(name, known.iter().copied()) {
                    diagnostic =
                        diagnostic.fix(format!("write `@{near}`"), attribute.name.span, near);
                }
                self.report(diagnostic);
                continue;
            }
            let texts: Vec<SmolStr> = attribute
                .args
                .iter()
                .filter_map(|arg| match &arg.kind {
                    ExprKind::String(text) => Some(text.value.clone()),
                    ExprKind::Name(name) => Some(name.text.clone()),
                    _ => None,
                })
                .collect();
            let wanted = match name {
                "catastrophic" => texts.is_empty() && attribute.args.is_empty(),
                "cites" | "allow" => !texts.is_empty() && texts.len() == attribute.args.len(),
                _ => texts.len() == 1 && attribute.args.len() == 1,
            };
            if !wanted {
                let wanted = match name {
                    "catastrophic" => "takes no arguments",
                    "severity" => "takes one of `low`, `medium`, `high`, `critical`",
                    "allow" => "takes the names of lints",
                    _ => "takes a text",
                };
                let message = format!("`@{name}` {wanted}");
                let mut diagnostic = Diagnostic::new(Code::G0317, attribute.span, message);
                if name == "catastrophic" {
                    let alone = "@catastrophic";
                    diagnostic = diagnostic.fix(format!("write `{alone}`"), attribute.span, alone);
                }
                self.report(diagnostic);
                continue;
            }
            match name {
                "id" => read.id = texts.into_iter().next(),
                "owner" => read.owner = texts.into_iter().next(),
                "cites" => read.cites.extend(texts),
                "catastrophic" => read.catastrophic = true,
                "severity" => match texts[0].as_str() {
                    "low" => read.severity = Severity::Low,
                    "medium" => read.severity = Severity::Medium,
                    "high" => read.severity = Severity::High,
                    "critical" => read.severity = Severity::Critical,
                    other => {
                        let levels = ["low", "medium", "high", "critical"];
                        let mut diagnostic = Diagnostic::new(
                            Code::G0317,
                            attribute.span,
                            format!("unknown severity `{other}`"),
                        )
                        .label("expected `low`, `medium`, `high` or `critical`");
                        if let Some(near) = did_you_mean(other, levels) {
                            diagnostic = diagnostic.fix(
                                format!("write `{near}`"),
                                attribute.args[0].span,
                                near,
                            );
                        }
                        self.report(diagnostic);
                    }
                },
                "allow" => {
                    let all = texts.clone();
                    self.spec.outline.allowed.push((*item.span, all));
                    for (lint, arg) in texts.iter().zip(&attribute.args) {
                        if Code::named(lint).is_none() {
                            self.unknown_lint(lint, *arg.span);
                        }
                    }
                }
                _ => {}
            }
        }
        read
    }

    /// Reports a name in `@allow` that is not the name of a lint.
    fn unknown_lint(&mut self, lint: &str, span: Span) {
        let mut diagnostic =
            Diagnostic::new(Code::G0317, span, format!("unknown lint `{lint}`")).label("not known");
        let lints = Code::ALL
            .iter()
            .filter(|code| code.severity() != crate::diagnostic::Severity::Error);
        let names: Vec<String> = lints.map(|code| code.name().replace('-', "_")).collect();
        let wanted = lint.replace('-', "_");
        if let Some(near) = did_you_mean(&wanted, names.iter().map(String::as_str)) {
            diagnostic = diagnostic.fix(format!("write `{near}`"), span, near);
        }
        self.report(diagnostic);
    }

    /// Whether an item carries `@allow(lint)`.
    pub(super) fn allows(&self, item: &ast::Item, lint: &str) -> bool {
        item.attributes
            .iter()
            .filter(|attribute| attribute.name.as_str() == "allow")
            .any(|attribute| {
                attribute.args.iter().any(|arg| match &arg.kind {
                    ExprKind::Name(name) => name.as_str() == lint,
                    ExprKind::String(text) => text.value == lint,
                    _ => false,
                })
            })
    }

    pub(super) fn property(
        &mut self,
        scope: &Scope<'a>,
        item: &'a ast::Item,
        def: &'a ast::Property,
    ) {
        if def.on.is_some() {
            // Elaborated later, after everything that it may refer to.
            return;
        }
        let attributes = self.attributes(item, ATTRIBUTES);
        if let Some((ast::Logic::Ctl | ast::Logic::Pctl, span)) = def.logic
            && !speaks_of_paths(&def.formula)
        {
            self.wrong_logic(*span, Logic::Ltl);
        }
        let message = def.message.as_ref();
        self.judged(
            scope,
            item,
            &def.name,
            PropertyKind::Ltl,
            attributes,
            (&def.formula, def.kept.as_ref()),
            None,
            message,
        );
    }

    pub(super) fn requirement(
        &mut self,
        scope: &Scope<'a>,
        item: &'a ast::Item,
        def: &'a ast::Requirement,
    ) {
        if def.on.is_some() {
            return;
        }
        let attributes = self.attributes(item, ATTRIBUTES);
        let text = Some((def.text.value.clone(), *def.text.span));
        self.judged(
            scope,
            item,
            &def.name,
            PropertyKind::Requirement,
            attributes,
            (&def.formal, def.kept.as_ref()),
            text,
            None,
        );
    }

    pub(super) fn unsafe_state(
        &mut self,
        scope: &Scope<'a>,
        item: &'a ast::Item,
        def: &'a ast::Unsafe,
    ) {
        let attributes = self.attributes(item, ATTRIBUTES);
        let message = def
            .message
            .as_ref()
            .map(|message| self.text(scope, message));
        let state = if self.is_temporal(scope, &def.value) {
            self.formula(scope, &def.value)
        } else {
            let id = self.boolean(scope, &def.value);
            let atom = crate::hir::Atom {
                expr: id,
                text: def.name.text.clone(),
                span: *def.value.span,
            };
            let atom = self.spec.formulas.add_atom(atom);
            self.spec.formulas.add(Formula::Atom(atom))
        };
        let not = self.spec.formulas.add(Formula::Not(state));
        let formula = self
            .spec
            .formulas
            .add(Formula::Unary(Unary::Always, None, not));
        let quantified = None;
        self.push(
            item,
            &def.name,
            PropertyKind::Unsafe,
            attributes,
            quantified,
            formula,
            *def.value.span,
            None,
            message,
        );
    }

    pub(super) fn rule(&mut self, scope: &Scope<'a>, item: &'a ast::Item, def: &'a ast::Rule) {
        let attributes = self.attributes(item, ATTRIBUTES);
        let mut inner = scope.clone();
        let mut names = Vec::new();
        for param in &def.params {
            if param.ty.is_some() || param.default.is_some() {
                self.report(
                    Diagnostic::new(
                        Code::G0312,
                        param.name.span,
                        "a parameter of a rule cannot have a type or default",
                    )
                    .label("it ranges over the values it is compared with, as in `forall`"),
                );
            }
            inner = self.quantified_name(&inner, &param.name, names.len(), Type::Json);
            names.push(param.name.clone());
        }
        let made = self.where_kept(
            scope,
            def.kept.as_ref(),
            |checker| {
                let trigger = checker.formula(&inner, &def.trigger);
                let response = checker.formula(&inner, &def.response);
                let bound = checker.window(&inner, &def.within)?;
                let or_end = def.within.or_end;
                Some(checker.response(trigger, response, Some(bound), or_end))
            },
            |formula| formula,
        );
        let Some(formula) = made else {
            return;
        };
        let message = def
            .message
            .as_ref()
            .map(|message| self.text(&inner, message));
        let range = vec![None; names.len()];
        let quantified = self.quantified(true, names, range, formula, *item.span);
        let end = def
            .kept
            .as_ref()
            .map_or(*def.within.span, |kept| *kept.span);
        let span = def.trigger.span.to(end);
        self.push(
            item,
            &def.name,
            PropertyKind::Rule,
            attributes,
            quantified,
            formula,
            span,
            None,
            message,
        );
    }

    /// Elaborates a property given by one expression.
    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of a declaration, used at two places"
    )]
    fn judged(
        &mut self,
        scope: &Scope<'a>,
        item: &'a ast::Item,
        name: &'a ast::Name,
        kind: PropertyKind,
        attributes: Attributes,
        (expr, kept): (&'a ast::Expr, Option<&'a ast::Expr>),
        requirement: Option<(SmolStr, Span)>,
        message: Option<&'a ast::Message>,
    ) {
        if !self.is_temporal(scope, expr) {
            let typed = self.value(scope, expr, Some(&Type::Bool));
            if typed.ty == Type::Error {
                return;
            }
            self.require_boolean(&typed, *expr.span);
            if typed.ty == Type::Bool {
                let text = self.snippet(*expr.span);
                self.report(
                    Diagnostic::new(
                        Code::G0311,
                        expr.span,
                        "a property needs a temporal operator",
                    )
                    .label("would be checked at the first step only")
                    .fix(
                        "require it at every step",
                        *expr.span,
                        format!("always ({text})"),
                    )
                    .fix(
                        "require it at the first step",
                        *expr.span,
                        format!("always ((weak_previously false) -> {text})"),
                    ),
                );
            }
            return;
        }
        let taken = self.where_kept(
            scope,
            kept,
            |checker| {
                let taken = checker.unquantified(scope, expr, 0)?;
                checker.past_at_the_start(taken.formula, expr, !taken.names.is_empty());
                Some(taken)
            },
            |taken| &mut taken.formula,
        );
        self.ranges.clear();
        let Some(taken) = taken else {
            return;
        };
        // A message may use the quantified names.
        let mut inner = scope.clone();
        for (idx, quantified) in taken.names.iter().enumerate() {
            let variable = self.add(Expr::Var(idx), Type::Json, *name.span);
            inner = inner.with_name(quantified, Binding::Value(variable));
        }
        let message = message.map(|message| self.text(&inner, message));
        let quantified = self.quantified(
            taken.universal,
            taken.names,
            taken.range,
            taken.formula,
            *expr.span,
        );
        self.push(
            item,
            name,
            kind,
            attributes,
            quantified,
            taken.formula,
            kept.map_or(*expr.span, |kept| expr.span.to(*kept.span)),
            requirement,
            message,
        );
    }

    /// Warns about a property that only looks back: it is evaluated at the first step, which has no past.
    fn past_at_the_start(&mut self, formula: FormulaId, expr: &ast::Expr, quantified: bool) {
        if !self.is_state(formula) || self.is_timeless(formula) {
            return;
        }
        let mut diagnostic = Diagnostic::new(
            Code::G0903,
            *expr.span,
            "this property looks back from the first step, which has no past",
        )
        .label("a property is evaluated at the first step");
        // Quantifiers are outermost; those of a template are not visible here.
        let mut body = expr;
        while let ExprKind::Instances { body: inner, .. } = &body.kind {
            body = inner;
        }
        if !quantified || !std::ptr::eq(body, expr) {
            let text = self.snippet(*body.span);
            diagnostic = diagnostic.fix(
                "require it at every step",
                *body.span,
                format!("always ({text})"),
            );
        }
        self.report(diagnostic);
    }

    /// Removes the outermost quantifier, including that of a template.
    pub(super) fn unquantified(
        &mut self,
        scope: &Scope<'a>,
        expr: &'a ast::Expr,
        bound: usize,
    ) -> Option<Unquantified> {
        match &expr.kind {
            ExprKind::Instances {
                kind,
                names,
                domain,
                body,
            } => {
                let universal = *kind == ast::InstancesKind::Forall;
                let range = domain
                    .as_ref()
                    .map(|domain| self.value(scope, domain, None));
                let ty = range.as_ref().map_or(Type::Json, |range| {
                    self.ranges.insert(bound, range.id);
                    ranged::element(&range.ty)
                });
                let range = range.map(|range| range.id);
                let mut inner = scope.clone();
                for (idx, name) in names.iter().enumerate() {
                    inner = self.quantified_name(&inner, name, bound + idx, ty.clone());
                }
                if range.is_some() && names.len() > 1 {
                    self.report(
                        Diagnostic::new(Code::G0313, expr.span, "`in` takes a single name")
                            .label("several names are quantified")
                            .note("write one `forall` for each name: `forall x in e: forall y in f: …`"),
                    );
                    return None;
                }
                let mut taken = self.unquantified(&inner, body, bound + names.len())?;
                if !taken.names.is_empty() && taken.universal != universal {
                    self.report(
                        Diagnostic::new(
                            Code::G0313,
                            expr.span,
                            "`forall` and `exists` cannot be mixed",
                        )
                        .label("nested in a quantifier of the other kind"),
                    );
                    return None;
                }
                taken.universal = universal;
                taken.names.splice(0..0, names.iter().cloned());
                taken.range.splice(0..0, names.iter().map(|_| range));
                Some(taken)
            }
            ExprKind::Call { callee, args } if scope_free(scope, callee) => {
                let item_ref = self.item_of(scope, callee);
                let Some(item_ref) = item_ref else {
                    return self.plain(scope, expr);
                };
                let ast::ItemKind::Template(def) = &self.names.item(item_ref).kind else {
                    return self.plain(scope, expr);
                };
                self.used.insert(item_ref);
                let home = Scope::module(item_ref.module);
                let inner = self.bind(scope, &home, &def.name, &def.params, args, *expr.span)?;
                if !self.enter(item_ref, *expr.span) {
                    return None;
                }
                let taken = self.unquantified(&inner, &def.formula, bound);
                self.leave();
                taken
            }
            _ => self.plain(scope, expr),
        }
    }

    fn plain(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr) -> Option<Unquantified> {
        if is_branching(expr) {
            self.about_what(*expr.span);
            return None;
        }
        let formula = self.formula(scope, expr);
        Some(Unquantified {
            universal: true,
            names: Vec::new(),
            range: Vec::new(),
            formula,
        })
    }

    /// Binds a quantified name.
    pub(super) fn quantified_name(
        &mut self,
        scope: &Scope<'a>,
        name: &ast::Name,
        idx: usize,
        ty: Type,
    ) -> Scope<'a> {
        let variable = self.add(Expr::Var(idx), ty, *name.span);
        scope.with_name(name, Binding::Value(variable))
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of a property, all known here"
    )]
    fn push(
        &mut self,
        item: &'a ast::Item,
        name: &ast::Name,
        kind: PropertyKind,
        attributes: Attributes,
        quantified: Option<Quantified>,
        formula: FormulaId,
        formula_span: Span,
        requirement: Option<(SmolStr, Span)>,
        message: Option<crate::hir::Text>,
    ) {
        let doc: Vec<&str> = item.docs.iter().map(|doc| doc.text.as_str()).collect();
        let (requirement, requirement_span) = requirement.unzip();
        let trigger = self.trigger(formula).map(|expr| Trigger {
            expr,
            span: formula_span,
        });
        self.spec.properties.push(Property {
            name: name.text.clone(),
            id: attributes.id,
            kind,
            quantified,
            formula,
            trigger,
            severity: attributes.severity,
            catastrophic: attributes.catastrophic,
            message,
            doc: SmolStr::new(doc.join("\n")),
            requirement,
            requirement_span,
            cites: attributes.cites,
            owner: attributes.owner,
            span: *item.span,
            formula_span,
        });
    }

    /// Checks a template on its own: its parameters have no values, but its types and names are checked.
    pub(super) fn template_alone(
        &mut self,
        scope: &Scope<'a>,
        item_ref: ItemRef,
        def: &'a ast::Template,
    ) {
        let mut inner = scope.clone();
        for param in &def.params {
            let binding = match param.ty.as_ref().map(|ty| &ty.kind) {
                Some(TypeKind::Pred(types)) if !types.is_empty() => {
                    Binding::AnyPredicate(types.len())
                }
                Some(TypeKind::Pred(_)) => self.placeholder(&param.name, Type::Bool),
                Some(_) => {
                    let ty = param
                        .ty
                        .as_ref()
                        .map_or(Type::Json, |ty| self.ty(scope, ty));
                    if let Some(default) = &param.default {
                        self.value_as(scope, default, &ty);
                    }
                    self.placeholder(&param.name, ty)
                }
                None => {
                    self.error(
                        Code::G0301,
                        param.name.span,
                        format!("parameter `{}` has no type", param.name),
                    );
                    self.placeholder(&param.name, Type::Error)
                }
            };
            inner = inner.with_name(&param.name, binding);
        }
        if !self.enter(item_ref, *def.name.span) {
            return;
        }
        self.generic = true;
        if speaks_of_paths(&def.formula) {
            self.at(Place::Any, |checker| checker.formula(&inner, &def.formula));
        } else if self.is_temporal(&inner, &def.formula) {
            self.unquantified(&inner, &def.formula, 0);
            self.ranges.clear();
        } else {
            let typed = self.value(&inner, &def.formula, Some(&Type::Bool));
            if typed.ty != Type::Error {
                self.report(
                    Diagnostic::new(
                        Code::G0311,
                        def.formula.span,
                        "a template needs a temporal operator",
                    )
                    .label("no temporal operator")
                    .note("for a condition on one step, declare a `predicate`"),
                );
            }
        }
        self.generic = false;
        self.leave();
    }

    /// Returns a parameter without a value.
    pub(super) fn placeholder(&mut self, name: &ast::Name, ty: Type) -> Binding<'a> {
        let local = self.local(&name.text);
        let typed: Typed = self.add(Expr::Local(local), ty, Span::default());
        Binding::Value(typed)
    }
}

/// Whether an expression is an operator of branching time or of probability.
pub(super) fn is_branching(expr: &ast::Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Ctl { .. }
            | ExprKind::Path { .. }
            | ExprKind::Probability { .. }
            | ExprKind::SteadyState { .. }
            | ExprKind::Reward { .. }
    )
}

/// Whether an expression contains an operator of branching time or of probability.
fn speaks_of_paths(expr: &ast::Expr) -> bool {
    let mut found = false;
    walk(expr, &mut |expr| found |= is_branching(expr));
    found
}

fn scope_free(scope: &Scope<'_>, callee: &ast::Expr) -> bool {
    match &callee.kind {
        ExprKind::Name(name) => scope.get(&name.text).is_none(),
        _ => true,
    }
}

/// Returns a quantified variable before its terms are known.
pub(super) fn variable(name: SmolStr, range: Option<ExprId>) -> QuantifiedVar {
    QuantifiedVar {
        name,
        terms: Vec::new(),
        element_terms: Vec::new(),
        constants: Vec::new(),
        range,
    }
}
