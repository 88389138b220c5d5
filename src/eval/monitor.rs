//! The automaton of one property, and where a trace is in it.
//!
//! Where a trace is, is a *configuration*: one state, or all the states that the completions of unknown letters lead
//! to. It is a number, so that many instances can share it and be compared; sets of states, and states of formulas that
//! have no automaton, are numbered as a trace meets them.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::automata::{
    self, Atom, CompileError, Dfa, Finality, FormulaId as AFormulaId, Formulas as AFormulas,
    Machine, MachineState, Recurring, StateId, StateSet, StepError,
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
        /// By state: whether the formula is violated there.
        violated: Box<[bool]>,
    },
    Machine(Box<Machine>),
    /// Of `G (s -> φ)`, where `s` is this atom: `G φ` watched on after violations.
    Recurring(Box<Machine>, Atom),
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
                let violated = |state: &StateId| dfa.finality(*state) == Finality::FinalFalse;
                let violated = states.iter().map(violated).collect();
                Ok(Automaton::Dfa {
                    dfa,
                    states,
                    standings,
                    violated,
                })
            }
            Err(CompileError::Timed | CompileError::Limit(_)) => Ok(Automaton::Machine(Box::new(
                Machine::new(formulas, formula, limits)?,
            ))),
        }
    }

    /// For `G (start -> φ)`: `G φ`, watched on after violations. A violation is then no end, and nothing that is violated
    /// is final.
    pub(super) fn recurring(
        formulas: &AFormulas,
        formula: AFormulaId,
        start: Atom,
        limits: &automata::Limits,
    ) -> Result<Automaton, automata::LimitError> {
        let compiled = automata::compile(formulas, formula, limits);
        if let Some(Recurring { dfa, violated }) = compiled
            .ok()
            .and_then(|dfa| dfa.recurring(start, limits).ok())
        {
            let states: Box<[StateId]> = dfa.states().collect();
            let standing = |state: &StateId| Standing {
                now: Truth::from(dfa.accepting(*state)),
                fixed: dfa.finality(*state) == Finality::FinalTrue,
            };
            let standings = states.iter().map(standing).collect();
            return Ok(Automaton::Dfa {
                dfa,
                states,
                standings,
                violated,
            });
        }
        let machine = Machine::new(formulas, formula, limits)?;
        Ok(Automaton::Recurring(Box::new(machine), start))
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

/// Where a machine is in one reading of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub(super) struct Followed {
    state: MachineState,
    /// Of a recurring formula: what is remembered, and whether it was violated at the last position.
    again: Option<(MachineState, bool)>,
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
    fn again(asked: MachineState, remembered: MachineState) -> Followed {
        let violated = asked.finality() == Finality::FinalFalse;
        Followed {
            state: if violated { remembered.clone() } else { asked },
            again: Some((remembered, violated)),
        }
    }
}

/// A configuration without regard to its number.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Content {
    Set(Box<[u32]>),
    Machine(Box<[Followed]>),
}

/// The configurations that one trace has met, beyond single states of an automaton.
#[derive(Clone, Debug)]
pub(super) struct Configs {
    n_states: u32,
    sets: IndexSet<Box<[u32]>, FxBuildHasher>,
    machine: Option<Machine>,
    /// Of a recurring formula: the atom that asks for it.
    start: Option<Atom>,
    machine_states: IndexSet<Box<[Followed]>, FxBuildHasher>,
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
            start: None,
            machine_states: IndexSet::default(),
            overflow: false,
        };
        let mut begin = |machine: &Machine, again: Option<(MachineState, bool)>| {
            let state = machine.initial();
            configs
                .machine_states
                .insert([Followed { state, again }].into());
            configs.machine = Some(machine.clone());
        };
        match automaton {
            Automaton::Dfa { states, .. } => {
                configs.n_states = u32::try_from(states.len()).unwrap_or(u32::MAX)
            }
            Automaton::Machine(machine) => begin(machine, None),
            Automaton::Recurring(machine, start) => {
                begin(machine, Some((machine.initial(), false)));
                configs.start = Some(*start);
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
            Automaton::Machine(_) | Automaton::Recurring(..) => {
                self.step_machine(config, time, letter)
            }
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
        let start = self.start;
        let mut after: Vec<Followed> = Vec::new();
        let mut keep = |followed: Followed| {
            if !after.contains(&followed) {
                after.push(followed);
            }
        };
        for followed in before {
            let mut step = |state: &MachineState, asks: bool| {
                step_timed(machine, state, time, |atom| {
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
                Err(StepError::TimeMissing | StepError::TimeDecreases { .. }) => return LOST,
            }
        }
        self.machine_states.insert_full(after.into()).0 as u32
    }

    /// The configuration once time has come to `now` without an event.
    pub(super) fn tick(&mut self, config: Config, now: i128) -> Config {
        let (Some(machine), Some(before)) = (
            &mut self.machine,
            self.machine_states.get_index(config as usize),
        ) else {
            return config;
        };
        let mut after: Vec<Followed> = Vec::new();
        for followed in before {
            let mut tick = |state: &MachineState| {
                let mut state = state.clone();
                // Where it cannot be said what time does, nothing is said.
                let told = machine.tick(&mut state, now);
                told.map(|()| state).ok()
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
        self.machine_states.insert_full(after.into()).0 as u32
    }

    /// Whether the formula is followed by a machine: only then does time alone change anything.
    pub(super) fn has_machine(&self) -> bool {
        self.machine.is_some()
    }

    /// The earliest deadline of something owed, after a time.
    pub(super) fn deadline(&self, config: Config, after: i128) -> Option<i128> {
        let machine = self.machine.as_ref()?;
        let followed = self.machine_states.get_index(config as usize)?;
        let deadlines = followed
            .iter()
            .filter_map(|each| machine.deadline(&each.state, after));
        deadlines.min()
    }

    /// The value of the formula in this configuration.
    #[inline]
    pub(super) fn standing(&self, automaton: &Automaton, config: Config) -> Standing {
        match automaton {
            Automaton::Dfa { standings, .. } => match standings.get(config as usize) {
                Some(standing) => *standing,
                None => self.standing_of_set(standings, config),
            },
            Automaton::Machine(_) | Automaton::Recurring(..) => {
                let states = self.machine_states.get_index(config as usize);
                let each = states.into_iter().flatten().map(Followed::standing);
                each.reduce(Standing::join).unwrap_or(Standing::UNKNOWN)
            }
        }
    }

    /// Whether the formula is violated in this configuration: for good or, where it is watched on, at the last position.
    /// Unknown where some completions of what is not known violate it, and where nothing is known any more.
    pub(super) fn violated(&self, automaton: &Automaton, config: Config) -> Truth {
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
            Automaton::Dfa { violated, .. } => match violated.get(config as usize) {
                Some(violated) => Truth::from(*violated),
                None => {
                    let set = self.set(config).unwrap_or_default();
                    all(&mut set
                        .iter()
                        .filter_map(|state| violated.get(*state as usize))
                        .copied())
                }
            },
            Automaton::Machine(_) | Automaton::Recurring(..) => {
                let states = self.machine_states.get_index(config as usize);
                all(&mut states.into_iter().flatten().map(Followed::violated))
            }
        }
    }

    /// The states of a configuration that is not one state.
    fn set(&self, config: Config) -> Option<&[u32]> {
        let place = config
            .checked_sub(self.n_states)
            .filter(|_| config != LOST)?;
        self.sets.get_index(place as usize).map(|set| &**set)
    }

    fn standing_of_set(&self, standings: &[Standing], config: Config) -> Standing {
        let set = self.set(config).unwrap_or_default();
        let each = set
            .iter()
            .filter_map(|state| standings.get(*state as usize))
            .copied();
        each.reduce(Standing::join).unwrap_or(Standing::UNKNOWN)
    }

    /// Whether every configuration that was met is one state.
    pub(super) fn is_plain(&self) -> bool {
        self.machine.is_none() && self.sets.is_empty()
    }

    /// Whether a configuration leaves open where the trace is.
    pub(super) fn is_doubtful(&self, config: Config) -> bool {
        match &self.machine {
            None => config >= self.n_states,
            Some(_) => {
                let followed = self.machine_states.get_index(config as usize);
                followed.is_none_or(|followed| followed.len() != 1)
            }
        }
    }

    /// What a configuration is, without regard to its number; none where the number says it all.
    pub(super) fn content(&self, config: Config) -> Option<Content> {
        if config == LOST {
            return None;
        }
        match &self.machine {
            None => self.set(config).map(|set| Content::Set(set.into())),
            Some(_) => {
                let followed = self.machine_states.get_index(config as usize)?;
                Some(Content::Machine(followed.clone()))
            }
        }
    }

    /// Whether something that was written down can be a configuration here.
    pub(super) fn fits(&self, content: &Content) -> bool {
        match (content, &self.machine) {
            (Content::Set(set), None) => {
                set.len() > 1 && set.iter().all(|state| *state < self.n_states)
            }
            (Content::Machine(followed), Some(machine)) => {
                let fits = |each: &Followed| {
                    let again = each.again.as_ref().map(|(remembered, _)| remembered);
                    again.is_some() == self.start.is_some()
                        && [Some(&each.state), again]
                            .into_iter()
                            .flatten()
                            .all(|s| machine.owns(s))
                };
                !followed.is_empty() && followed.iter().all(fits)
            }
            _ => false,
        }
    }

    /// Whether a number says by itself what a configuration is.
    pub(super) fn is_state(&self, config: Config) -> bool {
        config == LOST || (self.machine.is_none() && config < self.n_states)
    }

    /// The number of a configuration.
    pub(super) fn number(&mut self, content: &Content) -> Config {
        match content {
            Content::Set(set) => match self.sets.get_index_of(set) {
                Some(place) => self.n_states + place as u32,
                None => self.n_states + self.sets.insert_full(set.clone()).0 as u32,
            },
            Content::Machine(followed) => match self.machine_states.get_index_of(followed) {
                Some(place) => place as u32,
                None => self.machine_states.insert_full(followed.clone()).0 as u32,
            },
        }
    }

    /// Forgets all numbers once there are many; only while no trace uses one.
    pub(super) fn forget_numbers(&mut self) {
        if self.sets.len() > MOST_KEPT {
            self.sets.clear();
        }
        if self.machine_states.len() > MOST_KEPT {
            self.machine_states.truncate(1);
        }
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

/// A step of a machine. A step without a time is as good as any where it makes no difference when it was: nothing that is
/// owed or remembered has a deadline.
fn step_timed(
    machine: &mut Machine,
    state: &MachineState,
    time: Option<i128>,
    mut letter: impl FnMut(Atom) -> Option<bool>,
) -> Result<Vec<MachineState>, StepError> {
    match (machine.step_unknown(state, time, &mut letter), time) {
        (Err(StepError::TimeMissing), None) => {
            let early = state.time().unwrap_or(0);
            let early = machine.step_unknown(state, Some(early), &mut letter);
            let late = machine.step_unknown(state, Some(i128::MAX / 2), &mut letter);
            match (early, late) {
                (Ok(early), Ok(late)) if early == late => Ok(early),
                _ => Err(StepError::TimeMissing),
            }
        }
        (next, _) => next,
    }
}
