//! Notations of recorded tool calls: each is read, or reported as left out. One row per notation.

use crate::support::formats::{
    accounted, calls, convert_documents, detect_documents, documents, text,
};
use guard_lang::input::formats::{Format, Input, convert};
use guard_lang::problem::ProblemKind::{self, DuplicateKey, Malformed};

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
        Unknown,
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
    (
        r#"[{"kind":"request","parts":[{"part_kind":"user-prompt","content":"x"}]},{"kind":"response","parts":[{"part_kind":"tool-call","tool_name":"rm","args":"{}","tool_call_id":"a"}]}]"#,
        Format::Anthropic,
        Read,
    ),
    // Spans: of the AI SDK, OpenLLMetry, OpenInference, Logfire, and events of spans.
    (
        r#"{"trace_id":"t","span_id":"a","name":"ai.toolCall","start_time":1,"end_time":2,"attributes":{"operation.name":"ai.toolCall chat","ai.toolCall.name":"rm","ai.toolCall.args":"{}"}}"#,
        Format::Otel,
        Read,
    ),
    (
        r#"{"trace_id":"t","span_id":"a","name":"ai.generateText.doGenerate","start_time":1,"end_time":2,"attributes":{"operation.name":"ai.generateText.doGenerate","ai.response.toolCalls":"[{\"toolCallId\":\"a\",\"toolName\":\"rm\",\"args\":\"{}\"}]"}}"#,
        Format::Otel,
        Read,
    ),
    (
        r#"{"trace_id":"t","span_id":"a","name":"openai.chat","start_time":1,"end_time":2,"attributes":{"llm.request.type":"chat","gen_ai.completion.0.role":"assistant","gen_ai.completion.0.tool_calls.0.name":"rm","gen_ai.completion.0.tool_calls.0.arguments":"{}"}}"#,
        Format::Otel,
        Read,
    ),
    (
        r#"{"trace_id":"t","span_id":"a","name":"openai.chat","start_time":1,"end_time":2,"attributes":{"gen_ai.system":"openai","gen_ai.completion.0.function_call.name":"rm"}}"#,
        Format::Otel,
        Read,
    ),
    (
        r#"{"trace_id":"t","span_id":"a","name":"ChatCompletion","start_time":1,"end_time":2,"attributes":{"openinference.span.kind":"LLM","llm.output_messages.0.message.role":"assistant","llm.output_messages.0.message.tool_calls.0.tool_call.function.name":"rm"}}"#,
        Format::Otel,
        Read,
    ),
    (
        r#"{"trace_id":"t","span_id":"a","name":"running tool","start_time":1,"end_time":2,"attributes":{"gen_ai.tool.name":"rm","tool_arguments":"{}"}}"#,
        Format::Otel,
        Read,
    ),
    (
        r#"{"trace_id":"t","span_id":"a","name":"execute_tool rm","start_time":1,"end_time":2,"attributes":{}}"#,
        Format::Otel,
        Read,
    ),
    (
        r#"{"trace_id":"t","span_id":"a","name":"chat m","start_time":1,"end_time":2,"attributes":{"gen_ai.operation.name":"chat"},"events":[{"name":"gen_ai.choice","attributes":{"message":"{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"rm\",\"arguments\":\"{}\"}}]}"}}]}"#,
        Format::Otel,
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

/// Tables as they should not be: the tools of the rows that are read, the refused lines (first, how many), and how many
/// cells are unknown by a problem.
#[test]
fn tables() {
    type Row = (
        &'static str,
        &'static [&'static str],
        &'static [(u64, u64, ProblemKind)],
        usize,
    );
    let rows: &[Row] = &[
        ("case_id,activity\nA,ls\nB,rm\n", &["ls", "rm"], &[], 0),
        // A quote that nothing closes takes all that follows.
        (
            "case_id,activity\nA,\"ls\nB,rm\n",
            &[],
            &[(2, 2, Malformed)],
            0,
        ),
        (
            "case_id,activity\nA,ls\n\nB,\"rm\n",
            &["ls"],
            &[(4, 1, Malformed)],
            0,
        ),
        // One that a later quote closes takes the rows between.
        (
            "case_id,activity\nA,\"ls\nB,\"rm\"\nC,cp\n",
            &["cp"],
            &[(2, 2, Malformed)],
            0,
        ),
        ("case_id,\"activity\nA,ls\n", &[], &[(1, 2, Malformed)], 0),
        // Quotes as they should be, over two lines as well.
        (
            "case_id,activity\nA,\"l\"\"s\"\nB,\"r\nm\"\r\nC,\"\"\nD,c\"p\n",
            &["l\"s", "r\nm", "", "c\"p"],
            &[],
            0,
        ),
        // A column that stands twice.
        (
            "case_id,activity,activity\nA,rm,ls\n",
            &[],
            &[(1, 2, DuplicateKey)],
            0,
        ),
        ("case_id,activity,,\nA,rm,,\n", &["rm"], &[], 0),
        // Cells of arguments.
        ("case_id,activity,args\nA,rm,{bad\n", &["rm"], &[], 1),
        (
            "case_id,activity,args\nA,rm,\"{\"\"a\"\":1,\"\"a\"\":2}\"\n",
            &["rm"],
            &[],
            1,
        ),
        (
            "case_id,activity,args,result\nA,rm,-rf x,[done\n",
            &["rm"],
            &[],
            0,
        ),
    ];
    for (table, tools, refused, faults) in rows {
        let converted = convert(Format::Csv, &Input::Text(table.as_bytes()));
        accounted(&converted);
        let events = converted.traces.iter().flat_map(|trace| &trace.events);
        let found: Vec<&str> = events
            .map(|event| text(event, "tool").unwrap_or_default())
            .collect();
        assert_eq!(found, *tools, "{table}");
        let lines: Vec<_> = converted
            .refused
            .iter()
            .map(|refused| (refused.line, refused.lines, refused.kind))
            .collect();
        assert_eq!(lines, *refused, "{table}");
        let unknown = converted.traces.iter().flat_map(|trace| &trace.faults);
        assert_eq!(unknown.count(), *faults, "{table}");
        assert_eq!(converted.losses, [], "{table}");
    }
}

/// Rows stand on the lines that an editor shows, whatever ends them.
#[test]
fn lines_of_tables() {
    for end in ["\n", "\r\n"] {
        let table = "\u{feff}trace;kind;tool|1;call;rm||2;call;\"a|b\"|3;call;c".replace('|', end);
        let converted = convert(Format::Csv, &Input::Text(table.as_bytes()));
        let lines: Vec<_> = converted.traces.iter().map(|trace| trace.line).collect();
        assert_eq!(lines, [Some(2), Some(4), Some(6)], "{table:?}");
    }
}

/// One trace is a session, also where a file has several; a session that goes on under another name is one.
#[test]
fn sessions_of_transcripts() {
    let record = |uuid: &str, parent: &str, session: &str, said: &str| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"sessionId":"{session}","timestamp":"2025-01-01T00:00:00Z","message":{{"role":"user","content":"{said}"}}}}"#
        )
    };
    let file = [
        r#"{"type":"summary","summary":"s","leafUuid":"b"}"#.to_owned(),
        record("a", "null", "S1", "one"),
        record("x", "null", "S2", "two"),
        record("b", "\"a\"", "S1", "three"),
        record("c", "\"b\"", "S3", "four"),
        // Its beginning is not in the file.
        record("d", "\"z\"", "S4", "five"),
    ]
    .join("\n");
    let found = documents(file.as_bytes());
    let converted = convert(Format::ClaudeCode, &Input::Lines(&found));
    accounted(&converted);
    let traces: Vec<(Option<&str>, u32, Vec<&str>)> = converted
        .traces
        .iter()
        .map(|trace| {
            let said = trace.events.iter().filter_map(|event| text(event, "text"));
            (trace.id.as_deref(), trace.n, said.collect())
        })
        .collect();
    assert_eq!(
        traces,
        [
            (Some("S1"), 0, vec!["one", "three", "four", "five"]),
            (Some("S2"), 1, vec!["two"]),
        ]
    );
}
