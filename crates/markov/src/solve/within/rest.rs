//! The rest of many steps, bounded instead of computed.
//!
//! A value that begins with zero is the sum of what each step adds: `d`, `A d`, `A² d`, … for nonnegative transitions `A` among the
//! states whose values change. If `μ d ≤ A d ≤ λ d` in every state, `m` further steps add between `μ + … + μᵐ` and `λ + … + λᵐ` times `d`
//! (L. Collatz 1942, H. Wielandt 1950). Both come together at the rate at which the chain forgets where it began, also where a rare
//! event is still far from certain. Once the bounds are as close as the rounding of all steps would be, the rest is not computed.

use super::super::super::scalar::{Estimate, Scalar, TINY, UNIT};
use super::{BLOCK, Sweeps};

/// The least value of a step: smaller ones are subnormal, which processors compute 100 times slower. What is left out of all steps together
/// for this is less than the smallest error that [`Estimate::rounded`] allows.
const LEAST: f64 = f64::MIN_POSITIVE;

/// The number of steps above which bounds on the rest of them are computed. A step that is added up takes up to three times as long as
/// one of values: 10,000 of a walk on 1,001 states, which does not forget within them, 71 and 22 ms.
pub(super) const MANY: u64 = 50_000;

/// The number of steps before the bounds on the rest are computed for the first time.
const FIRST_CHECK: u64 = 64;

/// The largest relative width of a result that was not computed to the last step.
const WIDEST: f64 = 1e-5;

/// The units of rounding of [`geometric`], and of the operations on its result. The functions of `libm` have an error of about one.
const GEOMETRIC_UNITS: f64 = 64.0;

impl<V: Scalar> Sweeps<V> {
    /// Returns the values after this many steps from zero, as the sum of what each step adds.
    pub(super) fn add_up(&mut self, steps: u64) -> Vec<V::Estimate> {
        let count = self.levels.states.len();
        let none = || vec![V::zero(); count];
        // What the current step adds, and the next; the sums; and the constants, which only the first step adds.
        let mut adds = std::mem::replace(&mut self.constants, none());
        let (mut next, mut sums) = (none(), adds.clone());
        // The blocks to which the current step adds something, and those to which the step before did, which `next` still has.
        let mut active: Vec<bool> = adds
            .chunks(BLOCK)
            .map(|block| block.iter().any(|value| !value.is_zero()))
            .collect();
        let mut stale = vec![false; active.len()];
        // What is at most this part of a sum is left out of further steps. As `A` times the sums of a step is at most those of the next,
        // each of `steps²` pairs of a step and a later one loses at most this part, and all together as much as rounding.
        let negligible = V::from_f64(self.units(steps) * UNIT / steps as f64 / steps as f64);
        let units = 2.0 * self.units(steps);
        let tolerance = (2.0 * units * UNIT).min(WIDEST);
        let least = V::from_f64(LEAST);
        let mut lost = false;
        let mut check = FIRST_CHECK;
        let mut step = 1;
        while step < steps && active.contains(&true) {
            if step >= check && step >= self.levels.ends.len() as u64 {
                check = step + step / 4;
                let left = steps - step;
                if let Some(bounds) =
                    self.rest(&adds, &sums, left, tolerance, &negligible, &mut next)
                {
                    return estimates(bounds.into_iter(), units + GEOMETRIC_UNITS, lost);
                }
                stale.fill(true);
            }
            for (block, stale) in stale.iter_mut().enumerate() {
                let begin = block * BLOCK;
                let range = begin..(begin + BLOCK).min(count);
                let into = &mut next[range.clone()];
                if !self.reads[block].iter().any(|&read| active[read as usize]) {
                    if std::mem::take(stale) {
                        into.fill(V::zero());
                    }
                    continue;
                }
                self.block(block, range.clone(), &adds, into);
                let sums = &mut sums[range][..into.len()];
                let mut any = false;
                for at in 0..into.len() {
                    sums[at] = sums[at].plus(&into[at]);
                    let stays = into[at] >= least && into[at] > sums[at].times(&negligible);
                    lost |= !stays && !into[at].is_zero();
                    any |= stays;
                    into[at] = if stays { into[at].clone() } else { V::zero() };
                }
                *stale = any;
            }
            std::mem::swap(&mut adds, &mut next);
            std::mem::swap(&mut active, &mut stale);
            step += 1;
        }
        estimates(sums.into_iter().map(|sum| (sum.clone(), sum)), units, lost)
    }

    /// Returns bounds of the values if they are close to each other, from what a step adds, the sums up to it, and the number of steps that
    /// are left. `product` is overwritten.
    fn rest(
        &self,
        adds: &[V],
        sums: &[V],
        left: u64,
        tolerance: f64,
        negligible: &V,
        product: &mut [V],
    ) -> Option<Vec<(V, V)>> {
        // The rounding of a row, of the decimals in it, and of the quotient.
        let slack = (self.terms as f64 + 2.0 * self.row_units) * UNIT;
        self.all(adds, product);
        let mut largest = 0.0_f64;
        for ((add, next), sum) in adds.iter().zip(&*product).zip(sums) {
            if *next <= sum.times(negligible) {
                continue;
            }
            if add.is_zero() {
                return None;
            }
            largest = largest.max(next.over(add).to_f64());
        }
        let most = geometric(largest * (1.0 + slack), left)?;
        // States that add too little to matter may do so at another rate.
        let matters = |at: usize| adds[at].to_f64() * most > tolerance / 4.0 * sums[at].to_f64();
        let rest: Vec<V> = (0..adds.len())
            .map(|at| {
                if matters(at) {
                    adds[at].clone()
                } else {
                    V::zero()
                }
            })
            .collect();
        if rest != adds {
            self.all(&rest, product);
        }
        let mut smallest = largest;
        for (add, next) in rest.iter().zip(&*product) {
            if !add.is_zero() {
                smallest = smallest.min(next.over(add).to_f64());
            }
        }
        let least = geometric(smallest * (1.0 - slack), left)?;
        let mut bounds = Vec::with_capacity(sums.len());
        for ((sum, add), rest) in sums.iter().zip(adds).zip(&rest) {
            let lower = sum.plus(&rest.times(&V::from_f64(least)));
            let upper = sum.plus(&add.times(&V::from_f64(most)));
            if upper.minus(&lower).to_f64() > tolerance * lower.to_f64() {
                return None;
            }
            bounds.push((lower, upper));
        }
        Some(bounds)
    }

    /// Computes one step of all states.
    fn all(&self, values: &[V], next: &mut [V]) {
        for (block, into) in next.chunks_mut(BLOCK).enumerate() {
            let begin = block * BLOCK;
            self.block(block, begin..begin + into.len(), values, into);
        }
    }
}

/// Returns `ratio + ratio² + …` of this many terms, or `None` if it is far above the number of terms.
///
/// The difference from 1 is exact for a ratio from 0.5 to 2, so that the result is accurate for ratios next to 1.
fn geometric(ratio: f64, terms: u64) -> Option<f64> {
    let over = ratio - 1.0;
    let terms = terms as f64;
    if over == 0.0 {
        return Some(terms);
    }
    let exponent = terms * over.ln_1p();
    (exponent <= 1.0).then(|| ratio * exponent.exp_m1() / over)
}

/// Returns estimates of numbers within these bounds, computed with this many units of rounding, if something was `lost` of what is below
/// [`LEAST`].
fn estimates<V: Scalar>(
    bounds: impl Iterator<Item = (V, V)>,
    units: f64,
    lost: bool,
) -> Vec<V::Estimate> {
    bounds
        .map(|(lower, upper)| {
            let estimate = V::Estimate::between(lower, upper).rounded(units);
            if lost {
                estimate.widened(TINY)
            } else {
                estimate
            }
        })
        .collect()
}
