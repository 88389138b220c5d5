//! Linear systems of chains: expected values until a set of states is left, solved component by component.
//!
//! For the unknown states `U`, [`solve`] computes the least solution of
//!
//! ```text
//! x(s) = reward(s) + Σ P(s,t) · x(t)
//! ```
//!
//! where `x` is known outside `U`. With the right boundary this is a probability of reaching, of never leaving, an expected
//! reward, or a long-run average. One depth-first search over `U` yields the strongly connected components, each after its
//! successors, and each is solved immediately:
//!
//! - A component without rewards whose exits all have exactly the value 0 (or 1) has that value itself: this is the qualitative
//!   precomputation (prob0, prob1) without a separate pass, unaffected by rounding.
//! - A single state is one division: `x(s) = (reward + Σ P(s,t) x(t)) / Σ P(s,t)` over `t ≠ s`; the divisor is never computed
//!   as `1 - P(s,s)`, so nothing is subtracted.
//! - A component of up to [`SMALL`] states is [eliminated](eliminate) in an [order](order) with little fill, [once](Factors) for
//!   all right-hand sides.
//! - A larger one is first [swept](iterate) a few times. If the sweeps converge quickly, or a Krylov method is
//!   [predicted](predict) to be faster than elimination, the result is [proven](prove); otherwise the order is computed, and its
//!   work decides.
//!
//! # Accuracy
//! Every result carries a proven bound on its error. For single states and elimination the bound follows from the Markov chain
//! tree theorem: the solution is a quotient of two sums of products of transition probabilities with one factor per state, all
//! of them positive. A relative change of the entries of one row by a factor `1 ± ε` changes the solution by at most `1 ± 2ε`
//! relatively, however ill-conditioned the system is. Rounding in an elimination step is such a change. The error also covers
//! the conversion of the decimals of a model to doubles, and the scaling of rows apart from the factor that a row has in common: it
//! changes no probability here, and a reward as another error of the reward would. Results are linear in rewards, whose errors callers add.
//!
//! # Source
//! W. Grassmann, M. Taksar, D. Heyman, "Regenerative analysis and steady state distributions for Markov chains", Oper. Res.
//! 33(5), 1985; C. O'Cinneide, "Entrywise perturbation theory and error analysis for Markov chains", Numer. Math. 65, 1993.

mod block;
mod eliminate;
mod factors;
mod iterate;
mod krylov;
mod line;
mod order;
mod predict;
mod prove;
#[cfg(test)]
mod tests;
mod within;

use guard_automata::graph::{NodeSet, for_each_component};

use super::chain::Chain;
use super::scalar::{Estimate, SMALLEST, Scalar};
use block::Block;
use eliminate::Factorisation;
use iterate::Iterated;

pub use factors::{Factors, Uses};
pub use within::{collected_within, until_within};

/// The accuracy and the limits of solving systems.
#[derive(Clone, Copy, Debug)]
pub struct Accuracy {
    /// The relative width to which results are proven; results of elimination are far more precise.
    pub precision: f64,
    /// The largest number of updates of matrix entries in the elimination of one component. Exact arithmetic cannot iterate and
    /// ignores this limit.
    pub max_updates: f64,
    /// The largest number of sweeps over one component in an iteration.
    pub max_sweeps: usize,
    /// The largest number of entries of eliminated components that are stored for further right-hand sides.
    pub max_kept: usize,
}

impl Default for Accuracy {
    fn default() -> Accuracy {
        Accuracy {
            precision: 1e-6,
            max_updates: 2e11,
            max_sweeps: 1_000_000,
            max_kept: 1 << 24,
        }
    }
}

/// A component whose values are known less precisely than requested.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "the values of a component of {states} states are proven to a relative width of {width:.1e} only, not {precision}, \
     after {sweeps} sweeps; increase the limits or the precision, or use --exact"
)]
pub struct NotConverged {
    /// The number of states of the component.
    pub states: usize,
    /// The requested precision.
    pub precision: f64,
    /// The largest relative width of a value; infinite if nothing could be proven.
    pub width: f64,
    /// The number of sweeps.
    pub sweeps: usize,
}

/// A linear system to solve.
#[derive(Debug)]
pub struct Problem<'a, V> {
    /// The chain.
    pub chain: &'a Chain<V>,
    /// The states with unknown values.
    pub unknown: &'a NodeSet,
    /// The reward of each visit to a state, by state; empty if there are none.
    pub reward: &'a [V],
    /// The value of unknown states from which no other states can be reached: 0, or 1 if staying is the goal.
    pub trapped: V,
    /// Components of the same chain that were eliminated before; newly eliminated ones are added.
    pub factors: &'a Factors<V>,
}

/// Solves for the unknown states; `x` holds the known values of all others and receives the result.
///
/// # Errors
/// [`NotConverged`] for the first component whose values are known less precisely than requested. All values still have their
/// best bounds.
///
/// # Limits
/// Linear in the transitions, apart from components with cycles.
pub fn solve<V: Scalar>(
    problem: &Problem<'_, V>,
    x: &mut [V::Estimate],
    accuracy: &Accuracy,
) -> Result<(), NotConverged> {
    let graph = problem.chain.graph();
    let mut local = Vec::new();
    let mut short = None;
    for_each_component(graph, Some(problem.unknown), |members| {
        if let &[state] = members {
            let value = single(problem, state, x);
            x[state as usize] = value;
            return;
        }
        if let Err(wrong) = component(problem, members, &mut local, x, accuracy) {
            short.get_or_insert(wrong);
        }
    });
    short.map_or(Ok(()), Err)
}

/// Returns the average of known values over the successors of a state, including a self-loop.
///
/// This is one step of a bounded operator. The result is exact if all successors have exactly the value 0, or all
/// exactly 1.
#[inline]
pub fn average<V: Scalar>(chain: &Chain<V>, state: u32, x: &[V::Estimate]) -> V::Estimate {
    let edges = chain.graph().edges(state);
    let count = edges.len();
    let mut sum = V::Estimate::exact(V::zero());
    let (mut zeros, mut ones) = (0, 0);
    for (&target, probability) in chain
        .graph()
        .successors(state)
        .iter()
        .zip(&chain.probabilities()[edges])
    {
        let next = &x[target as usize];
        zeros += usize::from(next.is_zero());
        ones += usize::from(next.is_one());
        sum.accumulate(probability, next);
    }
    if zeros == count {
        V::Estimate::exact(V::zero())
    } else if ones == count {
        V::Estimate::exact(V::one())
    } else {
        sum.rounded(count as f64 + chain.probability_units())
    }
}

/// If the probability of leaving a state is less than this, transitions are divided by it first. Otherwise products that
/// contribute to a result above 1e-250, below which larger errors are allowed, could be near the smallest doubles.
const SMALL_LEAVING: f64 = 1e-30;

/// Returns an upper bound on the absolute error that reading a decimal causes in its product with a known value. Only subnormal
/// decimals have one; for others it returns 0, since their relative error counts as rounding.
fn lost_by_reading<V: Scalar>(decimal: &V, times: &V::Estimate) -> f64 {
    let double = decimal.to_f64();
    if V::EXACT || double == 0.0 || double.is_normal() {
        return 0.0;
    }
    (SMALLEST * times.upper().to_f64().abs()).next_up()
}

/// Returns the value of a component of one state.
#[inline]
fn single<V: Scalar>(problem: &Problem<'_, V>, state: u32, x: &[V::Estimate]) -> V::Estimate {
    let chain = problem.chain;
    let edges = chain.graph().edges(state);
    let mut sum = V::Estimate::exact(V::zero());
    let mut leaving = V::zero();
    let (mut exits, mut zeros, mut ones) = (0usize, 0, 0);
    let mut lost = 0.0;
    for (&target, probability) in chain
        .graph()
        .successors(state)
        .iter()
        .zip(&chain.probabilities()[edges])
    {
        if target == state {
            continue;
        }
        let next = &x[target as usize];
        lost += lost_by_reading(probability, next);
        exits += 1;
        zeros += usize::from(next.is_zero());
        ones += usize::from(next.is_one());
        leaving = leaving.plus(probability);
        sum.accumulate(probability, next);
    }
    if exits == 0 {
        return V::Estimate::exact(problem.trapped.clone());
    }
    let reward = problem.reward.get(state as usize);
    match reward {
        Some(reward) if !reward.is_zero() => {
            let one = V::Estimate::exact(V::one());
            sum.accumulate(reward, &one);
            lost += lost_by_reading(reward, &one);
        }
        _ if zeros == exits => return V::Estimate::exact(V::zero()),
        None if ones == exits => return V::Estimate::exact(V::one()),
        _ => {}
    }
    if leaving.to_f64() < SMALL_LEAVING {
        // The products may have underflowed: dividing first makes the weights about 1.
        sum = V::Estimate::exact(V::zero());
        if let Some(reward) = reward {
            sum.accumulate(&reward.over(&leaving), &V::Estimate::exact(V::one()));
        }
        for (target, probability) in chain.row(state).filter(|entry| entry.0 != state) {
            sum.accumulate(&probability.over(&leaving), &x[target as usize]);
        }
    } else {
        sum.divide(&leaving);
    }
    // Numerator and denominator: sums, and the probabilities; and products, the quotient, and that of the branch above.
    let value = sum.rounded(2.0 * (exits as f64 + chain.own_units()) + 2.0);
    if lost == 0.0 {
        return value;
    }
    // The sum of exits contains such decimals too.
    lost += exits as f64 * SMALLEST * value.upper().to_f64();
    value.widened(lost / leaving.to_f64() * (1.0 + 1e-6))
}

/// Solves a component of several states.
fn component<V: Scalar>(
    problem: &Problem<'_, V>,
    members: &[u32],
    local: &mut Vec<u32>,
    x: &mut [V::Estimate],
    accuracy: &Accuracy,
) -> Result<(), NotConverged> {
    if local.is_empty() {
        local.resize(problem.chain.len(), u32::MAX);
    }
    for (at, &state) in members.iter().enumerate() {
        local[state as usize] = at as u32;
    }
    if let Some(value) = Block::constant(problem, members, local, x) {
        for &state in members {
            local[state as usize] = u32::MAX;
            x[state as usize] = V::Estimate::exact(value.clone());
        }
        return Ok(());
    }
    let kept = problem.factors.find(members);
    let members = kept.as_ref().map_or(members, |kept| &kept.members);
    for (at, &state) in members.iter().enumerate() {
        local[state as usize] = at as u32;
    }
    let block = Block::new(problem, members, local, x);
    for &state in members {
        local[state as usize] = u32::MAX;
    }
    let (solution, sweeps) = match kept {
        Some(ref kept) => (back_solve(&block, &kept.factorisation, accuracy), 0),
        None => solve_block(&block, members, problem.factors, accuracy),
    };
    let width = match solution {
        Some(solution) => {
            let width = iterate::widest::<V>(&solution);
            for (&state, value) in members.iter().zip(solution) {
                x[state as usize] = value;
            }
            width
        }
        None => {
            let unknown = V::Estimate::exact(V::zero()).widened(f64::INFINITY);
            let value = Block::between_exits(problem, members, x).unwrap_or(unknown);
            for &state in members {
                x[state as usize] = value.clone();
            }
            f64::INFINITY
        }
    };
    if width <= accuracy.precision {
        return Ok(());
    }
    Err(NotConverged {
        states: members.len(),
        precision: accuracy.precision,
        width,
        sweeps,
    })
}

/// Components up to this size are eliminated without iterating first.
pub const SMALL: usize = 300;

/// Returns the values of a block with proven errors, or `None` if nothing could be proven; and the number of sweeps.
fn solve_block<V: Scalar>(
    block: &Block<V>,
    members: &[u32],
    factors: &Factors<V>,
    accuracy: &Accuracy,
) -> (Option<Vec<V::Estimate>>, usize) {
    let max_work = if V::EXACT {
        f64::INFINITY
    } else {
        accuracy.max_updates
    };
    let directly = V::EXACT || block.len() <= SMALL;
    let line = line::order(block).filter(|order| order.work <= max_work);
    let order = line.or_else(|| directly.then(|| order::order(block, max_work)).flatten());
    let factorisation = match order {
        Some(order) => eliminate::factor(block, &order),
        None => match iterate::iterate(block, accuracy) {
            Iterated::Values(values, sweeps) => return (values, sweeps),
            Iterated::Eliminated(factorisation) => factorisation,
        },
    };
    let solution = back_solve(block, &factorisation, accuracy);
    factors.keep(members, factorisation, accuracy.max_kept);
    (solution, 0)
}

/// Returns the solution by factors. If these do not determine the error, or not to the requested precision, proves it
/// from the residual; returns `None` if that fails and the factors determine no error.
fn back_solve<V: Scalar>(
    block: &Block<V>,
    factorisation: &Factorisation<V>,
    accuracy: &Accuracy,
) -> Option<Vec<V::Estimate>> {
    let (solution, claimed) = factorisation.solve(block.rhs.clone());
    if claimed && (V::EXACT || iterate::widest::<V>(&solution) <= accuracy.precision) {
        return Some(solution);
    }
    let x: Vec<f64> = (solution.iter())
        .map(|value| value.value().to_f64())
        .collect();
    let residuals = prove::residuals(block, &x);
    let exact = |of: &f64| V::Estimate::exact(V::from_f64(*of));
    let (v, _) = factorisation.solve(residuals.iter().map(exact).collect());
    let v: Vec<f64> = v.iter().map(|value| value.value().to_f64()).collect();
    let proven = prove::proven::<V>(block, &x, &v, &residuals);
    if !claimed {
        return proven;
    }
    let Some(proven) = proven else {
        return Some(solution);
    };
    let width = |of: &V::Estimate| of.upper().to_f64() - of.lower().to_f64();
    let narrower = |(one, other): (V::Estimate, V::Estimate)| {
        if width(&other) < width(&one) {
            other
        } else {
            one
        }
    };
    Some(solution.into_iter().zip(proven).map(narrower).collect())
}
