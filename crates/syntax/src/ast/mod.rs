//! The syntax tree of a file, with spans on all nodes.
//!
//! The tree mirrors the text: it contains sugar, templates and unresolved names. Values, state formulas, path formulas
//! and quantified formulas share one expression type ([`Expr`]); the checker separates them.
//!
//! Spans, the spelling of operators (`and` or `&&`, `always` or `G`) and redundant parentheses are kept in fields of
//! type [`Ignored`]; two trees that differ only there are equal.
//!
//! INVARIANT (depth): a tree made by the parser is at most a small multiple of the nesting limit
//! deep (see `syntax::Limits`), so it may be walked and dropped by recursion.

mod common;
mod dynamic;
mod expr;
mod item;
mod ty;

pub use common::{Comment, Doc, Ignored, Loc, Name, Spelling, StringLit};
pub use dynamic::{
    Abstraction, AbstractionClause, AbstractionClauseKind, Action, ActionKind, Arm, ArmTrigger,
    Branch, Compose, Enforce, EnforceKind, Expect, LearnSetting, LearnSettingKind, Model,
    ModelSource, Outcome, OutcomeKind, OverEntry, Query, System, SystemMember, SystemMemberKind,
    Test, TestClause, Threshold, Update, UpdateKind,
};
pub use expr::{
    Arg, BinaryOp, Bound, BoundValue, CaseArm, ChainOp, CtlOp, DurationLit, DurationUnit, Expr,
    ExprKind, InstancesKind, Message, MessagePart, PathQuantifier, ProbBound, QuantifierKind,
    RecordEntry, RewardKind, TemporalOp, ThresholdOp, UnaryOp, Window,
};
pub use guard_automata::{Binary as TemporalInfixOp, Unary as TemporalPrefixOp};
pub use item::{
    Absent, Attribute, Broken, Const, Enum, EnumValue, Event, Field, FieldSource, IdSource, Item,
    ItemKind, Join, Let, Logic, Param, Predicate, Property, Record, RecordField, Requirement, Rule,
    Template, Trace, TraceClause, TraceClauseKind, Track, TrackArm, Unsafe, Use, UseMember,
};
pub use ty::{PrimitiveType, Type, TypeKind};

/// One `.guard` file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// The `//!` lines at its head.
    pub docs: Vec<Doc>,
    /// The items, in the order of the text.
    pub items: Vec<Item>,
    /// All plain `//` and `/* */` comments, in order; only the formatter reads them.
    pub comments: Ignored<Vec<Comment>>,
    /// The whole text.
    pub span: Loc,
}
