//! Runs the steps of `docs/recipes/from_english.md` and compares their results with the page.

use crate::support::cli::Folder;

const POLICY: &str = include_str!("../../docs/recipes/policy.md");
const SPEC: &str = include_str!("../../docs/recipes/policy.guard");
const PAGE: &str = include_str!("../../docs/recipes/from_english.md");

fn folder() -> Folder {
    let run = "{\"id\":\"t1\",\"events\":[{\"kind\":\"call\",\"tool\":\"read_file\",\"call\":\"1\",\"args\":{\"path\":\".env\"}},{\"kind\":\"call\",\"tool\":\"send_email\",\"call\":\"2\"}]}\n";
    Folder::new(&[
        ("policy.md", POLICY),
        ("policy.guard", SPEC),
        ("run.jsonl", run),
    ])
}

/// The requirements of the finished spec are those that were drafted, to the letter.
#[test]
fn formulas_stay_as_they_were_drafted() {
    let folder = folder();
    let run = folder.guard(&[
        "draft",
        "policy.md",
        "--accept",
        "first",
        "--format",
        "guard",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    let blocks: Vec<&str> = run
        .out
        .split("\n\n")
        .filter(|block| block.contains("requirement "))
        .collect();
    assert_eq!(blocks.len(), 4);
    for block in blocks {
        assert!(SPEC.contains(block.trim()), "{block}");
    }
    assert!(run.out.contains("// unclear: "), "{}", run.out);
    let people = folder.guard(&["draft", "policy.md"]).out;
    for shown in PAGE.split("```text\n").skip(1).take(2) {
        for line in shown.split("```").next().unwrap().lines() {
            assert!(people.contains(line), "{line}\n{people}");
        }
    }
}

#[test]
fn it_checks_tests_audits_and_counts() {
    let folder = folder();
    let run = folder.guard(&["check", "--deny", "warnings", "policy.guard"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let run = folder.guard(&["test", "policy.guard"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let run = folder.guard(&["audit", "policy.guard", "run.jsonl"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        run.out
            .contains("“After \"a secret has been read\", \"send email\" must never happen.”")
    );
    let learned = ["learn", "policy.guard", "run.jsonl", "-o", "model.json"];
    assert_eq!(folder.guard(&learned).code, 0);
    let run = folder.guard(&["query", "policy.guard", "--model", "model.json"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.out.contains("does not hold"), "{}", run.out);
}

#[test]
fn the_mail_is_blocked() {
    let folder = folder();
    let events = concat!(
        "{\"trace\":\"t1\",\"kind\":\"call\",\"tool\":\"read_file\",\"call\":\"1\",\"args\":{\"path\":\".env\"}}\n",
        "{\"phase\":\"before\",\"event\":{\"trace\":\"t1\",\"kind\":\"call\",\"tool\":\"send_email\",\"call\":\"2\"}}\n",
    );
    let output = assert_cmd::Command::cargo_bin("guard")
        .unwrap()
        .args(["monitor", "docs/recipes/policy.guard"])
        .write_stdin(events)
        .output()
        .unwrap();
    drop(folder);
    let out = String::from_utf8(output.stdout).unwrap();
    let last = out.lines().last().unwrap();
    let shown = PAGE
        .lines()
        .rev()
        .find(|line| line.starts_with("{\"v\":1"))
        .unwrap();
    assert!(last.starts_with(shown.trim_end_matches(",…}")), "{last}");
}
