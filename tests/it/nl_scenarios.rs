//! From the requirements of the development scenarios, in controlled English, to a spec that judges their traces as labelled:
//! `guard draft`, and the handwritten parts in `nl/scenarios_by_hand.txt`, which are counted here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::support::cli::Folder;
use guard_english::draft::{Accept, Document, Status};
use serde_json::Value;

const BY_HAND: &str = include_str!("../nl/scenarios_by_hand.txt");

fn suite(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suites/scenarios");
    std::fs::read_to_string(folder.join(file)).unwrap()
}

/// `M1.R1 For every …`: the requirements of the scenarios in controlled English.
fn requirements() -> Vec<(String, String)> {
    let text = include_str!("../nl/scenarios_controlled.txt");
    let item = |line: &str| {
        let (id, words) = line.split_once(' ')?;
        Some((id.to_owned(), words.to_owned()))
    };
    text.lines().filter_map(item).collect()
}

/// The names that lines of the text declare with this word.
fn declared<'t>(text: &'t str, word: &str) -> BTreeSet<&'t str> {
    let name = |line: &'t str| {
        let rest = line.strip_prefix(word)?.strip_prefix(' ')?;
        rest.split(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
    };
    text.lines().filter_map(name).collect()
}

/// The drafted spec with the event and the predicates as they were written by hand.
fn completed(drafted: &str) -> String {
    let kept = drafted
        .split("\n\n")
        .filter(|block| !block.starts_with("event") && !block.starts_with("predicate"));
    format!("{}\n\n{BY_HAND}", kept.collect::<Vec<_>>().join("\n\n"))
}

/// Every predicate that the draft declares was written by hand, and no other.
#[test]
fn every_situation_has_a_body() {
    let lines: Vec<String> = requirements()
        .iter()
        .map(|(id, text)| serde_json::json!({"id": id, "text": text}).to_string())
        .collect();
    let drafted = Document::new(&lines.join("\n"), Accept::None).to_guard("the scenarios");
    let bodies = BY_HAND.split("// Bodies.").nth(1).unwrap();
    assert_eq!(
        declared(&drafted, "predicate"),
        declared(bodies, "predicate")
    );
}

#[test]
fn drafted_requirements_judge_the_scenarios() {
    let requirements = requirements();
    assert_eq!(requirements.len(), 32);
    let lines: Vec<String> = requirements
        .iter()
        .map(|(id, text)| serde_json::json!({"id": id, "text": text}).to_string())
        .collect();
    let document = Document::new(&lines.join("\n"), Accept::None);
    assert_eq!(document.count(Status::Formal), 32);
    let drafted = document.to_guard("the scenarios");
    let folder = Folder::new(&[
        ("drafted.guard", &completed(&drafted)),
        ("traces.jsonl", &suite("traces.jsonl")),
    ]);
    let run = folder.guard(&["audit", "drafted.guard", "traces.jsonl", "--format", "json"]);
    assert_eq!(run.code, 1, "{}", run.err);
    let mut found: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for line in run.out.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if line["type"] == "verdict" && line["verdict"] == "violated" {
            let of = found
                .entry(line["trace"].as_str().unwrap().to_owned())
                .or_default();
            let requirement = line["property"].as_str().unwrap().replace('_', ".");
            let at = line["at"].as_u64().unwrap();
            let first = of.entry(requirement).or_insert(at);
            *first = at.min(*first);
        }
    }
    let labels: Value = serde_json::from_str(&suite("labels.json")).unwrap();
    let traces = labels["traces"].as_object().unwrap();
    assert_eq!(traces.len(), 30);
    for (trace, label) in traces {
        let expected: BTreeMap<String, u64> = label["violations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|violation| {
                (
                    violation["requirement"].as_str().unwrap().to_owned(),
                    violation["first_detectable_step"].as_u64().unwrap(),
                )
            })
            .collect();
        // A requirement of another scenario is not asked of a trace.
        let checked = label["checked"].as_array().unwrap();
        let mut judged = found.remove(trace).unwrap_or_default();
        judged.retain(|requirement, _| checked.iter().any(|id| id == requirement.as_str()));
        assert_eq!(judged, expected, "{trace}");
    }
}

/// How much that was: no formula, a body for each situation, and what these share.
#[test]
fn what_was_written_by_hand_is_counted() {
    let section = |from: &str, to: &str| {
        let part = BY_HAND
            .split(from)
            .nth(1)
            .unwrap()
            .split(to)
            .next()
            .unwrap();
        part.lines().filter(|line| !line.is_empty()).count()
    };
    assert_eq!(section("// Bodies.", "\0"), 61);
    assert_eq!(section("// Shared.", "// Bodies."), 8);
    // The layout of an event and of a trace.
    assert_eq!(section("several of them share.", "// Shared."), 26);
}
