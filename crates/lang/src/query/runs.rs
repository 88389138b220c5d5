//! Statistics of an event in runs, in addition to the guarantees: the number of complete runs in which it happened, and
//! intervals for large samples.
//!
//! | range | promises |
//! |---|---|
//! | [`Interval`](super::Interval) | holds with its confidence, for every number of runs, if runs are independent and rows are as declared |
//! | [`Observed`] | the share of complete runs in which it happened; about its confidence from a few dozen runs on; no chain is assumed |
//! | [`Asymptotic`] | the number of the counted chain; its confidence for many runs, if the next step depends on the state alone |

use super::chain::Learned;
use super::guarantee::{Confidence, Method, Range};
use crate::learn::{Origin, Rows, Traces};
use guard_automata::graph::NodeSet;
use guard_markov::Scalar;
use guard_markov::interval::confidence::{
    anytime_interval, clopper_pearson, delta_interval, normal_quantile, wilson,
};
use guard_markov::solve::{Accuracy, NotConverged};
use guard_markov::why::Goal;

/// The frequency of an event in complete runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// The number of runs in which it happened.
    pub happened: u64,
    /// The number of complete runs.
    pub runs: u64,
    /// Wilson's interval of the proportion.
    pub range: Range,
    /// The approximate probability that the interval does not contain the true value.
    pub error: f64,
}

/// An interval for large samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asymptotic {
    /// The interval.
    pub range: Range,
    /// The probability that the interval does not contain the true value, for a large number of runs.
    pub error: f64,
}

/// An event of the runs of a counted chain: a goal is reached or, if the flag is set, not reached.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) goal: Goal,
    pub(super) negated: bool,
    /// The state in which runs begin.
    pub(super) start: u32,
}

impl Event {
    /// Counts the runs in which the event happened, and all of them. Returns `None` if the counts do not determine it: with a
    /// bound on steps, a condition on earlier states, monitors, or an event that may happen more than once in a run; and if runs
    /// were cut off, because a run with an absorbing event is always complete, and one without it only if nothing cut it off.
    pub(super) fn count<V: Scalar>(
        &self,
        learned: &Learned<V>,
        rows: &Rows,
        traces: Traces,
    ) -> Option<(u64, u64)> {
        let Goal {
            open,
            target,
            horizon,
        } = &self.goal;
        let plain = learned
            .vertices
            .iter()
            .all(|vertex| vertex.monitors.is_empty());
        let whole = (0..learned.vertices.len()).all(|at| open.contains(at) || target.contains(at));
        let shown = horizon.is_none() && plain && whole && traces.censored == 0;
        if !shown || target.contains(self.start as usize) {
            return None;
        }
        let mut reached = NodeSet::with_capacity(rows.len());
        for at in target.ones() {
            reached.insert(learned.vertices[at].state as usize);
        }
        let caught = |state: usize| rows.rows[state].origin == Origin::Absorbing;
        let entries = |states: &dyn Fn(usize) -> bool| -> u64 {
            let rows = rows.rows.iter().enumerate();
            rows.filter(|(state, _)| !reached.contains(*state) && states(*state))
                .flat_map(|(_, row)| &row.entries)
                .filter(|(to, _)| reached.contains(*to as usize))
                .map(|(_, count)| count)
                .sum()
        };
        if !reached.ones().all(caught) {
            // In a run that continues after it the event may happen again.
            let mut after = reached.clone();
            let mut waiting: Vec<usize> = reached.ones().collect();
            while let Some(state) = waiting.pop() {
                for &(to, count) in &rows.rows[state].entries {
                    if count > 0 && !after.put(to as usize) {
                        waiting.push(to as usize);
                    }
                }
            }
            if entries(&|state| after.contains(state)) > 0 {
                return None;
            }
        }
        let happened = entries(&|_| true);
        let happened = if self.negated {
            traces.complete.checked_sub(happened)?
        } else {
            happened
        };
        (happened <= traces.complete && traces.complete > 0).then_some((happened, traces.complete))
    }

    /// Returns the asymptotic interval for a chain of the counted frequencies without smoothing. Returns `None` if the variance
    /// is zero, or if the number depends on a row that was never counted.
    pub(super) fn asymptotic<V: Scalar>(
        &self,
        learned: &Learned<V>,
        rows: &Rows,
        value: f64,
        error: f64,
        accuracy: &Accuracy,
    ) -> Result<Option<Asymptotic>, NotConverged> {
        let exits: Vec<u64> = rows.rows.iter().map(|row| row.exits).collect();
        let row = |vertex: u32| learned.vertices[vertex as usize].state;
        let found = (self.goal).variance(&learned.chain, self.start, &row, &exits, accuracy)?;
        let Some((risk, variance)) = found else {
            return Ok(None);
        };
        let own = if self.negated { 1.0 - risk } else { risk };
        // The goal must be the event of the number, which is the more precise of the two: exactly 1 for what always happened.
        if (own - value).abs() > 1e-6 {
            return Ok(None);
        }
        let range = delta_interval(value, variance, error);
        Ok(range.map(|(lower, upper)| Asymptotic {
            range: Range { lower, upper },
            error,
        }))
    }
}

/// Returns the proportion of runs with Wilson's interval.
pub(super) fn observed((happened, runs): (u64, u64), error: f64) -> Observed {
    let (lower, upper) = wilson(happened, runs, normal_quantile(error));
    Observed {
        happened,
        runs,
        range: Range { lower, upper },
        error,
    }
}

/// Returns an interval of the probability that is guaranteed if runs are independent.
pub(super) fn guaranteed((happened, runs): (u64, u64), confidence: Confidence) -> Range {
    let (lower, upper) = match confidence.method {
        Method::Fixed => clopper_pearson(happened, runs, confidence.error),
        Method::Anytime => anytime_interval(happened, runs, confidence.error),
    };
    Range { lower, upper }
}
