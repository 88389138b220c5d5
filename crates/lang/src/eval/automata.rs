//! The automata of a program: properties of one form, such as the uses of a template, share theirs.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::limits::Limits;
use super::monitor::Automaton;
use guard_automata::{Atom, FormulaId, Formulas, LimitError, Node};

/// The automata so far, by the nodes of the formula.
#[derive(Debug)]
pub(super) struct Automata<'l> {
    limits: &'l Limits,
    known: FxHashMap<Form, Arc<Automaton>>,
}

/// An arena and a formula of it, which recurs if there is an atom that starts it.
type Form = (Box<[Node]>, FormulaId, Option<Atom>);

impl<'l> Automata<'l> {
    pub(super) fn new(limits: &'l Limits) -> Automata<'l> {
        Automata {
            limits,
            known: FxHashMap::default(),
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
