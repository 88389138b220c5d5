//! Random formulas and traces, with a direct implementation of the definitions.

use guard_automata::{Atom, FormulaId, Formulas, Interval};
use proptest::prelude::*;

/// A formula as a tree, evaluated directly by the definitions.
#[derive(Clone, Debug)]
pub(crate) enum F {
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

/// The time and the letter of each step.
pub(crate) type Trace = Vec<(i128, u8)>;

impl F {
    pub(crate) fn build(&self, into: &mut Formulas) -> FormulaId {
        self.build_from(into, 0)
    }

    /// Builds the formula with its atoms numbered from `first`.
    pub(crate) fn build_from(&self, into: &mut Formulas, first: u32) -> FormulaId {
        macro_rules! call {
            ($name:ident, $f:expr) => {{
                let f = $f.build_from(into, first);
                into.$name(f)
            }};
            ($name:ident, $f:expr, $g:expr) => {{
                let (f, g) = ($f.build_from(into, first), $g.build_from(into, first));
                into.$name(f, g)
            }};
        }
        match self {
            F::Const(true) => into.verum(),
            F::Const(false) => into.falsum(),
            F::Atom(atom) => into.atom(Atom(first + *atom)),
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
                let f = f.build_from(into, first);
                into.eventually(*w, f)
            }
            F::Always(w, f) => {
                let f = f.build_from(into, first);
                into.always(*w, f)
            }
            F::Once(w, f) => {
                let f = f.build_from(into, first);
                into.once(*w, f)
            }
            F::Historically(w, f) => {
                let f = f.build_from(into, first);
                into.historically(*w, f)
            }
            F::Until(f, w, g) => {
                let (f, g) = (f.build_from(into, first), g.build_from(into, first));
                into.until(f, *w, g)
            }
        }
    }

    /// Returns the value at position `i` by the definitions.
    pub(crate) fn at(&self, t: &Trace, i: usize) -> bool {
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

    /// Returns whether a past operator contains a future operator; finality may then be found late.
    pub(crate) fn guesses(&self) -> bool {
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

    /// Returns the value on the empty trace.
    pub(crate) fn empty(&self) -> bool {
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

/// Generates short step bounds.
pub(crate) fn steps() -> impl Strategy<Value = Interval> {
    prop_oneof![
        3 => Just(Interval::ALL),
        3 => (0..4u32, 0..4u32).prop_map(|(lo, more)| Interval::steps(lo, lo + more)),
        1 => (0..4u32).prop_map(|lo| Interval::Steps { lo, hi: None }),
        1 => Just(Interval::steps(2, 1)),
    ]
}

/// Generates time bounds.
pub(crate) fn times() -> impl Strategy<Value = Interval> {
    prop_oneof![
        4 => (0..6i128, 0..8i128).prop_map(|(lo, more)| Interval::time(lo, lo + more)),
        3 => (0..9i128).prop_map(|hi| Interval::time(0, hi)),
        1 => (0..6i128).prop_map(|lo| Interval::Time { lo, hi: None }),
        1 => Just(Interval::ALL),
        1 => (0..3u32, 0..3u32).prop_map(|(lo, more)| Interval::steps(lo, lo + more)),
    ]
}

/// Generates formulas of about 15 operators.
pub(crate) fn formula(window: BoxedStrategy<Interval>) -> impl Strategy<Value = F> {
    formula_of(window, 5, 15)
}

/// Generates formulas of about `size` operators, with at most this depth.
pub(crate) fn formula_of(
    window: BoxedStrategy<Interval>,
    depth: u32,
    size: u32,
) -> impl Strategy<Value = F> {
    let leaf =
        prop_oneof![1 => any::<bool>().prop_map(F::Const), 12 => (0..3u32).prop_map(F::Atom)];
    leaf.prop_recursive(depth, size, 2, move |inner| {
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

/// Generates traces of one to eight steps.
pub(crate) fn trace() -> impl Strategy<Value = Trace> {
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

/// Returns the truth of each atom in a letter.
pub(crate) fn holds(letter: u8) -> impl Fn(Atom) -> bool {
    move |atom| letter >> atom.0 & 1 == 1
}

/// Returns the truth of each atom in a letter, if `known` contains the atom.
pub(crate) fn partly(letter: u8, known: u8) -> impl Fn(Atom) -> Option<bool> {
    move |atom| (known >> atom.0 & 1 == 1).then_some(letter >> atom.0 & 1 == 1)
}
