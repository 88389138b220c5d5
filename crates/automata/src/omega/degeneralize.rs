//! From several marks to one, and from marks on edges to accepting states.
//!
//! A state of the new automaton is a state of the old one with a *level*: how many marks have been seen, in some order, since
//! the last time all of them had been.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::buchi::{Buchi, Edge};
use super::marks::Marks;
use super::reduce::{Form, reduce_as};
use super::scc::Components;
use crate::limits::{LimitError, Limits};
use crate::states::StateId;

impl Buchi {
    /// Returns an equivalent automaton with at most one mark, on edges.
    ///
    /// A state is a state of this automaton with the number of marks that were seen, in order, since all of them had last been
    /// seen.
    ///
    /// # Errors
    /// When there are more states than the limits allow.
    pub fn with_one_mark(&self, limits: &Limits) -> Result<Buchi, LimitError> {
        if self.n_marks <= 1 {
            return Ok(self.clone());
        }
        let components = self.components()?;
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

    /// Returns an equivalent automaton with accepting states ([`Buchi::is_state_based`]), reduced.
    ///
    /// # Errors
    /// When there are more states than the limits allow.
    pub fn with_accepting_states(&self, limits: &Limits) -> Result<Buchi, LimitError> {
        let mut best = self
            .by_states()?
            .map(|made| reduce_as(made, Form::States))
            .transpose()?;
        if best.as_ref().is_some_and(|best| best.len() <= self.len()) {
            return Ok(best.unwrap_or_else(|| self.clone()));
        }
        for marked in [self, &self.with_few_marks()?] {
            for order in orders(self.n_marks) {
                let found = reduce_as(marked.leveled(&order, limits)?, Form::States)?;
                if best.as_ref().is_none_or(|best| found.len() < best.len()) {
                    best = Some(found);
                }
            }
        }
        Ok(best.unwrap_or_else(|| self.clone()))
    }

    /// Returns the automaton with the mark on all edges of the states all of whose edges inside a component carry it, if that
    /// preserves the language: other edges with the mark must not be taken again before such a state.
    fn by_states(&self) -> Result<Option<Buchi>, LimitError> {
        if self.n_marks > 1 {
            return Ok(None);
        }
        let every = Marks::first(self.n_marks);
        let components = self.components()?;
        let inside = |state: u32, edge: &Edge| components.same(state, edge.target.0);
        let accepting: Vec<bool> = (0..self.len() as u32)
            .map(|state| {
                let mut edges = self.edges[state as usize]
                    .iter()
                    .filter(|edge| inside(state, edge));
                edges.all(|edge| edge.marks == every)
            })
            .collect();
        let (accepts, stays) = (&accepting, &inside);
        let between = Components::new(self.len(), |state| {
            let edges = self.edges[state as usize].iter();
            let rejecting = move |edge: &&Edge| !accepts[state as usize] && stays(state, edge);
            edges.filter(rejecting).map(|edge| edge.target.0)
        })?;
        let mut made = self.clone();
        for (state, edges) in made.edges.iter_mut().enumerate() {
            for edge in edges {
                let again = inside(state as u32, edge) && between.same(state as u32, edge.target.0);
                if !accepting[state] && again && edge.marks == every {
                    return Ok(None);
                }
                edge.marks = if accepting[state] { every } else { Marks::NONE };
            }
        }
        Ok(Some(made))
    }

    /// Returns the automaton without redundant marks: marks that another mark on every cycle implies. Marks are dropped one
    /// after the other, so the result may not be minimal.
    fn with_few_marks(&self) -> Result<Buchi, LimitError> {
        let components = self.components()?;
        let mut made = self.clone();
        for mark in (0..self.n_marks).map(Marks::one) {
            for state in 0..self.len() {
                for place in 0..self.edges[state].len() {
                    let edge = made.edges[state][place];
                    if !mark.is_subset(edge.marks) || !components.same(state as u32, edge.target.0)
                    {
                        continue;
                    }
                    made.edges[state][place].marks = edge.marks.without(mark);
                    let without = Components::new(made.len(), |state| {
                        let edges = made.edges[state as usize].iter();
                        let bare =
                            edges.filter(move |edge| edge.marks.intersection(mark).is_empty());
                        bare.map(|edge| edge.target.0)
                    })?;
                    if without.same(state as u32, edge.target.0) {
                        made.edges[state][place].marks = edge.marks;
                    }
                }
            }
        }
        Ok(made)
    }

    /// Returns the automaton of states with levels. States of the last level are accepting and continue like those of
    /// the first.
    fn leveled(&self, order: &[u32], limits: &Limits) -> Result<Buchi, LimitError> {
        let components = self.components()?;
        let last = order.len();
        let mut states: IndexSet<(StateId, usize), FxBuildHasher> = IndexSet::default();
        states.insert((self.initial, 0));
        let mut edges = Vec::new();
        while let Some(&(state, level)) = states.get_index(edges.len()) {
            let mut here = Vec::new();
            let marks = if level == last {
                Marks::one(0)
            } else {
                Marks::NONE
            };
            for edge in &self.edges[state.index()] {
                let mut next = if level == last { 0 } else { level };
                while next < last && edge.marks.contains(order[next]) {
                    next += 1;
                }
                if !components.same(state.0, edge.target.0) {
                    // The level at which a component is entered does not matter, so an existing level is reused.
                    let known = (0..=last)
                        .rev()
                        .find(|&level| states.contains(&(edge.target, level)));
                    next = known.unwrap_or(0);
                }
                let target = states.insert_full((edge.target, next)).0 as u32;
                here.push(Edge {
                    guard: edge.guard,
                    marks,
                    target: StateId(target),
                });
            }
            Buchi::check_states(states.len(), limits)?;
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

/// Orders of marks that are tried: all rotations, forward and backward.
fn orders(n: u32) -> Vec<Vec<u32>> {
    let mut orders = Vec::new();
    for first in 0..n.max(1) {
        let forward: Vec<u32> = (0..n).map(|mark| (mark + first) % n).collect();
        let backward: Vec<u32> = forward.iter().rev().copied().collect();
        orders.extend([forward, backward]);
    }
    orders.sort_unstable();
    orders.dedup();
    orders
}
