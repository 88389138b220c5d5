//! Tests that would kill mutants: events that give the letters the values of a trace, and the verdict on them.
//!
//! The events are proposed by [`domain`](crate::domain) and then judged: only a test that really distinguishes the
//! mutant from the original is returned.

use std::collections::BTreeMap;
use std::fmt::Write;

use smol_str::SmolStr;

use super::Unproposed;
use super::judge::{FinalVerdict, Judged};
use super::pace::SECOND;
use crate::domain::{self, Given, Goal, Work};
use crate::hir::{Spec, Test};
use crate::ids::{FormulaId, PropertyId};
use crate::input_schema::{Absent, Field};
use crate::value::{Cell, Instant, Value};
use crate::verdict::Verdict;
use crate::written::{absent, record};
use guard_automata::Letter;

/// A trace as events, with the verdict of the original.
#[derive(Clone, Debug)]
pub(super) struct Case {
    events: Vec<domain::Event>,
    outcome: FinalVerdict,
}

/// Returns a test of the first of these traces that distinguishes a mutant from the original, as text of the language. Returns
/// `None` if none of them shows the difference.
pub(super) fn test(
    judged: &Judged<'_>,
    subject: &str,
    property: PropertyId,
    mutant: FormulaId,
    name: &str,
    events: impl IntoIterator<Item = Vec<domain::Event>>,
) -> Option<String> {
    events.into_iter().find_map(|events| {
        let (case, kills) = case(judged, property, &[&[mutant]], events).ok()?;
        (kills == [true]).then(|| text(judged.spec, name, subject, &[case]))
    })
}

/// Returns a trace with the verdict on it, and the mutants (a formula for each property) that a test of this verdict detects.
pub(super) fn case(
    judged: &Judged<'_>,
    property: PropertyId,
    mutants: &[&[FormulaId]],
    events: Vec<domain::Event>,
) -> Result<(Case, Vec<bool>), Unproposed> {
    let spec = judged.spec;
    let schema = &spec.schema;
    let cells = |fields: &[Field], values: &BTreeMap<usize, Value>| -> Vec<Cell> {
        let field = |(idx, field): (usize, &Field)| match values.get(&idx) {
            Some(value) => Cell::Known(value.clone()),
            None => absent(field),
        };
        fields.iter().enumerate().map(field).collect()
    };
    let test = Test {
        name: SmolStr::default(),
        meta: events
            .last()
            .map(|event| cells(&schema.meta, &event.meta))
            .unwrap_or_default(),
        steps: events
            .iter()
            .map(|event| cells(&schema.fields, &event.fields))
            .collect(),
        step_spans: Vec::new(),
        expects: Vec::new(),
        span: spec.property(property).span,
    };
    let noticed = judged.noticed(&test, property, mutants);
    match noticed.ok_or(Unproposed::NoEvents)? {
        (outcome, _) if outcome.0 == Verdict::Unknown => Err(Unproposed::Unknown),
        (outcome, kills) => Ok((Case { events, outcome }, kills)),
    }
}

/// Sets the time of each step: one unit apart if there are bounds in time, else only if steps must have a time.
fn timed(spec: &Spec, events: &mut [domain::Event], unit: Option<i128>) {
    let schema = &spec.schema;
    let Some(clock) = schema.clock else { return };
    let needed = schema
        .fields
        .get(clock)
        .is_some_and(|field| matches!(field.absent, Absent::Error));
    for (at, event) in (0_i128..).zip(events) {
        if let Some(unit) = unit {
            let instant = Instant(at.saturating_mul(unit));
            event.fields.insert(clock, Value::Time(instant));
        } else if needed {
            let instant = Instant(at.saturating_mul(SECOND));
            event.fields.entry(clock).or_insert(Value::Time(instant));
        }
    }
}

/// The greatest width of a line of events, in columns.
const COLUMNS: usize = 96;

/// Returns the test of these cases.
pub(super) fn text(spec: &Spec, name: &str, subject: &str, cases: &[Case]) -> String {
    let fields = &spec.schema.fields;
    let mut text = format!("test {name:?} {{\n");
    for case in cases {
        let records: Vec<String> = case
            .events
            .iter()
            .map(|event| record(spec, fields, &event.fields))
            .collect();
        let line = format!("[{}]", records.join(", "));
        let meta = case.events.last().map(|event| &event.meta);
        match meta.filter(|meta| !meta.is_empty()) {
            Some(meta) => {
                let meta = record(spec, &spec.schema.meta, meta);
                let _ = writeln!(text, "  given {{meta: {meta}, events: {line}}}");
            }
            None if line.len() <= COLUMNS - "  given ".len() => {
                let _ = writeln!(text, "  given {line}");
            }
            None => {
                text.push_str("  given [\n");
                for record in records {
                    let _ = writeln!(text, "    {record},");
                }
                text.push_str("  ]\n");
            }
        }
        let at = match case.outcome {
            (Verdict::Violated, Some(at)) => format!(" at {at}"),
            _ => String::new(),
        };
        let _ = writeln!(text, "  expect {subject} {}{at}", case.outcome.0.as_str());
    }
    text.push_str("}\n");
    text
}

/// Returns one event per step of the trace, one `unit` apart if there is one; `None` if none are found.
pub(super) fn events(
    spec: &Spec,
    steps: &[Letter],
    unit: Option<i128>,
) -> Option<Vec<domain::Event>> {
    let mut work = Work::new(400_000, 50_000);
    let mut given = Given::default();
    let mut events = Vec::new();
    for letter in steps {
        let goals: Vec<Goal> = letter
            .iter()
            .filter_map(|(atom, holds)| {
                let letter = spec.formulas.atoms().get(atom.0 as usize)?;
                Some((letter.expr, *holds))
            })
            .collect();
        let event = domain::event(spec, &goals, &given, &mut work)?;
        given.vars.clone_from(&event.vars);
        given.meta.clone_from(&event.meta);
        events.push(event);
    }
    timed(spec, &mut events, unit);
    Some(events)
}
