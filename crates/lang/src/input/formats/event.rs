//! The draft of a canonical event: which members are absent (not recorded) and which are null (known not to be there).

use smol_str::SmolStr;

use super::shape::{string, unpack};
use crate::value::{Object, Value};

/// The members of the canonical event, in order.
pub const MEMBERS: [&str; 13] = [
    "index", "kind", "role", "text", "tool", "args", "call", "result", "error", "at", "agent",
    "raw", "item",
];

/// The kinds of canonical events.
pub const KINDS: [&str; 4] = ["message", "call", "result", "other"];

/// The members of canonical events that someone reads: those that nobody reads are not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted(u16);

impl Wanted {
    pub(crate) const ALL: Wanted = Wanted(u16::MAX);

    /// Returns the members for which a function is true.
    pub(crate) fn those(is_read: impl Fn(&str) -> bool) -> Wanted {
        let places = MEMBERS.iter().enumerate();
        Wanted(places.fold(0, |bits, (place, name)| {
            bits | u16::from(is_read(name)) << place
        }))
    }

    /// Whether the member is read.
    pub(super) fn has(self, name: &str) -> bool {
        let place = MEMBERS.iter().position(|member| *member == name);
        place.is_some_and(|place| self.has_place(place))
    }

    fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    fn has_place(self, place: usize) -> bool {
        self.0 >> place & 1 != 0
    }
}

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
    /// Whether the result may be a text that holds JSON, to be read where the result is wanted.
    packed: bool,
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
            packed: false,
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

    /// The result as recorded: [`unpack`] reads it where it is wanted.
    pub(super) fn packed_outcome(mut self, result: Option<&Value>) -> Draft {
        self.packed = true;
        self.outcome(result.cloned())
    }

    pub(super) fn error(mut self, error: Option<bool>) -> Draft {
        self.error = error.map(Value::Bool);
        self
    }

    pub(super) fn at(mut self, at: Option<Value>) -> Draft {
        self.at = at;
        self
    }

    /// Returns the event with the wanted members; `item` is the source item that contains it, at this position.
    pub(super) fn build(mut self, index: u32, item: &Value, wanted: Wanted) -> Value {
        if self.packed && wanted.has("result") {
            self.result = self.result.as_ref().map(unpack);
        }
        let mut members = Vec::with_capacity(wanted.count());
        // One by one: by way of an array, copying the values took 8 % of the time of an audit.
        let mut add = |place: usize, value: Option<Value>| {
            if let Some(value) = value.filter(|_| wanted.has_place(place)) {
                members.push((SmolStr::new_static(MEMBERS[place]), value));
            }
        };
        add(0, Some(Value::int(index.into())));
        add(1, Some(string(self.kind.name())));
        add(2, self.role);
        add(3, self.text);
        add(4, self.tool);
        add(5, self.args);
        add(6, self.call);
        add(7, self.result);
        add(8, self.error);
        add(9, self.at);
        add(10, self.agent);
        add(11, Some(self.raw));
        add(12, wanted.has_place(12).then(|| item.clone()));
        Value::Object(Object::of_distinct(members))
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

#[cfg(test)]
mod tests {
    use super::super::{Format, Input, convert, convert_wanted};
    use super::*;
    use crate::input::document::parse;
    use crate::input::limits::InputLimits;

    const SPAN: &str = r#"{"name": "execute_tool t", "context": {"trace_id": "1", "span_id": "2"}, "start_time": 1, "end_time": 2,
        "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "gen_ai.tool.call.arguments": "{\"a\": 1}",
        "gen_ai.tool.call.result": "{\"b\": [2]}"}}"#;

    /// Each event has the members that are read, as they are where all are, and no others.
    #[test]
    fn members_that_nobody_reads_are_not_made() {
        let Ok(document) = parse(SPAN.as_bytes(), &InputLimits::default()) else {
            panic!("the span is JSON");
        };
        let input = Input::Document {
            value: &document.value,
            line: None,
            lists: &document.lists,
        };
        let whole = convert(Format::Otel, &input);
        let whole = &whole.traces[0].events;
        assert_eq!(whole.len(), 2);
        for few in [&["kind", "result"][..], &["args", "raw"], &["item"], &[]] {
            let wanted = Wanted::those(|name| few.contains(&name));
            let some = convert_wanted(Format::Otel, &input, wanted);
            for (event, all) in some.traces[0].events.iter().zip(whole) {
                let (Value::Object(event), Value::Object(all)) = (&event.value, &all.value) else {
                    panic!("events are objects");
                };
                for name in MEMBERS {
                    let expected = all.get(name).filter(|_| few.contains(&name));
                    assert_eq!(event.get(name), expected, "{name} of {few:?}");
                }
            }
        }
        let Value::Object(result) = &whole[1].value else {
            panic!("events are objects");
        };
        assert!(matches!(result.get("result"), Some(Value::Object(_))));
    }
}
