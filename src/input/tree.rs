//! The walk over a tree: the same reading as of a text, for canonical events and for JSONPath.

use super::cell;
use super::document::{why, why_within};
use super::path::{Query, follow, follow_all};
use super::plan::{LevelId, Plan};
use super::sink::Sink;
use super::trie::NodeId;
use crate::problem::ProblemKind;
use crate::types::Type;
use crate::value::Value;

/// The state of a walk.
pub(crate) struct TreeWalk<'s> {
    pub(crate) plan: &'s Plan,
    pub(crate) sink: &'s mut Sink,
    /// The offset that problems are told for.
    pub(crate) at: usize,
    /// Whether lists of events and elements are read, or only fields.
    pub(crate) lists: bool,
}

impl TreeWalk<'_> {
    /// Reads one value of a level.
    pub(crate) fn whole(&mut self, level: LevelId, value: &Value) {
        self.queries(level, value);
        self.value(level, 0, value);
    }

    /// An event, with all its steps.
    pub(crate) fn event(&mut self, event: &Value) {
        self.sink.begin_event(self.plan);
        self.whole(LevelId::Event, event);
        self.sink.end_event(self.plan, self.at);
    }

    /// The meta fields of a record whose events are known already.
    pub(crate) fn meta(mut self, record: &Value) {
        self.lists = false;
        self.whole(LevelId::Record, record);
    }

    fn element(&mut self, element: &Value) {
        self.sink.begin_row(self.plan);
        self.whole(LevelId::Element, element);
    }

    /// Reads what only a tree can tell: the paths that may have many nodes.
    pub(crate) fn queries(&mut self, level: LevelId, value: &Value) {
        let plan = self.plan.level(level);
        for (slot, query) in &plan.queries {
            let field = &plan.slots[*slot];
            let nodes = query.nodes(value);
            let hidden = hidden(query, value, true);
            let reading = match (field.ty.non_null(), nodes.first()) {
                _ if hidden.is_some() => cell::stand_in(hidden.unwrap_or(ProblemKind::Number)),
                (_, None) => cell::absent(field),
                (Type::List(_) | Type::Set(_), _) => cell::from_value(field, &Value::list(nodes)),
                (_, Some(first)) => cell::from_value(field, first),
            };
            self.sink.put(self.plan, level, *slot, reading, self.at);
        }
        if let Some(query) = plan.list.as_ref().filter(|_| self.lists) {
            let items = query.nodes(value);
            if level == LevelId::Record {
                self.sink.refused |= hidden(query, value, query.searches).is_some();
                self.sink.found_list |= follow_all(value, &query.lead).is_some();
            }
            for item in &items {
                match level {
                    LevelId::Record => self.event(item),
                    _ => self.element(item),
                }
            }
        }
    }

    fn value(&mut self, level: LevelId, id: NodeId, value: &Value) {
        let plan = self.plan;
        let node = plan.level(level).trie.node(id);
        for &slot in &node.slots {
            let reading = cell::from_value(&plan.level(level).slots[slot], value);
            self.sink.put(plan, level, slot, reading, self.at);
        }
        match value {
            Value::List(items) => {
                if node.list && self.lists {
                    if level == LevelId::Record {
                        self.sink.found_list = true;
                    }
                    for item in items.iter() {
                        match level {
                            LevelId::Record => self.event(item),
                            _ => self.element(item),
                        }
                    }
                }
                if node.has_indices() {
                    for (index, item) in items.iter().enumerate() {
                        if let Some(child) = node.indexed(index) {
                            self.value(level, child, item);
                        }
                    }
                }
            }
            Value::Object(object) if node.has_names() => {
                for (key, member) in object.iter() {
                    if let Some(child) = node.named(key) {
                        self.value(level, child, member);
                    }
                }
            }
            _ if why(value) == Some(ProblemKind::DuplicateKey) => {
                self.sink.distrust(plan, level, id);
            }
            _ => {}
        }
    }
}

/// Why the nodes of a query cannot be known, where that is so.
fn hidden(query: &Query, root: &Value, within: bool) -> Option<ProblemKind> {
    let mut at = root;
    for step in &query.lead {
        match follow(at, step) {
            Some(next) => at = next,
            None => return why(at).filter(|kind| *kind == ProblemKind::DuplicateKey),
        }
    }
    if within { why_within(at) } else { why(at) }
}
