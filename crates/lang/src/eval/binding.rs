//! Partly bound tuples: the keys of instances and of track values.
//!
//! An unbound place represents every value that has not been seen there. The entry for a tuple is the one under the
//! most informative key that agrees with it.

use std::ops::Deref;
use std::sync::Arc;

use crate::hash::SeededSet;
use crate::value::Value;

/// One value per place, or `None` for any value not seen in that place. Shared between a map and its indexes.
pub(super) type Key = Arc<[Option<Value>]>;

/// A set of places of a key, as bits. Keys have at most as many places as there are bits.
pub(super) type Places = u32;

/// Returns the set of this one place; empty if there is no such place.
pub(super) fn place(index: usize) -> Places {
    u32::try_from(index)
        .ok()
        .and_then(|index| 1u32.checked_shl(index))
        .unwrap_or(0)
}

/// Returns the places that are bound.
pub(super) fn bound(key: &[Option<Value>]) -> Places {
    let places = key.iter().enumerate();
    places.fold(0, |all, (index, value)| {
        all | if value.is_some() { place(index) } else { 0 }
    })
}

/// Returns whether some tuple agrees with both.
pub(super) fn compatible(lhs: &[Option<Value>], rhs: &[Option<Value>]) -> bool {
    lhs.iter()
        .zip(rhs)
        .all(|(lhs, rhs)| lhs.is_none() || rhs.is_none() || lhs == rhs)
}

/// Returns the key of the tuples that agree with both keys, which must be compatible.
pub(super) fn join(lhs: &[Option<Value>], rhs: &[Option<Value>]) -> Key {
    lhs.iter()
        .zip(rhs)
        .map(|(lhs, rhs)| lhs.as_ref().or(rhs.as_ref()).cloned())
        .collect()
}

/// Sorts keys, less informative ones first, and removes repetitions.
pub(super) fn in_order(keys: &mut Vec<Key>) {
    if keys.len() > 1 {
        keys.sort_unstable_by(|lhs, rhs| {
            let rank = |key: &Key| bound(key).count_ones();
            rank(lhs).cmp(&rank(rhs)).then_with(|| lhs.cmp(rhs))
        });
        keys.dedup();
    }
}

/// Returns all keys that bind these places, and at least one place, each to one of its values in `values`, less informative
/// keys first.
pub(super) fn matches(values: &[impl Deref<Target = [Value]>], needed: Places) -> Vec<Key> {
    let is_needed = |index| needed & place(index) != 0;
    if values
        .iter()
        .enumerate()
        .all(|(index, values)| is_needed(index) && values.len() < 2)
    {
        // The common case: at most one value for each place.
        let is_match = values.iter().all(|values| !values.is_empty()) && !values.is_empty();
        let key = || {
            values
                .iter()
                .map(|values| values.first().cloned())
                .collect()
        };
        return is_match.then(key).into_iter().collect();
    }
    let mut keys: Vec<Vec<Option<Value>>> = vec![Vec::with_capacity(values.len())];
    for (index, values) in values.iter().enumerate() {
        let open = (!is_needed(index)).then_some(None);
        let longer = |key: Vec<Option<Value>>| {
            let choices = open.iter().cloned().chain(values.iter().cloned().map(Some));
            choices.map(move |choice| key.iter().cloned().chain([choice]).collect())
        };
        keys = keys.into_iter().flat_map(longer).collect();
    }
    let mut keys: Vec<Key> = keys.into_iter().map(Key::from).collect();
    keys.retain(|key| bound(key) != 0);
    in_order(&mut keys);
    keys
}

/// Adds the joins of all pairs of keys that are not present yet, including joins of added keys. Complete keys have no
/// further joins.
pub(super) fn close(keys: &mut Vec<Key>) {
    in_order(keys);
    let is_partial = |key: &&Key| key.iter().any(Option::is_none);
    let mut new: Vec<Key> = keys.iter().filter(is_partial).cloned().collect();
    let mut known: SeededSet<Key> = keys.iter().cloned().collect();
    while let Some(key) = new.pop() {
        for other in 0..keys.len() {
            let other = &keys[other];
            if !compatible(&key, other) {
                continue;
            }
            let join = join(&key, other);
            if known.insert(Arc::clone(&join)) {
                if is_partial(&&join) {
                    new.push(Arc::clone(&join));
                }
                keys.push(join);
            }
        }
    }
    in_order(keys);
}
