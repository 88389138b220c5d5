//! What there is to know about a chain and a set of bad states, beyond the probability of reaching them.
//!
//! | question | function |
//! |---|---|
//! | where does it end, and how likely | [`absorption`] |
//! | how long does it last, what is collected until then | [`steps_to_absorption`], [`collected_to_absorption`] |
//! | how long until it goes wrong, if it does | [`steps_given_reached`] |
//! | from where can it no longer be avoided | [`inevitable`], [`no_return`] |
//! | on which paths does it go wrong | [`likely_paths`] |
//! | why is the risk of a state what it is | [`contributions`], [`jumps`], [`sensitivity`] |
//! | how far may the risk be off if the rows are | [`perturbation`] |

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::graph::{NodeSet, backward, bottom, components};

use super::chain::Chain;
use super::scalar::{Estimate, Scalar};
use super::solve::{Accuracy, Factors, NotConverged, Problem, average, solve};

/// A bottom component and the probability to end there, by state.
#[derive(Clone, Debug)]
pub struct Absorption<V: Scalar> {
    /// Its states.
    pub members: Vec<u32>,
    /// The probability to end there, from each state.
    pub probability: Vec<V::Estimate>,
}

/// The bottom components, where every run ends, with the probability to end in each.
///
/// # Errors
/// [`NotConverged`].
pub fn absorption<V: Scalar>(
    chain: &Chain<V>,
    accuracy: &Accuracy,
) -> Result<Vec<Absorption<V>>, NotConverged> {
    let (unknown, bottoms) = transient(chain);
    let factors = Factors::default();
    let mut found = Vec::with_capacity(bottoms.len());
    for members in bottoms {
        let probability = reached(
            chain,
            &unknown,
            members.iter().map(|state| *state as usize),
            &factors,
            accuracy,
        )?;
        found.push(Absorption {
            members,
            probability,
        });
    }
    Ok(found)
}

/// The expected number of steps until a bottom component is entered, by state.
///
/// # Errors
/// [`NotConverged`].
pub fn steps_to_absorption<V: Scalar>(
    chain: &Chain<V>,
    accuracy: &Accuracy,
) -> Result<Vec<V::Estimate>, NotConverged> {
    collected_to_absorption(chain, &vec![V::one(); chain.len()], accuracy)
}

/// What is collected before a bottom component is entered, by state, where each visit to a state adds its weight: how many
/// times errors of the rows, so weighted, count in any probability of reaching.
///
/// # Errors
/// [`NotConverged`].
pub fn collected_to_absorption<V: Scalar>(
    chain: &Chain<V>,
    weight: &[V],
    accuracy: &Accuracy,
) -> Result<Vec<V::Estimate>, NotConverged> {
    let (unknown, _) = transient(chain);
    collected(chain, &unknown, weight, &Factors::default(), accuracy)
}

/// The probability to reach a set, by state.
///
/// # Errors
/// [`NotConverged`].
pub fn reach<V: Scalar>(
    chain: &Chain<V>,
    target: &NodeSet,
    accuracy: &Accuracy,
) -> Result<Vec<V::Estimate>, NotConverged> {
    let mut unknown = target.clone();
    unknown.toggle_range(..);
    reached(
        chain,
        &unknown,
        target.ones(),
        &Factors::default(),
        accuracy,
    )
}

/// The probability to be in one of these states when the unknown ones are left for the first time, by state.
fn reached<V: Scalar>(
    chain: &Chain<V>,
    unknown: &NodeSet,
    states: impl Iterator<Item = usize>,
    factors: &Factors<V>,
    accuracy: &Accuracy,
) -> Result<Vec<V::Estimate>, NotConverged> {
    let mut values = zeros(chain);
    for state in states {
        values[state] = V::Estimate::exact(V::one());
    }
    solve(
        &Problem {
            chain,
            unknown,
            reward: &[],
            trapped: V::zero(),
            factors,
        },
        &mut values,
        accuracy,
    )?;
    Ok(values)
}

/// The expected number of steps until a set is reached, among the runs that reach it; none where no run does.
///
/// With `x` the probability to reach the set, this is `(N x)(s) / x(s)`: the steps of a run count by how likely it is to
/// get there.
///
/// # Errors
/// [`NotConverged`].
pub fn steps_given_reached<V: Scalar>(
    chain: &Chain<V>,
    target: &NodeSet,
    accuracy: &Accuracy,
) -> Result<Vec<Option<V::Estimate>>, NotConverged> {
    let risk = reach(chain, target, accuracy)?;
    let unknown = undecided(chain, target);
    // Both ends of the weights, so that their errors are part of the answer.
    let weights = |pick: fn(&V::Estimate) -> V| -> Vec<V> { risk.iter().map(pick).collect() };
    let factors = Factors::default();
    let least = weights(V::Estimate::lower);
    let low = collected(chain, &unknown, &least, &factors, accuracy)?;
    let most = weights(V::Estimate::upper);
    let high = collected(chain, &unknown, &most, &factors, accuracy)?;
    Ok((0..chain.len())
        .map(|state| {
            if risk[state].is_zero() {
                return None;
            }
            if target.contains(state) {
                return Some(V::Estimate::exact(V::zero()));
            }
            let (least, most) = (low[state].lower(), high[state].upper());
            let mut steps = V::Estimate::between(
                least.over(&risk[state].upper()),
                if risk[state].lower().is_zero() {
                    most.over(risk[state].value())
                } else {
                    most.over(&risk[state].lower())
                },
            );
            if risk[state].lower().is_zero() {
                steps = steps.widened(f64::INFINITY);
            }
            Some(steps.rounded(2.0))
        })
        .collect())
}

/// From where the set is reached for sure, whatever the numbers: the points of no return of the graph.
pub fn inevitable<V: Scalar>(chain: &Chain<V>, target: &NodeSet) -> NodeSet {
    let before = chain.graph().reversed();
    let mut never = backward(&before, target, None);
    never.toggle_range(..);
    let mut open = target.clone();
    open.toggle_range(..);
    let mut sure = backward(&before, &never, Some(&open));
    sure.toggle_range(..);
    sure
}

/// A state from which the risk within a horizon is at least a threshold.
#[derive(Clone, Debug)]
pub struct NoReturn<V: Scalar> {
    /// The state.
    pub state: u32,
    /// Its risk within the horizon.
    pub risk: V::Estimate,
}

/// The states outside the set whose probability to reach it within so many steps surely is at least `threshold`: the points
/// of no return of the numbers.
pub fn no_return<V: Scalar>(
    chain: &Chain<V>,
    target: &NodeSet,
    steps: u64,
    threshold: &V,
) -> Vec<NoReturn<V>> {
    let mut values = zeros(chain);
    for state in target.ones() {
        values[state] = V::Estimate::exact(V::one());
    }
    for _ in 0..steps {
        values = (0..chain.len() as u32)
            .map(|state| {
                if target.contains(state as usize) {
                    values[state as usize].clone()
                } else {
                    average(chain, state, &values)
                }
            })
            .collect();
    }
    (0..chain.len() as u32)
        .filter(|&state| !target.contains(state as usize))
        .filter(|&state| values[state as usize].lower() >= *threshold)
        .map(|state| NoReturn {
            state,
            risk: values[state as usize].clone(),
        })
        .collect()
}

/// A path and its probability.
#[derive(Clone, Debug, PartialEq)]
pub struct LikelyPath {
    /// Its states; loops at one state are not written out.
    pub states: Vec<u32>,
    /// How likely it is, with as many rounds of the loops at its states as may be.
    pub probability: f64,
}

/// The most probable paths from a state to a set, the most probable first, at most `count` of them.
///
/// Loops at single states are taken out first (`P(s,t) / (1 - P(s,s))`), as else one path would come back with every number
/// of rounds.
///
/// # Limits
/// Every state is left at most `count` times: `O(count · m log m)`.
///
/// # Source
/// T. Han, J.-P. Katoen, B. Damman, "Counterexample generation in probabilistic model checking", IEEE TSE 35(2), 2009:
/// probable paths are short paths where an edge is as long as its negative logarithm.
pub fn likely_paths<V: Scalar>(
    chain: &Chain<V>,
    from: u32,
    target: &NodeSet,
    count: usize,
) -> Vec<LikelyPath> {
    /// Probabilities from 0 to 1 are ordered as their bits are.
    fn key(probability: f64) -> u64 {
        probability.to_bits()
    }
    // What a path was made of: its last state and the path before.
    let mut trail: Vec<(u32, Option<usize>)> = vec![(from, None)];
    let mut left = vec![0usize; chain.len()];
    let mut open = BinaryHeap::from([(key(1.0), Reverse(0usize))]);
    let mut found = Vec::new();
    // Only where the set can be reached at all is worth going.
    let useful = backward(&chain.graph().reversed(), target, None);
    while let Some((bits, Reverse(at))) = open.pop() {
        if found.len() == count {
            break;
        }
        let (state, _) = trail[at];
        let probability = f64::from_bits(bits);
        if target.contains(state as usize) {
            let mut states = vec![state];
            let mut before = trail[at].1;
            while let Some(at) = before {
                states.push(trail[at].0);
                before = trail[at].1;
            }
            states.reverse();
            found.push(LikelyPath {
                states,
                probability,
            });
            continue;
        }
        if left[state as usize] == count {
            continue;
        }
        left[state as usize] += 1;
        let leaving: f64 = chain
            .row(state)
            .filter(|entry| entry.0 != state)
            .map(|entry| entry.1.to_f64())
            .sum();
        for (next, weight) in chain.row(state).filter(|entry| entry.0 != state) {
            let onward = probability * (weight.to_f64() / leaving);
            if useful.contains(next as usize) && onward > 0.0 {
                trail.push((next, Some(at)));
                open.push((key(onward), Reverse(trail.len() - 1)));
            }
        }
    }
    found
}

/// What one successor adds to the risk of a state.
#[derive(Clone, Debug, PartialEq)]
pub struct Contribution {
    /// The successor.
    pub state: u32,
    /// Its part of the risk: all parts sum to 1.
    pub share: f64,
    /// How many times the risk is larger there.
    pub lift: f64,
}

/// Through which successors the risk of a state comes, the largest share first; empty where there is no risk.
pub fn contributions<V: Scalar>(
    chain: &Chain<V>,
    risk: &[V::Estimate],
    state: u32,
) -> Vec<Contribution> {
    let own = risk[state as usize].value().to_f64();
    if own <= 0.0 {
        return Vec::new();
    }
    let mut found: Vec<Contribution> = chain
        .row(state)
        .map(|(target, weight)| {
            let there = risk[target as usize].value().to_f64();
            Contribution {
                state: target,
                share: weight.to_f64() * there / own,
                lift: there / own,
            }
        })
        .filter(|part| part.share > 0.0)
        .collect();
    largest_first(&mut found, |part| (part.share, (part.state, 0)));
    found
}

/// A transition into the set and its part of the risk.
#[derive(Clone, Debug, PartialEq)]
pub struct Jump {
    /// From where.
    pub from: u32,
    /// The probability, from the state that was asked about, that the set is entered from here.
    pub probability: f64,
}

/// Where the jump into the set happens: `x(s) = Σ N(s,u) b(u)`, the largest parts first.
pub fn jumps<V: Scalar>(chain: &Chain<V>, from: u32, target: &NodeSet) -> Vec<Jump> {
    let visits = visits(chain, from, target);
    let mut found: Vec<Jump> = (0..chain.len() as u32)
        .filter(|&state| visits[state as usize] > 0.0 && !target.contains(state as usize))
        .map(|state| {
            let into: f64 = chain
                .row(state)
                .filter(|entry| target.contains(entry.0 as usize))
                .map(|entry| entry.1.to_f64())
                .sum();
            Jump {
                from: state,
                probability: visits[state as usize] * into,
            }
        })
        .filter(|jump| jump.probability > 0.0)
        .collect();
    largest_first(&mut found, |jump| (jump.probability, (jump.from, 0)));
    found
}

/// How the risk of a state changes as a row moves towards one of its transitions, from `P(u,·)` to `(1 - ε) P(u,·)` and `ε` more at
/// `t`: `N(s,u) (x(t) - (P x)(u))` per unit of `ε`.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// Source of the transition.
    pub from: u32,
    /// Its target.
    pub to: u32,
    /// The derivative by `ε`.
    pub derivative: f64,
}

/// The transitions on which the risk of a state depends most, at most `count`, the strongest first: what to measure next, or
/// to fix.
pub fn sensitivity<V: Scalar>(
    chain: &Chain<V>,
    from: u32,
    target: &NodeSet,
    risk: &[V::Estimate],
    count: usize,
) -> Vec<Sensitivity> {
    let visits = visits(chain, from, target);
    let mut found = Vec::new();
    for state in 0..chain.len() as u32 {
        if visits[state as usize] <= 0.0 || target.contains(state as usize) {
            continue;
        }
        let own = average(chain, state, risk).value().to_f64();
        for &to in chain.graph().successors(state) {
            let derivative = visits[state as usize] * (risk[to as usize].value().to_f64() - own);
            found.push(Sensitivity {
                from: state,
                to,
                derivative,
            });
        }
    }
    largest_first(&mut found, |one| (one.derivative.abs(), (one.from, one.to)));
    found.truncate(count);
    found
}

/// How often each state is visited from one state on before the set, or a state that cannot reach it, is entered: a row of
/// the fundamental matrix.
///
/// # Accuracy
/// To about ten digits; explanations need no certificate.
pub fn visits<V: Scalar>(chain: &Chain<V>, from: u32, target: &NodeSet) -> Vec<f64> {
    let unknown = undecided(chain, target);
    let found = components(chain.graph(), Some(&unknown));
    let before = chain.graph().reversed();
    let weight = |source: u32, state: u32| -> f64 {
        chain
            .row(source)
            .filter(|entry| entry.0 == state)
            .map(|entry| entry.1.to_f64())
            .sum()
    };
    let mut visits = vec![0.0; chain.len()];
    // From the state that was asked about downwards: each component after all that lead to it.
    for component in (0..found.len()).rev() {
        let members = found.members(component);
        for _ in 0..1_000_000 {
            let mut change = 0.0f64;
            for &state in members {
                let mut inflow = if state == from { 1.0 } else { 0.0 };
                for &source in before.successors(state) {
                    if source != state && unknown.contains(source as usize) {
                        inflow += visits[source as usize] * weight(source, state);
                    }
                }
                let leaving: f64 = chain
                    .row(state)
                    .filter(|entry| entry.0 != state)
                    .map(|entry| entry.1.to_f64())
                    .sum();
                let next = inflow / leaving;
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

/// How far each probability to reach a set may be off, if each row of the chain is at most `error[s]` in total variation from
/// the true one, whose transitions are among those of the chain: `d = N e`.
///
/// States that reach the set for sure stay among the unknown ones: a transition that the true chain does not have may be
/// why they do.
///
/// # Errors
/// [`NotConverged`].
pub fn perturbation<V: Scalar>(
    chain: &Chain<V>,
    target: &NodeSet,
    error: &[V],
    accuracy: &Accuracy,
) -> Result<Vec<V::Estimate>, NotConverged> {
    let unknown = undecided(chain, target);
    collected(chain, &unknown, error, &Factors::default(), accuracy)
}

/// Sorts by size, equal ones by place.
fn largest_first<T>(found: &mut [T], of: impl Fn(&T) -> (f64, (u32, u32))) {
    found.sort_by(|left, right| {
        let ((left, first), (right, second)) = (of(left), of(right));
        right.total_cmp(&left).then(first.cmp(&second))
    });
}

/// The states outside the set that can reach it.
fn undecided<V: Scalar>(chain: &Chain<V>, target: &NodeSet) -> NodeSet {
    let mut unknown = backward(&chain.graph().reversed(), target, None);
    unknown.difference_with(target);
    unknown
}

/// The states of no bottom component, and the bottom components.
fn transient<V: Scalar>(chain: &Chain<V>) -> (NodeSet, Vec<Vec<u32>>) {
    let found = components(chain.graph(), None);
    let mut unknown = chain.graph().all();
    let mut bottoms = Vec::new();
    for component in bottom(chain.graph(), &found) {
        let mut members = found.members(component).to_vec();
        members.sort_unstable();
        for &state in &members {
            unknown.set(state as usize, false);
        }
        bottoms.push(members);
    }
    (unknown, bottoms)
}

/// What is collected in the unknown states until they are left for good.
fn collected<V: Scalar>(
    chain: &Chain<V>,
    unknown: &NodeSet,
    reward: &[V],
    factors: &Factors<V>,
    accuracy: &Accuracy,
) -> Result<Vec<V::Estimate>, NotConverged> {
    let mut values = zeros(chain);
    solve(
        &Problem {
            chain,
            unknown,
            reward,
            trapped: V::zero(),
            factors,
        },
        &mut values,
        accuracy,
    )?;
    Ok(values)
}

fn zeros<V: Scalar>(chain: &Chain<V>) -> Vec<V::Estimate> {
    vec![V::Estimate::exact(V::zero()); chain.len()]
}
