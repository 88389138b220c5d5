//! A parsed automaton, with any acceptance condition.

use thiserror::Error;

use crate::dfa::Dfa;
use crate::formula::Atom;
use crate::limits::{LimitError, Limits};
use crate::omega::acceptance::Acceptance;
use crate::omega::buchi::{Buchi, Edge};
use crate::omega::deterministic::Deterministic;
use crate::omega::determinize::determinize;
use crate::omega::guards::Guards;
use crate::omega::marks::Marks;
use crate::omega::reduce::{reduce, renumber};
use crate::states::StateId;

/// The reason why an automaton cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unsupported {
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
    /// Whether the file declares that its words end (`guard-semantics: "finite"`).
    pub finite: bool,
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

    /// Returns the edges that leave a state.
    pub fn edges(&self, state: StateId) -> &[Edge] {
        &self.edges[state.index()]
    }

    /// Returns the acceptance condition.
    pub fn acceptance(&self) -> &Acceptance {
        &self.acceptance
    }

    /// Returns the upper bound on the numbers of marks (exclusive).
    pub fn n_marks(&self) -> u32 {
        self.n_marks
    }

    /// Returns an equivalent generalised Büchi automaton, reduced. Several initial states become one new state, which has the
    /// edges of all.
    ///
    /// # Errors
    /// When it is larger than the limits allow: a condition with `Fin` needs one copy for each of its alternatives.
    pub fn to_buchi(&self, limits: &Limits) -> Result<Buchi, LimitError> {
        self.with_marks(limits)?
            .generalized(&self.acceptance, limits)
    }

    /// Returns the words that it does not accept.
    ///
    /// # Errors
    /// When that takes more than the limits allow: a nondeterministic automaton is determinised.
    pub fn complement(&self, limits: &Limits) -> Result<Buchi, LimitError> {
        let deterministic = match self.to_deterministic(limits) {
            Ok(deterministic) => deterministic,
            Err(Unsupported::Limit(limit)) => return Err(limit),
            Err(Unsupported::Nondeterministic) => {
                let one_mark = reduce(self.to_buchi(limits)?.with_one_mark(limits)?)?;
                determinize(&one_mark, limits)?
            }
        };
        let opposite = deterministic.complement();
        opposite
            .to_buchi(limits)?
            .generalized(opposite.acceptance(), limits)
    }

    /// Returns the automaton over finite words, which may end in the states that carry mark 0, the encoding that
    /// [`Automaton::finite`] announces. `name` gives the atom of each proposition.
    ///
    /// # Errors
    /// [`Unsupported::Nondeterministic`], [`Unsupported::Limit`].
    pub fn to_dfa(&self, name: impl Fn(Atom) -> Atom, limits: &Limits) -> Result<Dfa, Unsupported> {
        let [_] = self.initial[..] else {
            return Err(Unsupported::Nondeterministic);
        };
        let mut buchi = self.with_marks(limits)?;
        renumber(&mut buchi);
        let buchi = buchi.renamed(name, limits)?;
        if !buchi.is_deterministic()? {
            return Err(Unsupported::Nondeterministic);
        }
        let ends = |state: StateId| {
            let edges = buchi.edges(state);
            !edges.is_empty() && edges.iter().all(|edge| edge.marks.contains(0))
        };
        let ends: Vec<bool> = buchi.states().map(ends).collect();
        Ok(Deterministic::from_buchi(&buchi, limits)?.to_dfa(&ends))
    }

    /// Returns the automaton with its marks unchanged.
    fn with_marks(&self, limits: &Limits) -> Result<Buchi, LimitError> {
        let atoms: Vec<Atom> = (0..self.atoms.len() as u32).map(Atom).collect();
        let mut buchi = Buchi::empty(&atoms, limits);
        buchi.n_marks = self.n_marks;
        let mut edges = self.edges.clone();
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
        Ok(buchi)
    }

    /// Returns the same as a deterministic automaton, complete by a rejecting state where edges are missing.
    ///
    /// # Errors
    /// [`Unsupported::Nondeterministic`], [`Unsupported::Limit`].
    pub fn to_deterministic(&self, limits: &Limits) -> Result<Deterministic, Unsupported> {
        let [initial] = self.initial[..] else {
            return Err(Unsupported::Nondeterministic);
        };
        // The marks are unchanged; one more mark is seen forever by every run that does not end.
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
