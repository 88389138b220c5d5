//! The draft of a canonical event: which members are absent (not recorded) and which are null (known not to be there).

use smol_str::SmolStr;

use super::shape::{object, string};
use crate::value::Value;

/// The members of the canonical event, in order.
pub const MEMBERS: [&str; 13] = [
    "index", "kind", "role", "text", "tool", "args", "call", "result", "error", "at", "agent",
    "raw", "item",
];

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    Call,
    Result,
    Other,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Message => "message",
            Kind::Call => "call",
            Kind::Result => "result",
            Kind::Other => "other",
        }
    }
}

/// A canonical event in the making; `None` is a member that the source does not record.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) kind: Kind,
    pub(super) role: Option<Value>,
    pub(super) text: Option<Value>,
    pub(super) tool: Option<Value>,
    pub(super) args: Option<Value>,
    pub(super) call: Option<Value>,
    pub(super) result: Option<Value>,
    pub(super) error: Option<Value>,
    pub(super) at: Option<Value>,
    pub(super) agent: Option<Value>,
    pub(super) raw: Value,
}

impl Draft {
    /// Returns a draft without tool, arguments, call, result or error; the caller adds the text.
    pub(super) fn message(role: &str, raw: &Value) -> Draft {
        Draft {
            kind: Kind::Message,
            role: Some(Value::string(canonical_role(role))),
            tool: Some(Value::Null),
            args: Some(Value::Null),
            call: Some(Value::Null),
            result: Some(Value::Null),
            error: Some(Value::Null),
            ..Draft::blank(raw)
        }
    }

    /// Returns a draft without text, result or error; the caller adds tool, arguments and id.
    pub(super) fn call(raw: &Value) -> Draft {
        Draft {
            kind: Kind::Call,
            role: Some(string("assistant")),
            text: Some(Value::Null),
            result: Some(Value::Null),
            error: Some(Value::Null),
            ..Draft::blank(raw)
        }
    }

    /// Returns a result; tool and arguments are those of the call it answers, where that is found.
    pub(super) fn result(raw: &Value) -> Draft {
        Draft {
            kind: Kind::Result,
            role: Some(string("tool")),
            ..Draft::blank(raw)
        }
    }

    /// Returns a draft of any other event, without these members; `raw` describes it.
    pub(super) fn other(raw: &Value) -> Draft {
        Draft {
            kind: Kind::Other,
            role: Some(Value::Null),
            text: Some(Value::Null),
            tool: Some(Value::Null),
            args: Some(Value::Null),
            call: Some(Value::Null),
            result: Some(Value::Null),
            error: Some(Value::Null),
            ..Draft::blank(raw)
        }
    }

    fn blank(raw: &Value) -> Draft {
        Draft {
            kind: Kind::Other,
            role: None,
            text: None,
            tool: None,
            args: None,
            call: None,
            result: None,
            error: None,
            at: None,
            agent: None,
            raw: raw.clone(),
        }
    }

    pub(super) fn role(mut self, role: &str) -> Draft {
        self.role = Some(Value::string(canonical_role(role)));
        self
    }

    pub(super) fn text(mut self, text: Option<Value>) -> Draft {
        self.text = text;
        self
    }

    pub(super) fn tool(mut self, tool: Option<&str>) -> Draft {
        self.tool = tool.map(Value::string);
        self
    }

    pub(super) fn args(mut self, args: Option<Value>) -> Draft {
        self.args = args;
        self
    }

    /// Names the call that an event of kind `other` belongs to.
    pub(super) fn about_call(mut self, id: Option<&str>) -> Draft {
        self.call = Some(id.map_or(Value::Null, Value::string));
        self
    }

    pub(super) fn outcome(mut self, result: Option<Value>) -> Draft {
        self.result = result;
        self
    }

    pub(super) fn error(mut self, error: Option<bool>) -> Draft {
        self.error = error.map(Value::Bool);
        self
    }

    pub(super) fn at(mut self, at: Option<Value>) -> Draft {
        self.at = at;
        self
    }

    /// Returns the event; `item` is the source item that contains it, at this position.
    pub(super) fn build(self, index: u32, item: &Value) -> Value {
        let values = [
            Some(Value::int(index.into())),
            Some(string(self.kind.name())),
            self.role,
            self.text,
            self.tool,
            self.args,
            self.call,
            self.result,
            self.error,
            self.at,
            self.agent,
            Some(self.raw),
            Some(item.clone()),
        ];
        let mut members = Vec::with_capacity(MEMBERS.len());
        for (name, value) in MEMBERS.into_iter().zip(values) {
            members.extend(value.map(|value| (SmolStr::new_static(name), value)));
        }
        object(members)
    }
}

/// Returns one name per role, whatever the maker calls it; roles we do not know stay as they are.
pub(super) fn canonical_role(role: &str) -> &str {
    match role {
        "human" => "user",
        "ai" | "model" | "gemini" | "AIMessageChunk" => "assistant",
        "function" => "tool",
        other => other,
    }
}
