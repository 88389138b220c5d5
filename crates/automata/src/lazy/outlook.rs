//! Whether a value can still be reached, for automata that are built while traces are read.
//!
//! A breadth-first search over regions looks for one that accepts, or for one that does not. If it ends without finding one,
//! the verdict is final. Before each position the clock in time advances by any number of units, and the clock in steps by one.
//! The places of the counters after that are known up to the differences between them. The search follows every possibility, so
//! a region that it does not find is not reachable.
//!
//! For formulas whose counters do not meet (at most one counter is active for each bound) the answer is exact whenever the
//! search ends. It depends on the region alone, not on earlier searches.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::region::Place;
use super::{LazyDfa, Root};
use crate::diagram::Ref;
use crate::formula::Atom;
use crate::verdict::Finality;

/// Regions that one search may visit.
const REACH: usize = 256;

impl LazyDfa {
    /// Returns whether the rest of a trace can change the value in a region.
    pub(super) fn finality_of(&mut self, region: u32) -> Finality {
        let known = &self.regions[region as usize];
        if let Some(finality) = known.finality {
            return finality;
        }
        let at_hand = self.shapes[known.shape as usize].finality();
        let finality = match (at_hand, self.accepts(region)) {
            (Finality::Open, false) if self.reaches(region, true) == Some(false) => {
                Finality::FinalFalse
            }
            (Finality::Open, true) if self.reaches(region, false) == Some(false) => {
                Finality::FinalTrue
            }
            (known, _) => known,
        };
        self.regions[region as usize].finality = Some(finality);
        finality
    }

    /// Whether no trace of one position or more satisfies the formula, as far as the search over regions shows.
    pub(super) fn is_unsatisfiable(&mut self) -> bool {
        self.always(false, |_| None)
    }

    /// Whether all traces of one position or more have this value while these atoms have these values, as far as the search
    /// over regions shows.
    pub fn always(&mut self, value: bool, letter: impl Fn(Atom) -> Option<bool>) -> bool {
        let atoms = self.engine.program.atoms.iter();
        let letter: Vec<Option<bool>> = atoms.map(|&atom| letter(atom)).collect();
        let initial = self.initial();
        let first = self.region_at(&initial, 0, 0);
        let mut queue = IndexSet::default();
        self.follow(first, &letter, &mut queue).is_some()
            && self.search(queue, &letter, !value) == Some(false)
    }

    /// Whether a region with this value can be reached from this one, itself included; `None` if that is not known.
    fn reaches(&mut self, first: u32, wanted: bool) -> Option<bool> {
        self.search(IndexSet::from_iter([first]), &[], wanted)
    }

    /// Whether a region with this value can be reached from these, themselves included, by letters in which these atoms have
    /// these values.
    fn search(
        &mut self,
        mut queue: IndexSet<u32, FxBuildHasher>,
        letter: &[Option<bool>],
        wanted: bool,
    ) -> Option<bool> {
        let mut next = 0;
        while let Some(&region) = queue.get_index(next) {
            next += 1;
            if self.accepts(region) == wanted {
                return Some(true);
            }
            if queue.len() > REACH {
                return None;
            }
            self.follow(region, letter, &mut queue)?;
        }
        Some(false)
    }

    /// Adds the regions that one unit of time or one position leads to; `None` if there are too many.
    fn follow(
        &mut self,
        region: u32,
        letter: &[Option<bool>],
        into: &mut IndexSet<u32, FxBuildHasher>,
    ) -> Option<()> {
        let number = self.regions[region as usize].shape;
        let shape = self.shapes[number as usize].clone();
        let places: Vec<Place> = self.places(region).to_vec();
        if shape.n_counters > shape.n_steps {
            let moved = self.constants.moved(&shape, &places, true)?.into_iter();
            let moved = moved.map(|places| self.region_of(number, places.into_iter()));
            let moved = moved.collect();
            into.extend(self.settled(moved)?);
        }
        let Root::Built(root) = self.build(region) else {
            return None;
        };
        let moved = self.constants.moved(&shape, &places, false)?;
        for leaf in self.leaves(root, letter) {
            let arrivals = self.arrivals(leaf, &moved);
            into.extend(self.settled(arrivals)?);
        }
        Some(())
    }

    /// Returns the successors below a diagram that letters lead to in which these variables have these values.
    fn leaves(&self, root: Ref, letter: &[Option<bool>]) -> IndexSet<u32, FxBuildHasher> {
        self.diagrams
            .leaves_where(root, |var| letter.get(var as usize).copied().flatten())
    }
}
