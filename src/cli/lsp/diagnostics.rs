//! Conversion of diagnostics to the protocol, and tracking of those that the client already has.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticTag,
    DocumentDiagnosticReportKind, FullDocumentDiagnosticReport, Location, NumberOrString,
    PublishDiagnosticsParams, Uri,
};

use super::documents::{Document, Documents};
use super::{convert, shown};
use crate::diagnostic::{self, Code};
use crate::editor::Analysis;
use crate::source::{FileId, SourceMap, Span};

/// Findings by the file that they are in.
type ByFile = BTreeMap<PathBuf, Vec<Diagnostic>>;

/// The findings that were published.
#[derive(Debug, Default)]
pub(super) struct Published {
    /// The findings in each file, by the open text whose analysis found them.
    found: BTreeMap<PathBuf, ByFile>,
    /// The diagnostics that the client has, by file, with the version of the text that it is about.
    sent: BTreeMap<PathBuf, (Option<i32>, Vec<Diagnostic>)>,
}

impl Published {
    /// Returns what is new since the last call, for one open text that changed or for those that were closed; `None` if
    /// there is nothing more. An unchanged list is sent again only for another version of its text.
    pub(super) fn next(
        &mut self,
        documents: &mut Documents,
    ) -> Option<Vec<PublishDiagnosticsParams>> {
        let closed = self
            .found
            .keys()
            .find(|path| !documents.is_open(path))
            .cloned();
        let path = match closed {
            Some(path) => path,
            None => documents.unpublished()?,
        };
        let before = self.found.remove(&path).unwrap_or_default();
        if documents.analyse(&path).is_some() {
            documents.mark_published(&path);
            if let Some((_, Some(analysis))) = documents.get(&path) {
                self.found
                    .insert(path.clone(), by_file(analysis, &path, documents));
            }
        }
        let now = self.found.get(&path);
        let mut files: Vec<PathBuf> = before.into_keys().collect();
        files.extend(now.into_iter().flat_map(BTreeMap::keys).cloned());
        files.sort();
        files.dedup();
        Some(
            files
                .into_iter()
                .filter_map(|file| self.publish(&file, documents))
                .collect(),
        )
    }

    /// Returns the message about a file, if the client does not have it.
    fn publish(&mut self, file: &Path, documents: &Documents) -> Option<PublishDiagnosticsParams> {
        let open = documents.get(file).map(|(document, _)| document);
        // An open text publishes its own diagnostics; other files get those found by the texts that import them.
        let mut all = Vec::new();
        for (path, found) in &self.found {
            if open.is_none() || path == file {
                for finding in found.get(file).into_iter().flatten() {
                    if !all.contains(finding) {
                        all.push(finding.clone());
                    }
                }
            }
        }
        let version = open.map(|open| open.version);
        let new = (version, all.clone());
        let is_known = match self.sent.get(file) {
            Some(sent) => *sent == new,
            None => all.is_empty() && open.is_none(),
        };
        if is_known {
            return None;
        }
        self.sent.insert(file.to_owned(), new);
        let uri = open.map_or_else(|| convert::uri(file), |open| Some(open.uri.clone()));
        Some(PublishDiagnosticsParams::new(uri?, all, version))
    }
}

/// Returns the findings of an analysis by file. Diagnostics in another open text are published with that text.
pub(super) fn by_file(analysis: &Analysis, path: &Path, documents: &Documents) -> ByFile {
    let mut all = ByFile::from([(path.to_owned(), Vec::new())]);
    for found in analysis.diagnostics() {
        if let Some(file) = file_of(analysis.sources(), found.span().file, path)
            && (file == path || !documents.is_open(&file))
        {
            let found = lsp_diagnostic(found, analysis.sources(), path);
            all.entry(file).or_default().push(found);
        }
    }
    all
}

/// Returns the findings in files that are not open, as a part of a report about the text that imports them.
#[allow(
    clippy::mutable_key_type,
    reason = "the protocol's type maps addresses, which nothing changes"
)]
pub(super) fn related(found: ByFile) -> Option<HashMap<Uri, DocumentDiagnosticReportKind>> {
    let report = |items| {
        DocumentDiagnosticReportKind::Full(FullDocumentDiagnosticReport {
            result_id: None,
            items,
        })
    };
    let all = found.into_iter();
    let all = all.filter_map(|(file, items)| Some((convert::uri(&file)?, report(items))));
    let all: HashMap<Uri, DocumentDiagnosticReportKind> = all.collect();
    (!all.is_empty()).then_some(all)
}

/// Returns the identity of the latest analysis of a text.
pub(super) fn result_id(document: &Document) -> String {
    document.analyses.to_string()
}

/// Converts a diagnostic to the protocol.
pub(super) fn lsp_diagnostic(
    found: &diagnostic::Diagnostic,
    sources: &SourceMap,
    spec: &Path,
) -> Diagnostic {
    let file = sources.get(found.span().file);
    let mut message = found.message.clone();
    if !found.primary.message.is_empty() {
        message = format!("{message}: {}", found.primary.message);
    }
    for note in &found.notes {
        message = format!("{message}\n{note}");
    }
    let related: Vec<DiagnosticRelatedInformation> = found
        .secondary
        .iter()
        .filter_map(|label| {
            Some(DiagnosticRelatedInformation {
                location: location(sources, label.span, spec)?,
                message: label.message.clone(),
            })
        })
        .collect();
    let unused = found.code == Code::G0902;
    Diagnostic {
        range: convert::range(file, found.span()),
        severity: Some(convert::severity(found.severity)),
        code: Some(NumberOrString::String(found.code.as_str().to_owned())),
        code_description: description(found.code),
        source: Some("guard".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        tags: unused.then(|| vec![DiagnosticTag::UNNECESSARY]),
        ..Diagnostic::default()
    }
}

/// Returns a link to the page about a code.
fn description(code: Code) -> Option<CodeDescription> {
    let path = shown::file(&format!("{}.md", code.as_str()), code.page())?;
    let href = convert::uri(&path)?;
    Some(CodeDescription { href })
}

/// Returns a location that the editor can open.
pub(super) fn location(sources: &SourceMap, span: Span, spec: &Path) -> Option<Location> {
    let file = sources.get(span.file);
    let path = match file_of(sources, span.file, spec) {
        Some(path) => path,
        None => shown::file(file.name().strip_prefix("std/")?, file.text())?,
    };
    Some(Location::new(
        convert::uri(&path)?,
        convert::range(file, span),
    ))
}

/// Returns the path of a file that took part, or `None` for modules of the library.
fn file_of(sources: &SourceMap, file: FileId, spec: &Path) -> Option<PathBuf> {
    if file == FileId(0) {
        return Some(spec.to_owned());
    }
    let path = PathBuf::from(sources.get(file).name());
    path.is_absolute().then_some(path)
}
