//! Reduction by simulation.
//!
//! A state simulates another when it can match each of its edges, letter by letter, with edges that carry at least the same
//! marks and lead to states that simulate again. States that simulate each other are merged, and an edge is dropped where
//! another one of its state leads, with no fewer marks, to a state that simulates its target. Backward the same is said of
//! edges that enter a state.
//!
//! Marks on edges between components are seen finitely often and do not matter. So an edge to be matched counts as without
//! marks there, and an edge that matches as having all: the first automaton accepts the same words as the second.
//!
//! # Source
//! K. Etessami, R. Wilke, R. Schuller, "Fair simulation relations, parity games, and state space reduction for Büchi
//! automata", 2001; F. Somenzi, R. Bloem, "Efficient Büchi automata from LTL formulae", 2000.

use super::buchi::{Buchi, Edge};
use super::guards::Guard;
use super::marks::Marks;
use crate::automata::dfa::StateId;
use crate::automata::limits::LimitError;

/// Which edges of a state are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Those that leave it.
    Forward,
    /// Those that enter it.
    Backward,
}

/// Pairs of states beyond which simulation is not tried; it is quadratic in them.
const MAX_STATES: usize = 400;

/// The automaton with states merged and edges dropped by simulation in one direction.
pub(super) fn merge(mut buchi: Buchi, direction: Direction) -> Result<Buchi, LimitError> {
    if buchi.len() > MAX_STATES {
        return Ok(buchi);
    }
    let game = Game::new(&buchi, direction);
    let simulates = game.solve(&mut buchi)?;
    // The first state of each class stands for it.
    let class = |state: usize| {
        let same = |&other: &usize| simulates[state][other] && simulates[other][state];
        (0..=state).find(same).unwrap_or(state)
    };
    let classes: Vec<usize> = (0..buchi.len()).map(class).collect();
    let kept = game.undominated(&mut buchi, &simulates)?;
    let mut edges: Vec<Vec<Edge>> = vec![Vec::new(); buchi.len()];
    for (state, here) in game.edges.iter().enumerate() {
        // All members keep their edges: one that leaves its component there may stay in it here, where its marks count.
        let class = classes[state] as u32;
        for (edge, &guard) in here.iter().zip(&kept[state]) {
            if guard == Guard::FALSE {
                continue;
            }
            let other = classes[edge.target.index()] as u32;
            let (source, target) = match direction {
                Direction::Forward => (class, other),
                Direction::Backward => (other, class),
            };
            edges[source as usize].push(Edge {
                guard,
                marks: edge.marks,
                target: StateId(target),
            });
        }
    }
    buchi.initial = StateId(classes[buchi.initial.index()] as u32);
    buchi.edges = edges;
    Ok(buchi)
}

struct Game {
    direction: Direction,
    initial: usize,
    every: Marks,
    /// Per state the edges that are matched; `target` is the state at their other end.
    edges: Vec<Vec<Edge>>,
    /// Whether both ends of an edge are in one component.
    inside: Vec<Vec<bool>>,
}

impl Game {
    fn new(buchi: &Buchi, direction: Direction) -> Game {
        let components = buchi.components();
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
        let inside = edges.iter().enumerate().map(|(state, edges)| {
            let same = |edge: &Edge| components.same(state as u32, edge.target.0);
            edges.iter().map(same).collect()
        });
        Game {
            direction,
            initial: buchi.initial.index(),
            every: Marks::first(buchi.n_marks),
            inside: inside.collect(),
            edges,
        }
    }

    /// The marks of an edge when it is to be matched, and when it matches.
    fn marks(&self, state: usize, index: usize) -> (Marks, Marks) {
        if self.inside[state][index] {
            let marks = self.edges[state][index].marks;
            (marks, marks)
        } else {
            (Marks::NONE, self.every)
        }
    }

    /// The greatest simulation: at `[p][q]` whether `q` simulates `p`.
    fn solve(&self, buchi: &mut Buchi) -> Result<Vec<Vec<bool>>, LimitError> {
        let n = self.edges.len();
        let mut simulates = vec![vec![true; n]; n];
        if self.direction == Direction::Backward {
            for (state, by) in simulates[self.initial].iter_mut().enumerate() {
                *by = state == self.initial;
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for p in 0..n {
                for q in 0..n {
                    if p != q && simulates[p][q] && !self.matches(buchi, &simulates, p, q)? {
                        simulates[p][q] = false;
                        changed = true;
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
        for (i, edge) in self.edges[p].iter().enumerate() {
            let wanted = self.marks(p, i).0;
            let mut left = edge.guard;
            for (j, by) in self.edges[q].iter().enumerate() {
                if wanted.is_subset(self.marks(q, j).1)
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

    /// Per edge the letters for which no other edge of its state is better.
    fn undominated(
        &self,
        buchi: &mut Buchi,
        simulates: &[Vec<bool>],
    ) -> Result<Vec<Vec<Guard>>, LimitError> {
        let mut kept = Vec::with_capacity(self.edges.len());
        for (state, edges) in self.edges.iter().enumerate() {
            let mut guards: Vec<Guard> = edges.iter().map(|edge| edge.guard).collect();
            for (i, edge) in edges.iter().enumerate() {
                for (j, by) in edges.iter().enumerate() {
                    let (from, to) = (edge.target.index(), by.target.index());
                    let covered = i != j
                        && simulates[from][to]
                        && edge.marks.is_subset(by.marks)
                        && self.marks(state, i).1.is_subset(self.marks(state, j).1);
                    if covered {
                        // What remains of the other edge is what counts, so that of two equals one stays.
                        guards[i] = buchi.guards.minus(guards[i], guards[j])?;
                    }
                }
            }
            kept.push(guards);
        }
        Ok(kept)
    }
}
