//! Claims about models and systems: operators of branching time and of probability, and the items that use them.
//!
//! A *state formula* is a Boolean expression whose leaves may also be [`Branching`] operators, labels
//! ([`Expr::Label`](super::Expr::Label)) and [`Expr::Violated`](super::Expr::Violated). A *path formula* is a
//! [`Formula`](super::Formula) whose atoms are state formulas. So the properties of expressions and formulas (equal
//! ones share a node, operands come first) also hold for these, and nesting needs no separate representation.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::{Compare, Exprs, Formulas, Severity};
use crate::ids::{BranchingId, ExprId, FormulaId, ModelId, SystemId};
use crate::source::Span;
use crate::value::Number;

/// An operator on the paths from a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Branching {
    /// `A[φ]`, `E[φ]`; `AG a` is `A[G a]`.
    Path {
        /// On all paths, rather than on some path.
        all: bool,
        /// The path formula.
        path: FormulaId,
    },
    /// `P~p[φ]`, `P=?[φ]`, `P=?[φ given ψ]`.
    Probability {
        /// The question about the probability.
        ask: Ask,
        /// The path formula.
        path: FormulaId,
        /// The path formula on which the probability is conditioned.
        given: Option<FormulaId>,
    },
    /// `S~p[a]`: the proportion of time in the long run.
    Steady {
        /// The question about the probability.
        ask: Ask,
        /// The state formula.
        state: ExprId,
    },
    /// `R{"name"}~r[…]`
    Reward {
        /// The reward structure; `None` means the one without a name, or 1 per step if there is none.
        name: Option<SmolStr>,
        /// The question about the reward.
        ask: Ask,
        /// The quantity that is accumulated.
        kind: RewardKind,
    },
}

/// `=?`, or a comparison with a threshold.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ask {
    /// The number itself.
    Value,
    /// Whether the comparison holds; never [`Compare::Eq`].
    Compare(Compare, Number),
}

/// The quantity that a reward operator accumulates.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RewardKind {
    /// `F a`: until the state formula holds.
    Reach(ExprId),
    /// `C`, `C<=k`
    Cumulative(Option<u32>),
    /// `I=k`
    Instant(u32),
    /// `S`
    Steady,
}

/// The model or system of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Subject {
    /// `on m`, of a `model`.
    Model(ModelId),
    /// `on s`, of a `system`, `component` or `compose`.
    System(SystemId),
}

/// The logics of formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Logic {
    /// A path formula: it holds on all paths.
    Ltl,
    /// `A` and `E`, each with one temporal operator over state formulas.
    Ctl,
    /// `A` and `E` over any path formula.
    CtlStar,
    /// With `P`, `R` or `S`.
    Pctl,
}

impl Logic {
    /// Returns the name of the logic in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Logic::Ltl => "ltl",
            Logic::Ctl => "ctl",
            Logic::CtlStar => "ctl*",
            Logic::Pctl => "pctl",
        }
    }
}

/// The content of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClaimFormula {
    /// A state formula: Boolean, or a float if the root is `=?`.
    State(ExprId),
    /// A path formula, on all paths from the initial states.
    Path(FormulaId),
}

/// The keyword that declared a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClaimKind {
    /// `property … on m`
    Property,
    /// `query … on m`
    Query,
    /// `requirement … { formal … on m }`
    Requirement,
}

/// A claim about a model or system.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// Its name.
    pub name: SmolStr,
    /// `@id`
    pub id: Option<SmolStr>,
    /// The keyword that declared it.
    pub kind: ClaimKind,
    /// The model or system.
    pub on: Subject,
    /// The logic of the formula.
    pub logic: Logic,
    /// The formula, or the property.
    pub formula: ClaimFormula,
    /// `@severity`
    pub severity: Severity,
    /// `@catastrophic`
    pub catastrophic: bool,
    /// `message "…"`: text only, because there is no event.
    pub message: Option<SmolStr>,
    /// Documentation, without markers.
    pub doc: SmolStr,
    /// The English sentence of a requirement.
    pub requirement: Option<SmolStr>,
    /// `@cites`
    pub cites: Vec<SmolStr>,
    /// `@owner`
    pub owner: Option<SmolStr>,
    /// The text of the formula, on one line.
    pub text: SmolStr,
    /// The whole declaration.
    pub span: Span,
    /// The span of the formula.
    pub formula_span: Span,
}

impl Claim {
    /// Whether the claim has this name or `@id`.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.id.as_deref() == Some(name)
    }

    /// Returns the path formula whose probability the claim computes or compares. Returns `None` for other claims and for
    /// conditional probabilities.
    pub fn probability_of(&self, spec: &super::Spec) -> Option<FormulaId> {
        let ClaimFormula::State(state) = self.formula else {
            return None;
        };
        let super::Expr::Branching(id) = spec.exprs.get(state) else {
            return None;
        };
        match spec.branchings.get(*id) {
            Branching::Probability {
                path, given: None, ..
            } => Some(*path),
            _ => None,
        }
    }
}

/// The operators of a spec, by [`BranchingId`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Branchings {
    nodes: indexmap::IndexSet<Branching>,
}

impl Branchings {
    /// Returns the id of this operator, and adds the operator if it is new.
    pub fn add(&mut self, branching: Branching) -> BranchingId {
        BranchingId::new(self.nodes.insert_full(branching).0)
    }

    /// Returns the operator.
    pub fn get(&self, id: BranchingId) -> &Branching {
        &self.nodes[id.index()]
    }

    /// Returns the number of operators; an operator is added after the operators inside it.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

impl Branching {
    /// Returns the question about the number of the operator, or `None` for `A` and `E`, which have no number.
    pub fn ask(&self) -> Option<&Ask> {
        match self {
            Branching::Path { .. } => None,
            Branching::Probability { ask, .. }
            | Branching::Steady { ask, .. }
            | Branching::Reward { ask, .. } => Some(ask),
        }
    }

    /// Returns the path formulas and state formulas directly inside the operator.
    pub fn parts(&self) -> (Vec<FormulaId>, Vec<ExprId>) {
        match self {
            Branching::Path { path, .. } => (vec![*path], Vec::new()),
            Branching::Probability { path, given, .. } => (
                [Some(*path), *given].into_iter().flatten().collect(),
                Vec::new(),
            ),
            Branching::Steady { state, .. } => (Vec::new(), vec![*state]),
            Branching::Reward { kind, .. } => match kind {
                RewardKind::Reach(state) => (Vec::new(), vec![*state]),
                RewardKind::Cumulative(_) | RewardKind::Instant(_) | RewardKind::Steady => {
                    (Vec::new(), Vec::new())
                }
            },
        }
    }

    /// Returns the state formulas inside the operator: its own, and the atoms of its path formulas.
    pub fn states(&self, formulas: &Formulas) -> Vec<ExprId> {
        let (paths, mut states) = self.parts();
        for path in paths {
            let atoms = formulas.atoms_of(path);
            states.extend(atoms.into_iter().map(|atom| formulas.atom(atom).expr));
        }
        states
    }
}

impl ClaimFormula {
    /// Returns the state formulas inside the claim: the formula itself, or the atoms of the path formula.
    pub fn states(&self, formulas: &Formulas) -> Vec<ExprId> {
        match self {
            ClaimFormula::State(state) => vec![*state],
            ClaimFormula::Path(path) => {
                let atoms = formulas.atoms_of(*path);
                atoms
                    .into_iter()
                    .map(|atom| formulas.atom(atom).expr)
                    .collect()
            }
        }
    }
}

/// Returns all expressions below these state formulas, including those inside operators, each once and inner ones
/// first.
pub fn below(
    exprs: &Exprs,
    formulas: &Formulas,
    branchings: &Branchings,
    roots: impl IntoIterator<Item = ExprId>,
) -> Vec<ExprId> {
    fn visit(
        id: ExprId,
        tables: (&Exprs, &Formulas, &Branchings),
        seen: &mut rustc_hash::FxHashSet<ExprId>,
        order: &mut Vec<ExprId>,
    ) {
        if !seen.insert(id) {
            return;
        }
        let (exprs, formulas, branchings) = tables;
        for operand in exprs.operands(id) {
            visit(operand, tables, seen, order);
        }
        if let super::Expr::Branching(branching) = exprs.get(id) {
            for state in branchings.get(*branching).states(formulas) {
                visit(state, tables, seen, order);
            }
        }
        order.push(id);
    }
    let mut seen = rustc_hash::FxHashSet::default();
    let mut order = Vec::new();
    for root in roots {
        visit(root, (exprs, formulas, branchings), &mut seen, &mut order);
    }
    order
}
