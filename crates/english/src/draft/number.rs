//! Numbers in digits and words, and the units that follow them.

use super::token::{Kind, Token};
pub(super) use crate::words::{Ratio, Unit};

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Measure {
    /// How much.
    pub(super) value: Ratio,
    /// Of what.
    pub(super) unit: Unit,
}

impl Measure {
    /// A number without a unit.
    pub(super) fn count(n: i128) -> Measure {
        Measure {
            value: Ratio::new(n, 1),
            unit: Unit::None,
        }
    }
}

const SMALL: &[(&str, i128)] = &[
    ("zero", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fourty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
];

const LARGE: &[(&str, i128)] = &[
    ("dozen", 12),
    ("score", 20),
    ("hundred", 100),
    ("thousand", 1_000),
    ("million", 1_000_000),
];

/// Units of time in seconds, as fractions.
const TIME: &[(&str, i128, i128)] = &[
    ("ms", 1, 1000),
    ("msec", 1, 1000),
    ("millisecond", 1, 1000),
    ("milliseconds", 1, 1000),
    ("s", 1, 1),
    ("sec", 1, 1),
    ("secs", 1, 1),
    ("second", 1, 1),
    ("seconds", 1, 1),
    ("m", 60, 1),
    ("min", 60, 1),
    ("mins", 60, 1),
    ("minute", 60, 1),
    ("minutes", 60, 1),
    ("h", 3600, 1),
    ("hr", 3600, 1),
    ("hrs", 3600, 1),
    ("hour", 3600, 1),
    ("hours", 3600, 1),
    ("d", 86_400, 1),
    ("day", 86_400, 1),
    ("days", 86_400, 1),
    ("week", 604_800, 1),
    ("weeks", 604_800, 1),
    ("fortnight", 1_209_600, 1),
    ("fortnights", 1_209_600, 1),
];

/// Words for the steps of a run.
const STEPS: &[&str] = &[
    "step",
    "steps",
    "tick",
    "ticks",
    "timestep",
    "timesteps",
    "time-step",
    "time-steps",
];

/// Words that may stand for steps where a distance is asked for: `within three turns`.
pub(super) const STEP_LIKE: &[&str] = &[
    "event",
    "events",
    "turn",
    "turns",
    "action",
    "actions",
    "move",
    "moves",
    "round",
    "rounds",
    "iteration",
    "iterations",
    "cycle",
    "cycles",
    "message",
    "messages",
    "transition",
    "transitions",
    "state",
    "states",
    "call",
    "calls",
    "position",
    "positions",
    "moment",
    "moments",
];

/// Makes number words, digits and the units after them one token each.
pub(super) fn with_numbers(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let before = out.last();
        match measure(&tokens, at, before) {
            Some((measure, length)) if length > 0 => {
                let mut token = tokens[at].clone();
                token.kind = Kind::Number(measure);
                token.span.end = tokens[at + length - 1].span.end;
                out.push(token);
                at += length;
            }
            _ => {
                out.push(tokens[at].clone());
                at += 1;
            }
        }
    }
    out
}

/// The number that begins here with its unit, and how many tokens it takes.
fn measure(tokens: &[Token], at: usize, before: Option<&Token>) -> Option<(Measure, usize)> {
    if let Some(found) = fraction(tokens, at) {
        return Some(found);
    }
    let low = |offset: usize| word_at(tokens, at + offset);
    // `per minute`; `twice a day`
    let often = before
        .is_some_and(|token| matches!(token.low.as_str(), "times" | "twice" | "once" | "thrice"));
    if (low(0) == Some("per") || often && matches!(low(0), Some("a" | "an" | "each" | "every")))
        && let Some((num, den)) = low(1).and_then(time_unit)
    {
        let value = Ratio::new(num, den);
        return Some((
            Measure {
                value,
                unit: Unit::Seconds,
            },
            2,
        ));
    }
    // `within the past hour`
    if before.is_some_and(|token| matches!(token.low.as_str(), "past" | "last" | "previous"))
        && let Some((num, den)) = low(0).and_then(time_unit)
        && low(0).is_some_and(|unit| unit.len() > 3 && !unit.ends_with('s'))
    {
        let value = Ratio::new(num, den);
        let unit = Unit::Seconds;
        return Some((Measure { value, unit }, 1));
    }
    // `an hour`, where a distance is asked for.
    if matches!(low(0), Some("a" | "an")) {
        let asked = before.is_some_and(|token| {
            matches!(
                token.low.as_str(),
                "within"
                    | "in"
                    | "than"
                    | "most"
                    | "least"
                    | "for"
                    | "under"
                    | "inside"
                    | "after"
                    | "last"
                    | "past"
            )
        });
        let unit = low(1).and_then(time_unit);
        if unit.is_none() {
            let (value, used) = number(tokens, at)?;
            return Some(with_unit(tokens, at, value, used));
        }
        let (num, den) = unit?;
        // `a second attempt` is no second.
        let ordinal = low(1) == Some("second")
            && tokens.get(at + 2).is_some_and(|next| {
                next.kind == Kind::Word
                    && !matches!(next.low.as_str(), "of" | "after" | "from" | "later" | "and")
            });
        if !asked || ordinal {
            return None;
        }
        let mut value = Ratio::new(num, den);
        let mut used = 2;
        if low(2) == Some("and") && low(3) == Some("a") && low(4) == Some("half") {
            value = value.times(Ratio::new(3, 2));
            used = 5;
        }
        return Some((
            Measure {
                value,
                unit: Unit::Seconds,
            },
            used,
        ));
    }
    let (value, used) = number(tokens, at)?;
    Some(with_unit(tokens, at, value, used))
}

/// A number followed by its unit, if it has one.
fn with_unit(tokens: &[Token], at: usize, value: Ratio, used: usize) -> (Measure, usize) {
    let plain = (
        Measure {
            value,
            unit: Unit::None,
        },
        used,
    );
    let Some(next) = tokens.get(at + used) else {
        return plain;
    };
    let share = |used| {
        let value = value.times(Ratio::new(1, 100));
        (
            Measure {
                value,
                unit: Unit::Share,
            },
            used,
        )
    };
    if next.kind == Kind::Percent {
        return share(used + 1);
    }
    if next.kind != Kind::Word {
        return plain;
    }
    let qualified = usize::from(matches!(
        next.low.as_str(),
        "more"
            | "further"
            | "additional"
            | "consecutive"
            | "subsequent"
            | "calendar"
            | "business"
            | "working"
            | "full"
            | "successive"
            | "simulation"
            | "time"
    ));
    let Some(unit) = word_at(tokens, at + used + qualified) else {
        return plain;
    };
    let used = used + qualified;
    match unit {
        "percent" | "pct" => return share(used + 1),
        "per" if word_at(tokens, at + used + 1) == Some("cent") => return share(used + 2),
        _ => {}
    }
    if STEPS.contains(&unit) {
        return (
            Measure {
                value,
                unit: Unit::Steps,
            },
            used + 1,
        );
    }
    // One letter is a unit only where it touches the number.
    let touches = tokens[at + used - 1].span.end == tokens[at + used].span.start;
    match time_unit(unit).filter(|_| unit.len() > 2 || unit == "ms" || unit == "hr" || touches) {
        Some((num, den)) => {
            let mut total = value.times(Ratio::new(num, den));
            let mut used = used + 1;
            // `2 hours and 30 minutes`, `1h30m`.
            let and = usize::from(word_at(tokens, at + used) == Some("and"));
            if let Some((more, length)) = number(tokens, at + used + and) {
                let (next, length) = with_unit(tokens, at + used + and, more, length);
                if next.unit == Unit::Seconds {
                    total = total.plus(next.value);
                    used += and + length;
                }
            }
            (
                Measure {
                    value: total,
                    unit: Unit::Seconds,
                },
                used,
            )
        }
        None => plain,
    }
}

/// `half an hour`, `a quarter of an hour`, `half a dozen`.
fn fraction(tokens: &[Token], at: usize) -> Option<(Measure, usize)> {
    let low = |offset: usize| word_at(tokens, at + offset);
    let (part, mut used) = match (low(0)?, low(1)) {
        ("half", Some("a" | "an")) => (Ratio::new(1, 2), 2),
        ("half", Some("the")) => return None,
        ("a", Some("quarter")) if low(2) == Some("of") && matches!(low(3), Some("a" | "an")) => {
            (Ratio::new(1, 4), 4)
        }
        ("three", Some("quarters"))
            if low(2) == Some("of") && matches!(low(3), Some("a" | "an")) =>
        {
            (Ratio::new(3, 4), 4)
        }
        _ => return None,
    };
    let unit = low(used)?;
    used += 1;
    if unit == "dozen" {
        return Some(with_unit(tokens, at, Ratio::new(6, 1), used));
    }
    let (num, den) = time_unit(unit)?;
    let value = Ratio::new(num, den).times(part);
    Some((
        Measure {
            value,
            unit: Unit::Seconds,
        },
        used,
    ))
}

fn time_unit(word: &str) -> Option<(i128, i128)> {
    TIME.iter()
        .find(|(name, _, _)| *name == word)
        .map(|(_, num, den)| (*num, *den))
}

fn word_at(tokens: &[Token], at: usize) -> Option<&str> {
    tokens
        .get(at)
        .filter(|token| token.kind == Kind::Word)
        .map(|token| token.low.as_str())
}

/// A number in digits or words, and how many tokens it takes.
fn number(tokens: &[Token], at: usize) -> Option<(Ratio, usize)> {
    let first = word_at(tokens, at)?;
    if let Some(value) = digits(first) {
        return match word_at(tokens, at + 1).and_then(large) {
            Some(factor) => Some((value.times(Ratio::new(factor, 1)), 2)),
            None => Some((value, 1)),
        };
    }
    let article = usize::from(
        matches!(first, "a" | "one")
            && word_at(tokens, at + 1).is_some_and(|next| large(next).is_some()),
    );
    if first == "a" && word_at(tokens, at + 1) == Some("couple") {
        let of = usize::from(word_at(tokens, at + 2) == Some("of"));
        return Some((Ratio::new(2, 1), 2 + of));
    }
    let (mut total, mut current, mut used) = (0_i128, i128::from(article == 1), article);
    let mut seen = article == 1;
    while let Some(word) = word_at(tokens, at + used) {
        if let Some(value) = small(word) {
            // `one one` are two numbers.
            if seen && current % 10 != 0 {
                break;
            }
            current = current.saturating_add(value);
        } else if let Some(factor) = large(word).filter(|_| seen) {
            if factor >= 1000 {
                total = total.saturating_add(current.max(1).saturating_mul(factor));
                current = 0;
            } else {
                current = current.max(1).saturating_mul(factor);
            }
        } else if word == "and"
            && seen
            && current % 100 == 0
            && word_at(tokens, at + used + 1).is_some_and(|next| small(next).is_some())
            && (current > 0 || total > 0)
        {
            used += 1;
            continue;
        } else {
            break;
        }
        seen = true;
        used += 1;
    }
    if !seen {
        return None;
    }
    let mut value = Ratio::new(total.saturating_add(current), 1);
    let low = |offset: usize| word_at(tokens, at + offset);
    if low(used) == Some("and") && low(used + 1) == Some("a") && low(used + 2) == Some("half") {
        value = value.plus(Ratio::new(1, 2));
        used += 3;
    }
    Some((value, used))
}

fn digits(word: &str) -> Option<Ratio> {
    if !word.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let plain: String = word.chars().filter(|c| !matches!(c, ',' | '_')).collect();
    match plain.split_once('.') {
        None => plain.parse().ok().map(|value| Ratio::new(value, 1)),
        Some((whole, part)) => {
            let scale = 10_i128.checked_pow(u32::try_from(part.len()).ok()?)?;
            let whole: i128 = whole.parse().ok()?;
            let part: i128 = part.parse().ok()?;
            Some(Ratio::new(
                whole.checked_mul(scale)?.checked_add(part)?,
                scale,
            ))
        }
    }
}

fn large(word: &str) -> Option<i128> {
    LARGE
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, value)| *value)
}

/// A number below a hundred in one word: `seven`, `twenty-five`.
fn small(word: &str) -> Option<i128> {
    let unit = |word: &str| {
        SMALL
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, value)| *value)
    };
    if let Some(value) = unit(word) {
        return Some(value);
    }
    let (tens, ones) = word.split_once('-')?;
    Some(unit(tens).filter(|tens| tens % 10 == 0)? + unit(ones).filter(|ones| *ones < 10)?)
}

/// The number that a word such as `twice` gives.
pub(super) fn times(word: &str) -> Option<i128> {
    match word {
        "once" => Some(1),
        "twice" => Some(2),
        "thrice" => Some(3),
        _ => None,
    }
}
