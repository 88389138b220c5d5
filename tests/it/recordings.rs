//! `guard audit` on folders of recordings: files are read in parallel and reported in order, whatever is wrong with them.

use serde_json::{Value, json};

use crate::support::cli::Folder;

const SPEC: &str = r#"
event { kind: string  tool: string?  text: string?  args: json?  call: string? }
property answered = forall c: G (kind == "call" and call == c -> F (kind == "result" and call == c))
property reads_first = G (kind == "call" and tool == "Edit" -> once (kind == "call" and tool == "Read"))
"#;

/// A session of Claude Code: `calls` are the tools that it uses, the last of which is not answered if the session is `open`.
fn session(name: &str, calls: &[&str], open: bool) -> String {
    let mut text = String::new();
    let mut line = |role: &str, block: Value| {
        let record = json!({"type": role, "sessionId": name, "timestamp": "2026-01-01T00:00:00Z",
            "message": {"role": role, "content": [block]}});
        text.push_str(&format!("{record}\n"));
    };
    for (n, tool) in calls.iter().enumerate() {
        let id = format!("c{n}");
        line(
            "assistant",
            json!({"type": "tool_use", "id": id, "name": tool, "input": {"path": "a\n"}}),
        );
        if !open || n + 1 < calls.len() {
            line(
                "user",
                json!({"type": "tool_result", "tool_use_id": id, "content": "done \"it\"\n".repeat(8)}),
            );
        }
    }
    text
}

/// Audits with one thread and with four, and requires equal reports. Returns the exit code and the report.
fn audit(folder: &Folder, from: &str, path: &str, format: &str) -> (i32, String) {
    let run = |jobs: &str| {
        folder.guard(&[
            "audit", "a.guard", "--from", from, path, "--format", format, "--jobs", jobs,
        ])
    };
    let (one, four) = (run("1"), run("4"));
    assert_eq!(one.code, four.code, "{from} {path}: {}", four.err);
    assert!(
        one.out == four.out,
        "{from} {path}: the {format} report depends on --jobs"
    );
    assert_eq!(one.err, four.err, "{from} {path}");
    (one.code, one.out)
}

#[test]
fn many_small_files_are_reported_in_order() {
    let folder = Folder::new(&[("a.guard", SPEC)]);
    for n in 0..40 {
        let calls: &[&str] = if n % 3 == 0 {
            &["Edit"]
        } else {
            &["Read", "Edit", "Bash"]
        };
        let mut text = session(&format!("s{n}"), calls, n % 5 == 0);
        if n % 7 == 0 {
            text.push_str("{\"type\": \n");
        }
        folder.write(&format!("runs/{n:02}.jsonl"), text);
    }
    // Too large to be held: it is read by itself, between the others.
    folder.write("runs/20b.jsonl", session("large", &["Read"; 4000], false));
    for format in ["human", "json", "sarif", "junit"] {
        assert_eq!(audit(&folder, "claude_code", "runs", format).0, 1);
    }
    let (_, report) = audit(&folder, "claude_code", "runs", "json");
    let lines = report
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let traces: Vec<String> = lines
        .filter(|line| line["type"] == "verdict" && line["property"] == "answered")
        .map(|line| line["trace"].as_str().unwrap().to_owned())
        .collect();
    let mut expected: Vec<String> = (0..40).map(|n| format!("s{n}")).collect();
    expected.insert(21, "large".to_owned());
    assert_eq!(traces, expected);
}

#[test]
fn records_are_numbered_where_a_document_holds_none_or_several() {
    let folder = Folder::new(&[("a.guard", SPEC)]);
    let record = |id: &str| json!({"id": id, "messages": [{"role": "user", "content": "hello"}]});
    let mut text = String::new();
    for n in 0..30 {
        text.push_str(&match n {
            10 => "{\"id\": \"cut\", \"messages\": [\n".to_owned(),
            20 => format!("{}\n", json!([record("20a"), record("20b")])),
            _ => format!("{}\n", record(&n.to_string())),
        });
    }
    folder.write("runs.jsonl", text);
    let (_, report) = audit(&folder, "openai", "runs.jsonl", "json");
    let lines = report
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found: Vec<(String, u64)> = lines
        .filter(|line| line["type"] == "verdict" && line["property"] == "answered")
        .map(|line| {
            (
                line["trace"].as_str().unwrap().to_owned(),
                line["index"].as_u64().unwrap(),
            )
        })
        .collect();
    assert!(found.len() >= 28, "{found:?}");
    assert!(
        found
            .iter()
            .map(|(_, index)| *index)
            .eq(0..found.len() as u64),
        "{found:?}"
    );
}

/// Copies of the recordings of all formats with bytes cut off, changed, doubled and left out.
#[test]
fn damaged_recordings_are_reported_alike_by_any_number_of_threads() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats");
    let mut seed = 1u64;
    let mut below = |bound: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % bound.max(1)
    };
    for format in std::fs::read_dir(fixtures).unwrap().map(Result::unwrap) {
        let name = format.file_name().into_string().unwrap();
        if !format.path().is_dir() {
            continue;
        }
        let folder = Folder::new(&[("a.guard", SPEC)]);
        for file in std::fs::read_dir(format.path())
            .unwrap()
            .map(Result::unwrap)
        {
            let path = file.path();
            let Some("json" | "jsonl" | "csv") = path.extension().and_then(|it| it.to_str()) else {
                continue;
            };
            let sound = std::fs::read(&path).unwrap();
            for copy in 0..20 {
                let mut bytes = sound.clone();
                for _ in 0..=below(3) {
                    let (at, len) = (below(bytes.len()), below(40));
                    let end = (at + len).min(bytes.len());
                    match below(4) {
                        0 => bytes.truncate(at),
                        1 => bytes
                            .get_mut(at)
                            .into_iter()
                            .for_each(|byte| *byte ^= 1 << (len % 8)),
                        2 => drop(bytes.drain(at..end)),
                        _ => bytes.extend_from_within(at..end),
                    }
                }
                let file = file.file_name().into_string().unwrap();
                folder.write(&format!("runs/{copy:02}-{file}"), bytes);
            }
        }
        let (code, report) = audit(&folder, &name, "runs", "json");
        assert!(matches!(code, 0 | 1 | 3), "{name}: exit code {code}");
        assert!(!report.is_empty(), "{name}");
    }
}
