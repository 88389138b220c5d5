//! Boolean expressions, in Kleene's three values.

use super::{Eval, Val};
use crate::eval::code::{Node, NodeId, Reads};
use crate::eval::ops::{self, Fault};
use crate::hir::{Compare, Quantifier};
use crate::value::{Cell, Truth, Value};

/// The number of bytes that a substring search counts as one unit of work, the cost of one list element.
const SEARCHED: u64 = 256;
/// The same number for regular expressions and functions.
pub(super) const READ: u64 = 16;

impl<'a> Eval<'a> {
    /// Returns the truth of a Boolean expression.
    #[inline]
    pub(in crate::eval) fn truth(&mut self, id: NodeId) -> Truth {
        if !self.keeps(id) {
            return self.find_truth(id);
        }
        if let Some(truth) = self.eval_cache.truth(id) {
            return truth;
        }
        let truth = self.find_truth(id);
        self.eval_cache.keep_truth(id, truth);
        truth
    }

    pub(super) fn find_truth(&mut self, id: NodeId) -> Truth {
        let code = self.code;
        match code.node(id) {
            Node::Const(Value::Bool(value)) => Truth::from(*value),
            Node::FieldIs(field, value) => match &self.cells[*field as usize] {
                Cell::Known(cell) => Truth::from(cell == value),
                Cell::Unknown => Truth::Unknown,
            },
            Node::InConst(item, set) => match self.value(*item) {
                Val::Unknown if set.is_empty() => Truth::False,
                Val::Unknown => Truth::Unknown,
                Val::Fresh => Truth::False,
                item => Truth::from(item.known().is_some_and(|item| set.contains(item))),
            },
            Node::Not(a) => !self.truth(*a),
            Node::And(a, b) => match self.truth(*a) {
                Truth::False => Truth::False,
                lhs => lhs.and(self.truth(*b)),
            },
            Node::Or(a, b) => match self.truth(*a) {
                Truth::True => Truth::True,
                lhs => lhs.or(self.truth(*b)),
            },
            Node::Implies(a, b) => match self.truth(*a) {
                Truth::False => Truth::True,
                lhs => lhs.implies(self.truth(*b)),
            },
            Node::Iff(a, b) => match self.truth(*a) {
                Truth::Unknown => Truth::Unknown,
                lhs => lhs.iff(self.truth(*b)),
            },
            Node::If(c, a, b) => match self.truth(*c) {
                Truth::True => self.truth(*a),
                Truth::False => self.truth(*b),
                Truth::Unknown => match (self.truth(*a), self.truth(*b)) {
                    (lhs, rhs) if lhs == rhs => lhs,
                    _ => Truth::Unknown,
                },
            },
            Node::Eq(a, b) => match (self.value(*a), self.value(*b)) {
                (Val::Unknown, _) | (_, Val::Unknown) => self.compared_ranges(Compare::Eq, *a, *b),
                (lhs, rhs) => match (lhs.known(), rhs.known()) {
                    (Some(lhs), Some(rhs)) => Truth::from(lhs == rhs),
                    _ => Truth::False,
                },
            },
            Node::Order(op, a, b) => {
                match self.test(id, *a, *b, searched, |lhs, rhs| ops::compare(*op, lhs, rhs)) {
                    Truth::Unknown => self.compared_ranges(*op, *a, *b),
                    known => known,
                }
            }
            Node::Contains(a, b, false) => self.test(id, *a, *b, searched, ops::contains),
            Node::Contains(a, b, true) => self.test(id, *a, *b, searched_within, ops::holds),
            Node::StartsWith(a, b) => self.test(id, *a, *b, compared, |lhs, rhs| {
                ops::text_test("starts_with", lhs, rhs, |whole, part| {
                    whole.begins_with(part)
                })
            }),
            Node::EndsWith(a, b) => self.test(id, *a, *b, compared, |lhs, rhs| {
                ops::text_test("ends_with", lhs, rhs, |whole, part| {
                    whole.ends_with(part.as_str())
                })
            }),
            Node::Matches(a, regex) => match self.value(*a).known() {
                Some(Value::String(text)) if !self.spend(id, text.len() as u64 / READ) => {
                    Truth::Unknown
                }
                Some(Value::String(text)) => {
                    let found = code.patterns[*regex as usize].is_match(text);
                    Truth::from(found)
                }
                Some(Value::Null) => Truth::False,
                Some(other) => {
                    let kind = ops::kind_of(other);
                    self.fault(id, Fault::WrongType("matches", kind));
                    Truth::Unknown
                }
                None => Truth::Unknown,
            },
            Node::In(item, list) => self.is_in(id, *item, *list),
            Node::Quantifier {
                kind: kind @ (Quantifier::Any | Quantifier::All),
                local,
                over,
                body,
            } => {
                let decided = Truth::from(*kind == Quantifier::Any);
                let mut found = !decided;
                let complete = self.each_element(id, *over, |eval, item| {
                    let outer = eval.set_local(*local, item);
                    let truth = eval.truth(*body);
                    eval.set_local(*local, outer);
                    found = if decided == Truth::True {
                        found.or(truth)
                    } else {
                        found.and(truth)
                    };
                    found != decided
                });
                if complete { found } else { Truth::Unknown }
            }
            _ => {
                let value = self.value(id);
                match value.known().map(ops::truth_of) {
                    Some(Ok(truth)) => truth,
                    Some(Err(fault)) => {
                        self.fault(id, fault);
                        Truth::Unknown
                    }
                    None => Truth::Unknown,
                }
            }
        }
    }

    /// Returns the truth of a condition if it is the same for all contents of tracks and registers for the parameters or
    /// variables, otherwise unknown. An operand that evaluation might skip is evaluated only if it cannot meet an error.
    pub(in crate::eval) fn truth_of_all(&mut self, id: NodeId) -> Truth {
        let code = self.code;
        if !code.info(id).reads.has(Reads::KEYED.with(Reads::FRAME)) {
            return self.letter(id);
        }
        let other = |eval: &mut Self, first: Truth, id: NodeId| match first {
            Truth::Unknown if !code.is_total(id) => Truth::Unknown,
            _ => eval.truth_of_all(id),
        };
        match code.node(id) {
            Node::Not(a) => !self.truth_of_all(*a),
            Node::And(a, b) => match self.truth_of_all(*a) {
                Truth::False => Truth::False,
                lhs => lhs.and(other(self, lhs, *b)),
            },
            Node::Or(a, b) => match self.truth_of_all(*a) {
                Truth::True => Truth::True,
                lhs => lhs.or(other(self, lhs, *b)),
            },
            Node::Implies(a, b) => match self.truth_of_all(*a) {
                Truth::False => Truth::True,
                lhs => lhs.implies(other(self, lhs, *b)),
            },
            Node::If(c, a, b) => match self.truth_of_all(*c) {
                Truth::True => self.truth_of_all(*a),
                Truth::False => self.truth_of_all(*b),
                Truth::Unknown => Truth::Unknown,
            },
            _ => Truth::Unknown,
        }
    }

    /// Compares two known values.
    fn test(
        &mut self,
        id: NodeId,
        a: NodeId,
        b: NodeId,
        work: fn(&Value, &Value) -> u64,
        test: impl FnOnce(&Value, &Value) -> Result<bool, Fault>,
    ) -> Truth {
        let (lhs, rhs) = (self.value(a), self.value(b));
        // An unseen value is not an element or part of any value in the data.
        if matches!(rhs, Val::Fresh) && lhs.known().is_some() {
            return Truth::False;
        }
        match (lhs.known(), rhs.known()) {
            (Some(lhs), Some(rhs)) if !self.spend(id, work(lhs, rhs)) => Truth::Unknown,
            (Some(lhs), Some(rhs)) => match test(lhs, rhs) {
                Ok(truth) => Truth::from(truth),
                Err(fault) => {
                    self.fault(id, fault);
                    Truth::Unknown
                }
            },
            _ => Truth::Unknown,
        }
    }

    fn is_in(&mut self, id: NodeId, item: NodeId, list: NodeId) -> Truth {
        let item = self.value(item);
        let written = matches!(self.code.node(list), Node::List(_) | Node::Set(_));
        if !written
            && let Some(item) = item.known()
            && let Some(Ok(found)) = self
                .value(list)
                .known()
                .map(|list| ops::has_element(list, item, "in"))
        {
            return Truth::from(found);
        }
        let mut found = Truth::False;
        let complete = self.each_element(id, list, |_, element| {
            found = found.or(match (&item, &element) {
                (Val::Fresh, Cell::Known(_)) => Truth::False,
                (item, Cell::Known(element)) => match item.known() {
                    Some(item) => Truth::from(item == element),
                    None => Truth::Unknown,
                },
                (_, Cell::Unknown) => Truth::Unknown,
            });
            found != Truth::True
        });
        if complete { found } else { Truth::Unknown }
    }

    /// Passes each element of a list or set to `look` while it returns `true`. Returns `false` if there is no list.
    pub(super) fn each_element(
        &mut self,
        id: NodeId,
        over: NodeId,
        mut look: impl FnMut(&mut Self, Cell) -> bool,
    ) -> bool {
        let code = self.code;
        // The elements of a list literal are evaluated one by one.
        if let Node::List(items) | Node::Set(items) = code.node(over) {
            for item in items {
                let element = self.value(*item).into_cell();
                if !look(self, element) {
                    break;
                }
            }
            return true;
        }
        let list = self.value(over);
        let Some(list) = list.known() else {
            return false;
        };
        let Some(elements) = ops::elements(list) else {
            self.fault(id, Fault::WrongType("in", ops::kind_of(list)));
            return false;
        };
        for element in elements {
            if !self.spend(id, 1) {
                return false;
            }
            if !look(self, Cell::Known(element.clone())) {
                break;
            }
        }
        true
    }

    /// Counts work of an expression; reports an error if it exceeds the limit of the step.
    pub(super) fn spend(&mut self, id: NodeId, work: u64) -> bool {
        let within = self.eval_cache.spend(work);
        if !within {
            self.fault(id, Fault::TooMuchWork);
        }
        within
    }
}

/// Returns the work of a search in a text; 0 for other values, in which elements are looked up.
fn searched(value: &Value, _: &Value) -> u64 {
    text_bytes(value) / SEARCHED
}

/// Returns the work of comparing one end of a text: no more is looked at than the other text is long.
fn compared(whole: &Value, part: &Value) -> u64 {
    text_bytes(whole).min(text_bytes(part)) / SEARCHED
}

/// Returns the work of a search in a text, or in all texts of another value.
fn searched_within(value: &Value, part: &Value) -> u64 {
    let within = |value: &Value| 1 + searched_within(value, part);
    match value {
        Value::List(items) => items.iter().map(within).sum(),
        Value::Object(members) => members.iter().map(|(_, value)| within(value)).sum(),
        text => searched(text, part),
    }
}

/// Returns the work of reading a text or copying a list; 0 for other values.
pub(super) fn read(value: &Value) -> u64 {
    match value {
        Value::List(items) => items.len() as u64,
        text => text_bytes(text) / READ,
    }
}

/// Returns the size of a text in bytes; 0 for other values.
fn text_bytes(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        _ => 0,
    }
}
