//! The automaton of one property, and the state of a trace in it.
//!
//! That state is a *state set*: one state, or all states that the completions of unknown letters lead to. State sets
//! are numbers, so that instances can share and compare them. Sets of states, and states with counters (`counters.rs`),
//! are numbered when a trace reaches them.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::clock::Clock;
use super::counters::{CounterState, CounterStates};
use super::limits::Limits;
use crate::value::Truth;
use crate::verdict::Verdict;
use guard_automata::{
    self, Atom, CompileError, Dfa, Finality, FormulaId as AFormulaId, Formulas as AFormulas,
    LazyDfa, Recurring, StateId, StateSet,
};

/// The number of a state set: a state of the automaton or, above those, a number given by [`StateSetInterner`].
pub(super) type StateSetId = u32;

/// A state set about which nothing is known or ever will be.
pub(super) const LOST: StateSetId = u32::MAX;

/// The value of a formula on the trace read so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Status {
    /// Its value if the trace ended now.
    pub(super) now: Truth,
    /// Whether no continuation can change the value.
    pub(super) fixed: bool,
}

impl Status {
    pub(super) const UNKNOWN: Status = Status {
        now: Truth::Unknown,
        fixed: true,
    };

    /// Returns the verdict; for a complete trace it is final.
    pub(super) fn verdict(self, complete: bool) -> Verdict {
        match (self.now, self.fixed || complete) {
            (Truth::True, true) => Verdict::Satisfied,
            (Truth::False, true) => Verdict::Violated,
            (Truth::True, false) => Verdict::PresumablySatisfied,
            (Truth::False, false) => Verdict::PresumablyViolated,
            (Truth::Unknown, _) => Verdict::Unknown,
        }
    }

    pub(super) fn new(finality: Finality, accepting: bool) -> Status {
        Status {
            now: Truth::from(accepting),
            fixed: finality != Finality::Open,
        }
    }

    /// Returns the common status of two possible ones.
    pub(super) fn join(self, other: Status) -> Status {
        let now = if self.now == other.now {
            self.now
        } else {
            Truth::Unknown
        };
        Status {
            now,
            fixed: self.fixed && other.fixed,
        }
    }
}

/// The automaton of a formula.
#[derive(Debug)]
pub(super) enum Automaton {
    Dfa {
        dfa: Dfa,
        states: Box<[StateId]>,
        statuses: Box<[Status]>,
        /// By state: whether the formula is violated there.
        violated: Box<[bool]>,
    },
    /// An automaton with counters, whose states are built when a trace reaches them. If there is an atom `s`, the
    /// formula is `G (s -> φ)`, and `G φ` is monitored after violations.
    CounterStates(Box<LazyDfa>, Option<Atom>),
}

impl Automaton {
    pub(super) fn new(
        formulas: &AFormulas,
        formula: AFormulaId,
        limits: &Limits,
    ) -> Result<Automaton, guard_automata::LimitError> {
        match unrolled(formulas, formula, limits) {
            Ok(dfa) => {
                let states: Box<[StateId]> = dfa.states().collect();
                let status =
                    |state: &StateId| Status::new(dfa.finality(*state), dfa.accepting(*state));
                let statuses = states.iter().map(status).collect();
                let violated = |state: &StateId| dfa.finality(*state) == Finality::FinalFalse;
                let violated = states.iter().map(violated).collect();
                Ok(Automaton::Dfa {
                    dfa,
                    states,
                    statuses,
                    violated,
                })
            }
            Err(CompileError::Timed | CompileError::Limit(_)) => {
                let lazy = LazyDfa::new(formulas, formula, &limits.automata)?;
                Ok(Automaton::CounterStates(Box::new(lazy), None))
            }
        }
    }

    /// Compiles `G (start -> φ)`, to monitor `G φ` after violations. A violation is then not final.
    pub(super) fn recurring(
        formulas: &AFormulas,
        formula: AFormulaId,
        start: Atom,
        limits: &Limits,
    ) -> Result<Automaton, guard_automata::LimitError> {
        let compiled = unrolled(formulas, formula, limits);
        if let Some(Recurring { dfa, violated }) = compiled
            .ok()
            .and_then(|dfa| dfa.recurring(start, &limits.automata).ok())
        {
            let states: Box<[StateId]> = dfa.states().collect();
            let status = |state: &StateId| Status {
                now: Truth::from(dfa.accepting(*state)),
                fixed: dfa.finality(*state) == Finality::FinalTrue,
            };
            let statuses = states.iter().map(status).collect();
            return Ok(Automaton::Dfa {
                dfa,
                states,
                statuses,
                violated,
            });
        }
        let lazy = LazyDfa::new(formulas, formula, &limits.automata)?;
        Ok(Automaton::CounterStates(Box::new(lazy), Some(start)))
    }

    /// Whether the state may depend on the number of events read.
    pub(super) fn counts(&self) -> bool {
        matches!(self, Automaton::CounterStates(..))
    }

    /// Whether the formula may be decided before the first event. That is reported at the first step.
    pub(super) fn is_decided(&self) -> bool {
        match self {
            Automaton::Dfa { statuses, .. } => statuses
                .get(StateSetInterner::INITIAL as usize)
                .is_none_or(|status| status.fixed),
            Automaton::CounterStates(..) => true,
        }
    }

    /// Whether every later state that can be reached while all letters except `free` ones are false has this value;
    /// `None` if that is not known.
    pub(super) fn always_stands(&self, free: impl Fn(u32) -> bool, value: Truth) -> Option<bool> {
        let (dfa, statuses) = match self {
            Automaton::Dfa { dfa, statuses, .. } => (dfa, statuses),
            Automaton::CounterStates(lazy, start) => {
                let value = value.known()?;
                // In a recurring formula the start atom holds at every position.
                let letter = |atom: Atom| match *start {
                    Some(start) if start == atom => Some(true),
                    _ if free(atom.0) => None,
                    _ => Some(false),
                };
                return lazy.as_ref().clone().always(value, letter).then_some(true);
            }
        };
        let mut seen = vec![false; dfa.len()];
        let mut todo = vec![dfa.initial()];
        while let Some(state) = todo.pop() {
            let mut next = StateSet::new();
            dfa.step_unknown(
                state,
                |atom| if free(atom.0) { None } else { Some(false) },
                &mut next,
            );
            for state in next.iter() {
                if statuses[state.index()].now != value {
                    return Some(false);
                }
                if !std::mem::replace(&mut seen[state.index()], true) {
                    todo.push(state);
                }
            }
        }
        Some(true)
    }
}

/// Returns the minimal automaton, unless it needs counters.
fn unrolled(
    formulas: &AFormulas,
    formula: AFormulaId,
    limits: &Limits,
) -> Result<Dfa, CompileError> {
    let bound = formulas.greatest_bound(formula);
    if bound > limits.unrolled {
        return Err(CompileError::Limit(guard_automata::LimitError {
            resource: guard_automata::Resource::States,
            limit: limits.unrolled.into(),
            demand: bound.into(),
        }));
    }
    guard_automata::compile(formulas, formula, &limits.automata)
}

/// The contents of a state set, without its number.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Content {
    Set(Box<[u32]>),
    CounterStates(Box<[CounterState]>),
}

/// The state sets of one trace that are not single states of an automaton.
#[derive(Clone, Debug)]
pub(super) struct StateSetInterner {
    n_states: u32,
    sets: IndexSet<Box<[u32]>, FxBuildHasher>,
    counted: Option<Box<CounterStates>>,
}

/// When this many state sets are numbered, unused ones are dropped.
pub(super) const MOST_KEPT: usize = 4096;

impl StateSetInterner {
    pub(super) fn new(automaton: &Automaton) -> StateSetInterner {
        let (n_states, counted) = match automaton {
            Automaton::Dfa { states, .. } => {
                (u32::try_from(states.len()).unwrap_or(u32::MAX), None)
            }
            Automaton::CounterStates(lazy, start) => {
                (0, Some(CounterStates::new(lazy, *start).into()))
            }
        };
        StateSetInterner {
            n_states,
            sets: IndexSet::default(),
            counted,
        }
    }

    /// Drops the state sets of a trace.
    pub(super) fn reset(&mut self) {
        match &mut self.counted {
            Some(counted) => counted.reset(),
            None if self.sets.len() > MOST_KEPT => self.sets = IndexSet::default(),
            None => self.sets.clear(),
        }
    }

    /// Whether the formula exceeded the limits.
    pub(super) fn overflow(&self) -> bool {
        self.counted
            .as_ref()
            .is_some_and(|counted| counted.overflow)
    }

    /// The state before the first event.
    pub(super) const INITIAL: StateSetId = 0;

    /// Reads one position.
    #[inline]
    pub(super) fn step(
        &mut self,
        automaton: &Automaton,
        state_set: StateSetId,
        clock: &Clock,
        mut letter: impl FnMut(u32) -> Truth,
    ) -> StateSetId {
        match automaton {
            Automaton::Dfa { dfa, states, .. } => {
                if let Some(state) = states.get(state_set as usize) {
                    let mut unknown = false;
                    let next = dfa.step(*state, |atom| match letter(atom.0) {
                        Truth::True => true,
                        Truth::False => false,
                        Truth::Unknown => {
                            unknown = true;
                            false
                        }
                    });
                    if !unknown {
                        return next.index() as u32;
                    }
                }
                self.step_set(dfa, states, state_set, letter)
            }
            Automaton::CounterStates(..) => match &mut self.counted {
                Some(counted) => counted.step(state_set, clock, letter),
                None => LOST,
            },
        }
    }

    #[cold]
    fn step_set(
        &mut self,
        dfa: &Dfa,
        states: &[StateId],
        state_set: StateSetId,
        mut letter: impl FnMut(u32) -> Truth,
    ) -> StateSetId {
        if state_set == LOST {
            return LOST;
        }
        let mut next = StateSet::new();
        if let Some(state) = states.get(state_set as usize) {
            dfa.step_unknown(*state, |atom| letter(atom.0).known(), &mut next);
        } else if let Some(set) = self.sets.get_index((state_set - self.n_states) as usize) {
            for state in set.iter().filter_map(|state| states.get(*state as usize)) {
                dfa.step_unknown(*state, |atom| letter(atom.0).known(), &mut next);
            }
        }
        let next: Box<[u32]> = next.iter().map(|state| state.index() as u32).collect();
        match &*next {
            [] => LOST,
            [only] => *only,
            _ => self.n_states + self.sets.insert_full(next).0 as u32,
        }
    }

    /// Returns the state set after time has advanced to `now` without an event; `position` is that of the next event.
    pub(super) fn tick(&mut self, state_set: StateSetId, position: u64, now: i128) -> StateSetId {
        match &mut self.counted {
            Some(counted) => counted.tick(state_set, position, now),
            None => state_set,
        }
    }

    /// Whether the formula has counters. Otherwise time alone changes nothing.
    pub(super) fn counts(&self) -> bool {
        self.counted.is_some()
    }

    /// Returns the earliest deadline of a pending obligation, after a time.
    pub(super) fn deadline(&self, state_set: StateSetId, after: i128) -> Option<i128> {
        self.counted.as_ref()?.deadline(state_set, after)
    }

    /// Returns the value of the formula in this state set.
    #[inline]
    pub(super) fn status(&self, automaton: &Automaton, state_set: StateSetId) -> Status {
        match automaton {
            Automaton::Dfa { statuses, .. } => match statuses.get(state_set as usize) {
                Some(status) => *status,
                None => self.status_of_set(statuses, state_set),
            },
            Automaton::CounterStates(..) => match &self.counted {
                Some(counted) => counted.status(state_set),
                None => Status::UNKNOWN,
            },
        }
    }

    /// Whether the formula is violated in this state set: for good or, if it is monitored after violations, at the last
    /// position. Returns unknown if only some values of unknown letters violate it, or if the state itself is unknown.
    pub(super) fn violated(&self, automaton: &Automaton, state_set: StateSetId) -> Truth {
        let all = |each: &mut dyn Iterator<Item = bool>| {
            let first = each.next().map(Truth::from);
            let same = |truth: Truth, violated: bool| {
                if truth == Truth::from(violated) {
                    truth
                } else {
                    Truth::Unknown
                }
            };
            first.map_or(Truth::Unknown, |first| each.fold(first, same))
        };
        match automaton {
            Automaton::Dfa { violated, .. } => match violated.get(state_set as usize) {
                Some(violated) => Truth::from(*violated),
                None => {
                    let set = self.set(state_set).unwrap_or_default();
                    all(&mut set
                        .iter()
                        .filter_map(|state| violated.get(*state as usize))
                        .copied())
                }
            },
            Automaton::CounterStates(..) => match &self.counted {
                Some(counted) => all(&mut counted.violated(state_set)),
                None => Truth::Unknown,
            },
        }
    }

    /// Returns a state set without the states in which the formula is violated; the same if there are no others.
    pub(super) fn unviolated(
        &mut self,
        automaton: &Automaton,
        state_set: StateSetId,
    ) -> StateSetId {
        match (automaton, &mut self.counted) {
            (Automaton::Dfa { violated, .. }, _) => {
                let set = self.set(state_set).unwrap_or_default().iter();
                let rest = set.filter(|state| !violated[**state as usize]).copied();
                match &*rest.collect::<Box<[u32]>>() {
                    [] => state_set,
                    [only] => *only,
                    several => self.number(&Content::Set(several.into())),
                }
            }
            (Automaton::CounterStates(..), Some(counted)) => counted.unviolated(state_set),
            (Automaton::CounterStates(..), None) => state_set,
        }
    }

    /// Returns the states of a state set that is not one state.
    fn set(&self, state_set: StateSetId) -> Option<&[u32]> {
        let place = state_set
            .checked_sub(self.n_states)
            .filter(|_| state_set != LOST)?;
        self.sets.get_index(place as usize).map(|set| &**set)
    }

    fn status_of_set(&self, statuses: &[Status], state_set: StateSetId) -> Status {
        let set = self.set(state_set).unwrap_or_default();
        let each = set
            .iter()
            .filter_map(|state| statuses.get(*state as usize))
            .copied();
        each.reduce(Status::join).unwrap_or(Status::UNKNOWN)
    }

    /// Whether every state set of the trace is a single state.
    pub(super) fn is_plain(&self) -> bool {
        self.counted.is_none() && self.sets.is_empty()
    }

    /// Whether a state set contains more than one state.
    pub(super) fn is_doubtful(&self, state_set: StateSetId) -> bool {
        match &self.counted {
            None => state_set >= self.n_states,
            Some(counted) => counted.is_doubtful(state_set),
        }
    }

    /// Returns the contents of a state set, without its number; `None` if the number determines them.
    pub(super) fn content(&self, state_set: StateSetId) -> Option<Content> {
        match &self.counted {
            _ if state_set == LOST => None,
            None => self.set(state_set).map(|set| Content::Set(set.into())),
            Some(counted) => counted.content(state_set).map(Content::CounterStates),
        }
    }

    /// Whether deserialised contents can be a state set here.
    pub(super) fn fits(&self, content: &Content) -> bool {
        match (content, &self.counted) {
            (Content::Set(set), None) => {
                set.len() > 1 && set.iter().all(|state| *state < self.n_states)
            }
            (Content::CounterStates(followed), Some(counted)) => counted.fits(followed),
            _ => false,
        }
    }

    /// Whether a number is a state of the automaton.
    pub(super) fn is_state(&self, state_set: StateSetId) -> bool {
        state_set == LOST || (self.counted.is_none() && state_set < self.n_states)
    }

    /// Returns the number of a state set.
    pub(super) fn number(&mut self, content: &Content) -> StateSetId {
        match (content, &mut self.counted) {
            (Content::Set(set), _) => match self.sets.get_index_of(set) {
                Some(place) => self.n_states + place as u32,
                None => self.n_states + self.sets.insert_full(set.clone()).0 as u32,
            },
            (Content::CounterStates(followed), Some(counted)) => counted.number(followed),
            (Content::CounterStates(_), None) => LOST,
        }
    }

    /// Drops all numbers if there are many. May be called only while no trace uses one.
    pub(super) fn forget_numbers(&mut self) {
        if self.sets.len() > MOST_KEPT {
            self.sets.clear();
        }
        if let Some(counted) = &mut self.counted {
            counted.forget_numbers();
        }
    }

    /// Whether there are so many numbered state sets that unused ones should be dropped.
    pub(super) fn is_crowded(&self, n_met: usize) -> bool {
        let counted = self.counted.as_ref();
        counted.is_some_and(|counted| counted.is_crowded(n_met))
    }

    /// Renumbers the state sets that `met` yields and drops the others.
    pub(super) fn renumber<'c>(&mut self, met: impl Iterator<Item = &'c mut StateSetId>) {
        if let Some(counted) = &mut self.counted {
            counted.renumber(met);
        }
    }
}
