//! Formulas about models and systems: operators of branching time and probability, labels, `violated(r)`; and the
//! claims that are made with them.
//!
//! The same elaboration makes them as makes expressions and formulas of events ([`Checker::value`],
//! [`Checker::formula`]); [`Place`] says what else may stand there and what names mean.

use smol_str::SmolStr;

use super::names::Space;
use super::property::ATTRIBUTES;
use super::scope::{Binding, Scope};
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::hir::{
    Ask, Branching, Claim, ClaimFormula, ClaimKind, Compare, Expr, Formula, Logic, RewardKind,
    Subject, Unary,
};
use crate::ids::{ExprId, FormulaId, ModelId, PropertyId};
use crate::source::Span;
use crate::syntax::ast::{self, CtlOp, ExprKind, PathQuantifier, ProbBound, ThresholdOp};
use crate::types::Type;
use crate::value::{Number, Value};

/// What expressions speak of at the place that is being elaborated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The events of a trace.
    Events,
    /// The states of an abstraction or system, in a clause of its declaration; with `true`, primes stand there.
    Clause(bool),
    /// The states of a model with an abstraction.
    Model(ModelId),
    /// The states of an imported chain, whose labels and variables are known only when it is read.
    Imported,
    /// The states of a system.
    System,
    /// Whatever a template is used for.
    Any,
}

impl Place {
    /// Whether `A`, `E`, `P`, `R` and `S` stand here.
    fn branches(self) -> bool {
        !matches!(self, Place::Events | Place::Clause(_))
    }

    /// Whether formulas here are about states rather than events.
    pub(super) fn is_states(self) -> bool {
        self != Place::Events
    }
}

/// What a claim is about, as the text names it.
pub(super) struct On<'a> {
    pub(super) subject: Subject,
    pub(super) place: Place,
    /// The names that its variables and labels have.
    pub(super) scope: Scope<'a>,
}

/// The parts of a claim that its declaration gives.
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
    /// Elaborates with names and operators as they are at a place.
    pub(super) fn at<T>(&mut self, place: Place, body: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.place, place);
        let made = body(self);
        self.place = before;
        made
    }

    /// An item that is said of a model or system, if this is one.
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

    /// Reports a formula of branching time or probability that does not say what it is about.
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
            "this is about the paths of a model or system, and none is named",
        )
        .label("a trace has one path, and no probabilities");
        diagnostic = match subjects.as_slice() {
            [] => diagnostic
                .note("declare one, `model run = learn { }`, and end the formula with `on run`"),
            [one] => {
                let text = self.snippet(span);
                diagnostic.fix(format!("say `on {one}`"), span, format!("{text} on {one}"))
            }
            several => diagnostic.note(format!(
                "end the formula with `on` and one of {}",
                list(several)
            )),
        };
        self.report(diagnostic);
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

    /// What `on` names.
    fn subject(&mut self, scope: &Scope<'a>, name: &'a ast::Name) -> Option<On<'a>> {
        let Some(item_ref) = self.find(scope.module, Space::Model, name) else {
            let mut diagnostic = Diagnostic::new(
                Code::G0201,
                name.span,
                format!("there is no model or system `{name}`"),
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
                    .label("has states, but no probabilities")
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
            // Reported where it is declared.
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
                    Diagnostic::new(
                        Code::G0332,
                        span,
                        "this is a number, and holds or fails nowhere",
                    )
                    .label("`=?` asks for a number")
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
            // A template made it: `T(a)` may stand for `P<=0.1 [ F a ]`.
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
                    "this holds on some paths and not on others",
                )
                .label("a path formula; which paths, or how many of them, is not said")
                .fix(
                    "ask for its probability",
                    span,
                    format!("{operator} [ {text} ]"),
                ),
            );
            return None;
        }
        Some(ClaimFormula::Path(formula))
    }

    /// Tells the logics apart.
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
            Formula::Binary(op, None, ..)
                if !matches!(op, crate::hir::Binary::Since | crate::hir::Binary::BackTo) => {}
            _ => return false,
        }
        formulas
            .operands(path)
            .into_iter()
            .all(|operand| self.is_timeless(operand))
    }

    /// Compares the logic that the author asserts with the one it is in.
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

    /// Reports that a formula is in another logic than its author says.
    pub(super) fn wrong_logic(&mut self, span: Span, logic: Logic) {
        let mut diagnostic = Diagnostic::new(
            Code::G0331,
            span,
            format!("this formula is in {}", logic.as_str().to_uppercase()),
        )
        .label("another logic is asserted here");
        diagnostic = match logic {
            Logic::CtlStar => {
                diagnostic.note("in CTL, `A` and `E` are each followed by one temporal operator")
            }
            _ => diagnostic.fix("say so", span, logic.as_str()),
        };
        self.report(diagnostic);
    }

    /// Text of a message that stands where no event is at hand.
    fn plain_text(&mut self, message: &'a ast::Message) -> Option<SmolStr> {
        let mut text = String::new();
        for part in &message.parts {
            match part {
                ast::MessagePart::Text(part) => text.push_str(part),
                ast::MessagePart::Value { span, .. } => {
                    self.report(
                        Diagnostic::new(Code::G0339, *span, "there is no event to take this from")
                            .label("the message of what is said of a model is text only"),
                    );
                    return None;
                }
            }
        }
        Some(SmolStr::new(text))
    }

    /// `A`, `E`, `P`, `S`, `R`, as a value: a Boolean, or a float for `=?`.
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
                "this holds of a path, and a condition on a state is asked for",
            )
            .label("on which paths is not said")
            .fix("say that it holds on all paths", span, format!("A[{text}]")),
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

    /// `=?`, or a threshold; of a probability, between 0 and 1.
    fn ask(&mut self, scope: &Scope<'a>, bound: &'a ProbBound, probability: bool) -> Option<Ask> {
        let (op, threshold) = match bound {
            ProbBound::Query => return Some(Ask::Value),
            ProbBound::Compare { op, threshold } => (*op, threshold.as_ref()),
        };
        let number = self.number_between(scope, threshold, probability.then_some((0.0, 1.0)))?;
        Some(Ask::Compare(compare(op), number))
    }

    /// A constant number, between bounds where there are some.
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
            // A template that is checked on its own: its parameter has no value yet.
            return Number::float(0.0);
        }
        let Expr::Const(Value::Number(number)) = self.spec.exprs.get(typed.id) else {
            self.report(
                Diagnostic::new(Code::G0333, span, "a number is asked for here")
                    .label("no constant number")
                    .note("write a number, a percentage, or the name of a constant or parameter"),
            );
            return None;
        };
        let number = number.clone();
        if let Some((low, high)) = between {
            let value = number.to_f64();
            if !(low..=high).contains(&value) {
                self.report(
                    Diagnostic::new(
                        Code::G0333,
                        span,
                        format!("a number from {low} to {high} is asked for"),
                    )
                    .label(format!("this is {number}")),
                );
                return None;
            }
        }
        Some(number)
    }

    /// A condition that only states have: a quoted label, or a name of an imported chain.
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

    /// Whether a name is for the imported chain to know: all but what is bound and constants.
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

    /// `"error"`: a label of the model or system, or the name of a condition in quotes.
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
        let mut diagnostic =
            Diagnostic::new(Code::G0201, span, format!("there is no label `{name}`"))
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

    /// `violated(r)`
    pub(super) fn violated(
        &mut self,
        scope: &Scope<'a>,
        args: &'a [ast::Arg],
        span: Span,
    ) -> Typed {
        if !self.place.is_states() {
            self.report(
                Diagnostic::new(Code::G0332, span, "`violated(…)` is a condition on states")
                    .label("there is a trace here, not a model")
                    .note("it stands in abstractions and in what is said `on` a model"),
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
                .label("not one name"),
            );
            return self.wrong();
        };
        match self.monitored(scope, value) {
            Some(property) => self.add(Expr::Violated(property), Type::Bool, span),
            None => self.wrong(),
        }
    }

    /// The rule or property that a name means, one that a chain can follow: without quantified names.
    pub(super) fn monitored(
        &mut self,
        scope: &Scope<'a>,
        expr: &'a ast::Expr,
    ) -> Option<PropertyId> {
        let span = *expr.span;
        let ExprKind::Name(name) = &expr.kind else {
            self.report(
                Diagnostic::new(
                    Code::G0209,
                    span,
                    "the name of a rule or property is asked for",
                )
                .label("no name"),
            );
            return None;
        };
        let declared = self.find(scope.module, Space::Property, name);
        let Some(property) = self.spec.find_property(&name.text) else {
            if declared.is_some_and(|item| item.module == 0 && self.errors() > 0) {
                // Declared, and wrong: reported there.
                return None;
            }
            let mut diagnostic = Diagnostic::new(
                Code::G0201,
                span,
                format!("there is no rule or property `{name}` about traces"),
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
                ("it has one monitor for every value", found.span)
            } else {
                ("it counts time, and a chain counts steps", found.span)
            };
            self.report(
                Diagnostic::new(
                    Code::G0335,
                    span,
                    format!("the monitor of `{name}` has no finite state"),
                )
                .label(reason)
                .also(declared, "declared here"),
            );
            return None;
        }
        Some(property)
    }
}

/// Names in a row: `a`, `b` and `c`.
pub(super) fn list(names: &[SmolStr]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// A comparison with a threshold.
pub(super) fn compare(op: ThresholdOp) -> Compare {
    match op {
        ThresholdOp::Lt => Compare::Lt,
        ThresholdOp::Le => Compare::Le,
        ThresholdOp::Gt => Compare::Gt,
        ThresholdOp::Ge => Compare::Ge,
    }
}
