//! A deterministic automaton with counters that is built while traces are read, in bounded memory.
//!
//! [`compile`](crate::compile) builds every state, and a state for every value of every bound; a trace visits few of them.
//! A [`LazyDfa`] makes a state and its transitions when a trace first comes there and keeps them for the next time. Its
//! states are *shapes* (`shape.rs`): the pending obligations, without the numbers in it. The numbers are counters beside the
//! state, and transitions belong to a shape and the places of its counters (`region.rs`). So `within 100000 steps` has as
//! many states as `within 5`, bounds in time are no different from bounds in steps, and a step that only waits is one walk
//! down a diagram: counters are deadlines, which do not change while time goes on.
//!
//! `G (a -> F[0,K] b)` has one counter: of all pending answers the earliest counts. `G (a -> F[5,K] b)` must remember each
//! request whose window is not open yet, and `O[100,110] b` each `b` that is younger; those are a queue beside the counters, of
//! which a step touches the ends (`chain.rs`, `opening.rs`, `queue.rs`). Every formula is supported. Only the number of
//! different obligations that do not imply one another can still grow with the bounds.
//!
//! # Exactness
//! The value of a prefix as a whole trace is exact. Finality is found by a search over the regions that can be reached: a
//! verdict reported as final is final. A final verdict is reported as open only if finality depends on the difference of two
//! counters or on a queued deadline, or if more regions are reachable than the search may visit (`outlook.rs`). A verdict does
//! not depend on traces that were read before.

mod chain;
mod opening;
mod outlook;
mod queue;
mod region;
mod shape;
mod successor;
mod survey;
mod tables;
mod time;
mod witness;

use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};
use thiserror::Error;

use crate::diagram::{Branch, Branches, Diagrams, Ref};
use crate::eval::eval_empty;
use crate::formula::{Atom, FormulaId, Formulas};
use crate::limits::{LimitError, Limits, Resource, check};
use crate::program::{Program, Words};
use crate::progress::{Engine, Reading};
use crate::verdict::{Finality, Verdict};

use queue::Queue;
use region::{Constants, Place};
use shape::{Shape, Shaped, configuration, parts, shape};
use successor::{Source, Successor};

pub use survey::{Run, Survey};
pub use witness::Found;

/// The reason why a step cannot be taken. The state is then unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StepError {
    /// The next state is larger than the limits allow.
    #[error("the step {0}")]
    Limit(#[from] LimitError),
    /// The formula has bounds in time and the step has no time.
    #[error("the step has no time, but the formula has bounds in time")]
    TimeMissing,
}

/// The instant at which a position is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instant {
    /// The number of positions that were read before this one, since the initial state.
    pub position: u64,
    /// The time of the position; it never decreases along a trace. Only formulas with bounds in time need it.
    pub time: Option<i128>,
}

/// The position of an automaton in one trace: a state, and its counters. Belongs to the automaton that made it and to its
/// clones.
///
/// Equal states have the same continuations. The converse nearly always holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct LazyState {
    shape: Arc<Shape>,
    /// Positions, then times.
    counters: Box<[i128]>,
    /// The queued obligations of each chain, after the first one.
    queues: Box<[Queue]>,
    accepting: bool,
    finality: Finality,
}

impl LazyState {
    /// Whether the trace may stop here; exact.
    pub fn accepting(&self) -> bool {
        self.accepting
    }

    /// Whether what follows can still change the value.
    pub fn finality(&self) -> Finality {
        self.finality
    }

    /// Returns the verdict on what was read.
    pub fn verdict(&self) -> Verdict {
        Verdict::new(self.finality, self.accepting)
    }

    /// Returns the number of obligations and remembered values: a measure of the cost of a step that is not in the
    /// tables yet.
    pub fn size(&self) -> usize {
        self.shape.size()
    }
}

/// The index of a state in the tables of one automaton: kept beside the state, it makes the next step fast. A state that was
/// just created or deserialised has the default.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    epoch: u32,
    region: u32,
    /// The position and the time for which the index was found; it is not valid for earlier ones.
    from: (i128, i128),
    /// The first position and the first time for which the index is no longer valid.
    until: (i128, i128),
}

impl Default for Spot {
    fn default() -> Self {
        Spot {
            epoch: 0,
            region: 0,
            from: (i128::MIN, i128::MIN),
            until: (i128::MIN, i128::MIN),
        }
    }
}

/// The effect of a position on a state.
#[derive(Clone, Debug)]
pub enum Next {
    /// The state does not change.
    Same,
    /// The state changes to this one.
    One(LazyState, Spot),
    /// The state changes to one of these, depending on atoms that are not known.
    Any(Vec<LazyState>),
}

/// The successors of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Unbuilt,
    /// A diagram with indices of successors at its leaves.
    Built(Ref),
    /// There are too many letters to build the diagram at once.
    Large,
}

/// A shape with the places of its counters.
#[derive(Clone, Debug)]
struct Region {
    shape: u32,
    root: Root,
    finality: Option<Finality>,
}

/// A deterministic automaton with counters over finite traces, whose states are made when they are needed.
///
/// ```
/// use guard_automata::{Atom, Formulas, Interval, LazyDfa, Limits, Instant, Verdict};
/// let mut formulas = Formulas::new();
/// let (call, answer) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
/// let soon = formulas.eventually(Interval::time(0, 2_000), answer);
/// let step = formulas.implies(call, soon);
/// let rule = formulas.always(Interval::ALL, step);
/// let mut lazy = LazyDfa::new(&formulas, rule, &Limits::default())?;
/// let mut state = lazy.initial();
/// let at = |position, time| Instant { position, time: Some(time) };
/// lazy.step(&mut state, at(0, 0), |atom| atom == Atom(0))?;
/// assert_eq!(state.verdict(), Verdict::PresumablyViolated);
/// lazy.step(&mut state, at(1, 2_001), |_| false)?;
/// assert_eq!(state.verdict(), Verdict::Violated);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LazyDfa {
    engine: Engine,
    limits: Limits,
    constants: Constants,
    initial: LazyState,
    /// Value of the empty trace.
    empty: bool,
    shapes: IndexSet<Arc<Shape>, FxBuildHasher>,
    /// Regions by the number of their shape, in two halves, and by the places of their counters.
    regions: IndexMap<Box<[Place]>, Region, FxBuildHasher>,
    diagrams: Diagrams,
    successors: IndexSet<Successor, FxBuildHasher>,
    /// The targets of opened windows, as `opening.rs` computes them.
    openings: FxHashMap<Box<[Place]>, u32>,
    /// Entries of the tables, as [`Limits::nodes`] counts them.
    entries: usize,
    /// Counts, from 1, how often the tables were emptied.
    epoch: u32,
    key: Vec<Place>,
}

/// One part in this many of the work of a step may be spent on building the diagram for all letters.
const SHARE: u64 = 50;

impl LazyDfa {
    /// Returns the automaton of a formula. [`Limits::nodes`] bounds its memory, including later growth;
    /// [`Limits::work`] bounds the work of one step.
    ///
    /// # Errors
    /// When the formula itself is beyond the limits.
    pub fn new(
        formulas: &Formulas,
        formula: FormulaId,
        limits: &Limits,
    ) -> Result<LazyDfa, LimitError> {
        let program = Arc::new(Program::new(formulas, formula, Words::Finite, limits)?);
        let constants = Constants::new(&program);
        let mut engine = Engine::new(program, limits);
        let start = engine.initial()?;
        let mut first = shape(&engine.program, parts(&engine, start), 0);
        first.shape.fresh = true;
        let empty = eval_empty(formulas, formula);
        let mut lazy = LazyDfa {
            engine,
            limits: limits.clone(),
            constants,
            initial: LazyState {
                shape: Arc::new(first.shape),
                counters: first.counters.into(),
                // No two windows of one node wait at the same position.
                queues: Box::from([]),
                accepting: empty,
                finality: Finality::Open,
            },
            empty,
            shapes: IndexSet::default(),
            regions: IndexMap::default(),
            diagrams: Diagrams::default(),
            successors: IndexSet::default(),
            openings: FxHashMap::default(),
            entries: 0,
            epoch: 1,
            key: Vec::new(),
        };
        let number = lazy.shape_number(&lazy.initial.shape.clone());
        let spot = lazy.find(number, &lazy.initial.counters.clone(), 0, 0);
        lazy.initial.finality = lazy.finality_of(spot.region);
        Ok(lazy)
    }

    /// Returns the state before anything is read.
    pub fn initial(&self) -> LazyState {
        self.initial.clone()
    }

    /// Whether a state can be one of this automaton. Used for deserialised states.
    pub fn owns(&self, state: &LazyState) -> bool {
        state.shape.fits(&self.engine.program)
            && state.counters.len() == state.shape.n_counters as usize
            && state.queues.len() == state.shape.chains.len()
            && state
                .queues
                .iter()
                .zip(&state.shape.chains)
                .all(|(queue, chain)| {
                    let first = state.counters[chain.counter as usize];
                    std::iter::once(first)
                        .chain(queue.iter())
                        .is_sorted_by(|a, b| a < b)
                })
    }

    /// Returns the atoms of the formula, in order.
    pub fn atoms(&self) -> &[Atom] {
        &self.engine.program.atoms
    }

    /// Whether steps need a time.
    pub fn is_timed(&self) -> bool {
        self.engine.program.timed
    }

    /// Returns the number of known states, with the places of their counters.
    pub fn n_regions(&self) -> usize {
        self.regions.len()
    }

    /// Returns the number of times that the memory was full.
    pub fn n_clears(&self) -> usize {
        self.epoch as usize - 1
    }

    /// Reads one position.
    ///
    /// # Errors
    /// [`StepError`]; the state is then unchanged.
    pub fn step(
        &mut self,
        state: &mut LazyState,
        moment: Instant,
        mut holds: impl FnMut(Atom) -> bool,
    ) -> Result<(), StepError> {
        match self.next(state, &mut Spot::default(), moment, |atom| {
            Some(holds(atom))
        })? {
            Next::Same => {}
            Next::One(next, _) => *state = next,
            // With the whole letter known there is exactly one next state.
            Next::Any(mut next) => *state = next.pop().unwrap_or_else(|| state.clone()),
        }
        Ok(())
    }

    /// Returns the state after one position, which may be partly known. `letter` is called only for atoms that matter; it
    /// may be called more than once for one atom and must return the same value.
    ///
    /// # Errors
    /// [`StepError`]; a limit on states bounds the number of next ones.
    #[inline]
    pub fn next(
        &mut self,
        state: &LazyState,
        spot: &mut Spot,
        moment: Instant,
        mut holds: impl FnMut(Atom) -> Option<bool>,
    ) -> Result<Next, StepError> {
        if state.finality != Finality::Open {
            return Ok(Next::Same);
        }
        let time = match moment.time {
            Some(time) => time,
            None if self.engine.program.timed => return Err(StepError::TimeMissing),
            None => 0,
        };
        let position = i128::from(moment.position);
        let known = spot.epoch == self.epoch
            && (spot.from.0..spot.until.0).contains(&position)
            && (spot.from.1..spot.until.1).contains(&time);
        if !known {
            if let Some(state) = self.opened(state, position, time)? {
                let mut spot = Spot::default();
                let next = self.next(&state, &mut spot, moment, holds)?;
                return Ok(match next {
                    Next::Same => Next::One(state, spot),
                    next => next,
                });
            }
            *spot = self.look_up(state, *spot, position, time);
        }
        let root = match self.regions.get_index(spot.region as usize) {
            Some((_, region)) if region.root != Root::Unbuilt => region.root,
            _ => self.build(spot.region),
        };
        let Root::Built(mut at) = root else {
            return self.step_letter(state, position, time, holds);
        };
        loop {
            if let Some(leaf) = at.as_leaf() {
                if self.successors[leaf as usize].same {
                    if position + 1 < spot.until.0 {
                        return Ok(Next::Same);
                    }
                    // A counter reaches another place, at which the value may become final.
                    if state
                        .shape
                        .due(&state.counters, position + 1, time)
                        .is_none()
                    {
                        let number = self.successors[leaf as usize].shape;
                        *spot = self.find(number, &state.counters, position + 1, time);
                        if self.finality_of(spot.region) == Finality::Open {
                            return Ok(Next::Same);
                        }
                    }
                }
                let (next, spot) = self.enter(leaf, state, position, time)?;
                return Ok(Next::One(next, spot));
            }
            let Branch { var, lo, hi } = self.diagrams.at(at);
            at = match holds(self.engine.program.atoms[var as usize]) {
                Some(true) => hi,
                Some(false) => lo,
                None => return self.next_unknown(at, state, position, time, holds),
            };
        }
    }

    /// Returns every state that some completion of a letter leads to, without repetition.
    #[cold]
    fn next_unknown(
        &mut self,
        from: Ref,
        state: &LazyState,
        position: i128,
        time: i128,
        mut holds: impl FnMut(Atom) -> Option<bool>,
    ) -> Result<Next, StepError> {
        let atoms = &self.engine.program.atoms;
        let leaves = self
            .diagrams
            .leaves_where(from, |var| holds(atoms[var as usize]));
        self.check_states(leaves.len())?;
        let mut states: IndexSet<LazyState, FxBuildHasher> = IndexSet::default();
        for leaf in leaves {
            states.insert(self.enter(leaf, state, position, time)?.0);
        }
        Ok(Next::Any(states.into_iter().collect()))
    }

    fn check_states(&self, n: usize) -> Result<(), LimitError> {
        check(Resource::States, self.limits.states as u64, n as u64)
    }

    /// Returns the state of a successor, and its spot.
    fn enter(
        &mut self,
        leaf: u32,
        state: &LazyState,
        position: i128,
        time: i128,
    ) -> Result<(LazyState, Spot), LimitError> {
        let successor = &self.successors[leaf as usize];
        let number = successor.shape;
        let shape = &self.shapes[number as usize];
        let (counters, queues) =
            successor.apply(shape, &state.counters, &state.queues, position + 1, time);
        self.arrive(number, counters, queues, position, time)
    }

    /// Returns the state of a shape, its counters and its queues after a position was read.
    fn arrive(
        &mut self,
        number: u32,
        mut counters: Box<[i128]>,
        mut queues: Box<[Queue]>,
        position: i128,
        time: i128,
    ) -> Result<(LazyState, Spot), LimitError> {
        let number = self.open(number, &mut counters, &mut queues, position + 1, time)?;
        let mut spot = self.find(number, &counters, position + 1, time);
        let finality = self.finality_of(spot.region);
        let shape = &self.shapes[number as usize];
        let mut state = LazyState {
            shape: shape.clone(),
            accepting: shape.accepts(),
            counters,
            queues,
            finality,
        };
        let settled = match finality {
            Finality::Open => None,
            Finality::FinalTrue => Some(true),
            Finality::FinalFalse => Some(false),
        };
        if let Some(value) = settled
            && shape.finality() == Finality::Open
        {
            // The state still has obligations, but they can no longer change the value.
            let number = self.shape_number(&Arc::new(Shape::settled(value)));
            state = LazyState {
                shape: self.shapes[number as usize].clone(),
                accepting: value,
                counters: Box::from([]),
                queues: Box::from([]),
                finality,
            };
            spot = Spot::default();
        }
        Ok((state, spot))
    }

    /// Returns the state of a successor configuration. Its values are relative to the next position; times are absolute.
    fn arrive_at(
        &mut self,
        shaped: Shaped,
        before: &LazyState,
        position: i128,
        time: i128,
    ) -> Result<(LazyState, Spot), LimitError> {
        let successor = self.successor(shaped, |timed, value| {
            Source::New(value.saturating_sub(if timed { time } else { 0 }))
        });
        let shape = &self.shapes[successor.shape as usize];
        let (counters, queues) =
            successor.apply(shape, &before.counters, &before.queues, position + 1, time);
        self.arrive(successor.shape, counters, queues, position, time)
    }

    /// Reads one letter in a region that has too many successors to build the diagram for all letters.
    fn step_letter(
        &mut self,
        state: &LazyState,
        position: i128,
        time: i128,
        mut holds: impl FnMut(Atom) -> Option<bool>,
    ) -> Result<Next, StepError> {
        let atoms = self.engine.program.atoms.iter();
        let letter: Vec<Option<bool>> = atoms.map(|&atom| holds(atom)).collect();
        let reading = Reading {
            letter: &letter,
            time,
            open: false,
        };
        let n_steps = state.shape.n_steps as usize;
        let now: Vec<i128> = relative(&state.counters, n_steps, position, 0);
        let before = state.shape.parts(&now);
        self.tidy_engine();
        let before = configuration(&mut self.engine, &before)?;
        let after = self.engine.step(before, reading)?;
        let leaves = self.engine.diagrams.leaves(after);
        self.check_states(leaves.len())?;
        // The calls below may empty the tables of the engine.
        let program = self.engine.program.clone();
        let found: Vec<Shaped> = leaves
            .into_iter()
            .map(|leaf| shape(&program, parts(&self.engine, leaf), time))
            .collect();
        let mut states: IndexSet<LazyState, FxBuildHasher> = IndexSet::default();
        for shaped in found {
            states.insert(self.arrive_at(shaped, state, position, time)?.0);
        }
        Ok(Next::Any(states.into_iter().collect()))
    }
}

/// Returns the counters relative to this position and time.
fn relative(counters: &[i128], n_steps: usize, position: i128, time: i128) -> Vec<i128> {
    let from = |counter| if counter < n_steps { position } else { time };
    let each = counters.iter().enumerate();
    each.map(|(counter, &value)| value.saturating_sub(from(counter)))
        .collect()
}
