//! Every file of every corpus: its detected format, a conversion that accounts for all items, and the documented number
//! of steps.

use std::collections::BTreeMap;

use crate::support::formats::{accounted, convert_documents, corpora, documents, files, read_file};
use guard_lang::input::formats::Format;

/// Beginning of a path below the folder of corpora, and the format its files have. The first that fits counts.
const EXPECTED: &[(&str, Option<Format>)] = &[
    ("embodied/unsafe_detailed_traj_ground_truth.jsonl", None),
    ("embodied/", Some(Format::LangChain)),
    ("toolemu/gpt4o-no_controll.jsonl", Some(Format::LangChain)),
    ("toolemu/", None),
    ("redcode-python/", Some(Format::LangChain)),
    ("tau-bench/gpt-4o-airline.json", Some(Format::OpenAiChat)),
    ("tau-bench/", None),
    ("agentdojo-jsonl/", Some(Format::OpenAiChat)),
    ("agentdojo-drift/", Some(Format::OpenAiChat)),
    ("agentdyn/", Some(Format::OpenAiChat)),
    ("agentdojo-luna/", Some(Format::OpenAiChat)),
    ("openagentsafety/", Some(Format::Swe)),
    ("swe-agent/", Some(Format::Swe)),
    ("claude-code/", Some(Format::ClaudeCode)),
    ("codex-rollout/", Some(Format::Codex)),
    ("gemini-cli/", Some(Format::Gemini)),
    ("anthropic-managed/", Some(Format::AnthropicManaged)),
    ("otel-genai/smoltrace/", Some(Format::Otel)),
    ("otel-genai/any-agent/", Some(Format::Otel)),
    ("otel-genai/otlp/", Some(Format::Otel)),
    ("mcp-sessions/", Some(Format::Mcp)),
    ("", None),
];

/// Files that are no traces.
fn is_beside(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "answers.json"
        || name == "results.json"
        || name.starts_with("eval_")
        || path.starts_with("pro2guard-dtmcs/")
        || !(name.ends_with(".json")
            || name.ends_with(".jsonl")
            || name.ends_with(".traj")
            || name.ends_with(".log"))
}

#[test]
fn every_file_is_taken_for_what_it_is_and_converts() {
    let Some(folder) = corpora() else { return };
    let mut wrong = Vec::new();
    let mut items: BTreeMap<String, u64> = BTreeMap::new();
    let mut faults = 0;
    for path in files(&folder) {
        let below = path
            .strip_prefix(&folder)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        if is_beside(&below) {
            continue;
        }
        let expected = EXPECTED
            .iter()
            .find(|(prefix, _)| below.starts_with(prefix))
            .unwrap()
            .1;
        let read = read_file(&path);
        let found = read.detection.as_ref().map(|detection| detection.format);
        if found != expected {
            wrong.push(format!(
                "{below}: {:?}, expected {expected:?}",
                read.detection
            ));
        }
        accounted(&read.converted);
        faults += read
            .converted
            .traces
            .iter()
            .flat_map(|trace| &trace.faults)
            .filter(|fault| fault.kind.is_error())
            .count();
        let lost: u64 = read
            .converted
            .losses
            .iter()
            .filter(|loss| loss.whole)
            .map(|loss| loss.count)
            .sum();
        let corpus = below.split('/').next().unwrap().to_owned();
        *items.entry(corpus).or_default() += read.converted.items - lost;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(faults, 0, "nothing in the corpora is broken inside");
    let expect = |corpus: &str, steps: u64| assert_eq!(items[corpus], steps, "steps of {corpus}");
    expect("tau-bench", 5308);
    expect("agentdojo-jsonl", 9086);
    expect("agentdojo-drift", 2360);
    expect("agentdyn", 8755);
    expect("agentdojo-luna", 1427);
    expect("openagentsafety", 2284);
    expect("codex-rollout", 1190);
    expect("gemini-cli", 34);
    expect("anthropic-managed", 71);
    expect("toolemu", 442);
    expect("redcode-python", 4608);
    // 227 steps, and the 12 messages of the one file that has only a history.
    expect("swe-agent", 227 + 12);
    // 117 spans, and two exports of one span each.
    expect("otel-genai", 117 + 2);
    expect("mcp-sessions", 34);
}

/// A reader given something else must account for it all the same.
#[test]
fn every_reader_accounts_for_files_of_other_formats() {
    let Some(folder) = corpora() else { return };
    for corpus in [
        "claude-code",
        "codex-rollout",
        "gemini-cli",
        "anthropic-managed",
        "mcp-sessions",
        "otel-genai",
    ] {
        for path in files(&folder.join(corpus)).into_iter().take(6) {
            let bytes = std::fs::read(&path).unwrap();
            let documents = documents(&bytes);
            for format in Format::ALL {
                let converted = convert_documents(format, format.granularity(), &documents, &bytes);
                accounted(&converted);
                assert!(
                    converted.items > 0 || format == Format::Csv,
                    "{format} says nothing of {}",
                    path.display()
                );
            }
        }
    }
}
