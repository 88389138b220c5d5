//! Learning: counts against a simple counter, merging in any grouping, encoding and decoding of states, and the command
//! on files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::support::cli::Folder;
use guard_lang::abstraction::Step;
use guard_lang::audit::Judge;
use guard_lang::eval::{Limits, Wanted};
use guard_lang::hir::Spec;
use guard_lang::input::deferred::Deferred;
use guard_lang::input::record::{Origin, Record, Step as Event};
use guard_lang::learn::{InvalidPolicy, Model, Subject};
use guard_lang::modules::NoFiles;
use guard_lang::value::{Cell, Value};
use proptest::prelude::*;

const SPEC: &str = r#"
enum Level ordered { low < mid < high }
event { tool: string?  done: bool = false }
predicate mails = tool == "mail"
track level: Level = low then if tool == "secret" then high else if tool == "read" then max(level, mid) else level
unsafe leak = level == high and mails
rule soon: when tool == "ask" then tool == "ok" within 2 steps

abstraction drift { over level, mails  step level' >= level  absorbing leak }
abstraction tools { over tool, soon, n: int 0..2 = min(2, count(mails)) }
abstraction levels { over level }
model run = learn drift { smoothing 1.0 }
model long = learn tools { order 2 }
model start = learn levels { }
"#;

fn spec(text: &str) -> Arc<Spec> {
    let checked = guard_lang::front(
        "t.guard",
        text,
        &NoFiles,
        guard_lang::check::Limits::default(),
    );
    Arc::new(
        checked
            .spec
            .unwrap_or_else(|| panic!("{:#?}", checked.diagnostics)),
    )
}

fn subject(spec: &Arc<Spec>, name: &str) -> Subject {
    let model = spec.find_model(name).unwrap();
    let abstraction = spec.model(model).abstraction().unwrap();
    Subject::new(spec, model, abstraction, &[], &Limits::default()).unwrap()
}

/// A trace of tools; an empty name is null.
#[derive(Clone, Debug)]
struct Run {
    tools: Vec<&'static str>,
    complete: bool,
}

fn record(run: &Run, number: usize) -> Record {
    let origin = Origin {
        file: "t.jsonl".into(),
        below: "t.jsonl".into(),
        line: number as u64 + 1,
        ordinal: number as u64,
    };
    let cell = |tool: &&str| {
        Cell::Known(if tool.is_empty() {
            Value::Null
        } else {
            Value::string(tool)
        })
    };
    let steps = run.tools.iter().enumerate().map(|(index, tool)| Event {
        index: index as u32,
        cells: [cell(tool), Cell::Known(Value::Bool(false))].into(),
    });
    Record {
        origin,
        id: None,
        complete: Some(run.complete),
        meta: [].into(),
        steps: steps.collect(),
        problems: Vec::new(),
    }
}

fn learn(subject: &Subject, runs: &[Run]) -> Model {
    let limits = Limits::default();
    let walker = subject.walker(&limits).unwrap();
    let mut counter = subject.counter(InvalidPolicy::Error);
    for (number, run) in runs.iter().enumerate() {
        let walk = walker
            .judge(
                record(run, number),
                Deferred::NONE,
                &Wanted::new(0, |_, _| false),
            )
            .unwrap();
        counter.add(&walk);
    }
    let (chains, invalid) = counter.finish();
    assert!(invalid.is_empty(), "{invalid:?}");
    subject.model(&chains)
}

/// The states of a run under `drift`, as words, written down again from the text of the spec.
fn drift(run: &Run) -> Vec<[String; 2]> {
    let mut level = 0;
    run.tools
        .iter()
        .map(|tool| {
            match *tool {
                "secret" => level = 2,
                "read" => level = level.max(1),
                _ => {}
            }
            [
                ["low", "mid", "high"][level].to_owned(),
                (*tool == "mail").to_string(),
            ]
        })
        .collect()
}

/// Counts by name: from, to (none: the end), how often.
type ByName = BTreeMap<(Vec<String>, Option<Vec<String>>), u64>;

fn slow_counts(runs: &[Run]) -> ByName {
    let mut counts = ByName::new();
    for run in runs {
        let mut from: Vec<String> = Vec::new();
        let mut caught = false;
        for state in drift(run) {
            *counts.entry((from, Some(state.to_vec()))).or_default() += 1;
            caught = state == ["high", "true"];
            from = state.to_vec();
            if caught {
                break;
            }
        }
        if run.complete && !caught {
            *counts.entry((from, None)).or_default() += 1;
        }
    }
    counts
}

fn counts_of(model: &Model) -> ByName {
    let mut counts = ByName::new();
    for chain in &model.chains {
        let name = |node: u32| -> Vec<String> {
            chain.nodes[node as usize]
                .iter()
                .map(ToString::to_string)
                .collect()
        };
        for (from, to, count) in &chain.transitions {
            counts.insert((name(*from), Some(name(*to))), *count);
        }
        for (node, count) in &chain.ends {
            counts.insert((name(*node), None), *count);
        }
    }
    counts
}

fn runs() -> impl Strategy<Value = Vec<Run>> {
    let tool = prop::sample::select(vec!["", "mail", "read", "secret", "ask", "ok", "else"]);
    let run = (prop::collection::vec(tool, 0..9), any::<bool>())
        .prop_map(|(tools, complete)| Run { tools, complete });
    prop::collection::vec(run, 0..12)
}

crate::random::tests! {
    64 cases;

    #[test]
    fn counting_is_what_a_slow_counter_counts(runs in runs()) {
        let spec = spec(SPEC);
        let model = learn(&subject(&spec, "run"), &runs);
        prop_assert_eq!(counts_of(&model), slow_counts(&runs));
    }

    #[test]
    fn merging_in_any_grouping_gives_the_same_bytes(runs in runs(), cut in 0usize..12, other in 0usize..12) {
        let spec = spec(SPEC);
        for name in ["run", "long", "start"] {
            let subject = subject(&spec, name);
            let (a, b) = (cut.min(other).min(runs.len()), cut.max(other).min(runs.len()));
            let parts = [&runs[..a], &runs[a..b], &runs[b..]].map(|part| learn(&subject, part));
            let whole = learn(&subject, &runs).to_text();
            let sum = |order: [usize; 3]| {
                let mut sum = parts[order[0]].clone();
                sum.merge(&parts[order[1]]).unwrap();
                sum.merge(&parts[order[2]]).unwrap();
                sum.to_text()
            };
            let mut right = parts[1].clone();
            right.merge(&parts[2]).unwrap();
            let mut grouped = parts[0].clone();
            grouped.merge(&right).unwrap();
            if !runs.is_empty() {
                prop_assert_eq!(&sum([0, 1, 2]), &whole);
                prop_assert_eq!(&sum([2, 0, 1]), &whole);
                prop_assert_eq!(&grouped.to_text(), &whole);
            }
            let read = Model::parse(&whole).unwrap();
            prop_assert_eq!(read.to_text(), whole);
            // What is read back counts the same.
            let counts = subject.counts(&read).unwrap();
            prop_assert_eq!(subject.model(&counts).to_text(), read.to_text());
        }
    }

    #[test]
    fn states_are_decoded_to_what_encodes_them(runs in runs()) {
        let spec = spec(SPEC);
        for name in ["run", "long"] {
            let subject = subject(&spec, name);
            let walker = subject.walker(&Limits::default()).unwrap();
            let mut rules = subject.space.rules(&subject.rules);
            for (number, run) in runs.iter().enumerate() {
                let walk = walker.judge(record(run, number), Deferred::NONE, &Wanted::new(0, |_, _| false)).unwrap();
                prop_assert_eq!(walk.keys.len(), run.tools.len());
                for key in &walk.keys {
                    let words = subject.space.decode(*key);
                    prop_assert_eq!(subject.space.parse(&words), Ok(*key));
                    prop_assert!(rules.is_valid(*key));
                }
                for pair in walk.keys.windows(2) {
                    prop_assert_eq!(rules.allows(pair[0], pair[1]), Step::Allowed);
                }
            }
        }
    }
}

#[test]
fn the_states_that_are_listed_are_the_valid_ones() {
    let spec = spec(SPEC);
    let subject = subject(&spec, "run");
    let mut rules = subject.space.rules(&subject.rules);
    let states = rules.states(100).unwrap();
    let words: BTreeSet<String> = states
        .iter()
        .map(|key| subject.space.describe(*key))
        .collect();
    assert_eq!(words.len(), 6);
    assert!(words.contains("level=high, mails"));
    assert!(rules.states(5).is_err());
    // Monotone: from the highest level only to itself.
    let high = states
        .iter()
        .find(|key| subject.space.describe(**key) == "level=high, not mails");
    let next = rules.successors(*high.unwrap(), &states);
    let names: Vec<String> = next
        .iter()
        .map(|place| subject.space.describe(states[*place as usize]))
        .collect();
    assert_eq!(names, ["level=high, not mails", "level=high, mails"]);
}

#[test]
fn a_space_of_tracks_begins_in_their_first_values() {
    let spec = spec(SPEC);
    let levels = subject(&spec, "start");
    assert_eq!(
        levels.space.start().map(|key| levels.space.describe(key)),
        Some("level=low".to_owned())
    );
    assert_eq!(subject(&spec, "run").space.start(), None);
}

const CLI: &str = r#"
enum Level ordered { low < mid < high }
trace { meta team: string? }
event { tool: string? }
track level: Level = low then if tool == "secret" then high else if tool == "reset" then low else level
predicate mails = tool == "mail"
abstraction drift { over level, mails  step level' >= level }
model run = learn drift { smoothing 0.5  by meta.team }
"#;

const TRACES: &str = r#"{"id":"a","meta":{"team":"x"},"events":[{"tool":"secret"},{"tool":"mail"}]}
{"id":"b","meta":{"team":"y"},"events":[{"tool":"mail"},{"tool":"mail"}]}
{"id":"c","meta":{"team":"x"},"complete":false,"events":[{"tool":"secret"}]}
"#;

#[test]
fn the_command_counts_merges_and_tells() {
    let folder = Folder::new(&[("s.guard", CLI), ("t.jsonl", TRACES)]);
    let run = folder.guard(&["learn", "s.guard", "t.jsonl", "-o", "m.json"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    insta::assert_snapshot!("learn_human", run.out);
    insta::assert_snapshot!("learn_model", folder.read("m.json"));
    let json = folder
        .guard(&["learn", "s.guard", "t.jsonl", "--format", "json"])
        .out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["traces"]["complete"], 2);
    assert_eq!(json["traces"]["censored"], 1);
    assert_eq!(json["visits"], 5);
    for line in TRACES.lines().enumerate() {
        folder.write(&format!("{}.jsonl", line.0), line.1);
        let (file, model) = (format!("{}.jsonl", line.0), format!("{}.json", line.0));
        assert_eq!(
            folder
                .guard(&["learn", "s.guard", &file, "-o", &model])
                .code,
            0
        );
    }
    let merged = folder.guard(&[
        "learn", "s.guard", "-o", "all.json", "--merge", "2.json", "0.json", "1.json",
    ]);
    assert_eq!(merged.code, 0, "{}", merged.err);
    assert_eq!(folder.read("all.json"), folder.read("m.json"));
    for jobs in ["1", "3"] {
        folder.guard(&[
            "learn", "s.guard", "t.jsonl", "--jobs", jobs, "-o", "j.json",
        ]);
        assert_eq!(folder.read("j.json"), folder.read("m.json"));
    }
}

#[test]
fn an_impossible_step_is_told_and_never_absorbed() {
    let bad = format!(
        "{TRACES}{}\n",
        r#"{"id":"d","meta":{"team":"x"},"events":[{"tool":"secret"},{"tool":"reset"}]}"#
    );
    let folder = Folder::new(&[("s.guard", CLI), ("t.jsonl", &bad)]);
    let run = folder.guard(&["learn", "s.guard", "t.jsonl", "-o", "m.json"]);
    assert_eq!(run.code, 1);
    assert!(
        run.out
            .contains("d step 1: level=high, not mails → level=low, not mails: excluded by `step`"),
        "{}",
        run.out
    );
    assert!(!folder.path().join("m.json").exists());
    let left = folder.guard(&[
        "learn",
        "s.guard",
        "t.jsonl",
        "-o",
        "m.json",
        "--invalid",
        "quarantine",
    ]);
    assert_eq!(left.code, 0, "{}", left.err);
    assert!(folder.read("m.json").contains("\"quarantined\":1"));
    let declared = folder.guard(&[
        "learn",
        "s.guard",
        "t.jsonl",
        "-o",
        "m.json",
        "--invalid",
        "declare",
        "--format",
        "json",
    ]);
    assert_eq!(declared.code, 0);
    let json: serde_json::Value = serde_json::from_str(&declared.out).unwrap();
    assert_eq!(json["visits"], 7);
}

#[test]
fn a_model_of_another_spec_is_refused_with_what_changed() {
    let folder = Folder::new(&[("s.guard", CLI), ("t.jsonl", TRACES)]);
    folder.guard(&["learn", "s.guard", "t.jsonl", "-o", "m.json"]);
    // Settings that counts do not depend on may change, and so may names and layout.
    let same = CLI
        .replace("smoothing 0.5", "smoothing 2")
        .replace("over level, mails", "over level,   mails");
    folder.write("same.guard", &same);
    assert_eq!(
        folder
            .guard(&["learn", "same.guard", "--merge", "m.json"])
            .code,
        0
    );
    let other = CLI
        .replace("== \"mail\"", "== \"post\"")
        .replace("step level' >= level", "");
    folder.write("other.guard", &other);
    let run = folder.guard(&["learn", "other.guard", "--merge", "m.json"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("`over mails`, `step` (gone) changed"),
        "{}",
        run.err
    );
    for broken in ["{}", "[1", "{\"v\":9}"] {
        folder.write("m.json", broken);
        assert_eq!(
            folder
                .guard(&["learn", "s.guard", "--merge", "m.json"])
                .code,
            2
        );
    }
}

/// A trace whose state becomes unknown is counted up to there, and a note says why; a model of nothing is an error.
#[test]
fn what_is_left_out_is_told() {
    let spec = "event { kind: string  n: int = 0 }\npredicate x = kind == \"x\"\n\
        abstraction a { over n_: int 0..3 = n, x }\nmodel run = learn a { }\nquery q = P=? [ F x ] on run\n";
    let far = r#"{"id":"t1","events":[{"kind":"a","n":1},{"kind":"x","n":7},{"kind":"x"}]}"#;
    let lost = r#"{"id":"t1","complete":false,"events":[{"n":1}]}"#;
    let folder = Folder::new(&[("a.guard", spec), ("far.jsonl", far), ("lost.jsonl", lost)]);
    let run = folder.guard(&["learn", "a.guard", "far.jsonl"]);
    assert_eq!(run.code, 0, "{run:?}");
    let why = "trace t1, step 1: the state is not known, and the rest of the trace is left out: `n_` is 7, not from 0 to 3";
    assert!(run.err.contains(why), "{run:?}");
    let run = folder.guard(&["learn", "a.guard", "lost.jsonl", "-o", "m.json"]);
    assert_eq!(run.code, 3, "{run:?}");
    for why in [
        "step 0: the state is not known",
        "`x` is unknown",
        "no step was counted",
    ] {
        assert!(run.err.contains(why), "{run:?}");
    }
}

#[test]
fn counts_that_cannot_be_added_and_two_chains_of_a_category_are_refused() {
    let folder = Folder::new(&[("s.guard", CLI), ("t.jsonl", TRACES)]);
    folder.guard(&["learn", "s.guard", "t.jsonl", "-o", "m.json"]);
    let model: serde_json::Value = serde_json::from_str(&folder.read("m.json")).unwrap();
    let refused = |change: &dyn Fn(&mut serde_json::Value), wanted: &str| {
        let mut model = model.clone();
        change(&mut model);
        folder.write("changed.json", model.to_string());
        let run = folder.guard(&["learn", "s.guard", "--merge", "changed.json"]);
        assert_eq!(run.code, 2, "{}", run.err);
        assert!(run.err.contains(wanted), "{}", run.err);
    };
    let huge = "the counts exceed 62 bits together";
    for count in [u64::MAX, 1 << 62] {
        refused(
            &|model| model["chains"][0]["transitions"][0][2] = count.into(),
            huge,
        );
        refused(
            &|model| model["chains"][0]["ends"][0][1] = count.into(),
            huge,
        );
        refused(
            &|model| model["chains"][0]["traces"]["censored"] = count.into(),
            huge,
        );
    }
    refused(
        &|model| {
            let chain = model["chains"][0].clone();
            model["chains"].as_array_mut().unwrap().push(chain);
        },
        "several chains",
    );
    let mut large = model;
    large["chains"][0]["transitions"][0][2] = (1u64 << 61).into();
    folder.write("m.json", large.to_string());
    let run = folder.guard(&["learn", "s.guard", "--merge", "m.json", "m.json"]);
    assert_eq!((run.code, run.err.contains(huge)), (2, true), "{}", run.err);
}
