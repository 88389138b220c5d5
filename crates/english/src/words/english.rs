//! A reading that follows the formula part by part.
//!
//! The whole sentence has the form of its outermost operators (*whenever …, …*, *… must never hold*), what is nested
//! deeper stands after a colon or in parentheses, so that the words are as unambiguous as the formula.

use super::{Binary, Logic, Unary, Unit, Window};

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
            let words = crate::controlled::spoken(part, &speaker);
            capital(words.unwrap_or_else(|| speaker.phrase(part).text))
        })
        .collect();
    sentences.join(" ")
}

fn capital(words: String) -> String {
    let mut chars = words.chars();
    let capital: String = match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => return words,
    };
    format!("{capital}.")
}

/// The words for a window that the end of the run may cut off.
pub const UNLESS_CUT_OFF: &str = ", unless the trace ends before that";

/// Puts formulas into phrases.
pub(crate) struct Speaker<'a> {
    name: &'a dyn Fn(usize) -> String,
}

/// Words, and whether they can stand beside others without parentheses.
pub(crate) struct Phrase {
    pub(crate) text: String,
    simple: bool,
}

fn simple(text: impl Into<String>) -> Phrase {
    Phrase {
        text: text.into(),
        simple: true,
    }
}

fn compound(text: impl Into<String>) -> Phrase {
    Phrase {
        text: text.into(),
        simple: false,
    }
}

impl Speaker<'_> {
    /// Returns the subject of a verb: an atom by its name, anything else in parentheses.
    pub(crate) fn must(&self, logic: &Logic) -> String {
        match logic {
            Logic::Atom(atom) => (self.name)(*atom),
            Logic::And(parts) if parts.iter().all(|part| matches!(part, Logic::Atom(_))) => {
                self.list(parts, "and")
            }
            Logic::Or(parts) if parts.iter().all(|part| matches!(part, Logic::Atom(_))) => {
                self.list(parts, "or")
            }
            other => format!("({})", self.phrase(other).text),
        }
    }

    fn list(&self, parts: &[Logic], word: &str) -> String {
        let parts: Vec<String> = parts.iter().map(|part| self.part(part)).collect();
        parts.join(&format!(" {word} "))
    }

    fn part(&self, logic: &Logic) -> String {
        let inner = self.phrase(logic);
        if inner.simple {
            inner.text
        } else {
            format!("({})", inner.text)
        }
    }

    pub(crate) fn phrase(&self, logic: &Logic) -> Phrase {
        match logic {
            Logic::True => simple("true"),
            Logic::False => simple("false"),
            Logic::Last => simple("the trace ends here"),
            Logic::First => simple("the trace begins here"),
            Logic::Atom(atom) => simple((self.name)(*atom)),
            Logic::Not(inner) => {
                let negated = self.phrase(inner);
                if negated.simple {
                    simple(format!("not {}", negated.text))
                } else {
                    compound(format!("it is not so that {}", self.part(inner)))
                }
            }
            Logic::And(parts) => compound(self.list(parts, "and")),
            Logic::Or(parts) => compound(self.list(parts, "or")),
            Logic::Implies(a, b) => {
                compound(format!("if {}, then {}", self.part(a), self.phrase(b).text))
            }
            Logic::Iff(a, b) => compound(format!("{} exactly when {}", self.part(a), self.part(b))),
            Logic::Unary(op, window, inner) => self.unary(*op, *window, inner),
            Logic::Binary(op, window, a, b) => self.binary(*op, *window, a, b),
            Logic::AtMost(count, window, event) => {
                let event = self.part(event);
                compound(format!(
                    "{event} at most {} {}",
                    times(*count),
                    back(*window)
                ))
            }
        }
    }

    fn unary(&self, op: Unary, window: Option<Window>, inner: &Logic) -> Phrase {
        let said = self.phrase(inner);
        let text = &said.text;
        // What is short comes first, what is long after a colon.
        let place = |place: &str| {
            if said.simple {
                compound(format!("{text} {place}"))
            } else {
                compound(format!("{place}: {text}"))
            }
        };
        match (op, window) {
            (Unary::Always, None) => match inner {
                Logic::Not(bad) if self.phrase(bad).simple => {
                    compound(format!("{} never happens", self.phrase(bad).text))
                }
                Logic::Not(bad) => {
                    compound(format!("it never happens that {}", self.phrase(bad).text))
                }
                Logic::Implies(a, b) => compound(format!(
                    "whenever {}, {}",
                    self.phrase(a).text,
                    self.phrase(b).text
                )),
                _ => place("at every step from then on"),
            },
            (Unary::Always, Some(window)) => {
                place(&format!("at every step {}", ahead(window, true)))
            }
            (Unary::Eventually, None) => place("at that step or a later one"),
            (Unary::Eventually, Some(window)) => place(&ahead(window, true)),
            (Unary::Next, _) => place("at the next step"),
            (Unary::WeakNext, _) => place("at the next step, if there is one"),
            (Unary::Previously, _) => place("at the step before"),
            (Unary::WeakPreviously, _) => place("at the step before, if there is one"),
            (Unary::Once, None) => place("at that step or an earlier one"),
            (Unary::Once, Some(window)) => place(&back(window)),
            (Unary::Historically, None) => place("at every step up to then"),
            (Unary::Historically, Some(window)) => {
                place(&format!("at every step {}", back(window)))
            }
        }
    }

    fn binary(&self, op: Binary, window: Option<Window>, a: &Logic, b: &Logic) -> Phrase {
        let (lhs, rhs) = (self.part(a), self.part(b));
        compound(match op {
            Binary::Until => match window {
                None => format!("{rhs} comes, and until then {lhs}"),
                Some(window) => {
                    format!("{rhs} comes {}, and until then {lhs}", ahead(window, true))
                }
            },
            Binary::Unless => match a {
                Logic::Not(bad) => format!("no {} before {rhs}", self.part(bad)),
                _ => format!("{lhs} until {rhs}, or for good"),
            },
            Binary::Release => {
                format!("{rhs} up to and including the step where {lhs}, or for good")
            }
            Binary::StrongRelease => {
                format!("{rhs} up to and including the step where {lhs}, which comes")
            }
            Binary::Since => format!("{rhs} has happened, and ever since {lhs}"),
            Binary::BackTo => format!("{lhs} ever since {rhs}, or from the start"),
        })
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
    let zero = window.low.whole() == Some(0);
    let one = window.low.whole() == Some(1) && window.unit == Unit::Steps;
    let high = length(window.high, window.unit);
    if zero && (from_here || window.unit == Unit::Seconds) {
        format!("within {high}")
    } else if zero {
        format!("at that step or within {high}")
    } else if one && !from_here {
        format!("within {high}")
    } else if window.low == window.high {
        format!("exactly {high} later")
    } else {
        format!("{} to {high} later", amount(window.low, window.unit))
    }
}

/// `within the last 5 steps`
pub(crate) fn back(window: Window) -> String {
    let high = length(window.high, window.unit);
    if window.low.whole() == Some(0) {
        format!("within the last {high}")
    } else if window.low == window.high {
        format!("exactly {high} before")
    } else {
        format!("{} to {high} before", amount(window.low, window.unit))
    }
}

/// A number of steps or a time in the largest unit that gives a whole number.
pub(crate) fn length(value: super::Ratio, unit: Unit) -> String {
    if unit != Unit::Seconds {
        return format!(
            "{} {}",
            value.decimal(),
            if value.whole() == Some(1) {
                "step"
            } else {
                "steps"
            }
        );
    }
    for (size, name) in [(86_400, "day"), (3600, "hour"), (60, "minute")] {
        if let Some(count) = value
            .times(super::Ratio::new(1, size))
            .whole()
            .filter(|count| *count > 0)
        {
            return format!("{count} {name}{}", if count == 1 { "" } else { "s" });
        }
    }
    match value.times(super::Ratio::new(1000, 1)).whole() {
        Some(milliseconds) if value.whole().is_none() => format!("{milliseconds} milliseconds"),
        _ => format!(
            "{} {}",
            value.decimal(),
            if value.whole() == Some(1) {
                "second"
            } else {
                "seconds"
            }
        ),
    }
}

/// Returns the number alone, for a pair of numbers with one unit.
fn amount(value: super::Ratio, unit: Unit) -> String {
    if unit == Unit::Seconds {
        length(value, unit)
    } else {
        value.decimal()
    }
}
