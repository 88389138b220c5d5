//! Diagnostics of specs as SARIF.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{COLUMNS, place, tool, write_document};
use crate::diagnostic::{self, Code, Diagnostic, Label};
use crate::source::{SourceMap, Span};

/// Writes diagnostics of specs as one document: codes are rules.
///
/// # Errors
/// Where `out` cannot be written.
pub fn diagnostics<'d>(
    out: &mut impl Write,
    found: impl Iterator<Item = (&'d [Diagnostic], &'d SourceMap)>,
    base: Option<&str>,
) -> io::Result<()> {
    let base = base.map(|base| format!("{}/", base.trim_end_matches('/')));
    let mut codes: Vec<Code> = Vec::new();
    let mut results = Vec::new();
    for (diagnostics, sources) in found {
        for diagnostic in diagnostics {
            let index = codes
                .iter()
                .position(|code| *code == diagnostic.code)
                .unwrap_or_else(|| {
                    codes.push(diagnostic.code);
                    codes.len() - 1
                });
            let location = |label: &Label, id: u32| {
                let place = span_place(base.as_deref(), label.span, sources);
                let mut location = json!({"physicalLocation": place});
                if id > 0 {
                    location["id"] = json!(id);
                }
                if !label.message.is_empty() {
                    location["message"] = json!({"text": label.message});
                }
                location
            };
            let others = diagnostic
                .secondary
                .iter()
                .zip(1..)
                .map(|(label, id)| location(label, id))
                .collect::<Vec<_>>();
            let mut text = diagnostic.message.clone();
            for note in &diagnostic.notes {
                text.push_str(&format!("\n{note}"));
            }
            results.push(json!({
                "ruleId": diagnostic.code.as_str(),
                "ruleIndex": index,
                "level": match diagnostic.severity {
                    diagnostic::Severity::Error => "error",
                    diagnostic::Severity::Warning => "warning",
                    diagnostic::Severity::Hint => "note",
                },
                "message": {"text": text},
                "locations": [location(&diagnostic.primary, 0)],
                "relatedLocations": others,
            }));
        }
    }
    let rules = codes.iter().map(|code| {
        json!({
            "id": code.as_str(),
            "name": code.name(),
            "shortDescription": {"text": code.summary()},
            "help": {"text": code.page()},
        })
    });
    let run = json!({
        "tool": tool(rules.collect()),
        "columnKind": COLUMNS,
        "results": results,
    });
    write_document(out, run)
}

/// Returns a span of a spec, columns in characters.
fn span_place(base: Option<&str>, span: Span, sources: &SourceMap) -> Value {
    let file = sources.get(span.file);
    let (start, end) = (file.location(span.start), file.location(span.end));
    let mut place = place(base, file.name(), u64::from(start.line));
    place["region"] = json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    });
    place
}
