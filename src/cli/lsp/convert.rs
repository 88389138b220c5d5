//! Conversion of positions, kinds and severities to the protocol. Columns count UTF-16 units, which every client
//! supports.

use std::path::{Path, PathBuf};

use lsp_types::{
    CompletionItemKind, DiagnosticSeverity, Position, Range, SemanticTokenModifier,
    SemanticTokenType, SymbolKind, Uri,
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::diagnostic::Severity;
use crate::editor::{CandidateKind, Kind};
use crate::source::{SourceFile, Span};

/// The kinds of names that have a colour; [`token_type`] gives positions in it.
pub(super) const TOKEN_TYPES: &[SemanticTokenType] = &[
    SemanticTokenType::NAMESPACE,
    SemanticTokenType::ENUM,
    SemanticTokenType::ENUM_MEMBER,
    SemanticTokenType::STRUCT,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::MACRO,
    SemanticTokenType::CLASS,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::VARIABLE,
];

/// Further facts about a name, a bit each: declared here; never changes.
pub(super) const TOKEN_MODIFIERS: &[SemanticTokenModifier] = &[
    SemanticTokenModifier::DECLARATION,
    SemanticTokenModifier::READONLY,
];

/// The bit of [`TOKEN_MODIFIERS`] for declarations.
pub(super) const DECLARATION: u32 = 1;
/// The bit of [`TOKEN_MODIFIERS`] for constants.
pub(super) const READONLY: u32 = 2;

pub(super) fn token_type(kind: Kind) -> u32 {
    match kind {
        Kind::Module => 0,
        Kind::Enum => 1,
        Kind::EnumValue => 2,
        Kind::Record => 3,
        Kind::Field | Kind::RecordField => 4,
        Kind::Function => 5,
        Kind::Template => 6,
        Kind::Property | Kind::Model => 7,
        Kind::Parameter => 8,
        Kind::Constant | Kind::State | Kind::Variable => 9,
    }
}

pub(super) fn symbol(kind: Option<Kind>) -> SymbolKind {
    match kind {
        Some(Kind::Module) => SymbolKind::MODULE,
        Some(Kind::Field | Kind::RecordField) => SymbolKind::FIELD,
        Some(Kind::Enum) => SymbolKind::ENUM,
        Some(Kind::EnumValue) => SymbolKind::ENUM_MEMBER,
        Some(Kind::Record) => SymbolKind::STRUCT,
        Some(Kind::Constant) => SymbolKind::CONSTANT,
        Some(Kind::Function) => SymbolKind::FUNCTION,
        Some(Kind::Template) => SymbolKind::INTERFACE,
        Some(Kind::Property) => SymbolKind::CLASS,
        Some(Kind::Model) => SymbolKind::NAMESPACE,
        Some(Kind::State | Kind::Parameter | Kind::Variable) => SymbolKind::VARIABLE,
        None => SymbolKind::EVENT,
    }
}

pub(super) fn candidate(kind: CandidateKind) -> CompletionItemKind {
    match kind {
        CandidateKind::Word => CompletionItemKind::KEYWORD,
        CandidateKind::Function => CompletionItemKind::FUNCTION,
        CandidateKind::Attribute => CompletionItemKind::PROPERTY,
        CandidateKind::Name(kind) => match kind {
            Kind::Module => CompletionItemKind::MODULE,
            Kind::Field | Kind::RecordField => CompletionItemKind::FIELD,
            Kind::Enum => CompletionItemKind::ENUM,
            Kind::EnumValue => CompletionItemKind::ENUM_MEMBER,
            Kind::Record => CompletionItemKind::STRUCT,
            Kind::Constant => CompletionItemKind::CONSTANT,
            Kind::Function => CompletionItemKind::FUNCTION,
            Kind::Template => CompletionItemKind::INTERFACE,
            Kind::Property | Kind::Model => CompletionItemKind::CLASS,
            Kind::State | Kind::Parameter | Kind::Variable => CompletionItemKind::VARIABLE,
        },
    }
}

pub(super) fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Hint => DiagnosticSeverity::HINT,
    }
}

pub(super) fn position(file: &SourceFile, offset: u32) -> Position {
    let (line, column) = file.lines().utf16_position(file.text(), offset);
    Position::new(line, column)
}

pub(super) fn range(file: &SourceFile, span: Span) -> Range {
    Range::new(position(file, span.start), position(file, span.end))
}

/// Returns the offset of a position, clamped to the end of its line and of the text.
pub(super) fn offset(file: &SourceFile, position: Position) -> u32 {
    file.lines()
        .offset_of_utf16(file.text(), position.line, position.character)
}

/// The characters that need no escape in the path of an address (RFC 3986, `pchar` and `/`).
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// Returns the path of a `file:` address on this machine. A text without a file, such as one that was never saved, has its
/// address as its path, which is not absolute.
pub(super) fn path(uri: &Uri) -> Option<PathBuf> {
    let Some(rest) = uri.as_str().strip_prefix("file://") else {
        return Some(PathBuf::from(uri.as_str()));
    };
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = percent_decode_str(rest).decode_utf8().ok()?;
    // On Windows a slash precedes the drive.
    let path = match path.strip_prefix('/') {
        Some(drive) if cfg!(windows) => drive,
        _ => &path,
    };
    let path = PathBuf::from(path);
    path.is_absolute().then_some(path)
}

/// Returns the address of a path as [`path`] gives it; `None` if it is not UTF-8.
pub(super) fn uri(path: &Path) -> Option<Uri> {
    if !path.is_absolute() {
        return path.to_str()?.parse().ok();
    }
    let path = path.to_str()?.replace(std::path::MAIN_SEPARATOR, "/");
    let slash = if path.starts_with('/') { "" } else { "/" };
    format!("file://{slash}{}", utf8_percent_encode(&path, PATH))
        .parse()
        .ok()
}
