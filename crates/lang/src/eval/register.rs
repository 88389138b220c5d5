//! The state that `before`, `count` and past operators in expressions carry from step to step.

use serde::{Deserialize, Serialize};

use super::clock::{Clock, Occurrences};
use super::code::{RegisterKind, TrackCode};
use crate::hir::PastOp;
use crate::value::{Cell, Truth, Value};

/// The value of one register between steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Register {
    /// The value at the previous step; `None` if it is unknown.
    Before(Option<Value>),
    /// For `previously`: the value at the previous step. For `once`, `since` and their duals: the value so far.
    Truth(Truth),
    /// Least and greatest count so far.
    Count(u64, u64),
    /// Within a window.
    Window(Occurrences),
}

/// The values of a register's operands at a step.
#[derive(Clone, Debug)]
pub(super) enum Operands {
    Value(Option<Value>),
    Truths(Truth, Truth),
}

impl Register {
    /// Returns the value before the first step.
    pub(super) fn initial(kind: &RegisterKind) -> Register {
        match kind {
            RegisterKind::Before(_, initial) => Register::Before(initial.clone()),
            RegisterKind::Count {
                window: Some(_), ..
            }
            | RegisterKind::Past(_, Some(_), ..) => Register::Window(Occurrences::default()),
            RegisterKind::Count { window: None, .. } => Register::Count(0, 0),
            RegisterKind::Past(op, None, ..) => Register::Truth(match op {
                PastOp::Previously | PastOp::Once | PastOp::Since => Truth::False,
                PastOp::WeakPreviously | PastOp::Historically | PastOp::BackTo => Truth::True,
            }),
        }
    }

    /// Returns the value of the node at this step.
    pub(super) fn value(&self, kind: &RegisterKind, operands: Operands, clock: &Clock) -> Cell {
        let known = |truth: Truth| {
            truth
                .known()
                .map_or(Cell::Unknown, |value| Cell::Known(Value::Bool(value)))
        };
        if let Some((least, most)) = self.range(kind, &operands, clock) {
            return if least == most {
                Cell::Known(Value::int(i128::from(least)))
            } else {
                Cell::Unknown
            };
        }
        match (self, kind, operands) {
            (Register::Before(value), ..) => value.clone().map_or(Cell::Unknown, Cell::Known),
            (Register::Truth(held), RegisterKind::Past(op, ..), Operands::Truths(a, b)) => {
                known(past_value(*op, *held, a, b))
            }
            (
                Register::Window(seen),
                RegisterKind::Past(op, Some(window), ..),
                Operands::Truths(a, _),
            ) => {
                let dual = *op == PastOp::Historically;
                let (certain, possible) = seen.count(if dual { !a } else { a }, *window, clock);
                let found = match (certain, possible) {
                    (1.., _) => Truth::True,
                    (0, 1..) => Truth::Unknown,
                    (0, 0) => Truth::False,
                };
                known(if dual { !found } else { found })
            }
            _ => Cell::Unknown,
        }
    }

    /// Returns the least and the greatest number that a count may have at this step; `None` for other registers.
    pub(super) fn range(
        &self,
        kind: &RegisterKind,
        operands: &Operands,
        clock: &Clock,
    ) -> Option<(u64, u64)> {
        let (RegisterKind::Count { window, .. }, Operands::Truths(of, since)) = (kind, operands)
        else {
            return None;
        };
        Some(match (self, window, since) {
            (Register::Count(..), ..) => self.counted(*of, *since),
            (Register::Window(_), Some(_), Truth::True) => (0, 0),
            (Register::Window(seen), Some(window), Truth::False) => seen.count(*of, *window, clock),
            (Register::Window(seen), Some(window), Truth::Unknown) => {
                (0, seen.count(*of, *window, clock).1)
            }
            _ => return None,
        })
    }

    /// Updates the register with this step.
    pub(super) fn advance(&mut self, kind: &RegisterKind, operands: Operands, clock: &Clock) {
        let counted = match &operands {
            Operands::Truths(of, since) => self.counted(*of, *since),
            Operands::Value(_) => (0, 0),
        };
        match (self, kind, operands) {
            (Register::Before(before), _, Operands::Value(value)) => *before = value,
            (Register::Truth(held), RegisterKind::Past(op, ..), Operands::Truths(a, b)) => {
                *held = match op {
                    PastOp::Previously | PastOp::WeakPreviously => a,
                    _ => past_value(*op, *held, a, b),
                };
            }
            (Register::Count(least, most), ..) => (*least, *most) = counted,
            (
                Register::Window(seen),
                RegisterKind::Count {
                    window: Some(window),
                    ..
                },
                Operands::Truths(of, since),
            ) => {
                seen.advance(of, *window, clock);
                match since {
                    Truth::True => seen.forget(),
                    Truth::Unknown => seen.doubt(),
                    Truth::False => {}
                }
            }
            (
                Register::Window(seen),
                RegisterKind::Past(op, Some(window), ..),
                Operands::Truths(a, _),
            ) => {
                seen.advance(
                    if *op == PastOp::Historically { !a } else { a },
                    *window,
                    clock,
                );
            }
            _ => {}
        }
    }

    /// Returns the least and the greatest count at a step with these operands.
    fn counted(&self, of: Truth, since: Truth) -> (u64, u64) {
        let Register::Count(least, most) = self else {
            return (0, 0);
        };
        match since {
            Truth::True => (0, 0),
            Truth::False => (
                least + u64::from(of == Truth::True),
                most + u64::from(of != Truth::False),
            ),
            Truth::Unknown => (0, most + u64::from(of != Truth::False)),
        }
    }

    /// Whether the register holds uncertain values.
    pub(super) fn is_doubtful(&self) -> bool {
        match self {
            Register::Before(value) => value.is_none(),
            Register::Truth(truth) => *truth == Truth::Unknown,
            Register::Count(least, most) => least != most,
            Register::Window(seen) => seen.is_doubtful(),
        }
    }

    /// Returns the same register with positions relative to `position`.
    pub(super) fn relative_to(&self, position: u64) -> Register {
        match self {
            Register::Window(seen) => Register::Window(seen.relative_to(position)),
            other => other.clone(),
        }
    }
}

fn past_value(op: PastOp, held: Truth, a: Truth, b: Truth) -> Truth {
    match op {
        PastOp::Previously | PastOp::WeakPreviously => held,
        PastOp::Once => held.or(a),
        PastOp::Historically => held.and(a),
        PastOp::Since | PastOp::BackTo => b.or(a.and(held)),
    }
}

/// The known part of the value of a track.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Held {
    One(Value),
    /// One of these: at least two, in order; only where the type is finite.
    Many(std::sync::Arc<[Value]>),
    Unknown,
}

impl Held {
    /// Returns the set of these values, in any order.
    pub(super) fn of(mut values: Vec<Value>) -> Held {
        values.sort_unstable();
        values.dedup();
        match (values.pop(), values.is_empty()) {
            (None, _) => Held::Unknown,
            (Some(only), true) => Held::One(only),
            (Some(last), false) => {
                values.push(last);
                Held::Many(values.into())
            }
        }
    }

    /// Returns all values that the track may have.
    pub(super) fn anything(track: &TrackCode) -> Held {
        match &track.finite {
            Some(values) => Held::of(values.to_vec()),
            None => Held::Unknown,
        }
    }
}
