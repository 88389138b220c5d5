//! The command itself: help, versions, usage errors, exit codes.

use assert_cmd::Command;

fn guard(args: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("guard")
        .unwrap()
        .args(args)
        .output()
        .unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn version_and_help_go_to_the_output() {
    let (code, out, err) = guard(&["--version"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, format!("guard {}\n", env!("CARGO_PKG_VERSION")));
    let (code, out, _) = guard(&["--help"]);
    assert_eq!(code, 0);
    assert!(out.contains("Exit codes:"), "{out}");
}

/// The help of every command begins with what the list of commands says of it.
#[test]
fn every_command_says_what_it_does() {
    let (_, out, _) = guard(&["--help"]);
    let commands = out.split_once("Commands:\n").unwrap().1;
    let commands = commands.split_once("\n\n").unwrap().0;
    let mut number = 0;
    for line in commands.lines() {
        let (verb, says) = line.trim().split_once("  ").unwrap();
        let (code, help, _) = guard(&[verb, "--help"]);
        assert_eq!(
            (code, help.lines().next()),
            (0, Some(says.trim())),
            "{verb}"
        );
        number += 1;
    }
    assert!(number > 20, "{number}");
}

#[test]
fn wrong_usage_is_exit_2() {
    for args in [
        &["frobnicate"][..],
        &["explain"],
        &[],
        &["explain", "--no-such-flag"],
    ] {
        let (code, out, err) = guard(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}");
        assert!(!err.is_empty());
    }
}

#[test]
fn a_code_is_explained() {
    let (code, out, _) = guard(&["explain", "g0101"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("G0101 syntax (error)"), "{out}");
    let (code, _, err) = guard(&["explain", "G0100"]);
    assert_eq!(code, 2);
    assert!(err.contains("did you mean `G0101`?"), "{err}");
}

/// A command that another program starts runs in a folder that its author may not think of.
#[test]
fn a_missing_spec_is_named_with_the_folder() {
    let folder = crate::support::cli::Folder::new(&[]);
    let run = folder.guard(&["check", "specs/a.guard"]);
    let here = std::fs::canonicalize(folder.path()).unwrap();
    let looked_in = format!("; looked in `{}`\n", here.display());
    assert!(
        run.err.starts_with("error: cannot read `specs/a.guard`: ")
            && run.err.ends_with(&looked_in),
        "{}",
        run.err
    );
    let whole = here.join("a.guard");
    let run = folder.guard(&["check", whole.to_str().unwrap()]);
    assert!(!run.err.contains("looked in"), "{}", run.err);
}
