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
    /// `on error allow`: an event for which the clause cannot be evaluated is allowed.
    pub on_error_allow: bool,
    /// The whole clause.
    pub span: Span,
}

/// The property or claim that a clause watches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Watched {
    /// The verdict on a property. Messages may name its quantified variables ([`Expr::Var`](super::Expr::Var)): they
    /// have the values of the violating instance.
    Property(PropertyId),
    /// `when e`: a condition on the step and its past.
    When {
        /// The condition.
        condition: ExprId,
        /// Its text.
        text: SmolStr,
    },
    /// `on q`: a claim about a learned model, evaluated in the current state of the run. Messages may use the value,
    /// the state and the reason ([`Expr::Var`](super::Expr::Var) in the order of [`Reading`]).
    Query(ClaimId),
}

/// The values that messages of a clause on a query may use, by number of the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reading {
    /// `{q}`, by the name of the query: its value in the state.
    Value,
    /// `{state}`: the state.
    State,
    /// `{why}`: the states from which the value results.
    Why,
}

impl Reading {
    /// All values, in order of their numbers.
    pub const ALL: [Reading; 3] = [Reading::Value, Reading::State, Reading::Why];
}

/// `TRIGGER => ACTION`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Arm {
    /// The trigger.
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
    /// The property is violated. For `G φ`: φ is violated at this step; it is monitored again from the next step on, with its
    /// past. For a claim about a model: it does not hold in the state.
    Violated,
    /// The property is satisfied for every continuation. For a claim about a model: it holds in the state.
    Satisfied,
    /// An obligation is pending for at least this many consecutive steps (at least one).
    PresumablyViolated(u32),
    /// The comparison holds for the value of a query; never [`Compare::Eq`].
    Reaches(Compare, Number),
    /// No training trace of the model has visited the state.
    Unseen,
}

/// The action of an arm.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Action {
    /// The kind of action.
    pub kind: ActionKind,
    /// The message.
    pub message: Option<Text>,
    /// `invoke name(args)`: the name and arguments of the call.
    pub invoke: Option<Invoke>,
}

/// `name(a, b: c)`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Invoke {
    /// A name that the host of the agent defines.
    pub name: SmolStr,
    /// The arguments, with their names if they have one.
    pub args: Vec<(Option<SmolStr>, ExprId)>,
}

/// The actions, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    /// The event is logged.
    Log,
    /// Reports a warning.
    Warn,
    /// Returns the message to the agent, which may reconsider.
    Reflect,
    /// A person decides.
    Ask,
    /// A function of the host is called.
    Invoke,
    /// The action is denied.
    Block,
    /// The run ends.
    Stop,
}

impl ActionKind {
    /// Returns the keyword of the language, which decisions use too.
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

    /// Whether the action is performed at every step while its arm is active; other actions are performed when the arm
    /// becomes active.
    pub fn lasts(self) -> bool {
        matches!(self, ActionKind::Ask | ActionKind::Block | ActionKind::Stop)
    }
}
