//! Traces that are spread over lines: their facts and their ends mean the same whatever reads them.

use serde_json::Value;

use crate::support::cli::Folder;

/// A spec whose property reads a fact, and its lines. The trace is violated if the fact is `prod` at the event `b`.
const ENV: &str = "event { kind: string  seq: int = 0 }
trace { meta env: TYPE }
property no_prod_deploy = G !(kind == \"b\" and meta.env == \"prod\")
";

/// The names and verdicts of the traces of `guard audit --format json`, in their order.
fn verdicts(folder: &Folder, arguments: &[&str]) -> Vec<(String, String)> {
    let run = folder.guard(&[&["audit"], arguments, &["--format", "json"]].concat());
    let lines = run
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    lines
        .filter(|line| line["type"] == "verdict")
        .map(|line| (text(&line["trace"]), text(&line["verdict"])))
        .collect()
}

#[test]
fn a_fact_of_a_trace_holds_at_all_its_steps() {
    // The type of the fact, the lines between which nothing else stands, and the verdict.
    let cases = [
        // The first event does not say it.
        (
            "string = unknown",
            &[r#""kind":"a""#, r#""kind":"b","env":"prod""#][..],
            "violated",
        ),
        (
            "string?",
            &[r#""kind":"a""#, r#""kind":"b","env":"prod""#],
            "violated",
        ),
        (
            "string",
            &[r#""kind":"a""#, r#""kind":"b","env":"prod""#],
            "violated",
        ),
        (
            r#"string = "dev""#,
            &[r#""kind":"a""#, r#""kind":"b","env":"prod""#],
            "violated",
        ),
        // A later event says it of the steps before.
        (
            "string?",
            &[r#""kind":"b""#, r#""kind":"a","env":"prod""#],
            "violated",
        ),
        // Null is no value yet.
        (
            "string?",
            &[r#""kind":"b","env":null"#, r#""kind":"a","env":"prod""#],
            "violated",
        ),
        // The first value counts.
        (
            "string?",
            &[r#""kind":"b","env":"dev""#, r#""kind":"b","env":"prod""#],
            "satisfied",
        ),
        (
            r#"string = "dev""#,
            &[r#""kind":"b","env":"dev""#, r#""kind":"b","env":"prod""#],
            "satisfied",
        ),
        // A value that cannot be read is not the absence of one.
        (
            "string?",
            &[r#""kind":"b","env":5"#, r#""kind":"b""#],
            "unknown",
        ),
        (
            "string?",
            &[r#""kind":"b","env":5"#, r#""kind":"b","env":"prod""#],
            "violated",
        ),
        // Nobody says it.
        ("string?", &[r#""kind":"b""#, r#""kind":"b""#], "satisfied"),
        (
            "string = unknown",
            &[r#""kind":"b""#, r#""kind":"b""#],
            "unknown",
        ),
        (
            r#"string = "prod""#,
            &[r#""kind":"b""#, r#""kind":"b""#],
            "violated",
        ),
    ];
    for (ty, events, expected) in cases {
        let spec = ENV.replace(
            "TYPE",
            &format!("{}{}", ty.split(" = ").next().unwrap(), " from \"/env\""),
        );
        let spec = match ty.split_once(" = ") {
            Some((_, default)) => {
                spec.replace("from \"/env\"", &format!("from \"/env\" = {default}"))
            }
            None => spec,
        };
        let ordered = spec.replace("trace {", "trace { order by seq");
        let lines: String = events
            .iter()
            .map(|event| format!("{{\"trace\":\"t\",{event}}}\n"))
            .collect();
        let lines = format!("{lines}{{\"trace\":\"t\",\"end\":true}}\n");
        let folder = Folder::new(&[
            ("s.guard", &spec),
            ("o.guard", &ordered),
            ("t.jsonl", &lines),
        ]);
        for spec in ["s.guard", "o.guard"] {
            let found = verdicts(&folder, &[spec, "t.jsonl"]);
            assert_eq!(
                found,
                [("t".to_owned(), expected.to_owned())],
                "{spec} {ty}\n{lines}"
            );
            let code = |more: &[&str]| {
                folder
                    .guard(&[&["audit", spec, "t.jsonl"], more].concat())
                    .code
            };
            let json = code(&["--format", "json"]);
            for more in [
                &["--format", "human"][..],
                &["--format", "junit"],
                &["--format", "sarif"],
                &["--format", "html"],
                &["--format", "html", "--redact"],
            ] {
                assert_eq!(code(more), json, "{more:?} {spec} {ty}\n{lines}");
            }
        }
    }
}

#[test]
fn the_name_of_a_trace_and_its_filter_read_the_facts_of_all_events() {
    let spec = "event { kind: string }
trace { id = \"of {env}\"  meta env: string from \"/env\" = unknown  records where env != \"test\" }
property p = G kind != \"b\"
";
    let lines = r#"{"trace":"t","kind":"a"}
{"trace":"u","kind":"b"}
{"trace":"t","kind":"b","env":"prod"}
{"trace":"u","kind":"b","env":"test"}
"#;
    let folder = Folder::new(&[("s.guard", spec), ("t.jsonl", lines)]);
    let found = verdicts(&folder, &["s.guard", "t.jsonl"]);
    assert_eq!(found, [("of prod".to_owned(), "violated".to_owned())]);
}

#[test]
fn a_model_learns_from_the_facts_of_all_events() {
    let spec = "event { kind: string }
trace { meta env: string? from \"/env\" }
abstraction a { over prod: bool = meta.env == \"prod\" and kind == \"a\" }
model m = learn a { by meta.env }
";
    let spread = r#"{"trace":"t","kind":"a"}
{"trace":"t","kind":"b","env":"prod"}
{"trace":"t","end":true}
"#;
    let whole = r#"{"id":"t","env":"prod","events":[{"kind":"a"},{"kind":"b"}]}"#;
    let folder = Folder::new(&[
        ("s.guard", spec),
        ("spread.jsonl", spread),
        ("whole.jsonl", whole),
    ]);
    for file in ["spread", "whole"] {
        let run = folder.guard(&[
            "learn",
            "s.guard",
            &format!("{file}.jsonl"),
            "-o",
            &format!("{file}.json"),
        ]);
        assert_eq!(run.code, 0, "{}", run.err);
    }
    assert_eq!(folder.read("spread.json"), folder.read("whole.json"));
}

#[test]
fn an_end_ends_a_trace_also_where_its_events_are_sorted() {
    let spec = "event { kind: string  seq: int }\nproperty p = F kind == \"b\"\n";
    let ordered = format!("trace {{ order by seq }}\n{spec}");
    let lines = r#"{"trace":"t","kind":"c","seq":2}
{"trace":"u","kind":"a","seq":1}
{"trace":"t","kind":"a","seq":1}
{"trace":"t","end":true}
{"trace":"t","end":true}
{"trace":"t","kind":"b","seq":3}
"#;
    let folder = Folder::new(&[("s.guard", spec), ("o.guard", &ordered), ("t.jsonl", lines)]);
    for spec in ["s.guard", "o.guard"] {
        let mut found = verdicts(&folder, &[spec, "t.jsonl"]);
        found.sort();
        let expected = [
            ("t", "satisfied"),
            ("t", "violated"),
            ("u", "presumably_violated"),
        ];
        let expected = expected.map(|(trace, verdict)| (trace.to_owned(), verdict.to_owned()));
        assert_eq!(found, expected, "{spec}");
        let run = folder.guard(&["audit", spec, "t.jsonl"]);
        assert_eq!(run.code, 1);
        assert!(
            run.err.contains("t.jsonl:5") && run.err.contains("end of a trace that is not open"),
            "{}",
            run.err
        );
    }
}
