//! Conversion of events from text to cells, and the treatment of unreadable text.

use std::sync::Arc;

use smol_str::SmolStr;

use super::damaged::{self, LOST, Pieces};
use super::decision::Decision;
use super::envelope::{Envelope, Request};
use super::lenient::{DEEPEST, UNREAD};
use super::live::Monitor;
use super::repair::repaired;
use super::reserve::Proposal;
use crate::input::projection::ReadOutcome;
use crate::input::record::{Event, Origin, RawRecord, Step, Unit};
use crate::input::spread::Facts;
use crate::input_schema::Field;
use crate::problem::{Problem, ProblemKind};
use crate::value::{Cell, Instant, Value};

impl Monitor {
    /// Returns a line that contains the words of an envelope and is not JSON. If it reports an event that happened, the
    /// event is recorded.
    pub(super) fn repaired_line(
        &mut self,
        line: &[u8],
        why: String,
        now: Option<Instant>,
    ) -> Decision {
        let depth = self.options.input.depth().saturating_add(1);
        let text = repaired(line, depth);
        let envelope = text.as_ref().map(|text| Envelope::read(text, self.own));
        let Some(Ok(Envelope { request, event })) = envelope else {
            return self.salvaged_line(line, why, now);
        };
        if !request.states() {
            return self.unreadable(why);
        }
        match (request, self.read_repaired(event, why)) {
            (Request::Commit(number), Ok(Unit::Event(event))) => self.committed(number, event, now),
            (_, Ok(Unit::Event(event))) => self.happened(event, now),
            (_, Ok(_)) => self.whole_trace(),
            (_, Err(why)) => self.salvaged_line(line, why, now),
        }
    }

    /// Returns the decision on a line that is not JSON, whatever is replaced in it: a key may be wrong, or a comma. If members can
    /// be distinguished that say that an event happened, the event is recorded with those of its own.
    fn salvaged_line(&mut self, line: &[u8], why: String, now: Option<Instant>) -> Decision {
        let reported = damaged::pieces(line).and_then(|pieces| self.reported(line, pieces));
        let salvaged = reported.and_then(|(request, event)| {
            let event = self.salvaged(&event, &why).or_else(|| {
                let Request::Commit(number) = request else {
                    return None;
                };
                let proposal = self.proposals.get(&number)?;
                Some(self.event_of(proposal, Some(why.clone())))
            })?;
            Some((request, event))
        });
        match salvaged {
            Some((Request::Commit(number), event)) => self.committed(number, event, now),
            Some((_, event)) => self.happened(event, now),
            None => self.unreadable(why),
        }
    }

    /// Returns the event that a damaged line reports, as it stands, and how; `None` if the line may ask for a decision.
    fn reported(&self, line: &[u8], pieces: Pieces) -> Option<(Request, Vec<u8>)> {
        let Pieces {
            mut members,
            has_all_keys,
        } = pieces;
        let has = |name: &str| members.iter().any(|(key, _)| key == name);
        let is_envelope = has("phase") && has("event");
        let has_words = has("phase") || has("event");
        let is_bare = has_all_keys && (self.own.any() || !has_words);
        if !is_envelope && !is_bare {
            return None;
        }
        // What else was found beside these may be a part of a damaged event.
        if is_envelope && !self.own.any() {
            members.retain(|(key, _)| ENVELOPE.contains(&key.as_str()));
        }
        let read = |(key, value): &(String, String)| {
            let value = match value.as_str() {
                value if damaged::is_value(value, DEEPEST) => value,
                value if value.starts_with('{') => "{}",
                _ => UNREAD,
            };
            (key != "phase" || value != UNREAD).then(|| (key.clone(), value.to_owned()))
        };
        let outline: Vec<(String, String)> = members.iter().map(read).collect::<Option<_>>()?;
        let outline = damaged::object(outline.into_iter());
        let Envelope { request, event } = Envelope::read(outline.as_bytes(), self.own).ok()?;
        if event.len() == outline.len() {
            return Some((request, line.to_owned()));
        }
        let event = members.into_iter().find(|(key, _)| key == "event")?.1;
        request.states().then(|| (request, event.into_bytes()))
    }

    /// Returns the event in a damaged object that ends. Its members that are no JSON, and what fields read from others than its
    /// members, are unknown: any of these may be in the damaged part. `None` if so may be the name of its trace.
    fn salvaged(&mut self, bytes: &[u8], why: &str) -> Option<Event> {
        let mut members = damaged::pieces(bytes)?.members;
        let depth = self.options.input.depth().saturating_sub(1);
        for (_, value) in &mut members {
            // An object with missing members is unknown as a whole: a field may read one of them.
            if !damaged::is_value(value, depth) || damaged::is_cut(value.as_bytes()) {
                UNREAD.clone_into(value);
            }
        }
        // The last one stands for what may have any name: it makes a value of the whole event unknown, and what is searched for in it.
        for name in self.first_names().chain([LOST.to_owned()]) {
            if members.iter().all(|(key, _)| *key != name) {
                members.push((name, UNREAD.to_owned()));
            }
        }
        let text = damaged::object(members.into_iter());
        let Ok(Unit::Event(mut event)) = self.read(text.as_bytes()) else {
            return None;
        };
        // The name of its trace may be in the damaged part, too, unless no trace has had a name.
        let is_unnamed = |name: &SmolStr| name.is_empty();
        let are_unnamed = !self.traces.is_empty() && self.traces.keys().all(is_unnamed);
        if event.trace.is_none() && (self.ended_named || !are_unnamed) {
            return None;
        }
        event.problems.push(self.problem(why.to_owned()));
        Some(event)
    }

    /// Reads an event that happened. Unreadable parts are unknown.
    pub(super) fn read_outcome(&mut self, bytes: &[u8]) -> Result<Unit, String> {
        if damaged::is_cut(bytes) {
            let event = self.salvaged(bytes, "the event was cut off");
            let lost = "the event was cut off, and the name of its trace may be in what is missing";
            return event.map(Unit::Event).ok_or_else(|| lost.to_owned());
        }
        let why = match self.read(bytes) {
            Ok(unit) => return Ok(unit),
            Err(why) => why,
        };
        let read = match repaired(bytes, self.options.input.depth()) {
            Some(text) => self.read_repaired(&text, why),
            None => Err(why),
        };
        read.or_else(|why| match self.salvaged(bytes, &why) {
            Some(event) => Ok(Unit::Event(event)),
            None => Err(why),
        })
    }

    /// Reads the text of an event in which unreadable parts were replaced; `why` describes these.
    fn read_repaired(&mut self, text: &[u8], why: String) -> Result<Unit, String> {
        let Ok(Unit::Event(mut event)) = self.read(text) else {
            return Err(why);
        };
        // `why` says what was replaced, and the replacements would say something else about it.
        event
            .problems
            .retain(|problem| problem.kind != ProblemKind::InvalidUtf8);
        event.problems.push(self.problem(why));
        Ok(Unit::Event(event))
    }

    pub(super) fn problem(&self, message: String) -> Problem {
        Problem {
            kind: ProblemKind::Malformed,
            file: Arc::clone(&self.file.path),
            line: 0,
            trace: None,
            step: None,
            field: None,
            message,
        }
    }

    /// Returns the event of a proposal, with `why` as the reason why the event itself could not be read.
    pub(super) fn event_of(&self, proposal: &Proposal, why: Option<String>) -> Event {
        Event {
            trace: Some(proposal.trace.clone()),
            origin: Origin {
                file: Arc::clone(&self.file.path),
                below: Arc::clone(&self.file.below),
                line: 0,
                ordinal: 0,
            },
            meta: Facts::from(proposal.meta.clone()),
            steps: (proposal.steps.iter())
                .map(|cells| Step {
                    index: 0,
                    cells: cells.clone(),
                })
                .collect(),
            count: 1,
            problems: why.map(|why| self.problem(why)).into_iter().collect(),
        }
    }

    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<Unit, String> {
        self.outcomes.clear();
        let raw = RawRecord::new(bytes);
        self.projection
            .read(&raw, &self.file, &mut self.buffers, &mut self.outcomes);
        self.buffers.shrink();
        let mut read = self.outcomes.drain(..);
        match (read.next(), read.next()) {
            (Some(ReadOutcome::Unit(mut unit)), None) => {
                drop(read);
                if let Unit::Event(event) = &mut unit {
                    self.doubt_rounded(event);
                }
                Ok(unit)
            }
            (Some(ReadOutcome::Refused(problem) | ReadOutcome::LeftOut(problem)), _) => {
                Err(problem_message(&problem))
            }
            (Some(_), Some(_)) => Err("more than one event on a line".to_owned()),
            (None, _) => Err("no event on this line".to_owned()),
        }
    }

    /// Sets fields to unknown whose integers some readers take for others: what runs may be another action than the one that is judged.
    /// Recordings keep them, since there they are compared with each other alone.
    fn doubt_rounded(&self, event: &mut Event) {
        let schema = &self.program.spec().schema;
        let mut doubt = |cell: &mut Cell, field: &Field| {
            if matches!(cell, Cell::Known(value) if is_rounded(value)) {
                *cell = Cell::Unknown;
                event.problems.push(Problem {
                    kind: ProblemKind::Number,
                    field: Some(field.name.clone()),
                    ..self.problem(ROUNDED.to_owned())
                });
            }
        };
        for (at, field) in schema.meta.iter().enumerate() {
            if let Some(cell) = event.meta.get_mut(at) {
                doubt(cell, field);
            }
        }
        for step in &mut event.steps {
            for (cell, field) in step.cells.iter_mut().zip(&schema.fields) {
                doubt(cell, field);
            }
        }
    }

    /// Sets the fields that exist only after an action to unknown.
    pub(super) fn await_outcomes(&self, event: &mut Event) {
        if self.awaited.is_empty() {
            return;
        }
        let fields = &self.program.spec().schema.fields;
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
}

/// The members of envelopes.
const ENVELOPE: [&str; 3] = ["phase", "event", "proposal"];

/// The reason why a field with such an integer is unknown.
const ROUNDED: &str = "is or contains an integer that some readers round";

/// Whether readers that have only floats take an integer in a value for another one.
fn is_rounded(value: &Value) -> bool {
    match value {
        Value::Number(number) => !number.is_exact_float(),
        Value::List(items) => items.iter().any(is_rounded),
        Value::Set(items) => items.iter().any(is_rounded),
        Value::Object(members) => members.iter().any(|(_, value)| is_rounded(value)),
        _ => false,
    }
}

/// Returns the message of a problem for a decision.
pub(super) fn problem_message(problem: &Problem) -> String {
    match &problem.field {
        Some(field) => format!("field `{field}`: {}", problem.message),
        None => problem.message.clone(),
    }
}
