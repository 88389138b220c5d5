//! The fewest priorities that a deterministic parity automaton needs, and the class of its language that follows from them.
//!
//! Inside a component, the transitions with the least priority decide all loops that take one of them; without these the
//! component falls into smaller ones, and so on. Only the parity of the priorities along this nesting matters.
//!
//! # Source
//! O. Carton, R. Maceiras, "Computing the Rabin index of a parity automaton", 1999, on transitions; that the nesting in any
//! of its automata determines the class of a language: K. Wagner, "On omega-regular sets", 1979.

use super::acceptance::Acceptance;
use super::deterministic::{Builder, Deterministic};
use super::marks::Marks;
use super::scc::Components;
use crate::diagram::Cache;
use crate::limits::{LimitError, Limits};

/// A transition as an edge of the graph of states, with its priority; its letters do not matter here.
type Arc = (u32, u32, u32);

/// A component of the graph, or of the rest of a component without its least priorities.
struct Nest {
    arcs: Vec<usize>,
    /// Whether loops that take all arcs of the nest are accepted.
    accepting: bool,
    /// The nest around it.
    around: Option<usize>,
}

/// Returns the arcs of an automaton whose transitions have at most one priority each under `parity min even`, or of its
/// complement if `shift` is 1, and their nests, outer ones first.
fn nests(automaton: &Deterministic, shift: u32) -> Result<(Vec<Arc>, Vec<Nest>), LimitError> {
    let mut arcs: Vec<Arc> = Vec::new();
    for state in automaton.states() {
        for (target, marks) in automaton.successors(state) {
            arcs.push((state.0, target.0, priority(automaton, marks, shift)));
        }
    }
    arcs.sort_unstable();
    arcs.dedup();
    let mut nests: Vec<Nest> = Vec::new();
    let mut work = vec![((0..arcs.len()).collect::<Vec<usize>>(), None)];
    while let Some((part, around)) = work.pop() {
        let mut out: Vec<Vec<u32>> = vec![Vec::new(); automaton.len()];
        for &arc in &part {
            out[arcs[arc].0 as usize].push(arcs[arc].1);
        }
        let components =
            Components::new(automaton.len(), |state| out[state as usize].iter().copied())?;
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); components.len];
        for arc in part {
            let (from, to, _) = arcs[arc];
            if components.same(from, to) {
                parts[components.of[from as usize] as usize].push(arc);
            }
        }
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let least = part.iter().map(|&arc| arcs[arc].2).min().unwrap_or(0);
            let rest = part
                .iter()
                .copied()
                .filter(|&arc| arcs[arc].2 != least)
                .collect();
            work.push((rest, Some(nests.len())));
            nests.push(Nest {
                arcs: part,
                accepting: least.is_multiple_of(2),
                around,
            });
        }
    }
    Ok((arcs, nests))
}

fn priority(automaton: &Deterministic, marks: Marks, shift: u32) -> u32 {
    shift + marks.iter().next().unwrap_or(automaton.n_marks)
}

/// Whether some accepted loops have rejected loops inside, and whether some rejected loops have accepted ones inside.
pub(super) fn alternations(automaton: &Deterministic) -> Result<(bool, bool), LimitError> {
    let (_, nests) = nests(automaton, 0)?;
    let within = |outer: bool| {
        nests.iter().any(|nest| {
            let mut around = nest.around;
            while let Some(index) = around.filter(|_| nest.accepting != outer) {
                if nests[index].accepting == outer {
                    return true;
                }
                around = nests[index].around;
            }
            false
        })
    };
    Ok((within(true), within(false)))
}

/// Returns the same automaton with as few priorities as its transitions allow; its complement if `shift` is 1. If all
/// loops of a component have one value, all its transitions then have one priority.
pub(super) fn fewest_priorities(
    automaton: &Deterministic,
    shift: u32,
    limits: &Limits,
) -> Result<Deterministic, LimitError> {
    let (arcs, nests) = nests(automaton, shift)?;
    // The least priorities from outside in, for numberings in which accepting priorities begin at 0 and at 2.
    let values = |first: u32| {
        let mut values: Vec<u32> = Vec::with_capacity(nests.len());
        for nest in &nests {
            let least = match nest.around {
                Some(around) => values[around],
                None if nest.accepting => first,
                None => 1,
            };
            values.push(least + u32::from(least.is_multiple_of(2) != nest.accepting));
        }
        values
    };
    let greatest = |values: &[u32]| values.iter().copied().max().unwrap_or(1).max(1);
    let (mut values, other) = (values(0), values(2));
    if greatest(&other) < greatest(&values) {
        values = other;
    }
    let mut of: Vec<Option<u32>> = vec![None; arcs.len()];
    for (nest, &value) in nests.iter().zip(&values) {
        for &arc in &nest.arcs {
            of[arc] = Some(value);
        }
    }
    // The greatest priority, if odd, has the same effect as no mark.
    let greatest = greatest(&values);
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
            let arc = arcs.binary_search(&(state.0, target.0, priority(automaton, marks, shift)));
            let value = arc.ok().and_then(|arc| of[arc]);
            let marks = value.filter(|&value| value < n_marks);
            (target, marks.map_or(Marks::NONE, Marks::one))
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
