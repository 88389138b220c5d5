//! Removing the files of sessions: of one that a person resets or that ends, and of those that are old.

use std::collections::BTreeMap;
use std::fs::{OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::marks::remove_marks;
use super::{AGED, RESET, Session, is_missing, of, shown};
use crate::cli::clock::Witness;
use crate::cli::durable::state::ONLY_ME;

impl Session {
    /// Returns the message for an error in the files of a session of this id, with a remedy.
    pub(in crate::cli::hook) fn remedy(why: &str, id: &str) -> String {
        format!(
            "{why}; every call of this session is denied until a person runs `guard hook SPEC --reset {}`, which removes its history and keeps its log",
            shown(id)
        )
    }

    /// Forgets the session of an id, its sub-agents included: its next call begins a new history.
    pub(in crate::cli::hook) fn reset(folder: Option<&Path>, id: &str) -> Result<(), String> {
        let mut session = Session::unlocked(folder, id)?;
        let folder = &session.folder;
        let entries = std::fs::read_dir(folder).map_err(|error| of(&error, folder))?;
        let mut names = entries.flatten().map(|entry| entry.file_name());
        if !names.any(|name| name.as_encoded_bytes().starts_with(session.stem.as_bytes())) {
            let folder = folder.display();
            return Err(format!(
                "`{folder}` has no files of a session {}",
                shown(id)
            ));
        }
        session.lock()?;
        session.forget()?;
        let path = session.file("lock");
        let written = session.lock.as_mut().map(|lock| {
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
    pub(in crate::cli::hook) fn forget_older(
        &self,
        age: Duration,
        witness: impl Fn(&[u8]) -> Option<Witness>,
    ) {
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
