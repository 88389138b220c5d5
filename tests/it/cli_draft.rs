//! `guard draft` on real files, and what it makes checked again.
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

/// A number takes another reading, and the spec has it.
#[test]
fn another_reading_is_chosen_by_its_number() {
    let text = "Every order must be followed by a receipt.\n";
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("rules.txt");
    std::fs::write(&list, text).unwrap();
    let list = list.to_str().unwrap();
    let (first, _, _) = guard(&["draft", list, "--format", "json"], "");
    let first: serde_json::Value = serde_json::from_str(first.trim()).unwrap();
    let other = first["alternatives"][0]["formula"].as_str().unwrap();
    assert_ne!(first["formula"], other);
    let args = ["draft", list, "--interactive", "--format", "json"];
    let (out, err, code) = guard(&args, "9\n1\n\n");
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("unknown reading 9"), "{err}");
    let chosen: serde_json::Value = serde_json::from_str(out.trim()).unwrap();
    assert_eq!(chosen["formula"], other);
    assert_ne!(chosen["readback"], first["readback"]);
    // What was settled can be kept as lines, and is read again without asking.
    let line = serde_json::json!({"id": "R1", "text": text.trim(), "reading": 1}).to_string();
    let (out, _, _) = guard(&["draft", "-", "--format", "json"], &line);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(out.trim()).unwrap()["formula"],
        other
    );
}

/// A bound on a probability is asked of a model that the spec declares.
#[test]
fn bounds_on_probabilities_compile() {
    let text = "- R1: The chance of leaking a customer record must stay below 5%.\n- R2: In at least 99 % of runs, every request is eventually answered.\n- R3: With probability at most 1 %, some request is never followed by an answer.\n- R4: The chance that an agent sends more than two emails must be at most 10 %.\n";
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("rules.guard");
    let args = ["draft", "-", "-o", spec.to_str().unwrap()];
    let (_, err, code) = guard(&args, text);
    assert_eq!(code, 0, "{err}");
    let written = std::fs::read_to_string(&spec).unwrap();
    assert_eq!(written.matches("requirement R").count(), 4, "{written}");
    assert_eq!(
        written.matches("] on recorded_runs").count(),
        4,
        "{written}"
    );
    assert!(written.contains("P<=0.1 [ F (send"), "{written}");
    let (out, err, code) = guard(&["check", spec.to_str().unwrap(), "--format", "json"], "");
    assert_eq!(code, 0, "{out}{err}");
    // What is still to be written: predicates, and what counts as a step.
    assert!(out.lines().all(|line| line.contains("\"G0950\"")), "{out}");
    assert!(out.contains("an event that counts as a step"), "{out}");
    let (_, _, code) = guard(&["fmt", "--check", spec.to_str().unwrap()], "");
    assert_eq!(code, 0, "{written}");
}

/// Whatever is no plain sentence of English: each is read, declined or passed over, and told.
#[test]
fn odd_input_is_told() {
    let lines = |text: &str| -> Vec<serde_json::Value> {
        let (out, err, code) = guard(&["draft", "-", "--format", "json"], text);
        assert_eq!(code, 0, "{text}: {err}");
        let lines = out.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    };
    for foreign in [
        "Der Agent darf niemals Daten ohne Freigabe des Menschen löschen.",
        "L'agent ne doit jamais supprimer les données avant la confirmation.",
        "エージェントはデータを削除してはならない。",
    ] {
        let found = lines(foreign);
        assert_eq!(found[0]["status"], "unclear", "{foreign}");
        let question = found[0]["question"].as_str().unwrap();
        assert!(question.contains("English"), "{foreign}: {question}");
    }
    // Quotes and code spans name things.
    let found = lines("The agent must never call `rm -rf` or send \"secret.txt\".\n");
    assert_eq!(found[0]["status"], "formal");
    // Headings and code blocks are no requirements; bullets of all kinds, numbers and quotations are.
    let found = lines(
        "# Rules\n* Never pay.\n+ Never lie.\n2) Never wait.\n> Never hide.\n```\nnever()\n```\n",
    );
    assert_eq!(found.len(), 4, "{found:?}");
    // A contradiction is told with a trace that shows it; what is said twice is told, too.
    let found = lines(
        "- Every `stop` must be followed by a `call` in the next step.\n- After a `stop`, no `call`.\n- Every `stop` must be directly followed by a `call`.\n",
    );
    assert_eq!(found[1]["conflicts"][0]["with"], "R1", "{found:?}");
    let trace = found[1]["conflicts"][0]["trace"].as_array().unwrap();
    assert!(trace.len() >= 2, "{trace:?}");
    assert_eq!(found[2]["duplicate_of"], "R1", "{found:?}");
    // A megabyte is declined with the remedy.
    let found = lines(&format!(
        "The agent must {} stop.",
        "really ".repeat(150_000)
    ));
    assert_eq!(found[0]["status"], "unclear");
    assert!(found[0]["question"].as_str().unwrap().contains("split"));
    // A byte that is no text is an error of the file, not a panic.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.md");
    std::fs::write(&file, b"Never \xff pay.\n").unwrap();
    let (_, err, code) = guard(&["draft", file.to_str().unwrap()], "");
    assert!(
        code == 0 || code == 2 && err.contains("rules.md"),
        "{code} {err}"
    );
}
