//! Formulas as evaluated before the first step of a run.

use crate::translate::chain::make;
use guard_markov::prism::expr::{Bounds, Expr, Kind, Temporal, Until};

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
