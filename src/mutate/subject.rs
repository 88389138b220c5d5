//! The subject of mutation: a property, or a template in all its uses in tests.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use super::change::{Change, changes};
use super::judge::Judged;
use super::{
    Example, Limits, Mutant, Proposal, Recording, SubjectReport, Unproposed, choose, example, pace,
};
use crate::domain::{self, Work};
use crate::hir::{PropertyKind, Spec, print};
use crate::ids::{AtomId, FormulaId, PropertyId};
use crate::lint::{self, Relation, Semantics};
use crate::source::SourceMap;
use crate::translate::automaton;
use guard_automata::{Dfa, Letter, Traces};

/// A property, or a template with the properties that tests create from it.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    name: SmolStr,
    template: bool,
    /// The properties, at least one; changes are described on the first.
    properties: Vec<PropertyId>,
}

/// Returns the properties of a spec, and the templates that its tests use.
pub(super) fn subjects(spec: &Spec) -> Vec<Subject> {
    let mut subjects: Vec<Subject> = Vec::new();
    for (idx, property) in spec.properties.iter().enumerate() {
        if property.kind != PropertyKind::Condition {
            subjects.push(Subject {
                name: property.name.clone(),
                template: false,
                properties: vec![PropertyId::new(idx)],
            });
        }
    }
    for (property, template) in &spec.outline.instances {
        let known = subjects
            .iter_mut()
            .find(|subject| subject.template && subject.name == *template);
        match known {
            Some(subject) => subject.properties.push(*property),
            None => subjects.push(Subject {
                name: template.clone(),
                template: true,
                properties: vec![*property],
            }),
        }
    }
    subjects
}

/// A change that affects the meaning, with the resulting formula for every property of the subject.
struct Candidate {
    change: Change,
    formulas: Vec<FormulaId>,
    dfa: Dfa,
    difference: lint::Difference,
}

/// The formula that the mutants of a subject change.
struct Original {
    property: PropertyId,
    formula: FormulaId,
    /// The unit of its bounds in time, if it has any.
    unit: Option<i128>,
}

pub(super) fn run(
    spec: &Spec,
    sources: &SourceMap,
    recordings: &[Recording],
    subject: &Subject,
    limits: &Limits,
) -> SubjectReport {
    let first = subject
        .properties
        .first()
        .copied()
        .unwrap_or(PropertyId::new(0));
    let formula = spec.property(first).formula;
    let expected = |test: &&crate::hir::Test| {
        let mut expects = test.expects.iter();
        expects.any(|expect| subject.properties.contains(&expect.property))
    };
    let mut report = SubjectReport {
        name: subject.name.clone(),
        template: subject.template,
        formula: print::formula(&spec.formulas, formula),
        tests: spec.tests.iter().filter(expected).count(),
        mutants: Vec::new(),
        equivalent: 0,
        duplicate: 0,
        left_out: 0,
        error: None,
        proposal: None,
        unproposed: None,
    };
    let unit = pace::unit(&spec.formulas, formula);
    if spec.formulas.is_timed(formula) && unit.is_none() {
        report.error =
            Some("its bounds in time are too far apart to be distinguished by steps".to_owned());
        return report;
    }
    let original = Original {
        property: first,
        formula,
        unit,
    };
    let mut changed = spec.clone();
    let stepped = pace::stepped(&mut changed.formulas, formula, unit);
    let Ok(dfa) = automaton(&changed.formulas, stepped, &limits.automata) else {
        report.error = Some("its automaton is too large to compare its mutants".to_owned());
        return report;
    };
    let candidates = candidates(&mut changed, subject, &original, &dfa, limits, &mut report);
    let with_mutants = changed.clone();
    let judged = Judged::new(
        &with_mutants,
        sources,
        recordings,
        &subject.properties,
        limits,
    );
    let mutants: Vec<&[FormulaId]> = candidates
        .iter()
        .map(|candidate| candidate.formulas.as_slice())
        .collect();
    let killed = match judged.killed(&mutants) {
        Ok(killed) => killed,
        Err(reason) => {
            report.error = Some(reason);
            return report;
        }
    };
    let survivors: Vec<&Candidate> = candidates
        .iter()
        .zip(&killed)
        .filter(|(_, killed)| killed.is_none())
        .map(|(candidate, _)| candidate)
        .collect();
    let expected = if subject.template {
        &spec.property(first).name
    } else {
        &subject.name
    };
    let mut searched = Vec::new();
    if !survivors.is_empty() {
        let proposed = proposal(
            &judged,
            subject,
            expected,
            &original,
            &dfa,
            &survivors,
            &mut searched,
        );
        match proposed {
            Ok(proposal) => report.proposal = Some(proposal),
            Err(reason) => report.unproposed = Some(reason),
        }
    }
    for (candidate, killed_by) in candidates.into_iter().zip(killed) {
        let mutant = candidate.formulas.first().copied().unwrap_or(formula);
        let change = candidate.change.text(&mut changed, formula);
        // Only survivors need a test.
        let test = match killed_by {
            Some(_) => None,
            None => {
                let events = example::events(&with_mutants, &candidate.difference.steps, unit);
                let events = events.into_iter().chain(searched.iter().cloned());
                example::test(&judged, expected, first, mutant, &change, events)
            }
        };
        report.mutants.push(Mutant {
            change,
            formula: print::formula(&changed.formulas, mutant),
            killed_by,
            example: Example {
                steps: candidate.difference.steps,
                holds: candidate.difference.satisfies_first,
                test,
            },
        });
    }
    report
}

/// Returns the changes that affect the meaning, one for each new meaning. Their formulas are added to those of the
/// spec.
fn candidates(
    spec: &mut Spec,
    subject: &Subject,
    original: &Original,
    first: &Dfa,
    limits: &Limits,
    report: &mut SubjectReport,
) -> Vec<Candidate> {
    let shown = lint::occurrences(spec, spec.property(original.property));
    let mut known: FxHashSet<String> = FxHashSet::default();
    let meaning = |dfa: &Dfa| dfa.minimized_nonempty().to_string();
    let same = meaning(first);
    known.insert(same.clone());
    let stepped = pace::stepped(&mut spec.formulas, original.formula, original.unit);
    let mut candidates: Vec<Candidate> = Vec::new();
    for change in changes(spec, original.formula, original.unit) {
        if candidates.len() >= limits.mutants {
            report.left_out += 1;
            continue;
        }
        let Some(mutant) = change.of(spec, original.formula) else {
            continue;
        };
        let mutant = pace::stepped(&mut spec.formulas, mutant, original.unit);
        let Ok(dfa) = automaton(&spec.formulas, mutant, &limits.automata) else {
            report.left_out += 1;
            continue;
        };
        let meaning = meaning(&dfa);
        if meaning == same {
            alike(report, original);
            continue;
        }
        if !known.insert(meaning) {
            report.duplicate += 1;
            continue;
        }
        match difference(spec, (stepped, mutant), (first, &dfa), &shown, limits) {
            Ok(Some(difference)) => {
                let formulas = uses(spec, &change, subject);
                candidates.push(Candidate {
                    change,
                    formulas,
                    dfa,
                    difference,
                });
            }
            Ok(None) => alike(report, original),
            Err(()) => report.left_out += 1,
        }
    }
    candidates
}

/// Returns a trace on which two formulas differ; their automata suffice if events can produce its letters. Returns `None` if
/// they are equivalent.
///
/// # Errors
/// If that is not decided within the limits.
fn difference(
    spec: &Spec,
    formulas: (FormulaId, FormulaId),
    dfas: (&Dfa, &Dfa),
    shown: &[AtomId],
    limits: &Limits,
) -> Result<Option<lint::Difference>, ()> {
    if shown.is_empty()
        && let Ok(Some(steps)) = dfas
            .0
            .difference(dfas.1, Traces::NonEmpty, &limits.automata)
    {
        let mut work = Work::new(200_000, 50_000);
        if steps
            .iter()
            .all(|letter| is_possible(spec, letter, &mut work))
        {
            let satisfies_first =
                dfas.0
                    .accepting(steps.iter().fold(dfas.0.initial(), |state, letter| {
                        dfas.0.step(state, |atom| letter.contains(&(atom, true)))
                    }));
            return Ok(Some(lint::Difference {
                steps,
                times: Vec::new(),
                repeats_from: None,
                is_proposal: false,
                satisfies_first,
            }));
        }
    }
    // Letters exclude one another, or an instance of a quantified property must exist.
    let found = lint::compare(
        spec,
        formulas.0,
        formulas.1,
        shown,
        Semantics::Finite,
        &limits.automata,
    );
    match found.map_err(|_| ())? {
        comparison if comparison.relation == Relation::Equivalent => Ok(None),
        comparison => comparison.difference.map(Some).ok_or(()),
    }
}

/// Whether an event with these values of the letters was found.
fn is_possible(spec: &Spec, letter: &Letter, work: &mut Work) -> bool {
    let goals: Option<Vec<domain::Goal>> = letter
        .iter()
        .map(|(atom, holds)| {
            let letter = spec.formulas.atoms().get(atom.0 as usize)?;
            Some((letter.expr, *holds))
        })
        .collect();
    goals
        .is_some_and(|goals| domain::event(spec, &goals, &domain::Given::default(), work).is_some())
}

/// Counts a change without an effect on the compared traces; with bounds in time, these are not all traces.
fn alike(report: &mut SubjectReport, original: &Original) {
    match original.unit {
        None => report.equivalent += 1,
        Some(_) => report.left_out += 1,
    }
}

/// The greatest number of traces that are found and judged.
const TRIES: usize = 100;
/// The greatest number of survivors of one property for which events are searched.
const SEARCHES: usize = 8;

/// Returns one test of few cases that kills the survivors. Events that were searched because the automata do not lead to any, as
/// for counts and tracks, are added to `searched`.
fn proposal(
    judged: &Judged<'_>,
    subject: &Subject,
    expected: &str,
    original: &Original,
    dfa: &Dfa,
    survivors: &[&Candidate],
    searched: &mut Vec<Vec<domain::Event>>,
) -> Result<Proposal, Unproposed> {
    let spec = judged.spec;
    let mut work = Work::new(2_000_000, 50_000);
    let mut alphabet = choose::alphabet(dfa.atoms());
    alphabet.retain(|letter| is_possible(spec, letter, &mut work));
    let known = survivors.iter().map(|one| one.difference.steps.clone());
    let dfas = survivors.iter().map(|one| &one.dfa).collect();
    let mut choice = choose::Choice::new(dfa, dfas, alphabet, known.collect());
    let formulas: Vec<&[FormulaId]> = survivors
        .iter()
        .map(|one| one.formulas.as_slice())
        .collect();
    let mut left: Vec<usize> = (0..survivors.len()).collect();
    let mut cases: Vec<(example::Case, Vec<bool>)> = Vec::new();
    // There always is a trace: the automaton of a candidate differs from that of the original.
    let mut reason = Unproposed::NoEvents;
    let mut tried: Vec<usize> = Vec::new();
    for _ in 0..TRIES {
        if left.is_empty() {
            break;
        }
        let Some(steps) = choice.next(&left) else {
            break;
        };
        let found = example::events(spec, &steps, original.unit).ok_or(Unproposed::NoEvents);
        let found =
            found.and_then(|events| example::case(judged, original.property, &formulas, events));
        let (case, kills) = match found {
            Ok(found) => found,
            Err(failed) => {
                reason = failed;
                continue;
            }
        };
        let before = left.len();
        left.retain(|idx| kills.get(*idx) != Some(&true));
        if left.len() < before {
            cases.push((case, kills));
        } else {
            // The automata differ on the trace, so the events do not produce its letters.
            reason = Unproposed::NoEvents;
        }
    }
    for _ in 0..SEARCHES {
        let Some(mutant) = left.iter().find(|idx| !tried.contains(idx)).copied() else {
            break;
        };
        tried.push(mutant);
        let events = judged.searched(original.property, formulas[mutant]);
        let found = events.and_then(|events| {
            let case = example::case(judged, original.property, &formulas, events.clone()).ok()?;
            Some((case, events))
        });
        if let Some((case, events)) = found {
            left.retain(|idx| case.1.get(*idx) != Some(&true));
            cases.push(case);
            searched.push(events);
        }
    }
    // A case is redundant if the cases chosen after it kill the same mutants.
    for idx in (0..cases.len()).rev() {
        let others = |mutant: usize| {
            cases
                .iter()
                .enumerate()
                .any(|(other, (_, kills))| other != idx && kills.get(mutant) == Some(&true))
        };
        if (0..survivors.len()).all(|mutant| left.contains(&mutant) || others(mutant)) {
            cases.remove(idx);
        }
    }
    if cases.is_empty() {
        return Err(reason);
    }
    let cases: Vec<example::Case> = cases.into_iter().map(|(case, _)| case).collect();
    let cases_of = format!("{} (case ", subject.name);
    let mut tests = spec.tests.iter();
    let taken =
        tests.any(|test| test.name == subject.name || test.name.starts_with(cases_of.as_str()));
    let name = if taken {
        format!("{}, more", subject.name)
    } else {
        subject.name.to_string()
    };
    Ok(Proposal {
        test: example::text(spec, &name, expected, &cases),
        cases: cases.len(),
        kills: survivors.len() - left.len(),
    })
}

/// Returns the formulas of all properties of a subject after a change; formulas to which it does not apply are
/// unchanged.
fn uses(spec: &mut Spec, change: &Change, subject: &Subject) -> Vec<FormulaId> {
    let formulas = subject
        .properties
        .iter()
        .map(|id| spec.property(*id).formula);
    let formulas: Vec<FormulaId> = formulas.collect();
    let changed = formulas
        .into_iter()
        .map(|formula| change.of(spec, formula).unwrap_or(formula));
    changed.collect()
}
