//! Files that are appended to, replaced and read as a whole.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt};
use std::path::{Path, PathBuf};

use super::state::{ONLY_ME, Sync};
use crate::cli::failure::Failure;
use crate::cli::secrets::check_owner;
use crate::inert::inert;

/// A file to which bytes are appended completely or not at all.
#[derive(Debug)]
pub(crate) struct Appended {
    file: File,
    /// Its device and number.
    pub(crate) identity: (u64, u64),
    /// The number of complete bytes.
    pub(crate) len: u64,
}

impl Appended {
    /// Truncates a file to this many bytes and moves to its end.
    pub(crate) fn new(file: File, path: &Path, len: usize) -> Result<Appended, Failure> {
        let wrong = |error: io::Error| failed("write", path, &error);
        let mut appended = Appended {
            identity: identity(&file.metadata().map_err(wrong)?),
            file,
            len: len as u64,
        };
        appended.cut_back().map_err(wrong)?;
        Ok(appended)
    }

    /// Adds bytes, all or none of them. The file must still be the one at `path`: bytes of a file without a name are lost when
    /// the process ends.
    pub(crate) fn add(&mut self, bytes: &[u8], path: &Path, sync: Sync) -> io::Result<()> {
        let written = self
            .file
            .write_all(bytes)
            .and_then(|()| settle(sync, &self.file))
            .and_then(|()| std::fs::symlink_metadata(path))
            .and_then(|found| match identity(&found) == self.identity {
                true => Ok(()),
                false => Err(io::Error::other("another file has replaced it")),
            });
        match written {
            Ok(()) => {
                self.len += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                self.cut_back()?;
                Err(error)
            }
        }
    }

    pub(crate) fn cut_back(&mut self) -> io::Result<()> {
        self.file.set_len(self.len)?;
        self.file.seek(SeekFrom::Start(self.len)).map(drop)
    }
}

pub(crate) fn failed(what: &str, path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::Files(format!("cannot {what} `{}`: {error}", path.display()))
}

/// Returns the failure for a file that cannot be continued, perhaps because it belongs to another spec or model.
pub(crate) fn not_continued(
    what: &str,
    path: &Path,
    error: &dyn std::fmt::Display,
    is_foreign: bool,
) -> Failure {
    match failed(what, path, error) {
        Failure::Files(why) if is_foreign => Failure::Foreign(why),
        failure => failure,
    }
}

/// Returns what tells a file from others.
pub(crate) fn identity(file: &std::fs::Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// Returns the folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    folder.unwrap_or(Path::new("."))
}

/// Reads a file as a whole. A device or a pipe may be endless.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    check_file(path)?;
    std::fs::read(path).map_err(|error| failed("read", path, &error))
}

/// Refuses a path that is not one of a file.
fn check_file(path: &Path) -> Result<(), Failure> {
    match std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        true => Err(failed("use", path, &"not a regular file")),
        false => Ok(()),
    }
}

/// Refuses what is there and no file of a monitor: a link may come to lead elsewhere, and another user who owns the file or its
/// folder, or everybody who can write one of them, can change the history. What a group can write is its owner's choice.
pub(crate) fn check_own_file(path: &Path) -> Result<(), Failure> {
    let wrong = |path: &Path, why: String| Err(failed("use", path, &why));
    let everybody = "everybody can write it; run `chmod o-w`";
    if let Ok(found) = std::fs::symlink_metadata(path) {
        match check_owner(&found) {
            _ if !found.is_file() => return wrong(path, "not a regular file".to_owned()),
            Err(why) => return wrong(path, why),
            Ok(()) if found.mode() & 0o002 != 0 => return wrong(path, everybody.to_owned()),
            Ok(()) => {}
        }
    }
    let folder = folder_of(path);
    let Ok(about) = std::fs::metadata(folder) else {
        return Ok(());
    };
    match check_owner(&about) {
        Err(why) => wrong(folder, why),
        // In a folder with the sticky bit, such as `/tmp`, only owners rename and remove files.
        Ok(()) if about.mode() & 0o1002 == 0o002 => wrong(folder, everybody.to_owned()),
        Ok(()) => Ok(()),
    }
}

/// Opens a file that only one monitor may use at a time.
pub(crate) fn open(path: &Path) -> Result<File, Failure> {
    check_own_file(path)?;
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(ONLY_ME)
        .open(path);
    let file = file.map_err(|error| failed("open", path, &error))?;
    // Another monitor may have replaced the file since it was opened.
    let is_named = || {
        let named = std::fs::symlink_metadata(path).map(|named| identity(&named));
        let opened = file.metadata().map(|opened| identity(&opened));
        matches!((named, opened), (Ok(named), Ok(opened)) if named == opened)
    };
    match file.try_lock() {
        Ok(()) if is_named() => Ok(file),
        Ok(()) | Err(std::fs::TryLockError::WouldBlock) => {
            Err(failed("use", path, &"in use by another monitor"))
        }
        Err(std::fs::TryLockError::Error(error)) => Err(failed("lock", path, &error)),
    }
}

pub(crate) fn contents(file: &mut File, path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = io::Read::read_to_end(file, &mut bytes);
    read.map_err(|error| failed("read", path, &error))?;
    Ok(bytes)
}

/// Reports data that was being written when the process ended.
pub(crate) fn cut(path: &Path, len: usize, whole: usize) {
    if whole < len {
        let _ = writeln!(
            io::stderr(),
            "note: removed the last {} bytes of `{}`: an incomplete write that was never acknowledged",
            len - whole,
            inert(&path.display().to_string())
        );
    }
}

fn settle(sync: Sync, file: &File) -> io::Result<()> {
    match sync {
        Sync::Disk => file.sync_data(),
        Sync::System => Ok(()),
    }
}

/// Flushes the folder so that the name of a new file is on disk. Some systems do not support this, which is not an
/// error.
pub(crate) fn settle_folder(path: &Path) {
    if let Ok(folder) = File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
}

/// Replaces a file atomically.
pub(crate) fn replace(path: &Path, bytes: &[u8], sync: Sync) -> io::Result<()> {
    let mut made = Replacement::begin(path.to_owned(), &part_of_process(), ONLY_ME)?;
    made.fill(bytes, sync)?;
    made.finish(sync)
}

/// The mode of a new file that the user named, before what the user's mask takes away.
const NAMED: u32 = 0o666;

/// The ending of a file that is about to replace another one, and that nobody else writes.
pub(crate) fn part_of_process() -> String {
    format!("{}.part", std::process::id())
}

/// The ending of a file that is about to replace another one, and that a log names.
pub(crate) const NEXT: &str = "next";

/// Returns the path of the file that is about to replace another one.
pub(crate) fn with_ending(path: &Path) -> PathBuf {
    let mut next = path.as_os_str().to_owned();
    next.push(format!(".{NEXT}"));
    PathBuf::from(next)
}

/// The file that will replace another one; it is removed if it does not.
#[derive(Debug)]
pub(crate) struct Replacement {
    path: PathBuf,
    part: PathBuf,
    file: File,
    stays: bool,
}

impl Replacement {
    /// Creates it with this mode, under the name of the other one with this ending.
    pub(crate) fn begin(path: PathBuf, ending: &str, mode: u32) -> io::Result<Replacement> {
        let mut part = path.as_os_str().to_owned();
        part.push(format!(".{ending}"));
        let part = PathBuf::from(part);
        // What has this name, a link or a pipe perhaps, is neither followed nor written to.
        if let Err(error) = std::fs::remove_file(&part)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&part)?;
        Ok(Replacement {
            path,
            part,
            file,
            stays: false,
        })
    }

    /// Creates it for a file that the user named: with the permissions of the file that is there, or those of a new one.
    pub(crate) fn of_named(path: PathBuf) -> io::Result<Replacement> {
        let before = std::fs::symlink_metadata(&path).map(|found| found.permissions());
        let mode = before.as_ref().map_or(NAMED, PermissionsExt::mode);
        let made = Replacement::begin(path, &part_of_process(), mode)?;
        if let Ok(before) = before {
            // The user's mask took some away when it was created.
            made.file.set_permissions(before)?;
        }
        Ok(made)
    }

    /// Returns the path of the file that it replaces.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes room for so many bytes, so that a full disk shows before anything depends on it.
    pub(crate) fn reserve(&mut self, room: usize) -> io::Result<()> {
        self.file.write_all(&vec![b' '; room])
    }

    /// Writes its content.
    pub(crate) fn fill(&mut self, bytes: &[u8], sync: Sync) -> io::Result<()> {
        self.file.rewind()?;
        self.file.write_all(bytes)?;
        self.file.set_len(bytes.len() as u64)?;
        settle(sync, &self.file)
    }

    /// Locks it, as the other one is, and returns it.
    pub(crate) fn hold(&self) -> io::Result<File> {
        self.file.try_lock()?;
        self.file.try_clone()
    }

    /// Keeps it even if it cannot be put in place: another file names it.
    pub(crate) fn stay(&mut self) {
        self.stays = true;
    }

    /// Puts it in the place of the other one.
    pub(crate) fn finish(self, sync: Sync) -> io::Result<()> {
        std::fs::rename(&self.part, &self.path)?;
        if sync == Sync::Disk {
            settle_folder(&self.path);
        }
        Ok(())
    }
}

/// Writes on from the end, for what is made piece by piece.
impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // Nothing has this name any more if it was put in place.
        if !self.stays {
            let _ = std::fs::remove_file(&self.part);
        }
    }
}
