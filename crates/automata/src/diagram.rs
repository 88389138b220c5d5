//! Ordered, reduced decision diagrams with many leaves (MTBDDs), shared through one table.
//!
//! A diagram asks variables in increasing order and ends in a leaf, a number whose meaning is the caller's. Equal functions
//! have equal [`Ref`]s. All recursion here is at most as deep as there are variables, which
//! [`Limits::atoms`](super::Limits::atoms) bounds.
//!
//! # Source
//! R. Bryant, "Graph-based algorithms for Boolean function manipulation", 1986; leaves as states: J. Henriksen and others,
//! "Mona: monadic second-order logic in practice", 1995.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::formula::Atom;
use super::limits::{LimitError, Meter};

/// A diagram: a leaf or the index of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Ref(u32);

const LEAF: u32 = 1 << 31;

/// The leaf "false" of a Boolean function; as an obligation, that no continuation satisfies it.
pub(super) const FALSE: u32 = 0;
/// The leaf "true" of a Boolean function; as an obligation, that every continuation satisfies it.
pub(super) const TRUE: u32 = 1;

impl Ref {
    pub(super) const fn leaf(value: u32) -> Ref {
        Ref(value | LEAF)
    }

    #[inline]
    pub(super) fn as_leaf(self) -> Option<u32> {
        (self.0 & LEAF != 0).then_some(self.0 & !LEAF)
    }

    pub(super) fn branch(index: usize) -> Ref {
        Ref(index as u32 & !LEAF)
    }

    /// Returns the index of the branch. Must not be called for a leaf.
    #[inline]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An inner node: `lo` where the variable is false, `hi` where it is true.
///
/// INVARIANT (ordered): the variables below a branch are greater than its own.
/// INVARIANT (reduced): `lo` and `hi` differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Branch {
    pub(super) var: u32,
    pub(super) lo: Ref,
    pub(super) hi: Ref,
}

/// The operation on the leaves of two diagrams.
pub(super) trait Combine {
    /// Returns the result when it is known without looking further.
    fn shortcut(&self, _a: Ref, _b: Ref) -> Option<Ref> {
        None
    }

    /// Whether the order of the operands does not matter.
    const COMMUTES: bool;

    fn leaves(&mut self, a: u32, b: u32, meter: &mut Meter) -> Result<u32, LimitError>;
}

/// Returns the shortcut of an operation whose leaf `zero` decides the result and whose leaf `unit` leaves the other operand
/// as it is, and which changes nothing on two equal operands: a conjunction or a disjunction.
pub(super) fn absorbed(a: Ref, b: Ref, zero: u32, unit: u32) -> Option<Ref> {
    let is = |node: Ref, leaf: u32| node == Ref::leaf(leaf);
    if is(a, zero) || is(b, unit) || a == b {
        Some(a)
    } else {
        (is(b, zero) || is(a, unit)).then_some(b)
    }
}

/// Results of [`Diagrams::apply`] for one operation.
pub(super) type PairCache = FxHashMap<(Ref, Ref), Ref>;
/// Results of [`Diagrams::map`] for one operation.
pub(super) type Cache = FxHashMap<Ref, Ref>;

/// The store of branches.
pub(super) trait Branches {
    /// Returns the branch of a diagram that is not a leaf.
    fn at(&self, node: Ref) -> Branch;
}

impl Branches for [Branch] {
    fn at(&self, node: Ref) -> Branch {
        self[node.index()]
    }
}

impl Branches for Diagrams {
    fn at(&self, node: Ref) -> Branch {
        self.branches[node.index()]
    }
}

/// Returns a diagram and all below it, each once, `lo` before `hi`.
pub(super) fn below(table: &(impl Branches + ?Sized), root: Ref) -> impl Iterator<Item = Ref> {
    let mut seen: IndexSet<Ref, FxBuildHasher> = IndexSet::default();
    let mut stack = vec![root];
    while let Some(top) = stack.pop() {
        if seen.insert(top) && top.as_leaf().is_none() {
            let Branch { lo, hi, .. } = table.at(top);
            stack.extend([hi, lo]);
        }
    }
    seen.into_iter()
}

/// Returns one path to each different leaf, as the values of the variables on it.
pub(super) fn paths(table: &(impl Branches + ?Sized), root: Ref) -> Vec<(Vec<(Atom, bool)>, u32)> {
    let mut seen: FxHashSet<Ref> = FxHashSet::default();
    let mut paths = Vec::new();
    let mut stack = vec![(root, Vec::new())];
    while let Some((top, path)) = stack.pop() {
        if !seen.insert(top) {
            continue;
        }
        match top.as_leaf() {
            Some(leaf) => paths.push((path, leaf)),
            None => {
                let Branch { var, lo, hi } = table.at(top);
                let with = |value| {
                    path.iter()
                        .copied()
                        .chain([(Atom(var), value)])
                        .collect::<Vec<_>>()
                };
                stack.extend([(hi, with(true)), (lo, with(false))]);
            }
        }
    }
    paths
}

/// The table of all branches.
#[derive(Clone, Debug, Default)]
pub(super) struct Diagrams {
    branches: IndexSet<Branch, FxBuildHasher>,
}

impl Diagrams {
    pub(super) fn len(&self) -> usize {
        self.branches.len()
    }

    /// Returns the diagram that tests `var` first. The operands must only test greater variables.
    pub(super) fn branch(&mut self, var: u32, lo: Ref, hi: Ref) -> Ref {
        if lo == hi {
            return lo;
        }
        Ref::branch(self.branches.insert_full(Branch { var, lo, hi }).0)
    }

    /// As [`Self::branch`], counting what is new.
    fn branch_counted(
        &mut self,
        var: u32,
        lo: Ref,
        hi: Ref,
        meter: &mut Meter,
    ) -> Result<Ref, LimitError> {
        let before = self.branches.len();
        let made = self.branch(var, lo, hi);
        meter.grow(self.branches.len() - before)?;
        Ok(made)
    }

    /// Combines two diagrams leaf by leaf.
    pub(super) fn apply(
        &mut self,
        cache: &mut PairCache,
        a: Ref,
        b: Ref,
        op: &mut impl Combine,
        meter: &mut Meter,
    ) -> Result<Ref, LimitError> {
        if let Some(known) = op.shortcut(a, b) {
            return Ok(known);
        }
        let key = if self.swaps(op, a, b) { (b, a) } else { (a, b) };
        if let Some(&known) = cache.get(&key) {
            return Ok(known);
        }
        meter.spend(1)?;
        let made = match (a.as_leaf(), b.as_leaf()) {
            (Some(x), Some(y)) => Ref::leaf(op.leaves(x, y, meter)?),
            _ => {
                let var = self.var(a).min(self.var(b));
                let ((a_lo, a_hi), (b_lo, b_hi)) = (self.split(a, var), self.split(b, var));
                let lo = self.apply(cache, a_lo, b_lo, op, meter)?;
                let hi = self.apply(cache, a_hi, b_hi, op, meter)?;
                self.branch_counted(var, lo, hi, meter)?
            }
        };
        meter.grow(1)?;
        cache.insert(key, made);
        Ok(made)
    }

    fn swaps<C: Combine>(&self, _op: &C, a: Ref, b: Ref) -> bool {
        C::COMMUTES && b < a
    }

    /// Replaces every leaf.
    pub(super) fn map(
        &mut self,
        cache: &mut Cache,
        a: Ref,
        leaf: &mut impl FnMut(u32, &mut Meter) -> Result<u32, LimitError>,
        meter: &mut Meter,
    ) -> Result<Ref, LimitError> {
        self.fold(
            cache,
            a,
            u32::MAX,
            &mut |diagrams, a, meter| match a.as_leaf() {
                Some(value) => leaf(value, meter),
                // INVARIANT (ordered): no branch is on a variable from `u32::MAX` on.
                None => Ok(diagrams.at(a).var),
            },
            meter,
        )
    }

    /// Replaces every leaf, and every branch on a variable from `first` on, by the leaf that `make` gives for it.
    pub(super) fn fold(
        &mut self,
        cache: &mut Cache,
        a: Ref,
        first: u32,
        make: &mut impl FnMut(&Diagrams, Ref, &mut Meter) -> Result<u32, LimitError>,
        meter: &mut Meter,
    ) -> Result<Ref, LimitError> {
        if let Some(&known) = cache.get(&a) {
            return Ok(known);
        }
        meter.spend(1)?;
        let made = if self.var(a) >= first || a.as_leaf().is_some() {
            Ref::leaf(make(self, a, meter)?)
        } else {
            let Branch { var, lo, hi } = self.at(a);
            let lo = self.fold(cache, lo, first, make, meter)?;
            let hi = self.fold(cache, hi, first, make, meter)?;
            self.branch_counted(var, lo, hi, meter)?
        };
        meter.grow(1)?;
        cache.insert(a, made);
        Ok(made)
    }

    /// Adds the leaves below a diagram that are reachable with these values of variables, each once; a variable without a
    /// value may have either.
    pub(super) fn leaves_where(
        &self,
        root: Ref,
        mut value: impl FnMut(u32) -> Option<bool>,
    ) -> IndexSet<u32, FxBuildHasher> {
        let mut leaves = IndexSet::default();
        let mut seen: IndexSet<Ref, FxBuildHasher> = IndexSet::default();
        let mut stack = vec![root];
        while let Some(at) = stack.pop() {
            if !seen.insert(at) {
                continue;
            }
            if let Some(leaf) = at.as_leaf() {
                leaves.insert(leaf);
                continue;
            }
            let Branch { var, lo, hi } = self.at(at);
            match value(var) {
                Some(value) => stack.push(if value { hi } else { lo }),
                None => stack.extend([hi, lo]),
            }
        }
        leaves
    }

    /// Returns the different leaves below `a` in order of first occurrence, `lo` before `hi`.
    pub(super) fn leaves(&self, a: Ref) -> Vec<u32> {
        below(self, a).filter_map(Ref::as_leaf).collect()
    }

    /// Returns the variable asked first; greater than all others for a leaf.
    pub(super) fn var(&self, a: Ref) -> u32 {
        if a.as_leaf().is_some() {
            u32::MAX
        } else {
            self.at(a).var
        }
    }

    /// Returns both halves of `a` with respect to `var`, which is not above the first variable of `a`.
    pub(super) fn split(&self, a: Ref, var: u32) -> (Ref, Ref) {
        if self.var(a) == var && a.as_leaf().is_none() {
            let Branch { lo, hi, .. } = self.at(a);
            (lo, hi)
        } else {
            (a, a)
        }
    }
}
