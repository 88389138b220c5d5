//! The file of the spec, which `--write` lets the page replace.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::super::durable::files::Replacement;
use super::super::durable::state::Sync;
use super::super::failure::Failure;
use crate::hir::Spec;
use crate::load::Loaded;

/// A spec's file. Its path is resolved once, so that a link that changes later does not lead to another file.
pub(super) struct SpecFile {
    path: PathBuf,
    /// One page saves at a time.
    saving: Mutex<()>,
}

/// The reason why a text was not saved.
pub(super) enum Unsaved {
    /// The file no longer has the text that was changed.
    Changed,
    /// The file cannot be read or replaced.
    Failed(io::Error),
}

impl From<io::Error> for Unsaved {
    fn from(error: io::Error) -> Unsaved {
        Unsaved::Failed(error)
    }
}

/// Returns the name of a text: its hash.
pub(super) fn name_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

impl SpecFile {
    /// Returns the file at a path.
    ///
    /// # Errors
    /// It is not a file that holds the text of the spec, as a compiled spec.
    pub(super) fn new(path: &Path, spec: &Spec, loaded: &Loaded) -> Result<SpecFile, Failure> {
        let refused = |why: &str| {
            Failure::Usage(format!(
                "`--write` cannot replace `{}`: {why}",
                path.display()
            ))
        };
        let resolved = fs::canonicalize(path).map_err(|error| refused(&error.to_string()))?;
        let text = fs::read_to_string(&resolved).map_err(|error| refused(&error.to_string()))?;
        if !resolved.is_file() || text != loaded.sources.get(spec.outline.file).text() {
            return Err(refused("it is not the text of a spec"));
        }
        Ok(SpecFile {
            path: resolved,
            saving: Mutex::new(()),
        })
    }

    /// Replaces the text with this name by another one. Line ends and permissions are kept. Returns the text as it was written.
    ///
    /// # Errors
    /// The file has another text by now, or cannot be replaced; it is then unchanged.
    pub(super) fn save(&self, known: &str, text: &str) -> Result<String, Unsaved> {
        let _turn = self.saving.lock().unwrap_or_else(PoisonError::into_inner);
        let found = fs::symlink_metadata(&self.path)?;
        let before = fs::read(&self.path)?;
        let before = String::from_utf8(before).map_err(|_| Unsaved::Changed)?;
        if !found.is_file() || name_of(&before) != known {
            return Err(Unsaved::Changed);
        }
        // A browser gives every line the same end.
        let text = match before.contains("\r\n") {
            true => text.replace("\r\n", "\n").replace('\n', "\r\n"),
            false => text.to_owned(),
        };
        let mut made = Replacement::of_named(self.path.clone())?;
        made.fill(text.as_bytes(), Sync::Disk)?;
        made.finish(Sync::Disk)?;
        Ok(text)
    }
}
