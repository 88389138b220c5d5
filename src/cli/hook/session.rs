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

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::cli::clock::Witness;
use crate::cli::durable::calls::LOST;
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

/// The name of the mark that stands for outcomes of any call: each is one byte of it. So an agent that does not act, or never will again,
/// has one file for all of them.
const ANY: &str = "any";

/// The greatest number of times that a mark is written, if its file is removed meanwhile, and that a folder of marks is removed.
const MOST_TRIES: usize = 10;

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

/// The mark of an outcome that is being judged, or of one that was not put on record.
#[derive(Debug)]
pub(super) struct Mark {
    path: PathBuf,
    text: Vec<u8>,
    /// The file of one's own mark, which is locked while the outcome is being judged.
    _held: Option<File>,
}

impl Mark {
    /// Returns the known part of the outcome; empty if nothing is known of it.
    pub(super) fn text(&self) -> &[u8] {
        match self.is_of_any() {
            true => &[],
            false => &self.text,
        }
    }

    /// Whether it stands for outcomes of any call that each agent has.
    pub(super) fn is_of_any(&self) -> bool {
        self.path.ends_with(ANY)
    }

    /// Returns the number of outcomes that it stands for.
    pub(super) fn n_outcomes(&self) -> usize {
        match self.is_of_any() {
            true => self.text.len(),
            false => 1,
        }
    }

    /// Removes the mark: the outcome is on record.
    pub(super) fn remove(self) {
        let _ = std::fs::remove_file(&self.path);
    }
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

    /// Returns a session by its id, locked.
    pub(super) fn open(folder: Option<&Path>, id: &str) -> Result<Session, String> {
        let mut session = Session::unlocked(folder, id)?;
        session.lock()?;
        Ok(session)
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

    /// Marks an outcome as being judged. It is marked even if there is no room for its text; if there is none for its name either,
    /// the session is.
    pub(super) fn mark(&self, text: &str) -> Result<Mark, String> {
        self.try_mark(text).inspect_err(|_| {
            let lock = self.folder.join(format!("{}.lock", self.session));
            let _ = std::fs::set_permissions(lock, Permissions::from_mode(ONLY_ME | LOST));
        })
    }

    /// Whether an outcome of the session could not be marked.
    pub(super) fn has_lost(&self) -> bool {
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
    pub(super) fn mark_any(&self) -> Result<(), String> {
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
    pub(super) fn marked(&self, own: Option<&Mark>) -> Result<Vec<Mark>, String> {
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

    /// Returns the message for an error in the files of a session of this id, with a remedy.
    pub(super) fn remedy(why: &str, id: &str) -> String {
        format!(
            "{why}; every call of this session is denied until a person runs `guard hook SPEC --reset {}`, which removes its history and keeps its log",
            shown(id)
        )
    }

    /// Forgets the session, its sub-agents included: its next call begins a new history.
    pub(super) fn reset(&mut self) -> Result<(), String> {
        self.forget()?;
        let path = self.folder.join(format!("{}.lock", self.session));
        let written = self.lock.as_mut().map(|lock| {
            lock.set_permissions(Permissions::from_mode(ONLY_ME))?;
            lock.set_len(0)?;
            writeln!(lock, "{RESET}")
        });
        written.transpose().map_err(|error| of(&error, &path))?;
        Ok(())
    }

    /// Removes the files of the session. Its decision logs stay, under names that no other log has, and so does the lock.
    fn forget(&self) -> Result<(), String> {
        let entries = std::fs::read_dir(&self.folder).map_err(|error| of(&error, &self.folder))?;
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let Some(rest) = name
                .to_str()
                .and_then(|name| name.strip_prefix(&self.session))
            else {
                continue;
            };
            // `STEM.state` or `STEM-AGENT.state`, with `.PID.part` behind it if a process was killed while writing it
            let Some((_, ending)) = rest.split_once('.') else {
                continue;
            };
            let done = match ending {
                "log" => set_aside(&path),
                "open" => remove_marks(&path),
                _ if ending == "lock" || ending.ends_with(".log") => continue,
                _ => std::fs::remove_file(&path),
            };
            // An outcome that is being marked moves its file.
            if done.as_ref().is_err_and(is_missing) {
                continue;
            }
            done.map_err(|error| of(&error, &path))?;
        }
        Ok(())
    }

    /// Removes the histories of other sessions of the folder whose last call is longer ago, and files left by killed processes. The
    /// lock of such a session stays and says so: a session that is resumed later is refused rather than begun anew, since its agent
    /// may know what it read. `witness` reads the time of the last call in a file of calls: a system clock that is set ahead
    /// makes no session old. Errors are ignored: the next call tries again.
    pub(super) fn forget_older(&self, age: Duration, witness: impl Fn(&[u8]) -> Option<Witness>) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else {
            return;
        };
        let Some(oldest) = SystemTime::now().checked_sub(age) else {
            return;
        };
        let mut others: BTreeMap<String, Other> = BTreeMap::new();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                continue;
            };
            let Some(stem) = name.split(['.', '-']).next() else {
                continue;
            };
            let Ok(changed) = entry.metadata().and_then(|of| of.modified()) else {
                continue;
            };
            if stem == self.session {
                // Another process of this session would hold the lock.
                if name.ends_with(".part") {
                    let _ = std::fs::remove_file(entry.path());
                }
                continue;
            }
            let other = others.entry(stem.to_owned()).or_default();
            other.is_young |= changed >= oldest;
            other.has_history |= !name.ends_with(".lock") && !name.ends_with(".log");
            if name.ends_with(".calls") {
                other.calls.push(entry.path());
            }
        }
        let was_judged_since = |calls: &PathBuf| {
            let witness = std::fs::read(calls).ok().and_then(|calls| witness(&calls));
            let elapsed = witness.and_then(|witness| witness.elapsed());
            elapsed.is_some_and(|elapsed| elapsed < age)
        };
        for (stem, other) in others {
            if other.is_young || !other.has_history || other.calls.iter().any(was_judged_since) {
                continue;
            }
            let path = self.folder.join(format!("{stem}.lock"));
            let held = OpenOptions::new().append(true).open(&path);
            let Some(mut file) = held.ok().filter(|file| file.try_lock().is_ok()) else {
                continue;
            };
            // First, so that no process ends between.
            if writeln!(file, "{AGED}").is_err() {
                continue;
            }
            let session = Session {
                folder: self.folder.clone(),
                session: stem.clone(),
                stem,
                lock: Some(file),
            };
            let _ = session.forget();
        }
    }
}

/// The files of another session of the folder.
#[derive(Debug, Default)]
struct Other {
    /// Whether one of its files was changed lately.
    is_young: bool,
    /// Whether it has more than its lock and logs.
    has_history: bool,
    /// The files that say when its last calls were judged.
    calls: Vec<PathBuf>,
}

/// Whether the text of a lock has a line.
fn has_line(begun: &str, line: &str) -> bool {
    begun.lines().any(|other| other == line)
}

fn is_missing(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::NotFound
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
fn remove_marks(folder: &Path) -> std::io::Result<()> {
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

/// Gives a log a name that no other has.
fn set_aside(path: &Path) -> std::io::Result<()> {
    let mut number = 1u64;
    loop {
        let other = path.with_extension(format!("{number}.log"));
        match std::fs::hard_link(path, &other) {
            Ok(()) => return std::fs::remove_file(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
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
