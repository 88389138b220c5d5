//! Classes: storing touched instances, and dropping instances.

use rustc_hash::FxHashMap;

use super::{Buffers, InstanceClass, InstanceState, Instances, ROOT, Staged, StateIndex};
use crate::eval::binding::Key;
use crate::eval::compiled::QuantifiedCode;
use crate::eval::compiled::Release;
use crate::value::Value;

impl Instances {
    /// Takes the touched instances out of their classes, so that a class without other members need not be kept.
    pub(super) fn withdraw(&mut self, room: &mut Buffers) {
        for staged in &mut room.staged {
            let key = Buffers::key(&room.singles, &room.touched, staged.key);
            if let Some(before) = self.map.get(key).copied() {
                self.leave(before, u64::from(key.iter().all(Option::is_some)));
                staged.left = true;
            }
        }
    }

    /// Stores the touched instances in the classes of their new states.
    pub(super) fn place(
        &mut self,
        quantified: &QuantifiedCode,
        limit: usize,
        room: &mut Buffers,
    ) -> bool {
        let mut any_fixed = false;
        let Buffers {
            staged,
            singles,
            touched,
            state_index,
            ..
        } = room;
        for Staged { key, next, left } in staged.drain(..) {
            any_fixed |= next.fixed_at.is_some();
            let class = self.class_in(next, state_index);
            let key = Buffers::key(singles, touched, key);
            self.place_instance(key, class, left, quantified, limit);
        }
        any_fixed
    }

    /// Makes an instance a member of a class, or drops it if less informative bindings or the root represent it. `left`: the
    /// instance was already removed from its class.
    pub(super) fn place_instance(
        &mut self,
        key: &[Option<Value>],
        class: u32,
        left: bool,
        quantified: &QuantifiedCode,
        limit: usize,
    ) {
        let whole = u64::from(key.iter().all(Option::is_some));
        let before = if self.may_forget(key, class, quantified) {
            self.map.remove(key)
        } else if self.map.len() >= limit && self.map.get(key).is_none() {
            self.overflow = true;
            None
        } else {
            self.classes[class as usize].members += 1;
            self.classes[class as usize].whole += whole;
            self.map.insert(key, class)
        };
        if let Some(before) = before.filter(|_| !left) {
            self.leave(before, whole);
        }
    }

    /// Joins a class whose state has changed with the class that is already in that state, if there is one. Returns whether the
    /// class remains as a class of its own with an open verdict. The root is settled first, so that classes join the root and
    /// not the reverse.
    pub(super) fn settle(&mut self, id: u32, state_index: &mut StateIndex) -> bool {
        let state = &self.classes[id as usize].state;
        let place = (state.state_set, state.range);
        match state.fixed_at {
            _ if id == ROOT => {
                if state.fixed_at.is_none() {
                    state_index.note(place, ROOT);
                }
                false
            }
            Some(at) => {
                match self.fixed_as.get(&(place.0, place.1, at)).copied() {
                    Some(other) => self.join(id, other),
                    None => {
                        self.fixed_as.insert((place.0, place.1, at), id);
                        self.fixed.push(id);
                    }
                }
                false
            }
            None => match state_index.get(place) {
                // Classes with registers of their own may agree in everything else.
                Some(other) if self.classes[other as usize].state.registers == state.registers => {
                    self.join(id, other);
                    false
                }
                met => {
                    if met.is_none() {
                        state_index.note(place, id);
                    }
                    true
                }
            },
        }
    }

    /// Returns the class of a state, and makes it if it is new.
    pub(super) fn class_in(&mut self, state: InstanceState, state_index: &mut StateIndex) -> u32 {
        let same = |id: &u32| self.classes[*id as usize].state == state;
        let known = match state.fixed_at {
            None => {
                let place = (state.state_set, state.range);
                let met = state_index.get(place).filter(same);
                met.or_else(|| {
                    if state.registers.is_empty() {
                        None
                    } else {
                        self.live.iter().copied().find(same)
                    }
                })
            }
            Some(at) => self
                .fixed_as
                .get(&(state.state_set, state.range, at))
                .copied(),
        };
        known.unwrap_or_else(|| {
            let id = self.parent.len() as u32;
            self.parent.push(id);
            if let Some(at) = state.fixed_at {
                self.fixed_as.insert((state.state_set, state.range, at), id);
                self.fixed.push(id);
            } else {
                let place = (state.state_set, state.range);
                state_index.note(place, id);
                self.live.push(id);
            }
            self.classes.push(InstanceClass {
                state,
                members: 0,
                whole: 0,
            });
            id
        })
    }

    /// Whether the bindings below this key represent it because they are in its class; the root, if there are none.
    fn may_forget(&self, key: &[Option<Value>], class: u32, quantified: &QuantifiedCode) -> bool {
        match quantified.release {
            Release::Neutral if key.len() < 2 => class == ROOT,
            Release::Neutral => {
                let mut below = self.map.all_below(key).map(|below| self.find(*below));
                match below.next() {
                    None => class == ROOT,
                    Some(first) => first == class && below.all(|other| other == class),
                }
            }
            Release::Never => false,
        }
    }

    /// Drops members of the root and classes without members.
    pub(super) fn tidy(&mut self, quantified: &QuantifiedCode) {
        let mut number: FxHashMap<u32, u32> = FxHashMap::default();
        let mut classes = vec![InstanceClass {
            members: 0,
            whole: 0,
            ..self.classes[ROOT as usize].clone()
        }];
        number.insert(ROOT, ROOT);
        for id in self.live.iter_mut().chain(self.fixed.iter_mut()) {
            let new = classes.len() as u32;
            number.insert(*id, new);
            classes.push(InstanceClass {
                members: 0,
                whole: 0,
                ..self.classes[*id as usize].clone()
            });
            *id = new;
        }
        // A less informative binding may be dropped only if no binding below it has another class.
        let mut keys: Vec<(Key, u32)> = self.map.take();
        for (_, class) in &mut keys {
            *class = number.get(&self.find(*class)).copied().unwrap_or(ROOT);
        }
        self.parent = (0..classes.len() as u32).collect();
        self.classes = classes;
        if quantified.vars.len() > 1 {
            keys.sort_unstable_by_key(|(key, _)| key.iter().flatten().count());
        }
        for (key, class) in keys {
            if !self.may_forget(&key, class, quantified) {
                self.put(&key, class);
            }
        }
        let used = |id: &u32| self.classes[*id as usize].members > 0;
        self.live.retain(used);
        self.fixed.retain(used);
        self.fixed_as.clear();
        for id in &self.fixed {
            let state = &self.classes[*id as usize].state;
            if let Some(at) = state.fixed_at {
                self.fixed_as
                    .insert((state.state_set, state.range, at), *id);
            }
        }
        self.n_moved = 0;
    }
}
