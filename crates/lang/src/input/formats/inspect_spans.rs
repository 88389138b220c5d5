//! The spans of a sample of Inspect AI: which agent is at work in each.

use std::collections::HashMap;

use smol_str::SmolStr;

use super::shape::{get, id, kind, text};
use crate::value::Value;

/// The spans of a sample, to find the agent at work in each.
#[derive(Debug, Default)]
pub(super) struct Spans {
    spans: HashMap<SmolStr, Span>,
    found: HashMap<SmolStr, Inside>,
}

#[derive(Debug)]
struct Span {
    parent: Option<SmolStr>,
    kind: SmolStr,
    name: Value,
}

/// The context within a span.
#[derive(Clone, Debug, Default)]
struct Inside {
    /// Agents below are sub-agents: they work for a tool, or for another agent.
    delegated: bool,
    agent: Option<Value>,
}

impl Spans {
    pub(super) fn of(events: &[Value]) -> Spans {
        let mut spans = HashMap::new();
        let begins = |event: &&Value| text(event, "event") == Some("span_begin");
        for event in events.iter().filter(begins) {
            if let Some(name) = id(get(event, "id")) {
                let span = Span {
                    parent: id(get(event, "parent_id")),
                    kind: kind(event).unwrap_or_default().into(),
                    name: get(event, "name").cloned().unwrap_or(Value::Null),
                };
                spans.insert(name, span);
            }
        }
        Spans {
            spans,
            found: HashMap::new(),
        }
    }

    /// Returns the sub-agent or scorer at work in a span; null for the agent of the sample.
    pub(super) fn agent(&mut self, span: &SmolStr) -> Value {
        // From the span up to one that is known. A span that is its own ancestor ends the way like one without parent.
        let mut path: Vec<SmolStr> = Vec::new();
        let mut next = Some(span.clone());
        let mut inside = Inside::default();
        while let Some(name) = next {
            if let Some(known) = self.found.get(&name) {
                inside = known.clone();
                break;
            }
            self.found.insert(name.clone(), Inside::default());
            next = self.spans.get(&name).and_then(|span| span.parent.clone());
            path.push(name);
        }
        for name in path.into_iter().rev() {
            if let Some(span) = self.spans.get(&name) {
                match span.kind.as_str() {
                    "agent" => {
                        if inside.delegated {
                            inside.agent = Some(span.name.clone());
                        }
                        inside.delegated = true;
                    }
                    "tool" | "handoff" => inside.delegated = true,
                    "scorer" => {
                        inside.agent = Some(span.name.clone());
                        inside.delegated = true;
                    }
                    _ => {}
                }
            }
            self.found.insert(name, inside.clone());
        }
        inside.agent.unwrap_or(Value::Null)
    }
}
