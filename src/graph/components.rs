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
    /// The number of components.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The nodes of a component.
    pub fn members(&self, component: usize) -> &[u32] {
        &self.members[self.starts[component] as usize..self.starts[component + 1] as usize]
    }

    /// The component of a node; none for a node outside the part that was looked at.
    pub fn of(&self, node: u32) -> Option<usize> {
        let component = self.of[node as usize];
        (component != NONE).then_some(component as usize)
    }

    /// Whether two nodes are in the same component.
    pub fn same(&self, left: u32, right: u32) -> bool {
        self.of[left as usize] == self.of[right as usize] && self.of[left as usize] != NONE
    }

    /// All components, each after those that it leads to.
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

/// The strongly connected components of a graph; with `within`, of the part that those nodes induce.
///
/// # Limits
/// Linear in nodes and edges.
///
/// # Source
/// R. Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1(2), 1972, in the form that needs no
/// low-link per node: D. Pearce, "A space-efficient algorithm for finding strongly connected components", IPL 116(1),
/// 2016 (his algorithm PEA_FIND_SCC2).
pub fn components(graph: &Digraph, within: Option<&NodeSet>) -> Components {
    let n = graph.len();
    // While a node is open this is the smallest visit number that it is known to reach; once its component is complete,
    // the component's number counted down from the top, which is larger than any visit number still in use.
    let mut index = vec![0u32; n];
    let mut members = Vec::new();
    let mut starts = vec![0u32];
    let mut visited = 1u32;
    let mut complete = NONE - 1;
    let mut waiting: Vec<u32> = Vec::new();
    // The nodes on the path, with the next edge to follow and whether the node may still be the root.
    let mut path: Vec<(u32, u32, bool)> = Vec::new();
    let inside = |node: u32| within.is_none_or(|set| set.contains(node as usize));

    for root in 0..n as u32 {
        if index[root as usize] != 0 || !inside(root) {
            continue;
        }
        index[root as usize] = visited;
        visited += 1;
        path.push((root, graph.edges(root).start as u32, true));
        while let Some(top) = path.last_mut() {
            let node = top.0;
            let end = graph.edges(node).end as u32;
            let mut descend = None;
            while top.1 < end {
                let next = graph.target(top.1 as usize);
                if inside(next) {
                    if index[next as usize] == 0 {
                        descend = Some(next);
                        break;
                    }
                    if index[next as usize] < index[node as usize] {
                        index[node as usize] = index[next as usize];
                        top.2 = false;
                    }
                }
                top.1 += 1;
            }
            if let Some(next) = descend {
                // The edge is looked at again when the search comes back, and then lowers this node's number if it can.
                index[next as usize] = visited;
                visited += 1;
                path.push((next, graph.edges(next).start as u32, true));
                continue;
            }
            let is_root = top.2;
            path.pop();
            if !is_root {
                waiting.push(node);
                continue;
            }
            let own = index[node as usize];
            index[node as usize] = complete;
            visited -= 1;
            members.push(node);
            while let Some(&other) = waiting.last() {
                if index[other as usize] < own {
                    break;
                }
                waiting.pop();
                visited -= 1;
                index[other as usize] = complete;
                members.push(other);
            }
            complete -= 1;
            starts.push(members.len() as u32);
        }
    }
    let mut of = index;
    for number in &mut of {
        *number = if *number == 0 {
            NONE
        } else {
            NONE - 1 - *number
        };
    }
    Components {
        of,
        starts,
        members,
    }
}

/// The bottom components: those that no edge leaves, by their numbers in `found`.
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
