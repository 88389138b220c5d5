//! From raw JSON to the typed cells of a schema, in one pass.
//!
//! [`Projection::new`] compiles a [`InputSchema`] once; [`Projection::read`] then takes one raw record at a time, from
//! any number of threads. Only what the schema asks for is decoded. Everything else is passed over, but every
//! object, read or not, is searched for keys that stand twice.
//!
//! # What is lost, and how much of it
//! * An object with a key twice: every cell that lies below it or contains it is unknown. Around the list of events,
//!   the record is refused, since its steps cannot be known.
//! * `NaN`, `1e999`, half a surrogate pair: the cell that reads it.
//! * Text that is no JSON, no UTF-8, or beyond a limit: the record. A key with half a surrogate pair is no JSON.

use jiter::Peek;
use smol_str::SmolStr;

use super::deferred::Deferred;
use super::document::{self, LineCounter, explain, newlines};
use super::extract::stream::StreamExtractor;
use super::extract::tree::TreeExtractor;
use super::key_path_cache::KeyPathCache;
use super::keys::OpenKeys;
use super::limits::InputLimits;
use super::place::{ValuePlace, has_one_spelling, named, problems};
use super::plan::{LevelId, Mode, Plan};
use super::record::{Event, FileName, Origin, RawRecord, Record, Unit};
use super::record_builder::RecordBuilder;
use super::scan::{Fault, FaultKind, Scanner};
use super::spread::Facts;
use crate::input_schema::{Field, InputSchema, OriginField};
use crate::pool::Reusable;
use crate::problem::{Problem, ProblemKind};
use crate::value::{Cell, Value};

/// A schema without a projection; the checker rejects all of these.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProjectionError {
    /// A JSONPath that does not parse.
    #[error("invalid JSONPath `{path}`: {reason}")]
    JsonPath {
        /// The path.
        path: SmolStr,
        /// The fault in the schema.
        reason: String,
    },
    /// A field of an event that is a fact about the file.
    #[error("`{field}` is a field of the record, not of an event")]
    Origin {
        /// The field.
        field: SmolStr,
    },
    /// `order by` a field that is not there.
    #[error("no field number {field} to order by")]
    OrderBy {
        /// The number.
        field: usize,
    },
}

/// A compiled schema.
#[derive(Clone, Debug)]
pub struct Projection {
    plan: Plan,
    limits: InputLimits,
    /// Whether no steps of whole traces are wanted.
    only_events: bool,
}

/// Memory that reading uses again and again; one per thread.
#[derive(Debug, Default)]
pub struct ReadBuffers {
    keys: OpenKeys,
    key_paths: KeyPathCache,
    met: Vec<(usize, usize)>,
    pub(super) builder: RecordBuilder,
    /// For strings with escapes.
    pub(super) decoded: String,
    /// For values of columns.
    #[cfg(feature = "tables")]
    pub(super) json: Vec<u8>,
    /// Whether long texts of records are passed over.
    defer: bool,
    /// The last native line was a single event; the next one is likely to be one too.
    single: bool,
}

impl ReadBuffers {
    /// Begins a record.
    pub(super) fn begin(&mut self, plan: &Plan, limits: &InputLimits) {
        self.keys.clear();
        self.met.clear();
        self.builder.begin(plan, limits);
    }

    /// Returns a walk over a text of the record from an offset on, which may be nested so deeply.
    pub(super) fn walk<'j, 's>(
        &'s mut self,
        plan: &'s Plan,
        text: &'j str,
        at: usize,
        depth: usize,
    ) -> StreamExtractor<'j, 's> {
        StreamExtractor {
            plan,
            scan: Scanner::new(text, at, std::mem::take(&mut self.decoded)),
            keys: &mut self.keys,
            key_paths: &mut self.key_paths,
            met: &mut self.met,
            builder: &mut self.builder,
            depth,
            quiet: false,
            defer: false,
            members: None,
            is_record: false,
        }
    }

    /// Releases the memory of a long text.
    pub(crate) fn shrink(&mut self) {
        if self.decoded.capacity() > 1 << 20 {
            self.decoded = String::new();
        }
    }
}

impl Reusable for ReadBuffers {
    fn recycle(&mut self) -> bool {
        self.shrink();
        true
    }
}

/// The outcome of reading one value of a file.
#[derive(Clone, Debug)]
pub enum ReadOutcome {
    /// It was read.
    Unit(Unit),
    /// It was left out on purpose.
    LeftOut(Problem),
    /// Nothing could be read from it.
    Refused(Problem),
}

impl Projection {
    /// Compiles a schema, with the default limits.
    ///
    /// # Errors
    /// See [`ProjectionError`].
    pub fn new(schema: &InputSchema) -> Result<Projection, ProjectionError> {
        Projection::with_limits(schema, InputLimits::default())
    }

    /// Compiles a schema.
    ///
    /// # Errors
    /// See [`ProjectionError`].
    pub fn with_limits(
        schema: &InputSchema,
        limits: InputLimits,
    ) -> Result<Projection, ProjectionError> {
        Ok(Projection {
            plan: Plan::new(schema)?,
            limits,
            only_events: false,
        })
    }

    /// Returns the same projection, which has not read anything yet.
    pub(crate) fn unused(&self) -> Projection {
        Projection {
            plan: self.plan.unused(),
            limits: self.limits,
            only_events: self.only_events,
        }
    }

    /// The same for callers that take single events only: a whole trace is read as one without steps, which takes no memory.
    pub(crate) fn only_events(self) -> Projection {
        Projection {
            only_events: true,
            ..self
        }
    }

    /// Returns the limits in force.
    pub fn limits(&self) -> &InputLimits {
        &self.limits
    }

    /// Whether some event so far had a field of the schema, or may have had it.
    pub(crate) fn was_found(&self, field: usize) -> bool {
        self.plan.was_found(field)
    }

    /// Whether a field may be read from this member of an event.
    pub(crate) fn reads_member(&self, name: &str) -> bool {
        let event = &self.plan.event;
        let whole = event.trie.node(0);
        event.wants_tree() || !whole.slots.is_empty() || whole.list || whole.named(name).is_some()
    }

    /// Whether every line is an event, so that files are split at line ends alone.
    pub(crate) fn by_lines(&self) -> bool {
        self.plan.mode == Mode::Lines
    }

    /// Whether a list at the top of a file holds records (rather than being one).
    pub(crate) fn splits_lists(&self) -> bool {
        self.plan.explodes
    }

    /// Returns the plan, for the reader of rows.
    #[cfg(feature = "tables")]
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether no steps of whole traces are wanted.
    #[cfg(feature = "tables")]
    pub(super) fn takes_only_events(&self) -> bool {
        self.only_events
    }

    /// Returns the fields of `order by`; where there are any, all events of a trace are needed at once.
    pub(crate) fn order_fields(&self) -> &[usize] {
        &self.plan.order_fields
    }

    /// Returns the meta fields of the schema.
    pub(crate) fn meta_fields(&self) -> &[Field] {
        &self.plan.record.slots[..self.plan.n_meta]
    }

    /// Returns the meta cells that hold this fact.
    pub(crate) fn origins(&self, fact: OriginField) -> impl Iterator<Item = usize> {
        let origins = self.plan.origins.iter();
        origins.filter_map(move |(slot, origin)| (*origin == fact).then_some(*slot))
    }

    /// Reads a raw record. Returns one outcome, several if several values are on one line, and none for blank text.
    pub fn read(
        &self,
        raw: &RawRecord<'_>,
        file: &FileName,
        buffers: &mut ReadBuffers,
        out: &mut Vec<ReadOutcome>,
    ) {
        self.read_each(raw, file, buffers, false, &mut |outcome, _| {
            out.push(outcome)
        });
    }

    /// Reads a raw record and calls a function for each outcome. If `defer` allows it, long texts in the steps of whole
    /// records are skipped and their places are recorded.
    pub(crate) fn read_each(
        &self,
        raw: &RawRecord<'_>,
        file: &FileName,
        buffers: &mut ReadBuffers,
        defer: bool,
        each: &mut dyn FnMut(ReadOutcome, Deferred<'_>),
    ) {
        buffers.defer = defer && self.plan.defers;
        let text = match std::str::from_utf8(raw.bytes) {
            Ok(text) => text,
            Err(error) => {
                let line = raw.line + newlines(raw.bytes, error.valid_up_to());
                let kind = ProblemKind::InvalidUtf8;
                let problem = Problem::new(kind, &file.path, line, "invalid UTF-8");
                each(ReadOutcome::Refused(problem), Deferred::NONE);
                return;
            }
        };
        let mut at = 0;
        let mut ordinal = raw.ordinal;
        let mut lines = LineCounter::new(raw.bytes);
        loop {
            let mut scan = Scanner::new(text, at, String::new());
            if scan.at_end() {
                return;
            }
            let start = scan.at();
            let place = ValuePlace {
                file,
                text,
                start,
                line: raw.line + lines.at(start),
                ordinal,
            };
            let result = self.one(&place, buffers);
            match result {
                Ok((outcome, end)) => {
                    let places = match &outcome {
                        ReadOutcome::Unit(Unit::Record(_)) => &*buffers.builder.deferred,
                        _ => &[],
                    };
                    each(outcome, Deferred::new(text, places));
                    at = end;
                }
                Err(fault) => {
                    let (kind, message) = explain(fault, text.as_bytes(), &self.limits);
                    each(
                        ReadOutcome::Refused(place.problem(kind, message)),
                        Deferred::NONE,
                    );
                    return;
                }
            }
            ordinal += 1;
            let mut rest = Scanner::new(text, at, String::new());
            match rest.peek() {
                Ok(Peek::Object | Peek::Array) | Err(_) if !self.by_lines() || rest.at_end() => {}
                _ => {
                    let fault = Fault {
                        at: rest.at(),
                        kind: FaultKind::Syntax("unexpected text after the value"),
                    };
                    let (kind, message) = explain(fault, text.as_bytes(), &self.limits);
                    each(
                        ReadOutcome::Refused(place.problem(kind, message)),
                        Deferred::NONE,
                    );
                    return;
                }
            }
        }
    }

    /// Reads the value at a place; where it ends.
    fn one(
        &self,
        place: &ValuePlace<'_>,
        buffers: &mut ReadBuffers,
    ) -> Result<(ReadOutcome, usize), Fault> {
        match self.plan.mode {
            Mode::At => self.record(place, buffers).map(|(outcome, end)| {
                let outcome = outcome.unwrap_or_else(|| {
                    ReadOutcome::LeftOut(place.problem(
                        ProblemKind::LeftOut,
                        "no list of events at the path".to_owned(),
                    ))
                });
                (outcome, end)
            }),
            Mode::Lines => self
                .event(place, buffers)
                .map(|(outcome, end)| (outcome.unwrap_or_else(|| place.nothing()), end)),
            Mode::Native if self.only_events => {
                let (outcome, end) = self.event(place, buffers)?;
                let trace = || {
                    ReadOutcome::Unit(Unit::Record(Record {
                        origin: place.origin(),
                        id: None,
                        complete: None,
                        meta: Box::default(),
                        steps: Vec::new(),
                        problems: Vec::new(),
                    }))
                };
                Ok((outcome.unwrap_or_else(trace), end))
            }
            Mode::Native => {
                let single_first = buffers.single;
                for single in [single_first, !single_first] {
                    let (outcome, end) = if single {
                        self.event(place, buffers)?
                    } else {
                        self.record(place, buffers)?
                    };
                    if let Some(outcome) = outcome {
                        buffers.single = single;
                        return Ok((outcome, end));
                    }
                }
                // An object whose `events` is a list in one reading only: it stands there twice.
                let (_, end) = self.event(place, buffers)?;
                Ok((place.nothing(), end))
            }
        }
    }

    fn walk<'j, 's>(
        &'s self,
        place: &ValuePlace<'j>,
        buffers: &'s mut ReadBuffers,
    ) -> StreamExtractor<'j, 's> {
        buffers.begin(&self.plan, &self.limits);
        buffers.walk(&self.plan, place.text, place.start, self.limits.depth())
    }

    /// Reads a whole trace, or returns `None` if the record has no list of events.
    fn record(
        &self,
        place: &ValuePlace<'_>,
        buffers: &mut ReadBuffers,
    ) -> Result<(Option<ReadOutcome>, usize), Fault> {
        let defer = buffers.defer;
        let mut walk = self.walk(place, buffers);
        walk.defer = defer;
        walk.whole(LevelId::Record)?;
        let end = walk.scan.at();
        buffers.decoded = walk.scan.into_memory();
        let builder = &mut buffers.builder;
        Ok((self.finish_record(builder, place), end))
    }

    pub(super) fn finish_record(
        &self,
        builder: &mut RecordBuilder,
        place: &ValuePlace<'_>,
    ) -> Option<ReadOutcome> {
        let id = self.name(builder, self.plan.id);
        if builder.is_too_large {
            let mut problem = place.problem(ProblemKind::Limit, self.limits.too_large());
            problem.trace = id;
            return Some(ReadOutcome::Refused(problem));
        }
        // A native line without a list at `/events` is an event, whatever else its object holds twice.
        if builder.refused && (builder.found_list || self.plan.mode != Mode::Native) {
            let mut drafts = builder.drafts.iter();
            let first = drafts.find(|draft| draft.step.is_none() && draft.field.is_none());
            let (kind, message) = first.map_or(
                (
                    ProblemKind::DuplicateKey,
                    "an object has a duplicate key".to_owned(),
                ),
                |draft| (draft.kind, draft.message.to_string()),
            );
            let message = format!("{message}, so its list of events is unknown");
            let mut problem = place.problem(kind, message);
            problem.trace = id;
            return Some(ReadOutcome::Refused(problem));
        }
        if !builder.found_list {
            return None;
        }
        let meta = self.meta(builder, place);
        let complete = match self
            .plan
            .complete
            .and_then(|slot| builder.record[slot].take())
        {
            Some(Cell::Known(Value::Bool(complete))) => Some(complete),
            // Something is said, and nobody can tell what: it may go on.
            Some(Cell::Unknown) => Some(false),
            _ => None,
        };
        builder.order(&self.plan);
        let problems = problems(builder, place, &id);
        Some(ReadOutcome::Unit(Unit::Record(Record {
            origin: place.origin(),
            id,
            complete,
            meta,
            steps: builder.take_steps(),
            problems,
        })))
    }

    /// Reads a single event, or returns `None` if the record is a whole trace.
    fn event(
        &self,
        place: &ValuePlace<'_>,
        buffers: &mut ReadBuffers,
    ) -> Result<(Option<ReadOutcome>, usize), Fault> {
        let mut walk = self.walk(place, buffers);
        walk.event()?;
        let end = walk.scan.at();
        if walk.is_record {
            return Ok((None, end));
        }
        let is_object = place.text.as_bytes().get(place.start) == Some(&b'{');
        let members = walk.members;
        let native = self.plan.native;
        if native.is_some() && !is_object {
            return Ok((Some(place.nothing()), end));
        }
        let is_end = native.is_some_and(|native| {
            let ends = walk.event_cell(native.end) == Some(&Cell::Known(Value::Bool(true)));
            let named = walk.event_cell(native.trace).is_some();
            ends && members == Some(1 + usize::from(named))
        });
        if self.plan.reads_meta() && !is_end {
            walk.scan.seek(place.start);
            walk.quiet = true;
            walk.whole(LevelId::Record)?;
        }
        buffers.decoded = walk.scan.into_memory();
        let builder = &mut buffers.builder;
        Ok((Some(self.finish_event(builder, place, is_end)), end))
    }

    pub(super) fn finish_event(
        &self,
        builder: &mut RecordBuilder,
        place: &ValuePlace<'_>,
        is_end: bool,
    ) -> ReadOutcome {
        if builder.is_too_large {
            let problem = place.problem(ProblemKind::Limit, self.limits.too_large());
            return ReadOutcome::Refused(problem);
        }
        let cell = match (self.plan.native, self.plan.id) {
            (Some(native), _) => builder.event.get_mut(native.trace),
            (None, Some(id)) => builder.record.get_mut(id),
            (None, None) => None,
        };
        let trace = match cell.and_then(Option::take) {
            None | Some(Cell::Known(Value::Null)) => None,
            Some(Cell::Known(value)) => match named(&value)
                .filter(|name| has_one_spelling(&value, name))
            {
                Some(name) => Some(name),
                None => {
                    let found = super::cell::found(&value);
                    let message = format!(
                        "expected the name of a trace, a string or whole number, found {found}"
                    );
                    return ReadOutcome::Refused(place.problem(ProblemKind::WrongType, message));
                }
            },
            Some(Cell::Unknown) => {
                let why = builder.drafts.iter().find(|draft| draft.step.is_some());
                let (kind, message) = why.map_or(
                    (ProblemKind::DuplicateKey, "its trace is unknown"),
                    |draft| (draft.kind, draft.message.as_str()),
                );
                return ReadOutcome::Refused(
                    place.problem(kind, format!("{message}, so the event's trace is unknown")),
                );
            }
        };
        let origin = place.origin();
        if is_end {
            return ReadOutcome::Unit(Unit::End { trace, origin });
        }
        let meta = self.facts(builder, place);
        let mut problems = problems(builder, place, &trace);
        for problem in &mut problems {
            problem.step = None;
        }
        ReadOutcome::Unit(Unit::Event(Event {
            trace,
            origin,
            meta,
            steps: std::mem::take(&mut builder.steps),
            count: builder.index,
            problems,
        }))
    }

    /// Returns the name in a slot of the record.
    fn name(&self, builder: &mut RecordBuilder, slot: Option<usize>) -> Option<SmolStr> {
        let Cell::Known(value) = builder.record.get_mut(slot?)?.take()? else {
            return None;
        };
        let name = named(&value);
        if name.is_none() && !value.is_null() {
            let trouble = super::cell::Trouble {
                kind: ProblemKind::WrongType,
                message: "a name must be a string or a number".to_owned(),
            };
            builder.add_problem(trouble, Some(SmolStr::new_static("id")), 0);
        }
        name
    }

    /// Returns the meta cells of a record.
    fn meta(&self, builder: &mut RecordBuilder, place: &ValuePlace<'_>) -> Box<[Cell]> {
        self.put_origins(builder, place);
        let mut cells = Vec::with_capacity(self.plan.n_meta);
        for (slot, field) in self.meta_fields().iter().enumerate() {
            if builder.record[slot].is_none() {
                let reading = super::cell::absent(field);
                builder.put(&self.plan, LevelId::Record, slot, reading, place.start);
            }
            cells.push(builder.record[slot].take().unwrap_or(Cell::Unknown));
        }
        cells.into_boxed_slice()
    }

    /// Returns the meta fields that a single event has.
    fn facts(&self, builder: &mut RecordBuilder, place: &ValuePlace<'_>) -> Facts {
        self.put_origins(builder, place);
        let cells = builder.record[..self.plan.n_meta].iter_mut();
        cells.map(Option::take).collect()
    }

    fn put_origins(&self, builder: &mut RecordBuilder, place: &ValuePlace<'_>) {
        for &(slot, origin) in &self.plan.origins {
            builder.record[slot] = Some(Cell::Known(place.fact(origin)));
        }
    }

    /// Reads a whole trace from canonical events: what a format reader made of a record.
    ///
    /// Meta fields, `id from` and `complete from` are read from `record`, fields from `events`. Values may hold
    /// stand-ins (see [`document`]); the cells that contain one are unknown.
    ///
    /// # Errors
    /// The steps take too much memory.
    pub(crate) fn read_events(
        &self,
        record: &Value,
        events: &[Value],
        origin: &Origin,
        file: &FileName,
    ) -> Result<Record, Problem> {
        let mut builder = RecordBuilder::default();
        builder.begin(&self.plan, &self.limits);
        let place = ValuePlace::of(origin, file);
        TreeExtractor {
            plan: &self.plan,
            builder: &mut builder,
            at: 0,
            lists: true,
        }
        .meta(record);
        for event in events {
            TreeExtractor {
                plan: &self.plan,
                builder: &mut builder,
                at: 0,
                lists: true,
            }
            .event(event);
        }
        builder.found_list = true;
        builder.refused = false;
        match self.finish_record(&mut builder, &place) {
            Some(ReadOutcome::Unit(Unit::Record(record))) => Ok(record),
            // The list was found, and no place of it is in doubt.
            _ => Err(place.problem(ProblemKind::Limit, self.limits.too_large())),
        }
    }

    /// Reads a value that was parsed already (see [`document::parse`]), by the rules of [`Projection::read`].
    pub fn read_value(&self, value: &Value, origin: &Origin, file: &FileName) -> ReadOutcome {
        let place = ValuePlace::of(origin, file);
        let mut builder = RecordBuilder::default();
        builder.begin(&self.plan, &self.limits);
        let walk = |builder: &mut RecordBuilder, level| {
            let mut walk = TreeExtractor {
                plan: &self.plan,
                builder,
                at: 0,
                lists: true,
            };
            match level {
                LevelId::Record => walk.whole(level, value),
                _ => walk.event(value),
            }
        };
        if self.plan.mode != Mode::Lines {
            walk(&mut builder, LevelId::Record);
            if let Some(outcome) = self.finish_record(&mut builder, &place) {
                return outcome;
            }
            if self.plan.mode == Mode::At {
                return ReadOutcome::LeftOut(place.problem(
                    ProblemKind::LeftOut,
                    "no list of events at the path".to_owned(),
                ));
            }
            if document::why(value) == Some(ProblemKind::DuplicateKey) {
                return ReadOutcome::Refused(place.problem(
                    ProblemKind::DuplicateKey,
                    "an object has a duplicate key".to_owned(),
                ));
            }
        }
        builder.begin(&self.plan, &self.limits);
        walk(&mut builder, LevelId::Event);
        let mut is_end = false;
        if let Some(native) = self.plan.native {
            let Value::Object(object) = value else {
                return place.nothing();
            };
            let cell = |slot: usize| builder.event.get(slot).and_then(Option::as_ref);
            is_end = cell(native.end) == Some(&Cell::Known(Value::Bool(true)))
                && object.len() == 1 + usize::from(cell(native.trace).is_some());
        }
        if self.plan.reads_meta() && !is_end {
            let walk = TreeExtractor {
                plan: &self.plan,
                builder: &mut builder,
                at: 0,
                lists: false,
            };
            walk.meta(value);
        }
        self.finish_event(&mut builder, &place, is_end)
    }
}
