//! Predefined functions: their arguments and types.

use std::sync::Arc;

use super::scope::Scope;
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::hir::{Builtin, Expr};
use crate::source::Span;
use crate::stdlib;
use crate::syntax::ast;
use crate::types::Type;
use crate::value::Value;

/// Temporal words that authors may write as function calls.
const TEMPORAL: [&str; 9] = [
    "always",
    "eventually",
    "never",
    "next",
    "once",
    "previously",
    "historically",
    "until",
    "since",
];

/// Returns the names of the predefined functions.
pub fn functions() -> impl Iterator<Item = &'static str> {
    let named = Builtin::NAMES.iter().map(|(name, _)| *name);
    named.chain(["before", "capture", "replace", "todo"])
}

impl<'a> Checker<'a> {
    /// Elaborates `capture(s, /re/, n = 1)`.
    fn capture(&mut self, scope: &Scope<'a>, args: &[&'a ast::Expr], span: Span) -> Typed {
        if !self.arity("capture", 2, 3, args.len(), span) {
            return self.wrong();
        }
        let text = self.text_operand(scope, args[0]);
        let Some(regex) = self.regex(scope, args[1]) else {
            return self.wrong();
        };
        let group = match args.get(2) {
            None => 1,
            Some(arg) => {
                let typed = self.value(scope, arg, Some(&Type::Int));
                match self.spec.exprs.get(typed.id) {
                    Expr::Const(Value::Number(number)) => number
                        .to_int()
                        .and_then(|int| usize::try_from(int).ok())
                        .unwrap_or(usize::MAX),
                    _ => {
                        self.error(
                            Code::G0301,
                            *arg.span,
                            "expected the number of a group as a literal",
                        );
                        return self.wrong();
                    }
                }
            }
        };
        let groups = self.spec.exprs.regex(regex).n_groups();
        if group > groups {
            self.report(
                Diagnostic::new(
                    Code::G0315,
                    span,
                    format!("the regular expression has {groups} groups"),
                )
                .label(format!("group {group} does not exist"))
                .also(*args[1].span, "the regular expression")
                .note("group 0 is the whole match; to capture a part, put it in parentheses"),
            );
            return self.wrong();
        }
        self.add(
            Expr::Capture(text, regex, group),
            Type::String.nullable(),
            span,
        )
    }

    /// Elaborates `replace(s, /re/, t)`.
    fn replace(&mut self, scope: &Scope<'a>, args: &[&'a ast::Expr], span: Span) -> Typed {
        if !self.arity("replace", 3, 3, args.len(), span) {
            return self.wrong();
        }
        let text = self.value(scope, args[0], Some(&Type::String));
        let Some(regex) = self.regex(scope, args[1]) else {
            return self.wrong();
        };
        let with = self.value(scope, args[2], Some(&Type::String));
        if !self.asked_text(&text, args[0]) || !self.asked_text(&with, args[2]) {
            return self.wrong();
        }
        let ty = if text.ty.may_be_null() || with.ty.may_be_null() {
            Type::String.nullable()
        } else {
            Type::String
        };
        self.add(Expr::Replace(text.id, regex, with.id), ty, span)
    }

    /// Returns the notation of this language for a function of other languages: a sentence, and the text of a fix if the
    /// arguments suffice for one.
    fn other_form(
        &self,
        name: &ast::Name,
        args: &[&'a ast::Expr],
    ) -> Option<(String, Option<String>)> {
        let text = |arg: &&'a ast::Expr| self.sources.slice(*arg.span);
        let word = match name.as_str() {
            "any" | "all" | "count" => {
                let [list, condition] = args else {
                    let message = format!("write `{name} x in list: condition`");
                    return Some((message, None));
                };
                let (list, condition) = (text(list), text(condition));
                // The condition has its own variable: its first name, if that is a plain one.
                let end = condition
                    .find(|c: char| !c.is_alphanumeric() && c != '_')
                    .unwrap_or(condition.len());
                let (var, rest) = condition.split_at(end);
                let is_word = matches!(
                    var,
                    "not" | "true" | "false" | "null" | "if" | "any" | "all"
                );
                let named =
                    var.starts_with(char::is_alphabetic) && !is_word && !rest.starts_with('(');
                let var = if named { var } else { "x" };
                let form = format!("{name} {var} in {list}: {condition}");
                return Some((
                    format!("write `{form}`"),
                    named.then(|| format!("({form})")),
                ));
            }
            "contains" | "includes" => "contains",
            "starts_with" | "startswith" | "startsWith" => "starts_with",
            "ends_with" | "endswith" | "endsWith" => "ends_with",
            "matches" | "match" => "matches",
            _ => return None,
        };
        let [subject, part] = args else {
            return Some((format!("write `a {word} b`"), None));
        };
        let operand = |arg| {
            let text: &str = text(arg);
            match text.contains(char::is_whitespace) && !text.starts_with(['"', '/', '(']) {
                true => format!("({text})"),
                false => text.to_owned(),
            }
        };
        let form = format!("{} {word} {}", operand(subject), operand(part));
        Some((format!("write `{form}`"), Some(form)))
    }

    /// Elaborates the call of a predefined function.
    pub(super) fn function(
        &mut self,
        scope: &Scope<'a>,
        name: &'a ast::Name,
        args: &[&'a ast::Expr],
        expected: Option<&Type>,
        span: Span,
    ) -> Typed {
        match name.as_str() {
            "capture" => return self.capture(scope, args, span),
            "replace" => return self.replace(scope, args, span),
            _ => {}
        }
        let mut named = Builtin::NAMES.iter();
        let Some((_, builtin)) = named.find(|(known, _)| *known == name.as_str()) else {
            return self.unknown_function(scope, name, args, span);
        };
        let builtin = *builtin;
        let (least, most) = n_arguments(builtin);
        if !self.arity(&name.text, least, most, args.len(), span) {
            return self.wrong();
        }
        let mut given: Vec<Typed> = Vec::with_capacity(args.len());
        for arg in args {
            let hint = match (builtin, given.first()) {
                (Builtin::Min | Builtin::Max, Some(first)) => Some(first.ty.clone()),
                (Builtin::Min | Builtin::Max, None) => expected.cloned(),
                (builtin, Some(first)) if builtin.takes_elements() => match first.ty.non_null() {
                    Type::Set(item) | Type::List(item) => Some(item.as_ref().clone()),
                    _ => None,
                },
                (Builtin::Add | Builtin::Remove, None) => expected.cloned(),
                _ => None,
            };
            given.push(self.value(scope, arg, hint.as_ref()));
        }
        if given.iter().any(|typed| typed.ty == Type::Error) {
            return self.wrong();
        }
        let Some(ty) = self.result_type(builtin, name, args, &given, span) else {
            return self.wrong();
        };
        // An element may be null without the result being so.
        let n_operands = if builtin.takes_elements() {
            1
        } else {
            given.len()
        };
        let mut operands = given[..n_operands].iter();
        let has_null = operands.any(|typed| typed.ty.may_be_null());
        let ty = match builtin {
            Builtin::Min | Builtin::Max | Builtin::Below | Builtin::Text => ty,
            _ if has_null => ty.nullable(),
            _ => ty,
        };
        let ids: Vec<_> = given.iter().map(|typed| typed.id).collect();
        self.add(Expr::Call(builtin, ids.into()), ty, span)
    }

    /// Reports the call of a function that does not exist, with what the author may have meant.
    fn unknown_function(
        &mut self,
        scope: &Scope<'a>,
        name: &'a ast::Name,
        args: &[&'a ast::Expr],
        span: Span,
    ) -> Typed {
        let mut diagnostic =
            Diagnostic::new(Code::G0201, name.span, format!("unknown function `{name}`"))
                .label("not declared");
        let subject = args.first();
        let subject = subject.map(|subject| self.value(scope, subject, None).ty);
        let of = subject.as_ref().and_then(|ty| functions_of(ty.non_null()));
        if let (Some(of), Some(ty)) = (&of, &subject) {
            diagnostic = diagnostic.note(format!("for `{}` there is {of}", ty.non_null()));
        }
        // A function with a similar name helps only if the type fits.
        let is_builtin = |near: &str| Builtin::NAMES.iter().any(|(name, _)| *name == near);
        let fits = |near: &&str| {
            of.as_ref()
                .is_none_or(|of| !is_builtin(near) || of.contains(&format!("`{near}`")))
        };
        let mut candidates: Vec<&str> = functions().filter(fits).collect();
        candidates.push("count");
        candidates.extend(self.names.all(scope.module, super::names::Space::Value));
        candidates.extend(TEMPORAL);
        if ["sum", "total", "average", "avg", "mean"].contains(&name.as_str()) {
            diagnostic = diagnostic.note(
                "a track adds up values over steps: `track total: int = 0 when … then total + n`; with a parameter, for each key",
            );
        }
        if ["now", "today", "timestamp"].contains(&name.as_str()) {
            diagnostic = diagnostic.note(
                "the time of a step is a field of type `time`; what happened lately is `once[0,60s] a`",
            );
        }
        let of_other = || crate::syntax::foreign::temporal(&name.text);
        let near = alias(name).filter(fits).or_else(of_other);
        if let Some(module) = stdlib::module_of(&name.text) {
            diagnostic = self.of_library(diagnostic, scope, name, module);
        } else if let Some(cast) = self.cast_of(name, args, subject.as_ref()) {
            diagnostic = diagnostic.fix(format!("write `{cast}`"), span, cast);
        } else if let Some((message, text)) = self.other_form(name, args) {
            diagnostic = match text {
                Some(text) => diagnostic.fix(message, span, self.as_operand(span, text)),
                None => diagnostic.note(message),
            };
        } else if let Some(near) = near.or_else(|| did_you_mean(&name.text, candidates)) {
            diagnostic = diagnostic.fix(format!("write `{near}`"), name.span, near);
        }
        self.report(diagnostic);
        self.wrong()
    }

    /// Returns the type of a function's result for operands that are not null; `None` after reporting an argument that does not fit.
    fn result_type(
        &mut self,
        builtin: Builtin,
        name: &ast::Name,
        args: &[&'a ast::Expr],
        given: &[Typed],
        span: Span,
    ) -> Option<Type> {
        let strings = || Type::List(Arc::new(Type::String));
        let first = given[0].ty.non_null();
        let ty = match builtin {
            Builtin::Lower
            | Builtin::Upper
            | Builtin::Trim
            | Builtin::UrlDecode
            | Builtin::Path
            | Builtin::Normalize
            | Builtin::Join
            | Builtin::Text => Type::String,
            Builtin::Base64 | Builtin::Hex | Builtin::Host => Type::String.nullable(),
            Builtin::Words | Builtin::Split => strings(),
            Builtin::Commands => Type::List(Arc::new(strings())),
            Builtin::Json => Type::Json,
            Builtin::Below => Type::Bool,
            Builtin::Len | Builtin::Floor => Type::Int,
            Builtin::IndexOf => Type::Int.nullable(),
            Builtin::Range => Type::List(Arc::new(Type::Int)),
            Builtin::Slice | Builtin::Last | Builtin::Drop | Builtin::Abs => first.clone(),
            Builtin::Mod => {
                let fits = self.definite(&given[0], args[0], "mod")
                    && self.definite(&given[1], args[1], "mod");
                return fits
                    .then(|| Self::join(&given[0].ty, &given[1].ty))
                    .flatten();
            }
            Builtin::Min | Builtin::Max => return self.common_ordered_type(name, args, given),
            Builtin::Add | Builtin::Remove => return self.set_type(name, args, given),
        };
        let fits = match builtin {
            Builtin::Text => true,
            Builtin::Len => self.asked(&given[0], args[0], "a string, list, set or object", |ty| {
                matches!(
                    ty,
                    Type::String | Type::List(_) | Type::Set(_) | Type::Map(_) | Type::Record(_)
                )
            }),
            Builtin::Below | Builtin::Split => {
                self.asked_text(&given[0], args[0]) && self.asked_text(&given[1], args[1])
            }
            Builtin::Join => {
                let is_texts = |ty: &Type| match ty {
                    Type::List(item) | Type::Set(item) => {
                        matches!(**item, Type::String | Type::Json | Type::Error)
                    }
                    _ => false,
                };
                self.asked(&given[0], args[0], "a list of texts", is_texts)
                    && self.asked_text(&given[1], args[1])
            }
            Builtin::Commands => {
                self.asked_text(&given[0], args[0])
                    && given
                        .get(1)
                        .is_none_or(|bytes| self.asked_int(bytes, args[1]))
            }
            Builtin::Slice => {
                self.asked_sequence(&given[0], args[0])
                    && self.asked_int(&given[1], args[1])
                    && self.asked_int(&given[2], args[2])
            }
            Builtin::Range => self.asked_int(&given[0], args[0]),
            Builtin::IndexOf => {
                let item = match first {
                    Type::List(item) => item.as_ref().clone(),
                    Type::String => Type::String,
                    _ => Type::Json,
                };
                let fits = self.asked_sequence(&given[0], args[0]);
                let is_comparable = Self::comparable(&given[1].ty, &item);
                if fits && !is_comparable {
                    self.mismatch(*args[1].span, &given[1].ty, &item);
                }
                fits && is_comparable
            }
            Builtin::Abs | Builtin::Floor => self.definite(&given[0], args[0], &name.text),
            Builtin::Last | Builtin::Drop => {
                let fits = matches!(first, Type::List(_) | Type::Json) && given[1].ty == Type::Int;
                if !fits {
                    let second = &given[1].ty;
                    let message = format!(
                        "`{name}` takes a list and an int, and this is `{first}` and `{second}`"
                    );
                    self.error(Code::G0303, span, message);
                }
                fits
            }
            _ => self.asked_text(&given[0], args[0]),
        };
        fits.then_some(ty)
    }

    /// Returns the common type of the arguments of `min` and `max`; `None` after reporting one that has none.
    fn common_ordered_type(
        &mut self,
        name: &ast::Name,
        args: &[&'a ast::Expr],
        given: &[Typed],
    ) -> Option<Type> {
        let mut joined = given[0].ty.clone();
        for (typed, arg) in given.iter().zip(args) {
            let ty = typed.ty.non_null();
            let ordered = Self::is_ordered(ty) && *ty != Type::Json;
            match Self::join(&joined, &typed.ty) {
                Some(ty) if ordered => joined = ty,
                _ => {
                    let found = &typed.ty;
                    let message =
                        format!("`{name}` expects values of one ordered type, found `{found}`");
                    let diagnostic = Diagnostic::new(Code::G0303, *arg.span, message);
                    self.report(diagnostic.label(format!("`{found}`")));
                    return None;
                }
            }
        }
        Some(joined)
    }

    /// Returns the type of the set that `add` and `remove` make; `None` after reporting an argument that does not fit.
    fn set_type(
        &mut self,
        name: &ast::Name,
        args: &[&'a ast::Expr],
        given: &[Typed],
    ) -> Option<Type> {
        let element = &given[1].ty;
        match given[0].ty.non_null() {
            Type::Set(item) if **item == Type::Error => Some(Type::Set(Arc::new(element.clone()))),
            ty @ Type::Set(item) if Self::fits(element, item) => Some(ty.clone()),
            Type::Set(item) => {
                self.mismatch(*args[1].span, element, item);
                None
            }
            ty => {
                let message = format!("`{name}` is a function of sets, and this is `{ty}`");
                self.error(Code::G0303, *args[0].span, message);
                None
            }
        }
    }

    /// Reports an argument that is no text.
    fn asked_text(&mut self, typed: &Typed, expr: &ast::Expr) -> bool {
        self.asked(typed, expr, "a text", |ty| *ty == Type::String)
    }

    /// Reports an argument that is neither a list nor a text.
    fn asked_sequence(&mut self, typed: &Typed, expr: &ast::Expr) -> bool {
        self.asked(typed, expr, "a list or a text", |ty| {
            matches!(ty, Type::List(_) | Type::String)
        })
    }

    /// Reports an argument of the wrong type; the type of JSON is checked when the data is read.
    fn asked(
        &mut self,
        typed: &Typed,
        expr: &ast::Expr,
        what: &str,
        fits: impl Fn(&Type) -> bool,
    ) -> bool {
        let ty = typed.ty.non_null();
        if matches!(ty, Type::Json | Type::Error | Type::Null) || fits(ty) {
            return true;
        }
        self.report(
            Diagnostic::new(
                Code::G0301,
                *expr.span,
                format!("expected {what}, found `{ty}`"),
            )
            .label(format!("`{ty}`")),
        );
        false
    }

    /// Reports an argument that is not a whole number.
    fn asked_int(&mut self, typed: &Typed, expr: &ast::Expr) -> bool {
        if matches!(typed.ty, Type::Int | Type::Error) {
            return true;
        }
        self.mismatch(*expr.span, &typed.ty, &Type::Int);
        false
    }

    fn definite(&mut self, typed: &Typed, expr: &ast::Expr, name: &str) -> bool {
        if matches!(
            typed.ty.non_null(),
            Type::Int | Type::Float | Type::Duration
        ) {
            return true;
        }
        self.report(
            Diagnostic::new(
                Code::G0307,
                *expr.span,
                format!("`{name}` expects a number, found `{}`", typed.ty),
            )
            .label(format!("`{}`", typed.ty)),
        );
        false
    }
}

/// The functions for values of a type, by the word that its name begins with, and the operators for them.
const BY_TYPE: &[(&str, &[&str], &str)] = &[
    (
        "string",
        &[
            "len",
            "lower",
            "upper",
            "trim",
            "split",
            "words",
            "slice",
            "index_of",
            "capture",
            "replace",
            "json",
            "commands",
            "path",
            "below",
            "host",
            "base64",
            "hex",
            "url_decode",
            "normalize",
        ],
        "and the operators `contains`, `starts_with`, `ends_with`, `matches`",
    ),
    (
        "list",
        &["len", "last", "drop", "slice", "index_of", "join", "text"],
        "`x[0]`, `any`, `all`, `count … in`, `in`, `contains`",
    ),
    (
        "set",
        &["len", "add", "remove", "join", "text"],
        "`any`, `all`, `count … in`, `in`, `contains`",
    ),
    (
        "int",
        &["min", "max", "abs", "floor", "mod", "range", "text"],
        "and `+ - * /`",
    ),
    (
        "float",
        &["min", "max", "abs", "floor", "mod", "range", "text"],
        "and `+ - * /`",
    ),
    (
        "json",
        &["len", "text"],
        "`x.name`, `x[0]`, `x as T?`, `any`, `all`, `count … in`, `contains`",
    ),
];

/// Returns the least and the greatest number of arguments of a function.
fn n_arguments(builtin: Builtin) -> (usize, usize) {
    match builtin {
        Builtin::Min | Builtin::Max => (1, usize::MAX),
        Builtin::Split
        | Builtin::Mod
        | Builtin::Add
        | Builtin::Last
        | Builtin::Join
        | Builtin::Remove
        | Builtin::Drop
        | Builtin::IndexOf
        | Builtin::Below => (2, 2),
        Builtin::Slice => (3, 3),
        Builtin::Commands => (1, 2),
        _ => (1, 1),
    }
}

/// Returns the functions for values of a type by its first word (`list` for `list<int>`); empty if there are none.
pub fn functions_for(word: &str) -> &'static [&'static str] {
    let mut types = BY_TYPE.iter();
    let found = types.find(|(name, ..)| *name == word);
    found.map_or(&[], |(_, functions, _)| functions)
}

/// Returns a sentence that lists the functions and operators for values of this type.
fn functions_of(ty: &Type) -> Option<String> {
    let word = match ty {
        Type::String => "string",
        Type::List(_) => "list",
        Type::Set(_) => "set",
        Type::Int | Type::Float => "int",
        Type::Json => "json",
        _ => return None,
    };
    let (_, functions, operators) = BY_TYPE.iter().find(|(name, ..)| *name == word)?;
    let functions: String = functions.iter().map(|name| format!("`{name}`, ")).collect();
    Some(functions + operators)
}

/// Returns the name in this language of a function of another language.
fn alias(name: &ast::Name) -> Option<&'static str> {
    Some(match name.as_str() {
        "length" | "size" | "strlen" => "len",
        "lowercase" | "tolower" | "toLower" | "toLowerCase" => "lower",
        "uppercase" | "toupper" | "toUpper" | "toUpperCase" => "upper",
        "strip" => "trim",
        "str" | "string" | "tostring" | "toString" => "text",
        "parse" | "parse_json" => "json",
        "round" | "int" => "floor",
        "insert" | "push" | "append" => "add",
        "substr" | "substring" => "slice",
        "find" | "indexOf" => "index_of",
        "basename" | "realpath" | "normpath" => "path",
        "b64decode" | "base64_decode" => "base64",
        "previous" | "prev" => "before",
        "unquote" | "urldecode" => "url_decode",
        _ => return None,
    })
}
