//! Long-run averages.
//!
//! In a bottom component the average reward per step is, by the renewal theorem, the expected reward of one round trip from any
//! of its states divided by the expected length of the trip. Both are rewards until that state is reached again, so the same
//! solver computes them without subtraction, and periods do not matter. From other states the averages are weighted with the
//! probability of ending in each component, by one more solve with the averages as boundary values.

use super::super::scalar::{Estimate, Scalar};
use super::super::solve::{Problem, average};
use super::reward::of_rewards;
use super::{Checked, Checker, Numbers, Truth};

impl<V: Scalar> Checker<'_, V> {
    /// Returns the long-run fraction of steps in states where a formula holds.
    pub(super) fn steady(&self, truth: &Truth) -> Checked<Numbers<V>> {
        self.both_ways(truth.is_exact(), |must| {
            let reward = self.indicator_reward(truth, must);
            Ok(Numbers::new(self.long_run(&reward)?, true))
        })
    }

    /// Returns the long-run average of a reward per step, from each state.
    pub(super) fn long_run(&self, earned: &[V]) -> Checked<Vec<V::Estimate>> {
        let graph = self.chain.graph();
        let found = guard_automata::graph::components(graph, None);
        let mut values = vec![V::Estimate::exact(V::zero()); self.states()];
        let mut unknown = graph.all();
        let ones = vec![V::one(); self.states()];
        let mut scratch = values.clone();
        for component in guard_automata::graph::bottom(graph, &found) {
            let members = found.members(component);
            let mean = self.component_average(members, earned, &ones, &mut scratch)?;
            for &state in members {
                unknown.set(state as usize, false);
                values[state as usize] = mean.clone();
            }
        }
        let problem = Problem {
            chain: self.chain,
            unknown: &unknown,
            reward: &[],
            trapped: V::zero(),
            factors: &self.factors,
        };
        self.solve(&problem, &mut values);
        Ok(values)
    }

    fn component_average(
        &self,
        members: &[u32],
        earned: &[V],
        ones: &[V],
        scratch: &mut [V::Estimate],
    ) -> Checked<V::Estimate> {
        let first = &earned[members[0] as usize];
        // The reward is the same in all states, so the average is known exactly.
        if members
            .iter()
            .all(|&state| earned[state as usize] == *first)
        {
            return Ok(V::Estimate::exact(first.clone()));
        }
        let home = members[0];
        let mut unknown = self.chain.graph().none();
        unknown.extend(members[1..].iter().map(|&state| state as usize));
        let mut trip = |reward: &[V]| -> Checked<V::Estimate> {
            scratch[home as usize] = V::Estimate::exact(V::zero());
            let problem = Problem {
                chain: self.chain,
                unknown: &unknown,
                reward,
                trapped: V::zero(),
                factors: &self.factors,
            };
            self.solve(&problem, scratch);
            let mut total = average(self.chain, home, scratch);
            total.accumulate(&reward[home as usize], &V::Estimate::exact(V::one()));
            let mut total = [total.rounded(2.0)];
            of_rewards(self.chain, &mut total);
            let [total] = total;
            Ok(total)
        };
        let (reward, length) = (trip(earned)?, trip(ones)?);
        Ok(quotient::<V>(&reward, &length))
    }
}

/// Returns the quotient of two estimates; the divisor must not be 0.
pub(super) fn quotient<V: Scalar>(over: &V::Estimate, under: &V::Estimate) -> V::Estimate {
    if over.is_zero() {
        return V::Estimate::exact(V::zero());
    }
    if V::EXACT {
        return V::Estimate::exact(over.value().over(under.value()));
    }
    let (over_low, over_high) = (over.lower().to_f64(), over.upper().to_f64());
    let (under_low, under_high) = (under.lower().to_f64(), under.upper().to_f64());
    let (low, high) = (over_low / under_high, over_high / under_low);
    // Keeps the quotient of the values: the midpoint of a wide interval is a worse estimate.
    let value = over.value().to_f64() / under.value().to_f64();
    let error = (high - value).max(value - low);
    V::Estimate::exact(V::from_f64(value))
        .widened(error)
        .rounded(4.0)
}
