//! Making automata smaller: what no accepting run needs is removed, states that simulate each other are merged, and edges
//! that a better one covers are dropped.

use std::collections::BTreeMap;

use super::buchi::{Buchi, Edge};
use super::guards::Guard;
use super::marks::Marks;
use super::scc::Components;
use super::simulation::{Direction, merge, prune};
use crate::limits::LimitError;
use crate::states::StateId;

/// The form of the marks of an automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// On any edges.
    Edges,
    /// At most one, the same on all edges of a state.
    States,
}

/// Repeats all reductions as long as they help.
pub(super) fn reduce(buchi: Buchi) -> Result<Buchi, LimitError> {
    reduce_as(buchi, Form::Edges)
}

/// As [`reduce`], keeping the marks in this form.
///
/// An edge that leaves its component is taken finitely often, so it may carry any marks. Full and empty marks make different
/// states equivalent, so both are tried.
pub(super) fn reduce_as(buchi: Buchi, form: Form) -> Result<Buchi, LimitError> {
    let mut best = trim(buchi, form, false)?;
    loop {
        let before = (best.len(), best.n_edges(), best.n_marks);
        for direction in [Direction::Forward, Direction::Backward] {
            for passing in [false, true] {
                best = trim(best, form, passing)?;
                best = trim(merge(best, direction)?, form, passing)?;
                best = trim(prune(best, direction)?, form, passing)?;
            }
        }
        if (best.len(), best.n_edges(), best.n_marks) >= before {
            return Ok(best);
        }
    }
}

/// Keeps the states that an accepting run can visit and the marks that matter, and numbers the states in the order of a
/// breadth-first search. Edges that leave their component carry all marks if `passing`, else none.
pub(super) fn trim(mut buchi: Buchi, form: Form, passing: bool) -> Result<Buchi, LimitError> {
    let components = buchi.components()?;
    let accepting = buchi.accepting_components(&components);
    // Components are numbered against the edges, so what a component leads to is known before it.
    let mut useful = accepting.clone();
    let mut order: Vec<u32> = (0..buchi.len() as u32).collect();
    order.sort_by_key(|&state| components.of[state as usize]);
    for state in order {
        let leads = |edge: &Edge| useful[components.of[edge.target.index()] as usize];
        if buchi.edges[state as usize].iter().any(leads) {
            useful[components.of[state as usize] as usize] = true;
        }
    }
    for (state, edges) in buchi.edges.iter_mut().enumerate() {
        edges.retain(|edge| useful[components.of[edge.target.index()] as usize]);
        for edge in edges {
            let inside = components.same(state as u32, edge.target.0);
            if !inside || !accepting[components.of[state] as usize] {
                edge.marks = Marks::NONE;
            }
        }
    }
    if form == Form::Edges {
        add_marks(&mut buchi, &components)?;
    }
    drop_marks(&mut buchi, &components, &accepting);
    let every = Marks::first(buchi.n_marks);
    let outside = if passing { every } else { Marks::NONE };
    for (state, edges) in buchi.edges.iter_mut().enumerate() {
        let mut inside = edges
            .iter()
            .filter(|edge| components.same(state as u32, edge.target.0));
        let marks = inside.next().map_or(outside, |edge| edge.marks);
        for edge in edges {
            match form {
                Form::States => edge.marks = marks,
                Form::Edges if components.same(state as u32, edge.target.0) => {}
                Form::Edges => edge.marks = outside,
            }
        }
    }
    join_edges(&mut buchi)?;
    renumber(&mut buchi);
    Ok(buchi)
}

/// Adds each mark to the edges that cannot be taken again before an edge with that mark: more edges become equal.
fn add_marks(buchi: &mut Buchi, components: &Components) -> Result<(), LimitError> {
    for mark in 0..buchi.n_marks {
        let inside = |state: usize, edge: &Edge| components.same(state as u32, edge.target.0);
        let without = Components::new(buchi.len(), |state| {
            buchi.edges[state as usize]
                .iter()
                .filter(move |edge| inside(state as usize, edge) && !edge.marks.contains(mark))
                .map(|edge| edge.target.0)
        })?;
        for (state, edges) in buchi.edges.iter_mut().enumerate() {
            for edge in edges {
                if inside(state, edge) && !without.same(state as u32, edge.target.0) {
                    edge.marks = edge.marks.union(Marks::one(mark));
                }
            }
        }
    }
    Ok(())
}

/// Drops marks that another one implies on every edge that can be taken infinitely often.
fn drop_marks(buchi: &mut Buchi, components: &Components, accepting: &[bool]) {
    let loops = |state: usize, edge: &Edge| components.same(state as u32, edge.target.0);
    let accepts = |state: usize| accepting[components.of[state] as usize];
    let every = Marks::first(buchi.n_marks);
    // For each mark, those that are on every edge with it.
    let mut with = vec![every; buchi.n_marks as usize];
    let mut everywhere = every;
    let mut rejects = false;
    for (state, edges) in buchi.edges.iter().enumerate() {
        if !accepts(state) {
            rejects |= edges.iter().any(|edge| loops(state, edge));
            continue;
        }
        for edge in edges.iter().filter(|edge| loops(state, edge)) {
            everywhere = everywhere.intersection(edge.marks);
            for mark in edge.marks.iter() {
                with[mark as usize] = with[mark as usize].intersection(edge.marks);
            }
        }
    }
    let mut kept = every.without(everywhere);
    for mark in kept.iter() {
        let implied = |other: u32| other != mark && with[other as usize].contains(mark);
        if kept.iter().any(implied) {
            kept = kept.without(Marks::one(mark));
        }
    }
    if rejects && kept.is_empty() {
        // Without marks the runs that stay in a rejecting component would be accepting.
        kept = Marks::one(0);
    }
    if kept == every {
        return;
    }
    let place: Vec<u32> = kept.iter().collect();
    let moved = |marks: Marks| {
        let of = |(new, &old): (usize, &u32)| marks.contains(old).then_some(new as u32);
        place.iter().enumerate().filter_map(of).collect::<Marks>()
    };
    for edge in buchi.edges.iter_mut().flatten() {
        edge.marks = moved(edge.marks);
    }
    buchi.n_marks = place.len() as u32;
}

/// Edges that differ in their guard only become one, and of several edges between the same states the one with more
/// marks keeps the shared letters.
fn join_edges(buchi: &mut Buchi) -> Result<(), LimitError> {
    for edges in &mut buchi.edges {
        let mut guards: BTreeMap<(StateId, Marks), Guard> = BTreeMap::new();
        for edge in edges.iter() {
            let guard = guards
                .entry((edge.target, edge.marks))
                .or_insert(Guard::FALSE);
            *guard = buchi.guards.or(*guard, edge.guard)?;
        }
        edges.clear();
        for (&(target, marks), &guard) in &guards {
            let mut guard = guard;
            let better = guards.iter().filter(|((to, more), _)| {
                *to == target && *more != marks && marks.is_subset(*more)
            });
            for (_, &covered) in better {
                guard = buchi.guards.minus(guard, covered)?;
            }
            if guard != Guard::FALSE {
                edges.push(Edge {
                    guard,
                    marks,
                    target,
                });
            }
        }
    }
    Ok(())
}

/// Keeps the states that can be reached, numbered as a breadth-first search meets them.
pub(super) fn renumber(buchi: &mut Buchi) {
    let mut number: Vec<Option<StateId>> = vec![None; buchi.len()];
    number[buchi.initial.index()] = Some(StateId(0));
    let mut order = vec![buchi.initial];
    let mut next = 0;
    while let Some(&state) = order.get(next) {
        next += 1;
        for edge in &buchi.edges[state.index()] {
            if number[edge.target.index()].is_none() {
                number[edge.target.index()] = Some(StateId(order.len() as u32));
                order.push(edge.target);
            }
        }
    }
    let edges = order.iter().map(|state| {
        let mut edges = std::mem::take(&mut buchi.edges[state.index()]);
        for edge in &mut edges {
            edge.target = number[edge.target.index()].unwrap_or(edge.target);
        }
        edges.sort_unstable_by_key(|edge| (edge.target, edge.marks));
        edges
    });
    buchi.edges = edges.collect();
    buchi.initial = StateId(0);
}
