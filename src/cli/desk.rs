//! A monitor at work: its spec, its files and its clock, for every verb through which runs come in.

use std::path::{Path, PathBuf};

use super::artefact;
use super::failure::Failure;
use super::ledger::{Files, Ledger, Sync};
use super::limits::{LimitArgs, explain};
use super::monitor::{Clock, Time};
use super::spec;
use crate::monitor::journal::Input;
use crate::monitor::{Decision, Identity, Monitor, MonitorError, Options};
use crate::ways::Judge;

/// A monitor, what it keeps, and the time.
pub(super) struct Desk {
    pub(super) monitor: Monitor,
    ledger: Ledger,
    time: Time,
    /// Decisions about deadlines that passed between two lines, not yet told.
    pub(super) late: Vec<Decision>,
}

/// The files that `proxy` and `serve` keep.
#[derive(Debug, clap::Args)]
pub(super) struct FileArgs {
    /// Keep the state here: read at the start where it is there, written now and then and at the end
    #[arg(long, value_name = "STATE")]
    snapshot: Option<PathBuf>,
    /// Keep every input here before its decision is told, and go on from what it holds
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Keep every decision here, in a chain of hashes
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// When journal and log are on disk
    #[arg(long, value_enum, default_value_t)]
    sync: Sync,
}

impl FileArgs {
    pub(super) fn files(&self) -> Files {
        Files {
            resume: self.snapshot.clone().filter(|path| path.exists()),
            snapshot: self.snapshot.clone(),
            snapshot_every: 100_000,
            journal: self.journal.clone(),
            log: self.log.clone(),
            sync: self.sync,
        }
    }
}

impl Desk {
    /// Opens the spec and the files, and goes on from where they end.
    ///
    /// # Errors
    /// The spec is wrong or beyond the limits; the files cannot be used or are of another spec.
    pub(super) fn open(path: &Path, files: Files, limits: &LimitArgs) -> Result<Desk, Failure> {
        let (spec, checked) = spec::usable(path)?;
        let identity = Identity {
            spec: artefact::hash(&checked.sources),
            model: None,
        };
        let options = Options {
            eval: limits.eval(),
            input: limits.input(),
            identity: identity.clone(),
            ..Options::default()
        };
        let mut monitor = Monitor::new(&spec, options).map_err(|error| {
            let why = match &error {
                MonitorError::Limit(limit) => explain(limit),
                other => other.to_string(),
            };
            Failure::Usage(format!("`{}` cannot be monitored: {why}", path.display()))
        })?;
        let (ledger, resumed) = Ledger::open(files, identity, &mut monitor)?;
        let time = Time::start(Clock::Wall, resumed.and_then(|resumed| resumed.now));
        Ok(Desk {
            monitor,
            ledger,
            time,
            late: Vec::new(),
        })
    }

    /// Decides about deadlines that have passed; the decisions wait in `late`.
    ///
    /// # Errors
    /// They cannot be kept.
    pub(super) fn deadlines(&mut self) -> Result<(), Failure> {
        let Some(now) = self.time.now() else {
            return Ok(());
        };
        let taken = self.monitor.taken();
        let decisions = self.monitor.tick(now);
        if self.monitor.taken() > taken {
            self.ledger
                .take(self.monitor.taken(), Some(now), Input::Tick, &decisions);
            self.ledger.commit()?;
        }
        self.late.extend(decisions);
        Ok(())
    }

    /// The decision on a line, kept before it is told.
    ///
    /// # Errors
    /// It cannot be kept, so it must not be told.
    pub(super) fn decide(&mut self, line: &[u8]) -> Result<Decision, Failure> {
        self.deadlines()?;
        let now = self.time.now();
        let decision = self.monitor.line(line, now);
        self.ledger.take(
            self.monitor.taken(),
            now,
            Input::Line(line),
            std::slice::from_ref(&decision),
        );
        self.ledger.commit()?;
        self.ledger.snapshot(&self.monitor, false);
        Ok(decision)
    }

    /// Writes the state, where one is kept.
    pub(super) fn close(&mut self) {
        self.ledger.snapshot(&self.monitor, true);
    }
}

impl Judge for Desk {
    fn line(&mut self, line: &str) -> Result<Decision, String> {
        self.decide(line.as_bytes())
            .map_err(|failure| failure.to_string())
    }
}
