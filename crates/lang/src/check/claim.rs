//! Claims about models and systems: properties, queries and requirements with `on`, their subjects and logics.

use smol_str::SmolStr;

use super::Checker;
use super::branching::Place;
use super::names::Space;
use super::property::ATTRIBUTES;
use super::scope::Scope;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::hir::{Branching, Claim, ClaimFormula, ClaimKind, Expr, Formula, Logic, Subject, Unary};
use crate::ids::FormulaId;
use crate::source::Span;
use crate::syntax::ast;
use crate::types::Type;

/// The model or system of a claim, as named in the text.
pub(super) struct On<'a> {
    pub(super) subject: Subject,
    pub(super) place: Place,
    /// The scope with its variables and labels.
    pub(super) scope: Scope<'a>,
}

/// The parts of a claim in its declaration.
pub(super) struct Written<'a> {
    pub(super) kind: ClaimKind,
    pub(super) name: &'a ast::Name,
    pub(super) logic: Option<(ast::Logic, Span)>,
    pub(super) formula: &'a ast::Expr,
    pub(super) on: &'a ast::Name,
    pub(super) message: Option<&'a ast::Message>,
    pub(super) requirement: Option<SmolStr>,
}

impl<'a> Checker<'a> {
    /// Elaborates an item if it is a claim about a model or system.
    pub(super) fn claim_item(&mut self, scope: &Scope<'a>, item: &'a ast::Item) {
        let written = match &item.kind {
            ast::ItemKind::Property(def) => def.on.as_ref().map(|on| Written {
                kind: ClaimKind::Property,
                name: &def.name,
                logic: def.logic.map(|(logic, span)| (logic, *span)),
                formula: &def.formula,
                on,
                message: def.message.as_ref(),
                requirement: None,
            }),
            ast::ItemKind::Requirement(def) => def.on.as_ref().map(|on| Written {
                kind: ClaimKind::Requirement,
                name: &def.name,
                logic: None,
                formula: &def.formal,
                on,
                message: None,
                requirement: Some(def.text.value.clone()),
            }),
            ast::ItemKind::Query(def) => match &def.on {
                Some(on) => Some(Written {
                    kind: ClaimKind::Query,
                    name: &def.name,
                    logic: None,
                    formula: &def.formula,
                    on,
                    message: None,
                    requirement: None,
                }),
                None => {
                    self.about_what(*def.formula.span);
                    None
                }
            },
            _ => None,
        };
        if let Some(written) = written {
            self.claim(scope, item, written);
        }
    }

    fn claim(&mut self, scope: &Scope<'a>, item: &'a ast::Item, written: Written<'a>) {
        let attributes = self.attributes(item, ATTRIBUTES);
        let Some(on) = self.subject(scope, written.on) else {
            return;
        };
        let errors = self.errors();
        let Some(formula) = self.at(on.place, |checker| checker.claim_formula(&on, &written))
        else {
            return;
        };
        let logic = self.logic_of(formula);
        self.asserted(&written, logic);
        if self.errors() == errors {
            match on.subject {
                Subject::Model(model) => self.decided_by(model, formula, *written.formula.span),
                Subject::System(_) => self.of_states(formula, *written.formula.span),
            }
        }
        let message = written.message.and_then(|message| self.plain_text(message));
        let doc: Vec<&str> = item.docs.iter().map(|doc| doc.text.as_str()).collect();
        let claim = Claim {
            name: written.name.text.clone(),
            id: attributes.id,
            kind: written.kind,
            on: on.subject,
            logic,
            formula,
            severity: attributes.severity,
            catastrophic: attributes.catastrophic,
            message,
            doc: SmolStr::new(doc.join("\n")),
            requirement: written.requirement,
            cites: attributes.cites,
            owner: attributes.owner,
            text: self.snippet(*written.formula.span),
            span: *item.span,
            formula_span: *written.formula.span,
        };
        self.spec.claims.push(claim);
    }

    /// Returns the model or system that `on` names.
    fn subject(&mut self, scope: &Scope<'a>, name: &'a ast::Name) -> Option<On<'a>> {
        let Some(item_ref) = self.find(scope.module, Space::Model, name) else {
            let mut diagnostic = Diagnostic::new(
                Code::G0201,
                name.span,
                format!("unknown model or system `{name}`"),
            )
            .label("not declared");
            if let Some(near) = did_you_mean(&name.text, self.names.all(scope.module, Space::Model))
            {
                diagnostic = diagnostic.fix(format!("write `{near}`"), name.span, near);
            }
            self.report(diagnostic);
            return None;
        };
        match &self.names.item(item_ref).kind {
            ast::ItemKind::Model(_) => {
                let model = self.model(item_ref)?;
                let (place, scope) = self.model_place(scope, model);
                Some(On {
                    subject: Subject::Model(model),
                    place,
                    scope,
                })
            }
            ast::ItemKind::Abstraction(_) => {
                self.report(
                    Diagnostic::new(
                        Code::G0209,
                        name.span,
                        format!("`{name}` is an abstraction, not a model"),
                    )
                    .label("an abstraction has no probabilities")
                    .note(format!(
                        "declare a model over it: `model run = learn {name} {{ }}`"
                    )),
                );
                None
            }
            ast::ItemKind::System(_) | ast::ItemKind::Component(_) | ast::ItemKind::Compose(_) => {
                let system = self.system_named(scope, name)?;
                let scope = self.system_scope(system, item_ref.module);
                Some(On {
                    subject: Subject::System(system),
                    place: Place::System,
                    scope,
                })
            }
            // The error is reported at the declaration.
            _ => None,
        }
    }

    fn claim_formula(&mut self, on: &On<'a>, written: &Written<'a>) -> Option<ClaimFormula> {
        let expr = written.formula;
        let span = *expr.span;
        if !self.is_temporal(&on.scope, expr) {
            let typed = self.value(&on.scope, expr, None);
            if typed.ty == Type::Error {
                return None;
            }
            let number = matches!(self.spec.exprs.get(typed.id), Expr::Branching(_))
                && typed.ty == Type::Float;
            if number && written.kind != ClaimKind::Query {
                self.report(
                    Diagnostic::new(Code::G0332, span, "expected a condition, found a number")
                        .label("`=?` returns a number")
                        .note("compare it, as in `P<=0.05 [ … ]`, or declare a `query`"),
                );
                return None;
            }
            if !number {
                self.require_boolean(&typed, span);
                if typed.ty != Type::Bool {
                    return None;
                }
            }
            return Some(ClaimFormula::State(typed.id));
        }
        let formula = self.formula(&on.scope, expr);
        if self.is_timeless(formula) {
            // The formula comes from a template: `T(a)` may expand to `P<=0.1 [ F a ]`.
            return Some(ClaimFormula::State(self.state_expr(formula)));
        }
        if written.kind == ClaimKind::Query || on.place != Place::System {
            let text = self.snippet(span);
            let operator = if written.kind == ClaimKind::Query {
                "P=?"
            } else {
                "P>=1"
            };
            self.report(
                Diagnostic::new(
                    Code::G0332,
                    span,
                    "path formula used where a state formula is required",
                )
                .label("missing path quantifier or probability operator")
                .fix(
                    "compute its probability",
                    span,
                    format!("{operator} [ {text} ]"),
                ),
            );
            return None;
        }
        Some(ClaimFormula::Path(formula))
    }

    /// Returns the logic of a formula.
    fn logic_of(&self, formula: ClaimFormula) -> Logic {
        let spec = &self.spec;
        let roots = formula.states(&spec.formulas);
        let mut logic = match formula {
            ClaimFormula::Path(_) => Logic::Ltl,
            ClaimFormula::State(_) => Logic::Ctl,
        };
        for id in crate::hir::branching::below(&spec.exprs, &spec.formulas, &spec.branchings, roots)
        {
            let Expr::Branching(branching) = spec.exprs.get(id) else {
                continue;
            };
            logic = match (spec.branchings.get(*branching), logic) {
                (Branching::Path { .. }, Logic::Pctl) => Logic::Pctl,
                (Branching::Path { path, .. }, Logic::Ctl) if self.is_one_step(*path) => Logic::Ctl,
                (Branching::Path { .. }, _) => Logic::CtlStar,
                _ => return Logic::Pctl,
            };
        }
        logic
    }

    /// Whether a path formula is one future operator without bounds over state formulas, as in CTL.
    fn is_one_step(&self, path: FormulaId) -> bool {
        let formulas = &self.spec.formulas;
        match formulas.get(path) {
            Formula::Unary(Unary::Next | Unary::Eventually | Unary::Always, None, _) => {}
            Formula::Binary(op, None, ..) if !op.info().is_past => {}
            _ => return false,
        }
        formulas
            .operands(path)
            .into_iter()
            .all(|operand| self.is_timeless(operand))
    }

    /// Compares the declared logic with the actual one.
    fn asserted(&mut self, written: &Written<'a>, logic: Logic) {
        let Some((asserted, span)) = written.logic else {
            return;
        };
        let fits = matches!(
            (asserted, logic),
            (ast::Logic::Ltl, Logic::Ltl)
                | (ast::Logic::Ctl, Logic::Ctl)
                | (ast::Logic::Pctl, Logic::Pctl)
        );
        if !fits {
            self.wrong_logic(span, logic);
        }
    }

    /// Reports that a formula is in another logic than declared.
    pub(super) fn wrong_logic(&mut self, span: Span, logic: Logic) {
        let mut diagnostic = Diagnostic::new(
            Code::G0331,
            span,
            format!("this formula is in {}", logic.as_str().to_uppercase()),
        )
        .label("the declaration asserts a different logic");
        diagnostic = match logic {
            Logic::CtlStar => diagnostic
                .note("in CTL, each `A` and `E` is followed by exactly one temporal operator"),
            _ => diagnostic.fix("say so", span, logic.as_str()),
        };
        self.report(diagnostic);
    }

    /// Returns the text of a message that is used without an event.
    fn plain_text(&mut self, message: &'a ast::Message) -> Option<SmolStr> {
        let mut text = String::new();
        for part in &message.parts {
            match part {
                ast::MessagePart::Text(part) => text.push_str(part),
                ast::MessagePart::Value { span, .. } => {
                    self.report(
                        Diagnostic::new(
                            Code::G0339,
                            *span,
                            "a message about a model cannot contain values of an event",
                        )
                        .label("use plain text: the property is about all runs of the model"),
                    );
                    return None;
                }
            }
        }
        Some(SmolStr::new(text))
    }
}
