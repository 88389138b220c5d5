//! From the path or text of a spec, or of a compiled one, to a checked spec with everything it imports.
//!
//! Together with `input/open.rs` this is the only place of the library that opens files.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::artifact::{self, Artifact};
use crate::check;
use crate::diagnostic::Diagnostic;
use crate::hir;
use crate::lint;
use crate::modules::Loader;
use crate::source::{FileId, SourceMap};

/// A spec that was read and checked.
#[derive(Debug)]
pub struct Loaded {
    /// The texts of all files that took part.
    pub sources: SourceMap,
    /// The texts of imported files, by path below the spec's folder.
    pub(crate) imports: BTreeMap<String, artifact::Text>,
    /// The solved tables of models, if the spec was compiled with them.
    pub models: Vec<artifact::KeptModel>,
    /// All diagnostics, sorted by position.
    pub diagnostics: Vec<Diagnostic>,
    /// The core form; `None` exactly if a diagnostic is an error.
    pub spec: Option<hir::Spec>,
}

/// A file that cannot be read as a spec, before any of its text was parsed.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The operating system refused.
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

impl Loaded {
    /// Reads and checks the spec or compiled spec at `path`; `-` is the standard input.
    ///
    /// A spec with errors is returned with its diagnostics.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn from_path(path: &Path) -> Result<Loaded, LoadError> {
        let text = text_of(path)?;
        if !artifact::is_artifact(&text) {
            let name = if path == Path::new("-") {
                "<stdin>".to_owned()
            } else {
                path.display().to_string()
            };
            return Ok(Loaded::from_source(&name, &text, &folder_of(path)));
        }
        Loaded::from_compiled(&path.display().to_string(), &text)
    }

    /// Reads and checks the text of a compiled spec; `name` stands for its file in messages.
    ///
    /// # Errors
    /// [`LoadError::Compiled`].
    pub(crate) fn from_compiled(name: &str, text: &str) -> Result<Loaded, LoadError> {
        let refused = |reason: String| LoadError::Compiled {
            path: name.to_owned(),
            reason,
        };
        let artifact = artifact::read(text).map_err(refused)?;
        let mut loaded = Loaded::from_source(
            &artifact.spec.name,
            &artifact.spec.text,
            &Embedded(&artifact.imports),
        );
        if artifact::hash(&loaded.sources) != artifact.blake3 {
            return Err(refused(format!(
                "was compiled with another standard library (guard {}) or was modified; compile the spec again",
                artifact.tool
            )));
        }
        if !artifact.models.is_empty() && artifact.tool != env!("CARGO_PKG_VERSION") {
            return Err(refused(format!(
                "contains tables of guard {}; compile the spec again",
                artifact.tool
            )));
        }
        loaded.models = artifact.models;
        Ok(loaded)
    }

    /// Returns what is needed to compile the spec again: its texts, and the tables of models that it has.
    pub fn artifact(&self) -> Artifact {
        let file = self.sources.get(FileId(0));
        Artifact {
            guardc: "spec".to_owned(),
            version: artifact::VERSION,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            blake3: artifact::hash(&self.sources),
            spec: artifact::Text {
                name: file.name().to_owned(),
                text: file.text().to_owned(),
            },
            imports: self.imports.clone(),
            models: self.models.clone(),
            properties: Vec::new(),
            plans: Vec::new(),
            decisions: Vec::new(),
        }
    }

    /// Checks a text; `name` stands for its file in diagnostics, and `loader` supplies what it imports.
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
            diagnostics: found.diagnostics,
            spec: found.spec,
        }
    }

    /// Checks the same spec with one more item at its end.
    #[must_use]
    pub fn with_item(&self, item: &str) -> Loaded {
        let file = self.sources.get(FileId(0));
        let text = format!("{}\n{item}", file.text());
        Loaded::from_source(file.name(), &text, &Embedded(&self.imports))
    }

    /// Adds the findings of the linter. Returns the number of requirements whose sentence was compared with its formula.
    pub fn lint(&mut self) -> usize {
        let limits = lint::Limits::default();
        let found = self.spec.as_ref();
        found.map_or(0, |spec| lint::add(spec, &mut self.diagnostics, &limits))
    }
}

/// Returns the text of a file that the user named; `-` is the standard input.
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

/// Returns the text of a file that a spec or an editor names. Pipes and devices are refused: reading them may never end.
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

/// Imports from the folder of the spec, never from outside it.
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

/// Imports that were read before.
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

/// Keeps what was imported, for compiled specs.
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
