//! Diagnostics of specs as SARIF.

use std::io::{self, Write};

use serde_sarif::sarif::{
    Location, PhysicalLocation, ReportingDescriptor, Result as SarifResult, ResultLevel, Run, Tool,
};

use super::{driver, message, multiformat, place, write_document};
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
            let location = |label: &Label, id: i64| Location {
                id: (id > 0).then_some(id),
                physical_location: Some(span_place(base.as_deref(), label.span, sources)),
                message: (!label.message.is_empty()).then(|| message(&label.message)),
                ..Location::default()
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
            results.push(
                SarifResult::builder()
                    .rule_id(diagnostic.code.as_str())
                    .rule_index(i64::try_from(index).unwrap_or(-1))
                    .level(match diagnostic.severity {
                        diagnostic::Severity::Error => ResultLevel::Error,
                        diagnostic::Severity::Warning => ResultLevel::Warning,
                        diagnostic::Severity::Hint => ResultLevel::Note,
                    })
                    .message(message(&text))
                    .locations(vec![location(&diagnostic.primary, 0)])
                    .related_locations(others)
                    .build(),
            );
        }
    }
    let rules = codes
        .iter()
        .map(|code| {
            ReportingDescriptor::builder()
                .id(code.as_str())
                .name(code.name())
                .short_description(multiformat(code.summary()))
                .help(multiformat(code.page()))
                .build()
        })
        .collect();
    let run = Run::builder()
        .tool(Tool::builder().driver(driver(rules)).build())
        .column_kind(serde_json::Value::from("unicodeCodePoints"))
        .results(results)
        .build();
    write_document(out, run)
}

/// A span of a spec, columns in characters.
fn span_place(base: Option<&str>, span: Span, sources: &SourceMap) -> PhysicalLocation {
    let file = sources.get(span.file);
    let (start, end) = (file.location(span.start), file.location(span.end));
    let mut place = place(base, file.name(), u64::from(start.line));
    if let Some(region) = &mut place.region {
        region.start_column = Some(i64::from(start.column));
        region.end_line = Some(i64::from(end.line));
        region.end_column = Some(i64::from(end.column));
    }
    place
}
