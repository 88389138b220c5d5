//! Traces with times: one that satisfies a formula, or the proof that there is none.
//!
//! The search over regions (`outlook.rs`) proves that there is none; it over-approximates. A trace is found by a breadth-first
//! search over states with their counters, each read at the times at which something can change: at once, when a counter
//! reaches a bound, and just after. Of several states in one region only the first is followed.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::{LazyDfa, LazyState, Root};
use crate::diagram::paths;
use crate::formula::Atom;
use crate::formula::Letter;
use crate::verdict::Finality;

/// The result of a search for a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Steps with their times, the first at 0; the atoms that are not named may have any value.
    Trace(Vec<(i128, Letter)>),
    /// There is no such trace.
    Nothing,
    /// The search ended within the limits with neither a trace nor a proof.
    Unknown,
}

/// A state that was reached, and how.
struct Reached {
    state: LazyState,
    now: i128,
    position: u64,
    before: Option<usize>,
    letter: Letter,
}

/// The greatest number of states that one search follows.
const MOST: usize = 4_096;

/// The greatest number of times at which one state is read.
const MOST_TIMES: usize = 24;

impl LazyDfa {
    /// Returns a trace of one position or more that satisfies the formula: the shortest that this search finds.
    ///
    /// ```
    /// use guard_automata::{Atom, Formulas, Found, Interval, LazyDfa, Limits};
    /// let mut formulas = Formulas::new();
    /// let p = formulas.atom(Atom(0));
    /// let not_p = formulas.not(p);
    /// let late = formulas.eventually(Interval::time(5, 9), p);
    /// let not_soon = formulas.always(Interval::time(0, 6), not_p);
    /// let both = formulas.and(late, not_soon);
    /// let mut lazy = LazyDfa::new(&formulas, both, &Limits::default())?;
    /// let Found::Trace(trace) = lazy.satisfying() else { return Err("none".into()) };
    /// assert_eq!(trace.last(), Some(&(7, vec![(Atom(0), true)])));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn satisfying(&mut self) -> Found {
        let first = Reached {
            state: self.initial(),
            now: 0,
            position: 0,
            before: None,
            letter: Letter::new(),
        };
        let mut reached = vec![first];
        let mut seen: IndexSet<u32, FxBuildHasher> = IndexSet::default();
        let mut next = 0;
        while let Some(here) = reached.get(next) {
            let (now, position, state) = (here.now, here.position, here.state.clone());
            for time in self.times(&state, now) {
                for (letter, to) in self.after(&state, position, time) {
                    let accepts = to.accepting();
                    let region = self.region_at(&to, i128::from(position) + 1, time);
                    let is_new = to.finality() == Finality::Open && seen.insert(region);
                    if accepts || is_new && reached.len() < MOST {
                        reached.push(Reached {
                            state: to,
                            now: time,
                            position: position + 1,
                            before: Some(next),
                            letter,
                        });
                    }
                    if accepts {
                        return Found::Trace(trace(&reached));
                    }
                }
            }
            next += 1;
        }
        if self.is_unsatisfiable() {
            Found::Nothing
        } else {
            Found::Unknown
        }
    }

    /// Returns the times at which reading a state can make a difference.
    fn times(&self, state: &LazyState, now: i128) -> Vec<i128> {
        let mut times = vec![now];
        for end in self.turns(state) {
            let after = end.saturating_add(self.constants.grain());
            times.extend([end, after].iter().filter(|time| **time > now));
        }
        times.sort_unstable();
        times.dedup();
        times.truncate(MOST_TIMES);
        times
    }

    /// Returns a letter for each successor state of one position at this time.
    fn after(&mut self, state: &LazyState, position: u64, time: i128) -> Vec<(Letter, LazyState)> {
        let position = i128::from(position);
        let Ok(opened) = self.opened(state, position, time) else {
            return Vec::new();
        };
        let state = opened.as_ref().unwrap_or(state);
        let region = self.region_at(state, position, time);
        let Root::Built(root) = self.build(region) else {
            return Vec::new();
        };
        let atoms = self.engine.program.atoms.clone();
        let named = |letter: Letter| -> Letter {
            let name = |(Atom(var), holds)| (atoms[var as usize], holds);
            letter.into_iter().map(name).collect()
        };
        paths(&self.diagrams, root)
            .into_iter()
            .filter_map(|(letter, leaf)| {
                let (to, _) = self.enter(leaf, state, position, time).ok()?;
                Some((named(letter), to))
            })
            .collect()
    }
}

/// Returns the steps that lead to the last state.
fn trace(reached: &[Reached]) -> Vec<(i128, Letter)> {
    let mut steps = Vec::new();
    let mut at = reached.len().checked_sub(1);
    while let Some(here) = at.and_then(|at| reached.get(at)) {
        if here.before.is_some() {
            steps.push((here.now, here.letter.clone()));
        }
        at = here.before;
    }
    steps.reverse();
    steps
}
