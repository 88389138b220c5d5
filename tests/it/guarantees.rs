//! Statistical guarantees of counted transitions: intervals and required visits, against values of another program (SciPy's
//! beta distribution and a solver for the balls) and against random data.

use crate::support::cli::{Folder, close, named};
use guard_markov::interval::confidence::{anytime_interval, clopper_pearson};
use serde_json::{Value, json};

/// From `a` nothing leads to `u` at once; the start may be followed by all three.
const SPEC: &str = r#"
enum State { a, b, u }
event { s: State }
abstraction a { over s  step not (s == a and s' == u)  absorbing s == u }
model m = learn a { smoothing 1  pac epsilon 0.05 delta 0.05 }
query risk = P=? [ F s == u ] on m
query safe = P=? [ G s != u ] on m
query soon = P=? [ F<=2 s == u ] on m
query one_on = P=? [ X s == u ] on m
property low = P<=0.5 [ F s == u ] on m
property high = P>=0.5 [ F s == u ] on m
property near = P<=0.08 [ F s == u ] on m
"#;

fn worked(scale: u64) -> Folder {
    let trace = r#"{"id":"t","events":[{"s":"a"},{"s":"b"},{"s":"u"}]}"#;
    let folder = Folder::new(&[("w.guard", SPEC), ("t.jsonl", trace)]);
    let run = folder.guard(&["learn", "w.guard", "t.jsonl", "-o", "m.json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let mut model: Value = serde_json::from_str(&folder.read("m.json")).unwrap();
    let n = |count: u64| count * scale;
    model["chains"][0]["transitions"] = json!([
        [0, 1, n(180)],
        [1, 1, n(700)],
        [1, 2, n(200)],
        [2, 1, n(120)],
        [2, 2, n(200)],
        [2, 3, n(10)]
    ]);
    model["chains"][0]["ends"] = json!([[1, n(100)], [2, n(70)]]);
    model["chains"][0]["traces"]["complete"] = json!(n(180));
    folder.write("m.json", model.to_string());
    folder
}

fn ask(folder: &Folder, args: &[&str]) -> Vec<Value> {
    let args = [
        &["query", "w.guard", "--model", "m.json", "--format", "json"],
        args,
    ];
    let run = folder.guard(&args.concat());
    assert_eq!(run.err, "");
    let lines = run.out.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn intervals_of_the_worked_example() {
    let folder = worked(1);
    for (method, start, zero, one) in [
        (
            "fixed",
            clopper_pearson(10, 180, 0.05),
            (0.0122965, 0.1756892),
            (0.0218962, 0.2312572),
        ),
        (
            "anytime",
            anytime_interval(10, 180, 0.05),
            (0.0050479, 0.2223992),
            (0.0094234, 0.2842991),
        ),
    ] {
        let found = ask(&folder, &["risk", "--all-states", "--intervals", method]);
        let interval = &found[0]["interval"];
        close(&interval["lower"], start.0, 2e-6);
        close(&interval["upper"], start.1, 2e-6);
        close(&interval["confidence"], 0.95, 1e-12);
        for (state, (lower, upper)) in [("s=a", zero), ("s=b", one)] {
            let ranges = found[0]["intervals"].as_array().unwrap();
            let range = ranges.iter().find(|range| range["state"] == state).unwrap();
            close(&range["lower"], lower, 2e-6);
            close(&range["upper"], upper, 2e-6);
        }
    }
    let none = ask(&folder, &["risk", "--intervals", "none"]);
    assert!(none[0].get("interval").is_none());
}

#[test]
fn what_avoids_is_the_opposite_of_what_reaches() {
    let folder = worked(1);
    let found = ask(&folder, &["risk", "safe", "soon", "one_on"]);
    let (risk, safe) = (named(&found, "risk"), named(&found, "safe"));
    let bound = |of: &Value, name: &str| of["interval"][name].as_f64().unwrap();
    assert!((bound(risk, "lower") - (1.0 - bound(safe, "upper"))).abs() < 1e-9);
    assert!((bound(risk, "upper") - (1.0 - bound(safe, "lower"))).abs() < 1e-9);
    for answer in &found {
        let value = answer["value"].as_f64().unwrap();
        assert!(bound(answer, "lower") <= value && value <= bound(answer, "upper"));
    }
    assert!(bound(named(&found, "soon"), "upper") < bound(risk, "upper"));
}

#[test]
fn a_threshold_is_shown_or_refuted_or_open() {
    let folder = worked(1);
    let found = ask(&folder, &[]);
    assert_eq!(named(&found, "low")["evidence"], "holds");
    assert_eq!(named(&found, "high")["evidence"], "fails");
    assert_eq!(named(&found, "near")["evidence"], "not enough data");
    assert!(named(&found, "risk").get("evidence").is_none());
    // A hundred times the data.
    let many = ask(&worked(100), &["near"]);
    assert_eq!(many[0]["evidence"], "holds");
    let told = folder.guard(&["query", "w.guard", "--model", "m.json", "near"]);
    assert!(
        told.out.contains("not enough traces to decide"),
        "{}",
        told.out
    );
}

#[test]
fn a_formula_is_asked_as_a_query_is() {
    let folder = worked(1);
    let by_name = ask(&folder, &["risk"]);
    let by_text = ask(&folder, &["P=? [ F s == u ]"]);
    assert_eq!(by_text.len(), 1);
    assert_eq!(by_name[0]["value"], by_text[0]["value"]);
    let compared = folder.guard(&[
        "query",
        "w.guard",
        "--model",
        "m.json",
        "P<=0.01 [ F s == u ]",
    ]);
    assert_eq!(compared.code, 1, "{}", compared.err);
    let wrong = folder.guard(&["query", "w.guard", "--model", "m.json", "P=? [ F other ]"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("other"), "{}", wrong.err);
}

/// From the printed rule with its gaps closed: `H*` at `ε / (1.1 B)` and `δ / K` with `B` 10.84219 and ten entries; at the
/// start what smoothing adds asks for more.
#[test]
fn visits_that_a_guarantee_needs() {
    let folder = worked(1);
    let run = folder.guard(&["learn", "w.guard", "--merge", "m.json", "--format", "json"]);
    let found: Value = serde_json::from_str(run.out.trim()).unwrap();
    let pac = &found["pac"];
    assert_eq!(pac["met"], false);
    close(&pac["epsilon"], 0.05, 0.0);
    let missing = pac["missing"].as_array().unwrap();
    for (state, visits, required) in [
        ("start", 180, 7153),
        ("s=a", 1000, 143_931),
        ("s=b", 400, 170_445),
    ] {
        let row = missing.iter().find(|row| row["state"] == state).unwrap();
        assert_eq!(row["visits"], visits);
        close(&row["required"], f64::from(required), 1.0);
    }
    let many = worked(1000);
    let run = many.guard(&["learn", "w.guard", "--merge", "m.json"]);
    assert!(run.out.contains("reached"), "{}", run.out);
    let run = many.guard(&["learn", "w.guard", "--merge", "m.json", "--format", "json"]);
    let found: Value = serde_json::from_str(run.out.trim()).unwrap();
    assert_eq!(
        found["pac"],
        json!({"epsilon": 0.05, "delta": 0.05, "met": true, "missing": []})
    );
}

/// Bounds on steps are not followed one by one, for side results either.
#[test]
fn distant_bounds_have_intervals_at_once() {
    let folder = worked(1);
    let formulas = [
        "P=? [ F<=1000000000 s == u ]",
        "P=? [ F[1000000,1000000] s == u ]",
    ];
    let clock = std::time::Instant::now();
    let found = ask(&folder, &formulas);
    assert!(clock.elapsed().as_secs() < 20);
    let risk = &ask(&folder, &["risk"])[0];
    for answer in &found {
        let end = |name: &str| answer["interval"][name].as_f64().unwrap();
        let value = answer["value"].as_f64().unwrap();
        assert!(end("lower") <= value && value <= end("upper"), "{answer}");
        close(&risk["value"], value, 1e-6);
        assert!(end("upper") < 0.5);
    }
}

/// Runs of a known chain: its risk lies in the interval of (nearly) every sample, since boxes are exact or wider.
#[test]
fn intervals_cover_the_truth() {
    let spec = r#"
enum State { a, b, u }
event { s: State }
abstraction a { over s  absorbing s == u }
model m = learn a { }
query risk = P=? [ F s == u ] on m
"#;
    let mut state = 11u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    // From `a`: 1/2 `a`, 3/10 `b`, 1/5 the end. From `b`: 2/5 `a`, 1/5 `u`, 2/5 the end. So a = 1/5 · … = 0.157895.
    let truth: f64 = 0.3 * 0.2 / (0.5 - 0.3 * 0.4);
    let mut missed = 0;
    for _ in 0..12 {
        let mut lines = String::new();
        for number in 0..60 {
            let mut run = vec!["a"];
            loop {
                let draw = next();
                match *run.last().unwrap() {
                    "a" if draw < 0.5 => run.push("a"),
                    "a" if draw < 0.8 => run.push("b"),
                    "b" if draw < 0.4 => run.push("a"),
                    "b" if draw < 0.6 => run.push("u"),
                    _ => break,
                }
            }
            let events: Vec<Value> = run.iter().map(|s| json!({ "s": s })).collect();
            lines.push_str(&json!({"id": number.to_string(), "events": events}).to_string());
            lines.push('\n');
        }
        let folder = Folder::new(&[("w.guard", spec), ("t.jsonl", &lines)]);
        folder.guard(&["learn", "w.guard", "t.jsonl", "-o", "m.json"]);
        let found = ask(&folder, &["risk", "--all-states"]);
        let ranges = found[0]["intervals"].as_array().unwrap();
        let range = ranges.iter().find(|range| range["state"] == "s=a").unwrap();
        let within = range["lower"].as_f64().unwrap()..=range["upper"].as_f64().unwrap();
        missed += u32::from(!within.contains(&truth));
        assert!(range["upper"].as_f64().unwrap() < 0.9);
    }
    assert!(missed <= 2, "{missed} of 12");
}

/// Each of the three ranges is named for what it promises; where complete runs do not show the event, no share is given.
#[test]
fn three_ranges_say_what_they_promise() {
    let folder = worked(1);
    let found = ask(&folder, &["risk", "safe", "soon"]);
    let (risk, safe) = (named(&found, "risk"), named(&found, "safe"));
    for (answer, happened) in [(risk, 10), (safe, 170)] {
        assert_eq!(answer["interval"]["promise"], "guaranteed");
        assert_eq!(answer["observed"]["promise"], "approximate");
        assert_eq!(answer["asymptotic"]["promise"], "asymptotic");
        assert_eq!(answer["observed"]["happened"], happened);
        assert_eq!(answer["observed"]["runs"], 180);
        // A run is the unit: the variance of the chain is that of the share of runs.
        for end in ["lower", "upper"] {
            close(
                &answer["asymptotic"][end],
                answer["observed"][end].as_f64().unwrap(),
                1e-9,
            );
            let guaranteed = answer["interval"][end].as_f64().unwrap();
            let share = f64::from(happened) / 180.0;
            let narrower = answer["observed"][end].as_f64().unwrap();
            assert!((guaranteed - share).abs() >= (narrower - share).abs() - 5e-3);
        }
    }
    let soon = named(&found, "soon");
    assert!(soon.get("observed").is_none());
    assert_eq!(soon["interval"]["promise"], "guaranteed");
}

/// A text that no trace has shown may always come next, so no interval excludes an event that needs one.
#[test]
fn no_interval_excludes_texts_that_were_not_seen() {
    let spec = r#"
event { s: string }
abstraction a { over s }
model m = learn a { }
query in_three = P=? [ F<=3 s == "pay" ] on m
query one_on = P=? [ X s == "pay" ] on m
query avoided = P=? [ G<=3 s != "pay" ] on m
query later = P=? [ F[2,3] s == "pay" ] on m
query both = P=? [ s != "pay" U<=3 s == "b" ] on m
query ever = P=? [ F s == "pay" ] on m
property rare = P<=0.001 [ F<=3 s == "pay" ] on m
"#;
    // 1 of 200 runs of the agent pays, and none of the 199 that were recorded.
    let run = r#"{"id":"t","events":[{"s":"a"},{"s":"b"},{"s":"a"}]}"#;
    let lines = format!("{run}\n").repeat(199);
    let folder = Folder::new(&[("w.guard", spec), ("t.jsonl", &lines)]);
    let truth = 1.0 / 200.0;
    for smoothing in ["", "smoothing 1"] {
        folder.write(
            "w.guard",
            spec.replace("{ }", &format!("{{ {smoothing} }}")),
        );
        let run = folder.guard(&["learn", "w.guard", "t.jsonl", "-o", "m.json"]);
        assert_eq!(run.code, 0, "{}", run.err);
        for method in ["fixed", "anytime"] {
            let found = ask(&folder, &["--intervals", method]);
            for answer in &found {
                let value = answer["value"].as_f64().unwrap();
                let end = |name: &str| answer["interval"][name].as_f64().unwrap();
                let (lower, upper) = (end("lower"), end("upper"));
                assert!(lower <= value && value <= upper, "{answer}");
                match answer["name"].as_str().unwrap() {
                    "avoided" => assert!(lower <= 1.0 - truth, "{answer}"),
                    "both" => assert!(lower < 1.0 - truth, "{answer}"),
                    _ => assert!(upper >= truth && upper < 0.9, "{answer}"),
                }
            }
            assert_eq!(named(&found, "rare")["evidence"], "not enough data");
        }
    }
}

/// A run with the event is complete, and of those without it most were cut off.
#[test]
fn runs_that_were_cut_off_are_no_share_of_complete_ones() {
    let spec = r#"
trace { complete from "/complete" }
enum State { w, v, z, u }
event { s: State }
abstraction a { over s  absorbing s == u }
model m = learn a { }
property rare = P<=0.2 [ F s == u ] on m
"#;
    let run = |complete: bool, steps: &[&str]| {
        let events: Vec<Value> = steps.iter().map(|s| json!({ "s": s })).collect();
        format!(
            "{}\n",
            json!({"id": "t", "complete": complete, "events": events})
        )
    };
    let mut lines = run(true, &["w", "u"]).repeat(10);
    lines += &run(true, &["w", "v", "z"]).repeat(10);
    let whole = lines.clone() + &run(true, &["w", "v", "z"]).repeat(80);
    lines += &run(false, &["w", "v"]).repeat(80);
    let folder = Folder::new(&[("w.guard", spec), ("t.jsonl", &lines)]);
    folder.guard(&["learn", "w.guard", "t.jsonl", "-o", "m.json"]);
    let found = ask(&folder, &["rare", "--all-states"]);
    let rare = named(&found, "rare");
    close(&rare["value"], 0.1, 1e-9);
    assert!(rare["interval"]["lower"].as_f64().unwrap() < 0.1, "{rare}");
    assert_eq!(rare["evidence"], "not enough data");
    assert!(rare.get("observed").is_none());
    // Without such runs, the interval is that of the share, at the start too.
    folder.write("t.jsonl", whole);
    folder.guard(&["learn", "w.guard", "t.jsonl", "-o", "m.json"]);
    let found = ask(&folder, &["rare", "--all-states"]);
    let rare = named(&found, "rare");
    let share = clopper_pearson(10, 100, 0.05);
    close(&rare["interval"]["lower"], share.0, 1e-9);
    let ranges = rare["intervals"].as_array().unwrap();
    let start = ranges.iter().find(|range| range["state"] == "start");
    close(&start.unwrap()["upper"], share.1, 1e-9);
}
