//! Path formulas of the core as formulas of `guard_markov`, for learned and imported chains and for systems.

use crate::hir::{Binary, Bound, Expr as HirExpr, Formula, Spec, Unary};
use crate::ids::{ExprId, FormulaId};
use guard_markov::TextPosition;
use guard_markov::prism::expr::{Bounds, Expr, Kind, Op, Temporal, Until};

/// The label of the states in which runs have ended.
pub(crate) const END: &str = "end";

/// The way in which the runs of a chain end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ends {
    /// In states with the label [`END`]; formulas are about the steps before it, unless they [count there](counts_at_end).
    Labelled,
    /// Nothing is known of an end.
    Unlabelled,
    /// Never.
    Never,
}

/// The reason why a path formula has no form on chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotOnChains {
    /// It looks back.
    Past,
    /// It has a bound in time.
    Time,
    /// It has `last`, and nothing is known of an end.
    Last,
}

/// Translates path formulas.
#[derive(Debug)]
pub(crate) struct OnChain<'a, F> {
    /// The spec of the formulas.
    pub(crate) spec: &'a Spec,
    /// The way in which runs end.
    pub(crate) ends: Ends,
    /// Translates a condition on single states.
    pub(crate) state: F,
}

impl<E: From<NotOnChains>, F: FnMut(ExprId) -> Result<Expr, E>> OnChain<'_, F> {
    /// Translates a path formula. Linear in the formula as a tree, but for nested `strong_release`, whose second operand is
    /// needed twice.
    ///
    /// # Errors
    /// [`NotOnChains`], and those of `state`.
    pub(crate) fn path(&mut self, id: FormulaId) -> Result<Expr, E> {
        let spec = self.spec;
        Ok(match spec.formulas.get(id) {
            Formula::True => make(Kind::Bool(true)),
            Formula::False => make(Kind::Bool(false)),
            Formula::Atom(letter) => (self.state)(spec.atom(*letter).expr)?,
            Formula::Last => match self.ends {
                Ends::Labelled => next(label(END)),
                Ends::Unlabelled => return Err(NotOnChains::Last.into()),
                Ends::Never => make(Kind::Bool(false)),
            },
            Formula::Not(a) => not(self.path(*a)?),
            Formula::And(a, b) => binary(Op::And, self.path(*a)?, self.path(*b)?),
            Formula::Or(a, b) => binary(Op::Or, self.path(*a)?, self.path(*b)?),
            Formula::Implies(a, b) => binary(Op::Implies, self.path(*a)?, self.path(*b)?),
            Formula::Iff(a, b) => binary(Op::Iff, self.path(*a)?, self.path(*b)?),
            Formula::Unary(op, bound, a) => {
                let bounds = bounds(*bound)?;
                let of = self.path(*a)?;
                match op {
                    Unary::Next => next(self.before_the_end(*a, of)),
                    Unary::WeakNext => next(self.or_the_end(*a, of)),
                    Unary::Eventually => {
                        unary(Temporal::Finally, bounds, self.before_the_end(*a, of))
                    }
                    Unary::Always => unary(Temporal::Globally, bounds, self.or_the_end(*a, of)),
                    Unary::Previously
                    | Unary::WeakPreviously
                    | Unary::Once
                    | Unary::Historically => return Err(NotOnChains::Past.into()),
                }
            }
            Formula::Binary(op, bound, a, b) => {
                let bounds = bounds(*bound)?;
                let (of_a, of_b) = (self.path(*a)?, self.path(*b)?);
                match op {
                    Binary::Until => {
                        until(Until::Until, of_a, bounds, self.before_the_end(*b, of_b))
                    }
                    Binary::Unless => until(
                        Until::Unless,
                        self.or_the_end(*a, of_a),
                        bounds,
                        self.before_the_end(*b, of_b),
                    ),
                    // `a R b`: `b` until `a` and `b`, or `b` until the end.
                    Binary::Release => until(
                        Until::Release,
                        self.before_the_end(*a, of_a),
                        bounds,
                        self.or_the_end(*b, of_b),
                    ),
                    Binary::StrongRelease => {
                        let both = binary(Op::And, of_a, self.before_the_end(*b, of_b.clone()));
                        until(Until::Until, of_b, bounds, both)
                    }
                    Binary::Since | Binary::BackTo => return Err(NotOnChains::Past.into()),
                }
            }
        })
    }

    /// Returns "the formula holds and the run has not ended"; `of` is its translation.
    fn before_the_end(&self, id: FormulaId, of: Expr) -> Expr {
        match self.is_over_before(id) {
            true => binary(Op::And, not(label(END)), of),
            false => of,
        }
    }

    /// Returns "the formula holds or the run has ended"; `of` is its translation.
    fn or_the_end(&self, id: FormulaId, of: Expr) -> Expr {
        match self.is_over_before(id) {
            true => binary(Op::Or, label(END), of),
            false => of,
        }
    }

    /// Whether runs end, and the formula is about the steps before the end only.
    fn is_over_before(&self, id: FormulaId) -> bool {
        matches!(self.ends, Ends::Labelled) && !counts_at_end(self.spec, id)
    }
}

/// Whether a formula is also evaluated after the last step of a run, because the end alone can make it true: one of the conditions
/// that its connectives join reads `"end"` or a violation (a pending obligation is then violated). What temporal operators
/// contain does not matter: they are about steps.
pub(crate) fn counts_at_end(spec: &Spec, id: FormulaId) -> bool {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut todo = vec![id];
    while let Some(id) = todo.pop() {
        if !seen.insert(id) {
            continue;
        }
        match spec.formulas.get(id) {
            Formula::Atom(letter) => {
                let at_end = |expr: &HirExpr| match expr {
                    HirExpr::Violated(_) => true,
                    HirExpr::Label(name) => name == END,
                    _ => false,
                };
                if spec.exprs.any_part(spec.atom(*letter).expr, at_end) {
                    return true;
                }
            }
            Formula::Not(a) => todo.push(*a),
            Formula::And(a, b)
            | Formula::Or(a, b)
            | Formula::Implies(a, b)
            | Formula::Iff(a, b) => todo.extend([*a, *b]),
            _ => {}
        }
    }
    false
}

/// Returns an expression without a place in a text.
pub(crate) fn make(kind: Kind) -> Expr {
    Expr {
        kind,
        place: TextPosition::default(),
    }
}

/// Returns the condition "the state has this label".
pub(crate) fn label(name: &str) -> Expr {
    make(Kind::Label(name.to_owned()))
}

/// Returns the negation.
pub(crate) fn not(of: Expr) -> Expr {
    make(Kind::Not(Box::new(of)))
}

fn next(of: Expr) -> Expr {
    make(Kind::Next(Box::new(of)))
}

/// Returns two operands with an operator between.
pub(crate) fn binary(op: Op, a: Expr, b: Expr) -> Expr {
    make(Kind::Binary(op, Box::new(a), Box::new(b)))
}

fn unary(op: Temporal, bounds: Bounds, of: Expr) -> Expr {
    make(Kind::Unary(op, bounds, Box::new(of)))
}

fn until(op: Until, a: Expr, bounds: Bounds, b: Expr) -> Expr {
    make(Kind::Until(op, Box::new(a), bounds, Box::new(b)))
}

fn bounds(bound: Option<Bound>) -> Result<Bounds, NotOnChains> {
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
        Some(Bound::Time(..)) => return Err(NotOnChains::Time),
    })
}
