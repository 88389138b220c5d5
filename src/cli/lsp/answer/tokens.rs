//! Semantic highlighting.

use std::collections::HashMap;

use lsp_types::{
    SemanticToken, SemanticTokens, SemanticTokensDelta, SemanticTokensDeltaParams,
    SemanticTokensEdit, SemanticTokensFullDeltaResult, SemanticTokensParams,
    SemanticTokensRangeParams, Uri,
};

use super::super::convert;
use super::super::documents::Documents;
use crate::editor::{Analysis, Kind};

/// The tokens that the client has, by text, with their identity.
#[derive(Debug, Default)]
pub(in super::super) struct Tokens {
    sent: HashMap<String, (String, Vec<SemanticToken>)>,
    count: u64,
}

impl Tokens {
    fn send(&mut self, uri: &Uri, data: Vec<SemanticToken>) -> SemanticTokens {
        self.count += 1;
        let id = self.count.to_string();
        self.sent
            .insert(uri.as_str().to_owned(), (id.clone(), data.clone()));
        SemanticTokens {
            result_id: Some(id),
            data,
        }
    }

    /// Removes the tokens of a closed text.
    pub(in super::super) fn forget(&mut self, uri: &Uri) {
        self.sent.remove(uri.as_str());
    }
}

pub(in super::super) fn tokens_full(
    documents: &mut Documents,
    tokens: &mut Tokens,
    params: SemanticTokensParams,
) -> Option<SemanticTokens> {
    let uri = params.text_document.uri;
    let data = data(documents.analysis(&uri)?, None);
    Some(tokens.send(&uri, data))
}

/// Returns the change from the tokens that the client has, as one range, or all tokens if the client has others.
pub(in super::super) fn tokens_delta(
    documents: &mut Documents,
    tokens: &mut Tokens,
    params: SemanticTokensDeltaParams,
) -> Option<SemanticTokensFullDeltaResult> {
    let uri = params.text_document.uri;
    let now = data(documents.analysis(&uri)?, None);
    let known = tokens.sent.get(uri.as_str());
    let Some((_, before)) = known.filter(|(id, _)| *id == params.previous_result_id) else {
        return Some(tokens.send(&uri, now).into());
    };
    let head = before.iter().zip(&now).take_while(|(a, b)| a == b).count();
    let tails = before[head..].iter().rev().zip(now[head..].iter().rev());
    let tail = tails.take_while(|(a, b)| a == b).count();
    // The protocol counts integers; each token has five.
    let numbers = |count: usize| u32::try_from(5 * count).unwrap_or(u32::MAX);
    let (removed, added) = (before.len() - head - tail, &now[head..now.len() - tail]);
    let edit = SemanticTokensEdit {
        start: numbers(head),
        delete_count: numbers(removed),
        data: Some(added.to_vec()),
    };
    let edits = if removed == 0 && added.is_empty() {
        Vec::new()
    } else {
        vec![edit]
    };
    let sent = tokens.send(&uri, now);
    Some(SemanticTokensFullDeltaResult::TokensDelta(
        SemanticTokensDelta {
            result_id: sent.result_id,
            edits,
        },
    ))
}

pub(in super::super) fn tokens_range(
    documents: &mut Documents,
    params: SemanticTokensRangeParams,
) -> Option<SemanticTokens> {
    let analysis = documents.analysis(&params.text_document.uri)?;
    let file = analysis.file();
    let within = convert::offset(file, params.range.start)..convert::offset(file, params.range.end);
    Some(SemanticTokens {
        result_id: None,
        data: data(analysis, Some(within)),
    })
}

/// Encodes the tokens, each relative to the previous one.
fn data(analysis: &Analysis, within: Option<std::ops::Range<u32>>) -> Vec<SemanticToken> {
    let mut data = Vec::new();
    let (mut line, mut column) = (0, 0);
    for coloured in analysis.colours() {
        let span = coloured.span;
        if within
            .as_ref()
            .is_some_and(|within| span.end < within.start || within.end < span.start)
        {
            continue;
        }
        let range = convert::range(analysis.file(), span);
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
    data
}
