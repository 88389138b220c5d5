//! The paths of many fields, merged so that one walk over a text reads them all.

use smol_str::SmolStr;

use super::path::PathStep;

/// A place in a [`Trie`].
pub(crate) type NodeId = usize;

/// The merged paths; node 0 is the whole value.
#[derive(Clone, Debug)]
pub(crate) struct Trie {
    nodes: Vec<Node>,
}

/// The fields read at a path, and the nodes below it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    names: Vec<(SmolStr, NodeId)>,
    /// A bit for each length (modulo 64) that a name has: the length alone rejects most keys of a text.
    lengths: u64,
    indices: Vec<(usize, NodeId)>,
    /// The fields whose value stands here.
    pub(crate) slots: Vec<usize>,
    /// Whether the steps (or the elements of `each`) are the items of the list here.
    pub(crate) list: bool,
    /// Fields whose value stands strictly below.
    pub(crate) below: Vec<usize>,
    /// Whether that list stands strictly below.
    pub(crate) list_below: bool,
}

impl Node {
    /// Returns the keys that paths go on with.
    #[cfg(feature = "tables")]
    pub(crate) fn keys(&self) -> impl Iterator<Item = &SmolStr> {
        self.names.iter().map(|(name, _)| name)
    }

    pub(crate) fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    pub(crate) fn has_indices(&self) -> bool {
        !self.indices.is_empty()
    }

    /// Whether something is read from the parts of the value.
    pub(crate) fn has_parts(&self) -> bool {
        self.has_names() || self.has_indices() || self.list
    }

    /// Returns the node below a key.
    #[inline]
    pub(crate) fn named(&self, key: &str) -> Option<NodeId> {
        if self.lengths >> (key.len() % 64) & 1 == 0 {
            return None;
        }
        self.names
            .iter()
            .find_map(|(name, node)| (name.as_str() == key).then_some(*node))
    }

    /// Returns the node below an item.
    pub(crate) fn indexed(&self, index: usize) -> Option<NodeId> {
        self.indices
            .iter()
            .find_map(|(place, node)| (*place == index).then_some(*node))
    }
}

impl Default for Trie {
    fn default() -> Trie {
        Trie {
            nodes: vec![Node::default()],
        }
    }
}

impl Trie {
    /// Returns a node of this trie.
    #[inline]
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    /// Adds a field.
    pub(crate) fn slot(&mut self, steps: &[PathStep], slot: usize) {
        for id in self.path(steps, |node| node.below.push(slot)) {
            self.nodes[id].slots.push(slot);
        }
    }

    /// Adds the list of steps or elements.
    pub(crate) fn list(&mut self, steps: &[PathStep]) {
        for id in self.path(steps, |node| node.list_below = true) {
            self.nodes[id].list = true;
        }
    }

    /// Returns the places that steps lead to. A pointer's token `0` leads to a member and to an item, so there may be
    /// several, of which a text has one at most.
    fn path(&mut self, steps: &[PathStep], mut pass: impl FnMut(&mut Node)) -> Vec<NodeId> {
        let mut places = vec![0];
        for step in steps {
            let mut next = Vec::new();
            for id in places {
                pass(&mut self.nodes[id]);
                next.extend(step.name.as_ref().map(|name| self.member(id, name)));
                next.extend(step.index.map(|index| self.item(id, index)));
            }
            places = next;
        }
        places
    }

    fn member(&mut self, id: NodeId, name: &SmolStr) -> NodeId {
        let next = self.nodes.len();
        let node = &mut self.nodes[id];
        if let Some((_, child)) = node.names.iter().find(|(other, _)| other == name) {
            return *child;
        }
        node.lengths |= 1 << (name.len() % 64);
        node.names.push((name.clone(), next));
        self.nodes.push(Node::default());
        next
    }

    fn item(&mut self, id: NodeId, index: usize) -> NodeId {
        let next = self.nodes.len();
        let node = &mut self.nodes[id];
        if let Some((_, child)) = node.indices.iter().find(|(other, _)| *other == index) {
            return *child;
        }
        node.indices.push((index, next));
        self.nodes.push(Node::default());
        next
    }
}
