//! Inlay hints: classes of properties, inferred types, and values of steps.

use lsp_types::{
    InlayHint, InlayHintKind, InlayHintLabel, InlayHintParams, InlayHintTooltip, InlineValue,
    InlineValueEvaluatableExpression, InlineValueParams,
};

use super::super::commands::{Moment, Values};
use super::super::convert;
use super::super::documents::Documents;
use super::markdown;

pub(in super::super) fn hints(
    documents: &mut Documents,
    values: &Values,
    params: InlayHintParams,
) -> Option<Vec<InlayHint>> {
    let path = convert::path(&params.text_document.uri)?;
    documents.analyse(&path)?;
    let (document, analysis) = documents.get(&path)?;
    let analysis = analysis?;
    let file = analysis.file();
    let within = convert::offset(file, params.range.start)..convert::offset(file, params.range.end);
    let mut hints = analysis.hints(within.clone());
    hints.extend(analysis.given_hints(&within));
    let shown = values.with(&path, document.analyses, |moment| match moment {
        Moment::Step { timeline, at, .. } => analysis.value_hints(timeline, *at, &within),
        Moment::State { system, values } => analysis.state_hints(system, values, &within),
    });
    hints.extend(shown.into_iter().flatten());
    let hints = hints.into_iter();
    Some(
        hints
            .map(|hint| {
                let is_type = hint.label.starts_with(':');
                InlayHint {
                    position: convert::position(file, hint.at),
                    label: InlayHintLabel::String(hint.label),
                    kind: is_type.then_some(InlayHintKind::TYPE),
                    text_edits: None,
                    tooltip: (!hint.docs.is_empty())
                        .then(|| InlayHintTooltip::MarkupContent(markdown(hint.docs))),
                    padding_left: Some(!is_type),
                    padding_right: None,
                    data: None,
                }
            })
            .collect(),
    )
}

/// Returns the names beside which a debugger shows values; `guard dap` evaluates them.
pub(in super::super) fn inline_values(
    documents: &mut Documents,
    params: InlineValueParams,
) -> Option<Vec<InlineValue>> {
    let analysis = documents.analysis(&params.text_document.uri)?;
    let file = analysis.file();
    let within = convert::offset(file, params.range.start)..convert::offset(file, params.range.end);
    let names = analysis.valued(&within).into_iter();
    let values = names.map(|(span, expression)| InlineValueEvaluatableExpression {
        range: convert::range(file, span),
        expression: Some(expression),
    });
    Some(values.map(InlineValue::EvaluatableExpression).collect())
}
