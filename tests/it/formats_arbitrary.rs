//! On arbitrary input no reader panics, and every item is accounted for.

use crate::support::formats::accounted;
use guard_lang::input::document::ListLines;
use guard_lang::input::formats::{Format, Input, Sample, convert, detect};
use guard_lang::value::{Object, Value};
use proptest::prelude::*;

/// Words that the readers look for, as keys and as texts.
const WORDS: &[&str] = &[
    "messages",
    "role",
    "content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "args",
    "id",
    "type",
    "text",
    "tool_use",
    "tool_result",
    "tool_use_id",
    "input",
    "output",
    "items",
    "call_id",
    "function_call",
    "function_call_output",
    "message",
    "uuid",
    "parentUuid",
    "isSidechain",
    "agentId",
    "sessionId",
    "user",
    "assistant",
    "tool",
    "loglines",
    "payload",
    "response_item",
    "jsonrpc",
    "method",
    "tools/call",
    "params",
    "result",
    "error",
    "spans",
    "resourceSpans",
    "scopeSpans",
    "traceId",
    "spanId",
    "attributes",
    "key",
    "value",
    "stringValue",
    "startTimeUnixNano",
    "endTimeUnixNano",
    "start_time",
    "end_time",
    "run_type",
    "child_runs",
    "trace_id",
    "action",
    "observation",
    "intermediate_steps",
    "source",
    "cause",
    "trajectory",
    "history",
    "toolCalls",
    "parts",
    "functionCall",
    "events",
    "kind",
    "calls",
    "request",
    "response",
    "client.beta.stream",
    "gen_ai.operation.name",
    "execute_tool",
    "chat",
    "2026-01-01T00:00:00Z",
    "{\"a\":1}",
    "{",
    "",
    "a",
    "human",
    "ai",
    "choices",
    "timestamp",
    "trace",
    "activity",
    "a.b",
    "status",
    "code",
    "tool_call_id",
    "human",
];

fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(WORDS)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-3i128..3).prop_map(Value::int),
        any::<i128>().prop_map(Value::int),
        word().prop_map(Value::string),
        word().prop_map(Value::string),
        word().prop_map(Value::string),
    ];
    leaf.prop_recursive(6, 96, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::list),
            prop::collection::btree_map(word(), inner, 0..6).prop_map(|members| {
                let members = members
                    .into_iter()
                    .map(|(key, value)| (key.into(), value))
                    .collect();
                Value::Object(Object::new(members).unwrap())
            }),
        ]
    })
}

/// A message, record or span of the right outer shape with arbitrary insides.
fn shaped() -> impl Strategy<Value = Value> {
    let keys = prop::sample::select(vec![
        vec!["role", "content", "tool_calls", "tool_call_id"],
        vec![
            "type",
            "uuid",
            "parentUuid",
            "message",
            "isSidechain",
            "agentId",
        ],
        vec!["type", "payload", "timestamp"],
        vec!["jsonrpc", "id", "method", "params", "result"],
        vec![
            "name",
            "spanId",
            "traceId",
            "startTimeUnixNano",
            "endTimeUnixNano",
            "attributes",
        ],
        vec!["run_type", "id", "start_time", "outputs", "child_runs"],
        vec!["action", "observation", "source", "id", "cause", "args"],
        vec!["type", "call_id", "arguments", "output", "name"],
        vec!["trace", "activity", "a.b", "a.b.c", "a", "timestamp"],
    ]);
    (keys, prop::collection::vec(value(), 6)).prop_map(|(keys, values)| {
        let members = keys.into_iter().map(Into::into).zip(values).collect();
        Value::Object(Object::new(members).unwrap())
    })
}

fn any_document() -> impl Strategy<Value = Value> {
    prop_oneof![
        value(),
        shaped(),
        prop::collection::vec(prop_oneof![shaped(), value()], 0..6).prop_map(Value::list)
    ]
}

crate::random::tests! {
    1500 cases;

    #[test]
    fn documents(value in any_document()) {
        for format in Format::ALL {
            accounted(&convert(format, &Input::Document { value: &value, line: None, lists: &ListLines::default() }));
        }
        let _ = detect(&Sample { values: std::slice::from_ref(&value), text: b"" });
    }

    #[test]
    fn lines(values in prop::collection::vec(any_document(), 0..8)) {
        let lines: Vec<(u64, Value)> = (1..).zip(values.iter().cloned()).collect();
        for format in Format::ALL {
            let converted = convert(format, &Input::Lines(&lines));
            accounted(&converted);
            prop_assert!(lines.is_empty() || converted.items > 0 || values.iter().all(is_hollow));
        }
        let _ = detect(&Sample { values: &values, text: b"" });
    }

    #[test]
    fn texts(bytes in prop_oneof![prop::collection::vec(any::<u8>(), 0..80), "(a|trace|,|;|\n|\"|1|0|true){0,30}".prop_map(String::into_bytes)]) {
        for format in Format::ALL {
            accounted(&convert(format, &Input::Text(&bytes)));
        }
        let _ = detect(&Sample { values: &[], text: &bytes });
    }
}

/// A value that holds no item: an empty list, or a record whose lists are empty.
fn is_hollow(value: &Value) -> bool {
    match value {
        Value::List(items) => items.iter().all(is_hollow),
        Value::Object(members) => members.iter().any(|(_, member)| is_hollow(member)),
        _ => false,
    }
}
