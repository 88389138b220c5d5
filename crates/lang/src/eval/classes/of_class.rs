//! Abstract evaluation: results that hold for all events of a class.

use super::{ClassEntry, FIRST, Known, NULL, OTHER, UNKNOWN};
use crate::eval::builtin;
use crate::eval::code::{Code, Node, NodeId, Reads};
use crate::eval::ops;
use crate::value::{Truth, Value};

/// The greatest depth of operands that are examined.
const MOST_DEPTH: usize = 8;

/// The value of an expression for all events of a class.
pub(super) enum Abstract {
    Unknown,
    /// A value that no term has.
    Fresh,
    Is(Value),
    /// A value that is known but differs from event to event. For a field (its number): different from all constants.
    Some(Option<u32>),
    Open,
}

/// Evaluation of expressions for a class.
pub(super) struct OfClass<'r> {
    code: &'r Code,
    symbols: &'r [u16],
    truths: &'r mut [Known],
    vars: Vars<'r>,
}

/// The known values of quantified variables.
#[derive(Clone, Copy, Debug)]
pub(super) enum Vars<'r> {
    /// Nothing.
    Any,
    /// Each variable has an unseen value.
    Unseen,
    /// Each variable has the value of those of its terms whose bit is set, and of no other term.
    Equals(&'r [(u32, NodeId)], u8),
}

pub(super) fn of_class<'r>(
    code: &'r Code,
    entry: &'r mut ClassEntry,
    vars: Vars<'r>,
) -> OfClass<'r> {
    OfClass {
        code,
        symbols: &entry.symbols,
        truths: match vars {
            Vars::Unseen => &mut entry.unseen,
            Vars::Any | Vars::Equals(..) => &mut entry.truths,
        },
        vars,
    }
}

impl OfClass<'_> {
    pub(super) fn truth(&mut self, id: NodeId) -> Option<Truth> {
        // Cached results hold for all values of variables.
        if let Vars::Equals(..) = self.vars
            && self.code.info(id).reads.has(Reads::VAR)
        {
            return self.find_truth(id);
        }
        match self.truths[id.index()] {
            Known::Is(truth) => return Some(truth),
            Known::Open => return None,
            Known::NotYet => {}
        }
        let truth = self.find_truth(id);
        self.truths[id.index()] = truth.map_or(Known::Open, Known::Is);
        truth
    }

    /// Computes the truth of an expression as evaluation does, operand by operand: operands that evaluation would skip are
    /// not read.
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
            Node::Eq(a, b) if let Some(truth) = self.equals(*a, *b) => Some(truth),
            Node::Eq(a, b) => match (self.value(*a, 0), self.value(*b, 0)) {
                (Abstract::Open, _) | (_, Abstract::Open) => None,
                (Abstract::Unknown, _) | (_, Abstract::Unknown) => Some(Truth::Unknown),
                (Abstract::Fresh, _) | (_, Abstract::Fresh) => Some(Truth::False),
                (Abstract::Is(lhs), Abstract::Is(rhs)) => Some(Truth::from(lhs == rhs)),
                (Abstract::Some(_), _) | (_, Abstract::Some(_)) => None,
            },
            Node::Matches(a, regex) => match self.value(*a, 0) {
                Abstract::Is(Value::String(text)) => {
                    let found = code.patterns[*regex as usize].is_match(&text);
                    Some(Truth::from(found))
                }
                Abstract::Is(Value::Null) => Some(Truth::False),
                Abstract::Unknown => Some(Truth::Unknown),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a term that a variable is compared with has the value of the variable.
    fn equals(&self, a: NodeId, b: NodeId) -> Option<Truth> {
        let Vars::Equals(terms, bits) = self.vars else {
            return None;
        };
        let var = |id: NodeId| match self.code.node(id) {
            Node::Var(var) => Some(*var),
            _ => None,
        };
        let pair = match (var(a), var(b)) {
            (Some(var), _) => (var, b),
            (_, Some(var)) => (var, a),
            (None, None) => return None,
        };
        let place = terms.iter().position(|other| *other == pair)?;
        Some(Truth::from(bits >> place & 1 == 1))
    }

    fn field(&self, field: u32) -> Abstract {
        let classes = &self.code.classes;
        let Some(place) = classes.place.get(field as usize).copied().flatten() else {
            return Abstract::Open;
        };
        match self.symbols[place as usize] {
            UNKNOWN => Abstract::Unknown,
            NULL => Abstract::Is(Value::Null),
            OTHER => Abstract::Some(Some(field)),
            symbol => {
                let constants = &classes.fields[place as usize].constants;
                match constants.get(usize::from(symbol - FIRST)) {
                    Some(value) => Abstract::Is(value.clone()),
                    None => Abstract::Open,
                }
            }
        }
    }

    /// Whether the events in which the field has this value are a separate class.
    fn tells(&self, field: u32, value: &Value) -> bool {
        let classes = &self.code.classes;
        let place = classes.place.get(field as usize).copied().flatten();
        let symbols = place.and_then(|place| classes.fields.get(place as usize));
        symbols.is_some_and(|symbols| value.is_null() || symbols.has(value))
    }

    pub(super) fn value(&mut self, id: NodeId, depth: usize) -> Abstract {
        if depth > MOST_DEPTH {
            return Abstract::Open;
        }
        let code = self.code;
        let checked = |value: Result<Value, ops::Fault>| value.map_or(Abstract::Open, Abstract::Is);
        match code.node(id) {
            Node::Const(value) => Abstract::Is(value.clone()),
            Node::Unknown => Abstract::Unknown,
            Node::Field(field) => self.field(*field),
            Node::Var(_) if matches!(self.vars, Vars::Unseen) => Abstract::Fresh,
            Node::Member(of, name) | Node::JsonMember(_, of, name) => {
                match self.value(*of, depth + 1) {
                    Abstract::Is(of) => checked(ops::member(&of, name).cloned()),
                    Abstract::Unknown | Abstract::Fresh => Abstract::Unknown,
                    Abstract::Some(_) | Abstract::Open => Abstract::Open,
                }
            }
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
