//! Actions about which a person is being asked while nothing judges them again once the person agrees.
//!
//! A hook asks, and its program runs the call when the person agrees, without another request to the monitor
//! ([`Monitor::set_hooked`]). Such a question may be answered after any number of later actions, in any order with other
//! questions. So an action is denied while questions are open if an order of it and of some of them violates a clause in a way
//! in which the same order without it does not, or if a clause would ask about one of them that asks neither about it nor about the
//! action: nobody would be asked. What clauses ask about the action itself in any order is asked. An outcome cannot be denied: if an
//! open question would be denied after it, or need a further question, its decision says so.
//!
//! A question may be answered at any time since it was asked, and windows of time depend on it. Orders are tried with the time at
//! which it was asked, and with the time of the action.
//!
//! There are n! orders of n actions. Those that lead to the same state are continued once: of actions that may be exchanged, 2^n sets
//! are tried. The open questions of a trace are limited ([`Options::questions`](super::Options::questions)), and so are the events of all
//! orders together and the work of all their conditions, which is that of one step ([`Limits::step_work`](crate::eval::Limits::step_work)).

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::decision::{Cause, Decision, Ruling};
use super::histories::{Histories, History};
use super::live::{Monitor, Read, Trace};
use super::usage;
use crate::input::record::Event;
use crate::value::{Cell, Instant, Value};

/// The remedy if there are too many questions, or too much in them. No hook says that a person refused a call.
const ANSWER: &str = "answer them first (a refused call counts until the turn ends)";

/// The greatest number of bytes of events in all orders together: a large event may take long to judge, and `guard serve` judges one
/// action after another.
const MOST_BYTES: usize = 64 << 20;

/// The greatest number of states that are remembered of the orders with the same questions left. Each takes a kilobyte or more, and
/// each new one is compared with them.
const MOST_STATES: usize = 64;

/// The states in which orders with some questions left were continued: without the action, and with it if it has happened.
type Continued = FxHashMap<Vec<u64>, Vec<(Trace, Option<Trace>)>>;

/// The action whose orders with open questions are tried.
struct Orders<'a> {
    trace: &'a SmolStr,
    action: &'a Event,
    /// The size of its event in bytes.
    size: usize,
    errors: &'a [String],
    /// The time at which questions are answered before the action, if not that at which they were asked.
    late: Option<i128>,
    continued: Continued,
    /// The joined decision of all orders so far.
    decision: &'a mut Decision,
    /// The further questions about open questions, which nobody would be asked.
    further: &'a mut Vec<Decision>,
}

impl Monitor {
    /// Returns the numbers of the questions of a trace that are answered without a commit.
    pub(super) fn questions(&self, trace: &SmolStr) -> Vec<u64> {
        let reserved = self.reserved.get(trace).into_iter();
        let numbers = reserved.flat_map(|reserved| &reserved.numbers).copied();
        let lasts = |number: &u64| self.proposals.get(number).is_some_and(|of| of.lasts);
        numbers.filter(lasts).collect()
    }

    /// Judges an action in all orders with the open questions of its trace; the decisions are joined to `decision`. `number`: the proposal
    /// that the action was, which has already happened in some of the orders.
    pub(super) fn judge_with_questions(
        &mut self,
        read: &Read,
        number: Option<u64>,
        decision: &mut Decision,
    ) {
        let open = self.questions(&read.trace);
        let others = self.histories.get(&read.trace);
        if open.is_empty() && others.is_none() || decision.ruling.denies() {
            return;
        }
        let mut others = others.cloned().unwrap_or_default();
        if let Some(number) = number {
            others.retain_without(number);
        }
        let n_asked = open.len() + usize::from(self.hooked && decision.ruling == Ruling::Ask);
        if let Some(why) = self.too_many_orders(&open, n_asked, &others) {
            decision.deny(why);
            return;
        }
        self.orders_work = 0;
        self.orders_bytes = 0;
        let recorded = History {
            trace: self.fork_reserved(&read.trace, &[]),
            happened: Vec::new(),
        };
        let mut histories: Vec<History> = std::iter::once(recorded).chain(others.all).collect();
        let late = self.time_of(&read.event).filter(|_| !open.is_empty());
        let (mut joined, mut further) = (decision.clone(), Vec::new());
        'denied: for late in std::iter::once(None).chain(late.map(Some)) {
            let mut orders = Orders {
                trace: &read.trace,
                action: &read.event,
                size: usage::size(read.event.steps.iter().flat_map(|step| step.cells.iter())),
                errors: &read.errors,
                late,
                continued: Continued::default(),
                decision: &mut joined,
                further: &mut further,
            };
            for history in &mut histories {
                let mut open = open.clone();
                open.retain(|number| !history.happened.contains(number));
                // With nothing open, no question is answered at another time.
                if (late.is_none() || !open.is_empty())
                    && self.denies_in_order(&mut history.trace, None, &mut orders, &open)
                {
                    break 'denied;
                }
            }
        }
        // A person who is asked about the action by the same clause knows of it.
        let asks = |clause| joined.asking().any(|asked| asked == clause);
        let unasked = further.iter().find(|one| !one.asking().all(asks));
        if let Some(unasked) = unasked.filter(|_| !joined.ruling.denies()) {
            let why = unasked.reason();
            joined.deny(format!(
                "a person who is being asked about another call would have to be asked again after this one: {why}"
            ));
        }
        if joined != *decision {
            joined.reserved = open.len();
            *decision = joined;
        }
        if decision.ruling < Ruling::Ask && !open.is_empty() && self.has_too_many_with(read) {
            let (n_open, most) = (open.len(), self.options.histories);
            decision.deny(format!(
                "a person is being asked about {n_open} calls of this trace, and after this action they may have happened in more than {most} orders (limit: `max-histories`); {ANSWER}"
            ));
        }
    }

    /// Returns the time that an event states, on the clock of its trace.
    pub(super) fn time_of(&self, event: &Event) -> Option<i128> {
        let cells = event.steps.iter().map(|step| &step.cells);
        let times = cells.filter_map(|cells| match cells.get(self.clock()?) {
            Some(Cell::Known(Value::Time(time))) => Some(time.0),
            _ => None,
        });
        times.max()
    }

    /// Returns why the orders of an action and `open` questions are not tried.
    fn too_many_orders(&self, open: &[u64], n_asked: usize, others: &Histories) -> Option<String> {
        let (n_open, most) = (open.len(), self.options.questions);
        let asked = format!("a person is being asked about {n_open} calls of this trace");
        if others.too_many {
            let most = self.options.histories;
            return Some(format!(
                "what was recorded while a person was asked may have happened in more than {most} orders (limit: `max-histories`); begin a new trace"
            ));
        }
        if n_asked > most {
            return Some(format!(
                "{asked}, and no more than {most} are judged in every order (limit: `max-questions`); {ANSWER}"
            ));
        }
        None
    }

    /// Judges the orders of the action and `open` questions after `without`, and joins what is decided about the action; returns whether
    /// it is denied. `with` is the same trace with the action in it, once the action has happened.
    fn denies_in_order(
        &mut self,
        without: &mut Trace,
        mut with: Option<&mut Trace>,
        orders: &mut Orders<'_>,
        open: &[u64],
    ) -> bool {
        if self.orders_work > self.options.eval.step_work {
            orders.decision.deny(format!(
                "a person is being asked about calls of this trace, and the conditions of all orders of them look at too many elements and characters (limit: `step_work`); {ANSWER}"
            ));
            return true;
        }
        if self.orders_bytes > MOST_BYTES {
            orders.decision.deny(format!(
                "a person is being asked about calls of this trace, which are too large to be judged in every order (more than {MOST_BYTES} bytes of events in all); {ANSWER}"
            ));
            return true;
        }
        if !self.is_new(orders, open, without, with.as_deref_mut()) {
            return false;
        }
        if with.is_none() {
            let mut after = self.fork(without);
            self.orders_bytes = self.orders_bytes.saturating_add(orders.size);
            let judged = self.happen(&mut after, orders.trace, orders.action, orders.errors, true);
            orders.decision.join(judged);
            if orders.decision.ruling.denies()
                || self.denies_in_order(without, Some(&mut after), orders, open)
            {
                return true;
            }
        }
        for number in open {
            let late = orders.late.filter(|_| with.is_none());
            let Some(event) = self.question_event(*number, late) else {
                continue;
            };
            let size = self.proposals.get(number).map_or(0, |of| of.bytes);
            let size = size.saturating_mul(1 + usize::from(with.is_some()));
            self.orders_bytes = self.orders_bytes.saturating_add(size);
            let mut without = self.fork(without);
            let anyway = self.happen(&mut without, orders.trace, &event, &[], true);
            if anyway.ruling.denies() {
                continue;
            }
            let mut with = with.as_deref_mut().map(|with| self.fork(with));
            if let Some(with) = &mut with {
                let mut judged = self.happen(with, orders.trace, &event, &[], true);
                if judged.ruling.denies() {
                    orders.decision.join(judged);
                    return true;
                }
                let asked = self.asked(*number);
                let asked: Vec<usize> = asked.iter().copied().chain(anyway.asking()).collect();
                judged.keep_further(&asked);
                if judged.ruling == Ruling::Ask {
                    orders.further.push(judged);
                }
            }
            let rest: Vec<u64> = open
                .iter()
                .copied()
                .filter(|other| other != number)
                .collect();
            if self.denies_in_order(&mut without, with.as_mut(), orders, &rest) {
                return true;
            }
        }
        false
    }

    /// Remembers the states of an order; returns whether no order with the same questions left had them.
    fn is_new(
        &mut self,
        orders: &mut Orders<'_>,
        open: &[u64],
        without: &mut Trace,
        with: Option<&mut Trace>,
    ) -> bool {
        let known = orders.continued.entry(open.to_vec()).or_default();
        let is_with = |other: &Option<Trace>| match (&with, other) {
            (Some(with), Some(other)) => with.has_state_of(other),
            (with, other) => with.is_none() && other.is_none(),
        };
        let is_known = |(before, after): &(Trace, Option<Trace>)| {
            without.has_state_of(before) && is_with(after)
        };
        if known.iter().any(is_known) {
            return false;
        }
        if known.len() < MOST_STATES {
            known.push((self.fork(without), with.map(|with| self.fork(with))));
        }
        true
    }

    /// Returns the clauses that asked about a proposed action.
    fn asked(&self, number: u64) -> &[usize] {
        let proposal = self.proposals.get(&number);
        let asked = proposal.and_then(|proposal| proposal.asked.as_deref());
        asked.unwrap_or_default()
    }

    /// Records an event that happened. Its decision denies if an open question would be denied from now on.
    pub(super) fn happened(&mut self, event: Event, now: Option<Instant>) -> Decision {
        let name = event.trace.clone().unwrap_or_default();
        let open = self.questions(&name);
        let allowed: Vec<u64> = open
            .into_iter()
            .filter(|number| self.refused(&name, *number).is_none())
            .collect();
        let approval = self.approval_of_main_agent(&event);
        let mut decision = self.event(event, now, None);
        self.approve_main_agent(approval, now, &mut decision);
        let denied = allowed
            .iter()
            .find_map(|number| self.refused(&name, *number));
        if let Some(denied) = denied {
            decision.ruling = decision.ruling.max(denied.ruling);
            decision.clauses.extend(denied.clauses.iter().cloned());
            decision.reserved = allowed.len();
            decision.refused = Some(Box::new(Decision {
                cause: Cause::Event,
                ..denied
            }));
        }
        decision
    }

    /// Returns the decision about a question on what has happened, if it must not be answered with yes any more: its call is denied, or
    /// a clause asks that did not ask before.
    fn refused(&mut self, trace: &SmolStr, number: u64) -> Option<Decision> {
        let event = self.question_event(number, None)?;
        let recorded = self.fork_reserved(trace, &[]);
        let mut others = self.histories.get(trace).cloned().unwrap_or_default();
        others.retain_without(number);
        let others = others.all.into_iter().map(|history| history.trace);
        std::iter::once(recorded)
            .chain(others)
            .find_map(|mut after| {
                let mut judged = self.happen(&mut after, trace, &event, &[], true);
                judged.keep_further(self.asked(number));
                (judged.ruling >= Ruling::Ask).then_some(judged)
            })
    }

    /// Returns the event of a question, at the time at which it was asked or, if given, at a later one.
    pub(super) fn question_event(&self, number: u64, late: Option<i128>) -> Option<Event> {
        let question = self.proposals.get(&number)?;
        let mut event = self.event_of(question, None);
        if let Some(late) = late {
            self.raise_times(&mut event, late);
        }
        Some(event)
    }

    /// Steps a copy of a trace by an event that is assumed to happen, and judges it. `awaits`: whether the fields marked `@outcome` do
    /// not exist yet.
    pub(super) fn happen(
        &mut self,
        copy: &mut Trace,
        trace: &SmolStr,
        event: &Event,
        errors: &[String],
        awaits: bool,
    ) -> Decision {
        let mut read = Read {
            trace: trace.clone(),
            event: event.clone(),
            errors: errors.to_vec(),
            notes: Vec::new(),
        };
        copy.live.learn_meta(&self.program, &read.event.meta);
        self.not_before(copy, &mut read.event);
        let mut judged = Decision::new(Cause::Proposal);
        self.advance(copy, &mut read, awaits, &mut judged);
        self.orders_work = self.orders_work.saturating_add(self.step_cache.step_work());
        judged
    }
}
