//! Loads a spec or compiled spec from a path or text, and checks it with its imports.
//!
//! Together with `input/open.rs` this is the only module of the library that opens files.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::artifact::{self, Artifact, KeptSpec, Origin};
use crate::check;
use crate::diagnostic::Diagnostic;
use crate::eval::KeptAutomata;
use crate::hir;
use crate::lint;
use crate::modules::Loader;
use crate::source::{FileId, SourceMap};
use crate::stdlib;

/// A spec that was read and checked.
#[derive(Debug)]
pub struct Loaded {
    /// The texts of all files.
    pub sources: SourceMap,
    /// The texts of imported files, by path below the spec's folder.
    pub(crate) imports: BTreeMap<String, artifact::Text>,
    /// The solved tables of models, if the spec was compiled with them.
    pub models: Vec<artifact::KeptModel>,
    /// The automata of the spec, if it was compiled with them.
    pub automata: Arc<KeptAutomata>,
    /// All diagnostics, sorted by position.
    pub diagnostics: Vec<Diagnostic>,
    /// The core form; `None` exactly if a diagnostic is an error.
    pub spec: Option<hir::Spec>,
    /// The hash of the texts, computed at first use.
    hash: OnceLock<String>,
}

/// The reason why a file cannot be read as a spec, before parsing.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The operating system reported an error.
    #[error("cannot read `{path}`: {reason}")]
    Unreadable {
        /// The path as given.
        path: String,
        /// The reason.
        reason: io::Error,
    },
    /// The path names a folder.
    #[error("cannot read `{0}`: it is a folder; give the path of the `.guard` file in it")]
    Folder(String),
    /// The text is not UTF-8.
    #[error("cannot read `{path}`: not UTF-8 (line {line})")]
    NotUtf8 {
        /// The path as given.
        path: String,
        /// The 1-based line of the first invalid byte.
        line: usize,
    },
    /// A compiled spec that this version cannot use.
    #[error("`{path}` {reason}")]
    Compiled {
        /// The path as given.
        path: String,
        /// The reason, as the rest of a sentence.
        reason: String,
    },
}

/// The message for a compiled spec whose compiled form does not match its texts.
const MODIFIED: &str = "is damaged or was modified; compile the spec again";

impl LoadError {
    fn compiled(name: &str, reason: String) -> LoadError {
        LoadError::Compiled {
            path: name.to_owned(),
            reason,
        }
    }
}

impl Loaded {
    /// Reads and checks the spec or compiled spec at `path`; `-` is the standard input. A compiled spec that this build checked
    /// is not checked again.
    ///
    /// A spec with errors is returned with its diagnostics.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn from_path(path: &Path) -> Result<Loaded, LoadError> {
        Loaded::read(path, Loaded::from_compiled)
    }

    /// Loads as [`from_path`](Self::from_path), but checks the texts of a compiled spec again and compares the result
    /// with the compiled form.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn rechecked(path: &Path) -> Result<Loaded, LoadError> {
        Loaded::read(path, Loaded::from_rechecked)
    }

    /// Reads the file at a path; calls `from_compiled` if it is a compiled spec.
    fn read(
        path: &Path,
        from_compiled: impl FnOnce(&str, &str) -> Result<Loaded, LoadError>,
    ) -> Result<Loaded, LoadError> {
        let text = text_of(path)?;
        if !artifact::is_artifact(&text) {
            let name = if path == Path::new("-") {
                "<stdin>".to_owned()
            } else {
                path.display().to_string()
            };
            return Ok(Loaded::from_source(&name, &text, &folder_of(path)));
        }
        from_compiled(&path.display().to_string(), &text)
    }

    /// Reads the text of a compiled spec, and checks it if another build compiled it; `name` is its file name in messages.
    ///
    /// # Errors
    /// [`LoadError::Compiled`].
    pub(crate) fn from_compiled(name: &str, text: &str) -> Result<Loaded, LoadError> {
        let refused = |reason| LoadError::compiled(name, reason);
        let artifact = artifact::read(text).map_err(refused)?;
        let loaded = match &artifact.checked {
            Some(kept) if kept.is_ours() => {
                let kept = Loaded::from_kept(&artifact, kept);
                kept.ok_or_else(|| refused(MODIFIED.to_owned()))?
            }
            _ => Loaded::from_texts(&artifact),
        };
        loaded.completed(name, artifact)
    }

    /// Loads the text of a compiled spec, and compares the form that this build compiled with its texts.
    fn from_rechecked(name: &str, text: &str) -> Result<Loaded, LoadError> {
        let refused = |reason| LoadError::compiled(name, reason);
        let artifact = artifact::read(text).map_err(refused)?;
        let mut loaded = Loaded::from_texts(&artifact);
        let kept = artifact.checked.as_ref().filter(|kept| kept.is_ours());
        if let Some(kept) = kept {
            let spec = loaded.spec.take().map(Arc::new);
            let again = spec.as_ref().and_then(|spec| {
                let (sources, imports) = (&loaded.sources, &loaded.imports);
                KeptSpec::new(spec, sources, imports, &loaded.diagnostics)
            });
            if again.as_ref() != Some(kept) {
                return Err(refused(MODIFIED.to_owned()));
            }
            loaded.spec = spec.and_then(Arc::into_inner);
        }
        loaded.completed(name, artifact)
    }

    /// Checks the texts of a compiled spec.
    fn from_texts(artifact: &Artifact) -> Loaded {
        let imports = Embedded(&artifact.imports);
        Loaded::from_source(&artifact.spec.name, &artifact.spec.text, &imports)
    }

    /// Returns the form that this build compiled; `None` if it is damaged or was compiled from other texts.
    fn from_kept(artifact: &Artifact, kept: &KeptSpec) -> Option<Loaded> {
        let checked = kept.read()?;
        let mut sources = SourceMap::new();
        for origin in &checked.files {
            let (name, text) = match origin {
                Origin::Spec => artifact.spec.parts(),
                Origin::Import(path) => artifact.imports.get(path)?.parts(),
                Origin::Library(module) => {
                    let (name, text) = stdlib::module(&[module])?;
                    sources.add_contained(name, text);
                    continue;
                }
            };
            sources.add(name, text);
        }
        (checked.texts == artifact.blake3).then(|| Loaded {
            sources,
            imports: artifact.imports.clone(),
            models: Vec::new(),
            automata: Arc::new(checked.automata),
            diagnostics: checked.diagnostics,
            spec: Arc::into_inner(checked.spec),
            hash: OnceLock::new(),
        })
    }

    /// Adds the models of a compiled spec whose texts are unchanged.
    fn completed(mut self, name: &str, artifact: Artifact) -> Result<Loaded, LoadError> {
        let refused = |reason| Err(LoadError::compiled(name, reason));
        if self.hash() != artifact.blake3 {
            return refused(format!(
                "was compiled with another standard library (guard {}) or was modified; compile the spec again",
                artifact.tool
            ));
        }
        if !artifact.models.is_empty() && artifact.tool != env!("CARGO_PKG_VERSION") {
            return refused(format!(
                "contains tables of guard {}; compile the spec again",
                artifact.tool
            ));
        }
        self.models = artifact.models;
        Ok(self)
    }

    /// Returns BLAKE3 of all texts in order; names do not count, so a spec may move.
    pub fn hash(&self) -> &str {
        self.hash.get_or_init(|| artifact::hash(&self.sources))
    }

    /// Returns BLAKE3 of the tokens of all texts in order: comments, documentation and blank lines do not count. Specs with the same tokens judge
    /// alike, so one goes on with the state of the other.
    pub fn token_hash(&self) -> String {
        artifact::token_hash(&self.sources)
    }

    /// Returns the artifact of this spec: its texts, the tables of its models, and the compiled form. `spec` and `diagnostics`
    /// must come from `self`.
    pub fn artifact(&self, spec: &Arc<hir::Spec>, diagnostics: &[Diagnostic]) -> Artifact {
        let file = self.sources.get(FileId(0));
        Artifact {
            guardc: "spec".to_owned(),
            version: artifact::VERSION,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            blake3: self.hash().to_owned(),
            spec: artifact::Text {
                name: file.name().to_owned(),
                text: file.text().to_owned(),
            },
            imports: self.imports.clone(),
            checked: KeptSpec::new(spec, &self.sources, &self.imports, diagnostics),
            models: self.models.clone(),
            properties: Vec::new(),
            plans: Vec::new(),
            decisions: Vec::new(),
        }
    }

    /// Checks a text; `name` is its file name in diagnostics, and `loader` supplies its imports.
    pub fn from_source(name: &str, text: &str, loader: &dyn Loader) -> Loaded {
        let recording = Recording {
            inner: loader,
            seen: RefCell::default(),
        };
        let found = crate::front(name, text, &recording, check::Limits::default());
        Loaded {
            sources: found.sources,
            imports: recording.seen.into_inner(),
            models: Vec::new(),
            automata: Arc::default(),
            diagnostics: found.diagnostics,
            spec: found.spec,
            hash: OnceLock::new(),
        }
    }

    /// Checks the same spec with one more item at the end.
    #[must_use]
    pub fn with_item(&self, item: &str) -> Loaded {
        let file = self.sources.get(FileId(0));
        let text = format!("{}\n{item}", file.text());
        Loaded::from_source(file.name(), &text, &Embedded(&self.imports))
    }

    /// Adds the findings of the linter. Returns the number of requirements whose sentence was compared with the
    /// formula.
    pub fn lint(&mut self) -> usize {
        let limits = lint::Limits::default();
        let found = self.spec.as_ref();
        found.map_or(0, |spec| lint::add(spec, &mut self.diagnostics, &limits))
    }
}

/// Returns the text of a file named by the user; `-` is the standard input.
///
/// # Errors
/// The file cannot be read, or is not UTF-8.
pub fn text_of(path: &Path) -> Result<String, LoadError> {
    let shown = || path.display().to_string();
    let unreadable = |reason| LoadError::Unreadable {
        path: shown(),
        reason,
    };
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().read_to_end(&mut bytes).map_err(unreadable)?;
    } else if path.is_dir() {
        return Err(LoadError::Folder(shown()));
    } else {
        bytes = std::fs::read(path).map_err(unreadable)?;
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error
            .as_bytes()
            .iter()
            .take(error.utf8_error().valid_up_to());
        LoadError::NotUtf8 {
            path: shown(),
            line: 1 + valid.filter(|byte| **byte == b'\n').count(),
        }
    })
}

/// Returns the text of a file named by a spec or an editor. Pipes and devices are rejected: reading them may never end.
///
/// # Errors
/// Those of the system, and files that are not regular.
pub fn regular_file(path: &Path) -> io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("expected a regular file"));
    }
    std::fs::read_to_string(path)
}

/// Returns the loader for the imports of the spec at this path.
pub fn folder_of(path: &Path) -> impl Loader + use<> {
    let root = match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    Folder { root }
}

/// Loads imports from the folder of the spec, never from outside it.
struct Folder {
    root: PathBuf,
}

impl Loader for Folder {
    fn load(&self, path: &str) -> Result<(String, String), String> {
        let file = self.root.join(path);
        let real = file.canonicalize().map_err(|error| error.to_string())?;
        let root = self
            .root
            .canonicalize()
            .map_err(|error| error.to_string())?;
        if !real.starts_with(&root) {
            return Err("a link points outside the folder".to_owned());
        }
        let text = regular_file(&real).map_err(|error| error.to_string())?;
        let shown = file.strip_prefix("./").unwrap_or(&file);
        Ok((text, shown.display().to_string()))
    }
}

/// Imports that were already read.
struct Embedded<'a>(&'a BTreeMap<String, artifact::Text>);

impl Loader for Embedded<'_> {
    fn load(&self, path: &str) -> Result<(String, String), String> {
        let found = self
            .0
            .get(path)
            .ok_or("not contained in the compiled spec")?;
        Ok((found.text.clone(), found.name.clone()))
    }
}

/// Records the imports that are loaded, for compiled specs.
struct Recording<'a> {
    inner: &'a dyn Loader,
    seen: RefCell<BTreeMap<String, artifact::Text>>,
}

impl Loader for Recording<'_> {
    fn load(&self, path: &str) -> Result<(String, String), String> {
        let (text, name) = self.inner.load(path)?;
        let kept = artifact::Text {
            name: name.clone(),
            text: text.clone(),
        };
        self.seen.borrow_mut().insert(path.to_owned(), kept);
        Ok((text, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::NoFiles;

    /// A compiled spec whose compiled form does not match its texts is used like any other text, but rejected when its texts
    /// are checked.
    #[test]
    fn what_is_compiled_is_that_of_the_texts() {
        let text =
            |field: &str| format!("event {{ a: bool  b: bool }}\nproperty p = never {field}\n");
        let loaded = |text: &str| {
            let mut loaded = Loaded::from_source("a.guard", text, &NoFiles);
            let spec = Arc::new(loaded.spec.take().expect("a spec"));
            (loaded, spec)
        };
        let ((shown, spec), (_, other)) = (loaded(&text("a")), loaded(&text("b")));
        let written = |spec: &Arc<hir::Spec>| {
            serde_json::to_string(&shown.artifact(spec, &shown.diagnostics)).expect("JSON")
        };
        let (honest, forged) = (written(&spec), written(&other));
        for compiled in [&honest, &forged] {
            assert!(Loaded::from_compiled("a.guardc", compiled).is_ok());
        }
        assert!(Loaded::from_rechecked("a.guardc", &honest).is_ok());
        let refused = Loaded::from_rechecked("a.guardc", &forged).expect_err("refused");
        assert!(refused.to_string().contains(MODIFIED), "{refused}");
    }
}
