//! `guard test` on real files.

use crate::support::cli::{Folder, SPEC};
use serde_json::Value;

#[test]
fn tests_pass_and_fail() {
    let folder = Folder::new(&[("a.guard", SPEC)]);
    let run = folder.guard(&["test", "a.guard"]);
    assert_eq!(
        (run.code, run.out.as_str()),
        (0, "ok    approved\nok    not approved\n2 tests: 2 passed\n")
    );
    folder.write("b.guard", SPEC.replace("violated at 0", "satisfied"));
    let run = folder.guard(&["test", "b.guard"]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!(run.out);
}

#[test]
fn tests_are_chosen_by_name() {
    let folder = Folder::new(&[("a.guard", SPEC)]);
    let run = folder.guard(&["test", "a.guard", "-k", "not"]);
    assert_eq!(
        (run.code, run.out.as_str()),
        (0, "ok    not approved\n1 test: 1 passed, 1 skipped\n")
    );
    let run = folder.guard(&["test", "a.guard", "-k", "nothing"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("no test name contains `nothing`"),
        "{}",
        run.err
    );
}

#[test]
fn other_forms() {
    let folder = Folder::new(&[
        ("a.guard", SPEC),
        ("b.guard", &SPEC.replace("violated at 0", "satisfied")),
    ]);
    let run = folder.guard(&["test", "a.guard", "b.guard", "--format", "json"]);
    assert_eq!(run.code, 1);
    let lines: Vec<Value> = run
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let statuses: Vec<&str> = lines
        .iter()
        .map(|line| line["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["pass", "pass", "pass", "fail"]);
    assert_eq!(lines[3]["failures"][0]["got"]["verdict"], "violated");
    let run = folder.guard(&["test", "a.guard", "b.guard", "--format", "junit"]);
    assert!(
        run.out.contains("tests=\"4\" skipped=\"0\" failures=\"1\""),
        "{}",
        run.out
    );
}

#[test]
fn a_wrong_spec_does_not_hide_the_tests_of_others() {
    let folder = Folder::new(&[("a.guard", SPEC), ("b.guard", "property p = G nothing\n")]);
    let run = folder.guard(&["test", "b.guard", "a.guard"]);
    assert_eq!(run.code, 2);
    assert!(run.out.contains("2 passed"), "{}", run.out);
}

const MUTATED: &str = r#"event {
  kind: string
  tool: string?
  id: string?
}
predicate pays(c: string) = kind == "call" and tool matches /^pay/ and id == c
predicate approves(c: string) = kind == "approval" and id == c
property approved = forall c: G (pays(c) -> O approves(c))
template guarded(use: pred, ok: pred) = G (use -> Y ok)
test "not approved" {
  given [ {kind: "call", tool: "pay_bill", id: "1"} ]
  expect approved violated at 0
  expect guarded(kind == "call", kind == "approval") violated at 0
}
"#;

#[test]
fn mutants_that_survive_come_with_a_test_that_kills_them() {
    let folder = Folder::new(&[("a.guard", MUTATED)]);
    let run = folder.guard(&["test", "a.guard", "--mutants"]);
    assert_eq!(run.code, 1, "{run:?}");
    insta::assert_snapshot!("mutants", run.out);
    let run = folder.guard(&[
        "test",
        "a.guard",
        "--mutants",
        "--format",
        "json",
        "--jobs",
        "1",
    ]);
    let lines: Vec<serde_json::Value> = run
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut text = MUTATED.to_owned();
    for line in lines.iter().filter(|line| line["status"] == "survived") {
        text.push_str(line["test"].as_str().unwrap());
    }
    assert!(
        lines
            .iter()
            .any(|line| line["property"] == "guarded" && line["template"] == true)
    );
    // One test of few cases for each property does what all of these do together.
    let mut few = MUTATED.to_owned();
    let mut cases = 0;
    for line in lines.iter().filter(|line| line["type"] == "mutation") {
        let test = line["proposal"].as_str().unwrap();
        cases += test.matches("given ").count();
        few.push_str(test);
    }
    assert!(cases < 8, "{few}");
    folder.write("few.guard", &few);
    let run = folder.guard(&["test", "few.guard", "--mutants"]);
    assert_eq!(run.code, 0, "{run:?}");
    // With the tests that were proposed, nothing survives.
    folder.write("b.guard", &text);
    let run = folder.guard(&["test", "b.guard"]);
    assert_eq!(run.code, 0, "{run:?}");
    let run = folder.guard(&["test", "b.guard", "--mutants"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.out.ends_with("mutants killed\n"), "{}", run.out);
}

/// If mutants survive and no test is proposed, the report says why.
#[test]
fn mutants_without_a_proposal_say_why() {
    let head = "event { kind: string  s: string }\n";
    for (items, why) in [
        // Nothing inverts `lower`, so no text is found that gives the condition its other value.
        (
            "property p = never lower(s) != s\n\
             test \"t\" { given [{kind: \"a\", s: \"a\"}] expect p satisfied }\n",
            "no events were found that give the conditions the values on which the two differ; \
             conditions over tracks, counts and computed values are beyond the search",
        ),
        (
            "property p = always (kind == \"a\" -> todo(\"a person agreed\"))\n\
             test \"t\" { given [{kind: \"b\", s: \"a\"}] expect p unknown }\n",
            "the verdict on events that show the difference is unknown",
        ),
    ] {
        let folder = Folder::new(&[("a.guard", &format!("{head}{items}"))]);
        let run = folder.guard(&["test", "a.guard", "--mutants"]);
        let words: Vec<&str> = run.out.split_whitespace().collect();
        let said = words.join(" ");
        assert!(
            said.contains(&format!("no test is proposed: {why}")),
            "{said}"
        );
        let run = folder.guard(&["test", "a.guard", "--mutants", "--format", "json"]);
        let last = run.out.lines().last().unwrap();
        let last: serde_json::Value = serde_json::from_str(last).unwrap();
        assert_eq!(last["unproposed"], why);
        assert!(
            last["proposal"].is_null() && last["survived"] != 0,
            "{last}"
        );
    }
}

#[test]
fn recorded_traces_kill_mutants_too() {
    let runs = concat!(
        r#"{"id":"t1","events":[{"kind":"approval","id":"1"},{"kind":"call","tool":"pay","id":"1"}]}"#,
        "\n",
        r#"{"id":"t2","events":[{"kind":"call","tool":"pay","id":"1"},{"kind":"approval","id":"1"}]}"#,
        "\n",
    );
    let folder = Folder::new(&[("a.guard", MUTATED), ("runs.jsonl", runs)]);
    let killed = |args: &[&str]| {
        let run =
            folder.guard(&[&["test", "a.guard", "--mutants", "--format", "json"], args].concat());
        run.out.matches(r#""status":"killed""#).count()
    };
    assert!(killed(&["--traces", "runs.jsonl"]) > killed(&[]));
    let run = folder.guard(&["test", "a.guard", "--mutants", "--max-mutants", "3"]);
    assert!(run.out.contains("left out"), "{}", run.out);
    let run = folder.guard(&["test", "a.guard", "--max-mutants", "3"]);
    assert_eq!(run.code, 2, "{run:?}");
}

/// A filter and traces that select nothing are errors, not weak tests.
#[test]
fn mutants_say_what_they_are_not_judged_by() {
    let broken = r#"{"id":"t1","events":[{"kind":"call","tool":5,"id":"1"}]}"#;
    let files = [
        ("a.guard", MUTATED),
        ("broken.jsonl", broken),
        ("empty.jsonl", ""),
    ];
    let folder = Folder::new(&files);
    let mutants = |args: &[&str]| folder.guard(&[&["test", "a.guard", "--mutants"], args].concat());
    let none = mutants(&["-k", "nothing"]);
    assert_eq!((none.code, none.out.as_str()), (2, ""), "{none:?}");
    assert!(
        none.err.contains("no test name contains `nothing`"),
        "{none:?}"
    );
    for (name, why) in [
        ("broken.jsonl", "field `tool`"),
        ("empty.jsonl", "no traces found"),
        ("missing.jsonl", "cannot be read"),
    ] {
        let run = mutants(&["--traces", name]);
        assert!(run.err.contains(name) && run.err.contains(why), "{run:?}");
    }
}

#[test]
fn mutants_are_judged_by_tests_that_pass() {
    let wrong = MUTATED.replace("expect approved violated at 0", "expect approved satisfied");
    let folder = Folder::new(&[("a.guard", &wrong)]);
    let run = folder.guard(&["test", "a.guard", "--mutants"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        run.err.contains("mutants need tests that pass"),
        "{}",
        run.err
    );
}

const TIMED: &str = r#"event {
  kind: string
  at: time
}
rule soon: when kind == "alarm" then kind == "answer" within 3s
test "answered" {
  given [ {kind: "alarm", at: 0}, {kind: "answer", at: 2} ]
  expect soon satisfied
}
"#;

/// Bounds in time are told apart on traces whose steps are a second apart.
#[test]
fn bounds_in_time_are_mutated() {
    let folder = Folder::new(&[("a.guard", TIMED)]);
    let run = folder.guard(&["test", "a.guard", "--mutants", "--format", "json"]);
    assert_eq!(run.code, 1, "{run:?}");
    let lines: Vec<serde_json::Value> = run
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let longer = lines
        .iter()
        .find(|line| line["formula"].as_str().unwrap().contains("[0s,4s]"))
        .unwrap();
    assert_eq!(longer["status"], "survived");
    let proposal = lines.last().unwrap()["proposal"].as_str().unwrap();
    folder.write("b.guard", format!("{TIMED}{proposal}"));
    let run = folder.guard(&["test", "b.guard", "--mutants"]);
    assert_eq!(run.code, 0, "{run:?}");
}

/// Each `given` begins a case of its own.
#[test]
fn a_test_has_several_cases() {
    let spec = TIMED.replace(
        "  expect soon satisfied\n",
        "  expect soon satisfied\n  given [ {kind: \"alarm\", at: 0}, {kind: \"answer\", at: 4} ]\n  expect soon satisfied\n",
    );
    let folder = Folder::new(&[("a.guard", &spec)]);
    let run = folder.guard(&["test", "a.guard"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.out.contains("answered (case 2)"), "{}", run.out);
    assert!(run.out.contains("2 tests: 1 passed"), "{}", run.out);
}

/// Steps of a failed test show which conditions of its properties hold, wherever the verdict comes from; conditions that the test
/// itself states, and other properties, are none of them.
#[test]
fn a_failed_test_shows_what_holds() {
    let spec = r#"event { kind: string, tool: string?, at: time? }
predicate pays = kind == "call" and tool == "pay"
predicate approves = kind == "approval"
property approved = always (pays -> once approves)
property each = forall t: never (tool == t and approves)
rule soon: when pays then approves within 5s
test "a" {
  given [{kind: "approval", tool: "x"}, {kind: "call", tool: "pay"}, {kind: "call", tool: "ship"}]
  expect approved violated at 1
  expect count(pays) == 2 at 1
  expect kind == "end"
}
test "b" {
  given [{kind: "approval", tool: "x"}, {kind: "call", tool: "pay"}]
  expect each satisfied
  expect soon satisfied
}
"#;
    let folder = Folder::new(&[("a.guard", spec)]);
    insta::assert_snapshot!(folder.guard(&["test", "a.guard"]).out);
}

/// `or end` is a bound like another, numbers in comparisons are changed, and the tests proposed for windows and counts kill.
#[test]
fn mutants_of_bounds_and_thresholds() {
    let head = "use std.agent\npredicate pays = kind == \"call\" and tool == \"pay\"\n";
    let within = format!(
        "{head}rule quick: when pays then kind == \"result\" within 5s or end\n\
         test \"t\" {{ given [{{kind: \"call\", tool: \"pay\", at: 0}}] expect quick satisfied }}\n"
    );
    let folder = Folder::new(&[("a.guard", &within)]);
    let run = folder.guard(&["test", "a.guard", "--mutants", "--format", "json"]);
    assert_eq!(run.code, 1, "{}", run.out);
    let changed = |change: &str| run.out.contains(&format!("\"change\":\"{change}"));
    for change in [
        "`pays leads to kind == \\\"result\\\" within 4s",
        "`pays leads to kind == \\\"result\\\" within 6s",
        "`G (pays -> F[0s,5s]",
    ] {
        assert!(changed(change), "{change}: {}", run.out);
    }
    let rate = format!(
        "{head}property rate = always (count[0,60s](pays) <= 2)\n\
         test \"t\" {{ given [{{kind: \"call\", tool: \"pay\", at: 0}}] expect rate satisfied }}\n"
    );
    folder.write("b.guard", &rate);
    let run = folder.guard(&["test", "b.guard", "--mutants"]);
    assert!(
        run.out
            .contains("survives: `count[0,60s](pays) <= 3` instead of `count[0,60s](pays) <= 2`"),
        "{}",
        run.out
    );
    let (_, proposed) = run.out.split_once(" all of them:\n").expect(&run.out);
    let (proposed, _) = proposed.split_once("\n}\n").unwrap();
    folder.write("b.guard", format!("{rate}{proposed}\n}}\n"));
    let run = folder.guard(&["test", "b.guard", "--mutants"]);
    assert_eq!(run.code, 0, "{}", run.out);
}

/// Nothing that is mutated is nothing that was checked.
#[test]
fn mutants_of_nothing_are_no_success() {
    let folder = Folder::new(&[("a.guard", "event { n: int }\n")]);
    let run = folder.guard(&["test", "a.guard", "--mutants"]);
    assert_eq!(
        (run.code, run.out.contains("0 of 0 mutants killed")),
        (3, true),
        "{}",
        run.out
    );
}
