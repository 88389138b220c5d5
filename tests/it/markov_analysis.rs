//! Analyses of Markov chains: published numbers, worked examples, exact identities, and random chains against exact fractions.
use guard_automata::graph::NodeSet;
use guard_markov::solve::{Accuracy, Factors, Problem, Uses, solve};
use guard_markov::why::Goal;
use guard_markov::{Chain, ChainBuilder, Estimate, Scalar, analysis};
use num_bigint::BigInt;
use num_rational::BigRational;
use proptest::prelude::*;

fn chain<V: Scalar>(rows: &[Vec<(u32, V)>]) -> Chain<V> {
    let mut builder = ChainBuilder::default();
    for row in rows {
        for (target, probability) in row {
            builder.transition(*target, probability.clone());
        }
        builder.end_row().unwrap();
    }
    builder.finish([0], None).unwrap()
}

fn fraction(over: u64, under: u64) -> BigRational {
    BigRational::new(BigInt::from(over), BigInt::from(under))
}

fn set<V: Scalar>(chain: &Chain<V>, states: impl IntoIterator<Item = u32>) -> NodeSet {
    chain.graph().set(states)
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{found} is not {expected}"
    );
}

/// 0 and 1 are transient, 2 is unsafe, 3 is the end; counts smoothed by one.
fn worked_example() -> Chain<f64> {
    chain(&[
        vec![
            (0, 701.0 / 1003.0),
            (1, 201.0 / 1003.0),
            (3, 101.0 / 1003.0),
        ],
        vec![
            (0, 121.0 / 404.0),
            (1, 201.0 / 404.0),
            (2, 11.0 / 404.0),
            (3, 71.0 / 404.0),
        ],
        vec![(2, 1.0)],
        vec![(3, 1.0)],
    ])
}

#[test]
fn the_worked_example() {
    let chain = worked_example();
    let bad = set(&chain, [2]);
    let accuracy = Accuracy::default();
    let risk = analysis::reach(&chain, &bad, &accuracy).unwrap();
    close(risk[0].value, 0.059_781, 5e-7);
    close(risk[1].value, 0.089_820, 5e-7);
    let steps = analysis::perturbation(&chain, &bad, &[1.0; 4], &accuracy).unwrap();
    close(steps[0].value, 7.700_77, 5e-6);
    close(steps[1].value, 6.580_26, 5e-6);
    let factor = analysis::perturbation(&chain, &bad, &[1.0, 2.0, 0.0, 0.0], &accuracy).unwrap();
    close(factor[0].value, 9.896_363, 5e-7);
    close(factor[1].value, 9.879_113, 5e-7);
    let given = analysis::steps_given_reached(&chain, &bad, &accuracy).unwrap();
    close(given[0].unwrap().value, 8.8040, 5e-5);
    close(given[1].unwrap().value, 5.4828, 5e-5);
    assert!(given[3].is_none(), "the end never leads there");
    let visits = Goal::reach(bad.clone()).visits(&chain, 0);
    close(visits[0], 5.505_178, 5e-7);
    close(visits[1], 2.195_593, 5e-7);
    let why = Goal::reach(bad)
        .why(&chain, 0, &[1000, 400], &accuracy)
        .unwrap();
    close(why.risk, risk[0].value, 1e-12);
    assert_eq!(why.jumps.len(), 1);
    close(why.jumps[0].probability, risk[0].value, 1e-12);
    close(why.next.iter().map(|part| part.share).sum(), 1.0, 1e-12);
    close(why.steps.unwrap(), given[0].unwrap().value, 1e-9);
    // By hand: a row adds Σ P(u,t) (N(0,u) (x(t) - x(u)))² / n(u).
    let part = |state: usize, n: f64| -> f64 {
        let row = chain.row(state as u32);
        let each = row.map(|(to, p)| p * (risk[to as usize].value - risk[state].value).powi(2));
        visits[state].powi(2) * each.sum::<f64>() / n
    };
    let (first, second) = (part(0, 1000.0), part(1, 400.0));
    assert_eq!(why.doubt[0].0, 1);
    close(why.doubt[0].1, second / (first + second), 1e-12);
}

#[test]
fn the_printed_risk_matrix() {
    let chain = chain(&[
        vec![(0, 0.54), (1, 0.32), (2, 0.14)],
        vec![(1, 0.74), (2, 0.13), (4, 0.13)],
        vec![(2, 0.81), (3, 0.12), (4, 0.07)],
        vec![(3, 0.93), (4, 0.07)],
        vec![(4, 1.0)],
    ]);
    let accuracy = Accuracy::default();
    let steps = analysis::steps_to_absorption(&chain, &accuracy).unwrap();
    for (found, expected) in steps.iter().zip([14.1663, 10.9890, 14.2857, 14.2857, 0.0]) {
        close(found.value, expected, 5e-5);
    }
    let absorbed = analysis::absorption(&chain, &accuracy).unwrap();
    assert_eq!(absorbed.len(), 1);
    assert!(absorbed[0].probability.iter().all(Estimate::is_one));
    let bad = set(&chain, [4]);
    assert_eq!(analysis::inevitable(&chain, &bad), chain.graph().all());
    let near: Vec<u32> = analysis::no_return(&chain, &bad, 5, &0.4)
        .iter()
        .map(|point| point.state)
        .collect();
    assert_eq!(near, [1]);
    let paths = Goal::reach(bad).likely_paths(&chain, 0, 10);
    assert_eq!(paths[0].states, [0, 1, 4]);
    close(paths[0].probability, 0.32 / 0.46 * 0.5, 1e-12);
    // Without loops this chain has no cycle: all its paths together are certain.
    close(paths.iter().map(|path| path.probability).sum(), 1.0, 1e-12);
}

/// Where the derivative says how the risk moves, it moves so.
#[test]
fn sensitivities_are_derivatives() {
    let chain_of = |shift: f64| {
        let own = worked_example();
        let mut rows: Vec<Vec<(u32, f64)>> = (0..4)
            .map(|state| own.row(state).map(|(target, p)| (target, *p)).collect())
            .collect();
        // More of 1 → 2, and less of the others in proportion.
        for (target, probability) in &mut rows[1] {
            let old = 11.0 / 404.0;
            *probability = if *target == 2 {
                old + shift
            } else {
                *probability * (1.0 - old - shift) / (1.0 - old)
            };
        }
        chain(&rows)
    };
    let own = chain_of(0.0);
    let bad = set(&own, [2]);
    let accuracy = Accuracy::default();
    let risk = analysis::reach(&own, &bad, &accuracy).unwrap();
    let shift = 1e-6;
    let moved = analysis::reach(&chain_of(shift), &bad, &accuracy).unwrap();
    let why = Goal::reach(bad.clone())
        .why(&own, 0, &[], &accuracy)
        .unwrap();
    let derivative = why
        .levers
        .into_iter()
        .find(|part| (part.from, part.to) == (1, 2))
        .unwrap()
        .derivative;
    // In proportion: the others lose P(u,t') / (1 - P(u,t)) each.
    let direct = (moved[0].value - risk[0].value) / shift;
    close(direct, derivative / (1.0 - 11.0 / 404.0), 1e-4);
}

crate::random::tests! {
    128 cases;

    /// The frequencies of complete runs give back how many of them went wrong, exactly.
    #[test]
    fn flow_identity(runs in prop::collection::vec(
        (prop::collection::vec(0u32..4, 1..12), any::<bool>()), 1..40
    )) {
        // States 0 to 3 are plain, 4 is unsafe, 5 is the end, 6 is where runs begin.
        let mut counts = vec![vec![0u64; 7]; 7];
        let mut wrong = 0;
        for (states, violates) in &runs {
            let mut at = 6usize;
            for &state in states {
                counts[at][state as usize] += 1;
                at = state as usize;
            }
            counts[at][if *violates { 4 } else { 5 }] += 1;
            wrong += u64::from(*violates);
        }
        let rows: Vec<Vec<(u32, BigRational)>> = counts
            .iter()
            .enumerate()
            .map(|(state, row)| {
                let sum: u64 = row.iter().sum();
                if sum == 0 {
                    return vec![(state as u32, fraction(1, 1))];
                }
                row.iter()
                    .enumerate()
                    .filter(|(_, count)| **count > 0)
                    .map(|(target, count)| (target as u32, fraction(*count, sum)))
                    .collect()
            })
            .collect();
        let chain = chain(&rows);
        let risk = analysis::reach(&chain, &set(&chain, [4]), &Accuracy::default()).unwrap();
        prop_assert_eq!(&risk[6], &fraction(wrong, runs.len() as u64));
    }

    /// On random chains the bounds of doubles contain the exact answer, and are narrow.
    #[test]
    fn doubles_contain_the_exact_answer(
        weights in prop::collection::vec(prop::collection::vec((0u32..12, 1u64..50), 1..5), 12),
        rare in 0u32..40,
    ) {
        let rows: Vec<Vec<(u32, BigRational)>> = weights
            .iter()
            .enumerate()
            .map(|(state, row)| {
                // Some chains leave their cycles only once in a very long while.
                let scale = if state % 3 == 0 { 10u64.pow(rare % 12) } else { 1 };
                let sum: u64 = row.iter().map(|entry| entry.1).sum::<u64>() * scale;
                let mut row: Vec<(u32, BigRational)> = row
                    .iter()
                    .map(|(target, weight)| (*target, fraction(*weight, sum)))
                    .collect();
                let rest = row.iter().fold(fraction(1, 1), |rest, entry| rest - &entry.1);
                row.push((state as u32, rest));
                row
            })
            .collect();
        let exact = chain(&rows);
        let near = chain(
            &rows
                .iter()
                .map(|row| row.iter().map(|(target, p)| (*target, f64::from_rational(p))).collect())
                .collect::<Vec<_>>(),
        );
        let accuracy = Accuracy::default();
        let bad = set(&exact, [11]);
        let truth = analysis::reach(&exact, &bad, &accuracy).unwrap();
        let found = analysis::reach(&near, &bad, &accuracy).unwrap();
        for (truth, found) in truth.iter().zip(&found) {
            let low = BigRational::from_float(found.lower()).unwrap();
            let high = BigRational::from_float(found.upper()).unwrap();
            prop_assert!(low <= *truth && *truth <= high, "{:?} for {}", found, truth);
            prop_assert!(found.error <= 1e-11 * found.value);
        }
        // The iteration for large components, on small ones: its certificate holds as well.
        let forced = Accuracy { max_updates: 0.0, precision: 1e-8, ..accuracy };
        if rare % 12 < 4 {
            let found = analysis::reach(&near, &bad, &forced).unwrap();
            for (truth, found) in truth.iter().zip(&found) {
                let low = BigRational::from_float(found.lower()).unwrap();
                let high = BigRational::from_float(found.upper()).unwrap();
                prop_assert!(low <= *truth && *truth <= high, "{:?} for {}", found, truth);
            }
        }
    }
}

/// Components with many states that go around in one another and leave to three places.
fn wheels(weights: &[Vec<(u32, u64)>], inner: u32) -> Chain<BigRational> {
    let rows: Vec<Vec<(u32, BigRational)>> = weights
        .iter()
        .zip(0u32..)
        .map(|(row, state)| {
            if state >= inner {
                return vec![(state, fraction(1, 1))];
            }
            let next = (state + 1) % inner;
            let sum = 1 + row.iter().map(|entry| entry.1).sum::<u64>();
            let others = row.iter().map(|(to, weight)| (*to, fraction(*weight, sum)));
            others.chain([(next, fraction(1, sum))]).collect()
        })
        .collect();
    chain(&rows)
}

crate::random::tests! {
    64 cases;

    /// What was eliminated for one question gives the same answers to others as eliminating anew.
    #[test]
    fn factors_serve_every_right_hand_side(
        weights in prop::collection::vec(prop::collection::vec((0u32..23, 1u64..50), 0..4), 23),
        rewards in prop::collection::vec(0u64..5, 23),
    ) {
        let exact = wheels(&weights, 20);
        let near: Vec<Vec<(u32, f64)>> = (0..23)
            .map(|state| exact.row(state).map(|(to, p)| (to, p.to_f64())).collect())
            .collect();
        let near = chain(&near);
        let rewards: Vec<BigRational> = rewards.iter().map(|of| fraction(*of, 3)).collect();
        let near_rewards: Vec<f64> = rewards.iter().map(Scalar::to_f64).collect();
        let shared = (Factors::default(), Factors::default());
        for question in 0..6usize {
            // The probability to end in each place, then rewards until there is no going on.
            let mut rewarded = (&rewards[..0], &near_rewards[..0]);
            if question >= 3 {
                rewarded = (&rewards, &near_rewards);
            }
            let answer = |factors: &Factors<BigRational>| {
                ask(&exact, rewarded.0, question, factors)
            };
            let truth = answer(&shared.0);
            prop_assert_eq!(&truth, &answer(&Factors::default()));
            for (truth, found) in truth.iter().zip(ask(&near, rewarded.1, question, &shared.1)) {
                let low = BigRational::from_float(found.lower()).unwrap();
                let high = BigRational::from_float(found.upper()).unwrap();
                prop_assert!(low <= *truth && *truth <= high, "{:?} for {}", found, truth);
            }
        }
        // One cycle through all 20, eliminated at most once; where all leave to one place, it need not be.
        prop_assert!(shared.0.uses().made <= 1);
        prop_assert_eq!(shared.0.uses(), shared.1.uses());
    }
}

fn ask<V: Scalar>(
    chain: &Chain<V>,
    reward: &[V],
    question: usize,
    factors: &Factors<V>,
) -> Vec<V::Estimate> {
    let mut values = vec![V::Estimate::exact(V::zero()); 23];
    values[20 + question % 3] = V::Estimate::exact(V::one());
    let unknown = chain.graph().set(0..20);
    let problem = Problem {
        chain,
        unknown: &unknown,
        reward,
        trapped: V::zero(),
        factors,
    };
    solve(&problem, &mut values, &Accuracy::default()).unwrap();
    values
}

/// Two places to end in, the steps until then: one elimination. Without room nothing is kept, and nothing else changes.
#[test]
fn a_cycle_is_eliminated_once() {
    let chain = worked_example();
    let ask = |factors: &Factors<f64>, accuracy: &Accuracy| -> Vec<f64> {
        let unknown = set(&chain, [0, 1]);
        let mut found = Vec::new();
        for (reward, goal) in [(0.0, 2usize), (0.0, 3), (1.0, 3)] {
            let reward = vec![reward; 4];
            let mut values = vec![Estimate::exact(0.0); 4];
            values[goal] = Estimate::exact(1.0);
            let problem = Problem {
                chain: &chain,
                unknown: &unknown,
                reward: &reward,
                trapped: 0.0,
                factors,
            };
            solve(&problem, &mut values, accuracy).unwrap();
            found.push(*values[0].value());
        }
        found
    };
    let (kept, full) = (Factors::default(), Factors::default());
    let found = ask(&kept, &Accuracy::default());
    assert_eq!(kept.uses(), Uses { made: 1, shared: 2 });
    let no_room = Accuracy {
        max_kept: 3,
        ..Accuracy::default()
    };
    assert_eq!(found, ask(&full, &no_room));
    assert_eq!(full.uses(), Uses { made: 3, shared: 0 });
}

/// All paths to a state within so many steps, by going them.
fn every_path(
    chain: &Chain<f64>,
    path: &[u32],
    p: f64,
    goal: &Goal,
    found: &mut Vec<(f64, Vec<u32>)>,
) {
    let state = path[path.len() - 1];
    if path.len() > 1 && goal.target.contains(state as usize) {
        found.push((p, path.to_vec()));
        return;
    }
    let stops = path.len() > 1 && !goal.open.contains(state as usize);
    if stops || path.len() as u64 > goal.horizon.unwrap() {
        return;
    }
    for (next, weight) in chain.row(state) {
        every_path(chain, &[path, &[next]].concat(), p * weight, goal, found);
    }
}

crate::random::tests! {
    128 cases;

    /// Within a horizon: what every single path adds up to.
    #[test]
    fn reasons_are_sums_over_paths(
        weights in prop::collection::vec(prop::collection::vec(0u64..4, 5), 5),
        steps in 0u64..6,
        from in 0u32..5,
        stop in 0u32..5,
    ) {
        let rows: Vec<Vec<(u32, f64)>> = weights
            .iter()
            .zip(0u32..)
            .map(|(row, state)| {
                let mut row = row.clone();
                row[state as usize] += 1;
                let sum: u64 = row.iter().sum();
                (0u32..).zip(row).map(|(to, w)| (to, w as f64 / sum as f64)).collect()
            })
            .collect();
        let chain = chain(&rows);
        let mut goal = Goal::reach(set(&chain, [4]));
        goal.open.set(stop as usize, false);
        goal.horizon = Some(steps);
        let mut paths = Vec::new();
        every_path(&chain, &[from], 1.0, &goal, &mut paths);
        paths.sort_by(|a, b| b.0.total_cmp(&a.0));
        let exits = [7, 100, 3, 50, 0];
        let why = goal.why(&chain, from, &exits, &Accuracy::default()).unwrap();
        let sum: f64 = paths.iter().map(|path| path.0).sum();
        close(why.risk, sum, 1e-12);
        let found = goal.likely_paths(&chain, from, 10);
        prop_assert_eq!(found.len(), paths.len().min(10));
        for (found, path) in found.iter().zip(&paths) {
            close(found.probability, path.0, 1e-12);
        }
        if sum > 0.0 {
            close(why.next.iter().map(|part| part.share).sum(), 1.0, 1e-9);
            let late: f64 = paths.iter().map(|(p, path)| p * (path.len() - 1) as f64).sum();
            close(why.steps.unwrap(), late / sum, 1e-9);
        } else {
            prop_assert!(why.next.is_empty() && why.steps.is_none());
        }
        for part in &why.next {
            let through: f64 = paths.iter().filter(|(_, path)| path[1] == part.state).map(|path| path.0).sum();
            close(part.share * sum, through, 1e-12);
        }
        for jump in &why.jumps {
            let last = |path: &Vec<u32>| path[path.len() - 2];
            let from_here = paths.iter().filter(|(_, path)| last(path) == jump.from);
            close(jump.probability, from_here.map(|path| path.0).sum(), 1e-12);
        }
        // Moving a row towards one of its transitions moves the risk as the derivative says.
        for lever in why.levers.iter().take(5) {
            let shift = 1e-6;
            let mut moved = rows.clone();
            for (to, p) in &mut moved[lever.from as usize] {
                *p = *p * (1.0 - shift) + if *to == lever.to { shift } else { 0.0 };
            }
            let moved = self::chain(&moved);
            let then = goal.why(&moved, from, &exits, &Accuracy::default()).unwrap();
            close((then.risk - why.risk) / shift, lever.derivative, 1e-4);
        }
        let doubt: f64 = why.doubt.iter().map(|part| part.1).sum();
        prop_assert!(why.doubt.is_empty() || (doubt - 1.0).abs() < 1e-9);
        let known = goal.why(&chain, from, &[], &Accuracy::default()).unwrap();
        prop_assert!(known.doubt.is_empty());
    }
}
