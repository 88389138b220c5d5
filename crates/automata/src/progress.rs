//! One step of a formula: from registers and residual, through a letter, to registers and residual.
//!
//! Only this module defines the effect of a position on each operator. The eager construction reads every letter at once, as
//! variables of a diagram; a running machine reads one letter, whose variables are constants. Both call [`Engine::step`], with
//! more or less of the letter known.
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

use super::configuration::{Configurations, Join, Pair, Union, collect};
use super::diagram::{Cache, Combine, Diagrams, FALSE, PairCache, Ref, TRUE, absorbed};
use super::limits::{LimitError, Limits, Meter};
use super::obligation::{Obligation, start};
use super::program::{Core, NEVER, Program, Words};
use super::registers::{Lists, NO_REGISTERS, Now, Update, Value};
use super::residual::Residuals;

/// The tables of one construction. Numbers are meaningful within one engine only.
#[derive(Clone, Debug)]
pub(super) struct Engine {
    pub(super) program: Arc<Program>,
    pub(super) diagrams: Diagrams,
    pub(super) residuals: Residuals,
    pub(super) meter: Meter,
    pub(super) lists: Lists,
    pairs: IndexSet<Pair, FxBuildHasher>,
    configurations: Configurations,
    and: PairCache,
    or: PairCache,
    not: Cache,
    union: PairCache,
    project: Cache,
    /// Values of all nodes when no atom of the letter is known, for some registers. Values that do not depend on the
    /// past are valid for all registers.
    open: Option<Vec<Ref>>,
    by_registers: FxHashMap<u32, (Arc<[Ref]>, Ref)>,
}

/// The known values at the position that is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<'a> {
    /// For each variable that is an atom, its value if known. Guesses are never known.
    pub(super) letter: &'a [Option<bool>],
    /// The time of the position; 0 if the formula is not timed.
    pub(super) time: i128,
    /// Whether no letter is known, so that results can be kept for later steps.
    pub(super) open: bool,
}

/// The values at one position that have been computed so far.
struct Values {
    nodes: Vec<Ref>,
    /// For each register, the current value of its operator.
    now: Vec<Option<Ref>>,
}

fn constant(value: bool) -> Ref {
    Ref::leaf(if value { TRUE } else { FALSE })
}

impl Engine {
    pub(super) fn new(program: Arc<Program>, limits: &Limits) -> Self {
        Engine {
            program,
            diagrams: Diagrams::default(),
            residuals: Residuals::new(),
            meter: Meter::new(limits),
            lists: Lists::new(),
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

    /// Returns the configuration before anything is read: the formula must hold next.
    pub(super) fn initial(&mut self) -> Result<u32, LimitError> {
        let program = self.program.clone();
        let values: Vec<Value> = program
            .registers
            .iter()
            .map(|register| register.zero())
            .collect();
        let registers = self.lists.number(&values);
        let residual = self.residuals.single(
            &program,
            start(&program, program.root, true),
            &mut self.meter,
        )?;
        self.configuration(vec![(registers, residual)])
    }

    pub(super) fn pairs(&self, configuration: u32) -> Arc<[Pair]> {
        self.configurations[configuration as usize].clone()
    }

    /// Returns the configuration of these pairs.
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

    /// Returns the configurations after one more position, as a diagram over the letters that are not known.
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

    /// As [`Self::step`], with at most so much work.
    pub(super) fn step_within(
        &mut self,
        configuration: u32,
        reading: Reading<'_>,
        work: u64,
    ) -> Result<Ref, LimitError> {
        let all = self.meter.cap_work(work);
        let made = self.step(configuration, reading);
        self.meter.cap_work(all);
        made
    }

    fn step_pair(&mut self, pair: Pair, reading: Reading<'_>) -> Result<Ref, LimitError> {
        let joined = self.successors(pair, reading)?;
        self.project(joined)
    }

    /// Returns a pair of registers and residual, by the number that [`Self::successors`] has at its leaves.
    pub(super) fn pair(&self, number: u32) -> Pair {
        self.pairs[number as usize]
    }

    /// Returns the pairs after one more position, as a diagram over the letters that are not known and over the guesses.
    pub(super) fn successors(
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
        self.diagrams.apply(
            &mut PairCache::default(),
            updated,
            next,
            &mut Join(&program, &self.residuals, &mut self.pairs),
            &mut self.meter,
        )
    }

    /// Computes the values of all nodes at the position that is read, and the registers after it.
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
        let old = self.lists.values(registers);
        let base = if reading.open {
            self.open.clone()
        } else {
            None
        };
        let known = base.is_some();
        let mut values = Values {
            nodes: base.unwrap_or_else(|| vec![constant(false); program.nodes.len()]),
            now: vec![None; program.registers.len()],
        };
        for (index, &past) in program.past.iter().enumerate() {
            if past || !known {
                self.meter.spend(1)?;
                values.nodes[index] = self.value(index, &mut values, &old, reading)?;
            }
        }
        let mut updated = Ref::leaf(NO_REGISTERS);
        for (register, &kind) in program.registers.iter().enumerate() {
            // Every register has a node that reads it, so its current value is known here.
            let input = match kind.input() {
                Some(operand) => values.nodes[operand as usize],
                None => values.now[register].unwrap_or(constant(false)),
            };
            let choices = kind.next(old.get(register), reading.time);
            updated = self.diagrams.apply(
                &mut PairCache::default(),
                updated,
                input,
                &mut Update(&mut self.lists, choices),
                &mut self.meter,
            )?;
        }
        let nodes: Arc<[Ref]> = values.nodes.into();
        if reading.open {
            self.meter.grow(1 + program.nodes.len() / 8)?;
            self.open.get_or_insert_with(|| nodes.to_vec());
            self.by_registers
                .insert(registers, (nodes.clone(), updated));
        }
        Ok((nodes, updated))
    }

    /// Returns the value of one node, from those of its operands.
    fn value(
        &mut self,
        index: usize,
        values: &mut Values,
        old: &[Value],
        reading: Reading<'_>,
    ) -> Result<Ref, LimitError> {
        let program = self.program.clone();
        let Values { nodes, now } = values;
        Ok(match program.nodes[index] {
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
            // A promise constrains no position; a step removes it from the clause.
            Core::Promise(_) => constant(true),
            Core::Past { register, positive } => {
                let kind = program.registers[register as usize];
                let register = register as usize;
                let value = match (now[register], kind.now(old.get(register), reading.time)) {
                    (Some(value), _) => value,
                    (None, Now::Known(value)) => constant(value),
                    (None, Now::Same(operand)) => nodes[operand as usize],
                    (None, Now::Either(f, g)) => self.or(nodes[f as usize], nodes[g as usize])?,
                };
                now[register] = Some(value);
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
                    if begun.hi != NEVER {
                        begun.hi = begun.hi.saturating_add(reading.time);
                    }
                }
                self.unfold(begun, nodes, reading.time)?
            }
        })
    }

    /// Returns the value of an `Until` or `Release` with this window, from those of its operands.
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
            chain,
            ..
        } = obligation;
        let neutral = Ref::leaf(if until { FALSE } else { TRUE });
        let open = if window.timed {
            if time > hi {
                return Ok(neutral);
            }
            lo <= time
        } else {
            lo <= 0
        };
        let here = if open { rhs } else { neutral };
        if window.timed && open {
            // Time does not run backward, so an open window stays open, and open windows differ only in their ends.
            lo = i128::MIN;
        } else if !window.timed {
            if hi == 0 {
                return Ok(here);
            }
            lo = (lo - 1).max(0);
            hi = if hi == NEVER { NEVER } else { hi - 1 };
        }
        let later = Obligation {
            node,
            strong: until && program.words == Words::Finite,
            started: true,
            lo,
            hi,
            chain,
        };
        let mut later = Ref::leaf(self.residuals.single(&program, later, &mut self.meter)?);
        if let Some(promise) = program.promise[node as usize] {
            let owed = start(&program, promise, false);
            let owed = Ref::leaf(self.residuals.single(&program, owed, &mut self.meter)?);
            later = self.and(later, owed)?;
        }
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

    /// Projects pairs to configurations: below the first guess, the union over all guesses.
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

struct And<'a>(&'a Program, &'a mut Residuals);
struct Or<'a>(&'a Program, &'a mut Residuals);

impl Combine for And<'_> {
    const COMMUTES: bool = true;
    fn shortcut(&self, a: Ref, b: Ref) -> Option<Ref> {
        absorbed(a, b, FALSE, TRUE)
    }
    fn leaves(&mut self, a: u32, b: u32, meter: &mut Meter) -> Result<u32, LimitError> {
        self.1.and(self.0, a, b, meter)
    }
}

impl Combine for Or<'_> {
    const COMMUTES: bool = true;
    fn shortcut(&self, a: Ref, b: Ref) -> Option<Ref> {
        absorbed(a, b, TRUE, FALSE)
    }
    fn leaves(&mut self, a: u32, b: u32, meter: &mut Meter) -> Result<u32, LimitError> {
        self.1.or(self.0, a, b, meter)
    }
}
