//! What a sentence was found to say.

use serde::Serialize;

use super::lexicon::vague::Missing;
use super::number::{Measure, Ratio};
use crate::words::formula::Logic;

/// The kind of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Modality {
    /// `G (p -> q)`, also with the neighbouring step
    Invariant,
    /// `!F (p & q)`
    Forbid,
    /// `G (p -> F q)`
    Liveness,
    /// A deadline, a duration, a greatest age
    Bounded,
    /// Only what belongs to a set
    Allowlist,
    /// `G (q -> O p)`
    Precedence,
    /// After `p`, no `q`
    AbsenceAfter,
    /// `F p`
    Existence,
    /// At most, or at least, so often
    CountLimit,
    /// `p W q`, `p U q`
    Until,
    /// `P<=p [ … ]`
    ProbabilityBound,
    /// No formula: what is missing has to be asked
    Unclear,
}

impl Modality {
    /// The name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Invariant => "invariant",
            Self::Forbid => "forbid",
            Self::Liveness => "liveness",
            Self::Bounded => "bounded",
            Self::Allowlist => "allowlist",
            Self::Precedence => "precedence",
            Self::AbsenceAfter => "absence_after",
            Self::Existence => "existence",
            Self::CountLimit => "count_limit",
            Self::Until => "until",
            Self::ProbabilityBound => "probability_bound",
            Self::Unclear => "unclear",
        }
    }
}

/// A comparison of a probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Likelihood {
    /// `<=`, `<`, `>=` or `>`.
    pub(super) op: &'static str,
    /// With what.
    pub(super) value: Ratio,
}

/// One reading of a requirement.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reading {
    /// Its formula.
    pub(super) logic: Logic,
    /// Its kind.
    pub(super) modality: Modality,
    /// Its deadline, duration or greatest age.
    pub(super) bound: Option<Measure>,
    /// The number of a count.
    pub(super) count: Option<u32>,
    /// The bound of a probability.
    pub(super) likelihood: Option<Likelihood>,
    /// How much was said and how much supplied: the share of what the sentence leaves no doubt about.
    pub(super) certainty: f64,
}

impl Reading {
    /// A reading that nothing had to be supplied for.
    pub(super) fn new(modality: Modality, logic: Logic) -> Reading {
        Reading {
            logic,
            modality,
            bound: None,
            count: None,
            likelihood: None,
            certainty: 0.95,
        }
    }

    /// With a bound.
    pub(super) fn bounded(mut self, bound: Option<Measure>) -> Reading {
        self.bound = bound;
        self
    }

    /// With a count.
    pub(super) fn counted(mut self, count: u32) -> Reading {
        self.count = Some(count);
        self
    }

    /// Where something had to be supplied.
    pub(super) fn supposing(mut self, certainty: f64) -> Reading {
        self.certainty = self.certainty.min(certainty);
        self
    }
}

/// Why a sentence has no formula, and what would settle it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Nothing is required.
    NoObligation,
    /// A word that cannot be observed.
    Vague(Missing, String),
    /// `it`, `that`: of what?
    Reference(String),
    /// `or` beside `and`.
    Coordination,
    /// `all … not`
    Scope(String),
    /// Something may be done, nothing must.
    Permission,
    /// A limit without a number.
    NoNumber,
    /// No situation is named.
    NoSituation,
    /// A distance that the formula would leave out.
    Unplaced(String),
    /// A deadline without a unit.
    Unitless(String),
    /// So many at the same time.
    AtOnce,
    /// A time of day or a date.
    Calendar(String),
    /// The words are not English.
    Language,
    /// More words than a requirement has.
    TooLong(usize),
}

impl Doubt {
    /// The question that would settle it.
    pub(super) fn question(&self) -> String {
        match self {
            Doubt::NoObligation => {
                "What must always, never or eventually happen? The sentence states no obligation."
                    .to_owned()
            }
            Doubt::Vague(missing, word) => match missing {
                Missing::Quality => format!(
                    "What in a run would show that this is broken? `{word}` cannot be observed: name an event or a condition."
                ),
                Missing::Deadline => {
                    format!("Within how many steps or seconds? `{word}` gives no bound.")
                }
                Missing::Amount => {
                    format!("How many exactly, and in what span? `{word}` gives no number.")
                }
                Missing::Condition => {
                    format!("In which cases exactly? `{word}` leaves the condition open.")
                }
                Missing::Frequency => {
                    format!("How often, or after what event each time? `{word}` gives no schedule.")
                }
            },
            Doubt::Reference(word) => {
                format!("What does `{word}` stand for? Nothing named before fits.")
            }
            Doubt::Coordination => {
                "How do `or` and `and` belong together: (a or b) and c, or a or (b and c)?"
                    .to_owned()
            }
            Doubt::Scope(what) => format!(
                "Is it that no {what}, or that not all of them? `all … not` can be read both ways."
            ),
            Doubt::Permission => {
                "What is forbidden or required? The sentence only allows something.".to_owned()
            }
            Doubt::NoNumber => {
                "What is the limit? The sentence limits something and names no number.".to_owned()
            }
            Doubt::NoSituation => {
                "Which event or condition is meant? The sentence names none that could be observed."
                    .to_owned()
            }
            Doubt::Unplaced(span) => {
                format!("From what event does `{span}` count, and what must be so by then or for so long?")
            }
            Doubt::Unitless(number) => {
                format!("Within {number} what: steps, seconds, minutes?")
            }
            Doubt::AtOnce => {
                "How does one step show that there are more at the same time? A count here is of steps over the run.".to_owned()
            }
            Doubt::Calendar(when) => {
                format!(
                    "Which field of the event says that it is `{when}`? Times of day and dates are conditions, not bounds."
                )
            }
            Doubt::Language => "Can this be said in English? No other language is read.".to_owned(),
            Doubt::TooLong(words) => format!(
                "Can this be split into single requirements? A sentence of {words} words is too long to be read as one."
            ),
        }
    }
}
