//! The files of a session that hooks judge.
//!
//! `STEM` is a hash of the session's id, with that of the sub-agent behind it if each agent is judged by itself.
//!
//! | file | holds |
//! |---|---|
//! | `STEM.lock` | the stems that have begun, or why there is no history; calls of one session come one after another; its mode says whether an outcome was lost |
//! | `STEM.state`, `STEM.journal`, `STEM.log` | see [`crate::cli::durable::state`] |
//! | `STEM.calls` | see [`crate::cli::durable::calls`]; it is there before all others |
//! | `STEM.calls.next` | the list that is about to replace it |
//! | `STEM.open/` | marks of outcomes that are being judged; one that nobody holds was never put on record; `any`: those that each agent may have had |

mod marks;
mod removal;

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

pub(super) use self::marks::Mark;
use crate::cli::durable::files::check_own_file;
use crate::cli::durable::state::ONLY_ME;
use crate::cli::secrets::check_owner;
use crate::integrations::hook::{Call, Scope};
use crate::integrations::short_hash;

/// The line of `STEM.lock` that says that a person has reset the session, and the one that says that its history was removed because
/// it was old. Two others say which calls share a history, and one that an outcome may be one of any agent. All others are stems.
const RESET: &str = "reset";
const AGED: &str = "aged";
const OF_SESSION: &str = "scope session";
const OF_AGENTS: &str = "scope agent";
const ANYBODYS: &str = "anybody";

/// The files of one session.
#[derive(Debug)]
pub(super) struct Session {
    folder: PathBuf,
    /// That of the session.
    session: String,
    /// That of the session or of the sub-agent.
    stem: String,
    lock: Option<File>,
}

fn of(error: &std::io::Error, path: &Path) -> String {
    format!("`{}`: {error}", path.display())
}

impl Session {
    /// Returns the session of a call, or the sub-agent that made it.
    pub(super) fn of(folder: Option<&Path>, call: &Call) -> Result<Session, String> {
        let mut session = Session::unlocked(folder, call.session())?;
        session.turn_to(call);
        Ok(session)
    }

    /// Turns to the files of the sub-agent that made a call, if each agent is judged by itself.
    pub(super) fn turn_to(&mut self, call: &Call) {
        self.stem.clone_from(&self.session);
        if let (Scope::Agent, Some(agent)) = (call.scope(), call.agent()) {
            let agent = short_hash(&blake3::hash(agent.as_bytes()));
            self.stem = format!("{}-{agent}", self.session);
        }
    }

    /// Returns the hash that the names of the files begin with.
    pub(super) fn stem(&self) -> &str {
        &self.stem
    }

    fn unlocked(folder: Option<&Path>, id: &str) -> Result<Session, String> {
        let folder = match folder {
            Some(folder) => folder.to_owned(),
            None => default_folder()?,
        };
        make_folder(&folder)?;
        let stem = short_hash(&blake3::hash(id.as_bytes()));
        Ok(Session {
            folder,
            session: stem.clone(),
            stem,
            lock: None,
        })
    }

    /// Returns a file of the session.
    pub(super) fn file(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.stem))
    }

    /// Returns the files of the main agent, without the lock.
    pub(super) fn main(&self) -> Session {
        self.with_stem(self.session.clone())
    }

    fn with_stem(&self, stem: String) -> Session {
        Session {
            folder: self.folder.clone(),
            session: self.session.clone(),
            stem,
            lock: None,
        }
    }

    /// Returns the sub-agents whose calls are judged by themselves, with the lock of the session held: those that have begun, and those
    /// that have marked an outcome.
    pub(super) fn agents(&mut self) -> Result<Vec<Session>, String> {
        let begin = format!("{}-", self.session);
        let begun = self.begun()?;
        let begun = begun.lines().filter(|line| line.starts_with(&begin));
        let mut stems: BTreeSet<String> = begun.map(str::to_owned).collect();
        let entries = std::fs::read_dir(&self.folder).map_err(|error| of(&error, &self.folder))?;
        for entry in entries {
            let name = entry.map_err(|error| of(&error, &self.folder))?.file_name();
            let name = name.to_str().filter(|name| name.starts_with(&begin));
            stems.extend(name.and_then(|name| Some(name.strip_suffix(".open")?.to_owned())));
        }
        Ok(stems.into_iter().map(|stem| self.with_stem(stem)).collect())
    }

    /// Returns whether a sub-agent has begun, with the lock of the session held.
    pub(super) fn has_begun(&mut self, agent: &Session) -> Result<bool, String> {
        let begun = self.begun()?;
        Ok(has_line(&begun, &agent.stem))
    }

    /// Keeps in the lock that any agent may have had an outcome.
    pub(super) fn note_anybodys(&mut self) -> Result<(), String> {
        match has_line(&self.begun()?, ANYBODYS) {
            true => Ok(()),
            false => self.append(ANYBODYS),
        }
    }

    /// Whether the agent has not begun, and an outcome may be its own.
    pub(super) fn begins_after_anybodys(&mut self) -> Result<bool, String> {
        let begun = self.begun()?;
        Ok(has_line(&begun, ANYBODYS) && !has_line(&begun, &self.stem))
    }

    /// Adds a line to the lock.
    fn append(&mut self, line: &str) -> Result<(), String> {
        let written = self.lock.as_mut().map(|lock| writeln!(lock, "{line}"));
        written
            .transpose()
            .map_err(|error| of(&error, &self.file("lock")))?;
        Ok(())
    }

    /// Checks that the session was not begun with another `--scope`: its calls have no history there.
    pub(super) fn check_scope(&mut self, scope: Scope) -> Result<(), String> {
        let begun = self.begun()?;
        let other = match scope {
            Scope::Session => OF_AGENTS,
            Scope::Agent => OF_SESSION,
        };
        match has_line(&begun, other) {
            true => Err(format!("the session was begun with `--{other}`")),
            false => Ok(()),
        }
    }

    /// Returns the lines of the lock.
    fn begun(&mut self) -> Result<String, String> {
        let mut begun = String::new();
        if let Some(lock) = self.lock.as_mut() {
            let read = lock.rewind().and_then(|()| lock.read_to_string(&mut begun));
            read.map_err(|error| of(&error, &self.file("lock")))?;
        }
        Ok(begun)
    }

    /// Checks that the files of the session are files, since to open a pipe waits for its other end, and that others cannot write them.
    pub(super) fn check_files(&self) -> Result<(), String> {
        for ending in [
            "calls",
            "calls.next",
            "state",
            "state.next",
            "journal",
            "log",
        ] {
            is_own_file(&self.file(ending))?;
        }
        Ok(())
    }

    /// Returns why the session, or the sub-agent, cannot begin: calls of it were judged before. Its files are missing, so that
    /// only the lock and logs that were set aside can say so.
    pub(super) fn had_history(&mut self) -> Result<Option<String>, String> {
        let begun = self.begun()?;
        let has = |line: &str| has_line(&begun, line);
        if has(AGED) {
            let why = "the history of the session was removed so many days after its last call (`--keep`)";
            return Ok(Some(why.to_owned()));
        }
        if has(&self.stem) {
            return Ok(Some(format!(
                "`{}` is missing",
                self.file("calls").display()
            )));
        }
        if has(RESET) {
            return Ok(None);
        }
        let entries = std::fs::read_dir(&self.folder).map_err(|error| of(&error, &self.folder))?;
        let log = entries.flatten().map(|entry| entry.path()).find(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            let rest = name.and_then(|name| name.strip_prefix(&self.stem));
            rest.is_some_and(|rest| rest.starts_with('.') && rest.ends_with(".log"))
        });
        Ok(log.map(|log| {
            let (lock, log) = (self.file("lock"), log.display());
            format!(
                "`{log}` is the log of a history that is missing, and so is `{}`",
                lock.display()
            )
        }))
    }

    /// Keeps in the lock that calls are judged from now on.
    pub(super) fn begin(&mut self, scope: Scope) -> Result<(), String> {
        let begun = self.begun()?;
        if has_line(&begun, &self.stem) {
            return Ok(());
        }
        let scope = match scope {
            Scope::Session => OF_SESSION,
            Scope::Agent => OF_AGENTS,
        };
        let mut line = self.stem.clone();
        if !has_line(&begun, scope) {
            line.insert_str(0, &format!("{scope}\n"));
        }
        self.append(&line)
    }

    /// Waits until no other process judges calls of the session. Refuses folders that others can write: only here, since an outcome
    /// is marked in such a folder too.
    pub(super) fn lock(&mut self) -> Result<(), String> {
        for folder in [&self.folder, &self.file("open")] {
            check_mode(folder)?;
        }
        let path = self.folder.join(format!("{}.lock", self.session));
        is_own_file(&path)?;
        loop {
            let file = lock_file(&path).map_err(|error| of(&error, &path))?;
            file.lock().map_err(|error| of(&error, &path))?;
            if is_still(&file, &path) {
                self.lock = Some(file);
                return Ok(());
            }
        }
    }
}

/// Whether the text of a lock has a line.
fn has_line(begun: &str, line: &str) -> bool {
    begun.lines().any(|other| other == line)
}

fn is_missing(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::NotFound
}

/// Checks that a path is that of a file, or of nothing.
fn is_file(path: &Path) -> Result<(), String> {
    match std::fs::symlink_metadata(path) {
        Ok(about) if !about.is_file() => Err(format!("`{}`: not a regular file", path.display())),
        _ => Ok(()),
    }
}

/// Checks the same, and that nobody else can write the file.
fn is_own_file(path: &Path) -> Result<(), String> {
    check_own_file(path).map_err(|failure| failure.to_string())
}

fn lock_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .create(true)
        .read(true)
        .append(true)
        .mode(ONLY_ME)
        .open(path)
}

/// Whether a file still has the name that it was opened by.
fn is_still(file: &File, path: &Path) -> bool {
    let same = |(here, there): (std::fs::Metadata, std::fs::Metadata)| {
        (here.dev(), here.ino()) == (there.dev(), there.ino())
    };
    file.metadata()
        .ok()
        .zip(std::fs::metadata(path).ok())
        .is_some_and(same)
}

fn make_folder(path: &Path) -> Result<(), String> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| of(&error, path))
}

/// Refuses a folder that others can write, or that belongs to another user.
fn check_mode(folder: &Path) -> Result<(), String> {
    let about = match std::fs::metadata(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        about => about.map_err(|error| of(&error, folder))?,
    };
    check_owner(&about).map_err(|why| format!("`{}`: {why}", folder.display()))?;
    match about.mode() & 0o022 {
        0 => Ok(()),
        _ => Err(format!(
            "`{}`: others can write the folder",
            folder.display()
        )),
    }
}

/// Returns an id as a word of a shell.
fn shown(id: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match !id.is_empty() && id.chars().all(plain) {
        true => id.to_owned(),
        false => format!("'{}'", id.escape_debug().to_string().replace('\'', "'\\''")),
    }
}

fn default_folder() -> Result<PathBuf, String> {
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    // as the standard says, one that is relative counts for nothing: an agent changes folders
    set("XDG_STATE_HOME")
        .filter(|folder| folder.is_absolute())
        .or_else(|| Some(set("HOME")?.join(".local/state")))
        .map(|state| state.join("guard/hook"))
        .ok_or_else(|| "no home folder found; give a folder with `--state`".to_owned())
}
