//! The common event of a property with one variable: which terms have a value says all that matters of it.
//!
//! What instances do then follows from the class of the event and from which compared terms have their value, so nothing is
//! evaluated but those terms, and each next state is looked up. Whatever is less plain (a term that is not known, a letter
//! that the class leaves open, a verdict that decides the property) is left to [`Instances::step`], before anything has changed.
//!
//! What it decides is placed as the general path does ([`Instances::place_instance`], [`Instances::settle`]); only how the next
//! state is found differs. Over tau-bench with `benches/airline.guard` it takes 5,408 of the 5,410 steps that may change an
//! instance.

use super::{Buffers, InstanceState, Instances, ROOT, Ranges, SLACK, StateIndex};
use crate::eval::classes::MatchSet;
use crate::eval::code::NodeId;
use crate::eval::compiled::{PropertyCode, QuantifiedCode};
use crate::eval::expr::{Eval, Val};
use crate::eval::monitor::{Automaton, StateSetId, StateSetInterner, Status};
use crate::value::{Truth, Value};

/// More classes than this are looked up rather than looked through, which is done elsewhere.
const MOST_CLASSES: usize = 16;

/// A value that compared terms have.
#[derive(Debug)]
pub(super) struct Matched {
    key: [Option<Value>; 1],
    /// A bit for each of the terms.
    set: u8,
    /// The class it is in, and whether it is kept there.
    class: u32,
    kept: bool,
    next: StateSetId,
}

/// The successors of every open verdict at an event.
#[derive(Debug, Default)]
pub(super) struct Moves {
    matched: Vec<Matched>,
    root: StateSetId,
    /// By class with an open verdict, in order; `None` if the event touches all members.
    live: Vec<Option<StateSetId>>,
    triggered: bool,
    root_triggered: bool,
}

impl Instances {
    /// Steps one event if it is plain. Returns `false` otherwise, and then nothing has changed.
    pub(in crate::eval) fn try_step_fast(
        &mut self,
        id: usize,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        eval: &mut Eval<'_>,
        limit: usize,
        room: &mut Buffers,
    ) -> bool {
        let Some(terms) = quantified.only_terms() else {
            return false;
        };
        let Automaton::Dfa { statuses, .. } = &*property.automaton else {
            return false;
        };
        let Buffers {
            moves, state_index, ..
        } = room;
        let neutral = Truth::from(quantified.universal);
        let found = self.find_moves(id, property, terms, statuses, neutral, eval, moves);
        if found.is_none() {
            return false;
        }
        self.any |= !moves.matched.is_empty();
        self.triggered = moves.triggered;
        self.root_triggered = moves.root_triggered;
        self.move_all(quantified, statuses, limit, moves, state_index);
        self.trim(quantified, SLACK);
        true
    }

    /// Computes the effects of an event, or `None` if it is not plain.
    #[allow(
        clippy::too_many_arguments,
        reason = "one event, one property: all of it is needed"
    )]
    fn find_moves(
        &self,
        id: usize,
        property: &PropertyCode,
        terms: &[NodeId],
        statuses: &[Status],
        neutral: Truth,
        eval: &mut Eval<'_>,
        moves: &mut Moves,
    ) -> Option<()> {
        let root = &self.class(ROOT).state;
        let plain = property.frame.is_empty()
            && self.live.len() <= MOST_CLASSES
            && !eval.tracks.multi
            && root.fixed_at.is_none()
            && !(eval.clock.position == 0 && property.automaton.is_decided());
        if !plain {
            return None;
        }
        let code = eval.code;
        moves.matched.clear();
        for (place, term) in terms.iter().enumerate() {
            let value = eval.value(*term);
            let known = value.known()?;
            if known.is_null() {
                continue;
            }
            let mut before = moves.matched.iter_mut();
            match before.find(|other| other.key[0].as_ref() == Some(known)) {
                Some(other) => other.set |= 1 << place,
                None => moves.matched.push(Matched {
                    key: [Some(match value {
                        Val::Own(value) => value,
                        value => value.known()?.clone(),
                    })],
                    set: 1 << place,
                    class: ROOT,
                    kept: false,
                    next: StateSetInterner::INITIAL,
                }),
            }
        }
        // Who decides the property is somebody else's business.
        let next = |eval: &mut Eval<'_>, set: u8, state_set: StateSetId| {
            let (match_set, eval_cache) = (MatchSet { terms, set }, &mut eval.eval_cache);
            let next = eval_cache.next_of_matched(code, id, property, match_set, state_set)?;
            let status = statuses[next as usize];
            (!status.fixed || status.now == neutral).then_some(next)
        };
        moves.triggered = self.triggered;
        for matched in &mut moves.matched {
            let set = matched.set;
            if let Some(trigger) = property.trigger.filter(|_| !moves.triggered) {
                let (match_set, eval_cache) = (MatchSet { terms, set }, &mut eval.eval_cache);
                moves.triggered =
                    eval_cache.triggered_of_matched(code, id, property, match_set, trigger)?;
            }
            (matched.class, matched.kept) = self.class_of(&matched.key);
            let InstanceState {
                state_set,
                fixed_at,
                ..
            } = self.class(matched.class).state;
            matched.next = match fixed_at {
                Some(_) => state_set,
                None => next(eval, set, state_set)?,
            };
        }
        // All terms are known, so values that none of them has are equal to none.
        moves.root =
            next(eval, 0, root.state_set).filter(|next| !statuses[*next as usize].fixed)?;
        moves.live.clear();
        for id in &self.live {
            let class = self.class(*id);
            let here = |matched: &&Matched| matched.kept && matched.class == *id;
            let n_matched = moves.matched.iter().filter(here).count();
            moves.live.push(if class.members == n_matched as u64 {
                None
            } else {
                Some(next(eval, 0, class.state.state_set)?)
            });
        }
        moves.root_triggered = self.root_triggered;
        if let Some(trigger) = property
            .trigger
            .filter(|_| !moves.triggered && !moves.root_triggered)
        {
            let (match_set, eval_cache) = (MatchSet { terms, set: 0 }, &mut eval.eval_cache);
            moves.root_triggered =
                eval_cache.triggered_of_matched(code, id, property, match_set, trigger)?;
        }
        Some(())
    }

    /// Puts everything where it goes.
    fn move_all(
        &mut self,
        quantified: &QuantifiedCode,
        statuses: &[Status],
        limit: usize,
        moves: &mut Moves,
        state_index: &mut StateIndex,
    ) {
        let mut matched = std::mem::take(&mut moves.matched);
        // An instance whose verdict is final stays in its class.
        matched.retain(|matched| self.class(matched.class).state.fixed_at.is_none());
        let state_set = |class: u32| self.class(class).state.state_set;
        let mut classes = self.live.iter().zip(&moves.live);
        let no_op = moves.root == state_set(ROOT)
            && classes.all(|(class, next)| next.is_none_or(|next| next == state_set(*class)))
            && matched.iter().all(|matched| {
                matched.next == state_set(matched.class) && (matched.class != ROOT || !matched.kept)
            });
        if !no_op {
            self.no_op_classes = 0;
            self.map.thaw();
            for matched in matched.iter().filter(|matched| matched.kept) {
                self.leave(matched.class, 1);
            }
            self.move_classes(statuses, moves, state_index);
            for matched in matched.drain(..) {
                let Matched {
                    key, kept, next, ..
                } = matched;
                let state = InstanceState {
                    state_set: next,
                    range: Ranges::default(),
                    fixed_at: statuses[next as usize].fixed.then_some(u32::MAX),
                    registers: Box::default(),
                };
                let class = self.class_in(state, state_index);
                self.place_instance(&key, class, kept, quantified, limit);
            }
        }
        moves.matched = matched;
        moves.matched.clear();
    }

    /// Moves the root and all classes with an open verdict; those that meet are joined.
    fn move_classes(&mut self, statuses: &[Status], moves: &Moves, state_index: &mut StateIndex) {
        state_index.clear();
        self.classes[ROOT as usize].state.state_set = moves.root;
        self.settle(ROOT, state_index);
        let mut live = std::mem::take(&mut self.live);
        let mut kept = 0;
        for (position, next) in moves.live.iter().enumerate() {
            let (id, Some(next)) = (live[position], *next) else {
                continue;
            };
            let state = &mut self.classes[id as usize].state;
            state.state_set = next;
            state.fixed_at = statuses[next as usize].fixed.then_some(u32::MAX);
            if self.settle(id, state_index) {
                live[kept] = id;
                kept += 1;
            }
        }
        live.truncate(kept);
        self.live = live;
    }
}
