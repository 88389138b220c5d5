//! The values that quantified names and the parameters of tracks are compared with.

use super::Checker;
use super::property::variable;
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{Compare, Expr, Quantified, reads};
use crate::ids::{ExprId, FormulaId};
use crate::source::Span;
use crate::syntax::ast;
use crate::value::Value;

/// The values that a name is compared with.
#[derive(Debug, Default)]
pub(super) struct Compared {
    /// Expressions `e` of `e == x`.
    pub(super) terms: Vec<ExprId>,
    /// Expressions `e` of `x in e` and `e contains x`.
    pub(super) element_terms: Vec<ExprId>,
    /// Constants it is compared with.
    pub(super) constants: Vec<Value>,
    /// Tracks it is given to, with the position.
    pub(super) tracks: Vec<(crate::ids::TrackId, usize)>,
}

impl Checker<'_> {
    /// Completes a quantifier: the values that its names are compared with determine their range.
    pub(super) fn quantified(
        &mut self,
        universal: bool,
        names: Vec<ast::Name>,
        range: Vec<Option<ExprId>>,
        formula: FormulaId,
        span: Span,
    ) -> Option<Quantified> {
        if names.is_empty() {
            return None;
        }
        let atoms: Vec<ExprId> = self
            .spec
            .formulas
            .atoms_of(formula)
            .into_iter()
            .map(|atom| self.spec.formulas.atom(atom).expr)
            .collect();
        let mut vars = Vec::new();
        for (idx, (name, range)) in names.into_iter().zip(range).enumerate() {
            let mut compared = self.compared(&atoms, &Expr::Var(idx));
            let mut var = variable(name.text, range);
            let mut seen: Vec<(crate::ids::TrackId, usize)> = Vec::new();
            while let Some((track, position)) = compared.tracks.pop() {
                if seen.contains(&(track, position)) {
                    continue;
                }
                seen.push((track, position));
                let update = self.spec.tracks[track.index()].update;
                let within = self.compared(&[update], &Expr::Param(position));
                compared.terms.extend(within.terms);
                compared.element_terms.extend(within.element_terms);
                compared.constants.extend(within.constants);
                compared.tracks.extend(within.tracks);
            }
            if compared.terms.is_empty()
                && compared.element_terms.is_empty()
                && compared.constants.is_empty()
                && range.is_none()
                && !self.has_error_within(span)
            {
                self.report(
                    Diagnostic::new(
                        Code::G0312,
                        span,
                        format!("`{}` is never compared with a value", var.name),
                    )
                    .label("ranges over no values")
                    .note("a quantified name ranges over the values it is compared with: `… == x`"),
                );
            }
            var.terms = unique(compared.terms);
            var.element_terms = unique(compared.element_terms);
            var.constants = compared.constants;
            var.constants.sort();
            var.constants.dedup();
            vars.push(var);
        }
        for term in vars
            .iter()
            .flat_map(|var| var.terms.iter().chain(&var.element_terms))
        {
            if !reads::reads(&self.spec, [*term]).vars.is_empty() {
                self.error(
                    Code::G0312,
                    span,
                    "quantified names cannot be compared with each other",
                );
                break;
            }
        }
        Some(Quantified { universal, vars })
    }

    /// Whether an error was reported within the span; dependent errors are then not reported.
    pub(super) fn has_error_within(&self, span: Span) -> bool {
        self.diagnostics.iter().any(|diagnostic| {
            let at = diagnostic.span();
            diagnostic.is_error()
                && at.file == span.file
                && span.start <= at.start
                && at.end <= span.end
        })
    }

    /// Returns the values that a name is compared with in these expressions.
    pub(super) fn compared(&self, roots: &[ExprId], name: &Expr) -> Compared {
        let exprs = &self.spec.exprs;
        let mut compared = Compared::default();
        let mut seen = vec![false; exprs.len()];
        let mut todo = roots.to_vec();
        while let Some(id) = todo.pop() {
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            let is = |id: ExprId| exprs.get(id) == name;
            let mut term = |id: ExprId| match exprs.get(id) {
                Expr::Const(value) => compared.constants.push(value.clone()),
                _ => compared.terms.push(id),
            };
            match exprs.get(id) {
                Expr::Compare(Compare::Eq, a, b) if is(*a) => term(*b),
                Expr::Compare(Compare::Eq, a, b) if is(*b) => term(*a),
                Expr::In(x, list) | Expr::Contains(list, x) if is(*x) => match exprs.get(*list) {
                    Expr::Const(Value::List(items)) => {
                        compared.constants.extend(items.iter().cloned())
                    }
                    Expr::Const(Value::Set(items)) => {
                        compared.constants.extend(items.iter().cloned())
                    }
                    Expr::List(items) | Expr::Set(items) => {
                        items.iter().for_each(|item| term(*item))
                    }
                    _ => compared.element_terms.push(*list),
                },
                Expr::Track(track, args) => {
                    compared.tracks.extend(
                        args.iter()
                            .enumerate()
                            .filter(|(_, arg)| is(**arg))
                            .map(|(position, _)| (*track, position)),
                    );
                }
                _ => {}
            }
            todo.extend(exprs.operands(id));
        }
        compared.constants.retain(|value| !value.is_null());
        compared
    }
}

fn unique(mut ids: Vec<ExprId>) -> Vec<ExprId> {
    ids.sort();
    ids.dedup();
    ids
}
