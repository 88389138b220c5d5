//! Questions of the editor, answered from the analysis of a text.

use std::collections::HashMap;
use std::path::PathBuf;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CompletionItem,
    CompletionParams, DocumentFormattingParams, DocumentHighlight, DocumentHighlightParams,
    DocumentSymbol, DocumentSymbolParams, Documentation, FoldingRange, FoldingRangeParams,
    GotoDefinitionParams, GotoDefinitionResponse, Hover, HoverContents, HoverParams, Location,
    LocationLink, MarkupContent, MarkupKind, PrepareRenameResponse, ReferenceParams, RenameParams,
    SemanticToken, SemanticTokens, SemanticTokensParams, TextDocumentPositionParams, TextEdit, Uri,
    WorkspaceEdit,
};

use super::convert;
use super::documents::{Documents, location};
use crate::editor::{Analysis, Candidate, Kind, RenameError, Symbol};
use crate::source::{FileId, Span};
use crate::syntax;

/// An analysis with a place in its text.
struct At<'d> {
    analysis: &'d Analysis,
    offset: u32,
}

fn at<'d>(documents: &'d mut Documents, place: &TextDocumentPositionParams) -> Option<At<'d>> {
    let analysis = documents.analysis(&place.text_document.uri)?;
    Some(At {
        analysis,
        offset: convert::offset(analysis.file(), place.position),
    })
}

fn path_of(analysis: &Analysis) -> PathBuf {
    PathBuf::from(analysis.file().name())
}

pub(super) fn hover(documents: &mut Documents, params: HoverParams) -> Option<Hover> {
    let at = at(documents, &params.text_document_position_params)?;
    let hover = at.analysis.hover(at.offset)?;
    Some(Hover {
        contents: HoverContents::Markup(markdown(hover.text)),
        range: Some(convert::range(at.analysis.file(), hover.span)),
    })
}

pub(super) fn definition(
    documents: &mut Documents,
    params: GotoDefinitionParams,
) -> Option<GotoDefinitionResponse> {
    let takes_links = documents.takes_links;
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

pub(super) fn references(
    documents: &mut Documents,
    params: ReferenceParams,
) -> Option<Vec<Location>> {
    let place = params.text_document_position;
    let at = at(documents, &place)?;
    let declaration = at.analysis.definition(at.offset)?.target;
    let all = at.analysis.references(at.offset).into_iter();
    let wanted = all.filter(|name| params.context.include_declaration || *name != declaration);
    let uri = place.text_document.uri;
    Some(
        wanted
            .map(|name| Location::new(uri.clone(), convert::range(at.analysis.file(), name)))
            .collect(),
    )
}

pub(super) fn highlights(
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

pub(super) fn symbols(
    documents: &mut Documents,
    params: DocumentSymbolParams,
) -> Option<lsp_types::DocumentSymbolResponse> {
    let analysis = documents.analysis(&params.text_document.uri)?;
    let outline = analysis.outline();
    let symbols: Vec<DocumentSymbol> = outline
        .into_iter()
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
    // The protocol wants the name within the whole.
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

pub(super) fn completion(
    documents: &mut Documents,
    params: CompletionParams,
) -> Option<Vec<CompletionItem>> {
    let at = at(documents, &params.text_document_position)?;
    let candidates = at.analysis.candidates(at.offset).into_iter();
    Some(candidates.map(completion_item).collect())
}

fn completion_item(candidate: Candidate) -> CompletionItem {
    CompletionItem {
        kind: Some(convert::candidate(candidate.kind)),
        detail: (!candidate.detail.is_empty()).then_some(candidate.detail),
        documentation: (!candidate.docs.is_empty())
            .then(|| Documentation::MarkupContent(markdown(candidate.docs))),
        label: candidate.name,
        ..CompletionItem::default()
    }
}

/// Returns the whole text anew, where it parses and is not laid out already.
pub(super) fn formatting(
    documents: &mut Documents,
    params: DocumentFormattingParams,
) -> Option<Vec<TextEdit>> {
    let file = documents.analysis(&params.text_document.uri)?.file();
    let formatted = syntax::format_file(file).ok()?;
    if formatted == file.text() {
        return Some(Vec::new());
    }
    Some(vec![TextEdit::new(
        convert::range(file, file.span()),
        formatted,
    )])
}

/// Returns the fixes of the findings that touch a range.
pub(super) fn actions(
    documents: &mut Documents,
    params: CodeActionParams,
) -> Option<Vec<CodeActionOrCommand>> {
    let uri = params.text_document.uri;
    let analysis = documents.analysis(&uri)?;
    let file = analysis.file();
    let (from, to) = (
        convert::offset(file, params.range.start),
        convert::offset(file, params.range.end),
    );
    let found = analysis.diagnostics().iter().filter(|found| {
        let span = found.span();
        span.file == FileId(0) && span.start <= to && from <= span.end
    });
    let fixes = found.flat_map(|found| &found.fixes);
    let here = fixes.filter(|fix| fix.edits.iter().all(|(span, _)| span.file == FileId(0)));
    Some(
        here.map(|fix| {
            let edits = fix.edits.iter();
            let edits = edits.map(|(span, text)| (*span, text.clone()));
            CodeActionOrCommand::CodeAction(CodeAction {
                title: fix.message.clone(),
                kind: Some(CodeActionKind::QUICKFIX),
                edit: Some(edit(analysis, &uri, edits)),
                ..CodeAction::default()
            })
        })
        .collect(),
    )
}

pub(super) fn folds(
    documents: &mut Documents,
    params: FoldingRangeParams,
) -> Option<Vec<FoldingRange>> {
    let analysis = documents.analysis(&params.text_document.uri)?;
    let spans = analysis.folds().into_iter();
    Some(
        spans
            .map(|span| {
                let range = convert::range(analysis.file(), span);
                FoldingRange {
                    start_line: range.start.line,
                    end_line: range.end.line,
                    ..FoldingRange::default()
                }
            })
            .collect(),
    )
}

/// Returns names by meaning, each by its distance from the one before.
pub(super) fn tokens(
    documents: &mut Documents,
    params: SemanticTokensParams,
) -> Option<SemanticTokens> {
    let analysis = documents.analysis(&params.text_document.uri)?;
    let mut data = Vec::new();
    let (mut line, mut column) = (0, 0);
    for coloured in analysis.colours() {
        let range = convert::range(analysis.file(), coloured.span);
        if range.start.line != line {
            column = 0;
        }
        let mut modifiers = 0;
        if coloured.declares {
            modifiers |= convert::DECLARATION;
        }
        if coloured.kind == Kind::Constant {
            modifiers |= convert::READONLY;
        }
        data.push(SemanticToken {
            delta_line: range.start.line - line,
            delta_start: range.start.character - column,
            length: range.end.character.saturating_sub(range.start.character),
            token_type: convert::token_type(coloured.kind),
            token_modifiers_bitset: modifiers,
        });
        (line, column) = (range.start.line, range.start.character);
    }
    Some(SemanticTokens {
        result_id: None,
        data,
    })
}

pub(super) fn prepare_rename(
    documents: &mut Documents,
    params: TextDocumentPositionParams,
) -> Option<PrepareRenameResponse> {
    let at = at(documents, &params)?;
    let meant = at.analysis.definition(at.offset)?;
    (meant.target.file == FileId(0) && !meant.target.is_empty())
        .then(|| PrepareRenameResponse::Range(convert::range(at.analysis.file(), meant.name)))
}

pub(super) fn rename(
    documents: &mut Documents,
    params: &RenameParams,
) -> Result<WorkspaceEdit, String> {
    let place = &params.text_document_position;
    let at = at(documents, place).ok_or_else(|| RenameError::NoName.to_string())?;
    let names = at
        .analysis
        .rename(at.offset, &params.new_name)
        .map_err(|error| error.to_string())?;
    let edits = names
        .into_iter()
        .map(|name| (name, params.new_name.clone()));
    Ok(edit(at.analysis, &place.text_document.uri, edits))
}

#[allow(
    clippy::mutable_key_type,
    reason = "the protocol's type maps addresses, which nothing changes"
)]
fn edit(
    analysis: &Analysis,
    uri: &Uri,
    edits: impl Iterator<Item = (Span, String)>,
) -> WorkspaceEdit {
    let edits =
        edits.map(|(span, text)| TextEdit::new(convert::range(analysis.file(), span), text));
    WorkspaceEdit::new(HashMap::from([(uri.clone(), edits.collect())]))
}

fn markdown(value: String) -> MarkupContent {
    MarkupContent {
        kind: MarkupKind::Markdown,
        value,
    }
}
