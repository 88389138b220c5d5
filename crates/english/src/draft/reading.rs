//! One reading of a requirement: its sentence of controlled English, with its formula and example traces.

use std::collections::BTreeSet;

use serde::Serialize;

use super::compare::stem;
use super::example::{self, Trace};
use crate::controlled::{Controlled, Fault, Situation, Vocabulary, read_exactly};
use crate::words::formula::Binary;
use crate::words::{
    Logic, Unary, Unit, Window, Writer, first_letter, is_listed, one_line, sentence, words_of,
};

/// The kind of a requirement, by the form of its formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// `G (p -> q)`, also with the neighbouring step
    Invariant,
    /// `!F (p & q)`
    Forbid,
    /// `G (p -> F q)`
    Liveness,
    /// A deadline, a duration, a greatest age
    Bounded,
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
}

/// A bound in steps or seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Steps of the run.
    Steps(serde_json::Number),
    /// Seconds.
    Seconds(serde_json::Number),
}

/// A reading of a requirement.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The sentence of controlled English.
    pub words: String,
    /// Its meaning.
    pub controlled: Controlled,
    /// Its kind.
    pub kind: Kind,
    /// Its deadline, duration or greatest age.
    pub bound: Option<Bound>,
    /// The number of a count.
    pub count: Option<u32>,
    /// Its formula in plain temporal logic.
    pub formula: String,
    /// A shortest trace that satisfies it, if possible one in which its trigger happens.
    pub accepts: Option<Trace>,
    /// A shortest trace that violates it.
    pub rejects: Option<Trace>,
}

/// A shortest trace that one reading accepts and the next one does not, or the other way round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Telling {
    /// The trace.
    pub trace: Trace,
    /// Whether it is the first of the two that accepts it.
    pub first_accepts: bool,
}

impl Reading {
    /// The reading of a sentence of controlled English.
    ///
    /// # Errors
    /// The words are not controlled English: the place, and what was expected there. The fault has no rewordings.
    pub(crate) fn new(words: &str, vocabulary: &Vocabulary) -> Result<Reading, Fault> {
        let controlled = read_exactly(words, vocabulary)?;
        let names = names(&controlled.situations);
        let logic = &controlled.logic;
        let machine = example::machine(logic);
        let machine = machine.as_ref();
        let trigger = (controlled.situations.len() > 1).then_some(0);
        Ok(Reading {
            words: one_line(words),
            kind: if controlled.chance.is_some() {
                Kind::ProbabilityBound
            } else {
                kind(logic)
            },
            bound: window(logic).and_then(bound),
            count: count(logic),
            formula: plain(&controlled, &names),
            accepts: machine.and_then(|machine| machine.accepted(trigger, &names)),
            rejects: machine.and_then(|machine| machine.rejected(&names)),
            controlled,
        })
    }

    /// Whether some traces satisfy it and some violate it. True if that is unknown.
    pub(crate) fn says_something(&self) -> bool {
        self.accepts.is_some() == self.rejects.is_some()
    }

    /// Whether another reading is equivalent, with situations that are spoken of in the same words.
    pub(crate) fn says_the_same(&self, other: &Reading) -> bool {
        let own = &self.controlled.situations;
        let theirs = other.controlled.situations.iter();
        let paired = theirs.map(|it| own.iter().position(|known| same_words(known, it)));
        let Some(paired) = paired.collect::<Option<Vec<usize>>>() else {
            return false;
        };
        let distinct: BTreeSet<usize> = paired.iter().copied().collect();
        if distinct.len() != own.len()
            || paired.len() != own.len()
            || self.controlled.key.is_some() != other.controlled.key.is_some()
            || self.controlled.chance != other.controlled.chance
        {
            return false;
        }
        let logic = &other.controlled.logic;
        let renamed = logic.renamed(&|atom| paired.get(atom).copied().unwrap_or(atom));
        renamed == self.controlled.logic
            || example::equivalent(&self.controlled.logic, &renamed) == Some(true)
    }

    /// The formula read back in English.
    pub fn readback(&self) -> String {
        let named = |atom: usize| self.controlled.situations.get(atom);
        let name = |atom| named(atom).map_or_else(String::new, |it| format!("`{}`", it.name));
        let words = sentence(&self.controlled.logic, &name);
        let lower = |words: &str| first_letter(words, char::to_lowercase);
        let words = match self.controlled.chance {
            Some(chance) => format!("With probability {}, {}", chance.words(), lower(&words)),
            None => words,
        };
        match &self.controlled.key {
            Some(key) => format!("For every `{key}`: {}", lower(&words)),
            None => words,
        }
    }

    /// Returns the formula for every value of its key, or `None` without one.
    pub fn parametric(&self) -> Option<String> {
        self.controlled.key.as_ref()?;
        Some(quantified(
            &names(&self.controlled.situations),
            &self.controlled.logic,
        ))
    }

    /// Returns a shortest trace that only one of two readings accepts, or `None` if they are equivalent or the work does not suffice.
    pub(super) fn tell(&self, other: &Reading) -> Option<Telling> {
        let mut situations = self.controlled.situations.clone();
        let mut numbers = Vec::new();
        for it in &other.controlled.situations {
            let known = situations
                .iter()
                .position(|known| known.phrase == it.phrase);
            numbers.push(known.unwrap_or(situations.len()));
            if known.is_none() {
                situations.push(it.clone());
            }
        }
        let theirs = &other.controlled.logic;
        let theirs = theirs.renamed(&|atom| numbers.get(atom).copied().unwrap_or(atom));
        let names = names(&situations);
        let (trace, first_accepts) = example::parting(&self.controlled.logic, &theirs, &names)?;
        Some(Telling {
            trace,
            first_accepts,
        })
    }
}

/// Whether two situations are spoken of in the same words, in any order and form.
fn same_words(a: &Situation, b: &Situation) -> bool {
    let words = |situation: &Situation| -> BTreeSet<String> {
        let words = words_of(&situation.phrase, "").into_iter();
        words
            .filter(|word| !is_listed("same words", word))
            .map(|word| stem(&word).to_owned())
            .collect()
    };
    a.name == b.name || words(a) == words(b)
}

/// The variable of quantified formulas.
pub(super) const VARIABLE: &str = "x";

/// `forall x: …` over predicates with a parameter.
pub(super) fn quantified(names: &[String], logic: &Logic) -> String {
    let names = names.iter().map(|name| format!("{name}({VARIABLE})"));
    let names = &names.collect::<Vec<String>>();
    let formula = Writer { names, rich: true }.write(logic);
    format!("forall {VARIABLE}: {formula}")
}

fn names(situations: &[Situation]) -> Vec<String> {
    situations.iter().map(|it| it.name.clone()).collect()
}

fn plain(controlled: &Controlled, names: &[String]) -> String {
    let formula = Writer { names, rich: false }.write(&controlled.logic);
    match controlled.chance {
        Some(chance) => chance.of(&formula),
        None => formula,
    }
}

/// Returns the window of a duty, or of a response to a trigger.
fn window(logic: &Logic) -> Option<Window> {
    if let Some((_, then)) = logic.response() {
        return window(then);
    }
    if let Some(bad) = logic.denied() {
        return match bad {
            Logic::And(parts) => parts.last().and_then(window),
            _ => None,
        };
    }
    match logic {
        Logic::Unary(Unary::Always, None, inner) => match inner.as_ref() {
            Logic::AtMost(_, window, _) => Some(*window),
            _ => None,
        },
        Logic::Not(inner) => window(inner),
        Logic::Unary(_, window, _) | Logic::Binary(_, window, ..) => *window,
        // A window that the end of the run may cut off.
        logic => logic.unless_cut_off().and_then(window),
    }
}

fn bound(window: Window) -> Option<Bound> {
    let value = window.high;
    let number = match value.whole() {
        Some(whole) => serde_json::Number::from(whole),
        None => serde_json::Number::from_f64(value.to_f64())?,
    };
    Some(match window.unit {
        Unit::Seconds => Bound::Seconds(number),
        _ => Bound::Steps(number),
    })
}

/// Returns the number of a count: the greatest that is allowed, or the least that is required.
fn count(logic: &Logic) -> Option<u32> {
    match logic {
        Logic::Not(inner) => inner.times().map(|(_, count)| count - 1),
        Logic::Unary(Unary::Always, None, inner) => match inner.as_ref() {
            Logic::AtMost(count, ..) => Some(*count),
            _ => None,
        },
        logic => logic.times().map(|(_, count)| count),
    }
}

/// The kind of a formula by its form.
fn kind(logic: &Logic) -> Kind {
    if count(logic).is_some() {
        return Kind::CountLimit;
    }
    if let Some((_, then)) = logic.response() {
        return match then {
            Logic::Unary(Unary::Eventually, None, _) => Kind::Liveness,
            Logic::Unary(_, Some(_), _) => Kind::Bounded,
            Logic::Unary(Unary::Once, None, _) => Kind::Precedence,
            Logic::Binary(Binary::Unless | Binary::Until, ..) => Kind::Until,
            then if then.unless_cut_off().is_some() => Kind::Bounded,
            _ => Kind::Invariant,
        };
    }
    match logic {
        Logic::Unary(Unary::Eventually, None, _) => Kind::Existence,
        Logic::Unary(_, Some(_), _) => Kind::Bounded,
        Logic::Binary(Binary::Unless | Binary::Until, ..) => Kind::Until,
        Logic::Not(_) => match logic.denied() {
            Some(bad) if !bad.is_state() => Kind::AbsenceAfter,
            _ => Kind::Forbid,
        },
        _ => Kind::Invariant,
    }
}
