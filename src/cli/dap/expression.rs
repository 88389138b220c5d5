//! Expressions entered by the user: the spec is checked with one more item, so that names are resolved as in the spec.

use std::collections::HashMap;

use super::recording::{Recording, SHOWN};
use crate::cli::limits::{LimitArgs, explain};
use crate::diagnostic::Severity;
use crate::hir::PropertyKind;
use crate::ids::PropertyId;
use crate::replay::{Replay, Timeline};
use crate::value::{Cell, Value};
use crate::verdict::Verdict;

/// The greatest number of expressions that are cached.
const KEPT: usize = 200;

/// The expressions so far, with their values at every moment.
#[derive(Debug)]
pub(super) struct Expressions {
    limits: LimitArgs,
    known: HashMap<String, Result<Values, String>>,
}

#[derive(Debug)]
enum Values {
    /// By step.
    Cells(Vec<Cell>),
    /// A formula: by moment.
    Verdicts(Vec<Verdict>),
}

/// The value of an expression at a moment.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Cell(Cell),
    Verdict(Verdict),
}

impl Expressions {
    pub(super) fn new(limits: LimitArgs) -> Expressions {
        Expressions {
            limits,
            known: HashMap::new(),
        }
    }

    /// Returns the value of an expression at a moment; at the end, the value at the last step. For a formula or the name of a
    /// property it is the current verdict on the trace.
    ///
    /// # Errors
    /// A message: the expression has errors, or the trace has no step.
    pub(super) fn evaluate(
        &mut self,
        recording: &Recording,
        text: &str,
        at: usize,
    ) -> Result<Answer, String> {
        let text = text.trim();
        let timeline = &recording.timeline;
        if let Some(property) = timeline.spec().find_property(text) {
            return Ok(Answer::Verdict(timeline.verdict(property, at)));
        }
        if !self.known.contains_key(text) {
            if self.known.len() >= KEPT {
                self.known.clear();
            }
            let values = self.values(recording, text);
            self.known.insert(text.to_owned(), values);
        }
        match self.known.get(text) {
            Some(Ok(Values::Cells(cells))) => {
                let cell = cells.get(at).or(cells.last());
                let cell = cell.ok_or("the trace has no step")?;
                Ok(Answer::Cell(cell.clone()))
            }
            Some(Ok(Values::Verdicts(verdicts))) => {
                let verdict = verdicts.get(at).copied();
                Ok(Answer::Verdict(verdict.unwrap_or(Verdict::Unknown)))
            }
            Some(Err(why)) => Err(why.clone()),
            None => Err("the expression was not evaluated".to_owned()),
        }
    }

    /// Whether a condition holds at a moment.
    ///
    /// # Errors
    /// As [`Expressions::evaluate`], and if the expression is not a condition.
    pub(super) fn holds(
        &mut self,
        recording: &Recording,
        text: &str,
        at: usize,
    ) -> Result<bool, String> {
        match self.evaluate(recording, text, at)? {
            Answer::Cell(Cell::Known(Value::Bool(holds))) => Ok(holds),
            Answer::Cell(Cell::Unknown) => Ok(false),
            Answer::Cell(Cell::Known(_)) | Answer::Verdict(_) => {
                Err("expected a condition".to_owned())
            }
        }
    }

    /// Evaluates an expression at every moment: as a definition, else as a property.
    fn values(&self, recording: &Recording, text: &str) -> Result<Values, String> {
        let name = free_name(recording);
        // The text may end in a comment, and is never in column 0, where items begin.
        let text = format!("(\n  {}\n  )", text.replace(['\n', '\r'], " "));
        let first = match self.definition(recording, &name, &text) {
            Ok(values) => return Ok(values),
            Err(why) => why,
        };
        self.formula(recording, &name, &text).map_err(|_| first)
    }

    fn definition(&self, recording: &Recording, name: &str, text: &str) -> Result<Values, String> {
        let mut spec = checked(recording, &format!("let {name} =\n  {text}"))?;
        let defined = spec.outline.values.iter().find(|value| value.name == name);
        let expr = defined.ok_or("expected a value of a step")?.expr;
        spec.retain_properties(|_, _| false);
        let replay = Replay::observing(&spec, &[expr], &self.limits.eval(), SHOWN)
            .map_err(|error| explain(&error))?;
        let steps = replay.steps(recording.timeline.record()).steps.into_iter();
        let cells = steps.map(|step| step.values.into_iter().next().unwrap_or(Cell::Unknown));
        Ok(Values::Cells(cells.collect()))
    }

    fn formula(&self, recording: &Recording, name: &str, text: &str) -> Result<Values, String> {
        let mut spec = checked(recording, &format!("property {name} =\n  {text}"))?;
        spec.retain_properties(|_, property| {
            property.name == name && property.kind != PropertyKind::Condition
        });
        let replay =
            Replay::new(&spec, &self.limits.eval(), SHOWN).map_err(|error| explain(&error))?;
        let timeline = Timeline::new(replay, recording.timeline.record().clone());
        let timeline = timeline.ok_or("`records where` rejects the record")?;
        let moments = 0..=timeline.end();
        let verdicts = moments.map(|at| timeline.verdict(PropertyId::new(0), at));
        Ok(Values::Verdicts(verdicts.collect()))
    }
}

/// Returns a name that the spec does not contain.
fn free_name(recording: &Recording) -> String {
    let text = recording
        .loaded
        .sources
        .get(recording.timeline.spec().outline.file);
    let mut name = "watched".to_owned();
    while text.text().contains(&name) {
        name.push('_');
    }
    name
}

/// Returns the spec with one more item.
fn checked(recording: &Recording, item: &str) -> Result<crate::hir::Spec, String> {
    let mut loaded = recording.loaded.with_item(item);
    loaded.spec.take().ok_or_else(|| {
        let mut errors = loaded.diagnostics.iter();
        let first = errors.find(|found| found.severity == Severity::Error);
        first.map_or_else(
            || "wrong expression".to_owned(),
            |found| found.message.clone(),
        )
    })
}
