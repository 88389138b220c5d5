//! Definitions, references, and the uses of a name in its file.

use std::path::Path;

use lsp_types::{
    DocumentHighlight, DocumentHighlightParams, GotoDefinitionParams, GotoDefinitionResponse,
    Location, LocationLink, ReferenceParams,
};

use super::super::convert;
use super::super::diagnostics::location;
use super::super::documents::{Documents, Snapshot};
use super::{at, path_of};
use crate::editor::{Place, Workspace};
use crate::source::{FileId, SourceFile, Span};

pub(in super::super) fn definition(
    documents: &mut Documents,
    takes_links: bool,
    params: GotoDefinitionParams,
) -> Option<GotoDefinitionResponse> {
    let at = at(documents, &params.text_document_position_params)?;
    let meant = at.analysis.definition(at.offset)?;
    let (sources, spec) = (at.analysis.sources(), path_of(at.analysis));
    let target = location(sources, meant.target, &spec)?;
    if !takes_links {
        return Some(target.into());
    }
    let whole = location(sources, meant.whole, &spec)?;
    let link = LocationLink {
        origin_selection_range: Some(convert::range(at.analysis.file(), meant.name)),
        target_uri: target.uri,
        target_range: whole.range,
        target_selection_range: target.range,
    };
    Some(vec![link].into())
}

pub(in super::super) fn references(
    documents: &mut Documents,
    params: ReferenceParams,
) -> Option<Vec<Location>> {
    let place = params.text_document_position;
    let path = convert::path(&place.text_document.uri)?;
    documents.analyse(&path)?;
    let (_, analysis) = documents.get(&path)?;
    let analysis = analysis?;
    let offset = convert::offset(analysis.file(), place.position);
    let meant = analysis.definition(offset)?;
    let snapshot = Snapshot::new(documents);
    let declared = analysis.sources().get(meant.target.file).name();
    let is_declaration = |place: &Place| {
        place.file == declared && (place.start, place.end) == (meant.target.start, meant.target.end)
    };
    let all = analysis.references_in(&snapshot, offset).into_iter();
    let wanted = all.filter(|place| params.context.include_declaration || !is_declaration(place));
    Some(
        wanted
            .filter_map(|place| file_location(&snapshot, &place))
            .collect(),
    )
}

/// Converts a location in a file of the project to the protocol.
fn file_location(workspace: &dyn Workspace, place: &Place) -> Option<Location> {
    let file = SourceFile::new(place.file.clone(), workspace.text(&place.file)?);
    let range = convert::range(&file, Span::new(FileId(0), place.start, place.end));
    Some(Location::new(convert::uri(Path::new(&place.file))?, range))
}

pub(in super::super) fn highlights(
    documents: &mut Documents,
    params: DocumentHighlightParams,
) -> Option<Vec<DocumentHighlight>> {
    let at = at(documents, &params.text_document_position_params)?;
    let names = at.analysis.references(at.offset).into_iter();
    Some(
        names
            .map(|name| DocumentHighlight {
                range: convert::range(at.analysis.file(), name),
                kind: None,
            })
            .collect(),
    )
}
