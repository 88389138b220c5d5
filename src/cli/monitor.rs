//! `guard monitor`: reads events and prints one decision per line.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::clock::Clock;
use super::durable::monitor::{DurableMonitor, ReservationArgs, Setup};
use super::durable::paths::Files;
use super::durable::state::Sync;
use super::failure::{Failure, Outcome, complain};
use super::limits::LimitArgs;
use super::lines::{self, Line};
use super::models::ModelArgs;
use super::secrets::SecretArgs;
use super::spec;
use crate::inert::inert;
use crate::monitor::{Cause, Decision, Identity, Outcomes, Ruling, log};
use crate::value::Instant;
use crate::verdict::Verdict;

/// The greatest number of lines that are decided together: those that arrive while the previous ones are written.
const BATCH: usize = 256;

/// Reading pauses while the undecided lines have more bytes than this.
const QUEUED_BYTES: usize = 16 << 20;

/// The bytes of the lines that were read and not decided yet.
#[derive(Default)]
struct Queued {
    bytes: Mutex<usize>,
    decided: Condvar,
}

impl Queued {
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until another line may be read.
    fn wait(&self) {
        let mut bytes = self.lock();
        while *bytes > QUEUED_BYTES {
            bytes = self
                .decided
                .wait(bytes)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn add(&self, n: usize) {
        *self.lock() += n;
    }

    fn remove(&self, n: usize) {
        *self.lock() -= n;
        self.decided.notify_one();
    }
}

const AFTER_HELP: &str = "\
Each line of the input reports an event or asks about one:

  {\"trace\":\"t1\",\"kind\":\"call\",…}                      an event, in the layout of the spec
  {\"trace\":\"t1\",\"end\":true}                           the trace has ended
  {\"phase\":\"act\",\"event\":{…}}                         may it happen? If it may, it is recorded as having happened
  {\"phase\":\"before\",\"event\":{…}}                      may it happen? (the answer carries a number)
  {\"phase\":\"commit\",\"proposal\":3,\"event\":{…}}         what was proposed has happened
  {\"phase\":\"abandon\",\"proposal\":3}                    it will not

Each input line produces exactly one output line, in order; an expired deadline produces a line of its own.

Exit codes: 1 if an event violated a property; 3 if no property was violated, but a line could not be read.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// Spec, or a file from `guard compile`
    #[arg(value_name = "SPEC", required_unless_present = "verify_log")]
    spec: Option<PathBuf>,
    /// Resume from this state
    #[arg(long, value_name = "STATE")]
    resume: Option<PathBuf>,
    /// Save the state to this file, periodically and at the end
    #[arg(long, value_name = "STATE")]
    snapshot: Option<PathBuf>,
    /// Save the state after this many inputs; each save restarts the journal
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100_000,
        requires = "snapshot"
    )]
    snapshot_every: u64,
    /// Record every input here before acknowledging it, and replay it on restart
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Append every decision to this hash-chained log
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Sign every decision in the log with this Ed25519 key (PEM); with `--verify-log`, the key that it must be signed with
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    #[command(flatten)]
    secrets: SecretArgs,
    /// When to flush the journal and log to disk
    #[arg(long, value_enum, default_value_t)]
    sync: Sync,
    /// Leave contents of events out of the log, and out of the journal once a state is saved;
    /// `--redact=FIELD,FIELD` leaves out what depends on these fields only
    #[arg(long, value_name = "FIELDS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    redact: Option<String>,
    /// Verify a decision log instead; with SPEC, also that it was written for that spec
    #[arg(long, value_name = "LOG", conflicts_with_all = ["resume", "snapshot", "journal", "log"])]
    verify_log: Option<PathBuf>,
    /// Format of the decisions
    #[arg(long, value_enum, default_value_t = DecisionFormat::Json)]
    format: DecisionFormat,
    /// Outcomes of a proposed action that must violate a property to deny it
    #[arg(long, value_enum, default_value_t = OutcomeRule::Every)]
    outcomes: OutcomeRule,
    /// Clock for events without a time: the system clock, or none (to replay recorded runs)
    #[arg(long, value_enum, default_value_t = Clock::Wall)]
    clock: Clock,
    /// Limit the live traces
    #[arg(long, value_name = "N")]
    max_traces: Option<usize>,
    #[command(flatten)]
    reservations: ReservationArgs,
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum DecisionFormat {
    /// Text
    Human,
    /// JSON Lines
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum OutcomeRule {
    /// Deny if all outcomes violate; flag if only some do
    Every,
    /// Deny if any outcome violates: for actions that cannot be undone
    Any,
}

pub(super) fn run(args: Args) -> Result<Outcome, Failure> {
    lines::take_small_pages();
    if let Some(path) = &args.verify_log {
        return verify(path, &args);
    }
    if args.key.is_some() && args.log.is_none() {
        return Err(Failure::Usage(
            "`--key` requires `--log` or `--verify-log`".to_owned(),
        ));
    }
    let Some(path) = &args.spec else {
        return Err(Failure::Usage("no spec given".to_owned()));
    };
    if path.as_os_str() == "-" {
        return Err(Failure::Usage(
            "the standard input contains the events, so the spec must be a file".to_owned(),
        ));
    }
    let files = Files {
        resume: args.resume.clone(),
        snapshot: args.snapshot.clone(),
        continues: false,
        snapshot_every: match args.redact {
            Some(_) => 1,
            None => args.snapshot_every.max(1),
        },
        journal: args.journal.clone(),
        log: args.log.clone(),
        key: args.key.clone(),
        secrets: args.secrets,
        sync: args.sync,
        redact: args.redact.clone(),
        snapshot_after: None,
        calls: None,
        others: Vec::new(),
    };
    let longest = args.limits.input().record_bytes;
    let desk = DurableMonitor::open(Setup {
        clock: args.clock,
        options: &|options| {
            options.outcomes = match args.outcomes {
                OutcomeRule::Every => Outcomes::Every,
                OutcomeRule::Any => Outcomes::Any,
            };
            options.traces = args.max_traces.unwrap_or(options.traces);
            args.reservations.set(options);
        },
        ..Setup::new(path, &args.models, &args.limits, files)
    })?;
    let resumed = desk.resumed;
    let mut session = MonitorLoop {
        desk,
        out: io::stdout().lock(),
        format: args.format,
        text: String::new(),
        violated: false,
        unreadable: false,
    };
    if resumed {
        session.emit_resumed()?;
    }
    match session.follow(longest) {
        // The reader of the decisions has closed the pipe; all inputs are recorded.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
        other => other?,
    }
    session.desk.close();
    Ok(if session.violated {
        Outcome::Violated
    } else if session.unreadable {
        Outcome::Unreadable
    } else {
        Outcome::Holds
    })
}

/// Reads lines until the input ends.
fn read(mut from: impl BufRead, longest: usize, to: &mpsc::SyncSender<Line>, queued: &Queued) {
    while let Some(line) = lines::next(&mut from, longest) {
        let last = matches!(line, Line::Failed(_));
        queued.add(line.len());
        if to.send(line).is_err() || last {
            return;
        }
        queued.wait();
    }
}

struct MonitorLoop<W> {
    desk: DurableMonitor,
    out: W,
    format: DecisionFormat,
    text: String,
    violated: bool,
    unreadable: bool,
}

impl<W: Write> MonitorLoop<W> {
    /// Processes the standard input to its end.
    fn follow(&mut self, longest: usize) -> Result<(), Failure> {
        // Bounded, so that a client that sends too fast has to wait.
        let (to, from) = mpsc::sync_channel(BATCH);
        // Not joined, because it may wait for input that never comes.
        let queued = Arc::new(Queued::default());
        let counted = Arc::clone(&queued);
        std::thread::spawn(move || read(io::stdin().lock(), longest, &to, &counted));
        loop {
            let Some(first) = self.wait(&from) else {
                return Ok(());
            };
            self.deadlines()?;
            let mut batch: Vec<Line> = first.into_iter().collect();
            while !batch.is_empty() && batch.len() < BATCH {
                match from.try_recv() {
                    Ok(taken) => batch.push(taken),
                    Err(_) => break,
                }
            }
            if !batch.is_empty() {
                let bytes = batch.iter().map(Line::len).sum();
                self.batch(batch, longest)?;
                queued.remove(bytes);
            }
        }
    }

    /// Returns the next line: an inner `None` if a deadline passes first, `None` at the end of the input.
    fn wait(&self, from: &Receiver<Line>) -> Option<Option<Line>> {
        let deadline = self.desk.monitor.next_deadline().zip(self.desk.now());
        let Some((deadline, now)) = deadline else {
            return from.recv().ok().map(Some);
        };
        let left = deadline.0.saturating_sub(now.0).max(0) / (Instant::SECOND / 1_000_000_000);
        // One unit after the deadline, so that it has passed.
        let left = u64::try_from(left).unwrap_or(u64::MAX).saturating_add(1);
        match from.recv_timeout(Duration::from_nanos(left)) {
            Ok(taken) => Some(Some(taken)),
            Err(RecvTimeoutError::Timeout) => Some(None),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Decides deadlines that have passed, and writes the decisions.
    fn deadlines(&mut self) -> Result<(), Failure> {
        let kept = self.desk.deadlines();
        let decisions = std::mem::take(&mut self.desk.late);
        self.emit(decisions, kept)
    }

    fn batch(&mut self, batch: Vec<Line>, longest: usize) -> Result<(), Failure> {
        let too_long = format!(
            "a line is longer than {longest} bytes; to raise the limit, use `--max-record-bytes`"
        );
        let mut decisions = Vec::with_capacity(batch.len());
        for taken in &batch {
            decisions.push(match taken {
                Line::Whole(line) => self.desk.take(Ok(line)),
                Line::TooLong(kept) => self.desk.take_cut(kept.as_ref(), &too_long),
                Line::Failed(why) => {
                    complain(&format!("cannot read further input: {why}"));
                    self.unreadable = true;
                    continue;
                }
            });
        }
        let kept = self.desk.keep();
        self.emit(decisions, kept)
    }

    /// Writes the decisions after they are recorded. A decision that cannot be recorded becomes a denial.
    fn emit(&mut self, decisions: Vec<Decision>, kept: Result<(), Failure>) -> Result<(), Failure> {
        if decisions.is_empty() {
            return kept;
        }
        self.text.clear();
        for mut decision in decisions {
            if let Err(Failure::Files(why)) = &kept {
                let denied = Decision::new(decision.cause);
                decision = Decision {
                    trace: decision.trace,
                    step: decision.step,
                    ruling: Ruling::Stop,
                    errors: vec![why.clone()],
                    ..denied
                };
            }
            self.note(&decision);
            match self.format {
                DecisionFormat::Json => decision.write_json(&mut self.text),
                DecisionFormat::Human => render_human(&decision, &mut self.text),
            }
            self.text.push('\n');
        }
        self.out.write_all(self.text.as_bytes())?;
        self.out.flush()?;
        kept
    }

    fn note(&mut self, decision: &Decision) {
        self.unreadable |= !decision.errors.is_empty();
        let happened = match decision.cause {
            Cause::Event | Cause::End => true,
            Cause::Act => decision.ruling < Ruling::Ask,
            _ => false,
        };
        let violated = |verdict: &Verdict| *verdict == Verdict::Violated;
        self.violated |= happened
            && decision
                .verdicts
                .iter()
                .any(|(_, verdict)| violated(verdict));
    }

    fn emit_resumed(&mut self) -> Result<(), Failure> {
        let monitor = &self.desk.monitor;
        let (taken, traces) = (monitor.taken(), monitor.n_traces());
        match self.format {
            DecisionFormat::Json => writeln!(
                self.out,
                "{{\"v\":1,\"type\":\"resumed\",\"taken\":{taken},\"traces\":{traces}}}"
            )?,
            DecisionFormat::Human => writeln!(
                self.out,
                "resumed after {taken} inputs, {traces} traces live"
            )?,
        }
        self.out.flush()?;
        Ok(())
    }
}

/// Renders a decision as one line of text, with control characters escaped.
fn render_human(decision: &Decision, out: &mut String) {
    use std::fmt::Write as _;
    let trace = decision.trace.as_deref().unwrap_or("?");
    let trace = if trace.is_empty() { "-" } else { trace };
    let step = decision
        .step
        .map_or_else(|| "-".to_owned(), |step| step.to_string());
    let _ = write!(out, "{} {step} {}", inert(trace), decision.ruling.as_str());
    for fired in &decision.clauses {
        let (action, name) = (fired.action.as_str(), inert(&fired.name));
        let _ = write!(out, "  [{action}] {name}: {}", inert(&fired.message));
        if let Some(values) = fired.values() {
            let _ = write!(out, " ({values})");
        }
    }
    for text in decision
        .owed
        .iter()
        .chain(&decision.errors)
        .chain(&decision.notes)
    {
        let _ = write!(out, "  ({})", inert(text));
    }
}

/// Implements `--verify-log`.
fn verify(path: &Path, args: &Args) -> Result<Outcome, Failure> {
    let unreadable = |path: &Path, error: &dyn std::fmt::Display| {
        Failure::Usage(format!("cannot read `{}`: {error}", path.display()))
    };
    let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
    let broken = |error: &dyn std::fmt::Display| {
        complain(&format!("`{}`: {error}", path.display()));
        Ok(Outcome::Violated)
    };
    let found = match log::verify(&bytes) {
        Ok(found) => found,
        Err(error) => return broken(&error),
    };
    if let Some(file) = &args.key {
        let pem = std::fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
        let key = log::verifying_key(&pem).map_err(|error| unreadable(file, &error))?;
        if log::signing_key(&pem).is_ok() {
            let about = std::fs::metadata(file).map_err(|error| unreadable(file, &error))?;
            args.secrets.check(file, &about)?;
        }
        if let Err(differs) = log::same_key(found.key.as_ref(), Some(&key)) {
            return broken(&differs);
        }
    }
    if let Some(of) = args.spec.as_deref() {
        let (spec, checked) = spec::usable(of)?;
        let here = Identity::new(
            checked.token_hash(),
            &args.models.read(&spec, of, &checked.models)?,
        );
        if let Err(differs) = here.same(&found.identity) {
            return broken(&differs);
        }
    }
    let is_cut = found.whole < bytes.len();
    if is_cut {
        let rest = bytes.len() - found.whole;
        complain(&format!(
            "`{}`: the last {rest} bytes are an incomplete line",
            path.display()
        ));
    }
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{} decisions in one hash chain ending in {}",
        found.decisions,
        found.chain.hash()
    )?;
    if let Some(line) = &found.follows {
        writeln!(out, "continues a log that ended in {line}")?;
    }
    if let Some(key) = &found.key {
        writeln!(out, "signed with the key {}", log::hex(key.as_bytes()))?;
    }
    Ok(match is_cut {
        true => Outcome::Unreadable,
        false => Outcome::Holds,
    })
}
