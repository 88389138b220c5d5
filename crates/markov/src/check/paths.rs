//! The path quantifiers `A` and `E`, decided on the graph independently of the probabilities.

use guard_automata::graph::{NodeSet, backward, components, ctl};
use guard_automata::omega;

use super::super::prism::expr::{Expr, Quantifier};
use super::super::scalar::Scalar;
use super::ltl::Letters;
use super::path::{Simple, Window};
use super::{CheckError, Checked, Checker, Truth};

impl<V: Scalar> Checker<'_, V> {
    /// Returns the states from which all, or some, paths satisfy a formula.
    pub(super) fn paths(&self, quantifier: Quantifier, of: &Expr) -> Checked<Truth> {
        // `A a` is `!E !a`, so only `E` remains to be computed.
        let negated = quantifier == Quantifier::All;
        let found = match self.simple(of, negated)? {
            Some(Simple::Now(truth)) => Some(truth),
            Some(Simple::Next(truth)) => Some(Truth {
                must: ctl::exists_next(self.predecessors(), &truth.must),
                may: ctl::exists_next(self.predecessors(), &truth.may),
            }),
            Some(Simple::Until(left, Window::ALL, right)) => Some(Truth {
                must: ctl::exists_until(self.predecessors(), &left.must, &right.must),
                may: ctl::exists_until(self.predecessors(), &left.may, &right.may),
            }),
            Some(Simple::NotUntil(left, Window::ALL, right)) => {
                // E !(a U b) is !A (a U b).
                let always = |left: &NodeSet, right: &NodeSet| {
                    ctl::always_until(self.chain.graph(), self.predecessors(), left, right)
                };
                let until = Truth {
                    must: always(&left.must, &right.must),
                    may: always(&left.may, &right.may),
                };
                Some(until.negated())
            }
            _ => None,
        };
        let exists = match found {
            Some(truth) => truth,
            None => {
                let letters = self.letters(&[of], negated)?;
                let must = self.exists_run(&letters, true)?;
                if letters.is_exact() {
                    Truth::exact(must)
                } else {
                    Truth {
                        must,
                        may: self.exists_run(&letters, false)?,
                    }
                }
            }
        };
        Ok(if negated { exists.negated() } else { exists })
    }

    /// Returns the states from which a path is accepted by the nondeterministic automaton: a cycle of the product that
    /// carries all marks is reachable.
    fn exists_run(&self, letters: &Letters, must: bool) -> Checked<NodeSet> {
        let automaton = omega::translate(&letters.formulas, letters.root, &self.options.automata)
            .map_err(|wrong| CheckError::Limit(wrong.to_string()))?;
        let states = automaton.len();
        let count = self.states().saturating_mul(states);
        if count > self.options.max_product {
            return Err(self.too_large(count));
        }
        // Vertex `s * states + q`: the chain is in `s`, whose letter has not been read yet, and the automaton in `q`.
        let mut builder = guard_automata::graph::DigraphBuilder::with_capacity(count, count);
        let mut marks = Vec::new();
        for state in 0..self.states() as u32 {
            for at in automaton.states() {
                let holds = |atom| letters.holds(atom, state as usize, must);
                for (next, seen) in automaton.successors(at, holds) {
                    for &target in self.chain.graph().successors(state) {
                        builder.edge(target * states as u32 + next.index() as u32);
                        marks.push(seen);
                    }
                }
                builder.end_row();
            }
        }
        let product = builder
            .finish()
            .map_err(|wrong| CheckError::Limit(wrong.to_string()))?;
        let found = components(&product, None);
        let mut accepting = product.none();
        for component in 0..found.len() {
            let members = found.members(component);
            let mut seen = omega::Marks::NONE;
            let mut cyclic = false;
            for &vertex in members {
                for edge in product.edges(vertex) {
                    if found.same(vertex, product.target(edge)) {
                        cyclic = true;
                        seen = seen.union(marks[edge]);
                    }
                }
            }
            if cyclic && omega::Marks::first(automaton.n_marks()).is_subset(seen) {
                accepting.extend(members.iter().map(|&vertex| vertex as usize));
            }
        }
        let reached = backward(&product.reversed(), &accepting, None);
        let start = automaton.initial().index();
        let mut result = self.chain.graph().none();
        for state in 0..self.states() {
            if reached.contains(state * states + start) {
                result.insert(state);
            }
        }
        Ok(result)
    }
}
