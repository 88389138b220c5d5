//! Ranges that fold, and ranges around a place.

use lsp_types::{
    FoldingRange, FoldingRangeKind, FoldingRangeParams, SelectionRange, SelectionRangeParams,
};

use super::super::convert;
use super::super::documents::Documents;
use crate::editor::FoldKind;

pub(in super::super) fn folds(
    documents: &mut Documents,
    params: FoldingRangeParams,
) -> Option<Vec<FoldingRange>> {
    let analysis = documents.analysis(&params.text_document.uri)?;
    let folds = analysis.folds().into_iter();
    Some(
        folds
            .map(|fold| {
                let range = convert::range(analysis.file(), fold.span);
                FoldingRange {
                    start_line: range.start.line,
                    end_line: range.end.line,
                    kind: match fold.kind {
                        FoldKind::Block => None,
                        FoldKind::Comment => Some(FoldingRangeKind::Comment),
                        FoldKind::Imports => Some(FoldingRangeKind::Imports),
                    },
                    ..FoldingRange::default()
                }
            })
            .collect(),
    )
}

pub(in super::super) fn selections(
    documents: &mut Documents,
    params: SelectionRangeParams,
) -> Option<Vec<SelectionRange>> {
    let analysis = documents.analysis(&params.text_document.uri)?;
    let file = analysis.file();
    let around = |position| {
        let mut spans = analysis.selections(convert::offset(file, position));
        let whole = spans.pop()?;
        let outermost = SelectionRange {
            range: convert::range(file, whole),
            parent: None,
        };
        let inner = spans.into_iter().rev();
        Some(inner.fold(outermost, |parent, span| SelectionRange {
            range: convert::range(file, span),
            parent: Some(Box::new(parent)),
        }))
    };
    params.positions.into_iter().map(around).collect()
}
