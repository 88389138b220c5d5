//! The numbers of operators, in each state of a chain.

use super::super::error::QueryError;
use super::super::start::from_the_start;
use super::Evaluation;
use crate::hir::{Branching, RewardKind};
use crate::ids::BranchingId;
use crate::translate::chain::{binary, label, make, not};
use guard_markov::prism::expr::{Compare as Asked, Expr as MExpr, Kind, Measure, Op, Structure};
use guard_markov::solve::average;
use guard_markov::{Answer, Estimate, Numbers, Scalar};

impl<V: Scalar> Evaluation<'_, V> {
    /// Returns the number of an operator in each state; at the start of a learned chain, over the run that follows.
    pub(super) fn numbers(&self, id: BranchingId) -> Result<Numbers<V>, QueryError> {
        match self.spec.branchings.get(id) {
            Branching::Path { .. } => Err(QueryError::Condition),
            Branching::Probability { path, given, .. } => {
                let path = self.lower(*path)?;
                let given = given.map(|given| self.lower(given)).transpose()?;
                let question = |path: MExpr, given: Option<MExpr>| {
                    make(Kind::Probability(
                        Asked::Value,
                        Box::new(path),
                        given.map(Box::new),
                    ))
                };
                let now = self.ask(&question(path.clone(), given.clone()))?;
                if self.learned.is_none() || !self.from_start.get() {
                    return Ok(now);
                }
                let shifted = from_the_start(&path);
                match (shifted, given) {
                    (Err(value), None) => {
                        let value = if value { V::one() } else { V::zero() };
                        self.start_is(now, V::Estimate::exact(value))
                    }
                    (Ok(path), None) => {
                        let next = self.ask(&question(path, None))?;
                        self.averaged(now, &next)
                    }
                    // A conditional probability is a quotient, which cannot be averaged, so both parts are evaluated
                    // one step later.
                    (path, Some(given)) => {
                        let one_on = |of: Result<MExpr, bool>| match of {
                            Ok(of) => make(Kind::Next(Box::new(of))),
                            Err(value) => make(Kind::Bool(value)),
                        };
                        let (path, given) = (one_on(path), one_on(from_the_start(&given)));
                        let next = self.ask(&question(path, Some(given)))?;
                        self.copied(now, &next)
                    }
                }
            }
            Branching::Steady { state, .. } => {
                let of = self.as_label(*state)?;
                let now = self.ask(&make(Kind::Steady(Asked::Value, Box::new(of))))?;
                Ok(now)
            }
            Branching::Reward { name, kind, .. } => {
                let structure = name.as_ref().map(|name| Structure::Name(name.to_string()));
                let question = |measure: Measure| {
                    make(Kind::Reward(
                        structure.clone(),
                        Asked::Value,
                        Box::new(measure),
                    ))
                };
                let int = |steps: u32| make(Kind::Int(i64::from(steps)));
                let explicit = self.learned.as_ref().is_some_and(|of| of.explicit);
                let measure = match kind {
                    // The start is not a step, so a condition that holds there is not reached yet.
                    RewardKind::Reach(state) if explicit => {
                        Measure::Reach(binary(Op::And, not(label("start")), self.as_label(*state)?))
                    }
                    RewardKind::Reach(state) => Measure::Reach(self.as_label(*state)?),
                    RewardKind::Cumulative(None) => Measure::Total,
                    RewardKind::Cumulative(Some(steps)) => Measure::Cumulative(int(*steps), false),
                    RewardKind::Instant(steps) => Measure::Instantaneous(int(*steps)),
                    RewardKind::Steady => Measure::Steady,
                };
                let now = self.ask(&question(measure))?;
                // The start has no reward; rewards begin with the first step.
                match kind {
                    RewardKind::Cumulative(Some(_)) if explicit => {
                        let next = now.clone();
                        self.averaged(now, &next)
                    }
                    RewardKind::Instant(0) if explicit => {
                        self.start_is(now, V::Estimate::exact(V::zero()))
                    }
                    _ => Ok(now),
                }
            }
        }
    }

    fn ask(&self, question: &MExpr) -> Result<Numbers<V>, QueryError> {
        let chain = self.chain.borrow();
        let checker = self.checker(&chain);
        self.method.set(checker.method(question));
        let mut asked = self.asked.borrow_mut();
        let known = asked.iter().find(|(known, ..)| known == question);
        let (numbers, short) = match known {
            Some((_, numbers, short)) => (numbers.clone(), short.clone()),
            None => {
                let Answer::Numbers(numbers) = checker.check(question)? else {
                    return Err(QueryError::Condition);
                };
                let short = checker.take_shortfall();
                asked.push((question.clone(), numbers.clone(), short.clone()));
                (numbers, short)
            }
        };
        if short.is_some() {
            self.short.replace(short);
        }
        Ok(numbers)
    }

    fn start_is(
        &self,
        mut numbers: Numbers<V>,
        value: V::Estimate,
    ) -> Result<Numbers<V>, QueryError> {
        if let Some(learned) = &self.learned {
            numbers.values[learned.start as usize] = value;
        }
        Ok(numbers)
    }

    /// Replaces the number of the start by the average over the next states.
    fn averaged(&self, numbers: Numbers<V>, next: &Numbers<V>) -> Result<Numbers<V>, QueryError> {
        let Some(learned) = &self.learned else {
            return Ok(numbers);
        };
        let value = average(&*self.chain.borrow(), learned.start, &next.values);
        self.start_is(numbers, value)
    }

    /// Replaces the number of the start by that of another result.
    fn copied(&self, mut numbers: Numbers<V>, of: &Numbers<V>) -> Result<Numbers<V>, QueryError> {
        if let Some(learned) = &self.learned {
            let start = learned.start as usize;
            numbers.values[start] = of.values[start].clone();
            numbers.undefined.set(start, of.undefined.contains(start));
        }
        Ok(numbers)
    }
}
