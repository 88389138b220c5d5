//! Tracks: folds over the events. All tracks are updated together from their values before the event.
//!
//! A track of finite type holds the set of values that it may have. A track with parameters holds one value for each
//! key that differs from unseen keys, and one value for all unseen keys.

use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use super::binding::{self, Key, Places};
use super::clock::Clock;
use super::code::{Code, Node, NodeId, Reads, TrackCode};
use super::distinct::Distinct;
use super::expr::{Eval, Frame};
use super::overlay_map::{ForkLife, OverlayMap};
use super::register::{Held, Operands, Register};
use crate::value::{Cell, Truth, Value};

/// The values of all tracks of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tracks {
    tracks: Vec<Track>,
    /// Whether some track may have more than one value.
    pub(super) multi: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Track {
    /// The value of a track without parameters, or the value for unseen keys.
    unseen: Entry,
    seen: OverlayMap<Entry>,
    /// The number of entries of `seen` that may have more than one value.
    n_multi: usize,
    /// Whether there are more keys than the limit: all values are then unknown.
    lost: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    held: Held,
    registers: Box<[Register]>,
}

/// For digests of maps: without the members of collections, which took time proportional to their number at each change.
impl Hash for Entry {
    fn hash<H: Hasher>(&self, to: &mut H) {
        match &self.held {
            Held::One(Value::Set(all)) => all.len().hash(to),
            Held::One(Value::List(all)) => all.len().hash(to),
            Held::One(Value::Object(_)) => {}
            held => held.hash(to),
        }
        self.registers.hash(to);
    }
}

/// The changes of the tracks by an event, before they are applied.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The track, the key (`None` for unseen keys), and the new entry.
    changes: Vec<(u32, Option<Key>, Entry)>,
    /// A buffer that is reused between events to avoid allocations; invalid between events.
    values: Vec<Distinct>,
}

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

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

    /// Whether these can be the tracks of a program; used for deserialised tracks.
    pub(super) fn fit(&self, code: &Code) -> bool {
        let fits = |(track, of): (&Track, &TrackCode)| {
            let entries = || [&track.unseen].into_iter().chain(track.seen.values());
            track.seen.keys().all(|key| key.len() == of.n_params)
                && entries().all(|entry| entry.registers.len() == of.frame.len())
        };
        self.tracks.len() == code.tracks.len() && self.tracks.iter().zip(&code.tracks).all(fits)
    }

    /// Whether the value of a track is unknown for some key.
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

    /// Prepares the maps for forks.
    pub(super) fn share(&mut self, life: ForkLife) {
        let seen = self.tracks.iter_mut().map(|track| &mut track.seen);
        seen.for_each(|seen| seen.freeze(life));
    }

    /// Applies the changes; also updates the registers of keys with the step.
    pub(super) fn apply(&mut self, changes: &mut Changes, most: usize) {
        for (track, key, entry) in changes.changes.drain(..) {
            let track = &mut self.tracks[track as usize];
            track.seen.thaw();
            match key {
                None => track.unseen = entry,
                Some(key) => {
                    let multi = |entry: &Entry| usize::from(matches!(entry.held, Held::Many(_)));
                    let plain = {
                        let mut below = track.seen.all_below(&key);
                        match below.next() {
                            None => track.unseen == entry,
                            Some(first) => *first == entry && below.all(|found| *found == entry),
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

    /// Returns the same tracks with positions relative to `position`, to compare traces of different length.
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
            .or_else(|| self.seen.below(key))
            .unwrap_or(&self.unseen)
    }
}

/// A key without values, for up to sixteen parameters.
const UNSEEN: [Option<Value>; 16] = [const { None }; 16];

impl Eval<'_> {
    /// Computes the changes of all tracks by this event.
    pub(super) fn update_tracks(&mut self, changes: &mut Changes) {
        let (code, tracks) = (self.code, self.tracks);
        for (index, track) in code.tracks.iter().enumerate() {
            let (Some(update), Ok(index)) = (track.update, u32::try_from(index)) else {
                continue;
            };
            let of = &tracks.tracks[index as usize];
            if of.lost {
                continue;
            }
            if track.n_params == 0 {
                if !tracks.multi && self.eval_cache.keeps_track(code, index) {
                    continue;
                }
                let next = self.updated(track, update, &[], &of.unseen);
                if next != of.unseen {
                    changes.changes.push((index, None, next));
                }
                continue;
            }
            let fresh = &UNSEEN[..track.n_params.min(UNSEEN.len())];
            let mut values = std::mem::take(&mut changes.values);
            let unknown = self.compared(track, &mut values);
            // Keys that the event does not compare keep their value, unless the update changes the value of all keys.
            if self.keeps_itself(track, update, index, fresh) {
                match &values[..] {
                    [values] => self.update_matched(index, track, update, values, changes),
                    values => {
                        let needed = track.needed & !unknown;
                        self.update_touched(index, track, update, values, needed, changes);
                    }
                }
            } else {
                self.update_all(index, track, update, fresh, &values, changes);
            }
            changes.values = values;
        }
    }

    /// The common case: one parameter, and the update can change only keys that a compared term has.
    fn update_matched(
        &mut self,
        index: u32,
        track: &TrackCode,
        update: NodeId,
        values: &[Value],
        changes: &mut Changes,
    ) {
        let of = &self.tracks.tracks[index as usize];
        self.eval_cache.work += values.len() as u64;
        for value in values {
            let key = [Some(value.clone())];
            let entry = of.entry(&key);
            let next = self.updated(track, update, &key, entry);
            if next != *entry {
                changes.changes.push((index, Some(key.into()), next));
            }
        }
    }

    /// Several parameters: the update can change only keys that are equal to a compared term, at least in the `needed` places.
    /// A match (see [`instances`](super::instances)) for which the update keeps the value touches no keys, unless a match that
    /// binds fewer places does.
    fn update_touched(
        &mut self,
        index: u32,
        track: &TrackCode,
        update: NodeId,
        values: &[Distinct],
        needed: Places,
        changes: &mut Changes,
    ) {
        let of = &self.tracks.tracks[index as usize];
        let (mut touched, mut found) = (Vec::new(), Vec::new());
        let mut effective: Vec<Key> = Vec::new();
        for key in binding::matches(values, needed) {
            let below = |other: &Key| binding::join(other, &key) == key;
            if self.keeps_itself(track, update, index, &key) && !effective.iter().any(below) {
                continue;
            }
            // The join of a complete key with a compatible key is the key itself.
            if key.iter().any(Option::is_none) {
                of.seen.compatible(&key, |_| true, &mut found);
                touched.extend(found.drain(..).map(|other| binding::join(&other, &key)));
                effective.push(Key::clone(&key));
            }
            touched.push(key);
        }
        binding::in_order(&mut touched);
        self.eval_cache.work += touched.len() as u64;
        for key in touched {
            let entry = of.entry(&key);
            let next = self.updated(track, update, &key, entry);
            // The new value of a less informative key must not apply to this one.
            if !effective.is_empty() || next != *entry {
                changes.changes.push((index, Some(key), next));
            }
        }
    }

    /// The update may change the value of every key: of the keys that are kept, of the keys for which other tracks that it
    /// reads have their own value, and of the keys that the event compares.
    fn update_all(
        &mut self,
        index: u32,
        track: &TrackCode,
        update: NodeId,
        fresh: &[Option<Value>],
        values: &[Distinct],
        changes: &mut Changes,
    ) {
        let of = &self.tracks.tracks[index as usize];
        let next = self.updated(track, update, fresh, &of.unseen);
        if next != of.unseen {
            changes.changes.push((index, None, next));
        }
        let mut keys = Vec::new();
        self.keys_of_tracks(&track.keyed, fresh, &mut keys);
        keys.extend(of.seen.keys().cloned());
        keys.extend(binding::matches(values, 0));
        binding::close(&mut keys);
        self.eval_cache.work += keys.len() as u64;
        for key in keys {
            let next = self.updated(track, update, &key, of.entry(&key));
            changes.changes.push((index, Some(key), next));
        }
    }

    /// Returns the keys of variables or parameters that agree with `key` and for which the tracks that these nodes read have
    /// their own value.
    pub(super) fn keys_of_tracks(
        &mut self,
        keyed: &[NodeId],
        with: &[Option<Value>],
        into: &mut Vec<Key>,
    ) {
        let (code, tracks) = (self.code, self.tracks);
        let mut found = Vec::new();
        for node in keyed {
            let Node::Track(track, args) = code.node(*node) else {
                continue;
            };
            // The source of each argument: a place of the key, or a value of the step.
            let place = |arg: &NodeId| match code.node(*arg) {
                Node::Var(place) | Node::Param(place) => Some(*place as usize),
                _ => None,
            };
            let places: Vec<Option<usize>> = args.iter().map(place).collect();
            let arg = |(place, arg): (&Option<usize>, &NodeId)| match place {
                Some(place) => with.get(*place).cloned().flatten(),
                None => match self.cell(*arg) {
                    Cell::Known(value) => Some(value),
                    Cell::Unknown => None,
                },
            };
            let asked: Vec<Option<Value>> = places.iter().zip(args).map(arg).collect();
            let seen = &tracks.tracks[*track as usize].seen;
            seen.compatible(&asked, |_| true, &mut found);
            self.eval_cache.work += found.len() as u64;
            for kept in found.drain(..) {
                let mut key = with.to_vec();
                let agrees = places.iter().zip(&*kept).all(|(place, value)| {
                    let slot = place.and_then(|place| key.get_mut(place));
                    match (slot, value) {
                        (Some(slot @ None), Some(value)) => *slot = Some(value.clone()),
                        (Some(Some(other)), Some(value)) => return other == value,
                        _ => {}
                    }
                    true
                });
                if agrees && binding::bound(&key) != 0 {
                    into.push(key.into());
                }
            }
        }
    }

    /// Collects, for each parameter, the values that it is compared with, including elements of lists. Returns the parameters
    /// with an unknown term.
    fn compared(&mut self, track: &TrackCode, into: &mut Vec<Distinct>) -> Places {
        into.resize(track.n_params, Distinct::default());
        into.iter_mut().for_each(Distinct::clear);
        for (values, constants) in into.iter_mut().zip(&track.constants) {
            constants.iter().for_each(|value| values.insert(value));
        }
        let mut unknown = 0;
        for (index, (values, terms)) in into.iter_mut().zip(&track.compared).enumerate() {
            for term in terms {
                self.with_value(*term, |value| {
                    let Some(value) = value else {
                        unknown |= binding::place(index);
                        return;
                    };
                    if let Value::List(_) | Value::Set(_) = value
                        && let Some(items) = super::ops::elements(value)
                    {
                        items.for_each(|item| values.insert(item));
                    }
                    values.insert(value);
                });
            }
        }
        unknown
    }

    /// Returns the entry of a key after the event, given the entry before it.
    fn updated(
        &mut self,
        track: &TrackCode,
        update: NodeId,
        key: &[Option<Value>],
        entry: &Entry,
    ) -> Entry {
        let frame = Frame {
            ids: &track.frame,
            registers: &entry.registers,
        };
        let mut eval = self.key(key, frame);
        let held = eval.next_value(track, update);
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

    fn next_value(&mut self, track: &TrackCode, update: NodeId) -> Held {
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

    /// Whether the update keeps the value of every key that agrees with this one and that no compared term has in other places.
    fn keeps_itself(
        &mut self,
        track: &TrackCode,
        update: NodeId,
        index: u32,
        key: &[Option<Value>],
    ) -> bool {
        track.frame.is_empty() && self.key(key, Frame::NONE).is_own_value(update, index)
    }

    fn is_own_value(&mut self, node: NodeId, index: u32) -> bool {
        match self.code.node(node) {
            _ if self.code.is_own_value(index, node) => true,
            Node::If(condition, then, other) => match self.truth_of_all(*condition) {
                Truth::True => self.is_own_value(*then, index),
                Truth::False => self.is_own_value(*other, index),
                Truth::Unknown => {
                    self.is_own_value(*then, index) && self.is_own_value(*other, index)
                }
            },
            _ => false,
        }
    }
}
