//! The files of a monitor: state, journal and decision log.
//!
//! The order on disk makes what was acknowledged safe: an input is in the journal, and its decisions are in the log,
//! before a decision is told. A state replaces the journal up to it, and is whole before the journal begins anew; so
//! whenever the process ends, state and journal together are all that was taken.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::failure::{Failure, complain};
use crate::monitor::journal::{self, Entry, Input, Journal};
use crate::monitor::log::{self, Chain};
use crate::monitor::{Decision, Identity, Monitor};
use crate::value::Instant;

/// When what was written is on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Sync {
    /// Before acknowledging a decision: no acknowledged decision is lost on a power failure
    #[default]
    Disk,
    /// When the system decides: no acknowledged decision is lost if the process is killed
    System,
}

/// Of a log of more than twice so many bytes only these are read to go on: a hook opens it at every call.
const LOG_TAIL: u64 = 64 * 1024;

/// Which files there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    pub(super) resume: Option<PathBuf>,
    pub(super) snapshot: Option<PathBuf>,
    pub(super) snapshot_every: u64,
    pub(super) journal: Option<PathBuf>,
    pub(super) log: Option<PathBuf>,
    pub(super) sync: Sync,
}

/// The open files.
#[derive(Debug)]
pub(super) struct DurableState {
    files: Files,
    identity: Identity,
    journal: Option<File>,
    log: Option<(File, Chain)>,
    /// Inputs taken at the last state.
    kept: u64,
    buffer: Vec<u8>,
    lines: String,
}

/// What a monitor was continued from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resumed {
    /// The latest time that it was given.
    pub(super) now: Option<Instant>,
}

fn failed(what: &str, path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::Usage(format!("cannot {what} `{}`: {error}", path.display()))
}

impl DurableState {
    /// Opens the files and brings the monitor to where they end; none where there was nothing to go on from.
    pub(super) fn open(
        files: Files,
        identity: Identity,
        monitor: &mut Monitor,
    ) -> Result<(DurableState, Option<Resumed>), Failure> {
        let mut state = DurableState {
            files,
            identity,
            journal: None,
            log: None,
            kept: 0,
            buffer: Vec::new(),
            lines: String::new(),
        };
        let journal = match state.files.journal.clone() {
            None => None,
            Some(path) => {
                let mut file = open(&path)?;
                let bytes = contents(&mut file, &path)?;
                Some((path, file, bytes))
            }
        };
        let parsed = match &journal {
            None => None,
            Some((path, _, bytes)) => {
                let read = Journal::read(bytes, &state.identity);
                Some(read.map_err(|error| failed("continue", path, &error))?)
            }
        };
        let resumed = state.resume(monitor, parsed.as_ref())?;
        state.kept = monitor.taken();
        state.open_log(monitor)?;
        let replayed = state.replay(monitor, parsed.as_ref())?;
        let torn = match (&journal, &parsed) {
            (Some((path, _, bytes)), Some(parsed)) => {
                cut(path, bytes.len(), parsed.whole);
                Some(parsed.whole)
            }
            _ => None,
        };
        if let (Some((path, file, _)), Some(whole)) = (journal, torn) {
            state.journal = Some(state.begin(path, file, whole)?);
        }
        let any = resumed || replayed.is_some();
        let now = replayed.flatten();
        Ok((state, any.then_some(Resumed { now })))
    }

    /// Continues a state, where one is named or the journal needs one.
    fn resume(
        &self,
        monitor: &mut Monitor,
        journal: Option<&Journal<'_>>,
    ) -> Result<bool, Failure> {
        let needed = journal.is_some_and(|journal| journal.after > 0);
        let path = match (&self.files.resume, &self.files.snapshot) {
            (Some(path), _) => path,
            // A journal that was begun after a state is continued from that state.
            (None, Some(path)) if needed => path,
            (None, None) if needed => {
                return Err(Failure::Usage(
                    "the journal continues an earlier state; give it with `--resume` or `--snapshot`"
                        .to_owned(),
                ));
            }
            _ => return Ok(false),
        };
        let bytes = std::fs::read(path).map_err(|error| failed("read", path, &error))?;
        monitor
            .resume(&bytes)
            .map_err(|error| failed("resume", path, &error))?;
        if let Some(journal) = journal
            && journal.after > monitor.taken()
        {
            return Err(Failure::Usage(format!(
                "the journal begins after input {}, but the state `{}` ends at input {}",
                journal.after,
                path.display(),
                monitor.taken()
            )));
        }
        Ok(true)
    }

    fn open_log(&mut self, monitor: &Monitor) -> Result<(), Failure> {
        let Some(path) = self.files.log.clone() else {
            return Ok(());
        };
        let mut file = open(&path)?;
        let chain = match self.end_of_log(&mut file, &path)? {
            Some(chain) => chain,
            None => self.whole_log(&mut file, &path)?,
        };
        if self.files.journal.is_none() && chain.has(monitor.taken() + 1, 0) {
            return Err(Failure::Usage(format!(
                "the log `{}` contains decisions after input {}, where the state ends; \
                    resuming them requires the journal",
                path.display(),
                monitor.taken()
            )));
        }
        self.log = Some((file, chain));
        Ok(())
    }

    /// Goes on from the last lines of a long log; none where those are not enough.
    fn end_of_log(&self, file: &mut File, path: &Path) -> Result<Option<Chain>, Failure> {
        let mut read = |from: u64, most: u64| -> io::Result<String> {
            file.seek(SeekFrom::Start(from))?;
            let mut bytes = Vec::new();
            io::Read::read_to_end(&mut io::Read::take(&mut *file, most), &mut bytes)?;
            // Both ends may lie within a character, of lines that are not looked at.
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let len = std::fs::metadata(path).map_err(|error| failed("read", path, &error))?;
        let len = len.len();
        let Some(from) = len.checked_sub(LOG_TAIL).filter(|from| *from > LOG_TAIL) else {
            return Ok(None);
        };
        let both = read(0, LOG_TAIL).and_then(|head| Ok((head, read(from, LOG_TAIL)?)));
        let (head, tail) = both.map_err(|error| failed("read", path, &error))?;
        let first = head.lines().next().unwrap_or_default();
        let lines = tail.split_once('\n').map_or("", |(_, lines)| lines);
        let Some((identity, chain)) = log::resume(first, lines).filter(|_| tail.ends_with('\n'))
        else {
            return Ok(None);
        };
        let same = self.identity.same(&identity);
        same.map_err(|error| failed("continue", path, &error))?;
        let at_end = file.seek(SeekFrom::End(0));
        at_end.map_err(|error| failed("continue", path, &error))?;
        Ok(Some(chain))
    }

    /// Begins a log, or goes on from one that is verified as a whole.
    fn whole_log(&self, file: &mut File, path: &Path) -> Result<Chain, Failure> {
        let rewound = file.rewind();
        rewound.map_err(|error| failed("read", path, &error))?;
        let bytes = contents(file, path)?;
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        if whole == 0 {
            let (chain, line) = Chain::begin(&self.identity);
            truncate(file, path, 0)?;
            let written = file.write_all(line.as_bytes());
            written.map_err(|error| failed("write", path, &error))?;
            return Ok(chain);
        }
        let found = log::verify(&bytes).map_err(|error| failed("continue", path, &error))?;
        let same = self.identity.same(&found.identity);
        same.map_err(|error| failed("continue", path, &error))?;
        cut(path, bytes.len(), found.whole);
        truncate(file, path, found.whole)?;
        Ok(found.chain)
    }

    /// Gives the monitor what the journal holds beyond the state; the latest time in it.
    fn replay(
        &mut self,
        monitor: &mut Monitor,
        journal: Option<&Journal<'_>>,
    ) -> Result<Option<Option<Instant>>, Failure> {
        let Some(journal) = journal.filter(|journal| !journal.entries.is_empty()) else {
            return Ok(None);
        };
        let mut latest = None;
        for entry in &journal.entries {
            latest = latest.max(entry.now);
            if entry.number <= monitor.taken() {
                continue;
            }
            let decisions = match (entry.input, entry.now) {
                (Input::Line(line), now) => vec![monitor.line(line, now)],
                (Input::Refused(why), _) => vec![monitor.refuse(why)],
                (Input::Tick, Some(now)) => monitor.tick(now),
                (Input::Tick, None) => Vec::new(),
            };
            if monitor.taken() != entry.number {
                return Err(Failure::Usage(format!(
                    "replaying input {} of the journal gave a different result; was the state file changed?",
                    entry.number
                )));
            }
            self.log(entry.number, entry.now, entry.input, &decisions);
        }
        self.write_log()?;
        Ok(Some(latest))
    }

    /// The journal, ready to go on.
    fn begin(&self, path: PathBuf, mut file: File, whole: usize) -> Result<File, Failure> {
        truncate(&mut file, &path, whole)?;
        if whole == 0 {
            let head = journal::head(&self.identity, self.kept);
            let head = head.map_err(|error| failed("write", &path, &error))?;
            let written = file
                .write_all(head.as_bytes())
                .and_then(|()| self.settle(&file));
            written.map_err(|error| failed("write", &path, &error))?;
            settle_folder(&path);
        }
        Ok(file)
    }

    /// Takes notice of an input and what was decided about it; [`DurableState::commit`] writes it.
    pub(super) fn take(
        &mut self,
        number: u64,
        now: Option<Instant>,
        input: Input<'_>,
        decisions: &[Decision],
    ) {
        if self.journal.is_some() {
            Entry { number, now, input }.write(&mut self.buffer);
        }
        self.log(number, now, input, decisions);
    }

    fn log(&mut self, number: u64, now: Option<Instant>, input: Input<'_>, decisions: &[Decision]) {
        let Some((_, chain)) = &mut self.log else {
            return;
        };
        for (place, decision) in (0u64..).zip(decisions) {
            if !chain.has(number, place) {
                self.lines
                    .push_str(&chain.link(number, now, input.bytes(), decision));
            }
        }
    }

    /// Writes what was taken; only then may its decisions be told.
    ///
    /// # Errors
    /// It cannot be written: nothing of it may be told as if it had been.
    pub(super) fn commit(&mut self) -> Result<(), Failure> {
        if let (Some(file), Some(path)) = (&mut self.journal, &self.files.journal) {
            let written = file.write_all(&self.buffer);
            let sync = self.files.sync;
            let written = written.and_then(|()| settle(sync, file));
            written.map_err(|error| failed("write", path, &error))?;
        }
        self.buffer.clear();
        self.write_log()
    }

    fn write_log(&mut self) -> Result<(), Failure> {
        if let (Some((file, _)), Some(path)) = (&mut self.log, &self.files.log)
            && !self.lines.is_empty()
        {
            let written = file.write_all(self.lines.as_bytes());
            let sync = self.files.sync;
            let written = written.and_then(|()| settle(sync, file));
            written.map_err(|error| failed("write", path, &error))?;
        }
        self.lines.clear();
        Ok(())
    }

    /// Writes a state where it is time for one, or at the end. A state that cannot be written is told, and the journal
    /// goes on as it is.
    pub(super) fn snapshot(&mut self, monitor: &Monitor, at_end: bool) {
        let Some(path) = self.files.snapshot.clone() else {
            return;
        };
        let since = monitor.taken() - self.kept;
        if !at_end && since < self.files.snapshot_every {
            return;
        }
        if let Err(why) = self.write_state(monitor, &path) {
            complain(&format!("cannot write `{}`: {why}", path.display()));
        }
    }

    fn write_state(&mut self, monitor: &Monitor, path: &Path) -> Result<(), String> {
        let bytes = monitor.snapshot().map_err(|error| error.to_string())?;
        replace(path, &bytes, Sync::Disk).map_err(|error| error.to_string())?;
        self.kept = monitor.taken();
        let Some(journal) = self
            .files
            .journal
            .clone()
            .filter(|_| self.journal.is_some())
        else {
            return Ok(());
        };
        // The old journal and the new state overlap, which does no harm.
        let head = journal::head(&self.identity, self.kept).map_err(|error| error.to_string())?;
        let anew = |error: io::Error| format!("cannot restart the journal: {error}");
        replace(&journal, head.as_bytes(), Sync::Disk).map_err(anew)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&journal)
            .map_err(anew)?;
        file.try_lock().map_err(|error| error.to_string())?;
        file.seek(SeekFrom::End(0)).map_err(anew)?;
        self.journal = Some(file);
        Ok(())
    }

    fn settle(&self, file: &File) -> io::Result<()> {
        settle(self.files.sync, file)
    }
}

/// Opens a file that only one monitor may use at a time.
fn open(path: &Path) -> Result<File, Failure> {
    // A device or a pipe may have no end, and what is written there cannot be read again.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(failed("use", path, &"not a regular file"));
    }
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path);
    let file = file.map_err(|error| failed("open", path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => {
            Err(failed("use", path, &"in use by another monitor"))
        }
        Err(std::fs::TryLockError::Error(error)) => Err(failed("lock", path, &error)),
    }
}

fn contents(file: &mut File, path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = io::Read::read_to_end(file, &mut bytes);
    read.map_err(|error| failed("read", path, &error))?;
    Ok(bytes)
}

/// Cuts a file to so many bytes and goes to its end.
fn truncate(file: &mut File, path: &Path, whole: usize) -> Result<(), Failure> {
    let cut = file
        .set_len(whole as u64)
        .and_then(|()| file.seek(SeekFrom::End(0)));
    cut.map(drop).map_err(|error| failed("write", path, &error))
}

/// Tells of what was being written when the process ended.
fn cut(path: &Path, len: usize, whole: usize) {
    if whole < len {
        let _ = writeln!(
            io::stderr(),
            "note: removed the last {} bytes of `{}`: an incomplete write that was never acknowledged",
            len - whole,
            path.display()
        );
    }
}

fn settle(sync: Sync, file: &File) -> io::Result<()> {
    match sync {
        Sync::Disk => file.sync_data(),
        Sync::System => Ok(()),
    }
}

/// Makes sure that the name of a new file is on disk; some systems cannot, which is no reason to fail.
fn settle_folder(path: &Path) {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
        let _ = folder.sync_all();
    }
}

/// Puts a file in the place of another, whole or not at all.
pub(super) fn replace(path: &Path, bytes: &[u8], sync: Sync) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let part = PathBuf::from(part);
    let written = File::create(&part)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            settle(sync, &file)
        })
        .and_then(|()| std::fs::rename(&part, path));
    match (&written, sync) {
        (Err(_), _) => drop(std::fs::remove_file(&part)),
        (Ok(()), Sync::Disk) => settle_folder(path),
        (Ok(()), Sync::System) => {}
    }
    written
}
