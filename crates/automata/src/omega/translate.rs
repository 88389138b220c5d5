//! From a formula to a generalised Büchi automaton.
//!
//! A state is a *clause*: a set of obligations on the rest of the word, with the registers that they read. Reading a letter
//! gives clauses again, each with the *promises* that it makes: an edge promises to fulfil `g` later if it postpones the
//! witness `g` of an `Until`. An edge carries the mark of `g` if it does not promise `g`, so a run that sees each mark
//! infinitely often postpones no witness forever.
//!
//! For every letter the clauses are an antichain of the implication that syntax shows, promises included, and within a
//! clause an obligation that another one implies is dropped. Neither loses a word (a run that keeps only what is true, and
//! promises only what is not there yet, survives both), and the second gains none, because an `Until` is dropped for what
//! implies it and chains of implications end.
//!
//! # Source
//! J.-M. Couvreur, "On-the-fly verification of linear temporal logic", 1999; P. Gastin, D. Oddoux, "Fast LTL to Büchi
//! automata translation", 2001. The past by registers as on finite words.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::buchi::{Buchi, Edge};
use super::guards::{Guard, Guards};
use super::marks::Marks;
use crate::diagram::{Cache, Ref};
use crate::formula::{FormulaId, Formulas};
use crate::limits::{CompileError, LimitError, Limits};
use crate::program::{Program, Words};
use crate::progress::{Engine, Reading};
use crate::registers::NO_REGISTERS;
use crate::states::StateId;

/// Translates a formula without simplifying it first and without reducing the automaton afterwards.
///
/// # Errors
/// [`CompileError::Timed`] if an operator is bounded by time, [`CompileError::Limit`] if the limits do not suffice.
pub fn translate_raw(
    formulas: &Formulas,
    formula: FormulaId,
    limits: &Limits,
) -> Result<Buchi, CompileError> {
    if formulas.is_timed(formula) {
        return Err(CompileError::Timed);
    }
    let program = Arc::new(Program::new(formulas, formula, Words::Infinite, limits)?);
    Marks::check(program.n_promises)?;
    Ok(Construction::new(program, limits).run(limits)?)
}

/// Registers and a clause.
type State = (u32, u32);

struct Construction {
    engine: Engine,
    guards: Guards,
    states: IndexSet<State, FxBuildHasher>,
    /// The clauses of a residual without their promises.
    targets: FxHashMap<u32, Arc<[(u32, Marks)]>>,
}

impl Construction {
    fn new(program: Arc<Program>, limits: &Limits) -> Construction {
        Construction {
            engine: Engine::new(program, limits),
            guards: Guards::new(limits),
            states: IndexSet::default(),
            targets: FxHashMap::default(),
        }
    }

    fn run(mut self, limits: &Limits) -> Result<Buchi, LimitError> {
        let atoms = self.engine.program.atoms.clone();
        let n_marks = self.engine.program.n_promises;
        let initial = self.engine.initial()?;
        let mut buchi = Buchi::empty(&atoms, limits);
        // The formula is one obligation and conjunctions are taken apart, so there is one clause; there is none if the
        // formula is false.
        let pairs = self.engine.pairs(initial);
        let Some(&(registers, residual)) = pairs.first() else {
            return Ok(buchi);
        };
        let Some(&clause) = self.engine.residuals.clauses(residual).first() else {
            return Ok(buchi);
        };
        self.states.insert((registers, clause));
        buchi.edges.clear();
        while let Some(&state) = self.states.get_index(buchi.edges.len()) {
            let edges = self.edges(state)?;
            Buchi::check_states(self.states.len(), limits)?;
            buchi.edges.push(edges);
        }
        buchi.n_marks = n_marks;
        buchi.guards = self.guards;
        Ok(buchi)
    }

    fn edges(&mut self, (registers, clause): State) -> Result<Vec<Edge>, LimitError> {
        let Engine {
            residuals, meter, ..
        } = &mut self.engine;
        let residual = residuals.of_clause(clause, meter)?;
        let letter = vec![None; self.engine.program.n_vars()];
        let reading = Reading {
            letter: &letter,
            time: 0,
            open: true,
        };
        let after = self.engine.successors((registers, residual), reading)?;
        let mut leaves_of: BTreeMap<(u32, Marks), Vec<u32>> = BTreeMap::new();
        for leaf in self.engine.diagrams.leaves(after) {
            let (registers, residual) = self.engine.pair(leaf);
            for &(clause, marks) in self.targets(residual)?.iter() {
                let program = &self.engine.program;
                let residuals = &self.engine.residuals;
                let keeps = residuals.clause_needs_registers(program, clause);
                let registers = if keeps { registers } else { NO_REGISTERS };
                let target = self.states.insert_full((registers, clause)).0 as u32;
                leaves_of.entry((target, marks)).or_default().push(leaf);
            }
        }
        let mut edges = Vec::with_capacity(leaves_of.len());
        for ((target, marks), mut leaves) in leaves_of {
            leaves.sort_unstable();
            let guard = self.guard(after, &leaves)?;
            edges.push(Edge {
                guard,
                marks,
                target: StateId(target),
            });
        }
        Ok(edges)
    }

    /// Returns the letters for which some guess leads to one of these leaves.
    fn guard(&mut self, root: Ref, leaves: &[u32]) -> Result<Guard, LimitError> {
        let atoms = &self.engine.program.atoms;
        self.guards.import(
            &self.engine.diagrams,
            root,
            &|var| atoms.get(var as usize).copied(),
            &|leaf| leaves.binary_search(&leaf).is_ok(),
            &mut Cache::default(),
        )
    }

    /// Returns the clauses of a residual without their promises, and the marks of edges to them.
    fn targets(&mut self, residual: u32) -> Result<Arc<[(u32, Marks)]>, LimitError> {
        if let Some(known) = self.targets.get(&residual) {
            return Ok(known.clone());
        }
        let program = self.engine.program.clone();
        let every = Marks::first(program.n_promises);
        let mut targets = Vec::new();
        for &clause in self.engine.residuals.clauses(residual).iter() {
            let Engine {
                residuals, meter, ..
            } = &mut self.engine;
            let (rest, promises) = residuals.take_promises(&program, clause, meter)?;
            targets.push((rest, every.without(promises.into_iter().collect())));
        }
        let targets: Arc<[(u32, Marks)]> = targets.into();
        self.targets.insert(residual, targets.clone());
        Ok(targets)
    }
}
