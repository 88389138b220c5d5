//! Live traces: their state between events, steps that happen, and steps that are only proposed.
//!
//! Many traces share one [`Desk`], which holds all that stepping needs besides. A trace at rest owns what it is: its
//! configurations are kept by what they are, not by a number of the desk, so that a trace can also be written down and
//! continued by another process.

use super::clause::WatchedCode;
use super::monitor::{Config, Content};
use super::program::Program;
use super::run::{Before, Glance, Run};
use super::world::{Watch, Workshop};
use crate::ids::PropertyId;
use crate::input::record::Step;
use crate::value::{Cell, Truth};
use crate::verdict::Verdict;

/// The state of a live trace between events.
#[derive(Clone, Debug)]
pub struct Live {
    pub(super) run: Run,
    /// What configurations are that are more than a state of an automaton.
    pub(super) kept: Vec<Kept>,
    /// One cell per meta field: of each the first value that is known.
    pub(super) meta: Box<[Cell]>,
}

/// What the configuration of this number is, of this property.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Kept {
    pub(super) property: usize,
    pub(super) number: Config,
    pub(super) content: Content,
}

/// What stepping live traces needs besides the program; one per thread.
#[derive(Debug)]
pub struct Desk {
    shop: Workshop,
    /// Whether the property of each clause was violated before the step.
    violated: Vec<Truth>,
}

impl Live {
    /// A trace of which nothing was read.
    pub fn new(program: &Program) -> Live {
        Live {
            run: Run::new(program),
            kept: Vec::new(),
            meta: vec![Cell::Unknown; program.spec.signature.meta.len()].into(),
        }
    }

    /// Takes notice of what an event says of its record.
    pub fn learn_meta(&mut self, meta: &[Cell]) {
        for (known, cell) in self.meta.iter_mut().zip(meta) {
            if *known == Cell::Unknown {
                known.clone_from(cell);
            }
        }
    }

    /// What is known of the record.
    pub fn meta(&self) -> &[Cell] {
        &self.meta
    }

    /// Forgets what an event said that did not happen.
    pub fn set_meta(&mut self, meta: Vec<Cell>) {
        self.meta = meta.into();
    }

    /// Index of the last step.
    pub fn last(&self) -> Option<u32> {
        self.run.last
    }

    /// Number of steps.
    pub fn n_steps(&self) -> u64 {
        self.run.n_steps
    }

    /// The latest time that the clock has shown.
    pub fn latest(&self) -> Option<i128> {
        self.run
            .worlds
            .iter()
            .filter_map(|world| world.clock.latest)
            .max()
    }
}

impl Desk {
    /// A desk for the traces of a program.
    pub fn new(program: &Program) -> Desk {
        let mut shop = program.lend_shop();
        shop.scratch.tables = Some(program.lend());
        Desk {
            shop,
            violated: Vec::new(),
        }
    }

    /// An event that happened. Says whether it is a step; if so, `look` was shown it.
    pub fn happened(
        &mut self,
        program: &Program,
        live: &mut Live,
        step: &Step,
        look: impl FnOnce(&mut Glance<'_>),
    ) -> bool {
        self.take_up(live);
        let mut violated = std::mem::take(&mut self.violated);
        violated.clear();
        violated.extend(program.clauses.watched.iter().map(|watched| match watched {
            WatchedCode::Property(property, _) => live.run.violated(
                program,
                &self.shop.configs,
                property.index(),
            ),
            WatchedCode::When(_) | WatchedCode::Elsewhere => Truth::False,
        }));
        let before = Before::Violated(&violated);
        let is_step = self.step(program, &mut live.run, &live.meta, step, before, look);
        self.violated = violated;
        self.put_down(live);
        is_step
    }

    /// An event that is only proposed: judged as if appended, the trace left as it is.
    pub fn proposed(
        &mut self,
        program: &Program,
        live: &mut Live,
        step: &Step,
        look: impl FnOnce(&mut Glance<'_>),
    ) -> bool {
        self.take_up(live);
        for world in &mut live.run.worlds {
            world.share(program);
        }
        let mut fork = live.run.clone();
        let before = Before::Run(&live.run);
        self.step(program, &mut fork, &live.meta, step, before, look)
    }

    fn step(
        &mut self,
        program: &Program,
        run: &mut Run,
        meta: &[Cell],
        step: &Step,
        before: Before<'_>,
        look: impl FnOnce(&mut Glance<'_>),
    ) -> bool {
        let scratch = &mut self.shop.scratch;
        scratch.faults.clear();
        scratch.faults_more = 0;
        run.advance(program, meta, &mut self.shop, step, Some(before), look)
    }

    /// The trace as it would be judged at a later time (`now`, on the clock of the trace) without an event, or if it
    /// ended here. The trace is left as it is.
    pub fn peek(
        &mut self,
        program: &Program,
        live: &mut Live,
        moment: Moment,
        look: impl FnOnce(&mut Glance<'_>),
    ) {
        self.take_up(live);
        let mut fork = live.run.clone();
        if let Moment::Time(now) = moment {
            for world in &mut fork.worlds {
                world.tick(&mut self.shop.configs, now);
            }
        }
        self.shop.scratch.begin_step(None);
        let cells = vec![Cell::Unknown; program.spec.signature.fields.len()];
        look(&mut Glance {
            program,
            run: &fork,
            shop: &mut self.shop,
            cells: &cells,
            meta: &live.meta,
            elsewhere: Vec::new(),
            before: Some(Before::Run(&live.run)),
            complete: moment == Moment::End,
        });
    }

    /// The verdict on a property.
    pub fn verdict(&mut self, program: &Program, live: &mut Live, property: PropertyId) -> Verdict {
        self.take_up(live);
        live.run
            .verdict(program, &self.shop.configs, property)
            .verdict
    }

    /// The earliest deadline in time of something that is owed, after a time; both on the clock of the trace.
    pub fn deadline(&mut self, live: &mut Live, after: i128) -> Option<i128> {
        self.take_up(live);
        let worlds = live.run.worlds.iter();
        worlds
            .filter_map(|world| world.deadline(&self.shop.configs, after))
            .min()
    }

    /// Gives the configurations of a trace the numbers that they have here.
    fn take_up(&mut self, live: &mut Live) {
        if live.kept.is_empty() {
            return;
        }
        let mut moved: Vec<(usize, Config, Config)> = Vec::new();
        for kept in &mut live.kept {
            let number = self.shop.configs[kept.property].number(&kept.content);
            if number != kept.number {
                moved.push((kept.property, kept.number, number));
                kept.number = number;
            }
        }
        let mut properties: Vec<usize> = moved.iter().map(|(property, ..)| *property).collect();
        properties.dedup();
        for id in properties {
            let of = |config: &Config| {
                let known = moved
                    .iter()
                    .find(|(property, from, _)| (*property, *from) == (id, *config));
                known.map(|(.., to)| *to)
            };
            for world in &mut live.run.worlds {
                for config in world.configs(id) {
                    *config = of(config).unwrap_or(*config);
                }
            }
        }
    }

    /// Keeps what the configurations of a trace are.
    fn put_down(&mut self, live: &mut Live) {
        live.kept.clear();
        for (property, configs) in self.shop.configs.iter_mut().enumerate() {
            if configs.is_plain() {
                continue;
            }
            let mut numbers: Vec<Config> = Vec::new();
            for world in &live.run.worlds {
                match &world.watches[property] {
                    Watch::Plain { config, .. } => numbers.push(*config),
                    Watch::Sliced(slices) => numbers.extend(slices.numbers()),
                }
            }
            numbers.sort_unstable();
            numbers.dedup();
            for number in numbers {
                if let Some(content) = configs.content(number) {
                    live.kept.push(Kept {
                        property,
                        number,
                        content,
                    });
                }
            }
            configs.forget_numbers();
        }
    }
}

/// A moment without an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A later time, on the clock of the trace.
    Time(i128),
    /// The trace ends.
    End,
}
