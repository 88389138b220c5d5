//! Entry points: from a formula to a small Büchi automaton, or to a deterministic one.

use super::buchi::Buchi;
use super::deterministic::Deterministic;
use super::determinize::determinize;
use super::parity::fewest_priorities;
use super::reduce::reduce;
use super::shrink::shrink;
use super::simplify::{gathered, simplify};
use super::translate::translate_raw;
use super::weak::weak;
use crate::formula::{FormulaId, Formulas, Node};
use crate::limits::{CompileError, LimitError, Limits};

/// Returns a small generalised Büchi automaton of a formula.
///
/// # Limits
/// Exponential in the formula at worst, and in the bounds that are added up by nesting; the reductions take time quadratic
/// in the states and are left out where there are too many.
///
/// # Errors
/// [`CompileError::Timed`] if an operator is bounded by time, [`CompileError::Limit`] if the limits do not suffice.
///
/// ```
/// use guard_automata::{Atom, Formulas, Limits, omega};
/// let mut formulas = Formulas::new();
/// let (read, check) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
/// let rule = formulas.leads_to(read, check);
/// let buchi = omega::translate(&formulas, rule, &Limits::default())?;
/// assert_eq!(buchi.len(), 2);
/// # Ok::<(), guard_automata::CompileError>(())
/// ```
pub fn translate(
    formulas: &Formulas,
    formula: FormulaId,
    limits: &Limits,
) -> Result<Buchi, CompileError> {
    let mut formulas = formulas.clone();
    let formula = simplify(&mut formulas, formula);
    let buchi = reduced(&formulas, formula, limits)?;
    if buchi.len() == 1 {
        return Ok(buchi);
    }
    let negation = formulas.not(formula);
    let negation = simplify(&mut formulas, negation);
    let tight = tight(limits);
    let smaller = reduced(&formulas, negation, &tight)
        .and_then(|complement| Ok(smaller_deterministic(&buchi, &complement, &tight)?));
    match smaller {
        Ok(Some(smaller)) => Ok(smaller),
        // There is no deterministic automaton, or not within the limits.
        _ => Ok(buchi),
    }
}

/// Returns a deterministic automaton that is no larger than `buchi`, if one is found: the minimal one of an obligation, or
/// the parity automaton if that needs one mark only.
fn smaller_deterministic(
    buchi: &Buchi,
    complement: &Buchi,
    limits: &Limits,
) -> Result<Option<Buchi>, LimitError> {
    // For a language that is not an obligation, the subset construction may exceed the limits.
    let found = match weak(buchi, complement, limits).unwrap_or_default() {
        Some(weak) => reduce(weak.to_buchi(limits)?)?,
        None => {
            let parity = parity(buchi, complement, limits)?;
            if parity.n_marks() > 1 {
                return Ok(None);
            }
            let reduced = reduce(parity.to_buchi(limits)?)?;
            shrink(reduced, buchi, complement, limits)?
        }
    };
    Ok(Some(found).filter(|found| found.len() <= buchi.len()))
}

/// Returns a deterministic parity automaton, by determinisation of the smaller one, with as few priorities as can be.
pub(super) fn parity(
    buchi: &Buchi,
    complement: &Buchi,
    limits: &Limits,
) -> Result<Deterministic, LimitError> {
    let of = |buchi: &Buchi| {
        let trees = determinize(&reduce(buchi.with_one_mark(limits)?)?, limits)?;
        fewest_priorities(&trees, 0, limits)?.merged(limits)
    };
    if complement.len() < buchi.len()
        && let Ok(opposite) = of(complement)
    {
        return fewest_priorities(&opposite, 1, limits)?.merged(limits);
    }
    of(buchi)
}

/// Returns a deterministic automaton of a formula.
///
/// An obligation (a Boolean combination of safety and co-safety) has the minimal weak automaton. If the automaton of the
/// formula or of its negation is already deterministic, it is used. The parts of a Boolean combination are compiled separately
/// and combined by a product. All other formulas are determinised to a parity automaton.
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
    let formula = simplify(&mut formulas, formula);
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
    let negation = simplify(formulas, negation);
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
    Ok(parity(&buchi, &complement, limits)?)
}

/// Returns the smaller one of two automata: of the simplified formula, and of the formula with parts moved under a
/// waiting operator.
fn reduced(
    formulas: &Formulas,
    formula: FormulaId,
    limits: &Limits,
) -> Result<Buchi, CompileError> {
    let reduced = |formulas: &Formulas, formula| -> Result<Buchi, CompileError> {
        Ok(reduce(translate_raw(formulas, formula, limits)?)?)
    };
    let buchi = reduced(formulas, formula)?;
    if buchi.len() == 1 {
        return Ok(buchi);
    }
    let mut formulas = formulas.clone();
    let waiting = gathered(&mut formulas, formula);
    if waiting == formula {
        return Ok(buchi);
    }
    let other = reduced(&formulas, waiting)?;
    Ok(if other.len() < buchi.len() {
        other
    } else {
        buchi
    })
}

/// Returns the limits for the test whether a formula is an obligation.
fn tight(limits: &Limits) -> Limits {
    Limits {
        states: limits.states.min(1_000),
        nodes: limits.nodes.min(1_000_000),
        work: limits.work.min(3_000_000),
        ..limits.clone()
    }
}
