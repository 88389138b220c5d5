//! Events on which both specs are judged: made of the steps of an automaton's trace, or searched.
//!
//! Automata take conditions to be independent unless the types of their fields exclude it, so their trace is a proposal.
//! A difference counts only if the two specs, each compiled by itself, judge events differently.

use std::cmp::Reverse;

use smol_str::{SmolStr, format_smolstr};

use super::join::Joint;
use super::{Limits, Moment, Witness};
use crate::domain::{self, Given, Goal, Work};
use crate::eval::{Program, Wanted};
use crate::hir::reads::reads;
use crate::hir::{Spec, Watched};
use crate::ids::{ExprId, FormulaId, PropertyId};
use crate::input::deferred::Deferred;
use crate::input::record::{Event, Origin, Record, Step};
use crate::input_schema::{Absent, Field, FieldSource, Path};
use crate::monitor::{Decision, Monitor, Options};
use crate::types::Type;
use crate::value::{Cell, EnumValue, Instant, Value};
use crate::verdict::{Verdict, value_json};
use crate::written;
use guard_automata::Word;

/// Deadlines after the last event at which decisions are compared.
const DEADLINES: usize = 16;

/// The work for one automaton, or one step without one, of those that judge proposed traces.
const JUDGING: u64 = 1_000_000;

/// Both specs, compiled, with what is needed to propose events to them.
pub(super) struct Bench<'a> {
    pub(super) joint: &'a Joint,
    programs: [Program; 2],
    /// `None` if no clause can be judged without a model.
    monitors: Option<[Monitor; 2]>,
    runs: u64,
    /// The time that searches for events may still take.
    pub(super) search_left: std::time::Duration,
    /// The events of all witnesses so far.
    pub(super) shown: Vec<Vec<domain::Event>>,
}

impl<'a> Bench<'a> {
    /// Compiles both specs.
    ///
    /// # Errors
    /// One of them is beyond the limits.
    pub(super) fn new(
        joint: &'a Joint,
        specs: [&Spec; 2],
        limits: &Limits,
    ) -> Result<Bench<'a>, String> {
        let search_left = std::time::Duration::from_secs(limits.search_seconds);
        let mut limits = crate::eval::Limits::default();
        // Whether a verdict is final may take as much work at each new state, and thousands of traces are judged.
        limits.automata.work = JUDGING;
        let program = |spec| Program::compile(spec, &limits).map_err(|error| error.to_string());
        let programs = [program(specs[0])?, program(specs[1])?];
        let monitor = |spec: &Spec| Monitor::new(&without_models(spec), Options::default());
        let monitors = if joint.spec.enforces.is_empty() {
            None
        } else {
            let made = |spec| monitor(spec).map_err(|error| error.to_string());
            Some([made(specs[0])?, made(specs[1])?])
        };
        Ok(Bench {
            joint,
            programs,
            monitors,
            runs: 0,
            search_left,
            shown: Vec::new(),
        })
    }

    /// Returns the verdict of one spec on a property: the gravest of its instances, with the first step at which one became
    /// final. `None` if the trace is not judged.
    pub(super) fn verdict(
        &self,
        side: usize,
        property: PropertyId,
        events: &[domain::Event],
    ) -> Option<(Verdict, Option<u32>)> {
        let program = &self.programs[side];
        // Explanations take longer than the verdict, and nothing shows them.
        let wanted = Wanted::new(program.spec().properties.len(), |_, _| false).without_evidence();
        let report = program.judge_for(self.record(side, events), Deferred::NONE, &wanted)?;
        let own = report
            .verdicts
            .iter()
            .filter(|found| found.property == property);
        own.map(|found| (found.verdict, found.at))
            .min_by_key(|(verdict, at)| (Reverse(verdict.severity()), *at))
    }

    /// Returns the decisions of one spec at a moment after these events, each of which has happened, with the time of each: at
    /// the last event or the end there is one, at deadlines after the last event there may be more. `None` if no clause can
    /// be judged.
    pub(super) fn decisions(
        &mut self,
        side: usize,
        events: &[domain::Event],
        moment: Moment,
    ) -> Option<Vec<(Instant, Decision)>> {
        self.runs += 1;
        let name = format_smolstr!("{}", self.runs);
        let record = self.record(side, events);
        let times: Vec<Option<Instant>> = events.iter().map(|event| self.time(event)).collect();
        let monitor = &mut self.monitors.as_mut()?[side];
        let mut decisions = Vec::new();
        let mut now = Instant(0);
        for (step, time) in record.steps.into_iter().zip(times) {
            let event = Event {
                trace: Some(name.clone()),
                origin: record.origin.clone(),
                meta: record.meta.clone().into(),
                steps: vec![step],
                count: 1,
                problems: Vec::new(),
            };
            now = time.unwrap_or(now);
            decisions = vec![(now, monitor.observe_event(event, time))];
        }
        match moment {
            Moment::Event => {}
            Moment::End => decisions = vec![(now, monitor.propose_end(&name))],
            Moment::Deadline => {
                decisions.clear();
                for _ in 0..DEADLINES {
                    let Some(due) = monitor.next_deadline() else {
                        break;
                    };
                    let passed = monitor.tick(Instant(due.0.saturating_add(1)));
                    decisions.extend(passed.into_iter().map(|decision| (due, decision)));
                }
            }
        }
        monitor.end(&name, None);
        Some(decisions)
    }

    fn time(&self, event: &domain::Event) -> Option<Instant> {
        match event.fields.get(&self.joint.spec.schema.clock?) {
            Some(Value::Time(time)) => Some(*time),
            _ => None,
        }
    }

    /// Returns an event as one that happens so much later than the last of these events.
    pub(super) fn later(
        &self,
        events: &[domain::Event],
        event: &domain::Event,
        gap: i128,
    ) -> domain::Event {
        let mut event = event.clone();
        let last = events.last().and_then(|last| self.time(last));
        if let (Some(clock), Some(last)) = (self.joint.spec.schema.clock, last) {
            let time = Instant(last.0.saturating_add(gap));
            event.fields.insert(clock, Value::Time(time));
        }
        event
    }

    /// Returns the events as a record of the joint spec.
    pub(super) fn joint_record(&self, events: &[domain::Event]) -> Record {
        let schema = &self.joint.spec.schema;
        let meta = |place: usize| events.iter().find_map(|event| event.meta.get(&place));
        let values = |fields: &[Field], value: &dyn Fn(usize) -> Option<Value>| {
            (0..fields.len()).map(value).collect()
        };
        let step = |event: &domain::Event| {
            values(&schema.fields, &|place| event.fields.get(&place).cloned())
        };
        record(
            [&schema.meta, &schema.fields],
            values(&schema.meta, &|place| meta(place).cloned()),
            events.iter().map(step).collect(),
        )
    }

    /// Returns the tests of both specs as events.
    pub(super) fn tests(&self) -> Vec<Vec<domain::Event>> {
        let specs = self.programs.iter().map(Program::spec);
        let mut all: Vec<Vec<domain::Event>> = Vec::new();
        for (spec, side) in specs.zip(&self.joint.sides) {
            for test in &spec.tests {
                let meta = side.joint_values(true, &test.meta);
                let event = |cells: &Vec<Cell>| domain::Event {
                    fields: side.joint_values(false, cells),
                    meta: meta.clone(),
                    ..domain::Event::default()
                };
                let events: Vec<domain::Event> = test.steps.iter().map(event).collect();
                if !all.contains(&events) {
                    all.push(events);
                }
            }
        }
        all
    }

    fn record(&self, side: usize, events: &[domain::Event]) -> Record {
        let spec = self.programs[side].spec();
        let side = &self.joint.sides[side];
        let meta = side.values(true, |place| {
            events.iter().find_map(|event| event.meta.get(&place))
        });
        let step = |event: &domain::Event| side.values(false, |place| event.fields.get(&place));
        record(
            [&spec.schema.meta, &spec.schema.fields],
            meta,
            events.iter().map(step).collect(),
        )
    }

    /// Returns events that give the conditions the values of a word; `None` if none are found. Required fields that `roots`
    /// read have some value in each event.
    pub(super) fn events(
        &self,
        word: &Word,
        times: &[i128],
        roots: &[ExprId],
    ) -> Option<Vec<domain::Event>> {
        let spec = &self.joint.spec;
        let mut work = Work::new(400_000, 50_000);
        let mut given = Given::default();
        let mut events = Vec::new();
        for letter in word {
            let mut goals: Vec<Goal> = letter
                .iter()
                .filter_map(|(atom, holds)| {
                    let atom = spec.formulas.atoms().get(atom.0 as usize)?;
                    Some((atom.expr, *holds))
                })
                .collect();
            goals.extend(self.required());
            let event = domain::event(spec, &goals, &given, &mut work)?;
            given.vars.clone_from(&event.vars);
            given.meta.clone_from(&event.meta);
            events.push(event);
        }
        self.set_times(&mut events, times);
        self.complete(&mut events, roots);
        Some(events)
    }

    /// Sets the required fields that these conditions read and of which nothing is asked.
    pub(super) fn complete(&self, events: &mut [domain::Event], roots: &[ExprId]) {
        let spec = &self.joint.spec;
        for place in reads(spec, roots.iter().copied()).fields {
            let field = &spec.schema.fields[place];
            if !matches!(field.absent, Absent::Error) || spec.schema.clock == Some(place) {
                continue;
            }
            for event in &mut *events {
                event.fields.entry(place).or_insert_with(|| some(&field.ty));
            }
        }
    }

    pub(super) fn required(&self) -> impl Iterator<Item = Goal> {
        let sides = self.joint.sides.iter();
        sides.flat_map(|side| side.required.iter().map(|expr| (*expr, true)))
    }

    pub(super) fn set_times(&self, events: &mut [domain::Event], times: &[i128]) {
        let schema = &self.joint.spec.schema;
        let Some(clock) = schema.clock else { return };
        let needed = schema
            .fields
            .get(clock)
            .is_some_and(|field| matches!(field.absent, Absent::Error));
        for (place, event) in events.iter_mut().enumerate() {
            match times.get(place) {
                Some(time) => {
                    event.fields.insert(clock, Value::Time(Instant(*time)));
                }
                None if needed => {
                    let time = Instant::SECOND.saturating_mul(place as i128);
                    let time = Value::Time(Instant(time));
                    event.fields.entry(clock).or_insert(time);
                }
                None => {}
            }
        }
    }

    /// Whether events cannot be recorded as they are: two of the fields that matter are parts of one another, or the
    /// same place read in two ways.
    pub(super) fn is_contradictory(&self, events: &[domain::Event], roots: &[ExprId]) -> bool {
        let spec = &self.joint.spec;
        let set: Vec<usize> = events
            .iter()
            .flat_map(|event| event.fields.keys().copied())
            .collect();
        let mut all: Vec<usize> = set.clone();
        all.extend(reads(spec, roots.iter().copied()).fields);
        set.iter().any(|place| {
            let source = &spec.schema.fields[*place].source;
            all.iter()
                .any(|other| other != place && overlap(source, &spec.schema.fields[*other].source))
        })
    }

    /// Returns the events as they are reported, and keeps them: they may show other differences too.
    pub(super) fn witness(&mut self, events: &[domain::Event], at: Option<u32>) -> Witness {
        if !self.shown.iter().any(|known| known == events) {
            self.shown.push(events.to_vec());
        }
        let spec = &self.joint.spec;
        let json = |event: &domain::Event| {
            let members: Vec<String> = event
                .fields
                .iter()
                .filter_map(|(place, value)| {
                    let field = spec.schema.fields.get(*place)?;
                    let name = serde_json::Value::from(field.name.as_str());
                    Some(format!("{name}:{}", value_json(value, &spec.enums)))
                })
                .collect();
            format!("{{{}}}", members.join(","))
        };
        let text =
            |event: &domain::Event| written::record(spec, &spec.schema.fields, &event.fields);
        let meta = events.iter().find(|event| !event.meta.is_empty());
        Witness {
            events: events.iter().map(text).collect(),
            json: events.iter().map(json).collect(),
            meta: meta.map(|event| written::record(spec, &spec.schema.meta, &event.meta)),
            at,
        }
    }

    /// Returns the conditions of a formula.
    pub(super) fn conditions(&self, formula: FormulaId) -> Vec<ExprId> {
        let spec = &self.joint.spec;
        let atoms = spec.formulas.atoms_of(formula);
        atoms.into_iter().map(|atom| spec.atom(atom).expr).collect()
    }
}

/// Returns a record of these values, of the fields of the record and of each step.
fn record(
    [of_record, of_step]: [&[Field]; 2],
    meta: Vec<Option<Value>>,
    steps: Vec<Vec<Option<Value>>>,
) -> Record {
    let cells = |fields: &[Field], values: Vec<Option<Value>>| -> Box<[Cell]> {
        let cell = |(field, value): (&Field, Option<Value>)| match value {
            Some(value) => Cell::Known(value),
            None => written::absent(field),
        };
        fields.iter().zip(values).map(cell).collect()
    };
    Record {
        origin: Origin {
            file: "example".into(),
            below: "example".into(),
            line: 1,
            ordinal: 0,
        },
        id: None,
        complete: Some(true),
        meta: cells(of_record, meta),
        steps: steps
            .into_iter()
            .zip(0..)
            .map(|(values, index)| Step {
                index,
                cells: cells(of_step, values),
            })
            .collect(),
        problems: Vec::new(),
    }
}

/// Returns a spec without clauses about models: their numbers are not known.
pub(super) fn without_models(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    spec.enforces
        .retain(|clause| !matches!(clause.watched, Watched::Query(_)));
    spec
}

/// Returns some value of a type.
fn some(ty: &Type) -> Value {
    match ty {
        Type::Bool => Value::Bool(false),
        Type::Int | Type::Float => Value::int(0),
        Type::String => Value::string("other"),
        Type::Time => Value::Time(Instant(0)),
        Type::Duration => Value::Duration(Instant(0)),
        Type::List(_) => Value::list(Vec::new()),
        Type::Set(_) => Value::Set(Default::default()),
        Type::Map(_) | Type::Record(_) => Value::Object(Default::default()),
        Type::Enum(of) => Value::Enum(EnumValue {
            of: of.number,
            index: 0,
        }),
        Type::Json | Type::Nullable(_) | Type::Null | Type::Error => Value::Null,
    }
}

/// Whether two fields may be read from places one of which contains the other.
fn overlap(lhs: &FieldSource, rhs: &FieldSource) -> bool {
    let (lhs, rhs) = match (lhs, rhs) {
        (FieldSource::Event(lhs), FieldSource::Event(rhs))
        | (FieldSource::Each(lhs), FieldSource::Each(rhs)) => (lhs, rhs),
        // The element of a list that is itself part of the event.
        (FieldSource::Event(_), FieldSource::Each(_))
        | (FieldSource::Each(_), FieldSource::Event(_))
        | (FieldSource::Origin(_), _)
        | (_, FieldSource::Origin(_)) => return false,
    };
    match (lhs, rhs) {
        (Path::Pointer(lhs), Path::Pointer(rhs)) => {
            lhs.iter().zip(rhs).all(|(lhs, rhs)| lhs == rhs)
        }
        _ => match (first_member(lhs), first_member(rhs)) {
            (Some(lhs), Some(rhs)) => lhs == rhs,
            _ => true,
        },
    }
}

/// Returns the member of the event that a path begins with, if that is certain.
fn first_member(path: &Path) -> Option<SmolStr> {
    match path {
        Path::Pointer(tokens) => tokens.first().cloned(),
        Path::JsonPath(text) => {
            let rest = text.strip_prefix("$.")?;
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .unwrap_or(rest.len());
            (end > 0).then(|| SmolStr::new(&rest[..end]))
        }
    }
}
