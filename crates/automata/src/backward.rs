//! The graph of an automaton, backward.
//!
//! The branches of the diagrams are vertices of this graph, so its size is that of the shared diagrams. With edges from state
//! to state it would have an edge for each path through them.

use super::dfa::Dfa;
use super::diagram::Ref;

/// Vertices are the branches, in their order, then the states.
pub(super) struct Backward {
    n_branches: usize,
    /// The start of the sources of each vertex; one more entry at the end.
    first: Vec<u32>,
    sources: Vec<u32>,
    /// The round in which a vertex was last met.
    met: Vec<u32>,
    round: u32,
}

impl Backward {
    pub(super) fn new(dfa: &Dfa) -> Backward {
        let n_branches = dfa.branches.len();
        let vertex = |target: Ref| match target.as_leaf() {
            Some(state) => n_branches + state as usize,
            None => target.index(),
        };
        let inner = dfa.branches.iter().enumerate();
        let inner = inner.flat_map(|(i, branch)| [(i, vertex(branch.lo)), (i, vertex(branch.hi))]);
        let outer = dfa.rows.iter().enumerate();
        let outer = outer.map(|(i, row)| (n_branches + i, vertex(row.root)));
        let edges: Vec<(usize, usize)> = inner.chain(outer).collect();
        let n = n_branches + dfa.rows.len();
        let mut first = vec![0; n + 1];
        for &(_, target) in &edges {
            first[target + 1] += 1;
        }
        for vertex in 0..n {
            first[vertex + 1] += first[vertex];
        }
        let mut next = first.clone();
        let mut sources = vec![0; edges.len()];
        for &(source, target) in &edges {
            sources[next[target] as usize] = source as u32;
            next[target] += 1;
        }
        Backward {
            n_branches,
            first,
            sources,
            met: vec![0; n],
            round: 0,
        }
    }

    /// Starts a new round in which no vertex has been visited.
    pub(super) fn new_round(&mut self) {
        self.round += 1;
    }

    /// Adds to `found` the states with a transition into one of `states` that were not met in this round.
    pub(super) fn sources(&mut self, states: &[u32], found: &mut Vec<u32>) {
        let mut stack: Vec<usize> = states
            .iter()
            .map(|&s| self.n_branches + s as usize)
            .collect();
        while let Some(vertex) = stack.pop() {
            for edge in self.first[vertex]..self.first[vertex + 1] {
                let source = self.sources[edge as usize];
                if std::mem::replace(&mut self.met[source as usize], self.round) == self.round {
                    continue;
                }
                match (source as usize).checked_sub(self.n_branches) {
                    Some(state) => found.push(state as u32),
                    None => stack.push(source as usize),
                }
            }
        }
    }

    /// Returns, for every state, whether a marked state is reachable from it, itself included.
    pub(super) fn reaching(&mut self, marked: impl Iterator<Item = bool>) -> Vec<bool> {
        self.new_round();
        let mut reaching: Vec<bool> = marked.collect();
        let mut stack: Vec<u32> = (0..reaching.len() as u32)
            .filter(|&state| reaching[state as usize])
            .collect();
        let mut found = Vec::new();
        while let Some(state) = stack.pop() {
            self.sources(&[state], &mut found);
            for source in found.drain(..) {
                if !std::mem::replace(&mut reaching[source as usize], true) {
                    stack.push(source);
                }
            }
        }
        reaching
    }
}
