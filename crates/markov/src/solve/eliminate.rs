//! State elimination without subtraction: exact on rationals; on doubles with a small relative error whatever the condition.
//!
//! To eliminate a state `u`, every predecessor `p` takes over its transitions: `P(p,t) += P(p,u) · (P(u,t) / S(u))` with `S(u)`
//! the sum of the transitions out of `u`. Elimination depends only on the transitions, so it is done once for any number of
//! right-hand sides: [`factor`] records its steps, and [`Factorisation::solve`] applies them to a right-hand side.
//!
//! The work is done in *fronts*: the states of one group of the [order](super::order), with all states that they are adjacent
//! to by then, as a small dense matrix. The remainder of a front is pushed on a stack until its parent group is processed. In
//! postorder it is then on top of the stack.
//!
//! # Accuracy
//! Let `ε` be one [`UNIT`]. A matrix entry is at any time a sum of nonnegative parts (its own, those on the stack, those in the
//! front), and each rounding changes one part, hence the entry, by a factor within `1 ± ε`. Eliminating `u` multiplies the
//! entries of row `p` by at most 5 such factors: 2 for the sum `S(u)`, which is compensated, and one each for quotient, product
//! and sum. If the entries of one row, the right-hand side among them, change by factors within `1 ± δ`, the solution changes
//! by factors within `(1 ± δ)/(1 ∓ δ)`, because numerator and denominator of the matrix-tree theorem are sums of products with
//! one factor per row. So the error of the solution of the computed triangular system is at most 10 units for each pair of an
//! eliminated state and a row that takes over its transitions, and back substitution adds `len + 4` for each row of `len`
//! entries on the way to a root. The condition of the system does not occur: a birth-death chain of 10^6 states is solved to
//! 10^-8, where the condition is 10^12.
//!
//! For this reason no general sparse LU factorisation is used: its diagonal is a difference, so its result could be proven only
//! from the residual, where the condition matters.
//!
//! This holds as long as no product underflows. If one may have, the result is [proven](super::prove) from its residual
//! instead.
//!
//! # Source
//! W. Grassmann, M. Taksar, D. Heyman 1985 for the arithmetic; C. O'Cinneide 1993 for the error; I. Duff, J. Reid, "The
//! multifrontal solution of indefinite sparse symmetric linear systems", ACM TOMS 9(3), 1983.

use std::ops::Range;

use super::super::scalar::{Estimate, Scalar, compounded};
use super::block::Block;
use super::order::{NONE, Order};

/// Products below this may have lost digits to underflow.
const UNDERFLOW: f64 = 1e-290;

/// The number of pivots that are applied to the other rows of a front in one pass, so that their rows stay in the
/// cache.
const PANEL: usize = 8;

/// The location of the numbers of a front.
#[derive(Clone, Copy, Debug)]
struct Front {
    /// The index of the first of its states: first the eliminated ones, then the others.
    states: usize,
    /// The index of the first of its numbers: for each eliminated state the sum of its outgoing transitions, its transitions to
    /// the later states of the front divided by this sum, and the transitions of these states to it.
    numbers: usize,
    /// The number of eliminated states.
    pivots: u32,
    /// The number of states.
    size: u32,
}

/// An eliminated block, ready for right-hand sides.
#[derive(Debug)]
pub(super) struct Factorisation<V> {
    fronts: Vec<Front>,
    states: Vec<u32>,
    numbers: Vec<V>,
    /// The units of relative error.
    units: f64,
    /// Whether products were so small that `units` does not bound the error.
    underflow: bool,
    /// The smallest nonzero number.
    least: f64,
}

/// The transitions of a block, by target.
struct Columns {
    start: Vec<u32>,
    sources: Vec<u32>,
    /// The index of the weight in the block.
    weights: Vec<u32>,
}

impl Columns {
    fn new<V: Scalar>(block: &Block<V>) -> Columns {
        let n = block.len();
        let mut start = vec![0u32; n + 2];
        for &target in &block.targets {
            start[target as usize + 2] += 1;
        }
        for at in 2..start.len() {
            start[at] += start[at - 1];
        }
        let mut columns = Columns {
            sources: vec![0; block.targets.len()],
            weights: vec![0; block.targets.len()],
            start,
        };
        for state in 0..n {
            for edge in block.rows[state]..block.rows[state + 1] {
                let next = &mut columns.start[block.targets[edge as usize] as usize + 1];
                columns.sources[*next as usize] = state as u32;
                columns.weights[*next as usize] = edge;
                *next += 1;
            }
        }
        columns.start.pop();
        columns
    }

    fn of(&self, target: u32) -> impl Iterator<Item = (u32, u32)> {
        let range = self.start[target as usize] as usize..self.start[target as usize + 1] as usize;
        let weights = self.weights[range.clone()].iter().copied();
        self.sources[range].iter().copied().zip(weights)
    }
}

/// Eliminates all states of a block.
///
/// # Limits
/// Memory: two numbers for each pair of an eliminated state and a state adjacent to it, and the matrices on the stack.
pub(super) fn factor<V: Scalar>(block: &Block<V>, order: &Order) -> Factorisation<V> {
    let n = block.len();
    let columns = Columns::new(block);
    let mut rank = vec![0u32; n];
    for (at, &state) in order.states.iter().enumerate() {
        rank[state as usize] = at as u32;
    }
    let n_groups = order.parents.len();
    let mut factors = Factorisation {
        fronts: Vec::with_capacity(n_groups),
        states: Vec::with_capacity(2 * n),
        numbers: Vec::with_capacity(3 * n),
        // Each entry of the input has an error; the probability of leaving the block is a rounded sum of them.
        units: (2.0 + 2.0 * block.own_units) * n as f64 + 2.0 * block.exits as f64,
        underflow: !V::EXACT && (block.weights.iter().chain(&block.leaving)).any(is_tiny),
        least: 1.0,
    };
    let mut place = vec![NONE; n];
    let mut work = Work {
        matrix: Vec::new(),
        width: 0,
    };
    // The matrices on the stack, one after the other, and the fronts that they come from.
    let (mut stack, mut waiting): (Vec<V>, Vec<u32>) = (Vec::new(), Vec::new());
    for group in 0..n_groups {
        let range = order.groups[group] as usize..order.groups[group + 1] as usize;
        let begin = factors.states.len();
        factors
            .states
            .extend_from_slice(&order.states[range.clone()]);
        let children = waiting
            .iter()
            .rev()
            .take_while(|&&child| order.parents[child as usize] == group as u32)
            .count();
        let first = waiting.len() - children;
        for (at, state) in factors.states[begin..].iter().enumerate() {
            place[*state as usize] = at as u32;
        }
        let states = &mut factors.states;
        let mut join = |state: u32, states: &mut Vec<u32>| {
            if place[state as usize] == NONE {
                place[state as usize] = (states.len() - begin) as u32;
                states.push(state);
            }
        };
        for &child in &waiting[first..] {
            for at in factors.fronts[child as usize].border() {
                join(states[at], states);
            }
        }
        let is_left = |state: u32| rank[state as usize] as usize >= range.end;
        for at in begin..begin + range.len() {
            let state = states[at];
            for (other, _) in block.row(state as usize).filter(|entry| is_left(entry.0)) {
                join(other, states);
            }
            for (other, _) in columns.of(state).filter(|entry| is_left(entry.0)) {
                join(other, states);
            }
        }
        let front = Front {
            states: begin,
            numbers: factors.numbers.len(),
            pivots: range.len() as u32,
            size: (states.len() - begin) as u32,
        };
        work.assemble(block, &columns, &factors.states, front, &place);
        let mut top = stack.len();
        for &child in waiting[first..].iter().rev() {
            let child = factors.fronts[child as usize];
            let states = &factors.states[child.border()];
            top -= states.len() * (states.len() + 1);
            work.add(&stack[top..], states, &place);
            factors.units += 2.0 * states.len() as f64;
        }
        stack.truncate(top);
        waiting.truncate(first);
        work.eliminate(front.pivots as usize, &mut factors);
        for state in &factors.states[begin..] {
            place[*state as usize] = NONE;
        }
        if order.parents[group] != NONE {
            work.pass_on(front.pivots as usize, &mut stack);
            waiting.push(group as u32);
        }
        factors.fronts.push(front);
    }
    factors.units += factors.longest_way_back(order);
    factors.units = compounded(factors.units);
    factors
}

fn is_tiny<V: Scalar>(value: &V) -> bool {
    !value.is_zero() && value.to_f64() < UNDERFLOW
}

impl Front {
    /// Returns the index range of the states that are not eliminated.
    fn border(&self) -> Range<usize> {
        self.states + self.pivots as usize..self.states + self.size as usize
    }
}

/// Adds four rows, each times its weight, to another, in this order. An entry is read and written once instead of four times, which
/// is what eliminating a large front costs.
fn add_four<V: Scalar>(into: &mut [V], weights: &[V; 4], rows: [&[V]; 4]) {
    let [one, two, three, four] = rows;
    let rows = one.iter().zip(two).zip(three).zip(four);
    for (entry, (((one, two), three), four)) in into.iter_mut().zip(rows) {
        entry.accumulate(&weights[0], one);
        entry.accumulate(&weights[1], two);
        entry.accumulate(&weights[2], three);
        entry.accumulate(&weights[3], four);
    }
}

/// The dense matrix of the current front: a row for each state, with a column for each state and one for leaving the
/// block.
struct Work<V> {
    matrix: Vec<V>,
    width: usize,
}

impl<V: Scalar> Work<V> {
    /// Fills in the transitions from and to the eliminated states.
    fn assemble(
        &mut self,
        block: &Block<V>,
        columns: &Columns,
        states: &[u32],
        front: Front,
        place: &[u32],
    ) {
        let size = front.size as usize;
        self.width = size + 1;
        self.matrix.clear();
        self.matrix.resize(size * (size + 1), V::zero());
        let pivots = front.pivots as usize;
        for (at, &state) in states[front.states..front.states + pivots]
            .iter()
            .enumerate()
        {
            let row = &mut self.matrix[at * self.width..][..self.width];
            row[size] = block.leaving[state as usize].clone();
            for (target, weight) in block.row(state as usize) {
                // Transitions to states that were eliminated before are part of the children's matrices.
                let to = place[target as usize];
                if to != NONE {
                    row[to as usize] = weight.clone();
                }
            }
            for (source, weight) in columns.of(state) {
                let from = place[source as usize];
                if from != NONE && from as usize >= pivots {
                    self.matrix[from as usize * self.width + at] =
                        block.weights[weight as usize].clone();
                }
            }
        }
    }

    /// Adds the matrix of a child.
    fn add(&mut self, waited: &[V], states: &[u32], place: &[u32]) {
        let count = states.len();
        let size = self.width - 1;
        for (row, &state) in waited.chunks_exact(count + 1).zip(states) {
            let into = &mut self.matrix[place[state as usize] as usize * self.width..][..=size];
            for (value, &state) in row.iter().zip(states) {
                let entry = &mut into[place[state as usize] as usize];
                *entry = entry.plus(value);
            }
            into[size] = into[size].plus(&row[count]);
        }
    }

    /// Eliminates the first states and stores what right-hand sides require of them.
    fn eliminate(&mut self, pivots: usize, factors: &mut Factorisation<V>) {
        let (width, size) = (self.width, self.width - 1);
        let mut begin = 0;
        while begin < pivots {
            let end = (begin + PANEL).min(pivots);
            for pivot in begin..end {
                let (before, after) = self.matrix.split_at_mut((pivot + 1) * width);
                let row = &mut before[pivot * width + pivot + 1..];
                let sum = V::sum(row);
                let mut smallest = 1.0f64;
                for entry in row.iter_mut().filter(|entry| !entry.is_zero()) {
                    *entry = entry.over(&sum);
                    if !V::EXACT {
                        smallest = smallest.min(entry.to_f64());
                    }
                }
                let mut touched = 0usize;
                let mut least = 1.0f64;
                for (below, other) in after.chunks_exact_mut(width).enumerate() {
                    let (left, right) = other.split_at_mut(pivot + 1);
                    let weight = &left[pivot];
                    if weight.is_zero() {
                        continue;
                    }
                    touched += 1;
                    if !V::EXACT {
                        least = least.min(weight.to_f64());
                    }
                    // Rows of the panel are updated in full, the others only in the columns of the panel.
                    let until = if pivot + 1 + below < end { width } else { end };
                    for (entry, onward) in right[..until - pivot - 1].iter_mut().zip(&*row) {
                        entry.accumulate(weight, onward);
                    }
                }
                // A sum that underflowed to 0 has lost all digits.
                factors.least = factors.least.min(least).min(smallest);
                factors.underflow |=
                    !V::EXACT && (least * smallest < UNDERFLOW || sum.to_f64() < UNDERFLOW);
                factors.units += 10.0 * touched as f64;
                factors.numbers.push(sum);
                factors.numbers.extend_from_slice(&row[..size - pivot - 1]);
                let column = after.chunks_exact(width).map(|other| other[pivot].clone());
                factors.numbers.extend(column);
            }
            self.apply(begin..end);
            begin = end;
        }
    }

    /// Adds what the rows of a panel pass on to all rows below it.
    fn apply(&mut self, panel: Range<usize>) {
        let width = self.width;
        let (above, below) = self.matrix.split_at_mut(panel.end * width);
        for other in below.chunks_exact_mut(width) {
            let (weights, rest) = other.split_at_mut(panel.end);
            let row = |pivot: usize| &above[pivot * width + panel.end..(pivot + 1) * width];
            let mut pivot = panel.start;
            while pivot < panel.end {
                if let Some(four) = weights[pivot..].first_chunk()
                    && !four.iter().any(V::is_zero)
                {
                    add_four(rest, four, [0, 1, 2, 3].map(|more| row(pivot + more)));
                    pivot += 4;
                    continue;
                }
                let weight = &weights[pivot];
                // The row of a state that cannot be reached may not be finite.
                if !weight.is_zero() {
                    for (entry, onward) in rest.iter_mut().zip(row(pivot)) {
                        entry.accumulate(weight, onward);
                    }
                }
                pivot += 1;
            }
        }
    }

    /// Pushes the remainder of the front on the stack.
    fn pass_on(&self, pivots: usize, stack: &mut Vec<V>) {
        for row in self.matrix.chunks_exact(self.width).skip(pivots) {
            stack.extend_from_slice(&row[pivots..]);
        }
    }
}

impl<V: Scalar> Factorisation<V> {
    /// Returns the solution for a right-hand side, and whether its errors are proven; they are not if a product may
    /// have underflowed.
    pub(super) fn solve(&self, mut rhs: Vec<V::Estimate>) -> (Vec<V::Estimate>, bool) {
        let mut least = 1.0f64;
        for front in &self.fronts {
            let states = &self.states[front.states..][..front.size as usize];
            let mut numbers = &self.numbers[front.numbers..];
            for pivot in 0..front.pivots as usize {
                let later = &states[pivot + 1..];
                let (own, rest) = numbers.split_at(2 * later.len() + 1);
                numbers = rest;
                let value = &mut rhs[states[pivot] as usize];
                if value.is_zero() {
                    continue;
                }
                value.divide(&own[0]);
                let value = value.clone();
                if !V::EXACT {
                    least = least.min(value.value().to_f64());
                }
                for (&before, weight) in later.iter().zip(&own[1 + later.len()..]) {
                    if !weight.is_zero() {
                        rhs[before as usize].accumulate(weight, &value);
                    }
                }
            }
        }
        for front in self.fronts.iter().rev() {
            let states = &self.states[front.states..][..front.size as usize];
            let mut end = front.numbers + front.numbers();
            for pivot in (0..front.pivots as usize).rev() {
                let later = &states[pivot + 1..];
                end -= 2 * later.len() + 1;
                let own = &self.numbers[end..][..1 + later.len()];
                let mut sum = rhs[states[pivot] as usize].clone();
                for (&target, weight) in later.iter().zip(&own[1..]) {
                    // If a sum has underflowed, 0 times infinity would not be 0.
                    if !weight.is_zero() {
                        sum.accumulate(weight, &rhs[target as usize]);
                    }
                }
                rhs[states[pivot] as usize] = sum;
            }
        }
        for value in &mut rhs {
            if !V::EXACT && !value.is_zero() {
                least = least.min(value.value().to_f64());
            }
            *value = value.clone().rounded(self.units);
        }
        let proven = !self.underflow && least * self.least > UNDERFLOW;
        (rhs, proven || V::EXACT)
    }

    /// Returns the number of stored numbers.
    pub(super) fn numbers(&self) -> usize {
        self.numbers.len()
    }

    /// Returns an upper bound on the units of error that back substitution adds.
    fn longest_way_back(&self, order: &Order) -> f64 {
        let mut longest = 0.0f64;
        let mut way = vec![0.0; self.fronts.len()];
        for (group, front) in self.fronts.iter().enumerate().rev() {
            let parent = order.parents[group];
            let begin = if parent == NONE {
                0.0
            } else {
                way[parent as usize]
            };
            let (pivots, size) = (f64::from(front.pivots), f64::from(front.size));
            way[group] = begin + pivots * (size + 4.0);
            longest = longest.max(way[group]);
        }
        longest
    }
}

impl Front {
    fn numbers(&self) -> usize {
        let (pivots, size) = (self.pivots as usize, self.size as usize);
        // 1 + 2 (size - 1 - i) for each i below `pivots`.
        pivots + pivots * (2 * size - pivots - 1)
    }
}
