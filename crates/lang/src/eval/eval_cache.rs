//! The mutable state of evaluating one step: cached values, bound variables, choices, and errors.

use super::binding::Key;
use super::classes::{Demands, MatchSet, TransitionCache};
use super::code::{Code, NodeId};
use super::compiled::{Compiled, PropertyCode, QuantifiedCode};
use super::json;
use super::monitor::StateSetId;
use super::ops::Fault;
use crate::pool::PoolGuard;
use crate::value::{Cell, Truth, Value};

/// An error in the data, at a step, in an expression.
#[derive(Clone, Debug)]
pub(super) struct RawFault {
    pub(super) step: Option<u32>,
    /// The expression and its error; `None` if the clock ran back.
    pub(super) at: Option<(NodeId, Fault)>,
    /// The operands that the expression read, each with its value as text.
    pub(super) met: Vec<(NodeId, String)>,
}

/// A track that has several possible values, and the index of the chosen one.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) track: u32,
    pub(super) key: Key,
    pub(super) values: std::sync::Arc<[Value]>,
    pub(super) at: usize,
}

#[derive(Debug, Default)]
pub(super) struct EvalCache {
    epoch: u64,
    truths: Vec<(u64, Truth)>,
    values: Vec<(u64, Cell)>,
    pub(super) locals: Vec<Cell>,
    /// Whether expressions are evaluated once for every combination of values that tracks may have.
    pub(super) choosing: bool,
    pub(super) choices: Vec<Choice>,
    pub(super) n_choices_most: usize,
    /// The cache of event classes; `None` while the trace is not being stepped.
    pub(super) transitions: Option<PoolGuard<TransitionCache>>,
    /// The class of the event.
    class: Option<u32>,
    /// Whether all events of the trace are read with the same tables, so that class numbers stay valid.
    pub(super) keeps_tables: bool,
    /// The remaining work of the step.
    work_left: u64,
    work_most: u64,
    // Errors:
    pub(super) step: Option<u32>,
    step_number: u64,
    reported: Vec<u64>,
    /// False while a trace is read again for an explanation.
    pub(super) reporting: bool,
    pub(super) faults: Vec<RawFault>,
    pub(super) faults_more: u64,
    faults_most: usize,
    pub(super) json: json::Room,
    /// The number of instances and keys of tracks that events touched or were compared with.
    pub(super) work: u64,
    /// The number of errors before properties were stepped; `None` outside of that phase.
    faults_before: Option<usize>,
}

impl EvalCache {
    pub(super) fn new(code: &Code, limits: &super::Limits) -> EvalCache {
        let n = code.nodes.len();
        EvalCache {
            epoch: 0,
            truths: vec![(0, Truth::Unknown); n],
            values: vec![(0, Cell::Unknown); n],
            locals: vec![Cell::Unknown; code.n_locals],
            choosing: false,
            choices: Vec::new(),
            n_choices_most: limits.combinations,
            work_left: limits.step_work,
            work_most: limits.step_work,
            transitions: None,
            class: None,
            keeps_tables: false,
            step: None,
            step_number: 0,
            reported: vec![0; n],
            reporting: true,
            faults: Vec::new(),
            faults_more: 0,
            faults_most: limits.problems,
            json: json::Room::default(),
            work: 0,
            faults_before: None,
        }
    }

    /// Resets the cache for another trace.
    pub(super) fn reset(&mut self) {
        self.forget();
        self.transitions = None;
        self.locals.fill(Cell::Unknown);
        self.choices.clear();
        (self.choosing, self.reporting) = (false, true);
        (self.step, self.class) = (None, None);
        self.keeps_tables = false;
        self.work = 0;
        self.forget_faults();
    }

    /// Removes the data errors found so far.
    pub(super) fn forget_faults(&mut self) {
        self.faults.clear();
        self.faults_more = 0;
    }

    /// Begins a new step of the trace; values that were cached before become invalid.
    pub(super) fn begin_step(&mut self, step: Option<u32>) {
        self.step = step;
        self.step_number += 1;
        self.class = None;
        self.forget();
    }

    /// Finds the class of the step's event.
    #[inline]
    pub(super) fn classify(&mut self, code: &Code, cells: &[Cell], deferred: u64) {
        self.class = self
            .transitions
            .as_mut()
            .and_then(|transitions| transitions.class(code, cells, deferred));
    }

    /// Returns a bit for the class of the event, the same at each event of the trace; 0 without a class, or with too many.
    #[inline]
    pub(super) fn class_bit(&self) -> u64 {
        self.class
            .filter(|_| self.keeps_tables)
            .and_then(|class| 1u64.checked_shl(class))
            .unwrap_or(0)
    }

    /// Returns the demands of the step's event, or `None` if they are unknown.
    pub(super) fn demands(&mut self, program: &Compiled) -> Option<&Demands> {
        let (transitions, class) = self.class()?;
        Some(transitions.demands(program, class))
    }

    /// Returns the cache of classes, and the class of the event; `None` if the event has no class.
    #[inline]
    pub(super) fn class(&mut self) -> Option<(&mut TransitionCache, u32)> {
        Some((self.transitions.as_deref_mut()?, self.class?))
    }

    /// Returns the truth of a condition if the class of the event determines it for all values of variables.
    #[inline]
    pub(super) fn by_class(&mut self, code: &Code, node: NodeId) -> Option<Truth> {
        let (transitions, class) = self.class()?;
        transitions.truth(code, class, node)
    }

    /// Returns the same for variables whose values no term has.
    #[inline]
    pub(super) fn unseen_by_class(&mut self, code: &Code, node: NodeId) -> Option<Truth> {
        let (transitions, class) = self.class()?;
        transitions.unseen(code, class, node)
    }

    /// Returns the successor of a state of a property's automaton, if the class of the event determines it: for variables
    /// with values that no term has (`unseen`), or for all values of variables.
    #[inline]
    pub(super) fn next_by_class(
        &mut self,
        code: &Code,
        id: usize,
        property: &PropertyCode,
        state_set: StateSetId,
        unseen: bool,
    ) -> Option<StateSetId> {
        let (transitions, class) = self.class()?;
        transitions.next(code, class, id, property, state_set, unseen)
    }

    /// Returns the successor of a state for a value that compared terms have, if the class of the event determines it.
    #[inline]
    pub(super) fn next_of_matched(
        &mut self,
        code: &Code,
        id: usize,
        property: &PropertyCode,
        match_set: MatchSet<'_>,
        state_set: StateSetId,
    ) -> Option<StateSetId> {
        let (transitions, class) = self.class()?;
        transitions.next_of_matched(code, class, id, property, match_set, state_set)
    }

    /// Whether the trigger may hold for a value that these compared terms have.
    #[inline]
    pub(super) fn triggered_of_matched(
        &mut self,
        code: &Code,
        id: usize,
        property: &PropertyCode,
        match_set: MatchSet<'_>,
        trigger: NodeId,
    ) -> Option<bool> {
        let (transitions, class) = self.class()?;
        transitions.triggered_of_matched(code, class, id, property, match_set, trigger)
    }

    /// Whether the class of the event implies that no compared term has a value.
    #[inline]
    pub(super) fn is_blank(&mut self, code: &Code, id: usize, quantified: &QuantifiedCode) -> bool {
        self.class()
            .is_some_and(|(transitions, class)| transitions.is_blank(code, class, id, quantified))
    }

    /// Whether the class of the event implies that a track without parameters does not change.
    #[inline]
    pub(super) fn keeps_track(&mut self, code: &Code, track: u32) -> bool {
        self.class()
            .is_some_and(|(transitions, class)| transitions.keeps(code, class, track))
    }

    /// Drops cached values before the same step is read again.
    pub(super) fn forget(&mut self) {
        self.epoch += 1;
        self.work_left = self.work_most;
    }

    /// Returns the work of the step so far.
    pub(super) fn spent(&self) -> u64 {
        self.work_most - self.work_left
    }

    /// Counts work; returns false if it exceeds the limit of a step.
    #[inline]
    pub(super) fn spend(&mut self, work: u64) -> bool {
        match self.work_left.checked_sub(work) {
            Some(left) => {
                self.work_left = left;
                true
            }
            None => {
                self.work_left = 0;
                false
            }
        }
    }

    pub(super) fn truth(&self, node: NodeId) -> Option<Truth> {
        let (epoch, truth) = self.truths[node.index()];
        (epoch == self.epoch).then_some(truth)
    }

    pub(super) fn keep_truth(&mut self, node: NodeId, truth: Truth) {
        self.truths[node.index()] = (self.epoch, truth);
    }

    pub(super) fn value(&self, node: NodeId) -> Option<&Cell> {
        let (epoch, value) = &self.values[node.index()];
        (*epoch == self.epoch).then_some(value)
    }

    pub(super) fn keep_value(&mut self, node: NodeId, value: Cell) {
        self.values[node.index()] = (self.epoch, value);
    }

    /// Records an error, once for each expression of a step. Returns its index, if it is kept.
    pub(super) fn fault(&mut self, node: NodeId, fault: Fault) -> Option<usize> {
        if !self.reporting || self.reported[node.index()] == self.step_number {
            return None;
        }
        self.reported[node.index()] = self.step_number;
        let before = self.faults.len();
        self.note(Some((node, fault)));
        (self.faults.len() > before).then_some(before)
    }

    /// Adds the operands that the expression of an error read.
    pub(super) fn fault_met(&mut self, place: usize, met: Vec<(NodeId, String)>) {
        if let Some(fault) = self.faults.get_mut(place) {
            fault.met = met;
        }
    }

    /// Records that the clock ran back.
    pub(super) fn clock_ran_back(&mut self) {
        if self.reporting {
            self.note(None);
        }
    }

    /// Marks the start of stepping properties, whose order depends on performance only.
    pub(super) fn begin_properties(&mut self) {
        self.faults_before = Some(self.faults.len());
    }

    /// Sorts the errors of the properties, so that their order does not depend on the order of stepping.
    pub(super) fn end_properties(&mut self) {
        let Some(before) = self.faults_before.take() else {
            return;
        };
        if self.faults.len() > before {
            let met = self.faults.get_mut(before..).unwrap_or_default();
            met.sort_by_key(|fault| fault.at.as_ref().map(|(node, _)| node.0));
            let kept = self.faults_most.max(before);
            self.faults_more += self.faults.len().saturating_sub(kept) as u64;
            self.faults.truncate(kept);
        }
    }

    fn note(&mut self, at: Option<(NodeId, Fault)>) {
        if self.faults.len() < self.faults_most || self.faults_before.is_some() {
            self.faults.push(RawFault {
                step: self.step,
                at,
                met: Vec::new(),
            });
        } else {
            self.faults_more += 1;
        }
    }
}
