//! Declared transition systems: finite variables, guarded commands, and the contracts of components.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::{Arith, Builtin, Expr, Exprs};
use crate::ids::{ExprId, FormulaId, StateVarId, SystemId};
use crate::source::Span;
use crate::types::Type;
use crate::value::{EnumValue, Value};

/// A `system`, a `component`, or a composition of components.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct System {
    /// Its name.
    pub name: SmolStr,
    /// The keyword that declared it.
    pub kind: SystemKind,
    /// The variables that it declares, in order; empty for a composition, whose parts declare them.
    pub vars: Vec<StateVarId>,
    /// The conditions on initial states, besides the initial values of variables.
    pub inits: Vec<ExprId>,
    /// Its commands, in order.
    pub commands: Vec<Command>,
    /// Its labels, in order.
    pub labels: Vec<Label>,
    /// Its assumptions: for a system, about its own runs (fairness); for a component, about the other components.
    pub rewards: Vec<Reward>,
    /// Its assumptions: for a system, about its own runs (fairness); for a component, about the others.
    pub assumes: Vec<Contract>,
    /// Its guarantees.
    pub guarantees: Vec<Contract>,
    /// Documentation, without markers.
    pub doc: SmolStr,
    /// The span of its declaration.
    pub span: Span,
}

/// The keyword that declared a system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SystemKind {
    /// `system`: closed, without an environment.
    System,
    /// `component`: open; it may read variables that other components change.
    Component,
    /// `compose c = a || b`: the components, in order, each once.
    Composition(Vec<SystemId>),
}

/// A variable of a system, with finitely many values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StateVar {
    /// Its name.
    pub name: SmolStr,
    /// The system that declares it and is the only one to change it.
    pub owner: SystemId,
    /// Its type.
    pub ty: Type,
    /// Its values.
    pub domain: Domain,
    /// Its value in the initial states; if `None`, any of its values that the `init`s allow.
    pub init: Option<Value>,
    /// The span of its declaration.
    pub span: Span,
}

/// The values of a variable: null first if it is one of them, then the others in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// The kind of values.
    pub kind: DomainKind,
    /// Whether null is a value.
    pub nullable: bool,
}

/// The values of a variable without null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DomainKind {
    /// `false`, `true`.
    Bool,
    /// The values of the enum with this number, and how many there are.
    Enum(u16, u16),
    /// The integers from the first to the second, both inclusive. INVARIANT (small): both are below 2^62 in size.
    Int(i64, i64),
}

/// A guarded command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Command {
    /// Its name; commands with the same name in several components happen together.
    pub name: SmolStr,
    /// The condition that enables it; `None` if it is always enabled.
    pub guard: Option<ExprId>,
    /// The possible effects: one without a probability, or several with a probability each.
    pub branches: Vec<Branch>,
    /// The span of its declaration.
    pub span: Span,
}

/// One possible effect of a command; variables that it does not name do not change.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Branch {
    /// Its probability; reads constants and the state.
    pub probability: Option<ExprId>,
    /// Its updates, of distinct variables; all of them read the state before the step.
    pub updates: Vec<Update>,
    /// Its span in the source.
    pub span: Span,
}

/// `x' == e` or `x' in e`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Update {
    /// The variable.
    pub var: StateVarId,
    /// Its next value.
    pub next: Next,
    /// Its span in the source.
    pub span: Span,
}

/// The next value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Next {
    /// The value of an expression.
    Is(ExprId),
    /// Any element of a set or list.
    In(ExprId),
}

/// A named set of states.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Label {
    /// Its name.
    pub name: SmolStr,
    /// The condition.
    pub expr: ExprId,
    /// The span of its declaration.
    pub span: Span,
}

/// A reward structure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reward {
    /// Its name; `None` for the reward of `R=?`.
    pub name: Option<SmolStr>,
    /// The reward of a step from a state.
    pub expr: ExprId,
    /// The span of its declaration.
    pub span: Span,
}

/// An assumption or guarantee about runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Contract {
    /// The formula, over infinite runs.
    pub formula: FormulaId,
    /// Whether its atoms are about recorded events instead of states: monitors check it, not the model checker.
    pub of_events: bool,
    /// The text in the spec.
    pub text: SmolStr,
    /// Its span in the source.
    pub span: Span,
}

impl Domain {
    /// Returns the number of values.
    pub fn len(&self) -> u64 {
        let values = match self.kind {
            DomainKind::Bool => 2,
            DomainKind::Enum(_, values) => u64::from(values),
            DomainKind::Int(low, high) => high.abs_diff(low) + 1,
        };
        values + u64::from(self.nullable)
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value at this position, or `None` past the end.
    pub fn value(&self, index: u64) -> Option<Value> {
        if index >= self.len() {
            return None;
        }
        let Some(index) = index.checked_sub(u64::from(self.nullable)) else {
            return Some(Value::Null);
        };
        Some(match self.kind {
            DomainKind::Bool => Value::Bool(index == 1),
            DomainKind::Enum(of, _) => Value::Enum(EnumValue {
                of,
                index: u16::try_from(index).ok()?,
            }),
            DomainKind::Int(low, _) => Value::int(i128::from(low) + i128::from(index)),
        })
    }

    /// Returns the position of a value, or `None` if the variable cannot have it.
    pub fn position(&self, value: &Value) -> Option<u64> {
        let index = match (self.kind, value) {
            (_, Value::Null) => return self.nullable.then_some(0),
            (DomainKind::Bool, Value::Bool(value)) => u64::from(*value),
            (DomainKind::Enum(of, values), Value::Enum(value)) => {
                (value.of == of && value.index < values).then_some(u64::from(value.index))?
            }
            (DomainKind::Int(low, high), Value::Number(number)) => {
                let int = i64::try_from(number.to_int()?).ok()?;
                (low <= int && int <= high).then(|| int.abs_diff(low))?
            }
            _ => return None,
        };
        Some(index + u64::from(self.nullable))
    }
}

impl System {
    /// Returns the components of a composition; empty for other systems.
    pub fn parts(&self) -> &[SystemId] {
        match &self.kind {
            SystemKind::Composition(parts) => parts,
            SystemKind::System | SystemKind::Component => &[],
        }
    }

    /// Whether its commands carry probabilities.
    pub fn is_probabilistic(&self) -> bool {
        let mut branches = self.commands.iter().flat_map(|command| &command.branches);
        branches.any(|branch| branch.probability.is_some())
    }

    /// Returns all expressions of its commands, labels, rewards and initial states.
    pub fn roots(&self) -> Vec<ExprId> {
        let mut roots = self.inits.clone();
        for command in &self.commands {
            roots.extend(command.guard);
            for branch in &command.branches {
                roots.extend(branch.probability);
                roots.extend(branch.updates.iter().map(|update| update.next.expr()));
            }
        }
        roots.extend(self.labels.iter().map(|label| label.expr));
        roots.extend(self.rewards.iter().map(|reward| reward.expr));
        roots
    }
}

impl Next {
    /// Returns the expression.
    pub fn expr(self) -> ExprId {
        match self {
            Next::Is(expr) | Next::In(expr) => expr,
        }
    }
}

/// Returns the variables of systems that expressions read, in order, each once.
pub(crate) fn state_vars(
    exprs: &Exprs,
    roots: impl IntoIterator<Item = ExprId>,
) -> Vec<StateVarId> {
    let mut vars = std::collections::BTreeSet::new();
    let mut seen = vec![false; exprs.len()];
    let mut todo: Vec<ExprId> = roots.into_iter().collect();
    while let Some(id) = todo.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        if let Expr::State(var) = exprs.get(id) {
            vars.insert(*var);
        }
        todo.extend(exprs.operands(id));
    }
    vars.into_iter().collect()
}

/// Returns the reason why an expression cannot be a condition on a state, if it cannot: states contain Booleans, names and
/// whole numbers. `fractions` allows numbers with a fraction.
pub(crate) fn beyond_states(exprs: &Exprs, id: ExprId, fractions: bool) -> Option<String> {
    let mut seen = vec![false; exprs.len()];
    let mut todo = vec![id];
    while let Some(id) = todo.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        let allowed = match exprs.get(id) {
            Expr::Const(value) => is_of_states(value, fractions),
            Expr::Unknown
            | Expr::Local(_)
            | Expr::State(_)
            | Expr::Not(_)
            | Expr::And(..)
            | Expr::Or(..)
            | Expr::Implies(..)
            | Expr::Iff(..)
            | Expr::Compare(..)
            | Expr::In(..)
            | Expr::Contains(..)
            | Expr::Neg(_)
            | Expr::Coalesce(..)
            | Expr::If(..)
            | Expr::Quantifier { .. }
            | Expr::List(_)
            | Expr::Set(_)
            | Expr::Arith(Arith::Add | Arith::Sub | Arith::Mul, ..)
            | Expr::Call(Builtin::Min | Builtin::Max | Builtin::Abs | Builtin::Mod, _) => true,
            Expr::Arith(Arith::Div, ..) | Expr::Cast(_) => fractions,
            _ => false,
        };
        let fraction = *exprs.ty(id).non_null() == Type::Float;
        if !allowed || (fraction && !fractions) {
            return Some(match exprs.ty(id) {
                Type::Float if !fractions => "is a number with a fraction".to_owned(),
                Type::Error => continue,
                ty => format!("needs a value of type `{ty}`"),
            });
        }
        todo.extend(exprs.operands(id));
    }
    None
}

fn is_of_states(value: &Value, fractions: bool) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Enum(_) => true,
        Value::Number(number) => {
            fractions
                || number
                    .to_int()
                    .is_some_and(|int| int.unsigned_abs() <= 1 << 62)
        }
        Value::List(items) => items.iter().all(|item| is_of_states(item, fractions)),
        Value::Set(items) => items.iter().all(|item| is_of_states(item, fractions)),
        _ => false,
    }
}
