//! The specs in `examples/` reproduce the published answers about recorded traces exactly.
//!
//! The corpora are not part of the package. If they are missing, the questions are reported as skipped.

use crate::support::shared;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::corpora::{CORPORA, Corpus, Step};
use serde_json::Value;

/// Questions that tell how often they apply at all: the property is not vacuous in as many traces.
const APPLY: &[&str] = &[
    "apollo-2",
    "claude-1",
    "codex-2",
    "embodied-1",
    "luna-2",
    "managed-2",
    "mcp-2",
    "taubench-1",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn guard(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_guard"))
        .current_dir(root())
        .args(args)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// All `.guard` files below a folder of the package.
fn specs(folder: &str) -> Vec<String> {
    let mut folders = vec![root().join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "guard")
            {
                found.push(
                    path.strip_prefix(root())
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_owned(),
                );
            }
        }
    }
    found.sort();
    found
}

/// The data, where it is there.
fn data() -> Option<PathBuf> {
    shared("data")
}

/// What was found or published about one question: by trace, the step or "end".
type Violating = BTreeMap<String, String>;

/// What an audit says about a property.
#[derive(Default)]
struct Found {
    violating: Violating,
    vacuous: u64,
    undecided: u64,
}

/// What an audit says: by question.
#[derive(Default)]
struct Audit {
    traces: u64,
    errors: usize,
    code: Option<i32>,
    found: BTreeMap<String, Found>,
    words: String,
}

fn audit(corpus: &Corpus, data: &Path, answers: &Value) -> Audit {
    let spec = format!("examples/corpora/{}.guard", corpus.spec);
    let folder = data.join(corpus.folder);
    let folder = folder.to_str().unwrap();
    let output = guard(&[
        "audit",
        &spec,
        folder,
        "--glob",
        corpus.glob,
        "--format",
        "json",
    ]);
    let lines: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let steps: BTreeMap<&str, u64> = lines
        .iter()
        .filter(|line| line["type"] == "trace")
        .map(|line| {
            (
                line["trace"].as_str().unwrap(),
                line["events"].as_u64().unwrap(),
            )
        })
        .collect();
    let mut audit = Audit {
        code: output.status.code(),
        words: text(&output.stderr),
        ..Audit::default()
    };
    for line in &lines {
        match line["type"].as_str().unwrap() {
            "verdict" => {
                let id = question(line["property"].as_str().unwrap());
                let found = audit.found.entry(id.clone()).or_default();
                match line["verdict"].as_str().unwrap() {
                    "violated" => {
                        let trace = line["trace"].as_str().unwrap();
                        let ends = asks_for_the_end(answers, &id);
                        let step = told(corpus, &id, line, steps[trace], ends);
                        note(&mut found.violating, (corpus.name)(trace), step);
                    }
                    "satisfied" => {}
                    _ => found.undecided += 1,
                }
            }
            "trace" => audit.errors += line["errors"].as_array().unwrap().len(),
            "summary" => {
                audit.traces = line["traces"].as_u64().unwrap();
                for (property, counts) in line["properties"].as_object().unwrap() {
                    let found = audit.found.entry(question(property)).or_default();
                    found.vacuous = counts["vacuous"].as_u64().unwrap();
                }
            }
            _ => {}
        }
    }
    audit
}

/// The step that the answers would tell for a violation; `None` is the end.
fn told(corpus: &Corpus, id: &str, line: &Value, steps: u64, ends: bool) -> Option<Option<u64>> {
    let other = corpus.other_step.iter().find(|(other, _)| *other == id);
    match other.map_or(Step::Final, |(_, step)| *step) {
        Step::Final => {
            let at = line["at"].as_u64();
            let file = root().join(line["file"].as_str().unwrap());
            if ends && at == (corpus.end)(&file, steps) {
                None
            } else {
                Some(at)
            }
        }
        Step::Trigger => Some(line["from"].as_u64()),
        Step::AfterHeader => Some(line["at"].as_u64().and_then(|at| at.checked_sub(1))),
    }
}

/// Keeps the first step of a trace: several instances of a property may be violated.
fn note(violating: &mut Violating, trace: String, step: Option<Option<u64>>) {
    let word = |step: Option<Option<u64>>| match step {
        None => "end".to_owned(),
        Some(None) => "no step".to_owned(),
        Some(Some(step)) => step.to_string(),
    };
    let earlier = violating
        .get(&trace)
        .and_then(|earlier| earlier.parse::<u64>().ok());
    let step = match (step, earlier) {
        (Some(Some(step)), Some(earlier)) => Some(Some(step.min(earlier))),
        (None, Some(earlier)) => Some(Some(earlier)),
        (step, _) => step,
    };
    violating.insert(trace, word(step));
}

/// Whether the answer to a question tells "end" anywhere.
fn asks_for_the_end(answers: &Value, id: &str) -> bool {
    let questions = answers["questions"].as_array().unwrap();
    questions
        .iter()
        .filter(|question| question["id"] == id)
        .any(|question| violating(question).values().any(|at| at == "end"))
}

/// The question that a property answers: `taubench_1` is `taubench-1`.
fn question(property: &str) -> String {
    property.replace('_', "-")
}

fn answers(data: &Path, corpus: &Corpus) -> Value {
    let path = data.join(corpus.folder).join("answers.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn violating(question: &Value) -> Violating {
    let all = question["violating"].as_array().unwrap().iter();
    all.map(|entry| {
        (
            entry["trace"].as_str().unwrap().to_owned(),
            entry["at"].to_string().replace('"', ""),
        )
    })
    .collect()
}

#[test]
fn published_questions_are_answered_exactly() {
    let Some(data) = data() else { return };
    let only = std::env::var("CORPUS").unwrap_or_default();
    let mut failures = String::new();
    let mut asked = 0;
    println!(
        "| question | violating, expected | got | traces, expected | got | applies, expected | got |"
    );
    println!("|---|---|---|---|---|---|---|");
    for corpus in CORPORA.iter().filter(|corpus| corpus.spec.contains(&only)) {
        let answers = answers(&data, corpus);
        let audit = audit(corpus, &data, &answers);
        for question in answers["questions"].as_array().unwrap() {
            let id = question["id"].as_str().unwrap();
            asked += 1;
            let expected = violating(question);
            let none = Found::default();
            let got = audit.found.get(id);
            let checked = question["traces_checked"].as_u64().unwrap();
            let found = got.unwrap_or(&none);
            println!(
                "| {id} | {} | {} | {checked} | {} | {} | {} |",
                expected.len(),
                found.violating.len(),
                audit.traces,
                question["traces_where_it_applies"],
                audit.traces.saturating_sub(found.vacuous),
            );
            if got.is_none() {
                let _ = writeln!(failures, "{id}: not asked; {}", audit.words);
            }
            if found.violating != expected {
                let _ = writeln!(
                    failures,
                    "{id}: {}",
                    difference(&expected, &found.violating)
                );
            }
            let applies = audit.traces.saturating_sub(found.vacuous);
            if APPLY.contains(&id) && question["traces_where_it_applies"] != applies {
                let _ = writeln!(failures, "{id}: applies to {applies} traces");
            }
            if found.undecided > 0 {
                let _ = writeln!(failures, "{id}: {} traces are undecided", found.undecided);
            }
            // Some questions are asked of a part of the traces: there the property is vacuous for the rest.
            if answers["traces_in_corpus"].as_u64() == Some(checked) && audit.traces != checked {
                let _ = writeln!(
                    failures,
                    "{id}: {} traces were read, not {checked}",
                    audit.traces
                );
            }
        }
        println!(
            "{}: exit {:?}, {} errors in data",
            corpus.spec, audit.code, audit.errors
        );
        if !audit.words.is_empty() {
            println!("{}", audit.words);
        }
        let violated = audit
            .found
            .values()
            .any(|found| !found.violating.is_empty());
        if audit.code != Some(i32::from(violated)) {
            let _ = writeln!(
                failures,
                "{}: exit {:?}: {}",
                corpus.spec, audit.code, audit.words
            );
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
    assert!(!only.is_empty() || asked == 46, "{asked} questions");
}

fn difference(expected: &Violating, got: &Violating) -> String {
    let mut out = format!("{} expected, {} found", expected.len(), got.len());
    for (trace, at) in expected {
        match got.get(trace) {
            None => _ = write!(out, "\n    missing {trace} at {at}"),
            Some(other) if other != at => _ = write!(out, "\n    {trace} at {other}, not {at}"),
            Some(_) => {}
        }
    }
    for (trace, at) in got
        .iter()
        .filter(|(trace, _)| !expected.contains_key(*trace))
    {
        _ = write!(out, "\n    too many: {trace} at {at}");
    }
    out.lines().take(12).collect::<Vec<_>>().join("\n")
}

/// Runs a verb over all specs of the package.
fn over_all_specs(before: &[&str], after: &[&str]) {
    let mut args: Vec<String> = before.iter().map(ToString::to_string).collect();
    args.extend(specs("examples"));
    // The tests of the library hold every template side by side; they contradict one another and are not meant together.
    let lints = before.contains(&"check");
    let library = specs("stdlib").into_iter();
    args.extend(library.filter(|spec| !lints || !spec.contains("/tests/")));
    args.extend(after.iter().map(ToString::to_string));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let output = guard(&args);
    assert!(
        output.status.success(),
        "{}\n{}",
        text(&output.stdout),
        text(&output.stderr)
    );
}

#[test]
fn every_spec_checks_without_a_warning() {
    over_all_specs(&["check"], &["--deny", "warnings"]);
}

#[test]
fn every_spec_is_in_canonical_layout() {
    over_all_specs(&["fmt"], &["--check"]);
}

#[test]
fn every_spec_passes_its_own_tests() {
    over_all_specs(&["test"], &[]);
}

/// The first command that a reader of the documentation runs.
#[test]
fn the_mail_assistant_is_found_out() {
    let folder = "examples/mail_assistant";
    let output = guard(&[
        "audit",
        &format!("{folder}/mail_assistant.guard"),
        &format!("{folder}/traces.jsonl"),
        "--format",
        "json",
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let lines: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut found: Vec<(&str, &str, Option<u64>)> = lines
        .iter()
        .filter(|line| line["verdict"] == "violated")
        .map(|line| {
            (
                line["trace"].as_str().unwrap(),
                line["property"].as_str().unwrap(),
                line["at"].as_u64(),
            )
        })
        .collect();
    found.sort_unstable();
    let expected = [
        ("clean-up-swapped", "approved", Some(4)),
        ("payroll-outside", "no_leak", Some(6)),
        ("slow", "answered", Some(6)),
    ];
    assert_eq!(found, expected);
    let summary = lines.iter().find(|line| line["type"] == "summary").unwrap();
    assert_eq!(summary["traces"], 12);
}
