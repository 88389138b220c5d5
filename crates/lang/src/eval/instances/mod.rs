//! `forall x: φ` and `exists x: φ`: one instance of the automaton for each value, with equal instances merged.
//!
//! All unseen values share one state, the *root*. An instance leaves it at an event at which a compared term has its value, and
//! is dropped when it is in the state of the root again. Instances in one state form a *class*: an event steps each class once,
//! whatever its number of instances, and each instance that it touches. Classes that meet are joined as in union-find.
//!
//! Partly bound tuples are kept like instances (see [`binding`](super::binding)) if an event that binds only some names
//! distinguished them from others. That is decided for each event and each set of names that it binds, by stepping each class
//! as those tuples would be stepped (`touched.rs`). If a partial binding makes no difference, the event touches no tuples with
//! it; the touched tuples are found by index ([`OverlayMap::compatible`]). So the work for an event is proportional to the
//! instances that it distinguishes from their class.
//!
//! # Source
//! G. Roșu, F. Chen, *Semantics and algorithms for parametric monitoring*, 2012. This implementation differs by its classes, by
//! comparisons instead of event parameters, and by unknown values.

mod fast_path;
mod place;
mod seen;
mod step;
mod touched;
mod verdict;

use rustc_hash::FxHashMap;
use seen::Seen;
use serde::{Deserialize, Serialize};

use crate::eval::binding::{self, Key};
use crate::eval::compiled::{PropertyCode, QuantifiedCode, Release};
use crate::eval::distinct::Distinct;
use crate::eval::eval_cache::EvalCache;
use crate::eval::expr::Eval;
use crate::eval::monitor::{StateSetId, StateSetInterner};
use crate::eval::no_op::NoOp;
use crate::eval::overlay_map::{ForkLife, OverlayMap};
use crate::eval::register::Register;
use crate::value::{Truth, Value};

/// Everything on which the future of an instance depends, and the step at which its verdict became final.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct InstanceState {
    state_set: StateSetId,
    /// For each variable, whether its value is in its range: two bits.
    range: Ranges,
    fixed_at: Option<u32>,
    registers: Box<[Register]>,
}

/// A truth value for each quantified variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct InstanceClass {
    state: InstanceState,
    /// The number of keys in the map, and the number of complete tuples among them.
    members: u64,
    whole: u64,
}

/// The greatest number of droppable instances that are kept. Each of very many live traces may have this many.
const SLACK: usize = 64;

/// The class of the root.
const ROOT: u32 = 0;

/// A verdict of one instance.
#[derive(Clone, Debug)]
pub(in crate::eval) struct Instance {
    pub(in crate::eval) key: Key,
    pub(in crate::eval) at: Option<u32>,
}

/// The step at which an instance was violated, and its values.
pub(in crate::eval) type Violated<'a> = (Option<u32>, &'a Key);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::eval) struct Instances {
    map: OverlayMap<u32>,
    parent: Vec<u32>,
    classes: Vec<InstanceClass>,
    /// Classes with an open verdict, except the root.
    live: Vec<u32>,
    /// Classes whose verdict is final.
    fixed: Vec<u32>,
    /// Variables with an unknown key, as bits: there is an instance that may have any value.
    wild: u32,
    /// For tuples, the values seen in each place, until there are more than [`QuantifiedCode::combinations`].
    seen: Vec<Seen>,
    /// Whether the limit on instances was exceeded.
    pub(in crate::eval) overflow: bool,
    /// Whether the verdict of some instance alone decides the property.
    decisive: bool,
    any: bool,
    triggered: bool,
    root_triggered: bool,
    n_moved: u64,
    /// Bits of the classes of events that change nothing, valid until an instance changes.
    #[serde(skip)]
    no_op_classes: u64,
    #[serde(skip)]
    fixed_as: FxHashMap<(StateSetId, Ranges, u32), u32>,
}

/// `no_op_classes` is a cache, and `fixed_as` an index of the classes.
impl PartialEq for Instances {
    fn eq(&self, other: &Instances) -> bool {
        let state = |of: &Instances| {
            let verdicts = (of.decisive, of.any, of.triggered, of.root_triggered);
            (of.wild, of.overflow, of.n_moved, verdicts)
        };
        state(self) == state(other)
            && self.live == other.live
            && self.fixed == other.fixed
            && self.parent == other.parent
            && self.classes == other.classes
            && self.seen == other.seen
            && self.map == other.map
    }
}

impl Eq for Instances {}

/// Buffers that are reused between events and properties to avoid allocations; invalid between events.
#[derive(Debug, Default)]
pub(in crate::eval) struct Buffers {
    values: Vec<Distinct>,
    singles: Vec<Option<Value>>,
    in_range: Vec<Distinct>,
    staged: Vec<Staged>,
    touched: Vec<Key>,
    shared: Vec<Option<Truth>>,
    state_index: StateIndex,
    moves: fast_path::Moves,
}

/// The first class in each state. Most properties have few classes, for which a linear search is faster than a lookup.
#[derive(Debug, Default)]
struct StateIndex {
    few: Vec<((StateSetId, Ranges), u32)>,
    many: FxHashMap<(StateSetId, Ranges), u32>,
}

impl StateIndex {
    const FEW: usize = 8;

    fn clear(&mut self) {
        self.few.clear();
        self.many.clear();
    }

    fn get(&self, place: (StateSetId, Ranges)) -> Option<u32> {
        let mut few = self.few.iter();
        match few.find(|(other, _)| *other == place) {
            Some((_, id)) => Some(*id),
            None if self.many.is_empty() => None,
            None => self.many.get(&place).copied(),
        }
    }

    /// Records a class, unless there already is one in this state.
    fn note(&mut self, place: (StateSetId, Ranges), id: u32) {
        if self.get(place).is_some() {
            return;
        }
        if self.few.len() < StateIndex::FEW {
            self.few.push((place, id));
        } else {
            self.many.insert(place, id);
        }
    }
}

impl Buffers {
    /// Resizes the buffers for this many variables and letters.
    fn fit(&mut self, n_vars: usize, n_letters: usize) {
        if self.values.len() < n_vars {
            self.values.resize(n_vars, Distinct::default());
            self.in_range.resize(n_vars, Distinct::default());
        }
        self.in_range[..n_vars].iter_mut().for_each(Distinct::clear);
        self.shared.clear();
        self.shared.resize(n_letters, None);
    }
}

/// The change of an instance.
#[derive(Clone, Debug)]
struct Staged {
    /// The index in `singles` if there is one variable, otherwise in `touched`.
    key: usize,
    next: InstanceState,
    /// Whether the instance was kept in another class and has left it.
    left: bool,
}

impl Buffers {
    fn key<'b>(
        singles: &'b [Option<Value>],
        touched: &'b [Key],
        key: usize,
    ) -> &'b [Option<Value>] {
        match singles.get(key) {
            Some(value) => std::slice::from_ref(value),
            None => touched.get(key).map_or(&[], |key| &**key),
        }
    }
}

impl Instances {
    pub(in crate::eval) fn new(quantified: &QuantifiedCode, initial: &[Register]) -> Instances {
        let state = InstanceState {
            state_set: StateSetInterner::INITIAL,
            range: Ranges::default(),
            fixed_at: None,
            registers: initial.into(),
        };
        let mut instances = Instances {
            map: OverlayMap::default(),
            parent: vec![ROOT],
            classes: vec![InstanceClass {
                state,
                members: 0,
                whole: 0,
            }],
            live: Vec::new(),
            fixed: Vec::new(),
            wild: 0,
            seen: vec![Seen::default(); quantified.vars.len()],
            overflow: false,
            decisive: false,
            any: false,
            triggered: false,
            root_triggered: false,
            n_moved: 0,
            no_op_classes: 0,
            fixed_as: FxHashMap::default(),
        };
        // Constants are in the range from the start.
        let constants: Vec<Vec<Value>> = quantified
            .vars
            .iter()
            .map(|var| var.constants.clone())
            .collect();
        for key in binding::matches(&constants, 0) {
            instances.any |= key.iter().all(Option::is_some);
            instances.put(&key, ROOT);
        }
        instances
    }

    fn find(&self, mut class: u32) -> u32 {
        while self.parent[class as usize] != class {
            class = self.parent[class as usize];
        }
        class
    }

    fn class(&self, id: u32) -> &InstanceClass {
        &self.classes[id as usize]
    }

    /// Returns the class of the most informative binding that is kept.
    fn class_of(&self, key: &[Option<Value>]) -> (u32, bool) {
        match self.map.get(key) {
            Some(class) => (self.find(*class), true),
            None => {
                let below = self.map.below(key);
                (below.map_or(ROOT, |class| self.find(*class)), false)
            }
        }
    }

    fn put(&mut self, key: &[Option<Value>], class: u32) {
        let whole = u64::from(key.iter().all(Option::is_some));
        let before = self.map.insert(key, class);
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

    /// Makes all members of one class members of another.
    fn join(&mut self, id: u32, other: u32) {
        let InstanceClass { members, whole, .. } = self.classes[id as usize];
        self.parent[id as usize] = other;
        self.classes[other as usize].members += members;
        self.classes[other as usize].whole += whole;
        if other == ROOT {
            self.n_moved += members;
        }
    }

    /// Whether the event changes nothing, as far as that follows from its class and from the states of instances.
    pub(in crate::eval) fn no_op(
        &self,
        id: usize,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        eval: &mut Eval<'_>,
    ) -> NoOp {
        // A property that is decided before the first event is recorded at the first event.
        if (eval.clock.position == 0 && property.automaton.is_decided())
            || !property.frame.is_empty()
        {
            return NoOp::Open;
        }
        let (code, eval_cache) = (eval.code, &mut *eval.eval_cache);
        let stays = |eval_cache: &mut EvalCache, unseen: bool| {
            [ROOT].iter().chain(&self.live).all(|class| {
                let InstanceState {
                    state_set,
                    fixed_at,
                    ..
                } = self.class(*class).state;
                let next = |cache: &mut EvalCache| {
                    cache.next_by_class(code, id, property, state_set, unseen)
                };
                fixed_at.is_some() || next(eval_cache) == Some(state_set)
            })
        };
        let trigger = property.trigger.filter(|_| !self.triggered);
        if eval_cache.is_blank(code, id, quantified)
            && trigger.is_none_or(|trigger| {
                self.root_triggered
                    || eval_cache.unseen_by_class(code, trigger) == Some(Truth::False)
            })
            && stays(eval_cache, true)
        {
            return NoOp::Blank;
        }
        let [var] = &quantified.vars[..] else {
            return NoOp::Open;
        };
        if quantified.release == Release::Neutral
            && var.range.is_none()
            && var.constants.is_empty()
            && !self.has_final_root()
            && trigger
                .is_none_or(|trigger| eval_cache.by_class(code, trigger) == Some(Truth::False))
            && stays(eval_cache, false)
        {
            return NoOp::Indifferent;
        }
        NoOp::Open
    }

    /// Whether events of the class with this bit were found to change nothing, and nothing has changed since.
    #[inline]
    pub(in crate::eval) fn is_known_no_op(&self, bit: u64) -> bool {
        self.no_op_classes & bit != 0
    }

    /// Records that events of the class with this bit change nothing until an instance changes.
    pub(in crate::eval) fn note_no_op(&mut self, bit: u64) {
        self.no_op_classes |= bit;
    }

    /// Whether unseen values have a final verdict, so that each new value counts from its first occurrence.
    #[inline]
    pub(in crate::eval) fn has_final_root(&self) -> bool {
        self.class(ROOT).state.fixed_at.is_some()
    }

    /// Steps one event that may change something. Returns whether a verdict may have become final.
    #[allow(
        clippy::too_many_arguments,
        reason = "one event, one property: all of it is needed"
    )]
    pub(in crate::eval) fn step(
        &mut self,
        id: usize,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        state_sets: &mut StateSetInterner,
        eval: &mut Eval<'_>,
        step: u32,
        limit: usize,
        room: &mut Buffers,
    ) -> bool {
        let (n_vars, n_letters) = (quantified.vars.len(), property.letters.len());
        room.fit(n_vars, n_letters);
        let unknown = self.read_terms(quantified, eval, room);
        if quantified.counts_values
            && self.no_op(id, property, quantified, eval) == NoOp::Indifferent
        {
            self.any |= !room.values[0].is_empty();
            return false;
        }
        self.no_op_classes = 0;
        self.map.thaw();
        let ranges_doubtful = self.read_ranges(quantified, eval, room);
        if n_vars > 1 || quantified.by_value {
            if n_vars > 1 {
                self.note_seen(quantified, room.values.iter().map(|values| &**values));
            } else {
                self.any |= !room.values[0].is_empty();
            }
            self.find_touched(property, quantified, state_sets, eval, unknown, room);
        }
        self.stage(
            property,
            quantified,
            state_sets,
            eval,
            step,
            ranges_doubtful,
            room,
        );
        self.withdraw(room);
        let mut fixed = self.step_classes(
            id,
            property,
            quantified,
            state_sets,
            eval,
            step,
            ranges_doubtful,
            room,
        );
        fixed |= self.place(quantified, limit, room);
        if fixed && !self.decisive {
            let decisive = Truth::from(!quantified.universal);
            self.decisive = self.fixed.iter().any(|id| {
                let class = self.class(*id);
                class.whole > 0
                    && class.state.range.all(quantified.ranged) == Truth::True
                    && state_sets
                        .status(&property.automaton, class.state.state_set)
                        .now
                        == decisive
            });
        }
        self.trim(quantified, SLACK);
        fixed
    }

    /// Drops instances that are no longer needed, if there are more than `slack` beyond a fraction of the needed ones, so that
    /// the amortised work is constant for each event.
    pub(in crate::eval) fn trim(&mut self, quantified: &QuantifiedCode, slack: usize) {
        // A fork is dropped soon as a whole.
        if self.map.is_shared() {
            return;
        }
        let used = self.live.len() + self.fixed.len() + self.map.len();
        if self.parent.len() > slack / 4 + 2 * used
            || self.n_moved > (slack + self.map.len() / 2) as u64
        {
            self.tidy(quantified);
        }
    }

    /// Prepares for forks: drops instances that are no longer needed, and shares the others.
    pub(in crate::eval) fn share(
        &mut self,
        quantified: &QuantifiedCode,
        slack: usize,
        life: ForkLife,
    ) {
        self.map.thaw();
        self.trim(quantified, slack);
        self.map.freeze(life);
    }

    /// Completes deserialised instances; returns false if they cannot belong to this property.
    pub(in crate::eval) fn restore(
        &mut self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
    ) -> bool {
        let n_classes = self.classes.len();
        let known = |id: &u32| (*id as usize) < n_classes;
        let sound = n_classes > 0
            && self.parent.len() == n_classes
            && self.parent.iter().all(known)
            && !has_circle(&self.parent)
            && self
                .live
                .iter()
                .chain(&self.fixed)
                .chain(self.map.values())
                .all(known)
            && self
                .map
                .keys()
                .all(|key| key.len() == quantified.vars.len())
            && self.seen.len() == quantified.vars.len()
            && self.classes.iter().all(|class| {
                let registers = class.state.registers.len();
                registers == property.frame.len() || class.state.fixed_at.is_some()
            });
        if sound {
            for id in &self.fixed {
                let state = &self.classes[*id as usize].state;
                if let Some(at) = state.fixed_at {
                    self.fixed_as
                        .insert((state.state_set, state.range, at), *id);
                }
            }
        }
        sound
    }

    /// Returns every state set that is in use.
    pub(in crate::eval) fn state_sets(&mut self) -> impl Iterator<Item = &mut StateSetId> {
        self.classes
            .iter_mut()
            .map(|class| &mut class.state.state_set)
    }

    /// Supposes of a `forall` that no instance is violated, where it may be or not: `unviolated` takes the violated states out of a
    /// set. Also of values that were not seen: if an event whose value is unknown violated the property, the value is one of these.
    pub(in crate::eval) fn suppose_unviolated(&mut self, unviolated: impl FnMut(&mut StateSetId)) {
        self.state_sets().for_each(unviolated);
        self.no_op_classes = 0;
    }

    /// Returns the state sets of the root and of all instances.
    pub(in crate::eval) fn met(&self) -> impl Iterator<Item = StateSetId> {
        let classes = [ROOT].iter().chain(&self.live).chain(&self.fixed);
        classes.map(|id| self.class(*id).state.state_set)
    }

    /// Returns the state sets of all classes, including empty ones.
    pub(in crate::eval) fn numbers(&self) -> impl Iterator<Item = StateSetId> {
        self.classes.iter().map(|class| class.state.state_set)
    }

    pub(in crate::eval) fn n_classes(&self) -> usize {
        self.classes.len()
    }

    /// Whether two traces have the same instances, independent of their history.
    pub(in crate::eval) fn same(&self, other: &Instances) -> bool {
        (
            self.wild,
            self.any,
            self.triggered,
            self.root_triggered,
            self.overflow,
            self.map.len(),
        ) == (
            other.wild,
            other.any,
            other.triggered,
            other.root_triggered,
            other.overflow,
            other.map.len(),
        ) && self.class(ROOT).state == other.class(ROOT).state
            && self.map.iter().all(|(key, class)| {
                let here = &self.class(self.find(*class)).state;
                other
                    .map
                    .get(key)
                    .is_some_and(|class| other.class(other.find(*class)).state == *here)
            })
    }
}

/// Whether the parent links contain a cycle.
fn has_circle(parent: &[u32]) -> bool {
    (0..parent.len()).any(|start| {
        let mut at = start;
        for _ in 0..=parent.len() {
            let next = parent[at] as usize;
            if next == at {
                return false;
            }
            at = next;
        }
        true
    })
}
