//! Explanations of the probability of reaching a set: the successors, the states before the last step, the likeliest paths, the
//! distribution over steps, and the rows with the greatest influence.
//!
//! The results explain a number that the [checker](super::Checker) proves; they are plain doubles with a precision of about ten
//! digits.
//!
//! # Source
//! J. Kemeny, J. Snell, "Finite Markov Chains", 1960, chapter 3, for the fundamental matrix `N`; T. Han, J.-P. Katoen, B.
//! Damman, "Counterexample generation in probabilistic model checking", IEEE TSE 35(2), 2009, for most probable paths as
//! shortest paths, where the length of an edge is its negative logarithm.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::analysis::reached;
use super::chain::Chain;
use super::scalar::{Estimate, Scalar};
use super::solve::{Accuracy, Factors, NotConverged};
use guard_automata::graph::{NodeSet, backward, components};

/// A set to reach, and the states through which runs may reach it.
#[derive(Clone, Debug)]
pub struct Goal {
    /// The states in which the run continues; in all others it ends.
    pub open: NodeSet,
    /// The states in which the set is reached.
    pub target: NodeSet,
    /// The largest number of steps; `None` if unlimited.
    pub horizon: Option<u64>,
}

/// The contribution of a successor.
#[derive(Clone, Debug, PartialEq)]
pub struct Contribution {
    /// The successor.
    pub state: u32,
    /// The fraction of the probability; all fractions sum to 1.
    pub share: f64,
    /// The probability from the successor on.
    pub risk: f64,
}

/// The contribution of the last state before the set.
#[derive(Clone, Debug, PartialEq)]
pub struct Jump {
    /// The last state before the set.
    pub from: u32,
    /// The probability of entering the set from this state; these sum to the probability of reaching it.
    pub probability: f64,
}

/// A path and its probability.
#[derive(Clone, Debug, PartialEq)]
pub struct LikelyPath {
    /// The states of the path. Without a horizon, self-loops are omitted.
    pub states: Vec<u32>,
    /// The probability of the path; without a horizon it includes any number of self-loops.
    pub probability: f64,
}

/// The sensitivity of the probability to shifting a row towards one of its transitions, from `P(u,·)` to `(1 - ε) P(u,·)` plus
/// `ε` at `t`.
#[derive(Clone, Debug, PartialEq)]
pub struct Lever {
    /// The source of the transition.
    pub from: u32,
    /// The target of the transition.
    pub to: u32,
    /// The derivative with respect to `ε`.
    pub derivative: f64,
}

/// An explanation of the probability of reaching a set.
#[derive(Clone, Debug)]
pub struct Why {
    /// The probability.
    pub risk: f64,
    /// The contributions of the successors, the largest share first.
    pub next: Vec<Contribution>,
    /// The contributions of the last states before the set, the largest first.
    pub jumps: Vec<Jump>,
    /// The mean number of steps until the set is reached, among the runs that reach it; `None` if the probability is 0.
    pub steps: Option<f64>,
    /// The sensitivities to the transitions, the largest absolute value first: the most effective changes.
    pub levers: Vec<Lever>,
    /// The fraction of the variance that each state's row contributes, the largest first: where further observations help most.
    /// Empty without counts.
    pub doubt: Vec<(u32, f64)>,
}

/// Within a horizon, the largest number of stored values; beyond it, `levers` and `doubt` stay empty.
const MOST_NUMBERS: u64 = 50_000_000;

/// The largest number of entries in the search for paths.
const MOST_TRIED: usize = 2_000_000;

/// The largest number of sweeps over one component.
const MOST_SWEEPS: usize = 1_000_000;

/// The largest number of steps times transitions for which a variance within a horizon is computed; some seconds.
const MOST_UPDATES: u64 = 100_000_000;

impl Goal {
    /// Returns the goal of reaching `target` without further conditions.
    pub fn reach(target: NodeSet) -> Goal {
        let mut open = target.clone();
        open.toggle_range(..);
        Goal {
            open,
            target,
            horizon: None,
        }
    }

    /// Explains the probability of reaching the goal from `from`. The run continues there, whether that state is open
    /// or not. `exits` is the number of observations of each row; empty for a chain that is known exactly.
    ///
    /// # Errors
    /// [`NotConverged`].
    ///
    /// # Limits
    /// Within a horizon of `h` steps, `O(h · m)` for `m` transitions.
    pub fn why<V: Scalar>(
        &self,
        chain: &Chain<V>,
        from: u32,
        exits: &[u64],
        accuracy: &Accuracy,
    ) -> Result<Why, NotConverged> {
        let rows = Rows::new(chain, self, from);
        let mut why = match self.horizon {
            None => {
                let values = self.values(chain, accuracy)?;
                let visits = rows.visits(from);
                rows.forever(from, &visits, &values, exits)
            }
            Some(steps) => rows.within(from, steps, exits),
        };
        let first = |one: &(f64, u32, u32), other: &(f64, u32, u32)| {
            other
                .0
                .total_cmp(&one.0)
                .then((one.1, one.2).cmp(&(other.1, other.2)))
        };
        why.next
            .sort_by(|a, b| first(&(a.share, a.state, 0), &(b.share, b.state, 0)));
        why.jumps
            .sort_by(|a, b| first(&(a.probability, a.from, 0), &(b.probability, b.from, 0)));
        why.levers.sort_by(|a, b| {
            first(
                &(a.derivative.abs(), a.from, a.to),
                &(b.derivative.abs(), b.from, b.to),
            )
        });
        why.doubt
            .sort_by(|a, b| first(&(a.1, a.0, 0), &(b.1, b.0, 0)));
        Ok(why)
    }

    /// Returns the expected number of visits to each state from one state on, before the run ends or can no longer
    /// reach the goal: a row of the fundamental matrix. Ignores the horizon.
    pub fn visits<V: Scalar>(&self, chain: &Chain<V>, from: u32) -> Vec<f64> {
        Rows::new(chain, self, from).visits(from)
    }

    /// Returns the probability from a state on, and the asymptotic variance of its estimate from counted transitions. `row`
    /// maps each state to its counted row, since a product contains rows several times, and `exits` is the number of
    /// observations of each row. Returns `None` if the probability is 0 or depends on a row without observations, or if the
    /// horizon is too far for the size of the chain.
    ///
    /// Given the state, the next step is independent of all previous steps in any run. The frequencies of a row therefore have
    /// the variance of as many draws as the row has exits, and different rows are uncorrelated (P. Billingsley, "Statistical
    /// methods in Markov chains", Ann. Math. Stat. 32, 1961). By the delta method each row adds the variance of its
    /// derivatives, divided by its exits. For reachability without a horizon in `n` complete runs these sum to `x (1 - x) / n`:
    /// the unit is a run of any length.
    ///
    /// # Errors
    /// [`NotConverged`].
    pub fn variance<V: Scalar>(
        &self,
        chain: &Chain<V>,
        from: u32,
        row: &dyn Fn(u32) -> u32,
        exits: &[u64],
        accuracy: &Accuracy,
    ) -> Result<Option<(f64, f64)>, NotConverged> {
        let transitions = chain.graph().edge_count() as u64;
        if let Some(steps) = self.horizon
            && steps.saturating_mul(transitions) > MOST_UPDATES
        {
            return Ok(None);
        }
        let why = self.why(chain, from, &[], accuracy)?;
        let mut derivatives: FxHashMap<(u32, u32), (f64, f64)> = FxHashMap::default();
        for lever in &why.levers {
            let key = (row(lever.from), row(lever.to));
            let sum = derivatives.entry(key).or_default();
            let weight = chain.row(lever.from).find(|entry| entry.0 == lever.to);
            sum.0 = weight.map_or(0.0, |entry| entry.1.to_f64());
            sum.1 += lever.derivative;
        }
        let mut parts: Vec<((u32, u32), f64)> = Vec::with_capacity(derivatives.len());
        for ((from, to), (weight, derivative)) in derivatives {
            match exits.get(from as usize) {
                Some(&exits) if exits > 0 => {
                    parts.push(((from, to), weight * derivative.powi(2) / exits as f64));
                }
                _ => return Ok(None),
            }
        }
        // A fixed order, so that the same counts give the same digits.
        parts.sort_unstable_by_key(|part| part.0);
        let variance = parts.iter().map(|part| part.1).sum();
        Ok((why.risk > 0.0).then_some((why.risk, variance)))
    }

    /// Returns the probability of reaching the goal without a horizon, by state.
    fn values<V: Scalar>(
        &self,
        chain: &Chain<V>,
        accuracy: &Accuracy,
    ) -> Result<Vec<f64>, NotConverged> {
        let mut unknown = self.open.clone();
        unknown.difference_with(&self.target);
        let target = self.target.ones();
        let values = reached(chain, &unknown, target, &Factors::default(), accuracy)?;
        Ok(values.iter().map(|value| value.value().to_f64()).collect())
    }

    /// Returns at most `count` of the most probable paths from a state to the set, the most probable first.
    ///
    /// Without a horizon, self-loops are removed first (`P(s,t) / (1 - P(s,s))`); otherwise one path would occur again for each
    /// number of loops.
    ///
    /// # Limits
    /// Every state, at every length within a horizon, is left at most `count` times: `O(count · m log m)`. The search ends
    /// after two million entries and may then return fewer paths.
    pub fn likely_paths<V: Scalar>(
        &self,
        chain: &Chain<V>,
        from: u32,
        count: usize,
    ) -> Vec<LikelyPath> {
        /// The order of the bits of probabilities is that of their values.
        fn key(probability: f64) -> u64 {
            probability.to_bits()
        }
        let mut open = self.open.clone();
        open.insert(from as usize);
        // Only states from which the set can be reached are visited.
        let useful = backward(&chain.graph().reversed(), &self.target, Some(&open));
        // For each entry: the last state of a path, its length, and the entry of the path without that state.
        let mut trail: Vec<(u32, u64, Option<usize>)> = vec![(from, 0, None)];
        let mut left: FxHashMap<(u32, u64), usize> = FxHashMap::default();
        let mut waiting = BinaryHeap::from([(key(1.0), Reverse(0usize))]);
        let mut found = Vec::new();
        while let Some((bits, Reverse(at))) = waiting.pop() {
            if found.len() == count || trail.len() > MOST_TRIED {
                break;
            }
            let (state, length, _) = trail[at];
            let probability = f64::from_bits(bits);
            if at > 0 && self.target.contains(state as usize) {
                let mut states = vec![state];
                let mut before = trail[at].2;
                while let Some(at) = before {
                    states.push(trail[at].0);
                    before = trail[at].2;
                }
                states.reverse();
                found.push(LikelyPath {
                    states,
                    probability,
                });
                continue;
            }
            let over = at > 0 && !self.open.contains(state as usize);
            if over || self.horizon.is_some_and(|most| length >= most) {
                continue;
            }
            let place = (state, self.horizon.map_or(0, |_| length));
            let times = left.entry(place).or_default();
            if *times == count {
                continue;
            }
            *times += 1;
            let stays = self.horizon.is_some();
            let row = || chain.row(state).filter(|entry| stays || entry.0 != state);
            let leaving: f64 = if stays {
                1.0
            } else {
                row().map(|entry| entry.1.to_f64()).sum()
            };
            for (next, weight) in row() {
                let onward = probability * (weight.to_f64() / leaving);
                if useful.contains(next as usize) && onward > 0.0 {
                    trail.push((next, length + 1, Some(at)));
                    waiting.push((key(onward), Reverse(trail.len() - 1)));
                }
            }
        }
        found
    }
}

/// The rows of the states in which the run continues, as doubles.
struct Rows {
    /// The transitions of each state; empty if the run ends there.
    rows: Vec<Vec<(u32, f64)>>,
    /// The states from which the set can be reached, ordered so that most transitions lead forwards.
    components: Vec<Vec<u32>>,
    /// The states in which the run continues; the initial state of the query need not be one of them.
    open: NodeSet,
    target: NodeSet,
}

impl Rows {
    fn new<V: Scalar>(chain: &Chain<V>, goal: &Goal, from: u32) -> Rows {
        let (target, mut open) = (&goal.target, goal.open.clone());
        open.insert(from as usize);
        let mut rows = vec![Vec::new(); chain.len()];
        for state in open.ones() {
            let row = chain.row(state as u32);
            rows[state] = row.map(|(to, weight)| (to, weight.to_f64())).collect();
        }
        let mut useful = backward(&chain.graph().reversed(), target, Some(&open));
        useful.intersect_with(&open);
        let found = components(chain.graph(), Some(&useful));
        Rows {
            rows,
            // Each component follows all that lead to it.
            components: (0..found.len())
                .rev()
                .map(|at| found.members(at).to_vec())
                .collect(),
            open: goal.open.clone(),
            target: target.clone(),
        }
    }

    /// Returns whether a run continues in a state that it reaches.
    fn goes_on(&self, state: u32) -> bool {
        self.open.contains(state as usize) && !self.target.contains(state as usize)
    }

    fn visits(&self, from: u32) -> Vec<f64> {
        let mut incoming: Vec<Vec<(u32, f64)>> = vec![Vec::new(); self.rows.len()];
        let mut leaving = vec![0.0; self.rows.len()];
        for &state in self.components.iter().flatten() {
            for &(to, weight) in &self.rows[state as usize] {
                // A self-loop does not leave the state, unless the run ends with it.
                if to != state || !self.goes_on(to) {
                    leaving[state as usize] += weight;
                }
                if to != state && self.goes_on(to) {
                    incoming[to as usize].push((state, weight));
                }
            }
        }
        let mut visits = vec![0.0; self.rows.len()];
        for members in &self.components {
            for _ in 0..MOST_SWEEPS {
                let mut change = 0.0f64;
                for &state in members {
                    let mut inflow = if state == from { 1.0 } else { 0.0 };
                    for &(source, weight) in &incoming[state as usize] {
                        inflow += visits[source as usize] * weight;
                    }
                    let next = inflow / leaving[state as usize];
                    if next > 0.0 {
                        change = change.max((next - visits[state as usize]).abs() / next);
                    }
                    visits[state as usize] = next;
                }
                if change < 1e-13 || members.len() == 1 {
                    break;
                }
            }
        }
        visits
    }

    /// Returns the mean of the values after one step.
    fn ahead(&self, state: u32, values: &[f64]) -> f64 {
        let row = self.rows[state as usize].iter();
        row.map(|(to, weight)| weight * values[*to as usize]).sum()
    }

    /// Returns the probability of reaching the set with the next step.
    fn into(&self, state: u32) -> f64 {
        let row = self.rows[state as usize].iter();
        row.filter(|(to, _)| self.target.contains(*to as usize))
            .map(|(_, weight)| weight)
            .sum()
    }

    fn visited<'a>(&'a self, visits: &'a [f64]) -> impl Iterator<Item = (u32, f64)> + 'a {
        let states = self.components.iter().flatten().copied();
        states
            .map(|state| (state, visits[state as usize]))
            .filter(|(_, visits)| *visits > 0.0)
    }

    fn next(&self, from: u32, risk: f64, values: &[f64]) -> Vec<Contribution> {
        let row = self.rows[from as usize].iter();
        row.map(|(to, weight)| Contribution {
            state: *to,
            share: weight * values[*to as usize] / risk,
            risk: values[*to as usize],
        })
        .filter(|part| part.share > 0.0)
        .collect()
    }

    fn jumps(&self, visits: &[f64]) -> Vec<Jump> {
        self.visited(visits)
            .map(|(from, visits)| Jump {
                from,
                probability: visits * self.into(from),
            })
            .filter(|jump| jump.probability > 0.0)
            .collect()
    }

    fn forever(&self, from: u32, visits: &[f64], values: &[f64], exits: &[u64]) -> Why {
        let risk = self.ahead(from, values);
        if risk <= 0.0 {
            return Why::nothing();
        }
        let mut sum = Sums::default();
        let mut steps = 0.0;
        for (state, visits) in self.visited(visits) {
            let own = self.ahead(state, values);
            steps += visits * own;
            for &(to, weight) in &self.rows[state as usize] {
                sum.add(state, to, weight, visits * (values[to as usize] - own));
            }
        }
        Why {
            risk,
            next: self.next(from, risk, values),
            jumps: self.jumps(visits),
            steps: Some(steps / risk),
            doubt: sum.doubt(exits),
            levers: sum.levers(),
        }
    }

    fn within(&self, from: u32, steps: u64, exits: &[u64]) -> Why {
        let n = self.rows.len();
        let keeps = steps.saturating_mul(n as u64) <= MOST_NUMBERS;
        // The values for an increasing number of remaining steps, from 0.
        let mut values = vec![0.0; n];
        for state in self.target.ones() {
            values[state] = 1.0;
        }
        let mut kept = Vec::new();
        for _ in 1..steps {
            let mut more = values.clone();
            for &state in self.components.iter().flatten() {
                if self.goes_on(state) {
                    more[state as usize] = self.ahead(state, &values);
                }
            }
            let before = std::mem::replace(&mut values, more);
            if keeps {
                kept.push(before);
            }
        }
        let risk = if steps == 0 {
            0.0
        } else {
            self.ahead(from, &values)
        };
        if risk <= 0.0 {
            return Why::nothing();
        }
        let next = self.next(from, risk, &values);
        if keeps {
            kept.push(values);
        }
        // The distribution over the states of runs that have not reached the set, step by step.
        let mut here = vec![0.0; n];
        here[from as usize] = 1.0;
        let mut visits = vec![0.0; n];
        let (mut sum, mut late) = (Sums::default(), 0.0);
        for step in 1..=steps {
            let mut then = vec![0.0; n];
            let to_go = kept.get((steps - step) as usize);
            for &state in self.components.iter().flatten() {
                let mass = here[state as usize];
                if mass <= 0.0 {
                    continue;
                }
                visits[state as usize] += mass;
                let own = to_go.map_or(0.0, |values| self.ahead(state, values));
                for &(to, weight) in &self.rows[state as usize] {
                    if self.target.contains(to as usize) {
                        late += mass * weight * step as f64;
                    } else if self.goes_on(to) {
                        then[to as usize] += mass * weight;
                    }
                    if let Some(values) = to_go {
                        sum.add(state, to, weight, mass * (values[to as usize] - own));
                    }
                }
            }
            here = then;
        }
        Why {
            risk,
            next,
            jumps: self.jumps(&visits),
            steps: Some(late / risk),
            doubt: sum.doubt(exits),
            levers: sum.levers(),
        }
    }
}

/// The probabilities and derivatives by transition.
#[derive(Default)]
struct Sums {
    of: FxHashMap<(u32, u32), (f64, f64)>,
}

impl Sums {
    fn add(&mut self, from: u32, to: u32, weight: f64, derivative: f64) {
        let sum = self.of.entry((from, to)).or_insert((weight, 0.0));
        sum.1 += derivative;
    }

    fn levers(self) -> Vec<Lever> {
        let levers = self
            .of
            .into_iter()
            .map(|((from, to), (_, derivative))| Lever {
                from,
                to,
                derivative,
            });
        levers.filter(|lever| lever.derivative != 0.0).collect()
    }

    /// Returns the fraction of the variance for each state, by the delta method: a row with `n` observations adds the
    /// variance of its derivatives divided by `n`, or by 1 if it has none.
    fn doubt(&self, exits: &[u64]) -> Vec<(u32, f64)> {
        let mut by_row: FxHashMap<u32, f64> = FxHashMap::default();
        for ((from, _), (weight, derivative)) in &self.of {
            if let Some(counted) = exits.get(*from as usize) {
                // The derivatives of a row have mean 0. A row without observations is treated like one with a single
                // draw.
                let draws = (*counted).max(1) as f64;
                *by_row.entry(*from).or_default() += weight * derivative.powi(2) / draws;
            }
        }
        let all: f64 = by_row.values().sum();
        let parts = by_row.into_iter().filter(|(_, part)| *part > 0.0);
        parts.map(|(state, part)| (state, part / all)).collect()
    }
}

impl Why {
    /// Returns the explanation of probability zero.
    fn nothing() -> Why {
        Why {
            risk: 0.0,
            next: Vec::new(),
            jumps: Vec::new(),
            steps: None,
            levers: Vec::new(),
            doubt: Vec::new(),
        }
    }
}
