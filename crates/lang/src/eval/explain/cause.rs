//! The start of a violation, and the steps that suffice to show it.
//!
//! For `G φ` the step whose violation is final is found by an automaton of `G (s -> φ)`, where `s` marks the step at which φ is
//! evaluated. It runs for all starts at once, as a map from states to the earliest start.
//!
//! The steps that suffice are the fewest that, read alone and in order, drive the automaton to a state from which nothing
//! satisfies it. They are an explanation, not a trace that can be replayed.

use rustc_hash::FxHashMap;

use super::{Read, Request};
use crate::eval::clock::Clock;
use crate::eval::compiled::{Compiled, PropertyCode};
use crate::eval::monitor::{Automaton, StateSetId, StateSetInterner};
use crate::value::Truth;
use guard_automata::Atom;

/// The greatest number of states times steps for which a shortest counterexample is searched.
const MOST_WORK: usize = 20_000_000;

/// The longest trace that is checked against the automaton of a negation.
const MOST_CHECKED: usize = 2_000;

#[derive(Debug, Default)]
pub(super) struct Cause {
    pub(super) from: Option<u32>,
    pub(super) steps: Vec<u32>,
    /// Whether the property is violated only because the trace ended.
    pub(super) by_end: bool,
}

/// Returns the cause of a violation.
pub(super) fn cause(program: &Compiled, request: &Request, steps: &[Read]) -> Cause {
    let property = &program.properties[request.property];
    let n_steps = steps
        .iter()
        .take_while(|step| request.at.is_some_and(|at| step.index <= at))
        .count();
    let steps = &steps[..n_steps];
    let Some(last) = steps.last() else {
        return Cause::default();
    };
    let by_end = !is_lost(program, request, steps);
    let spec = program.spec();
    let started = property.started(spec, &spec.properties[request.property], &program.limits);
    let start = started.and_then(|automaton| earliest(program, automaton, request, steps, by_end));
    let from = start.map(|start| steps[start].index);
    let ends = |from: Option<u32>| match from {
        Some(from) if from != last.index => vec![from, last.index],
        _ => vec![last.index],
    };
    if by_end {
        return Cause {
            from,
            steps: ends(from),
            by_end,
        };
    }
    let automaton = if start.is_some() {
        started.unwrap_or(&property.automaton)
    } else {
        &property.automaton
    };
    let shortest = match automaton {
        Automaton::Dfa { .. } => shortest(program, automaton, request, n_steps, start),
        Automaton::CounterStates(..) => needed(program, request, n_steps),
    };
    let found = match shortest {
        Some(found) if found.len() <= program.limits.counterexample => {
            found.into_iter().map(|step| steps[step].index).collect()
        }
        _ => ends(from),
    };
    Cause {
        from,
        steps: found,
        by_end,
    }
}

/// Whether no continuation satisfies the formula; otherwise it is violated only because the trace ended.
fn is_lost(program: &Compiled, request: &Request, steps: &[Read]) -> bool {
    let automaton = &program.properties[request.property].automaton;
    let mut state_sets = StateSetInterner::new(automaton);
    let mut state_set = StateSetInterner::INITIAL;
    let mut clock = Clock::default();
    for (number, step) in steps.iter().enumerate() {
        let row = request.row(program, number);
        clock.come(number, step.time);
        state_set = state_sets.step(automaton, state_set, &clock, |atom| {
            row.get(atom as usize).copied().unwrap_or(Truth::Unknown)
        });
    }
    let status = state_sets.status(automaton, state_set);
    status.fixed && status.now == Truth::False
}

/// Returns the first step whose own obligation can no longer be met.
fn earliest(
    program: &Compiled,
    automaton: &Automaton,
    request: &Request,
    steps: &[Read],
    by_end: bool,
) -> Option<usize> {
    // With counters, the obligations of many starts may be pending at once, so they are not followed one by one.
    let bisected = automaton
        .counts()
        .then(|| bisect(program, automaton, request, steps, by_end));
    match bisected.flatten() {
        Some(start) => Some(start),
        None => follow_each(program, automaton, request, steps, by_end),
    }
}

/// Returns the first start such that the obligations of all starts up to it can no longer be met together, if its own
/// obligation alone cannot be met either. It is then the earliest, because the obligations of fewer starts can be met.
fn bisect(
    program: &Compiled,
    automaton: &Automaton,
    request: &Request,
    steps: &[Read],
    by_end: bool,
) -> Option<usize> {
    let mut state_sets = StateSetInterner::new(automaton);
    let mut is_lost = |starts: std::ops::RangeInclusive<usize>| {
        state_sets.reset();
        let mut state_set = StateSetInterner::INITIAL;
        let mut clock = Clock::default();
        for (number, step) in steps.iter().enumerate() {
            let row = request.row(program, number);
            clock.come(number, step.time);
            state_set = state_sets.step(automaton, state_set, &clock, |atom| {
                let start = Truth::from(starts.contains(&number));
                row.get(atom as usize).copied().unwrap_or(start)
            });
        }
        let status = state_sets.status(automaton, state_set);
        status.now == Truth::False && (status.fixed || by_end)
    };
    let (mut low, mut high) = (0, steps.len().checked_sub(1)?);
    if !is_lost(0..=high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if is_lost(0..=middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    is_lost(low..=low).then_some(low)
}

/// Returns the first step whose own obligation can no longer be met, by following the obligation of each step.
fn follow_each(
    program: &Compiled,
    automaton: &Automaton,
    request: &Request,
    steps: &[Read],
    by_end: bool,
) -> Option<usize> {
    let mut state_sets = StateSetInterner::new(automaton);
    let mut none_yet = StateSetInterner::INITIAL;
    // In order of their starts.
    let mut pending: Vec<(StateSetId, usize)> = Vec::new();
    let mut seen: FxHashMap<StateSetId, ()> = FxHashMap::default();
    let mut clock = Clock::default();
    for (number, step) in steps.iter().enumerate() {
        let row = request.row(program, number);
        let letter = |atom: u32, starts: bool| {
            row.get(atom as usize)
                .copied()
                .unwrap_or(Truth::from(starts))
        };
        clock.come(number, step.time);
        pending.push((none_yet, number));
        seen.clear();
        pending.retain_mut(|(state_set, start)| {
            *state_set = state_sets.step(automaton, *state_set, &clock, |atom| {
                letter(atom, *start == number)
            });
            let status = state_sets.status(automaton, *state_set);
            let kept = status.now == Truth::True && status.fixed;
            !kept && seen.insert(*state_set, ()).is_none()
        });
        none_yet = state_sets.step(automaton, none_yet, &clock, |atom| letter(atom, false));
        let idle = state_sets.status(automaton, none_yet);
        // A start without pending obligations has the same state as no start.
        pending.retain(|(state_set, _)| *state_set != none_yet || idle.now == Truth::False);
    }
    let lost = |state_set: StateSetId| {
        let status = state_sets.status(automaton, state_set);
        status.now == Truth::False && (status.fixed || by_end)
    };
    pending
        .iter()
        .filter(|(state_set, _)| lost(*state_set))
        .map(|(_, start)| *start)
        .min()
}

/// Returns the fewest steps that a run of the automaton of the negation depends on, for formulas whose own automaton is not
/// built. These steps suffice at their positions, not if they are read alone.
fn needed(program: &Compiled, request: &Request, n_steps: usize) -> Option<Vec<usize>> {
    let spec = program.spec();
    let property = &program.properties[request.property];
    if n_steps > MOST_CHECKED {
        return None;
    }
    let of = &spec.properties[request.property];
    let mut checker = PropertyCode::checker(spec, of, &program.limits)?;
    let letter = |step: usize, atom: Atom| {
        let truth = request.row(program, step).get(atom.0 as usize).copied();
        truth.unwrap_or(Truth::Unknown)
    };
    let n_letters = u32::try_from(property.letters.len()).ok()?;
    let is_known = |step| (0..n_letters).all(|atom| letter(step, Atom(atom)) != Truth::Unknown);
    if !(0..n_steps).all(is_known) {
        return None;
    }
    let found = checker.check(n_steps, |step, atom| letter(step, atom) == Truth::True);
    let found = found.ok()??;
    Some(found.needs.into_iter().map(|(step, _)| step).collect())
}

/// Returns the fewest steps that lead to a state from which no continuation satisfies the formula.
fn shortest(
    program: &Compiled,
    automaton: &Automaton,
    request: &Request,
    n_steps: usize,
    start: Option<usize>,
) -> Option<Vec<usize>> {
    let Automaton::Dfa { states, .. } = automaton else {
        return None;
    };
    if states.len().min(64).saturating_mul(n_steps) > MOST_WORK {
        return None;
    }
    let mut state_sets = StateSetInterner::new(automaton);
    // How each state was reached: the number of steps, and the last step with the one before it.
    let mut reached: FxHashMap<StateSetId, (usize, Option<usize>)> = FxHashMap::default();
    reached.insert(StateSetInterner::INITIAL, (0, None));
    let mut taken: Vec<(usize, Option<usize>)> = Vec::new();
    let mut best: Option<(usize, Option<usize>)> = None;
    for number in 0..n_steps {
        let row = request.row(program, number);
        let mut next: Vec<(StateSetId, usize, Option<usize>)> = Vec::new();
        for (state_set, (count, path)) in &reached {
            let after = state_sets.step(automaton, *state_set, &Clock::default(), |atom| {
                row.get(atom as usize)
                    .copied()
                    .unwrap_or(Truth::from(Some(number) == start))
            });
            // A step with several successor states shows nothing.
            if after != *state_set && (after as usize) < states.len() {
                next.push((after, count + 1, *path));
            }
        }
        next.sort_unstable();
        for (state_set, count, path) in next {
            if reached
                .get(&state_set)
                .is_some_and(|(known, _)| *known <= count)
            {
                continue;
            }
            taken.push((number, path));
            let path = Some(taken.len() - 1);
            let status = state_sets.status(automaton, state_set);
            if status.fixed && status.now == Truth::False {
                if best.is_none_or(|(known, _)| count < known) {
                    best = Some((count, path));
                }
            } else if !status.fixed {
                reached.insert(state_set, (count, path));
            }
        }
    }
    let (_, mut path) = best?;
    let mut found = Vec::new();
    while let Some((number, before)) = path.map(|path| taken[path]) {
        found.push(number);
        path = before;
    }
    found.reverse();
    Some(found)
}
