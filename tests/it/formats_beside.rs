//! What a reader leaves over beside what it reads: calls in another form, messages that were cut off, lists and columns that it does
//! not know.

use crate::support::cli::Folder;
use crate::support::formats::{
    accounted, calls, convert_documents, detect_documents, documents, get, is, text,
};
use guard_lang::input::formats::{Converted, Format, Input, convert};
use guard_lang::problem::ProblemKind;
use guard_lang::value::Value;

fn read(format: Format, recorded: &str) -> Converted {
    let bytes = recorded.as_bytes();
    let converted = convert_documents(format, format.granularity(), &documents(bytes), bytes);
    accounted(&converted);
    converted
}

/// Recordings with calls that no reader knows beside those that it knows, and the tools that are expected. `$read` and `$pay` are
/// calls of OpenAI, `$use` one of Anthropic, `$call` one that neither has.
const BESIDE: &[(Format, &str, &[Option<&str>])] = &[
    (
        Format::Anthropic,
        r#"[{"role":"assistant","content":[$use,$call]}]"#,
        &[Some("read"), None],
    ),
    (
        Format::Anthropic,
        r#"[{"role":"assistant","content":[$use,{"name":"a","input":{}},{"functionCall":{"name":"b"}}]}]"#,
        &[Some("read"), None, None],
    ),
    (
        Format::Anthropic,
        r#"[{"role":"assistant","content":[{"toolUse":{"toolUseId":"r","name":"read","input":{}}},{"tool_use":{"name":"pay","input":{}}}]}]"#,
        &[Some("read"), None],
    ),
    (
        Format::Anthropic,
        r#"[{"role":"assistant","parts":[{"type":"tool-read","toolCallId":"r","state":"output-available","input":{},"output":1},$call]}]"#,
        &[Some("read"), None],
    ),
    (
        Format::OpenAiChat,
        r#"[{"role":"assistant","content":[$call],"tool_calls":[$read]}]"#,
        &[Some("read"), None],
    ),
    (
        Format::OpenAiChat,
        r#"[{"role":"assistant","tool_calls":[$read],"tool_uses":[{"name":"pay","input":{}}]}]"#,
        &[Some("read"), None],
    ),
    (
        Format::OpenAiChat,
        r#"[{"role":"assistant","tool_calls":[$read],"extra":{"tool_calls":["pay()"]}}]"#,
        &[Some("read"), None],
    ),
    (
        Format::ClaudeCode,
        r#"{"type":"assistant","uuid":"a","message":{"role":"assistant","content":[$use,$call]}}"#,
        &[Some("read"), None],
    ),
    (
        Format::Gemini,
        r#"[{"role":"model","parts":[{"functionCall":{"name":"read","args":{}}},{"toolCall":{"name":"pay","args":{}}}]}]"#,
        &[Some("read"), None],
    ),
    (
        Format::Atif,
        r#"{"schema_version":"ATIF-v1.6","steps":[{"step_id":1,"source":"agent","message":"","tool_calls":[{"tool_call_id":"r","function_name":"read","arguments":{}}],"tool_uses":[$call],"observation":{"results":[{"source_call_id":"r","content":"x","args":{},"name":"y"}]}}]}"#,
        &[Some("read"), None],
    ),
    (
        Format::LangChain,
        r#"[{"type":"ai","content":"","tool_calls":[{"name":"read","args":{},"id":"r"}],"additional_kwargs":{"tool_outputs":[{"type":"web_search_call","id":"w","status":"completed"}]}}]"#,
        &[Some("read"), None],
    ),
    (
        Format::LangChain,
        r#"[{"id":"m","run_type":"llm","outputs":{"messages":[{"type":"ai","content":[$call],"tool_calls":[{"name":"read","args":{},"id":"r"}]}]}}]"#,
        &[Some("read"), None],
    ),
    // A tool that the server runs is in the content only, one that the client runs is in both.
    (
        Format::LangChain,
        r#"[{"type":"ai","content":[{"type":"server_tool_use","id":"s","name":"search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]},$use],"tool_calls":[{"name":"read","args":{},"id":"r"}]}]"#,
        &[Some("search"), Some("read")],
    ),
    (
        Format::Otel,
        r#"{"trace_id":"t","span_id":"a","name":"chat","attributes":{"gen_ai.operation.name":"chat","gen_ai.output.messages":[{"role":"assistant","parts":[{"type":"tool_call","id":"r","name":"read","arguments":{}},{"type":"tool_use","id":"p","name":"pay","input":{}}]}]}}"#,
        &[Some("read"), None],
    ),
    // The same call in another form is one call.
    (
        Format::OpenAiChat,
        r#"[{"role":"assistant","tool_calls":[$read],"extra":{"response":{"choices":[{"message":{"tool_calls":[$read]}}]}}}]"#,
        &[Some("read")],
    ),
    (
        Format::OpenAiChat,
        r#"[{"role":"assistant","tool_calls":"[{\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]","tool_uses":[{"name":"read","input":{}}]}]"#,
        &[Some("read")],
    ),
    (
        Format::LangChain,
        r#"[{"type":"ai","content":[{"type":"tool_call","id":"r","name":"read","args":{}}],"tool_calls":[{"name":"read","args":{"a":1},"id":"r"}],"additional_kwargs":{"function_call":{"name":"read","arguments":"{\"a\": 1}"}},"tool_call_chunks":[{"name":"read","args":"{","id":"r","index":1}]}]"#,
        &[Some("read")],
    ),
    // An id that an earlier message used is that of another call.
    (
        Format::OpenAiChat,
        r#"[{"role":"assistant","tool_calls":[$pay]},{"role":"assistant","tool_calls":[$read],"tool_uses":[{"id":"p","name":"pay","input":{}}]}]"#,
        &[Some("pay"), Some("read"), None],
    ),
    // What a tool gave back may contain anything.
    (
        Format::Anthropic,
        r#"[{"role":"assistant","content":[$use,{"type":"mcp_tool_result","tool_use_id":"r","content":[{"name":"x","input":{}}]}]}]"#,
        &[Some("read")],
    ),
];

#[test]
fn calls_that_are_not_read_beside_others() {
    let values = [
        (
            "$read",
            r#"{"id":"r","type":"function","function":{"name":"read","arguments":"{}"}}"#,
        ),
        (
            "$pay",
            r#"{"id":"p","type":"function","function":{"name":"pay","arguments":"{}"}}"#,
        ),
        (
            "$use",
            r#"{"type":"tool_use","id":"r","name":"read","input":{}}"#,
        ),
        (
            "$call",
            r#"{"type":"tool_call","id":"c","name":"pay","args":{}}"#,
        ),
    ];
    for (format, shape, tools) in BESIDE {
        let recorded = values
            .iter()
            .fold((*shape).to_owned(), |text, (name, value)| {
                text.replace(name, value)
            });
        let converted = read(*format, &recorded);
        let all = converted.traces.iter().flat_map(calls);
        let found: Vec<Option<&str>> = all.map(|call| text(call, "tool")).collect();
        assert_eq!(found, *tools, "{format}: {shape}");
        let faults: usize = converted
            .traces
            .iter()
            .map(|trace| trace.faults.len())
            .sum();
        let unknown = tools.iter().filter(|tool| tool.is_none()).count();
        assert_eq!(faults, unknown, "{format}: {shape}");
    }
}

/// A call whose name is missing or is no text is a problem.
#[test]
fn calls_without_a_name_are_problems() {
    for (format, recorded) in [
        (
            Format::OpenAiChat,
            r#"[{"role":"assistant","tool_calls":[{"id":"c","function":{"arguments":"{}"}}]}]"#,
        ),
        (
            Format::Anthropic,
            r#"[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":7,"input":{}}]}]"#,
        ),
        (
            Format::Mcp,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}"#,
        ),
    ] {
        let faults = &read(format, recorded).traces[0].faults;
        let kinds: Vec<_> = faults
            .iter()
            .map(|fault| (fault.kind, fault.field))
            .collect();
        assert_eq!(kinds, [(ProblemKind::MissingField, "tool")], "{recorded}");
    }
}

/// What is left of a model's messages after an exporter cut them off may have held calls; attributes that it dropped are counted.
#[test]
fn telemetry_that_was_cut_off() {
    let span = |member: &str, attributes: &str| {
        let span = format!(
            r#"{{"trace_id":"t","span_id":"a","name":"chat",{member}"attributes":{{"gen_ai.operation.name":"chat"{attributes}}}}}"#
        );
        read(Format::Otel, &span)
    };
    let said = r#"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"hi\"}]}]"#;
    let whole = span("", &format!(r#","gen_ai.output.messages":"{said}""#));
    assert_eq!(text(&whole.traces[0].events[0], "text"), Some("hi"));
    assert_eq!(calls(&whole.traces[0]).count(), 0);
    for cut in [
        format!(r#","gen_ai.output.messages":"{}""#, &said[..said.len() - 1]),
        r#","gen_ai.output.messages":"no JSON""#.to_owned(),
        r#","output.value":"{\"choices\": [""#.to_owned(),
    ] {
        let trace = &span("", &cut).traces[0];
        assert_eq!(get(&trace.events[0], "text"), None, "{cut}");
        let tools: Vec<_> = calls(trace).map(|call| get(call, "tool")).collect();
        assert_eq!((tools, trace.faults.len()), (vec![None], 1), "{cut}");
    }
    for plain in [
        r#","gen_ai.completion":"[1] says so""#,
        r#","ai.response.text":"{\"a""#,
    ] {
        assert_eq!(calls(&span("", plain).traces[0]).count(), 0, "{plain}");
    }
    let dropped = span(r#""droppedAttributesCount":"3","#, "");
    assert_eq!(dropped.losses[0].count, 3);
}

/// Messages beside the steps of an executor are counted, or read if there are no steps.
#[test]
fn messages_beside_steps() {
    let messages = r#"[{"type":"human","content":"x"},{"type":"ai","content":"","tool_calls":[{"name":"pay","args":{},"id":"z"}]}]"#;
    let step = r#"[{"tool":"read","tool_input":{},"log":""},"ok"]"#;
    for (steps, key, tools, lost) in [
        ("", "messages", &["pay"][..], 0),
        ("", "chat_history", &[], 2),
        (step, "messages", &["read"], 2),
        (step, "chat_history", &["read"], 2),
    ] {
        let record = format!(r#"{{"intermediate_steps":[{steps}],"{key}":{messages}}}"#);
        let converted = read(Format::LangChain, &record);
        let all = calls(&converted.traces[0]).filter_map(|call| text(call, "tool"));
        assert_eq!(all.collect::<Vec<_>>(), tools, "{record}");
        let left_out: u64 = converted.losses.iter().map(|loss| loss.count).sum();
        assert_eq!(left_out, lost, "{record}");
    }
    let trajectory = format!(
        r#"{{"schema_version":"ATIF-v1.6","steps":[],"extra":{{"steps":[{{"message":"","tool_calls":[{}]}}]}}}}"#,
        r#"{"tool_call_id":"1","function_name":"pay","arguments":{}}"#
    );
    assert_eq!(read(Format::Atif, &trajectory).losses[0].count, 1);
}

/// Names of columns are compared without case; in a table without a column for the kind, tool or activity, the kind is unknown.
#[test]
fn tables_of_other_programs() {
    let read = |table: &[u8]| {
        let converted = convert(Format::Csv, &Input::Text(table));
        accounted(&converted);
        converted
    };
    for table in [
        "case_id,activity,timestamp\n1,pay,2025-01-01T00:00:00Z\n",
        "Case ID,Activity,Complete Timestamp\n1,pay,2025-01-01T00:00:00Z\n",
        "case_id|activity|time\n1|pay|2025-01-01T00:00:00Z\n",
    ] {
        let trace = &read(table.as_bytes()).traces[0];
        assert_eq!(trace.id.as_deref(), Some("1"), "{table}");
        let event = &trace.events[0];
        let shown = ["kind", "tool", "role"].map(|name| text(event, name));
        let expected = ["call", "pay", "assistant"].map(Some);
        assert_eq!(shown, expected, "{table}");
        assert_eq!(get(event, "index"), Some(&Value::int(0)), "{table}");
        assert!(get(event, "at").is_some(), "{table}");
    }
    let unknown = read(b"case_id,what\n1,pay\n");
    assert_eq!(get(&unknown.traces[0].events[0], "kind"), None);
    let none = read(b"case_id,tool\n1,\n");
    assert!(is(&none.traces[0].events[0], "other"));
    let latin = read(b"case_id,activity,text\n1,say,caf\xe9\n");
    let event = &latin.traces[0].events[0];
    assert!(matches!(get(event, "text"), Some(Value::Enum(_))));
    let kinds: Vec<ProblemKind> = latin.traces[0].faults.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [ProblemKind::InvalidUtf8]);
    let header = read(b"case_id,activit\xe9\n1,say\n");
    assert_eq!(header.refused[0].kind, ProblemKind::InvalidUtf8);
}

/// If the spec reads canonical events, there is a note on events with another `kind`.
#[test]
fn events_of_other_kinds_are_told() {
    let agent = "use std.agent\nproperty p = never kind == \"call\"\n";
    let own = "event { kind: string }\nproperty p = never kind == \"call\"\n";
    let folder = Folder::new(&[
        ("agent.guard", agent),
        ("own.guard", own),
        ("kinds.jsonl", "{\"kind\":\"Start\",\"x\":1}\n"),
        ("canonical.jsonl", "{\"kind\":\"other\"}\n"),
    ]);
    let told = |spec: &str, file: &str| {
        let run = folder.guard(&["audit", spec, file]);
        run.err.contains("no format is recognized")
    };
    assert!(told("agent.guard", "kinds.jsonl"));
    assert!(!told("agent.guard", "canonical.jsonl"));
    assert!(!told("own.guard", "kinds.jsonl"));
}

/// An event of OpenHands is read also where it is alone.
#[test]
fn one_event_is_a_trace() {
    let event = r#"{"kind":"ActionEvent","source":"agent","tool_name":"pay","tool_call_id":"c","action":{}}"#;
    let converted = read(Format::Swe, event);
    let tools = calls(&converted.traces[0]).map(|call| text(call, "tool"));
    assert_eq!(tools.collect::<Vec<_>>(), [Some("pay")]);
}

/// Notes that are counted together name the format.
#[test]
fn counted_notes_name_the_format() {
    let spec = "use std.agent\nproperty p = never kind == \"call\"\n";
    let log = r#"{"schema_version":"ATIF-v1.6","steps":[]}"#;
    let names: Vec<String> = (0..50).map(|n| format!("{n}.json")).collect();
    let mut files = vec![("a.guard", spec)];
    files.extend(names.iter().map(|name| (name.as_str(), log)));
    let run = Folder::new(&files).guard(&["audit", "a.guard", "."]);
    assert!(run.err.contains("more: read as `atif`"), "{}", run.err);
}

/// Small logs are known by what they have.
#[test]
fn small_logs_are_detected() {
    let detected = |text: &str| {
        let bytes = text.as_bytes();
        detect_documents(&documents(bytes), bytes).map(|detection| detection.format)
    };
    let inspect = r#"{"version":2,"eval":{"task":"t"},"samples":[]}"#;
    assert_eq!(detected(inspect), Some(Format::Inspect));
    let logs = r#"[{"sessionId":"s","messageId":0,"type":"user","message":"x","timestamp":"2026-01-01T00:00:00Z"}]"#;
    assert_eq!(detected(logs), None);
    let answer = r#"{"id":"m","type":"message","role":"assistant","content":[{"type":"tool_use","id":"t","name":"pay","input":{}}],"stop_reason":"tool_use"}"#;
    assert_eq!(detected(answer), Some(Format::Anthropic));
    let item = r#"{"id":"m","type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]}"#;
    assert_eq!(detected(item), Some(Format::OpenAiResponses));
}

/// A call that a message has in two forms, with the same id, is one.
#[test]
fn a_call_in_two_forms_is_one() {
    let block = r#"{"type":"tool_use","id":"c","name":"pay","input":{}}"#;
    let listed = r#"{"id":"c","type":"function","function":{"name":"pay","arguments":"{}"}}"#;
    let broken = r#"{"id":"c","type":"invalid_tool_call","name":"pay","args":"{","error":"x"}"#;
    for (format, message) in [
        (
            Format::OpenAiChat,
            format!(r#"{{"role":"assistant","content":[{block}],"tool_calls":[{listed}]}}"#),
        ),
        (
            Format::Anthropic,
            format!(r#"{{"role":"assistant","content":[{block}],"tool_calls":[{listed}]}}"#),
        ),
        (
            Format::LangChain,
            format!(
                r#"{{"type":"ai","content":"","tool_calls":[],"invalid_tool_calls":[{broken}],"additional_kwargs":{{"tool_calls":[{listed}]}}}}"#
            ),
        ),
    ] {
        let converted = read(format, &format!("[{message}]"));
        let found = converted.traces.iter().flat_map(calls).count();
        assert_eq!(found, 1, "{format}: {message}");
    }
}

/// A number of calls, as the usage of a message has it, is no call.
#[test]
fn a_number_of_calls_is_no_call() {
    for format in [Format::OpenAiChat, Format::Anthropic, Format::LangChain] {
        let message = r#"{"role":"assistant","content":"x","usage":{"tool_calls":3},"response_metadata":{"tool_calls":0}}"#;
        let converted = read(format, &format!("[{message}]"));
        assert_eq!(
            converted.traces.iter().flat_map(calls).count(),
            0,
            "{format}"
        );
        let record = r#"{"messages":[{"role":"user","content":"x"}],"tool_calls":2}"#;
        let converted = read(format, record);
        assert_eq!(converted.traces.iter().flat_map(calls).count(), 0);
    }
}

/// The calls that a model asks for in a run of LangSmith, however its client writes its answer.
#[test]
fn answers_in_runs_of_models_have_their_calls() {
    let run = |kind: &str, outputs: &str| {
        format!(
            r#"{{"id":"1","trace_id":"1","run_type":"{kind}","name":"m","inputs":{{}},"outputs":{outputs}}}"#
        )
    };
    let block = r#"{"type":"tool_use","id":"c","name":"pay","input":{}}"#;
    let listed = r#"{"id":"c","type":"function","function":{"name":"pay","arguments":"{}"}}"#;
    let openai = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{listed}]}}"#);
    let known = [
        format!(r#"{{"role":"assistant","type":"message","content":[{block}]}}"#),
        format!(r#"{{"message":{openai}}}"#),
        format!(r#"{{"output":{openai}}}"#),
        openai.clone(),
    ];
    for outputs in &known {
        let converted = read(Format::LangChain, &run("llm", outputs));
        let tools = converted
            .traces
            .iter()
            .flat_map(calls)
            .map(|call| text(call, "tool"));
        assert_eq!(tools.collect::<Vec<_>>(), [Some("pay")], "{outputs}");
    }
    let unknown = [
        (
            "llm",
            r#"{"output":[{"type":"function_call","call_id":"c","name":"pay","arguments":"{}"}]}"#
                .to_owned(),
        ),
        (
            "llm",
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"pay","args":{}}}]}}]}"#
                .to_owned(),
        ),
        ("chain", format!(r#"{{"messages":[{openai}]}}"#)),
    ];
    for (kind, outputs) in &unknown {
        let converted = read(Format::LangChain, &run(kind, outputs));
        let tools = converted
            .traces
            .iter()
            .flat_map(calls)
            .map(|call| text(call, "tool"));
        assert_eq!(tools.collect::<Vec<_>>(), [None], "{outputs}");
    }
}
