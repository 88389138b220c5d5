//! Generalised Büchi automata with marks on their edges.

use std::fmt;

use super::guards::{Guard, Guards};
use super::marks::Marks;
use super::scc::Components;
use crate::diagram::Cache;
use crate::formula::Atom;
use crate::formula::Letter;
use crate::limits::{LimitError, Limits, Resource, check};
use crate::states::StateId;

/// A transition: from its state, for the letters of its guard, to `target`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// The letters that it reads.
    pub guard: Guard,
    /// The acceptance marks that it carries.
    pub marks: Marks,
    /// The target.
    pub target: StateId,
}

/// A nondeterministic automaton over infinite words: generalised Büchi acceptance on transitions (TGBA).
///
/// # Conventions
/// * There is one initial state, and a word is accepted when some run on it takes edges with each of the marks
///   `0..n_marks` infinitely often. Without marks every infinite run is accepting.
/// * It need not be complete: a run that finds no edge ends there and accepts nothing. There is no rejecting sink.
/// * Edges of one state may overlap; guards are never false.
/// * It is *state-based* when there is at most one mark and all edges that leave a state agree on it: an ordinary Büchi
///   automaton whose accepting states are those with the mark on their edges.
///
/// # Shape
/// The guards of all edges share one table of decision diagrams, whose variables are the numbers of the atoms.
#[derive(Clone, Debug)]
pub struct Buchi {
    pub(super) atoms: Box<[Atom]>,
    pub(super) guards: Guards,
    pub(super) n_marks: u32,
    pub(super) initial: StateId,
    pub(super) edges: Vec<Vec<Edge>>,
}

impl Buchi {
    /// Returns the automaton without runs.
    pub(super) fn empty(atoms: &[Atom], limits: &Limits) -> Buchi {
        Buchi {
            atoms: atoms.into(),
            guards: Guards::new(limits),
            n_marks: 0,
            initial: StateId(0),
            edges: vec![Vec::new()],
        }
    }

    /// Returns the number of states, all of them reachable.
    #[allow(clippy::len_without_is_empty, reason = "an automaton is never empty")]
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// Returns the number of edges.
    pub fn n_edges(&self) -> usize {
        self.edges.iter().map(Vec::len).sum()
    }

    /// Returns the state in which every run begins.
    pub fn initial(&self) -> StateId {
        self.initial
    }

    /// Returns all states in order.
    pub fn states(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.edges.len() as u32).map(StateId)
    }

    /// Returns the atoms of the formula, in order.
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// Returns the number of marks that a run must see infinitely often.
    pub fn n_marks(&self) -> u32 {
        self.n_marks
    }

    /// Returns the edges that leave a state.
    pub fn edges(&self, state: StateId) -> &[Edge] {
        &self.edges[state.index()]
    }

    /// Whether a letter belongs to a guard. `holds` is called only for atoms that matter.
    pub fn holds(&self, guard: Guard, holds: impl FnMut(Atom) -> bool) -> bool {
        self.guards.holds(guard, holds)
    }

    /// Returns a guard as disjoint cubes.
    pub fn cubes(&self, guard: Guard) -> Vec<Letter> {
        self.guards.cubes(guard)
    }

    /// Returns one letter of a guard, by the atoms that matter for it.
    pub fn letter(&self, guard: Guard) -> Letter {
        self.guards.letter(guard).unwrap_or_default()
    }

    /// Returns the edges that can be taken on a letter: where they lead and what they carry.
    ///
    /// ```
    /// use guard_automata::{Atom, Formulas, Interval, Limits, omega};
    /// let mut formulas = Formulas::new();
    /// let a = formulas.atom(Atom(0));
    /// let soon = formulas.eventually(Interval::ALL, a);
    /// let often = formulas.always(Interval::ALL, soon);
    /// let buchi = omega::translate(&formulas, often, &Limits::default())?;
    /// assert_eq!((buchi.len(), buchi.n_marks()), (1, 1));
    /// let next: Vec<_> = buchi.successors(buchi.initial(), |atom| atom == Atom(0)).collect();
    /// assert_eq!(next, [(buchi.initial(), omega::Marks::one(0))]);
    /// # Ok::<(), guard_automata::CompileError>(())
    /// ```
    pub fn successors<'a>(
        &'a self,
        state: StateId,
        holds: impl Fn(Atom) -> bool + 'a,
    ) -> impl Iterator<Item = (StateId, Marks)> + 'a {
        self.edges[state.index()]
            .iter()
            .filter(move |edge| self.guards.holds(edge.guard, &holds))
            .map(|edge| (edge.target, edge.marks))
    }

    /// Whether no state has two edges for one letter.
    ///
    /// # Errors
    /// When comparing the guards needs more than the limits allow.
    pub fn is_deterministic(&self) -> Result<bool, LimitError> {
        let mut guards = self.guards.clone();
        for edges in &self.edges {
            for (index, edge) in edges.iter().enumerate() {
                for other in &edges[index + 1..] {
                    if guards.and(edge.guard, other.guard)? != Guard::FALSE {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Whether there is at most one mark and the edges of each state agree on it.
    pub fn is_state_based(&self) -> bool {
        let agree = |edges: &Vec<Edge>| edges.windows(2).all(|two| two[0].marks == two[1].marks);
        self.n_marks <= 1 && self.edges.iter().all(agree)
    }

    /// Whether a state of a state-based automaton is accepting.
    pub fn is_accepting(&self, state: StateId) -> bool {
        let every = Marks::first(self.n_marks);
        let edges = &self.edges[state.index()];
        edges.first().is_some_and(|edge| edge.marks == every)
    }

    /// Returns the strongly connected components.
    /// The same automaton over other atoms; several may become one.
    ///
    /// # Errors
    /// When the guards need more than the limits allow.
    pub fn renamed(
        &self,
        name: impl Fn(Atom) -> Atom,
        limits: &Limits,
    ) -> Result<Buchi, LimitError> {
        let mut atoms: Vec<Atom> = self.atoms.iter().map(|&atom| name(atom)).collect();
        atoms.sort_unstable();
        atoms.dedup();
        let (mut guards, mut cache) = (Guards::new(limits), Cache::default());
        let mut edges = self.edges.clone();
        for edge in edges.iter_mut().flatten() {
            edge.guard = guards.renamed(&self.guards, edge.guard, &name, &mut cache)?;
        }
        for state in &mut edges {
            state.retain(|edge| edge.guard != Guard::FALSE);
        }
        Ok(Buchi {
            atoms: atoms.into(),
            guards,
            n_marks: self.n_marks,
            initial: self.initial,
            edges,
        })
    }

    pub(super) fn components(&self) -> Result<Components, LimitError> {
        Components::new(self.len(), |state| {
            self.edges[state as usize].iter().map(|edge| edge.target.0)
        })
    }

    /// Returns, for each component, whether some accepting run can stay in it.
    pub(super) fn accepting_components(&self, components: &Components) -> Vec<bool> {
        let mut seen: Vec<Option<Marks>> = vec![None; components.len];
        for (state, edges) in self.edges.iter().enumerate() {
            for edge in edges {
                if components.same(state as u32, edge.target.0) {
                    let marks = &mut seen[components.of[state] as usize];
                    *marks = Some(marks.unwrap_or_default().union(edge.marks));
                }
            }
        }
        let every = Marks::first(self.n_marks);
        seen.into_iter().map(|marks| marks == Some(every)).collect()
    }

    /// Fails when there are more states than the limits allow.
    pub(super) fn check_states(n: usize, limits: &Limits) -> Result<(), LimitError> {
        check(Resource::States, limits.states as u64, n as u64)
    }
}

/// The stable text form: one line per state, then its edges as disjoint cubes.
impl fmt::Display for Buchi {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "initial {}, {} marks", self.initial.0, self.n_marks)?;
        for state in self.states() {
            writeln!(out, "state {}", state.0)?;
            for edge in self.edges(state) {
                for cube in self.cubes(edge.guard) {
                    write!(out, "  ")?;
                    for (Atom(atom), holds) in cube {
                        write!(out, "{}{atom} ", if holds { "" } else { "!" })?;
                    }
                    writeln!(out, "-> {} {}", edge.target.0, edge.marks)?;
                }
            }
        }
        Ok(())
    }
}
