//! Windows that open late, `F[a,K]` and `G[a,K]`, with many pending obligations: the automaton with counters, which keeps them
//! in chains, agrees with the position-wise semantics and with the automaton without counters, and its size does not depend on
//! the bounds.

use crate::support::formula::{F, Trace, holds, partly};
use guard_automata::{
    Atom, Finality, FormulaId, Formulas, Instant, Interval, LazyDfa, LazyState, Limits, Next, Run,
    Spot, Verdict, compile, eval, eval_timed,
};
use proptest::prelude::*;

/// Small enough that a case cannot take long.
fn limits() -> Limits {
    Limits {
        states: 2_000,
        work: 1_000_000,
        ..Limits::default()
    }
}

/// A window that opens late, in steps or in time.
fn window(timed: bool, most: u32) -> BoxedStrategy<Interval> {
    let window = move |(lo, more)| match timed {
        true => Interval::time(i128::from(lo), i128::from(lo + more)),
        false => Interval::steps(lo, lo + more),
    };
    (1..most, 0..most).prop_map(window).boxed()
}

/// A condition on one letter, or on one and the letter before it.
fn condition() -> BoxedStrategy<F> {
    let atom = (0..3u32).prop_map(F::Atom);
    let literal = (atom, any::<bool>()).prop_map(|(atom, positive)| match positive {
        true => atom,
        false => F::Not(Box::new(atom)),
    });
    let two = (literal.clone(), literal.clone());
    prop_oneof![
        4 => literal.clone(),
        1 => two.clone().prop_map(|(f, g)| F::And(Box::new(f), Box::new(g))),
        1 => two.prop_map(|(f, g)| F::Or(Box::new(f), Box::new(g))),
        1 => literal.prop_map(|f| F::Previously(Box::new(f))),
    ]
    .boxed()
}

/// Something with a window that opens late: the operators, and what they are to hold of.
fn late(timed: bool, most: u32) -> BoxedStrategy<F> {
    let inner = prop_oneof![
        4 => condition(),
        1 => (window(timed, 6), condition()).prop_map(|(w, f)| F::Eventually(w, Box::new(f))),
        1 => (condition(), condition()).prop_map(|(f, g)| {
            F::And(Box::new(f), Box::new(F::Eventually(Interval::ALL, Box::new(g))))
        }),
    ];
    let parts = (window(timed, most), condition(), inner);
    let until = |(w, f, g)| F::Until(Box::new(f), w, Box::new(g));
    let not = |f: F| F::Not(Box::new(f));
    prop_oneof![
        4 => parts.clone().prop_map(|(w, _, g)| F::Eventually(w, Box::new(g))),
        4 => parts.clone().prop_map(|(w, _, g)| F::Always(w, Box::new(g))),
        2 => parts.clone().prop_map(until),
        2 => parts.clone().prop_map(move |parts| not(until(parts))),
        1 => parts.prop_map(|(w, f, g)| F::Or(Box::new(f), Box::new(F::Eventually(w, Box::new(g))))),
    ]
    .boxed()
}

/// `G (c -> f)` and its dual, which make many of `f` wait; also of the next position, and combined.
fn rule(timed: bool, most: u32) -> BoxedStrategy<F> {
    let of = |f: F, how: u8| match how {
        0 => F::Next(Box::new(f)),
        1 => F::WeakNext(Box::new(f)),
        _ => f,
    };
    let one = (condition(), late(timed, most), 0..8u8, any::<bool>()).prop_map(
        move |(c, f, how, all)| {
            let f = of(f, how);
            match all {
                true => {
                    let asked = F::Or(Box::new(F::Not(Box::new(c))), Box::new(f));
                    F::Always(Interval::ALL, Box::new(asked))
                }
                false => F::Eventually(Interval::ALL, Box::new(F::And(Box::new(c), Box::new(f)))),
            }
        },
    );
    let two = (one.clone(), one.clone());
    prop_oneof![
        4 => one.clone(),
        1 => two.clone().prop_map(|(f, g)| F::And(Box::new(f), Box::new(g))),
        1 => two.prop_map(|(f, g)| F::Or(Box::new(f), Box::new(g))),
        1 => (window(timed, 9), one).prop_map(|(w, f)| F::Eventually(w, Box::new(f))),
    ]
    .boxed()
}

/// What holds at the last position, of windows in the past: the value of each prefix is that.
fn past(timed: bool, most: u32) -> BoxedStrategy<F> {
    let boxed = |f: F| Box::new(f);
    let one =
        (window(timed, most), condition(), any::<bool>()).prop_map(
            move |(w, f, once)| match once {
                true => F::Once(w, boxed(f)),
                false => F::Historically(w, boxed(f)),
            },
        );
    let one = one.boxed();
    let ahead = (condition(), condition()).prop_map(move |(f, g)| {
        // A past operator over a future one is guessed.
        F::Or(boxed(f), boxed(F::Next(boxed(g))))
    });
    let parts = (one.clone(), one.clone());
    let now = prop_oneof![
        3 => one.clone(),
        1 => parts.clone().prop_map(move |(f, g)| F::And(boxed(f), boxed(g))),
        1 => parts.clone().prop_map(move |(f, g)| F::Iff(boxed(f), boxed(g))),
        1 => parts.prop_map(move |(f, g)| F::Since(boxed(f), boxed(g))),
        1 => (window(timed, most), one).prop_map(move |(w, f)| F::Once(w, boxed(f))),
        1 => (window(timed, most), ahead).prop_map(move |(w, f)| F::Once(w, boxed(f))),
    ];
    let last = move |f| F::And(boxed(F::WeakNext(boxed(F::Const(false)))), boxed(f));
    now.prop_map(move |f| F::Eventually(Interval::ALL, boxed(last(f))))
        .boxed()
}

/// Traces in which much happens, or little; times do not always go on.
fn trace(most: usize) -> impl Strategy<Value = Trace> {
    let stretch = (0..8u8, 0..8u8, 1..most / 2, any::<u64>());
    prop::collection::vec(stretch, 1..4).prop_map(move |stretches| {
        let (mut trace, mut now) = (Trace::new(), 0);
        for (often, seldom, times, mut random) in stretches {
            for _ in 0..times {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let draw = random >> 33;
                now += i128::from([0, 1, 1, 1, 1, 2, 1, 7][(draw % 8) as usize]);
                let seldom = if draw >> 3 & 7 == 0 { seldom } else { 0 };
                trace.push((now, often & (draw >> 6) as u8 | seldom));
            }
        }
        trace
    })
}

fn at(i: usize, trace: &Trace, timed: bool) -> Instant {
    Instant {
        position: i as u64,
        time: timed.then_some(trace[i].0),
    }
}

fn value(formulas: &Formulas, root: FormulaId, trace: &Trace, timed: bool) -> bool {
    let letter = |k: usize, atom| holds(trace[k].1)(atom);
    if timed {
        let times: Vec<i128> = trace.iter().map(|step| step.0).collect();
        eval_timed(formulas, root, &times, letter)[0]
    } else {
        eval(formulas, root, trace.len(), letter)[0]
    }
}

/// A state that was written down and read again.
fn written(lazy: &LazyDfa, state: &LazyState) -> LazyState {
    let text = serde_json::to_string(state).unwrap();
    let read: LazyState = serde_json::from_str(&text).unwrap();
    assert!(lazy.owns(&read));
    assert_eq!(*state, read);
    read
}

/// Values at all prefixes, what is final, snapshots in between, and time that passes without an event.
fn agrees(f: &F, trace: &Trace, timed: bool) -> Result<(), TestCaseError> {
    let mut formulas = Formulas::new();
    let root = f.build(&mut formulas);
    let Ok(mut lazy) = LazyDfa::new(&formulas, root, &limits()) else {
        return Ok(());
    };
    let dfa = compile(&formulas, root, &limits()).ok();
    let mut plain = dfa.as_ref().map(|dfa| dfa.initial());
    let (mut state, mut spot) = (lazy.initial(), Spot::default());
    let mut settled = None;
    for i in 0..trace.len() {
        let now = at(i, trace, timed);
        let deadline = now.time.and_then(|_| lazy.deadline(&state, i128::MIN));
        if i % 3 == 0 {
            match lazy.tick(&state, now) {
                Ok(Some(ticked)) => {
                    prop_assert!(deadline < now.time, "before its deadline nothing changes");
                    (state, spot) = (ticked, Spot::default());
                }
                Ok(None) => {}
                Err(_) => return Ok(()),
            }
            settled = settled.or((state.finality() != Finality::Open).then(|| state.accepting()));
        }
        match lazy.next(&state, &mut spot, now, |atom| Some(holds(trace[i].1)(atom))) {
            Ok(Next::Same) => {}
            Ok(Next::One(next, at)) => (state, spot) = (next, at),
            Ok(Next::Any(mut any)) => (state, spot) = (any.pop().unwrap(), Spot::default()),
            Err(_) => return Ok(()),
        }
        if i % 7 == 6 {
            (state, spot) = (written(&lazy, &state), Spot::default());
        }
        let prefix = &trace[..=i].to_vec();
        let expected = value(&formulas, root, prefix, timed);
        prop_assert_eq!(state.accepting(), expected, "after {:?}", prefix);
        settled = settled.or((state.finality() != Finality::Open).then_some(expected));
        prop_assert!(
            settled.is_none_or(|value| value == expected),
            "final before {:?}",
            prefix
        );
        if let (Some(dfa), Some(plain)) = (&dfa, &mut plain) {
            *plain = dfa.step(*plain, holds(trace[i].1));
            let is_final = state.finality() != Finality::Open;
            prop_assert!(!is_final || dfa.verdict(*plain) == state.verdict());
        }
    }
    Ok(())
}

crate::random::tests! {
    300 cases;

    #[test]
    fn chains_in_steps_are_what_they_stand_for(f in rule(false, 24), trace in trace(60)) {
        agrees(&f, &trace, false)?;
    }

    #[test]
    fn chains_in_time_are_what_they_stand_for(f in rule(true, 24), trace in trace(60)) {
        agrees(&f, &trace, true)?;
    }

    #[test]
    fn far_back_in_steps_is_remembered(f in past(false, 30), trace in trace(60)) {
        agrees(&f, &trace, false)?;
    }

    #[test]
    fn far_back_in_time_is_remembered(f in past(true, 30), trace in trace(60)) {
        agrees(&f, &trace, true)?;
    }

    /// With the letters in part unknown, the values that some completion has.
    #[test]
    fn unknown_letters_lead_to_all_completions(
        f in prop_oneof![3 => rule(false, 9), 1 => past(false, 16)],
        trace in trace(24),
        known in prop::collection::vec(0..8u8, 24),
    ) {
        let mut formulas = Formulas::new();
        let root = f.build(&mut formulas);
        let lazy = LazyDfa::new(&formulas, root, &limits());
        prop_assume!(lazy.is_ok());
        let mut lazy = lazy.unwrap();
        let mut states = vec![lazy.initial()];
        for i in 0..trace.len() {
            // Every fourth letter is in part unknown.
            let known = if i % 4 == 3 { known[i % 24] } else { 7 };
            let letter = trace[i].1;
            let (mut found, mut wanted): (Vec<LazyState>, Vec<LazyState>) = (Vec::new(), Vec::new());
            for state in &states {
                let now = at(i, &trace, false);
                match lazy.next(state, &mut Spot::default(), now, partly(letter, known)) {
                    Ok(Next::Same) => found.push(state.clone()),
                    Ok(Next::One(next, _)) => found.push(next),
                    Ok(Next::Any(next)) => found.extend(next),
                    Err(_) => return Ok(()),
                }
                for completion in (0..8u8).filter(|other| (other ^ letter) & known == 0) {
                    let mut next = state.clone();
                    if lazy.step(&mut next, now, holds(completion)).is_err() {
                        return Ok(());
                    }
                    wanted.push(next);
                }
            }
            prop_assert!(found.iter().all(|state| wanted.contains(state)));
            prop_assert!(wanted.iter().all(|state| found.contains(state)));
            states.clear();
            for state in found {
                if !states.contains(&state) {
                    states.push(state);
                }
            }
            if states.len() > 64 {
                return Ok(());
            }
        }
    }

    /// What a survey says of regions with chains is so.
    #[test]
    fn surveys_of_chains_are_right(f in prop_oneof![4 => rule(false, 6), 1 => past(false, 11)]) {
        let mut formulas = Formulas::new();
        let root = f.build(&mut formulas);
        let dfa = compile(&formulas, root, &limits());
        prop_assume!(dfa.is_ok());
        let dfa = dfa.unwrap();
        let met = dfa.reached_by_reading();
        let survey = LazyDfa::new(&formulas, root, &limits()).unwrap().survey();
        for verdict in [Verdict::Satisfied, Verdict::PresumablySatisfied, Verdict::PresumablyViolated, Verdict::Violated] {
            let reached = met.iter().any(|&state| dfa.verdict(state) == verdict);
            let told = survey.reaches(verdict);
            prop_assert!(told.is_none_or(|told| told == reached), "{:?}: {:?}", verdict, told);
        }
        prop_assert!(survey.monitorable.is_none_or(|told| told == dfa.is_monitorable()));
        let run = |runs: &[Run]| {
            let read = |state, run: &Run| {
                (0..run.times).fold(state, |state, _| dfa.step(state, |atom| run.letter.contains(&(atom, true))))
            };
            dfa.verdict(runs.iter().fold(dfa.initial(), read))
        };
        if let Some(good) = &survey.good {
            prop_assert!(matches!(run(good), Verdict::Satisfied | Verdict::PresumablySatisfied));
        }
        if let Some(bad) = &survey.bad {
            let told = survey.reaches(Verdict::Violated) == Some(true);
            prop_assert!(run(bad) == Verdict::Violated || !told && run(bad) == Verdict::PresumablyViolated);
        }
    }
}

/// `G (p -> F[a,K] q)`, or with `G` for `F`, or of `F (p & …)`.
fn response(formulas: &mut Formulas, window: Interval, always: bool, every: bool) -> FormulaId {
    let (p, q) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
    let late = match always {
        true => formulas.always(window, q),
        false => formulas.eventually(window, q),
    };
    if every {
        let asked = formulas.implies(p, late);
        formulas.always(Interval::ALL, asked)
    } else {
        let asked = formulas.and(p, late);
        formulas.eventually(Interval::ALL, asked)
    }
}

/// However long the bounds are and however many windows wait, there are as many regions, and states are as small.
#[test]
fn what_waits_costs_no_states() {
    for (timed, always, every) in [
        (false, false, true),
        (false, true, true),
        (true, false, true),
        (true, true, true),
        (false, false, false),
        (false, true, false),
        (true, true, false),
    ] {
        let mut regions = Vec::new();
        for lo in [100u32, 5_000] {
            let mut formulas = Formulas::new();
            let window = match timed {
                true => Interval::time(lo.into(), (10 * lo).into()),
                false => Interval::steps(lo, 10 * lo),
            };
            let rule = response(&mut formulas, window, always, every);
            let mut lazy = LazyDfa::new(&formulas, rule, &Limits::default()).unwrap();
            let mut state = lazy.initial();
            let mut random = 1u64;
            for i in 0..40_000u64 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let (asked, answered) = (random >> 40 & 1 == 0, i % u64::from(lo) == 0);
                let now = Instant {
                    position: i,
                    time: Some(i.into()),
                };
                // Violations and witnesses begin after that, so that all that waits stays.
                let met = if always == every {
                    answered != always
                } else {
                    answered == always
                };
                lazy.step(
                    &mut state,
                    now,
                    |atom| if atom == Atom(0) { asked } else { met },
                )
                .unwrap();
                assert!(state.size() < 12, "{state:?}");
                if state.finality() != Finality::Open {
                    state = lazy.initial();
                }
            }
            regions.push(lazy.n_regions());
            assert_eq!(lazy.n_clears(), 0);
        }
        assert!(regions.iter().all(|n| *n < 1_500), "{regions:?}");
    }
}

/// Deadlines of requests that wait behind others are told once those before them have passed.
#[test]
fn deadlines_come_one_after_the_other() {
    let mut formulas = Formulas::new();
    let rule = response(&mut formulas, Interval::time(100, 150), false, true);
    let mut lazy = LazyDfa::new(&formulas, rule, &Limits::default()).unwrap();
    let mut state = lazy.initial();
    for i in 0..30u64 {
        let now = Instant {
            position: i,
            time: Some(i128::from(i) * 2),
        };
        lazy.step(&mut state, now, |atom| atom == Atom(0)).unwrap();
    }
    for after in -1..230 {
        // The first request is of time 0, the last of time 58.
        let next = if after < 150 { 150 } else { after / 2 * 2 + 2 };
        let expected = (next <= 208).then_some(next);
        assert_eq!(lazy.deadline(&state, after), expected, "after {after}");
    }
    let late = |time| Instant {
        position: 30,
        time: Some(time),
    };
    assert_eq!(lazy.tick(&state, late(150)).unwrap(), None);
    let violated = lazy.tick(&state, late(151)).unwrap().unwrap();
    assert_eq!(violated.verdict(), Verdict::Violated);
}

/// However many may wait, a survey looks at all states and leaves nothing open.
#[test]
fn surveys_of_late_windows_are_complete() {
    for (window, always, every) in [
        (Interval::steps(8, 100), false, true),
        (Interval::steps(1_000, 100_000), false, true),
        (Interval::steps(1_000, 100_000), true, true),
        (Interval::steps(1_000, 100_000), false, false),
        (Interval::steps(1_000, 100_000), true, false),
        (Interval::time(5, 1_000_000), false, true),
        (Interval::time(5, 1_000_000), true, false),
    ] {
        let mut formulas = Formulas::new();
        let rule = response(&mut formulas, window, always, every);
        let mut lazy = LazyDfa::new(&formulas, rule, &Limits::default()).unwrap();
        let survey = lazy.survey();
        assert!(survey.complete);
        assert_eq!(survey.monitorable, Some(true));
        let reached = [
            Verdict::Satisfied,
            Verdict::PresumablySatisfied,
            Verdict::PresumablyViolated,
            Verdict::Violated,
        ]
        .map(|verdict| survey.reaches(verdict).unwrap());
        // Of `G` of bounded parts no trace is satisfied for good, and its dual is violated by none; what waits for a witness
        // or for a failure that may come, lies between.
        let expected = match (every, always) {
            (true, false) => [false, true, true, true],
            (true, true) => [false, true, false, true],
            (false, false) => [true, false, true, false],
            (false, true) => [true, true, true, false],
        };
        assert_eq!(reached, expected, "{window:?} {always} {every}");
    }
}
