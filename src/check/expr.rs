//! Expressions as values.

use std::sync::Arc;

use smol_str::SmolStr;

use super::names::{ItemRef, Names, Space};
use super::scope::{Binding, Scope};
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::hir::{self, Expr};
use crate::ids::ExprId;
use crate::project::ModuleIdx;
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind};
use crate::types::Type;
use crate::value::{EnumValue, Value};

/// What a dotted path of names means before its last part.
enum Qualifier {
    Module(ModuleIdx),
    Type(ItemRef),
}

impl<'a> Checker<'a> {
    /// Elaborates an expression as a value. `expected` is the type that the place asks for, where it asks: names of enum
    /// values and empty braces are found by it. Whether the value fits is for the caller to check.
    pub(super) fn value(
        &mut self,
        scope: &Scope<'a>,
        expr: &'a ast::Expr,
        expected: Option<&Type>,
    ) -> Typed {
        let typed = self.operand(scope, expr, expected);
        if matches!(self.spec.exprs.get(typed.id), Expr::Var(_) | Expr::Param(_)) {
            let name = self.snippet(*expr.span);
            self.report(
                Diagnostic::new(Code::G0312, expr.span, format!("`{name}` may only be compared"))
                    .label("used as a value here")
                    .note(
                        "a quantified name or the parameter of a track may stand in `e == x`, `e != x`, `x in list`, \
                         `list contains x`, or be given to a predicate or track that compares it",
                    ),
            );
            return self.wrong();
        }
        typed
    }

    /// Like [`value`](Self::value), in the places where a quantified name may stand by itself.
    pub(super) fn operand(
        &mut self,
        scope: &Scope<'a>,
        expr: &'a ast::Expr,
        expected: Option<&Type>,
    ) -> Typed {
        let span = *expr.span;
        match &expr.kind {
            ExprKind::Bool(value) => self.add(Expr::Const(Value::Bool(*value)), Type::Bool, span),
            ExprKind::Null => self.add(Expr::Const(Value::Null), Type::Null, span),
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Percent(_)
            | ExprKind::Duration(_) => self.number(expr, expected),
            ExprKind::String(text) => self.add(
                Expr::Const(Value::String(text.value.clone())),
                Type::String,
                span,
            ),
            ExprKind::Regex { .. } => {
                self.report(
                    Diagnostic::new(Code::G0303, span, "a regular expression is no value")
                        .label("stands where a value is asked for")
                        .note("it stands after `matches`, in `capture(…)` and in `const`"),
                );
                self.wrong()
            }
            ExprKind::List(items) => {
                let item = match expected.map(Type::non_null) {
                    Some(Type::List(item) | Type::Set(item)) => Some(item.as_ref().clone()),
                    _ => None,
                };
                let as_set = matches!(expected.map(Type::non_null), Some(Type::Set(_)));
                self.sequence(scope, items, item, as_set, span)
            }
            ExprKind::Set(items) => {
                let item = match expected.map(Type::non_null) {
                    Some(Type::List(item) | Type::Set(item)) => Some(item.as_ref().clone()),
                    _ => None,
                };
                self.sequence(scope, items, item, true, span)
            }
            ExprKind::EmptyBraces => match expected.map(Type::non_null) {
                Some(Type::Set(item)) => {
                    let ty = Type::Set(item.clone());
                    self.add(Expr::Set(Box::default()), ty, span)
                }
                Some(ty @ (Type::Map(_) | Type::Json)) => {
                    let ty = ty.clone();
                    self.add(Expr::Record(Box::default()), ty, span)
                }
                _ => self.add(
                    Expr::Record(Box::default()),
                    Type::Map(Arc::new(Type::Json)),
                    span,
                ),
            },
            ExprKind::Record(entries) => self.record(scope, entries, expected, span),
            ExprKind::Name(name) => self.name(scope, name, expected),
            ExprKind::Member { base, name } => self.member(scope, base, name, span),
            ExprKind::Index { base, index } => self.index(scope, base, index, span),
            ExprKind::Call { callee, args } => self.call(scope, callee, args, expected, span),
            ExprKind::CountWindow { bound, args } => self.count(scope, Some(bound), args, span),
            ExprKind::Prime(_) => {
                self.report(
                    Diagnostic::new(Code::G0325, span, "there is no next state here")
                        .label("primed name")
                        .note("a prime stands in `step` of abstractions and systems only"),
                );
                self.wrong()
            }
            ExprKind::Unary {
                op: ast::UnaryOp::Not,
                operand,
                ..
            } => {
                let operand = self.boolean(scope, operand);
                self.add(Expr::Not(operand), Type::Bool, span)
            }
            ExprKind::Unary {
                op: ast::UnaryOp::Neg,
                operand,
                ..
            } => self.negation(scope, operand, expected, span),
            ExprKind::Chain { op, operands, .. } => {
                let facts: &[ast::Expr] = if *op == ast::ChainOp::And {
                    operands
                } else {
                    &[]
                };
                let all: Vec<_> = self.assuming(scope, facts, |checker| {
                    operands
                        .iter()
                        .map(|operand| (checker.boolean(scope, operand), *operand.span))
                        .collect()
                });
                self.chain(*op, &all)
            }
            ExprKind::Binary { op, lhs, rhs, .. } => {
                self.binary(scope, *op, lhs, rhs, expected, span)
            }
            ExprKind::Cast { operand, ty } => self.cast(scope, operand, ty, span),
            ExprKind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.boolean(scope, condition);
                self.choice(scope, condition, then, otherwise, expected, span)
            }
            ExprKind::Cases(arms) => self.cases(scope, arms, expected, span),
            ExprKind::Quantifier {
                kind,
                name,
                source,
                body,
            } => self.list_quantifier(scope, *kind, name, source, body, span),
            ExprKind::Temporal { .. } | ExprKind::TemporalInfix { .. } => {
                self.past_value(scope, expr)
            }
            ExprKind::LeadsTo { .. } | ExprKind::Precedes { .. } => {
                self.future_in_value(span);
                self.wrong()
            }
            ExprKind::Instances { .. } => {
                self.report(
                    Diagnostic::new(
                        Code::G0313,
                        span,
                        "`forall` and `exists` stand outermost in a property",
                    )
                    .label("inside another expression here")
                    .note("over a list use `all y in xs: …` or `any y in xs: …`"),
                );
                self.wrong()
            }
            ExprKind::Ctl { .. }
            | ExprKind::Path { .. }
            | ExprKind::Probability { .. }
            | ExprKind::SteadyState { .. }
            | ExprKind::Reward { .. } => {
                self.not_built_formula(span);
                self.wrong()
            }
            ExprKind::Error => self.wrong(),
        }
    }

    /// A condition as a value: a Boolean, never null.
    pub(super) fn boolean(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr) -> ExprId {
        let typed = self.value(scope, expr, Some(&Type::Bool));
        self.require_boolean(&typed, *expr.span);
        typed.id
    }

    /// Reports what is no Boolean.
    pub(super) fn require_boolean(&mut self, typed: &Typed, span: Span) {
        let mut diagnostic = match &typed.ty {
            Type::Bool | Type::Error => return,
            Type::Json => Diagnostic::new(
                Code::G0302,
                span,
                "a `json` value is no condition by itself",
            )
            .label("may hold anything")
            .note("an absent value and one of another type are not `false`: say what you ask"),
            ty if ty.non_null() == &Type::Bool => Diagnostic::new(
                Code::G0302,
                span,
                format!("this is `{ty}`, and null is neither true nor false"),
            )
            .label("may be null"),
            ty => Diagnostic::new(
                Code::G0302,
                span,
                format!("a condition is asked for, and this is `{ty}`"),
            )
            .label(format!("`{ty}`")),
        };
        if matches!(typed.ty, Type::Json) || typed.ty.non_null() == &Type::Bool {
            let text = self.snippet(span);
            diagnostic =
                diagnostic.fix("compare it with `true`", span, format!("({text} == true)"));
        }
        self.report(diagnostic);
    }

    /// A value of a type that the place asks for.
    pub(super) fn value_as(
        &mut self,
        scope: &Scope<'a>,
        expr: &'a ast::Expr,
        wanted: &Type,
    ) -> Typed {
        let typed = self.value(scope, expr, Some(wanted));
        if !Self::fits(&typed.ty, wanted) {
            self.mismatch(*expr.span, &typed.ty, wanted);
            return self.wrong();
        }
        typed
    }

    fn sequence(
        &mut self,
        scope: &Scope<'a>,
        items: &'a [ast::Expr],
        item: Option<Type>,
        as_set: bool,
        span: Span,
    ) -> Typed {
        let mut joined: Option<Type> = None;
        let mut ids = Vec::with_capacity(items.len());
        for expr in items {
            let typed = self.value(scope, expr, item.as_ref());
            joined = Some(match joined {
                None => typed.ty.clone(),
                // Lists of JSON data are often mixed: they are lists of `json`.
                Some(before) => Self::join(&before, &typed.ty).unwrap_or(Type::Json),
            });
            ids.push(typed.id);
        }
        let item = match (joined, item) {
            (Some(joined), Some(wanted)) if Self::fits(&joined, &wanted) => wanted,
            (Some(joined), _) => joined,
            (None, wanted) => wanted.unwrap_or(Type::Error),
        };
        let item = Arc::new(item);
        // A list of constants is one constant: membership in it can be looked up.
        let constant: Option<Vec<Value>> = ids
            .iter()
            .map(|id| match self.spec.exprs.get(*id) {
                Expr::Const(value) => Some(value.clone()),
                _ => None,
            })
            .collect();
        match (constant, as_set) {
            (Some(values), true) => self.add(
                Expr::Const(Value::Set(values.into_iter().collect())),
                Type::Set(item),
                span,
            ),
            (Some(values), false) => {
                self.add(Expr::Const(Value::list(values)), Type::List(item), span)
            }
            (None, true) => self.add(Expr::Set(ids.into()), Type::Set(item), span),
            (None, false) => self.add(Expr::List(ids.into()), Type::List(item), span),
        }
    }

    fn record(
        &mut self,
        scope: &Scope<'a>,
        entries: &'a [ast::RecordEntry],
        expected: Option<&Type>,
        span: Span,
    ) -> Typed {
        let wanted = expected.map(Type::non_null).cloned();
        let mut members: Vec<(SmolStr, ExprId)> = Vec::new();
        for entry in entries {
            let ty = match &wanted {
                Some(Type::Record(record)) => {
                    let ty = record
                        .members
                        .iter()
                        .find(|(name, _)| *name == entry.key.text)
                        .map(|(_, ty)| ty.clone());
                    if ty.is_none() {
                        self.error(
                            Code::G0305,
                            entry.key.span,
                            format!("`{}` has no member `{}`", record.name, entry.key),
                        );
                    }
                    ty
                }
                Some(Type::Map(item)) => Some(item.as_ref().clone()),
                _ => None,
            };
            if members.iter().any(|(name, _)| *name == entry.key.text) {
                self.error(
                    Code::G0202,
                    entry.key.span,
                    format!("the key `{}` stands here twice", entry.key),
                );
                continue;
            }
            let value = match &ty {
                Some(ty) => self.value_as(scope, &entry.value, ty),
                None => self.value(scope, &entry.value, None),
            };
            members.push((entry.key.text.clone(), value.id));
        }
        let ty = match wanted {
            Some(Type::Record(record)) => {
                for (name, ty) in &record.members {
                    if !ty.may_be_null() && !members.iter().any(|(given, _)| given == name) {
                        self.error(
                            Code::G0305,
                            span,
                            format!("the member `{name}` of `{}` is missing", record.name),
                        );
                    }
                }
                Type::Record(record)
            }
            Some(Type::Map(item)) => Type::Map(item),
            _ => Type::Json,
        };
        self.add(Expr::Record(members.into()), ty, span)
    }

    /// The enum value that a name means where this type is expected.
    pub(super) fn enum_value(
        &mut self,
        name: &ast::Name,
        expected: Option<&Type>,
    ) -> Option<Typed> {
        let Some(Type::Enum(of)) = expected.map(Type::non_null) else {
            return None;
        };
        let of = of.clone();
        let index = of.values.iter().position(|value| *value == name.text)?;
        let value = EnumValue {
            of: of.number,
            index: u16::try_from(index).ok()?,
        };
        Some(self.add(Expr::Const(Value::Enum(value)), Type::Enum(of), *name.span))
    }

    fn name(&mut self, scope: &Scope<'a>, name: &'a ast::Name, expected: Option<&Type>) -> Typed {
        match scope.get(&name.text) {
            Some(Binding::Value(typed)) => return typed.clone(),
            Some(Binding::Condition(expr, inner)) => {
                let (expr, inner) = (*expr, inner.clone());
                return self.value(&inner, expr, Some(&Type::Bool));
            }
            Some(Binding::Predicate(expr, inner, 0)) => {
                let (expr, inner) = (*expr, inner.clone());
                return self.value(&inner, expr, Some(&Type::Bool));
            }
            Some(Binding::Predicate(..) | Binding::AnyPredicate(_)) => {
                self.report(
                    Diagnostic::new(Code::G0304, name.span, format!("`{name}` takes arguments"))
                        .label("none are given"),
                );
                return self.wrong();
            }
            None => {}
        }
        if let Some(item) = self.names.get(scope.module, Space::Value, &name.text) {
            return self.item_value(item, name, expected);
        }
        if let Some(typed) = self.field(&name.text, *name.span) {
            return typed;
        }
        if let Some(typed) = self.enum_value(name, expected) {
            return typed;
        }
        if name.as_str() == "last" {
            self.report(
                Diagnostic::new(
                    Code::G0310,
                    name.span,
                    "`last` is a formula, and a value is asked for here",
                )
                .label("true at the last step of a trace"),
            );
            return self.wrong();
        }
        self.unknown_name(scope, name, expected);
        self.wrong()
    }

    /// A field of the event.
    pub(super) fn field(&mut self, name: &str, span: Span) -> Option<Typed> {
        let idx = self
            .spec
            .signature
            .fields
            .iter()
            .position(|field| field.name == name)?;
        let ty = self.spec.signature.fields[idx].ty.clone();
        Some(self.add(Expr::Field(idx), ty, span))
    }

    fn unknown_name(&mut self, scope: &Scope<'a>, name: &ast::Name, expected: Option<&Type>) {
        let mut diagnostic = Diagnostic::new(
            Code::G0201,
            name.span,
            format!("there is nothing called `{name}`"),
        )
        .label("not declared");
        let fields: Vec<SmolStr> = self
            .spec
            .signature
            .fields
            .iter()
            .map(|field| field.name.clone())
            .collect();
        let values: Vec<SmolStr> = match expected.map(Type::non_null) {
            Some(Type::Enum(of)) => of.values.clone(),
            _ => Vec::new(),
        };
        let mut candidates: Vec<&str> = scope.names();
        candidates.extend(self.names.all(scope.module, Space::Value));
        candidates.extend(fields.iter().map(SmolStr::as_str));
        candidates.extend(values.iter().map(SmolStr::as_str));
        if let Some(near) = did_you_mean(&name.text, candidates) {
            diagnostic = diagnostic.fix(format!("write `{near}`"), name.span, near);
        } else if self
            .names
            .get(scope.module, Space::Property, &name.text)
            .is_some()
        {
            diagnostic =
                diagnostic.note("there is a property of this name, but a property is no value");
        } else if let Some(of) = self
            .spec
            .enums
            .iter()
            .find(|of| of.values.contains(&name.text))
            .map(|of| of.name.clone())
        {
            diagnostic = diagnostic
                .note(format!("the enum `{of}` has such a value: write `{of}.{name}` where the type does not say it"));
        } else if self.spec.signature.fields.is_empty() {
            diagnostic = diagnostic.note("there is no `event` block that declares fields");
        }
        self.report(diagnostic);
    }

    /// The value of an item that is used by its name alone.
    fn item_value(
        &mut self,
        item_ref: ItemRef,
        name: &'a ast::Name,
        expected: Option<&Type>,
    ) -> Typed {
        self.used.insert(item_ref);
        let span = *name.span;
        let scope = Scope::module(item_ref.module);
        match &self.names.item(item_ref).kind {
            ast::ItemKind::Const(def) => {
                if matches!(def.value.kind, ExprKind::Regex { .. }) {
                    self.report(
                        Diagnostic::new(
                            Code::G0303,
                            span,
                            format!("`{name}` is a regular expression, not a value"),
                        )
                        .label("stands where a value is asked for")
                        .note("it stands after `matches` and in `capture(…)`"),
                    );
                    return self.wrong();
                }
                let declared = def.ty.as_ref().map(|ty| self.ty(&scope, ty));
                // Without a declared type, what a constant means may depend on the type expected.
                let args = (declared.is_some() || expected.is_none()).then(Vec::new);
                self.inlined(item_ref, args, span, |checker| match &declared {
                    Some(ty) => checker.typed_as(&scope, &def.value, ty),
                    None => checker.value(&scope, &def.value, expected),
                })
            }
            ast::ItemKind::Let(def) if def.params.is_empty() => {
                let declared = def.ty.as_ref().map(|ty| self.ty(&scope, ty));
                self.inlined(
                    item_ref,
                    Some(Vec::new()),
                    span,
                    |checker| match &declared {
                        Some(ty) => checker.typed_as(&scope, &def.value, ty),
                        None => checker.value(&scope, &def.value, None),
                    },
                )
            }
            ast::ItemKind::Predicate(def) if def.params.is_empty() => {
                self.inlined(item_ref, Some(Vec::new()), span, |checker| {
                    let id = checker.boolean(&scope, &def.value);
                    Typed { id, ty: Type::Bool }
                })
            }
            ast::ItemKind::Unsafe(def) => {
                self.inlined(item_ref, Some(Vec::new()), span, |checker| {
                    let id = checker.boolean(&scope, &def.value);
                    Typed { id, ty: Type::Bool }
                })
            }
            ast::ItemKind::Track(def) if def.params.is_empty() => {
                self.track_read(item_ref, Vec::new(), span)
            }
            ast::ItemKind::Let(_) | ast::ItemKind::Predicate(_) | ast::ItemKind::Track(_) => {
                self.report(
                    Diagnostic::new(Code::G0304, span, format!("`{name}` takes arguments"))
                        .label("none are given")
                        .also(*self.names.item(item_ref).span, "declared with parameters"),
                );
                self.wrong()
            }
            ast::ItemKind::Template(_) => {
                self.report(
                    Diagnostic::new(
                        Code::G0209,
                        span,
                        format!("`{name}` is a template, not a value"),
                    )
                    .label("used as a value")
                    .note("a template makes a property: `property x = T(a, b)`"),
                );
                self.wrong()
            }
            _ => self.wrong(),
        }
    }

    /// A value of a declared type: the node keeps the declared one, so that an int declared as float is one.
    pub(super) fn typed_as(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr, ty: &Type) -> Typed {
        let typed = self.value_as(scope, expr, ty);
        Typed {
            id: typed.id,
            ty: if typed.ty == Type::Error {
                Type::Error
            } else {
                ty.clone()
            },
        }
    }

    /// Elaborates the body of a definition in place of its use; refuses definitions that use themselves. `args` are the
    /// values its parameters are bound to, where all of them are values.
    pub(super) fn inlined(
        &mut self,
        item_ref: ItemRef,
        args: Option<Vec<ExprId>>,
        span: Span,
        body: impl FnOnce(&mut Self) -> Typed,
    ) -> Typed {
        let key = args.map(|args| (item_ref, args));
        if let Some(made) = key.as_ref().and_then(|key| self.made.get(key)) {
            return made.clone();
        }
        if !self.enter(item_ref, span) {
            return self.wrong();
        }
        let typed = body(self);
        self.leave();
        if let Some(key) = key {
            self.made.insert(key, typed.clone());
        }
        typed
    }

    /// Begins to inline a definition; false, with a report, where that would not end.
    pub(super) fn enter(&mut self, item_ref: ItemRef, span: Span) -> bool {
        if self.open.contains(&item_ref) {
            let name = self.snippet(span);
            self.report(
                Diagnostic::new(Code::G0208, span, format!("`{name}` is defined by itself"))
                    .label("used within its own definition")
                    .also(*self.names.item(item_ref).span, "the definition")
                    .note("definitions are inlined; to carry something from step to step, declare a `track`"),
            );
            return false;
        }
        if self.open.len() >= self.limits.definitions {
            self.report(
                Diagnostic::new(Code::G0402, span, "definitions use one another too deeply")
                    .label(format!("more than {} deep", self.limits.definitions))
                    .note("the limit is `check.definitions`"),
            );
            return false;
        }
        self.open.push(item_ref);
        true
    }

    /// Ends what [`enter`](Self::enter) began.
    pub(super) fn leave(&mut self) {
        self.open.pop();
    }

    fn qualifier(&self, scope: &Scope<'a>, expr: &ast::Expr) -> Option<Qualifier> {
        match &expr.kind {
            ExprKind::Name(name) => {
                if scope.get(&name.text).is_some()
                    || self
                        .names
                        .get(scope.module, Space::Value, &name.text)
                        .is_some()
                    || self
                        .spec
                        .signature
                        .fields
                        .iter()
                        .any(|field| field.name == name.text)
                {
                    return None;
                }
                if let Some(item) = self.names.get(scope.module, Space::Type, &name.text) {
                    return Some(Qualifier::Type(item));
                }
                self.names
                    .module(scope.module, &name.text)
                    .map(Qualifier::Module)
            }
            ExprKind::Member { base, name } => match self.qualifier(scope, base)? {
                Qualifier::Module(module) => self
                    .names
                    .get(module, Space::Type, &name.text)
                    .map(Qualifier::Type),
                Qualifier::Type(_) => None,
            },
            _ => None,
        }
    }

    /// The item that `name`, or `module.name`, means as something callable or as a value.
    pub(super) fn item_of(&self, scope: &Scope<'a>, expr: &ast::Expr) -> Option<ItemRef> {
        match &expr.kind {
            ExprKind::Name(name) => {
                if scope.get(&name.text).is_some() {
                    return None;
                }
                self.names.get(scope.module, Space::Value, &name.text)
            }
            ExprKind::Member { base, name } => match self.qualifier(scope, base)? {
                Qualifier::Module(module) => self.names.get(module, Space::Value, &name.text),
                Qualifier::Type(_) => None,
            },
            _ => None,
        }
    }

    fn member(
        &mut self,
        scope: &Scope<'a>,
        base: &'a ast::Expr,
        name: &'a ast::Name,
        span: Span,
    ) -> Typed {
        if let ExprKind::Name(meta) = &base.kind
            && meta.as_str() == "meta"
            && scope.get("meta").is_none()
        {
            return self.meta_field(name);
        }
        match self.qualifier(scope, base) {
            Some(Qualifier::Type(item)) => {
                let ty = self.declared_type(item);
                if let Some(typed) = self.enum_value(name, Some(&ty)) {
                    return typed;
                }
                let mut diagnostic = Diagnostic::new(
                    Code::G0305,
                    name.span,
                    format!("`{ty}` has no value `{name}`"),
                )
                .label("no such value");
                if let Type::Enum(of) = &ty
                    && let Some(near) =
                        did_you_mean(&name.text, of.values.iter().map(SmolStr::as_str))
                {
                    diagnostic = diagnostic.fix(format!("write `{near}`"), name.span, near);
                }
                self.report(diagnostic);
                return self.wrong();
            }
            Some(Qualifier::Module(module)) => {
                if let Some(item) = self.names.get(module, Space::Value, &name.text) {
                    return self.item_value(item, name, None);
                }
                self.report(
                    Diagnostic::new(
                        Code::G0201,
                        name.span,
                        format!("the module has no value `{name}`"),
                    )
                    .label("not declared there"),
                );
                return self.wrong();
            }
            None => {}
        }
        let base_typed = self.value(scope, base, None);
        let nullable = base_typed.ty.may_be_null() && base_typed.ty != Type::Json;
        let ty = match base_typed.ty.non_null() {
            Type::Json | Type::Null => Type::Json,
            Type::Map(item) => item.as_ref().clone().nullable(),
            Type::Error => Type::Error,
            Type::Record(record) => match record
                .members
                .iter()
                .find(|(member, _)| *member == name.text)
            {
                Some((_, ty)) if nullable => ty.clone().nullable(),
                Some((_, ty)) => ty.clone(),
                None => {
                    let mut diagnostic = Diagnostic::new(
                        Code::G0305,
                        name.span,
                        format!("`{}` has no member `{name}`", record.name),
                    )
                    .label("no such member");
                    if let Some(near) = did_you_mean(
                        &name.text,
                        record.members.iter().map(|(name, _)| name.as_str()),
                    ) {
                        diagnostic = diagnostic.fix(format!("write `{near}`"), name.span, near);
                    }
                    self.report(diagnostic);
                    return self.wrong();
                }
            },
            ty => {
                let mut diagnostic =
                    Diagnostic::new(Code::G0305, name.span, format!("`{ty}` has no members"))
                        .label(format!("asked of a `{ty}`"));
                if *ty == Type::String {
                    diagnostic = diagnostic.note("a JSON text is read with `json(…)`");
                }
                self.report(diagnostic);
                return self.wrong();
            }
        };
        self.add(Expr::Member(base_typed.id, name.text.clone()), ty, span)
    }

    /// A field of the record.
    fn meta_field(&mut self, name: &ast::Name) -> Typed {
        if let Some(idx) = self
            .spec
            .signature
            .meta
            .iter()
            .position(|field| field.name == name.text)
        {
            let ty = self.spec.signature.meta[idx].ty.clone();
            return self.add(Expr::Meta(idx), ty, *name.span);
        }
        let mut diagnostic = Diagnostic::new(
            Code::G0201,
            name.span,
            format!("there is no meta field `{name}`"),
        )
        .label("not declared");
        let all: Vec<SmolStr> = self
            .spec
            .signature
            .meta
            .iter()
            .map(|field| field.name.clone())
            .collect();
        diagnostic = match did_you_mean(&name.text, all.iter().map(SmolStr::as_str)) {
            Some(near) => diagnostic.fix(format!("write `{near}`"), name.span, near),
            None => diagnostic.note(format!(
                "declare it in the `trace` block: `meta {name}: T from \"/…\"`"
            )),
        };
        self.report(diagnostic);
        self.wrong()
    }

    fn index(
        &mut self,
        scope: &Scope<'a>,
        base: &'a ast::Expr,
        index: &'a ast::Expr,
        span: Span,
    ) -> Typed {
        let base_typed = self.value(scope, base, None);
        let index_typed = self.value(scope, index, None);
        let (ty, wanted) = match base_typed.ty.non_null() {
            Type::Json | Type::Null => {
                let fits = matches!(
                    index_typed.ty.non_null(),
                    Type::Int | Type::String | Type::Json | Type::Error | Type::Null
                );
                (Type::Json, (!fits).then_some("an int or a string"))
            }
            Type::List(item) => {
                let fits = matches!(index_typed.ty.non_null(), Type::Int | Type::Error);
                (
                    item.as_ref().clone().nullable(),
                    (!fits).then_some("an int"),
                )
            }
            Type::Map(item) => {
                let fits = matches!(
                    index_typed.ty.non_null(),
                    Type::String | Type::Json | Type::Error | Type::Null
                );
                (
                    item.as_ref().clone().nullable(),
                    (!fits).then_some("a string"),
                )
            }
            Type::Error => (Type::Error, None),
            ty => {
                let message = format!("`{ty}` has no elements");
                self.report(
                    Diagnostic::new(Code::G0305, span, message).label(format!("asked of a `{ty}`")),
                );
                return self.wrong();
            }
        };
        if let Some(wanted) = wanted {
            let message = format!(
                "{wanted} is asked for between the brackets, and this is `{}`",
                index_typed.ty
            );
            self.error(Code::G0301, *index.span, message);
            return self.wrong();
        }
        self.add(Expr::Index(base_typed.id, index_typed.id), ty, span)
    }

    fn cast(
        &mut self,
        scope: &Scope<'a>,
        operand: &'a ast::Expr,
        ty: &'a ast::Type,
        span: Span,
    ) -> Typed {
        let target = self.ty(scope, ty);
        let operand = self.value(scope, operand, None);
        let from = operand.ty.non_null().clone();
        let possible = match (&from, target.non_null()) {
            (Type::Json | Type::Null | Type::Error, _) | (_, Type::Json | Type::Error) => true,
            (Type::String, Type::Int | Type::Float | Type::Bool | Type::Time | Type::Enum(_)) => {
                true
            }
            (Type::Int | Type::Float | Type::Bool | Type::Enum(_), Type::String) => true,
            (Type::Int, Type::Float) | (Type::Float, Type::Int) => true,
            (from, to) => from == to,
        };
        if !possible {
            self.report(
                Diagnostic::new(
                    Code::G0306,
                    span,
                    format!("`{}` cannot become `{target}`", operand.ty),
                )
                .label("no such cast"),
            );
            return self.wrong();
        }
        self.add(Expr::Cast(operand.id), target, span)
    }

    /// `if` and each arm of `cases`.
    fn choice(
        &mut self,
        scope: &Scope<'a>,
        condition: ExprId,
        then: &'a ast::Expr,
        otherwise: &'a ast::Expr,
        expected: Option<&Type>,
        span: Span,
    ) -> Typed {
        let lhs = self.value(scope, then, expected);
        let hint = expected.cloned().unwrap_or_else(|| lhs.ty.clone());
        let rhs = self.value(scope, otherwise, Some(&hint));
        match self.joined(&lhs, &rhs, *otherwise.span, *then.span) {
            Some(ty) => self.add(Expr::If(condition, lhs.id, rhs.id), ty, span),
            None => self.wrong(),
        }
    }

    /// The common type of two branches, or a report.
    fn joined(&mut self, lhs: &Typed, rhs: &Typed, span: Span, other: Span) -> Option<Type> {
        let joined = Self::join(&lhs.ty, &rhs.ty);
        if joined.is_none() {
            self.report(
                Diagnostic::new(
                    Code::G0301,
                    span,
                    format!(
                        "the branches have different types, `{}` and `{}`",
                        lhs.ty, rhs.ty
                    ),
                )
                .label(format!("`{}`", rhs.ty))
                .also(other, format!("`{}`", lhs.ty)),
            );
        }
        joined
    }

    fn cases(
        &mut self,
        scope: &Scope<'a>,
        arms: &'a [ast::CaseArm],
        expected: Option<&Type>,
        span: Span,
    ) -> Typed {
        let mut conditions = Vec::new();
        let mut otherwise: Option<(Typed, Span)> = None;
        let mut hint = expected.cloned();
        for arm in arms {
            if let Some((_, earlier)) = &otherwise {
                let earlier = *earlier;
                self.report(
                    Diagnostic::new(Code::G0326, arm.span, "this arm is never reached")
                        .label("after `else`")
                        .also(earlier, "everything else ends here"),
                );
                continue;
            }
            let condition = arm
                .condition
                .as_ref()
                .map(|condition| self.boolean(scope, condition));
            let value = self.value(scope, &arm.value, hint.as_ref());
            hint = hint.or_else(|| (value.ty != Type::Null).then(|| value.ty.clone()));
            match condition {
                Some(condition) => conditions.push((condition, value, *arm.value.span)),
                None => otherwise = Some((value, *arm.value.span)),
            }
        }
        let Some((mut result, mut result_span)) = otherwise else {
            self.report(
                Diagnostic::new(Code::G0326, span, "`cases` without `else`")
                    .label("no value where no arm holds")
                    .note("add `else => …` as the last arm"),
            );
            return self.wrong();
        };
        for (condition, value, value_span) in conditions.into_iter().rev() {
            let Some(ty) = self.joined(&value, &result, result_span, value_span) else {
                return self.wrong();
            };
            result = self.add(Expr::If(condition, value.id, result.id), ty, span);
            result_span = value_span;
        }
        result
    }

    fn list_quantifier(
        &mut self,
        scope: &Scope<'a>,
        kind: ast::QuantifierKind,
        name: &'a ast::Name,
        source: &'a ast::Expr,
        body: &'a ast::Expr,
        span: Span,
    ) -> Typed {
        let over = self.value(scope, source, None);
        let item = match over.ty.non_null() {
            Type::List(item) | Type::Set(item) => item.as_ref().clone(),
            Type::Json | Type::Null => Type::Json,
            Type::Error => Type::Error,
            ty => {
                self.report(
                    Diagnostic::new(
                        Code::G0301,
                        source.span,
                        format!("a list or set is asked for, and this is `{ty}`"),
                    )
                    .label(format!("`{ty}`")),
                );
                Type::Error
            }
        };
        if Names::is_predefined(&name.text) {
            self.error(Code::G0203, name.span, format!("`{name}` is predefined"));
        }
        let local = self.local();
        let variable = self.add(Expr::Local(local), item, *name.span);
        let inner = scope.with(&name.text, Binding::Value(variable));
        let body = self.boolean(&inner, body);
        let (kind, ty) = match kind {
            ast::QuantifierKind::Any => (hir::Quantifier::Any, Type::Bool),
            ast::QuantifierKind::All => (hir::Quantifier::All, Type::Bool),
            ast::QuantifierKind::Count => (hir::Quantifier::Count, Type::Int),
        };
        self.add(
            Expr::Quantifier {
                kind,
                local,
                over: over.id,
                body,
            },
            ty,
            span,
        )
    }
}
