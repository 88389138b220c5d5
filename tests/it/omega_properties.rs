//! Laws of automata over infinite words, on random formulas and random words: they agree with the definitions, with each other,
//! and with themselves after every reduction.

use guard_automata::{Atom, FormulaId, Formulas, Interval, Limits, omega};
use proptest::prelude::*;

/// A formula as a tree.
#[derive(Clone)]
enum F {
    Atom(u32),
    Not(Box<F>),
    And(Box<F>, Box<F>),
    Or(Box<F>, Box<F>),
    Next(Box<F>),
    Eventually(Interval, Box<F>),
    Always(Interval, Box<F>),
    Until(Box<F>, Interval, Box<F>),
    Release(Box<F>, Box<F>),
    Previously(Box<F>),
    Once(Interval, Box<F>),
    Since(Box<F>, Box<F>),
}

impl std::fmt::Debug for F {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut formulas = Formulas::new();
        let root = self.build(&mut formulas);
        let text = formulas.display(root, |atom| ["a", "b", "c"][atom.0 as usize]);
        write!(out, "{text}")
    }
}

impl F {
    fn build(&self, into: &mut Formulas) -> FormulaId {
        match self {
            F::Atom(atom) => into.atom(Atom(*atom)),
            F::Not(f) => {
                let f = f.build(into);
                into.not(f)
            }
            F::And(f, g) => {
                let (f, g) = (f.build(into), g.build(into));
                into.and(f, g)
            }
            F::Or(f, g) => {
                let (f, g) = (f.build(into), g.build(into));
                into.or(f, g)
            }
            F::Next(f) => {
                let f = f.build(into);
                into.next(f)
            }
            F::Eventually(window, f) => {
                let f = f.build(into);
                into.eventually(*window, f)
            }
            F::Always(window, f) => {
                let f = f.build(into);
                into.always(*window, f)
            }
            F::Until(f, window, g) => {
                let (f, g) = (f.build(into), g.build(into));
                into.until(f, *window, g)
            }
            F::Release(f, g) => {
                let (f, g) = (f.build(into), g.build(into));
                into.release(f, g)
            }
            F::Previously(f) => {
                let f = f.build(into);
                into.previously(f)
            }
            F::Once(window, f) => {
                let f = f.build(into);
                into.once(*window, f)
            }
            F::Since(f, g) => {
                let (f, g) = (f.build(into), g.build(into));
                into.since(f, g)
            }
        }
    }
}

fn window() -> impl Strategy<Value = Interval> {
    prop_oneof![
        4 => Just(Interval::ALL),
        1 => (0..3u32, 0..3u32).prop_map(|(lo, more)| Interval::steps(lo, lo + more)),
        1 => (0..4u32).prop_map(|lo| Interval::Steps { lo, hi: None }),
    ]
}

/// With operators that look back, if `past`.
fn formula(past: bool) -> impl Strategy<Value = F> {
    (0..3u32).prop_map(F::Atom).prop_recursive(6, 25, 2, move |inner| {
        let one = || inner.clone().prop_map(Box::new);
        prop_oneof![
            2 => one().prop_map(F::Not),
            3 => (one(), one()).prop_map(|(f, g)| F::And(f, g)),
            3 => (one(), one()).prop_map(|(f, g)| F::Or(f, g)),
            2 => one().prop_map(F::Next),
            4 => (window(), one()).prop_map(|(w, f)| F::Eventually(w, f)),
            4 => (window(), one()).prop_map(|(w, f)| F::Always(w, f)),
            3 => (one(), window(), one()).prop_map(|(f, w, g)| F::Until(f, w, g)),
            2 => (one(), one()).prop_map(|(f, g)| F::Release(f, g)),
            if past { 2 } else { 1 } => one().prop_map(move |f| if past { F::Previously(f) } else { F::Next(f) }),
            if past { 2 } else { 1 } => (window(), one())
                .prop_map(move |(w, f)| if past { F::Once(w, f) } else { F::Eventually(w, f) }),
            if past { 2 } else { 1 } => (one(), one())
                .prop_map(move |(f, g)| if past { F::Since(f, g) } else { F::Release(f, g) }),
        ]
    })
}

/// Where the cycle begins, and the letters as sets of three atoms.
fn word() -> impl Strategy<Value = (usize, Vec<u8>)> {
    (
        0..4usize,
        prop::collection::vec(0..8u8, 1..4),
        prop::collection::vec(0..8u8, 3),
    )
        .prop_map(|(stem, cycle, before)| {
            let stem = stem.min(3);
            (stem, before[..stem].iter().chain(&cycle).copied().collect())
        })
}

fn limits() -> Limits {
    Limits {
        states: 300,
        nodes: 60_000,
        work: 400_000,
        ..Limits::default()
    }
}

fn agree(f: &F, words: &[(usize, Vec<u8>)]) -> Result<(), TestCaseError> {
    let mut formulas = Formulas::new();
    let root = f.build(&mut formulas);
    let negation = formulas.not(root);
    let raw = omega::translate_raw(&formulas, root, &limits());
    let buchi = omega::translate(&formulas, root, &limits());
    let complement = omega::translate(&formulas, negation, &limits());
    let deterministic = omega::deterministic(&formulas, root, &limits());
    let states = buchi
        .as_ref()
        .ok()
        .and_then(|b| b.with_accepting_states(&limits()).ok());
    for (stem, letters) in words {
        let cycle = letters.len() - stem;
        let holds = |i: usize, Atom(atom): Atom| letters[i] >> atom & 1 == 1;
        let value = omega::eval(&formulas, root, *stem, cycle, holds);
        for (name, found, wanted) in [
            (
                "raw",
                raw.as_ref().ok().map(|a| a.accepts(*stem, cycle, holds)),
                value,
            ),
            (
                "reduced",
                buchi.as_ref().ok().map(|a| a.accepts(*stem, cycle, holds)),
                value,
            ),
            (
                "negated",
                complement
                    .as_ref()
                    .ok()
                    .map(|a| a.accepts(*stem, cycle, holds)),
                !value,
            ),
            (
                "by states",
                states.as_ref().map(|a| a.accepts(*stem, cycle, holds)),
                value,
            ),
            (
                "deterministic",
                deterministic
                    .as_ref()
                    .ok()
                    .map(|a| a.accepts(*stem, cycle, holds)),
                value,
            ),
        ] {
            if let Some(found) = found {
                prop_assert_eq!(found, wanted, "{} on {:?}", name, (stem, letters));
            }
        }
    }
    if let (Ok(buchi), Ok(complement)) = (&buchi, &complement) {
        for (automaton, wanted) in [(buchi, true), (complement, false)] {
            if let Some(found) = automaton.accepted_word() {
                let (stem, cycle) = (found.stem.len(), found.cycle.len());
                let value =
                    omega::eval(&formulas, root, stem, cycle, |i, atom| found.holds(i, atom));
                prop_assert_eq!(value, wanted, "the witness {:?}", found);
            }
        }
        if let Ok(common) = buchi.common_word(complement, &limits()) {
            prop_assert_eq!(common, None, "no word satisfies a formula and its negation");
        }
    }
    Ok(())
}

crate::random::tests! {
    192 cases;

    #[test]
    fn automata_agree_with_the_definitions(f in formula(false), words in prop::collection::vec(word(), 12)) {
        agree(&f, &words)?;
    }

    #[test]
    fn automata_with_past_agree_with_the_definitions(f in formula(true), words in prop::collection::vec(word(), 12)) {
        agree(&f, &words)?;
    }

    #[test]
    fn the_class_of_a_negation_is_the_dual(f in formula(false)) {
        use omega::Class::{Cosafety, Obligation, Persistence, Reactivity, Recurrence, Safety};
        let mut formulas = Formulas::new();
        let root = f.build(&mut formulas);
        let negation = formulas.not(root);
        let classes = [root, negation].map(|f| omega::class(&formulas, f, &limits()));
        if let [Ok(of), Ok(dual)] = classes {
            let possible: &[omega::Class] = match of {
                Safety => &[Safety, Cosafety],
                Cosafety => &[Safety],
                Obligation => &[Obligation],
                Recurrence => &[Persistence],
                Persistence => &[Recurrence],
                Reactivity => &[Reactivity],
            };
            prop_assert!(possible.contains(&dual), "{:?} and {:?}", of, dual);
        }
    }
}

#[test]
fn formulas_have_their_classes() {
    use omega::Class::{Cosafety, Obligation, Persistence, Reactivity, Recurrence, Safety};
    for (text, wanted) in [
        ("G a", Safety),
        ("a W b", Safety),
        ("X a", Safety),
        ("G F[0,2] a", Safety),
        ("G (a -> O b)", Safety),
        ("F a", Cosafety),
        ("a U b", Cosafety),
        ("G a | F b", Obligation),
        ("G a & F b", Obligation),
        ("G F a", Recurrence),
        ("G (a -> F b)", Recurrence),
        ("G F a & G F b", Recurrence),
        ("F G a", Persistence),
        ("F G a | F G b", Persistence),
        ("G F a & F b", Recurrence),
        ("G F a -> G F b", Reactivity),
        ("F G a & G F b", Reactivity),
        ("F G Y a", Persistence),
        ("F G (a S b)", Persistence),
    ] {
        let parsed = crate::support::ltl::parse_one(text);
        let found = omega::class(&parsed.formulas, parsed.root, &Limits::default()).unwrap();
        assert_eq!(found, wanted, "{text}");
    }
}
