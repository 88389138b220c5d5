//! Properties and tests.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::Text;
use crate::ids::{ExprId, FormulaId, PropertyId};
use crate::source::Span;
use crate::value::{Cell, Value};

/// A property of traces.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Property {
    /// Its name.
    pub name: SmolStr,
    /// `@id`
    pub id: Option<SmolStr>,
    /// The keyword that declared it.
    pub kind: PropertyKind,
    /// `forall x:` / `exists x:`, or the parameters of a rule.
    pub quantified: Option<Quantified>,
    /// The formula, evaluated at position 0. For a rule it is `G(a -> F[n,m] b)`, for an unsafe state `G !u`.
    pub formula: FormulaId,
    /// The condition without which the property holds vacuously, if there is one.
    pub trigger: Option<Trigger>,
    /// `@severity`
    pub severity: Severity,
    /// `@catastrophic`
    pub catastrophic: bool,
    /// `message "…"`, evaluated at the step at which the violation begins.
    pub message: Option<Text>,
    /// Documentation, without markers.
    pub doc: SmolStr,
    /// The English sentence of a requirement.
    pub requirement: Option<SmolStr>,
    /// The span of that sentence with its quotation marks.
    pub requirement_span: Option<Span>,
    /// `@cites`
    pub cites: Vec<SmolStr>,
    /// `@owner`
    pub owner: Option<SmolStr>,
    /// The whole declaration.
    pub span: Span,
    /// The span of the formula.
    pub formula_span: Span,
}

impl Property {
    /// Whether the property has this name or `@id`.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.id.as_deref() == Some(name)
    }
}

/// The keyword that declared a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PropertyKind {
    /// `property`
    Ltl,
    /// `rule`
    Rule,
    /// `unsafe`
    Unsafe,
    /// `requirement`
    Requirement,
    /// An `assume` of a component about events.
    Assumption,
    /// A condition that a test expects; audits ignore it.
    Condition,
}

/// `@severity`
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// `low`
    Low,
    /// `medium`, the default
    #[default]
    Medium,
    /// `high`
    High,
    /// `critical`
    Critical,
}

/// The outermost quantifier of a property.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Quantified {
    /// `forall` rather than `exists`.
    pub universal: bool,
    /// The variables, read as [`Expr::Var`](super::Expr::Var).
    pub vars: Vec<QuantifiedVar>,
}

/// One quantified variable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QuantifiedVar {
    /// Its name.
    pub name: SmolStr,
    /// The expressions it is compared with (`e == x`).
    pub terms: Vec<ExprId>,
    /// The expressions whose *elements* it is compared with (`x in e`, `e contains x`).
    pub element_terms: Vec<ExprId>,
    /// The constants it is compared with, which are in its range from the start.
    pub constants: Vec<Value>,
    /// `forall x in e`: the range consists of the values of `e` (for a list or set: of each element).
    pub range: Option<ExprId>,
}

/// The condition without which a property holds vacuously.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trigger {
    /// A Boolean expression without temporal operators that must hold at some step (of some instance).
    pub expr: ExprId,
    /// Its span in the source.
    pub span: Span,
}

/// `test "…" { given … expect … }`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Test {
    /// Its name.
    pub name: SmolStr,
    /// Cells of the record, one per meta field.
    pub meta: Vec<Cell>,
    /// Cells of the steps, one per field.
    pub steps: Vec<Vec<Cell>>,
    /// The spans of the steps in the source.
    pub step_spans: Vec<Span>,
    /// The expected results.
    pub expects: Vec<Expect>,
    /// The whole test.
    pub span: Span,
}

/// The form of an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expected {
    /// A verdict on a property or formula.
    Verdict,
    /// A condition that holds at a step; `None`: at the last one.
    Condition(Option<u32>),
}

/// `expect p violated at 3`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Expect {
    /// The form as written. A condition is expected as a property that is satisfied.
    pub form: Expected,
    /// The property.
    pub property: PropertyId,
    /// `satisfied`, `violated`, `presumably_satisfied`, `presumably_violated` or `unknown`.
    pub verdict: SmolStr,
    /// The step at which it becomes final.
    pub at: Option<u32>,
    /// Its span in the source.
    pub span: Span,
}
