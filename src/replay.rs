//! A recorded trace step by step: what was recorded, which conditions held, where the automata and tracks stood.
//!
//! Input: a spec and records; output: JSON for the pages of `guard audit --format html` and `guard view`, in the layout that
//! [`Replay::schema`] describes.
//!
//! # Limits
//! Conditions on quantified variables have no single value, so they are left out. Long values and long traces are cut at
//! [`Limits`], and say so.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::eval::{self, LimitError, Observed, Program, TraceSource};
use crate::hir::reads::reads;
use crate::hir::{Expr, Spec, print};
use crate::ids::{AtomId, ExprId, PropertyId, TrackId};
use crate::input::record::Record;
use crate::report::html::{letter, tame};
use crate::value::{Cell, Truth, Value};

/// The limits of one trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Steps.
    pub(crate) steps: usize,
    /// Bytes of one value.
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
    /// Per atom: its place among the observed expressions; `None` for conditions on quantified variables.
    atoms: Vec<Option<usize>>,
    /// The tracks without parameters, with their places.
    tracks: Vec<(TrackId, usize)>,
    limits: Limits,
}

impl Replay {
    /// Compiles a spec for replays.
    ///
    /// # Errors
    /// A formula is beyond the limits on automata.
    pub(crate) fn new(
        spec: &Spec,
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
        Ok(Replay {
            program: Program::observing(Arc::new(spec), &observed, eval)?,
            atoms,
            tracks,
            limits,
        })
    }

    /// Returns the names that details refer to by number: fields, fields of the record, conditions with the properties that
    /// they are part of, tracks; and the field by which steps are coloured.
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
                json!({"t": tame(&text.join(" ")), "p": properties})
            })
            .collect();
        let tracks: Vec<&str> = self
            .tracks
            .iter()
            .map(|(id, _)| spec.track(*id).name.as_str())
            .collect();
        let of = |fields: &[crate::input_schema::Field]| -> Vec<Json> {
            fields.iter().map(|field| tame(&field.name)).collect()
        };
        json!({
            "fields": of(fields),
            "meta": of(&spec.schema.meta),
            "kind": kind,
            "atoms": atoms,
            "tracks": tracks,
        })
    }

    /// Returns a trace step by step: its steps `s` with index and fields, the fields of its record `m`, the values of
    /// conditions `a` and tracks `k`, and the verdicts `w` and states of automata `q` of each property.
    pub(crate) fn detail(&self, record: &Record) -> String {
        let spec = self.program.spec();
        let n_properties = spec.properties.len();
        let mut steps: Vec<Json> = Vec::new();
        let mut atoms: Vec<Option<String>> = self
            .atoms
            .iter()
            .map(|place| place.map(|_| String::new()))
            .collect();
        let mut tracks: Vec<Vec<Json>> = vec![Vec::new(); self.tracks.len()];
        let mut verdicts: Vec<String> = vec![String::new(); n_properties];
        let mut states: Vec<Vec<Option<u32>>> = vec![Vec::new(); n_properties];
        let mut observer = self.program.observe(TraceSource {
            origin: record.origin.clone(),
            id: record.id.clone(),
            meta: record.meta.clone(),
        });
        let mut cut = None;
        for step in &record.steps {
            if steps.len() >= self.limits.steps {
                cut = Some(format!(
                    "The first {} of {} steps are shown.",
                    steps.len(),
                    record.steps.len()
                ));
                break;
            }
            let seen = observer.step(step, |look| {
                for (text, place) in atoms.iter_mut().zip(&self.atoms) {
                    if let (Some(text), Some(place)) = (text, place) {
                        text.push(match look.truth(*place) {
                            Truth::True => '1',
                            Truth::False => '0',
                            Truth::Unknown => '?',
                        });
                    }
                }
                for (values, (_, place)) in tracks.iter_mut().zip(&self.tracks) {
                    let text = look.value(*place, |value| {
                        value.map_or_else(|| "?".to_owned(), |value| self.text(value, 80))
                    });
                    values.push(tame(&text.unwrap_or_else(|| "?".to_owned())));
                }
                for idx in 0..n_properties {
                    let code = letter(look.verdict(PropertyId::new(idx)));
                    verdicts[idx].push(char::from(code));
                    states[idx].push(look.monitor(idx));
                }
            });
            match seen {
                Observed::NoStep => continue,
                Observed::Step(()) => {}
                Observed::Ambiguous => {
                    atoms.iter_mut().flatten().for_each(|text| text.push('?'));
                    tracks.iter_mut().for_each(|values| values.push(json!("?")));
                    verdicts.iter_mut().for_each(|text| text.push('u'));
                    states.iter_mut().for_each(|states| states.push(None));
                }
            }
            let fields = self.fields(&step.cells);
            steps.push(json!({"i": step.index, "f": fields}));
        }
        let states: Vec<Option<Vec<Option<u32>>>> = states
            .into_iter()
            .map(|states| states.iter().any(Option::is_some).then_some(states))
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

    /// Returns the values that are recorded: the number of the field, and the value as text.
    fn fields(&self, cells: &[Cell]) -> Vec<Json> {
        let told = |(place, cell): (usize, &Cell)| match cell {
            Cell::Known(Value::Null) => None,
            Cell::Known(value) => Some(json!([place, tame(&self.text(value, self.limits.value))])),
            Cell::Unknown => Some(json!([place, "(unknown)"])),
        };
        cells.iter().enumerate().filter_map(told).collect()
    }

    fn text(&self, value: &Value, most: usize) -> String {
        let mut text = match value {
            Value::String(text) => text.to_string(),
            other => print::value(other, &self.program.spec().enums),
        };
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
}
