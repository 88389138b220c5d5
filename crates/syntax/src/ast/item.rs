//! Items about data and formulas; those about models and systems are in `dynamic`.

use super::{
    Abstraction, Compose, Doc, Enforce, Expr, Loc, Message, Model, Name, Query, StringLit, System,
    Test, Type, Window,
};
use smol_str::SmolStr;

/// An item of a file with its documentation and attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The `///` lines before it.
    pub docs: Vec<Doc>,
    /// The `@…` before it.
    pub attributes: Vec<Attribute>,
    /// The declaration.
    pub kind: ItemKind,
    /// From its first attribute or word to its end, without docs.
    pub span: Loc,
}

/// The kinds of items.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// `use`.
    Use(Use),
    /// `const`.
    Const(Const),
    /// `enum`.
    Enum(Enum),
    /// `record`.
    Record(Record),
    /// `let`.
    Let(Let),
    /// `trace`.
    Trace(Trace),
    /// `event`.
    Event(Event),
    /// `predicate`.
    Predicate(Predicate),
    /// `track`.
    Track(Track),
    /// `unsafe`.
    Unsafe(Unsafe),
    /// `property`.
    Property(Property),
    /// `rule`.
    Rule(Box<Rule>),
    /// `template`.
    Template(Template),
    /// `requirement`.
    Requirement(Requirement),
    /// `abstraction`.
    Abstraction(Abstraction),
    /// `model`.
    Model(Model),
    /// `query`.
    Query(Query),
    /// `enforce`.
    Enforce(Enforce),
    /// `system`.
    System(System),
    /// `component`.
    Component(System),
    /// `compose`.
    Compose(Compose),
    /// `test`.
    Test(Test),
    /// An item that could not be parsed; the error was reported. Its name still counts as declared.
    Broken(Broken),
}

/// The known parts of an item that could not be parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// Its first word, such as `predicate`; empty if it has none.
    pub word: SmolStr,
    /// The name it seems to declare.
    pub name: Option<Name>,
}

/// `@severity(critical)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// After the `@`.
    pub name: Name,
    /// The arguments; empty without parentheses.
    pub args: Vec<Expr>,
    /// Its span.
    pub span: Loc,
}

/// `use a.b`, `use a.b as c`, `use a.b.{c, d as e}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    /// The names of the path.
    pub path: Vec<Name>,
    /// `as c` of the path itself.
    pub alias: Option<Name>,
    /// The names in braces; `None` without braces.
    pub members: Option<Vec<UseMember>>,
}

/// One name in the braces of `use`.
#[derive(Clone, Debug, PartialEq)]
pub struct UseMember {
    /// Its name there.
    pub name: Name,
    /// Its name here.
    pub alias: Option<Name>,
}

/// `const p = /…/`.
#[derive(Clone, Debug, PartialEq)]
pub struct Const {
    /// Its name.
    pub name: Name,
    /// Its type, if written.
    pub ty: Option<Type>,
    /// Its value.
    pub value: Expr,
}

/// `enum Name { a, b }`, `enum Name ordered { low < high }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Enum {
    /// Its name.
    pub name: Name,
    /// Whether it was declared `ordered`.
    pub ordered: bool,
    /// Its values, lowest first.
    pub values: Vec<EnumValue>,
}

/// A value of an enum.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumValue {
    /// Its documentation.
    pub docs: Vec<Doc>,
    /// Its name.
    pub name: Name,
}

/// `record Name { a: int, b: string }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its name.
    pub name: Name,
    /// Its fields.
    pub fields: Vec<RecordField>,
}

/// A field of a record type.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordField {
    /// Its documentation.
    pub docs: Vec<Doc>,
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
}

/// A parameter of a definition or template.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: Name,
    /// Its type; parameters of rules have none.
    pub ty: Option<Type>,
    /// Its default.
    pub default: Option<Expr>,
}

/// `let f(x: T): U = e`.
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    /// Its name.
    pub name: Name,
    /// Its parameters; empty also for `f()`.
    pub params: Vec<Param>,
    /// Its type, if written.
    pub ty: Option<Type>,
    /// Its value.
    pub value: Expr,
}

/// `trace { … }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Its clauses, in order.
    pub clauses: Vec<TraceClause>,
}

/// A clause of `trace`.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceClause {
    /// The kind of clause.
    pub kind: TraceClauseKind,
    /// Its span.
    pub span: Loc,
}

/// The clauses of `trace`.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "there are few of them, and a box would be in the way of every match"
)]
pub enum TraceClauseKind {
    /// `events from "/steps"`.
    EventsFrom(StringLit),
    /// `events from lines`.
    EventsFromLines,
    /// `each "/tool_calls"`.
    Each(StringLit),
    /// `order by f, g`.
    OrderBy(Vec<Expr>),
    /// `where e`.
    Where(Expr),
    /// `records where e`.
    RecordsWhere(Expr),
    /// `join call on id when kind == "call"`.
    Join(Box<Join>),
    /// `meta m: T from P`.
    Meta(Field),
    /// `id = "…"` or `id from "/run_id"`.
    Id(IdSource),
    /// `complete from "/done"`.
    CompleteFrom(StringLit),
    /// `complete = e`.
    Complete(Expr),
    /// `format claude_code`.
    Format(Name),
}

/// `join call on id when kind == "call"`.
#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    /// Its name.
    pub name: Name,
    /// The expression that is equal at the two steps.
    pub key: Expr,
    /// The condition on the earlier steps.
    pub condition: Expr,
}

/// The source of the id of a trace.
#[derive(Clone, Debug, PartialEq)]
pub enum IdSource {
    /// `id = "task{task}"`.
    Message(Message),
    /// `id from "/run_id"`.
    Pointer(StringLit),
}

/// `event { … }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its fields.
    pub fields: Vec<Field>,
}

/// A field of the event or of `meta`.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its documentation.
    pub docs: Vec<Doc>,
    /// `@outcome`.
    pub attributes: Vec<Attribute>,
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// `from "/p"`.
    pub source: Option<FieldSource>,
    /// `= e`.
    pub absent: Option<Absent>,
    /// Its span, without docs.
    pub span: Loc,
}

/// `from each "/p" in ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldSource {
    /// Whether it reads the element of `each`.
    pub each: bool,
    /// The pointer or path.
    pub path: StringLit,
    /// The unit of a time.
    pub unit: Option<Name>,
}

/// The meaning of an absent field.
#[derive(Clone, Debug, PartialEq)]
pub enum Absent {
    /// `= unknown`.
    Unknown(Loc),
    /// `= e`.
    Default(Expr),
}

/// `predicate p(x: T) = e`.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicate {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its condition.
    pub value: Expr,
}

/// `track t(x: T): U = init then e`, `track t(x: T): U = init when c then e`.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its type, if written.
    pub ty: Option<Type>,
    /// Its value before the first event.
    pub init: Expr,
    /// Its value after an event: the value of the first arm whose condition holds; if there is none, the value does not
    /// change.
    pub arms: Vec<TrackArm>,
}

/// `then e`, the only arm, or `when c then e`.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackArm {
    /// The condition, if there is one.
    pub condition: Option<Expr>,
    /// The value after an event for which it holds.
    pub value: Expr,
    /// Its span.
    pub span: Loc,
}

/// `unsafe u = e message "…"`.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsafe {
    /// Its name.
    pub name: Name,
    /// Its condition.
    pub value: Expr,
    /// The message if it happens.
    pub message: Option<Message>,
}

/// `property p: ltl = formula where e`, `property p: ltl = formula on m`.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Its name.
    pub name: Name,
    /// The declared logic.
    pub logic: Option<(Logic, Loc)>,
    /// The formula.
    pub formula: Expr,
    /// The condition on the steps that the formula is about; `None` for all steps.
    pub kept: Option<Expr>,
    /// The model or system.
    pub on: Option<Name>,
    /// The message if it is violated.
    pub message: Option<Message>,
}

/// A logic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Logic {
    /// Linear time.
    Ltl,
    /// Branching time.
    Ctl,
    /// Probabilistic.
    Pctl,
}

/// `rule r(x): when a then b within 1..5 steps or end`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Its name.
    pub name: Name,
    /// Its parameters, quantified as by `forall`.
    pub params: Vec<Param>,
    /// After `when`.
    pub trigger: Expr,
    /// After `then`.
    pub response: Expr,
    /// The window.
    pub within: Window,
    /// The condition on the steps that the rule is about; `None` for all steps.
    pub kept: Option<Expr>,
    /// The message if it is violated.
    pub message: Option<Message>,
}

/// `template T(p: pred, k: int = 50): ltl = …`.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Param>,
    /// The declared logic.
    pub logic: Option<(Logic, Loc)>,
    /// The formula.
    pub formula: Expr,
}

/// `requirement R1 "…" { formal T(a, b) on m }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// Its name, which is also the name of its property.
    pub name: Name,
    /// The sentence.
    pub text: StringLit,
    /// The formula.
    pub formal: Expr,
    /// The condition on the steps that the formula is about; `None` for all steps.
    pub kept: Option<Expr>,
    /// The model or system.
    pub on: Option<Name>,
}

impl ItemKind {
    /// Returns the name that the item declares, if it declares one.
    #[must_use]
    pub fn name(&self) -> Option<&Name> {
        match self {
            Self::Const(it) => Some(&it.name),
            Self::Enum(it) => Some(&it.name),
            Self::Record(it) => Some(&it.name),
            Self::Let(it) => Some(&it.name),
            Self::Predicate(it) => Some(&it.name),
            Self::Track(it) => Some(&it.name),
            Self::Unsafe(it) => Some(&it.name),
            Self::Property(it) => Some(&it.name),
            Self::Rule(it) => Some(&it.name),
            Self::Template(it) => Some(&it.name),
            Self::Requirement(it) => Some(&it.name),
            Self::Abstraction(it) => Some(&it.name),
            Self::Model(it) => Some(&it.name),
            Self::Query(it) => Some(&it.name),
            Self::System(it) | Self::Component(it) => Some(&it.name),
            Self::Compose(it) => Some(&it.name),
            Self::Broken(it) => it.name.as_ref(),
            Self::Use(_) | Self::Trace(_) | Self::Event(_) | Self::Enforce(_) | Self::Test(_) => {
                None
            }
        }
    }

    /// Returns the keyword with which the item begins; empty for a broken item without one.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Use(_) => "use",
            Self::Const(_) => "const",
            Self::Enum(_) => "enum",
            Self::Record(_) => "record",
            Self::Let(_) => "let",
            Self::Trace(_) => "trace",
            Self::Event(_) => "event",
            Self::Predicate(_) => "predicate",
            Self::Track(_) => "track",
            Self::Unsafe(_) => "unsafe",
            Self::Property(_) => "property",
            Self::Rule(_) => "rule",
            Self::Template(_) => "template",
            Self::Requirement(_) => "requirement",
            Self::Abstraction(_) => "abstraction",
            Self::Model(_) => "model",
            Self::Query(_) => "query",
            Self::Enforce(_) => "enforce",
            Self::System(_) => "system",
            Self::Component(_) => "component",
            Self::Compose(_) => "compose",
            Self::Test(_) => "test",
            Self::Broken(it) => &it.word,
        }
    }
}
