//! The places of counters among the bounds of a formula: a step depends on nothing else.
//!
//! A step compares counters with each other, with zero and with the bounds that new obligations begin with; it makes new ones
//! from these bounds and lets the others run on. The order among the counters is that of their numbers in the shape. So
//! whatever the values are, configurations of one shape whose counters have the same *places* among these constants take the
//! same step: this is the region construction of timed automata (R. Alur, D. Dill, "A theory of timed automata", 1994) without
//! the differences of clocks, which no step depends on.

use super::shape::Shape;
use crate::program::{Core, NEVER, Program, Register};

/// The place of a counter: at `2 i + 1` it equals constant `i`, at `2 i` it is below it and above the one before.
pub(super) type Place = u16;

/// The constants that counters are compared with, sorted, each once.
#[derive(Clone, Debug)]
pub(super) struct Constants {
    /// For distances from the next position.
    steps: Box<[i128]>,
    /// For distances from the time of a position.
    times: Box<[i128]>,
}

impl Constants {
    pub(super) fn new(program: &Program) -> Constants {
        let mut steps = vec![0, 1];
        let mut times = vec![0];
        let add_step = |steps: &mut Vec<i128>, bound: i128| {
            if bound != NEVER {
                // A new obligation begins now or at the next position, where older obligations have one step less.
                steps.extend([bound, bound.saturating_add(1)]);
            }
        };
        for node in &program.nodes {
            if let Core::Until { window, .. } | Core::Release { window, .. } = node {
                if window.timed {
                    times.extend([window.lo, window.hi]);
                } else {
                    add_step(&mut steps, window.lo);
                    add_step(&mut steps, window.hi);
                }
                if let (Some(width), true) = (window.width(), window.lo > 0) {
                    // The end of a window that opens now.
                    match window.timed {
                        true => times.push(width),
                        false => add_step(&mut steps, width),
                    }
                }
            }
        }
        for register in &program.registers {
            match *register {
                Register::Recent { span, .. } => add_step(&mut steps, span.into()),
                Register::Within { window, .. } => {
                    let list = if window.timed { &mut times } else { &mut steps };
                    list.push(-window.lo);
                    if !window.timed {
                        // The current position is one step before the next one, as is a time that enters the window.
                        list.extend([-1, 1 - window.lo]);
                    }
                    if let Some(width) = window.width() {
                        list.extend([-window.hi, -width]);
                    }
                }
                Register::Previous { .. } | Register::Since { .. } => {}
            }
        }
        let sorted = |mut list: Vec<i128>| {
            list.retain(|&bound| bound != NEVER);
            list.sort_unstable();
            list.dedup();
            list.into_boxed_slice()
        };
        Constants {
            steps: sorted(steps),
            times: sorted(times),
        }
    }

    /// Returns the constants for distances from the time of a position.
    pub(super) fn times(&self) -> &[i128] {
        &self.times
    }

    /// Returns a unit of time that is small compared with all bounds and easy to read: a thousandth of their common
    /// divisor.
    pub(super) fn grain(&self) -> i128 {
        let divisor = self.times.iter().fold(0i128, |mut a, &bound| {
            let mut b = bound.saturating_abs();
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        });
        (divisor / 1_000).max(1)
    }

    fn of(&self, timed: bool) -> &[i128] {
        if timed { &self.times } else { &self.steps }
    }

    /// Returns the place of a distance.
    pub(super) fn place(&self, timed: bool, distance: i128) -> Place {
        let place = match self.of(timed).binary_search(&distance) {
            Ok(at) => 2 * at + 1,
            Err(above) => 2 * above,
        };
        Place::try_from(place).unwrap_or(Place::MAX)
    }

    /// Returns how far a counter in this place may count down before it leaves the place; `None` if it never does.
    pub(super) fn slack(&self, timed: bool, place: Place, distance: i128) -> Option<i128> {
        let constants = self.of(timed);
        let place = usize::from(place);
        if place % 2 == 1 {
            return Some(0);
        }
        let below = constants.get((place / 2).checked_sub(1)?)?;
        Some(distance.saturating_sub(*below).saturating_sub(1))
    }

    /// Returns the largest number of units within which a counter of one clock leaves its place; `None` if none ever does.
    pub(super) fn gap(&self, shape: &Shape, places: &[Place], timed: bool) -> Option<i128> {
        let n_steps = shape.n_steps as usize;
        let (range, constants) = match timed {
            true => (n_steps..places.len(), &self.times),
            false => (0..n_steps, &self.steps),
        };
        let gap = |counter: usize| {
            let at = usize::from(places[counter]) / 2;
            if places[counter] % 2 == 1 {
                return Some(1);
            }
            let below = constants.get(at.checked_sub(1)?)?;
            let above = constants.get(at).copied().unwrap_or(i128::MAX);
            Some(above.saturating_sub(*below))
        };
        range.filter_map(gap).min()
    }

    /// Returns distances with these places, ascending among the counters of either kind, those in steps first; `None` if
    /// there are no such numbers.
    pub(super) fn example(&self, n_steps: u32, places: &[Place]) -> Option<Vec<i128>> {
        let mut distances: Vec<i128> = Vec::with_capacity(places.len());
        for (counter, &place) in places.iter().enumerate() {
            let constants = self.of(counter as u32 >= n_steps);
            let at = usize::from(place) / 2;
            let first = counter == 0 || counter as u32 == n_steps;
            let before = distances.last().filter(|_| !first).copied();
            let distance = match (place % 2 == 1, at.checked_sub(1)) {
                (true, _) => *constants.get(at)?,
                (false, below) => {
                    let low = match below {
                        Some(below) => constants.get(below)?.saturating_add(1),
                        // One unit below the least constant for each counter.
                        None => constants.first()?.saturating_sub(places.len() as i128),
                    };
                    before.map_or(low, |before| low.max(before.saturating_add(1)))
                }
            };
            let fits = (place % 2 == 1 || constants.get(at).is_none_or(|above| distance < *above))
                && before.is_none_or(|before| before < distance);
            if !fits {
                return None;
            }
            distances.push(distance);
        }
        Some(distances)
    }

    /// Returns all places that the counters of one clock may have when it has moved on by one unit. The result may contain
    /// impossible places, because the differences of counters are not known. `None` if there are too many.
    pub(super) fn moved(
        &self,
        shape: &Shape,
        places: &[Place],
        timed: bool,
    ) -> Option<Vec<Vec<Place>>> {
        let n_steps = shape.n_steps as usize;
        let (range, constants) = match timed {
            true => (n_steps..places.len(), &self.times),
            false => (0..n_steps, &self.steps),
        };
        let mut all = vec![places.to_vec()];
        for counter in range.clone() {
            let place = places[counter];
            let at = usize::from(place) / 2;
            let below = at.checked_sub(1).map(|below| constants[below]);
            let is_constant = place % 2 == 1;
            let moves = match below {
                Some(below) if is_constant && constants[at] - below == 1 => Some(place - 2),
                _ if is_constant => Some(place - 1),
                // Of several counters in one gap only the lowest can reach its end.
                Some(_) if counter == range.start || places[counter - 1] != place => {
                    Some(place - 1)
                }
                _ => None,
            };
            let mut next = Vec::with_capacity(all.len() * 2);
            for mut list in all {
                if !is_constant {
                    next.push(list.clone());
                }
                if let Some(place) = moves {
                    list[counter] = place;
                    next.push(list);
                }
            }
            if next.len() > MOST_MOVES {
                return None;
            }
            all = next;
        }
        all.retain(|list| self.example(shape.n_steps, list).is_some());
        Some(all)
    }
}

/// The number of moves that are examined for one region.
pub(super) const MOST_MOVES: usize = 64;
