//! Sets of acceptance marks.

use std::fmt;

use crate::limits::{LimitError, Resource, check};

/// A set of acceptance marks, the small numbers that edges of an automaton carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Marks(u64);

impl Marks {
    /// The largest number of different marks.
    pub const MAX: u32 = 64;
    /// No mark.
    pub const NONE: Marks = Marks(0);

    /// Returns the set of one mark, which is less than [`Marks::MAX`].
    pub fn one(mark: u32) -> Marks {
        Marks(1u64.checked_shl(mark).unwrap_or(0))
    }

    /// Returns the marks `0..n`.
    pub fn first(n: u32) -> Marks {
        Marks(1u64.checked_shl(n).map_or(u64::MAX, |bit| bit - 1))
    }

    /// Fails when there would be more marks than a set can hold.
    pub(crate) fn check(n: u32) -> Result<(), LimitError> {
        check(Resource::Marks, u64::from(Marks::MAX), u64::from(n))
    }

    /// Whether the mark belongs to the set.
    pub fn contains(self, mark: u32) -> bool {
        self.0 & Marks::one(mark).0 != 0
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the number of marks.
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether every mark of this set is one of the other's.
    pub fn is_subset(self, other: Marks) -> bool {
        self.0 & !other.0 == 0
    }

    /// Returns the marks of either set.
    #[must_use]
    pub fn union(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }

    /// Returns the marks of both sets.
    #[must_use]
    pub fn intersection(self, other: Marks) -> Marks {
        Marks(self.0 & other.0)
    }

    /// Returns the marks of this set that are not in the other.
    #[must_use]
    pub fn without(self, other: Marks) -> Marks {
        Marks(self.0 & !other.0)
    }

    /// Returns the same set with every number greater by `n`.
    #[must_use]
    pub fn shifted(self, n: u32) -> Marks {
        Marks(self.0.checked_shl(n).unwrap_or(0))
    }

    /// Returns the marks in order.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..Marks::MAX).filter(move |&mark| self.contains(mark))
    }
}

impl FromIterator<u32> for Marks {
    fn from_iter<I: IntoIterator<Item = u32>>(marks: I) -> Self {
        marks
            .into_iter()
            .fold(Marks::NONE, |set, mark| set.union(Marks::one(mark)))
    }
}

/// `{0 2}`, as in the Hanoi format; nothing for the empty set.
impl fmt::Display for Marks {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return Ok(());
        }
        let marks: Vec<String> = self.iter().map(|mark| mark.to_string()).collect();
        write!(out, "{{{}}}", marks.join(" "))
    }
}
