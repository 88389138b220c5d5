//! Formulas up to the names of their atoms, which decide their automata up to the names of their atoms.

use rustc_hash::FxHashMap;

use super::dfa::Dfa;
use super::formula::{Atom, FormulaId, Formulas, Node};

/// The parts of a formula in order, with the atoms numbered by their order.
///
/// The construction looks at nothing else, so formulas with equal shapes have automata that differ in the names of atoms only,
/// and take the same work.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape(Vec<Node>);

impl Formulas {
    /// Returns the shape of a formula and the atoms that its numbers stand for, in order. Takes time linear in the formula, but
    /// for sorting.
    ///
    /// ```
    /// use guard_automata::{Atom, Formulas, Interval, Limits, compile};
    /// let mut formulas = Formulas::new();
    /// let [a, b] = [Atom(3), Atom(8)].map(|atom| {
    ///     let holds = formulas.atom(atom);
    ///     formulas.eventually(Interval::ALL, holds)
    /// });
    /// let (shape, atoms) = formulas.shape(a);
    /// assert_eq!((shape, vec![Atom(8)]), formulas.shape(b));
    /// let dfa = compile(&formulas, a, &Limits::default())?;
    /// let other = compile(&formulas, b, &Limits::default())?;
    /// assert_eq!(dfa.renamed(&atoms, &[Atom(8)]), other);
    /// # Ok::<(), guard_automata::CompileError>(())
    /// ```
    pub fn shape(&self, formula: FormulaId) -> (Shape, Vec<Atom>) {
        let parts = self.parts(formula);
        let nodes = parts.iter().map(|part| self.node(*part));
        let mut atoms: Vec<Atom> = nodes
            .filter_map(|node| match node {
                Node::Atom(atom) => Some(atom),
                _ => None,
            })
            .collect();
        atoms.sort_unstable();
        let number = |part: FormulaId| parts.partition_point(|other| *other < part);
        let rank = |atom: Atom| Atom(atoms.partition_point(|other| *other < atom) as u32);
        let nodes = parts.iter().map(|part| {
            self.node(*part)
                .map(rank, |operand| FormulaId::at(number(operand)))
        });
        (Shape(nodes.collect()), atoms)
    }
}

impl Dfa {
    /// Returns the same automaton with the atoms `to` in place of `from`; atoms that are not listed stay. Both are in order
    /// and have the same length.
    #[must_use]
    pub fn renamed(&self, from: &[Atom], to: &[Atom]) -> Dfa {
        let names: FxHashMap<Atom, Atom> = from.iter().copied().zip(to.iter().copied()).collect();
        let name = |atom: Atom| names.get(&atom).copied().unwrap_or(atom);
        let mut dfa = self.clone();
        for branch in &mut dfa.branches {
            branch.var = name(Atom(branch.var)).0;
        }
        for atom in &mut dfa.atoms {
            *atom = name(*atom);
        }
        dfa
    }
}
