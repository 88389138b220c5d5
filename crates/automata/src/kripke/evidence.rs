//! Evidence: a run that shows why a formula of branching time holds in a state, or why not.
//!
//! A formula "some run" is shown by such a run; a violated formula "all runs" is shown by a run that breaks it. If the formula
//! at the end of that run is again about runs, the evidence continues from there: the counterexample to `AG (a -> AF b)` leads
//! to `a` and then round a cycle without `b`. A formula "all runs" that holds has no single run as a witness.

use std::convert::Infallible;

use crate::graph::NodeSet;
use crate::omega;
use crate::{Atom, FormulaId, Node};

use super::ctl::{Satisfaction, Simple, StateFormula, StateFormulaId, StateFormulas, simple};
use super::ltl::{CheckError, Found, Limits, find};
use super::{Kripke, Run, Structure};

/// Returns a run from `state` that shows why the formula holds there, or why it does not. Returns `None` if no single run
/// shows it.
///
/// The cycle of the run may be empty: its continuation does not matter then.
///
/// # Limits
/// As the [evaluation](super::ctl::evaluate) that gave the `satisfaction`.
///
/// # Errors
/// [`CheckError`], for path formulas that are more than a single operator.
pub fn explain(
    kripke: &Kripke,
    formulas: &mut StateFormulas,
    satisfaction: &Satisfaction,
    root: StateFormulaId,
    state: u32,
    fair: &[Atom],
    limits: &Limits,
) -> Result<Option<Run>, CheckError<Infallible>> {
    let holds = satisfaction.holds(root, state);
    let mut search = Search {
        kripke,
        satisfaction,
        constraints: fair.iter().map(|atom| kripke.label(*atom)).collect(),
        limits,
        run: Run {
            stem: vec![state],
            cycle: Vec::new(),
        },
        shown: false,
    };
    search.state(formulas, root, state, holds)?;
    Ok(search.shown.then_some(search.run))
}

struct Search<'a> {
    kripke: &'a Kripke,
    satisfaction: &'a Satisfaction,
    constraints: Vec<NodeSet>,
    limits: &'a Limits,
    run: Run,
    /// Whether the run shows anything.
    shown: bool,
}

/// The structure from one state on, whose atoms are state formulas. Fairness atoms are numbered downward from the
/// greatest number.
struct From<'a> {
    kripke: &'a Kripke,
    satisfaction: &'a Satisfaction,
    constraints: &'a [NodeSet],
    start: u32,
}

impl Structure for From<'_> {
    type Error = Infallible;

    fn initial(&mut self) -> Result<Vec<u32>, Infallible> {
        Ok(vec![self.start])
    }

    fn successors(&mut self, state: u32) -> Result<&[u32], Infallible> {
        Ok(self.kripke.graph().successors(state))
    }

    fn holds(&self, state: u32, atom: Atom) -> bool {
        let constraint = self.constraints.get((u32::MAX - atom.0) as usize);
        let set = constraint.or_else(|| self.satisfaction.by_number(atom.0));
        set.is_some_and(|set| set.contains(state as usize))
    }
}

impl Search<'_> {
    /// Shows why a state formula holds, or does not, in the last state of the run.
    fn state(
        &mut self,
        formulas: &mut StateFormulas,
        id: StateFormulaId,
        state: u32,
        holds: bool,
    ) -> Result<(), CheckError<Infallible>> {
        match formulas.get(id) {
            StateFormula::True | StateFormula::Atom(_) => Ok(()),
            StateFormula::Not(a) => self.state(formulas, a, state, !holds),
            StateFormula::And(a, b) | StateFormula::Or(a, b) => {
                // One part that decides the value. If both parts have to be shown, the first one that a run can show.
                let decides = |part: StateFormulaId| self.satisfaction.holds(part, state) == holds;
                let parts: Vec<StateFormulaId> =
                    [a, b].into_iter().filter(|part| decides(*part)).collect();
                self.first_shown(parts, |search, part| {
                    search.state(formulas, part, state, holds)
                })
            }
            StateFormula::Exists(path) if holds => self.path(formulas, path, state),
            StateFormula::All(path) if !holds => {
                let not = formulas.paths.not(path);
                self.path(formulas, not, state)
            }
            StateFormula::Exists(_) | StateFormula::All(_) => Ok(()),
        }
    }

    fn first_shown<T>(
        &mut self,
        parts: Vec<T>,
        mut show: impl FnMut(&mut Self, T) -> Result<(), CheckError<Infallible>>,
    ) -> Result<(), CheckError<Infallible>> {
        let before = (self.run.stem.len(), self.shown);
        for part in parts {
            show(self, part)?;
            if (self.run.stem.len(), self.shown) != before || !self.run.cycle.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Appends a run that satisfies the path formula.
    fn path(
        &mut self,
        formulas: &mut StateFormulas,
        path: FormulaId,
        state: u32,
    ) -> Result<(), CheckError<Infallible>> {
        let shape = simple(&mut formulas.paths, path);
        // The finite run that satisfies `p W q` is better evidence than the infinite one.
        if let Some(Simple::Unless(p, q)) = shape {
            let until = formulas.paths.until(p, crate::Interval::ALL, q);
            if self.found(formulas, until, state, Some(q))? {
                return Ok(());
            }
        }
        let goal = match shape {
            Some(
                Simple::Now(p)
                | Simple::Next(p)
                | Simple::Eventually(_, p)
                | Simple::Until(_, _, p),
            ) => Some(p),
            _ => None,
        };
        self.found(formulas, path, state, goal).map(|_| ())
    }

    /// Searches for a run that satisfies a path formula and appends it; `goal` is the condition at the end of a finite one.
    fn found(
        &mut self,
        formulas: &mut StateFormulas,
        path: FormulaId,
        state: u32,
        goal: Option<FormulaId>,
    ) -> Result<bool, CheckError<Infallible>> {
        let buchi = omega::translate(&formulas.paths, path, &self.limits.automata)
            .map_err(CheckError::Automaton)?;
        let mut from = From {
            kripke: self.kripke,
            satisfaction: self.satisfaction,
            constraints: &self.constraints,
            start: state,
        };
        let fair: Vec<Atom> = (0..self.constraints.len() as u32)
            .map(|n| Atom(u32::MAX - n))
            .collect();
        let (run, _) = find(&mut from, &buchi, &fair, self.limits.pairs)?;
        // The run begins in the state where the evidence ends so far.
        match run {
            None => return Ok(false),
            Some(Found::Run(run)) => {
                self.run.stem.pop();
                self.run.stem.extend(run.stem);
                self.run.cycle = run.cycle;
            }
            Some(Found::Prefix(states)) => {
                self.run.stem.pop();
                self.run.stem.extend(states);
                if let (Some(goal), Some(end)) = (goal, self.run.stem.last().copied()) {
                    self.shown = true;
                    self.goal(formulas, goal, end, true)?;
                }
            }
        }
        self.shown = true;
        Ok(true)
    }

    /// Shows why a path formula without temporal operators holds, or does not, in the last state of the run.
    fn goal(
        &mut self,
        formulas: &mut StateFormulas,
        path: FormulaId,
        state: u32,
        holds: bool,
    ) -> Result<(), CheckError<Infallible>> {
        match formulas.paths.node(path) {
            Node::Atom(atom) => {
                let id = formulas.of_atom(atom);
                self.state(formulas, id, state, holds)
            }
            Node::Not(a) => self.goal(formulas, a, state, !holds),
            Node::And(a, b) | Node::Or(a, b) => {
                let decides = |part: FormulaId| self.value(formulas, part, state) == holds;
                let parts: Vec<FormulaId> =
                    [a, b].into_iter().filter(|part| decides(*part)).collect();
                self.first_shown(parts, |search, part| {
                    search.goal(formulas, part, state, holds)
                })
            }
            _ => Ok(()),
        }
    }

    /// Returns the value of a path formula without temporal operators in a state.
    fn value(&self, formulas: &StateFormulas, path: FormulaId, state: u32) -> bool {
        match formulas.paths.node(path) {
            Node::True => true,
            Node::Atom(atom) => self.satisfaction.holds(formulas.of_atom(atom), state),
            Node::Not(a) => !self.value(formulas, a, state),
            Node::And(a, b) => self.value(formulas, a, state) && self.value(formulas, b, state),
            Node::Or(a, b) => self.value(formulas, a, state) || self.value(formulas, b, state),
            _ => false,
        }
    }
}
