//! Step-bounded values, by one product of the transitions with the values for each step.
//!
//! Only values that can still change are computed. States are ordered by their distance from the target or the rewards, so that
//! after `k` steps only a prefix of them has changed values. A block of states is skipped while nothing that it reads has
//! changed. States that reach the target with certainty get their value from the graph.
//!
//! # Accuracy
//! The kernel is plain arithmetic on nonnegative numbers: every operation has a relative error within `1 ± ε`, and the errors
//! of one step are averaged in the next. A row of `d` terms adds `d` for sums, 1 for the product, and those of a
//! [probability](Chain::probability_units): after `k` steps the relative error is at most `k` times that, and once more for the constants. What
//! the rewards have of their own is for callers to add. (N. Higham, "Accuracy and stability of numerical algorithms", 2002, section 3.1.)

mod rest;

use std::ops::Range;

use guard_automata::graph::{Digraph, NodeSet};

use super::super::chain::Chain;
use super::super::scalar::{Estimate, Scalar, compounded};
use super::order::NONE;

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
    until_many(chain, before, (open, target), steps, wanted, rest::MANY)
}

/// [`until_within`], where the rest of more than `many` steps is bounded.
pub(super) fn until_many<V: Scalar>(
    chain: &Chain<V>,
    before: &Digraph,
    (open, target): (&NodeSet, &NodeSet),
    steps: u64,
    wanted: bool,
    many: u64,
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
    let values = if wanted && !V::EXACT && steps > many {
        sweeps.add_up(steps)
    } else {
        sweeps.run(no.clone(), steps, &sure, &yes)
    };
    let mut result = vec![V::Estimate::exact(no); chain.len()];
    for (&state, value) in sweeps.levels.states.iter().zip(values) {
        result[state as usize] = value;
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
    collected_many(chain, before, earned, steps, rest::MANY)
}

/// [`collected_within`], where the rest of more than `many` steps is bounded.
pub(super) fn collected_many<V: Scalar>(
    chain: &Chain<V>,
    before: &Digraph,
    earned: &[V],
    steps: u64,
    many: u64,
) -> Vec<V::Estimate> {
    let first = (0u32..).zip(earned).filter(|entry| !entry.1.is_zero());
    let all = chain.graph().all();
    let levels = Levels::new(before, &all, first.map(|entry| entry.0), steps);
    let zero = V::zero();
    let own = |state: u32| earned[state as usize].clone();
    let mut sweeps = Sweeps::new(chain, levels, own, |_| &zero);
    let values = if !V::EXACT && steps > many {
        sweeps.add_up(steps)
    } else {
        sweeps.run(V::zero(), steps, &[], &zero)
    };
    let mut result = vec![V::Estimate::exact(V::zero()); chain.len()];
    for (&state, value) in sweeps.levels.states.iter().zip(values) {
        result[state as usize] = value;
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
    /// In order of their states; none crosses the border of a block.
    runs: Vec<Run>,
    /// The first run of each block, and the number of all runs.
    of_block: Vec<usize>,
    /// The transitions of each group of rows that are not in a regular run.
    groups: Vec<Range<usize>>,
    targets: Vec<u32>,
    weights: Vec<V>,
    constants: Vec<V>,
    /// The index of each state among those whose values can change.
    place: Vec<u32>,
    /// For each block, the blocks that it reads, including itself.
    reads: Vec<Vec<u32>>,
    /// The largest number of terms of a row.
    terms: usize,
    /// The units of rounding of a row in addition to one for each term.
    row_units: f64,
}

/// Rows of consecutive states.
///
/// Chains of walks and queues have many rows that differ from the row before only in that each target is the next one. Such
/// a run is stored by columns: the values that a column reads lie side by side, so that several rows are computed at a time.
///
/// Other rows are stored by columns in groups of [`LANES`], each filled up with zeros to the length of its longest row (sliced
/// ELLPACK), so that the sums of a group do not wait for each other: 10,000 steps of a walk on a grid of 1,024 states take 55 ms
/// instead of 130 on a loaded machine. Loops over lanes count instead of zipping: builds without link-time optimisation call the
/// functions of iterators, which took four times as long. (A. Monakov, A. Lokhmotov, A. Avetisyan, "Automatically tuning sparse matrix-vector
/// multiplication for GPU architectures", 2010.)
struct Run {
    begin: usize,
    end: usize,
    /// The number of terms of each row, if the run is regular.
    regular: Option<usize>,
    /// The index of its first transition if it is regular, else of its first group.
    first: usize,
}

/// The least number of rows of a regular run.
const REGULAR: usize = 8;

/// The number of rows of a group.
const LANES: usize = 8;

/// The rows of a block before they are stored, one after the other.
struct BlockRows<V> {
    ends: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<V>,
}

impl<V> BlockRows<V> {
    fn row(&self, at: usize) -> Range<usize> {
        at.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[at]
    }

    /// Whether each target of a row follows that of the row before.
    fn continues(&self, at: usize) -> bool {
        let (before, row) = (&self.targets[self.row(at - 1)], &self.targets[self.row(at)]);
        before.len() == row.len()
            && before
                .iter()
                .zip(row)
                .all(|(before, target)| before + 1 == *target)
    }

    /// Returns the end of the longest regular run from a row on.
    fn run(&self, begin: usize) -> usize {
        let mut end = begin + 1;
        while end < self.ends.len() && self.continues(end) {
            end += 1;
        }
        end
    }
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
            runs: Vec::new(),
            of_block: Vec::with_capacity(count.div_ceil(BLOCK) + 1),
            groups: Vec::with_capacity(count.div_ceil(LANES)),
            targets: Vec::new(),
            weights: Vec::new(),
            constants: Vec::with_capacity(count),
            place,
            reads: Vec::with_capacity(count.div_ceil(BLOCK)),
            terms: 0,
            row_units: 1.0 + chain.probability_units(),
            levels,
        };
        let mut block_rows = BlockRows {
            ends: Vec::new(),
            targets: Vec::new(),
            weights: Vec::new(),
        };
        let mut seen = vec![NONE; count.div_ceil(BLOCK)];
        for begin in (0..count).step_by(BLOCK) {
            let block = (begin / BLOCK) as u32;
            let mut reads = vec![block];
            seen[block as usize] = block;
            for at in begin..(begin + BLOCK).min(count) {
                let state = sweeps.levels.states[at];
                let mut constant = earned(state);
                for (target, weight) in chain.row(state) {
                    let at = sweeps.place[target as usize];
                    if at == NONE {
                        constant.accumulate(weight, fixed(target));
                        continue;
                    }
                    block_rows.targets.push(at);
                    block_rows.weights.push(weight.clone());
                    let other = at / BLOCK as u32;
                    if seen[other as usize] != block {
                        seen[other as usize] = block;
                        reads.push(other);
                    }
                }
                let own = chain.graph().successors(state).len();
                sweeps.terms = sweeps.terms.max(own + 1);
                block_rows.ends.push(block_rows.targets.len());
                sweeps.constants.push(constant);
            }
            sweeps.reads.push(reads);
            sweeps.store(begin, &mut block_rows);
        }
        sweeps.of_block.push(sweeps.runs.len());
        sweeps
    }

    /// Stores the rows of the next block, which begins with state `base`, as runs.
    fn store(&mut self, base: usize, rows: &mut BlockRows<V>) {
        self.of_block.push(self.runs.len());
        let mut begin = 0;
        while begin < rows.ends.len() {
            let mut end = rows.run(begin);
            let is_regular = end - begin >= REGULAR;
            // Rows up to the next regular run are one run.
            while !is_regular && end < rows.ends.len() {
                let next = rows.run(end);
                if next - end >= REGULAR {
                    break;
                }
                end = next;
            }
            let terms = rows.row(begin).len();
            self.runs.push(Run {
                begin: base + begin,
                end: base + end,
                regular: is_regular.then_some(terms),
                first: if is_regular {
                    self.targets.len()
                } else {
                    self.groups.len()
                },
            });
            if is_regular {
                self.store_columns(rows, begin..end, end - begin, terms);
            } else {
                for first in (begin..end).step_by(LANES) {
                    let group = first..end.min(first + LANES);
                    let longest = group.clone().map(|at| rows.row(at).len()).max();
                    let stored = self.targets.len();
                    self.store_columns(rows, group, LANES, longest.unwrap_or(0));
                    self.groups.push(stored..self.targets.len());
                }
            }
            begin = end;
        }
        rows.ends.clear();
        rows.targets.clear();
        rows.weights.clear();
    }

    /// Stores rows by columns of this length; what a row lacks has the weight zero.
    fn store_columns(
        &mut self,
        rows: &BlockRows<V>,
        range: Range<usize>,
        length: usize,
        terms: usize,
    ) {
        for column in 0..terms {
            for at in range.start..range.start + length {
                let row = if at < range.end { rows.row(at) } else { 0..0 };
                let term = row.clone().nth(column);
                self.targets.push(term.map_or(0, |term| rows.targets[term]));
                let weight = term.map_or_else(V::zero, |term| rows.weights[term].clone());
                self.weights.push(weight);
            }
        }
    }

    /// Returns the values after this many steps from `start`; the states of `sure` have the value `then` from their
    /// step on.
    fn run(&mut self, start: V, steps: u64, sure: &[Vec<u32>], then: &V) -> Vec<V::Estimate> {
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
                *change = due && {
                    let into = &mut next[begin..end];
                    self.block(block, begin..end, &values, into);
                    *into != values[begin..end]
                };
                any |= *change;
            }
            before = active;
            std::mem::swap(&mut values, &mut next);
            std::mem::swap(&mut changed, &mut changes);
            if !any && last + 1 >= self.levels.ends.len() && level >= sure.len() {
                break;
            }
        }
        let units = self.units(steps);
        let values = values.into_iter();
        values
            .map(|value| V::Estimate::exact(value).rounded(units))
            .collect()
    }

    /// Computes one step of the first states of a block.
    fn block(&self, block: usize, range: Range<usize>, values: &[V], next: &mut [V]) {
        for run in &self.runs[self.of_block[block]..self.of_block[block + 1]] {
            let end = run.end.min(range.end);
            if end <= run.begin {
                break;
            }
            let into = &mut next[run.begin - range.start..end - range.start];
            match run.regular {
                Some(terms) => self.columns(run, terms, values, into),
                None => self.groups(run, values, into),
            }
        }
    }

    /// Computes the first rows of a regular run, several side by side, each sum in the order of its row.
    fn columns(&self, run: &Run, terms: usize, values: &[V], into: &mut [V]) {
        let rows = run.end - run.begin;
        let (groups, rest) = into.as_chunks_mut::<LANES>();
        let mut at = 0;
        for into in groups {
            let mut sums = lanes(&self.constants, run.begin + at).clone();
            for column in 0..terms {
                let first = run.first + column * rows;
                let weights = lanes(&self.weights, first + at);
                let read = lanes(values, self.targets[first] as usize + at);
                for lane in 0..LANES {
                    sums[lane].accumulate(&weights[lane], &read[lane]);
                }
            }
            *into = sums;
            at += LANES;
        }
        rest.clone_from_slice(&self.constants[run.begin + at..][..rest.len()]);
        for column in 0..terms {
            let first = run.first + column * rows;
            let from = self.targets[first] as usize + at;
            for (lane, into) in rest.iter_mut().enumerate() {
                into.accumulate(&self.weights[first + at + lane], &values[from + lane]);
            }
        }
    }

    /// Computes the first rows of a run of groups, in the same order.
    fn groups(&self, run: &Run, values: &[V], into: &mut [V]) {
        let (groups, rest) = into.as_chunks_mut::<LANES>();
        let group = groups.len();
        for (group, into) in groups.iter_mut().enumerate() {
            let constants = lanes(&self.constants, run.begin + group * LANES).clone();
            *into = self.group(run.first + group, constants, values);
        }
        if !rest.is_empty() {
            let mut constants: [V; LANES] = std::array::from_fn(|_| V::zero());
            let begin = run.begin + group * LANES;
            constants[..rest.len()].clone_from_slice(&self.constants[begin..begin + rest.len()]);
            let sums = self.group(run.first + group, constants, values);
            rest.clone_from_slice(&sums[..rest.len()]);
        }
    }

    /// Adds the terms of a group of rows to its constants.
    #[inline(always)]
    fn group(&self, group: usize, mut sums: [V; LANES], values: &[V]) -> [V; LANES] {
        for first in self.groups[group].clone().step_by(LANES) {
            let weights = lanes(&self.weights, first);
            let targets = lanes(&self.targets, first);
            for lane in 0..LANES {
                sums[lane].accumulate(&weights[lane], &values[targets[lane] as usize]);
            }
        }
        sums
    }

    /// Makes the value of a state a constant.
    fn settle(&mut self, at: usize, value: &V) {
        let run = self.runs.partition_point(|run| run.end <= at);
        let run = &self.runs[run];
        let row = at - run.begin;
        let (columns, length) = match run.regular {
            Some(terms) => {
                let length = run.end - run.begin;
                (run.first + row..run.first + terms * length, length)
            }
            None => {
                let group = &self.groups[run.first + row / LANES];
                (group.start + row % LANES..group.end, LANES)
            }
        };
        for term in columns.step_by(length) {
            self.weights[term] = V::zero();
        }
        self.constants[at] = value.clone();
    }

    /// Returns the units of relative error after this many steps.
    fn units(&self, steps: u64) -> f64 {
        compounded((steps as f64 + 1.0) * (self.terms as f64 + self.row_units))
    }
}

/// Returns the [`LANES`] entries from an index on.
#[inline(always)]
fn lanes<T>(all: &[T], from: usize) -> &[T; LANES] {
    &all[from..from + LANES].as_chunks().0[0]
}
