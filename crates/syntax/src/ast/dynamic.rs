//! Items about chains, systems, enforcement and tests.

use super::{Expr, Loc, Message, Name, StringLit, ThresholdOp, Type};

/// `abstraction Name { … }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Abstraction {
    /// Its name.
    pub name: Name,
    /// Its clauses, in order.
    pub clauses: Vec<AbstractionClause>,
}

/// A clause of `abstraction`.
#[derive(Clone, Debug, PartialEq)]
pub struct AbstractionClause {
    /// The kind of clause.
    pub kind: AbstractionClauseKind,
    /// Its span.
    pub span: Loc,
}

/// The clauses of `abstraction`.
#[derive(Clone, Debug, PartialEq)]
pub enum AbstractionClauseKind {
    /// `steps when e`.
    StepsWhen(Expr),
    /// `over a, n: int 0..3 = e`.
    Over(Vec<OverEntry>),
    /// `valid e`.
    Valid(Expr),
    /// `step e`; may use primes.
    Step(Expr),
    /// `absorbing e`.
    Absorbing(Expr),
    /// `terminal e`.
    Terminal(Expr),
    /// `reward name = e`.
    Reward {
        /// Its name; `None` for the reward of `R=?`.
        name: Option<Name>,
        /// The reward per step.
        value: Expr,
    },
}

/// One entry of `over`.
#[derive(Clone, Debug, PartialEq)]
pub enum OverEntry {
    /// A name, `meta.m`, `violated(rule)`.
    Expr(Expr),
    /// `n: int 0..3 = e`; without `= e` the value is that of `n` itself.
    Declared {
        /// Its name.
        name: Name,
        /// Its type.
        ty: Type,
        /// Its value.
        value: Option<Expr>,
    },
}

/// `model m = …`.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its name.
    pub name: Name,
    /// The source of the model.
    pub source: ModelSource,
}

/// The source of a model.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelSource {
    /// `learn Name { … }`.
    Learn {
        /// The abstraction, if named.
        abstraction: Option<Name>,
        /// The settings, in order.
        settings: Vec<LearnSetting>,
    },
    /// `load "m.json"`.
    Load(StringLit),
    /// `import "x.tra"`.
    Import(StringLit),
}

/// A setting of `learn`.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnSetting {
    /// The kind of setting.
    pub kind: LearnSettingKind,
    /// Its span.
    pub span: Loc,
}

/// The settings of `learn`.
#[derive(Clone, Debug, PartialEq)]
pub enum LearnSettingKind {
    /// `smoothing 1.0`.
    Smoothing(Expr),
    /// `by meta.category`: one chain per value.
    By(Expr),
    /// `order 2`.
    Order(Expr),
    /// `pac epsilon 0.05 delta 0.01`.
    Pac {
        /// The allowed error.
        epsilon: Expr,
        /// The allowed probability of exceeding it.
        delta: Expr,
    },
}

/// `query q = P=?[…] on m`.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Its name.
    pub name: Name,
    /// The formula of the query.
    pub formula: Expr,
    /// The model or system.
    pub on: Option<Name>,
}

/// `enforce …`.
#[derive(Clone, Debug, PartialEq)]
pub struct Enforce {
    /// The form of the clause.
    pub kind: EnforceKind,
}

/// The forms of `enforce`.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "there are few of them, and a box would be in the way of every match"
)]
pub enum EnforceKind {
    /// `enforce approved { … }`.
    Property {
        /// The property or rule.
        name: Name,
        /// Its arms.
        arms: Vec<Arm>,
    },
    /// `enforce on soon { … }`.
    Query {
        /// The query.
        name: Name,
        /// Its arms.
        arms: Vec<Arm>,
    },
    /// `enforce when e => ACTION`.
    When {
        /// The condition.
        condition: Expr,
        /// The action.
        action: Action,
        /// Whether `on error allow` follows.
        on_error_allow: bool,
    },
}

/// One arm of `enforce`.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "there are few of them, and a box would be in the way of every match"
)]
pub enum Arm {
    /// `TRIGGER => ACTION`.
    Act {
        /// The trigger.
        trigger: ArmTrigger,
        /// The action.
        action: Action,
        /// The whole arm.
        span: Loc,
    },
    /// `on error allow`.
    OnErrorAllow(Loc),
}

/// The trigger of an arm.
#[derive(Clone, Debug, PartialEq)]
pub enum ArmTrigger {
    /// `>= 0.4`.
    Threshold(Threshold),
    /// `unseen`.
    Unseen,
    /// A verdict, possibly for some steps.
    Outcome(Outcome),
}

/// `>= 0.4`.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// The comparison.
    pub op: ThresholdOp,
    /// A number, percentage or name.
    pub value: Expr,
    /// Its span.
    pub span: Loc,
}

/// `presumably_violated for 3 steps`.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The verdict.
    pub kind: OutcomeKind,
    /// `for n steps`: a number or name.
    pub steps: Option<Expr>,
    /// Its span.
    pub span: Loc,
}

/// The five verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutcomeKind {
    /// `satisfied`.
    Satisfied,
    /// `violated`.
    Violated,
    /// `presumably_satisfied`.
    PresumablySatisfied,
    /// `presumably_violated`.
    PresumablyViolated,
    /// `unknown`.
    Unknown,
}

/// The action of an arm.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// The kind of action.
    pub kind: ActionKind,
    /// The message.
    pub message: Option<Message>,
    /// Its span.
    pub span: Loc,
}

/// The actions, mildest first.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionKind {
    /// `log`.
    Log,
    /// `warn`.
    Warn,
    /// `reflect`.
    Reflect,
    /// `ask`.
    Ask,
    /// `invoke name(args)`.
    Invoke {
        /// The name of the invoked handler.
        name: Name,
        /// The arguments.
        args: Vec<super::Arg>,
    },
    /// `block`.
    Block,
    /// `stop`.
    Stop,
}

/// `system s { … }` or `component c { … }`.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    /// Its name.
    pub name: Name,
    /// Its members, in order.
    pub members: Vec<SystemMember>,
}

/// A member of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemMember {
    /// Its documentation.
    pub docs: Vec<super::Doc>,
    /// The kind of member.
    pub kind: SystemMemberKind,
    /// Its span.
    pub span: Loc,
}

/// The members of systems and components.
#[derive(Clone, Debug, PartialEq)]
pub enum SystemMemberKind {
    /// `state mode: { idle, busy } = idle`.
    State {
        /// Its name.
        name: Name,
        /// Its type.
        ty: Type,
        /// Its initial value.
        init: Option<Expr>,
    },
    /// `init n in { 0, 2 }`.
    Init(Expr),
    /// `step choose when e => …`.
    Step {
        /// Its name.
        name: Name,
        /// The condition that enables it.
        when: Option<Expr>,
        /// The effects; more than one only with probabilities.
        branches: Vec<Branch>,
    },
    /// `label tool_call = e`.
    Label {
        /// Its name, which may be quoted.
        name: Name,
        /// The condition.
        value: Expr,
    },
    /// `reward name = e`.
    Reward {
        /// Its name; `None` for the reward of `R=?`.
        name: Option<Name>,
        /// The reward per step.
        value: Expr,
    },
    /// `assume e`.
    Assume(Expr),
    /// `guarantee e`.
    Guarantee(Expr),
}

/// `0.3: x' == a, y' in {1, 2}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// A number, name, fraction or parenthesised expression.
    pub probability: Option<Expr>,
    /// The updates; empty for `true`, which changes nothing.
    pub updates: Vec<Update>,
    /// Its span.
    pub span: Loc,
}

/// `x' == e` or `x' in e`.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// The variable, without its prime.
    pub target: Name,
    /// `==` or `in`.
    pub kind: UpdateKind,
    /// The value or the set of values.
    pub value: Expr,
    /// Its span.
    pub span: Loc,
}

/// The forms of updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UpdateKind {
    /// `x' == e`.
    Equal,
    /// `x' in e`: any of them.
    In,
}

/// `compose agent = memory || tools`.
#[derive(Clone, Debug, PartialEq)]
pub struct Compose {
    /// Its name.
    pub name: Name,
    /// Its components.
    pub parts: Vec<Name>,
}

/// `test "…" { … }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// The text of the name.
    pub name: StringLit,
    /// Its clauses, in order.
    pub clauses: Vec<TestClause>,
}

/// A clause of `test`.
#[derive(Clone, Debug, PartialEq)]
pub enum TestClause {
    /// `given [ … ]`: the events, or a whole record.
    Given(Expr, Loc),
    /// `expect …`.
    Expect(Expect),
}

/// `expect approved violated at 0`, `expect risk == safe at 2`.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// A property, or a condition if there is no outcome.
    pub subject: Expr,
    /// The expected verdict on the property.
    pub outcome: Option<OutcomeKind>,
    /// The step at which the verdict becomes final or the condition is evaluated.
    pub at: Option<Expr>,
    /// Its span.
    pub span: Loc,
}

impl OutcomeKind {
    /// Returns the word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Satisfied => "satisfied",
            Self::Violated => "violated",
            Self::PresumablySatisfied => "presumably_satisfied",
            Self::PresumablyViolated => "presumably_violated",
            Self::Unknown => "unknown",
        }
    }
}

impl ActionKind {
    /// Returns the word.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Warn => "warn",
            Self::Reflect => "reflect",
            Self::Ask => "ask",
            Self::Invoke { .. } => "invoke",
            Self::Block => "block",
            Self::Stop => "stop",
        }
    }
}
