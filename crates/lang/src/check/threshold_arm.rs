//! `enforce on` claims about models: the claims that have a value in every state of a run, and their allowed arms.

use smol_str::SmolStr;

use super::Checker;
use super::branching::compare;
use super::names::Space;
use super::scope::{Binding, Scope};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::hir::{
    Action, ActionKind, Arm, ArmTrigger, Ask, Branching, ClaimFormula, Expr, ModelSource, Reading,
    Subject,
};
use crate::ids::ClaimId;
use crate::source::Span;
use crate::syntax::ast::{self, OutcomeKind};
use crate::types::Type;

/// The kind of clause, which determines the arms that it may have.
pub(super) enum About {
    /// A property of traces.
    Property,
    /// A claim about the states of a model.
    Claim {
        /// Whether the claim has a number in each state.
        number: bool,
        /// Whether that number is between 0 and 1.
        share: bool,
        /// Whether the claim is true or false in each state.
        truth: bool,
    },
}

/// Returns the default arm for a state without training data.
pub(super) fn unseen(span: Span) -> Arm {
    Arm {
        trigger: ArmTrigger::Unseen,
        action: Action {
            kind: ActionKind::Warn,
            message: None,
            invoke: None,
        },
        span,
    }
}

impl<'a> Checker<'a> {
    /// Returns the claim of a clause. Returns `None`, with a report, if there is no such claim.
    pub(super) fn enforced_claim(&mut self, name: &'a ast::Name) -> Option<ClaimId> {
        let declared = self.declared_property(name);
        let claims = &self.spec.claims;
        if let Some(found) = claims.iter().position(|claim| claim.name == name.text) {
            let wrong = match claims[found].on {
                Subject::System(_) => Some((
                    "is about a system, but a run is not in a state of the system",
                    "enforce a query on a learned model instead",
                )),
                Subject::Model(model) => match self.spec.model(model).source {
                    ModelSource::Import(_) => Some((
                        "is about an imported chain, whose states are not those of a run",
                        "learn a model over an abstraction, so that every step has a state",
                    )),
                    ModelSource::Learn(_) | ModelSource::Load(..) => None,
                },
            };
            let Some((why, note)) = wrong else {
                return Some(ClaimId::new(found));
            };
            self.report(
                Diagnostic::new(Code::G0370, name.span, format!("`{name}` {why}"))
                    .label("it has no value at a step of a run")
                    .note(note),
            );
            return None;
        }
        let properties = &self.spec.properties;
        if properties.iter().any(|property| property.name == name.text) {
            self.report(
                Diagnostic::new(
                    Code::G0370,
                    name.span,
                    format!("expected a query, found the property `{name}`"),
                )
                .label("a property has a verdict, not a value")
                .note(format!(
                    "to enforce its verdict, use `enforce {name} {{ … }}`"
                )),
            );
            return None;
        }
        if let Some(item) = declared {
            // A claim of this file has an error, which is reported at its declaration.
            self.rejects_of_module(name, item);
            return None;
        }
        let mut diagnostic =
            Diagnostic::new(Code::G0370, name.span, format!("unknown query `{name}`"))
                .label("not declared");
        let all = claims.iter().map(|claim| claim.name.as_str());
        if let Some(near) = did_you_mean(&name.text, all) {
            diagnostic = diagnostic.fix(format!("write `{near}`"), name.span, near);
        }
        self.report(diagnostic);
        None
    }

    /// Returns the kind of result that a claim has in a state: a number, a truth value, or both.
    pub(super) fn about(&self, claim: ClaimId) -> About {
        let ClaimFormula::State(state) = self.spec.claims[claim.index()].formula else {
            return About::Property;
        };
        let ask = match self.spec.exprs.get(state) {
            Expr::Branching(branching) => match self.spec.branchings.get(*branching) {
                Branching::Probability { ask, .. } => Some((ask, true)),
                Branching::Steady { ask, .. } => Some((ask, true)),
                Branching::Reward { ask, .. } => Some((ask, false)),
                Branching::Path { .. } => None,
            },
            _ => None,
        };
        About::Claim {
            number: ask.is_some(),
            share: ask.is_some_and(|(_, share)| share),
            truth: !matches!(ask, Some((Ask::Value, _))),
        }
    }

    /// Returns the names that messages of a clause on a query may use: that of the query, `state`, `why`.
    pub(super) fn reading_scope(
        &mut self,
        scope: &Scope<'a>,
        claim: ClaimId,
        span: Span,
    ) -> Scope<'a> {
        let query = self.spec.claims[claim.index()].name.clone();
        let item = self.names.get(0, Space::Property, &query);
        let declared = item.and_then(|item| self.names.item(item).kind.name());
        let declared = declared.map(|name| *name.span);
        let mut inner = scope.clone();
        for (idx, reading) in Reading::ALL.into_iter().enumerate() {
            let (name, ty) = match reading {
                Reading::Value => (query.clone(), Type::Float),
                Reading::State => (SmolStr::new_static("state"), Type::String),
                Reading::Why => (SmolStr::new_static("why"), Type::String),
            };
            let variable = self.add(Expr::Var(idx), ty, span);
            let declared = matches!(reading, Reading::Value)
                .then_some(declared)
                .flatten();
            inner = inner.declared(&name, Binding::Value(variable), declared);
        }
        inner
    }

    /// Returns the trigger of an arm on a query.
    pub(super) fn reading_trigger(
        &mut self,
        scope: &Scope<'a>,
        trigger: &'a ast::ArmTrigger,
        span: Span,
        about: &About,
    ) -> Option<ArmTrigger> {
        let About::Claim {
            number,
            share,
            truth,
        } = about
        else {
            return None;
        };
        match trigger {
            ast::ArmTrigger::Unseen => Some(ArmTrigger::Unseen),
            ast::ArmTrigger::Threshold(threshold) if *number => {
                let range = share.then_some((0.0, 1.0));
                let value = self.number_between(scope, &threshold.value, range)?;
                Some(ArmTrigger::Reaches(compare(threshold.op), value))
            }
            ast::ArmTrigger::Threshold(threshold) => {
                self.report(
                    Diagnostic::new(
                        Code::G0371,
                        threshold.span,
                        "this query is a condition on states and has no number",
                    )
                    .label("arms of this query: `violated`, `satisfied`, `unseen`"),
                );
                None
            }
            ast::ArmTrigger::Outcome(outcome) => match (outcome.kind, &outcome.steps) {
                (OutcomeKind::Violated, None) if *truth => Some(ArmTrigger::Violated),
                (OutcomeKind::Satisfied, None) if *truth => Some(ArmTrigger::Satisfied),
                _ => {
                    let label = match (number, truth) {
                        (true, true) => {
                            "arms of this query: thresholds such as `>= 0.4`, `violated`, `satisfied`, `unseen`"
                        }
                        (true, false) => {
                            "arms of this query: thresholds such as `>= 0.4`, `unseen`"
                        }
                        (false, _) => "arms of this query: `violated`, `satisfied`, `unseen`",
                    };
                    self.report(
                        Diagnostic::new(
                            Code::G0371,
                            span,
                            "this arm is about verdicts on runs, but the clause is about states",
                        )
                        .label(label),
                    );
                    None
                }
            },
        }
    }
}
