//! The session of one system: its states, built once for all questions about it.

use indexmap::IndexSet;
use num_rational::BigRational;
use rustc_hash::FxBuildHasher;

use crate::hir::system::Contract;
use crate::hir::{Branching, ClaimFormula, Expr, Spec, branching};
use crate::ids::{ExprId, FormulaId, SystemId};
use crate::translate::translate;
use guard_automata::kripke::ctl::{self, StateFormula, StateFormulaId, StateFormulas};
use guard_automata::kripke::ltl::CheckError;
use guard_automata::kripke::{Kripke, Run, evidence, ltl};
use guard_automata::{self, Atom, Formulas, Interval, Node};

use super::chance::decide;
use super::{Explorer, Limits, Program, SystemError, VerifyError};

/// Systems of at most this many states are explored completely, even if the result needs fewer states, so that their
/// size and deadlocks are known.
const EXPLORED: usize = 1 << 17;

/// A system, the conditions on its states, and the fairness of its runs.
pub(super) struct Session<'a> {
    pub(super) spec: &'a Spec,
    pub(super) explorer: Explorer<'a>,
    pub(super) limits: ltl::Limits,
    /// Whether numbers are computed as fractions.
    exact: bool,
    /// The conditions on states that atoms denote.
    atoms: IndexSet<ExprId, FxBuildHasher>,
    /// Only runs on which these atoms recur count.
    fair: Vec<Atom>,
    /// Only runs on which these formulas hold count.
    assumed: Vec<FormulaId>,
    kripke: Option<Kripke>,
}

/// The result of one question.
pub(super) struct Answer {
    pub(super) holds: bool,
    /// A run that shows the result, and whether it is a counterexample.
    pub(super) run: Option<Run>,
    /// The length of the shortest prefix of the run that violates the formula for every continuation.
    pub(super) bad_prefix: Option<usize>,
    /// The states in which a state formula holds.
    pub(super) satisfying: Option<Vec<u32>>,
    /// The number that a formula of probability compares or computes.
    pub(super) value: Option<[f64; 3]>,
    /// The number as a fraction, if it was computed exactly.
    pub(super) exact: Option<String>,
    /// Whether the formula was decided.
    pub(super) decided: bool,
}

impl<'a> Session<'a> {
    /// Explores the initial states. `asked` are the formulas that will be evaluated; of the `assumed` contracts, those about
    /// states restrict the runs.
    pub(super) fn new(
        spec: &'a Spec,
        system: SystemId,
        asked: &[ClaimFormula],
        assumed: &[Contract],
        limits: Limits,
    ) -> Result<Session<'a>, VerifyError> {
        let mut atoms = IndexSet::default();
        let assumed: Vec<FormulaId> = assumed
            .iter()
            .filter(|contract| !contract.of_events)
            .map(|contract| contract.formula)
            .collect();
        let paths = assumed.iter().map(|formula| ClaimFormula::Path(*formula));
        for formula in asked.iter().copied().chain(paths) {
            for state in formula.states(&spec.formulas) {
                conditions(spec, state, &mut atoms);
            }
        }
        let conditions: Vec<ExprId> = atoms.iter().copied().collect();
        let program = Program::new(spec, system, &conditions)?;
        let mut session = Session {
            spec,
            explorer: Explorer::new(spec, program, &conditions, limits)?,
            limits: ltl::Limits {
                pairs: limits.states.saturating_mul(4),
                ..ltl::Limits::default()
            },
            atoms,
            exact: limits.exact,
            fair: Vec::new(),
            assumed: Vec::new(),
            kripke: None,
        };
        for formula in assumed {
            match session.recurring(formula) {
                Some(atom) => session.fair.push(atom),
                None => session.assumed.push(formula),
            }
        }
        session.explorer.explore_to(EXPLORED)?;
        Ok(session)
    }

    /// Returns the atom of `G F a`.
    fn recurring(&self, formula: FormulaId) -> Option<Atom> {
        let mut formulas = Formulas::new();
        let made = self.linear(formula, &mut formulas);
        if let Node::Always(Interval::ALL, inner) = formulas.node(made)
            && let Node::Eventually(Interval::ALL, goal) = formulas.node(inner)
            && let Node::Atom(atom) = formulas.node(goal)
        {
            return Some(atom);
        }
        None
    }

    /// Reports an error if the assumptions exclude every run.
    pub(super) fn has_runs(&mut self) -> Result<(), VerifyError> {
        if self.fair.is_empty() && self.assumed.is_empty() {
            return Ok(());
        }
        let mut formulas = Formulas::new();
        let assumed = self.assumptions(&mut formulas);
        let (fair, limits) = (self.fair.clone(), self.limits.clone());
        let dead = ltl::dead_start(&mut self.explorer, &formulas, assumed, &fair, &limits)
            .map_err(|error| self.verify_error(error))?;
        match dead {
            None => Ok(()),
            Some(state) => Err(VerifyError::Contradictory {
                state: self.explorer.show(state),
            }),
        }
    }

    fn assumptions(&self, formulas: &mut Formulas) -> guard_automata::FormulaId {
        let parts: Vec<guard_automata::FormulaId> = self
            .assumed
            .iter()
            .map(|formula| self.linear(*formula, formulas))
            .collect();
        formulas.all(parts)
    }

    /// Translates a path formula to the atoms of the session.
    pub(super) fn linear(
        &self,
        formula: FormulaId,
        into: &mut Formulas,
    ) -> guard_automata::FormulaId {
        // First over letters; then each letter is replaced by its conditions.
        let letters = self.spec.formulas.atoms_of(formula);
        let place = |letter| {
            letters
                .iter()
                .position(|other| *other == letter)
                .unwrap_or(0)
        };
        let mut over_letters = Formulas::new();
        let atom = |letter| Atom(place(letter) as u32);
        let root = translate(&self.spec.formulas, formula, atom, &mut over_letters);
        substitute(
            &over_letters,
            root,
            into,
            &mut |atom, into| match letters.get(atom.0 as usize) {
                Some(letter) => self.condition(self.spec.atom(*letter).expr, into),
                None => into.falsum(),
            },
        )
    }

    /// Translates a condition without path quantifiers.
    fn condition(&self, id: ExprId, into: &mut Formulas) -> guard_automata::FormulaId {
        if let Some(atom) = self.atoms.get_index_of(&id) {
            return into.atom(Atom(atom as u32));
        }
        match self.spec.exprs.get(id) {
            Expr::Const(crate::value::Value::Bool(true)) => into.verum(),
            Expr::Not(a) => {
                let a = self.condition(*a, into);
                into.not(a)
            }
            Expr::And(a, b) => {
                let (a, b) = (self.condition(*a, into), self.condition(*b, into));
                into.and(a, b)
            }
            Expr::Or(a, b) => {
                let (a, b) = (self.condition(*a, into), self.condition(*b, into));
                into.or(a, b)
            }
            Expr::Implies(a, b) => {
                let (a, b) = (self.condition(*a, into), self.condition(*b, into));
                into.implies(a, b)
            }
            Expr::Iff(a, b) => {
                let (a, b) = (self.condition(*a, into), self.condition(*b, into));
                into.iff(a, b)
            }
            _ => into.falsum(),
        }
    }

    /// Whether all considered runs satisfy a path formula.
    pub(super) fn path(&mut self, formula: FormulaId) -> Result<Answer, VerifyError> {
        let mut formulas = Formulas::new();
        let goal = self.linear(formula, &mut formulas);
        let assumed = self.assumptions(&mut formulas);
        let whole = formulas.implies(assumed, goal);
        let (fair, limits) = (self.fair.clone(), self.limits.clone());
        let found = ltl::check(&mut self.explorer, &mut formulas, whole, &fair, &limits)
            .map_err(|error| self.verify_error(error))?;
        Ok(Answer {
            holds: found.counterexample.is_none(),
            run: found.counterexample,
            bad_prefix: found.bad_prefix,
            satisfying: None,
            value: None,
            exact: None,
            decided: true,
        })
    }

    /// Returns the states in which a formula of branching time holds, and whether it holds in all initial ones.
    pub(super) fn state(&mut self, formula: ExprId) -> Result<Answer, VerifyError> {
        if !self.assumed.is_empty() {
            return Err(VerifyError::FairnessOfPaths);
        }
        if self.kripke.is_none() {
            self.kripke = Some(self.explorer.kripke()?);
        }
        let mut formulas = StateFormulas::new();
        let root = self.branching(formula, &mut formulas);
        let Some(kripke) = &self.kripke else {
            return Err(VerifyError::System(SystemError::NoInitial));
        };
        let found = ctl::evaluate(kripke, &mut formulas, root, &self.fair, &self.limits)
            .map_err(|error| graph_error(self.spec, error))?;
        let fails = kripke
            .initial()
            .iter()
            .find(|state| !found.holds(root, **state));
        let from = fails.or(kripke.initial().first()).copied();
        let mut run = None;
        if let Some(state) = from {
            run = evidence::explain(
                kripke,
                &mut formulas,
                &found,
                root,
                state,
                &self.fair,
                &self.limits,
            )
            .map_err(|error| graph_error(self.spec, error))?;
        }
        if let (None, Some(state)) = (&run, fails) {
            run = Some(Run {
                stem: vec![*state],
                cycle: Vec::new(),
            });
        }
        let satisfying = found
            .of(root)
            .map(|set| set.ones().map(|state| state as u32).collect());
        Ok(Answer {
            holds: fails.is_none(),
            run,
            bad_prefix: None,
            satisfying,
            value: None,
            exact: None,
            decided: true,
        })
    }

    /// Evaluates a formula of probability on the system as a chain.
    pub(super) fn chance(&mut self, formula: ExprId) -> Result<Answer, VerifyError> {
        if !self.assumed.is_empty() || !self.fair.is_empty() {
            return Err(VerifyError::FairnessOfChance);
        }
        if self.kripke.is_none() {
            self.kripke = Some(self.explorer.kripke()?);
        }
        let Some(kripke) = &self.kripke else {
            return Err(VerifyError::System(SystemError::NoInitial));
        };
        let decide = match self.exact {
            true => decide::<BigRational>,
            false => decide::<f64>,
        };
        let found = decide(
            self.spec,
            &self.explorer,
            kripke.graph(),
            &self.atoms,
            formula,
            kripke.initial(),
        )?;
        Ok(Answer {
            holds: found.holds.unwrap_or(true),
            run: None,
            bad_prefix: None,
            satisfying: found.satisfying,
            value: found.value,
            exact: found.exact,
            decided: found.holds.is_some(),
        })
    }

    /// Translates a state formula with its path quantifiers.
    fn branching(&self, id: ExprId, into: &mut StateFormulas) -> StateFormulaId {
        if let Some(atom) = self.atoms.get_index_of(&id) {
            return into.add(StateFormula::Atom(Atom(atom as u32)));
        }
        match self.spec.exprs.get(id) {
            Expr::Const(crate::value::Value::Bool(true)) => into.add(StateFormula::True),
            Expr::Not(a) => {
                let a = self.branching(*a, into);
                into.add(StateFormula::Not(a))
            }
            Expr::And(a, b) => {
                let (a, b) = (self.branching(*a, into), self.branching(*b, into));
                into.add(StateFormula::And(a, b))
            }
            Expr::Or(a, b) => {
                let (a, b) = (self.branching(*a, into), self.branching(*b, into));
                into.add(StateFormula::Or(a, b))
            }
            Expr::Implies(a, b) => {
                let (a, b) = (self.branching(*a, into), self.branching(*b, into));
                let not = into.add(StateFormula::Not(a));
                into.add(StateFormula::Or(not, b))
            }
            Expr::Iff(a, b) => {
                let (a, b) = (self.branching(*a, into), self.branching(*b, into));
                let (not_a, not_b) = (
                    into.add(StateFormula::Not(a)),
                    into.add(StateFormula::Not(b)),
                );
                let both = into.add(StateFormula::And(a, b));
                let neither = into.add(StateFormula::And(not_a, not_b));
                into.add(StateFormula::Or(both, neither))
            }
            Expr::Branching(branching) => match self.spec.branchings.get(*branching) {
                Branching::Path { all, path } => {
                    let path = self.path_of(*path, into);
                    into.add(match all {
                        true => StateFormula::All(path),
                        false => StateFormula::Exists(path),
                    })
                }
                // Formulas of probability are decided by another engine, so they do not occur here.
                _ => never(into),
            },
            _ => never(into),
        }
    }

    /// Translates a path formula whose atoms are state formulas.
    fn path_of(&self, path: FormulaId, into: &mut StateFormulas) -> guard_automata::FormulaId {
        let mut states = Vec::new();
        for letter in self.spec.formulas.atoms_of(path) {
            let state = self.branching(self.spec.atom(letter).expr, into);
            states.push((letter, state));
        }
        let never = never(into);
        let of = |letter| {
            states
                .iter()
                .find(|(known, _)| *known == letter)
                .map_or(never, |(_, state)| *state)
        };
        let atom = |letter| Atom(of(letter).index() as u32);
        translate(&self.spec.formulas, path, atom, &mut into.paths)
    }

    fn verify_error(&self, error: CheckError<SystemError>) -> VerifyError {
        match error {
            CheckError::Structure(error) => VerifyError::System(error),
            CheckError::Automaton(error) => VerifyError::Formula(error),
            CheckError::Pairs(limit) => VerifyError::Product { limit },
        }
    }
}

fn graph_error(_: &Spec, error: CheckError<std::convert::Infallible>) -> VerifyError {
    match error {
        CheckError::Structure(never) => match never {},
        CheckError::Automaton(error) => VerifyError::Formula(error),
        CheckError::Pairs(limit) => VerifyError::Product { limit },
    }
}

fn never(into: &mut StateFormulas) -> StateFormulaId {
    let verum = into.add(StateFormula::True);
    into.add(StateFormula::Not(verum))
}

/// Collects the conditions on states of a state formula. Conditions are kept whole, so that formulas have few atoms; only
/// those that contain a quantifier over paths, or a label of the system, are split.
pub(super) fn conditions(spec: &Spec, id: ExprId, into: &mut IndexSet<ExprId, FxBuildHasher>) {
    match spec.exprs.get(id) {
        Expr::Branching(of) => {
            for state in spec.branchings.get(*of).states(&spec.formulas) {
                conditions(spec, state, into);
            }
        }
        Expr::Not(_) | Expr::And(..) | Expr::Or(..) | Expr::Implies(..) | Expr::Iff(..)
            if is_compound(spec, id) =>
        {
            for operand in spec.exprs.operands(id) {
                conditions(spec, operand, into);
            }
        }
        _ => {
            into.insert(id);
        }
    }
}

fn is_compound(spec: &Spec, id: ExprId) -> bool {
    let below = branching::below(&spec.exprs, &spec.formulas, &spec.branchings, [id]);
    below
        .iter()
        .any(|id| matches!(spec.exprs.get(*id), Expr::Branching(_) | Expr::Label(_)))
}

/// Returns a formula with its atoms replaced.
fn substitute(
    from: &Formulas,
    root: guard_automata::FormulaId,
    into: &mut Formulas,
    replace: &mut dyn FnMut(Atom, &mut Formulas) -> guard_automata::FormulaId,
) -> guard_automata::FormulaId {
    let parts = from.parts(root);
    let mut made: Vec<guard_automata::FormulaId> = Vec::with_capacity(parts.len());
    for part in &parts {
        let falsum = into.falsum();
        let of =
            |id: guard_automata::FormulaId| parts.binary_search(&id).map_or(falsum, |at| made[at]);
        let new = match from.node(*part) {
            Node::True => into.verum(),
            Node::False => falsum,
            Node::Atom(atom) => replace(atom, into),
            Node::Not(f) => into.not(of(f)),
            Node::And(f, g) => into.and(of(f), of(g)),
            Node::Or(f, g) => into.or(of(f), of(g)),
            Node::Next(f) => into.next(of(f)),
            Node::WeakNext(f) => into.weak_next(of(f)),
            Node::Eventually(window, f) => into.eventually(window, of(f)),
            Node::Always(window, f) => into.always(window, of(f)),
            Node::Until(f, window, g) => into.until(of(f), window, of(g)),
            Node::Previously(f) => into.previously(of(f)),
            Node::WeakPreviously(f) => into.weak_previously(of(f)),
            Node::Once(window, f) => into.once(window, of(f)),
            Node::Historically(window, f) => into.historically(window, of(f)),
            Node::Since(f, g) => into.since(of(f), of(g)),
        };
        made.push(new);
    }
    made.pop().unwrap_or(root)
}
