//! Reactions to a live run: the core form of `enforce`.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::{Compare, Text};
use crate::ids::{ClaimId, ExprId, PropertyId};
use crate::source::Span;
use crate::value::Number;

/// One `enforce` clause.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Enforce {
    /// The property or claim that the clause watches.
    pub watched: Watched,
    /// The arms: statuses or thresholds with their actions.
    pub arms: Vec<Arm>,
    /// `on error allow`: what cannot be evaluated is let through.
    pub on_error_allow: bool,
    /// The whole clause.
    pub span: Span,
}

/// The property or claim that a clause watches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Watched {
    /// The verdict on a property. Messages may name its quantified variables ([`Expr::Var`](super::Expr::Var)): they
    /// have the values of the instance that the arm is about.
    Property(PropertyId),
    /// `when e`: a condition on the step and its past.
    When {
        /// The condition.
        condition: ExprId,
        /// Its text.
        text: SmolStr,
    },
    /// `on q`: what is said of a learned model, in the state that the run is in. Messages may name the value, the state
    /// and why it is so ([`Expr::Var`](super::Expr::Var) in the order of [`Reading`]).
    Query(ClaimId),
}

/// The values that messages of a clause on a query may name, by number of the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reading {
    /// `{q}`, by the name of the query: its value in the state.
    Value,
    /// `{state}`: the state.
    State,
    /// `{why}`: through which states the value comes about.
    Why,
}

impl Reading {
    /// All, in order of their numbers.
    pub const ALL: [Reading; 3] = [Reading::Value, Reading::State, Reading::Why];
}

/// `TRIGGER => ACTION`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Arm {
    /// When.
    pub trigger: ArmTrigger,
    /// The action.
    pub action: Action,
    /// The whole arm.
    pub span: Span,
}

/// The status or threshold that triggers an arm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArmTrigger {
    /// The condition of `enforce when` holds.
    Holds,
    /// The property is violated. Of `G φ`: φ is violated here; it is watched on from the next step with its past. Of what
    /// is said of a model: it does not hold in the state.
    Violated,
    /// The property is satisfied, whatever follows. Of what is said of a model: it holds in the state.
    Satisfied,
    /// An obligation is pending for at least so many steps in a row (at least one).
    PresumablyViolated(u32),
    /// The value of a query compares so; never [`Compare::Eq`].
    Reaches(Compare, Number),
    /// No trace that the model was learned from has been in the state.
    Unseen,
}

/// The action of an arm.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Action {
    /// The kind of action.
    pub kind: ActionKind,
    /// The message.
    pub message: Option<Text>,
    /// `invoke name(args)`: what is invoked, and with what.
    pub invoke: Option<Invoke>,
}

/// `name(a, b: c)`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Invoke {
    /// A name that means something to who runs the agent.
    pub name: SmolStr,
    /// Arguments with the names that some have.
    pub args: Vec<(Option<SmolStr>, ExprId)>,
}

/// The actions, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    /// It is noted.
    Log,
    /// Reports a warning.
    Warn,
    /// Returns the message to the agent, which may reconsider.
    Reflect,
    /// A person decides.
    Ask,
    /// Something of the host is called.
    Invoke,
    /// The action is denied.
    Block,
    /// The run ends.
    Stop,
}

impl ActionKind {
    /// Returns the word of the language and of decisions.
    pub fn as_str(self) -> &'static str {
        match self {
            ActionKind::Log => "log",
            ActionKind::Warn => "warn",
            ActionKind::Reflect => "reflect",
            ActionKind::Ask => "ask",
            ActionKind::Invoke => "invoke",
            ActionKind::Block => "block",
            ActionKind::Stop => "stop",
        }
    }

    /// Whether it acts at every step while its arm lasts; the others act when their arm is entered.
    pub fn lasts(self) -> bool {
        matches!(self, ActionKind::Ask | ActionKind::Block | ActionKind::Stop)
    }
}
