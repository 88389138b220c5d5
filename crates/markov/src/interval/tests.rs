//! Tests with a worked example, a published risk matrix, and coverage by simulation.
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

/// The published matrix, where each entry is known within 0.005: safe, mild, elevated, critical, violated.
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
    // The printed point estimate.
    close(bounds.lower[1], 0.43, 0.02);
}

/// A pseudo-random generator (splitmix64) with a fixed seed, so that the simulation is reproducible.
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

/// The bounds contain the true risk at least as often as their confidence requires.
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

/// A linear congruential generator (Knuth) with a fixed seed, uniform from 0 to 1.
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

type FloatRows = Vec<Vec<(u32, f64)>>;

fn float_chain(rows: &FloatRows) -> Chain<f64> {
    let mut builder = ChainBuilder::default();
    for row in rows {
        for &(target, probability) in row {
            builder.transition(target, probability);
        }
        builder.end_row().unwrap();
    }
    builder.finish([0], None).unwrap()
}

/// Returns the fraction of samples of this many complete runs whose asymptotic interval contains the true probability, among
/// those that give an interval; and the fraction of those that give none. A run ends in a state without transitions.
fn coverage(
    rows: &FloatRows,
    goal: &crate::why::Goal,
    runs: usize,
    samples: usize,
    random: &mut Uniform,
) -> (f64, f64) {
    let accuracy = crate::solve::Accuracy::default();
    let truth = {
        let why = goal.why(&float_chain(rows), 0, &[], &accuracy).unwrap();
        why.risk
    };
    let (mut held, mut none) = (0, 0);
    for _ in 0..samples {
        let mut counts: Vec<Vec<u64>> = rows.iter().map(|row| vec![0; row.len()]).collect();
        for _ in 0..runs {
            let mut state = 0usize;
            while !rows[state].is_empty() {
                let mut left = random.next();
                let last = rows[state].len() - 1;
                let taken = rows[state].iter().position(|(_, probability)| {
                    left -= probability;
                    left < 0.0
                });
                let taken = taken.unwrap_or(last);
                counts[state][taken] += 1;
                state = rows[state][taken].0 as usize;
            }
        }
        let exits: Vec<u64> = counts.iter().map(|row| row.iter().sum()).collect();
        let learned: FloatRows = (0..rows.len())
            .map(|state| {
                let share = |(at, entry): (usize, &(u32, f64))| {
                    (
                        entry.0,
                        counts[state][at] as f64 / exits[state].max(1) as f64,
                    )
                };
                rows[state].iter().enumerate().map(share).collect()
            })
            .collect();
        let found = goal
            .variance(&float_chain(&learned), 0, &|state| state, &exits, &accuracy)
            .unwrap();
        let interval = found.and_then(|(value, variance)| delta_interval(value, variance, 0.05));
        match interval {
            Some((low, high)) => held += usize::from((low..=high).contains(&truth)),
            None => none += 1,
        }
    }
    let given = samples - none;
    (
        f64::from(held as u32) / given.max(1) as f64,
        none as f64 / samples as f64,
    )
}

/// Returns chains to learn: name, rows, the state of the event, and the number of steps within which it counts.
fn to_learn() -> Vec<(&'static str, FloatRows, u32, Option<u64>)> {
    let branch = vec![vec![(1, 0.3), (2, 0.7)], vec![], vec![]];
    let example = vec![
        vec![(0, 0.4), (1, 0.4), (3, 0.2)],
        vec![(0, 0.3), (1, 0.3), (2, 0.15), (3, 0.25)],
        vec![],
        vec![],
    ];
    // A random walk between two absorbing states.
    let walk: FloatRows = (0..7)
        .map(|at| match at {
            0 => vec![(3, 1.0)],
            1 | 6 => vec![],
            _ => vec![(at - 1, 0.55), (at + 1, 0.45)],
        })
        .collect();
    // Phases that may restart.
    let retry: FloatRows = (0..6)
        .map(|at| match at {
            4 | 5 => vec![],
            3 => vec![(4, 0.5), (0, 0.5)],
            _ => vec![(at + 1, 0.7), (0, 0.15), (5, 0.15)],
        })
        .collect();
    // Fifteen tools, each followed by any other, by the event or by the end.
    let mut random = Uniform(15);
    let tools: FloatRows = (0..17u32)
        .map(|at| {
            if at >= 15 {
                return vec![];
            }
            let weights: Vec<f64> = (0..17)
                .map(|to| match to {
                    15 => 0.3,
                    16 => 1.2,
                    _ => random.next(),
                })
                .collect();
            let sum: f64 = weights.iter().sum();
            (0u32..)
                .zip(weights)
                .map(|(to, weight)| (to, weight / sum))
                .collect()
        })
        .collect();
    // A long path with one risky state.
    let long: FloatRows = (0..10)
        .map(|at| match at {
            8 | 9 => vec![],
            4 => vec![(5, 0.75), (8, 0.25)],
            7 => vec![(9, 0.6), (2, 0.4)],
            _ => vec![(at + 1, 1.0)],
        })
        .collect();
    vec![
        ("branch", branch, 1, None),
        ("example", example.clone(), 2, None),
        ("example, 3 steps", example, 2, Some(3)),
        ("walk", walk.clone(), 1, None),
        ("walk, 6 steps", walk, 1, Some(6)),
        ("retry", retry, 4, None),
        ("tools", tools.clone(), 15, None),
        ("tools, 5 steps", tools, 15, Some(5)),
        ("long", long, 8, None),
    ]
}

fn event(rows: &FloatRows, target: u32, horizon: Option<u64>) -> crate::why::Goal {
    let chain = float_chain(rows);
    let goal = crate::why::Goal::reach(chain.graph().set([target]));
    crate::why::Goal { horizon, ..goal }
}

/// From 50 complete runs on, the 95 % interval of the delta method has a coverage of 93 to 97 %.
#[test]
fn the_asymptotic_interval_keeps_its_level() {
    for (name, rows, target, horizon) in to_learn() {
        let goal = event(&rows, target, horizon);
        for (runs, samples) in [(50, 2000), (200, 1000), (1000, 600)] {
            let (held, none) = coverage(&rows, &goal, runs, samples, &mut Uniform(7));
            println!("{name}: {runs} runs, {held:.3} of the intervals hold, {none:.3} without one");
            assert!((0.93..=0.97).contains(&held), "{name}, {runs} runs: {held}");
            assert!(none < 0.01);
        }
    }
}

/// A limit of the method: if 50 runs mostly do not contain the event, there is no interval.
#[test]
fn the_asymptotic_interval_says_nothing_of_what_was_not_seen() {
    let rare = vec![vec![(1, 0.01), (2, 0.99)], vec![], vec![]];
    let goal = event(&rare, 1, None);
    let (_, none) = coverage(&rare, &goal, 50, 1000, &mut Uniform(7));
    assert!((0.5..0.7).contains(&none), "{none}");
}

/// For reachability in complete runs, the variance is that of the fraction of runs with the event.
#[test]
fn a_run_is_the_unit() {
    // The counts of 180 complete runs, 10 of which reach the event.
    let counted = vec![
        vec![(0, 700.0 / 1000.0), (1, 0.2), (3, 0.1)],
        vec![(0, 0.3), (1, 0.5), (2, 0.025), (3, 0.175)],
        vec![],
        vec![],
    ];
    let goal = event(&counted, 2, None);
    let found = goal
        .variance(
            &float_chain(&counted),
            0,
            &|state| state,
            &[1000, 400, 0, 0],
            &crate::solve::Accuracy::default(),
        )
        .unwrap();
    let (value, variance) = found.unwrap();
    let share = 10.0 / 180.0;
    close(value, share, 1e-12);
    close(variance, share * (1.0 - share) / 180.0, 1e-12);
}

/// The anytime interval contains the one for a fixed number of trials.
#[test]
fn stopping_at_any_time_costs_width() {
    for (hits, trials) in [(0, 5), (3, 10), (38, 200), (200, 200)] {
        let fixed = clopper_pearson(hits, trials, 0.05);
        let anytime = anytime_interval(hits, trials, 0.05);
        assert!(
            anytime.0 <= fixed.0 && fixed.1 <= anytime.1,
            "{fixed:?}, {anytime:?}"
        );
    }
    assert_eq!(anytime_interval(0, 0, 0.05), (0.0, 1.0));
}

/// Frequencies say nothing about successors that differ at each trial; those that repeat bound all others together.
#[test]
fn an_open_row_bounds_what_was_never_seen() {
    let last = |counts: &[u64]| match confidence::open_box(counts, 0.05) {
        RowSet::Box { upper, .. } => *upper.last().unwrap(),
        _ => unreachable!(),
    };
    assert_eq!(last(&[1; 50]), 1.0);
    assert_eq!(last(&[]), 1.0);
    // 0.05 / 40000 on both sides: the bound of 2 out of 10000.
    let bound = confidence::clopper_pearson(2, 10_000, 0.05 / 20_000.0).1;
    assert_eq!(last(&[4000, 0, 6000]), bound);
    assert!(bound > 2.0 / 10_000.0 && bound < 0.003);
    // A successor that was seen once may be one of many that are as rare.
    let RowSet::Box { lower, upper } = confidence::open_box(&[1, 99], 0.05) else {
        unreachable!()
    };
    assert_eq!((lower[0], lower[2]), (0.0, 0.0));
    assert!(lower[1] < 0.98 && upper[1] > 0.99);
}

/// A bound on steps beyond those that change anything costs nothing, and does not widen the bounds.
#[test]
fn distant_bounds_are_those_of_any_number_of_steps() {
    let chain = example([
        clopper_pearson_box(&ROW_0, 0.01),
        clopper_pearson_box(&ROW_1, 0.01),
    ]);
    let ever = risk(&chain, Steps::Unbounded);
    for steps in [1_000_000, 1_000_000_000_000_000] {
        let bounds = risk(&chain, Steps::AtMost(steps));
        for state in 0..4 {
            close(bounds.lower[state], ever.lower[state], 1e-6);
            close(bounds.upper[state], ever.upper[state], 1e-6);
            assert!(bounds.upper[state] >= ever.lower[state]);
        }
        let all = chain.graph().all();
        let earlier = chain.steps_before(bounds.clone(), 1_000_000_000, (&all, &all));
        assert!(earlier.lower[0] <= bounds.lower[0] && earlier.upper[0] >= bounds.lower[0]);
        close(earlier.upper[0], ever.upper[0], 1e-3);
    }
}
