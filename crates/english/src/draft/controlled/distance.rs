//! Places and distances, as read-back says them: `at the next step`, `within the last 5 minutes`, `twice`.

use crate::words::formula::Unary;
use crate::words::{Ratio, Unit, Window};

/// At which steps something is so.
pub(super) fn place(text: &str) -> Option<(Unary, Option<Window>, &str)> {
    let fixed = [
        ("at every step from then on", Unary::Always),
        ("at every step up to then", Unary::Historically),
        ("at that step or a later one", Unary::Eventually),
        ("at that step or an earlier one", Unary::Once),
        ("at the next step, if there is one", Unary::WeakNext),
        ("at the next step", Unary::Next),
        ("at the step before, if there is one", Unary::WeakPreviously),
        ("at the step before", Unary::Previously),
    ];
    for (words, op) in fixed {
        if let Some(rest) = text.strip_prefix(words) {
            return Some((op, None, rest));
        }
    }
    let (text, ops) = match text.strip_prefix("at every step ") {
        Some(rest) => (rest, (Unary::Always, Unary::Historically)),
        None => (text, (Unary::Eventually, Unary::Once)),
    };
    if let Some((window, rest)) = back(text) {
        return Some((ops.1, Some(window), rest));
    }
    let (window, rest) = ahead(text, true)?;
    Some((ops.0, Some(window), rest))
}

/// `within 5 steps`, `2 to 5 steps later`. After a trigger (`from_here` is false) a bound in steps begins at the next one.
pub(super) fn ahead(text: &str, from_here: bool) -> Option<(Window, &str)> {
    if let Some(rest) = text.strip_prefix("at that step or within ") {
        let (high, unit, rest) = length(rest)?;
        return Some((Window::from_now(high, unit), rest));
    }
    if let Some(rest) = text.strip_prefix("within ") {
        let (high, unit, rest) = length(rest)?;
        let window = if from_here {
            Window::from_now(high, unit)
        } else {
            Window::deadline(high, unit)
        };
        return Some((window, rest));
    }
    span(text, " later")
}

/// `within the last 5 steps`, `2 to 5 steps before`
pub(super) fn back(text: &str) -> Option<(Window, &str)> {
    if let Some(rest) = text.strip_prefix("within the last ") {
        let (high, unit, rest) = length(rest)?;
        return Some((Window::from_now(high, unit), rest));
    }
    span(text, " before")
}

/// `exactly 5 steps`, `2 to 5 steps`, `1 second to 5 seconds`, and then the word.
fn span<'t>(text: &'t str, word: &str) -> Option<(Window, &'t str)> {
    if let Some(rest) = text.strip_prefix("exactly ") {
        let (low, unit, rest) = length(rest)?;
        let window = Window {
            low,
            high: low,
            unit,
        };
        return Some((window, rest.strip_prefix(word)?));
    }
    let (low, rest) = match length(text) {
        Some((low, _, rest)) => (low, rest),
        None => number(text)?,
    };
    let (high, unit, rest) = length(rest.strip_prefix(" to ")?)?;
    Some((Window { low, high, unit }, rest.strip_prefix(word)?))
}

/// `5 steps`, `2 minutes`
pub(super) fn length(text: &str) -> Option<(Ratio, Unit, &str)> {
    let (value, rest) = number(text)?;
    let rest = rest.strip_prefix(' ')?;
    let units = [
        ("steps", None),
        ("step", None),
        ("milliseconds", Some((1, 1000))),
        ("seconds", Some((1, 1))),
        ("second", Some((1, 1))),
        ("minutes", Some((60, 1))),
        ("minute", Some((60, 1))),
        ("hours", Some((3600, 1))),
        ("hour", Some((3600, 1))),
        ("days", Some((86_400, 1))),
        ("day", Some((86_400, 1))),
    ];
    units.into_iter().find_map(|(word, size)| {
        let rest = rest.strip_prefix(word)?;
        Some(match size {
            None => (value, Unit::Steps, rest),
            Some((num, den)) => (value.times(Ratio::new(num, den)), Unit::Seconds, rest),
        })
    })
}

/// `5`, `0.25`
fn number(text: &str) -> Option<(Ratio, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let scale = 10_i128.checked_pow(u32::try_from(part.len()).ok()?)?;
    let value: i128 = format!("{whole}{part}").parse().ok()?;
    Some((Ratio::new(value, scale), rest))
}

/// `once`, `3 times`
pub(super) fn times(text: &str) -> Option<u32> {
    match text {
        "once" => Some(1),
        "twice" => Some(2),
        _ => text.strip_suffix(" times")?.parse().ok(),
    }
}
