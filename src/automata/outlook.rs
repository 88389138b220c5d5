//! Whether a value can still be reached, for machines, which do not have the whole automaton.
//!
//! From the state of a machine, a bounded breadth-first search over configurations looks for one that accepts, or for one
//! that does not. If it ends without finding one, the verdict is final. For formulas without bounds in time the answer is
//! exact whenever the search ends.
//!
//! Time is not searched. Instead the search runs on an untimed formula that is weaker than the timed one when it looks for
//! acceptance, and stronger when it looks for rejection, so that what it does not find is not there:
//!
//! | at a position to come | weaker | stronger |
//! |---|---|---|
//! | `f U[a,b] g` | `f U g` | `g` if `a = 0`, else false |
//! | `f R[a,b] g` | `g` if `a = 0`, else true | `f R g` |
//! | `f U[a,b] g`, begun | `f U g` | false: the deadline may have passed |
//! | `f R[a,b] g`, begun | true | `f R g` |
//! | `O[a,b] f`, its negation, and all past that looks at it | true | false |

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::limits::{LimitError, Limits};
use super::machine::Part;
use super::obligation::{Obligation, start};
use super::program::{Core, NodeId, Program, Register, Window};
use super::progress::{Engine, Reading};
use super::registers::Value;
use super::residual::{FALSE, TRUE};

/// Configurations that one search may visit.
const REACH: usize = 128;

/// Searches in a row that may be given up before no more are tried.
const PATIENCE: u32 = 256;

/// A search for one value, with the answers it has found.
#[derive(Clone, Debug)]
pub(super) struct Outlook {
    engine: Engine,
    limits: Limits,
    /// The value of the prefix that is looked for.
    wanted: bool,
    /// For each timed node of the machine's program, what stands for it once it has begun.
    begun: Vec<Option<NodeId>>,
    /// Per configuration whether the value can be reached from it; none if the search was given up.
    known: FxHashMap<u32, Option<bool>>,
    /// How many searches in a row were given up.
    in_vain: u32,
}

impl Outlook {
    /// A search for acceptance or rejection in what follows.
    pub(super) fn new(program: &Program, wanted: bool, limits: &Limits) -> Outlook {
        let limits = Limits {
            work: limits.work.min(100_000),
            nodes: limits.nodes.min(200_000),
            ..limits.clone()
        };
        let (untimed, begun) = untimed(program, wanted);
        Outlook {
            engine: Engine::new(Arc::new(untimed), &limits),
            limits,
            wanted,
            begun,
            known: FxHashMap::default(),
            in_vain: 0,
        }
    }

    /// Whether the value can be reached from this state, itself included; none if that is not known.
    pub(super) fn reaches(&mut self, parts: &[Part]) -> Option<bool> {
        if self.engine.meter.nodes() > self.limits.nodes as u64 / 2 {
            self.engine = Engine::new(self.engine.program.clone(), &self.limits);
            self.known.clear();
        }
        self.engine.meter.restart();
        let first = self.translate(parts).ok()?;
        if let Some(&known) = self.known.get(&first) {
            return known;
        }
        if self.in_vain > PATIENCE {
            return None;
        }
        let found = self.search(first).unwrap_or(None);
        self.in_vain = if found.is_none() { self.in_vain + 1 } else { 0 };
        self.known.insert(first, found);
        found
    }

    /// As [`Self::reaches`], after at least one more position.
    pub(super) fn reaches_later(&mut self, parts: &[Part]) -> Option<bool> {
        let first = self.translate(parts).ok()?;
        let letter = vec![None; self.engine.program.n_vars()];
        let reading = Reading {
            letter: &letter,
            time: 0,
            open: true,
        };
        let after = self.engine.step(first, reading).ok()?;
        let mut all = Some(false);
        for target in self.engine.diagrams.leaves(after) {
            match self.search(target).unwrap_or(None) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => all = None,
            }
        }
        all
    }

    fn search(&mut self, first: u32) -> Result<Option<bool>, LimitError> {
        let letter = vec![None; self.engine.program.n_vars()];
        let reading = Reading {
            letter: &letter,
            time: 0,
            open: true,
        };
        let mut queue: IndexSet<u32, FxBuildHasher> = IndexSet::from_iter([first]);
        let mut next = 0;
        while let Some(&configuration) = queue.get_index(next) {
            next += 1;
            let here = self.engine.accepts(configuration) == self.wanted;
            if here || self.known.get(&configuration) == Some(&Some(true)) {
                return Ok(Some(true));
            }
            if queue.len() > REACH {
                return Ok(None);
            }
            let after = self.engine.step(configuration, reading)?;
            queue.extend(self.engine.diagrams.leaves(after));
        }
        // Nothing that was visited reaches the value.
        self.known
            .extend(queue.into_iter().map(|visited| (visited, Some(false))));
        Ok(Some(false))
    }

    /// The configuration of the untimed program that stands for a state of the machine.
    fn translate(&mut self, parts: &[Part]) -> Result<u32, LimitError> {
        let program = self.engine.program.clone();
        let mut pairs = Vec::with_capacity(parts.len());
        for (values, clauses) in parts {
            let count = |value: &Value| match value {
                Value::Count(count) => Value::Count(*count),
                Value::Times(_) => Value::Count(0),
            };
            let kinds = &program.registers;
            let values: Vec<Value> = values
                .iter()
                .zip(kinds)
                .map(|(value, kind)| match kind {
                    Register::Recent { span: 0, .. } => Value::Count(0),
                    _ => count(value),
                })
                .collect();
            let registers = self.engine.lists.number(&values);
            let mut residual = FALSE;
            if clauses
                .iter()
                .flat_map(|clause| clause.iter())
                .all(|o| self.begun[o.node as usize].is_none())
            {
                residual = self
                    .engine
                    .residuals
                    .of_clauses(clauses, &mut self.engine.meter)?;
                pairs.push((registers, residual));
                continue;
            }
            for clause in clauses.iter() {
                let mut all = TRUE;
                for &owed in clause.iter() {
                    let owed = self.stands_for(owed);
                    let Engine {
                        residuals, meter, ..
                    } = &mut self.engine;
                    let part = residuals.single(&program, owed, meter)?;
                    all = residuals.and(&program, all, part, meter)?;
                }
                let Engine {
                    residuals, meter, ..
                } = &mut self.engine;
                residual = residuals.or(&program, residual, all, meter)?;
            }
            pairs.push((registers, residual));
        }
        self.engine.configuration(pairs)
    }

    /// What an obligation of the timed program becomes.
    fn stands_for(&self, owed: Obligation) -> Obligation {
        match self.begun[owed.node as usize] {
            None => owed,
            Some(begun) => {
                let node = if owed.started { begun } else { owed.node };
                start(&self.engine.program, node, owed.strong)
            }
        }
    }
}

/// The untimed program with the same nodes at the same places, and for each timed `Until` and `Release` the node that
/// stands for it once it has begun.
fn untimed(program: &Program, weaker: bool) -> (Program, Vec<Option<NodeId>>) {
    let mut untimed = program.clone();
    let constant = untimed.nodes.len() as NodeId;
    let unit = if weaker { Core::True } else { Core::False };
    untimed.nodes.push(unit);
    untimed.past.push(false);
    untimed.looks_back.push(false);
    untimed.promise.push(None);
    untimed.timed = false;
    let mut begun = vec![None; untimed.nodes.len()];
    let mut blurred = vec![false; untimed.nodes.len()];
    for (index, &node) in program.nodes.iter().enumerate() {
        let mut replace = |by: Core, after: NodeId| {
            untimed.nodes[index] = by;
            begun[index] = Some(after);
        };
        match node {
            Core::Until { lhs, rhs, window } if window.timed => match (weaker, window.lo) {
                (true, _) => replace(
                    Core::Until {
                        lhs,
                        rhs,
                        window: Window::ALL,
                    },
                    index as NodeId,
                ),
                (false, 0) => replace(Core::Or(rhs, rhs), constant),
                (false, _) => replace(unit, constant),
            },
            Core::Release { lhs, rhs, window } if window.timed => match (weaker, window.lo) {
                (false, _) => replace(
                    Core::Release {
                        lhs,
                        rhs,
                        window: Window::ALL,
                    },
                    index as NodeId,
                ),
                (true, 0) => replace(Core::And(rhs, rhs), constant),
                (true, _) => replace(unit, constant),
            },
            // A register may be read negated, so one that depends on times is not known at all.
            Core::Past { register, .. } => {
                let kind = program.registers[register as usize];
                let below = |f: NodeId| blurred[f as usize];
                if matches!(kind, Register::Timed { .. })
                    || kind.operands().into_iter().flatten().any(below)
                {
                    blurred[index] = true;
                    untimed.nodes[index] = unit;
                    // Nobody reads the register any more; this kind always holds 0.
                    untimed.registers[register as usize] = Register::Recent {
                        operand: constant,
                        span: 0,
                    };
                }
            }
            Core::And(f, g) | Core::Or(f, g) => {
                blurred[index] = blurred[f as usize] || blurred[g as usize]
            }
            _ => {}
        }
    }
    (untimed, begun)
}
