//! Differences between two specs: properties, decisions, verdicts on recorded runs.
//!
//! Input: two sound specs; output: a [`Diff`]. For each property both directions are answered: is there a trace that the old
//! property accepts and the new one rejects, and the reverse? Automata decide this exactly over the conditions of both specs,
//! as far as the types of the fields relate these. `Excluded` is a proof; `Found` is a trace of events that both specs judged.
//!
//! # Soundness
//! Conditions that the domain search cannot relate may have any values together, so *excluded* holds for all traces whose
//! fields are known. A difference is reported only with events that the evaluators of both specs judge differently; where
//! none are found, the direction is undecided, with the reason.
//!
//! # Limits
//! See [`Limits`]. Arms that only log, warn or reflect are not part of the comparison of decisions. Claims about models and systems are compared as texts.

mod acting;
mod claims;
mod decision;
mod join;
mod page;
mod property;
mod runs;
mod search;
mod witness;
mod write;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use smol_str::SmolStr;

use crate::audit::Progress;
use crate::domain;
use crate::hir::{Property, PropertyKind, Severity, Spec};
use crate::ids::PropertyId;
use crate::lint;
use crate::monitor::Ruling;
use crate::source::SourceMap;
use crate::value::Value;
use property::Pair;
use witness::Bench;

pub use runs::{Collected, Judge, collect, compare as compare_runs};

/// The limits of a comparison.
#[derive(Clone, Debug)]
pub struct Limits {
    /// For one automaton.
    pub automata: guard_automata::Limits,
    /// For clauses of `enforce`.
    pub(crate) lint: lint::Limits,
    /// Pairs of removed and added properties that are compared to find renamed ones.
    pub renames: usize,
    /// The time in seconds of all searches for events, where automata do not decide. All other limits count work.
    pub search_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits::new(guard_automata::Limits {
            states: 20_000,
            work: 8_000_000,
            nodes: 1_000_000,
            ..guard_automata::Limits::default()
        })
    }
}

impl Limits {
    /// Returns limits with these for each automaton.
    pub(crate) fn new(automata: guard_automata::Limits) -> Limits {
        Limits {
            lint: lint::Limits {
                work: automata.work.saturating_mul(5) / 2,
                automaton: automata.work,
                states: automata.states,
                conditions: 2_000_000,
                condition: 50_000,
                ..lint::Limits::default()
            },
            automata,
            renames: 400,
            search_seconds: 10,
        }
    }
}

/// The differences between two specs.
#[derive(Clone, Debug, Default)]
pub struct Diff {
    /// By property: those of the new spec in order, then those that were removed.
    pub properties: Vec<PropertyChange>,
    /// The decisions on events that differ, or may differ.
    pub decisions: Vec<DecisionChange>,
    /// Clauses that now let through what cannot be evaluated (`on error allow`).
    pub lenient: Vec<String>,
    /// Claims about models and systems.
    pub claims: Vec<ClaimChange>,
    /// The differences on recorded runs, if there were any to read.
    pub runs: Option<Runs>,
}

/// The change of one property.
#[derive(Clone, Debug)]
pub struct PropertyChange {
    /// Its name in the new spec; the old one of a removed property.
    pub name: SmolStr,
    /// Its name in the old spec, if that is another one.
    pub old_name: Option<SmolStr>,
    /// Its places.
    pub status: Status,
    /// Changes beside the formula, as `severity: high, was medium`.
    pub notes: Vec<String>,
}

/// The relation of a property to the old spec.
#[derive(Clone, Debug)]
pub enum Status {
    /// The old spec has no such property.
    Added,
    /// The new spec has no such property.
    Removed,
    /// Both have it: whether a trace satisfies the old one and violates the new one, and the reverse.
    Compared([Direction; 2]),
}

/// The answer to the question whether there is a trace of one kind.
#[derive(Clone, Debug)]
pub enum Direction {
    /// There is no such trace.
    Excluded,
    /// This is one.
    Found(Witness),
    /// A recorded run is one.
    Recorded(Example),
    /// It is not decided, for this reason.
    Unknown(String),
}

impl Direction {
    /// Whether there is such a trace, if that is known.
    fn exists(&self) -> Option<bool> {
        match self {
            Direction::Excluded => Some(false),
            Direction::Found(_) | Direction::Recorded(_) => Some(true),
            Direction::Unknown(_) => None,
        }
    }
}

/// A trace on which the two specs differ, in the fields of its events.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The events as a test writes them.
    pub events: Vec<String>,
    /// The events as JSON objects.
    pub json: Vec<String>,
    /// The fields of the record, if they matter.
    pub meta: Option<String>,
    /// The step at which the violation is final; for decisions, the step that is decided.
    pub at: Option<u32>,
}

/// The words for the relation of two properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Both accept the same traces.
    Equal,
    /// The new one accepts fewer traces.
    Stricter,
    /// The new one accepts more traces.
    Looser,
    /// Each accepts traces that the other does not.
    Different,
    /// A direction is not decided.
    Undecided,
    /// Only the new spec has it.
    Added,
    /// Only the old spec has it.
    Removed,
}

impl Relation {
    /// Returns the word of reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Relation::Equal => "equal",
            Relation::Stricter => "stricter",
            Relation::Looser => "looser",
            Relation::Different => "different",
            Relation::Undecided => "undecided",
            Relation::Added => "added",
            Relation::Removed => "removed",
        }
    }
}

impl Status {
    /// Returns the relation as one word.
    pub fn relation(&self) -> Relation {
        let [forth, back] = match self {
            Status::Added => return Relation::Added,
            Status::Removed => return Relation::Removed,
            Status::Compared(directions) => directions.each_ref().map(Direction::exists),
        };
        match (forth, back) {
            (Some(false), Some(false)) => Relation::Equal,
            (Some(true), Some(false)) => Relation::Stricter,
            (Some(false), Some(true)) => Relation::Looser,
            (Some(true), Some(true)) => Relation::Different,
            _ => Relation::Undecided,
        }
    }
}

/// The strength of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The event is denied: `block`, `stop`.
    Denied,
    /// A person is asked, or the event is denied.
    Asked,
}

impl Level {
    fn ruling(self) -> Ruling {
        match self {
            Level::Denied => Ruling::Block,
            Level::Asked => Ruling::Ask,
        }
    }
}

/// The moment of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// An event.
    Event,
    /// A deadline that passes without an event.
    Deadline,
    /// The end of the trace.
    End,
}

impl Moment {
    /// Returns the word of reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Moment::Event => "event",
            Moment::Deadline => "deadline",
            Moment::End => "end",
        }
    }
}

/// A clause that acts on an event on which no clause of the other spec acts.
#[derive(Clone, Debug)]
pub struct DecisionChange {
    /// The property or condition that the clause watches.
    pub clause: String,
    /// The strength of its action.
    pub level: Level,
    /// The moment of the decision.
    pub moment: Moment,
    /// Whether it is a clause of the new spec: then the event is newly denied, else newly let through.
    pub added: bool,
    /// The event, as the last one of a trace, or the trace after which a deadline passes or which ends. Never `Excluded`.
    pub found: Direction,
}

/// A claim about a model or system that is not known to be the same.
#[derive(Clone, Debug)]
pub struct ClaimChange {
    /// Its name.
    pub name: SmolStr,
    /// Only the new spec has it (`Added`), only the old one (`Removed`), or it is not decided.
    pub relation: Relation,
    /// The reason why it is not decided.
    pub reason: Option<&'static str>,
}

/// The differences on recorded runs.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// The traces that both specs judged.
    pub traces: u64,
    /// The traces that only the old spec takes for traces (`records where`).
    pub only_old: u64,
    /// The traces that only the new spec takes for traces.
    pub only_new: u64,
    /// The errors in the data, as either spec reads it.
    pub errors: u64,
    /// The verdicts that changed, by property and kind of change.
    pub verdicts: Vec<RunChange>,
    /// The decisions that changed, by kind of change: for each trace the first event on which they differ.
    pub decisions: Vec<RunChange>,
}

/// A change on recorded runs.
#[derive(Clone, Debug)]
pub struct RunChange {
    /// The property; empty for decisions.
    pub property: String,
    /// The kind of change.
    pub change: Change,
    /// The number of traces.
    pub traces: u64,
    /// Some of them.
    pub examples: Vec<Example>,
    /// One of them that satisfies one of the properties and violates the other: a verdict that was or is unknown proves nothing.
    pub proof: Option<Example>,
}

/// Kinds of changes on a recorded run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// The new spec finds a violation, the old one does not.
    NewlyViolated,
    /// The old spec finds a violation, the new one does not.
    NoLongerViolated,
    /// Both find one, at different steps.
    OtherStep,
    /// No violation on either side, but another verdict.
    OtherVerdict,
    /// The new spec denies an event or asks about it, the old one lets it through.
    NewlyStopped,
    /// The old spec denies an event or asks about it, the new one lets it through.
    NoLongerStopped,
    /// One spec denies the event, the other asks.
    OtherDecision,
}

impl Change {
    /// Returns the word of reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Change::NewlyViolated => "newly_violated",
            Change::NoLongerViolated => "no_longer_violated",
            Change::OtherStep => "violated_at_another_step",
            Change::OtherVerdict => "other_verdict",
            Change::NewlyStopped => "newly_stopped",
            Change::NoLongerStopped => "no_longer_stopped",
            Change::OtherDecision => "other_decision",
        }
    }
}

/// A recorded trace that the specs judge differently.
#[derive(Clone, Debug)]
pub struct Example {
    /// Its name.
    pub trace: String,
    /// Its file.
    pub file: String,
    /// The line on which it begins; 0 if lines mean nothing.
    pub line: u64,
    /// The step.
    pub at: Option<u32>,
    /// The verdict or decision of the old spec.
    pub old: &'static str,
    /// The verdict or decision of the new spec.
    pub new: &'static str,
}

/// Compares two specs, each with the sources that it was made of.
///
/// # Errors
/// One of them cannot be compiled within the limits on automata.
pub fn diff(
    old: (&Spec, &SourceMap),
    new: (&Spec, &SourceMap),
    limits: &Limits,
    progress: &Progress,
) -> Result<Diff, String> {
    // The properties, and all decisions together.
    let parts = audited(new.0).count() as u64 + 1;
    progress.parts.store(parts, Ordering::Relaxed);
    let joint = join::join(old.0, new.0);
    let mut bench = Bench::new(&joint, [old.0, new.0], limits)?;
    let mut properties = Vec::new();
    let removed = only_in(old.0, new.0);
    let added = only_in(new.0, old.0);
    let renamed = renamed(&bench, &removed, &added, limits);
    let mut compared: Vec<Option<Pair>> = Vec::new();
    for id in audited(new.0) {
        let property = new.0.property(id);
        let same_name = audited(old.0).find(|id| old.0.property(*id).name == property.name);
        let other_name = renamed
            .iter()
            .find(|pair| pair.new == id)
            .map(|pair| pair.old);
        let pair = same_name.or(other_name).map(|before| Pair {
            old: before,
            new: id,
        });
        compared.push(pair);
        properties.push(match pair {
            None => PropertyChange {
                name: property.name.clone(),
                old_name: None,
                status: Status::Added,
                notes: Vec::new(),
            },
            Some(pair) => {
                let before = old.0.property(pair.old);
                PropertyChange {
                    name: property.name.clone(),
                    old_name: (before.name != property.name).then(|| before.name.clone()),
                    status: Status::Compared(property::compare(&mut bench, pair, limits)),
                    notes: notes(before, property),
                }
            }
        });
        progress.done.fetch_add(1, Ordering::Relaxed);
    }
    let decisions = decision::compare(&mut bench, limits);
    for (change, pair) in properties.iter_mut().zip(compared) {
        if let (Status::Compared(directions), Some(pair)) = (&mut change.status, pair) {
            property::decide_again(&mut bench, pair, directions);
        }
    }
    for id in removed {
        if renamed.iter().all(|pair| pair.old != id) {
            properties.push(PropertyChange {
                name: old.0.property(id).name.clone(),
                old_name: None,
                status: Status::Removed,
                notes: Vec::new(),
            });
        }
    }
    Ok(Diff {
        properties,
        decisions,
        lenient: decision::newly_lenient(&bench),
        claims: claims::compare(old, new),
        runs: None,
    })
}

/// Searches events on which the only properties of two specs with the same fields have different verdicts, both known. Values are
/// by number of the field.
pub(crate) fn difference(old: &Spec, new: &Spec) -> Option<Vec<domain::Event>> {
    let joint = join::join(old, new);
    let mut bench = Bench::new(&joint, [old, new], &Limits::default()).ok()?;
    let first = PropertyId::new(0);
    let events = property::difference(
        &mut bench,
        Pair {
            old: first,
            new: first,
        },
    )?;
    let own = |meta: bool, values: &BTreeMap<usize, Value>| -> BTreeMap<usize, Value> {
        let own = joint.sides[0].values(meta, |place| values.get(&place));
        let known = own.into_iter().enumerate();
        known
            .filter_map(|(place, value)| Some((place, value?)))
            .collect()
    };
    let event = |event: domain::Event| domain::Event {
        fields: own(false, &event.fields),
        meta: own(true, &event.meta),
        ..domain::Event::default()
    };
    Some(events.into_iter().map(event).collect())
}

impl Diff {
    /// Returns the properties that both specs have, as [`compare_runs`] takes them: numbers among the properties that are
    /// judged, and the name in the new spec.
    pub fn pairs(&self, old: &Spec, new: &Spec) -> Vec<(PropertyId, PropertyId, String)> {
        let place = |spec: &Spec, name: &str| {
            let mut all = audited(spec);
            let place = all.position(|id| spec.property(id).name == name);
            place.map(PropertyId::new)
        };
        let pair = |change: &PropertyChange| {
            let Status::Compared(_) = change.status else {
                return None;
            };
            let before = change.old_name.as_ref().unwrap_or(&change.name);
            let (old, new) = (place(old, before)?, place(new, &change.name)?);
            Some((old, new, change.name.to_string()))
        };
        self.properties.iter().filter_map(pair).collect()
    }

    /// Adds the differences on recorded runs. A run that satisfies one property and violates the other decides a direction that is
    /// not decided.
    pub fn add_runs(&mut self, runs: Runs) {
        for change in &mut self.properties {
            let Status::Compared(directions) = &mut change.status else {
                continue;
            };
            for (direction, kind) in directions
                .iter_mut()
                .zip([Change::NewlyViolated, Change::NoLongerViolated])
            {
                let own = |run: &&RunChange| run.property == change.name && run.change == kind;
                let run = runs.verdicts.iter().find(own);
                if let (Direction::Unknown(_), Some(proof)) =
                    (&direction, run.and_then(|run| run.proof.as_ref()))
                {
                    *direction = Direction::Recorded(proof.clone());
                }
            }
        }
        self.runs = Some(runs);
    }

    /// Whether something may now be accepted, or let through, that was not before, as far as this is not excluded: a property
    /// is looser, different, removed or undecided in this direction, or a decision is.
    pub fn may_be_looser(&self) -> bool {
        let property = |change: &PropertyChange| match &change.status {
            Status::Added => false,
            Status::Removed => true,
            Status::Compared([_, back]) => !matches!(back, Direction::Excluded),
        };
        self.properties.iter().any(property)
            || self.decisions.iter().any(|change| !change.added)
            || !self.lenient.is_empty()
            || self
                .claims
                .iter()
                .any(|claim| claim.relation != Relation::Added)
            || self.runs.as_ref().is_some_and(|runs| runs.only_old > 0)
    }

    /// Whether something may now be rejected, or denied, that was not before, as far as this is not excluded.
    pub fn may_be_stricter(&self) -> bool {
        let property = |change: &PropertyChange| match &change.status {
            Status::Added => true,
            Status::Removed => false,
            Status::Compared([forth, _]) => !matches!(forth, Direction::Excluded),
        };
        self.properties.iter().any(property)
            || self.decisions.iter().any(|change| change.added)
            || self
                .claims
                .iter()
                .any(|claim| claim.relation != Relation::Removed)
            || self.runs.as_ref().is_some_and(|runs| runs.only_new > 0)
    }

    /// Whether something is not decided.
    pub fn has_undecided(&self) -> bool {
        let properties = self.properties.iter();
        properties
            .map(|change| change.status.relation())
            .any(|relation| relation == Relation::Undecided)
            || self
                .decisions
                .iter()
                .any(|change| matches!(change.found, Direction::Unknown(_)))
            || self
                .claims
                .iter()
                .any(|claim| claim.relation == Relation::Undecided)
    }
}

/// Returns the properties that two specs have by the same name, as [`compare_runs`] takes them.
pub fn same_names(old: &Spec, new: &Spec) -> Vec<(PropertyId, PropertyId, String)> {
    let places = |spec: &Spec| -> Vec<SmolStr> {
        audited(spec)
            .map(|id| spec.property(id).name.clone())
            .collect()
    };
    let (before, after) = (places(old), places(new));
    let pair = |(idx, name): (usize, &SmolStr)| {
        let old = before.iter().position(|other| other == name)?;
        Some((PropertyId::new(old), PropertyId::new(idx), name.to_string()))
    };
    after.iter().enumerate().filter_map(pair).collect()
}

/// Returns the properties that audits judge.
fn audited(spec: &Spec) -> impl Iterator<Item = PropertyId> {
    let properties = spec.properties.iter().enumerate();
    properties
        .filter(|(_, property)| property.kind != PropertyKind::Condition)
        .map(|(idx, _)| PropertyId::new(idx))
}

/// Returns the properties of a spec whose names the other one does not have.
fn only_in(spec: &Spec, other: &Spec) -> Vec<PropertyId> {
    let known = |id: &PropertyId| {
        let name = &spec.property(*id).name;
        audited(other).any(|id| other.property(id).name == *name)
    };
    audited(spec).filter(|id| !known(id)).collect()
}

/// Returns removed and added properties that are equivalent.
fn renamed(
    bench: &Bench<'_>,
    removed: &[PropertyId],
    added: &[PropertyId],
    limits: &Limits,
) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut left = limits.renames;
    for new in added {
        for old in removed {
            if left == 0 || pairs.iter().any(|pair| pair.old == *old) {
                continue;
            }
            left -= 1;
            let pair = Pair {
                old: *old,
                new: *new,
            };
            if property::is_equivalent(bench, pair, limits) {
                pairs.push(pair);
                break;
            }
        }
    }
    pairs
}

/// Returns what changed of a property beside its formula.
fn notes(old: &Property, new: &Property) -> Vec<String> {
    let mut notes = Vec::new();
    let severity = |of: Severity| match of {
        Severity::Low => "low",
        Severity::Medium => "medium",
        Severity::High => "high",
        Severity::Critical => "critical",
    };
    if old.severity != new.severity {
        let (was, is) = (severity(old.severity), severity(new.severity));
        notes.push(format!("severity {is}, was {was}"));
    }
    match (old.catastrophic, new.catastrophic) {
        (false, true) => notes.push("now catastrophic".to_owned()),
        (true, false) => notes.push("no longer catastrophic".to_owned()),
        _ => {}
    }
    notes
}
