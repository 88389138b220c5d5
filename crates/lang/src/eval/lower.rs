//! From typed expressions to [`Code`].

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::code::{Code, ConstSet, Info, Node, NodeId, Reads, RegisterCode, RegisterKind};
use super::limits::LimitError;
use crate::hir::{Builtin, Compare, Expr, Spec};
use crate::ids::{ExprId, RegexId};
use crate::types::Type;
use crate::value::{EnumValue, Value};

pub(super) struct Lower<'a> {
    spec: &'a Spec,
    pub(super) code: Code,
    /// For each expression, whether it reads a track; reads inside updates do not count.
    reads_track: Vec<bool>,
    known: FxHashMap<(ExprId, bool), NodeId>,
    uses: Vec<u32>,
    /// The initial values of tracks without parameters, for `before`.
    initial: Vec<Option<Value>>,
    regexes: FxHashMap<RegexId, u32>,
}

/// Returns all values of a finite type, in order.
pub(super) fn values_of(ty: &Type) -> Option<Arc<[Value]>> {
    // Larger sets of values cost more than they are worth.
    const MOST: usize = 64;
    let mut values = if ty.may_be_null() {
        vec![Value::Null]
    } else {
        Vec::new()
    };
    match ty.non_null() {
        Type::Bool => values.extend([Value::Bool(false), Value::Bool(true)]),
        Type::Enum(of) if of.values.len() <= MOST => {
            let value = |index| {
                Value::Enum(EnumValue {
                    of: of.number,
                    index: u16::try_from(index).unwrap_or(u16::MAX),
                })
            };
            values.extend((0..of.values.len()).map(value));
        }
        _ => return None,
    }
    Some(values.into())
}

impl<'a> Lower<'a> {
    pub(super) fn new(spec: &'a Spec, initial: Vec<Option<Value>>) -> Lower<'a> {
        let mut reads_track: Vec<bool> = Vec::with_capacity(spec.exprs.len());
        for id in (0..spec.exprs.len()).map(ExprId::new) {
            let own = matches!(spec.exprs.get(id), Expr::Track(..));
            reads_track.push(
                own || spec
                    .exprs
                    .operands(id)
                    .iter()
                    .any(|operand| reads_track[operand.index()]),
            );
        }
        let code = Code {
            enums: spec.enums.clone(),
            ..Code::default()
        };
        Lower {
            spec,
            code,
            reads_track,
            known: FxHashMap::default(),
            uses: Vec::new(),
            initial,
            regexes: FxHashMap::default(),
        }
    }

    /// Returns the node of an expression that is evaluated as a whole; `early` is true within updates of tracks.
    pub(super) fn root(&mut self, expr: ExprId, early: bool) -> Result<NodeId, LimitError> {
        let node = self.lower(expr, early)?;
        self.uses[node.index()] += 1;
        Ok(node)
    }

    /// Returns the table. All roots must have been lowered.
    pub(super) fn finish(mut self) -> Code {
        self.project_json();
        for (index, info) in self.code.info.iter_mut().enumerate() {
            let cheap = matches!(
                self.code.nodes[index],
                Node::Const(_)
                    | Node::Unknown
                    | Node::Field(_)
                    | Node::Meta(_)
                    | Node::Param(_)
                    | Node::Var(_)
                    | Node::Local(_)
                    | Node::Member(..)
                    | Node::Not(_)
                    | Node::FieldIs(..)
            ) || matches!(&self.code.nodes[index], Node::Track(_, args) if args.is_empty());
            let steady = !info.reads.has(
                Reads::VAR
                    .with(Reads::PARAM)
                    .with(Reads::LOCAL)
                    .with(Reads::FRAME),
            );
            info.memo = steady && !cheap && self.uses[index] > 1;
        }
        self.code
    }

    /// Replaces reads of `json(text)` by reads of single members if only a few members are read, so that no tree is
    /// built.
    fn project_json(&mut self) {
        const MOST: u32 = 3;
        let mut members: FxHashMap<NodeId, u32> = FxHashMap::default();
        for node in &self.code.nodes {
            if let Node::Member(of, _) = node {
                *members.entry(*of).or_default() += 1;
            }
        }
        for index in 0..self.code.nodes.len() {
            if let Node::Member(of, name) = &self.code.nodes[index]
                && let Node::Call(Builtin::Json, args) = self.code.node(*of)
                && let [text] = **args
                && self.uses[of.index()] <= MOST
                && members.get(of) == Some(&self.uses[of.index()])
            {
                self.code.nodes[index] = Node::JsonMember(text, *of, name.clone());
            }
        }
    }

    fn lower(&mut self, expr: ExprId, early: bool) -> Result<NodeId, LimitError> {
        let early = early && self.reads_track[expr.index()];
        if let Some(node) = self.known.get(&(expr, early)) {
            return Ok(*node);
        }
        let node = self.make(expr, early)?;
        let id = self.push(node, expr);
        self.known.insert((expr, early), id);
        Ok(id)
    }

    fn push(&mut self, node: Node, expr: ExprId) -> NodeId {
        let id = NodeId(u32::try_from(self.code.nodes.len()).unwrap_or(u32::MAX));
        self.code.nodes.push(node);
        let finite = values_of(self.spec.exprs.ty(expr));
        self.code.info.push(Info {
            reads: Reads::default(),
            memo: false,
            finite,
            expr,
        });
        self.uses.push(0);
        let operands = self.code.operands(id);
        let mut reads = match &self.code.nodes[id.index()] {
            Node::Var(_) => Reads::VAR,
            Node::Param(_) => Reads::PARAM,
            Node::Local(_) => Reads::LOCAL,
            Node::Track(..) => Reads::TRACK,
            Node::Register(register) if self.code.registers[*register as usize].slot.is_none() => {
                Reads::FRAME
            }
            _ => Reads::default(),
        };
        let keyed = Reads::VAR.with(Reads::PARAM);
        if operands.iter().any(|of| self.uses_value(id, *of)) {
            reads = reads.with(Reads::KEYED);
        }
        for operand in operands {
            self.uses[operand.index()] += 1;
            let below = self.code.info(operand).reads;
            if reads.has(Reads::TRACK)
                && below.has(keyed)
                && matches!(self.code.nodes[id.index()], Node::Track(..))
            {
                reads = reads.with(Reads::KEYED);
            }
            reads = reads.with(below);
        }
        // A bound variable is free only below its quantifier. `locals_below` handles nested quantifiers.
        if matches!(self.code.nodes[id.index()], Node::Quantifier { .. }) && !self.locals_below(id)
        {
            reads = Reads(reads.0 & !Reads::LOCAL.0);
        }
        self.code.info[id.index()].reads = reads;
        id
    }

    /// Whether a node uses the value of a variable (`operand`) for more than a comparison with a term.
    fn uses_value(&self, id: NodeId, operand: NodeId) -> bool {
        let asks = match self.code.node(id) {
            Node::Eq(..) | Node::In(..) | Node::InConst(..) | Node::Track(..) => true,
            Node::Contains(of, ..) => {
                let of = self.code.info(*of).expr;
                !matches!(self.spec.exprs.ty(of).non_null(), Type::String)
            }
            _ => false,
        };
        matches!(self.code.node(operand), Node::Var(_)) && !asks
    }

    /// Whether a quantifier reads a variable that an outer quantifier binds.
    fn locals_below(&self, id: NodeId) -> bool {
        let mut bound = Vec::new();
        let mut read = Vec::new();
        let mut todo = vec![id];
        while let Some(node) = todo.pop() {
            match self.code.node(node) {
                Node::Quantifier { local, .. } => bound.push(*local),
                Node::Local(local) => read.push(*local),
                _ => {}
            }
            if self.code.info(node).reads.has(Reads::LOCAL) || node == id {
                todo.extend(self.code.operands(node));
            }
        }
        read.iter().any(|local| !bound.contains(local))
    }

    fn all(&mut self, exprs: &[ExprId], early: bool) -> Result<Box<[NodeId]>, LimitError> {
        exprs.iter().map(|expr| self.lower(*expr, early)).collect()
    }

    fn make(&mut self, expr: ExprId, early: bool) -> Result<Node, LimitError> {
        let spec = self.spec;
        let position = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        Ok(match spec.exprs.get(expr) {
            Expr::Const(value) => Node::Const(value.clone()),
            Expr::Unknown | Expr::Todo(_) => Node::Unknown,
            // These occur only in expressions over states of models and systems; the checker rejects them in
            // expressions over events.
            Expr::State(_)
            | Expr::Next(_)
            | Expr::Label(_)
            | Expr::Violated(_)
            | Expr::Branching(_) => Node::Unknown,
            Expr::Field(field) => Node::Field(position(*field)),
            Expr::Meta(field) => Node::Meta(position(*field)),
            Expr::Track(track, args) => {
                Node::Track(position(track.index()), self.all(args, early)?)
            }
            Expr::Param(param) => Node::Param(position(*param)),
            Expr::Var(var) => Node::Var(position(*var)),
            Expr::Local(local) => {
                self.code.n_locals = self.code.n_locals.max(local.index() + 1);
                Node::Local(position(local.index()))
            }
            Expr::Member(of, name) => Node::Member(self.lower(*of, early)?, name.clone()),
            Expr::Index(of, at) => Node::Index(self.lower(*of, early)?, self.lower(*at, early)?),
            Expr::Not(a) => Node::Not(self.lower(*a, early)?),
            Expr::And(a, b) => Node::And(self.lower(*a, early)?, self.lower(*b, early)?),
            Expr::Or(a, b) => Node::Or(self.lower(*a, early)?, self.lower(*b, early)?),
            Expr::Implies(a, b) => Node::Implies(self.lower(*a, early)?, self.lower(*b, early)?),
            Expr::Iff(a, b) => Node::Iff(self.lower(*a, early)?, self.lower(*b, early)?),
            Expr::Compare(Compare::Eq, a, b) => {
                let (a, b) = (self.lower(*a, early)?, self.lower(*b, early)?);
                match (self.code.node(a), self.code.node(b)) {
                    (Node::Field(field), Node::Const(value))
                    | (Node::Const(value), Node::Field(field)) => {
                        Node::FieldIs(*field, value.clone())
                    }
                    _ => Node::Eq(a, b),
                }
            }
            Expr::Compare(compare, a, b) => {
                Node::Order(*compare, self.lower(*a, early)?, self.lower(*b, early)?)
            }
            Expr::In(a, b) => {
                let (a, b) = (self.lower(*a, early)?, self.lower(*b, early)?);
                match self.code.node(b) {
                    Node::Const(Value::List(items)) => {
                        Node::InConst(a, ConstSet::new(items.to_vec()))
                    }
                    Node::Const(Value::Set(items)) => {
                        Node::InConst(a, ConstSet::new(items.iter().cloned().collect()))
                    }
                    _ => Node::In(a, b),
                }
            }
            Expr::Contains(a, b) => {
                let exprs = &self.spec.exprs;
                // A variable has no type, and is compared with elements.
                let is_identity = matches!(exprs.get(*b), Expr::Var(_) | Expr::Param(_));
                let is_any = *exprs.ty(*a).non_null() == Type::Json && !is_identity;
                Node::Contains(self.lower(*a, early)?, self.lower(*b, early)?, is_any)
            }
            Expr::StartsWith(a, b) => {
                Node::StartsWith(self.lower(*a, early)?, self.lower(*b, early)?)
            }
            Expr::EndsWith(a, b) => Node::EndsWith(self.lower(*a, early)?, self.lower(*b, early)?),
            Expr::Matches(a, regex) => Node::Matches(self.lower(*a, early)?, self.regex(*regex)),
            Expr::Arith(op, a, b) => {
                Node::Arith(*op, self.lower(*a, early)?, self.lower(*b, early)?)
            }
            Expr::Neg(a) => Node::Neg(self.lower(*a, early)?),
            Expr::Coalesce(a, b) => Node::Coalesce(self.lower(*a, early)?, self.lower(*b, early)?),
            Expr::Cast(a) => Node::Cast(self.lower(*a, early)?, spec.exprs.ty(expr).clone()),
            Expr::If(c, a, b) => Node::If(
                self.lower(*c, early)?,
                self.lower(*a, early)?,
                self.lower(*b, early)?,
            ),
            Expr::Quantifier {
                kind,
                local,
                over,
                body,
            } => {
                self.code.n_locals = self.code.n_locals.max(local.index() + 1);
                let (over, body) = (self.lower(*over, early)?, self.lower(*body, early)?);
                Node::Quantifier {
                    kind: *kind,
                    local: position(local.index()),
                    over,
                    body,
                }
            }
            Expr::Call(builtin, args) => Node::Call(*builtin, self.all(args, early)?),
            Expr::Capture(a, regex, group) => {
                Node::Capture(self.lower(*a, early)?, self.regex(*regex), *group)
            }
            Expr::Replace(a, regex, b) => {
                let (a, b) = (self.lower(*a, early)?, self.lower(*b, early)?);
                Node::Replace(a, self.regex(*regex), b)
            }
            Expr::List(items) => {
                let items = self.all(items, early)?;
                match self.constants(&items) {
                    Some(values) => Node::Const(Value::list(values)),
                    None => Node::List(items),
                }
            }
            Expr::Set(items) => {
                let items = self.all(items, early)?;
                match self.constants(&items) {
                    Some(values) => Node::Const(Value::Set(values.into_iter().collect())),
                    None => Node::Set(items),
                }
            }
            Expr::Record(members) => {
                let lowered: Result<Vec<_>, LimitError> = members
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), self.lower(*value, early)?)))
                    .collect();
                Node::Record(lowered?.into())
            }
            Expr::Before(of) => {
                let initial = match spec.exprs.get(*of) {
                    Expr::Track(track, _) => self.initial[track.index()].clone(),
                    _ => Some(Value::Null),
                };
                let of = self.lower(*of, early)?;
                self.register(RegisterKind::Before(of, initial), early)?
            }
            Expr::Count { of, window, since } => {
                let of = self.lower(*of, early)?;
                let since = since.map(|since| self.lower(since, early)).transpose()?;
                self.register(
                    RegisterKind::Count {
                        of,
                        window: *window,
                        since,
                    },
                    early,
                )?
            }
            Expr::Past(op, window, a, b) => {
                let a = self.lower(*a, early)?;
                let b = b.map(|b| self.lower(b, early)).transpose()?;
                self.register(RegisterKind::Past(*op, *window, a, b), early)?
            }
        })
    }

    fn constants(&self, items: &[NodeId]) -> Option<Vec<Value>> {
        let constant = |node: &NodeId| match self.code.node(*node) {
            Node::Const(value) => Some(value.clone()),
            _ => None,
        };
        items.iter().map(constant).collect()
    }

    fn regex(&mut self, id: RegexId) -> u32 {
        let code = &mut self.code;
        let pattern = self.spec.exprs.regex(id);
        *self.regexes.entry(id).or_insert_with(|| {
            code.patterns.push(Arc::clone(pattern));
            u32::try_from(code.patterns.len() - 1).unwrap_or(u32::MAX)
        })
    }

    fn register(&mut self, kind: RegisterKind, early: bool) -> Result<Node, LimitError> {
        let reads = kind.operands().iter().fold(Reads::default(), |all, node| {
            all.with(self.code.info(*node).reads)
        });
        if reads.has(Reads::LOCAL) {
            return Err(LimitError::HistoryOfLocal);
        }
        let position = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        let id = position(self.code.registers.len());
        let own = reads.has(Reads::VAR.with(Reads::PARAM).with(Reads::FRAME));
        let slot = (!own).then(|| {
            self.code.slots.push(id);
            position(self.code.slots.len() - 1)
        });
        self.code.registers.push(RegisterCode { kind, slot, early });
        // A register reads its operands once every step.
        for operand in self.code.registers[id as usize].kind.operands() {
            self.uses[operand.index()] += 1;
        }
        Ok(Node::Register(id))
    }
}
