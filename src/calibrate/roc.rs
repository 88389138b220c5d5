//! Warnings by a threshold: the number of bad runs with a warning in time, and the number of good runs with a false
//! alarm.
//!
//! A run is scored by its largest risk *before* the feared event; a score that only the event itself causes is not a
//! warning.
//!
//! # Source
//! E. DeLong, D. DeLong, D. Clarke-Pearson, "Comparing the areas under two or more correlated receiver operating
//! characteristic curves", Biometrics 44, 1988, for the interval of the area; W. Youden, "Index for rating diagnostic
//! tests", 1950, for the choice of a threshold.

use guard_markov::interval::confidence::{Z95, wilson};

/// A run as a series of risks.
#[derive(Clone, Debug)]
pub(super) struct Scored {
    /// Whether the feared event happened.
    pub(super) bad: bool,
    /// The risk before the first step, then after each step, up to the event; `None` if the state was not seen in training.
    pub(super) risks: Vec<Option<f64>>,
    /// The index of the event among the steps of the chain, if known.
    pub(super) at: Option<usize>,
}

/// A frequency: a count out of a total.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    /// The count.
    pub hits: u64,
    /// The total.
    pub of: u64,
    /// Wilson's 95 % interval.
    pub wilson: (f64, f64),
}

/// The detections and false alarms of a threshold.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// Warnings are given at this risk or more.
    pub threshold: f64,
    /// The proportion of bad runs with a warning before the event.
    pub detected: Rate,
    /// The proportion of good runs with a warning.
    pub false_alarms: Rate,
    /// The median number of steps between the first warning and the event, over the detected runs.
    pub lead: Option<f64>,
}

/// The area under the curve: the probability that a bad run scores higher than a good one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    /// The area.
    pub value: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
}

/// A threshold that was chosen on one half of the runs, and its results on the other half.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// The rule by which it was chosen.
    pub rule: String,
    /// Its results on the runs that were not used to choose it.
    pub point: Point,
}

impl Rate {
    fn new(hits: u64, of: u64) -> Rate {
        Rate {
            hits,
            of,
            wilson: wilson(hits, of, Z95),
        }
    }

    /// Returns the proportion.
    pub(crate) fn share(&self) -> f64 {
        if self.of == 0 {
            0.0
        } else {
            self.hits as f64 / self.of as f64
        }
    }
}

impl Scored {
    /// Returns the largest risk; below every threshold if no risk is known.
    fn score(&self) -> f64 {
        let known = self.risks.iter().flatten().copied();
        known.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Returns the first place at which the risk reaches a threshold: 0 is before the first step.
    fn alarm(&self, threshold: f64) -> Option<usize> {
        self.risks
            .iter()
            .position(|risk| risk.is_some_and(|risk| risk >= threshold))
    }
}

/// Computes the detections and false alarms of a threshold.
pub(super) fn point<'a>(runs: impl IntoIterator<Item = &'a Scored>, threshold: f64) -> Point {
    let (mut bad, mut good, mut hits, mut alarms) = (0, 0, 0, 0);
    let mut leads = Vec::new();
    for run in runs {
        let alarm = run.alarm(threshold);
        if run.bad {
            bad += 1;
            hits += u64::from(alarm.is_some());
            // The event is after step `at`, and place 0 is before the first step.
            if let (Some(alarm), Some(at)) = (alarm, run.at) {
                leads.push((at + 1 - alarm.min(at + 1)) as f64);
            }
        } else {
            good += 1;
            alarms += u64::from(alarm.is_some());
        }
    }
    leads.sort_by(f64::total_cmp);
    Point {
        threshold,
        detected: Rate::new(hits, bad),
        false_alarms: Rate::new(alarms, good),
        lead: median(&leads),
    }
}

fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    Some(if sorted.len() % 2 == 1 {
        upper
    } else {
        f64::midpoint(sorted[middle - 1], upper)
    })
}

/// Returns the area, or `None` if all runs are of one kind.
pub(super) fn area(runs: &[Scored]) -> Option<Area> {
    let scores = |bad: bool| -> Vec<f64> {
        let of = runs.iter().filter(|run| run.bad == bad);
        of.map(Scored::score).collect()
    };
    let (mut bad, mut good) = (scores(true), scores(false));
    if bad.is_empty() || good.is_empty() {
        return None;
    }
    let m = bad.len() as f64;
    bad.sort_unstable_by(f64::total_cmp);
    good.sort_unstable_by(f64::total_cmp);
    // The share of sorted scores below each score; those that are equal count half.
    let below = |scores: &[f64], of: &[f64]| -> Vec<f64> {
        let share = |score: &f64| {
            let less = of.partition_point(|other| other.total_cmp(score).is_lt());
            let up_to = of.partition_point(|other| other.total_cmp(score).is_le());
            f64::midpoint(less as f64, up_to as f64) / of.len() as f64
        };
        scores.iter().map(share).collect()
    };
    let of_bad = below(&bad, &good);
    let of_good: Vec<f64> = below(&good, &bad).iter().map(|share| 1.0 - share).collect();
    let value = of_bad.iter().sum::<f64>() / m;
    let variance = |values: &[f64]| {
        let n = values.len() as f64;
        if n < 2.0 {
            return 0.0;
        }
        let squares = values.iter().map(|one| (one - value).powi(2));
        squares.sum::<f64>() / (n - 1.0) / n
    };
    let half = Z95 * (variance(&of_bad) + variance(&of_good)).sqrt();
    Some(Area {
        value,
        interval: ((value - half).max(0.0), (value + half).min(1.0)),
    })
}

/// Returns the curve: every threshold that separates some runs, highest first.
pub(super) fn curve(runs: &[Scored]) -> Vec<Point> {
    let mut thresholds: Vec<f64> = runs
        .iter()
        .map(Scored::score)
        .filter(|score| score.is_finite())
        .collect();
    thresholds.sort_by(|left, right| right.total_cmp(left));
    thresholds.dedup();
    thresholds.into_iter().map(|at| point(runs, at)).collect()
}

/// Chooses thresholds on every other run of each kind, and measures them on the rest, so that no threshold is measured on the
/// runs that chose it. `most` is the greatest allowed proportion of false alarms.
pub(super) fn choices(runs: &[Scored], most: f64) -> Vec<Choice> {
    let (mut chosen_on, mut told_on) = (Vec::new(), Vec::new());
    let mut seen = [0usize; 2];
    for run in runs {
        let number = &mut seen[usize::from(run.bad)];
        *number += 1;
        if number.is_multiple_of(2) {
            told_on.push(run.clone());
        } else {
            chosen_on.push(run.clone());
        }
    }
    let both = |runs: &[Scored]| runs.iter().any(|run| run.bad) && runs.iter().any(|run| !run.bad);
    if !both(&chosen_on) || !both(&told_on) {
        return Vec::new();
    }
    let curve = curve(&chosen_on);
    let index = |point: &Point| point.detected.share() - point.false_alarms.share();
    let mut found = Vec::new();
    let mut choose = |rule: String, best: Option<&Point>| {
        if let Some(best) = best {
            let point = point(&told_on, best.threshold);
            found.push(Choice { rule, point });
        }
    };
    let best = curve
        .iter()
        .fold(None, |best: Option<&Point>, point| match best {
            Some(best) if index(best) >= index(point) => Some(best),
            _ => Some(point),
        });
    choose("maximum of detected minus false alarms".to_owned(), best);
    let allowed = curve
        .iter()
        .rfind(|point| point.false_alarms.share() <= most);
    choose(format!("at most {} % false alarms", 100.0 * most), allowed);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definition: the share of pairs of a bad and a good run of which the bad one scores higher, ties half.
    #[test]
    fn the_area_is_that_of_all_pairs() {
        let run = |number: u32| Scored {
            bad: number.is_multiple_of(3),
            risks: vec![
                (!number.is_multiple_of(11)).then(|| f64::from(number * number % 17) / 16.0),
            ],
            at: None,
        };
        let runs: Vec<Scored> = (0..200).map(run).collect();
        let (mut pairs, mut won) = (0.0, 0.0);
        for bad in runs.iter().filter(|run| run.bad) {
            for good in runs.iter().filter(|run| !run.bad) {
                pairs += 1.0;
                won += match bad.score().total_cmp(&good.score()) {
                    std::cmp::Ordering::Greater => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Less => 0.0,
                };
            }
        }
        let area = area(&runs).unwrap();
        assert!((area.value - won / pairs).abs() < 1e-12, "{area:?}");
        assert!(area.interval.0 < area.value && area.value < area.interval.1);
    }

    /// Pairs would take minutes.
    #[test]
    fn the_area_of_many_runs() {
        let run = |number: u32| Scored {
            bad: number.is_multiple_of(2),
            risks: vec![Some(f64::from(number % 1000) / 1000.0)],
            at: None,
        };
        let runs: Vec<Scored> = (0..1_000_000).map(run).collect();
        // The bad ones are 0, 2, …, 998 of 1000, the good ones 1, 3, …, 999.
        assert!((area(&runs).unwrap().value - 0.499).abs() < 1e-9);
    }
}
