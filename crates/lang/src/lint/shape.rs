//! Formulas that often do not have the intended meaning: a next step that may not exist, an approval in the step before instead
//! of any approval since the last use, a confirmation afterwards instead of before, a window that counts from another step, an
//! implication without `always`.

use super::limits::Budget;
use super::polarity::Polarity;
use super::subject::{Subjects, is_documented};
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{Bound, Formula, Formulas, PropertyKind, Unary, print};
use crate::ids::FormulaId;
use guard_automata::Traces;

/// Phrases that refer to the step before.
const THE_STEP_BEFORE: &[&str] = &[
    "immediately",
    "directly before",
    "right before",
    "just before",
    "step before",
    "previous step",
    "preceding step",
];

/// Phrases that refer to the first step.
const THE_FIRST_STEP: &[&str] = &[
    "first step",
    "first event",
    "first action",
    "at the start",
    "at the beginning",
    "starts with",
    "begins with",
    "initial",
];

pub(super) fn lint(subjects: &mut Subjects<'_>, budget: &mut Budget, found: &mut Vec<Diagnostic>) {
    for index in 0..subjects.all.len() {
        found.extend(strong_next(subjects, index, budget));
        found.extend(approval(subjects, index));
        found.extend(forgiven(subjects, index));
        found.extend(shifted(subjects, index));
        found.extend(first_step(subjects, index));
    }
}

/// Reports `a -> eventually b`, which is about later steps, but whose condition is evaluated at the first step only.
fn first_step(subjects: &Subjects<'_>, index: usize) -> Option<Diagnostic> {
    let property = subjects.all[index].property;
    let formulas = &subjects.scratch;
    let Formula::Implies(trigger, wanted) = *formulas.get(property.formula) else {
        return None;
    };
    if !matches!(property.kind, PropertyKind::Ltl | PropertyKind::Requirement)
        || !is_timeless(formulas, trigger)
        || is_timeless(formulas, wanted)
        || is_documented(property, THE_FIRST_STEP)
    {
        return None;
    }
    let text = print::formula(formulas, property.formula);
    let trigger_text = print::formula(formulas, trigger);
    Some(
        Diagnostic::new(
            Code::G0929,
            subjects.place(trigger, property),
            format!("`{trigger_text}` is evaluated at the first step only"),
        )
        .label("at later steps it has no effect")
        .note(format!("if every step counts, write `always ({text})`")),
    )
}

/// Reports `next always[0,4h] not a`, whose window counts from the time of the next step, and `previously once[0,4h] a`, whose
/// window counts from that of the step before.
fn shifted(subjects: &Subjects<'_>, index: usize) -> Option<Diagnostic> {
    let property = subjects.all[index].property;
    let formulas = &subjects.scratch;
    let mut todo = vec![property.formula];
    while let Some(part) = todo.pop() {
        if let Formula::Unary(shift, None, window) = formulas.get(part)
            && let Formula::Unary(_, Some(Bound::Time(..)), _) = formulas.get(*window)
            && let Some(step) = neighbour(*shift)
        {
            let text = print::formula(formulas, part);
            return Some(
                Diagnostic::new(
                    Code::G0927,
                    subjects.place(part, property),
                    format!("the window of `{text}` counts from the {step}"),
                )
                .label(format!(
                    "not from this step, but from the time of the {step}"
                ))
                .note("`always[1ns,4h] a` counts from this step and leaves out its own time, as `once[1ns,4h] a` does")
                .note("for *not again within 4 hours*, write `count[0,4h](a) <= 1`"),
            );
        }
        todo.extend(formulas.operands(part).into_iter().rev());
    }
    None
}

/// Returns the neighbouring step that an operator evaluates its operand at, if it is one.
fn neighbour(operator: Unary) -> Option<&'static str> {
    match operator {
        Unary::Next | Unary::WeakNext => Some("next step"),
        Unary::Previously | Unary::WeakPreviously => Some("step before"),
        _ => None,
    }
}

/// `F[0,5] (a or last)`: it holds too where the trace ends at the last step of the window, which is then whole.
fn forgiven(subjects: &mut Subjects<'_>, index: usize) -> Option<Diagnostic> {
    let property = subjects.all[index].property;
    let mut todo = vec![property.formula];
    while let Some(part) = todo.pop() {
        let formulas = &mut subjects.scratch;
        if let Formula::Unary(Unary::Eventually, Some(bound), body) = *formulas.get(part)
            && let Some(rest) = bound.cut_off()
            && let Some(asked) = without_last(formulas, body)
        {
            let text = print::formula(formulas, part);
            let asked = formulas.add(Formula::Unary(Unary::Eventually, Some(bound), asked));
            let last = formulas.add(Formula::Last);
            let ends = formulas.add(Formula::Unary(Unary::Eventually, Some(rest), last));
            let both = formulas.add(Formula::Or(asked, ends));
            let remedy = print::formula(formulas, both);
            return Some(
                Diagnostic::new(
                    Code::G0923,
                    subjects.place(part, property),
                    format!("`{text}` also forgives a window that the end does not cut off"),
                )
                .label("holds if the trace ends at the last step of the window")
                .note(format!(
                    "to forgive only what the end cuts off, write `{remedy}`"
                ))
                .note("`a leads to b within … or end` and `rule` with `or end` mean this too"),
            );
        }
        todo.extend(formulas.operands(part).into_iter().rev());
    }
    None
}

/// Returns the other operands of a disjunction of which one is `last`.
fn without_last(formulas: &Formulas, id: FormulaId) -> Option<FormulaId> {
    let Formula::Or(a, b) = formulas.get(id) else {
        return None;
    };
    match (formulas.get(*a), formulas.get(*b)) {
        (_, Formula::Last) => Some(*a),
        (Formula::Last, _) => Some(*b),
        _ => None,
    }
}

/// Warns about a strong next under `always`, which fails at the last step of a trace.
fn strong_next(
    subjects: &mut Subjects<'_>,
    index: usize,
    budget: &mut Budget,
) -> Option<Diagnostic> {
    let subject = &subjects.all[index];
    let property = subject.property;
    if subject.timed || subject.dfa.is_none() || !subject.satisfiable {
        return None;
    }
    let mut todo = vec![(property.formula, Vec::new(), Polarity::Positive, false)];
    let mut met = 0;
    while let Some((part, path, polarity, always)) = todo.pop() {
        met += 1;
        if met > budget.limits().parts {
            return None;
        }
        let weak = match (subjects.scratch.get(part), polarity) {
            (Formula::Unary(Unary::Next, _, a), Polarity::Positive) => {
                Some(Formula::Unary(Unary::WeakNext, None, *a))
            }
            (Formula::Unary(Unary::WeakNext, _, a), Polarity::Negative) => {
                Some(Formula::Unary(Unary::Next, None, *a))
            }
            _ => None,
        };
        if let Some(weak) = weak.filter(|_| always) {
            let weak = subjects.scratch.add(weak);
            let changed = subjects.scratch.with_part(property.formula, &path, weak);
            let (strong, weak) = (
                subjects.automaton(property.formula, budget)?,
                subjects.automaton(changed, budget)?,
            );
            let only_weak = budget.search(&weak, &strong, Traces::NonEmpty, |a, b| a && !b)?;
            if let Some(word) = only_weak {
                let text = print::formula(&subjects.scratch, part);
                let changed = print::formula(&subjects.scratch, changed);
                return Some(
                    Diagnostic::new(
                        Code::G0916,
                        subjects.place(part, property),
                        format!("`{text}` requires a next step, but the last step has none"),
                    )
                    .label(format!(
                        "`{}` is violated if the trace ends here",
                        property.name
                    ))
                    .note(format!("fails on {}", subjects.steps(&word)))
                    .note(format!("if a trace may end here, write `{changed}`")),
                );
            }
        }
        let formulas = &subjects.scratch;
        let over_all = match formulas.get(part) {
            Formula::Unary(Unary::Always, None, _) => polarity == Polarity::Positive,
            Formula::Unary(Unary::Eventually, None, _) => polarity == Polarity::Negative,
            _ => false,
        };
        for (place, operand) in formulas.operands(part).into_iter().enumerate().rev() {
            let polarity = match (formulas.get(part), place) {
                (Formula::Not(_), _) | (Formula::Implies(..), 0) => polarity.flipped(),
                (Formula::Iff(..), _) => Polarity::Both,
                _ => polarity,
            };
            let path = [path.as_slice(), &[place]].concat();
            todo.push((operand, path, polarity, always || over_all));
        }
    }
    None
}

/// Reports `G (use -> Y approval)` and `G (use -> F approval)`, if the name of the letter suggests an approval.
fn approval(subjects: &Subjects<'_>, index: usize) -> Option<Diagnostic> {
    let property = subjects.all[index].property;
    let formulas = &subjects.scratch;
    let (used, wanted) = obligation(formulas, property.formula)?;
    if !is_timeless(formulas, used) {
        return None;
    }
    let text = |id| print::formula(formulas, id);
    let place = |part| subjects.place(part, property);
    match formulas.get(wanted) {
        Formula::Unary(Unary::Previously, _, approval)
            if is_timeless(formulas, *approval)
                && approves(formulas, *approval)
                && !is_documented(property, THE_STEP_BEFORE) =>
        {
            let (used, approval) = (operand(formulas, used), operand(formulas, *approval));
            Some(
                Diagnostic::new(
                    Code::G0917,
                    place(wanted),
                    "only the directly preceding step counts",
                )
                .label("any step between the approval and its use invalidates the approval")
                .note(format!(
                    "if an approval since the last use is intended, write `G ({used} -> Y (not \
                    {used} S {approval}))`"
                )),
            )
        }
        Formula::Unary(Unary::Eventually, bound, confirmation)
            if is_timeless(formulas, *confirmation)
                && approves(formulas, *confirmation)
                && !asks(formulas, used)
                && text(used) != text(*confirmation) =>
        {
            let once = match bound {
                None => "Y O".to_owned(),
                // The step before is already one of them.
                Some(Bound::Steps(_, high)) => format!("Y O[0,{}]", high.saturating_sub(1)),
                // Time counts back from the action itself.
                Some(Bound::Time(_, high)) => format!("O[0,{}]", crate::value::Instant(*high)),
            };
            let (used, confirmation) = (operand(formulas, used), operand(formulas, *confirmation));
            let span = match property.kind {
                PropertyKind::Rule => property.formula_span,
                _ => place(wanted),
            };
            Some(
                Diagnostic::new(
                    Code::G0918,
                    span,
                    format!("`{confirmation}` is required only after `{used}` has happened"),
                )
                .label("the action is not delayed until then")
                .note(format!(
                    "if it must come first, write `G ({used} -> {once} {confirmation})`"
                )),
            )
        }
        _ => None,
    }
}

/// Returns `a` and `b` of `G (a -> b)`, of `never (a and not b)`, and of forms with `… or last`.
fn obligation(formulas: &Formulas, formula: FormulaId) -> Option<(FormulaId, FormulaId)> {
    let Formula::Unary(Unary::Always, None, body) = formulas.get(formula) else {
        return None;
    };
    match formulas.get(*body) {
        Formula::Implies(a, b) => Some((*a, *b)),
        Formula::Not(both) => match formulas.get(*both) {
            Formula::And(a, not) => match formulas.get(*not) {
                Formula::Not(b) => Some((*a, *b)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

fn is_timeless(formulas: &Formulas, formula: FormulaId) -> bool {
    match formulas.get(formula) {
        Formula::Unary(..) | Formula::Binary(..) => false,
        Formula::Or(a, b) => {
            let last = |id: &FormulaId| formulas.get(*id) == &Formula::Last;
            (last(a) || is_timeless(formulas, *a)) && (last(b) || is_timeless(formulas, *b))
        }
        Formula::Last => false,
        _ => formulas
            .operands(formula)
            .into_iter()
            .all(|part| is_timeless(formulas, part)),
    }
}

/// Prints a formula as an operand of a prefix operator.
fn operand(formulas: &Formulas, formula: FormulaId) -> String {
    let text = print::formula(formulas, formula);
    match formulas.get(formula) {
        Formula::Atom(_) | Formula::Not(_) => text,
        _ => format!("({text})"),
    }
}

/// Word stems that name a permission given by somebody else.
const APPROVAL: &[&str] = &[
    "approv",
    "authoris",
    "authoriz",
    "confirm",
    "consent",
    "permit",
    "permission",
    "granted",
    "allowed",
    "sign_off",
    "signed",
    "signoff",
    "accepted",
    "reviewed",
    "validated",
    "verified",
    "acknowledg",
];

/// Word stems that name a question: the events after it answer the question.
const QUESTION: &[&str] = &[
    "ask", "request", "propos", "quer", "offer", "question", "prompt",
];

fn approves(formulas: &Formulas, formula: FormulaId) -> bool {
    says(formulas, formula, APPROVAL)
}

fn asks(formulas: &Formulas, formula: FormulaId) -> bool {
    says(formulas, formula, QUESTION)
}

/// Whether a word in the letters of a formula begins with one of these stems.
fn says(formulas: &Formulas, formula: FormulaId, stems: &[&str]) -> bool {
    let letters = formulas.atoms_of(formula);
    letters.into_iter().any(|letter| {
        let text = formulas.atom(letter).text.to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric());
        words
            .into_iter()
            .any(|word| stems.iter().any(|stem| word.starts_with(stem)))
            || stems
                .iter()
                .any(|stem| stem.contains('_') && text.contains(stem))
    })
}
