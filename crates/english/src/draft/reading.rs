//! One reading of a requirement: its sentence of controlled English, with its formula and example traces.

use std::collections::BTreeSet;

use serde::Serialize;

use super::example::{self, Trace};
use crate::controlled::token::tokens;
use crate::controlled::{Controlled, Fault, Situation, Vocabulary, read_exactly};
use crate::words::formula::Binary;
use crate::words::{Logic, Unary, Window, Writer, first_letter, one_line, sentence, stems};

/// A reading of a requirement.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The sentence of controlled English.
    pub words: String,
    /// Its meaning.
    pub controlled: Controlled,
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

    /// Whether all its situations are in quotation marks or backquotes in a text.
    pub(super) fn speaks_only_of(&self, text: &str) -> bool {
        let quoted = tokens(text);
        let is_quoted = |it: &Situation| {
            quoted
                .iter()
                .any(|token| token.quoted() == Some(&it.phrase))
        };
        self.controlled.situations.iter().all(is_quoted)
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
        let renamed = other.controlled.logic.renamed(&|atom| paired[atom]);
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
        let theirs = other.controlled.situations.iter();
        let numbers: Vec<usize> = theirs
            .map(|it| {
                let mut known = situations.iter();
                known
                    .position(|known| known.phrase == it.phrase)
                    .unwrap_or_else(|| {
                        situations.push(it.clone());
                        situations.len() - 1
                    })
            })
            .collect();
        let theirs = other.controlled.logic.renamed(&|atom| numbers[atom]);
        let names = names(&situations);
        let (trace, first_accepts) = example::parting(&self.controlled.logic, &theirs, &names)?;
        Some(Telling {
            trace,
            first_accepts,
        })
    }

    /// Returns the kind of the requirement, by the form of its formula: `invariant` is `G (p -> q)`, `forbid` `!F (p & q)`, `liveness`
    /// `G (p -> F q)`, `bounded` a deadline, a duration or a greatest age, `precedence` `G (q -> O p)`, `absence_after` that after `p` there
    /// is no `q`, `existence` `F p`, `count_limit` at most or at least so often, `until` `p W q` or `p U q`, and `probability_bound`
    /// `P<=p [ … ]`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.controlled.chance {
            Some(_) => "probability_bound",
            None => kind(&self.controlled.logic),
        }
    }

    /// Returns its deadline, duration or greatest age.
    pub(super) fn bound(&self) -> Option<Window> {
        window(&self.controlled.logic)
    }

    /// Returns the number of a count: the greatest that is allowed, or the least that is required.
    pub(super) fn count(&self) -> Option<u32> {
        count(&self.controlled.logic)
    }
}

/// Whether two situations are spoken of in the same words, in any order and form.
fn same_words(a: &Situation, b: &Situation) -> bool {
    let words = |situation: &Situation| stems(&situation.phrase, "same words");
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
    if let Some(inner) = logic.inside(Unary::Always) {
        return match inner {
            Logic::AtMost(_, window, _) => Some(*window),
            _ => None,
        };
    }
    match logic {
        Logic::Not(inner) => window(inner),
        Logic::Unary(_, window, _) | Logic::Binary(_, window, ..) => *window,
        // A window that the end of the run may cut off.
        logic => logic.unless_cut_off().and_then(window),
    }
}

fn count(logic: &Logic) -> Option<u32> {
    match logic {
        Logic::Not(inner) => inner.times().map(|(_, count)| count - 1),
        logic => match logic.inside(Unary::Always) {
            Some(Logic::AtMost(count, ..)) => Some(*count),
            _ => logic.times().map(|(_, count)| count),
        },
    }
}

fn kind(logic: &Logic) -> &'static str {
    if count(logic).is_some() {
        return "count_limit";
    }
    if let Some((_, then)) = logic.response() {
        return match then {
            Logic::Unary(Unary::Eventually, None, _) => "liveness",
            Logic::Unary(_, Some(_), _) => "bounded",
            Logic::Unary(Unary::Once, None, _) => "precedence",
            Logic::Binary(Binary::Unless | Binary::Until, ..) => "until",
            then if then.unless_cut_off().is_some() => "bounded",
            _ => "invariant",
        };
    }
    match logic {
        Logic::Unary(Unary::Eventually, None, _) => "existence",
        Logic::Unary(_, Some(_), _) => "bounded",
        Logic::Binary(Binary::Unless | Binary::Until, ..) => "until",
        Logic::Not(_) => match logic.denied() {
            Some(bad) if !bad.is_state() => "absence_after",
            _ => "forbid",
        },
        _ => "invariant",
    }
}
