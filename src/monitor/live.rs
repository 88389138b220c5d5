//! The monitor: many live traces, and what is asked of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use smol_str::SmolStr;

use super::arms::Memory;
use super::decision::{Cause, Decision, Ruling};
use super::envelope::{Envelope, EnvelopeError, EnvelopeFields, Request};
use super::judge::{Context, StepMemory};
use super::reading::problem_message;
use super::reserve::{Proposal, Reserved};
use super::risk::{ChainPosition, Chains};
use super::table::{Table, Unreached};
use super::{Identity, Options, Speaker, owed_text, value_text};
use crate::eval::{self, Live, Program, StepCache};
use crate::hir::{Abstraction, ModelSource, PropertyKind, Spec};
use crate::ids::{AbstractionId, PropertyId};
use crate::input::projection::{Projection, ProjectionError, ReadBuffers, ReadOutcome};
use crate::input::record::{Event, FileName, Step, Unit};
use crate::input_schema::{Events, FieldSource, InputSchema, Path};
use crate::problem::{Problem, ProblemKind};
use crate::query::{ForecastError, Solved};
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
    #[error("`{query}` needs model `{model}`, which was not given")]
    NoModel {
        /// The model.
        model: SmolStr,
        /// The query.
        query: SmolStr,
    },
    /// A model file that cannot be used.
    #[error("model `{model}`: {error}")]
    Model {
        /// The model.
        model: SmolStr,
        /// The cause.
        error: Box<ForecastError>,
    },
    /// The field that marks approvals does not exist in the spec.
    #[error("approvals have the field `{0}`, which the events of the spec do not have")]
    NoField(SmolStr),
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
    pub(super) projection: Projection,
    pub(super) own: EnvelopeFields,
    names: Vec<SmolStr>,
    /// Positions of the fields that an action has only once it has happened.
    pub(super) awaited: Vec<usize>,
    clock: Option<usize>,
    /// Which events are approvals: the position of a field, and its value as text.
    approvals: Vec<(usize, SmolStr)>,
    speaker: Speaker,
    pub(super) options: Options,
    pub(super) file: FileName,
    step_cache: StepCache,
    pub(super) buffers: ReadBuffers,
    pub(super) outcomes: Vec<ReadOutcome>,
    pub(super) traces: HashMap<SmolStr, Trace>,
    /// When something is due, on the clock of who calls.
    pub(super) due: BTreeSet<(i128, SmolStr)>,
    pub(super) proposals: BTreeMap<u64, Proposal>,
    /// The open proposals, by trace.
    pub(super) reserved: HashMap<SmolStr, Reserved>,
    pub(super) next_proposal: u64,
    /// How many lines and ticks were taken.
    pub(super) taken: u64,
}

/// A live trace.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    pub(super) live: Live,
    pub(super) memory: Box<[Memory]>,
    /// Its position on learned chains.
    pub(super) chain_position: ChainPosition,
    /// The position of the next event.
    pub(super) next: u32,
    /// The difference of the clock of the trace from the caller's.
    pub(super) ahead: i128,
    /// When something is due, on the clock of who calls.
    pub(super) due: Option<i128>,
}

/// An event that was read.
pub(super) struct Read {
    pub(super) trace: SmolStr,
    pub(super) event: Event,
    pub(super) errors: Vec<String>,
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
        let projection = Projection::with_limits(&single_events(&spec.schema), options.input)?;
        let approvals = options.approvals.iter().map(|approval| {
            let mut fields = spec.schema.fields.iter();
            let field = fields.position(|field| field.name == approval.field);
            let field = field.ok_or_else(|| MonitorError::NoField(approval.field.clone()))?;
            Ok((field, approval.value.clone()))
        });
        let approvals = approvals.collect::<Result<_, MonitorError>>()?;
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
            own: EnvelopeFields::of(&spec.schema),
            names,
            awaited: spec.outcomes.clone(),
            clock: spec.schema.clock,
            approvals,
            speaker: Speaker::default(),
            file: FileName::given("-"),
            step_cache,
            buffers: ReadBuffers::default(),
            outcomes: Vec::new(),
            traces: HashMap::new(),
            due: BTreeSet::new(),
            proposals: BTreeMap::new(),
            reserved: HashMap::new(),
            next_proposal: 1,
            taken: 0,
            program,
            options,
        })
    }

    /// Returns the table of the clauses.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Returns the arms of clauses on queries that no state of the models reaches.
    pub fn unreached(&self) -> Vec<Unreached> {
        self.chains.unreached(&self.table)
    }

    /// Returns the solved tables of each model, by its name in the spec: a monitor of the same spec that receives them has
    /// nothing to solve.
    pub fn solved(&self) -> Vec<(SmolStr, Solved)> {
        self.chains.solved()
    }

    /// Returns the identity that states, journals and logs are bound to.
    pub fn identity(&self) -> &Identity {
        &self.options.identity
    }

    /// Returns whether events are read at a member of this name: what is read nowhere need not be given.
    pub fn reads(&self, member: &str) -> bool {
        let signature = &self.program.spec().schema;
        let fields = signature.fields.iter().chain(&signature.meta);
        let mut paths = fields
            .filter_map(|field| match &field.source {
                FieldSource::Event(path) => Some(path),
                FieldSource::Each(_) | FieldSource::Origin(_) => None,
            })
            .chain(&signature.layout.each)
            .chain(&signature.layout.id);
        paths.any(|path| match path {
            Path::Pointer(tokens) => tokens.first().is_none_or(|first| first == member),
            Path::JsonPath(_) => true,
        })
    }

    /// How many traces are live.
    pub fn n_traces(&self) -> usize {
        self.traces.len()
    }

    /// Returns the number of inputs ([lines](Self::line) and [ticks](Self::tick) that decided something) that were taken, in
    /// this process and those whose state it continues.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Says who makes the requests from here on.
    pub fn speak_as(&mut self, speaker: Speaker) {
        self.speaker = speaker;
    }

    /// Decides a line; lines are as in [`Envelope`](super::Envelope). Parses the line once if it is an event, twice if it is
    /// an envelope.
    pub fn line(&mut self, line: &[u8], now: Option<Instant>) -> Decision {
        match Envelope::read(line, self.own) {
            Ok(Envelope { request, event }) => self.request(request, event, now),
            Err(EnvelopeError::Wrong(why)) => self.refuse(&why),
            Err(EnvelopeError::Unreadable(why)) => {
                self.taken += 1;
                self.repaired_line(line, why, now)
            }
        }
    }

    /// Decides a request about an event, which is parsed once. Counts as one input.
    pub fn request(&mut self, request: Request, event: &[u8], now: Option<Instant>) -> Decision {
        self.taken += 1;
        match request {
            Request::Observe => self.observe(event, now),
            Request::Act => self.act(event, now),
            Request::Propose => self.propose(event, now),
            Request::Commit(proposal) => self.commit(proposal, event, now),
            Request::Abandon(proposal) => self.abandon(proposal),
        }
    }

    /// Denies a line that cannot even be looked at, for this reason.
    pub fn refuse(&mut self, why: &str) -> Decision {
        self.taken += 1;
        self.unreadable(why.to_owned())
    }

    /// Records an event, or the end of a trace, that happened. Parts of the event that cannot be read are unknown; an event
    /// whose trace cannot be read is denied and not recorded.
    pub fn observe(&mut self, event: &[u8], now: Option<Instant>) -> Decision {
        match self.read_outcome(event) {
            Ok(Unit::Event(event)) => self.event(event, now, &[]),
            Ok(Unit::End { trace, .. }) => self.end(&trace.unwrap_or_default(), now),
            Ok(Unit::Record(_)) => self.whole_trace(),
            Err(why) => self.unreadable(why),
        }
    }

    /// Records an event that happened, as a reader of records yields it (`input`): for traces that are recorded in a layout
    /// of their own, and for callers that have values rather than text. Its cells are those of the schema of the spec.
    pub fn observe_event(&mut self, event: Event, now: Option<Instant>) -> Decision {
        match self.foreign(&event) {
            Some(refused) => refused,
            None => self.event(event, now, &[]),
        }
    }

    /// Ends a trace: every verdict is final, and the trace is forgotten.
    pub fn end(&mut self, trace: &str, _now: Option<Instant>) -> Decision {
        if self.is_bound() {
            return forbidden("only an approver may end a trace");
        }
        let mut decision = Decision::new(Cause::End);
        decision.trace = Some(SmolStr::new(trace));
        self.release_all(trace);
        let Some(mut ended) = self.traces.remove(trace) else {
            decision
                .errors
                .push("end of a trace that is not open".to_owned());
            return decision;
        };
        self.schedule(trace, ended.due.take(), None);
        decision.step = ended.live.last();
        self.peek(&mut ended, eval::Peek::End, &mut decision);
        decision
    }

    /// Judges whether a trace may end here, with its pending obligations.
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

    /// Advances time to `now`. Returns the decisions about deadlines that passed without an event, the earliest deadline
    /// first.
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
            // The clock of the trace rules, which is that of its events: one with an earlier time may still come.
            for (idx, (_, verdict)) in decision.verdicts.iter_mut().enumerate() {
                let property = PropertyId::new(idx);
                let known = self
                    .step_cache
                    .verdict(&self.program, &mut trace.live, property);
                *verdict = match *verdict {
                    Verdict::Violated if !known.is_final() => Verdict::PresumablyViolated,
                    Verdict::Satisfied if !known.is_final() => Verdict::PresumablySatisfied,
                    verdict => verdict,
                };
            }
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

    /// Returns the time of the next deadline, on the caller's clock; `None` if no obligation has a deadline in seconds.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.due.first().map(|(due, _)| Instant(*due))
    }

    /// Describes the pending obligations of a trace; empty if it is not live.
    pub fn owed(&mut self, trace: &str) -> Vec<String> {
        self.propose_end(trace).owed
    }

    /// Returns the verdict on a property in a trace.
    pub fn verdict(&mut self, trace: &str, property: PropertyId) -> Option<Verdict> {
        let trace = self.traces.get_mut(trace)?;
        Some(
            self.step_cache
                .verdict(&self.program, &mut trace.live, property),
        )
    }

    /// Returns the field that is the clock.
    pub(super) fn clock(&self) -> Option<usize> {
        self.clock
    }

    /// Returns whether the spec marks fields that an action has only once it has happened.
    pub(super) fn awaits(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// Returns a denial of an event that was read for another spec.
    pub(super) fn foreign(&self, event: &Event) -> Option<Decision> {
        let schema = &self.program.spec().schema;
        let own = event.meta.len() == schema.meta.len()
            && event
                .steps
                .iter()
                .all(|step| step.cells.len() == schema.fields.len());
        (!own).then(|| self.unreadable("the event was read for another spec".to_owned()))
    }

    /// A trace in which nothing has happened.
    pub(super) fn begin_trace(&self) -> Trace {
        Trace {
            live: Live::new(&self.program),
            memory: vec![Memory::default(); self.table.clauses.len()].into(),
            chain_position: self.chains.begin(),
            next: 0,
            ahead: 0,
            due: None,
        }
    }

    /// A copy of a trace; both share what neither changes.
    pub(super) fn fork(&self, trace: &mut Trace) -> Trace {
        Trace {
            live: trace.live.fork(&self.program),
            memory: trace.memory.clone(),
            chain_position: trace.chain_position.clone(),
            ..*trace
        }
    }

    /// Takes up the trace of an event, or begins it.
    pub(super) fn take(
        &mut self,
        mut event: Event,
        now: Option<Instant>,
    ) -> Result<(Read, Trace), Decision> {
        if self.is_bound() && self.is_approval(&event) {
            return Err(forbidden("only an approver may report an approval"));
        }
        let name = event.trace.clone().unwrap_or_default();
        let mut trace = match self.traces.remove(&name) {
            Some(trace) => trace,
            None if self.traces.len() >= self.options.traces => {
                let limit = self.options.traces;
                let mut decision = self.unreadable(format!(
                    "{limit} traces are live, which is the limit (`--max-traces`)"
                ));
                decision.trace = Some(name);
                return Err(decision);
            }
            None => self.begin_trace(),
        };
        trace.live.learn_meta(&event.meta);
        if let Some(clock) = self.clock {
            self.set_clock(clock, &mut event, &mut trace, now);
        }
        let errors = event
            .problems
            .iter()
            .filter(|problem| problem.kind.is_error());
        let errors = errors.map(problem_message).collect();
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
            .schema
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
    pub(super) fn event(
        &mut self,
        event: Event,
        now: Option<Instant>,
        acted: &[(usize, usize)],
    ) -> Decision {
        let (mut read, mut trace) = match self.take(event, now) {
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
        self.advance(&mut trace, &mut read, false, &mut decision);
        if decision.verdicts.is_empty() {
            self.record_current(&mut trace, &mut decision);
        }
        self.rest(&read.trace, trace);
        decision.trace = Some(read.trace);
        decision
    }

    /// Steps a trace by an event, and judges it. `awaits`: whether the fields marked `@outcome` are not there yet.
    pub(super) fn advance(
        &mut self,
        trace: &mut Trace,
        read: &mut Read,
        awaits: bool,
        decision: &mut Decision,
    ) {
        for step in &mut read.event.steps {
            step.index = trace.next;
        }
        trace.next = trace.next.saturating_add(1);
        let is_trace = self.program.is_trace(trace.live.meta()) != Truth::False;
        let awaited = if awaits { &self.awaited[..] } else { &[] };
        for step in read.event.steps.iter().filter(|_| is_trace) {
            let Trace {
                live,
                memory,
                chain_position,
                ..
            } = trace;
            let (step_cache, context) = context!(self);
            context.judge(decision, &read.errors, |look| {
                step_cache.happened(&self.program, live, step, |view| {
                    let kept = StepMemory {
                        memory,
                        chain_position,
                    };
                    look(view, kept, Some(step.index), awaited);
                })
            });
        }
    }

    /// Judges an event as if it happened, and leaves the trace as it is.
    pub(super) fn judge_fork(
        &mut self,
        trace: &mut Trace,
        read: &mut Read,
        decision: &mut Decision,
    ) {
        let [step] = &read.event.steps[..] else {
            // An event that is several steps: one follows the other.
            let mut fork = self.fork(trace);
            return self.advance(&mut fork, read, true, decision);
        };
        if self.program.is_trace(trace.live.meta()) == Truth::False {
            return;
        }
        let (mut memory, mut chain_position) = (trace.memory.clone(), trace.chain_position.clone());
        let (step_cache, context) = context!(self);
        context.judge(decision, &read.errors, |look| {
            step_cache.proposed(&self.program, &mut trace.live, step, |view| {
                let kept = StepMemory {
                    memory: &mut memory,
                    chain_position: &mut chain_position,
                };
                look(view, kept, Some(step.index), &self.awaited);
            })
        });
    }

    /// Puts a trace back in which something has happened.
    pub(super) fn rest(&mut self, name: &SmolStr, mut trace: Trace) {
        if let Some(latest) = trace.live.latest() {
            self.wait(name, &mut trace, latest);
        }
        if let Some(reserved) = self.reserved.get_mut(name) {
            reserved.fork = None;
        }
        self.traces.insert(name.clone(), trace);
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
            self.record_current(trace, decision);
            return;
        }
        let (mut memory, mut chain_position) = (trace.memory.clone(), trace.chain_position.clone());
        let live = &mut trace.live;
        let (step_cache, context) = context!(self);
        let mut owed = Vec::new();
        context.judge(decision, &[], |look| {
            step_cache.peek(&self.program, live, moment, |view| {
                let kept = StepMemory {
                    memory: &mut memory,
                    chain_position: &mut chain_position,
                };
                look(view, kept, None, &[]);
                if moment == eval::Peek::End {
                    for (idx, name) in self.names.iter().enumerate() {
                        let all = view.obligations(PropertyId::new(idx), MOST_OWED);
                        let enums = &self.program.spec().enums;
                        owed.extend(all.iter().map(|owed| owed_text(name, owed, enums)));
                    }
                }
            });
            true
        });
        decision.owed = owed;
    }

    /// Tells where a trace is that nothing happened in.
    pub(super) fn record_current(&mut self, trace: &mut Trace, decision: &mut Decision) {
        for (idx, name) in self.names.iter().enumerate() {
            let property = PropertyId::new(idx);
            let verdict = self
                .step_cache
                .verdict(&self.program, &mut trace.live, property);
            decision.verdicts.push((name.clone(), verdict));
        }
        let (_, context) = context!(self);
        context.record_current_risk(&trace.chain_position, decision);
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

    /// Returns whether whoever makes the requests may not say everything.
    pub(super) fn is_bound(&self) -> bool {
        self.speaker == Speaker::Reporter && !self.approvals.is_empty()
    }

    fn is_approval(&self, event: &Event) -> bool {
        let enums = &self.program.spec().enums;
        let has = |step: &Step, field: usize, wanted: &str| match &step.cells[field] {
            Cell::Known(Value::String(text)) => **text == *wanted,
            Cell::Known(other) => value_text(other, enums) == wanted,
            Cell::Unknown => false,
        };
        let mut approvals = self.approvals.iter();
        approvals.any(|(field, value)| event.steps.iter().any(|step| has(step, *field, value)))
    }

    /// Returns a denial of input that cannot be read, unless every clause allows errors.
    pub(super) fn unreadable(&self, why: String) -> Decision {
        let mut decision = Decision::new(Cause::Unreadable);
        decision.ruling = if self.table.on_error_allow() {
            Ruling::Allow
        } else {
            Ruling::Block
        };
        decision.errors.push(why);
        decision
    }

    pub(super) fn whole_trace(&self) -> Decision {
        self.unreadable(
            "expected an event, found a whole trace; to check traces, use `guard audit`".to_owned(),
        )
    }
}

/// Returns a denial of a statement that its sender may not make. Nothing was changed.
pub(super) fn forbidden(why: &str) -> Decision {
    let mut decision = Decision::new(Cause::Forbidden);
    decision.ruling = Ruling::Block;
    decision.errors.push(why.to_owned());
    decision
}

/// The schema of single events, whatever records they would be part of.
fn single_events(schema: &InputSchema) -> InputSchema {
    let mut single = schema.clone();
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
