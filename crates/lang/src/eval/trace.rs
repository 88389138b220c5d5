//! A trace being judged, step by step.

use std::sync::Arc;

use smol_str::SmolStr;

use super::classes::Demand;
use super::compiled::Compiled;
use super::explain::Wanted;
use super::program::Program;
use super::run::{Current, Run};
use super::world::Cache;
use crate::ids::PropertyId;
use crate::input::deferred::{Deferred, DeferredText};
use crate::input::record::{Origin, Step};
use crate::pool::PoolGuard;
use crate::problem::Problem;
use crate::value::Cell;
use crate::verdict::TraceReport;

/// The origin of a trace and its name.
#[derive(Clone, Debug)]
pub struct TraceSource {
    /// The origin.
    pub origin: Origin,
    /// The identifier that the trace gives itself.
    pub id: Option<SmolStr>,
    /// One cell per meta field of the schema.
    pub meta: Box<[Cell]>,
}

/// A trace being judged. Steps are pushed in order; a verdict can be computed at any time.
#[derive(Debug)]
pub struct TraceState<'p> {
    pub(super) program: &'p Compiled,
    /// The program, with its caches of event classes.
    pools: &'p Program,
    pub(super) source: TraceSource,
    pub(super) name: SmolStr,
    pub(super) run: Run,
    pub(super) cache: PoolGuard<Cache>,
    pub(super) history: History,
    pub(super) problems: Vec<Problem>,
    /// The index in the recording of each step; empty if the steps' own indices are distinct. Until the report is made, steps
    /// are identified by their positions: reading the trace again must find the step of a verdict, not another step of the same
    /// message.
    items: Vec<u32>,
    /// The indices in the recording of events that are no steps, in any order: their problems are dropped at the end, all at
    /// once. A search through the problems for each of them took time proportional to the product of their numbers.
    no_steps: Vec<u32>,
}

/// The steps read so far, for explanations.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) steps: Vec<Step>,
    bytes: usize,
    /// Whether steps were dropped because of the limit.
    pub(super) cut: bool,
}

impl Program {
    /// Returns a trace without steps.
    pub fn open(&self, source: TraceSource) -> TraceState<'_> {
        let name = self.name(&source);
        TraceState {
            program: &self.compiled,
            pools: self,
            name,
            source,
            run: Run::new(self.first_world(), self.compiled.properties.len()),
            cache: self.cache(),
            history: History::default(),
            problems: Vec::new(),
            items: Vec::new(),
            no_steps: Vec::new(),
        }
    }
}

impl TraceState<'_> {
    /// Numbers the steps of a whole trace by position, unless their indices are ascending.
    pub(super) fn number(&mut self, steps: &mut [Step]) {
        if !steps.windows(2).all(|pair| pair[0].index < pair[1].index) {
            let items = steps.iter_mut().zip(0..);
            self.items = items
                .map(|(step, position)| std::mem::replace(&mut step.index, position))
                .collect();
        }
    }

    /// Returns the index in the recording of a step.
    pub(super) fn item(&self, step: u32) -> u32 {
        self.items.get(step as usize).copied().unwrap_or(step)
    }

    /// Whether steps are identified by their positions instead of their indices in the recording.
    pub(super) fn is_numbered(&self) -> bool {
        !self.items.is_empty()
    }

    /// Reads one step.
    pub fn push(&mut self, step: &Step) {
        self.advance(step);
        self.rest();
        self.history.keep(step, self.program.limits.history_bytes);
    }

    /// Adds problems of the data.
    pub fn note(&mut self, problems: impl IntoIterator<Item = Problem>) {
        self.problems.extend(problems);
    }

    /// Prepares for stepping: takes a cache of event classes from the pool, unless the trace has one.
    pub(super) fn wake(&mut self) {
        let transitions = &mut self.cache.eval_cache.transitions;
        transitions.get_or_insert_with(|| self.pools.transitions());
    }

    /// Returns the cache of event classes to the pool: of many open traces only the one that is stepped needs it.
    pub(super) fn rest(&mut self) {
        self.cache.eval_cache.transitions = None;
    }

    /// Reads one step that the caller keeps.
    pub(super) fn advance(&mut self, step: &Step) {
        self.wake();
        let (program, meta) = (self.program, &*self.source.meta);
        if !self
            .run
            .advance(program, meta, &mut self.cache, step, None, |_| {})
        {
            self.forget_problems(step.index);
        }
    }

    /// Reads an event with deferred `texts`: decodes those that evaluation may read.
    pub(super) fn advance_deferred(
        &mut self,
        step: &mut Step,
        texts: &Deferred<'_>,
        places: &[DeferredText],
    ) {
        self.wake();
        let program = self.program;
        let eval_cache = &mut self.cache.eval_cache;
        eval_cache.begin_step(Some(step.index));
        let deferred = program.code.classes.longer(places);
        for place in places {
            if deferred >> place.field & 1 == 0 {
                step.cells[place.field] = texts.decode(place);
            }
        }
        eval_cache.classify(&program.code, &step.cells, deferred);
        let demands = eval_cache.demands(program);
        for place in places {
            match demands.map_or(Demand::All, |demands| demands[place.field]) {
                Demand::Nothing => {}
                Demand::Beginning(most) => {
                    step.cells[place.field] = texts.beginning(place, most);
                }
                Demand::All => step.cells[place.field] = texts.decode(place),
            }
        }
        let meta = &*self.source.meta;
        if !self
            .run
            .classified(program, meta, &mut self.cache, step, None, |_| {})
        {
            self.forget_problems(step.index);
        }
    }

    /// Notes that an event is not a step: no property sees it, so an unreadable field does not matter. Not done if one event may
    /// be several steps: another of them may have the same problem.
    pub(super) fn forget_problems(&mut self, step: u32) {
        if self.problems.is_empty() || self.program.spec.schema.layout.each.is_some() {
            return;
        }
        let item = self.item(step);
        self.no_steps.push(item);
    }

    /// Returns the problems of the data, without those of fields of events that are no steps. What several events have in common in the
    /// recording keeps them: another one may have the same problem.
    pub(super) fn take_problems(&mut self) -> Vec<Problem> {
        let mut problems = std::mem::take(&mut self.problems);
        if self.no_steps.is_empty() {
            return problems;
        }
        self.no_steps.sort_unstable();
        let mut items = self.items.clone();
        items.sort_unstable();
        let is_shared = |step: u32| {
            let first = items.partition_point(|item| *item < step);
            items.get(first + 1) == Some(&step)
        };
        let is_no_step = |step: u32| self.no_steps.binary_search(&step).is_ok() && !is_shared(step);
        problems.retain(|problem| problem.field.is_none() || !problem.step.is_some_and(is_no_step));
        problems
    }

    /// Returns the verdict on one property after what has been read.
    pub fn verdict(&self, property: PropertyId) -> Current {
        self.run
            .verdict(self.program, &self.cache.state_sets, property)
    }

    /// Returns the verdicts on all properties after what has been read, in order of declaration.
    pub fn verdicts(&self) -> Vec<Current> {
        self.program
            .property_ids()
            .map(|property| self.verdict(property))
            .collect()
    }

    /// Returns the index of the last event that is a step, or may be one.
    pub fn last(&self) -> Option<u32> {
        self.run.last
    }

    /// Returns how many instances of properties and keys of tracks the steps so far have touched or were compared with: the
    /// part of the cost that can grow with the values seen.
    pub fn work(&self) -> u64 {
        self.cache.eval_cache.work
    }

    /// Returns the name of the trace.
    pub fn name(&self) -> &SmolStr {
        &self.name
    }

    /// Returns the file of the trace.
    pub fn file(&self) -> &Arc<str> {
        &self.source.origin.file
    }

    /// Ends the trace. Its verdicts are final if `complete`; else they stay open.
    pub fn finish(self, complete: bool) -> TraceReport {
        self.finish_for(complete, Wanted::ALL)
    }

    /// Ends the trace; only the explanations in `wanted` are produced.
    pub fn finish_for(self, complete: bool, wanted: &Wanted) -> TraceReport {
        super::report::report(self, complete, wanted, Deferred::NONE)
    }
}

impl History {
    fn keep(&mut self, step: &Step, most: usize) {
        if self.cut {
            return;
        }
        self.bytes += 32 + step.cells.iter().map(size).sum::<usize>();
        if self.bytes > most {
            self.cut = true;
            self.steps = Vec::new();
            return;
        }
        self.steps.push(step.clone());
    }
}

/// Estimates the bytes that a cell occupies.
fn size(cell: &Cell) -> usize {
    use crate::value::Value;
    fn of(value: &Value) -> usize {
        let own = size_of::<Value>();
        own + match value {
            Value::String(text) => text.memory(),
            Value::List(items) => items.iter().map(of).sum(),
            Value::Set(items) => items.iter().map(of).sum(),
            Value::Object(object) => object
                .iter()
                .map(|(key, value)| 24 + key.len() + of(value))
                .sum(),
            _ => 0,
        }
    }
    match cell {
        Cell::Known(value) => of(value),
        Cell::Unknown => size_of::<Value>(),
    }
}
