//! The automaton of one property, and where a trace is in it.
//!
//! Where a trace is, is a *configuration*: one state, or all the states that the completions of unknown letters lead
//! to. It is a number, so that many instances can share it and be compared; sets of states, and states of formulas that
//! have no automaton, are numbered as a trace meets them.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::automata::{
    self, CompileError, Dfa, Finality, FormulaId as AFormulaId, Formulas as AFormulas, Machine,
    MachineState, StateId, StateSet, StepError,
};
use crate::value::Truth;
use crate::verdict::Verdict;

/// Where a trace is: a state of the automaton, or past those, a number given by [`Configs`].
pub(super) type Config = u32;

/// A configuration of which nothing is known, and nothing will be.
pub(super) const LOST: Config = u32::MAX;

/// The value of a formula on what has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    /// Its value if the trace ended now.
    pub(super) now: Truth,
    /// Whether nothing that follows changes that.
    pub(super) fixed: bool,
}

impl Standing {
    pub(super) const UNKNOWN: Standing = Standing {
        now: Truth::Unknown,
        fixed: true,
    };

    /// The verdict; a trace that is complete leaves nothing open.
    pub(super) fn verdict(self, complete: bool) -> Verdict {
        match (self.now, self.fixed || complete) {
            (Truth::True, true) => Verdict::Satisfied,
            (Truth::False, true) => Verdict::Violated,
            (Truth::True, false) => Verdict::PresumablySatisfied,
            (Truth::False, false) => Verdict::PresumablyViolated,
            (Truth::Unknown, _) => Verdict::Unknown,
        }
    }

    fn new(finality: Finality, accepting: bool) -> Standing {
        Standing {
            now: Truth::from(accepting),
            fixed: finality != Finality::Open,
        }
    }

    /// Of something that is one of two.
    pub(super) fn join(self, other: Standing) -> Standing {
        let now = if self.now == other.now {
            self.now
        } else {
            Truth::Unknown
        };
        Standing {
            now,
            fixed: self.fixed && other.fixed,
        }
    }
}

/// What follows a formula.
#[derive(Debug)]
pub(super) enum Automaton {
    Dfa {
        dfa: Dfa,
        states: Box<[StateId]>,
        standings: Box<[Standing]>,
    },
    Machine(Box<Machine>),
}

impl Automaton {
    pub(super) fn new(
        formulas: &AFormulas,
        formula: AFormulaId,
        limits: &automata::Limits,
    ) -> Result<Automaton, automata::LimitError> {
        match automata::compile(formulas, formula, limits) {
            Ok(dfa) => {
                let states: Box<[StateId]> = dfa.states().collect();
                let standing =
                    |state: &StateId| Standing::new(dfa.finality(*state), dfa.accepting(*state));
                let standings = states.iter().map(standing).collect();
                Ok(Automaton::Dfa {
                    dfa,
                    states,
                    standings,
                })
            }
            Err(CompileError::Timed | CompileError::Limit(_)) => Ok(Automaton::Machine(Box::new(
                Machine::new(formulas, formula, limits)?,
            ))),
        }
    }

    /// Whether every state after the first that can be reached while the letters that are not `free` are false has
    /// this value; none where that cannot be told.
    pub(super) fn always_stands(&self, free: impl Fn(u32) -> bool, value: Truth) -> Option<bool> {
        let Automaton::Dfa { dfa, standings, .. } = self else {
            return None;
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
                if standings[state.index()].now != value {
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

/// The configurations that one trace has met, beyond single states of an automaton.
#[derive(Clone, Debug)]
pub(super) struct Configs {
    n_states: u32,
    sets: IndexSet<Box<[u32]>, FxBuildHasher>,
    machine: Option<Machine>,
    machine_states: IndexSet<Box<[MachineState]>, FxBuildHasher>,
    /// Whether a formula grew beyond the limits.
    pub(super) overflow: bool,
}

/// Configurations of a machine are dropped when so many are numbered.
const MOST_KEPT: usize = 4096;

impl Configs {
    pub(super) fn new(automaton: &Automaton) -> Configs {
        let mut configs = Configs {
            n_states: 0,
            sets: IndexSet::default(),
            machine: None,
            machine_states: IndexSet::default(),
            overflow: false,
        };
        match automaton {
            Automaton::Dfa { states, .. } => {
                configs.n_states = u32::try_from(states.len()).unwrap_or(u32::MAX)
            }
            Automaton::Machine(machine) => {
                configs.machine_states.insert([machine.initial()].into());
                configs.machine = Some((**machine).clone());
            }
        }
        configs
    }

    /// Forgets what a trace has met.
    pub(super) fn reset(&mut self, automaton: &Automaton) {
        if self.machine.is_some() || self.overflow || self.sets.len() > MOST_KEPT {
            *self = Configs::new(automaton);
        } else {
            self.sets.clear();
        }
    }

    /// Before anything is read.
    pub(super) const INITIAL: Config = 0;

    /// Reads one position.
    #[inline]
    pub(super) fn step(
        &mut self,
        automaton: &Automaton,
        config: Config,
        time: Option<i128>,
        mut letter: impl FnMut(u32) -> Truth,
    ) -> Config {
        match automaton {
            Automaton::Dfa { dfa, states, .. } => {
                if let Some(state) = states.get(config as usize) {
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
                self.step_set(dfa, states, config, letter)
            }
            Automaton::Machine(_) => self.step_machine(config, time, letter),
        }
    }

    #[cold]
    fn step_set(
        &mut self,
        dfa: &Dfa,
        states: &[StateId],
        config: Config,
        mut letter: impl FnMut(u32) -> Truth,
    ) -> Config {
        if config == LOST {
            return LOST;
        }
        let mut next = StateSet::new();
        if let Some(state) = states.get(config as usize) {
            dfa.step_unknown(*state, |atom| letter(atom.0).known(), &mut next);
        } else if let Some(set) = self.sets.get_index((config - self.n_states) as usize) {
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

    fn step_machine(
        &mut self,
        config: Config,
        time: Option<i128>,
        mut letter: impl FnMut(u32) -> Truth,
    ) -> Config {
        let (Some(machine), Some(before)) = (
            &mut self.machine,
            self.machine_states.get_index(config as usize),
        ) else {
            return LOST;
        };
        let mut after: Vec<MachineState> = Vec::new();
        for state in before {
            let mut step = |machine: &mut Machine, time: Option<i128>| {
                machine.step_unknown(state, time, |atom| letter(atom.0).known())
            };
            let next = match (step(machine, time), time) {
                // A step without a time is as good as any where it makes no difference when it was: nothing that is
                // owed or remembered has a deadline.
                (Err(StepError::TimeMissing), None) => {
                    let early = state.time().unwrap_or(0);
                    match (
                        step(machine, Some(early)),
                        step(machine, Some(i128::MAX / 2)),
                    ) {
                        (Ok(early), Ok(late)) if early == late => Ok(early),
                        _ => Err(StepError::TimeMissing),
                    }
                }
                (next, _) => next,
            };
            match next {
                Ok(states) => {
                    for state in states {
                        if !after.contains(&state) {
                            after.push(state);
                        }
                    }
                }
                Err(StepError::Limit(_)) => {
                    self.overflow = true;
                    return LOST;
                }
                Err(StepError::TimeMissing | StepError::TimeDecreases { .. }) => return LOST,
            }
        }
        self.machine_states.insert_full(after.into()).0 as u32
    }

    /// The value of the formula in this configuration.
    #[inline]
    pub(super) fn standing(&self, automaton: &Automaton, config: Config) -> Standing {
        match automaton {
            Automaton::Dfa { standings, .. } => match standings.get(config as usize) {
                Some(standing) => *standing,
                None => self.standing_of_set(standings, config),
            },
            Automaton::Machine(_) => {
                let states = self.machine_states.get_index(config as usize);
                let each = states
                    .into_iter()
                    .flatten()
                    .map(|state| Standing::new(state.finality(), state.accepting()));
                each.reduce(Standing::join).unwrap_or(Standing::UNKNOWN)
            }
        }
    }

    fn standing_of_set(&self, standings: &[Standing], config: Config) -> Standing {
        let set = if config == LOST {
            None
        } else {
            self.sets.get_index((config - self.n_states) as usize)
        };
        let each = set
            .into_iter()
            .flatten()
            .filter_map(|state| standings.get(*state as usize))
            .copied();
        each.reduce(Standing::join).unwrap_or(Standing::UNKNOWN)
    }

    /// Whether so many configurations are numbered that those no longer met should be dropped.
    pub(super) fn is_crowded(&self, n_met: usize) -> bool {
        self.machine_states.len() > MOST_KEPT + 4 * n_met
    }

    /// Numbers anew what `met` yields and forgets the rest.
    pub(super) fn renumber<'c>(&mut self, met: impl Iterator<Item = &'c mut Config>) {
        let old = std::mem::take(&mut self.machine_states);
        for config in met {
            if let Some(states) = old.get_index(*config as usize) {
                *config = self.machine_states.insert_full(states.clone()).0 as u32;
            }
        }
        if self.machine_states.is_empty()
            && let Some(initial) = old.first()
        {
            self.machine_states.insert(initial.clone());
        }
    }
}
