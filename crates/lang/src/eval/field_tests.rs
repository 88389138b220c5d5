//! The values of a field that a spec does not tell apart from a given one.
//!
//! A spec that reads `lower(kind) == "approval"`, `kind matches /(?i)approv/` or `kind starts_with "appr"` takes more texts than
//! `"approval"` for an approval. Every expression over the field alone is evaluated for the given value and for a text that no spec
//! knows; one that tells these two apart says what the spec looks for. Exact comparisons of the field itself are left out: they list
//! the values that they mean.

use smol_str::SmolStr;

use super::code::{Code, NodeId};
use super::eval_cache::EvalCache;
use super::expr::Eval;
use super::limits::{LimitError, Limits};
use super::lower::Lower;
use super::track::Tracks;
use crate::hir::reads::reads;
use crate::hir::{Compare, Expr, Spec};
use crate::ids::{ExprId, LocalId};
use crate::types::Type;
use crate::value::{Cell, Value};

/// A text that no spec has in mind.
const FOREIGN: SmolStr = SmolStr::new_static("\u{10FFFF}");

/// The expressions over one field alone that tell a value from others.
#[derive(Debug)]
pub struct FieldTests {
    code: Code,
    limits: Limits,
    field: usize,
    n_fields: usize,
    /// Each with its value for the given value of the field.
    tests: Vec<(NodeId, Cell)>,
}

impl FieldTests {
    /// Returns the expressions of a spec that tell this text of a field from others.
    ///
    /// # Errors
    /// The expressions exceed the limits.
    pub fn new(
        spec: &Spec,
        field: usize,
        text: &SmolStr,
        limits: &Limits,
    ) -> Result<FieldTests, LimitError> {
        let ids = (0..spec.exprs.len()).map(ExprId::new);
        let alone = ids.filter(|id| is_over_alone(spec, *id, field) && !is_exact(spec, *id));
        FieldTests::of(spec, field, text, limits, alone)
    }

    /// Returns those of these expressions over the field alone that tell the text from others.
    fn of(
        spec: &Spec,
        field: usize,
        text: &SmolStr,
        limits: &Limits,
        alone: impl Iterator<Item = ExprId>,
    ) -> Result<FieldTests, LimitError> {
        let mut lower = Lower::new(spec, vec![None; spec.tracks.len()]);
        let nodes = alone.map(|id| lower.root(id, false));
        let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
        let mut tests = FieldTests {
            code: lower.finish(),
            limits: limits.clone(),
            field,
            n_fields: spec.schema.fields.len(),
            tests: Vec::new(),
        };
        let of_text = tests.values(&Value::String(text.clone().into()), nodes.iter().copied());
        let of_foreign = tests.values(&Value::String(FOREIGN.into()), nodes.iter().copied());
        tests.tests = nodes
            .into_iter()
            .zip(of_text)
            .zip(of_foreign)
            .filter(|((_, of_text), foreign)| *of_text != Cell::Unknown && of_text != foreign)
            .map(|(test, _)| test)
            .collect();
        Ok(tests)
    }

    /// Returns whether some condition of a spec may tell events that have this text in a field from others; false is certain.
    ///
    /// # Errors
    /// The conditions exceed the limits.
    pub fn may_tell(
        spec: &Spec,
        field: usize,
        text: &SmolStr,
        limits: &Limits,
    ) -> Result<bool, LimitError> {
        let ids = || (0..spec.exprs.len()).map(ExprId::new);
        // What carries the text on, and the conditions over nothing else.
        let mut carriers: Vec<ExprId> = ids()
            .filter(|id| *spec.exprs.get(*id) == Expr::Field(field))
            .collect();
        let is_text = *spec.schema.fields[field].ty.non_null() == Type::String;
        let mut conditions = Vec::new();
        let mut next = 0;
        while let Some(carrier) = carriers.get(next).copied() {
            next += 1;
            if !is_text || spec.tracks.iter().any(|track| track.update == carrier) {
                return Ok(true);
            }
            for user in ids().filter(|id| spec.exprs.operands(*id).contains(&carrier)) {
                match *spec.exprs.ty(user).non_null() == Type::Bool {
                    _ if !is_over_alone(spec, user, field) => return Ok(true),
                    true => conditions.push(user),
                    false if carriers.contains(&user) => {}
                    false => carriers.push(user),
                }
            }
        }
        let tests = FieldTests::of(spec, field, text, limits, conditions.iter().copied())?;
        Ok(!tests.tests.is_empty())
    }

    /// Returns whether one of the expressions has the same value for this value of the field as for the given one.
    pub fn share(&self, value: &Value) -> bool {
        let found = self.values(value, self.tests.iter().map(|(node, _)| *node));
        let mut tests = self.tests.iter().zip(found);
        tests.any(|((_, wanted), found)| *wanted == found)
    }

    /// Returns the values of expressions at a step that has this value in the field; all other fields are unknown.
    fn values(&self, value: &Value, nodes: impl Iterator<Item = NodeId>) -> Vec<Cell> {
        let mut nodes = nodes.peekable();
        if nodes.peek().is_none() {
            return Vec::new();
        }
        let mut cells = vec![Cell::Unknown; self.n_fields];
        if let Some(cell) = cells.get_mut(self.field) {
            *cell = Cell::Known(value.clone());
        }
        let mut eval_cache = EvalCache::new(&self.code, &self.limits);
        eval_cache.begin_step(None);
        let tracks = Tracks::new(&self.code, &[]);
        let mut eval = Eval::alone(&self.code, &cells, &tracks, &mut eval_cache);
        nodes.map(|node| eval.cell(node)).collect()
    }
}

/// Whether an expression has a value that the field alone determines, and is not made of conditions or the field itself.
fn is_over_alone(spec: &Spec, id: ExprId, field: usize) -> bool {
    let is_made_of_others = matches!(
        spec.exprs.get(id),
        Expr::Field(_)
            | Expr::Not(_)
            | Expr::And(..)
            | Expr::Or(..)
            | Expr::Implies(..)
            | Expr::Iff(..)
    );
    if is_made_of_others {
        return false;
    }
    let found = reads(spec, [id]);
    found.fields.iter().eq([&field])
        && found.meta.is_empty()
        && found.tracks.is_empty()
        && found.vars.is_empty()
        && !found.history
        && !found.todo
        && is_closed(spec, id)
}

/// Whether an expression reads no parameter, no state, and no variable of a quantifier around it.
fn is_closed(spec: &Spec, id: ExprId) -> bool {
    let mut bound: Vec<LocalId> = Vec::new();
    let mut read: Vec<LocalId> = Vec::new();
    let mut todo = vec![id];
    let mut seen = vec![false; spec.exprs.len()];
    while let Some(id) = todo.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        match spec.exprs.get(id) {
            Expr::Local(local) => read.push(*local),
            Expr::Quantifier { local, .. } => bound.push(*local),
            Expr::Param(_)
            | Expr::State(_)
            | Expr::Next(_)
            | Expr::Label(_)
            | Expr::Violated(_)
            | Expr::Branching(_) => return false,
            _ => {}
        }
        todo.extend(spec.exprs.operands(id));
    }
    read.iter().all(|local| bound.contains(local))
}

/// Whether an expression compares the field itself with constants, by equality.
fn is_exact(spec: &Spec, id: ExprId) -> bool {
    let is_field = |mut id: ExprId| loop {
        id = match spec.exprs.get(id) {
            Expr::Field(_) => return true,
            Expr::Cast(of) => *of,
            Expr::Coalesce(of, other) if is_constant(spec, *other) => *of,
            _ => return false,
        };
    };
    match spec.exprs.get(id) {
        Expr::Compare(Compare::Eq, a, b) | Expr::In(a, b) => {
            is_field(*a) && is_constant(spec, *b) || is_constant(spec, *a) && is_field(*b)
        }
        Expr::Cast(_) | Expr::Coalesce(..) => is_field(id),
        _ => false,
    }
}

/// Whether an expression is made of constants alone.
fn is_constant(spec: &Spec, id: ExprId) -> bool {
    let operands = spec.exprs.operands(id);
    match spec.exprs.get(id) {
        Expr::Const(_) => true,
        Expr::List(_) | Expr::Set(_) => operands.iter().all(|id| is_constant(spec, *id)),
        _ => false,
    }
}
