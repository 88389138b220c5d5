//! The eager construction: from a formula to its automaton, state by state.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::dfa::Dfa;
use super::diagram::{Cache, Ref};
use super::eval::eval_empty;
use super::formula::{FormulaId, Formulas, Node};
use super::limits::{CompileError, LimitError, Limits, Resource, check};
use super::program::{Program, Words};
use super::progress::{Engine, Reading};

/// Returns the automaton of a formula, complete and minimal, the empty trace distinguished.
///
/// # Errors
/// [`CompileError::Timed`] if an operator is bounded by time, [`CompileError::Limit`] if the limits do not suffice.
///
/// # Limits
/// Doubly exponential in the formula at worst; linear in the bound for responses such as `G (a -> F[0,k] b)`.
///
/// ```
/// use guard_automata::{Atom, Formulas, Interval, Limits, Verdict, compile};
/// let mut formulas = Formulas::new();
/// let (read, check) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
/// let rule = formulas.leads_to(read, check);
/// let dfa = compile(&formulas, rule, &Limits::default())?;
/// let owing = dfa.step(dfa.initial(), |atom| atom == Atom(0));
/// assert_eq!(dfa.verdict(owing), Verdict::PresumablyViolated);
/// assert_eq!(dfa.len(), 2);
/// # Ok::<(), guard_automata::CompileError>(())
/// ```
pub fn compile(
    formulas: &Formulas,
    formula: FormulaId,
    limits: &Limits,
) -> Result<Dfa, CompileError> {
    compile_counted(formulas, formula, limits).0
}

/// Compiles as [`compile`], and returns the work that was done, for callers that share a budget between many formulas.
pub fn compile_counted(
    formulas: &Formulas,
    formula: FormulaId,
    limits: &Limits,
) -> (Result<Dfa, CompileError>, u64) {
    if formulas.is_timed(formula) {
        return (Err(CompileError::Timed), 0);
    }
    let mut budget = Budget {
        limits,
        left: limits.work,
    };
    let made = budget.compile(formulas, formula, DEPTH);
    let work = limits.work.saturating_sub(budget.left);
    (made.map_err(CompileError::from), work)
}

/// Compiles as [`compile`], without minimising: states may be equivalent, and the initial state is never entered again.
///
/// # Errors
/// As [`compile`].
pub fn compile_raw(
    formulas: &Formulas,
    formula: FormulaId,
    limits: &Limits,
) -> Result<Dfa, CompileError> {
    if formulas.is_timed(formula) {
        return Err(CompileError::Timed);
    }
    let program = Arc::new(Program::new(formulas, formula, Words::Finite, limits)?);
    let empty = eval_empty(formulas, formula);
    Ok(explore(&mut Engine::new(program, limits), empty)?)
}

/// The greatest number of levels of Boolean structure that are taken apart.
const DEPTH: u32 = 8;
/// The work spent on a Boolean combination as a whole before it is taken apart.
const FIRST_TRY: u64 = 300_000;

/// The remaining work of one call of [`compile`].
struct Budget<'a> {
    limits: &'a Limits,
    left: u64,
}

impl Budget<'_> {
    /// Compiles a formula as a whole; if that takes more than [`FIRST_TRY`], compiles the parts of its outermost
    /// connective and combines their minimal automata, smallest first. Neither way is always better: conjuncts that
    /// share their obligations are best left together, and others multiply before they can be minimised.
    ///
    /// # Source
    /// S. Bansal and others, "Hybrid compositional reasoning for reactive synthesis from finite-horizon specifications",
    /// 2020.
    fn compile(
        &mut self,
        formulas: &Formulas,
        formula: FormulaId,
        depth: u32,
    ) -> Result<Dfa, LimitError> {
        if let Node::Not(part) = formulas.node(formula) {
            return Ok(self.compile(formulas, part, depth)?.complement());
        }
        let parts = operands(formulas, formula);
        if parts.len() < 2 || depth == 0 {
            return self.whole(formulas, formula, u64::MAX);
        }
        if let Ok(dfa) = self.whole(formulas, formula, FIRST_TRY) {
            return Ok(dfa);
        }
        match self.together(formulas, formula, &parts, depth - 1) {
            Ok(dfa) => Ok(dfa),
            // The whole can be smaller than its parts.
            Err(_) => self.whole(formulas, formula, u64::MAX),
        }
    }

    fn together(
        &mut self,
        formulas: &Formulas,
        formula: FormulaId,
        parts: &[FormulaId],
        depth: u32,
    ) -> Result<Dfa, LimitError> {
        let conjunction = matches!(formulas.node(formula), Node::And(..));
        let mut dfas = Vec::with_capacity(parts.len());
        for &part in parts {
            dfas.push(self.compile(formulas, part, depth)?);
        }
        // Smallest last, so that it is taken first.
        dfas.sort_by_key(|dfa| std::cmp::Reverse(dfa.len()));
        let mut whole = dfas.pop();
        while let (Some(before), Some(next)) = (&whole, dfas.pop()) {
            let limits = Limits {
                work: self.left,
                ..self.limits.clone()
            };
            let accepts = |a, b| if conjunction { a && b } else { a || b };
            let (made, work) = before.product_counted(&next, accepts, &limits);
            self.left = self.left.saturating_sub(work);
            whole = Some(made?);
        }
        match whole {
            Some(dfa) => Ok(dfa),
            None => self.whole(formulas, formula, u64::MAX),
        }
    }

    /// Returns the minimal automaton of a formula taken as one, with at most this much work.
    fn whole(
        &mut self,
        formulas: &Formulas,
        formula: FormulaId,
        work: u64,
    ) -> Result<Dfa, LimitError> {
        let program = Arc::new(Program::new(formulas, formula, Words::Finite, self.limits)?);
        let limits = Limits {
            work: work.min(self.left),
            ..self.limits.clone()
        };
        let mut engine = Engine::new(program, &limits);
        let made = explore(&mut engine, eval_empty(formulas, formula));
        self.left = self.left.saturating_sub(engine.meter.work());
        match made {
            Ok(dfa) => Ok(dfa.minimized()),
            Err(error) if error.resource == Resource::Work => Err(LimitError {
                limit: self.limits.work,
                demand: self.limits.work.saturating_add(1),
                ..error
            }),
            Err(error) => Err(error),
        }
    }
}

/// Returns the operands of a nested conjunction or disjunction, in order; the formula itself if it is neither.
fn operands(formulas: &Formulas, formula: FormulaId) -> Vec<FormulaId> {
    let root = std::mem::discriminant(&formulas.node(formula));
    let mut parts = Vec::new();
    let mut seen = FxHashSet::default();
    let mut stack = vec![formula];
    while let Some(part) = stack.pop() {
        if !seen.insert(part) {
            continue;
        }
        match formulas.node(part) {
            node @ (Node::And(f, g) | Node::Or(f, g)) if std::mem::discriminant(&node) == root => {
                stack.extend([g, f]);
            }
            _ => parts.push(part),
        }
    }
    parts
}

fn explore(engine: &mut Engine, empty: bool) -> Result<Dfa, LimitError> {
    let letter = vec![None; engine.program.n_vars()];
    let reading = Reading {
        letter: &letter,
        time: 0,
        open: true,
    };
    let n_max = engine.meter.limits().states as u64;
    // State 0 is the start; a configuration equal to the initial one is another state, whose acceptance is its own.
    let mut order = vec![engine.initial()?];
    let mut number: FxHashMap<u32, u32> = FxHashMap::default();
    let mut roots: Vec<Ref> = Vec::new();
    let mut cache = Cache::default();
    while let Some(&configuration) = order.get(roots.len()) {
        let next = engine.step(configuration, reading)?;
        let Engine {
            diagrams, meter, ..
        } = engine;
        let mut place = |target: u32| {
            *number.entry(target).or_insert_with(|| {
                order.push(target);
                order.len() as u32 - 1
            })
        };
        let root = diagrams.map(&mut cache, next, &mut |target, _| Ok(place(target)), meter)?;
        check(Resource::States, n_max, order.len() as u64)?;
        roots.push(root);
    }
    let mut accepting: Vec<bool> = order
        .iter()
        .map(|&configuration| engine.accepts(configuration))
        .collect();
    accepting[0] = empty;
    let atoms = &engine.program.atoms;
    Ok(Dfa::assemble(
        &engine.diagrams,
        &roots,
        &accepting,
        0,
        atoms,
        |var| atoms[var as usize],
    ))
}
