//! Questions about systems, and their results.

use smol_str::SmolStr;

use crate::hir::system::SystemKind;
use crate::hir::{Branching, ClaimFormula, Expr, Logic, Spec, Subject, branching};
use crate::ids::{ClaimId, StateVarId, SystemId};
use crate::types::Type;
use crate::value::Value;
use guard_automata::CompileError;
use guard_automata::kripke::Run;

use super::agreement::Agreement;
use super::session::{Answer, Session};
use super::{Explorer, Limits, SystemError};

/// A question that can be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// A property, query or requirement `on` a system.
    Claim(ClaimId),
    /// A `guarantee` of a `system`, by position.
    Guarantee(SystemId, usize),
    /// The assumptions and guarantees of the components of a composition.
    Agreement(SystemId),
    /// The exploration of a system without a question.
    Exploration(SystemId),
}

/// The reason why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The system cannot be explored.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The formula has no automaton within the limits.
    #[error("{0}")]
    Formula(CompileError),
    /// The product of the system and the automaton is too large.
    #[error(
        "the product of the system and the automaton of the property has more than {limit} states"
    )]
    Product {
        /// The limit.
        limit: usize,
    },
    /// The assumptions about runs contradict each other.
    #[error(
        "the assumptions exclude every run from initial state {state}, so every \
                    property would hold vacuously"
    )]
    Contradictory {
        /// The state.
        state: String,
    },
    /// Branching-time formulas support only `G F a` as fairness.
    #[error(
        "branching-time formulas support only assumptions of the form `G F a`, where `a` is a \
         condition on the state; write the property in linear time, or declare a label for `a`"
    )]
    FairnessOfPaths,
    /// Fairness has no effect on probabilities.
    #[error("formulas with probabilities are about all runs: the system cannot have assumptions")]
    FairnessOfChance,
    /// A formula of probability on a system without probabilities.
    #[error(
        "the steps of the system have no probabilities: write `=> 0.3: … | 0.7: …`, or use `A` and `E`"
    )]
    NoProbabilities,
    /// The engine for chains does not support it.
    #[error("not supported in formulas with probabilities: {0}")]
    NotForChains(String),
    /// The system is not a valid chain, or a formula on it is invalid.
    #[error("{0}")]
    Chain(String),
}

/// A value of a variable, as reports show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plain {
    /// Null.
    Null,
    /// A Boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// The name of an enum value.
    Name(SmolStr),
}

/// One state of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The values of the variables, in their order.
    pub values: Vec<Plain>,
    /// The commands that lead to the next state of the run; several if the run does not determine one.
    pub commands: Vec<String>,
}

/// A run that shows a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Whether it shows that the property fails, instead of that it holds.
    pub is_counterexample: bool,
    /// States before the cycle.
    pub stem: Vec<Step>,
    /// States that repeat; empty if the continuation of the run does not matter.
    pub cycle: Vec<Step>,
    /// The number of states after which the property is violated for every continuation.
    pub bad_prefix: Option<usize>,
}

/// The method that found an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// By exploring the states of the system.
    Direct,
    /// By reasoning about components one at a time; with the claims that the proof uses.
    Composed {
        /// The other promises and components that it uses.
        by: Vec<String>,
        /// Whether the components rely on one another in a circle, each keeping its guarantee one step longer than the
        /// others.
        circular: bool,
    },
    /// Not decided: it is trusted.
    Trusted,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The question: the name of a property, or `component.guarantee`.
    pub property: String,
    /// The formula as written.
    pub text: String,
    /// The name of the system.
    pub system: String,
    /// The logic of the formula.
    pub logic: Logic,
    /// Whether it holds; `None` if it is trusted, or if it has no threshold.
    pub holds: Option<bool>,
    /// The number at the root of a formula of probability in the first initial state, with a lower and an upper bound.
    pub value: Option<[f64; 3]>,
    /// That number as a fraction, if it was computed exactly.
    pub exact: Option<String>,
    /// The number of states found.
    pub states: usize,
    /// The number of transitions found.
    pub transitions: usize,
    /// Whether these are all reachable states.
    pub complete: bool,
    /// The names of the variables, in order.
    pub variables: Vec<String>,
    /// A run that shows the result.
    pub run: Option<Shown>,
    /// The states in which a formula of branching time holds, in order.
    pub satisfying: Option<Vec<Vec<Plain>>>,
    /// The number of states in which no command is enabled; they are their own successors.
    pub deadlocks: usize,
    /// A run to the first such state.
    pub deadlock: Option<Vec<Step>>,
    /// The method that found it.
    pub method: Method,
    /// The assumptions taken on trust.
    pub trusted: Vec<String>,
    /// The reasons why a rule of reasoning did not apply.
    pub refused: Vec<String>,
}

/// Answers questions about the systems of a spec.
pub struct Verifier<'a> {
    spec: &'a Spec,
    limits: Limits,
    /// The session of the system that was examined last.
    session: Option<(SystemId, Session<'a>)>,
}

impl std::fmt::Debug for Verifier<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Verifier")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Returns all questions of a spec, in order of declaration: claims first, then guarantees of systems.
pub fn questions(spec: &Spec) -> Vec<Question> {
    let mut questions: Vec<Question> = Vec::new();
    let mut asked: Vec<SystemId> = Vec::new();
    for (at, claim) in spec.claims.iter().enumerate() {
        if let Subject::System(system) = claim.on {
            questions.push(Question::Claim(ClaimId::new(at)));
            asked.push(system);
        }
    }
    for (at, system) in spec.systems.iter().enumerate() {
        let id = SystemId::new(at);
        let before = questions.len();
        match &system.kind {
            SystemKind::System => {
                questions
                    .extend((0..system.guarantees.len()).map(|at| Question::Guarantee(id, at)));
            }
            SystemKind::Composition(parts) => {
                let contracts = |part: &SystemId| {
                    let part = spec.system(*part);
                    !part.assumes.is_empty() || !part.guarantees.is_empty()
                };
                if parts.iter().any(contracts) {
                    questions.push(Question::Agreement(id));
                }
            }
            // Guarantees of components are verified with their compositions.
            SystemKind::Component => continue,
        }
        if questions.len() == before && !asked.contains(&id) {
            questions.push(Question::Exploration(id));
        }
    }
    questions
}

impl<'a> Verifier<'a> {
    /// Returns a verifier of a spec.
    pub fn new(spec: &'a Spec, limits: Limits) -> Verifier<'a> {
        Verifier {
            spec,
            limits,
            session: None,
        }
    }

    /// Returns the name under which a question can be selected.
    pub fn name(&self, question: Question) -> String {
        match question {
            Question::Claim(claim) => self.spec.claim(claim).name.to_string(),
            Question::Guarantee(system, at) => guarantee_name(self.spec, system, at),
            Question::Agreement(system) | Question::Exploration(system) => {
                self.spec.system(system).name.to_string()
            }
        }
    }

    /// Returns every name under which a question can be selected: its own, that of its system, and those of its answers.
    pub fn names(&self, question: Question) -> Vec<String> {
        let mut names = vec![self.name(question)];
        let system = match question {
            Question::Claim(claim) => match self.spec.claim(claim).on {
                Subject::System(system) => system,
                Subject::Model(_) => return names,
            },
            Question::Guarantee(system, _)
            | Question::Agreement(system)
            | Question::Exploration(system) => system,
        };
        names.push(self.spec.system(system).name.to_string());
        if let Question::Agreement(_) = question {
            for part in self.spec.system(system).parts() {
                let declared = self.spec.system(*part);
                names.extend(
                    (0..declared.assumes.len()).map(|at| assume_name(self.spec, *part, at)),
                );
                names.extend(
                    (0..declared.guarantees.len()).map(|at| guarantee_name(self.spec, *part, at)),
                );
            }
        }
        names
    }

    /// Answers a question; an agreement has several answers.
    ///
    /// # Errors
    /// [`VerifyError`]
    pub fn answer(&mut self, question: Question) -> Result<Vec<Verdict>, VerifyError> {
        match question {
            Question::Claim(claim) => self.claim(claim),
            Question::Guarantee(system, at) => {
                let contract = &self.spec.system(system).guarantees[at];
                let session = self.session(system)?;
                session.has_runs()?;
                let answer = session.path(contract.formula)?;
                let mut verdict = verdict_of(session, answer, Logic::Ltl);
                verdict.property = guarantee_name(self.spec, system, at);
                verdict.text = contract.text.to_string();
                verdict.system = self.spec.system(system).name.to_string();
                Ok(vec![verdict])
            }
            Question::Agreement(system) => {
                self.session = None;
                Agreement::new(self.spec, system, self.limits).verdicts()
            }
            Question::Exploration(system) => {
                let session = self.session(system)?;
                session.explorer.explore()?;
                let answer = Answer {
                    holds: true,
                    run: None,
                    bad_prefix: None,
                    satisfying: None,
                    value: None,
                    exact: None,
                    decided: false,
                };
                let mut verdict = verdict_of(session, answer, Logic::Ctl);
                verdict.holds = None;
                verdict.system = self.spec.system(system).name.to_string();
                Ok(vec![verdict])
            }
        }
    }

    fn claim(&mut self, id: ClaimId) -> Result<Vec<Verdict>, VerifyError> {
        let claim = self.spec.claim(id);
        let Subject::System(system) = claim.on else {
            return Ok(Vec::new());
        };
        let probabilistic = match claim.formula {
            ClaimFormula::Path(_) => false,
            ClaimFormula::State(state) => is_probabilistic(self.spec, state),
        };
        if probabilistic && !self.has_probabilities(system) {
            return Err(VerifyError::NoProbabilities);
        }
        let session = self.session(system)?;
        session.has_runs()?;
        let answer = match claim.formula {
            ClaimFormula::Path(path) => session.path(path)?,
            ClaimFormula::State(state) if probabilistic => session.chance(state)?,
            ClaimFormula::State(state) => session.state(state)?,
        };
        let (value, decided) = (answer.value, answer.decided);
        let exact = answer.exact.clone();
        let mut verdict = verdict_of(session, answer, claim.logic);
        (verdict.value, verdict.exact) = (value, exact);
        if !decided {
            verdict.holds = None;
        }
        verdict.property = claim.name.to_string();
        verdict.text = claim.text.to_string();
        verdict.system = self.spec.system(system).name.to_string();
        verdict.trusted = trusted_events(self.spec, system);
        Ok(vec![verdict])
    }

    fn has_probabilities(&self, system: SystemId) -> bool {
        let system = self.spec.system(system);
        let parts = system.parts().iter().map(|part| self.spec.system(*part));
        system.is_probabilistic() || parts.into_iter().any(crate::hir::System::is_probabilistic)
    }

    /// Returns the session of a system, for all its questions.
    fn session(&mut self, system: SystemId) -> Result<&mut Session<'a>, VerifyError> {
        if self.session.as_ref().is_none_or(|(id, _)| *id != system) {
            self.session = None;
            let declared = self.spec.system(system);
            let claims = self
                .spec
                .claims
                .iter()
                .filter(|claim| claim.on == Subject::System(system));
            let asked: Vec<ClaimFormula> = claims
                .map(|claim| claim.formula)
                .chain(
                    declared
                        .guarantees
                        .iter()
                        .map(|contract| ClaimFormula::Path(contract.formula)),
                )
                .collect();
            let session = Session::new(self.spec, system, &asked, &declared.assumes, self.limits)?;
            self.session = Some((system, session));
        }
        match &mut self.session {
            Some((_, session)) => Ok(session),
            None => Err(VerifyError::System(SystemError::NoInitial)),
        }
    }
}

/// Returns the assumptions of a component about recorded events, which no system can prove.
pub(super) fn trusted_events(spec: &Spec, system: SystemId) -> Vec<String> {
    let declared = spec.system(system);
    let mut trusted = Vec::new();
    for part in declared.parts().iter().chain([&system]) {
        let part = spec.system(*part);
        let events = part.assumes.iter().filter(|contract| contract.of_events);
        trusted.extend(events.map(|contract| format!("{} assumes {}", part.name, contract.text)));
    }
    trusted
}

/// Returns `system.guarantee`, with a number if there are several.
pub(super) fn guarantee_name(spec: &Spec, system: SystemId, at: usize) -> String {
    let system = spec.system(system);
    match system.guarantees.len() {
        1 => format!("{}.guarantee", system.name),
        _ => format!("{}.guarantee.{}", system.name, at + 1),
    }
}

/// Returns `component.assume`, with a number if there are several.
pub(super) fn assume_name(spec: &Spec, system: SystemId, at: usize) -> String {
    let system = spec.system(system);
    match system.assumes.len() {
        1 => format!("{}.assume", system.name),
        _ => format!("{}.assume.{}", system.name, at + 1),
    }
}

fn is_probabilistic(spec: &Spec, state: crate::ids::ExprId) -> bool {
    let below = branching::below(&spec.exprs, &spec.formulas, &spec.branchings, [state]);
    below.iter().any(|id| match spec.exprs.get(*id) {
        Expr::Branching(of) => !matches!(spec.branchings.get(*of), Branching::Path { .. }),
        _ => false,
    })
}

/// Returns an answer with its states and commands by their names.
pub(super) fn verdict_of(session: &Session<'_>, answer: Answer, logic: Logic) -> Verdict {
    let explorer = &session.explorer;
    let spec = session.spec;
    let is_counterexample = !answer.holds;
    let run = answer.run.map(|run| Shown {
        is_counterexample,
        bad_prefix: answer.bad_prefix,
        ..shown(spec, explorer, &run)
    });
    let satisfying = answer.satisfying.map(|states| {
        let values = |state: &u32| plain(spec, explorer, *state);
        states.iter().map(values).collect()
    });
    let deadlock = explorer.deadlocks().first().map(|state| {
        let run = Run {
            stem: explorer.way_to(*state),
            cycle: Vec::new(),
        };
        shown(spec, explorer, &run).stem
    });
    Verdict {
        property: String::new(),
        text: String::new(),
        system: String::new(),
        logic,
        holds: Some(answer.holds),
        value: None,
        exact: None,
        states: explorer.len(),
        transitions: explorer.transitions(),
        complete: explorer.is_complete(),
        variables: explorer.layout().names().to_vec(),
        run,
        satisfying,
        deadlocks: explorer.deadlocks().len(),
        deadlock,
        method: Method::Direct,
        trusted: Vec::new(),
        refused: Vec::new(),
    }
}

fn shown(spec: &Spec, explorer: &Explorer<'_>, run: &Run) -> Shown {
    let states: Vec<u32> = run.states().collect();
    let next = |at: usize| match states.get(at + 1) {
        Some(next) => Some(*next),
        None => run.cycle.first().copied(),
    };
    let mut steps: Vec<Step> = states
        .iter()
        .enumerate()
        .map(|(at, state)| Step {
            values: plain(spec, explorer, *state),
            commands: match next(at) {
                Some(next) => {
                    let commands = explorer.commands_between(*state, next);
                    commands.into_iter().map(ToOwned::to_owned).collect()
                }
                None => Vec::new(),
            },
        })
        .collect();
    let cycle = steps.split_off(run.stem.len());
    Shown {
        is_counterexample: true,
        stem: steps,
        cycle,
        bad_prefix: None,
    }
}

fn plain(spec: &Spec, explorer: &Explorer<'_>, state: u32) -> Vec<Plain> {
    let vars: &[StateVarId] = explorer.layout().vars();
    let values = explorer.values(state);
    vars.iter()
        .zip(&values)
        .map(
            |(var, value)| match (spec.state_var(*var).ty.non_null(), value) {
                (_, Value::Null) => Plain::Null,
                (_, Value::Bool(value)) => Plain::Bool(*value),
                (Type::Enum(of), Value::Enum(value)) => Plain::Name(
                    of.values
                        .get(value.index as usize)
                        .cloned()
                        .unwrap_or_default(),
                ),
                (_, Value::Number(number)) => Plain::Int(
                    number
                        .to_int()
                        .and_then(|int| i64::try_from(int).ok())
                        .unwrap_or(0),
                ),
                _ => Plain::Null,
            },
        )
        .collect()
}

impl std::fmt::Display for Plain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Plain::Null => f.write_str("null"),
            Plain::Bool(value) => write!(f, "{value}"),
            Plain::Int(value) => write!(f, "{value}"),
            Plain::Name(name) => f.write_str(name),
        }
    }
}
