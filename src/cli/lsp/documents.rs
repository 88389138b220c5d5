//! The open texts, what they import, and their analyses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, InitializeParams, Location, NumberOrString,
    PublishDiagnosticsParams, Uri,
};

use super::convert;
use crate::diagnostic;
use crate::editor::Analysis;
use crate::load::folder_of;
use crate::modules::Loader;
use crate::source::{FileId, SourceFile, SourceMap, Span};
use crate::syntax::{self, ast};

/// The number of parent folders in which the imports of a file are searched.
const FOLDERS_UP: usize = 8;

/// The open documents, by path.
#[derive(Debug)]
pub(super) struct Documents {
    open: BTreeMap<PathBuf, Document>,
    /// The folders that the editor has open; imports are not looked for above them.
    roots: Vec<PathBuf>,
    /// The files whose findings were published last time, by the document that produced them.
    told: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// Whether the client takes definitions with their whole extent.
    pub(super) takes_links: bool,
}

#[derive(Debug)]
struct Document {
    uri: Uri,
    version: i32,
    text: String,
    /// Computed on demand.
    analysis: Option<Analysis>,
    /// Whether its findings were published since it changed.
    told: bool,
}

impl Documents {
    pub(super) fn new(params: &InitializeParams) -> Documents {
        let folders = params.workspace_folders.iter().flatten();
        let of_texts = params.capabilities.text_document.as_ref();
        let of_definitions = of_texts.and_then(|texts| texts.definition.as_ref());
        Documents {
            open: BTreeMap::new(),
            roots: folders
                .filter_map(|folder| convert::path(&folder.uri))
                .collect(),
            told: BTreeMap::new(),
            takes_links: of_definitions.and_then(|client| client.link_support) == Some(true),
        }
    }

    /// Opens or changes a text; the meaning of texts that import it may change.
    pub(super) fn set(&mut self, uri: Uri, version: i32, text: String) {
        let Some(path) = convert::path(&uri) else {
            return;
        };
        self.files_changed();
        self.open.insert(
            path,
            Document {
                uri,
                version,
                text,
                analysis: None,
                told: false,
            },
        );
    }

    pub(super) fn close(&mut self, uri: &Uri) {
        if let Some(path) = convert::path(uri) {
            self.open.remove(&path);
            self.files_changed();
        }
    }

    /// Discards every analysis.
    pub(super) fn files_changed(&mut self) {
        for document in self.open.values_mut() {
            document.analysis = None;
            document.told = false;
        }
    }

    /// Returns the analysis of an open text.
    pub(super) fn analysis(&mut self, uri: &Uri) -> Option<&Analysis> {
        let path = convert::path(uri)?;
        self.analyse(&path)?;
        self.open.get(&path)?.analysis.as_ref()
    }

    fn analyse(&mut self, path: &Path) -> Option<()> {
        let document = self.open.get(path)?;
        if document.analysis.is_some() {
            return Some(());
        }
        let loader = Workspace {
            open: &self.open,
            root: self.root_of(path, &document.text),
        };
        let name = path.display().to_string();
        let analysis = Analysis::new(&name, &document.text, &loader);
        self.open.get_mut(path)?.analysis = Some(analysis);
        Some(())
    }

    /// Returns the folder below which a file's imports are: the nearest one above it that contains all of them, since a
    /// module in a folder of its own is imported from the spec's folder. Its own folder if there is none.
    fn root_of(&self, path: &Path, text: &str) -> PathBuf {
        let own = path.parent().unwrap_or(Path::new("/"));
        let wanted = imports(text);
        if wanted.is_empty() {
            return own.to_owned();
        }
        let found = |folder: &Path| {
            let mut files = wanted.iter().map(|file| folder.join(file));
            files.all(|file| self.open.contains_key(&file) || file.is_file())
        };
        for folder in own.ancestors().take(FOLDERS_UP) {
            if found(folder) {
                return folder.to_owned();
            }
            if self.roots.iter().any(|root| root == folder) {
                break;
            }
        }
        own.to_owned()
    }

    /// Returns the findings in the texts that changed since the last call, by file; a file without findings any more is
    /// published as such.
    pub(super) fn findings(&mut self) -> Vec<PublishDiagnosticsParams> {
        let mut all = Vec::new();
        let closed: Vec<PathBuf> = self
            .told
            .keys()
            .filter(|path| !self.open.contains_key(*path))
            .cloned()
            .collect();
        for path in closed {
            for file in self.told.remove(&path).into_iter().flatten() {
                if let (false, Some(uri)) = (self.open.contains_key(&file), convert::uri(&file)) {
                    all.push(PublishDiagnosticsParams::new(uri, Vec::new(), None));
                }
            }
        }
        let changed: Vec<PathBuf> = self
            .open
            .iter()
            .filter(|(_, document)| !document.told)
            .map(|(path, _)| path.clone())
            .collect();
        for path in changed {
            if self.analyse(&path).is_none() {
                continue;
            }
            all.extend(self.findings_of(&path));
            if let Some(document) = self.open.get_mut(&path) {
                document.told = true;
            }
        }
        all
    }

    fn findings_of(&mut self, path: &Path) -> Vec<PublishDiagnosticsParams> {
        let Some(document) = self.open.get(path) else {
            return Vec::new();
        };
        let Some(analysis) = &document.analysis else {
            return Vec::new();
        };
        let mut by_file: BTreeMap<PathBuf, Vec<Diagnostic>> = BTreeMap::new();
        by_file.insert(path.to_owned(), Vec::new());
        for found in analysis.diagnostics() {
            let at = found.span().file;
            let file = file_of(analysis.sources(), at, path);
            // An open import tells its own findings.
            if let Some(file) = file
                && (file == path || !self.open.contains_key(&file))
            {
                let told = lsp_diagnostic(found, analysis.sources(), path);
                by_file.entry(file).or_default().push(told);
            }
        }
        let files: BTreeSet<PathBuf> = by_file.keys().cloned().collect();
        let before = self.told.get(path).cloned().unwrap_or_default();
        for gone in before.difference(&files) {
            if !self.open.contains_key(gone) {
                by_file.entry(gone.clone()).or_default();
            }
        }
        let (uri, version) = (document.uri.clone(), document.version);
        self.told.insert(path.to_owned(), files);
        by_file
            .into_iter()
            .filter_map(|(file, found)| {
                Some(if file == path {
                    PublishDiagnosticsParams::new(uri.clone(), found, Some(version))
                } else {
                    PublishDiagnosticsParams::new(convert::uri(&file)?, found, None)
                })
            })
            .collect()
    }
}

/// Returns a finding in the words of the protocol.
fn lsp_diagnostic(found: &diagnostic::Diagnostic, sources: &SourceMap, spec: &Path) -> Diagnostic {
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
    Diagnostic {
        range: convert::range(file, found.span()),
        severity: Some(convert::severity(found.severity)),
        code: Some(NumberOrString::String(found.code.as_str().to_owned())),
        source: Some("guard".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..Diagnostic::default()
    }
}

/// Returns a place as the editor can open it.
pub(super) fn location(sources: &SourceMap, span: Span, spec: &Path) -> Option<Location> {
    let file = sources.get(span.file);
    let path = match file_of(sources, span.file, spec) {
        Some(path) => path,
        None => embedded(file)?,
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

/// The folder of library modules that are shown, which this process made.
static SHOWN: OnceLock<Option<PathBuf>> = OnceLock::new();

/// Returns a module of the library as a file that an editor can show.
///
/// The folder is new, has a name that nobody can predict, and is its owner's alone; files in it are created, never opened.
/// So no link that somebody else left in the folder for temporary files is followed.
fn embedded(file: &SourceFile) -> Option<PathBuf> {
    let name = file.name().strip_prefix("std/")?;
    let path = SHOWN.get_or_init(private_folder).as_ref()?.join(name);
    let mut options = OpenOptions::new();
    match options.write(true).create_new(true).open(&path) {
        Ok(mut shown) => shown.write_all(file.text().as_bytes()).ok()?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(_) => return None,
    }
    Some(path)
}

/// Returns a new folder below the one for temporary files.
fn private_folder() -> Option<PathBuf> {
    // the keys of the standard library's hash maps are the random numbers at hand
    let random = || RandomState::new().build_hasher().finish();
    let name = format!("guard-std-{:016x}{:016x}", random(), random());
    let folder = std::env::temp_dir().join(name);
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder).ok()?;
    Some(folder)
}

/// Removes what [`embedded`] made.
pub(super) fn remove_embedded() {
    if let Some(Some(folder)) = SHOWN.get() {
        // a folder that is left behind is empty of secrets, and the next one has another name
        drop(std::fs::remove_dir_all(folder));
    }
}

/// Returns the files that a text imports, below the folder of the spec.
fn imports(text: &str) -> Vec<PathBuf> {
    let (tree, _) = syntax::parse(&SourceFile::new("", text));
    let uses = tree.items.iter().filter_map(|item| match &item.kind {
        ast::ItemKind::Use(import) => Some(import),
        _ => None,
    });
    uses.filter(|import| {
        import
            .path
            .first()
            .is_some_and(|name| name.as_str() != "std")
    })
    .map(|import| {
        let path: PathBuf = import.path.iter().map(ast::Name::as_str).collect();
        path.with_extension("guard")
    })
    .collect()
}

/// Imports from the open texts, and from the disk where a file is not open.
struct Workspace<'d> {
    open: &'d BTreeMap<PathBuf, Document>,
    root: PathBuf,
}

impl Loader for Workspace<'_> {
    fn load(&self, path: &str) -> Result<(String, String), String> {
        let file = self.root.join(path);
        if let Some(document) = self.open.get(&file) {
            return Ok((document.text.clone(), file.display().to_string()));
        }
        folder_of(&self.root.join("spec.guard")).load(path)
    }
}
