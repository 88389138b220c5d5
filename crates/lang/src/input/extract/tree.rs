//! The walk over a tree: the same reading as of a text, for canonical events and for JSONPath.

use crate::input::cell;
use crate::input::document::{why, why_within};
use crate::input::path::{Query, follow, follow_all};
use crate::input::plan::{LevelId, Plan};
use crate::input::record_builder::RecordBuilder;
use crate::input::trie::NodeId;
use crate::input_schema::Absent;
use crate::problem::ProblemKind;
use crate::types::Type;
use crate::value::Value;

/// The state of a walk.
pub(crate) struct TreeExtractor<'s> {
    pub(crate) plan: &'s Plan,
    pub(crate) builder: &'s mut RecordBuilder,
    /// The offset for problems.
    pub(crate) at: usize,
    /// Whether lists of events and elements are read, or only fields.
    pub(crate) lists: bool,
}

impl TreeExtractor<'_> {
    /// Reads one value of a level.
    pub(crate) fn whole(&mut self, level: LevelId, value: &Value) {
        self.queries(level, value);
        self.value(level, 0, value);
    }

    /// Reads an event with all its steps.
    pub(crate) fn event(&mut self, event: &Value) {
        self.builder.begin_event(self.plan);
        self.whole(LevelId::Event, event);
        self.builder.end_event(self.plan, self.at);
    }

    /// Reads the meta fields of a record whose events are already known.
    pub(crate) fn meta(mut self, record: &Value) {
        self.lists = false;
        self.whole(LevelId::Record, record);
    }

    fn element(&mut self, element: &Value) {
        if self.builder.begin_row(self.plan) {
            self.whole(LevelId::Element, element);
        }
    }

    /// Reads the paths that may have many nodes, which need a tree.
    pub(crate) fn queries(&mut self, level: LevelId, value: &Value) {
        let plan = self.plan.level(level);
        for (slot, query) in &plan.queries {
            let field = &plan.slots[*slot];
            let nodes = query.nodes(value);
            let hidden = hidden(query, value, true);
            let reading = match (field.ty.non_null(), nodes.first()) {
                _ if hidden.is_some() => cell::stand_in(hidden.unwrap_or(ProblemKind::Number)),
                // A list without elements is a list; only where there is none, data is missing.
                (Type::List(_) | Type::Set(_), None) if query.has_root(value) => {
                    cell::from_value(field, &Value::list(nodes))
                }
                // Left open until the end of the event, when a field that was found is distinguished from one that was not.
                (_, None)
                    if level != LevelId::Record
                        && field.absent != Absent::Error
                        && (level == LevelId::Element || *slot < self.plan.n_event) =>
                {
                    continue;
                }
                (_, None) => cell::absent(field),
                (Type::List(_) | Type::Set(_), _) => cell::from_value(field, &Value::list(nodes)),
                (_, Some(first)) => cell::from_value(field, first),
            };
            self.builder.put(self.plan, level, *slot, reading, self.at);
        }
        if let Some(query) = plan.list.as_ref().filter(|_| self.lists) {
            let items = query.nodes(value);
            if let Some(kind) = hidden(query, value, query.searches) {
                self.builder.unread_list(level, kind, self.at);
            }
            if level == LevelId::Record {
                self.builder.found_list |= follow_all(value, &query.lead).is_some();
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
            let field = &plan.level(level).slots[slot];
            if cell::is_as_it_is(field, value) {
                self.builder.put_known(plan, level, slot, value.clone());
                continue;
            }
            let reading = match level {
                LevelId::Event => self.builder.read(field, slot, value),
                _ => cell::from_value(field, value),
            };
            self.builder.put(plan, level, slot, reading, self.at);
        }
        if node.list && self.lists && level == LevelId::Event && matches!(value, Value::Object(_)) {
            self.builder
                .unread_list(level, ProblemKind::WrongType, self.at);
        }
        match value {
            Value::List(items) => {
                if node.list && self.lists {
                    if level == LevelId::Record {
                        self.builder.found_list = true;
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
            _ => match why(value) {
                None => {}
                // It is reported where it stands.
                Some(ProblemKind::DuplicateKey) => self.builder.distrust(plan, level, id),
                Some(kind) => self.builder.unread(plan, level, id, kind, self.at),
            },
        }
    }
}

/// Returns the reason why the nodes of a query are unknown, if they are.
fn hidden(query: &Query, root: &Value, within: bool) -> Option<ProblemKind> {
    let mut at = root;
    for step in &query.lead {
        match follow(at, step) {
            Some(next) => at = next,
            None => return why(at),
        }
    }
    if within { why_within(at) } else { why(at) }
}
