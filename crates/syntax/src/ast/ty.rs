//! Types as written.

use super::{Expr, Loc, Name};

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// The kind of type.
    pub kind: TypeKind,
    /// Its span.
    pub span: Loc,
}

/// The kinds of types.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// `bool int float string time duration json`.
    Primitive(PrimitiveType),
    /// An enum or record.
    Named(Name),
    /// `T?`.
    Optional(Box<Type>),
    /// `list<T>`.
    List(Box<Type>),
    /// `set<T>`.
    Set(Box<Type>),
    /// `map<T>`, keys are strings.
    Map(Box<Type>),
    /// `int lo..hi`, both ends included; each end is a literal, possibly negative, or a name.
    Range(Box<Expr>, Box<Expr>),
    /// `{ idle, planning }`, the values of a state variable.
    Values(Vec<Name>),
    /// `pred` or `pred(T, …)`: a predicate given to a template.
    Pred(Vec<Type>),
}

/// A type without parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PrimitiveType {
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `float`.
    Float,
    /// `string`.
    String,
    /// `time`.
    Time,
    /// `duration`.
    Duration,
    /// `json`.
    Json,
}

impl PrimitiveType {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Bool,
        Self::Int,
        Self::Float,
        Self::String,
        Self::Time,
        Self::Duration,
        Self::Json,
    ];

    /// Returns the word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Float => "float",
            Self::String => "string",
            Self::Time => "time",
            Self::Duration => "duration",
            Self::Json => "json",
        }
    }

    /// Returns the primitive type that a word names.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ty| ty.as_str() == word)
    }
}
