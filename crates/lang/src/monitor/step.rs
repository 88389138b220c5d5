//! Steps of a live trace: events that happened or are proposed, and moments without an event.

use smol_str::SmolStr;

use super::arms::Memory;
use super::decision::{Cause, Decision};
use super::judge::{Context, StepMemory};
use super::live::{Monitor, Read, Trace, forbidden, too_many};
use super::owed_text;
use super::reading::problem_message;
use super::reserve::Proposal;
use crate::eval::{self, Live};
use crate::ids::PropertyId;
use crate::input::record::Event;
use crate::problem::{Problem, ProblemKind};
use crate::value::{Cell, Instant, Truth, Value};

/// The end of the name of a main agent's own trace, which hooks begin and no reporter may use.
pub const OF_MAIN_AGENT: char = '/';

/// The greatest number of obligations of one property that a proposed end reports.
const MOST_OWED: usize = 20;

/// Borrows the step cache and the context of judging from a monitor, so that its other parts stay available.
macro_rules! context {
    ($monitor:expr) => {
        (
            &mut $monitor.step_cache,
            Context {
                program: &$monitor.program,
                table: &$monitor.table,
                chains: &$monitor.chains,
                names: &$monitor.names,
                outcomes: $monitor.options.outcomes,
            },
        )
    };
}

impl Monitor {
    /// Returns a new trace without events.
    pub(super) fn begin_trace(&self) -> Trace {
        Trace {
            live: Live::new(&self.program),
            memory: vec![Memory::default(); self.table.clauses.len()].into(),
            chain_position: self.chains.begin(),
            next: 0,
            ahead: 0,
            due: None,
        }
    }

    /// Returns a copy of a trace; both share unchanged parts.
    pub(super) fn fork(&self, trace: &mut Trace) -> Trace {
        Trace {
            live: trace.live.fork(&self.program),
            memory: trace.memory.clone(),
            chain_position: trace.chain_position.clone(),
            ..*trace
        }
    }

    /// Removes the trace of an event from the monitor for stepping, or begins it.
    pub(super) fn take(
        &mut self,
        mut event: Event,
        now: Option<Instant>,
    ) -> Result<(Read, Trace), Decision> {
        let spelt_otherwise = self.spellings.check(&mut event);
        if self.is_bound() && self.is_approval(&event) {
            return Err(forbidden("only an approver may report an approval"));
        }
        let name = event.trace.clone().unwrap_or_default();
        // It holds the approvals of the trace that it began as, which count there already.
        if self.is_bound() && !self.hooked && name.ends_with(OF_MAIN_AGENT) {
            return Err(forbidden(
                "only hooks or an approver may use the trace of a main agent: its name ends with `/`",
            ));
        }
        let mut trace = match self.traces.remove(&name) {
            Some(trace) => trace,
            None if self.traces.len() >= self.options.traces => {
                let limit = self.options.traces;
                let mut decision = self.unreadable(too_many(limit));
                decision.trace = Some(name);
                return Err(decision);
            }
            None => self.begin_trace(),
        };
        trace.live.learn_meta(&self.program, &event.meta);
        if let Some(clock) = self.clock {
            self.set_clock(clock, &mut event, &mut trace, now);
        }
        let errors = event
            .problems
            .iter()
            .filter(|problem| problem.kind.is_error());
        let errors = errors.map(problem_message).collect();
        for step in &mut event.steps {
            step.index = trace.next;
        }
        let mut read = Read {
            trace: name,
            event,
            errors,
            notes: Vec::new(),
        };
        read.notes = self.notes(&mut trace, &read);
        read.notes.extend(spelt_otherwise);
        Ok((read, trace))
    }

    /// Fills in a missing time from the caller's clock; a time of the event itself sets the clock of the trace.
    fn set_clock(&self, clock: usize, event: &mut Event, trace: &mut Trace, now: Option<Instant>) {
        let Some(now) = now else {
            return;
        };
        let name = self
            .program
            .spec()
            .schema
            .fields
            .get(clock)
            .map(|field| &field.name);
        let absent = |problem: &Problem| {
            problem.kind == ProblemKind::MissingField && problem.field.as_ref() == name
        };
        let mut filled = false;
        for step in &mut event.steps {
            match &step.cells[clock] {
                Cell::Known(Value::Time(own)) => trace.ahead = own.0.saturating_sub(now.0),
                Cell::Known(Value::Null) => filled = true,
                Cell::Unknown if event.problems.iter().any(absent) => filled = true,
                _ => {}
            }
            if filled {
                let own = now.0.saturating_add(trace.ahead);
                let own = trace.live.latest().map_or(own, |latest| latest.max(own));
                step.cells[clock] = Cell::Known(Value::Time(Instant(own)));
            }
        }
        if filled {
            event.problems.retain(|problem| !absent(problem));
        }
    }

    /// Records an event that happened. `answers`: the proposal that it was, and the arms that acted for that.
    pub(super) fn event(
        &mut self,
        mut event: Event,
        now: Option<Instant>,
        answers: Option<(u64, &Proposal)>,
    ) -> Decision {
        self.withhold_approvals(&mut event);
        let (mut read, mut trace) = match self.take(event, now) {
            Ok(taken) => taken,
            Err(refused) => return refused,
        };
        for (clause, arm) in answers.iter().flat_map(|(_, proposal)| &proposal.acted) {
            if let Some(memory) = trace.memory.get_mut(*clause) {
                memory.acted |= 1u64.checked_shl(*arm as u32).unwrap_or(0);
            }
        }
        let histories = self.histories_before(&read.trace, &mut trace);
        let mut decision = Decision::new(Cause::Event);
        decision.step = Some(trace.next);
        self.advance(&mut trace, &mut read, false, &mut decision);
        if decision.verdicts.is_empty() {
            self.record_current(&mut trace, &mut decision);
        }
        self.rest(&read.trace, trace);
        let answers = answers.map(|(number, _)| number);
        self.continue_histories(&read, histories, answers, decision.ruling);
        decision.trace = Some(read.trace);
        decision
    }

    /// Steps a trace by an event, and judges it. `awaits`: whether the fields marked `@outcome` do not exist yet.
    pub(super) fn advance(
        &mut self,
        trace: &mut Trace,
        read: &mut Read,
        awaits: bool,
        decision: &mut Decision,
    ) {
        for step in &mut read.event.steps {
            step.index = trace.next;
        }
        trace.next = trace.next.saturating_add(1);
        decision.notes.clone_from(&read.notes);
        let is_trace = self.program.is_trace(trace.live.meta()) != Truth::False;
        let awaited = if awaits { &self.awaited[..] } else { &[] };
        for step in read.event.steps.iter().filter(|_| is_trace) {
            let Trace {
                live,
                memory,
                chain_position,
                ..
            } = trace;
            let (step_cache, context) = context!(self);
            context.judge(decision, &read.errors, |look| {
                step_cache.happened(&self.program, live, step, |view| {
                    let kept = StepMemory {
                        memory,
                        chain_position,
                    };
                    look(view, kept, Some(step.index), awaited);
                })
            });
        }
    }

    /// Judges an event as if it happened; the trace does not change.
    pub(super) fn judge_fork(
        &mut self,
        trace: &mut Trace,
        read: &mut Read,
        decision: &mut Decision,
    ) {
        let [step] = &read.event.steps[..] else {
            // An event may be several steps, which follow each other.
            let mut fork = self.fork(trace);
            return self.advance(&mut fork, read, true, decision);
        };
        if self.program.is_trace(trace.live.meta()) == Truth::False {
            return;
        }
        decision.notes.clone_from(&read.notes);
        let (mut memory, mut chain_position) = (trace.memory.clone(), trace.chain_position.clone());
        let (step_cache, context) = context!(self);
        context.judge(decision, &read.errors, |look| {
            step_cache.proposed(&self.program, &mut trace.live, step, |view| {
                let kept = StepMemory {
                    memory: &mut memory,
                    chain_position: &mut chain_position,
                };
                look(view, kept, Some(step.index), &self.awaited);
            })
        });
    }

    /// Puts a trace back into the monitor after an event.
    pub(super) fn rest(&mut self, name: &SmolStr, mut trace: Trace) {
        if let Some(latest) = trace.live.latest() {
            self.wait(name, &mut trace, latest);
        }
        if let Some(reserved) = self.reserved.get_mut(name) {
            reserved.fork = None;
        }
        self.traces.insert(name.clone(), trace);
    }

    /// Judges a trace at a moment without an event.
    pub(super) fn peek(&mut self, trace: &mut Trace, moment: eval::Peek, decision: &mut Decision) {
        if self.program.is_trace(trace.live.meta()) == Truth::False {
            return;
        }
        // If a trace declares that it is not complete, its verdicts stay open.
        let open = self
            .program
            .complete(trace.live.meta())
            .is_some_and(|c| c != Truth::True);
        if moment == eval::Peek::End && open {
            self.record_current(trace, decision);
            return;
        }
        let (mut memory, mut chain_position) = (trace.memory.clone(), trace.chain_position.clone());
        let live = &mut trace.live;
        let (step_cache, context) = context!(self);
        let mut owed = Vec::new();
        context.judge(decision, &[], |look| {
            step_cache.peek(&self.program, live, moment, |view| {
                let kept = StepMemory {
                    memory: &mut memory,
                    chain_position: &mut chain_position,
                };
                look(view, kept, None, &[]);
                if moment == eval::Peek::End {
                    for (idx, name) in self.names.iter().enumerate() {
                        let all = view.obligations(PropertyId::new(idx), MOST_OWED);
                        let enums = &self.program.spec().enums;
                        owed.extend(all.iter().map(|owed| owed_text(name, owed, enums)));
                    }
                }
            });
            true
        });
        decision.owed = owed;
    }

    /// Records the current verdicts and risk values of a trace without a new event.
    pub(super) fn record_current(&mut self, trace: &mut Trace, decision: &mut Decision) {
        for (idx, name) in self.names.iter().enumerate() {
            let property = PropertyId::new(idx);
            let verdict = self
                .step_cache
                .verdict(&self.program, &mut trace.live, property);
            decision.verdicts.push((name.clone(), verdict));
        }
        let (_, context) = context!(self);
        context.record_current_risk(&trace.chain_position, decision);
    }

    /// Schedules the next deadline of a trace, at a time on its clock or later: an event at the deadline itself may leave the
    /// obligation pending.
    pub(super) fn wait(&mut self, name: &str, trace: &mut Trace, from: i128) {
        let before = from.saturating_sub(1);
        let next = self.step_cache.deadline(&mut trace.live, before);
        let next = next.map(|deadline| deadline.saturating_sub(trace.ahead));
        self.schedule(name, trace.due, next);
        trace.due = next;
    }

    pub(super) fn schedule(&mut self, name: &str, before: Option<i128>, next: Option<i128>) {
        if before == next {
            return;
        }
        if let Some(before) = before {
            self.due.remove(&(before, SmolStr::new(name)));
        }
        if let Some(next) = next {
            self.due.insert((next, SmolStr::new(name)));
        }
    }
}
