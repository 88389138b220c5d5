//! The resolved, typed form of a spec: a small core language.
//!
//! Templates, lets, functions, predicates, constants, `cases`, words and names are resolved. The remaining forms are
//! *expressions* (values of the current step, with the state that tracks, `before`, `count` and past operators carry)
//! and *formulas* (temporal logic over atoms). Both are hash-consed, so equal parts share a node and are evaluated once
//! a step.
//!
//! `hir` refers to the text only by spans. `reference` defines the meaning of every node as code.

pub mod branching;
pub mod compared;
pub mod enforce;
pub mod expr;
pub mod formula;
pub mod fraction;
pub mod meeting;
pub mod model;
pub mod outline;
pub mod print;
pub mod property;
pub mod reads;
pub mod system;

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use smol_str::SmolStr;

use crate::ids::{
    AbstractionId, AtomId, ClaimId, ExprId, FormulaId, ModelId, PropertyId, StateVarId, SystemId,
    TrackId,
};
use crate::input_schema::InputSchema;
use crate::source::Span;
use crate::types::{EnumType, Type};
use crate::value::Value;

pub use branching::{
    Ask, Branching, Branchings, Claim, ClaimFormula, ClaimKind, Logic, RewardKind, Subject,
};
pub use enforce::{Action, ActionKind, Arm, ArmTrigger, Enforce, Invoke, Reading, Watched};
pub use expr::{Arith, Builtin, Compare, Expr, Exprs, PastOp, Quantifier, Text, TextPart, Window};
pub use formula::{Atom, Binary, Bound, Formula, Formulas, Unary};
pub use model::{
    Abstraction, Component, Domain, Learn, Model, ModelSource, Pac, Source, StateReward,
};
pub use outline::Outline;
pub use property::{
    Expect, Expected, Property, PropertyKind, Quantified, QuantifiedVar, Severity, Test, Trigger,
};
pub use system::{StateVar, System};

/// A whole spec.
///
/// INVARIANT (sound): created by `check` only, and only if there are no errors; every id is in range, and every
/// expression has the type that its context requires.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Spec {
    /// The fields that are read.
    pub schema: InputSchema,
    /// All enums, by `EnumType::number`.
    pub enums: Vec<Arc<EnumType>>,
    /// All expressions.
    pub exprs: Exprs,
    /// All formulas.
    pub formulas: Formulas,
    /// The names of the variables that quantifiers over lists bind, by [`LocalId`](crate::ids::LocalId).
    pub local_names: Vec<SmolStr>,
    /// The conditions that select events and records, and the names of traces.
    pub filter: Filter,
    /// The tracks, in order of declaration.
    pub tracks: Vec<Track>,
    /// The properties, in order of declaration.
    pub properties: Vec<Property>,
    /// The variables of all systems.
    pub state_vars: Vec<StateVar>,
    /// The systems, components and compositions: those of the spec itself first, in order of declaration.
    pub systems: Vec<System>,
    /// The tests, in order of declaration.
    pub tests: Vec<Test>,
    /// The operators of branching time and of probability.
    pub branchings: Branchings,
    /// The claims about models and systems, in order of declaration.
    pub claims: Vec<Claim>,
    /// The abstractions, in order of declaration, then those that models derive.
    pub abstractions: Vec<Abstraction>,
    /// The models, in order of declaration.
    pub models: Vec<Model>,
    /// The spans of the parts of the spec, for lints and editors.
    pub outline: Outline,
    /// The `enforce` clauses, in order of declaration.
    pub enforces: Vec<Enforce>,
    /// Positions of the `@outcome` fields, which exist only after an action has happened.
    pub outcomes: Vec<usize>,
}

/// The expressions of the `trace` block.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Filter {
    /// `where e`: a condition on one event. An event for which it is false is not a step and is invisible to later steps; if it
    /// is unknown, both cases are followed.
    pub step: Option<ExprId>,
    /// `records where e`: over meta fields.
    pub record: Option<ExprId>,
    /// `id = "…"`: over meta fields.
    pub id: Option<Text>,
    /// `complete = e`: over meta fields.
    pub complete: Option<ExprId>,
}

/// A fold over the events.
///
/// In `update` (including inlined definitions) [`Expr::Track`] is the value *before* the event, everywhere else the
/// value *after* it; all tracks are updated together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Track {
    /// Its name.
    pub name: SmolStr,
    /// Names and types of its parameters, read in `update` as [`Expr::Param`]. A track with parameters has one value
    /// per tuple of arguments, all starting at `init`.
    pub params: Vec<(SmolStr, Type)>,
    /// For each parameter: the expressions of `update` that it is compared with. `update` can differ from its value for
    /// unseen arguments only for arguments equal to one of these expressions at the step, for `constants`, and for
    /// arguments for which another track read by `update` has its own value.
    pub compared: Vec<Vec<ExprId>>,
    /// For each parameter: the constants that it is compared with.
    pub constants: Vec<Vec<Value>>,
    /// Its type. A track of finite type holds the *set* of its possible values.
    pub ty: Type,
    /// The value before the first event; must not read an event.
    pub init: ExprId,
    /// The value after an event.
    pub update: ExprId,
    /// The span of its declaration.
    pub span: Span,
}

impl Spec {
    /// Removes the parts that an audit does not judge: conditions of tests, and the tests and clauses that refer to
    /// properties by number.
    pub fn retain_judged(&mut self) {
        self.retain_properties(|_, property| property.kind != PropertyKind::Condition);
    }

    /// Keeps the selected properties, and removes the tests and clauses that refer to properties by number.
    pub fn retain_properties(&mut self, keep: impl Fn(PropertyId, &Property) -> bool) {
        let mut next = 0;
        self.properties.retain(|property| {
            next += 1;
            keep(PropertyId::new(next - 1), property)
        });
        self.tests.clear();
        self.enforces.clear();
    }

    /// Returns the track of this id.
    pub fn track(&self, id: TrackId) -> &Track {
        &self.tracks[id.index()]
    }

    /// Returns the property of this id.
    pub fn property(&self, id: PropertyId) -> &Property {
        &self.properties[id.index()]
    }

    /// Returns the formulas that a property requires at every step, each with whether it must hold there (`always φ`) or not (`not
    /// eventually φ`), if it consists of nothing else. Clauses monitor such a property again after a violation.
    pub fn at_every_step(&self, property: &Property) -> Option<Vec<(FormulaId, bool)>> {
        let exists = |quantified: &Quantified| !quantified.universal;
        match property.quantified.as_ref().is_some_and(exists) {
            true => None,
            false => self.formulas.at_every_step(property.formula),
        }
    }

    /// Returns the system of this id.
    pub fn system(&self, id: SystemId) -> &System {
        &self.systems[id.index()]
    }

    /// Returns the variable of this id.
    pub fn state_var(&self, id: StateVarId) -> &StateVar {
        &self.state_vars[id.index()]
    }

    /// Returns the atom of this id.
    pub fn atom(&self, id: AtomId) -> &Atom {
        self.formulas.atom(id)
    }

    /// Returns the claim of this id.
    pub fn claim(&self, id: ClaimId) -> &Claim {
        &self.claims[id.index()]
    }

    /// Returns the abstraction of this id.
    pub fn abstraction(&self, id: AbstractionId) -> &Abstraction {
        &self.abstractions[id.index()]
    }

    /// Returns the model of this id.
    pub fn model(&self, id: ModelId) -> &Model {
        &self.models[id.index()]
    }

    /// Whether a condition of the property is `todo`, directly or through a track or a range. Such a property is never
    /// satisfied, and such an `exists` is not violated either.
    pub fn is_unwritten(&self, property: &Property) -> bool {
        self.reads_of(property).todo
    }

    /// Returns the signals that judging a property reads: through its conditions, the ranges of its variables, and the
    /// filter of steps.
    pub fn reads_of(&self, property: &Property) -> reads::Reads {
        reads::reads(self, self.roots_of(property))
    }

    /// Returns the field of the clock, if judging a property depends on it: through bounds and windows in time.
    pub fn clock_of(&self, property: &Property) -> Option<usize> {
        let is_timed = || self.formulas.is_timed(property.formula) || self.reads_of(property).clock;
        self.schema.clock.filter(|_| is_timed())
    }

    /// Returns the expressions that judging a property evaluates: its conditions, the ranges of its variables, and the filter of
    /// steps.
    pub fn roots_of(&self, property: &Property) -> impl Iterator<Item = ExprId> {
        let letters = self.formulas.atoms_of(property.formula);
        let letters = letters.into_iter().map(|letter| self.atom(letter).expr);
        let quantified = property.quantified.iter();
        let ranges =
            quantified.flat_map(|quantified| quantified.vars.iter().filter_map(|var| var.range));
        letters.chain(ranges).chain(self.filter.step)
    }

    /// Returns the claim of this name.
    pub fn find_claim(&self, name: &str) -> Option<ClaimId> {
        self.claims
            .iter()
            .position(|claim| claim.name == name)
            .map(ClaimId::new)
    }

    /// Returns the model of this name.
    pub fn find_model(&self, name: &str) -> Option<ModelId> {
        self.models
            .iter()
            .position(|model| model.name == name)
            .map(ModelId::new)
    }

    /// Returns the property of this name.
    pub fn find_property(&self, name: &str) -> Option<PropertyId> {
        self.properties
            .iter()
            .position(|property| property.name == name)
            .map(PropertyId::new)
    }
}
