//! The place of a formula in the hierarchy of temporal properties, over infinite words.
//!
//! # Source
//! Z. Manna, A. Pnueli, "A hierarchy of temporal properties", 1990. Safety and co-safety by closure: B. Alpern, F. Schneider,
//! "Recognizing safety and liveness", 1987. Recurrence and persistence by the priorities that every deterministic automaton for
//! the language needs: K. Wagner, "On omega-regular sets", 1979.

use super::buchi::Buchi;
use super::compile::{parity, translate};
use super::parity::alternations;
use super::weak::weak;
use crate::formula::{FormulaId, Formulas};
use crate::limits::{CompileError, LimitError, Limits};

/// The least class of the hierarchy that a language belongs to. Safety and co-safety are obligations, obligations are both
/// recurrence and persistence, and everything is reactivity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// A violation shows after finitely many steps. A formula that is both safety and co-safety has this class.
    Safety,
    /// A satisfaction shows after finitely many steps.
    Cosafety,
    /// A Boolean combination of the two.
    Obligation,
    /// Something happens again and again.
    Recurrence,
    /// Something holds from some step on.
    Persistence,
    /// A Boolean combination of recurrence and persistence.
    Reactivity,
}

/// Returns the class of a formula over infinite words, exactly.
///
/// # Limits
/// As [`deterministic`](super::deterministic).
///
/// # Errors
/// As [`translate`].
///
/// ```
/// use guard_automata::{Atom, Formulas, Interval, Limits, omega};
/// let mut formulas = Formulas::new();
/// let (read, check) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
/// let rule = formulas.leads_to(read, check);
/// let class = omega::class(&formulas, rule, &Limits::default())?;
/// assert_eq!(class, omega::Class::Recurrence);
/// # Ok::<(), guard_automata::CompileError>(())
/// ```
pub fn class(
    formulas: &Formulas,
    formula: FormulaId,
    limits: &Limits,
) -> Result<Class, CompileError> {
    let mut formulas = formulas.clone();
    let negation = formulas.not(formula);
    let buchi = translate(&formulas, formula, limits)?;
    let complement = translate(&formulas, negation, limits)?;
    if is_closed(&buchi, &complement, limits)? {
        return Ok(Class::Safety);
    }
    if is_closed(&complement, &buchi, limits)? {
        return Ok(Class::Cosafety);
    }
    // If the language is not an obligation, the subset construction may exceed the limits; the priorities then decide
    // the class.
    if let Ok(Some(_)) = weak(&buchi, &complement, limits) {
        return Ok(Class::Obligation);
    }
    let (often, stays) = alternations(&parity(&buchi, &complement, limits)?)?;
    Ok(match (often, stays) {
        (false, false) => Class::Obligation,
        (true, false) => Class::Recurrence,
        (false, true) => Class::Persistence,
        (true, true) => Class::Reactivity,
    })
}

/// Whether a language is closed: it contains every word all of whose prefixes can be extended to a word of it.
fn is_closed(buchi: &Buchi, complement: &Buchi, limits: &Limits) -> Result<bool, LimitError> {
    Ok(buchi.closure().common_word(complement, limits)?.is_none())
}

impl Buchi {
    /// Returns the words all of whose prefixes are prefixes of accepted words. States from which no word is accepted must have
    /// been removed, as [`translate`] does.
    fn closure(&self) -> Buchi {
        let mut closure = self.clone();
        closure.n_marks = 0;
        closure
    }
}
