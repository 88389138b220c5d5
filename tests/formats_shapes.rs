//! Shapes in which a call of a tool is recorded: in each it is read, or told as left out. One row per shape.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests stand outside of test functions"
)]

#[path = "formats/support.rs"]
mod support;

use guard_lang::input::formats::Format;
use support::{accounted, calls, convert_documents, detect_documents, documents, text};

const USER: &str = r#"{"role":"user","content":"hi"}"#;
const OPENAI: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"rm","arguments":"{}"}}]}"#;
const TOOL_USE: &str = r#"{"type":"tool_use","id":"t","name":"rm","input":{}}"#;
const ITEM: &str = r#"{"type":"function_call","call_id":"c","name":"rm","arguments":"{}"}"#;
const PARTS: &str = r#"{"role":"model","parts":[{"functionCall":{"name":"rm","args":{}}}]}"#;

/// What becomes of the call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    /// It is an event.
    Read,
    /// It is an event of which nothing but its kind is known, and a problem.
    Unknown,
    /// It is counted as left out.
    Told,
}
use Fate::{Read, Told, Unknown};

/// `$user`, `$call`, `$use`, `$item` and `$parts` stand for the values above.
const SHAPES: &[(&str, Format, Fate)] = &[
    // The answer stands beside the messages as one object.
    (
        r#"{"messages":[$user],"response":$call}"#,
        Format::OpenAiChat,
        Read,
    ),
    (
        r#"{"input":[$user],"output":$call}"#,
        Format::OpenAiChat,
        Read,
    ),
    (
        r#"{"messages":[$user],"message":$call}"#,
        Format::OpenAiChat,
        Read,
    ),
    (
        r#"{"model":"m","message":$call,"done":true}"#,
        Format::OpenAiChat,
        Read,
    ),
    (
        r#"{"messages":[$user],"output":{"message":$call}}"#,
        Format::OpenAiChat,
        Read,
    ),
    (
        r#"{"inputs":{"messages":[$user]},"outputs":{"choices":[{"message":$call}]}}"#,
        Format::OpenAiChat,
        Read,
    ),
    (
        r#"{"body":{"messages":[$user]},"response":{"body":{"choices":[{"message":$call}]}}}"#,
        Format::OpenAiChat,
        Read,
    ),
    (
        r#"{"request":{"messages":[$user]},"response":{"type":"message","content":[$use]}}"#,
        Format::Anthropic,
        Read,
    ),
    (
        r#"{"request":{"input":[$user]},"response":{"object":"response","output":[$item]}}"#,
        Format::OpenAiResponses,
        Read,
    ),
    (
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"candidates":[{"content":$parts}]}"#,
        Format::Gemini,
        Read,
    ),
    (
        r#"{"request":{"contents":[{"role":"user","parts":["hi"]}]},"response":{"candidates":[{"content":$parts}]}}"#,
        Format::Gemini,
        Read,
    ),
    (
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"rm","args":{}}}]}}]}"#,
        Format::Gemini,
        Read,
    ),
    // The answer repeats the last message.
    (
        r#"{"messages":[$user,$call],"response":$call}"#,
        Format::OpenAiChat,
        Read,
    ),
    // Messages and items beside one another.
    (
        r#"{"messages":[$user,$call],"output":[{"type":"message","role":"assistant","content":[]}]}"#,
        Format::OpenAiResponses,
        Read,
    ),
    (
        r#"{"object":"list","data":[$item,{"type":"message","role":"user","content":[]}]}"#,
        Format::OpenAiResponses,
        Read,
    ),
    (
        r#"[{"type":"reasoning","summary":[]},{"type":"message","role":"assistant","content":[$use]},{"type":"reasoning","summary":[]}]"#,
        Format::OpenAiResponses,
        Read,
    ),
    // What no reader looks at is told.
    (
        r#"{"messages":[$user],"expected":$call}"#,
        Format::OpenAiChat,
        Told,
    ),
    (
        r#"{"messages":[$user],"log":{"turns":[{"steps":[$call]}]}}"#,
        Format::OpenAiChat,
        Told,
    ),
    (
        r#"{"messages":[$user],"trajectory":[$user,$call]}"#,
        Format::OpenAiChat,
        Told,
    ),
    (
        r#"{"contents":[{"role":"user","parts":[]}],"plan":[$parts]}"#,
        Format::Gemini,
        Told,
    ),
    (
        r#"{"input":[$user],"output":[],"object":"response","extra":$item}"#,
        Format::OpenAiResponses,
        Told,
    ),
    (
        r#"[$user,{"role":"assistant","content":"","steps":[$use]}]"#,
        Format::OpenAiChat,
        Told,
    ),
    // Messages with parts.
    (
        r#"[{"role":"user","parts":[{"text":"hi"}]},$parts]"#,
        Format::Gemini,
        Read,
    ),
    (
        r#"{"history":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"function_call":{"name":"rm","args":{}}}]}]}"#,
        Format::Gemini,
        Read,
    ),
    (
        r#"[$user,{"role":"assistant","parts":[{"type":"tool-rm","toolCallId":"a","state":"output-available","input":{},"output":"x"}]}]"#,
        Format::Anthropic,
        Read,
    ),
    (
        r#"[$user,{"role":"assistant","parts":[{"type":"dynamic-tool","toolName":"rm","toolCallId":"a","state":"output-error","input":{},"errorText":"x"}]}]"#,
        Format::Anthropic,
        Read,
    ),
    (
        r#"[$user,{"role":"assistant","content":"","parts":[{"type":"tool-invocation","toolInvocation":{"state":"result","toolCallId":"a","toolName":"rm","args":{},"result":"x"}}],"toolInvocations":[{"state":"result","toolCallId":"a","toolName":"rm","args":{},"result":"x"}]}]"#,
        Format::Anthropic,
        Read,
    ),
    (
        r#"[$user,{"role":"assistant","content":"","toolInvocations":[{"state":"result","toolCallId":"a","toolName":"rm","args":{},"result":"x"}]}]"#,
        Format::Anthropic,
        Read,
    ),
    // Members of another type or name than usual.
    (
        r#"[$user,{"role":"assistant","content":null,"tool_calls":"[{\"id\":\"c\",\"function\":{\"name\":\"rm\",\"arguments\":\"{}\"}}]"}]"#,
        Format::OpenAiChat,
        Read,
    ),
    (
        r#"[$user,{"role":"assistant","content":null,"tool_calls":{"id":"c","function":{"name":"rm","arguments":"{}"}}}]"#,
        Format::OpenAiChat,
        Read,
    ),
    (
        r#"[$user,{"role":"assistant","content":"","toolCalls":[{"id":"c","function":{"name":"rm","arguments":"{}"}}]}]"#,
        Format::OpenAiChat,
        Read,
    ),
    (
        r#"[$user,{"role":"assistant","content":"","tool_call":{"name":"rm","arguments":"{}"}}]"#,
        Format::OpenAiChat,
        Read,
    ),
    (
        r#"[$user,{"role":"assistant","content":$use}]"#,
        Format::Anthropic,
        Read,
    ),
    (
        r#"[$user,{"role":"assistant","content":"","tool_calls":"[ToolCall(name='rm')]"}]"#,
        Format::OpenAiChat,
        Unknown,
    ),
    (
        r#"[$user,{"role":"assistant","content":"","tool_calls":7}]"#,
        Format::OpenAiChat,
        Unknown,
    ),
];

#[test]
fn no_call_is_dropped_in_silence() {
    for (shape, format, fate) in SHAPES {
        let mut document = (*shape).to_owned();
        let values = [
            ("$user", USER),
            ("$call", OPENAI),
            ("$use", TOOL_USE),
            ("$item", ITEM),
            ("$parts", PARTS),
        ];
        for (name, value) in values {
            document = document.replace(name, value);
        }
        let bytes = document.as_bytes();
        let found = documents(bytes);
        let detection = detect_documents(&found, bytes).unwrap_or_else(|| panic!("{shape}"));
        assert_eq!(detection.format, *format, "{shape}: {}", detection.why);
        let converted = convert_documents(*format, detection.granularity, &found, bytes);
        accounted(&converted);
        let tools: Vec<Option<&str>> = converted
            .traces
            .iter()
            .flat_map(calls)
            .map(|call| text(call, "tool"))
            .collect();
        let problems = converted.traces.iter().flat_map(|trace| &trace.faults);
        let problems = problems.filter(|fault| fault.kind.is_error()).count();
        let left_out: u64 = converted.losses.iter().map(|loss| loss.count).sum();
        let (expected, problem, told): (&[Option<&str>], usize, bool) = match fate {
            Read => (&[Some("rm")], 0, false),
            Unknown => (&[None], 1, false),
            Told => (&[], 0, true),
        };
        assert_eq!(tools, expected, "{shape}: {:?}", converted.losses);
        assert_eq!(problems, problem, "{shape}");
        assert_eq!(left_out > 0, told, "{shape}: {:?}", converted.losses);
    }
}
