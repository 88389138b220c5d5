//! Evaluation of formulas of probability: the system as a Markov chain, and the formula in the form of the engine for
//! chains.

use indexmap::IndexSet;
use num_rational::BigRational;
use rustc_hash::FxBuildHasher;

use crate::hir::{Ask, Branching, Compare as HirCompare, Expr as HirExpr, RewardKind, Spec};
use crate::ids::{ExprId, FormulaId};
use crate::translate::chain::{Ends, NotOnChains, OnChain, binary, label, make, not};
use crate::value::{Number, Value};
use guard_automata::graph::Digraph;
use guard_markov::check::Root;
use guard_markov::prism::expr::{
    Compare, Expr, Kind, Measure, Op, Quantifier, Relation, Structure,
};
use guard_markov::{
    Answer, Chain, ChainBuilder, CheckError, Checker, Estimate, Options, Rewards, Scalar, Scope,
};

use super::{Explorer, SystemError, VerifyError};

/// The result of a formula of probability.
pub(super) struct Chance {
    /// Whether it holds in all initial states; `None` if it has no threshold or is too close to it.
    pub(super) holds: Option<bool>,
    /// The states in which it holds.
    pub(super) satisfying: Option<Vec<u32>>,
    /// The number at the root in the first initial state, with a lower and an upper bound; infinite if no bound exists.
    pub(super) value: Option<[f64; 3]>,
    /// The number as a fraction, if it was computed exactly.
    pub(super) exact: Option<String>,
}

/// Number types with which a system can become a chain.
pub(super) trait Chances: Scalar {
    /// Returns the successors of a state with their probabilities.
    fn row(explorer: &Explorer<'_>, state: u32) -> Result<Vec<(u32, Self)>, SystemError>;
}

impl Chances for f64 {
    fn row(explorer: &Explorer<'_>, state: u32) -> Result<Vec<(u32, f64)>, SystemError> {
        explorer.distribution(state)
    }
}

impl Chances for BigRational {
    fn row(explorer: &Explorer<'_>, state: u32) -> Result<Vec<(u32, BigRational)>, SystemError> {
        explorer.exact_distribution(state)
    }
}

/// Decides a state formula on the chain of a system all of whose states are known; `atoms` are its conditions.
pub(super) fn decide<V: Chances>(
    spec: &Spec,
    explorer: &Explorer<'_>,
    graph: &Digraph,
    atoms: &IndexSet<ExprId, FxBuildHasher>,
    formula: ExprId,
    initial: &[u32],
) -> Result<Chance, VerifyError> {
    let mut chain = chain::<V>(explorer, initial)?;
    for atom in 0..atoms.len() as u32 {
        let holds = |state: &u32| {
            guard_automata::kripke::Structure::holds(explorer, *state, guard_automata::Atom(atom))
        };
        let states = graph.set((0..explorer.len() as u32).filter(holds));
        chain.add_label(&condition(atom), states);
    }
    let names = rewards(explorer, &mut chain)?;
    let writer = Writer {
        spec,
        atoms,
        rewards: names,
    };
    let written = writer.state(formula)?;
    let checker = Checker::new(&chain, Scope::default(), Options::default());
    let Root { answer, numbers } = checker
        .root(&written)
        .map_err(|error| VerifyError::Chain(text(&error)))?;
    if let Some(short) = checker.take_shortfall() {
        return Err(VerifyError::Chain(short.to_string()));
    }
    let number = |numbers: &guard_markov::Numbers<V>| {
        let state = *initial.first()? as usize;
        if numbers.infinite.contains(state) {
            return Some(([f64::INFINITY; 3], None));
        }
        let value = numbers.at(state)?;
        let exact = V::EXACT.then(|| value.value().text());
        let bounds = [value.lower().to_f64(), value.upper().to_f64()];
        Some(([value.value().to_f64(), bounds[0], bounds[1]], exact))
    };
    Ok(match answer {
        Answer::Truth(truth) => {
            let each: Vec<Option<bool>> = initial
                .iter()
                .map(|state| truth.at(*state as usize))
                .collect();
            let holds = match each.contains(&Some(false)) {
                true => Some(false),
                false if each.contains(&None) => None,
                false => Some(true),
            };
            let (value, exact) = numbers.as_ref().and_then(number).unzip();
            Chance {
                holds,
                satisfying: Some(truth.must.ones().map(|state| state as u32).collect()),
                value,
                exact: exact.flatten(),
            }
        }
        Answer::Numbers(numbers) => {
            let (value, exact) = number(&numbers).unzip();
            Chance {
                holds: None,
                satisfying: None,
                value,
                exact: exact.flatten(),
            }
        }
        Answer::Whole(_) | Answer::Number(_) => Chance {
            holds: None,
            satisfying: None,
            value: None,
            exact: None,
        },
    })
}

fn condition(atom: u32) -> String {
    format!("condition {atom}")
}

fn text(error: &CheckError) -> String {
    match error {
        // The position refers to the formula in the form of the engine, which users do not see.
        CheckError::Text(error) => error.message.clone(),
        error => error.to_string(),
    }
}

fn chain<V: Chances>(explorer: &Explorer<'_>, initial: &[u32]) -> Result<Chain<V>, VerifyError> {
    let mut made = ChainBuilder::with_capacity(explorer.len(), explorer.transitions());
    for state in 0..explorer.len() as u32 {
        for (target, probability) in V::row(explorer, state)? {
            made.transition(target, probability);
        }
        made.end_row()
            .map_err(|error| VerifyError::Chain(error.to_string()))?;
    }
    made.finish(initial.iter().copied(), None)
        .map_err(|error| VerifyError::Chain(error.to_string()))
}

/// Adds the reward structures of the system, and one of 1 per step if none is unnamed. Returns their names, in order.
fn rewards<V: Chances>(
    explorer: &Explorer<'_>,
    chain: &mut Chain<V>,
) -> Result<Vec<Option<smol_str::SmolStr>>, VerifyError> {
    let mut names = Vec::new();
    let mut add = |name: Option<smol_str::SmolStr>, state: Vec<V>, chain: &mut Chain<V>| {
        let rewards = Rewards {
            name: name.as_ref().map(ToString::to_string).unwrap_or_default(),
            state,
            step: Vec::new(),
        };
        names.push(name);
        chain
            .add_rewards(rewards)
            .map_err(|error| VerifyError::Chain(error.to_string()))
    };
    let mut plain = false;
    for reward in explorer.rewards() {
        let earned = explorer.earned(reward.expr)?;
        let earned = earned.iter().map(V::from_rational).collect();
        plain |= reward.name.is_none();
        add(reward.name.clone(), earned, chain)?;
    }
    if !plain {
        add(None, vec![V::one(); explorer.len()], chain)?;
    }
    Ok(names)
}

/// Translates formulas of the core to the form of the engine.
struct Writer<'a> {
    spec: &'a Spec,
    atoms: &'a IndexSet<ExprId, FxBuildHasher>,
    rewards: Vec<Option<smol_str::SmolStr>>,
}

fn number(number: &Number) -> Expr {
    make(match number {
        Number::Int(int) => match i64::try_from(*int) {
            Ok(int) => Kind::Int(int),
            Err(_) => Kind::Real(format!("{int}.0")),
        },
        number => Kind::Real(number.to_string()),
    })
}

impl Writer<'_> {
    fn state(&self, id: ExprId) -> Result<Expr, VerifyError> {
        if let Some(atom) = self.atoms.get_index_of(&id) {
            return Ok(label(&condition(atom as u32)));
        }
        Ok(match self.spec.exprs.get(id) {
            HirExpr::Const(Value::Bool(value)) => make(Kind::Bool(*value)),
            HirExpr::Not(a) => not(self.state(*a)?),
            HirExpr::And(a, b) => binary(Op::And, self.state(*a)?, self.state(*b)?),
            HirExpr::Or(a, b) => binary(Op::Or, self.state(*a)?, self.state(*b)?),
            HirExpr::Implies(a, b) => binary(Op::Implies, self.state(*a)?, self.state(*b)?),
            HirExpr::Iff(a, b) => binary(Op::Iff, self.state(*a)?, self.state(*b)?),
            HirExpr::Branching(of) => self.branching(self.spec.branchings.get(*of))?,
            _ => return Err(VerifyError::NotForChains("this condition".to_owned())),
        })
    }

    fn branching(&self, branching: &Branching) -> Result<Expr, VerifyError> {
        Ok(make(match branching {
            Branching::Path { all, path } => {
                let quantifier = if *all {
                    Quantifier::All
                } else {
                    Quantifier::Exists
                };
                Kind::Paths(quantifier, Box::new(self.path(*path)?))
            }
            Branching::Probability { ask, path, given } => {
                let given = match given {
                    Some(given) => Some(Box::new(self.path(*given)?)),
                    None => None,
                };
                Kind::Probability(compare(ask), Box::new(self.path(*path)?), given)
            }
            Branching::Steady { ask, state } => {
                Kind::Steady(compare(ask), Box::new(self.state(*state)?))
            }
            Branching::Reward { name, ask, kind } => {
                let place = self.rewards.iter().position(|known| known == name);
                let Some(place) = place else {
                    let name = name.as_deref().unwrap_or_default();
                    return Err(VerifyError::Chain(format!("unknown reward `{name}`")));
                };
                let measure = match kind {
                    RewardKind::Reach(state) => Measure::Reach(self.state(*state)?),
                    RewardKind::Cumulative(None) => Measure::Total,
                    RewardKind::Cumulative(Some(steps)) => {
                        Measure::Cumulative(whole(*steps), false)
                    }
                    RewardKind::Instant(step) => Measure::Instantaneous(whole(*step)),
                    RewardKind::Steady => Measure::Steady,
                };
                // Structures are counted from 1.
                let structure = Structure::Index(place as i64 + 1);
                Kind::Reward(Some(structure), compare(ask), Box::new(measure))
            }
        }))
    }

    fn path(&self, path: FormulaId) -> Result<Expr, VerifyError> {
        let state = |id: ExprId| self.state(id);
        let (spec, ends) = (self.spec, Ends::Never);
        OnChain { spec, ends, state }.path(path)
    }
}

fn whole(number: u32) -> Expr {
    make(Kind::Int(i64::from(number)))
}

fn compare(ask: &Ask) -> Compare {
    match ask {
        Ask::Value => Compare::Value,
        Ask::Compare(op, threshold) => {
            let relation = match op {
                HirCompare::Lt => Relation::Less,
                HirCompare::Le | HirCompare::Eq => Relation::LessEqual,
                HirCompare::Gt => Relation::Greater,
                HirCompare::Ge => Relation::GreaterEqual,
            };
            Compare::Bound(relation, Box::new(number(threshold)))
        }
    }
}

impl From<NotOnChains> for VerifyError {
    fn from(reason: NotOnChains) -> VerifyError {
        VerifyError::NotForChains(
            match reason {
                NotOnChains::Past => "a past operator; to remember an earlier step, use a variable",
                NotOnChains::Time => "a bound in time",
                NotOnChains::Last => "`last`",
            }
            .to_owned(),
        )
    }
}
