//! Actions about which a person is being asked while nothing judges them again once the person agrees.
//!
//! A hook asks, and its program runs the call when the person agrees, without another request to the monitor
//! ([`Monitor::set_hooked`]). Such a question may be answered after any number of later actions, in any order with other
//! questions. So an action is denied while questions are open if an order of it and of some of them violates a clause in a way
//! in which the same order without it does not. An outcome cannot be denied: if an open question would be denied after it, its
//! decision says so.
//!
//! The orders are tried one by one, n! of n actions, so the open questions of a trace are limited
//! ([`Options::questions`](super::Options::questions)), and so is what they hold together: five questions of 1 KB and an action take
//! 12 MB of events.

use smol_str::SmolStr;

use super::decision::{Cause, Decision, Ruling};
use super::histories::Histories;
use super::live::{Monitor, Read, Trace};
use super::usage;
use crate::input::record::Event;
use crate::value::Instant;

/// The greatest number of bytes of events in all orders together: a large event may take long to judge, and `guard serve` judges one
/// action after another.
const MOST_BYTES: usize = 64 << 20;

/// The action whose orders with open questions are tried.
struct Orders<'a> {
    trace: &'a SmolStr,
    action: &'a Event,
    errors: &'a [String],
}

impl Monitor {
    /// Returns the numbers of the questions of a trace that are answered without a commit.
    pub(super) fn questions(&self, trace: &SmolStr) -> Vec<u64> {
        let reserved = self.reserved.get(trace).into_iter();
        let numbers = reserved.flat_map(|reserved| &reserved.numbers).copied();
        let lasts = |number: &u64| self.proposals.get(number).is_some_and(|of| of.lasts);
        numbers.filter(lasts).collect()
    }

    /// Judges an action in all orders with the open questions of its trace; `decision` becomes the strictest.
    pub(super) fn judge_with_questions(&mut self, read: &Read, decision: &mut Decision) {
        let open = self.questions(&read.trace);
        let others = self.histories.get(&read.trace);
        if open.is_empty() && others.is_none() || decision.ruling.denies() {
            return;
        }
        let others = others.cloned().unwrap_or_default();
        let n_asked = open.len() + usize::from(self.hooked && decision.ruling == Ruling::Ask);
        if let Some(why) = self.too_many_orders(read, &open, n_asked, &others) {
            decision.ruling = Ruling::Block;
            decision.errors.push(why);
            return;
        }
        let orders = Orders {
            trace: &read.trace,
            action: &read.event,
            errors: &read.errors,
        };
        let mut before = self.fork_reserved(&read.trace, &[]);
        let mut denied = self.denied_in_order(&mut before, None, &orders, &open);
        for mut history in others.all {
            let mut open = open.clone();
            open.retain(|number| !history.happened.contains(number));
            denied =
                denied.or_else(|| self.denied_in_order(&mut history.trace, None, &orders, &open));
        }
        if let Some(denied) = denied {
            *decision = Decision {
                step: decision.step,
                reserved: open.len(),
                cause: decision.cause,
                ..denied
            };
        }
    }

    /// Returns why the orders of an action and `open` questions are not tried.
    fn too_many_orders(
        &self,
        read: &Read,
        open: &[u64],
        n_asked: usize,
        others: &Histories,
    ) -> Option<String> {
        let (n_open, most) = (open.len(), self.options.questions);
        let asked = format!("a person is being asked about {n_open} calls of this trace");
        if others.too_many {
            let most = self.options.histories;
            return Some(format!(
                "{asked}, and what was recorded since may have happened in more than {most} orders (limit: `max-histories`); answer them first"
            ));
        }
        if n_asked > most {
            return Some(format!(
                "{asked}, and no more than {most} are judged in every order (limit: `max-questions`); answer them first"
            ));
        }
        let known = open.iter().filter_map(|number| self.proposals.get(number));
        let cells = read.event.steps.iter().flat_map(|step| step.cells.iter());
        let bytes = usage::size(cells) + known.map(|of| of.bytes).sum::<usize>();
        // each of `n` actions, and behind each the orders of the others
        let orders = (1..=n_open + 1).fold(0usize, |orders, n| (orders + 1).saturating_mul(n));
        let orders = orders.saturating_mul(1 + others.all.len());
        (orders.saturating_mul(bytes) > MOST_BYTES).then(|| {
            format!(
                "{asked}, which are too large to be judged in every order ({orders} steps of {bytes} bytes in all); answer them first"
            )
        })
    }

    /// Returns the denial in an order of the action and `open` questions after `without`; `with` is the same trace with the action in
    /// it, once the action has happened.
    fn denied_in_order(
        &mut self,
        without: &mut Trace,
        mut with: Option<&mut Trace>,
        orders: &Orders<'_>,
        open: &[u64],
    ) -> Option<Decision> {
        if with.is_none() {
            let mut after = self.fork(without);
            let judged = self.happen(&mut after, orders.trace, orders.action, orders.errors, true);
            if judged.ruling.denies() {
                return Some(judged);
            }
            let denied = self.denied_in_order(without, Some(&mut after), orders, open);
            if denied.is_some() {
                return denied;
            }
        }
        for number in open {
            let Some(event) = self.question_event(*number) else {
                continue;
            };
            let mut without = self.fork(without);
            if self
                .happen(&mut without, orders.trace, &event, &[], true)
                .ruling
                .denies()
            {
                // It would be denied anyway.
                continue;
            }
            let mut with = with.as_deref_mut().map(|with| self.fork(with));
            if let Some(with) = &mut with {
                let judged = self.happen(with, orders.trace, &event, &[], true);
                if judged.ruling.denies() {
                    return Some(judged);
                }
            }
            let rest: Vec<u64> = open
                .iter()
                .copied()
                .filter(|other| other != number)
                .collect();
            let denied = self.denied_in_order(&mut without, with.as_mut(), orders, &rest);
            if denied.is_some() {
                return denied;
            }
        }
        None
    }

    /// Records an event that happened. Its decision denies if an open question would be denied from now on.
    pub(super) fn happened(&mut self, event: Event, now: Option<Instant>) -> Decision {
        let name = event.trace.clone().unwrap_or_default();
        let open = self.questions(&name);
        let allowed: Vec<u64> = open
            .into_iter()
            .filter(|number| !self.judge_question(&name, *number).ruling.denies())
            .collect();
        let mut decision = self.event(event, now, None);
        let denied = allowed
            .iter()
            .map(|number| self.judge_question(&name, *number))
            .find(|judged| judged.ruling.denies());
        if let Some(denied) = denied {
            decision.ruling = decision.ruling.max(Ruling::Block);
            decision.clauses.extend(denied.clauses.iter().cloned());
            decision.reserved = allowed.len();
            decision.refused = Some(Box::new(Decision {
                cause: Cause::Event,
                ..denied
            }));
        }
        decision
    }

    /// Judges a question again, on what has happened.
    fn judge_question(&mut self, trace: &SmolStr, number: u64) -> Decision {
        let Some(event) = self.question_event(number) else {
            return Decision::new(Cause::Proposal);
        };
        let mut after = self.fork_reserved(trace, &[]);
        self.happen(&mut after, trace, &event, &[], true)
    }

    /// Returns the event of a question.
    pub(super) fn question_event(&self, number: u64) -> Option<Event> {
        let question = self.proposals.get(&number)?;
        Some(self.event_of(question, None))
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
        };
        copy.live.learn_meta(&read.event.meta);
        self.not_before(copy, &mut read.event);
        let mut judged = Decision::new(Cause::Proposal);
        self.advance(copy, &mut read, awaits, &mut judged);
        judged
    }
}
