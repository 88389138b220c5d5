//! Laws of infinite words that make formulas smaller, or their automata.
//!
//! A formula is *eventual* when, being true at a position, it is true at all earlier ones, and *universal* when it is true at
//! all later ones. `F f` is eventual, `G f` universal, and `G F f` and `F G f` are both: they have the same value at every
//! position, so they can be moved out of any future operator.
//!
//! None of these laws holds on finite words, where `X` may have no next position.
//!
//! # Source
//! K. Etessami, G. Holzmann, "Optimizing Büchi automata", 2000; F. Somenzi, R. Bloem, "Efficient Büchi automata from LTL
//! formulae", 2000; T. Babiak and others, "LTL to Büchi automata translation: fast and more deterministic", 2012.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::formula::{FormulaId, Formulas, Interval, Node};

/// Returns an equivalent formula for infinite words, in the same arena.
///
/// # Limits
/// Polynomial in the formula. A formula nested deeper than [`DEPTH`] is not changed, because the laws are applied
/// recursively.
pub(super) fn simplify(formulas: &mut Formulas, formula: FormulaId) -> FormulaId {
    let parts = formulas.parts(formula);
    let mut depth = vec![0u32; formula.index() + 1];
    for &part in &parts {
        let below = formulas
            .node(part)
            .operands()
            .map(|f| depth[f.index()])
            .max();
        depth[part.index()] = below.map_or(0, |below| below + 1);
    }
    if depth[formula.index()] > DEPTH {
        return formula;
    }
    let mut made = vec![formula; formula.index() + 1];
    let mut rules = Rules::new(formulas);
    for part in parts {
        let of = |f: FormulaId| made[f.index()];
        made[part.index()] = match rules.formulas.node(part) {
            Node::True | Node::False | Node::Atom(_) => part,
            Node::Not(f) => rules.not(of(f)),
            Node::And(f, g) => rules.and(&[of(f), of(g)]),
            Node::Or(f, g) => rules.or(&[of(f), of(g)]),
            Node::Next(f) | Node::WeakNext(f) => rules.next(of(f)),
            Node::Eventually(Interval::ALL, f) => rules.eventually(of(f)),
            Node::Always(Interval::ALL, f) => {
                let inner = rules.not(of(f));
                let outer = rules.eventually(inner);
                rules.not(outer)
            }
            Node::Until(f, Interval::ALL, g) => rules.until(of(f), of(g)),
            Node::Eventually(window, f) => rules.formulas.eventually(window, of(f)),
            Node::Always(window, f) => rules.formulas.always(window, of(f)),
            Node::Until(f, window, g) => rules.formulas.until(of(f), window, of(g)),
            Node::Previously(f) => rules.formulas.previously(of(f)),
            Node::WeakPreviously(f) => rules.formulas.weak_previously(of(f)),
            Node::Once(window, f) => rules.formulas.once(window, of(f)),
            Node::Historically(window, f) => rules.formulas.historically(window, of(f)),
            Node::Since(f, g) => rules.formulas.since(of(f), of(g)),
        };
    }
    made[formula.index()]
}

/// Returns a formula in which waiting may save a state. Disjuncts with the same value at every position are moved into an
/// eventual disjunct, as in `F (f | G F g)` for `F f | G F g`; a whole formula with the same value at every position is put
/// under `F`. Only applied at the top, because below a conjunction it would multiply states.
pub(super) fn gathered(formulas: &mut Formulas, formula: FormulaId) -> FormulaId {
    Rules::new(formulas).gathered(formula)
}

/// Levels of nesting up to which formulas are simplified.
const DEPTH: u32 = 200;

struct Rules<'a> {
    formulas: &'a mut Formulas,
    negations: FxHashMap<FormulaId, FormulaId>,
    eventual: FxHashMap<FormulaId, bool>,
    universal: FxHashMap<FormulaId, bool>,
}

impl<'a> Rules<'a> {
    fn new(formulas: &'a mut Formulas) -> Rules<'a> {
        Rules {
            formulas,
            negations: FxHashMap::default(),
            eventual: FxHashMap::default(),
            universal: FxHashMap::default(),
        }
    }

    fn gathered(&mut self, f: FormulaId) -> FormulaId {
        if self.is_stable(f) {
            return self.formulas.eventually(Interval::ALL, f);
        }
        let (mut stable, mut rest) = self.stable(f, false);
        let waits = |formulas: &Formulas, part: &FormulaId| {
            matches!(formulas.node(*part), Node::Eventually(Interval::ALL, _))
        };
        // `F G g` is both stable and an `F` formula, so it may be the waiting part if there is no other one.
        let place = rest.iter().position(|part| waits(self.formulas, part));
        let waiting = match place {
            Some(place) => rest.swap_remove(place),
            None => match stable.iter().position(|part| waits(self.formulas, part)) {
                Some(place) => stable.swap_remove(place),
                None => return f,
            },
        };
        if stable.is_empty() {
            return f;
        }
        if let Node::Eventually(_, inner) = self.formulas.node(waiting) {
            stable.push(inner);
        }
        let inner = self.formulas.any(stable);
        rest.push(self.formulas.eventually(Interval::ALL, inner));
        self.formulas.any(rest)
    }

    /// Negates a formula. Negation moves inward, so that every law needs stating for one operator of a pair of duals.
    fn not(&mut self, f: FormulaId) -> FormulaId {
        if let Some(&known) = self.negations.get(&f) {
            return known;
        }
        let made = match self.formulas.node(f) {
            Node::Next(g) => {
                let inner = self.not(g);
                self.formulas.next(inner)
            }
            Node::And(g, h) => {
                let (g, h) = (self.not(g), self.not(h));
                self.formulas.or(g, h)
            }
            Node::Or(g, h) => {
                let (g, h) = (self.not(g), self.not(h));
                self.formulas.and(g, h)
            }
            Node::Eventually(Interval::ALL, g) => {
                let inner = self.not(g);
                self.formulas.always(Interval::ALL, inner)
            }
            Node::Always(Interval::ALL, g) => {
                let inner = self.not(g);
                self.formulas.eventually(Interval::ALL, inner)
            }
            _ => self.formulas.not(f),
        };
        self.negations.insert(f, made);
        self.negations.insert(made, f);
        made
    }

    fn next(&mut self, f: FormulaId) -> FormulaId {
        match self.formulas.node(f) {
            Node::True | Node::False => f,
            _ if self.is_stable(f) => f,
            _ => self.formulas.next(f),
        }
    }

    fn eventually(&mut self, f: FormulaId) -> FormulaId {
        if self.is_eventual(f) {
            return f;
        }
        match self.formulas.node(f) {
            Node::Next(g) => {
                let inner = self.eventually(g);
                self.next(inner)
            }
            Node::Until(_, Interval::ALL, g) => self.eventually(g),
            Node::Or(..) => {
                let parts: Vec<FormulaId> = self.operands(f, false);
                let parts: Vec<FormulaId> = parts
                    .into_iter()
                    .map(|part| self.eventually(part))
                    .collect();
                self.or(&parts)
            }
            Node::And(..) => {
                let (stable, rest) = self.stable(f, true);
                if stable.is_empty() {
                    return self.formulas.eventually(Interval::ALL, f);
                }
                let rest = self.and(&rest);
                let mut parts = stable;
                parts.push(self.eventually(rest));
                self.and(&parts)
            }
            Node::Always(Interval::ALL, g) => match self.formulas.node(g) {
                Node::Next(h) => {
                    let always = self.always(h);
                    self.eventually(always)
                }
                // `F G (a | G b)` is `F G a | F G b`, the dual of `G F (a & F b)`.
                Node::Or(..) => {
                    let parts = self.operands(g, false);
                    let universal = |part: &FormulaId| self.is_universal(*part);
                    let (always, other): (Vec<_>, Vec<_>) = parts.into_iter().partition(universal);
                    if always.is_empty() {
                        return self.formulas.eventually(Interval::ALL, f);
                    }
                    let mut parts: Vec<FormulaId> = always
                        .into_iter()
                        .map(|part| self.eventually(part))
                        .collect();
                    let other = self.or(&other);
                    let other = self.always(other);
                    parts.push(self.eventually(other));
                    self.or(&parts)
                }
                _ => self.formulas.eventually(Interval::ALL, f),
            },
            _ => self.formulas.eventually(Interval::ALL, f),
        }
    }

    fn always(&mut self, f: FormulaId) -> FormulaId {
        let inner = self.not(f);
        let outer = self.eventually(inner);
        self.not(outer)
    }

    fn until(&mut self, f: FormulaId, g: FormulaId) -> FormulaId {
        if self.is_eventual(g) {
            return g;
        }
        match (self.formulas.node(f), self.formulas.node(g)) {
            (Node::True, _) => self.eventually(g),
            (Node::False, _) | (_, Node::True | Node::False) => g,
            (Node::Next(f), Node::Next(g)) => {
                let inner = self.until(f, g);
                self.next(inner)
            }
            _ if f == g => g,
            _ if self.not(f) == g => self.eventually(g),
            (_, Node::And(..)) => {
                let (stable, rest) = self.stable(g, true);
                if stable.is_empty() {
                    return self.formulas.until(f, Interval::ALL, g);
                }
                let rest = self.and(&rest);
                let mut parts = stable;
                parts.push(self.until(f, rest));
                self.and(&parts)
            }
            (_, Node::Or(..)) => {
                let (stable, rest) = self.stable(g, false);
                if stable.is_empty() {
                    return self.formulas.until(f, Interval::ALL, g);
                }
                let rest = self.or(&rest);
                let mut parts = stable;
                parts.push(self.until(f, rest));
                self.or(&parts)
            }
            _ => self.formulas.until(f, Interval::ALL, g),
        }
    }

    fn and(&mut self, parts: &[FormulaId]) -> FormulaId {
        let negated: Vec<FormulaId> = parts.iter().map(|&part| self.not(part)).collect();
        let either = self.or(&negated);
        self.not(either)
    }

    /// Returns the disjunction: `X f | X g` is `X (f | g)`, and so for `F`.
    fn or(&mut self, parts: &[FormulaId]) -> FormulaId {
        let mut flat: Vec<FormulaId> = Vec::new();
        for &part in parts {
            for operand in self.operands(part, false) {
                if !flat.contains(&operand) {
                    flat.push(operand);
                }
            }
        }
        let (mut nexts, mut finally, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for &part in &flat {
            match self.formulas.node(part) {
                Node::Next(f) => nexts.push(f),
                // `F G f` stays separate: it has the same value at every position, which `F (G f | g)` would hide.
                Node::Eventually(Interval::ALL, f) if !self.is_stable(part) => finally.push(f),
                _ => rest.push(part),
            }
        }
        self.first_ends(&mut finally, &mut rest);
        // `G F f | G F g` is `G F (f | g)`.
        let often = |formulas: &Formulas, part: FormulaId| match formulas.node(part) {
            Node::Always(Interval::ALL, f) => match formulas.node(f) {
                Node::Eventually(Interval::ALL, g) => Some(g),
                _ => None,
            },
            _ => None,
        };
        let again: Vec<FormulaId> = rest
            .iter()
            .filter_map(|&part| often(self.formulas, part))
            .collect();
        rest.retain(|&part| often(self.formulas, part).is_none());
        if nexts.len() > 1 {
            let inner = self.or(&nexts);
            rest.push(self.next(inner));
        } else {
            rest.extend(nexts.into_iter().map(|f| self.formulas.next(f)));
        }
        if !again.is_empty() {
            let inner = self.or(&again);
            let outer = self.formulas.eventually(Interval::ALL, inner);
            rest.push(self.formulas.always(Interval::ALL, outer));
        }
        if !finally.is_empty() {
            let inner = match finally[..] {
                [only] => only,
                _ => self.or(&finally),
            };
            rest.push(self.formulas.eventually(Interval::ALL, inner));
        }
        rest.sort_unstable();
        rest.dedup();
        let negations: Vec<FormulaId> = rest.iter().map(|&part| self.not(part)).collect();
        if negations.iter().any(|part| rest.contains(part)) {
            return self.formulas.verum();
        }
        self.absorb(&mut rest);
        self.formulas.any(rest)
    }

    /// `G f | F (!f & e)`, where `e` is eventual, constrains the first position at which `f` ends: `f W (!f & e)`.
    fn first_ends(&mut self, finally: &mut Vec<FormulaId>, rest: &mut [FormulaId]) {
        let mut index = 0;
        while index < finally.len() {
            let parts = self.operands(finally[index], true);
            let ends = |rules: &mut Self, always: FormulaId| match rules.formulas.node(always) {
                Node::Always(Interval::ALL, f) => {
                    let end = rules.not(f);
                    let others = parts
                        .iter()
                        .all(|&part| part == end || rules.is_eventual(part));
                    (parts.contains(&end) && others).then_some(f)
                }
                _ => None,
            };
            let found = (0..rest.len()).find_map(|place| Some((place, ends(self, rest[place])?)));
            if let Some((place, f)) = found {
                let end = finally.swap_remove(index);
                let not_end = self.not(end);
                let others: Vec<FormulaId> = parts
                    .into_iter()
                    .filter(|&part| self.not(part) != f)
                    .collect();
                let mut goes_on = self.formulas.all(others);
                goes_on = self.formulas.or(f, goes_on);
                let breaks = self.not(goes_on);
                let until = self.formulas.until(not_end, Interval::ALL, breaks);
                rest[place] = self.formulas.not(until);
            } else {
                index += 1;
            }
        }
    }

    /// Drops a conjunction of which a part, or a subset of the parts, is a disjunct itself.
    fn absorb(&mut self, parts: &mut Vec<FormulaId>) {
        let sets: Vec<Vec<FormulaId>> = parts
            .iter()
            .map(|&part| self.operands(part, true))
            .collect();
        let within =
            |small: &[FormulaId], large: &[FormulaId]| small.iter().all(|f| large.contains(f));
        let mut index = 0;
        parts.retain(|_| {
            let here = index;
            index += 1;
            !sets.iter().enumerate().any(|(other, set)| {
                other != here
                    && within(set, &sets[here])
                    && (set.len() < sets[here].len() || other < here)
            })
        });
    }

    /// Returns the parts of a conjunction or disjunction that have the same value at every position, and the other
    /// parts.
    fn stable(&mut self, f: FormulaId, conjunction: bool) -> (Vec<FormulaId>, Vec<FormulaId>) {
        let parts = self.operands(f, conjunction);
        parts.into_iter().partition(|&part| self.is_stable(part))
    }

    /// Returns the operands of nested conjunctions, or disjunctions, each once.
    fn operands(&self, f: FormulaId, conjunction: bool) -> Vec<FormulaId> {
        let mut parts = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack = vec![f];
        while let Some(part) = stack.pop() {
            if !seen.insert(part) {
                continue;
            }
            match self.formulas.node(part) {
                Node::And(g, h) if conjunction => stack.extend([h, g]),
                Node::Or(g, h) if !conjunction => stack.extend([h, g]),
                _ => parts.push(part),
            }
        }
        parts
    }

    /// Whether the formula, being true, was true at all earlier positions; `F f` is then `f`. The test is sufficient,
    /// not necessary.
    fn is_eventual(&mut self, f: FormulaId) -> bool {
        if let Some(&known) = self.eventual.get(&f) {
            return known;
        }
        let found = match self.formulas.node(f) {
            Node::True | Node::False | Node::Eventually(Interval::ALL, _) => true,
            Node::And(g, h) | Node::Or(g, h) => self.is_eventual(g) && self.is_eventual(h),
            Node::Next(g) | Node::Always(Interval::ALL, g) | Node::Until(_, Interval::ALL, g) => {
                self.is_eventual(g)
            }
            Node::Not(g) => self.is_universal(g),
            _ => false,
        };
        self.eventual.insert(f, found);
        found
    }

    /// Whether the formula, being true, stays true at all later positions; `G f` is then `f`. The test is sufficient,
    /// not necessary.
    fn is_universal(&mut self, f: FormulaId) -> bool {
        if let Some(&known) = self.universal.get(&f) {
            return known;
        }
        let found = match self.formulas.node(f) {
            Node::True | Node::False | Node::Always(Interval::ALL, _) => true,
            Node::And(g, h) | Node::Or(g, h) => self.is_universal(g) && self.is_universal(h),
            Node::Next(g)
            | Node::Eventually(Interval::ALL, g)
            | Node::Until(_, Interval::ALL, g) => self.is_universal(g),
            Node::Not(g) => self.is_eventual(g),
            _ => false,
        };
        self.universal.insert(f, found);
        found
    }

    /// Whether the formula has the same value at every position.
    fn is_stable(&mut self, f: FormulaId) -> bool {
        self.is_eventual(f) && self.is_universal(f)
    }
}
