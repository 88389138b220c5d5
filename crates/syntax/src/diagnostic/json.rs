//! Diagnostics as JSON: one object per line, as the command-line documentation describes it.

use super::Diagnostic;
use crate::source::{SourceMap, Span};
use serde::Serialize;

/// The version of the format.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct JsonDiagnostic<'d> {
    v: u32,
    code: &'d str,
    severity: &'d str,
    message: &'d str,
    file: &'d str,
    span: JsonSpan,
    labels: Vec<JsonLabel<'d>>,
    notes: &'d [String],
    fixes: Vec<JsonFix<'d>>,
}

/// Bytes from 0, end excluded; line and column of the start from 1, the column in characters.
#[derive(Serialize)]
struct JsonSpan {
    start: u32,
    end: u32,
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct JsonLabel<'d> {
    file: &'d str,
    span: JsonSpan,
    message: &'d str,
    primary: bool,
}

#[derive(Serialize)]
struct JsonFix<'d> {
    message: &'d str,
    edits: Vec<JsonEdit<'d>>,
}

#[derive(Serialize)]
struct JsonEdit<'d> {
    file: &'d str,
    span: JsonSpan,
    text: &'d str,
}

/// Returns one line of JSON for each diagnostic.
#[must_use]
pub fn json_lines(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        out.push_str(&json(diagnostic, sources));
        out.push('\n');
    }
    out
}

/// Returns a diagnostic as one JSON object without a line break.
#[must_use]
pub fn json(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let span = |span: Span| {
        let at = sources.get(span.file).location(span.start);
        JsonSpan {
            start: span.start,
            end: span.end,
            line: at.line,
            column: at.column,
        }
    };
    let file = |span: Span| sources.get(span.file).name();
    let primary = std::iter::once((&diagnostic.primary, true));
    let secondary = diagnostic.secondary.iter().map(|label| (label, false));
    let value = JsonDiagnostic {
        v: VERSION,
        code: diagnostic.code.as_str(),
        severity: diagnostic.severity.as_str(),
        message: &diagnostic.message,
        file: file(diagnostic.span()),
        span: span(diagnostic.span()),
        labels: primary
            .chain(secondary)
            .map(|(label, primary)| JsonLabel {
                file: file(label.span),
                span: span(label.span),
                message: &label.message,
                primary,
            })
            .collect(),
        notes: &diagnostic.notes,
        fixes: diagnostic
            .fixes
            .iter()
            .map(|fix| JsonFix {
                message: &fix.message,
                edits: fix
                    .edits
                    .iter()
                    .map(|(at, text)| JsonEdit {
                        file: file(*at),
                        span: span(*at),
                        text,
                    })
                    .collect(),
            })
            .collect(),
    };
    serde_json::to_string(&value).unwrap_or_default()
}
