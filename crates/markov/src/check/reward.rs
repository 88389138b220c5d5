//! Expected rewards.

use std::borrow::Cow;

use guard_automata::graph::backward;

use super::super::chain::{Chain, Rewards};
use super::super::prism::expr::{Expr, Measure, Structure};
use super::super::scalar::{Estimate, Scalar};
use super::super::solve::{Problem, collected_within};
use super::super::text::{TextError, TextPosition};
use super::{Checked, Checker, Numbers, Truth};

/// Adds the errors of the rewards of visits to results that are proportional to them: that of a decimal, of the mean of those of a step
/// (probabilities, products and a compensated sum), of their sum with that of the state, and the common factor of a row, which changes the
/// number of visits before it is left.
pub(super) fn of_rewards<V: Scalar>(chain: &Chain<V>, values: &mut [V::Estimate]) {
    let units = 5.0 + 2.0 * chain.probability_units();
    for value in values.iter_mut().filter(|value| !value.is_exact()) {
        *value = value.clone().rounded(units);
    }
}

impl<V: Scalar> Checker<'_, V> {
    /// Returns the expected value of a measure, from each state.
    pub(super) fn reward(
        &self,
        structure: Option<&Structure>,
        measure: &Measure,
        place: TextPosition,
    ) -> Checked<Numbers<V>> {
        let rewards = self.structure(structure, place)?;
        match measure {
            Measure::Reach(of) => {
                let truth = self.truth(of)?;
                let earned = self.per_visit(&rewards);
                // A larger target means a smaller reward.
                self.both_ways(truth.is_exact(), |must| {
                    let target = if must { &truth.may } else { &truth.must };
                    self.reward_until(&earned, target)
                })
            }
            Measure::Total => self.total(&rewards),
            Measure::Cumulative(bound, strict) => {
                let steps = self.steps_of(bound, *strict)?;
                let earned = self.per_visit(&rewards);
                let mut values = collected_within(self.chain, self.predecessors(), &earned, steps);
                of_rewards(self.chain, &mut values);
                Ok(Numbers::new(values, false))
            }
            Measure::Instantaneous(bound) => {
                let steps = self.steps_of(bound, false)?;
                let mut values: Vec<V::Estimate> = (0..self.states())
                    .map(|state| {
                        let value = rewards.state.get(state).cloned();
                        V::Estimate::exact(value.unwrap_or(V::zero()))
                    })
                    .collect();
                let all: Vec<u32> = (0..self.states() as u32).collect();
                self.steps(&all, steps, &mut values);
                of_rewards(self.chain, &mut values);
                Ok(Numbers::new(values, false))
            }
            Measure::Steady => {
                let earned = self.per_visit(&rewards);
                self.long_run(&earned)
                    .map(|values| Numbers::new(values, false))
            }
        }
    }

    fn structure(
        &self,
        structure: Option<&Structure>,
        place: TextPosition,
    ) -> Checked<Cow<'_, Rewards<V>>> {
        let all = self.chain.rewards();
        let known = || {
            let names: Vec<String> = all
                .iter()
                .map(|rewards| format!("\"{}\"", rewards.name))
                .collect();
            format!("reward structures of this model: {}", names.join(", "))
        };
        let found = match structure {
            None if all.is_empty() => {
                return Err(TextError::new(place, "the model has no rewards").into());
            }
            Some(Structure::Steps) => {
                return Ok(Cow::Owned(Rewards {
                    name: String::new(),
                    state: vec![V::one(); self.states()],
                    step: Vec::new(),
                }));
            }
            None => Some(0),
            Some(Structure::Index(index)) => usize::try_from(*index)
                .ok()
                .and_then(|index| index.checked_sub(1))
                .filter(|&index| index < all.len()),
            Some(Structure::Name(name)) => all.iter().position(|rewards| rewards.name == *name),
        };
        let found = found.and_then(|index| all.get(index)).map(Cow::Borrowed);
        found.ok_or_else(|| {
            let which = match structure {
                Some(Structure::Name(name)) => format!("\"{name}\""),
                Some(Structure::Index(index)) => index.to_string(),
                Some(Structure::Steps) | None => String::new(),
            };
            let wrong = TextError::new(place, format!("unknown reward structure {which}"));
            if all.is_empty() {
                wrong.help("the model has no rewards").into()
            } else {
                wrong.help(known()).into()
            }
        })
    }

    fn steps_of(&self, bound: &Expr, strict: bool) -> Checked<u64> {
        let steps = self.scope.int_value(bound, "a number of steps")?;
        let steps = steps.saturating_sub(i64::from(strict));
        u64::try_from(steps)
            .map_err(|_| TextError::new(bound.place, "a number of steps cannot be negative").into())
    }

    /// Returns the expected reward of each step from a state: its state reward plus its mean transition reward.
    pub(super) fn per_visit(&self, rewards: &Rewards<V>) -> Vec<V> {
        (0..self.states())
            .map(|state| {
                let own = rewards.state.get(state);
                match (own, rewards.step.get(state)) {
                    (Some(own), Some(step)) => own.plus(step),
                    (Some(one), None) | (None, Some(one)) => one.clone(),
                    (None, None) => V::zero(),
                }
            })
            .collect()
    }

    /// Returns the expected reward until a set is reached; infinite if reaching it is not certain.
    pub(super) fn reward_until(
        &self,
        earned: &[V],
        target: &guard_automata::graph::NodeSet,
    ) -> Checked<Numbers<V>> {
        let before = self.predecessors();
        // Reaching the target is not certain if a path that avoids it leads to a state from which it is unreachable.
        let mut never = backward(before, target, None);
        never.toggle_range(..);
        let mut open = target.clone();
        open.toggle_range(..);
        let infinite = backward(before, &never, Some(&open));
        let mut unknown = open;
        unknown.difference_with(&infinite);
        let mut values = vec![V::Estimate::exact(V::zero()); self.states()];
        let problem = Problem {
            chain: self.chain,
            unknown: &unknown,
            reward: earned,
            trapped: V::zero(),
            factors: &self.factors,
        };
        self.solve(&problem, &mut values);
        of_rewards(self.chain, &mut values);
        let mut numbers = Numbers::new(values, false);
        numbers.infinite = infinite;
        Ok(numbers)
    }

    /// Returns the expected total reward; infinite if a bottom component with a reward is reachable.
    fn total(&self, rewards: &Rewards<V>) -> Checked<Numbers<V>> {
        let earned = self.per_visit(rewards);
        let graph = self.chain.graph();
        let found = guard_automata::graph::components(graph, None);
        let (mut rich, mut poor) = (graph.none(), graph.none());
        for component in guard_automata::graph::bottom(graph, &found) {
            let members = found.members(component);
            let earns = members
                .iter()
                .any(|&state| !earned[state as usize].is_zero());
            let set = if earns { &mut rich } else { &mut poor };
            set.extend(members.iter().map(|&state| state as usize));
        }
        let infinite = backward(self.predecessors(), &rich, None);
        let mut unknown = graph.all();
        unknown.difference_with(&infinite);
        unknown.difference_with(&poor);
        let mut values = vec![V::Estimate::exact(V::zero()); self.states()];
        let problem = Problem {
            chain: self.chain,
            unknown: &unknown,
            reward: &earned,
            trapped: V::zero(),
            factors: &self.factors,
        };
        self.solve(&problem, &mut values);
        of_rewards(self.chain, &mut values);
        let mut numbers = Numbers::new(values, false);
        numbers.infinite = infinite;
        Ok(numbers)
    }

    /// Returns a reward of 1 in the states of a truth set and 0 elsewhere.
    pub(super) fn indicator_reward(&self, truth: &Truth, must: bool) -> Vec<V> {
        let set = if must { &truth.must } else { &truth.may };
        (0..self.states())
            .map(|state| {
                if set.contains(state) {
                    V::one()
                } else {
                    V::zero()
                }
            })
            .collect()
    }
}
