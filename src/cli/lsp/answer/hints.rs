//! Texts between the words.

use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintParams, InlayHintTooltip};

use super::super::convert;
use super::super::documents::Documents;
use super::markdown;

pub(in super::super) fn hints(
    documents: &mut Documents,
    params: InlayHintParams,
) -> Option<Vec<InlayHint>> {
    let analysis = documents.analysis(&params.text_document.uri)?;
    let file = analysis.file();
    let within = convert::offset(file, params.range.start)..convert::offset(file, params.range.end);
    let hints = analysis.hints(within).into_iter();
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
