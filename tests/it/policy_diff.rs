//! The script of the GitHub Action, in a temporary repository with a stand-in for GitHub's command, and the pre-commit hooks.

use std::path::Path;
use std::process::Command;

use crate::support::cli::Folder;
use crate::support::root;

const OLD: &str = "use lib.names.{pays}\nevent {\n  kind: string\n  tool: string = \"none\"\n}\nproperty approved = always (pays(tool) -> once kind == \"ok\")\n";
const LIB: &str = "predicate pays(name: string) = name == \"pay\"\n";

/// `gh`: keeps what it is asked, and knows one comment after the first.
const GH: &str = r#"#!/bin/sh
echo "$*" >>"$GH_LOG"
case "$*" in
*--jq*) [ ! -e "$GH_LOG.body" ] || echo 7 ;;
*) for word; do case $word in body=@*) cp "${word#body=@}" "$GH_LOG.body" ;; esac; done ;;
esac
"#;

struct Repository {
    folder: Folder,
}

impl Repository {
    fn new() -> Repository {
        let folder = Folder::new(&[
            ("repo/policies/pay.guard", OLD),
            ("repo/policies/lib/names.guard", LIB),
            ("bin/gh", GH),
        ]);
        let repository = Repository { folder };
        repository.git(&["init", "--quiet"]);
        repository.commit();
        let gh = repository.folder.path().join("bin/gh");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(gh, mode).unwrap();
        repository
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("repo")
    }

    fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(self.path())
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "state"]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn run(&self, base: &str, variables: &[(&str, &str)]) -> (i32, String) {
        let guard = assert_cmd::cargo::cargo_bin("guard");
        let path = format!(
            "{}:{}:{}",
            self.folder.path().join("bin").display(),
            guard.parent().unwrap().display(),
            std::env::var("PATH").unwrap()
        );
        let output = Command::new("bash")
            .arg(root().join("ci/policy-diff.sh"))
            .current_dir(self.path())
            .env("PATH", path)
            .env("BASE", base)
            .env("SPECS", "policies/*.guard")
            .env("OUT", self.folder.path().join("out"))
            .env("GH_LOG", self.folder.path().join("gh.log"))
            .env("GITHUB_REPOSITORY", "o/r")
            .env_remove("GITHUB_STEP_SUMMARY")
            .env_remove("GITHUB_OUTPUT")
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), out + &err)
    }
}

#[test]
fn a_pull_request_shows_what_its_specs_change() {
    let repository = Repository::new();
    let base = repository.git(&["rev-parse", "HEAD"]);
    let (code, report) = repository.run(&base, &[]);
    assert_eq!(code, 0, "{report}");
    assert!(report.contains("No spec changed."), "{report}");
    // What is imported changes, and a spec is added.
    let folder = &repository.folder;
    folder.write(
        "repo/policies/lib/names.guard",
        LIB.replace("\"pay\"", "\"payout\""),
    );
    folder.write("repo/policies/new.guard", OLD);
    let runs = "{\"id\":\"t1\",\"events\":[{\"kind\":\"call\",\"tool\":\"pay\"}]}\n";
    folder.write("repo/runs.jsonl", runs);
    repository.commit();
    let (code, report) = repository.run(&base, &[("TRACES", "runs.jsonl")]);
    assert_eq!(code, 0, "{report}");
    for part in [
        "## `policies/pay.guard`",
        "| `approved` | **different** |",
        "## `policies/new.guard`\n\nA new spec.",
        "| `approved`: no longer violated | 1 |",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    assert!(!report.contains("lib/names"), "{report}");
    let sarif = std::fs::read_dir(folder.path().join("out/sarif")).unwrap();
    let mut results = 0;
    for file in sarif {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let log: serde_sarif::sarif::Sarif = serde_json::from_str(&text).unwrap();
        results += log.runs[0].results.as_ref().map_or(0, Vec::len);
    }
    assert_eq!(results, 0);
    assert_eq!(
        repository.run(&base, &[("FAIL_ON", "stricter looser")]).0,
        1
    );
    assert_eq!(repository.run(&base, &[("FAIL_ON", "undecided")]).0, 0);
    // A spec that is gone lets everything through.
    std::fs::remove_file(repository.path().join("policies/pay.guard")).unwrap();
    repository.commit();
    let (code, report) = repository.run(&base, &[("FAIL_ON", "looser")]);
    assert_eq!(code, 1, "{report}");
    assert!(report.contains("The spec was removed"), "{report}");
    // A spec that is wrong fails, with its diagnostics.
    folder.write("repo/policies/pay.guard", "property p = G nothing\n");
    repository.commit();
    let (code, report) = repository.run(&base, &[]);
    assert_eq!(code, 2, "{report}");
    assert!(
        report.contains("cannot be compared") && report.contains("nothing"),
        "{report}"
    );
    assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn one_comment_is_posted_and_then_updated() {
    let repository = Repository::new();
    let base = repository.git(&["rev-parse", "HEAD"]);
    repository
        .folder
        .write("repo/policies/pay.guard", OLD.replace("once", "previously"));
    repository.commit();
    let posting = [("COMMENT", "true"), ("PULL_REQUEST", "12")];
    for method in [
        "--method POST repos/o/r/issues/12/comments",
        "--method PATCH repos/o/r/issues/comments/7",
    ] {
        let (code, out) = repository.run(&base, &posting);
        assert_eq!(code, 0, "{out}");
        let asked = repository.folder.read("gh.log");
        assert!(asked.lines().last().unwrap().contains(method), "{asked}");
    }
    let body = repository.folder.read("gh.log.body");
    assert!(body.starts_with("<!-- guard policy diff -->\n"), "{body}");
    assert!(body.contains("| `approved` | **stricter** |"), "{body}");
}

/// Every entry of the hooks is a command that takes files.
#[test]
fn hooks_of_pre_commit_run() {
    let text = std::fs::read_to_string(root().join(".pre-commit-hooks.yaml")).unwrap();
    let entries: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("entry: guard "))
        .collect();
    assert_eq!(entries, ["check", "fmt", "test"]);
    let folder = Folder::new(&[(
        "a.guard",
        "event { kind: string }\nproperty p = never kind == \"x\"\ntest \"t\" {\n  given [{kind: \"x\"}]\n  expect p violated at 0\n}\n",
    )]);
    for entry in entries {
        let run = folder.guard(&[entry, "a.guard"]);
        assert_eq!(run.code, 0, "{entry}: {}{}", run.out, run.err);
    }
    let action = std::fs::read_to_string(root().join("action.yml")).unwrap();
    let script = "ci/policy-diff.sh";
    assert!(action.contains(script) && Path::new(script).exists());
}
