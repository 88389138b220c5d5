//! Abstractions and models.

use smol_str::SmolStr;

use super::{Expr, Spec};
use crate::ids::{AbstractionId, ExprId, PropertyId};
use crate::source::Span;

/// `abstraction Name { … }`: a finite state space over the steps of traces.
#[derive(Clone, Debug)]
pub struct Abstraction {
    /// Its name; that of the model for one derived from what is asked of the model.
    pub name: SmolStr,
    /// `steps when e`: only these events are steps.
    pub steps: Option<ExprId>,
    /// What a state consists of, in order.
    pub components: Vec<Component>,
    /// `valid e`: no other state exists. Over components.
    pub valid: Vec<ExprId>,
    /// `step e`: no other step happens. Over components and, below [`Expr::Next`], the components of the next state.
    pub step: Vec<ExprId>,
    /// `absorbing e`: such states are never left. Over components.
    pub absorbing: Vec<ExprId>,
    /// `terminal e`: runs may end in such states; every state where there is none. Over components.
    pub terminal: Vec<ExprId>,
    /// `reward name = e`, in order.
    pub rewards: Vec<StateReward>,
    /// Whether it was derived rather than written.
    pub derived: bool,
    /// The whole declaration.
    pub span: Span,
}

/// One component of a state.
#[derive(Clone, Debug)]
pub struct Component {
    /// What it is called in states: the name in `over`, or the text of the expression.
    pub name: SmolStr,
    /// Where its value comes from.
    pub source: Source,
    /// Which values it may have.
    pub domain: Domain,
    /// Where it stands.
    pub span: Span,
}

/// Where the value of a component comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// An expression of the step. Expressions over the abstraction contain it as a node.
    Value(ExprId),
    /// The monitor of a rule or property: where it stands after the step.
    Monitor(PropertyId),
    /// Whether a rule or property has been violated by the step or before.
    Violated(PropertyId),
}

/// The values of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// `false`, `true`.
    Bool,
    /// The values of an enum, by its number.
    Enum(u16),
    /// From lowest to highest, both included.
    Int(i64, i64),
    /// The texts seen in training; any other makes the state `unseen`.
    Text,
    /// One of these, or null.
    Nullable(Box<Domain>),
    /// The states of a monitor.
    Monitor,
}

/// `reward name = e`
#[derive(Clone, Debug)]
pub struct StateReward {
    /// Its name; `None` for the one that `R=?` means.
    pub name: Option<SmolStr>,
    /// Per step; a number over components.
    pub value: ExprId,
}

/// `model m = …`
#[derive(Clone, Debug)]
pub struct Model {
    /// Its name.
    pub name: SmolStr,
    /// Where it comes from.
    pub source: ModelSource,
    /// The whole declaration.
    pub span: Span,
}

/// Where a model comes from.
#[derive(Clone, Debug)]
pub enum ModelSource {
    /// `learn Name { … }`: from traces.
    Learn(Learn),
    /// `load "m.json"`: a learned model; over which abstraction, where the spec leaves no doubt.
    Load(SmolStr, Option<AbstractionId>),
    /// `import "x.tra"`: a chain of others.
    Import(SmolStr),
}

/// The settings of `learn`.
#[derive(Clone, Debug)]
pub struct Learn {
    /// The state space.
    pub abstraction: AbstractionId,
    /// What is added to the count of every valid transition.
    pub smoothing: f64,
    /// One chain per value of this; it reads fields of the record only.
    pub by: Option<ExprId>,
    /// How many steps a state remembers.
    pub order: u32,
    /// The error allowed and the chance to exceed it.
    pub pac: Option<Pac>,
}

/// `pac epsilon e delta d`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pac {
    /// The error allowed, between 0 and 1.
    pub epsilon: f64,
    /// The chance to exceed it, between 0 and 1.
    pub delta: f64,
}

impl Model {
    /// Returns the abstraction that its states are made by, as far as the spec says it.
    pub fn abstraction(&self) -> Option<AbstractionId> {
        match &self.source {
            ModelSource::Learn(learn) => Some(learn.abstraction),
            ModelSource::Load(_, abstraction) => *abstraction,
            ModelSource::Import(_) => None,
        }
    }
}

impl Abstraction {
    /// Returns one of no components, by which nothing is declared.
    pub fn empty(name: SmolStr, derived: bool, span: Span) -> Abstraction {
        Abstraction {
            name,
            steps: None,
            components: Vec::new(),
            valid: Vec::new(),
            step: Vec::new(),
            absorbing: Vec::new(),
            terminal: Vec::new(),
            rewards: Vec::new(),
            derived,
            span,
        }
    }

    /// Returns the component that an expression is.
    pub fn component_of(&self, id: ExprId) -> Option<usize> {
        self.components
            .iter()
            .position(|component| component.source == Source::Value(id))
    }

    /// Returns the component that says whether a property has been violated.
    pub fn monitor_of(&self, property: PropertyId) -> Option<usize> {
        self.components.iter().position(|component| {
            matches!(component.source, Source::Monitor(of) | Source::Violated(of) if of == property)
        })
    }

    /// Returns the parts of an expression that the components do not decide: fields, tracks and history that it reads past
    /// them. Empty where it is decided. What operators of branching time contain is looked at as well.
    ///
    /// `monitors`: whether `violated(r)` is decided also where `r` is no component, since a product can follow it.
    pub fn undecided(&self, spec: &Spec, root: ExprId, monitors: bool) -> Vec<ExprId> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut todo = vec![root];
        let mut found = Vec::new();
        while let Some(id) = todo.pop() {
            if !seen.insert(id) || self.component_of(id).is_some() {
                continue;
            }
            match spec.exprs.get(id) {
                Expr::Field(_)
                | Expr::Meta(_)
                | Expr::Track(..)
                | Expr::Before(_)
                | Expr::Count { .. }
                | Expr::Past(..)
                | Expr::Var(_)
                | Expr::State(_) => found.push(id),
                Expr::Violated(property) => {
                    if !monitors && self.monitor_of(*property).is_none() {
                        found.push(id);
                    }
                }
                Expr::Branching(branching) => {
                    todo.extend(spec.branchings.get(*branching).states(&spec.formulas));
                }
                _ => todo.extend(spec.exprs.operands(id)),
            }
        }
        found.sort_unstable();
        found
    }
}
