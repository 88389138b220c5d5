//! Large random formulas, of up to 25 operators with bounds of any length: the automaton, the automaton with counters, the path
//! checker and the position-wise semantics agree, also with unknown letters.

use crate::support::formula::{formula_of, holds, partly};
use guard_automata::{
    Finality, Formulas, Instant, Interval, LazyDfa, LazyState, Limits, Next, PathChecker, Spot,
    compile, eval,
};
use proptest::prelude::*;

/// Small enough that a case cannot take long; an automaton beyond it is not compared.
fn limits() -> Limits {
    Limits {
        states: 3_000,
        work: 2_000_000,
        ..Limits::default()
    }
}

/// Bounds short and long: most are longer than the trace, or end within it.
fn window() -> impl Strategy<Value = Interval> {
    prop_oneof![
        4 => Just(Interval::ALL),
        3 => (0..4u32, 0..4u32).prop_map(|(lo, more)| Interval::steps(lo, lo + more)),
        3 => (0..12u32, 0..40u32).prop_map(|(lo, more)| Interval::steps(lo, lo + more)),
        1 => (0..3u32, 50..5_000_000u32).prop_map(|(lo, hi)| Interval::steps(lo, hi)),
        1 => (0..30u32).prop_map(|lo| Interval::Steps { lo, hi: None }),
    ]
}

/// Letters in runs, so that traces come to the ends of bounds.
fn letters() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec((0..8u8, 1..9usize), 1..8).prop_map(|runs| {
        runs.into_iter()
            .flat_map(|(letter, times)| vec![letter; times])
            .collect()
    })
}

fn at(position: usize) -> Instant {
    Instant {
        position: position as u64,
        time: None,
    }
}

crate::random::tests! {
    300 cases;

    #[test]
    fn every_engine_agrees_on_large_formulas(
        f in formula_of(window().boxed(), 8, 25),
        traces in prop::collection::vec(letters(), 2),
    ) {
        let mut formulas = Formulas::new();
        let root = f.build(&mut formulas);
        let dfa = compile(&formulas, root, &limits()).ok();
        let lazy = LazyDfa::new(&formulas, root, &limits());
        prop_assume!(lazy.is_ok());
        let mut lazy = lazy.unwrap();
        let mut checker = PathChecker::new(&formulas, root, &limits()).ok();
        for letters in &traces {
            let mut state = lazy.initial();
            let mut plain = dfa.as_ref().map(|dfa| dfa.initial());
            let mut settled = None;
            for i in 0..letters.len() {
                let expected = eval(&formulas, root, i + 1, |k, atom| holds(letters[k])(atom))[0];
                if lazy.step(&mut state, at(i), holds(letters[i])).is_err() {
                    break;
                }
                prop_assert_eq!(state.accepting(), expected, "counted, after {:?}", &letters[..=i]);
                if let (Some(dfa), Some(plain)) = (&dfa, &mut plain) {
                    *plain = dfa.step(*plain, holds(letters[i]));
                    prop_assert_eq!(dfa.accepting(*plain), expected, "after {:?}", &letters[..=i]);
                    // What is called final is final.
                    let is_final = state.finality() != Finality::Open;
                    prop_assert!(!is_final || dfa.verdict(*plain) == state.verdict());
                }
                if let Some(value) = settled {
                    prop_assert_eq!(expected, value, "final before {:?}", &letters[..=i]);
                }
                settled = settled.or((state.finality() != Finality::Open).then_some(expected));
            }
            if let Some(checker) = &mut checker {
                let n = letters.len();
                let expected = eval(&formulas, root, n, |k, atom| holds(letters[k])(atom))[0];
                if let Ok(found) = checker.check(n, |k, atom| holds(letters[k])(atom)) {
                    prop_assert_eq!(found.is_none(), expected, "path checker on {:?}", letters);
                }
            }
        }
    }

    /// The states that unknown letters lead to hold the value of every completion, and no other value.
    #[test]
    fn unknown_letters_of_large_formulas_are_their_completions(
        f in formula_of(window().boxed(), 8, 25),
        letters in letters(),
        known in prop::collection::vec(0..8u8, 64),
        fill in prop::collection::vec(0..8u8, 64),
    ) {
        let mut formulas = Formulas::new();
        let root = f.build(&mut formulas);
        let lazy = LazyDfa::new(&formulas, root, &limits());
        prop_assume!(lazy.is_ok());
        let mut lazy = lazy.unwrap();
        // Two steps in three are known.
        let known = |i: usize| if i % 3 == 1 { known[i % 64] } else { 7 };
        let complete = |i: usize| letters[i] & known(i) | fill[i % 64] & !known(i);
        let mut states: Vec<LazyState> = vec![lazy.initial()];
        let mut one = lazy.initial();
        for i in 0..letters.len() {
            let mut next: Vec<LazyState> = Vec::new();
            for state in &states {
                let found = lazy.next(state, &mut Spot::default(), at(i), partly(letters[i], known(i)));
                match found {
                    Err(_) => return Ok(()),
                    Ok(Next::Same) => next.push(state.clone()),
                    Ok(Next::One(one, _)) => next.push(one),
                    Ok(Next::Any(any)) => next.extend(any),
                }
            }
            let mut unique: Vec<LazyState> = Vec::new();
            for state in next {
                if !unique.contains(&state) {
                    unique.push(state);
                }
            }
            if unique.len() > 200 || lazy.step(&mut one, at(i), holds(complete(i))).is_err() {
                return Ok(());
            }
            prop_assert!(unique.contains(&one), "after {:?}", &letters[..=i]);
            states = unique;
            let value = eval(&formulas, root, i + 1, |k, atom| holds(complete(k))(atom))[0];
            prop_assert_eq!(one.accepting(), value);
        }
    }
}
