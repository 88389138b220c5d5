//! Partly bound tuples: the keys under which instances and values of tracks are kept.
//!
//! A place that is not bound stands for every value that has not been seen there. What holds for a tuple is what is
//! kept under the most informative key that agrees with it.

use std::ops::Deref;

use crate::value::Value;

/// One value per place; `None`: any value that did not occur in that place.
pub(super) type Key = Box<[Option<Value>]>;

/// Returns the entry under the most informative key properly below this one.
///
/// INVARIANT (joined): where two keys below a third hold different things, their join is kept as well; so any maximal
/// key will do.
pub(super) fn below<'m, T: 'm>(
    get: impl Fn(&[Option<Value>]) -> Option<&'m T>,
    key: &[Option<Value>],
) -> Option<&'m T> {
    // With one place nothing is below but the empty key, which is not kept in the map.
    if key.len() < 2 {
        return None;
    }
    all_below(get, key).next().map(|(_, found)| found)
}

/// Returns all that is kept under keys properly below this one, most informative first, with the number of bound places.
pub(super) fn all_below<'m, T: 'm>(
    get: impl Fn(&[Option<Value>]) -> Option<&'m T>,
    key: &[Option<Value>],
) -> impl Iterator<Item = (u32, &'m T)> {
    let bound: Vec<usize> = (0..key.len())
        .filter(|&place| key[place].is_some())
        .collect();
    // With one bound place nothing is below but the empty key, which is not kept in the map.
    let n_masks = if bound.len() > 1 {
        1u32 << bound.len().min(16)
    } else {
        0
    };
    let mut masks: Vec<u32> = (1..n_masks.saturating_sub(1)).collect();
    masks.sort_by_key(|mask| std::cmp::Reverse(mask.count_ones()));
    let mut part: Vec<Option<Value>> = vec![None; key.len()];
    masks.into_iter().filter_map(move |mask| {
        for (bit, &place) in bound.iter().enumerate() {
            part[place] = if mask >> bit & 1 == 1 {
                key[place].clone()
            } else {
                None
            };
        }
        get(part.as_slice()).map(|found| (mask.count_ones(), found))
    })
}

/// Returns every key that an event touches: the joins of kept keys (and of the empty one) with the values that it has for
/// each place, where at least one place is touched.
pub(super) fn matched<'m>(
    kept: impl Iterator<Item = &'m Key>,
    n_places: usize,
    values: &[impl Deref<Target = [Value]>],
) -> Vec<Key> {
    if values.iter().all(|place| place.is_empty()) {
        return Vec::new();
    }
    if let [only] = values {
        return only
            .iter()
            .map(|value| [Some(value.clone())].into())
            .collect();
    }
    // All ways to touch at least one place.
    let mut events: Vec<Vec<Option<Value>>> = vec![Vec::new()];
    for place in values {
        let choices = || std::iter::once(None).chain(place.iter().cloned().map(Some));
        events = events
            .into_iter()
            .flat_map(|event| {
                choices().map(move |choice| event.iter().cloned().chain([choice]).collect())
            })
            .collect();
    }
    events.retain(|event| event.iter().any(Option::is_some));
    let mut keys: rustc_hash::FxHashSet<Key> = rustc_hash::FxHashSet::default();
    let mut join_with = |key: &Key| {
        for event in &events {
            if key
                .iter()
                .zip(event)
                .all(|(lhs, rhs)| lhs.is_none() || rhs.is_none() || lhs == rhs)
            {
                let join = key
                    .iter()
                    .zip(event)
                    .map(|(lhs, rhs)| lhs.clone().or_else(|| rhs.clone()))
                    .collect();
                keys.insert(join);
            }
        }
    };
    kept.for_each(&mut join_with);
    join_with(&vec![None; n_places].into());
    // Less informative first, in a fixed order.
    let mut keys: Vec<Key> = keys.into_iter().collect();
    keys.sort_by(|lhs, rhs| {
        let bound = |key: &Key| key.iter().flatten().count();
        bound(lhs).cmp(&bound(rhs)).then_with(|| lhs.cmp(rhs))
    });
    keys
}
