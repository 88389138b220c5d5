//! The monitor: many live traces, and what is asked of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use smol_str::SmolStr;

use super::arms::Memory;
use super::decision::{Cause, Decision, Ruling};
use super::judge::{Context, Kept};
use super::risk::{Chains, Whereabouts};
use super::table::{Table, Unreached};
use super::wire::{Line, Own, Request};
use super::{Identity, Options, owed_text};
use crate::eval::{self, Live, Program, StepCache};
use crate::hir::{Abstraction, ModelSource, PropertyKind, Spec};
use crate::ids::{AbstractionId, PropertyId};
use crate::input::projection::{Projection, ProjectionError, ReadBuffers, ReadOutcome};
use crate::input::record::{Event, FileName, RawRecord, Unit};
use crate::problem::{Problem, ProblemKind};
use crate::query::{ForecastError, Solved};
use crate::signature::{Events, Signature};
use crate::value::{Cell, Instant, Truth, Value};
use crate::verdict::Verdict;

/// Obligations of one property that a proposed end tells.
const MOST_OWED: usize = 20;

/// A spec that no monitor can be made of.
#[derive(Debug, thiserror::Error)]
pub enum MonitorError {
    /// A formula is beyond all limits.
    #[error(transparent)]
    Limit(#[from] eval::LimitError),
    /// The paths of its fields.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// A clause asks about a model that is not given.
    #[error("`{query}` is asked of the model `{model}`, which is not given")]
    NoModel {
        /// The model.
        model: SmolStr,
        /// The query.
        query: SmolStr,
    },
    /// A model file that cannot be used.
    #[error("the model `{model}`: {error}")]
    Model {
        /// The model.
        model: SmolStr,
        /// Why.
        error: Box<ForecastError>,
    },
    /// A model file for a model that the spec does not have.
    #[error("the spec has no model `{0}`")]
    OtherModel(SmolStr),
}

/// Follows live traces by a spec.
#[derive(Debug)]
pub struct Monitor {
    pub(super) program: Program,
    pub(super) table: Table,
    pub(super) chains: Chains,
    projection: Projection,
    own: Own,
    names: Vec<SmolStr>,
    /// Positions of the fields that an action has only once it has happened.
    awaited: Vec<usize>,
    clock: Option<usize>,
    pub(super) options: Options,
    file: FileName,
    step_cache: StepCache,
    buffers: ReadBuffers,
    outcomes: Vec<ReadOutcome>,
    pub(super) traces: HashMap<SmolStr, Trace>,
    /// When something is due, on the clock of who calls.
    pub(super) due: BTreeSet<(i128, SmolStr)>,
    pub(super) proposals: BTreeMap<u64, Proposal>,
    pub(super) next_proposal: u64,
    /// How many lines and ticks were taken.
    pub(super) taken: u64,
}

/// A live trace.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    pub(super) live: Live,
    pub(super) memory: Box<[Memory]>,
    /// Where it is on learned chains.
    pub(super) whereabouts: Whereabouts,
    /// The position of the next event.
    pub(super) next: u32,
    /// What the clock of the trace shows more than the caller's.
    pub(super) ahead: i128,
    /// When something is due, on the clock of who calls.
    pub(super) due: Option<i128>,
}

/// An action that may happen.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Proposal {
    trace: SmolStr,
    /// The arms that acted for it, by clause.
    acted: Vec<(usize, usize)>,
}

/// An event that was read.
struct Read {
    trace: SmolStr,
    event: Event,
    errors: Vec<String>,
}

/// The step_cache, and what judging needs besides; both from a monitor, of which other parts stay free.
macro_rules! context {
    ($monitor:expr) => {
        (
            &mut $monitor.step_cache,
            Context {
                program: &$monitor.program,
                table: &$monitor.table,
                chains: &$monitor.chains,
                names: &$monitor.names,
                outcomes: $monitor.options.outcomes,
            },
        )
    };
}

impl Monitor {
    /// A monitor without traces.
    ///
    /// # Errors
    /// The spec is beyond the limits, or its paths cannot be read; a model is missing or was learned by another spec.
    pub fn new(spec: &Spec, mut options: Options) -> Result<Monitor, MonitorError> {
        let mut spec = spec.clone();
        // Conditions belong to tests; they stand after all properties.
        spec.properties
            .retain(|property| property.kind != PropertyKind::Condition);
        spec.tests.clear();
        for (name, file) in &options.models {
            let model = spec.find_model(name);
            let model = model.ok_or_else(|| MonitorError::OtherModel(name.clone()))?;
            // What a loaded model is over, its file says.
            if let ModelSource::Load(_, over @ None) = &mut spec.models[model.index()].source {
                let named = |of: &Abstraction| of.name == file.header().abstraction;
                *over = spec
                    .abstractions
                    .iter()
                    .position(named)
                    .map(AbstractionId::new);
            }
        }
        let spec = Arc::new(spec);
        options.identity = Identity::new(options.identity.spec, &options.models);
        let models = std::mem::take(&mut options.models);
        let chains = Chains::new(&spec, models, &options)?;
        let program = Program::compile_live(Arc::clone(&spec), chains.observed(), &options.eval)?;
        let projection = Projection::with_limits(&single_events(&spec.signature), options.input)?;
        let names = spec
            .properties
            .iter()
            .map(|property| property.name.clone())
            .collect();
        let step_cache = StepCache::new(&program);
        Ok(Monitor {
            table: Table::new(&spec),
            chains,
            projection,
            own: Own::of(&spec.signature),
            names,
            awaited: spec.outcomes.clone(),
            clock: spec.signature.clock,
            file: FileName::given("-"),
            step_cache,
            buffers: ReadBuffers::default(),
            outcomes: Vec::new(),
            traces: HashMap::new(),
            due: BTreeSet::new(),
            proposals: BTreeMap::new(),
            next_proposal: 1,
            taken: 0,
            program,
            options,
        })
    }

    /// What is done when.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The arms of clauses on queries that no state of the models reaches.
    pub fn unreached(&self) -> Vec<Unreached> {
        self.chains.unreached(&self.table)
    }

    /// What was solved of each model, by its name in the spec: a monitor of the same spec that is given this has nothing to
    /// solve.
    pub fn solved(&self) -> Vec<(SmolStr, Solved)> {
        self.chains.solved()
    }

    /// What states, journals and logs are bound to.
    pub fn identity(&self) -> &Identity {
        &self.options.identity
    }

    /// How many traces are live.
    pub fn n_traces(&self) -> usize {
        self.traces.len()
    }

    /// How many inputs ([lines](Self::line) and [ticks](Self::tick) that decided something) were taken, in this process
    /// and those whose state it continues.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Does what a line asks; exactly one decision comes of it. Lines are as in [`wire`](super::Line).
    pub fn line(&mut self, line: &[u8], now: Option<Instant>) -> Decision {
        self.taken += 1;
        match Line::read(line, self.own) {
            Ok(Line { request, event }) => match request {
                Request::Happened => self.happened(event, now),
                Request::Propose => self.propose(event, now),
                Request::Commit(proposal) => self.commit(proposal, event, now),
                Request::Abandon(proposal) => self.abandon(proposal),
            },
            Err(why) => self.unreadable(why),
        }
    }

    /// A line that cannot even be looked at, for a reason: denied.
    pub fn refuse(&mut self, why: &str) -> Decision {
        self.taken += 1;
        self.unreadable(why.to_owned())
    }

    /// An event, or the end of a trace, that happened.
    pub fn happened(&mut self, event: &[u8], now: Option<Instant>) -> Decision {
        match self.read(event) {
            Ok(Unit::Event(event)) => self.event(event, now, &[]),
            Ok(Unit::End { trace, .. }) => self.end(&trace.unwrap_or_default(), now),
            Ok(Unit::Record(_)) => self.whole_trace(),
            Err(why) => self.unreadable(why),
        }
    }

    /// An action, or the end of a trace, that is only proposed: judged as if it happened now, while the fields marked
    /// `@outcome` are not known. The trace is left as it is; the decision carries the number of the proposal.
    pub fn propose(&mut self, event: &[u8], now: Option<Instant>) -> Decision {
        match self.read(event) {
            Ok(Unit::Event(event)) => self.propose_event(event, now),
            Ok(Unit::End { trace, .. }) => self.propose_end(&trace.unwrap_or_default()),
            Ok(Unit::Record(_)) => self.whole_trace(),
            Err(why) => self.unreadable(why),
        }
    }

    /// An event that happened, as a reader of records yields it (`input`): for traces that are recorded in a layout of
    /// their own, and for callers that have values rather than text. Its cells are those of the signature of the spec.
    pub fn happened_event(&mut self, event: Event, now: Option<Instant>) -> Decision {
        match self.foreign(&event) {
            Some(refused) => refused,
            None => self.event(event, now, &[]),
        }
    }

    /// An action that is only [proposed](Self::propose), as a reader of records yields it.
    pub fn propose_event(&mut self, mut event: Event, now: Option<Instant>) -> Decision {
        if let Some(refused) = self.foreign(&event) {
            return refused;
        }
        self.await_outcomes(&mut event);
        self.proposal(event, now)
    }

    /// What was proposed has happened. It is judged again, now that its outcome is there and others may have come
    /// between; an arm that acted for the proposal when it was entered does not act again.
    pub fn commit(&mut self, proposal: u64, event: &[u8], now: Option<Instant>) -> Decision {
        let proposal = self.proposals.remove(&proposal);
        match self.read(event) {
            Ok(Unit::Event(event)) => {
                let name = event.trace.clone().unwrap_or_default();
                let same = proposal.filter(|proposal| proposal.trace == name);
                let acted = same.map(|proposal| proposal.acted).unwrap_or_default();
                self.event(event, now, &acted)
            }
            Ok(Unit::End { trace, .. }) => self.end(&trace.unwrap_or_default(), now),
            Ok(Unit::Record(_)) => self.whole_trace(),
            Err(why) => self.unreadable(why),
        }
    }

    /// What was proposed will not happen.
    pub fn abandon(&mut self, proposal: u64) -> Decision {
        let mut decision = Decision::new(Cause::Proposal);
        decision.proposal = Some(proposal);
        match self.proposals.remove(&proposal) {
            Some(proposal) => decision.trace = Some(proposal.trace),
            None => decision.errors.push("there is no such proposal".to_owned()),
        }
        decision
    }

    /// The trace has ended: nothing more comes, every verdict is final, and the trace is forgotten.
    pub fn end(&mut self, trace: &str, _now: Option<Instant>) -> Decision {
        let mut decision = Decision::new(Cause::End);
        decision.trace = Some(SmolStr::new(trace));
        let Some(mut ended) = self.traces.remove(trace) else {
            decision
                .errors
                .push("the end of a trace that is not open".to_owned());
            return decision;
        };
        self.schedule(trace, ended.due.take(), None);
        decision.step = ended.live.last();
        self.peek(&mut ended, eval::Peek::End, &mut decision);
        decision
    }

    /// Whether a trace may end here: judged as if it did, with what is still owed.
    pub fn propose_end(&mut self, trace: &str) -> Decision {
        let mut decision = Decision::new(Cause::ProposedEnd);
        decision.trace = Some(SmolStr::new(trace));
        let Some(mut open) = self.traces.get(trace).cloned() else {
            return decision;
        };
        decision.step = open.live.last();
        self.peek(&mut open, eval::Peek::End, &mut decision);
        decision
    }

    /// Time has come to `now`: the decisions about deadlines that passed without an event. Earliest deadline first.
    pub fn tick(&mut self, now: Instant) -> Vec<Decision> {
        let mut decisions = Vec::new();
        while let Some((due, name)) = self.due.first().filter(|(due, _)| *due < now.0).cloned() {
            self.due.pop_first();
            let Some(mut trace) = self.traces.remove(&name) else {
                continue;
            };
            trace.due = None;
            let mut decision = Decision::new(Cause::Deadline);
            decision.trace = Some(name.clone());
            decision.step = trace.live.last();
            let moment = due.saturating_add(1).saturating_add(trace.ahead);
            self.peek(&mut trace, eval::Peek::Time(moment), &mut decision);
            for fired in &decision.clauses {
                if let (Some(memory), Some(arm)) = (trace.memory.get_mut(fired.clause), fired.arm) {
                    memory.acted |= 1u64.checked_shl(arm as u32).unwrap_or(0);
                }
            }
            self.wait(&name, &mut trace, moment);
            self.traces.insert(name, trace);
            if !decision.clauses.is_empty() {
                decisions.push(decision);
            }
        }
        if !decisions.is_empty() {
            self.taken += 1;
        }
        decisions
    }

    /// When the next deadline passes, on the clock of who calls; none where nothing in seconds is owed.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.due.first().map(|(due, _)| Instant(*due))
    }

    /// What is owed in a trace, in words; empty where it is not live.
    pub fn owed(&mut self, trace: &str) -> Vec<String> {
        self.propose_end(trace).owed
    }

    /// The verdict on a property in a trace.
    pub fn verdict(&mut self, trace: &str, property: PropertyId) -> Option<Verdict> {
        let trace = self.traces.get_mut(trace)?;
        Some(
            self.step_cache
                .verdict(&self.program, &mut trace.live, property),
        )
    }

    fn read(&mut self, bytes: &[u8]) -> Result<Unit, String> {
        self.outcomes.clear();
        let raw = RawRecord::new(bytes);
        self.projection
            .read(&raw, &self.file, &mut self.buffers, &mut self.outcomes);
        let mut read = self.outcomes.drain(..);
        match (read.next(), read.next()) {
            (Some(ReadOutcome::Unit(unit)), None) => Ok(unit),
            (Some(ReadOutcome::Refused(problem) | ReadOutcome::LeftOut(problem)), _) => {
                Err(told(&problem))
            }
            (Some(_), Some(_)) => Err("more than one event on a line".to_owned()),
            (None, _) => Err("there is no event".to_owned()),
        }
    }

    /// Forgets what an action only has once it has happened.
    fn await_outcomes(&self, event: &mut Event) {
        if self.awaited.is_empty() {
            return;
        }
        let fields = &self.program.spec().signature.fields;
        let awaited = self.awaited.iter().filter_map(|field| fields.get(*field));
        let awaited: Vec<&SmolStr> = awaited.map(|field| &field.name).collect();
        event.problems.retain(|problem| {
            problem
                .field
                .as_ref()
                .is_none_or(|field| !awaited.contains(&field))
        });
        for step in &mut event.steps {
            for field in &self.awaited {
                step.cells[*field] = Cell::Unknown;
            }
        }
    }

    /// The refusal of an event that was read for another spec.
    fn foreign(&self, event: &Event) -> Option<Decision> {
        let signature = &self.program.spec().signature;
        let own = event.meta.len() == signature.meta.len()
            && event
                .steps
                .iter()
                .all(|step| step.cells.len() == signature.fields.len());
        (!own).then(|| self.unreadable("the event was read for another spec".to_owned()))
    }

    /// Takes up the trace of an event, or begins it.
    fn take(&mut self, mut event: Event, now: Option<Instant>) -> Result<(Read, Trace), Decision> {
        let name = event.trace.clone().unwrap_or_default();
        let mut trace = match self.traces.remove(&name) {
            Some(trace) => trace,
            None if self.traces.len() >= self.options.traces => {
                let limit = self.options.traces;
                let mut decision = self.unreadable(format!(
                    "{limit} traces are live, and no more are followed (`--max-traces`)"
                ));
                decision.trace = Some(name);
                return Err(decision);
            }
            None => Trace {
                live: Live::new(&self.program),
                memory: vec![Memory::default(); self.table.clauses.len()].into(),
                whereabouts: self.chains.begin(),
                next: 0,
                ahead: 0,
                due: None,
            },
        };
        trace.live.learn_meta(&event.meta);
        if let Some(clock) = self.clock {
            self.set_clock(clock, &mut event, &mut trace, now);
        }
        let errors = event
            .problems
            .iter()
            .filter(|problem| problem.kind.is_error());
        let errors = errors.map(told).collect();
        for step in &mut event.steps {
            step.index = trace.next;
        }
        let read = Read {
            trace: name,
            event,
            errors,
        };
        Ok((read, trace))
    }

    /// A missing time is the caller's; a time of the event's own sets the clock of the trace.
    fn set_clock(&self, clock: usize, event: &mut Event, trace: &mut Trace, now: Option<Instant>) {
        let Some(now) = now else {
            return;
        };
        let name = self
            .program
            .spec()
            .signature
            .fields
            .get(clock)
            .map(|field| &field.name);
        let absent = |problem: &Problem| {
            problem.kind == ProblemKind::MissingField && problem.field.as_ref() == name
        };
        let mut filled = false;
        for step in &mut event.steps {
            match &step.cells[clock] {
                Cell::Known(Value::Time(own)) => trace.ahead = own.0.saturating_sub(now.0),
                Cell::Known(Value::Null) => filled = true,
                Cell::Unknown if event.problems.iter().any(absent) => filled = true,
                _ => {}
            }
            if filled {
                let own = now.0.saturating_add(trace.ahead);
                let own = trace.live.latest().map_or(own, |latest| latest.max(own));
                step.cells[clock] = Cell::Known(Value::Time(Instant(own)));
            }
        }
        if filled {
            event.problems.retain(|problem| !absent(problem));
        }
    }

    /// An event that happened.
    fn event(&mut self, event: Event, now: Option<Instant>, acted: &[(usize, usize)]) -> Decision {
        let (read, mut trace) = match self.take(event, now) {
            Ok(taken) => taken,
            Err(refused) => return refused,
        };
        for (clause, arm) in acted {
            if let Some(memory) = trace.memory.get_mut(*clause) {
                memory.acted |= 1u64.checked_shl(*arm as u32).unwrap_or(0);
            }
        }
        let mut decision = Decision::new(Cause::Event);
        decision.step = Some(trace.next);
        trace.next = trace.next.saturating_add(1);
        let is_trace = self.program.is_trace(trace.live.meta()) != Truth::False;
        for step in read.event.steps.iter().filter(|_| is_trace) {
            let Trace {
                live,
                memory,
                whereabouts,
                ..
            } = &mut trace;
            let (step_cache, context) = context!(self);
            context.judge(&mut decision, &read.errors, |look| {
                step_cache.happened(&self.program, live, step, |view| {
                    let kept = Kept {
                        memory,
                        whereabouts,
                    };
                    look(view, kept, Some(step.index), &[]);
                })
            });
        }
        if decision.verdicts.is_empty() {
            self.as_it_is(&mut trace, &mut decision);
        }
        let latest = trace.live.latest();
        if let Some(latest) = latest {
            self.wait(&read.trace, &mut trace, latest);
        }
        self.traces.insert(read.trace.clone(), trace);
        decision.trace = Some(read.trace);
        decision
    }

    /// An action that is only proposed.
    fn proposal(&mut self, event: Event, now: Option<Instant>) -> Decision {
        let known = event.trace.clone().unwrap_or_default();
        let before = self
            .traces
            .get(&known)
            .map(|trace| (trace.ahead, trace.live.meta().to_vec()));
        let (read, mut trace) = match self.take(event, now) {
            Ok(taken) => taken,
            Err(refused) => return refused,
        };
        let mut decision = Decision::new(Cause::Proposal);
        decision.step = Some(trace.next);
        let (mut memory, mut whereabouts) = (trace.memory.clone(), trace.whereabouts.clone());
        let is_trace = self.program.is_trace(trace.live.meta()) != Truth::False;
        let awaited = &self.awaited;
        let (step_cache, context) = context!(self);
        match &read.event.steps[..] {
            _ if !is_trace => {}
            [step] => context.judge(&mut decision, &read.errors, |look| {
                step_cache.proposed(&self.program, &mut trace.live, step, |view| {
                    let kept = Kept {
                        memory: &mut memory,
                        whereabouts: &mut whereabouts,
                    };
                    look(view, kept, Some(step.index), awaited);
                })
            }),
            steps => {
                // An event that is several steps: one follows the other.
                let mut fork = trace.live.clone();
                for step in steps {
                    context.judge(&mut decision, &read.errors, |look| {
                        step_cache.happened(&self.program, &mut fork, step, |view| {
                            let kept = Kept {
                                memory: &mut memory,
                                whereabouts: &mut whereabouts,
                            };
                            look(view, kept, Some(step.index), awaited);
                        })
                    });
                }
            }
        }
        if decision.verdicts.is_empty() {
            self.as_it_is(&mut trace, &mut decision);
        }
        // The trace is as it was; one that nothing happened in is not begun.
        if let Some((ahead, meta)) = before {
            trace.ahead = ahead;
            trace.live.set_meta(meta);
            self.traces.insert(read.trace.clone(), trace);
        }
        if !decision.ruling.denies() {
            let acted = decision.clauses.iter();
            let acted = acted
                .filter_map(|fired| Some((fired.clause, fired.arm?)))
                .collect();
            decision.proposal = Some(self.remember(Proposal {
                trace: read.trace.clone(),
                acted,
            }));
        }
        decision.trace = Some(read.trace);
        decision
    }

    fn remember(&mut self, proposal: Proposal) -> u64 {
        let number = self.next_proposal;
        self.next_proposal += 1;
        self.proposals.insert(number, proposal);
        if self.proposals.len() > self.options.proposals {
            self.proposals.pop_first();
        }
        number
    }

    /// Judges a trace at a moment without an event.
    fn peek(&mut self, trace: &mut Trace, moment: eval::Peek, decision: &mut Decision) {
        if self.program.is_trace(trace.live.meta()) == Truth::False {
            return;
        }
        // A trace that says of itself that it is not complete leaves its verdicts open.
        let open = self
            .program
            .complete(trace.live.meta())
            .is_some_and(|c| c != Truth::True);
        if moment == eval::Peek::End && open {
            self.as_it_is(trace, decision);
            return;
        }
        let (mut memory, mut whereabouts) = (trace.memory.clone(), trace.whereabouts.clone());
        let live = &mut trace.live;
        let (step_cache, context) = context!(self);
        let mut owed = Vec::new();
        context.judge(decision, &[], |look| {
            step_cache.peek(&self.program, live, moment, |view| {
                let kept = Kept {
                    memory: &mut memory,
                    whereabouts: &mut whereabouts,
                };
                look(view, kept, None, &[]);
                if moment == eval::Peek::End {
                    for (idx, name) in self.names.iter().enumerate() {
                        let all = view.obligations(PropertyId::new(idx), MOST_OWED);
                        owed.extend(all.iter().map(|owed| owed_text(name, owed)));
                    }
                }
            });
            true
        });
        decision.owed = owed;
    }

    /// Tells where a trace is that nothing happened in.
    fn as_it_is(&mut self, trace: &mut Trace, decision: &mut Decision) {
        for (idx, name) in self.names.iter().enumerate() {
            let property = PropertyId::new(idx);
            let verdict = self
                .step_cache
                .verdict(&self.program, &mut trace.live, property);
            decision.verdicts.push((name.clone(), verdict));
        }
        let (_, context) = context!(self);
        context.tell_state(&trace.whereabouts, decision);
    }

    /// Notes when something is due in a trace, after a time on its clock.
    fn wait(&mut self, name: &str, trace: &mut Trace, after: i128) {
        let next = self.step_cache.deadline(&mut trace.live, after);
        let next = next.map(|deadline| deadline.saturating_sub(trace.ahead));
        self.schedule(name, trace.due, next);
        trace.due = next;
    }

    fn schedule(&mut self, name: &str, before: Option<i128>, next: Option<i128>) {
        if before == next {
            return;
        }
        if let Some(before) = before {
            self.due.remove(&(before, SmolStr::new(name)));
        }
        if let Some(next) = next {
            self.due.insert((next, SmolStr::new(name)));
        }
    }

    /// What cannot be read is denied, unless every clause lets errors through.
    fn unreadable(&self, why: String) -> Decision {
        let mut decision = Decision::new(Cause::Unreadable);
        decision.ruling = if self.table.on_error_allow() {
            Ruling::Allow
        } else {
            Ruling::Block
        };
        decision.errors.push(why);
        decision
    }

    fn whole_trace(&self) -> Decision {
        self.unreadable(
            "a whole trace where an event must be; `guard audit` judges those".to_owned(),
        )
    }
}

/// A problem as part of a decision.
fn told(problem: &Problem) -> String {
    match &problem.field {
        Some(field) => format!("field `{field}`: {}", problem.message),
        None => problem.message.clone(),
    }
}

/// The signature of single events, whatever records they would be part of.
fn single_events(signature: &Signature) -> Signature {
    let mut single = signature.clone();
    let layout = &mut single.layout;
    // Of a record its name lies in the record; of a line it lies in the event.
    if matches!(layout.events, Some(Events::At(_))) {
        layout.id = None;
    }
    layout.events = None;
    layout.complete = None;
    layout.format = None;
    layout.order_by.clear();
    single
}
