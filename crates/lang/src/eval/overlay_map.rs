//! Maps keyed by bindings. They are cheap to fork, and find the keys that agree with a binding by index.
//!
//! A proposal steps a fork of a trace, which may have very many instances, and then drops the fork. So before a fork the map
//! becomes shared, and each side writes its changes to its own layer. After the fork is dropped, the trace owns its map again.
//! An instance that no event touches is never copied, and a map without forks is a plain hash table.
//!
//! The forks in which a question to a person was answered live as long as the question is open, and are forked and compared at
//! each event. So changes that no longer fit in a small layer become shared layers, each at least twice as large as the next, as
//! in a log-structured merge tree: a copy takes the layers and at most [`BUFFERED`] changes, and a change is moved once for each
//! doubling.
//!
//! **Invariant:** a layer of a shared map holds only keys that changed since the layers below it were made, and `shapes` counts
//! the members that all layers give together.
//!
//! A persistent map (`im::HashMap` with the same hasher) needs no layers, but every step pays for it. Measured with texts of 13
//! bytes as keys, on two loaded cores: at 100 instances a lookup and an update take 16 ns here and 45 ns there, a proposal and
//! its commit 0.13 µs here and 1.7 to 2.1 µs there; at 100,000 instances 0.4 µs against 1.5 to 1.9 µs, and 0.8 to 1.0 µs against
//! 9 to 10 µs. `benches/maps.rs` compares both with the keys of the evaluator.
//!
//! An event may bind some places of a key and leave others open. An index finds the keys that it touches: for each set of
//! places that keys bind, and each part of it that is looked up, the keys by the values in that part. An index is built at
//! its first use, and kept up to date from then on: most properties need none, and a map with an index takes about twice the
//! memory.
//!
//! # Source
//! P. Meredith, D. Jin, F. Chen, G. Roșu, *Efficient monitoring of parametric context-free patterns*, 2010 (indexing
//! trees), with hash tables by the set of bound places instead of trees.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::binding::{self, Key, Places, bound};
use crate::hash::{Seeded, SeededMap, SeededSet};
use crate::value::Value;

/// A map from bindings.
#[derive(Clone, Debug)]
pub(super) struct OverlayMap<T> {
    layers: Layers<T>,
    /// The number of keys that bind exactly these places, most places first. Few combinations occur.
    shapes: Vec<(Places, usize)>,
}

#[derive(Clone, Debug)]
enum Layers<T> {
    /// The map is not shared.
    Own(Table<T>),
    Shared(Shared<T>),
}

/// A shared map, and the changes since it was shared: `None` for a removed entry.
#[derive(Clone, Debug)]
struct Shared<T> {
    below: Arc<Table<T>>,
    /// Changes, oldest first.
    between: Vec<Arc<Table<Option<T>>>>,
    /// The newest changes.
    above: SeededMap<Key, Option<T>>,
    /// The exclusive or of the hashes of all members that were added to `below` or removed from it.
    digest: u64,
}

/// A hash table with its indexes.
#[derive(Debug)]
struct Table<T> {
    members: SeededMap<Key, T>,
    /// The indexes that have been used. Behind a lock, because a fork may be the first to use one.
    indexes: RwLock<Vec<Arc<Index>>>,
}

/// The keys of one shape by their values in some places.
#[derive(Clone, Debug)]
struct Index {
    shape: Places,
    /// A part of `shape`.
    part: Places,
    /// Keys by the hash of the values in `part`; callers compare the values anyway.
    keys: FxHashMap<u64, Bucket>,
}

/// Most buckets have one key, which needs no table.
#[derive(Clone, Debug)]
enum Bucket {
    One(Key),
    Many(SeededSet<Key>),
}

/// The life of a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForkLife {
    /// It is dropped before the map changes.
    Short,
    /// The map and the fork change, and are compared.
    Long,
}

/// Maps up to this size are copied rather than shared by a short fork.
const FEW: usize = 4;

/// The greatest number of changes that a copy copies. Few in tests, so that there are many layers.
const BUFFERED: usize = if cfg!(test) { 2 } else { 64 };

impl<T> Default for OverlayMap<T> {
    fn default() -> OverlayMap<T> {
        OverlayMap {
            layers: Layers::Own(Table::new(SeededMap::default())),
            shapes: Vec::new(),
        }
    }
}

impl Index {
    fn new<'k>(shape: Places, part: Places, keys: impl Iterator<Item = &'k Key>) -> Index {
        let mut index = Index {
            shape,
            part,
            keys: FxHashMap::default(),
        };
        keys.filter(|key| bound(key) == shape)
            .for_each(|key| index.insert(key));
        index
    }

    fn hash(&self, key: &[Option<Value>]) -> u64 {
        let mut hasher = Seeded.build_hasher();
        for (index, value) in key.iter().enumerate() {
            if self.part & binding::place(index) != 0 {
                value.hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    fn insert(&mut self, key: &Key) {
        let hash = self.hash(key);
        match self.keys.get_mut(&hash) {
            None => {
                self.keys.insert(hash, Bucket::One(Arc::clone(key)));
            }
            Some(Bucket::Many(keys)) => {
                keys.insert(Arc::clone(key));
            }
            Some(Bucket::One(only)) if only == key => {}
            Some(bucket @ Bucket::One(_)) => {
                let before = std::mem::replace(bucket, Bucket::Many(SeededSet::default()));
                if let (Bucket::Many(keys), Bucket::One(before)) = (bucket, before) {
                    keys.extend([before, Arc::clone(key)]);
                }
            }
        }
    }

    fn remove(&mut self, key: &[Option<Value>]) {
        let hash = self.hash(key);
        let is_empty = match self.keys.get_mut(&hash) {
            None => false,
            Some(Bucket::One(only)) => **only == *key,
            Some(Bucket::Many(keys)) => {
                keys.remove(key);
                keys.is_empty()
            }
        };
        if is_empty {
            self.keys.remove(&hash);
        }
    }

    /// The keys that may have these values.
    fn get(&self, with: &[Option<Value>]) -> impl Iterator<Item = &Key> {
        let (one, many) = match self.keys.get(&self.hash(with)) {
            None => (None, None),
            Some(Bucket::One(key)) => (Some(key), None),
            Some(Bucket::Many(keys)) => (None, Some(keys)),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }
}

impl<T> Table<T> {
    fn new(members: SeededMap<Key, T>) -> Table<T> {
        Table {
            members,
            indexes: RwLock::default(),
        }
    }

    fn indexes(&mut self) -> impl Iterator<Item = &mut Index> {
        let indexes = self.indexes.get_mut();
        let indexes = indexes.unwrap_or_else(PoisonError::into_inner);
        indexes.iter_mut().map(Arc::make_mut)
    }

    fn index(&self, shape: Places, part: Places) -> Arc<Index> {
        let is = |index: &&Arc<Index>| (index.shape, index.part) == (shape, part);
        let known = self.indexes.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.iter().find(is) {
            return Arc::clone(known);
        }
        drop(known);
        let made = Arc::new(Index::new(shape, part, self.members.keys()));
        let mut indexes = self.indexes.write().unwrap_or_else(PoisonError::into_inner);
        indexes.push(Arc::clone(&made));
        made
    }

    fn insert(&mut self, key: &[Option<Value>], value: T) -> Option<T> {
        if let Some(slot) = self.members.get_mut(key) {
            return Some(std::mem::replace(slot, value));
        }
        let key = Key::from(key);
        let shape = bound(&key);
        for index in self.indexes().filter(|index| index.shape == shape) {
            index.insert(&key);
        }
        self.members.insert(key, value)
    }

    fn remove(&mut self, key: &[Option<Value>]) -> Option<T> {
        let before = self.members.remove(key)?;
        let shape = bound(key);
        for index in self.indexes().filter(|index| index.shape == shape) {
            index.remove(key);
        }
        Some(before)
    }
}

impl<T: Clone> Clone for Table<T> {
    fn clone(&self) -> Table<T> {
        let indexes = self.indexes.read().unwrap_or_else(PoisonError::into_inner);
        Table {
            members: self.members.clone(),
            indexes: RwLock::new(indexes.clone()),
        }
    }
}

impl<T: Clone> Shared<T> {
    fn new(below: Table<T>) -> Shared<T> {
        Shared {
            below: Arc::new(below),
            between: Vec::new(),
            above: SeededMap::default(),
            digest: 0,
        }
    }

    /// Makes the newest changes a layer, with the layers that are not twice as large.
    fn flush(&mut self) {
        let mut newest = std::mem::take(&mut self.above);
        while let Some(older) = self.between.pop() {
            if older.members.len() > 2 * newest.len() {
                self.between.push(older);
                break;
            }
            let mut older = Arc::unwrap_or_clone(older).members;
            older.extend(newest);
            newest = older;
        }
        self.between.push(Arc::new(Table::new(newest)));
    }

    /// Returns what a key changed to in the layers from this one on.
    #[inline]
    fn changed(&self, key: &[Option<Value>], from: usize) -> Option<&Option<T>> {
        self.above.get(key).or_else(|| {
            let layers = self.between[from..].iter().rev();
            layers.filter_map(|layer| layer.members.get(key)).next()
        })
    }

    #[inline]
    fn get(&self, key: &[Option<Value>]) -> Option<&T> {
        match self.changed(key, 0) {
            Some(changed) => changed.as_ref(),
            None => self.below.members.get(key),
        }
    }

    fn iter(&self) -> impl Iterator<Item = (&Key, &T)> {
        let below = self.below.members.iter();
        let below = below.filter(|(key, _)| self.changed(key, 0).is_none());
        let between = self
            .between
            .iter()
            .enumerate()
            .flat_map(move |(at, layer)| {
                let newer = at + 1;
                let members = layer.members.iter();
                members.filter(move |(key, _)| self.changed(key, newer).is_none())
            });
        let changes = between.chain(&self.above);
        below.chain(changes.filter_map(|(key, value)| Some((key, value.as_ref()?))))
    }
}

impl<T: Clone + Hash> Shared<T> {
    fn change(&mut self, key: &[Option<Value>], value: Option<T>) -> Option<T> {
        let before = self.get(key).cloned();
        for member in [&before, &value].into_iter().flatten() {
            self.digest ^= Seeded.hash_one((key, member));
        }
        self.above.insert(key.into(), value);
        before
    }
}

impl<T: Clone + Hash> OverlayMap<T> {
    /// Prepares for forks: from now on, a copy takes time proportional to the changes since, and at most [`BUFFERED`] directly
    /// after this.
    pub(super) fn freeze(&mut self, life: ForkLife) {
        self.thaw();
        match &mut self.layers {
            Layers::Own(table) if life == ForkLife::Long || table.members.len() > FEW => {
                let below = std::mem::replace(table, Table::new(SeededMap::default()));
                self.layers = Layers::Shared(Shared::new(below));
            }
            Layers::Shared(shared) if shared.above.len() > BUFFERED => shared.flush(),
            _ => {}
        }
    }

    /// Takes the map back if no fork is left.
    pub(super) fn thaw(&mut self) {
        let Layers::Shared(shared) = &mut self.layers else {
            return;
        };
        let Some(below) = Arc::get_mut(&mut shared.below) else {
            return;
        };
        let mut table = std::mem::replace(below, Table::new(SeededMap::default()));
        let between = std::mem::take(&mut shared.between).into_iter();
        let between = between.flat_map(|layer| Arc::unwrap_or_clone(layer).members);
        for (key, value) in between.chain(shared.above.drain()) {
            match value {
                Some(value) => table.insert(&key, value),
                None => table.remove(&key),
            };
        }
        self.layers = Layers::Own(table);
    }

    /// Whether a fork of the map may exist.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.layers, Layers::Shared(_))
    }

    pub(super) fn len(&self) -> usize {
        self.shapes.iter().map(|(_, count)| count).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    #[inline]
    pub(super) fn get(&self, key: &[Option<Value>]) -> Option<&T> {
        match &self.layers {
            Layers::Own(table) => table.members.get(key),
            Layers::Shared(shared) => shared.get(key),
        }
    }

    /// Returns the entry under the most informative key properly below this one.
    ///
    /// INVARIANT (joined): if two keys below a third have different values, their join is kept too, so any maximal key has the
    /// right value.
    #[inline]
    pub(super) fn below(&self, key: &[Option<Value>]) -> Option<&T> {
        // With one place, only the empty key is below, and it is not kept.
        if key.len() < 2 {
            return None;
        }
        self.all_below(key).next()
    }

    /// Returns all entries under keys properly below this one, most informative first.
    pub(super) fn all_below(&self, key: &[Option<Value>]) -> impl Iterator<Item = &T> {
        let own = bound(key);
        let shapes = self.shapes.iter().map(|(shape, _)| *shape);
        shapes
            .filter(move |shape| *shape != own && shape & own == *shape)
            .filter_map(|shape| self.get(&restricted(key, shape)))
    }

    /// Returns the compatible keys that bind a wanted set of places, in no particular order.
    pub(super) fn compatible(
        &self,
        with: &[Option<Value>],
        wanted: impl Fn(Places) -> bool,
        into: &mut Vec<Key>,
    ) {
        let asked = bound(with);
        let shapes = self.shapes.iter().map(|(shape, _)| *shape);
        for shape in shapes.filter(|shape| wanted(*shape)) {
            let part = shape & asked;
            if shape == part {
                let key = restricted(with, shape);
                if self.get(&key).is_some() {
                    into.push(key.into());
                }
                continue;
            }
            let agrees = |key: &&Key| binding::compatible(key, with);
            match &self.layers {
                Layers::Own(table) => {
                    let index = table.index(shape, part);
                    into.extend(index.get(with).filter(agrees).cloned());
                }
                Layers::Shared(shared) => {
                    let index = shared.below.index(shape, part);
                    let kept = index.get(with).filter(agrees);
                    into.extend(kept.filter(|key| shared.changed(key, 0).is_none()).cloned());
                    for (at, layer) in shared.between.iter().enumerate() {
                        let index = layer.index(shape, part);
                        let kept = index.get(with).filter(agrees);
                        let is_newest = |key: &&Key| shared.changed(key, at + 1).is_none();
                        let is_member =
                            |key: &&Key| matches!(layer.members.get(*key), Some(Some(_)));
                        into.extend(kept.filter(is_newest).filter(is_member).cloned());
                    }
                    let changed = shared.above.iter().filter(|(_, value)| value.is_some());
                    let changed = changed.map(|(key, _)| key);
                    let changed = changed.filter(|key| bound(key) == shape);
                    into.extend(changed.filter(agrees).cloned());
                }
            }
        }
    }

    /// Removes a member from the indexes, so that [`OverlayMap::compatible`] no longer finds it. The member itself
    /// stays.
    pub(super) fn remove_from_indexes(&mut self, key: &[Option<Value>]) {
        if let Layers::Own(table) = &mut self.layers {
            let shape = bound(key);
            for index in table.indexes().filter(|index| index.shape == shape) {
                index.remove(key);
            }
        }
    }

    /// Sets a value; returns the previous one.
    pub(super) fn insert(&mut self, key: &[Option<Value>], value: T) -> Option<T> {
        let before = match &mut self.layers {
            Layers::Own(table) => table.insert(key, value),
            Layers::Shared(shared) => shared.change(key, Some(value)),
        };
        if before.is_none() {
            self.count(bound(key));
        }
        before
    }

    /// Removes a value and returns it.
    pub(super) fn remove(&mut self, key: &[Option<Value>]) -> Option<T> {
        let before = match &mut self.layers {
            Layers::Own(table) => table.remove(key),
            Layers::Shared(shared) => shared.change(key, None),
        };
        if before.is_some() {
            let shape = bound(key);
            if let Some(at) = self.shapes.iter().position(|(other, _)| *other == shape) {
                self.shapes[at].1 -= 1;
                if self.shapes[at].1 == 0 {
                    self.shapes.remove(at);
                }
            }
        }
        before
    }

    fn count(&mut self, shape: Places) {
        match self.shapes.iter_mut().find(|(other, _)| *other == shape) {
            Some((_, count)) => *count += 1,
            None => {
                let fewer = |(other, _): &(Places, usize)| other.count_ones() < shape.count_ones();
                let at = self.shapes.iter().position(fewer);
                self.shapes
                    .insert(at.unwrap_or(self.shapes.len()), (shape, 1));
            }
        }
    }

    /// Returns all members, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Key, &T)> {
        let (own, shared) = match &self.layers {
            Layers::Own(table) => (Some(table.members.iter()), None),
            Layers::Shared(shared) => (None, Some(shared.iter())),
        };
        let own = own.into_iter().flatten();
        own.chain(shared.into_iter().flatten())
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.iter().map(|(key, _)| key)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &T> {
        self.iter().map(|(_, value)| value)
    }

    /// Removes and returns all members, in no particular order.
    pub(super) fn take(&mut self) -> Vec<(Key, T)> {
        self.thaw();
        match std::mem::take(self) {
            OverlayMap {
                layers: Layers::Own(table),
                ..
            } => table.members.into_iter().collect(),
            shared => {
                let member = |(key, value): (&Key, &T)| (key.clone(), value.clone());
                shared.iter().map(member).collect()
            }
        }
    }
}

/// Returns the key restricted to the values of these places.
fn restricted(key: &[Option<Value>], places: Places) -> Vec<Option<Value>> {
    let values = key.iter().enumerate();
    values
        .map(|(index, value)| {
            let kept = places & binding::place(index) != 0;
            value.clone().filter(|_| kept)
        })
        .collect()
}

impl<T: Clone + Hash> FromIterator<(Key, T)> for OverlayMap<T> {
    fn from_iter<I: IntoIterator<Item = (Key, T)>>(members: I) -> OverlayMap<T> {
        let mut map = OverlayMap::default();
        for (key, value) in members {
            map.insert(&key, value);
        }
        map
    }
}

/// Of two forks, unequal ones differ in their digests, except for collisions, and equal ones are compared in the layers in which
/// they differ.
impl<T: Clone + Hash + PartialEq> PartialEq for OverlayMap<T> {
    fn eq(&self, other: &OverlayMap<T>) -> bool {
        if self.len() != other.len() {
            return false;
        }
        match (&self.layers, &other.layers) {
            (Layers::Shared(one), Layers::Shared(two)) if Arc::ptr_eq(&one.below, &two.below) => {
                let pairs = one.between.iter().zip(&two.between);
                let same = pairs.take_while(|(one, two)| Arc::ptr_eq(one, two)).count();
                one.digest == two.digest
                    && [one, two].into_iter().all(|of| {
                        let between = of.between[same..].iter();
                        let keys = between.flat_map(|layer| layer.members.keys());
                        let mut keys = keys.chain(of.above.keys());
                        keys.all(|key| one.get(key) == two.get(key))
                    })
            }
            _ => {
                let same = |(key, value): (&Key, &T)| other.get(key) == Some(value);
                self.iter().all(same)
            }
        }
    }
}

impl<T: Clone + Hash + Eq> Eq for OverlayMap<T> {}

/// Serialises in the order of the keys, so that equal states have equal bytes.
impl<T: Clone + Hash + Serialize> Serialize for OverlayMap<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut members: Vec<(&Key, &T)> = self.iter().collect();
        members.sort_unstable_by_key(|(key, _)| *key);
        members.serialize(to)
    }
}

impl<'de, T: Clone + Hash + Deserialize<'de>> Deserialize<'de> for OverlayMap<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<OverlayMap<T>, D::Error> {
        let members: Vec<(Key, T)> = Vec::deserialize(from)?;
        Ok(members.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// One of 27 keys of three places.
    fn key(n: u8) -> Key {
        let value = |n: u8| (!n.is_multiple_of(3)).then(|| Value::string(n.to_string()));
        [value(n % 3), value(n / 3 % 3), value(n / 9 % 3)].into()
    }

    fn members(map: &OverlayMap<u8>) -> BTreeMap<Key, u8> {
        map.iter()
            .map(|(key, value)| (key.clone(), *value))
            .collect()
    }

    /// Lookups of a binding agree with a search through all members.
    fn agrees_with_plain(
        map: &OverlayMap<u8>,
        plain: &BTreeMap<Key, u8>,
        with: &Key,
    ) -> Result<(), TestCaseError> {
        let mut found = Vec::new();
        map.compatible(with, |_| true, &mut found);
        found.sort_unstable();
        let meant = plain.keys().filter(|key| binding::compatible(key, with));
        prop_assert_eq!(found, meant.cloned().collect::<Vec<_>>());
        let is_below = |key: &&Key| binding::join(key, with) == *with && *key != with;
        let mut found: Vec<u8> = map.all_below(with).copied().collect();
        found.sort_unstable();
        let mut meant: Vec<u8> = plain
            .keys()
            .filter(is_below)
            .map(|key| plain[key])
            .collect();
        meant.sort_unstable();
        prop_assert_eq!(found, meant);
        Ok(())
    }

    crate::random::tests! {
        256 cases;

        /// Whatever is forked, changed and asked when, each copy is the plain map that it would be.
        #[test]
        fn copies_never_see_one_another(steps in prop::collection::vec((0..9u8, 0..27u8, 0..4u8), 0..150)) {
            let (mut trace, mut plain) = (OverlayMap::default(), BTreeMap::new());
            let mut fork: Option<(OverlayMap<u8>, BTreeMap<Key, u8>)> = None;
            for (what, n, value) in steps {
                match (what, &mut fork) {
                    (0, fork) => {
                        trace.freeze(if n < 14 { ForkLife::Short } else { ForkLife::Long });
                        if fork.is_none() || value == 0 {
                            *fork = Some((trace.clone(), plain.clone()));
                        }
                    }
                    (1, fork) if value == 0 => {
                        *fork = None;
                        trace.thaw();
                    }
                    (2, Some((fork, plain))) => prop_assert_eq!(fork.insert(&key(n), value), plain.insert(key(n), value)),
                    (3, Some((fork, plain))) => prop_assert_eq!(fork.remove(&key(n)), plain.remove(&key(n))),
                    (4, Some((fork, of_fork))) if value == 0 => {
                        for key in (0..27).map(key) {
                            match plain.get(&key) {
                                Some(value) => fork.insert(&key, *value),
                                None => fork.remove(&key),
                            };
                        }
                        of_fork.clone_from(&plain);
                    }
                    (5, _) => prop_assert_eq!(trace.remove(&key(n)), plain.remove(&key(n))),
                    (6, Some((fork, _))) => fork.freeze(ForkLife::Long),
                    _ => prop_assert_eq!(trace.insert(&key(n), value), plain.insert(key(n), value)),
                }
                prop_assert_eq!(&members(&trace), &plain);
                prop_assert_eq!(trace.len(), plain.len());
                agrees_with_plain(&trace, &plain, &key(n))?;
                if let Some((fork, of_fork)) = &fork {
                    prop_assert_eq!(&members(fork), of_fork);
                    prop_assert_eq!(fork.len(), of_fork.len());
                    agrees_with_plain(fork, of_fork, &key(n))?;
                    prop_assert_eq!(*fork == trace, *of_fork == plain);
                }
            }
            let taken: BTreeMap<Key, u8> = trace.take().into_iter().collect();
            prop_assert_eq!(taken, plain);
        }
    }
}
