//! The occurrences of the values that a quantified property ranges over.

use crate::hir::{Compare, Expr, Property, Spec};
use crate::ids::{AtomId, ExprId};

/// Returns the letters of a property that are true only where something equals each of its quantified variables: in a trace
/// in which one is true, an instance of the property exists. None of a property without quantifier.
pub fn occurrences(spec: &Spec, property: &Property) -> Vec<AtomId> {
    let Some(quantified) = &property.quantified else {
        return Vec::new();
    };
    let all = |letter: &AtomId| {
        (0..quantified.vars.len()).all(|var| requires(spec, spec.atom(*letter).expr, var))
    };
    let letters = spec.formulas.atoms_of(property.formula);
    letters.into_iter().filter(all).collect()
}

/// Whether a condition can only be true where something equals the variable.
pub(super) fn requires(spec: &Spec, expr: ExprId, var: usize) -> bool {
    let is_var = |id| spec.exprs.get(id) == &Expr::Var(var);
    match spec.exprs.get(expr) {
        Expr::And(a, b) => requires(spec, *a, var) || requires(spec, *b, var),
        Expr::Or(a, b) => requires(spec, *a, var) && requires(spec, *b, var),
        Expr::Compare(Compare::Eq, a, b) => is_var(*a) || is_var(*b),
        Expr::In(x, _) => is_var(*x),
        Expr::Contains(_, x) => is_var(*x),
        _ => false,
    }
}
