//! Configurations without their numbers: obligations and registers that refer to counters.
//!
//! The only large numbers in a configuration are the bounds of obligations, the steps for which an `O[0,n]` still holds, and
//! the times that registers keep. A [`Shape`] is a configuration whose numbers are replaced by *counters*, numbered in
//! ascending order of their values; equal numbers share a counter. So a shape with the values of its counters is a
//! configuration, and configurations of one shape have their numbers in the same order.
//!
//! Obligations that wait for windows of one node may be a chain (`chain.rs`): then only the first has a counter, for the start
//! of its window, and the others are a queue beside the counters.
//!
//! A counter in steps holds a distance from the next position, or as a *deadline* the position itself; a counter in time holds
//! a time. Deadlines do not change while steps are read: so waiting costs nothing.

use super::chain::{Pieces, gather, width};
use crate::limits::LimitError;
use crate::obligation::{Chain, Obligation};
use crate::program::{Core, NEVER, NodeId, Program, Register, Window};
use crate::progress::Engine;
use crate::registers::{Rest, Times, Value};
use crate::verdict::Finality;

/// A number of a configuration.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub(super) enum Number {
    /// A number that is the same at all times.
    Fixed(i128),
    /// The value of a counter.
    Counter(u32),
    /// The end of a window of this length that begins at a counter.
    After(i128),
}

/// An obligation without its numbers.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub(super) struct Owed {
    pub(super) node: NodeId,
    pub(super) strong: bool,
    pub(super) started: bool,
    pub(super) lo: Number,
    pub(super) hi: Number,
    pub(super) chain: Chain,
}

/// The chain that belongs to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub(super) struct Chained {
    pub(super) links: Links,
    /// The start of the window of its first obligation, or the first time.
    pub(super) counter: u32,
    /// The next entry of the queue is due this long after that.
    pub(super) delay: i128,
}

/// The kind of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub(super) enum Links {
    /// Obligations of a node with windows of this length.
    Owed { node: NodeId, width: i128 },
    /// Times of a register; the counter `next` is that of the next listed time.
    Held { register: u32, next: u32 },
}

/// The value of a register without its numbers.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub(super) enum Held {
    Bit(u32),
    Left(u32),
    Times(Box<[Number]>, Option<Rest>),
}

/// Registers, and clauses of obligations.
type ShapePart = (Box<[Held]>, Box<[Box<[Owed]>]>);
/// The same part with numbers.
pub(super) type Part = (Vec<Value>, Vec<Vec<Obligation>>);

/// A configuration without its numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub(super) struct Shape {
    /// Whether nothing was read yet.
    pub(super) fresh: bool,
    /// One part for each combination of guesses, sorted.
    parts: Box<[ShapePart]>,
    /// Counters in steps come first.
    pub(super) n_steps: u32,
    pub(super) n_counters: u32,
    /// Per queue.
    pub(super) chains: Box<[Chained]>,
}

/// A configuration without its numbers, and the numbers.
pub(super) struct Shaped {
    pub(super) shape: Shape,
    /// The values of its counters.
    pub(super) counters: Vec<i128>,
    /// The values of its queues.
    pub(super) queues: Vec<Pieces>,
}

/// The numbers of a configuration, sorted, each once.
struct Numbers {
    steps: Vec<i128>,
    times: Vec<i128>,
}

impl Numbers {
    fn of(&self, value: i128, timed: bool) -> Number {
        let (list, before) = match timed {
            false => (&self.steps, 0),
            true => (&self.times, self.steps.len()),
        };
        match list.binary_search(&value) {
            Ok(place) => Number::Counter((before + place) as u32),
            Err(_) => Number::Fixed(value),
        }
    }
}

/// Whether the window of a started obligation of this node is in time; `None` if it has no window.
fn window(program: &Program, owed: &Obligation) -> Option<bool> {
    match program.nodes[owed.node as usize] {
        Core::Until { window, .. } | Core::Release { window, .. } if owed.started => {
            Some(window.timed)
        }
        _ => None,
    }
}

/// Whether a time this far back stays in the window: a window in steps without an end.
fn stays(window: Window, back: i128) -> bool {
    !window.timed && window.hi == NEVER && back <= -window.lo
}

/// Returns the shape of a configuration relative to the time `now`, and the values of its counters and queues.
pub(super) fn shape(program: &Program, mut parts: Vec<Part>, now: i128) -> Shaped {
    let queues = gather(program, &mut parts, now);
    let mut numbers = Numbers {
        steps: Vec::new(),
        times: Vec::new(),
    };
    for (values, clauses) in &parts {
        for (value, register) in values.iter().zip(&program.registers) {
            match (value, register) {
                (Value::Times(times), &Register::Within { window, .. }) => match window.timed {
                    true => numbers.times.extend_from_slice(&times.list),
                    // A time that stays in an endless window has no counter.
                    false => numbers
                        .steps
                        .extend(times.list.iter().filter(|&&back| !stays(window, back))),
                },
                (&Value::Count(left @ 1..), Register::Recent { .. }) => {
                    numbers.steps.push(left.into());
                }
                _ => {}
            }
        }
        for owed in clauses.iter().flatten() {
            let timed = window(program, owed);
            if owed.chain != Chain::Alone {
                match timed {
                    Some(true) => numbers.times.push(owed.lo),
                    _ => numbers.steps.push(owed.lo),
                }
                continue;
            }
            match timed {
                Some(true) => numbers.times.extend([owed.lo, owed.hi]),
                Some(false) => {
                    // A window that is open stays open.
                    numbers.steps.extend((owed.lo > 0).then_some(owed.lo));
                    numbers.steps.push(owed.hi);
                }
                None => {}
            }
        }
    }
    for list in [&mut numbers.steps, &mut numbers.times] {
        list.retain(|&value| value != NEVER && value != i128::MIN);
        list.sort_unstable();
        list.dedup();
    }
    let hold = |(value, register): (&Value, &Register)| match (value, register) {
        (Value::Times(times), &Register::Within { window, .. }) => {
            let number = |&time: &i128| match stays(window, time) {
                true => Number::Fixed(time),
                false => numbers.of(time, window.timed),
            };
            Held::Times(times.list.iter().map(number).collect(), times.rest)
        }
        // Only those registers hold times.
        (Value::Times(_), _) => Held::Times(Box::from([]), None),
        (&Value::Count(left @ 1..), Register::Recent { .. }) => {
            match numbers.of(left.into(), false) {
                Number::Counter(counter) => Held::Left(counter),
                Number::Fixed(_) | Number::After(_) => Held::Bit(left),
            }
        }
        (&Value::Count(bit), _) => Held::Bit(bit),
    };
    let owe = |owed: &Obligation| {
        let timed = window(program, owed);
        let number = |value| match timed {
            Some(timed) => numbers.of(value, timed),
            None => Number::Fixed(value),
        };
        let is_chain = owed.chain != Chain::Alone;
        let lo = match timed {
            Some(false) if owed.lo <= 0 && !is_chain => Number::Fixed(0),
            _ => number(owed.lo),
        };
        let hi = match width(program, owed.node) {
            Some(width) if is_chain => Number::After(width),
            _ => number(owed.hi),
        };
        Owed {
            node: owed.node,
            strong: owed.strong,
            started: owed.started,
            lo,
            hi,
            chain: owed.chain,
        }
    };
    let mut made: Vec<ShapePart> = Vec::with_capacity(parts.len());
    for (values, clauses) in &parts {
        let held = values.iter().zip(&program.registers).map(hold).collect();
        let sorted = |clause: &Vec<Obligation>| {
            let mut owed: Vec<Owed> = clause.iter().map(owe).collect();
            owed.sort_unstable();
            owed.into_boxed_slice()
        };
        let mut clauses: Vec<Box<[Owed]>> = clauses.iter().map(sorted).collect();
        clauses.sort_unstable();
        made.push((held, clauses.into()));
    }
    made.sort_unstable();
    let mut shape = Shape {
        fresh: false,
        parts: made.into(),
        n_steps: numbers.steps.len() as u32,
        n_counters: (numbers.steps.len() + numbers.times.len()) as u32,
        chains: Box::from([]),
    };
    shape.chains = shape.chained(program, queues.len());
    let mut counters = numbers.steps;
    counters.append(&mut numbers.times);
    Shaped {
        shape,
        counters,
        queues,
    }
}

impl Shape {
    /// Returns the shape whose traces all have this value.
    pub(super) fn settled(value: bool) -> Shape {
        let met: ShapePart = (Box::from([]), Box::from([Box::from([])]));
        Shape {
            fresh: false,
            parts: if value { [met].into() } else { Box::from([]) },
            n_steps: 0,
            n_counters: 0,
            chains: Box::from([]),
        }
    }

    /// Returns the chains of this many queues.
    fn chained(&self, program: &Program, n: usize) -> Box<[Chained]> {
        let mut chains = vec![None; n];
        for owed in self.owed() {
            if let (Chain::All(queue) | Chain::Any(queue), Number::Counter(counter)) =
                (owed.chain, owed.lo)
                && let Number::After(width) = owed.hi
                && let Some(chain) = chains.get_mut(queue as usize)
            {
                let node = owed.node;
                *chain = Some(Chained {
                    links: Links::Owed { node, width },
                    counter,
                    delay: 0,
                });
            }
        }
        for (held, _) in &self.parts {
            for ((held, kind), register) in held.iter().zip(&program.registers).zip(0..) {
                if let (Held::Times(times, Some(rest)), Register::Within { window, .. }) =
                    (held, kind)
                    && let Some([Number::Counter(counter), Number::Counter(next)]) =
                        times.get(rest.after as usize..rest.after as usize + 2)
                    && let Some(chain) = chains.get_mut(rest.queue as usize)
                {
                    *chain = Some(Chained {
                        links: Links::Held {
                            register,
                            next: *next,
                        },
                        counter: *counter,
                        delay: window.lo,
                    });
                }
            }
        }
        chains.into_iter().flatten().collect()
    }

    /// Returns the queue of the first chain whose first window is open by now, for these values of the counters.
    pub(super) fn due(&self, counters: &[i128], position: i128, time: i128) -> Option<usize> {
        self.chains.iter().position(|chain| {
            let now = match chain.counter < self.n_steps {
                true => position,
                false => time,
            };
            counters[chain.counter as usize].saturating_add(chain.delay) <= now
        })
    }

    /// Returns the finality that follows without a search.
    pub(super) fn finality(&self) -> Finality {
        let met = |(_, clauses): &ShapePart| clauses.iter().any(|clause| clause.is_empty());
        match &*self.parts {
            // The empty trace has its own value, so the obligations decide nothing yet.
            _ if self.fresh => Finality::Open,
            [] => Finality::FinalFalse,
            parts if parts.iter().any(met) => Finality::FinalTrue,
            _ => Finality::Open,
        }
    }

    /// Whether the trace may stop here, for a shape that is not fresh: some clause needs no further position.
    pub(super) fn accepts(&self) -> bool {
        let weak = |clause: &[Owed]| clause.iter().all(|owed| !owed.strong);
        self.parts
            .iter()
            .any(|(_, clauses)| clauses.iter().any(|clause| weak(clause)))
    }

    /// Returns the number of obligations and registers: a measure of the cost of a step.
    pub(super) fn size(&self) -> usize {
        let sizes = self.parts.iter().map(|(held, clauses)| {
            held.len() + clauses.iter().map(|clause| clause.len()).sum::<usize>()
        });
        sizes.sum()
    }

    /// Returns the obligations.
    pub(super) fn owed(&self) -> impl Iterator<Item = &Owed> {
        let clauses = self.parts.iter().flat_map(|(_, clauses)| clauses.iter());
        clauses.flat_map(|clause| clause.iter())
    }

    /// Returns the configuration with these counter values; there is one for each counter of the shape.
    pub(super) fn parts(&self, counters: &[i128]) -> Vec<Part> {
        let number = |number, lo| match number {
            Number::Fixed(value) => value,
            Number::Counter(counter) => counters[counter as usize],
            Number::After(width) => width.saturating_add(lo),
        };
        let hold = |held: &Held| match held {
            Held::Bit(bit) => Value::Count(*bit),
            Held::Left(counter) => {
                Value::Count(u32::try_from(counters[*counter as usize]).unwrap_or(u32::MAX))
            }
            Held::Times(times, rest) => Value::Times(Times {
                list: times.iter().map(|&of| number(of, 0)).collect(),
                rest: *rest,
            }),
        };
        let owe = |owed: &Owed| {
            let lo = number(owed.lo, 0);
            Obligation {
                node: owed.node,
                strong: owed.strong,
                started: owed.started,
                lo,
                hi: number(owed.hi, lo),
                chain: owed.chain,
            }
        };
        let part = |(held, clauses): &ShapePart| {
            let clauses = clauses
                .iter()
                .map(|clause| clause.iter().map(owe).collect());
            (held.iter().map(hold).collect(), clauses.collect())
        };
        self.parts.iter().map(part).collect()
    }

    /// Whether this can be a shape of the program; used for deserialised shapes.
    pub(super) fn fits(&self, program: &Program) -> bool {
        let counter = |counter: u32, timed: bool| {
            let range = if timed {
                self.n_steps..self.n_counters
            } else {
                0..self.n_steps
            };
            range.contains(&counter)
        };
        let number = |number, timed| match number {
            Number::Fixed(_) => true,
            Number::Counter(of) => counter(of, timed),
            Number::After(_) => false,
        };
        let is_fixed = |of: &Number| matches!(of, Number::Fixed(_));
        let owed = |owed: &Owed| match (program.nodes.get(owed.node as usize), owed.chain) {
            (Some(Core::Until { window, .. } | Core::Release { window, .. }), chain) => {
                match (chain, owed.lo, owed.hi) {
                    (Chain::Alone, lo, hi) => [lo, hi].iter().all(|&of| number(of, window.timed)),
                    (Chain::All(_) | Chain::Any(_), Number::Counter(of), Number::After(long)) => {
                        owed.started
                            && counter(of, window.timed)
                            && width(program, owed.node) == Some(long)
                    }
                    _ => false,
                }
            }
            (Some(_), Chain::Alone) => is_fixed(&owed.lo) && is_fixed(&owed.hi),
            _ => false,
        };
        // Each queue belongs to one chain; the comparison recomputes the chains.
        let n_queues = self.chains.len();
        let in_range = |owed: &Owed| match owed.chain {
            Chain::Alone => true,
            Chain::All(queue) | Chain::Any(queue) => (queue as usize) < n_queues,
        };
        let chained = self.owed().all(in_range) && self.chained(program, n_queues) == self.chains;
        let held = |(held, register): (&Held, &Register)| match (held, register) {
            (Held::Times(times, rest), &Register::Within { window, .. }) => {
                let is_between = |rest: &Rest| {
                    (rest.after as usize) + 2 < times.len() && (rest.queue as usize) < n_queues
                };
                times.iter().all(|&of| number(of, window.timed))
                    && rest.as_ref().is_none_or(is_between)
            }
            (Held::Left(left), Register::Recent { .. }) => counter(*left, false),
            (Held::Bit(_), kind) => !matches!(kind, Register::Within { .. }),
            _ => false,
        };
        self.n_steps <= self.n_counters
            && chained
            && self.owed().all(owed)
            && self.parts.iter().all(|(values, _)| {
                (values.is_empty() || values.len() == program.registers.len())
                    && values.iter().zip(&program.registers).all(held)
            })
    }
}

/// Returns the parts of a configuration of an engine.
pub(super) fn parts(engine: &Engine, configuration: u32) -> Vec<Part> {
    let owed = |&o: &u32| engine.residuals.obligation(o);
    let clause = |&clause: &u32| engine.residuals.clause(clause).iter().map(owed).collect();
    let part = |&(registers, residual): &(u32, u32)| {
        let clauses = engine.residuals.clauses(residual);
        (
            engine.lists.values(registers),
            clauses.iter().map(clause).collect(),
        )
    };
    engine.pairs(configuration).iter().map(part).collect()
}

/// Returns the configuration of an engine with these parts.
pub(super) fn configuration(engine: &mut Engine, parts: &[Part]) -> Result<u32, LimitError> {
    let mut pairs = Vec::with_capacity(parts.len());
    for (values, clauses) in parts {
        let registers = engine.lists.number(values);
        let residual = engine.residuals.of_clauses(clauses, &mut engine.meter)?;
        pairs.push((registers, residual));
    }
    engine.configuration(pairs)
}
