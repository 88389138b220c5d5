//! Proposals and their reservations.
//!
//! Between the check of an action and its execution other actions are checked. An allowed proposal is therefore reserved from
//! then on: every later proposal of its trace is judged twice, once on the events that happened and once as if all open
//! proposals had happened before it, in their order. The stricter of the two decisions applies. An open proposal that would itself be
//! denied now is not assumed to happen: its commit is denied, and a violation by it alone would deny every other action. A proposal stays reserved until
//! it is committed, abandoned, or older than [`Options::reservation`](super::Options::reservation); so does one about which a
//! person is being asked, or 30 days old if a [hook](Monitor::set_hooked) made it. [`Monitor::act`] checks and records in one step, and needs no reservation.
//!
//! | request | judged on | recorded | reserved |
//! |---|---|---|---|
//! | `observe` | what happened | always | - |
//! | `act` | what happened; that and all open proposals | if the ruling is below `ask` | if the ruling is `ask` |
//! | `propose` | the same | no | unless the ruling denies |
//! | `commit` | the same without its own reservation | always | ends |
//! | `abandon` | - | no | ends |
//!
//! While a person is being asked about actions that no commit will follow, actions are judged in further orders (`questions`).

use smol_str::SmolStr;

use super::decision::{Cause, Decision, Ruling};
use super::envelope::NO_PROPOSAL;
use super::live::{Monitor, Read, Trace, forbidden};
use super::usage::{self, Usage};
use crate::input::record::{Event, Unit};
use crate::value::{Cell, Instant, Value};

/// The seconds for which a proposal of a hook counts.
const LASTING: u64 = 30 * 24 * 3600;

/// A proposed action that was allowed.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Proposal {
    pub(super) trace: SmolStr,
    /// The arms that acted for the proposal, each with its clause.
    pub(super) acted: Vec<(usize, usize)>,
    /// The facts that the event states about its record.
    pub(super) meta: Box<[Cell]>,
    /// The cells of its steps; fields that exist only after the action are unknown.
    pub(super) steps: Vec<Box<[Cell]>>,
    /// The clauses that asked a person about it; `None` if nobody was asked.
    pub(super) asked: Option<Box<[usize]>>,
    /// Whether it was made by a hook: it happens without a commit if the person agrees.
    pub(super) lasts: bool,
    /// The client that made it.
    client: u32,
    /// The size of its cells.
    pub(super) bytes: usize,
    /// The time at which it expires, on the caller's clock; `None` if it was made without a time.
    until: Option<i128>,
}

/// The open proposals of a trace.
#[derive(Debug, Default)]
pub(super) struct Reserved {
    /// Their numbers, in ascending order.
    pub(super) numbers: Vec<u64>,
    pub(super) usage: Usage,
    /// The trace as if all of them had happened. Created on demand, because every recorded event invalidates it.
    pub(super) fork: Option<Trace>,
}

impl Monitor {
    /// Judges an action, or the end of a trace, as if it happened now, while the fields marked `@outcome` are unknown.
    /// The trace does not change. Unless the ruling denies, the decision carries the number of the proposal, and the
    /// proposal counts until it is committed or abandoned.
    pub fn propose(&mut self, event: &[u8], now: Option<Instant>) -> Decision {
        match self.read(event) {
            Ok(Unit::Event(event)) => self.propose_event(event, now),
            Ok(Unit::End { trace, .. }) => self.propose_end(&trace.unwrap_or_default()),
            Ok(Unit::Record(_)) => self.whole_trace(),
            Err(why) => self.unreadable(why),
        }
    }

    /// Judges a [proposed](Self::propose) action, given as a reader of records yields it.
    pub fn propose_event(&mut self, mut event: Event, now: Option<Instant>) -> Decision {
        if let Some(refused) = self.foreign(&event) {
            return refused;
        }
        self.await_outcomes(&mut event);
        self.proposal(event, now)
    }

    /// Judges an action, or the end of a trace. If the ruling is below [`Ruling::Ask`], it is recorded as having
    /// happened; if a person must be asked, the action is [proposed](Self::propose) instead.
    pub fn act(&mut self, event: &[u8], now: Option<Instant>) -> Decision {
        match self.read(event) {
            Ok(Unit::Event(event)) => self.act_event(event, now),
            Ok(Unit::End { trace, .. }) => {
                let trace = trace.unwrap_or_default();
                let asked = self.propose_end(&trace);
                match asked.ruling < Ruling::Ask {
                    true => self.end(&trace, now),
                    false => asked,
                }
            }
            Ok(Unit::Record(_)) => self.whole_trace(),
            Err(why) => self.unreadable(why),
        }
    }

    /// [`Monitor::act`] for an event that a reader of records yields.
    pub(crate) fn act_event(&mut self, event: Event, now: Option<Instant>) -> Decision {
        if let Some(refused) = self.foreign(&event) {
            return refused;
        }
        self.expire(now);
        let name = event.trace.clone().unwrap_or_default();
        // One step is enough if no proposal is reserved and the event has no fields that exist only after the action.
        let others = self.reserved.contains_key(&name) || self.histories.contains_key(&name);
        let approval = self.approval_of_main_agent(&event);
        let mut decision = match self.awaits() || others {
            true => self.act_reserved(event, now),
            false => self.act_at_once(event, name, now),
        };
        if !matches!(decision.cause, Cause::Unreadable | Cause::Forbidden) {
            decision.cause = Cause::Act;
            let approval = approval.filter(|_| decision.ruling < Ruling::Ask);
            self.approve_main_agent(approval, now, &mut decision);
        }
        decision
    }

    /// Steps the trace itself, and undoes the step if the action may not happen.
    fn act_at_once(&mut self, event: Event, name: SmolStr, now: Option<Instant>) -> Decision {
        let saved = match self.traces.remove(&name) {
            Some(mut trace) => {
                let copy = self.fork(&mut trace);
                self.traces.insert(name.clone(), trace);
                Some(copy)
            }
            None => None,
        };
        let (mut read, mut trace) = match self.take(event, now) {
            Ok(taken) => taken,
            Err(refused) => return refused,
        };
        let mut decision = Decision::new(Cause::Act);
        decision.step = Some(trace.next);
        self.advance(&mut trace, &mut read, false, &mut decision);
        if decision.verdicts.is_empty() {
            self.record_current(&mut trace, &mut decision);
        }
        if decision.ruling < Ruling::Ask {
            self.rest(&read.trace, trace);
        } else if let Some(saved) = saved {
            self.traces.insert(name, saved);
        }
        if decision.ruling == Ruling::Ask {
            self.reserve(&read, now, None, &mut decision);
        } else if decision.ruling.denies() {
            self.miss_deadlines(&read);
        }
        decision.trace = Some(read.trace);
        decision
    }

    /// Proposes the action, and commits it if it may happen.
    fn act_reserved(&mut self, event: Event, now: Option<Instant>) -> Decision {
        let mut awaited = event.clone();
        self.await_outcomes(&mut awaited);
        let mut proposed = self.proposal(awaited, now);
        let may_be_denied = self.awaits() && !proposed.ruling.denies();
        if proposed.ruling >= Ruling::Ask && !may_be_denied {
            return proposed;
        }
        let number = proposed.proposal.take();
        let released = number.and_then(|number| Some((number, self.release(number)?)));
        let Some((number, proposal)) = released else {
            return proposed;
        };
        // The outcome that the line gives, or lacks, is judged before anything is recorded.
        if may_be_denied {
            let (read, after, judged) = match self.judge_outcome(event.clone(), now, number) {
                Ok(judged) => judged,
                Err(refused) => return refused,
            };
            let mut stricter = match judged.ruling >= proposed.ruling {
                true => judged,
                false => proposed.clone(),
            };
            match stricter.ruling {
                Ruling::Ask => self.reserve(&read, now, after, &mut stricter),
                ruling if ruling.denies() => self.miss_deadlines(&read),
                _ => {}
            }
            if stricter.ruling >= Ruling::Ask {
                stricter.trace = Some(read.trace);
                return stricter;
            }
        }
        if self.has_outcome(&event) {
            // It is known whether the outcome violates.
            proposed.clauses.retain(|fired| fired.arm.is_some());
        }
        // Nobody has seen what the proposal decided, so every clause acts again.
        let proposal = Proposal {
            acted: Vec::new(),
            ..proposal
        };
        let mut done = self.event(event, now, Some((number, &proposal)));
        done.add_clauses(proposed);
        done
    }

    /// Whether an event gives all fields marked `@outcome`. One that it lacks is null.
    fn has_outcome(&self, event: &Event) -> bool {
        let mut cells = event.steps.iter().flat_map(|step| {
            let cells = &step.cells;
            self.awaited.iter().filter_map(|field| cells.get(*field))
        });
        cells.all(|cell| matches!(cell, Cell::Known(value) if *value != Value::Null))
    }

    /// Records that a proposed action has happened. The event is judged again, because its outcome is now known and other
    /// events may have happened in between. An arm that already acted for the proposal does not act again, nor does a
    /// clause ask again. A caller that has not carried out the action yet must not do so if this decision denies or asks.
    ///
    /// An event that cannot be read is recorded as it was proposed.
    pub fn commit(&mut self, proposal: u64, event: &[u8], now: Option<Instant>) -> Decision {
        match self.read_outcome(event) {
            Ok(Unit::Event(event)) => self.committed(proposal, event, now),
            Ok(Unit::End { trace, .. }) => self.end(&trace.unwrap_or_default(), now),
            Ok(Unit::Record(_)) => self.whole_trace(),
            Err(why) => match self.proposals.get(&proposal) {
                Some(known) => {
                    let event = self.event_of(known, Some(why));
                    self.committed(proposal, event, now)
                }
                None => self.unreadable(why),
            },
        }
    }

    /// Commits a proposal, with the event that happened.
    pub(super) fn committed(
        &mut self,
        proposal: u64,
        mut event: Event,
        now: Option<Instant>,
    ) -> Decision {
        self.expire(now);
        if event.trace.is_none() {
            let known = self.proposals.get(&proposal);
            event.trace = known.map(|known| known.trace.clone());
        }
        let asked = |proposal: &Proposal| proposal.asked.is_some();
        // Whichever proposal its sender names: one of another action, one that has expired, or none.
        if self.is_bound()
            && (self.proposals.get(&proposal).is_some_and(asked)
                || self.judged_anew(event.clone(), now, None).ruling == Ruling::Ask)
        {
            return forbidden("only an approver may commit what a person was asked about");
        }
        if self.is_of_other_client(proposal) {
            return forbidden("only its own client or an approver may commit a proposal");
        }
        let number = proposal;
        let proposal = self.release(number);
        let name = event.trace.clone().unwrap_or_default();
        if let Some(other) = proposal.as_ref().filter(|of| of.trace != name) {
            self.refuse_histories(number, other);
        }
        let same = proposal.filter(|proposal| proposal.trace == name);
        let same = same.as_ref().map(|proposal| (number, proposal));
        let is_among_others = self.reserved.contains_key(&name);
        let among_others =
            is_among_others.then(|| self.judged_anew(event.clone(), now, Some(number)));
        let approval = self.approval_of_main_agent(&event);
        let mut done = self.event(event, now, same);
        self.approve_main_agent(approval, now, &mut done);
        if let Some(stricter) = among_others
            && stricter.ruling.denies()
            && stricter.ruling > done.ruling
        {
            done.ruling = stricter.ruling;
            done.clauses = stricter.clauses;
            done.errors = stricter.errors;
            done.reserved = stricter.reserved;
        }
        if let Some((_, proposal)) = same {
            done.keep_further(proposal.asked.as_deref().unwrap_or_default());
        }
        if number == NO_PROPOSAL {
            let note = "the `proposal` of the commit is no number of a proposal: the event is recorded, and the reservation remains until its age ends it";
            done.notes.push(note.to_owned());
        }
        done
    }

    /// Judges an action as if it were proposed now, without reserving it. `number`: the proposal that it was.
    fn judged_anew(&mut self, event: Event, now: Option<Instant>, number: Option<u64>) -> Decision {
        match self.judge_proposal(event, now, number) {
            Ok((_, _, decision)) | Err(decision) => decision,
        }
    }

    /// Judges an action with the outcome that its event gives, or lacks, as [`judge_proposal`](Self::judge_proposal) does.
    fn judge_outcome(
        &mut self,
        event: Event,
        now: Option<Instant>,
        number: u64,
    ) -> Result<(Read, Option<Trace>, Decision), Decision> {
        // No field is still to come.
        let awaited = std::mem::take(&mut self.awaited);
        let judged = self.judge_proposal(event, now, Some(number));
        self.awaited = awaited;
        judged
    }

    /// Abandons a proposal at a time: one that has expired by then is not open any more.
    pub(super) fn abandon_at(&mut self, proposal: u64, now: Option<Instant>) -> Decision {
        self.expire(now);
        self.abandon(proposal)
    }

    /// Ends a proposal that will not happen: it is no longer reserved. Denies if no open proposal has the number.
    pub fn abandon(&mut self, proposal: u64) -> Decision {
        let mut decision = Decision::new(Cause::Proposal);
        decision.proposal = Some(proposal);
        if self.is_of_other_client(proposal) {
            return forbidden("only its own client or an approver may abandon a proposal");
        }
        match self.release(proposal) {
            Some(released) => {
                self.refuse_histories(proposal, &released);
                decision.trace = Some(released.trace);
            }
            // A client that abandons another number than it means leaves its own reservation open.
            None => decision.deny(format!(
                "no open proposal has the number {proposal}: it was denied, committed, abandoned, older than its reservation, or never made"
            )),
        }
        decision
    }

    /// Whether a proposal is another client's, and the sender is no approver. Those of hooks are of their sessions, with whatever token
    /// these go on.
    fn is_of_other_client(&self, proposal: u64) -> bool {
        let others = |known: &Proposal| known.client != self.client;
        let is_others = self.proposals.get(&proposal).is_some_and(others);
        is_others && self.is_reporter() && !self.hooked
    }

    /// Judges a proposed action, and reserves it if it may happen.
    fn proposal(&mut self, event: Event, now: Option<Instant>) -> Decision {
        let (read, after, mut decision) = match self.judge_proposal(event, now, None) {
            Ok(judged) => judged,
            Err(refused) => return refused,
        };
        if !decision.ruling.denies() {
            self.reserve(&read, now, after, &mut decision);
        } else {
            self.miss_deadlines(&read);
        }
        decision.trace = Some(read.trace);
        decision
    }

    /// Counts the deadlines that had passed when a denied action was proposed as missed. The decision has said so. As a denied action is not
    /// recorded, they would deny every later one, the late answer too.
    fn miss_deadlines(&mut self, read: &Read) {
        let time = self.time_of(&read.event);
        if let (Some(time), Some(trace)) = (time, self.traces.get_mut(&read.trace)) {
            self.step_cache.pass(&mut trace.live, time);
        }
    }

    /// Judges a proposed action; `number` is the proposal that it was, if it was one. Also returns its trace after the reserved proposals
    /// and the action, if there are any.
    fn judge_proposal(
        &mut self,
        event: Event,
        now: Option<Instant>,
        number: Option<u64>,
    ) -> Result<(Read, Option<Trace>, Decision), Decision> {
        self.expire(now);
        let known = event.trace.clone().unwrap_or_default();
        let before = self
            .traces
            .get(&known)
            .map(|trace| (trace.ahead, trace.live.meta().to_vec()));
        let (mut read, mut trace) = self.take(event, now)?;
        let mut decision = Decision::new(Cause::Proposal);
        decision.step = Some(trace.next);
        self.judge_fork(&mut trace, &mut read, &mut decision);
        if decision.verdicts.is_empty() {
            self.record_current(&mut trace, &mut decision);
        }
        // The trace does not change. If nothing has happened in it, it is not begun.
        if let Some((ahead, meta)) = before {
            trace.ahead = ahead;
            trace.live.set_meta(meta);
            self.traces.insert(read.trace.clone(), trace);
        }
        let mut after = None;
        if !decision.ruling.denies() {
            after = self.judge_reserved(&mut read, &mut decision);
            self.judge_with_questions(&read, number, &mut decision);
        }
        Ok((read, after, decision))
    }

    /// Judges an event after all reserved proposals of its trace. `decision` becomes the stricter of the two. Returns
    /// the resulting trace, or `None` if nothing is reserved.
    fn judge_reserved(&mut self, read: &mut Read, decision: &mut Decision) -> Option<Trace> {
        let numbers = self.reserved.get(&read.trace)?.numbers.clone();
        let kept = self.reserved.get_mut(&read.trace)?.fork.take();
        let mut fork = match kept {
            Some(fork) => fork,
            None => self.fork_reserved(&read.trace, &numbers),
        };
        let mut after = self.fork(&mut fork);
        if let Some(reserved) = self.reserved.get_mut(&read.trace) {
            reserved.fork = Some(fork);
        }
        after.live.learn_meta(&self.program, &read.event.meta);
        self.not_before(&after, &mut read.event);
        let mut judged = Decision::new(decision.cause);
        self.advance(&mut after, read, true, &mut judged);
        judged.reserved = numbers.len();
        decision.join(judged);
        Some(after)
    }

    /// Returns the trace as if the proposals of these numbers had happened, except those that are denied by now.
    pub(super) fn fork_reserved(&mut self, name: &SmolStr, numbers: &[u64]) -> Trace {
        let mut fork = match self.traces.remove(name) {
            Some(mut trace) => {
                let fork = self.fork(&mut trace);
                self.traces.insert(name.clone(), trace);
                fork
            }
            None => self.begin_trace(),
        };
        for number in numbers {
            let Some(proposal) = self.proposals.get(number) else {
                continue;
            };
            let event = self.event_of(proposal, None);
            let mut after = self.fork(&mut fork);
            if !self
                .happen(&mut after, name, &event, &[], true)
                .ruling
                .denies()
            {
                fork = after;
            }
        }
        fork
    }

    /// Raises the times of an event that is judged after reserved ones to the latest time of those, so that no clock
    /// runs back: a reserved proposal keeps the time at which it was proposed.
    pub(super) fn not_before(&self, trace: &Trace, event: &mut Event) {
        if let Some(latest) = trace.live.latest() {
            self.raise_times(event, latest);
        }
    }

    /// Raises the times of an event to this one.
    pub(super) fn raise_times(&self, event: &mut Event, to: i128) {
        let Some(clock) = self.clock() else {
            return;
        };
        for step in &mut event.steps {
            if let Some(Cell::Known(Value::Time(time))) = step.cells.get_mut(clock) {
                time.0 = time.0.max(to);
            }
        }
    }

    /// Reserves a permitted proposal, and gives the decision its number. If there is no room, the decision denies.
    fn reserve(
        &mut self,
        read: &Read,
        now: Option<Instant>,
        fork: Option<Trace>,
        decision: &mut Decision,
    ) {
        let cells = read.event.steps.iter().flat_map(|step| step.cells.iter());
        let meta = read.event.meta.cells(&self.program.spec().schema.meta);
        let bytes = usage::size(cells.chain(&meta));
        let of_trace = self.reserved.get(&read.trace);
        let of_trace = of_trace.map_or(Usage::default(), |reserved| reserved.usage);
        let of_client = self.clients.get(self.client);
        if let Err(why) = usage::room(&self.options, (of_trace, of_client), bytes) {
            decision.deny(why);
            return;
        }
        let acted = decision.clauses.iter();
        let acted = acted.filter_map(|fired| Some((fired.clause, fired.arm?)));
        // Also where the other trace of a hook asks.
        let lasts = self.hooked;
        let seconds = match lasts {
            true => LASTING,
            false => self.options.reservation.as_secs(),
        };
        let lifetime = i128::from(seconds).saturating_mul(Instant::SECOND);
        let proposal = Proposal {
            trace: read.trace.clone(),
            acted: acted.collect(),
            meta,
            steps: read
                .event
                .steps
                .iter()
                .map(|step| step.cells.clone())
                .collect(),
            asked: (decision.ruling == Ruling::Ask).then(|| decision.asking().collect()),
            lasts,
            client: self.client,
            bytes,
            until: now.map(|now| now.0.saturating_add(lifetime)),
        };
        let number = self.add_proposal(proposal);
        if let Some(reserved) = self.reserved.get_mut(&read.trace) {
            reserved.fork = fork;
        }
        decision.proposal = Some(number);
    }

    /// Returns the number that a proposal gets.
    pub(super) fn add_proposal(&mut self, proposal: Proposal) -> u64 {
        let number = self.next_proposal;
        self.next_proposal += 1;
        self.count(number, &proposal);
        self.proposals.insert(number, proposal);
        number
    }

    /// Ends the proposals that have expired.
    fn expire(&mut self, now: Option<Instant>) {
        let Some(now) = now else {
            return;
        };
        while let Some(&(until, number)) = self.expiries.first()
            && until < now.0
        {
            self.expiries.pop_first();
            if let Some(expired) = self.release(number) {
                self.refuse_histories(number, &expired);
            }
        }
    }

    /// Removes a proposal from the reserved ones.
    fn release(&mut self, number: u64) -> Option<Proposal> {
        let proposal = self.proposals.remove(&number)?;
        self.uncount(number, &proposal);
        if let Some(reserved) = self.reserved.get_mut(&proposal.trace) {
            reserved.numbers.retain(|other| *other != number);
            reserved.usage.remove(proposal.bytes);
            reserved.fork = None;
            if reserved.numbers.is_empty() {
                self.reserved.remove(&proposal.trace);
            }
        }
        Some(proposal)
    }

    /// Adds a proposal to the counts of its trace and its client.
    pub(super) fn count(&mut self, number: u64, proposal: &Proposal) {
        let reserved = self.reserved.entry(proposal.trace.clone()).or_default();
        reserved.numbers.push(number);
        reserved.usage.add(proposal.bytes);
        self.clients.add(proposal.client, proposal.bytes);
        self.expiries
            .extend(proposal.until.map(|until| (until, number)));
    }

    /// Takes a proposal out of the counts of its client, and of what expires.
    fn uncount(&mut self, number: u64, proposal: &Proposal) {
        self.clients.remove(proposal.client, proposal.bytes);
        if let Some(until) = proposal.until {
            self.expiries.remove(&(until, number));
        }
    }

    /// Ends all proposals of a trace that has ended.
    pub(super) fn release_all(&mut self, trace: &str) {
        self.histories.remove(trace);
        let reserved = self.reserved.remove(trace);
        for number in reserved.into_iter().flat_map(|reserved| reserved.numbers) {
            if let Some(proposal) = self.proposals.remove(&number) {
                self.uncount(number, &proposal);
            }
        }
    }
}
