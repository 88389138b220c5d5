//! Size and depth: long bounds, many pending obligations, deep nesting, long traces.
use guard_automata::{
    Atom, CompileError, Finality, FormulaId, Formulas, Instant, Interval, LazyDfa, LazyState,
    Limits, Next, Resource, Spot, Verdict, compile, eval,
};

/// `G (0 -> F[window] 1)`
fn response(formulas: &mut Formulas, window: Interval) -> FormulaId {
    let (call, answer) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
    let soon = formulas.eventually(window, answer);
    let step = formulas.implies(call, soon);
    formulas.always(Interval::ALL, step)
}

fn at(position: u64, time: Option<i128>) -> Instant {
    Instant { position, time }
}

fn tick(lazy: &mut LazyDfa, state: &mut LazyState, moment: Instant) {
    if let Some(next) = lazy.tick(state, moment).unwrap() {
        *state = next;
    }
}

/// Bounds of any size have the same few states, and finality comes at the deadline.
#[test]
fn long_bounds_cost_no_states() {
    let mut regions = Vec::new();
    for k in [5, 1_000, 100_000, 4_000_000_000] {
        let mut formulas = Formulas::new();
        let rule = response(&mut formulas, Interval::steps(0, k));
        let mut lazy = LazyDfa::new(&formulas, rule, &Limits::default()).unwrap();
        let (mut state, mut spot) = (lazy.initial(), Spot::default());
        let mut n_changes = 0;
        let mut read = |lazy: &mut LazyDfa, position: u64, letter: &[Atom]| {
            let next = lazy.next(&state, &mut spot, at(position, None), |atom| {
                Some(letter.contains(&atom))
            });
            match next.unwrap() {
                Next::Same => {}
                Next::One(next, at) => {
                    (state, spot) = (next, at);
                    n_changes += 1;
                }
                Next::Any(_) => panic!("the whole letter is known"),
            }
            state.verdict()
        };
        let k = u64::from(k);
        let open = [Verdict::PresumablyViolated, Verdict::PresumablySatisfied];
        assert_eq!(read(&mut lazy, 0, &[Atom(0)]), open[0]);
        // A later request does not move the deadline, an answer takes it away.
        assert_eq!(read(&mut lazy, 1, &[Atom(0)]), open[0]);
        assert_eq!(read(&mut lazy, 2, &[Atom(1)]), open[1]);
        assert_eq!(read(&mut lazy, 3, &[Atom(0)]), open[0]);
        for position in (4..4 + k.min(5_000)).filter(|position| *position < 2 + k) {
            assert_eq!(read(&mut lazy, position, &[Atom(0)]), open[0]);
        }
        assert_eq!(read(&mut lazy, 2 + k, &[]), open[0]);
        assert_eq!(read(&mut lazy, 3 + k, &[]), Verdict::Violated);
        assert!(n_changes < 8, "{n_changes}");
        regions.push(lazy.n_regions());
    }
    assert!(regions.iter().all(|n| *n <= 12), "{regions:?}");
}

/// Requests whose windows are not open yet make no states.
#[test]
fn windows_that_open_late_are_a_queue() {
    let mut formulas = Formulas::new();
    let rule = response(&mut formulas, Interval::steps(20, 100_000));
    let mut lazy = LazyDfa::new(&formulas, rule, &Limits::default()).unwrap();
    let mut state = lazy.initial();
    let mut known = 0;
    for i in 0..4_000u64 {
        let holds = |atom| atom == Atom(0) && i % 3 == 0;
        lazy.step(&mut state, at(i, None), holds).unwrap();
        assert!(state.size() < 12, "{state:?}");
        if i == 200 {
            known = lazy.n_regions();
        }
    }
    assert_eq!(lazy.n_regions(), known);
}

/// What was long ago is remembered by when it was, not by a bit for each step since.
#[test]
fn delays_in_the_past_cost_no_states() {
    // In the last two, thousands of steps are remembered at once.
    for (lo, hi, every) in [
        (100u32, Some(200), 97),
        (5_000, Some(10_000), 97),
        (3_000, None, 97),
        (4_000, Some(4_002), 5),
        (3_000, Some(3_000), 2),
    ] {
        let mut formulas = Formulas::new();
        let (p, q) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
        let before = formulas.once(Interval::Steps { lo, hi }, q);
        let same = formulas.iff(p, before);
        let rule = formulas.always(Interval::ALL, same);
        let mut lazy = LazyDfa::new(&formulas, rule, &Limits::default()).unwrap();
        let mut state = lazy.initial();
        let met = |i: u64| i % every == 1 && (i / 1_000).is_multiple_of(3);
        for i in 0..12_000u64 {
            let from = hi.map_or(0, |hi| i.saturating_sub(hi.into()));
            let expected =
                (from..=i.saturating_sub(lo.into())).any(|k| i >= u64::from(lo) && met(k));
            lazy.step(&mut state, at(i, None), |atom| {
                if atom == Atom(0) { expected } else { met(i) }
            })
            .unwrap();
            assert_eq!(
                state.verdict(),
                Verdict::PresumablySatisfied,
                "[{lo},{hi:?}] at {i}"
            );
            assert!(state.size() < 4, "{state:?}");
        }
        assert!(lazy.n_regions() < 400, "{}", lazy.n_regions());
    }
}

#[test]
fn pending_obligations_merge() {
    let mut formulas = Formulas::new();
    let rule = response(&mut formulas, Interval::time(0, 1_000));
    let mut lazy = LazyDfa::new(&formulas, rule, &Limits::default()).unwrap();
    let mut state = lazy.initial();
    for now in 0..=1_000 {
        lazy.step(&mut state, at(now as u64, Some(now)), |atom| {
            atom == Atom(0)
        })
        .unwrap();
        assert!(state.size() <= 2, "{state:?}");
        assert_eq!(state.verdict(), Verdict::PresumablyViolated);
    }
    let mut answered = state.clone();
    lazy.step(&mut answered, at(1_001, Some(1_000)), |atom| {
        atom == Atom(1)
    })
    .unwrap();
    assert_eq!(answered.verdict(), Verdict::PresumablySatisfied);
    // A clock without an event is enough to see that the first request was not answered.
    tick(&mut lazy, &mut state, at(1_001, Some(1_000)));
    assert_eq!(state.verdict(), Verdict::PresumablyViolated);
    tick(&mut lazy, &mut state, at(1_001, Some(1_001)));
    assert_eq!(state.verdict(), Verdict::Violated);
}

#[test]
fn what_cannot_be_compiled_is_followed() {
    let mut formulas = Formulas::new();
    let rule = response(&mut formulas, Interval::steps(40, 60));
    let limits = Limits {
        states: 5_000,
        ..Limits::default()
    };
    let error = compile(&formulas, rule, &limits).unwrap_err();
    assert!(
        matches!(error, CompileError::Limit(limit) if limit.resource == Resource::States && limit.demand > 5_000)
    );
    let mut lazy = LazyDfa::new(&formulas, rule, &limits).unwrap();
    let mut state = lazy.initial();
    let n = 3_000;
    let letter = |i: usize| (i % 7 == 1 || i % 11 == 3, i % 50 < 3);
    let holds = |i: usize, atom: Atom| {
        if atom == Atom(0) {
            letter(i).0
        } else {
            letter(i).1
        }
    };
    for i in 0..n {
        lazy.step(&mut state, at(i as u64, None), |atom| holds(i, atom))
            .unwrap();
        assert!(state.size() <= 70);
        if i % 100 == 0 {
            assert_eq!(
                state.accepting(),
                eval(&formulas, rule, i + 1, holds)[0],
                "{i}"
            );
        }
    }
}

#[test]
fn tables_stay_bounded() {
    let mut formulas = Formulas::new();
    let rule = response(&mut formulas, Interval::time(3, 40));
    let limits = Limits {
        nodes: 2_000,
        ..Limits::default()
    };
    let mut lazy = LazyDfa::new(&formulas, rule, &limits).unwrap();
    let mut state = lazy.initial();
    for i in 0..20_000 {
        lazy.step(&mut state, at(i as u64, Some(i)), |atom| {
            atom == Atom(0) && i % 3 == 0 || atom == Atom(1) && i % 20 == 0
        })
        .unwrap();
        assert_ne!(state.finality(), Finality::FinalFalse);
    }
}

#[test]
fn depth_does_not_matter() {
    let mut formulas = Formulas::new();
    let mut nested = formulas.atom(Atom(0));
    for i in 0..5_000 {
        nested = match i % 3 {
            0 => formulas.next(nested),
            1 => formulas.not(nested),
            _ => formulas.weak_next(nested),
        };
    }
    let values = eval(&formulas, nested, 10, |_, _| true);
    let dfa = compile(&formulas, nested, &Limits::default()).unwrap();
    let lazy = LazyDfa::new(&formulas, nested, &Limits::default());
    let (mut lazy, mut state) = (lazy.unwrap(), dfa.initial());
    let mut running = lazy.initial();
    for i in 0..10 {
        state = dfa.step(state, |_| true);
        lazy.step(&mut running, at(i, None), |_| true).unwrap();
    }
    assert_eq!(dfa.accepting(state), values[0]);
    assert_eq!(running.accepting(), values[0]);

    let mut past = formulas.atom(Atom(0));
    let mut boolean = past;
    for i in 1..5_000 {
        past = formulas.previously(past);
        let atom = formulas.atom(Atom(i % 16));
        boolean = if i % 2 == 0 {
            formulas.and(boolean, atom)
        } else {
            formulas.or(boolean, atom)
        };
    }
    assert_eq!(eval(&formulas, past, 3, |_, _| true), [false; 3]);
    assert!(compile(&formulas, boolean, &Limits::default()).is_ok());
    // Five thousand bits of memory are no automaton, but they can be followed.
    let mut lazy = LazyDfa::new(&formulas, past, &Limits::default()).unwrap();
    let mut running = lazy.initial();
    lazy.step(&mut running, at(0, None), |_| true).unwrap();
    assert_eq!(running.verdict(), Verdict::Violated);
}

#[test]
fn many_atoms_are_a_named_limit() {
    let mut formulas = Formulas::new();
    let atoms: Vec<FormulaId> = (0..600).map(|i| formulas.atom(Atom(i))).collect();
    let all = formulas.all(atoms.iter().copied());
    let always = formulas.always(Interval::ALL, all);
    let error = compile(&formulas, always, &Limits::default()).unwrap_err();
    assert!(
        matches!(error, CompileError::Limit(limit) if limit.resource == Resource::Atoms && limit.demand == 600)
    );
    let first = formulas.all(atoms[..512].iter().copied());
    let always = formulas.always(Interval::ALL, first);
    let dfa = compile(&formulas, always, &Limits::default()).unwrap();
    assert_eq!(dfa.len(), 2);
}

#[test]
fn what_time_cannot_change_is_final() {
    let mut formulas = Formulas::new();
    let (a, b) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
    let not_a = formulas.not(a);
    let soon = formulas.eventually(Interval::time(0, 10), a);
    let never = formulas.always(Interval::ALL, not_a);
    let clash = formulas.and(soon, never);
    let lazy = LazyDfa::new(&formulas, clash, &Limits::default()).unwrap();
    assert_eq!(lazy.initial().verdict(), Verdict::Violated);

    // Asked for within ten units, and forbidden for longer.
    let longer = formulas.always(Interval::time(0, 20), not_a);
    let both = formulas.and(soon, longer);
    let asked = formulas.implies(b, both);
    let rule = formulas.always(Interval::ALL, asked);
    let mut lazy = LazyDfa::new(&formulas, rule, &Limits::default()).unwrap();
    let mut state = lazy.initial();
    assert_eq!(state.verdict(), Verdict::PresumablySatisfied);
    lazy.step(&mut state, at(0, Some(5)), |atom| atom == Atom(1))
        .unwrap();
    assert_eq!(state.verdict(), Verdict::Violated);

    // Quiet for ten units, or `b` at some time.
    let quiet = formulas.always(Interval::time(0, 10), not_a);
    let once = formulas.eventually(Interval::ALL, b);
    let rule = formulas.or(quiet, once);
    let mut lazy = LazyDfa::new(&formulas, rule, &Limits::default()).unwrap();
    let mut state = lazy.initial();
    lazy.step(&mut state, at(0, Some(5)), |_| false).unwrap();
    assert_eq!(state.verdict(), Verdict::PresumablySatisfied);
    let mut late = state.clone();
    lazy.step(&mut late, at(1, Some(16)), |_| false).unwrap();
    assert_eq!(late.verdict(), Verdict::Satisfied);
    tick(&mut lazy, &mut state, at(1, Some(16)));
    assert_eq!(state.verdict(), Verdict::Satisfied);
}
