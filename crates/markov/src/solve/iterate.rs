//! Iteration for components of more than a few states. Its result is [proven](super::prove) independently.
//!
//! With each row divided by the sum of the transitions out of its state, the system is `x = b + Q x`, which Gauss-Seidel sweeps
//! approximate. If these are slow, a [Krylov method](krylov) provides a better iterate, or the block is eliminated. The same
//! methods find the vector that proves the error, of which one digit suffices.
//!
//! The first sweeps decide which it is. The order of an elimination, without which its work is not known, is computed only if
//! sweeps are slow and a Krylov method is not [predicted](super::predict) to be faster: it takes a quarter of the time in cubes
//! of 1,000 and 10,648 states, which are not eliminated, and half of it on 1,000 phases with retries, where ten sweeps suffice.

use super::super::scalar::{Estimate, Scalar};
use super::block::Block;
use super::eliminate::{self, Factorisation};
use super::predict::{Direct, Probe};
use super::{Accuracy, krylov, prove};

/// Rows divided by the sum of the transitions out of the state, so that a sweep is sums of products.
pub(super) struct Sweeps {
    rows: Vec<u32>,
    /// The start, in each row, of the targets that a sweep visits earlier than the row itself.
    earlier: Vec<u32>,
    targets: Vec<u32>,
    weights: Vec<f64>,
    /// The divisor of each row.
    sums: Vec<f64>,
}

/// Components up to this size are iterated to [`FINE`] whatever the requested precision, at little cost.
const CHEAP: usize = 5_000;

/// About the smallest relative error that doubles allow.
const FINE: f64 = 1e-11;

/// The number of sweeps whose changes show the rate of convergence.
const PROBE: u32 = 32;

/// The number of sweeps after which the rate is first estimated.
const FIRST_PROBE: u32 = 8;

/// If more sweeps than this remain, a Krylov method is worth its setup cost.
const SLOW: f64 = 48.0;

/// The largest number of Krylov attempts in one approach.
const MOST_JUMPS: u32 = 4;

/// The largest work of one Krylov attempt, in sweeps.
const MOST_JUMPED: usize = 4_000;

/// Up to this number of sweeps is followed by as many again, which give about twice the digits: together they take less time
/// than the order of an elimination, whose result would have them. Rewards on 10,000 phases with retries are proven to 1e-12
/// instead of 1e-7.
const FEW: usize = 16;

/// The part of the requested precision to which larger components are proven. The errors of those that a run crosses add up.
const MARGIN: f64 = 0.25;

/// The least tolerance that is tried for values that prove themselves. Their width is that of the residual relative to the rewards,
/// which the vector of a proof of its own makes smaller: the expected steps of a walk in a cube of 10,648 states take 95 ms instead of
/// 260 without one.
const FINEST: f64 = 1e-13;

/// The initial relative tolerance of the vector of a proof; it is divided by 10 until the proof succeeds.
const COARSE: f64 = 0.1;

/// The number of such refinements before the values themselves are refined.
const MOST_COARSE: usize = 8;

/// A Krylov method takes about this many times the square root of the remaining sweeps: 148 in place of 127 in a cube of 10,648 states,
/// where eliminating takes 2,000, and far more than the 400 of eliminating a grid of 160,000, where 9,000 remain.
const KRYLOV: f64 = 8.0;

/// The result of iterating a block.
pub(super) enum Iterated<V: Scalar> {
    /// Values with proven errors, or `None` if nothing could be proven within the limits; and the number of sweeps.
    Values(Option<Vec<V::Estimate>>, usize),
    /// Iteration was slow, so the block was eliminated.
    Eliminated(Factorisation<V>),
}

/// The reason why an approach ended.
#[derive(PartialEq)]
enum Approach {
    /// The last sweep changed the values by at most the tolerance.
    Near,
    /// Elimination is faster than the remaining sweeps.
    Slow,
    /// The limit on sweeps is reached.
    Spent,
}

/// Iterates a block, or eliminates it if sweeps turn out to be slower.
pub(super) fn iterate<V: Scalar>(block: &Block<V>, accuracy: &Accuracy) -> Iterated<V> {
    let sweeps = Sweeps::new(block);
    let rhs: Vec<f64> = block.rhs.iter().map(|of| of.value().to_f64()).collect();
    let b = sweeps.divided(&rhs);
    let mut v = b.clone();
    let precision = if block.len() <= CHEAP {
        accuracy.precision.min(FINE)
    } else {
        MARGIN * accuracy.precision
    };
    let mut effort = Effort {
        accuracy,
        spent: 0,
        rate: None,
    };
    let mut target = 0.4 * precision;
    let direct = Direct::new(block, accuracy.max_updates);
    let mut best: Option<Vec<V::Estimate>> = None;
    let mut narrowest = f64::INFINITY;
    loop {
        let found = sweeps.approach(&b, &mut v, target, &mut effort, Some(&direct));
        if found == Approach::Slow
            && let Some(order) = direct.order()
        {
            return Iterated::Eliminated(eliminate::factor(block, order));
        }
        if found == Approach::Near && effort.spent <= FEW {
            for _ in 0..effort.spent {
                sweeps.sweep(&b, &mut v);
            }
        }
        let residuals = prove::residuals(block, &v);
        // If every state has a reward or an exit, the values prove themselves: `A v` is near them.
        if let Some(own) = prove::proven(block, &v, &v, &residuals) {
            let width = widest::<V>(&own);
            if width <= precision {
                return Iterated::Values(Some(own), effort.spent);
            }
            let needed = target * 0.3 * precision / width;
            if needed >= FINEST && found == Approach::Near {
                target = needed;
                continue;
            }
        }
        let proven = sweeps.proof(block, &v, &residuals, &mut effort);
        let Some(proven) = proven else {
            if found == Approach::Spent || target < 1e-17 {
                return Iterated::Values(best, effort.spent);
            }
            target *= 0.01;
            continue;
        };
        let width = widest::<V>(&proven);
        // Only rounding keeps the residual from shrinking further.
        let stuck = width > 0.5 * narrowest;
        if width < narrowest {
            narrowest = width;
            best = Some(proven);
        }
        if narrowest <= precision || stuck || found == Approach::Spent || target < 1e-17 {
            return Iterated::Values(best, effort.spent);
        }
        target *= (0.3 * precision / narrowest).clamp(1e-4, 0.1);
    }
}

/// The sweeps over a block so far.
struct Effort<'a> {
    accuracy: &'a Accuracy,
    spent: usize,
    /// The factor by which a sweep shrinks the change, once it is known to be near 1. It depends on the transitions alone.
    rate: Option<f64>,
}

/// Returns the largest relative width of these numbers, ignoring those of negligible absolute width; infinite if one is
/// not known at all.
pub(super) fn widest<V: Scalar>(values: &[V::Estimate]) -> f64 {
    let mut widest = 0.0f64;
    for value in values.iter().filter(|value| !value.is_exact()) {
        let width = value.upper().to_f64() - value.lower().to_f64();
        if width < NOTHING {
            continue;
        }
        let relative = width / value.value().to_f64();
        widest = if relative.is_nan() {
            f64::INFINITY
        } else {
            widest.max(relative)
        };
    }
    widest
}

/// Absolute widths below this value are negligible.
const NOTHING: f64 = 1e-200;

/// Returns the least part of a value that its reward and exits are, from which values prove themselves; 1 if a state has neither.
fn share(b: &[f64], v: &[f64]) -> f64 {
    let least = (b.iter().zip(v)).fold(1.0, |least: f64, (b, v)| least.min(b / v));
    if least > 0.0 { least } else { 1.0 }
}

impl Sweeps {
    fn new<V: Scalar>(block: &Block<V>) -> Sweeps {
        let n = block.len();
        let mut sweeps = Sweeps {
            rows: block.rows.clone(),
            earlier: Vec::with_capacity(n),
            targets: Vec::with_capacity(block.targets.len()),
            weights: Vec::with_capacity(block.weights.len()),
            sums: Vec::with_capacity(n),
        };
        for state in 0..n {
            let weights = block.row(state).map(|entry| entry.1.to_f64());
            let sum = block.leaving[state].to_f64() + weights.sum::<f64>();
            for is_earlier in [false, true] {
                let begin = sweeps.targets.len();
                for (target, weight) in block.row(state) {
                    if (target > state as u32) == is_earlier {
                        sweeps.targets.push(target);
                        sweeps.weights.push(weight.to_f64() / sum);
                    }
                }
                if !is_earlier {
                    sweeps.earlier.push(sweeps.targets.len() as u32);
                    continue;
                }
                let last = sweeps.targets.len();
                // The value computed just before is added last, so that the other products need not wait for it: a Krylov
                // method takes 10 % less time for an iteration in a cube of 10,648 states.
                if let Some(newest) = (begin..last).min_by_key(|&at| sweeps.targets[at]) {
                    sweeps.targets.swap(newest, last - 1);
                    sweeps.weights.swap(newest, last - 1);
                }
            }
            sweeps.sums.push(sum);
        }
        sweeps
    }

    /// Returns a right-hand side of the system with divided rows.
    fn divided(&self, rhs: &[f64]) -> Vec<f64> {
        rhs.iter()
            .zip(&self.sums)
            .map(|(of, sum)| of / sum)
            .collect()
    }

    /// Returns approximate values with the errors that an approximate solution for their residuals proves, or `None` if it proves none.
    fn proof<V: Scalar>(
        &self,
        block: &Block<V>,
        values: &[f64],
        residuals: &[f64],
        effort: &mut Effort<'_>,
    ) -> Option<Vec<V::Estimate>> {
        let scaled = self.divided(residuals);
        let mut w = scaled.clone();
        let mut coarse = COARSE;
        for _ in 0..MOST_COARSE {
            let end = self.approach(&scaled, &mut w, coarse, effort, None::<&Direct<'_, V>>);
            let proven = prove::proven(block, values, &w, residuals);
            if proven.is_some() || end == Approach::Spent {
                return proven;
            }
            coarse *= 0.1;
        }
        None
    }

    /// Sweeps until the relative change is at most `tolerance`. The rate at which the change shrinks predicts the number of
    /// remaining sweeps, and so whether `direct`, the elimination of the block, is faster. The vector of a proof has none.
    fn approach<V: Scalar>(
        &self,
        b: &[f64],
        v: &mut [f64],
        tolerance: f64,
        effort: &mut Effort<'_>,
        direct: Option<&Direct<'_, V>>,
    ) -> Approach {
        let (mut last, mut jumps, mut swept) = (f64::INFINITY, 0, 0);
        let mut has_jumped = false;
        let mut probe = Probe::new(FIRST_PROBE);
        while last > tolerance {
            last = self.sweep(b, v);
            swept += 1;
            effort.spent += 1;
            if effort.spent > effort.accuracy.max_sweeps {
                return Approach::Spent;
            }
            probe.add(swept, last);
            let known = effort.rate.filter(|_| jumps == 0 && last.is_finite());
            if known.is_none() && !probe.is_over(swept) || last <= tolerance {
                continue;
            }
            let rate = known.or(probe.rate(swept, last));
            let more = match rate {
                Some(rate) if rate < 1.0 => ((tolerance / last).ln() / rate.ln()).max(0.0),
                _ => f64::INFINITY,
            };
            let was_finite = probe.has_begun();
            probe = Probe::new(PROBE);
            probe.add(swept, last);
            if more <= SLOW {
                continue;
            }
            effort.rate = rate.or(effort.rate);
            let mut most = MOST_JUMPED;
            if let Some(direct) = direct {
                let may_jump = !has_jumped && jumps < MOST_JUMPS;
                if may_jump && direct.is_open() && direct.krylov() < direct.guess() {
                    most = 2 * direct.krylov() as usize;
                } else {
                    let jump = match rate {
                        Some(_) => direct.krylov().max(KRYLOV * more.sqrt()),
                        None => direct.krylov(),
                    };
                    let sweeps = direct.sweeps();
                    if sweeps < more && (sweeps < jump || effort.spent as f64 >= sweeps) {
                        return Approach::Slow;
                    }
                    most = most.min(sweeps as usize);
                }
            }
            // A Krylov method fails from an iterate that is far too small; after more sweeps it may succeed.
            if jumps < MOST_JUMPS && was_finite {
                jumps += 1;
                let part = direct.map_or(1.0, |_| share(b, v));
                let wanted = (tolerance * part).max(FINEST);
                let left = effort.accuracy.max_sweeps.saturating_sub(effort.spent);
                if let Some(work) = krylov::improve(self, b, v, wanted, left.min(most)) {
                    has_jumped = true;
                    effort.spent += work;
                    last = f64::INFINITY;
                    probe = Probe::new(PROBE);
                }
            }
        }
        Approach::Near
    }

    fn len(&self) -> usize {
        self.rows.len() - 1
    }

    /// Returns `b + Q v` at one state.
    #[inline]
    pub(super) fn image(&self, state: usize, b: f64, v: &[f64]) -> f64 {
        let range = self.rows[state] as usize..self.rows[state + 1] as usize;
        let mut sum = b;
        for (&target, &weight) in self.targets[range.clone()].iter().zip(&self.weights[range]) {
            sum += weight * v[target as usize];
        }
        sum
    }

    /// Returns the weights for unknowns relative to a scale.
    pub(super) fn scaled(&self, scale: &[f64]) -> Vec<f64> {
        let mut weights = Vec::with_capacity(self.weights.len());
        for (state, own) in scale.iter().enumerate() {
            let range = self.rows[state] as usize..self.rows[state + 1] as usize;
            let entries = self.targets[range.clone()].iter().zip(&self.weights[range]);
            weights
                .extend(entries.map(|(&target, weight)| weight * (scale[target as usize] / own)));
        }
        weights
    }

    /// Applies one sweep from 0 to a residual, and `I - Q` to the result. The sweep has solved for the transitions to states
    /// that it visits first, so only those to the others remain to be multiplied (S. Eisenstat, "Efficient implementation of a
    /// class of preconditioned conjugate gradient methods", SIAM J. Sci. Stat. Comput. 2, 1981).
    pub(super) fn precondition(
        &self,
        weights: &[f64],
        x: &[f64],
        into: &mut [f64],
        image: &mut [f64],
    ) {
        let sum = |range: std::ops::Range<usize>, of: &[f64]| -> f64 {
            let entries = self.targets[range.clone()].iter().zip(&weights[range]);
            entries
                .map(|(&target, &weight)| weight * of[target as usize])
                .sum()
        };
        for state in (0..self.len()).rev() {
            let known = self.earlier[state] as usize..self.rows[state + 1] as usize;
            into[state] = x[state] + sum(known, into);
        }
        for state in 0..self.len() {
            let rest = self.rows[state] as usize..self.earlier[state] as usize;
            image[state] = x[state] - sum(rest, into);
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
                // No exit has reached this state yet.
                change = f64::INFINITY;
            }
            v[state] = next;
        }
        change
    }
}
