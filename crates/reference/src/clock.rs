//! Distances between steps, in steps and in time.

use guard_lang::hir::Window;
use guard_lang::value::{Cell, Truth, Value};

/// The time of each step, as time bounds use it.
#[derive(Debug, Default)]
pub(super) struct Clock {
    times: Vec<Option<i128>>,
    /// The steps at which the clock ran backwards.
    pub(super) ran_back: Vec<usize>,
}

impl Clock {
    /// Reads the clock field of each step. A clock that runs backwards is a data error, and bounds then count from the
    /// latest time seen. A null or unknown time counts as absent.
    pub(super) fn new<'a>(cells: impl Iterator<Item = Option<&'a Cell>>) -> Clock {
        let mut clock = Clock::default();
        let mut latest: Option<i128> = None;
        for (step, cell) in cells.enumerate() {
            let time = match cell {
                Some(Cell::Known(Value::Time(time))) => Some(time.0),
                _ => None,
            };
            if let (Some(time), Some(latest)) = (time, latest)
                && time < latest
            {
                clock.ran_back.push(step);
            }
            latest = latest.max(time);
            clock.times.push(time.and(latest));
        }
        clock
    }

    /// Returns the time between steps `i` and `j`, in either order; `None` if one of them has no time.
    fn distance(&self, i: usize, j: usize) -> Option<i128> {
        let time = |step: usize| self.times.get(step).copied().flatten();
        time(i.max(j))?.checked_sub(time(i.min(j))?)
    }

    /// Returns whether step `j` lies within the window of step `i`, forwards or backwards, both ends inclusive. A time
    /// bound is unknown if either step has no time.
    pub(super) fn within(&self, window: Option<Window>, i: usize, j: usize) -> Truth {
        match window {
            None => Truth::True,
            Some(Window::Steps(from, to)) => {
                let distance = i.abs_diff(j);
                Truth::from(from as usize <= distance && distance <= to as usize)
            }
            Some(Window::Time(from, to)) => Truth::from(
                self.distance(i, j)
                    .map(|distance| from <= distance && distance <= to),
            ),
        }
    }

    /// Returns whether the forward window of step `i` is known to be over after `len` steps, so that no later step can
    /// lie within.
    pub(super) fn is_over(&self, window: Option<Window>, i: usize, len: usize) -> bool {
        match window {
            None => false,
            Some(Window::Steps(_, to)) => i.saturating_add(to as usize) < len,
            // INVARIANT (clock): times as bounds see them never run back, so the latest one seen suffices.
            Some(Window::Time(_, to)) => {
                (i..len).any(|j| self.distance(i, j).is_some_and(|distance| distance > to))
            }
        }
    }
}
