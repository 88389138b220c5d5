//! Sets of probability vectors, and extreme averages over them.

/// The possible probabilities of one state's successors, in the order of its successors.
#[derive(Clone, Debug, PartialEq)]
pub enum RowSet {
    /// Exactly this vector.
    Point(Vec<f64>),
    /// Each entry within its bounds.
    Box {
        /// Lower bounds.
        lower: Vec<f64>,
        /// Upper bounds.
        upper: Vec<f64>,
    },
    /// The vectors within a distance of a centre, as the sum of absolute differences.
    Near {
        /// The centre.
        centre: Vec<f64>,
        /// The distance.
        distance: f64,
    },
    /// A relative-entropy ball: `Σ n(j) ln(q(j) / p(j)) ≤ radius`, with `q` the frequencies of the counts `n`.
    Entropy {
        /// The counts.
        counts: Vec<f64>,
        /// The radius.
        radius: f64,
    },
    /// The intersection of some sets, at least one.
    All(Vec<RowSet>),
}

/// Exceeds the rounding of the sums here.
const SLACK: f64 = 1e-12;

impl RowSet {
    /// Returns the set for reordered successors: entry `i` is entry `places[i]` of this set.
    #[must_use]
    pub fn permuted(&self, places: &[usize]) -> RowSet {
        let pick = |of: &[f64]| places.iter().map(|place| of[*place]).collect();
        match self {
            RowSet::Point(row) => RowSet::Point(pick(row)),
            RowSet::Box { lower, upper } => RowSet::Box {
                lower: pick(lower),
                upper: pick(upper),
            },
            RowSet::Near { centre, distance } => RowSet::Near {
                centre: pick(centre),
                distance: *distance,
            },
            RowSet::Entropy { counts, radius } => RowSet::Entropy {
                counts: pick(counts),
                radius: *radius,
            },
            RowSet::All(sets) => RowSet::All(sets.iter().map(|set| set.permuted(places)).collect()),
        }
    }

    /// Checks that the set is nonempty and for this many successors; otherwise returns a description of the fault.
    pub(super) fn check(&self, successors: usize) -> Result<(), String> {
        let near_one = |sum: f64| (sum - 1.0).abs() <= super::super::chain::ROW_TOLERANCE;
        let proper = |values: &[f64]| {
            values.len() == successors
                && values
                    .iter()
                    .all(|value| (0.0..=1.0 + SLACK).contains(value))
        };
        let sound = match self {
            RowSet::Point(row) => proper(row) && near_one(row.iter().sum()),
            RowSet::Box { lower, upper } => {
                let ordered = lower.iter().zip(upper).all(|(low, high)| low <= high);
                let (least, most) = (lower.iter().sum::<f64>(), upper.iter().sum::<f64>());
                if !(least <= 1.0 + SLACK && most >= 1.0 - SLACK) {
                    return Err(format!("at least {least} and at most {most}"));
                }
                proper(lower) && proper(upper) && ordered
            }
            RowSet::Near { centre, distance } => {
                proper(centre) && near_one(centre.iter().sum()) && *distance >= 0.0
            }
            RowSet::Entropy { counts, radius } => {
                let sound = counts
                    .iter()
                    .all(|count| *count >= 0.0 && count.is_finite());
                counts.len() == successors && sound && successors > 0 && *radius >= 0.0
            }
            RowSet::All(sets) => {
                for set in sets {
                    set.check(successors)?;
                }
                !sets.is_empty()
            }
        };
        if sound && successors > 0 {
            Ok(())
        } else {
            Err("something that is no set of probability vectors".to_owned())
        }
    }

    /// Returns the largest average of some values over the set, or the smallest.
    ///
    /// For an intersection this is an outer bound: the tightest of those of its sets.
    ///
    /// # Limits
    /// `O(k log k)` for `k` successors; entropy balls require a bisection.
    pub fn extreme(&self, values: &[f64], largest: bool) -> f64 {
        let average = |row: &[f64]| -> f64 { row.iter().zip(values).map(|(p, v)| p * v).sum() };
        match self {
            RowSet::Point(row) => average(row),
            RowSet::Box { lower, upper } => {
                // Every entry gets its lower bound; the remaining mass goes to the best values first.
                let mut left = 1.0 - lower.iter().sum::<f64>();
                let mut total = average(lower);
                for at in ranked(values, largest) {
                    let more = (upper[at] - lower[at]).min(left.max(0.0));
                    total += more * values[at];
                    left -= more;
                }
                total
            }
            RowSet::Near { centre, distance } => {
                // Half the distance moves to the best value, taken from the worst ones.
                let order = ranked(values, largest);
                let (best, rest) = match order.split_first() {
                    Some((best, rest)) => (*best, rest),
                    None => return 0.0,
                };
                let mut moved = (distance / 2.0).min(1.0 - centre[best]);
                let mut total = average(centre) + moved * values[best];
                for &at in rest.iter().rev() {
                    let taken = moved.min(centre[at]);
                    total -= taken * values[at];
                    moved -= taken;
                }
                total
            }
            RowSet::All(sets) => {
                let each = sets.iter().map(|set| set.extreme(values, largest));
                if largest {
                    each.fold(f64::INFINITY, f64::min)
                } else {
                    each.fold(f64::NEG_INFINITY, f64::max)
                }
            }
            RowSet::Entropy { counts, radius } => {
                if largest {
                    entropy_max(counts, *radius, values)
                } else {
                    let negated: Vec<f64> = values.iter().map(|value| -value).collect();
                    -entropy_max(counts, *radius, &negated)
                }
            }
        }
    }
}

/// Returns the positions by value, the best first.
fn ranked(values: &[f64], largest: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&left, &right| {
        let by_value = values[left].total_cmp(&values[right]);
        if largest {
            by_value.reverse()
        } else {
            by_value
        }
    });
    order
}

/// Returns the largest average over an entropy ball: `p(j) = λ n(j) / (μ - v(j))` for some `μ` above all values, found by
/// bisection. A successor with count 0 may take mass if its value is larger than those of all others with counts.
///
/// # Source
/// A. Nilim, L. El Ghaoui, "Robust control of Markov decision processes with uncertain transition matrices", Oper. Res.
/// 53(5), 2005.
fn entropy_max(counts: &[f64], radius: f64, values: &[f64]) -> f64 {
    let n: f64 = counts.iter().sum();
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if n == 0.0 {
        return top;
    }
    let seen = || counts.iter().zip(values).filter(|entry| *entry.0 > 0.0);
    let best_seen = seen()
        .map(|entry| *entry.1)
        .fold(f64::NEG_INFINITY, f64::max);
    let worst_seen = seen().map(|entry| *entry.1).fold(f64::INFINITY, f64::min);
    if top == worst_seen && best_seen == top {
        return top;
    }
    // For a given μ, returns the λ that uses the whole radius, and the sum of the row:
    // `Σ n ln((μ - v) / (λ n)) = radius` with n = N q.
    let row = |mu: f64| {
        let spent: f64 = seen()
            .map(|(count, value)| count * ((mu - value) / n).ln())
            .sum();
        let lambda = ((spent - radius) / n).exp();
        let sum: f64 = seen()
            .map(|(count, value)| lambda * count / (mu - value))
            .sum();
        (lambda, sum)
    };
    if top > best_seen {
        let (lambda, sum) = row(top);
        if sum <= 1.0 {
            let average: f64 = seen()
                .map(|(count, value)| lambda * count / (top - value) * value)
                .sum();
            return average + (1.0 - sum) * top;
        }
    }
    // The sum of the row falls from above 1 near the best value to exp(-radius / N) ≤ 1 for large μ; it is 1 in
    // between.
    let spread = (top - worst_seen).max(f64::MIN_POSITIVE);
    let (mut low, mut high) = (0.0, spread);
    while row(top + high).1 > 1.0 && high < spread * 1e18 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = if low == 0.0 {
            high / 4.0
        } else {
            (low * high).sqrt()
        };
        if row(top + middle).1 > 1.0 {
            low = middle;
        } else {
            high = middle;
        }
        if high < spread * 1e-17 {
            break;
        }
    }
    let mu = top + high;
    let (lambda, sum) = row(mu);
    let average: f64 = seen()
        .map(|(count, value)| lambda * count / (mu - value) * value)
        .sum();
    // The remainder of an unfinished bisection goes to the best value, which is conservative.
    average + (1.0 - sum).max(0.0) * top
}
