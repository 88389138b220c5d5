//! The memory of the past: the values of registers, and the effect of a step on them.
//!
//! The values of all registers together are a number, built value by value, so that a diagram over partly known letters can
//! have them as its leaves.

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::diagram::{Combine, TRUE};
use super::limits::{LimitError, Meter};
use super::program::{NEVER, NodeId, Register, Window};

/// The value of one register.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub(super) enum Value {
    /// A bit or a counter.
    Count(u32),
    /// When the operand held.
    Times(Times),
}

/// Times, or negative distances from the next position; earliest first.
#[derive(
    Clone,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
)]
pub(super) struct Times {
    pub(super) list: Arc<[i128]>,
    /// The further times, if they are not listed.
    pub(super) rest: Option<Rest>,
}

/// Times in a queue between two listed times. Only automata with counters have them (`lazy/chain.rs`), and only while the time
/// before them is younger than its window; until then no step reads them.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub(super) struct Rest {
    /// The index of the listed time before them. At least two listed times follow them.
    pub(super) after: u32,
    pub(super) queue: u32,
}

impl Times {
    fn new(list: impl IntoIterator<Item = i128>) -> Times {
        Times {
            list: list.into_iter().collect(),
            rest: None,
        }
    }

    /// Returns the times without the first `n`.
    fn drop_first(&self, n: usize) -> Times {
        Times {
            list: self.list[n..].into(),
            rest: self.rest.map(|rest| Rest {
                after: rest.after.saturating_sub(n as u32),
                ..rest
            }),
        }
    }
}

/// The register set of a pair that has no registers.
pub(super) const NO_REGISTERS: u32 = 0;

/// Lists of register values, by number.
#[derive(Clone, Debug)]
pub(super) struct Lists {
    /// The number of the preceding list, and the last value. Number 0 is the empty list.
    table: IndexSet<(u32, Value), FxBuildHasher>,
}

impl Lists {
    pub(super) fn new() -> Self {
        Lists {
            table: IndexSet::from_iter([(0, Value::Count(u32::MAX))]),
        }
    }

    /// Returns the number of a list.
    pub(super) fn number(&mut self, values: &[Value]) -> u32 {
        values.iter().fold(NO_REGISTERS, |list, value| {
            self.table.insert_full((list, value.clone())).0 as u32
        })
    }

    /// Returns the values of a list.
    pub(super) fn values(&self, mut list: u32) -> Vec<Value> {
        let mut values = Vec::new();
        while list != NO_REGISTERS {
            let (before, value) = &self.table[list as usize];
            values.push(value.clone());
            list = *before;
        }
        values.reverse();
        values
    }
}

/// Appends to a list the first value where the other diagram is false and the second where it is true.
pub(super) struct Update<'a>(pub(super) &'a mut Lists, pub(super) [Value; 2]);

impl Combine for Update<'_> {
    const COMMUTES: bool = false;
    fn leaves(&mut self, list: u32, bit: u32, meter: &mut Meter) -> Result<u32, LimitError> {
        let (index, new) = self
            .0
            .table
            .insert_full((list, self.1[usize::from(bit == TRUE)].clone()));
        meter.grow(usize::from(new))?;
        Ok(index as u32)
    }
}

/// The value of a past operator at a position, before its letter is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Now {
    Known(bool),
    Same(NodeId),
    Either(NodeId, NodeId),
}

impl Register {
    /// Returns the value before anything is read.
    pub(super) fn zero(self) -> Value {
        match self {
            Register::Within { .. } => Value::Times(Times::default()),
            _ => Value::Count(0),
        }
    }

    /// Returns the current value of the operator. An absent register has the value before the first position.
    pub(super) fn now(self, old: Option<&Value>, time: i128) -> Now {
        let set = matches!(old, Some(Value::Count(1..)));
        match self {
            Register::Previous { .. } => Now::Known(set),
            Register::Since { lhs, rhs } if set => Now::Either(rhs, lhs),
            Register::Since { rhs, .. } => Now::Same(rhs),
            Register::Recent { .. } if set => Now::Known(true),
            Register::Recent { operand, .. } => Now::Same(operand),
            Register::Within { operand, window } => {
                let time = if window.timed { time } else { 0 };
                let range = far(time, window.hi)..=time.saturating_sub(window.lo);
                match old {
                    Some(Value::Times(times)) if times.list.iter().any(|t| range.contains(t)) => {
                        Now::Known(true)
                    }
                    _ if window.lo == 0 => Now::Same(operand),
                    _ => Now::Known(false),
                }
            }
        }
    }

    /// Returns the node whose value decides what the register becomes, or `None` if that is the operator itself.
    pub(super) fn input(self) -> Option<NodeId> {
        match self {
            Register::Since { .. } => None,
            Register::Previous { operand }
            | Register::Recent { operand, .. }
            | Register::Within { operand, .. } => Some(operand),
        }
    }

    /// Returns the next value of the register if its input is false, and if it is true.
    pub(super) fn next(self, old: Option<&Value>, time: i128) -> [Value; 2] {
        match self {
            Register::Previous { .. } | Register::Since { .. } => {
                [Value::Count(0), Value::Count(1)]
            }
            Register::Recent { span, .. } => {
                let left = if let Some(&Value::Count(left)) = old {
                    left
                } else {
                    0
                };
                [Value::Count(left.saturating_sub(1)), Value::Count(span)]
            }
            Register::Within { window, .. } => {
                let old = match old {
                    Some(Value::Times(times)) => times,
                    _ => &Times::default(),
                };
                let now = if window.timed { time } else { 0 };
                times(old, now, window.lo, window.hi).map(|kept| {
                    Value::Times(if window.timed {
                        kept
                    } else {
                        one_step_on(&kept, window)
                    })
                })
            }
        }
    }
}

/// Returns the distances relative to the next position. A distance inside an endless window is not changed; a distance that has
/// left its window is dropped.
fn one_step_on(kept: &Times, window: Window) -> Times {
    if window.hi == NEVER {
        let on = kept.list.iter().map(|back| (back - 1).max(-window.lo));
        return Times::new(on);
    }
    let n_old = kept.list.partition_point(|back| back - 1 < -window.hi);
    let mut kept = kept.drop_first(n_old);
    kept.list = kept.list.iter().map(|back| back - 1).collect();
    kept
}

/// Returns the earliest time of a window that reaches back `hi` from `time`.
fn far(time: i128, hi: i128) -> i128 {
    if hi == NEVER {
        i128::MIN
    } else {
        time.saturating_sub(hi)
    }
}

/// Returns the times to keep after `now`, without and with `now` itself, for a window from `lo` to `hi` back.
///
/// Of the times that are already in the window or too old for it, only the latest matters, because the far end of the window
/// never moves back. A younger time between two others that are at most `hi - lo` apart does not matter: a window that contains
/// it contains one of the two. So at most two times per `hi - lo` are kept.
fn times(old: &Times, now: i128, lo: i128, hi: i128) -> [Times; 2] {
    // Without an upper end, the earliest time is in the window whenever any time is.
    if hi == NEVER {
        let first = old.list.first().copied();
        return [first, first.or(Some(now))].map(Times::new);
    }
    let n_aged = old.list.partition_point(|&t| t <= now.saturating_sub(lo));
    let n_gone = old.list.partition_point(|&t| t < far(now, hi));
    let without = old.drop_first(n_aged.saturating_sub(1).max(n_gone));
    if lo == 0 {
        return [without, Times::new([now])];
    }
    let mut kept: Vec<i128> = without.list.to_vec();
    // Times are added one by one, so at most one earlier time is dropped per addition.
    while let [.., before, last] = kept[..]
        && (now.saturating_sub(before) <= hi - lo || last == now)
    {
        kept.pop();
    }
    if kept.last() != Some(&now) {
        kept.push(now);
    }
    let with = Times {
        list: kept.into(),
        rest: without.rest,
    };
    [without, with]
}
