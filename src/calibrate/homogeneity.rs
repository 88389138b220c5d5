//! Whether rows of counts are draws of one law: between categories, between halves of runs, between a model and what came
//! after it; and how much a chain should remember.
//!
//! # Source
//! T. Anderson, L. Goodman, "Statistical inference about Markov chains", Ann. Math. Stat. 28, 1957; P. Billingsley,
//! "Statistical methods in Markov chains", ibid. 32, 1961; Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate",
//! JRSS B 57, 1995; I. Csiszár, P. Shields, "The consistency of the BIC Markov order estimator", Ann. Stat. 28, 2000.

use std::collections::{BTreeMap, BTreeSet};

use statrs::function::gamma::checked_gamma_ur;

/// A likelihood-ratio test: `G² = 2 Σ observed · ln(observed / expected)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GTest {
    /// The statistic.
    pub statistic: f64,
    /// Degrees of freedom.
    pub freedom: u64,
    /// The chance of so large a statistic where all draws are of one law, by the chi-square approximation.
    pub p: f64,
    /// The share of cells in which fewer than five are expected: where it is large, the approximation is poor.
    pub sparse: f64,
}

/// A test of one state.
#[derive(Clone, Debug)]
pub struct RowTest {
    /// The state.
    pub state: String,
    /// Its test.
    pub test: GTest,
    /// Whether it counts as different, where among all states together at most 5 % of such findings are to be wrong.
    pub differs: bool,
}

/// How well a chain that remembers so many steps says what comes next.
#[derive(Clone, Debug)]
pub struct Order {
    /// How many steps it remembers.
    pub order: usize,
    /// Free parameters: of each context that was seen, its successors less one.
    pub parameters: u64,
    /// Akaike's criterion; smaller is better.
    pub aic: f64,
    /// Schwarz's criterion; smaller is better.
    pub bic: f64,
    /// On runs that it was not learned from: the share of next states that are the most likely one.
    pub accuracy: f64,
    /// On those runs: the mean of `-ln P(next)`, in nats; smaller is better.
    pub log_loss: f64,
    /// Against one that remembers one step more: whether that step tells something.
    pub against_next: Option<GTest>,
}

/// The share of wrong findings that is allowed.
const FALSE_DISCOVERIES: f64 = 0.05;

/// The most steps that are tried.
const MOST_REMEMBERED: usize = 3;

impl GTest {
    fn of(statistic: f64, freedom: u64, (sparse, cells): (u64, u64)) -> GTest {
        // Of no statistic, or no freedom, everything is larger.
        let p = checked_gamma_ur(freedom as f64 / 2.0, statistic / 2.0).unwrap_or(1.0);
        GTest {
            statistic: statistic.max(0.0),
            freedom,
            p,
            sparse: sparse as f64 / cells.max(1) as f64,
        }
    }
}

/// Whether the rows of a table of counts are draws of one law; none where there is nothing to compare.
pub(super) fn same_law(table: &[Vec<u64>]) -> Option<GTest> {
    let rows: Vec<(&Vec<u64>, f64)> = table
        .iter()
        .map(|row| (row, row.iter().sum::<u64>() as f64))
        .filter(|(_, sum)| *sum > 0.0)
        .collect();
    let width = table.iter().map(Vec::len).max().unwrap_or(0);
    let column = |at: usize| -> f64 {
        let cells = rows.iter().filter_map(|(row, _)| row.get(at));
        cells.sum::<u64>() as f64
    };
    let columns: Vec<f64> = (0..width).map(column).collect();
    let used = columns.iter().filter(|sum| **sum > 0.0).count();
    if rows.len() < 2 || used < 2 {
        return None;
    }
    let total: f64 = columns.iter().sum();
    let (mut statistic, mut sparse, mut cells) = (0.0, 0, 0);
    for (row, sum) in &rows {
        for (count, column) in row
            .iter()
            .zip(&columns)
            .filter(|(_, column)| **column > 0.0)
        {
            let expected = sum * column / total;
            cells += 1;
            sparse += u64::from(expected < 5.0);
            if *count > 0 {
                statistic += 2.0 * *count as f64 * (*count as f64 / expected).ln();
            }
        }
    }
    let freedom = (rows.len() - 1) as u64 * (used - 1) as u64;
    Some(GTest::of(statistic, freedom, (sparse, cells)))
}

/// Marks the tests that differ, by the rule of Benjamini and Hochberg; those that differ most come first.
pub(super) fn discoveries(tests: Vec<(String, GTest)>) -> Vec<RowTest> {
    let mut tests = tests;
    tests.sort_by(|left, right| left.1.p.total_cmp(&right.1.p).then(left.0.cmp(&right.0)));
    let n = tests.len() as f64;
    let small = |(rank, (_, test)): &(usize, &(String, GTest))| {
        test.p <= FALSE_DISCOVERIES * (*rank + 1) as f64 / n
    };
    let last = tests.iter().enumerate().rfind(small);
    let last = last.map_or(0, |(rank, _)| rank + 1);
    tests
        .into_iter()
        .enumerate()
        .map(|(rank, (state, test))| RowTest {
            state,
            test,
            differs: rank < last,
        })
        .collect()
}

/// The sum of independent tests.
pub(super) fn together(tests: &[RowTest]) -> Option<GTest> {
    (!tests.is_empty()).then(|| {
        let statistic = tests.iter().map(|row| row.test.statistic).sum();
        let freedom = tests.iter().map(|row| row.test.freedom).sum();
        let sparse: f64 = tests.iter().map(|row| row.test.sparse).sum();
        let test = GTest::of(statistic, freedom, (0, 1));
        GTest {
            sparse: sparse / tests.len() as f64,
            ..test
        }
    })
}

/// What follows contexts of so many symbols; before its beginning a run had the symbol 0.
type Successors = BTreeMap<Vec<u32>, BTreeMap<u32, u64>>;

fn successors<'a>(runs: impl IntoIterator<Item = &'a Vec<u32>>, order: usize) -> Successors {
    let mut found = Successors::new();
    for run in runs {
        for (at, next) in run.iter().enumerate() {
            let context = context(run, at, order);
            *found.entry(context).or_default().entry(*next).or_default() += 1;
        }
    }
    found
}

fn context(run: &[u32], at: usize, order: usize) -> Vec<u32> {
    let from = at.saturating_sub(order);
    let mut context = vec![0; order - (at - from)];
    context.extend(&run[from..at]);
    context
}

/// How well chains of order 0 to 3 say what comes next. Runs are symbols from 1 on, the end of a complete one among them.
pub(super) fn orders(runs: &[Vec<u32>]) -> Vec<Order> {
    let n: usize = runs.iter().map(Vec::len).sum();
    if n == 0 {
        return Vec::new();
    }
    let counts: Vec<Successors> = (0..=MOST_REMEMBERED + 1)
        .map(|order| successors(runs, order))
        .collect();
    (0..=MOST_REMEMBERED)
        .map(|order| {
            let of = &counts[order];
            let mut likelihood = 0.0;
            let mut parameters = 0;
            for next in of.values() {
                let sum: u64 = next.values().sum();
                parameters += next.len() as u64 - 1;
                let each = next
                    .values()
                    .map(|count| *count as f64 * (*count as f64 / sum as f64).ln());
                likelihood += each.sum::<f64>();
            }
            let (accuracy, log_loss) = held_out(runs, order);
            Order {
                order,
                parameters,
                aic: 2.0 * parameters as f64 - 2.0 * likelihood,
                bic: parameters as f64 * (n as f64).ln() - 2.0 * likelihood,
                accuracy,
                log_loss,
                against_next: (order < MOST_REMEMBERED)
                    .then(|| one_more(of, &counts[order + 1]))
                    .flatten(),
            }
        })
        .collect()
}

/// Whether one more remembered symbol changes what follows: of each short context, its longer ones as a table.
fn one_more(short: &Successors, long: &Successors) -> Option<GTest> {
    let mut tables: BTreeMap<&[u32], Vec<&BTreeMap<u32, u64>>> = BTreeMap::new();
    for (context, next) in long {
        tables.entry(&context[1..]).or_default().push(next);
    }
    let mut tests = Vec::new();
    for (context, rows) in tables {
        let columns: Vec<u32> = short.get(context)?.keys().copied().collect();
        let table: Vec<Vec<u64>> = rows
            .into_iter()
            .map(|row| {
                let cell = |column: &u32| row.get(column).copied().unwrap_or(0);
                columns.iter().map(cell).collect()
            })
            .collect();
        if let Some(test) = same_law(&table) {
            tests.push((String::new(), test));
        }
    }
    together(&discoveries(tests))
}

/// Accuracy and log-loss, each half of the runs said by what was learned from the other. A context that was not seen is
/// shortened until it was.
fn held_out(runs: &[Vec<u32>], order: usize) -> (f64, f64) {
    let symbols: BTreeSet<u32> = runs.iter().flatten().copied().collect();
    let k = symbols.len() as f64;
    let (mut right, mut loss, mut n) = (0.0, 0.0, 0.0);
    for half in 0..2 {
        let learned: Vec<&Vec<u32>> = runs.iter().skip(half).step_by(2).collect();
        let counts: Vec<Successors> = (0..=order)
            .map(|order| successors(learned.iter().copied(), order))
            .collect();
        for run in runs.iter().skip(1 - half).step_by(2) {
            for (at, next) in run.iter().enumerate() {
                let seen = (0..=order)
                    .rev()
                    .find_map(|order| counts[order].get(&context(run, at, order)));
                let Some(seen) = seen else {
                    continue;
                };
                n += 1.0;
                // Of equally likely symbols the first one is said.
                let said =
                    seen.iter().fold(
                        None,
                        |best: Option<(u32, u64)>, (symbol, count)| match best {
                            Some((_, most)) if most >= *count => best,
                            _ => Some((*symbol, *count)),
                        },
                    );
                right += f64::from(u8::from(said.is_some_and(|(symbol, _)| symbol == *next)));
                let sum: u64 = seen.values().sum();
                let count = seen.get(next).copied().unwrap_or(0);
                loss -= ((count as f64 + 0.5) / (sum as f64 + 0.5 * k)).ln();
            }
        }
    }
    if n == 0.0 {
        (0.0, 0.0)
    } else {
        (right / n, loss / n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_two_by_two_as_in_textbooks() {
        // R. Sokal, F. Rohlf, "Biometry": mutual independence of leaf type and soil. G = 1.33249.
        let test = same_law(&[vec![12, 22], vec![16, 50]]);
        let test = test.unwrap_or(GTest::of(0.0, 0, (0, 1)));
        assert!((test.statistic - 1.33249).abs() < 1e-4, "{test:?}");
        assert_eq!(test.freedom, 1);
        assert!((test.p - 0.248356).abs() < 1e-4, "{test:?}");
    }

    #[test]
    fn a_chain_that_remembers_two_steps_is_found_out() {
        // The next symbol is the one before the last, so that two steps tell all and one tells nothing.
        let run = |first: u32, second: u32| -> Vec<u32> {
            let mut run = vec![first, second];
            for at in 2..40 {
                run.push(run[at - 2]);
            }
            run
        };
        // Both halves of the runs hold all kinds: every second run is of the other half.
        let runs: Vec<Vec<u32>> = (0..24)
            .map(|at| run(1 + (at / 2) % 2, 1 + (at / 4) % 2))
            .collect();
        let orders = orders(&runs);
        let better = |lhs: usize, rhs: usize| orders[lhs].bic < orders[rhs].bic;
        assert!(better(2, 0) && better(2, 1), "{orders:?}");
        // A third step tells nothing, and costs nothing either: no successor is possible twice.
        assert!(!better(3, 2), "{orders:?}");
        assert!(orders[2].accuracy > 0.95 && orders[1].accuracy < 0.8);
        let tells = |order: usize| orders[order].against_next.map_or(1.0, |test| test.p);
        assert!(tells(1) < 1e-6 && tells(2) > 0.01, "{orders:?}");
    }
}
