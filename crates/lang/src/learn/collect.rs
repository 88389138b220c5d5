//! Counting of walks from recorded traces.

use std::sync::atomic::Ordering;

use super::counts::Counter;
use super::walk::Walk;
use crate::audit::{Listener, Progress};
use crate::eval::Wanted;
use crate::input::limits::Accounting;
use crate::problem::Problem;

/// Adds walks to a counter in the order of the traces; used with [`audit::visit`](crate::audit::visit).
#[derive(Debug)]
pub struct Collector<'a, F> {
    /// The counter that the walks are added to.
    pub counter: Counter<'a>,
    /// The number of traces so far.
    pub traces: u64,
    /// The number of problems so far that left data unread.
    pub errors: u64,
    progress: &'a Progress,
    on_problem: F,
}

impl<'a, F: FnMut(&Problem)> Collector<'a, F> {
    /// Returns a collector; `on_problem` is called for every problem with the data.
    pub fn new(counter: Counter<'a>, progress: &'a Progress, on_problem: F) -> Self {
        Collector {
            counter,
            traces: 0,
            errors: 0,
            progress,
            on_problem,
        }
    }
}

impl<F: FnMut(&Problem)> Listener<Walk> for Collector<'_, F> {
    fn report(&mut self, walk: Walk) {
        self.traces += 1;
        self.progress.traces.fetch_add(1, Ordering::Relaxed);
        for problem in &walk.problems {
            self.problem(problem);
        }
        self.counter.add(&walk);
    }

    fn problem(&mut self, problem: &Problem) {
        self.errors += u64::from(problem.kind.is_error());
        (self.on_problem)(problem);
    }

    fn input(&mut self, _: &Accounting) {}

    fn wanted(&self) -> Wanted {
        Wanted::new(0, |_, _| false)
    }
}
