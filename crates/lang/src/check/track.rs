//! Tracks, which are folds over the events; and definitions checked on their own.

use smol_str::SmolStr;

use super::names::ItemRef;
use super::scope::{Binding, Scope};
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::outline::{Arm, Cases, Definition};
use crate::hir::{self, Expr, reads};
use crate::ids::{ExprId, TrackId};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::Type;

impl<'a> Checker<'a> {
    /// Reads a track.
    pub(super) fn track_read(&mut self, item_ref: ItemRef, args: Vec<ExprId>, span: Span) -> Typed {
        self.used.insert(item_ref);
        match self.track(item_ref) {
            Some(track) => {
                let ty = self.spec.tracks[track.index()].ty.clone();
                self.add(Expr::Track(track, args.into()), ty, span)
            }
            None => self.wrong(),
        }
    }

    /// Returns the track that an item declares. Tracks may read one another: they are updated together.
    pub(super) fn track(&mut self, item_ref: ItemRef) -> Option<TrackId> {
        match self.tracks.get(&item_ref) {
            Some(known) => Some(*known),
            None => self.by_itself(|checker| checker.new_track(item_ref)),
        }
    }

    fn new_track(&mut self, item_ref: ItemRef) -> Option<TrackId> {
        let ast::ItemKind::Track(def) = &self.names.item(item_ref).kind else {
            return None;
        };
        let scope = Scope::module(item_ref.module);
        let mut inner = scope.clone();
        let mut params: Vec<(SmolStr, Type)> = Vec::new();
        for (idx, param) in def.params.iter().enumerate() {
            let ty = match &param.ty {
                Some(ty) => self.ty(&scope, ty),
                None => Type::Json,
            };
            if param.default.is_some() {
                self.error(
                    Code::G0320,
                    param.name.span,
                    "a parameter of a track cannot have a default",
                );
            }
            let variable = self.add(Expr::Param(idx), ty.clone(), *param.name.span);
            inner = inner.with_name(&param.name, Binding::Value(variable));
            params.push((param.name.text.clone(), ty));
        }
        let declared = def.ty.as_ref().map(|ty| self.ty(&scope, ty));
        let init = match &declared {
            Some(ty) => self.typed_as(&scope, &def.init, ty),
            None => self.value(&scope, &def.init, None),
        };
        let read = reads::reads(&self.spec, [init.id]);
        if !read.fields.is_empty() || !read.tracks.is_empty() || read.history {
            self.report(
                Diagnostic::new(
                    Code::G0320,
                    def.init.span,
                    "the initial value of a track cannot read an event",
                )
                .label("reads an event")
                .note("it may read constants and `meta` fields"),
            );
        }
        let ty = declared.unwrap_or_else(|| init.ty.clone());
        let id = TrackId::new(self.spec.tracks.len());
        self.tracks.insert(item_ref, id);
        self.spec.tracks.push(hir::Track {
            name: def.name.text.clone(),
            params,
            compared: Vec::new(),
            constants: Vec::new(),
            ty: ty.clone(),
            init: init.id,
            update: init.id,
            span: *self.names.item(item_ref).span,
        });
        // A definition that reads the track inside the track's own update is not a cycle, because the track is known by
        // now.
        let open = std::mem::take(&mut self.open);
        let update = self.scoped(|checker| checker.track_update(&inner, id, &def.arms, &ty));
        self.open = open;
        let (mut compared, mut constants) = (Vec::new(), Vec::new());
        for idx in 0..def.params.len() {
            let found = self.compared(&[update], &Expr::Param(idx));
            if !found.element_terms.is_empty() {
                let arms = def.arms.first().zip(def.arms.last());
                let update = arms.map_or(*def.init.span, |(first, last)| first.span.to(*last.span));
                self.report(
                    Diagnostic::new(
                        Code::G0320,
                        update,
                        "a track parameter can only be compared with single values",
                    )
                    .label("compared with the elements of a list"),
                );
            }
            compared.push(found.terms);
            constants.push(found.constants);
        }
        let track = &mut self.spec.tracks[id.index()];
        track.update = update;
        (track.compared, track.constants) = (compared, constants);
        Some(id)
    }

    /// Returns the value of a track after an event: the value of the first arm whose condition holds, otherwise the
    /// current one.
    fn track_update(
        &mut self,
        scope: &Scope<'a>,
        track: TrackId,
        arms: &'a [ast::TrackArm],
        ty: &Type,
    ) -> ExprId {
        let mut made = Vec::new();
        for arm in arms {
            let Some(condition) = &arm.condition else {
                return self.value_as(scope, &arm.value, ty).id;
            };
            let condition = self.boolean(scope, condition);
            let value = self.scoped(|checker| {
                checker.note(condition, true);
                checker.value_as(scope, &arm.value, ty).id
            });
            self.note(condition, false);
            made.push(Arm {
                span: *arm.span,
                condition,
                value,
            });
        }
        let params = self.spec.tracks[track.index()].params.clone();
        let keys = params.into_iter().enumerate().map(|(idx, (_, ty))| {
            let param = self.add(Expr::Param(idx), ty, Span::default());
            param.id
        });
        let keys: Vec<ExprId> = keys.collect();
        let same = Expr::Track(track, keys.into());
        let same = self.add(same, ty.clone(), Span::default()).id;
        let update = made.iter().rev().fold(same, |otherwise, arm| {
            let choice = Expr::If(arm.condition, arm.value, otherwise);
            self.add(choice, ty.clone(), arm.span).id
        });
        self.spec.outline.cases.push(Cases {
            arms: made,
            otherwise: same,
            generic: self.generic,
        });
        update
    }

    /// Checks a `const` of the spec on its own.
    pub(super) fn constant_alone(&mut self, scope: &Scope<'a>, def: &'a ast::Const) {
        if let ast::ExprKind::Regex { pattern, flags } = &def.value.kind {
            self.compile_regex(pattern, flags, *def.value.span);
            return;
        }
        let typed = match &def.ty {
            Some(ty) => {
                let ty = self.ty(scope, ty);
                self.typed_as(scope, &def.value, &ty)
            }
            None => {
                let typed = self.value(scope, &def.value, None);
                self.infer(&def.name, &typed.ty);
                typed
            }
        };
        let read = reads::reads(&self.spec, [typed.id]);
        if read != reads::Reads::default() {
            self.report(
                Diagnostic::new(
                    Code::G0320,
                    def.value.span,
                    "a constant cannot read an event",
                )
                .label("changes from step to step")
                .note("for a value of the step, use `let`"),
            );
        }
    }

    /// Returns the value of a `const` by its name.
    pub(super) fn constant_by_name(&mut self, item_ref: ItemRef, name: &'a ast::Name) -> Typed {
        self.used.insert(item_ref);
        let scope = Scope::module(item_ref.module);
        let ast::ItemKind::Const(def) = &self.names.item(item_ref).kind else {
            return self.wrong();
        };
        self.inlined(item_ref, None, *name.span, |checker| match &def.ty {
            Some(ty) => {
                let ty = checker.ty(&scope, ty);
                checker.typed_as(&scope, &def.value, &ty)
            }
            None => checker.value(&scope, &def.value, None),
        })
    }

    /// Returns the scope of a definition checked on its own: parameters without values.
    fn parameters(&mut self, scope: &Scope<'a>, params: &'a [ast::Param]) -> Scope<'a> {
        let mut inner = scope.clone();
        for param in params {
            let ty = match &param.ty {
                Some(ty) => self.ty(scope, ty),
                None => Type::Json,
            };
            let binding = self.placeholder(&param.name, ty);
            inner = inner.with_name(&param.name, binding);
        }
        inner
    }

    /// Checks a `let` of the spec on its own.
    pub(super) fn let_alone(&mut self, scope: &Scope<'a>, item_ref: ItemRef, def: &'a ast::Let) {
        let inner = self.parameters(scope, &def.params);
        if !self.enter(item_ref, *def.name.span) {
            return;
        }
        self.generic = !def.params.is_empty();
        if self.is_temporal(&inner, &def.value) {
            self.formula(&inner, &def.value);
        } else {
            let typed = if let Some(ty) = &def.ty {
                let ty = self.ty(scope, ty);
                self.typed_as(&inner, &def.value, &ty)
            } else {
                let typed = self.operand(&inner, &def.value, None);
                self.infer(&def.name, &typed.ty);
                typed
            };
            if !self.generic {
                self.value_of_steps(item_ref, &def.name, typed.id, false);
            }
        }
        self.generic = false;
        self.leave();
    }

    /// Checks a `predicate` of the spec on its own.
    pub(super) fn predicate_alone(
        &mut self,
        scope: &Scope<'a>,
        item_ref: ItemRef,
        def: &'a ast::Predicate,
    ) {
        let inner = self.parameters(scope, &def.params);
        if !self.enter(item_ref, *def.name.span) {
            return;
        }
        self.generic = !def.params.is_empty();
        if self.is_temporal(&inner, &def.value) {
            self.formula(&inner, &def.value);
        } else {
            let condition = self.boolean(&inner, &def.value);
            if !self.generic {
                self.value_of_steps(item_ref, &def.name, condition, true);
            }
        }
        self.generic = false;
        self.leave();
    }

    /// Records the value of a definition without parameters, for debuggers and editors.
    pub(super) fn value_of_steps(
        &mut self,
        item_ref: ItemRef,
        name: &ast::Name,
        expr: ExprId,
        is_predicate: bool,
    ) {
        self.spec.outline.values.push(Definition {
            name: name.text.clone(),
            span: *self.names.item(item_ref).span,
            expr,
            is_predicate,
        });
    }
}
