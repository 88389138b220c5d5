//! Conditions that have nothing to do with one another.
//!
//! A search for conditions without common terms would try all combinations of their classes before it finds that one of them
//! cannot be reached.

use super::Goal;
use super::question::is_term;
use crate::hir::{Expr, Spec};
use crate::ids::ExprId;

/// Returns the goals in groups such that no group shares a term with another. Quantifiers over one list are in one group.
pub(super) fn groups(spec: &Spec, goals: &[Goal]) -> Vec<Vec<Goal>> {
    let mut groups: Vec<(Vec<ExprId>, Vec<Goal>)> = Vec::new();
    for goal in goals {
        let mut read = terms(spec, goal.0);
        let mut members = Vec::new();
        groups.retain_mut(|(others, of)| {
            let is_apart = !others.iter().any(|term| read.contains(term));
            if !is_apart {
                read.append(others);
                members.append(of);
            }
            is_apart
        });
        members.push(*goal);
        groups.push((read, members));
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

/// Returns the terms that a condition reads, and the lists of its quantifiers.
fn terms(spec: &Spec, root: ExprId) -> Vec<ExprId> {
    let (mut terms, mut todo) = (Vec::new(), vec![root]);
    while let Some(id) = todo.pop() {
        let expr = spec.exprs.get(id);
        if let Expr::Quantifier { over, .. } = expr {
            terms.push(*over);
        }
        match is_term(expr) {
            true => terms.push(id),
            false => todo.extend(spec.exprs.operands(id)),
        }
    }
    terms.sort_unstable();
    terms.dedup();
    terms
}
