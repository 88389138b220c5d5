//! Letters that show that a value of a quantified property occurs.

use crate::hir::{Compare, Expr, Property, Spec};
use crate::ids::{AtomId, ExprId};

/// Returns the letters of a property that can be true only if each quantified variable is equal to some value: if one of them
/// is true in a trace, an instance of the property exists. Empty for a property without a quantifier.
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

/// Whether a condition can only be true if some value equals the variable.
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
