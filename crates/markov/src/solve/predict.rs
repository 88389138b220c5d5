//! Predictions of what a method would cost, by which the one for a block is chosen.

use std::cell::OnceCell;

use super::super::scalar::Scalar;
use super::block::Block;
use super::order::{self, Order};

/// The number of multiplications of an elimination that take as long as one transition of a sweep.
const UPDATES_A_STEP: f64 = 4.0;

/// The number of sweeps that take as long as the order of an elimination: 90 in cubes of 1,000 and of 10,648 states, 50 in a
/// grid of 10,000.
const ORDER: f64 = 100.0;

/// The multiplications of an elimination are about this many times the cube of the width: 10 in a grid of 10,000 states, 6 in a
/// cube of 1,000, 10 in one of 10,648.
const WIDE: f64 = 10.0;

/// A Krylov method takes about this many sweeps for each step of the depth, and [`SHALLOW`]: 127 in cubes of depth 27, 172 of
/// 63, 313 of 135; in a grid of depth 62, about 300. Its progress does not predict the rest: the residual may not shrink at all
/// until each state has affected each other.
const DEEP: f64 = 3.0;

/// The least number of sweeps of a Krylov method.
const SHALLOW: f64 = 50.0;

/// While values grow by as much in each sweep, as expected rewards do at first, the relative change is inverse to the number of
/// sweeps. If it shrinks by not much more than that, no rate is known.
const HARMONIC: f64 = 0.9;

/// The elimination of a block as the alternative to iterating. Its order is computed when it is first asked for.
pub(super) struct Direct<'a, V: Scalar> {
    block: &'a Block<V>,
    max_work: f64,
    levels: OnceCell<Levels>,
    order: OnceCell<Option<Order>>,
}

/// The states of a block by their distance from one that is about as far from some others as any.
///
/// On a mesh, the width is the number of states in a cut, which form the last and largest dense matrix of an elimination, and the
/// depth is the number of steps that a Krylov method needs until each state has affected each other.
struct Levels {
    /// The number of distances.
    depth: usize,
    /// The largest number of states at the same distance.
    width: usize,
}

impl Levels {
    /// Searches twice, the second time from a state that the first search found last (A. George, J. Liu, "An implementation of a
    /// pseudoperipheral node finder", ACM TOMS 5(3), 1979). Takes as long as a few sweeps.
    fn new<V: Scalar>(block: &Block<V>) -> Levels {
        let mut seen = vec![0u8; block.len()];
        let mut queue: Vec<u32> = Vec::with_capacity(block.len());
        let mut levels = Levels { depth: 0, width: 0 };
        let mut start = 0;
        for round in 1..=2 {
            levels = Levels { depth: 0, width: 0 };
            queue.clear();
            queue.push(start);
            seen[start as usize] = round;
            let mut begin = 0;
            while begin < queue.len() {
                let end = queue.len();
                levels.depth += 1;
                levels.width = levels.width.max(end - begin);
                for at in begin..end {
                    let state = queue[at] as usize;
                    let row = block.rows[state] as usize..block.rows[state + 1] as usize;
                    for &target in &block.targets[row] {
                        if seen[target as usize] != round {
                            seen[target as usize] = round;
                            queue.push(target);
                        }
                    }
                }
                begin = end;
            }
            start = queue[queue.len() - 1];
        }
        levels
    }
}

impl<V: Scalar> Direct<'_, V> {
    pub(super) fn new(block: &Block<V>, max_work: f64) -> Direct<'_, V> {
        Direct {
            block,
            max_work,
            levels: OnceCell::new(),
            order: OnceCell::new(),
        }
    }

    /// Returns the number of sweeps that take as long as this many multiplications.
    fn in_sweeps(&self, work: f64) -> f64 {
        work / (self.block.targets.len() as f64 * UPDATES_A_STEP)
    }

    fn levels(&self) -> &Levels {
        self.levels.get_or_init(|| Levels::new(self.block))
    }

    /// Predicts the work of a Krylov method, in sweeps.
    pub(super) fn krylov(&self) -> f64 {
        DEEP * self.levels().depth as f64 + SHALLOW
    }

    /// Predicts the work of order and elimination, in sweeps, without the order.
    pub(super) fn guess(&self) -> f64 {
        ORDER + self.in_sweeps(WIDE * (self.levels().width as f64).powi(3))
    }

    /// Whether the order is not known yet.
    pub(super) fn is_open(&self) -> bool {
        self.order.get().is_none()
    }

    /// Returns the order, or `None` if the elimination would take too much work.
    pub(super) fn order(&self) -> Option<&Order> {
        let order = || order::order(self.block, self.max_work);
        self.order.get_or_init(order).as_ref()
    }

    /// Returns the number of sweeps that take as long as the elimination.
    pub(super) fn sweeps(&self) -> f64 {
        self.order()
            .map_or(f64::INFINITY, |order| self.in_sweeps(order.work))
    }
}

/// The changes of some sweeps, from which the rate at which they shrink follows.
pub(super) struct Probe {
    length: u32,
    /// The number of sweeps and the last change when the probe began, and in its middle.
    begin: (u32, f64),
    middle: (u32, f64),
}

impl Probe {
    pub(super) fn new(length: u32) -> Probe {
        Probe {
            length,
            begin: (0, f64::INFINITY),
            middle: (0, f64::INFINITY),
        }
    }

    /// Adds a sweep. A probe begins with the first sweep whose change is finite, if there is any.
    pub(super) fn add(&mut self, swept: u32, change: f64) {
        if self.begin.0 == 0 || change.is_finite() && self.begin.1 == f64::INFINITY {
            self.begin = (swept, change);
        }
        if swept == self.begin.0 + self.length / 2 {
            self.middle = (swept, change);
        }
    }

    /// Whether the probe began with a finite change.
    pub(super) fn has_begun(&self) -> bool {
        self.begin.1.is_finite()
    }

    pub(super) fn is_over(&self, swept: u32) -> bool {
        swept >= self.begin.0 + self.length
    }

    /// Returns the factor by which each sweep of the second half has shrunk the change, or `None` if it may still approach 1.
    pub(super) fn rate(&self, swept: u32, change: f64) -> Option<f64> {
        let (before, from) = (self.middle.1, self.middle.0);
        let is_harmonic = change * f64::from(swept) > HARMONIC * before * f64::from(from);
        let rate = (change / before).powf(1.0 / f64::from(swept - from));
        (!is_harmonic && rate.is_finite()).then_some(rate)
    }
}
