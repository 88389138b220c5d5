//! Finds keys that stand twice in one object.

use super::scan::{Keys, Raw, decode};

/// The keys of the objects that are open, innermost last. One vector serves all of a text, so that an object costs no
/// allocation.
#[derive(Debug, Default)]
pub(crate) struct OpenKeys {
    entries: Vec<Entry>,
    /// Where the keys of each open object begin.
    bases: Vec<usize>,
    /// Keys that were written with escapes, one after the other.
    decoded: String,
    /// What was found.
    pub(crate) found: Vec<Found>,
}

/// An object that cannot be trusted.
#[derive(Debug)]
pub(crate) struct Found {
    /// Byte offset of the key's second copy.
    pub(crate) at: usize,
    /// The key.
    pub(crate) key: String,
    /// The key is half a surrogate pair rather than there twice.
    pub(crate) lone: bool,
}

/// A key: its first bytes and length decide nearly every comparison.
#[derive(Clone, Copy, Debug)]
struct Entry {
    prefix: u64,
    start: usize,
    len: usize,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Text,
    /// In `OpenKeys::decoded`; the key stands at this offset of the text.
    Decoded(usize),
    /// Half a surrogate pair.
    Lone,
}

/// Up to this many keys are compared in pairs; more are sorted, which no choice of keys can slow down.
const PAIRS: usize = 12;

impl OpenKeys {
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.bases.clear();
        self.decoded.clear();
        self.found.clear();
    }

    /// The text of a key that was just read.
    pub(crate) fn text<'a>(&'a mut self, text: &'a str, key: Raw) -> &'a str {
        let raw = text.get(key.start..key.end).unwrap_or_default();
        if !key.escaped {
            return raw;
        }
        // It was pushed last and decoded then.
        match self.entries.last() {
            Some(entry) => self
                .decoded
                .get(entry.start..entry.start + entry.len)
                .filter(|_| matches!(entry.place, Place::Decoded(_)))
                .unwrap_or(raw),
            None => raw,
        }
    }

    /// Number of keys of the innermost open object.
    pub(crate) fn count(&self) -> usize {
        self.entries.len() - self.bases.last().copied().unwrap_or_default()
    }

    fn slice<'a>(&'a self, bytes: &'a [u8], entry: &Entry) -> &'a [u8] {
        let range = entry.start..entry.start + entry.len;
        match entry.place {
            Place::Decoded(_) => self.decoded.as_bytes().get(range),
            _ => bytes.get(range),
        }
        .unwrap_or_default()
    }

    fn same(&self, bytes: &[u8], lhs: &Entry, rhs: &Entry) -> bool {
        lhs.prefix == rhs.prefix
            && lhs.len == rhs.len
            && (lhs.len <= 8 || self.slice(bytes, lhs) == self.slice(bytes, rhs))
    }

    fn twice(&mut self, bytes: &[u8], base: usize) -> Option<Entry> {
        let open = self.entries.get(base..).unwrap_or_default();
        if open.len() <= PAIRS {
            for (idx, entry) in open.iter().enumerate() {
                if open[..idx]
                    .iter()
                    .any(|earlier| self.same(bytes, earlier, entry))
                {
                    return Some(*entry);
                }
            }
            return None;
        }
        let mut sorted = open.to_vec();
        sorted.sort_unstable_by(|lhs, rhs| {
            (lhs.prefix, lhs.len)
                .cmp(&(rhs.prefix, rhs.len))
                .then_with(|| {
                    if lhs.len <= 8 {
                        std::cmp::Ordering::Equal
                    } else {
                        self.slice(bytes, lhs).cmp(self.slice(bytes, rhs))
                    }
                })
                .then(lhs.start.cmp(&rhs.start))
        });
        sorted
            .windows(2)
            .filter(|pair| self.same(bytes, &pair[0], &pair[1]))
            .map(|pair| pair[1])
            .min_by_key(|entry| entry.start)
    }
}

fn prefix(bytes: &[u8], start: usize, len: usize) -> u64 {
    let first = bytes
        .get(start..start + 8)
        .and_then(|chunk| chunk.try_into().ok())
        .map(u64::from_le_bytes);
    match first {
        Some(word) if len >= 8 => word,
        Some(word) => word & ((1 << (len * 8)) - 1),
        // Within the last eight bytes of a text.
        None => bytes
            .get(start..start + len.min(8))
            .unwrap_or_default()
            .iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

impl Keys for OpenKeys {
    fn open(&mut self) {
        self.bases.push(self.entries.len());
    }

    #[inline]
    fn key(&mut self, bytes: &[u8], key: Raw) {
        let mut entry = Entry {
            prefix: 0,
            start: key.start,
            len: key.end - key.start,
            place: Place::Text,
        };
        if key.lone {
            entry.place = Place::Lone;
        } else if key.escaped {
            let raw = bytes.get(key.start..key.end).unwrap_or_default();
            entry.start = self.decoded.len();
            entry.place = Place::Decoded(key.start);
            // The walk is over text that is known to be UTF-8.
            decode(
                std::str::from_utf8(raw).unwrap_or_default(),
                &mut self.decoded,
            );
            entry.len = self.decoded.len() - entry.start;
            entry.prefix = prefix(self.decoded.as_bytes(), entry.start, entry.len);
        }
        if entry.place == Place::Text {
            entry.prefix = prefix(bytes, entry.start, entry.len);
        }
        self.entries.push(entry);
    }

    #[inline]
    fn close(&mut self, bytes: &[u8], _: usize) {
        let base = self.bases.pop().unwrap_or_default();
        let lone = self.entries[base..]
            .iter()
            .find(|entry| entry.place == Place::Lone)
            .copied();
        if let Some(entry) = lone.or_else(|| self.twice(bytes, base)) {
            let key = String::from_utf8_lossy(self.slice(bytes, &entry)).into_owned();
            let at = match entry.place {
                Place::Decoded(at) => at,
                _ => entry.start,
            };
            self.found.push(Found {
                at,
                key,
                lone: lone.is_some(),
            });
        }
        if let Some(first) = self.entries[base..]
            .iter()
            .find(|e| matches!(e.place, Place::Decoded(_)))
        {
            self.decoded.truncate(first.start);
        }
        self.entries.truncate(base);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::scan::Scanner;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<String> {
        let mut keys = OpenKeys::default();
        assert!(Scanner::new(text.as_bytes()).skip(&mut keys, 100).is_ok());
        keys.found.into_iter().map(|found| found.key).collect()
    }

    #[test]
    fn duplicates_are_found_at_any_nesting_and_in_any_spelling() {
        assert_eq!(found(r#"{"a":1,"b":{"a":2},"c":[{"a":3}]}"#), [""; 0]);
        assert_eq!(found(r#"{"a":1,"a":2}"#), ["a"]);
        assert_eq!(
            found(r#"[{"x":{"command":1,"\u0063ommand":2}}]"#),
            ["command"]
        );
        assert_eq!(
            found(r#"{"longer than eight":1,"longer than nine!":2}"#),
            [""; 0]
        );
        assert_eq!(found(r#"{"":1,"":2}"#), [""]);
        assert_eq!(found(r#"{"\ud800":1}"#), ["\\ud800"]);
    }

    proptest! {
        #[test]
        fn agrees_with_a_set(names in proptest::collection::vec("[ab\\\\\"é]{0,12}", 0..40)) {
            let members: Vec<_> = names
                .iter()
                .map(|name| format!("{}:0", serde_json::Value::from(name.as_str())))
                .collect();
            let distinct: std::collections::HashSet<_> = names.iter().collect();
            let text = format!("{{{}}}", members.join(","));
            prop_assert_eq!(found(&text).is_empty(), distinct.len() == names.len());
        }
    }
}
