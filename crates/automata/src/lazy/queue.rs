//! Deadlines that come one after the other, in a queue that states share.
//!
//! A state is kept beside those that it came from, so a queue with thousands of entries must not be copied for each state. The
//! entries are shared. Adding, taking the first, copying and hashing take constant time, on average over the steps of a trace.
//!
//! # Source
//! The queue of two lists: R. Hood, R. Melville, "Real-time queue operations in pure LISP", 1981, without their incremental
//! reversal: here the times are amortised.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Numbers in ascending order, each once.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
#[serde(from = "Vec<i128>", into = "Vec<i128>")]
pub(super) struct Queue {
    /// The first ones, from `start` on.
    front: Arc<[i128]>,
    start: usize,
    /// Those after them, the last one first.
    back: Option<Arc<Node>>,
    len: usize,
    /// A polynomial in [`BASE`] with the numbers as its coefficients, and the power of it that comes next.
    hash: u64,
    power: u64,
}

struct Node {
    value: i128,
    before: Option<Arc<Node>>,
}

/// Odd, so that it has an inverse among the numbers of 64 bits.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
const INVERSE: u64 = inverse(BASE);

/// Returns the inverse of an odd number, by Newton's iteration, which doubles the bits that are right.
const fn inverse(odd: u64) -> u64 {
    let mut found = odd;
    let mut round = 0;
    while round < 6 {
        found = found.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(found)));
        round += 1;
    }
    found
}

impl Queue {
    /// Adds a number in its place in the order.
    pub(super) fn push(&mut self, value: i128) {
        match self.last() {
            Some(last) if value <= last => {
                let mut all: Vec<i128> = self.iter().collect();
                if let Err(place) = all.binary_search(&value) {
                    all.insert(place, value);
                }
                *self = Queue::from(all);
            }
            _ => {
                let before = self.back.take();
                self.back = Some(Arc::new(Node { value, before }));
                self.count(value);
            }
        }
    }

    fn count(&mut self, value: i128) {
        if self.len == 0 {
            (self.hash, self.power) = (0, 1);
        }
        self.len += 1;
        self.hash = self.hash.wrapping_mul(BASE).wrapping_add(value as u64);
        self.power = self.power.wrapping_mul(BASE);
    }

    /// Adds all numbers of another queue.
    pub(super) fn append(&mut self, other: &Queue) {
        if self.len == 0 {
            *self = other.clone();
        } else {
            other.iter().for_each(|value| self.push(value));
        }
    }

    /// Takes the least number.
    pub(super) fn pop(&mut self) -> Option<i128> {
        if self.start == self.front.len() {
            self.front = reversed(self.back.take().as_ref()).into();
            self.start = 0;
        }
        let value = *self.front.get(self.start)?;
        self.start += 1;
        self.len -= 1;
        self.power = self.power.wrapping_mul(INVERSE);
        self.hash = self
            .hash
            .wrapping_sub((value as u64).wrapping_mul(self.power));
        Some(value)
    }

    fn last(&self) -> Option<i128> {
        match &self.back {
            Some(node) => Some(node.value),
            None => self.front[self.start..].last().copied(),
        }
    }

    /// Returns the numbers, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = i128> {
        let front = self.front[self.start..].iter().copied();
        // The second list is reversed when the iterator reaches it.
        let back = std::iter::once(self.back.as_ref()).flat_map(reversed);
        front.chain(back)
    }

    fn is_same(&self, other: &Queue) -> bool {
        let backs = match (&self.back, &other.back) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        backs && self.start == other.start && Arc::ptr_eq(&self.front, &other.front)
    }
}

/// Returns a list in order, its last number last.
fn reversed(mut list: Option<&Arc<Node>>) -> Vec<i128> {
    let mut all = Vec::new();
    while let Some(node) = list {
        all.push(node.value);
        list = node.before.as_ref();
    }
    all.reverse();
    all
}

impl Drop for Node {
    fn drop(&mut self) {
        // Iterative, because dropping a long list recursively could overflow the stack.
        let mut next = self.before.take();
        while let Some(mut node) = next.and_then(Arc::into_inner) {
            next = node.before.take();
        }
    }
}

impl From<Vec<i128>> for Queue {
    fn from(values: Vec<i128>) -> Queue {
        let mut queue = Queue::default();
        values.iter().for_each(|&value| queue.count(value));
        queue.front = values.into();
        queue
    }
}

impl From<Queue> for Vec<i128> {
    fn from(queue: Queue) -> Vec<i128> {
        queue.iter().collect()
    }
}

impl PartialEq for Queue {
    fn eq(&self, other: &Queue) -> bool {
        let (left, right) = ((self.len, self.hash), (other.len, other.hash));
        left == right && (self.len == 0 || self.is_same(other) || self.iter().eq(other.iter()))
    }
}

impl Eq for Queue {}

impl Hash for Queue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.len, if self.len == 0 { 0 } else { self.hash }).hash(state);
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue is equal to the list of its numbers and has its hash, however it was built.
    #[test]
    fn a_queue_is_what_it_holds() {
        let mut queue = Queue::default();
        let mut list: Vec<i128> = Vec::new();
        let mut random = 1u64;
        for round in 0..2_000i128 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            match random >> 62 {
                0 => assert_eq!(queue.pop(), (!list.is_empty()).then(|| list.remove(0))),
                1 if round % 7 == 0 => {
                    queue.push(round - 20);
                    if let Err(place) = list.binary_search(&(round - 20)) {
                        list.insert(place, round - 20);
                    }
                }
                _ => {
                    queue.push(round);
                    list.push(round);
                }
            }
            let fresh = Queue::from(list.clone());
            assert_eq!(queue, fresh);
            assert_eq!(
                (queue.len, queue.last()),
                (list.len(), list.last().copied())
            );
            assert!(queue.len == 0 || queue.hash == fresh.hash);
        }
        let mut both = Queue::from(vec![1, 2]);
        both.append(&Queue::from(vec![2, 5]));
        assert_eq!(Vec::from(both), [1, 2, 5]);
    }

    #[test]
    fn a_long_queue_is_dropped() {
        let mut queue = Queue::default();
        (0..1_000_000).for_each(|value| queue.push(value));
        drop(queue.clone());
        assert_eq!(queue.pop(), Some(0));
    }
}
