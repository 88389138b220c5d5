//! Reasoning about bounds in time without a clock.
//!
//! A part that is bounded in time becomes an atom with facts that hold for every clock: a wider window has more witnesses, a
//! window that begins now contains the current step, and an unbounded window contains all steps. A conclusion from these facts
//! holds for every clock. If a formula does not follow from them, nothing is concluded.

use indexmap::IndexMap;

use guard_automata::{Atom, FormulaId, Formulas, Interval, Node};

/// Atoms from this number on represent parts that are bounded in time; atoms of the core have lower numbers.
const FIRST: u32 = 1 << 24;

/// The greatest number of parts with which each part is compared.
const COMPARED: usize = 16;

/// The parts that are bounded in time, each with its atom.
#[derive(Debug, Default)]
pub(crate) struct Timed {
    parts: IndexMap<Node, FormulaId, rustc_hash::FxBuildHasher>,
}

impl Timed {
    /// Returns the formula with an atom in place of every part that is bounded in time.
    pub(crate) fn untimed(&mut self, formulas: &mut Formulas, formula: FormulaId) -> FormulaId {
        if !formulas.is_timed(formula) {
            return formula;
        }
        let mut made = vec![formula; formula.index() + 1];
        for part in formulas.parts(formula) {
            let at = |part: FormulaId| made[part.index()];
            made[part.index()] = match formulas.node(part) {
                Node::True => formulas.verum(),
                Node::False => formulas.falsum(),
                Node::Atom(atom) => formulas.atom(atom),
                Node::Not(f) => formulas.not(at(f)),
                Node::And(f, g) => formulas.and(at(f), at(g)),
                Node::Or(f, g) => formulas.or(at(f), at(g)),
                Node::Next(f) => formulas.next(at(f)),
                Node::WeakNext(f) => formulas.weak_next(at(f)),
                Node::Previously(f) => formulas.previously(at(f)),
                Node::WeakPreviously(f) => formulas.weak_previously(at(f)),
                Node::Since(f, g) => formulas.since(at(f), at(g)),
                Node::Eventually(window, f) => {
                    self.place(formulas, window, Node::Eventually(window, at(f)))
                }
                Node::Always(window, f) => {
                    self.place(formulas, window, Node::Always(window, at(f)))
                }
                Node::Once(window, f) => self.place(formulas, window, Node::Once(window, at(f))),
                Node::Historically(window, f) => {
                    self.place(formulas, window, Node::Historically(window, at(f)))
                }
                Node::Until(f, window, g) => {
                    self.place(formulas, window, Node::Until(at(f), window, at(g)))
                }
            };
        }
        made[formula.index()]
    }

    fn place(&mut self, formulas: &mut Formulas, window: Interval, node: Node) -> FormulaId {
        if matches!(window, Interval::Steps { .. }) {
            return unbounded(formulas, node, window);
        }
        let next = FIRST.saturating_add(u32::try_from(self.parts.len()).unwrap_or(0));
        *self
            .parts
            .entry(node)
            .or_insert_with(|| formulas.atom(Atom(next)))
    }

    /// Whether there are parts that are bounded in time.
    pub(crate) fn is_needed(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Returns the conjunction of the known facts about the atoms at every position; true if there are none.
    pub(crate) fn known(&self, formulas: &mut Formulas) -> FormulaId {
        let mut known = Vec::new();
        for (node, atom) in &self.parts {
            let wide = unbounded(formulas, *node, Interval::ALL);
            let now = node
                .interval()
                .is_some_and(|window| matches!(window, Interval::Time { lo, .. } if lo <= 0));
            let (inner, outer) = match node {
                // A witness within the window is also a witness without a bound.
                Node::Eventually(_, f) | Node::Once(_, f) | Node::Until(_, _, f) => {
                    (Some(*f), wide)
                }
                // A condition that holds always also holds within the window.
                Node::Always(_, f) | Node::Historically(_, f) => (Some(*f), wide),
                _ => (None, wide),
            };
            let existential = !matches!(node, Node::Always(..) | Node::Historically(..));
            if existential {
                known.push(formulas.implies(*atom, outer));
            } else {
                known.push(formulas.implies(outer, *atom));
            }
            if let Some(inner) = inner.filter(|_| now) {
                known.push(if existential {
                    formulas.implies(inner, *atom)
                } else {
                    formulas.implies(*atom, inner)
                });
            }
            for (other, implied) in self.parts.iter().take(COMPARED) {
                if atom != implied
                    && let Some(premise) = premise(formulas, node, other)
                {
                    let follows = formulas.implies(*atom, *implied);
                    known.push(formulas.implies(premise, follows));
                }
            }
        }
        let all = formulas.all(known);
        match formulas.node(all) {
            Node::True => all,
            _ => formulas.always(Interval::ALL, all),
        }
    }
}

/// Returns the same operator over another window.
fn unbounded(formulas: &mut Formulas, node: Node, window: Interval) -> FormulaId {
    match node {
        Node::Eventually(_, f) => formulas.eventually(window, f),
        Node::Always(_, f) => formulas.always(window, f),
        Node::Once(_, f) => formulas.once(window, f),
        Node::Historically(_, f) => formulas.historically(window, f),
        Node::Until(f, _, g) => formulas.until(f, window, g),
        _ => formulas.verum(),
    }
}

/// Returns the condition under which one part implies another: the same operator, over a window that is no stricter, of
/// operands that imply each other wherever the operator looks.
fn premise(formulas: &mut Formulas, node: &Node, other: &Node) -> Option<FormulaId> {
    let (inner, outer) = (node.interval()?, other.interval()?);
    let mut over = |future: bool, f: FormulaId, g: FormulaId| {
        let implied = formulas.implies(f, g);
        match formulas.node(implied) {
            Node::True => implied,
            _ if f == g => formulas.verum(),
            _ if future => formulas.always(Interval::ALL, implied),
            _ => formulas.historically(Interval::ALL, implied),
        }
    };
    match (*node, *other) {
        (Node::Eventually(_, f), Node::Eventually(_, g)) if within(inner, outer) => {
            Some(over(true, f, g))
        }
        (Node::Once(_, f), Node::Once(_, g)) if within(inner, outer) => Some(over(false, f, g)),
        (Node::Always(_, f), Node::Always(_, g)) if within(outer, inner) => Some(over(true, f, g)),
        (Node::Historically(_, f), Node::Historically(_, g)) if within(outer, inner) => {
            Some(over(false, f, g))
        }
        (Node::Until(a, _, f), Node::Until(b, _, g)) if within(inner, outer) => {
            let (stay, reach) = (over(true, a, b), over(true, f, g));
            Some(formulas.and(stay, reach))
        }
        _ => None,
    }
}

/// Whether one window in time lies within another.
fn within(inner: Interval, outer: Interval) -> bool {
    match (inner, outer) {
        (Interval::Time { lo, hi }, Interval::Time { lo: low, hi: high }) => {
            low <= lo && high.is_none_or(|high| hi.is_some_and(|hi| hi <= high))
        }
        _ => false,
    }
}
