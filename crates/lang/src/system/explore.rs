//! The reachable states, built on demand.

use std::ops::ControlFlow;

use num_rational::BigRational;

use crate::hir::system::DomainKind;
use crate::hir::{Expr, Spec};
use crate::ids::ExprId;
use crate::types::Type;
use crate::value::Value;
use guard_automata::Atom;
use guard_automata::graph::{Digraph, DigraphBuilder, NodeSet};
use guard_automata::kripke::{Kripke, Structure};

use super::code::{Compiler, Fault, Test};
use super::exact::Exact;
use super::initial::initial_states;
use super::layout::Layout;
use super::program::Wrong;
use super::states::States;
use super::{Limits, Program, SystemError};

/// Marks a row that was not computed yet.
const NOT_MADE: u32 = u32::MAX;

/// The condition of an atom on a state.
enum Asked {
    Test(Test),
    /// `"init"`
    Initial,
    /// `"deadlock"`: no command is enabled.
    Deadlock,
}

impl Asked {
    fn may_fail(&self) -> bool {
        matches!(self, Asked::Test(test) if !test.is_safe())
    }
}

/// The states of a system that were found so far, and the successors of those that were expanded.
///
/// Atom `n` is the `n`-th condition with which the explorer was created.
pub(crate) struct Explorer<'a> {
    spec: &'a Spec,
    program: Program,
    limits: Limits,
    atoms: Vec<Asked>,
    /// Atoms that may have no value in some state.
    unsafe_atoms: Vec<usize>,
    states: States,
    initial: Vec<u32>,
    /// For each state: the start and the number of its successors.
    rows: Vec<(u32, u32)>,
    targets: Vec<u32>,
    deadlocks: Vec<u32>,
    scratch: Vec<u64>,
    fresh: Vec<u64>,
}

impl std::fmt::Debug for Explorer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Explorer");
        shown
            .field("states", &self.len())
            .field("transitions", &self.transitions());
        shown.finish_non_exhaustive()
    }
}

impl<'a> Explorer<'a> {
    /// Returns the initial states of a system; `atoms` are the conditions that labels will need.
    ///
    /// # Errors
    /// [`SystemError`], if there are no initial states, or too many.
    pub(crate) fn new(
        spec: &'a Spec,
        program: Program,
        atoms: &[ExprId],
        limits: Limits,
    ) -> Result<Explorer<'a>, SystemError> {
        let mut compiler = Compiler::new(&spec.exprs, &program.layout);
        let atoms: Vec<Asked> = atoms
            .iter()
            .map(|atom| match spec.exprs.get(*atom) {
                Expr::Label(label) if label == "init" => Asked::Initial,
                Expr::Label(_) => Asked::Deadlock,
                _ => Asked::Test(compiler.test(*atom)),
            })
            .collect();
        let initial = initial_states(spec, &program, limits.states)?;
        // States and transitions are numbered with 32 bits; the last number is reserved for "none".
        let largest = u32::MAX as usize - 1;
        let limits = Limits {
            states: limits.states.min(largest),
            transitions: limits.transitions.min(largest),
            ..limits
        };
        let mut explorer = Explorer {
            spec,
            limits,
            unsafe_atoms: (0..atoms.len())
                .filter(|at| atoms[*at].may_fail())
                .collect(),
            atoms,
            states: States::new(program.layout.words()),
            program,
            initial: Vec::new(),
            rows: Vec::new(),
            targets: Vec::new(),
            deadlocks: Vec::new(),
            scratch: Vec::new(),
            fresh: Vec::new(),
        };
        for state in initial {
            let (number, _) = explorer.states.insert(&state);
            explorer.initial.push(number);
        }
        explorer.rows.resize(explorer.states.len(), (NOT_MADE, 0));
        Ok(explorer)
    }

    /// Returns the layout of packed states, with the names of the variables.
    pub(crate) fn layout(&self) -> &Layout {
        &self.program.layout
    }

    /// Whether every found state was expanded.
    pub(crate) fn is_complete(&self) -> bool {
        self.rows.iter().all(|(start, _)| *start != NOT_MADE)
    }

    /// Returns the number of states found.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// Returns the number of transitions found.
    pub(crate) fn transitions(&self) -> usize {
        self.targets.len()
    }

    /// Returns the expanded states in which no command is enabled.
    pub(crate) fn deadlocks(&self) -> &[u32] {
        &self.deadlocks
    }

    /// Returns the values of the variables in a state.
    pub(crate) fn values(&self, state: u32) -> Vec<Value> {
        self.program.layout.values(self.states.get(state))
    }

    /// Makes every reachable state.
    ///
    /// # Errors
    /// [`SystemError`]
    pub(crate) fn explore(&mut self) -> Result<(), SystemError> {
        self.explore_to(usize::MAX)
    }

    /// Expands states in the order in which they were found, until more than this many are known.
    ///
    /// # Errors
    /// [`SystemError`]
    pub(crate) fn explore_to(&mut self, states: usize) -> Result<(), SystemError> {
        let mut next = 0;
        while next < self.states.len() && self.states.len() <= states {
            self.expand(next as u32)?;
            next += 1;
        }
        Ok(())
    }

    /// Returns all reachable states as a structure at hand, with the same numbers.
    ///
    /// # Errors
    /// [`SystemError`]
    pub(crate) fn kripke(&mut self) -> Result<Kripke, SystemError> {
        self.explore()?;
        let mut graph = DigraphBuilder::with_capacity(self.len(), self.targets.len());
        for (start, len) in &self.rows {
            for target in &self.targets[*start as usize..(*start + *len) as usize] {
                graph.edge(*target);
            }
            graph.end_row();
        }
        let limit = self.limits.transitions;
        let graph: Digraph = graph
            .finish()
            .map_err(|_| SystemError::Transitions { limit })?;
        let labels: Vec<NodeSet> = (0..self.atoms.len() as u32)
            .map(|atom| {
                graph.set((0..self.len() as u32).filter(|state| self.holds(*state, Atom(atom))))
            })
            .collect();
        Ok(Kripke::new(graph, self.initial.clone(), labels))
    }

    /// Returns the names of the commands that lead from one state to another, in order.
    pub(crate) fn commands_between(&self, from: u32, to: u32) -> Vec<&str> {
        let (from, to) = (self.states.get(from), self.states.get(to));
        let mut names: Vec<&str> = Vec::new();
        let mut scratch = Vec::new();
        // Errors here were already reported when the state was expanded.
        let _ = self.program.enabled(from, |number| {
            let mut leads = false;
            self.program.fire(number, from, &mut scratch, |_, next| {
                leads |= next == to;
                match leads {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })?;
            let name = self.program.commands[number].as_str();
            if leads && !names.contains(&name) {
                names.push(name);
            }
            Ok(())
        });
        names
    }

    /// Returns a shortest run from an initial state to a found state, through expanded states.
    pub(crate) fn way_to(&self, state: u32) -> Vec<u32> {
        let mut before = vec![NOT_MADE; self.len()];
        let mut open: std::collections::VecDeque<u32> = self.initial.iter().copied().collect();
        for start in &self.initial {
            before[*start as usize] = *start;
        }
        while let Some(here) = open.pop_front() {
            if here == state {
                break;
            }
            let (start, len) = self.rows[here as usize];
            if start == NOT_MADE {
                continue;
            }
            for next in &self.targets[start as usize..(start + len) as usize] {
                if before[*next as usize] == NOT_MADE {
                    before[*next as usize] = here;
                    open.push_back(*next);
                }
            }
        }
        let mut way = vec![state];
        let mut at = state;
        while before[at as usize] != NOT_MADE && before[at as usize] != at {
            at = before[at as usize];
            way.push(at);
        }
        way.reverse();
        way
    }

    /// Returns a readable form of a state.
    pub(crate) fn show(&self, state: u32) -> String {
        show(self.spec, &self.program.layout, self.states.get(state))
    }

    /// Expands a state if that was not done yet.
    fn expand(&mut self, state: u32) -> Result<(), SystemError> {
        if self.rows[state as usize].0 != NOT_MADE {
            return Ok(());
        }
        let start = self.targets.len();
        let mut from = std::mem::take(&mut self.fresh);
        from.clear();
        from.extend_from_slice(self.states.get(state));
        for atom in &self.unsafe_atoms {
            if let Asked::Test(test) = &self.atoms[*atom]
                && let Err(fault) = test.eval(&from)
            {
                return Err(SystemError::Fault {
                    what: "the formula has no value".to_owned(),
                    state: show(self.spec, &self.program.layout, &from),
                    fault,
                });
            }
        }
        let chances = self.chances(&from)?.map(|(_, chances)| chances);
        let impossible = |branch: usize| {
            chances
                .as_ref()
                .is_some_and(|chances| chances.get(branch) == Some(&0.0))
        };
        let mut scratch = std::mem::take(&mut self.scratch);
        let (states, targets) = (&mut self.states, &mut self.targets);
        let (max_states, max_transitions) = (self.limits.states, self.limits.transitions);
        let result = self.program.enabled(&from, |number| {
            self.program
                .fire(number, &from, &mut scratch, |branch, next| {
                    if impossible(branch) {
                        return ControlFlow::Continue(());
                    }
                    let (target, _) = states.insert(next);
                    targets.push(target);
                    // Beyond the limits the search ends below.
                    match states.len() > max_states || targets.len() > max_transitions {
                        true => ControlFlow::Break(()),
                        false => ControlFlow::Continue(()),
                    }
                })
        });
        self.scratch = scratch;
        if let Err(wrong) = result {
            return Err(self.error(&from, wrong));
        }
        if self.states.len() > max_states {
            return Err(SystemError::States {
                limit: max_states,
                space: self.program.layout.space(),
            });
        }
        if self.targets.len() > max_transitions {
            let limit = max_transitions;
            return Err(SystemError::Transitions { limit });
        }
        distinct(&mut self.targets, start);
        if self.targets.len() == start {
            self.deadlocks.push(state);
            self.targets.push(state);
        }
        self.fresh = from;
        self.rows.resize(self.states.len(), (NOT_MADE, 0));
        self.rows[state as usize] = (start as u32, (self.targets.len() - start) as u32);
        Ok(())
    }

    /// Returns the only enabled command in a state of a system with probabilities, and the probabilities of its branches.
    fn chances(&self, state: &[u64]) -> Result<Option<(usize, Vec<f64>)>, SystemError> {
        let Some(number) = self.only(state)? else {
            return Ok(None);
        };
        let chances = self.program.chances(&self.spec.exprs, number, state);
        let chances = chances.map_err(|wrong| self.error(state, wrong))?;
        Ok(Some((number, chances)))
    }

    /// Returns the only enabled command in a state of a system with probabilities.
    fn only(&self, state: &[u64]) -> Result<Option<usize>, SystemError> {
        if !self.program.has_chances {
            return Ok(None);
        }
        let mut enabled = Vec::new();
        let found = self.program.enabled(state, |number| {
            enabled.push(number);
            Ok(())
        });
        found.map_err(|wrong| self.error(state, wrong))?;
        let [number] = enabled.as_slice() else {
            return Err(SystemError::NotOne {
                state: show(self.spec, &self.program.layout, state),
                commands: enabled
                    .iter()
                    .map(|number| self.program.commands[*number].to_string())
                    .collect(),
            });
        };
        Ok(Some(*number))
    }

    /// Returns the successors of an expanded state of a system with probabilities, with their probabilities; a state may
    /// occur more than once.
    ///
    /// # Errors
    /// [`SystemError`]
    pub(crate) fn distribution(&self, state: u32) -> Result<Vec<(u32, f64)>, SystemError> {
        let from = self.states.get(state);
        match self.chances(from)? {
            Some((number, chances)) => self.row(from, number, &chances),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the same with exact fractions.
    ///
    /// # Errors
    /// [`SystemError`]
    pub(crate) fn exact_distribution(
        &self,
        state: u32,
    ) -> Result<Vec<(u32, BigRational)>, SystemError> {
        let from = self.states.get(state);
        let Some(number) = self.only(from)? else {
            return Ok(Vec::new());
        };
        let chances = self.program.exact_chances(&self.spec.exprs, number, from);
        let chances = chances.map_err(|wrong| self.error(from, wrong))?;
        self.row(from, number, &chances)
    }

    /// Returns the successors by the branches of a command, with the given probabilities; branches of probability zero are
    /// left out.
    fn row<V: Clone + num_traits::Zero>(
        &self,
        from: &[u64],
        number: usize,
        chances: &[V],
    ) -> Result<Vec<(u32, V)>, SystemError> {
        let mut row = Vec::new();
        let mut scratch = Vec::new();
        let fired = self
            .program
            .fire(number, from, &mut scratch, |branch, next| {
                let chance = chances.get(branch).filter(|chance| !chance.is_zero());
                if let (Some(chance), Some(target)) = (chance, self.states.find(next)) {
                    row.push((target, chance.clone()));
                }
                ControlFlow::Continue(())
            });
        fired.map_err(|wrong| self.error(from, wrong))?;
        Ok(row)
    }

    /// Returns the reward structures of the system.
    pub(crate) fn rewards(&self) -> &[crate::hir::system::Reward] {
        &self.program.rewards
    }

    /// Returns the reward of each state.
    ///
    /// # Errors
    /// [`SystemError::Fault`]
    pub(crate) fn earned(&self, reward: ExprId) -> Result<Vec<BigRational>, SystemError> {
        let mut compiler = Compiler::new(&self.spec.exprs, &self.program.layout);
        let exact = Exact::new(&mut compiler, reward);
        let of = |state: u32| {
            let state = self.states.get(state);
            exact
                .eval(&self.spec.exprs, state)
                .map_err(|fault| SystemError::Fault {
                    what: "a reward has no value".to_owned(),
                    state: show(self.spec, &self.program.layout, state),
                    fault,
                })
        };
        (0..self.len() as u32).map(of).collect()
    }

    fn error(&self, state: &[u64], wrong: Wrong) -> SystemError {
        wrong.into_error(self.spec, &self.program, state)
    }
}

impl Structure for Explorer<'_> {
    type Error = SystemError;

    fn initial(&mut self) -> Result<Vec<u32>, SystemError> {
        Ok(self.initial.clone())
    }

    #[inline]
    fn successors(&mut self, state: u32) -> Result<&[u32], SystemError> {
        self.expand(state)?;
        let (start, len) = self.rows[state as usize];
        Ok(&self.targets[start as usize..(start + len) as usize])
    }

    #[inline]
    fn holds(&self, state: u32, atom: Atom) -> bool {
        match self.atoms.get(atom.0 as usize) {
            // An atom without a value is reported when the state is expanded.
            Some(Asked::Test(test)) => test.eval(self.states.get(state)) == Ok(true),
            Some(Asked::Initial) => (state as usize) < self.initial.len(),
            Some(Asked::Deadlock) => {
                let stop = |_| Err(Wrong::Guard(0, Fault::Unsupported));
                self.program.enabled(self.states.get(state), stop).is_ok()
            }
            None => false,
        }
    }
}

/// Removes repeated targets from `start` on.
fn distinct(targets: &mut Vec<u32>, start: usize) {
    let n = targets.len() - start;
    if n > 16 {
        targets[start..].sort_unstable();
        let mut kept = start + 1;
        for at in start + 1..targets.len() {
            if targets[at] != targets[kept - 1] {
                targets[kept] = targets[at];
                kept += 1;
            }
        }
        targets.truncate(kept);
        return;
    }
    let mut kept = start;
    for at in start..targets.len() {
        if !targets[start..kept].contains(&targets[at]) {
            targets[kept] = targets[at];
            kept += 1;
        }
    }
    targets.truncate(kept);
}

impl Wrong {
    /// Returns the error, with the state and the command by their names.
    pub(super) fn into_error(self, spec: &Spec, program: &Program, state: &[u64]) -> SystemError {
        let shown = show(spec, &program.layout, state);
        match self {
            Wrong::Chance(command, fault) => SystemError::Fault {
                what: format!(
                    "a probability of `{}` has no value",
                    program.commands[command]
                ),
                state: shown,
                fault,
            },
            Wrong::NoProbability(command, value) => SystemError::Chance {
                command: program.commands[command].to_string(),
                what: format!("has probability {value}, which is not between 0 and 1,"),
                state: shown,
            },
            Wrong::Sum(command, sum) => SystemError::Chance {
                command: program.commands[command].to_string(),
                what: format!("has probabilities with sum {sum} instead of 1,"),
                state: shown,
            },
            Wrong::Guard(command, fault) => SystemError::Fault {
                what: format!("the guard of `{}` has no value", program.commands[command]),
                state: shown,
                fault,
            },
            Wrong::Value(command, var, fault) => {
                let (command, var) = (&program.commands[command], &spec.state_var(var).name);
                SystemError::Fault {
                    what: format!("`{command}` has no value for `{var}`"),
                    state: shown,
                    fault,
                }
            }
            Wrong::Range(command, var, value) => {
                let declared = spec.state_var(var);
                let values = match declared.domain.kind {
                    DomainKind::Int(low, high) => format!("{low}..{high}"),
                    _ => declared.ty.to_string(),
                };
                let value = match value {
                    super::layout::NULL => "null".to_owned(),
                    value => value.to_string(),
                };
                SystemError::Range {
                    command: program.commands[command].to_string(),
                    var: declared.name.to_string(),
                    value: format!("{value}, which is not in its range {values},"),
                    state: shown,
                }
            }
        }
    }
}

/// Returns a readable form of a state: `mode = idle, n = 3`.
pub(super) fn show(spec: &Spec, layout: &Layout, state: &[u64]) -> String {
    let values = layout.values(state);
    let parts: Vec<String> = layout
        .vars()
        .iter()
        .zip(layout.names())
        .zip(&values)
        .map(|((var, name), value)| format!("{name} = {}", shown(&spec.state_var(*var).ty, value)))
        .collect();
    parts.join(", ")
}

/// Returns a value by the names of its type.
pub(super) fn shown(ty: &Type, value: &Value) -> String {
    match (ty.non_null(), value) {
        (Type::Enum(of), Value::Enum(value)) => {
            let name = of.values.get(value.index as usize);
            name.map_or_else(|| value.index.to_string(), ToString::to_string)
        }
        (_, value) => value.to_string(),
    }
}
