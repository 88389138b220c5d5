//! State sets of formulas whose automaton has counters: long bounds, bounds in time, and automata that are too large
//! to be built as a whole.
//!
//! Counters are deadlines, so a state set and its number do not change while a trace only waits.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::clock::Clock;
use super::monitor::{LOST, MOST_KEPT, StateSetId, Status};
use crate::value::Truth;
use guard_automata::{Atom, Finality, Instant, LazyDfa, LazyState, Next, Spot, StepError};

/// The state of an automaton in one reading of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub(super) struct CounterState {
    state: LazyState,
    /// For a recurring formula: the state that only remembers the past, and whether the formula was violated at the
    /// last position.
    again: Option<(LazyState, bool)>,
}

impl CounterState {
    fn status(&self) -> Status {
        match &self.again {
            None => Status::new(self.state.finality(), self.state.accepting()),
            Some((_, violated)) => Status {
                now: Truth::from(self.state.accepting() && !violated),
                fixed: false,
            },
        }
    }

    fn violated(&self) -> bool {
        match &self.again {
            None => self.state.finality() == Finality::FinalFalse,
            Some((_, violated)) => *violated,
        }
    }

    /// Returns the state of a recurring formula after a position, from the state that has the obligations and the one
    /// that remembers the past.
    fn again(asked: LazyState, remembered: LazyState) -> CounterState {
        let violated = asked.finality() == Finality::FinalFalse;
        CounterState {
            state: if violated { remembered.clone() } else { asked },
            again: Some((remembered, violated)),
        }
    }
}

/// The state sets of one formula that traces have reached, and the automaton that connects them.
#[derive(Clone, Debug)]
pub(super) struct CounterStates {
    lazy: LazyDfa,
    /// For a recurring formula: the atom that starts it.
    start: Option<Atom>,
    /// The state sets. For a single state of a formula that does not recur, also its index in the automaton.
    states: IndexMap<Box<[CounterState]>, Spot, FxBuildHasher>,
    /// Whether the formula exceeded the limits.
    pub(super) overflow: bool,
}

impl CounterStates {
    pub(super) fn new(lazy: &LazyDfa, start: Option<Atom>) -> CounterStates {
        let mut counted = CounterStates {
            lazy: lazy.clone(),
            start,
            states: IndexMap::default(),
            overflow: false,
        };
        counted.reset();
        counted
    }

    /// Drops the state sets and keeps the automaton.
    pub(super) fn reset(&mut self) {
        let state = self.lazy.initial();
        let again = self.start.map(|_| (state.clone(), false));
        self.states.clear();
        self.states
            .insert([CounterState { state, again }].into(), Spot::default());
        self.overflow = false;
    }

    /// Reads one position.
    #[inline]
    pub(super) fn step(
        &mut self,
        state_set: StateSetId,
        clock: &Clock,
        mut letter: impl FnMut(u32) -> Truth,
    ) -> StateSetId {
        let Some((before, spot)) = self.states.get_index_mut(state_set as usize) else {
            return LOST;
        };
        let moment = Instant {
            position: clock.position,
            time: clock.now,
        };
        if let [CounterState { state, again: None }] = &**before {
            let next = self
                .lazy
                .next(state, spot, moment, |atom| letter(atom.0).known());
            match next {
                Ok(Next::Same) => return state_set,
                Ok(Next::One(state, spot)) => {
                    let followed = CounterState { state, again: None };
                    return self.states.insert_full([followed].into(), spot).0 as u32;
                }
                // The letter is partly unknown, or the step failed: use the general path.
                Ok(Next::Any(_)) | Err(_) => {}
            }
        }
        self.step_each(state_set, clock, letter)
    }

    /// Reads one position for every state of the set and every completion of the letter.
    #[cold]
    fn step_each(
        &mut self,
        state_set: StateSetId,
        clock: &Clock,
        mut letter: impl FnMut(u32) -> Truth,
    ) -> StateSetId {
        let Some((before, _)) = self.states.get_index(state_set as usize) else {
            return LOST;
        };
        let (lazy, start) = (&mut self.lazy, self.start);
        let mut after: Vec<CounterState> = Vec::new();
        let mut keep = |followed: CounterState| {
            if !after.contains(&followed) {
                after.push(followed);
            }
        };
        for followed in before {
            let mut step = |state: &LazyState, asks: bool| {
                step_at(lazy, state, clock, |atom| {
                    if Some(atom) == start {
                        Some(asks)
                    } else {
                        letter(atom.0).known()
                    }
                })
            };
            let next = match &followed.again {
                None => step(&followed.state, true).map(|states| {
                    states
                        .into_iter()
                        .for_each(|state| keep(CounterState { state, again: None }));
                }),
                Some((remembered, _)) => step(&followed.state, true).and_then(|asked| {
                    let remembered = step(remembered, false)?;
                    for asked in asked {
                        for remembered in &remembered {
                            keep(CounterState::again(asked.clone(), remembered.clone()));
                        }
                    }
                    Ok(())
                }),
            };
            match next {
                Ok(()) => {}
                Err(StepError::Limit(_)) => {
                    self.overflow = true;
                    return LOST;
                }
                Err(StepError::TimeMissing) => return LOST,
            }
        }
        self.insert(after)
    }

    fn insert(&mut self, followed: Vec<CounterState>) -> StateSetId {
        match self.states.get_index_of(followed.as_slice()) {
            Some(known) => known as u32,
            None => self.states.insert_full(followed.into(), Spot::default()).0 as u32,
        }
    }

    /// Returns the state set when time has reached `now` without an event.
    pub(super) fn tick(&mut self, state_set: StateSetId, position: u64, now: i128) -> StateSetId {
        let Some((before, _)) = self.states.get_index(state_set as usize) else {
            return state_set;
        };
        let moment = Instant {
            position,
            time: Some(now),
        };
        let mut after: Vec<CounterState> = Vec::new();
        for followed in before {
            let mut tick = |state: &LazyState| {
                // If the effect of time on a state cannot be computed, the result is unknown.
                let advanced = self.lazy.tick(state, moment).ok()?;
                Some(advanced.unwrap_or_else(|| state.clone()))
            };
            let next = match &followed.again {
                None => tick(&followed.state).map(|state| CounterState { state, again: None }),
                Some((remembered, _)) => tick(&followed.state)
                    .zip(tick(remembered))
                    .map(|(asked, remembered)| CounterState::again(asked, remembered)),
            };
            let next = next.unwrap_or_else(|| followed.clone());
            if !after.contains(&next) {
                after.push(next);
            }
        }
        self.insert(after)
    }

    fn each(&self, state_set: StateSetId) -> impl Iterator<Item = &CounterState> {
        let known = self.states.get_index(state_set as usize);
        known.into_iter().flat_map(|(followed, _)| followed.iter())
    }

    /// Returns the earliest deadline of a pending obligation, after a time.
    pub(super) fn deadline(&self, state_set: StateSetId, after: i128) -> Option<i128> {
        let deadlines = self
            .each(state_set)
            .filter_map(|each| self.lazy.deadline(&each.state, after));
        deadlines.min()
    }

    /// Returns the value of the formula in a state set.
    #[inline]
    pub(super) fn status(&self, state_set: StateSetId) -> Status {
        let each = self.each(state_set).map(CounterState::status);
        each.reduce(Status::join).unwrap_or(Status::UNKNOWN)
    }

    /// Returns, for each possible state of a state set, whether the formula is violated.
    pub(super) fn violated(&self, state_set: StateSetId) -> impl Iterator<Item = bool> {
        self.each(state_set).map(CounterState::violated)
    }

    /// Returns a state set without the states in which the formula is violated; the same if there are no others.
    pub(super) fn unviolated(&mut self, state_set: StateSetId) -> StateSetId {
        let rest = self.each(state_set).filter(|state| !state.violated());
        match rest.cloned().collect::<Vec<_>>() {
            none if none.is_empty() => state_set,
            some => self.insert(some),
        }
    }

    /// Whether a state set contains more than one state.
    pub(super) fn is_doubtful(&self, state_set: StateSetId) -> bool {
        self.each(state_set).count() != 1
    }

    /// Returns the contents of a state set, without its number.
    pub(super) fn content(&self, state_set: StateSetId) -> Option<Box<[CounterState]>> {
        let (followed, _) = self.states.get_index(state_set as usize)?;
        Some(followed.clone())
    }

    /// Whether deserialised contents can be a state set here.
    pub(super) fn fits(&self, followed: &[CounterState]) -> bool {
        let fits = |each: &CounterState| {
            let again = each.again.as_ref().map(|(remembered, _)| remembered);
            again.is_some() == self.start.is_some()
                && [Some(&each.state), again]
                    .into_iter()
                    .flatten()
                    .all(|state| self.lazy.owns(state))
        };
        !followed.is_empty() && followed.iter().all(fits)
    }

    /// Returns the number of a state set.
    pub(super) fn number(&mut self, followed: &[CounterState]) -> StateSetId {
        self.insert(followed.to_vec())
    }

    /// Drops all numbers if there are many. May be called only while no trace uses one.
    pub(super) fn forget_numbers(&mut self) {
        if self.states.len() > MOST_KEPT {
            self.reset();
        }
    }

    /// Whether there are so many numbered state sets that unused ones should be dropped.
    pub(super) fn is_crowded(&self, n_met: usize) -> bool {
        self.states.len() > MOST_KEPT + 4 * n_met
    }

    /// Renumbers the state sets that `met` yields and drops the others.
    pub(super) fn renumber<'c>(&mut self, met: impl Iterator<Item = &'c mut StateSetId>) {
        let old = std::mem::take(&mut self.states);
        for state_set in met {
            if let Some((followed, spot)) = old.get_index(*state_set as usize) {
                *state_set = self.states.insert_full(followed.clone(), *spot).0 as u32;
            }
        }
    }
}

/// Returns the instant of a step. If a step has no time, any time is correct as long as no obligation or memory has a
/// deadline.
fn step_at(
    lazy: &mut LazyDfa,
    state: &LazyState,
    clock: &Clock,
    mut letter: impl FnMut(Atom) -> Option<bool>,
) -> Result<Vec<LazyState>, StepError> {
    let mut step = |time: Option<i128>| {
        let moment = Instant {
            position: clock.position,
            time,
        };
        let next = lazy.next(state, &mut Spot::default(), moment, &mut letter)?;
        Ok(match next {
            Next::Same => vec![state.clone()],
            Next::One(next, _) => vec![next],
            Next::Any(next) => next,
        })
    };
    match (step(clock.now), clock.now) {
        (Err(StepError::TimeMissing), None) => {
            let early = step(Some(clock.latest.unwrap_or(0)))?;
            let late = step(Some(i128::MAX / 2))?;
            if early == late {
                Ok(early)
            } else {
                Err(StepError::TimeMissing)
            }
        }
        (next, _) => next,
    }
}
