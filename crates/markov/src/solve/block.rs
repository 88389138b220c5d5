//! One strongly connected component as a separate system.

use super::super::scalar::{Estimate, Scalar};
use super::{Problem, lost_by_reading};

/// A component whose exits and rewards are folded into a right-hand side.
///
/// # Shape
/// Members are numbered from 0 in the given order. Row `u` holds the transitions to *other* members; self-loops are
/// omitted, because only transitions that leave a state matter.
#[derive(Debug)]
pub(super) struct Block<V: Scalar> {
    /// The start of each row in `targets` and `weights`, and the end of the last.
    pub(super) rows: Vec<u32>,
    /// The members that the transitions lead to.
    pub(super) targets: Vec<u32>,
    /// Their probabilities.
    pub(super) weights: Vec<V>,
    /// The probability of leaving the component, by member.
    pub(super) leaving: Vec<V>,
    /// The contribution of exits and rewards, by member.
    pub(super) rhs: Vec<V::Estimate>,
    /// The number of transitions that leave the component.
    pub(super) exits: usize,
    /// The units of error of each probability that are not a factor of its whole row.
    pub(super) own_units: f64,
}

impl<V: Scalar> Block<V> {
    /// Builds the block of a component. `local` is the index of each member, and `u32::MAX` for other states.
    pub(super) fn new(
        problem: &Problem<'_, V>,
        members: &[u32],
        local: &[u32],
        x: &[V::Estimate],
    ) -> Block<V> {
        let graph = problem.chain.graph();
        let transitions = members.iter().map(|&state| graph.edges(state).len()).sum();
        let mut block = Block {
            rows: Vec::with_capacity(members.len() + 1),
            targets: Vec::with_capacity(transitions),
            weights: Vec::with_capacity(transitions),
            leaving: Vec::with_capacity(members.len()),
            rhs: Vec::with_capacity(members.len()),
            exits: 0,
            own_units: problem.chain.own_units(),
        };
        block.rows.push(0);
        let mut exits = Vec::new();
        for &state in members {
            let mut rhs = V::Estimate::exact(V::zero());
            let mut lost = 0.0;
            exits.clear();
            let scale = scale(problem.chain.row(state).filter(|entry| entry.0 != state));
            let scaled = |value: &V| match &scale {
                None => value.clone(),
                Some(scale) => value.times(scale),
            };
            if let Some(reward) = problem.reward.get(state as usize) {
                let one = V::Estimate::exact(V::one());
                rhs.accumulate(&scaled(reward), &one);
                lost += lost_by_reading(reward, &one);
            }
            for (target, probability) in problem.chain.row(state) {
                let at = local[target as usize];
                if target == state {
                    continue;
                }
                if at == u32::MAX {
                    lost += lost_by_reading(probability, &x[target as usize]);
                }
                let probability = scaled(probability);
                if at != u32::MAX {
                    block.targets.push(at);
                    block.weights.push(probability);
                    continue;
                }
                let next = &x[target as usize];
                rhs.accumulate(&probability, next);
                exits.push(probability);
            }
            let count = exits.len();
            block.rows.push(block.targets.len() as u32);
            block.leaving.push(V::sum(&exits));
            block.rhs.push(if rhs.is_zero() {
                rhs
            } else {
                let scale = scale.as_ref().map_or(1.0, V::to_f64);
                rhs.rounded(count as f64 + 1.0 + block.own_units)
                    .widened(lost * scale)
            });
            block.exits += count;
        }
        block
    }

    /// Returns the value of all members if the graph determines it: `trapped` if nothing leaves the component, and without rewards 0 or 1
    /// if all exits have exactly this value. `local` is that of [`Block::new`].
    pub(super) fn constant(
        problem: &Problem<'_, V>,
        members: &[u32],
        local: &[u32],
        x: &[V::Estimate],
    ) -> Option<V> {
        let (mut zeros, mut ones) = (true, problem.reward.is_empty());
        let mut leaves = false;
        for &state in members {
            let reward = problem.reward.get(state as usize);
            zeros &= reward.is_none_or(V::is_zero);
            for &target in problem.chain.graph().successors(state) {
                if local[target as usize] == u32::MAX {
                    leaves = true;
                    zeros &= x[target as usize].is_zero();
                    ones &= x[target as usize].is_one();
                }
            }
            if leaves && !zeros && !ones {
                return None;
            }
        }
        Some(match (leaves, zeros) {
            (false, _) => problem.trapped.clone(),
            (true, true) => V::zero(),
            (true, false) => V::one(),
        })
    }

    /// Returns bounds on the values of a block without rewards: those of its exits, since all values are averages of
    /// them. Returns `None` if the block has a reward or no exits.
    pub(super) fn between_exits(
        problem: &Problem<'_, V>,
        members: &[u32],
        x: &[V::Estimate],
    ) -> Option<V::Estimate> {
        if members.iter().any(|&state| {
            let reward = problem.reward.get(state as usize);
            reward.is_some_and(|reward| !reward.is_zero())
        }) {
            return None;
        }
        let inside: rustc_hash::FxHashSet<u32> = members.iter().copied().collect();
        let mut ends: Option<(V, V)> = None;
        for &state in members {
            for (target, _) in problem.chain.row(state) {
                if inside.contains(&target) {
                    continue;
                }
                let (low, high) = (x[target as usize].lower(), x[target as usize].upper());
                ends = Some(match ends {
                    None => (low, high),
                    Some((least, most)) => (
                        if low < least { low } else { least },
                        if high > most { high } else { most },
                    ),
                });
            }
        }
        ends.map(|(least, most)| V::Estimate::between(least, most))
    }

    /// Returns the number of members.
    pub(super) fn len(&self) -> usize {
        self.leaving.len()
    }

    /// Returns the transitions of a member to other members.
    pub(super) fn row(&self, member: usize) -> impl Iterator<Item = (u32, &V)> {
        let range = self.rows[member] as usize..self.rows[member + 1] as usize;
        self.targets[range.clone()]
            .iter()
            .copied()
            .zip(&self.weights[range])
    }
}

/// Rows whose transitions are all below this value are scaled.
const SMALL_ROW: f64 = 1e-20;

/// Returns the factor that makes the largest transition of a row about 1, or `None` if the row is not small. The factor is a
/// power of two, so that doubles stay exact. A state that is left with tiny probability then causes no underflow.
///
/// A row with a subnormal probability is not scaled: reading it lost digits, and its error is absolute.
fn scale<'v, V: Scalar + 'v>(row: impl Iterator<Item = (u32, &'v V)>) -> Option<V> {
    if V::EXACT {
        return None;
    }
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    for (_, weight) in row {
        let weight = weight.to_f64();
        least = least.min(weight);
        most = most.max(weight);
    }
    (most < SMALL_ROW && least.is_normal())
        .then(|| V::from_f64((-most.log2().floor()).min(1020.0).exp2()))
}
