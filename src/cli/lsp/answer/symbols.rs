//! The outline of a file, and the items of all files by name.

use std::path::Path;

use lsp_types::{
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, Location, OneOf, WorkspaceSymbol,
    WorkspaceSymbolParams,
};

use super::super::convert;
use super::super::documents::{Documents, Snapshot};
use crate::editor::{self, Analysis, Symbol, Workspace};
use crate::source::SourceFile;

/// The greatest number of items that are returned: editors ask again with more letters.
const FOUND: usize = 500;

pub(in super::super) fn symbols(
    documents: &mut Documents,
    params: DocumentSymbolParams,
) -> Option<DocumentSymbolResponse> {
    let analysis = documents.analysis(&params.text_document.uri)?;
    let outline = analysis.outline().into_iter();
    let symbols: Vec<DocumentSymbol> = outline
        .map(|symbol| document_symbol(analysis, symbol))
        .collect();
    Some(symbols.into())
}

#[allow(
    deprecated,
    reason = "the protocol's type has a deprecated field that must be named"
)]
fn document_symbol(analysis: &Analysis, symbol: Symbol) -> DocumentSymbol {
    let parts: Vec<DocumentSymbol> = symbol
        .parts
        .into_iter()
        .map(|part| document_symbol(analysis, part))
        .collect();
    // The protocol requires the span of the name to be inside the whole span.
    let whole = symbol.whole.to(symbol.at);
    DocumentSymbol {
        name: symbol.name,
        detail: (!symbol.word.is_empty()).then_some(symbol.word),
        kind: convert::symbol(symbol.kind),
        tags: None,
        deprecated: None,
        range: convert::range(analysis.file(), whole),
        selection_range: convert::range(analysis.file(), symbol.at),
        children: (!parts.is_empty()).then_some(parts),
    }
}

/// Returns the items of the project whose names contain the letters of the query in their order.
pub(in super::super) fn workspace_symbols(
    documents: &Documents,
    params: &WorkspaceSymbolParams,
) -> Vec<WorkspaceSymbol> {
    let snapshot = Snapshot::new(documents);
    let mut all = Vec::new();
    for name in snapshot.files() {
        let Some(text) = snapshot.text(&name) else {
            continue;
        };
        let file = SourceFile::new(name.clone(), text);
        let Some(uri) = convert::uri(Path::new(&name)) else {
            continue;
        };
        let items = editor::items(&file).into_iter();
        let found = items.filter(|symbol| matches(&symbol.name, &params.query));
        all.extend(found.map(|symbol| {
            WorkspaceSymbol {
                name: symbol.name,
                kind: convert::symbol(symbol.kind),
                tags: None,
                container_name: Path::new(&name)
                    .file_stem()
                    .map(|stem| stem.to_string_lossy().into_owned()),
                location: OneOf::Left(Location::new(uri.clone(), convert::range(&file, symbol.at))),
                data: None,
            }
        }));
        if all.len() >= FOUND {
            break;
        }
    }
    all.truncate(FOUND);
    all
}

/// Whether the letters of a query occur in a name, in their order and in any case.
fn matches(name: &str, query: &str) -> bool {
    let mut letters = name.chars().map(|c| c.to_ascii_lowercase());
    let mut query = query.chars().map(|c| c.to_ascii_lowercase());
    query.all(|wanted| letters.any(|letter| letter == wanted))
}
