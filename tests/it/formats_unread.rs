//! What a reader cannot read: a call in another shape than usual is an event of an unknown call, a record of another format is
//! reported, a missing cell is unknown.

use std::path::Path;

use crate::support::cli::Folder;
use crate::support::formats::{
    accounted, calls, convert_documents, documents, files, get, is, text,
};
use guard_lang::input::formats::{Converted, Format, Granularity, Input, convert};
use guard_lang::problem::ProblemKind::{self, Malformed};
use guard_lang::value::Value;

/// What is expected of a call: its tool.
const READ: Option<&str> = Some("pay");
const UNKNOWN: Option<&str> = None;

fn read(format: Format, recorded: &str) -> Converted {
    let bytes = recorded.as_bytes();
    let converted = convert_documents(format, format.granularity(), &documents(bytes), bytes);
    accounted(&converted);
    converted
}

/// `$call`, `$use`, `$item`, `$step` and `$gemini` are calls as they usually look, in the format that the row names.
const CALLS: &[(Format, &str, Option<&str>)] = &[
    // Messages of nobody, or of a tool, that make calls.
    (
        Format::OpenAiChat,
        r#"[$user,{"role":null,"content":"","tool_calls":[$call]}]"#,
        READ,
    ),
    (
        Format::OpenAiChat,
        r#"[$user,{"tool_calls":[$call]}]"#,
        READ,
    ),
    (
        Format::OpenAiChat,
        r#"[$user,{"role":"tool","content":"x","tool_calls":[$call]}]"#,
        READ,
    ),
    (
        Format::Anthropic,
        r#"[$user,{"content":"","tool_calls":[$call]}]"#,
        READ,
    ),
    // Members that no reader knows.
    (
        Format::OpenAiChat,
        r#"[$user,{"role":"assistant","content":"","calls":[$call]}]"#,
        UNKNOWN,
    ),
    (
        Format::OpenAiChat,
        r#"[$user,{"role":"assistant","content":"","additional_kwargs":{"tool_calls":[$call]}}]"#,
        UNKNOWN,
    ),
    (
        Format::OpenAiChat,
        r#"[$user,{"role":"assistant","content":"","action":{"name":"pay","args":{}}}]"#,
        UNKNOWN,
    ),
    (Format::OpenAiChat, r#"[$user,$item]"#, UNKNOWN),
    // Calls beside the messages are those of the answer.
    (
        Format::OpenAiChat,
        r#"{"messages":[$user],"tool_calls":[$call]}"#,
        READ,
    ),
    (
        Format::OpenAiChat,
        r#"{"messages":[$user],"tool_calls":"pay()"}"#,
        UNKNOWN,
    ),
    (
        Format::Gemini,
        r#"{"messages":[{"type":"user","content":"hi"}],"toolCalls":[$gemini]}"#,
        READ,
    ),
    // Containers of another shape.
    (
        Format::Gemini,
        r#"{"messages":[{"type":"user","content":"hi"},{"type":"gemini","content":"","toolCalls":$gemini}]}"#,
        READ,
    ),
    (
        Format::Gemini,
        r#"{"messages":[{"type":"user","content":"hi"},{"type":"gemini","content":"","tool_calls":[$gemini]}]}"#,
        READ,
    ),
    (
        Format::Gemini,
        r#"{"messages":[{"type":"user","content":"hi"},{"type":"gemini","content":"","toolCalls":"pay"}]}"#,
        UNKNOWN,
    ),
    (
        Format::Gemini,
        r#"{"messages":[{"type":"user","content":"hi"},{"type":"gemini","content":"","toolCalls":7}]}"#,
        UNKNOWN,
    ),
    (
        Format::Gemini,
        r#"{"messages":[{"type":"user","content":"hi"},{"content":"","toolCalls":[$gemini]}]}"#,
        READ,
    ),
    (
        Format::Gemini,
        r#"[{"role":"user","parts":[]},{"role":"model","parts":[{"calls":[$gemini]}]}]"#,
        UNKNOWN,
    ),
    (
        Format::Atif,
        r#"{"schema_version":"ATIF-v1.6","steps":[{"step_id":1,"source":"agent","message":"","tool_calls":$step}]}"#,
        READ,
    ),
    (
        Format::Atif,
        r#"{"schema_version":"ATIF-v1.6","steps":[{"step_id":1,"source":"agent","message":"","tool_calls":"pay"}]}"#,
        UNKNOWN,
    ),
    (
        Format::Atif,
        r#"{"schema_version":"ATIF-v1.6","steps":[{"step_id":1,"source":"agent","message":"","tool_calls":7}]}"#,
        UNKNOWN,
    ),
    (
        Format::Atif,
        r#"{"schema_version":"ATIF-v1.6","steps":[{"step_id":1,"source":"agent","message":"","actions":[$step]}]}"#,
        UNKNOWN,
    ),
    (
        Format::LangChain,
        r#"[{"type":"human","content":"hi"},{"type":"ai","content":"","tool_calls":{"name":"pay","args":{},"id":"c"}}]"#,
        READ,
    ),
    (
        Format::LangChain,
        r#"[{"type":"human","content":"hi"},{"type":"ai","content":"","tool_calls":7}]"#,
        UNKNOWN,
    ),
    (
        Format::LangChain,
        r#"[{"type":"human","content":"hi"},{"type":"ai","content":"","actions":[{"tool":"pay","tool_input":{}}]}]"#,
        UNKNOWN,
    ),
    (
        Format::LangChain,
        r#"{"intermediate_steps":[["pay","x"]]}"#,
        UNKNOWN,
    ),
    (
        Format::LangChain,
        r#"{"intermediate_steps":[{"action":7,"observation":"x"}]}"#,
        UNKNOWN,
    ),
    (
        Format::LangChain,
        r#"{"intermediate_steps":"[pay]"}"#,
        UNKNOWN,
    ),
    (
        Format::LangChain,
        r#"[{"id":"r","run_type":"llm","outputs":{"messages":[{"content":"","tool_calls":{"name":"pay","args":{},"id":"c"}}]}}]"#,
        READ,
    ),
    (
        Format::Inspect,
        r#"{"version":2,"eval":{"task":"t","model":"m"},"samples":[{"id":1,"epoch":1,"messages":[$user,{"role":"assistant","content":"","tool_calls":{"id":"c","function":"pay","arguments":{}}}]}]}"#,
        READ,
    ),
    (
        Format::Inspect,
        r#"{"version":2,"eval":{"task":"t","model":"m"},"samples":[{"id":1,"epoch":1,"messages":[$user,{"role":"assistant","content":"","tool_calls":7}]}]}"#,
        UNKNOWN,
    ),
    (
        Format::Inspect,
        r#"{"version":2,"eval":{"task":"t","model":"m"},"samples":[{"id":1,"epoch":1,"messages":[],"events":[{"event":"model","output":{"choices":{"message":{"role":"assistant","tool_calls":[$call]}}}}]}]}"#,
        UNKNOWN,
    ),
    (
        Format::Swe,
        r#"{"trajectory":[{"action":"","observation":"x"},{"action":["pay"],"observation":"x"}]}"#,
        UNKNOWN,
    ),
    (
        Format::Swe,
        r#"{"messages":[$user,{"role":"assistant","content":"x","extra":{"actions":{"tool":"pay"}}}]}"#,
        UNKNOWN,
    ),
    (
        Format::Swe,
        r#"[{"source":"user","action":"message","args":{}},{"source":"user","action":"message","args":{}},{"source":"agent","action":7}]"#,
        UNKNOWN,
    ),
    (
        Format::Mcp,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["pay"]}"#,
        UNKNOWN,
    ),
    (
        Format::Mcp,
        r#"{"jsonrpc":"2.0","id":1,"method":["tools/call"],"params":{"name":"pay"}}"#,
        UNKNOWN,
    ),
    (
        Format::Mcp,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"pay"}}"#,
        READ,
    ),
    (
        Format::Mcp,
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"sent":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"pay"}}}]"#,
        UNKNOWN,
    ),
    (
        Format::Otel,
        r#"{"trace_id":"t","span_id":"a","name":"chat","attributes":{"gen_ai.operation.name":"chat","gen_ai.completion":[{"content":"","tool_calls":{"name":"pay"}}]}}"#,
        READ,
    ),
    (
        Format::Otel,
        r#"{"trace_id":"t","span_id":"a","name":"chat","attributes":{"gen_ai.operation.name":"chat","ai.response.toolCalls":"pay"}}"#,
        UNKNOWN,
    ),
    (
        Format::Otel,
        r#"{"trace_id":"t","span_id":"a","name":"x","attributes":"gen_ai.tool.name=pay"}"#,
        UNKNOWN,
    ),
    (
        Format::ClaudeCode,
        r#"{"type":"assistant","uuid":"a","message":{"role":"assistant","content":$use}}"#,
        UNKNOWN,
    ),
    (
        Format::ClaudeCode,
        r#"{"type":"assistant","uuid":"a","content":[$use]}"#,
        UNKNOWN,
    ),
    (
        Format::ClaudeCodeLines,
        r#"{"type":"assistant","uuid":"a","message":[{"role":"assistant","content":[$use]}]}"#,
        UNKNOWN,
    ),
    (
        Format::AnthropicManaged,
        r#"{"type":"agent.message","content":[$use]}"#,
        UNKNOWN,
    ),
    (
        Format::AnthropicManaged,
        "{\"type\":\"user.message\",\"content\":[]}\n{\"event\":$use}",
        UNKNOWN,
    ),
    (
        Format::Codex,
        "{\"type\":\"turn_context\",\"payload\":{}}\n{\"type\":\"response_item\",\"item\":$item}",
        UNKNOWN,
    ),
    (
        Format::Codex,
        r#"{"type":"response_item","payload":{"type":"future","inner":$item}}"#,
        UNKNOWN,
    ),
    (
        Format::OpenAiResponses,
        r#"{"input":[],"output":$item}"#,
        READ,
    ),
    (
        Format::Codex,
        "{\"type\":\"turn_context\",\"payload\":{}}\n{\"type\":\"response_item\",\"payload\":\"pay\"}",
        UNKNOWN,
    ),
    (
        Format::OpenAiResponses,
        r#"{"input":[],"output":[{"type":"future","inner":[$item]}]}"#,
        UNKNOWN,
    ),
    // Names that are missing, or no texts.
    (
        Format::OpenAiResponses,
        r#"{"input":[],"output":[{"type":"function_call","call_id":"c","arguments":"{}"}]}"#,
        UNKNOWN,
    ),
    (
        Format::OpenAiResponses,
        r#"{"input":[],"output":[{"type":"function_call","call_id":"c","name":["pay"]}]}"#,
        UNKNOWN,
    ),
    (
        Format::OpenAiResponses,
        r#"{"input":[],"output":[{"type":"custom_tool_call","call_id":"c","name":null}]}"#,
        UNKNOWN,
    ),
    (
        Format::OpenAiResponses,
        r#"{"input":[],"output":[{"type":"pay_call","id":"c","status":"completed"}]}"#,
        READ,
    ),
    (
        Format::Codex,
        r#"{"type":"response_item","payload":{"type":"function_call","call_id":"c","arguments":"{}"}}"#,
        UNKNOWN,
    ),
    (
        Format::Codex,
        r#"{"type":"response_item","payload":{"type":"function_call","call_id":"c","name":7}}"#,
        UNKNOWN,
    ),
    (
        Format::Otel,
        r#"{"trace_id":"t","span_id":"a","name":"x","attributes":{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":7}}"#,
        UNKNOWN,
    ),
];

#[test]
fn a_call_in_another_shape_is_a_call() {
    let values = [
        ("$user", r#"{"role":"user","content":"hi"}"#),
        (
            "$call",
            r#"{"id":"c","type":"function","function":{"name":"pay","arguments":"{}"}}"#,
        ),
        (
            "$use",
            r#"{"type":"tool_use","id":"c","name":"pay","input":{}}"#,
        ),
        (
            "$item",
            r#"{"type":"function_call","call_id":"c","name":"pay","arguments":"{}"}"#,
        ),
        (
            "$step",
            r#"{"tool_call_id":"c","function_name":"pay","arguments":{}}"#,
        ),
        ("$gemini", r#"{"id":"c","name":"pay","args":{}}"#),
    ];
    for (format, shape, tool) in CALLS {
        let mut recorded = (*shape).to_owned();
        for (name, value) in values {
            recorded = recorded.replace(name, value);
        }
        let converted = read(*format, &recorded);
        let found: Vec<Option<&str>> = converted
            .traces
            .iter()
            .flat_map(calls)
            .map(|call| text(call, "tool"))
            .collect();
        assert_eq!(found, [*tool], "{format}: {shape}: {:?}", converted.losses);
        // A tool that is unknown is absent: null is known to be none.
        for call in converted.traces.iter().flat_map(calls) {
            assert_ne!(get(call, "tool"), Some(&Value::Null), "{format}: {shape}");
        }
    }
}

/// Calls that a record has a second time, and shapes that look like calls and are none.
#[test]
fn what_is_no_call_stays_so() {
    let call = r#"{"id":"c","type":"function","function":{"name":"pay","arguments":"{}"}}"#;
    let rows = [
        (
            Format::OpenAiChat,
            format!(
                r#"{{"messages":[{{"role":"assistant","content":"","tool_calls":[{call}]}}],"tool_calls":[{call}]}}"#
            ),
            1,
        ),
        (
            Format::OpenAiChat,
            format!(
                r#"[{{"role":"assistant","content":"","tool_calls":[{call}]}},{{"role":"tool","tool_call_id":"c","content":"x","tool_calls":[{call}]}}]"#
            ),
            1,
        ),
        (
            Format::OpenAiChat,
            r#"{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"pay","parameters":{}}}],"tool_calls":[]}"#.to_owned(),
            0,
        ),
        (
            Format::OpenAiChat,
            r#"[{"role":"tool","content":"x","calls":[{"name":"pay","arguments":{}}]},{"role":"assistant","content":"x","tool_calls":null}]"#.to_owned(),
            0,
        ),
        (
            Format::OpenAiResponses,
            r#"{"input":[],"output":[{"type":"mcp_approval_request","id":"a","name":"pay","arguments":"{}"},{"type":"mcp_list_tools","tools":[{"name":"pay","input":{}}]}]}"#.to_owned(),
            0,
        ),
    ];
    for (format, recorded, expected) in rows {
        let converted = read(format, &recorded);
        let found = converted.traces.iter().flat_map(calls).count();
        assert_eq!(found, expected, "{format}: {recorded}");
        let faults = converted.traces.iter().flat_map(|trace| &trace.faults);
        assert_eq!(faults.count(), 0, "{format}: {recorded}");
    }
}

/// A reader that finds nothing it knows in a file of another format says so.
#[test]
fn files_of_other_formats_are_reported() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    // These pass on whatever has the form of an event or a row.
    let any = [Format::Native, Format::Csv];
    for path in files(&root) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if !(name.ends_with(".json") || name.ends_with(".jsonl")) {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let documents = documents(&bytes);
        for format in Format::ALL.into_iter().filter(|it| !any.contains(it)) {
            for granularity in [Granularity::Document, Granularity::Lines] {
                let converted = convert_documents(format, granularity, &documents, &bytes);
                accounted(&converted);
                let mut events = converted.traces.iter().flat_map(|trace| &trace.events);
                let faults = converted.traces.iter().flat_map(|trace| &trace.faults);
                let told = !converted.losses.is_empty() || faults.count() > 0;
                assert!(
                    told || events.any(|event| !is(event, "other")),
                    "{format} takes {} for one of its own",
                    path.display()
                );
            }
        }
    }
    for format in [
        Format::Codex,
        Format::ClaudeCodeLines,
        Format::AnthropicManaged,
    ] {
        let record = r#"{"task_id":1,"traj":[{"role":"user","content":"hi"}]}"#;
        let converted = read(format, &format!("[{record},{record}]"));
        assert!(converted.traces.is_empty(), "{format}");
        let left_out: u64 = converted.losses.iter().map(|loss| loss.count).sum();
        assert_eq!((left_out, converted.items), (2, 2), "{format}");
    }
}

/// JSON is no table.
#[test]
fn json_is_no_table() {
    for text in [
        "[\n{\"tool\": \"pay\"}\n]\n",
        "{\"tool\": \"pay\"}\n",
        "{\n\"a\": 1}",
        "[{\"a\": 1}]",
    ] {
        let converted = convert(Format::Csv, &Input::Text(text.as_bytes()));
        accounted(&converted);
        assert!(
            converted.traces.is_empty() && !converted.losses.is_empty(),
            "{text}"
        );
    }
    let converted = convert(Format::Csv, &Input::Text(b"[id],[tool]\n1,pay\n"));
    assert_eq!(converted.traces.len(), 1);
}

/// The time of a call in a session of Gemini is that of its result; results of one message stand in the order of their times.
#[test]
fn results_of_gemini_have_their_own_times() {
    let call = |id: &str, at: &str| {
        format!(
            r#"{{"id":"{id}","name":"t","args":{{}},"status":"success","result":[],"timestamp":"2026-01-01T00:{at}Z"}}"#
        )
    };
    let session = format!(
        r#"{{"sessionId":"s","messages":[
        {{"type":"user","content":"x","timestamp":"2026-01-01T00:00:00Z"}},
        {{"type":"gemini","content":"","timestamp":"2026-01-01T00:01:00Z","toolCalls":[{},{},{}]}},
        {{"type":"gemini","content":"y","timestamp":"2026-01-01T00:20:00Z"}}]}}"#,
        call("slow", "16:00"),
        call("quick", "01:05.5"),
        // A time before the message is not that of its answer.
        call("early", "00:30"),
    );
    let converted = read(Format::Gemini, &session);
    let events = &converted.traces[0].events;
    let shown: Vec<[&str; 3]> = events
        .iter()
        .map(|event| ["kind", "call", "at"].map(|name| text(event, name).unwrap_or_default()))
        .collect();
    let (asked, answered) = ("2026-01-01T00:01:00Z", "result");
    assert_eq!(
        shown[1..7],
        [
            ["call", "slow", asked],
            ["call", "quick", asked],
            ["call", "early", asked],
            [answered, "early", asked],
            [answered, "quick", "2026-01-01T00:01:05.5Z"],
            [answered, "slow", "2026-01-01T00:16:00Z"],
        ]
    );
}

/// Cells that a row does not reach are unknown, and a problem; cells that are empty are absent.
#[test]
fn rows_with_too_few_cells() {
    let rows: &[(&str, &[&str], bool)] = &[
        ("a,call,pay,now\n", &[], false),
        ("a,call,,\n", &[], false),
        ("a,call", &["tool", "text"], true),
        ("a,call,pay\n", &["text"], true),
        ("a\n", &["kind", "tool", "text"], true),
    ];
    for (row, unknown, is_problem) in rows {
        let table = format!("trace,kind,tool,text\n{row}");
        let converted = convert(Format::Csv, &Input::Text(table.as_bytes()));
        accounted(&converted);
        let event = &converted.traces[0].events[0];
        for name in ["kind", "tool", "text"] {
            let is_unknown = matches!(get(event, name), Some(Value::Enum(_)));
            assert_eq!(is_unknown, unknown.contains(&name), "{row:?}: {name}");
        }
        let kinds: Vec<ProblemKind> = converted.traces[0]
            .faults
            .iter()
            .map(|fault| fault.kind)
            .collect();
        let expected: &[ProblemKind] = if *is_problem { &[Malformed] } else { &[] };
        assert_eq!(kinds, expected, "{row:?}");
    }
}

/// A recording that is read by the paths of the spec, none of which it has, has a note.
#[test]
fn a_recording_that_the_spec_reads_otherwise_is_told() {
    let spec = "event { kind: string?  tool: string?  note: string? }\nproperty p = never (tool == \"rm\")\n";
    let chat =
        r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}]}"#;
    let own = r#"{"kind":"call","tool":"ls"}"#;
    let folder = Folder::new(&[("a.guard", spec), ("chat.jsonl", chat), ("own.jsonl", own)]);
    let told = |args: &[&str]| {
        let run = folder.guard(&[&["audit", "a.guard"], args].concat());
        run.err.contains("looks like `openai`") && run.err.contains("`--from openai`")
    };
    assert!(told(&["chat.jsonl"]));
    assert!(!told(&["own.jsonl"]));
    assert!(!told(&["own.jsonl", "chat.jsonl"]));
    assert!(!told(&["chat.jsonl", "--from", "native"]));
    assert!(!told(&["chat.jsonl", "--from", "openai"]));
}
