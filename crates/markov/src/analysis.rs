//! Analyses of a chain and a set of bad states, beyond the probability of reaching them. The module [`why`](super::why)
//! explains that probability.
//!
//! | question | function |
//! |---|---|
//! | where does it end, and how likely | [`absorption`] |
//! | how long does it last, what is collected until then | [`steps_to_absorption`], [`collected_to_absorption`] |
//! | how long until it goes wrong, if it does | [`steps_given_reached`] |
//! | from where can it no longer be avoided | [`inevitable`], [`no_return`] |
//! | how far may the risk be off if the rows are | [`perturbation`] |

use guard_automata::graph::{NodeSet, backward, bottom, components};

use super::chain::Chain;
use super::scalar::{Estimate, Scalar};
use super::solve::{Accuracy, Factors, NotConverged, Problem, solve, until_within};

/// A bottom component and the probability of ending there, by state.
#[derive(Clone, Debug)]
pub struct Absorption<V: Scalar> {
    /// The states of the component.
    pub members: Vec<u32>,
    /// The probability of ending there, from each state.
    pub probability: Vec<V::Estimate>,
}

/// Returns the bottom components, one of which every run enters almost surely, with the probability of ending in each.
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

/// Returns the expected number of steps until a bottom component is entered, by state.
///
/// # Errors
/// [`NotConverged`].
pub fn steps_to_absorption<V: Scalar>(
    chain: &Chain<V>,
    accuracy: &Accuracy,
) -> Result<Vec<V::Estimate>, NotConverged> {
    collected_to_absorption(chain, &vec![V::one(); chain.len()], accuracy)
}

/// Returns, for each state, the expected sum of weights collected before a bottom component is entered; each visit to a state
/// adds its weight. If the weights are errors of the rows, the result bounds the error of any reachability probability.
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

/// Returns the probability of reaching a set, by state.
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

/// Returns, for each state, the probability of reaching a set within this many steps.
pub fn reach_within<V: Scalar>(chain: &Chain<V>, target: &NodeSet, steps: u64) -> Vec<V::Estimate> {
    let graph = chain.graph();
    until_within(chain, &graph.reversed(), &graph.all(), target, steps, true)
}

/// Returns, by state, the probability of being in one of these states when the unknown ones are left for the first
/// time.
pub(super) fn reached<V: Scalar>(
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

/// Returns the expected number of steps until a set is reached, among the runs that reach it; `None` for states from which
/// no run does.
///
/// With `x` the probability of reaching the set and `N` the expected numbers of visits, this is `(N x)(s) / x(s)`: each step is
/// weighted with the probability of reaching the set from there.
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
    // Both bounds of the weights, so that the result covers their errors.
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

/// Returns the states from which the set is reached with certainty, whatever the probabilities of the transitions are:
/// the points of no return of the graph.
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

/// Returns the states outside the set whose probability of reaching it within this many steps is proven to be at least
/// `threshold`: the points of no return by probability.
pub fn no_return<V: Scalar>(
    chain: &Chain<V>,
    target: &NodeSet,
    steps: u64,
    threshold: &V,
) -> Vec<NoReturn<V>> {
    let values = reach_within(chain, target, steps);
    (0..chain.len() as u32)
        .filter(|&state| !target.contains(state as usize))
        .filter(|&state| values[state as usize].lower() >= *threshold)
        .map(|state| NoReturn {
            state,
            risk: values[state as usize].clone(),
        })
        .collect()
}

/// Returns a bound on the error of each reachability probability, if the total variation distance of each row `s` from the true
/// one is at most `error[s]`. The true transitions must be among those of the chain: `d = N e`.
///
/// States that reach the set with certainty remain unknown: they may reach it only by a transition that the true chain does not
/// have.
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

/// Returns the states outside the set that can reach it.
fn undecided<V: Scalar>(chain: &Chain<V>, target: &NodeSet) -> NodeSet {
    let mut unknown = backward(&chain.graph().reversed(), target, None);
    unknown.difference_with(target);
    unknown
}

/// Returns the states outside all bottom components, and the bottom components.
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

/// Returns the expected weight collected in the unknown states until they are left permanently.
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
