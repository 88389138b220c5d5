//! Classes of events that the comparisons with constants in the spec do not distinguish.
//!
//! Each field has a *symbol*: unknown, null, one of the constants that it is compared with, or something else. Events whose
//! fields have the same symbols form a class. Facts that follow from the class alone are computed once: the truth of many
//! conditions, and the successors of automaton states. An event of a known class costs one table lookup for each property; only
//! conditions that the class leaves open are evaluated.
//!
//! An audit of 200 MB of airline traces with 23 properties on one thread took 0.77 s of user and 0.20 s of system time without
//! classes and pooled caches, and 0.54 s and 0.05 s with them; page faults fell from 13,230 to 1,684.
//!
//! Classes are few: the 5,308 events of tau-bench fall into 29 for the 23 properties of `benches/airline.guard`, so nearly
//! every lookup finds its entry.
//!
//! The tables are filled as events come and are kept from trace to trace. They never decide more than evaluation would: an
//! expression that may meet a data error, or that reads anything except fields, is left open.

mod demand;
mod of_class;

use rustc_hash::FxHashMap;

pub(in crate::eval) use self::demand::{Demand, Demands};
use self::of_class::{Abstract, Vars, of_class};
use crate::eval::code::symbols::{Classes, FIRST, NULL, OTHER, Plain, SymbolClasses, UNKNOWN};
use crate::eval::code::{Code, ConstSet, Node, NodeId};
use crate::eval::compiled::{Compiled, PropertyCode, QuantifiedCode};
use crate::eval::lazy_product::{self, LazyProductDfa};
use crate::eval::monitor::{Automaton, StateSetId};
use crate::eval::no_op::NoOp;
use crate::input::deferred::MOST_FIELDS;
use crate::pool::Reusable;
use crate::value::{Cell, Truth, Value};

/// The greatest size in bytes of the rows of one table.
const MOST_BYTES: usize = 16 << 20;

/// Automata with more states are stepped without a table.
const MOST_STATES: usize = 512;

/// The known facts about the classes so far.
#[derive(Debug, Default)]
pub(in crate::eval) struct TransitionCache {
    known: FxHashMap<u64, u32>,
    entries: Vec<ClassEntry>,
    /// The product of the properties that are stepped together, by the classes of this cache.
    pub(in crate::eval) product: Option<Box<LazyProductDfa>>,
}

impl Reusable for TransitionCache {
    fn recycle(&mut self) -> bool {
        true
    }
}

/// The facts that a class determines.
#[derive(Debug)]
struct ClassEntry {
    /// The symbol of each field, by its index in [`Classes::fields`].
    symbols: Box<[u16]>,
    /// The truth of each node.
    truths: Box<[Known]>,
    /// The truth of each node if every variable has an unseen value.
    unseen: Box<[Known]>,
    /// By property and state: the next state if every variable has an unseen value.
    next: Box<[u32]>,
    /// By property and state: the next state for all values of the variables.
    next_of_all: Box<[u32]>,
    /// By property with one variable, set of terms and state: the next state of the value that those terms have. The
    /// entry after the states is whether the trigger holds.
    matched: Box<[u32]>,
    /// By property: whether no compared term has a value.
    blank: Box<[Known]>,
    /// By quantified property: whether the event changes nothing, for all states of instances.
    no_op: Box<[Option<NoOp>]>,
    /// By track: whether the event does not change it.
    kept: Box<[Known]>,
    /// By field: the part that may be examined; `None` if it was not computed yet.
    demands: Option<Demands>,
}

/// The greatest size of the table for the variables of one property.
const MOST_MATCHED: usize = 2048;

/// The values of the variables of a property, by the compared terms that have them.
#[derive(Clone, Copy, Debug)]
pub(in crate::eval) struct MatchSet<'t> {
    /// All terms, each with its variable; none of them is unknown.
    pub(in crate::eval) terms: &'t [(u32, NodeId)],
    /// One bit for each term: whether it has the value of its variable.
    pub(in crate::eval) set: u8,
}

impl<'t> MatchSet<'t> {
    fn vars(self) -> Vars<'t> {
        Vars::Equals(self.terms, self.set)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    NotYet,
    Open,
    Is(Truth),
}

const NOT_YET: u32 = u32::MAX;
const OPEN: u32 = u32::MAX - 1;

/// Returns the classes for these expressions and properties.
pub(in crate::eval) fn classes(code: &Code, properties: &[PropertyCode]) -> Classes {
    let mut found: FxHashMap<u32, SymbolClasses> = FxHashMap::default();
    for node in &code.nodes {
        match node {
            Node::Field(field) => drop(found.entry(*field).or_default()),
            Node::FieldIs(field, value) => found.entry(*field).or_default().add(value),
            Node::InConst(item, set) => {
                if let Node::Field(field) = code.node(*item) {
                    let symbols = found.entry(*field).or_default();
                    set.values().for_each(|value| symbols.add(value));
                }
            }
            _ => {}
        }
    }
    let mut fields: Vec<(u32, SymbolClasses)> = found.into_iter().collect();
    fields.sort_by_key(|(field, _)| *field);
    let mut classes = Classes::default();
    let mut n_classes: u64 = 1;
    for (field, mut symbols) in fields {
        symbols.field = field as usize;
        let n_symbols = symbols.constants.len() as u64 + u64::from(FIRST);
        // A field with too many symbols is not used to distinguish events.
        let Some(product) = n_classes.checked_mul(n_symbols) else {
            continue;
        };
        n_classes = product;
        if classes.place.len() <= symbols.field {
            classes.place.resize(symbols.field + 1, None);
        }
        classes.place[symbols.field] = u32::try_from(classes.fields.len()).ok();
        classes.fields.push(symbols);
    }
    for property in properties {
        let n_states = match &*property.automaton {
            Automaton::Dfa { states, .. } if states.len() <= MOST_STATES => states.len(),
            _ => {
                classes.states.push(None);
                classes.matched.push(None);
                classes.plain.push(Plain::default());
                continue;
            }
        };
        if property.quantified.is_none() && n_states <= lazy_product::MOST_STATES {
            classes.product.extend(u32::try_from(classes.plain.len()));
        }
        classes.plain.push(Plain {
            first: classes.n_states,
            n_states: match property.quantified {
                None => u32::try_from(n_states).unwrap_or(0),
                Some(_) => 0,
            },
            trigger: property.trigger,
        });
        let quantified = property.quantified.as_ref();
        let only = quantified.and_then(|quantified| quantified.only_terms.as_ref());
        let n_matched = only.and_then(|only| (n_states + 1).checked_shl(only.terms.len() as u32));
        let n_matched = n_matched.filter(|n| *n <= MOST_MATCHED);
        let first = u32::try_from(classes.n_matched).ok();
        classes.matched.push(n_matched.and(first));
        classes.n_matched += n_matched.unwrap_or(0);
        classes.states.push(u32::try_from(classes.n_states).ok());
        classes.n_states += n_states;
    }
    classes
}

fn entry(code: &Code, mut key: u64) -> ClassEntry {
    let mut symbols = vec![UNKNOWN; code.classes.fields.len()];
    for (field, symbol) in code.classes.fields.iter().zip(&mut symbols).rev() {
        let n_symbols = field.constants.len() as u64 + u64::from(FIRST);
        *symbol = u16::try_from(key % n_symbols).unwrap_or(OTHER);
        key /= n_symbols;
    }
    let nodes = vec![Known::NotYet; code.nodes.len()];
    ClassEntry {
        symbols: symbols.into(),
        truths: nodes.clone().into(),
        unseen: nodes.into(),
        next: vec![NOT_YET; code.classes.n_states].into(),
        next_of_all: vec![NOT_YET; code.classes.n_states].into(),
        matched: vec![NOT_YET; code.classes.n_matched].into(),
        blank: vec![Known::NotYet; code.classes.states.len()].into(),
        no_op: vec![None; code.classes.states.len()].into(),
        kept: vec![Known::NotYet; code.tracks.len()].into(),
        demands: None,
    }
}

fn n_entries_most(code: &Code) -> usize {
    MOST_BYTES
        / (256 + 2 * code.nodes.len() + 8 * code.classes.n_states + 4 * code.classes.n_matched)
}

impl TransitionCache {
    /// Returns the class of an event, or `None` if there are too many. `deferred` holds the bits of fields whose text is
    /// longer than any constant.
    #[inline]
    pub(in crate::eval) fn class(
        &mut self,
        code: &Code,
        cells: &[Cell],
        deferred: u64,
    ) -> Option<u32> {
        let mut key: u64 = 0;
        for symbols in &code.classes.fields {
            let n_symbols = symbols.constants.len() as u64 + u64::from(FIRST);
            let symbol = if symbols.field < MOST_FIELDS && deferred >> symbols.field & 1 == 1 {
                OTHER
            } else {
                cells
                    .get(symbols.field)
                    .map_or(UNKNOWN, |cell| symbols.of(cell))
            };
            key = key.wrapping_mul(n_symbols).wrapping_add(u64::from(symbol));
        }
        match self.known.get(&key) {
            Some(class) => Some(*class),
            None => self.meet(code, key),
        }
    }

    #[cold]
    fn meet(&mut self, code: &Code, key: u64) -> Option<u32> {
        if self.entries.len() >= n_entries_most(code) {
            return None;
        }
        let class = u32::try_from(self.entries.len()).ok()?;
        self.entries.push(entry(code, key));
        self.known.insert(key, class);
        Some(class)
    }

    /// Whether an event of a class does not change the state of a property without variables, and its trigger is false or
    /// already held. Returns false if that was not computed yet.
    #[inline]
    pub(in crate::eval) fn is_plain_no_op(
        &self,
        code: &Code,
        class: u32,
        id: usize,
        state_set: StateSetId,
        triggered: bool,
    ) -> bool {
        let plain = code.classes.plain[id];
        let entry = &self.entries[class as usize];
        state_set < plain.n_states
            && entry.next[plain.first + state_set as usize] == state_set
            && (triggered
                || plain
                    .trigger
                    .is_none_or(|trigger| entry.truths[trigger.index()] == Known::Is(Truth::False)))
    }

    /// Returns the truth of a condition for all events of a class and all values of variables.
    #[inline]
    pub(in crate::eval) fn truth(
        &mut self,
        code: &Code,
        class: u32,
        node: NodeId,
    ) -> Option<Truth> {
        let entry = &mut self.entries[class as usize];
        match entry.truths[node.index()] {
            Known::Is(truth) => Some(truth),
            Known::Open => None,
            Known::NotYet => of_class(code, entry, Vars::Any).truth(node),
        }
    }

    /// Returns the truth if every variable has an unseen value.
    #[inline]
    pub(in crate::eval) fn unseen(
        &mut self,
        code: &Code,
        class: u32,
        node: NodeId,
    ) -> Option<Truth> {
        let entry = &mut self.entries[class as usize];
        match entry.unseen[node.index()] {
            Known::Is(truth) => Some(truth),
            Known::Open => None,
            Known::NotYet => of_class(code, entry, Vars::Unseen).truth(node),
        }
    }

    /// Returns the successor of a state of a property's automaton, for variables with values that no term has (`unseen`), or
    /// for all values of variables.
    #[inline]
    pub(in crate::eval) fn next(
        &mut self,
        code: &Code,
        class: u32,
        id: usize,
        property: &PropertyCode,
        state_set: StateSetId,
        unseen: bool,
    ) -> Option<StateSetId> {
        let first = code.classes.states[id]?;
        let Automaton::Dfa { states, .. } = &*property.automaton else {
            return None;
        };
        if state_set as usize >= states.len() {
            return None;
        }
        let at = first as usize + state_set as usize;
        let entry = &self.entries[class as usize];
        let table = if unseen {
            &entry.next
        } else {
            &entry.next_of_all
        };
        match table[at] {
            OPEN => None,
            NOT_YET => self.find_next(code, class, at, property, state_set, unseen),
            next => Some(next),
        }
    }

    #[cold]
    fn find_next(
        &mut self,
        code: &Code,
        class: u32,
        at: usize,
        property: &PropertyCode,
        state_set: StateSetId,
        unseen: bool,
    ) -> Option<StateSetId> {
        let entry = &mut self.entries[class as usize];
        let vars = if unseen { Vars::Unseen } else { Vars::Any };
        let next = follow(code, entry, property, state_set, vars);
        let table = if unseen {
            &mut entry.next
        } else {
            &mut entry.next_of_all
        };
        table[at] = next.unwrap_or(OPEN);
        next
    }

    /// Returns the successor of a state for the value that exactly the terms with a set bit have.
    #[inline]
    pub(in crate::eval) fn next_of_matched(
        &mut self,
        code: &Code,
        class: u32,
        id: usize,
        property: &PropertyCode,
        match_set: MatchSet<'_>,
        state_set: StateSetId,
    ) -> Option<StateSetId> {
        if state_set >= n_states(property) {
            return None;
        }
        let at = TransitionCache::matched_at(code, id, property, match_set, state_set)?;
        match self.entries[class as usize].matched[at] {
            OPEN => None,
            NOT_YET => {
                let entry = &mut self.entries[class as usize];
                let next = follow(code, entry, property, state_set, match_set.vars());
                entry.matched[at] = next.unwrap_or(OPEN);
                next
            }
            next => Some(next),
        }
    }

    /// Whether the trigger of a property may hold for such a value.
    #[inline]
    pub(in crate::eval) fn triggered_of_matched(
        &mut self,
        code: &Code,
        class: u32,
        id: usize,
        property: &PropertyCode,
        match_set: MatchSet<'_>,
        trigger: NodeId,
    ) -> Option<bool> {
        // The entry is after the states.
        let at = TransitionCache::matched_at(code, id, property, match_set, n_states(property))?;
        let entry = &mut self.entries[class as usize];
        if entry.matched[at] == NOT_YET {
            let truth = of_class(code, entry, match_set.vars()).truth(trigger);
            entry.matched[at] = truth.map_or(OPEN, |truth| u32::from(truth != Truth::False));
        }
        match entry.matched[at] {
            OPEN => None,
            truth => Some(truth == 1),
        }
    }

    #[inline]
    fn matched_at(
        code: &Code,
        id: usize,
        property: &PropertyCode,
        match_set: MatchSet<'_>,
        place: u32,
    ) -> Option<usize> {
        let first = code.classes.matched[id]? as usize;
        let entry = usize::from(match_set.set) * (n_states(property) as usize + 1);
        Some(first + entry + place as usize)
    }

    /// Whether the class of an event determines the successor of every state of a property's automaton.
    pub(in crate::eval) fn decides(
        &mut self,
        code: &Code,
        class: u32,
        id: usize,
        property: &PropertyCode,
    ) -> bool {
        let Automaton::Dfa { states, .. } = &*property.automaton else {
            return false;
        };
        (0..).zip(states).all(|(state_set, _)| {
            self.next(code, class, id, property, state_set, true)
                .is_some()
        })
    }

    pub(in crate::eval) fn demands_of(&mut self, class: u32) -> &mut Option<Demands> {
        &mut self.entries[class as usize].demands
    }

    /// Whether no event of a class has a value for any compared term of a quantified property.
    #[inline]
    pub(in crate::eval) fn is_blank(
        &mut self,
        code: &Code,
        class: u32,
        id: usize,
        quantified: &QuantifiedCode,
    ) -> bool {
        let entry = &mut self.entries[class as usize];
        if entry.blank[id] == Known::NotYet {
            let mut of_class = of_class(code, entry, Vars::Any);
            let blank = quantified.ranged == 0
                && quantified.vars.iter().all(|var| {
                    let mut terms = var.terms.iter().chain(&var.elements);
                    var.constants.is_empty()
                        && terms.all(|term| {
                            matches!(of_class.value(*term, 0), Abstract::Is(Value::Null))
                        })
                });
            entry.blank[id] = Known::Is(Truth::from(blank));
        }
        entry.blank[id] == Known::Is(Truth::True)
    }

    /// Whether an event of a class changes nothing for a quantified property, for all states of its instances.
    #[inline]
    pub(in crate::eval) fn no_op(&mut self, program: &Compiled, class: u32, id: usize) -> NoOp {
        match self.entries[class as usize].no_op[id] {
            Some(known) => known,
            None => self.find_no_op(program, class, id),
        }
    }

    #[cold]
    fn find_no_op(&mut self, program: &Compiled, class: u32, id: usize) -> NoOp {
        let (code, property) = (&program.code, &program.properties[id]);
        let mut stays = |unseen: bool| {
            (0..n_states(property)).all(|state_set| {
                self.next(code, class, id, property, state_set, unseen) == Some(state_set)
            })
        };
        let (unseen, all) = (stays(true), stays(false));
        let no_op = match &property.quantified {
            Some(quantified)
                if n_states(property) > 0
                    && property.frame.is_empty()
                    && property.trigger.is_none_or(|trigger| {
                        self.truth(code, class, trigger) == Some(Truth::False)
                    }) =>
            {
                if unseen && self.is_blank(code, class, id, quantified) {
                    NoOp::Blank
                } else if all && !quantified.counts_values && quantified.only_terms.is_some() {
                    NoOp::Indifferent
                } else {
                    NoOp::Open
                }
            }
            _ => NoOp::Open,
        };
        self.entries[class as usize].no_op[id] = Some(no_op);
        no_op
    }

    /// Whether events of a class do not change a track without parameters.
    #[inline]
    pub(in crate::eval) fn keeps(&mut self, code: &Code, class: u32, track: u32) -> bool {
        let entry = &mut self.entries[class as usize];
        let at = track as usize;
        if entry.kept[at] == Known::NotYet {
            let of = &code.tracks[at];
            let mut of_class = of_class(code, entry, Vars::Any);
            let mut node = of.update;
            while let Some(Node::If(condition, then, other)) = node.map(|node| code.node(node)) {
                node = match of_class.truth(*condition) {
                    Some(Truth::True) => Some(*then),
                    Some(Truth::False) => Some(*other),
                    _ => break,
                };
            }
            let keeps = |node| matches!(code.node(node), Node::Track(other, _) if *other == track);
            let kept = of.n_params == 0 && of.frame.is_empty() && node.is_none_or(keeps);
            entry.kept[at] = Known::Is(Truth::from(kept));
        }
        entry.kept[at] == Known::Is(Truth::True)
    }
}

/// Returns the number of states; 0 for a property with counters.
#[inline]
fn n_states(property: &PropertyCode) -> u32 {
    match &*property.automaton {
        Automaton::Dfa { states, .. } => states.len() as u32,
        Automaton::CounterStates(..) => 0,
    }
}

/// Returns the successor of a state of a property's automaton, if the known letters determine it.
fn follow(
    code: &Code,
    entry: &mut ClassEntry,
    property: &PropertyCode,
    state_set: StateSetId,
    vars: Vars<'_>,
) -> Option<StateSetId> {
    let Automaton::Dfa { dfa, states, .. } = &*property.automaton else {
        return None;
    };
    let mut open = false;
    let next = dfa.step(*states.get(state_set as usize)?, |atom| {
        let node = property.letters[atom.0 as usize].node;
        let truth = of_class(code, entry, vars).truth(node);
        let known = truth.and_then(Truth::known);
        open |= known.is_none();
        known.unwrap_or(false)
    });
    (!open).then_some(next.index() as StateSetId)
}

impl ConstSet {
    fn values(&self) -> Box<dyn Iterator<Item = &Value> + '_> {
        match self {
            ConstSet::Few(values) => Box::new(values.iter()),
            ConstSet::Many(values) => Box::new(values.iter()),
        }
    }
}
