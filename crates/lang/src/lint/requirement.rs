//! Requirements whose formula differs from their sentence, and sentences that are not controlled English.
//!
//! A sentence that names situations in backquotes or quotation marks, and that one or two changes turn into controlled English,
//! is treated as controlled English. A sentence of free English is compared by its proposals: if no proposal has the same
//! meaning as the formula, it is reported with a shortest trace that only one of the two accepts. If a sentence has no
//! proposal, or its situations cannot be matched with those of the formula, the lint reports nothing.

use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{Expr, Property, Spec};
use crate::ids::ExprId;
use crate::source::Span;
use crate::translate;
use guard_english::controlled::{Fault, Vocabulary, read};
use guard_english::draft::{Difference, difference};

/// Checks the requirements; returns the number of sentences that were compared with their formulas.
pub(super) fn lint(spec: &Spec, found: &mut Vec<Diagnostic>) -> usize {
    let vocabulary = vocabulary(spec);
    let mut n_compared = 0;
    for property in &spec.properties {
        let Some(sentence) = &property.requirement else {
            continue;
        };
        let letters: Vec<String> = spec
            .formulas
            .atoms()
            .iter()
            .map(|letter| letter.text.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        if sentence.contains(['`', '"'])
            && let Err(fault) = read(sentence, &vocabulary)
            && fault.is_slip
        {
            found.push(misplaced(property, sentence, &fault));
            continue;
        }
        // A letter that looks back has no counterpart among the letters of the draft.
        if spec
            .formulas
            .atoms_of(property.formula)
            .iter()
            .any(|letter| remembers(spec, spec.atom(*letter).expr))
        {
            continue;
        }
        let formula = translate::spoken(&spec.formulas, property.formula);
        if let Some(parting) = difference(sentence, &formula, &letters, &vocabulary) {
            n_compared += 1;
            found.extend(parting.map(|parting| diagnostic(property, &parting)));
        }
    }
    n_compared
}

/// The predicates of a spec, with their comments.
fn vocabulary(spec: &Spec) -> Vocabulary {
    let mut vocabulary = Vocabulary::default();
    for (name, comment) in &spec.outline.predicates {
        vocabulary.add(name, comment);
    }
    vocabulary
}

/// Reports a sentence that is not controlled English.
fn misplaced(property: &Property, sentence: &str, fault: &Fault) -> Diagnostic {
    let whole = property.requirement_span.unwrap_or(property.span);
    // Without escapes, positions in the sentence correspond to positions in the file.
    let plain =
        usize::try_from(whole.end - whole.start).is_ok_and(|width| width == sentence.len() + 2);
    let place = |at: usize| u32::try_from(at).map_or(whole.start, |at| whole.start + 1 + at);
    let span = if plain {
        Span {
            start: place(fault.span.start),
            end: place(fault.span.end.max(fault.span.start + 1)).min(whole.end),
            ..whole
        }
    } else {
        whole
    };
    let mut diagnostic = Diagnostic::new(
        Code::G0952,
        span,
        format!(
            "the sentence of `{}` is not controlled English",
            property.name
        ),
    )
    .label(fault.to_string());
    for words in &fault.rewordings {
        let literal = format!("\"{}\"", words.replace('\\', "\\\\").replace('"', "\\\""));
        diagnostic = diagnostic.fix("reword the sentence", whole, literal);
    }
    diagnostic
}

fn diagnostic(property: &Property, parting: &Difference) -> Diagnostic {
    let steps: Vec<String> = parting.trace.iter().map(ToString::to_string).collect();
    let who = if parting.sentence_accepts {
        "satisfies the sentence but not the formula"
    } else {
        "satisfies the formula but not the sentence"
    };
    Diagnostic::new(
        Code::G0951,
        property.formula_span,
        format!(
            "the formula of `{}` may differ from its sentence",
            property.name
        ),
    )
    .label(format!("the sentence is read as {}", parting.formula))
    .note(format!("a trace that {who}: {}", steps.join(" ")))
    .note("to keep the formula as it is, write `@allow(requirement_differs)`")
}

/// Whether an expression depends on earlier steps.
fn remembers(spec: &Spec, id: ExprId) -> bool {
    let mut todo = vec![id];
    while let Some(id) = todo.pop() {
        if matches!(
            spec.exprs.get(id),
            Expr::Track(..) | Expr::Before(_) | Expr::Count { .. } | Expr::Past(..)
        ) {
            return true;
        }
        todo.extend(spec.exprs.operands(id));
    }
    false
}
