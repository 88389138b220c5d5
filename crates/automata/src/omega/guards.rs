//! Guards: Boolean functions of the atoms, as decision diagrams with two leaves.

use crate::diagram::{
    Branch, Branches, Cache, Combine, Diagrams, FALSE, PairCache, Ref, TRUE, absorbed,
};
use crate::formula::Atom;
use crate::formula::Letter;
use crate::limits::{LimitError, Limits, Meter};

/// A Boolean function of the atoms; equal functions of one automaton are equal guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Guard(pub(super) Ref);

impl Guard {
    /// No letter.
    pub const FALSE: Guard = Guard(Ref::leaf(FALSE));
    /// Every letter.
    pub const TRUE: Guard = Guard(Ref::leaf(TRUE));
}

/// The table of guards of one automaton. Variables are the numbers of atoms.
#[derive(Clone, Debug)]
pub(super) struct Guards {
    diagrams: Diagrams,
    pub(super) meter: Meter,
    and: PairCache,
    or: PairCache,
    not: Cache,
}

struct And;
struct Or;

impl Combine for And {
    const COMMUTES: bool = true;
    fn shortcut(&self, a: Ref, b: Ref) -> Option<Ref> {
        absorbed(a, b, FALSE, TRUE)
    }
    fn leaves(&mut self, a: u32, b: u32, _: &mut Meter) -> Result<u32, LimitError> {
        Ok(a & b)
    }
}

impl Combine for Or {
    const COMMUTES: bool = true;
    fn shortcut(&self, a: Ref, b: Ref) -> Option<Ref> {
        absorbed(a, b, TRUE, FALSE)
    }
    fn leaves(&mut self, a: u32, b: u32, _: &mut Meter) -> Result<u32, LimitError> {
        Ok(a | b)
    }
}

impl Guards {
    pub(super) fn new(limits: &Limits) -> Guards {
        Guards {
            diagrams: Diagrams::default(),
            meter: Meter::new(limits),
            and: PairCache::default(),
            or: PairCache::default(),
            not: Cache::default(),
        }
    }

    /// Returns the letters in which the atom holds.
    pub(super) fn literal(&mut self, atom: Atom) -> Guard {
        let (no, yes) = (Ref::leaf(FALSE), Ref::leaf(TRUE));
        Guard(self.diagrams.branch(atom.0, no, yes))
    }

    pub(super) fn and(&mut self, a: Guard, b: Guard) -> Result<Guard, LimitError> {
        let made = self
            .diagrams
            .apply(&mut self.and, a.0, b.0, &mut And, &mut self.meter);
        made.map(Guard)
    }

    pub(super) fn or(&mut self, a: Guard, b: Guard) -> Result<Guard, LimitError> {
        let made = self
            .diagrams
            .apply(&mut self.or, a.0, b.0, &mut Or, &mut self.meter);
        made.map(Guard)
    }

    pub(super) fn not(&mut self, a: Guard) -> Result<Guard, LimitError> {
        let flip = &mut |leaf, _: &mut Meter| Ok(1 - leaf);
        let made = self.diagrams.map(&mut self.not, a.0, flip, &mut self.meter);
        made.map(Guard)
    }

    /// Returns the letters of `a` that are not in `b`.
    pub(super) fn minus(&mut self, a: Guard, b: Guard) -> Result<Guard, LimitError> {
        let not_b = self.not(b)?;
        self.and(a, not_b)
    }

    /// Returns the letters whose leaf in a diagram of another table is `wanted`. `name` gives the atom of a variable;
    /// variables without an atom may have either value.
    pub(super) fn import(
        &mut self,
        from: &(impl Branches + ?Sized),
        root: Ref,
        name: &impl Fn(u32) -> Option<Atom>,
        wanted: &impl Fn(u32) -> bool,
        cache: &mut Cache,
    ) -> Result<Guard, LimitError> {
        if let Some(leaf) = root.as_leaf() {
            return Ok(if wanted(leaf) {
                Guard::TRUE
            } else {
                Guard::FALSE
            });
        }
        if let Some(&known) = cache.get(&root) {
            return Ok(Guard(known));
        }
        self.meter.spend(1)?;
        let Branch { var, lo, hi } = from.at(root);
        let lo = self.import(from, lo, name, wanted, cache)?;
        let hi = self.import(from, hi, name, wanted, cache)?;
        let made = match name(var) {
            Some(atom) => Guard(self.diagrams.branch(atom.0, lo.0, hi.0)),
            None => self.or(lo, hi)?,
        };
        self.meter.grow(1)?;
        cache.insert(root, made.0);
        Ok(made)
    }

    /// As [`Self::import`], from the guards of another automaton.
    pub(super) fn copy(
        &mut self,
        from: &Guards,
        guard: Guard,
        cache: &mut Cache,
    ) -> Result<Guard, LimitError> {
        let wanted = |leaf| leaf == TRUE;
        self.import(
            &from.diagrams,
            guard.0,
            &|var| Some(Atom(var)),
            &wanted,
            cache,
        )
    }

    /// Returns the guard of another table with other atoms, which may be in another order and may be fewer.
    pub(super) fn renamed(
        &mut self,
        from: &Guards,
        guard: Guard,
        name: &impl Fn(Atom) -> Atom,
        cache: &mut Cache,
    ) -> Result<Guard, LimitError> {
        if guard.0.as_leaf().is_some() {
            return Ok(guard);
        }
        if let Some(&known) = cache.get(&guard.0) {
            return Ok(Guard(known));
        }
        self.meter.spend(1)?;
        let Branch { var, lo, hi } = from.diagrams.at(guard.0);
        let lo = self.renamed(from, Guard(lo), name, cache)?;
        let hi = self.renamed(from, Guard(hi), name, cache)?;
        let atom = self.literal(name(Atom(var)));
        let (yes, no) = (self.and(atom, hi)?, self.minus(lo, atom)?);
        let made = self.or(yes, no)?;
        cache.insert(guard.0, made.0);
        Ok(made)
    }

    /// Whether the letter belongs to the guard. `holds` is called only for atoms that matter.
    pub(super) fn holds(&self, guard: Guard, mut holds: impl FnMut(Atom) -> bool) -> bool {
        let mut at = guard.0;
        loop {
            if let Some(leaf) = at.as_leaf() {
                return leaf == TRUE;
            }
            let Branch { var, lo, hi } = self.diagrams.at(at);
            at = if holds(Atom(var)) { hi } else { lo };
        }
    }

    /// Returns one letter of the guard, by the atoms that matter for it, or `None` if the guard is empty.
    pub(super) fn letter(&self, guard: Guard) -> Option<Letter> {
        let mut letter = Letter::new();
        let mut at = guard.0;
        loop {
            match at.as_leaf() {
                Some(TRUE) => return Some(letter),
                Some(_) => return None,
                None => {}
            }
            let Branch { var, lo, hi } = self.diagrams.at(at);
            // In a reduced diagram every branch that is not the leaf false has a path to true.
            let up = lo == Guard::FALSE.0;
            letter.push((Atom(var), up));
            at = if up { hi } else { lo };
        }
    }

    /// Returns the guard as disjoint cubes, which may be as many as the diagram has paths.
    pub(super) fn cubes(&self, guard: Guard) -> Vec<Letter> {
        let mut cubes = Vec::new();
        let mut stack = vec![(guard.0, Letter::new())];
        while let Some((at, path)) = stack.pop() {
            match at.as_leaf() {
                Some(TRUE) => cubes.push(path),
                Some(_) => {}
                None => {
                    let Branch { var, lo, hi } = self.diagrams.at(at);
                    let with = |value| [path.as_slice(), &[(Atom(var), value)]].concat();
                    stack.extend([(hi, with(true)), (lo, with(false))]);
                }
            }
        }
        cubes
    }

    /// Returns the table itself, for diagrams with more leaves that are made of guards.
    pub(super) fn diagrams(&self) -> &Diagrams {
        &self.diagrams
    }
}
