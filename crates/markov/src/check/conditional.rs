//! Conditional probabilities: `P=? [ a || b ]`, the probability of `a` among the paths that satisfy `b`.

use super::super::prism::expr::Expr;
use super::super::scalar::{Estimate, Scalar};
use super::steady::quotient;
use super::{Checked, Checker, Numbers};

impl<V: Scalar> Checker<'_, V> {
    /// Returns the probability of both formulas divided by that of the condition; undefined where the latter is 0.
    pub(super) fn conditional(&self, path: &Expr, given: &Expr) -> Checked<Numbers<V>> {
        let condition = self.probability(given)?;
        let both = self.ltl_probability(&[path, given])?;
        let mut undefined = self.chain.graph().none();
        let values = (0..self.states())
            .map(|state| {
                let under = &condition.values[state];
                if under.is_zero() {
                    undefined.insert(state);
                    return V::Estimate::exact(V::zero());
                }
                quotient::<V>(&both.values[state], under)
            })
            .collect();
        let mut numbers = Numbers::new(values, false);
        numbers.undefined = undefined;
        Ok(numbers)
    }
}
