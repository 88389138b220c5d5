//! The specs in `examples/scenarios` judge the traces of the development scenarios as labelled.
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn scenario_traces_are_judged_as_labelled() {
    let suite = root().join("tests/suites/scenarios");
    let labels: Value =
        serde_json::from_slice(&std::fs::read(suite.join("labels.json")).unwrap()).unwrap();
    let traces = suite.join("traces.jsonl");
    let mut specs: Vec<_> = std::fs::read_dir(root().join("examples/scenarios"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "guard")
        })
        .filter(|path| path.file_stem().is_some_and(|stem| stem != "vocabulary"))
        .collect();
    specs.sort();
    assert_eq!(specs.len(), 15);

    // By trace: the requirements that were judged, and those that are violated, from which step on.
    let mut judged: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut found: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for spec in &specs {
        let output = Command::new(env!("CARGO_BIN_EXE_guard"))
            .arg("audit")
            .args([spec, &traces])
            .args(["--format", "json"])
            .output()
            .unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{}: {words}",
            spec.display()
        );
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let trace = line["trace"].as_str().unwrap_or_default().to_owned();
            if line["type"] == "trace" {
                found.entry(trace.clone()).or_default();
                assert_eq!(line["errors"].as_array().map_or(0, Vec::len), 0, "{line}");
            }
            if line["type"] == "verdict" {
                let requirement = line["property"].as_str().unwrap().replace('_', ".");
                judged
                    .entry(trace.clone())
                    .or_default()
                    .insert(requirement.clone());
                assert!(
                    line["verdict"] == "satisfied" || line["verdict"] == "violated",
                    "{line}"
                );
                if line["verdict"] == "violated" {
                    let at = line["at"].as_u64().unwrap();
                    let first = found
                        .entry(trace)
                        .or_default()
                        .entry(requirement)
                        .or_insert(at);
                    *first = at.min(*first);
                }
            }
        }
    }

    println!("| trace | expected | got |");
    println!("|---|---|---|");
    let mut wrong = Vec::new();
    let all = labels["traces"].as_object().unwrap();
    assert_eq!(all.len(), 30);
    for (trace, label) in all {
        let expected: BTreeMap<String, u64> = label["violations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|violation| {
                let requirement = violation["requirement"].as_str().unwrap().to_owned();
                (
                    requirement,
                    violation["first_detectable_step"].as_u64().unwrap(),
                )
            })
            .collect();
        let asked: BTreeSet<String> = label["checked"]
            .as_array()
            .unwrap()
            .iter()
            .map(|id| id.as_str().unwrap().to_owned())
            .collect();
        assert_eq!(
            judged.get(trace),
            Some(&asked),
            "{trace}: each requirement is judged, and no other"
        );
        let got = found.get(trace);
        println!("| {trace} | {expected:?} | {got:?} |");
        if got != Some(&expected) {
            wrong.push(format!("{trace}: expected {expected:?}, got {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(found.len(), 30);
}
