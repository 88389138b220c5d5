//! Translation of the core language: formulas to automata, words back to the names of atoms, and formulas to those of Markov chains.

pub(crate) mod chain;
mod spoken;
mod timed;
mod word;

use crate::hir::{Bound, Formula, Formulas};
use crate::ids::{AtomId, FormulaId};
use guard_automata::{
    Atom, CompileError, Dfa, FormulaId as AFormulaId, Formulas as AFormulas, Interval, Limits,
    compile,
};

pub use spoken::spoken;
pub(crate) use timed::Timed;
pub use word::atom_text;
pub use word::{Steps, literal};

/// Returns the atom of an automaton for an atom of the core.
pub fn atom(atom: AtomId) -> Atom {
    Atom(u32::try_from(atom.index()).unwrap_or(u32::MAX))
}

/// Returns the minimal automaton of a formula. Atoms have the same numbers as in the core.
///
/// # Errors
/// The formula has bounds in time, or a limit is exceeded.
pub fn automaton(
    formulas: &Formulas,
    formula: FormulaId,
    limits: &Limits,
) -> Result<Dfa, CompileError> {
    let mut translated = AFormulas::new();
    let root = translate(formulas, formula, atom, &mut translated);
    compile(&translated, root, limits)
}

/// Translates a formula of the spec into a formula of `automata`. `atom` gives the number of each atom.
///
/// # Limits
/// `O(n log n)` for a formula of `n` parts, whatever the size of the table.
pub fn translate(
    formulas: &Formulas,
    root: FormulaId,
    atom: impl Fn(AtomId) -> Atom,
    into: &mut AFormulas,
) -> AFormulaId {
    let window = |bound: &Option<Bound>| match bound {
        None => Interval::ALL,
        Some(Bound::Steps(lo, hi)) => Interval::steps(*lo, *hi),
        Some(Bound::Time(lo, hi)) => Interval::time(*lo, *hi),
    };
    let parts = formulas.parts(root);
    let mut made: Vec<AFormulaId> = Vec::with_capacity(parts.len());
    let truth = into.verum();
    let mut last = truth;
    for id in &parts {
        // Operands come before the formulas that use them.
        let of = |id: &FormulaId| {
            let place = parts.binary_search(id).ok();
            place
                .and_then(|place| made.get(place))
                .map_or(truth, |made| *made)
        };
        last = match formulas.get(*id) {
            Formula::True => into.verum(),
            Formula::False => into.falsum(),
            Formula::Atom(id) => into.atom(atom(*id)),
            Formula::Last => into.last(),
            Formula::Not(a) => into.not(of(a)),
            Formula::And(a, b) => into.and(of(a), of(b)),
            Formula::Or(a, b) => into.or(of(a), of(b)),
            Formula::Implies(a, b) => into.implies(of(a), of(b)),
            Formula::Iff(a, b) => into.iff(of(a), of(b)),
            Formula::Unary(op, bound, a) => into.unary(*op, window(bound), of(a)),
            Formula::Binary(op, bound, a, b) => into.binary(*op, of(a), window(bound), of(b)),
        };
        made.push(last);
    }
    last
}
