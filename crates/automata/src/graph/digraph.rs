//! The graph itself: compressed sparse rows.

use super::NodeSet;

/// A graph with more nodes or edges than 32 bits can number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a graph of {nodes} nodes and {edges} edges is too large: at most {} of each are supported",
    u32::MAX
)]
pub struct TooLarge {
    /// The number of nodes that were wanted.
    pub nodes: usize,
    /// The number of edges that were wanted.
    pub edges: usize,
}

/// A directed graph over the nodes `0..len`.
///
/// # Shape
/// The successors of node `n` are `targets[rows[n]..rows[n + 1]]`, in the order in which they were given; parallel edges
/// are kept. An edge's position in `targets` is its number, so that weights can live in a vector beside the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digraph {
    rows: Vec<u32>,
    targets: Vec<u32>,
}

impl Digraph {
    /// Returns a graph from its edges, which may come in any order; edges of one source keep their order.
    ///
    /// # Errors
    /// [`TooLarge`], also where an edge names a node that does not exist.
    pub fn from_edges(nodes: usize, edges: &[(u32, u32)]) -> Result<Digraph, TooLarge> {
        let largest = edges.iter().map(|&(from, to)| from.max(to)).max();
        let needed = largest.map_or(0, |node| node as usize + 1);
        check(nodes.max(needed), edges.len())?;
        if needed > nodes {
            return Err(TooLarge {
                nodes: needed,
                edges: edges.len(),
            });
        }
        let (rows, order) = counting_sort(nodes, edges.len(), edges.iter().map(|edge| edge.0));
        let mut targets = vec![0; edges.len()];
        for (edge, place) in edges.iter().zip(order) {
            targets[place as usize] = edge.1;
        }
        Ok(Digraph { rows, targets })
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.rows.len() - 1
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of edges.
    pub fn edge_count(&self) -> usize {
        self.targets.len()
    }

    /// Returns the successors of a node.
    #[inline]
    pub fn successors(&self, node: u32) -> &[u32] {
        &self.targets[self.edges(node)]
    }

    /// Returns the numbers of the edges that leave a node.
    #[inline]
    pub fn edges(&self, node: u32) -> std::ops::Range<usize> {
        self.rows[node as usize] as usize..self.rows[node as usize + 1] as usize
    }

    /// Returns the target of an edge.
    #[inline]
    pub fn target(&self, edge: usize) -> u32 {
        self.targets[edge]
    }

    /// Returns the start of each node's edges, and after them the number of edges.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Returns the targets of all edges, by edge number.
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// Returns the graph with every edge turned round: its successors are the predecessors here, in ascending order.
    pub fn reversed(&self) -> Digraph {
        let (rows, order) =
            counting_sort(self.len(), self.edge_count(), self.targets.iter().copied());
        let mut targets = vec![0; self.edge_count()];
        let mut order = order.into_iter();
        for node in 0..self.len() as u32 {
            for (_, place) in self.edges(node).zip(&mut order) {
                targets[place as usize] = node;
            }
        }
        Digraph { rows, targets }
    }

    /// Returns the set of the given nodes; those that do not exist are left out.
    pub fn set(&self, nodes: impl IntoIterator<Item = u32>) -> NodeSet {
        let mut set = self.none();
        for node in nodes {
            if (node as usize) < self.len() {
                set.insert(node as usize);
            }
        }
        set
    }

    /// Returns the empty set of nodes.
    pub fn none(&self) -> NodeSet {
        NodeSet::with_capacity(self.len())
    }

    /// Returns the set of all nodes.
    pub fn all(&self) -> NodeSet {
        let mut set = self.none();
        set.insert_range(..);
        set
    }
}

/// A graph that grows row by row: the edges of node 0, then those of node 1, and so on.
#[derive(Clone, Debug)]
pub struct DigraphBuilder {
    rows: Vec<u32>,
    targets: Vec<u32>,
}

impl Default for DigraphBuilder {
    fn default() -> DigraphBuilder {
        DigraphBuilder::with_capacity(0, 0)
    }
}

impl DigraphBuilder {
    /// Returns an empty graph with room for so many nodes and edges.
    pub fn with_capacity(nodes: usize, edges: usize) -> DigraphBuilder {
        let mut rows = Vec::with_capacity(nodes + 1);
        rows.push(0);
        DigraphBuilder {
            rows,
            targets: Vec::with_capacity(edges),
        }
    }

    /// Adds an edge of the node whose row is open.
    #[inline]
    pub fn edge(&mut self, target: u32) {
        self.targets.push(target);
    }

    /// Closes the row of the current node.
    #[inline]
    pub fn end_row(&mut self) {
        self.rows.push(self.targets.len() as u32);
    }

    /// Returns the graph, whose nodes are the rows that were closed.
    ///
    /// # Errors
    /// [`TooLarge`], also where an edge leads to a node without a row.
    pub fn finish(self) -> Result<Digraph, TooLarge> {
        let nodes = self.rows.len() - 1;
        let needed = self
            .targets
            .iter()
            .max()
            .map_or(0, |&node| node as usize + 1);
        check(nodes.max(needed), self.targets.len())?;
        if needed > nodes || self.rows.last() != Some(&(self.targets.len() as u32)) {
            return Err(TooLarge {
                nodes: needed,
                edges: self.targets.len(),
            });
        }
        Ok(Digraph {
            rows: self.rows,
            targets: self.targets,
        })
    }
}

fn check(nodes: usize, edges: usize) -> Result<(), TooLarge> {
    // The last number stays free: the algorithms use it for "none".
    if nodes >= u32::MAX as usize || edges >= u32::MAX as usize {
        return Err(TooLarge { nodes, edges });
    }
    Ok(())
}

/// Returns row starts for the keys, and for each item its position when all are sorted stably by key.
fn counting_sort(
    keys: usize,
    items: usize,
    of: impl Iterator<Item = u32> + Clone,
) -> (Vec<u32>, Vec<u32>) {
    let mut rows = vec![0u32; keys + 1];
    for key in of.clone() {
        rows[key as usize + 1] += 1;
    }
    for key in 0..keys {
        rows[key + 1] += rows[key];
    }
    let mut next = rows.clone();
    let mut places = Vec::with_capacity(items);
    for key in of {
        places.push(next[key as usize]);
        next[key as usize] += 1;
    }
    (rows, places)
}
