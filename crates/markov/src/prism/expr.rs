//! Expressions and properties as trees: one grammar holds both, as in PRISM.

use super::super::text::TextPosition;

/// An expression, a state formula, or a path formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Its kind.
    pub kind: Kind,
    /// Its position.
    pub place: TextPosition,
}

/// The kind of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `true`, `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a point or an exponent, as written.
    Real(String),
    /// A variable, constant or formula.
    Name(String),
    /// `"label"`.
    Label(String),
    /// `!a`.
    Not(Box<Expr>),
    /// `-a`.
    Minus(Box<Expr>),
    /// `a + b` and the like.
    Binary(Op, Box<Expr>, Box<Expr>),
    /// `a ? b : c`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `min(a, b)` and the like.
    Call(Function, Vec<Expr>),
    /// `X a`.
    Next(Box<Expr>),
    /// `F a` and `G a`, with bounds on the step.
    Unary(Temporal, Bounds, Box<Expr>),
    /// `a U b`, `a W b`, `a R b`, with bounds on the step.
    Until(Until, Box<Expr>, Bounds, Box<Expr>),
    /// `P=? [ a ]`, and with a condition `P=? [ a || b ]`.
    Probability(Compare, Box<Expr>, Option<Box<Expr>>),
    /// `R{"name"}=? [ … ]`.
    Reward(Option<Structure>, Compare, Box<Measure>),
    /// `S=? [ a ]`.
    Steady(Compare, Box<Expr>),
    /// `A [ a ]` and `E [ a ]`.
    Paths(Quantifier, Box<Expr>),
    /// `filter(op, a, states)`.
    Filter(Filter, Box<Expr>, Option<Box<Expr>>),
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// A comparison of numbers.
    Compare(Relation),
    /// `&`
    And,
    /// `|`
    Or,
    /// `=>`
    Implies,
    /// `<=>`
    Iff,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Relation {
    /// Whether every number from `least` to `most` is in this relation to a bound; `None` if only some are.
    pub fn over<V: PartialOrd>(self, least: &V, most: &V, bound: &V) -> Option<bool> {
        let (all, none) = match self {
            Relation::Less => (most < bound, least >= bound),
            Relation::LessEqual => (most <= bound, least > bound),
            Relation::Greater => (least > bound, most <= bound),
            Relation::GreaterEqual => (least >= bound, most < bound),
        };
        match (all, none) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }
}

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `min(a, …)`
    Min,
    /// `max(a, …)`
    Max,
    /// `floor(a)`
    Floor,
    /// `ceil(a)`
    Ceil,
    /// `round(a)`
    Round,
    /// `pow(a, b)`
    Pow,
    /// `mod(a, b)`
    Mod,
    /// `log(a, base)`
    Log,
}

/// `F` or `G`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Temporal {
    /// `F`
    Finally,
    /// `G`
    Globally,
}

/// `U`, `W` or `R`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// `U`
    Until,
    /// `W`
    Unless,
    /// `R`
    Release,
}

/// Bounds on the step of a temporal operator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    /// The first step, and whether that step itself is excluded.
    pub lower: Option<(Box<Expr>, bool)>,
    /// The last step, and whether that step itself is excluded.
    pub upper: Option<(Box<Expr>, bool)>,
}

impl Bounds {
    /// Whether there are no bounds.
    pub fn is_none(&self) -> bool {
        self.lower.is_none() && self.upper.is_none()
    }
}

/// The question about a number: compare it, or compute it.
#[derive(Clone, Debug, PartialEq)]
pub enum Compare {
    /// `=?`
    Value,
    /// `>= p` and the like.
    Bound(Relation, Box<Expr>),
}

/// The reward structure of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Structure {
    /// `{"name"}`
    Name(String),
    /// `{2}`, counted from 1.
    Index(i64),
}

/// The collected reward.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// `F a`: until `a`.
    Reach(Expr),
    /// `C`: always.
    Total,
    /// `C<=k`: in the first `k` steps; with `true`, `C<k`.
    Cumulative(Expr, bool),
    /// `I=k`: at step `k`.
    Instantaneous(Expr),
    /// `S`: per step in the long run.
    Steady,
}

/// Over which paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// `A`
    All,
    /// `E`
    Exists,
}

/// The operation of a filter on the values of the states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Their average.
    Average,
    /// Their sum.
    Sum,
    /// In how many states it holds.
    Count,
    /// Whether it holds in all.
    ForAll,
    /// Whether it holds in some.
    Exists,
    /// That of the first state.
    First,
    /// That of the only state.
    State,
    /// The width of the range of values.
    Range,
    /// All of them.
    Print,
}
