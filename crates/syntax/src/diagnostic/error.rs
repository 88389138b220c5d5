//! The error of the library for a spec with errors, as a `miette` diagnostic.

use super::{Diagnostic, RenderOptions, Severity, json_lines, render};
use crate::source::{SourceMap, Span};
use miette::{LabeledSpan, NamedSource, SourceCode};
use std::fmt;
use std::sync::Arc;

/// A spec with errors: one or more diagnostics, and the text that they refer to.
#[derive(Clone, Debug)]
pub struct SpecError {
    reports: Vec<Report>,
    sources: Arc<SourceMap>,
}

/// One diagnostic with the text of its file.
#[derive(Clone, Debug)]
struct Report {
    diagnostic: Diagnostic,
    source: NamedSource<String>,
}

impl SpecError {
    /// Combines diagnostics with the files that they refer to.
    #[must_use]
    pub fn new(diagnostics: Vec<Diagnostic>, sources: &SourceMap) -> Self {
        let reports = diagnostics
            .into_iter()
            .map(|diagnostic| {
                let file = sources.get(diagnostic.span().file);
                let source = NamedSource::new(file.name(), file.text().to_owned());
                Report { diagnostic, source }
            })
            .collect();
        Self {
            reports,
            sources: Arc::new(sources.clone()),
        }
    }

    /// Returns the diagnostics, in order.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.reports.iter().map(|report| &report.diagnostic)
    }

    /// Returns the diagnostics as `guard check` prints them, without colours.
    #[must_use]
    pub fn rendered(&self) -> String {
        let diagnostics: Vec<Diagnostic> = self.diagnostics().cloned().collect();
        render(&diagnostics, &self.sources, RenderOptions { color: false })
    }

    /// Returns the diagnostics as `guard check --format json` writes them: one JSON object per line.
    #[must_use]
    pub fn json_lines(&self) -> String {
        let diagnostics: Vec<Diagnostic> = self.diagnostics().cloned().collect();
        json_lines(&diagnostics, &self.sources)
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reports.as_slice() {
            [] => f.write_str("the spec has errors"),
            [one] => one.fmt(f),
            [first, rest @ ..] => write!(f, "{first} (and {} more)", rest.len()),
        }
    }
}

impl std::error::Error for SpecError {}

impl miette::Diagnostic for SpecError {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.reports.first().and_then(miette::Diagnostic::code)
    }

    fn severity(&self) -> Option<miette::Severity> {
        self.reports
            .iter()
            .filter_map(miette::Diagnostic::severity)
            .max()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.reports.first().and_then(miette::Diagnostic::help)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.reports
            .first()
            .and_then(miette::Diagnostic::source_code)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.reports.first().and_then(miette::Diagnostic::labels)
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
        let rest = self.reports.get(1..).filter(|rest| !rest.is_empty())?;
        Some(Box::new(
            rest.iter().map(|report| report as &dyn miette::Diagnostic),
        ))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for Report {}

impl miette::Diagnostic for Report {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.diagnostic.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Hint => miette::Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let fixes = self.diagnostic.fixes.iter().map(|fix| &fix.message);
        let lines: Vec<_> = self.diagnostic.notes.iter().chain(fixes).cloned().collect();
        if lines.is_empty() {
            None
        } else {
            Some(Box::new(lines.join("\n")))
        }
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let file = self.diagnostic.span().file;
        let labels = std::iter::once(&self.diagnostic.primary)
            .chain(
                self.diagnostic
                    .secondary
                    .iter()
                    .filter(move |label| label.span.file == file),
            )
            .map(|label| labeled(label.span, &label.message));
        Some(Box::new(labels))
    }
}

fn labeled(span: Span, message: &str) -> LabeledSpan {
    let text = (!message.is_empty()).then(|| message.to_owned());
    LabeledSpan::new(text, span.start as usize, span.len() as usize)
}
