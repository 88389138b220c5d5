//! Merging states of a deterministic Büchi automaton that simulation does not show to be equivalent.
//!
//! There is no canonical automaton for the languages of deterministic Büchi automata, and finding a smallest one is hard. For
//! small automata an attempt is cheap: all edges into one state are led to another, and the change stays if the automaton still
//! accepts the same words.

use super::buchi::{Buchi, Edge};
use super::guards::Guard;
use super::marks::Marks;
use super::reduce::{Form, trim};
use crate::limits::{LimitError, Limits};
use crate::states::StateId;

/// The greatest number of states for which merging is tried; the search tries every pair of states.
const MAX_STATES: usize = 20;

/// Returns a deterministic automaton of the same words with no more states. `same` accepts the words of `buchi`, which is
/// deterministic and has at most one mark, `other` those that it does not accept.
pub(super) fn shrink(
    mut buchi: Buchi,
    same: &Buchi,
    other: &Buchi,
    limits: &Limits,
) -> Result<Buchi, LimitError> {
    if buchi.len() > MAX_STATES {
        return Ok(buchi);
    }
    'again: loop {
        for gone in buchi.states() {
            for instead in buchi.states().filter(|&state| state != gone) {
                let merged = trim(redirected(&buchi, gone, instead), Form::Edges, false)?;
                if merged.len() < buchi.len()
                    && merged.common_word(other, limits)?.is_none()
                    && rejected(&merged, limits)?
                        .common_word(same, limits)?
                        .is_none()
                {
                    buchi = merged;
                    continue 'again;
                }
            }
        }
        return Ok(buchi);
    }
}

/// Returns the automaton with all edges into one state led to another.
fn redirected(buchi: &Buchi, gone: StateId, instead: StateId) -> Buchi {
    let mut merged = buchi.clone();
    for edge in merged.edges.iter_mut().flatten() {
        if edge.target == gone {
            edge.target = instead;
        }
    }
    if merged.initial == gone {
        merged.initial = instead;
    }
    merged
}

/// Returns the words that a deterministic automaton with at most one mark does not accept: its run ends, or from some point
/// on sees no mark.
fn rejected(buchi: &Buchi, limits: &Limits) -> Result<Buchi, LimitError> {
    let n = buchi.len() as u32;
    let sink = StateId(2 * n);
    let mut guards = buchi.guards.clone();
    let mut before = Vec::with_capacity(buchi.len());
    let mut after = Vec::with_capacity(buchi.len());
    let mark = Marks::one(0);
    for edges in &buchi.edges {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let mut missing = Guard::TRUE;
        for edge in edges {
            missing = guards.minus(missing, edge.guard)?;
            let later = StateId(edge.target.0 + n);
            first.push(Edge {
                marks: Marks::NONE,
                ..*edge
            });
            if buchi.n_marks > 0 && edge.marks.is_empty() {
                first.push(Edge {
                    target: later,
                    ..*edge
                });
                second.push(Edge {
                    marks: mark,
                    target: later,
                    ..*edge
                });
            }
        }
        if missing != Guard::FALSE {
            first.push(Edge {
                guard: missing,
                marks: Marks::NONE,
                target: sink,
            });
        }
        before.push(first);
        after.push(second);
    }
    before.extend(after);
    before.push(vec![Edge {
        guard: Guard::TRUE,
        marks: mark,
        target: sink,
    }]);
    Buchi::check_states(before.len(), limits)?;
    Ok(Buchi {
        n_marks: 1,
        edges: before,
        guards,
        ..buchi.clone()
    })
}
