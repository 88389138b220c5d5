//! Formulas as sentences, part by part.
//!
//! The whole sentence has the form of its outermost operators (*whenever …, …*, *… must never hold*), deeper
//! parts stand after a colon or in parentheses, so that the words are as unambiguous as the formula.

use super::{Logic, Ratio, Unit, Window, first_letter};
use crate::controlled::{phrased, spoken};

/// A formula as a sentence, with its capital and full stop. `name` is how an atom is spoken of.
///
/// ```
/// use guard_english::words::{Logic, formula, sentence};
/// let approved = formula::previously(Logic::Atom(1));
/// let rule = formula::always(formula::implies(Logic::Atom(0), approved));
/// let names = ["`high_risk`", "`approval`"];
/// let words = sentence(&rule, &|atom| names[atom].to_owned());
/// assert_eq!(words, "Whenever `high_risk` holds, `approval` must have held in the step before.");
/// ```
pub fn sentence(logic: &Logic, name: &dyn Fn(usize) -> String) -> String {
    let parts = match logic {
        Logic::And(parts) => parts.as_slice(),
        whole => std::slice::from_ref(whole),
    };
    let sentences: Vec<String> = parts
        .iter()
        .map(|part| {
            let speaker = Speaker { name };
            // The last row of the table takes any formula.
            let words = spoken(part, &speaker);
            let words = words.unwrap_or_else(|| speaker.phrase(part));
            first_letter(&words, char::to_uppercase) + "."
        })
        .collect();
    sentences.join(" ")
}

/// Puts formulas into phrases.
pub(crate) struct Speaker<'a> {
    name: &'a dyn Fn(usize) -> String,
}

impl Speaker<'_> {
    /// Returns the subject of a verb: an atom by its name, anything else in parentheses.
    pub(crate) fn must(&self, logic: &Logic) -> String {
        match logic {
            Logic::Atom(atom) => (self.name)(*atom),
            Logic::And(parts) | Logic::Or(parts)
                if parts.iter().all(|part| matches!(part, Logic::Atom(_))) =>
            {
                self.phrase(logic)
            }
            other => format!("({})", self.phrase(other)),
        }
    }

    fn list(&self, parts: &[Logic], word: &str) -> String {
        let parts: Vec<String> = parts.iter().map(|part| self.part(part)).collect();
        parts.join(&format!(" {word} "))
    }

    pub(crate) fn part(&self, logic: &Logic) -> String {
        let text = self.phrase(logic);
        if is_simple(logic) {
            text
        } else {
            format!("({text})")
        }
    }

    pub(crate) fn phrase(&self, logic: &Logic) -> String {
        match logic {
            Logic::True => "true".to_owned(),
            Logic::False => "false".to_owned(),
            Logic::Last => "the trace ends here".to_owned(),
            Logic::First => "the trace begins here".to_owned(),
            Logic::Atom(atom) => (self.name)(*atom),
            Logic::And(parts) => self.list(parts, "and"),
            Logic::Or(parts) => self.list(parts, "or"),
            Logic::Not(inner) if is_simple(inner) => format!("not {}", self.phrase(inner)),
            _ => phrased(logic, self).unwrap_or_default(),
        }
    }
}

/// Whether the phrase of a formula can stand beside others without parentheses.
pub(crate) fn is_simple(logic: &Logic) -> bool {
    match logic {
        Logic::True | Logic::False | Logic::Last | Logic::First | Logic::Atom(_) => true,
        Logic::Not(inner) => is_simple(inner),
        _ => false,
    }
}

pub(crate) fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

/// `within 5 steps`. A window of steps that begins at the next one needs no word for that where a trigger is spoken of.
pub(crate) fn ahead(window: Window, from_here: bool) -> String {
    let in_steps = window.unit == Unit::Steps;
    let high = length(window.high, window.unit);
    match window.low.whole() {
        Some(0) if from_here || !in_steps => format!("within {high}"),
        Some(0) => format!("at that step or within {high}"),
        Some(1) if in_steps && !from_here => format!("within {high}"),
        _ => format!("{} later", span(window)),
    }
}

/// `within the last 5 steps`
pub(crate) fn back(window: Window) -> String {
    match window.low.whole() {
        Some(0) => format!("within the last {}", length(window.high, window.unit)),
        _ => format!("{} before", span(window)),
    }
}

/// `exactly 5 steps`, `2 to 5 steps`
fn span(window: Window) -> String {
    let high = length(window.high, window.unit);
    if window.low == window.high {
        return format!("exactly {high}");
    }
    let low = match window.unit {
        Unit::Seconds => length(window.low, window.unit),
        Unit::Steps => window.low.decimal(),
    };
    format!("{low} to {high}")
}

/// A number of steps or a time in the largest unit that gives a whole number.
pub(crate) fn length(value: Ratio, unit: Unit) -> String {
    let counted = |count: &str, name: &str| {
        let end = if count == "1" { "" } else { "s" };
        format!("{count} {name}{end}")
    };
    if unit != Unit::Seconds {
        return counted(&value.decimal(), "step");
    }
    let whole = |size: Ratio| value.times(size).whole().filter(|count| *count > 0);
    for (size, name) in [(86_400, "day"), (3600, "hour"), (60, "minute")] {
        if let Some(count) = whole(Ratio::new(1, size)) {
            return counted(&count.to_string(), name);
        }
    }
    match value.times(Ratio::new(1000, 1)).whole() {
        Some(milliseconds) if value.whole().is_none() => format!("{milliseconds} milliseconds"),
        _ => counted(&value.decimal(), "second"),
    }
}
