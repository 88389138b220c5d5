//! Conversion of core formulas to the form from which sentences are generated.

use crate::hir::{Bound, Formula, Formulas};
use crate::ids::FormulaId;
use guard_english::words::{self, Logic, Ratio, Unit, Window};

/// Returns a formula of the core in the form for sentences; its atoms have the same numbers as in the core.
///
/// # Limits
/// Recursion as deep as the formula, which `check` limits.
pub fn spoken(formulas: &Formulas, id: FormulaId) -> Logic {
    let of = |id: &FormulaId| Box::new(spoken(formulas, *id));
    match formulas.get(id) {
        Formula::True => Logic::True,
        Formula::False => Logic::False,
        Formula::Last => Logic::Last,
        Formula::Atom(id) => Logic::Atom(id.index()),
        Formula::Not(a) => Logic::Not(of(a)),
        Formula::And(a, b) => words::formula::and([*of(a), *of(b)]),
        Formula::Or(a, b) => words::formula::or([*of(a), *of(b)]),
        Formula::Implies(a, b) => Logic::Implies(of(a), of(b)),
        Formula::Iff(a, b) => Logic::Iff(of(a), of(b)),
        Formula::Unary(op, bound, a) => Logic::Unary(*op, bound.map(window), of(a)),
        Formula::Binary(op, bound, a, b) => Logic::Binary(*op, bound.map(window), of(a), of(b)),
    }
}

/// Returns a bound in steps or seconds.
fn window(bound: Bound) -> Window {
    /// The number of time units of the core in one second.
    const SECOND: i128 = 1_000_000_000_000_000_000;
    match bound {
        Bound::Steps(low, high) => Window {
            low: Ratio::new(i128::from(low), 1),
            high: Ratio::new(i128::from(high), 1),
            unit: Unit::Steps,
        },
        Bound::Time(low, high) => Window {
            low: Ratio::new(low, SECOND),
            high: Ratio::new(high, SECOND),
            unit: Unit::Seconds,
        },
    }
}
