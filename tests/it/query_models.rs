//! Queries and properties of specs on models: numbers known by other means, and traces counted by hand.

use crate::support::cli::{Folder, close, named};
use serde_json::{Value, json};

fn answers(folder: &Folder, args: &[&str]) -> Vec<Value> {
    let run = folder.guard(&[&["query"], args, &["--format", "json"]].concat());
    assert_eq!(run.err, "");
    run.out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The worked example of learning with smoothing over declared successors: from `0` nothing leads to `u` at once.
const WORKED: &str = r#"
event { s: string }
abstraction a { over s  step not (s == "0" and s' == "u")  absorbing s == "u" }
model m = learn a { smoothing 1 }
model plain = learn a { }
query risk = P=? [ F s == "u" ] on m
query unsmoothed = P=? [ F s == "u" ] on plain
property low: pctl = P<=0.06 [ F s == "u" ] on m
property never_u: ctl = AG (s != "u") on plain
property back: ctl = AG (s != "u" -> EF s == "0") on plain
"#;

fn worked() -> Folder {
    let trace = r#"{"id":"t","events":[{"s":"0"},{"s":"1"},{"s":"u"}]}"#;
    let folder = Folder::new(&[("w.guard", WORKED), ("t.jsonl", trace)]);
    for model in ["m", "plain"] {
        let file = format!("{model}.json");
        let run = folder.guard(&["learn", "w.guard", "t.jsonl", "--model", model, "-o", &file]);
        assert_eq!(run.code, 0, "{}", run.err);
        let mut counts: Value = serde_json::from_str(&folder.read(&file)).unwrap();
        counts["chains"][0]["transitions"] = json!([
            [0, 1, 180],
            [1, 1, 700],
            [1, 2, 200],
            [2, 1, 120],
            [2, 2, 200],
            [2, 3, 10]
        ]);
        counts["chains"][0]["ends"] = json!([[1, 100], [2, 70]]);
        counts["chains"][0]["traces"]["complete"] = json!(180);
        folder.write(&file, counts.to_string());
    }
    folder
}

#[test]
fn the_worked_example_of_learning() {
    let folder = worked();
    let found = answers(
        &folder,
        &[
            "w.guard",
            "--model",
            "m.json",
            "risk",
            "low",
            "--all-states",
        ],
    );
    let risk = named(&found, "risk");
    let names = risk["state_names"].as_array().unwrap();
    let of = |name: &str| {
        let place = names.iter().position(|other| other == name).unwrap();
        risk["per_state"][place].clone()
    };
    close(&of("s=\"0\""), 0.059781, 5e-7);
    close(&of("s=\"1\""), 0.089820, 5e-7);
    assert!(risk["lower"].as_f64() <= risk["value"].as_f64());
    assert!(risk["value"].as_f64() <= risk["upper"].as_f64());
    let plain = answers(
        &folder,
        &["w.guard", "--model", "plain.json", "unsmoothed", "--exact"],
    );
    assert_eq!(plain[0]["exact"], "1/18");
}

#[test]
fn branching_time_is_asked_of_what_is_declared_and_of_what_was_seen() {
    let folder = worked();
    let run = folder.guard(&[
        "query",
        "w.guard",
        "--model",
        "plain.json",
        "back",
        "never_u",
    ]);
    assert_eq!(run.code, 1, "{}", run.err);
    let wanted = "never_u: AG (s != \"u\") on plain\n  on all transitions declared possible: does not hold\n  \
                  on the transitions observed in traces: does not hold\n";
    assert!(run.out.contains(wanted), "{}", run.out);
}

/// A chain as printed in a paper: `F<=k`, absorption and steps are known.
#[test]
fn the_published_chain_of_drift() {
    let spec = r#"
model drift = import "drift.tra"
query five = P=? [ F<=5 violated ] on drift
query ten = P=? [ F<=10 violated ] on drift
query ever = P=? [ F violated ] on drift
query steps = R=? [ F violated ] on drift
"#;
    let rows = [
        (0, 0, 0.54),
        (0, 1, 0.32),
        (0, 2, 0.14),
        (1, 1, 0.74),
        (1, 2, 0.13),
        (1, 4, 0.13),
        (2, 2, 0.81),
        (2, 3, 0.12),
        (2, 4, 0.07),
        (3, 3, 0.93),
        (3, 4, 0.07),
        (4, 4, 1.0),
    ];
    let mut tra = format!("5 {}\n", rows.len());
    let mut rewards = "5 5\n".to_owned();
    for (from, to, p) in rows {
        tra.push_str(&format!("{from} {to} {p}\n"));
    }
    for state in 0..5 {
        rewards.push_str(&format!("{state} 1\n"));
    }
    let labels = "0=\"init\" 1=\"deadlock\" 2=\"violated\"\n0: 0\n4: 2\n";
    let folder = Folder::new(&[
        ("d.guard", spec),
        ("drift.tra", &tra),
        ("drift.lab", labels),
        ("drift.srew", &rewards),
    ]);
    let found = answers(&folder, &["d.guard", "--all-states"]);
    let wanted = [
        ("five", [0.2671, 0.4539, 0.3043, 0.3043, 1.0], 5e-5),
        ("ten", [0.5306, 0.6533, 0.5160, 0.5160, 1.0], 5e-5),
        ("ever", [1.0, 1.0, 1.0, 1.0, 1.0], 1e-12),
        ("steps", [14.1663, 10.9890, 14.2857, 14.2857, 0.0], 5e-5),
    ];
    for (name, values, within) in wanted {
        let answer = named(&found, name);
        for (state, value) in values.into_iter().enumerate() {
            close(&answer["per_state"][state], value, within);
        }
    }
}

/// Without smoothing, on complete traces, the probability at the start is the share of traces: counts are expected visits.
#[test]
fn complete_traces_without_smoothing_are_their_own_frequencies() {
    let spec = r#"
event { s: string }
abstraction a { over s  absorbing s == "u" }
model m = learn a { }
query u = P=? [ F s == "u" ] on m
query first = P=? [ F<=1 s == "u" ] on m
query two = P=? [ F<=2 s == "b" ] on m
query lasts = P=? [ F (s == "b" and N false) ] on m
"#;
    // A generator of its own: traces over a, b, u of up to six steps.
    let mut state = 7u64;
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    for round in 0..6 {
        let mut lines = String::new();
        let (mut violated, mut first) = (0u64, 0u64);
        let traces = 5 + next(20);
        for number in 0..traces {
            let length = 1 + next(6);
            let events: Vec<&str> = (0..length)
                .map(|_| ["a", "b", "a", "b", "u"][next(5) as usize])
                .collect();
            violated += u64::from(events.contains(&"u"));
            first += u64::from(events[0] == "u");
            let events: Vec<Value> = events.iter().map(|s| json!({ "s": s })).collect();
            lines.push_str(&json!({"id": format!("t{number}"), "events": events}).to_string());
            lines.push('\n');
        }
        let folder = Folder::new(&[("s.guard", spec), ("t.jsonl", &lines)]);
        assert_eq!(
            folder
                .guard(&["learn", "s.guard", "t.jsonl", "-o", "m.json"])
                .code,
            0
        );
        let found = answers(&folder, &["s.guard", "--model", "m.json", "--exact"]);
        for (name, count) in [("u", violated), ("first", first)] {
            let exact = named(&found, name)["exact"].as_str().unwrap();
            let (over, under) = exact.split_once('/').unwrap_or((exact, "1"));
            let (over, under): (u64, u64) = (over.parse().unwrap(), under.parse().unwrap());
            assert_eq!(
                over * traces,
                count * under,
                "round {round}: {name} is {exact}"
            );
        }
    }
}

#[test]
fn rules_are_followed_by_monitors_that_run_along() {
    let spec = r#"
event { s: string }
rule answered: when s == "ask" then s == "ok" within 1 steps
abstraction plain { over s }
abstraction with { over s, answered }
model p = learn plain { }
model w = learn with { }
query a = P=? [ F violated(answered) ] on p
query b = P=? [ F violated(answered) ] on w
query c = P=? [ G not violated(answered) ] on p
query open = P=? [ F s == "nothing" ] on p
"#;
    let trace = |id: &str, events: &str| {
        let events: Vec<Value> = events.split(' ').map(|s| json!({ "s": s })).collect();
        json!({"id": id, "events": events}).to_string() + "\n"
    };
    let lines = [
        trace("1", "ask ok x"),
        trace("2", "ask x x"),
        trace("3", "x ask ok"),
        trace("4", "x x ask"),
    ];
    let folder = Folder::new(&[("s.guard", spec), ("t.jsonl", &lines.concat())]);
    for model in ["p", "w"] {
        let file = format!("{model}.json");
        assert_eq!(
            folder
                .guard(&["learn", "s.guard", "t.jsonl", "--model", model, "-o", &file])
                .code,
            0
        );
    }
    let plain = answers(&folder, &["s.guard", "--model", "p.json", "--exact"]);
    // From `ask`: ok 2 of 4, x 1 of 4, the end 1 of 4, which leaves what is owed open.
    let fraction = |answer: &Value| -> f64 { answer["value"].as_f64().unwrap() };
    let (a, c) = (fraction(named(&plain, "a")), fraction(named(&plain, "c")));
    assert!((a + c - 1.0).abs() < 1e-12);
    assert_eq!(named(&plain, "open")["exact"], "0");
    // With the monitor among the components, what is owed at the end is no violation that a step shows.
    let with = answers(&folder, &["s.guard", "--model", "w.json", "b"]);
    assert!(fraction(&with[0]) <= a);
}

#[test]
fn exact_rewards_are_those_that_the_spec_says() {
    let spec = r#"
event { s: string }
abstraction a { over s  reward cost = if s == "v" then 0.1 else 2 }
model m = learn a { }
query cost = R{"cost"}=? [ C ] on m
"#;
    let trace = r#"{"id":"t","events":[{"s":"w"},{"s":"v"}]}"#;
    let folder = Folder::new(&[("s.guard", spec), ("t.jsonl", trace)]);
    folder.guard(&["learn", "s.guard", "t.jsonl", "-o", "m.json"]);
    let found = answers(&folder, &["s.guard", "--model", "m.json", "--exact"]);
    assert_eq!(found[0]["exact"], "21/10");
    let found = answers(&folder, &["s.guard", "--model", "m.json"]);
    close(&found[0]["value"], 2.1, 1e-9);
}

#[test]
fn what_is_wrong_is_said() {
    let folder = worked();
    let cases: [(&[&str], &str); 4] = [
        (
            &["w.guard"],
            "is learned from traces: run `guard learn w.guard --model m TRACE… -o m.json`",
        ),
        (
            &["w.guard", "rsk", "--model", "m.json"],
            "did you mean `risk`?",
        ),
        (
            &["w.guard", "risk", "--model", "plain.json"],
            "contains model `plain`, but the query is about `m`",
        ),
        (&[], "give a spec, or a Markov chain"),
    ];
    for (args, wanted) in cases {
        let run = folder.guard(&[&["query"], args].concat());
        assert_eq!(run.code, 2, "{args:?}");
        assert!(run.err.contains(wanted), "{args:?}: {}", run.err);
    }
    let changed = WORKED.replace("absorbing s == \"u\"", "absorbing s == \"v\"");
    folder.write("w.guard", &changed);
    let run = folder.guard(&["query", "w.guard", "--model", "m.json", "risk"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err
            .contains("learned with a different spec: `absorbing` changed"),
        "{}",
        run.err
    );
}

/// A connective reads the end as its definition by others does, on a model and on recorded runs.
#[test]
fn the_end_counts_in_all_connectives() {
    let spec = r#"
trace { complete from "/complete" }
event { kind: string }
predicate w = kind == "w"
abstraction st { over w }
model run = learn st { }
query negated = P=? [ F (not w or "end") ] on run
query implied = P=? [ F (w -> "end") ] on run
query equal = P=? [ F (w <-> not "end") ] on run
query same = P=? [ F ((w and not "end") or (not w and "end")) ] on run
query formula = P=? [ F ((X w) -> "end") ] on run
query late = P=? [ F[3,4] (w -> "end") ] on run
"#;
    let line = json!({"id": "t", "complete": true, "events": [{"kind": "w"}, {"kind": "w"}]});
    let folder = Folder::new(&[
        ("s.guard", spec),
        ("t.jsonl", &format!("{line}\n").repeat(5)),
    ]);
    let run = folder.guard(&["learn", "s.guard", "t.jsonl", "-o", "m.json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let found = answers(&folder, &["s.guard", "--model", "m.json"]);
    for name in ["negated", "implied", "equal", "same", "formula"] {
        close(&named(&found, name)["value"], 1.0, 1e-9);
        let args = ["s.guard", "t.jsonl", "--model", "m.json", "--query", name];
        let run = folder.guard(&[&["calibrate", "--format", "json"], &args[..]].concat());
        let line = run.out.lines().next().unwrap_or_default();
        let judged: Value = serde_json::from_str(line).unwrap_or_default();
        close(&judged["brier"]["observed"], 1.0, 0.0);
        close(&judged["brier"]["predicted"], 1.0, 1e-9);
    }
    // The chain was counted from runs of two steps: each step is the last one with probability 1/2.
    close(&named(&found, "late")["value"], 0.875, 1e-9);
}

/// What holds before the first step is not reached there.
#[test]
fn rewards_are_counted_from_the_first_step() {
    let spec = r#"
trace { complete from "/complete" }
event { kind: string }
predicate w = kind == "w"
predicate v = kind == "v"
abstraction st { over w, v  reward ws = if w then 1 else 0 }
model run = learn st { }
query plain = R{"ws"}=? [ F (not w) ] on run
query ended = R{"ws"}=? [ F (not (w or "end")) ] on run
"#;
    let line = json!({"id": "t", "complete": true, "events": [{"kind": "w"}, {"kind": "v"}]});
    let folder = Folder::new(&[("s.guard", spec), ("t.jsonl", &line.to_string())]);
    folder.guard(&["learn", "s.guard", "t.jsonl", "-o", "m.json"]);
    let found = answers(&folder, &["s.guard", "--model", "m.json"]);
    close(&named(&found, "plain")["value"], 1.0, 1e-9);
    close(&named(&found, "ended")["value"], 1.0, 1e-9);
}

/// A claim of a spec has one answer, which a chain with two initial states does not have.
#[test]
fn an_imported_chain_has_one_initial_state() {
    let spec = r#"
event { tool: string? }
model m = import "two.tra"
property fine = P>=0.9 [ F good ] on m
"#;
    let folder = Folder::new(&[
        ("s.guard", spec),
        ("two.tra", "4 4\n0 2 1\n1 3 1\n2 2 1\n3 3 1\n"),
        ("two.lab", "0=\"init\" 1=\"good\"\n0: 0\n1: 0\n2: 1\n"),
    ]);
    let run = folder.guard(&["query", "s.guard"]);
    assert_eq!(run.code, 2, "{}{}", run.out, run.err);
    assert!(
        run.err.contains("the chain has 2 initial states"),
        "{}",
        run.err
    );
    folder.write("two.lab", "0=\"init\" 1=\"good\"\n0: 0\n2: 1\n");
    assert_eq!(folder.guard(&["query", "s.guard"]).code, 0);
}

/// Conditions that share parts are exponentially larger as trees.
#[test]
fn shared_conditions_are_walked_once() {
    let mut spec = String::from(
        r#"
event { s: string }
predicate p0 = s == "a"
abstraction st { over p0 }
model m = learn st { }
query plain = P=? [ F p60 ] on m
query joined = P=? [ F (p60 or "end") ] on m
query nested = P=? [ F (p60 and P>=0 [ X p60 ]) ] on m
"#,
    );
    for level in 1..=60 {
        let before = level - 1;
        spec += &format!("predicate p{level} = (p{before} and p0) or (p{before} and not p0)\n");
    }
    let run = r#"{"id":"t","events":[{"s":"a"},{"s":"b"}]}"#;
    let folder = Folder::new(&[("s.guard", &spec), ("t.jsonl", run)]);
    assert_eq!(folder.guard(&["check", "s.guard"]).code, 0);
    folder.guard(&["learn", "s.guard", "t.jsonl", "-o", "m.json"]);
    let found = answers(&folder, &["s.guard", "--model", "m.json"]);
    for name in ["plain", "joined", "nested"] {
        close(&named(&found, name)["value"], 1.0, 1e-9);
    }
}

/// A probability has bounds within 0 and 1, and one without a value says so.
#[test]
fn answers_say_what_is_known() {
    let spec = r#"
event { s: string }
abstraction a { over s  absorbing s == "u" }
model m = learn a { }
query sure = P=? [ F<=9 s == "u" ] on m
property none = P>=0.5 [ F s == "u" given F<=1 s == "c" ] on m
"#;
    let run = |steps: &[&str]| {
        let events: Vec<Value> = steps.iter().map(|s| json!({ "s": s })).collect();
        format!("{}\n", json!({"id": "t", "events": events}))
    };
    let lines = run(&["a", "b", "u"]).repeat(3) + &run(&["a", "c", "u"]).repeat(7);
    let folder = Folder::new(&[("s.guard", spec), ("t.jsonl", &lines)]);
    folder.guard(&["learn", "s.guard", "t.jsonl", "-o", "m.json"]);
    let found = answers(&folder, &["s.guard", "--model", "m.json"]);
    let sure = named(&found, "sure");
    close(&sure["value"], 1.0, 1e-9);
    assert!(sure["upper"].as_f64().unwrap() <= 1.0, "{sure}");
    if let Some(range) = sure.get("asymptotic") {
        assert!(range["upper"].as_f64() >= sure["value"].as_f64(), "{sure}");
    }
    let told = folder.guard(&["query", "s.guard", "--model", "m.json", "none"]);
    assert!(
        told.out
            .contains("undecided: there is no number to compare"),
        "{}",
        told.out
    );
}
