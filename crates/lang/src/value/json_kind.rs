//! The kinds of JSON values.

use std::fmt;

use super::Value;

/// The kind of a JSON value that is not null.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum JsonKind {
    /// `true` and `false`.
    Boolean,
    /// A number.
    Number,
    /// A text.
    String,
    /// A list.
    List,
    /// An object.
    Object,
}

impl JsonKind {
    /// All kinds, in order.
    pub const ALL: [JsonKind; 5] = [
        JsonKind::Boolean,
        JsonKind::Number,
        JsonKind::String,
        JsonKind::List,
        JsonKind::Object,
    ];

    /// Returns the texts of some kinds, as messages list them: `a number or a list`.
    pub fn either(kinds: impl IntoIterator<Item = JsonKind>) -> String {
        let kinds: Vec<String> = kinds.into_iter().map(|kind| kind.to_string()).collect();
        kinds.join(" or ")
    }
}

impl fmt::Display for JsonKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JsonKind::Boolean => "a Boolean",
            JsonKind::Number => "a number",
            JsonKind::String => "a string",
            JsonKind::List => "a list",
            JsonKind::Object => "an object",
        })
    }
}

impl Value {
    /// Returns the kind of a value that JSON has; `None` for null and for values of other types.
    pub fn json_kind(&self) -> Option<JsonKind> {
        match self {
            Value::Bool(_) => Some(JsonKind::Boolean),
            Value::Number(_) => Some(JsonKind::Number),
            Value::String(_) => Some(JsonKind::String),
            Value::List(_) => Some(JsonKind::List),
            Value::Object(_) => Some(JsonKind::Object),
            Value::Null | Value::Time(_) | Value::Duration(_) | Value::Enum(_) | Value::Set(_) => {
                None
            }
        }
    }
}
