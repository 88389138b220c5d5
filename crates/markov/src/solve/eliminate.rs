//! State elimination without subtraction: exact on rationals, and on doubles of small relative error whatever the condition.
//!
//! Eliminating touches the transitions alone, so that it is done once for any number of right-hand sides: [`factor`] keeps what
//! was taken over by whom, and [`Factorisation::solve`] repeats it on a right-hand side.
//!
//! To eliminate a state `u`, every predecessor `p` takes over its transitions: `P(p,t) += P(p,u) · P(u,t) / S(u)` with `S(u)`
//! the sum of what leaves `u`. The state with the fewest products comes next (Markowitz's rule); once what is left is
//! nearly full it is finished as a dense matrix.
//!
//! # Source
//! Grassmann, Taksar, Heyman 1985 for the arithmetic; C. Daws, "Symbolic and parametric model checking of discrete-time
//! Markov chains", ICTAC 2004 for elimination of states; H. Markowitz, "The elimination form of the inverse", 1957 for
//! the order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::scalar::{Estimate, Scalar};
use super::block::Block;

/// Products below this may have lost digits to underflow; then nothing is claimed.
const UNDERFLOW: f64 = 1e-280;

/// What is left becomes a dense matrix once this part of it is filled…
const DENSE_FILL: f64 = 0.25;
/// …and it is at least this large, below which the sparse form does as well.
const DENSE_MIN: usize = 16;

/// A state that was eliminated.
#[derive(Debug)]
struct Pivot<V> {
    state: u32,
    /// Its transitions to states that were left, which it is computed from once they are known.
    row: Vec<(u32, V)>,
    sum: V,
    /// Its predecessors that were left, each with the share of its right-hand side that they take over.
    shares: Vec<(u32, V)>,
}

/// What was left when it was nearly full.
#[derive(Debug)]
struct Dense<V> {
    states: Vec<u32>,
    /// Row by row: left of the diagonal what a state is computed from, right of it what was taken over.
    matrix: Vec<V>,
    sums: Vec<V>,
}

/// A block after elimination, ready for right-hand sides.
#[derive(Debug)]
pub(super) struct Factorisation<V> {
    pivots: Vec<Pivot<V>>,
    dense: Dense<V>,
    /// Units of relative error.
    units: f64,
    /// Whether products were so small that nothing can be claimed.
    underflow: bool,
}

struct Elimination<V> {
    rows: Vec<Vec<(u32, V)>>,
    /// Predecessors, among them some that were eliminated since.
    before: Vec<Vec<u32>>,
    /// How many of them are left.
    n_before: Vec<u32>,
    leaving: Vec<V>,
    alive: Vec<bool>,
    /// Units of relative error so far.
    units: f64,
    underflow: bool,
}

/// Eliminates a block; none if that takes more than `max_updates` updates of entries.
pub(super) fn factor<V: Scalar>(block: &Block<V>, max_updates: f64) -> Option<Factorisation<V>> {
    let n = block.len();
    let mut work = Elimination::new(block);
    let mut queue: BinaryHeap<Reverse<(u64, u32)>> = (0..n as u32)
        .map(|state| Reverse((work.cost(state), state)))
        .collect();
    // For each target its place in the row at hand.
    let mut place = vec![u32::MAX; n];
    let mut pivots: Vec<Pivot<V>> = Vec::with_capacity(n);
    let mut entries: usize = block.targets.len();
    let mut updates = 0.0;
    let mut left = n;
    while let Some(Reverse((cost, state))) = queue.pop() {
        if !work.alive[state as usize] {
            continue;
        }
        let now = work.cost(state);
        if now > cost {
            queue.push(Reverse((now, state)));
            continue;
        }
        if left >= DENSE_MIN && entries as f64 > DENSE_FILL * (left * left) as f64 {
            let cube = (left as f64).powi(3) / 3.0;
            // A dense update is several times cheaper than a sparse one.
            if updates + cube / 8.0 > max_updates {
                return None;
            }
            break;
        }
        updates += now as f64;
        if updates > max_updates {
            return None;
        }
        entries = work.remove(state, entries, &mut place, &mut pivots);
        left -= 1;
    }
    let dense = work.finish_dense();
    Some(Factorisation {
        pivots,
        dense,
        units: work.units,
        underflow: work.underflow && !V::EXACT,
    })
}

impl<V: Scalar> Factorisation<V> {
    /// The solution for a right-hand side.
    pub(super) fn solve(&self, mut rhs: Vec<V::Estimate>) -> Vec<V::Estimate> {
        for pivot in &self.pivots {
            let own = rhs[pivot.state as usize].clone();
            if own.is_zero() {
                continue;
            }
            for (before, share) in &pivot.shares {
                rhs[*before as usize].accumulate(share, &own);
            }
        }
        self.dense.solve(&mut rhs);
        for pivot in self.pivots.iter().rev() {
            let mut sum = rhs[pivot.state as usize].clone();
            for (target, weight) in &pivot.row {
                sum.accumulate(weight, &rhs[*target as usize]);
            }
            sum.divide(&pivot.sum);
            rhs[pivot.state as usize] = sum;
        }
        rhs.into_iter()
            .map(|value| {
                let value = value.rounded(self.units);
                if self.underflow {
                    value.widened(f64::INFINITY)
                } else {
                    value
                }
            })
            .collect()
    }

    /// How many numbers it holds.
    pub(super) fn numbers(&self) -> usize {
        let pivots = self.pivots.iter();
        let sparse: usize = pivots.map(|p| p.row.len() + p.shares.len() + 1).sum();
        sparse + self.dense.matrix.len() + self.dense.sums.len()
    }
}

impl<V: Scalar> Dense<V> {
    /// Puts the solution in the place of the right-hand side.
    fn solve(&self, rhs: &mut [V::Estimate]) {
        let n = self.states.len();
        for u in (0..n).rev() {
            let own = rhs[self.states[u] as usize].clone();
            for p in 0..u {
                let share = &self.matrix[p * n + u];
                if !share.is_zero() {
                    rhs[self.states[p] as usize].accumulate(share, &own);
                }
            }
        }
        for u in 0..n {
            let mut sum = rhs[self.states[u] as usize].clone();
            for (t, weight) in self.matrix[u * n..u * n + u].iter().enumerate() {
                sum.accumulate(weight, &rhs[self.states[t] as usize]);
            }
            sum.divide(&self.sums[u]);
            rhs[self.states[u] as usize] = sum;
        }
    }
}

impl<V: Scalar> Elimination<V> {
    fn new(block: &Block<V>) -> Elimination<V> {
        let n = block.len();
        let mut before = vec![Vec::new(); n];
        let rows: Vec<Vec<(u32, V)>> = (0..n)
            .map(|state| {
                block
                    .row(state)
                    .map(|(target, weight)| {
                        before[target as usize].push(state as u32);
                        (target, weight.clone())
                    })
                    .collect()
            })
            .collect();
        Elimination {
            rows,
            n_before: before.iter().map(|list| list.len() as u32).collect(),
            before,
            leaving: block.leaving.clone(),
            alive: vec![true; n],
            // The entries of the input are rounded decimals.
            units: 4.0 * n as f64,
            underflow: false,
        }
    }

    /// How many entries the elimination of a state touches.
    fn cost(&self, state: u32) -> u64 {
        u64::from(self.n_before[state as usize]) * (self.rows[state as usize].len() as u64 + 2)
    }

    /// Eliminates one state; returns how many entries are left.
    fn remove(
        &mut self,
        state: u32,
        mut entries: usize,
        place: &mut [u32],
        pivots: &mut Vec<Pivot<V>>,
    ) -> usize {
        let at = state as usize;
        self.alive[at] = false;
        let row = std::mem::take(&mut self.rows[at]);
        let mut sum = self.leaving[at].clone();
        for (target, weight) in &row {
            sum = sum.plus(weight);
            self.n_before[*target as usize] -= 1;
        }
        entries -= row.len();
        let leaving = self.leaving[at].clone();
        let mut shares = Vec::new();
        for before in std::mem::take(&mut self.before[at]) {
            let p = before as usize;
            if !self.alive[p] {
                continue;
            }
            let Some(found) = self.rows[p].iter().position(|entry| entry.0 == state) else {
                continue;
            };
            let (_, weight) = self.rows[p].swap_remove(found);
            entries -= 1;
            let share = weight.over(&sum);
            self.leaving[p].accumulate(&share, &leaving);
            for (slot, entry) in self.rows[p].iter().enumerate() {
                place[entry.0 as usize] = slot as u32;
            }
            for (target, onward) in &row {
                if *target == before {
                    continue;
                }
                let more = share.times(onward);
                self.underflow |= more.to_f64() < UNDERFLOW;
                let slot = place[*target as usize];
                if slot == u32::MAX {
                    self.rows[p].push((*target, more));
                    self.before[*target as usize].push(before);
                    self.n_before[*target as usize] += 1;
                    entries += 1;
                } else {
                    let entry = &mut self.rows[p][slot as usize].1;
                    *entry = entry.plus(&more);
                }
            }
            for entry in &self.rows[p] {
                place[entry.0 as usize] = u32::MAX;
            }
            shares.push((before, share));
        }
        self.count(shares.len(), row.len());
        pivots.push(Pivot {
            state,
            row,
            sum,
            shares,
        });
        entries
    }

    /// Accounts for one elimination: a row of `len` entries into `touched` others, and its use when going back.
    fn count(&mut self, touched: usize, len: usize) {
        self.units += (2.0 * touched as f64 + 1.0) * (len as f64 + 6.0);
    }

    /// Eliminates what is left as a dense matrix, in the same way.
    fn finish_dense(&mut self) -> Dense<V> {
        let states: Vec<u32> = (0..self.alive.len() as u32)
            .filter(|&state| self.alive[state as usize])
            .collect();
        let left = states.len();
        let mut number = vec![usize::MAX; self.alive.len()];
        for (at, &state) in states.iter().enumerate() {
            number[state as usize] = at;
        }
        let mut matrix = vec![V::zero(); left * left];
        for (at, &state) in states.iter().enumerate() {
            for (target, weight) in &self.rows[state as usize] {
                matrix[at * left + number[*target as usize]] = weight.clone();
            }
        }
        let mut sums = vec![V::zero(); left];
        for u in (0..left).rev() {
            let (upper, lower) = matrix.split_at_mut(u * left);
            let row = &lower[..u];
            let leaving = self.leaving[states[u] as usize].clone();
            let mut sum = leaving.clone();
            for weight in row {
                sum = sum.plus(weight);
            }
            for p in 0..u {
                let weight = &upper[p * left + u];
                if weight.is_zero() {
                    continue;
                }
                let share = weight.over(&sum);
                self.underflow |= share.to_f64() < UNDERFLOW;
                self.leaving[states[p] as usize].accumulate(&share, &leaving);
                // The entry on the diagonal grows too; it is never read.
                for (entry, onward) in upper[p * left..p * left + u].iter_mut().zip(row) {
                    entry.accumulate(&share, onward);
                }
                upper[p * left + u] = share;
            }
            sums[u] = sum;
            self.count(u, u);
        }
        Dense {
            states,
            matrix,
            sums,
        }
    }
}
