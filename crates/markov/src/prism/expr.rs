//! Syntax trees of expressions and properties, which share one grammar, as in PRISM.

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
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A decimal number, as written.
    Real(String),
    /// A variable, constant or formula.
    Name(String),
    /// `"label"`.
    Label(String),
    /// `!a`.
    Not(Box<Expr>),
    /// `-a`.
    Minus(Box<Expr>),
    /// A binary operator, such as `a + b`.
    Binary(Op, Box<Expr>, Box<Expr>),
    /// `a ? b : c`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A function call, such as `min(a, b)`.
    Call(Function, Vec<Expr>),
    /// `X a`.
    Next(Box<Expr>),
    /// `F a` or `G a`, with step bounds.
    Unary(Temporal, Bounds, Box<Expr>),
    /// `a U b`, `a W b` or `a R b`, with step bounds.
    Until(Until, Box<Expr>, Bounds, Box<Expr>),
    /// `P=? [ a ]`, or with a condition `P=? [ a || b ]`.
    Probability(Compare, Box<Expr>, Option<Box<Expr>>),
    /// `R{"name"}=? [ … ]`.
    Reward(Option<Structure>, Compare, Box<Measure>),
    /// `S=? [ a ]`.
    Steady(Compare, Box<Expr>),
    /// `A [ a ]` or `E [ a ]`.
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

/// A comparison operator.
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
    /// Returns whether every number from `least` to `most` is in this relation to a bound; `None` if only some are.
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

/// A built-in function.
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

/// The step bounds of a temporal operator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    /// The first step; the flag excludes that step itself.
    pub lower: Option<(Box<Expr>, bool)>,
    /// The last step; the flag excludes that step itself.
    pub upper: Option<(Box<Expr>, bool)>,
}

impl Bounds {
    /// Returns whether there are no bounds.
    pub fn is_none(&self) -> bool {
        self.lower.is_none() && self.upper.is_none()
    }
}

/// The use that an operator makes of a number: compute it, or compare it with a bound.
#[derive(Clone, Debug, PartialEq)]
pub enum Compare {
    /// `=?`
    Value,
    /// A comparison, such as `>= p`.
    Bound(Relation, Box<Expr>),
}

/// The reward structure of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Structure {
    /// `{"name"}`
    Name(String),
    /// `{2}`, counted from 1.
    Index(i64),
    /// 1 for each step: that of `T=? [ F a ]`.
    Steps,
}

/// The measure of an expected reward.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// `F a`: the reward until `a`.
    Reach(Expr),
    /// `C`: the total reward.
    Total,
    /// `C<=k`: the reward in the first `k` steps; with `true`, `C<k`.
    Cumulative(Expr, bool),
    /// `I=k`: the state reward at step `k`.
    Instantaneous(Expr),
    /// `S`: the reward per step in the long run.
    Steady,
}

/// A path quantifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// `A`
    All,
    /// `E`
    Exists,
}

/// The operation of a filter on the values of the selected states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// The average of the values.
    Average,
    /// The sum of the values.
    Sum,
    /// The number of states in which the formula holds.
    Count,
    /// Whether the formula holds in all states.
    ForAll,
    /// Whether the formula holds in some state.
    Exists,
    /// The value in the first state.
    First,
    /// The value in the only state.
    State,
    /// The difference between the largest and the smallest value.
    Range,
    /// All values.
    Print,
}
