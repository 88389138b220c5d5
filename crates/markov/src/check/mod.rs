//! Model checking of Markov chains: PCTL, rewards, steady states, conditional probabilities, LTL and CTL.
//!
//! [`Checker::check`] evaluates a property bottom up. A state formula evaluates to a [`Truth`]: the states where it *must* hold
//! and those where it *may*. They differ if a number is too close to its threshold to decide. An operator over such sets is
//! computed for both, so that an undecided comparison stays undecided in enclosing operators instead of being rounded.
//!
//! A path formula with one temporal operator is solved on the chain; any other on the product with a deterministic automaton.
//!
//! # Source
//! H. Hansson, B. Jonsson, "A logic for reasoning about time and reliability", FAC 6, 1994; C. Baier, J.-P. Katoen,
//! "Principles of Model Checking", chapter 10; C. Courcoubetis, M. Yannakakis, JACM 42(4), 1995.

mod answer;
mod bounded;
mod conditional;
mod filter;
mod ltl;
mod path;
mod paths;
mod reward;
mod robust;
mod steady;

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use guard_automata::Limits as AutomataLimits;
use guard_automata::graph::Digraph;

use super::chain::Chain;
use super::prism::expr::{Bounds, Compare, Expr, Kind, Measure, Op};
use super::prism::{Definitions, Properties, Property, Scope, states_where};
use super::scalar::Scalar;
use super::solve::{Accuracy, Factors, NotConverged, Problem, solve};
use super::text::{TextError, TextPosition};

pub use answer::{Answer, Numbers, Root, Single, Truth};

/// The reason why a property has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CheckError {
    /// A fault in the text of the property: syntax, names, types or values.
    #[error(transparent)]
    Text(#[from] TextError),
    /// An automaton or a product exceeds its limit.
    #[error("{0}")]
    Limit(String),
}

type Checked<T> = Result<T, CheckError>;

/// Accuracy and limits of a check.
#[derive(Clone, Debug)]
pub struct Options {
    /// The accuracy of solutions.
    pub accuracy: Accuracy,
    /// The limits on the size of automata.
    pub automata: AutomataLimits,
    /// The largest number of states of the product of a chain and an automaton.
    pub max_product: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            accuracy: Accuracy::default(),
            automata: AutomataLimits::default(),
            max_product: 100_000_000,
        }
    }
}

/// A chain with the declared names of its model, prepared for checking properties.
#[derive(Debug)]
pub struct Checker<'a, V: Scalar> {
    chain: &'a Chain<V>,
    scope: Scope,
    labels: Vec<(String, Expr)>,
    named: Vec<Property>,
    options: Options,
    predecessors: OnceCell<Digraph>,
    factors: Rc<Factors<V>>,
    /// The first value that is less precise than requested.
    short: RefCell<Option<NotConverged>>,
}

impl<'a, V: Scalar> Checker<'a, V> {
    /// Returns a checker for a chain; `scope` holds the names of the model that the chain was built from.
    pub fn new(chain: &'a Chain<V>, mut scope: Scope, options: Options) -> Checker<'a, V> {
        scope.for_numbers_of::<V>();
        if let Some(valuations) = chain.valuations() {
            scope.add_variables(valuations);
        }
        Checker {
            chain,
            scope,
            labels: Vec::new(),
            named: Vec::new(),
            options,
            predecessors: OnceCell::new(),
            factors: Rc::default(),
            short: RefCell::default(),
        }
    }

    /// Shares eliminated components with other checkers. Their chains must have the same transitions.
    pub fn sharing(mut self, factors: Rc<Factors<V>>) -> Checker<'a, V> {
        self.factors = factors;
        self
    }

    /// Returns the names that properties may use.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Adds the declarations of a properties file, which its properties may refer to.
    ///
    /// # Errors
    /// A constant has no value of its type.
    pub fn declare(&mut self, file: &Properties, given: &Definitions) -> Checked<()> {
        self.scope.add_constants(&file.constants, given)?;
        self.scope.add_formulas(&file.formulas);
        self.labels.extend(file.labels.iter().cloned());
        self.named
            .extend(file.properties.iter().filter(|p| p.name.is_some()).cloned());
        Ok(())
    }

    /// Returns the first reason since the last call why a result has wider bounds than requested, if any. The bounds
    /// are valid nevertheless.
    pub fn take_shortfall(&self) -> Option<NotConverged> {
        self.short.take()
    }

    /// Solves a system. If a value is less precise than requested, it keeps its best bounds and the shortfall is
    /// recorded.
    fn solve(&self, problem: &Problem<'_, V>, x: &mut [V::Estimate]) {
        if let Err(wrong) = solve(problem, x, &self.options.accuracy) {
            self.short.borrow_mut().get_or_insert(wrong);
        }
    }

    /// Returns the chain.
    pub fn chain(&self) -> &'a Chain<V> {
        self.chain
    }

    /// Returns the result of a property.
    ///
    /// # Errors
    /// Unknown names, type errors such as a formula where a number is required, and exceeded limits.
    pub fn check(&self, formula: &Expr) -> Checked<Answer<V>> {
        match &formula.kind {
            Kind::Filter(filter, of, states) => {
                self.filter(*filter, of, states.as_deref(), formula.place)
            }
            Kind::Probability(Compare::Value, ..)
            | Kind::Reward(_, Compare::Value, _)
            | Kind::Steady(Compare::Value, _) => self.numbers(formula).map(Answer::Numbers),
            _ => self.truth(formula).map(Answer::Truth),
        }
    }

    /// Returns the result of a property, with the numbers that its outermost operator compares.
    ///
    /// # Errors
    /// As for [`Checker::check`].
    pub fn root(&self, formula: &Expr) -> Checked<Root<V>> {
        let (Kind::Probability(compare, ..)
        | Kind::Reward(_, compare, _)
        | Kind::Steady(compare, _)) = &formula.kind
        else {
            return Ok(Root {
                answer: self.check(formula)?,
                numbers: None,
            });
        };
        let numbers = self.numbers(formula)?;
        Ok(match compare {
            Compare::Value => Root {
                answer: Answer::Numbers(numbers),
                numbers: None,
            },
            Compare::Bound(relation, bound) => {
                let bound = self.bound(formula, bound)?;
                Root {
                    answer: Answer::Truth(numbers.compared(*relation, &bound)),
                    numbers: Some(numbers),
                }
            }
        })
    }

    /// Returns the name of the method that decides a property, for display.
    pub fn method(&self, formula: &Expr) -> &'static str {
        match &formula.kind {
            Kind::Probability(_, _, Some(_)) => "product with automata, quotient",
            Kind::Probability(_, path, None) => match &path.kind {
                Kind::Unary(_, bounds, of) if path::is_state_formula(of) => method_of(bounds),
                Kind::Until(_, left, bounds, right)
                    if path::is_state_formula(left) && path::is_state_formula(right) =>
                {
                    method_of(bounds)
                }
                Kind::Next(of) if path::is_state_formula(of) => "one step",
                Kind::Not(_) => "components",
                _ if path::is_state_formula(path) => "sets",
                _ => "product with a deterministic automaton",
            },
            Kind::Reward(_, _, measure) => match **measure {
                Measure::Cumulative(..) | Measure::Instantaneous(_) => "step by step",
                Measure::Steady => "renewal in bottom components",
                Measure::Reach(_) | Measure::Total => "components",
            },
            Kind::Steady(..) => "renewal in bottom components",
            Kind::Paths(..) => "graph",
            Kind::Filter(_, of, _) => self.method(of),
            _ => "sets",
        }
    }

    /// Returns the value of a bound on a probability.
    ///
    /// # Errors
    /// The bound is not a constant number between 0 and 1.
    pub fn threshold(&self, bound: &Expr) -> Checked<V> {
        let value: V = self.scope.real_value(bound, "a bound on a probability")?;
        if !(value >= V::zero() && value <= V::one()) {
            return Err(TextError::new(
                bound.place,
                format!("the bound {} is not a probability", value.text()),
            )
            .into());
        }
        Ok(value)
    }

    /// Returns the value of the bound of an operator.
    fn bound(&self, formula: &Expr, bound: &Expr) -> Checked<V> {
        match formula.kind {
            Kind::Reward(..) => Ok(self.scope.real_value(bound, "a bound on a reward")?),
            _ => self.threshold(bound),
        }
    }

    /// Returns the numbers of an operator: its result for `=?`, otherwise the numbers that its bound is compared with.
    fn numbers(&self, formula: &Expr) -> Checked<Numbers<V>> {
        V::numbers(self, formula)
    }

    /// [`Checker::numbers`], compiled by each implementation of [`Scalar::numbers`].
    pub(super) fn own_numbers(&self, formula: &Expr) -> Checked<Numbers<V>> {
        match &formula.kind {
            Kind::Probability(_, path, None) => self.probability(path),
            Kind::Probability(_, path, Some(given)) => self.conditional(path, given),
            Kind::Reward(structure, _, measure) => {
                self.reward(structure.as_ref(), measure, formula.place)
            }
            Kind::Steady(_, of) => {
                let truth = self.truth(of)?;
                self.steady(&truth)
            }
            _ => Err(TextError::new(formula.place, "expected a number").into()),
        }
    }

    /// Returns the states in which a state formula holds.
    pub fn truth(&self, formula: &Expr) -> Checked<Truth> {
        match &formula.kind {
            Kind::Label(name) => self.label(name, formula.place),
            Kind::Not(of) => Ok(self.truth(of)?.negated()),
            Kind::Binary(op @ (Op::And | Op::Or | Op::Implies | Op::Iff), left, right) => {
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                Ok(match op {
                    Op::And => left.and(&right),
                    Op::Or => left.or(&right),
                    Op::Implies => left.implies(&right),
                    _ => left.iff(&right),
                })
            }
            Kind::If(condition, yes, no) if contains_property(formula) => {
                let condition = self.truth(condition)?;
                Ok(condition.choose(&self.truth(yes)?, &self.truth(no)?))
            }
            Kind::Probability(compare, ..)
            | Kind::Reward(_, compare, _)
            | Kind::Steady(compare, _) => {
                let Compare::Bound(relation, bound) = compare else {
                    return Err(TextError::new(
                        formula.place,
                        "expected a truth value, but `=?` returns a number",
                    )
                    .help("compare it with a bound, as in `P>=0.5 [ … ]`")
                    .into());
                };
                let bound = self.bound(formula, bound)?;
                Ok(self.numbers(formula)?.compared(*relation, &bound))
            }
            Kind::Paths(quantifier, of) => self.paths(*quantifier, of),
            Kind::Filter(filter, of, states) => {
                self.filtered_truth(*filter, of, states.as_deref(), formula.place)
            }
            Kind::Next(_) | Kind::Unary(..) | Kind::Until(..) => Err(TextError::new(
                formula.place,
                "a path formula has no truth value in a state",
            )
            .help("use it under `P`, `A` or `E`")
            .into()),
            Kind::Name(name) if !self.scope.knows(name) => self.unknown(name, formula.place),
            _ => Ok(Truth::exact(states_where(
                self.chain,
                &self.scope,
                formula,
            )?)),
        }
    }

    fn label(&self, name: &str, place: TextPosition) -> Checked<Truth> {
        if let Some((_, formula)) = self.labels.iter().find(|label| label.0 == name) {
            return self.truth(formula);
        }
        if let Some(states) = self.chain.label(name) {
            return Ok(Truth::exact(states.clone()));
        }
        // A named property can be used like a label. A property that refers to itself or to a later property is
        // rejected.
        if let Some(at) = self
            .named
            .iter()
            .position(|property| property.name.as_deref() == Some(name))
        {
            let formula = &self.named[at].formula;
            if self.named[at..]
                .iter()
                .any(|later| mentions(formula, later.name.as_deref()))
            {
                return Err(TextError::new(
                    place,
                    format!("the property \"{name}\" refers to itself or to a later property"),
                )
                .into());
            }
            return self.truth(formula);
        }
        let known: Vec<String> = self
            .chain
            .labels()
            .map(|(label, _)| format!("\"{label}\""))
            .collect();
        Err(TextError::new(place, format!("unknown label \"{name}\""))
            .help(format!("labels of this model: {}", known.join(", ")))
            .into())
    }

    fn unknown(&self, name: &str, place: TextPosition) -> Checked<Truth> {
        let wrong = TextError::new(place, format!("`{name}` is not declared"));
        Err(if self.chain.label(name).is_some() {
            wrong
                .help(format!("labels must be quoted: \"{name}\""))
                .into()
        } else {
            wrong.into()
        })
    }

    fn predecessors(&self) -> &Digraph {
        self.predecessors
            .get_or_init(|| self.chain.graph().reversed())
    }

    fn states(&self) -> usize {
        self.chain.len()
    }

    /// Returns bounds for undecided sets: from the result with all sets read as `must` and that with all read as `may`.
    fn both_ways(
        &self,
        exact: bool,
        mut compute: impl FnMut(bool) -> Checked<Numbers<V>>,
    ) -> Checked<Numbers<V>> {
        let low = compute(true)?;
        if exact {
            return Ok(low);
        }
        let high = compute(false)?;
        Ok(between(low, &high))
    }
}

fn method_of(bounds: &Bounds) -> &'static str {
    if bounds.is_none() {
        "components"
    } else {
        "step by step"
    }
}

/// Returns the numbers that lie between two others.
fn between<V: Scalar>(mut low: Numbers<V>, high: &Numbers<V>) -> Numbers<V> {
    use super::scalar::Estimate as _;
    // A number that only one side determines is not certain.
    low.qualitative = false;
    for (state, value) in low.values.iter_mut().enumerate() {
        if low.infinite.contains(state) != high.infinite.contains(state) {
            low.infinite.set(state, false);
            low.undefined.insert(state);
        }
        let (least, most) = (value.lower(), high.values[state].upper());
        *value = V::Estimate::between(least, most);
    }
    low.undefined.union_with(&high.undefined);
    low
}

/// Returns whether an expression contains labels, operators of properties or temporal operators.
pub(crate) fn contains_property(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Not(of) | Kind::Minus(of) => contains_property(of),
        Kind::Binary(_, left, right) => contains_property(left) || contains_property(right),
        Kind::If(condition, yes, no) => {
            contains_property(condition) || contains_property(yes) || contains_property(no)
        }
        Kind::Call(_, arguments) => arguments.iter().any(contains_property),
        Kind::Bool(_) | Kind::Int(_) | Kind::Real(_) | Kind::Name(_) => false,
        _ => true,
    }
}

/// Returns whether a formula refers to a label of this name.
fn mentions(expr: &Expr, name: Option<&str>) -> bool {
    let inner = |part: &Expr| mentions(part, name);
    match &expr.kind {
        Kind::Label(label) => Some(label.as_str()) == name,
        Kind::Not(of) | Kind::Minus(of) | Kind::Next(of) | Kind::Unary(_, _, of) => inner(of),
        Kind::Binary(_, left, right) | Kind::Until(_, left, _, right) => {
            inner(left) || inner(right)
        }
        Kind::If(condition, yes, no) => inner(condition) || inner(yes) || inner(no),
        Kind::Call(_, arguments) => arguments.iter().any(inner),
        Kind::Probability(_, path, given) => inner(path) || given.as_deref().is_some_and(inner),
        Kind::Steady(_, of) | Kind::Paths(_, of) => inner(of),
        Kind::Reward(_, _, measure) => {
            matches!(&**measure, super::prism::expr::Measure::Reach(of) if inner(of))
        }
        Kind::Filter(_, of, states) => inner(of) || states.as_deref().is_some_and(inner),
        Kind::Bool(_) | Kind::Int(_) | Kind::Real(_) | Kind::Name(_) => false,
    }
}
