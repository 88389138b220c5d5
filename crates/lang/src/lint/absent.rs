//! Quantified names that are compared with values that may be absent: null is never a value of a quantified name, so no
//! instance judges an event without the value.
//!
//! A property, or a clause, that tests the value for null handles the events that it may judge; one about other events does not.
//!
//! Comparisons with a name in a trigger (under an odd number of negations) decide which events are judged. If the trigger has
//! no comparison, all comparisons decide it, because a name ranges over the values that it is compared with.

use indexmap::IndexSet;
use rustc_hash::FxHashSet;

use super::limits::Budget;
use super::polarity::{self, Polarity};
use super::{compared_with_null, null_test};
use crate::diagnostic::{Code, Diagnostic};
use crate::domain::{self, Goal};
use crate::hir::reads::{reads, visit};
use crate::hir::{
    Arm, ArmTrigger, Compare, Expr, Formula, Property, PropertyKind, Quantifier, Spec, Watched,
    print,
};
use crate::ids::{ExprId, FormulaId};
use crate::input_schema::Absent;

/// The greatest length in bytes of the text of a path in a finding.
const TEXT: usize = 60;

pub(super) fn lint(spec: &Spec, budget: &mut Budget, found: &mut Vec<Diagnostic>) {
    let asked = compared_with_null(spec);
    let asked: FxHashSet<ExprId> = asked.into_iter().map(|id| recorded(spec, id)).collect();
    for property in &spec.properties {
        let Some(quantified) = &property.quantified else {
            continue;
        };
        if !quantified.universal || property.kind == PropertyKind::Condition {
            continue;
        }
        // Absent members are usual in events that the spec does not declare; a clause that denies can be avoided by leaving one out.
        if !spec.outline.own_event && !is_denied(spec, property) {
            continue;
        }
        // With a `todo` condition, the verdict is unknown without the value too.
        if spec.reads_of(property).todo {
            continue;
        }
        for (place, var) in quantified.vars.iter().enumerate() {
            if var.range.is_some() {
                continue;
            }
            let mut binding = triggers(spec, property, place);
            let all = binding.is_empty();
            if all && var.element_terms.is_empty() && var.constants.is_empty() {
                binding.extend(var.terms.iter().copied());
            }
            let n_binding = binding.len();
            let mut absent: IndexSet<ExprId> = IndexSet::new();
            for term in binding {
                let recorded = recorded(spec, term);
                if may_be_absent(spec, term)
                    && !(asked.contains(&recorded) && is_handled(spec, property, recorded, budget))
                {
                    absent.insert(recorded);
                }
            }
            if absent.is_empty() || all && absent.len() < n_binding {
                continue;
            }
            found.push(diagnostic(spec, property, &var.name, &absent));
        }
    }
}

/// Whether a clause denies what violates a property.
fn is_denied(spec: &Spec, property: &Property) -> bool {
    let denies = |arm: &Arm| arm.trigger == ArmTrigger::Violated && arm.action.kind.lasts();
    spec.enforces.iter().any(|clause| {
        let of = match clause.watched {
            Watched::Property(of) => spec.property(of),
            _ => return false,
        };
        of.name == property.name && clause.arms.iter().any(denies)
    })
}

/// Whether a test for null handles the events of a property without this value: one of its own, or one of another property or clause
/// that may judge such an event.
fn is_handled(spec: &Spec, property: &Property, value: ExprId, budget: &mut Budget) -> bool {
    let tests = |roots: &mut dyn Iterator<Item = ExprId>| {
        let mut tests = Vec::new();
        visit(spec, roots, |id| {
            if null_test(spec, id).is_some_and(|of| recorded(spec, of) == value) {
                tests.push(id);
            }
        });
        tests
    };
    if !tests(&mut spec.roots_of(property)).is_empty() {
        return true;
    }
    let own = spec.at_every_step(property).unwrap_or_default();
    let own = match own[..] {
        [(body, holds)] => at_step(spec, body, !holds),
        _ => Vec::new(),
    };
    // Whether a step without the value may violate the property, as far as it is judged, and meet what the other one asks for.
    let mut meet = |test: ExprId, other: &[Goal]| {
        let goals = [&own[..], &[(test, true)], other].concat();
        domain::possible(spec, &goals, None, &mut budget.conditions) != Some(false)
    };
    let mut others = spec
        .properties
        .iter()
        .filter(|other| other.kind != PropertyKind::Condition && other.name != property.name);
    let in_property = others.any(|other| {
        let Some(bodies) = spec.at_every_step(other) else {
            return !tests(&mut spec.roots_of(other)).is_empty();
        };
        bodies.into_iter().any(|(body, holds)| {
            let atoms = spec.formulas.atoms_of(body).into_iter();
            let found = tests(&mut atoms.map(|atom| spec.atom(atom).expr));
            let goals = at_step(spec, body, !holds);
            found.into_iter().any(|test| meet(test, &goals))
        })
    });
    in_property
        || spec.enforces.iter().any(|clause| match clause.watched {
            Watched::When { condition, .. } => {
                let found = tests(&mut std::iter::once(condition));
                found
                    .into_iter()
                    .any(|test| meet(test, &[(condition, true)]))
            }
            _ => false,
        })
}

/// Returns conditions, without those of quantified names, that hold at each step at which a formula has this truth value, as far as it
/// consists of connectives.
fn at_step(spec: &Spec, formula: FormulaId, truth: bool) -> Vec<Goal> {
    let mut goals = Vec::new();
    let mut todo = vec![(formula, truth)];
    while let Some((formula, truth)) = todo.pop() {
        match (spec.formulas.get(formula), truth) {
            (Formula::Atom(atom), _) => goals.push((spec.atom(*atom).expr, truth)),
            (Formula::Not(a), _) => todo.push((*a, !truth)),
            (Formula::And(a, b), true) | (Formula::Or(a, b), false) => {
                todo.extend([(*a, truth), (*b, truth)]);
            }
            (Formula::Implies(a, b), false) => todo.extend([(*a, true), (*b, false)]),
            _ => {}
        }
    }
    let mut parts = Vec::new();
    while let Some((expr, truth)) = goals.pop() {
        match (spec.exprs.get(expr), truth) {
            (Expr::Not(a), _) => goals.push((*a, !truth)),
            (Expr::And(a, b), true) | (Expr::Or(a, b), false) => {
                goals.extend([(*a, truth), (*b, truth)]);
            }
            (Expr::Implies(a, b), false) => goals.extend([(*a, true), (*b, false)]),
            _ if reads(spec, [expr]).vars.is_empty() => parts.push((expr, truth)),
            _ => {}
        }
    }
    parts
}

fn diagnostic(
    spec: &Spec,
    property: &Property,
    var: &str,
    absent: &IndexSet<ExprId>,
) -> Diagnostic {
    let text = |id: &ExprId| print::expr(spec, *id, &[], TEXT);
    let names: Vec<String> = absent.iter().map(|id| format!("`{}`", text(id))).collect();
    let first = absent.first();
    let found = Diagnostic::new(
        Code::G0922,
        property.formula_span,
        format!("an event without {} is not judged", names.join(" and ")),
    )
    .label(format!("null is never a value of `{var}`"));
    let remedy = match first.map(|id| (id, spec.exprs.get(*id))) {
        // This spec cannot change the fields of another module.
        _ if !spec.outline.own_event => None,
        Some((_, Expr::Field(field))) => {
            let field = &spec.schema.fields[*field];
            Some(format!("declare `{}: {} = unknown`", field.name, field.ty))
        }
        Some((id, _)) => Some(format!(
            "declare a field for `{}` with the default `unknown`",
            text(id)
        )),
        None => None,
    };
    let remedy = remedy.map(|remedy| {
        format!("if an absent value was not recorded, {remedy}: the verdict is then unknown")
    });
    remedy
        .into_iter()
        .fold(found, Diagnostic::note)
        .note(format!(
            "if it must be there, ask for it: `property … = always (… -> {} != null)`",
            first.map(text).unwrap_or_default()
        ))
}

/// Returns the expressions that a name is compared with in triggers of a property.
fn triggers(spec: &Spec, property: &Property, place: usize) -> IndexSet<ExprId> {
    let mut terms = IndexSet::new();
    let mut seen: FxHashSet<(ExprId, Polarity)> = FxHashSet::default();
    let atoms = polarity::of_atoms(&spec.formulas, property.formula, Polarity::Positive);
    let mut todo: Vec<(ExprId, Polarity)> = atoms
        .into_iter()
        .map(|(atom, polarity)| (spec.atom(atom).expr, polarity))
        .collect();
    let is_name = |id: ExprId| *spec.exprs.get(id) == Expr::Var(place);
    while let Some((id, polarity)) = todo.pop() {
        if !seen.insert((id, polarity)) {
            continue;
        }
        let is_trigger = polarity != Polarity::Positive;
        match spec.exprs.get(id) {
            Expr::Not(a) => todo.push((*a, polarity.flipped())),
            Expr::Implies(a, b) => todo.extend([(*a, polarity.flipped()), (*b, polarity)]),
            Expr::And(..)
            | Expr::Or(..)
            | Expr::Before(_)
            | Expr::Past(..)
            | Expr::Quantifier {
                kind: Quantifier::Any | Quantifier::All,
                ..
            } => {
                let operands = spec.exprs.operands(id);
                todo.extend(operands.into_iter().map(|operand| (operand, polarity)));
            }
            Expr::Compare(Compare::Eq, a, b) if is_name(*a) || is_name(*b) => {
                let other = if is_name(*a) { *b } else { *a };
                if is_trigger {
                    terms.insert(other);
                }
            }
            Expr::In(name, list) if is_name(*name) => {
                if let (true, Expr::List(items) | Expr::Set(items)) =
                    (is_trigger, spec.exprs.get(*list))
                {
                    terms.extend(items.iter().copied());
                }
            }
            _ => {
                let operands = spec.exprs.operands(id);
                todo.extend(
                    operands
                        .into_iter()
                        .map(|operand| (operand, Polarity::Both)),
                );
            }
        }
    }
    terms
}

/// Whether a value is null if the event lacks it: a field without another default, or a part of one.
fn may_be_absent(spec: &Spec, id: ExprId) -> bool {
    match spec.exprs.get(id) {
        Expr::Field(field) => spec.schema.fields[*field].absent == Absent::Null,
        Expr::Cast(_) if spec.exprs.ty(id).may_be_null() => {
            let of = recorded(spec, id);
            matches!(spec.exprs.get(of), Expr::Field(_)) || is_part(spec, of)
        }
        _ => is_part(spec, id),
    }
}

/// Whether an expression is a member of a field, at any depth.
fn is_part(spec: &Spec, id: ExprId) -> bool {
    let (Expr::Member(of, _) | Expr::Index(of, _)) = spec.exprs.get(id) else {
        return false;
    };
    matches!(spec.exprs.get(*of), Expr::Field(_)) || is_part(spec, *of)
}

/// Returns the operand of a cast, or the expression itself if it is not a cast.
fn recorded(spec: &Spec, id: ExprId) -> ExprId {
    match spec.exprs.get(id) {
        Expr::Cast(of) => recorded(spec, *of),
        _ => id,
    }
}
