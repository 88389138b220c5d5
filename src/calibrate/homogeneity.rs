//! Tests whether rows of counts have the same distribution: between categories, between halves of runs, between a model and
//! later traces.
//!
//! # Source
//! T. Anderson, L. Goodman, "Statistical inference about Markov chains", Ann. Math. Stat. 28, 1957; P. Billingsley,
//! "Statistical methods in Markov chains", ibid. 32, 1961; Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate",
//! JRSS B 57, 1995.

use statrs::function::gamma::checked_gamma_ur;

/// A likelihood-ratio test: `G² = 2 Σ observed · ln(observed / expected)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GTest {
    /// The statistic.
    pub statistic: f64,
    /// Degrees of freedom.
    pub freedom: u64,
    /// The probability of so large a statistic if all rows have the same distribution, by the chi-square approximation.
    pub p: f64,
    /// The proportion of cells with an expected count below five; if it is large, the approximation is poor.
    pub sparse: f64,
}

/// A test of one state.
#[derive(Clone, Debug)]
pub(crate) struct RowTest {
    /// The state.
    pub state: String,
    /// Its test.
    pub test: GTest,
    /// Whether the rows differ, at a false discovery rate of 5 % over all states together.
    pub differs: bool,
}

/// The allowed proportion of false discoveries.
const FALSE_DISCOVERIES: f64 = 0.05;

impl GTest {
    fn of(statistic: f64, freedom: u64, (sparse, cells): (u64, u64)) -> GTest {
        // Without a statistic or degrees of freedom, p is 1.
        let p = checked_gamma_ur(freedom as f64 / 2.0, statistic / 2.0).unwrap_or(1.0);
        GTest {
            statistic: statistic.max(0.0),
            freedom,
            p,
            sparse: sparse as f64 / cells.max(1) as f64,
        }
    }
}

/// Tests whether the rows of a table of counts have the same distribution; returns `None` if there is nothing to
/// compare.
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

/// Returns the sum of independent tests.
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
}
