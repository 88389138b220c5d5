//! Texts of the program that an editor can open: library modules and pages about diagnostics.

use std::fs::{DirBuilder, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The folder of shown files, which this process made.
static SHOWN: OnceLock<Option<PathBuf>> = OnceLock::new();

/// Returns the path of a file with this name and text.
///
/// The folder is new, has a name that nobody can predict, and is accessible to its owner only; files in it are created, never
/// opened. So links of other users in the folder for temporary files are never followed.
pub(super) fn file(name: &str, text: &str) -> Option<PathBuf> {
    let path = SHOWN.get_or_init(private_folder).as_ref()?.join(name);
    let mut options = OpenOptions::new();
    match options.write(true).create_new(true).open(&path) {
        Ok(mut shown) => {
            shown.write_all(text.as_bytes()).ok()?;
            let mut permissions = shown.metadata().ok()?.permissions();
            permissions.set_readonly(true);
            shown.set_permissions(permissions).ok()?;
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(_) => return None,
    }
    Some(path)
}

/// Whether a file is one of the shown files, which are not part of any project.
pub(super) fn contains(path: &Path) -> bool {
    let folder = SHOWN.get().and_then(Option::as_ref);
    folder.is_some_and(|folder| path.starts_with(folder))
}

/// Returns a new folder inside the folder for temporary files.
fn private_folder() -> Option<PathBuf> {
    // the hash keys of the standard library are a source of random numbers
    let random = || RandomState::new().build_hasher().finish();
    let name = format!("guard-std-{:016x}{:016x}", random(), random());
    let folder = std::env::temp_dir().join(name);
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder).ok()?;
    Some(folder)
}

/// Removes the shown files.
pub(super) fn remove() {
    if let Some(Some(folder)) = SHOWN.get() {
        // a remaining folder contains no secrets, and the next one has another name
        drop(std::fs::remove_dir_all(folder));
    }
}
