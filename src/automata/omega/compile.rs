//! The doors: from a formula to a small Büchi automaton, or to a deterministic one.

use super::buchi::Buchi;
use super::deterministic::Deterministic;
use super::determinize::determinize;
use super::parity::fewest_priorities;
use super::reduce::reduce;
use super::translate::translate_raw;
use super::weak::weak;
use crate::automata::formula::{FormulaId, Formulas, Node};
use crate::automata::limits::{CompileError, LimitError, Limits};

/// A small generalised Büchi automaton of a formula.
///
/// # Limits
/// Exponential in the formula at worst, and in the bounds that are added up by nesting; the reductions take time quadratic
/// in the states and are left out where there are too many.
///
/// # Errors
/// [`CompileError::Timed`] if an operator is bounded by time, [`CompileError::Limit`] if the limits do not suffice.
///
/// ```
/// use guard_lang::automata::{Atom, Formulas, Limits, omega};
/// let mut formulas = Formulas::new();
/// let (read, check) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
/// let rule = formulas.leads_to(read, check);
/// let buchi = omega::translate(&formulas, rule, &Limits::default())?;
/// assert_eq!(buchi.len(), 2);
/// # Ok::<(), guard_lang::automata::CompileError>(())
/// ```
pub fn translate(
    formulas: &Formulas,
    formula: FormulaId,
    limits: &Limits,
) -> Result<Buchi, CompileError> {
    let buchi = reduced(formulas, formula, limits)?;
    if buchi.len() == 1 {
        return Ok(buchi);
    }
    let mut formulas = formulas.clone();
    let negation = formulas.not(formula);
    let tight = tight(limits);
    let found = reduced(&formulas, negation, &tight)
        .and_then(|complement| Ok(weak(&buchi, &complement, &tight)?))
        .and_then(|weak| Ok(weak.map(|weak| weak.to_buchi(limits)).transpose()?));
    match found {
        Ok(Some(weak)) => {
            let weak = reduce(weak)?;
            Ok(if weak.len() <= buchi.len() {
                weak
            } else {
                buchi
            })
        }
        // Not an obligation, or not to be found out at this price.
        _ => Ok(buchi),
    }
}

/// A deterministic automaton of a formula.
///
/// An obligation (a Boolean combination of safety and co-safety) has the minimal weak automaton. If the automaton of the
/// formula or of its negation is deterministic as it is, it is taken. The parts of a Boolean combination are taken apart and
/// put together again by a product. What is left is determinised to a parity automaton.
///
/// # Limits
/// Doubly exponential in the formula at worst.
///
/// # Errors
/// As [`translate`].
pub fn deterministic(
    formulas: &Formulas,
    formula: FormulaId,
    limits: &Limits,
) -> Result<Deterministic, CompileError> {
    let mut formulas = formulas.clone();
    determined(&mut formulas, formula, limits, DEPTH)
}

/// Levels of Boolean structure that are taken apart.
const DEPTH: u32 = 8;

fn determined(
    formulas: &mut Formulas,
    formula: FormulaId,
    limits: &Limits,
    depth: u32,
) -> Result<Deterministic, CompileError> {
    let negation = formulas.not(formula);
    let buchi = reduced(formulas, formula, limits)?;
    let complement = reduced(formulas, negation, limits)?;
    if let Ok(Some(weak)) = weak(&buchi, &complement, &tight(limits)) {
        return Ok(weak);
    }
    if buchi.is_deterministic()? {
        return Ok(Deterministic::from_buchi(&buchi, limits)?.merged(limits)?);
    }
    if complement.is_deterministic()? {
        let opposite = Deterministic::from_buchi(&complement, limits)?.merged(limits)?;
        return Ok(opposite.complement());
    }
    let parts = match formulas.node(formula) {
        _ if depth == 0 => None,
        Node::And(f, g) => Some((f, g, true)),
        Node::Or(f, g) => Some((f, g, false)),
        Node::Not(f) => return Ok(determined(formulas, f, limits, depth - 1)?.complement()),
        _ => None,
    };
    if let Some((f, g, conjunction)) = parts {
        let left = determined(formulas, f, limits, depth - 1)?;
        let right = determined(formulas, g, limits, depth - 1)?;
        let product = left.product(&right, conjunction, limits)?;
        return Ok(product.merged(limits)?);
    }
    let safra = |buchi: &Buchi| -> Result<Deterministic, LimitError> {
        let tree = determinize(&reduce(buchi.with_one_mark(limits)?)?, limits)?;
        fewest_priorities(&tree, limits)?.merged(limits)
    };
    if complement.len() < buchi.len()
        && let Ok(opposite) = safra(&complement)
    {
        return Ok(opposite.complement());
    }
    Ok(safra(&buchi)?)
}

/// The automaton of a formula after the reductions that keep it as it is, up to simulation.
fn reduced(
    formulas: &Formulas,
    formula: FormulaId,
    limits: &Limits,
) -> Result<Buchi, CompileError> {
    Ok(reduce(translate_raw(formulas, formula, limits)?)?)
}

/// What may be spent on finding out whether something is an obligation.
fn tight(limits: &Limits) -> Limits {
    Limits {
        states: limits.states.min(2_000),
        nodes: limits.nodes.min(400_000),
        work: limits.work.min(2_000_000),
        ..limits.clone()
    }
}
