//! Properties that no trace satisfies, that no trace violates, or that only the end of a trace can violate.

use super::subject::{Subject, Subjects, is_documented};
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{Formula, Formulas, Unary};
use crate::ids::FormulaId;
use guard_automata::{Dfa, Traces, Word};

pub(super) fn lint(subjects: &Subjects<'_>, found: &mut Vec<Diagnostic>) {
    for subject in &subjects.all {
        let (Some(class), Some(dfa)) = (subject.class, &subject.dfa) else {
            continue;
        };
        if !subject.satisfiable {
            let by_data = class
                .satisfiable
                .then(|| dfa.shortest_accepted(Traces::NonEmpty));
            let why = excluded(subjects, by_data.flatten(), "satisfied");
            let diagnostic = unsatisfiable(subjects, subject);
            found.push(noted(diagnostic, why));
        } else if subject.valid {
            let by_data =
                (!class.valid && !subject.timed).then(|| dfa.shortest_rejected(Traces::NonEmpty));
            let why = excluded(subjects, by_data.flatten(), "violated");
            found.push(noted(valid(subject), why));
        } else if subject.fails() == Some((false, true)) {
            found.extend(at_the_end(subjects, subject, dfa));
        }
    }
}

/// Returns a note on a trace that would decide a property otherwise if events could make it.
fn excluded(subjects: &Subjects<'_>, word: Option<Word>, verdict: &str) -> Option<String> {
    let steps = subjects.steps(&word?);
    Some(format!(
        "it would be {verdict} by these steps, which no events can make: {steps}"
    ))
}

fn noted(diagnostic: Diagnostic, note: Option<String>) -> Diagnostic {
    match note {
        Some(note) => diagnostic.note(note),
        None => diagnostic,
    }
}

fn unsatisfiable(subjects: &Subjects<'_>, subject: &Subject<'_>) -> Diagnostic {
    let name = &subject.property.name;
    let universal = subject
        .property
        .quantified
        .as_ref()
        .is_some_and(|quantified| quantified.universal);
    let label = if universal {
        "unsatisfiable for every value"
    } else {
        "unsatisfiable"
    };
    let mut diagnostic = Diagnostic::new(
        Code::G0910,
        subject.property.formula_span,
        format!("`{name}` is satisfied by no trace"),
    )
    .label(label);
    if asks_for_a_next_step(&subjects.spec.formulas, subject.property.formula) {
        diagnostic = diagnostic.note("traces are finite, so the last step has no next step");
    }
    diagnostic
}

/// Phrases that require something at any time up to the end.
const BY_THE_END: &[&str] = &[
    "eventually",
    "sooner or later",
    "at some point",
    "at some later point",
    "before the run ends",
    "before the trace ends",
    "before it ends",
    "by the end",
    "in the end",
];

fn asks_for_a_next_step(formulas: &Formulas, formula: FormulaId) -> bool {
    matches!(formulas.get(formula), Formula::Unary(Unary::Next, ..))
        || formulas
            .operands(formula)
            .into_iter()
            .any(|part| asks_for_a_next_step(formulas, part))
}

fn valid(subject: &Subject<'_>) -> Diagnostic {
    Diagnostic::new(
        Code::G0911,
        subject.property.formula_span,
        format!("`{}` says nothing", subject.property.name),
    )
    .label("satisfied by every trace")
}

fn at_the_end(subjects: &Subjects<'_>, subject: &Subject<'_>, dfa: &Dfa) -> Option<Diagnostic> {
    if is_documented(subject.property, BY_THE_END) {
        return None;
    }
    let word = dfa.shortest_rejected(Traces::NonEmpty)?;
    Some(
        Diagnostic::new(
            Code::G0915,
            subject.property.formula_span,
            format!(
                "`{}` can only fail when the trace ends",
                subject.property.name
            ),
        )
        .label("until then, a later step may still satisfy it")
        .note(
            "it can detect but not prevent violations; a deadline (`within 5 steps`) \
                    makes it fail in time to act",
        )
        .note(format!(
            "fails on a trace that ends like this: {}",
            subjects.steps(&word)
        )),
    )
}
