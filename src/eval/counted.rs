//! Configurations of formulas whose automaton has counters: long bounds, bounds in time, and automata that are too large
//! to be built as a whole.
//!
//! Counters are deadlines, so a configuration stays what it is, and keeps its number, while a trace only waits.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::clock::Clock;
use super::monitor::{Config, LOST, MOST_KEPT, Standing};
use crate::value::Truth;
use guard_automata::{Atom, Finality, LazyDfa, LazyState, Moment, Next, Spot, StepError};

/// Where an automaton is in one reading of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub(super) struct Followed {
    state: LazyState,
    /// Of a recurring formula: what is remembered, and whether it was violated at the last position.
    again: Option<(LazyState, bool)>,
}

impl Followed {
    fn standing(&self) -> Standing {
        match &self.again {
            None => Standing::new(self.state.finality(), self.state.accepting()),
            Some((_, violated)) => Standing {
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

    /// Of a recurring formula: what is asked for and what is remembered, after a position.
    fn again(asked: LazyState, remembered: LazyState) -> Followed {
        let violated = asked.finality() == Finality::FinalFalse;
        Followed {
            state: if violated { remembered.clone() } else { asked },
            again: Some((remembered, violated)),
        }
    }
}

/// The configurations of one formula that traces have met, with the automaton that leads from one to another.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    lazy: LazyDfa,
    /// Of a recurring formula: the atom that asks for it.
    start: Option<Atom>,
    /// Beside a configuration that is one state of a formula that does not recur: where it stands in the automaton.
    states: IndexMap<Box<[Followed]>, Spot, FxBuildHasher>,
    /// Whether the formula grew beyond the limits.
    pub(super) overflow: bool,
}

impl Counted {
    pub(super) fn new(lazy: &LazyDfa, start: Option<Atom>) -> Counted {
        let mut counted = Counted {
            lazy: lazy.clone(),
            start,
            states: IndexMap::default(),
            overflow: false,
        };
        counted.reset();
        counted
    }

    /// Forgets the configurations, not the automaton.
    pub(super) fn reset(&mut self) {
        let state = self.lazy.initial();
        let again = self.start.map(|_| (state.clone(), false));
        self.states.clear();
        self.states
            .insert([Followed { state, again }].into(), Spot::default());
        self.overflow = false;
    }

    /// Reads one position.
    #[inline]
    pub(super) fn step(
        &mut self,
        config: Config,
        clock: &Clock,
        mut letter: impl FnMut(u32) -> Truth,
    ) -> Config {
        let Some((before, spot)) = self.states.get_index_mut(config as usize) else {
            return LOST;
        };
        let moment = Moment {
            position: clock.position,
            time: clock.now,
        };
        if let [Followed { state, again: None }] = &**before {
            let next = self
                .lazy
                .next(state, spot, moment, |atom| letter(atom.0).known());
            match next {
                Ok(Next::Same) => return config,
                Ok(Next::One(state, spot)) => {
                    let followed = Followed { state, again: None };
                    return self.states.insert_full([followed].into(), spot).0 as u32;
                }
                // The letter is partly unknown, or something is wrong: with more care.
                Ok(Next::Any(_)) | Err(_) => {}
            }
        }
        self.step_each(config, clock, letter)
    }

    /// Reads one position in all ways that the configuration and the letter leave open.
    #[cold]
    fn step_each(
        &mut self,
        config: Config,
        clock: &Clock,
        mut letter: impl FnMut(u32) -> Truth,
    ) -> Config {
        let Some((before, _)) = self.states.get_index(config as usize) else {
            return LOST;
        };
        let (lazy, start) = (&mut self.lazy, self.start);
        let mut after: Vec<Followed> = Vec::new();
        let mut keep = |followed: Followed| {
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
                        .for_each(|state| keep(Followed { state, again: None }));
                }),
                Some((remembered, _)) => step(&followed.state, true).and_then(|asked| {
                    let remembered = step(remembered, false)?;
                    for asked in asked {
                        for remembered in &remembered {
                            keep(Followed::again(asked.clone(), remembered.clone()));
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

    fn insert(&mut self, followed: Vec<Followed>) -> Config {
        match self.states.get_index_of(followed.as_slice()) {
            Some(known) => known as u32,
            None => self.states.insert_full(followed.into(), Spot::default()).0 as u32,
        }
    }

    /// The configuration once time has come to `now` without an event.
    pub(super) fn tick(&mut self, config: Config, position: u64, now: i128) -> Config {
        let Some((before, _)) = self.states.get_index(config as usize) else {
            return config;
        };
        let moment = Moment {
            position,
            time: Some(now),
        };
        let mut after: Vec<Followed> = Vec::new();
        for followed in before {
            let mut tick = |state: &LazyState| {
                // Where it cannot be said what time does, nothing is said.
                let told = self.lazy.tick(state, moment).ok()?;
                Some(told.unwrap_or_else(|| state.clone()))
            };
            let next = match &followed.again {
                None => tick(&followed.state).map(|state| Followed { state, again: None }),
                Some((remembered, _)) => tick(&followed.state)
                    .zip(tick(remembered))
                    .map(|(asked, remembered)| Followed::again(asked, remembered)),
            };
            let next = next.unwrap_or_else(|| followed.clone());
            if !after.contains(&next) {
                after.push(next);
            }
        }
        self.insert(after)
    }

    fn each(&self, config: Config) -> impl Iterator<Item = &Followed> {
        let known = self.states.get_index(config as usize);
        known.into_iter().flat_map(|(followed, _)| followed.iter())
    }

    /// The earliest deadline of something owed, after a time.
    pub(super) fn deadline(&self, config: Config, after: i128) -> Option<i128> {
        let deadlines = self
            .each(config)
            .filter_map(|each| self.lazy.deadline(&each.state, after));
        deadlines.min()
    }

    /// The value of the formula in a configuration.
    #[inline]
    pub(super) fn standing(&self, config: Config) -> Standing {
        let each = self.each(config).map(Followed::standing);
        each.reduce(Standing::join).unwrap_or(Standing::UNKNOWN)
    }

    /// Of each way to be in a configuration, whether the formula is violated.
    pub(super) fn violated(&self, config: Config) -> impl Iterator<Item = bool> {
        self.each(config).map(Followed::violated)
    }

    /// Whether a configuration leaves open where the trace is.
    pub(super) fn is_doubtful(&self, config: Config) -> bool {
        self.each(config).count() != 1
    }

    /// What a configuration is, without regard to its number.
    pub(super) fn content(&self, config: Config) -> Option<Box<[Followed]>> {
        let (followed, _) = self.states.get_index(config as usize)?;
        Some(followed.clone())
    }

    /// Whether something that was written down can be a configuration here.
    pub(super) fn fits(&self, followed: &[Followed]) -> bool {
        let fits = |each: &Followed| {
            let again = each.again.as_ref().map(|(remembered, _)| remembered);
            again.is_some() == self.start.is_some()
                && [Some(&each.state), again]
                    .into_iter()
                    .flatten()
                    .all(|state| self.lazy.owns(state))
        };
        !followed.is_empty() && followed.iter().all(fits)
    }

    /// The number of a configuration.
    pub(super) fn number(&mut self, followed: &[Followed]) -> Config {
        self.insert(followed.to_vec())
    }

    /// Forgets all numbers once there are many; only while no trace uses one.
    pub(super) fn forget_numbers(&mut self) {
        if self.states.len() > MOST_KEPT {
            self.reset();
        }
    }

    /// Whether so many configurations are numbered that those no longer met should be dropped.
    pub(super) fn is_crowded(&self, n_met: usize) -> bool {
        self.states.len() > MOST_KEPT + 4 * n_met
    }

    /// Numbers anew what `met` yields and forgets the rest.
    pub(super) fn renumber<'c>(&mut self, met: impl Iterator<Item = &'c mut Config>) {
        let old = std::mem::take(&mut self.states);
        for config in met {
            if let Some((followed, spot)) = old.get_index(*config as usize) {
                *config = self.states.insert_full(followed.clone(), *spot).0 as u32;
            }
        }
    }
}

/// A step. One without a time is as good as any where it makes no difference when it was: nothing that is owed or
/// remembered has a deadline.
fn step_at(
    lazy: &mut LazyDfa,
    state: &LazyState,
    clock: &Clock,
    mut letter: impl FnMut(Atom) -> Option<bool>,
) -> Result<Vec<LazyState>, StepError> {
    let mut step = |time: Option<i128>| {
        let moment = Moment {
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
