//! The orders in which a trace may have gone.
//!
//! A call about which a person is asked may run at any time after that, and only its outcome says that it did. What is recorded in
//! between may therefore have happened after it. So as long as questions are open ([`Monitor::set_hooked`]), a trace has further
//! histories beside the recorded one: one for each order of recorded events and questions, of which equal states are kept once. Each
//! action is judged on all of them (`questions`). They stay after the outcome, until their states are equal to the recorded one.

use smol_str::SmolStr;

use super::decision::Ruling;
use super::live::{Monitor, Read, Trace};
use super::reserve::Proposal;

/// The greatest number of different orders that are tried for each history that may be kept: five questions have up to 325.
const ORDERS: usize = 16;

/// A history of a trace in which questions happened before other recorded events.
#[derive(Clone, Debug)]
pub(super) struct History {
    pub(super) trace: Trace,
    /// The numbers of the open questions that happened in it, in ascending order.
    pub(super) happened: Vec<u64>,
}

impl History {
    /// Returns whether equal events lead to equal decisions about both histories.
    fn is(&self, other: &History) -> bool {
        self.happened == other.happened && self.trace.has_state_of(&other.trace)
    }
}

/// The histories of a trace beside the recorded one.
#[derive(Clone, Debug, Default)]
pub(super) struct Histories {
    pub(super) all: Vec<History>,
    /// Whether there were more than [`Options::histories`](super::Options::histories), so that they are not known any more. An action
    /// after which there would be more is denied; an outcome has happened.
    pub(super) too_many: bool,
}

impl Monitor {
    /// Returns the histories of a trace directly before an event is recorded: those that it has, with every order of the open questions
    /// behind them. Empty if nothing was asked.
    pub(super) fn histories_before(&mut self, name: &SmolStr, recorded: &mut Trace) -> Histories {
        let known = self.histories.remove(name);
        let open = self.questions(name);
        if known.is_none() && open.is_empty() {
            return Histories::default();
        }
        let known = known.unwrap_or_default();
        self.orders_work = 0;
        let mut too_many = known.too_many;
        let mut all = Vec::new();
        if !too_many {
            let mut before = self.fork(recorded);
            self.answered(name, &mut before, &[], &open, &mut all);
            for mut history in known.all {
                let happened = history.happened.clone();
                self.answered(name, &mut history.trace, &happened, &open, &mut all);
                all.push(history);
            }
            too_many = self.are_too_many(&all);
        }
        Histories { all, too_many }
    }

    /// Returns whether there are more orders, or more work in them, than may be tried.
    fn are_too_many(&self, all: &[History]) -> bool {
        all.len() >= self.options.histories.saturating_mul(ORDERS)
            || self.orders_work > self.options.eval.step_work
    }

    /// Returns whether there would be too many histories after an action.
    pub(super) fn has_too_many_with(&mut self, read: &Read) -> bool {
        let name = &read.trace;
        let mut recorded = self.fork_reserved(name, &[]);
        let known = self.histories.get(name).cloned();
        let before = self.histories_before(name, &mut recorded);
        if let Some(known) = known {
            self.histories.insert(name.clone(), known);
        }
        let ruling = self
            .happen(&mut recorded, name, &read.event, &read.errors, true)
            .ruling;
        let after = self.after(read, before, None, ruling);
        after
            .distinct(Some(&recorded), self.options.histories)
            .too_many
    }

    /// Adds every order of questions that are open in a history.
    fn answered(
        &mut self,
        name: &SmolStr,
        trace: &mut Trace,
        happened: &[u64],
        open: &[u64],
        all: &mut Vec<History>,
    ) {
        for number in open.iter().filter(|number| !happened.contains(number)) {
            if self.are_too_many(all) {
                return;
            }
            let Some(event) = self.question_event(*number, None) else {
                continue;
            };
            let mut after = self.fork(trace);
            if self
                .happen(&mut after, name, &event, &[], true)
                .ruling
                .denies()
            {
                continue;
            }
            let mut with = happened.to_vec();
            with.insert(with.partition_point(|other| other < number), *number);
            let history = History {
                trace: self.fork(&mut after),
                happened: with,
            };
            if all.iter().any(|other| history.is(other)) {
                continue;
            }
            let with = history.happened.clone();
            all.push(history);
            self.answered(name, &mut after, &with, open, all);
        }
    }

    /// Continues histories by a recorded event. `answers`: the question that the event is the call of; it is not repeated in histories
    /// in which it happened. A history that the event violates, while it does not violate the recorded one, is dropped: nothing can be
    /// prevented in it any more.
    pub(super) fn continue_histories(
        &mut self,
        read: &Read,
        histories: Histories,
        answers: Option<u64>,
        ruling: Ruling,
    ) {
        let after = self.after(read, histories, answers, ruling);
        self.keep_histories(&read.trace, after);
    }

    /// Returns histories after an event.
    fn after(
        &mut self,
        read: &Read,
        mut histories: Histories,
        answers: Option<u64>,
        ruling: Ruling,
    ) -> Histories {
        let mut continued = Vec::with_capacity(histories.all.len());
        for mut history in histories.all {
            if let Some(place) = answers
                .and_then(|number| history.happened.iter().position(|other| *other == number))
            {
                history.happened.remove(place);
            } else {
                let errors = &read.errors;
                let judged =
                    self.happen(&mut history.trace, &read.trace, &read.event, errors, false);
                if judged.ruling.denies() && !ruling.denies() {
                    continue;
                }
            }
            continued.push(history);
        }
        histories.all = continued;
        histories
    }

    /// Drops the histories in which a question happened that was refused.
    pub(super) fn refuse_histories(&mut self, number: u64, proposal: &Proposal) {
        if let Some(mut histories) = self.histories.remove(&proposal.trace) {
            histories.retain_without(number);
            self.keep_histories(&proposal.trace, histories);
        }
    }

    fn keep_histories(&mut self, name: &SmolStr, histories: Histories) {
        let kept = histories.distinct(self.traces.get(name), self.options.histories);
        if kept.too_many || !kept.all.is_empty() {
            self.histories.insert(name.clone(), kept);
        }
    }
}

impl Histories {
    /// Leaves out the histories in which a question has happened.
    pub(super) fn retain_without(&mut self, number: u64) {
        self.all
            .retain(|history| !history.happened.contains(&number));
    }

    /// Returns one history for each state, and none that is the recorded one.
    fn distinct(self, recorded: Option<&Trace>, most: usize) -> Histories {
        let is_recorded = |history: &History| {
            history.happened.is_empty()
                && recorded.is_some_and(|recorded| history.trace.has_state_of(recorded))
        };
        let mut all: Vec<History> = Vec::new();
        for history in self.all {
            if !is_recorded(&history) && !all.iter().any(|other| history.is(other)) {
                all.push(history);
            }
        }
        let too_many = self.too_many || all.len() > most;
        let all = if too_many { Vec::new() } else { all };
        Histories { all, too_many }
    }

    /// Returns the histories of a copy of the trace, in which questions have other numbers.
    pub(super) fn renumbered(mut self, numbers: &[(u64, u64)]) -> Histories {
        for history in &mut self.all {
            for happened in &mut history.happened {
                let copy = numbers.iter().find(|(number, _)| number == happened);
                *happened = copy.map_or(*happened, |(_, copy)| *copy);
            }
        }
        self
    }
}
