//! The outcome of a walk: a path formula of a query, true, false or unknown from each step on.
//!
//! After the last step of a walk that was cut off, everything is unknown. A walk in an absorbing state stays there forever. A
//! complete walk ends and is evaluated as in LTLf.

use std::collections::HashMap;

use super::QueryError;
use crate::hir::{Binary, Bound, Expr, Formula, Spec, Unary};
use crate::ids::{ExprId, FormulaId, PropertyId};
use crate::translate::chain::counts_at_end;
use crate::value::{Truth, Value};

/// The continuation after the last step of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// The run has ended.
    End,
    /// Unknown.
    Open,
    /// The last state, forever.
    Stays,
}

/// A walk as formulas are evaluated on it.
pub struct Course<'a> {
    /// The spec of the formula.
    pub spec: &'a Spec,
    /// Number of steps.
    pub len: usize,
    /// The continuation after the last one.
    pub tail: Tail,
    /// Whether a condition holds after a step.
    pub holds: &'a dyn Fn(ExprId, usize) -> Truth,
    /// Whether a monitored property is violated after a step or, at `len`, at the end of the run. `None` if no monitor tracks
    /// the property because the state itself records it.
    pub violated: &'a dyn Fn(PropertyId, usize) -> Option<Truth>,
}

impl std::fmt::Debug for Course<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut course = f.debug_struct("Course");
        course.field("len", &self.len).field("tail", &self.tail);
        course.finish_non_exhaustive()
    }
}

impl Course<'_> {
    /// Whether the formula holds before the first step (its outermost bound counts that step as 1), then from each step on.
    ///
    /// # Errors
    /// Operators of the past and bounds in time, which chains do not support either; nested operators of branching time.
    pub fn outcomes(&self, path: FormulaId) -> Result<(Truth, Vec<Truth>), QueryError> {
        let mut values = self.path(path)?;
        values.truncate(self.len);
        Ok((self.before(path)?, values))
    }

    /// Whether the formula holds before the first step, read as a query reads it at the start of a model.
    fn before(&self, path: FormulaId) -> Result<Truth, QueryError> {
        Ok(match self.spec.formulas.get(path) {
            Formula::Not(of) => !self.before(*of)?,
            Formula::Unary(op, Some(Bound::Steps(first, last)), of) => {
                match (last.checked_sub(1), op) {
                    (None, Unary::Always) => Truth::True,
                    (None, _) => Truth::False,
                    (Some(last), _) => {
                        let own = counts_at_end(self.spec, *of);
                        let of = self.path(*of)?;
                        let all = *op == Unary::Always;
                        self.window(&of, 0, (first.saturating_sub(1), last), all, own)
                    }
                }
            }
            Formula::Binary(Binary::Until, Some(Bound::Steps(first, last)), a, b) => {
                match last.checked_sub(1) {
                    None => Truth::False,
                    Some(last) => {
                        let own = counts_at_end(self.spec, *b);
                        let (a, b) = (self.path(*a)?, (self.path(*b)?, own));
                        self.until_in(&a, &b, 0, (first.saturating_sub(1), last))
                    }
                }
            }
            _ => self.path(path)?.first().copied().unwrap_or(Truth::Unknown),
        })
    }

    /// Returns the truth at each position, the tail included.
    ///
    /// # Errors
    /// As for [`Course::outcomes`].
    pub fn path(&self, id: FormulaId) -> Result<Vec<Truth>, QueryError> {
        let n = self.len;
        let map = |a: Vec<Truth>, b: Vec<Truth>, of: fn(Truth, Truth) -> Truth| -> Vec<Truth> {
            a.into_iter().zip(b).map(|(a, b)| of(a, b)).collect()
        };
        Ok(match self.spec.formulas.get(id) {
            Formula::True => vec![Truth::True; n + 1],
            Formula::False => vec![Truth::False; n + 1],
            Formula::Atom(letter) => {
                let expr = self.spec.atom(*letter).expr;
                (0..=n)
                    .map(|at| self.state(expr, at))
                    .collect::<Result<_, _>>()?
            }
            Formula::Last => (0..=n)
                .map(|at| match self.tail {
                    Tail::End => Truth::from(at + 1 == n),
                    Tail::Open if at + 1 >= n => Truth::Unknown,
                    Tail::Open | Tail::Stays => Truth::False,
                })
                .collect(),
            Formula::Not(a) => self.path(*a)?.into_iter().map(|a| !a).collect(),
            Formula::And(a, b) => map(self.path(*a)?, self.path(*b)?, Truth::and),
            Formula::Or(a, b) => map(self.path(*a)?, self.path(*b)?, Truth::or),
            Formula::Implies(a, b) => map(self.path(*a)?, self.path(*b)?, Truth::implies),
            Formula::Iff(a, b) => map(self.path(*a)?, self.path(*b)?, Truth::iff),
            Formula::Unary(op, bound, a) => {
                let own = counts_at_end(self.spec, *a);
                let of = self.path(*a)?;
                match (op, bound) {
                    (Unary::Next | Unary::WeakNext, _) => {
                        let weak = *op == Unary::WeakNext;
                        (0..=n)
                            .map(|at| self.read(&of, at + 1, weak, own))
                            .collect()
                    }
                    (Unary::Eventually | Unary::Always, Some(Bound::Steps(first, last))) => {
                        let all = *op == Unary::Always;
                        (0..=n)
                            .map(|at| self.window(&of, at, (*first, *last), all, own))
                            .collect()
                    }
                    (Unary::Eventually, None) => self.backward(n, |at, next| match at {
                        at if at < n => of[at].or(next),
                        _ => self.read(&of, n, false, own),
                    }),
                    (Unary::Always, None) => self.backward(n, |at, next| match at {
                        at if at < n => of[at].and(next),
                        _ => self.read(&of, n, true, own),
                    }),
                    (_, Some(Bound::Time(..))) => return Err(QueryError::Time),
                    (
                        Unary::Previously
                        | Unary::WeakPreviously
                        | Unary::Once
                        | Unary::Historically,
                        _,
                    ) => return Err(QueryError::Past),
                }
            }
            Formula::Binary(op, bound, a, b) => {
                let (a, b) = (
                    (self.path(*a)?, counts_at_end(self.spec, *a)),
                    (self.path(*b)?, counts_at_end(self.spec, *b)),
                );
                let at_tail = |of: &(Vec<Truth>, bool), weak: bool| self.read(&of.0, n, weak, of.1);
                match (op, bound) {
                    (Binary::Until, Some(Bound::Steps(first, last))) => (0..=n)
                        .map(|at| self.until_in(&a.0, &b, at, (*first, *last)))
                        .collect(),
                    (_, Some(_)) => return Err(QueryError::Time),
                    (Binary::Until, None) => self.backward(n, |at, next| match at {
                        at if at < n => b.0[at].or(a.0[at].and(next)),
                        _ => at_tail(&b, false),
                    }),
                    (Binary::Unless, None) => self.backward(n, |at, next| match at {
                        at if at < n => b.0[at].or(a.0[at].and(next)),
                        _ => at_tail(&b, false).or(at_tail(&a, true)),
                    }),
                    (Binary::Release, None) => self.backward(n, |at, next| match at {
                        at if at < n => b.0[at].and(a.0[at].or(next)),
                        _ => at_tail(&b, true),
                    }),
                    (Binary::StrongRelease, None) => self.backward(n, |at, next| match at {
                        at if at < n => b.0[at].and(a.0[at].or(next)),
                        _ => at_tail(&b, false).and(at_tail(&a, false)),
                    }),
                    (Binary::Since | Binary::BackTo, None) => return Err(QueryError::Past),
                }
            }
        })
    }

    /// Computes values from the tail to the first position, each from the next.
    fn backward(&self, n: usize, of: impl Fn(usize, Truth) -> Truth) -> Vec<Truth> {
        let mut values = vec![Truth::Unknown; n + 1];
        let mut next = Truth::Unknown;
        for at in (0..=n).rev() {
            next = of(at, next);
            values[at] = next;
        }
        values
    }

    /// Returns the value at a position that may lie in the tail. `weak` is the value if there is no such position; `own` is
    /// whether the end itself counts as a position, which is never left.
    fn read(&self, of: &[Truth], at: usize, weak: bool, own: bool) -> Truth {
        if at < self.len {
            return of[at];
        }
        match self.tail {
            Tail::Stays => of[self.len],
            Tail::Open => Truth::Unknown,
            Tail::End if own => of[self.len],
            Tail::End => Truth::from(weak),
        }
    }

    fn window(
        &self,
        of: &[Truth],
        at: usize,
        (first, last): (u32, u32),
        all: bool,
        own: bool,
    ) -> Truth {
        let mut value = Truth::from(all);
        for step in first..=last {
            let at = at.saturating_add(step as usize);
            let here = self.read(of, at, all, own);
            value = if all { value.and(here) } else { value.or(here) };
            // All positions of the tail after the first have the same value.
            if at > self.len {
                break;
            }
        }
        value
    }

    /// Returns `a U b` in a window. As on a chain, where the end is a state, a run that has ended does not interrupt `a` by itself.
    fn until_in(
        &self,
        a: &[Truth],
        (b, own): &(Vec<Truth>, bool),
        at: usize,
        (first, last): (u32, u32),
    ) -> Truth {
        let mut value = Truth::False;
        let mut stays = Truth::True;
        for step in 0..=last {
            let at = at.saturating_add(step as usize);
            if step >= first {
                value = value.or(stays.and(self.read(b, at, false, *own)));
            }
            stays = stays.and(self.read(a, at, false, true));
            if at > self.len && step >= first {
                break;
            }
        }
        value
    }

    /// Returns a condition at a position.
    fn state(&self, id: ExprId, at: usize) -> Result<Truth, QueryError> {
        self.part(id, at, &mut HashMap::new())
    }

    /// Returns a part of a condition at a position; `known` are those that were evaluated there, since conditions share parts.
    fn part(
        &self,
        id: ExprId,
        at: usize,
        known: &mut HashMap<ExprId, Truth>,
    ) -> Result<Truth, QueryError> {
        if let Some(known) = known.get(&id) {
            return Ok(*known);
        }
        let mut of = |id: &ExprId| self.part(*id, at, known);
        let truth = match self.spec.exprs.get(id) {
            Expr::Const(Value::Bool(value)) => Truth::from(*value),
            Expr::Violated(property) => {
                let followed = (self.violated)(*property, at);
                followed.unwrap_or_else(|| self.plain(id, at))
            }
            Expr::Label(name) => match (self.tail, name.as_str()) {
                _ if at < self.len => Truth::False,
                (Tail::End, name) => Truth::from(name == "end"),
                (Tail::Open, _) => Truth::Unknown,
                (Tail::Stays, _) => Truth::False,
            },
            Expr::Branching(_) => return Err(QueryError::Condition),
            _ if !self.is_composite(id) => self.plain(id, at),
            Expr::Not(a) => !of(a)?,
            Expr::And(a, b) => of(a)?.and(of(b)?),
            Expr::Or(a, b) => of(a)?.or(of(b)?),
            Expr::Implies(a, b) => of(a)?.implies(of(b)?),
            Expr::Iff(a, b) => of(a)?.iff(of(b)?),
            Expr::If(c, a, b) => {
                let (c, a, b) = (of(c)?, of(a)?, of(b)?);
                c.and(a).or((!c).and(b))
            }
            _ => self.plain(id, at),
        };
        known.insert(id, truth);
        Ok(truth)
    }

    /// Returns a condition that the state decides: it keeps its value if the walk stays in its last state, and is false
    /// at the end.
    fn plain(&self, id: ExprId, at: usize) -> Truth {
        if at < self.len {
            return (self.holds)(id, at);
        }
        match (self.tail, self.len.checked_sub(1)) {
            (Tail::Stays, Some(last)) => (self.holds)(id, last),
            (Tail::End, _) => Truth::False,
            _ => Truth::Unknown,
        }
    }

    /// Whether an expression contains a label, a monitor or an operator.
    fn is_composite(&self, id: ExprId) -> bool {
        self.spec.exprs.any_part(id, |part| {
            matches!(
                part,
                Expr::Violated(_) | Expr::Label(_) | Expr::Branching(_)
            )
        })
    }
}
