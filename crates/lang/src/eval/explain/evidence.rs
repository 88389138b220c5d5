//! The recorded data at the steps that show a violation.

use std::collections::BTreeSet;

use smol_str::SmolStr;

use super::{Read, Request};
use crate::eval::compiled::{Compiled, Explained};
use crate::eval::text;
use crate::eval::trace::TraceState;
use crate::hir::reads::reads;
use crate::hir::{Expr, Spec, TextPart};
use crate::ids::ExprId;
use crate::value::{Cell, Truth};
use crate::verdict::Evidence;

pub(super) fn evidence(
    state: &TraceState<'_>,
    request: &Request,
    steps: &[Read],
    shown: &[u32],
) -> Vec<Evidence> {
    let program = state.program;
    let spec = program.spec();
    let letters = &program.properties[request.property].letters;
    // All these fields are read, see `Compiled::explained`.
    let mut fields = fields(spec, letters.iter().map(|letter| spec.atom(letter.id).expr));
    fields.extend(spec.clock_of(&spec.properties[request.property]));
    let mut found = Vec::with_capacity(shown.len());
    for index in shown {
        let Ok(number) = steps.binary_search_by_key(index, |step| step.index) else {
            continue;
        };
        let cells = &state.history.steps[steps[number].place].cells;
        let value = |field: &usize| -> (SmolStr, String) {
            let text = match cells.get(*field) {
                Some(Cell::Known(value)) => {
                    text::cut(text::quoted(&program.code, value), text::EVIDENCE)
                }
                _ => "unknown".to_owned(),
            };
            (spec.schema.fields[*field].name.clone(), text)
        };
        let row = request.row(program, number);
        let holding = letters
            .iter()
            .zip(row)
            .filter(|(_, truth)| **truth == Truth::True);
        found.push(Evidence {
            step: *index,
            fields: fields.iter().map(value).collect(),
            letters: holding
                .map(|(letter, _)| spec.atom(letter.id).text.clone())
                .collect(),
        });
    }
    found
}

impl Compiled {
    /// Returns the expressions that an explanation of a property reads.
    pub(super) fn explained(&self, property: usize) -> Explained {
        let code = &self.properties[property];
        *code.explained.get_or_init(|| {
            let spec = self.spec();
            let message = spec.properties[property].message.iter();
            let parts = message.flat_map(|text| &text.parts);
            let values = parts.filter_map(|part| match part {
                TextPart::Value(expr, _) => Some(*expr),
                TextPart::Literal(_) => None,
            });
            let letters = code.letters.iter();
            let letters = letters.map(|letter| spec.atom(letter.id).expr);
            let roots: Vec<ExprId> = letters.chain(values).collect();
            let all = reads(spec, roots.iter().copied().chain(spec.filter.step));
            let own = fields(spec, roots).into_iter();
            Explained {
                fields: own.fold(0, |read, field| {
                    read | 1u64.checked_shl(field as u32).unwrap_or(0)
                }),
                past: all.history || !all.tracks.is_empty(),
            }
        })
    }
}

/// Returns the fields that expressions read directly at a step, not through tracks.
pub(super) fn fields(spec: &Spec, roots: impl IntoIterator<Item = ExprId>) -> BTreeSet<usize> {
    let mut fields = BTreeSet::new();
    let mut seen = vec![false; spec.exprs.len()];
    let mut todo: Vec<ExprId> = roots.into_iter().collect();
    while let Some(id) = todo.pop() {
        if !std::mem::replace(&mut seen[id.index()], true) {
            if let Expr::Field(field) = spec.exprs.get(id) {
                fields.insert(*field);
            }
            todo.extend(spec.exprs.operands(id));
        }
    }
    fields
}
