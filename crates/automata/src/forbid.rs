//! Automata with some letters ruled out.

use rustc_hash::FxHashMap;

use super::dfa::Dfa;
use super::diagram::{Branch, Diagrams, Ref};
use super::formula::Atom;

impl Dfa {
    /// Returns the accepted traces without a step that has all these literals; not minimal. The literals are in the order of
    /// their atoms, each atom once.
    #[must_use]
    pub fn forbidding(&self, literals: &[(Atom, bool)]) -> Dfa {
        let mut cut = Cut {
            dfa: self,
            literals,
            sink: Ref::leaf(self.rows.len() as u32),
            diagrams: Diagrams::default(),
            cache: FxHashMap::default(),
        };
        let mut roots: Vec<Ref> = self.rows.iter().map(|row| cut.at(row.root, 0)).collect();
        roots.push(cut.sink);
        let mut accepting: Vec<bool> = self.rows.iter().map(|row| row.accepting).collect();
        accepting.push(false);
        let mut atoms: Vec<Atom> = self.atoms().to_vec();
        atoms.extend(literals.iter().map(|(atom, _)| *atom));
        atoms.sort_unstable();
        atoms.dedup();
        Dfa::assemble(&cut.diagrams, &roots, &accepting, 0, &atoms, Atom)
    }
}

/// Diagrams of an automaton in which letters that have all `literals` lead to a sink.
struct Cut<'a> {
    dfa: &'a Dfa,
    literals: &'a [(Atom, bool)],
    sink: Ref,
    diagrams: Diagrams,
    /// Results by diagram and by the number of literals known to hold; one more than all if a literal is known to fail.
    cache: FxHashMap<(Ref, usize), Ref>,
}

impl Cut<'_> {
    fn at(&mut self, node: Ref, held: usize) -> Ref {
        let literal = self.literals.get(held);
        if literal.is_none() && held == self.literals.len() {
            return self.sink;
        }
        if node.as_leaf().is_some() && literal.is_none() {
            return node;
        }
        if let Some(&known) = self.cache.get(&(node, held)) {
            return known;
        }
        let failed = self.literals.len() + 1;
        let branch = match node.as_leaf() {
            Some(_) => None,
            None => Some(self.dfa.branches[node.index()]),
        };
        let made = match (branch, literal) {
            (Some(Branch { var, lo, hi }), None) => {
                let (lo, hi) = (self.at(lo, failed), self.at(hi, failed));
                self.diagrams.branch(var, lo, hi)
            }
            (Some(Branch { var, lo, hi }), Some((atom, _))) if var < atom.0 => {
                let (lo, hi) = (self.at(lo, held), self.at(hi, held));
                self.diagrams.branch(var, lo, hi)
            }
            (_, Some(&(atom, holds))) => {
                let (lo, hi) = match branch {
                    Some(Branch { var, lo, hi }) if var == atom.0 => (lo, hi),
                    _ => (node, node),
                };
                let after = |value| if value == holds { held + 1 } else { failed };
                let (lo, hi) = (self.at(lo, after(false)), self.at(hi, after(true)));
                self.diagrams.branch(atom.0, lo, hi)
            }
            (None, None) => node,
        };
        self.cache.insert((node, held), made);
        made
    }
}
