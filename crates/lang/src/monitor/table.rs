//! The decision table: the actions of each clause and their triggers, compiled once from the `enforce` clauses.

use std::sync::Arc;

use serde::Serialize;
use smol_str::{SmolStr, format_smolstr};

use crate::hir::{
    ActionKind, ArmTrigger, Ask, Branching, Claim, ClaimFormula, Compare, Expr, Spec, Watched,
};
use crate::ids::PropertyId;
use crate::types::EnumType;
use crate::value::Number;

/// The clauses of a spec, in order.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    /// The clauses.
    pub clauses: Vec<Clause>,
}

/// One clause.
#[derive(Clone, Debug, Serialize)]
pub struct Clause {
    /// The property, query or condition.
    pub name: SmolStr,
    /// The property, if the clause is about one.
    #[serde(skip)]
    pub property: Option<PropertyId>,
    /// The comparison of a claim about a model, if it compares a number: the claim holds if the comparison holds.
    #[serde(skip)]
    pub bound: Option<(Compare, Number)>,
    /// The enums of the spec.
    #[serde(skip)]
    pub enums: Arc<[Arc<EnumType>]>,
    /// The arms of the clause.
    pub arms: Vec<Row>,
    /// Whether an event for which the clause cannot be evaluated is allowed.
    pub on_error_allow: bool,
}

/// One arm.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The trigger as text in the language.
    pub when: SmolStr,
    /// The trigger.
    #[serde(skip)]
    pub trigger: ArmTrigger,
    /// The action.
    pub action: ActionKind,
    /// For `invoke`: the name of the handler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invoke: Option<SmolStr>,
}

/// An arm of a clause on a query that no state of the model reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// The number of the clause in the spec.
    pub clause: usize,
    /// The number of the arm in the clause.
    pub arm: usize,
    /// Whether a state that is not in the model may reach it.
    pub elsewhere: bool,
    /// The reason why no state of the model reaches it.
    pub why: String,
}

impl Table {
    /// Returns the table of a spec.
    pub fn new(spec: &Spec) -> Table {
        let enums: Arc<[Arc<EnumType>]> = spec.enums.clone().into();
        let clause = |clause: &crate::hir::Enforce| {
            let (name, property, bound) = match &clause.watched {
                Watched::Property(property) => {
                    (spec.property(*property).name.clone(), Some(*property), None)
                }
                Watched::When { text, .. } => (text.clone(), None, None),
                Watched::Query(claim) => {
                    let claim = spec.claim(*claim);
                    (claim.name.clone(), None, bound(spec, claim))
                }
            };
            let row = |arm: &crate::hir::Arm| Row {
                when: match &arm.trigger {
                    ArmTrigger::Holds => SmolStr::new_static("holds"),
                    ArmTrigger::Violated => SmolStr::new_static("violated"),
                    ArmTrigger::Satisfied => SmolStr::new_static("satisfied"),
                    ArmTrigger::PresumablyViolated(1) => SmolStr::new_static("presumably_violated"),
                    ArmTrigger::PresumablyViolated(steps) => {
                        format_smolstr!("presumably_violated for {steps} steps")
                    }
                    ArmTrigger::Unseen => SmolStr::new_static("unseen"),
                    ArmTrigger::Reaches(compare, number) => {
                        format_smolstr!("{} {number}", compare.sign())
                    }
                },
                trigger: arm.trigger.clone(),
                action: arm.action.kind,
                invoke: arm.action.invoke.as_ref().map(|invoke| invoke.name.clone()),
            };
            Clause {
                name,
                property,
                bound,
                enums: Arc::clone(&enums),
                arms: clause.arms.iter().map(row).collect(),
                on_error_allow: clause.on_error_allow,
            }
        };
        Table {
            clauses: spec.enforces.iter().map(clause).collect(),
        }
    }

    /// Whether unreadable events are allowed: only if every clause says so.
    pub(crate) fn on_error_allow(&self) -> bool {
        !self.clauses.is_empty() && self.clauses.iter().all(|clause| clause.on_error_allow)
    }
}

/// Returns the comparison of a claim, if the claim is a comparison.
fn bound(spec: &Spec, claim: &Claim) -> Option<(Compare, Number)> {
    let ClaimFormula::State(state) = claim.formula else {
        return None;
    };
    let Expr::Branching(branching) = spec.exprs.get(state) else {
        return None;
    };
    match spec.branchings.get(*branching) {
        Branching::Path { .. } => None,
        Branching::Probability { ask, .. }
        | Branching::Steady { ask, .. }
        | Branching::Reward { ask, .. } => match ask {
            Ask::Value => None,
            Ask::Compare(compare, number) => Some((*compare, number.clone())),
        },
    }
}
