//! The open texts, what they import, and their analyses.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use lsp_types::{
    InitializeParams, TextDocumentContentChangeEvent, Uri, WorkspaceFolder,
    WorkspaceFoldersChangeEvent,
};
use walkdir::WalkDir;

use super::{convert, shown};
use crate::editor::{self, Analysis};
use crate::load::{folder_of, regular_file};
use crate::modules::Loader;
use crate::source::SourceFile;

/// The number of parent folders in which the imports of a file are searched.
const FOLDERS_UP: usize = 8;

/// The greatest number of specs of a workspace that are considered.
const FILES: usize = 10_000;

/// The open documents, by path.
#[derive(Debug)]
pub(super) struct Documents {
    open: BTreeMap<PathBuf, Document>,
    /// The folders that are open in the editor; imports are not searched above them.
    roots: Vec<PathBuf>,
    /// The specs below the roots; `None` if files came or went since they were listed.
    listed: RefCell<Option<Vec<PathBuf>>>,
    /// The path that changed last.
    latest: PathBuf,
}

/// An open text.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) uri: Uri,
    pub(super) version: i32,
    text: String,
    /// Computed on demand.
    analysis: Option<Analysis>,
    /// The number of analyses so far: the identity of the latest one.
    pub(super) analyses: u64,
    /// The imports at the last analysis.
    imports: Vec<String>,
    /// The files that the analysis read.
    asked: BTreeSet<PathBuf>,
    /// The spec whose event the conditions of this module are about, once it was searched.
    importer: Option<Option<PathBuf>>,
    /// Whether its findings were published since it changed.
    pub(super) published: bool,
}

impl Documents {
    pub(super) fn new(params: &InitializeParams) -> Documents {
        let folders = params.workspace_folders.iter().flatten();
        let mut roots: Vec<PathBuf> = folders
            .filter_map(|folder| convert::path(&folder.uri))
            .collect();
        if roots.is_empty() {
            #[allow(deprecated, reason = "clients without several folders name one root")]
            roots.extend(params.root_uri.as_ref().and_then(convert::path));
        }
        Documents {
            open: BTreeMap::new(),
            roots,
            listed: RefCell::default(),
            latest: PathBuf::new(),
        }
    }

    /// Follows the folders that the user adds to the workspace and removes from it.
    pub(super) fn folders_changed(&mut self, change: &WorkspaceFoldersChangeEvent) {
        let path = |folder: &WorkspaceFolder| convert::path(&folder.uri);
        let removed: Vec<PathBuf> = change.removed.iter().filter_map(path).collect();
        self.roots.retain(|root| !removed.contains(root));
        for added in change.added.iter().filter_map(path) {
            if !self.roots.contains(&added) {
                self.roots.push(added);
            }
        }
        self.files_moved();
    }

    /// Opens a text, or replaces it; this may change the meaning of texts that import it.
    pub(super) fn open(&mut self, uri: Uri, version: i32, text: String) {
        let Some(path) = convert::path(&uri) else {
            return;
        };
        let known = self.open.get(&path).map_or(0, |document| document.analyses);
        self.latest.clone_from(&path);
        self.open.insert(
            path.clone(),
            Document {
                uri,
                version,
                text,
                analysis: None,
                analyses: known,
                imports: Vec::new(),
                asked: BTreeSet::new(),
                importer: None,
                published: false,
            },
        );
        self.came_or_went(&path);
    }

    /// Applies changes to an open text. Returns whether other open texts are to be analysed anew.
    pub(super) fn change(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
    ) -> bool {
        let Some(path) = convert::path(uri) else {
            return false;
        };
        let Some(document) = self.open.get_mut(&path) else {
            return false;
        };
        for change in changes {
            let Some(range) = change.range else {
                document.text = change.text;
                continue;
            };
            let file = SourceFile::new("", std::mem::take(&mut document.text));
            let at = |position| convert::offset(&file, position) as usize;
            let (start, end) = (at(range.start), at(range.end));
            let mut text = file.text().to_owned();
            text.replace_range(start..end.max(start), &change.text);
            document.text = text;
        }
        document.version = version;
        self.latest.clone_from(&path);
        self.changed(&path)
    }

    pub(super) fn close(&mut self, uri: &Uri) {
        if let Some(path) = convert::path(uri) {
            self.open.remove(&path);
            self.came_or_went(&path);
        }
    }

    /// Discards the analyses that used a file. Returns whether there are any besides the file's own.
    pub(super) fn changed(&mut self, path: &Path) -> bool {
        let mut others = false;
        for (own, document) in &mut self.open {
            if own == path || document.asked.contains(path) {
                document.discard();
                others |= own != path;
            }
        }
        others
    }

    /// Discards the analyses that may use a file that was opened, closed, created or deleted.
    pub(super) fn came_or_went(&mut self, path: &Path) {
        self.files_moved();
        if let Some(document) = self.open.get_mut(path) {
            document.discard();
        }
    }

    /// Discards the analyses that depend on which files there are.
    fn files_moved(&mut self) {
        self.listed.replace(None);
        for document in self.open.values_mut() {
            document.importer = None;
            if !document.asked.is_empty() || document.is_bare() {
                document.discard();
            }
        }
    }

    /// Returns the analysis of an open text.
    pub(super) fn analysis(&mut self, uri: &Uri) -> Option<&Analysis> {
        let path = convert::path(uri)?;
        self.analyse(&path)?;
        self.open.get(&path)?.analysis.as_ref()
    }

    /// Returns an open text with its analysis, if it has one.
    pub(super) fn get(&self, path: &Path) -> Option<(&Document, Option<&Analysis>)> {
        let document = self.open.get(path)?;
        Some((document, document.analysis.as_ref()))
    }

    pub(super) fn is_open(&self, path: &Path) -> bool {
        self.open.contains_key(path)
    }

    pub(super) fn mark_published(&mut self, path: &Path) {
        if let Some(document) = self.open.get_mut(path) {
            document.published = true;
        }
    }

    /// Returns the next open text whose findings are to be published: the one that changed last first.
    pub(super) fn unpublished(&self) -> Option<PathBuf> {
        let unpublished = |path: &&PathBuf| {
            self.open
                .get(*path)
                .is_some_and(|document| !document.published)
        };
        let latest = Some(&self.latest).filter(unpublished);
        latest
            .or_else(|| self.open.keys().find(unpublished))
            .cloned()
    }

    /// Analyses an open text if it was not analysed since it changed.
    pub(super) fn analyse(&mut self, path: &Path) -> Option<()> {
        let document = self.open.get(path)?;
        if document.analysis.is_some() {
            return Some(());
        }
        let name = path.display().to_string();
        let read = |loader: &Reader<'_>| Analysis::new(&name, &document.text, loader);
        let imports = editor::imports(&document.text);
        let alone = Reader::new(self, self.root_of(path, &imports), None);
        let mut analysis = read(&alone);
        let mut asked = alone.asked.into_inner();
        let mut importer = document.importer.clone();
        if !analysis.has_event() {
            let find = || {
                let snapshot = Snapshot::new(self);
                editor::importer(&snapshot, &name).map(PathBuf::from)
            };
            let spec = importer.get_or_insert_with(find).clone();
            if let Some(spec) = spec
                && let Some(text) = self.text(&spec)
            {
                let root = self.root_of(&spec, &editor::imports(&text));
                let within = Reader::new(self, root, Some((text, &spec)));
                analysis = read(&within);
                asked.append(&mut within.asked.into_inner());
                asked.insert(spec);
            }
        }
        let document = self.open.get_mut(path)?;
        document.analysis = Some(analysis);
        document.analyses += 1;
        document.asked = asked;
        document.importer = importer;
        if document.imports != imports {
            document.imports = imports;
            self.modules_moved(path);
        }
        Some(())
    }

    /// Discards the analyses of modules without an event, because another spec may import them now.
    fn modules_moved(&mut self, by: &Path) {
        let others = self.open.iter_mut().filter(|(path, _)| *path != by);
        for (_, document) in others {
            document.importer = None;
            if document.is_bare() {
                document.discard();
            }
        }
    }

    /// Calls a function with the loader that the latest analysis of an open text used for its imports.
    pub(super) fn reader<T>(&self, path: &Path, run: impl FnOnce(&dyn Loader) -> T) -> Option<T> {
        let document = self.open.get(path)?;
        let importer = document.importer.as_ref().and_then(Option::as_ref);
        let importer = importer.and_then(|spec| Some((self.text(spec)?, spec.as_path())));
        let root = match &importer {
            Some((text, spec)) => self.root_of(spec, &editor::imports(text)),
            None => self.root_of(path, &document.imports),
        };
        Some(run(&Reader::new(self, root, importer)))
    }

    /// Returns the text of a file: the open text, otherwise the text on disk.
    fn text(&self, path: &Path) -> Option<String> {
        match self.open.get(path) {
            Some(document) => Some(document.text.clone()),
            None if path.is_absolute() => regular_file(path).ok(),
            None => None,
        }
    }

    /// Returns the folder below which a file's imports are: the nearest one above it that contains all of them, since a
    /// module in a folder of its own is imported from the spec's folder. Its own folder if there is none.
    fn root_of(&self, path: &Path, imports: &[String]) -> PathBuf {
        let own = path.parent().unwrap_or(Path::new("/"));
        if imports.is_empty() {
            return own.to_owned();
        }
        let found = |folder: &Path| {
            let mut files = imports.iter().map(|file| folder.join(file));
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

    /// Returns the specs of the workspace: those below its folders, and for open files outside of them those in the same
    /// folder and in the one above.
    fn files(&self) -> Vec<PathBuf> {
        let mut listed = self.listed.borrow_mut();
        let listed = listed.get_or_insert_with(|| {
            let outside = self.open.keys().filter(|path| {
                path.is_absolute() && !self.roots.iter().any(|root| path.starts_with(root))
            });
            let beside: BTreeSet<&Path> = outside
                .flat_map(|path| path.ancestors().skip(1).take(2))
                .collect();
            let below = self.roots.iter().map(WalkDir::new);
            let walks = below.chain(
                beside
                    .into_iter()
                    .map(|folder| WalkDir::new(folder).max_depth(1)),
            );
            let entries = walks.flat_map(|walk| {
                let walk = walk.sort_by_file_name().into_iter();
                walk.filter_entry(|entry| entry.depth() == 0 || !is_foreign(entry))
            });
            let specs = entries
                .filter_map(Result::ok)
                .filter(|entry| entry.file_type().is_file())
                .map(walkdir::DirEntry::into_path)
                .filter(|path| path.extension().is_some_and(|ending| ending == "guard"));
            specs.take(FILES).collect()
        });
        let mut all: BTreeSet<PathBuf> = listed.iter().cloned().collect();
        all.extend(self.open.keys().cloned());
        all.into_iter().collect()
    }
}

impl Document {
    /// Whether the last analysis found no `event` block.
    fn is_bare(&self) -> bool {
        let analysis = self.analysis.as_ref();
        analysis.is_some_and(|analysis| !analysis.has_event())
    }

    fn discard(&mut self) {
        self.analysis = None;
        self.published = false;
    }
}

/// Whether a folder contains no specs of the project: hidden folders, build output and downloaded packages.
fn is_foreign(entry: &walkdir::DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    entry.file_type().is_dir()
        && (name.starts_with('.') || name == "target" || name == "node_modules")
}

/// Loads imports from the open texts, or from disk if a file is not open.
struct Reader<'d> {
    documents: &'d Documents,
    root: PathBuf,
    importer: Option<(String, &'d Path)>,
    asked: RefCell<BTreeSet<PathBuf>>,
}

impl<'d> Reader<'d> {
    fn new(
        documents: &'d Documents,
        root: PathBuf,
        importer: Option<(String, &'d Path)>,
    ) -> Reader<'d> {
        Reader {
            documents,
            root,
            importer,
            asked: RefCell::default(),
        }
    }
}

impl Loader for Reader<'_> {
    fn load(&self, path: &str) -> Result<(String, String), String> {
        let file = self.root.join(path);
        self.asked.borrow_mut().insert(file.clone());
        if let Some(document) = self.documents.open.get(&file) {
            return Ok((document.text.clone(), file.display().to_string()));
        }
        if !file.is_absolute() {
            return Err("save the file first, so that it has a folder".to_owned());
        }
        folder_of(&self.root.join("spec.guard")).load(path)
    }

    fn importer(&self) -> Option<(String, String)> {
        let (text, path) = self.importer.as_ref()?;
        Some((text.clone(), path.display().to_string()))
    }
}

/// The current project; files that were read are not read again.
pub(super) struct Snapshot<'d> {
    documents: &'d Documents,
    texts: RefCell<HashMap<String, Option<String>>>,
    folders: RefCell<HashMap<String, PathBuf>>,
}

impl<'d> Snapshot<'d> {
    pub(super) fn new(documents: &'d Documents) -> Snapshot<'d> {
        Snapshot {
            documents,
            texts: RefCell::default(),
            folders: RefCell::default(),
        }
    }
}

impl editor::Workspace for Snapshot<'_> {
    fn files(&self) -> Vec<String> {
        let files = self.documents.files().into_iter();
        files.map(|path| path.display().to_string()).collect()
    }

    fn text(&self, file: &str) -> Option<String> {
        let read = || {
            let path = Path::new(file);
            let own = !shown::contains(path);
            own.then(|| self.documents.text(path)).flatten()
        };
        let mut texts = self.texts.borrow_mut();
        texts.entry(file.to_owned()).or_insert_with(read).clone()
    }

    fn resolve(&self, spec: &str, import: &str) -> String {
        let known = self.folders.borrow().get(spec).cloned();
        let folder = known.unwrap_or_else(|| {
            let text = self.text(spec).unwrap_or_default();
            let imports = editor::imports(&text);
            let folder = self.documents.root_of(Path::new(spec), &imports);
            let mut folders = self.folders.borrow_mut();
            folders.insert(spec.to_owned(), folder.clone());
            folder
        });
        folder.join(import).display().to_string()
    }
}
