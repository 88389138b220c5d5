//! The durable monitor that `monitor`, `proxy`, `serve` and `hook` share: spec, state files and clock.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::paths::Files;
use super::state::{DurableState, Sync};
use crate::cli::audit::redaction;
use crate::cli::clock::{Clock, Time, Witness};
use crate::cli::failure::{Failure, warn};
use crate::cli::limits::{LimitArgs, explain, explain_forecast};
use crate::cli::models::{self, ModelArgs};
use crate::cli::secrets::SecretArgs;
use crate::cli::spec;
use crate::integrations::Judge;
use crate::monitor::journal::{Input, Pieces};
use crate::monitor::lenient::Outline;
use crate::monitor::{Cause, Decision, Identity, Monitor, MonitorError, Options, Request, Speaker};
use crate::value::Instant;

/// A monitor with its files and its clock.
pub(crate) struct DurableMonitor {
    pub(crate) monitor: Monitor,
    state: DurableState,
    time: Time,
    /// Decisions about deadlines that passed between two lines, not yet written.
    pub(crate) late: Vec<Decision>,
    /// Whether it continues the state of an earlier process.
    pub(crate) resumed: bool,
    /// Whether what was accepted waits for [`DurableMonitor::keep_with`].
    waits: bool,
}

/// The options for creating a monitor.
pub(crate) struct Setup<'a> {
    /// The spec.
    pub(crate) spec: &'a Path,
    pub(crate) models: &'a ModelArgs,
    pub(crate) limits: &'a LimitArgs,
    pub(crate) files: Files,
    pub(crate) clock: Clock,
    /// The time of an earlier process, where each call has its own.
    pub(crate) witness: Option<Witness>,
    /// Whether to warn about what the spec says that has no effect here: arms that no state of the models reaches, and `order by`.
    pub(crate) warns: bool,
    /// Further changes of the defaults.
    pub(crate) options: &'a dyn Fn(&mut Options),
}

impl<'a> Setup<'a> {
    /// Returns the usual setup: the clock of the system, with warnings.
    pub(crate) fn new(
        spec: &'a Path,
        models: &'a ModelArgs,
        limits: &'a LimitArgs,
        files: Files,
    ) -> Setup<'a> {
        Setup {
            spec,
            models,
            limits,
            files,
            clock: Clock::Wall,
            witness: None,
            warns: true,
            options: &|_| {},
        }
    }
}

// The limits on the time and number of proposals.
#[derive(Debug, clap::Args)]
pub(crate) struct ReservationArgs {
    /// Time for which a proposal counts that is neither committed nor abandoned [default: 600]
    #[arg(long, value_name = "SECONDS")]
    reservation: Option<u64>,
    /// Proposals that are neither committed nor abandoned; further ones are denied [default: 10000]
    #[arg(long, value_name = "N")]
    max_proposals: Option<usize>,
    /// The same for one trace [default: 256]
    #[arg(long, value_name = "N")]
    max_trace_proposals: Option<usize>,
    /// Bytes of proposals that are neither committed nor abandoned [default: 268435456]
    #[arg(long, value_name = "BYTES")]
    max_proposal_bytes: Option<usize>,
    /// The same for one trace [default: 67108864]
    #[arg(long, value_name = "BYTES")]
    max_trace_proposal_bytes: Option<usize>,
}

// Limits on the questions of hooks.
#[derive(Debug, clap::Args)]
pub(crate) struct QuestionArgs {
    /// Calls of a trace that hooks ask a person about at the same time; beyond it, calls are denied [default: 5]
    #[arg(long, value_name = "N")]
    max_questions: Option<usize>,
    /// Orders of a trace's calls in question and of what was recorded since; beyond it, calls are denied until these are answered [default: 64]
    #[arg(long, value_name = "N")]
    max_histories: Option<usize>,
}

impl QuestionArgs {
    pub(crate) fn set(&self, options: &mut Options) {
        options.questions = self.max_questions.unwrap_or(options.questions);
        options.histories = self.max_histories.unwrap_or(options.histories);
    }
}

impl ReservationArgs {
    pub(crate) fn set(&self, options: &mut Options) {
        let seconds = self.reservation.map(Duration::from_secs);
        options.reservation = seconds.unwrap_or(options.reservation);
        options.proposals = self.max_proposals.unwrap_or(options.proposals);
        options.trace_proposals = self.max_trace_proposals.unwrap_or(options.trace_proposals);
        options.proposal_bytes = self.max_proposal_bytes.unwrap_or(options.proposal_bytes);
        let of_trace = self.max_trace_proposal_bytes;
        options.trace_proposal_bytes = of_trace.unwrap_or(options.trace_proposal_bytes);
    }
}

// The files that `proxy` and `serve` keep.
#[derive(Debug, clap::Args)]
pub(crate) struct FileArgs {
    /// Resume from and save the state to this file
    #[arg(long, value_name = "STATE")]
    snapshot: Option<PathBuf>,
    /// Record every input here before acknowledging it, and replay it on restart
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Append every decision to this hash-chained log
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Sign every decision in the log with this Ed25519 key (PEM)
    #[arg(long, value_name = "FILE", requires = "log")]
    key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) secrets: SecretArgs,
    /// When to flush the journal and log to disk
    #[arg(long, value_enum, default_value_t)]
    pub(crate) sync: Sync,
    /// Leave contents of events out of the log, and out of the journal once a state is saved;
    /// `--redact=FIELD,FIELD` leaves out what depends on these fields only
    #[arg(long, value_name = "FIELDS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    redact: Option<String>,
}

impl FileArgs {
    /// Returns the file of the list of calls: without a journal nothing says what a later process knows of them.
    pub(crate) fn calls(&self) -> Option<PathBuf> {
        let mut calls = self.journal.clone()?.into_os_string();
        calls.push(".calls");
        Some(PathBuf::from(calls))
    }

    /// Whether another process goes on from what this one records.
    pub(crate) fn keeps(&self) -> bool {
        self.snapshot.is_some() || self.journal.is_some()
    }

    /// Whether contents of events are left out of what is kept.
    pub(crate) fn redacts(&self) -> bool {
        self.redact.is_some()
    }

    /// Whether states are saved.
    pub(crate) fn saves(&self) -> bool {
        self.snapshot.is_some()
    }

    /// Returns the file of the journal.
    pub(crate) fn journal(&self) -> Option<&Path> {
        self.journal.as_deref()
    }

    /// `others`: the other files of the run, besides spec and models.
    pub(crate) fn files(&self, others: Vec<PathBuf>) -> Files {
        Files {
            resume: None,
            snapshot: self.snapshot.clone(),
            continues: true,
            snapshot_every: if self.redact.is_some() { 1 } else { 100_000 },
            journal: self.journal.clone(),
            log: self.log.clone(),
            key: self.key.clone(),
            secrets: self.secrets,
            sync: self.sync,
            redact: self.redact.clone(),
            snapshot_after: None,
            calls: self.calls(),
            others,
        }
    }
}

impl DurableMonitor {
    /// Opens the spec, the models and the files, and continues from their state.
    ///
    /// # Errors
    /// The spec has errors or exceeds the limits; a model is missing or belongs to another spec; the files cannot be
    /// used or belong to another spec or model.
    pub(crate) fn open(setup: Setup<'_>) -> Result<DurableMonitor, Failure> {
        let path = setup.spec;
        let (spec, checked) = spec::usable(path)?;
        let mut files = setup.files;
        let texts = checked
            .sources
            .iter()
            .map(|file| PathBuf::from(file.name()));
        files.others.push(path.to_owned());
        files
            .others
            .extend(texts.chain(setup.models.files(&spec, path)));
        let mut options = Options {
            eval: setup.limits.eval(),
            input: setup.limits.input(),
            rows: setup.limits.rows(),
            models: setup.models.read(&spec, path, &checked.models)?,
            identity: Identity {
                spec: checked.token_hash(),
                model: None,
            },
            automata: Arc::clone(&checked.automata),
            ..Options::default()
        };
        (setup.options)(&mut options);
        let monitor = Monitor::owning(spec, options).map_err(|error| unusable(path, &error))?;
        if setup.warns {
            spec::print_diagnostics(&models::unreached(&monitor), &checked.sources);
            if !monitor.spec().schema.layout.order_by.is_empty() {
                warn(
                    "`order by` of the spec applies to recordings only: live events are judged in the order in which they are reported",
                );
            }
        }
        DurableMonitor::resume(monitor, files, (setup.clock, setup.witness.as_ref()))
    }

    /// Opens the files of a new monitor, and continues from their state.
    ///
    /// # Errors
    /// The files cannot be used or belong to another spec or model.
    pub(crate) fn resume(
        mut monitor: Monitor,
        files: Files,
        (clock, witness): (Clock, Option<&Witness>),
    ) -> Result<DurableMonitor, Failure> {
        let identity = monitor.identity().clone();
        let redaction = redaction(monitor.spec(), files.redact.as_deref())?;
        let (state, resumed) = DurableState::open(files, identity, redaction, &mut monitor)?;
        let time = Time::start(clock, resumed.and_then(|resumed| resumed.now), witness);
        Ok(DurableMonitor {
            monitor,
            state,
            time,
            late: Vec::new(),
            resumed: resumed.is_some(),
            waits: false,
        })
    }

    /// Sets the speaker and the client of the following requests.
    pub(crate) fn speak_as(&mut self, speaker: Speaker, client: u32) {
        self.monitor.speak_as(speaker);
        self.monitor.set_client(client);
        self.state.client = client;
    }

    /// Sets whether questions to a person that the following requests lead to last.
    pub(crate) fn set_hooked(&mut self, hooked: bool) {
        self.monitor.set_hooked(hooked);
        self.state.hooked = hooked;
    }

    /// Returns what a later process needs to continue this time.
    pub(crate) fn witness(&self) -> Option<Witness> {
        self.time.witness()
    }

    /// Returns the time for the monitor.
    pub(crate) fn now(&self) -> Option<Instant> {
        self.time.now()
    }

    /// Decides about deadlines that have passed; the decisions wait in `late`.
    ///
    /// # Errors
    /// They cannot be recorded.
    pub(crate) fn deadlines(&mut self) -> Result<(), Failure> {
        let Some(now) = self.time.now() else {
            return Ok(());
        };
        let taken = self.monitor.taken();
        let mut decisions = self.monitor.tick(now);
        if self.monitor.taken() > taken {
            let number = self.monitor.taken();
            self.state.take(number, Some(now), Input::Tick, &decisions);
            self.state.redact(&mut decisions);
            self.commit()?;
        }
        self.late.extend(decisions);
        Ok(())
    }

    /// Returns the decision on the rest of a line that is too long, before it is [kept](Self::keep): an event that happened is
    /// recorded, and a question is denied.
    pub(crate) fn take_cut(&mut self, kept: Option<&Outline>, why: &str) -> Decision {
        match kept.map(|kept| kept.as_text().as_bytes()) {
            Some(line) if self.monitor.states(line) => self.take_noted(Ok(line), Some(why)),
            _ => self.take(Err(why)),
        }
    }

    /// Records a line and returns the decision on it.
    ///
    /// # Errors
    /// It cannot be recorded, so the decision must not be reported.
    pub(crate) fn decide(&mut self, line: &[u8]) -> Result<Decision, Failure> {
        self.deadlines()?;
        let decision = self.take(Ok(line));
        self.keep()?;
        Ok(decision)
    }

    /// Records a request and returns the decision on it. The journal contains the line of the request.
    ///
    /// # Errors
    /// It cannot be recorded, so the decision must not be reported.
    pub(crate) fn decide_request(
        &mut self,
        request: Request,
        event: &str,
    ) -> Result<Decision, Failure> {
        self.deadlines()?;
        if event.contains(['\n', '\r']) {
            let decision = self.take(Err("an event of several lines"));
            self.keep()?;
            return Ok(decision);
        }
        let now = self.time.now();
        let mut decision = self.monitor.request(request, event.as_bytes(), now);
        let (head, tail) = request.around();
        let pieces = [head.as_bytes(), event.as_bytes(), tail.as_bytes()];
        let (number, input) = (self.monitor.taken(), input_of(pieces, &decision));
        self.state
            .take(number, now, input, std::slice::from_ref(&decision));
        self.state.redact(std::slice::from_mut(&mut decision));
        self.keep()?;
        Ok(decision)
    }

    /// Returns the decision on a line, or on a line that cannot be read, with the reason. The caller must
    /// [keep](Self::keep) it before writing it.
    pub(crate) fn take(&mut self, line: Result<&[u8], &str>) -> Decision {
        self.take_noted(line, None)
    }

    fn take_noted(&mut self, line: Result<&[u8], &str>, note: Option<&str>) -> Decision {
        let now = self.time.now();
        let mut decision = match line {
            Ok(line) => self.monitor.line(line, now),
            Err(why) => self.monitor.refuse(why),
        };
        decision.errors.extend(note.map(str::to_owned));
        let input = match line {
            Ok(line) => input_of([line, b"", b""], &decision),
            Err(why) => Input::Refused(why),
        };
        let number = self.monitor.taken();
        self.state
            .take(number, now, input, std::slice::from_ref(&decision));
        self.state.redact(std::slice::from_mut(&mut decision));
        decision
    }

    /// Writes the inputs and decisions so far to the files, and the state if it is due.
    ///
    /// # Errors
    /// They cannot be written, so the decisions must not be reported.
    pub(crate) fn keep(&mut self) -> Result<(), Failure> {
        self.commit()?;
        self.snapshot();
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Failure> {
        match self.waits {
            true => Ok(()),
            false => self.state.commit(),
        }
    }

    /// Writes the state if it is due.
    pub(crate) fn snapshot(&mut self) {
        if !self.state.has_more() {
            self.state.snapshot(&self.monitor, false);
        }
    }

    /// Returns a decision without redacted contents, as logs have it.
    pub(crate) fn for_log<'d>(&self, decision: &'d Decision) -> Cow<'d, Decision> {
        self.state.for_log(decision)
    }

    /// Returns the hash of the list of calls that the journal names.
    pub(crate) fn calls(&self) -> Option<&str> {
        self.state.calls.as_deref()
    }

    /// Whether inputs were accepted that are not written yet.
    pub(crate) fn has_more(&self) -> bool {
        self.state.has_more()
    }

    /// Writes the inputs and decisions that have waited, with the hash of the list of calls that goes with them.
    ///
    /// # Errors
    /// They cannot be written, so the decisions must not be reported, and the list must not be replaced.
    pub(crate) fn keep_with(&mut self, calls: &str) -> Result<(), Failure> {
        self.state.calls = Some(calls.to_owned());
        self.state.commit()
    }

    /// Sets whether what is accepted waits for [`DurableMonitor::keep_with`].
    pub(crate) fn wait(&mut self, waits: bool) {
        self.waits = waits;
    }

    /// Closes the files of a process that is about to end. Its memory is left to that end: to free it piece by piece took a
    /// fiftieth of the time of a hook.
    pub(crate) fn end(self) {
        std::mem::forget(self.monitor);
    }

    /// Writes the state, if there is a file for it.
    pub(crate) fn close(&mut self) {
        self.state.snapshot(&self.monitor, true);
    }
}

/// Returns the journal entry of a line. A line that its sender may not write changes nothing, also when it is replayed.
fn input_of<'l>(line: Pieces<'l>, decision: &'l Decision) -> Input<'l> {
    match (decision.cause, decision.errors.first()) {
        (Cause::Forbidden, Some(why)) => Input::Refused(why),
        _ => Input::Line(line),
    }
}

/// Returns the failure for a spec or its models, with the flag that raises a limit.
pub(crate) fn unusable(path: &Path, error: &MonitorError) -> Failure {
    let why = match error {
        MonitorError::Limit(limit) => explain(limit),
        MonitorError::Model { model, error } => {
            format!("model `{model}`: {}", explain_forecast(error))
        }
        MonitorError::NoModel { model, query } => format!(
            "`{query}` is a query on `{model}`, which is learned from traces: give its file with `--model`"
        ),
        other => other.to_string(),
    };
    Failure::Usage(format!("cannot monitor `{}`: {why}", path.display()))
}

impl Judge for DurableMonitor {
    fn reads(&self, member: &str) -> bool {
        self.monitor.reads(member)
    }

    fn members(&self) -> Vec<String> {
        self.monitor.members()
    }

    fn only_looks_for(&self, member: &str) -> bool {
        self.monitor.only_looks_for(member)
    }

    fn check_keys(&self, at: &[&[&str]], json: &str) -> Result<(), String> {
        self.monitor.check_keys(at, json)
    }

    fn has_trace(&self, trace: &str) -> bool {
        self.monitor.has_trace(trace)
    }

    fn request(&mut self, request: Request, event: &str) -> Result<Decision, String> {
        let decided = self.decide_request(request, event);
        decided.map_err(|failure| failure.to_string())
    }
}
