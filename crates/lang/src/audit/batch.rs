//! Units that are judged in batches: whole records, and the events of open traces.

use indexmap::IndexMap;
use rayon::prelude::*;
use smol_str::SmolStr;

use super::{Judge, Judged, Readers};
use crate::eval::{TraceSource, Wanted};
use crate::hash::Seeded;
use crate::input::deferred::Deferred;
use crate::input::record::{Event, Origin, Record, Unit};
use crate::input::spread::Spread;
use crate::input_schema::Field;
use crate::problem::{Problem, ProblemKind};

/// Units and steps that are collected before they are judged: enough for all threads, few enough that their cells are
/// still in the processor's cache.
const UNITS: usize = 1024;
const STEPS: usize = 4096;

type Numbered<J> = (u64, Task<<J as Judge>::Open, <J as Judge>::Report>);
type Map<V> = IndexMap<Option<SmolStr>, V, Seeded>;

/// The units of a file that have not been judged yet, and the file's open traces.
pub(super) struct Batch<'j, J: Judge> {
    judge: &'j J,
    /// The meta fields of traces.
    fields: &'j [Field],
    /// Whether the file itself is a trace, so that its end is the end of the trace.
    file_is_trace: bool,
    /// The records to judge, with the number of the unit at which each is reported.
    tasks: Vec<Numbered<J>>,
    /// The traces that this batch continues, with the index in `tasks` at which their events are collected.
    gathering: Map<usize>,
    /// Open traces that this batch did not touch, in order of their first event.
    open: Map<Running<J::Open>>,
    /// The numbers of traces begun and units read in the whole file.
    begun: u64,
    count: u64,
    /// The numbers of steps and units in this batch.
    steps: usize,
    units: usize,
    problems: Vec<Problem>,
}

/// An open trace.
struct Running<O> {
    /// `None` until the facts are known that judging steps needs.
    state: Option<O>,
    /// The events that wait for these facts.
    held: Vec<Event>,
    spread: Spread,
    id: Option<SmolStr>,
    /// The number of traces that began before it.
    order: u64,
    origin: Origin,
}

enum Task<O, R> {
    /// Already judged; waits for earlier results.
    Done(Judged<R>),
    Record(Record),
    /// Events of a trace, in order; `ends` if the trace ended after them.
    Events {
        trace: Option<SmolStr>,
        running: Running<O>,
        events: Vec<Event>,
        ends: bool,
    },
}

enum Done<O, R> {
    Judged(u64, Judged<R>),
    Open(Option<SmolStr>, Running<O>),
}

impl<'j, J: Judge> Batch<'j, J> {
    pub(super) fn new(judge: &'j J, readers: &'j Readers) -> Batch<'j, J> {
        Batch {
            judge,
            fields: readers.meta_fields(),
            file_is_trace: readers.file_is_trace(),
            tasks: Vec::new(),
            gathering: Map::default(),
            open: Map::default(),
            begun: 0,
            count: 0,
            steps: 0,
            units: 0,
            problems: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, unit: Unit) {
        self.units += 1;
        self.count += 1;
        match unit {
            Unit::Record(record) => {
                self.begun += 1;
                self.steps += record.steps.len();
                self.tasks.push((self.count, Task::Record(record)));
            }
            Unit::Event(event) => self.event(event),
            Unit::End { trace, origin } => self.end(trace, origin),
        }
    }

    /// Passes on a record that is already judged, at once if no earlier result is missing.
    pub(super) fn pass(&mut self, judged: Judged<J::Report>) -> Option<Judged<J::Report>> {
        self.count += 1;
        self.begun += 1;
        if self.tasks.is_empty() {
            return Some(judged);
        }
        self.units += 1;
        self.tasks.push((self.count, Task::Done(judged)));
        None
    }

    pub(super) fn is_full(&self) -> bool {
        self.units >= UNITS || self.steps >= STEPS
    }

    /// Returns the problems that belong to no trace.
    pub(super) fn problems(&self) -> &[Problem] {
        &self.problems
    }

    fn event(&mut self, event: Event) {
        self.steps += event.steps.len();
        let place = match self.gathering.get(&event.trace) {
            Some(place) => *place,
            None => {
                let running = self.open.swap_remove(&event.trace).unwrap_or_else(|| {
                    self.begun += 1;
                    Running {
                        state: None,
                        held: Vec::new(),
                        spread: Spread::default(),
                        id: event.trace.clone(),
                        order: self.begun,
                        origin: event.origin.clone(),
                    }
                });
                let place = self.tasks.len();
                let trace = event.trace.clone();
                self.gathering.insert(trace.clone(), place);
                self.tasks.push((
                    self.count,
                    Task::Events {
                        trace,
                        running,
                        events: Vec::new(),
                        ends: false,
                    },
                ));
                place
            }
        };
        if let Some((_, Task::Events { events, .. })) = self.tasks.get_mut(place) {
            events.push(event);
        }
    }

    /// Ends a trace, which is reported at this position; later events with its name begin another trace.
    fn end(&mut self, trace: Option<SmolStr>, origin: Origin) {
        let running = match self.gathering.swap_remove(&trace) {
            Some(place) => {
                if let Some((at, Task::Events { ends, .. })) = self.tasks.get_mut(place) {
                    (*at, *ends) = (self.count, true);
                }
                return;
            }
            None => self.open.swap_remove(&trace),
        };
        match running {
            Some(running) => {
                self.tasks.push((
                    self.count,
                    Task::Events {
                        trace,
                        running,
                        events: Vec::new(),
                        ends: true,
                    },
                ));
            }
            None => {
                let message = "end of a trace that is not open";
                let problem = Problem::new(ProblemKind::Odd, &origin.file, origin.line, message);
                self.problems.push(problem.in_trace(trace));
            }
        }
    }

    /// Judges the collected units.
    pub(super) fn run(&mut self, wanted: &Wanted) -> Vec<Judged<J::Report>> {
        let (judge, fields) = (self.judge, self.fields);
        self.gathering.clear();
        (self.steps, self.units) = (0, 0);
        let done: Vec<Done<J::Open, J::Report>> = std::mem::take(&mut self.tasks)
            .into_par_iter()
            .map(|(at, task)| run(judge, fields, at, task, wanted))
            .collect();
        let mut judged = Vec::with_capacity(done.len());
        for done in done {
            match done {
                Done::Judged(at, report) => judged.push((at, report)),
                Done::Open(trace, running) => {
                    self.open.insert(trace, running);
                }
            }
        }
        judged.sort_by_key(|(at, _)| *at);
        judged.into_iter().map(|(_, judged)| judged).collect()
    }

    /// Ends the file: judges the open traces, in order of their first event.
    pub(super) fn close(&mut self, wanted: &Wanted) -> Vec<Judged<J::Report>> {
        let (judge, fields) = (self.judge, self.fields);
        let complete = self.file_is_trace;
        let mut open: Vec<Running<J::Open>> =
            std::mem::take(&mut self.open).into_values().collect();
        open.sort_by_key(|running| running.order);
        open.into_par_iter()
            .map(|running| running.finish(judge, fields, complete, wanted))
            .collect()
    }
}

fn run<J: Judge>(
    judge: &J,
    fields: &[Field],
    at: u64,
    task: Task<J::Open, J::Report>,
    wanted: &Wanted,
) -> Done<J::Open, J::Report> {
    match task {
        Task::Done(judged) => Done::Judged(at, judged),
        Task::Record(record) => {
            let origin = record.origin.clone();
            let judged = match judge.judge(record, Deferred::NONE, wanted) {
                Some(report) => Judged::Report(report),
                None => Judged::LeftOut(origin),
            };
            Done::Judged(at, judged)
        }
        Task::Events {
            trace,
            mut running,
            events,
            ends,
        } => {
            for event in events {
                running.push(judge, fields, event);
            }
            if ends {
                Done::Judged(at, running.finish(judge, fields, true, wanted))
            } else {
                Done::Open(trace, running)
            }
        }
    }
}

impl<O> Running<O> {
    /// Adds an event. A step is judged with the facts of the whole trace, as in a record that has them beside its events, so the
    /// events wait until all that judging reads are known.
    fn push<J: Judge<Open = O>>(&mut self, judge: &J, fields: &[Field], mut event: Event) {
        self.spread.take(&mut event);
        match &mut self.state {
            Some(state) => judge.push(state, event),
            None => {
                self.held.push(event);
                let facts = self.spread.facts();
                if judge.facts().iter().all(|field| facts.is_settled(*field)) {
                    self.state = Some(self.open(judge, fields));
                }
            }
        }
    }

    /// Begins to judge the trace, with the events that were held.
    fn open<J: Judge<Open = O>>(&mut self, judge: &J, fields: &[Field]) -> O {
        let mut state = judge.open(TraceSource {
            origin: self.origin.clone(),
            id: self.id.clone(),
            meta: self.spread.facts().cells(fields),
        });
        for event in std::mem::take(&mut self.held) {
            judge.push(&mut state, event);
        }
        state
    }

    fn finish<J: Judge<Open = O>>(
        mut self,
        judge: &J,
        fields: &[Field],
        complete: bool,
        wanted: &Wanted,
    ) -> Judged<J::Report> {
        let state = match self.state.take() {
            Some(state) => state,
            None => self.open(judge, fields),
        };
        let meta = self.spread.facts().cells(fields);
        let index = self.order.saturating_sub(1);
        match judge.finish(state, meta, complete, index, wanted) {
            Some(report) => Judged::Report(report),
            None => Judged::LeftOut(self.origin),
        }
    }
}
