//! Lists of sets that are written down in the order of their members, so that equal states have equal bytes.

use std::hash::Hash;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) fn serialize<T, S>(sets: &[FxHashSet<T>], to: S) -> Result<S::Ok, S::Error>
where
    T: Serialize + Ord,
    S: Serializer,
{
    let sorted = |set: &FxHashSet<T>| {
        let mut members: Vec<&T> = set.iter().collect();
        members.sort_unstable();
        postcard::to_stdvec(&members)
    };
    let sorted: Result<Vec<Vec<u8>>, _> = sets.iter().map(sorted).collect();
    sorted.map_err(serde::ser::Error::custom)?.serialize(to)
}

pub(super) fn deserialize<'de, T, D>(from: D) -> Result<Vec<FxHashSet<T>>, D::Error>
where
    T: serde::de::DeserializeOwned + Eq + Hash,
    D: Deserializer<'de>,
{
    let sets: Vec<Vec<u8>> = Vec::deserialize(from)?;
    let set = |bytes: &Vec<u8>| postcard::from_bytes::<Vec<T>>(bytes);
    let sets: Result<Vec<Vec<T>>, _> = sets.iter().map(set).collect();
    let sets = sets.map_err(serde::de::Error::custom)?;
    Ok(sets
        .into_iter()
        .map(|set| set.into_iter().collect())
        .collect())
}
