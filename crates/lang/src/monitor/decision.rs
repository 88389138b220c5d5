//! The decision of a monitor about an event, and its JSON form.

use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::hir::ActionKind;
use crate::inert;
use crate::types::EnumType;
use crate::value::Value;
use crate::verdict::{Instance, Reason, TermValue, Verdict, value_json};

/// The greatest number of characters of values in the reason given to an agent or a person.
const VALUES: usize = 240;

/// The ruling on an event, mildest first.
///
/// `log` and `invoke` do not affect the ruling; their messages and calls are in the list of clauses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// No clause objects.
    #[default]
    Allow,
    /// Reports a warning.
    Warn,
    /// The agent receives the message and may reconsider.
    Reflect,
    /// A person decides.
    Ask,
    /// The action is denied.
    Block,
    /// The run is to end.
    Stop,
}

impl Ruling {
    /// Returns the name of the ruling in JSON.
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

    /// Whether the action must not be carried out, even with a person's approval.
    pub fn denies(self) -> bool {
        self >= Ruling::Block
    }

    /// Returns the ruling that results from one action.
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

/// The cause of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// An event that happened.
    Event,
    /// An action that is proposed.
    Proposal,
    /// An action that happens unless the ruling is [`Ruling::Ask`] or stricter.
    Act,
    /// A deadline that passed without an event.
    Deadline,
    /// The end of a trace.
    End,
    /// The proposed end of a trace.
    ProposedEnd,
    /// A new trace that begins with the history of another one.
    Fork,
    /// Input that could not be read.
    Unreadable,
    /// A statement that its sender is not allowed to make.
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
            Cause::Fork => Some("fork"),
            Cause::ProposedEnd => Some("before_end"),
        }
    }
}

/// The reason why a clause acts on an outcome that it could not judge.
const NOT_DECIDED: &str = "a part of it is unknown";

/// An arm that acts, as part of a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Fired {
    /// The clause and the arm, by number.
    pub clause: usize,
    /// The number of the arm; `None` for decisions of the monitor itself (an outcome that may violate, an error).
    pub arm: Option<usize>,
    /// The property, query or condition.
    pub name: SmolStr,
    /// The action.
    pub action: ActionKind,
    /// The message.
    pub message: String,
    /// The reason, if known: the pending obligation and its deadline, or the unknown part.
    pub why: Option<String>,
    /// Whether the arm acts because its condition could not be decided.
    pub is_doubtful: bool,
    /// Whether its message, one of the spec, does not say that.
    pub omits_doubt: bool,
    /// The conditions at this step that count against the clause, with the values that they read.
    pub reasons: Vec<Reason>,
    /// For a quantified property: the values of its variables.
    pub instance: Vec<(SmolStr, Value)>,
    /// For `invoke`: the name, and the arguments.
    pub invoke: Option<(SmolStr, Vec<Argument>)>,
    /// The enums of the spec. JSON contains their values by name.
    pub enums: Arc<[Arc<EnumType>]>,
}

/// An argument of `invoke`: its name, if it has one, and its value.
pub(crate) type Argument = (Option<SmolStr>, Value);

/// The decision of a monitor.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The cause.
    pub cause: Cause,
    /// The trace; `None` if its name could not be read.
    pub trace: Option<SmolStr>,
    /// Index of the event in its trace.
    pub step: Option<u32>,
    /// The ruling.
    pub ruling: Ruling,
    /// The arms that act, in order of the spec.
    pub clauses: Vec<Fired>,
    /// The values of the queries that clauses watch; `None` in a state that was not observed in training.
    pub risk: Vec<(SmolStr, Option<f64>)>,
    /// The state of the abstraction, if there is one.
    pub state: Option<String>,
    /// The verdict on every property: after the event, or as it would be after a proposed one.
    pub verdicts: Vec<(SmolStr, Verdict)>,
    /// The errors found in the event.
    pub errors: Vec<String>,
    /// Notes for the author of the spec: values that are unequal to all that the spec compares them with, if something would
    /// object to another value in their field; kinds and tools that are spelt in another way than in the spec.
    pub notes: Vec<String>,
    /// For a proposed end: the pending obligations.
    pub owed: Vec<String>,
    /// For a proposal: its number, for commit and abandon.
    pub proposal: Option<u64>,
    /// If open proposals affect the decision: the number of proposals that were assumed to have happened.
    pub reserved: usize,
    /// For an event: the decision about a call about which a person is being asked, which would be denied after the event, or need a
    /// further question, and would not without it.
    pub refused: Option<Box<Decision>>,
    /// For a fork: the numbers of the questions of the first trace, each with that of its copy.
    pub copied: Vec<(u64, u64)>,
}

impl Fired {
    /// Returns the values that the conditions read, on one line without control characters, cut to
    /// 240 characters; `None` if there are none.
    pub fn values(&self) -> Option<String> {
        self.values_that(|_| true)
    }

    fn values_that(&self, are_shown: impl Fn(&TermValue) -> bool) -> Option<String> {
        let mut said: Vec<String> = Vec::new();
        let values = self.reasons.iter().flat_map(|reason| &reason.values);
        for value in values.filter(|value| are_shown(value)) {
            let text = value.to_string();
            if !said.contains(&text) {
                said.push(text);
            }
        }
        let text = inert::inert(&said.join(", ")).into_owned();
        let cut = text.char_indices().nth(VALUES).map(|(end, _)| end);
        let text = match cut.and_then(|end| text.get(..end)) {
            Some(part) => format!("{part}…"),
            None => text,
        };
        (!text.is_empty()).then_some(text)
    }
}

impl Decision {
    /// Returns a decision without clauses, errors or verdicts.
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
            notes: Vec::new(),
            owed: Vec::new(),
            proposal: None,
            reserved: 0,
            refused: None,
            copied: Vec::new(),
        }
    }

    /// Denies, for a reason that no clause gives.
    pub(super) fn deny(&mut self, why: String) {
        self.ruling = self.ruling.max(Ruling::Block);
        self.errors.push(why);
    }

    /// Returns the numbers of the clauses that ask a person.
    pub fn asking(&self) -> impl Iterator<Item = usize> {
        let asks = |fired: &&Fired| fired.action == ActionKind::Ask;
        self.clauses.iter().filter(asks).map(|fired| fired.clause)
    }

    /// Returns the decision of the clauses with this ruling alone; `None` if there are none.
    pub fn part(&self, ruling: Ruling) -> Option<Decision> {
        let mut part = Decision {
            ruling,
            ..self.clone()
        };
        part.clauses
            .retain(|fired| Ruling::of(fired.action) == ruling);
        (!part.clauses.is_empty()).then_some(part)
    }

    /// Joins a decision about the same action in another order of events, or in another trace. The stricter one applies; if both
    /// ask, the person is asked all that both ask.
    pub fn join(&mut self, other: Decision) {
        if other.ruling > self.ruling {
            *self = Decision {
                cause: self.cause,
                trace: self.trace.take(),
                step: self.step,
                proposal: self.proposal,
                ..other
            };
        } else if (self.ruling, other.ruling) == (Ruling::Ask, Ruling::Ask) {
            let n_before = self.clauses.len() + self.errors.len();
            for fired in other.clauses {
                let same = |known: &Fired| {
                    (known.clause, known.arm, &known.message)
                        == (fired.clause, fired.arm, &fired.message)
                };
                if fired.action == ActionKind::Ask && !self.clauses.iter().any(same) {
                    self.clauses.push(fired);
                }
            }
            self.clauses.sort_by_key(|fired| fired.clause);
            for error in other.errors {
                if !self.errors.contains(&error) {
                    self.errors.push(error);
                }
            }
            if self.clauses.len() + self.errors.len() > n_before {
                self.reserved = self.reserved.max(other.reserved);
            }
        }
    }

    /// Adds the clauses of a decision about the same action that this one does not have.
    pub(super) fn add_clauses(&mut self, other: Decision) {
        let is_new = |fired: &Fired| {
            let same = |known: &Fired| (known.clause, known.arm) == (fired.clause, fired.arm);
            !self.clauses.iter().any(same)
        };
        let new: Vec<Fired> = other.clauses.into_iter().filter(is_new).collect();
        if !new.is_empty() {
            self.reserved = self.reserved.max(other.reserved);
        }
        let rulings = new.iter().map(|fired| Ruling::of(fired.action));
        self.ruling = rulings.fold(self.ruling, Ruling::max);
        self.clauses.extend(new);
        self.clauses.sort_by_key(|fired| fired.clause);
    }

    /// Leaves out what a person was asked by these clauses, unless something denies.
    pub(super) fn keep_further(&mut self, asked: &[usize]) {
        if self.ruling.denies() || !self.errors.is_empty() {
            return;
        }
        let is_asked =
            |fired: &Fired| fired.action == ActionKind::Ask && asked.contains(&fired.clause);
        self.clauses.retain(|fired| !is_asked(fired));
        let rulings = self.clauses.iter().map(|fired| Ruling::of(fired.action));
        self.ruling = rulings.max().unwrap_or_default();
    }

    /// Returns the messages of the deciding arms, joined: the text for an agent or a person. For a proposed action it contains
    /// the values of that action which the conditions read. It contains no values of outcomes and of earlier events: a result may be
    /// withheld because of such a value. What a message of the spec quotes is the choice of its author.
    pub fn reason(&self) -> String {
        let proposed = matches!(self.cause, Cause::Proposal | Cause::Act);
        // An error names the values of the event, too.
        let happened = self.cause == Cause::Event;
        let decides = |fired: &&Fired| Ruling::of(fired.action) == self.ruling;
        // If a condition could not be decided, the message of the spec alone would claim that it was.
        let tell = |fired: &Fired| {
            let message = inert::inert(&fired.message);
            let values = fired.values_that(|value| proposed && !value.remembered);
            match (&fired.why, values) {
                (Some(why), _) if fired.omits_doubt || !self.errors.is_empty() => {
                    let why = if happened { NOT_DECIDED } else { why };
                    format!("{message} ({why})")
                }
                (_, Some(values)) => format!("{message} ({values})"),
                _ => message.into_owned(),
            }
        };
        let is_decided = self.clauses.iter().any(|fired| decides(&fired));
        let errors = self.errors.iter().filter(|_| !is_decided);
        let errors = errors.map(|error| match happened {
            true => NOT_DECIDED.to_owned(),
            false => error.clone(),
        });
        let fired = self.clauses.iter().filter(decides).map(tell);
        let said: Vec<String> = fired.chain(errors).collect();
        said.join("; ")
    }

    /// Writes the decision as one line of JSON, without the line end. Control characters for terminals are escaped.
    pub fn write_json(&self, out: &mut String) {
        // Serialisation can only fail for a key that is not a string, and all keys are strings.
        let json = serde_json::to_string(self).unwrap_or_default();
        inert::push_json(out, &json);
    }

    /// Returns the decision as one line of JSON.
    pub fn to_json(&self) -> String {
        let mut out = String::with_capacity(256);
        self.write_json(&mut out);
        out
    }
}

/// The JSON form of a decision; empty members are left out.
#[derive(Serialize)]
struct DecisionLine<'a> {
    v: u8,
    trace: Option<&'a str>,
    step: Option<u32>,
    decision: Ruling,
    clauses: &'a [Fired],
    #[serde(serialize_with = "risk")]
    risk: &'a [(SmolStr, Option<f64>)],
    state: Option<&'a str>,
    #[serde(serialize_with = "verdicts")]
    verdicts: &'a [(SmolStr, Verdict)],
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reserved: Option<usize>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    owed: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    errors: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
}

impl Serialize for Decision {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        DecisionLine {
            v: 1,
            trace: self.trace.as_deref(),
            step: self.step,
            decision: self.ruling,
            clauses: &self.clauses,
            risk: &self.risk,
            state: self.state.as_deref(),
            verdicts: &self.verdicts,
            phase: self.cause.phase(),
            proposal: self.proposal,
            reserved: (self.reserved > 0).then_some(self.reserved),
            owed: &self.owed,
            errors: &self.errors,
            notes: &self.notes,
        }
        .serialize(to)
    }
}

fn risk<S: Serializer>(each: &[(SmolStr, Option<f64>)], to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(each.len()))?;
    for (query, risk) in each {
        match risk {
            Some(risk) if risk.is_finite() => {
                map.serialize_entry(query, &raw::<S>(risk.to_string())?)?
            }
            Some(_) => map.serialize_entry(query, "inf")?,
            None => map.serialize_entry(query, &())?,
        }
    }
    map.end()
}

fn verdicts<S: Serializer>(each: &[(SmolStr, Verdict)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(each.iter().map(|(property, verdict)| (property, verdict)))
}

/// Returns serialised JSON as a raw value.
fn raw<S: Serializer>(json: String) -> Result<Box<RawValue>, S::Error> {
    RawValue::from_string(json).map_err(serde::ser::Error::custom)
}

impl Serialize for Fired {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("action", self.action.as_str())?;
        map.serialize_entry("message", &self.message)?;
        if let Some(why) = &self.why {
            map.serialize_entry("why", why)?;
        }
        if !self.reasons.is_empty() {
            map.serialize_entry("reasons", &self.reasons)?;
        }
        let instance = |values| Instance {
            values,
            enums: &self.enums,
        };
        if !self.instance.is_empty() {
            map.serialize_entry("instance", &instance(&self.instance))?;
        }
        if let Some((name, arguments)) = &self.invoke {
            let of = |argument: &Argument| Some((argument.0.clone()?, argument.1.clone()));
            let named: Vec<(SmolStr, Value)> = arguments.iter().filter_map(of).collect();
            let plain = arguments.iter().filter(|(name, _)| name.is_none());
            let args = plain.map(|(_, value)| raw::<S>(value_json(value, &self.enums)));
            let args = args.collect::<Result<Vec<_>, _>>()?;
            let invoke = Invoke {
                name,
                args,
                named: instance(&named),
            };
            map.serialize_entry("invoke", &invoke)?;
        }
        map.end()
    }
}

/// The name and input of an invoked handler.
#[derive(Serialize)]
struct Invoke<'a> {
    name: &'a str,
    args: Vec<Box<RawValue>>,
    named: Instance<'a>,
}
