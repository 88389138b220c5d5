//! The automata of a program. Properties of one form, such as the uses of a template, share an automaton.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::compile::compile;
use super::limits::Limits;
use super::monitor::{Automaton, Status};
use crate::hir::Spec;
use guard_automata::{Atom, Dfa, FormulaId, Formulas, LimitError, Node};

/// The automata of a spec as built by another process within the default limits. Building them takes most of the time of
/// compiling a spec.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct KeptAutomata {
    all: Vec<(Form, KeptAutomaton)>,
}

/// The parts of [`Automaton::Dfa`].
#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeptAutomaton {
    dfa: Dfa,
    statuses: Box<[Status]>,
    violated: Box<[bool]>,
}

impl KeptAutomata {
    /// Builds the automata of a spec. Automata beyond the default limits are left out.
    pub fn of(spec: &Arc<Spec>) -> KeptAutomata {
        let limits = Limits::default();
        let mut automata = Automata::new(&limits, &KeptAutomata::default());
        // A formula beyond a limit is compiled, or rejected, by the process that judges.
        let _ = compile(Arc::clone(spec), &[], &limits, true, &mut automata);
        let kept = |(form, automaton): (Form, Arc<Automaton>)| match &*automaton {
            Automaton::Dfa {
                dfa,
                statuses,
                violated,
                ..
            } => {
                let (dfa, statuses) = (dfa.clone(), statuses.clone());
                let violated = violated.clone();
                let kept = KeptAutomaton {
                    dfa,
                    statuses,
                    violated,
                };
                Some((form, kept))
            }
            Automaton::CounterStates(..) => None,
        };
        let mut all: Vec<(Form, KeptAutomaton)> =
            automata.known.into_iter().filter_map(kept).collect();
        all.sort_by_cached_key(|(form, _)| format!("{form:?}"));
        KeptAutomata { all }
    }
}

impl KeptAutomaton {
    /// Returns the automaton; `None` if its parts do not fit together.
    fn automaton(&self) -> Option<Automaton> {
        let n_states = self.dfa.len();
        let fits = self.statuses.len() == n_states && self.violated.len() == n_states;
        fits.then(|| Automaton::Dfa {
            states: self.dfa.states().collect(),
            dfa: self.dfa.clone(),
            statuses: self.statuses.clone(),
            violated: self.violated.clone(),
        })
    }
}

/// The automata built so far, by the nodes of their formulas.
#[derive(Debug)]
pub(super) struct Automata<'l> {
    limits: &'l Limits,
    known: FxHashMap<Form, Arc<Automaton>>,
}

/// An arena, a formula in it, and the start atom if the formula is monitored again after violations.
type Form = (Box<[Node]>, FormulaId, Option<Atom>);

impl<'l> Automata<'l> {
    /// Returns an empty set of automata, or those of `kept` if `limits` are the limits under which they were built.
    pub(super) fn new(limits: &'l Limits, kept: &KeptAutomata) -> Automata<'l> {
        let usual = Limits::default();
        let same = limits.unrolled == usual.unrolled && limits.automata == usual.automata;
        let kept = kept.all.iter().filter(|_| same);
        let known = kept.filter_map(|(form, kept)| {
            let automaton = kept.automaton()?;
            Some((form.clone(), Arc::new(automaton)))
        });
        Automata {
            limits,
            known: known.collect(),
        }
    }

    /// Returns the automaton of a formula.
    pub(super) fn of(
        &mut self,
        formulas: &Formulas,
        formula: FormulaId,
    ) -> Result<Arc<Automaton>, LimitError> {
        self.find((formulas.nodes().collect(), formula, None), |limits| {
            Automaton::new(formulas, formula, limits)
        })
    }

    /// See [`Automaton::recurring`].
    pub(super) fn recurring(
        &mut self,
        formulas: &Formulas,
        formula: FormulaId,
        start: Atom,
    ) -> Result<Arc<Automaton>, LimitError> {
        self.find(
            (formulas.nodes().collect(), formula, Some(start)),
            |limits| Automaton::recurring(formulas, formula, start, limits),
        )
    }

    fn find(
        &mut self,
        form: Form,
        make: impl FnOnce(&Limits) -> Result<Automaton, LimitError>,
    ) -> Result<Arc<Automaton>, LimitError> {
        if let Some(known) = self.known.get(&form) {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(make(self.limits)?);
        self.known.insert(form, Arc::clone(&made));
        Ok(made)
    }
}
