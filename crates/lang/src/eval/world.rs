//! One reading of a trace: the choice of events that are steps, and the state that follows from it.
//!
//! A world is cheap to clone: unchanged parts are shared.

use std::sync::Arc;

use super::clock::Clock;
use super::code::Code;
use super::compiled::{Compiled, PropertyCode, WatchedCode};
use super::eval_cache::EvalCache;
use super::expr::{Eval, Frame};
use super::instances::{Buffers, Instances};
use super::lazy_product::ProductState;
use super::monitor::{StateSetId, StateSetInterner, Status};
use super::overlay_map::ForkLife;
use super::register::{Operands, Register};
use super::track::{Changes, Tracks};
use super::watch::{Stepper, Watch};
use crate::pool::Reusable;
use crate::value::{Cell, Truth};

/// The state of a trace in one possible reading of it.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) tracks: Arc<Tracks>,
    /// Registers of the trace, by slot.
    pub(super) registers: Vec<Register>,
    pub(super) clock: Clock,
    pub(super) watches: Vec<Watch>,
    /// Properties that an event may still change, except those in the product.
    pub(super) live: Vec<u32>,
    /// Properties in the product that an event may still change.
    pub(super) open: Vec<u32>,
    /// The state in the product that was used last.
    pub(super) product_state: ProductState,
}

/// `product_state` is a cache.
impl PartialEq for World {
    fn eq(&self, other: &World) -> bool {
        self.clock == other.clock
            && self.registers == other.registers
            && self.tracks == other.tracks
            && self.watches == other.watches
            && self.unsettled() == other.unsettled()
    }
}

/// The greatest number of droppable instances that a fork may copy.
const FORK_SLACK: usize = 32;

/// Buffers for stepping, kept to avoid allocations.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pub(super) state_sets: Vec<StateSetInterner>,
    /// Properties whose automata have counters.
    pub(super) machines: Box<[usize]>,
    pub(super) eval_cache: EvalCache,
    changes: Changes,
    operands: Vec<(u32, Operands)>,
    /// Properties on which the event may have an effect.
    busy: Vec<u32>,
    /// Properties that have to be stepped outside the product.
    alone: Vec<u32>,
    buffers: Buffers,
    /// Properties whose verdict may have become final at this step.
    pub(super) settled: Vec<u32>,
}

impl Cache {
    pub(super) fn new(program: &Compiled) -> Cache {
        let properties = program.properties.iter();
        let state_sets: Vec<StateSetInterner> = properties
            .map(|property| StateSetInterner::new(&property.automaton))
            .collect();
        let machines = (0..state_sets.len()).filter(|id| state_sets[*id].counts());
        Cache {
            machines: machines.collect(),
            state_sets,
            eval_cache: EvalCache::new(&program.code, &program.limits),
            changes: Changes::default(),
            operands: Vec::new(),
            busy: Vec::new(),
            alone: Vec::new(),
            buffers: Buffers::default(),
            settled: Vec::new(),
        }
    }

    /// Resets the cache and keeps its memory.
    fn reset(&mut self) {
        self.state_sets.iter_mut().for_each(StateSetInterner::reset);
        self.eval_cache.reset();
        self.changes.clear();
        self.operands.clear();
        self.settled.clear();
    }
}

impl Reusable for Cache {
    fn recycle(&mut self) -> bool {
        self.reset();
        true
    }
}

impl Compiled {
    /// Joins the conditions of `enforce when` in this reading of the trace with those in other readings.
    pub(super) fn note_conditions(
        &self,
        world: &World,
        cells: &[Cell],
        meta: &[Cell],
        cache: &mut Cache,
        into: &mut Vec<Truth>,
    ) {
        let first = into.is_empty();
        let conditions = self
            .clauses
            .watched
            .iter()
            .filter_map(|watched| match watched {
                WatchedCode::When(condition) => Some(*condition),
                WatchedCode::Property(..) | WatchedCode::Elsewhere => None,
            });
        for (place, condition) in conditions.enumerate() {
            let mut eval = world.eval(&self.code, cells, meta, &mut cache.eval_cache);
            let truth = eval.letter(condition);
            match into.get_mut(place) {
                Some(joined) if *joined != truth => *joined = Truth::Unknown,
                Some(_) => {}
                None if first => into.push(truth),
                None => {}
            }
        }
    }
}

impl World {
    /// Returns the state before the first event.
    pub(super) fn new(program: &Compiled) -> World {
        let code = &program.code;
        let initial = |id: &u32| Register::initial(&code.registers[*id as usize].kind);
        let watch = |property: &PropertyCode| match &property.quantified {
            None => Watch::Plain {
                state_set: StateSetInterner::INITIAL,
                triggered: false,
            },
            Some(quantified) => {
                let registers: Vec<Register> = property.frame.iter().map(initial).collect();
                Watch::Parametric(Arc::new(Instances::new(quantified, &registers)))
            }
        };
        World {
            watches: program.properties.iter().map(watch).collect(),
            live: program
                .stepped_alone(0..program.properties.len() as u32)
                .collect(),
            open: program.code.classes.product().into(),
            ..World::without_watches(program)
        }
    }

    /// Returns the state before the first event, for reading a trace without judging it.
    pub(super) fn without_watches(program: &Compiled) -> World {
        let code = &program.code;
        let initial = |id: &u32| Register::initial(&code.registers[*id as usize].kind);
        World {
            tracks: Arc::new(Tracks::new(code, &program.initial)),
            registers: code.slots.iter().map(initial).collect(),
            clock: Clock::default(),
            watches: Vec::new(),
            live: Vec::new(),
            open: Vec::new(),
            product_state: ProductState::NONE,
        }
    }

    /// Returns the evaluator of the step for expressions outside of updates; its events are already part of the tracks.
    pub(super) fn eval<'a>(
        &'a self,
        code: &'a Code,
        cells: &'a [Cell],
        meta: &'a [Cell],
        eval_cache: &'a mut EvalCache,
    ) -> Eval<'a> {
        Eval {
            code,
            cells,
            meta,
            tracks: &self.tracks,
            registers: &self.registers,
            clock: self.clock,
            vars: &[],
            params: &[],
            frame: Frame::NONE,
            eval_cache,
        }
    }

    /// Advances the clock to the event.
    pub(super) fn read_clock(
        &mut self,
        program: &Compiled,
        cells: &[Cell],
        eval_cache: &mut EvalCache,
    ) {
        let now = program.clock.and_then(|field| cells.get(field));
        if self.clock.read(now) {
            eval_cache.clock_ran_back();
        }
    }

    /// Advances the clock and the tracks to the event.
    pub(super) fn enter(
        &mut self,
        program: &Compiled,
        cells: &[Cell],
        meta: &[Cell],
        cache: &mut Cache,
    ) {
        let code = &program.code;
        self.read_clock(program, cells, &mut cache.eval_cache);
        cache.operands.clear();
        if !code.tracks.is_empty() || !code.slots.is_empty() {
            let mut eval = self.eval(code, cells, meta, &mut cache.eval_cache);
            eval.update_tracks(&mut cache.changes);
            for (slot, id) in (0u32..).zip(&code.slots) {
                if code.registers[*id as usize].early {
                    let operands = eval.operands(*id, true);
                    cache.operands.push((slot, operands));
                }
            }
        }
        if !cache.changes.is_empty() {
            let tracks = Arc::make_mut(&mut self.tracks);
            tracks.apply(&mut cache.changes, program.limits.instances);
        }
    }

    /// Advances the registers past the event, after everything has been read.
    pub(super) fn leave(
        &mut self,
        program: &Compiled,
        cells: &[Cell],
        meta: &[Cell],
        cache: &mut Cache,
    ) {
        let code = &program.code;
        if !code.slots.is_empty() {
            let mut eval = self.eval(code, cells, meta, &mut cache.eval_cache);
            for (slot, id) in (0u32..).zip(&code.slots) {
                let register = &code.registers[*id as usize];
                if !register.early && !eval.leaves_count(&register.kind) {
                    let operands = eval.operands(*id, true);
                    cache.operands.push((slot, operands));
                }
            }
            for (slot, operands) in cache.operands.drain(..) {
                let kind = &code.registers[code.slots[slot as usize] as usize].kind;
                self.registers[slot as usize].advance(kind, operands, &self.clock);
            }
        }
        self.clock.position += 1;
    }

    /// Steps through one event, up to the point where all its consequences are known; [`World::leave`] ends it.
    pub(super) fn step(
        &mut self,
        program: &Compiled,
        cells: &[Cell],
        meta: &[Cell],
        index: u32,
        cache: &mut Cache,
    ) {
        self.enter(program, cells, meta, cache);
        let World {
            tracks,
            registers,
            clock,
            watches,
            live,
            open,
            product_state,
        } = self;
        let Cache {
            state_sets,
            eval_cache,
            busy,
            alone,
            buffers,
            settled,
            ..
        } = cache;
        busy.clear();
        let bit = eval_cache.class_bit();
        match eval_cache.class() {
            // A property that is decided before the first event is recorded at the first event.
            Some((transitions, class)) if clock.position > 0 => {
                let mut stays = |id: &u32| {
                    let id = *id as usize;
                    watches[id].is_no_op(program, id, transitions, class, bit)
                };
                busy.extend(live.iter().copied().filter(|id| !stays(id)));
            }
            _ => busy.extend_from_slice(live),
        }
        eval_cache.begin_properties();
        let mut stepper = Stepper {
            program,
            eval: Eval {
                code: &program.code,
                cells,
                meta,
                tracks,
                registers,
                clock: *clock,
                vars: &[],
                params: &[],
                frame: Frame::NONE,
                eval_cache,
            },
            index,
            state_sets,
            alone,
            buffers,
            settled,
        };
        if !open.is_empty() {
            stepper.step_open(open, watches, product_state);
        }
        // Properties that no event can change any more are removed.
        busy.retain(|&id| stepper.step_one(id, &mut watches[id as usize]));
        eval_cache.end_properties();
        if !busy.is_empty() {
            let mut gone = busy.iter().peekable();
            live.retain(|id| gone.next_if_eq(&id).is_none());
        }
    }

    /// Returns the properties that an event may still change, in order.
    pub(super) fn unsettled(&self) -> Vec<u32> {
        let mut all = [&*self.live, &*self.open].concat();
        all.sort_unstable();
        all
    }

    /// Prepares for forks: shares unchanged parts, and drops instances that are no longer needed.
    pub(super) fn share(&mut self, program: &Compiled, life: ForkLife) {
        if let Some(tracks) = Arc::get_mut(&mut self.tracks) {
            tracks.share(life);
        }
        for (watch, property) in self.watches.iter_mut().zip(&program.properties) {
            // Instances that are already shared have not grown since they became shared.
            if let (Watch::Parametric(instances), Some(quantified)) = (watch, &property.quantified)
                && let Some(instances) = Arc::get_mut(instances)
            {
                instances.share(quantified, FORK_SLACK, life);
            }
        }
    }

    /// Returns the value of a property on what has been read.
    pub(super) fn status(
        &self,
        program: &Compiled,
        state_sets: &[StateSetInterner],
        id: usize,
        complete: bool,
    ) -> Status {
        let property = &program.properties[id];
        match &self.watches[id] {
            Watch::Plain { state_set, .. } => {
                let status = state_sets[id].status(&property.automaton, *state_set);
                Status {
                    fixed: status.fixed || complete,
                    ..status
                }
            }
            Watch::Parametric(instances) => match &property.quantified {
                Some(quantified) => {
                    instances.status(property, quantified, &state_sets[id], complete)
                }
                None => Status::UNKNOWN,
            },
        }
    }

    /// Whether a property is violated: for good or, if it is monitored after violations, at the last step. Unknown if
    /// that depends on unknown values.
    pub(super) fn violated(
        &self,
        program: &Compiled,
        state_sets: &[StateSetInterner],
        id: usize,
    ) -> Truth {
        let property = &program.properties[id];
        match (&self.watches[id], &property.quantified) {
            (Watch::Plain { state_set, .. }, _) => {
                state_sets[id].violated(&property.automaton, *state_set)
            }
            (Watch::Parametric(instances), Some(quantified)) => {
                instances.is_violated(property, quantified, &state_sets[id])
            }
            (Watch::Parametric(_), None) => Truth::Unknown,
        }
    }

    /// Advances time to `now` without an event.
    pub(super) fn tick(&mut self, state_sets: &mut [StateSetInterner], now: i128) {
        let position = self.clock.position;
        for (watch, state_sets) in self.watches.iter_mut().zip(state_sets) {
            if !state_sets.counts() {
                continue;
            }
            match watch {
                Watch::Plain { state_set, .. } => {
                    *state_set = state_sets.tick(*state_set, position, now)
                }
                Watch::Parametric(instances) => {
                    let instances = Arc::make_mut(instances);
                    for state_set in instances.state_sets() {
                        *state_set = state_sets.tick(*state_set, position, now);
                    }
                }
            }
        }
    }

    /// Returns the earliest deadline of a pending obligation, after a time.
    pub(super) fn deadline(&self, state_sets: &[StateSetInterner], after: i128) -> Option<i128> {
        let watches = self.watches.iter().zip(state_sets);
        let timed = watches.filter(|(_, state_sets)| state_sets.counts());
        let deadlines = timed.filter_map(|(watch, state_sets)| match watch {
            Watch::Plain { state_set, .. } => state_sets.deadline(*state_set, after),
            Watch::Parametric(instances) => {
                let met = instances.met();
                met.filter_map(|state_set| state_sets.deadline(state_set, after))
                    .min()
            }
        });
        deadlines.min()
    }

    /// Whether the trigger of a property held, or may have held.
    pub(super) fn triggered(&self, id: usize) -> bool {
        match &self.watches[id] {
            Watch::Plain { triggered, .. } => *triggered,
            Watch::Parametric(instances) => instances.triggered(),
        }
    }

    /// Returns the state sets of a property's instances.
    pub(super) fn state_sets(&mut self, id: usize) -> impl Iterator<Item = &mut StateSetId> {
        let (plain, sliced) = match &mut self.watches[id] {
            Watch::Plain { state_set, .. } => (Some(state_set), None),
            Watch::Parametric(instances) => (None, Some(Arc::make_mut(instances).state_sets())),
        };
        plain.into_iter().chain(sliced.into_iter().flatten())
    }

    /// Supposes that a property is not violated, where it may be or not: it was not, in the readings that a step may violate.
    pub(super) fn suppose_unviolated(
        &mut self,
        program: &Compiled,
        state_sets: &mut StateSetInterner,
        id: usize,
    ) {
        let property = &program.properties[id];
        let mut unviolated = |state_set: &mut StateSetId| {
            *state_set = state_sets.unviolated(&property.automaton, *state_set)
        };
        match (&mut self.watches[id], &property.quantified) {
            (Watch::Plain { state_set, .. }, _) => {
                unviolated(state_set);
                self.product_state = ProductState::NONE;
            }
            (Watch::Parametric(instances), Some(quantified)) if quantified.universal => {
                Arc::make_mut(instances).suppose_unviolated(unviolated);
            }
            // `exists` is not violated if one instance is not, and nobody can tell which.
            (Watch::Parametric(_), _) => {}
        }
    }

    /// Whether two readings of a trace have reached the same state. `counted`: some property counts events, so
    /// positions are compared too.
    pub(super) fn same(&self, other: &World, counted: bool) -> bool {
        let watches = || {
            self.watches
                .iter()
                .zip(&other.watches)
                .all(|(lhs, rhs)| match (lhs, rhs) {
                    (
                        Watch::Plain {
                            state_set: c,
                            triggered: t,
                        },
                        Watch::Plain {
                            state_set,
                            triggered,
                        },
                    ) => c == state_set && t == triggered,
                    (Watch::Parametric(lhs), Watch::Parametric(rhs)) => lhs.same(rhs),
                    _ => false,
                })
        };
        let registers = |world: &World| -> Vec<Register> {
            world
                .registers
                .iter()
                .map(|register| register.relative_to(world.clock.position))
                .collect()
        };
        (self.clock.now, self.clock.latest) == (other.clock.now, other.clock.latest)
            && self.live == other.live
            && self.open == other.open
            && watches()
            && registers(self) == registers(other)
            && self.tracks.relative_to(self.clock.position)
                == other.tracks.relative_to(other.clock.position)
            && (self.clock.position == 0) == (other.clock.position == 0)
            && (!counted || self.clock.position == other.clock.position)
    }
}
