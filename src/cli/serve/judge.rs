//! The thread of `guard serve` that judges: it owns the monitor and its files, and takes one job after another.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

use crate::cli::durable::calls::{CallList, Kept, LOST, Unrecorded};
use crate::cli::durable::monitor::DurableMonitor;
use crate::cli::durable::state::{ONLY_ME, Sync};
use crate::cli::failure::{code, complain, internal_fault};
use crate::integrations::Judge as _;
use crate::integrations::hook::{self, Answer, Call, Sessions};
use crate::monitor::{Decision, Envelope, EnvelopeFields, Speaker};

/// The stack size in bytes of the thread that judges: input may be nested up to the limits.
pub(super) const JUDGE_STACK: usize = 256 << 20;

/// The greatest number of decisions on deadlines that wait for a request about their traces.
const MOST_PENDING: usize = 1 << 16;

/// A job for the judging thread.
pub(super) struct Job {
    pub(super) speaker: Client,
    pub(super) request: JobRequest,
    /// Whether it says that something happened, which is judged in any case.
    pub(super) happened: bool,
    /// Set by the judge when it begins, or by the client when it has waited too long; the first one wins.
    pub(super) claimed: Arc<AtomicBool>,
    pub(super) reply: SyncSender<Result<String, String>>,
}

/// The client of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client {
    pub(super) role: Speaker,
    /// The number of the client, which depends on its token alone; 0 without a token.
    pub(super) client: u32,
}

pub(super) enum JobRequest {
    /// A line of a body.
    Line(Arc<Vec<u8>>, Range<usize>),
    Hook(Box<Call>),
    /// Notes that a hook call was not read, which may have reported an outcome.
    LostHook,
    /// Writes the state.
    Close,
}

impl JobRequest {
    /// Whether it is, or may be, an outcome that a hook reports.
    pub(super) fn is_outcome(&self) -> bool {
        match self {
            JobRequest::Hook(call) => call.is_outcome(),
            JobRequest::LostHook => true,
            JobRequest::Line(..) | JobRequest::Close => false,
        }
    }

    /// Whether it says that something happened, which is recorded even if nobody waits for the answer; `None` for a line that cannot be
    /// read, which may say so. Linear in the line.
    pub(super) fn states(&self, own: EnvelopeFields) -> Option<bool> {
        match self {
            JobRequest::Line(body, line) => {
                let line = body.get(line.clone()).unwrap_or_default();
                let line = Envelope::read(line, own).ok()?;
                Some(line.request.states())
            }
            JobRequest::Hook(call) => Some(call.is_outcome()),
            JobRequest::LostHook | JobRequest::Close => Some(true),
        }
    }
}

/// The monitor, on the thread that judges.
pub(super) struct Judging {
    pub(super) monitor: DurableMonitor,
    pub(super) sessions: Sessions,
    /// The list in which they are kept for a later process, if there is a journal.
    pub(super) calls: Option<CallList>,
    pub(super) sync: Sync,
    pub(super) traces: Arc<AtomicUsize>,
    pub(super) unrecorded: Arc<Unrecorded>,
    pub(super) deadlines: Deadlines,
    /// The reason why no further decision is made: a decision could not be recorded, so the monitor is ahead of its
    /// files.
    pub(super) failed: Option<String>,
}

/// The decisions on deadlines that passed, until a request about their traces: they hold values of those.
pub(super) struct Deadlines {
    pending: VecDeque<Decision>,
    /// Whether all lines are of one client, which hears of all traces but those of hooks at once.
    is_alone: bool,
}

impl Deadlines {
    pub(super) fn new(is_alone: bool) -> Deadlines {
        Deadlines {
            pending: VecDeque::new(),
            is_alone,
        }
    }

    /// Adds decisions. The oldest ones of too many are given up; the log has all.
    fn add(&mut self, decisions: &mut Vec<Decision>) {
        self.pending.extend(decisions.drain(..));
        let excess = self.pending.len().saturating_sub(MOST_PENDING);
        self.pending.drain(..excess);
    }

    /// Takes those for the client of a line about this trace.
    fn of_line(&mut self, trace: Option<&str>, sessions: &Sessions) -> Vec<Decision> {
        let Deadlines { pending, is_alone } = self;
        let is_told = |decision: &Decision| {
            let of = decision.trace.as_deref();
            of == trace || *is_alone && !of.is_some_and(|of| sessions.has_trace(of))
        };
        take_if(pending, is_told)
    }

    /// Takes those for the answer to a call.
    fn of_call(&mut self, call: &Call) -> Vec<Decision> {
        let is_told = |decision: &Decision| {
            let trace = decision.trace.as_deref();
            call.traces().any(|of| Some(of) == trace)
        };
        take_if(&mut self.pending, is_told)
    }
}

/// Takes the decisions that fulfil a condition.
fn take_if(pending: &mut VecDeque<Decision>, is_told: impl Fn(&Decision) -> bool) -> Vec<Decision> {
    let (told, kept) = std::mem::take(pending).into_iter().partition(is_told);
    *pending = kept;
    VecDeque::into(told)
}

impl Judging {
    /// Handles jobs in order of arrival, as long as there are clients.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        for mut job in jobs {
            if !job.happened && job.claimed.swap(true, Ordering::AcqRel) {
                continue;
            }
            if self.unrecorded.take_given_up() {
                self.lose();
            }
            let answered = std::panic::catch_unwind(AssertUnwindSafe(|| self.answer(&mut job)));
            let answer = answered.unwrap_or_else(|_| {
                // The state after a panic must not be used for further decisions.
                internal_fault();
                std::process::exit(i32::from(code::INTERNAL))
            });
            if job.request.is_outcome() {
                self.unrecorded.remove();
            }
            let traces = self.monitor.monitor.n_traces();
            self.traces.store(traces, Ordering::Relaxed);
            // The client may have disconnected.
            let _ = job.reply.send(answer);
        }
    }

    fn answer(&mut self, job: &mut Job) -> Result<String, String> {
        if let Some(why) = &self.failed {
            let why = why.clone();
            if job.request.is_outcome() {
                self.lose();
            }
            return Err(why);
        }
        self.monitor.speak_as(job.speaker.role, job.speaker.client);
        match &mut job.request {
            JobRequest::Line(body, line) => self.decide(body.get(line.clone()).unwrap_or_default()),
            JobRequest::Hook(call) => Ok(self.hook(call)),
            JobRequest::LostHook => {
                self.lose();
                Ok(String::new())
            }
            JobRequest::Close => {
                self.monitor.close();
                // Nothing is decided that the state does not hold.
                self.failed = Some("the server ends".to_owned());
                Ok(String::new())
            }
        }
    }

    /// Notes that the outcome of a call was lost: the next call of its session is preceded by an outcome of unknown content.
    fn lose(&mut self) {
        self.sessions.lose();
        self.unrecorded.lose();
    }

    /// Returns one decision; deadlines that passed before are returned on separate lines.
    fn decide(&mut self, line: &[u8]) -> Result<String, String> {
        let decided = self.monitor.decide(line);
        let decision = decided.map_err(|failure| {
            let why = failure.to_string();
            complain(&format!("nothing is decided any more: {why}"));
            self.failed = Some(why.clone());
            why
        })?;
        self.deadlines.add(&mut self.monitor.late);
        let late = self
            .deadlines
            .of_line(decision.trace.as_deref(), &self.sessions);
        let mut out = String::new();
        for decision in late.iter().chain([&decision]) {
            decision.write_json(&mut out);
            out.push('\n');
        }
        Ok(out)
    }

    /// Answers a hook call that cannot be checked with a JSON denial: Claude Code does not treat every HTTP error status as a denial.
    fn hook(&mut self, call: &mut Call) -> String {
        let judged = self.judge(call).unwrap_or_else(|why| {
            // What the monitor has processed is not in its files, or what happened is not known to it.
            complain(&format!("nothing is decided any more: {why}"));
            self.failed = Some(why.clone());
            if call.is_outcome() {
                self.lose();
            }
            Err(why)
        });
        match judged {
            Ok(answer) => {
                self.deadlines.add(&mut self.monitor.late);
                let late = self.deadlines.of_call(call).into_iter();
                let answer = late.fold(answer.json, |answer, decision| {
                    call.with_deadline(answer, &decision)
                });
                answer.unwrap_or_else(|| serde_json::json!({})).to_string()
            }
            Err(reason) => hook::denial(call.hook(), &reason).to_string(),
        }
    }

    /// Judges a hook call, and keeps it with the list of calls.
    ///
    /// # Errors
    /// It could not be kept.
    fn judge(&mut self, call: &mut Call) -> Result<Result<Answer, String>, String> {
        let list = self.calls.as_ref();
        let next = match list.map(|list| list.make_room(ONLY_ME | LOST)).transpose() {
            Ok(next) => next,
            // Nothing was judged, and there may be room for the next call.
            Err(why) => {
                if call.is_outcome() {
                    self.lose();
                }
                return Ok(Err(why));
            }
        };
        self.monitor.set_hooked(true);
        self.monitor.wait(self.calls.is_some());
        let is_live = self.monitor.has_trace(call.trace());
        let has_lost = self.sessions.has_lost(call.session());
        let memory = self.sessions.next_call(call.session(), is_live);
        if has_lost {
            call.of_anybody()?.judge(&mut self.monitor, memory)?;
        }
        let judged = call.judge(&mut self.monitor, memory);
        self.monitor.wait(false);
        self.monitor.set_hooked(false);
        let Some(next) = next.filter(|_| self.monitor.has_more()) else {
            return Ok(judged);
        };
        let kept = Kept {
            sessions: self.sessions.clone(),
            ..Kept::default()
        };
        let monitor = &mut self.monitor;
        let keep = |calls: &str| {
            monitor
                .keep_with(calls)
                .map_err(|failure| failure.to_string())
        };
        let text = next.replace(&kept, self.sync, keep)?;
        if let Some(list) = &mut self.calls {
            list.text = text;
        }
        self.unrecorded.list();
        self.monitor.snapshot();
        Ok(judged)
    }
}
