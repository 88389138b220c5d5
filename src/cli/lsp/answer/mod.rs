//! Requests of the editor, answered from the analysis of a text: one file for each capability.

mod actions;
mod completion;
mod format;
mod hints;
mod hover;
mod lenses;
mod links;
mod navigation;
mod ranges;
mod rename;
mod symbols;
mod tokens;

pub(super) use actions::{FIX_ALL, actions};
pub(super) use completion::{completion, signature};
pub(super) use format::{formatting, range_formatting};
pub(super) use hints::{hints, inline_values};
pub(super) use hover::hover;
pub(super) use lenses::lenses;
pub(super) use links::links;
pub(super) use navigation::{definition, highlights, references};
pub(super) use ranges::{folds, selections};
pub(super) use rename::{prepare_rename, rename};
pub(super) use symbols::{symbols, workspace_symbols};
pub(super) use tokens::{Tokens, tokens_delta, tokens_full, tokens_range};

use std::path::PathBuf;

use lsp_types::{MarkupContent, MarkupKind, TextDocumentPositionParams};

use super::convert;
use super::documents::Documents;
use crate::editor::Analysis;

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

fn markdown(value: String) -> MarkupContent {
    MarkupContent {
        kind: MarkupKind::Markdown,
        value,
    }
}
