//! A recorded trace with its values by step, for debuggers and editors: the values at a step, and the steps at which they
//! change.
//!
//! Moments are numbered from 0: one for each step of the trace, and one for its end, where only verdicts are new.

use smol_str::SmolStr;

use super::{Limits, Replay, StepValues, Steps, cut};
use crate::eval::{self, LimitError};
use crate::hir::{Property, Spec, print};
use crate::ids::{ExprId, PropertyId};
use crate::input::record::{Record, Step};
use crate::report::tally::per_property;
use crate::source::Span;
use crate::value::{Cell, Instant, Truth, Value};
use crate::verdict::{PropertyVerdict, TraceReport, Verdict};

/// A trace with its values by step.
#[derive(Debug)]
pub(crate) struct Timeline {
    replay: Replay,
    record: Record,
    steps: Steps,
    report: TraceReport,
}

/// A value that can be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// A predicate or definition, by its place in [`Outline::values`](crate::hir::Outline::values).
    Definition(usize),
    /// A track, by its place among those without parameters.
    Track(usize),
    /// The verdict on a property.
    Property(PropertyId),
    /// A step of a test, by its place in the record.
    Step(usize),
}

impl Timeline {
    /// Returns the replay of a spec in which every predicate, definition and track without parameters is observed.
    ///
    /// # Errors
    /// A formula exceeds the limits on automata.
    pub(crate) fn replay(
        spec: &Spec,
        eval: &eval::Limits,
        limits: Limits,
    ) -> Result<Replay, LimitError> {
        let values = spec.outline.values.iter();
        let values: Vec<ExprId> = values.map(|definition| definition.expr).collect();
        Replay::observing(spec, &values, eval, limits)
    }

    /// Steps through a record with a replay from [`Timeline::replay`]. Returns `None` if `records where` rejects the
    /// record.
    pub(crate) fn new(replay: Replay, record: Record) -> Option<Timeline> {
        let report = replay.judge(record.clone())?;
        let steps = replay.steps(&record);
        Some(Timeline {
            replay,
            record,
            steps,
            report,
        })
    }

    pub(crate) fn spec(&self) -> &Spec {
        self.replay.spec()
    }

    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    /// Returns the name of the trace.
    pub(crate) fn name(&self) -> &SmolStr {
        &self.report.trace
    }

    /// Returns the judgement of the whole trace.
    pub(crate) fn report(&self) -> &TraceReport {
        &self.report
    }

    /// Returns the sentence that says which steps are left out.
    pub(crate) fn cut(&self) -> Option<&str> {
        self.steps.cut.as_deref()
    }

    /// Returns the moment of the end, which is the number of steps.
    pub(crate) fn end(&self) -> usize {
        self.steps.steps.len()
    }

    /// Returns the values at a moment; `None` at the end.
    pub(crate) fn values(&self, at: usize) -> Option<&StepValues> {
        self.steps.steps.get(at)
    }

    /// Returns the step at a moment; `None` at the end.
    pub(crate) fn step(&self, at: usize) -> Option<&Step> {
        self.record.steps.get(self.values(at)?.place)
    }

    /// Returns a value at a moment; at the end, the value at the last step. `None` for verdicts and steps, and in a
    /// trace without steps.
    pub(crate) fn value(&self, watch: Watch, at: usize) -> Option<&Cell> {
        let values = self.values(at).or_else(|| self.steps.steps.last())?;
        match watch {
            Watch::Definition(place) => values.values.get(place),
            Watch::Track(place) => values.tracks.get(place),
            Watch::Property(_) | Watch::Step(_) => None,
        }
    }

    /// Returns the verdict on a property at a moment: the current one, or at the end the one on the whole trace.
    pub(crate) fn verdict(&self, property: PropertyId, at: usize) -> Verdict {
        if let Some(values) = self.values(at) {
            let verdict = values.verdicts.get(property.index());
            return verdict.copied().unwrap_or(Verdict::Unknown);
        }
        let all = per_property(&self.report.verdicts);
        let own = all.iter().find(|(judged, _, _)| *judged == property);
        own.map_or(Verdict::Unknown, |(_, verdict, _)| *verdict)
    }

    /// Returns the verdicts on the whole trace that violate a property: one for each violated instance.
    pub(crate) fn violations(
        &self,
        property: PropertyId,
    ) -> impl Iterator<Item = &PropertyVerdict> {
        let all = self.report.verdicts.iter();
        all.filter(move |found| found.property == property && found.verdict == Verdict::Violated)
    }

    /// Whether a change occurs at a moment: a predicate becomes true, another value changes, or a verdict changes (at the first
    /// step: is final).
    pub(crate) fn begins(&self, watch: Watch, at: usize) -> bool {
        let before = at.checked_sub(1);
        match watch {
            Watch::Definition(place) => {
                let is_predicate = self.spec().outline.values.get(place);
                let is_predicate = is_predicate.is_some_and(|definition| definition.is_predicate);
                let now = self.values(at).and_then(|values| values.values.get(place));
                let past = before.and_then(|before| self.value(watch, before));
                match is_predicate {
                    true => now == Some(&TRUE) && past != Some(&TRUE),
                    false => now.is_some() && past.is_some() && now != past,
                }
            }
            Watch::Track(place) => {
                let Some(now) = self.values(at).and_then(|values| values.tracks.get(place)) else {
                    return false;
                };
                match before {
                    Some(before) => self.value(watch, before) != Some(now),
                    None => self.replay.initial(place, &self.record) != *now,
                }
            }
            Watch::Property(property) => {
                let now = self.verdict(property, at);
                match before {
                    Some(before) => self.verdict(property, before) != now,
                    None => now.is_final(),
                }
            }
            Watch::Step(place) => self.values(at).is_some_and(|values| values.place == place),
        }
    }

    /// Returns the properties whose violation begins at a moment.
    pub(crate) fn violated_at(&self, at: usize) -> impl Iterator<Item = PropertyId> {
        (0..self.spec().properties.len())
            .map(PropertyId::new)
            .filter(move |property| {
                self.verdict(*property, at) == Verdict::Violated
                    && self.begins(Watch::Property(*property), at)
            })
    }

    /// Returns everything of the spec that can be watched, with its name and the span of its declaration.
    pub(crate) fn watches(&self) -> Vec<(Watch, SmolStr, Span)> {
        let spec = self.spec();
        let definitions = spec.outline.values.iter().enumerate();
        let definitions = definitions.map(|(place, definition)| {
            let name = definition.name.clone();
            (Watch::Definition(place), name, definition.span)
        });
        let tracks = self.replay.tracks().enumerate().map(|(place, id)| {
            let track = spec.track(id);
            (Watch::Track(place), track.name.clone(), track.span)
        });
        let properties = spec.properties.iter().enumerate();
        let properties = properties.map(|(place, property)| {
            let watch = Watch::Property(PropertyId::new(place));
            (watch, property.name.clone(), property.span)
        });
        definitions.chain(tracks).chain(properties).collect()
    }

    /// Returns the conditions of a property with their truth at a moment; those on quantified variables have none.
    pub(crate) fn conditions(&self, property: &Property, at: usize) -> Vec<(SmolStr, Truth)> {
        let spec = self.spec();
        let Some(values) = self.values(at) else {
            return Vec::new();
        };
        let atoms = spec.formulas.atoms_of(property.formula).into_iter();
        atoms
            .filter_map(|atom| {
                let truth = values.atoms.get(atom.index()).copied().flatten()?;
                let text: Vec<&str> = spec.atom(atom).text.split_whitespace().collect();
                Some((text.join(" ").into(), truth))
            })
            .collect()
    }

    /// Returns the state of the automaton of a property at a moment, with the number of its states.
    pub(crate) fn state(&self, property: PropertyId, at: usize) -> Option<(u32, usize)> {
        let state = self.values(at)?.states.get(property.index()).copied()??;
        Some((state, self.replay.n_states(property)?))
    }

    /// Returns the time of a moment, if it is known.
    pub(crate) fn clock(&self, at: usize) -> Option<&Value> {
        let clock = self.spec().schema.clock?;
        match self.step(at)?.cells.get(clock)? {
            Cell::Known(value @ (Value::Time(_) | Value::Duration(_))) => Some(value),
            _ => None,
        }
    }

    /// Returns the time from one moment to another, if the clock is known at both.
    pub(crate) fn elapsed(&self, from: usize, to: usize) -> Option<Value> {
        match (self.clock(from)?, self.clock(to)?) {
            (Value::Time(from) | Value::Duration(from), Value::Time(to) | Value::Duration(to)) => {
                Some(Value::Duration(Instant(to.0.checked_sub(from.0)?)))
            }
            _ => None,
        }
    }

    /// Returns a value as written in a spec, cut at this many bytes.
    pub(crate) fn text(&self, cell: &Cell, most: usize) -> String {
        match cell {
            Cell::Known(value) => cut(print::value(value, &self.spec().enums), most),
            Cell::Unknown => "unknown".to_owned(),
        }
    }
}

const TRUE: Cell = Cell::Known(Value::Bool(true));
