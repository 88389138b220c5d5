//! Finds keys that stand twice in one object.

use super::scan::Key;

/// The keys of the objects that are open, innermost last. One vector serves all of a text, so that an object costs no
/// allocation.
#[derive(Debug, Default)]
pub(crate) struct OpenKeys {
    entries: Vec<Entry>,
    /// The start of the keys of each open object.
    bases: Vec<usize>,
    /// Keys that were written with escapes, one after the other.
    decoded: String,
    /// The duplicate keys that were found.
    pub(crate) found: Vec<Found>,
}

/// An object that cannot be trusted.
#[derive(Debug)]
pub(crate) struct Found {
    /// Byte offset of the key's second copy.
    pub(crate) at: usize,
    /// The key.
    pub(crate) key: String,
}

/// A key: its first bytes and length decide nearly every comparison.
#[derive(Clone, Copy, Debug)]
struct Entry {
    prefix: u64,
    len: usize,
    /// Byte offset in the text.
    at: usize,
    /// The start in `OpenKeys::decoded`, if it is written with escapes.
    decoded: Option<usize>,
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

    /// Begins an object.
    pub(crate) fn open(&mut self) {
        self.bases.push(self.entries.len());
    }

    /// Adds a key to the innermost open object.
    #[inline]
    pub(crate) fn key(&mut self, bytes: &[u8], key: Key<'_>) {
        let len = key.text.len();
        let (decoded, prefix) = if key.escaped {
            let start = self.decoded.len();
            self.decoded.push_str(key.text);
            (Some(start), prefix(self.decoded.as_bytes(), start, len))
        } else {
            (None, prefix(bytes, key.at, len))
        };
        self.entries.push(Entry {
            prefix,
            len,
            at: key.at,
            decoded,
        });
    }

    /// Ends the innermost open object.
    #[inline]
    pub(crate) fn close(&mut self, bytes: &[u8]) {
        let base = self.bases.pop().unwrap_or_default();
        if let Some(entry) = self.twice(bytes, base) {
            let key = String::from_utf8_lossy(self.slice(bytes, &entry)).into_owned();
            self.found.push(Found { at: entry.at, key });
        }
        if let Some(first) = self.entries[base..].iter().find_map(|entry| entry.decoded) {
            self.decoded.truncate(first);
        }
        self.entries.truncate(base);
    }

    /// Returns the number of keys of the innermost open object.
    pub(crate) fn count(&self) -> usize {
        self.entries.len() - self.bases.last().copied().unwrap_or_default()
    }

    fn slice<'a>(&'a self, bytes: &'a [u8], entry: &Entry) -> &'a [u8] {
        let (bytes, start) = match entry.decoded {
            Some(start) => (self.decoded.as_bytes(), start),
            None => (bytes, entry.at),
        };
        bytes.get(start..start + entry.len).unwrap_or_default()
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
                .then(lhs.at.cmp(&rhs.at))
        });
        sorted
            .windows(2)
            .filter(|pair| self.same(bytes, &pair[0], &pair[1]))
            .map(|pair| pair[1])
            .min_by_key(|entry| entry.at)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::scan::Scanner;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<String> {
        let mut keys = OpenKeys::default();
        let mut scanner = Scanner::new(text, 0, String::new());
        assert!(scanner.skip(Some(&mut keys), 100).is_ok());
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
    }

    crate::random::tests! {
        256 cases;

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
