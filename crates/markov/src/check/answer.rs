//! The result of a property: a set of states, or a number for each state.

use guard_automata::graph::NodeSet;

use super::super::prism::expr::Relation;
use super::super::scalar::{Estimate, Scalar};

/// The states in which a condition holds, as far as the bounds decide it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    /// The states in which it certainly holds.
    pub must: NodeSet,
    /// The states in which it may hold; contains `must`.
    pub may: NodeSet,
}

impl Truth {
    /// Returns a set that is known exactly.
    pub fn exact(set: NodeSet) -> Truth {
        Truth {
            may: set.clone(),
            must: set,
        }
    }

    /// Returns whether every state is decided.
    pub fn is_exact(&self) -> bool {
        self.must == self.may
    }

    /// Returns the states in which the condition does not hold.
    #[must_use]
    pub fn negated(mut self) -> Truth {
        self.must.toggle_range(..);
        self.may.toggle_range(..);
        Truth {
            must: self.may,
            may: self.must,
        }
    }

    /// Returns the states in which both conditions hold.
    #[must_use]
    pub fn and(mut self, other: &Truth) -> Truth {
        self.must.intersect_with(&other.must);
        self.may.intersect_with(&other.may);
        self
    }

    /// Returns the states in which one of the conditions holds.
    #[must_use]
    pub fn or(mut self, other: &Truth) -> Truth {
        self.must.union_with(&other.must);
        self.may.union_with(&other.may);
        self
    }

    /// Returns the states in which the other condition holds if this one does.
    #[must_use]
    pub fn implies(self, other: &Truth) -> Truth {
        self.negated().or(other)
    }

    /// Returns the states in which both conditions hold or neither.
    #[must_use]
    pub fn iff(self, other: &Truth) -> Truth {
        self.clone().choose(other, &other.clone().negated())
    }

    /// Returns the states in which `yes` holds if this condition does, and `no` if not.
    #[must_use]
    pub fn choose(self, yes: &Truth, no: &Truth) -> Truth {
        self.clone().and(yes).or(&self.negated().and(no))
    }

    /// Returns whether the condition holds in a state; `None` if it is undecided.
    pub fn at(&self, state: usize) -> Option<bool> {
        match (self.must.contains(state), self.may.contains(state)) {
            (true, _) => Some(true),
            (false, true) => None,
            (false, false) => Some(false),
        }
    }
}

/// A number for each state.
#[derive(Clone, Debug)]
pub struct Numbers<V: Scalar> {
    /// The numbers.
    pub values: Vec<V::Estimate>,
    /// The states in which the number is infinite.
    pub infinite: NodeSet,
    /// The states without a number: the condition has probability 0, or the bounds do not decide whether the number is
    /// infinite.
    pub undefined: NodeSet,
    /// Whether a number that is not known exactly is certain to be strictly between 0 and 1, because the graph
    /// determined the states with 0 and with 1.
    pub qualitative: bool,
}

impl<V: Scalar> Numbers<V> {
    /// Returns numbers that are finite everywhere.
    pub(crate) fn new(values: Vec<V::Estimate>, qualitative: bool) -> Numbers<V> {
        let none = NodeSet::with_capacity(values.len());
        Numbers {
            values,
            infinite: none.clone(),
            undefined: none,
            qualitative,
        }
    }

    /// Returns the number of a state with its bounds, or `None` if it is infinite or undefined.
    pub fn at(&self, state: usize) -> Option<&V::Estimate> {
        let plain = !self.infinite.contains(state) && !self.undefined.contains(state);
        plain.then(|| &self.values[state])
    }

    /// Returns the states whose numbers satisfy a bound.
    pub fn compared(&self, relation: Relation, bound: &V) -> Truth {
        let mut must = NodeSet::with_capacity(self.values.len());
        let mut may = must.clone();
        for state in 0..self.values.len() {
            match self.compare(state, relation, bound) {
                Some(true) => {
                    must.insert(state);
                    may.insert(state);
                }
                None => may.insert(state),
                Some(false) => {}
            }
        }
        Truth { must, may }
    }

    /// Returns whether the number of a state satisfies a bound; `None` if its error leaves that undecided.
    fn compare(&self, state: usize, relation: Relation, bound: &V) -> Option<bool> {
        if self.infinite.contains(state) {
            return Some(matches!(
                relation,
                Relation::Greater | Relation::GreaterEqual
            ));
        }
        if self.undefined.contains(state) {
            return None;
        }
        let value = &self.values[state];
        let (low, high) = (value.lower(), value.upper());
        if self.qualitative && !value.is_exact() {
            // Strictly between 0 and 1, whatever the rounding.
            if *bound <= V::zero() {
                return Some(matches!(
                    relation,
                    Relation::Greater | Relation::GreaterEqual
                ));
            }
            if *bound >= V::one() {
                return Some(matches!(relation, Relation::Less | Relation::LessEqual));
            }
        }
        relation.over(&low, &high, bound)
    }
}

/// The result of a property.
#[derive(Clone, Debug)]
pub enum Answer<V: Scalar> {
    /// The states in which it holds.
    Truth(Truth),
    /// A number for each state.
    Numbers(Numbers<V>),
    /// One truth value for the whole model; `None` if the bounds leave it undecided.
    Whole(Option<bool>),
    /// One number for the whole model.
    Number(Single<V>),
}

/// The result of a property, with the numbers of its outermost operator.
#[derive(Clone, Debug)]
pub struct Root<V: Scalar> {
    /// The answer.
    pub answer: Answer<V>,
    /// The numbers that the outermost operator compares with its bound, if it has one.
    pub numbers: Option<Numbers<V>>,
}

/// A single number.
#[derive(Clone, Debug)]
pub enum Single<V: Scalar> {
    /// A finite number.
    Finite(V::Estimate),
    /// Infinity.
    Infinite,
    /// No number: the condition has probability 0, or no state was selected.
    Undefined,
}
