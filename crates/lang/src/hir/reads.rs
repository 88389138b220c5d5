//! The signals that an expression reads: fields, tracks, variables.

use std::collections::BTreeSet;

use super::{Expr, Spec};
use crate::ids::{ExprId, TrackId};

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
        Expr::Before(_) | Expr::Count { .. } | Expr::Past(..) => reads.history = true,
        _ => {}
    });
    reads
}
