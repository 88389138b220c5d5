//! The worked example of the design notes, the published risk matrix, and coverage by simulation.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use super::confidence::*;
use super::*;

/// The counts of the worked example: 0, 1, unsafe, end.
const ROW_0: [u64; 3] = [700, 200, 100];
const ROW_1: [u64; 4] = [120, 200, 10, 70];

fn example(rows: [RowSet; 2]) -> UncertainChain {
    let [zero, one] = rows;
    UncertainChain::new(vec![
        (vec![0, 1, 3], zero),
        (vec![0, 1, 2, 3], one),
        (vec![2], RowSet::Point(vec![1.0])),
        (vec![3], RowSet::Point(vec![1.0])),
    ])
    .unwrap()
}

fn risk(chain: &UncertainChain, steps: Steps) -> Bounds {
    robust_until(chain, &chain.graph().all(), &chain.set([2]), steps, 1e-9)
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{found} is not {expected}"
    );
}

#[test]
fn the_worked_example_with_boxes() {
    let error = 0.05 / (entries(3) + entries(4)) as f64;
    let bounds = risk(
        &example([
            clopper_pearson_box(&ROW_0, error),
            clopper_pearson_box(&ROW_1, error),
        ]),
        Steps::Unbounded,
    );
    for (found, expected) in [
        (bounds.lower[0], 0.0132),
        (bounds.upper[0], 0.1690),
        (bounds.lower[1], 0.0233),
        (bounds.upper[1], 0.2234),
    ] {
        close(found, expected, 5e-5);
    }
}

#[test]
fn the_worked_example_with_entropy_balls() {
    let balls = [
        entropy_ball(&ROW_0, 1.0, 0.025),
        entropy_ball(&ROW_1, 1.0, 0.025),
    ];
    for (ball, radius) in balls.iter().zip([10.201_671, 11.796_518]) {
        let RowSet::Entropy { radius: found, .. } = ball else {
            unreachable!()
        };
        close(*found, radius, 5e-7);
    }
    let bounds = risk(&example(balls), Steps::Unbounded);
    for (found, expected) in [
        (bounds.lower[0], 0.0053),
        (bounds.upper[0], 0.2184),
        (bounds.lower[1], 0.0099),
        (bounds.upper[1], 0.2799),
    ] {
        close(found, expected, 5e-5);
    }
}

#[test]
fn the_worked_example_with_distances() {
    let near = |counts: &[u64]| {
        let n: u64 = counts.iter().sum();
        RowSet::Near {
            centre: counts
                .iter()
                .map(|&count| count as f64 / n as f64)
                .collect(),
            distance: weissman(counts.len(), n, 0.025),
        }
    };
    let bounds = risk(&example([near(&ROW_0), near(&ROW_1)]), Steps::Unbounded);
    for (found, expected) in [
        (bounds.lower[0], 0.0),
        (bounds.upper[0], 0.3870),
        (bounds.lower[1], 0.0),
        (bounds.upper[1], 0.4601),
    ] {
        close(found, expected, 5e-5);
    }
}

#[test]
fn the_rule_of_chen() {
    close(chen_trials(80, 400, 0.05, 0.001), 1087.77, 5e-3);
    close(chen_trials(1, 2, 0.05, 0.001), 1520.18, 5e-3);
    close(chen_trials(1, 1, 0.05, 0.001), 195.93, 5e-3);
    assert_eq!(chen_trials(80, 400, 0.05, 0.001).ceil() as u64, 1088);
}

#[test]
fn the_intervals_of_wilson() {
    let z = 1.959_963_984_540_054;
    let (low, high) = wilson(36, 38, z);
    close(low, 0.827, 5e-4);
    close(high, 0.985, 5e-4);
    let (low, high) = wilson(4, 34, z);
    close(low, 0.047, 5e-4);
    close(high, 0.266, 5e-4);
}

/// The published matrix, every entry within 0.005 of what is printed: safe, mild, elevated, critical, violated.
#[test]
fn the_printed_risk_matrix_contains_the_published_risks() {
    const PRINTED: [[f64; 5]; 5] = [
        [0.54, 0.32, 0.14, 0.0, 0.0],
        [0.0, 0.74, 0.13, 0.0, 0.13],
        [0.0, 0.0, 0.81, 0.12, 0.07],
        [0.0, 0.0, 0.0, 0.93, 0.07],
        [0.0, 0.0, 0.0, 0.0, 1.0],
    ];
    let rows = PRINTED.iter().enumerate().map(|(state, row)| {
        if state == 4 {
            return (vec![4], RowSet::Point(vec![1.0]));
        }
        let set = RowSet::Box {
            lower: row.iter().map(|p| (p - 0.005).max(0.0)).collect(),
            upper: row.iter().map(|p| p + 0.005).collect(),
        };
        ((0..5).collect(), set)
    });
    let chain = UncertainChain::new(rows.collect()).unwrap();
    let bounds = robust_until(
        &chain,
        &chain.graph().all(),
        &chain.set([4]),
        Steps::AtMost(5),
        1e-9,
    );
    assert!(
        bounds.lower[1] <= 0.463 && 0.463 <= bounds.upper[1],
        "{bounds:?}"
    );
    assert!(
        bounds.lower[3] <= 0.295 && 0.295 <= bounds.upper[3],
        "{bounds:?}"
    );
    // And the point that is printed.
    close(bounds.lower[1], 0.43, 0.02);
}

/// A small generator of pseudo-random numbers, so that the simulation is the same everywhere (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn counts(&mut self, row: &[f64], trials: u64) -> Vec<u64> {
        let mut counts = vec![0; row.len()];
        for _ in 0..trials {
            let mut left = self.next();
            let at = row.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            counts[at.unwrap_or(row.len() - 1)] += 1;
        }
        counts
    }
}

/// The bounds contain the true risk at least as often as they promise.
#[test]
fn the_confidence_is_kept() {
    let (zero, one) = ([0.7, 0.2, 0.1], [0.3, 0.5, 0.025, 0.175]);
    // x0 = (.2 / .3) x1, x1 = (.3 x0 + .025) / .5
    let truth = 0.025 / (0.5 - 0.3 * (2.0 / 3.0));
    let delta = 0.1;
    let mut random = Random(7);
    let mut missed = [0; 2];
    for _ in 0..150 {
        let (zero, one) = (random.counts(&zero, 300), random.counts(&one, 150));
        let error = delta / 7.0;
        let sets = [
            [
                clopper_pearson_box(&zero, error),
                clopper_pearson_box(&one, error),
            ],
            [
                entropy_ball(&zero, 1.0, delta / 2.0),
                entropy_ball(&one, 1.0, delta / 2.0),
            ],
        ];
        for (rows, missed) in sets.into_iter().zip(&mut missed) {
            let bounds = robust_until(
                &example(rows.clone()),
                &example(rows.clone()).graph().all(),
                &example(rows).set([2]),
                Steps::Unbounded,
                1e-4,
            );
            if !(bounds.lower[1] <= truth && truth <= bounds.upper[1]) {
                *missed += 1;
            }
        }
    }
    assert!(
        missed.iter().all(|missed| *missed <= 15),
        "missed {missed:?} of 150"
    );
}

#[test]
fn extremes_are_those_of_the_corners() {
    let set = RowSet::Box {
        lower: vec![0.1, 0.2, 0.3],
        upper: vec![0.3, 0.5, 0.6],
    };
    close(set.extreme(&[1.0, 0.0, 0.0], true), 0.3, 1e-15);
    close(set.extreme(&[0.0, 1.0, 0.5], true), 0.5 + 0.5 * 0.4, 1e-15);
    close(set.extreme(&[0.0, 1.0, 0.5], false), 0.2 + 0.5 * 0.5, 1e-15);
}

#[test]
fn intervals_are_read_from_a_file() {
    let chain = read_interval_explicit("3 3\n0 1 [0.2,0.4]\n0 2 [0.5,0.9]\n1 1 1\n").unwrap();
    let bounds = robust_until(
        &chain,
        &chain.graph().all(),
        &chain.set([1]),
        Steps::Unbounded,
        1e-9,
    );
    close(bounds.lower[0], 0.2, 1e-8);
    close(bounds.upper[0], 0.4, 1e-8);
    for wrong in [
        "",
        "0 0",
        "2 1\n0 2 [0.1,0.2]",
        "2 1\n0 1 [0.5,0.2]",
        "2 1\n0 1 [0.5,nan]",
        "2 1\n0 1 [0.1,0.2]",
    ] {
        assert!(read_interval_explicit(wrong).is_err(), "{wrong}");
    }
}
