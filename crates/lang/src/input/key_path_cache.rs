//! Objects whose keys were met before, in the same order: most objects of a recording.
//!
//! A sequence of keys that are all different is remembered, as a path of a tree. An object that goes along such a path needs
//! no look at its keys but whether they are the expected ones, byte for byte: they are sound, they are known, and no key
//! stands twice. Where it leaves every path, it is read as if nothing were known, and the tree grows.
//!
//! Objects of a recording repeat a few orders of keys: of 7,925 objects of tau-bench, the keys of 10 had to be looked at one by
//! one.
//!
//! # Source
//! Speculation on the structure of records: Y. Li, N. R. Katsipoulakis, B. Chandramouli, J. Goldstein, D. Kossmann, *Mison:
//! a fast JSON parser for data analytics*, 2017.

/// Places of all trees together; beyond that nothing is learned.
const MOST_PLACES: usize = 1024;

/// Keys that may follow at one place.
const MOST_EDGES: usize = 8;

/// A place in a tree: the keys that were met so far.
pub(crate) type KeyPathId = u32;

/// The trees.
#[derive(Debug, Default)]
pub(crate) struct KeyPathCache {
    /// The root of the tree of each kind of object.
    roots: Vec<Option<KeyPathId>>,
    places: Vec<KeyPath>,
}

#[derive(Debug, Default)]
struct KeyPath {
    /// The previous node, and the index of the edge from there; `None` at a root.
    from: Option<(KeyPathId, usize)>,
    edges: Vec<Edge>,
    /// The edge that was taken last.
    latest: usize,
}

#[derive(Debug)]
struct Edge {
    /// As it is written, from the opening quote to where the value begins.
    written: Box<[u8]>,
    /// Bytes between the quotes.
    len: usize,
    to: KeyPathId,
}

impl KeyPathCache {
    /// Returns the beginning of objects of a kind.
    #[inline]
    pub(crate) fn root(&mut self, kind: usize) -> Option<KeyPathId> {
        match self.roots.get(kind) {
            Some(Some(root)) => Some(*root),
            _ => self.new_root(kind),
        }
    }

    #[cold]
    fn new_root(&mut self, kind: usize) -> Option<KeyPathId> {
        if kind >= MOST_PLACES {
            return None;
        }
        let root = self.place(None)?;
        if self.roots.len() <= kind {
            self.roots.resize(kind + 1, None);
        }
        self.roots[kind] = Some(root);
        Some(root)
    }

    fn place(&mut self, from: Option<(KeyPathId, usize)>) -> Option<KeyPathId> {
        if self.places.len() >= MOST_PLACES {
            return None;
        }
        self.places.push(KeyPath {
            from,
            ..KeyPath::default()
        });
        Some((self.places.len() - 1) as KeyPathId)
    }

    /// Returns the expected key at an offset: how many bytes it has, where its value begins, and the place after it.
    #[inline]
    pub(crate) fn next(
        &mut self,
        at: KeyPathId,
        bytes: &[u8],
        offset: usize,
    ) -> Option<(usize, usize, KeyPathId)> {
        let place = &mut self.places[at as usize];
        let rest = bytes.get(offset..)?;
        let stands = |edge: &Edge| rest.starts_with(&edge.written);
        let found = match place.edges.get(place.latest) {
            Some(edge) if stands(edge) => place.latest,
            _ => {
                let found = place.edges.iter().position(stands)?;
                place.latest = found;
                found
            }
        };
        let edge = &place.edges[found];
        Some((edge.len, offset + edge.written.len(), edge.to))
    }

    /// Learns a key without escapes, whose text with everything up to its value is between these offsets. Returns the node
    /// after it, or `None` if there is no room or the key was already in the path.
    pub(crate) fn learn(
        &mut self,
        at: KeyPathId,
        bytes: &[u8],
        quote: usize,
        len: usize,
        value: usize,
    ) -> Option<KeyPathId> {
        let written = bytes.get(quote..value)?;
        let known = |edge: &Edge| *edge.written == *written;
        let place = &self.places[at as usize];
        if let Some(edge) = place.edges.iter().find(|edge| known(edge)) {
            return Some(edge.to);
        }
        let edge = place.edges.len();
        if edge >= MOST_EDGES || self.has(at, bytes.get(quote + 1..quote + 1 + len)?) {
            return None;
        }
        let to = self.place(Some((at, edge)))?;
        self.places[at as usize].edges.push(Edge {
            written: written.into(),
            len,
            to,
        });
        Some(to)
    }

    /// Whether a key is on the way to a place.
    fn has(&self, mut at: KeyPathId, key: &[u8]) -> bool {
        while let Some((from, edge)) = self.places[at as usize].from {
            let edge = &self.places[from as usize].edges[edge];
            if edge.written.get(1..=edge.len) == Some(key) {
                return true;
            }
            at = from;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learned_is_expected_and_no_key_is_expected_twice() {
        let text = br#"{"a": 1, "b" :2, "a":3}"#;
        let mut key_paths = KeyPathCache::default();
        let root = key_paths.root(3).unwrap_or_default();
        assert_eq!(key_paths.root(3), Some(root));
        assert_eq!(key_paths.next(root, text, 1), None);
        let a = key_paths.learn(root, text, 1, 1, 6);
        let Some(a) = a else {
            unreachable!("there is room")
        };
        assert_eq!(key_paths.next(root, text, 1), Some((1, 6, a)));
        // Another way to write it is another edge.
        assert_eq!(key_paths.next(root, text, 17), None);
        let b = key_paths.learn(a, text, 9, 1, 14).unwrap_or_default();
        assert_eq!(key_paths.next(a, text, 9), Some((1, 14, b)));
        assert_eq!(key_paths.learn(b, text, 17, 1, 21), None);
        assert_eq!(key_paths.next(b, text, 17), None);
        // A key that another begins with is another key.
        assert_eq!(key_paths.next(root, br#"{"ab":1}"#, 1), None);
        assert_eq!(key_paths.next(root, b"{\"a\"", 1), None);
    }
}
