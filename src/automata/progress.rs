//! One step of a formula: from registers and residual, through a letter, to registers and residual.
//!
//! This is the only place that knows what an operator does when a position is read. The eager construction reads every
//! letter at once, as variables of a diagram; a running machine reads one letter, whose variables are constants. Both call
//! [`Engine::step`], with more or less of the letter known.
//!
//! A *configuration* is a set of pairs of registers and residual, one for each way to guess that is still possible; without
//! guesses it has one pair, or none when nothing can satisfy the formula any more.
//!
//! # Source
//! Progression: F. Bacchus, F. Kabanza, "Using temporal logics to express search control knowledge for planning", 2000, for
//! finite traces as in G. De Giacomo, M. Vardi, "Linear temporal logic and linear dynamic logic on finite traces", 2013.

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::core::{Core, NEVER, Program, Register};
use super::diagram::{Cache, Combine, Diagrams, PairCache, Ref};
use super::limits::{LimitError, Limits, Meter};
use super::residual::{FALSE, Obligation, Residuals, TRUE, start};

/// What one register holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Value {
    /// A bit or a counter.
    Count(u32),
    /// Times, earliest first.
    Times(Arc<[i128]>),
}

/// A pair of registers and residual, by number.
pub(super) type Pair = (u32, u32);

/// The registers of a pair that needs none.
pub(super) const NO_REGISTERS: u32 = 0;

/// The tables of one construction. Numbers are meaningful within one engine only.
#[derive(Clone, Debug)]
pub(super) struct Engine {
    pub(super) program: Arc<Program>,
    pub(super) diagrams: Diagrams,
    pub(super) residuals: Residuals,
    pub(super) meter: Meter,
    /// Lists of register values, built from the front: the list before it and its last value. Number 0 is the empty list.
    lists: IndexSet<(u32, Value), FxBuildHasher>,
    pairs: IndexSet<Pair, FxBuildHasher>,
    configurations: Configurations,
    and: PairCache,
    or: PairCache,
    not: Cache,
    union: PairCache,
    project: Cache,
    /// Values of all nodes when the whole letter is open, for some registers; those that do not depend on the past are
    /// right for all registers.
    open: Option<Vec<Ref>>,
    by_registers: FxHashMap<u32, (Arc<[Ref]>, Ref)>,
}

struct And<'a>(&'a Program, &'a mut Residuals);
struct Or<'a>(&'a Program, &'a mut Residuals);
struct Update<'a>(&'a mut IndexSet<(u32, Value), FxBuildHasher>, [Value; 2]);
struct Join<'a>(
    &'a Program,
    &'a Residuals,
    &'a mut IndexSet<Pair, FxBuildHasher>,
);

impl Combine for And<'_> {
    const COMMUTES: bool = true;
    fn shortcut(&self, a: Ref, b: Ref) -> Option<Ref> {
        match (a.as_leaf(), b.as_leaf()) {
            (Some(FALSE), _) | (_, Some(TRUE)) => Some(a),
            (_, Some(FALSE)) | (Some(TRUE), _) => Some(b),
            _ => (a == b).then_some(a),
        }
    }
    fn leaves(&mut self, a: u32, b: u32, meter: &mut Meter) -> Result<u32, LimitError> {
        self.1.and(self.0, a, b, meter)
    }
}

impl Combine for Or<'_> {
    const COMMUTES: bool = true;
    fn shortcut(&self, a: Ref, b: Ref) -> Option<Ref> {
        match (a.as_leaf(), b.as_leaf()) {
            (Some(TRUE), _) | (_, Some(FALSE)) => Some(a),
            (_, Some(TRUE)) | (Some(FALSE), _) => Some(b),
            _ => (a == b).then_some(a),
        }
    }
    fn leaves(&mut self, a: u32, b: u32, meter: &mut Meter) -> Result<u32, LimitError> {
        self.1.or(self.0, a, b, meter)
    }
}

impl Combine for Update<'_> {
    const COMMUTES: bool = false;
    fn leaves(&mut self, list: u32, bit: u32, meter: &mut Meter) -> Result<u32, LimitError> {
        let (index, new) = self
            .0
            .insert_full((list, self.1[usize::from(bit == TRUE)].clone()));
        meter.grow(usize::from(new))?;
        Ok(index as u32)
    }
}

impl Combine for Join<'_> {
    const COMMUTES: bool = false;
    fn leaves(
        &mut self,
        registers: u32,
        residual: u32,
        meter: &mut Meter,
    ) -> Result<u32, LimitError> {
        let registers = if self.1.needs_registers(self.0, residual) {
            registers
        } else {
            NO_REGISTERS
        };
        let (index, new) = self.2.insert_full((registers, residual));
        meter.grow(usize::from(new))?;
        Ok(index as u32)
    }
}

/// What is known of the position that is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<'a> {
    /// For each variable that is an atom, its value if known. Guesses are never known.
    pub(super) letter: &'a [Option<bool>],
    /// When it is; 0 if the formula is not timed.
    pub(super) time: i128,
    /// Whether no letter is known, so that results can be kept for later steps.
    pub(super) open: bool,
}

impl Engine {
    pub(super) fn new(program: Arc<Program>, limits: &Limits) -> Self {
        let mut lists = IndexSet::default();
        lists.insert((0, Value::Count(u32::MAX)));
        Engine {
            program,
            diagrams: Diagrams::default(),
            residuals: Residuals::new(),
            meter: Meter::new(limits),
            lists,
            pairs: IndexSet::default(),
            configurations: IndexSet::default(),
            and: PairCache::default(),
            or: PairCache::default(),
            not: Cache::default(),
            union: PairCache::default(),
            project: Cache::default(),
            open: None,
            by_registers: FxHashMap::default(),
        }
    }

    /// The configuration before anything is read: the formula must hold next.
    pub(super) fn initial(&mut self) -> Result<u32, LimitError> {
        let program = self.program.clone();
        let zero = |register: &Register| match register {
            Register::Timed { .. } => Value::Times(Arc::from([])),
            _ => Value::Count(0),
        };
        let values: Vec<Value> = program.registers.iter().map(zero).collect();
        let registers = self.list(&values);
        let residual = self.residuals.single(
            &program,
            start(&program, program.root, true),
            &mut self.meter,
        )?;
        self.configuration(vec![(registers, residual)])
    }

    /// The number of a list of register values.
    pub(super) fn list(&mut self, values: &[Value]) -> u32 {
        values.iter().fold(NO_REGISTERS, |list, value| {
            self.lists.insert_full((list, value.clone())).0 as u32
        })
    }

    /// The values of a list.
    pub(super) fn values(&self, mut list: u32) -> Vec<Value> {
        let mut values = Vec::with_capacity(self.program.registers.len());
        while list != NO_REGISTERS {
            let (before, value) = &self.lists[list as usize];
            values.push(value.clone());
            list = *before;
        }
        values.reverse();
        values
    }

    pub(super) fn pairs(&self, configuration: u32) -> Arc<[Pair]> {
        self.configurations[configuration as usize].clone()
    }

    /// The configuration of these pairs.
    pub(super) fn configuration(&mut self, pairs: Vec<Pair>) -> Result<u32, LimitError> {
        collect(
            &self.program,
            &mut self.residuals,
            &mut self.configurations,
            pairs,
            &mut self.meter,
        )
    }

    /// Whether the trace may stop in this configuration.
    pub(super) fn accepts(&self, configuration: u32) -> bool {
        self.configurations[configuration as usize]
            .iter()
            .any(|&(_, residual)| self.residuals.accepts(residual))
    }

    /// The configurations after one more position, as a diagram over the letters that are not known.
    pub(super) fn step(
        &mut self,
        configuration: u32,
        reading: Reading<'_>,
    ) -> Result<Ref, LimitError> {
        let mut whole: Option<Ref> = None;
        for &pair in self.pairs(configuration).iter() {
            let next = self.step_pair(pair, reading)?;
            whole = Some(match whole {
                None => next,
                Some(before) => self.union(before, next)?,
            });
        }
        match whole {
            Some(whole) => Ok(whole),
            None => Ok(Ref::leaf(self.configuration(Vec::new())?)),
        }
    }

    fn step_pair(
        &mut self,
        (registers, residual): Pair,
        reading: Reading<'_>,
    ) -> Result<Ref, LimitError> {
        let program = self.program.clone();
        let (nodes, updated) = self.read(registers, reading)?;
        let mut next = Ref::leaf(FALSE);
        for &clause in self.residuals.clauses(residual).iter() {
            let mut all = Ref::leaf(TRUE);
            for &obligation in self.residuals.clause(clause).iter() {
                let obligation = self.residuals.obligation(obligation);
                let value = match program.nodes[obligation.node as usize] {
                    Core::Until { .. } | Core::Release { .. } if obligation.started => {
                        self.unfold(obligation, &nodes, reading.time)?
                    }
                    _ => nodes[obligation.node as usize],
                };
                all = self.and(all, value)?;
            }
            next = self.or(next, all)?;
        }
        let joined = self.diagrams.apply(
            &mut PairCache::default(),
            updated,
            next,
            &mut Join(&program, &self.residuals, &mut self.pairs),
            &mut self.meter,
        )?;
        self.project(joined)
    }

    /// Values of all nodes at the position that is read, and the registers after it.
    fn read(
        &mut self,
        registers: u32,
        reading: Reading<'_>,
    ) -> Result<(Arc<[Ref]>, Ref), LimitError> {
        if reading.open
            && let Some((nodes, updated)) = self.by_registers.get(&registers)
        {
            return Ok((nodes.clone(), *updated));
        }
        let program = self.program.clone();
        let old = match registers {
            NO_REGISTERS => Vec::new(),
            _ => self.values(registers),
        };
        // Registers that nobody needs any more read as if nothing had happened.
        let count = |register: u32| match old.get(register as usize) {
            Some(Value::Count(count)) => *count,
            _ => 0,
        };
        let base = if reading.open {
            self.open.clone()
        } else {
            None
        };
        let known = base.is_some();
        let mut nodes = base.unwrap_or_else(|| vec![Ref::leaf(FALSE); program.nodes.len()]);
        let mut now: Vec<Option<Ref>> = vec![None; program.registers.len()];
        let constant = |value: bool| Ref::leaf(if value { TRUE } else { FALSE });
        for (index, &node) in program.nodes.iter().enumerate() {
            if known && !program.past[index] {
                continue;
            }
            self.meter.spend(1)?;
            nodes[index] = match node {
                Core::True => constant(true),
                Core::False => constant(false),
                Core::Literal { var, positive } => {
                    match reading.letter.get(var as usize).copied().flatten() {
                        Some(value) => constant(value == positive),
                        None => self
                            .diagrams
                            .branch(var, constant(!positive), constant(positive)),
                    }
                }
                Core::Past { register, positive } => {
                    let value = match now[register as usize] {
                        Some(value) => value,
                        None => match program.registers[register as usize] {
                            Register::Previous { .. } => constant(count(register) != 0),
                            Register::Since { lhs, rhs } => match count(register) {
                                0 => nodes[rhs as usize],
                                _ => self.or(nodes[rhs as usize], nodes[lhs as usize])?,
                            },
                            Register::Recent { operand, .. } => match count(register) {
                                0 => nodes[operand as usize],
                                _ => constant(true),
                            },
                            Register::Timed { operand, lo, hi } => {
                                let near = reading.time.saturating_sub(lo);
                                let far = if hi == NEVER {
                                    i128::MIN
                                } else {
                                    reading.time.saturating_sub(hi)
                                };
                                match old.get(register as usize) {
                                    Some(Value::Times(times))
                                        if times.iter().any(|t| (far..=near).contains(t)) =>
                                    {
                                        constant(true)
                                    }
                                    _ if lo == 0 => nodes[operand as usize],
                                    _ => constant(false),
                                }
                            }
                        },
                    };
                    now[register as usize] = Some(value);
                    if positive { value } else { self.not(value)? }
                }
                Core::And(f, g) => self.and(nodes[f as usize], nodes[g as usize])?,
                Core::Or(f, g) => self.or(nodes[f as usize], nodes[g as usize])?,
                Core::Next { strong, operand } => {
                    let owed = start(&program, operand, strong);
                    Ref::leaf(self.residuals.single(&program, owed, &mut self.meter)?)
                }
                Core::Until { window, .. } | Core::Release { window, .. } => {
                    let mut begun = start(&program, index as u32, true);
                    if window.timed {
                        begun.started = true;
                        begun.lo = begun.lo.saturating_add(reading.time);
                        begun.hi = if begun.hi == NEVER {
                            NEVER
                        } else {
                            begun.hi.saturating_add(reading.time)
                        };
                    }
                    self.unfold(begun, &nodes, reading.time)?
                }
            };
        }
        let mut updated = Ref::leaf(NO_REGISTERS);
        for (register, &kind) in program.registers.iter().enumerate() {
            let value = old.get(register).cloned();
            let (input, choices) = match kind {
                Register::Previous { operand } => (nodes[operand as usize], bits()),
                Register::Since { .. } => (now[register].unwrap_or(Ref::leaf(FALSE)), bits()),
                Register::Recent { operand, span } => (
                    nodes[operand as usize],
                    [
                        Value::Count(count(register as u32).saturating_sub(1)),
                        Value::Count(span),
                    ],
                ),
                Register::Timed { operand, lo, hi } => {
                    (nodes[operand as usize], times(value, reading.time, lo, hi))
                }
            };
            updated = self.diagrams.apply(
                &mut PairCache::default(),
                updated,
                input,
                &mut Update(&mut self.lists, choices),
                &mut self.meter,
            )?;
        }
        let nodes: Arc<[Ref]> = nodes.into();
        if reading.open {
            self.meter.grow(1 + program.nodes.len() / 8)?;
            self.open.get_or_insert_with(|| nodes.to_vec());
            self.by_registers
                .insert(registers, (nodes.clone(), updated));
        }
        Ok((nodes, updated))
    }

    /// The value of an `Until` or `Release` with this window, from those of its operands.
    fn unfold(
        &mut self,
        obligation: Obligation,
        nodes: &[Ref],
        time: i128,
    ) -> Result<Ref, LimitError> {
        let program = self.program.clone();
        let (lhs, rhs, window, until) = match program.nodes[obligation.node as usize] {
            Core::Until { lhs, rhs, window } => {
                (nodes[lhs as usize], nodes[rhs as usize], window, true)
            }
            Core::Release { lhs, rhs, window } => {
                (nodes[lhs as usize], nodes[rhs as usize], window, false)
            }
            _ => return Ok(nodes[obligation.node as usize]),
        };
        let Obligation {
            node,
            mut lo,
            mut hi,
            ..
        } = obligation;
        let neutral = Ref::leaf(if until { FALSE } else { TRUE });
        let open = if window.timed {
            if time > hi {
                return Ok(neutral);
            }
            let open = lo <= time;
            if open {
                lo = i128::MIN;
            }
            Some(open)
        } else {
            let open = lo == 0;
            let more = hi > 0;
            lo = (lo - 1).max(0);
            hi = if hi == NEVER { NEVER } else { hi - 1 };
            if !more {
                return Ok(if open { rhs } else { neutral });
            }
            Some(open)
        };
        let later = Obligation {
            node,
            strong: until,
            started: true,
            lo,
            hi,
        };
        let later = Ref::leaf(self.residuals.single(&program, later, &mut self.meter)?);
        let here = if open == Some(true) { rhs } else { neutral };
        if until {
            let go_on = self.and(lhs, later)?;
            self.or(here, go_on)
        } else {
            let go_on = self.or(lhs, later)?;
            self.and(here, go_on)
        }
    }

    fn and(&mut self, a: Ref, b: Ref) -> Result<Ref, LimitError> {
        self.diagrams.apply(
            &mut self.and,
            a,
            b,
            &mut And(&self.program, &mut self.residuals),
            &mut self.meter,
        )
    }

    fn or(&mut self, a: Ref, b: Ref) -> Result<Ref, LimitError> {
        self.diagrams.apply(
            &mut self.or,
            a,
            b,
            &mut Or(&self.program, &mut self.residuals),
            &mut self.meter,
        )
    }

    /// Negates a diagram whose leaves are `TRUE` and `FALSE`.
    fn not(&mut self, a: Ref) -> Result<Ref, LimitError> {
        self.diagrams.map(
            &mut self.not,
            a,
            &mut |leaf, _| Ok(if leaf == TRUE { FALSE } else { TRUE }),
            &mut self.meter,
        )
    }

    /// From pairs to configurations: below the first guess, all that any guess leads to.
    fn project(&mut self, joined: Ref) -> Result<Ref, LimitError> {
        let Engine {
            program,
            residuals,
            configurations,
            pairs,
            ..
        } = self;
        let first = program.atoms.len() as u32;
        let mut make = |diagrams: &Diagrams, below: Ref, meter: &mut Meter| {
            let found = diagrams
                .leaves(below)
                .into_iter()
                .map(|pair| pairs[pair as usize])
                .collect();
            collect(program, residuals, configurations, found, meter)
        };
        self.diagrams
            .fold(&mut self.project, joined, first, &mut make, &mut self.meter)
    }

    fn union(&mut self, a: Ref, b: Ref) -> Result<Ref, LimitError> {
        let mut union = Union(&self.program, &mut self.residuals, &mut self.configurations);
        self.diagrams
            .apply(&mut self.union, a, b, &mut union, &mut self.meter)
    }
}

type Configurations = IndexSet<Arc<[Pair]>, FxBuildHasher>;

/// The configuration of these pairs; residuals of equal registers are joined.
fn collect(
    program: &Program,
    residuals: &mut Residuals,
    table: &mut Configurations,
    mut pairs: Vec<Pair>,
    meter: &mut Meter,
) -> Result<u32, LimitError> {
    pairs.retain(|&(_, residual)| residual != FALSE);
    pairs.sort_unstable();
    let mut merged: Vec<Pair> = Vec::with_capacity(pairs.len());
    for (registers, residual) in pairs {
        match merged.last_mut() {
            Some(last) if last.0 == registers => {
                last.1 = residuals.or(program, last.1, residual, meter)?
            }
            _ => merged.push((registers, residual)),
        }
    }
    if merged.iter().any(|&(_, residual)| residual == TRUE) {
        merged = vec![(NO_REGISTERS, TRUE)];
    }
    if let Some(index) = table.get_index_of(merged.as_slice()) {
        return Ok(index as u32);
    }
    meter.grow(1 + merged.len())?;
    Ok(table.insert_full(merged.into()).0 as u32)
}

struct Union<'a>(&'a Program, &'a mut Residuals, &'a mut Configurations);

impl Combine for Union<'_> {
    const COMMUTES: bool = true;
    fn shortcut(&self, a: Ref, b: Ref) -> Option<Ref> {
        (a == b).then_some(a)
    }
    fn leaves(&mut self, a: u32, b: u32, meter: &mut Meter) -> Result<u32, LimitError> {
        let mut pairs = self.2[a as usize].to_vec();
        pairs.extend_from_slice(&self.2[b as usize]);
        collect(self.0, self.1, self.2, pairs, meter)
    }
}

fn bits() -> [Value; 2] {
    [Value::Count(0), Value::Count(1)]
}

/// The times to keep after `now`, without and with `now` itself.
fn times(old: Option<Value>, now: i128, lo: i128, hi: i128) -> [Value; 2] {
    let far = if hi == NEVER {
        i128::MIN
    } else {
        now.saturating_sub(hi)
    };
    let mut kept: Vec<i128> = match old {
        Some(Value::Times(times)) => times.iter().copied().filter(|&t| t >= far).collect(),
        _ => Vec::new(),
    };
    let without = Value::Times(kept.as_slice().into());
    if hi == NEVER {
        // Without an upper end the earliest time is in the window whenever another one is.
        if kept.is_empty() {
            kept.push(now);
        }
    } else if lo == 0 {
        // Without a lower end the latest is.
        kept = vec![now];
    } else if kept.last() != Some(&now) {
        kept.push(now);
    }
    [without, Value::Times(kept.into())]
}
