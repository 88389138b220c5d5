//! The relation of a property to an automaton from another tool.

use std::borrow::Cow;

use super::relation::{Asking, Comparison, Relation, Semantics, Trace};
use super::theory;
use crate::domain::Work;
use crate::hir::Spec;
use crate::ids;
use crate::translate::{atom, translate};
use guard_automata::{self, Dfa, Traces, compile, omega::Buchi};

/// An automaton whose atoms have the numbers of a spec's letters.
#[derive(Clone, Debug)]
pub enum Foreign {
    /// An automaton over finite traces.
    Finite(Dfa),
    /// Automata over infinite traces: one for its words, and one for all others.
    Infinite {
        /// The words that it accepts.
        words: Box<Buchi>,
        /// The words that it does not accept.
        others: Box<Buchi>,
    },
}

/// Compares a formula of a spec with an automaton, over the traces that the automaton is about. Combinations of letters that no
/// event produces are excluded, as far as that is decided.
///
/// # Errors
/// A message that names the exceeded limit, or bounds in time.
pub fn compare_automaton(
    spec: &Spec,
    formula: ids::FormulaId,
    automaton: &Foreign,
    limits: &guard_automata::Limits,
) -> Result<Comparison, String> {
    if spec.formulas.is_timed(formula) {
        return Err("one of them has bounds in time, which automata do not support".to_owned());
    }
    let (forth, back, common) = match automaton {
        Foreign::Finite(dfa) => finite(spec, formula, dfa, limits)?,
        Foreign::Infinite { words, others } => {
            let mut asking = Asking::new(spec, Semantics::Infinite, limits);
            let this = translate(&spec.formulas, formula, atom, &mut asking.formulas);
            let not = asking.formulas.not(this);
            let forth = asking.trace_with(this, Some(others))?;
            let back = asking.trace_with(not, Some(words))?;
            let apart = forth.is_some() && back.is_some();
            let common = apart && asking.trace_with(this, Some(words))?.is_some();
            (forth, back, common)
        }
    };
    Relation::decided(forth, back, || Ok(common))
}

/// Returns a trace of the formula only, a trace of the automaton only, and whether there is a trace of both.
fn finite(
    spec: &Spec,
    formula: ids::FormulaId,
    dfa: &Dfa,
    limits: &guard_automata::Limits,
) -> Result<(Option<Trace>, Option<Trace>, bool), String> {
    let mut formulas = guard_automata::Formulas::new();
    let root = translate(&spec.formulas, formula, atom, &mut formulas);
    let this = compile(&formulas, root, limits).map_err(|error| error.to_string())?;
    let mut work = Work::new(2_000_000, 50_000);
    let mut search = |first: &Dfa, second: &Dfa| -> Result<Option<Trace>, String> {
        let mut first = Cow::Borrowed(first);
        for _ in 0..super::relation::ROUNDS {
            let found = first.search(second, Traces::NonEmpty, |a, b| a && b, limits);
            let Some(word) = found.map_err(|error| format!("the automaton {error}"))? else {
                return Ok(None);
            };
            match theory::impossible_part(spec, &word, &mut work) {
                None => return Ok(Some(Trace::of(word, None, Vec::new()))),
                Some(part) => first = Cow::Owned(first.forbidding(&part)),
            }
        }
        Err("too many conditions exclude one another".to_owned())
    };
    let forth = search(&this, &dfa.complement())?;
    let back = search(dfa, &this.complement())?;
    let common = search(&this, dfa)?.is_some();
    Ok((forth, back, common))
}
