//! The variables that compiled expressions read, and values that are kept by these.

use rustc_hash::FxHashMap;

use super::super::valuation::Slot;
use super::code::{BoolCode, IntCode, RealCode};

/// The greatest number of values of one expression that are kept.
const MOST: usize = 1 << 16;

/// The values of an expression with fractions, by the values of the variables that it reads: to build `nand` with 40 inputs and to find the
/// states of `z/N<0.1` took twice as long when each state computed its fractions anew.
#[derive(Debug)]
pub(super) struct Kept<T> {
    slots: Vec<Slot>,
    known: FxHashMap<Box<[i64]>, T>,
}

impl<T: Clone> Kept<T> {
    /// Creates an empty table for an expression that calls its argument with the variables that it reads.
    pub(super) fn new(reads: impl FnOnce(&mut dyn FnMut(Slot))) -> Kept<T> {
        let mut slots: Vec<Slot> = Vec::new();
        reads(&mut |slot| {
            if !slots.contains(&slot) {
                slots.push(slot);
            }
        });
        Kept {
            slots,
            known: FxHashMap::default(),
        }
    }

    /// Returns the value in a state, computed by `eval` if it is not known.
    pub(super) fn get<E>(
        &mut self,
        state: &[u64],
        eval: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let values: Box<[i64]> = self.slots.iter().map(|slot| slot.get(state)).collect();
        if let Some(known) = self.known.get(&values) {
            return Ok(known.clone());
        }
        let value = eval()?;
        if self.known.len() < MOST {
            self.known.insert(values, value.clone());
        }
        Ok(value)
    }
}

impl BoolCode {
    /// Whether fractions are compared.
    pub(super) fn has_fractions(&self) -> bool {
        match self {
            BoolCode::Reals(..) => true,
            BoolCode::Const(_) | BoolCode::Variable(_) | BoolCode::Is(..) | BoolCode::Ints(..) => {
                false
            }
            BoolCode::Not(of) => of.has_fractions(),
            BoolCode::And(parts) | BoolCode::Or(parts) => parts.iter().any(BoolCode::has_fractions),
            BoolCode::Iff(left, right) => left.has_fractions() || right.has_fractions(),
            BoolCode::If(condition, yes, no) => [condition, yes, no]
                .into_iter()
                .any(|part| part.has_fractions()),
        }
    }

    /// Calls `each` with the variables of the expression, which may be repeated.
    pub(super) fn reads(&self, each: &mut dyn FnMut(Slot)) {
        match self {
            BoolCode::Const(_) => {}
            BoolCode::Variable(slot) | BoolCode::Is(slot, ..) => each(*slot),
            BoolCode::Not(of) => of.reads(each),
            BoolCode::And(parts) | BoolCode::Or(parts) => {
                parts.iter().for_each(|part| part.reads(each));
            }
            BoolCode::Iff(left, right) => {
                left.reads(each);
                right.reads(each);
            }
            BoolCode::Ints(_, left, right) => {
                left.reads(each);
                right.reads(each);
            }
            BoolCode::Reals(_, left, right) => {
                left.reads(each);
                right.reads(each);
            }
            BoolCode::If(condition, yes, no) => {
                condition.reads(each);
                yes.reads(each);
                no.reads(each);
            }
        }
    }
}

impl IntCode {
    fn reads(&self, each: &mut dyn FnMut(Slot)) {
        match self {
            IntCode::Const(_) => {}
            IntCode::Variable(slot) => each(*slot),
            IntCode::Minus(of) => of.reads(each),
            IntCode::Add(left, right)
            | IntCode::Subtract(left, right)
            | IntCode::Multiply(left, right)
            | IntCode::Power(left, right)
            | IntCode::Modulo(left, right) => {
                left.reads(each);
                right.reads(each);
            }
            IntCode::Min(parts) | IntCode::Max(parts) => {
                parts.iter().for_each(|part| part.reads(each));
            }
            IntCode::Floor(of) | IntCode::Ceiling(of) | IntCode::Round(of) => of.reads(each),
            IntCode::If(condition, yes, no) => {
                condition.reads(each);
                yes.reads(each);
                no.reads(each);
            }
        }
    }
}

impl RealCode {
    /// Calls `each` with the variables of the expression, which may be repeated.
    pub(super) fn reads(&self, each: &mut dyn FnMut(Slot)) {
        match self {
            RealCode::Const(_) => {}
            RealCode::Int(of) => of.reads(each),
            RealCode::Minus(of) => of.reads(each),
            RealCode::Add(left, right)
            | RealCode::Subtract(left, right)
            | RealCode::Multiply(left, right)
            | RealCode::Divide(left, right)
            | RealCode::Power(left, right, _)
            | RealCode::Logarithm(left, right) => {
                left.reads(each);
                right.reads(each);
            }
            RealCode::Min(parts) | RealCode::Max(parts) => {
                parts.iter().for_each(|part| part.reads(each));
            }
            RealCode::If(condition, yes, no) => {
                condition.reads(each);
                yes.reads(each);
                no.reads(each);
            }
        }
    }
}
