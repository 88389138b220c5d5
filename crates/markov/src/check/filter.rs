//! Filters: one result from the values of many states.

use guard_automata::graph::NodeSet;

use super::super::prism::expr::{Compare, Expr, Filter, Kind};
use super::super::scalar::{Estimate, Scalar};
use super::super::text::{TextError, TextPosition};
use super::{Answer, Checked, Checker, Numbers, Single, Truth};

impl<V: Scalar> Checker<'_, V> {
    /// Returns the states that a filter selects.
    fn chosen(&self, states: Option<&Expr>, place: TextPosition) -> Checked<NodeSet> {
        let Some(states) = states else {
            return Ok(self.chain.graph().all());
        };
        let truth = self.truth(states)?;
        if !truth.is_exact() {
            return Err(TextError::new(
                place,
                "the states of the filter cannot be determined at this precision",
            )
            .help("increase the precision, or use exact arithmetic with --exact")
            .into());
        }
        Ok(truth.must)
    }

    /// Applies a filter to the values of some states.
    pub(super) fn filter(
        &self,
        filter: Filter,
        of: &Expr,
        states: Option<&Expr>,
        place: TextPosition,
    ) -> Checked<Answer<V>> {
        let chosen = self.chosen(states, place)?;
        match filter {
            Filter::Print => return self.check(of),
            Filter::State if chosen.count_ones(..) != 1 => {
                return Err(TextError::new(
                    place,
                    format!("`state` expects one state, found {}", chosen.count_ones(..)),
                )
                .into());
            }
            _ => {}
        }
        if is_number(of) {
            let numbers = match self.check(of)? {
                Answer::Numbers(numbers) => numbers,
                _ => {
                    return Err(
                        TextError::new(place, "an inner filter has no value per state").into(),
                    );
                }
            };
            return of_numbers(filter, &numbers, &chosen, place).map(Answer::Number);
        }
        let truth = self.truth(of)?;
        let first = chosen.ones().next();
        Ok(match filter {
            Filter::Count | Filter::Sum => {
                let (mut low, mut high) = (truth.must.clone(), truth.may.clone());
                low.intersect_with(&chosen);
                high.intersect_with(&chosen);
                let count = |set: &NodeSet| V::from_f64(set.count_ones(..) as f64);
                Answer::Number(Single::Finite(V::Estimate::between(
                    count(&low),
                    count(&high),
                )))
            }
            Filter::ForAll => Answer::Whole(for_all(&truth, &chosen)),
            Filter::Exists => Answer::Whole(for_all(&truth.negated(), &chosen).map(|holds| !holds)),
            Filter::First | Filter::State => match first {
                Some(state) => Answer::Whole(truth.at(state)),
                None => return Err(TextError::new(place, "the filter selects no states").into()),
            },
            _ => {
                return Err(TextError::new(
                    place,
                    "this filter expects numbers, but the formula has truth values",
                )
                .help("filters for truth values: count, forall, exists, first, state")
                .into());
            }
        })
    }

    /// Returns the result of a filter as a state formula, which has the same value in all states.
    pub(super) fn filtered_truth(
        &self,
        filter: Filter,
        of: &Expr,
        states: Option<&Expr>,
        place: TextPosition,
    ) -> Checked<Truth> {
        let holds = match self.filter(filter, of, states, place)? {
            Answer::Whole(holds) => holds,
            Answer::Truth(truth) => return Ok(truth),
            _ => {
                return Err(TextError::new(
                    place,
                    "expected a truth value, but this filter returns a number",
                )
                .into());
            }
        };
        let (all, none) = (self.chain.graph().all(), self.chain.graph().none());
        Ok(Truth {
            must: if holds == Some(true) {
                all.clone()
            } else {
                none.clone()
            },
            may: if holds == Some(false) { none } else { all },
        })
    }
}

fn is_number(of: &Expr) -> bool {
    match &of.kind {
        Kind::Probability(Compare::Value, ..)
        | Kind::Reward(_, Compare::Value, _)
        | Kind::Steady(Compare::Value, _) => true,
        Kind::Filter(Filter::Print, of, _) => is_number(of),
        _ => false,
    }
}

fn for_all(truth: &Truth, chosen: &NodeSet) -> Option<bool> {
    if chosen.is_subset(&truth.must) {
        Some(true)
    } else if chosen.is_subset(&truth.may) {
        None
    } else {
        Some(false)
    }
}

fn of_numbers<V: Scalar>(
    filter: Filter,
    numbers: &Numbers<V>,
    chosen: &NodeSet,
    place: TextPosition,
) -> Checked<Single<V>> {
    let states: Vec<usize> = chosen.ones().collect();
    let Some(&first) = states.first() else {
        return Ok(Single::Undefined);
    };
    let undefined = |state: &usize| numbers.undefined.contains(*state);
    let is_undefined = match filter {
        Filter::First | Filter::State => undefined(&first),
        _ => states.iter().any(undefined),
    };
    if is_undefined {
        return Ok(Single::Undefined);
    }
    let infinite = |state: &usize| numbers.infinite.contains(*state);
    let finite: Vec<&V::Estimate> = states
        .iter()
        .filter_map(|&state| numbers.at(state))
        .collect();
    let best = |largest: bool| {
        let mut best = (finite[0].lower(), finite[0].upper());
        for value in &finite {
            let (low, high) = (value.lower(), value.upper());
            if (low > best.0) == largest {
                best.0 = low;
            }
            if (high > best.1) == largest {
                best.1 = high;
            }
        }
        best
    };
    // Prefers the estimate that has these bounds, so that an exact one stays exact.
    let extreme = |largest: bool| {
        let (low, high) = best(largest);
        finite
            .iter()
            .find(|value| value.lower() == low && value.upper() == high)
            .map_or_else(|| V::Estimate::between(low, high), |value| (*value).clone())
    };
    Ok(match filter {
        Filter::First | Filter::State => match numbers.at(first) {
            Some(value) => Single::Finite(value.clone()),
            None => Single::Infinite,
        },
        Filter::Max if states.iter().any(infinite) => Single::Infinite,
        Filter::Max => Single::Finite(extreme(true)),
        Filter::Min if finite.is_empty() => Single::Infinite,
        Filter::Min => Single::Finite(extreme(false)),
        Filter::Sum | Filter::Average | Filter::Range if states.iter().any(infinite) => {
            Single::Infinite
        }
        Filter::Sum | Filter::Average => {
            let mut sum = V::Estimate::exact(V::zero());
            for value in &finite {
                sum.accumulate(&V::one(), value);
            }
            if filter == Filter::Average {
                sum.divide(&V::from_f64(finite.len() as f64));
            }
            Single::Finite(sum.rounded(finite.len() as f64 + 1.0))
        }
        Filter::Range => {
            let (low, high) = (extreme(false), extreme(true));
            Single::Finite(V::Estimate::between(
                high.lower().minus(&low.upper()),
                high.upper().minus(&low.lower()),
            ))
        }
        _ => {
            return Err(TextError::new(
                place,
                "this filter expects truth values, but the formula has numbers",
            )
            .help("filters for numbers: min, max, avg, sum, range, first, state")
            .into());
        }
    })
}
