//! Abstractions and models.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::{Expr, Spec};
use crate::ids::{AbstractionId, ExprId, PropertyId};
use crate::source::Span;

/// `abstraction Name { … }`: a finite state space over the steps of traces.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Abstraction {
    /// Its name; for an abstraction derived from the claims of a model, the name of the model.
    pub name: SmolStr,
    /// `steps when e`: only these events are steps.
    pub steps: Option<ExprId>,
    /// The components of a state, in order.
    pub components: Vec<Component>,
    /// `valid e`: only states that satisfy `e` are valid. Over components.
    pub valid: Vec<ExprId>,
    /// `step e`: only steps that satisfy `e` are possible. Over components and, below [`Expr::Next`], the components of
    /// the next state.
    pub step: Vec<ExprId>,
    /// `absorbing e`: states that satisfy `e` are never left. Over components.
    pub absorbing: Vec<ExprId>,
    /// `terminal e`: runs may end in states that satisfy `e`, or in every state if there is no such declaration. Over
    /// components.
    pub terminal: Vec<ExprId>,
    /// `reward name = e`, in order.
    pub rewards: Vec<StateReward>,
    /// Whether it was derived from claims.
    pub derived: bool,
    /// The whole declaration.
    pub span: Span,
}

/// One component of a state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Component {
    /// Its name in states: the name in `over`, or the text of the expression.
    pub name: SmolStr,
    /// The source of its value.
    pub source: Source,
    /// The values that it may have.
    pub domain: Domain,
    /// Its span in the source.
    pub span: Span,
}

/// The source of the value of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// An expression of the step. Expressions over the abstraction contain it as a node.
    Value(ExprId),
    /// The state of the monitor of a rule or property after the step.
    Monitor(PropertyId),
    /// Whether a rule or property was violated by the step or earlier.
    Violated(PropertyId),
}

/// The values of a component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Domain {
    /// `false`, `true`.
    Bool,
    /// The values of an enum, by its number.
    Enum(u16),
    /// The integers from the lowest to the highest, inclusive.
    Int(i64, i64),
    /// The texts that occurred in training; any other text makes the state `unseen`.
    Text,
    /// One of these, or null.
    Nullable(Box<Domain>),
    /// The states of a monitor.
    Monitor,
}

/// `reward name = e`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StateReward {
    /// Its name; `None` for the reward of `R=?`.
    pub name: Option<SmolStr>,
    /// The reward per step; a number over components.
    pub value: ExprId,
}

/// `model m = …`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Model {
    /// Its name.
    pub name: SmolStr,
    /// The source of the model.
    pub source: ModelSource,
    /// The whole declaration.
    pub span: Span,
}

/// The source of a model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ModelSource {
    /// `learn Name { … }`: from traces.
    Learn(Learn),
    /// `load "m.json"`: a learned model, with its abstraction if the spec determines it.
    Load(SmolStr, Option<AbstractionId>),
    /// `import "x.tra"`: a chain produced by another tool.
    Import(SmolStr),
}

/// The settings of `learn`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Learn {
    /// The state space.
    pub abstraction: AbstractionId,
    /// The number that is added to the count of every valid transition.
    pub smoothing: f64,
    /// One chain for each value of this expression, which may read fields of the record only.
    pub by: Option<ExprId>,
    /// The number of steps that a state of the chain remembers.
    pub order: u32,
    /// The allowed error and the allowed probability of exceeding it.
    pub pac: Option<Pac>,
}

/// `pac epsilon e delta d`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pac {
    /// The allowed error, between 0 and 1.
    pub epsilon: f64,
    /// The allowed probability of exceeding it, between 0 and 1.
    pub delta: f64,
}

impl Model {
    /// Returns the abstraction of its states, if the spec declares it.
    pub fn abstraction(&self) -> Option<AbstractionId> {
        match &self.source {
            ModelSource::Learn(learn) => Some(learn.abstraction),
            ModelSource::Load(_, abstraction) => *abstraction,
            ModelSource::Import(_) => None,
        }
    }
}

impl Abstraction {
    /// Returns an abstraction without components and declarations.
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

    /// Returns the component whose value is this expression.
    pub fn component_of(&self, id: ExprId) -> Option<usize> {
        self.components
            .iter()
            .position(|component| component.source == Source::Value(id))
    }

    /// Returns the component that records whether a property has been violated.
    pub fn monitor_of(&self, property: PropertyId) -> Option<usize> {
        self.components.iter().position(|component| {
            matches!(component.source, Source::Monitor(of) | Source::Violated(of) if of == property)
        })
    }

    /// Returns the parts of an expression that the components do not determine: fields, tracks and history that it
    /// reads in addition. Empty if the components determine it. Operands of branching-time operators are included.
    ///
    /// If `monitors` is true, `violated(r)` counts as determined even if `r` is not a component, because a product can
    /// monitor it.
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
