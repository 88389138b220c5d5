//! The fewest priorities that a deterministic parity automaton needs, and the smallest marks for them.

use super::acceptance::Acceptance;
use super::deterministic::{Builder, Deterministic};
use super::marks::Marks;
use super::scc::Components;
use crate::automata::diagram::Cache;
use crate::automata::limits::{LimitError, Limits};

/// A transition as an edge of the graph of states; its letters do not matter here.
type Arc = (u32, u32, u32);

/// Above all priorities that occur; even.
const TOP: u32 = 1 << 20;

/// The same automaton, for one whose transitions have at most one priority each under `parity min even`, with as few
/// priorities as its transitions allow; its complement if `shift` is 1. All loops of a component in which they have one value
/// then have one priority.
///
/// # Source
/// O. Carton, R. Maceiras, "Computing the Rabin index of a parity automaton", 1999, on transitions.
pub(super) fn fewest_priorities(
    automaton: &Deterministic,
    shift: u32,
    limits: &Limits,
) -> Result<Deterministic, LimitError> {
    let mut arcs: Vec<Arc> = Vec::new();
    for state in automaton.states() {
        for (target, marks) in automaton.successors(state) {
            let priority = shift + marks.iter().next().unwrap_or(automaton.n_marks);
            arcs.push((state.0, target.0, priority));
        }
    }
    arcs.sort_unstable();
    arcs.dedup();
    let mut values: Vec<Option<u32>> = vec![None; arcs.len()];
    assign(
        automaton.len(),
        &arcs,
        (0..arcs.len()).collect(),
        &mut values,
    );
    let least = values
        .iter()
        .flatten()
        .min()
        .map_or(0, |&least| least - least % 2);
    let greatest = values
        .iter()
        .flatten()
        .max()
        .map_or(1, |&greatest| greatest - least);
    // The greatest priority, if odd, says the same as no mark at all.
    let n_marks = if greatest % 2 == 1 {
        greatest
    } else {
        greatest + 1
    };
    Marks::check(n_marks)?;
    let mut builder = Builder::new(limits);
    let mut roots = Vec::new();
    for state in automaton.states() {
        let mut change = |leaf: u32| {
            let (target, marks) = automaton.leaves[leaf as usize];
            let priority = shift + marks.iter().next().unwrap_or(automaton.n_marks);
            let arc = arcs.binary_search(&(state.0, target.0, priority));
            let value = arc
                .ok()
                .and_then(|arc| values[arc])
                .map(|value| value - least);
            let marks = value
                .filter(|&value| value < n_marks)
                .map_or(Marks::NONE, Marks::one);
            (target, marks)
        };
        let root = automaton.roots[state.index()];
        roots.push(builder.leaves_of(
            &automaton.diagrams,
            root,
            &mut Cache::default(),
            &mut change,
        )?);
    }
    let acceptance = Acceptance::parity_min_even(n_marks);
    Ok(builder.finish(&automaton.atoms, roots, n_marks, acceptance))
}

/// Gives the arcs that lie on loops of this part of the graph their new priorities, the greatest that will do.
fn assign(n: usize, all: &[Arc], arcs: Vec<usize>, values: &mut [Option<u32>]) {
    // Parts still to be looked at, and those whose inner parts are done.
    enum Work {
        Split(Vec<usize>),
        Close(Vec<usize>, u32),
    }
    let mut work = vec![Work::Split(arcs)];
    while let Some(next) = work.pop() {
        match next {
            Work::Split(arcs) => {
                let mut out: Vec<Vec<u32>> = vec![Vec::new(); n];
                for &arc in &arcs {
                    out[all[arc].0 as usize].push(all[arc].1);
                }
                let components = Components::new(n, |state| out[state as usize].iter().copied());
                let mut parts: Vec<Vec<usize>> = vec![Vec::new(); components.len];
                for arc in arcs {
                    let (from, to, _) = all[arc];
                    if components.same(from, to) {
                        parts[components.of[from as usize] as usize].push(arc);
                    }
                }
                for part in parts.into_iter().filter(|part| !part.is_empty()) {
                    let least = part.iter().map(|&arc| all[arc].2).min().unwrap_or(0);
                    let rest = part
                        .iter()
                        .copied()
                        .filter(|&arc| all[arc].2 != least)
                        .collect();
                    work.push(Work::Close(part, least));
                    work.push(Work::Split(rest));
                }
            }
            Work::Close(part, least) => {
                let inner = part.iter().filter_map(|&arc| values[arc]).min();
                let value = match inner {
                    None => TOP + least % 2,
                    Some(inner) if inner % 2 == least % 2 => inner,
                    Some(inner) => inner - 1,
                };
                for arc in part {
                    // Every loop through an arc without a value has one of the least priority.
                    values[arc].get_or_insert(value);
                }
            }
        }
    }
}
