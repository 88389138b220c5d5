//! Kleene's three truth values.

use std::ops::Not;

/// A truth value of Kleene's strong three-valued logic.
///
/// `Unknown` means that the data does not say, never that the answer is "no".
///
/// # Source
/// S. C. Kleene, *Introduction to Metamathematics*, 1952, section 64.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum Truth {
    /// Known to be false.
    False,
    /// Not known.
    Unknown,
    /// Known to be true.
    True,
}

impl std::fmt::Display for Truth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Truth::True => "true",
            Truth::False => "false",
            Truth::Unknown => "unknown",
        })
    }
}

impl Truth {
    /// Returns the conjunction: false if either is false, whatever the other is.
    pub fn and(self, other: Truth) -> Truth {
        self.min(other)
    }

    /// Returns the disjunction: true if either is true, whatever the other is.
    pub fn or(self, other: Truth) -> Truth {
        self.max(other)
    }

    /// Returns the implication `!self or other`.
    pub fn implies(self, other: Truth) -> Truth {
        (!self).or(other)
    }

    /// Returns the equivalence: unknown if either side is.
    pub fn iff(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::Unknown, _) | (_, Truth::Unknown) => Truth::Unknown,
            (lhs, rhs) => Truth::from(lhs == rhs),
        }
    }

    /// Returns the Boolean, where it is known.
    pub fn known(self) -> Option<bool> {
        match self {
            Truth::False => Some(false),
            Truth::Unknown => None,
            Truth::True => Some(true),
        }
    }
}

impl Not for Truth {
    type Output = Truth;

    fn not(self) -> Truth {
        match self {
            Truth::False => Truth::True,
            Truth::Unknown => Truth::Unknown,
            Truth::True => Truth::False,
        }
    }
}

impl From<bool> for Truth {
    fn from(value: bool) -> Truth {
        if value { Truth::True } else { Truth::False }
    }
}

impl From<Option<bool>> for Truth {
    fn from(value: Option<bool>) -> Truth {
        value.map_or(Truth::Unknown, Truth::from)
    }
}
