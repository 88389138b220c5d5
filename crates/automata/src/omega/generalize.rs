//! From any acceptance condition to that of a generalised Büchi automaton.
//!
//! A condition is a disjunction of conjunctions of `Fin` and `Inf`. A run that satisfies one of them no longer sees its `Fin`
//! marks after some edge: the automaton guesses the conjunction and the edge, and continues in a copy of itself without the
//! edges that carry these marks, in which the `Inf` marks are counted.
//!
//! # Source
//! C. Baier and others, "Generic emptiness check for fun and profit", 2019, section 2, for the construction by copies.

use super::acceptance::Acceptance;
use super::buchi::{Buchi, Edge};
use super::marks::Marks;
use super::reduce::{reduce, renumber};
use crate::limits::{LimitError, Limits, Resource, check};
use crate::states::StateId;

/// The greatest number of alternatives of one condition.
const MOST: usize = 4_096;

impl Buchi {
    /// Returns a reduced automaton for the words that an automaton accepts by this condition on its marks.
    ///
    /// # Errors
    /// When there are more states, or alternatives of the condition, than the limits allow.
    pub(super) fn generalized(
        self,
        condition: &Acceptance,
        limits: &Limits,
    ) -> Result<Buchi, LimitError> {
        let Some(alternatives) = condition.alternatives(MOST) else {
            let (limit, demand) = (MOST as u64, MOST as u64 + 1);
            return Err(LimitError {
                resource: Resource::Marks,
                limit,
                demand,
            });
        };
        let n = self.edges.len();
        if let [(fin, inf)] = alternatives[..]
            && fin.is_empty()
        {
            let mut made = self;
            for edge in made.edges.iter_mut().flatten() {
                edge.marks = numbered(edge.marks, inf, inf.len());
            }
            made.n_marks = inf.len();
            return reduce(made);
        }
        let most = alternatives.iter().map(|(_, inf)| inf.len()).max();
        // At least one mark, which is not seen before the guess.
        let n_marks = most.unwrap_or(0).max(1);
        let copies = 1 + alternatives.len();
        let n_states = n.saturating_mul(copies) as u64;
        check(Resource::States, limits.states as u64, n_states)?;
        let mut edges: Vec<Vec<Edge>> = Vec::with_capacity(n * copies);
        for state in &self.edges {
            let mut here = Vec::new();
            for edge in state {
                for copy in 0..copies as u32 {
                    here.push(Edge {
                        marks: Marks::NONE,
                        target: StateId(edge.target.0 + copy * n as u32),
                        ..*edge
                    });
                }
            }
            edges.push(here);
        }
        for (copy, (fin, inf)) in (1..).zip(&alternatives) {
            for state in &self.edges {
                let stays = |edge: &&Edge| edge.marks.intersection(*fin).is_empty();
                let moved = |edge: &Edge| Edge {
                    marks: numbered(edge.marks, *inf, n_marks),
                    target: StateId(edge.target.0 + copy * n as u32),
                    ..*edge
                };
                edges.push(state.iter().filter(stays).map(moved).collect());
            }
        }
        let mut made = Buchi {
            n_marks,
            edges,
            ..self
        };
        renumber(&mut made);
        reduce(made)
    }
}

/// Returns the wanted marks that are present, as numbers from 0; numbers beyond them are always present.
fn numbered(marks: Marks, wanted: Marks, n: u32) -> Marks {
    let seen = wanted.iter().enumerate();
    let seen = seen.filter_map(|(new, old)| marks.contains(old).then_some(new as u32));
    seen.chain(wanted.len()..n).collect()
}
