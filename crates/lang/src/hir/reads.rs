//! The signals that an expression reads: fields, tracks, variables.

use std::collections::{BTreeSet, HashSet};

use super::{Compare, Expr, Formula, Spec, Unary, Window};
use crate::ids::{ExprId, FormulaId, TrackId};
use crate::value::Value;

/// The signals that an expression reads, directly or through tracks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Positions in the schema's fields.
    pub fields: BTreeSet<usize>,
    /// Positions in the schema's meta fields.
    pub meta: BTreeSet<usize>,
    /// Tracks, including those that tracks read.
    pub tracks: BTreeSet<TrackId>,
    /// Positions of quantified variables.
    pub vars: BTreeSet<usize>,
    /// Whether there is a `before`, `count` or past operator.
    pub history: bool,
    /// Whether there is a window in time.
    pub clock: bool,
    /// Whether there is a `todo`.
    pub todo: bool,
}

/// Visits these expressions and all that they consist of, each once: their operands, and the tracks that they read.
pub fn visit(spec: &Spec, roots: impl IntoIterator<Item = ExprId>, mut each: impl FnMut(ExprId)) {
    let mut seen = vec![false; spec.exprs.len()];
    let mut todo: Vec<ExprId> = roots.into_iter().collect();
    while let Some(id) = todo.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        each(id);
        if let Expr::Track(track, _) = spec.exprs.get(id) {
            let track = spec.track(*track);
            todo.extend([track.update, track.init]);
        }
        todo.extend(spec.exprs.operands(id));
    }
}

/// Returns the signals that these expressions read.
pub fn reads(spec: &Spec, roots: impl IntoIterator<Item = ExprId>) -> Reads {
    let mut reads = Reads::default();
    visit(spec, roots, |id| match spec.exprs.get(id) {
        Expr::Field(field) => {
            reads.fields.insert(*field);
        }
        Expr::Meta(field) => {
            reads.meta.insert(*field);
        }
        Expr::Var(var) => {
            reads.vars.insert(*var);
        }
        Expr::Track(track, _) => {
            reads.tracks.insert(*track);
        }
        Expr::Todo(_) => reads.todo = true,
        Expr::Before(_) => reads.history = true,
        Expr::Count { window, .. } | Expr::Past(_, window, ..) => {
            reads.history = true;
            reads.clock |= matches!(window, Some(Window::Time(..)));
        }
        _ => {}
    });
    reads
}

/// Returns whether a spec reads a field only to find the steps at which it has a value: as `field == constant`, alone or within a
/// conjunction, of which the steps are counted, looked for by temporal operators, or prohibited (`never`, `G (… -> …)`). A step
/// without a value is then none of them, and counts for nothing else: no part of the spec asks for a step at which the condition
/// does not hold (`field != constant`).
pub fn is_only_looked_for(spec: &Spec, field: usize) -> bool {
    let (exprs, formulas) = (&spec.exprs, &spec.formulas);
    let is_field = |id: ExprId| matches!(exprs.get(id), Expr::Field(of) if *of == field);
    let is_constant =
        |id: ExprId| matches!(exprs.get(id), Expr::Const(value) if *value != Value::Null);
    let mut conditions = HashSet::new();
    for id in (0..exprs.len()).map(ExprId::new) {
        let operands = exprs.operands(id);
        let is_of_condition = operands.iter().any(|of| conditions.contains(of));
        let is_condition = match exprs.get(id) {
            Expr::Compare(Compare::Eq, one, other) if is_field(*one) || is_field(*other) => {
                is_constant(*one) || is_constant(*other)
            }
            Expr::And(..) => is_of_condition,
            Expr::Count { .. } | Expr::Past(..) => false,
            _ if is_of_condition => return false,
            _ => false,
        };
        if is_condition {
            conditions.insert(id);
        } else if operands.into_iter().any(is_field) {
            return false;
        }
    }
    // As a value, as a condition on which steps there are, and as a part of the state of a model.
    let tracks = spec.tracks.iter().flat_map(|of| [of.init, of.update]);
    let mut values = tracks.chain(spec.filter.step).chain(spec.filter.record);
    if values.any(|id| is_field(id) || conditions.contains(&id)) || !spec.abstractions.is_empty() {
        return false;
    }
    let (mut found, mut prohibited) = (HashSet::new(), HashSet::new());
    for id in (0..formulas.len()).map(FormulaId::new) {
        let operands = formulas.operands(id);
        let is_of_found = operands.iter().any(|of| found.contains(of));
        let is_of_prohibited = operands.iter().any(|of| prohibited.contains(of));
        match formulas.get(id) {
            Formula::Atom(atom) if conditions.contains(&formulas.atom(*atom).expr) => {
                found.insert(id);
            }
            Formula::Unary(Unary::Always | Unary::Historically, ..) => {}
            _ if is_of_prohibited => return false,
            Formula::And(..) if is_of_found => {
                found.insert(id);
            }
            Formula::Not(_) if is_of_found => {
                prohibited.insert(id);
            }
            Formula::Implies(_, then) if is_of_found && !found.contains(then) => {
                prohibited.insert(id);
            }
            Formula::Unary(..) | Formula::Binary(..) => {}
            _ if is_of_found => return false,
            _ => {}
        }
    }
    true
}
