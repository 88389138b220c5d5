//! Checks that two specs that differ in names have the same meaning.
//!
//! Both were checked, and corresponding names refer to corresponding declarations, so their core forms must be equal
//! node by node. The only names in the core form are those of object members: they may differ only if no data is read
//! by them.

use crate::hir::{Expr, Spec};
use crate::ids::ExprId;
use crate::input_schema::Field;
use crate::types::Type;

/// Checks that two specs read the same data and compute the same results from it.
///
/// # Errors
/// The first difference, as a clause of text.
pub(super) fn same(before: &Spec, after: &Spec) -> Result<(), String> {
    let fields = |spec: &Spec| spec.schema.fields.len() + spec.schema.meta.len();
    let sizes = |spec: &Spec| (fields(spec), spec.exprs.len(), spec.formulas.len());
    if sizes(before) != sizes(after) {
        return Err("the spec would be another one".to_owned());
    }
    let of = |spec| -> &[Field] {
        let spec: &Spec = spec;
        &spec.schema.fields
    };
    let meta = |spec| -> &[Field] {
        let spec: &Spec = spec;
        &spec.schema.meta
    };
    let read = of(before)
        .iter()
        .zip(of(after))
        .chain(meta(before).iter().zip(meta(after)));
    for (was, is) in read {
        let kept =
            |field: &Field| format!("{:?} {:?} {:?}", field.source, field.absent, field.unit);
        if kept(was) != kept(is) || shape(&was.ty) != shape(&is.ty) {
            return Err(format!("the field `{}` is read by it", was.name));
        }
    }
    let changed = |id: ExprId| shape(before.exprs.ty(id)) != shape(after.exprs.ty(id));
    for id in (0..before.exprs.len()).map(ExprId::new) {
        let operands = before.exprs.operands(id);
        let (was, is) = (before.exprs.get(id), after.exprs.get(id));
        let read = match was {
            Expr::Cast(_) => changed(id) || operands.iter().any(|operand| changed(*operand)),
            // The value is converted, or compared with a value of another type.
            Expr::Call(..) | Expr::Index(..) | Expr::Contains(..) | Expr::Coalesce(..) => {
                operands.iter().any(|operand| changed(*operand))
            }
            Expr::Compare(_, a, b) => changed(*a) != changed(*b),
            Expr::In(a, b) => changed(*a) != changed(*b),
            _ => false,
        };
        if read || !same_node(was, is) {
            return Err("a value is converted by it".to_owned());
        }
    }
    let atoms = before.formulas.atoms().iter().zip(after.formulas.atoms());
    let mut formulas = (0..before.formulas.len()).map(crate::ids::FormulaId::new);
    let same_atoms = atoms.into_iter().all(|(was, is)| was.expr == is.expr);
    if !same_atoms || !formulas.all(|id| before.formulas.get(id) == after.formulas.get(id)) {
        return Err("a formula would be another one".to_owned());
    }
    Ok(())
}

/// Whether two nodes differ at most in the names of members and labels, which the checker linked.
fn same_node(was: &Expr, is: &Expr) -> bool {
    match (was, is) {
        (Expr::Member(a, _), Expr::Member(b, _)) => a == b,
        (Expr::Record(a), Expr::Record(b)) => a
            .iter()
            .map(|(_, value)| value)
            .eq(b.iter().map(|(_, value)| value)),
        (Expr::Label(_), Expr::Label(_)) => true,
        (was, is) => was == is,
    }
}

/// Returns a type as it appears in data: with the names of members and values, without those of types.
fn shape(ty: &Type) -> String {
    let mut text = String::new();
    write(ty, &mut text);
    text
}

fn write(ty: &Type, text: &mut String) {
    match ty {
        Type::Enum(of) => text.push_str(&format!("{{{}}}", of.values.join("|"))),
        Type::Record(of) => {
            for (name, ty) in &of.members {
                text.push_str(name);
                text.push(':');
                write(ty, text);
                text.push(';');
            }
        }
        Type::List(item) | Type::Set(item) | Type::Map(item) => {
            text.push_str(match ty {
                Type::List(_) => "list ",
                Type::Set(_) => "set ",
                _ => "map ",
            });
            write(item, text);
        }
        Type::Nullable(inner) => {
            write(inner, text);
            text.push('?');
        }
        plain => text.push_str(&plain.to_string()),
    }
}
