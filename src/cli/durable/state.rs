//! The files of a monitor: state, journal and decision log.
//!
//! The order on disk makes what was acknowledged safe: an input is in the journal, and its decisions are in the log, before a
//! decision is written. A state replaces the journal up to that point, and is complete before a new journal begins. So whenever
//! the process ends, state and journal together contain all inputs. The files refer to each other: a journal names the state
//! that it continues, and with all inputs that were written together the line of the log before them and the list of calls
//! after them; the log names the latest state and list, and the inputs recorded in a log are compared with the replayed ones.
//! Files that do not match are rejected, and nothing is overwritten.
//!
//! If the process ended after inputs were in the journal and before their decisions were in the log, the next one writes these
//! decisions. A journal that is ahead by more than was written together belongs to a log that was cut.
//!
//! A state is complete under another name (`NEXT`) before the log names it, and replaces the old one afterwards: whenever the
//! process ends, one of the two is the state that the log names.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::files::{
    Appended, NEXT, Replacement, check_own_file, contents, cut, failed, not_continued, open,
    read_file, replace, settle_folder, with_ending,
};
use super::log::OpenLog;
use super::paths::Files;
use crate::cli::failure::{Failure, complain};
use crate::monitor::journal::{self, Beside, Entry, Input, Journal, JournalError};
use crate::monitor::log::{self, Chain, LogEnd};
use crate::monitor::{Decision, Identity, Monitor, is_state};
use crate::redact::Redaction;
use crate::value::Instant as Time;

/// When what was written is on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Sync {
    /// Before acknowledging a decision: no acknowledged decision is lost on a power failure
    #[default]
    Disk,
    /// When the system decides: no acknowledged decision is lost if the process is killed
    System,
}

/// The mode of new files, which may contain prompts, arguments and contents of files.
pub(crate) const ONLY_ME: u32 = 0o600;

/// The greatest size in bytes of a write buffer that is kept from one input to the next.
const MOST_BUFFERED: usize = 1 << 20;

/// The open files.
#[derive(Debug)]
pub(crate) struct DurableState {
    files: Files,
    identity: Identity,
    redaction: Option<Redaction>,
    journal: Option<Appended>,
    log: Option<(Appended, Chain)>,
    /// The file of states, locked against other processes.
    held: Option<File>,
    /// The number of inputs at the last state.
    kept: u64,
    /// The number of the latest input.
    last: u64,
    /// The client that the inputs come from.
    pub(crate) client: u32,
    /// Whether questions to a person last.
    pub(crate) hooked: bool,
    buffer: Vec<u8>,
    /// Lines of the log, not yet closed.
    lines: Vec<String>,
    /// The time at which the first input since then was replayed or received.
    since: Instant,
    /// The hash of the list of calls after the latest input, or after those that are written next.
    pub(crate) calls: Option<String>,
    /// The reason why no further input is accepted: an input that the monitor has processed could not be written.
    broken: Option<String>,
}

/// The result of continuing from files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resumed {
    /// The latest time of the inputs.
    pub(crate) now: Option<Time>,
}

impl DurableState {
    /// Opens the files and replays them. Returns `None` if there was nothing to continue.
    pub(crate) fn open(
        files: Files,
        identity: Identity,
        redaction: Option<Redaction>,
        monitor: &mut Monitor,
    ) -> Result<(DurableState, Option<Resumed>), Failure> {
        let mut state = DurableState {
            files,
            identity,
            redaction,
            journal: None,
            log: None,
            held: None,
            kept: 0,
            last: 0,
            client: 0,
            hooked: false,
            buffer: Vec::new(),
            lines: Vec::new(),
            since: Instant::now(),
            calls: None,
            broken: None,
        };
        state.files.check_distinct()?;
        let snapshot = state.files.snapshot.as_deref();
        state.held = snapshot.map(open_state).transpose()?;
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
                Some(read.map_err(|error| {
                    let is_foreign =
                        matches!(&error, JournalError::Other(error) if error.is_foreign());
                    not_continued("continue", path, &error, is_foreign)
                })?)
            }
        };
        state.calls = parsed
            .as_ref()
            .and_then(|parsed| parsed.beside.calls.clone());
        let is_new = journal.as_ref().is_some_and(|(.., bytes)| bytes.is_empty());
        let log = state.read_log(parsed.as_ref())?;
        let named = log.as_ref().and_then(|log| log.end.as_ref());
        let named = named.map(|(end, _)| end.chain.state());
        let resumed = state.resume(monitor, parsed.as_ref(), is_new, named)?;
        state.kept = monitor.taken();
        let inputs = match log {
            Some(log) => state.open_log(monitor, parsed.as_ref(), log, resumed.as_deref())?,
            None => log::Inputs::default(),
        };
        let replayed = state.replay(monitor, parsed.as_ref(), &inputs)?;
        state.check_calls(parsed.as_ref())?;
        let torn = match (&journal, &parsed) {
            (Some((path, _, bytes)), Some(parsed)) => {
                cut(path, bytes.len(), parsed.whole);
                Some(parsed.whole)
            }
            _ => None,
        };
        if let (Some((path, file, _)), Some(whole)) = (journal, torn) {
            state.journal = Some(state.begin(path, file, whole, resumed.as_ref())?);
        }
        let any = resumed.is_some() || replayed.is_some();
        let now = replayed.flatten();
        Ok((state, any.then_some(Resumed { now })))
    }

    /// Restores a state, if there is one and it is given or the journal needs it; returns its hash. `is_new`: whether the journal begins now.
    /// `named`: the state that the log names, if there is a log.
    fn resume(
        &self,
        monitor: &mut Monitor,
        journal: Option<&Journal<'_>>,
        is_new: bool,
        named: Option<Option<&str>>,
    ) -> Result<Option<String>, Failure> {
        let needed = journal.is_some_and(|journal| journal.start.after > 0);
        let path = match (&self.files.resume, &self.files.snapshot) {
            // A process that ended before its first state leaves an empty file.
            (Some(path), _) if !needed && named.flatten().is_none() && is_empty(path) => {
                return Ok(None);
            }
            (Some(path), _) => path,
            (None, Some(path))
                if journal.is_none() && !self.files.continues && has_content(path) =>
            {
                return Err(Failure::Files(format!(
                    "`{0}` has a state; continue it with `--resume {0}`, or remove it",
                    path.display()
                )));
            }
            (None, Some(path)) if is_new && has_content(path) => {
                let remedy = match self.files.continues {
                    true => "restore it, or move the state away to begin anew".to_owned(),
                    false => format!(
                        "continue the state with `--resume {}`, or remove it",
                        path.display()
                    ),
                };
                return Err(Failure::Files(format!(
                    "the journal of the state `{}` is missing; {remedy}",
                    path.display()
                )));
            }
            // A journal that was begun after a state is continued from that state.
            (None, Some(path)) if needed || self.files.continues && has_state(path, named) => path,
            (None, None) if needed => {
                return Err(Failure::Files(
                    "the journal continues an earlier state; give it with `--resume` or `--snapshot`"
                        .to_owned(),
                ));
            }
            _ => return Ok(None),
        };
        let bytes = self.read_state(path, named)?;
        monitor
            .resume(&bytes)
            .map_err(|error| not_continued("resume", path, &error, error.is_foreign()))?;
        let hash = hash_of(&bytes);
        let Some(start) = journal.map(|journal| &journal.start) else {
            return Ok(Some(hash));
        };
        if start.after > monitor.taken() {
            return Err(Failure::Files(format!(
                "the journal begins after input {}, but the state `{}` ends at input {}",
                start.after,
                path.display(),
                monitor.taken()
            )));
        }
        let other = |of: &String| *of != hash && start.after == monitor.taken();
        if start.state.as_ref().is_some_and(other) {
            return Err(Failure::Files(format!(
                "the journal does not continue the state `{}`, but another state after the same number of inputs",
                path.display()
            )));
        }
        Ok(Some(hash))
    }

    /// Reads a state: the one that the log names, if there is a log. If the process ended before that one was put in its place,
    /// it is now.
    fn read_state(&self, path: &Path, named: Option<Option<&str>>) -> Result<Vec<u8>, Failure> {
        check_own_file(path)?;
        let is_named = |bytes: &Vec<u8>| named.is_none_or(|named| named == Some(&hash_of(bytes)));
        let found = read_file(path);
        if let Ok(bytes) = found
            && is_named(&bytes)
        {
            return Ok(bytes);
        }
        let next = with_ending(path);
        check_own_file(&next)?;
        match std::fs::read(&next).ok().filter(is_named) {
            Some(bytes) if named.is_some() => {
                let placed = std::fs::rename(&next, path);
                placed.map_err(|error| failed("write", path, &error))?;
                Ok(bytes)
            }
            _ => Err(failed(
                "resume",
                path,
                &"it is not the state that the log names: one of the two was removed, changed or replaced",
            )),
        }
    }

    /// Reads the end of the log: as much as names a state, a list of calls, and what the journal needs.
    fn read_log(&self, journal: Option<&Journal<'_>>) -> Result<Option<OpenLog>, Failure> {
        let Some(path) = self.files.log.clone() else {
            return Ok(None);
        };
        let follows = journal.and_then(|journal| journal.beside.log.as_ref());
        let after = journal.map_or(u64::MAX, |journal| journal.start.after);
        // Lines that the journal names, or that are about its inputs, may be before the part that was read.
        let suffices = |end: &LogEnd| {
            let has_calls = self.calls.is_none() || end.chain.calls().is_some();
            let states = [&self.files.resume, &self.files.snapshot];
            let has_state = end.chain.state().is_some()
                || !states.into_iter().flatten().any(|path| has_content(path));
            has_calls
                && has_state
                && end.inputs.reach(after)
                && follows.is_none_or(|line| end.inputs.has_line(line))
        };
        OpenLog::read(path, suffices).map(Some)
    }

    /// Compares the log with the state and the journal, and continues or begins it. Returns the inputs recorded at its end.
    fn open_log(
        &mut self,
        monitor: &Monitor,
        journal: Option<&Journal<'_>>,
        OpenLog { path, file, end }: OpenLog,
        state: Option<&str>,
    ) -> Result<log::Inputs, Failure> {
        let key = self.signing_key()?;
        let follows = journal.and_then(|journal| journal.beside.log.clone());
        let Some((end, len)) = end else {
            let start = log::Start {
                after: monitor.taken(),
                follows,
                state: state.map(str::to_owned),
                key,
            };
            let shown = path.display();
            match (journal, state, &start.follows) {
                (Some(_), _, Some(_)) => complain(&format!(
                    "the log `{shown}` that the journal refers to is missing; a new log is started, and its first line refers to the missing one"
                )),
                (None, Some(_), _) => complain(&format!(
                    "the log `{shown}` is missing or empty; a new log is started after input {}, at which the state ends",
                    monitor.taken()
                )),
                _ => {}
            }
            let (chain, line) = Chain::begin(&self.identity, start);
            let mut file = Appended::new(file, &path, 0)?;
            let written = file.add(line.as_bytes(), &path, self.files.sync);
            written.map_err(|error| failed("write", &path, &error))?;
            self.log = Some((file, chain));
            return Ok(log::Inputs::default());
        };
        let wrong =
            |why: String| Failure::Files(format!("cannot continue `{}`: {why}", path.display()));
        let same = self.identity.same(&end.identity);
        same.map_err(|error| not_continued("continue", &path, &error, error.is_foreign()))?;
        let verifying = key.as_ref().map(log::SigningKey::verifying_key);
        log::same_key(end.key.as_ref(), verifying.as_ref())
            .map_err(|error| wrong(error.to_string()))?;
        let replayed = journal.map_or(0, |journal| {
            journal.start.after + journal.entries.len() as u64
        });
        let reached = monitor.taken().max(replayed);
        if end.chain.last() > reached && self.files.journal.is_none() {
            return Err(wrong(format!(
                "it contains decisions up to input {}, and without `--journal` nothing says what followed input {reached}: give the journal that was written with it, or another `--log`",
                end.chain.last()
            )));
        }
        if end.chain.last() > reached {
            return Err(wrong(format!(
                "it contains decisions up to input {}, but state and journal end at input {reached}: they were removed, cut or replaced",
                end.chain.last()
            )));
        }
        if end.chain.last() < monitor.taken() {
            return Err(wrong(format!(
                "it ends at input {}, but the state ends at input {}: it was cut or replaced",
                end.chain.last(),
                monitor.taken()
            )));
        }
        if follows.is_some_and(|line| !end.inputs.has_line(&line)) {
            return Err(wrong(
                "it does not hold the line that the journal names: one of the two was cut or replaced"
                    .to_owned(),
            ));
        }
        let mut chain = end.chain;
        chain.sign_with(key);
        self.log = Some((Appended::new(file, &path, len)?, chain));
        Ok(end.inputs)
    }

    /// Compares the lists of calls that the log and the journal name.
    fn check_calls(&self, journal: Option<&Journal<'_>>) -> Result<(), Failure> {
        let of_log = self.log.as_ref().and_then(|(_, chain)| chain.calls());
        let has_begun = journal.is_some_and(|journal| journal.whole > 0);
        match of_log {
            Some(of_log) if has_begun && self.calls.as_deref() != Some(of_log) => {
                let why = "the log and the journal name different lists of calls: one of the two was cut or replaced";
                Err(Failure::Files(why.to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Returns the key that the log is signed with.
    fn signing_key(&self) -> Result<Option<log::SigningKey>, Failure> {
        let Some(path) = &self.files.key else {
            return Ok(None);
        };
        let text = self.files.secrets.read(path)?;
        let key = log::signing_key(&text).map_err(|error| failed("use", path, &error))?;
        Ok(Some(key))
    }

    /// Replays the inputs of the journal after the state; returns the latest time.
    fn replay(
        &mut self,
        monitor: &mut Monitor,
        journal: Option<&Journal<'_>>,
        logged: &log::Inputs,
    ) -> Result<Option<Option<Time>>, Failure> {
        let Some(journal) = journal.filter(|journal| !journal.entries.is_empty()) else {
            return Ok(None);
        };
        let mut latest = None;
        for entry in &journal.entries {
            latest = latest.max(entry.now);
            if logged.differs(entry.number, entry.input.pieces()) {
                return Err(Failure::Files(format!(
                    "input {} of the journal differs from the input of that number in the log: one of the files was replaced",
                    entry.number
                )));
            }
            if entry.number <= monitor.taken() {
                continue;
            }
            monitor.set_client(entry.client);
            monitor.set_hooked(entry.hooked);
            let decisions = match (entry.input, entry.now) {
                (Input::Line(pieces), now) => vec![monitor.line(&pieces.concat(), now)],
                (Input::Refused(why), _) => vec![monitor.refuse(why)],
                (Input::Tick, Some(now)) => monitor.tick(now),
                (Input::Tick, None) => Vec::new(),
            };
            if monitor.taken() != entry.number {
                return Err(Failure::Files(format!(
                    "replaying input {} of the journal gave a different result; was the state file changed?",
                    entry.number
                )));
            }
            self.log(entry.number, entry.now, entry.input, &decisions);
        }
        monitor.set_client(0);
        monitor.set_hooked(false);
        self.write_log()?;
        Ok(Some(latest))
    }

    /// Returns the journal, ready for appending.
    fn begin(
        &self,
        path: PathBuf,
        file: File,
        whole: usize,
        state: Option<&String>,
    ) -> Result<Appended, Failure> {
        let mut file = Appended::new(file, &path, whole)?;
        if whole == 0 {
            let head = journal::head(&self.identity, &self.start(state.cloned()));
            let head = head.map_err(|error| failed("write", &path, &error))?;
            let written = file.add(head.as_bytes(), &path, self.files.sync);
            written.map_err(|error| failed("write", &path, &error))?;
            settle_folder(&path);
        }
        Ok(file)
    }

    /// Returns the start of a journal that begins now.
    fn start(&self, state: Option<String>) -> journal::Start {
        journal::Start {
            after: self.kept,
            state,
            beside: self.beside(),
        }
    }

    /// Returns what the journal names with the inputs that are written next.
    fn beside(&self) -> Beside {
        Beside {
            log: self.log.as_ref().map(|(_, chain)| chain.hash().to_owned()),
            calls: self.calls.clone(),
        }
    }

    /// Adds an input and its decisions to the buffers; [`DurableState::commit`] writes them.
    pub(crate) fn take(
        &mut self,
        number: u64,
        now: Option<Time>,
        input: Input<'_>,
        decisions: &[Decision],
    ) {
        self.last = number;
        if self.journal.is_some() {
            let entry = Entry {
                number,
                now,
                client: self.client,
                hooked: self.hooked,
                input,
            };
            entry.write(&mut self.buffer);
        }
        self.log(number, now, input, decisions);
    }

    /// Removes redacted contents from decisions; the log has its own form of them.
    pub(crate) fn redact(&self, decisions: &mut [Decision]) {
        if let Some(redaction) = &self.redaction {
            let each = decisions.iter_mut();
            each.for_each(|decision| redaction.answer(decision));
        }
    }

    /// Returns a decision without redacted contents, as logs have it.
    pub(crate) fn for_log<'d>(&self, decision: &'d Decision) -> Cow<'d, Decision> {
        for_log(self.redaction.as_ref(), decision)
    }

    fn log(&mut self, number: u64, now: Option<Time>, input: Input<'_>, decisions: &[Decision]) {
        let Some((_, chain)) = &mut self.log else {
            return;
        };
        for (place, decision) in (0u64..).zip(decisions) {
            if !chain.has(number, place) {
                let decision = for_log(self.redaction.as_ref(), decision);
                let line = chain.line(number, now, input.pieces(), &decision);
                self.lines.push(line);
            }
        }
    }

    /// Whether inputs were accepted that are not written yet.
    pub(crate) fn has_more(&self) -> bool {
        !self.buffer.is_empty() || !self.lines.is_empty()
    }

    /// Writes the accepted inputs; their decisions may be reported only afterwards.
    ///
    /// # Errors
    /// If writing fails, the decisions must not be reported. The files are unchanged, and nothing more is written to
    /// them, because the monitor has processed inputs that they lack. Another process can continue from them.
    pub(crate) fn commit(&mut self) -> Result<(), Failure> {
        if let Some(why) = &self.broken {
            return Err(Failure::Files(why.clone()));
        }
        let before = self.journal.as_ref().map(|journal| journal.len);
        let mut written = self.write_journal();
        if written.is_ok() {
            written = self.write_log();
            if let (Err(_), Some(journal), Some(before)) = (&written, &mut self.journal, before) {
                journal.len = before;
                // What cannot be cut back counts as if it had been allowed.
                let _ = journal.cut_back();
            }
        }
        if let Err(failure) = &written {
            self.broken = Some(failure.to_string());
        }
        written
    }

    fn write_journal(&mut self) -> Result<(), Failure> {
        let beside = self.beside();
        if let (Some(file), Some(path)) = (&mut self.journal, &self.files.journal)
            && !self.buffer.is_empty()
        {
            beside.write(self.last, &mut self.buffer);
            let written = file.add(&self.buffer, path, self.files.sync);
            written.map_err(|error| failed("write", path, &error))?;
        }
        self.buffer.clear();
        self.buffer.shrink_to(MOST_BUFFERED);
        Ok(())
    }

    fn write_log(&mut self) -> Result<(), Failure> {
        let (Some((file, chain)), Some(path)) = (&mut self.log, &self.files.log) else {
            return Ok(());
        };
        let mut text = String::new();
        let mut lines = self.lines.drain(..).peekable();
        while let Some(mut line) = lines.next() {
            let calls = self.calls.as_deref();
            chain.close(&mut line, calls.filter(|_| lines.peek().is_none()));
            text.push_str(&line);
        }
        if text.is_empty() {
            return Ok(());
        }
        let written = file.add(text.as_bytes(), path, self.files.sync);
        written.map_err(|error| failed("write", path, &error))
    }

    /// Writes a state if it is time for one, or at the end. A state that cannot be written is reported, and the journal
    /// continues unchanged.
    pub(crate) fn snapshot(&mut self, monitor: &Monitor, at_end: bool) {
        let Some(path) = self.files.snapshot.clone() else {
            return;
        };
        let since = monitor.taken() - self.kept;
        let slow = |most: Duration| since > 0 && self.since.elapsed() >= most;
        let due = since >= self.files.snapshot_every || self.files.snapshot_after.is_some_and(slow);
        if self.broken.is_some() || !(at_end || due) {
            return;
        }
        if let Err(why) = self.write_state(monitor, &path) {
            complain(&format!("cannot write `{}`: {why}", path.display()));
        }
    }

    fn write_state(&mut self, monitor: &Monitor, path: &Path) -> Result<(), String> {
        let bytes = monitor.snapshot().map_err(|error| error.to_string())?;
        let made = Replacement::begin(path.to_owned(), NEXT, ONLY_ME).and_then(|mut next| {
            next.fill(&bytes, Sync::Disk)?;
            Ok(next)
        });
        let mut next = made.map_err(|error| error.to_string())?;
        if self.held.is_some() {
            let held = next.hold();
            self.held = Some(held.map_err(|error| error.to_string())?);
        }
        if let (Some((file, chain)), Some(log)) = (&mut self.log, &self.files.log) {
            let mut named = chain.clone();
            let line = named.state_line(&hash_of(&bytes));
            let written = file.add(line.as_bytes(), log, self.files.sync);
            written.map_err(|error| format!("cannot write `{}`: {error}", log.display()))?;
            *chain = named;
            next.stay();
        }
        next.finish(Sync::Disk).map_err(|error| error.to_string())?;
        self.kept = monitor.taken();
        self.since = Instant::now();
        let Some(journal) = self
            .files
            .journal
            .clone()
            .filter(|_| self.journal.is_some())
        else {
            return Ok(());
        };
        // The old journal and the new state overlap, which is harmless.
        let start = self.start(Some(hash_of(&bytes)));
        let head = journal::head(&self.identity, &start).map_err(|error| error.to_string())?;
        let anew = |error: io::Error| format!("cannot restart the journal: {error}");
        replace(&journal, head.as_bytes(), Sync::Disk).map_err(anew)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&journal)
            .map_err(anew)?;
        file.try_lock().map_err(|error| error.to_string())?;
        let appended = Appended::new(file, &journal, head.len());
        self.journal = Some(appended.map_err(|failure| failure.to_string())?);
        Ok(())
    }
}

fn for_log<'d>(redaction: Option<&Redaction>, decision: &'d Decision) -> Cow<'d, Decision> {
    match redaction {
        Some(redaction) => Cow::Owned(redaction.decision(decision)),
        None => Cow::Borrowed(decision),
    }
}

/// Opens the file of states. A file of another kind is not replaced by a state.
fn open_state(path: &Path) -> Result<File, Failure> {
    let file = open(path)?;
    let mut begun = Vec::new();
    let read = (&file).take(16).read_to_end(&mut begun);
    read.map_err(|error| failed("read", path, &error))?;
    match begun.is_empty() || is_state(&begun) {
        true => Ok(file),
        false => Err(failed("use", path, &"not a monitor state")),
    }
}

/// Whether there is a state to continue: in its file, or about to replace it.
fn has_state(path: &Path, named: Option<Option<&str>>) -> bool {
    has_content(path) || named.flatten().is_some()
}

/// Returns the hash of a state, which is at its end.
fn hash_of(state: &[u8]) -> String {
    log::hex(&state[state.len().saturating_sub(32)..])
}

fn is_empty(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0)
}

fn has_content(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.len() > 0)
}
