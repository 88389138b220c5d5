//! The time along one trace: the clock field, and windows into the past.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::hir::Window;
use crate::value::{Cell, Truth, Value};

/// The reading of the clock at a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Clock {
    /// The time of this step, never before an earlier one; `None` if it is not known.
    pub(super) now: Option<i128>,
    /// The latest time seen, this step included.
    pub(super) latest: Option<i128>,
    /// Number of steps before this one.
    pub(super) position: u64,
}

impl Clock {
    /// Moves to a step that was read before, with its time.
    pub(super) fn come(&mut self, position: usize, time: Option<i128>) {
        self.now = time;
        self.latest = time.or(self.latest);
        self.position = position as u64;
    }

    /// Reads the clock field of the next step. Returns whether it ran back.
    pub(super) fn read(&mut self, cell: Option<&Cell>) -> bool {
        let time = match cell {
            Some(Cell::Known(Value::Time(time) | Value::Duration(time))) => Some(time.0),
            _ => None,
        };
        self.now = time.map(|time| self.latest.map_or(time, |latest| latest.max(time)));
        let back = matches!((time, self.latest), (Some(time), Some(latest)) if time < latest);
        self.latest = self.now.or(self.latest);
        back
    }
}

/// One occurrence: its position and the interval of possible times.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Occurrence {
    position: u64,
    /// The earliest possible time, and the latest if it is already known.
    between: (i128, Option<i128>),
    /// Whether the condition certainly held.
    certain: bool,
}

/// The steps within a window at which something held, or may have held.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Occurrences {
    seen: VecDeque<Occurrence>,
}

/// Returns whether a past step lies in a window.
fn within(sighting: &Occurrence, window: Window, clock: &Clock) -> Truth {
    match window {
        Window::Steps(lo, hi) => {
            let back = clock.position.saturating_sub(sighting.position);
            Truth::from(u64::from(lo) <= back && back <= u64::from(hi))
        }
        Window::Time(lo, hi) => {
            if sighting.position == clock.position {
                return Truth::from(lo <= 0 && hi >= 0);
            }
            let (from, to) = sighting.between;
            // The least and the greatest distance that are possible.
            let latest = clock.now.or(clock.latest);
            let least = match (latest, to) {
                (Some(now), Some(to)) => now.saturating_sub(to).max(0),
                _ => 0,
            };
            let greatest = clock.now.map(|now| now.saturating_sub(from));
            if least > hi || greatest.is_some_and(|greatest| greatest < lo) {
                Truth::False
            } else if least >= lo && greatest.is_some_and(|greatest| greatest <= hi) {
                Truth::True
            } else {
                Truth::Unknown
            }
        }
    }
}

impl Occurrences {
    /// Adds this step, and drops the times that can no longer matter.
    pub(super) fn advance(&mut self, held: Truth, window: Window, clock: &Clock) {
        if let Some(now) = clock.now {
            for sighting in self
                .seen
                .iter_mut()
                .rev()
                .take_while(|sighting| sighting.between.1.is_none())
            {
                sighting.between.1 = Some(now);
            }
        }
        while self
            .seen
            .front()
            .is_some_and(|first| past(first, window, clock))
        {
            self.seen.pop_front();
        }
        if held != Truth::False {
            let between = match clock.now {
                Some(now) => (now, Some(now)),
                None => (clock.latest.unwrap_or(i128::MIN), None),
            };
            self.seen.push_back(Occurrence {
                position: clock.position,
                between,
                certain: held == Truth::True,
            });
        }
    }

    /// Returns the number of steps in the window that certainly satisfy the condition, and the number that may. `now`
    /// is the value at this step.
    pub(super) fn count(&self, now: Truth, window: Window, clock: &Clock) -> (u64, u64) {
        let (mut certain, mut possible) = (0, 0);
        let mut add = |held: Truth| {
            certain += u64::from(held == Truth::True);
            possible += u64::from(held != Truth::False);
        };
        for sighting in &self.seen {
            let held = if sighting.certain {
                Truth::True
            } else {
                Truth::Unknown
            };
            add(held.and(within(sighting, window, clock)));
        }
        let here = Occurrence {
            position: clock.position,
            between: (0, None),
            certain: true,
        };
        add(now.and(within(&here, window, clock)));
        (certain, possible)
    }

    pub(super) fn forget(&mut self) {
        self.seen.clear();
    }

    /// Whether some occurrence is uncertain, or its time is.
    pub(super) fn is_doubtful(&self) -> bool {
        let doubtful = |seen: &Occurrence| !seen.certain;
        self.seen.iter().any(doubtful)
    }

    /// Makes every recorded step uncertain.
    pub(super) fn doubt(&mut self) {
        self.seen
            .iter_mut()
            .for_each(|sighting| sighting.certain = false);
    }

    /// Returns the same occurrences with positions relative to this step, to compare traces of different length.
    pub(super) fn relative_to(&self, position: u64) -> Occurrences {
        let mut seen = self.seen.clone();
        seen.iter_mut()
            .for_each(|sighting| sighting.position = position.wrapping_sub(sighting.position));
        Occurrences { seen }
    }
}

/// Whether an occurrence can no longer be in the window at any later step.
fn past(sighting: &Occurrence, window: Window, clock: &Clock) -> bool {
    match window {
        Window::Steps(_, hi) => clock.position.saturating_sub(sighting.position) >= u64::from(hi),
        Window::Time(_, hi) => match (clock.latest, sighting.between.1) {
            (Some(latest), Some(to)) => latest.saturating_sub(to) > hi,
            _ => false,
        },
    }
}
