//! `guard events`: recordings converted to canonical events.

use std::path::Path;

use guard_lang::input::formats::Format;
use serde_json::{Value, json};

use crate::support::cli::{Folder, Run};

/// Conditions over every member of the canonical event; messages show values of the event that violates them.
const SPEC: &str = r#"event {
  index: int? = unknown  kind: string? = unknown  role: string? = unknown  text: string? = unknown
  tool: string? = unknown  args: json? = unknown  call: string? = unknown  result: json? = unknown
  error: bool? = unknown  at: json? = unknown  agent: string? = unknown  raw: json? = unknown  item: json? = unknown
}
property no_call = never (kind == "call") message "{index} {tool} {args} {call} {at} {raw} {item}"
property no_result = never (kind == "result") message "{tool} {result} {call} {error} {agent} {raw}"
property no_error = never (error == true) message "{text} {result}"
property no_text = never (role == "assistant" and text != null) message "{text} {at}"
property no_other = never (kind == "other") message "{raw}"
property answered = forall c: always (kind == "call" and call == c -> eventually (kind == "result" and call == c))
property agents = forall a: never (agent == a and kind == "message" and next kind == "message")
"#;

fn lines(run: &Run) -> Vec<Value> {
    let lines = run.out.lines().map(serde_json::from_str);
    lines.map(Result::unwrap).collect()
}

/// What is printed of every fixture is a native recording of the same events: printed again it is the same, and an audit comes to the
/// same verdicts on the same values.
#[test]
fn what_is_printed_is_the_same_recording() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let mut n_traces = 0;
    for format in Format::ALL {
        let recordings = root.join(format.name());
        let recordings = recordings.to_str().unwrap();
        let own = [recordings, "--from", format.name(), "--exclude", "*.snap"];
        let folder = Folder::new(&[("a.guard", SPEC)]);
        let first = folder.guard(&[&["events"], &own[..]].concat());
        n_traces += first.out.lines().count();
        folder.write("events.jsonl", &first.out);
        let native = ["events.jsonl", "--from", "native"];
        let again = folder.guard(&[&["events"], &native[..]].concat());
        assert_eq!(again.out, first.out, "{format}");
        let verdicts = |from: &[&str]| -> Vec<Value> {
            let audit = ["audit", "a.guard", "--format", "json"];
            let lines = lines(&folder.guard(&[&audit[..], from].concat())).into_iter();
            let verdicts = lines.filter(|line| line["type"] == "verdict");
            let members = ["trace", "property", "verdict", "message", "instance"];
            verdicts
                .map(|line| members.iter().map(|member| line[member].clone()).collect())
                .collect()
        };
        let recorded = verdicts(&own);
        assert!(!recorded.is_empty(), "{format}");
        assert_eq!(verdicts(&native), recorded, "{format}");
    }
    assert!(n_traces > 40, "{n_traces}");
}

/// The other members of a record stay where `meta` fields read them, and the name, whether it is complete and the format are found as
/// in an audit.
#[test]
fn a_record_keeps_what_meta_fields_read() {
    let record = json!({"task": {"id": 7}, "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
    ]});
    let native =
        json!({"id": "n", "complete": false, "score": 1, "events": [{"kind": "a", "z": null}]});
    let folder = Folder::new(&[
        ("runs/a.jsonl", &record.to_string()),
        ("runs/b.jsonl", &native.to_string()),
    ]);
    let run = folder.guard(&["events", "runs", "-o", "all.jsonl"]);
    assert_eq!(run.code, 0, "{run:?}");
    let all: Vec<Value> = folder
        .read("all.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(all.len(), 2);
    assert_eq!(
        (&all[0]["id"], &all[0]["task"]),
        (&json!("a.jsonl:1"), &json!({"id": 7}))
    );
    assert!(all[0].get("messages").is_none(), "{}", all[0]);
    let events = all[0]["events"].as_array().unwrap().iter();
    let texts: Vec<&Value> = events.map(|event| &event["text"]).collect();
    assert_eq!(texts, [&json!("hi"), &json!("hello")]);
    assert_eq!(all[1], native);
}

/// What cannot be read is said, and the rest is printed.
#[test]
fn unreadable_data_is_reported() {
    let traces = "{\"id\":\"a\",\"events\":[{\"k\":1,\"k\":2},{\"k\":3}]}\nnot JSON\n";
    let folder = Folder::new(&[("t.jsonl", traces)]);
    let run = folder.guard(&["events", "t.jsonl"]);
    assert_eq!(run.code, 3, "{run:?}");
    assert_eq!(lines(&run), [json!({"id": "a", "events": [{}, {"k": 3}]})]);
    let both = run.err.contains("t.jsonl:1") && run.err.contains("t.jsonl:2");
    assert!(both, "{}", run.err);
    let run = folder.guard(&["events", "none.jsonl"]);
    assert_eq!((run.code, run.out.as_str()), (3, ""));
    let run = folder.guard(&["events", "t.jsonl", "-o", "t.jsonl"]);
    assert_eq!(run.code, 2, "{run:?}");
}
