//! Deterministic automata over infinite words.

use rustc_hash::FxHashMap;

use super::acceptance::Acceptance;
use super::buchi::Buchi;
use super::marks::Marks;
use super::scc::Components;
use super::subsets::Steps;
use crate::dfa::Dfa;
use crate::diagram::{Branch, Branches, Cache, Combine, Diagrams, PairCache, Ref, below};
use crate::formula::Atom;
use crate::formula::Letter;
use crate::limits::{LimitError, Limits, Meter, Resource, check};
use crate::states::StateId;

/// A complete deterministic automaton over infinite words, with marks on its transitions and any acceptance condition.
///
/// # Conventions
/// * Every state has exactly one successor for every letter, so every word has exactly one run.
/// * State 0 is initial: nothing has been read. [`Deterministic::step`] reads one letter.
/// * The word is accepted when [`Acceptance::accepts`] holds of the marks that its run sees infinitely often. In a graph
///   whose bottom components are visited over and over (a Markov chain, say), these are all marks on the transitions inside
///   the component.
///
/// # Shape
/// One decision diagram per state; a step visits at most one branch per atom.
///
/// ```
/// use guard_automata::{Atom, Formulas, Interval, Limits, omega};
/// let mut formulas = Formulas::new();
/// let a = formulas.atom(Atom(0));
/// let stays = formulas.always(Interval::ALL, a);
/// let settles = formulas.eventually(Interval::ALL, stays);
/// let automaton = omega::deterministic(&formulas, settles, &Limits::default())?;
///
/// // The marks that the word `a a a …` sees forever, from wherever it is after a while.
/// let mut state = automaton.initial();
/// for _ in 0..automaton.len() {
///     state = automaton.step(state, |_| true).0;
/// }
/// let (_, marks) = automaton.step(state, |_| true);
/// assert!(automaton.acceptance().accepts(marks));
/// # Ok::<(), guard_automata::CompileError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Deterministic {
    pub(super) atoms: Box<[Atom]>,
    /// Variables are the numbers of atoms; leaves are indices into `leaves`.
    pub(super) diagrams: Diagrams,
    /// State 0 is initial.
    pub(super) roots: Vec<Ref>,
    pub(super) leaves: Vec<(StateId, Marks)>,
    pub(super) n_marks: u32,
    pub(super) acceptance: Acceptance,
}

impl Deterministic {
    /// Returns the number of states, all of them reachable.
    #[allow(clippy::len_without_is_empty, reason = "an automaton is never empty")]
    pub fn len(&self) -> usize {
        self.roots.len()
    }

    /// Returns the state before anything is read.
    pub fn initial(&self) -> StateId {
        StateId(0)
    }

    /// Returns all states in order.
    pub fn states(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.roots.len() as u32).map(StateId)
    }

    /// Returns the atoms of the formula, in order.
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// Returns the upper bound on the numbers of marks (exclusive).
    pub fn n_marks(&self) -> u32 {
        self.n_marks
    }

    /// Returns the acceptance condition.
    pub fn acceptance(&self) -> &Acceptance {
        &self.acceptance
    }

    /// Returns the state after one more letter, and the marks of the transition. `holds` is called only for atoms that
    /// matter.
    #[inline]
    pub fn step(&self, state: StateId, mut holds: impl FnMut(Atom) -> bool) -> (StateId, Marks) {
        let mut at = self.roots[state.index()];
        loop {
            if let Some(leaf) = at.as_leaf() {
                return self.leaves[leaf as usize];
            }
            let Branch { var, lo, hi } = self.diagrams.at(at);
            at = if holds(Atom(var)) { hi } else { lo };
        }
    }

    /// Returns the different transitions of a state: the target and the marks of each.
    pub fn successors(&self, state: StateId) -> impl Iterator<Item = (StateId, Marks)> {
        below(&self.diagrams, self.roots[state.index()])
            .filter_map(Ref::as_leaf)
            .map(|leaf| self.leaves[leaf as usize])
    }

    /// Returns all transitions of a state as disjoint cubes, which cover every letter.
    pub fn cubes(&self, state: StateId) -> Vec<(Letter, StateId, Marks)> {
        let mut cubes = Vec::new();
        let mut stack = vec![(self.roots[state.index()], Letter::new())];
        while let Some((at, path)) = stack.pop() {
            match at.as_leaf() {
                Some(leaf) => {
                    let (target, marks) = self.leaves[leaf as usize];
                    cubes.push((path, target, marks));
                }
                None => {
                    let Branch { var, lo, hi } = self.diagrams.at(at);
                    let with = |holds| [path.as_slice(), &[(Atom(var), holds)]].concat();
                    stack.extend([(hi, with(true)), (lo, with(false))]);
                }
            }
        }
        cubes
    }

    /// Returns the words that this automaton does not accept.
    #[must_use]
    pub fn complement(&self) -> Deterministic {
        Deterministic {
            acceptance: self.acceptance.negated(),
            ..self.clone()
        }
    }

    /// Whether the infinite word `stem cycle cycle …` is accepted; `letter(position, atom)` is the value of an atom at each
    /// of the first `stem + cycle` positions.
    pub fn accepts(&self, stem: usize, cycle: usize, letter: impl Fn(usize, Atom) -> bool) -> bool {
        let cycle = cycle.max(1);
        let mut state = self.initial();
        for position in 0..stem {
            state = self.step(state, |atom| letter(position, atom)).0;
        }
        // The state at which each round of the cycle begins, and the marks seen in it.
        let mut turns: Vec<(StateId, Marks)> = Vec::new();
        loop {
            if let Some(first) = turns.iter().position(|&(begin, _)| begin == state) {
                let seen = turns[first..].iter().map(|&(_, marks)| marks);
                return self
                    .acceptance
                    .accepts(seen.fold(Marks::NONE, Marks::union));
            }
            let begin = state;
            let mut seen = Marks::NONE;
            for position in stem..stem + cycle {
                let (next, marks) = self.step(state, |atom| letter(position, atom));
                seen = seen.union(marks);
                state = next;
            }
            turns.push((begin, seen));
        }
    }

    /// Returns a deterministic automaton from a Büchi automaton that is deterministic except for missing edges.
    pub(super) fn from_buchi(buchi: &Buchi, limits: &Limits) -> Result<Deterministic, LimitError> {
        let sink = StateId(buchi.len() as u32);
        let mut steps = Steps::new(buchi, limits);
        let mut builder = Builder::new(limits);
        let mut roots = Vec::new();
        let mut cache = Cache::default();
        let mut incomplete = false;
        for state in buchi.states() {
            let lists = steps.step(buchi, [state.0].into_iter())?;
            let mut change = |list: u32| match steps.edges(buchi, list).first() {
                Some((_, edge)) => (edge.target, edge.marks),
                None => {
                    incomplete = true;
                    (sink, Marks::NONE)
                }
            };
            roots.push(builder.leaves_of(&steps.diagrams, lists, &mut cache, &mut change)?);
        }
        // A run that stays in the sink must not be accepted.
        let n_marks = if incomplete {
            buchi.n_marks.max(1)
        } else {
            buchi.n_marks
        };
        if incomplete {
            roots.push(Ref::leaf(builder.leaves.number(sink, Marks::NONE)));
        }
        let mut automaton = builder.finish(
            &buchi.atoms,
            roots,
            n_marks,
            Acceptance::generalized_buchi(n_marks),
        );
        if n_marks > buchi.n_marks {
            for (target, marks) in &mut automaton.leaves {
                if *target != sink {
                    *marks = Marks::one(0);
                }
            }
        }
        Ok(automaton)
    }

    /// Returns the automaton over finite words that accepts in the states for which `ends` is true; states beyond its
    /// length reject.
    pub(super) fn to_dfa(&self, ends: &[bool]) -> Dfa {
        let (mut diagrams, mut cache) = (Diagrams::default(), Cache::default());
        let states = self.states().map(StateId::index);
        let roots: Vec<Ref> = self
            .roots
            .iter()
            .map(|&root| self.targets(root, &mut diagrams, &mut cache))
            .collect();
        let accepting: Vec<bool> = states
            .map(|state| ends.get(state).copied().unwrap_or(false))
            .collect();
        Dfa::assemble(&diagrams, &roots, &accepting, 0, &self.atoms, Atom).minimized()
    }

    /// Returns a diagram, in another table, whose leaves are the target states.
    fn targets(&self, root: Ref, into: &mut Diagrams, cache: &mut Cache) -> Ref {
        if let Some(leaf) = root.as_leaf() {
            return Ref::leaf(self.leaves[leaf as usize].0.0);
        }
        if let Some(&known) = cache.get(&root) {
            return known;
        }
        let Branch { var, lo, hi } = self.diagrams.at(root);
        let lo = self.targets(lo, into, cache);
        let hi = self.targets(hi, into, cache);
        let made = into.branch(var, lo, hi);
        cache.insert(root, made);
        made
    }

    pub(super) fn components(&self) -> Result<Components, LimitError> {
        let targets: Vec<Vec<u32>> = self
            .states()
            .map(|state| self.successors(state).map(|(target, _)| target.0).collect())
            .collect();
        Components::new(self.len(), |state| targets[state as usize].iter().copied())
    }

    /// Returns the words that both automata accept, or that one of them does.
    ///
    /// # Errors
    /// When there are more pairs of states, or more marks, than the limits allow.
    pub fn product(
        &self,
        other: &Deterministic,
        conjunction: bool,
        limits: &Limits,
    ) -> Result<Deterministic, LimitError> {
        Marks::check(self.n_marks + other.n_marks)?;
        let shifted = other.acceptance.shifted(self.n_marks);
        let parts = vec![self.acceptance.clone(), shifted];
        let acceptance = if conjunction {
            Acceptance::And(parts)
        } else {
            Acceptance::Or(parts)
        };
        let mut atoms: Vec<Atom> = self.atoms.iter().chain(&other.atoms).copied().collect();
        atoms.sort_unstable();
        atoms.dedup();
        let mut builder = Builder::new(limits);
        let mut moved = [Cache::default(), Cache::default()];
        let mut cache = PairCache::default();
        let mut pairs: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut order = vec![(0, 0)];
        let mut roots = Vec::new();
        pairs.insert((0, 0), 0);
        while let Some(&(left, right)) = order.get(roots.len()) {
            let left = builder.copy(&self.diagrams, self.roots[left as usize], &mut moved[0])?;
            let right =
                builder.copy(&other.diagrams, other.roots[right as usize], &mut moved[1])?;
            let mut join = JoinLeaves {
                leaves: [&self.leaves, &other.leaves],
                shift: self.n_marks,
                pairs: &mut pairs,
                order: &mut order,
                made: &mut builder.leaves,
            };
            let root =
                builder
                    .diagrams
                    .apply(&mut cache, left, right, &mut join, &mut builder.meter)?;
            check(Resource::States, limits.states as u64, order.len() as u64)?;
            roots.push(root);
        }
        let n_marks = self.n_marks + other.n_marks;
        Ok(builder.finish(&atoms, roots, n_marks, acceptance.folded()))
    }

    /// Returns the quotient by the coarsest equivalence of states that have, for every letter, the same marks and equivalent
    /// successors.
    ///
    /// # Errors
    /// When that takes more than the limits allow.
    pub(super) fn merged(&self, limits: &Limits) -> Result<Deterministic, LimitError> {
        let mut classes = vec![0u32; self.len()];
        let mut n_classes = 1;
        loop {
            let mut builder = Builder::new(limits);
            let mut cache = Cache::default();
            let mut numbers: FxHashMap<(u32, Ref), u32> = FxHashMap::default();
            let mut next = Vec::with_capacity(self.len());
            let mut roots = Vec::new();
            for state in self.states() {
                let root = self.roots[state.index()];
                let seen = builder.leaves_of(&self.diagrams, root, &mut cache, &mut |leaf| {
                    let (target, marks) = self.leaves[leaf as usize];
                    (StateId(classes[target.index()]), marks)
                })?;
                let n = numbers.len() as u32;
                let number = *numbers.entry((classes[state.index()], seen)).or_insert(n);
                if number == n {
                    roots.push(seen);
                }
                next.push(number);
            }
            let stable = numbers.len() == n_classes;
            n_classes = numbers.len();
            if stable {
                // Classes are numbered by their first states, so the leaves of the roots are valid class numbers.
                let acceptance = self.acceptance.clone();
                return Ok(builder.finish(&self.atoms, roots, self.n_marks, acceptance));
            }
            classes = next;
        }
    }
}

/// A table of diagrams whose leaves are numbered transitions.
pub(super) struct Builder {
    pub(super) diagrams: Diagrams,
    pub(super) meter: Meter,
    pub(super) leaves: Leaves,
}

/// Transitions by number.
#[derive(Default)]
pub(super) struct Leaves {
    numbers: FxHashMap<(StateId, Marks), u32>,
    list: Vec<(StateId, Marks)>,
}

impl Leaves {
    pub(super) fn number(&mut self, target: StateId, marks: Marks) -> u32 {
        let Leaves { numbers, list } = self;
        *numbers.entry((target, marks)).or_insert_with(|| {
            list.push((target, marks));
            list.len() as u32 - 1
        })
    }
}

impl Builder {
    pub(super) fn new(limits: &Limits) -> Builder {
        Builder {
            diagrams: Diagrams::default(),
            meter: Meter::new(limits),
            leaves: Leaves::default(),
        }
    }

    /// Returns the same diagram in this table.
    pub(super) fn copy(
        &mut self,
        from: &Diagrams,
        root: Ref,
        cache: &mut Cache,
    ) -> Result<Ref, LimitError> {
        self.transfer(from, root, cache, &mut |leaf, _| leaf)
    }

    /// Returns the diagram in this table, with other transitions at its leaves.
    pub(super) fn leaves_of(
        &mut self,
        from: &Diagrams,
        root: Ref,
        cache: &mut Cache,
        change: &mut impl FnMut(u32) -> (StateId, Marks),
    ) -> Result<Ref, LimitError> {
        self.transfer(from, root, cache, &mut |leaf, leaves| {
            let (target, marks) = change(leaf);
            leaves.number(target, marks)
        })
    }

    fn transfer(
        &mut self,
        from: &Diagrams,
        root: Ref,
        cache: &mut Cache,
        leaf: &mut impl FnMut(u32, &mut Leaves) -> u32,
    ) -> Result<Ref, LimitError> {
        if let Some(&known) = cache.get(&root) {
            return Ok(known);
        }
        self.meter.spend(1)?;
        let made = match root.as_leaf() {
            Some(value) => Ref::leaf(leaf(value, &mut self.leaves)),
            None => {
                let Branch { var, lo, hi } = from.at(root);
                let lo = self.transfer(from, lo, cache, leaf)?;
                let hi = self.transfer(from, hi, cache, leaf)?;
                self.diagrams.branch(var, lo, hi)
            }
        };
        self.meter.grow(1)?;
        cache.insert(root, made);
        Ok(made)
    }

    pub(super) fn finish(
        self,
        atoms: &[Atom],
        roots: Vec<Ref>,
        n_marks: u32,
        acceptance: Acceptance,
    ) -> Deterministic {
        Deterministic {
            atoms: atoms.into(),
            diagrams: self.diagrams,
            roots,
            leaves: self.leaves.list,
            n_marks,
            acceptance,
        }
    }
}

struct JoinLeaves<'a> {
    leaves: [&'a [(StateId, Marks)]; 2],
    shift: u32,
    pairs: &'a mut FxHashMap<(u32, u32), u32>,
    order: &'a mut Vec<(u32, u32)>,
    made: &'a mut Leaves,
}

impl Combine for JoinLeaves<'_> {
    const COMMUTES: bool = false;
    fn leaves(&mut self, a: u32, b: u32, meter: &mut Meter) -> Result<u32, LimitError> {
        meter.grow(1)?;
        let ((p, x), (q, y)) = (self.leaves[0][a as usize], self.leaves[1][b as usize]);
        let pair = *self.pairs.entry((p.0, q.0)).or_insert_with(|| {
            self.order.push((p.0, q.0));
            self.order.len() as u32 - 1
        });
        Ok(self
            .made
            .number(StateId(pair), x.union(y.shifted(self.shift))))
    }
}
