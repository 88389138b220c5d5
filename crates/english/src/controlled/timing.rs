//! Distances in time and numbers of times: `within the last 5 minutes`, `twice`.

use super::COUNT;
use super::parser::Parser;
use crate::words::{Ratio, Unit, Window};

/// Units by their words, with the size of one in seconds (`None`: steps) as a fraction.
const UNITS: &[(&str, Option<(i128, i128)>)] = &[
    ("steps|step", None),
    ("milliseconds|millisecond", Some((1, 1000))),
    ("seconds|second", Some((1, 1))),
    ("minutes|minute", Some((60, 1))),
    ("hours|hour", Some((3600, 1))),
    ("days|day", Some((86_400, 1))),
    ("weeks|week", Some((604_800, 1))),
];

impl Parser<'_> {
    /// `within 5 steps`, `2 to 5 steps later`. After a trigger (`from_here` is false) a bound in steps begins at the next one.
    pub(super) fn ahead(&mut self, from_here: bool) -> Option<Window> {
        self.attempt(|parser| {
            let from_now = if parser.has("at that step or within") {
                true
            } else if parser.has("within|in at most|not later than|no later than") {
                from_here
            } else {
                let window = parser.span()?;
                return parser.word("later").map(|()| window);
            };
            let (high, unit) = parser.length()?;
            let of = if from_now {
                Window::from_now
            } else {
                Window::deadline
            };
            Some(of(high, unit))
        })
    }

    /// `within the last 5 steps`, `2 to 5 steps before`
    pub(super) fn back(&mut self) -> Option<Window> {
        self.attempt(|parser| {
            if parser.has("within the last") {
                let (high, unit) = parser.length()?;
                return Some(Window::from_now(high, unit));
            }
            let window = parser.span()?;
            parser.word("before")?;
            Some(window)
        })
    }

    /// `exactly 5 steps`, `2 to 5 steps`, `1 second to 5 seconds`
    fn span(&mut self) -> Option<Window> {
        if self.has("exactly") {
            let (low, unit) = self.length()?;
            return Some(Window {
                low,
                high: low,
                unit,
            });
        }
        let low = self.attempt(|parser| {
            let length = parser.attempt(Self::length);
            let low = match length {
                Some((low, unit)) => (low, Some(unit)),
                None => (parser.number()?, None),
            };
            parser.word("to")?;
            Some(low)
        })?;
        let (high, unit) = self.length()?;
        // A number alone has the unit of the second one; of two units, both count steps or both time.
        let low = match low {
            (low, Some(own)) if own == unit => low,
            (_, Some(_)) => return None,
            (low, None) if unit == Unit::Steps => low,
            (..) => return None,
        };
        (low.to_f64() <= high.to_f64()).then_some(Window { low, high, unit })
    }

    /// `5 steps`, `2 minutes`
    pub(super) fn length(&mut self) -> Option<(Ratio, Unit)> {
        self.attempt(|parser| {
            let value = parser.number()?;
            for (words, size) in UNITS {
                if parser.one_of(words).is_none() {
                    continue;
                }
                return match size {
                    // Steps are whole.
                    None => value.whole().map(|_| (value, Unit::Steps)),
                    Some((num, den)) => Some((value.times(Ratio::new(*num, *den)), Unit::Seconds)),
                };
            }
            None
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
