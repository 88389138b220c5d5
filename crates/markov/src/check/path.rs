//! Probabilities of path formulas.
//!
//! Negations are pushed inwards first, so that every formula is `X`, `U` or a negated `U` over state formulas, or requires an
//! automaton. A negated `U` is computed directly rather than as `1 - …`, which would lose the digits of small probabilities.

use guard_automata::graph::NodeSet;

use super::super::prism::expr::{Bounds, Expr, Kind, Op, Temporal, Until};
use super::super::scalar::{Estimate, Scalar};
use super::super::solve::{Problem, average};
use super::super::text::TextError;
use super::super::why::Goal;
use super::{Checked, Checker, Numbers, Truth};

/// Steps from now: `first ..= last`; unbounded if `last` is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) first: u64,
    pub(super) last: Option<u64>,
}

impl Window {
    pub(super) const ALL: Window = Window {
        first: 0,
        last: None,
    };
}

/// A path formula with one temporal operator.
pub(super) enum Simple {
    /// A state formula.
    Now(Truth),
    /// `X a`
    Next(Truth),
    /// `a U b` in a window.
    Until(Truth, Window, Truth),
    /// `!(a U b)` in a window.
    NotUntil(Truth, Window, Truth),
}

impl<V: Scalar> Checker<'_, V> {
    /// Returns the probability of a path formula from each state.
    pub(super) fn probability(&self, path: &Expr) -> Checked<Numbers<V>> {
        match self.simple(path, false)? {
            Some(simple) => self.simple_probability(&simple),
            None => self.ltl_probability(&[path]),
        }
    }

    /// Returns the goal that a path formula requires to be reached, or, if the flag is true, to be avoided. Returns `None` if
    /// the formula is not of this form, if its window begins after step 0, or if the states of a set are undecided.
    ///
    /// # Errors
    /// As for [`Checker::check`].
    pub fn goal(&self, path: &Expr) -> Checked<Option<(Goal, bool)>> {
        let (left, window, right, negated) = match self.simple(path, false)? {
            Some(Simple::Until(left, window, right)) => (left, window, right, false),
            Some(Simple::NotUntil(left, window, right)) => (left, window, right, true),
            _ => return Ok(None),
        };
        if window.first > 0 || !left.is_exact() || !right.is_exact() {
            return Ok(None);
        }
        let mut open = left.must;
        open.difference_with(&right.must);
        let goal = Goal {
            open,
            target: right.must,
            horizon: window.last,
        };
        Ok(Some((goal, negated)))
    }

    /// Returns the formula, or its negation, as one temporal operator over state formulas; `None` if it requires more.
    pub(super) fn simple(&self, path: &Expr, negated: bool) -> Checked<Option<Simple>> {
        if is_state_formula(path) {
            let truth = self.truth(path)?;
            return Ok(Some(Simple::Now(if negated {
                truth.negated()
            } else {
                truth
            })));
        }
        Ok(match &path.kind {
            Kind::Not(of) => self.simple(of, !negated)?,
            Kind::Next(of) if is_state_formula(of) => {
                let truth = self.truth(of)?;
                Some(Simple::Next(if negated { truth.negated() } else { truth }))
            }
            Kind::Unary(which, bounds, of) if is_state_formula(of) => {
                let window = self.window(bounds)?;
                let truth = self.truth(of)?;
                let all = Truth::exact(self.chain.graph().all());
                Some(match (which, negated) {
                    (Temporal::Finally, false) => Simple::Until(all, window, truth),
                    (Temporal::Finally, true) => Simple::NotUntil(all, window, truth),
                    (Temporal::Globally, false) => Simple::NotUntil(all, window, truth.negated()),
                    (Temporal::Globally, true) => Simple::Until(all, window, truth.negated()),
                })
            }
            Kind::Until(which, left, bounds, right)
                if is_state_formula(left) && is_state_formula(right) =>
            {
                let window = self.window(bounds)?;
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                match (which, negated) {
                    (Until::Until, false) => Some(Simple::Until(left, window, right)),
                    (Until::Until, true) => Some(Simple::NotUntil(left, window, right)),
                    // f R g = !(!f U !g)
                    (Until::Release, false) => {
                        Some(Simple::NotUntil(left.negated(), window, right.negated()))
                    }
                    (Until::Release, true) => {
                        Some(Simple::Until(left.negated(), window, right.negated()))
                    }
                    // f W g = !((f & !g) U (!f & !g))
                    (Until::Unless, _) => {
                        let stay = left.clone().and(&right.clone().negated());
                        let fail = left.negated().and(&right.negated());
                        Some(if negated {
                            Simple::Until(stay, window, fail)
                        } else {
                            Simple::NotUntil(stay, window, fail)
                        })
                    }
                }
            }
            _ => None,
        })
    }

    /// Evaluates the bounds of a temporal operator to a window of steps.
    pub(super) fn window(&self, bounds: &Bounds) -> Checked<Window> {
        let step =
            |bound: &Expr| -> Checked<i64> { Ok(self.scope.int_value(bound, "a bound on steps")?) };
        let mut window = Window::ALL;
        if let Some((bound, strict)) = &bounds.lower {
            let value = step(bound)?.saturating_add(i64::from(*strict));
            window.first = u64::try_from(value).unwrap_or(0);
        }
        if let Some((bound, strict)) = &bounds.upper {
            let value = step(bound)?.saturating_sub(i64::from(*strict));
            let last = u64::try_from(value)
                .map_err(|_| TextError::new(bound.place, "this bound contains no steps"))?;
            if last < window.first {
                return Err(TextError::new(
                    bound.place,
                    format!(
                        "the lower bound is greater than the upper bound: {} to {last}",
                        window.first
                    ),
                )
                .into());
            }
            window.last = Some(last);
        }
        Ok(window)
    }

    pub(super) fn simple_probability(&self, simple: &Simple) -> Checked<Numbers<V>> {
        match simple {
            Simple::Now(truth) => self.both_ways(truth.is_exact(), |must| {
                let set = if must { &truth.must } else { &truth.may };
                Ok(Numbers::new(indicator::<V>(set), true))
            }),
            Simple::Next(truth) => self.both_ways(truth.is_exact(), |must| {
                let known = indicator::<V>(if must { &truth.must } else { &truth.may });
                let values = (0..self.states() as u32)
                    .map(|state| average(self.chain, state, &known))
                    .collect();
                Ok(Numbers::new(values, true))
            }),
            Simple::Until(left, window, right) => {
                self.both_ways(left.is_exact() && right.is_exact(), |must| {
                    let pick = |truth: &'_ Truth| {
                        if must {
                            truth.must.clone()
                        } else {
                            truth.may.clone()
                        }
                    };
                    self.until(&pick(left), *window, &pick(right), true)
                })
            }
            Simple::NotUntil(left, window, right) => {
                self.both_ways(left.is_exact() && right.is_exact(), |must| {
                    // The negation has its least value where the until has its greatest.
                    let pick = |truth: &'_ Truth| {
                        if must {
                            truth.may.clone()
                        } else {
                            truth.must.clone()
                        }
                    };
                    self.until(&pick(left), *window, &pick(right), false)
                })
            }
        }
    }

    /// Returns the probability of `left U right` in a window, or of its negation if not `wanted`.
    fn until(
        &self,
        left: &NodeSet,
        window: Window,
        right: &NodeSet,
        wanted: bool,
    ) -> Checked<Numbers<V>> {
        let values = match window.last {
            None => {
                let mut values = self.unbounded_until(left, right, wanted)?;
                // `right` counts from step `first` on; before it, `left` must hold.
                self.delay(left, window.first, wanted, &mut values);
                values
            }
            Some(last) => {
                let mut values = self.bounded_until(left, right, last - window.first, wanted);
                self.delay(left, window.first, wanted, &mut values);
                values
            }
        };
        Ok(Numbers::new(values, true))
    }

    /// Returns the probability of `left U right`, or of its negation if not `wanted`.
    pub(super) fn unbounded_until(
        &self,
        left: &NodeSet,
        right: &NodeSet,
        wanted: bool,
    ) -> Checked<Vec<V::Estimate>> {
        let (yes, no) = if wanted {
            (V::one(), V::zero())
        } else {
            (V::zero(), V::one())
        };
        let mut unknown = left.clone();
        unknown.difference_with(right);
        let mut values = vec![V::Estimate::exact(no.clone()); self.states()];
        for state in right.ones() {
            values[state] = V::Estimate::exact(yes.clone());
        }
        let problem = Problem {
            chain: self.chain,
            unknown: &unknown,
            reward: &[],
            trapped: no,
            factors: &self.factors,
        };
        self.solve(&problem, &mut values);
        Ok(values)
    }
}

/// Returns 1 for the states of a set and 0 for the others.
pub(super) fn indicator<V: Scalar>(set: &NodeSet) -> Vec<V::Estimate> {
    (0..set.len())
        .map(|state| {
            V::Estimate::exact(if set.contains(state) {
                V::one()
            } else {
                V::zero()
            })
        })
        .collect()
}

/// Returns whether a formula has no temporal operator outside of `P`, `R`, `S`, `A` and `E`.
pub(super) fn is_state_formula(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Next(_) | Kind::Unary(..) | Kind::Until(..) => false,
        Kind::Not(of) => is_state_formula(of),
        Kind::Binary(Op::And | Op::Or | Op::Implies | Op::Iff, left, right) => {
            is_state_formula(left) && is_state_formula(right)
        }
        _ => true,
    }
}
