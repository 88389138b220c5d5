//! Checking a recorded trace after the fact, against the automaton of the negation.
//!
//! The trace is a finite path. A run of the nondeterministic automaton of `!f` on it that may stop at its end shows that the
//! trace violates `f`, and the letters that the run depends on are the reasons. States are clauses of obligations: strong
//! obligations need another position, so at the end of the trace only clauses without them accept, and no step is repeated to
//! make the path infinite, which would change what `X` and `F` say.
//!
//! The automaton is explored as far as the trace goes. Only states that the trace visits are created, so even formulas whose
//! deterministic automaton exceeds all limits are checked in time proportional to the trace.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::diagram::{Branch, Branches, Ref};
use super::eval::eval_empty;
use super::formula::Letter;
use super::formula::{Atom, FormulaId, Formulas};
use super::limits::{CompileError, LimitError, Limits, Resource, check};
use super::program::{Program, Words};
use super::progress::{Engine, Reading};
use super::registers::NO_REGISTERS;

/// Registers and a clause.
type State = (u32, u32);
/// Atoms and their values.
type Literals = Arc<[(Atom, bool)]>;

/// The reason why a trace violates a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The positions that the violation depends on, in order, with the relevant atoms and their values. No other run of the
    /// automaton needs fewer positions.
    pub needs: Vec<(usize, Letter)>,
    /// The position after which the run has no obligations left, if there is one: no continuation can repair the
    /// violation. The violation may be final earlier.
    pub settled: Option<usize>,
}

/// Checks traces against a formula without its deterministic automaton.
///
/// ```
/// use guard_automata::{Atom, Formulas, Interval, Limits, PathChecker};
/// let mut formulas = Formulas::new();
/// let (used, approved) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
/// let before = formulas.previously(approved);
/// let step = formulas.implies(used, before);
/// let rule = formulas.always(Interval::ALL, step);
/// let mut checker = PathChecker::new(&formulas, rule, &Limits::default())?;
/// // Approved at 1, used at 2 and at 4.
/// let letter = |position: usize, atom: Atom| [2, 4].contains(&position) && atom == Atom(0)
///     || position == 1 && atom == Atom(1);
/// let found = checker.check(6, letter)?.ok_or("it is violated")?;
/// assert_eq!(found.needs.last().map(|(position, _)| *position), Some(4));
/// assert_eq!(found.settled, Some(4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PathChecker {
    engine: Engine,
    limits: Limits,
    /// Whether the empty trace violates the formula.
    empty: bool,
    steps: FxHashMap<State, Ref>,
}

/// The cheapest path by which a run reached a state.
#[derive(Clone, Debug)]
struct Reached {
    /// The number of positions whose letter mattered.
    cost: usize,
    before: usize,
    letter: Literals,
}

impl PathChecker {
    /// Returns a checker of a formula.
    ///
    /// # Errors
    /// [`CompileError::Timed`] if an operator is bounded by time, [`CompileError::Limit`] when the formula itself is beyond
    /// the limits.
    pub fn new(
        formulas: &Formulas,
        formula: FormulaId,
        limits: &Limits,
    ) -> Result<PathChecker, CompileError> {
        if formulas.is_timed(formula) {
            return Err(CompileError::Timed);
        }
        let mut formulas = formulas.clone();
        let negation = formulas.not(formula);
        let program = Arc::new(Program::new(&formulas, negation, Words::Finite, limits)?);
        Ok(PathChecker {
            engine: Engine::new(program, limits),
            limits: limits.clone(),
            empty: eval_empty(&formulas, negation),
            steps: FxHashMap::default(),
        })
    }

    /// Explains why the trace of `len` positions violates the formula. Returns `None` if it satisfies it. `letter(position,
    /// atom)` is the value of an atom.
    ///
    /// # Limits
    /// Time is proportional to the trace and to the clauses that are alive at a position, which [`Limits::states`] bounds.
    ///
    /// # Errors
    /// When a limit is reached.
    pub fn check(
        &mut self,
        len: usize,
        letter: impl Fn(usize, Atom) -> bool,
    ) -> Result<Option<Counterexample>, LimitError> {
        if len == 0 {
            let nothing = Counterexample {
                needs: Vec::new(),
                settled: None,
            };
            return Ok(self.empty.then_some(nothing));
        }
        let mut layers: Vec<IndexMap<State, Reached, FxBuildHasher>> = vec![self.start()?];
        let mut settled = None;
        for position in 0..len {
            let mut next: IndexMap<State, Reached, FxBuildHasher> = IndexMap::default();
            let current = layers.last().map_or(0, IndexMap::len);
            for index in 0..current {
                let Some((&state, reached)) = layers[position].get_index(index) else {
                    continue;
                };
                let cost = reached.cost;
                for (target, literals) in self.successors(state, |atom| letter(position, atom))? {
                    let new = Reached {
                        cost: cost + usize::from(!literals.is_empty()),
                        before: index,
                        letter: literals,
                    };
                    match next.get_mut(&target) {
                        Some(known) if known.cost <= new.cost => {}
                        Some(known) => *known = new,
                        None => {
                            next.insert(target, new);
                        }
                    }
                }
            }
            let n = next.len() as u64;
            check(Resource::States, self.limits.states as u64, n)?;
            let free = next
                .keys()
                .any(|&(_, clause)| self.engine.residuals.clause(clause).is_empty());
            layers.push(next);
            if free {
                settled = Some(position);
                break;
            }
        }
        let Some(last) = layers.last() else {
            return Ok(None);
        };
        let may_stop = |&(_, &(_, clause), _): &(usize, &State, &Reached)| match settled {
            Some(_) => self.engine.residuals.clause(clause).is_empty(),
            None => self.engine.residuals.clause_accepts(clause),
        };
        let ends = last
            .iter()
            .enumerate()
            .map(|(i, (state, reached))| (i, state, reached));
        let Some((mut at, _, _)) = ends
            .filter(may_stop)
            .min_by_key(|(_, _, reached)| reached.cost)
        else {
            return Ok(None);
        };
        let mut needs = Vec::new();
        for (position, layer) in layers.iter().enumerate().skip(1).rev() {
            let Some((_, reached)) = layer.get_index(at) else {
                break;
            };
            if !reached.letter.is_empty() {
                needs.push((position - 1, reached.letter.to_vec()));
            }
            at = reached.before;
        }
        needs.reverse();
        Ok(Some(Counterexample { needs, settled }))
    }

    fn start(&mut self) -> Result<IndexMap<State, Reached, FxBuildHasher>, LimitError> {
        if self.engine.meter.nodes() > self.limits.nodes as u64 / 2 {
            // The tables that were built for other traces may be dropped.
            self.engine = Engine::new(self.engine.program.clone(), &self.limits);
            self.steps.clear();
        }
        let initial = self.engine.initial()?;
        let mut states = IndexMap::default();
        for &(registers, residual) in self.engine.pairs(initial).iter() {
            for &clause in self.engine.residuals.clauses(residual).iter() {
                states.insert(
                    (registers, clause),
                    Reached {
                        cost: 0,
                        before: 0,
                        letter: Arc::from([]),
                    },
                );
            }
        }
        Ok(states)
    }

    /// Returns the states after one position, each with the atoms that the step depends on.
    fn successors(
        &mut self,
        state: State,
        mut holds: impl FnMut(Atom) -> bool,
    ) -> Result<Vec<(State, Literals)>, LimitError> {
        let root = match self.steps.get(&state) {
            Some(&known) => known,
            None => {
                self.engine.meter.restart();
                let Engine {
                    residuals, meter, ..
                } = &mut self.engine;
                let residual = residuals.of_clause(state.1, meter)?;
                let letter = vec![None; self.engine.program.n_vars()];
                let reading = Reading {
                    letter: &letter,
                    time: 0,
                    open: true,
                };
                let root = self.engine.successors((state.0, residual), reading)?;
                self.steps.insert(state, root);
                root
            }
        };
        let program = &self.engine.program;
        let mut found = Vec::new();
        let mut stack = vec![(root, Vec::new())];
        while let Some((at, literals)) = stack.pop() {
            let Some(leaf) = at.as_leaf() else {
                let Branch { var, lo, hi } = self.engine.diagrams.at(at);
                match program.atoms.get(var as usize) {
                    Some(&atom) => {
                        let value = holds(atom);
                        let mut literals = literals;
                        literals.push((atom, value));
                        stack.push((if value { hi } else { lo }, literals));
                    }
                    // A guess may have either value.
                    None => stack.extend([(hi, literals.clone()), (lo, literals)]),
                }
                continue;
            };
            let (registers, residual) = self.engine.pair(leaf);
            let literals: Literals = literals.into();
            for &clause in self.engine.residuals.clauses(residual).iter() {
                let keeps = self
                    .engine
                    .residuals
                    .clause_needs_registers(program, clause);
                let registers = if keeps { registers } else { NO_REGISTERS };
                found.push(((registers, clause), literals.clone()));
            }
        }
        Ok(found)
    }
}
