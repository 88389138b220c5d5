//! `G φ` with prohibitions that look back for what called for them.
//!
//! `G (a -> G !b)` and `G (b -> H !a)` are satisfied by the same traces. They differ in the position to which a violation belongs: the
//! first one to that of `a`, the second one to that of `b`. A monitor that goes on after a violation with the next position and its
//! past finds every further `b` only with the second one: the obligation of the first one has been violated, and is over.
//!
//! # Source
//! O. Maler, D. Nickovic, A. Pnueli, "On synthesizing controllers from bounded-response properties", 2007, for bounded operators; the
//! rules below also cover unbounded ones that only prohibit: nothing of these has to be delayed.

use rustc_hash::FxHashMap;

use super::formula::{Atom, FormulaId, Formulas, Interval, Node};

impl Formulas {
    /// Returns `G (start -> ψ)` for a ψ such that `G ψ` and `G φ` are satisfied by the same traces, and that looks back as far as possible
    /// (see the module). `start` must not occur in φ. [`Dfa::recurring`](crate::Dfa::recurring) makes of it the automaton that goes on
    /// after violations.
    pub fn watched_on(&mut self, phi: FormulaId, start: Atom) -> FormulaId {
        let never = self.falsum();
        let mut rewriting = Rewriting {
            looks_ahead: FxHashMap::default(),
            formulas: self,
        };
        let psi = rewriting.either(never, phi, true);
        self.started(psi, start)
    }

    /// Returns `G (start -> f)`.
    pub fn started(&mut self, f: FormulaId, start: Atom) -> FormulaId {
        let start = self.atom(start);
        let asked = self.implies(start, f);
        self.always(Interval::ALL, asked)
    }
}

struct Rewriting<'a> {
    formulas: &'a mut Formulas,
    looks_ahead: FxHashMap<FormulaId, bool>,
}

impl Rewriting<'_> {
    /// Whether a formula depends on later positions.
    fn looks_ahead(&mut self, formula: FormulaId) -> bool {
        if let Some(&known) = self.looks_ahead.get(&formula) {
            return known;
        }
        for part in self.formulas.parts(formula) {
            let node = self.formulas.node(part);
            let ahead = matches!(
                node,
                Node::Next(_)
                    | Node::WeakNext(_)
                    | Node::Eventually(..)
                    | Node::Always(..)
                    | Node::Until(..)
            );
            let ahead = ahead || node.operands().any(|part| self.looks_ahead[&part]);
            self.looks_ahead.insert(part, ahead);
        }
        self.looks_ahead[&formula]
    }

    /// Returns the formula itself, or its negation.
    fn signed(&mut self, formula: FormulaId, positive: bool) -> FormulaId {
        if positive {
            formula
        } else {
            self.formulas.not(formula)
        }
    }

    /// Returns a ψ such that `G ψ` is `G (p | φ)`, or `G (p | !φ)` if not `positive`. `p` does not look ahead.
    ///
    /// The depth of the recursion is that of φ.
    fn either(&mut self, p: FormulaId, phi: FormulaId, positive: bool) -> FormulaId {
        if self.looks_ahead(phi) {
            match self.formulas.node(phi) {
                Node::Not(f) => return self.either(p, f, !positive),
                Node::And(f, g) if positive => return self.both(p, f, g, positive),
                Node::Or(f, g) if !positive => return self.both(p, f, g, positive),
                Node::And(f, g) | Node::Or(f, g) => {
                    let (now, later) = if self.looks_ahead(f) { (g, f) } else { (f, g) };
                    if !self.looks_ahead(now) {
                        let now = self.signed(now, positive);
                        let p = self.formulas.or(p, now);
                        return self.either(p, later, positive);
                    }
                }
                Node::Always(window, f) if positive => {
                    let p = self.formulas.historically(window, p);
                    return self.either(p, f, positive);
                }
                Node::Eventually(window, f) if !positive => {
                    let p = self.formulas.historically(window, p);
                    return self.either(p, f, positive);
                }
                // Only the end of a trace violates that there is a next position.
                next @ (Node::Next(f) | Node::WeakNext(f)) => {
                    let before = self.formulas.weak_previously(p);
                    let kept = self.either(before, f, positive);
                    if matches!(next, Node::Next(_)) != positive {
                        return kept;
                    }
                    let verum = self.formulas.verum();
                    let more = self.formulas.next(verum);
                    let more = self.formulas.or(p, more);
                    return self.formulas.and(kept, more);
                }
                // The first `k`, which must come unless it is negated, satisfies `h`.
                Node::Until(f, Interval::ALL, g) if let Some((k, h, is)) = self.first(f, g) => {
                    let skipped = self.formulas.not(k);
                    let before = self.unless_since(p, skipped, Interval::ALL);
                    let before = self.formulas.or(before, skipped);
                    let kept = self.either(before, h, is == positive);
                    if !positive {
                        return kept;
                    }
                    let comes = self.formulas.eventually(Interval::ALL, k);
                    let comes = self.formulas.or(p, comes);
                    return self.formulas.and(kept, comes);
                }
                // `f U[0,h] g`: neither `f` nor `g` is missing until `g` comes, and it does within the window. A `g` that depends on later
                // positions does not come before its part about the present holds: that much is found again.
                Node::Until(f, window, g) if begins_now(window) && positive => {
                    let now = self.present(g, true);
                    let open = self.formulas.not(now);
                    let waiting = self.unless_since(p, open, window);
                    let waiting = self.formulas.or(waiting, now);
                    let kept = self.either(waiting, f, true);
                    let owed = match now == g {
                        true => self.formulas.eventually(window, g),
                        false => phi,
                    };
                    let owed = self.formulas.or(p, owed);
                    return self.formulas.and(kept, owed);
                }
                // `!(f U[0,h] g)`: no `g` within the window of a position without `p` since which `f` has held; of an `f` that depends
                // on later positions, its part about the present.
                Node::Until(f, window, g) if begins_now(window) => {
                    let now = self.present(f, false);
                    let before = self.unless_since(p, now, window);
                    if now == f {
                        return self.either(before, g, false);
                    }
                    let g = self.present(g, false);
                    let kept = self.either(before, g, false);
                    let phi = self.formulas.not(phi);
                    let whole = self.formulas.or(p, phi);
                    return self.formulas.and(kept, whole);
                }
                _ => {}
            }
        }
        let phi = self.signed(phi, positive);
        self.formulas.or(p, phi)
    }

    /// Returns `k`, `h` and the sign of `h` if `f U g` says that there is a first `k` and that it satisfies `h`, or does not: the next
    /// step of those that `where` keeps is written so.
    fn first(&mut self, f: FormulaId, g: FormulaId) -> Option<(FormulaId, FormulaId, bool)> {
        let node = |formula| self.formulas.node(formula);
        let Node::Not(ends) = node(f) else {
            return None;
        };
        let (k, h, is) = match (node(ends), node(g)) {
            // `!k U (k & h)`
            (_, Node::And(k, h)) if ends == k => (k, h, true),
            // `!(k & h) U !(!k | (k & h))`: `!k W (k & h)` is the negation of it.
            (Node::And(k, h), Node::Not(either)) => match node(either) {
                Node::Or(skipped, there) if there == ends && node(skipped) == Node::Not(k) => {
                    (k, h, false)
                }
                _ => return None,
            },
            _ => return None,
        };
        (!self.looks_ahead(k) && self.looks_ahead(h)).then_some((k, h, is))
    }

    /// Returns a formula about this position and earlier ones that follows from a formula (`weaker`), or from which it follows.
    fn present(&mut self, formula: FormulaId, weaker: bool) -> FormulaId {
        if !self.looks_ahead(formula) {
            return formula;
        }
        match self.formulas.node(formula) {
            Node::Not(f) => {
                let f = self.present(f, !weaker);
                self.formulas.not(f)
            }
            Node::And(f, g) => {
                let (f, g) = (self.present(f, weaker), self.present(g, weaker));
                self.formulas.and(f, g)
            }
            Node::Or(f, g) => {
                let (f, g) = (self.present(f, weaker), self.present(g, weaker));
                self.formulas.or(f, g)
            }
            _ if weaker => self.formulas.verum(),
            _ => self.formulas.falsum(),
        }
    }

    fn both(&mut self, p: FormulaId, f: FormulaId, g: FormulaId, positive: bool) -> FormulaId {
        let (f, g) = (self.either(p, f, positive), self.either(p, g, positive));
        self.formulas.and(f, g)
    }

    /// Returns that `p` holds, and held at each position of the window, which begins now, since which `f` has held up to the last one.
    /// Of these positions without `p`, the last one is in the window if any is.
    fn unless_since(&mut self, p: FormulaId, f: FormulaId, window: Interval) -> FormulaId {
        let formulas = &mut *self.formulas;
        let called = formulas.not(p);
        let began = formulas.and(called, f);
        let since = formulas.since(f, began);
        let mut since = formulas.previously(since);
        if window != Interval::ALL {
            // If the window finds this position only, `p` does not hold at it.
            let recent = formulas.once(window, began);
            since = formulas.and(since, recent);
        }
        let called = formulas.or(called, since);
        formulas.not(called)
    }
}

/// Whether a window begins at the position itself.
fn begins_now(window: Interval) -> bool {
    matches!(
        window,
        Interval::Steps { lo: 0, .. } | Interval::Time { lo: ..=0, .. }
    )
}

#[cfg(test)]
mod tests {
    use super::super::{Dfa, Limits, compile};
    use super::*;

    fn automaton(formulas: &Formulas, formula: FormulaId) -> Dfa {
        compile(formulas, formula, &Limits::default()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Each further `b` after `a` is found again, and so is what a new `a` prohibits at the position of a violation.
    #[test]
    fn what_is_prohibited_stays_prohibited() {
        let mut formulas = Formulas::new();
        let [a, b, c] = [0, 1, 2].map(|atom| formulas.atom(Atom(atom)));
        let ever = formulas.eventually(Interval::ALL, b);
        let leak = formulas.and(a, ever);
        let no_leak = formulas.not(leak);
        let not_b = formulas.not(b);
        let until = formulas.unless(not_b, c);
        let waits = formulas.implies(a, until);
        let soon = formulas.always(Interval::steps(1, 2), not_b);
        let quiet = formulas.implies(a, soon);
        let strong = formulas.until(not_b, Interval::ALL, c);
        let strong = formulas.implies(a, strong);
        let answer = formulas.eventually(Interval::steps(1, 2), b);
        let answered = formulas.implies(a, answer);
        let never_b = formulas.always(Interval::ALL, not_b);
        let strictly = formulas.next(never_b);
        let strictly = formulas.implies(a, strictly);
        let within = formulas.until(not_b, Interval::steps(0, 3), c);
        let within = formulas.implies(a, within);
        // `next always not b` at the steps with `c`.
        let skipped = formulas.not(c);
        let kept_b = formulas.and(c, b);
        let no_kept = formulas.not(kept_b);
        let always_kept = formulas.always(Interval::ALL, no_kept);
        let there = formulas.and(c, always_kept);
        let kept = formulas.unless(skipped, there);
        let kept = formulas.weak_next(kept);
        let kept = formulas.implies(a, kept);
        let then = formulas.next(a);
        let sequence = formulas.and(c, then);
        let sequence = formulas.unless(not_b, sequence);
        let sequence = formulas.implies(a, sequence);
        for (phi, word, expected) in [
            (no_leak, "b,a,b,-,b,ab,b", "..v.vvv"),
            (waits, "b,a,b,b,c,b,ab,b,bc", "..vv..vv."),
            (quiet, "a,b,b,b,ab,b,-,b", ".vv..v.."),
            (strong, "a,b,b,c,b", ".vv.."),
            // A deadline that was missed is over.
            (answered, "a,-,-,-,a,-,b", "..v...."),
            (strictly, "a,b,-,b,a,b", ".v.v.v"),
            (within, "a,b,b,b,b,a,c,b", ".vvv...."),
            (kept, "a,bc,b,bc,b,bc", ".v.v.v"),
            (sequence, "a,b,b,c,-,b,c,a,b", ".vv.....v"),
        ] {
            let start = Atom(3);
            let watched = formulas.watched_on(phi, start);
            let recurring = automaton(&formulas, watched).recurring(start, &Limits::default());
            let recurring = recurring.unwrap();
            let mut state = recurring.dfa.initial();
            let mut found = String::new();
            for letters in word.split(',') {
                state = recurring.dfa.step(state, |atom| {
                    letters.contains(['a', 'b', 'c'][atom.0 as usize])
                });
                found.push(if recurring.violated[state.index()] {
                    'v'
                } else {
                    '.'
                });
            }
            assert_eq!(found, expected, "{word}");
        }
    }
}
