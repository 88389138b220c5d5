//! `guard test` on real files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cli_common;

use cli_common::{Folder, SPEC};
use serde_json::Value;

#[test]
fn tests_pass_and_fail() {
    let folder = Folder::new(&[("a.guard", SPEC)]);
    let run = folder.guard(&["test", "a.guard"]);
    assert_eq!(
        (run.code, run.out.as_str()),
        (0, "ok    approved\nok    not approved\n2 tests: 2 passed\n")
    );
    folder.write("b.guard", SPEC.replace("violated at 0", "violated at 2"));
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
        (0, "ok    not approved\n1 test: 1 passed, 1 left out\n")
    );
    let run = folder.guard(&["test", "a.guard", "-k", "nothing"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("no test has `nothing` in its name"),
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
