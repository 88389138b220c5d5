//! Numbers packed states by a hash table that stores only the numbers.

use super::super::valuation::Valuations;

const FREE: u32 = u32::MAX;

/// Maps each state to its number. The states themselves are in the [`Valuations`].
///
/// # Shape
/// Open addressing with linear probing, between an eighth and half full after the first growth: 8 to 32 bytes per
/// state.
#[derive(Debug)]
pub(super) struct StateTable {
    slots: Vec<u32>,
    used: usize,
}

impl StateTable {
    pub(super) fn new() -> StateTable {
        StateTable {
            slots: vec![FREE; 1 << 10],
            used: 0,
        }
    }

    /// Returns the number of a state and whether the state is new; adds new states to `states`.
    pub(super) fn number(&mut self, states: &mut Valuations, state: &[u64]) -> (u32, bool) {
        if self.used * 2 >= self.slots.len() {
            self.grow(states);
        }
        let mask = self.slots.len() - 1;
        let mut at = hash(state) as usize & mask;
        loop {
            let number = self.slots[at];
            if number == FREE {
                let number = states.len() as u32;
                states.push(state);
                self.slots[at] = number;
                self.used += 1;
                return (number, true);
            }
            if states.state(number) == state {
                return (number, false);
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self, states: &Valuations) {
        let size = self.slots.len() * 4;
        let mut slots = vec![FREE; size];
        for number in 0..states.len() as u32 {
            let mut at = hash(states.state(number)) as usize & (size - 1);
            while slots[at] != FREE {
                at = (at + 1) & (size - 1);
            }
            slots[at] = number;
        }
        self.slots = slots;
    }
}

/// Returns a multiplicative hash whose low bits depend on all bits.
fn hash(state: &[u64]) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15u64;
    for word in state {
        hash = (hash ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^= hash >> 32;
    }
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 29)
}
