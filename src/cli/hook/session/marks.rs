//! Marks of outcomes that are being judged, or were not put on record.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Session, check_mode, is_file, is_missing, make_folder, of};
use crate::cli::durable::calls::LOST;
use crate::cli::durable::state::ONLY_ME;

/// The name of the mark that stands for outcomes of any call: each is one byte of it. So an agent that does not act, or never will again,
/// has one file for all of them.
const ANY: &str = "any";

/// The greatest number of times that a mark is written, if its file is removed meanwhile, and that a folder of marks is removed.
const MOST_TRIES: usize = 10;

/// The mark of an outcome that is being judged, or of one that was not put on record.
#[derive(Debug)]
pub(in crate::cli::hook) struct Mark {
    path: PathBuf,
    text: Vec<u8>,
    /// The file of one's own mark, which is locked while the outcome is being judged.
    _held: Option<File>,
}

impl Mark {
    /// Returns the known part of the outcome; empty if nothing is known of it.
    pub(in crate::cli::hook) fn text(&self) -> &[u8] {
        match self.is_of_any() {
            true => &[],
            false => &self.text,
        }
    }

    /// Whether it stands for outcomes of any call that each agent has.
    pub(in crate::cli::hook) fn is_of_any(&self) -> bool {
        self.path.ends_with(ANY)
    }

    /// Returns the number of outcomes that it stands for.
    pub(in crate::cli::hook) fn n_outcomes(&self) -> usize {
        match self.is_of_any() {
            true => self.text.len(),
            false => 1,
        }
    }

    /// Removes the mark: the outcome is on record.
    pub(in crate::cli::hook) fn remove(self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Session {
    /// Marks an outcome as being judged. It is marked even if there is no room for its text; if there is none for its name either,
    /// the session is.
    pub(in crate::cli::hook) fn mark(&self, text: &str) -> Result<Mark, String> {
        self.try_mark(text).inspect_err(|_| {
            let lock = self.folder.join(format!("{}.lock", self.session));
            let _ = std::fs::set_permissions(lock, Permissions::from_mode(ONLY_ME | LOST));
        })
    }

    /// Whether an outcome of the session could not be marked.
    pub(in crate::cli::hook) fn has_lost(&self) -> bool {
        let about = self.lock.as_ref().and_then(|lock| lock.metadata().ok());
        about.is_some_and(|about| about.mode() & LOST != 0)
    }

    /// Makes the folder of marks, if there is none, and returns it.
    fn make_marks(&self) -> Result<PathBuf, String> {
        let folder = self.file("open");
        if std::fs::symlink_metadata(&folder).is_ok_and(|about| !about.is_dir()) {
            return Err(format!("`{}`: not a folder", folder.display()));
        }
        make_folder(&folder)?;
        Ok(folder)
    }

    fn try_mark(&self, text: &str) -> Result<Mark, String> {
        let mut tries = 0;
        loop {
            let folder = self.make_marks()?;
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            let name = format!(
                "{}-{}",
                std::process::id(),
                since.unwrap_or_default().as_nanos()
            );
            let path = folder.join(&name);
            tries += 1;
            let part = self.file(&format!("{name}.part"));
            let marked = Session::mark_as(text, &part, &path);
            if marked.is_err() {
                let _ = std::fs::remove_file(&part);
            }
            match marked {
                Ok(held) => {
                    return Ok(Mark {
                        path,
                        text: text.as_bytes().to_vec(),
                        _held: Some(held),
                    });
                }
                // A session that ends, or is reset, removes what is left behind.
                Err(error)
                    if error.kind() == std::io::ErrorKind::NotFound && tries < MOST_TRIES => {}
                Err(error) => return Err(of(&error, &path)),
            }
        }
    }

    /// Makes a mark. It is in the folder of marks only when it is locked: one that nobody holds is taken for that of a process that was
    /// killed. It is there before anything is written, which may end the process (a limit on the size of files); of a text that is not
    /// whole nothing is known.
    fn mark_as(text: &str, part: &Path, path: &Path) -> std::io::Result<File> {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(ONLY_ME)
            .open(part)?;
        file.lock()?;
        std::fs::rename(part, path)?;
        if write!(file, "{} {text}", text.len()).is_err() {
            file.set_len(0)?;
        }
        Ok(file)
    }

    /// Marks an outcome of any call as one that is not on record, with the lock of the session held.
    pub(in crate::cli::hook) fn mark_any(&self) -> Result<(), String> {
        let path = self.make_marks()?.join(ANY);
        is_file(&path)?;
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).mode(ONLY_ME).open(&path);
        match file.and_then(|mut file| file.write_all(b"?")) {
            Ok(()) => Ok(()),
            // Where there is no room for a byte, there may be some for a name.
            Err(_) => self.mark("").map(drop),
        }
    }

    /// Returns the marks that no process holds, other than one's own, with the lock of the session held: nobody else takes them. They are
    /// not kept open, since there may be more than a process may open.
    pub(in crate::cli::hook) fn marked(&self, own: Option<&Mark>) -> Result<Vec<Mark>, String> {
        let folder = self.file("open");
        check_mode(&folder)?;
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if is_missing(&error) => return Ok(Vec::new()),
            Err(error) => return Err(of(&error, &folder)),
        };
        let mut marks = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| of(&error, &folder))?.path();
            is_file(&path)?;
            if own.is_some_and(|own| own.path == path) {
                continue;
            }
            match left_mark(&path) {
                Ok(text) => marks.extend(text.map(|text| Mark {
                    path,
                    text,
                    _held: None,
                })),
                // Its process has put it on record.
                Err(error) if is_missing(&error) => {}
                Err(error) => return Err(of(&error, &path)),
            }
        }
        marks.sort_by(|lhs, rhs| lhs.path.cmp(&rhs.path));
        Ok(marks)
    }
}

/// Returns the text of a mark, empty if it is not whole; `None` if a process holds the mark.
///
/// # Errors
/// The mark is gone, or cannot be read.
fn left_mark(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let mut file = File::open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // It was removed by the process that held it, after it was opened here.
    std::fs::metadata(path)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    if path.ends_with(ANY) {
        return Ok(Some(text));
    }
    let space = text.iter().position(|byte| *byte == b' ');
    let (length, whole) = text.split_at(space.map_or(0, |space| space + 1));
    let is_whole = length == format!("{} ", whole.len()).as_bytes();
    Ok(Some(if is_whole { whole.to_vec() } else { Vec::new() }))
}

/// Removes a folder of marks; others may be written to it meanwhile.
pub(super) fn remove_marks(folder: &Path) -> std::io::Result<()> {
    let mut tries = 0;
    loop {
        tries += 1;
        match std::fs::remove_dir_all(folder) {
            Err(error)
                if error.kind() == std::io::ErrorKind::DirectoryNotEmpty && tries < MOST_TRIES => {}
            done => return done,
        }
    }
}
