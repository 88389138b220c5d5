//! The common event of a property with one variable: which terms have a value says all that matters of it.
//!
//! What instances do then follows from the class of the event and from which compared terms have their value, so nothing is
//! evaluated but those terms, and each next state is looked up. Whatever is less plain (a term that is not known, a letter
//! that the class leaves open, a verdict that decides the property) is left to [`Slices::step`], before anything has changed.

use super::{Buffers, Class, ROOT, Ranges, SLACK, Situation, Slices};
use crate::eval::classes::Touch;
use crate::eval::code::NodeId;
use crate::eval::expr::{Eval, Val};
use crate::eval::monitor::{Automaton, Config, Configs, Standing};
use crate::eval::program::{PropertyCode, QuantifiedCode};
use crate::value::{Truth, Value};

/// More classes than this are looked up rather than looked through, which is done elsewhere.
const MOST_CLASSES: usize = 16;

/// A value that compared terms have.
#[derive(Debug)]
pub(super) struct Touched {
    key: [Option<Value>; 1],
    /// A bit for each of the terms.
    set: u8,
    /// The class it is in, and whether it is kept there.
    class: u32,
    kept: bool,
    next: Config,
}

/// Where every open verdict goes at an event.
#[derive(Debug, Default)]
pub(super) struct Moves {
    touched: Vec<Touched>,
    root: Config,
    /// Of the classes with an open verdict, in order; none where the event touches all members.
    live: Vec<Option<Config>>,
    triggered: bool,
    root_triggered: bool,
}

impl Slices {
    /// One event, where it is plain; false where it is not, and nothing has changed.
    pub(in crate::eval) fn step_plainly(
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
        let (Buffers { moves, .. }, Automaton::Dfa { standings, .. }) =
            (room, &*property.automaton)
        else {
            return false;
        };
        let neutral = Truth::from(quantified.universal);
        let found = self.find_moves(id, property, terms, standings, neutral, eval, moves);
        if found.is_none() {
            return false;
        }
        self.any |= !moves.touched.is_empty();
        self.triggered = moves.triggered;
        self.root_triggered = moves.root_triggered;
        self.move_all(standings, limit, moves);
        self.trim(quantified, SLACK);
        true
    }

    /// What an event does; none where it is not plain.
    #[allow(
        clippy::too_many_arguments,
        reason = "one event, one property: all of it is needed"
    )]
    fn find_moves(
        &self,
        id: usize,
        property: &PropertyCode,
        terms: &[NodeId],
        standings: &[Standing],
        neutral: Truth,
        eval: &mut Eval<'_>,
        moves: &mut Moves,
    ) -> Option<()> {
        let root = &self.class(ROOT).situation;
        let plain = property.frame.is_empty()
            && self.live.len() <= MOST_CLASSES
            && !eval.tracks.multi
            && root.fixed_at.is_none()
            && !(eval.clock.position == 0 && property.automaton.is_decided());
        if !plain {
            return None;
        }
        let code = eval.code;
        moves.touched.clear();
        for (place, term) in terms.iter().enumerate() {
            let value = eval.value(*term);
            let known = value.known()?;
            if known.is_null() {
                continue;
            }
            let mut before = moves.touched.iter_mut();
            match before.find(|other| other.key[0].as_ref() == Some(known)) {
                Some(other) => other.set |= 1 << place,
                None => moves.touched.push(Touched {
                    key: [Some(match value {
                        Val::Own(value) => value,
                        value => value.known()?.clone(),
                    })],
                    set: 1 << place,
                    class: ROOT,
                    kept: false,
                    next: Configs::INITIAL,
                }),
            }
        }
        // Who decides the property is somebody else's business.
        let next = |eval: &mut Eval<'_>, set: u8, config: Config| {
            let (touch, scratch) = (Touch { terms, set }, &mut eval.scratch);
            let next = scratch.next_of_touched(code, id, property, touch, config)?;
            let standing = standings[next as usize];
            (!standing.fixed || standing.now == neutral).then_some(next)
        };
        moves.triggered = self.triggered;
        for touched in &mut moves.touched {
            let set = touched.set;
            if let Some(trigger) = property.trigger.filter(|_| !moves.triggered) {
                let (touch, scratch) = (Touch { terms, set }, &mut eval.scratch);
                moves.triggered =
                    scratch.triggered_of_touched(code, id, property, touch, trigger)?;
            }
            (touched.class, touched.kept) = self.class_of(&touched.key);
            let Situation {
                config, fixed_at, ..
            } = self.class(touched.class).situation;
            touched.next = match fixed_at {
                Some(_) => config,
                None => next(eval, set, config)?,
            };
        }
        // All terms are known, so values that none of them has are equal to none.
        moves.root = next(eval, 0, root.config).filter(|next| !standings[*next as usize].fixed)?;
        moves.live.clear();
        for id in &self.live {
            let class = self.class(*id);
            let here = |touched: &&Touched| touched.kept && touched.class == *id;
            let n_touched = moves.touched.iter().filter(here).count();
            moves.live.push(if class.members == n_touched as u64 {
                None
            } else {
                Some(next(eval, 0, class.situation.config)?)
            });
        }
        moves.root_triggered = self.root_triggered;
        if let Some(trigger) = property
            .trigger
            .filter(|_| !moves.triggered && !moves.root_triggered)
        {
            let (touch, scratch) = (Touch { terms, set: 0 }, &mut eval.scratch);
            moves.root_triggered =
                scratch.triggered_of_touched(code, id, property, touch, trigger)?;
        }
        Some(())
    }

    /// Puts everything where it goes.
    fn move_all(&mut self, standings: &[Standing], limit: usize, moves: &mut Moves) {
        let mut touched = std::mem::take(&mut moves.touched);
        // What is final stays where it is.
        touched.retain(|touched| self.class(touched.class).situation.fixed_at.is_none());
        let config = |class: u32| self.class(class).situation.config;
        let mut classes = self.live.iter().zip(&moves.live);
        let still = moves.root == config(ROOT)
            && classes.all(|(class, next)| next.is_none_or(|next| next == config(*class)))
            && touched.iter().all(|touched| {
                touched.next == config(touched.class) && (touched.class != ROOT || !touched.kept)
            });
        if !still {
            self.quiet = 0;
            self.map.settle();
            for touched in touched.iter().filter(|touched| touched.kept) {
                self.leave(touched.class, 1);
            }
            self.move_classes(standings, moves);
            for touched in touched.drain(..) {
                self.put_where(standings, touched, limit);
            }
        }
        moves.touched = touched;
        moves.touched.clear();
    }

    /// Moves the root and all classes with an open verdict; those that meet are joined.
    fn move_classes(&mut self, standings: &[Standing], moves: &Moves) {
        self.classes[ROOT as usize].situation.config = moves.root;
        let mut live = std::mem::take(&mut self.live);
        let mut kept = 0;
        for (position, next) in moves.live.iter().enumerate() {
            let (id, Some(next)) = (live[position], *next) else {
                continue;
            };
            self.classes[id as usize].situation.config = next;
            if standings[next as usize].fixed {
                self.classes[id as usize].situation.fixed_at = Some(u32::MAX);
                match self.final_class(next) {
                    Some(other) => self.join(id, other),
                    None => self.note_final(id, next),
                }
                continue;
            }
            match self.open_class(next, &live[..kept]) {
                Some(other) => self.join(id, other),
                None => {
                    live[kept] = id;
                    kept += 1;
                }
            }
        }
        live.truncate(kept);
        self.live = live;
    }

    /// The root or one of these classes, where it is in a state.
    fn open_class(&self, config: Config, among: &[u32]) -> Option<u32> {
        let mut all = [ROOT].iter().chain(among);
        all.find(|class| self.class(**class).situation.config == config)
            .copied()
    }

    /// The class whose verdict is final in a state, which does not decide the property.
    fn final_class(&self, config: Config) -> Option<u32> {
        let place = (config, Ranges::default(), u32::MAX);
        self.fixed_as.get(&place).copied()
    }

    fn note_final(&mut self, id: u32, config: Config) {
        let place = (config, Ranges::default(), u32::MAX);
        self.fixed_as.insert(place, id);
        self.fixed.push(id);
    }

    fn put_where(&mut self, standings: &[Standing], touched: Touched, limit: usize) {
        let Touched {
            key, kept, next, ..
        } = touched;
        let is_final = standings[next as usize].fixed;
        let class = if is_final {
            self.final_class(next)
        } else {
            self.open_class(next, &self.live)
        };
        if class == Some(ROOT) {
            if kept {
                self.map.remove(&key[..]);
            }
            return;
        }
        let class = class.unwrap_or_else(|| self.new_class(next, is_final));
        if !kept && self.map.len() >= limit {
            self.overflow = true;
            return;
        }
        // What it was in before has let it go.
        self.map.insert(&key, class);
        self.classes[class as usize].members += 1;
        self.classes[class as usize].whole += 1;
    }

    fn new_class(&mut self, config: Config, is_final: bool) -> u32 {
        let id = self.parent.len() as u32;
        self.parent.push(id);
        self.classes.push(Class {
            situation: Situation {
                config,
                range: Ranges::default(),
                fixed_at: is_final.then_some(u32::MAX),
                registers: Box::default(),
            },
            members: 0,
            whole: 0,
        });
        if is_final {
            self.note_final(id, config);
        } else {
            self.live.push(id);
        }
        id
    }
}
