//! Calls: definitions with parameters, predicates, tracks, and functions of the past.

use std::cell::OnceCell;
use std::rc::Rc;

use super::habits::bare;
use super::name::Qualifier;
use super::names::ItemRef;
use super::scope::{Binding, Condition, Scope};
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{Expr, Window};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind, TypeKind};
use crate::types::Type;
use crate::value::Value;

impl<'a> Checker<'a> {
    pub(super) fn call(
        &mut self,
        scope: &Scope<'a>,
        callee: &'a ast::Expr,
        args: &'a [ast::Arg],
        expected: Option<&Type>,
        span: Span,
    ) -> Typed {
        if let ExprKind::Name(name) = &callee.kind {
            match self.binding(scope, name) {
                Some(Binding::Predicate(expr, inner)) => {
                    let (expr, inner) = (*expr, inner.clone());
                    return match self.predicate_of(&inner, expr) {
                        Some(item) => self.call_item(scope, item, args, span),
                        None => self.wrong(),
                    };
                }
                Some(Binding::AnyPredicate(arity)) => {
                    let arity = *arity;
                    for arg in args {
                        self.operand(scope, &arg.value, None);
                    }
                    self.arity(&name.text, arity, arity, args.len(), span);
                    let local = self.local(&name.text);
                    return self.add(Expr::Local(local), Type::Bool, span);
                }
                Some(_) => {
                    self.error(
                        Code::G0209,
                        *name.span,
                        format!("`{name}` is not a function"),
                    );
                    return self.wrong();
                }
                None => {}
            }
        }
        if let Some(item) = self.item_of(scope, callee) {
            return self.call_item(scope, item, args, span);
        }
        match &callee.kind {
            ExprKind::Name(name) => match name.as_str() {
                "count" => self.count(scope, None, args, span),
                "before" => self.before(scope, args, span),
                "todo" => self.todo(args, span),
                "violated" => self.violated(scope, args, span),
                _ => {
                    let args: Vec<&'a ast::Expr> = args.iter().map(|arg| &arg.value).collect();
                    self.function(scope, name, &args, expected, span)
                }
            },
            ExprKind::Member { base, name } => {
                if let Some(Qualifier::Module(module)) = self.qualifier(scope, base) {
                    return self.unknown_in_module(module, name, "function");
                }
                if self.is_misspelt_module(scope, base, name) {
                    return self.wrong();
                }
                let args: Vec<&'a ast::Expr> = std::iter::once(base.as_ref())
                    .chain(args.iter().map(|arg| &arg.value))
                    .collect();
                self.function(scope, name, &args, expected, span)
            }
            _ => {
                if let Some(wrong) = self.box_operator(callee) {
                    return wrong;
                }
                self.error(
                    Code::G0209,
                    *callee.span,
                    "this expression cannot be called",
                );
                self.wrong()
            }
        }
    }

    /// Returns the predicate (or definition) that an argument for a `pred(…)` parameter names.
    pub(super) fn predicate_of(
        &mut self,
        scope: &Scope<'a>,
        expr: &'a ast::Expr,
    ) -> Option<ItemRef> {
        if let ExprKind::Name(name) = &expr.kind
            && let Some(Binding::Predicate(expr, inner)) = self.binding(scope, name)
        {
            let (expr, inner) = (*expr, inner.clone());
            return self.predicate_of(&inner, expr);
        }
        self.item_of(scope, expr)
    }

    /// Reports a wrong number of arguments; returns true if it is right.
    pub(super) fn arity(
        &mut self,
        name: &str,
        least: usize,
        most: usize,
        given: usize,
        span: Span,
    ) -> bool {
        if (least..=most).contains(&given) {
            return true;
        }
        let wanted = match (least, most) {
            (least, most) if least == most => format!("{least}"),
            (least, usize::MAX) => format!("at least {least}"),
            (least, most) => format!("{least} to {most}"),
        };
        let noun = if wanted == "1" {
            "argument"
        } else {
            "arguments"
        };
        let mut diagnostic = Diagnostic::new(
            Code::G0304,
            span,
            format!("expected {wanted} {noun} for `{name}`, found {given}"),
        )
        .label("wrong number of arguments");
        let call = self.snippet(span);
        if let (0, Some((alone, _))) = (most, bare(&call).split_once('(')) {
            let without = call.replacen(bare(&call), alone, 1);
            diagnostic = diagnostic.fix(format!("write `{alone}`"), span, without);
        }
        self.report(diagnostic);
        false
    }

    /// Calls a definition, predicate or track of a spec.
    fn call_item(
        &mut self,
        scope: &Scope<'a>,
        item_ref: ItemRef,
        args: &'a [ast::Arg],
        span: Span,
    ) -> Typed {
        self.used.insert(item_ref);
        let item = self.names.item(item_ref);
        let home = Scope::module(item_ref.module);
        match &item.kind {
            ast::ItemKind::Let(def) => {
                let Some(inner) = self.bind(scope, &home, &def.name, &def.params, args, span)
                else {
                    return self.wrong();
                };
                let declared = def.ty.as_ref().map(|ty| self.ty(&home, ty));
                let values = inner.values();
                self.inlined(item_ref, values, span, |checker| match &declared {
                    Some(ty) => checker.typed_as(&inner, &def.value, ty),
                    None => checker.value(&inner, &def.value, None),
                })
            }
            ast::ItemKind::Predicate(def) => {
                let Some(inner) = self.bind(scope, &home, &def.name, &def.params, args, span)
                else {
                    return self.wrong();
                };
                let values = inner.values();
                self.inlined(item_ref, values, span, |checker| {
                    let id = checker.boolean(&inner, &def.value);
                    Typed { id, ty: Type::Bool }
                })
            }
            ast::ItemKind::Track(def) => {
                if !self.arity(
                    &def.name.text,
                    def.params.len(),
                    def.params.len(),
                    args.len(),
                    span,
                ) {
                    return self.wrong();
                }
                let mut ids = Vec::new();
                for (param, arg) in def.params.iter().zip(args) {
                    let ty = param
                        .ty
                        .as_ref()
                        .map_or(Type::Json, |ty| self.ty(&home, ty));
                    let typed = self.operand(scope, &arg.value, Some(&ty));
                    let identity =
                        matches!(self.spec.exprs.get(typed.id), Expr::Var(_) | Expr::Param(_));
                    if !identity && !Self::fits(&typed.ty, &ty.clone().nullable()) {
                        self.mismatch(*arg.value.span, &typed.ty, &ty);
                    }
                    if matches!(typed.ty, Type::Nullable(_) | Type::Null)
                        && !self.is_known(typed.id)
                    {
                        self.null_key(&param.name, *arg.value.span);
                    }
                    ids.push(typed.id);
                }
                self.track_read(item_ref, ids, span)
            }
            // The broken item was already reported.
            ast::ItemKind::Broken(_) => self.wrong(),
            ast::ItemKind::Template(def) => {
                self.report(
                    Diagnostic::new(
                        Code::G0209,
                        span,
                        format!("`{}` is a template, not a value", def.name),
                    )
                    .label("used as a value")
                    .note("declare a property from the template: `property x = T(a, b)`"),
                );
                self.wrong()
            }
            _ => {
                let name = self.snippet(span);
                self.report(
                    Diagnostic::new(
                        Code::G0209,
                        span,
                        format!("`{name}` does not take arguments"),
                    )
                    .label("no function")
                    .also(*item.span, "declared here"),
                );
                self.wrong()
            }
        }
    }

    /// Warns if the key given to a track may be null.
    fn null_key(&mut self, param: &ast::Name, span: Span) {
        let text = self.snippet(span);
        self.report(
            Diagnostic::new(
                Code::G0309,
                span,
                format!("`{param}` may be null, and null is a key like any other"),
            )
            .label("all events without it share one value")
            .note(format!(
                "if that is not meant, ask first: `{text} != null and …`"
            )),
        );
    }

    /// Returns the scope of a body with parameters bound to arguments. Checks the arguments against the types of
    /// parameters.
    pub(super) fn bind(
        &mut self,
        scope: &Scope<'a>,
        home: &Scope<'a>,
        name: &ast::Name,
        params: &'a [ast::Param],
        args: &'a [ast::Arg],
        span: Span,
    ) -> Option<Scope<'a>> {
        let least = params
            .iter()
            .take_while(|param| param.default.is_none())
            .count();
        if !self.arity(&name.text, least, params.len(), args.len(), span) {
            return None;
        }
        let mut inner = home.clone();
        let mut sound = true;
        for (idx, param) in params.iter().enumerate() {
            let (arg, from) = match (args.get(idx), &param.default) {
                (Some(arg), _) => {
                    if let Some(name) = &arg.name {
                        self.error(
                            Code::G0304,
                            *name.span,
                            format!("unknown argument `{name}`"),
                        );
                        sound = false;
                    }
                    (&arg.value, scope)
                }
                (None, Some(default)) => (default, home),
                (None, None) => return None,
            };
            let binding = self.argument(from, home, param, arg);
            match binding {
                Some(binding) => inner = inner.with_name(&param.name, binding),
                None => sound = false,
            }
        }
        sound.then_some(inner)
    }

    fn argument(
        &mut self,
        scope: &Scope<'a>,
        home: &Scope<'a>,
        param: &'a ast::Param,
        arg: &'a ast::Expr,
    ) -> Option<Binding<'a>> {
        match param.ty.as_ref().map(|ty| &ty.kind) {
            Some(TypeKind::Pred(types)) if types.is_empty() => {
                Some(Binding::Condition(Rc::new(Condition {
                    expr: arg,
                    scope: scope.clone(),
                    depth: self.open.len(),
                    formula: OnceCell::new(),
                    value: OnceCell::new(),
                })))
            }
            Some(TypeKind::Pred(types)) => {
                if let ExprKind::Name(name) = &arg.kind
                    && let Some(Binding::AnyPredicate(arity)) = self.binding(scope, name)
                {
                    return (*arity == types.len()).then_some(Binding::AnyPredicate(types.len()));
                }
                let Some(item) = self.predicate_of(scope, arg) else {
                    self.report(
                        Diagnostic::new(Code::G0301, *arg.span, "expected the name of a predicate")
                            .label(format!(
                                "`{}` expects a predicate with {} parameters",
                                param.name,
                                types.len()
                            )),
                    );
                    return None;
                };
                let params = match &self.names.item(item).kind {
                    ast::ItemKind::Predicate(def) => def.params.len(),
                    ast::ItemKind::Let(def) => def.params.len(),
                    _ => usize::MAX,
                };
                if params != types.len() {
                    self.report(
                        Diagnostic::new(
                            Code::G0304,
                            *arg.span,
                            format!("expected a predicate with {} parameters", types.len()),
                        )
                        .label("different number of parameters")
                        .also(*self.names.item(item).span, "declared here"),
                    );
                    return None;
                }
                Some(Binding::Predicate(arg, scope.clone()))
            }
            _ => {
                let ty = match &param.ty {
                    Some(ty) => self.ty(home, ty),
                    None => Type::Json,
                };
                let typed = self.operand(scope, arg, Some(&ty));
                if matches!(self.spec.exprs.get(typed.id), Expr::Var(_) | Expr::Param(_)) {
                    return Some(Binding::Value(typed));
                }
                if !Self::fits(&typed.ty, &ty) {
                    self.mismatch(*arg.span, &typed.ty, &ty);
                    return None;
                }
                let ty = if typed.ty == Type::Error {
                    Type::Error
                } else {
                    ty
                };
                Some(Binding::Value(Typed { id: typed.id, ty }))
            }
        }
    }

    /// Elaborates `count(p)`, `count(p, since: q)`, `count[0,60s](p)`.
    pub(super) fn count(
        &mut self,
        scope: &Scope<'a>,
        bound: Option<&'a ast::Bound>,
        args: &'a [ast::Arg],
        span: Span,
    ) -> Typed {
        let window: Option<Window> = match bound {
            None => None,
            Some(bound) => match self.bound(scope, bound) {
                Some(window) => Some(window),
                None => return self.wrong(),
            },
        };
        let mut of = None;
        let mut since = None;
        for arg in args {
            match &arg.name {
                None if of.is_none() => {
                    of = Some(self.at_any_step(|checker| checker.boolean(scope, &arg.value)));
                }
                Some(name) if name.as_str() == "since" && since.is_none() => {
                    since = Some(self.at_any_step(|checker| checker.boolean(scope, &arg.value)));
                }
                Some(name) => {
                    self.error(
                        Code::G0304,
                        *name.span,
                        format!("unknown argument `{name}` of `count`"),
                    );
                    return self.wrong();
                }
                None => {
                    self.report(
                        Diagnostic::new(Code::G0304, span, "`count` takes one condition").label("too many arguments").note(
                            "`count(p, since: q)` counts since the last `q`; to count elements of a list, \
                    write `count y in xs: p`",
                        ),
                    );
                    return self.wrong();
                }
            }
        }
        let Some(of) = of else {
            self.arity("count", 1, 1, 0, span);
            return self.wrong();
        };
        self.add(Expr::Count { of, window, since }, Type::Int, span)
    }

    fn before(&mut self, scope: &Scope<'a>, args: &'a [ast::Arg], span: Span) -> Typed {
        if !self.arity("before", 1, 1, args.len(), span) {
            return self.wrong();
        }
        let operand = &args[0].value;
        let typed = self.at_any_step(|checker| checker.value(scope, operand, None));
        let is_track = matches!(self.spec.exprs.get(typed.id), Expr::Track(..));
        if typed.ty == Type::Bool
            && !is_track
            && !matches!(self.spec.exprs.get(typed.id), Expr::Field(_))
        {
            let text = self.snippet(*operand.span);
            self.report(
                Diagnostic::new(
                    Code::G0321,
                    span,
                    "`before` of a condition would be null at the first step",
                )
                .label("a condition must be true or false")
                .fix(
                    "test the previous step with `previously`",
                    span,
                    format!("(previously ({text}))"),
                ),
            );
            return self.wrong();
        }
        let ty = if is_track {
            typed.ty.clone()
        } else {
            typed.ty.clone().nullable()
        };
        self.add(Expr::Before(typed.id), ty, span)
    }

    /// Elaborates `todo("words")`: a condition without a body yet.
    fn todo(&mut self, args: &'a [ast::Arg], span: Span) -> Typed {
        if !self.arity("todo", 1, 1, args.len(), span) {
            return self.wrong();
        }
        let typed = self.value(&Scope::module(0), &args[0].value, Some(&Type::String));
        let Expr::Const(Value::String(words)) = self.spec.exprs.get(typed.id).clone() else {
            self.error(
                Code::G0301,
                *args[0].value.span,
                "expected a description of the condition as a string literal",
            );
            return self.wrong();
        };
        let message = format!("condition not yet written: {words}");
        self.report(
            Diagnostic::new(Code::G0950, span, message)
                .label("unknown at every step")
                .note("replace it by a condition on the fields of the event"),
        );
        self.add(Expr::Todo(words.into()), Type::Bool, span)
    }
}
