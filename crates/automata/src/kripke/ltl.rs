//! Linear time: do all runs from the initial states satisfy a formula?
//!
//! A counterexample is a run that the Büchi automaton of the negation accepts. If that automaton accepts only by reaching a
//! state from which every word is accepted (a prefix violates the formula), breadth-first search suffices and finds a shortest
//! counterexample; otherwise the components of the product are searched on the fly.

use thiserror::Error;

use crate::graph::{Digraph, components};
use crate::omega::{self, Buchi, Guard, Marks};
use crate::{Atom, CompileError, FormulaId, Formulas, LimitError, Resource, StateId};

use super::product::{Product, Stop};
use super::{Run, Structure};

/// The limits of a check.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Pairs of a state and a state of the automaton that are visited.
    pub pairs: usize,
    /// The automaton of the negation.
    pub automata: crate::Limits,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            pairs: 40_000_000,
            automata: crate::Limits::default(),
        }
    }
}

/// The reason why a check has no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckError<E> {
    /// The structure cannot be explored.
    #[error("{0}")]
    Structure(E),
    /// The formula has no automaton within the limits.
    #[error("{0}")]
    Automaton(CompileError),
    /// The product is larger than [`Limits::pairs`].
    #[error("the product of the system and the automaton has more than {0} states")]
    Pairs(usize),
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// A run that violates the formula; `None` if all runs satisfy it.
    pub counterexample: Option<Run>,
    /// The length of the shortest prefix of the run that already violates the formula, if there is one.
    pub bad_prefix: Option<usize>,
    /// The states of the automaton of the negation.
    pub automaton: usize,
    /// The pairs that were visited.
    pub pairs: usize,
}

/// Whether every run from an initial state, on which each atom of `fair` recurs, satisfies the formula at its first
/// position.
///
/// # Limits
/// Linear in the product of the reachable structure and the automaton, which may be exponential in the formula.
///
/// # Source
/// M. Vardi, P. Wolper, "An automata-theoretic approach to automatic program verification", LICS 1986; the search:
/// J.-M. Couvreur, "On-the-fly verification of linear temporal logic", FM 1999.
///
/// # Errors
/// [`CheckError`].
pub fn check<S: Structure>(
    structure: &mut S,
    formulas: &mut Formulas,
    formula: FormulaId,
    fair: &[Atom],
    limits: &Limits,
) -> Result<Outcome, CheckError<S::Error>> {
    let negation = formulas.not(formula);
    let buchi =
        omega::translate(formulas, negation, &limits.automata).map_err(CheckError::Automaton)?;
    let (run, pairs) = find(structure, &buchi, fair, limits.pairs)?;
    let (counterexample, bad_prefix) = match run {
        None => (None, None),
        Some(Found::Run(run)) => (Some(run), None),
        Some(Found::Prefix(states)) => {
            let prefix = states.len();
            let run = Run::closed(structure, states).map_err(CheckError::Structure)?;
            (Some(run), Some(prefix))
        }
    };
    Ok(Outcome {
        counterexample,
        bad_prefix,
        automaton: buchi.len(),
        pairs,
    })
}

/// A run that the automaton accepts.
pub(super) enum Found {
    Run(Run),
    /// Any run that begins with these states.
    Prefix(Vec<u32>),
}

/// Returns a fair run from an initial state that the automaton accepts, and how many pairs were visited.
pub(super) fn find<S: Structure>(
    structure: &mut S,
    buchi: &Buchi,
    fair: &[Atom],
    limit: usize,
) -> Result<(Option<Found>, usize), CheckError<S::Error>> {
    let marks = buchi.n_marks() as usize + fair.len();
    if marks > Marks::MAX as usize {
        let error = LimitError {
            resource: Resource::Marks,
            limit: u64::from(Marks::MAX),
            demand: marks as u64,
        };
        return Err(CheckError::Automaton(CompileError::Limit(error)));
    }
    if fair.is_empty()
        && let Some(everything) = Terminal::of(buchi)
    {
        return everything.search(structure, buchi, limit);
    }
    let mut product = Product {
        structure,
        buchi,
        fair,
        pairs: 0,
        limit,
    };
    let n_marks = product.n_marks();
    let found = omega::find_run(&mut product, n_marks).map_err(|stop| match stop {
        Stop::Structure(error) => CheckError::Structure(error),
        Stop::Limit => CheckError::Pairs(limit),
    })?;
    let pairs = product.pairs;
    let run = found.map(|run| {
        let states = |part: Vec<((u32, StateId), ())>| {
            part.into_iter().map(|((state, _), ())| state).collect()
        };
        Found::Run(Run {
            stem: states(run.stem),
            cycle: states(run.cycle),
        })
    });
    Ok((run, pairs))
}

/// Returns the first initial state from which no fair run satisfies the formula, if there is one.
///
/// # Errors
/// [`CheckError`].
pub fn dead_start<S: Structure>(
    structure: &mut S,
    formulas: &Formulas,
    formula: FormulaId,
    fair: &[Atom],
    limits: &Limits,
) -> Result<Option<u32>, CheckError<S::Error>> {
    /// The structure from one state on.
    struct From<'a, S>(&'a mut S, u32);
    impl<S: Structure> Structure for From<'_, S> {
        type Error = S::Error;
        fn initial(&mut self) -> Result<Vec<u32>, S::Error> {
            Ok(vec![self.1])
        }
        fn successors(&mut self, state: u32) -> Result<&[u32], S::Error> {
            self.0.successors(state)
        }
        fn holds(&self, state: u32, atom: Atom) -> bool {
            self.0.holds(state, atom)
        }
    }
    let buchi =
        omega::translate(formulas, formula, &limits.automata).map_err(CheckError::Automaton)?;
    for start in structure.initial().map_err(CheckError::Structure)? {
        let (run, _) = find(&mut From(structure, start), &buchi, fair, limits.pairs)?;
        if run.is_none() {
            return Ok(Some(start));
        }
    }
    Ok(None)
}

/// The states of an automaton from which every word is accepted, if the automaton accepts in no other way.
struct Terminal {
    everything: Vec<bool>,
}

impl Terminal {
    fn of(buchi: &Buchi) -> Option<Terminal> {
        let every = Marks::first(buchi.n_marks());
        let everything: Vec<bool> = buchi
            .states()
            .map(|state| {
                let mut edges = buchi.edges(state).iter();
                edges.any(|edge| {
                    edge.target == state && edge.guard == Guard::TRUE && edge.marks == every
                })
            })
            .collect();
        let edges: Vec<(u32, u32)> = buchi
            .states()
            .flat_map(|state| {
                buchi
                    .edges(state)
                    .iter()
                    .map(move |edge| (state, edge.target))
            })
            .map(|(from, to)| (number(from), number(to)))
            .collect();
        let graph = Digraph::from_edges(buchi.len(), &edges).ok()?;
        let found = components(&graph, None);
        for state in buchi.states().filter(|state| !everything[state.index()]) {
            // The marks on all edges within its component.
            let mut inside = Marks::NONE;
            let mut cyclic = false;
            for member in buchi
                .states()
                .filter(|member| found.same(number(*member), number(state)))
            {
                for edge in buchi.edges(member) {
                    if found.same(number(edge.target), number(state)) {
                        inside = inside.union(edge.marks);
                        cyclic = true;
                    }
                }
            }
            if cyclic && every.is_subset(inside) {
                return None;
            }
        }
        Some(Terminal { everything })
    }

    /// Returns a shortest path to a state from which every word is accepted.
    fn search<S: Structure>(
        &self,
        structure: &mut S,
        buchi: &Buchi,
        limit: usize,
    ) -> Result<(Option<Found>, usize), CheckError<S::Error>> {
        // Pairs in the order of their discovery, each with the index of its predecessor.
        let mut pairs: Vec<(u32, StateId, u32)> = Vec::new();
        let mut seen = Seen::new(buchi.len());
        let mut starts = structure.initial().map_err(CheckError::Structure)?;
        starts.sort_unstable();
        starts.dedup();
        for state in starts {
            if self.everything[buchi.initial().index()] {
                return Ok((Some(Found::Prefix(vec![state])), 1));
            }
            seen.insert(state, buchi.initial());
            pairs.push((state, buchi.initial(), u32::MAX));
        }
        let mut moves: Vec<StateId> = Vec::new();
        let mut next = 0;
        while let Some(&(state, at, _)) = pairs.get(next) {
            moves.clear();
            let found = buchi.successors(at, |atom| structure.holds(state, atom));
            moves.extend(found.map(|(target, _)| target));
            if moves.iter().any(|target| self.everything[target.index()]) {
                return Ok((Some(Found::Prefix(way(&pairs, next))), pairs.len()));
            }
            if !moves.is_empty() {
                for target in structure.successors(state).map_err(CheckError::Structure)? {
                    for to in &moves {
                        if seen.insert(*target, *to) {
                            pairs.push((*target, *to, next as u32));
                        }
                    }
                }
                if pairs.len() > limit {
                    return Err(CheckError::Pairs(limit));
                }
            }
            next += 1;
        }
        Ok((None, pairs.len()))
    }
}

fn number(state: StateId) -> u32 {
    state.index() as u32
}

/// Returns the states on the path to a pair.
fn way(pairs: &[(u32, StateId, u32)], end: usize) -> Vec<u32> {
    let mut states = Vec::new();
    let mut at = Some(end);
    while let Some((state, _, before)) = at.and_then(|at| pairs.get(at)) {
        states.push(*state);
        at = Some(*before as usize);
    }
    states.reverse();
    states
}

/// The pairs that were visited: one row of bits for each state of the automaton.
struct Seen {
    rows: Vec<Vec<u64>>,
}

impl Seen {
    fn new(rows: usize) -> Seen {
        Seen {
            rows: vec![Vec::new(); rows],
        }
    }

    /// Whether the pair is new.
    fn insert(&mut self, state: u32, at: StateId) -> bool {
        let row = &mut self.rows[at.index()];
        let (word, bit) = ((state / 64) as usize, 1u64 << (state % 64));
        if row.len() <= word {
            row.resize((word + 1).next_power_of_two(), 0);
        }
        let new = row[word] & bit == 0;
        row[word] |= bit;
        new
    }
}
