//! Renaming over the project.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use lsp_types::{
    PrepareRenameResponse, RenameParams, TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit,
};

use super::super::convert;
use super::super::documents::{Documents, Snapshot};
use super::at;
use crate::editor::{RenameError, Workspace};
use crate::source::{FileId, SourceFile, Span};

pub(in super::super) fn prepare_rename(
    documents: &mut Documents,
    params: TextDocumentPositionParams,
) -> Option<PrepareRenameResponse> {
    let at = at(documents, &params)?;
    let name = at.analysis.renameable(at.offset)?;
    let range = convert::range(at.analysis.file(), name);
    Some(PrepareRenameResponse::Range(range))
}

#[allow(
    clippy::mutable_key_type,
    reason = "the protocol's type maps addresses, which nothing changes"
)]
pub(in super::super) fn rename(
    documents: &mut Documents,
    params: &RenameParams,
) -> Result<WorkspaceEdit, String> {
    let place = &params.text_document_position;
    let no_name = || RenameError::NoName.to_string();
    let path = convert::path(&place.text_document.uri).ok_or_else(no_name)?;
    documents.analyse(&path).ok_or_else(no_name)?;
    let (_, analysis) = documents.get(&path).ok_or_else(no_name)?;
    let analysis = analysis.ok_or_else(no_name)?;
    let offset = convert::offset(analysis.file(), place.position);
    let snapshot = Snapshot::new(documents);
    let changes = analysis
        .rename(&snapshot, offset, &params.new_name)
        .map_err(|error| error.to_string())?;
    let mut by_file: BTreeMap<&str, Vec<(Span, &str)>> = BTreeMap::new();
    for change in &changes {
        let span = Span::new(FileId(0), change.at.start, change.at.end);
        by_file
            .entry(&change.at.file)
            .or_default()
            .push((span, &change.text));
    }
    let mut edits: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for (name, changes) in by_file {
        let text = snapshot.text(name).ok_or_else(no_name)?;
        let file = SourceFile::new(name, text);
        let open = documents
            .get(Path::new(name))
            .map(|(open, _)| open.uri.clone());
        let uri = open.or_else(|| convert::uri(Path::new(name)));
        let edit = |(span, text): (Span, &str)| {
            TextEdit::new(convert::range(&file, span), text.to_owned())
        };
        edits.insert(
            uri.ok_or_else(no_name)?,
            changes.into_iter().map(edit).collect(),
        );
    }
    Ok(WorkspaceEdit::new(edits))
}
