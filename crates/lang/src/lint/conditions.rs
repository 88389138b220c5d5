//! Conditions that are always true or always false, and arms of `cases` that are unreachable or make no difference.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::limits::Budget;
use super::within;
use crate::diagnostic::{Code, Diagnostic};
use crate::domain::{self, Goal, Reachable};
use crate::hir::outline::Cases;
use crate::hir::{Expr, Spec};
use crate::ids::ExprId;
use crate::source::Span;
use crate::value::Value;

/// Returns the conditions that are constant.
pub(super) fn lint(
    spec: &Spec,
    budget: &mut Budget,
    found: &mut Vec<Diagnostic>,
) -> FxHashSet<ExprId> {
    let constants = constants(spec, budget, found);
    for cases in by_place(spec) {
        arms(spec, &cases, budget, found);
    }
    constants
}

/// Reports conditions that have only one outcome; if they are nested, only the smallest.
fn constants(spec: &Spec, budget: &mut Budget, found: &mut Vec<Diagnostic>) -> FxHashSet<ExprId> {
    let mut places: BTreeMap<(u32, std::cmp::Reverse<u32>), (Span, Vec<ExprId>)> = BTreeMap::new();
    for condition in &spec.outline.conditions {
        let span = condition.span;
        if span.file != spec.outline.file {
            continue;
        }
        let (_, exprs) = places
            .entry((span.start, std::cmp::Reverse(span.end)))
            .or_insert_with(|| (span, Vec::new()));
        if !exprs.contains(&condition.expr) {
            exprs.push(condition.expr);
        }
    }
    let mut constant: Vec<(Span, bool, &[ExprId])> = Vec::new();
    // In the order of the text, parts come after the expressions that contain them, so they are visited from the end.
    for (span, exprs) in places.values().rev() {
        if constant.iter().any(|(inner, ..)| within(*inner, *span)) {
            continue;
        }
        let mut outcomes = exprs.iter().map(|expr| outcome(spec, *expr, budget));
        let Some(Some(first)) = outcomes.next() else {
            continue;
        };
        if outcomes.all(|outcome| outcome == Some(first)) {
            constant.push((*span, first, exprs));
        }
    }
    let mut known: FxHashSet<ExprId> = FxHashSet::default();
    for (span, value, exprs) in constant.into_iter().rev() {
        // A constant condition inside a definition is reported at the definition, not at its calls.
        let all_known = exprs.iter().all(|expr| known.contains(expr));
        known.extend(exprs);
        if all_known {
            continue;
        }
        let (never, always) = if value {
            ("false", "true")
        } else {
            ("true", "false")
        };
        found.push(
            Diagnostic::new(
                Code::G0919,
                span,
                format!("this condition is always {always}"),
            )
            .label(format!("no event makes it {never}")),
        );
    }
    known
}

/// Returns the only truth value that a condition can have; `None` if it can have both, if that is not decided, and for
/// literal constants.
fn outcome(spec: &Spec, expr: ExprId, budget: &mut Budget) -> Option<bool> {
    if matches!(spec.exprs.get(expr), Expr::Const(_)) {
        return None;
    }
    let work = &mut budget.conditions;
    let mut possible = |truth| domain::possible(spec, &[(expr, truth)], None, work);
    if possible(true)? {
        possible(false)?.eq(&false).then_some(true)
    } else {
        Some(false)
    }
}

/// Returns the `cases` at each place, for all its uses. For a `cases` used with arguments, results that hold for all
/// arguments are left out.
fn by_place(spec: &Spec) -> Vec<Vec<&Cases>> {
    let mut places: BTreeMap<Span, Vec<&Cases>> = BTreeMap::new();
    for cases in &spec.outline.cases {
        if let Some(first) = cases.arms.first()
            && first.span.file == spec.outline.file
        {
            places.entry(first.span).or_default().push(cases);
        }
    }
    places
        .into_values()
        .map(|uses| {
            let particular: Vec<&Cases> = uses
                .iter()
                .copied()
                .filter(|cases| !cases.generic)
                .collect();
            if particular.is_empty() {
                uses
            } else {
                particular
            }
        })
        .collect()
}

fn arms(spec: &Spec, uses: &[&Cases], budget: &mut Budget, found: &mut Vec<Diagnostic>) {
    let Some(first) = uses.first() else {
        return;
    };
    let reachable: Vec<Option<Reachable>> = uses
        .iter()
        .map(|cases| {
            let conditions: Vec<ExprId> = cases.arms.iter().map(|arm| arm.condition).collect();
            Reachable::new(spec, &conditions, &mut budget.conditions)
        })
        .collect();
    for (index, arm) in first.arms.iter().enumerate() {
        let mut by_types = true;
        let unreachable = uses.iter().zip(&reachable).all(|(cases, tracks)| {
            let goals = reaching(cases, index);
            if is_impossible(spec, &goals, None, budget) {
                return true;
            }
            by_types = false;
            tracks.is_some() && is_impossible(spec, &goals, tracks.as_ref(), budget)
        });
        if unreachable {
            let mut diagnostic = Diagnostic::new(Code::G0920, arm.span, "this arm is unreachable");
            diagnostic = if by_types {
                diagnostic.label("the arms before it match every case")
            } else {
                diagnostic
                    .label("no run makes this true while the arms before it are false")
                    .note("tracks that follow the same events do not take every combination of values")
            };
            found.push(diagnostic);
            continue;
        }
        let redundant = uses
            .iter()
            .map(|cases| without_difference(spec, cases, index, budget))
            .collect::<Option<Vec<Vec<usize>>>>();
        let Some(taken) = redundant else {
            continue;
        };
        let mut diagnostic = Diagnostic::new(Code::G0921, arm.span, "this arm makes no difference")
            .label("without it, the value is the same");
        let mut later: Vec<usize> = taken.into_iter().flatten().collect();
        later.sort_unstable();
        later.dedup();
        for other in later.into_iter().filter_map(|other| first.arms.get(other)) {
            diagnostic = diagnostic.also(other.span, "matches these cases with the same value");
        }
        found.push(diagnostic);
    }
}

/// Returns the conditions under which an arm is taken.
fn reaching(cases: &Cases, index: usize) -> Vec<Goal> {
    let mut goals: Vec<Goal> = vec![(cases.arms[index].condition, true)];
    let before = cases.arms[..index].iter().rev();
    goals.extend(before.map(|arm| (arm.condition, false)));
    goals
}

fn is_impossible(
    spec: &Spec,
    goals: &[Goal],
    tracks: Option<&Reachable>,
    budget: &mut Budget,
) -> bool {
    domain::possible(spec, goals, tracks, &mut budget.conditions) == Some(false)
}

/// Returns the later arms that handle the cases of an arm, if all of them have the same value as the arm; otherwise
/// `None`.
fn without_difference(
    spec: &Spec,
    cases: &Cases,
    index: usize,
    budget: &mut Budget,
) -> Option<Vec<usize>> {
    let value = cases.arms[index].value;
    let mut goals = reaching(cases, index);
    let mut taken = Vec::new();
    for (other, arm) in cases.arms.iter().enumerate().skip(index + 1) {
        let mut here = goals.clone();
        here.push((arm.condition, true));
        if !is_impossible(spec, &here, None, budget) {
            if !is_same(spec, value, arm.value) {
                return None;
            }
            taken.push(other);
        }
        goals.push((arm.condition, false));
    }
    let ends = is_same(spec, value, cases.otherwise);
    (ends || is_impossible(spec, &goals, None, budget)).then_some(taken)
}

/// Whether two expressions are identical or the same constant.
fn is_same(spec: &Spec, lhs: ExprId, rhs: ExprId) -> bool {
    let constant = |id: ExprId| -> Option<&Value> {
        match spec.exprs.get(id) {
            Expr::Const(value) => Some(value),
            _ => None,
        }
    };
    lhs == rhs || constant(lhs).is_some() && constant(lhs) == constant(rhs)
}
