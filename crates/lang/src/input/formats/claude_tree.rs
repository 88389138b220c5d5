//! The records of a Claude Code transcript on the branch that was followed.
//!
//! Records form a tree by `parentUuid`. A fork is not always a retry: parallel tool calls fork too, since each call's
//! result hangs on its own call while the next call hangs there as well. So the branch is the path to the last leaf, and
//! with it every record of the same assistant message, every answer to a call on the branch, and every record on it that
//! is no message. A tree whose parents are missing, or that begins anew (after a compaction), is a further piece of the
//! same conversation.

use crate::hash::{SeededMap, SeededSet};

/// The parts of a record that the choice depends on.
#[derive(Clone, Debug, Default)]
pub(super) struct Node<'a> {
    pub(super) uuid: &'a str,
    pub(super) parent: Option<&'a str>,
    /// Whether it is of type `user` or `assistant`.
    pub(super) speaks: bool,
    /// `message.id` of assistant records.
    pub(super) message: Option<&'a str>,
    /// Ids of the calls it makes.
    pub(super) calls: Vec<&'a str>,
    /// Ids of the calls it answers.
    pub(super) answers: Vec<&'a str>,
}

/// Returns the root of each node: the first node of its tree. A parent that is missing or stands later makes a root.
pub(super) fn roots(nodes: &[Node<'_>]) -> (Vec<usize>, Vec<Option<usize>>) {
    let mut place: SeededMap<&str, usize> = SeededMap::default();
    let mut roots: Vec<usize> = Vec::with_capacity(nodes.len());
    let mut parents = Vec::with_capacity(nodes.len());
    for (idx, node) in nodes.iter().enumerate() {
        let parent = node.parent.and_then(|parent| place.get(parent).copied());
        let root = parent.and_then(|parent| roots.get(parent).copied());
        roots.push(root.unwrap_or(idx));
        parents.push(parent);
        place.insert(node.uuid, idx);
    }
    (roots, parents)
}

/// Marks the nodes of the branch that ends in the last leaf, tree by tree.
pub(super) fn branch(nodes: &[Node<'_>]) -> Vec<bool> {
    let (roots, parents) = roots(nodes);
    let mut leaves: SeededMap<usize, usize> = SeededMap::default();
    for (idx, root) in roots.iter().enumerate() {
        let speaks = |idx: usize| nodes.get(idx).is_some_and(|node| node.speaks);
        let leaf = leaves.entry(*root).or_insert(idx);
        if speaks(idx) || !speaks(*leaf) {
            *leaf = idx;
        }
    }
    let mut chosen = vec![false; nodes.len()];
    for leaf in leaves.values() {
        let mut next = Some(*leaf);
        while let Some(idx) = next {
            if let Some(mark) = chosen.get_mut(idx) {
                *mark = true;
            }
            next = parents.get(idx).copied().flatten();
        }
    }
    // Two rounds: records of one message bring calls, and those bring answers.
    for _ in 0..2 {
        let on_branch = |idx: &usize| chosen.get(*idx).copied().unwrap_or(false);
        let mut messages: SeededSet<&str> = SeededSet::default();
        let mut calls: SeededSet<&str> = SeededSet::default();
        for (_, node) in nodes.iter().enumerate().filter(|(idx, _)| on_branch(idx)) {
            messages.extend(node.message);
            calls.extend(node.calls.iter().copied());
        }
        let mut next = chosen.clone();
        for (idx, node) in nodes.iter().enumerate() {
            let parent_chosen = parents
                .get(idx)
                .copied()
                .flatten()
                .is_some_and(|parent| next.get(parent).copied().unwrap_or(false));
            let joins = node
                .message
                .is_some_and(|message| messages.contains(message))
                || (!node.answers.is_empty()
                    && node.answers.iter().all(|answer| calls.contains(answer)))
                || (!node.speaks && parent_chosen);
            if joins && let Some(mark) = next.get_mut(idx) {
                *mark = true;
            }
        }
        chosen = next;
    }
    chosen
}
