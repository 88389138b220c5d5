//! Letters that exclude each other because of the fields that they read.
//!
//! Automata treat letters as independent. Therefore a trace that shows a finding is checked step by step: if no event can
//! produce the letters of a step, a smallest impossible subset of them is excluded, and the query is repeated.

use std::borrow::Cow;

use super::limits::Budget;
use crate::domain::{self, Goal, Work};
use crate::hir::Spec;
use crate::hir::reads::reads;
use guard_automata::{Atom, Dfa, Formulas, Interval, Letter, Traces, Word};

/// The greatest number of repetitions of one query.
const ROUNDS: usize = 16;

/// Whether every possible trace of `lhs` is a trace of `rhs`; `None` if that is not decided.
pub(super) fn implies(spec: &Spec, lhs: &Dfa, rhs: &Dfa, budget: &mut Budget) -> Option<bool> {
    excess(spec, lhs, rhs, budget).map(|found| found.is_none())
}

/// Returns a shortest trace of `lhs` that is possible, as far as is known, and that `rhs` rejects. An outer `None` means
/// undecided.
pub(super) fn excess(
    spec: &Spec,
    lhs: &Dfa,
    rhs: &Dfa,
    budget: &mut Budget,
) -> Option<Option<Word>> {
    let mut lhs = Cow::Borrowed(lhs);
    for _ in 0..ROUNDS {
        let Some(word) = budget.search(&lhs, rhs, Traces::NonEmpty, |a, b| a && !b)? else {
            return Some(None);
        };
        match excluded_part(spec, &word, budget) {
            None => return Some(Some(word)),
            Some(part) => lhs = Cow::Owned(budget.forbidding(&lhs, &part)),
        }
    }
    None
}

/// Returns a shortest trace that `wanted` accepts and that, as far as is known, is possible. An outer `None` means
/// undecided.
pub(super) fn shortest(
    spec: &Spec,
    wanted: &Dfa,
    traces: Traces,
    budget: &mut Budget,
) -> Option<Option<Word>> {
    let mut wanted = rigid(spec, wanted, budget)?;
    for _ in 0..ROUNDS {
        let Some(word) = wanted.shortest_accepted(traces) else {
            return Some(None);
        };
        match excluded_part(spec, &word, budget) {
            None => return Some(Some(word)),
            Some(part) => wanted = without(&wanted, &part, budget)?,
        }
    }
    None
}

/// Returns a set of literals of one step that no event satisfies together, preferably one that was found before.
fn excluded_part(spec: &Spec, word: &Word, budget: &mut Budget) -> Option<Letter> {
    if let Some(known) = word.iter().find_map(|letter| budget.excluded_part(letter)) {
        return Some(known);
    }
    let part = impossible_part(spec, word, &mut budget.conditions)?;
    budget.exclude(&part);
    Some(part)
}

/// Returns a smallest set of literals of one step that no event satisfies together.
pub(super) fn impossible_part(spec: &Spec, word: &Word, work: &mut Work) -> Option<Letter> {
    for letter in word {
        // Atoms for parts with bounds in time are not letters.
        let mut part: Letter = letter
            .iter()
            .filter(|(atom, _)| (atom.0 as usize) < spec.formulas.atoms().len())
            .copied()
            .collect();
        if !impossible(spec, &part, work) {
            continue;
        }
        let mut place = 0;
        while place < part.len() {
            let mut fewer = part.clone();
            fewer.remove(place);
            if impossible(spec, &fewer, work) {
                part = fewer;
            } else {
                place += 1;
            }
        }
        return Some(part);
    }
    None
}

fn impossible(spec: &Spec, letter: &Letter, work: &mut Work) -> bool {
    let goals: Vec<Goal> = letter
        .iter()
        .map(|(atom, holds)| (spec.formulas.atoms()[atom.0 as usize].expr, *holds))
        .collect();
    domain::possible(spec, &goals, None, work) == Some(false)
}

/// Returns the traces without a step that has all these literals.
fn without(dfa: &Dfa, part: &Letter, budget: &mut Budget) -> Option<Dfa> {
    let mut formulas = Formulas::new();
    let literals: Vec<_> = part
        .iter()
        .map(|(atom, holds)| {
            let atom = formulas.atom(*atom);
            if *holds { atom } else { formulas.not(atom) }
        })
        .collect();
    let all = formulas.all(literals);
    let none = formulas.not(all);
    let never = formulas.always(Interval::ALL, none);
    let never = budget.compile(&formulas, never)?;
    budget.both(dfa, &never)
}

/// Returns the traces in which letters that only read the record do not change.
fn rigid(spec: &Spec, dfa: &Dfa, budget: &mut Budget) -> Option<Dfa> {
    let fixed = |atom: &Atom| {
        let Some(letter) = spec.formulas.atoms().get(atom.0 as usize) else {
            return false;
        };
        let read = reads(spec, [letter.expr]);
        read.fields.is_empty() && read.tracks.is_empty() && !read.history
    };
    let mut dfa = dfa.clone();
    for atom in dfa.atoms().to_vec().into_iter().filter(fixed) {
        let mut formulas = Formulas::new();
        let holds = formulas.atom(atom);
        let fails = formulas.not(holds);
        let (always, never) = (
            formulas.always(Interval::ALL, holds),
            formulas.always(Interval::ALL, fails),
        );
        let either = formulas.or(always, never);
        let either = budget.compile(&formulas, either)?;
        dfa = budget.both(&dfa, &either)?;
    }
    Some(dfa)
}
