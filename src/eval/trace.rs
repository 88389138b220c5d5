//! A trace being judged, step by step.

use std::sync::Arc;

use smol_str::SmolStr;

use super::explain::Wanted;
use super::program::Program;
use super::world::{Watch, Workshop, World};
use crate::ids::PropertyId;
use crate::input::record::{Origin, Step};
use crate::problem::Problem;
use crate::value::{Cell, Truth};
use crate::verdict::{TraceReport, Verdict};

/// Where a trace comes from and what it is called.
#[derive(Clone, Debug)]
pub struct TraceSource {
    /// Where it was found.
    pub origin: Origin,
    /// What it calls itself.
    pub id: Option<SmolStr>,
    /// One cell per meta field of the signature.
    pub meta: Box<[Cell]>,
}

/// The verdict on one property after a prefix of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Current {
    /// Which property.
    pub property: PropertyId,
    /// The verdict.
    pub verdict: Verdict,
    /// The index of the step at which it became final.
    pub at: Option<u32>,
}

/// A trace being judged. Steps are pushed in order; a verdict can be asked for at any time.
#[derive(Debug)]
pub struct TraceState<'p> {
    pub(super) program: &'p Program,
    pub(super) source: TraceSource,
    pub(super) name: SmolStr,
    pub(super) worlds: Vec<World>,
    pub(super) shop: Workshop,
    pub(super) history: History,
    /// Index of the last step.
    pub(super) last: Option<u32>,
    pub(super) n_steps: u64,
    /// More ways to read the trace than the limit allows.
    pub(super) overflow: bool,
    /// By property: the verdict that is final, and since when.
    pub(super) decided: Vec<Option<(Verdict, u32)>>,
    pub(super) problems: Vec<Problem>,
}

/// The steps read so far, for explanations.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) steps: Vec<Step>,
    bytes: usize,
    /// Whether steps were dropped for the limit.
    pub(super) cut: bool,
}

impl Program {
    /// A trace of which nothing has been read.
    pub fn open(&self, source: TraceSource) -> TraceState<'_> {
        let name = self.name(&source);
        TraceState {
            program: self,
            name,
            source,
            worlds: vec![World::new(self)],
            shop: self.lend_shop(),
            history: History::default(),
            last: None,
            n_steps: 0,
            overflow: false,
            decided: vec![None; self.properties.len()],
            problems: Vec::new(),
        }
    }
}

impl TraceState<'_> {
    /// Reads one step.
    pub fn push(&mut self, step: &Step) {
        self.advance(step);
        // Of many open traces only the one that reads needs them.
        self.give_back();
        self.history.keep(step, self.program.limits.history_bytes);
    }

    /// Adds what was wrong with the data.
    pub fn note(&mut self, problems: impl IntoIterator<Item = Problem>) {
        self.problems.extend(problems);
    }

    /// Takes the tables of the program, as long as steps are read.
    pub(super) fn borrow(&mut self) {
        let tables = &mut self.shop.scratch.tables;
        if tables.is_none() {
            *tables = Some(self.program.lend());
        }
    }

    pub(super) fn give_back(&mut self) {
        if let Some(tables) = self.shop.scratch.tables.take() {
            self.program.take_back(tables);
        }
    }

    /// Reads one step that is kept elsewhere.
    pub(super) fn advance(&mut self, step: &Step) {
        if self.overflow {
            return;
        }
        let program = self.program;
        self.borrow();
        let (cells, meta) = (&*step.cells, &*self.source.meta);
        self.shop.scratch.begin_step(Some(step.index));
        self.shop.scratch.classify(&program.code, cells);
        self.shop.settled.clear();
        let is_step = match (program.filter.step, self.worlds.first()) {
            (Some(filter), Some(world)) => world
                .eval(&program.code, cells, meta, &mut self.shop.scratch)
                .letter(filter),
            _ => Truth::True,
        };
        if is_step == Truth::False {
            self.forget_problems(step.index);
            return;
        }
        self.n_steps += 1;
        self.last = Some(step.index);
        // An event that may be no step is followed as both.
        let without = if is_step == Truth::Unknown {
            self.worlds.clone()
        } else {
            Vec::new()
        };
        for (number, world) in self.worlds.iter_mut().enumerate() {
            if number > 0 {
                self.shop.scratch.forget();
            }
            world.step(program, cells, meta, step.index, &mut self.shop);
        }
        self.worlds.extend(without);
        if self.worlds.len() > 1 {
            self.merge();
        }
        self.decide(step.index);
        self.renumber();
    }

    /// An event that is no step is invisible to everything, so it does not matter that a field of it could not be read.
    /// Where one event may be several steps, another of them may have met the same.
    fn forget_problems(&mut self, index: u32) {
        if self.program.spec().signature.layout.each.is_none() {
            self.problems
                .retain(|problem| problem.step != Some(index) || problem.field.is_none());
        }
    }

    fn merge(&mut self) {
        let mut kept: Vec<World> = Vec::with_capacity(self.worlds.len());
        for world in std::mem::take(&mut self.worlds) {
            if !kept.iter().any(|other| other.same(&world)) {
                kept.push(world);
            }
        }
        self.worlds = kept;
        self.overflow = self.worlds.len() > self.program.limits.worlds;
    }

    /// Notes the verdicts that became final.
    fn decide(&mut self, index: u32) {
        let all: Vec<u32>;
        let settled = if self.worlds.len() == 1 {
            &self.shop.settled
        } else {
            all = (0..self.decided.len() as u32).collect();
            &all
        };
        for &id in settled {
            let id = id as usize;
            if self.decided[id].is_none() {
                let standing = standing(self.program, &self.worlds, &self.shop, id, false);
                let verdict = standing.verdict(false);
                if verdict.is_final() {
                    self.decided[id] = Some((verdict, index));
                }
            }
        }
    }

    /// Drops configurations that are met no longer.
    fn renumber(&mut self) {
        for (id, configs) in self.shop.configs.iter_mut().enumerate() {
            let met = |world: &World| match &world.watches[id] {
                Watch::Plain { .. } => 1,
                Watch::Sliced(slices) => slices.n_classes(),
            };
            if configs.is_crowded(0) && configs.is_crowded(self.worlds.iter().map(met).sum()) {
                configs.renumber(self.worlds.iter_mut().flat_map(|world| {
                    let (plain, sliced) = match &mut world.watches[id] {
                        Watch::Plain { config, .. } => (Some(config), None),
                        Watch::Sliced(slices) => (None, Some(slices.configs())),
                    };
                    plain.into_iter().chain(sliced.into_iter().flatten())
                }));
            }
        }
    }

    /// The verdict on one property after what has been read.
    pub fn verdict(&self, property: PropertyId) -> Current {
        let id = property.index();
        match self.decided[id] {
            Some((verdict, at)) => Current {
                property,
                verdict,
                at: Some(at),
            },
            None if self.overflow => Current {
                property,
                verdict: Verdict::Unknown,
                at: None,
            },
            None => {
                let verdict =
                    standing(self.program, &self.worlds, &self.shop, id, false).verdict(false);
                Current {
                    property,
                    verdict,
                    at: None,
                }
            }
        }
    }

    /// The verdicts on all properties after what has been read, in order of declaration.
    pub fn verdicts(&self) -> Vec<Current> {
        self.program
            .property_ids()
            .map(|property| self.verdict(property))
            .collect()
    }

    /// Index of the last event that is a step, or may be one.
    pub fn last(&self) -> Option<u32> {
        self.last
    }

    /// The name of the trace.
    pub fn name(&self) -> &SmolStr {
        &self.name
    }

    /// The file it was found in.
    pub fn file(&self) -> &Arc<str> {
        &self.source.origin.file
    }

    /// Ends the trace: `complete` where nothing is missing, else its verdicts stay open.
    pub fn finish(self, complete: bool) -> TraceReport {
        self.finish_for(complete, Wanted::ALL)
    }

    /// The same; only what is wanted is explained.
    pub fn finish_for(self, complete: bool, wanted: &Wanted) -> TraceReport {
        super::report::report(self, complete, wanted)
    }
}

/// The value of a property over all ways to read the trace.
pub(super) fn standing(
    program: &Program,
    worlds: &[World],
    shop: &Workshop,
    id: usize,
    complete: bool,
) -> super::monitor::Standing {
    let each = worlds
        .iter()
        .map(|world| world.standing(program, &shop.configs, id, complete));
    each.reduce(super::monitor::Standing::join)
        .unwrap_or(super::monitor::Standing::UNKNOWN)
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

/// About how many bytes a cell holds on to.
fn size(cell: &Cell) -> usize {
    use crate::value::Value;
    fn of(value: &Value) -> usize {
        let own = size_of::<Value>();
        own + match value {
            Value::String(text) if text.is_heap_allocated() => text.len(),
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
