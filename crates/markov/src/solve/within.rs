//! Step-bounded values, by one product of the transitions with the values for each step.
//!
//! Only values that can still change are computed. States are ordered by their distance from the target or the rewards, so that
//! after `k` steps only a prefix of them has changed values. A block of states is skipped while nothing that it reads has
//! changed. States that reach the target with certainty get their value from the graph.
//!
//! # Accuracy
//! The kernel is plain arithmetic on nonnegative numbers: every operation has a relative error within `1 ± ε`, and the errors
//! of one step are averaged in the next. A row of `d` terms adds `d` for sums, 1 for the product, and 1 for the decimal that a
//! probability was read from: after `k` steps the relative error is at most `k (d + 2)` units, and that of the constants,
//! `d + 2`, which [`ROW_UNITS`] rounds up. (N. Higham, "Accuracy and stability of numerical algorithms", 2002, section 3.1.)

use guard_automata::graph::{Digraph, NodeSet};

use super::super::chain::Chain;
use super::super::scalar::{Estimate, Scalar, compounded};
use super::order::NONE;

/// The units of rounding of a row in addition to one for each term.
const ROW_UNITS: f64 = 3.0;

/// The number of states that are skipped or computed together.
const BLOCK: usize = 256;

/// Returns the probability of `open U<=steps target`, or of its negation if not `wanted`, from each state. `before` is
/// the reversed graph of the chain.
///
/// # Limits
/// Time: steps times the transitions of states whose distance from the target is at most the number of steps.
pub fn until_within<V: Scalar>(
    chain: &Chain<V>,
    before: &Digraph,
    open: &NodeSet,
    target: &NodeSet,
    steps: u64,
    wanted: bool,
) -> Vec<V::Estimate> {
    let (yes, no) = if wanted {
        (V::one(), V::zero())
    } else {
        (V::zero(), V::one())
    };
    let mut moving = open.clone();
    moving.difference_with(target);
    let first = target
        .ones()
        .flat_map(|state| before.successors(state as u32));
    let levels = Levels::new(before, &moving, first.copied(), steps);
    let sure = sure(chain, before, &moving, target, steps);
    let mut sweeps = Sweeps::new(
        chain,
        levels,
        |_| V::zero(),
        |state| {
            if target.contains(state as usize) {
                &yes
            } else {
                &no
            }
        },
    );
    let values = sweeps.run(no.clone(), steps, &sure, &yes);
    let units = sweeps.units(steps);
    let mut result = vec![V::Estimate::exact(no); chain.len()];
    for (&state, value) in sweeps.levels.states.iter().zip(values) {
        result[state as usize] = V::Estimate::exact(value).rounded(units);
    }
    for state in sure
        .iter()
        .flatten()
        .copied()
        .chain(target.ones().map(|state| state as u32))
    {
        result[state as usize] = V::Estimate::exact(yes.clone());
    }
    result
}

/// Returns the expected reward within this many steps, from each state; `earned` is the reward of each step out of a
/// state.
///
/// # Limits
/// As for [`until_within`].
pub fn collected_within<V: Scalar>(
    chain: &Chain<V>,
    before: &Digraph,
    earned: &[V],
    steps: u64,
) -> Vec<V::Estimate> {
    let first = (0u32..).zip(earned).filter(|entry| !entry.1.is_zero());
    let all = chain.graph().all();
    let levels = Levels::new(before, &all, first.map(|entry| entry.0), steps);
    let zero = V::zero();
    let own = |state: u32| earned[state as usize].clone();
    let mut sweeps = Sweeps::new(chain, levels, own, |_| &zero);
    let values = sweeps.run(V::zero(), steps, &[], &zero);
    let units = sweeps.units(steps);
    let mut result = vec![V::Estimate::exact(V::zero()); chain.len()];
    for (&state, value) in sweeps.levels.states.iter().zip(values) {
        result[state as usize] = V::Estimate::exact(value).rounded(units);
    }
    result
}

/// States ordered by the number of steps after which their value can change.
struct Levels {
    states: Vec<u32>,
    /// The number of states up to each level; the first level is 1.
    ends: Vec<usize>,
}

impl Levels {
    /// Returns the states of `moving` up to level `steps`, from those of level 1.
    fn new(
        before: &Digraph,
        moving: &NodeSet,
        first: impl Iterator<Item = u32>,
        steps: u64,
    ) -> Levels {
        let mut rest = moving.clone();
        let mut levels = Levels {
            states: Vec::new(),
            ends: Vec::new(),
        };
        let mut add = |state: u32, states: &mut Vec<u32>| {
            if rest.contains(state as usize) {
                rest.set(state as usize, false);
                states.push(state);
            }
        };
        if steps == 0 {
            return levels;
        }
        for state in first {
            add(state, &mut levels.states);
        }
        let mut begin = 0;
        while begin < levels.states.len() {
            let end = levels.states.len();
            levels.ends.push(end);
            if levels.ends.len() as u64 == steps {
                break;
            }
            for at in begin..end {
                for &state in before.successors(levels.states[at]) {
                    add(state, &mut levels.states);
                }
            }
            begin = end;
        }
        levels
    }
}

/// Returns the states that are certain to reach the target, by the number of steps that suffice, from 1 on.
fn sure<V: Scalar>(
    chain: &Chain<V>,
    before: &Digraph,
    moving: &NodeSet,
    target: &NodeSet,
    steps: u64,
) -> Vec<Vec<u32>> {
    let graph = chain.graph();
    // The number of successors that are not known to reach the target.
    let mut open: Vec<u32> = (0..chain.len() as u32)
        .map(|state| graph.successors(state).len() as u32)
        .collect();
    let mut all = Vec::new();
    let mut last: Vec<u32> = target.ones().map(|state| state as u32).collect();
    while !last.is_empty() && (all.len() as u64) < steps {
        let mut next = Vec::new();
        for &reached in &last {
            for &state in before.successors(reached) {
                open[state as usize] -= 1;
                if open[state as usize] == 0 && moving.contains(state as usize) {
                    next.push(state);
                }
            }
        }
        all.push(next.clone());
        last = next;
    }
    all
}

/// The rows of the states whose values can change, restricted to these states; transitions to others form a constant.
struct Sweeps<V> {
    levels: Levels,
    rows: Vec<u32>,
    targets: Vec<u32>,
    weights: Vec<V>,
    constants: Vec<V>,
    /// The index of each state among those whose values can change.
    place: Vec<u32>,
    /// For each block, the blocks that it reads, including itself.
    reads: Vec<Vec<u32>>,
    /// The largest number of terms of a row.
    terms: usize,
}

impl<V: Scalar> Sweeps<V> {
    /// Returns the rows with the reward of each step, and the values of fixed states as constants.
    fn new<'v>(
        chain: &Chain<V>,
        levels: Levels,
        earned: impl Fn(u32) -> V,
        fixed: impl Fn(u32) -> &'v V,
    ) -> Sweeps<V>
    where
        V: 'v,
    {
        let mut place = vec![NONE; chain.len()];
        for (at, &state) in levels.states.iter().enumerate() {
            place[state as usize] = at as u32;
        }
        let count = levels.states.len();
        let mut sweeps = Sweeps {
            rows: Vec::with_capacity(count + 1),
            targets: Vec::new(),
            weights: Vec::new(),
            constants: Vec::with_capacity(count),
            place,
            reads: Vec::with_capacity(count.div_ceil(BLOCK)),
            terms: 0,
            levels,
        };
        sweeps.rows.push(0);
        let mut seen = vec![NONE; count.div_ceil(BLOCK)];
        for (block, states) in (0u32..).zip(sweeps.levels.states.chunks(BLOCK)) {
            let mut reads = vec![block];
            seen[block as usize] = block;
            for &state in states {
                let mut constant = earned(state);
                let begin = sweeps.targets.len();
                for (target, weight) in chain.row(state) {
                    let at = sweeps.place[target as usize];
                    if at == NONE {
                        constant.accumulate(weight, fixed(target));
                        continue;
                    }
                    sweeps.targets.push(at);
                    sweeps.weights.push(weight.clone());
                    let other = at / BLOCK as u32;
                    if seen[other as usize] != block {
                        seen[other as usize] = block;
                        reads.push(other);
                    }
                }
                let own = chain.graph().successors(state).len();
                sweeps.terms = sweeps.terms.max(own + 1);
                debug_assert!(sweeps.targets.len() - begin <= own);
                sweeps.rows.push(sweeps.targets.len() as u32);
                sweeps.constants.push(constant);
            }
            sweeps.reads.push(reads);
        }
        sweeps
    }

    /// Returns the values after this many steps from `start`; the states of `sure` have the value `then` from their
    /// step on.
    fn run(&mut self, start: V, steps: u64, sure: &[Vec<u32>], then: &V) -> Vec<V> {
        let count = self.levels.states.len();
        let mut values = vec![start; count];
        let mut next = values.clone();
        // The blocks that changed in the last step, and in the current one.
        let mut changed = vec![false; self.reads.len()];
        let mut changes = changed.clone();
        let mut before = 0;
        for step in 0..steps {
            let level = usize::try_from(step).unwrap_or(usize::MAX);
            let last = level.min(self.levels.ends.len().saturating_sub(1));
            let active = self.levels.ends.get(last).copied().unwrap_or(0);
            for &state in sure.get(level).into_iter().flatten() {
                let at = self.place[state as usize];
                self.settle(at as usize, then);
                changed[at as usize / BLOCK] = true;
            }
            let mut any = false;
            let blocks = changes.iter_mut().enumerate();
            for (block, change) in blocks.take(active.div_ceil(BLOCK)) {
                let begin = block * BLOCK;
                let end = (begin + BLOCK).min(active);
                let is_new = end > before;
                let due = is_new || self.reads[block].iter().any(|&read| changed[read as usize]);
                *change = due && self.block(begin..end, &values, &mut next[begin..end]);
                any |= *change;
            }
            before = active;
            std::mem::swap(&mut values, &mut next);
            std::mem::swap(&mut changed, &mut changes);
            if !any && last + 1 >= self.levels.ends.len() && level >= sure.len() {
                break;
            }
        }
        values
    }

    /// Computes one step of some states; returns whether a value changed.
    fn block(&self, range: std::ops::Range<usize>, values: &[V], next: &mut [V]) -> bool {
        let mut changed = false;
        for (at, into) in range.zip(next) {
            let edges = self.rows[at] as usize..self.rows[at + 1] as usize;
            let mut sum = self.constants[at].clone();
            for (&target, weight) in self.targets[edges.clone()].iter().zip(&self.weights[edges]) {
                sum.accumulate(weight, &values[target as usize]);
            }
            changed |= sum != values[at];
            *into = sum;
        }
        changed
    }

    /// Makes the value of a state a constant.
    fn settle(&mut self, at: usize, value: &V) {
        let edges = self.rows[at] as usize..self.rows[at + 1] as usize;
        self.weights[edges].fill(V::zero());
        self.constants[at] = value.clone();
    }

    /// Returns the units of relative error after this many steps.
    fn units(&self, steps: u64) -> f64 {
        compounded((steps as f64 + 1.0) * (self.terms as f64 + ROW_UNITS))
    }
}
