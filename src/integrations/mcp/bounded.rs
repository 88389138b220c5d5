//! A bounded map of pending entries: beyond the limits, the oldest is dropped.

use std::collections::{BTreeMap, HashMap};

use crate::monitor::joined;

/// The limits on the state of a session.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest number of entries of each map.
    pub entries: usize,
    /// The largest size of all entries of a map, in bytes.
    pub bytes: usize,
    /// The largest number of messages in a list.
    pub list: usize,
    /// The size in bytes up to which a text in several strings is written twice as a whole: with and without line ends
    /// between the strings.
    pub joined: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            entries: 10_000,
            bytes: 64 << 20,
            list: 10_000,
            joined: joined::WHOLE,
        }
    }
}

/// Entries by key, each with a unique number; numbers are never reused.
#[derive(Debug)]
pub(super) struct Bounded<T> {
    entries: BTreeMap<u64, Entry<T>>,
    numbers: HashMap<String, u64>,
    last: u64,
    bytes: usize,
    limits: Limits,
}

#[derive(Debug)]
struct Entry<T> {
    key: String,
    value: T,
    bytes: usize,
}

impl<T> Bounded<T> {
    pub(super) fn new(limits: Limits) -> Bounded<T> {
        Bounded {
            entries: BTreeMap::new(),
            numbers: HashMap::new(),
            last: 0,
            bytes: 0,
            limits,
        }
    }

    /// Adds an entry whose key is not present yet; returns its number and the evicted entries.
    pub(super) fn insert(&mut self, key: String, value: T, bytes: usize) -> (u64, Vec<T>) {
        let bytes = bytes + key.len();
        self.last += 1;
        self.bytes += bytes;
        self.numbers.insert(key.clone(), self.last);
        self.entries.insert(self.last, Entry { key, value, bytes });
        let mut evicted = Vec::new();
        while self.entries.len() > self.limits.entries.max(1)
            || (self.bytes > self.limits.bytes && self.entries.len() > 1)
        {
            let Some(&oldest) = self.entries.keys().next() else {
                break;
            };
            evicted.extend(self.remove(oldest));
        }
        (self.last, evicted)
    }

    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.numbers.get(key).copied()
    }

    pub(super) fn get(&self, number: u64) -> Option<&T> {
        self.entries.get(&number).map(|entry| &entry.value)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        self.entries.get_mut(&number).map(|entry| &mut entry.value)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &T> {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the entries with their numbers, oldest first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &T)> {
        let entries = self.entries.iter();
        entries.map(|(number, entry)| (*number, &entry.value))
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<T> {
        let entry = self.entries.remove(&number)?;
        self.numbers.remove(&entry.key);
        self.bytes -= entry.bytes;
        Some(entry.value)
    }

    /// Removes all entries and returns them, oldest first.
    pub(super) fn drain(&mut self) -> Vec<T> {
        let Bounded { limits, last, .. } = *self;
        let emptied = Bounded {
            last,
            ..Bounded::new(limits)
        };
        let entries = std::mem::replace(self, emptied).entries;
        entries.into_values().map(|entry| entry.value).collect()
    }

    /// Removes an entry by key.
    pub(super) fn take(&mut self, key: &str) -> Option<T> {
        self.number(key).and_then(|number| self.remove(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_has_no_room_any_more() {
        let limits = Limits {
            entries: 2,
            bytes: 10,
            list: 0,
            joined: 0,
        };
        let mut kept = Bounded::new(limits);
        assert_eq!(kept.insert("a".to_owned(), 'a', 1), (1, vec![]));
        assert_eq!(kept.insert("b".to_owned(), 'b', 1), (2, vec![]));
        assert_eq!(kept.insert("c".to_owned(), 'c', 1), (3, vec!['a']));
        assert_eq!((kept.number("a"), kept.take("b")), (None, Some('b')));
        // An entry that exceeds the size limit is kept if it is the only one.
        assert_eq!(kept.insert("d".to_owned(), 'd', 100), (4, vec!['c']));
        assert_eq!(kept.remove(4), Some('d'));
        assert_eq!((kept.bytes, kept.numbers.len()), (0, 0));
    }
}
