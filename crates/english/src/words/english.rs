//! A reading that follows the formula part by part.
//!
//! The whole sentence has the form of its outermost operators (*whenever …, …*, *… must never hold*), what is nested
//! deeper stands after a colon or in parentheses, so that the words are as unambiguous as the formula.

use super::formula::{not, repeated};
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
        .map(|part| Speaker { name }.whole(part))
        .map(capital)
        .collect();
    sentences.join(" ")
}

/// A formula in words, without a capital and without a full stop.
pub fn phrase(logic: &Logic, name: &dyn Fn(usize) -> String) -> String {
    Speaker { name }.phrase(logic).text
}

fn capital(words: String) -> String {
    let mut chars = words.chars();
    let capital: String = match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => return words,
    };
    format!("{capital}.")
}

/// What is said of a window that the end of the run may cut off.
pub const UNLESS_CUT_OFF: &str = ", unless the trace ends before that";

struct Speaker<'a> {
    name: &'a dyn Fn(usize) -> String,
}

/// Words, and whether they can stand beside others without parentheses.
struct Phrase {
    text: String,
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
    /// A property as a whole.
    fn whole(&self, logic: &Logic) -> String {
        match logic {
            Logic::Unary(Unary::Always, None, inner) => match inner.as_ref() {
                Logic::Implies(a, b) => self.whenever(a, b),
                Logic::Not(bad) => self.never(bad),
                Logic::AtMost(count, None, event) if matches!(event.as_ref(), Logic::Atom(_)) => {
                    format!("{} may hold at most {}", self.part(event), times(*count))
                }
                inner => format!("{} must always hold", self.must(inner)),
            },
            Logic::Not(inner) => match inner.as_ref() {
                Logic::Unary(Unary::Eventually, None, bad) => match repeated(bad) {
                    Some((event, count)) if count > 1 => {
                        format!("{} may hold at most {}", self.part(event), times(count - 1))
                    }
                    _ => self.never(bad),
                },
                _ => format!("it must not be so that {}", self.phrase(inner).text),
            },
            Logic::Unary(Unary::Eventually, None, inner) => match repeated(inner) {
                Some((event, count)) if count > 1 => {
                    format!("{} must hold at least {}", self.part(event), times(count))
                }
                _ => match inner.as_ref() {
                    Logic::And(parts) if parts.len() == 2 && is_last(&parts[1]) => {
                        format!("the run must end with {}", self.must(&parts[0]))
                    }
                    Logic::And(parts) if self.unanswered(parts).is_some() => {
                        self.unanswered(parts).unwrap_or_default()
                    }
                    inner => format!("{} must hold at some point", self.must(inner)),
                },
            },
            Logic::Unary(Unary::Eventually, Some(window), inner) => {
                format!("{} must hold {}", self.must(inner), ahead(*window, true))
            }
            Logic::Binary(Binary::Unless, None, a, b) => match a.as_ref() {
                Logic::Not(bad) => format!(
                    "{} must not hold until {} holds",
                    self.must(bad),
                    self.must(b)
                ),
                a => format!(
                    "{} must hold until {} holds, if it ever does",
                    self.must(a),
                    self.must(b)
                ),
            },
            Logic::Binary(Binary::Until, None, a, b) => {
                let end = self.must(b);
                match a.as_ref() {
                    Logic::Not(bad) => format!(
                        "{} must not hold until {end} holds, and {end} must hold at some point",
                        self.must(bad)
                    ),
                    a => format!(
                        "{} must hold until {end} holds, and {end} must hold at some point",
                        self.must(a)
                    ),
                }
            }
            other => format!("at the first step, {}", self.phrase(other).text),
        }
    }

    /// `a & !F[1,5] b`: an event that nothing comes of.
    fn unanswered(&self, parts: &[Logic]) -> Option<String> {
        let [Logic::Atom(event), Logic::Not(lacks)] = parts else {
            return None;
        };
        let Logic::Unary(Unary::Eventually, window, answer) = lacks.as_ref() else {
            return None;
        };
        let Logic::Atom(answer) = answer.as_ref() else {
            return None;
        };
        let (event, answer) = ((self.name)(*event), (self.name)(*answer));
        Some(match window {
            Some(window) => format!(
                "some {event} is not followed by {answer} {}",
                ahead(*window, false)
            ),
            None => format!("some {event} is never followed by {answer}"),
        })
    }

    /// `G (a -> b)`
    fn whenever(&self, when_logic: &Logic, then: &Logic) -> String {
        if let Some(asked) = then.unless_cut_off() {
            return self.whenever(when_logic, asked) + UNLESS_CUT_OFF;
        }
        let when = match when_logic {
            Logic::Not(inner) => format!("whenever {} does not hold", self.must(inner)),
            when => format!("whenever {} holds", self.must(when)),
        };
        let then = match then {
            Logic::Not(bad) if bad.is_state() => {
                format!("{} must not hold at that step", self.must(bad))
            }
            // What must stop within a time must not last longer.
            Logic::Unary(Unary::Eventually, Some(window), end)
                if matches!((when_logic, end.as_ref()), (same, Logic::Not(ends)) if **ends == *same)
                    && window.low.whole().is_some_and(|low| low <= 1) =>
            {
                return format!(
                    "{} must not hold for longer than {}",
                    self.must(when_logic),
                    length(window.high, window.unit)
                );
            }
            Logic::Unary(op, window, inner)
                if matches!(inner.as_ref(), Logic::Atom(_)) || inner.is_state() =>
            {
                let (what, modal) = match inner.as_ref() {
                    Logic::Not(bad) => (self.must(bad), "must not"),
                    inner => (self.must(inner), "must"),
                };
                match (op, window) {
                    (Unary::Eventually, None) => {
                        format!("{what} {modal} hold at that step or a later one")
                    }
                    (Unary::Eventually, Some(window)) => {
                        format!("{what} {modal} hold {}", ahead(*window, false))
                    }
                    (Unary::Next, _) => format!("{what} {modal} hold in the next step"),
                    (Unary::Previously, _) => {
                        format!("{what} {modal} have held in the step before")
                    }
                    (Unary::Once, None) => {
                        format!("{what} {modal} have held at that step or an earlier one")
                    }
                    (Unary::Once, Some(window)) => {
                        format!("{what} {modal} have held {}", back(*window))
                    }
                    _ => self.phrase(then).text,
                }
            }
            Logic::Binary(Binary::Unless, None, a, b) if a.is_state() && b.is_state() => {
                match a.as_ref() {
                    Logic::Not(bad) => format!(
                        "{} must not hold until {} holds",
                        self.must(bad),
                        self.must(b)
                    ),
                    a => format!(
                        "{} must hold until {} holds, if it ever does",
                        self.must(a),
                        self.must(b)
                    ),
                }
            }
            state if state.is_state() => format!("{} must hold at that step", self.must(state)),
            other if renewal(other).is_some() => return self.renewed(when_logic, other),
            other => format!("it must be so that {}", self.phrase(other).text),
        };
        format!("{when}, {then}")
    }

    /// `G (a -> Y (!r S p))`: a permission that is used up, or revoked.
    fn renewed(&self, act: &Logic, held: &Logic) -> String {
        match renewal(held) {
            Some((revoke, permit)) if revoke == act => {
                format!(
                    "each {} needs its own {}",
                    self.must(act),
                    self.must(permit)
                )
            }
            Some((revoke, permit)) => format!(
                "{} may hold only after {} has held and {} has not held since",
                self.must(act),
                self.must(permit),
                self.must(revoke)
            ),
            None => String::new(),
        }
    }

    /// `!F bad`
    fn never(&self, bad: &Logic) -> String {
        let Logic::And(parts) = bad else {
            return match bad {
                Logic::Not(good) if good.is_state() => {
                    format!("{} must always hold", self.must(good))
                }
                bad => format!("{} must never hold", self.must(bad)),
            };
        };
        let (last, first) = match parts.split_last() {
            Some((last, first)) if !first.is_empty() => (last, first),
            _ => return format!("{} must never hold", self.must(bad)),
        };
        let first = super::formula::and(first.iter().cloned());
        match last {
            Logic::Unary(Unary::Eventually, None, later) => format!(
                "{} must never be followed by {}, at the same step or later",
                self.must(&first),
                self.must(later)
            ),
            Logic::Unary(Unary::Next, None, later) => match later.as_ref() {
                Logic::Unary(Unary::Eventually, None, later) => format!(
                    "after {} has held, {} must never hold",
                    self.must(&first),
                    self.must(later)
                ),
                Logic::Binary(Binary::Until, None, _, end) => {
                    match (end.as_ref(), self.scoped(later)) {
                        (Logic::And(_), Some((bad, release))) => {
                            format!(
                                "after {} has held, {bad} must not hold until {release} holds",
                                self.must(&first)
                            )
                        }
                        _ => format!("it must never be so that {}", self.phrase(bad).text),
                    }
                }
                _ => format!("it must never be so that {}", self.phrase(bad).text),
            },
            Logic::Binary(Binary::Until, None, ..) => match self.scoped(last) {
                Some((bad, release)) => format!(
                    "from the step where {} holds until {release} holds, {bad} must not hold",
                    self.must(&first)
                ),
                None => format!("it must never be so that {}", self.phrase(bad).text),
            },
            Logic::Not(_) => self.whenever(&first, &not(last.clone())),
            last if first.is_state() => self.whenever(&first, &not(last.clone())),
            _ => format!("it must never be so that {}", self.phrase(bad).text),
        }
    }

    /// `!r U (q & !r)`: what must not be, and what ends that.
    fn scoped(&self, logic: &Logic) -> Option<(String, String)> {
        let Logic::Binary(Binary::Until, None, not_release, end) = logic else {
            return None;
        };
        let (Logic::Not(release), Logic::And(parts)) = (not_release.as_ref(), end.as_ref()) else {
            return None;
        };
        let (last, bad) = parts.split_last()?;
        let bad = super::formula::and(bad.iter().cloned());
        (*last == Logic::Not(release.clone())).then(|| (self.must(&bad), self.must(release)))
    }

    /// What is said to hold: an atom by its name, anything else in parentheses.
    fn must(&self, logic: &Logic) -> String {
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

    fn phrase(&self, logic: &Logic) -> Phrase {
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
                let window = window.map_or_else(|| "up to then".to_owned(), back);
                compound(format!(
                    "{} at most {} {window}",
                    self.part(event),
                    times(*count)
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

/// `last`, or `!X true`.
fn is_last(logic: &Logic) -> bool {
    *logic == Logic::Last || *logic == not(super::formula::next(Logic::True))
}

/// `Y (!r S p)`: what revokes, and what permits.
fn renewal(logic: &Logic) -> Option<(&Logic, &Logic)> {
    let Logic::Unary(Unary::Previously, None, inner) = logic else {
        return None;
    };
    let Logic::Binary(Binary::Since, None, kept, permit) = inner.as_ref() else {
        return None;
    };
    match kept.as_ref() {
        Logic::Not(revoke) if revoke.is_state() && permit.is_state() => Some((revoke, permit)),
        _ => None,
    }
}

fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

/// `within 5 steps`. A window of steps that begins at the next one needs no word for that where a trigger is spoken of.
fn ahead(window: Window, from_here: bool) -> String {
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
fn back(window: Window) -> String {
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
fn length(value: super::Ratio, unit: Unit) -> String {
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
