//! The fixpoints of CTL: which nodes have a path, or only paths, of a given kind.
//!
//! A path is infinite, so the graph should be total: a node without successors has no path at all, satisfies no `E` and
//! every `A`. The operators that are not here follow by duality: `A X p = !E X !p`, `A G p = !E F !p`, `A F p = !E G !p`.
//!
//! # Source
//! E. Clarke, A. Emerson, A. Sistla, "Automatic verification of finite-state concurrent systems using temporal logic
//! specifications", TOPLAS 8(2), 1986.

use super::{Digraph, NodeSet, backward, components};

/// `E X p`: the nodes with a successor in `p`.
pub fn exists_next(predecessors: &Digraph, p: &NodeSet) -> NodeSet {
    let mut found = predecessors.none();
    for node in p.ones() {
        for &before in predecessors.successors(node as u32) {
            found.insert(before as usize);
        }
    }
    found
}

/// `E [p U q]`: the nodes with a path that stays in `p` until it meets `q`.
pub fn exists_until(predecessors: &Digraph, p: &NodeSet, q: &NodeSet) -> NodeSet {
    backward(predecessors, q, Some(p))
}

/// `E G p`: the nodes with an infinite path within `p`, which are those that reach a cycle of `p` through `p`.
pub fn exists_globally(graph: &Digraph, predecessors: &Digraph, p: &NodeSet) -> NodeSet {
    let found = components(graph, Some(p));
    let mut cyclic = graph.none();
    for component in 0..found.len() {
        if found.is_cyclic(graph, component) {
            cyclic.extend(found.members(component).iter().map(|&node| node as usize));
        }
    }
    backward(predecessors, &cyclic, Some(p))
}

/// `A [p U q]`, by `!(E [!q U (!p & !q)] | E G !q)`.
pub fn always_until(graph: &Digraph, predecessors: &Digraph, p: &NodeSet, q: &NodeSet) -> NodeSet {
    let mut not_q = q.clone();
    not_q.toggle_range(..);
    let mut neither = not_q.clone();
    neither.difference_with(p);
    let mut fails = exists_until(predecessors, &not_q, &neither);
    fails.union_with(&exists_globally(graph, predecessors, &not_q));
    fails.toggle_range(..);
    fails
}
