//! Fixes of findings, one by one and all at once.

use std::collections::HashMap;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, TextEdit, Uri, WorkspaceEdit,
};

use super::super::convert;
use super::super::diagnostics::lsp_diagnostic;
use super::super::documents::Documents;
use super::path_of;
use crate::editor::Analysis;
use crate::source::Span;

/// The kind of the action that applies all safe fixes.
pub(in super::super) const FIX_ALL: CodeActionKind = CodeActionKind::new("source.fixAll.guard");

pub(in super::super) fn actions(
    documents: &mut Documents,
    params: CodeActionParams,
) -> Option<Vec<CodeActionOrCommand>> {
    let uri = params.text_document.uri;
    let path = convert::path(&uri)?;
    documents.analyse(&path)?;
    let analysis = documents.get(&path)?.1?;
    let file = analysis.file();
    let asks = |kind: &CodeActionKind| {
        let only = params.context.only.as_ref();
        only.is_none_or(|only| only.iter().any(|asked| includes(asked, kind)))
    };
    let mut actions = Vec::new();
    if asks(&CodeActionKind::QUICKFIX) {
        let within =
            convert::offset(file, params.range.start)..convert::offset(file, params.range.end);
        let spec = path_of(analysis);
        for fix in analysis.fixes(within) {
            actions.push(CodeAction {
                title: fix.title,
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![lsp_diagnostic(fix.found, analysis.sources(), &spec)]),
                is_preferred: fix.only.then_some(true),
                edit: Some(edit(analysis, &uri, fix.edits)),
                ..CodeAction::default()
            });
        }
    }
    // The action checks the spec for each fix, so it is only computed on request.
    if params.context.only.is_some() && asks(&FIX_ALL) {
        let edits = documents.reader(&path, |reader| analysis.safe_fixes(reader))?;
        if !edits.is_empty() {
            actions.push(CodeAction {
                title: "fix all that leaves the meaning as it is".to_owned(),
                kind: Some(FIX_ALL),
                edit: Some(edit(analysis, &uri, edits)),
                ..CodeAction::default()
            });
        }
    }
    Some(
        actions
            .into_iter()
            .map(CodeActionOrCommand::CodeAction)
            .collect(),
    )
}

/// Whether a kind of action is included in the requested kind: `source.fixAll` includes `source.fixAll.guard`.
fn includes(asked: &CodeActionKind, kind: &CodeActionKind) -> bool {
    let rest = kind.as_str().strip_prefix(asked.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[allow(
    clippy::mutable_key_type,
    reason = "the protocol's type maps addresses, which nothing changes"
)]
fn edit(analysis: &Analysis, uri: &Uri, edits: Vec<(Span, String)>) -> WorkspaceEdit {
    let edits = edits
        .into_iter()
        .map(|(span, text)| TextEdit::new(convert::range(analysis.file(), span), text));
    WorkspaceEdit::new(HashMap::from([(uri.clone(), edits.collect())]))
}
