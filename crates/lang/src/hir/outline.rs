//! Spans that the core language omits and the linter needs.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::{ExprId, FormulaId, PropertyId};
use crate::source::{FileId, Span};
use crate::value::Value;

/// Positions in the text of a spec, for findings about its parts. They have no effect on the meaning.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Outline {
    /// The file of the spec itself; definitions of imported modules are in others.
    pub file: FileId,
    /// Whether the `event` block is that of the spec itself.
    pub own_event: bool,
    /// Items with the lints that `@allow` turns off within them.
    pub allowed: Vec<(Span, Vec<SmolStr>)>,
    /// Every condition that was elaborated as a value. A definition with parameters has one entry for each use with
    /// different arguments.
    pub conditions: Vec<Condition>,
    /// Every `cases`.
    pub cases: Vec<Cases>,
    /// Properties that tests create from templates, with the name of the template.
    pub instances: Vec<(PropertyId, SmolStr)>,
    /// Every part of a formula, with its span.
    pub formulas: Vec<(FormulaId, Span)>,
    /// Every cast that becomes null if it fails, and every such cast with a default. A definition with parameters has
    /// one entry for each use with different arguments.
    pub lenient_casts: Vec<LenientCast>,
    /// Every comparison of a `json` value with a number or truth value.
    pub untyped_comparisons: Vec<UntypedComparison>,
    /// Every predicate with its comment; sentences of requirements may refer to a predicate by its comment.
    pub predicates: Vec<(SmolStr, SmolStr)>,
    /// The predicates and definitions that have a value at each step: those without parameters that are not formulas. Those of
    /// the spec itself are in order of declaration, those of modules are at their first use.
    pub values: Vec<Definition>,
    /// The names of definitions without parameters, by their values (without casts). Conditions and paths are left out, because
    /// they are more informative than their names.
    pub definitions: FxHashMap<ExprId, SmolStr>,
}

impl Outline {
    /// Returns the names of the lints that `@allow` turns off at a span.
    pub fn allowed_at(&self, place: Span) -> impl Iterator<Item = &str> {
        self.allowed
            .iter()
            .filter(move |(item, _)| {
                place.file == item.file && item.start <= place.start && place.end <= item.end
            })
            .flat_map(|(_, names)| names)
            .map(SmolStr::as_str)
    }
}

/// A predicate or definition that has a value at each step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Definition {
    /// Its name.
    pub name: SmolStr,
    /// The whole item.
    pub span: Span,
    /// Its value.
    pub expr: ExprId,
    /// Whether it is a predicate, so that its value is Boolean.
    pub is_predicate: bool,
}

/// `e as T?` or `e as T? ?? d`, with its span.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LenientCast {
    /// The cast, without the default.
    pub cast: ExprId,
    /// The span of the whole expression with its default.
    pub span: Span,
    /// The text of `e`.
    pub operand: SmolStr,
    /// The text of `T`.
    pub ty: SmolStr,
    /// The text of `d`.
    pub default: Option<SmolStr>,
}

/// `e == n` or `e in [n, …]`, where `e` has type `json` and `n` is a number or truth value.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UntypedComparison {
    /// The value of `e`.
    pub value: ExprId,
    /// The span of `e`.
    pub span: Span,
    /// The text of `e`.
    pub operand: SmolStr,
    /// The other side: numbers or truth values, at least one.
    pub literals: Vec<Value>,
}

/// A condition with its span.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Condition {
    /// Its span in the source.
    pub span: Span,
    /// The expression.
    pub expr: ExprId,
}

/// A `cases` expression.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cases {
    /// The conditional arms, in order.
    pub arms: Vec<Arm>,
    /// The value of `else`.
    pub otherwise: ExprId,
    /// Whether it is in a definition with parameters that was checked on its own, so that its parameters may have any
    /// value.
    pub generic: bool,
}

/// `condition => value`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Arm {
    /// The whole arm.
    pub span: Span,
    /// Its condition.
    pub condition: ExprId,
    /// Its value.
    pub value: ExprId,
}
