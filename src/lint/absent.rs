//! Quantified names that are bound by fields which may be absent: null is never a value of a quantified name, so an event
//! without the field is judged by no instance.

use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{Compare, Expr, PropertyKind, QuantifiedVar, Spec};
use crate::input_schema::Absent;
use crate::types::Type;
use crate::value::Value;

pub(super) fn lint(spec: &Spec, found: &mut Vec<Diagnostic>) {
    // The fields of another module are not for this spec to declare.
    if !spec.outline.own_event {
        return;
    }
    let asked = asked_for_null(spec);
    for property in &spec.properties {
        let Some(quantified) = &property.quantified else {
            continue;
        };
        if !quantified.universal || property.kind == PropertyKind::Condition {
            continue;
        }
        for var in &quantified.vars {
            let Some(fields) = absent_fields(spec, var) else {
                continue;
            };
            if fields.iter().any(|field| asked.contains(field)) {
                continue;
            }
            let named = |field: &usize| format!("`{}`", spec.schema.fields[*field].name);
            let names: Vec<String> = fields.iter().map(named).collect();
            let names = names.join(" and ");
            let first = &spec.schema.fields[fields[0]];
            found.push(
                Diagnostic::new(
                    Code::G0922,
                    property.formula_span,
                    format!("an event without {names} is not judged"),
                )
                .label(format!("null is never a value of `{}`", var.name))
                .note(format!(
                    "if an absent value was not recorded, declare `{}: {} = unknown`: the verdict is then unknown",
                    first.name, first.ty
                ))
                .note(format!(
                    "if it must be there, ask for it: `property … = always (… -> {} != null)`",
                    first.name
                )),
            );
        }
    }
}

/// Returns the fields that a name is compared with, if it is compared with nothing else and each of them may be absent.
fn absent_fields(spec: &Spec, var: &QuantifiedVar) -> Option<Vec<usize>> {
    if var.range.is_some() || !var.element_terms.is_empty() || !var.constants.is_empty() {
        return None;
    }
    let field = |term: &crate::ids::ExprId| match spec.exprs.get(*term) {
        Expr::Field(field) => {
            let declared = &spec.schema.fields[*field];
            let absent =
                matches!(declared.ty, Type::Nullable(_)) && declared.absent == Absent::Null;
            absent.then_some(*field)
        }
        _ => None,
    };
    let fields: Option<Vec<usize>> = var.terms.iter().map(field).collect();
    fields.filter(|fields| !fields.is_empty())
}

/// Returns the fields that some condition of the spec compares with null: their absence is thought of.
fn asked_for_null(spec: &Spec) -> Vec<usize> {
    let all = (0..spec.exprs.len()).map(crate::ids::ExprId::new);
    all.filter_map(|id| match spec.exprs.get(id) {
        Expr::Compare(Compare::Eq, a, b) => match (spec.exprs.get(*a), spec.exprs.get(*b)) {
            (Expr::Field(field), Expr::Const(Value::Null))
            | (Expr::Const(Value::Null), Expr::Field(field)) => Some(*field),
            _ => None,
        },
        _ => None,
    })
    .collect()
}
