//! Plans: the compiled form of queries, with the sizes of the solved chains.

use crate::support::cli::Folder;
use serde_json::Value;

const SPEC: &str = r#"
enum Level ordered { low < mid < high }
event { tool: string? }
track level: Level = low then if tool == "secret" then high else if tool == "read" then max(level, mid) else level
predicate mails = tool == "mail"
unsafe leak = level == high and mails
rule soon: when level == high then mails within 2 steps
abstraction drift { over level, mails  step level' >= level  absorbing leak }
model run = learn drift { smoothing 1 }
/// How likely a leak is within five steps.
query five = P=? [ F<=5 leak ] on run
query ever = P=? [ F leak ] on run
query owed = P=? [ F violated(soon) ] on run
query twice = P=? [ F (mails and X mails) ] on run
query steps = R=? [ F (leak or "end") ] on run
property rare = P<=0.1 [ F leak ] on run
property back: ctl = AG (EF mails) on run
"#;

const TRACES: &str = r#"{"id":"1","events":[{"tool":"read"},{"tool":"mail"},{"tool":"secret"},{"tool":"mail"}]}
{"id":"2","events":[{"tool":"other"},{"tool":"mail"},{"tool":"mail"}]}
{"id":"3","events":[{"tool":"secret"},{"tool":"other"},{"tool":"other"},{"tool":"other"}]}
"#;

fn folder() -> Folder {
    let folder = Folder::new(&[("s.guard", SPEC), ("t.jsonl", TRACES)]);
    let run = folder.guard(&["learn", "s.guard", "t.jsonl", "-o", "m.json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    folder
}

/// All operators of a plan, parents first.
fn operators(plan: &Value, into: &mut Vec<Value>) {
    into.push(plan.clone());
    for input in plan["inputs"].as_array().unwrap() {
        operators(input, into);
    }
}

fn plan(folder: &Folder, name: &str, model: bool) -> (Value, Vec<Value>) {
    let mut args = vec!["explain", "s.guard", name, "--format", "json"];
    if model {
        args.extend(["--model", "m.json"]);
    }
    let run = folder.guard(&args);
    assert_eq!(run.code, 0, "{}", run.err);
    let found: Value = serde_json::from_str(run.out.trim()).unwrap();
    let mut all = Vec::new();
    operators(&found["plan"], &mut all);
    (found, all)
}

fn named(all: &[Value]) -> Vec<&str> {
    all.iter()
        .map(|node| node["operator"].as_str().unwrap())
        .collect()
}

#[test]
fn a_plan_for_people() {
    let folder = folder();
    let mut told = String::new();
    for name in ["five", "owed", "rare"] {
        let run = folder.guard(&["explain", "s.guard", name, "--model", "m.json"]);
        assert_eq!(run.code, 0, "{}", run.err);
        told.push_str(&run.out);
    }
    insta::assert_snapshot!(told);
}

#[test]
fn reasons_for_people() {
    let folder = folder();
    let query = [
        "query",
        "s.guard",
        "--model",
        "m.json",
        "--intervals",
        "none",
    ];
    let mut told = String::new();
    for more in [
        &["five", "--why"][..],
        &["ever", "--why=level=mid, not mails"],
        &["P=? [ G not leak ]", "--why"],
        &["steps", "--why"],
    ] {
        let run = folder.guard(&[&query[..], more].concat());
        assert_eq!(run.code, 0, "{}", run.err);
        told.push_str(&run.out);
    }
    insta::assert_snapshot!(told);
    let run = folder.guard(&[&query[..], &["ever", "--why=level=top"]].concat());
    assert_eq!(run.code, 2);
    assert!(run.err.contains("unknown state `level=top`"), "{}", run.err);
}

#[test]
fn sizes_are_those_of_the_chain_that_is_solved() {
    let folder = folder();
    let run = folder.guard(&["query", "s.guard", "--model", "m.json", "--format", "json"]);
    for line in run.out.lines() {
        let answer: Value = serde_json::from_str(line).unwrap();
        let (_, all) = plan(&folder, answer["name"].as_str().unwrap(), true);
        let largest = all.iter().filter_map(|node| node["states"].as_u64()).max();
        assert_eq!(largest, answer["states"].as_u64(), "{answer}");
        // Without the model no chain is said to be smaller than it is.
        let (_, all) = plan(&folder, answer["name"].as_str().unwrap(), false);
        let bound = all.iter().filter_map(|node| node["states"].as_u64()).max();
        assert!(bound >= largest);
    }
}

#[test]
fn operators_follow_from_the_formula() {
    let folder = folder();
    for (name, wanted) in [
        (
            "five",
            "lookup begin solve prune complete scan label complete scan",
        ),
        (
            "rare",
            "compare begin solve prune complete scan label complete scan factor complete scan",
        ),
        (
            "owed",
            "lookup begin solve prune product complete scan label product complete scan factor product complete scan",
        ),
        (
            "back",
            "prune complete scan prune complete scan label complete scan",
        ),
    ] {
        let (found, all) = plan(&folder, name, true);
        assert_eq!(named(&all).join(" "), wanted, "{found}");
    }
    let (_, all) = plan(&folder, "twice", true);
    assert!(all.iter().any(|node| {
        node["operator"] == "product" && node["about"].as_str().unwrap().contains("automaton")
    }));
}

#[test]
fn equal_operators_are_one() {
    let folder = folder();
    let (_, ever) = plan(&folder, "ever", true);
    let (_, rare) = plan(&folder, "rare", true);
    let solve = |all: &[Value]| {
        let found = all.iter().find(|node| node["operator"] == "solve");
        found.unwrap().clone()
    };
    // The same number is solved once: a threshold is a comparison of it.
    assert_eq!(solve(&ever)["id"], solve(&rare)["id"]);
    let shared = &solve(&ever)["shared_with"];
    assert_eq!(shared, &serde_json::json!(["rare"]));
}

#[test]
fn compiled_specs_hold_plans_and_forms_are_emitted() {
    let folder = folder();
    let run = folder.guard(&["compile", "s.guard", "-o", "s.guardc"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let compiled: Value = serde_json::from_str(&folder.read("s.guardc")).unwrap();
    let plans = compiled["plans"].as_array().unwrap();
    assert_eq!(plans.len(), 7);
    assert!(
        plans
            .iter()
            .all(|plan| plan["plan"]["operator"].is_string())
    );
    let emitted = folder.guard(&["compile", "s.guard", "--emit", "plan"]);
    assert_eq!(emitted.out.lines().count(), 7);
    for (line, plan) in emitted.out.lines().zip(plans) {
        assert_eq!(&serde_json::from_str::<Value>(line).unwrap(), plan);
    }
    let by_artefact = folder.guard(&["explain", "s.guardc", "five", "--format", "json"]);
    assert_eq!(by_artefact.code, 0, "{}", by_artefact.err);
    let emitted = folder.guard(&["compile", "s.guard", "--emit", "abstraction"]);
    let space: Value = serde_json::from_str(emitted.out.trim()).unwrap();
    assert_eq!(
        (&space["bits"], &space["valid_states"]),
        (&3.into(), &6.into())
    );
    let states = space["states"].as_array().unwrap();
    let absorbing = states.iter().filter(|state| state["absorbing"] == true);
    let absorbing: Vec<&Value> = absorbing.map(|state| &state["state"]).collect();
    assert_eq!(absorbing, ["level=high, mails"]);
}

#[test]
fn a_name_that_is_not_there_is_told_with_what_is() {
    let folder = folder();
    let run = folder.guard(&["explain", "s.guard", "fife"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("did you mean `five`?"), "{}", run.err);
}
