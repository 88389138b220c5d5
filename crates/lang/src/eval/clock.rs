//! The time along one trace: the clock field, and windows into the past.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

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
#[derive(Clone, Debug)]
struct Occurrence {
    position: u64,
    /// The earliest possible time, and the latest if it is already known.
    between: (i128, Option<i128>),
    /// The number of earlier occurrences that were certain when they were added.
    certain_before: u64,
}

/// The steps within a window at which something held, or may have held, oldest first.
///
/// Neither a step nor a fork looks at the whole window: an agent that calls fast has thousands of steps in it. Positions and
/// times ascend, so that the steps in a window are found by bisection, and running numbers count them. Forks, and the instances
/// and keys of one step and the next, share the older steps.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Written>", into = "Vec<Written>")]
pub(super) struct Occurrences {
    /// Blocks of [`BLOCK`] occurrences.
    older: Arc<VecDeque<Arc<[Occurrence]>>>,
    /// The number of occurrences of `older`, from its front, that are no longer in the window.
    n_past: usize,
    /// At most [`BLOCK`] occurrences.
    recent: VecDeque<Occurrence>,
    /// The number of occurrences that were certain when they were added.
    n_certain: u64,
    /// The value of `n_certain` when all occurrences so far became uncertain.
    n_doubted: u64,
    /// Comparisons are of positions relative to this one.
    origin: u64,
}

/// The number of occurrences that are shared as a whole, and the greatest number that a fork copies.
const BLOCK: usize = 32;

/// An occurrence as it is written: the position, the interval of times, and whether the condition certainly held.
type Written = (u64, (i128, Option<i128>), bool);

/// The least and the greatest distance of an occurrence from a step, in units of the window; `None` if it has no bound.
fn distances(seen: &Occurrence, window: Window, clock: &Clock) -> (i128, Option<i128>) {
    match window {
        Window::Steps(..) => {
            let back = i128::from(clock.position.saturating_sub(seen.position));
            (back, Some(back))
        }
        Window::Time(..) => {
            let (from, to) = seen.between;
            let least = match (clock.now.or(clock.latest), to) {
                (Some(now), Some(to)) => now.saturating_sub(to).max(0),
                _ => 0,
            };
            (least, clock.now.map(|now| now.saturating_sub(from)))
        }
    }
}

/// Returns the least and the greatest distance in a window.
fn bounds(window: Window) -> (i128, i128) {
    match window {
        Window::Steps(lo, hi) => (lo.into(), hi.into()),
        Window::Time(lo, hi) => (lo, hi),
    }
}

impl Occurrences {
    /// Adds this step, and drops the times that can no longer matter.
    pub(super) fn advance(&mut self, held: Truth, window: Window, clock: &Clock) {
        if let Some(now) = clock.now {
            self.bound_times(now);
        }
        while self.get(0).is_some_and(|first| past(first, window, clock)) {
            self.drop_first();
        }
        if held != Truth::False {
            let between = match clock.now {
                Some(now) => (now, Some(now)),
                None => (clock.latest.unwrap_or(i128::MIN), None),
            };
            self.add(clock.position, between, held == Truth::True);
        }
    }

    /// Returns the number of steps in the window that certainly satisfy the condition, and the number that may. `now`
    /// is the value at this step.
    pub(super) fn count(&self, now: Truth, window: Window, clock: &Clock) -> (u64, u64) {
        let (lo, hi) = bounds(window);
        let first = |is_before: &dyn Fn(i128, Option<i128>) -> bool| {
            self.partition_point(|seen| {
                let (least, greatest) = distances(seen, window, clock);
                is_before(least, greatest)
            })
        };
        // INVARIANT (ascending): both distances descend from each occurrence to the next, so that the steps that may be in
        // the window are adjacent, and so are those that certainly are.
        let may_begin = first(&|least, _| least > hi);
        let may_end = first(&|_, greatest| greatest.is_none_or(|greatest| greatest >= lo));
        let begin = first(&|_, greatest| greatest.is_none_or(|greatest| greatest > hi));
        let end = first(&|least, _| least >= lo);
        let certain = self.certain_before(end.max(begin)) - self.certain_before(begin);
        let possible = may_end.saturating_sub(may_begin) as u64;
        let here = now.and(Truth::from(lo <= 0 && hi >= 0));
        (
            certain + u64::from(here == Truth::True),
            possible + u64::from(here != Truth::False),
        )
    }

    pub(super) fn forget(&mut self) {
        if self.len() > 0 {
            *self = Occurrences::default();
        }
    }

    /// Whether some occurrence is uncertain. An unknown time does not count.
    pub(super) fn is_doubtful(&self) -> bool {
        self.certain_before(self.len()) - self.certain_before(0) < self.len() as u64
    }

    /// Makes every recorded step uncertain.
    pub(super) fn doubt(&mut self) {
        self.n_doubted = self.n_certain;
    }

    /// Returns the same occurrences with positions relative to this step, to compare traces of different length.
    pub(super) fn relative_to(&self, position: u64) -> Occurrences {
        Occurrences {
            origin: position,
            ..self.clone()
        }
    }

    fn len(&self) -> usize {
        self.n_older() + self.recent.len()
    }

    fn n_older(&self) -> usize {
        self.older.len() * BLOCK - self.n_past
    }

    fn get(&self, at: usize) -> Option<&Occurrence> {
        match at.checked_sub(self.n_older()) {
            None => {
                let at = at + self.n_past;
                self.older.get(at / BLOCK)?.get(at % BLOCK)
            }
            Some(at) => self.recent.get(at),
        }
    }

    /// Returns the number of leading occurrences that are before something.
    fn partition_point(&self, is_before: impl Fn(&Occurrence) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle) {
                Some(seen) if is_before(seen) => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }

    /// Returns a running number of the certain occurrences before this one; ascending, for differences.
    fn certain_before(&self, at: usize) -> u64 {
        let before = self
            .get(at)
            .map_or(self.n_certain, |seen| seen.certain_before);
        before.max(self.n_doubted)
    }

    fn is_certain(&self, at: usize) -> bool {
        self.certain_before(at) < self.certain_before(at + 1)
    }

    /// Sets the latest time of the last occurrences, which had none.
    fn bound_times(&mut self, now: i128) {
        let is_open = |seen: &Occurrence| seen.between.1.is_none();
        let recent = self.recent.iter_mut().rev();
        for seen in recent.take_while(|seen| is_open(seen)) {
            seen.between.1 = Some(now);
        }
        let ends_open = |block: &Arc<[Occurrence]>| block.last().is_some_and(is_open);
        if self.older.back().is_some_and(ends_open) {
            let blocks = Arc::make_mut(&mut self.older).iter_mut().rev();
            for block in blocks.take_while(|block| ends_open(block)) {
                let seen = Arc::make_mut(block).iter_mut();
                for seen in seen.filter(|seen| is_open(seen)) {
                    seen.between.1 = Some(now);
                }
            }
        }
    }

    fn add(&mut self, position: u64, between: (i128, Option<i128>), certain: bool) {
        if self.recent.len() == BLOCK {
            let older = Arc::make_mut(&mut self.older);
            older.drain(..self.n_past / BLOCK);
            self.n_past %= BLOCK;
            older.push_back(self.recent.drain(..).collect());
        }
        self.recent.push_back(Occurrence {
            position,
            between,
            certain_before: self.n_certain,
        });
        self.n_certain += u64::from(certain);
    }

    fn drop_first(&mut self) {
        if self.older.is_empty() {
            self.recent.pop_front();
            return;
        }
        self.n_past += 1;
        if self.n_older() == 0 {
            (self.older, self.n_past) = (Arc::default(), 0);
        }
    }

    /// Returns what is compared of an occurrence.
    fn compared(&self, at: usize) -> Option<Written> {
        let seen = self.get(at)?;
        let position = seen.position.wrapping_sub(self.origin);
        Some((position, seen.between, self.is_certain(at)))
    }
}

impl PartialEq for Occurrences {
    fn eq(&self, other: &Occurrences) -> bool {
        let n_shared = match Arc::ptr_eq(&self.older, &other.older)
            && (self.n_past, self.n_doubted, self.origin)
                == (other.n_past, other.n_doubted, other.origin)
        {
            true => self.n_older(),
            false => 0,
        };
        // Most that differ do so at an end.
        self.len() == other.len()
            && self.compared(0) == other.compared(0)
            && (n_shared..self.len())
                .rev()
                .all(|at| self.compared(at) == other.compared(at))
    }
}

impl Eq for Occurrences {}

/// Without the occurrences between the ends, which took time proportional to their number at each change.
impl Hash for Occurrences {
    fn hash<H: Hasher>(&self, to: &mut H) {
        self.len().hash(to);
        self.compared(0).hash(to);
        self.compared(self.len().saturating_sub(1)).hash(to);
    }
}

impl From<Occurrences> for Vec<Written> {
    fn from(all: Occurrences) -> Vec<Written> {
        (0..all.len()).filter_map(|at| all.compared(at)).collect()
    }
}

impl From<Vec<Written>> for Occurrences {
    fn from(written: Vec<Written>) -> Occurrences {
        let mut all = Occurrences::default();
        for (position, between, certain) in written {
            all.add(position, between, certain);
        }
        all
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The occurrences as a list that is searched as a whole.
    #[derive(Clone, Default)]
    struct Listed(Vec<Written>);

    impl Listed {
        fn advance(&mut self, held: Truth, clock: &Clock) {
            for (_, (_, to), _) in &mut self.0 {
                *to = to.or(clock.now);
            }
            if held != Truth::False {
                let from = clock.now.or(clock.latest).unwrap_or(i128::MIN);
                let between = (from, clock.now);
                self.0.push((clock.position, between, held == Truth::True));
            }
        }

        fn count(&self, now: Truth, window: Window, clock: &Clock) -> (u64, u64) {
            let within = |position: u64, (from, to): (i128, Option<i128>)| match window {
                Window::Steps(lo, hi) => {
                    let back = clock.position - position;
                    Truth::from(u64::from(lo) <= back && back <= u64::from(hi))
                }
                Window::Time(lo, hi) => {
                    let latest = clock.now.or(clock.latest);
                    let least = latest.zip(to).map_or(0, |(now, to)| now - to);
                    let greatest = clock.now.map_or(i128::MAX, |now| now.saturating_sub(from));
                    if least > hi || greatest < lo {
                        Truth::False
                    } else {
                        match lo <= least && greatest <= hi {
                            true => Truth::True,
                            false => Truth::Unknown,
                        }
                    }
                }
            };
            let here = match window {
                Window::Steps(lo, _) => Truth::from(lo == 0),
                Window::Time(lo, _) => Truth::from(lo == 0),
            };
            let past = self.0.iter().map(|(position, between, certain)| {
                let held = if *certain {
                    Truth::True
                } else {
                    Truth::Unknown
                };
                held.and(within(*position, *between))
            });
            let all: Vec<Truth> = past.chain([now.and(here)]).collect();
            let n = |is: fn(&&Truth) -> bool| all.iter().filter(is).count() as u64;
            (
                n(|held| **held == Truth::True),
                n(|held| **held != Truth::False),
            )
        }
    }

    fn next(state: &mut u64, below: u64) -> u64 {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (*state >> 33) % below
    }

    /// With unknown times and conditions, forks, and written states, far beyond what a fork copies.
    #[test]
    fn counts_agree_with_a_search_of_all_occurrences() {
        for seed in 0..60 {
            let mut random = seed;
            let lo = [0, 0, 3, 40][next(&mut random, 4) as usize];
            let hi = lo + [0, 5, 100, 400][next(&mut random, 4) as usize];
            let window = match seed % 2 {
                0 => Window::Steps(lo, hi),
                _ => Window::Time(lo.into(), hi.into()),
            };
            let (mut fast, mut slow) = (Occurrences::default(), Listed::default());
            let mut clock = Clock::default();
            let rarely = [2, 30, 1000][next(&mut random, 3) as usize];
            for step in 0..700 {
                let time = clock.latest.unwrap_or(0) + i128::from(next(&mut random, 3));
                let is_known = next(&mut random, rarely) > 0;
                clock.come(step, is_known.then_some(time));
                let held = match next(&mut random, 8) {
                    0 if rarely < 1000 => Truth::Unknown,
                    0..3 => Truth::False,
                    _ => Truth::True,
                };
                for now in [Truth::False, Truth::Unknown, Truth::True] {
                    let counted = fast.count(now, window, &clock);
                    assert_eq!(counted, slow.count(now, window, &clock), "{seed}, {step}");
                }
                let mut fork = fast.clone();
                fork.advance(Truth::Unknown, window, &clock);
                fast.advance(held, window, &clock);
                slow.advance(held, &clock);
                if held != Truth::Unknown {
                    assert_ne!(fork, fast);
                }
                match next(&mut random, 400) {
                    0 => {
                        fast.forget();
                        slow = Listed::default();
                    }
                    1 => {
                        fast.doubt();
                        slow.0.iter_mut().for_each(|(.., certain)| *certain = false);
                    }
                    2..40 => {
                        let bytes = postcard::to_allocvec(&fast).unwrap();
                        let read: Occurrences = postcard::from_bytes(&bytes).unwrap();
                        assert_eq!(read, fast);
                        fast = read;
                    }
                    _ => {}
                }
                let is_certain = |at: usize| slow.0[at + slow.0.len() - fast.len()].2;
                let doubtful = !(0..fast.len()).all(is_certain);
                assert_eq!(fast.is_doubtful(), doubtful, "{seed}, {step}");
            }
        }
    }

    /// Looking at the whole window at each step, or copying it for each fork, would take minutes.
    #[test]
    fn a_step_does_not_look_at_the_whole_window() {
        const N: usize = 200_000;
        let window = Window::Time(0, i128::MAX);
        let (mut seen, mut clock) = (Occurrences::default(), Clock::default());
        for step in 0..N {
            clock.come(step, Some(step as i128));
            let n = step as u64;
            assert_eq!(seen.count(Truth::True, window, &clock), (n + 1, n + 1));
            let mut fork = seen.clone();
            fork.advance(Truth::True, window, &clock);
            assert!(fork != seen);
            assert!(!fork.is_doubtful());
            seen.advance(Truth::True, window, &clock);
        }
    }
}
