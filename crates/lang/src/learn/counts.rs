//! Counting the transitions of walks.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::walk::{Ending, Walk};
use crate::abstraction::{Key, Rules, Space, Step};

/// A state of a chain, or its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Before the first step.
    pub const START: NodeId = NodeId(0);

    /// Returns the position among [`Counts::nodes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A transition and how often it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The source node.
    pub from: NodeId,
    /// The target node.
    pub to: NodeId,
    /// The count.
    pub count: u64,
}

/// The number of traces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Traces {
    /// Complete traces, and traces that ended in an absorbing state: nothing of them is missing.
    pub complete: u64,
    /// Traces that were cut off or reach an unknown state: counted up to that point.
    pub censored: u64,
    /// Traces that were left out because they contain a transition that is declared impossible.
    pub quarantined: u64,
}

/// The counts of one chain.
///
/// A node consists of the last `order` states of a walk (fewer at its beginning); node 0 has no states.
#[derive(Clone, Debug)]
pub struct Counts {
    /// The number of states that a node remembers.
    pub order: usize,
    /// The states that each node remembers, oldest first.
    pub nodes: Vec<Box<[Key]>>,
    /// All transitions, in the order in which they first occurred.
    pub edges: Vec<Edge>,
    /// For each node, the number of complete walks that ended there.
    pub ends: Vec<u64>,
    /// For each node, whether it is absorbing.
    pub absorbing: Vec<bool>,
    /// The number of traces.
    pub traces: Traces,
    /// The number of steps counted.
    pub steps: u64,
    /// For each node and next state, the index of the edge.
    moves: FxHashMap<(NodeId, Key), u32>,
    by_keys: FxHashMap<Box<[Key]>, NodeId>,
}

/// The policy for a trace with a transition that is declared impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidPolicy {
    /// Report the trace; the learning fails.
    Error,
    /// Count the transition as if it were declared possible.
    Declare,
    /// Leave out the whole trace, and report it.
    Quarantine,
}

/// An observed transition that is declared impossible.
#[derive(Clone, Debug)]
pub struct Invalid {
    /// The trace.
    pub trace: SmolStr,
    /// Its file.
    pub file: SmolStr,
    /// The step in the record.
    pub step: Option<u32>,
    /// The state before it; `None` at the beginning.
    pub from: Option<Key>,
    /// The state after it; `None` at the end of the trace.
    pub to: Option<Key>,
    /// The rule that makes it impossible; `None` if the trace ended in a state that is not terminal.
    pub why: Option<Step>,
}

impl Counts {
    /// Returns empty counts. `start` is the state in which a chain of order 1 begins, if it has one.
    pub fn new(order: usize, start: Option<Key>) -> Counts {
        let mut counts = Counts {
            order: order.max(1),
            nodes: Vec::new(),
            edges: Vec::new(),
            ends: Vec::new(),
            absorbing: Vec::new(),
            traces: Traces::default(),
            steps: 0,
            moves: FxHashMap::default(),
            by_keys: FxHashMap::default(),
        };
        counts.node(&start.map_or_else(Vec::new, |key| vec![key]));
        counts
    }

    /// Returns the node that remembers these states.
    pub fn node(&mut self, keys: &[Key]) -> NodeId {
        if let Some(known) = self.by_keys.get(keys) {
            return *known;
        }
        let node = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(keys.into());
        self.ends.push(0);
        self.absorbing.push(false);
        self.by_keys.insert(keys.into(), node);
        node
    }

    /// Returns the node of these states, if it exists.
    pub fn find(&self, keys: &[Key]) -> Option<NodeId> {
        self.by_keys.get(keys).copied()
    }

    /// Returns the edge from a node to the next state, as an index among the edges.
    #[inline]
    fn follow(&mut self, from: NodeId, to: Key) -> Option<u32> {
        self.moves.get(&(from, to)).copied()
    }

    /// Returns the edge to the next state, and adds it if it is new.
    pub fn edge(&mut self, from: NodeId, to: Key) -> u32 {
        if let Some(known) = self.follow(from, to) {
            return known;
        }
        let mut keys: Vec<Key> = self.nodes[from.index()].to_vec();
        keys.push(to);
        if keys.len() > self.order {
            keys.remove(0);
        }
        let target = self.node(&keys);
        let edge = u32::try_from(self.edges.len()).unwrap_or(u32::MAX);
        self.edges.push(Edge {
            from,
            to: target,
            count: 0,
        });
        self.moves.insert((from, to), edge);
        edge
    }

    /// Returns the number of times that each node was left, including to the end.
    pub fn exits(&self) -> Vec<u64> {
        let mut exits = self.ends.clone();
        for edge in &self.edges {
            exits[edge.from.index()] += edge.count;
        }
        exits
    }

    /// Returns the number of visits of each node.
    pub fn visits(&self) -> Vec<u64> {
        let mut visits = vec![0; self.nodes.len()];
        for edge in &self.edges {
            visits[edge.to.index()] += edge.count;
        }
        visits
    }
}

/// Counts walks, one chain for each category.
#[derive(Debug)]
pub struct Counter<'a> {
    rules: Rules<'a>,
    start: Option<Key>,
    order: usize,
    policy: InvalidPolicy,
    /// Whether each category has its own chain.
    by: bool,
    chains: BTreeMap<SmolStr, Counts>,
    /// The path of a walk, until it is known whether the walk counts.
    path: Vec<u32>,
    /// The observed impossible transitions: the first of each trace, for the first traces.
    pub invalid: Vec<Invalid>,
    /// The number of traces with an impossible transition.
    pub n_invalid: u64,
}

/// The greatest number of impossible transitions that are kept for reports.
const MOST_INVALID: usize = 100;

impl<'a> Counter<'a> {
    /// Creates a counter. `by`: whether walks have categories.
    pub(crate) fn new(
        space: &'a Space,
        rules: Rules<'a>,
        order: u32,
        by: bool,
        policy: InvalidPolicy,
    ) -> Counter<'a> {
        Counter {
            rules,
            start: space.start(),
            order: order as usize,
            policy,
            by,
            chains: BTreeMap::new(),
            path: Vec::new(),
            invalid: Vec::new(),
            n_invalid: 0,
        }
    }

    /// Counts a walk.
    ///
    /// # Complexity
    /// One lookup in a hash table for each step; the rules are evaluated for each new transition only.
    pub fn add(&mut self, walk: &Walk) {
        // Traces of unknown category have a category of their own.
        let category = match (&walk.category, self.by) {
            (Some(category), true) => category.clone(),
            (None, true) => SmolStr::new_static("unknown"),
            (_, false) => SmolStr::default(),
        };
        let (order, start) = (self.order, self.start);
        let counts = self
            .chains
            .entry(category)
            .or_insert_with(|| Counts::new(order, start));
        self.path.clear();
        let mut at = NodeId::START;
        let mut caught = counts.absorbing[at.index()];
        for (place, key) in walk.keys.iter().enumerate() {
            if caught {
                break;
            }
            let edge = match counts.follow(at, *key) {
                Some(edge) => edge,
                None => {
                    let from = counts.nodes[at.index()].last().copied();
                    let step = match from {
                        Some(from) => self.rules.allows(from, *key),
                        None if self.rules.may_begin(*key) => Step::Allowed,
                        None if self.rules.is_valid(*key) => Step::NoMove,
                        None => Step::NoState,
                    };
                    if step != Step::Allowed && self.policy != InvalidPolicy::Declare {
                        self.n_invalid += 1;
                        counts.traces.quarantined += 1;
                        if self.invalid.len() < MOST_INVALID {
                            self.invalid.push(Invalid {
                                trace: walk.trace.clone(),
                                file: SmolStr::new(&walk.origin.file),
                                step: walk.steps.get(place).copied(),
                                from,
                                to: Some(*key),
                                why: Some(step),
                            });
                        }
                        return;
                    }
                    let edge = counts.edge(at, *key);
                    let target = counts.edges[edge as usize].to;
                    counts.absorbing[target.index()] = self.rules.is_absorbing(*key);
                    edge
                }
            };
            self.path.push(edge);
            at = counts.edges[edge as usize].to;
            caught = counts.absorbing[at.index()];
        }
        let complete = caught || walk.ending == Ending::Complete;
        if complete
            && !caught
            && let Some(last) = counts.nodes[at.index()].last().copied()
            && counts.ends[at.index()] == 0
            && self.policy != InvalidPolicy::Declare
            && !self.rules.is_terminal(last)
        {
            self.n_invalid += 1;
            counts.traces.quarantined += 1;
            if self.invalid.len() < MOST_INVALID {
                self.invalid.push(Invalid {
                    trace: walk.trace.clone(),
                    file: SmolStr::new(&walk.origin.file),
                    step: walk.steps.last().copied(),
                    from: Some(last),
                    to: None,
                    why: None,
                });
            }
            return;
        }
        for edge in &self.path {
            counts.edges[*edge as usize].count += 1;
        }
        counts.steps += self.path.len() as u64;
        if complete && !caught {
            counts.ends[at.index()] += 1;
        }
        if complete {
            counts.traces.complete += 1;
        } else {
            counts.traces.censored += 1;
        }
    }

    /// Returns the counts by category; without categories, under the empty one.
    pub fn finish(self) -> (BTreeMap<SmolStr, Counts>, Vec<Invalid>) {
        (self.chains, self.invalid)
    }
}
