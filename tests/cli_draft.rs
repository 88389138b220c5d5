//! `guard draft` on real files, and what it makes checked again.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use assert_cmd::Command;

fn guard(args: &[&str], stdin: &str) -> (String, String, i32) {
    let output = Command::cargo_bin("guard")
        .unwrap()
        .args(args)
        .write_stdin(stdin)
        .output()
        .unwrap();
    (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
        output.status.code().unwrap(),
    )
}

#[test]
fn a_list_becomes_a_spec_that_checks() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("rules.md");
    let text = "# Rules\n\n- R1: Every request must get a response with the same id within 30 seconds.\n- R2: Be nice.\n- R3: Never send \"secret\" files.\n";
    std::fs::write(&list, text).unwrap();
    let spec = folder.path().join("rules.guard");
    let (_, err, code) = guard(
        &[
            "draft",
            list.to_str().unwrap(),
            "-o",
            spec.to_str().unwrap(),
        ],
        "",
    );
    assert_eq!(code, 0, "{err}");
    let written = std::fs::read_to_string(&spec).unwrap();
    assert!(written.contains("requirement R1"), "{written}");
    assert!(written.contains("// unclear:"), "{written}");
    let (out, err, code) = guard(&["check", spec.to_str().unwrap(), "--format", "json"], "");
    assert_eq!(code, 0, "{out}{err}");
    for line in out.lines() {
        assert!(line.contains("\"G0950\""), "{line}");
    }
}

#[test]
fn lines_are_one_object_each() {
    let input = "{\"id\":\"a\",\"text\":\"Never do that.\"}\n{\"id\":\"b\",\"text\":\"Every write must be acknowledged in the next step.\"}\n";
    let (out, err, code) = guard(&["draft", "-", "--format", "json"], input);
    assert_eq!(code, 0, "{err}");
    let lines: Vec<serde_json::Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (lines[0]["id"].as_str(), lines[0]["status"].as_str()),
        (Some("a"), Some("unclear"))
    );
    assert!(lines[0]["question"].is_string());
    assert_eq!(lines[1]["formula"], "G (write -> X acknowledged)");
    assert_eq!(lines[1]["bound"], serde_json::json!({"steps": 1}));
    for key in [
        "v",
        "id",
        "text",
        "status",
        "modality",
        "domain",
        "bound",
        "template",
        "formula",
        "confidence",
        "atoms",
        "alternatives",
        "readback",
        "accepts",
        "rejects",
        "question",
    ] {
        assert!(lines[1].get(key).is_some(), "{key}");
    }
}

#[test]
fn a_sentence_is_an_argument_and_nothing_is_an_error() {
    let (out, _, code) = guard(
        &["draft", "Every request must get a response within 5 steps."],
        "",
    );
    assert_eq!(code, 0);
    assert!(out.contains("F[1,5]"), "{out}");
    let (_, err, code) = guard(&["draft", "-"], "\n\n");
    assert_eq!(code, 2);
    assert!(err.contains("no requirement"), "{err}");
    let (_, err, code) = guard(&["draft", "no/such/file.md"], "");
    assert_eq!(code, 2);
    assert!(err.contains("file.md"), "{err}");
}

#[test]
fn what_is_unclear_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("rules.txt");
    std::fs::write(&list, "Respond to users quickly.\n").unwrap();
    let answers = "Every question must be answered within 10 steps.\n\n";
    let (out, err, code) = guard(
        &[
            "draft",
            list.to_str().unwrap(),
            "--interactive",
            "--format",
            "json",
        ],
        answers,
    );
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("Within how many"), "{err}");
    assert!(out.contains("F[1,10]"), "{out}");
}
