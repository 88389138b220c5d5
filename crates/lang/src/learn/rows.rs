//! The rows of a chain: the counted transitions, and the unseen transitions that are declared possible.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::counts::{Counts, NodeId};
use crate::abstraction::{Key, Rules, Space, SpaceError, Step};

/// The limits on the states and transitions of a chain.
#[derive(Clone, Copy, Debug)]
pub struct RowLimits {
    /// The greatest number of states of an abstraction that are listed, and of nodes of a chain.
    pub states: usize,
    /// The greatest number of transitions of a chain.
    pub transitions: usize,
}

impl Default for RowLimits {
    fn default() -> Self {
        RowLimits {
            states: 100_000,
            transitions: 20_000_000,
        }
    }
}

/// The meaning of a state of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainPosition {
    /// The position before the first step, if that is not a state of the abstraction.
    Start,
    /// The remembered states, oldest first; the last one is the current state.
    At(Box<[Key]>),
    /// After the last step.
    End,
}

impl ChainPosition {
    /// Returns the current state of the abstraction.
    pub(crate) fn key(&self) -> Option<Key> {
        match self {
            ChainPosition::At(keys) => keys.last().copied(),
            ChainPosition::Start | ChainPosition::End => None,
        }
    }
}

/// The origin of the numbers of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The state is never left.
    Absorbing,
    /// The state was left in traces.
    Counted,
    /// The state was never left in any trace: all declared transitions are assumed equally likely.
    Guessed,
    /// The state was never left, and its declared transitions are too many to list: it is assumed absorbing.
    Open,
}

/// The row of a state.
#[derive(Clone, Debug)]
pub struct Row {
    /// Target and count, sorted by target; a count of 0 means that the transition is declared possible but was not
    /// observed.
    pub entries: Vec<(u32, u64)>,
    /// The sum of the counts.
    pub exits: u64,
    /// The number of visits of the state.
    pub visits: u64,
    /// The origin of the numbers.
    pub origin: Origin,
}

impl Row {
    /// Returns the counts of the entries.
    pub(crate) fn counts(&self) -> Vec<u64> {
        self.entries.iter().map(|(_, count)| *count).collect()
    }
}

/// All rows of a chain. The states are sorted by name, between the start and the end.
#[derive(Clone, Debug)]
pub struct Rows {
    /// The meanings of the states.
    pub places: Vec<ChainPosition>,
    /// Their rows.
    pub rows: Vec<Row>,
    /// The initial state.
    pub start: u32,
    /// The state in which complete runs end.
    pub end: u32,
    /// Valid states of the abstraction that no trace has visited; `None` if they cannot be listed.
    pub unseen_valid: Option<usize>,
    /// Whether states may follow that are not among these, because a component is a text.
    pub is_open: bool,
    /// The number of a state, by its keys.
    index: FxHashMap<Box<[Key]>, u32>,
}

impl Rows {
    /// Returns the rows for counts. With `declared` they contain all transitions that are declared possible, for smoothing;
    /// otherwise only for states that were never left.
    ///
    /// # Errors
    /// [`SpaceError`], if the states or transitions have to be listed and exceed the limits.
    pub fn new(
        space: &Space,
        rules: &mut Rules<'_>,
        counts: &Counts,
        declared: bool,
        limits: RowLimits,
    ) -> Result<Rows, SpaceError> {
        let too_many = || SpaceError::TooManySteps {
            abstraction: space.abstraction().name.clone(),
            limit: limits.transitions,
        };
        let mut counts = counts.clone();
        let listed = rules.states(limits.states);
        let unseen_valid = listed.as_ref().ok().map(|states| unseen(states, &counts));
        let states = match (listed, declared) {
            (Ok(states), _) => Some(states),
            (Err(error), true) => return Err(error),
            (Err(_), false) => None,
        };
        let known = counts.nodes.len();
        if let (Some(states), true, true) = (&states, declared, rules.is_free()) {
            // Each visited state leads to all states: that these are too many is known without listing them.
            let last = counts.nodes.iter().filter_map(|keys| keys.last());
            let moving = last.filter(|key| !rules.is_absorbing(**key)).count();
            if moving.saturating_mul(states.len()) > limits.transitions {
                return Err(too_many());
            }
        }
        let exits = counts.exits();
        let visits = counts.visits();
        let mut successors: FxHashMap<Option<Key>, Vec<u32>> = FxHashMap::default();
        let mut origins: Vec<Origin> = Vec::new();
        // For each node, its declared edges, observed or not.
        let mut moves: Vec<Vec<u32>> = Vec::new();
        let mut total = counts.edges.len();
        let mut at = 0;
        // Declared transitions may lead to new nodes, which have transitions in turn.
        while at < counts.nodes.len() {
            let node = NodeId(at as u32);
            let last = counts.nodes[at].last().copied();
            let left = exits.get(at).copied().unwrap_or(0);
            let absorbing = last.is_some_and(|key| rules.is_absorbing(key));
            let origin = match (absorbing, left, &states) {
                (true, ..) => Origin::Absorbing,
                (false, 1.., _) => Origin::Counted,
                (false, 0, Some(_)) => Origin::Guessed,
                (false, 0, None) => Origin::Open,
            };
            let mut row = Vec::new();
            let lists = origin == Origin::Guessed || (declared && origin == Origin::Counted);
            if let (true, Some(states)) = (lists, &states) {
                let targets = successors.entry(last).or_insert_with(|| match last {
                    Some(key) => rules.successors(key, states),
                    None => (0u32..)
                        .zip(states)
                        .filter(|(_, key)| rules.may_begin(**key))
                        .map(|(place, _)| place)
                        .collect(),
                });
                for target in targets.iter() {
                    row.push(counts.edge(node, states[*target as usize]));
                }
                total += row.len();
                if total > limits.transitions
                    || counts.nodes.len() > limits.states.saturating_add(known)
                {
                    return Err(too_many());
                }
            }
            origins.push(origin);
            moves.push(row);
            at += 1;
        }
        Ok(Rows::arrange(
            space,
            rules,
            &counts,
            &visits,
            &origins,
            &moves,
            unseen_valid,
        ))
    }

    fn arrange(
        space: &Space,
        rules: &mut Rules<'_>,
        counts: &Counts,
        visits: &[u64],
        origins: &[Origin],
        moves: &[Vec<u32>],
        unseen_valid: Option<usize>,
    ) -> Rows {
        let explicit = space.start().is_none();
        // Nodes that only uncounted walks visited are left out.
        let mut used = vec![false; counts.nodes.len()];
        used[0] = true;
        let mut todo = vec![0u32];
        let mut out: Vec<Vec<u32>> = vec![Vec::new(); counts.nodes.len()];
        for (number, edge) in (0u32..).zip(&counts.edges) {
            if edge.count > 0 {
                out[edge.from.index()].push(number);
                for node in [edge.from, edge.to] {
                    if !std::mem::replace(&mut used[node.index()], true) {
                        todo.push(node.0);
                    }
                }
            }
        }
        for (node, ends) in (0u32..).zip(&counts.ends) {
            if *ends > 0 && !std::mem::replace(&mut used[node as usize], true) {
                todo.push(node);
            }
        }
        while let Some(node) = todo.pop() {
            for edge in &moves[node as usize] {
                let to = counts.edges[*edge as usize].to;
                if !std::mem::replace(&mut used[to.index()], true) {
                    todo.push(to.0);
                }
            }
        }
        let words: Vec<Vec<SmolStr>> = counts
            .nodes
            .iter()
            .map(|keys| keys.iter().flat_map(|key| space.decode(*key)).collect())
            .collect();
        let mut order: Vec<usize> = (0..counts.nodes.len()).filter(|node| used[*node]).collect();
        // The explicit start has no words, so it comes first.
        order.sort_by(|lhs, rhs| words[*lhs].cmp(&words[*rhs]));
        let mut place = vec![u32::MAX; counts.nodes.len()];
        for (new, old) in (0u32..).zip(&order) {
            place[*old] = new;
        }
        let end = order.len() as u32;
        let mut rows = Vec::with_capacity(order.len() + 1);
        let mut places = Vec::with_capacity(order.len() + 1);
        let mut index = FxHashMap::default();
        for (new, old) in (0u32..).zip(&order) {
            let keys = &counts.nodes[*old];
            let mut entries: Vec<(u32, u64)> = Vec::new();
            if origins[*old] == Origin::Absorbing || origins[*old] == Origin::Open {
                entries.push((new, 0));
            } else {
                let edges = moves[*old].iter().chain(out[*old].iter());
                entries.extend(edges.map(|edge| {
                    let edge = counts.edges[*edge as usize];
                    (place[edge.to.index()], edge.count)
                }));
                let ends = counts.ends[*old];
                let may_end = match keys.last() {
                    Some(key) => !moves[*old].is_empty() && rules.is_terminal(*key),
                    None => false,
                };
                if ends > 0 || may_end {
                    entries.push((end, ends));
                }
                entries.sort_unstable();
                entries.dedup();
            }
            let origin = match origins[*old] {
                // No transition is declared: the state is absorbing, unless only unseen texts may follow.
                Origin::Guessed if entries.is_empty() => {
                    entries.push((new, 0));
                    if space.is_open() {
                        Origin::Open
                    } else {
                        Origin::Absorbing
                    }
                }
                origin => origin,
            };
            rows.push(Row {
                exits: entries.iter().map(|(_, count)| count).sum(),
                entries,
                visits: visits.get(*old).copied().unwrap_or(0),
                origin,
            });
            let is_start = *old == 0 && explicit;
            places.push(if is_start {
                ChainPosition::Start
            } else {
                ChainPosition::At(keys.clone())
            });
            if !is_start {
                index.insert(keys.clone(), new);
            }
        }
        rows.push(Row {
            entries: vec![(end, 0)],
            exits: 0,
            visits: counts.ends.iter().sum(),
            origin: Origin::Absorbing,
        });
        places.push(ChainPosition::End);
        Rows {
            places,
            rows,
            start: place[0],
            end,
            unseen_valid,
            is_open: space.is_open(),
            index,
        }
    }

    /// Returns the number of states, start and end included.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Always false: a chain has at least its initial state.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the state that remembers these states of the abstraction.
    pub fn find(&self, keys: &[Key]) -> Option<u32> {
        self.index.get(keys).copied()
    }

    /// Returns a readable name of a state.
    pub fn describe(&self, space: &Space, state: u32) -> String {
        match &self.places[state as usize] {
            ChainPosition::Start => "start".to_owned(),
            ChainPosition::End => "end".to_owned(),
            ChainPosition::At(keys) => {
                let parts: Vec<String> = keys.iter().map(|key| space.describe(*key)).collect();
                parts.join(" → ")
            }
        }
    }
}

/// Returns the number of these states that never occurred.
fn unseen(states: &[Key], counts: &Counts) -> usize {
    let mut seen: rustc_hash::FxHashSet<Key> = counts
        .edges
        .iter()
        .filter(|edge| edge.count > 0)
        .flat_map(|edge| [edge.from, edge.to])
        .filter_map(|node| counts.nodes[node.index()].last().copied())
        .collect();
    // If the start is a state of the abstraction, every trace has visited it.
    seen.extend(counts.nodes[0].last().copied());
    states.iter().filter(|state| !seen.contains(state)).count()
}

/// Describes the reason why a step is impossible.
pub fn reason(step: Option<Step>) -> &'static str {
    match step {
        Some(Step::NoState) => "excluded by `valid`",
        Some(Step::Forbidden) => "excluded by `step`",
        Some(Step::NoMove) => "impossible for a monitor in `over`",
        Some(Step::Allowed) => "allowed",
        None => "excluded by `terminal`",
    }
}
