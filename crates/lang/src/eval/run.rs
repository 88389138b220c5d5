//! The state of a trace that was read so far: all readings of it, and its final verdicts.

use super::compiled::Compiled;
use super::monitor::{StateSetInterner, Status};
use super::watch::Watch;
use super::world::{Cache, World};
use crate::ids::PropertyId;
use crate::input::record::Step;
use crate::value::{Cell, Truth};
use crate::verdict::Verdict;

/// The verdict on one property after a prefix of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Current {
    /// The property.
    pub property: PropertyId,
    /// The verdict.
    pub verdict: Verdict,
    /// The index of the step at which it became final.
    pub at: Option<u32>,
}

/// The state of a trace that was read. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) worlds: Vec<World>,
    /// Index of the last step.
    pub(super) last: Option<u32>,
    pub(super) n_steps: u64,
    /// Whether the trace has more readings than the limit allows.
    pub(super) overflow: bool,
    /// For each property, the final verdict and its step.
    pub(super) decided: Box<[Option<(Verdict, u32)>]>,
}

/// A step that was judged and has not been left: the first reading of the trace is still at the step.
#[derive(Debug)]
pub struct StepView<'a> {
    pub(super) program: &'a Compiled,
    pub(super) run: &'a Run,
    pub(super) cache: &'a mut Cache,
    pub(super) cells: &'a [Cell],
    pub(super) meta: &'a [Cell],
    /// Conditions of `enforce when`, joined over the other readings of the trace.
    pub(super) elsewhere: Vec<Truth>,
    /// The state before the step, if requested.
    pub(super) before: Option<Before<'a>>,
    /// Whether the trace is judged as if it ended here.
    pub(super) complete: bool,
}

/// The state of a trace before a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before<'a> {
    /// Whether the property of each `enforce` clause was violated.
    pub(super) violated: &'a [Truth],
    /// Whether the step violates the property of each clause on the supposition that it was not violated; empty if no property may
    /// have been violated.
    pub(super) newly_violated: &'a [Truth],
    /// The whole state; `None` for events that happened, since a copy of it would prevent changing instances in place.
    pub(super) run: Option<&'a Run>,
}

impl Run {
    /// Returns the state of an empty trace.
    pub(super) fn new(first: World, n_properties: usize) -> Run {
        Run {
            worlds: vec![first],
            last: None,
            n_steps: 0,
            overflow: false,
            decided: vec![None; n_properties].into(),
        }
    }

    /// Reads one event. Returns whether it is a step. `look` is called before the step is left, with the step and
    /// `before`.
    pub(super) fn advance(
        &mut self,
        program: &Compiled,
        meta: &[Cell],
        cache: &mut Cache,
        step: &Step,
        before: Option<Before<'_>>,
        look: impl FnOnce(&mut StepView<'_>),
    ) -> bool {
        cache.eval_cache.begin_step(Some(step.index));
        cache.eval_cache.classify(&program.code, &step.cells, 0);
        self.classified(program, meta, cache, step, before, look)
    }

    /// As [`advance`](Self::advance), for a step that has begun and whose class was already determined.
    pub(super) fn classified(
        &mut self,
        program: &Compiled,
        meta: &[Cell],
        cache: &mut Cache,
        step: &Step,
        before: Option<Before<'_>>,
        look: impl FnOnce(&mut StepView<'_>),
    ) -> bool {
        if self.overflow {
            return true;
        }
        let cells = &*step.cells;
        cache.settled.clear();
        let is_step = match (program.filter.step, self.worlds.first()) {
            (Some(filter), Some(world)) => world
                .eval(&program.code, cells, meta, &mut cache.eval_cache)
                .letter(filter),
            _ => Truth::True,
        };
        if is_step == Truth::False {
            return false;
        }
        self.n_steps += 1;
        self.last = Some(step.index);
        // If it is unknown whether an event is a step, both cases are followed.
        let without = if is_step == Truth::Unknown {
            self.worlds.clone()
        } else {
            Vec::new()
        };
        let mut elsewhere = Vec::new();
        let n_ways = self.worlds.len() + without.len();
        // The first reading is stepped last, so that it can still be observed.
        for world in self.worlds.iter_mut().skip(1) {
            world.step(program, cells, meta, step.index, cache);
            program.note_conditions(world, cells, meta, cache, &mut elsewhere);
            world.leave(program, cells, meta, cache);
            cache.eval_cache.forget();
        }
        if let Some(first) = self.worlds.first_mut() {
            first.step(program, cells, meta, step.index, cache);
        }
        self.worlds.extend(without);
        self.decide(program, cache, step.index);
        look(&mut StepView {
            program,
            run: self,
            cache,
            cells,
            meta,
            elsewhere,
            before,
            complete: false,
        });
        if let Some(first) = self.worlds.first_mut() {
            first.leave(program, cells, meta, cache);
        }
        if n_ways > 1 {
            self.merge(program);
        }
        self.renumber(cache);
        true
    }

    fn merge(&mut self, program: &Compiled) {
        let counted = program.properties.iter().any(|p| p.automaton.counts());
        let mut kept: Vec<World> = Vec::with_capacity(self.worlds.len());
        for world in std::mem::take(&mut self.worlds) {
            if !kept.iter().any(|other| other.same(&world, counted)) {
                kept.push(world);
            }
        }
        self.worlds = kept;
        self.overflow = self.worlds.len() > program.limits.worlds;
    }

    /// Records the verdicts that became final.
    fn decide(&mut self, program: &Compiled, cache: &Cache, index: u32) {
        let all: Vec<u32>;
        let settled = if self.worlds.len() == 1 {
            &cache.settled
        } else {
            all = (0..self.decided.len() as u32).collect();
            &all
        };
        for &id in settled {
            let id = id as usize;
            if self.decided[id].is_none() {
                let status = self.status(program, &cache.state_sets, id, false);
                let verdict = status.verdict(false);
                if verdict.is_final() {
                    self.decided[id] = Some((verdict, index));
                }
            }
        }
    }

    /// Drops state sets that are no longer used.
    fn renumber(&mut self, cache: &mut Cache) {
        for &id in &cache.machines {
            let state_sets = &mut cache.state_sets[id];
            let met = |world: &World| match &world.watches[id] {
                Watch::Plain { .. } => 1,
                Watch::Parametric(instances) => instances.n_classes(),
            };
            if state_sets.is_crowded(0) && state_sets.is_crowded(self.worlds.iter().map(met).sum())
            {
                state_sets.renumber(
                    self.worlds
                        .iter_mut()
                        .flat_map(|world| world.state_sets(id)),
                );
            }
        }
    }

    /// Returns the value of a property over all readings of the trace.
    pub(super) fn status(
        &self,
        program: &Compiled,
        state_sets: &[StateSetInterner],
        id: usize,
        complete: bool,
    ) -> Status {
        let each = self
            .worlds
            .iter()
            .map(|world| world.status(program, state_sets, id, complete));
        let status = each.reduce(Status::join).unwrap_or(Status::UNKNOWN);
        let property = &program.properties[id];
        let universal = property
            .quantified
            .as_ref()
            .is_none_or(|quantified| quantified.universal);
        if property.unwritten && (status.now == Truth::True || !universal) {
            return Status {
                now: Truth::Unknown,
                fixed: complete,
            };
        }
        status
    }

    /// Whether a property is violated over all readings of the trace.
    pub(super) fn violated(
        &self,
        program: &Compiled,
        state_sets: &[StateSetInterner],
        id: usize,
    ) -> Truth {
        if self.overflow {
            return Truth::Unknown;
        }
        let each = self
            .worlds
            .iter()
            .map(|world| world.violated(program, state_sets, id));
        each.reduce(|lhs, rhs| if lhs == rhs { lhs } else { Truth::Unknown })
            .unwrap_or(Truth::Unknown)
    }

    /// Returns the verdict on one property after what has been read.
    pub(super) fn verdict(
        &self,
        program: &Compiled,
        state_sets: &[StateSetInterner],
        property: PropertyId,
    ) -> Current {
        let id = property.index();
        let (verdict, at) = match self.decided[id] {
            Some((verdict, at)) => (verdict, Some(at)),
            None if self.overflow => (Verdict::Unknown, None),
            None => (
                self.status(program, state_sets, id, false).verdict(false),
                None,
            ),
        };
        Current {
            property,
            verdict,
            at,
        }
    }
}
