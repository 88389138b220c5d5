//! Linear systems of chains: what is expected until a set of states is left, solved component by component.
//!
//! For the states `U` that are not known yet, [`solve`] computes the least solution of
//!
//! ```text
//! x(s) = reward(s) + Σ P(s,t) · x(t)
//! ```
//!
//! where `x` is known outside `U`. With the right boundary this is a probability of reaching, of never leaving, an expected
//! reward, or a long-run average. One depth-first search over `U` yields the strongly connected components, each after all
//! that it leads to, and each is solved on the spot:
//!
//! - A component whose exits are all exactly 0 (or all exactly 1) has that value itself: this is the qualitative
//!   precomputation (prob0, prob1), without a pass of its own, and no rounding can disturb it.
//! - A single state is one division: `x(s) = (reward + Σ P(s,t) x(t)) / Σ P(s,t)` over `t ≠ s`; the divisor is the sum of
//!   what leaves, never `1 - P(s,s)`, so nothing is subtracted.
//! - A larger component is [eliminated](eliminate) state by state, [once](Factors) for all that is asked about it; or, where
//!   that would cost too much, [iterated](iterate) with a certificate; where sweeps are slow, a [Krylov method](krylov)
//!   guesses for them.
//!
//! # Accuracy
//! Every result carries a proven bound on its error. For single states and elimination it rests on this: the solution is a
//! quotient of two sums of products of transition probabilities with one factor per state (the Markov chain tree theorem),
//! all of them positive; so a relative change of the entries of one row by a factor `1 ± ε` changes the solution by at most
//! `1 ± 2ε` relatively, however ill-conditioned the system is. Rounding in an elimination step is such a change.
//! The same holds of the input: the error also covers the step from the decimals of a model to doubles.
//!
//! # Source
//! W. Grassmann, M. Taksar, D. Heyman, "Regenerative analysis and steady state distributions for Markov chains", Oper. Res.
//! 33(5), 1985; C. O'Cinneide, "Entrywise perturbation theory and error analysis for Markov chains", Numer. Math. 65, 1993.

mod block;
mod eliminate;
mod factors;
mod iterate;
mod krylov;

use guard_automata::graph::{NodeSet, for_each_component};

use super::chain::Chain;
use super::scalar::{Estimate, Scalar};
use block::Block;
use iterate::Iterated;

pub use factors::{Factors, Uses};

/// How systems are solved.
#[derive(Clone, Copy, Debug)]
pub struct Accuracy {
    /// The relative width that iterated results are certified to; whatever is solved directly is far more exact.
    pub precision: f64,
    /// How many updates of matrix entries the elimination of one component may take before it is iterated instead.
    /// Exact arithmetic cannot iterate and has no limit.
    pub max_updates: f64,
    /// How many sweeps over one component an iteration may take.
    pub max_sweeps: usize,
    /// The number of entries of eliminated components that are kept for further right-hand sides.
    pub max_kept: usize,
}

impl Default for Accuracy {
    fn default() -> Accuracy {
        Accuracy {
            precision: 1e-6,
            max_updates: 4e8,
            max_sweeps: 1_000_000,
            max_kept: 1 << 24,
        }
    }
}

/// A component that could not be solved to the precision asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "a component of {states} states did not converge to a relative width of {precision} after \
     {sweeps} sweeps; increase the limit, or reduce the precision"
)]
pub struct NotConverged {
    /// The size of the component.
    pub states: usize,
    /// The precision that was asked for.
    pub precision: f64,
    /// The sweeps that were made.
    pub sweeps: usize,
}

/// A system to be solved.
#[derive(Debug)]
pub struct Problem<'a, V> {
    /// The chain.
    pub chain: &'a Chain<V>,
    /// The states whose value is sought.
    pub unknown: &'a NodeSet,
    /// The reward of each visit to a state, by state; empty if there is none.
    pub reward: &'a [V],
    /// The value of states of `unknown` from which nothing else can be reached: 0, or 1 where staying is the goal.
    pub trapped: V,
    /// Components of this very chain that were eliminated before; receives those that are now.
    pub factors: &'a Factors<V>,
}

/// Solves for the unknown states; `x` holds the known values of all others and receives the result.
///
/// # Errors
/// [`NotConverged`], only where a component is too large to eliminate.
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
    let mut failure = None;
    for_each_component(graph, Some(problem.unknown), |members| {
        if failure.is_some() {
            return;
        }
        if let &[state] = members {
            let value = single(problem, state, x);
            x[state as usize] = value;
            return;
        }
        if let Err(wrong) = component(problem, members, &mut local, x, accuracy) {
            failure = Some(wrong);
        }
    });
    failure.map_or(Ok(()), Err)
}

/// The average of known values over the successors of a state, its own loop included.
///
/// This is one step of a bounded operator. The result is exact where all successors are exactly 0 or all exactly 1.
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
        sum.rounded(count as f64 + 2.0)
    }
}

/// Solves a component of one state.
#[inline]
fn single<V: Scalar>(problem: &Problem<'_, V>, state: u32, x: &[V::Estimate]) -> V::Estimate {
    let chain = problem.chain;
    let edges = chain.graph().edges(state);
    let mut sum = V::Estimate::exact(V::zero());
    let mut leaving = V::zero();
    let (mut exits, mut zeros, mut ones) = (0usize, 0, 0);
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
            sum.accumulate(reward, &V::Estimate::exact(V::one()));
        }
        _ if zeros == exits => return V::Estimate::exact(V::zero()),
        None if ones == exits => return V::Estimate::exact(V::one()),
        _ => {}
    }
    if leaving.to_f64() < 1e-100 {
        // The products may have underflowed: weights first, so that they are of the order of 1.
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
    sum.rounded(2.0 * exits as f64 + 6.0)
}

/// Solves a component with cycles.
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
    let kept = problem.factors.find(members);
    let members = kept.as_ref().map_or(members, |kept| &kept.members);
    let block = Block::new(problem, members, local, x);
    let write = |x: &mut [V::Estimate], at: usize, value: V::Estimate| {
        x[members[at] as usize] = value;
    };
    if block.exits == 0 || block.constant.is_some() {
        let value = block.constant.clone().unwrap_or(problem.trapped.clone());
        for at in 0..members.len() {
            write(x, at, V::Estimate::exact(value.clone()));
        }
        return Ok(());
    }
    let solution = match kept {
        Some(ref kept) => kept.factorisation.solve(block.rhs),
        None => solve_block(block, members, problem.factors, accuracy)?,
    };
    for (at, value) in solution.into_iter().enumerate() {
        write(x, at, value);
    }
    Ok(())
}

/// Components up to this size are eliminated at once; larger ones first show how fast they converge.
pub const SMALL: usize = 300;

fn solve_block<V: Scalar>(
    mut block: Block<V>,
    members: &[u32],
    factors: &Factors<V>,
    accuracy: &Accuracy,
) -> Result<Vec<V::Estimate>, NotConverged> {
    let most = if V::EXACT {
        f64::INFINITY
    } else {
        accuracy.max_updates
    };
    let at_once = V::EXACT || block.len() <= SMALL;
    let factorisation = match at_once.then(|| eliminate::factor(&block, most)).flatten() {
        Some(factorisation) => factorisation,
        None => match iterate::iterate(&block, accuracy)? {
            Iterated::Solution(solution) => return Ok(solution),
            Iterated::Eliminated(factorisation) => factorisation,
        },
    };
    let solution = factorisation.solve(std::mem::take(&mut block.rhs));
    factors.keep(members, factorisation, accuracy.max_kept);
    Ok(solution)
}
