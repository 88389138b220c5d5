//! Directed graphs: compressed rows, sets of nodes, reachability, strongly connected components.
//!
//! A [`Digraph`] keeps the successors of all nodes in one array (compressed sparse rows), so that a walk over a graph of
//! millions of nodes reads memory in order. [`Digraph::reversed`] gives the predecessors in the same form. Nothing here is
//! recursive: depth is bounded by memory, not by the stack.
//!
//! ```
//! use guard_automata::graph::{Digraph, backward, components};
//!
//! // 0 → 1 ⇄ 2, 0 → 3
//! let graph = Digraph::from_edges(4, &[(0, 1), (0, 3), (1, 2), (2, 1)])?;
//! let found = components(&graph, None);
//! assert_eq!(found.len(), 3);
//! assert!(found.same(1, 2));
//!
//! let into_3 = backward(&graph.reversed(), &graph.set([3]), None);
//! assert_eq!(into_3.ones().collect::<Vec<_>>(), [0, 3]);
//! # Ok::<(), guard_automata::graph::TooLarge>(())
//! ```

mod components;
pub mod ctl;
mod digraph;
mod reach;

pub use components::{Components, bottom, components, for_each_component};
pub use digraph::{Digraph, DigraphBuilder, TooLarge};
pub use reach::{backward, forward, shortest_path};

/// A set of nodes of one graph; its length is the number of nodes.
pub type NodeSet = fixedbitset::FixedBitSet;
