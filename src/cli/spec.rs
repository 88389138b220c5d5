//! From the name of a spec (or of a compiled one) to a checked spec: the files that takes, and what is told on the way.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::artefact;
use super::failure::{Failure, code};
use super::output::stderr_paint;
use crate::check;
use crate::diagnostic::{self, Diagnostic, RenderOptions, Severity};
use crate::hir;
use crate::lint;
use crate::project::Loader;
use crate::source::{FileId, SourceMap};

/// A spec that was read and checked.
#[derive(Debug)]
pub(super) struct Checked {
    /// All texts that took part.
    pub(super) sources: SourceMap,
    /// The texts of imported files, by path below the spec's folder.
    pub(super) imports: BTreeMap<String, artefact::Text>,
    /// What was solved of models, where the spec was compiled with them.
    pub(super) models: Vec<artefact::KeptModel>,
    /// What was found, in order of position.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The spec, where nothing is wrong with it.
    pub(super) spec: Option<hir::Spec>,
}

impl Checked {
    /// Adds what the linter finds.
    pub(super) fn lint(&mut self) {
        if let Some(spec) = &self.spec {
            let found = lint::lint(spec, &self.diagnostics, &lint::Limits::default());
            self.diagnostics.extend(found);
            diagnostic::sort(&mut self.diagnostics);
        }
    }
}

/// Reads and checks the spec at `path` (`-`: the standard input).
///
/// # Errors
/// The file cannot be read, or is a compiled spec that this tool cannot use.
pub(super) fn check(path: &Path) -> Result<Checked, Failure> {
    let text = text_of(path)?;
    if artefact::is_artefact(&text) {
        let wrong = |reason: String| Failure::Usage(format!("`{}` {reason}", path.display()));
        let artefact = artefact::read(&text).map_err(wrong)?;
        let mut checked = compile(
            &artefact.spec.name,
            &artefact.spec.text,
            &Embedded(&artefact.imports),
        );
        if artefact::hash(&checked.sources) != artefact.blake3 {
            return Err(wrong(format!(
                "was compiled with another standard library (guard {}) or was changed; compile the spec again",
                artefact.tool
            )));
        }
        if !artefact.models.is_empty() && artefact.tool != env!("CARGO_PKG_VERSION") {
            return Err(wrong(format!(
                "holds tables of guard {}; compile the spec again",
                artefact.tool
            )));
        }
        checked.models = artefact.models;
        return Ok(checked);
    }
    let name = if path == Path::new("-") {
        "<stdin>".to_owned()
    } else {
        path.display().to_string()
    };
    Ok(compile(&name, &text, &folder_of(path)))
}

/// Reads and checks a spec that is to be used: tells what was found, and ends where something is wrong.
///
/// # Errors
/// As [`check`], and where the spec has errors.
pub(super) fn usable(path: &Path) -> Result<(hir::Spec, Checked), Failure> {
    let mut checked = check(path)?;
    tell(&checked.diagnostics, &checked.sources);
    match checked.spec.take() {
        Some(spec) => Ok((spec, checked)),
        None => Err(Failure::Told(code::USAGE)),
    }
}

/// A spec that was read already, with one more item at its end. Only errors are told.
///
/// # Errors
/// Where the item is wrong.
pub(super) fn with_item(checked: &Checked, item: &str) -> Result<(hir::Spec, Checked), Failure> {
    try_item(checked, item).map_err(|checked| {
        tell(&checked.diagnostics, &checked.sources);
        Failure::Told(code::USAGE)
    })
}

/// As [`with_item`], and tells nothing.
///
/// # Errors
/// What was found, where the item is wrong.
pub(super) fn try_item(
    checked: &Checked,
    item: &str,
) -> Result<(hir::Spec, Checked), Box<Checked>> {
    let file = checked.sources.get(FileId(0));
    let text = format!("{}\n{item}", file.text());
    let mut checked = compile(file.name(), &text, &Embedded(&checked.imports));
    match checked.spec.take() {
        Some(spec) => Ok((spec, checked)),
        None => Err(Box::new(checked)),
    }
}

/// Draws diagnostics on the error output; hints are for `guard check` and editors.
pub(super) fn tell(diagnostics: &[Diagnostic], sources: &SourceMap) {
    let shown: Vec<Diagnostic> = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity != Severity::Hint)
        .cloned()
        .collect();
    if !shown.is_empty() {
        let options = RenderOptions {
            color: stderr_paint().colour,
        };
        let _ =
            std::io::stderr().write_all(diagnostic::render(&shown, sources, options).as_bytes());
    }
}

fn compile(name: &str, text: &str, loader: &dyn Loader) -> Checked {
    let recording = Recording {
        inner: loader,
        seen: RefCell::default(),
    };
    let found = crate::front(name, text, &recording, check::Limits::default());
    Checked {
        sources: found.sources,
        imports: recording.seen.into_inner(),
        models: Vec::new(),
        diagnostics: found.diagnostics,
        spec: found.spec,
    }
}

/// The text of a file that the user named.
///
/// # Errors
/// It cannot be read, or is not UTF-8.
pub(super) fn text_of(path: &Path) -> Result<String, Failure> {
    let failed =
        |reason: &str| Failure::Usage(format!("cannot read `{}`: {reason}", path.display()));
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin()
            .read_to_end(&mut bytes)
            .map_err(|error| failed(&error.to_string()))?;
    } else {
        if path.is_dir() {
            return Err(failed("it is a folder; name the `.guard` file in it"));
        }
        bytes = std::fs::read(path).map_err(|error| failed(&error.to_string()))?;
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = 1 + error
            .as_bytes()
            .iter()
            .take(error.utf8_error().valid_up_to())
            .filter(|b| **b == b'\n')
            .count();
        failed(&format!("it is not UTF-8 (line {line})"))
    })
}

/// What the spec at this path may import.
pub(super) fn folder_of(path: &Path) -> impl Loader + use<> {
    let root = match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    Folder { root }
}

/// Imports from the folder of the spec, and never from outside it.
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
            return Err("a link leads out of the folder".to_owned());
        }
        let text = std::fs::read_to_string(&real).map_err(|error| error.to_string())?;
        let shown = file.strip_prefix("./").unwrap_or(&file);
        Ok((text, shown.display().to_string()))
    }
}

/// Imports that were read before.
struct Embedded<'a>(&'a BTreeMap<String, artefact::Text>);

impl Loader for Embedded<'_> {
    fn load(&self, path: &str) -> Result<(String, String), String> {
        let found = self
            .0
            .get(path)
            .ok_or("the compiled spec does not hold it")?;
        Ok((found.text.clone(), found.name.clone()))
    }
}

/// Keeps what was imported, for compiled specs.
struct Recording<'a> {
    inner: &'a dyn Loader,
    seen: RefCell<BTreeMap<String, artefact::Text>>,
}

impl Loader for Recording<'_> {
    fn load(&self, path: &str) -> Result<(String, String), String> {
        let (text, name) = self.inner.load(path)?;
        let kept = artefact::Text {
            name: name.clone(),
            text: text.clone(),
        };
        self.seen.borrow_mut().insert(path.to_owned(), kept);
        Ok((text, name))
    }
}
