//! Tracks: folds over the events, all updated together from their values before the event.
//!
//! A track of finite type holds the set of values that it may have. A track with parameters holds one value for each
//! key that differs from keys never seen, and one for all of those.

use serde::{Deserialize, Serialize};

use super::binding::{self, Key};
use super::clock::Clock;
use super::code::{Code, Node, NodeId, Reads, TrackCode};
use super::distinct::Distinct;
use super::expr::{Eval, Frame};
use super::overlay_map::OverlayMap;
use super::register::{Held, Operands, Register};
use crate::value::{Cell, Truth, Value};

/// The values of all tracks of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Tracks {
    tracks: Vec<Track>,
    /// Whether some track may have more than one value.
    pub(super) multi: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Track {
    /// The value; of a track with parameters, that of keys never seen.
    unseen: Entry,
    seen: OverlayMap<Entry>,
    /// The number of entries of `seen` that may have more than one value.
    n_multi: usize,
    /// More keys than are kept: nothing is known of it any more.
    lost: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    held: Held,
    registers: Box<[Register]>,
}

/// What an event makes of the tracks, before it is in force.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The track, the key (none: that of keys never seen), and what it becomes.
    changes: Vec<(u32, Option<Key>, Entry)>,
}

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

impl Changes {
    pub(super) fn clear(&mut self) {
        self.changes.clear();
    }
}

impl Tracks {
    /// Returns the tracks before the first event.
    pub(super) fn new(code: &Code, initial: &[Held]) -> Tracks {
        let track = |(track, held): (&TrackCode, &Held)| {
            let kind = |id: &u32| Register::initial(&code.registers[*id as usize].kind);
            let unseen = Entry {
                held: held.clone(),
                registers: track.frame.iter().map(kind).collect(),
            };
            Track {
                unseen,
                seen: OverlayMap::default(),
                n_multi: 0,
                lost: false,
            }
        };
        let mut tracks = Tracks {
            tracks: code.tracks.iter().zip(initial).map(track).collect(),
            multi: false,
        };
        tracks.count_multi();
        tracks
    }

    fn count_multi(&mut self) {
        let multi = |entry: &Entry| matches!(entry.held, Held::Many(_));
        self.multi = self
            .tracks
            .iter()
            .any(|track| track.n_multi > 0 || multi(&track.unseen));
    }

    /// Returns the known part of the value for this key.
    pub(super) fn get(&self, track: u32, key: &[Option<Value>]) -> &Held {
        let track = &self.tracks[track as usize];
        if track.lost {
            &Held::Unknown
        } else {
            &track.entry(key).held
        }
    }

    /// Whether these can be the tracks of a program: for what was written down.
    pub(super) fn fit(&self, code: &Code) -> bool {
        let fits = |(track, of): (&Track, &TrackCode)| {
            let entries = || [&track.unseen].into_iter().chain(track.seen.values());
            track.seen.keys().all(|key| key.len() == of.n_params)
                && entries().all(|entry| entry.registers.len() == of.frame.len())
        };
        self.tracks.len() == code.tracks.len() && self.tracks.iter().zip(&code.tracks).all(fits)
    }

    /// Whether the value of a track is not known, for some key.
    pub(super) fn is_doubtful(&self, track: usize) -> bool {
        let doubtful = |entry: &Entry| {
            !matches!(entry.held, Held::One(_)) || entry.registers.iter().any(Register::is_doubtful)
        };
        let track = &self.tracks[track];
        track.lost || doubtful(&track.unseen) || track.seen.values().any(doubtful)
    }

    /// Returns the tracks with more keys than are kept.
    pub(super) fn lost(&self) -> impl Iterator<Item = usize> {
        self.tracks
            .iter()
            .enumerate()
            .filter(|(_, track)| track.lost)
            .map(|(index, _)| index)
    }

    /// Makes ready for forks.
    pub(super) fn share(&mut self) {
        self.tracks.iter_mut().for_each(|track| track.seen.freeze());
    }

    /// Puts changes in force; the registers of keys take notice of the step.
    pub(super) fn apply(&mut self, code: &Code, changes: &mut Changes, most: usize) {
        for (track, key, entry) in changes.changes.drain(..) {
            let n_params = code.tracks[track as usize].n_params;
            let track = &mut self.tracks[track as usize];
            track.seen.thaw();
            match key {
                None => track.unseen = entry,
                Some(key) => {
                    let multi = |entry: &Entry| usize::from(matches!(entry.held, Held::Many(_)));
                    let plain = {
                        let mut below = binding::all_below(|key| track.seen.get(key), &key)
                            .map(|(_, found)| found)
                            .peekable();
                        n_params > 0
                            && match below.peek() {
                                None => track.unseen == entry,
                                Some(_) => {
                                    track.unseen == entry && below.all(|found| *found == entry)
                                }
                            }
                    };
                    track.n_multi += multi(&entry);
                    let before = if plain {
                        track.n_multi -= multi(&entry);
                        track.seen.remove(&key)
                    } else {
                        track.lost |= track.seen.len() >= most;
                        track.seen.insert(&key, entry)
                    };
                    track.n_multi -= before.as_ref().map_or(0, multi);
                    if track.lost {
                        track.seen = OverlayMap::default();
                        track.n_multi = 0;
                    }
                }
            }
        }
        self.count_multi();
    }

    /// Returns the same with positions counted back from `position`, to compare traces of different length.
    pub(super) fn relative_to(&self, position: u64) -> Tracks {
        let mut tracks = self.clone();
        let shift = |entry: &mut Entry| {
            entry.registers = entry
                .registers
                .iter()
                .map(|register| register.relative_to(position))
                .collect();
        };
        for track in &mut tracks.tracks {
            shift(&mut track.unseen);
            let mut seen = track.seen.take();
            seen.iter_mut().for_each(|(_, entry)| shift(entry));
            track.seen = seen.into_iter().collect();
        }
        tracks
    }
}

impl Track {
    fn entry(&self, key: &[Option<Value>]) -> &Entry {
        if key.is_empty() || self.seen.is_empty() {
            return &self.unseen;
        }
        self.seen
            .get(key)
            .or_else(|| binding::below(|key| self.seen.get(key), key))
            .unwrap_or(&self.unseen)
    }
}

/// No value for any of up to sixteen parameters.
const UNSEEN: [Option<Value>; 16] = [const { None }; 16];

impl Eval<'_> {
    /// What this event makes of all tracks.
    pub(super) fn update_tracks(&mut self, changes: &mut Changes) {
        let (code, tracks) = (self.code, self.tracks);
        for (index, track) in code.tracks.iter().enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let of = &tracks.tracks[index as usize];
            if of.lost {
                continue;
            }
            if track.n_params == 0 {
                if !tracks.multi && self.eval_cache.keeps_track(code, index) {
                    continue;
                }
                let next = self.updated(track, &[], &of.unseen);
                if next != of.unseen {
                    changes.changes.push((index, None, next));
                }
                continue;
            }
            let fresh = &UNSEEN[..track.n_params.min(UNSEEN.len())];
            // Keys that nothing compares keep their value, unless the update changes that of all keys.
            let steady = track.frame.is_empty()
                && self
                    .key(fresh, Frame::NONE)
                    .keeps_itself(track.update, index, track);
            if steady && let [terms] = &track.compared[..] {
                self.update_matched(index, track, terms, changes);
                continue;
            }
            let values = self.compared(track);
            let mut keys = binding::matched(of.seen.keys(), track.n_params, &values);
            if !steady {
                let next = self.updated(track, fresh, &of.unseen);
                if next != of.unseen {
                    changes.changes.push((index, None, next));
                }
                let known: rustc_hash::FxHashSet<Key> = keys.iter().cloned().collect();
                keys.extend(of.seen.keys().filter(|key| !known.contains(*key)).cloned());
            }
            for key in keys {
                let entry = of.entry(&key);
                let next = self.updated(track, &key, entry);
                changes.changes.push((index, Some(key), next));
            }
        }
    }

    /// The common case: one parameter, and only keys that a compared term has can change.
    fn update_matched(
        &mut self,
        index: u32,
        track: &TrackCode,
        terms: &[NodeId],
        changes: &mut Changes,
    ) {
        let of = &self.tracks.tracks[index as usize];
        let mut seen = Distinct::default();
        for term in terms {
            let Cell::Known(value) = self.cell(*term) else {
                continue;
            };
            let mut match_set = |eval: &mut Self, value: Value| {
                if seen.contains(&value) {
                    return;
                }
                seen.insert(&value);
                let key = [Some(value)];
                let entry = of.entry(&key);
                let next = eval.updated(track, &key, entry);
                if next != *entry {
                    changes.changes.push((index, Some(key.into()), next));
                }
            };
            if let Value::List(_) | Value::Set(_) = &value
                && let Some(items) = super::ops::elements(&value)
            {
                items.for_each(|item| match_set(self, item.clone()));
            }
            match_set(self, value);
        }
    }

    /// For each parameter, the values that the terms it is compared with take, elements of lists included.
    fn compared(&mut self, track: &TrackCode) -> Vec<Vec<Value>> {
        let mut all = Vec::with_capacity(track.compared.len());
        for terms in &track.compared {
            let mut values: Vec<Value> = Vec::new();
            for term in terms {
                if let Cell::Known(value) = self.cell(*term) {
                    if let Value::List(_) | Value::Set(_) = value
                        && let Some(items) = super::ops::elements(&value)
                    {
                        values.extend(items.cloned());
                    }
                    values.push(value);
                }
            }
            values.sort_unstable();
            values.dedup();
            all.push(values);
        }
        all
    }

    /// What the track has after the event for a key that has this entry before it.
    fn updated(&mut self, track: &TrackCode, key: &[Option<Value>], entry: &Entry) -> Entry {
        let frame = Frame {
            ids: &track.frame,
            registers: &entry.registers,
        };
        let mut eval = self.key(key, frame);
        let held = eval.next_value(track);
        let mut registers = entry.registers.clone();
        if !registers.is_empty() {
            let (code, clock): (&Code, Clock) = (eval.code, eval.clock);
            let operands: Vec<Operands> = track
                .frame
                .iter()
                .map(|id| eval.operands(*id, true))
                .collect();
            for ((register, id), operands) in registers.iter_mut().zip(&track.frame).zip(operands) {
                register.advance(&code.registers[*id as usize].kind, operands, &clock);
            }
        }
        Entry { held, registers }
    }

    fn next_value(&mut self, track: &TrackCode) -> Held {
        let update = track.update;
        let Some(ty) = track.finite.as_deref() else {
            return match self.cell(update) {
                Cell::Known(value) => Held::One(value),
                Cell::Unknown => Held::Unknown,
            };
        };
        let mut values = Vec::new();
        if self.tracks.multi && self.code.info(update).reads.has(Reads::TRACK) {
            let complete = self.each_choice(|eval| {
                eval.possible(update, &mut values, ty);
                values.sort_unstable();
                values.dedup();
                values.len() < ty.len()
            });
            if !complete {
                return Held::anything(track);
            }
        } else if let Cell::Known(value) = self.value(update).into_cell() {
            return Held::One(value);
        } else {
            self.possible(update, &mut values, ty);
        }
        if values.is_empty() {
            Held::anything(track)
        } else {
            Held::of(values)
        }
    }

    /// Whether the update gives every key that the event does not touch the value that it has.
    fn keeps_itself(&mut self, update: NodeId, index: u32, track: &TrackCode) -> bool {
        let code = self.code;
        match code.node(update) {
            Node::Track(other, args) => *other == index
                && args.len() == track.n_params
                && (0u32..).zip(args).all(
                    |(place, arg)| matches!(code.node(*arg), Node::Param(param) if *param == place),
                ),
            Node::If(condition, then, other) => {
                if code
                    .info(*condition)
                    .reads
                    .has(Reads::KEYED.with(Reads::FRAME))
                {
                    return false;
                }
                match self.letter(*condition) {
                    Truth::True => self.keeps_itself(*then, index, track),
                    Truth::False => self.keeps_itself(*other, index, track),
                    Truth::Unknown => {
                        self.keeps_itself(*then, index, track)
                            && self.keeps_itself(*other, index, track)
                    }
                }
            }
            _ => false,
        }
    }
}
