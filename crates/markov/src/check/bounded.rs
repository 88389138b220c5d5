//! Step-bounded operators, by one average over the successors for each step.

use guard_automata::graph::NodeSet;

use super::super::scalar::{Estimate, Scalar};
use super::super::solve::{average, until_within};
use super::Checker;

impl<V: Scalar> Checker<'_, V> {
    /// Returns the probability of `left U<=steps right`, or of its negation if not `wanted`.
    ///
    /// # Limits
    /// As for [`until_within`].
    pub(super) fn bounded_until(
        &self,
        left: &NodeSet,
        right: &NodeSet,
        steps: u64,
        wanted: bool,
    ) -> Vec<V::Estimate> {
        until_within(self.chain, self.predecessors(), left, right, steps, wanted)
    }

    /// Prepends this many steps within `left` to `values`, the probabilities from then on. A run that leaves `left`
    /// earlier fails.
    pub(super) fn delay(
        &self,
        left: &NodeSet,
        steps: u64,
        wanted: bool,
        values: &mut [V::Estimate],
    ) {
        if steps == 0 {
            return;
        }
        let fails = V::Estimate::exact(if wanted { V::zero() } else { V::one() });
        let moving: Vec<u32> = left.ones().map(|state| state as u32).collect();
        // The first average reads the value of every state; a state outside `left` fails only if it is visited before
        // the last of these steps.
        let mut next: Vec<V::Estimate> = vec![fails.clone(); values.len()];
        for &state in &moving {
            next[state as usize] = average(self.chain, state, values);
        }
        values.clone_from_slice(&next);
        self.steps(&moving, steps - 1, values);
    }

    /// Replaces the values of some states simultaneously by the average over their successors, this many times; stops
    /// early if nothing changes.
    pub(super) fn steps(&self, moving: &[u32], steps: u64, values: &mut [V::Estimate]) {
        let mut next: Vec<V::Estimate> = Vec::with_capacity(moving.len());
        for _ in 0..steps {
            next.clear();
            next.extend(
                moving
                    .iter()
                    .map(|&state| average(self.chain, state, values)),
            );
            let mut changed = false;
            for (&state, value) in moving.iter().zip(next.drain(..)) {
                let old = &mut values[state as usize];
                changed |= old.lower() != value.lower() || old.upper() != value.upper();
                *old = value;
            }
            if !changed {
                break;
            }
        }
    }
}
