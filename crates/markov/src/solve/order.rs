//! The order in which states are eliminated: approximate minimum degree on the quotient graph.
//!
//! The neighbours of a state are the sources and targets of its transitions. Eliminating it makes them neighbours of one
//! another; instead of all these pairs the graph stores one *element*, the list of them, so that it never grows. The degree of
//! a state is bounded by the sizes of its elements outside of the newest one, which one pass over the newest element's states
//! computes. Indistinguishable states are eliminated together, as one [group](Order::groups).
//!
//! On a path or a tree the work is linear; on a grid of `n` states the fill is `O(n log n)` in practice.
//!
//! # Source
//! P. Amestoy, T. Davis, I. Duff, "An approximate minimum degree ordering algorithm", SIAM J. Matrix Anal. Appl. 17(4), 1996.

use std::ops::Range;

use super::super::scalar::Scalar;
use super::block::Block;

/// Marks the absence of a state or group.
pub(super) const NONE: u32 = u32::MAX;

/// A state with more than this many times √n neighbours, and more than 32, is eliminated last: as a neighbour of most states it
/// would be updated in every step, and it does not affect the order of the others.
const HUB: f64 = 10.0;

/// An order of elimination.
///
/// # Shape
/// Group `g` is `states[groups[g]..groups[g + 1]]`. Groups are in postorder: the children of a group directly precede it, each
/// with its own descendants.
#[derive(Debug)]
pub(super) struct Order {
    /// The states in the order of elimination.
    pub(super) states: Vec<u32>,
    /// The start of each group, and the end of the last.
    pub(super) groups: Vec<u32>,
    /// The parent of each group, which receives its remainder; [`NONE`] for a group without remainder.
    pub(super) parents: Vec<u32>,
    /// The approximate number of multiplications of the elimination.
    pub(super) work: f64,
}

/// The neighbours of each state, without self-loops.
struct Neighbours {
    start: Vec<usize>,
    lists: Vec<u32>,
}

impl Neighbours {
    /// Returns the neighbours of the members of a block, without duplicates.
    fn new<V: Scalar>(block: &Block<V>) -> Neighbours {
        let n = block.len();
        let mut start = vec![0usize; n + 2];
        for state in 0..n {
            start[state + 2] += (block.rows[state + 1] - block.rows[state]) as usize;
        }
        for &target in &block.targets {
            start[target as usize + 2] += 1;
        }
        for at in 2..start.len() {
            start[at] += start[at - 1];
        }
        let mut lists = vec![0u32; 2 * block.targets.len()];
        for state in 0..n {
            for edge in block.rows[state]..block.rows[state + 1] {
                let target = block.targets[edge as usize] as usize;
                lists[start[state + 1]] = target as u32;
                start[state + 1] += 1;
                lists[start[target + 1]] = state as u32;
                start[target + 1] += 1;
            }
        }
        start.pop();
        // A pair of opposite transitions has given two entries on each side.
        let mut seen = vec![NONE; n];
        let (mut write, mut begin) = (0, 0);
        for state in 0..n {
            let end = start[state + 1];
            start[state] = write;
            for read in begin..end {
                let neighbour = lists[read];
                if seen[neighbour as usize] != state as u32 {
                    seen[neighbour as usize] = state as u32;
                    lists[write] = neighbour;
                    write += 1;
                }
            }
            begin = end;
        }
        start[n] = write;
        lists.truncate(write);
        Neighbours { start, lists }
    }
}

/// The remaining states, and the elements that represent the eliminated ones.
///
/// The list of a state, from `start` on in `lists`, contains its elements, followed by the neighbours that no element contains.
/// An element has the number of the state whose elimination created it; its list contains the states that remained then.
struct Quotient {
    lists: Vec<u32>,
    start: Vec<usize>,
    /// The number of elements at the start of a state's list.
    elements: Vec<u32>,
    length: Vec<u32>,
    /// The number of states that this state represents; 0 once it is eliminated.
    weight: Vec<u32>,
    /// For a state, an upper bound on the number of neighbours at its elimination; for an element, the number of its
    /// states.
    degree: Vec<u32>,
    /// Whether this is an element that was not absorbed.
    live: Vec<bool>,
    /// The states that are eliminated together with a state, as a linked list.
    next: Vec<u32>,
    last: Vec<u32>,
    /// The first state of each degree, and the links of these lists.
    heads: Vec<u32>,
    after: Vec<u32>,
    before: Vec<u32>,
    least: usize,
}

impl Quotient {
    fn new(neighbours: Neighbours, hubs: &[bool]) -> Quotient {
        let n = hubs.len();
        let Neighbours { start, lists } = neighbours;
        let mut quotient = Quotient {
            lists,
            elements: vec![0; n],
            length: (0..n).map(|i| (start[i + 1] - start[i]) as u32).collect(),
            start,
            weight: hubs.iter().map(|hub| u32::from(!hub)).collect(),
            degree: vec![0; n],
            live: vec![false; n],
            next: vec![NONE; n],
            last: (0..n as u32).collect(),
            heads: vec![NONE; n.max(1)],
            after: vec![NONE; n],
            before: vec![NONE; n],
            least: 0,
        };
        for state in (0..n as u32).rev() {
            if !hubs[state as usize] {
                quotient.degree[state as usize] = quotient.length[state as usize];
                quotient.link(state);
            }
        }
        quotient.least = 0;
        quotient
    }

    fn link(&mut self, state: u32) {
        let degree = self.degree[state as usize] as usize;
        let head = self.heads[degree];
        self.after[state as usize] = head;
        self.before[state as usize] = NONE;
        if head != NONE {
            self.before[head as usize] = state;
        }
        self.heads[degree] = state;
        self.least = self.least.min(degree);
    }

    fn unlink(&mut self, state: u32) {
        let (before, after) = (self.before[state as usize], self.after[state as usize]);
        if after != NONE {
            self.before[after as usize] = before;
        }
        if before == NONE {
            self.heads[self.degree[state as usize] as usize] = after;
        } else {
            self.after[before as usize] = after;
        }
    }

    /// Removes a state of least degree from the lists and returns it.
    fn take(&mut self) -> Option<u32> {
        while self.least < self.heads.len() {
            let state = self.heads[self.least];
            if state != NONE {
                self.unlink(state);
                return Some(state);
            }
            self.least += 1;
        }
        None
    }

    fn range(&self, of: u32) -> Range<usize> {
        let begin = self.start[of as usize];
        begin..begin + self.length[of as usize] as usize
    }

    /// Adds the states represented by `other` to those of `one`.
    fn merge(&mut self, one: u32, other: u32) {
        let last = self.last[one as usize];
        self.next[last as usize] = other;
        self.last[one as usize] = self.last[other as usize];
        self.weight[one as usize] += self.weight[other as usize];
        self.weight[other as usize] = 0;
    }
}

/// Returns an elimination order, or `None` if elimination would take more than `max_work` multiplications.
///
/// # Limits
/// Memory: linear in the transitions and in the remainders of the groups.
pub(super) fn order<V: Scalar>(block: &Block<V>, max_work: f64) -> Option<Order> {
    let n = block.len();
    let neighbours = Neighbours::new(block);
    let most = ((n as f64).sqrt() * HUB).max(32.0) as usize;
    let hubs: Vec<bool> = (0..n)
        .map(|state| neighbours.start[state + 1] - neighbours.start[state] > most)
        .collect();
    let n_hubs = hubs.iter().filter(|hub| **hub).count();
    let mut search = Search::new(Quotient::new(neighbours, &hubs), n - n_hubs);
    let mut pivots = Vec::new();
    // The hubs come last, as a dense matrix, and may be neighbours of any group.
    let mut work = (n_hubs as f64).powi(3) / 3.0;
    while search.left > 0 {
        let pivot = search.graph.take()?;
        let (own, size) = search.eliminate(pivot);
        pivots.push(pivot);
        let all = f64::from(size + own) + n_hubs.min(4) as f64;
        let beyond = all - f64::from(own);
        work += (all.powi(3) - beyond.powi(3)) / 3.0;
        if work > max_work {
            return None;
        }
    }
    let hubs = (0..n as u32).filter(|&state| hubs[state as usize]);
    let Search { graph, parents, .. } = search;
    Some(postorder(&graph, &pivots, &parents, hubs.collect(), work))
}

/// The state of the search for an order, with scratch memory. Marks are the number of the current pivot, so they need no
/// clearing.
struct Search {
    graph: Quotient,
    /// The number of states that are not eliminated.
    left: u32,
    /// The element that absorbed each element.
    parents: Vec<u32>,
    /// Marks the states of the newest element.
    marked: Vec<u32>,
    /// Marks the entries of a list that others are compared with.
    compared: Vec<u32>,
    /// Marks the elements whose number of states outside of the newest one is known.
    touched: Vec<u32>,
    /// For an element, the number of its states outside of the newest one; for a state of the newest one, that of its
    /// neighbours.
    outside: Vec<u32>,
    /// Pairs of hash and state: equal lists have equal hashes.
    alike: Vec<(u64, u32)>,
    rest: Vec<u32>,
}

impl Search {
    fn new(graph: Quotient, left: usize) -> Search {
        let n = graph.weight.len();
        Search {
            graph,
            left: left as u32,
            parents: vec![NONE; n],
            marked: vec![NONE; n],
            compared: vec![NONE; n],
            touched: vec![NONE; n],
            outside: vec![0; n],
            alike: Vec::new(),
            rest: Vec::new(),
        }
    }

    /// Eliminates a state and those whose neighbours are the same. Returns the number of eliminated states, and that of the
    /// states in the new element.
    fn eliminate(&mut self, pivot: u32) -> (u32, u32) {
        let begin = self.graph.lists.len();
        let mut own = std::mem::take(&mut self.graph.weight[pivot as usize]);
        let mut size = self.gather(pivot);
        let element = begin..self.graph.lists.len();
        self.count_outside(element.clone(), pivot);
        self.alike.clear();
        for at in element.clone() {
            let state = self.graph.lists[at];
            self.graph.unlink(state);
            if !self.cover(state, pivot) {
                // Its neighbours are those of the pivot.
                let weight = self.graph.weight[state as usize];
                size -= weight;
                own += weight;
                self.graph.merge(pivot, state);
            }
        }
        self.graph.weight[pivot as usize] = 0;
        self.left -= own;
        merge_alike(&mut self.graph, &mut self.alike, &mut self.compared);
        self.close(element, pivot, size);
        (own, size)
    }

    /// Appends the new element to the lists: all neighbours of a pivot, including those in elements, which it absorbs. Returns
    /// the number of its states.
    fn gather(&mut self, pivot: u32) -> u32 {
        let graph = &mut self.graph;
        self.marked[pivot as usize] = pivot;
        let mut size = 0;
        let n_elements = graph.elements[pivot as usize] as usize;
        for (place, at) in graph.range(pivot).enumerate() {
            let neighbour = graph.lists[at];
            let through = if place < n_elements {
                graph.live[neighbour as usize] = false;
                self.parents[neighbour as usize] = pivot;
                graph.range(neighbour)
            } else {
                at..at + 1
            };
            for at in through {
                let state = graph.lists[at];
                let weight = graph.weight[state as usize];
                if weight > 0 && self.marked[state as usize] != pivot {
                    self.marked[state as usize] = pivot;
                    size += weight;
                    graph.lists.push(state);
                }
            }
        }
        size
    }

    /// Counts, for each element adjacent to the new one, its states that are not in the new one.
    fn count_outside(&mut self, element: Range<usize>, pivot: u32) {
        let graph = &self.graph;
        for &state in &graph.lists[element] {
            let elements = graph.start[state as usize]..;
            for at in elements.take(graph.elements[state as usize] as usize) {
                let element = graph.lists[at] as usize;
                if !graph.live[element] {
                    continue;
                }
                if self.touched[element] != pivot {
                    self.touched[element] = pivot;
                    self.outside[element] = graph.degree[element];
                }
                self.outside[element] -= graph.weight[state as usize];
            }
        }
    }

    /// Replaces the entries of a state's list that the new element covers by that element, and counts the neighbours outside of
    /// it. Returns `false` if there are none; the list then no longer matters.
    fn cover(&mut self, state: u32, pivot: u32) -> bool {
        let graph = &mut self.graph;
        let i = state as usize;
        let range = graph.range(state);
        let middle = range.start + graph.elements[i] as usize;
        self.rest.clear();
        self.rest.extend_from_slice(&graph.lists[middle..range.end]);
        let mut write = range.start;
        let (mut degree, mut hash) = (0u32, 0u64);
        for read in range.start..middle {
            let element = graph.lists[read];
            let e = element as usize;
            if !graph.live[e] {
                continue;
            }
            if self.outside[e] == 0 {
                // The new element contains all of it.
                graph.live[e] = false;
                self.parents[e] = pivot;
                continue;
            }
            degree += self.outside[e];
            hash = hash.wrapping_add(u64::from(element));
            graph.lists[write] = element;
            write += 1;
        }
        let kept_elements = write - range.start;
        self.rest.retain(|&other| {
            let keep = graph.weight[other as usize] > 0 && self.marked[other as usize] != pivot;
            if keep {
                degree += graph.weight[other as usize];
                hash = hash.wrapping_add(u64::from(other));
            }
            keep
        });
        if degree == 0 {
            return false;
        }
        // The pivot or one of its elements has left the list, so there is room for the new element.
        graph.lists[write] = pivot;
        graph.lists[write + 1..write + 1 + self.rest.len()].copy_from_slice(&self.rest);
        graph.elements[i] = kept_elements as u32 + 1;
        graph.length[i] = (kept_elements + 1 + self.rest.len()) as u32;
        self.outside[i] = degree;
        self.alike.push((hash, state));
        true
    }

    /// Keeps the remaining states of the new element, and updates their degrees.
    fn close(&mut self, element: Range<usize>, pivot: u32, size: u32) {
        let graph = &mut self.graph;
        let begin = element.start;
        let mut write = begin;
        for at in element {
            let state = graph.lists[at];
            let weight = graph.weight[state as usize];
            if weight == 0 {
                continue;
            }
            graph.lists[write] = state;
            write += 1;
            let others = size - weight;
            let degree = (graph.degree[state as usize] + others)
                .min(self.outside[state as usize] + others)
                .min(self.left - weight);
            graph.degree[state as usize] = degree;
            graph.link(state);
        }
        graph.lists.truncate(write);
        let p = pivot as usize;
        graph.start[p] = begin;
        graph.length[p] = (write - begin) as u32;
        graph.degree[p] = size;
        graph.live[p] = size > 0;
    }
}

/// Merges states of the newest element with equal lists.
fn merge_alike(graph: &mut Quotient, alike: &mut [(u64, u32)], compared: &mut [u32]) {
    alike.sort_unstable();
    for at in 0..alike.len() {
        let (hash, one) = alike[at];
        if graph.weight[one as usize] == 0 || alike.get(at + 1).is_none_or(|next| next.0 != hash) {
            continue;
        }
        for at in graph.range(one) {
            compared[graph.lists[at] as usize] = one;
        }
        for &(_, other) in alike[at + 1..].iter().take_while(|next| next.0 == hash) {
            let (i, j) = (one as usize, other as usize);
            let same = graph.weight[j] > 0
                && graph.length[i] == graph.length[j]
                && graph.elements[i] == graph.elements[j]
                && graph
                    .range(other)
                    .all(|at| compared[graph.lists[at] as usize] == one);
            if same {
                graph.merge(one, other);
            }
        }
        // Clears the marks, so that a state compared in a later round cannot match them.
        for at in graph.range(one) {
            compared[graph.lists[at] as usize] = NONE;
        }
    }
}

/// Returns the groups in postorder: each follows its children.
fn postorder(
    graph: &Quotient,
    pivots: &[u32],
    parents: &[u32],
    hubs: Vec<u32>,
    work: f64,
) -> Order {
    let n = parents.len();
    let n_groups = pivots.len() + usize::from(!hubs.is_empty());
    let mut number = vec![NONE; n];
    for (at, &pivot) in pivots.iter().enumerate() {
        number[pivot as usize] = at as u32;
    }
    let last = if hubs.is_empty() {
        NONE
    } else {
        pivots.len() as u32
    };
    let up: Vec<u32> = pivots
        .iter()
        .map(|&pivot| match parents[pivot as usize] {
            NONE => last,
            parent => number[parent as usize],
        })
        .chain((!hubs.is_empty()).then_some(NONE))
        .collect();
    // The children as linked lists; a later child is nearer to its parent.
    let (mut first, mut sibling) = (vec![NONE; n_groups], vec![NONE; n_groups]);
    for group in (0..n_groups).rev() {
        if up[group] != NONE {
            sibling[group] = std::mem::replace(&mut first[up[group] as usize], group as u32);
        }
    }
    let mut order = Order {
        states: Vec::with_capacity(n),
        groups: Vec::with_capacity(n_groups + 1),
        parents: vec![NONE; n_groups],
        work,
    };
    let mut placed = vec![NONE; n_groups];
    let mut stack = Vec::new();
    for root in (0..n_groups).filter(|&group| up[group] == NONE) {
        stack.push(root as u32);
        while let Some(&group) = stack.last() {
            let child = first[group as usize];
            if child != NONE {
                first[group as usize] = sibling[child as usize];
                stack.push(child);
                continue;
            }
            stack.pop();
            placed[group as usize] = order.groups.len() as u32;
            order.groups.push(order.states.len() as u32);
            if group == last {
                order.states.extend_from_slice(&hubs);
                continue;
            }
            let mut member = pivots[group as usize];
            while member != NONE {
                order.states.push(member);
                member = graph.next[member as usize];
            }
        }
    }
    order.groups.push(order.states.len() as u32);
    for group in 0..n_groups {
        if up[group] != NONE {
            order.parents[placed[group] as usize] = placed[up[group] as usize];
        }
    }
    order
}
