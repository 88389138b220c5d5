//! The automata of any formula over traces that end, with counters and without, have after every prefix the value of the
//! formula by the position-wise definitions; what they call final stays; the path checker agrees; and what a survey of the
//! automaton with counters says is so.

use super::polish;
use guard_automata::{
    Atom, Finality, Formulas, Instant, LazyDfa, Limits, PathChecker, Verdict, compile, eval,
};

pub fn run(input: (Vec<u8>, Vec<u8>)) {
    let (text, letters) = input;
    let letters = &letters[..letters.len().min(24)];
    let mut formulas = Formulas::new();
    let root = polish::formula(&mut text.as_slice(), &mut formulas, polish::long);
    let limits = Limits {
        states: 300,
        nodes: 60_000,
        work: 300_000,
        ..Limits::default()
    };
    let holds = |i: usize, Atom(atom): Atom| letters[i] >> atom & 1 == 1;
    let dfa = compile(&formulas, root, &limits).ok();
    let Ok(mut lazy) = LazyDfa::new(&formulas, root, &limits) else {
        return;
    };
    let mut plain = dfa.as_ref().map(|dfa| dfa.initial());
    let mut state = lazy.initial();
    let mut settled: Option<bool> = None;
    for i in 0..letters.len() {
        let expected = eval(&formulas, root, i + 1, holds)[0];
        if let (Some(dfa), Some(plain)) = (&dfa, &mut plain) {
            *plain = dfa.step(*plain, |atom| holds(i, atom));
            assert_eq!(dfa.accepting(*plain), expected);
        }
        let moment = Instant {
            position: i as u64,
            time: None,
        };
        if lazy
            .step(&mut state, moment, |atom| holds(i, atom))
            .is_err()
        {
            break;
        }
        assert_eq!(state.accepting(), expected);
        assert!(settled.is_none_or(|value| value == expected));
        if state.finality() != Finality::Open {
            settled = Some(expected);
            if let (Some(dfa), Some(plain)) = (&dfa, plain) {
                assert_eq!(dfa.verdict(plain), state.verdict());
            }
        }
    }
    if let Ok(mut checker) = PathChecker::new(&formulas, root, &limits)
        && let Ok(found) = checker.check(letters.len(), holds)
        && !letters.is_empty()
    {
        assert_eq!(
            found.is_none(),
            eval(&formulas, root, letters.len(), holds)[0]
        );
    }
    let survey = lazy.survey();
    if let Some(dfa) = dfa {
        let met = dfa.reached_by_reading();
        for verdict in [
            Verdict::Satisfied,
            Verdict::PresumablySatisfied,
            Verdict::PresumablyViolated,
            Verdict::Violated,
        ] {
            let reached = met.iter().any(|state| dfa.verdict(*state) == verdict);
            assert!(survey.reaches(verdict).is_none_or(|told| told == reached));
        }
        assert!(
            survey
                .monitorable
                .is_none_or(|told| told == dfa.is_monitorable())
        );
    }
}
