//! The value of a formula at every position of a complete trace, straight from the definitions.
//!
//! One sweep per subformula, backward for the future and forward for the past, so that any nesting costs time and space
//! proportional to the formula times the trace. The automata are tested against these functions.

use super::formula::{Atom, FormulaId, Formulas, Interval, Node};

/// Returns the value of `formula` at each of the `len` positions; `letter(position, atom)` is the value of an atom.
///
/// Windows in time need [`eval_timed`]; here every position is at time 0.
pub fn eval(
    formulas: &Formulas,
    formula: FormulaId,
    len: usize,
    letter: impl Fn(usize, Atom) -> bool,
) -> Vec<bool> {
    eval_timed(formulas, formula, &vec![0; len], letter)
}

/// As [`eval`], with the time of every position.
///
/// # Shape
/// `times` has one entry per position and never decreases; equal neighbours are allowed.
pub fn eval_timed(
    formulas: &Formulas,
    formula: FormulaId,
    times: &[i128],
    letter: impl Fn(usize, Atom) -> bool,
) -> Vec<bool> {
    let n = times.len();
    // By place among the parts: the arena may have many other formulas.
    let parts = formulas.parts(formula);
    let mut values: Vec<Vec<bool>> = Vec::with_capacity(parts.len());
    for &part in &parts {
        let of = |f: FormulaId| match parts.binary_search(&f) {
            Ok(place) => values[place].as_slice(),
            Err(_) => &[],
        };
        let each = |value: &dyn Fn(usize) -> bool| (0..n).map(value).collect::<Vec<bool>>();
        let value = match formulas.node(part) {
            Node::True => vec![true; n],
            Node::False => vec![false; n],
            Node::Atom(atom) => each(&|i| letter(i, atom)),
            Node::Not(f) => each(&|i| !of(f)[i]),
            Node::And(f, g) => each(&|i| of(f)[i] && of(g)[i]),
            Node::Or(f, g) => each(&|i| of(f)[i] || of(g)[i]),
            Node::Next(f) => each(&|i| i + 1 < n && of(f)[i + 1]),
            Node::WeakNext(f) => each(&|i| i + 1 >= n || of(f)[i + 1]),
            Node::Previously(f) => each(&|i| i > 0 && of(f)[i - 1]),
            Node::WeakPreviously(f) => each(&|i| i == 0 || of(f)[i - 1]),
            Node::Eventually(window, f) => {
                let found = next_where(of(f), true);
                each(&|i| ahead(times, window, i).is_some_and(|(lo, hi)| found[lo] <= hi))
            }
            Node::Always(window, f) => {
                let broken = next_where(of(f), false);
                each(&|i| ahead(times, window, i).is_none_or(|(lo, hi)| broken[lo] > hi))
            }
            Node::Until(f, window, g) => {
                let broken = next_where(of(f), false);
                let found = next_where(of(g), true);
                each(&|i| {
                    ahead(times, window, i).is_some_and(|(lo, hi)| found[lo] <= hi.min(broken[i]))
                })
            }
            Node::Once(window, f) => {
                let found = last_where(of(f), true);
                each(&|i| {
                    behind(times, window, i)
                        .is_some_and(|(lo, hi)| found[hi].is_some_and(|j| j >= lo))
                })
            }
            Node::Historically(window, f) => {
                let broken = last_where(of(f), false);
                each(&|i| {
                    behind(times, window, i)
                        .is_none_or(|(lo, hi)| broken[hi].is_none_or(|j| j < lo))
                })
            }
            Node::Since(f, g) => {
                let broken = last_where(of(f), false);
                let found = last_where(of(g), true);
                each(&|i| found[i].is_some_and(|j| broken[i].is_none_or(|k| k <= j)))
            }
        };
        values.push(value);
    }
    values.pop().unwrap_or_default()
}

/// Returns the value of the empty trace: atoms are false, strong temporal operators are false, weak ones true, and the
/// Boolean operators are as usual.
pub fn eval_empty(formulas: &Formulas, formula: FormulaId) -> bool {
    let mut values = vec![false; formula.index() + 1];
    for part in formulas.parts(formula) {
        values[part.index()] = match formulas.node(part) {
            Node::Not(f) => !values[f.index()],
            Node::And(f, g) => values[f.index()] && values[g.index()],
            Node::Or(f, g) => values[f.index()] || values[g.index()],
            Node::True | Node::WeakNext(_) | Node::Always(..) => true,
            Node::WeakPreviously(_) | Node::Historically(..) => true,
            Node::False
            | Node::Atom(_)
            | Node::Next(_)
            | Node::Eventually(..)
            | Node::Until(..) => false,
            Node::Previously(_) | Node::Once(..) | Node::Since(..) => false,
        };
    }
    values[formula.index()]
}

/// Returns, for every position, the first one from there on with this value; the length if there is none.
fn next_where(values: &[bool], wanted: bool) -> Vec<usize> {
    let mut next = vec![values.len(); values.len()];
    let mut seen = values.len();
    for i in (0..values.len()).rev() {
        if values[i] == wanted {
            seen = i;
        }
        next[i] = seen;
    }
    next
}

/// Returns, for every position, the last one up to there with this value.
fn last_where(values: &[bool], wanted: bool) -> Vec<Option<usize>> {
    let mut seen = None;
    let mut last = Vec::with_capacity(values.len());
    for (i, &value) in values.iter().enumerate() {
        if value == wanted {
            seen = Some(i);
        }
        last.push(seen);
    }
    last
}

/// Returns the first and last existing position of the window that looks ahead from `i`.
pub(super) fn ahead(times: &[i128], window: Interval, i: usize) -> Option<(usize, usize)> {
    let n = times.len();
    let (lo, end) = match window {
        Interval::Steps { lo, hi } => {
            let end = hi.map_or(n, |hi| {
                i.saturating_add(hi as usize).saturating_add(1).min(n)
            });
            (i.saturating_add(lo as usize), end)
        }
        Interval::Time { lo, hi } => {
            let from = times[i].saturating_add(lo.max(0));
            let end = hi.map_or(n, |hi| {
                times.partition_point(|&t| t <= times[i].saturating_add(hi))
            });
            (times.partition_point(|&t| t < from).max(i), end)
        }
    };
    (lo < end && !window.is_empty()).then(|| (lo, end - 1))
}

/// Returns the first and last existing position of the window that looks back from `i`.
pub(super) fn behind(times: &[i128], window: Interval, i: usize) -> Option<(usize, usize)> {
    let (lo, end) = match window {
        Interval::Steps { lo, hi } => {
            let start = hi.map_or(0, |hi| i.saturating_sub(hi as usize));
            (start, (i + 1).saturating_sub(lo as usize))
        }
        Interval::Time { lo, hi } => {
            let start = hi.map_or(0, |hi| {
                times.partition_point(|&t| t < times[i].saturating_sub(hi))
            });
            let until = times[i].saturating_sub(lo.max(0));
            (start, times.partition_point(|&t| t <= until).min(i + 1))
        }
    };
    (lo < end && !window.is_empty()).then(|| (lo, end - 1))
}
