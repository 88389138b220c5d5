//! Quantified names that are compared with values that may be absent: null is never a value of a quantified name, so no
//! instance judges an event without the value.
//!
//! Comparisons with a name in a trigger (under an odd number of negations) decide which events are judged. If the trigger has
//! no comparison, all comparisons decide it, because a name ranges over the values that it is compared with.

use indexmap::IndexSet;
use rustc_hash::FxHashSet;

use super::compared_with_null;
use super::polarity::{self, Polarity};
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{Compare, Expr, Property, PropertyKind, Quantifier, Spec, print};
use crate::ids::ExprId;
use crate::input_schema::Absent;

/// The greatest length in bytes of the text of a path in a finding.
const TEXT: usize = 60;

pub(super) fn lint(spec: &Spec, found: &mut Vec<Diagnostic>) {
    // This spec cannot change the fields of another module.
    if !spec.outline.own_event {
        return;
    }
    let asked = compared_with_null(spec);
    let asked: FxHashSet<ExprId> = asked.into_iter().map(|id| recorded(spec, id)).collect();
    for property in &spec.properties {
        let Some(quantified) = &property.quantified else {
            continue;
        };
        if !quantified.universal || property.kind == PropertyKind::Condition {
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
                if may_be_absent(spec, term) && !asked.contains(&recorded) {
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

fn diagnostic(
    spec: &Spec,
    property: &Property,
    var: &str,
    absent: &IndexSet<ExprId>,
) -> Diagnostic {
    let text = |id: &ExprId| print::expr(spec, *id, &[], TEXT);
    let names: Vec<String> = absent.iter().map(|id| format!("`{}`", text(id))).collect();
    let first = absent.first();
    let remedy = match first.map(|id| (id, spec.exprs.get(*id))) {
        Some((_, Expr::Field(field))) => {
            let field = &spec.schema.fields[*field];
            format!("declare `{}: {} = unknown`", field.name, field.ty)
        }
        Some((id, _)) => format!(
            "declare a field for `{}` with the default `unknown`",
            text(id)
        ),
        None => String::new(),
    };
    Diagnostic::new(
        Code::G0922,
        property.formula_span,
        format!("an event without {} is not judged", names.join(" and ")),
    )
    .label(format!("null is never a value of `{var}`"))
    .note(format!(
        "if an absent value was not recorded, {remedy}: the verdict is then unknown"
    ))
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
