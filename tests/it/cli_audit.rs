//! `guard audit` on real files: verdicts, reports and exit codes.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::support::cli::{Folder, Run, SPEC};
use serde_json::Value;

const GOOD: &str = r#"{"id":"g1","events":[{"kind":"approval","args":{"granted":true}},{"kind":"call","tool":"send_email"}]}
{"id":"g2","events":[{"kind":"request","call":"r1"},{"kind":"response","call":"r1"}]}
"#;
const BAD: &str = r#"{"id":"b1","events":[{"kind":"message"},{"kind":"call","tool":"send_email"},{"kind":"message"}]}
{"id":"b2","events":[{"kind":"request","call":"r1"},{"kind":"request","call":"r2"},{"kind":"response","call":"r1"}]}
"#;

fn folder() -> Folder {
    Folder::new(&[("a.guard", SPEC), ("good.jsonl", GOOD), ("bad.jsonl", BAD)])
}

fn lines(run: &Run) -> Vec<Value> {
    run.out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn of_type<'l>(lines: &'l [Value], wanted: &str) -> Vec<&'l Value> {
    lines.iter().filter(|line| line["type"] == wanted).collect()
}

#[test]
fn exit_codes_tell_violations_and_unreadable_data_apart() {
    let folder = folder();
    folder.write(
        "mixed.jsonl",
        format!("{GOOD}{{\"id\":\"cut\",\"events\":[\n{GOOD}"),
    );
    assert_eq!(folder.guard(&["audit", "a.guard", "good.jsonl"]).code, 0);
    assert_eq!(folder.guard(&["audit", "a.guard", "bad.jsonl"]).code, 1);
    assert_eq!(folder.guard(&["audit", "a.guard", "mixed.jsonl"]).code, 3);
    assert_eq!(
        folder
            .guard(&["audit", "a.guard", "mixed.jsonl", "bad.jsonl"])
            .code,
        1
    );
    assert_eq!(
        folder.guard(&["audit", "missing.guard", "good.jsonl"]).code,
        2
    );
    assert_eq!(folder.guard(&["audit", "a.guard"]).code, 2);
    folder.write("wrong.guard", "property p = G nothing\n");
    assert_eq!(
        folder.guard(&["audit", "wrong.guard", "good.jsonl"]).code,
        2
    );
}

#[test]
fn a_malformed_line_in_the_middle_is_named_and_the_rest_is_judged() {
    let folder = folder();
    folder.write(
        "mixed.jsonl",
        format!(
            "{GOOD}{{\"id\":\"cut\",\"events\":[}}\n{}",
            GOOD.replace("\"id\":\"g", "\"id\":\"h")
        ),
    );
    let run = folder.guard(&["audit", "a.guard", "mixed.jsonl"]);
    assert_eq!(run.code, 3);
    assert!(
        run.err.contains("data error: mixed.jsonl:3: "),
        "{}",
        run.err
    );
    assert!(run.out.contains("4 traces"), "{}", run.out);
    assert!(
        run.out.contains("5 lines = 4 read + 1 not readable"),
        "{}",
        run.out
    );
    let run = folder.guard(&["audit", "a.guard", "mixed.jsonl", "--format", "json"]);
    let lines = lines(&run);
    let problems = of_type(&lines, "problem");
    assert_eq!(problems.len(), 1);
    assert_eq!(
        (&problems[0]["kind"], &problems[0]["line"]),
        (&Value::from("malformed"), &Value::from(3))
    );
    assert_eq!(of_type(&lines, "trace").len(), 4);
}

#[test]
fn a_missing_file_does_not_hide_the_others() {
    let folder = folder();
    let run = folder.guard(&["audit", "a.guard", "missing.jsonl", "good.jsonl"]);
    assert_eq!(run.code, 3);
    assert!(
        run.err.contains("missing.jsonl: cannot be read"),
        "{}",
        run.err
    );
    assert!(run.out.contains("2 traces"), "{}", run.out);
}

#[test]
fn an_audit_of_nothing_is_no_success() {
    let folder = folder();
    folder.write("empty.jsonl", "");
    folder.write("none/readme.txt", "nothing here");
    let run = folder.guard(&["audit", "a.guard", "empty.jsonl"]);
    assert_eq!(run.code, 3);
    assert!(
        run.err.contains("no traces found in empty.jsonl"),
        "{}",
        run.err
    );
    let run = folder.guard(&["audit", "a.guard", "none"]);
    assert_eq!(run.code, 3);
    assert!(
        run.err.contains("no file in this folder ends in"),
        "{}",
        run.err
    );
    let run = folder.guard(&["audit", "a.guard", "empty.jsonl", "good.jsonl"]);
    assert_eq!(
        run.code, 0,
        "an empty file beside others is only noted: {run:?}"
    );
    assert!(
        run.err
            .contains("note: empty.jsonl: no traces found in this file"),
        "{}",
        run.err
    );
}

#[test]
fn folders_are_searched_in_order() {
    let folder = folder();
    folder.write("runs/b/two.jsonl", BAD);
    folder.write("runs/a/one.jsonl", GOOD);
    folder.write("runs/a/skip.txt", "no");
    let run = folder.guard(&["audit", "a.guard", "runs", "--format", "json"]);
    assert_eq!(run.code, 1);
    let lines = lines(&run);
    let names: Vec<&str> = of_type(&lines, "trace")
        .iter()
        .map(|line| line["trace"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["g1", "g2", "b1", "b2"]);
    let run = folder.guard(&[
        "audit", "a.guard", "runs", "--glob", "one*", "--format", "json",
    ]);
    assert_eq!(run.code, 0);
    let run = folder.guard(&[
        "audit", "a.guard", "runs", "--glob", "[", "--format", "json",
    ]);
    assert_eq!(run.code, 2);
}

#[test]
fn the_standard_input_and_compressed_files_are_read() {
    let folder = folder();
    let run = folder.guard_with(&["audit", "a.guard", "-"], BAD);
    assert_eq!(run.code, 1);
    assert!(run.out.contains("<stdin>:1"), "{}", run.out);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(BAD.as_bytes()).unwrap();
    folder.write("bad.jsonl.gz", encoder.finish().unwrap());
    assert_eq!(folder.guard(&["audit", "a.guard", "bad.jsonl.gz"]).code, 1);
    assert_eq!(folder.guard_with(&["audit", "-", "-"], SPEC).code, 2);
}

#[test]
fn events_spread_over_lines_are_gathered_by_trace() {
    let folder = folder();
    folder.write(
        "spread.jsonl",
        r#"{"trace":"s1","kind":"approval","args":{"granted":true}}
{"trace":"s2","kind":"call","tool":"send_email"}
{"trace":"s1","kind":"call","tool":"send_email"}
{"trace":"s3","kind":"request","call":"r1"}
{"trace":"s2","end":true}
{"trace":"s1","end":true}
"#,
    );
    let run = folder.guard(&["audit", "a.guard", "spread.jsonl", "--format", "json"]);
    assert_eq!(run.code, 1);
    let lines = lines(&run);
    let verdicts: Vec<(&str, &str, &str)> = of_type(&lines, "verdict")
        .iter()
        .map(|line| {
            let of = |key: &str| line[key].as_str().unwrap();
            (of("trace"), of("property"), of("verdict"))
        })
        .collect();
    // In order of their ends; what was not ended comes last and stays open.
    assert_eq!(
        verdicts,
        [
            ("s2", "approved", "violated"),
            ("s2", "answered", "satisfied"),
            ("s2", "no_delete", "satisfied"),
            ("s1", "approved", "satisfied"),
            ("s1", "answered", "satisfied"),
            ("s1", "no_delete", "satisfied"),
            ("s3", "approved", "presumably_satisfied"),
            ("s3", "answered", "presumably_violated"),
            ("s3", "no_delete", "presumably_satisfied"),
        ]
    );
}

#[test]
fn the_report_does_not_depend_on_jobs() {
    let folder = folder();
    let mut text = String::new();
    for n in 0..3000 {
        match n % 3 {
            0 => text.push_str(&BAD.replace("\"b", &format!("\"b{n}-"))),
            1 => text.push_str(&format!(
                "{{\"trace\":\"s{}\",\"kind\":\"request\",\"call\":\"r{n}\"}}\n",
                n % 7
            )),
            _ => text.push_str("{\"id\":1,\n"),
        }
    }
    folder.write("many.jsonl", text);
    for format in ["human", "json", "sarif", "junit"] {
        let one = folder.guard(&[
            "audit",
            "a.guard",
            "many.jsonl",
            "--format",
            format,
            "--jobs",
            "1",
        ]);
        let four = folder.guard(&[
            "audit",
            "a.guard",
            "many.jsonl",
            "--format",
            format,
            "--jobs",
            "4",
        ]);
        assert_eq!(one.code, 1);
        assert!(one.out == four.out, "{format} depends on --jobs");
        assert_eq!(one.err, four.err);
    }
    assert_eq!(
        folder
            .guard(&["audit", "a.guard", "good.jsonl", "--jobs", "0"])
            .code,
        2
    );
}

#[test]
fn only_the_properties_asked_for_are_judged() {
    let folder = folder();
    let run = folder.guard(&[
        "audit",
        "a.guard",
        "bad.jsonl",
        "--property",
        "no_delete",
        "--format",
        "json",
    ]);
    assert_eq!(run.code, 0);
    let run = folder.guard(&[
        "audit",
        "a.guard",
        "bad.jsonl",
        "--property",
        "phi7",
        "--format",
        "json",
    ]);
    assert_eq!(run.code, 1);
    let lines = lines(&run);
    assert!(
        of_type(&lines, "verdict")
            .iter()
            .all(|line| line["property"] == "approved")
    );
    let run = folder.guard(&["audit", "a.guard", "bad.jsonl", "--property", "aproved"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("did you mean `approved`?"), "{}", run.err);
}

#[test]
fn other_formats_are_whole_documents() {
    let folder = folder();
    let run = folder.guard(&[
        "audit",
        "a.guard",
        "bad.jsonl",
        "--format",
        "sarif",
        "-o",
        "out.sarif",
    ]);
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    let sarif: serde_sarif::sarif::Sarif = serde_json::from_str(&folder.read("out.sarif")).unwrap();
    assert_eq!(sarif.runs[0].results.as_ref().unwrap().len(), 2);
    let run = folder.guard(&["audit", "a.guard", "bad.jsonl", "--format", "junit"]);
    assert_eq!(run.code, 1);
    assert!(
        run.out.contains("tests=\"6\" skipped=\"0\" failures=\"2\""),
        "{}",
        run.out
    );
    let run = folder.guard(&["audit", "a.guard", "bad.jsonl", "--format", "html"]);
    assert_eq!(run.code, 1);
    assert!(run.out.starts_with("<!DOCTYPE html>"), "{}", run.out);
    let run = folder.guard(&[
        "audit",
        "a.guard",
        "bad.jsonl",
        "-o",
        "no/such/folder/out.txt",
    ]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("no/such/folder/out.txt"), "{}", run.err);
}

#[test]
fn a_compiled_spec_judges_the_same() {
    let folder = folder();
    assert_eq!(
        folder.guard(&["compile", "a.guard", "-o", "a.guardc"]).code,
        0
    );
    let source = folder.guard(&["audit", "a.guard", "bad.jsonl"]);
    let compiled = folder.guard(&["audit", "a.guardc", "bad.jsonl"]);
    assert_eq!((source.code, source.out), (compiled.code, compiled.out));
}

#[test]
fn names_that_repeat_are_kept_apart_and_told_once() {
    let folder = folder();
    folder.write("twice.jsonl", format!("{GOOD}{GOOD}{GOOD}"));
    let run = folder.guard(&["audit", "a.guard", "twice.jsonl", "--format", "json"]);
    assert_eq!(run.code, 0);
    let lines = lines(&run);
    assert_eq!(of_type(&lines, "trace").len(), 6);
    assert_eq!(of_type(&lines, "problem").len(), 2);
}

/// Matching takes time in proportion to the text, whatever the expression: with backtracking this would not end.
#[test]
fn an_expression_that_explodes_elsewhere_is_matched() {
    let folder = Folder::new(&[(
        "re.guard",
        "event { text: string }\nproperty p = never (text matches /^(a+)+$|^(a|a)*b$|(.*.*)*c$/)\n",
    )]);
    let long = "a".repeat(100_000);
    folder.write(
        "long.jsonl",
        format!(
            "{{\"id\":\"no\",\"events\":[{{\"text\":\"{long}!\"}}]}}\n{{\"id\":\"yes\",\"events\":[{{\"text\":\"{long}\"}}]}}\n"
        ),
    );
    let run = folder.guard(&["audit", "re.guard", "long.jsonl", "--format", "json"]);
    assert_eq!(run.code, 1, "{run:?}");
    let lines = lines(&run);
    let verdicts: Vec<&str> = of_type(&lines, "verdict")
        .iter()
        .map(|line| line["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["satisfied", "violated"]);
}

#[test]
fn an_empty_trace_is_a_trace() {
    let folder = folder();
    folder.write("empty.jsonl", "{\"id\":\"e\",\"events\":[]}\n");
    let run = folder.guard(&["audit", "a.guard", "empty.jsonl", "--format", "json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let lines = lines(&run);
    let verdicts = of_type(&lines, "verdict");
    assert_eq!(verdicts.len(), 3);
    assert!(
        verdicts
            .iter()
            .all(|line| line["verdict"] == "satisfied" && line["at"].is_null())
    );
    assert_eq!(of_type(&lines, "trace")[0]["events"], 0);
}

#[test]
fn what_was_not_recorded_is_neither_safe_nor_violated() {
    let folder = folder();
    folder.write(
        "odd.jsonl",
        "{\"id\":\"u\",\"events\":[{\"tool\":\"send_email\"}]}\n",
    );
    let run = folder.guard(&["audit", "a.guard", "odd.jsonl"]);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.out.contains("unknown approved"), "{}", run.out);
}

#[test]
fn other_recordings_are_read_by_their_format() {
    let spec = "event { kind: string\n  tool: string? = unknown\n}\nproperty p = never (kind == \"call\" and tool == \"rm\")\n";
    let chat = r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"rm","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"done"}]}"#;
    let folder = Folder::new(&[("a.guard", spec), ("chat.jsonl", chat)]);
    let given = folder.guard(&[
        "audit",
        "a.guard",
        "chat.jsonl",
        "--from",
        "openai",
        "--format",
        "json",
    ]);
    assert_eq!(given.code, 1, "{given:?}");
    let lines = lines(&given);
    assert_eq!(of_type(&lines, "verdict")[0]["at"], 1);
    let detected = folder.guard(&["audit", "a.guard", "chat.jsonl"]);
    assert_eq!(detected.code, 1, "{detected:?}");
    assert!(
        detected.err.contains("note: chat.jsonl: read as `openai`"),
        "{}",
        detected.err
    );
    let run = folder.guard(&["audit", "a.guard", "chat.jsonl", "--from", "opnai"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("a similar value exists: 'openai'"),
        "{}",
        run.err
    );
}

/// Records without a name that stand on one line have names of their own.
#[test]
fn records_of_one_line_are_told_apart() {
    let spec = "use std.agent\nproperty p = never (kind == \"call\")\n";
    let record = r#"{"messages":[{"role":"user","content":"hi"}]}"#;
    let text = format!("[{record},{record},{record}]");
    let folder = Folder::new(&[("a.guard", spec), ("x.json", &text)]);
    let run = folder.guard(&["audit", "a.guard", "x.json", "--format", "json"]);
    let lines = lines(&run);
    let names: Vec<_> = of_type(&lines, "verdict")
        .iter()
        .map(|verdict| verdict["trace"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(names, ["x.json:1", "x.json:1#1", "x.json:1#2"]);
}

/// Formats are told apart whatever stands before the data, and lines that cannot be read are refused, not passed over.
#[test]
fn formats_are_seen_behind_marks_and_words() {
    let spec = "use std.agent\nproperty p = never (kind == \"call\" and tool == \"rm\")\n";
    let message = r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"rm","arguments":"{}"}}]}"#;
    let files = [
        (
            "words.jsonl",
            format!("starting, 3 tools\n2026 more\n{message}\n"),
            1,
            2,
        ),
        (
            "bom.csv",
            "\u{feff}trace,kind,tool\n1,call,rm\n".to_owned(),
            1,
            0,
        ),
        (
            "tabs.tsv",
            "trace\tkind\ttool\n1\tcall\trm\n".to_owned(),
            1,
            0,
        ),
        (
            "open.csv",
            "case_id,activity\nA,ls\nB,\"ls\nC,rm\n".to_owned(),
            3,
            2,
        ),
        (
            "twice.csv",
            "case_id,activity,activity\nA,ls,rm\n".to_owned(),
            3,
            2,
        ),
    ];
    let mut all: Vec<(&str, &str)> = vec![("a.guard", spec)];
    all.extend(files.iter().map(|(name, text, ..)| (*name, text.as_str())));
    let folder = Folder::new(&all);
    for (name, _, code, refused) in &files {
        let run = folder.guard(&["audit", "a.guard", name, "--format", "json"]);
        assert_eq!(run.code, *code, "{name}: {run:?}");
        let lines = lines(&run);
        let accounting = &of_type(&lines, "summary")[0]["input"];
        assert_eq!(accounting["refused"], *refused, "{name}: {accounting}");
    }
    let run = folder.guard(&[
        "audit", "a.guard", ".", "--glob", "*.tsv", "--format", "json",
    ]);
    let folder_run = folder.guard(&["audit", "a.guard", ".", "--format", "json"]);
    assert_eq!(of_type(&lines(&run), "verdict").len(), 1);
    let verdicts = lines(&folder_run);
    let traces = of_type(&verdicts, "verdict");
    assert!(traces.iter().any(|verdict| {
        verdict["file"]
            .as_str()
            .is_some_and(|file| file.ends_with("tabs.tsv"))
    }));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let folder = folder();
    folder.write("many.jsonl", BAD.repeat(5000));
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("guard"))
        .current_dir(folder.path())
        .args(["audit", "a.guard", "many.jsonl", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(1),
        "what was found so far counts"
    );
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn the_text_report_shows_the_clause_and_the_steps() {
    let folder = folder();
    let run = folder.guard(&["audit", "a.guard", "good.jsonl", "bad.jsonl"]);
    insta::assert_snapshot!(run.out);
}

#[test]
fn the_json_report_is_stable() {
    let folder = folder();
    let run = folder.guard(&["audit", "a.guard", "bad.jsonl", "--format", "json"]);
    insta::assert_snapshot!(run.out);
}

/// An output does not take the place of what is read.
#[test]
fn what_is_read_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let spec = "event { kind: string }\nproperty p = always (kind == \"x\")\n";
    std::fs::write(path("a.guard"), spec).unwrap();
    let trace = "{\"id\":\"t\",\"events\":[{\"kind\":\"x\"}]}\n";
    std::fs::write(path("t.jsonl"), trace).unwrap();
    for args in [
        ["audit", "a.guard", "t.jsonl", "-o", "t.jsonl"].as_slice(),
        &["audit", "a.guard", "t.jsonl", "-o", "a.guard"],
        &["compile", "a.guard", "-o", "a.guard"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_guard"))
            .args(args)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("is an input file"), "{args:?}: {said}");
        assert!(!output.status.success());
    }
    assert_eq!(std::fs::read_to_string(path("a.guard")).unwrap(), spec);
    assert_eq!(std::fs::read_to_string(path("t.jsonl")).unwrap(), trace);
}

/// Where nobody can tell whether a trace is complete, nothing is final that what may follow can change.
#[test]
fn a_completeness_that_is_no_truth_value_is_not_taken_for_one() {
    let folder = tempfile::tempdir().unwrap();
    let spec = "event { kind: string }\nproperty p = F (kind == \"y\")\n";
    std::fs::write(folder.path().join("f.guard"), spec).unwrap();
    for (complete, verdict) in [
        ("true", "violated"),
        ("\"no\"", "presumably_violated"),
        ("0", "presumably_violated"),
    ] {
        let trace =
            format!("{{\"id\":\"e\",\"complete\":{complete},\"events\":[{{\"kind\":\"x\"}}]}}\n");
        std::fs::write(folder.path().join("t.jsonl"), trace).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_guard"))
            .args(["audit", "f.guard", "t.jsonl", "--format", "json"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let first = String::from_utf8(output.stdout).unwrap();
        let first: Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
        assert_eq!(first["verdict"], verdict, "{complete}");
    }
}

#[test]
fn conditions_beyond_the_work_of_a_step_are_unknown() {
    let words: Vec<String> = (0..300).map(|n| format!("w{n}")).collect();
    let events = serde_json::json!([{"xs": words, "s": "a".repeat(100_000)}]);
    let trace = serde_json::json!({"id": "t", "events": events}).to_string();
    for condition in [
        "any a in xs: any b in xs: a + b == \"none\"",
        "(count a in xs: any b in xs: b == a + \"x\") > 3",
        "any a in xs: lower(s + a) == \"none\"",
        "any a in xs: s + a matches /b/",
        "any a in xs: s + a contains \"b\"",
        "any a in xs: xs + [a] == []",
        "(count a in xs: s starts_with lower(s)) < 3",
    ] {
        let spec =
            format!("event {{ xs: list<string>  s: string }}\nproperty p = never ({condition})\n");
        let folder = Folder::new(&[("p.guard", &spec), ("t.jsonl", &trace)]);
        let whole = folder.guard(&["audit", "p.guard", "t.jsonl"]);
        assert_eq!(whole.code, 0, "{condition}: {}", whole.out);
        let args = ["audit", "p.guard", "t.jsonl", "--max-step-work", "50000"];
        let limited = folder.guard(&args);
        assert!(
            limited.out.contains("unknown p"),
            "{condition}: {}",
            limited.out
        );
        assert!(
            limited.err.contains("step_work"),
            "{condition}: {}",
            limited.err
        );
    }
}

/// `starts_with` and `ends_with` look at as much of a text as the other text is long.
#[test]
fn ends_of_texts_cost_what_is_compared() {
    let judged = |items: Vec<String>, condition: &str, work: &str| {
        let spec =
            format!("event {{ xs: list<string>  s: string }}\nproperty p = never ({condition})\n");
        let events = serde_json::json!([{"xs": items, "s": "a".repeat(100_000)}]);
        let trace = serde_json::json!({"id": "t", "events": events}).to_string();
        let folder = Folder::new(&[("p.guard", &spec), ("t.jsonl", &trace)]);
        let run = folder.guard(&["audit", "p.guard", "t.jsonl", "--max-step-work", work]);
        assert!([0, 3].contains(&run.code), "{}{}", run.out, run.err);
        run.out.contains("unknown p")
    };
    let short = || (0..300).map(|n| format!("w{n}")).collect();
    let long = || vec!["a".repeat(10_000); 300];
    for operator in ["starts_with", "ends_with"] {
        let some = format!("any a in xs: s {operator} a");
        assert!(!judged(short(), &some, "1000"), "{operator}");
        let not_all = format!("any a in xs: not (s {operator} a)");
        assert!(!judged(long(), &not_all, "20000"), "{operator}");
        assert!(judged(long(), &not_all, "5000"), "{operator}");
    }
}

#[test]
fn a_number_that_is_too_large_for_a_float_is_not_absent() {
    let spec = "event { args: json }\nproperty p = always ((args.n as float? ?? 0.0) < 100)\n";
    let large = "9".repeat(400);
    for (number, verdict) in [("5000", "violated p"), ("5", ""), (&large, "unknown p")] {
        let trace = format!("{{\"id\":\"t\",\"events\":[{{\"args\":{{\"n\":{number}}}}}]}}\n");
        let folder = Folder::new(&[("p.guard", spec), ("t.jsonl", &trace)]);
        let run = folder.guard(&["audit", "p.guard", "t.jsonl"]);
        assert!(run.out.contains(verdict), "{number}: {}", run.out);
    }
}

#[test]
fn a_record_that_takes_too_much_memory_is_refused() {
    let folder = folder();
    let many = |item: &str| vec![item; 20_000].join(",");
    let native = format!("{{\"id\":\"t\",\"events\":[{}]}}\n{GOOD}", many("{}"));
    folder.write("native.jsonl", native);
    let openai = format!(
        "{{\"messages\":[{}]}}\n",
        many("{\"role\":\"user\",\"content\":\"\"}")
    );
    folder.write("openai.jsonl", openai);
    let codex = |n: usize| {
        let head =
            r#"{"timestamp":"2025-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s"}}"#;
        let line = "{\"timestamp\":\"2025-01-01T00:00:00Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[]}}\n";
        format!("{head}\n{}", line.repeat(n))
    };
    folder.write("codex.jsonl", codex(20_000));
    for (file, from, sound) in [
        ("native.jsonl", "native", 2),
        ("openai.jsonl", "openai", 0),
        ("codex.jsonl", "codex", 0),
    ] {
        let run = |memory: &str| {
            let args = ["audit", "a.guard", file, "--from", from, "--format", "json"];
            let run = folder.guard(&[&args[..], &["--max-record-memory", memory]].concat());
            let lines = lines(&run);
            let about = |line: &&Value| {
                let said = line["message"].as_str().unwrap_or_default();
                said.contains("`record_memory`")
            };
            let limits = lines.iter().filter(about).count();
            let traces = of_type(&lines, "summary")[0]["traces"].as_u64();
            (traces, limits, run.code)
        };
        let (traces, limits, code) = run("1000000");
        assert!(limits > 0 && code == 3, "{file}: {code}, {limits}");
        assert_eq!(traces, Some(sound), "{file}");
        let (traces, limits, _) = run("1000000000");
        assert_eq!((traces, limits), (Some(sound + 1), 0), "{file}");
    }
}

/// Numbers in milliseconds, read as seconds, make a window of 30 seconds one of 30 milliseconds: a note says so.
#[test]
fn times_in_another_unit_are_noted() {
    let spec = |unit: &str| {
        format!(
            "event {{ kind: string  at: time{unit} }}\n\
             property soon = always (kind == \"a\" -> eventually[0,30s] kind == \"b\")\n"
        )
    };
    let trace =
        r#"{"id":"x","events":[{"kind":"a","at":1760000000000},{"kind":"b","at":1760000005000}]}"#;
    let folder = Folder::new(&[("s.guard", &spec("")), ("t.jsonl", trace)]);
    let audit = || folder.guard(&["audit", "s.guard", "t.jsonl", "--format", "json"]);
    let noted = lines(&audit());
    let problems = of_type(&noted, "problem");
    let [problem] = &problems[..] else {
        panic!("{problems:?}")
    };
    assert_eq!(problem["kind"], "odd");
    let message = problem["message"].as_str().unwrap();
    assert!(
        message.contains("`at`") && message.contains("`in ms`"),
        "{message}"
    );
    folder.write("s.guard", spec(" from \"/at\" in ms"));
    let run = audit();
    assert!(of_type(&lines(&run), "problem").is_empty());
    assert_eq!(run.code, 0);
}

#[test]
fn times_are_dates_and_unknown_properties_are_answered() {
    let folder = Folder::new(&[
        (
            "a.guard",
            "event { at: time from \"/t\" }\nproperty early = always (at < \"2025-01-01\" as time)\n",
        ),
        (
            "r.jsonl",
            "{\"events\":[{\"t\":\"2025-06-01T00:00:00Z\"}]}\n",
        ),
    ]);
    let run = folder.guard(&["audit", "a.guard", "r.jsonl"]);
    assert!(
        run.out.contains("2025-06-01T00:00:00Z") && !run.out.contains("1748736000s"),
        "{}",
        run.out
    );
    let run = folder.guard(&["audit", "a.guard", "r.jsonl", "--property", "nope"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err
            .contains("unknown property `nope`; the spec has early"),
        "{}",
        run.err
    );
}
