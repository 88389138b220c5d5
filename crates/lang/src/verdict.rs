//! The results of judging: the types that evaluators make and reports print.

use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::ids::{AtomId, PropertyId};
use crate::problem::Problem;
use crate::types::EnumType;
use crate::value::{Number, Truth, Value};

/// The verdict on a property after a prefix of a trace.
///
/// # Source
/// A. Bauer, M. Leucker, C. Schallhart, *Comparing LTL semantics for runtime verification*, 2010 (RV-LTL), with
/// `Unknown` for data that does not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every continuation satisfies the property, or the trace is complete and does.
    Satisfied,
    /// No continuation satisfies the property, or the trace is complete and does not.
    Violated,
    /// Not final; the trace read as complete would satisfy it.
    PresumablySatisfied,
    /// Not final; the trace read as complete would violate it.
    PresumablyViolated,
    /// Missing data decides.
    Unknown,
}

impl Verdict {
    /// Returns the word of the language and of reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Satisfied => "satisfied",
            Verdict::Violated => "violated",
            Verdict::PresumablySatisfied => "presumably_satisfied",
            Verdict::PresumablyViolated => "presumably_violated",
            Verdict::Unknown => "unknown",
        }
    }

    /// Returns the rank of the verdict: that on several instances is the one of the greatest.
    pub fn severity(self) -> u8 {
        match self {
            Verdict::Satisfied => 0,
            Verdict::PresumablySatisfied => 1,
            Verdict::PresumablyViolated => 2,
            Verdict::Unknown => 3,
            Verdict::Violated => 4,
        }
    }

    /// Whether no continuation can change it.
    pub fn is_final(self) -> bool {
        matches!(self, Verdict::Satisfied | Verdict::Violated)
    }
}

/// The judgement of one trace.
#[derive(Clone, Debug)]
pub struct TraceReport {
    /// The trace's name.
    pub trace: SmolStr,
    /// The file it was found in.
    pub file: Arc<str>,
    /// 1-based line where it begins; 0 where lines mean nothing.
    pub line: u64,
    /// 0-based number of the trace within its file.
    pub index: u64,
    /// Number of steps (after `where`).
    pub events: u64,
    /// One or more per property, in order of declaration; several for a quantified property that several instances
    /// violate.
    pub verdicts: Vec<PropertyVerdict>,
    /// Everything that was wrong with its data, in order of steps.
    pub problems: Vec<Problem>,
}

/// The judgement of one property (or of one violated instance of it) on one trace.
#[derive(Clone, Debug)]
pub struct PropertyVerdict {
    /// The property.
    pub property: PropertyId,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether it is final: by reason of the property, or because the trace is complete.
    pub is_final: bool,
    /// The index of the step at which it became final; for a formula that the end decides, the last step; `None` while it is
    /// not final, and for the empty trace.
    pub at: Option<u32>,
    /// The first step whose own obligation cannot be repaired (the trigger), for violations of `G φ`, `never`, rules.
    pub from: Option<u32>,
    /// Satisfied only because the trigger never happened.
    pub vacuous: bool,
    /// Values of the quantified variables, for one instance.
    pub instance: Vec<(SmolStr, Value)>,
    /// The steps that suffice to show a violation, ascending.
    pub counterexample: Vec<u32>,
    /// The message of the property, values filled in, for a violation.
    pub message: Option<String>,
    /// For an unknown verdict: the steps and fields that would decide it.
    pub undecided_by: Vec<Undecided>,
    /// For an unknown verdict: the limit that judging it exceeds.
    pub exceeded: Option<Limit>,
    /// The recorded values at the steps of the counterexample that the property reads, for people.
    pub evidence: Vec<Evidence>,
    /// For a violation: the conditions whose values suffice to show it.
    pub why: Why,
}

impl PropertyVerdict {
    /// The reason for an unknown verdict, as part of a sentence about the property.
    pub fn why_unknown(&self) -> &'static str {
        self.exceeded
            .map_or("depends on missing data", Limit::reason)
    }
}

/// A limit of judging beyond which a verdict is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The limits of automata: the property has too many states.
    Automata,
    /// `instances`: its variables have too many values.
    Instances,
    /// `worlds`: it is unknown of too many events whether they are steps.
    Worlds,
}

impl Limit {
    /// The rest of a sentence about a property that exceeds it.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Limit::Automata => "exceeds the limits on automata",
            Limit::Instances => "exceeds the limit of instances (`instances`)",
            Limit::Worlds => "exceeds the limit of possible choices of steps (`worlds`)",
        }
    }
}

/// The reason why a property is violated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Why {
    /// Conditions with their values, in order of steps. Whatever the others are, the property is violated.
    pub reasons: Vec<Reason>,
    /// Windows that passed before what was required in them happened.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overdue: Vec<Overdue>,
    /// Whether it matters that the trace ended.
    #[serde(skip_serializing_if = "is_false")]
    pub ended: bool,
    /// Whether it matters that no step precedes the first one.
    #[serde(skip_serializing_if = "is_false")]
    pub began: bool,
}

/// A condition that has the same value at consecutive steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// Index of the first step.
    pub first: u32,
    /// Index of the last step.
    pub last: u32,
    /// The atom of the property, and how many steps precede the first one: several steps may have the same index. `None` for
    /// the condition of an `enforce when`.
    #[serde(skip)]
    pub atom: Option<(AtomId, usize)>,
    /// The condition, as the author wrote it.
    pub condition: SmolStr,
    /// Its value.
    #[serde(rename = "holds", serialize_with = "holds")]
    pub truth: Truth,
    /// For one step: the parts of the condition that decide it; empty if it has no parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// For one step: what the parts read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<TermValue>,
}

/// A part of a condition, with its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// The part, with definitions in place of their names.
    pub condition: String,
    /// Its value.
    #[serde(rename = "holds", serialize_with = "holds")]
    pub truth: Truth,
}

fn holds<S: serde::Serializer>(truth: &Truth, serializer: S) -> Result<S::Ok, S::Error> {
    truth.known().serialize(serializer)
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(value: &usize) -> bool {
    *value == 0
}

/// A term of a condition with its value as text, cut to a length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TermValue {
    /// The term: `args.path`, `holder(key)`, `meta.budget`.
    pub term: String,
    /// Its value.
    pub value: String,
    /// For a count over earlier steps: the first steps that were counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<u32>,
    /// The number of counted steps beyond these.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_steps: usize,
    /// Whether the value is not one of the event alone, but depends on earlier ones.
    #[serde(skip)]
    pub remembered: bool,
}

/// A window that passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Overdue {
    /// Index of the step at which the window was opened.
    pub from: u32,
    /// Index of the step at which it had passed.
    pub at: u32,
    /// The time or steps from one to the other: `39s`, `7 steps`.
    pub elapsed: String,
    /// The allowed time or steps.
    pub allowed: String,
}

impl Reason {
    /// Whether the condition has the value at one step only.
    pub(crate) fn is_one_step(&self) -> bool {
        self.first == self.last
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = match (self.first, self.last) {
            (first, last) if first == last => format!("at step {first}"),
            (first, last) => format!("at steps {first} to {last}"),
        };
        write!(
            f,
            "{steps}, `{}` is {}",
            one_line(&self.condition),
            self.truth
        )?;
        let parts = self.parts.iter();
        let part = |part: &Part| format!("`{}` is {}", part.condition, part.truth);
        let parts: Vec<String> = parts.map(part).collect();
        if !parts.is_empty() {
            write!(f, ", since {}", parts.join(" and "))?;
        }
        let values = self.values.iter();
        let values: Vec<String> = values.map(ToString::to_string).collect();
        if !values.is_empty() {
            write!(f, ", with {}", values.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for TermValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.term, self.value)?;
        if let [step] = self.steps[..] {
            return write!(f, " (at step {step})");
        }
        let steps: Vec<String> = self.steps.iter().map(u32::to_string).collect();
        match (steps.as_slice(), self.more_steps) {
            ([], _) => Ok(()),
            (steps, 0) => write!(f, " (at steps {})", steps.join(", ")),
            (steps, more) => write!(f, " (at steps {} and {more} more)", steps.join(", ")),
        }
    }
}

impl fmt::Display for Overdue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overdue {
            from,
            at,
            elapsed,
            allowed,
        } = self;
        write!(
            f,
            "from step {from} to step {at}: {elapsed}, allowed {allowed}"
        )
    }
}

/// The text of a condition, which may run over several lines of the spec.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A step at which something was not known that decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undecided {
    /// Index of the step.
    pub step: u32,
    /// Names of the fields.
    pub fields: Vec<SmolStr>,
}

/// One step as evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Index of the step.
    pub step: u32,
    /// Names and values of the fields that the property reads; values as text, cut to a length.
    pub fields: Vec<(SmolStr, String)>,
    /// The letters of the property that are true at the step, as the author wrote them.
    pub letters: Vec<SmolStr>,
}

/// The values of quantified variables, as the JSON object of verdicts and decisions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instance<'a> {
    /// Names and values.
    pub values: &'a [(SmolStr, Value)],
    /// The enums of the spec.
    pub enums: &'a [Arc<EnumType>],
}

impl Serialize for Instance<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.values.len()))?;
        for (name, value) in self.values {
            let text = value_json(value, self.enums);
            let raw = RawValue::from_string(text).map_err(serde::ser::Error::custom)?;
            map.serialize_entry(name, &raw)?;
        }
        map.end()
    }
}

/// Returns a value as JSON: integers of any size with all digits, times and durations in seconds, enum values by name, sets
/// as lists.
pub fn value_json(value: &Value, enums: &[std::sync::Arc<EnumType>]) -> String {
    fn list<'a>(
        items: impl Iterator<Item = &'a Value>,
        enums: &[std::sync::Arc<EnumType>],
    ) -> String {
        let items: Vec<String> = items.map(|item| value_json(item, enums)).collect();
        format!("[{}]", items.join(","))
    }
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(Number::Float(float)) => quoted(&float.get()),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Time(instant) | Value::Duration(instant) => {
            let text = instant.to_string();
            text.strip_suffix('s').unwrap_or(&text).to_owned()
        }
        Value::Enum(value) => {
            let name = enums
                .get(usize::from(value.of))
                .and_then(|of| of.values.get(usize::from(value.index)));
            name.map_or_else(|| "null".to_owned(), quoted)
        }
        Value::List(items) => list(items.iter(), enums),
        Value::Set(items) => list(items.iter(), enums),
        Value::Object(object) => {
            let members: Vec<String> = object
                .iter()
                .map(|(key, value)| format!("{}:{}", quoted(key), value_json(value, enums)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

/// Returns a text as JSON.
pub fn quoted(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}
