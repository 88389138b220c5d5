//! Expressions: values of the current step.

use serde::{Deserialize, Serialize};
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::FxHasher;
use smol_str::SmolStr;

use crate::ids::{BranchingId, ExprId, LocalId, PropertyId, RegexId, StateVarId, TrackId};
use crate::pattern::{Pattern, PatternError};
use crate::types::Type;
use crate::value::Value;

/// All expressions of a spec; expressions with equal structure and type share a node.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Exprs {
    nodes: IndexSet<(Expr, TypeKey), BuildHasherDefault<FxHasher>>,
    types: Vec<Type>,
    patterns: Vec<Arc<Pattern>>,
}

/// The printed type: nodes of different types differ even if their structure is the same.
type TypeKey = SmolStr;

/// One expression.
///
/// Operators are strict in unknown, except `And`, `Or`, `Not`, `Implies`, `Iff` (Kleene), `If`, `Quantifier` and `In`,
/// which have a value if the known operands determine it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Expr {
    /// A constant.
    Const(Value),
    /// A value that is not known: `unknown` as a default.
    Unknown,
    /// `todo("words")`: a condition that is not written yet, unknown at every step. Different words give different
    /// conditions.
    Todo(SmolStr),
    /// A field of the step, by index in [`InputSchema::fields`](crate::input_schema::InputSchema::fields).
    Field(usize),
    /// A field of the record, by position in [`InputSchema::meta`](crate::input_schema::InputSchema::meta).
    Meta(usize),
    /// A track: its value after the event, or before the event within updates of tracks.
    Track(TrackId, Box<[ExprId]>),
    /// A parameter of the track whose update contains the expression.
    Param(usize),
    /// A quantified variable of the property (`forall`, parameters of rules), by position.
    Var(usize),
    /// A variable that a quantifier over a list binds.
    Local(LocalId),
    /// `e.name`; null if `e` is null or has no such member; unknown and a data error on other values that are not
    /// objects.
    Member(ExprId, SmolStr),
    /// `e[i]`: element of a list (negative: past the end, null) or member of an object.
    Index(ExprId, ExprId),
    /// Negation.
    Not(ExprId),
    /// Conjunction.
    And(ExprId, ExprId),
    /// Disjunction.
    Or(ExprId, ExprId),
    /// Implication.
    Implies(ExprId, ExprId),
    /// Equivalence.
    Iff(ExprId, ExprId),
    /// A comparison of two values. `!=` is `Not(Eq)`, `not in` is `Not(In)`.
    Compare(Compare, ExprId, ExprId),
    /// `x in xs`: whether `x` is an element of a list or set. Null as a list has no elements.
    In(ExprId, ExprId),
    /// `contains`: substring of a string, element of a list or set.
    Contains(ExprId, ExprId),
    /// `starts_with`
    StartsWith(ExprId, ExprId),
    /// `ends_with`
    EndsWith(ExprId, ExprId),
    /// `matches`: the expression matches anywhere in the text.
    Matches(ExprId, RegexId),
    /// Arithmetic with checked overflow; `Add` also joins strings and lists.
    Arith(Arith, ExprId, ExprId),
    /// `-e`
    Neg(ExprId),
    /// `a ?? b`: replaces null, never unknown.
    Coalesce(ExprId, ExprId),
    /// `e as T` (if it fails: unknown and a data error) or `e as T?` (failure: null); the target is the node's type.
    Cast(ExprId),
    /// `if c then a else b`; `cases` becomes a nested `If`.
    If(ExprId, ExprId, ExprId),
    /// `any|all|count y in xs: p`; null has no elements; `[e for y in xs]` is null over null; over other values that are not
    /// lists: unknown and a data error.
    Quantifier {
        /// The quantifier.
        kind: Quantifier,
        /// The variable bound.
        local: LocalId,
        /// The list or set.
        over: ExprId,
        /// The condition on each element.
        body: ExprId,
    },
    /// A predefined function.
    Call(Builtin, Box<[ExprId]>),
    /// `capture(s, /re/, n)`: the n-th group of the first match, or null; null of null.
    Capture(ExprId, RegexId, usize),
    /// `replace(s, /re/, t)`: replaces every match with the literal text `t`; null if `s` is null.
    Replace(ExprId, RegexId, ExprId),
    /// `[a, b]`
    List(Box<[ExprId]>),
    /// `{a, b}`
    Set(Box<[ExprId]>),
    /// `{k: v}`
    Record(Box<[(SmolStr, ExprId)]>),
    /// `before(e)`: the value of `e` at the step before; at the first step tracks have their initial value, all else
    /// is null.
    Before(ExprId),
    /// `count(p)`: the number of steps up to now at which `p` held, within the window and after the last step at which
    /// `since` held. Unknown if it depends on an unknown `p` or `since`.
    Count {
        /// The condition whose steps are counted.
        of: ExprId,
        /// The window of steps or time that is counted; `None` for all steps so far.
        window: Option<Window>,
        /// Counting begins after the last step at which this held.
        since: Option<ExprId>,
    },
    /// A past operator in a value (in tracks, predicates of tracks, `count`, comparisons); past operators of formulas are
    /// [`Formula`](super::Formula)s. Only `Since` and `BackTo` have the second operand.
    Past(PastOp, Option<Window>, ExprId, Option<ExprId>),
    /// A variable of the system, by position. This and the following variants occur only in claims about states of
    /// models and systems, never in expressions on events.
    State(StateVarId),
    /// `e'`: the value of the operand in the next state; in `step` of abstractions and systems.
    Next(ExprId),
    /// A label, or a variable of an imported chain, which is resolved by name when the chain is read.
    Label(SmolStr),
    /// `violated(r)`: whether the rule or property has been violated so far.
    Violated(PropertyId),
    /// `A`, `E`, `P`, `S`, `R`: an operator on the paths from a state.
    Branching(BranchingId),
}

/// Comparisons. Order comparisons with null are false; between other different types it is unknown and a data error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Compare {
    /// Both are the same value.
    Eq,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

impl Compare {
    /// Returns the operator sign in the language.
    pub fn sign(self) -> &'static str {
        match self {
            Compare::Lt => "<",
            Compare::Le => "<=",
            Compare::Gt => ">",
            Compare::Ge => ">=",
            Compare::Eq => "==",
        }
    }
}

/// Arithmetic operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Arith {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`; by zero: unknown and a data error. Of integers: the exact quotient as a float.
    Div,
}

/// Quantifiers over lists and sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Quantifier {
    /// Some element.
    Any,
    /// Every element.
    All,
    /// The number of elements.
    Count,
    /// The list of the values of the body for each element.
    Map,
}

/// Predefined functions. They return null for null, unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Builtin {
    /// `len(x)`: characters of a string, elements of a list, set or object.
    Len,
    /// `lower(s)`
    Lower,
    /// `upper(s)`
    Upper,
    /// `trim(s)`: without surrounding white space.
    Trim,
    /// `split(s, sep)`: a list of strings.
    Split,
    /// `words(s)`: the list of its parts between white space.
    Words,
    /// `min(a, b, …)`
    Min,
    /// `max(a, b, …)`
    Max,
    /// `abs(x)`
    Abs,
    /// `floor(x)`: an int.
    Floor,
    /// `mod(a, b)`: the remainder, with the sign of `b`; by zero: unknown and a data error.
    Mod,
    /// `set.add(x)`
    Add,
    /// `list.last(n)`: its last `n` elements.
    Last,
    /// `json(s)`: parses a text; null if it is not JSON for any reader, a data error where readers differ.
    Json,
    /// `commands(s)`: the commands of a shell line, each a list of words; a data error if the text is not a shell line.
    Commands,
    /// `text(x)`: all text in a value, keys and numbers included, joined by line ends; the empty text for null.
    Text,
    /// `join(xs, sep)`
    Join,
    /// `set.remove(x)`
    Remove,
    /// `list.drop(n)`: without its first `n` elements.
    Drop,
    /// `slice(x, from, to)`: the elements of a list, or characters of a text, from one position up to but not including
    /// another.
    Slice,
    /// `index_of(xs, x)`: the first position of an element, or of a part of a text; null if it does not occur.
    IndexOf,
    /// `range(n)`: `[0, 1, …, n - 1]`
    Range,
    /// `base64(s)`: the decoded text; null if no decoder reads anything of `s`, a data error if decoders read different bytes.
    Base64,
    /// `hex(s)`: the text that hexadecimal digits encode; null and data errors as of `base64`.
    Hex,
    /// `url_decode(s)`: percent-encoding decoded once.
    UrlDecode,
    /// `path(s)`: without `.`, `..` and doubled or mixed separators; a data error if programs interpret the path
    /// differently.
    Path,
    /// `below(path, folder)`: whether the path is the folder or inside it; false for null.
    Below,
    /// `host(url)`: the host of an address, in canonical form; null if it has no host; a data error if programs disagree on
    /// the host.
    Host,
    /// `normalize(s)`: NFKC without invisible characters.
    Normalize,
}

impl Builtin {
    /// The predefined functions that take values only, with their names.
    pub const NAMES: &[(&'static str, Builtin)] = &[
        ("len", Builtin::Len),
        ("lower", Builtin::Lower),
        ("upper", Builtin::Upper),
        ("trim", Builtin::Trim),
        ("split", Builtin::Split),
        ("words", Builtin::Words),
        ("min", Builtin::Min),
        ("max", Builtin::Max),
        ("abs", Builtin::Abs),
        ("floor", Builtin::Floor),
        ("mod", Builtin::Mod),
        ("add", Builtin::Add),
        ("last", Builtin::Last),
        ("json", Builtin::Json),
        ("commands", Builtin::Commands),
        ("text", Builtin::Text),
        ("join", Builtin::Join),
        ("remove", Builtin::Remove),
        ("drop", Builtin::Drop),
        ("slice", Builtin::Slice),
        ("index_of", Builtin::IndexOf),
        ("range", Builtin::Range),
        ("base64", Builtin::Base64),
        ("hex", Builtin::Hex),
        ("url_decode", Builtin::UrlDecode),
        ("path", Builtin::Path),
        ("below", Builtin::Below),
        ("host", Builtin::Host),
        ("normalize", Builtin::Normalize),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        let mut names = Self::NAMES.iter();
        names
            .find(|(_, of)| *of == self)
            .map_or("", |(name, _)| name)
    }

    /// Whether the arguments after the first are elements, which may be null.
    pub fn takes_elements(self) -> bool {
        matches!(self, Builtin::Add | Builtin::Remove | Builtin::IndexOf)
    }
}

/// Past operators in expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PastOp {
    /// `previously`: false at the first step.
    Previously,
    /// `weak_previously`: true at the first step.
    WeakPreviously,
    /// `once`
    Once,
    /// `historically`
    Historically,
    /// `a since b`
    Since,
    /// `a back_to b`
    BackTo,
}

/// The window of a bounded operator, backwards or forwards; both ends inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Window {
    /// In steps.
    Steps(u32, u32),
    /// In attoseconds of the clock.
    Time(i128, i128),
}

impl Window {
    /// Returns the window of positions at which the trace may end early without a violation under `or end`; `None` if there is
    /// no such position.
    pub fn cut_off(self) -> Option<Window> {
        match self {
            Window::Steps(_, hi) => Some(Window::Steps(0, hi.checked_sub(1)?)),
            Window::Time(_, hi) => (hi > 0).then(|| Window::Time(0, hi - 1)),
        }
    }
}

/// A text template with values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// Its parts, in order.
    pub parts: Vec<TextPart>,
}

/// A part of a [`Text`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextPart {
    /// Literal text.
    Literal(SmolStr),
    /// The value of an expression, in a format such as `.2` or `.0%`.
    Value(ExprId, Option<SmolStr>),
}

impl Exprs {
    /// Returns the id of this expression, and adds the expression if it is new.
    pub fn add(&mut self, expr: Expr, ty: Type) -> ExprId {
        let (index, new) = self
            .nodes
            .insert_full((expr, smol_str::format_smolstr!("{ty}")));
        if new {
            self.types.push(ty);
        }
        ExprId::new(index)
    }

    /// Returns the expression.
    pub fn get(&self, id: ExprId) -> &Expr {
        &self.nodes[id.index()].0
    }

    /// Returns the type of an expression.
    pub fn ty(&self, id: ExprId) -> &Type {
        &self.types[id.index()]
    }

    /// Returns the number of expressions; ids are `0..len`, and operands come before the expressions that use them.
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Whether the arena is empty.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Adds a regular expression.
    ///
    /// # Errors
    /// The text is not a usable regular expression.
    pub fn add_regex(&mut self, text: &str) -> Result<RegexId, PatternError> {
        let mut patterns = self.patterns.iter();
        if let Some(known) = patterns.position(|other| other.as_str() == text) {
            return Ok(RegexId::new(known));
        }
        self.patterns.push(Arc::new(Pattern::new(text)?));
        Ok(RegexId::new(self.patterns.len() - 1))
    }

    /// Returns the regular expression of this id.
    pub fn regex(&self, id: RegexId) -> &Arc<Pattern> {
        &self.patterns[id.index()]
    }

    /// Returns the operands of an expression, in order.
    pub fn operands(&self, id: ExprId) -> Vec<ExprId> {
        match self.get(id) {
            Expr::Const(_)
            | Expr::Unknown
            | Expr::Todo(_)
            | Expr::Field(_)
            | Expr::Meta(_)
            | Expr::Param(_)
            | Expr::Var(_)
            | Expr::Local(_)
            | Expr::State(_)
            | Expr::Label(_)
            | Expr::Violated(_)
            | Expr::Branching(_) => Vec::new(),
            Expr::Track(_, args) | Expr::Call(_, args) | Expr::List(args) | Expr::Set(args) => {
                args.to_vec()
            }
            Expr::Record(members) => members.iter().map(|(_, value)| *value).collect(),
            Expr::Member(e, _)
            | Expr::Not(e)
            | Expr::Matches(e, _)
            | Expr::Neg(e)
            | Expr::Cast(e)
            | Expr::Capture(e, _, _)
            | Expr::Before(e)
            | Expr::Next(e) => vec![*e],
            Expr::Index(a, b)
            | Expr::And(a, b)
            | Expr::Or(a, b)
            | Expr::Implies(a, b)
            | Expr::Iff(a, b)
            | Expr::Compare(_, a, b)
            | Expr::In(a, b)
            | Expr::Contains(a, b)
            | Expr::StartsWith(a, b)
            | Expr::EndsWith(a, b)
            | Expr::Arith(_, a, b)
            | Expr::Replace(a, _, b)
            | Expr::Coalesce(a, b) => vec![*a, *b],
            Expr::If(c, a, b) => vec![*c, *a, *b],
            Expr::Quantifier { over, body, .. } => vec![*over, *body],
            Expr::Count { of, since, .. } => [Some(*of), *since].into_iter().flatten().collect(),
            Expr::Past(_, _, a, b) => [Some(*a), *b].into_iter().flatten().collect(),
        }
    }

    /// Whether an expression or one of its parts is of some form. Operators of branching time and probability are parts, but
    /// what they contain is not.
    pub fn any_part(&self, id: ExprId, is: impl Fn(&Expr) -> bool) -> bool {
        // Expressions share parts; as trees they may be exponentially larger.
        let mut seen = rustc_hash::FxHashSet::default();
        let mut todo = vec![id];
        while let Some(id) = todo.pop() {
            if is(self.get(id)) {
                return true;
            }
            todo.extend(self.operands(id).into_iter().filter(|id| seen.insert(*id)));
        }
        false
    }

    /// Returns the same expression with other operands; `f` maps each operand, in order.
    pub fn with_operands(&self, id: ExprId, mut f: impl FnMut(ExprId) -> ExprId) -> Expr {
        let mut all = |ids: &[ExprId]| -> Box<[ExprId]> { ids.iter().map(|id| f(*id)).collect() };
        match self.get(id) {
            Expr::Track(track, args) => Expr::Track(*track, all(args)),
            Expr::Call(builtin, args) => Expr::Call(*builtin, all(args)),
            Expr::List(items) => Expr::List(all(items)),
            Expr::Set(items) => Expr::Set(all(items)),
            Expr::Record(members) => Expr::Record(
                members
                    .iter()
                    .map(|(name, value)| (name.clone(), f(*value)))
                    .collect(),
            ),
            Expr::Member(e, name) => Expr::Member(f(*e), name.clone()),
            Expr::Not(e) => Expr::Not(f(*e)),
            Expr::Matches(e, regex) => Expr::Matches(f(*e), *regex),
            Expr::Neg(e) => Expr::Neg(f(*e)),
            Expr::Cast(e) => Expr::Cast(f(*e)),
            Expr::Capture(e, regex, group) => Expr::Capture(f(*e), *regex, *group),
            Expr::Replace(a, regex, b) => Expr::Replace(f(*a), *regex, f(*b)),
            Expr::Before(e) => Expr::Before(f(*e)),
            Expr::Next(e) => Expr::Next(f(*e)),
            Expr::Index(a, b) => Expr::Index(f(*a), f(*b)),
            Expr::And(a, b) => Expr::And(f(*a), f(*b)),
            Expr::Or(a, b) => Expr::Or(f(*a), f(*b)),
            Expr::Implies(a, b) => Expr::Implies(f(*a), f(*b)),
            Expr::Iff(a, b) => Expr::Iff(f(*a), f(*b)),
            Expr::Compare(op, a, b) => Expr::Compare(*op, f(*a), f(*b)),
            Expr::In(a, b) => Expr::In(f(*a), f(*b)),
            Expr::Contains(a, b) => Expr::Contains(f(*a), f(*b)),
            Expr::StartsWith(a, b) => Expr::StartsWith(f(*a), f(*b)),
            Expr::EndsWith(a, b) => Expr::EndsWith(f(*a), f(*b)),
            Expr::Arith(op, a, b) => Expr::Arith(*op, f(*a), f(*b)),
            Expr::Coalesce(a, b) => Expr::Coalesce(f(*a), f(*b)),
            Expr::If(c, a, b) => Expr::If(f(*c), f(*a), f(*b)),
            Expr::Quantifier {
                kind,
                local,
                over,
                body,
            } => Expr::Quantifier {
                kind: *kind,
                local: *local,
                over: f(*over),
                body: f(*body),
            },
            Expr::Count { of, window, since } => Expr::Count {
                of: f(*of),
                window: *window,
                since: since.map(f),
            },
            Expr::Past(op, window, a, b) => Expr::Past(*op, *window, f(*a), b.map(f)),
            leaf => leaf.clone(),
        }
    }
}
