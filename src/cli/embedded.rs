//! A durable monitor inside another program: the decisions and files of `guard serve`, without a process of its own.

use std::path::{Path, PathBuf};

use super::clock::Clock;
use super::durable::monitor::{DurableMonitor, unusable};
use super::durable::paths::Files;
use super::durable::state::Sync;
use super::failure::Failure;
use super::models;
use super::secrets::SecretArgs;
use crate::facade::Spec;
use crate::learn::Model;
use crate::monitor::{Decision, Identity, Monitor, Options, Request};
use crate::source::FileId;

/// The files and models of an embedded monitor.
#[derive(Debug, Default)]
pub struct EmbeddedOptions {
    /// The models for `enforce on QUERY` clauses, with the names of their files for messages.
    pub models: Vec<(String, Model)>,
    /// The state is resumed from this file and saved to it.
    pub snapshot: Option<PathBuf>,
    /// Every input is recorded here before its decision is returned.
    pub journal: Option<PathBuf>,
    /// Every decision is appended to this hash-chained log.
    pub log: Option<PathBuf>,
    /// The Ed25519 key (PEM) that signs the log.
    pub key: Option<PathBuf>,
    /// Whether a key file that other users can read is accepted.
    pub allow_readable_secrets: bool,
    /// Whether the operating system, instead of the monitor, decides when journal and log are flushed to disk.
    pub relaxed: bool,
    /// Whether contents of events are left out of the log.
    pub redact: bool,
    /// Whether events without a time get none, so that only events advance deadlines.
    pub no_clock: bool,
}

/// A monitor that keeps its state in files, if it has any.
pub struct Embedded {
    monitor: DurableMonitor,
    keeps_files: bool,
}

impl std::fmt::Debug for Embedded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Embedded").finish_non_exhaustive()
    }
}

impl Embedded {
    /// Opens the files, and continues from their state.
    ///
    /// # Errors
    /// The spec cannot be monitored, a model is missing or belongs to another spec, or the files cannot be used.
    pub fn open(spec: &Spec, options: EmbeddedOptions) -> Result<Embedded, String> {
        Embedded::opened(spec, options).map_err(|failure| failure.to_string())
    }

    fn opened(spec: &Spec, options: EmbeddedOptions) -> Result<Embedded, Failure> {
        let (hir, loaded) = spec.parts();
        let path = Path::new(loaded.sources.get(FileId(0)).name());
        let assigned = models::assigned(&options.models, hir, path, &loaded.models)?;
        let identity = Identity {
            spec: loaded.token_hash(),
            model: None,
        };
        let monitor = Monitor::new(
            hir,
            Options {
                models: assigned,
                identity,
                ..Options::default()
            },
        );
        let monitor = monitor.map_err(|error| unusable(path, &error))?;
        let texts = loaded.sources.iter().map(|file| file.name());
        let models = options.models.iter().map(|(name, _)| name.as_str());
        let others = texts.chain(models).map(PathBuf::from).collect();
        let files = Files {
            resume: None,
            snapshot: options.snapshot,
            continues: true,
            snapshot_every: if options.redact { 1 } else { 100_000 },
            journal: options.journal,
            log: options.log,
            key: options.key,
            secrets: SecretArgs {
                allow_readable_secrets: options.allow_readable_secrets,
            },
            sync: if options.relaxed {
                Sync::System
            } else {
                Sync::default()
            },
            redact: options.redact.then(String::new),
            snapshot_after: None,
            calls: None,
            others,
        };
        let clock = if options.no_clock {
            Clock::None
        } else {
            Clock::Wall
        };
        let keeps_files = [&files.snapshot, &files.journal, &files.log]
            .iter()
            .any(|file| file.is_some());
        Ok(Embedded {
            monitor: DurableMonitor::resume(monitor, files, (clock, None))?,
            keeps_files,
        })
    }

    /// Records a request and returns the decision on it. `event` is a JSON object; it is empty for [`Request::Abandon`].
    ///
    /// # Errors
    /// The request cannot be recorded, so the decision must not be used.
    pub fn request(&mut self, request: Request, event: &str) -> Result<Decision, String> {
        let decided = self.monitor.decide_request(request, event);
        decided.map_err(|failure| failure.to_string())
    }

    /// Ends a trace. The decisions about deadlines that passed before are in [`Embedded::tick`].
    ///
    /// # Errors
    /// As [`Embedded::request`].
    pub fn end(&mut self, trace: &str) -> Result<Decision, String> {
        let line = serde_json::json!({"trace": trace, "end": true}).to_string();
        let decided = self.monitor.decide(line.as_bytes());
        decided.map_err(|failure| failure.to_string())
    }

    /// Returns the decisions about deadlines that have passed and were not returned yet.
    ///
    /// # Errors
    /// As [`Embedded::request`].
    pub fn tick(&mut self) -> Result<Vec<Decision>, String> {
        self.monitor
            .deadlines()
            .map_err(|failure| failure.to_string())?;
        Ok(std::mem::take(&mut self.monitor.late))
    }

    /// Returns the state of all traces and proposals. Equal states have equal bytes.
    ///
    /// # Errors
    /// The monitor has files, which would then differ from the state; or the state is too large.
    pub fn state(&self) -> Result<Vec<u8>, String> {
        self.without_files()?;
        let state = self.monitor.monitor.snapshot();
        state.map_err(|error| error.to_string())
    }

    /// Replaces the monitor's state by a state of a monitor of the same spec.
    ///
    /// # Errors
    /// As [`Embedded::state`], and if the bytes are damaged or belong to another spec; the monitor is then unchanged.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        self.without_files()?;
        let resumed = self.monitor.monitor.resume(state);
        resumed.map_err(|error| error.to_string())?;
        self.monitor.late.clear();
        Ok(())
    }

    fn without_files(&self) -> Result<(), String> {
        match self.keeps_files {
            false => Ok(()),
            true => Err(
                "a monitor with a snapshot, journal or log keeps its state in these files"
                    .to_owned(),
            ),
        }
    }

    /// Saves the state, if a file for it was given.
    pub fn close(&mut self) {
        self.monitor.close();
    }

    /// Whether it continues the state of an earlier process.
    pub fn resumed(&self) -> bool {
        self.monitor.resumed
    }
}
