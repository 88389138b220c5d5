//! Confidence sets of the rows of a chain from counted transitions, and the number of observations that a precision
//! requires.

use statrs::function::beta::beta_reg;
use statrs::function::gamma::ln_gamma;

use super::RowSet;

/// Returns the two-sided Clopper-Pearson interval of a probability, with `hits` out of `trials`. It misses the
/// probability with at most `error`, if the number of trials was fixed in advance.
pub fn clopper_pearson(hits: u64, trials: u64, error: f64) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let (c, n) = (hits as f64, trials as f64);
    let lower = if hits == 0 {
        0.0
    } else {
        beta_quantile(error / 2.0, c, n - c + 1.0).0
    };
    let upper = if hits >= trials {
        1.0
    } else {
        beta_quantile(1.0 - error / 2.0, c + 1.0, n - c).1
    };
    (lower, upper)
}

/// Returns adjacent doubles below and above a quantile of the beta distribution, by bisection. Callers take the outer
/// one, which is conservative.
fn beta_quantile(p: f64, a: f64, b: f64) -> (f64, f64) {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if beta_reg(a, b, middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low, high)
}

/// The quantile of the normal distribution for a two-sided interval of 95 %.
pub const Z95: f64 = 1.959_963_984_540_054;

/// Returns the Wilson score interval, for display: its coverage may fall below its level near 0 and 1. `z` is the normal quantile,
/// such as [`Z95`]. Without trials, the interval is [0, 1].
///
/// # Source
/// E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22, 1927.
pub fn wilson(hits: u64, trials: u64, z: f64) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let (low, high) = score(hits as f64, trials as f64, z);
    // At 0 and `trials` hits the interval ends exactly at 0 or 1, regardless of rounding.
    let low = if hits == 0 { 0.0 } else { low };
    let high = if hits == trials { 1.0 } else { high };
    (low, high)
}

/// Returns the score interval of `x` hits in `n` trials, which need not be whole numbers.
fn score(x: f64, n: f64, z: f64) -> (f64, f64) {
    let centre = (x + z * z / 2.0) / (n + z * z);
    let half = z / (n + z * z) * (x * (n - x) / n + z * z / 4.0).sqrt();
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

/// Returns the quantile of the normal distribution for a two-sided interval that misses with probability `error`.
pub fn normal_quantile(error: f64) -> f64 {
    std::f64::consts::SQRT_2 * statrs::function::erf::erfc_inv(error)
}

/// Returns an asymptotic interval for a probability that was estimated with a variance by the delta method. The estimate and
/// the variance are those of `value (1 - value) / variance` trials; the score interval of these keeps its level where the
/// symmetric interval does not. Returns `None` for an estimate of 0 or 1, or if the variance is 0 or not finite.
pub fn delta_interval(value: f64, variance: f64, error: f64) -> Option<(f64, f64)> {
    let trials = value * (1.0 - value) / variance;
    (value > 0.0 && value < 1.0 && trials.is_finite() && trials > 0.0)
        .then(|| score(value * trials, trials, normal_quantile(error)))
}

/// Returns an interval for a probability with `hits` out of `trials` observations. It holds with probability `1 - error` at all
/// times simultaneously, so any stopping rule is allowed. See [`entropy_ball`].
pub fn anytime_interval(hits: u64, trials: u64, error: f64) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let ball = entropy_ball(&[hits, trials.saturating_sub(hits)], 1.0, error);
    let bound = |largest| ball.extreme(&[1.0, 0.0], largest).clamp(0.0, 1.0);
    (bound(false), bound(true))
}

/// Returns the number of entries of a row that share the allowed error: 0 for one successor, 1 for two (whose errors are
/// equal), otherwise all.
pub fn entries(successors: usize) -> usize {
    match successors {
        0 | 1 => 0,
        2 => 1,
        many => many,
    }
}

/// Returns a box of Clopper-Pearson intervals, each with the given error.
pub fn clopper_pearson_box(counts: &[u64], error: f64) -> RowSet {
    if counts.len() == 1 {
        return RowSet::Point(vec![1.0]);
    }
    let trials = counts.iter().sum();
    let (lower, upper) = counts
        .iter()
        .map(|&hits| clopper_pearson(hits, trials, error))
        .unzip();
    RowSet::Box { lower, upper }
}

/// Rows with at least this many successors get a second set beside the box: each entry of the box may be off by its own error
/// simultaneously, which adds up to more than the error of the whole row.
const MANY: usize = 10;

/// Returns a set that misses a row with probability at most `entries(k) * error`, for `k` successors and a number of trials
/// fixed in advance: a [box](clopper_pearson_box), or for many successors a box with half of the error and, with the other
/// half, a bound on the distance of the whole row ([`weissman`]). The number of successors alone decides which, unless there
/// are no trials.
pub fn fixed_set(counts: &[u64], error: f64) -> RowSet {
    let trials: u64 = counts.iter().sum();
    if counts.len() < MANY || trials == 0 {
        return clopper_pearson_box(counts, error);
    }
    let of_row = error / 2.0 * entries(counts.len()) as f64;
    RowSet::All(vec![
        clopper_pearson_box(counts, error / 2.0),
        RowSet::Near {
            centre: (counts.iter())
                .map(|count| *count as f64 / trials as f64)
                .collect(),
            distance: weissman(counts.len(), trials, of_row),
        },
    ])
}

/// Returns a box for a row with successors that were never seen and are not even known: an entry for each known successor, and a
/// last one for all others together. It misses the row with probability at most `error`, if the number of trials was fixed in
/// advance.
///
/// The number of possible successors is unknown, so the error cannot be shared by them. For `n` trials at most `n` events count,
/// of each kind, and each gets `error / 2n`:
/// - a lower bound fails. A successor has a bound once it was seen, at most `n` were, and later trials do not depend on that, so
///   the first time that it was seen does not count as a hit.
/// - an upper bound fails. This takes a probability above the upper bound of 0 hits, which fewer than `n` successors have.
/// - the bound on the last entry fails, for one of `n` numbers of different successors. The probability of a new successor never
///   increases, so at each trial it was at least `p` if it is `p` now: a binomial variable of `p` does not exceed the number of
///   different successors.
pub fn open_box(counts: &[u64], error: f64) -> RowSet {
    let trials: u64 = counts.iter().sum();
    let each = error / (2 * trials.max(1)) as f64;
    let different = counts.iter().filter(|count| **count > 0).count() as u64;
    let (mut lower, mut upper): (Vec<f64>, Vec<f64>) = counts
        .iter()
        .map(|&hits| {
            let (lower, _) = clopper_pearson(hits.saturating_sub(1), trials, each);
            (lower, clopper_pearson(hits, trials, each).1)
        })
        .unzip();
    lower.push(0.0);
    upper.push(clopper_pearson(different, trials, each).1);
    RowSet::Box { lower, upper }
}

/// Returns an [`open_box`] that contains the row at all times simultaneously, so any stopping rule is allowed: the error is
/// divided among all numbers of trials.
pub fn anytime_open_box(counts: &[u64], error: f64) -> RowSet {
    let trials = counts.iter().sum::<u64>().max(1) as f64;
    open_box(counts, error / (trials * (trials + 1.0)))
}

/// Returns a relative-entropy ball that contains the row with probability `1 - error` at all times simultaneously, so any
/// stopping rule is allowed. `prior` is the weight of each successor in the mixture; it must be positive.
///
/// # Source
/// Robbins' mixture with Ville's inequality; M. Lindon, A. Malek, "Anytime-valid inference for multinomial count data",
/// NeurIPS 2022.
pub fn entropy_ball(counts: &[u64], prior: f64, error: f64) -> RowSet {
    if counts.len() == 1 {
        return RowSet::Point(vec![1.0]);
    }
    let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
    let n: f64 = counts.iter().sum();
    // ln D(a), with D(a) = Π Γ(a(j)) / Γ(Σ a(j)).
    let ln_d = |weights: &dyn Fn(f64) -> f64| -> f64 {
        let sum: f64 = counts.iter().map(|count| weights(*count)).sum();
        let parts: f64 = counts.iter().map(|count| ln_gamma(weights(*count))).sum();
        parts - ln_gamma(sum)
    };
    let likelihood: f64 = counts
        .iter()
        .filter(|count| **count > 0.0)
        .map(|count| count * (count / n).ln())
        .sum();
    let radius = (1.0 / error).ln() + likelihood - ln_d(&|count| prior + count) + ln_d(&|_| prior);
    RowSet::Entropy {
        counts,
        radius: radius.max(0.0),
    }
}

/// Returns the distance from its frequencies that a row does not exceed with probability `1 - error`, as the sum of
/// absolute differences, for a number of trials fixed in advance.
///
/// # Source
/// T. Weissman et al., "Inequalities for the L1 deviation of the empirical distribution", HP Labs 2003.
pub fn weissman(successors: usize, trials: u64, error: f64) -> f64 {
    if trials == 0 {
        return 2.0;
    }
    let k = i32::try_from(successors).unwrap_or(i32::MAX);
    // ln(2^k - 2), without overflow for many successors.
    let ln_sets = f64::from(k) * std::f64::consts::LN_2 + (-(2f64.powi(1 - k))).ln_1p();
    (2.0 * (ln_sets - error.ln()) / trials as f64)
        .sqrt()
        .min(2.0)
}

/// Returns the number of trials that Chen's rule requires for a frequency of `hits` out of `trials` to be within `epsilon`
/// of its probability, except with probability `delta`.
///
/// # Source
/// J. Chen, "Properties of a new adaptive sampling method with applications to scalable learning", Web Intelligence 13,
/// issue 4, 2015. The distance from 1/2 is clamped at 0; otherwise the result would be too small for frequencies near 1/2.
pub fn chen_trials(hits: u64, trials: u64, epsilon: f64, delta: f64) -> f64 {
    let away = if trials == 0 {
        0.0
    } else {
        (0.5 - hits as f64 / trials as f64).abs()
    };
    let clamped = (away - 2.0 / 3.0 * epsilon).max(0.0);
    2.0 / (epsilon * epsilon) * (2.0 / delta).ln() * (0.25 - clamped * clamped)
}

/// Returns the number of trials that a whole row requires: the maximum over its entries.
pub fn row_trials(counts: &[u64], epsilon: f64, delta: f64) -> f64 {
    if counts.len() <= 1 {
        return 0.0;
    }
    let trials = counts.iter().sum();
    counts
        .iter()
        .map(|&hits| chen_trials(hits, trials, epsilon, delta))
        .fold(0.0, f64::max)
}
