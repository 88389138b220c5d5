//! The fast path for events of a quantified property whose effect depends only on which terms have a value.
//!
//! The next states of instances then follow from the class of the event and from the compared terms that have their value, so
//! only those terms are evaluated and each next state is looked up. All other events (an unknown term, a letter that the class
//! leaves open, a verdict that decides the property, several values of one of several variables) are left to
//! [`Instances::step`], before anything has changed.
//!
//! If there are several variables, the event has at most one value for each and touches at most the tuple of these: the states
//! show that a proper subset of its values makes no difference.
//!
//! Results are stored as on the general path ([`Instances::place_instance`], [`Instances::settle`]); only the computation of
//! the next state differs. Over tau-bench with `benches/airline.guard` it takes 5,408 of the 5,410 steps that may change an
//! instance.

use super::{Buffers, InstanceState, Instances, ROOT, Ranges, SLACK, StateIndex};
use crate::eval::binding::{Places, place};
use crate::eval::classes::MatchSet;
use crate::eval::compiled::{OnlyTerms, PropertyCode, QuantifiedCode};
use crate::eval::expr::{Eval, Val};
use crate::eval::monitor::{Automaton, StateSetId, StateSetInterner, Status};
use crate::value::{Truth, Value};

/// More classes than this are left to the general path: they need an index instead of a linear search.
const MOST_CLASSES: usize = 16;

/// A tuple of values that compared terms have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matched {
    /// The index of its key.
    key: usize,
    /// One bit for each term that has a value.
    set: u8,
    /// The class of the tuple, and whether the tuple is kept as a member.
    class: u32,
    kept: bool,
    next: StateSetId,
}

/// The effects of an event on all open verdicts.
#[derive(Debug, Default)]
pub(super) struct Moves {
    matched: Vec<Matched>,
    /// The keys of the tuples, one after the other.
    values: Vec<Option<Value>>,
    /// The terms that have a value, and the variables of these terms.
    set: u8,
    bound: Places,
    root: StateSetId,
    /// For each class with an open verdict, its successor, in order; `None` if the event touches all members.
    live: Vec<Option<StateSetId>>,
    triggered: bool,
    root_triggered: bool,
}

impl Moves {
    /// Reads the terms. Returns `None` if one is unknown, or if one of several variables has more than one value.
    fn read(&mut self, only: &OnlyTerms, n_vars: usize, eval: &mut Eval<'_>) -> Option<()> {
        self.matched.clear();
        self.values.clear();
        (self.set, self.bound) = (0, 0);
        if n_vars > 1 {
            self.values.resize(n_vars, None);
        }
        for (at, (var, term)) in only.terms.iter().enumerate() {
            let value = eval.value(*term);
            let known = value.known()?;
            if known.is_null() {
                continue;
            }
            let bit = 1 << at;
            self.set |= bit;
            self.bound |= place(*var as usize);
            let found = match n_vars {
                1 => self
                    .values
                    .iter()
                    .position(|other| other.as_ref() == Some(known)),
                _ => self.values[*var as usize].as_ref().map(|_| *var as usize),
            };
            match found {
                Some(at) if self.values[at].as_ref() != Some(known) => return None,
                Some(at) if n_vars == 1 => self.matched[at].set |= bit,
                Some(_) => {}
                None => {
                    let value = match value {
                        Val::Own(value) => value,
                        value => value.known()?.clone(),
                    };
                    if n_vars == 1 {
                        self.matched.push(Matched::new(self.values.len(), bit));
                        self.values.push(Some(value));
                    } else {
                        self.values[*var as usize] = Some(value);
                    }
                }
            }
        }
        if n_vars > 1 && self.values.iter().all(Option::is_some) {
            self.matched.push(Matched::new(0, self.set));
        }
        Some(())
    }
}

impl Matched {
    fn new(key: usize, set: u8) -> Matched {
        Matched {
            key,
            set,
            class: ROOT,
            kept: false,
            next: StateSetInterner::INITIAL,
        }
    }
}

impl Instances {
    /// Steps one event if the fast path applies. Returns `false` otherwise, and then nothing has changed.
    pub(in crate::eval) fn try_step_fast(
        &mut self,
        id: usize,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        eval: &mut Eval<'_>,
        limit: usize,
        room: &mut Buffers,
    ) -> bool {
        let Some(only) = &quantified.only_terms else {
            return false;
        };
        let Automaton::Dfa { statuses, .. } = &*property.automaton else {
            return false;
        };
        let Buffers {
            moves, state_index, ..
        } = room;
        let neutral = Truth::from(quantified.universal);
        let n_vars = quantified.vars.len();
        let found = self.find_moves(id, property, only, n_vars, statuses, neutral, eval, moves);
        if found.is_none() {
            return false;
        }
        eval.eval_cache.work += moves.matched.len() as u64;
        self.any |= !moves.matched.is_empty();
        // Without tracks, the values of a kept instance were seen when it was created.
        let is_known = || moves.matched.iter().any(|matched| matched.kept) && !quantified.by_value;
        if n_vars > 1 && !is_known() {
            let values = moves.values.iter().map(Option::as_slice);
            self.note_seen(quantified, values);
        }
        self.triggered = moves.triggered;
        self.root_triggered = moves.root_triggered;
        self.move_all(quantified, statuses, limit, moves, state_index);
        self.trim(quantified, SLACK);
        true
    }

    /// Computes the effects of an event, or returns `None` if the fast path does not apply.
    #[allow(
        clippy::too_many_arguments,
        reason = "one event, one property: all of it is needed"
    )]
    fn find_moves(
        &self,
        id: usize,
        property: &PropertyCode,
        only: &OnlyTerms,
        n_vars: usize,
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
        let (code, terms) = (eval.code, &*only.terms);
        moves.read(only, n_vars, eval)?;
        // A verdict that decides the property is left to the general path.
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
            let key = &moves.values[matched.key * n_vars..][..n_vars];
            (matched.class, matched.kept) = self.class_of(key);
            let InstanceState {
                state_set,
                fixed_at,
                ..
            } = self.class(matched.class).state;
            matched.next = match fixed_at {
                // A new instance inherits the verdict of a binding with fewer variables.
                Some(_) if !matched.kept => return None,
                Some(_) => state_set,
                None => next(eval, set, state_set)?,
            };
        }
        // All terms are known, so an unseen value differs from all of them.
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
        let open = [ROOT].into_iter().chain(self.live.iter().copied());
        for (places, bits) in &only.parts {
            if places & !moves.bound != 0 {
                continue;
            }
            let set = moves.set & bits;
            for class in open.clone() {
                let state_set = self.class(class).state.state_set;
                if next(eval, set, state_set)? != next(eval, 0, state_set)? {
                    return None;
                }
            }
            if let Some(trigger) = property.trigger.filter(|_| !moves.triggered) {
                let (match_set, eval_cache) = (MatchSet { terms, set }, &mut eval.eval_cache);
                let may_hold =
                    eval_cache.triggered_of_matched(code, id, property, match_set, trigger)?;
                if may_hold {
                    return None;
                }
            }
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

    /// Applies the effects.
    fn move_all(
        &mut self,
        quantified: &QuantifiedCode,
        statuses: &[Status],
        limit: usize,
        moves: &mut Moves,
        state_index: &mut StateIndex,
    ) {
        let n_vars = quantified.vars.len();
        // An instance whose verdict is final stays in its class.
        let is_open = |matched: &Matched| self.class(matched.class).state.fixed_at.is_none();
        moves.matched.retain(is_open);
        let state_set = |class: u32| self.class(class).state.state_set;
        let mut classes = self.live.iter().zip(&moves.live);
        let no_op = moves.root == state_set(ROOT)
            && classes.all(|(class, next)| next.is_none_or(|next| next == state_set(*class)))
            && moves.matched.iter().all(|matched| {
                matched.next == state_set(matched.class) && (matched.class != ROOT || !matched.kept)
            });
        if no_op {
            return;
        }
        self.no_op_classes = 0;
        self.map.thaw();
        for matched in moves.matched.iter().filter(|matched| matched.kept) {
            self.leave(matched.class, 1);
        }
        self.move_classes(statuses, moves, state_index);
        for matched in &moves.matched {
            let state = InstanceState {
                state_set: matched.next,
                range: Ranges::default(),
                fixed_at: statuses[matched.next as usize].fixed.then_some(u32::MAX),
                registers: Box::default(),
            };
            let class = self.class_in(state, state_index);
            let key = &moves.values[matched.key * n_vars..][..n_vars];
            self.place_instance(key, class, matched.kept, quantified, limit);
        }
    }

    /// Moves the root and all classes with an open verdict; classes that reach the same state are joined.
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
