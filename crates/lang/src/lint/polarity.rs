//! The polarity of conditions in a formula: under an even or an odd number of negations.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::hir::{Formula, Formulas};
use crate::ids::{AtomId, FormulaId};

/// The polarity of a part in the whole formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Polarity {
    Positive,
    Negative,
    Both,
}

impl Polarity {
    pub(super) fn flipped(self) -> Polarity {
        match self {
            Polarity::Positive => Polarity::Negative,
            Polarity::Negative => Polarity::Positive,
            Polarity::Both => Polarity::Both,
        }
    }
}

/// Returns the atoms of a formula with this polarity, in order of their ids, each with its own polarity.
pub(super) fn of_atoms(
    formulas: &Formulas,
    formula: FormulaId,
    polarity: Polarity,
) -> Vec<(AtomId, Polarity)> {
    let mut atoms: FxHashMap<AtomId, Polarity> = FxHashMap::default();
    let mut seen: FxHashSet<(FormulaId, Polarity)> = FxHashSet::default();
    let mut todo = vec![(formula, polarity)];
    while let Some((formula, polarity)) = todo.pop() {
        if !seen.insert((formula, polarity)) {
            continue;
        }
        match formulas.get(formula) {
            Formula::Atom(atom) => {
                let known = atoms.entry(*atom).or_insert(polarity);
                if *known != polarity {
                    *known = Polarity::Both;
                }
            }
            Formula::Not(a) => todo.push((*a, polarity.flipped())),
            Formula::Implies(a, b) => todo.extend([(*a, polarity.flipped()), (*b, polarity)]),
            Formula::Iff(a, b) => todo.extend([(*a, Polarity::Both), (*b, Polarity::Both)]),
            _ => {
                let operands = formulas.operands(formula);
                todo.extend(operands.into_iter().map(|operand| (operand, polarity)));
            }
        }
    }
    let mut atoms: Vec<(AtomId, Polarity)> = atoms.into_iter().collect();
    atoms.sort_unstable_by_key(|(atom, _)| *atom);
    atoms
}
