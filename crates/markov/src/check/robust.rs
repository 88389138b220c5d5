//! Bounds on the probability of a path formula if rows are known only as sets of distributions.

use super::super::interval::{Bounds, Steps, UncertainChain, robust_until};
use super::super::prism::expr::{Expr, Kind};
use super::super::scalar::Scalar;
use super::path::{Simple, Window};
use super::{Checked, Checker, Truth};

impl<V: Scalar> Checker<'_, V> {
    /// Returns bounds on the probability of a path formula from each state, over all chains that the row sets of `rows` allow.
    /// Returns `None` for formulas with more than one temporal operator, including nested property operators.
    ///
    /// `rows` must have the states of the checked chain and at least its transitions. Conditions on single states are evaluated
    /// on the chain; in further states of `rows` they are undecided, and each must have only a self-loop.
    ///
    /// # Errors
    /// As for [`Checker::check`].
    pub fn robust(
        &self,
        path: &Expr,
        rows: &UncertainChain,
        precision: f64,
    ) -> Checked<Option<Bounds>> {
        if nests(path) {
            return Ok(None);
        }
        let Some(simple) = self.simple(path, false)? else {
            return Ok(None);
        };
        let known = |truth: &Truth| {
            let mut truth = truth.clone();
            truth.must.grow(rows.len());
            truth.may.grow(rows.len());
            truth.may.insert_range(self.chain.len()..rows.len());
            truth
        };
        let until = |left: &Truth, window: Window, right: &Truth| {
            let (left, right) = (known(left), known(right));
            let steps = window
                .last
                .map_or(Steps::Unbounded, |last| Steps::AtMost(last - window.first));
            // Undecided conditions give the lower bound by `must` and the upper bound by `may`.
            let least = robust_until(rows, &left.must, &right.must, steps, precision);
            let most = if left.is_exact() && right.is_exact() {
                least.clone()
            } else {
                robust_until(rows, &left.may, &right.may, steps, precision)
            };
            let bounds = Bounds {
                lower: least.lower,
                upper: most.upper,
            };
            rows.steps_before(bounds, window.first, (&left.must, &left.may))
        };
        Ok(Some(match &simple {
            Simple::Now(truth) => indicators(&known(truth)),
            Simple::Next(truth) => rows.one_step_before(&indicators(&known(truth))),
            Simple::Until(left, window, right) => until(left, *window, right),
            Simple::NotUntil(left, window, right) => until(left, *window, right).complement(),
        }))
    }
}

/// Returns whether a condition depends on more than the state: a property operator or a filter.
fn nests(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Probability(..) | Kind::Reward(..) | Kind::Steady(..) | Kind::Paths(..) => true,
        Kind::Filter(..) => true,
        Kind::Not(of) | Kind::Next(of) | Kind::Unary(_, _, of) | Kind::Minus(of) => nests(of),
        Kind::Binary(_, left, right) | Kind::Until(_, left, _, right) => {
            nests(left) || nests(right)
        }
        Kind::If(condition, yes, no) => nests(condition) || nests(yes) || nests(no),
        Kind::Call(_, arguments) => arguments.iter().any(nests),
        Kind::Bool(_) | Kind::Int(_) | Kind::Real(_) | Kind::Name(_) | Kind::Label(_) => false,
    }
}

fn indicators(truth: &Truth) -> Bounds {
    let of = |set: &guard_automata::graph::NodeSet| {
        (0..set.len())
            .map(|state| f64::from(u8::from(set.contains(state))))
            .collect()
    };
    Bounds {
        lower: of(&truth.must),
        upper: of(&truth.may),
    }
}
