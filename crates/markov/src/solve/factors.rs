//! Components that were eliminated, kept for further right-hand sides.
//!
//! Which transitions a component has follows from the chain and the component's states alone; what is asked about them
//! (the boundary, the rewards) only fills the right-hand side. So a probability and an expected time, the probabilities to
//! end in each of several places, or the parts of a long-run average are solved with one elimination.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::super::scalar::Scalar;
use super::eliminate::Factorisation;

/// The eliminated components of one chain.
///
/// # Limits
/// It stops keeping at [`Accuracy::max_kept`](super::Accuracy::max_kept) numbers; what is not kept is eliminated again.
#[derive(Debug)]
pub struct Factors<V> {
    /// By the number of states.
    by_size: RefCell<FxHashMap<usize, Vec<Rc<Eliminated<V>>>>>,
    /// Numbers held by all of them.
    numbers: Cell<usize>,
    uses: Cell<Uses>,
}

/// The number of eliminations of components, and of those that were avoided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Eliminations.
    pub made: usize,
    /// Right-hand sides that were solved with one made before.
    pub shared: usize,
}

/// A component that was eliminated.
#[derive(Debug)]
pub(super) struct Eliminated<V> {
    /// Its states, in the order of the block that was eliminated.
    pub(super) members: Vec<u32>,
    sorted: Vec<u32>,
    pub(super) factorisation: Factorisation<V>,
}

impl<V> Default for Factors<V> {
    fn default() -> Factors<V> {
        Factors {
            by_size: RefCell::default(),
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

    /// Returns the component of these states, if it was kept.
    pub(super) fn find(&self, members: &[u32]) -> Option<Rc<Eliminated<V>>> {
        let by_size = self.by_size.borrow();
        let candidates = by_size.get(&members.len())?;
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        let found = candidates.iter().find(|kept| kept.sorted == sorted)?;
        self.uses.update(|uses| Uses {
            shared: uses.shared + 1,
            ..uses
        });
        Some(Rc::clone(found))
    }

    /// Keeps a component, if there is room.
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
        let mut by_size = self.by_size.borrow_mut();
        by_size.entry(members.len()).or_default().push(kept);
    }
}
