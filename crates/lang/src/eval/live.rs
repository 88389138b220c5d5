//! Live traces: their state between events, and the evaluation of events that happened or are proposed.
//!
//! Many traces share one [`StepCache`], which holds everything else that stepping needs. Between events a trace owns the
//! contents of its state sets instead of numbers of the step cache, so that it can be serialised and continued by another
//! process.

use super::compiled::WatchedCode;
use super::monitor::{Content, StateSetId};
use super::overlay_map::ForkLife;
use super::program::Program;
use super::run::{Before, Run, StepView};
use super::watch::Watch;
use super::world::Cache;
use crate::ids::PropertyId;
use crate::input::record::Step;
use crate::input::spread::Facts;
use crate::pool::PoolGuard;
use crate::value::{Cell, Truth, Value};
use crate::verdict::Verdict;

/// The state of a live trace between events.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    pub(super) run: Run,
    /// The contents of state sets that are not single states of an automaton.
    pub(super) kept: Vec<ExternalState>,
    /// One cell per meta field: the first known value.
    pub(super) meta: Box<[Cell]>,
}

/// The contents of the state set with this number, for this property.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct ExternalState {
    pub(super) property: usize,
    pub(super) number: StateSetId,
    pub(super) content: Content,
}

/// The caches of stepping live traces besides the program; one per thread.
#[derive(Debug)]
pub struct StepCache {
    cache: PoolGuard<Cache>,
    /// Whether the property of each clause was violated before the step.
    violated: Vec<Truth>,
}

impl Live {
    /// Returns a trace without events.
    pub fn new(program: &Program) -> Live {
        Live {
            run: Run::new(program.first_world(), program.compiled.properties.len()),
            kept: Vec::new(),
            meta: vec![Cell::Unknown; program.compiled.spec.schema.meta.len()].into(),
        }
    }

    /// Returns a copy that shares everything that neither trace changes.
    pub fn fork(&mut self, program: &Program) -> Live {
        for world in &mut self.run.worlds {
            world.share(&program.compiled, ForkLife::Long);
        }
        self.clone()
    }

    /// Records the facts that an event states about its record. What it leaves out is not known to be absent: another event may state it,
    /// and a program that never does has not said that the spec does not apply.
    /// A step is judged when it is reported, with what is known then, so a default counts at once.
    pub(crate) fn learn_meta(&mut self, program: &Program, facts: &Facts) {
        let is_stated = |cell: &Cell| *cell != Cell::Known(Value::Null);
        let cells = facts.cells(&program.compiled.spec.schema.meta);
        for (known, cell) in self.meta.iter_mut().zip(cells) {
            if *known == Cell::Unknown && is_stated(&cell) {
                *known = cell;
            }
        }
    }

    /// Returns the known facts about the record.
    pub fn meta(&self) -> &[Cell] {
        &self.meta
    }

    /// Restores the facts about the record after an event that did not happen.
    pub(crate) fn set_meta(&mut self, meta: Vec<Cell>) {
        self.meta = meta.into();
    }

    /// Returns the index of the last step.
    pub fn last(&self) -> Option<u32> {
        self.run.last
    }

    /// Returns the latest time that the clock has shown.
    pub fn latest(&self) -> Option<i128> {
        self.run
            .worlds
            .iter()
            .filter_map(|world| world.clock.latest)
            .max()
    }
}

impl StepCache {
    /// Returns a step cache for the traces of a program.
    pub fn new(program: &Program) -> StepCache {
        let mut cache = program.cache();
        cache.eval_cache.transitions = Some(program.transitions());
        StepCache {
            cache,
            violated: Vec::new(),
        }
    }

    /// Records an event that happened. Returns whether it is a step; if so, `look` is called with it.
    pub fn happened(
        &mut self,
        program: &Program,
        live: &mut Live,
        step: &Step,
        look: impl FnOnce(&mut StepView<'_>),
    ) -> bool {
        let violated = self.violated(program, live);
        let newly_violated = self.newly_violated(program, live, step, &violated);
        let before = Before {
            violated: &violated,
            newly_violated: &newly_violated,
            run: None,
        };
        let is_step = self.step(program, &mut live.run, &live.meta, step, before, look);
        self.violated = violated;
        self.externalize(live);
        is_step
    }

    /// Judges a proposed event as if it were appended; the trace does not change.
    pub fn proposed(
        &mut self,
        program: &Program,
        live: &mut Live,
        step: &Step,
        look: impl FnOnce(&mut StepView<'_>),
    ) -> bool {
        let violated = self.violated(program, live);
        let newly_violated = self.newly_violated(program, live, step, &violated);
        for world in &mut live.run.worlds {
            world.share(&program.compiled, ForkLife::Short);
        }
        let mut fork = live.run.clone();
        let before = Before {
            violated: &violated,
            newly_violated: &newly_violated,
            run: Some(&live.run),
        };
        let is_step = self.step(program, &mut fork, &live.meta, step, before, look);
        self.violated = violated;
        is_step
    }

    /// Returns whether the property of each clause is violated. The list is to be given back.
    fn violated(&mut self, program: &Program, live: &mut Live) -> Vec<Truth> {
        self.intern(live);
        let mut violated = std::mem::take(&mut self.violated);
        violated.clear();
        violated.extend(self.violations(program, &live.run));
        violated
    }

    fn violations(&self, program: &Program, run: &Run) -> impl Iterator<Item = Truth> {
        let (program, state_sets) = (&program.compiled, &self.cache.state_sets);
        let of_clause = |watched: &WatchedCode| match watched {
            WatchedCode::Property(property, _) => {
                run.violated(program, state_sets, property.index())
            }
            WatchedCode::When(_) | WatchedCode::Elsewhere => Truth::False,
        };
        program.clauses.watched.iter().map(of_clause)
    }

    /// Returns, for each clause, whether a step violates its property on the supposition that no property that may have been
    /// violated was. Empty if none may have been: nothing is stepped then.
    ///
    /// Otherwise a step that surely breaks a rule would be taken for nothing new, because what could not be read may have broken it before.
    fn newly_violated(
        &mut self,
        program: &Program,
        live: &mut Live,
        step: &Step,
        violated: &[Truth],
    ) -> Vec<Truth> {
        let compiled = &program.compiled;
        let clauses = || compiled.clauses.watched.iter().zip(violated);
        if clauses().all(|(_, violated)| *violated != Truth::Unknown) {
            return Vec::new();
        }
        for world in &mut live.run.worlds {
            world.share(compiled, ForkLife::Short);
        }
        let mut supposed = live.run.clone();
        for (watched, violated) in clauses() {
            if let (WatchedCode::Property(property, _), Truth::Unknown) = (watched, violated) {
                let id = property.index();
                for world in &mut supposed.worlds {
                    world.suppose_unviolated(compiled, &mut self.cache.state_sets[id], id);
                }
            }
        }
        supposed.advance(compiled, &live.meta, &mut self.cache, step, None, |_| {});
        let newly_violated = self.violations(program, &supposed).collect();
        // Stepping may have given the state sets of the trace other numbers.
        self.intern(live);
        newly_violated
    }

    fn step(
        &mut self,
        program: &Program,
        run: &mut Run,
        meta: &[Cell],
        step: &Step,
        before: Before<'_>,
        look: impl FnOnce(&mut StepView<'_>),
    ) -> bool {
        self.cache.eval_cache.forget_faults();
        run.advance(
            &program.compiled,
            meta,
            &mut self.cache,
            step,
            Some(before),
            look,
        )
    }

    /// Judges the trace at a later time (`now`, on the clock of the trace) without an event, or as if it ended here. The
    /// trace does not change.
    pub(crate) fn peek(
        &mut self,
        program: &Program,
        live: &mut Live,
        moment: Peek,
        look: impl FnOnce(&mut StepView<'_>),
    ) {
        let violated = self.violated(program, live);
        let mut fork = live.run.clone();
        if let Peek::Time(now) = moment {
            for world in &mut fork.worlds {
                world.tick(&mut self.cache.state_sets, now);
            }
        }
        let eval_cache = &mut self.cache.eval_cache;
        // Those of the last step may be of another trace, or of an action that was denied.
        eval_cache.forget_faults();
        eval_cache.begin_step(None);
        let cells = vec![Cell::Unknown; program.compiled.spec.schema.fields.len()];
        look(&mut StepView {
            program: &program.compiled,
            run: &fork,
            cache: &mut self.cache,
            cells: &cells,
            meta: &live.meta,
            elsewhere: Vec::new(),
            before: Some(Before {
                violated: &violated,
                newly_violated: &[],
                run: Some(&live.run),
            }),
            complete: moment == Peek::End,
        });
        self.violated = violated;
    }

    /// Lets time pass to `now`, on the clock of the trace, if a deadline lies before it: what was to happen until then has not.
    pub(crate) fn pass(&mut self, live: &mut Live, now: i128) {
        if self.deadline(live, i128::MIN).is_none_or(|due| due >= now) {
            return;
        }
        for world in &mut live.run.worlds {
            world.tick(&mut self.cache.state_sets, now);
        }
        self.externalize(live);
    }

    /// Returns how many instances of properties and keys of tracks the steps so far, proposed ones included, have touched or
    /// were compared with: the part of the cost that can grow with the values seen.
    pub fn work(&self) -> u64 {
        self.cache.eval_cache.work
    }

    /// Returns the work of the conditions of the last step, as [`Limits::step_work`](super::Limits::step_work) counts it.
    pub fn step_work(&self) -> u64 {
        self.cache.eval_cache.spent()
    }

    /// Returns the verdict on a property.
    pub fn verdict(&mut self, program: &Program, live: &mut Live, property: PropertyId) -> Verdict {
        self.intern(live);
        live.run
            .verdict(&program.compiled, &self.cache.state_sets, property)
            .verdict
    }

    /// Returns the earliest deadline of a pending obligation, after a time; both on the clock of the trace.
    pub(crate) fn deadline(&mut self, live: &mut Live, after: i128) -> Option<i128> {
        self.intern(live);
        let worlds = live.run.worlds.iter();
        worlds
            .filter_map(|world| world.deadline(&self.cache.state_sets, after))
            .min()
    }

    /// Replaces the contents of a trace's state sets by their numbers in this cache.
    fn intern(&mut self, live: &mut Live) {
        if live.kept.is_empty() {
            return;
        }
        let mut moved: Vec<(usize, StateSetId, StateSetId)> = Vec::new();
        for kept in &mut live.kept {
            let number = self.cache.state_sets[kept.property].number(&kept.content);
            if number != kept.number {
                moved.push((kept.property, kept.number, number));
                kept.number = number;
            }
        }
        let mut properties: Vec<usize> = moved.iter().map(|(property, ..)| *property).collect();
        properties.dedup();
        for id in properties {
            let of = |state_set: &StateSetId| {
                let known = moved
                    .iter()
                    .find(|(property, from, _)| (*property, *from) == (id, *state_set));
                known.map(|(.., to)| *to)
            };
            for world in &mut live.run.worlds {
                for state_set in world.state_sets(id) {
                    *state_set = of(state_set).unwrap_or(*state_set);
                }
            }
        }
    }

    /// Replaces the numbers of a trace's state sets by their contents.
    fn externalize(&mut self, live: &mut Live) {
        live.kept.clear();
        for (property, state_sets) in self.cache.state_sets.iter_mut().enumerate() {
            if state_sets.is_plain() {
                continue;
            }
            let mut numbers: Vec<StateSetId> = Vec::new();
            for world in &live.run.worlds {
                match &world.watches[property] {
                    Watch::Plain { state_set, .. } => numbers.push(*state_set),
                    Watch::Parametric(instances) => numbers.extend(instances.numbers()),
                }
            }
            numbers.sort_unstable();
            numbers.dedup();
            for number in numbers {
                if let Some(content) = state_sets.content(number) {
                    live.kept.push(ExternalState {
                        property,
                        number,
                        content,
                    });
                }
            }
            state_sets.forget_numbers();
        }
    }
}

/// A change without an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peek {
    /// A later time, on the clock of the trace.
    Time(i128),
    /// The trace ends.
    End,
}
