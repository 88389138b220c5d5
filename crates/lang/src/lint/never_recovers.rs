//! Clauses that deny every step after a violation: only `always φ` is monitored again after a violation that happened.
//!
//! # Source
//! `x unless y` is `always (x or once y)`, and `y release x` is `always (x or previously once y)`: O. Lichtenstein, A. Pnueli,
//! L. Zuck, "The glory of the past", 1985.

use super::subject::{Subject, Subjects};
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{
    ActionKind, Arm, ArmTrigger, Binary, Bound, Formula, Formulas, Spec, Unary, Watched, print,
};
use crate::ids::FormulaId;

pub(super) fn lint(subjects: &mut Subjects<'_>, found: &mut Vec<Diagnostic>) {
    let spec = subjects.spec;
    for clause in &spec.enforces {
        let Watched::Property(property) = clause.watched else {
            continue;
        };
        let property = spec.property(property);
        if spec.at_every_step(property).is_some() {
            continue;
        }
        // The end of a run is what `stop` asks for.
        let denies = |arm: &&Arm| {
            arm.trigger == ArmTrigger::Violated
                && matches!(arm.action.kind, ActionKind::Ask | ActionKind::Block)
        };
        let Some(arm) = clause.arms.iter().find(denies) else {
            continue;
        };
        let subject = subjects.all.iter();
        let mut subject = subject.filter(|subject| subject.property.name == property.name);
        let Some(subject) = subject.next().filter(|of| fails_at_a_step(spec, of)) else {
            continue;
        };
        found.push(diagnostic(spec, &mut subjects.scratch, subject, arm));
    }
}

/// Whether a step may violate a property for ever. Of formulas with bounds in time only those are known to that consist of one window.
fn fails_at_a_step(spec: &Spec, subject: &Subject<'_>) -> bool {
    let of_time = match spec.formulas.get(subject.property.formula) {
        Formula::Unary(_, bound, _) | Formula::Binary(_, bound, ..) => *bound,
        _ => None,
    };
    let fails = || match subject.timed {
        true => matches!(of_time, Some(Bound::Time(..))),
        false => subject.fails().is_some_and(|(by_a_step, _)| by_a_step),
    };
    subject.is_contingent() && fails()
}

fn diagnostic(
    spec: &Spec,
    formulas: &mut Formulas,
    subject: &Subject<'_>,
    arm: &Arm,
) -> Diagnostic {
    let property = subject.property;
    let does = match arm.action.kind {
        ActionKind::Ask => "asks about",
        _ => "denies",
    };
    let name = &property.name;
    let word = arm.action.kind.as_str();
    let found = Diagnostic::new(
        Code::G0946,
        arm.span,
        format!("once a violation of `{name}` has happened, `{word}` {does} every later step"),
    )
    .label("acts at each step, whatever the step is")
    .also(
        property.formula_span,
        "no later step satisfies this again",
    )
    .note(
        "a violation has happened if it was an outcome, an action that a person allowed, or one that was reported afterwards; \
         only `always …` is then monitored on",
    );
    let recovering = body_of_equal(formulas, property.formula).map(|(body, is_equal)| {
        let always = formulas.add(Formula::Unary(Unary::Always, None, body));
        (print::formula(formulas, always), is_equal)
    });
    let place = (property.formula, property.formula_span);
    let is_written_here = spec.outline.formulas.contains(&place)
        && property.formula_span.file == spec.outline.file
        && property.quantified.is_none();
    match recovering {
        Some((text, true)) if is_written_here => found.fix(
            "the same traces violate this form, and after a violation it denies only the steps that violate it again",
            property.formula_span,
            text,
        ),
        Some((text, true)) => found.note(format!(
            "the same traces violate `{text}`, which denies only the steps that violate it again"
        )),
        Some((text, false)) => found.note(format!(
            "`{text}` denies the same steps, and later only those that violate it again; state what must come before the end \
             in a property of its own, with `eventually`"
        )),
        None => found.note(
            "state when a step is denied in a property of the form `always (… -> …)`, or deny by `enforce when …`",
        ),
    }
}

/// Returns φ of a formula `always φ` that the same traces satisfy, and true; or that steps before the end violate in the same traces,
/// and false. `None` if there is no such form that an author would write.
fn body_of_equal(formulas: &mut Formulas, id: FormulaId) -> Option<(FormulaId, bool)> {
    match *formulas.get(id) {
        Formula::Unary(Unary::Always, None, body) => Some((body, true)),
        Formula::Not(of) => match *formulas.get(of) {
            Formula::Unary(Unary::Eventually, None, of) => {
                Some((formulas.add(Formula::Not(of)), true))
            }
            _ => None,
        },
        Formula::And(a, b) => {
            let (a, a_is_equal) = body_of_equal(formulas, a)?;
            let (b, b_is_equal) = body_of_equal(formulas, b)?;
            let both = formulas.add(Formula::And(a, b));
            Some((both, a_is_equal && b_is_equal))
        }
        Formula::Binary(op @ (Binary::Unless | Binary::Until), None, kept, freed) => {
            let freed = formulas.add(Formula::Unary(Unary::Once, None, freed));
            Some((kept_or(formulas, kept, freed), op == Binary::Unless))
        }
        Formula::Binary(op @ (Binary::Release | Binary::StrongRelease), None, freed, kept) => {
            let freed = formulas.add(Formula::Unary(Unary::Once, None, freed));
            let freed = formulas.add(Formula::Unary(Unary::Previously, None, freed));
            Some((kept_or(formulas, kept, freed), op == Binary::Release))
        }
        _ => None,
    }
}

/// Returns `kept or freed`, as `b -> freed` if `kept` is `not b`.
fn kept_or(formulas: &mut Formulas, kept: FormulaId, freed: FormulaId) -> FormulaId {
    match *formulas.get(kept) {
        Formula::Not(denied) => formulas.add(Formula::Implies(denied, freed)),
        _ => formulas.add(Formula::Or(kept, freed)),
    }
}
