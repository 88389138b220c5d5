//! Events told apart by what the spec compares with constants.
//!
//! Each field has a *sort*: unknown, null, one of the constants that it is compared with, or something else. Events whose
//! fields have the same sorts form a class. What follows from the class alone is found once: the truth of many
//! conditions, and where a state of an automaton leads. An event of a class that was met costs one look at a table for
//! each property; only what the class leaves open is evaluated.
//!
//! The tables are filled as events come and are kept from trace to trace. They never say more than evaluation would:
//! what might meet an error in the data, or reads anything but fields, is left open.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::builtin;
use super::code::{Code, ConstSet, Node, NodeId};
use super::demand::Demands;
use super::monitor::{Automaton, Config};
use super::ops;
use super::program::{PropertyCode, QuantifiedCode};
use super::world::Watch;
use crate::input::deferred::{DeferredText, MOST_FIELDS};
use crate::value::{Cell, Truth, Value};

/// Bytes of the rows of one table.
const MOST_BYTES: usize = 16 << 20;

/// Automata with more states are stepped without a table.
const MOST_STATES: usize = 512;

/// Operands within operands of values that are looked at.
const MOST_DEPTH: usize = 8;

const UNKNOWN: u16 = 0;
const NULL: u16 = 1;
const OTHER: u16 = 2;
/// The sort of the first constant.
const FIRST: u16 = 3;

/// How events fall into classes.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    fields: Vec<FieldSorts>,
    /// By field of the signature: its place in `fields`.
    place: Vec<Option<u32>>,
    /// By property: where its states begin in a row; none where it has no table.
    states: Vec<Option<u32>>,
    n_states: usize,
    /// By property.
    plain: Vec<Plain>,
}

/// What a property without variables needs of a row.
#[derive(Clone, Copy, Debug, Default)]
struct Plain {
    first: usize,
    /// None where it has no table, or variables.
    n_states: u32,
    trigger: Option<NodeId>,
}

#[derive(Clone, Debug, Default)]
struct FieldSorts {
    field: usize,
    constants: Vec<Value>,
    texts: FxHashMap<SmolStr, u16>,
    /// Bytes of the longest text among the constants.
    longest: usize,
}

/// What is known of the classes that were met.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    known: FxHashMap<u64, u32>,
    rows: Vec<Row>,
}

/// What follows from a class.
#[derive(Clone, Debug)]
struct Row {
    /// By place in [`Classes::fields`].
    sorts: Box<[u16]>,
    /// By node.
    truths: Box<[Known]>,
    /// By node, where every variable has a value that nothing has.
    unseen: Box<[Known]>,
    /// By property and state: the next state, where every variable has a value that nothing has.
    next: Box<[u32]>,
    /// By property and state: the next state, whatever variables are.
    next_of_all: Box<[u32]>,
    /// By property: whether no compared term has a value.
    blank: Box<[Known]>,
    /// By track: whether the event leaves it as it is.
    kept: Box<[Known]>,
    /// By field: what may be looked at; none where that was not asked yet.
    demands: Option<Demands>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    NotYet,
    Open,
    Is(Truth),
}

const NOT_YET: u32 = u32::MAX;
const OPEN: u32 = u32::MAX - 1;

impl FieldSorts {
    fn add(&mut self, value: &Value) {
        // Equal numbers may be told apart by what is made of them (`text(1)`, `text(1.0)`).
        let exact = matches!(value, Value::String(_) | Value::Bool(_) | Value::Enum(_));
        if !exact || self.constants.contains(value) {
            return;
        }
        let Ok(sort) = u16::try_from(self.constants.len() + usize::from(FIRST)) else {
            return;
        };
        if let Value::String(text) = value {
            self.texts.insert(text.clone(), sort);
            self.longest = self.longest.max(text.len());
        }
        self.constants.push(value.clone());
    }

    #[inline]
    fn of(&self, cell: &Cell) -> u16 {
        match cell {
            Cell::Unknown => UNKNOWN,
            Cell::Known(Value::Null) => NULL,
            Cell::Known(Value::String(text)) => {
                if text.len() > self.longest {
                    return OTHER;
                }
                self.texts.get(text.as_str()).copied().unwrap_or(OTHER)
            }
            Cell::Known(value) => {
                let mut all = (FIRST..).zip(&self.constants);
                all.find_map(|(sort, constant)| (constant == value).then_some(sort))
                    .unwrap_or(OTHER)
            }
        }
    }
}

impl Classes {
    /// Whether a text of so many bytes is longer than all constants that a field is compared with.
    #[inline]
    pub(super) fn is_longer(&self, field: usize, len: usize) -> bool {
        let place = self.place.get(field).copied().flatten();
        let sorts = place.and_then(|place| self.fields.get(place as usize));
        sorts.is_none_or(|sorts| len > sorts.longest)
    }

    /// A bit for each of these texts of a step that is longer than all constants that its field is compared with.
    pub(super) fn longer(&self, texts: &[DeferredText]) -> u64 {
        let longer = texts
            .iter()
            .filter(|text| self.is_longer(text.field, text.at_least()));
        longer.fold(0, |bits, text| {
            bits | 1u64.checked_shl(text.field as u32).unwrap_or(0)
        })
    }

    /// The classes for these expressions and properties.
    pub(super) fn new(code: &Code, properties: &[PropertyCode]) -> Classes {
        let mut found: FxHashMap<u32, FieldSorts> = FxHashMap::default();
        for node in &code.nodes {
            match node {
                Node::Field(field) => drop(found.entry(*field).or_default()),
                Node::FieldIs(field, value) => found.entry(*field).or_default().add(value),
                Node::InConst(item, set) => {
                    if let Node::Field(field) = code.node(*item) {
                        let sorts = found.entry(*field).or_default();
                        set.values().for_each(|value| sorts.add(value));
                    }
                }
                _ => {}
            }
        }
        let mut fields: Vec<(u32, FieldSorts)> = found.into_iter().collect();
        fields.sort_by_key(|(field, _)| *field);
        let mut classes = Classes::default();
        let mut n_classes: u64 = 1;
        for (field, mut sorts) in fields {
            sorts.field = field as usize;
            let n_sorts = sorts.constants.len() as u64 + u64::from(FIRST);
            // A field too many tells nothing apart.
            let Some(product) = n_classes.checked_mul(n_sorts) else {
                continue;
            };
            n_classes = product;
            if classes.place.len() <= sorts.field {
                classes.place.resize(sorts.field + 1, None);
            }
            classes.place[sorts.field] = u32::try_from(classes.fields.len()).ok();
            classes.fields.push(sorts);
        }
        for property in properties {
            let n_states = match &property.automaton {
                Automaton::Dfa { states, .. } if states.len() <= MOST_STATES => states.len(),
                _ => {
                    classes.states.push(None);
                    classes.plain.push(Plain::default());
                    continue;
                }
            };
            classes.plain.push(Plain {
                first: classes.n_states,
                n_states: match property.quantified {
                    None => u32::try_from(n_states).unwrap_or(0),
                    Some(_) => 0,
                },
                trigger: property.trigger,
            });
            classes.states.push(u32::try_from(classes.n_states).ok());
            classes.n_states += n_states;
        }
        classes
    }

    fn row(&self, code: &Code, mut key: u64) -> Row {
        let mut sorts = vec![UNKNOWN; self.fields.len()];
        for (field, sort) in self.fields.iter().zip(&mut sorts).rev() {
            let n_sorts = field.constants.len() as u64 + u64::from(FIRST);
            *sort = u16::try_from(key % n_sorts).unwrap_or(OTHER);
            key /= n_sorts;
        }
        let nodes = vec![Known::NotYet; code.nodes.len()];
        Row {
            sorts: sorts.into(),
            truths: nodes.clone().into(),
            unseen: nodes.into(),
            next: vec![NOT_YET; self.n_states].into(),
            next_of_all: vec![NOT_YET; self.n_states].into(),
            blank: vec![Known::NotYet; self.states.len()].into(),
            kept: vec![Known::NotYet; code.tracks.len()].into(),
            demands: None,
        }
    }

    fn n_rows_most(&self, code: &Code) -> usize {
        MOST_BYTES / (256 + 2 * code.nodes.len() + 8 * self.n_states)
    }
}

impl Tables {
    /// The class of an event; none where there are too many. `deferred` holds the bits of fields whose text is longer
    /// than any constant.
    #[inline]
    pub(super) fn class(&mut self, code: &Code, cells: &[Cell], deferred: u64) -> Option<u32> {
        let mut key: u64 = 0;
        for sorts in &code.classes.fields {
            let n_sorts = sorts.constants.len() as u64 + u64::from(FIRST);
            let sort = if sorts.field < MOST_FIELDS && deferred >> sorts.field & 1 == 1 {
                OTHER
            } else {
                cells
                    .get(sorts.field)
                    .map_or(UNKNOWN, |cell| sorts.of(cell))
            };
            key = key.wrapping_mul(n_sorts).wrapping_add(u64::from(sort));
        }
        match self.known.get(&key) {
            Some(class) => Some(*class),
            None => self.meet(code, key),
        }
    }

    #[cold]
    fn meet(&mut self, code: &Code, key: u64) -> Option<u32> {
        if self.rows.len() >= code.classes.n_rows_most(code) {
            return None;
        }
        let class = u32::try_from(self.rows.len()).ok()?;
        self.rows.push(code.classes.row(code, key));
        self.known.insert(key, class);
        Some(class)
    }

    /// The properties on which an event of the class may have an effect: all but those without variables that stay
    /// in their state and whose trigger does not hold.
    #[inline]
    pub(super) fn busy(
        &self,
        code: &Code,
        class: u32,
        live: &[u32],
        watches: &[Watch],
        into: &mut Vec<u32>,
    ) {
        let row = &self.rows[class as usize];
        for &id in live {
            let plain = code.classes.plain[id as usize];
            let rests = match &watches[id as usize] {
                Watch::Plain { config, triggered } => {
                    *config < plain.n_states
                        && (row.next[plain.first + *config as usize] == *config)
                        && (*triggered
                            || plain.trigger.is_none_or(|trigger| {
                                row.truths[trigger.index()] == Known::Is(Truth::False)
                            }))
                }
                Watch::Sliced(_) => false,
            };
            if !rests {
                into.push(id);
            }
        }
    }

    /// The truth of a condition for all events of a class, whatever variables are.
    #[inline]
    pub(super) fn truth(&mut self, code: &Code, class: u32, node: NodeId) -> Option<Truth> {
        let row = &mut self.rows[class as usize];
        match row.truths[node.index()] {
            Known::Is(truth) => Some(truth),
            Known::Open => None,
            Known::NotYet => of_class(code, row, false).truth(node),
        }
    }

    /// The truth where every variable has a value that nothing has.
    #[inline]
    pub(super) fn unseen(&mut self, code: &Code, class: u32, node: NodeId) -> Option<Truth> {
        let row = &mut self.rows[class as usize];
        match row.unseen[node.index()] {
            Known::Is(truth) => Some(truth),
            Known::Open => None,
            Known::NotYet => of_class(code, row, true).truth(node),
        }
    }

    /// Where a state of a property's automaton leads, for variables with values that nothing has (`unseen`), or
    /// whatever variables are.
    #[inline]
    pub(super) fn next(
        &mut self,
        code: &Code,
        class: u32,
        id: usize,
        property: &PropertyCode,
        config: Config,
        unseen: bool,
    ) -> Option<Config> {
        let first = code.classes.states[id]?;
        let Automaton::Dfa { states, .. } = &property.automaton else {
            return None;
        };
        if config as usize >= states.len() {
            return None;
        }
        let at = first as usize + config as usize;
        let row = &self.rows[class as usize];
        let table = if unseen { &row.next } else { &row.next_of_all };
        match table[at] {
            OPEN => None,
            NOT_YET => self.find_next(code, class, at, property, config, unseen),
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
        config: Config,
        unseen: bool,
    ) -> Option<Config> {
        let Automaton::Dfa { dfa, states, .. } = &property.automaton else {
            return None;
        };
        let row = &mut self.rows[class as usize];
        let mut open = false;
        let next = dfa.step(states[config as usize], |atom| {
            let node = property.letters[atom.0 as usize].node;
            let truth = of_class(code, row, unseen).truth(node);
            let known = truth.and_then(Truth::known);
            open |= known.is_none();
            known.unwrap_or(false)
        });
        let table = if unseen {
            &mut row.next
        } else {
            &mut row.next_of_all
        };
        table[at] = if open { OPEN } else { next.index() as u32 };
        (!open).then_some(next.index() as u32)
    }

    /// Whether it follows from the class of an event where every state of a property's automaton leads.
    pub(super) fn decides(
        &mut self,
        code: &Code,
        class: u32,
        id: usize,
        property: &PropertyCode,
    ) -> bool {
        let Automaton::Dfa { states, .. } = &property.automaton else {
            return false;
        };
        (0..)
            .zip(states)
            .all(|(config, _)| self.next(code, class, id, property, config, true).is_some())
    }

    pub(super) fn demands_of(&mut self, class: u32) -> &mut Option<Demands> {
        &mut self.rows[class as usize].demands
    }

    /// Whether no event of a class has a value for any compared term of a quantified property.
    #[inline]
    pub(super) fn is_blank(
        &mut self,
        code: &Code,
        class: u32,
        id: usize,
        quantified: &QuantifiedCode,
    ) -> bool {
        let row = &mut self.rows[class as usize];
        if row.blank[id] == Known::NotYet {
            let mut of_class = of_class(code, row, false);
            let blank = quantified.ranged == 0
                && quantified.vars.iter().all(|var| {
                    let mut terms = var.terms.iter().chain(&var.elements);
                    var.constants.is_empty()
                        && terms.all(|term| {
                            matches!(of_class.value(*term, 0), Abstract::Is(Value::Null))
                        })
                });
            row.blank[id] = Known::Is(Truth::from(blank));
        }
        row.blank[id] == Known::Is(Truth::True)
    }

    /// Whether events of a class leave a track without parameters as it is.
    #[inline]
    pub(super) fn keeps(&mut self, code: &Code, class: u32, track: u32) -> bool {
        let row = &mut self.rows[class as usize];
        let at = track as usize;
        if row.kept[at] == Known::NotYet {
            let of = &code.tracks[at];
            let mut node = of.update;
            let mut of_class = of_class(code, row, false);
            while let Node::If(condition, then, other) = code.node(node) {
                node = match of_class.truth(*condition) {
                    Some(Truth::True) => *then,
                    Some(Truth::False) => *other,
                    _ => break,
                };
            }
            let kept = of.n_params == 0
                && of.frame.is_empty()
                && matches!(code.node(node), Node::Track(other, _) if *other == track);
            row.kept[at] = Known::Is(Truth::from(kept));
        }
        row.kept[at] == Known::Is(Truth::True)
    }
}

/// What a value is for all events of a class.
enum Abstract {
    Unknown,
    /// A value that nothing has.
    Fresh,
    Is(Value),
    /// Known, and different from event to event; of a field: different from its constants.
    Some(Option<u32>),
    Open,
}

/// Evaluation by class.
struct OfClass<'r> {
    code: &'r Code,
    sorts: &'r [u16],
    truths: &'r mut [Known],
    unseen: bool,
}

fn of_class<'r>(code: &'r Code, row: &'r mut Row, unseen: bool) -> OfClass<'r> {
    OfClass {
        code,
        sorts: &row.sorts,
        truths: if unseen {
            &mut row.unseen
        } else {
            &mut row.truths
        },
        unseen,
    }
}

impl OfClass<'_> {
    fn truth(&mut self, id: NodeId) -> Option<Truth> {
        match self.truths[id.index()] {
            Known::Is(truth) => return Some(truth),
            Known::Open => return None,
            Known::NotYet => {}
        }
        let truth = self.find_truth(id);
        self.truths[id.index()] = truth.map_or(Known::Open, Known::Is);
        truth
    }

    /// As evaluation does it, operand by operand: what it would not look at is not looked at.
    fn find_truth(&mut self, id: NodeId) -> Option<Truth> {
        let code = self.code;
        match code.node(id) {
            Node::Const(Value::Bool(value)) => Some(Truth::from(*value)),
            Node::FieldIs(field, value) => match self.field(*field) {
                Abstract::Unknown => Some(Truth::Unknown),
                Abstract::Is(cell) => Some(Truth::from(cell == *value)),
                Abstract::Some(_) if self.tells(*field, value) => Some(Truth::False),
                _ => None,
            },
            Node::InConst(item, set) => match self.value(*item, 0) {
                Abstract::Unknown if set.is_empty() => Some(Truth::False),
                Abstract::Unknown => Some(Truth::Unknown),
                Abstract::Fresh => Some(Truth::False),
                Abstract::Is(item) => Some(Truth::from(set.contains(&item))),
                Abstract::Some(Some(field)) => {
                    let all = set.values().all(|value| self.tells(field, value));
                    all.then_some(Truth::False)
                }
                Abstract::Some(None) | Abstract::Open => None,
            },
            Node::Not(a) => Some(!self.truth(*a)?),
            Node::And(a, b) => match self.truth(*a)? {
                Truth::False => Some(Truth::False),
                lhs => Some(lhs.and(self.truth(*b)?)),
            },
            Node::Or(a, b) => match self.truth(*a)? {
                Truth::True => Some(Truth::True),
                lhs => Some(lhs.or(self.truth(*b)?)),
            },
            Node::Implies(a, b) => match self.truth(*a)? {
                Truth::False => Some(Truth::True),
                lhs => Some(lhs.implies(self.truth(*b)?)),
            },
            Node::Iff(a, b) => match self.truth(*a)? {
                Truth::Unknown => Some(Truth::Unknown),
                lhs => Some(lhs.iff(self.truth(*b)?)),
            },
            Node::If(c, a, b) => match self.truth(*c)? {
                Truth::True => self.truth(*a),
                Truth::False => self.truth(*b),
                Truth::Unknown => None,
            },
            Node::Eq(a, b) => match (self.value(*a, 0), self.value(*b, 0)) {
                (Abstract::Open, _) | (_, Abstract::Open) => None,
                (Abstract::Unknown, _) | (_, Abstract::Unknown) => Some(Truth::Unknown),
                (Abstract::Fresh, _) | (_, Abstract::Fresh) => Some(Truth::False),
                (Abstract::Is(lhs), Abstract::Is(rhs)) => Some(Truth::from(lhs == rhs)),
                (Abstract::Some(_), _) | (_, Abstract::Some(_)) => None,
            },
            Node::Matches(a, regex) => match self.value(*a, 0) {
                Abstract::Is(Value::String(text)) => {
                    Some(Truth::from(code.regexes[*regex as usize].is_match(&text)))
                }
                Abstract::Is(Value::Null) => Some(Truth::False),
                Abstract::Unknown => Some(Truth::Unknown),
                _ => None,
            },
            _ => None,
        }
    }

    fn field(&self, field: u32) -> Abstract {
        let classes = &self.code.classes;
        let Some(place) = classes.place.get(field as usize).copied().flatten() else {
            return Abstract::Open;
        };
        match self.sorts[place as usize] {
            UNKNOWN => Abstract::Unknown,
            NULL => Abstract::Is(Value::Null),
            OTHER => Abstract::Some(Some(field)),
            sort => {
                let constants = &classes.fields[place as usize].constants;
                match constants.get(usize::from(sort - FIRST)) {
                    Some(value) => Abstract::Is(value.clone()),
                    None => Abstract::Open,
                }
            }
        }
    }

    /// Whether events at which the field has this value are a class of their own.
    fn tells(&self, field: u32, value: &Value) -> bool {
        let classes = &self.code.classes;
        let place = classes.place.get(field as usize).copied().flatten();
        let sorts = place.and_then(|place| classes.fields.get(place as usize));
        sorts.is_some_and(|sorts| value.is_null() || sorts.constants.contains(value))
    }

    fn value(&mut self, id: NodeId, depth: usize) -> Abstract {
        if depth > MOST_DEPTH {
            return Abstract::Open;
        }
        let code = self.code;
        let checked = |value: Result<Value, ops::Fault>| value.map_or(Abstract::Open, Abstract::Is);
        match code.node(id) {
            Node::Const(value) => Abstract::Is(value.clone()),
            Node::Unknown => Abstract::Unknown,
            Node::Field(field) => self.field(*field),
            Node::Var(_) if self.unseen => Abstract::Fresh,
            Node::Member(of, name) => match self.value(*of, depth + 1) {
                Abstract::Is(of) => checked(ops::member(&of, name).cloned()),
                Abstract::Unknown | Abstract::Fresh => Abstract::Unknown,
                Abstract::Some(_) | Abstract::Open => Abstract::Open,
            },
            Node::Call(function, args) => {
                let mut values = Vec::with_capacity(args.len());
                for arg in args {
                    match self.value(*arg, depth + 1) {
                        Abstract::Is(value) => values.push(value),
                        _ => return Abstract::Open,
                    }
                }
                checked(builtin::call(*function, &values))
            }
            _ => Abstract::Open,
        }
    }
}

impl ConstSet {
    fn values(&self) -> Box<dyn Iterator<Item = &Value> + '_> {
        match self {
            ConstSet::Few(values) => Box::new(values.iter()),
            ConstSet::Many(values) => Box::new(values.iter()),
        }
    }
}
