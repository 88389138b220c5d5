//! Bottom-up evaluation of claims on a chain.

mod numbers;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::answer::{ClaimAnswer, Figure, at};
use super::chain::Learned;
use super::error::QueryError;
use super::guarantee::{Confidence, Evidence, Interval, Range};
use super::plan::has_operator;
use super::runs::Event;
use super::session::Drawing;
use super::start::from_the_start;
use super::why::Reasons;
use crate::hir::{Ask, Branching, Claim, ClaimFormula, Compare, Expr, Formula, Spec, Unary};
use crate::ids::{ExprId, FormulaId, PropertyId};
use crate::translate::chain::{Ends, OnChain, binary, label, make, not};
use crate::value::Value;
use guard_automata::graph::NodeSet;
use guard_markov::analysis::inevitable;
use guard_markov::interval::UncertainChain;
use guard_markov::prism::expr::{Expr as MExpr, Kind, Op, Quantifier, Relation};
use guard_markov::solve::Factors;
use guard_markov::solve::NotConverged;
use guard_markov::{Chain, Checker, Numbers, Options, Scalar, Scope, Truth};

/// Returns the conditions on single states that claims read, including the letters of monitored properties, and these
/// properties. The order depends on the spec only.
pub fn asked<'a>(
    spec: &Spec,
    claims: impl IntoIterator<Item = &'a Claim>,
    decided: &dyn Fn(PropertyId) -> bool,
) -> (Vec<ExprId>, Vec<PropertyId>) {
    let (mut conditions, mut monitors) = (Vec::new(), Vec::new());
    for claim in claims {
        let roots = claim.formula.states(&spec.formulas);
        let mut todo: Vec<ExprId> = roots;
        // Conditions share parts.
        let mut seen = FxHashSet::default();
        while let Some(id) = todo.pop() {
            if !seen.insert(id) {
                continue;
            }
            match spec.exprs.get(id) {
                Expr::Branching(branching) => {
                    todo.extend(spec.branchings.get(*branching).states(&spec.formulas));
                }
                Expr::Violated(property) if !decided(*property) && !monitors.contains(property) => {
                    monitors.push(*property);
                }
                Expr::Violated(property) if !decided(*property) => {}
                Expr::Label(_) => {}
                _ if composite(spec, id, decided) => todo.extend(spec.exprs.operands(id)),
                _ if !conditions.contains(&id) => conditions.push(id),
                _ => {}
            }
        }
    }
    for property in &monitors {
        for letter in spec.formulas.atoms_of(spec.property(*property).formula) {
            let expr = spec.atom(letter).expr;
            if !conditions.contains(&expr) {
                conditions.push(expr);
            }
        }
    }
    (conditions, monitors)
}

/// Whether an expression contains an operator, a label or a monitor, so that its connectives are evaluated on sets of
/// states.
fn composite(spec: &Spec, id: ExprId, decided: &dyn Fn(PropertyId) -> bool) -> bool {
    spec.exprs.any_part(id, |part| match part {
        Expr::Branching(_) | Expr::Label(_) => true,
        Expr::Violated(property) => !decided(*property),
        _ => false,
    })
}

/// An expression, its numbers, and the reason if they are less precise than requested.
type Answered<V> = (MExpr, Numbers<V>, Option<NotConverged>);

/// A chain on which claims are evaluated. Results that several claims need are computed once: the labels of conditions, and the
/// answers of the engine.
#[derive(Debug)]
pub(super) struct Evaluation<'a, V: Scalar> {
    spec: &'a Spec,
    /// The chain, with a label for each set of states computed so far.
    chain: RefCell<Chain<V>>,
    learned: Option<Rc<Learned<V>>>,
    /// The names of its states.
    names: Vec<String>,
    start: u32,
    options: Options,
    method: Cell<&'static str>,
    /// Whether the number of the start is that of the run after it, rather than that of the start as a step.
    from_start: Cell<bool>,
    /// The label of each condition, and of whether the start was read as above.
    labels: RefCell<FxHashMap<(ExprId, bool), MExpr>>,
    /// The states in which conditions of the current claim hold, by the same key: conditions share parts.
    truths: RefCell<FxHashMap<(ExprId, bool), Truth>>,
    asked: RefCell<Vec<Answered<V>>>,
    /// The reason why numbers of the current claim are less precise than requested.
    short: RefCell<Option<NotConverged>>,
    /// Components eliminated for one question, reused for the next.
    factors: Rc<Factors<V>>,
}

impl<'a, V: Scalar> Evaluation<'a, V> {
    /// Builds an evaluation on a chain learned from counts.
    pub(super) fn learned(
        spec: &'a Spec,
        learned: Rc<Learned<V>>,
        names: Vec<String>,
        options: &Options,
    ) -> Self {
        let (chain, start) = (learned.chain.clone(), learned.start);
        Evaluation::new(spec, chain, Some(learned), names, start, options)
    }

    /// Builds an evaluation on an imported chain, read as infinite runs.
    pub(super) fn imported(spec: &'a Spec, chain: Chain<V>, options: &Options) -> Self {
        let names = (0..chain.len() as u32)
            .map(|state| chain.name(state))
            .collect();
        let start = chain.initial().ones().next().unwrap_or(0) as u32;
        Evaluation::new(spec, chain, None, names, start, options)
    }

    fn new(
        spec: &'a Spec,
        chain: Chain<V>,
        learned: Option<Rc<Learned<V>>>,
        names: Vec<String>,
        start: u32,
        options: &Options,
    ) -> Self {
        Evaluation {
            spec,
            chain: RefCell::new(chain),
            learned,
            names,
            start,
            options: options.clone(),
            method: Cell::new("sets"),
            from_start: Cell::new(true),
            labels: RefCell::default(),
            truths: RefCell::default(),
            asked: RefCell::default(),
            short: RefCell::default(),
            factors: Rc::default(),
        }
    }

    fn checker<'c>(&self, chain: &'c Chain<V>) -> Checker<'c, V> {
        Checker::new(chain, Scope::default(), self.options.clone())
            .sharing(Rc::clone(&self.factors))
    }

    pub(super) fn answer(&self, claim: &Claim) -> Result<ClaimAnswer, QueryError> {
        self.method.set("sets");
        self.from_start.set(true);
        self.short.take();
        self.truths.take();
        let mut answer = ClaimAnswer {
            states: self.names.len(),
            value: None,
            holds: None,
            per_state: Vec::new(),
            per_state_truth: Vec::new(),
            smoothing_share: None,
            interval: None,
            observed: None,
            asymptotic: None,
            evidence: None,
            graphs: None,
            imprecise: None,
            method: "sets",
        };
        let state = match claim.formula {
            ClaimFormula::State(state) => state,
            ClaimFormula::Path(path) => {
                // Quantifies over all paths.
                let truth = self.paths(path, true)?;
                answer.holds = Some(at(&truth, self.start));
                answer.method = self.method.get();
                return Ok(answer);
            }
        };
        let names = self.names.iter().cloned().enumerate();
        if let Expr::Branching(id) = self.spec.exprs.get(state)
            && let Some(ask) = self.spec.branchings.get(*id).ask()
        {
            let is_reward = matches!(self.spec.branchings.get(*id), Branching::Reward { .. });
            let figure = |numbers: &Numbers<V>, state: usize| match Figure::of(numbers, state) {
                reward if is_reward => reward,
                figure => figure.within_unit(),
            };
            let numbers = self.numbers(*id)?;
            answer.value = Some(figure(&numbers, self.start as usize));
            answer.method = self.method.get();
            let compared = numbers.clone();
            let numbers = if self.begins_anew() {
                numbers
            } else {
                self.numbers(*id)?
            };
            answer.per_state = names
                .map(|(state, name)| (name, figure(&numbers, state)))
                .collect();
            if let Ask::Compare(compare, threshold) = ask {
                let bound = V::parse(&threshold.to_string()).unwrap_or_else(V::zero);
                let truth = compared.compared(relation(*compare), &bound);
                answer.holds = Some(at(&truth, self.start));
            }
        } else {
            let truth = self.truth(state)?;
            answer.method = self.method.get();
            answer.holds = Some(at(&truth, self.start));
            answer.per_state_truth = names.map(|(state, name)| (name, truth.at(state))).collect();
        }
        answer.imprecise = self.short.take();
        Ok(answer)
    }

    /// From here on, treats the start as a separate state if it is one. A chain that begins in a state of the abstraction may
    /// return to it later.
    fn begins_anew(&self) -> bool {
        let own = self.learned.as_ref().is_none_or(|learned| learned.explicit);
        self.from_start.set(own);
        own
    }

    /// Returns an interval around the number of a claim, over all chains in `rows`. Returns `None` if no bound is known: for
    /// rewards, steady states, conditions, and formulas of more than one temporal operator.
    pub(super) fn interval(
        &self,
        claim: &Claim,
        rows: &UncertainChain,
        confidence: Confidence,
    ) -> Result<Option<Interval>, QueryError> {
        self.from_start.set(true);
        let Some(path) = claim.probability_of(self.spec) else {
            return Ok(None);
        };
        // The states in which a nested probability holds depend on the rows too.
        let spec = self.spec;
        let letters = spec.formulas.atoms_of(path).into_iter();
        if letters
            .map(|of| spec.atom(of).expr)
            .any(|id| has_operator(spec, id))
        {
            return Ok(None);
        }
        let of = self.lower(path)?;
        let (chain, precision) = (self.chain.borrow(), self.options.accuracy.precision);
        let checker = self.checker(&chain);
        let Some(mut bounds) = checker.robust(&of, rows, precision)? else {
            return Ok(None);
        };
        let start = self.start as usize;
        let first = match (&self.learned, from_the_start(&of)) {
            (None, _) => Some((bounds.lower[start], bounds.upper[start])),
            (Some(_), Err(value)) => Some(if value { (1.0, 1.0) } else { (0.0, 0.0) }),
            (Some(_), Ok(path)) => checker.robust(&path, rows, precision)?.map(|next| {
                let before = rows.one_step_before(&next);
                (before.lower[start], before.upper[start])
            }),
        };
        let Some((lower, upper)) = first else {
            return Ok(None);
        };
        if self.begins_anew() {
            (bounds.lower[start], bounds.upper[start]) = (lower, upper);
        }
        let ranges = bounds.lower.iter().zip(&bounds.upper);
        Ok(Some(Interval {
            confidence,
            range: Range { lower, upper },
            per_state: self
                .names
                .iter()
                .cloned()
                .zip(ranges.map(|(lower, upper)| Range {
                    lower: *lower,
                    upper: *upper,
                }))
                .collect(),
        }))
    }
}

impl<V: Scalar> Evaluation<'_, V> {
    /// Returns the event of a claim, over the run after the start; `None` for claims that are not about the probability of one
    /// event.
    pub(super) fn event(&self, claim: &Claim) -> Result<Option<Event>, QueryError> {
        self.from_start.set(true);
        let Some(path) = claim.probability_of(self.spec) else {
            return Ok(None);
        };
        let of = self.lower(path)?;
        let chain = self.chain.borrow();
        let goal = self.checker(&chain).goal(&of)?;
        Ok(goal.map(|(mut goal, negated)| {
            if self
                .learned
                .as_ref()
                .is_some_and(|learned| learned.explicit)
            {
                // The start is not a step of the run, but bounds count the step out of it.
                goal.target.set(self.start as usize, false);
                goal.open.insert(self.start as usize);
            }
            Event {
                goal,
                negated,
                start: self.start,
            }
        }))
    }

    /// Returns the goal states of a reachability claim, and the states from which the goal cannot be avoided: all paths of the
    /// graph except a null set reach it, for any probabilities. Returns `None` for other claims.
    pub(super) fn inevitable(&self, claim: &Claim) -> Result<Option<[NodeSet; 2]>, QueryError> {
        let Some(path) = claim.probability_of(self.spec) else {
            return Ok(None);
        };
        let Formula::Unary(Unary::Eventually, _, of) = self.spec.formulas.get(path) else {
            return Ok(None);
        };
        let Formula::Atom(letter) = self.spec.formulas.get(*of) else {
            return Ok(None);
        };
        let target = self.truth(self.spec.atom(*letter).expr)?.must;
        let sure = inevitable(&*self.chain.borrow(), &target);
        Ok(Some([target, sure]))
    }

    /// Explains the number of a claim, from a state or from the start. Returns `None` for claims that are not about the
    /// probability of one event, and if the event has already happened in that state.
    pub(super) fn why(
        &self,
        claim: &Claim,
        from: Option<&str>,
        exits: Vec<u64>,
    ) -> Result<Option<Reasons>, QueryError> {
        let from = match from {
            None => self.start,
            Some(name) => {
                let found = self.names.iter().position(|own| own == name);
                found.ok_or_else(|| QueryError::NoState {
                    name: name.to_owned(),
                })? as u32
            }
        };
        self.from_start.set(true);
        let Some(path) = claim.probability_of(self.spec) else {
            return Ok(None);
        };
        let of = self.lower(path)?;
        let chain = self.chain.borrow();
        let Some(goal) = self.checker(&chain).goal(&of)? else {
            return Ok(None);
        };
        // The start of a learned chain is not a step of the run.
        let begins = self.learned.is_some() && from == self.start;
        if !begins && !goal.0.open.contains(from as usize) {
            return Ok(None);
        }
        let name = |state: u32| self.names[state as usize].clone();
        let accuracy = &self.options.accuracy;
        let reasons = Reasons::new(&*chain, &name, &goal, from, exits, accuracy);
        Ok(Some(reasons?))
    }

    /// Returns the chain with the likeliest paths to the event of a claim, for drawing; `None` for claims that are not about
    /// the probability of a path formula.
    pub(super) fn drawing(
        &self,
        claim: &Claim,
        paths: Vec<(f64, Vec<u32>)>,
    ) -> Result<Option<Drawing>, QueryError> {
        if claim.probability_of(self.spec).is_none() {
            return Ok(None);
        }
        let event = self.event(claim)?;
        let opposite = event.as_ref().is_some_and(|event| event.negated);
        let target = event.map(|event| event.goal.target);
        let has = |state: usize| target.as_ref().is_some_and(|set| set.contains(state));
        let chain = self.chain.borrow();
        let mut edges = Vec::new();
        for from in 0..chain.len() as u32 {
            let row = chain.row(from);
            edges.extend(row.map(|(to, probability)| (from, to, probability.to_f64())));
        }
        Ok(Some(Drawing {
            names: self.names.clone(),
            start: self.start,
            edges,
            reached: (0..chain.len()).map(has).collect(),
            opposite,
            paths,
        }))
    }

    /// Returns the names of the states.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the states in which a state formula holds.
    fn truth(&self, id: ExprId) -> Result<Truth, QueryError> {
        let key = (id, self.from_start.get());
        if let Some(known) = self.truths.borrow().get(&key) {
            return Ok(known.clone());
        }
        let truth = self.new_truth(id)?;
        self.truths.borrow_mut().insert(key, truth.clone());
        Ok(truth)
    }

    fn new_truth(&self, id: ExprId) -> Result<Truth, QueryError> {
        if let Some(learned) = &self.learned {
            if let Some(set) = learned.conditions.get(&id) {
                return Ok(Truth::exact(set.clone()));
            }
            if let Expr::Violated(property) = self.spec.exprs.get(id)
                && let Some((_, set)) = learned.violated.iter().find(|(of, _)| of == property)
            {
                return Ok(Truth::exact(set.clone()));
            }
        }
        Ok(match self.spec.exprs.get(id) {
            Expr::Const(Value::Bool(value)) => {
                let chain = self.chain.borrow();
                let graph = chain.graph();
                Truth::exact(if *value { graph.all() } else { graph.none() })
            }
            Expr::Not(a) => self.truth(*a)?.negated(),
            Expr::And(a, b) => self.truth(*a)?.and(&self.truth(*b)?),
            Expr::Or(a, b) => self.truth(*a)?.or(&self.truth(*b)?),
            Expr::Implies(a, b) => self.truth(*a)?.implies(&self.truth(*b)?),
            Expr::Iff(a, b) => self.truth(*a)?.iff(&self.truth(*b)?),
            Expr::If(c, a, b) => self.truth(*c)?.choose(&self.truth(*a)?, &self.truth(*b)?),
            Expr::Branching(branching) => match (
                self.spec.branchings.get(*branching),
                self.spec.branchings.get(*branching).ask(),
            ) {
                (Branching::Path { all, path }, _) => self.paths(*path, *all)?,
                (_, Some(Ask::Compare(compare, threshold))) => {
                    let bound = V::parse(&threshold.to_string()).unwrap_or_else(V::zero);
                    self.numbers(*branching)?
                        .compared(relation(*compare), &bound)
                }
                _ => return Err(QueryError::Condition),
            },
            _ => {
                let condition = self.condition(id)?;
                let chain = self.chain.borrow();
                let checker = self.checker(&chain);
                checker.truth(&condition)?
            }
        })
    }

    /// Returns a condition on an imported chain, or a label, as an expression of the engine.
    fn condition(&self, id: ExprId) -> Result<MExpr, QueryError> {
        let exprs = &self.spec.exprs;
        let pair = |op: Op, a: ExprId, b: ExprId| -> Result<MExpr, QueryError> {
            Ok(binary(op, self.condition(a)?, self.condition(b)?))
        };
        Ok(match exprs.get(id) {
            Expr::Label(name) => {
                if self.chain.borrow().label(name).is_some() {
                    label(name)
                } else {
                    make(Kind::Name(name.to_string()))
                }
            }
            Expr::Const(Value::Bool(value)) => make(Kind::Bool(*value)),
            Expr::Const(Value::Number(number)) => {
                match number.to_int().and_then(|n| i64::try_from(n).ok()) {
                    Some(value) => make(Kind::Int(value)),
                    None => make(Kind::Real(number.to_string())),
                }
            }
            Expr::Not(a) => not(self.condition(*a)?),
            Expr::And(a, b) => pair(Op::And, *a, *b)?,
            Expr::Or(a, b) => pair(Op::Or, *a, *b)?,
            Expr::Implies(a, b) => pair(Op::Implies, *a, *b)?,
            Expr::Iff(a, b) => pair(Op::Iff, *a, *b)?,
            Expr::Compare(Compare::Eq, a, b) => pair(Op::Equal, *a, *b)?,
            Expr::Compare(compare, a, b) => pair(Op::Compare(relation(*compare)), *a, *b)?,
            _ => return Err(QueryError::Condition),
        })
    }

    /// Returns a state formula as a label of the chain.
    fn as_label(&self, id: ExprId) -> Result<MExpr, QueryError> {
        let key = (id, self.from_start.get());
        if let Some(known) = self.labels.borrow().get(&key) {
            return Ok(known.clone());
        }
        let truth = self.truth(id)?;
        if !truth.is_exact() {
            let text = format!("{:?}", self.spec.exprs.get(id));
            return Err(QueryError::Undecided { text });
        }
        let made = self.set(truth.must);
        self.labels.borrow_mut().insert(key, made.clone());
        Ok(made)
    }

    fn set(&self, set: NodeSet) -> MExpr {
        let mut chain = self.chain.borrow_mut();
        let name = format!("\u{1}{}", chain.labels().count());
        chain.add_label(&name, set);
        label(&name)
    }

    fn lower(&self, path: FormulaId) -> Result<MExpr, QueryError> {
        let ends = match self.learned {
            Some(_) => Ends::Labelled,
            None => Ends::Unlabelled,
        };
        let state = |id: ExprId| self.as_label(id);
        let spec = self.spec;
        OnChain { spec, ends, state }.path(path)
    }

    fn paths(&self, path: FormulaId, all: bool) -> Result<Truth, QueryError> {
        let of = self.lower(path)?;
        let quantifier = if all {
            Quantifier::All
        } else {
            Quantifier::Exists
        };
        let question = |of: MExpr| make(Kind::Paths(quantifier, Box::new(of)));
        let chain = self.chain.borrow();
        let checker = self.checker(&chain);
        self.method.set("graph");
        let mut truth = checker.truth(&question(of.clone()))?;
        if let Some(learned) = &self.learned {
            // The start is not a step of the run: claims at the start are about the steps after it.
            let start = learned.start as usize;
            let next = match from_the_start(&of) {
                Ok(of) => checker.truth(&question(of))?,
                Err(value) => {
                    truth.must.set(start, value);
                    truth.may.set(start, value);
                    return Ok(truth);
                }
            };
            let targets = chain.graph().successors(learned.start);
            let over = |set: &NodeSet| {
                let mut holds = targets.iter().map(|target| set.contains(*target as usize));
                if all {
                    holds.all(|holds| holds)
                } else {
                    holds.any(|holds| holds)
                }
            };
            truth.must.set(start, over(&next.must));
            truth.may.set(start, over(&next.may));
        }
        Ok(truth)
    }
}

/// Compares an interval with the threshold of a claim; `None` if the claim has no threshold.
pub(super) fn evidence(spec: &Spec, claim: &Claim, range: Range) -> Option<Evidence> {
    let ClaimFormula::State(state) = claim.formula else {
        return None;
    };
    let Expr::Branching(id) = spec.exprs.get(state) else {
        return None;
    };
    let Some(Ask::Compare(compare, threshold)) = spec.branchings.get(*id).ask() else {
        return None;
    };
    let bound = f64::parse(&threshold.to_string())?;
    let holds = relation(*compare).over(&range.lower, &range.upper, &bound);
    Some(match holds {
        Some(true) => Evidence::Holds,
        Some(false) => Evidence::Fails,
        None => Evidence::NotEnough,
    })
}

fn relation(compare: Compare) -> Relation {
    match compare {
        Compare::Lt => Relation::Less,
        Compare::Gt => Relation::Greater,
        Compare::Ge => Relation::GreaterEqual,
        // Thresholds are never compared for equality.
        Compare::Le | Compare::Eq => Relation::LessEqual,
    }
}
