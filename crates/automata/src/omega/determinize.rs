//! From a Büchi automaton to a deterministic parity automaton.
//!
//! A state is a Safra tree, stored as the states that the runs have reached, each with the path to its node. A path is a list
//! of node names; older nodes have smaller names. A run that takes an accepting edge moves into a new child of its node. When
//! all states of a node have moved into its children, every run in it has taken another accepting edge: the children are
//! removed and the node is *full*. A node that is full infinitely often and removed finitely often shows that a run is
//! accepting.
//!
//! # Source
//! S. Safra, "On the complexity of omega-automata", 1988; names and parity by N. Piterman, "From nondeterministic Büchi and
//! Streett automata to deterministic parity automata", 2007; marks on transitions as in S. Schewe, "Tighter bounds for the
//! determinisation of Büchi automata", 2009; trees as paths as in R. Redziejowski, "An improved construction of
//! deterministic omega-automaton using derivatives", 2012.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::acceptance::Acceptance;
use super::buchi::{Buchi, Edge};
use super::deterministic::{Builder, Deterministic};
use super::guards::Guard;
use super::marks::Marks;
use super::subsets::Steps;
use crate::diagram::Cache;
use crate::limits::{LimitError, Limits, Resource, check};
use crate::states::StateId;

/// States with the paths to their nodes, by state. Every path begins at the root, 0.
type Tree = Vec<(u32, Vec<u32>)>;

/// Returns the deterministic automaton of one with at most one mark. Its condition is `parity min even`, each transition
/// with one mark.
///
/// # Limits
/// As many states as there are trees: `n^O(n)`; for weak automata, such as those of safety, about `2^n`.
pub(super) fn determinize(buchi: &Buchi, limits: &Limits) -> Result<Deterministic, LimitError> {
    let accepting = Marks::first(buchi.n_marks);
    let universal = |state: u32| {
        let all = |edge: &Edge| {
            edge.guard == Guard::TRUE && edge.marks == accepting && edge.target == StateId(state)
        };
        buchi.edges[state as usize].iter().any(all)
    };
    let universal: Vec<bool> = (0..buchi.len() as u32).map(universal).collect();
    let mut steps = Steps::new(buchi, limits);
    let mut builder = Builder::new(limits);
    let mut trees: IndexSet<Tree, FxBuildHasher> = IndexSet::default();
    trees.insert(vec![(buchi.initial.0, vec![0])]);
    let mut roots = Vec::new();
    let mut n_priorities = 0;
    while let Some(tree) = trees.get_index(roots.len()).cloned() {
        let lists = steps.step(buchi, tree.iter().map(|&(state, _)| state))?;
        let mut overflow = Ok(());
        let mut leaf = |list: u32| {
            let edges = steps.edges(buchi, list);
            let (next, priority) = successor(&tree, &edges, accepting, &universal);
            n_priorities = n_priorities.max(priority + 1);
            overflow = overflow.and(Marks::check(priority + 1));
            let target = trees.insert_full(next).0 as u32;
            (StateId(target), Marks::one(priority))
        };
        let root = builder.leaves_of(&steps.diagrams, lists, &mut Cache::default(), &mut leaf)?;
        overflow?;
        check(Resource::States, limits.states as u64, trees.len() as u64)?;
        roots.push(root);
    }
    let acceptance = Acceptance::parity_min_even(n_priorities);
    Ok(builder.finish(&buchi.atoms, roots, n_priorities, acceptance))
}

/// Returns the tree after a letter, and the priority of the transition.
fn successor(
    tree: &Tree,
    edges: &[(u32, Edge)],
    accepting: Marks,
    universal: &[bool],
) -> (Tree, u32) {
    // A run in a state that accepts everything decides the word.
    if let Some((_, edge)) = edges
        .iter()
        .find(|(_, edge)| universal[edge.target.index()])
    {
        return (vec![(edge.target.0, vec![0])], 0);
    }
    let n_names = tree
        .iter()
        .flat_map(|(_, path)| path)
        .max()
        .map_or(0, |&name| name + 1);
    let mut paths: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &(source, edge) in edges {
        let Ok(place) = tree.binary_search_by_key(&source, |&(state, _)| state) else {
            continue;
        };
        let mut path = tree[place].1.clone();
        if edge.marks == accepting
            && let Some(&node) = path.last()
        {
            // One new child for each node, younger than all others.
            path.push(n_names + node);
        }
        match paths.get_mut(&edge.target.0) {
            Some(known) if compare(&path, known) == Ordering::Less => *known = path,
            Some(_) => {}
            None => {
                paths.insert(edge.target.0, path);
            }
        }
    }
    // The nodes that remain, and the nodes that have states of their own.
    let mut full = None;
    loop {
        let mut inner = BTreeSet::new();
        let mut own = BTreeSet::new();
        for path in paths.values() {
            if let Some((last, above)) = path.split_last() {
                own.insert(*last);
                inner.extend(above.iter().copied());
            }
        }
        let Some(&node) = inner.difference(&own).next() else {
            break;
        };
        full = Some(full.map_or(node, |oldest: u32| oldest.min(node)));
        for path in paths.values_mut() {
            if let Some(depth) = path.iter().position(|&name| name == node) {
                path.truncate(depth + 1);
            }
        }
    }
    let left: BTreeSet<u32> = paths.values().flatten().copied().collect();
    let removed = (0..n_names).find(|name| !left.contains(name));
    let priority = match (full, removed) {
        (Some(full), None) => 2 * full,
        (Some(full), Some(removed)) if full < removed => 2 * full,
        // The root is removed when no run is left; it is never created again.
        (_, Some(removed)) => (2 * removed).max(1) - u32::from(removed > 0),
        (None, None) => 2 * n_names + 1,
    };
    let names: Vec<u32> = left.into_iter().collect();
    for path in paths.values_mut() {
        for name in path {
            *name = names.binary_search(name).unwrap_or(0) as u32;
        }
    }
    (paths.into_iter().collect(), priority)
}

/// Returns the order of two nodes that share a state: the node in the older branch keeps it; of a node and its descendant,
/// the descendant.
fn compare(a: &[u32], b: &[u32]) -> Ordering {
    match a.iter().zip(b).find(|(x, y)| x != y) {
        Some((x, y)) => x.cmp(y),
        None => b.len().cmp(&a.len()),
    }
}
