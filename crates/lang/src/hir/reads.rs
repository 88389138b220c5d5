//! The signals that an expression reads: fields, tracks, variables.

use std::collections::BTreeSet;

use smol_str::SmolStr;

use super::{Expr, Spec};
use crate::ids::{ExprId, TrackId};
use crate::input_schema::{Field, FieldSource, Path};
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

/// Returns the names of the members of objects that a spec reads, except for those in some fields.
pub fn members(spec: &Spec, is_left_out: impl Fn(usize, &Field) -> bool) -> BTreeSet<SmolStr> {
    let fields = &spec.schema.fields;
    let is_left_out = |position: usize| {
        let field = fields.get(position);
        field.is_some_and(|field| is_left_out(position, field))
    };
    let is_below_left_out = |mut id: ExprId| loop {
        id = match (spec.exprs.get(id), &spec.exprs.operands(id)[..]) {
            (Expr::Field(field), _) => return is_left_out(*field),
            (Expr::Index(of, _), _) => *of,
            (_, [of]) => *of,
            _ => return false,
        };
    };
    let mut found = BTreeSet::new();
    for id in (0..spec.exprs.len()).map(ExprId::new) {
        let name = match spec.exprs.get(id) {
            Expr::Member(_, name) => Some(name),
            Expr::Index(_, at) => match spec.exprs.get(*at) {
                Expr::Const(Value::String(name)) => Some(name),
                _ => None,
            },
            _ => None,
        };
        found.extend(name.filter(|_| !is_below_left_out(id)).cloned());
    }
    for (position, field) in fields.iter().enumerate() {
        if let FieldSource::Event(Path::Pointer(tokens)) = &field.source
            && !is_left_out(position)
        {
            found.extend(tokens.iter().skip(1).cloned());
        }
    }
    found
}
