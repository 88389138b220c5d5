//! Expressions of any type: the result is unknown if an operand is, except for `if` and `??`.

use smol_str::SmolStr;

use super::truth::{READ, read};
use super::{Eval, Val};
use crate::eval::builtin;
use crate::eval::cast::cast;
use crate::eval::code::{Node, NodeId, RegisterKind};
use crate::eval::eval_cache::Choice;
use crate::eval::json;
use crate::eval::ops::{self, Fault};
use crate::eval::register::{Held, Operands, Register};
use crate::hir::{Builtin, Quantifier};
use crate::texts;
use crate::value::{Cell, Object, Truth, Value};

impl<'a> Eval<'a> {
    /// Returns the value of an expression.
    pub(in crate::eval) fn value(&mut self, id: NodeId) -> Val<'a> {
        if !self.keeps(id) {
            return self.find_value(id);
        }
        if let Some(cell) = self.eval_cache.value(id) {
            return Val::own(cell.clone());
        }
        let value = self.find_value(id);
        self.eval_cache.keep_value(id, value.clone().into_cell());
        value
    }

    fn member(&mut self, id: NodeId, of: NodeId, name: &str) -> Val<'a> {
        match self.value(of) {
            Val::Ref(of) => self.checked_ref(id, ops::member(of, name)),
            Val::Own(of) => self.checked(id, ops::member(&of, name).cloned()),
            Val::Unknown | Val::Fresh => Val::Unknown,
        }
    }

    fn find_value(&mut self, id: NodeId) -> Val<'a> {
        let code = self.code;
        match code.node(id) {
            Node::Const(value) => Val::Ref(value),
            Node::Unknown => Val::Unknown,
            Node::Field(field) => Val::of_cell(&self.cells[*field as usize]),
            Node::Meta(field) => self
                .meta
                .get(*field as usize)
                .map_or(Val::Unknown, Val::of_cell),
            Node::Var(var) => self.vars.get(*var as usize).map_or(Val::Unknown, |value| {
                value.as_ref().map_or(Val::Fresh, Val::Ref)
            }),
            Node::Param(param) => self
                .params
                .get(*param as usize)
                .map_or(Val::Unknown, |value| {
                    value.as_ref().map_or(Val::Fresh, Val::Ref)
                }),
            Node::Local(local) => Val::own(self.eval_cache.locals[*local as usize].clone()),
            Node::Track(track, args) => self.track(*track, args),
            Node::Member(of, name) => self.member(id, *of, name),
            Node::JsonMember(text, of, name) => self.json_member(id, (*text, *of), name),
            Node::Index(of, at) => {
                let (of, at) = (self.value(*of), self.value(*at));
                match (of, at.known()) {
                    (Val::Ref(of), Some(at)) => self.checked_ref(id, ops::index(of, at)),
                    (Val::Own(of), Some(at)) => self.checked(id, ops::index(&of, at).cloned()),
                    _ => Val::Unknown,
                }
            }
            Node::Arith(op, a, b) => {
                let (lhs, rhs) = (self.value(*a), self.value(*b));
                match (lhs.known(), rhs.known()) {
                    (Some(lhs), Some(rhs)) if self.spend(id, read(lhs) + read(rhs)) => {
                        self.checked(id, ops::arith(*op, lhs, rhs))
                    }
                    _ => Val::Unknown,
                }
            }
            Node::Neg(a) => match self.value(*a).known() {
                Some(value) => self.checked(id, ops::negate(value)),
                None => Val::Unknown,
            },
            Node::Coalesce(a, b) => match self.value(*a) {
                value if value.known().is_some_and(Value::is_null) => self.value(*b),
                value => value,
            },
            Node::Cast(a, ty) => match self.value(*a).known() {
                Some(value) => self.checked(id, cast(value, ty)),
                None => Val::Unknown,
            },
            Node::If(c, a, b) => self.either(*c, *a, *b),
            Node::Quantifier {
                kind: Quantifier::Count,
                local,
                over,
                body,
            } => {
                // An element that is not known decides it.
                match self.count_elements(id, (*local, *over, *body), |(least, most)| least == most)
                {
                    Some((least, most)) if least == most => Val::Own(Value::int(least)),
                    _ => Val::Unknown,
                }
            }
            Node::Quantifier {
                kind: Quantifier::Map,
                local,
                over,
                body,
            } => self.map_elements(id, (*local, *over, *body)),
            Node::Replace(text, regex, with) => self.replaced(id, *text, *regex, *with),
            Node::Call(function, args) => match self.all(args) {
                Some(args) if !self.spend(id, work_of_call(*function, &args)) => Val::Unknown,
                Some(args) => self.checked(id, builtin::call(*function, &args)),
                None => Val::Unknown,
            },
            Node::Capture(text, regex, group) => self.captured(id, *text, *regex, *group),
            Node::List(items) => self
                .all(items)
                .map_or(Val::Unknown, |items| Val::Own(Value::list(items))),
            Node::Set(items) => self.all(items).map_or(Val::Unknown, |items| {
                Val::Own(Value::Set(items.into_iter().collect()))
            }),
            Node::Record(members) => self.record(id, members),
            Node::Register(register) => Val::own(self.register(*register)),
            Node::FieldIs(..)
            | Node::InConst(..)
            | Node::Not(_)
            | Node::And(..)
            | Node::Or(..)
            | Node::Implies(..)
            | Node::Iff(..)
            | Node::Eq(..)
            | Node::Order(..)
            | Node::In(..)
            | Node::Contains(..)
            | Node::StartsWith(..)
            | Node::EndsWith(..)
            | Node::Matches(..)
            | Node::Quantifier { .. } => Val::of_truth(self.find_truth(id)),
        }
    }

    /// Returns a member of a text that holds JSON, or else of the value that was read of it.
    fn json_member(&mut self, id: NodeId, (text, of): (NodeId, NodeId), name: &str) -> Val<'a> {
        let found = match self.value(text).known() {
            Some(Value::String(text)) => json::member(text, name, &mut self.eval_cache.json),
            _ => None,
        };
        match found {
            Some(value) => Val::Own(value),
            None => self.member(id, of, name),
        }
    }

    /// Returns one of two values; if the condition is unknown, the value that both are.
    fn either(&mut self, condition: NodeId, then: NodeId, otherwise: NodeId) -> Val<'a> {
        match self.truth(condition) {
            Truth::True => self.value(then),
            Truth::False => self.value(otherwise),
            Truth::Unknown => {
                let (one, other) = (self.value(then), self.value(otherwise));
                match (one.known(), other.known()) {
                    (Some(known), Some(same)) if known == same => one,
                    _ => Val::Unknown,
                }
            }
        }
    }

    /// Returns the values of an expression for the elements of a list; null for null.
    fn map_elements(&mut self, id: NodeId, (local, over, body): (u32, NodeId, NodeId)) -> Val<'a> {
        if self.value(over).known() == Some(&Value::Null) {
            return Val::Own(Value::Null);
        }
        let (mut made, mut known) = (Vec::new(), true);
        let complete = self.each_element(id, over, |eval, item| {
            let outer = eval.set_local(local, item);
            match eval.value(body).into_cell() {
                Cell::Known(value) => made.push(value),
                Cell::Unknown => known = false,
            }
            eval.set_local(local, outer);
            known
        });
        match complete && known {
            true => Val::Own(Value::list(made)),
            false => Val::Unknown,
        }
    }

    /// Returns a text with another one in place of what a pattern matches; null if either is null.
    fn replaced(&mut self, id: NodeId, text: NodeId, regex: u32, with: NodeId) -> Val<'a> {
        let (text, with) = (self.value(text), self.value(with));
        match (text.known(), with.known()) {
            (Some(Value::String(text)), Some(Value::String(_)))
                if !self.spend(id, text.len() as u64 / READ) =>
            {
                Val::Unknown
            }
            (Some(Value::String(text)), Some(Value::String(with))) => {
                let pattern = &self.code.patterns[regex as usize];
                match pattern.replace(text, with, texts::MOST_BYTES) {
                    Some(made) => {
                        let made = made.map(Value::string);
                        self.checked(id, made.ok_or(Fault::TooLong("replace")))
                    }
                    None => Val::Unknown,
                }
            }
            (Some(Value::Null), Some(_)) | (Some(_), Some(Value::Null)) => Val::Own(Value::Null),
            (Some(Value::String(_)), Some(other)) | (Some(other), Some(_)) => {
                self.checked(id, Err(Fault::WrongType("replace", ops::kind_of(other))))
            }
            _ => Val::Unknown,
        }
    }

    /// Returns what a group of a pattern matches in a text; null if it matches nothing, or the text is null.
    fn captured(&mut self, id: NodeId, text: NodeId, regex: u32, group: usize) -> Val<'a> {
        let text = self.value(text);
        match text.known() {
            Some(Value::Null) => Val::Own(Value::Null),
            Some(Value::String(text)) if !self.spend(id, text.len() as u64 / READ) => Val::Unknown,
            Some(Value::String(text)) => {
                match self.code.patterns[regex as usize].group(text, group) {
                    Some(found) => Val::Own(found.map_or(Value::Null, Value::string)),
                    None => Val::Unknown,
                }
            }
            Some(other) => self.checked(id, Err(Fault::WrongType("capture", ops::kind_of(other)))),
            None => Val::Unknown,
        }
    }

    fn record(&mut self, id: NodeId, members: &[(SmolStr, NodeId)]) -> Val<'a> {
        let mut values = Vec::with_capacity(members.len());
        for (name, node) in members {
            match self.value(*node).into_cell() {
                Cell::Known(value) => values.push((name.clone(), value)),
                Cell::Unknown => return Val::Unknown,
            }
        }
        let object = Object::new(values).map(Value::Object);
        self.checked(
            id,
            object.map_err(|key| Fault::DuplicateKey(key.to_string())),
        )
    }

    fn checked(&mut self, id: NodeId, value: Result<Value, Fault>) -> Val<'a> {
        match value {
            Ok(value) => Val::Own(value),
            Err(fault) => {
                self.fault(id, fault);
                Val::Unknown
            }
        }
    }

    fn checked_ref(&mut self, id: NodeId, value: Result<&'a Value, Fault>) -> Val<'a> {
        match value {
            Ok(value) => Val::Ref(value),
            Err(fault) => {
                self.fault(id, fault);
                Val::Unknown
            }
        }
    }

    /// Returns the values of all operands, or `None` if one is unknown.
    fn all(&mut self, nodes: &[NodeId]) -> Option<Vec<Value>> {
        let mut values = Vec::with_capacity(nodes.len());
        for node in nodes {
            match self.value(*node).into_cell() {
                Cell::Known(value) => values.push(value),
                Cell::Unknown => return None,
            }
        }
        Some(values)
    }

    fn track(&mut self, track: u32, args: &[NodeId]) -> Val<'a> {
        let tracks = self.tracks;
        // One argument is the common case, and needs no list.
        let mut single = [None];
        let mut several = Vec::new();
        for arg in args {
            let value = match self.value(*arg) {
                Val::Ref(value) => Some(value.clone()),
                Val::Own(value) => Some(value),
                Val::Fresh => None,
                Val::Unknown => return Val::Unknown,
            };
            if args.len() == 1 {
                single = [value];
            } else {
                several.push(value);
            }
        }
        let key = if args.len() == 1 {
            &single[..]
        } else {
            &several[..]
        };
        match tracks.get(track, key) {
            Held::One(value) => Val::Ref(value),
            Held::Unknown => Val::Unknown,
            Held::Many(values) => {
                if !self.eval_cache.choosing {
                    return Val::Unknown;
                }
                let choices = &mut self.eval_cache.choices;
                let known = choices
                    .iter()
                    .find(|choice| choice.track == track && *choice.key == *key);
                let at = known.map(|choice| choice.at).unwrap_or_else(|| {
                    let choice = Choice {
                        track,
                        key: key.into(),
                        values: values.clone(),
                        at: 0,
                    };
                    choices.push(choice);
                    0
                });
                values.get(at).map_or(Val::Unknown, Val::Ref)
            }
        }
    }

    /// Whether the class of the event implies that a count does not change.
    pub(in crate::eval) fn leaves_count(&mut self, kind: &RegisterKind) -> bool {
        let code = self.code;
        let mut fails = |node: NodeId| self.eval_cache.by_class(code, node) == Some(Truth::False);
        match kind {
            RegisterKind::Count {
                of,
                window: None,
                since,
            } => fails(*of) && since.is_none_or(fails),
            _ => false,
        }
    }

    /// Returns the values of the operands of a register at this step.
    pub(in crate::eval) fn operands(&mut self, register: u32, outside: bool) -> Operands {
        let code = self.code;
        let mut truth = |node: NodeId| {
            if outside {
                return self.letter(node);
            }
            let known = self.eval_cache.by_class(code, node);
            known.unwrap_or_else(|| self.truth(node))
        };
        match &code.registers[register as usize].kind {
            RegisterKind::Before(of, _) => {
                let cell = if outside {
                    self.cell(*of)
                } else {
                    Cell::Unknown
                };
                Operands::Value(match cell {
                    Cell::Known(value) => Some(value),
                    Cell::Unknown => None,
                })
            }
            RegisterKind::Count { of, since, .. } => {
                let of = truth(*of);
                Operands::Truths(of, since.map_or(Truth::False, truth))
            }
            RegisterKind::Past(_, _, a, b) => {
                let a = truth(*a);
                Operands::Truths(a, b.map_or(Truth::False, truth))
            }
        }
    }

    fn register(&mut self, register: u32) -> Cell {
        let Some(state) = self.register_state(register) else {
            return Cell::Unknown;
        };
        let operands = self.operands(register, false);
        let kind = &self.code.registers[register as usize].kind;
        state.value(kind, operands, &self.clock)
    }

    /// Returns a register of the trace, the instance or the key, as it was before this step.
    pub(super) fn register_state(&self, register: u32) -> Option<&'a Register> {
        match self.code.registers[register as usize].slot {
            Some(slot) => self.registers.get(slot as usize),
            None => {
                let ids = self.frame.ids.iter();
                let at = ids.copied().position(|id| id == register)?;
                self.frame.registers.get(at)
            }
        }
    }
}

/// Returns the work of a predefined function: all but `len` look at each element of a list.
fn work_of_call(function: Builtin, args: &[Value]) -> u64 {
    let is_counted = |arg: &&Value| function != Builtin::Len || !matches!(arg, Value::List(_));
    args.iter().filter(is_counted).map(read).sum()
}
