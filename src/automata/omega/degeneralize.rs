//! From several marks to one.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::buchi::{Buchi, Edge};
use super::marks::Marks;
use crate::automata::dfa::StateId;
use crate::automata::limits::{LimitError, Limits};

impl Buchi {
    /// An equivalent automaton with at most one mark, on edges.
    ///
    /// A state is one of this automaton with the number of marks that were seen, in order, since the last time all had been.
    ///
    /// # Errors
    /// When there are more states than the limits allow.
    pub fn with_one_mark(&self, limits: &Limits) -> Result<Buchi, LimitError> {
        if self.n_marks <= 1 {
            return Ok(self.clone());
        }
        let components = self.components();
        let n = self.n_marks;
        let mut order: IndexSet<(StateId, u32), FxBuildHasher> = IndexSet::default();
        order.insert((self.initial, 0));
        let mut edges = Vec::new();
        while let Some(&(state, level)) = order.get_index(edges.len()) {
            let mut here = Vec::new();
            for edge in &self.edges[state.index()] {
                let inside = components.same(state.0, edge.target.0);
                let mut next = if inside { level } else { 0 };
                while inside && next < n && edge.marks.contains(next) {
                    next += 1;
                }
                let mut marks = Marks::NONE;
                if next == n {
                    marks = Marks::one(0);
                    next = 0;
                    while next < n && edge.marks.contains(next) && level != 0 {
                        next += 1;
                    }
                    if next == n {
                        next = 0;
                    }
                }
                let target = order.insert_full((edge.target, next)).0 as u32;
                here.push(Edge {
                    guard: edge.guard,
                    marks,
                    target: StateId(target),
                });
            }
            Buchi::check_states(order.len(), limits)?;
            edges.push(here);
        }
        Ok(Buchi {
            n_marks: 1,
            initial: StateId(0),
            edges,
            ..self.clone()
        })
    }
}
