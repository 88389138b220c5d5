//! Clauses on queries: the state of a live run agrees with `guard query`, threshold arms act when they are entered, and unknown
//! risks are never allowed.

use std::collections::BTreeMap;

use crate::support::cli::Folder;
use serde_json::{Value as Json, json};

const EVENT: &str = r#"event { s: string  @outcome ok: bool? }
trace { meta who: string from "/who" }
predicate step = s != "note"
"#;

/// Runs as a file of whole traces; what ends with `!` does not turn out well.
fn traces(runs: &[(&str, &str)]) -> String {
    let line = |(who, run): &(&str, &str)| {
        let event = |s: &str| json!({"s": s.trim_end_matches('!'), "ok": !s.ends_with('!')});
        let events: Vec<Json> = run.split_whitespace().map(event).collect();
        json!({"who": who, "complete": true, "events": events}).to_string() + "\n"
    };
    runs.iter().map(line).collect()
}

/// A folder with a spec and the model that it learns from these runs.
fn learned(spec: &str, runs: &[(&str, &str)]) -> Folder {
    let spec = format!("{EVENT}{spec}");
    let folder = Folder::new(&[("a.guard", spec.as_str()), ("runs.jsonl", &traces(runs))]);
    let run = folder.guard(&["learn", "a.guard", "runs.jsonl", "-o", "m.json"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    folder
}

fn monitor(folder: &Folder, more: &[&str], input: &str) -> Vec<Json> {
    let mut args = vec!["monitor", "a.guard", "--model", "m.json", "--clock", "none"];
    args.extend(more);
    let run = folder.guard_with(&args, input);
    assert!([0, 1, 3].contains(&run.code), "{}", run.err);
    let lines = run.out.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Events of one trace.
fn events(run: &str) -> String {
    let line = |s: &str| json!({"s": s, "ok": true, "who": "x"}).to_string() + "\n";
    run.split_whitespace().map(line).collect()
}

/// The ruling and, for each clause that acts, `name action: message`.
fn told(decision: &Json) -> String {
    let mut text = decision["decision"].as_str().unwrap().to_owned();
    for fired in decision["clauses"].as_array().unwrap() {
        let part = |key: &str| fired[key].as_str().unwrap();
        text.push_str(&format!(
            " | {} {}: {}",
            part("name"),
            part("action"),
            part("message")
        ));
    }
    for error in decision["errors"].as_array().into_iter().flatten() {
        text.push_str(&format!(" | error: {}", error.as_str().unwrap()));
    }
    text
}

fn all_told(decisions: &[Json]) -> Vec<String> {
    decisions.iter().map(told).collect()
}

/// From `a`: to `b` three times, to `u` once; from `b`: to `u` twice, to `a` once, and it ends once.
const RUNS: &[(&str, &str)] = &[("x", "a b u"), ("x", "a b a u"), ("x", "a b u"), ("x", "b")];

const DRIFT: &str = "abstraction drift { steps when step  over s  absorbing s == \"u\" }\nmodel run = learn drift { }\n";

#[test]
fn tiers_act_when_they_are_entered_and_the_most_severe_wins() {
    let spec = format!(
        "{DRIFT}query soon = P=? [ F<=1 s == \"u\" ] on run\n\
         enforce on soon {{\n  >= 0.25 => warn \"{{soon:.0%}} from {{state}}\"\n  >= 0.5 => reflect \"{{why}}\"\n  >= 0.9 => ask\n}}\n"
    );
    let folder = learned(&spec, RUNS);
    // F<=1 is about this step and the next: a 1/4, b 2/4, u 1.
    let found = monitor(&folder, &[], &events("a note a b b a u u"));
    assert_eq!(
        all_told(&found),
        [
            "warn | soon warn: 25% from s=\"a\"",
            "allow",
            "allow",
            "reflect | soon reflect: next 50% to s=\"u\" (1), 25% to s=\"a\" (0.25)",
            "allow",
            "allow",
            "ask | soon reflect: it is true now | soon ask: `soon` is 1 (>= 0.9) in s=\"u\"",
            "ask | soon ask: `soon` is 1 (>= 0.9) in s=\"u\"",
        ]
    );
    assert_eq!(
        found[3].to_string(),
        json!({
            "v": 1, "trace": "", "step": 3, "decision": "reflect",
            "clauses": [{"name": "soon", "action": "reflect", "message": "next 50% to s=\"u\" (1), 25% to s=\"a\" (0.25)", "why": "next 50% to s=\"u\" (1), 25% to s=\"a\" (0.25)"}],
            "risk": {"soon": 0.5}, "state": "s=\"b\"", "verdicts": {}
        })
        .to_string()
    );
}

/// A small generator, so that runs are the same everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn run(&mut self) -> String {
        let length = 1 + self.roll(7);
        let words: Vec<&str> = (0..length)
            .map(|_| ["a", "b", "c", "ask", "ok", "note"][self.roll(6)])
            .collect();
        words.join(" ")
    }
}

#[test]
fn what_a_live_run_is_told_is_what_the_query_says_of_its_state() {
    let queries = r#"rule soon: when s == "ask" then s == "ok" within 2 steps
track n: int = 0 then if s == "a" then min(n + 1, 2) else n
abstraction drift { over level: int 0..2 = n, waits: bool = s == "ask", soon }
model run = learn drift { smoothing 0.5  by meta.who }
query q1 = P=? [ F<=3 violated(soon) ] on run
query q2 = P=? [ G (level < 2) ] on run
query q3 = R=? [ F "end" ] on run
query q4 = P=? [ F violated(soon) given F level == 2 ] on run
query q5 = S=? [ level == 2 ] on run
property c1 = EF violated(soon) on run
property c2 = P<=0.5 [ F violated(soon) ] on run
"#;
    let names = ["q1", "q2", "q3", "q4", "q5", "c1", "c2"];
    let mut spec = queries.to_owned();
    for name in names {
        let arm = if name == "c1" { "violated" } else { ">= 0.5" };
        spec.push_str(&format!("enforce on {name} {{ {arm} => log }}\n"));
    }
    let mut dice = Dice(7);
    let runs: Vec<(&str, String)> = (0..80).map(|n| (["x", "y"][n % 2], dice.run())).collect();
    let runs: Vec<(&str, &str)> = runs.iter().map(|(who, run)| (*who, run.as_str())).collect();
    let folder = learned(&spec, &runs);
    let asked = folder.guard(&[
        "query",
        "a.guard",
        "--model",
        "m.json",
        "--all-states",
        "--format",
        "json",
    ]);
    let mut by_state: BTreeMap<(String, String, String), Json> = BTreeMap::new();
    for line in asked.out.lines() {
        let answer: Json = serde_json::from_str(line).unwrap();
        let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        let states = answer["state_names"].as_array().unwrap();
        for (state, value) in states.iter().zip(answer["per_state"].as_array().unwrap()) {
            let value = match value {
                Json::Bool(holds) => json!(if *holds { 1.0 } else { 0.0 }),
                value => value.clone(),
            };
            let state = state.as_str().unwrap().to_owned();
            by_state.insert((text("name"), text("category"), state), value);
        }
    }
    let mut compared = 0;
    let mut input = String::new();
    for (n, (who, run)) in runs.iter().enumerate() {
        for s in run.split_whitespace() {
            let event = json!({"trace": n.to_string(), "s": s, "ok": true, "who": who});
            input.push_str(&format!("{event}\n"));
        }
    }
    for decision in monitor(&folder, &[], &input) {
        let run: usize = decision["trace"].as_str().unwrap().parse().unwrap();
        let who = runs[run].0;
        let state = decision["state"].as_str().unwrap().to_owned();
        if state == "start" {
            continue;
        }
        for name in names {
            let key = (name.to_owned(), who.to_owned(), state.clone());
            let wanted = by_state.get(&key).unwrap_or_else(|| panic!("{key:?}"));
            let found = &decision["risk"][name];
            match (found.as_f64(), wanted.as_f64()) {
                (Some(found), Some(wanted)) => {
                    assert!((found - wanted).abs() < 1e-12, "{key:?}")
                }
                _ => assert_eq!(found, wanted, "{key:?}"),
            }
            compared += 1;
        }
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn a_proposed_action_is_judged_by_the_state_that_it_leads_to() {
    let spec = "track bad: bool = false then if s == \"u\" and ok == true then true else bad\n\
        abstraction drift { over bad, u: bool = s == \"u\" }\nmodel run = learn drift { }\n\
        query soon = P=? [ F<=0 bad ] on run\nenforce on soon { >= 0.5 => block \"{state}\" }\n\
        query near = P=? [ F<=0 u ] on run\nenforce on near { >= 0.5 => block \"near\" }\n";
    let folder = learned(spec, &[("x", "a a u! u a"), ("x", "a u! a")]);
    let before =
        |s: &str| json!({"phase": "before", "event": {"s": s, "who": "x"}}).to_string() + "\n";
    let input = format!(
        "{}{}{}{}",
        before("a"),
        before("u"),
        events("a"),
        json!({"phase": "before", "event": {"s": "u", "who": "x"}})
    );
    let found = monitor(&folder, &[], &input);
    assert_eq!(told(&found[0]), "allow");
    // Whatever the outcome, `u` is proposed; whether it turns bad depends on the outcome.
    assert_eq!(
        told(&found[1]),
        "block | soon warn: `soon` may become `>= 0.5`, depending on the outcome of the action | near block: near"
    );
    assert_eq!(
        (&found[1]["proposal"], &found[2]["state"]),
        (&Json::Null, &json!("not bad, not u"))
    );
    assert_eq!(told(&found[3]), told(&found[1]));
    let found = monitor(&folder, &["--outcomes", "any"], &before("u"));
    assert_eq!(
        told(&found[0]),
        "block | soon block: one of several states | near block: near"
    );
}

#[test]
fn states_and_categories_that_were_not_seen_have_an_arm_of_their_own() {
    let spec = "abstraction drift { over s }\nmodel run = learn drift { by meta.who }\n\
        query soon = P=? [ F s == \"u\" ] on run\nenforce on soon { >= 0.9 => warn }\n\
        query late = P=? [ F s == \"u\" ] on run\nenforce on late { unseen => block \"{why}\" }\n";
    let folder = learned(spec, &[("x", "a b u"), ("y", "a")]);
    let found = monitor(&folder, &[], &events("a zzz zzz a"));
    assert_eq!(
        all_told(&found),
        [
            "warn | soon warn: `soon` is 1 (>= 0.9) in s=\"a\": next 100% to s=\"b\" (1)",
            "block | soon warn: `soon` is unknown in s=unseen: no trace that `run` was learned from visited it | late block: no trace that `run` was learned from visited it",
            "block | late block: no trace that `run` was learned from visited it",
            "warn | soon warn: `soon` is 1 (>= 0.9) in s=\"a\": next 100% to s=\"b\" (1)",
        ]
    );
    assert_eq!(found[1]["risk"], json!({"soon": null, "late": null}));
    let other = json!({"s": "a", "who": "nobody"}).to_string();
    let found = monitor(&folder, &[], &other);
    assert!(
        told(&found[0]).contains(
            "late block: the traces that `run` was learned from have no category `nobody`"
        )
    );
    // A category that is not known may be any; the largest number counts.
    let found = monitor(&folder, &[], "{\"s\":\"a\"}\n");
    assert_eq!(found[0]["risk"]["soon"].as_f64(), Some(1.0), "{}", found[0]);
}

/// Where the state alone decides a probability, it is known although no trace has been there: also compiled, and for a text.
#[test]
fn what_a_state_decides_is_known_where_no_trace_has_been() {
    let spec = format!(
        "{DRIFT}query soon = P=? [ F<=2 s == \"leak\" ] on run\nquery safe = P=? [ G s != \"leak\" ] on run\n\
         enforce on soon {{ >= 0.5 => block \"{{soon:.0%}} from {{state}}, {{why}}\" }}\n\
         enforce on safe {{ <= 0.5 => block \"{{safe:.0%}}\" }}\n"
    );
    let folder = learned(&spec, RUNS);
    let args = ["compile", "a.guard", "--model", "m.json", "-o", "a.guardc"];
    assert_eq!(folder.guard(&args).code, 0);
    let input = events("a leak");
    let compiled = folder.guard_with(&["monitor", "a.guardc", "--clock", "none"], &input);
    let compiled = compiled
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    for found in [monitor(&folder, &[], &input), compiled.collect()] {
        let expected = "block | soon block: 100% from s=\"leak\", it is true now | safe block: 0%";
        assert_eq!(all_told(&found), ["allow", expected]);
    }
}

#[test]
fn what_cannot_be_read_is_denied() {
    let spec = |more: &str| {
        format!(
            "{DRIFT}query soon = P=? [ F<=1 s == \"u\" ] on run\nenforce on soon {{ >= 0.5 => block \"{{soon}} in {{state}}\" {more} }}\n"
        )
    };
    let folder = learned(&spec(""), RUNS);
    let found = monitor(
        &folder,
        &[],
        "{\"s\":7,\"who\":\"x\"}\n{\"s\":\"a\",\"who\":\"x\"}\n",
    );
    let first = &found[0];
    assert_eq!(first["decision"], "block", "{first}");
    assert_eq!(
        (&first["risk"]["soon"], &first["state"]),
        (&Json::Null, &json!("unknown"))
    );
    assert!(
        first["clauses"][0]["why"]
            .as_str()
            .unwrap()
            .contains("field `s`"),
        "{first}"
    );
    assert_eq!(told(&found[1]), "allow");
    let folder = learned(&spec(" on error allow"), RUNS);
    let found = monitor(&folder, &[], "{\"s\":7,\"who\":\"x\"}\n");
    assert_eq!(found[0]["decision"], "allow");
    assert!(found[0]["errors"].to_string().contains("allowed on error"));
}

#[test]
fn what_holds_in_a_state_or_not() {
    let spec = format!(
        "{DRIFT}property way_back = EF s == \"a\" on run\nproperty rare = P<0.6 [ F s == \"u\" ] on run\n\
         enforce on way_back {{ violated => stop \"no way back\"  satisfied => log \"all is well\" }}\n\
         enforce on rare {{ violated => warn \"{{rare:.2}}\"  >= 0.99 => ask }}\n"
    );
    let folder = learned(&spec, RUNS);
    let found = monitor(&folder, &[], &events("b a u"));
    assert_eq!(
        all_told(&found),
        [
            "warn | way_back log: all is well | rare warn: 0.69",
            "allow",
            "stop | way_back stop: no way back | rare ask: `rare` is 1 (>= 0.99) in s=\"u\"",
        ]
    );
}

#[test]
fn states_and_logs_are_of_a_spec_and_a_model() {
    let spec = "rule soon: when s == \"ask\" then s == \"ok\" within 2 steps\n\
        abstraction drift { over s }\nmodel run = learn drift { order 2 }\n\
        query late = P=? [ F violated(soon) ] on run\nenforce on late { >= 0.2 => warn \"{late:.3} in {state}\" }\n";
    let mut dice = Dice(3);
    let runs: Vec<String> = (0..40).map(|_| dice.run()).collect();
    let runs: Vec<(&str, &str)> = runs.iter().map(|run| ("x", run.as_str())).collect();
    let folder = learned(spec, &runs);
    let all = "a ask b ok ask c a b ask ok a zzz ask b a";
    let whole = monitor(&folder, &[], &events(all));
    // The same in two processes, whereever the first one ends.
    let words: Vec<&str> = all.split(' ').collect();
    for cut in 0..words.len() {
        for file in ["s", "j", "l"] {
            let _ = std::fs::remove_file(folder.path().join(file));
        }
        let files = ["--snapshot", "s", "--journal", "j", "--log", "l"];
        let mut both = monitor(&folder, &files, &events(&words[..cut].join(" ")));
        let mut resumed = files.to_vec();
        resumed.extend(["--resume", "s"]);
        both.extend(monitor(&folder, &resumed, &events(&words[cut..].join(" "))));
        both.retain(|decision| decision["type"] != "resumed");
        assert_eq!(both, whole, "cut at {cut}");
    }
    let verified = folder.guard(&[
        "monitor",
        "a.guard",
        "--model",
        "m.json",
        "--verify-log",
        "l",
    ]);
    assert_eq!(verified.code, 0, "{}", verified.err);
    // Another model: the same spec, more runs.
    folder.write("runs.jsonl", traces(&[("x", "a b")]));
    folder.guard(&["learn", "a.guard", "runs.jsonl", "-o", "other.json"]);
    let other = ["monitor", "a.guard", "--model", "other.json"];
    let refused = folder.guard(&[&other[..], &["--resume", "s"]].concat());
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("another model"), "{}", refused.err);
    let refused = folder.guard(&[&other[..], &["--verify-log", "l"]].concat());
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("another model"), "{}", refused.err);
}

#[test]
fn what_is_done_when_is_explained_and_compiled() {
    let spec = format!(
        "{DRIFT}query soon = P=? [ X s == \"u\" ] on run\n\
         enforce on soon {{ >= 0.4 => warn  >= 0.9 => ask }}\n"
    );
    let folder = learned(&spec, RUNS);
    let page = folder.guard(&["explain", "a.guard", "soon"]);
    assert!(
        page.out.contains(
            "  enforce    >= 0.4 => warn\n             >= 0.9 => ask\n             unseen => warn\n"
        ),
        "{}",
        page.out
    );
    let json = folder.guard(&["explain", "a.guard", "soon", "--format", "json"]);
    let json: Json = serde_json::from_str(&json.out).unwrap();
    let arms = json!([
        {"when": ">= 0.4", "action": "warn"},
        {"when": ">= 0.9", "action": "ask"},
        {"when": "unseen", "action": "warn"}
    ]);
    assert_eq!(json["enforce"][0]["arms"], arms);
    folder.guard(&["compile", "a.guard", "-o", "a.guardc"]);
    let compiled: Json = serde_json::from_str(&folder.read("a.guardc")).unwrap();
    assert_eq!(compiled["decisions"][0]["arms"], arms);
    // It stands for the spec, also for what it is to be monitored by.
    let args = [
        "monitor", "a.guardc", "--model", "m.json", "--clock", "none",
    ];
    let run = folder.guard_with(&args, &events("b"));
    assert!(
        run.out.contains(r#""risk":{"soon":0.5}"#),
        "{}{}",
        run.out,
        run.err
    );
    // `u` is never left, and no other state leads there surely.
    assert!(!run.err.contains(">= 0.4"), "{}", run.err);
}

#[test]
fn a_model_of_another_spec_is_refused_by_what_changed() {
    let spec = format!(
        "{DRIFT}query soon = P=? [ F s == \"u\" ] on run\nenforce on soon {{ >= 0.9 => warn }}\n"
    );
    let folder = learned(&spec, RUNS);
    let changed = format!("{EVENT}{spec}").replace("s != \"note\"", "s != \"remark\"");
    folder.write("a.guard", changed);
    let run = folder.guard(&["monitor", "a.guard", "--model", "m.json"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("a different spec: `steps when` changed"),
        "{}",
        run.err
    );
    let run = folder.guard(&["monitor", "a.guard"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("`--model run.json`"), "{}", run.err);
    // A spec that loads the file itself needs no flag.
    let loads = format!("{EVENT}{spec}").replace("learn drift { }", "load \"m.json\"");
    folder.write("b.guard", loads);
    let run = folder.guard_with(&["monitor", "b.guard", "--clock", "none"], &events("a u"));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains(r#""risk":{"soon":1}"#), "{}", run.out);
}
