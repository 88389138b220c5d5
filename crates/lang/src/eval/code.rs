//! Compiled expressions: one table of nodes, with special nodes for common forms.
//!
//! Nodes differ from [`Expr`](crate::hir::Expr)s in one more respect: an expression that reads tracks has one meaning
//! in updates of tracks and another elsewhere, so it becomes two nodes.

pub(super) mod symbols;

use std::sync::Arc;

use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use super::binding::Places;
use crate::hir::{Arith, Builtin, Compare, PastOp, Quantifier, Window};
use crate::ids::ExprId;
use crate::pattern::Pattern;
use crate::types::{EnumType, Type};
use crate::value::Value;

/// A node of [`Code`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NodeId(pub(super) u32);

impl NodeId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Const(Value),
    Unknown,
    Field(u32),
    Meta(u32),
    Track(u32, Box<[NodeId]>),
    Param(u32),
    Var(u32),
    Local(u32),
    Member(NodeId, SmolStr),
    /// `json(text).name`, if only a few other members of the text are read: the text, `json(text)`, and the name.
    JsonMember(NodeId, NodeId, SmolStr),
    Index(NodeId, NodeId),
    Not(NodeId),
    And(NodeId, NodeId),
    Or(NodeId, NodeId),
    Implies(NodeId, NodeId),
    Iff(NodeId, NodeId),
    Eq(NodeId, NodeId),
    /// Any comparison but `Eq`.
    Order(Compare, NodeId, NodeId),
    In(NodeId, NodeId),
    /// Whether a text, list or set contains a value. If the flag is set, the first may be one text or several: see [`ops::holds`](super::ops::holds).
    Contains(NodeId, NodeId, bool),
    StartsWith(NodeId, NodeId),
    EndsWith(NodeId, NodeId),
    Matches(NodeId, u32),
    Arith(Arith, NodeId, NodeId),
    Neg(NodeId),
    Coalesce(NodeId, NodeId),
    Cast(NodeId, Type),
    If(NodeId, NodeId, NodeId),
    Quantifier {
        kind: Quantifier,
        local: u32,
        over: NodeId,
        body: NodeId,
    },
    Call(Builtin, Box<[NodeId]>),
    Capture(NodeId, u32, usize),
    Replace(NodeId, u32, NodeId),
    List(Box<[NodeId]>),
    Set(Box<[NodeId]>),
    Record(Box<[(SmolStr, NodeId)]>),
    /// `Before`, `Count` or `Past`, by index in [`Code::registers`].
    Register(u32),
    /// `field == constant`
    FieldIs(u32, Value),
    /// `e in constants`
    InConst(NodeId, ConstSet),
}

/// A constant list or set that is tested for elements.
#[derive(Clone, Debug)]
pub(super) enum ConstSet {
    Few(Box<[Value]>),
    Many(Box<FxHashSet<Value>>),
}

impl ConstSet {
    pub(super) fn new(values: Vec<Value>) -> ConstSet {
        if values.len() <= 6 {
            ConstSet::Few(values.into())
        } else {
            ConstSet::Many(Box::new(values.into_iter().collect()))
        }
    }

    pub(super) fn contains(&self, value: &Value) -> bool {
        match self {
            ConstSet::Few(values) => values.contains(value),
            ConstSet::Many(values) => values.contains(value),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self, ConstSet::Few(values) if values.is_empty())
    }
}

/// The kinds of data that a node and its operands read, as a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reads(pub(super) u8);

impl Reads {
    pub(super) const VAR: Reads = Reads(1);
    pub(super) const PARAM: Reads = Reads(2);
    pub(super) const LOCAL: Reads = Reads(4);
    pub(super) const TRACK: Reads = Reads(8);
    /// A track whose arguments read a parameter or a variable, or a value of a variable that is used for more than a comparison
    /// with terms: the result depends on the tuple itself, not only on which terms have its values.
    pub(super) const KEYED: Reads = Reads(16);
    /// A register whose state belongs to an instance or to a key.
    pub(super) const FRAME: Reads = Reads(32);

    pub(super) fn has(self, other: Reads) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn with(self, other: Reads) -> Reads {
        Reads(self.0 | other.0)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Info {
    pub(super) reads: Reads,
    /// Whether the value is kept for the rest of the step.
    pub(super) memo: bool,
    /// All values of the node's type, if the type is finite.
    pub(super) finite: Option<Arc<[Value]>>,
    /// The expression that it was compiled from.
    pub(super) expr: ExprId,
}

#[derive(Clone, Debug)]
pub(super) struct RegisterCode {
    pub(super) kind: RegisterKind,
    /// The index among the registers of the trace; `None` if each instance or key has its own.
    pub(super) slot: Option<u32>,
    /// Whether an operand reads tracks in their state before the event.
    pub(super) early: bool,
}

#[derive(Clone, Debug)]
pub(super) enum RegisterKind {
    /// The operand and the value at the first step.
    Before(NodeId, Option<Value>),
    Count {
        of: NodeId,
        window: Option<Window>,
        since: Option<NodeId>,
    },
    Past(PastOp, Option<Window>, NodeId, Option<NodeId>),
}

#[derive(Clone, Debug)]
pub(super) struct TrackCode {
    pub(super) name: SmolStr,
    pub(super) n_params: usize,
    /// For each parameter: the terms that it is compared with.
    pub(super) compared: Vec<Vec<NodeId>>,
    /// For each parameter: the constants that it is compared with.
    pub(super) constants: Vec<Vec<Value>>,
    /// The update; `None` if no property or observation reads the track. Such a track is not updated.
    pub(super) update: Option<NodeId>,
    /// The parameters that must be equal to a compared term for the update to change the value. If all compared terms are known
    /// and none is equal, the track keeps its value for the key.
    pub(super) needed: Places,
    /// The nodes of the update that read other tracks by a parameter.
    pub(super) keyed: Box<[NodeId]>,
    /// All values of the type, if the track holds sets of values.
    pub(super) finite: Option<Arc<[Value]>>,
    /// The registers of each key.
    pub(super) frame: Box<[u32]>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub(super) nodes: Vec<Node>,
    pub(super) info: Vec<Info>,
    pub(super) registers: Vec<RegisterCode>,
    /// Registers of the trace, by slot.
    pub(super) slots: Vec<u32>,
    pub(super) patterns: Vec<Arc<Pattern>>,
    pub(super) n_locals: usize,
    pub(super) tracks: Vec<TrackCode>,
    pub(super) enums: Vec<Arc<EnumType>>,
    pub(super) classes: symbols::Classes,
}

impl Code {
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub(super) fn info(&self, id: NodeId) -> &Info {
        &self.info[id.index()]
    }

    /// Whether a node reads the value of the track for its own parameters.
    pub(super) fn is_own_value(&self, track: u32, node: NodeId) -> bool {
        let Node::Track(other, args) = self.node(node) else {
            return false;
        };
        let n_params = self.tracks[track as usize].n_params;
        let is_param = |(place, arg): (u32, &NodeId)| matches!(self.node(*arg), Node::Param(param) if *param == place);
        *other == track && args.len() == n_params && (0u32..).zip(args).all(is_param)
    }

    pub(super) fn operands(&self, id: NodeId) -> Vec<NodeId> {
        match self.node(id) {
            Node::Const(_)
            | Node::Unknown
            | Node::Field(_)
            | Node::Meta(_)
            | Node::Param(_)
            | Node::Var(_)
            | Node::Local(_)
            | Node::FieldIs(..) => Vec::new(),
            Node::Track(_, args) | Node::Call(_, args) | Node::List(args) | Node::Set(args) => {
                args.to_vec()
            }
            Node::Record(members) => members.iter().map(|(_, node)| *node).collect(),
            Node::Member(a, _)
            | Node::JsonMember(_, a, _)
            | Node::Not(a)
            | Node::Matches(a, _)
            | Node::Neg(a)
            | Node::Cast(a, _)
            | Node::Capture(a, _, _)
            | Node::InConst(a, _) => vec![*a],
            Node::Index(a, b)
            | Node::And(a, b)
            | Node::Or(a, b)
            | Node::Implies(a, b)
            | Node::Iff(a, b)
            | Node::Eq(a, b)
            | Node::Order(_, a, b)
            | Node::In(a, b)
            | Node::Contains(a, b, _)
            | Node::StartsWith(a, b)
            | Node::EndsWith(a, b)
            | Node::Arith(_, a, b)
            | Node::Replace(a, _, b)
            | Node::Coalesce(a, b) => vec![*a, *b],
            Node::If(a, b, c) => vec![*a, *b, *c],
            Node::Quantifier { over, body, .. } => vec![*over, *body],
            Node::Register(register) => self.registers[*register as usize].kind.operands(),
        }
    }

    /// Whether evaluation of a node can meet no error for any data.
    pub(super) fn is_total(&self, id: NodeId) -> bool {
        match self.node(id) {
            Node::Const(_)
            | Node::Unknown
            | Node::Field(_)
            | Node::Meta(_)
            | Node::Param(_)
            | Node::Var(_)
            | Node::FieldIs(..) => true,
            Node::InConst(..)
            | Node::Not(_)
            | Node::And(..)
            | Node::Or(..)
            | Node::Implies(..)
            | Node::Iff(..)
            | Node::Eq(..)
            | Node::Track(..) => self.operands(id).into_iter().all(|of| self.is_total(of)),
            _ => false,
        }
    }

    /// Returns the nodes at or below these that read a track by a variable or parameter.
    pub(super) fn keyed_below(&self, roots: impl IntoIterator<Item = NodeId>) -> Box<[NodeId]> {
        let mut seen = FxHashSet::default();
        let mut todo: Vec<NodeId> = roots.into_iter().collect();
        let mut found = Vec::new();
        while let Some(node) = todo.pop() {
            let reads = self.info(node).reads;
            if !reads.has(Reads::KEYED.with(Reads::FRAME)) || !seen.insert(node) {
                continue;
            }
            let keyed = |arg: &NodeId| self.info(*arg).reads.has(Reads::VAR.with(Reads::PARAM));
            if matches!(self.node(node), Node::Track(_, args) if args.iter().any(keyed)) {
                found.push(node);
            }
            todo.extend(self.operands(node));
        }
        found.sort_unstable_by_key(|node| node.0);
        found.into()
    }

    /// Returns the registers below these nodes whose state belongs to an instance or to a key.
    pub(super) fn frame_of(&self, roots: impl IntoIterator<Item = NodeId>) -> Box<[u32]> {
        let mut seen = FxHashSet::default();
        let mut todo: Vec<NodeId> = roots.into_iter().collect();
        let mut found = Vec::new();
        while let Some(node) = todo.pop() {
            if !self.info(node).reads.has(Reads::FRAME) || !seen.insert(node) {
                continue;
            }
            if let Node::Register(register) = self.node(node)
                && self.registers[*register as usize].slot.is_none()
            {
                found.push(*register);
            }
            todo.extend(self.operands(node));
        }
        found.sort_unstable();
        found.into()
    }
}

impl RegisterKind {
    pub(super) fn operands(&self) -> Vec<NodeId> {
        match self {
            RegisterKind::Before(of, _) => vec![*of],
            RegisterKind::Count { of, since, .. } => {
                [Some(*of), *since].into_iter().flatten().collect()
            }
            RegisterKind::Past(_, _, a, b) => [Some(*a), *b].into_iter().flatten().collect(),
        }
    }
}
