//! The runs shown in `docs/risk.md` give the shown output on the recorded runs, if they are available. The chain of SafetyDrift
//! is the published one.

use crate::support::cli::Folder;
use serde_json::{Value, json};

const FILES: &[&str] = &[
    "hijack.guard",
    "safety_drift.guard",
    "safety_drift.tra",
    "safety_drift.lab",
    "safety_drift.srew",
];

fn folder() -> Folder {
    let folder = Folder::new(&[]);
    for name in FILES {
        let from = crate::support::root().join("examples/risk").join(name);
        folder.write(name, std::fs::read(from).unwrap());
    }
    folder
}

/// Words of a command line; quotes hold words together.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let each = parts.flat_map(|(at, part)| match at % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    each.collect()
}

#[test]
fn the_walk_is_what_the_command_says() {
    let Some(runs) = crate::support::shared("data/agentdojo-jsonl") else {
        return;
    };
    let folder = folder();
    let text = std::fs::read_to_string(crate::support::root().join("docs/risk.md")).unwrap();
    let mut repeated = 0;
    for block in text.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap().replace("\\\n", " ");
        let (command, told) = block.split_once('\n').unwrap();
        let words: Vec<String> = words(command.strip_prefix("$ guard ").unwrap())
            .into_iter()
            .map(|word| match word.strip_prefix("runs/") {
                Some(file) => runs.join(file).display().to_string(),
                None => word,
            })
            .collect();
        let run = folder.guard(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let lines = |text: &str| -> Vec<String> {
            let lines = text.lines().map(|line| line.trim_end().to_owned());
            lines.collect()
        };
        let mut wanted = lines(told);
        let mut found = lines(&run.out);
        if wanted.last().is_some_and(|line| line == "…") {
            wanted.pop();
            found.truncate(wanted.len());
        }
        assert_eq!(found, wanted, "{command}\n{}", run.err);
        repeated += 1;
    }
    assert!(repeated >= 6, "{repeated}");
}

#[test]
fn safety_drift_is_the_published_chain() {
    let folder = folder();
    let run = folder.guard(&["compile", "safety_drift.guard", "--emit", "abstraction"]);
    let space: Value = serde_json::from_str(run.out.trim()).unwrap();
    // Five exposures, four reaches, three ways to undo.
    assert_eq!(space["valid_states"], 60);
    let run = folder.guard(&[
        "query",
        "safety_drift.guard",
        "--all-states",
        "--format",
        "json",
        "printed_soon",
        "printed_later",
        "printed_ever",
        "printed_steps",
    ]);
    let tables = [
        ([0.2671, 0.4539, 0.3043, 0.3043, 1.0], 5e-5),
        ([0.5306, 0.6533, 0.5160, 0.5160, 1.0], 5e-5),
        ([1.0, 1.0, 1.0, 1.0, 1.0], 1e-12),
        ([14.1663, 10.9890, 14.2857, 14.2857, 0.0], 5e-5),
    ];
    for (line, (wanted, within)) in run.out.lines().zip(tables) {
        let answer: Value = serde_json::from_str(line).unwrap();
        for (state, wanted) in wanted.into_iter().enumerate() {
            let found = answer["per_state"][state].as_f64().unwrap();
            assert!((found - wanted).abs() <= within, "{answer}");
        }
    }
    assert_eq!(run.out.lines().count(), 4);
}

/// Each category has a chain of its own; what only one of them does is a risk of that one.
#[test]
fn drift_is_learned_by_category() {
    let line = |number: usize, category: &str, tools: &[(&str, &str)]| {
        let event = |(tool, path): &(&str, &str)| json!({"tool": tool, "args": {"path": path}});
        let events: Vec<Value> = tools.iter().map(event).collect();
        json!({"id": number.to_string(), "category": category, "events": events}).to_string() + "\n"
    };
    let mut traces = String::new();
    for number in 0..40 {
        let last = if number % 4 == 0 {
            "send_email"
        } else {
            "write_file"
        };
        traces += &line(
            number,
            "mail",
            &[("read_file", "customers.csv"), (last, "x")],
        );
        traces += &line(
            100 + number,
            "code",
            &[("read_file", "src/main"), ("run_tests", "x")],
        );
    }
    let folder = folder();
    folder.write("t.jsonl", traces);
    let run = folder.guard(&["learn", "safety_drift.guard", "t.jsonl", "-o", "m.json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let run = folder.guard(&[
        "query",
        "safety_drift.guard",
        "--model",
        "m.json",
        "--format",
        "json",
        "soon",
        "rarely",
    ]);
    let found: Vec<Value> = run
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!((run.code, found.len()), (1, 4), "{}", run.err);
    let of = |name: &str, category: &str| -> &Value {
        let mut found = found.iter();
        found
            .find(|answer| answer["name"] == name && answer["category"] == category)
            .unwrap()
    };
    let (mail, code) = (of("soon", "mail"), of("soon", "code"));
    assert!(mail["value"].as_f64() > code["value"].as_f64());
    // One in four of the mails; in the other category only smoothing says that it could happen.
    let plain = |answer: &Value| {
        answer["value"].as_f64().unwrap() - answer["smoothing_share"].as_f64().unwrap()
    };
    assert!((plain(mail) - 0.25).abs() < 1e-9 && plain(code).abs() < 1e-9);
    assert_eq!(of("rarely", "mail")["holds"], false);
}
