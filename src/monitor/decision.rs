//! What a monitor says about an event, and how that is written.

use std::fmt::Write as _;

use serde::Serialize;
use smol_str::SmolStr;

use crate::hir::ActionKind;
use crate::value::Value;
use crate::verdict::Verdict;

/// What is to be done about an event, mildest first.
///
/// `log` and `invoke` decide nothing: what they say and call stands among the clauses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// Nothing stands in the way.
    #[default]
    Allow,
    /// Somebody is to be told.
    Warn,
    /// The agent is to be told, and to think again.
    Reflect,
    /// A person decides.
    Ask,
    /// The action is denied.
    Block,
    /// The run is to end.
    Stop,
}

impl Ruling {
    /// The word of the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Ruling::Allow => "allow",
            Ruling::Warn => "warn",
            Ruling::Reflect => "reflect",
            Ruling::Ask => "ask",
            Ruling::Block => "block",
            Ruling::Stop => "stop",
        }
    }

    /// Whether the action may not be carried out, whatever a person says.
    pub fn denies(self) -> bool {
        self >= Ruling::Block
    }

    /// What an action alone decides.
    pub fn of(action: ActionKind) -> Ruling {
        match action {
            ActionKind::Log | ActionKind::Invoke => Ruling::Allow,
            ActionKind::Warn => Ruling::Warn,
            ActionKind::Reflect => Ruling::Reflect,
            ActionKind::Ask => Ruling::Ask,
            ActionKind::Block => Ruling::Block,
            ActionKind::Stop => Ruling::Stop,
        }
    }
}

/// What brought a decision about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// An event that happened.
    Event,
    /// An action that is proposed.
    Proposal,
    /// An action that has happened if the ruling is below [`Ruling::Ask`].
    Act,
    /// A deadline that passed without an event.
    Deadline,
    /// The end of a trace.
    End,
    /// The end of a trace that is proposed.
    ProposedEnd,
    /// What could not be read.
    Unreadable,
    /// What whoever said it may not say.
    Forbidden,
}

impl Cause {
    fn phase(self) -> Option<&'static str> {
        match self {
            Cause::Event | Cause::Unreadable | Cause::Forbidden => None,
            Cause::Proposal => Some("before"),
            Cause::Act => Some("act"),
            Cause::Deadline => Some("deadline"),
            Cause::End => Some("end"),
            Cause::ProposedEnd => Some("before_end"),
        }
    }
}

/// An arm that acts.
#[derive(Clone, Debug, PartialEq)]
pub struct Fired {
    /// The clause and the arm, by number.
    pub clause: usize,
    /// See `clause`; none for what the monitor says itself (an outcome that may violate, an error).
    pub arm: Option<usize>,
    /// The property, query or condition.
    pub name: SmolStr,
    /// What is done.
    pub action: ActionKind,
    /// What is said.
    pub message: String,
    /// Why, where that can be said: what is owed and until when, what could not be read.
    pub why: Option<String>,
    /// Of a quantified property: the values that it is about.
    pub instance: Vec<(SmolStr, Value)>,
    /// Of `invoke`: what, with what.
    pub invoke: Option<(SmolStr, Vec<Argument>)>,
}

/// An argument of what is invoked: its name, where it has one, and its value.
pub type Argument = (Option<SmolStr>, Value);

/// What a monitor says.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What it is about.
    pub cause: Cause,
    /// The trace; none where that could not be read.
    pub trace: Option<SmolStr>,
    /// Index of the event in its trace.
    pub step: Option<u32>,
    /// What is to be done.
    pub ruling: Ruling,
    /// The arms that act, in order of the spec.
    pub clauses: Vec<Fired>,
    /// What the queries that clauses look at come to; none in a state that was not seen in training.
    pub risk: Vec<(SmolStr, Option<f64>)>,
    /// The state of the abstraction, where there is one.
    pub state: Option<String>,
    /// The verdict on every property: after the event, or as it would be.
    pub verdicts: Vec<(SmolStr, Verdict)>,
    /// What was wrong with the event.
    pub errors: Vec<String>,
    /// Of a proposed end: what is still owed.
    pub owed: Vec<String>,
    /// Of a proposal: its number, for commit and abandon.
    pub proposal: Option<u64>,
    /// If open proposals decide: how many of them were taken to have happened.
    pub reserved: usize,
}

impl Decision {
    /// A decision that nothing stands behind yet.
    pub fn new(cause: Cause) -> Decision {
        Decision {
            cause,
            trace: None,
            step: None,
            ruling: Ruling::Allow,
            clauses: Vec::new(),
            risk: Vec::new(),
            state: None,
            verdicts: Vec::new(),
            errors: Vec::new(),
            owed: Vec::new(),
            proposal: None,
            reserved: 0,
        }
    }

    /// The messages of the arms that decide, joined: what an agent or a person is told.
    pub fn reason(&self) -> String {
        let decides = |fired: &&Fired| Ruling::of(fired.action) == self.ruling;
        // Of what could not be judged the message tells what is forbidden, and not that the call was only unclear.
        let tell = |fired: &Fired| match &fired.why {
            Some(why) if !self.errors.is_empty() => format!("{} ({why})", fired.message),
            _ => fired.message.clone(),
        };
        let errors = self.errors.iter().filter(|_| self.clauses.is_empty());
        let fired = self.clauses.iter().filter(decides).map(tell);
        let said: Vec<String> = fired.chain(errors.cloned()).collect();
        said.join("; ")
    }

    /// Writes the decision as one line of JSON, without the line end.
    pub fn write_json(&self, out: &mut String) {
        out.push_str("{\"v\":1,\"trace\":");
        opt_text(out, self.trace.as_deref());
        out.push_str(",\"step\":");
        match self.step {
            Some(step) => drop(write!(out, "{step}")),
            None => out.push_str("null"),
        }
        out.push_str(",\"decision\":\"");
        out.push_str(self.ruling.as_str());
        out.push_str("\",\"clauses\":[");
        for (place, fired) in self.clauses.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            fired.write_json(out);
        }
        out.push_str("],\"risk\":{");
        for (place, (query, risk)) in self.risk.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            text(out, query);
            match risk {
                Some(risk) if risk.is_finite() => drop(write!(out, ":{risk}")),
                Some(_) => out.push_str(":\"inf\""),
                None => out.push_str(":null"),
            }
        }
        out.push_str("},\"state\":");
        opt_text(out, self.state.as_deref());
        out.push_str(",\"verdicts\":{");
        for (place, (property, verdict)) in self.verdicts.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            text(out, property);
            out.push_str(":\"");
            out.push_str(verdict.as_str());
            out.push('"');
        }
        out.push('}');
        if let Some(phase) = self.cause.phase() {
            let _ = write!(out, ",\"phase\":\"{phase}\"");
        }
        if let Some(proposal) = self.proposal {
            let _ = write!(out, ",\"proposal\":{proposal}");
        }
        if self.reserved > 0 {
            let _ = write!(out, ",\"reserved\":{}", self.reserved);
        }
        texts(out, "owed", &self.owed);
        texts(out, "errors", &self.errors);
        out.push('}');
    }

    /// The decision as one line of JSON.
    pub fn to_json(&self) -> String {
        let mut out = String::with_capacity(256);
        self.write_json(&mut out);
        out
    }
}

impl Fired {
    fn write_json(&self, out: &mut String) {
        out.push_str("{\"name\":");
        text(out, &self.name);
        out.push_str(",\"action\":\"");
        out.push_str(self.action.as_str());
        out.push_str("\",\"message\":");
        text(out, &self.message);
        if let Some(why) = &self.why {
            out.push_str(",\"why\":");
            text(out, why);
        }
        if !self.instance.is_empty() {
            out.push_str(",\"instance\":{");
            for (place, (name, value)) in self.instance.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                text(out, name);
                out.push(':');
                json(out, value);
            }
            out.push('}');
        }
        if let Some((name, args)) = &self.invoke {
            out.push_str(",\"invoke\":{\"name\":");
            text(out, name);
            out.push_str(",\"args\":[");
            let mut named = Vec::new();
            let mut first = true;
            for (name, value) in args {
                match name {
                    Some(name) => named.push((name, value)),
                    None => {
                        if !std::mem::take(&mut first) {
                            out.push(',');
                        }
                        json(out, value);
                    }
                }
            }
            out.push_str("],\"named\":{");
            for (place, (name, value)) in named.into_iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                text(out, name);
                out.push(':');
                json(out, value);
            }
            out.push_str("}}");
        }
        out.push('}');
    }
}

fn texts(out: &mut String, name: &str, all: &[String]) {
    if all.is_empty() {
        return;
    }
    let _ = write!(out, ",\"{name}\":[");
    for (place, one) in all.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        text(out, one);
    }
    out.push(']');
}

fn opt_text(out: &mut String, value: Option<&str>) {
    match value {
        Some(value) => text(out, value),
        None => out.push_str("null"),
    }
}

/// A text in JSON's notation.
fn text(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    // Most texts need no escape.
    while let Some(at) = rest.find(|c: char| c < ' ' || c == '"' || c == '\\' || c == '\u{7f}') {
        let (plain, from) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = from.chars();
        match chars.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some(other) => drop(write!(out, "\\u{:04x}", u32::from(other))),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// A value as JSON; values of enums by number, times in seconds.
fn json(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => drop(write!(out, "{value}")),
        Value::Number(number) => drop(write!(out, "{number}")),
        Value::String(value) => text(out, value),
        Value::Time(instant) | Value::Duration(instant) => {
            let printed = instant.to_string();
            out.push_str(printed.trim_end_matches('s'));
        }
        Value::Enum(value) => drop(write!(out, "{}", value.index)),
        Value::List(items) => sequence(out, items.iter()),
        Value::Set(items) => sequence(out, items.iter()),
        Value::Object(object) => {
            out.push('{');
            for (place, (key, value)) in object.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                text(out, key);
                out.push(':');
                json(out, value);
            }
            out.push('}');
        }
    }
}

fn sequence<'v>(out: &mut String, items: impl Iterator<Item = &'v Value>) {
    out.push('[');
    for (place, item) in items.enumerate() {
        if place > 0 {
            out.push(',');
        }
        json(out, item);
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_json() -> Result<(), serde_json::Error> {
        for sample in ["", "plain", "a\"b\\c\nd\u{1}e", "ü\u{7f}漢"] {
            let mut out = String::new();
            text(&mut out, sample);
            assert_eq!(serde_json::from_str::<String>(&out)?, sample);
        }
        Ok(())
    }
}
