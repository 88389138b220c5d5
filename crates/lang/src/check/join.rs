//! `join call on id when kind == "call"`: fields of an earlier step, `call.args`.
//!
//! A field of a join is a track with the key as its parameter. So all code that handles tracks also handles joins:
//! recorded and live traces, unknown data, and the state of a monitor.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use super::names::Space;
use super::scope::Scope;
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::hir::{self, Compare, Expr, reads};
use crate::ids::{ExprId, TrackId};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::Type;
use crate::value::Value;

/// A `join` clause.
#[derive(Debug)]
pub(super) struct Join {
    name: ast::Name,
    /// The key that connects a step with the step it is joined with.
    key: Typed,
    /// The condition on the earlier steps.
    condition: ExprId,
    span: Span,
    /// The tracks of the joined fields that are read, by the index of the field.
    tracks: BTreeMap<usize, TrackId>,
}

impl<'a> Checker<'a> {
    /// Declares the join of a clause.
    pub(super) fn join_clause(&mut self, scope: &Scope<'a>, clause: &'a ast::Join, span: Span) {
        let name = &clause.name;
        let known = self.joins.iter().any(|join| join.name == *name)
            || self
                .names
                .get(scope.module, Space::Value, &name.text)
                .is_some()
            || self
                .spec
                .schema
                .fields
                .iter()
                .any(|field| field.name == name.text);
        if known {
            self.report(
                Diagnostic::new(
                    Code::G0202,
                    name.span,
                    format!("`{name}` is declared twice"),
                )
                .label("the name of a join")
                .note("joins, fields, lets, predicates and tracks share one namespace"),
            );
        }
        let key = self.value(scope, &clause.key, None);
        let condition = self.boolean(scope, &clause.condition);
        let read = reads::reads(&self.spec, [key.id, condition]);
        if !read.tracks.is_empty() || read.history {
            self.report(
                Diagnostic::new(Code::G0318, span, "`join` can read the current event only")
                    .label("reads earlier events")
                    .note("for a value that depends on more, declare a `track` with a parameter"),
            );
            return;
        }
        if key.ty != Type::Error && !known {
            self.joins.push(Join {
                name: name.clone(),
                key,
                condition,
                span,
                tracks: BTreeMap::new(),
            });
        }
    }

    /// Returns the index of the join that a name refers to, unless the name is bound in the scope.
    pub(super) fn join_named(&self, scope: &Scope<'a>, name: &ast::Name) -> Option<usize> {
        if scope.get(&name.text).is_some() {
            return None;
        }
        self.joins.iter().position(|join| join.name == *name)
    }

    /// Returns a field of the joined step; its value is null if there is no such step.
    pub(super) fn joined_field(
        &mut self,
        join: usize,
        owner: &ast::Name,
        field: &ast::Name,
        span: Span,
    ) -> Typed {
        self.link(*owner.span, *self.joins[join].name.span);
        let Some(value) = self.field(&field.text, *field.span) else {
            let names: Vec<SmolStr> = self
                .spec
                .schema
                .fields
                .iter()
                .map(|f| f.name.clone())
                .collect();
            let mut diagnostic = Diagnostic::new(
                Code::G0305,
                field.span,
                format!("`{owner}` has no field `{field}`"),
            )
            .label("not a field of the event");
            if let Some(near) = did_you_mean(&field.text, names.iter().map(SmolStr::as_str)) {
                diagnostic = diagnostic.fix(format!("write `{near}`"), field.span, near);
            }
            self.report(diagnostic);
            return self.wrong();
        };
        let Expr::Field(idx) = *self.spec.exprs.get(value.id) else {
            return self.wrong();
        };
        let known = self.joins[join].tracks.get(&idx).copied();
        let track = known.unwrap_or_else(|| self.joined_track(join, idx, &value));
        let key = self.joins[join].key.id;
        let ty = value.ty.nullable();
        self.add(Expr::Track(track, [key].into()), ty, span)
    }

    /// Returns the track of a field: the value at the latest step at which the condition held and the key was the parameter.
    fn joined_track(&mut self, join: usize, idx: usize, value: &Typed) -> TrackId {
        let Join {
            name,
            key,
            condition,
            span,
            ..
        } = &self.joins[join];
        let (key, condition, span) = (key.clone(), *condition, *span);
        let name = smol_str::format_smolstr!("{name}.{}", self.spec.schema.fields[idx].name);
        let key_ty = key.ty.non_null().clone();
        let ty = value.ty.clone().nullable();
        let at = Span::default();
        let id = TrackId::new(self.spec.tracks.len());
        let null = self.add(Expr::Const(Value::Null), Type::Null, at).id;
        let param = self.add(Expr::Param(0), key_ty.clone(), at).id;
        let same = self.add(Expr::Track(id, [param].into()), ty.clone(), at).id;
        let is_key = self
            .add(Expr::Compare(Compare::Eq, key.id, param), Type::Bool, at)
            .id;
        let mut there = self.add(Expr::And(condition, is_key), Type::Bool, at).id;
        if key.ty.may_be_null() {
            // Steps with a null key are not joined.
            let no_key = self
                .add(Expr::Compare(Compare::Eq, key.id, null), Type::Bool, at)
                .id;
            let has_key = self.add(Expr::Not(no_key), Type::Bool, at).id;
            there = self.add(Expr::And(has_key, there), Type::Bool, at).id;
        }
        let update = self.add(Expr::If(there, value.id, same), ty.clone(), at).id;
        self.spec.tracks.push(hir::Track {
            name,
            params: vec![(self.joins[join].name.text.clone(), key_ty)],
            compared: vec![vec![key.id]],
            constants: vec![Vec::new()],
            ty,
            init: null,
            update,
            span,
        });
        self.joins[join].tracks.insert(idx, id);
        id
    }
}
