//! Completion, and the parameters of the call at the cursor.

use std::path::Path;

use lsp_types::{
    CompletionItem, CompletionParams, Documentation, InsertTextFormat, ParameterInformation,
    ParameterLabel, SignatureHelp, SignatureHelpParams, SignatureInformation,
};

use super::super::convert;
use super::super::documents::{Documents, Snapshot};
use super::{at, markdown};
use crate::editor::{Candidate, Workspace};

pub(in super::super) fn completion(
    documents: &mut Documents,
    takes_snippets: bool,
    params: CompletionParams,
) -> Option<Vec<CompletionItem>> {
    let place = params.text_document_position;
    let path = convert::path(&place.text_document.uri)?;
    documents.analyse(&path)?;
    let modules = modules(documents, &path);
    let at = at(documents, &place)?;
    let candidates = at.analysis.candidates(at.offset, &modules).into_iter();
    Some(
        candidates
            .map(|candidate| item(candidate, takes_snippets))
            .collect(),
    )
}

/// Returns the paths by which a file can import the others of its project.
fn modules(documents: &Documents, path: &Path) -> Vec<String> {
    let snapshot = Snapshot::new(documents);
    let folder = snapshot.resolve(&path.display().to_string(), "");
    let files = snapshot.files().into_iter();
    files
        .filter(|file| Path::new(file) != path)
        .filter_map(|file| {
            let below = Path::new(&file)
                .strip_prefix(&folder)
                .ok()?
                .with_extension("");
            let names: Option<Vec<&str>> = below.iter().map(|name| name.to_str()).collect();
            let names = names?;
            let is_name =
                |name: &&str| !name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            names.iter().all(is_name).then(|| names.join("."))
        })
        .collect()
}

fn item(candidate: Candidate, takes_snippets: bool) -> CompletionItem {
    let snippet = candidate.snippet.filter(|_| takes_snippets);
    CompletionItem {
        kind: Some(convert::candidate(candidate.kind)),
        detail: (!candidate.detail.is_empty()).then_some(candidate.detail),
        documentation: (!candidate.docs.is_empty())
            .then(|| Documentation::MarkupContent(markdown(candidate.docs))),
        sort_text: Some(format!("{}{}", candidate.rank, candidate.name)),
        label: candidate.name,
        insert_text_format: snippet.is_some().then_some(InsertTextFormat::SNIPPET),
        insert_text: snippet,
        ..CompletionItem::default()
    }
}

pub(in super::super) fn signature(
    documents: &mut Documents,
    params: SignatureHelpParams,
) -> Option<SignatureHelp> {
    let at = at(documents, &params.text_document_position_params)?;
    let signature = at.analysis.signature(at.offset)?;
    let active = u32::try_from(signature.active).ok();
    let params = signature.params.iter().map(|range| {
        let units = |end: usize| -> u32 {
            let before = signature.label.get(..end).unwrap_or("");
            u32::try_from(before.encode_utf16().count()).unwrap_or(u32::MAX)
        };
        ParameterInformation {
            label: ParameterLabel::LabelOffsets([units(range.start), units(range.end)]),
            documentation: None,
        }
    });
    let information = SignatureInformation {
        parameters: Some(params.collect()),
        documentation: (!signature.docs.is_empty())
            .then(|| Documentation::MarkupContent(markdown(signature.docs))),
        active_parameter: active,
        label: signature.label,
    };
    Some(SignatureHelp {
        signatures: vec![information],
        active_signature: Some(0),
        active_parameter: active,
    })
}
