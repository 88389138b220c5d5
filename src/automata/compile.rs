//! The eager construction: from a formula to its automaton, state by state.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::dfa::Dfa;
use super::diagram::{Cache, Ref};
use super::eval::eval_empty;
use super::formula::{FormulaId, Formulas};
use super::limits::{CompileError, LimitError, Limits, Resource, check};
use super::program::Program;
use super::progress::{Engine, Reading};

/// The automaton of a formula, complete and minimal, the empty trace distinguished.
///
/// # Errors
/// [`CompileError::Timed`] if an operator is bounded by time, [`CompileError::Limit`] if the limits do not suffice.
///
/// # Limits
/// Doubly exponential in the formula at worst; linear in the bound for responses such as `G (a -> F[0,k] b)`.
///
/// ```
/// use guard_lang::automata::{Atom, Formulas, Interval, Limits, Verdict, compile};
/// let mut formulas = Formulas::new();
/// let (read, check) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
/// let rule = formulas.leads_to(read, check);
/// let dfa = compile(&formulas, rule, &Limits::default())?;
/// let owing = dfa.step(dfa.initial(), |atom| atom == Atom(0));
/// assert_eq!(dfa.verdict(owing), Verdict::PresumablyViolated);
/// assert_eq!(dfa.len(), 2);
/// # Ok::<(), guard_lang::automata::CompileError>(())
/// ```
pub fn compile(
    formulas: &Formulas,
    formula: FormulaId,
    limits: &Limits,
) -> Result<Dfa, CompileError> {
    Ok(compile_raw(formulas, formula, limits)?.minimized())
}

/// As [`compile`], but as constructed: states may be equivalent, and the initial state is never entered again.
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
    let program = Arc::new(Program::new(formulas, formula, limits)?);
    let empty = eval_empty(formulas, formula);
    Ok(explore(Engine::new(program, limits), empty)?)
}

fn explore(mut engine: Engine, empty: bool) -> Result<Dfa, LimitError> {
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
        } = &mut engine;
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
