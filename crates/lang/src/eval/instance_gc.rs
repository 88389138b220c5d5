//! The values of variables that a property distinguishes, and the instances that may be dropped.
//!
//! An instance in the state of the root needs no memory if the root's value can never decide the property: values in that state
//! are then never reported. A walk of the automaton with the letters that compare a value false decides this.

use rustc_hash::FxHashSet;

use super::binding::{Places, place};
use super::code::{Code, Node, NodeId, Reads};
use super::compiled::{Condition, LetterCode, Release};
use super::monitor::Automaton;
use crate::hir::Quantified;
use crate::value::{Truth, Value};

/// Whether instances that lack a value can ever decide the property.
pub(super) fn release(
    automaton: &Automaton,
    letters: &[LetterCode],
    code: &Code,
    quantified: &Quantified,
) -> Release {
    let reads: Vec<FxHashSet<u32>> = letters
        .iter()
        .map(|letter| vars_below(code, letter.node))
        .collect();
    // A letter may hold for an unseen value if it can hold for a value that nothing is equal to, such as `x != y`.
    let free = |missing: u32, letter: u32| {
        let letter = letter as usize;
        !reads[letter].contains(&missing) || !false_if_unseen(code, letters[letter].node, missing)
    };
    let neutral = Truth::from(quantified.universal);
    let always = (0..quantified.vars.len() as u32).all(|missing| {
        automaton.always_stands(|letter| free(missing, letter), neutral) == Some(true)
    });
    if always {
        Release::Neutral
    } else {
        Release::Never
    }
}

fn vars_below(code: &Code, root: NodeId) -> FxHashSet<u32> {
    let mut found = FxHashSet::default();
    let mut seen = FxHashSet::default();
    let mut todo = vec![root];
    while let Some(node) = todo.pop() {
        if !seen.insert(node) || !code.info(node).reads.has(Reads::VAR.with(Reads::FRAME)) {
            continue;
        }
        if let Node::Var(var) = code.node(node) {
            found.insert(*var);
        }
        todo.extend(code.operands(node));
    }
    found
}

/// Returns the dependence of a condition on variables.
pub(super) fn condition(code: &Code, node: NodeId) -> Condition {
    let reads = vars_below(code, node);
    Condition {
        reads: reads
            .into_iter()
            .fold(0, |all, var| all | place(var as usize)),
        needs: needs(code, node),
        by_value: code.info(node).reads.has(Reads::KEYED),
    }
}

/// Returns the parameters that must be equal to a compared term for an event to change the track, if all their compared terms
/// are known.
pub(super) fn needed(code: &Code, track: u32) -> Places {
    fn walk(code: &Code, track: u32, node: NodeId) -> Places {
        match code.node(node) {
            _ if code.is_own_value(track, node) => Places::MAX,
            Node::If(condition, then, other) => {
                let then = walk(code, track, *then);
                (needs(code, *condition) | then) & walk(code, track, *other)
            }
            _ => 0,
        }
    }
    let update = code.tracks[track as usize].update;
    update.map_or(Places::MAX, |update| walk(code, track, update))
}

/// Returns the variables or parameters that must be equal to a compared term for the expression to be true, if all their
/// compared terms are known. Membership in a list that is not a literal is not used: a value that is not a list is an error in
/// the data.
fn needs(code: &Code, node: NodeId) -> Places {
    let var = |node: NodeId| match code.node(node) {
        Node::Var(var) | Node::Param(var) => place(*var as usize),
        _ => 0,
    };
    match code.node(node) {
        Node::Const(Value::Bool(false)) => Places::MAX,
        Node::Eq(a, b) => var(*a) | var(*b),
        Node::In(item, list) if matches!(code.node(*list), Node::List(_) | Node::Set(_)) => {
            var(*item)
        }
        Node::InConst(item, _) => var(*item),
        Node::And(a, b) => needs(code, *a) | needs(code, *b),
        Node::Or(a, b) | Node::If(_, a, b) => needs(code, *a) & needs(code, *b),
        _ => 0,
    }
}

/// Whether a Boolean expression is certainly false for a value of the variable that nothing has.
pub(super) fn false_if_unseen(code: &Code, node: NodeId, var: u32) -> bool {
    let is_var = |node: &NodeId| matches!(code.node(*node), Node::Var(other) if *other == var);
    match code.node(node) {
        Node::Const(Value::Bool(false)) => true,
        Node::Eq(a, b) => is_var(a) != is_var(b),
        Node::In(item, _) | Node::InConst(item, _) => is_var(item),
        Node::Contains(_, item, _) => is_var(item),
        Node::And(a, b) => false_if_unseen(code, *a, var) || false_if_unseen(code, *b, var),
        Node::Or(a, b) | Node::If(_, a, b) => {
            false_if_unseen(code, *a, var) && false_if_unseen(code, *b, var)
        }
        _ => false,
    }
}
