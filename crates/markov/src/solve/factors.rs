//! A cache of eliminated components for further right-hand sides.
//!
//! The transitions of a component depend only on the chain and the component's states; boundary values and rewards affect only
//! the right-hand side. A probability and an expected time, the probabilities of ending in several components, or the parts of
//! a long-run average are therefore solved with one elimination.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::super::scalar::Scalar;
use super::eliminate::Factorisation;

/// The eliminated components of one chain.
///
/// # Limits
/// At most [`Accuracy::max_kept`](super::Accuracy::max_kept) numbers are stored; other components are eliminated again.
#[derive(Debug)]
pub struct Factors<V> {
    /// The components by number of states and first state. By the number alone, each of many small components was compared with
    /// all others: 10,000 phases with retries took 610 ms instead of 60, and ten times as many a hundred times as long.
    by_key: RefCell<FxHashMap<Key, Vec<Rc<Eliminated<V>>>>>,
    /// The number of stored numbers of all components.
    numbers: Cell<usize>,
    uses: Cell<Uses>,
}

/// The number of states of a component, and the least of them.
type Key = (usize, Option<u32>);

fn key(members: &[u32]) -> Key {
    (members.len(), members.iter().min().copied())
}

/// The numbers of performed and of avoided eliminations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// The number of performed eliminations.
    pub made: usize,
    /// The number of right-hand sides that were solved with a stored elimination.
    pub shared: usize,
}

/// An eliminated component.
#[derive(Debug)]
pub(super) struct Eliminated<V> {
    /// The states, in the order of the eliminated block.
    pub(super) members: Vec<u32>,
    sorted: Vec<u32>,
    pub(super) factorisation: Factorisation<V>,
}

impl<V> Default for Factors<V> {
    fn default() -> Factors<V> {
        Factors {
            by_key: RefCell::default(),
            numbers: Cell::default(),
            uses: Cell::default(),
        }
    }
}

impl<V: Scalar> Factors<V> {
    /// Returns the counts so far.
    pub fn uses(&self) -> Uses {
        self.uses.get()
    }

    /// Returns the component with these states, if it is stored.
    pub(super) fn find(&self, members: &[u32]) -> Option<Rc<Eliminated<V>>> {
        let by_key = self.by_key.borrow();
        let candidates = by_key.get(&key(members))?;
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        let found = candidates.iter().find(|kept| kept.sorted == sorted)?;
        self.uses.update(|uses| Uses {
            shared: uses.shared + 1,
            ..uses
        });
        Some(Rc::clone(found))
    }

    /// Stores a component if there is room.
    pub(super) fn keep(&self, members: &[u32], factorisation: Factorisation<V>, max_kept: usize) {
        self.uses.update(|uses| Uses {
            made: uses.made + 1,
            ..uses
        });
        let numbers = self.numbers.get() + factorisation.numbers();
        if numbers > max_kept {
            return;
        }
        self.numbers.set(numbers);
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        let kept = Rc::new(Eliminated {
            members: members.to_vec(),
            sorted,
            factorisation,
        });
        let mut by_key = self.by_key.borrow_mut();
        by_key.entry(key(members)).or_default().push(kept);
    }
}
