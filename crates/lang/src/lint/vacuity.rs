//! Parts of a property that make no difference.
//!
//! An occurrence of a part is vacuous if replacing it does not change the traces of the property: by `false` if it is
//! positive, by `true` if it is negative, and by either if it is both. Then no replacement changes them.

use super::limits::Budget;
use super::polarity::Polarity;
use super::subject::Subjects;
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{Formula, print};
use crate::ids::FormulaId;

pub(super) fn lint(subjects: &mut Subjects<'_>, budget: &mut Budget, found: &mut Vec<Diagnostic>) {
    for index in 0..subjects.all.len() {
        if budget.is_spent() {
            return;
        }
        let subject = &subjects.all[index];
        // In a property without effect every part is vacuous.
        if subject.dfa.is_none() || !subject.satisfiable || subject.valid {
            continue;
        }
        found.extend(parts(subjects, index, budget));
    }
}

fn parts(subjects: &mut Subjects<'_>, index: usize, budget: &mut Budget) -> Vec<Diagnostic> {
    let property = subjects.all[index].property;
    let original = property.formula;
    let mut found: Vec<(FormulaId, Vec<usize>)> = Vec::new();
    let mut current = original;
    let mut looked_at = 0;
    let mut todo = below(subjects, original, &[], Polarity::Positive);
    while let Some((part, path, polarity)) = todo.pop() {
        looked_at += 1;
        if looked_at > budget.limits().parts {
            break;
        }
        match vacuous(subjects, current, &path, polarity, budget) {
            // Findings are cumulative: all of them can be removed together.
            Some(Some(without)) if placed(subjects, part) => {
                current = without;
                found.push((part, path));
            }
            // For an inner node of a chain or a construct, its parts are checked instead.
            Some(Some(_)) if is_junction(subjects, part) => {
                todo.extend(below(subjects, part, &path, polarity));
            }
            Some(Some(_)) => {}
            Some(None) => todo.extend(below(subjects, part, &path, polarity)),
            None => break,
        }
    }
    if found.is_empty() {
        return Vec::new();
    }
    let shorter = folded(&mut subjects.scratch, current);
    found
        .into_iter()
        .map(|(part, _)| {
            let text = print::formula(&subjects.scratch, part);
            let span = subjects.place(part, property);
            Diagnostic::new(
                Code::G0912,
                span,
                format!("`{text}` makes no difference to `{}`", property.name),
            )
            .label("replacing this part by anything accepts the same traces")
            .note(format!(
                "equivalent to `{}`",
                print::formula(&subjects.scratch, shorter)
            ))
        })
        .collect()
}

/// Returns the direct parts of a node, last first, with their paths from the root.
fn below(
    subjects: &Subjects<'_>,
    formula: FormulaId,
    path: &[usize],
    polarity: Polarity,
) -> Vec<(FormulaId, Vec<usize>, Polarity)> {
    let formulas = &subjects.scratch;
    let child =
        |index: usize, part: FormulaId, polarity| (part, [path, &[index]].concat(), polarity);
    // `if c then a else b` is `(c & a) | (!c & b)`: parts that occur twice are not separate parts.
    if let Formula::Or(lhs, rhs) = formulas.get(formula)
        && let (Formula::And(c, a), Formula::And(not_c, b)) =
            (formulas.get(*lhs), formulas.get(*rhs))
        && formulas.get(*not_c) == &Formula::Not(*c)
    {
        let inner = |index: usize, part| {
            let mut path = path.to_vec();
            path.extend([index, 1]);
            (part, path, polarity)
        };
        return vec![inner(1, *b), inner(0, *a)];
    }
    let mut parts = match formulas.get(formula) {
        Formula::Not(a) => vec![child(0, *a, polarity.flipped())],
        Formula::Implies(a, b) => {
            vec![child(0, *a, polarity.flipped()), child(1, *b, polarity)]
        }
        Formula::Iff(a, b) => vec![child(0, *a, Polarity::Both), child(1, *b, Polarity::Both)],
        _ => formulas
            .operands(formula)
            .into_iter()
            .enumerate()
            .map(|(index, part)| child(index, part, polarity))
            .collect(),
    };
    parts.reverse();
    parts
}

/// Returns the formula without the part at a path, if the part makes no difference. An outer `None` means undecided.
fn vacuous(
    subjects: &mut Subjects<'_>,
    whole: FormulaId,
    path: &[usize],
    polarity: Polarity,
    budget: &mut Budget,
) -> Option<Option<FormulaId>> {
    let constants: &[bool] = match polarity {
        Polarity::Positive => &[false],
        Polarity::Negative => &[true],
        Polarity::Both => &[true, false],
    };
    let mut without = None;
    for constant in constants {
        let changed = with_constant(&mut subjects.scratch, whole, path, *constant);
        if changed == whole {
            // The constant is written in the spec.
            return Some(None);
        }
        // The order matters: the known facts about clocks grow with every part that is bounded in time.
        let other = subjects.automaton(changed, budget)?;
        let dfa = subjects.automaton(whole, budget)?;
        if !budget.equal(&dfa, &other)? {
            return Some(None);
        }
        without = Some(changed);
    }
    Some(without)
}

/// Returns the formula with a constant at a path.
pub(super) fn with_constant(
    formulas: &mut crate::hir::Formulas,
    formula: FormulaId,
    path: &[usize],
    constant: bool,
) -> FormulaId {
    let part = formulas.constant(constant);
    formulas.with_part(formula, path, part)
}

fn is_junction(subjects: &Subjects<'_>, part: FormulaId) -> bool {
    matches!(
        subjects.scratch.get(part),
        Formula::And(..) | Formula::Or(..)
    )
}

/// Whether a part is written in the spec, not generated from it.
fn placed(subjects: &Subjects<'_>, part: FormulaId) -> bool {
    let places = &subjects.spec.outline.formulas;
    places.iter().any(|(formula, _)| *formula == part)
}

/// Returns the formula without constants that are operands of connectives.
fn folded(formulas: &mut crate::hir::Formulas, formula: FormulaId) -> FormulaId {
    let operands: Vec<FormulaId> = formulas
        .operands(formula)
        .into_iter()
        .map(|operand| folded(formulas, operand))
        .collect();
    let truth = |id: FormulaId| match formulas.get(id) {
        Formula::True => Some(true),
        Formula::False => Some(false),
        _ => None,
    };
    let constants: Vec<Option<bool>> = operands.iter().map(|id| truth(*id)).collect();
    let node = formulas.get(formula).clone();
    match (&node, constants.as_slice(), operands.as_slice()) {
        (Formula::Not(_), [Some(value)], _) => formulas.constant(!value),
        (Formula::And(..), [Some(true), _], [_, rest])
        | (Formula::And(..), [_, Some(true)], [rest, _])
        | (Formula::Or(..), [Some(false), _], [_, rest])
        | (Formula::Or(..), [_, Some(false)], [rest, _])
        | (Formula::Implies(..), [Some(true), _], [_, rest]) => *rest,
        (Formula::And(..), [Some(false), _] | [_, Some(false)], _) => formulas.constant(false),
        (Formula::Or(..), [Some(true), _] | [_, Some(true)], _)
        | (Formula::Implies(..), [Some(false), _] | [_, Some(true)], _) => formulas.constant(true),
        (Formula::And(..) | Formula::Or(..), _, [lhs, rhs]) if lhs == rhs => *lhs,
        (Formula::Implies(..), [_, Some(false)], [lhs, _]) => formulas.add(Formula::Not(*lhs)),
        _ => formulas.with_operands(formula, &operands),
    }
}
