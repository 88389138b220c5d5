//! Bounds on reachability probabilities, over all rows that the sets allow.
//!
//! The least fixpoint of the robust operator is approached from below, so the iterate is always a lower bound. An upper bound
//! is guessed slightly above it and accepted if the operator does not increase it in any state; by Park's lemma the least
//! fixpoint is then below it. A required margin covers rounding.

use guard_automata::graph::{NodeSet, backward};

use super::UncertainChain;

/// Bounds by state.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// A lower bound over all choices of rows.
    pub lower: Vec<f64>,
    /// An upper bound over all choices of rows.
    pub upper: Vec<f64>,
}

impl Bounds {
    /// Returns bounds on the probability of the complement.
    pub fn complement(self) -> Bounds {
        // Widened by more than the rounding of the difference.
        let less = |value: f64, by: f64| {
            if value == 0.0 || value == 1.0 {
                1.0 - value
            } else {
                (1.0 - value + by).clamp(0.0, 1.0)
            }
        };
        Bounds {
            lower: self.upper.iter().map(|at| less(*at, -MARGIN)).collect(),
            upper: self.lower.iter().map(|at| less(*at, MARGIN)).collect(),
        }
    }
}

impl UncertainChain {
    /// Returns the bounds one step earlier, for each state.
    pub fn one_step_before(&self, bounds: &Bounds) -> Bounds {
        let moving: Vec<u32> = (0..self.len() as u32).collect();
        let image = |values: &[f64], largest: bool| {
            let operator = Operator {
                chain: self,
                moving: &moving,
                largest,
            };
            let margin = if largest { MARGIN } else { -MARGIN };
            let mut image = operator.image(values);
            for value in &mut image {
                if *value != 0.0 && *value != 1.0 {
                    *value = (*value + margin).clamp(0.0, 1.0);
                }
            }
            image
        };
        Bounds {
            lower: image(&bounds.lower, false),
            upper: image(&bounds.upper, true),
        }
    }
}

impl UncertainChain {
    /// Returns the bounds `steps` steps earlier, if until then the run stays in the states of `must`, for the lower bounds, or of
    /// `may`, for the upper ones. If the bounds still change after as many steps as are computed, they are 0 and 1.
    pub fn steps_before(&self, bounds: Bounds, steps: u64, stays: (&NodeSet, &NodeSet)) -> Bounds {
        let earlier = |mut values: Vec<f64>, stay: &NodeSet, largest: bool| {
            let moving: Vec<u32> = stay.ones().map(|state| state as u32).collect();
            let operator = Operator {
                chain: self,
                moving: &moving,
                largest,
            };
            for step in 0..steps {
                let mut next = operator.image(&values);
                for (state, value) in next.iter_mut().enumerate() {
                    if !stay.contains(state) {
                        *value = 0.0;
                    }
                }
                if settled(&values, &next) {
                    break;
                }
                values = next;
                if step + 1 < steps && step >= self.most_rounds() {
                    return vec![f64::from(u8::from(largest)); values.len()];
                }
            }
            // No step increases the distance of two results, so that each adds its own change and rounding only.
            let error = MARGIN * steps as f64 * if largest { 1.0 } else { -1.0 };
            for value in &mut values {
                if *value != 0.0 && *value != 1.0 {
                    *value = (*value + error).clamp(0.0, 1.0);
                }
            }
            values
        };
        Bounds {
            lower: earlier(bounds.lower, stays.0, false),
            upper: earlier(bounds.upper, stays.1, true),
        }
    }

    /// Returns the number of steps after which a bound on steps is no longer followed.
    fn most_rounds(&self) -> u64 {
        MOST_UPDATES / (self.graph().edge_count() as u64).max(1)
    }
}

/// The bound on the number of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// At most this many steps.
    AtMost(u64),
    /// Any number of steps.
    Unbounded,
}

/// Exceeds the rounding of an average.
const MARGIN: f64 = 1e-13;

/// The largest number of transitions that are followed for a bound on steps; some seconds.
const MOST_UPDATES: u64 = 100_000_000;

/// The largest number of rounds of the search for an upper bound.
const MAX_ROUNDS: usize = 60;

/// Returns bounds on the probability of `left U right`, over all choices of rows.
///
/// For bounded steps the rows may be chosen anew at each step, which gives outer bounds for fixed rows.
///
/// # Accuracy
/// `precision` is the initial relative distance of the guess from the iterate. If no guess is accepted, the upper bound is 1.
pub fn robust_until(
    chain: &UncertainChain,
    left: &NodeSet,
    right: &NodeSet,
    steps: Steps,
    precision: f64,
) -> Bounds {
    let reach = backward(&chain.graph().reversed(), right, Some(left));
    let moving: Vec<u32> = (0..chain.len() as u32)
        .filter(|&state| reach.contains(state as usize) && !right.contains(state as usize))
        .collect();
    let bound = |largest: bool| {
        let mut values = vec![0.0; chain.len()];
        for state in right.ones() {
            values[state] = 1.0;
        }
        let operator = Operator {
            chain,
            moving: &moving,
            largest,
        };
        match steps {
            Steps::AtMost(count) => {
                let most = chain.most_rounds().min(count);
                let mut done = 0;
                let mut same = false;
                while done < most && !same {
                    let next = operator.image(&values);
                    same = settled(&values, &next);
                    values = next;
                    done += 1;
                }
                // The values rise with the number of steps: those of fewer steps are lower bounds, and those of any number of steps
                // are upper bounds.
                let error = MARGIN * (count as f64 + 1.0);
                if largest && ((done < count && !same) || error > precision) {
                    return operator.fixpoint(values, precision);
                }
                let error = if largest {
                    error
                } else {
                    MARGIN * (done as f64 + 1.0)
                };
                for &state in &moving {
                    let value = &mut values[state as usize];
                    *value = if largest {
                        (*value + error).min(1.0)
                    } else {
                        (*value - error).max(0.0)
                    };
                }
                values
            }
            Steps::Unbounded => operator.fixpoint(values, precision),
        }
    };
    Bounds {
        lower: bound(false),
        upper: bound(true),
    }
}

/// Whether a step changes so little that the margin of each further step covers it.
fn settled(before: &[f64], after: &[f64]) -> bool {
    let mut pairs = before.iter().zip(after);
    pairs.all(|(before, after)| (before - after).abs() <= MARGIN / 8.0)
}

struct Operator<'a> {
    chain: &'a UncertainChain,
    moving: &'a [u32],
    largest: bool,
}

impl Operator<'_> {
    fn at(&self, state: u32, values: &[f64], scratch: &mut Vec<f64>) -> f64 {
        scratch.clear();
        scratch.extend(
            self.chain
                .graph()
                .successors(state)
                .iter()
                .map(|target| values[*target as usize]),
        );
        self.chain
            .row(state)
            .extreme(scratch, self.largest)
            .clamp(0.0, 1.0)
    }

    fn image(&self, values: &[f64]) -> Vec<f64> {
        let mut next = values.to_vec();
        let mut scratch = Vec::new();
        for &state in self.moving {
            next[state as usize] = self.at(state, values, &mut scratch);
        }
        next
    }

    /// Iterates from below until the relative change is at most `tolerance`. Up to rounding, the iterate never exceeds
    /// the least fixpoint.
    fn rise(&self, values: &mut [f64], tolerance: f64) {
        let mut scratch = Vec::new();
        for _ in 0..2_000_000 {
            let mut change = 0.0f64;
            for &state in self.moving.iter().rev() {
                let next = self.at(state, values, &mut scratch);
                let value = &mut values[state as usize];
                if next > *value {
                    change = change.max((next - *value) / next);
                    *value = next;
                }
            }
            if change <= tolerance {
                break;
            }
        }
    }

    fn fixpoint(&self, mut values: Vec<f64>, precision: f64) -> Vec<f64> {
        let mut tolerance = precision * 1e-3;
        for _ in 0..MAX_ROUNDS {
            self.rise(&mut values, tolerance);
            if !self.largest {
                // An iterate from below is always sound; this subtracts what rounding may have added.
                for &state in self.moving {
                    let value = &mut values[state as usize];
                    *value = (*value * (1.0 - 1e-9) - MARGIN).max(0.0);
                }
                return values;
            }
            let mut guess = values.clone();
            for &state in self.moving {
                let value = &mut guess[state as usize];
                *value = (*value * (1.0 + precision) + precision * 1e-3).min(1.0);
            }
            for _ in 0..200 {
                let next = self.image(&guess);
                let inductive = self.moving.iter().all(|&state| {
                    let (new, old) = (next[state as usize], guess[state as usize]);
                    new + MARGIN <= old || old == 1.0
                });
                if inductive {
                    return next
                        .iter()
                        .map(|value| {
                            if *value > 0.0 {
                                (value + MARGIN).min(1.0)
                            } else {
                                0.0
                            }
                        })
                        .collect();
                }
                for &state in self.moving {
                    let value = &mut guess[state as usize];
                    *value = value.min(next[state as usize] + 2.0 * MARGIN);
                }
            }
            tolerance *= 0.1;
            if tolerance < 1e-17 {
                break;
            }
        }
        for &state in self.moving {
            values[state as usize] = 1.0;
        }
        values
    }
}
