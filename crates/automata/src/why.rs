//! Reasons why a formula is false on a path: values of atoms at positions that suffice.
//!
//! Subformulas are evaluated at all positions in Kleene's logic, since atoms may be unknown and a path may go on. Then the
//! formula is followed downwards: of a false conjunction its false operands, of a false `G` the first position that breaks it,
//! of a false `F` all positions of its window. If the formula is false, the values that are found make it false for all values
//! of the other atoms (`tests/it/automata_properties.rs` checks this). If it is unknown, they are the values that count against
//! it.
//!
//! # Source
//! I. Beer, S. Ben-David, H. Chockler, A. Orni, R. Trefler, "Explaining counterexamples using causality", CAV 2009: the same
//! descent, there for formulas of the future in negation normal form.

use rustc_hash::FxHashSet;

use super::eval::{ahead, behind};
use super::formula::{Atom, FormulaId, Formulas, Interval, Node};

/// The greatest number of visits of a subformula at a position; further ones are left out of the explanation.
const MOST_VISITS: usize = 200_000;

/// Positions in order, as far as they are known.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    /// The time of each position; times never decrease.
    pub times: &'a [i128],
    /// Whether there may be positions before the first one.
    pub past_open: bool,
    /// Whether positions may follow the last one.
    pub future_open: bool,
}

/// The reason why a formula is false.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Why {
    /// Atoms with their values, in order of positions.
    pub reasons: Vec<Reason>,
    /// Windows in which something was required that did not happen, in order.
    pub windows: Vec<Missed>,
    /// Whether it matters that no position follows the last one.
    pub ended: bool,
    /// Whether it matters that no position precedes the first one.
    pub began: bool,
}

/// An atom that has the same value at consecutive positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
    /// First position.
    pub first: usize,
    /// Last position.
    pub last: usize,
    /// The atom.
    pub atom: Atom,
    /// Its value; `None` if it is unknown.
    pub value: Option<bool>,
}

/// A bounded window after a position in which a witness was required.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Missed {
    /// The position at which the window was opened.
    pub from: usize,
    /// The window.
    pub window: Interval,
}

type Values = Vec<Option<bool>>;

/// Returns why `formula` is not true at `position`. `letter(position, atom)` is the value of an atom, `None` if unknown.
///
/// # Limits
/// Time and space are linear in the parts of the formula times the positions.
pub fn why_false(
    formulas: &Formulas,
    formula: FormulaId,
    path: Path<'_>,
    position: usize,
    letter: impl Fn(usize, Atom) -> Option<bool>,
) -> Why {
    let start = vec![(formula, position, false)];
    descend(formulas, formula, path, start, letter)
}

/// Returns the reasons against pending obligations from earlier positions. The path at `position` only shows that they come
/// from `formula`, so the future operators of `formula` are followed, and the value of `formula` at `position` is not.
///
/// # Limits
/// As [`why_false`].
pub fn why_pending(
    formulas: &Formulas,
    formula: FormulaId,
    path: Path<'_>,
    position: usize,
    letter: impl Fn(usize, Atom) -> Option<bool>,
) -> Why {
    let mut start = Vec::new();
    let mut seen = FxHashSet::default();
    let mut todo = vec![(formula, false)];
    while let Some((part, wanted)) = todo.pop() {
        if !seen.insert((part, wanted)) {
            continue;
        }
        match formulas.node(part) {
            Node::Not(f) => todo.push((f, !wanted)),
            Node::And(f, g) | Node::Or(f, g) => todo.extend([(f, wanted), (g, wanted)]),
            // The obligation for the next position is due here.
            Node::Next(f) | Node::WeakNext(f) => start.push((f, position, wanted)),
            Node::Eventually(..) | Node::Always(..) | Node::Until(..) => {
                start.push((part, position, wanted));
            }
            _ => {}
        }
    }
    descend(formulas, formula, path, start, letter)
}

/// A formula, a position, and the value that is to be explained there.
type Question = (FormulaId, usize, bool);

fn descend(
    formulas: &Formulas,
    formula: FormulaId,
    path: Path<'_>,
    todo: Vec<Question>,
    letter: impl Fn(usize, Atom) -> Option<bool>,
) -> Why {
    let values = values(formulas, formula, path, &letter);
    let mut reads_atoms = vec![false; formula.index() + 1];
    for part in formulas.parts(formula) {
        let node = formulas.node(part);
        let mut operands = node.operands();
        reads_atoms[part.index()] =
            matches!(node, Node::Atom(_)) || operands.any(|operand| reads_atoms[operand.index()]);
    }
    let mut descent = Descent {
        path,
        values: &values,
        reads_atoms: &reads_atoms,
        todo,
        seen: FxHashSet::default(),
        why: Why::default(),
    };
    let mut found: Vec<(Atom, usize)> = Vec::new();
    while let Some((part, i, wanted)) = descent.todo.pop() {
        if descent.seen.len() >= MOST_VISITS || !descent.seen.insert((part, i, wanted)) {
            continue;
        }
        match formulas.node(part) {
            Node::Atom(atom) => found.push((atom, i)),
            node => descent.visit(node, i, wanted),
        }
    }
    found.sort_unstable();
    found.dedup();
    let mut why = descent.why;
    for (atom, i) in found {
        let value = letter(i, atom);
        match why.reasons.last_mut() {
            Some(run) if run.atom == atom && run.value == value && run.last + 1 == i => {
                run.last = i;
            }
            _ => why.reasons.push(Reason {
                first: i,
                last: i,
                atom,
                value,
            }),
        }
    }
    why.reasons.sort_unstable();
    why.windows.sort_by_key(|missed| missed.from);
    why
}

/// Returns the values of the formula at all positions; `None` if they depend on what is unknown.
///
/// # Limits
/// As [`why_false`].
pub fn eval_partial(
    formulas: &Formulas,
    formula: FormulaId,
    path: Path<'_>,
    letter: impl Fn(usize, Atom) -> Option<bool>,
) -> Vec<Option<bool>> {
    std::mem::take(&mut values(formulas, formula, path, &letter)[formula.index()])
}

struct Descent<'a> {
    path: Path<'a>,
    values: &'a [Values],
    /// Whether each formula reads an atom. The value of a formula that reads none depends on the positions alone.
    reads_atoms: &'a [bool],
    todo: Vec<Question>,
    seen: FxHashSet<Question>,
    why: Why,
}

impl Descent<'_> {
    fn value(&self, f: FormulaId, i: usize) -> Option<bool> {
        self.values[f.index()].get(i).copied().flatten()
    }

    /// Returns the first of these positions at which `f` has this value; otherwise the first at which it is unknown.
    fn find(
        &self,
        f: FormulaId,
        positions: impl Iterator<Item = usize> + Clone,
        value: bool,
    ) -> Option<usize> {
        let with = |wanted: Option<bool>| positions.clone().find(|i| self.value(f, *i) == wanted);
        with(Some(value)).or_else(|| with(None))
    }

    fn all(&mut self, f: FormulaId, positions: impl Iterator<Item = usize>, value: bool) {
        self.todo.extend(positions.map(|i| (f, i, value)));
    }

    /// Follows the operands that have the value or, if neither has it, those that are unknown. One operand that reads
    /// no atom suffices.
    fn either(&mut self, f: FormulaId, g: FormulaId, i: usize, value: bool) {
        let has = |of: FormulaId, value: Option<bool>| self.value(of, i) == value;
        let mut operands = [f, g].into_iter();
        let plain = operands.find(|of| has(*of, Some(value)) && !self.reads_atoms[of.index()]);
        if let Some(plain) = plain {
            self.todo.push((plain, i, value));
            return;
        }
        let decided = has(f, Some(value)) || has(g, Some(value));
        let wanted = decided.then_some(value);
        let chosen = [f, g].into_iter().filter(|of| has(*of, wanted));
        let chosen: Vec<_> = chosen.map(|of| (of, i, value)).collect();
        self.todo.extend(chosen);
    }

    /// Follows the next or previous position.
    fn beside(&mut self, f: FormulaId, at: Option<usize>, value: bool, future: bool) {
        match at.filter(|at| *at < self.path.times.len()) {
            Some(at) => self.todo.push((f, at, value)),
            None if future => self.why.ended |= !self.path.future_open,
            None => self.why.began |= !self.path.past_open,
        }
    }

    /// Explains why a node has the value `wanted` at a position, or may have it.
    fn visit(&mut self, node: Node, i: usize, wanted: bool) {
        let times = self.path.times;
        match node {
            Node::True | Node::False | Node::Atom(_) => {}
            Node::Not(f) => self.todo.push((f, i, !wanted)),
            Node::And(f, g) | Node::Or(f, g) => {
                if matches!(node, Node::And(..)) == wanted {
                    self.todo.extend([(f, i, wanted), (g, i, wanted)]);
                } else {
                    self.either(f, g, i, wanted);
                }
            }
            Node::Next(f) | Node::WeakNext(f) => self.beside(f, Some(i + 1), wanted, true),
            Node::Previously(f) | Node::WeakPreviously(f) => {
                self.beside(f, i.checked_sub(1), wanted, false);
            }
            Node::Eventually(window, f) | Node::Always(window, f) => {
                let range = ahead(times, window, i);
                let positions = range.map_or(0..0, |(lo, hi)| lo..hi + 1);
                if matches!(node, Node::Eventually(..)) == wanted {
                    let found = self.find(f, positions, wanted);
                    self.todo.extend(found.map(|j| (f, j, wanted)));
                } else {
                    if matches!(node, Node::Eventually(..)) {
                        self.missed(i, window, f);
                    }
                    self.all(f, positions, wanted);
                }
            }
            Node::Once(window, f) | Node::Historically(window, f) => {
                let range = behind(times, window, i);
                let positions = range.map_or(0..0, |(lo, hi)| lo..hi + 1);
                if matches!(node, Node::Once(..)) == wanted {
                    let found = self.find(f, positions.rev(), wanted);
                    self.todo.extend(found.map(|j| (f, j, wanted)));
                } else {
                    self.why.began |= !self.path.past_open && positions.is_empty();
                    self.all(f, positions, wanted);
                }
            }
            Node::Until(f, window, g) => self.until(f, window, g, i, wanted),
            Node::Since(f, g) => {
                if wanted {
                    if let Some(j) = self.find(g, (0..=i).rev(), true) {
                        self.todo.push((g, j, true));
                        self.all(f, j + 1..i + 1, true);
                    }
                } else {
                    let broken = (0..=i).rev().find(|j| self.value(f, *j) == Some(false));
                    self.todo.extend(broken.map(|j| (f, j, false)));
                    self.all(g, broken.unwrap_or(0)..i + 1, false);
                }
            }
        }
    }

    fn until(&mut self, f: FormulaId, window: Interval, g: FormulaId, i: usize, wanted: bool) {
        let n = self.path.times.len();
        let range = ahead(self.path.times, window, i);
        let (lo, hi) = range.map_or((n, n), |(lo, hi)| (lo, hi + 1));
        if wanted {
            if let Some(j) = self.find(g, lo..hi, true) {
                self.todo.push((g, j, true));
                self.all(f, i..j, true);
            }
            return;
        }
        // After the position that breaks `f` a witness no longer counts.
        let broken = (i..n).find(|j| self.value(f, *j) == Some(false));
        let broken = broken.filter(|j| *j < hi || range.is_none());
        match broken {
            Some(j) => self.todo.push((f, j, false)),
            None => self.missed(i, window, g),
        }
        let last = broken.map_or(hi, |j| hi.min(j + 1));
        self.all(g, lo..last, false);
    }

    /// Records a window that passed without a witness, by its bound or by the end of the path.
    fn missed(&mut self, i: usize, window: Interval, witness: FormulaId) {
        let bounded = match window {
            Interval::Steps { hi, .. } => hi.is_some(),
            Interval::Time { hi, .. } => hi.is_some(),
        };
        let open = Path {
            future_open: true,
            ..self.path
        };
        let missed = Missed { from: i, window };
        if bounded && is_closed(open, window, i) {
            if self.reads_atoms[witness.index()] && !self.why.windows.contains(&missed) {
                self.why.windows.push(missed);
            }
        } else {
            self.why.ended |= !self.path.future_open;
        }
    }
}

/// Whether no further position can lie in the window that looks ahead from `i`.
fn is_closed(path: Path<'_>, window: Interval, i: usize) -> bool {
    let n = path.times.len();
    let passed = match window {
        Interval::Steps { hi: Some(hi), .. } => i.saturating_add(hi as usize) < n,
        Interval::Time { hi: Some(hi), .. } => path
            .times
            .last()
            .is_some_and(|last| last.saturating_sub(path.times[i]) > hi),
        _ => false,
    };
    passed || window.is_empty() || !path.future_open
}

/// Whether no earlier position can lie in the window that looks back from `i`.
fn is_closed_behind(path: Path<'_>, window: Interval, i: usize) -> bool {
    let passed = match window {
        Interval::Steps { hi: Some(hi), .. } => i >= hi as usize,
        Interval::Time { hi: Some(hi), .. } => path
            .times
            .first()
            .is_some_and(|first| path.times[i].saturating_sub(*first) > hi),
        _ => false,
    };
    passed || window.is_empty() || !path.past_open
}

/// Returns, for every position, the first position from there on whose value satisfies `is`; the length if there is
/// none.
fn next_where(values: &[Option<bool>], is: impl Fn(Option<bool>) -> bool) -> Vec<usize> {
    let mut next = vec![values.len(); values.len()];
    let mut seen = values.len();
    for i in (0..values.len()).rev() {
        if is(values[i]) {
            seen = i;
        }
        next[i] = seen;
    }
    next
}

/// Returns, for every position, the last position up to there whose value satisfies `is`.
fn last_where(values: &[Option<bool>], is: impl Fn(Option<bool>) -> bool) -> Vec<Option<usize>> {
    let mut seen = None;
    let mut last = Vec::with_capacity(values.len());
    for (i, value) in values.iter().enumerate() {
        if is(*value) {
            seen = Some(i);
        }
        last.push(seen);
    }
    last
}

fn and(lhs: Option<bool>, rhs: Option<bool>) -> Option<bool> {
    match (lhs, rhs) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn negated(values: &[Option<bool>]) -> Values {
    values
        .iter()
        .map(|value| value.map(|value| !value))
        .collect()
}

/// Returns true if there is a certain witness, false if there is no possible one, otherwise unknown.
fn witnessed(certain: bool, possible: bool) -> Option<bool> {
    match (certain, possible) {
        (true, _) => Some(true),
        (false, false) => Some(false),
        (false, true) => None,
    }
}

/// The values of all parts of a formula at all positions.
fn values(
    formulas: &Formulas,
    formula: FormulaId,
    path: Path<'_>,
    letter: &impl Fn(usize, Atom) -> Option<bool>,
) -> Vec<Values> {
    let times = path.times;
    let n = times.len();
    let is_true = |value: Option<bool>| value == Some(true);
    let may_be_true = |value: Option<bool>| value != Some(false);
    let some_ahead = |of: &[Option<bool>], window: Interval| -> Values {
        let (certain, possible) = (next_where(of, is_true), next_where(of, may_be_true));
        let at = |i: usize| {
            let open = !is_closed(path, window, i);
            match ahead(times, window, i) {
                Some((lo, hi)) => witnessed(certain[lo] <= hi, open || possible[lo] <= hi),
                None => witnessed(false, open),
            }
        };
        (0..n).map(at).collect()
    };
    let some_behind = |of: &[Option<bool>], window: Interval| -> Values {
        let (certain, possible) = (last_where(of, is_true), last_where(of, may_be_true));
        let at = |i: usize| {
            let open = !is_closed_behind(path, window, i);
            match behind(times, window, i) {
                Some((lo, hi)) => {
                    let within = |last: Option<usize>| last.is_some_and(|j| j >= lo);
                    witnessed(within(certain[hi]), open || within(possible[hi]))
                }
                None => witnessed(false, open),
            }
        };
        (0..n).map(at).collect()
    };
    let mut values: Vec<Values> = vec![Vec::new(); formula.index() + 1];
    for part in formulas.parts(formula) {
        let of = |f: FormulaId| values[f.index()].as_slice();
        let each = |value: &dyn Fn(usize) -> Option<bool>| (0..n).map(value).collect::<Values>();
        let beyond = |open: bool, value: bool| if open { None } else { Some(value) };
        let next = |f: FormulaId, weak: bool| {
            each(&|i| match of(f).get(i + 1) {
                Some(value) => *value,
                None => beyond(path.future_open, weak),
            })
        };
        let previous = |f: FormulaId, weak: bool| {
            each(&|i| match i.checked_sub(1) {
                Some(before) => of(f)[before],
                None => beyond(path.past_open, weak),
            })
        };
        let value = match formulas.node(part) {
            Node::True => vec![Some(true); n],
            Node::False => vec![Some(false); n],
            Node::Atom(atom) => each(&|i| letter(i, atom)),
            Node::Not(f) => negated(of(f)),
            Node::And(f, g) => each(&|i| and(of(f)[i], of(g)[i])),
            Node::Or(f, g) => {
                let not = |value: Option<bool>| value.map(|value| !value);
                each(&|i| not(and(not(of(f)[i]), not(of(g)[i]))))
            }
            Node::Next(f) => next(f, false),
            Node::WeakNext(f) => next(f, true),
            Node::Previously(f) => previous(f, false),
            Node::WeakPreviously(f) => previous(f, true),
            Node::Eventually(window, f) => some_ahead(of(f), window),
            Node::Always(window, f) => negated(&some_ahead(&negated(of(f)), window)),
            Node::Once(window, f) => some_behind(of(f), window),
            Node::Historically(window, f) => negated(&some_behind(&negated(of(f)), window)),
            Node::Until(f, window, g) => {
                let not_certain = next_where(of(f), |value| !is_true(value));
                let broken = next_where(of(f), |value| value == Some(false));
                let certain = next_where(of(g), is_true);
                let possible = next_where(of(g), may_be_true);
                each(&|i| {
                    let open = broken[i] >= n && !is_closed(path, window, i);
                    match ahead(times, window, i) {
                        Some((lo, hi)) => witnessed(
                            certain[lo] <= hi.min(not_certain[i]),
                            open || possible[lo] <= hi.min(broken[i]),
                        ),
                        None => witnessed(false, open),
                    }
                })
            }
            Node::Since(f, g) => {
                let not_certain = last_where(of(f), |value| !is_true(value));
                let broken = last_where(of(f), |value| value == Some(false));
                let certain = last_where(of(g), is_true);
                let possible = last_where(of(g), may_be_true);
                each(&|i| {
                    let after = |found: Option<usize>, broken: Option<usize>| {
                        found.is_some_and(|j| broken.is_none_or(|k| k <= j))
                    };
                    let open = broken[i].is_none() && path.past_open;
                    witnessed(
                        after(certain[i], not_certain[i]),
                        open || after(possible[i], broken[i]),
                    )
                })
            }
        };
        values[part.index()] = value;
    }
    values
}
