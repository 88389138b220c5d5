//! Distances in time and numbers of times: `within the last 5 minutes`, `twice`.

use super::COUNT;
use super::grammar::{Slots, Value};
use super::parser::Parser;
use super::token::decimal;
use crate::words::{Ratio, Unit, Window};

impl Parser<'_> {
    /// Reads the first row of lengths that is here, if its lengths make a window.
    pub(super) fn window(&mut self, name: &str) -> Option<Value> {
        self.attempt(|parser| {
            let (row, slots) = parser.first_row(name)?;
            ends(row.meaning, &slots).map(Value::Window)
        })
    }

    /// `once`, `twice`, `3 times`
    pub(super) fn times(&mut self) -> Option<u32> {
        if let Some(count) = self.one_of("once|twice") {
            return u32::try_from(count + 1).ok();
        }
        self.attempt(|parser| {
            let at = parser.at;
            let count = parser.number()?.whole()?;
            parser.one_of("times|time")?;
            parser.bounded(count, at)
        })
    }

    /// `3`, of times
    pub(super) fn count(&mut self) -> Option<u32> {
        let at = self.at;
        let count = self.number()?.whole()?;
        self.bounded(count, at)
    }

    /// The number of times at a token, if it is at most [`COUNT`].
    fn bounded(&mut self, count: u32, at: usize) -> Option<u32> {
        if count > COUNT {
            self.stuck = Some((at, format!("a number of times up to {COUNT}").into()));
            return None;
        }
        Some(count)
    }
}

/// Returns the window of a row of lengths; a length is the window that begins and ends there. Returns `None` if steps are not whole, the
/// ends have two units, or the first is beyond the second.
fn ends(meaning: &str, slots: &Slots) -> Option<Window> {
    if let Some(Value::Number(number)) = slots.get('n') {
        let (high, unit) = match decimal(meaning) {
            Some(seconds) => (number.times(seconds), Unit::Seconds),
            None => (Ratio::new(number.whole()?.into(), 1), Unit::Steps),
        };
        return Some(Window {
            low: high,
            high,
            unit,
        });
    }
    let Some((low, _)) = meaning.split_once(" to ") else {
        return slots.window(meaning.chars().next()?);
    };
    let Window { high, unit, .. } = slots.window('h')?;
    match low {
        "0" => Some(Window::from_now(high, unit)),
        "next" => Some(Window::deadline(high, unit)),
        _ => {
            let low = slots.window('l').filter(|low| low.unit == unit)?.low;
            (low.to_f64() <= high.to_f64()).then_some(Window { low, high, unit })
        }
    }
}
