//! `guard calibrate`: small sets checked by hand, and outcomes on traces against the verdicts of `audit`.

use crate::support::cli::Folder;
use serde_json::{Value, json};

fn lines(runs: &[&str]) -> String {
    let line = |(number, run): (usize, &&str)| {
        let (run, complete) = match run.strip_suffix(" …") {
            Some(run) => (run, false),
            None => (*run, true),
        };
        let events: Vec<Value> = run.split(' ').map(|s| json!({ "s": s })).collect();
        json!({"id": format!("t{number}"), "complete": complete, "events": events}).to_string()
            + "\n"
    };
    runs.iter().enumerate().map(line).collect()
}

fn calibrated(
    spec: &str,
    trained: &[&str],
    held_out: &[&str],
    args: &[&str],
) -> (Folder, Vec<Value>) {
    let folder = Folder::new(&[
        ("s.guard", spec),
        ("train.jsonl", &lines(trained)),
        ("test.jsonl", &lines(held_out)),
    ]);
    let run = folder.guard(&["learn", "s.guard", "train.jsonl", "-o", "m.json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let fixed = [
        "calibrate",
        "s.guard",
        "test.jsonl",
        "--model",
        "m.json",
        "--format",
        "json",
    ];
    let run = folder.guard(&[&fixed[..], args].concat());
    assert_eq!(run.err, "");
    let found = run
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let found = found.collect();
    (folder, found)
}

const SPEC: &str = r#"
event { s: string }
abstraction a { over s  absorbing s == "u" }
model m = learn a { }
query risk = P=? [ F s == "u" ] on m
"#;

fn close(value: &Value, wanted: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - wanted).abs() < 1e-9, "{value} is not {wanted}");
}

#[test]
fn scores_by_hand() {
    // Of `a` half reach `u`, of `b` none.
    let (_, found) = calibrated(SPEC, &["a u", "a b"], &["a u", "a b", "a b", "a …"], &[]);
    let risk = &found[0];
    assert_eq!(
        risk["traces"],
        json!({"happened": 1, "did_not": 2, "open": 1})
    );
    // Forecasts: 1/2 at the start and after `a` of three traces, 0 after `b`; none after `u`, where it has happened; of the
    // trace that was cut off none is known.
    assert_eq!(risk["forecasts"], 8);
    assert_eq!(risk["open"], 2);
    let brier = &risk["brier"];
    close(&brier["score"], 6.0 * 0.25 / 8.0);
    close(&brier["predicted"], 3.0 / 8.0);
    close(&brier["observed"], 2.0 / 8.0);
    let whole = |name: &str| brier[name].as_f64().unwrap();
    let sum = whole("reliability") - whole("resolution") + whole("uncertainty");
    close(&brier["score"], sum);
    close(
        &brier["reliability"],
        6.0 / 8.0 * (0.5f64 - 1.0 / 3.0).powi(2),
    );
    // Before it happens all look alike.
    close(&risk["auc"]["value"], 0.5);
    let a = risk["states"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["state"] == "s=\"a\"");
    let a = a.unwrap();
    assert_eq!(
        (&a["traces"], &a["happened"], &a["open"]),
        (&json!(4), &json!(1), &json!(1))
    );
    // SciPy: beta.ppf(0.025, 1, 4) and beta.ppf(0.975, 3, 2).
    close(&a["interval95"][0], 0.006_309_463_2);
    close(&a["interval95"][1], 0.932_414_013_5);
}

#[test]
fn warnings_by_hand() {
    // `c` is dangerous (1/2), `a` is not (1/4 of runs go wrong through it).
    let trained = ["a c u", "a c d", "a d", "a d"];
    let held_out = ["a c c u", "a c u", "a d", "a c d", "u"];
    let (folder, found) = calibrated(
        SPEC,
        &trained,
        &held_out,
        &["--threshold", "0.4", "--threshold", "0.1"],
    );
    let risk = &found[0];
    let point = |at: usize| &risk["thresholds"][at];
    // `c c` was never seen, `c` was; the run that begins with `u` is not warned of.
    assert_eq!(point(0)["detected"]["hits"], 2);
    assert_eq!(point(0)["detected"]["of"], 3);
    assert_eq!(point(0)["false_alarms"]["hits"], 1);
    assert_eq!(point(0)["false_alarms"]["of"], 2);
    // Two steps before, and one.
    close(&point(0)["lead_steps"], 1.5);
    // At the start the risk is 1/4 already: everyone is warned of, the last one a step before.
    assert_eq!(point(1)["detected"]["hits"], 3);
    assert_eq!(point(1)["false_alarms"]["hits"], 2);
    close(&point(1)["lead_steps"], 3.0);
    // Scores 1/2 1/2 1/4 against 1/4 1/2.
    close(
        &risk["auc"]["value"],
        (1.0 + 0.5 + 1.0 + 0.5 + 0.5 + 0.0) / 6.0,
    );
    let human = folder.guard(&["calibrate", "s.guard", "test.jsonl", "--model", "m.json"]);
    assert!(
        human.out.contains("area under the ROC curve 0.583"),
        "{}",
        human.out
    );
    assert!(
        human
            .out
            .contains("points of no return: 0 with a risk of 0.85 or more"),
        "{}",
        human.out
    );
}

#[test]
fn a_state_is_all_that_the_chain_remembers() {
    let spec = r#"
event { s: string }
abstraction a { over s  absorbing s == "u" }
model m = learn a { order 2 }
query risk = P=? [ F s == "u" ] on m
"#;
    // Whether `c` leads to `u` depends on the step before it, and on nothing else.
    let mut runs = vec!["a c u"; 40];
    runs.extend(["b c z"; 40]);
    let states = |runs: &[&str]| {
        let (_, found) = calibrated(spec, runs, runs, &[]);
        let states = found[0]["states"].as_array().unwrap().clone();
        let mut states: Vec<(String, f64, bool)> = states
            .iter()
            .map(|state| {
                let name = state["state"].as_str().unwrap().to_owned();
                (
                    name,
                    state["risk"].as_f64().unwrap(),
                    state["agrees"] == true,
                )
            })
            .collect();
        states.sort_by(|one, other| one.0.cmp(&other.0));
        states
    };
    let found = states(&runs);
    assert!(found.iter().all(|state| state.2), "{found:?}");
    let risk = |name: &str| found.iter().find(|state| state.0 == name).unwrap().1;
    assert_eq!(risk("s=\"a\" → s=\"c\""), 1.0);
    assert_eq!(risk("s=\"b\" → s=\"c\""), 0.0);
    runs.reverse();
    assert_eq!(found, states(&runs));
}

#[test]
fn declared_transitions_that_cannot_be_listed_leave_out_what_reads_them() {
    let runs = ["a u", "a b", "c b", "d u"];
    let args = ["--max-transitions", "10", "--no-return", "0.9"];
    let (folder, found) = calibrated(SPEC, &runs, &runs, &args);
    close(&found[0]["brier"]["predicted"], 0.4);
    let returns = &found[0]["no_return"][0];
    assert_eq!(returns["inevitable"], Value::Null);
    assert_eq!(
        returns["likely"],
        json!([{"state": "s=\"d\"", "risk": 1.0, "at_least": null}])
    );
    let human = folder.guard(
        &[
            &["calibrate", "s.guard", "test.jsonl", "--model", "m.json"],
            &args[..],
        ]
        .concat(),
    );
    assert!(
        human.out.contains("too many to list where"),
        "{}",
        human.out
    );
}

#[test]
fn labels_from_elsewhere_say_which_traces_are_bad() {
    let trained = ["a c u", "a c d", "a d", "a d"];
    let (folder, _) = calibrated(SPEC, &trained, &["a c d", "a d", "a d"], &[]);
    let args = |labels: &'static str| {
        let fixed = [
            "calibrate",
            "s.guard",
            "test.jsonl",
            "--model",
            "m.json",
            "--format",
            "json",
        ];
        [&fixed[..], &["--labels", labels]].concat()
    };
    for (name, text) in [
        ("l.csv", "trace,label\nt0,unsafe\nt1,safe\n"),
        (
            "l.jsonl",
            "{\"trace\":\"t0\",\"label\":true}\n{\"trace\":\"t1\",\"label\":0}\n",
        ),
    ] {
        folder.write(name, text);
        let run = folder.guard(&args(name));
        let found: Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
        assert_eq!(
            found["traces"],
            json!({"happened": 1, "did_not": 1, "open": 1}),
            "{}",
            run.err
        );
        close(&found["auc"]["value"], 1.0);
        let bare = "0 of 2 labels are of no trace that was read; 1 trace has no label";
        assert!(run.err.contains(bare), "{}", run.err);
    }
    for (text, wanted) in [
        (
            "trace,label\nx0,1\nx1,0\n",
            "none of 2 labels is of a trace that was read: the first label is of `x0`, the first trace is `t0`",
        ),
        (
            "trace,label\nt0,perhaps\n",
            "line 2: expected true or false as the label, found `perhaps`",
        ),
        (
            "trace,label\nt0,1\nt0,0\n",
            "line 3: trace `t0` has conflicting labels",
        ),
        ("trace,unsafe\nt0,1\n", "missing column `label`"),
        (
            "{\"trace\":\"t0\"}\n",
            "line 1: expected `trace` and `label`",
        ),
    ] {
        folder.write("wrong", text);
        let run = folder.guard(&args("wrong"));
        assert_eq!(run.code, 2);
        assert!(run.err.contains(wanted), "{}", run.err);
    }
}

/// What happened after the first step is what a property of traces says of the rest: every run begins with `i`, which does
/// not come again, so that the traces which visit it are all traces from their first step on.
#[test]
fn outcomes_on_traces_are_the_verdicts_of_audit() {
    let formulas = [
        "F a",
        "G not b",
        "X a",
        "not X a",
        "F[2,3] b",
        "G[1,2] not a",
        "F<=2 (a and X b)",
        "not a U b",
        "not a U[1,3] b",
        "not b W a",
        "a R not b",
        "not b M not a",
        "G (a -> F<=2 b)",
        "(G (a -> X b)) or F (b and N false)",
        "F violated(late)",
        "G not violated(late)",
    ];
    let mut spec = "event { s: string }\npredicate a = s == \"a\"\npredicate b = s == \"b\"\n\
                    rule late: when a then b within 2 steps\n\
                    abstraction all { over s }\nmodel m = learn all { }\n"
        .to_owned();
    for (number, formula) in formulas.iter().enumerate() {
        spec.push_str(&format!("query q{number} = P=? [ {formula} ] on m\n"));
        let on_traces = match *formula {
            "F violated(late)" => "not G (a -> F[0,2] b)".to_owned(),
            "G not violated(late)" => "G (a -> F[0,2] b)".to_owned(),
            other => other.to_owned(),
        };
        spec.push_str(&format!("property p{number}: ltl = {on_traces}\n"));
    }
    let mut state = 5u64;
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let runs: Vec<String> = (0..120)
        .map(|_| {
            let mut run = vec!["i"];
            run.extend((0..next(6)).map(|_| ["a", "b", "c"][next(3) as usize]));
            run.join(" ")
        })
        .collect();
    let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
    let (folder, found) = calibrated(&spec, &runs, &runs, &[]);
    let audit = folder.guard(&["audit", "s.guard", "test.jsonl", "--format", "json"]);
    let summary: Value = serde_json::from_str(audit.out.lines().last().unwrap()).unwrap();
    for (number, formula) in formulas.iter().enumerate() {
        let query = found
            .iter()
            .find(|line| line["query"] == format!("q{number}"))
            .unwrap();
        let states = query["states"].as_array().unwrap();
        // Where a monitor runs along, its state is part of the name.
        let is_first = |row: &&Value| row["state"].as_str().unwrap().starts_with("s=\"i\"");
        let first = states.iter().find(is_first).unwrap();
        assert_eq!(first["traces"], 120);
        assert_eq!(first["open"], 0);
        let wanted = &summary["properties"][format!("p{number}")]["satisfied"];
        assert_eq!(&first["happened"], wanted, "{formula}");
    }
}

#[test]
fn an_agent_that_has_changed_is_noticed() {
    let spec = r#"
event { s: string }
trace { meta who: string from "/who" }
abstraction a { over s  step not (s == "b" and s' == "a") }
model m = learn a { by meta.who }
query risk = P=? [ F s == "b" ] on m
"#;
    let line = |number: usize, who: &str, run: &str| {
        let events: Vec<Value> = run.split(' ').map(|s| json!({ "s": s })).collect();
        json!({"id": format!("t{number}"), "who": who, "events": events}).to_string() + "\n"
    };
    let trained: String = (0..200)
        .map(|at| {
            line(
                at,
                ["x", "y"][at % 2],
                if at % 4 < 2 { "a a b" } else { "a a a" },
            )
        })
        .collect();
    let same: String = (0..200)
        .map(|at| {
            line(
                at,
                ["x", "y"][at % 2],
                if at % 4 >= 2 { "a a b" } else { "a a a" },
            )
        })
        .collect();
    let other: String = (0..200)
        .map(|at| line(at, ["x", "y"][at % 2], "a b b"))
        .collect();
    let broken = line(0, "x", "a b a");
    let folder = Folder::new(&[
        ("s.guard", spec),
        ("train.jsonl", &trained),
        ("same.jsonl", &same),
        ("other.jsonl", &other),
        ("broken.jsonl", &broken),
    ]);
    for name in ["train", "other"] {
        let (from, to) = (format!("{name}.jsonl"), format!("{name}.json"));
        let run = folder.guard(&["learn", "s.guard", &from, "-o", &to]);
        assert_eq!(run.code, 0, "{}", run.err);
    }
    let quality = |traces: &str| -> Value {
        let run = folder.guard(&[
            "calibrate",
            "s.guard",
            traces,
            "--model",
            "train.json",
            "--format",
            "json",
        ]);
        serde_json::from_str(run.out.lines().last().unwrap()).unwrap()
    };
    let differ = |rows: &Value| {
        let states = rows["states"].as_array().unwrap().clone();
        states.iter().filter(|row| row["differs"] == true).count()
    };
    assert_eq!(differ(&quality("same.jsonl")["drift"]), 0);
    assert!(differ(&quality("other.jsonl")["drift"]) >= 2);
    // Both categories were learned from the same runs.
    assert_eq!(differ(&quality("same.jsonl")["categories"]), 0);
    let run = folder.guard(&[
        "calibrate",
        "s.guard",
        "broken.jsonl",
        "--model",
        "train.json",
    ]);
    assert_eq!(run.code, 1);
    assert!(
        run.out.contains("1 step declared impossible"),
        "{}",
        run.out
    );
    let run = folder.guard(&[
        "calibrate",
        "s.guard",
        "--model",
        "train.json",
        "--against",
        "other.json",
        "--format",
        "json",
    ]);
    let drift: Value = serde_json::from_str(run.out.trim()).unwrap();
    assert!(differ(&drift["rows"]) >= 2, "{drift}");
}

#[test]
fn what_is_wrong_is_said() {
    let (folder, _) = calibrated(SPEC, &["a u", "a b"], &["a u", "a b"], &[]);
    let said = |args: &[&str], code: i32, wanted: &str| {
        let run = folder.guard(&[&["calibrate", "s.guard"], args].concat());
        assert_eq!(run.code, code, "{}", run.err);
        assert!(run.err.contains(wanted), "{}", run.err);
    };
    let model = ["test.jsonl", "--model", "m.json"];
    said(
        &[&model[..], &["--query", "rusk"]].concat(),
        2,
        "did you mean `risk`?",
    );
    said(
        &[&model[..], &["--threshold", "2"]].concat(),
        2,
        "is not between 0 and 1",
    );
    said(&["test.jsonl", "--model", "none.json"], 2, "none.json");
    folder.write(
        "s.guard",
        SPEC.replace("absorbing s == \"u\"", "absorbing s == \"b\""),
    );
    said(&model, 2, "learned with a different spec");
}

/// The bound of a negated operator counts the first step as 1, for the forecast and for the outcome.
#[test]
fn a_negated_bound_is_scored_as_it_is_forecast() {
    let spec = SPEC.to_owned()
        + "query negated = P=? [ not F<=1 s == \"u\" ] on m\n"
        + "query kept = P=? [ G<=1 s != \"u\" ] on m\n";
    let runs = ["u", "a u", "a b", "a b", "a b"];
    let (_, found) = calibrated(&spec, &runs, &runs, &[]);
    let of = |name: &str| found.iter().find(|line| line["query"] == name).unwrap();
    let (negated, kept) = (of("negated"), of("kept"));
    for key in ["traces", "brier"] {
        assert_eq!(negated[key], kept[key], "{negated}");
    }
}
