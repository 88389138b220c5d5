//! The value of an expression at a step.
//!
//! One [`Eval`] looks at one step in one world, for one instance or key. Values are borrowed from the data wherever
//! they are part of it. Unknown operands are decided here; what operators do with known ones is `ops`.

use super::builtin;
use super::cast::cast;
use super::clock::Clock;
use super::code::{Code, Node, NodeId, Reads, RegisterKind};
use super::ops::{self, Fault};
use super::register::{Held, Operands, Register};
use super::scratch::Scratch;
use super::track::Tracks;
use crate::hir::{Builtin, Quantifier};
use crate::value::{Cell, Object, Truth, Value};

/// The value of a node.
#[derive(Clone, Debug)]
pub(super) enum Val<'a> {
    Ref(&'a Value),
    Own(Value),
    Unknown,
    /// Any value that has not been seen: different from every known value.
    Fresh,
}

impl<'a> Val<'a> {
    pub(super) fn known(&self) -> Option<&Value> {
        match self {
            Val::Ref(value) => Some(value),
            Val::Own(value) => Some(value),
            Val::Unknown | Val::Fresh => None,
        }
    }

    pub(super) fn into_cell(self) -> Cell {
        match self {
            Val::Ref(value) => Cell::Known(value.clone()),
            Val::Own(value) => Cell::Known(value),
            Val::Unknown | Val::Fresh => Cell::Unknown,
        }
    }

    fn of_cell(cell: &'a Cell) -> Val<'a> {
        match cell {
            Cell::Known(value) => Val::Ref(value),
            Cell::Unknown => Val::Unknown,
        }
    }

    fn of_truth(truth: Truth) -> Val<'a> {
        truth
            .known()
            .map_or(Val::Unknown, |value| Val::Own(Value::Bool(value)))
    }
}

/// The registers of an instance or of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    pub(super) ids: &'a [u32],
    pub(super) registers: &'a [Register],
}

impl Frame<'_> {
    pub(super) const NONE: Frame<'static> = Frame {
        ids: &[],
        registers: &[],
    };
}

#[derive(Debug)]
pub(super) struct Eval<'a> {
    pub(super) code: &'a Code,
    pub(super) cells: &'a [Cell],
    pub(super) meta: &'a [Cell],
    pub(super) tracks: &'a Tracks,
    /// Registers of the trace, by slot, as they were before this step.
    pub(super) registers: &'a [Register],
    pub(super) clock: Clock,
    pub(super) vars: &'a [Option<Value>],
    pub(super) params: &'a [Option<Value>],
    pub(super) frame: Frame<'a>,
    pub(super) scratch: &'a mut Scratch,
}

impl<'a> Eval<'a> {
    /// The same step for an instance.
    pub(super) fn instance<'b>(
        &'b mut self,
        vars: &'b [Option<Value>],
        frame: Frame<'b>,
    ) -> Eval<'b> {
        Eval {
            code: self.code,
            cells: self.cells,
            meta: self.meta,
            tracks: self.tracks,
            registers: self.registers,
            clock: self.clock,
            vars,
            params: self.params,
            frame,
            scratch: self.scratch,
        }
    }

    /// The same step for a key of a track.
    pub(super) fn key<'b>(&'b mut self, params: &'b [Option<Value>], frame: Frame<'b>) -> Eval<'b> {
        Eval {
            params,
            frame,
            ..self.instance(&[], Frame::NONE)
        }
    }

    /// A Boolean expression that something outside of expressions asks for.
    #[inline]
    pub(super) fn letter(&mut self, id: NodeId) -> Truth {
        if self.tracks.multi && self.code.info(id).reads.has(Reads::TRACK) {
            let mut found: Option<Truth> = None;
            let complete = self.each_choice(|eval| {
                let truth = eval.truth(id);
                let agreed = *found.get_or_insert(truth) == truth;
                if !agreed {
                    found = Some(Truth::Unknown);
                }
                found != Some(Truth::Unknown)
            });
            return if complete {
                found.unwrap_or(Truth::Unknown)
            } else {
                Truth::Unknown
            };
        }
        self.truth(id)
    }

    /// The value of an expression that something outside of expressions asks for.
    pub(super) fn cell(&mut self, id: NodeId) -> Cell {
        if self.tracks.multi && self.code.info(id).reads.has(Reads::TRACK) {
            let mut found: Option<Cell> = None;
            let complete = self.each_choice(|eval| {
                let cell = eval.value(id).into_cell();
                let agreed = *found.get_or_insert_with(|| cell.clone()) == cell;
                if !agreed {
                    found = Some(Cell::Unknown);
                }
                found != Some(Cell::Unknown)
            });
            return if complete {
                found.unwrap_or(Cell::Unknown)
            } else {
                Cell::Unknown
            };
        }
        self.value(id).into_cell()
    }

    /// Evaluates once for every combination of values that the tracks which are met may have, until `look` says that
    /// it has seen enough. Says whether no combination was left out for a limit.
    pub(super) fn each_choice(&mut self, mut look: impl FnMut(&mut Eval<'a>) -> bool) -> bool {
        let before = (
            self.scratch.choosing,
            std::mem::take(&mut self.scratch.choices),
        );
        self.scratch.choosing = true;
        let mut complete = false;
        for _ in 0..self.scratch.n_choices_most {
            if !look(self) {
                complete = true;
                break;
            }
            // The last choice moves on; what depended on it is chosen anew.
            while let Some(last) = self.scratch.choices.last_mut() {
                last.at += 1;
                if last.at < last.values.len() {
                    break;
                }
                self.scratch.choices.pop();
            }
            if self.scratch.choices.is_empty() {
                complete = true;
                break;
            }
        }
        (self.scratch.choosing, self.scratch.choices) = before;
        complete
    }

    fn keeps(&self, id: NodeId) -> bool {
        let info = self.code.info(id);
        info.memo && !(self.tracks.multi && info.reads.has(Reads::TRACK))
    }

    /// The truth of a Boolean expression.
    #[inline]
    pub(super) fn truth(&mut self, id: NodeId) -> Truth {
        if !self.keeps(id) {
            return self.find_truth(id);
        }
        if let Some(truth) = self.scratch.truth(id) {
            return truth;
        }
        let truth = self.find_truth(id);
        self.scratch.keep_truth(id, truth);
        truth
    }

    fn find_truth(&mut self, id: NodeId) -> Truth {
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
                (Val::Unknown, _) | (_, Val::Unknown) => Truth::Unknown,
                (lhs, rhs) => match (lhs.known(), rhs.known()) {
                    (Some(lhs), Some(rhs)) => Truth::from(lhs == rhs),
                    _ => Truth::False,
                },
            },
            Node::Order(op, a, b) => self.test(id, *a, *b, |lhs, rhs| ops::compare(*op, lhs, rhs)),
            Node::Contains(a, b) => self.test(id, *a, *b, ops::contains),
            Node::StartsWith(a, b) => self.test(id, *a, *b, |lhs, rhs| {
                ops::text_test("starts_with", lhs, rhs, |whole, part| {
                    whole.starts_with(part)
                })
            }),
            Node::EndsWith(a, b) => self.test(id, *a, *b, |lhs, rhs| {
                ops::text_test("ends_with", lhs, rhs, |whole, part| whole.ends_with(part))
            }),
            Node::Matches(a, regex) => match self.value(*a).known() {
                Some(Value::String(text)) => {
                    Truth::from(code.regexes[*regex as usize].is_match(text))
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
                    let outer = std::mem::replace(&mut eval.scratch.locals[*local as usize], item);
                    let truth = eval.truth(*body);
                    eval.scratch.locals[*local as usize] = outer;
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

    fn fault(&mut self, id: NodeId, fault: Fault) {
        self.scratch.fault(id, fault);
    }

    /// A test of two known values.
    fn test(
        &mut self,
        id: NodeId,
        a: NodeId,
        b: NodeId,
        test: impl FnOnce(&Value, &Value) -> Result<bool, Fault>,
    ) -> Truth {
        let (lhs, rhs) = (self.value(a), self.value(b));
        // A value that was never seen is part of nothing that was.
        if matches!(rhs, Val::Fresh) && lhs.known().is_some() {
            return Truth::False;
        }
        match (lhs.known(), rhs.known()) {
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

    /// Looks at each element of a list or set until `look` has seen enough; false where there is no list.
    fn each_element(
        &mut self,
        id: NodeId,
        over: NodeId,
        mut look: impl FnMut(&mut Self, Cell) -> bool,
    ) -> bool {
        let code = self.code;
        // The elements of a list that is written out are known one by one.
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
            if !look(self, Cell::Known(element.clone())) {
                break;
            }
        }
        true
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, id: NodeId) -> Val<'a> {
        if !self.keeps(id) {
            return self.find_value(id);
        }
        if let Some(cell) = self.scratch.value(id) {
            return match cell.clone() {
                Cell::Known(value) => Val::Own(value),
                Cell::Unknown => Val::Unknown,
            };
        }
        let value = self.find_value(id);
        self.scratch.keep_value(id, value.clone().into_cell());
        value
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
            Node::Local(local) => match self.scratch.locals[*local as usize].clone() {
                Cell::Known(value) => Val::Own(value),
                Cell::Unknown => Val::Unknown,
            },
            Node::Track(track, args) => self.track(*track, args),
            Node::Member(of, name) => match self.value(*of) {
                Val::Ref(of) => self.checked_ref(id, ops::member(of, name)),
                Val::Own(of) => self.checked(id, ops::member(&of, name).cloned()),
                Val::Unknown | Val::Fresh => Val::Unknown,
            },
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
                    (Some(lhs), Some(rhs)) => self.checked(id, ops::arith(*op, lhs, rhs)),
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
            Node::If(c, a, b) => match self.truth(*c) {
                Truth::True => self.value(*a),
                Truth::False => self.value(*b),
                Truth::Unknown => {
                    let (lhs, rhs) = (self.value(*a), self.value(*b));
                    match (lhs.known(), rhs.known()) {
                        (Some(one), Some(other)) if one == other => lhs,
                        _ => Val::Unknown,
                    }
                }
            },
            Node::Quantifier {
                kind: Quantifier::Count,
                local,
                over,
                body,
            } => {
                let (mut count, mut known) = (0, true);
                let complete = self.each_element(id, *over, |eval, item| {
                    let outer = std::mem::replace(&mut eval.scratch.locals[*local as usize], item);
                    match eval.truth(*body) {
                        Truth::True => count += 1,
                        Truth::False => {}
                        Truth::Unknown => known = false,
                    }
                    eval.scratch.locals[*local as usize] = outer;
                    known
                });
                if complete && known {
                    Val::Own(Value::int(count))
                } else {
                    Val::Unknown
                }
            }
            Node::Call(function, args) => match self.all(args) {
                Some(args) => self.checked(id, builtin::call(*function, &args)),
                None => Val::Unknown,
            },
            Node::Capture(text, regex, group) => {
                let text = self.value(*text);
                match text.known() {
                    Some(Value::Null) => Val::Own(Value::Null),
                    Some(Value::String(text)) => {
                        let found = code.regexes[*regex as usize]
                            .captures(text)
                            .and_then(|found| found.get(*group));
                        Val::Own(found.map_or(Value::Null, |found| Value::string(found.as_str())))
                    }
                    Some(other) => {
                        self.checked(id, Err(Fault::WrongType("capture", ops::kind_of(other))))
                    }
                    None => Val::Unknown,
                }
            }
            Node::List(items) => self
                .all(items)
                .map_or(Val::Unknown, |items| Val::Own(Value::list(items))),
            Node::Set(items) => self.all(items).map_or(Val::Unknown, |items| {
                Val::Own(Value::Set(items.into_iter().collect()))
            }),
            Node::Record(members) => {
                let mut values = Vec::with_capacity(members.len());
                for (name, node) in members {
                    match self.value(*node).into_cell() {
                        Cell::Known(value) => values.push((name.clone(), value)),
                        Cell::Unknown => return Val::Unknown,
                    }
                }
                let object =
                    Object::new(values).map(|object| Value::Object(std::sync::Arc::new(object)));
                self.checked(
                    id,
                    object.map_err(|key| Fault::DuplicateKey(key.to_string())),
                )
            }
            Node::Register(register) => match self.register(*register) {
                Cell::Known(value) => Val::Own(value),
                Cell::Unknown => Val::Unknown,
            },
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

    /// The values of all operands, where all are known.
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
        let mut key: Vec<Option<Value>> = Vec::new();
        for arg in args {
            key.push(match self.value(*arg) {
                Val::Ref(value) => Some(value.clone()),
                Val::Own(value) => Some(value),
                Val::Fresh => None,
                Val::Unknown => return Val::Unknown,
            });
        }
        match tracks.get(track, &key) {
            Held::One(value) => Val::Ref(value),
            Held::Unknown => Val::Unknown,
            Held::Many(values) => {
                if !self.scratch.choosing {
                    return Val::Unknown;
                }
                let choices = &mut self.scratch.choices;
                let known = choices
                    .iter()
                    .find(|choice| choice.track == track && *choice.key == *key);
                let at = known.map(|choice| choice.at).unwrap_or_else(|| {
                    let choice = super::scratch::Choice {
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

    /// What the operands of a register are at this step.
    pub(super) fn operands(&mut self, register: u32, outside: bool) -> Operands {
        let code = self.code;
        let mut truth = |node: NodeId| {
            if outside {
                self.letter(node)
            } else {
                self.truth(node)
            }
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
        let code = self.code;
        let of = &code.registers[register as usize];
        let (registers, frame) = (self.registers, self.frame);
        let state = match of.slot {
            Some(slot) => registers.get(slot as usize),
            None => frame
                .ids
                .iter()
                .position(|id| *id == register)
                .and_then(|at| frame.registers.get(at)),
        };
        match state {
            Some(state) => {
                let operands = self.operands(register, false);
                state.value(&of.kind, operands, &self.clock)
            }
            None => Cell::Unknown,
        }
    }

    /// All values that an expression may have, where some operand is not known and its type is finite.
    pub(super) fn possible(&mut self, id: NodeId, into: &mut Vec<Value>, ty: &[Value]) {
        let code = self.code;
        if let Cell::Known(value) = self.value(id).into_cell() {
            into.push(value);
            return;
        }
        match code.node(id) {
            Node::If(c, a, b) => {
                let truth = self.truth(*c);
                if truth != Truth::False {
                    self.possible(*a, into, ty);
                }
                if truth != Truth::True {
                    self.possible(*b, into, ty);
                }
            }
            Node::Coalesce(a, b) => {
                let mut lhs = Vec::new();
                self.possible(*a, &mut lhs, code.info(*a).finite.as_deref().unwrap_or(ty));
                if lhs.iter().any(Value::is_null) {
                    self.possible(*b, into, ty);
                }
                into.extend(lhs.into_iter().filter(|value| !value.is_null()));
            }
            Node::Call(function @ (Builtin::Min | Builtin::Max), args) => {
                let mut found: Option<Vec<Value>> = None;
                for arg in args {
                    let mut values = Vec::new();
                    self.possible(
                        *arg,
                        &mut values,
                        code.info(*arg).finite.as_deref().unwrap_or(ty),
                    );
                    values.sort_unstable();
                    values.dedup();
                    found = Some(match found {
                        None => values,
                        Some(before) => {
                            let pairs = before
                                .iter()
                                .flat_map(|lhs| values.iter().map(move |rhs| [lhs, rhs]));
                            let of = pairs.map(|[lhs, rhs]| {
                                builtin::call(*function, &[lhs.clone(), rhs.clone()])
                            });
                            let mut joined: Vec<Value> = of.flatten().collect();
                            joined.sort_unstable();
                            joined.dedup();
                            joined
                        }
                    });
                }
                into.extend(found.unwrap_or_default());
            }
            _ => into.extend(
                code.info(id)
                    .finite
                    .as_deref()
                    .unwrap_or(ty)
                    .iter()
                    .cloned(),
            ),
        }
    }
}
