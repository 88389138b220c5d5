//! Spans that the core language leaves out and the linter needs.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::{ExprId, FormulaId, PropertyId};
use crate::source::{FileId, Span};

/// Places of the text of a spec, for findings about parts of it. Nothing here has a meaning of its own.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Outline {
    /// The file of the spec itself; definitions of imported modules are in others.
    pub file: FileId,
    /// Whether the `event` block is that of the spec itself.
    pub own_event: bool,
    /// Items with the lints that `@allow` turns off within them.
    pub allowed: Vec<(Span, Vec<SmolStr>)>,
    /// Every condition that was elaborated as a value. A definition with parameters gives one for each way in which it
    /// is used.
    pub conditions: Vec<Condition>,
    /// Every `cases`.
    pub cases: Vec<Cases>,
    /// Properties that tests make of templates, with the name of the template.
    pub instances: Vec<(PropertyId, SmolStr)>,
    /// Every part of a formula, by the place where it is written.
    pub formulas: Vec<(FormulaId, Span)>,
    /// Every cast that may fail and is null then, and every such cast with a default. A definition with parameters gives
    /// one for each way in which it is used.
    pub lenient_casts: Vec<LenientCast>,
    /// Every predicate with its comment, which sentences of requirements may call it by.
    pub predicates: Vec<(SmolStr, SmolStr)>,
    /// The predicates and definitions that have a value at each step: those without parameters that are not formulas. Those of the
    /// spec itself stand in order of declaration, those of modules where they are used first.
    pub values: Vec<Definition>,
    /// The names of definitions without parameters, by what they stand for (without casts); not of conditions and paths, which
    /// say more than their names.
    pub definitions: FxHashMap<ExprId, SmolStr>,
}

impl Outline {
    /// Returns the names of the lints that `@allow` turns off at a place.
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

/// `e as T?` or `e as T? ?? d` at a place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LenientCast {
    /// The cast, without the default.
    pub cast: ExprId,
    /// The whole, with the default.
    pub span: Span,
    /// The text of `e`.
    pub operand: SmolStr,
    /// The text of `T`.
    pub ty: SmolStr,
    /// The text of `d`.
    pub default: Option<SmolStr>,
}

/// A condition at a place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Condition {
    /// Its span in the source.
    pub span: Span,
    /// The expression.
    pub expr: ExprId,
}

/// A `cases` at a place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cases {
    /// The conditional arms, in order.
    pub arms: Vec<Arm>,
    /// The value of `else`.
    pub otherwise: ExprId,
    /// Whether it is in a definition with parameters that was checked by itself, so that its parameters may have any value.
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
