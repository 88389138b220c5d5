//! Members and elements: `e.name`, `meta.name`, `e[i]`.

use smol_str::SmolStr;

use super::name::{NO_VALUE, Qualifier};
use super::names::{Names, Space};
use super::scope::{Binding, Scope};
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::hir::Expr;
use crate::modules::ModuleIdx;
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind};
use crate::types::Type;

impl<'a> Checker<'a> {
    pub(super) fn member(
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
        // Members of components are bound under their qualified name.
        if let ExprKind::Name(owner) = &base.kind
            && self.binding(scope, owner).is_none()
            && let Some((Binding::Value(typed), declared)) = scope.find(&format!("{owner}.{name}"))
        {
            if let Some(declared) = declared {
                self.link(*name.span, declared);
                self.find(scope.module, Space::Model, owner);
            }
            return typed.clone();
        }
        if let ExprKind::Name(owner) = &base.kind
            && let Some(join) = self.join_named(scope, owner)
        {
            return self.joined_field(join, owner, name, span);
        }
        match self.qualifier(scope, base) {
            Some(Qualifier::Type(item)) => {
                self.used.insert(item);
                let ty = self.declared_type(item);
                if let Some(typed) = self.enum_value(name, Some(&ty)) {
                    return typed;
                }
                let mut diagnostic = Diagnostic::new(
                    Code::G0305,
                    name.span,
                    format!("`{ty}` has no value `{name}`"),
                )
                .label("unknown value");
                if let Type::Enum(of) = &ty {
                    let values: Vec<&str> = of.values.iter().map(SmolStr::as_str).collect();
                    diagnostic = match did_you_mean(&name.text, values.iter().copied()) {
                        Some(near) => diagnostic.fix(format!("write `{near}`"), name.span, near),
                        None => diagnostic.note(format!("its values: `{}`", values.join("`, `"))),
                    };
                }
                self.report(diagnostic);
                return self.wrong();
            }
            Some(Qualifier::Module(module)) => {
                if let Some(item) = self.find(module, Space::Value, name) {
                    return self.item_value(item, name, None);
                }
                return self.unknown_in_module(module, name, "value");
            }
            None if self.is_misspelt_module(scope, base, name) => return self.wrong(),
            None => {}
        }
        if self.is_field_of_record(scope, base, name) {
            return self.wrong();
        }
        let base_typed = self.value(scope, base, None);
        let nullable = base_typed.ty.may_be_null() && base_typed.ty != Type::Json;
        let ty = match base_typed.ty.non_null() {
            Type::Json | Type::Null => {
                self.length_of_json(base, name, span);
                Type::Json
            }
            Type::Map(item) => item.as_ref().clone().nullable(),
            Type::Error => Type::Error,
            Type::Record(record) => match record
                .members
                .iter()
                .find(|(member, _)| *member == name.text)
            {
                Some((_, ty)) => {
                    self.link_member(name, record);
                    if nullable {
                        ty.clone().nullable()
                    } else {
                        ty.clone()
                    }
                }
                None => {
                    let mut diagnostic = Diagnostic::new(
                        Code::G0305,
                        name.span,
                        format!("`{}` has no member `{name}`", record.name),
                    )
                    .label("unknown member");
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
                        .label(format!("has type `{ty}`"));
                let is_size = ["length", "len", "size", "count"].contains(&name.as_str());
                if is_size && matches!(ty, Type::String | Type::List(_) | Type::Set(_)) {
                    let len = format!("len({})", self.sources.slice(*base.span));
                    diagnostic = diagnostic.fix(format!("write `{len}`"), span, len.clone());
                } else if *ty == Type::String {
                    diagnostic = diagnostic.note("to parse a JSON string, use `json(…)`");
                }
                self.report(diagnostic);
                return self.wrong();
            }
        };
        self.add(Expr::Member(base_typed.id, name.text.clone()), ty, span)
    }

    /// Reports a name that a module does not declare.
    pub(super) fn unknown_in_module(
        &mut self,
        module: ModuleIdx,
        name: &ast::Name,
        what: &str,
    ) -> Typed {
        let message = format!("the module has no {what} `{name}`");
        let mut diagnostic =
            Diagnostic::new(Code::G0201, name.span, message).label("not declared there");
        let all = self.names.all(module, Space::Value);
        if self.find(module, Space::Property, name).is_some() {
            diagnostic = diagnostic.note(NO_VALUE);
        } else if let Some(near) = did_you_mean(&name.text, all) {
            diagnostic = diagnostic.fix(format!("write `{near}`"), name.span, near);
        }
        self.report(diagnostic);
        self.wrong()
    }

    /// Reports the misspelt name of a module that declares the name behind it: `tols.program`. Returns false if it is none.
    pub(super) fn is_misspelt_module(
        &mut self,
        scope: &Scope<'a>,
        owner: &ast::Expr,
        name: &ast::Name,
    ) -> bool {
        let ExprKind::Name(owner) = &owner.kind else {
            return false;
        };
        let spaces = [Space::Value, Space::Type, Space::Model];
        let is_declared = self.binding(scope, owner).is_some()
            || spaces
                .iter()
                .any(|space| self.names.get(scope.module, *space, &owner.text).is_some())
            || (self.spec.schema.fields.iter()).any(|field| field.name == owner.text);
        if is_declared || Names::is_predefined(&owner.text) {
            return false;
        }
        let modules = self.names.modules_with(scope.module, &name.text);
        let Some(near) = did_you_mean(&owner.text, modules) else {
            return false;
        };
        let message = format!("unknown module `{owner}`");
        self.report(
            Diagnostic::new(Code::G0201, owner.span, message)
                .label("not imported")
                .fix(format!("write `{near}`"), owner.span, near),
        );
        true
    }

    /// Warns about `args.to.length`, which reads a key named `length`. The top-level object may have such a key; objects below
    /// it rarely do.
    fn length_of_json(&mut self, base: &ast::Expr, name: &ast::Name, span: Span) {
        if name.as_str() != "length" || !matches!(base.kind, ExprKind::Member { .. }) {
            return;
        }
        let len = format!("len({})", self.sources.slice(*base.span));
        self.report(
            Diagnostic::new(
                Code::G0926,
                *name.span,
                "`.length` reads a key of an object",
            )
            .label("null if this is a list or a string")
            .fix(
                format!("for the number of elements or characters, write `{len}`"),
                span,
                len.clone(),
            ),
        );
    }

    /// Returns a field of the record.
    pub(super) fn meta_field(&mut self, name: &ast::Name) -> Typed {
        if let Some(idx) = self
            .spec
            .schema
            .meta
            .iter()
            .position(|field| field.name == name.text)
        {
            if let Some(declared) = self.meta_spans.get(idx) {
                self.link(*name.span, *declared);
            }
            let ty = self.spec.schema.meta[idx].ty.clone();
            return self.add(Expr::Meta(idx), ty, *name.span);
        }
        let mut diagnostic = Diagnostic::new(
            Code::G0201,
            name.span,
            format!("unknown meta field `{name}`"),
        )
        .label("not declared");
        let all: Vec<SmolStr> = self
            .spec
            .schema
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

    pub(super) fn index(
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
                let mut diagnostic =
                    Diagnostic::new(Code::G0305, span, message).label(format!("has type `{ty}`"));
                if let (Type::String, ExprKind::Int(_)) = (ty, &index.kind)
                    && let Ok(first) = self.snippet(*index.span).parse::<u32>()
                {
                    let text = self.snippet(*base.span);
                    let form = format!("slice({text}, {first}, {})", u64::from(first) + 1);
                    diagnostic = diagnostic.fix(format!("write `{form}`"), span, form);
                }
                self.report(diagnostic);
                return self.wrong();
            }
        };
        if let Some(wanted) = wanted {
            let message = format!(
                "expected {wanted} between the brackets, found `{}`",
                index_typed.ty
            );
            self.error(Code::G0301, *index.span, message);
            return self.wrong();
        }
        self.add(Expr::Index(base_typed.id, index_typed.id), ty, span)
    }
}
