//! A formula followed step by step, without its automaton.
//!
//! Use it where [`compile`](super::compile) fails: for formulas whose automaton is beyond the limits, and for bounds in
//! time, which have no finite automaton. A machine computes only the states that a trace visits, with the same steps as the
//! construction; its tables are caches and are dropped when they are full.
//!
//! What it says of a prefix as a whole trace is exact. What it says about continuations is sound and may come late: it
//! looks ahead over a bounded number of states, and over time only as far as `outlook.rs` says.
//!
//! A bound in time becomes an absolute deadline at the step that makes the obligation; obligations that only differ in
//! their deadlines merge, so a state does not grow with the number of pending requests of `G (a -> F[0,b] c)`.

use std::sync::Arc;

use thiserror::Error;

use super::eval::eval_empty;
use super::formula::{Atom, FormulaId, Formulas};
use super::limits::{LimitError, Limits, Resource, check};
use super::obligation::Obligation;
use super::outlook::Outlook;
use super::program::{Core, Program, Words};
use super::progress::{Engine, Reading};
use super::registers::Value;
use super::verdict::{Finality, Verdict};

/// Why a machine cannot take a step. The state is then as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StepError {
    /// The next state is larger than the limits allow.
    #[error("the step {0}")]
    Limit(#[from] LimitError),
    /// The formula has bounds in time and the step has no time.
    #[error("the step has no time, and the formula has bounds in time")]
    TimeMissing,
    /// Time runs backward.
    #[error("time runs backward from {last} to {now}")]
    TimeDecreases {
        /// Time of the step before.
        last: i128,
        /// Time of this step.
        now: i128,
    },
}

pub(super) type Clause = Arc<[Obligation]>;
/// Registers, and clauses of obligations.
pub(super) type Part = (Arc<[Value]>, Arc<[Clause]>);

/// Where a machine is in one trace. Cheap to clone; belongs to the machine that made it and to its clones.
///
/// Equal states behave alike; states that behave alike are nearly always equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct MachineState {
    /// Registers and clauses for each way to guess, sorted.
    parts: Arc<[Part]>,
    accepting: bool,
    finality: Finality,
    /// Time of the last step while it matters.
    time: Option<i128>,
}

impl MachineState {
    /// Time of the last step, while something depends on it.
    pub fn time(&self) -> Option<i128> {
        self.time
    }

    /// The state from which every trace has this value.
    fn settled(value: bool) -> MachineState {
        let empty: Clause = Arc::from([]);
        let met: Part = (Arc::from([]), Arc::from([empty]));
        let (parts, finality): (Vec<Part>, _) = match value {
            true => (vec![met], Finality::FinalTrue),
            false => (vec![], Finality::FinalFalse),
        };
        MachineState {
            parts: parts.into(),
            accepting: value,
            finality,
            time: None,
        }
    }

    /// Whether the trace may stop here; exact.
    pub fn accepting(&self) -> bool {
        self.accepting
    }

    /// Whether what follows can still change the value; `Open` when that is not known.
    pub fn finality(&self) -> Finality {
        self.finality
    }

    /// The verdict as far as it is known.
    pub fn verdict(&self) -> Verdict {
        Verdict::new(self.finality, self.accepting)
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Number of obligations, a measure of what a step costs.
    pub fn size(&self) -> usize {
        self.parts
            .iter()
            .flat_map(|(_, clauses)| clauses.iter())
            .map(|clause| clause.len())
            .sum()
    }
}

/// A formula that can be followed along traces.
///
/// ```
/// use guard_lang::automata::{Atom, Formulas, Interval, Limits, Machine, Verdict};
/// let mut formulas = Formulas::new();
/// let (call, answer) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
/// let soon = formulas.eventually(Interval::time(0, 2_000), answer);
/// let step = formulas.implies(call, soon);
/// let rule = formulas.always(Interval::ALL, step);
/// let mut machine = Machine::new(&formulas, rule, &Limits::default())?;
/// let mut state = machine.initial();
/// machine.step(&mut state, Some(0), |atom| atom == Atom(0))?;
/// assert_eq!(state.verdict(), Verdict::PresumablyViolated);
/// machine.step(&mut state, Some(2_001), |_| false)?;
/// assert_eq!(state.verdict(), Verdict::Violated);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Machine {
    engine: Engine,
    limits: Limits,
    initial: MachineState,
    /// Searches for acceptance and for rejection.
    outlooks: [Outlook; 2],
}

impl Machine {
    /// The machine of a formula.
    ///
    /// # Errors
    /// When the formula itself is beyond the limits.
    pub fn new(
        formulas: &Formulas,
        formula: FormulaId,
        limits: &Limits,
    ) -> Result<Machine, LimitError> {
        let program = Arc::new(Program::new(formulas, formula, Words::Finite, limits)?);
        let outlooks = [true, false].map(|wanted| Outlook::new(&program, wanted, limits));
        let mut engine = Engine::new(program, limits);
        let start = engine.initial()?;
        // The empty trace has a value of its own, so what is owed at first decides nothing yet.
        let initial = MachineState {
            accepting: eval_empty(formulas, formula),
            finality: Finality::Open,
            ..freeze(&engine, start, None)
        };
        let mut machine = Machine {
            engine,
            limits: limits.clone(),
            initial,
            outlooks,
        };
        machine.initial.finality = machine.first_finality();
        Ok(machine)
    }

    /// The finality of the state before anything is read: that of all its successors and of the empty trace.
    fn first_finality(&mut self) -> Finality {
        let [accepts, rejects] = &mut self.outlooks;
        // Before anything is read the prefix itself is owed a position, so it rejects whatever follows.
        match self.initial.accepting {
            false if accepts.reaches(&self.initial.parts) == Some(false) => Finality::FinalFalse,
            true if rejects.reaches_later(&self.initial.parts) == Some(false) => {
                Finality::FinalTrue
            }
            _ => Finality::Open,
        }
    }

    /// The state before anything is read.
    pub fn initial(&self) -> MachineState {
        self.initial.clone()
    }

    /// Whether a state can be one of this machine: for states that were written down.
    pub fn owns(&self, state: &MachineState) -> bool {
        let program = &self.engine.program;
        let n_nodes = program.nodes.len();
        let owed = |o: &Obligation| (o.node as usize) < n_nodes;
        state.parts.iter().all(|(values, clauses)| {
            (values.is_empty() || values.len() == program.registers.len())
                && clauses.iter().all(|clause| clause.iter().all(owed))
        })
    }

    /// The atoms of the formula, in order.
    pub fn atoms(&self) -> &[Atom] {
        &self.engine.program.atoms
    }

    /// Whether steps need a time.
    pub fn is_timed(&self) -> bool {
        self.engine.program.timed
    }

    /// Reads one position.
    ///
    /// # Errors
    /// [`StepError`]; the state is then unchanged.
    pub fn step(
        &mut self,
        state: &mut MachineState,
        time: Option<i128>,
        mut holds: impl FnMut(Atom) -> bool,
    ) -> Result<(), StepError> {
        let mut next = self.step_unknown(state, time, |atom| Some(holds(atom)))?;
        // With the whole letter known there is exactly one next state.
        if let Some(only) = next.pop() {
            *state = only;
        }
        Ok(())
    }

    /// Reads one partly known position: every state that some completion of the letter leads to, without repetition.
    ///
    /// # Errors
    /// As [`Machine::step`]; a limit on states bounds their number.
    pub fn step_unknown(
        &mut self,
        state: &MachineState,
        time: Option<i128>,
        mut holds: impl FnMut(Atom) -> Option<bool>,
    ) -> Result<Vec<MachineState>, StepError> {
        if state.finality != Finality::Open {
            return Ok(vec![state.clone()]);
        }
        let now = self.now(state, time)?;
        self.tidy();
        let letter: Vec<Option<bool>> = self
            .engine
            .program
            .atoms
            .iter()
            .map(|&atom| holds(atom))
            .collect();
        let reading = Reading {
            letter: &letter,
            time: now.unwrap_or(0),
            open: false,
        };
        let before = thaw(&mut self.engine, state)?;
        let after = self.engine.step(before, reading)?;
        let leaves = self.engine.diagrams.leaves(after);
        check(
            Resource::States,
            self.limits.states as u64,
            leaves.len() as u64,
        )?;
        let mut states: Vec<MachineState> = Vec::with_capacity(leaves.len());
        for configuration in leaves {
            let next = self.settle(freeze(&self.engine, configuration, now));
            if !states.contains(&next) {
                states.push(next);
            }
        }
        Ok(states)
    }

    /// Takes notice that time has come to `now` without an event: deadlines before it have passed for good.
    ///
    /// # Errors
    /// As [`Machine::step`].
    pub fn tick(&mut self, state: &mut MachineState, now: i128) -> Result<(), StepError> {
        if state.finality != Finality::Open || !self.engine.program.timed {
            return Ok(());
        }
        self.now(state, Some(now))?;
        self.tidy();
        let program = self.engine.program.clone();
        let late = |o: &Obligation| match program.nodes[o.node as usize] {
            Core::Until { window, .. } if window.timed && o.started && now > o.hi => Some(false),
            Core::Release { window, .. } if window.timed && o.started && now > o.hi => Some(true),
            _ => None,
        };
        let owed = state.parts.iter().flat_map(|(_, clauses)| clauses.iter());
        if !owed
            .flat_map(|clause| clause.iter())
            .any(|o| late(o).is_some())
        {
            state.time = Some(now);
            return Ok(());
        }
        let mut pairs = Vec::new();
        for (registers, clauses) in state.parts.iter() {
            // A strong obligation that can only fail fails its clause; a weak one that can only hold is met. The two other
            // cases still depend on whether there is another event.
            let kept: Vec<Clause> = clauses
                .iter()
                .filter(|clause| !clause.iter().any(|o| o.strong && late(o) == Some(false)))
                .map(|clause| {
                    clause
                        .iter()
                        .filter(|o| o.strong || late(o) != Some(true))
                        .copied()
                        .collect()
                })
                .collect();
            let registers = self.engine.lists.number(registers);
            let Engine {
                residuals, meter, ..
            } = &mut self.engine;
            let residual = residuals.weakest(&program, &kept, meter)?;
            pairs.push((registers, residual));
        }
        let configuration = self.engine.configuration(pairs)?;
        let accepting = state.accepting;
        *state = freeze(&self.engine, configuration, Some(now));
        if state.finality == Finality::Open {
            state.accepting = accepting;
        }
        Ok(())
    }

    /// The earliest deadline after a time of what is owed; once time is past it, [`Machine::tick`] may change the state.
    pub fn deadline(&self, state: &MachineState, after: i128) -> Option<i128> {
        let owed = state.parts.iter().flat_map(|(_, clauses)| clauses.iter());
        let timed = |o: &&Obligation| match self.engine.program.nodes[o.node as usize] {
            Core::Until { window, .. } | Core::Release { window, .. } => window.timed && o.started,
            _ => false,
        };
        owed.flat_map(|clause| clause.iter())
            .filter(timed)
            .map(|o| o.hi)
            .filter(|hi| *hi > after)
            .min()
    }

    /// Finds out whether the state is final although it still owes something.
    fn settle(&mut self, state: MachineState) -> MachineState {
        let [accepts, rejects] = &mut self.outlooks;
        match (state.finality, state.accepting) {
            (Finality::Open, false) if accepts.reaches(&state.parts) == Some(false) => {
                MachineState::settled(false)
            }
            (Finality::Open, true) if rejects.reaches(&state.parts) == Some(false) => {
                MachineState::settled(true)
            }
            _ => state,
        }
    }

    fn now(&self, state: &MachineState, time: Option<i128>) -> Result<Option<i128>, StepError> {
        if !self.engine.program.timed {
            return Ok(None);
        }
        let now = time.ok_or(StepError::TimeMissing)?;
        match state.time {
            Some(last) if now < last => Err(StepError::TimeDecreases { last, now }),
            _ => Ok(Some(now)),
        }
    }

    /// Starts with empty tables when half of what they may hold is used; states own what they need.
    fn tidy(&mut self) {
        if self.engine.meter.nodes() > (self.limits.nodes as u64 / 2).min(100_000) {
            self.engine = Engine::new(self.engine.program.clone(), &self.limits);
        }
        self.engine.meter.restart();
    }
}

pub(super) fn freeze(engine: &Engine, configuration: u32, time: Option<i128>) -> MachineState {
    let pairs = engine.pairs(configuration);
    let mut parts: Vec<Part> = pairs
        .iter()
        .map(|&(registers, residual)| {
            let ids = engine.residuals.clauses(residual);
            let mut clauses: Vec<Clause> = ids
                .iter()
                .map(|&clause| {
                    let mut owed: Vec<Obligation> = engine
                        .residuals
                        .clause(clause)
                        .iter()
                        .map(|&o| engine.residuals.obligation(o))
                        .collect();
                    owed.sort_unstable();
                    owed.into()
                })
                .collect();
            clauses.sort_unstable();
            let values = engine.lists.values(registers);
            (values.into(), clauses.into())
        })
        .collect();
    parts.sort_unstable();
    let finality = match parts.as_slice() {
        [] => Finality::FinalFalse,
        parts
            if parts
                .iter()
                .any(|(_, clauses)| clauses.iter().any(|clause| clause.is_empty())) =>
        {
            Finality::FinalTrue
        }
        _ => Finality::Open,
    };
    let time = time.filter(|_| finality == Finality::Open && depends_on_time(engine, &parts));
    MachineState {
        parts: parts.into(),
        accepting: engine.accepts(configuration),
        finality,
        time,
    }
}

/// Whether something that is owed has a deadline, or something that is remembered a time.
fn depends_on_time(engine: &Engine, parts: &[Part]) -> bool {
    let has_deadline = |owed: &Obligation| match engine.program.nodes[owed.node as usize] {
        Core::Until { window, .. } | Core::Release { window, .. } => window.timed && owed.started,
        _ => false,
    };
    let is_time = |value: &Value| matches!(value, Value::Times(times) if !times.is_empty());
    parts.iter().any(|(registers, clauses)| {
        registers.iter().any(is_time)
            || clauses.iter().any(|clause| clause.iter().any(has_deadline))
    })
}

pub(super) fn thaw(engine: &mut Engine, state: &MachineState) -> Result<u32, LimitError> {
    let mut pairs = Vec::with_capacity(state.parts.len());
    for (registers, clauses) in state.parts.iter() {
        let registers = engine.lists.number(registers);
        pairs.push((
            registers,
            engine.residuals.of_clauses(clauses, &mut engine.meter)?,
        ));
    }
    engine.configuration(pairs)
}
