//! Hover texts.

use lsp_types::{Hover, HoverContents, HoverParams};

use super::super::convert;
use super::super::documents::Documents;
use super::{at, markdown};

pub(in super::super) fn hover(documents: &mut Documents, params: HoverParams) -> Option<Hover> {
    let at = at(documents, &params.text_document_position_params)?;
    let hover = at.analysis.hover(at.offset)?;
    Some(Hover {
        contents: HoverContents::Markup(markdown(hover.text)),
        range: Some(convert::range(at.analysis.file(), hover.span)),
    })
}
