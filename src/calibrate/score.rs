//! Scores of predicted probabilities against the actual outcomes.
//!
//! # Source
//! G. Brier, "Verification of forecasts expressed in terms of probability", 1950; A. Murphy, "A new vector partition of the
//! probability score", J. Appl. Meteor. 12, 1973.

use std::collections::BTreeMap;

use guard_markov::interval::confidence::{Z95, wilson};

/// A forecast and its outcome.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forecasted {
    /// The trace of the forecast.
    pub(super) trace: usize,
    /// The probability.
    pub(super) risk: f64,
    /// Whether the event happened.
    pub(super) happened: bool,
}

/// Brier's score: the mean squared error of the forecasts; smaller is better, 0 is perfect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Brier {
    /// The number of forecasts.
    pub forecasts: usize,
    /// The score: `reliability - resolution + uncertainty`.
    pub score: f64,
    /// Half the width of its 95 % interval; forecasts for one trace count as one observation, because they share the
    /// outcome.
    pub half_width: f64,
    /// The mean squared distance of frequencies from the predicted probabilities: 0 is calibrated.
    pub reliability: f64,
    /// The mean squared distance of the frequencies of different probabilities from the overall frequency: larger is better.
    pub resolution: f64,
    /// The score of always predicting the overall frequency.
    pub uncertainty: f64,
    /// The mean probability.
    pub predicted: f64,
    /// The overall frequency.
    pub observed: f64,
}

/// Forecasts with similar probabilities.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bin {
    /// The lower bound of the probabilities.
    pub from: f64,
    /// The upper bound of the probabilities.
    pub to: f64,
    /// The number of forecasts.
    pub forecasts: u64,
    /// The number of them for which the event happened.
    pub happened: u64,
    /// Their mean probability.
    pub predicted: f64,
    /// Wilson's 95 % interval of the frequency.
    pub wilson: (f64, f64),
}

/// The number of bins for probabilities.
const BINS: usize = 10;

/// Returns the score, or `None` without forecasts.
pub(super) fn brier(forecasts: &[Forecasted]) -> Option<Brier> {
    if forecasts.is_empty() {
        return None;
    }
    let n = forecasts.len() as f64;
    let miss = |one: &Forecasted| (one.risk - f64::from(u8::from(one.happened))).powi(2);
    let score = forecasts.iter().map(miss).sum::<f64>() / n;
    let observed = forecasts.iter().filter(|one| one.happened).count() as f64 / n;
    // Grouped by probability, because Murphy's partition is exact only if each group has one probability.
    let mut groups: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    let mut traces: BTreeMap<usize, f64> = BTreeMap::new();
    for one in forecasts {
        let group = groups.entry(one.risk.to_bits()).or_default();
        group.0 += 1.0;
        group.1 += f64::from(u8::from(one.happened));
        *traces.entry(one.trace).or_default() += miss(one) - score;
    }
    let (mut reliability, mut resolution) = (0.0, 0.0);
    for (bits, (count, hits)) in groups {
        let frequency = hits / count;
        reliability += count * (f64::from_bits(bits) - frequency).powi(2);
        resolution += count * (frequency - observed).powi(2);
    }
    let clusters = traces.len() as f64;
    let spread: f64 = traces.values().map(|sum| sum * sum).sum();
    let correction = if clusters > 1.0 {
        clusters / (clusters - 1.0)
    } else {
        1.0
    };
    Some(Brier {
        forecasts: forecasts.len(),
        score,
        half_width: Z95 * (correction * spread).sqrt() / n,
        reliability: reliability / n,
        resolution: resolution / n,
        uncertainty: observed * (1.0 - observed),
        predicted: forecasts.iter().map(|one| one.risk).sum::<f64>() / n,
        observed,
    })
}

/// Groups forecasts by tenths of probability; empty tenths are left out.
pub(super) fn bins(forecasts: &[Forecasted]) -> Vec<Bin> {
    let mut sums = [(0u64, 0u64, 0.0); BINS];
    for one in forecasts {
        let place = ((one.risk * BINS as f64) as usize).min(BINS - 1);
        sums[place].0 += 1;
        sums[place].1 += u64::from(one.happened);
        sums[place].2 += one.risk;
    }
    let bin = |(place, (count, hits, sum)): (usize, &(u64, u64, f64))| {
        (*count > 0).then(|| Bin {
            from: place as f64 / BINS as f64,
            to: (place + 1) as f64 / BINS as f64,
            forecasts: *count,
            happened: *hits,
            predicted: sum / *count as f64,
            wilson: wilson(*hits, *count, Z95),
        })
    };
    sums.iter().enumerate().filter_map(bin).collect()
}
