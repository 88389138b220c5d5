//! Iteration for components too large to eliminate, with a certificate that does not trust it.
//!
//! Gauss-Seidel sweeps approach the solution; how near they are follows from a second vector. With the rows divided by
//! what leaves each state, the system is `x = b + Q x`. Let `v` be the iterate, `θ` such that `|b + Q v - v| ≤ θ v`, and `w`
//! any vector with `w - Q w ≥ v`; then `v - θ w ≤ x ≤ v + θ w`: both ends are inductive, and `Q` is substochastic with no
//! closed part, so that bounds which a step does not push outwards hold. `w` is found by the same sweeps, and needs few: it is done as soon as
//! `w - Q w ≥ v / 2` everywhere, and is then doubled.
//!
//! # Accuracy
//! The certificate is checked with the rounding of its own sums added, so it holds for the numbers as computed. Rounding of
//! the divided entries is a relative change of the rows, accounted for as in elimination.
//!
//! # Source
//! The test for bounds from one side is that of optimistic value iteration: A. Hartmanns, B. Kaminski, CAV 2020. Using a
//! second solution instead of a scaled first one lets it succeed at states that do not leave the component directly.

use super::super::scalar::{Estimate, Scalar, UNIT};
use super::block::Block;
use super::eliminate::{self, Factorisation};
use super::{Accuracy, NotConverged, krylov};

/// Rows divided by what leaves each state, so that a sweep is sums of products.
pub(super) struct Sweeps {
    rows: Vec<u32>,
    /// Where in each row the targets begin that a sweep visits later than the row itself.
    later: Vec<u32>,
    targets: Vec<u32>,
    weights: Vec<f64>,
    /// Units of rounding in a row sum.
    units: f64,
}

/// Components up to this size are iterated to [`FINE`], whatever was asked for: it costs next to nothing.
const CHEAP: usize = 5_000;

/// If more sweeps than this remain, a Krylov method is worth its setup.
const SLOW: f64 = 48.0;

/// The number of its attempts before elimination is tried.
const MOST_JUMPS: u32 = 4;

/// The work that it may take, in sweeps.
const MOST_JUMPED: usize = 4_000;

/// About the most that doubles give.
const FINE: f64 = 1e-11;

/// How the iteration of a block ends.
pub(super) enum Iterated<V: Scalar> {
    /// With what was asked for.
    Solution(Vec<V::Estimate>),
    /// It was slow, and the block small enough to be eliminated after all.
    Eliminated(Factorisation<V>),
}

/// Iterates a block.
pub(super) fn iterate<V: Scalar>(
    block: &Block<V>,
    accuracy: &Accuracy,
) -> Result<Iterated<V>, NotConverged> {
    let n = block.len();
    let mut longest = 0;
    let mut sweeps = Sweeps {
        rows: block.rows.clone(),
        later: Vec::with_capacity(n),
        targets: Vec::with_capacity(block.targets.len()),
        weights: Vec::with_capacity(block.weights.len()),
        units: 0.0,
    };
    let (mut b, mut known) = (Vec::with_capacity(n), Vec::with_capacity(n));
    for state in 0..n {
        let mut sum = Sum::of(block.leaving[state].to_f64());
        let mut count = 0;
        for (_, weight) in block.row(state) {
            sum.add(weight.to_f64());
            count += 1;
        }
        longest = longest.max(count);
        let sum = sum.value();
        for is_later in [false, true] {
            if is_later {
                sweeps.later.push(sweeps.targets.len() as u32);
            }
            for (target, weight) in block.row(state) {
                if (target < state as u32) == is_later {
                    sweeps.targets.push(target);
                    sweeps.weights.push(weight.to_f64() / sum);
                }
            }
        }
        b.push(block.rhs[state].value().to_f64() / sum);
        let error = block.rhs[state].upper().to_f64() - block.rhs[state].value().to_f64();
        known.push(error.max(0.0) / sum);
    }
    sweeps.units = longest as f64 + 4.0;

    let mut v = b.clone();
    let mut done = 0;
    let accuracy = &Accuracy {
        precision: if n <= CHEAP {
            accuracy.precision.min(FINE)
        } else {
            accuracy.precision
        },
        ..*accuracy
    };
    let mut target = accuracy.precision * 0.1;
    let (mut may_eliminate, mut jumps) = (true, 0);
    loop {
        // Sweep until the relative change is small; how fast it shrinks tells whether to go on.
        let (mut last, mut probe) = (f64::INFINITY, (done, f64::INFINITY));
        while last > target {
            last = sweeps.sweep(&b, &mut v);
            done += 1;
            if done > accuracy.max_sweeps {
                return Err(NotConverged {
                    states: n,
                    precision: accuracy.precision,
                    sweeps: done,
                });
            }
            if may_eliminate && done == probe.0 + 32 {
                let rate = (last / probe.1).powf(1.0 / 32.0);
                let more = if rate < 1.0 {
                    ((target / last).ln() / rate.ln()).max(0.0)
                } else {
                    f64::INFINITY
                };
                // A sparse update costs as much as dozens of steps of a sweep.
                let cost = (more * block.targets.len() as f64 / 64.0).min(accuracy.max_updates);
                if more > SLOW && jumps < MOST_JUMPS && probe.1.is_finite() {
                    // From values far too small it leads nowhere; from those after more sweeps it may.
                    jumps += 1;
                    let most = accuracy.max_sweeps.saturating_sub(done).min(MOST_JUMPED);
                    if let Some(work) = krylov::improve(&sweeps, &b, &mut v, target, most) {
                        done += work;
                        last = f64::INFINITY;
                    }
                } else if more > 256.0 && probe.1.is_finite() {
                    may_eliminate = false;
                    if let Some(factorisation) = eliminate::factor(block, cost) {
                        return Ok(Iterated::Eliminated(factorisation));
                    }
                }
                probe = (done, last);
            } else if done == 1 {
                probe = (done, last);
            }
        }
        if let Some(solution) = sweeps.certify::<V>(&b, &known, &v, accuracy, &mut done)? {
            return Ok(Iterated::Solution(solution));
        }
        target *= 0.01;
        if target < 1e-18 {
            return Err(NotConverged {
                states: n,
                precision: accuracy.precision,
                sweeps: done,
            });
        }
    }
}

impl Sweeps {
    fn len(&self) -> usize {
        self.rows.len() - 1
    }

    /// `b + Q v` at one state.
    #[inline]
    pub(super) fn image(&self, state: usize, b: f64, v: &[f64]) -> f64 {
        let range = self.rows[state] as usize..self.rows[state + 1] as usize;
        let mut sum = b;
        for (&target, &weight) in self.targets[range.clone()].iter().zip(&self.weights[range]) {
            sum += weight * v[target as usize];
        }
        sum
    }

    /// `(I - Q) x`, in unknowns relative to `scale`.
    pub(super) fn apply(&self, x: &[f64], scale: &[f64], into: &mut [f64]) {
        for state in 0..self.len() {
            let range = self.rows[state] as usize..self.rows[state + 1] as usize;
            let mut sum = 0.0;
            let entries = self.targets[range.clone()].iter().zip(&self.weights[range]);
            for (&target, &weight) in entries {
                sum += weight * scale[target as usize] * x[target as usize];
            }
            into[state] = x[state] - sum / scale[state];
        }
    }

    /// Applies one sweep from 0 to a remainder, relative to `scale`.
    pub(super) fn precondition(&self, x: &[f64], scale: &[f64], into: &mut [f64]) {
        for state in (0..self.len()).rev() {
            let range = self.rows[state] as usize..self.later[state] as usize;
            let mut sum = 0.0;
            let entries = self.targets[range.clone()].iter().zip(&self.weights[range]);
            for (&target, &weight) in entries {
                sum += weight * scale[target as usize] * into[target as usize];
            }
            into[state] = x[state] + sum / scale[state];
        }
    }

    /// Sweeps once, beginning with the states that the search left first, which are nearest to the exits. Returns the
    /// largest relative change.
    fn sweep(&self, b: &[f64], v: &mut [f64]) -> f64 {
        let mut change = 0.0f64;
        for state in (0..self.len()).rev() {
            let next = self.image(state, b[state], v);
            if next > 0.0 {
                change = change.max((next - v[state]).abs() / next);
            } else if v[state] == 0.0 {
                // Nothing has come this far yet.
                change = f64::INFINITY;
            }
            v[state] = next;
        }
        change
    }

    /// The solution with its error, if the iterate is good enough.
    fn certify<V: Scalar>(
        &self,
        b: &[f64],
        known: &[f64],
        v: &[f64],
        accuracy: &Accuracy,
        done: &mut usize,
    ) -> Result<Option<Vec<V::Estimate>>, NotConverged> {
        let n = self.len();
        let unit = self.units * UNIT;
        // θ, with the rounding of the sums that it is computed from.
        let mut theta = 0.0f64;
        for state in 0..n {
            let image = self.image(state, b[state], v);
            theta = theta.max(((image - v[state]).abs() + 2.0 * unit * image) / v[state]);
        }
        let w = self.dominate(v, accuracy, done)?;
        // What the boundary does not know exactly is the solution of the same system for its errors.
        let boundary = if known.iter().all(|error| *error == 0.0) {
            vec![0.0; n]
        } else {
            let scale: Vec<f64> = known
                .iter()
                .zip(v)
                .map(|(error, value)| error.max(value * UNIT))
                .collect();
            self.dominate(&scale, accuracy, done)?
        };
        // The rounding of entries changes every row relatively.
        let entries = 2.0 * n as f64 * 8.0;
        let mut solution = Vec::with_capacity(n);
        for state in 0..n {
            let error = (theta * w[state] + boundary[state]) * (1.0 + 1e-9);
            let wide = theta * w[state] > 0.5 * accuracy.precision * v[state];
            // A remainder near the rounding of the sums cannot be made smaller.
            if !(error.is_finite() && (!wide || theta < 8.0 * unit)) {
                return Ok(None);
            }
            let value = V::from_f64(v[state]);
            solution.push(V::Estimate::exact(value).widened(error).rounded(entries));
        }
        Ok(Some(solution))
    }

    /// A vector `w` with `w - Q w ≥ r` for a positive `r`.
    fn dominate(
        &self,
        r: &[f64],
        accuracy: &Accuracy,
        done: &mut usize,
    ) -> Result<Vec<f64>, NotConverged> {
        let unit = self.units * UNIT;
        let mut w = r.to_vec();
        let mut swept = 0usize;
        loop {
            self.sweep(r, &mut w);
            *done += 1;
            swept += 1;
            // Checking costs as much as a sweep, so it is not done after each.
            if !swept.is_multiple_of(4) {
                continue;
            }
            if swept == 16 {
                // Half of what is asked for is enough, so that a coarse solution will do.
                let most = accuracy.max_sweeps.saturating_sub(*done).min(MOST_JUMPED);
                *done += krylov::improve(self, r, &mut w, 1e-3, most).unwrap_or(0);
            }
            let holds = (0..self.len()).all(|state| {
                let image = self.image(state, 0.0, &w);
                w[state] - image - 2.0 * unit * (image + w[state]) >= 0.5 * r[state]
            });
            if holds {
                for value in &mut w {
                    *value *= 2.0;
                }
                return Ok(w);
            }
            if *done > accuracy.max_sweeps {
                return Err(NotConverged {
                    states: self.len(),
                    precision: accuracy.precision,
                    sweeps: *done,
                });
            }
        }
    }
}

/// A sum whose error is that of one rounding, however many terms it has (A. Neumaier 1974).
struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    fn of(first: f64) -> Sum {
        Sum {
            sum: first,
            lost: 0.0,
        }
    }

    fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        self.lost += if self.sum.abs() >= term.abs() {
            (self.sum - sum) + term
        } else {
            (term - sum) + self.sum
        };
        self.sum = sum;
    }

    fn value(&self) -> f64 {
        self.sum + self.lost
    }
}
