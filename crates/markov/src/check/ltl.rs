//! Path formulas with more than one temporal operator: the product with a deterministic automaton.
//!
//! The product runs the automaton along the chain, beginning with the label of the first state. In a bottom component of the
//! product a path takes every transition infinitely often, almost surely, so the component accepts or rejects as a whole. The
//! probability of the formula is that of reaching an accepting bottom component.

use guard_automata::graph::{DigraphBuilder, NodeSet};
use guard_automata::{Atom, FormulaId, Formulas, Interval, omega};

use super::super::prism::expr::{Expr, Kind, Op, Temporal, Until};
use super::super::scalar::{Estimate, Scalar};
use super::super::solve::{Factors, Problem};
use super::super::text::TextError;
use super::path::{Window, is_state_formula};
use super::{CheckError, Checked, Checker, Numbers, Truth};

/// A path formula over letters, each of which is a set of states.
pub(super) struct Letters {
    pub(super) formulas: Formulas,
    pub(super) root: FormulaId,
    sets: Vec<Truth>,
}

impl Letters {
    /// Returns whether the sets of all letters are decided.
    pub(super) fn is_exact(&self) -> bool {
        self.sets.iter().all(Truth::is_exact)
    }

    /// Returns whether a letter holds in a state; for an undecided letter, the lower (`must`) or upper reading.
    pub(super) fn holds(&self, atom: Atom, state: usize, must: bool) -> bool {
        self.sets.get(atom.0 as usize).is_some_and(|truth| {
            if must {
                truth.must.contains(state)
            } else {
                truth.may.contains(state)
            }
        })
    }

    fn atom(&mut self, truth: Truth) -> FormulaId {
        let at = match self.sets.iter().position(|known| *known == truth) {
            Some(at) => at,
            None => {
                self.sets.push(truth);
                self.sets.len() - 1
            }
        };
        self.formulas.atom(Atom(at as u32))
    }
}

impl<V: Scalar> Checker<'_, V> {
    /// Returns the probability, from each state, that all of these path formulas hold.
    pub(super) fn ltl_probability(&self, paths: &[&Expr]) -> Checked<Numbers<V>> {
        let letters = self.letters(paths, false)?;
        let automaton =
            omega::deterministic(&letters.formulas, letters.root, &self.options.automata)
                .map_err(|wrong| CheckError::Limit(wrong.to_string()))?;
        self.both_ways(letters.is_exact(), |must| {
            self.product_probability(&letters, &automaton, must)
        })
    }

    /// Returns the conjunction of path formulas, or its negation, over letters.
    ///
    /// Negations are pushed down to the letters, and an undecided set gives one letter for itself and another for its
    /// complement. The value is therefore monotone in every letter, and reading all of them as `must` gives a lower
    /// bound.
    pub(super) fn letters(&self, paths: &[&Expr], negated: bool) -> Checked<Letters> {
        let mut letters = Letters {
            formulas: Formulas::new(),
            root: Formulas::new().verum(),
            sets: Vec::new(),
        };
        let mut parts = Vec::with_capacity(paths.len());
        for path in paths {
            parts.push(self.letter_formula(path, negated, &mut letters)?);
        }
        letters.root = if negated {
            letters.formulas.any(parts)
        } else {
            letters.formulas.all(parts)
        };
        Ok(letters)
    }

    fn letter_formula(
        &self,
        path: &Expr,
        negated: bool,
        letters: &mut Letters,
    ) -> Checked<FormulaId> {
        if is_state_formula(path) {
            let truth = self.truth(path)?;
            // A decided set and its complement are one letter and its negation.
            if truth.is_exact() {
                let atom = letters.atom(truth);
                return Ok(if negated {
                    letters.formulas.not(atom)
                } else {
                    atom
                });
            }
            return Ok(letters.atom(if negated { truth.negated() } else { truth }));
        }
        let mut inner = |part: &Expr, negated: bool| self.letter_formula(part, negated, letters);
        Ok(match &path.kind {
            Kind::Not(of) => inner(of, !negated)?,
            Kind::Next(of) => {
                let of = inner(of, negated)?;
                letters.formulas.next(of)
            }
            Kind::Binary(op @ (Op::And | Op::Or | Op::Implies), left, right) => {
                let left = inner(left, negated != (*op == Op::Implies))?;
                let right = inner(right, negated)?;
                if (*op == Op::And) == negated {
                    letters.formulas.or(left, right)
                } else {
                    letters.formulas.and(left, right)
                }
            }
            Kind::Binary(Op::Iff, left, right) => {
                // a <=> b as (a & b) | (!a & !b); its negation as (a & !b) | (!a & b).
                let one = (inner(left, false)?, inner(right, negated)?);
                let two = (inner(left, true)?, inner(right, !negated)?);
                let formulas = &mut letters.formulas;
                let one = formulas.and(one.0, one.1);
                let two = formulas.and(two.0, two.1);
                formulas.or(one, two)
            }
            Kind::Unary(which, bounds, of) => {
                let window = interval(self.window(bounds)?, path)?;
                let of = inner(of, negated)?;
                if (*which == Temporal::Finally) == negated {
                    letters.formulas.always(window, of)
                } else {
                    letters.formulas.eventually(window, of)
                }
            }
            Kind::Until(which, left, bounds, right) => {
                let window = interval(self.window(bounds)?, path)?;
                // Keeps the value monotone in the letters: f U g, and the negation of f R g as !f U !g; the other cases
                // are duals.
                match (which, negated) {
                    (Until::Until, false) | (Until::Release, true) => {
                        let (left, right) = (inner(left, negated)?, inner(right, negated)?);
                        letters.formulas.until(left, window, right)
                    }
                    (Until::Until, true) | (Until::Release, false) => {
                        // !(!l U !r), where l and r are negated already if required.
                        let (left, right) = (inner(left, negated)?, inner(right, negated)?);
                        release(&mut letters.formulas, left, window, right)
                    }
                    (Until::Unless, false) => {
                        // f W g = !((f & !g) U (!f & !g)) = (!f | g) R (f | g)
                        let (f, g) = (inner(left, false)?, inner(right, false)?);
                        let not_f = inner(left, true)?;
                        let formulas = &mut letters.formulas;
                        let first = formulas.or(not_f, g);
                        let second = formulas.or(f, g);
                        release(formulas, first, window, second)
                    }
                    (Until::Unless, true) => {
                        let (f, not_g) = (inner(left, false)?, inner(right, true)?);
                        let not_f = inner(left, true)?;
                        let formulas = &mut letters.formulas;
                        let stay = formulas.and(f, not_g);
                        let fail = formulas.and(not_f, not_g);
                        formulas.until(stay, window, fail)
                    }
                }
            }
            _ => {
                return Err(TextError::new(path.place, "not allowed in a path formula").into());
            }
        })
    }

    pub(super) fn too_large(&self, states: usize) -> CheckError {
        CheckError::Limit(format!(
            "the product of chain and automaton has {states} states, more than the limit of {} \
             (`--max-product`)",
            self.options.max_product
        ))
    }

    fn product_probability(
        &self,
        letters: &Letters,
        automaton: &omega::Deterministic,
        must: bool,
    ) -> Checked<Numbers<V>> {
        let states = automaton.len();
        // The vertex of the product for a state of the chain and the state of the automaton after reading its letter.
        let mut numbers = rustc_hash::FxHashMap::default();
        let mut vertices: Vec<(u32, u32)> = Vec::new();
        let mut number = |state: u32, at: u32, vertices: &mut Vec<(u32, u32)>| {
            let key = u64::from(state) * states as u64 + u64::from(at);
            *numbers.entry(key).or_insert_with(|| {
                vertices.push((state, at));
                vertices.len() as u32 - 1
            })
        };
        let step =
            |at, state: u32| automaton.step(at, |atom| letters.holds(atom, state as usize, must));
        let mut starts = Vec::with_capacity(self.states());
        for state in 0..self.states() as u32 {
            let (at, _) = step(automaton.initial(), state);
            starts.push(number(state, at.index() as u32, &mut vertices));
        }
        let ids: Vec<_> = automaton.states().collect();
        let mut builder = DigraphBuilder::default();
        let mut probabilities = Vec::new();
        let mut marks = Vec::new();
        let mut done = 0;
        while done < vertices.len() {
            let (state, at) = vertices[done];
            done += 1;
            for (target, probability) in self.chain.row(state) {
                let (next, seen) = step(ids[at as usize], target);
                builder.edge(number(target, next.index() as u32, &mut vertices));
                probabilities.push(probability.clone());
                marks.push(seen);
            }
            builder.end_row();
            if vertices.len() > self.options.max_product {
                return Err(self.too_large(vertices.len()));
            }
        }
        let graph = builder
            .finish()
            .map_err(|wrong| CheckError::Limit(wrong.to_string()))?;
        let product = self.chain.derived(graph, probabilities);
        let graph = product.graph();
        let found = guard_automata::graph::components(graph, None);
        let mut values = vec![V::Estimate::exact(V::zero()); graph.len()];
        let mut unknown: NodeSet = graph.all();
        for component in guard_automata::graph::bottom(graph, &found) {
            let members = found.members(component);
            let seen = members
                .iter()
                .flat_map(|&vertex| graph.edges(vertex))
                .fold(omega::Marks::NONE, |seen, edge| seen.union(marks[edge]));
            let accepts = automaton.acceptance().accepts(seen);
            for &vertex in members {
                unknown.set(vertex as usize, false);
                if accepts {
                    values[vertex as usize] = V::Estimate::exact(V::one());
                }
            }
        }
        let problem = Problem {
            chain: &product,
            unknown: &unknown,
            reward: &[],
            trapped: V::zero(),
            factors: &Factors::default(),
        };
        self.solve(&problem, &mut values);
        let values = starts
            .into_iter()
            .map(|vertex| values[vertex as usize].clone())
            .collect();
        Ok(Numbers::new(values, true))
    }
}

/// Returns `!(!f U !g)` in a window.
fn release(formulas: &mut Formulas, f: FormulaId, window: Interval, g: FormulaId) -> FormulaId {
    let (not_f, not_g) = (formulas.not(f), formulas.not(g));
    let until = formulas.until(not_f, window, not_g);
    formulas.not(until)
}

/// The largest step bound that an automaton may count.
const MAX_STEPS: u64 = 100_000;

fn interval(window: Window, path: &Expr) -> Checked<Interval> {
    let most = window.last.unwrap_or(window.first).max(window.first);
    if most > MAX_STEPS {
        return Err(TextError::new(
            path.place,
            format!("a bound of {most} steps in a larger formula exceeds the limit of automata"),
        )
        .into());
    }
    Ok(match window.last {
        Some(last) => Interval::steps(window.first as u32, last as u32),
        None => Interval::Steps {
            lo: window.first as u32,
            hi: None,
        },
    })
}
