//! Scopes: the part of a run that a duty is about.
//!
//! A duty is a formula over a run from its first step. Within a scope it is the same formula over a part of the run, which begins
//! somewhere and ends before another step; so each temporal operator is confined to the steps before the end (Dwyer, Avrunin and
//! Corbett, 1999, give the results for their patterns).

use super::grammar::{Slots, Value, formula};
use crate::pattern::Row;
use crate::words::Logic;
use crate::words::formula::{Binary, Unary, and, next, not, or, unless};

/// Returns the duty within the scope of a row. Returns `None` if the duty looks back or counts in a window, beyond the beginning of the
/// scope.
pub(super) fn within(row: &'static Row, slots: &Slots, duty: &Logic) -> Option<Logic> {
    let end = match row.flag.split_once("until ") {
        Some((_, letter)) => slots.logic(letter.chars().next()?)?.clone(),
        None if row.flag == "while" => not(slots.logic('a')?.clone()),
        None => Logic::False,
    };
    let mut columns = row.meaning.split(" ; ");
    let (any, denied, state) = (columns.next()?, columns.next(), columns.next());
    let clipped = clip(duty, &end)?;
    let (text, duty) = match (denied, state.zip(at_each_step(duty))) {
        (_, Some((text, state))) => (text, state),
        (Some(text), _) if !text.is_empty() && matches!(clipped, Logic::Not(_)) => (text, clipped),
        _ if end == Logic::False => (any, duty.clone()),
        _ => (any, clipped),
    };
    let is_next = row.flag.starts_with("next");
    let duty = if is_next { later(&duty) } else { duty };
    let mut slots = slots.clone();
    slots.bind('d', Value::Logic(duty));
    formula(text, &slots).ok()
}

/// The state that a duty requires at each step.
fn at_each_step(duty: &Logic) -> Option<Logic> {
    let always = duty.inside(Unary::Always).cloned();
    let state = always.or_else(|| duty.denied().map(|denied| not(denied.clone())))?;
    state.is_state().then_some(state)
}

/// The duty from the next step on. If the run ends here, a negation or an invariant is met, and a
/// duty to reach something is not.
fn later(duty: &Logic) -> Logic {
    let weak = match duty {
        Logic::Unary(op, ..) => op.info().is_weak,
        Logic::Binary(op, ..) => op.info().is_weak,
        Logic::Not(_) | Logic::Implies(..) | Logic::And(_) | Logic::Or(_) => {
            let moved = duty.with_parts(&mut |part| Some(later(part)));
            return moved.unwrap_or_else(|| duty.clone());
        }
        _ => false,
    };
    let op = if weak { Unary::WeakNext } else { Unary::Next };
    Logic::Unary(op, None, Box::new(duty.clone()))
}

/// The formula over the steps before the first where `end` holds.
fn clip(logic: &Logic, end: &Logic) -> Option<Logic> {
    let of = |inner: &Logic| clip(inner, end);
    let open = not(end.clone());
    let until = |window, held: Logic, come: Logic| {
        Logic::Binary(Binary::Until, window, Box::new(held), Box::new(come))
    };
    Some(match logic {
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
        Logic::First | Logic::AtMost(..) => return None,
        other => other.with_parts(&mut |part| of(part))?,
    })
}
