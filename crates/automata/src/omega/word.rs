//! Ultimately periodic words, and the value of formulas on them, computed directly from the definitions.

use crate::formula::{Atom, FormulaId, Formulas, Interval, Node};
use crate::formula::{Letter, Word};

/// The words `stem cycle cycle cycle …`: each position lists the atoms that matter there and their values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lasso {
    /// The prefix; may be empty.
    pub stem: Word,
    /// The repeated part; never empty.
    pub cycle: Word,
}

impl Lasso {
    /// Returns the letter at a position; positions after the stem repeat the cycle.
    pub fn letter(&self, position: usize) -> &Letter {
        let n = self.stem.len();
        match self.stem.get(position) {
            Some(letter) => letter,
            None => &self.cycle[(position - n) % self.cycle.len().max(1)],
        }
    }

    /// Whether the atom holds at a position; atoms that are not listed there do not.
    pub fn holds(&self, position: usize, atom: Atom) -> bool {
        self.letter(position).contains(&(atom, true))
    }
}

/// Returns the value of a formula at the first position of the infinite word `stem cycle cycle …`.
///
/// `letter(position, atom)` is the value of an atom at each of the first `stem + cycle` positions. `X` and `N` mean the same.
/// Windows in time see every position at the same time.
///
/// # Limits
/// Time and space are linear in the formula and in the word after unrolling; the cycle is unrolled once per past operator,
/// and further for bounds that look back.
///
/// ```
/// use guard_automata::{Atom, Formulas, Interval, omega};
/// let mut formulas = Formulas::new();
/// let a = formulas.atom(Atom(0));
/// let soon = formulas.eventually(Interval::ALL, a);
/// let often = formulas.always(Interval::ALL, soon);
/// // a, then nothing and a by turns.
/// assert!(omega::eval(&formulas, often, 1, 2, |position, _| position != 1));
/// // a, then nothing.
/// assert!(!omega::eval(&formulas, often, 1, 1, |position, _| position != 1));
/// ```
pub fn eval(
    formulas: &Formulas,
    formula: FormulaId,
    stem: usize,
    cycle: usize,
    letter: impl Fn(usize, Atom) -> bool,
) -> bool {
    let cycle = cycle.max(1);
    let turn = unrolled(formulas, formula, stem, cycle);
    let word = Unrolled {
        turn,
        len: turn + cycle,
    };
    let at = |position: usize| match position.checked_sub(stem) {
        None => position,
        Some(after) => stem + after % cycle,
    };
    let mut values: Vec<Vec<bool>> = vec![Vec::new(); formula.index() + 1];
    for part in formulas.parts(formula) {
        let of = |f: FormulaId| values[f.index()].as_slice();
        let each = |value: &dyn Fn(usize) -> bool| (0..word.len).map(value).collect::<Vec<bool>>();
        let value = match formulas.node(part) {
            Node::True => each(&|_| true),
            Node::False => each(&|_| false),
            Node::Atom(atom) => each(&|i| letter(at(i), atom)),
            Node::Not(f) => each(&|i| !of(f)[i]),
            Node::And(f, g) => each(&|i| of(f)[i] && of(g)[i]),
            Node::Or(f, g) => each(&|i| of(f)[i] || of(g)[i]),
            Node::Next(f) | Node::WeakNext(f) => each(&|i| of(f)[word.next(i)]),
            Node::Eventually(window, f) => each(&|i| word.ahead(window, i).any(|j| of(f)[j])),
            Node::Always(window, f) => each(&|i| word.ahead(window, i).all(|j| of(f)[j])),
            Node::Until(f, window, g) => each(&|i| word.until(window, i, of(f), of(g))),
            Node::Previously(f) => each(&|i| i > 0 && of(f)[i - 1]),
            Node::WeakPreviously(f) => each(&|i| i == 0 || of(f)[i - 1]),
            Node::Once(window, f) => each(&|i| behind(window, i).any(|j| of(f)[j])),
            Node::Historically(window, f) => each(&|i| behind(window, i).all(|j| of(f)[j])),
            Node::Since(f, g) => {
                let mut since = false;
                let step = |i| {
                    since = of(g)[i] || (of(f)[i] && since);
                    since
                };
                (0..word.len).map(step).collect()
            }
        };
        values[part.index()] = value;
    }
    values[formula.index()][0]
}

/// Returns the length of the word to write out so that every part of the formula repeats with the cycle from there on.
///
/// The value of a past operator begins to repeat after its operands do: one position later for `Y`, one cycle later for
/// `S` and similar operators (over one cycle, the previous value becomes a constant or stays), and after the length of
/// the window for bounds.
fn unrolled(formulas: &Formulas, formula: FormulaId, stem: usize, cycle: usize) -> usize {
    let mut turn = stem;
    for part in formulas.parts(formula) {
        let delay = match formulas.node(part) {
            Node::Previously(_) | Node::WeakPreviously(_) | Node::Since(..) => cycle,
            Node::Once(window, _) | Node::Historically(window, _) => match window {
                Interval::Steps { hi: Some(hi), .. } => hi as usize,
                Interval::Steps { lo, .. } => cycle.saturating_add(lo as usize),
                Interval::Time { .. } => cycle,
            },
            _ => 0,
        };
        turn = turn.saturating_add(delay.div_ceil(cycle).saturating_mul(cycle));
    }
    turn
}

/// A word of `len` positions that continues at position `turn` after the last one.
struct Unrolled {
    turn: usize,
    len: usize,
}

impl Unrolled {
    fn next(&self, i: usize) -> usize {
        if i + 1 < self.len { i + 1 } else { self.turn }
    }

    /// Returns the positions from `i` on, each as often as it can matter for a window that begins `lo` positions ahead.
    fn from(&self, i: usize, lo: usize) -> impl Iterator<Item = usize> {
        let all = std::iter::successors(Some(i), |&j| Some(self.next(j)));
        all.take(lo.saturating_add(self.len).saturating_add(1))
    }

    fn ahead(&self, window: Interval, i: usize) -> impl Iterator<Item = usize> {
        let (lo, hi) = bounds(window);
        let far = hi.map_or(usize::MAX, |hi| hi.saturating_add(1).saturating_sub(lo));
        self.from(i, lo).skip(lo).take(far)
    }

    fn until(&self, window: Interval, i: usize, f: &[bool], g: &[bool]) -> bool {
        let (lo, hi) = bounds(window);
        for (distance, j) in self.from(i, lo).enumerate() {
            if hi.is_some_and(|hi| distance > hi) {
                return false;
            }
            if distance >= lo && g[j] {
                return true;
            }
            if !f[j] {
                return false;
            }
        }
        false
    }
}

/// Returns a window in steps; one in time contains all positions or none, since all have the same time.
fn bounds(window: Interval) -> (usize, Option<usize>) {
    match window {
        _ if window.is_empty() => (1, Some(0)),
        Interval::Steps { lo, hi } => (lo as usize, hi.map(|hi| hi as usize)),
        Interval::Time { lo, .. } if lo > 0 => (1, Some(0)),
        Interval::Time { .. } => (0, None),
    }
}

/// Returns the existing positions of a window that looks back from `i`.
fn behind(window: Interval, i: usize) -> impl Iterator<Item = usize> {
    let (lo, hi) = bounds(window);
    let start = hi.map_or(0, |hi| i.saturating_sub(hi));
    let empty = hi.is_some_and(|hi| hi < lo);
    start..if empty {
        start
    } else {
        (i + 1).saturating_sub(lo)
    }
}
