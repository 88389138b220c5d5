//! Size and depth: long bounds, many pending obligations, deep nesting, long traces.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use guard_lang::automata::{
    Atom, CompileError, Finality, FormulaId, Formulas, Interval, Limits, Machine, Resource,
    Verdict, compile, eval,
};

/// `G (0 -> F[window] 1)`
fn response(formulas: &mut Formulas, window: Interval) -> FormulaId {
    let (call, answer) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
    let soon = formulas.eventually(window, answer);
    let step = formulas.implies(call, soon);
    formulas.always(Interval::ALL, step)
}

#[test]
fn pending_obligations_merge() {
    let mut formulas = Formulas::new();
    let rule = response(&mut formulas, Interval::time(0, 1_000));
    let mut machine = Machine::new(&formulas, rule, &Limits::default()).unwrap();
    let mut state = machine.initial();
    for now in 0..=1_000 {
        machine
            .step(&mut state, Some(now), |atom| atom == Atom(0))
            .unwrap();
        assert!(state.size() <= 2, "{state:?}");
        assert_eq!(state.verdict(), Verdict::PresumablyViolated);
    }
    let mut answered = state.clone();
    machine
        .step(&mut answered, Some(1_000), |atom| atom == Atom(1))
        .unwrap();
    assert_eq!(answered.verdict(), Verdict::PresumablySatisfied);
    // A clock without an event is enough to see that the first request was not answered.
    machine.tick(&mut state, 1_000).unwrap();
    assert_eq!(state.verdict(), Verdict::PresumablyViolated);
    machine.tick(&mut state, 1_001).unwrap();
    assert_eq!(state.verdict(), Verdict::Violated);
}

#[test]
fn a_machine_follows_what_cannot_be_compiled() {
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
    let mut machine = Machine::new(&formulas, rule, &limits).unwrap();
    let mut state = machine.initial();
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
        machine
            .step(&mut state, None, |atom| holds(i, atom))
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
fn tables_of_a_machine_stay_bounded() {
    let mut formulas = Formulas::new();
    let rule = response(&mut formulas, Interval::time(3, 40));
    let limits = Limits {
        nodes: 2_000,
        ..Limits::default()
    };
    let mut machine = Machine::new(&formulas, rule, &limits).unwrap();
    let mut state = machine.initial();
    for i in 0..20_000 {
        machine
            .step(&mut state, Some(i), |atom| {
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
    let machine = Machine::new(&formulas, nested, &Limits::default());
    let (mut machine, mut state) = (machine.unwrap(), dfa.initial());
    let mut running = machine.initial();
    for _ in 0..10 {
        state = dfa.step(state, |_| true);
        machine.step(&mut running, None, |_| true).unwrap();
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
    // Five thousand bits of memory are no automaton, but a machine has them.
    let mut machine = Machine::new(&formulas, past, &Limits::default()).unwrap();
    let mut running = machine.initial();
    machine.step(&mut running, None, |_| true).unwrap();
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
fn a_machine_sees_what_time_cannot_change() {
    let mut formulas = Formulas::new();
    let (a, b) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
    let not_a = formulas.not(a);
    let soon = formulas.eventually(Interval::time(0, 10), a);
    let never = formulas.always(Interval::ALL, not_a);
    let clash = formulas.and(soon, never);
    let machine = Machine::new(&formulas, clash, &Limits::default()).unwrap();
    assert_eq!(machine.initial().verdict(), Verdict::Violated);

    // Quiet for ten units, or `b` at some time.
    let quiet = formulas.always(Interval::time(0, 10), not_a);
    let once = formulas.eventually(Interval::ALL, b);
    let rule = formulas.or(quiet, once);
    let mut machine = Machine::new(&formulas, rule, &Limits::default()).unwrap();
    let mut state = machine.initial();
    machine.step(&mut state, Some(5), |_| false).unwrap();
    assert_eq!(state.verdict(), Verdict::PresumablySatisfied);
    let mut late = state.clone();
    machine.step(&mut late, Some(16), |_| false).unwrap();
    assert_eq!(late.verdict(), Verdict::Satisfied);
    machine.tick(&mut state, 16).unwrap();
    assert_eq!(state.verdict(), Verdict::Satisfied);
}
