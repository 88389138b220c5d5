//! Bounds on the error of an approximate solution, from any source.
//!
//! For a component, `A` has on its diagonal the sum `S(s)` of the transitions out of each state, and elsewhere the negated
//! transitions; its row sums are the probabilities of leaving the component. It is a nonsingular M-matrix: `A⁻¹` exists and has
//! no negative entry.
//!
//! **Theorem.** Let `ρ > 0` with `|b - A x| ≤ ρ`, and `v` with `A v ≥ c ρ` for some `c > 0`, both componentwise. Then the
//! solution `x*` of `A x* = b` satisfies `|x* - x| ≤ v / c`.
//! *Proof.* `|x* - x| = |A⁻¹ (b - A x)| ≤ A⁻¹ ρ ≤ A⁻¹ A v / c`, twice because `A⁻¹` has no negative entry. ∎
//!
//! Therefore `x` and `v` may come from any method and any arithmetic; only the two residuals must be bounded.
//!
//! # Accuracy
//! Residuals are computed from *differences*, `(A x)(s) = leaving(s) x(s) + Σ P(s,t) (x(s) - x(t))`: the diagonal, a rounded
//! sum, does not occur, and the rounding error is relative to the change of `x` along transitions, not to `x`. With `ε` one
//! [`UNIT`], a row of `k` transitions adds at most `k + 1` units for its sum, and for each term 2 (difference and product) or
//! 3 for the exits (a compensated sum instead of the difference), and those of the probability: `k + 4` units and these
//! of the sum of absolute values, rounded up to [`TERM_UNITS`] `+ k`. That sum is itself rounded, by a relative amount far
//! below the factor [`OUTWARDS`]. Each product may underflow by half the smallest double: [`TINIEST`] covers that. A subnormal
//! probability was read with such an error, which is multiplied by the values ([`SMALLEST`]). Since the decimals are covered,
//! the bounds hold for the model as written.
//!
//! # Source
//! S. Rump, "Verification methods: rigorous results using floating-point arithmetic", Acta Numerica 19, 2010, section 10;
//! T. Ogita, S. Oishi, Y. Ushiro, "Fast verification of solutions for sparse monotone matrix equations", Computing Suppl. 15,
//! 2001.

use super::super::scalar::{Estimate, SMALLEST, Scalar, UNIT};
use super::block::Block;

/// The units of rounding of each term of a row apart from those of its probability, and some for the sum.
const TERM_UNITS: f64 = 6.0;

/// Exceeds the rounding of a bound that is itself computed.
const OUTWARDS: f64 = 1.0 + 1e-6;

/// Exceeds what a term loses to underflow; far below all relevant numbers.
const TINIEST: f64 = 1e-280;

/// The least residual, in units of the sum of the transitions out of a state times its value, and of what its terms may lose to
/// underflow. If values do not change along transitions, or are below the smallest double, the residual may be far smaller than the
/// rounding error of `A v`, and no `v` could prove it.
const FLOOR_UNITS: f64 = 8.0;

/// `A x` at a state, with the sum of the absolute values of its terms, their number, and the sum of the transitions.
struct Image {
    sum: f64,
    size: f64,
    terms: f64,
    leaves: f64,
    /// The largest absolute value.
    largest: f64,
}

impl Image {
    fn new<V: Scalar>(block: &Block<V>, state: usize, x: &[f64]) -> Image {
        let own = x[state];
        let leaving = block.leaving[state].to_f64();
        let first = leaving * own;
        let mut image = Image {
            sum: first,
            size: first.abs(),
            terms: TERM_UNITS + block.own_units,
            leaves: leaving,
            largest: own.abs(),
        };
        for (target, weight) in block.row(state) {
            let weight = weight.to_f64();
            let term = weight * (own - x[target as usize]);
            image.sum += term;
            image.size += term.abs();
            image.terms += 1.0;
            image.leaves += weight;
            image.largest = image.largest.max(x[target as usize].abs());
        }
        image
    }

    /// Returns a bound on the rounding error of the sum, with `more` as the absolute value of further terms.
    fn rounding(&self, more: f64) -> f64 {
        let tiny = TINIEST + 4.0 * SMALLEST * self.largest;
        (self.size + more) * self.terms * UNIT * OUTWARDS + self.terms * tiny
    }
}

/// Returns bounds `ρ` on the residuals of an approximate solution.
pub(super) fn residuals<V: Scalar>(block: &Block<V>, x: &[f64]) -> Vec<f64> {
    (0..block.len())
        .map(|state| {
            let image = Image::new(block, state, x);
            let given = block.rhs[state].value().to_f64();
            let unsure = block.rhs[state].upper().to_f64() - given;
            let least = UNIT * image.leaves * x[state].abs() + image.terms * TINIEST;
            let floor = FLOOR_UNITS * least;
            ((given - image.sum).abs() + unsure.max(0.0) + floor) * OUTWARDS + image.rounding(given)
        })
        .collect()
}

/// Returns the largest `c` with `A v ≥ c ρ`; not positive if `v` proves nothing.
fn dominance<V: Scalar>(block: &Block<V>, v: &[f64], residuals: &[f64]) -> f64 {
    let each = residuals.iter().enumerate().map(|(state, residual)| {
        let image = Image::new(block, state, v);
        let share = (image.sum - image.rounding(0.0)) / residual;
        // A result that is not finite proves nothing.
        if share.is_finite() {
            share
        } else {
            f64::NEG_INFINITY
        }
    });
    each.fold(f64::INFINITY, f64::min) / OUTWARDS
}

/// Returns the approximate solution with the errors that `v` proves, or `None` if it proves none.
pub(super) fn proven<V: Scalar>(
    block: &Block<V>,
    x: &[f64],
    v: &[f64],
    residuals: &[f64],
) -> Option<Vec<V::Estimate>> {
    let c = dominance(block, v, residuals);
    (c > 0.0).then(|| {
        let estimate = |(value, error): (&f64, &f64)| {
            V::Estimate::exact(V::from_f64(*value)).widened(error / c * OUTWARDS)
        };
        x.iter().zip(v).map(estimate).collect()
    })
}
