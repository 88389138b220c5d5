//! Reachability: the nodes that lead to a set, the nodes that a set leads to, and shortest paths.

use std::collections::VecDeque;

use super::{Digraph, NodeSet};

/// Returns the nodes from which some node of `targets` can be reached, `targets` included.
///
/// `predecessors` is the [reversed](Digraph::reversed) graph. With `through`, every node of a path but its last must be
/// in that set: the nodes of `E [through U targets]`.
///
/// # Limits
/// Linear in the nodes and edges that are met.
pub fn backward(predecessors: &Digraph, targets: &NodeSet, through: Option<&NodeSet>) -> NodeSet {
    spread(predecessors, targets, through)
}

/// Returns the nodes that can be reached from some node of `sources`, `sources` included.
///
/// With `through`, every node of a path but its first must be in that set.
///
/// # Limits
/// Linear in the nodes and edges that are met.
pub fn forward(graph: &Digraph, sources: &NodeSet, through: Option<&NodeSet>) -> NodeSet {
    spread(graph, sources, through)
}

fn spread(graph: &Digraph, from: &NodeSet, through: Option<&NodeSet>) -> NodeSet {
    let mut seen = graph.none();
    seen.union_with(from);
    let mut open: Vec<u32> = from.ones().map(|node| node as u32).collect();
    while let Some(node) = open.pop() {
        for &next in graph.successors(node) {
            let at = next as usize;
            if !seen.contains(at) && through.is_none_or(|allowed| allowed.contains(at)) {
                seen.insert(at);
                open.push(next);
            }
        }
    }
    seen
}

/// Returns a path with the fewest edges from a node of `sources` to a node of `targets`, both ends included.
///
/// With `through`, every node but the last must be in that set. Among paths of equal length the one found first in the
/// order of nodes and edges is taken, so the answer is deterministic.
pub fn shortest_path(
    graph: &Digraph,
    sources: &NodeSet,
    targets: &NodeSet,
    through: Option<&NodeSet>,
) -> Option<Vec<u32>> {
    const NONE: u32 = u32::MAX;
    let mut parent = vec![NONE; graph.len()];
    let mut seen = sources.clone();
    let mut open: VecDeque<u32> = sources.ones().map(|node| node as u32).collect();
    while let Some(node) = open.pop_front() {
        if targets.contains(node as usize) {
            let mut path = vec![node];
            let mut at = node;
            while parent[at as usize] != NONE {
                at = parent[at as usize];
                path.push(at);
            }
            path.reverse();
            return Some(path);
        }
        if through.is_some_and(|allowed| !allowed.contains(node as usize)) {
            continue;
        }
        for &next in graph.successors(node) {
            if !seen.contains(next as usize) {
                seen.insert(next as usize);
                parent[next as usize] = node;
                open.push_back(next);
            }
        }
    }
    None
}
