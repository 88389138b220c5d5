//! Laws of the automata on random formulas: they agree with the definitions, with each other, and with themselves on
//! partly known letters.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use guard_lang::automata::{
    Atom, Dfa, Finality, FormulaId, Formulas, Interval, LazyDfa, LazyState, Limits, Moment, Next,
    PathChecker, Spot, StateSet, StepError, Traces, Verdict, compile, compile_raw, eval,
    eval_empty, eval_timed,
};
use proptest::prelude::*;

/// A formula as a tree, with the naive meaning of the definitions.
#[derive(Clone, Debug)]
enum F {
    Const(bool),
    Atom(u32),
    Not(Box<F>),
    And(Box<F>, Box<F>),
    Or(Box<F>, Box<F>),
    Iff(Box<F>, Box<F>),
    Next(Box<F>),
    WeakNext(Box<F>),
    Eventually(Interval, Box<F>),
    Always(Interval, Box<F>),
    Until(Box<F>, Interval, Box<F>),
    Unless(Box<F>, Box<F>),
    Release(Box<F>, Box<F>),
    StrongRelease(Box<F>, Box<F>),
    Previously(Box<F>),
    WeakPreviously(Box<F>),
    Once(Interval, Box<F>),
    Historically(Interval, Box<F>),
    Since(Box<F>, Box<F>),
    BackTo(Box<F>, Box<F>),
}

type Trace = Vec<(i128, u8)>;

impl F {
    fn build(&self, into: &mut Formulas) -> FormulaId {
        macro_rules! call {
            ($name:ident, $f:expr) => {{
                let f = $f.build(into);
                into.$name(f)
            }};
            ($name:ident, $f:expr, $g:expr) => {{
                let (f, g) = ($f.build(into), $g.build(into));
                into.$name(f, g)
            }};
        }
        match self {
            F::Const(true) => into.verum(),
            F::Const(false) => into.falsum(),
            F::Atom(atom) => into.atom(Atom(*atom)),
            F::Not(f) => call!(not, f),
            F::And(f, g) => call!(and, f, g),
            F::Or(f, g) => call!(or, f, g),
            F::Iff(f, g) => call!(iff, f, g),
            F::Next(f) => call!(next, f),
            F::WeakNext(f) => call!(weak_next, f),
            F::Previously(f) => call!(previously, f),
            F::WeakPreviously(f) => call!(weak_previously, f),
            F::Unless(f, g) => call!(unless, f, g),
            F::Release(f, g) => call!(release, f, g),
            F::StrongRelease(f, g) => call!(strong_release, f, g),
            F::Since(f, g) => call!(since, f, g),
            F::BackTo(f, g) => call!(back_to, f, g),
            F::Eventually(w, f) => {
                let f = f.build(into);
                into.eventually(*w, f)
            }
            F::Always(w, f) => {
                let f = f.build(into);
                into.always(*w, f)
            }
            F::Once(w, f) => {
                let f = f.build(into);
                into.once(*w, f)
            }
            F::Historically(w, f) => {
                let f = f.build(into);
                into.historically(*w, f)
            }
            F::Until(f, w, g) => {
                let (f, g) = (f.build(into), g.build(into));
                into.until(f, *w, g)
            }
        }
    }

    /// The value at position `i`, as the definitions say it.
    fn at(&self, t: &Trace, i: usize) -> bool {
        let n = t.len();
        let within = |w: &Interval, j: usize| {
            let (steps, time) = (i.abs_diff(j) as u32, (t[i].0 - t[j].0).abs());
            match *w {
                Interval::Steps { lo, hi } => lo <= steps && hi.is_none_or(|hi| steps <= hi),
                Interval::Time { lo, hi } => lo <= time && hi.is_none_or(|hi| time <= hi),
            }
        };
        let until = |f: &dyn Fn(usize) -> bool, w: &Interval, g: &dyn Fn(usize) -> bool| {
            (i..n).any(|j| within(w, j) && g(j) && (i..j).all(f))
        };
        let all = &Interval::ALL;
        match self {
            F::Const(value) => *value,
            F::Atom(atom) => t[i].1 >> atom & 1 == 1,
            F::Not(f) => !f.at(t, i),
            F::And(f, g) => f.at(t, i) && g.at(t, i),
            F::Or(f, g) => f.at(t, i) || g.at(t, i),
            F::Iff(f, g) => f.at(t, i) == g.at(t, i),
            F::Next(f) => i + 1 < n && f.at(t, i + 1),
            F::WeakNext(f) => i + 1 >= n || f.at(t, i + 1),
            F::Eventually(w, f) => (i..n).any(|j| within(w, j) && f.at(t, j)),
            F::Always(w, f) => (i..n).all(|j| !within(w, j) || f.at(t, j)),
            F::Until(f, w, g) => until(&|k| f.at(t, k), w, &|k| g.at(t, k)),
            F::Unless(f, g) => {
                until(&|k| f.at(t, k), all, &|k| g.at(t, k)) || (i..n).all(|k| f.at(t, k))
            }
            F::Release(f, g) => !until(&|k| !f.at(t, k), all, &|k| !g.at(t, k)),
            F::StrongRelease(f, g) => {
                let release = !until(&|k| !f.at(t, k), all, &|k| !g.at(t, k));
                release && (i..n).any(|k| f.at(t, k))
            }
            F::Previously(f) => i > 0 && f.at(t, i - 1),
            F::WeakPreviously(f) => i == 0 || f.at(t, i - 1),
            F::Once(w, f) => (0..=i).any(|j| within(w, j) && f.at(t, j)),
            F::Historically(w, f) => (0..=i).all(|j| !within(w, j) || f.at(t, j)),
            F::Since(f, g) => (0..=i).any(|j| g.at(t, j) && (j + 1..=i).all(|k| f.at(t, k))),
            F::BackTo(f, g) => {
                let since = (0..=i).any(|j| g.at(t, j) && (j + 1..=i).all(|k| f.at(t, k)));
                since || (0..=i).all(|k| f.at(t, k))
            }
        }
    }

    /// Whether some past operator looks at a future: then finality may be found late.
    fn guesses(&self) -> bool {
        let below: Vec<&F> = match self {
            F::Const(_) | F::Atom(_) => vec![],
            F::Not(f) | F::Next(f) | F::WeakNext(f) | F::Previously(f) | F::WeakPreviously(f) => {
                vec![f]
            }
            F::Eventually(_, f) | F::Always(_, f) | F::Once(_, f) | F::Historically(_, f) => {
                vec![f]
            }
            F::And(f, g) | F::Or(f, g) | F::Iff(f, g) | F::Until(f, _, g) => vec![f, g],
            F::Unless(f, g) | F::Release(f, g) | F::StrongRelease(f, g) => vec![f, g],
            F::Since(f, g) | F::BackTo(f, g) => vec![f, g],
        };
        let back = matches!(
            self,
            F::Previously(_)
                | F::WeakPreviously(_)
                | F::Once(..)
                | F::Historically(..)
                | F::Since(..)
                | F::BackTo(..)
        );
        below.iter().any(|f| f.guesses() || back && f.looks_ahead())
    }

    fn looks_ahead(&self) -> bool {
        match self {
            F::Const(_) | F::Atom(_) => false,
            F::Not(f) | F::Previously(f) | F::WeakPreviously(f) => f.looks_ahead(),
            F::Once(_, f) | F::Historically(_, f) => f.looks_ahead(),
            F::And(f, g) | F::Or(f, g) | F::Iff(f, g) => f.looks_ahead() || g.looks_ahead(),
            F::Since(f, g) | F::BackTo(f, g) => f.looks_ahead() || g.looks_ahead(),
            _ => true,
        }
    }

    /// The value of the empty trace.
    fn empty(&self) -> bool {
        match self {
            F::Const(value) => *value,
            F::Not(f) => !f.empty(),
            F::And(f, g) => f.empty() && g.empty(),
            F::Or(f, g) => f.empty() || g.empty(),
            F::Iff(f, g) => f.empty() == g.empty(),
            F::WeakNext(_) | F::Always(..) | F::Unless(..) | F::Release(..) => true,
            F::WeakPreviously(_) | F::Historically(..) | F::BackTo(..) => true,
            _ => false,
        }
    }
}

fn steps() -> impl Strategy<Value = Interval> {
    prop_oneof![
        3 => Just(Interval::ALL),
        3 => (0..4u32, 0..4u32).prop_map(|(lo, more)| Interval::steps(lo, lo + more)),
        1 => (0..4u32).prop_map(|lo| Interval::Steps { lo, hi: None }),
        1 => Just(Interval::steps(2, 1)),
    ]
}

fn times() -> impl Strategy<Value = Interval> {
    prop_oneof![
        4 => (0..6i128, 0..8i128).prop_map(|(lo, more)| Interval::time(lo, lo + more)),
        3 => (0..9i128).prop_map(|hi| Interval::time(0, hi)),
        1 => (0..6i128).prop_map(|lo| Interval::Time { lo, hi: None }),
        1 => Just(Interval::ALL),
        1 => (0..3u32, 0..3u32).prop_map(|(lo, more)| Interval::steps(lo, lo + more)),
    ]
}

fn formula(window: BoxedStrategy<Interval>) -> impl Strategy<Value = F> {
    let leaf =
        prop_oneof![1 => any::<bool>().prop_map(F::Const), 12 => (0..3u32).prop_map(F::Atom)];
    leaf.prop_recursive(5, 15, 2, move |inner| {
        let one = inner.clone().prop_map(Box::new);
        let two = (one.clone(), one.clone());
        let windowed = (window.clone(), one.clone());
        prop_oneof![
            2 => one.clone().prop_map(F::Not),
            2 => two.clone().prop_map(|(f, g)| F::And(f, g)),
            2 => two.clone().prop_map(|(f, g)| F::Or(f, g)),
            1 => two.clone().prop_map(|(f, g)| F::Iff(f, g)),
            1 => one.clone().prop_map(F::Next),
            1 => one.clone().prop_map(F::WeakNext),
            2 => windowed.clone().prop_map(|(w, f)| F::Eventually(w, f)),
            2 => windowed.clone().prop_map(|(w, f)| F::Always(w, f)),
            2 => (windowed.clone(), one.clone()).prop_map(|((w, f), g)| F::Until(f, w, g)),
            1 => two.clone().prop_map(|(f, g)| F::Unless(f, g)),
            1 => two.clone().prop_map(|(f, g)| F::Release(f, g)),
            1 => two.clone().prop_map(|(f, g)| F::StrongRelease(f, g)),
            1 => one.clone().prop_map(F::Previously),
            1 => one.clone().prop_map(F::WeakPreviously),
            2 => windowed.clone().prop_map(|(w, f)| F::Once(w, f)),
            2 => windowed.clone().prop_map(|(w, f)| F::Historically(w, f)),
            1 => two.clone().prop_map(|(f, g)| F::Since(f, g)),
            1 => two.prop_map(|(f, g)| F::BackTo(f, g)),
        ]
    })
}

fn trace() -> impl Strategy<Value = Trace> {
    prop::collection::vec((0..5i128, 0..8u8), 1..9).prop_map(|steps| {
        let mut now = -7;
        steps
            .into_iter()
            .map(|(gap, letter)| {
                now += gap;
                (now, letter)
            })
            .collect()
    })
}

fn holds(letter: u8) -> impl Fn(Atom) -> bool {
    move |atom| letter >> atom.0 & 1 == 1
}

/// The letter where `known` says so.
fn partly(letter: u8, known: u8) -> impl Fn(Atom) -> Option<bool> {
    move |atom| (known >> atom.0 & 1 == 1).then_some(letter >> atom.0 & 1 == 1)
}

/// Small enough that a case cannot take long; a formula beyond it is not a case.
fn limits() -> Limits {
    Limits {
        states: 4_000,
        work: 3_000_000,
        ..Limits::default()
    }
}

fn at(i: usize, time: Option<i128>) -> Moment {
    Moment {
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
        moment: Moment,
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
        let accepts = |s: guard_lang::automata::StateId| dfa.accepting(s);
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

/// A thousand cases each, or as many as `PROPTEST_CASES` asks for.
fn config() -> ProptestConfig {
    let standard = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() {
        standard.cases
    } else {
        1_000
    };
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..standard
    }
}

proptest! {
    #![proptest_config(config())]

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
        prop_assert_eq!(&dfa, &compile(&formulas, root, &limits()).unwrap());
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
        // Every formula is its enforceable part and something that can always still be met.
        let enforceable = f.enforceable_part();
        prop_assert!(enforceable.is_safety());
        prop_assert_eq!(f.excess(&enforceable, Traces::All, &small).unwrap(), None);
        if f.class().safety {
            prop_assert_eq!(f.difference(&enforceable, Traces::NonEmpty, &small).unwrap(), None);
        }
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
