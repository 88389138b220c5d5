//! Bounds in time as bounds in steps, for steps at a fixed distance.
//!
//! Automata have no clocks. On traces whose steps are one *unit* of time apart, a bound in time is a bound in steps, so a
//! difference found there is a real difference. Changes that only affect other traces are not decided.

use crate::hir::{Bound, Formula, Formulas};
use crate::ids::FormulaId;

/// One second, in attoseconds.
pub(super) const SECOND: i128 = 1_000_000_000_000_000_000;
/// The greatest number of steps of a converted bound, so that its automaton stays small.
const STEPS: i128 = 64;

/// Returns the unit of time of a formula: a second if all bounds are whole seconds and none is long, else the greatest
/// common divisor of the bounds. Returns `None` if it has no bounds in time, or one of more than [`STEPS`] units.
pub(super) fn unit(formulas: &Formulas, root: FormulaId) -> Option<i128> {
    let mut ends: Vec<i128> = Vec::new();
    let mut todo = vec![root];
    while let Some(part) = todo.pop() {
        // The part of `or end` has a bound that is less than any unit shorter, and follows from the other one.
        if let Some((when, bound, then)) = formulas.forgiven(part) {
            if let Bound::Time(low, high) = bound {
                ends.extend([low, high]);
            }
            todo.extend([when, then]);
            continue;
        }
        if let Formula::Unary(_, Some(Bound::Time(low, high)), _)
        | Formula::Binary(_, Some(Bound::Time(low, high)), ..) = formulas.get(part)
        {
            ends.extend([*low, *high]);
        }
        todo.extend(formulas.operands(part));
    }
    let longest = ends.iter().copied().max()?;
    let divisor = ends.into_iter().fold(0, divisor);
    let unit = if divisor % SECOND == 0 && longest / SECOND <= STEPS {
        SECOND
    } else {
        divisor
    };
    (unit > 0 && longest / unit <= STEPS).then_some(unit)
}

/// Returns the greatest common divisor (Euclid).
fn divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// Returns the formula with bounds in steps of `unit`; the formula itself without a unit.
pub(super) fn stepped(formulas: &mut Formulas, root: FormulaId, unit: Option<i128>) -> FormulaId {
    let Some(unit) = unit else { return root };
    let operands: Vec<FormulaId> = formulas
        .operands(root)
        .into_iter()
        .map(|part| stepped(formulas, part, Some(unit)))
        .collect();
    let part = formulas.with_operands(root, &operands);
    let steps = |low: i128, high: i128| {
        let [low, high] = [low, high].map(|end| u32::try_from(end / unit).unwrap_or(u32::MAX));
        Some(Bound::Steps(low, high))
    };
    match formulas.get(part).clone() {
        Formula::Unary(op, Some(Bound::Time(low, high)), a) => {
            formulas.add(Formula::Unary(op, steps(low, high), a))
        }
        Formula::Binary(op, Some(Bound::Time(low, high)), a, b) => {
            formulas.add(Formula::Binary(op, steps(low, high), a, b))
        }
        _ => part,
    }
}
