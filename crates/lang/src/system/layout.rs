//! The layout of packed states: each variable is stored as the position of its value, in as few bits as possible.

use crate::hir::system::{Domain, DomainKind};
use crate::hir::{Spec, StateVar};
use crate::ids::StateVarId;
use crate::value::Value;

/// The number that encodes null in calculations.
pub(super) const NULL: i64 = i64::MIN;

/// The position of the value of a variable in a packed state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Index of the word.
    pub(super) word: usize,
    /// The lowest bit.
    pub(super) shift: u32,
    /// The bits of the word that belong to the variable.
    pub(super) mask: u64,
    /// The number of values.
    pub(super) len: u64,
    /// The number of the first value that is not null.
    base: i64,
    nullable: bool,
}

/// The variables of a system, packed.
#[derive(Clone, Debug)]
pub struct Layout {
    vars: Vec<StateVarId>,
    slots: Vec<Slot>,
    names: Vec<String>,
    domains: Vec<Domain>,
    words: usize,
}

impl Slot {
    fn new(domain: &Domain, word: usize, shift: u32, bits: u32) -> Slot {
        let ones = 1u64.checked_shl(bits).map_or(u64::MAX, |bit| bit - 1);
        let base = match domain.kind {
            DomainKind::Int(low, _) => low,
            DomainKind::Bool | DomainKind::Enum(..) => 0,
        };
        Slot {
            word,
            shift,
            mask: ones << shift,
            len: domain.len(),
            base,
            nullable: domain.nullable,
        }
    }

    /// Returns the position of the value.
    #[inline]
    pub(super) fn index(self, state: &[u64]) -> u64 {
        (state[self.word] & self.mask) >> self.shift
    }

    /// Returns the value as a number: for an enum its position, for a Boolean 0 or 1.
    #[inline]
    pub(super) fn get(self, state: &[u64]) -> i64 {
        self.number(self.index(state))
    }

    /// Returns the number at a position.
    #[inline]
    pub(super) fn number(self, index: u64) -> i64 {
        match (self.nullable, index) {
            (true, 0) => NULL,
            (true, _) => self.base + (index - 1) as i64,
            (false, _) => self.base + index as i64,
        }
    }

    /// Returns the position of a number, or `None` if the variable cannot have it.
    #[inline]
    pub(super) fn position(self, number: i64) -> Option<u64> {
        if number == NULL {
            return self.nullable.then_some(0);
        }
        let index = u64::try_from(number.checked_sub(self.base)?).ok()? + u64::from(self.nullable);
        (index < self.len).then_some(index)
    }

    /// Stores the value at a position.
    #[inline]
    pub(super) fn set(self, state: &mut [u64], index: u64) {
        state[self.word] = state[self.word] & !self.mask | index << self.shift;
    }
}

impl Layout {
    /// Creates the layout of these variables. A name that two of them share is prefixed by the name of its system.
    pub(super) fn new(spec: &Spec, vars: Vec<StateVarId>) -> Layout {
        let declared: Vec<&StateVar> = vars.iter().map(|var| spec.state_var(*var)).collect();
        let names = declared
            .iter()
            .map(|var| {
                let shared = declared
                    .iter()
                    .filter(|other| other.name == var.name)
                    .count()
                    > 1;
                match shared {
                    true => format!("{}.{}", spec.system(var.owner).name, var.name),
                    false => var.name.to_string(),
                }
            })
            .collect();
        let (mut word, mut shift) = (0, 0);
        let mut slots = Vec::with_capacity(vars.len());
        for var in &declared {
            let bits = (64 - var.domain.len().saturating_sub(1).leading_zeros()).max(1);
            if shift + bits > 64 {
                word += 1;
                shift = 0;
            }
            slots.push(Slot::new(&var.domain, word, shift, bits));
            shift += bits;
        }
        Layout {
            domains: declared.iter().map(|var| var.domain.clone()).collect(),
            vars,
            slots,
            names,
            words: word + 1,
        }
    }

    /// Returns the words of a packed state.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Returns the variables, in order.
    pub fn vars(&self) -> &[StateVarId] {
        &self.vars
    }

    /// Returns the names of the variables, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    pub(super) fn slot(&self, var: StateVarId) -> Option<Slot> {
        let at = self.vars.iter().position(|other| *other == var)?;
        self.slots.get(at).copied()
    }

    /// Returns the values of the variables in a state, in order.
    pub fn values(&self, state: &[u64]) -> Vec<Value> {
        let slots = self.slots.iter().zip(&self.domains);
        slots
            .map(|(slot, domain)| domain.value(slot.index(state)).unwrap_or_default())
            .collect()
    }

    /// Returns the number of valuations of the variables, or `None` beyond 2^128.
    pub fn space(&self) -> Option<u128> {
        self.slots
            .iter()
            .try_fold(1u128, |space, slot| space.checked_mul(u128::from(slot.len)))
    }
}
