//! Evaluates formulas over a finite trace, position by position, from the definitions of their operators.
//!
//! Truth values are those of Kleene's three-valued logic: a letter, and the time of a step, may be unknown. With all
//! letters known this is the LTLf value. The same definitions are also evaluated with an *open* end, where everything
//! after the last step is unknown: a value that is then known holds for every continuation.

use super::clock::Clock;
use guard_lang::hir::{Binary, Bound, Formula, Formulas, Unary};
use guard_lang::ids::{AtomId, FormulaId};
use guard_lang::value::Truth;

/// A finite word, with or without an open end.
pub(super) struct Word<'a> {
    pub(super) formulas: &'a Formulas,
    pub(super) clock: &'a Clock,
    /// The truth of a letter at a position.
    pub(super) letter: &'a dyn Fn(AtomId, usize) -> Truth,
    /// The number of positions.
    pub(super) len: usize,
    /// Whether more positions may follow.
    pub(super) open: bool,
}

impl Word<'_> {
    /// Returns the value of the formula at position 0, or on the empty trace.
    pub(super) fn value(&self, id: FormulaId) -> Truth {
        match self.len {
            0 if self.open => Truth::Unknown,
            0 => Truth::from(empty(self.formulas, id)),
            _ => self.column(id).first().copied().unwrap_or(Truth::Unknown),
        }
    }

    /// Returns the truth of a formula at every position.
    fn column(&self, id: FormulaId) -> Vec<Truth> {
        let n = self.len;
        let every = |at: &dyn Fn(usize) -> Truth| (0..n).map(at).collect::<Vec<_>>();
        match *self.formulas.get(id) {
            Formula::True => vec![Truth::True; n],
            Formula::False => vec![Truth::False; n],
            Formula::Atom(letter) => every(&|i| (self.letter)(letter, i)),
            Formula::Last => every(&|i| {
                if i + 1 < n {
                    Truth::False
                } else {
                    self.beyond(Truth::True)
                }
            }),
            Formula::Not(f) => {
                let f = self.column(f);
                every(&|i| !f[i])
            }
            Formula::And(f, g) => self.zip(f, g, Truth::and),
            Formula::Or(f, g) => self.zip(f, g, Truth::or),
            Formula::Implies(f, g) => self.zip(f, g, Truth::implies),
            Formula::Iff(f, g) => self.zip(f, g, Truth::iff),
            Formula::Unary(op, bound, f) => {
                let f = self.column(f);
                every(&|i| self.unary(op, bound, &f, i))
            }
            Formula::Binary(op, bound, f, g) => {
                let (f, g) = (self.column(f), self.column(g));
                every(&|i| self.binary(op, bound, &f, &g, i))
            }
        }
    }

    fn zip(&self, f: FormulaId, g: FormulaId, op: fn(Truth, Truth) -> Truth) -> Vec<Truth> {
        self.column(f)
            .into_iter()
            .zip(self.column(g))
            .map(|(f, g)| op(f, g))
            .collect()
    }

    /// Returns the value at positions that do not exist: unknown if the end is open.
    fn beyond(&self, at_the_end: Truth) -> Truth {
        if self.open {
            Truth::Unknown
        } else {
            at_the_end
        }
    }

    fn unary(&self, op: Unary, bound: Option<Bound>, f: &[Truth], i: usize) -> Truth {
        let within = |j: usize| self.clock.within(bound, i, j);
        let later = || {
            let over = self.clock.is_over(bound, i, self.len);
            if over {
                Truth::False
            } else {
                self.beyond(Truth::False)
            }
        };
        match op {
            // `f` at `i + 1`, which must exist / if it exists
            Unary::Next => f.get(i + 1).copied().unwrap_or(self.beyond(Truth::False)),
            Unary::WeakNext => f.get(i + 1).copied().unwrap_or(self.beyond(Truth::True)),
            // `f` at some / every existing `j` of the window, `i <= j`
            Unary::Eventually => some(i..self.len, |j| within(j).and(f[j])).or(later()),
            Unary::Always => every(i..self.len, |j| within(j).implies(f[j])).and(!later()),
            // `i > 0` and / `i = 0` or `f` at `i - 1`
            Unary::Previously => i.checked_sub(1).map_or(Truth::False, |j| f[j]),
            Unary::WeakPreviously => i.checked_sub(1).map_or(Truth::True, |j| f[j]),
            // `f` at some / every existing `j` of the window, `j <= i`
            Unary::Once => some(0..i + 1, |j| within(j).and(f[j])),
            Unary::Historically => every(0..i + 1, |j| within(j).implies(f[j])),
        }
    }

    fn binary(
        &self,
        op: Binary,
        bound: Option<Bound>,
        f: &[Truth],
        g: &[Truth],
        i: usize,
    ) -> Truth {
        let n = self.len;
        let always = |f: &[Truth]| self.unary(Unary::Always, None, f, i);
        let not = |f: &[Truth]| f.iter().map(|truth| !*truth).collect::<Vec<_>>();
        match op {
            // `g` at some `j` of the window, and `f` at every `k`, `i <= k < j`
            Binary::Until => {
                let here = some(i..n, |j| {
                    self.clock
                        .within(bound, i, j)
                        .and(g[j])
                        .and(every(i..j, |k| f[k]))
                });
                let over = self.clock.is_over(bound, i, n);
                let later = if over {
                    Truth::False
                } else {
                    self.beyond(Truth::False)
                };
                here.or(every(i..n, |k| f[k]).and(later))
            }
            Binary::Unless => self.binary(Binary::Until, None, f, g, i).or(always(f)),
            Binary::Release => !self.binary(Binary::Until, None, &not(f), &not(g), i),
            Binary::StrongRelease => {
                let eventually = self.unary(Unary::Eventually, None, f, i);
                self.binary(Binary::Release, None, f, g, i).and(eventually)
            }
            // `g` at some `j <= i`, and `f` at every `k`, `j < k <= i`
            Binary::Since => some(0..i + 1, |j| g[j].and(every(j + 1..i + 1, |k| f[k]))),
            Binary::BackTo => self.binary(Binary::Since, None, f, g, i).or(self.unary(
                Unary::Historically,
                None,
                f,
                i,
            )),
        }
    }
}

fn some(positions: std::ops::Range<usize>, at: impl Fn(usize) -> Truth) -> Truth {
    positions.fold(Truth::False, |some, j| some.or(at(j)))
}

fn every(positions: std::ops::Range<usize>, at: impl Fn(usize) -> Truth) -> Truth {
    positions.fold(Truth::True, |every, j| every.and(at(j)))
}

/// Returns the value on the empty trace: letters and existential operators are false, universal operators and `last` are true.
pub(super) fn empty(formulas: &Formulas, id: FormulaId) -> bool {
    let empty = |id| empty(formulas, id);
    match *formulas.get(id) {
        // `last` is `N false`.
        Formula::True | Formula::Last => true,
        Formula::False | Formula::Atom(_) => false,
        Formula::Not(f) => !empty(f),
        Formula::And(f, g) => empty(f) && empty(g),
        Formula::Or(f, g) => empty(f) || empty(g),
        Formula::Implies(f, g) => !empty(f) || empty(g),
        Formula::Iff(f, g) => empty(f) == empty(g),
        Formula::Unary(op, ..) => {
            matches!(
                op,
                Unary::WeakNext | Unary::Always | Unary::WeakPreviously | Unary::Historically
            )
        }
        Formula::Binary(op, ..) => matches!(op, Binary::Unless | Binary::Release | Binary::BackTo),
    }
}
