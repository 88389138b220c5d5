//! Translates path formulas of the core into formulas of `markov`.

use super::error::QueryError;
use crate::hir::{Binary, Bound, Expr as SpecExpr, Formula, Spec, Unary};
use crate::ids::{ExprId, FormulaId};
use guard_markov::TextPosition;
use guard_markov::prism::expr::{Bounds, Expr, Kind, Op, Temporal, Until};

/// The label of the states in which runs have ended.
pub(super) const END: &str = "end";

/// Translates path formulas; `leaf` turns a condition on single states into an expression over labels.
pub(super) struct Lowering<'a, F> {
    pub(super) spec: &'a Spec,
    /// Whether runs end. If so, formulas are evaluated over the steps before the end.
    pub(super) ends: bool,
    /// Whether the end alone can make a condition true; such a condition is evaluated at the end too.
    pub(super) at_end: fn(&Spec, ExprId) -> bool,
    pub(super) leaf: F,
}

impl<F: FnMut(ExprId) -> Result<Expr, QueryError>> Lowering<'_, F> {
    pub(super) fn path(&mut self, id: FormulaId) -> Result<Expr, QueryError> {
        let spec = self.spec;
        Ok(match spec.formulas.get(id) {
            Formula::True => make(Kind::Bool(true)),
            Formula::False => make(Kind::Bool(false)),
            Formula::Atom(letter) => (self.leaf)(spec.atom(*letter).expr)?,
            Formula::Last if self.ends => next(end()),
            Formula::Last => return Err(QueryError::Last),
            Formula::Not(a) => not(self.path(*a)?),
            Formula::And(a, b) => binary(Op::And, self.path(*a)?, self.path(*b)?),
            Formula::Or(a, b) => binary(Op::Or, self.path(*a)?, self.path(*b)?),
            Formula::Implies(a, b) => binary(Op::Implies, self.path(*a)?, self.path(*b)?),
            Formula::Iff(a, b) => binary(Op::Iff, self.path(*a)?, self.path(*b)?),
            Formula::Unary(op, bound, a) => {
                let bounds = bounds(*bound)?;
                let (inside, outside) = (self.before_the_end(*a)?, self.or_the_end(*a)?);
                match op {
                    Unary::Next => next(inside),
                    Unary::WeakNext => next(outside),
                    Unary::Eventually => unary(Temporal::Finally, bounds, inside),
                    Unary::Always => unary(Temporal::Globally, bounds, outside),
                    Unary::Previously
                    | Unary::WeakPreviously
                    | Unary::Once
                    | Unary::Historically => return Err(QueryError::Past),
                }
            }
            Formula::Binary(op, bound, a, b) => {
                let bounds = bounds(*bound)?;
                match op {
                    Binary::Until => until(
                        Until::Until,
                        self.path(*a)?,
                        bounds,
                        self.before_the_end(*b)?,
                    ),
                    Binary::Unless => until(
                        Until::Unless,
                        self.or_the_end(*a)?,
                        bounds,
                        self.before_the_end(*b)?,
                    ),
                    // `a R b`: `b` until `a` and `b`, or `b` until the end.
                    Binary::Release => until(
                        Until::Release,
                        self.before_the_end(*a)?,
                        bounds,
                        self.or_the_end(*b)?,
                    ),
                    Binary::StrongRelease => {
                        let both = binary(Op::And, self.path(*a)?, self.before_the_end(*b)?);
                        until(Until::Until, self.path(*b)?, bounds, both)
                    }
                    Binary::Since | Binary::BackTo => return Err(QueryError::Past),
                }
            }
        })
    }

    /// Translates "the formula holds and the run has not ended".
    fn before_the_end(&mut self, id: FormulaId) -> Result<Expr, QueryError> {
        let of = self.path(id)?;
        Ok(if self.ends && !self.counts_at_end(id) {
            binary(Op::And, not(end()), of)
        } else {
            of
        })
    }

    /// Translates "the formula holds or the run has ended".
    fn or_the_end(&mut self, id: FormulaId) -> Result<Expr, QueryError> {
        let of = self.path(id)?;
        Ok(if self.ends && !self.counts_at_end(id) {
            binary(Op::Or, end(), of)
        } else {
            of
        })
    }

    fn counts_at_end(&self, id: FormulaId) -> bool {
        match self.spec.formulas.get(id) {
            Formula::Atom(letter) => (self.at_end)(self.spec, self.spec.atom(*letter).expr),
            Formula::Not(a) => self.counts_at_end(*a),
            Formula::And(a, b) | Formula::Or(a, b) => {
                self.counts_at_end(*a) || self.counts_at_end(*b)
            }
            _ => false,
        }
    }
}

pub(super) fn make(kind: Kind) -> Expr {
    Expr {
        kind,
        place: TextPosition::default(),
    }
}

pub(super) fn label(name: &str) -> Expr {
    make(Kind::Label(name.to_owned()))
}

fn end() -> Expr {
    label(END)
}

pub(super) fn not(of: Expr) -> Expr {
    make(Kind::Not(Box::new(of)))
}

fn next(of: Expr) -> Expr {
    make(Kind::Next(Box::new(of)))
}

pub(super) fn binary(op: Op, a: Expr, b: Expr) -> Expr {
    make(Kind::Binary(op, Box::new(a), Box::new(b)))
}

fn unary(op: Temporal, bounds: Bounds, of: Expr) -> Expr {
    make(Kind::Unary(op, bounds, Box::new(of)))
}

fn until(op: Until, a: Expr, bounds: Bounds, b: Expr) -> Expr {
    make(Kind::Until(op, Box::new(a), bounds, Box::new(b)))
}

fn bounds(bound: Option<Bound>) -> Result<Bounds, QueryError> {
    let step = |steps: u32| Some((Box::new(make(Kind::Int(i64::from(steps)))), false));
    Ok(match bound {
        None => Bounds::default(),
        Some(Bound::Steps(0, upper)) => Bounds {
            lower: None,
            upper: step(upper),
        },
        Some(Bound::Steps(lower, upper)) => Bounds {
            lower: step(lower),
            upper: step(upper),
        },
        Some(Bound::Time(..)) => return Err(QueryError::Time),
    })
}

/// Returns the formula as evaluated before the first step: its outermost bound counts that step as 1. Fails with the
/// resulting truth value if nothing of the window remains.
pub(super) fn from_the_start(path: &Expr) -> Result<Expr, bool> {
    let shift = |bounds: &Bounds| -> Option<Bounds> {
        let less = |bound: &Option<(Box<Expr>, bool)>| -> Option<Option<(Box<Expr>, bool)>> {
            match bound {
                None => Some(None),
                Some((expr, strict)) => match expr.kind {
                    Kind::Int(value) if value > 0 => {
                        Some(Some((Box::new(make(Kind::Int(value - 1))), *strict)))
                    }
                    _ => None,
                },
            }
        };
        let upper = less(&bounds.upper)?;
        // A window that starts now starts with the first step.
        let lower = less(&bounds.lower).unwrap_or(None);
        Some(Bounds { lower, upper })
    };
    let kind = match &path.kind {
        Kind::Unary(op, bounds, of) if !bounds.is_none() => {
            let bounds = shift(bounds).ok_or(*op == Temporal::Globally)?;
            Kind::Unary(*op, bounds, of.clone())
        }
        Kind::Until(op, a, bounds, b) if !bounds.is_none() => {
            let bounds = shift(bounds).ok_or(*op != Until::Until)?;
            Kind::Until(*op, a.clone(), bounds, b.clone())
        }
        Kind::Not(of) => match from_the_start(of) {
            Ok(of) => Kind::Not(Box::new(of)),
            Err(value) => return Err(!value),
        },
        other => other.clone(),
    };
    Ok(make(kind))
}

/// Whether a condition contains an operator of branching time or probability.
pub(super) fn has_operator(spec: &Spec, id: ExprId) -> bool {
    matches!(spec.exprs.get(id), SpecExpr::Branching(_))
        || spec
            .exprs
            .operands(id)
            .into_iter()
            .any(|operand| has_operator(spec, operand))
}
