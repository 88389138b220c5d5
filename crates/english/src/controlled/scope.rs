//! Scopes: the part of a run that a duty is about.
//!
//! A duty is a formula over a run from its first step. Within a scope it is the same formula over a part of the run, which begins
//! somewhere and ends before another step; so each temporal operator is confined to the steps before the end (Dwyer, Avrunin and
//! Corbett, 1999, give the results for their patterns).

use super::grammar::Slots;
use crate::words::Logic;
use crate::words::formula::{
    Binary, Unary, always, and, eventually, implies, never, next, not, or, unless,
};

/// Returns the duty within a scope, called as in the grammar, between `a` and `b`. Returns `None` if the duty looks back or counts in a
/// window, beyond the beginning of the scope.
pub(super) fn within(scope: &str, slots: &Slots, duty: &Logic) -> Option<Logic> {
    let begin = slots.logic('a')?.clone();
    let end = || slots.logic('b').cloned();
    // From the first step where it begins.
    let first = |duty: Logic| unless(not(begin.clone()), and([begin.clone(), duty]));
    Some(match scope {
        "before" => implies(eventually(None, begin.clone()), clip(duty, &begin)?),
        "after" => from_next(begin, &ahead(duty)?),
        "after first" => first(later(&ahead(duty)?)),
        "from" => from(begin, &ahead(duty)?),
        "from first" => first(ahead(duty)?),
        "between" => {
            let clipped = clip(duty, &end()?)?;
            let open = and([begin, not(end()?), eventually(None, end()?)]);
            always(implies(open, clipped))
        }
        "after until" => from_next(begin, &clip(duty, &end()?)?),
        "from until" => match clip(duty, &end()?)? {
            // A duty that denies an occurrence before the end denies it at the end, too.
            denied @ Logic::Not(_) => from(begin, &denied),
            clipped => always(implies(and([begin, not(end()?)]), clipped)),
        },
        _ => match duty {
            Logic::Unary(Unary::Always, None, state) if state.is_state() => {
                always(implies(begin, (**state).clone()))
            }
            Logic::Not(denied) => match denied.as_ref() {
                Logic::Unary(Unary::Eventually, None, bad) if bad.is_state() => {
                    always(implies(begin, not((**bad).clone())))
                }
                _ => stretch(begin, duty)?,
            },
            _ => stretch(begin, duty)?,
        },
    })
}

/// The duty in each stretch of steps where `mode` holds.
fn stretch(mode: Logic, duty: &Logic) -> Option<Logic> {
    let clipped = clip(duty, &not(mode.clone()))?;
    let begins = Logic::Unary(Unary::WeakPreviously, None, Box::new(not(mode.clone())));
    Some(always(implies(and([mode, begins]), clipped)))
}

/// `G (begin -> duty)`; a negation is moved before the whole.
fn from(begin: Logic, duty: &Logic) -> Logic {
    match duty {
        Logic::Not(denied) => never(and([begin, (**denied).clone()])),
        duty => always(implies(begin, duty.clone())),
    }
}

/// As [`from`], from the next step on.
fn from_next(begin: Logic, duty: &Logic) -> Logic {
    match duty {
        Logic::Not(denied) => never(and([begin, next((**denied).clone())])),
        duty => always(implies(begin, later(duty))),
    }
}

/// The duty from the next step on. If the run ends here, a negation or an invariant is met, and a
/// duty to reach something is not.
fn later(duty: &Logic) -> Logic {
    let weak = match duty {
        Logic::Unary(op, ..) => matches!(op, Unary::Always | Unary::WeakNext),
        Logic::Binary(op, ..) => matches!(op, Binary::Unless | Binary::Release),
        Logic::Not(inner) => return not(later(inner)),
        Logic::Implies(a, b) => return implies(later(a), later(b)),
        Logic::And(parts) => return and(parts.iter().map(later)),
        Logic::Or(parts) => return or(parts.iter().map(later)),
        _ => false,
    };
    let op = if weak { Unary::WeakNext } else { Unary::Next };
    Logic::Unary(op, None, Box::new(duty.clone()))
}

/// The duty as it is, if it looks ahead only.
fn ahead(duty: &Logic) -> Option<Logic> {
    clip(duty, &Logic::False).map(|_| duty.clone())
}

/// The formula over the steps before the first where `end` holds.
fn clip(logic: &Logic, end: &Logic) -> Option<Logic> {
    let of = |inner: &Logic| clip(inner, end);
    let open = not(end.clone());
    let until = |window, held: Logic, come: Logic| {
        Logic::Binary(Binary::Until, window, Box::new(held), Box::new(come))
    };
    Some(match logic {
        state if state.is_state() => state.clone(),
        Logic::Not(inner) => not(of(inner)?),
        Logic::And(parts) => and(parts.iter().map(of).collect::<Option<Vec<_>>>()?),
        Logic::Or(parts) => or(parts.iter().map(of).collect::<Option<Vec<_>>>()?),
        Logic::Implies(a, b) => implies(of(a)?, of(b)?),
        Logic::Iff(a, b) => Logic::Iff(Box::new(of(a)?), Box::new(of(b)?)),
        Logic::Last => not(next(open)),
        Logic::Unary(op, window, inner) => {
            let inner = of(inner)?;
            match op {
                Unary::Next => next(and([inner, open])),
                Unary::WeakNext => not(next(and([not(inner), open]))),
                Unary::Eventually => until(*window, open.clone(), and([inner, open])),
                Unary::Always if window.is_none() => unless(inner, end.clone()),
                Unary::Always => not(until(*window, open.clone(), and([not(inner), open]))),
                _ => return None,
            }
        }
        Logic::Binary(op, window, a, b) => {
            let (a, b) = (of(a)?, of(b)?);
            match op {
                Binary::Until => until(*window, and([a, open.clone()]), and([b, open])),
                Binary::Unless => unless(a, or([b, end.clone()])),
                _ => return None,
            }
        }
        _ => return None,
    })
}
