//! Lexical scopes: the meanings of names at a place.

use std::cell::OnceCell;
use std::rc::Rc;

use smol_str::SmolStr;

use super::Typed;
use crate::ids::{ExprId, FormulaId};
use crate::modules::ModuleIdx;
use crate::source::Span;
use crate::syntax::ast;

/// A lexical scope: the module whose names are visible, and the names bound inside. Cloning is O(1).
#[derive(Clone, Debug)]
pub(super) struct Scope<'a> {
    pub(super) module: ModuleIdx,
    innermost: Option<Rc<Frame<'a>>>,
}

#[derive(Debug)]
struct Frame<'a> {
    name: SmolStr,
    binding: Binding<'a>,
    /// The span of its declaration; `None` for a name bound by the language.
    declared: Option<Span>,
    outer: Option<Rc<Frame<'a>>>,
}

/// The meaning of a bound name.
#[derive(Clone, Debug)]
pub(super) enum Binding<'a> {
    /// A value: a local variable, a quantified variable, or an argument that is a value.
    Value(Typed),
    /// An argument that is a condition, elaborated where it is used: it may be a formula.
    Condition(Rc<Condition<'a>>),
    /// An argument that names a predicate, to be called with arguments.
    Predicate(&'a ast::Expr, Scope<'a>),
    /// A parameter of type `pred(T, …)` of a template that is checked on its own.
    AnyPredicate(usize),
}

/// An argument that is a condition.
#[derive(Debug)]
pub(super) struct Condition<'a> {
    pub(super) expr: &'a ast::Expr,
    /// The scope of the call.
    pub(super) scope: Scope<'a>,
    /// The number of definitions that enclose the call. The argument is inside those only, not inside the definition
    /// that uses it: `T(T(a))` is not recursion.
    pub(super) depth: usize,
    /// The cached results, as a formula and as a value: a definition may use an argument many times, and arguments may
    /// be nested.
    pub(super) formula: OnceCell<FormulaId>,
    pub(super) value: OnceCell<Typed>,
}

impl<'a> Scope<'a> {
    /// Returns the scope of the items of a module.
    pub(super) fn module(module: ModuleIdx) -> Scope<'a> {
        Scope {
            module,
            innermost: None,
        }
    }

    /// Returns this scope with one more name, declared in the text.
    pub(super) fn with_name(&self, name: &ast::Name, binding: Binding<'a>) -> Scope<'a> {
        self.declared(&name.text, binding, Some(*name.span))
    }

    /// Returns this scope with one more name, declared elsewhere or by the language.
    pub(super) fn declared(
        &self,
        name: &SmolStr,
        binding: Binding<'a>,
        declared: Option<Span>,
    ) -> Scope<'a> {
        let frame = Frame {
            name: name.clone(),
            binding,
            declared,
            outer: self.innermost.clone(),
        };
        Scope {
            module: self.module,
            innermost: Some(Rc::new(frame)),
        }
    }

    /// Returns this scope with the bindings of another one, which must be values because their meaning does not depend
    /// on the place.
    pub(super) fn with_all(&self, other: &Scope<'a>) -> Scope<'a> {
        let mut bound = Vec::new();
        let mut frame = other.innermost.as_deref();
        while let Some(here) = frame {
            bound.push((here.name.clone(), here.binding.clone(), here.declared));
            frame = here.outer.as_deref();
        }
        bound
            .into_iter()
            .rev()
            .fold(self.clone(), |scope, (name, binding, declared)| {
                scope.declared(&name, binding, declared)
            })
    }

    /// Returns the innermost binding of a name; `None` for names of the module.
    pub(super) fn get(&self, name: &str) -> Option<&Binding<'a>> {
        self.find(name).map(|(binding, _)| binding)
    }

    /// Returns the innermost binding of a name, and the span of its declaration.
    pub(super) fn find(&self, name: &str) -> Option<(&Binding<'a>, Option<Span>)> {
        let mut frame = self.innermost.as_deref();
        while let Some(here) = frame {
            if here.name == name {
                return Some((&here.binding, here.declared));
            }
            frame = here.outer.as_deref();
        }
        None
    }

    /// Returns the values that all names are bound to, or `None` if one is bound to something else.
    pub(super) fn values(&self) -> Option<Vec<ExprId>> {
        let mut values = Vec::new();
        let mut frame = self.innermost.as_deref();
        while let Some(here) = frame {
            let Binding::Value(typed) = &here.binding else {
                return None;
            };
            values.push(typed.id);
            frame = here.outer.as_deref();
        }
        Some(values)
    }

    /// Returns all bound names, innermost first, for "did you mean".
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        let mut frame = self.innermost.as_deref();
        while let Some(here) = frame {
            names.push(here.name.as_str());
            frame = here.outer.as_deref();
        }
        names
    }
}
