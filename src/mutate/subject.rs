//! What is mutated: a property, or a template in all its uses in tests.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use super::change::{Change, changes};
use super::judge::Judged;
use super::{Example, Limits, Mutant, Recording, SubjectReport, example};
use crate::automata::Dfa;
use crate::hir::{Formulas, PropertyKind, Spec, print};
use crate::ids::{FormulaId, PropertyId};
use crate::lint::{self, Relation, Semantics};
use crate::source::SourceMap;
use crate::translate::automaton;

/// A property, or a template with the properties that tests make of it.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    name: SmolStr,
    template: bool,
    /// Never empty; the first shows what a change means.
    properties: Vec<PropertyId>,
}

/// The properties of a spec, and the templates that its tests use.
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

/// A change that means something else, with the formula it gives of every property of the subject.
struct Candidate {
    change: Change,
    formulas: Vec<FormulaId>,
    difference: lint::Difference,
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
    let original = spec.property(first).formula;
    let expected = |test: &&crate::hir::Test| {
        let mut expects = test.expects.iter();
        expects.any(|expect| subject.properties.contains(&expect.property))
    };
    let mut report = SubjectReport {
        name: subject.name.clone(),
        template: subject.template,
        formula: print::formula(&spec.formulas, original),
        tests: spec.tests.iter().filter(expected).count(),
        mutants: Vec::new(),
        equivalent: 0,
        duplicate: 0,
        left_out: 0,
        error: None,
    };
    if spec.formulas.is_timed(original) {
        report.error =
            Some("bounds in time have no automaton that could tell mutants from it".to_owned());
        return report;
    }
    let mut changed = spec.clone();
    let candidates = candidates(&mut changed, subject, original, limits, &mut report);
    let formulas = changed.formulas.clone();
    let judged = Judged::new(
        spec,
        sources,
        recordings,
        &subject.properties,
        &formulas,
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
    for (candidate, killed_by) in candidates.into_iter().zip(killed) {
        let mutant = candidate.formulas.first().copied().unwrap_or(original);
        let change = candidate.change.text(&mut changed.formulas, original);
        // Only survivors need a test.
        let test = match killed_by {
            Some(_) => None,
            None => example::test(
                &judged,
                subject.template.then_some(spec.property(first)),
                first,
                mutant,
                &change,
                &candidate.difference,
            ),
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

/// The changes that mean something else, each meaning once. Their formulas are added to those of the spec.
fn candidates(
    spec: &mut Spec,
    subject: &Subject,
    original: FormulaId,
    limits: &Limits,
    report: &mut SubjectReport,
) -> Vec<Candidate> {
    let Ok(dfa) = automaton(&spec.formulas, original, &limits.automata) else {
        report.error =
            Some("its automaton is too large for its mutants to be told apart".to_owned());
        return Vec::new();
    };
    let shown = subject
        .properties
        .first()
        .map(|first| lint::occurrences(spec, spec.property(*first)))
        .unwrap_or_default();
    let mut known: FxHashSet<String> = FxHashSet::default();
    let meaning = |dfa: &Dfa| dfa.minimized_nonempty().to_string();
    known.insert(meaning(&dfa));
    let same = meaning(&dfa);
    let mut candidates: Vec<Candidate> = Vec::new();
    for change in changes(&spec.formulas, original) {
        if candidates.len() >= limits.mutants {
            report.left_out += 1;
            continue;
        }
        let Some(mutant) = change.of(&mut spec.formulas, original) else {
            continue;
        };
        let Ok(dfa) = automaton(&spec.formulas, mutant, &limits.automata) else {
            report.left_out += 1;
            continue;
        };
        let meaning = meaning(&dfa);
        if meaning == same {
            report.equivalent += 1;
            continue;
        }
        if !known.insert(meaning) {
            report.duplicate += 1;
            continue;
        }
        // Letters may exclude one another, so that no event shows the difference.
        match lint::compare(
            spec,
            original,
            mutant,
            &shown,
            Semantics::Finite,
            &limits.automata,
        ) {
            Ok(comparison) if comparison.relation == Relation::Equivalent => report.equivalent += 1,
            Ok(comparison) => match comparison.difference {
                Some(difference) => {
                    let formulas = uses(&mut spec.formulas, &change, subject, &spec.properties);
                    candidates.push(Candidate {
                        change,
                        formulas,
                        difference,
                    });
                }
                None => report.left_out += 1,
            },
            Err(_) => report.left_out += 1,
        }
    }
    candidates
}

/// The formulas of all properties of a subject after a change; what it does not apply to stays as it is.
fn uses(
    formulas: &mut Formulas,
    change: &Change,
    subject: &Subject,
    properties: &[crate::hir::Property],
) -> Vec<FormulaId> {
    subject
        .properties
        .iter()
        .filter_map(|property| properties.get(property.index()))
        .map(|property| {
            change
                .of(formulas, property.formula)
                .unwrap_or(property.formula)
        })
        .collect()
}
