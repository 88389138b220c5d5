//! Names that make no difference: keys of tracks that the update does not depend on, and quantified names with a range that no
//! condition reads.

use crate::diagnostic::{Code, Diagnostic};
use crate::hir::reads::{reads, visit};
use crate::hir::{Expr, PropertyKind, Spec, Track};
use crate::ids::TrackId;

pub(super) fn lint(spec: &Spec, found: &mut Vec<Diagnostic>) {
    for (number, track) in spec.tracks.iter().enumerate() {
        if track.span.file == spec.outline.file && !reads(spec, [track.update]).todo {
            found.extend(keys(spec, TrackId::new(number), track));
        }
    }
    for property in &spec.properties {
        let (Some(quantified), false) = (
            &property.quantified,
            property.kind == PropertyKind::Condition,
        ) else {
            continue;
        };
        let read = spec.reads_of(property);
        for (place, var) in quantified.vars.iter().enumerate() {
            if var.range.is_none()
                || read.vars.contains(&place)
                || read.todo
                || var.name.starts_with('_')
            {
                continue;
            }
            let message = format!("no condition reads `{}`", var.name);
            found.push(
                Diagnostic::new(Code::G0945, property.formula_span, message)
                    .label("says the same of each element of the list"),
            );
        }
    }
}

/// Returns the keys whose values all change together: the update reads them at most to find the value before.
fn keys(spec: &Spec, id: TrackId, track: &Track) -> impl Iterator<Item = Diagnostic> {
    let mut is_read = vec![false; track.params.len()];
    visit(spec, [track.update], |expr| {
        let operands = spec.exprs.operands(expr);
        for (place, operand) in operands.into_iter().enumerate() {
            if let Expr::Param(param) = spec.exprs.get(operand)
                && !matches!(spec.exprs.get(expr), Expr::Track(of, _) if *of == id && place == *param)
                && let Some(is_read) = is_read.get_mut(*param)
            {
                *is_read = true;
            }
        }
    });
    let params = track.params.iter().zip(is_read);
    let unread = params.filter(|((name, _), is_read)| !is_read && !name.starts_with('_'));
    unread.map(|((key, _), _)| {
        let name = &track.name;
        Diagnostic::new(
            Code::G0945,
            track.span,
            format!("each step that changes `{name}` changes it for every `{key}`"),
        )
        .label(format!("does not depend on `{key}`"))
        .note(format!(
            "to change the value of one `{key}`, compare it with what the event says: `when … and args.id == {key} then …`"
        ))
    })
}
