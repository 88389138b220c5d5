//! Texts of the program that an editor can open: library modules and pages about diagnostics.

use std::fs::{DirBuilder, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The folder of shown files.
static SHOWN: Mutex<Option<Folder>> = Mutex::new(None);

/// A folder that this process made.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    identity: Identity,
}

/// Device, number and owner of a folder: another one of the same name differs in them.
type Identity = [u64; 3];

/// Returns the path of a file with this name and text.
///
/// The folder is new, has a name that nobody can predict, and is accessible to its owner only; files in it are created, never
/// opened. So links of other users in the folder for temporary files are never followed, nor is one in its place after a
/// cleaner of old files removed it: then there is a new folder.
pub(super) fn file(name: &str, text: &str) -> Option<PathBuf> {
    let mut folder = SHOWN.lock().ok()?;
    if folder.as_ref().is_none_or(Folder::is_gone) {
        *folder = Some(Folder::new()?);
    }
    let path = folder.as_ref()?.path.join(name);
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
    let folder = SHOWN.lock().ok();
    folder.is_some_and(|folder| {
        let folder = folder.as_ref();
        folder.is_some_and(|folder| path.starts_with(&folder.path))
    })
}

/// Removes the shown files.
pub(super) fn remove() {
    if let Ok(Some(folder)) = SHOWN.lock().as_deref()
        && !folder.is_gone()
    {
        // a remaining folder contains no secrets, and the next one has another name
        drop(std::fs::remove_dir_all(&folder.path));
    }
}

impl Folder {
    /// Makes a folder inside the folder for temporary files.
    fn new() -> Option<Folder> {
        // the hash keys of the standard library are a source of random numbers
        let random = || RandomState::new().build_hasher().finish();
        let name = format!("guard-std-{:016x}{:016x}", random(), random());
        let path = std::env::temp_dir().join(name);
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path).ok()?;
        let identity = identity(&path)?;
        Some(Folder { path, identity })
    }

    /// Whether the folder was removed, even if something else has its name now.
    fn is_gone(&self) -> bool {
        identity(&self.path) != Some(self.identity)
    }
}

/// Returns the identity of a folder, or `None` if it is a link or a file.
fn identity(path: &Path) -> Option<Identity> {
    let found = std::fs::symlink_metadata(path).ok()?;
    #[cfg(unix)]
    let identity = {
        use std::os::unix::fs::MetadataExt;
        [found.dev(), found.ino(), found.uid().into()]
    };
    #[cfg(not(unix))]
    let identity = [0; 3];
    found.is_dir().then_some(identity)
}
