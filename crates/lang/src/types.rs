//! Types of values.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

/// The type of a field, a track or an expression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Type {
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `string`
    String,
    /// `time`
    Time,
    /// `duration`
    Duration,
    /// `json`: any JSON value, whose type is checked when the data is read.
    Json,
    /// `list<T>`
    List(Arc<Type>),
    /// `set<T>`
    Set(Arc<Type>),
    /// `map<T>`: string keys.
    Map(Arc<Type>),
    /// A declared enum.
    Enum(Arc<EnumType>),
    /// A declared record.
    Record(Arc<RecordType>),
    /// `T?`: the type or null. Never nested.
    Nullable(Arc<Type>),
    /// The type of `null` alone.
    Null,
    /// The type of an erroneous expression: compatible with every type, so that one mistake gives one message.
    Error,
}

/// A declared enum.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnumType {
    /// Number of the enum within its spec; `EnumValue::of` refers to it.
    pub number: u16,
    /// Its name.
    pub name: SmolStr,
    /// The names of its values, in order of declaration.
    pub values: Vec<SmolStr>,
    /// Whether `<`, `<=`, `min` and `max` are defined on it.
    pub ordered: bool,
}

/// A declared record.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordType {
    /// Its name.
    pub name: SmolStr,
    /// Names and types of its members.
    pub members: Vec<(SmolStr, Type)>,
}

impl Type {
    /// `T?`
    pub fn nullable(self) -> Type {
        match self {
            Type::Nullable(_) | Type::Null | Type::Json | Type::Error => self,
            other => Type::Nullable(Arc::new(other)),
        }
    }

    /// Returns the type without `?`.
    pub fn non_null(&self) -> &Type {
        match self {
            Type::Nullable(inner) => inner,
            other => other,
        }
    }

    /// Whether null is a value of the type.
    pub fn may_be_null(&self) -> bool {
        matches!(
            self,
            Type::Nullable(_) | Type::Null | Type::Json | Type::Error
        )
    }

    /// Whether the type has finitely many values that can be listed: Booleans and enums, also with null.
    pub fn is_finite(&self) -> bool {
        matches!(self.non_null(), Type::Bool | Type::Enum(_))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Float => f.write_str("float"),
            Type::String => f.write_str("string"),
            Type::Time => f.write_str("time"),
            Type::Duration => f.write_str("duration"),
            Type::Json => f.write_str("json"),
            Type::List(item) => write!(f, "list<{item}>"),
            Type::Set(item) => write!(f, "set<{item}>"),
            Type::Map(item) => write!(f, "map<{item}>"),
            Type::Enum(of) => f.write_str(&of.name),
            Type::Record(of) => f.write_str(&of.name),
            Type::Nullable(inner) => write!(f, "{inner}?"),
            Type::Null => f.write_str("null"),
            Type::Error => f.write_str("?"),
        }
    }
}
