//! Reduction by simulation.
//!
//! A state simulates another when it can match each of its edges, letter by letter, with edges that carry at least the same
//! marks and lead to states that simulate the targets. States that simulate each other are merged ([`merge`]), and an edge is
//! dropped where another one of its state leads, with no fewer marks, to a state that simulates its target ([`prune`]).
//! Backward simulation is the same for edges that enter a state.
//!
//! # Source
//! K. Etessami, R. Wilke, R. Schuller, "Fair simulation relations, parity games, and state space reduction for Büchi
//! automata", 2001; F. Somenzi, R. Bloem, "Efficient Büchi automata from LTL formulae", 2000.

use std::collections::VecDeque;

use super::buchi::{Buchi, Edge};
use super::guards::Guard;
use crate::limits::LimitError;
use crate::states::StateId;

/// The edges of a state that are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Those that leave it.
    Forward,
    /// Those that enter it.
    Backward,
}

/// The greatest number of pairs of states for which simulation is tried; its cost is quadratic in them.
const MAX_STATES: usize = 400;

/// Returns the automaton with the states merged that simulate each other in one direction.
pub(super) fn merge(mut buchi: Buchi, direction: Direction) -> Result<Buchi, LimitError> {
    if buchi.len() > MAX_STATES {
        return Ok(buchi);
    }
    let game = Game::new(&buchi, direction);
    let simulates = game.solve(&mut buchi)?;
    // The first state of each class represents it.
    let class = |state: usize| {
        let same = |&other: &usize| simulates[state][other] && simulates[other][state];
        (0..=state).find(same).unwrap_or(state)
    };
    let classes: Vec<u32> = (0..buchi.len()).map(|state| class(state) as u32).collect();
    let mut edges: Vec<Vec<Edge>> = vec![Vec::new(); buchi.len()];
    for (state, here) in buchi.edges.iter().enumerate() {
        edges[classes[state] as usize].extend(here.iter().map(|edge| Edge {
            target: StateId(classes[edge.target.index()]),
            ..*edge
        }));
    }
    buchi.initial = StateId(classes[buchi.initial.index()]);
    buchi.edges = edges;
    Ok(buchi)
}

/// Returns the automaton without the edges that another edge of the same state covers in one direction.
pub(super) fn prune(mut buchi: Buchi, direction: Direction) -> Result<Buchi, LimitError> {
    if buchi.len() > MAX_STATES {
        return Ok(buchi);
    }
    let game = Game::new(&buchi, direction);
    let simulates = game.solve(&mut buchi)?;
    let kept = game.undominated(&mut buchi, &simulates)?;
    let mut edges: Vec<Vec<Edge>> = vec![Vec::new(); buchi.len()];
    for (state, here) in game.edges.iter().enumerate() {
        for (edge, &guard) in here.iter().zip(&kept[state]) {
            if guard == Guard::FALSE {
                continue;
            }
            let (source, target) = match direction {
                Direction::Forward => (state, edge.target),
                Direction::Backward => (edge.target.index(), StateId(state as u32)),
            };
            edges[source].push(Edge {
                guard,
                marks: edge.marks,
                target,
            });
        }
    }
    buchi.edges = edges;
    Ok(buchi)
}

struct Game {
    direction: Direction,
    initial: usize,
    /// Per state the edges that are matched; `target` is the state at their other end.
    edges: Vec<Vec<Edge>>,
}

impl Game {
    fn new(buchi: &Buchi, direction: Direction) -> Game {
        let mut edges: Vec<Vec<Edge>> = vec![Vec::new(); buchi.len()];
        for state in buchi.states() {
            for &edge in buchi.edges(state) {
                match direction {
                    Direction::Forward => edges[state.index()].push(edge),
                    Direction::Backward => edges[edge.target.index()].push(Edge {
                        target: state,
                        ..edge
                    }),
                }
            }
        }
        Game {
            direction,
            initial: buchi.initial.index(),
            edges,
        }
    }

    /// Returns the greatest simulation: at `[p][q]` whether `q` simulates `p`.
    fn solve(&self, buchi: &mut Buchi) -> Result<Vec<Vec<bool>>, LimitError> {
        let n = self.edges.len();
        let mut simulates = vec![vec![true; n]; n];
        if self.direction == Direction::Backward {
            for (state, by) in simulates[self.initial].iter_mut().enumerate() {
                *by = state == self.initial;
            }
        }
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); n];
        for (state, edges) in self.edges.iter().enumerate() {
            for edge in edges {
                let known = &mut before[edge.target.index()];
                if known.last() != Some(&(state as u32)) {
                    known.push(state as u32);
                }
            }
        }
        // A pair is examined again when a pair that its edges lead to has been removed. States are numbered in the order of a
        // search from the first one, so in this order most pairs are examined once.
        let mut queue: VecDeque<(u32, u32)> = VecDeque::new();
        for p in 0..n as u32 {
            queue.extend((0..n as u32).filter(|q| *q != p).map(|q| (p, q)));
        }
        if self.direction == Direction::Forward {
            queue.make_contiguous().reverse();
        }
        let mut queued = vec![true; n * n];
        while let Some((p, q)) = queue.pop_front() {
            let (p, q) = (p as usize, q as usize);
            queued[p * n + q] = false;
            if !simulates[p][q] || self.matches(buchi, &simulates, p, q)? {
                continue;
            }
            simulates[p][q] = false;
            for &above in &before[p] {
                for &by in &before[q] {
                    let (x, y) = (above as usize, by as usize);
                    if x != y && simulates[x][y] && !std::mem::replace(&mut queued[x * n + y], true)
                    {
                        queue.push_back((above, by));
                    }
                }
            }
        }
        Ok(simulates)
    }

    /// Whether `q` can match every edge of `p` once.
    fn matches(
        &self,
        buchi: &mut Buchi,
        simulates: &[Vec<bool>],
        p: usize,
        q: usize,
    ) -> Result<bool, LimitError> {
        for edge in &self.edges[p] {
            let mut left = edge.guard;
            for by in &self.edges[q] {
                if edge.marks.is_subset(by.marks)
                    && simulates[edge.target.index()][by.target.index()]
                {
                    left = buchi.guards.minus(left, by.guard)?;
                    if left == Guard::FALSE {
                        break;
                    }
                }
            }
            if left != Guard::FALSE {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns, per edge, the letters for which no other edge of its state is better.
    fn undominated(
        &self,
        buchi: &mut Buchi,
        simulates: &[Vec<bool>],
    ) -> Result<Vec<Vec<Guard>>, LimitError> {
        let mut kept = Vec::with_capacity(self.edges.len());
        for edges in &self.edges {
            let mut guards: Vec<Guard> = edges.iter().map(|edge| edge.guard).collect();
            for (i, edge) in edges.iter().enumerate() {
                for (j, by) in edges.iter().enumerate() {
                    let (from, to) = (edge.target.index(), by.target.index());
                    let covered = i != j && simulates[from][to] && edge.marks.is_subset(by.marks);
                    if covered {
                        // Only the rest of the other edge's guard counts, so that one of two equal edges is kept.
                        guards[i] = buchi.guards.minus(guards[i], guards[j])?;
                    }
                }
            }
            kept.push(guards);
        }
        Ok(kept)
    }
}
