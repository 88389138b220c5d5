//! Compares proven intervals with exact fractions, on numerically difficult chains.

use num_bigint::BigInt;
use num_rational::BigRational;

use super::super::chain::{Chain, ChainBuilder};
use super::super::scalar::{Approx, Estimate, Scalar};
use super::block::Block;
use super::eliminate::factor;
use super::order::order;
use super::within::{collected_many, until_many};
use super::{Accuracy, Factors, Problem, solve, until_within};

/// A linear congruential generator (Knuth) with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn fraction(over: u64, under: u64) -> BigRational {
    BigRational::new(BigInt::from(over), BigInt::from(under))
}

/// Returns 10 to the power of `-exponent`.
fn tenth(exponent: usize) -> BigRational {
    BigRational::new(BigInt::from(1), num_traits::pow(BigInt::from(10), exponent))
}

type Rows = Vec<Vec<(u32, BigRational)>>;

/// Returns the chain of these rows; a self-loop completes each row to 1. State 0 is initial.
fn chain<V: Scalar>(rows: &Rows) -> Chain<V> {
    let mut builder = ChainBuilder::default();
    for (state, row) in (0u32..).zip(rows) {
        let mut left = fraction(1, 1);
        for (target, probability) in row {
            left -= probability;
            builder.transition(*target, V::from_rational(probability));
        }
        builder.transition(state, V::from_rational(&left));
        builder.end_row().unwrap();
    }
    builder.finish([0], None).unwrap()
}

/// Returns, by state, the probability of reaching the first of the last `ends` states, or the expected reward if there
/// are rewards; and whether the requested precision was proven.
fn solved<V: Scalar>(
    rows: &Rows,
    ends: usize,
    rewards: Option<&[BigRational]>,
    accuracy: &Accuracy,
) -> (Vec<V::Estimate>, bool) {
    let chain = chain::<V>(rows);
    let inner = rows.len() - ends;
    let unknown = chain.graph().set(0..inner as u32);
    let rewards: Vec<V> = (rewards.unwrap_or_default().iter())
        .map(V::from_rational)
        .collect();
    let mut x = vec![V::Estimate::exact(V::zero()); rows.len()];
    if rewards.is_empty() {
        x[inner] = V::Estimate::exact(V::one());
    }
    let problem = Problem {
        chain: &chain,
        unknown: &unknown,
        reward: &rewards,
        trapped: V::zero(),
        factors: &Factors::default(),
    };
    let proven = solve(&problem, &mut x, accuracy).is_ok();
    x.truncate(inner);
    (x, proven)
}

#[track_caller]
fn holds(truth: &[BigRational], found: &[Approx]) {
    for (truth, found) in truth.iter().zip(found) {
        let low = BigRational::from_float(found.lower()).unwrap();
        let high = found.upper();
        assert!(low <= *truth, "{found:?} is not around {truth}");
        if high.is_finite() {
            let high = BigRational::from_float(high).unwrap();
            assert!(*truth <= high, "{found:?} is not around {truth}");
        }
    }
}

/// Solves by elimination and by iteration, for probabilities and rewards; each interval must contain the exact fraction.
/// Returns the largest relative width of the results that count as proven.
#[track_caller]
fn check(rows: &Rows, ends: usize) -> f64 {
    let inner = rows.len() - ends;
    let rewards: Vec<BigRational> = (0..inner as u64).map(|at| fraction(at % 4, 3)).collect();
    let eliminated = Accuracy::default();
    let iterated = Accuracy {
        max_updates: 0.0,
        max_sweeps: 20_000,
        ..eliminated
    };
    let mut widest = 0.0f64;
    for rewards in [None, Some(&rewards[..])] {
        let (truth, _) = solved::<BigRational>(rows, ends, rewards, &eliminated);
        for accuracy in [&eliminated, &iterated] {
            let (found, proven) = solved::<f64>(rows, ends, rewards, accuracy);
            holds(&truth, &found);
            if proven {
                widest = widest.max(super::iterate::widest::<f64>(&found));
            }
        }
    }
    widest
}

/// Returns a component of `inner` states in a ring with random chords, with exits to two final states.
fn random(random: &mut Random, inner: usize, leave: &BigRational) -> Rows {
    let mut rows: Rows = (0..inner)
        .map(|state| {
            let mut weights = vec![((state as u32 + 1) % inner as u32, 1 + random.below(20))];
            for _ in 0..random.below(4) {
                let target = random.below(inner as u64) as u32;
                let weight = 1 + random.below(20);
                if target != state as u32 {
                    weights.push((target, weight));
                }
            }
            let sum: u64 = weights.iter().map(|entry| entry.1).sum();
            // A self-loop completes the row, so that an exit fits in.
            let share = fraction(1 + random.below(4), 5);
            let mut row: Vec<(u32, BigRational)> = weights
                .iter()
                .map(|(target, weight)| (*target, fraction(*weight, sum) * &share))
                .collect();
            if random.below(5) == 0 && share < fraction(1, 1) {
                row.push((inner as u32 + random.below(2) as u32, leave.clone()));
            }
            row
        })
        .collect();
    rows[0] = vec![
        (1, fraction(1, 2)),
        (inner as u32, leave.clone()),
        (inner as u32 + 1, leave.clone()),
    ];
    rows.push(vec![]);
    rows.push(vec![]);
    rows
}

#[test]
fn random_chains() {
    let mut source = Random(1);
    for inner in [2, 3, 5, 9, 20, 40] {
        for _ in 0..6 {
            let rows = random(&mut source, inner, &fraction(1, 10));
            assert!(check(&rows, 2) <= 1e-6);
        }
    }
}

#[test]
fn components_that_are_hardly_ever_left() {
    let mut source = Random(2);
    for exponent in [3, 9, 15, 18, 60, 290, 307, 320] {
        let rows = random(&mut source, 12, &tenth(exponent));
        check(&rows, 2);
        if exponent <= 60 {
            let (truth, _) = solved::<BigRational>(&rows, 2, None, &Accuracy::default());
            let (found, proven) = solved::<f64>(&rows, 2, None, &Accuracy::default());
            holds(&truth, &found);
            // The error of elimination does not depend on the condition.
            assert!(proven && super::iterate::widest::<f64>(&found) < 1e-11);
        }
    }
}

#[test]
fn nearly_uncoupled_parts_and_periods() {
    let mut source = Random(3);
    for exponent in [2, 8, 14, 100] {
        // Rings of period 4, coupled by rare transitions.
        let (parts, length) = (4usize, 4usize);
        let inner = parts * length;
        let mut rows: Rows = (0..inner)
            .map(|state| {
                let (part, at) = (state / length, state % length);
                let next = (part * length + (at + 1) % length) as u32;
                if at > 0 {
                    return vec![(next, fraction(1, 1))];
                }
                let other = (source.below(parts as u64) as usize * length) as u32;
                let rare = tenth(exponent);
                let mut row = vec![(next, fraction(1, 1) - &rare - &rare)];
                row.push((inner as u32 + u32::from(part == 0), rare.clone()));
                row.push((if other == state as u32 { next } else { other }, rare));
                row
            })
            .collect();
        rows.push(vec![]);
        rows.push(vec![]);
        check(&rows, 2);
    }
}

#[test]
fn rare_transitions_inside() {
    let mut source = Random(4);
    for round in 0..24 {
        let mut rows = random(&mut source, 10, &fraction(1, 10));
        // Any transition may be as rare as the smallest doubles, or rarer.
        for row in &mut rows {
            for entry in row.iter_mut() {
                if source.below(3) == 0 {
                    entry.1 = tenth([10, 100, 200, 305, 315, 322][source.below(6) as usize]);
                }
            }
        }
        let reached = round % 2 == 0;
        if reached {
            rows[3].push((10, tenth(300)));
        }
        check(&rows, 2);
    }
}

/// Returns a walk on a line that leaves it at both ends.
fn line(size: usize, up: &BigRational) -> Rows {
    let down = fraction(1, 1) - up;
    let mut rows: Rows = (0..size)
        .map(|state| {
            let above = if state + 1 < size { state + 1 } else { size };
            let below = if state > 0 { state - 1 } else { size + 1 };
            vec![(above as u32, up.clone()), (below as u32, down.clone())]
        })
        .collect();
    rows.push(vec![]);
    rows.push(vec![]);
    rows
}

/// The expected numbers of visits to one state are below the smallest double far behind it, and no product there proves them.
#[test]
fn visits_below_the_smallest_double() {
    let rows = line(800, &fraction(9, 10));
    let mut rewards = vec![fraction(0, 1); 800];
    rewards[400] = fraction(1, 1);
    let accuracy = Accuracy::default();
    let (truth, _) = solved::<BigRational>(&rows, 2, Some(&rewards), &accuracy);
    let (found, proven) = solved::<f64>(&rows, 2, Some(&rewards), &accuracy);
    assert!(proven);
    holds(&truth, &found);
    assert!(super::iterate::widest::<f64>(&found) <= 1e-6);
}

#[test]
fn birth_and_death() {
    for (up, size) in [
        ((1, 2), 60usize),
        ((9, 20), 60),
        ((19, 20), 60),
        ((1, 50), 320),
    ] {
        let rows = line(size, &fraction(up.0, up.1));
        assert!(check(&rows, 2) <= 1e-6);
    }
}

/// Lines and rings of any size, numbered in any order, some of them with transitions in one direction only: the exact values fulfil
/// the equations, and those of doubles are around them.
#[test]
fn lines_and_rings() {
    let mut source = Random(6);
    for round in 0..120 {
        let n = 2 + round % 15;
        let is_ring = n > 2 && source.below(2) == 0;
        let mut names: Vec<u32> = (0..n as u32).collect();
        for at in (1..n).rev() {
            names.swap(at, source.below(at as u64 + 1) as usize);
        }
        let one_way = is_ring && source.below(3) == 0;
        let mut rows: Rows = vec![vec![]; n + 2];
        for at in 0..n {
            let row = &mut rows[names[at] as usize];
            let mut step = |to: u32, weight| row.push((to, fraction(1 + weight, 40)));
            if at + 1 < n || is_ring {
                step(names[(at + 1) % n], source.below(12));
            }
            if !one_way && (at > 0 || is_ring) {
                step(names[(at + n - 1) % n], source.below(12));
            }
            if at == 0 || source.below(3) == 0 {
                step(n as u32 + source.below(2) as u32, source.below(3));
            }
        }
        assert!(check(&rows, 2) <= 1e-6);
        let rewards: Vec<BigRational> = (0..n as u64).map(|at| fraction(at, 7)).collect();
        let accuracy = Accuracy::default();
        let (x, _) = solved::<BigRational>(&rows, 2, Some(&rewards), &accuracy);
        for ((row, reward), value) in rows.iter().zip(&rewards).zip(&x) {
            let leaving: BigRational = row.iter().map(|(_, weight)| weight).sum();
            let onward = row
                .iter()
                .filter_map(|(to, weight)| Some(x.get(*to as usize)? * weight));
            assert_eq!(value * leaving, onward.sum::<BigRational>() + reward);
        }
    }
}

/// Returns a walk in two or three dimensions whose last state is the end; with `anew`, it may restart from every state.
fn walk(size: usize, dimensions: u32, anew: bool) -> Rows {
    let inner = size.pow(dimensions);
    let mut rows: Rows = (0..inner)
        .map(|state| {
            let mut row = Vec::new();
            for dimension in 0..dimensions {
                let step = size.pow(dimension);
                let at = state / step % size;
                for (target, weight) in [
                    ((at + 1 < size).then(|| state + step), 3),
                    ((at > 0).then(|| state.wrapping_sub(step)), 2),
                ] {
                    if let Some(target) = target {
                        row.push((target as u32, fraction(weight, 6 * u64::from(dimensions))));
                    }
                }
            }
            if anew && state > 0 {
                row.push((0, fraction(1, 1000)));
            }
            if state == inner - 1 {
                row.push((inner as u32, fraction(1, 10)));
            }
            if state == 0 {
                row.push((inner as u32 + 1, fraction(1, 100)));
            }
            row.retain(|entry| entry.0 != state as u32);
            row
        })
        .collect();
    rows.push(vec![]);
    rows.push(vec![]);
    rows
}

#[test]
fn walks() {
    for (size, dimensions, anew) in [(6, 2, false), (7, 2, true), (4, 3, false)] {
        assert!(check(&walk(size, dimensions, anew), 2) <= 1e-6);
    }
}

/// Returns the expected steps until the end by elimination, whatever its cost.
fn eliminated(rows: &Rows) -> Vec<Approx> {
    let chain = chain::<f64>(rows);
    let inner = rows.len() as u32 - 2;
    let problem = Problem {
        chain: &chain,
        unknown: &chain.graph().set(0..inner),
        reward: &vec![1.0; rows.len()],
        trapped: 0.0,
        factors: &Factors::default(),
    };
    let members: Vec<u32> = (0..inner).collect();
    let local: Vec<u32> = members.iter().copied().chain([u32::MAX; 2]).collect();
    let x = vec![Approx::exact(0.0); rows.len()];
    let block = Block::new(&problem, &members, &local, &x);
    let order = order(&block, f64::INFINITY).unwrap();
    let (solution, proven) = factor(&block, &order).solve(block.rhs.clone());
    assert!(proven);
    solution
}

/// Walks that are too large for exact fractions, which are eliminated, swept or solved by a Krylov method: all must agree.
#[test]
fn walks_by_every_method() {
    for (size, dimensions, anew) in [(19, 2, true), (40, 2, false), (7, 3, false), (10, 3, false)] {
        let rows = walk(size, dimensions, anew);
        let rewards = vec![fraction(1, 1); rows.len()];
        let truth = eliminated(&rows);
        for max_updates in [0.0, Accuracy::default().max_updates] {
            let accuracy = Accuracy {
                max_updates,
                ..Accuracy::default()
            };
            let (found, proven) = solved::<f64>(&rows, 2, Some(&rewards), &accuracy);
            assert!(proven && super::iterate::widest::<f64>(&found) <= 1e-6);
            for (truth, found) in truth.iter().zip(&found) {
                assert!(truth.lower() <= found.upper() && found.lower() <= truth.upper());
            }
        }
    }
}

/// Phases with retries and, after too many, a new start: a few sweeps suffice.
#[test]
fn phases_with_retries() {
    let (phases, retries) = (40u32, 9);
    let inner = phases * retries;
    let row = |state: u32| {
        let next = (state / retries + 1) * retries;
        let done = (next, fraction(98, 100));
        match state % retries + 1 {
            at if at == retries => vec![(0, fraction(1, 2)), (state - 1, fraction(1, 2))],
            2 => vec![
                done,
                (state + 1, fraction(1, 100)),
                (inner + 1, fraction(1, 100)),
            ],
            _ => vec![done, (state + 1, fraction(2, 100))],
        }
    };
    let mut rows: Rows = (0..inner).map(row).collect();
    rows.extend([vec![], vec![]]);
    assert!(check(&rows, 2) <= 1e-9);
}

#[test]
fn limits_leave_bounds_that_hold() {
    let rows = walk(19, 2, false);
    let accuracy = Accuracy {
        max_updates: 0.0,
        max_sweeps: 3,
        ..Accuracy::default()
    };
    let (found, proven) = solved::<f64>(&rows, 2, None, &accuracy);
    assert!(!proven);
    let (truth, _) = solved::<f64>(&rows, 2, None, &Accuracy::default());
    for (truth, found) in truth.iter().zip(&found) {
        assert!(found.lower() <= truth.value && truth.value <= found.upper());
    }
}

/// Values within a number of steps follow the recurrence that defines them: in rows that are stored by columns, in others
/// between them, and where the end of the walk is certain after some steps.
#[test]
fn walks_within_steps_follow_the_recurrence() {
    let mut random = Random(5);
    let rows: Rows = (0..700u32)
        .map(|state| {
            let mut row = Vec::new();
            match state {
                0 => {}
                1..5 => row.push((state - 1, fraction(1, 1))),
                _ => {
                    row.push((state - 1, fraction(1, 4)));
                    if random.below(60) == 0 {
                        row.push((state / 2, fraction(1, 8)));
                    }
                    if state < 699 {
                        row.push((state + 1, fraction(1, 2)));
                    }
                }
            }
            row
        })
        .collect();
    for steps in [0, 1, 3, 40] {
        let mut truth = vec![fraction(0, 1); rows.len()];
        truth[0] = fraction(1, 1);
        for _ in 0..steps {
            let next = |(row, own): (&Vec<(u32, BigRational)>, &BigRational)| {
                let stays = row
                    .iter()
                    .fold(fraction(1, 1), |left, (_, weight)| left - weight);
                let terms = row
                    .iter()
                    .map(|(target, weight)| weight * &truth[*target as usize]);
                terms.fold(stays * own, |sum, term| sum + term)
            };
            truth = rows.iter().zip(&truth).map(next).collect();
        }
        fn found<V: Scalar>(rows: &Rows, steps: u64) -> Vec<V::Estimate> {
            let chain = chain::<V>(rows);
            let graph = chain.graph();
            let before = graph.reversed();
            until_within(&chain, &before, &graph.all(), &graph.set(0..1), steps, true)
        }
        assert_eq!(found::<BigRational>(&rows, steps), truth, "{steps} steps");
        holds(&truth, &found::<f64>(&rows, steps));
    }
}

/// Many steps: the bounds on the rest that is not computed hold, where the chain soon forgets where it began, where it does not, where
/// parts of it forget at other rates, and where what a step adds becomes too small.
#[test]
fn many_steps_are_bounded() {
    let mut random = Random(11);
    for kind in 0..6u64 {
        for _ in 0..4 {
            let count = 3 + random.below(9) as u32;
            let mut rows: Rows = vec![Vec::new()];
            for state in 1..count {
                let mut row = match kind {
                    // Any row; the rare event in the last state only.
                    0 => vec![(
                        1 + random.below(u64::from(count) - 1) as u32,
                        fraction(1 + random.below(7), 16),
                    )],
                    // A walk with drift, and a periodic one.
                    1 => vec![
                        (state - 1, fraction(5, 16)),
                        ((state + 1).min(count - 1), fraction(10, 16)),
                    ],
                    2 => vec![
                        (state - 1, fraction(1, 2)),
                        (
                            if state + 1 < count {
                                state + 1
                            } else {
                                state - 1
                            },
                            fraction(1, 2),
                        ),
                    ],
                    // A line of loops, each left at its own rate.
                    3 => vec![(state - 1, fraction(1, 1 << random.below(12)))],
                    // Loops that end soon.
                    4 => vec![
                        (state - 1, fraction(1, 2)),
                        (state, fraction(1, 4)),
                        (count - 1, fraction(1, 8)),
                    ],
                    // Rows that are lost to a state from which the target cannot be reached.
                    _ => vec![
                        (state - 1, fraction(1, 8)),
                        (count, fraction(random.below(3), 1 << 10)),
                    ],
                };
                if kind == 0 && state == 1 {
                    row = vec![(0, fraction(1, 1 << 20)), (count - 1, fraction(1, 2))];
                }
                rows.push(row);
            }
            rows.push(Vec::new());
            let earned: Vec<BigRational> =
                rows.iter().map(|_| fraction(random.below(3), 4)).collect();
            let chain = chain::<f64>(&rows);
            let graph = chain.graph();
            let before = graph.reversed();
            let rewards: Vec<f64> = earned.iter().map(f64::from_rational).collect();
            for steps in [65, 300, 1500] {
                let target = graph.set(0..1);
                let sets = (&graph.all(), &target);
                let reached = until_many(&chain, &before, sets, steps, true, 64);
                let collected = collected_many(&chain, &before, &rewards, steps, 64);
                for (rewards, found) in [(None, reached), (Some(&*earned), collected)] {
                    holds(&recurrence(&rows, rewards, steps), &found);
                    for found in found {
                        let widest = 1e-10 * found.value + 1e-240;
                        assert!(
                            found.error <= widest,
                            "kind {kind}, {steps} steps: {found:?}"
                        );
                    }
                }
            }
        }
    }
}

/// Returns, by state, the probability of reaching state 0 within these steps, or the reward that is collected in them, for numbers whose
/// denominators divide 2^20.
fn recurrence(rows: &Rows, rewards: Option<&[BigRational]>, steps: u64) -> Vec<BigRational> {
    let one = BigInt::from(1) << 20_u32;
    let scaled = |number: &BigRational| (number * BigRational::from(one.clone())).to_integer();
    let rows: Vec<Vec<(usize, BigInt)>> = rows
        .iter()
        .zip(0..)
        .map(|(row, state)| {
            let mut scaled: Vec<_> = row
                .iter()
                .map(|(to, weight)| (*to as usize, scaled(weight)))
                .collect();
            let stays = scaled
                .iter()
                .fold(one.clone(), |left, (_, weight)| left - weight);
            scaled.push((state, stays));
            scaled
        })
        .collect();
    let earned: Vec<BigInt> = match rewards {
        Some(rewards) => rewards.iter().map(scaled).collect(),
        None => vec![BigInt::from(0); rows.len()],
    };
    let mut values = vec![BigInt::from(0); rows.len()];
    if rewards.is_none() {
        values[0] = BigInt::from(1);
    }
    for step in 0..steps {
        values = rows
            .iter()
            .zip(&earned)
            .map(|(row, earned)| {
                let own = earned << (20 * step);
                row.iter()
                    .fold(own, |sum, (to, weight)| sum + weight * &values[*to])
            })
            .collect();
    }
    let unit = BigInt::from(1) << (20 * steps);
    values
        .into_iter()
        .map(|value| BigRational::new_raw(value, unit.clone()))
        .collect()
}

/// More steps than can be computed one by one.
#[test]
fn a_rare_event_within_millions_of_steps() {
    let rare = 1.0 / f64::from(1 << 26);
    let rows: Rows = vec![
        Vec::new(),
        vec![(0, fraction(1, 1 << 26)), (2, fraction(1, 2))],
        vec![(1, fraction(1, 2))],
    ];
    let chain = chain::<f64>(&rows);
    let graph = chain.graph();
    let target = graph.set(0..1);
    let found = until_within(
        &chain,
        &graph.reversed(),
        &graph.all(),
        &target,
        1 << 28,
        true,
    );
    // Half of the steps are in the state from which it may happen; the start makes a difference of some steps.
    let about = -(-f64::from(1 << 27) * rare).exp_m1();
    for found in &found[1..] {
        assert!((found.value - about).abs() < 4.0 * rare, "{found:?}");
        assert!(found.error <= 1e-6 * found.value, "{found:?}");
    }
}
