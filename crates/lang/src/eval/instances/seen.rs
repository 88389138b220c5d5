//! The values that were seen in one place of tuples.

use std::ops::{Deref, DerefMut};

use crate::hash::Seeded;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::value::Value;

/// A persistent set, which forks share. Hashed, because every new tuple adds to it: with 10^5 second values for one first
/// value, an ordered set took a third of the time of an audit.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen(im::HashSet<Value, Seeded>);

impl Deref for Seen {
    type Target = im::HashSet<Value, Seeded>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Seen {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// Sets that forks share are not compared.
impl PartialEq for Seen {
    fn eq(&self, other: &Seen) -> bool {
        self.0.ptr_eq(&other.0) || self.0 == other.0
    }
}

impl Eq for Seen {}

/// Serialises in order, so that equal states have equal bytes.
impl Serialize for Seen {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut values: Vec<&Value> = self.0.iter().collect();
        values.sort_unstable();
        values.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Seen {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Seen, D::Error> {
        let values: Vec<Value> = Vec::deserialize(from)?;
        Ok(Seen(values.into_iter().collect()))
    }
}
