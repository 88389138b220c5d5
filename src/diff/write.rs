//! Differences as text, Markdown and JSON; `page` has them as HTML.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{
    ClaimChange, DecisionChange, Diff, Direction, Level, Moment, PropertyChange, Relation,
    RunChange, Runs, Status, Witness,
};
use crate::inert::inert;
use crate::report::text::{number, plural};

/// The order of relations in reports: those that let more through first.
const ORDER: [Relation; 7] = [
    Relation::Looser,
    Relation::Removed,
    Relation::Different,
    Relation::Undecided,
    Relation::Stricter,
    Relation::Added,
    Relation::Equal,
];

impl Diff {
    /// Returns the differences as text for a terminal.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.summary());
        for change in self.in_order() {
            let relation = change.status.relation();
            if relation == Relation::Equal && change.old_name.is_none() && change.notes.is_empty() {
                continue;
            }
            let _ = writeln!(text, "\n{:<10} {}", relation.as_str(), title(change));
            for part in details(change) {
                let _ = writeln!(text, "  {}", part.says);
                push_events(&mut text, part.witness);
            }
        }
        if !self.decisions.is_empty() || !self.lenient.is_empty() {
            text.push_str("\nDecisions\n");
            for change in &self.decisions {
                let _ = writeln!(text, "  {}", decision_text(change));
                push_events(&mut text, change.found.witness());
            }
            for name in &self.lenient {
                let _ = writeln!(text, "  {}", lenient_text(name));
            }
        }
        if !self.claims.is_empty() {
            text.push_str("\nModels and systems\n");
            for claim in &self.claims {
                let _ = writeln!(text, "  {}", claim_text(claim));
            }
        }
        if let Some(runs) = &self.runs {
            let _ = writeln!(text, "\nRecorded runs: {}", runs_head(runs));
            for change in runs.changes() {
                let _ = writeln!(text, "  {}", change_text(change));
                for example in &change.examples {
                    let _ = writeln!(text, "    {}", example.text());
                }
            }
        }
        text
    }

    /// Returns the differences as Markdown for a comment on a change.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("### Policy diff\n\n{}\n", self.summary());
        let told: Vec<&PropertyChange> = self
            .in_order()
            .into_iter()
            .filter(|change| {
                change.status.relation() != Relation::Equal
                    || change.old_name.is_some()
                    || !change.notes.is_empty()
            })
            .collect();
        if !told.is_empty() {
            text.push_str("\n| property | change | |\n| --- | --- | --- |\n");
            for change in &told {
                let mut notes = change.notes.clone();
                if let Some(old) = &change.old_name {
                    notes.insert(0, format!("renamed from {}", code(old)));
                }
                let relation = change.status.relation().as_str();
                let name = code(&change.name);
                let _ = writeln!(text, "| {name} | **{relation}** | {} |", notes.join(", "));
            }
        }
        for change in told {
            for part in details(change) {
                push_block(
                    &mut text,
                    &format!("{}: {}", code(&change.name), part.says),
                    part.witness,
                );
            }
        }
        for change in &self.decisions {
            push_block(&mut text, &decision_text(change), change.found.witness());
        }
        for name in &self.lenient {
            push_block(&mut text, &lenient_text(name), None);
        }
        for claim in &self.claims {
            push_block(&mut text, &claim_text(claim), None);
        }
        if let Some(runs) = &self.runs {
            let _ = writeln!(text, "\n#### Recorded runs\n\n{}", runs_head(runs));
            let changes: Vec<&RunChange> = runs.changes().collect();
            if !changes.is_empty() {
                text.push_str("\n| change | traces | examples |\n| --- | ---: | --- |\n");
            }
            for change in changes {
                let examples: Vec<String> = change
                    .examples
                    .iter()
                    .map(|example| code(&example.text()))
                    .collect();
                let (what, traces) = (what_changed(change), number(change.traces));
                let _ = writeln!(text, "| {what} | {traces} | {} |", examples.join("<br>"));
            }
        }
        text
    }

    /// Returns the differences as JSON.
    pub fn to_json(&self) -> Value {
        let property = |change: &PropertyChange| {
            let mut told = json!({
                "name": change.name.as_str(),
                "relation": change.status.relation().as_str(),
            });
            if let Some(old) = &change.old_name {
                told["renamed_from"] = json!(old.as_str());
            }
            if !change.notes.is_empty() {
                told["notes"] = json!(change.notes);
            }
            if let Status::Compared([forth, back]) = &change.status {
                told["newly_violated"] = forth.to_json();
                told["no_longer_violated"] = back.to_json();
            }
            told
        };
        let decision = |change: &DecisionChange| {
            let level = match change.level {
                Level::Denied => "denied",
                Level::Asked => "asked",
            };
            json!({
                "clause": change.clause,
                "level": level,
                "at": change.moment.as_str(),
                "change": if change.added { "newly" } else { "no_longer" },
                "event": change.found.to_json(),
            })
        };
        let claim = |claim: &ClaimChange| {
            json!({
                "name": claim.name.as_str(),
                "relation": claim.relation.as_str(),
                "reason": claim.reason,
            })
        };
        let properties: Vec<Value> = self.properties.iter().map(property).collect();
        let decisions: Vec<Value> = self.decisions.iter().map(decision).collect();
        let claims: Vec<Value> = self.claims.iter().map(claim).collect();
        let mut all = json!({
            "v": 1,
            "type": "diff",
            "properties": properties,
            "decisions": decisions,
            "on_error_allow": self.lenient,
            "claims": claims,
            "may_be_looser": self.may_be_looser(),
            "may_be_stricter": self.may_be_stricter(),
        });
        if let Some(runs) = &self.runs {
            all["runs"] = runs.to_json();
        }
        all
    }

    pub(super) fn in_order(&self) -> Vec<&PropertyChange> {
        let mut all: Vec<&PropertyChange> = self.properties.iter().collect();
        let place = |relation| ORDER.iter().position(|other| *other == relation);
        all.sort_by_key(|change| place(change.status.relation()));
        all
    }

    /// Returns the counts in one line: `1 looser, 2 stricter, 8 equal`.
    pub(super) fn summary(&self) -> String {
        let count = |relation: Relation| {
            let all = self.properties.iter();
            let count = all
                .filter(|change| change.status.relation() == relation)
                .count();
            (count > 0).then(|| format!("{count} {}", relation.as_str()))
        };
        let counts: Vec<String> = ORDER.into_iter().filter_map(count).collect();
        match counts.is_empty() {
            true => "No properties".to_owned(),
            false => format!("Properties: {}", counts.join(", ")),
        }
    }
}

impl Direction {
    pub(super) fn witness(&self) -> Option<&Witness> {
        match self {
            Direction::Found(witness) => Some(witness),
            _ => None,
        }
    }

    /// Returns `false` if there is no such trace, else the trace, or the reason why it is not known.
    fn to_json(&self) -> Value {
        match self {
            Direction::Excluded => Value::Bool(false),
            Direction::Unknown(reason) => json!({ "undecided": reason }),
            Direction::Found(witness) => {
                let events: Vec<Value> = witness
                    .json
                    .iter()
                    .map(|event| serde_json::from_str(event).unwrap_or(Value::Null))
                    .collect();
                let mut told = json!({ "events": events, "text": witness.events });
                if let Some(meta) = &witness.meta {
                    told["meta"] = json!(meta);
                }
                if let Some(at) = witness.at {
                    told["at"] = json!(at);
                }
                told
            }
            Direction::Recorded(example) => json!({ "recorded": example.to_json() }),
        }
    }
}

impl Runs {
    pub(super) fn changes(&self) -> impl Iterator<Item = &RunChange> {
        self.decisions.iter().chain(&self.verdicts)
    }

    /// Returns the counts and the changes as JSON.
    pub fn to_json(&self) -> Value {
        let change = |change: &RunChange| {
            let examples = change.examples.iter();
            let examples: Vec<Value> = examples.map(super::Example::to_json).collect();
            let mut told = json!({
                "change": change.change.as_str(),
                "traces": change.traces,
                "examples": examples,
            });
            if !change.property.is_empty() {
                told["property"] = json!(change.property);
            }
            told
        };
        let verdicts: Vec<Value> = self.verdicts.iter().map(change).collect();
        let decisions: Vec<Value> = self.decisions.iter().map(change).collect();
        json!({
            "traces": self.traces,
            "only_old": self.only_old,
            "only_new": self.only_new,
            "errors": self.errors,
            "verdicts": verdicts,
            "decisions": decisions,
        })
    }
}

impl super::Example {
    fn to_json(&self) -> Value {
        json!({
            "trace": self.trace,
            "file": self.file,
            "line": self.line,
            "at": self.at,
            "old": self.old,
            "new": self.new,
        })
    }

    pub(super) fn text(&self) -> String {
        let line = match self.line {
            0 => String::new(),
            line => format!(":{line}"),
        };
        let at = self
            .at
            .map_or_else(String::new, |at| format!(" at step {at}"));
        let (trace, file) = (inert(&self.trace), inert(&self.file));
        let words = |text: &str| text.replace('_', " ");
        let (old, new) = (words(self.old), words(self.new));
        format!("{trace} ({file}{line}){at}: {new}, was {old}")
    }
}

/// A statement about a property, with the trace that shows it.
pub(super) struct Detail<'a> {
    pub(super) says: String,
    pub(super) witness: Option<&'a Witness>,
}

pub(super) fn details(change: &PropertyChange) -> Vec<Detail<'_>> {
    let Status::Compared([forth, back]) = &change.status else {
        return Vec::new();
    };
    let mut details = Vec::new();
    let mut reasons: Vec<&str> = Vec::new();
    for (direction, newly) in [(forth, true), (back, false)] {
        match direction {
            Direction::Excluded => {}
            Direction::Found(witness) => {
                let at = witness
                    .at
                    .map_or_else(String::new, |at| format!(" at step {at}"));
                let says = match newly {
                    true => format!("newly violated{at} by"),
                    false => format!("no longer violated (before: violated{at}) by"),
                };
                let witness = Some(witness);
                details.push(Detail { says, witness });
            }
            Direction::Recorded(example) => {
                let what = if newly { "newly" } else { "no longer" };
                details.push(Detail {
                    says: format!(
                        "{what} violated, as a recorded run shows: {}",
                        example.text()
                    ),
                    witness: None,
                });
            }
            Direction::Unknown(reason) if reasons.contains(&reason.as_str()) => {}
            Direction::Unknown(reason) => {
                let what = match (forth, back) {
                    (Direction::Unknown(first), Direction::Unknown(second)) if first == second => {
                        "not decided"
                    }
                    _ if newly => "not decided whether it is stricter",
                    _ => "not decided whether it is looser",
                };
                reasons.push(reason);
                details.push(Detail {
                    says: format!("{what}: {reason}"),
                    witness: None,
                });
            }
        }
    }
    details
}

pub(super) fn title(change: &PropertyChange) -> String {
    let mut title = change.name.to_string();
    if let Some(old) = &change.old_name {
        let _ = write!(title, ", renamed from {old}");
    }
    for note in &change.notes {
        let _ = write!(title, "; {note}");
    }
    title
}

pub(super) fn decision_text(change: &DecisionChange) -> String {
    let what = match (change.level, change.added) {
        (Level::Denied, true) => "newly denied",
        (Level::Denied, false) => "no longer denied",
        (Level::Asked, true) => "newly denied or asked about",
        (Level::Asked, false) => "no longer denied or asked about",
    };
    let clause = inert(&change.clause);
    match &change.found {
        Direction::Unknown(reason) => {
            let subject = match change.moment {
                Moment::Event => "something is",
                Moment::Deadline => "a passed deadline is",
                Moment::End => "an end is",
            };
            format!("`{clause}`: not decided whether {subject} {what}: {reason}")
        }
        _ => {
            let moment = match change.moment {
                Moment::Event => "the last event of",
                Moment::Deadline => "at a deadline, without a further event, after",
                Moment::End => "the end after",
            };
            format!("{what}, by `{clause}`: {moment}")
        }
    }
}

pub(super) fn lenient_text(name: &str) -> String {
    format!(
        "`{}`: lets through what cannot be evaluated (`on error allow`)",
        inert(name)
    )
}

pub(super) fn claim_text(claim: &ClaimChange) -> String {
    let (name, relation) = (&claim.name, claim.relation.as_str());
    match claim.reason {
        Some(reason) => format!("`{name}`: {relation}: {reason}"),
        None => format!("`{name}`: {relation}"),
    }
}

pub(super) fn runs_head(runs: &Runs) -> String {
    let mut text = plural(runs.traces, "trace", "traces");
    if runs.verdicts.is_empty() && runs.decisions.is_empty() {
        text.push_str(", nothing changes");
    }
    for (count, which) in [(runs.only_old, "old"), (runs.only_new, "new")] {
        if count > 0 {
            let count = plural(count, "further trace", "further traces");
            let _ = write!(text, "; {count} judged by the {which} spec only");
        }
    }
    if runs.errors > 0 {
        let _ = write!(
            text,
            "; {} with the data",
            plural(runs.errors, "problem", "problems")
        );
    }
    text
}

fn what_changed(change: &RunChange) -> String {
    let what = change.change.as_str().replace('_', " ");
    match change.property.as_str() {
        "" => what,
        property => format!("{}: {what}", code(property)),
    }
}

pub(super) fn change_text(change: &RunChange) -> String {
    format!(
        "{} {}",
        plural(change.traces, "trace", "traces"),
        what_changed(change)
    )
}

/// Returns the events of a trace, a line each.
pub(super) fn events_text(witness: &Witness) -> String {
    let mut text = String::new();
    push_events(&mut text, Some(witness));
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    lines.join("\n")
}

fn push_events(text: &mut String, witness: Option<&Witness>) {
    let Some(witness) = witness else { return };
    if let Some(meta) = &witness.meta {
        let _ = writeln!(text, "    record {}", inert(meta));
    }
    for (place, event) in witness.events.iter().enumerate() {
        let _ = writeln!(text, "    {place}  {}", inert(event));
    }
}

fn push_block(text: &mut String, says: &str, witness: Option<&Witness>) {
    let _ = writeln!(text, "\n{says}");
    if let Some(witness) = witness {
        let mut events = String::new();
        push_events(&mut events, Some(witness));
        let fence = "`".repeat(longest_ticks(&events).max(2) + 1);
        let _ = writeln!(text, "\n{fence}text");
        for line in events.lines() {
            let _ = writeln!(text, "{}", line.trim_start());
        }
        let _ = writeln!(text, "{fence}");
    }
}

/// Returns a text as code of Markdown, whatever is in it, that does not end the cell of a table.
fn code(text: &str) -> String {
    let text = inert(text).replace('|', "\\|");
    let ticks = "`".repeat(longest_ticks(&text) + 1);
    let space = if ticks.len() > 1 { " " } else { "" };
    format!("{ticks}{space}{text}{space}{ticks}")
}

fn longest_ticks(text: &str) -> usize {
    let runs = text.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or(0)
}
