//! Expressions and formulas.

use guard_automata::{Binary as TemporalInfixOp, Unary};

use super::{Ignored, Loc, Name, Spelling, StringLit, Type};
use smol_str::SmolStr;

/// An expression: a value, a state formula, a path formula or a quantified formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The kind of expression.
    pub kind: ExprKind,
    /// Its span, without parentheses around it.
    pub span: Loc,
    /// The number of pairs of parentheses around it in the text.
    pub parens: Ignored<u16>,
}

impl Expr {
    /// Returns an expression without parentheses.
    #[must_use]
    pub fn new(kind: ExprKind, span: crate::source::Span) -> Self {
        Self {
            kind,
            span: Ignored(span),
            parens: Ignored(0),
        }
    }
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `true`, `false`.
    Bool(bool),
    /// `null`.
    Null,
    /// `42`, `1_000`: the digits without underscores, any number of them.
    Int(SmolStr),
    /// `0.5`, `1e-9`: as written, without underscores.
    Float(SmolStr),
    /// `5%`: the number before the sign, as written.
    Percent(SmolStr),
    /// `"…"`.
    String(StringLit),
    /// `/…/i`: pattern (with `\/` as written) and flags.
    Regex {
        /// The pattern between the slashes.
        pattern: SmolStr,
        /// The letters after the last slash.
        flags: SmolStr,
    },
    /// `250ms`, `2s`, `3m`, `1h`.
    Duration(DurationLit),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `{a, b}`, at least one element.
    Set(Vec<Expr>),
    /// `{k: v}`, at least one entry.
    Record(Vec<RecordEntry>),
    /// `{}`: an empty set or record, by the type expected.
    EmptyBraces,
    /// A name.
    Name(Name),
    /// `base.name`; `Enum.value` and `meta.m` look the same.
    Member {
        /// Before the dot.
        base: Box<Expr>,
        /// After the dot.
        name: Name,
    },
    /// `base[index]`.
    Index {
        /// Before the bracket.
        base: Box<Expr>,
        /// Inside the brackets.
        index: Box<Expr>,
    },
    /// `callee(args)`; a method call has a [`ExprKind::Member`] as callee.
    Call {
        /// Before the parenthesis.
        callee: Box<Expr>,
        /// Inside the parentheses.
        args: Vec<Arg>,
    },
    /// `count[0,60s](p)`; without a window it is a plain call of `count`.
    CountWindow {
        /// The window.
        bound: Bound,
        /// Inside the parentheses.
        args: Vec<Arg>,
    },
    /// `x'`: the value in the next state.
    Prime(Box<Expr>),
    /// `not a`, `-a`.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// `not` or `!`.
        spelling: Spelling,
        /// The operand.
        operand: Box<Expr>,
    },
    /// A chain of two or more operands joined by one of `and`, `or`.
    ///
    /// Kept flat so that a long chain is not a deep tree. A direct operand that is a chain of the same operator was
    /// written in parentheses.
    Chain {
        /// `and` or `or`.
        op: ChainOp,
        /// The spelling of the first operator.
        spelling: Spelling,
        /// The operands, two or more.
        operands: Vec<Expr>,
    },
    /// Any other binary operator that takes no bound.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// The author's spelling.
        spelling: Spelling,
        /// Left operand.
        lhs: Box<Expr>,
        /// Right operand.
        rhs: Box<Expr>,
    },
    /// `e as T`, `e as T?`.
    Cast {
        /// The operand.
        operand: Box<Expr>,
        /// To what.
        ty: Type,
    },
    /// `if c then a else b`.
    If {
        /// The condition.
        condition: Box<Expr>,
        /// The value if it holds.
        then: Box<Expr>,
        /// The value otherwise.
        otherwise: Box<Expr>,
    },
    /// `cases { c => v … else => v }`.
    Cases(Vec<CaseArm>),
    /// `any y in xs: p`, `all y in xs: p`, `count y in xs: p`, `[e for y in xs]`.
    Quantifier {
        /// The quantifier.
        kind: QuantifierKind,
        /// The bound name.
        name: Name,
        /// The list or set.
        source: Box<Expr>,
        /// The condition on each element.
        body: Box<Expr>,
    },
    /// `forall x: φ`, `forall (x, y) in e: φ`, `exists …`.
    Instances {
        /// The quantifier.
        kind: InstancesKind,
        /// The quantified names, one or more.
        names: Vec<Name>,
        /// `in e`.
        domain: Option<Box<Expr>>,
        /// The formula.
        body: Box<Expr>,
    },
    /// A temporal operator before its operand: `G p`, `eventually p`, `F[0,5] p`, `never p`.
    Temporal {
        /// The operator.
        op: TemporalOp,
        /// Letter or word.
        spelling: Spelling,
        /// `[a,b]` or `<=k`.
        bound: Option<Bound>,
        /// The operand.
        operand: Box<Expr>,
    },
    /// A temporal operator between its operands: `a U b`, `a until b`, `a U[0,5] b`.
    TemporalInfix {
        /// The operator.
        op: TemporalInfixOp,
        /// Letter or word.
        spelling: Spelling,
        /// `[a,b]` or `<=k`.
        bound: Option<Bound>,
        /// Left operand.
        lhs: Box<Expr>,
        /// Right operand.
        rhs: Box<Expr>,
    },
    /// `AG p` and the other five operators.
    Ctl {
        /// The operator.
        op: CtlOp,
        /// The operand.
        operand: Box<Expr>,
    },
    /// `A[path]`, `E[path]`.
    Path {
        /// All paths or some path.
        quantifier: PathQuantifier,
        /// The path formula.
        path: Box<Expr>,
    },
    /// `P=?[path]`, `P<=0.05[path]`, `P=?[path given condition]`.
    Probability {
        /// `=?` or a comparison.
        bound: ProbBound,
        /// The path formula.
        path: Box<Expr>,
        /// The condition.
        given: Option<Box<Expr>>,
    },
    /// `S=?[a]`: in the long run.
    SteadyState {
        /// `=?` or a comparison.
        bound: ProbBound,
        /// The state formula.
        operand: Box<Expr>,
    },
    /// `R=?[F a]`, `R{"name"}<=3[C<=10]`.
    Reward {
        /// The reward structure.
        name: Option<StringLit>,
        /// `=?` or a comparison.
        bound: ProbBound,
        /// The quantity that is accumulated.
        kind: RewardKind,
    },
    /// `a leads to b`, `a leads to b within 5 steps`.
    LeadsTo {
        /// The trigger.
        lhs: Box<Expr>,
        /// The response.
        rhs: Box<Expr>,
        /// The window.
        within: Option<Window>,
    },
    /// `a precedes b`.
    Precedes {
        /// The condition that must come first.
        lhs: Box<Expr>,
        /// The condition that must not come before it.
        rhs: Box<Expr>,
    },
    /// A placeholder for text with a syntax error, which was reported.
    Error,
}

/// A length of time: a number and a unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DurationLit {
    /// The number as written, without underscores; may have a fraction.
    pub number: SmolStr,
    /// The unit.
    pub unit: DurationUnit,
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DurationUnit {
    /// `ns`.
    Nanoseconds,
    /// `us`.
    Microseconds,
    /// `ms`.
    Milliseconds,
    /// `s`.
    Seconds,
    /// `m`.
    Minutes,
    /// `h`.
    Hours,
    /// `d`.
    Days,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// `since` in `count(p, since: q)`.
    pub name: Option<Name>,
    /// The value.
    pub value: Expr,
}

/// One entry of a record literal.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordEntry {
    /// The key.
    pub key: Name,
    /// Whether the key was written as a string.
    pub quoted: Ignored<bool>,
    /// The value.
    pub value: Expr,
}

/// One arm of `cases`.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseArm {
    /// The condition; `None` for `else`.
    pub condition: Option<Expr>,
    /// The value.
    pub value: Expr,
    /// The whole arm.
    pub span: Loc,
}

/// A string with expressions in it, as in messages and `id`.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Text and expressions in turn.
    pub parts: Vec<MessagePart>,
    /// Its text, quotes included.
    pub raw: Spelling,
    /// Its span.
    pub span: Loc,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum MessagePart {
    /// Text, escapes and double braces resolved.
    Text(SmolStr),
    /// `{e}` or `{e:format}`.
    Value {
        /// The expression.
        expr: Box<Expr>,
        /// The format, without the colon.
        format: Option<SmolStr>,
        /// Its span, braces included.
        span: Loc,
    },
}

/// Operators before one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnaryOp {
    /// `not`, `!`.
    Not,
    /// `-`.
    Neg,
}

/// Operators that make flat chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChainOp {
    /// `and`, `&`, `&&`.
    And,
    /// `or`, `|`, `||`.
    Or,
}

/// Operators between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinaryOp {
    /// `->`.
    Implies,
    /// `<->`, `<=>`.
    Iff,
    /// `==`.
    Eq,
    /// `!=`.
    Ne,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// `in`.
    In,
    /// `not in`.
    NotIn,
    /// `contains`.
    Contains,
    /// `starts_with`.
    StartsWith,
    /// `ends_with`.
    EndsWith,
    /// `matches`.
    Matches,
    /// `+`.
    Add,
    /// `-`.
    Sub,
    /// `*`.
    Mul,
    /// `/`.
    Div,
    /// `??`.
    Coalesce,
}

/// Quantifiers over a list or set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuantifierKind {
    /// `any`.
    Any,
    /// `all`.
    All,
    /// `count`.
    Count,
    /// `[e for y in xs]`.
    Map,
}

/// Quantifiers over the values of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstancesKind {
    /// `forall`.
    Forall,
    /// `exists`.
    Exists,
}

/// Temporal operators before their operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TemporalOp {
    /// An operator of the table.
    Plain(Unary),
    /// `never`: `G not`.
    Never,
}

impl TemporalOp {
    /// Whether it may have a bound.
    pub fn takes_bound(self) -> bool {
        match self {
            TemporalOp::Plain(op) => op.takes_bound(),
            TemporalOp::Never => true,
        }
    }
}

/// Branching-time operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CtlOp {
    /// `AG`.
    Ag,
    /// `AF`.
    Af,
    /// `AX`.
    Ax,
    /// `EG`.
    Eg,
    /// `EF`.
    Ef,
    /// `EX`.
    Ex,
}

/// `A[…]` or `E[…]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathQuantifier {
    /// On all paths.
    All,
    /// On some path.
    Exists,
}

/// A bound of a temporal operator, both ends included.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The nearer end; `None` in `<=k`.
    pub lower: Option<BoundValue>,
    /// The farther end.
    pub upper: BoundValue,
    /// Its span, brackets included.
    pub span: Loc,
}

/// One end of a bound or window.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundValue {
    /// A number of steps: digits without underscores.
    Int(SmolStr, Loc),
    /// A length of time.
    Duration(DurationLit, Loc),
    /// A constant or parameter.
    Name(Name),
}

impl BoundValue {
    /// Returns its span in the source.
    #[must_use]
    pub fn span(&self) -> crate::source::Span {
        match self {
            Self::Int(_, span) | Self::Duration(_, span) => span.0,
            Self::Name(name) => name.span.0,
        }
    }
}

/// `within 5 steps`, `within 1..15 steps`, `within 2s or end`.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// The nearer end; `None` means 0.
    pub lower: Option<BoundValue>,
    /// The farther end.
    pub upper: BoundValue,
    /// Whether `steps` (or `step`) was written; otherwise it is a length of time.
    pub steps: bool,
    /// `step` or `steps`, as written.
    pub spelling: Spelling,
    /// Whether `or end` accepts a window that the end of the trace cuts off.
    pub or_end: bool,
    /// Its span, `within` included.
    pub span: Loc,
}

/// The bound after `P`, `R`, `S`.
#[derive(Clone, Debug, PartialEq)]
pub enum ProbBound {
    /// `=?`.
    Query,
    /// `<= 0.05`.
    Compare {
        /// The comparison.
        op: ThresholdOp,
        /// A number, percentage or name.
        threshold: Box<Expr>,
    },
}

/// Comparisons with a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ThresholdOp {
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
}

/// The quantity that a reward query accumulates.
#[derive(Clone, Debug, PartialEq)]
pub enum RewardKind {
    /// `F a`: until `a` is reached. The expression is the operand of `F`.
    Reach(Box<Expr>),
    /// `C`, `C<=k`: in all, or up to step `k`.
    Cumulative(Option<BoundValue>),
    /// `I=k`: at step `k`.
    Instant(BoundValue),
    /// `S`: in the long run, per step.
    Steady,
}

impl ThresholdOp {
    /// Returns the sign.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        }
    }
}

impl DurationUnit {
    /// Returns the unit as written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::Minutes => "m",
            Self::Hours => "h",
            Self::Days => "d",
        }
    }

    /// Returns its length in nanoseconds.
    #[must_use]
    pub fn nanoseconds(self) -> u64 {
        match self {
            Self::Nanoseconds => 1,
            Self::Microseconds => 1_000,
            Self::Milliseconds => 1_000_000,
            Self::Seconds => 1_000_000_000,
            Self::Minutes => 60_000_000_000,
            Self::Hours => 3_600_000_000_000,
            Self::Days => 86_400_000_000_000,
        }
    }
}
