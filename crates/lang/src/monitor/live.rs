//! The monitor: many live traces, and requests about them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use smol_str::SmolStr;

use super::approvals::ApprovalEvents;
use super::arms::Memory;
use super::decision::{Cause, Decision, Ruling};
use super::envelope::{Envelope, EnvelopeError, EnvelopeFields, Request};
use super::histories::Histories;
use super::notes::Kinds;
use super::raw_object::RawObject;
use super::read_keys::ReadKeys;
use super::reserve::{Proposal, Reserved};
use super::risk::{ChainPosition, Chains};
use super::spellings::Spellings;
use super::table::{Table, Unreached};
use super::usage::Clients;
use super::{Identity, Options, Speaker};
use crate::eval::{self, Live, Program, StepCache};
use crate::hir::reads::is_only_looked_for;
use crate::hir::{Abstraction, Expr, ModelSource, PropertyKind, Spec};
use crate::ids::{AbstractionId, ExprId, PropertyId};
use crate::input::path::Route;
use crate::input::projection::{Projection, ProjectionError, ReadBuffers, ReadOutcome};
use crate::input::record::{Event, FileName, Unit};
use crate::input_schema::{Absent, Events, FieldSource, InputSchema, Path};
use crate::query::{ForecastError, Solved};
use crate::value::Instant;
use crate::verdict::Verdict;

/// The reason why a monitor cannot be created for a spec.
#[derive(Debug, thiserror::Error)]
pub enum MonitorError {
    /// A formula exceeds all limits.
    #[error(transparent)]
    Limit(#[from] eval::LimitError),
    /// The paths of the spec's fields are invalid.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// A clause uses a model that is not given.
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
    /// Approvals have a field whose values are not compared with a text.
    #[error(
        "approvals have the field `{0}` of type `{1}`, expected a field without times and durations, which are written in several ways"
    )]
    FieldType(SmolStr, String),
    /// A model file was given for a model that the spec does not have.
    #[error("the spec has no model `{0}`")]
    OtherModel(SmolStr),
}

/// Monitors live traces against a spec.
#[derive(Debug)]
pub struct Monitor {
    pub(super) program: Program,
    pub(super) table: Table,
    pub(super) chains: Chains,
    pub(super) projection: Projection,
    pub(super) own: EnvelopeFields,
    pub(super) names: Vec<SmolStr>,
    /// The fields that an expression of the spec reads, or that are required.
    used: Vec<bool>,
    /// The keys of objects that the spec reads. Found at first use: a hook has none.
    keys: OnceLock<ReadKeys>,
    /// Positions of the fields that exist only after an action has happened.
    pub(super) awaited: Vec<usize>,
    pub(super) clock: Option<usize>,
    /// The events that only approvers may report.
    pub(super) approvals: Vec<ApprovalEvents>,
    /// The kinds of events and the tools that the spec knows.
    pub(super) spellings: Spellings,
    pub(super) kinds: Kinds,
    speaker: Speaker,
    pub(super) options: Options,
    pub(super) file: FileName,
    pub(super) step_cache: StepCache,
    pub(super) buffers: ReadBuffers,
    pub(super) outcomes: Vec<ReadOutcome>,
    pub(super) traces: HashMap<SmolStr, Trace>,
    /// The next deadline of each trace, on the clock of the caller.
    pub(super) due: BTreeSet<(i128, SmolStr)>,
    pub(super) proposals: BTreeMap<u64, Proposal>,
    /// When they expire, and their numbers.
    pub(super) expiries: BTreeSet<(i128, u64)>,
    /// The open proposals, by trace.
    pub(super) reserved: HashMap<SmolStr, Reserved>,
    /// Orders other than the recorded ones in which events may have happened, by trace.
    pub(super) histories: HashMap<SmolStr, Histories>,
    /// The work of the conditions in the orders that the current request tried.
    pub(super) orders_work: u64,
    /// The bytes of the events in orders of open questions that were judged since it was reset.
    pub(super) orders_bytes: usize,
    /// The cost of the open proposals of each client.
    pub(super) clients: Clients,
    /// The client that made the current request.
    pub(super) client: u32,
    /// Whether requests are made for the program of a hook.
    pub(super) hooked: bool,
    /// Whether a trace that has a name has ended.
    pub(super) ended_named: bool,
    pub(super) next_proposal: u64,
    /// The number of lines and ticks processed.
    pub(super) taken: u64,
}

/// A live trace.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    pub(super) live: Live,
    pub(super) memory: Box<[Memory]>,
    /// The position of the trace on learned chains.
    pub(super) chain_position: ChainPosition,
    /// The position of the next event.
    pub(super) next: u32,
    /// The offset from the caller's clock to the clock of the trace.
    pub(super) ahead: i128,
    /// The next deadline, on the clock of the caller.
    pub(super) due: Option<i128>,
}

impl Trace {
    /// Whether equal events lead to equal decisions about both traces. Linear in what changed since one was forked from the other.
    pub(super) fn has_state_of(&self, other: &Trace) -> bool {
        (self.next, self.ahead) == (other.next, other.ahead)
            && self.memory == other.memory
            && self.chain_position == other.chain_position
            && self.live == other.live
    }
}

/// An event that was read.
#[derive(Clone)]
pub(super) struct Read {
    pub(super) trace: SmolStr,
    pub(super) event: Event,
    pub(super) errors: Vec<String>,
    /// Notes for the author of the spec.
    pub(super) notes: Vec<String>,
}

impl Monitor {
    /// Creates a monitor without traces.
    ///
    /// # Errors
    /// The spec exceeds the limits, or its paths cannot be read; a model is missing or was learned by another spec.
    pub fn new(spec: &Spec, options: Options) -> Result<Monitor, MonitorError> {
        Monitor::owning(spec.clone(), options)
    }

    /// Creates a monitor as [`new`](Self::new), without a copy of the spec: that took a thirtieth of the time of a hook.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn owning(mut spec: Spec, mut options: Options) -> Result<Monitor, MonitorError> {
        // Conditions belong to tests; they come after all properties.
        spec.properties
            .retain(|property| property.kind != PropertyKind::Condition);
        spec.tests.clear();
        for (name, file) in &options.models {
            let model = spec.find_model(name);
            let model = model.ok_or_else(|| MonitorError::OtherModel(name.clone()))?;
            // The model file determines the abstraction of a loaded model.
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
        let kept = std::mem::take(&mut options.automata);
        let observed = chains.observed();
        let program =
            Program::compile_live_with(Arc::clone(&spec), observed, &options.eval, &kept)?;
        let projection = Projection::with_limits(&single_events(&spec.schema), options.input)?;
        let projection = projection.only_events();
        let approvals = options.approvals.iter();
        let approvals: Vec<ApprovalEvents> = approvals
            .map(|approval| ApprovalEvents::new(&spec, approval, &options.eval))
            .collect::<Result<_, MonitorError>>()?;
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
            own: EnvelopeFields::of(&spec),
            names,
            used: used_fields(&spec, &approvals),
            keys: OnceLock::new(),
            awaited: spec.outcomes.clone(),
            clock: spec.schema.clock,
            approvals,
            spellings: Spellings::of(&spec),
            kinds: Kinds::of(&spec),
            speaker: Speaker::default(),
            file: FileName::given("-"),
            step_cache,
            buffers: ReadBuffers::default(),
            outcomes: Vec::new(),
            traces: HashMap::new(),
            due: BTreeSet::new(),
            proposals: BTreeMap::new(),
            expiries: BTreeSet::new(),
            reserved: HashMap::new(),
            histories: HashMap::new(),
            orders_work: 0,
            orders_bytes: 0,
            clients: Clients::default(),
            client: 0,
            hooked: false,
            ended_named: false,
            next_proposal: 1,
            taken: 0,
            program,
            options,
        })
    }

    /// Returns the spec, without tests and without the properties that are conditions of tests.
    pub fn spec(&self) -> &Spec {
        self.program.spec()
    }

    /// Returns the table of the clauses.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Returns the arms of clauses on queries that no state of the models reaches.
    pub fn unreached(&self) -> Vec<Unreached> {
        self.chains.unreached(&self.table)
    }

    /// Returns the solved tables of each model, by its name in the spec: a monitor of the same spec that is given these tables
    /// does not solve them again.
    pub fn solved(&self) -> Vec<(SmolStr, Solved)> {
        self.chains.solved()
    }

    /// Returns the identity that states, journals and logs are bound to.
    pub fn identity(&self) -> &Identity {
        &self.options.identity
    }

    /// Returns whether a field of events is read from a member with this name; other members need not be given.
    pub fn reads(&self, member: &str) -> bool {
        self.named_paths().any(|path| is_in(path, member))
    }

    /// Returns the names of the members of events that the spec reads. What a JSONPath searches for in all members is not among them.
    pub fn members(&self) -> Vec<String> {
        self.named_paths().filter_map(first_name).collect()
    }

    /// Returns the names of the members of events that fields are read from.
    pub(super) fn first_names(&self) -> impl Iterator<Item = String> {
        self.read_paths().filter_map(first_name)
    }

    /// The paths that the spec reads from events, that of the name of the trace among them.
    fn named_paths(&self) -> impl Iterator<Item = &Path> {
        let layout = &self.program.spec().schema.layout;
        self.read_paths().chain(&layout.id)
    }

    /// The paths that fields are read from.
    fn read_paths(&self) -> impl Iterator<Item = &Path> {
        let schema = &self.program.spec().schema;
        let fields = schema.fields.iter().enumerate();
        let fields = fields.filter(|(idx, _)| self.used.get(*idx).is_none_or(|used| *used));
        fields
            .map(|(_, field)| field)
            .chain(&schema.meta)
            .filter_map(|field| match &field.source {
                FieldSource::Event(path) => Some(path),
                FieldSource::Each(_) | FieldSource::Origin(_) => None,
            })
            .chain(&schema.layout.each)
    }

    /// Checks that readers who ignore case take no key of a value, which stands at these places of an event, for a key that the spec
    /// reads there, unless it reads the key itself. What the spec reads from a value of which it is not known where it stands (from a
    /// track, say) is compared with all keys, at any depth.
    ///
    /// # Errors
    /// The key and what it can be taken for, or the reason why the value cannot be read.
    pub fn check_keys(&self, at: &[&[&str]], json: &str) -> Result<(), String> {
        let keys = || ReadKeys::of(self.program.spec());
        self.keys.get_or_init(keys).check(at, json)
    }

    /// Returns whether the spec reads this member of events only to find those in which it has a value: an event that has none is
    /// nothing that the spec looks for.
    pub fn only_looks_for(&self, member: &str) -> bool {
        let spec = self.program.spec();
        let fields = spec.schema.fields.iter().enumerate();
        let is_whole = |source: &FieldSource| match source {
            FieldSource::Event(Path::Pointer(tokens)) => tokens[..] == [member],
            _ => false,
        };
        let mut read = fields.filter(|(_, field)| match &field.source {
            FieldSource::Event(path) => is_in(path, member),
            FieldSource::Each(_) | FieldSource::Origin(_) => false,
        });
        read.all(|(at, field)| is_whole(&field.source) && is_only_looked_for(spec, at))
    }

    /// Returns whether a trace of this name is live.
    pub fn has_trace(&self, trace: &str) -> bool {
        self.traces.contains_key(trace)
    }

    /// Begins a trace with the history of another one: `{"trace":"t1","as":"t2"}`. What a person is being asked without a commit to
    /// follow is asked in both; other open proposals are not part of it.
    fn fork_trace(&mut self, request: &[u8]) -> Decision {
        if self.is_bound() && !self.hooked {
            return forbidden("only an approver may fork a trace");
        }
        let members = RawObject::parse(request).ok();
        let name = |key: &str| members.as_ref()?.text(key).map(SmolStr::from);
        let (Some(from), Some(to)) = (name("trace"), name("as")) else {
            return self.unreadable("a fork requires the names of two traces".to_owned());
        };
        let mut decision = Decision::new(Cause::Fork);
        decision.trace = Some(to.clone());
        let limit = self.options.traces;
        let why = match self.traces.contains_key(&to) {
            true => Some(format!("a trace `{to}` is live")),
            false if self.traces.len() >= limit => Some(too_many(limit)),
            false => None,
        };
        if let Some(why) = why {
            decision.deny(why);
            return decision;
        }
        let mut copy = match self.traces.remove(&from) {
            Some(mut trace) => {
                let copy = self.fork(&mut trace);
                self.traces.insert(from.clone(), trace);
                copy
            }
            None => self.begin_trace(),
        };
        copy.due = None;
        for number in self.questions(&from) {
            if let Some(mut question) = self.proposals.get(&number).cloned() {
                question.trace = to.clone();
                decision.copied.push((number, self.add_proposal(question)));
            }
        }
        if let Some(histories) = self.histories.get(&from).cloned() {
            let histories = histories.renumbered(&decision.copied);
            self.histories.insert(to.clone(), histories);
        }
        self.rest(&to, copy);
        decision
    }

    /// Returns the number of live traces.
    pub fn n_traces(&self) -> usize {
        self.traces.len()
    }

    /// Returns the number of inputs ([lines](Self::line) and [ticks](Self::tick) that decided something) that were processed,
    /// in this process and in those whose state it continues.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Sets the speaker of the following requests.
    pub fn speak_as(&mut self, speaker: Speaker) {
        self.speaker = speaker;
    }

    /// Sets the client that makes the following requests. Each of [`Options::clients`] has an equal share of the limits on
    /// proposals.
    pub fn set_client(&mut self, client: u32) {
        self.client = client;
    }

    /// Sets whether the following requests are made for the program of a hook. It asks a person, and says only by the outcome, or by the
    /// end of the turn, what was answered, so a proposal counts for 30 days instead of [`Options::reservation`]. A trace may be forked
    /// for it whoever reports: the main agent's own begins when a sub-agent acts.
    pub fn set_hooked(&mut self, hooked: bool) {
        self.hooked = hooked;
    }

    /// Decides a line in the format of [`Envelope`](super::Envelope). Parses the line once if it is an event, twice if it is an
    /// envelope.
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
            Request::Abandon(proposal) => self.abandon_at(proposal, now),
            Request::Fork => self.fork_trace(event),
        }
    }

    /// Returns which members of an envelope the events of the spec have themselves.
    pub fn envelope_fields(&self) -> EnvelopeFields {
        self.own
    }

    /// Returns whether a line reports an event that happened. Such a line must not be lost.
    pub fn states(&self, line: &[u8]) -> bool {
        match Envelope::read(line, self.own) {
            Ok(envelope) => envelope.request.states(),
            // The line may report an event.
            Err(_) => true,
        }
    }

    /// Denies a line that was not parsed, for this reason.
    pub fn refuse(&mut self, why: &str) -> Decision {
        self.taken += 1;
        self.unreadable(why.to_owned())
    }

    /// Records an event, or the end of a trace, that happened. Parts of the event that cannot be read are unknown; an event
    /// whose trace cannot be read is denied and not recorded.
    pub fn observe(&mut self, event: &[u8], now: Option<Instant>) -> Decision {
        match self.read_outcome(event) {
            Ok(Unit::Event(event)) => self.happened(event, now),
            Ok(Unit::End { trace, .. }) => self.end(&trace.unwrap_or_default(), now),
            Ok(Unit::Record(_)) => self.whole_trace(),
            Err(why) => self.unreadable(why),
        }
    }

    /// Records an event that happened, given as a reader of records yields it (`input`). Use this for traces with their own
    /// recording layout and for values that are not text. The cells of the event must match the schema of the spec.
    pub fn observe_event(&mut self, event: Event, now: Option<Instant>) -> Decision {
        match self.foreign(&event) {
            Some(refused) => refused,
            None => self.happened(event, now),
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
        self.ended_named |= !trace.is_empty();
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
            // An event with an earlier time may still arrive, so a verdict that is final only by the caller's clock is
            // reported as presumable.
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

    /// Returns a denial if the event was read for another spec.
    pub(super) fn foreign(&self, event: &Event) -> Option<Decision> {
        let schema = &self.program.spec().schema;
        let own = event.meta.len() == schema.meta.len()
            && event
                .steps
                .iter()
                .all(|step| step.cells.len() == schema.fields.len());
        (!own).then(|| self.unreadable("the event was read for another spec".to_owned()))
    }

    /// Returns whether the current speaker is restricted.
    pub(super) fn is_bound(&self) -> bool {
        self.is_reporter() && !self.approvals.is_empty()
    }

    /// Returns whether the current speaker may only report.
    pub(super) fn is_reporter(&self) -> bool {
        self.speaker == Speaker::Reporter
    }

    pub(super) fn is_approval(&self, event: &Event) -> bool {
        let enums = &self.program.spec().enums;
        let mut approvals = self.approvals.iter();
        approvals.any(|approval| approval.contain(event, enums))
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

/// Whether what stands at a path may be, hold or be a part of this member of events.
fn is_in(path: &Path, member: &str) -> bool {
    match path {
        Path::Pointer(tokens) => tokens.first().is_none_or(|first| first == member),
        Path::JsonPath(_) => true,
    }
}

/// Returns the name with which a path begins, if it begins with one: `$.a[*]`, `$['a']`, `/a/b`.
pub(super) fn first_name(path: &Path) -> Option<String> {
    let steps = match Route::new(path).ok()? {
        Route::Steps(steps) => steps,
        Route::Query(query) => query.lead,
    };
    let name = steps.into_iter().next()?.name?;
    Some(name.to_string())
}

/// Returns a denial of a statement that its sender is not allowed to make. Nothing was changed.
pub(super) fn forbidden(why: &str) -> Decision {
    let mut decision = Decision::new(Cause::Forbidden);
    decision.deny(why.to_owned());
    decision
}

/// Returns the fields of events that must be given: those that an expression reads, that mark approvals, that are the clock,
/// and those whose absence is an error.
fn used_fields(spec: &Spec, approvals: &[ApprovalEvents]) -> Vec<bool> {
    let fields = spec.schema.fields.iter();
    let mut used: Vec<bool> = fields.map(|field| field.absent == Absent::Error).collect();
    let exprs = (0..spec.exprs.len()).map(|id| spec.exprs.get(ExprId::new(id)));
    let read = exprs.filter_map(|expr| match expr {
        Expr::Field(field) => Some(*field),
        _ => None,
    });
    let named = approvals.iter().map(|approval| approval.field);
    for field in read.chain(named).chain(spec.schema.clock) {
        if let Some(used) = used.get_mut(field) {
            *used = true;
        }
    }
    used
}

/// Returns the reason why no further trace can begin.
pub(super) fn too_many(limit: usize) -> String {
    format!("{limit} traces are live (limit: `max-traces`)")
}

/// Returns the schema for single events outside of records.
fn single_events(schema: &InputSchema) -> InputSchema {
    let mut single = schema.clone();
    let layout = &mut single.layout;
    // In a record, the identifier is part of the record; in a line, it is part of the event.
    if matches!(layout.events, Some(Events::At(_))) {
        layout.id = None;
    }
    layout.events = None;
    layout.complete = None;
    layout.format = None;
    layout.order_by.clear();
    single
}
