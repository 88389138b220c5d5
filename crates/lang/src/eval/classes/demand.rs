//! The fields that evaluation may read at the events of a class.
//!
//! Long texts are decoded only if evaluation may read them (see [`crate::input::deferred`]). That follows from the class of the
//! event: evaluation stops at the operand that decides, and an automaton reads no letter if the class alone determines its next
//! state. The walk here mirrors evaluation, and follows both branches if the class does not decide.

use super::TransitionCache;
use crate::eval::code::{Node, NodeId, RegisterKind};
use crate::eval::compiled::WatchedCode;
use crate::eval::compiled::{Compiled, QuantifiedCode};
use crate::value::{Truth, Value};

/// The part of a field's text that may be examined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::eval) enum Demand {
    #[default]
    Nothing,
    /// The beginning, up to this many bytes.
    Beginning(usize),
    All,
}

/// For each field, the part that may be examined; fields beyond the end are not examined.
pub(in crate::eval) type Demands = Box<[Demand]>;

impl TransitionCache {
    /// Returns the demands for the events of a class.
    pub(in crate::eval) fn demands(&mut self, program: &Compiled, class: u32) -> &Demands {
        if self.demands_of(class).is_none() {
            let found = DemandWalk::new(program, self, class).all();
            *self.demands_of(class) = Some(found);
        }
        self.demands_of(class).get_or_insert_default()
    }
}

struct DemandWalk<'a> {
    program: &'a Compiled,
    transitions: &'a mut TransitionCache,
    class: u32,
    found: Demands,
    seen: Vec<bool>,
}

impl<'a> DemandWalk<'a> {
    fn new(
        program: &'a Compiled,
        transitions: &'a mut TransitionCache,
        class: u32,
    ) -> DemandWalk<'a> {
        DemandWalk {
            program,
            transitions,
            class,
            found: vec![Demand::Nothing; program.spec().schema.fields.len()].into(),
            seen: vec![false; program.code.nodes.len()],
        }
    }

    /// Returns the demands of everything that a step may evaluate.
    fn all(mut self) -> Demands {
        let (program, code) = (self.program, &self.program.code);
        if let Some(filter) = program.filter.step {
            self.asked(filter);
        }
        for track in &code.tracks {
            track.update.iter().for_each(|update| self.read(*update));
            track
                .compared
                .iter()
                .flatten()
                .for_each(|term| self.read(*term));
        }
        for register in &code.registers {
            match &register.kind {
                RegisterKind::Before(of, _) => self.read(*of),
                kind => kind.operands().into_iter().for_each(|of| self.asked(of)),
            }
        }
        for watched in &program.clauses.watched {
            if let WatchedCode::When(condition) = watched {
                self.asked(*condition);
            }
        }
        for (id, property) in program.properties.iter().enumerate() {
            if let Some(trigger) = property.trigger {
                self.asked(trigger);
            }
            if let Some(QuantifiedCode { vars, .. }) = &property.quantified {
                for var in vars {
                    let terms = var.terms.iter().chain(&var.elements).chain(&var.range);
                    terms.for_each(|term| self.read(*term));
                }
            } else if self.transitions.decides(code, self.class, id, property) {
                continue;
            }
            for letter in &property.letters {
                self.asked(letter.node);
            }
        }
        self.found
    }

    /// Adds the reads of a condition that is evaluated as a whole, so its value by class is looked up first.
    fn asked(&mut self, node: NodeId) {
        if self.truth(node).is_none() {
            self.read(node);
        }
    }

    fn truth(&mut self, node: NodeId) -> Option<Truth> {
        self.transitions.truth(&self.program.code, self.class, node)
    }

    fn demand(&mut self, field: u32, demand: Demand) {
        if let Some(found) = self.found.get_mut(field as usize) {
            *found = demand.max(*found);
        }
    }

    /// Adds the reads of an expression that is evaluated.
    fn read(&mut self, id: NodeId) {
        if std::mem::replace(&mut self.seen[id.index()], true) {
            return;
        }
        let code = &self.program.code;
        match code.node(id) {
            Node::Field(field) | Node::FieldIs(field, _) => self.demand(*field, Demand::All),
            Node::StartsWith(text, part) => match (code.node(*text), code.node(*part)) {
                (Node::Field(field), Node::Const(Value::String(part))) => {
                    self.demand(*field, Demand::Beginning(part.len()));
                }
                _ => {
                    self.read(*text);
                    self.read(*part);
                }
            },
            Node::And(a, b) | Node::Implies(a, b) => {
                self.read(*a);
                if self.truth(*a) != Some(Truth::False) {
                    self.read(*b);
                }
            }
            Node::Or(a, b) => {
                self.read(*a);
                if self.truth(*a) != Some(Truth::True) {
                    self.read(*b);
                }
            }
            Node::If(condition, then, other) => {
                self.read(*condition);
                let truth = self.truth(*condition);
                if truth != Some(Truth::False) {
                    self.read(*then);
                }
                if truth != Some(Truth::True) {
                    self.read(*other);
                }
            }
            _ => code
                .operands(id)
                .into_iter()
                .for_each(|operand| self.read(operand)),
        }
    }
}
