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
                share::<V>(&both.values[state], under)
            })
            .collect();
        let mut numbers = Numbers::new(values, false);
        numbers.undefined = undefined;
        Ok(numbers)
    }
}

/// Returns the quotient of two probabilities of which the first event is a part of the second. Where a lower bound of the second is 0, any
/// share is possible.
fn share<V: Scalar>(over: &V::Estimate, under: &V::Estimate) -> V::Estimate {
    if over.is_zero() || V::EXACT {
        return quotient::<V>(over, under);
    }
    let ratio = |over: V, under: V| over.to_f64() / under.to_f64();
    let low = ratio(over.lower(), under.upper());
    let high = ratio(over.upper(), under.lower());
    // Not a number if both bounds are 0.
    let low = if low >= 0.0 { low.min(1.0) } else { 0.0 };
    let high = if high <= 1.0 { high } else { 1.0 };
    let value = ratio(over.value().clone(), under.value().clone());
    if !(low..=high).contains(&value) {
        return V::Estimate::between(V::from_f64(low), V::from_f64(high)).rounded(4.0);
    }
    let error = (high - value).max(value - low);
    V::Estimate::exact(V::from_f64(value))
        .widened(error)
        .rounded(4.0)
}
