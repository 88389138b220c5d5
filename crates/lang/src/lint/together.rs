//! Properties that imply or contradict one another.
//!
//! Properties contradict one another if after some prefix each of them is satisfiable but not all of them together: a joint
//! dead end. Quantified properties about one value at a time are combined at one value.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::limits::Budget;
use super::occurrence::requires;
use super::subject::{Part, Subject, Subjects};
use super::theory;
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::reads::reads;
use crate::hir::{Quantified, Spec};
use crate::ids::AtomId;
use guard_automata::{Dfa, Traces, Word};

/// The number of conflicts of more than two properties that are reported for one group.
const CONFLICTS: usize = 8;

pub(super) fn lint(subjects: &Subjects<'_>, budget: &mut Budget, found: &mut Vec<Diagnostic>) {
    let usable: Vec<usize> = (0..subjects.all.len())
        .filter(|index| {
            let subject = &subjects.all[*index];
            subject.dfa.is_some() && subject.satisfiable && !subject.valid && !subject.degenerate
        })
        .collect();
    let mut redundant = vec![false; subjects.all.len()];
    let mut conflicts: Vec<Vec<usize>> = Vec::new();
    let most = budget.limits().pairs;
    for (lhs, rhs) in pairs(subjects, &usable, most) {
        if budget.is_spent() {
            return;
        }
        let relation = relation(subjects, lhs, rhs, budget);
        match relation {
            Some(Relation::Same) if !redundant[rhs] => {
                redundant[rhs] = true;
                found.push(same(&subjects.all[lhs], &subjects.all[rhs]));
            }
            Some(Relation::Implies) if !redundant[rhs] => {
                redundant[rhs] = true;
                found.push(implied(&subjects.all[rhs], &[&subjects.all[lhs]]));
            }
            Some(Relation::ImpliedBy) if !redundant[lhs] => {
                redundant[lhs] = true;
                found.push(implied(&subjects.all[lhs], &[&subjects.all[rhs]]));
            }
            Some(_) | None => {}
        }
        // If one property implies another, they conflict only if the first cannot be satisfied itself.
        let related = matches!(
            relation,
            Some(Relation::Same | Relation::Implies | Relation::ImpliedBy)
        );
        if !related && let Some(Some(dead_end)) = dead_end(subjects, &[lhs, rhs], &[], budget) {
            found.push(conflict(subjects, &[lhs, rhs], &dead_end));
            conflicts.push(vec![lhs, rhs]);
        }
    }
    if budget.is_spent() {
        return;
    }
    for group in groups(subjects, &usable, budget.limits().together) {
        if group.len() > 2 {
            jointly(
                subjects,
                &group,
                &mut redundant,
                &mut conflicts,
                budget,
                found,
            );
        }
    }
}

/// Returns at most `most` pairs of properties, the likelier ones first: those that share letters, then those that share fields.
/// Lazy, because the work is often used up long before the pairs.
fn pairs<'a>(
    subjects: &'a Subjects<'_>,
    usable: &'a [usize],
    most: usize,
) -> impl Iterator<Item = (usize, usize)> + 'a {
    let all = &subjects.all;
    let mut with_letter: FxHashMap<AtomId, Vec<usize>> = FxHashMap::default();
    for &index in usable {
        for letter in &all[index].letters {
            with_letter.entry(*letter).or_default().push(index);
        }
    }
    let sharing_letters = usable.iter().flat_map(move |&lhs| {
        let others = all[lhs]
            .letters
            .iter()
            .filter_map(|letter| with_letter.get(letter));
        let others: BTreeSet<usize> = others.flatten().copied().filter(|&rhs| rhs > lhs).collect();
        others.into_iter().map(move |rhs| (lhs, rhs))
    });
    let later = |lhs: usize| usable.iter().copied().filter(move |&rhs| rhs > lhs);
    let apart = usable
        .iter()
        .flat_map(move |&lhs| later(lhs).map(move |rhs| (lhs, rhs)))
        .filter(|&(lhs, rhs)| {
            !share_letters(&all[lhs], &all[rhs]) && share_fields(&all[lhs], &all[rhs])
        });
    sharing_letters.chain(apart).take(most)
}

/// The relation of one property to another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    Same,
    Implies,
    ImpliedBy,
    Neither,
}

fn relation(
    subjects: &Subjects<'_>,
    lhs: usize,
    rhs: usize,
    budget: &mut Budget,
) -> Option<Relation> {
    let spec = subjects.spec;
    let forth = covers(&subjects.all[lhs], &subjects.all[rhs]);
    let back = covers(&subjects.all[rhs], &subjects.all[lhs]);
    if !forth && !back {
        return Some(Relation::Neither);
    }
    let (a, b) = (
        subjects.clocked(lhs, rhs, budget)?,
        subjects.clocked(rhs, lhs, budget)?,
    );
    let forth = forth && theory::implies(spec, &a, &b, budget)?;
    let back = back && theory::implies(spec, &b, &a, budget)?;
    Some(match (forth, back) {
        (true, true) => Relation::Same,
        (true, false) => Relation::Implies,
        (false, true) => Relation::ImpliedBy,
        (false, false) => Relation::Neither,
    })
}

/// Whether a property for all values of its quantified names implies the other one for all values of its names: the names range
/// over the values that they are compared with.
fn covers(lhs: &Subject<'_>, rhs: &Subject<'_>) -> bool {
    let (Some(a), Some(b)) = (&lhs.property.quantified, &rhs.property.quantified) else {
        let quantified = lhs
            .property
            .quantified
            .as_ref()
            .or(rhs.property.quantified.as_ref());
        // A property of whole traces holds for all values; the reverse requires that a value occurs.
        return quantified.is_none_or(|quantified| quantified.universal)
            && lhs.property.quantified.is_none();
    };
    let within = |a: &Quantified, b: &Quantified| {
        a.vars.len() == b.vars.len()
            && a.vars
                .iter()
                .zip(&b.vars)
                .all(|(a, b)| a.range.is_none() || a.range == b.range)
            && a.vars.iter().zip(&b.vars).all(|(a, b)| {
                (a.range.is_some() && a.range == b.range)
                    || b.range.is_none()
                        && b.terms.iter().all(|term| a.terms.contains(term))
                        && b.element_terms
                            .iter()
                            .all(|term| a.element_terms.contains(term))
                        && b.constants.iter().all(|value| a.constants.contains(value))
            })
    };
    a.universal == b.universal
        && if a.universal {
            within(a, b)
        } else {
            within(b, a)
        }
}

fn share_letters(lhs: &Subject<'_>, rhs: &Subject<'_>) -> bool {
    lhs.letters
        .iter()
        .any(|letter| rhs.letters.contains(letter))
}

fn share_fields(lhs: &Subject<'_>, rhs: &Subject<'_>) -> bool {
    lhs.fields.iter().any(|field| rhs.fields.contains(field))
}

/// Returns groups of properties connected by common letters, in order and cut to a maximum size.
fn groups(subjects: &Subjects<'_>, usable: &[usize], most: usize) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for &index in usable {
        let subject = &subjects.all[index];
        if subject.timed || !subject.joint() {
            continue;
        }
        let mut joined = vec![index];
        groups.retain(|group| {
            let linked = group
                .iter()
                .any(|other| share_letters(&subjects.all[*other], subject));
            if linked {
                joined.extend(group);
            }
            !linked
        });
        joined.sort_unstable();
        groups.push(joined);
    }
    groups.sort();
    groups.retain(|group| group.len() <= most);
    groups
}

/// Reports conflicts of more than two properties.
fn jointly(
    subjects: &Subjects<'_>,
    group: &[usize],
    redundant: &mut [bool],
    conflicts: &mut Vec<Vec<usize>>,
    budget: &mut Budget,
    found: &mut Vec<Diagnostic>,
) {
    for _ in 0..CONFLICTS {
        let Some(Some(mut end)) = dead_end(subjects, group, conflicts, budget) else {
            break;
        };
        let mut least = group.to_vec();
        let mut place = 0;
        while place < least.len() && least.len() > 2 {
            let mut fewer = least.clone();
            fewer.remove(place);
            match dead_end(subjects, &fewer, conflicts, budget) {
                Some(Some(shorter)) => (least, end) = (fewer, shorter),
                Some(None) => place += 1,
                // The set is not known to be smallest.
                None => return,
            }
        }
        found.push(conflict(subjects, &least, &end));
        conflicts.push(least);
    }
    for &index in group {
        if redundant[index] || subjects.all[index].quantified() {
            continue;
        }
        let mut others: Vec<usize> = group
            .iter()
            .copied()
            .filter(|other| *other != index && !redundant[*other])
            .filter(|other| !subjects.all[*other].quantified())
            .collect();
        if others.len() < 2 || implied_by(subjects, &others, index, budget) != Some(true) {
            continue;
        }
        let mut place = 0;
        while place < others.len() {
            let mut fewer = others.clone();
            fewer.remove(place);
            if implied_by(subjects, &fewer, index, budget) == Some(true) {
                others = fewer;
            } else {
                place += 1;
            }
        }
        redundant[index] = true;
        let others: Vec<&Subject<'_>> = others.iter().map(|other| &subjects.all[*other]).collect();
        found.push(implied(&subjects.all[index], &others));
    }
}

fn implied_by(
    subjects: &Subjects<'_>,
    others: &[usize],
    index: usize,
    budget: &mut Budget,
) -> Option<bool> {
    let all = conjunction(subjects, others, budget)?;
    let one = subjects.all[index].dfa.as_ref()?;
    theory::implies(subjects.spec, &all, one, budget)
}

fn conjunction(subjects: &Subjects<'_>, members: &[usize], budget: &mut Budget) -> Option<Dfa> {
    let mut all: Option<Dfa> = None;
    for index in members {
        let dfa = subjects.all[*index].dfa.as_ref()?;
        all = Some(match all {
            None => dfa.clone(),
            Some(all) => budget.both(&all, dfa)?,
        });
    }
    all
}

/// A joint dead end.
struct DeadEnd {
    /// A shortest prefix that leads to it.
    word: Word,
    /// Whether a trace that ends there satisfies all properties, and only such a trace does.
    may_end: bool,
}

/// Returns a shortest prefix after which each property can still be satisfied, but not all of them; otherwise one after
/// which each permits a continuation, but all together permit only the end.
///
/// Dead ends of subsets in `known` are skipped. The outer `None` means undecided.
fn dead_end(
    subjects: &Subjects<'_>,
    members: &[usize],
    known: &[Vec<usize>],
    budget: &mut Budget,
) -> Option<Option<DeadEnd>> {
    if members.iter().any(|index| {
        let subject = &subjects.all[*index];
        subject.timed || !subject.joint()
    }) {
        return Some(None);
    }
    if let [lhs, rhs] = members {
        let (lhs, rhs) = (&subjects.all[*lhs], &subjects.all[*rhs]);
        let apart = !share_letters(lhs, rhs) && lhs.can_rest() && rhs.can_rest();
        if apart || !budget.clashes(lhs.dfa.as_ref()?, rhs.dfa.as_ref()?)? {
            return Some(None);
        }
    }
    let all = conjunction(subjects, members, budget)?;
    for (may_end, part) in [(false, Part::Enforceable), (true, Part::Extendable)] {
        let closed = part.of(&all).complement();
        // The prefixes after which each property is open and no known dead end was reached.
        let mut open: Option<Cow<'_, Dfa>> = None;
        for index in members {
            let one = subjects.all[*index].open(part)?;
            open = Some(match open {
                None => Cow::Borrowed(one),
                Some(open) => Cow::Owned(budget.both(&open, one)?),
            });
        }
        let mut open = open?;
        for known in known {
            if known.iter().all(|index| members.contains(index)) {
                let other = conjunction(subjects, known, budget)?.extendable_part();
                open = Cow::Owned(budget.both(&open, &other)?);
            }
        }
        // Usually there is no dead end, which can be shown without an automaton.
        if budget
            .search(&closed, &open, Traces::All, |a, b| a && b)?
            .is_none()
        {
            continue;
        }
        let dead = budget.both(&closed, &open)?;
        let word = theory::shortest(subjects.spec, &dead, Traces::All, budget)?
            .filter(|word| occurs(subjects, members, word));
        if let Some(word) = word {
            return Some(Some(DeadEnd { word, may_end }));
        }
    }
    Some(None)
}

/// Whether values of the quantified properties occur in the word: some letter that compares them is true.
fn occurs(subjects: &Subjects<'_>, members: &[usize], word: &Word) -> bool {
    let spec = subjects.spec;
    members.iter().all(|index| {
        let Some(quantified) = &subjects.all[*index].property.quantified else {
            return true;
        };
        (0..quantified.vars.len()).all(|var| {
            word.iter().flatten().any(|(atom, holds)| {
                let letter = AtomId::new(atom.0 as usize);
                *holds && requires(spec, spec.atom(letter).expr, var)
            })
        })
    })
}

fn names(subjects: &[&Subject<'_>]) -> String {
    let names: Vec<String> = subjects
        .iter()
        .map(|subject| format!("`{}`", subject.property.name))
        .collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

fn same(first: &Subject<'_>, second: &Subject<'_>) -> Diagnostic {
    Diagnostic::new(
        Code::G0914,
        second.property.formula_span,
        format!(
            "`{}` is equivalent to `{}`",
            second.property.name, first.property.name
        ),
    )
    .label("accepts the same traces")
    .also(first.property.formula_span, "the same property")
}

fn implied(subject: &Subject<'_>, by: &[&Subject<'_>]) -> Diagnostic {
    let verb = if by.len() == 1 { "implies" } else { "imply" };
    let mut diagnostic = Diagnostic::new(
        Code::G0914,
        subject.property.formula_span,
        format!("{} {verb} `{}`", names(by), subject.property.name),
    )
    .label("every trace that violates this property also violates the other");
    if by.len() > 1 {
        diagnostic = diagnostic
            .label("every trace that violates this property also violates one of the others");
    }
    for other in by {
        diagnostic = diagnostic.also(other.property.formula_span, "says more");
    }
    diagnostic
}

fn conflict(subjects: &Subjects<'_>, members: &[usize], dead_end: &DeadEnd) -> Diagnostic {
    let members: Vec<&Subject<'_>> = members.iter().map(|index| &subjects.all[*index]).collect();
    let all = if members.len() == 2 { "both" } else { "all" };
    let primary = members
        .last()
        .map_or_else(Default::default, |subject| subject.property.formula_span);
    let after = subjects.steps(&dead_end.word);
    let (message, note) = match (dead_end.word.is_empty(), dead_end.may_end) {
        (true, false) => (
            format!("no trace satisfies {}", names(&members)),
            format!("each of them is satisfiable, but not {all} together"),
        ),
        (true, true) => (
            format!("only the empty trace satisfies {}", names(&members)),
            format!("each of them is satisfiable, but any step violates one of {all}"),
        ),
        (false, false) => (
            format!("{} can contradict one another", names(&members)),
            format!("after {after}, each can still be satisfied, but not {all}"),
        ),
        (false, true) => (
            format!("{} can contradict one another", names(&members)),
            format!(
                "after {after}, each still allows the trace to continue, but any next step violates one of them"
            ),
        ),
    };
    let mut diagnostic = Diagnostic::new(Code::G0913, primary, message)
        .label("cannot be satisfied together with the others")
        .note(note);
    for subject in members.iter().take(members.len().saturating_sub(1)) {
        diagnostic = diagnostic.also(subject.property.formula_span, "conflicts with this");
    }
    diagnostic
}

/// Returns the positions of the fields that the letters of a property read.
pub(super) fn fields(spec: &Spec, letters: &[AtomId]) -> Vec<usize> {
    reads(spec, letters.iter().map(|letter| spec.atom(*letter).expr))
        .fields
        .into_iter()
        .collect()
}
