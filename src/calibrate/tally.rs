//! Counts of what happened under one query, run by run.

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use super::Followed;
use super::memory;
use super::roc::Scored;
use super::score::Forecasted;
use crate::abstraction::Key;
use crate::query::{ChainStates, Tail};
use crate::value::Truth;

/// A run, what the model forecasts in it, and what happened.
pub(super) struct Run<'c> {
    pub(super) course: &'c Followed,
    /// The forecast before the first step, then after each, up to the feared event; `None` in a state that no training trace visited.
    pub(super) risks: Vec<Option<f64>>,
    /// The states of the chain after each step. What the model says depends on all that they remember.
    pub(super) states: Vec<ChainStates>,
    /// Whether what is forecast there came true.
    pub(super) outcomes: Vec<Truth>,
    /// The step at which the feared event happened.
    pub(super) at: Option<usize>,
}

/// The runs so far.
#[derive(Default)]
pub(super) struct Tally<'c> {
    pub(super) forecasts: Vec<Forecasted>,
    pub(super) runs: Vec<Scored>,
    /// The number of runs of which it is not known whether they are bad.
    pub(super) undecided: u64,
    /// The number of forecasts without a number.
    pub(super) unseen: u64,
    /// The number of forecasts with unknown outcome.
    pub(super) open: u64,
    pub(super) visits: FxHashMap<(SmolStr, ChainStates), Visits>,
    /// The states of each run up to the feared event, and the symbol of its end.
    pub(super) remembered: Vec<(&'c [Key], Option<u32>)>,
}

/// The runs that visited a state of the chain of a category, from the first visit of each on.
pub(super) struct Visits {
    pub(super) risk: f64,
    pub(super) traces: u64,
    pub(super) happened: u64,
    pub(super) open: u64,
}

impl<'c> Tally<'c> {
    /// Adds the states up to the feared event.
    pub(super) fn remember(&mut self, run: &Run<'c>) {
        let end = match (run.at, run.course.tail) {
            (Some(_), _) => Some(memory::FEARED),
            (None, Tail::Open) => None,
            (None, Tail::End | Tail::Stays) => Some(memory::END),
        };
        let keys = &run.course.keys;
        let up_to = run.at.unwrap_or(keys.len());
        self.remembered.push((&keys[..up_to], end));
    }

    /// Adds each forecast of the run with this number, and its outcome.
    pub(super) fn compare(&mut self, run: &Run<'_>, number: usize) {
        let course = run.course;
        let mut visited = FxHashSet::default();
        for (place, (risk, outcome)) in run.risks.iter().zip(&run.outcomes).enumerate() {
            let Some(risk) = *risk else {
                self.unseen += 1;
                continue;
            };
            match outcome {
                Truth::Unknown => self.open += 1,
                known => self.forecasts.push(Forecasted {
                    trace: number,
                    risk,
                    happened: *known == Truth::True,
                }),
            }
            let Some(states) = place.checked_sub(1).map(|step| &run.states[step]) else {
                continue;
            };
            if !visited.insert(states) {
                continue;
            }
            let state = (course.category.clone(), states.clone());
            let visits = self.visits.entry(state).or_insert(Visits {
                risk,
                traces: 0,
                happened: 0,
                open: 0,
            });
            visits.traces += 1;
            visits.happened += u64::from(*outcome == Truth::True);
            visits.open += u64::from(*outcome == Truth::Unknown);
        }
    }

    /// Adds the run to those whose kind is known. `label` is what another source says about it, if there is one: whether it is
    /// bad, if it knows. `turned`: the query forbids the event, so that its number is the chance that all goes well.
    pub(super) fn score(&mut self, run: &Run<'_>, label: Option<Option<bool>>, turned: bool) {
        let bad = match label {
            Some(label) => label,
            None if run.at.is_some() => Some(true),
            None if run.course.tail != Tail::Open => Some(false),
            None => None,
        };
        let Some(bad) = bad else {
            self.undecided += 1;
            return;
        };
        let feared = |risk: &Option<f64>| risk.map(|risk| if turned { 1.0 - risk } else { risk });
        self.runs.push(Scored {
            bad,
            risks: run.risks.iter().map(feared).collect(),
            at: run.at,
        });
    }
}
