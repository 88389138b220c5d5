//! What is read: an automaton with any acceptance condition.

use thiserror::Error;

use crate::automata::dfa::StateId;
use crate::automata::formula::Atom;
use crate::automata::limits::{LimitError, Limits};
use crate::automata::omega::acceptance::Acceptance;
use crate::automata::omega::buchi::{Buchi, Edge};
use crate::automata::omega::deterministic::Deterministic;
use crate::automata::omega::guards::Guards;
use crate::automata::omega::marks::Marks;
use crate::automata::omega::reduce::renumber;

/// Why an automaton cannot become one of another kind.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unsupported {
    /// The acceptance condition is not that of a generalised Büchi automaton.
    #[error("the acceptance condition {0} is no conjunction of `Inf`")]
    Acceptance(Acceptance),
    /// Some state has two edges for one letter, or there are several initial states.
    #[error("the automaton is not deterministic")]
    Nondeterministic,
    /// A limit.
    #[error("the automaton {0}")]
    Limit(#[from] LimitError),
}

/// An automaton as it was read: nondeterministic, with marks on edges and any acceptance condition. Atom `i` is the `i`-th
/// atomic proposition.
#[derive(Clone, Debug)]
pub struct Automaton {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The names of the atomic propositions.
    pub atoms: Vec<String>,
    /// The states in which runs begin.
    pub initial: Vec<StateId>,
    pub(super) guards: Guards,
    pub(super) edges: Vec<Vec<Edge>>,
    pub(super) n_marks: u32,
    pub(super) acceptance: Acceptance,
}

impl Automaton {
    /// Number of states.
    #[allow(
        clippy::len_without_is_empty,
        reason = "it may have no states, and that says nothing"
    )]
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// The edges that leave a state.
    pub fn edges(&self, state: StateId) -> &[Edge] {
        &self.edges[state.index()]
    }

    /// What an accepting run sees infinitely often.
    pub fn acceptance(&self) -> &Acceptance {
        &self.acceptance
    }

    /// Marks are less than this.
    pub fn n_marks(&self) -> u32 {
        self.n_marks
    }

    /// The same as a generalised Büchi automaton. Several initial states become one new state, which has the edges of all.
    ///
    /// # Errors
    /// [`Unsupported::Acceptance`] unless the condition is a conjunction of `Inf`, or a constant.
    pub fn to_buchi(&self, limits: &Limits) -> Result<Buchi, Unsupported> {
        let wanted = self
            .buchi_marks()
            .ok_or_else(|| Unsupported::Acceptance(self.acceptance.clone()))?;
        let atoms: Vec<Atom> = (0..self.atoms.len() as u32).map(Atom).collect();
        let mut buchi = Buchi::empty(&atoms, limits);
        let Some(wanted) = wanted else {
            return Ok(buchi);
        };
        let renumbered = |marks: Marks| {
            let place = |(new, &old): (usize, &u32)| marks.contains(old).then_some(new as u32);
            wanted
                .iter()
                .enumerate()
                .filter_map(place)
                .collect::<Marks>()
        };
        let mut edges = self.edges.clone();
        for edge in edges.iter_mut().flatten() {
            edge.marks = renumbered(edge.marks);
        }
        match self.initial[..] {
            [] => return Ok(buchi),
            [only] => buchi.initial = only,
            _ => {
                let starts = self.initial.iter();
                let all = starts
                    .flat_map(|start| edges[start.index()].clone())
                    .collect();
                buchi.initial = StateId(edges.len() as u32);
                edges.push(all);
            }
        }
        Buchi::check_states(edges.len(), limits)?;
        buchi.edges = edges;
        buchi.guards = self.guards.clone();
        buchi.n_marks = wanted.len() as u32;
        Ok(buchi)
    }

    /// The marks that must all be seen; none if nothing is accepted. Nothing if the condition is of another kind.
    fn buchi_marks(&self) -> Option<Option<Vec<u32>>> {
        let parts = match self.acceptance.clone().folded() {
            Acceptance::True => Vec::new(),
            Acceptance::False => return Some(None),
            Acceptance::And(parts) => parts,
            other => vec![other],
        };
        let mark = |part: &Acceptance| match part {
            Acceptance::Inf(mark) => Some(*mark),
            _ => None,
        };
        let mut marks: Vec<u32> = parts.iter().map(mark).collect::<Option<_>>()?;
        marks.sort_unstable();
        marks.dedup();
        Some(Some(marks))
    }

    /// The same as a deterministic automaton, complete by a rejecting state where edges are missing.
    ///
    /// # Errors
    /// [`Unsupported::Nondeterministic`], [`Unsupported::Limit`].
    pub fn to_deterministic(&self, limits: &Limits) -> Result<Deterministic, Unsupported> {
        let [initial] = self.initial[..] else {
            return Err(Unsupported::Nondeterministic);
        };
        // The marks as they are, and one more that a run sees forever when it does not end.
        let alive = self.n_marks;
        Marks::check(alive + 1)?;
        let atoms: Vec<Atom> = (0..self.atoms.len() as u32).map(Atom).collect();
        let mut edges = self.edges.clone();
        for edge in edges.iter_mut().flatten() {
            edge.marks = edge.marks.union(Marks::one(alive));
        }
        let mut buchi = Buchi::empty(&atoms, limits);
        buchi.guards = self.guards.clone();
        buchi.edges = edges;
        buchi.n_marks = alive + 1;
        buchi.initial = initial;
        renumber(&mut buchi);
        if !buchi.is_deterministic()? {
            return Err(Unsupported::Nondeterministic);
        }
        let mut made = Deterministic::from_buchi(&buchi, limits)?;
        let lives = Acceptance::Inf(alive);
        made.acceptance = Acceptance::And(vec![self.acceptance.clone(), lives]).folded();
        Ok(made)
    }
}
