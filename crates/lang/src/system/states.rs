//! Packed states, numbered in the order in which they are found.

use hashbrown::HashTable;

/// A table of states of one width.
pub(super) struct States {
    words: usize,
    data: Vec<u64>,
    table: HashTable<u32>,
}

impl States {
    pub(super) fn new(words: usize) -> States {
        States {
            words,
            data: Vec::new(),
            table: HashTable::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.data.len() / self.words
    }

    /// Returns the state of a number.
    #[inline]
    pub(super) fn get(&self, number: u32) -> &[u64] {
        let start = number as usize * self.words;
        &self.data[start..start + self.words]
    }

    /// Returns the number of a known state.
    pub(super) fn find(&self, state: &[u64]) -> Option<u32> {
        self.table
            .find(hash(state), |number| self.get(*number) == state)
            .copied()
    }

    /// Returns the number of a state, and whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, state: &[u64]) -> (u32, bool) {
        let States { words, data, table } = self;
        let words = *words;
        let number = (data.len() / words) as u32;
        let at = |number: u32| &data[number as usize * words..(number as usize + 1) * words];
        let entry = match state {
            // States of one word are compared as numbers.
            [word] => table.entry(
                hash(state),
                |known| data[*known as usize] == *word,
                |known| hash(at(*known)),
            ),
            _ => table.entry(
                hash(state),
                |known| at(*known) == state,
                |known| hash(at(*known)),
            ),
        };
        match entry {
            hashbrown::hash_table::Entry::Occupied(known) => (*known.get(), false),
            hashbrown::hash_table::Entry::Vacant(free) => {
                free.insert(number);
                data.extend_from_slice(state);
                (number, true)
            }
        }
    }
}

/// Returns a multiplicative hash whose high and low bits both depend on the whole state.
#[inline]
fn hash(state: &[u64]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = 0u64;
    for word in state {
        hash = (hash.rotate_left(23) ^ word).wrapping_mul(ODD);
    }
    hash ^ hash >> 32
}
