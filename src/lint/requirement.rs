//! Requirements whose formula does not say what their sentence says.
//!
//! The sentence is drafted afresh; where the draft and the formula part, the finding shows a shortest trace that only one
//! of them accepts. Where the sentence is unclear, or its situations cannot be told to be those of the formula, the lint is
//! silent.

use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{Expr, Property, Spec};
use crate::ids::ExprId;
use crate::translate;
use guard_english::draft::{Difference, difference};

pub(super) fn lint(spec: &Spec, found: &mut Vec<Diagnostic>) {
    for property in &spec.properties {
        let Some(sentence) = &property.requirement else {
            continue;
        };
        // What looks back within a letter is not what a letter of the draft is.
        if spec
            .formulas
            .atoms_of(property.formula)
            .iter()
            .any(|letter| remembers(spec, spec.atom(*letter).expr))
        {
            continue;
        }
        let letters: Vec<String> = spec
            .formulas
            .atoms()
            .iter()
            .map(|letter| letter.text.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        let formula = translate::spoken(&spec.formulas, property.formula);
        if let Some(parting) = difference(sentence, &formula, &letters) {
            found.push(diagnostic(property, &parting));
        }
    }
}

fn diagnostic(property: &Property, parting: &Difference) -> Diagnostic {
    let steps: Vec<String> = parting
        .trace
        .iter()
        .map(|step| {
            let at = step
                .at
                .as_ref()
                .map_or_else(String::new, |at| format!("{at}s "));
            format!("{at}{{{}}}", step.holds.join(", "))
        })
        .collect();
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
