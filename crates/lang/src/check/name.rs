//! Name resolution, and inlining of definitions.

use std::rc::Rc;

use smol_str::SmolStr;

use super::branching::Place;
use super::names::{ItemRef, Space};
use super::scope::{Binding, Condition, Scope};
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::hir::Expr;
use crate::ids::{ExprId, FormulaId};
use crate::modules::ModuleIdx;
use crate::source::Span;
use crate::stdlib;
use crate::syntax::ast::{self, ExprKind};
use crate::types::Type;
use crate::value::{EnumValue, Value};

/// The remedy where the name of a property stands for a value.
pub(super) const NO_VALUE: &str = "a property has this name, but a property is not a value; in a formula about a model or system, `violated(name)` holds if it has been violated";

/// The meaning of a dotted path before its last part.
pub(super) enum Qualifier {
    Module(ModuleIdx),
    Type(ItemRef),
}

impl<'a> Checker<'a> {
    /// Returns the enum value that a name refers to where this type is expected.
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
        let spans = self.value_spans.get(&of.number);
        if let Some(declared) = spans.and_then(|spans| spans.get(index)) {
            self.link(*name.span, *declared);
        }
        let value = EnumValue {
            of: of.number,
            index: u16::try_from(index).ok()?,
        };
        Some(self.add(Expr::Const(Value::Enum(value)), Type::Enum(of), *name.span))
    }

    pub(super) fn name(
        &mut self,
        scope: &Scope<'a>,
        name: &'a ast::Name,
        expected: Option<&Type>,
    ) -> Typed {
        match self.binding(scope, name) {
            Some(Binding::Value(typed)) => return typed.clone(),
            Some(Binding::Condition(argument)) => {
                let argument = Rc::clone(argument);
                return self.argument_value(&argument);
            }
            Some(Binding::Predicate(..) | Binding::AnyPredicate(_)) => {
                self.report(
                    Diagnostic::new(Code::G0304, name.span, format!("`{name}` takes arguments"))
                        .label("no arguments given"),
                );
                return self.wrong();
            }
            None => {}
        }
        if self.is_of_chain(scope, name) {
            return self.add(Expr::Label(name.text.clone()), Type::Json, *name.span);
        }
        if let Some(item) = self.find(scope.module, Space::Value, name) {
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
                    "expected a value, found the formula `last`",
                )
                .label("true at the last step of a trace"),
            );
            return self.wrong();
        }
        self.unknown_name(scope, name, expected);
        self.wrong()
    }

    /// Elaborates an argument where a definition uses it, as part of the call: facts about null in the definition do not apply
    /// there.
    fn in_call<T>(&mut self, argument: &Condition<'a>, run: impl FnOnce(&mut Self) -> T) -> T {
        let within = self.open.split_off(argument.depth.min(self.open.len()));
        let made = self.by_itself(run);
        self.open.truncate(argument.depth);
        self.open.extend(within);
        made
    }

    /// Returns the value of an argument.
    fn argument_value(&mut self, argument: &Condition<'a>) -> Typed {
        let made =
            |checker: &mut Self| checker.value(&argument.scope, argument.expr, Some(&Type::Bool));
        match argument.value.get() {
            Some(known) if self.place == Place::Events => known.clone(),
            _ => {
                let typed = self.in_call(argument, made);
                if self.place == Place::Events {
                    argument.value.get_or_init(|| typed.clone());
                }
                typed
            }
        }
    }

    /// Returns the formula of an argument.
    pub(super) fn argument_formula(&mut self, argument: &Condition<'a>) -> FormulaId {
        match argument.formula.get() {
            Some(known) if self.place == Place::Events => *known,
            _ => {
                let made = self.in_call(argument, |checker| {
                    checker.formula(&argument.scope, argument.expr)
                });
                if self.place == Place::Events {
                    argument.formula.get_or_init(|| made);
                }
                made
            }
        }
    }

    /// Returns a field of the event.
    pub(super) fn field(&mut self, name: &str, span: Span) -> Option<Typed> {
        let idx = self
            .spec
            .schema
            .fields
            .iter()
            .position(|field| field.name == name)?;
        if let Some((declared, _)) = self.field_spans.get(idx) {
            self.link(span, *declared);
        }
        let ty = self.spec.schema.fields[idx].ty.clone();
        Some(self.add(Expr::Field(idx), ty, span))
    }

    pub(super) fn unknown_name(
        &mut self,
        scope: &Scope<'a>,
        name: &ast::Name,
        expected: Option<&Type>,
    ) {
        if self.is_lost(name) {
            return;
        }
        let mut diagnostic =
            Diagnostic::new(Code::G0201, name.span, format!("unknown name `{name}`"))
                .label("not declared");
        let fields: Vec<SmolStr> = self
            .spec
            .schema
            .fields
            .iter()
            .map(|field| field.name.clone())
            .collect();
        let values: Vec<SmolStr> = match expected.map(Type::non_null) {
            Some(Type::Enum(of)) => of.values.clone(),
            _ => Vec::new(),
        };
        let quoted = Self::quoted(name, expected);
        let mut candidates: Vec<&str> = scope.names();
        candidates.extend(self.names.all(scope.module, Space::Value));
        candidates.extend(fields.iter().map(SmolStr::as_str));
        candidates.extend(values.iter().map(SmolStr::as_str));
        if let Some(module) = self.names.imported_from(scope.module, &name.text) {
            diagnostic = diagnostic.note(format!(
                "only names of this module are imported: add `use {module}`, or write the name without `{name}.` and import it too"
            ));
        } else if let Some(known) = alias(&name.text) {
            diagnostic = diagnostic.fix(format!("write `{known}`"), name.span, known);
        } else if name.as_str() == "end" {
            diagnostic =
                diagnostic.note("`or end` belongs to a bound: `a leads to b within 60s or end`");
        } else if self.find(scope.module, Space::Property, name).is_some() {
            diagnostic = diagnostic.note(NO_VALUE);
        } else if let Some(near) = did_you_mean(&name.text, candidates)
            .filter(|near| quoted.is_none() || !self.is_condition(scope, near))
        {
            diagnostic = diagnostic.fix(format!("write `{near}`"), name.span, near);
        } else if self.join_named(scope, name).is_some() {
            diagnostic = diagnostic.note(format!("`{name}` is a join: write `{name}.FIELD`"));
        } else if let Some(of) = self
            .spec
            .enums
            .iter()
            .find(|of| of.values.contains(&name.text))
            .map(|of| of.name.clone())
        {
            diagnostic = diagnostic
                .note(format!("the enum `{of}` has this value: write `{of}.{name}` if the type is not known from the context"));
        } else if let Some(module) = stdlib::module_of(&name.text) {
            diagnostic = self.of_library(diagnostic, scope, name, module);
        } else if self.spec.schema.fields.is_empty() {
            diagnostic = diagnostic.note(
                "no `event` block declares fields: write `use std.agent`, or an `event` block of your own",
            );
        } else if let Some((message, text)) = quoted {
            diagnostic = diagnostic.fix(message, name.span, text);
        }
        self.report(diagnostic);
    }

    /// Adds how to write a name that a module of the standard library declares.
    pub(super) fn of_library(
        &self,
        diagnostic: Diagnostic,
        scope: &Scope<'a>,
        name: &ast::Name,
        module: &str,
    ) -> Diagnostic {
        match self.names.library(scope.module, module) {
            Some(known) => {
                let whole = format!("{known}.{name}");
                diagnostic.fix(format!("write `{whole}`"), name.span, whole)
            }
            None => diagnostic.note(format!(
                "the standard library declares it: `use std.{module}.{{{name}}}`"
            )),
        }
    }

    /// Whether a name is that of a condition.
    fn is_condition(&self, scope: &Scope<'a>, name: &str) -> bool {
        let item = self.names.get(scope.module, Space::Value, name);
        item.is_some_and(|item| {
            let word = self.names.item(item).kind.word();
            ["predicate", "unsafe"].contains(&word)
        })
    }

    /// Whether a name may be missing because of an error that is reported elsewhere: in an import, in the `event` block or in
    /// the declaration of the field.
    fn is_lost(&self, name: &ast::Name) -> bool {
        let fields = &self.spec.schema.fields;
        let read = fields.iter().any(|field| field.name == name.text);
        let loses = |item: &ast::Item| match &item.kind {
            ast::ItemKind::Event(event) => {
                !read
                    && event
                        .fields
                        .iter()
                        .any(|field| field.name.text == name.text)
            }
            _ => false,
        };
        let mut items = self.project.modules.iter();
        self.has_lost_names() || items.any(|module| module.tree.items.iter().any(loses))
    }

    /// Whether an import or the `event` block could not be read, which is reported elsewhere: any field may have been
    /// declared there.
    pub(super) fn has_lost_names(&self) -> bool {
        let is_lost = |item: &ast::Item| match &item.kind {
            ast::ItemKind::Broken(broken) => ["event", "use"].contains(&broken.word.as_str()),
            _ => false,
        };
        self.project.modules.iter().any(|module| {
            module.imports.iter().any(|(_, _, found)| found.is_none())
                || module.tree.items.iter().any(is_lost)
        })
    }

    /// Returns the value of an item that is used by name only.
    pub(super) fn item_value(
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
                        .label("expected a value")
                        .note(
                            "regular expressions are allowed after `matches` and in `capture(…)`",
                        ),
                    );
                    return self.wrong();
                }
                let declared = def.ty.as_ref().map(|ty| self.ty(&scope, ty));
                // Without a declared type, the meaning of a constant may depend on the expected type.
                let args = (declared.is_some() || expected.is_none()).then(Vec::new);
                self.inlined(item_ref, args, span, |checker| match &declared {
                    Some(ty) => checker.typed_as(&scope, &def.value, ty),
                    None => checker.value(&scope, &def.value, expected),
                })
            }
            ast::ItemKind::Let(def) if def.params.is_empty() => {
                let declared = def.ty.as_ref().map(|ty| self.ty(&scope, ty));
                let typed = self.inlined(item_ref, Some(Vec::new()), span, |checker| {
                    let typed = match &declared {
                        Some(ty) => checker.typed_as(&scope, &def.value, ty),
                        None => checker.value(&scope, &def.value, None),
                    };
                    checker.value_of_module(item_ref, &def.name, typed.id, false);
                    typed
                });
                self.named(&def.name.text, &typed);
                typed
            }
            ast::ItemKind::Predicate(def) if def.params.is_empty() => {
                self.inlined(item_ref, Some(Vec::new()), span, |checker| {
                    let id = checker.boolean(&scope, &def.value);
                    checker.value_of_module(item_ref, &def.name, id, true);
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
                let mut diagnostic =
                    Diagnostic::new(Code::G0304, span, format!("`{name}` takes arguments"))
                        .label("no arguments given")
                        .also(*self.names.item(item_ref).span, "declared with parameters");
                if matches!(self.names.item(item_ref).kind, ast::ItemKind::Track(_)) {
                    diagnostic = diagnostic.note(format!(
                        "the keys of a track cannot be listed; to go through them, keep them in a track that is a set: \
                         `track keys: set<string> = {{}} when … then keys.add(…)` and `any k in keys: {name}(k) …`"
                    ));
                }
                self.report(diagnostic);
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
                    .note("declare a property from the template: `property x = T(a, b)`"),
                );
                self.wrong()
            }
            _ => self.wrong(),
        }
    }

    /// Returns a value of a declared type: the node has the declared type, so that an int declared as float is a float.
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

    /// Records the value of a definition of an imported module at its first use. Definitions of the spec are recorded
    /// when they are checked.
    fn value_of_module(
        &mut self,
        item_ref: ItemRef,
        name: &ast::Name,
        expr: ExprId,
        is_predicate: bool,
    ) {
        if item_ref.module != 0 {
            self.value_of_steps(item_ref, name, expr, is_predicate);
        }
    }

    /// Records the name of a definition for reports, if the name is more informative than its value.
    fn named(&mut self, name: &SmolStr, typed: &Typed) {
        if matches!(typed.ty.non_null(), Type::Bool | Type::Error) {
            return;
        }
        let exprs = &self.spec.exprs;
        let mut id = typed.id;
        while let Expr::Cast(of) = exprs.get(id) {
            id = *of;
        }
        let mut root = id;
        while let Expr::Cast(of)
        | Expr::Member(of, _)
        | Expr::Index(of, _)
        | Expr::Coalesce(of, _) = exprs.get(root)
        {
            root = *of;
        }
        let is_path = matches!(
            exprs.get(root),
            Expr::Field(_) | Expr::Meta(_) | Expr::Const(_) | Expr::Track(..) | Expr::Unknown
        );
        if !is_path {
            let known = self.spec.outline.definitions.entry(id);
            known.or_insert_with(|| name.clone());
        }
    }

    /// Elaborates the body of a definition where it is used; rejects recursive definitions. `args` are the arguments,
    /// if all of them are values.
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
        let typed = self.by_itself(body);
        self.leave();
        if let Some(key) = key {
            self.made.insert(key, typed.clone());
        }
        typed
    }

    /// Begins to inline a definition; returns false, with a report, if inlining would not end.
    pub(super) fn enter(&mut self, item_ref: ItemRef, span: Span) -> bool {
        if self.open.contains(&item_ref) {
            let name = self.snippet(span);
            self.report(
                Diagnostic::new(Code::G0208, span, format!("`{name}` is defined in terms of itself"))
                    .label("used in its own definition")
                    .also(*self.names.item(item_ref).span, "the definition")
                    .note("definitions are inlined; to carry a value from step to step, declare a `track`"),
            );
            return false;
        }
        if self.open.len() >= self.limits.definitions {
            self.report(
                Diagnostic::new(Code::G0402, span, "definitions are nested too deeply")
                    .label(format!("more than {} levels", self.limits.definitions))
                    .note("limit: `check.definitions`"),
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

    pub(super) fn qualifier(&self, scope: &Scope<'a>, expr: &ast::Expr) -> Option<Qualifier> {
        match &expr.kind {
            ExprKind::Name(name) => {
                if self.binding(scope, name).is_some()
                    || self.find(scope.module, Space::Value, name).is_some()
                    || self
                        .spec
                        .schema
                        .fields
                        .iter()
                        .any(|field| field.name == name.text)
                {
                    return None;
                }
                if let Some(item) = self.find(scope.module, Space::Type, name) {
                    return Some(Qualifier::Type(item));
                }
                let module = self.names.module(scope.module, &name.text)?;
                self.link_module(*name.span, module);
                Some(Qualifier::Module(module))
            }
            ExprKind::Member { base, name } => match self.qualifier(scope, base)? {
                Qualifier::Module(module) => {
                    self.find(module, Space::Type, name).map(Qualifier::Type)
                }
                Qualifier::Type(_) => None,
            },
            _ => None,
        }
    }

    /// Returns the item that `name` or `module.name` refers to, as a callable or a value.
    pub(super) fn item_of(&self, scope: &Scope<'a>, expr: &ast::Expr) -> Option<ItemRef> {
        match &expr.kind {
            ExprKind::Name(name) => {
                if self.binding(scope, name).is_some() {
                    return None;
                }
                self.find(scope.module, Space::Value, name)
            }
            ExprKind::Member { base, name } => match self.qualifier(scope, base)? {
                Qualifier::Module(module) => self.find(module, Space::Value, name),
                Qualifier::Type(_) => None,
            },
            _ => None,
        }
    }
}

/// Returns the word for a constant of another language.
fn alias(word: &str) -> Option<&'static str> {
    Some(match word {
        "None" | "nil" | "NULL" | "Null" | "undefined" => "null",
        "True" | "TRUE" => "true",
        "False" | "FALSE" => "false",
        _ => return None,
    })
}
