//! Strongly connected components.

/// The components of a graph, numbered so that edges between them lead to smaller numbers.
#[derive(Clone, Debug)]
pub(super) struct Components {
    /// The component of each vertex.
    pub(super) of: Vec<u32>,
    /// Number of components.
    pub(super) len: usize,
}

const UNSEEN: u32 = u32::MAX;

impl Components {
    /// The components of the vertices `0..n`; `successors(v)` lists where `v` leads.
    ///
    /// # Source
    /// R. Tarjan, "Depth-first search and linear graph algorithms", 1972, without recursion.
    pub(super) fn new<I: Iterator<Item = u32>>(
        n: usize,
        successors: impl Fn(u32) -> I,
    ) -> Components {
        let mut of = vec![UNSEEN; n];
        let mut order = vec![UNSEEN; n];
        let mut low = vec![0; n];
        let mut open: Vec<u32> = Vec::new();
        let mut stack: Vec<(u32, I)> = Vec::new();
        let (mut clock, mut len) = (0, 0);
        for root in 0..n as u32 {
            if order[root as usize] != UNSEEN {
                continue;
            }
            let mut enter = Some(root);
            loop {
                if let Some(vertex) = enter.take() {
                    order[vertex as usize] = clock;
                    low[vertex as usize] = clock;
                    clock += 1;
                    open.push(vertex);
                    stack.push((vertex, successors(vertex)));
                }
                let Some((vertex, rest)) = stack.last_mut() else {
                    break;
                };
                let vertex = *vertex;
                match rest.next() {
                    Some(next) if order[next as usize] == UNSEEN => enter = Some(next),
                    Some(next) => {
                        if of[next as usize] == UNSEEN {
                            low[vertex as usize] = low[vertex as usize].min(order[next as usize]);
                        }
                    }
                    None => {
                        stack.pop();
                        if let Some(&(above, _)) = stack.last() {
                            low[above as usize] = low[above as usize].min(low[vertex as usize]);
                        }
                        if low[vertex as usize] == order[vertex as usize] {
                            while let Some(member) = open.pop() {
                                of[member as usize] = len as u32;
                                if member == vertex {
                                    break;
                                }
                            }
                            len += 1;
                        }
                    }
                }
            }
        }
        Components { of, len }
    }

    /// Whether both vertices are in one component.
    pub(super) fn same(&self, a: u32, b: u32) -> bool {
        self.of[a as usize] == self.of[b as usize]
    }
}
