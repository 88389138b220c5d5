//! Stabilised biconjugate gradients (Bi-CGSTAB), for systems where sweeps are slow.
//!
//! Each sweep shrinks the error by a constant factor, which is near 1 if runs stay long; a Krylov method requires about the
//! square root of as many steps. It uses subtraction, so its result is only an iterate: sweeps improve it, and its error must
//! be proven like that of any other.
//!
//! Unknowns are scaled by the iterate, so that small values get the same relative precision as large ones, and preconditioned
//! by one sweep.
//!
//! # Source
//! H. van der Vorst, "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of nonsymmetric linear
//! systems", SIAM J. Sci. Stat. Comput. 13(2), 1992.

use super::iterate::Sweeps;

/// Solves `(I - Q) x = b` from the positive guess `v`, until the largest relative residual is at most `tolerance` or the work
/// exceeds `most` sweeps. Returns the equivalent number of sweeps, or `None` if a value of the guess or of the result is not
/// positive and finite; then `v` is unchanged.
pub(super) fn improve(
    sweeps: &Sweeps,
    b: &[f64],
    v: &mut [f64],
    tolerance: f64,
    most: usize,
) -> Option<usize> {
    let n = v.len();
    let scale = v.to_vec();
    if scale
        .iter()
        .any(|value| !(*value > 0.0 && value.is_finite()))
    {
        return None;
    }
    // All vectors below are relative to the scale.
    let mut remainder: Vec<f64> = (0..n)
        .map(|state| (sweeps.image(state, b[state], v) - v[state]) / scale[state])
        .collect();
    let weights = sweeps.scaled(&scale);
    let shadow = remainder.clone();
    let mut x = vec![0.0; n];
    let (mut p, mut ap) = (vec![0.0; n], vec![0.0; n]);
    let (mut before, mut after) = (vec![0.0; n], vec![0.0; n]);
    let mut image = vec![0.0; n];
    let (mut rho, mut alpha, mut omega) = (1.0, 1.0, 1.0);
    let mut work = 1;
    let largest = |of: &[f64]| of.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    while largest(&remainder) > tolerance {
        if work > most {
            break;
        }
        work += 3;
        let next = dot(&shadow, &remainder);
        if !next.is_finite() || next == 0.0 {
            break;
        }
        let beta = (next / rho) * (alpha / omega);
        rho = next;
        for at in 0..n {
            p[at] = remainder[at] + beta * (p[at] - omega * ap[at]);
        }
        sweeps.precondition(&weights, &p, &mut before, &mut ap);
        alpha = rho / dot(&shadow, &ap);
        if !alpha.is_finite() {
            break;
        }
        for at in 0..n {
            remainder[at] -= alpha * ap[at];
        }
        sweeps.precondition(&weights, &remainder, &mut after, &mut image);
        let size = dot(&image, &image);
        omega = if size > 0.0 {
            dot(&image, &remainder) / size
        } else {
            0.0
        };
        for at in 0..n {
            x[at] += alpha * before[at] + omega * after[at];
            remainder[at] -= omega * image[at];
        }
        if !omega.is_finite() || omega == 0.0 {
            break;
        }
    }
    let improved: Vec<f64> = x
        .iter()
        .zip(&scale)
        .map(|(x, scale)| scale * (1.0 + x))
        .collect();
    if improved
        .iter()
        .any(|value| !(*value > 0.0 && value.is_finite()))
    {
        return None;
    }
    v.copy_from_slice(&improved);
    Some(work)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Four independent sums, which the compiler can vectorise.
    let mut sums = [0.0; 4];
    let (left, right) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = left
        .remainder()
        .iter()
        .zip(right.remainder())
        .map(|(a, b)| a * b)
        .sum();
    for (a, b) in left.zip(right) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}
