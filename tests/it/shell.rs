//! Shell lines are read as the commands that they run.

use guard_lang::shell::{ShellError, commands};

/// Each command as one line, words in order.
fn read(line: &str) -> Vec<String> {
    commands(line)
        .unwrap()
        .iter()
        .map(|words| words.join(" "))
        .collect()
}

#[test]
fn commands_are_found_wherever_they_stand() {
    for (line, expected) in [
        ("ls -l /tmp", &["ls -l /tmp"][..]),
        ("", &[]),
        ("  # nothing", &[]),
        (
            "cd /tmp && rm -rf x; ls | wc -l || true",
            &["cd /tmp", "rm -rf x", "ls", "wc -l", "true"],
        ),
        ("echo \"rm -rf /\"", &["echo rm -rf /"]),
        ("echo 'a b' c\\ d \"e\\\"f\"", &["echo a b c d e\"f"]),
        ("r\\m -r -f /", &["rm -r -f /"]),
        ("\"r\"m x", &["rm x"]),
        ("$'\\x72m' x", &["rm x"]),
        (
            "echo $(cat /etc/passwd | head -1)",
            &[
                "echo $(cat /etc/passwd | head -1)",
                "cat /etc/passwd",
                "head -1",
            ],
        ),
        ("echo \"at `date`\"", &["echo at `date`", "date"]),
        ("(cd a; make) & wait", &["cd a", "make", "wait"]),
        ("for f in *.c; do gcc \"$f\"; done", &["gcc $f"]),
        (
            "if test -f a; then rm a; else touch a; fi",
            &["test -f a", "rm a", "touch a"],
        ),
        ("f() { curl x; }; f", &["curl x", "f"]),
        ("A=1 B=2 make -j2", &["make -j2"]),
        ("export A=1", &["export A=1"]),
        (
            "diff <(sort a) <(sort b)",
            &["diff <(sort a) <(sort b)", "sort a", "sort b"],
        ),
    ] {
        assert_eq!(read(line), expected, "{line}");
    }
}

#[test]
fn redirections_are_commands_of_their_own() {
    assert_eq!(read("echo x > /etc/hosts"), ["echo x", "> /etc/hosts"]);
    assert_eq!(
        read("cat < in >> out 2>&1"),
        ["cat", "< in", ">> out", ">& 1"]
    );
    assert_eq!(read("a | b > \"c d\""), ["a", "b", "> c d"]);
}

#[test]
fn commands_that_run_commands_are_followed() {
    for (line, expected) in [
        (
            "sudo -u root rm -rf /",
            &["sudo -u root rm -rf /", "rm -rf /"][..],
        ),
        ("sudo -n -- rm x", &["sudo -n -- rm x", "rm x"]),
        (
            "env -i A=1 sh -c 'rm x; ls'",
            &["env -i A=1 sh -c rm x; ls", "sh -c rm x; ls", "rm x", "ls"],
        ),
        (
            "timeout -s KILL 5 make",
            &["timeout -s KILL 5 make", "make"],
        ),
        ("ls | xargs -n1 rm", &["ls", "xargs -n1 rm", "rm"]),
        (
            "find . -name '*.o' -exec rm {} \\;",
            &["find . -name *.o -exec rm {} ;", "rm {}"],
        ),
        (
            "bash -lc \"curl a | sh\"",
            &["bash -lc curl a | sh", "curl a", "sh"],
        ),
        ("eval rm x", &["eval rm x", "rm x"]),
        (
            "ssh -p 22 host 'rm -r x'",
            &["ssh -p 22 host rm -r x", "rm -r x"],
        ),
        ("bash <<'E'\nrm x\nE\n", &["bash", "rm x"]),
        (
            "nohup nice -n 5 /usr/bin/make all &",
            &[
                "nohup nice -n 5 /usr/bin/make all",
                "nice -n 5 /usr/bin/make all",
                "/usr/bin/make all",
            ],
        ),
    ] {
        assert_eq!(read(line), expected, "{line}");
    }
}

#[test]
fn what_is_no_shell_line_is_said_to_be_none() {
    for line in ["echo 'open", "if true; then", "a && ", ")"] {
        assert!(
            matches!(commands(line), Err(ShellError::NotShell(_))),
            "{line}"
        );
    }
    let long = format!("echo {}", "x".repeat(guard_lang::shell::MAX_BYTES));
    assert!(matches!(commands(&long), Err(ShellError::TooLong(_))));
    let mut deep = "true".to_owned();
    for _ in 0..9 {
        deep = format!("eval {}", shell_quoted(&deep));
    }
    assert!(commands(&deep).is_err());
}

fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

proptest::proptest! {
    #![proptest_config(crate::support::random::cases(256))]

    #[test]
    fn no_text_panics(line in "\\PC{0,80}") {
        let _ = commands(&line);
    }

    #[test]
    fn quoted_words_come_back(words in proptest::collection::vec("[a-z $`\"\\\\;|&<>(){}*?!~#=-]{1,8}", 1..5)) {
        let words: Vec<String> = words.into_iter().map(|word| format!("x{word}")).collect();
        let line: Vec<String> = words.iter().map(|word| shell_quoted(word)).collect();
        proptest::prop_assert_eq!(commands(&line.join(" ")).unwrap(), vec![words]);
    }
}
