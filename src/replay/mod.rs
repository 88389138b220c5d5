//! A recorded trace step by step: the recorded values, the conditions that held, and the states of automata and tracks.
//!
//! Input: a spec and records; output: the [`Steps`] of a record; the same as JSON for the pages of `guard audit --format html`
//! and `guard view`, in the layout that [`Replay::schema`] describes; and a [`Timeline`] for debuggers and editors.
//!
//! # Limits
//! Conditions on quantified variables have no single value, so they are left out. Long values and long traces are cut at
//! [`Limits`], with a note.

mod timeline;

use std::fmt::Write;
use std::sync::Arc;

use guard_automata::Dfa;
use serde_json::{Value as Json, json};
use smol_str::SmolStr;

use crate::eval::{self, LimitError, Observed, Program, TraceSource};
use crate::hir::reads::reads;
use crate::hir::{Expr, Spec, print};
use crate::ids::{AtomId, ExprId, PropertyId, TrackId};
use crate::input::record::Record;
use crate::report::html::{letter, tame};
use crate::value::{Cell, Truth, Value};
use crate::verdict::{TraceReport, Verdict};

pub(crate) use timeline::{Timeline, Watch};

/// Bytes of the definition of a condition or track.
const MEANING: usize = 400;

/// The limits of one trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The greatest number of steps.
    pub(crate) steps: usize,
    /// The greatest number of bytes of one value.
    pub(crate) value: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            steps: 2_000,
            value: 4_000,
        }
    }
}

/// Replays the traces of a spec.
#[derive(Debug)]
pub(crate) struct Replay {
    program: Program,
    /// For each atom: its index among the observed expressions; `None` for conditions on quantified variables.
    atoms: Vec<Option<usize>>,
    /// The tracks without parameters, with their indices among the observed expressions.
    tracks: Vec<(TrackId, usize)>,
    /// The indices of the further expressions.
    values: Vec<usize>,
    limits: Limits,
}

/// The steps of a record that are steps of the trace.
#[derive(Debug)]
pub(crate) struct Steps {
    pub(crate) steps: Vec<StepValues>,
    /// A sentence that says which steps are left out, if the trace is longer than the limit.
    pub(crate) cut: Option<String>,
}

/// The values at a step.
#[derive(Debug)]
pub(crate) struct StepValues {
    /// The position in the steps of the record.
    pub(crate) place: usize,
    /// The truth of each atom; `None` for those that are not observed.
    pub(crate) atoms: Vec<Option<Truth>>,
    /// The value of each track without parameters.
    pub(crate) tracks: Vec<Cell>,
    /// The value of each further expression.
    pub(crate) values: Vec<Cell>,
    /// The current verdict on each property.
    pub(crate) verdicts: Vec<Verdict>,
    /// The state of the automaton of each property, if it has one and is in a single state.
    pub(crate) states: Vec<Option<u32>>,
}

impl Replay {
    /// Compiles a spec for replays.
    ///
    /// # Errors
    /// A formula exceeds the limits on automata.
    pub(crate) fn new(
        spec: &Spec,
        eval: &eval::Limits,
        limits: Limits,
    ) -> Result<Replay, LimitError> {
        Replay::observing(spec, &[], eval, limits)
    }

    /// Compiles a spec with further expressions to observe, which must not read quantified variables.
    ///
    /// # Errors
    /// As [`Replay::new`].
    pub(crate) fn observing(
        spec: &Spec,
        further: &[ExprId],
        eval: &eval::Limits,
        limits: Limits,
    ) -> Result<Replay, LimitError> {
        let mut spec = spec.clone();
        let mut observed: Vec<ExprId> = Vec::new();
        let mut atoms = Vec::new();
        for place in 0..spec.formulas.atoms().len() {
            let expr = spec.atom(AtomId::new(place)).expr;
            let read = reads(&spec, [expr]);
            let is_used = spec.properties.iter().any(|property| {
                spec.formulas
                    .atoms_of(property.formula)
                    .contains(&AtomId::new(place))
            });
            atoms.push((is_used && read.vars.is_empty()).then(|| {
                observed.push(expr);
                observed.len() - 1
            }));
        }
        let mut tracks = Vec::new();
        for place in 0..spec.tracks.len() {
            let id = TrackId::new(place);
            if spec.track(id).params.is_empty() {
                let ty = spec.track(id).ty.clone();
                observed.push(spec.exprs.add(Expr::Track(id, Box::default()), ty));
                tracks.push((id, observed.len() - 1));
            }
        }
        let values = (observed.len()..).take(further.len()).collect();
        observed.extend(further);
        Ok(Replay {
            program: Program::observing(Arc::new(spec), &observed, eval)?,
            atoms,
            tracks,
            values,
            limits,
        })
    }

    /// Returns the spec.
    pub(crate) fn spec(&self) -> &Spec {
        self.program.spec()
    }

    /// Returns the number of states of the automaton of a property, if it has one.
    pub(crate) fn n_states(&self, property: PropertyId) -> Option<usize> {
        self.program.dfa(property).map(Dfa::len)
    }

    /// Returns the name of the trace of a record; `None` if `records where` rejects the record.
    pub(crate) fn name(&self, record: &Record) -> Option<SmolStr> {
        if self.program.is_trace(&record.meta) == Truth::False {
            return None;
        }
        Some(self.program.name(&source(record)))
    }

    /// Judges the whole record. Returns `None` if `records where` rejects it.
    pub(crate) fn judge(&self, record: Record) -> Option<TraceReport> {
        self.program.judge(record)
    }

    /// Returns the value of a track before the first event.
    pub(crate) fn initial(&self, track: usize, record: &Record) -> Cell {
        let place = self.tracks.get(track).map(|(_, place)| *place);
        place.map_or(Cell::Unknown, |place| {
            self.program.initially(place, &record.meta)
        })
    }

    /// Returns the tracks without parameters, in the order of [`StepValues::tracks`].
    pub(crate) fn tracks(&self) -> impl Iterator<Item = TrackId> {
        self.tracks.iter().map(|(id, _)| *id)
    }

    /// Steps through a record, up to the limit on steps.
    pub(crate) fn steps(&self, record: &Record) -> Steps {
        let n_properties = self.spec().properties.len();
        let mut observer = self.program.observe(source(record));
        let mut all = Steps {
            steps: Vec::new(),
            cut: None,
        };
        for (place, step) in record.steps.iter().enumerate() {
            if all.steps.len() >= self.limits.steps {
                all.cut = Some(format!(
                    "The first {} of {} steps are shown.",
                    all.steps.len(),
                    record.steps.len()
                ));
                break;
            }
            let seen = observer.step(step, |look| {
                let mut cell = |place: usize| {
                    let value = look.value(place, |value| value.cloned()).flatten();
                    value.map_or(Cell::Unknown, Cell::Known)
                };
                let tracks = self.tracks.iter().map(|(_, place)| cell(*place)).collect();
                let values = self.values.iter().map(|place| cell(*place)).collect();
                let atoms = self.atoms.iter();
                StepValues {
                    place,
                    tracks,
                    values,
                    atoms: atoms
                        .map(|place| place.map(|place| look.truth(place)))
                        .collect(),
                    verdicts: (0..n_properties)
                        .map(|idx| look.verdict(PropertyId::new(idx)))
                        .collect(),
                    states: (0..n_properties).map(|idx| look.monitor(idx)).collect(),
                }
            });
            match seen {
                Observed::NoStep => {}
                Observed::Step(values) => all.steps.push(values),
                Observed::Ambiguous => all.steps.push(StepValues {
                    place,
                    atoms: self
                        .atoms
                        .iter()
                        .map(|place| place.map(|_| Truth::Unknown))
                        .collect(),
                    tracks: vec![Cell::Unknown; self.tracks.len()],
                    values: vec![Cell::Unknown; self.values.len()],
                    verdicts: vec![Verdict::Unknown; n_properties],
                    states: vec![None; n_properties],
                }),
            }
        }
        all
    }

    /// Returns the names that details refer to by number: fields, fields of the record, conditions with their definitions and the
    /// properties that they are part of, tracks with their updates; and the field by which steps are coloured.
    pub(crate) fn schema(&self) -> Json {
        let spec = self.program.spec();
        let fields = &spec.schema.fields;
        let names = ["kind", "role", "type", "event", "name", "action"];
        let kind = names
            .iter()
            .find_map(|name| fields.iter().position(|field| field.name == *name));
        let atoms: Vec<Json> = (0..self.atoms.len())
            .map(|place| {
                let id = AtomId::new(place);
                let of = |(idx, property): (usize, &crate::hir::Property)| {
                    let atoms = spec.formulas.atoms_of(property.formula);
                    atoms.contains(&id).then_some(idx)
                };
                let properties: Vec<usize> =
                    spec.properties.iter().enumerate().filter_map(of).collect();
                let text = spec.atom(id).text.split_whitespace().collect::<Vec<_>>();
                let first = properties.first().map(|place| &spec.properties[*place]);
                let quantified = first.and_then(|property| property.quantified.as_ref());
                let vars: Vec<SmolStr> = quantified
                    .iter()
                    .flat_map(|of| of.vars.iter().map(|var| var.name.clone()))
                    .collect();
                let means = print::expr(spec, spec.atom(id).expr, &vars, MEANING);
                json!({"t": tame(&text.join(" ")), "p": properties, "d": tame(&means)})
            })
            .collect();
        let tracks: Vec<&str> = self
            .tracks
            .iter()
            .map(|(id, _)| spec.track(*id).name.as_str())
            .collect();
        let updates: Vec<Json> = self
            .tracks
            .iter()
            .map(|(id, _)| tame(&print::expr(spec, spec.track(*id).update, &[], MEANING)))
            .collect();
        let of = |fields: &[crate::input_schema::Field]| -> Vec<Json> {
            fields.iter().map(|field| tame(&field.name)).collect()
        };
        json!({
            "fields": of(fields),
            "meta": of(&spec.schema.meta),
            "kind": kind,
            "clock": spec.schema.clock,
            "atoms": atoms,
            "tracks": tracks,
            "updates": updates,
        })
    }

    /// Returns a trace step by step: its steps `s` with index and fields, the fields of its record `m`, the values of
    /// conditions `a` and tracks `k`, and the verdicts `w` and states of automata `q` of each property.
    pub(crate) fn detail(&self, record: &Record) -> String {
        let spec = self.program.spec();
        let Steps { steps, cut } = self.steps(record);
        let atoms: Vec<Option<String>> = (0..self.atoms.len())
            .map(|atom| {
                let truths = steps.iter().map(|step| step.atoms[atom]);
                self.atoms[atom]?;
                Some(truths.flatten().map(digit).collect())
            })
            .collect();
        let tracks: Vec<Vec<Json>> = (0..self.tracks.len())
            .map(|track| {
                let values = steps.iter().map(|step| match &step.tracks[track] {
                    Cell::Known(value) => tame(&self.text(value, 80)),
                    Cell::Unknown => json!("?"),
                });
                values.collect()
            })
            .collect();
        let properties = 0..spec.properties.len();
        let verdicts: Vec<String> = properties
            .clone()
            .map(|idx| {
                let codes = steps.iter().map(|step| letter(step.verdicts[idx]));
                codes.map(char::from).collect()
            })
            .collect();
        let states: Vec<Option<Vec<Option<u32>>>> = properties
            .map(|idx| {
                let states: Vec<_> = steps.iter().map(|step| step.states[idx]).collect();
                states.iter().any(Option::is_some).then_some(states)
            })
            .collect();
        let steps: Vec<Json> = steps
            .iter()
            .map(|step| {
                let step = &record.steps[step.place];
                json!({"i": step.index, "f": self.fields(&step.cells)})
            })
            .collect();
        let told = json!({
            "s": steps,
            "m": self.fields(&record.meta),
            "a": atoms,
            "k": tracks,
            "w": verdicts,
            "q": states,
            "cut": cut,
        });
        told.to_string()
    }

    /// Returns the recorded values: the number of the field, and the value as text.
    fn fields(&self, cells: &[Cell]) -> Vec<Json> {
        let told = |(place, cell): (usize, &Cell)| match cell {
            Cell::Known(Value::Null) => None,
            Cell::Known(value) => Some(json!([place, tame(&self.text(value, self.limits.value))])),
            Cell::Unknown => Some(json!([place, "(unknown)"])),
        };
        cells.iter().enumerate().filter_map(told).collect()
    }

    fn text(&self, value: &Value, most: usize) -> String {
        let text = match value {
            Value::String(text) => text.to_string(),
            other => print::value(other, &self.program.spec().enums),
        };
        cut(text, most)
    }
}

fn source(record: &Record) -> TraceSource {
    TraceSource {
        origin: record.origin.clone(),
        id: record.id.clone(),
        meta: record.meta.clone(),
    }
}

fn digit(truth: Truth) -> char {
    match truth {
        Truth::True => '1',
        Truth::False => '0',
        Truth::Unknown => '?',
    }
}

/// Cuts a text to at most this many bytes, and appends its full length.
pub(crate) fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        let whole = text.len();
        let mut end = most;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        let _ = write!(text, "… ({whole} bytes)");
    }
    text
}
