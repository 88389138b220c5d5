//! Distinct values in insertion order.

use std::ops::Deref;

use crate::hash::SeededSet;

use crate::value::Value;

/// Up to this many values are compared one by one, which is faster than hashing: most events have one.
const FEW: usize = 16;

/// Distinct values in the order of insertion. Insertion and lookup take constant time on average: one event may bind a
/// variable to each element of a long list.
#[derive(Clone, Debug, Default)]
pub(super) struct Distinct {
    values: Vec<Value>,
    /// All of `values` if they are more than [`FEW`].
    index: SeededSet<Value>,
}

impl Distinct {
    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.index.clear();
    }

    pub(super) fn contains(&self, value: &Value) -> bool {
        if self.values.len() > FEW {
            self.index.contains(value)
        } else {
            self.values.contains(value)
        }
    }

    /// Adds a value that is not there yet.
    pub(super) fn insert(&mut self, value: &Value) {
        if self.contains(value) {
            return;
        }
        self.values.push(value.clone());
        if self.values.len() > FEW + 1 {
            self.index.insert(value.clone());
        } else if self.values.len() == FEW + 1 {
            self.index.extend(self.values.iter().cloned());
        }
    }

    /// Moves all values out, in order.
    pub(super) fn drain(&mut self) -> std::vec::Drain<'_, Value> {
        self.index.clear();
        self.values.drain(..)
    }
}

impl Deref for Distinct {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.values
    }
}
