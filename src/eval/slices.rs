//! `forall x: φ` and `exists x: φ`: one instance of the automaton for each value, as far as values differ.
//!
//! Every value that has not been seen behaves alike; they share one situation, the *root*. An instance leaves it at an
//! event at which a compared term has its value, and is forgotten when it is in the situation of the root again. Instances
//! in one situation form a *class*: an event steps each class once and each instance that it touches, whatever their
//! number. Classes that meet are joined as in union-find.
//!
//! Of tuples, each partly seen combination is kept like an instance (see [`binding`](super::binding)).
//!
//! # Source
//! G. Roșu, F. Chen, *Semantics and algorithms for parametric monitoring*, 2012. Ours differs in the classes, in
//! comparisons instead of event parameters, and in values that are not known.

use rustc_hash::FxHashMap;

use super::binding::{self, Key};
use super::code::{NodeId, Reads};
use super::expr::{Eval, Frame, Val};
use super::monitor::{Config, Configs, Standing};
use super::program::{PropertyCode, QuantifiedCode, Release};
use super::register::{Operands, Register};
use crate::value::{Truth, Value};

/// All that an instance's future depends on, and since when its verdict is final.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Situation {
    config: Config,
    /// Whether its values are in their ranges: two bits per variable.
    range: Ranges,
    fixed_at: Option<u32>,
    registers: Box<[Register]>,
}

/// A truth value for each quantified variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Ranges {
    certain: u32,
    possible: u32,
}

impl Ranges {
    fn add(&mut self, var: usize, truth: Truth) {
        let bit = 1u32.checked_shl(var as u32).unwrap_or(0);
        if truth != Truth::False {
            self.possible |= bit;
        }
        if truth == Truth::True {
            self.certain |= bit;
        }
    }

    fn all(self, wanted: u32) -> Truth {
        if self.certain & wanted == wanted {
            Truth::True
        } else if self.possible & wanted == wanted {
            Truth::Unknown
        } else {
            Truth::False
        }
    }
}

#[derive(Clone, Debug)]
struct Class {
    situation: Situation,
    /// Keys in the map, and how many of those are whole tuples.
    members: u64,
    whole: u64,
}

/// The class of the root.
const ROOT: u32 = 0;

/// A verdict of one instance.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) key: Key,
    pub(super) at: Option<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct Slices {
    map: FxHashMap<Key, u32>,
    parent: Vec<u32>,
    classes: Vec<Class>,
    /// Classes with an open verdict, without the root.
    live: Vec<u32>,
    /// Classes whose verdict is final.
    fixed: Vec<u32>,
    /// An unknown key was met: an instance that may be any value.
    wild: bool,
    /// Instances were forgotten for which the root stands only while its value decides nothing.
    ghosts: bool,
    /// Beyond the limit on instances.
    pub(super) overflow: bool,
    /// Whether some instance's verdict alone decides the property.
    decisive: bool,
    any: bool,
    triggered: bool,
    root_triggered: bool,
    n_moved: u64,
    // Kept between events so that nothing is allocated.
    values: Vec<Vec<Value>>,
    singles: Vec<Option<Value>>,
    in_range: Vec<Vec<Value>>,
    staged: Vec<(Staged, Situation)>,
    shared: Vec<Option<Truth>>,
    meeting: FxHashMap<(Config, Ranges), u32>,
    fixed_as: FxHashMap<(Config, Ranges, u32), u32>,
}

#[derive(Clone, Debug)]
enum Staged {
    /// Position in `singles`.
    Single(usize),
    Key(Key),
}

impl Slices {
    pub(super) fn new(
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        initial: &[Register],
    ) -> Slices {
        let situation = Situation {
            config: Configs::INITIAL,
            range: Ranges::default(),
            fixed_at: None,
            registers: initial.into(),
        };
        let mut slices = Slices {
            map: FxHashMap::default(),
            parent: vec![ROOT],
            classes: vec![Class {
                situation,
                members: 0,
                whole: 0,
            }],
            live: Vec::new(),
            fixed: Vec::new(),
            wild: false,
            ghosts: false,
            overflow: false,
            decisive: false,
            any: false,
            triggered: false,
            root_triggered: false,
            n_moved: 0,
            values: vec![Vec::new(); quantified.vars.len()],
            singles: Vec::new(),
            in_range: vec![Vec::new(); quantified.vars.len()],
            staged: Vec::new(),
            shared: vec![None; property.letters.len()],
            meeting: FxHashMap::default(),
            fixed_as: FxHashMap::default(),
        };
        // The constants are in the range from the start.
        let constants: Vec<Vec<Value>> = quantified
            .vars
            .iter()
            .map(|var| var.constants.clone())
            .collect();
        for key in binding::touched(std::iter::empty(), quantified.vars.len(), &constants) {
            slices.any |= key.iter().all(Option::is_some);
            slices.put(&key, ROOT);
        }
        slices
    }

    fn find(&self, mut class: u32) -> u32 {
        while self.parent[class as usize] != class {
            class = self.parent[class as usize];
        }
        class
    }

    fn class(&self, id: u32) -> &Class {
        &self.classes[id as usize]
    }

    /// The class of the most informative binding that is kept.
    fn class_of(&self, key: &[Option<Value>]) -> (u32, bool) {
        match self.map.get(key) {
            Some(class) => (self.find(*class), true),
            None => (
                binding::below(&self.map, key).map_or(ROOT, |class| self.find(*class)),
                false,
            ),
        }
    }

    fn put(&mut self, key: &[Option<Value>], class: u32) {
        let whole = u64::from(key.iter().all(Option::is_some));
        let before = match self.map.get_mut(key) {
            Some(slot) => Some(std::mem::replace(slot, class)),
            None => self.map.insert(key.into(), class),
        };
        self.classes[class as usize].members += 1;
        self.classes[class as usize].whole += whole;
        if let Some(before) = before {
            self.leave(before, whole);
        }
    }

    fn leave(&mut self, class: u32, whole: u64) {
        let class = self.find(class);
        self.classes[class as usize].members -= 1;
        self.classes[class as usize].whole -= whole;
    }

    /// One event. Says whether a verdict may have become final.
    pub(super) fn step(
        &mut self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        configs: &mut Configs,
        eval: &mut Eval<'_>,
        step: u32,
        limit: usize,
    ) -> bool {
        self.read_terms(quantified, eval);
        let ranges_doubtful = self.read_ranges(quantified, eval);
        self.stage(property, quantified, configs, eval, step, ranges_doubtful);
        let mut fixed =
            self.step_classes(property, quantified, configs, eval, step, ranges_doubtful);
        fixed |= self.place(quantified, limit);
        if fixed && !self.decisive {
            let decisive = Truth::from(!quantified.universal);
            self.decisive = self.fixed.iter().any(|id| {
                let class = self.class(*id);
                class.whole > 0
                    && class.situation.range.all(quantified.ranged) == Truth::True
                    && configs
                        .standing(&property.automaton, class.situation.config)
                        .now
                        == decisive
            });
        }
        if self.parent.len() > 1024 + 2 * (self.live.len() + self.fixed.len() + self.map.len())
            || self.n_moved > 4096 + self.map.len() as u64 / 2
        {
            self.tidy(quantified);
        }
        fixed
    }

    /// Collects the values that the compared terms take.
    fn read_terms(&mut self, quantified: &QuantifiedCode, eval: &mut Eval<'_>) {
        self.singles.clear();
        for (var, values) in quantified.vars.iter().zip(&mut self.values) {
            values.clear();
            values.extend(var.constants.iter().cloned());
            for term in &var.terms {
                self.wild |= collect(eval, *term, false, values);
            }
            for term in &var.elements {
                self.wild |= collect(eval, *term, true, values);
            }
        }
    }

    /// Collects the values that the ranges take; says for which variables that is not known.
    fn read_ranges(&mut self, quantified: &QuantifiedCode, eval: &mut Eval<'_>) -> Ranges {
        let mut doubtful = Ranges::default();
        for (index, var) in quantified.vars.iter().enumerate() {
            let Some(range) = var.range else {
                continue;
            };
            let values = &mut self.in_range[index];
            values.clear();
            if collect(eval, range, true, values) {
                self.wild = true;
                doubtful.add(index, Truth::Unknown);
            }
            for value in values.iter() {
                if !self.values[index].contains(value) {
                    self.values[index].push(value.clone());
                }
            }
        }
        doubtful
    }

    /// Finds what becomes of each instance that the event touches, from the situations before it.
    fn stage(
        &mut self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        configs: &mut Configs,
        eval: &mut Eval<'_>,
        step: u32,
        doubtful: Ranges,
    ) {
        let mut staged = std::mem::take(&mut self.staged);
        staged.clear();
        if quantified.vars.len() == 1 && quantified.release != Release::ReadsTracks {
            let mut singles = std::mem::take(&mut self.singles);
            singles.extend(self.values[0].drain(..).map(Some));
            for (index, value) in singles.iter().enumerate() {
                let key = std::slice::from_ref(value);
                if let Some(next) =
                    self.touch(key, property, quantified, configs, eval, step, doubtful)
                {
                    staged.push((Staged::Single(index), next));
                }
            }
            self.singles = singles;
        } else {
            let mut keys = binding::touched(self.map.keys(), quantified.vars.len(), &self.values);
            if quantified.release == Release::ReadsTracks {
                let known: rustc_hash::FxHashSet<Key> = keys.iter().cloned().collect();
                keys.extend(self.map.keys().filter(|key| !known.contains(*key)).cloned());
            }
            for key in keys {
                if let Some(next) =
                    self.touch(&key, property, quantified, configs, eval, step, doubtful)
                {
                    staged.push((Staged::Key(key), next));
                }
            }
        }
        self.staged = staged;
    }

    /// What becomes of one instance; none where it stays as it is.
    #[allow(
        clippy::too_many_arguments,
        reason = "one event, one instance: all of it is needed"
    )]
    fn touch(
        &mut self,
        key: &[Option<Value>],
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        configs: &mut Configs,
        eval: &mut Eval<'_>,
        step: u32,
        doubtful: Ranges,
    ) -> Option<Situation> {
        let (class, known) = self.class_of(key);
        let before = &self.classes[class as usize].situation;
        let whole = key.iter().all(Option::is_some);
        self.any |= whole;
        let mut range = before.range;
        for (var, value) in key.iter().enumerate() {
            let has = value
                .as_ref()
                .is_some_and(|value| self.in_range[var].contains(value));
            let doubt = doubtful.possible >> var & 1 == 1;
            range.add(
                var,
                if has {
                    Truth::True
                } else if doubt {
                    Truth::Unknown
                } else {
                    Truth::False
                },
            );
        }
        let trigger = if self.triggered || before.fixed_at.is_some() {
            None
        } else {
            property.trigger
        };
        let frame = Frame {
            ids: &property.frame,
            registers: &before.registers,
        };
        let mut eval = eval.instance(key, frame);
        if let Some(trigger) = trigger
            && whole
            && eval.letter(trigger) != Truth::False
        {
            self.triggered = true;
        }
        if before.fixed_at.is_some() {
            let changed = range != before.range;
            if known && !changed {
                return None;
            }
            let now = configs.standing(&property.automaton, before.config).now;
            if !known
                && !changed
                && now == Truth::from(quantified.universal)
                && quantified.release == Release::Neutral
            {
                return None;
            }
            // Not seen before: its verdict is final from this event on.
            let fixed_at = if known {
                before.fixed_at
            } else {
                Some(fixed_at(now, quantified, step))
            };
            return Some(Situation {
                range,
                fixed_at,
                ..before.clone()
            });
        }
        let time = eval.clock.now;
        let config = configs.step(&property.automaton, before.config, time, |letter| {
            eval.letter(property.letters[letter as usize].node)
        });
        let standing = configs.standing(&property.automaton, config);
        if standing.fixed {
            let fixed_at = Some(fixed_at(standing.now, quantified, step));
            return Some(Situation {
                config,
                range,
                fixed_at,
                registers: Box::default(),
            });
        }
        let registers = advanced(property, &before.registers, &mut eval);
        Some(Situation {
            config,
            range,
            fixed_at: None,
            registers,
        })
    }

    /// Steps the root and every class by the letters of values that the event does not have.
    fn step_classes(
        &mut self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        configs: &mut Configs,
        eval: &mut Eval<'_>,
        step: u32,
        doubtful: Ranges,
    ) -> bool {
        self.shared.fill(None);
        let unseen: &[Option<Value>] = &NOTHING[..quantified.vars.len().min(NOTHING.len())];
        if !self.root_triggered
            && !self.triggered
            && let Some(trigger) = property.trigger
        {
            let frame = Frame {
                ids: &property.frame,
                registers: &self.classes[0].situation.registers,
            };
            self.root_triggered = eval.instance(unseen, frame).letter(trigger) != Truth::False;
        }
        let time = eval.clock.now;
        let mut any_fixed = false;
        self.meeting.clear();
        let mut live = std::mem::take(&mut self.live);
        let mut kept = 0;
        for position in 0..=live.len() {
            // The root comes first, so that who meets it joins it.
            let id = if position == 0 {
                ROOT
            } else {
                live[position - 1]
            };
            let class = &mut self.classes[id as usize];
            if id != ROOT && class.members == 0 {
                continue;
            }
            let situation = &mut class.situation;
            if situation.fixed_at.is_none() {
                let frame = Frame {
                    ids: &property.frame,
                    registers: &situation.registers,
                };
                let mut eval = eval.instance(unseen, frame);
                let shared = &mut self.shared;
                let config = configs.step(&property.automaton, situation.config, time, |letter| {
                    let code = &property.letters[letter as usize];
                    if code.reads.has(Reads::FRAME) {
                        return eval.letter(code.node);
                    }
                    *shared[letter as usize].get_or_insert_with(|| eval.letter(code.node))
                });
                let registers = advanced(property, &situation.registers, &mut eval);
                situation.config = config;
                let standing = configs.standing(&property.automaton, config);
                if standing.fixed {
                    situation.fixed_at = Some(fixed_at(standing.now, quantified, step));
                    situation.registers = Box::default();
                    any_fixed = true;
                } else {
                    situation.registers = registers;
                }
            }
            situation.range.possible |= doubtful.possible;
            if id == ROOT {
                if situation.fixed_at.is_none() {
                    self.meeting
                        .insert((situation.config, situation.range), ROOT);
                }
                continue;
            }
            if let Some(at) = situation.fixed_at {
                let (config, range) = (situation.config, situation.range);
                match self.fixed_as.get(&(config, range, at)).copied() {
                    Some(other) => self.join(id, other),
                    None => {
                        self.fixed_as.insert((config, range, at), id);
                        self.fixed.push(id);
                    }
                }
                continue;
            }
            // With registers of their own, classes may agree in all else.
            match self
                .meeting
                .get(&(situation.config, situation.range))
                .copied()
            {
                Some(other)
                    if self.classes[other as usize].situation.registers
                        == self.classes[id as usize].situation.registers =>
                {
                    self.join(id, other);
                }
                Some(_) => {
                    live[kept] = id;
                    kept += 1;
                }
                None => {
                    let situation = &self.classes[id as usize].situation;
                    self.meeting.insert((situation.config, situation.range), id);
                    live[kept] = id;
                    kept += 1;
                }
            }
        }
        live.truncate(kept);
        self.live = live;
        if doubtful.possible != 0 {
            self.fixed_as.clear();
            for id in &self.fixed {
                let situation = &mut self.classes[*id as usize].situation;
                situation.range.possible |= doubtful.possible;
                if let Some(at) = situation.fixed_at {
                    self.fixed_as
                        .insert((situation.config, situation.range, at), *id);
                }
            }
        }
        any_fixed
    }

    /// Makes all members of one class members of another.
    fn join(&mut self, id: u32, other: u32) {
        let Class { members, whole, .. } = self.classes[id as usize];
        self.parent[id as usize] = other;
        self.classes[other as usize].members += members;
        self.classes[other as usize].whole += whole;
        if other == ROOT {
            self.n_moved += members;
        }
    }

    /// Puts the touched instances where they belong.
    fn place(&mut self, quantified: &QuantifiedCode, limit: usize) -> bool {
        let mut any_fixed = false;
        let mut staged = std::mem::take(&mut self.staged);
        let singles = std::mem::take(&mut self.singles);
        for (key, situation) in staged.drain(..) {
            let key: &[Option<Value>] = match &key {
                Staged::Single(index) => std::slice::from_ref(&singles[*index]),
                Staged::Key(key) => key,
            };
            any_fixed |= situation.fixed_at.is_some();
            let class = self.class_in(situation);
            if class == ROOT && self.may_forget(key, quantified) {
                if let Some(before) = self.map.remove(key) {
                    self.leave(before, u64::from(key.iter().all(Option::is_some)));
                }
                self.ghosts |= quantified.release == Release::Doubtful;
                continue;
            }
            if self.map.len() >= limit && !self.map.contains_key(key) {
                self.overflow = true;
                continue;
            }
            self.put(key, class);
        }
        self.staged = staged;
        self.singles = singles;
        any_fixed
    }

    /// The class of a situation, made where it is new.
    fn class_in(&mut self, situation: Situation) -> u32 {
        let same = |id: &u32| self.classes[*id as usize].situation == situation;
        let known = match situation.fixed_at {
            None => {
                let meeting = self
                    .meeting
                    .get(&(situation.config, situation.range))
                    .copied()
                    .filter(same);
                meeting.or_else(|| {
                    if situation.registers.is_empty() {
                        None
                    } else {
                        self.live.iter().copied().find(same)
                    }
                })
            }
            Some(at) => self
                .fixed_as
                .get(&(situation.config, situation.range, at))
                .copied(),
        };
        known.unwrap_or_else(|| {
            let id = self.parent.len() as u32;
            self.parent.push(id);
            if let Some(at) = situation.fixed_at {
                self.fixed_as
                    .insert((situation.config, situation.range, at), id);
                self.fixed.push(id);
            } else {
                self.meeting
                    .entry((situation.config, situation.range))
                    .or_insert(id);
                self.live.push(id);
            }
            self.classes.push(Class {
                situation,
                members: 0,
                whole: 0,
            });
            id
        })
    }

    /// Whether the root speaks for this binding, which is in its situation.
    fn may_forget(&self, key: &[Option<Value>], quantified: &QuantifiedCode) -> bool {
        match quantified.release {
            Release::Neutral | Release::Doubtful => {
                binding::all_below(&self.map, key).all(|(_, class)| self.find(*class) == ROOT)
            }
            Release::Never | Release::ReadsTracks => false,
        }
    }

    /// Forgets members of the root, and classes without members.
    fn tidy(&mut self, quantified: &QuantifiedCode) {
        let mut number: FxHashMap<u32, u32> = FxHashMap::default();
        let mut classes = vec![Class {
            members: 0,
            whole: 0,
            ..self.classes[ROOT as usize].clone()
        }];
        number.insert(ROOT, ROOT);
        for id in self.live.iter_mut().chain(self.fixed.iter_mut()) {
            let new = classes.len() as u32;
            number.insert(*id, new);
            classes.push(Class {
                members: 0,
                whole: 0,
                ..self.classes[*id as usize].clone()
            });
            *id = new;
        }
        // Less informative bindings may be forgotten only if nothing below them says otherwise.
        let mut keys: Vec<(Key, u32)> = std::mem::take(&mut self.map).into_iter().collect();
        for (_, class) in &mut keys {
            *class = number.get(&self.find(*class)).copied().unwrap_or(ROOT);
        }
        self.parent = (0..classes.len() as u32).collect();
        self.classes = classes;
        if quantified.vars.len() > 1 {
            keys.sort_unstable_by_key(|(key, _)| key.iter().flatten().count());
        }
        for (key, class) in keys {
            if class == ROOT && self.may_forget(&key, quantified) {
                self.ghosts |= quantified.release == Release::Doubtful;
            } else {
                self.put(&key, class);
            }
        }
        let used = |id: &u32| self.classes[*id as usize].members > 0;
        self.live.retain(used);
        self.fixed.retain(used);
        self.fixed_as.clear();
        for id in &self.fixed {
            let situation = &self.classes[*id as usize].situation;
            if let Some(at) = situation.fixed_at {
                self.fixed_as
                    .insert((situation.config, situation.range, at), *id);
            }
        }
        self.n_moved = 0;
    }

    /// Whether no event can change anything any more.
    pub(super) fn is_idle(
        &self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        configs: &Configs,
    ) -> bool {
        let root = &self.classes[ROOT as usize].situation;
        let neutral = Truth::from(quantified.universal);
        if self.decisive && !quantified.universal {
            return true;
        }
        let is_neutral = |situation: &Situation| {
            configs.standing(&property.automaton, situation.config).now == neutral
        };
        // A partial binding that is lost is inherited by whole ones that are still to come.
        let heirs = |id: &u32| {
            let class = self.class(*id);
            class.members > class.whole && !is_neutral(&class.situation)
        };
        self.live.is_empty()
            && quantified.ranged == 0
            && root.fixed_at.is_some()
            && is_neutral(root)
            && !self.fixed.iter().any(heirs)
    }

    /// Whether the trigger held, or may have held, at some step of some instance.
    pub(super) fn triggered(&self) -> bool {
        self.triggered || (self.root_triggered && (self.any || self.wild))
    }

    /// The verdict over all instances.
    pub(super) fn standing(
        &self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        configs: &Configs,
        complete: bool,
    ) -> Standing {
        if self.overflow {
            return Standing {
                now: Truth::Unknown,
                fixed: complete,
            };
        }
        // `exists` is read as `not forall not`.
        let flip = |truth: Truth| if quantified.universal { truth } else { !truth };
        let of = |situation: &Situation| {
            let standing = configs.standing(&property.automaton, situation.config);
            Standing {
                now: flip(standing.now),
                fixed: standing.fixed || complete,
            }
        };
        let root = of(&self.classes[ROOT as usize].situation);
        let mut now = Truth::True;
        let mut lost_for_good = false;
        let mut all_fixed = root.fixed && root.now == Truth::True;
        for id in [ROOT].iter().chain(&self.live).chain(&self.fixed) {
            let class = self.class(*id);
            let standing = of(&class.situation);
            let in_range = class.situation.range.all(quantified.ranged);
            // The root and partial bindings speak for values that are not known, or not kept.
            if (*id == ROOT || class.members > class.whole)
                && (self.wild || self.ghosts)
                && standing.now != Truth::True
                && in_range != Truth::False
            {
                now = now.and(Truth::Unknown);
            }
            if class.whole == 0 {
                all_fixed &= class.members == 0 || (standing.fixed && standing.now == Truth::True);
                continue;
            }
            all_fixed &= standing.fixed && standing.now == Truth::True;
            match in_range {
                Truth::True => {
                    now = now.and(standing.now);
                    lost_for_good |= standing.fixed && standing.now == Truth::False;
                }
                Truth::Unknown if standing.now != Truth::True => now = now.and(Truth::Unknown),
                Truth::Unknown | Truth::False => {}
            }
        }
        let fixed = match now {
            Truth::False => lost_for_good,
            Truth::True => all_fixed,
            Truth::Unknown => false,
        };
        Standing {
            now: flip(now),
            fixed: fixed || complete,
        }
    }

    /// The instances that violate a `forall`, earliest first, then by value; at most `most`, and how many there are.
    pub(super) fn violated(
        &self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        configs: &Configs,
        end: Option<Option<u32>>,
        most: usize,
    ) -> (Vec<Instance>, usize) {
        let mut found = Vec::new();
        for (key, class) in &self.map {
            let situation = &self.class(self.find(*class)).situation;
            let standing = configs.standing(&property.automaton, situation.config);
            if standing.now != Truth::False
                || key.iter().any(Option::is_none)
                || situation.range.all(quantified.ranged) != Truth::True
            {
                continue;
            }
            match (situation.fixed_at, end) {
                (Some(at), _) if standing.fixed => found.push((Some(at), key)),
                (_, Some(last)) => found.push((last, key)),
                _ => {}
            }
        }
        let n = found.len();
        // None is the empty trace, where all are.
        found.sort_unstable();
        found.truncate(most);
        (
            found
                .into_iter()
                .map(|(at, key)| Instance {
                    key: key.clone(),
                    at,
                })
                .collect(),
            n,
        )
    }

    /// Every configuration that is in use.
    pub(super) fn configs(&mut self) -> impl Iterator<Item = &mut Config> {
        self.classes
            .iter_mut()
            .map(|class| &mut class.situation.config)
    }

    pub(super) fn n_classes(&self) -> usize {
        self.classes.len()
    }

    /// Whether two traces are in the same place, whatever their history.
    pub(super) fn same(&self, other: &Slices) -> bool {
        (
            self.wild,
            self.ghosts,
            self.any,
            self.triggered,
            self.root_triggered,
            self.overflow,
            self.map.len(),
        ) == (
            other.wild,
            other.ghosts,
            other.any,
            other.triggered,
            other.root_triggered,
            other.overflow,
            other.map.len(),
        ) && self.class(ROOT).situation == other.class(ROOT).situation
            && self.map.iter().all(|(key, class)| {
                let here = &self.class(self.find(*class)).situation;
                other
                    .map
                    .get(key)
                    .is_some_and(|class| other.class(other.find(*class)).situation == *here)
            })
    }
}

/// No value for any of up to sixteen variables.
const NOTHING: [Option<Value>; 16] = [const { None }; 16];

/// What tells apart instances whose verdict is final: since when, where that will be told.
fn fixed_at(now: Truth, quantified: &QuantifiedCode, step: u32) -> u32 {
    if now == Truth::from(!quantified.universal) {
        step
    } else {
        u32::MAX
    }
}

/// The registers of an instance after this step.
fn advanced(
    property: &PropertyCode,
    registers: &[Register],
    eval: &mut Eval<'_>,
) -> Box<[Register]> {
    if registers.is_empty() {
        return Box::default();
    }
    let operands: Vec<Operands> = property
        .frame
        .iter()
        .map(|id| eval.operands(*id, true))
        .collect();
    let mut registers: Box<[Register]> = registers.into();
    for ((register, id), operands) in registers.iter_mut().zip(&property.frame).zip(operands) {
        register.advance(
            &eval.code.registers[*id as usize].kind,
            operands,
            &eval.clock,
        );
    }
    registers
}

/// Adds the value of a term, or its elements; says whether it is not known.
fn collect(eval: &mut Eval<'_>, term: NodeId, elements: bool, into: &mut Vec<Value>) -> bool {
    let value = if eval.tracks.multi {
        match eval.cell(term) {
            crate::value::Cell::Known(value) => Val::Own(value),
            crate::value::Cell::Unknown => Val::Unknown,
        }
    } else {
        eval.value(term)
    };
    let Some(value) = value.known() else {
        return true;
    };
    let mut add = |value: &Value| {
        if !value.is_null() && !into.contains(value) {
            into.push(value.clone());
        }
    };
    match value {
        Value::List(items) if elements => items.iter().for_each(add),
        Value::Set(items) if elements => items.iter().for_each(add),
        value => add(value),
    }
    false
}
