//! Laws of automata on random formulas: they agree with the definitions, with each other, and with themselves on partly
//! known letters.

use crate::support::formula::{Trace, formula, holds, partly, steps, times, trace};
use guard_automata::{
    Atom, Dfa, Finality, FormulaId, Formulas, Instant, Interval, LazyDfa, LazyState, Limits, Next,
    Path, PathChecker, Run, Spot, StateSet, StepError, Traces, Verdict, compile, compile_raw, eval,
    eval_empty, eval_partial, eval_timed, evidently_implies, why_false,
};
use proptest::prelude::*;

/// Small enough that a case cannot take long; a formula beyond it is not a case.
fn limits() -> Limits {
    Limits {
        states: 4_000,
        work: 3_000_000,
        ..Limits::default()
    }
}

fn at(i: usize, time: Option<i128>) -> Instant {
    Instant {
        position: i as u64,
        time,
    }
}

/// Where a lazy automaton is in one trace.
struct Followed {
    state: LazyState,
    spot: Spot,
}

impl Followed {
    fn new(lazy: &LazyDfa) -> Followed {
        Followed {
            state: lazy.initial(),
            spot: Spot::default(),
        }
    }

    fn read(
        &mut self,
        lazy: &mut LazyDfa,
        moment: Instant,
        holds: impl Fn(Atom) -> bool,
    ) -> Result<(), StepError> {
        let Followed { state, spot } = self;
        // Another trace may be in the same state at the same position, and share the spot.
        let (mut first, mut again) = (state.clone(), state.clone());
        for each in [&mut first, &mut again] {
            match lazy.next(state, spot, moment, |atom| Some(holds(atom)))? {
                Next::Same => {}
                Next::One(next, _) => *each = next,
                Next::Any(mut any) => *each = any.pop().unwrap(),
            }
        }
        assert_eq!(first, again);
        match lazy.next(state, spot, moment, |atom| Some(holds(atom)))? {
            Next::Same => {}
            Next::One(next, at) => (*state, *spot) = (next, at),
            Next::Any(mut any) => (*state, *spot) = (any.pop().unwrap(), Spot::default()),
        }
        Ok(())
    }
}

fn dfa_verdict_is_exact(dfa: &Dfa) {
    for state in dfa.states() {
        let accepts = |s: guard_automata::StateId| dfa.accepting(s);
        let yes = dfa.shortest_from(state, Traces::All, accepts).is_some();
        let no = dfa
            .shortest_from(state, Traces::All, |s| !accepts(s))
            .is_some();
        let expected = match (yes, no) {
            (true, true) => Finality::Open,
            (true, false) => Finality::FinalTrue,
            _ => Finality::FinalFalse,
        };
        assert_eq!(dfa.finality(state), expected);
    }
}

crate::random::tests! {
    1000 cases;

    #[test]
    fn every_engine_agrees_with_the_definitions(f in formula(steps().boxed()), traces in prop::collection::vec(trace(), 4)) {
        let mut formulas = Formulas::new();
        let root = f.build(&mut formulas);
        prop_assert_eq!(eval_empty(&formulas, root), f.empty());
        let raw = compile_raw(&formulas, root, &limits());
        prop_assume!(raw.is_ok());
        let raw = raw.unwrap();
        let dfa = raw.minimized();
        let nonempty = dfa.minimized_nonempty();
        // To build small parts first may take more work.
        let whole = compile(&formulas, root, &limits());
        prop_assume!(whole.is_ok());
        prop_assert_eq!(&dfa, &whole.unwrap());
        prop_assert_eq!(&dfa, &dfa.minimized());
        prop_assert!(nonempty.len() <= dfa.len() && dfa.len() <= raw.len());
        prop_assert_eq!(raw.difference(&dfa, Traces::All, &limits()).unwrap(), None);
        prop_assert_eq!(raw.difference(&nonempty, Traces::NonEmpty, &limits()).unwrap(), None);
        prop_assert_eq!(dfa.accepting(dfa.initial()), f.empty());
        dfa_verdict_is_exact(&dfa);
        let mut lazy = LazyDfa::new(&formulas, root, &limits()).unwrap();
        // So little memory that it is forgotten again and again.
        let mut tight = LazyDfa::new(&formulas, root, &Limits { nodes: 400, ..limits() });
        let mut checker = PathChecker::new(&formulas, root, &limits()).unwrap();
        for t in &traces {
            let mut state = dfa.initial();
            let mut running = Followed::new(&lazy);
            let mut cramped_at = tight.as_ref().ok().map(Followed::new);
            for i in 0..t.len() {
                let prefix: Trace = t[..=i].to_vec();
                state = dfa.step(state, holds(t[i].1));
                running.read(&mut lazy, at(i, None), holds(t[i].1)).unwrap();
                let expected = f.at(&prefix, 0);
                prop_assert_eq!(eval(&formulas, root, i + 1, |k, atom| holds(t[k].1)(atom))[0], expected);
                prop_assert_eq!(dfa.accepting(state), expected, "{:?}", prefix);
                prop_assert_eq!(running.state.accepting(), expected, "lazy after {:?}", prefix);
                let verdict = running.state.verdict();
                let exact = verdict == dfa.verdict(state);
                prop_assert!(exact || !verdict.is_final() && f.guesses(), "lazy says {:?} after {:?}", verdict, prefix);
                if let (Ok(tight), Some(cramped)) = (&mut tight, &mut cramped_at) {
                    match cramped.read(tight, at(i, None), holds(t[i].1)) {
                        Ok(()) => prop_assert_eq!(cramped.state.accepting(), expected, "cramped after {:?}", prefix),
                        Err(_) => break,
                    }
                }
                let found = checker.check(i + 1, |k, atom| holds(t[k].1)(atom)).unwrap();
                prop_assert_eq!(found.is_none(), expected, "the path after {:?}", prefix);
                if let Some(found) = found {
                    if let Some(settled) = found.settled {
                        let mut at = dfa.initial();
                        for (_, letter) in &t[..=settled] {
                            at = dfa.step(at, holds(*letter));
                        }
                        prop_assert_eq!(dfa.verdict(at), Verdict::Violated);
                    }
                    // Whatever else is changed, what it needs is enough.
                    for other in [0u8, 7] {
                        let changed = |k: usize, atom: Atom| {
                            let needed = found.needs.iter().find(|(position, _)| *position == k);
                            let known = needed.and_then(|(_, letter)| letter.iter().find(|(of, _)| *of == atom));
                            known.map_or(holds(other)(atom), |(_, value)| *value)
                        };
                        prop_assert!(!eval(&formulas, root, i + 1, changed)[0], "{:?} is not enough", found);
                    }
                }
            }
        }
    }

    #[test]
    fn an_unknown_letter_is_all_its_completions(f in formula(steps().boxed()), t in trace(), known in prop::collection::vec(0..8u8, 9)) {
        let mut formulas = Formulas::new();
        let root = f.build(&mut formulas);
        let dfa = compile(&formulas, root, &limits());
        prop_assume!(dfa.is_ok());
        let dfa = dfa.unwrap();
        let mut lazy = LazyDfa::new(&formulas, root, &limits()).unwrap();
        let mut states: StateSet = [dfa.initial()].into_iter().collect();
        let mut running: Vec<LazyState> = vec![lazy.initial()];
        for (i, (&(_, letter), &known)) in t.iter().zip(&known).enumerate() {
            let completions = || (0..8u8).filter(move |c| (c ^ letter) & known == 0);
            let expected: StateSet = states.iter().flat_map(|s| completions().map(move |c| (s, c))).map(|(s, c)| dfa.step(s, holds(c))).collect();
            states = dfa.step_all(&states, partly(letter, known));
            prop_assert_eq!(&states, &expected);

            let mut next: Vec<LazyState> = Vec::new();
            let mut wanted: Vec<LazyState> = Vec::new();
            for state in &running {
                match lazy.next(state, &mut Spot::default(), at(i, None), partly(letter, known)).unwrap() {
                    Next::Same => next.push(state.clone()),
                    Next::One(one, _) => next.push(one),
                    Next::Any(any) => next.extend(any),
                }
                for c in completions() {
                    let mut one = state.clone();
                    lazy.step(&mut one, at(i, None), holds(c)).unwrap();
                    wanted.push(one);
                }
            }
            let mut unique: Vec<LazyState> = Vec::new();
            for state in next {
                if !unique.contains(&state) {
                    unique.push(state);
                }
            }
            prop_assert!(unique.iter().all(|state| wanted.contains(state)));
            prop_assert!(wanted.iter().all(|state| unique.contains(state)));
            running = unique;
            let accepting = |value| states.iter().any(|s| dfa.accepting(s) == value);
            for value in [true, false] {
                prop_assert_eq!(running.iter().any(|s| s.accepting() == value), accepting(value));
            }
        }
    }

    #[test]
    fn partial_values_are_those_of_all_completions(f in formula(times().boxed()), t in trace(), known in prop::collection::vec(0..8u8, 9), cut in 0..9usize) {
        let mut formulas = Formulas::new();
        let root = f.build(&mut formulas);
        let all: Vec<i128> = t.iter().map(|p| p.0).collect();
        let expected = eval_timed(&formulas, root, &all, |k, atom| holds(t[k].1)(atom));
        let letter = |k: usize, atom: Atom| partly(t[k].1, known[k % known.len()])(atom);
        let whole = Path { times: &all, past_open: false, future_open: false };
        for (found, expected) in eval_partial(&formulas, root, whole, letter).iter().zip(&expected) {
            prop_assert!(found.is_none_or(|found| found == *expected));
        }
        // A part of the trace knows no more than the whole.
        let (first, last) = (cut.min(t.len()) / 2, cut.min(t.len()));
        let part = Path { times: &all[first..last], past_open: first > 0, future_open: last < t.len() };
        let found = eval_partial(&formulas, root, part, |k, atom| letter(first + k, atom));
        for (found, expected) in found.iter().zip(&expected[first..]) {
            prop_assert!(found.is_none_or(|found| found == *expected));
        }
    }

    #[test]
    fn the_reasons_of_a_violation_suffice(f in formula(times().boxed()), t in trace()) {
        let mut formulas = Formulas::new();
        let root = f.build(&mut formulas);
        let times: Vec<i128> = t.iter().map(|p| p.0).collect();
        prop_assume!(!times.is_empty());
        let path = Path { times: &times, past_open: false, future_open: false };
        let letter = |k: usize, atom: Atom| Some(holds(t[k].1)(atom));
        prop_assume!(eval_partial(&formulas, root, path, letter)[0] == Some(false));
        let why = why_false(&formulas, root, path, 0, letter);
        let known = |k: usize, atom: Atom| {
            let mut reasons = why.reasons.iter();
            reasons.find(|reason| reason.atom == atom && (reason.first..=reason.last).contains(&k))?.value
        };
        prop_assert_eq!(eval_partial(&formulas, root, path, known)[0], Some(false), "{:?}", why);
    }

    #[test]
    fn bounds_in_time_agree_with_the_definitions(f in formula(times().boxed()), traces in prop::collection::vec(trace(), 4)) {
        let mut formulas = Formulas::new();
        let root = f.build(&mut formulas);
        let lazy = LazyDfa::new(&formulas, root, &limits());
        prop_assume!(lazy.is_ok());
        let mut lazy = lazy.unwrap();
        for t in &traces {
            let mut running = Followed::new(&lazy);
            prop_assert_eq!(running.state.accepting(), f.empty());
            let mut settled = None;
            for i in 0..t.len() {
                let prefix: Trace = t[..=i].to_vec();
                let times: Vec<i128> = prefix.iter().map(|p| p.0).collect();
                let expected = f.at(&prefix, 0);
                prop_assert_eq!(eval_timed(&formulas, root, &times, |k, atom| holds(t[k].1)(atom))[0], expected, "{:?}", prefix);
                let now = at(i, Some(t[i].0));
                match lazy.tick(&running.state, now) {
                    Ok(Some(ticked)) => running = Followed { state: ticked, spot: Spot::default() },
                    Ok(None) => {}
                    Err(_) => break,
                }
                if running.state.finality() != Finality::Open {
                    settled.get_or_insert(running.state.finality());
                }
                if running.read(&mut lazy, now, holds(t[i].1)).is_err() {
                    break;
                }
                if running.state.finality() != Finality::Open {
                    settled.get_or_insert(running.state.finality());
                }
                prop_assert_eq!(running.state.accepting(), expected, "{:?}", prefix);
                prop_assert!(settled.is_none_or(|s| (s == Finality::FinalTrue) == expected));
            }
        }
    }

    #[test]
    fn combinations_have_the_values_of_their_parts(f in formula(steps().boxed()), g in formula(steps().boxed())) {
        let mut formulas = Formulas::new();
        let (f, g) = (f.build(&mut formulas), g.build(&mut formulas));
        let (both, either, not) = (formulas.and(f, g), formulas.or(f, g), formulas.not(f));
        let small = limits();
        let all = [f, g, both, either, not].map(|root| compile(&formulas, root, &small));
        prop_assume!(all.iter().all(Result::is_ok));
        let [f, g, both, either, not] = all.map(Result::unwrap);
        prop_assume!(f.len() * g.len() < small.states);
        prop_assert_eq!(f.and(&g, &small).unwrap().difference(&both, Traces::All, &small).unwrap(), None);
        prop_assert_eq!(f.or(&g, &small).unwrap().difference(&either, Traces::All, &small).unwrap(), None);
        prop_assert_eq!(f.complement().difference(&not, Traces::All, &small).unwrap(), None);
        if f.atoms() == not.atoms() {
            prop_assert_eq!(f.complement(), not.clone());
        }
        // Witnesses are what they claim to be.
        if let Some(word) = f.excess(&g, Traces::NonEmpty, &small).unwrap() {
            let run = |dfa: &Dfa| word.iter().fold(dfa.initial(), |s, letter| dfa.step(s, |a| letter.contains(&(a, true))));
            prop_assert!(f.accepting(run(&f)) && !g.accepting(run(&g)));
        }
        if let Some(word) = f.shortest_to(Verdict::Violated, Traces::All) {
            let end = word.iter().fold(f.initial(), |s, letter| f.step(s, |a| letter.contains(&(a, true))));
            prop_assert_eq!(f.verdict(end), Verdict::Violated);
        }
        prop_assert_eq!(f.class().safety, not.class().cosafety);
        // A joint dead end leaves each open and not both.
        let dead = |part: fn(&Dfa) -> Dfa| {
            let each = part(&f).and(&part(&g), &small).unwrap();
            part(&both).complement().and(&each, &small).unwrap().is_satisfiable(Traces::All)
        };
        let satisfiable = [&f, &g].iter().all(|dfa| dfa.is_satisfiable(Traces::NonEmpty));
        if satisfiable {
            let expected = dead(Dfa::enforceable_part) || dead(Dfa::extendable_part);
            prop_assert_eq!(f.clashes_counted(&g, &small).0.unwrap(), expected);
        }
        // Every formula is its enforceable part and something that can always still be met.
        let enforceable = f.enforceable_part();
        prop_assert!(enforceable.is_safety());
        prop_assert_eq!(f.excess(&enforceable, Traces::All, &small).unwrap(), None);
        if f.class().safety {
            prop_assert_eq!(f.difference(&enforceable, Traces::NonEmpty, &small).unwrap(), None);
        }
    }
}

crate::random::tests! {
    1000 cases;

    /// A formula whose traces can rest has no joint dead end with another such one that speaks of other atoms.
    #[test]
    fn what_rests_contradicts_nothing_else(f in formula(steps().boxed()), g in formula(steps().boxed())) {
        let mut formulas = Formulas::new();
        let (f, g) = (f.build(&mut formulas), g.build_from(&mut formulas, 3));
        let small = limits();
        let both = [f, g].map(|root| compile(&formulas, root, &small));
        prop_assume!(both.iter().all(Result::is_ok));
        let [f, g] = both.map(Result::unwrap);
        prop_assume!(f.can_rest() && g.can_rest() && f.len() * g.len() < small.states);
        prop_assert!(!f.clashes_counted(&g, &small).0.unwrap());
    }

    /// What a survey of an automaton with counters says is so in the automaton without them.
    #[test]
    fn surveys_are_right(f in formula(steps().boxed())) {
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
            let mut state = dfa.initial();
            for run in runs {
                for _ in 0..run.times {
                    state = dfa.step(state, |atom| run.letter.contains(&(atom, true)));
                }
            }
            dfa.verdict(state)
        };
        if let Some(good) = &survey.good {
            prop_assert!(matches!(run(good), Verdict::Satisfied | Verdict::PresumablySatisfied));
        }
        if let Some(bad) = &survey.bad {
            let wanted = if survey.reaches(Verdict::Violated) == Some(true) { Verdict::Violated } else { Verdict::PresumablyViolated };
            prop_assert_eq!(run(bad), wanted);
        }
    }

    /// What a look at two formulas shows is so.
    #[test]
    fn what_syntax_shows_is_so(
        f in formula(steps().boxed()),
        g in formula(steps().boxed()),
        inside in 0..4u8,
    ) {
        let mut formulas = Formulas::new();
        let (f, g) = (f.build(&mut formulas), g.build(&mut formulas));
        // Random formulas have little to do with one another, so some are made to.
        let (a, b) = match inside {
            0 => (f, g),
            1 => (f, formulas.or(g, f)),
            2 => (formulas.and(g, f), g),
            _ => {
                let (sooner, later) = (Interval::steps(1, 2), Interval::steps(0, 3));
                let (f, either) = (formulas.eventually(sooner, f), formulas.or(f, g));
                (f, formulas.eventually(later, either))
            }
        };
        for (a, b) in [(a, b), (b, a)] {
            if evidently_implies(&mut formulas, a, b, &limits()) {
                let both = [a, b].map(|root| compile(&formulas, root, &limits()));
                prop_assume!(both.iter().all(Result::is_ok));
                let [a, b] = both.map(Result::unwrap);
                prop_assert_eq!(a.excess(&b, Traces::NonEmpty, &limits()).unwrap(), None);
            }
        }
    }

    /// Ruling letters out is what `G` of their negation does.
    #[test]
    fn forbidden_letters_do_not_occur(f in formula(steps().boxed()), asked in 1..8u8, values in 0..8u8) {
        let mut formulas = Formulas::new();
        let root = f.build(&mut formulas);
        let literals: Vec<(Atom, bool)> = (0..3u32)
            .filter(|atom| asked >> atom & 1 == 1)
            .map(|atom| (Atom(atom), values >> atom & 1 == 1))
            .collect();
        let parts: Vec<FormulaId> = literals
            .iter()
            .map(|(atom, holds)| {
                let atom = formulas.atom(*atom);
                if *holds { atom } else { formulas.not(atom) }
            })
            .collect();
        let all = formulas.all(parts);
        let none = formulas.not(all);
        let never = formulas.always(Interval::ALL, none);
        let wanted = formulas.and(root, never);
        let made = [root, wanted].map(|root| compile(&formulas, root, &limits()));
        prop_assume!(made.iter().all(Result::is_ok));
        let [dfa, wanted] = made.map(Result::unwrap);
        let forbidding = dfa.forbidding(&literals);
        dfa_verdict_is_exact(&forbidding);
        prop_assert_eq!(forbidding.difference(&wanted, Traces::All, &limits()).unwrap(), None);
    }
}

/// The automaton of `G (s -> F[a,K] t)` against brute force: every word of up to `K + 3` letters, for all bounds up to 4.
#[test]
fn bounded_responses_are_those_of_the_definition() {
    for k in 0..=4u32 {
        for a in 0..=k {
            let mut formulas = Formulas::new();
            let (s, t) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
            let answer = formulas.eventually(Interval::steps(a, k), t);
            let step = formulas.implies(s, answer);
            let rule = formulas.always(Interval::ALL, step);
            let dfa = compile(&formulas, rule, &limits()).unwrap();
            let mut lazy = LazyDfa::new(&formulas, rule, &limits()).unwrap();
            let len = k as usize + 3;
            for word in 0..4u32.pow(len as u32) {
                let letter = |i: usize| (word >> (2 * i) & 3) as u8;
                let (trigger, met) = (|i: usize| letter(i) & 1 == 1, |i: usize| letter(i) & 2 == 2);
                let due =
                    |i: usize, n: usize| (i + a as usize..=i + k as usize).any(|j| j < n && met(j));
                let mut state = dfa.initial();
                for i in 0..len {
                    state = dfa.step(state, holds(letter(i)));
                }
                let expected = (0..len).all(|i| !trigger(i) || due(i, len));
                assert_eq!(dfa.accepting(state), expected, "F[{a},{k}] on {word:b}");
                // A deadline has passed for good exactly when its window is over.
                let broken = (0..len).any(|i| trigger(i) && i + (k as usize) < len && !due(i, len));
                assert_eq!(
                    dfa.verdict(state) == Verdict::Violated,
                    broken,
                    "F[{a},{k}] on {word:b}"
                );
                // The lazy one takes the same steps; every tenth word will do.
                if word % 10 == 0 {
                    let mut running = Followed::new(&lazy);
                    for i in 0..len {
                        running
                            .read(&mut lazy, at(i, None), holds(letter(i)))
                            .unwrap();
                    }
                    assert_eq!(
                        running.state.verdict(),
                        dfa.verdict(state),
                        "F[{a},{k}] on {word:b}"
                    );
                }
            }
        }
    }
}

crate::random::tests! {
    3000 cases;

    /// What a monitor goes on with after violations is satisfied by the same traces.
    #[test]
    fn what_looks_back_is_satisfied_by_the_same_traces(f in formula(steps().boxed())) {
        let mut formulas = Formulas::new();
        let phi = f.build(&mut formulas);
        let start = Atom(9);
        let watched = formulas.watched_on(phi, start);
        let always = formulas.always(Interval::ALL, phi);
        let begins = formulas.atom(start);
        let everywhere = formulas.always(Interval::ALL, begins);
        let both = [watched, always].map(|part| {
            let begun = formulas.and(everywhere, part);
            compile(&formulas, begun, &limits())
        });
        prop_assume!(both.iter().all(Result::is_ok));
        let [found, wanted] = both.map(Result::unwrap);
        prop_assert_eq!(found.difference(&wanted, Traces::NonEmpty, &limits()).unwrap(), None);
    }
}
