//! Formulas: temporal logic over atoms, read over finite traces (LTLf with past and bounds).

use serde::{Deserialize, Serialize};
use std::collections::BinaryHeap;
use std::hash::BuildHasherDefault;

use indexmap::IndexSet;
use rustc_hash::{FxHashSet, FxHasher};
use smol_str::SmolStr;

pub use super::expr::Window as Bound;
use crate::ids::{AtomId, ExprId, FormulaId};
use crate::source::Span;
pub use guard_automata::{Binary, Operator, Unary};

/// All formulas of a spec, and their atoms; equal formulas share a node.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Formulas {
    nodes: IndexSet<Formula, BuildHasherDefault<FxHasher>>,
    atoms: Vec<Atom>,
}

/// A condition that automata read as one symbol: a named predicate, or a Boolean leaf of a formula.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Atom {
    /// The Boolean expression. It may read quantified variables of its property.
    pub expr: ExprId,
    /// The text in the spec: the name of a predicate with its arguments, or the text of the leaf.
    pub text: SmolStr,
    /// The span of its first use.
    pub span: Span,
}

/// One formula.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Formula {
    /// Always true.
    True,
    /// Always false.
    False,
    /// An atom.
    Atom(AtomId),
    /// True at the last position of a finite trace.
    Last,
    /// Negation.
    Not(FormulaId),
    /// Conjunction.
    And(FormulaId, FormulaId),
    /// Disjunction.
    Or(FormulaId, FormulaId),
    /// Implication.
    Implies(FormulaId, FormulaId),
    /// Equivalence.
    Iff(FormulaId, FormulaId),
    /// A temporal operator with one operand. It has a bound only if the operator takes one.
    Unary(Unary, Option<Bound>, FormulaId),
    /// A temporal operator with two operands. It has a bound only if the operator takes one.
    Binary(Binary, Option<Bound>, FormulaId, FormulaId),
}

impl Formula {
    /// Returns the table's row of the temporal operator; `None` for a formula that is no temporal operator, `last` among them.
    pub fn operator(&self) -> Option<&'static Operator> {
        match self {
            Formula::Unary(op, ..) => Some(op.info()),
            Formula::Binary(op, ..) => Some(op.info()),
            _ => None,
        }
    }
}

impl Formulas {
    /// Returns the id of this formula, and adds the formula if it is new.
    pub fn add(&mut self, formula: Formula) -> FormulaId {
        FormulaId::new(self.nodes.insert_full(formula).0)
    }

    /// Returns the formulas whose truth (or falsehood) at every step is all that a formula requires: it is `always φ`, `not eventually φ`,
    /// or a conjunction of such formulas. `None` for any other formula.
    pub fn at_every_step(&self, id: FormulaId) -> Option<Vec<(FormulaId, bool)>> {
        match self.get(id) {
            Formula::Unary(Unary::Always, None, body) => Some(vec![(*body, true)]),
            Formula::Not(of) => match self.get(*of) {
                Formula::Unary(Unary::Eventually, None, body) => Some(vec![(*body, false)]),
                _ => None,
            },
            Formula::And(a, b) => {
                let (a, b) = (self.at_every_step(*a)?, self.at_every_step(*b)?);
                Some([a, b].concat())
            }
            _ => None,
        }
    }

    /// Returns the formula.
    pub fn get(&self, id: FormulaId) -> &Formula {
        &self.nodes[id.index()]
    }

    /// Returns the number of formulas; ids are `0..len`, and operands come before the formulas that use them.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the arena is empty.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the atom for this expression, and adds it if it is new; the first text and span are kept.
    pub fn add_atom(&mut self, atom: Atom) -> AtomId {
        let known = self.atoms.iter().position(|other| other.expr == atom.expr);
        AtomId::new(known.unwrap_or_else(|| {
            self.atoms.push(atom);
            self.atoms.len() - 1
        }))
    }

    /// Returns the atom of this id.
    pub fn atom(&self, id: AtomId) -> &Atom {
        &self.atoms[id.index()]
    }

    /// Returns all atoms.
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// Returns the operands of a formula, in order.
    pub fn operands(&self, id: FormulaId) -> Vec<FormulaId> {
        match self.get(id) {
            Formula::True | Formula::False | Formula::Atom(_) | Formula::Last => Vec::new(),
            Formula::Not(a) | Formula::Unary(_, _, a) => vec![*a],
            Formula::And(a, b)
            | Formula::Or(a, b)
            | Formula::Implies(a, b)
            | Formula::Iff(a, b)
            | Formula::Binary(_, _, a, b) => vec![*a, *b],
        }
    }

    /// `true` or `false`.
    pub fn constant(&mut self, value: bool) -> FormulaId {
        self.add(if value { Formula::True } else { Formula::False })
    }

    /// Returns the same operator on other operands; there must be as many as [`operands`](Self::operands) returns.
    pub fn with_operands(&mut self, id: FormulaId, operands: &[FormulaId]) -> FormulaId {
        let node = match (self.get(id).clone(), operands) {
            (Formula::Not(_), [a]) => Formula::Not(*a),
            (Formula::And(..), [a, b]) => Formula::And(*a, *b),
            (Formula::Or(..), [a, b]) => Formula::Or(*a, *b),
            (Formula::Implies(..), [a, b]) => Formula::Implies(*a, *b),
            (Formula::Iff(..), [a, b]) => Formula::Iff(*a, *b),
            (Formula::Unary(op, bound, _), [a]) => Formula::Unary(op, bound, *a),
            (Formula::Binary(op, bound, ..), [a, b]) => Formula::Binary(op, bound, *a, *b),
            (node, _) => node,
        };
        self.add(node)
    }

    /// Returns the formula with the part at `path` replaced. The path contains the position of an operand for each
    /// level.
    pub fn with_part(&mut self, id: FormulaId, path: &[usize], part: FormulaId) -> FormulaId {
        let Some((first, rest)) = path.split_first() else {
            return part;
        };
        let mut operands = self.operands(id);
        if let Some(operand) = operands.get_mut(*first) {
            *operand = self.with_part(*operand, rest, part);
        }
        self.with_operands(id, &operands)
    }

    /// Returns the atoms of a formula, each once, in order of first appearance.
    pub fn atoms_of(&self, id: FormulaId) -> Vec<AtomId> {
        let mut seen = FxHashSet::default();
        let mut atoms = Vec::new();
        let mut todo = vec![id];
        while let Some(id) = todo.pop() {
            if !seen.insert(id) {
                continue;
            }
            if let Formula::Atom(atom) = self.get(id) {
                atoms.push(*atom);
            }
            todo.extend(self.operands(id).into_iter().rev());
        }
        atoms
    }

    /// Returns the formula and all its parts, parts first, each once. Costs nothing for what else there is.
    pub fn parts(&self, id: FormulaId) -> Vec<FormulaId> {
        // Parts have smaller ids: the greatest that is left is no part of another that is left.
        let mut todo = BinaryHeap::from([id]);
        let mut parts = Vec::new();
        while let Some(part) = todo.pop() {
            if parts.last() != Some(&part) {
                parts.push(part);
                todo.extend(self.operands(part));
            }
        }
        parts.reverse();
        parts
    }

    /// Returns the parts of `a -> F[bound] b | F[cut off] last`, the form of `leads to` with `or end`: `a`, the bound and `b`.
    pub fn forgiven(&self, id: FormulaId) -> Option<(FormulaId, Bound, FormulaId)> {
        let Formula::Implies(when, then) = self.get(id) else {
            return None;
        };
        let Formula::Or(comes, ends) = self.get(*then) else {
            return None;
        };
        match (self.get(*comes), self.get(*ends)) {
            (
                Formula::Unary(Unary::Eventually, Some(bound), then),
                Formula::Unary(Unary::Eventually, Some(rest), last),
            ) if bound.cut_off() == Some(*rest) && *self.get(*last) == Formula::Last => {
                Some((*when, *bound, *then))
            }
            _ => None,
        }
    }

    /// Whether a bound of the formula is in time rather than steps.
    pub fn is_timed(&self, id: FormulaId) -> bool {
        self.parts(id).into_iter().any(|part| {
            matches!(
                self.get(part),
                Formula::Unary(_, Some(Bound::Time(..)), _)
                    | Formula::Binary(_, Some(Bound::Time(..)), _, _)
            )
        })
    }
}
