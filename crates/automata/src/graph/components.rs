//! Strongly connected components by Tarjan's algorithm, without recursion.

use super::{Digraph, NodeSet};

const NONE: u32 = u32::MAX;

/// The strongly connected components of a graph, or of the part that a set of nodes induces.
///
/// # Shape
/// Components are numbered in reverse topological order: every edge between two components leads from the higher number
/// to the lower. Going up through the numbers therefore meets a component only after all that it leads to.
#[derive(Clone, Debug)]
pub struct Components {
    of: Vec<u32>,
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Components {
    /// Returns the number of components.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no components.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the nodes of a component.
    pub fn members(&self, component: usize) -> &[u32] {
        &self.members[self.starts[component] as usize..self.starts[component + 1] as usize]
    }

    /// Returns the component of a node, or `None` for a node outside the part that was searched.
    pub fn of(&self, node: u32) -> Option<usize> {
        let component = self.of[node as usize];
        (component != NONE).then_some(component as usize)
    }

    /// Whether two nodes are in the same component.
    pub fn same(&self, left: u32, right: u32) -> bool {
        self.of[left as usize] == self.of[right as usize] && self.of[left as usize] != NONE
    }

    /// Returns all components, each after those that it leads to.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[u32]> + ExactSizeIterator {
        (0..self.len()).map(|component| self.members(component))
    }

    /// Whether a component has a cycle: more than one node, or an edge from its node to itself.
    pub fn is_cyclic(&self, graph: &Digraph, component: usize) -> bool {
        match self.members(component) {
            [node] => graph.successors(*node).contains(node),
            _ => true,
        }
    }
}

/// Returns the strongly connected components of a graph; with `within`, of the part that those nodes induce.
///
/// # Limits
/// Linear in nodes and edges.
pub fn components(graph: &Digraph, within: Option<&NodeSet>) -> Components {
    let mut of = vec![NONE; graph.len()];
    let mut members = Vec::new();
    let mut starts = vec![0u32];
    for_each_component(graph, within, |component| {
        let number = starts.len() as u32 - 1;
        for &node in component {
            of[node as usize] = number;
        }
        members.extend_from_slice(component);
        starts.push(members.len() as u32);
    });
    Components {
        of,
        starts,
        members,
    }
}

/// Visits the strongly connected components of a graph, or of the part that `within` induces, in reverse topological
/// order: each after all that it leads to. Within a component the root of the search comes first, and the others so that
/// the reverse of the order is one in which the search left them: good for sweeps from successors to predecessors.
///
/// # Limits
/// Linear in nodes and edges.
///
/// # Source
/// R. Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1(2), 1972, in the form that needs one
/// number per node: D. Pearce, "A space-efficient algorithm for finding strongly connected components", IPL 116(1), 2016
/// (his algorithm PEA_FIND_SCC2).
pub fn for_each_component(
    graph: &Digraph,
    within: Option<&NodeSet>,
    mut visit: impl FnMut(&[u32]),
) {
    let n = graph.len();
    // While a node is open this is the smallest visit number that it is known to reach; once its component is complete,
    // the largest number of all, which lowers no other number.
    let mut index = vec![0u32; n];
    if let Some(set) = within {
        // Nodes outside count as complete, so that the search need not ask.
        for outside in set.zeroes() {
            index[outside] = NONE;
        }
    }
    let mut visited = 1u32;
    let mut component: Vec<u32> = Vec::new();
    let mut waiting: Vec<u32> = Vec::new();
    // The nodes on the path, each with its next edge to follow, the end of its row, and its number when it was opened.
    let mut path: Vec<(u32, u32, u32, u32)> = Vec::new();

    for root in 0..n as u32 {
        if index[root as usize] != 0 {
            continue;
        }
        let mut open = Some(root);
        loop {
            if let Some(node) = open.take() {
                index[node as usize] = visited;
                let edges = graph.edges(node);
                path.push((node, edges.start as u32, edges.end as u32, visited));
                visited += 1;
            }
            let Some(&mut (node, ref mut edge, end, own)) = path.last_mut() else {
                break;
            };
            let mut lowest = index[node as usize];
            while *edge < end {
                let next = graph.target(*edge as usize);
                let number = index[next as usize];
                if number == 0 {
                    // The edge is examined again when the search returns, and then lowers this node's number.
                    open = Some(next);
                    break;
                }
                lowest = lowest.min(number);
                *edge += 1;
            }
            index[node as usize] = lowest;
            if open.is_some() {
                continue;
            }
            path.pop();
            if lowest < own {
                waiting.push(node);
                continue;
            }
            index[node as usize] = NONE;
            component.clear();
            component.push(node);
            while let Some(&other) = waiting.last() {
                if index[other as usize] < own {
                    break;
                }
                waiting.pop();
                index[other as usize] = NONE;
                component.push(other);
            }
            visit(&component);
        }
    }
}

/// Returns the bottom components: those that no edge leaves, by their numbers in `found`.
pub fn bottom(graph: &Digraph, found: &Components) -> Vec<usize> {
    (0..found.len())
        .filter(|&component| {
            found.members(component).iter().all(|&node| {
                graph
                    .successors(node)
                    .iter()
                    .all(|&next| found.of(next) == Some(component))
            })
        })
        .collect()
}
