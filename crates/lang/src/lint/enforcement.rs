//! `enforce` clauses that act too late, do too little, deny actions that cannot be denied, or never act.

use super::subject::{Subject, Subjects};
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::reads::reads;
use crate::hir::{
    ActionKind, Arm, ArmTrigger, Compare, Enforce, Expr, Formula, Property, Severity, Spec, Unary,
    Watched, print,
};
use crate::ids::PropertyId;
use guard_automata::{Dfa, Finality, StateSet, Verdict};
use smol_str::SmolStr;

/// Up to this many letters that are known before an action are tried with all values.
const MOST_KNOWN: usize = 12;

/// Conditions are shown up to this many bytes.
const LONGEST_SHOWN: usize = 200;

pub(super) fn lint(subjects: &Subjects<'_>, found: &mut Vec<Diagnostic>) {
    let spec = subjects.spec;
    for clause in &spec.enforces {
        let Watched::Property(property) = clause.watched else {
            continue;
        };
        let of = spec.property(property);
        let Some(subject) = subjects.all.iter().find(|s| s.property.name == of.name) else {
            continue;
        };
        for arm in violated(clause).filter(|arm| arm.action.kind.lasts()) {
            if subject.fails() == Some((false, true)) {
                found.push(at_the_end(subject, arm));
            } else if let Some(awaited) = after_the_fact(subjects, subject) {
                found.push(too_late(subject, arm, &awaited));
            }
        }
        found.extend(clause.arms.iter().filter_map(|arm| idle(subject, arm)));
        found.extend(asked_again(spec, of, clause));
        found.extend(mild(subjects, property, subject, clause));
    }
}

fn violated(clause: &Enforce) -> impl Iterator<Item = &Arm> {
    clause
        .arms
        .iter()
        .filter(|arm| arm.trigger == ArmTrigger::Violated)
}

fn at_the_end(subject: &Subject<'_>, arm: &Arm) -> Diagnostic {
    let name = &subject.property.name;
    let word = arm.action.kind.as_str();
    Diagnostic::new(
        Code::G0942,
        arm.span,
        format!("`{word}` never denies a step: only the end of a trace violates `{name}`"),
    )
    .label("acts when the trace ends")
    .also(
        subject.property.formula_span,
        "a later step may always satisfy this",
    )
    .note(
        "to act while an obligation is pending, use `presumably_violated for n \
                    steps`; with a deadline (`within 5 steps`), a violation can be blocked",
    )
}

/// Warns about an arm whose verdict no step of a trace has.
fn idle(subject: &Subject<'_>, arm: &Arm) -> Option<Diagnostic> {
    let name = &subject.property.name;
    let (verdict, what, why, note) = match arm.trigger {
        ArmTrigger::Satisfied => (
            Verdict::Satisfied,
            format!("`{name}` is never satisfied for every continuation"),
            "what follows may always violate this",
            "`satisfied` acts once nothing that may follow violates the property, as with `eventually …` after its event",
        ),
        ArmTrigger::PresumablyViolated(_) => (
            Verdict::PresumablyViolated,
            format!("no obligation of `{name}` is ever pending"),
            "the end of a trace never violates this",
            "`presumably_violated` acts while the end of the trace would violate the property and a later step may still satisfy it",
        ),
        _ => return None,
    };
    let is_idle = subject.is_contingent() && subject.reaches(verdict) == Some(false);
    is_idle.then(|| {
        Diagnostic::new(
            Code::G0948,
            arm.span,
            format!("this arm never acts: {what}"),
        )
        .label("no trace triggers it")
        .also(subject.property.formula_span, why)
        .note(note)
    })
}

/// Returns the fields that exist only after an action, if every violation depends on them: then no proposal is ever
/// known to violate.
fn after_the_fact(subjects: &Subjects<'_>, subject: &Subject<'_>) -> Option<Vec<String>> {
    let spec = subjects.spec;
    let dfa = subject.dfa.as_ref().filter(|_| !subject.timed)?;
    let awaited = |letter: &crate::ids::AtomId| {
        let read = reads(spec, [spec.atom(*letter).expr]).fields;
        let fields = spec.outcomes.iter().filter(|field| read.contains(field));
        fields.copied().collect::<Vec<usize>>()
    };
    let mut fields: Vec<usize> = subject.letters.iter().flat_map(awaited).collect();
    fields.sort_unstable();
    fields.dedup();
    if fields.is_empty() {
        return None;
    }
    let unknown = |atom: u32| {
        let letter = crate::ids::AtomId::new(atom as usize);
        !awaited(&letter).is_empty()
    };
    let open = dfa
        .states()
        .filter(|state| dfa.finality(*state) != Finality::FinalFalse);
    for state in open {
        if is_known_to_violate(dfa, state, &unknown)? {
            return None;
        }
    }
    let name = |field: usize| {
        spec.schema
            .fields
            .get(field)
            .map(|field| field.name.to_string())
    };
    Some(fields.into_iter().filter_map(name).collect())
}

/// Whether some letter violates from this state for all values of the unknown atoms; `None` if there are too many to
/// try.
fn is_known_to_violate(
    dfa: &Dfa,
    state: guard_automata::StateId,
    unknown: &impl Fn(u32) -> bool,
) -> Option<bool> {
    let atoms = dfa.relevant_atoms(state);
    let known: Vec<_> = atoms.iter().filter(|atom| !unknown(atom.0)).collect();
    if known.len() > MOST_KNOWN {
        return None;
    }
    let any = (0u32..1 << known.len()).any(|bits| {
        let mut next = StateSet::new();
        let holds = |atom| {
            let place = known.iter().position(|other| **other == atom)?;
            Some(bits >> place & 1 == 1)
        };
        dfa.step_unknown(state, holds, &mut next);
        next.iter()
            .all(|next| dfa.finality(next) == Finality::FinalFalse)
    });
    Some(any)
}

fn too_late(subject: &Subject<'_>, arm: &Arm, awaited: &[String]) -> Diagnostic {
    let name = &subject.property.name;
    let fields: Vec<String> = awaited.iter().map(|field| format!("`{field}`")).collect();
    let word = arm.action.kind.as_str();
    Diagnostic::new(
        Code::G0940,
        arm.span,
        format!("`{word}` acts too late: no proposal is ever known to violate `{name}`"),
    )
    .label("acts after the action has happened")
    .also(
        subject.property.formula_span,
        format!("every violation depends on {}", fields.join(", ")),
    )
    .note(
        "fields marked `@outcome` are not known in advance; `guard monitor --outcomes \
                    any` denies a proposal that may violate the property",
    )
}

/// Warns about a question on a limit that stays passed, `always (count(p) <= n)`: it is asked about every later step.
fn asked_again(spec: &Spec, property: &Property, clause: &Enforce) -> Option<Diagnostic> {
    let Formula::Unary(Unary::Always, None, of) = spec.formulas.get(property.formula) else {
        return None;
    };
    let Formula::Atom(atom) = spec.formulas.get(*of) else {
        return None;
    };
    // `count(p) < n` and `count(p) <= n`: the limit is passed from above.
    let Expr::Compare(compare @ (Compare::Lt | Compare::Le), count, limit) =
        spec.exprs.get(spec.atom(*atom).expr)
    else {
        return None;
    };
    let Expr::Count { of: counted, .. } = spec.exprs.get(*count) else {
        return None;
    };
    let asks = |arm: &&Arm| arm.action.kind == ActionKind::Ask;
    let arm = violated(clause).find(asks)?;
    let quantified = property.quantified.iter();
    let vars: Vec<SmolStr> = quantified
        .flat_map(|quantified| quantified.vars.iter().map(|var| var.name.clone()))
        .collect();
    let written = |id| print::expr(spec, id, &vars, LONGEST_SHOWN);
    let passed = if *compare == Compare::Lt { ">=" } else { ">" };
    let (counted, count, limit) = (written(*counted), written(*count), written(*limit));
    Some(
        Diagnostic::new(
            Code::G0944,
            arm.span,
            format!("once `{}` is violated, `ask` asks about every later action", property.name),
        )
        .label("asks again at each step")
        .also(
            property.formula_span,
            "also a step that is not counted violates this",
        )
        .note(format!(
            "to ask about the steps that are counted, write `never ({counted} and {count} {passed} {limit})`"
        )),
    )
}

/// Warns about a severe property whose clauses only report.
fn mild(
    subjects: &Subjects<'_>,
    property: PropertyId,
    subject: &Subject<'_>,
    clause: &Enforce,
) -> Option<Diagnostic> {
    let of = subject.property;
    let (least, grave) = match of.severity {
        _ if of.catastrophic => (ActionKind::Ask, "catastrophic"),
        Severity::Critical => (ActionKind::Ask, "critical"),
        Severity::High => (ActionKind::Warn, "high"),
        Severity::Medium | Severity::Low => return None,
    };
    let same = |other: &&Enforce| matches!(other.watched, Watched::Property(of) if of == property);
    let all = || subjects.spec.enforces.iter().filter(same);
    // Reported once, at the first clause with an arm for violations.
    let first = all().find(|other| violated(other).next().is_some())?;
    if first.span != clause.span {
        return None;
    }
    let strongest = all().flat_map(violated).map(|arm| arm.action.kind).max()?;
    if strongest >= least {
        return None;
    }
    let arm = violated(clause).next()?;
    Some(
        Diagnostic::new(
            Code::G0941,
            arm.span,
            format!(
                "a violation of `{}` is {grave}, but it only triggers `{}`",
                of.name,
                strongest.as_str()
            ),
        )
        .label(format!("expected `{}` or stronger", least.as_str())),
    )
}
