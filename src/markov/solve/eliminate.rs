//! State elimination without subtraction: exact on rationals, and on doubles of small relative error whatever the condition.
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

/// A state that was eliminated: what it needs to be computed once its successors are known.
struct Pivot<V> {
    state: u32,
    row: Vec<(u32, V)>,
    sum: V,
}

struct Elimination<V: Scalar> {
    rows: Vec<Vec<(u32, V)>>,
    /// Predecessors, among them some that were eliminated since.
    before: Vec<Vec<u32>>,
    /// How many of them are left.
    n_before: Vec<u32>,
    leaving: Vec<V>,
    rhs: Vec<V::Estimate>,
    alive: Vec<bool>,
    /// Units of relative error so far.
    units: f64,
    underflow: bool,
}

/// Solves a block; none if that takes more than `max_updates` updates of entries.
pub(super) fn eliminate<V: Scalar>(block: &Block<V>, max_updates: f64) -> Option<Vec<V::Estimate>> {
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
    let mut x = vec![V::Estimate::exact(V::zero()); n];
    if left > 0 {
        work.finish_dense(left, &mut x);
    }
    for pivot in pivots.iter().rev() {
        let state = pivot.state as usize;
        let mut sum = work.rhs[state].clone();
        for (target, weight) in &pivot.row {
            sum.accumulate(weight, &x[*target as usize]);
        }
        sum.divide(&pivot.sum);
        x[state] = sum;
    }
    let units = work.units;
    let underflow = work.underflow && !V::EXACT;
    Some(
        x.into_iter()
            .map(|value| {
                let value = value.rounded(units);
                if underflow {
                    value.widened(f64::INFINITY)
                } else {
                    value
                }
            })
            .collect(),
    )
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
            rhs: block.rhs.clone(),
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
        let (leaving, rhs) = (self.leaving[at].clone(), self.rhs[at].clone());
        let mut touched = 0;
        for before in std::mem::take(&mut self.before[at]) {
            let p = before as usize;
            if !self.alive[p] {
                continue;
            }
            let Some(found) = self.rows[p].iter().position(|entry| entry.0 == state) else {
                continue;
            };
            touched += 1;
            let (_, weight) = self.rows[p].swap_remove(found);
            entries -= 1;
            let share = weight.over(&sum);
            self.leaving[p].accumulate(&share, &leaving);
            self.rhs[p].accumulate(&share, &rhs);
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
        }
        self.count(touched, row.len());
        pivots.push(Pivot { state, row, sum });
        entries
    }

    /// Accounts for one elimination: a row of `len` entries into `touched` others, and its use when going back.
    fn count(&mut self, touched: usize, len: usize) {
        self.units += (2.0 * touched as f64 + 1.0) * (len as f64 + 6.0);
    }

    /// Solves what is left as a dense matrix, in the same way.
    fn finish_dense(&mut self, left: usize, x: &mut [V::Estimate]) {
        let states: Vec<usize> = (0..self.alive.len())
            .filter(|&state| self.alive[state])
            .collect();
        let mut number = vec![usize::MAX; self.alive.len()];
        for (at, &state) in states.iter().enumerate() {
            number[state] = at;
        }
        let mut matrix = vec![V::zero(); left * left];
        for (at, &state) in states.iter().enumerate() {
            for (target, weight) in &self.rows[state] {
                matrix[at * left + number[*target as usize]] = weight.clone();
            }
        }
        let mut sums = vec![V::zero(); left];
        for u in (0..left).rev() {
            let (upper, lower) = matrix.split_at_mut(u * left);
            let row = &lower[..u];
            let mut sum = self.leaving[states[u]].clone();
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
                let (leaving, rhs) = (self.leaving[states[u]].clone(), self.rhs[states[u]].clone());
                self.leaving[states[p]].accumulate(&share, &leaving);
                self.rhs[states[p]].accumulate(&share, &rhs);
                // The entry on the diagonal grows too; it is never read.
                for (entry, onward) in upper[p * left..p * left + u].iter_mut().zip(row) {
                    entry.accumulate(&share, onward);
                }
            }
            sums[u] = sum;
            self.count(u, u);
        }
        for u in 0..left {
            let mut sum = self.rhs[states[u]].clone();
            for (t, weight) in matrix[u * left..u * left + u].iter().enumerate() {
                sum.accumulate(weight, &x[states[t]]);
            }
            sum.divide(&sums[u]);
            x[states[u]] = sum;
        }
    }
}
