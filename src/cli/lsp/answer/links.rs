//! Imports as links to their files.

use lsp_types::{DocumentLink, DocumentLinkParams};

use super::super::convert;
use super::super::diagnostics::location;
use super::super::documents::Documents;
use super::path_of;

pub(in super::super) fn links(
    documents: &mut Documents,
    params: DocumentLinkParams,
) -> Option<Vec<DocumentLink>> {
    let analysis = documents.analysis(&params.text_document.uri)?;
    let spec = path_of(analysis);
    let imports = analysis.imports().into_iter();
    Some(
        imports
            .filter_map(|(path, module)| {
                Some(DocumentLink {
                    range: convert::range(analysis.file(), path),
                    target: Some(location(analysis.sources(), module, &spec)?.uri),
                    tooltip: None,
                    data: None,
                })
            })
            .collect(),
    )
}
