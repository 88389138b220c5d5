//! One way to read a trace: which of its events are steps, and all that follows from those.
//!
//! A world is cheap to clone: what an event does not change is shared.

use std::sync::Arc;

use super::clock::Clock;
use super::code::Code;
use super::expr::{Eval, Frame};
use super::joint;
use super::monitor::{Config, Configs, Standing};
use super::program::{Program, PropertyCode};
use super::register::{Operands, Register};
use super::scratch::Scratch;
use super::slices::{Buffers, Slices};
use super::track::{Changes, Tracks};
use crate::value::{Cell, Truth};

/// Where a trace is.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) tracks: Arc<Tracks>,
    /// By slot.
    pub(super) registers: Vec<Register>,
    pub(super) clock: Clock,
    pub(super) watches: Vec<Watch>,
    /// Properties that an event may still change, without those that are stepped as one.
    pub(super) live: Vec<u32>,
    /// The same of those that are.
    pub(super) open: Vec<u32>,
    /// Where those are in the product that was used last.
    pub(super) place: joint::Place,
}

/// Instances that forks may copy although they no longer matter.
const FORK_SLACK: usize = 32;

/// Where a trace is with regard to one property.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) enum Watch {
    Plain {
        config: Config,
        /// Whether the trigger held, or may have held.
        triggered: bool,
    },
    Sliced(Arc<Slices>),
}

/// What stepping needs besides, kept so that nothing is allocated anew.
#[derive(Debug)]
pub(super) struct Workshop {
    pub(super) configs: Vec<Configs>,
    /// Properties that are followed by a machine.
    pub(super) machines: Box<[usize]>,
    pub(super) scratch: Scratch,
    changes: Changes,
    operands: Vec<(u32, Operands)>,
    /// Properties on which the event may have an effect.
    busy: Vec<u32>,
    /// Properties that the product leaves to be stepped alone.
    alone: Vec<u32>,
    buffers: Buffers,
    /// Properties whose verdict may have become final at this step.
    pub(super) settled: Vec<u32>,
}

impl Workshop {
    pub(super) fn new(program: &Program) -> Workshop {
        let properties = program.properties.iter();
        let configs: Vec<Configs> = properties
            .map(|property| Configs::new(&property.automaton))
            .collect();
        let machines = (0..configs.len()).filter(|id| configs[*id].counts());
        Workshop {
            machines: machines.collect(),
            configs,
            scratch: Scratch::new(&program.code, &program.limits),
            changes: Changes::default(),
            operands: Vec::new(),
            busy: Vec::new(),
            alone: Vec::new(),
            buffers: Buffers::default(),
            settled: Vec::new(),
        }
    }

    /// Makes it as new, but for memory.
    pub(super) fn reset(&mut self) {
        self.configs.iter_mut().for_each(Configs::reset);
        self.scratch.reset();
        self.changes.clear();
        self.operands.clear();
        self.settled.clear();
    }
}

impl World {
    /// Before the first event.
    pub(super) fn new(program: &Program) -> World {
        let code = &program.code;
        let initial = |id: &u32| Register::initial(&code.registers[*id as usize].kind);
        let watch = |property: &PropertyCode| match &property.quantified {
            None => Watch::Plain {
                config: Configs::INITIAL,
                triggered: false,
            },
            Some(quantified) => {
                let registers: Vec<Register> = property.frame.iter().map(initial).collect();
                Watch::Sliced(Arc::new(Slices::new(quantified, &registers)))
            }
        };
        World {
            watches: program.properties.iter().map(watch).collect(),
            live: program
                .stepped_alone(0..program.properties.len() as u32)
                .collect(),
            open: program.code.classes.joint().into(),
            ..World::without_watches(program)
        }
    }

    /// Before the first event, for reading a trace without judging it.
    pub(super) fn without_watches(program: &Program) -> World {
        let code = &program.code;
        let initial = |id: &u32| Register::initial(&code.registers[*id as usize].kind);
        World {
            tracks: Arc::new(Tracks::new(code, &program.initial)),
            registers: code.slots.iter().map(initial).collect(),
            clock: Clock::default(),
            watches: Vec::new(),
            live: Vec::new(),
            open: Vec::new(),
            place: joint::Place::NONE,
        }
    }

    /// The step as expressions outside of updates see it, its events already part of the tracks.
    pub(super) fn eval<'a>(
        &'a self,
        code: &'a Code,
        cells: &'a [Cell],
        meta: &'a [Cell],
        scratch: &'a mut Scratch,
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
            scratch,
        }
    }

    /// Brings the clock up to the event.
    pub(super) fn read_clock(&mut self, program: &Program, cells: &[Cell], scratch: &mut Scratch) {
        let now = program.clock.and_then(|field| cells.get(field));
        if self.clock.read(now) {
            scratch.clock_ran_back();
        }
    }

    /// Brings the clock and the tracks up to the event.
    pub(super) fn enter(
        &mut self,
        program: &Program,
        cells: &[Cell],
        meta: &[Cell],
        shop: &mut Workshop,
    ) {
        let code = &program.code;
        self.read_clock(program, cells, &mut shop.scratch);
        shop.operands.clear();
        if !code.tracks.is_empty() || !code.slots.is_empty() {
            let mut eval = self.eval(code, cells, meta, &mut shop.scratch);
            eval.update_tracks(&mut shop.changes);
            for (slot, id) in (0u32..).zip(&code.slots) {
                if code.registers[*id as usize].early {
                    let operands = eval.operands(*id, true);
                    shop.operands.push((slot, operands));
                }
            }
        }
        if !shop.changes.is_empty() {
            let tracks = Arc::make_mut(&mut self.tracks);
            tracks.apply(code, &mut shop.changes, program.limits.instances);
        }
    }

    /// Brings the registers up to the event, after everything has been read.
    pub(super) fn leave(
        &mut self,
        program: &Program,
        cells: &[Cell],
        meta: &[Cell],
        shop: &mut Workshop,
    ) {
        let code = &program.code;
        if !code.slots.is_empty() {
            let mut eval = self.eval(code, cells, meta, &mut shop.scratch);
            for (slot, id) in (0u32..).zip(&code.slots) {
                let register = &code.registers[*id as usize];
                if !register.early && !eval.leaves_count(&register.kind) {
                    let operands = eval.operands(*id, true);
                    shop.operands.push((slot, operands));
                }
            }
            for (slot, operands) in shop.operands.drain(..) {
                let kind = &code.registers[code.slots[slot as usize] as usize].kind;
                self.registers[slot as usize].advance(kind, operands, &self.clock);
            }
        }
        self.clock.position += 1;
    }

    /// One event, up to the point where all that it leads to is known; [`World::leave`] ends it.
    pub(super) fn step(
        &mut self,
        program: &Program,
        cells: &[Cell],
        meta: &[Cell],
        index: u32,
        shop: &mut Workshop,
    ) {
        self.enter(program, cells, meta, shop);
        let World {
            tracks,
            registers,
            clock,
            watches,
            live,
            open,
            place,
        } = self;
        let Workshop {
            configs,
            scratch,
            busy,
            alone,
            buffers,
            settled,
            ..
        } = shop;
        busy.clear();
        if clock.position > 0 {
            scratch.busy(program, live, watches, busy);
        } else {
            busy.extend_from_slice(live);
        }
        let bit = scratch.class_bit();
        scratch.begin_properties();
        let mut eval = Eval {
            code: &program.code,
            cells,
            meta,
            tracks,
            registers,
            clock: *clock,
            vars: &[],
            params: &[],
            frame: Frame::NONE,
            scratch,
        };
        if !open.is_empty() {
            alone.clear();
            let mut joined = false;
            if let Some((mut joint, class)) = eval.scratch.lend_joint() {
                joined = joint.step(
                    program, &mut eval, class, place, watches, open, settled, alone,
                );
                eval.scratch.take_back_joint(joint);
            }
            if !joined {
                alone.clear();
                alone.extend_from_slice(open);
            }
            for &id in &*alone {
                let Watch::Plain { config, triggered } = &mut watches[id as usize] else {
                    continue;
                };
                let configs = &mut configs[id as usize];
                let gone = step_alone(program, id, config, triggered, configs, &mut eval, settled);
                if gone {
                    open.retain(|other| *other != id);
                }
                if gone || !joined || *config < program.code.classes.n_states(id as usize) {
                    *place = joint::Place::NONE;
                }
            }
        }
        // Those that no event can change any more are taken out.
        busy.retain(|&id| {
            let property = &program.properties[id as usize];
            let configs = &mut configs[id as usize];
            match &mut watches[id as usize] {
                Watch::Plain { config, triggered } => {
                    step_alone(program, id, config, triggered, configs, &mut eval, settled)
                }
                Watch::Sliced(slices) => {
                    let Some(quantified) = &property.quantified else {
                        return true;
                    };
                    if slices.is_still(id as usize, property, quantified, &mut eval)
                        || (!quantified.counts_values
                            && slices.is_indifferent(id as usize, property, quantified, &mut eval))
                    {
                        if let Some(slices) = Arc::get_mut(slices) {
                            slices.note_quiet(bit);
                        }
                        return false;
                    }
                    let slices = Arc::make_mut(slices);
                    let most = program.limits.instances;
                    if slices.step_plainly(
                        id as usize,
                        property,
                        quantified,
                        &mut eval,
                        most,
                        buffers,
                    ) {
                        return false;
                    }
                    let fixed = slices.step(
                        id as usize,
                        property,
                        quantified,
                        configs,
                        &mut eval,
                        index,
                        most,
                        buffers,
                    );
                    if fixed {
                        settled.push(id);
                    }
                    fixed && slices.is_idle(property, quantified, configs)
                }
            }
        });
        scratch.end_properties();
        if !busy.is_empty() {
            let mut gone = busy.iter().peekable();
            live.retain(|id| gone.next_if_eq(&id).is_none());
        }
    }

    /// The properties that an event may still change, in order.
    pub(super) fn unsettled(&self) -> Vec<u32> {
        let mut all = [&*self.live, &*self.open].concat();
        all.sort_unstable();
        all
    }

    /// Makes ready for forks: what they do not change they share, and what no longer matters is forgotten.
    pub(super) fn share(&mut self, program: &Program) {
        if let Some(tracks) = Arc::get_mut(&mut self.tracks) {
            tracks.share();
        }
        for (watch, property) in self.watches.iter_mut().zip(&program.properties) {
            // What others share is as large as it was when they began to.
            if let (Watch::Sliced(slices), Some(quantified)) = (watch, &property.quantified)
                && let Some(slices) = Arc::get_mut(slices)
            {
                slices.share(quantified, FORK_SLACK);
            }
        }
    }

    /// The value of a property on what has been read.
    pub(super) fn standing(
        &self,
        program: &Program,
        configs: &[Configs],
        id: usize,
        complete: bool,
    ) -> Standing {
        let property = &program.properties[id];
        match &self.watches[id] {
            Watch::Plain { config, .. } => {
                let standing = configs[id].standing(&property.automaton, *config);
                Standing {
                    fixed: standing.fixed || complete,
                    ..standing
                }
            }
            Watch::Sliced(slices) => match &property.quantified {
                Some(quantified) => slices.standing(property, quantified, &configs[id], complete),
                None => Standing::UNKNOWN,
            },
        }
    }

    /// Whether a property is violated: for good or, where it is watched on, at the last step. Unknown where that depends
    /// on what is not known.
    pub(super) fn violated(&self, program: &Program, configs: &[Configs], id: usize) -> Truth {
        let property = &program.properties[id];
        match (&self.watches[id], &property.quantified) {
            (Watch::Plain { config, .. }, _) => configs[id].violated(&property.automaton, *config),
            (Watch::Sliced(slices), Some(quantified)) => {
                slices.is_violated(property, quantified, &configs[id])
            }
            (Watch::Sliced(_), None) => Truth::Unknown,
        }
    }

    /// Time has come to `now` without an event.
    pub(super) fn tick(&mut self, configs: &mut [Configs], now: i128) {
        let position = self.clock.position;
        for (watch, configs) in self.watches.iter_mut().zip(configs) {
            if !configs.counts() {
                continue;
            }
            match watch {
                Watch::Plain { config, .. } => *config = configs.tick(*config, position, now),
                Watch::Sliced(slices) => {
                    let slices = Arc::make_mut(slices);
                    for config in slices.configs() {
                        *config = configs.tick(*config, position, now);
                    }
                }
            }
        }
    }

    /// The earliest deadline in time of something owed, after a time.
    pub(super) fn deadline(&self, configs: &[Configs], after: i128) -> Option<i128> {
        let watches = self.watches.iter().zip(configs);
        let timed = watches.filter(|(_, configs)| configs.counts());
        let deadlines = timed.filter_map(|(watch, configs)| match watch {
            Watch::Plain { config, .. } => configs.deadline(*config, after),
            Watch::Sliced(slices) => {
                let met = slices.met();
                met.filter_map(|config| configs.deadline(config, after))
                    .min()
            }
        });
        deadlines.min()
    }

    /// Whether the trigger of a property held, or may have held.
    pub(super) fn triggered(&self, id: usize) -> bool {
        match &self.watches[id] {
            Watch::Plain { triggered, .. } => *triggered,
            Watch::Sliced(slices) => slices.triggered(),
        }
    }

    /// The configurations of a property's instances.
    pub(super) fn configs(&mut self, id: usize) -> impl Iterator<Item = &mut Config> {
        let (plain, sliced) = match &mut self.watches[id] {
            Watch::Plain { config, .. } => (Some(config), None),
            Watch::Sliced(slices) => (None, Some(Arc::make_mut(slices).configs())),
        };
        plain.into_iter().chain(sliced.into_iter().flatten())
    }

    /// Whether two ways to read a trace have come to the same; `counted`: whether some property counts events.
    pub(super) fn same(&self, other: &World, counted: bool) -> bool {
        let watches = || {
            self.watches
                .iter()
                .zip(&other.watches)
                .all(|(lhs, rhs)| match (lhs, rhs) {
                    (
                        Watch::Plain {
                            config: c,
                            triggered: t,
                        },
                        Watch::Plain { config, triggered },
                    ) => c == config && t == triggered,
                    (Watch::Sliced(lhs), Watch::Sliced(rhs)) => lhs.same(rhs),
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

/// Steps a property without variables; says whether no event can change it any more.
fn step_alone(
    program: &Program,
    id: u32,
    config: &mut Config,
    triggered: &mut bool,
    configs: &mut Configs,
    eval: &mut Eval<'_>,
    settled: &mut Vec<u32>,
) -> bool {
    let property = &program.properties[id as usize];
    let clock = eval.clock;
    if !*triggered && let Some(trigger) = property.trigger {
        *triggered = eval.letter(trigger) != Truth::False;
    }
    let known = eval
        .scratch
        .next_by_class(eval.code, id as usize, property, *config);
    let next = known.unwrap_or_else(|| {
        configs.step(&property.automaton, *config, &clock, |letter| {
            eval.letter(property.letters[letter as usize].node)
        })
    });
    // A formula that is decided before anything is read is decided at the first step.
    if next == *config && clock.position > 0 {
        return false;
    }
    *config = next;
    let standing = configs.standing(&property.automaton, next);
    if standing.fixed {
        settled.push(id);
    }
    // What is satisfied may still be found not to be vacuous.
    let asked = property.trigger.is_some() && !*triggered && standing.now == Truth::True;
    standing.fixed && !asked
}
