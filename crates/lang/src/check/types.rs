//! Types: elaboration, common types and compatibility.

use std::sync::Arc;

use super::Checker;
use super::names::{ItemRef, Space};
use super::scope::Scope;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::source::Span;
use crate::syntax::{ast, foreign::type_name};
use crate::types::Type;

impl<'a> Checker<'a> {
    /// Elaborates a type.
    pub(super) fn ty(&mut self, scope: &Scope<'a>, written: &ast::Type) -> Type {
        match &written.kind {
            ast::TypeKind::Primitive(primitive) => match primitive {
                ast::PrimitiveType::Bool => Type::Bool,
                ast::PrimitiveType::Int => Type::Int,
                ast::PrimitiveType::Float => Type::Float,
                ast::PrimitiveType::String => Type::String,
                ast::PrimitiveType::Time => Type::Time,
                ast::PrimitiveType::Duration => Type::Duration,
                ast::PrimitiveType::Json => Type::Json,
            },
            ast::TypeKind::Named(name) => self.named_type(scope, name),
            ast::TypeKind::Optional(inner) => self.ty(scope, inner).nullable(),
            ast::TypeKind::List(item) => Type::List(Arc::new(self.ty(scope, item))),
            ast::TypeKind::Set(item) => Type::Set(Arc::new(self.ty(scope, item))),
            ast::TypeKind::Map(item) => Type::Map(Arc::new(self.ty(scope, item))),
            ast::TypeKind::Range(..) | ast::TypeKind::Values(_) => {
                self.report(
                    Diagnostic::new(
                        Code::G0301,
                        written.span,
                        "this type is allowed only in abstractions and systems",
                    )
                    .label("not a data type")
                    .note("write `int`, or declare an `enum`"),
                );
                Type::Error
            }
            ast::TypeKind::Pred(_) => {
                self.report(
                    Diagnostic::new(
                        Code::G0301,
                        written.span,
                        "`pred` is allowed only as the type of a template parameter",
                    )
                    .label("not a data type"),
                );
                Type::Error
            }
        }
    }

    fn named_type(&mut self, scope: &Scope<'a>, name: &ast::Name) -> Type {
        if let Some(item) = self.find(scope.module, Space::Type, name) {
            self.used.insert(item);
            return self.declared_type(item);
        }
        let mut diagnostic =
            Diagnostic::new(Code::G0201, name.span, format!("unknown type `{name}`"))
                .label("not declared");
        let mut candidates = self.names.all(scope.module, Space::Type);
        candidates.extend(ast::PrimitiveType::ALL.map(ast::PrimitiveType::as_str));
        let known = || did_you_mean(&name.text, candidates);
        if let Some(own) = type_name(&name.text).or_else(known) {
            diagnostic = diagnostic.fix(format!("write `{own}`"), name.span, own);
        }
        self.report(diagnostic);
        Type::Error
    }

    /// Returns the type that an `enum` or `record` declares.
    pub(super) fn declared_type(&mut self, item_ref: ItemRef) -> Type {
        if let Some(known) = self.types.get(&item_ref) {
            return known.clone();
        }
        let made = match &self.names.item(item_ref).kind {
            ast::ItemKind::Enum(def) => {
                for (idx, value) in def.values.iter().enumerate() {
                    if let Some(earlier) = def.values[..idx].iter().find(|v| v.name == value.name) {
                        self.report(
                            Diagnostic::new(
                                Code::G0202,
                                value.name.span,
                                format!("`{}` is a value of `{}` twice", value.name, def.name),
                            )
                            .label("declared again")
                            .also(earlier.name.span, "declared first"),
                        );
                    }
                }
                let values = def
                    .values
                    .iter()
                    .map(|value| value.name.text.clone())
                    .collect();
                let made = self.new_enum(&def.name.text, def.ordered, values);
                let spans = def.values.iter().map(|value| *value.name.span).collect();
                self.value_spans.insert(made.number, spans);
                Type::Enum(made)
            }
            ast::ItemKind::Record(def) => {
                if !self.enter(item_ref, *def.name.span) {
                    return Type::Error;
                }
                let scope = Scope::module(item_ref.module);
                let mut members = Vec::new();
                for field in &def.fields {
                    if members.iter().any(|(name, _)| *name == field.name.text) {
                        self.error(
                            Code::G0202,
                            field.name.span,
                            format!("`{}` is a member of `{}` twice", field.name, def.name),
                        );
                        continue;
                    }
                    members.push((field.name.text.clone(), self.ty(&scope, &field.ty)));
                }
                self.leave();
                Type::Record(self.new_record(&def.name.text, members))
            }
            _ => Type::Error,
        };
        self.types.insert(item_ref, made.clone());
        made
    }

    /// Returns the type that contains the values of both, or `None` if there is none.
    pub(super) fn join(lhs: &Type, rhs: &Type) -> Option<Type> {
        Some(match (lhs, rhs) {
            (lhs, rhs) if lhs == rhs => lhs.clone(),
            (Type::Error, _) | (_, Type::Error) => Type::Error,
            (Type::Json, _) | (_, Type::Json) => Type::Json,
            (Type::Null, other) | (other, Type::Null) => other.clone().nullable(),
            (Type::Nullable(lhs), rhs) => Self::join(lhs, rhs)?.nullable(),
            (lhs, Type::Nullable(rhs)) => Self::join(lhs, rhs)?.nullable(),
            (Type::Int, Type::Float) | (Type::Float, Type::Int) => Type::Float,
            (Type::List(lhs), Type::List(rhs)) => Type::List(Arc::new(Self::join(lhs, rhs)?)),
            (Type::Set(lhs), Type::Set(rhs)) => Type::Set(Arc::new(Self::join(lhs, rhs)?)),
            (Type::Map(lhs), Type::Map(rhs)) => Type::Map(Arc::new(Self::join(lhs, rhs)?)),
            _ => return None,
        })
    }

    /// Whether a value of the first type may be used where the second is required. `json` accepts every type whose values
    /// JSON can express.
    pub(super) fn fits(given: &Type, wanted: &Type) -> bool {
        match (given, wanted) {
            (given, wanted) if given == wanted => true,
            (Type::Error, _) | (_, Type::Error) => true,
            (given, Type::Json) => Self::is_plain(given),
            (Type::Null, Type::Nullable(_)) => true,
            (Type::Nullable(given), Type::Nullable(wanted)) => Self::fits(given, wanted),
            (given, Type::Nullable(wanted)) => Self::fits(given, wanted),
            (Type::Int, Type::Float) => true,
            (Type::List(given), Type::List(wanted))
            | (Type::Set(given), Type::Set(wanted))
            | (Type::Map(given), Type::Map(wanted)) => Self::fits(given, wanted),
            _ => false,
        }
    }

    /// Whether JSON has values of the type.
    fn is_plain(ty: &Type) -> bool {
        match ty {
            Type::Enum(_) | Type::Time | Type::Duration | Type::Set(_) => false,
            Type::Nullable(inner) | Type::List(inner) | Type::Map(inner) => Self::is_plain(inner),
            _ => true,
        }
    }

    /// Whether two values of these types can be equal at all.
    pub(super) fn comparable(lhs: &Type, rhs: &Type) -> bool {
        if lhs.may_be_null() && rhs.may_be_null() {
            return true;
        }
        let (lhs, rhs) = (lhs.non_null(), rhs.non_null());
        match (lhs, rhs) {
            (Type::Error, _) | (_, Type::Error) => true,
            (Type::Json, other) | (other, Type::Json) => Self::is_plain(other),
            (Type::Int | Type::Float, Type::Int | Type::Float) => true,
            (Type::List(lhs), Type::List(rhs)) | (Type::Set(lhs), Type::Set(rhs)) => {
                Self::comparable(lhs, rhs)
            }
            (Type::Map(_) | Type::Record(_), Type::Map(_) | Type::Record(_)) => true,
            (lhs, rhs) => lhs == rhs,
        }
    }

    /// Whether `<` is defined on the type.
    pub(super) fn is_ordered(ty: &Type) -> bool {
        match ty {
            Type::Int
            | Type::Float
            | Type::String
            | Type::Time
            | Type::Duration
            | Type::Json
            | Type::Error => true,
            Type::Enum(of) => of.ordered,
            _ => false,
        }
    }

    /// Reports a value of the wrong type.
    pub(super) fn mismatch(&mut self, span: Span, given: &Type, wanted: &Type) {
        let mut diagnostic = Diagnostic::new(
            Code::G0301,
            span,
            format!("expected `{wanted}`, found `{given}`"),
        )
        .label(format!("`{given}`"));
        if given.may_be_null() && Self::fits(given.non_null(), wanted) && *given != Type::Json {
            diagnostic = diagnostic.note("it may be null: give a default with `?? …`");
        } else if *given == Type::Json {
            diagnostic = diagnostic.note(format!("cast it: `… as {wanted}`"));
        } else if *wanted.non_null() == Type::String {
            diagnostic = self.as_text(diagnostic, given, span);
        }
        self.report(diagnostic);
    }
}
