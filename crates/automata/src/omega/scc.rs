//! Strongly connected components of automata.

use crate::graph::{DigraphBuilder, for_each_component};
use crate::limits::{LimitError, Resource};

/// The components of an automaton, numbered so that edges between them lead to smaller numbers.
#[derive(Clone, Debug)]
pub(super) struct Components {
    /// The component of each vertex.
    pub(super) of: Vec<u32>,
    /// Number of components.
    pub(super) len: usize,
}

impl Components {
    /// Returns the components of the vertices `0..n`; `successors(v)` lists where `v` leads.
    ///
    /// # Errors
    /// When there are more edges than can be numbered.
    pub(super) fn new<I: Iterator<Item = u32>>(
        n: usize,
        successors: impl Fn(u32) -> I,
    ) -> Result<Components, LimitError> {
        let mut rows = DigraphBuilder::with_capacity(n, n);
        for vertex in 0..n as u32 {
            successors(vertex).for_each(|target| rows.edge(target));
            rows.end_row();
        }
        let graph = rows.finish().map_err(|_| LimitError {
            resource: Resource::Nodes,
            limit: u32::MAX.into(),
            demand: 1 << 32,
        })?;
        let mut of = vec![0; n];
        let mut len = 0;
        for_each_component(&graph, None, |members| {
            for &member in members {
                of[member as usize] = len as u32;
            }
            len += 1;
        });
        Ok(Components { of, len })
    }

    /// Whether both vertices are in one component.
    pub(super) fn same(&self, a: u32, b: u32) -> bool {
        self.of[a as usize] == self.of[b as usize]
    }
}
